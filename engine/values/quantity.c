/* quantity.c -- quantities: evaluation, refusal of values that are not finite; lookups, also as
 * functions. */
#include "engine/values/quantity.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/program.h"
#include "engine/values/program_eval.h"

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

int sel_quantity_functions(const sel_quantity *q) {
    return q->whole ? 1 : q->components;
}

const sel_function *sel_quantity_function(const sel_quantity *q, int k) {
    return q->whole ? q->whole : q->part[k].function;
}

unsigned sel_quantity_depends(const sel_quantity *q) {
    unsigned depends = 0;
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *function = sel_quantity_function(q, k);
        depends |= function ? function->depends : 0;
    }
    return depends;
}

bool sel_quantity_is_pure(const sel_quantity *q) {
    bool pure = true;
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *function = sel_quantity_function(q, k);
        pure = pure && (!function || function->program);
    }
    return pure;
}

/* Reports the first number of out[results][n] that is not finite. */
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

sel_status sel_quantity_eval(const sel_quantity *q, const char *what, const sel_places *at,
                             double *out, sel_error *error) {
    sel_status status = SEL_OK;
    for (int k = 0; k < sel_quantity_functions(q) && !status; k++) {
        const sel_function *function = sel_quantity_function(q, k);
        double *to = out + (size_t)k * at->n;
        for (size_t i = 0; i < at->n && !function; i++) {
            to[i] = q->part[k].constant;
        }
        if (function) {
            status = function->eval(function, at, to, error);
            status = status ? status : check_finite(function, what, at, to, error);
        }
    }
    return status;
}

const struct sel_lookup *sel_quantity_raster(const sel_quantity *q) {
    const struct sel_lookup *raster = NULL;
    for (int k = 0; k < sel_quantity_functions(q) && !raster; k++) {
        const sel_function *function = sel_quantity_function(q, k);
        raster = function ? function->raster : NULL;
    }
    return raster;
}

sel_status sel_quantity_gaps(const sel_quantity *q, const sel_places *at, uint8_t *gap,
                             sel_error *error) {
    const sel_function *function = sel_quantity_function(q, 0);
    memset(gap, 0, at->n);
    return function && function->gaps ? function->gaps(function, at, gap, error) : SEL_OK;
}

int sel_quantity_saved_dims(const sel_quantity *q) {
    int dims = 0;
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *function = sel_quantity_function(q, k);
        dims = function && function->saved_dims > dims ? function->saved_dims : dims;
    }
    return dims;
}

/* Components are of one run, mostly; the first that is saved stands for all. */
sel_status sel_quantity_strange(const sel_quantity *q, const sel_places *at, uint8_t *mark,
                                sel_error *error) {
    memset(mark, 0, at->n);
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *function = sel_quantity_function(q, k);
        if (function && function->strange) {
            return function->strange(function, at, mark, error);
        }
    }
    return SEL_OK;
}

/* ---- lookups as functions ---- */

/* Evaluates a raster or a series, which has one value at all places; a sel_function.eval. Errors
 * begin with the place of the lookup in the script. */
static sel_status lookup_function_eval(const sel_function *self, const sel_places *at, double *out,
                                       sel_error *error) {
    const sel_lookup *lookup = self->data;
    const bool series = lookup->kind == SEL_LOOKUP_SERIES;
    const double *arguments[] = {series ? &at->t : at->x, at->y};
    const size_t n = series && at->n > 1 ? 1 : at->n;
    sel_error found = {.status = SEL_OK};
    if (lookup->at(lookup, n, arguments, out, &found)) {
        return sel_fail_at(error, self->where, "%s", found.text);
    }
    for (size_t i = n; i < at->n; i++) {
        out[i] = out[0];
    }
    return SEL_OK;
}

/* Finds the gaps of a raster; a sel_function.gaps. */
static sel_status lookup_function_gaps(const sel_function *self, const sel_places *at, uint8_t *gap,
                                       sel_error *error) {
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        gap[i] = sel_lookup_has_gap(self->data, at->x[i], at->y[i]);
    }
    return SEL_OK;
}

/* The program s(t) or r(x, y), whose result is exact unless it is NaN. NULL: no memory; then the
 * function has only eval. */
static const sel_program *make_program(sel_arena *arena, const sel_lookup *lookup) {
    sel_builder *b = sel_builder_create(8);
    const sel_program *program = NULL;
    if (b) {
        bool series = lookup->kind == SEL_LOOKUP_SERIES;
        const int arguments[] = {sel_build_argument(b, series ? SEL_ARGUMENT_T : SEL_ARGUMENT_X),
                                 sel_build_argument(b, SEL_ARGUMENT_Y)};
        int value = sel_build_lookup(b, lookup, arguments);
        int sure = sel_build(b, SEL_OP_EQ, value, value, 0);
        program = sel_builder_finish(b, &value, 1, sel_build(b, SEL_OP_NOT, sure, 0, 0), arena);
    }
    sel_builder_destroy(b);
    return program;
}

const sel_function *sel_lookup_function(sel_arena *arena, const sel_lookup *lookup,
                                        sel_where where) {
    bool series = lookup->kind == SEL_LOOKUP_SERIES;
    sel_function *function = sel_arena_alloc(arena, sizeof *function);
    if (function) {
        *function = (sel_function){.depends = series ? SEL_ON_T : SEL_ON_X | SEL_ON_Y,
                                   .results = 1,
                                   .where = where,
                                   .eval = lookup_function_eval,
                                   .data = (void *)(uintptr_t)lookup,
                                   .raster = series ? NULL : lookup,
                                   .gaps = series ? NULL : lookup_function_gaps,
                                   .program = make_program(arena, lookup)};
    }
    return function;
}

const sel_lookup *sel_lookup_of(const sel_quantity *q) {
    const sel_function *function = q->components == 1 && !q->whole ? q->part[0].function : NULL;
    return function && function->eval == lookup_function_eval ? function->data : NULL;
}

/* ---- lookups: values and gaps; noise ---- */

/* If the evaluation of all places fails, they are evaluated one by one, to find those that fail. */
void sel_lookup_values(const sel_lookup *lookup, size_t n, const double *const *arguments,
                       double *out) {
    const bool failed = lookup->at(lookup, n, arguments, out, NULL) != SEL_OK;
    for (size_t i = 0; i < n && failed; i++) {
        const double *one[SEL_LOOKUP_ARGUMENTS];
        for (int k = 0; k < lookup->arguments; k++) {
            one[k] = arguments[k] + i;
        }
        if (lookup->at(lookup, 1, one, &out[i], NULL)) {
            out[i] = (double)NAN;
        }
    }
}

bool sel_lookup_has_gap(const sel_lookup *lookup, double x, double y) {
    const sel_raster *raster = lookup->data;
    int64_t pixel;
    double part;
    return lookup->kind == SEL_LOOKUP_RASTER && sel_raster_locate(raster, 0, x, &pixel, &part) &&
           sel_raster_locate(raster, 1, y, &pixel, &part) &&
           isnan(sel_raster_interpolate(raster, raster->value, x, y));
}

static sel_status evaluate_noise(const sel_lookup *self, size_t n, const double *const *arguments,
                                 double *out, sel_error *error) {
    for (size_t i = 0; i < n; i++) {
        double at[4] = {arguments[0][i], arguments[1][i], arguments[2][i], arguments[3][i]};
        out[i] = sel_noise(at[0], at[1], at[2], at[3]);
        if (isnan(out[i])) {
            return sel_fail(error, SEL_BAD_SCENARIO,
                            "%s: there is no noise at x = %g, y = %g, z = %g", self->name, at[1],
                            at[2], at[3]);
        }
    }
    return SEL_OK;
}

const sel_lookup sel_noise_lookup = {SEL_LOOKUP_NOISE, "sel.noise", 4, evaluate_noise, NULL};
