/* paint.c -- a quantity painted by shapes, in order.
 *
 * First the visible layer of every place is found. Then each layer is evaluated only where it is
 * visible: a series or a function need not have a value where another layer covers it.
 */
#include <stdlib.h>
#include "engine/scene/shape.h"
#include "engine/scene/simulation.h"

typedef struct paint_function {
    sel_function base;
    const sel_paint *paint;
    const sel_common *domain;
} paint_function;

/* Scratch memory of one call over n places: one allocation that begins with x. */
typedef struct canvas {
    double *x, *y, *z, *value;
    size_t *index; /* the places where the present layer is visible */
    int *owner;    /* [n] the visible layer, from 1; 0: the base */
    uint8_t *in;   /* [n] inside the shape of the present layer; its marks */
} canvas;

static sel_status canvas_create(canvas *c, size_t n, sel_error *error) {
    const size_t each = 4 * sizeof *c->x + sizeof *c->index + sizeof *c->owner + 1;
    c->x = calloc(n, each);
    if (!c->x) {
        return sel_fail_memory(error, "a painted quantity", n * each);
    }
    c->y = c->x + n;
    c->z = c->y + n;
    c->value = c->z + n;
    c->index = (size_t *)(c->value + n);
    c->owner = (int *)(c->index + n);
    c->in = (uint8_t *)(c->owner + n);
    return SEL_OK;
}

static sel_status paint_find_owners(const paint_function *f, const sel_places *at, canvas *c,
                                    sel_error *error) {
    sel_grid grid = sel_common_grid(f->domain);
    for (int k = 0; k < f->paint->layers; k++) {
        const sel_shape *shape = f->paint->layer[k].where;
        if (sel_shape_has_faces(shape)) {
            return sel_fail_at(error, shape->where,
                               "sel.paint: shapes of faces have no inside to paint");
        }
        sel_status status = sel_shape_check(shape, &grid, error);
        status = status ? status : sel_shape_test(shape, &grid, -1, at, NULL, c->in, error);
        if (status) {
            return status;
        }
        for (size_t i = 0; i < at->n; i++) {
            c->owner[i] = c->in[i] ? k + 1 : c->owner[i];
        }
    }
    return SEL_OK;
}

/* sel_quantity_gaps, sel_quantity_strange */
typedef sel_status marks_of(const sel_quantity *q, const sel_places *at, uint8_t *mark,
                            sel_error *error);

/* Evaluates one layer where it is visible: its values into `out` or, if `out` is NULL, its marks
 * into `mark`. */
static sel_status paint_layer(const paint_function *f, int layer, const sel_places *at, canvas *c,
                              double *out, marks_of *marks, uint8_t *mark, sel_error *error) {
    const sel_quantity *value = layer ? &f->paint->layer[layer - 1].value : &f->paint->base;
    sel_places part = {0, c->x, c->y, at->z ? c->z : NULL, at->t, at->controls, at->random};
    for (size_t i = 0; i < at->n; i++) {
        if (c->owner[i] == layer) {
            c->index[part.n] = i;
            c->x[part.n] = at->x[i];
            c->y[part.n] = at->y[i];
            c->z[part.n++] = at->z ? at->z[i] : 0;
        }
    }
    if (part.n == 0) {
        return SEL_OK;
    }
    sel_status status = out ? sel_quantity_eval(value, "sel.paint", &part, c->value, error)
                            : marks(value, &part, c->in, error);
    for (size_t k = 0; !status && k < part.n; k++) {
        if (out) {
            out[c->index[k]] = c->value[k];
        } else {
            mark[c->index[k]] = c->in[k];
        }
    }
    return status;
}

static sel_status paint_layers(const paint_function *f, const sel_places *at, double *out,
                               marks_of *marks, uint8_t *mark, sel_error *error) {
    canvas c = {.x = NULL};
    sel_status status = at->n ? canvas_create(&c, at->n, error) : SEL_OK;
    if (status || at->n == 0) {
        return status;
    }
    status = paint_find_owners(f, at, &c, error);
    for (int layer = 0; !status && layer <= f->paint->layers; layer++) {
        status = paint_layer(f, layer, at, &c, out, marks, mark, error);
    }
    free(c.x);
    return status;
}

/* sel_function.eval */
static sel_status evaluate_paint(const sel_function *self, const sel_places *at, double *out,
                                 sel_error *error) {
    return paint_layers(self->data, at, out, NULL, NULL, error);
}

/* sel_function.gaps */
static sel_status find_paint_gaps(const sel_function *self, const sel_places *at, uint8_t *gap,
                                  sel_error *error) {
    return paint_layers(self->data, at, NULL, sel_quantity_gaps, gap, error);
}

/* sel_function.strange */
static sel_status find_strange_paint(const sel_function *self, const sel_places *at, uint8_t *mark,
                                     sel_error *error) {
    return paint_layers(self->data, at, NULL, sel_quantity_strange, mark, error);
}

/* What the functions inside a shape depend on. */
static unsigned shape_depends(const sel_shape *shape) {
    if (shape->a) {
        return shape_depends(shape->a) | (shape->b ? shape_depends(shape->b) : 0);
    }
    return shape->kind == SEL_SHAPE_INSIDE ? ((const sel_shape_inside *)shape->data)->test->depends
                                           : 0;
}

const sel_function *sel_paint_function(sel_arena *arena, const sel_paint *paint,
                                       const sel_common *domain, sel_where where) {
    paint_function *f = sel_arena_alloc(arena, sizeof *f);
    if (!f) {
        return NULL;
    }
    *f = (paint_function){.base = {.depends = SEL_ON_PLACE | sel_quantity_depends(&paint->base),
                                   .results = 1,
                                   .where = where,
                                   .eval = evaluate_paint,
                                   .data = f,
                                   .raster = sel_quantity_raster(&paint->base),
                                   .gaps = find_paint_gaps,
                                   .saved_dims = sel_quantity_saved_dims(&paint->base),
                                   .strange = find_strange_paint},
                          .paint = paint,
                          .domain = domain};
    for (int k = 0; k < paint->layers; k++) {
        f->base.depends |= sel_quantity_depends(&paint->layer[k].value);
        f->base.depends |= shape_depends(paint->layer[k].where);
        const int dims = sel_quantity_saved_dims(&paint->layer[k].value);
        f->base.saved_dims = dims > f->base.saved_dims ? dims : f->base.saved_dims;
        f->base.raster =
            f->base.raster ? f->base.raster : sel_quantity_raster(&paint->layer[k].value);
    }
    return &f->base;
}
