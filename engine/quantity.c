/* quantity.c -- evaluate what a scenario gave for a value, and refuse what is not a number. */
#include "engine/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sel_quantity sel_constant(double value) {
    return (sel_quantity){.components = 1, .part = {{NULL, value}}};
}

sel_quantity sel_constant2(double x, double y) {
    return (sel_quantity){.components = 2, .part = {{NULL, x}, {NULL, y}}};
}

sel_quantity sel_constant3(double x, double y, double z) {
    return (sel_quantity){.components = 3, .part = {{NULL, x}, {NULL, y}, {NULL, z}}};
}

sel_quantity sel_from_function(const sel_function *function) {
    return (sel_quantity){.components = function->results, .whole = function};
}

void sel_place_text(const sel_places *at, size_t i, char *text, size_t size) {
    if (at->z) {
        snprintf(text, size, "x=%.10g, y=%.10g, z=%.10g, t=%.10g", at->x[i], at->y[i], at->z[i],
                 at->t);
    } else {
        snprintf(text, size, "x=%.10g, y=%.10g, t=%.10g", at->x[i], at->y[i], at->t);
    }
}

bool sel_quantity_given(const sel_quantity *q) {
    return q->components > 0;
}

unsigned sel_quantity_depends(const sel_quantity *q) {
    if (q->whole) {
        return q->whole->depends;
    }
    unsigned depends = 0;
    for (int c = 0; c < q->components; c++) {
        depends |= q->part[c].function ? q->part[c].function->depends : 0;
    }
    return depends;
}

/* The first number of out[results][n] that is not finite is an error at its place. */
static sel_status check_finite(const sel_function *function, const char *what, const sel_places *at,
                               const double *out, sel_error *error) {
    for (size_t i = 0; i < (size_t)function->results * at->n; i++) {
        if (!isfinite(out[i])) {
            char place[160];
            sel_place_text(at, i % at->n, place, sizeof place);
            return sel_fail_at(error, function->where, "%s: function returned %s at %s", what,
                               isnan(out[i]) ? "NaN" : "infinity", place);
        }
    }
    return SEL_OK;
}

static sel_status eval_function(const sel_function *function, const char *what,
                                const sel_places *at, double *out, sel_error *error) {
    sel_status status = function->eval(function, at, out, error);
    return status ? status : check_finite(function, what, at, out, error);
}

sel_status sel_quantity_eval(const sel_quantity *q, const char *what, const sel_places *at,
                             double *out, sel_error *error) {
    if (q->whole) {
        return eval_function(q->whole, what, at, out, error);
    }
    for (int c = 0; c < q->components; c++) {
        double *to = out + (size_t)c * at->n;
        if (q->part[c].function) {
            sel_status status = eval_function(q->part[c].function, what, at, to, error);
            if (status) {
                return status;
            }
            continue;
        }
        for (size_t i = 0; i < at->n; i++) {
            to[i] = q->part[c].constant;
        }
    }
    return SEL_OK;
}

const struct sel_lookup *sel_quantity_raster(const sel_quantity *q) {
    const struct sel_lookup *raster = q->whole ? q->whole->raster : NULL;
    for (int c = 0; c < q->components && !q->whole && !raster; c++) {
        raster = q->part[c].function ? q->part[c].function->raster : NULL;
    }
    return raster;
}

sel_status sel_quantity_gaps(const sel_quantity *q, const sel_places *at, uint8_t *gap,
                             sel_error *error) {
    const sel_function *function = q->whole ? q->whole : q->part[0].function;
    memset(gap, 0, at->n);
    return function && function->gaps ? function->gaps(function, at, gap, error) : SEL_OK;
}
