/* quantity.h -- what a scenario may give for a value: numbers, or functions of x y z t. */
#ifndef SEL_QUANTITY_H
#define SEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/values/lookup.h"

/* What a quantity depends on: a mask. */
enum {
    SEL_ON_X = 1,
    SEL_ON_Y = 2,
    SEL_ON_Z = 4,
    SEL_ON_T = 8,
    SEL_ON_CONTROLS = 16,
    SEL_ON_PLACE = SEL_ON_X | SEL_ON_Y | SEL_ON_Z,
    SEL_ALWAYS = 1 << 30 /* of what is due: also constants */
};

/* What sel.random gives at a place, to functions that may call it. */
typedef struct sel_random {
    double (*value)(const struct sel_random *self, const double place[3], int64_t k);
    const void *data;
} sel_random;

/* Where and when to evaluate: n places in the user's units (z NULL: 0), one time. */
typedef struct sel_places {
    size_t n;
    const double *x, *y, *z;
    double t;
    const double *controls;   /* by index in the simulation's list; NULL: none */
    const sel_random *random; /* NULL: functions may not call sel.random */
} sel_places;

/* "x=0.5, y=12.5, t=0": place i, for messages. */
void sel_place_text(const sel_places *at, size_t i, char *text, size_t size);

struct sel_program;
struct sel_lookup;

/* A function of place, time and controls, from Lua or from C (see examples/). Pure, and evaluated
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
    /* The first raster that it reads; NULL: none. A terrain made from it has the raster's grid and
     * map projection. */
    const struct sel_lookup *raster;
    /* Sets gap[i] = 1 at places where it reads a raster without data, so that eval fails there,
     * else 0. NULL: there are no gaps. */
    sel_status (*gaps)(const struct sel_function *self, const sel_places *at, uint8_t *gap,
                       sel_error *error);
    /* The same computation as a program, which backends can run; NULL: there is only eval. */
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

static inline bool sel_quantity_given(const sel_quantity *q) {
    return q->components > 0;
}

/* The functions of a quantity: how many, and number k of them; NULL: a constant component. */
int sel_quantity_functions(const sel_quantity *q);
const sel_function *sel_quantity_function(const sel_quantity *q, int k);

unsigned sel_quantity_depends(const sel_quantity *q);

/* Whether it can be evaluated without Lua, whose functions may do more, such as count their calls.
 */
bool sel_quantity_is_pure(const sel_quantity *q);

/* Fills out[components][n]. NaN and infinity are errors that name `what`, the function's line and
 * the place. Units: the user's. */
sel_status sel_quantity_eval(const sel_quantity *q, const char *what, const sel_places *at,
                             double *out, sel_error *error);

/* The first raster that it uses: by itself, painted over or called by a function; NULL: none. */
const struct sel_lookup *sel_quantity_raster(const sel_quantity *q);

/* gap[at->n]: 1 where a quantity of one component reads a raster without data. */
sel_status sel_quantity_gaps(const sel_quantity *q, const sel_places *at, uint8_t *gap,
                             sel_error *error);

/* ---- data as functions ---- */

/* A series as a function of t, a raster as one of x and y, made in the arena. NULL: no memory. */
const sel_function *sel_lookup_function(sel_arena *arena, const sel_lookup *lookup,
                                        sel_where where);

/* The data that a quantity consists of, unmodified; NULL: it is something else. */
const sel_lookup *sel_lookup_of(const sel_quantity *q);

/* ---- a quantity painted by shapes, in order ---- */

struct sel_shape;
struct sel_common;

typedef struct sel_paint_layer {
    const struct sel_shape *where;
    sel_quantity value; /* of one component */
} sel_paint_layer;

typedef struct sel_paint {
    sel_quantity base; /* of one component */
    int layers;
    const sel_paint_layer *layer; /* painted over the base in order; the last one wins */
} sel_paint;

/* `paint` as a function of place and whatever its values depend on. Each value is evaluated only
 * where it is visible. The grid is read from `domain` at the first evaluation; all three must live
 * as long as the function, which is made in the arena. The evaluation refuses shapes with faces and
 * those that do not fit the domain. NULL: no memory. */
const sel_function *sel_paint_function(sel_arena *arena, const sel_paint *paint,
                                       const struct sel_common *domain, sel_where where);

#endif
