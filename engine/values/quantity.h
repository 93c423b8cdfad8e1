/* quantity.h -- quantities: values that a scenario gives as numbers or as functions of x, y, z, t;
 * lookups: data that these functions may read.
 */
#ifndef SEL_QUANTITY_H
#define SEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/values/lookup_value.h"

/* ---- lookups: series, rasters and noise, evaluated on arrays ---- */

/* A lookup is immutable, so any thread may evaluate it. It lives as long as the scenario. */
typedef struct sel_lookup {
    sel_lookup_kind kind;
    const char *name; /* for listings: "series inflow.csv" */
    int arguments;    /* 1: s(t), 2: r(x, y), 4: noise(seed, x, y, z) */
    /* Computes out[n] from arguments[k][n], in the user's units; `out` may be one of the arguments.
     * SEL_BAD_SCENARIO: the data have no value there, as outside a series with SEL_SERIES_ERROR. */
    sel_status (*at)(const struct sel_lookup *self, size_t n, const double *const *arguments,
                     double *out, sel_error *error);
    const void *data;
} sel_lookup;

/* As sel_lookup.at, but gives NaN where the data have no value. `out` must be none of the
 * arguments. */
void sel_lookup_values(const sel_lookup *lookup, size_t n, const double *const *arguments,
                       double *out);

/* A list of lookups in the order of their creation. */
typedef struct sel_lookups {
    const sel_lookup *lookup;
    struct sel_lookups *next;
} sel_lookups;

/* Whether the lookup is a raster that covers the place but has no data there. */
bool sel_lookup_has_gap(const sel_lookup *lookup, double x, double y);

/* sel.noise: noise(seed, x, y, z) in [-1, 1], see engine/values/lookup_value.h. Fails if x, y or z
 * is not finite, or too large to have a fraction. */
extern const sel_lookup sel_noise_lookup;

/* ---- quantities ---- */

/* The dependencies of a quantity, as a mask. */
enum {
    SEL_ON_X = 1,
    SEL_ON_Y = 2,
    SEL_ON_Z = 4,
    SEL_ON_T = 8,
    SEL_ON_CONTROLS = 16,
    SEL_ON_PLACE = SEL_ON_X | SEL_ON_Y | SEL_ON_Z,
    SEL_ALWAYS = 1 << 30 /* in masks that select quantities to evaluate: also constants */
};

/* The values of sel.random(k), by place, for functions that may call it. */
typedef struct sel_random {
    double (*value)(const struct sel_random *self, const double place[3], int64_t k);
    const void *data;
} sel_random;

/* The places and the time of an evaluation: n places in the user's units. z NULL: all 0. */
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

/* A function of place, time and controls, from Lua or from C (see examples/). It is pure, and
 * several threads may evaluate it at once. If only the thread of the script can evaluate it, it
 * fails in the other threads, and the thread that prepares the simulation evaluates it again. */
typedef struct sel_function {
    unsigned depends; /* SEL_ON_... */
    int results;      /* 1 to 3 numbers */
    sel_where where;
    /* Fills out[results][n] (result by result). A failure names the place and the cause. */
    sel_status (*eval)(const struct sel_function *self, const sel_places *at, double *out,
                       sel_error *error);
    void *data;
    /* The first raster that it reads; NULL: none. A terrain made from it has the raster's grid and
     * map projection. */
    const struct sel_lookup *raster;
    /* Sets gap[i] to 1 at places where it reads a raster that has no data, so that eval fails
     * there; else to 0. NULL: there are no gaps. */
    sel_status (*gaps)(const struct sel_function *self, const sel_places *at, uint8_t *gap,
                       sel_error *error);
    /* The number of dimensions of the run whose fields it reads (sel.state), the largest of
     * several; 0: it reads none. `strange` sets mark[i] to 1 at places where that run computed
     * nothing, else to 0; NULL: it reads none. */
    int saved_dims;
    sel_status (*strange)(const struct sel_function *self, const sel_places *at, uint8_t *mark,
                          sel_error *error);
    /* The same computation as a program, which backends can run; NULL: only eval can compute it. */
    const struct sel_program *program;
} sel_function;

/* A number or a vector. Either `whole` computes all components (results == components), or each
 * component is a constant or a function with one result. components == 0: not given. */
typedef struct sel_quantity {
    int components;
    const sel_function *whole; /* NULL: by `part` */
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

/* The number of functions of a quantity; function k, which is NULL for a constant component. */
int sel_quantity_functions(const sel_quantity *q);
const sel_function *sel_quantity_function(const sel_quantity *q, int k);

unsigned sel_quantity_depends(const sel_quantity *q);

/* Whether the quantity can be evaluated without Lua, where a function may have side effects, such
 * as counting its calls. */
bool sel_quantity_is_pure(const sel_quantity *q);

/* Evaluates the quantity into out[components][n], in the user's units. A value that is not finite
 * is an error (SEL_BAD_SCENARIO) that names `what`, the function's line and the place. */
sel_status sel_quantity_eval(const sel_quantity *q, const char *what, const sel_places *at,
                             double *out, sel_error *error);

/* The first raster that a quantity uses, directly, in a paint or in a function; NULL: none. */
const struct sel_lookup *sel_quantity_raster(const sel_quantity *q);

/* Sets gap[at->n] to 1 where a quantity of one component reads a raster that has no data; else 0.
 */
sel_status sel_quantity_gaps(const sel_quantity *q, const sel_places *at, uint8_t *gap,
                             sel_error *error);

/* The largest saved_dims of its functions. */
int sel_quantity_saved_dims(const sel_quantity *q);

/* Sets mark[at->n] to 1 where a quantity reads a field of sel.state and that run computed nothing;
 * else 0. */
sel_status sel_quantity_strange(const sel_quantity *q, const sel_places *at, uint8_t *mark,
                                sel_error *error);

/* ---- data as functions ---- */

/* A series as a function of t, or a raster as a function of x and y, in the arena. NULL: no
 * memory. */
const sel_function *sel_lookup_function(sel_arena *arena, const sel_lookup *lookup,
                                        sel_where where);

/* The lookup that a quantity consists of (sel_lookup_function); NULL: it is another quantity. */
const sel_lookup *sel_lookup_of(const sel_quantity *q);

/* ---- paint: a base quantity overlaid by others inside shapes ---- */

struct sel_shape;
struct sel_common;

typedef struct sel_paint_layer {
    const struct sel_shape *where;
    sel_quantity value; /* of one component */
} sel_paint_layer;

typedef struct sel_paint {
    sel_quantity base; /* of one component */
    int layers;
    const sel_paint_layer *layer; /* in order: later layers cover earlier ones */
} sel_paint;

/* `paint` as a function, made in the arena, of place and all that its values depend on. Each value
 * is evaluated only where it is visible. The grid is read from `domain` at the first evaluation.
 * `arena`, `paint` and `domain` must outlive the function. Evaluation refuses shapes with faces and
 * shapes that do not fit the domain. NULL: no memory. */
const sel_function *sel_paint_function(sel_arena *arena, const sel_paint *paint,
                                       const struct sel_common *domain, sel_where where);

#endif
