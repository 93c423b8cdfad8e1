/* quantity.h -- what a scenario may give for a value: numbers, or functions of x y z t. */
#ifndef SEL_QUANTITY_H
#define SEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/status.h"

/* What a quantity depends on: a mask. */
enum {
    SEL_ON_X = 1,
    SEL_ON_Y = 2,
    SEL_ON_Z = 4,
    SEL_ON_T = 8,
    SEL_ON_CONTROLS = 16,
    SEL_ON_PLACE = SEL_ON_X | SEL_ON_Y | SEL_ON_Z
};

/* Where and when to evaluate: n places in the user's units (z may be NULL: 0), one time. */
typedef struct sel_places {
    size_t n;
    const double *x, *y, *z;
    double t;
    const double *controls; /* by index in the simulation's list; NULL: none */
} sel_places;

/* "x=0.5, y=12.5, t=0": place i, for messages. */
void sel_place_text(const sel_places *at, size_t i, char *text, size_t size);

struct sel_program;
struct sel_lookup;

/* A function of place, time and controls. From Lua, or from C (see examples/). Pure, and evaluated
 * by several threads at once; where only one thread can (that of a script) it fails in the others,
 * and the thread that prepares the simulation evaluates it again. */
typedef struct sel_function {
    unsigned depends;
    int results; /* 1 to 3 numbers */
    sel_where where;
    /* Fills out[results][n] (result by result). A failure names the place and the cause. */
    sel_status (*eval)(const struct sel_function *self, const sel_places *at, double *out,
                       sel_error *error);
    void *data;
    /* The first raster whose values it takes; NULL: none. Its grid and its map are those of a
     * terrain that is made of it. */
    const struct sel_lookup *raster;
    /* Sets gap[i] = 1 at places where it asks a raster for a value and the raster has no data, else
     * 0; there eval fails. NULL: it never does. */
    sel_status (*gaps)(const struct sel_function *self, const sel_places *at, uint8_t *gap,
                       sel_error *error);
    /* What eval computes, for backends that run it themselves; NULL: only eval knows. */
    const struct sel_program *program;
} sel_function;

/* One number or vector. Either `whole` gives all components (results == components), or each
 * component is a function of one result or a constant. components == 0: not given. */
typedef struct sel_quantity {
    int components;
    const sel_function *whole;
    struct {
        const sel_function *function; /* NULL: the constant */
        double constant;
    } part[3];
} sel_quantity;

sel_quantity sel_constant(double value);
sel_quantity sel_constant2(double x, double y);
sel_quantity sel_constant3(double x, double y, double z);
sel_quantity sel_from_function(const sel_function *function);

bool sel_quantity_given(const sel_quantity *q);
unsigned sel_quantity_depends(const sel_quantity *q);

/* Fills out[components][n]. NaN and infinity are errors that name `what`, the function's line and
 * the place. Units: the user's. */
sel_status sel_quantity_eval(const sel_quantity *q, const char *what, const sel_places *at,
                             double *out, sel_error *error);

/* The first raster that it is made of: by itself, painted over or called by a function; NULL: none.
 */
const struct sel_lookup *sel_quantity_raster(const sel_quantity *q);

/* gap[at->n]: 1 where a quantity of one component asks a raster that has no data there. */
sel_status sel_quantity_gaps(const sel_quantity *q, const sel_places *at, uint8_t *gap,
                             sel_error *error);

#endif
