/* lookup.c -- a series or a raster by itself as a quantity. */
#include "engine/lookup.h"

#include <stdint.h>

/* Says where in the script the data stand. */
static sel_status look_up(const sel_function *self, size_t n, const double *const *arguments,
                          double *out, sel_error *error) {
    const sel_lookup *lookup = self->data;
    sel_error found = {.status = SEL_OK};
    sel_status status = lookup->at(lookup, n, arguments, out, &found);
    return status ? sel_fail_at(error, self->where, "%s", found.text) : SEL_OK;
}

/* sel_function.eval of a raster */
static sel_status evaluate_place(const sel_function *self, const sel_places *at, double *out,
                                 sel_error *error) {
    const double *arguments[] = {at->x, at->y};
    return look_up(self, at->n, arguments, out, error);
}

/* sel_function.eval of a series: one value for all places */
static sel_status evaluate_time(const sel_function *self, const sel_places *at, double *out,
                                sel_error *error) {
    const double *arguments[] = {&at->t};
    double value = 0;
    sel_status status = look_up(self, 1, arguments, &value, error);
    for (size_t i = 0; i < at->n; i++) {
        out[i] = value;
    }
    return status;
}

const sel_function *sel_lookup_function(sel_arena *arena, const sel_lookup *lookup,
                                        sel_where where) {
    bool series = lookup->kind == SEL_LOOKUP_SERIES;
    sel_function *function = sel_arena_alloc(arena, sizeof *function);
    if (function) {
        *function = (sel_function){.depends = series ? SEL_ON_T : SEL_ON_X | SEL_ON_Y,
                                   .results = 1,
                                   .where = where,
                                   .eval = series ? evaluate_time : evaluate_place,
                                   .data = (void *)(uintptr_t)lookup};
    }
    return function;
}
