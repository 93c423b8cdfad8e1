/* shape.c -- analytic shapes and their combinations, tested at cell centres and face sites.
 *
 * A shape is a tree of operators. The leaves `face`, `faces` and `rest` are true at face sites
 * only. All other leaves are geometry: they are true wherever a point lies inside. Geometry by
 * itself paints cells and no face sites; the product of a face and geometry is a part of the face:
 *
 *   at cells          face: false       geometry: inside        + - * : or, without, and
 *   at face sites     face: its sites   geometry alone: false
 *                     a + b: either     a * b, a - b: geometry operands count as inside
 */
#include "engine/scene/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/scene/limit.h"
#include "engine/scene/simulation.h"
#include "geometry/mesh.h"
#include "geometry/solid.h"

/* ---- bounds: which places need no test ---- */

/* Bounds of a placed shape: those of the corners of its own. Along an axis to which an unbounded
 * one contributes, it is unbounded. */
static sel_bounds placed_bounds(const sel_bounds *own, const sel_shape_placement *to) {
    sel_bounds b;
    for (int k = 0; k < 3; k++) {
        double size = fabs(to->shift[k]);
        b.lo[k] = b.hi[k] = to->shift[k];
        for (int a = 0; a < 3; a++) {
            const double by = to->matrix[k][a];
            if (by != 0) {
                b.lo[k] += by * (by > 0 ? own->lo[a] : own->hi[a]);
                b.hi[k] += by * (by > 0 ? own->hi[a] : own->lo[a]);
                size = fmax(size, fabs(by) * fmax(fabs(own->lo[a]), fabs(own->hi[a])));
            }
        }
        b.lo[k] -= isfinite(b.lo[k]) ? 1e-9 * size : 0;
        b.hi[k] += isfinite(b.hi[k]) ? 1e-9 * size : 0;
    }
    return b;
}

sel_bounds sel_chain_bounds(const sel_shape *shape, const sel_chain *chain) {
    sel_bounds b = shape->bounds;
    for (; chain; chain = chain->outer) {
        b = placed_bounds(&b, chain->placement);
    }
    return b;
}

/* The bounds of the cell centres in a shape. */
static sel_bounds cell_bounds(const sel_shape *shape) {
    if (shape->bounded) {
        return shape->bounds;
    }
    if (!shape->a) {
        return shape->kind <= SEL_SHAPE_REST ? SEL_NOWHERE : sel_solid_bounds(shape);
    }
    sel_bounds a = cell_bounds(shape->a);
    if (a.lo[0] > a.hi[0] && shape->kind != SEL_SHAPE_UNION) {
        return SEL_NOWHERE;
    }
    if (shape->kind == SEL_SHAPE_PLACED) {
        return placed_bounds(&a, shape->data);
    }
    if (shape->kind == SEL_SHAPE_DIFFERENCE) {
        return a;
    }
    sel_bounds b = cell_bounds(shape->b);
    bool sum = shape->kind == SEL_SHAPE_UNION;
    for (int k = 0; k < 3; k++) {
        a.lo[k] = sum ? fmin(a.lo[k], b.lo[k]) : fmax(a.lo[k], b.lo[k]);
        a.hi[k] = sum ? fmax(a.hi[k], b.hi[k]) : fmin(a.hi[k], b.hi[k]);
    }
    return a;
}

/* ---- constructors ---- */

static sel_shape *shape_copy(sel_arena *arena, sel_shape shape) {
    sel_shape *made = sel_arena_alloc(arena, sizeof *made);
    if (made) {
        *made = shape;
        made->bounds = cell_bounds(made);
        made->bounded = true;
    }
    return made;
}

sel_shape *sel_shape_make(sel_arena *arena, sel_shape_kind kind, const void *data) {
    return shape_copy(arena, (sel_shape){.kind = kind, .data = data});
}

sel_shape *sel_shape_face(sel_arena *arena, int face) {
    return shape_copy(arena, (sel_shape){.kind = SEL_SHAPE_FACE, .face = face});
}

sel_shape *sel_shape_combine(sel_arena *arena, sel_shape_kind kind, const sel_shape *a,
                             const sel_shape *b) {
    return shape_copy(arena, (sel_shape){.kind = kind, .a = a, .b = b});
}

/* An operand of a union, and where it is along the axis by which the list is divided. */
typedef struct operand {
    const sel_shape *shape;
    double place;
} operand;

static int compare_places(const void *a, const void *b) {
    const double x = ((const operand *)a)->place, y = ((const operand *)b)->place;
    return (x > y) - (x < y);
}

/* The middle of a shape along an axis; 0 if it is not bounded there. */
static double middle_of(const sel_shape *shape, int axis) {
    const double middle = 0.5 * (shape->bounds.lo[axis] + shape->bounds.hi[axis]);
    return isfinite(middle) ? middle : 0;
}

/* Sorts operands by their places along the axis along which these differ most. */
static void sort_operands(operand *v, int n) {
    int widest = 0;
    double width = -1;
    for (int a = 0; a < 3; a++) {
        double lo = HUGE_VAL, hi = -HUGE_VAL;
        for (int i = 0; i < n; i++) {
            lo = fmin(lo, middle_of(v[i].shape, a));
            hi = fmax(hi, middle_of(v[i].shape, a));
        }
        if (hi - lo > width) {
            width = hi - lo;
            widest = a;
        }
    }
    for (int i = 0; i < n; i++) {
        v[i].place = middle_of(v[i].shape, widest);
    }
    qsort(v, (size_t)n, sizeof *v, compare_places);
}

static sel_shape *unite(sel_arena *arena, operand *v, int n) {
    sort_operands(v, n);
    const int half = n / 2, rest = n - half;
    const sel_shape *a = half == 1 ? v->shape : unite(arena, v, half);
    const sel_shape *b = rest == 1 ? v[half].shape : unite(arena, v + half, rest);
    return a && b ? sel_shape_combine(arena, SEL_SHAPE_UNION, a, b) : NULL;
}

sel_shape *sel_shape_unite(sel_arena *arena, const sel_shape *const *list, int n) {
    operand *v = malloc((size_t)n * sizeof *v);
    for (int i = 0; i < n && v; i++) {
        v[i].shape = list[i];
    }
    sel_shape *shape = v ? unite(arena, v, n) : NULL;
    free(v);
    return shape;
}

sel_shape *sel_shape_place(sel_arena *arena, const sel_shape *shape,
                           const sel_shape_placement *placement) {
    return shape_copy(arena, (sel_shape){.kind = SEL_SHAPE_PLACED, .data = placement, .a = shape});
}

static bool any_leaf(const sel_shape *shape, sel_shape_kind first, sel_shape_kind last) {
    if (shape->a) {
        return any_leaf(shape->a, first, last) || (shape->b && any_leaf(shape->b, first, last));
    }
    return shape->kind >= first && shape->kind <= last;
}

bool sel_shape_has_faces(const sel_shape *shape) {
    return any_leaf(shape, SEL_SHAPE_FACE, SEL_SHAPE_REST);
}

bool sel_shape_has_rest(const sel_shape *shape) {
    return any_leaf(shape, SEL_SHAPE_REST, SEL_SHAPE_REST);
}

bool sel_shape_has_functions(const sel_shape *shape) {
    return any_leaf(shape, SEL_SHAPE_INSIDE, SEL_SHAPE_INSIDE);
}

sel_box sel_bounds_cells(const sel_bounds *b, const sel_grid *grid) {
    sel_box box = sel_grid_box(grid);
    for (int a = 0; a < grid->dims; a++) {
        double n = (double)grid->n[a];
        double lo = floor(sel_index(grid, a, b->lo[a]) - 0.5);
        double hi = ceil(sel_index(grid, a, b->hi[a]) + 1.5);
        box.lo[a] = (int64_t)fmin(fmax(lo, 0), n);
        box.hi[a] = (int64_t)fmin(fmax(hi, (double)box.lo[a]), n);
    }
    return box;
}

sel_box sel_shape_cells(const sel_shape *shape, const sel_grid *grid) {
    const sel_bounds b = cell_bounds(shape);
    return sel_bounds_cells(&b, grid);
}

/* ---- tests ---- */

/* The test of a batch of places. */
typedef struct test {
    const sel_grid *grid;
    int face; /* < 0: cell centres */
    const sel_places *at;
    const uint8_t *painted;
    /* Boxes are half-open, but one that ends with the domain must contain the sites and nodes on
     * the domain's last face. So `inward`, a tiny step off the face, is added to a place, and its
     * coordinates are limited to `last` (sel_last_inside). */
    double inward[3], last[3];
    double slack;      /* what lies nearer to a limit lies on it */
    sel_bounds places; /* of the batch */
} test;

static void add_coordinates(const test *t, int axis, const double *v, sel_bounds *places) {
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (size_t i = 0; i < t->at->n; i++) {
        double p = v ? v[i] : 0;
        lo = p < lo ? p : lo;
        hi = p > hi ? p : hi;
    }
    places->lo[axis] = lo + t->inward[axis];
    places->hi[axis] = hi + t->inward[axis];
}

/* Finds the bounds of the batch. */
static void test_bounds(test *t) {
    add_coordinates(t, 0, t->at->x, &t->places);
    add_coordinates(t, 1, t->at->y, &t->places);
    add_coordinates(t, 2, t->at->z, &t->places);
}

/* Whether no place of the batch can lie in this leaf. */
static bool misses(const sel_shape *shape, const test *t) {
    if (shape->kind <= SEL_SHAPE_REST) {
        return t->face < 0 || (shape->kind == SEL_SHAPE_FACE && shape->face != t->face);
    }
    const sel_bounds b = cell_bounds(shape);
    bool apart = false;
    for (int a = 0; a < 3; a++) {
        apart =
            apart || b.lo[a] > t->places.hi[a] + t->slack || b.hi[a] < t->places.lo[a] - t->slack;
    }
    return apart;
}

static sel_status test_function(const sel_shape *shape, const test *t, uint8_t *in,
                                sel_error *error) {
    const sel_function *function = ((const sel_shape_inside *)shape->data)->test;
    double *values = malloc(t->at->n * sizeof *values);
    if (!values) {
        return sel_fail_memory(error, "a shape's function", t->at->n * sizeof *values);
    }
    sel_status status = function->eval(function, t->at, values, error);
    for (size_t i = 0; !status && i < t->at->n; i++) {
        in[i] = values[i] != 0;
    }
    free(values);
    return status;
}

/* Whether site i lies in a leaf `face`, `faces` or `rest`, for which misses() is false. */
static bool face_leaf_at(const sel_shape *shape, const test *t, size_t i) {
    return shape->kind == SEL_SHAPE_FACE || (!sel_axis_periodic(t->grid, t->face / 2) &&
                                             (shape->kind == SEL_SHAPE_FACES || !t->painted[i]));
}

/* Place i of a test, as leaves take it; a sel_point_of. */
static void tested_point(const void *of, size_t i, double p[3]) {
    const test *t = of;
    const double *in_by = t->inward, *last = t->last;
    p[0] = fmin(t->at->x[i] + in_by[0], last[0]);
    p[1] = fmin(t->at->y[i] + in_by[1], last[1]);
    p[2] = fmin((t->at->z ? t->at->z[i] : 0) + in_by[2], last[2]);
}

/* The same for meshes. */
static void moved_point(const void *of, size_t i, double p[3]) {
    tested_point(of, i, p);
    sel_solid_move(((const test *)of)->slack, p);
}

static sel_status test_leaf(const sel_shape *shape, const test *t, uint8_t *in, sel_error *error) {
    if (shape->kind == SEL_SHAPE_INSIDE) {
        return test_function(shape, t, in, error);
    }
    if (shape->kind == SEL_SHAPE_MESH) {
        return sel_mesh_contains(((const sel_shape_mesh *)shape->data)->mesh, moved_point, t,
                                 t->at->n, in, error);
    }
    bool face = shape->kind <= SEL_SHAPE_REST, failed = false; /* only meshes fail */
    for (size_t i = 0; i < t->at->n; i++) {
        double p[3];
        tested_point(t, i, p);
        in[i] = face ? face_leaf_at(shape, t, i)
                     : sel_solid_contains(shape, t->grid, t->slack, p, &failed);
    }
    return SEL_OK;
}

static sel_status test_tree(const sel_shape *shape, const test *t, bool cuts, uint8_t *in,
                            bool *any, sel_error *error);

/* Tests an operator and its two operands; `other`: scratch for the second operand. */
static sel_status test_both(const sel_shape *shape, const test *t, bool geometry, uint8_t *in,
                            uint8_t *other, bool *any, sel_error *error) {
    bool sum = shape->kind == SEL_SHAPE_UNION, product = shape->kind == SEL_SHAPE_INTERSECTION;
    bool second = false;
    size_t n = t->at->n;
    sel_status status = test_tree(shape->a, t, geometry || product, in, any, error);
    if (status || (!*any && !sum)) {
        return status;
    }
    status = test_tree(shape->b, t, geometry || !sum, other, &second, error);
    if (!second) {
        *any = *any && !product;
    } else if (!*any) {
        memcpy(in, other, n);
        *any = true;
    } else {
        for (size_t i = 0; i < n; i++) {
            in[i] = sum ? in[i] || other[i] : product ? in[i] && other[i] : in[i] && !other[i];
        }
    }
    return status;
}

static double largest_coordinate(const sel_bounds *places) {
    double largest = 0;
    for (int a = 0; a < 3; a++) {
        largest = fmax(largest, fmax(fabs(places->lo[a]), fabs(places->hi[a])));
    }
    return largest;
}

/* Tests a placed shape at the places that its placement brings to those of the batch. They carry
 * the steps off a face already. */
static sel_status test_placed(const sel_shape *shape, const test *t, uint8_t *in, bool *any,
                              sel_error *error) {
    const size_t n = t->at->n, bytes = 3 * n * sizeof(double);
    double *x = malloc(bytes);
    if (!x) {
        return sel_fail_memory(error, "a shape", bytes);
    }
    double *const at[3] = {x, x + n, x + 2 * n};
    for (size_t i = 0; i < n; i++) {
        const double p[3] = {t->at->x[i], t->at->y[i], t->at->z ? t->at->z[i] : 0};
        double world[3], own[3];
        for (int a = 0; a < 3; a++) {
            world[a] = fmin(p[a] + t->inward[a], t->last[a]);
        }
        sel_shape_unplace(shape->data, world, own);
        for (int a = 0; a < 3; a++) {
            at[a][i] = own[a];
        }
    }
    sel_places places = *t->at;
    places.x = at[0];
    places.y = at[1];
    places.z = t->at->z ? at[2] : NULL;
    test own = {.grid = t->grid, .face = -1, .at = &places, .last = {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
    test_bounds(&own);
    own.slack = sel_shape_unplace_slack(shape->data, t->slack, largest_coordinate(&own.places));
    sel_status status = test_tree(shape->a, &own, true, in, any, error);
    free(x);
    return status;
}

/* Tests a tree. At face sites an operand without faces counts as geometry only if it cuts a face
 * (`cuts`: an operand of *, or the right one of -); else it is empty. *any = false: no place is
 * inside, and `in` is not filled. */
static sel_status test_tree(const sel_shape *shape, const test *t, bool cuts, uint8_t *in,
                            bool *any, sel_error *error) {
    bool geometry = t->face < 0 || (cuts && !sel_shape_has_faces(shape));
    *any = false;
    if (!geometry && !sel_shape_has_faces(shape)) {
        return SEL_OK;
    }
    if (!shape->a || shape->kind == SEL_SHAPE_PLACED) {
        *any = !misses(shape, t);
        return !*any                             ? SEL_OK
               : shape->kind == SEL_SHAPE_PLACED ? test_placed(shape, t, in, any, error)
                                                 : test_leaf(shape, t, in, error);
    }
    uint8_t *other = malloc(t->at->n);
    if (!other) {
        return sel_fail_memory(error, "a shape", t->at->n);
    }
    sel_status status = test_both(shape, t, geometry, in, other, any, error);
    free(other);
    return status;
}

sel_status sel_shape_test(const sel_shape *shape, const sel_grid *grid, int face,
                          const sel_places *at, const uint8_t *painted, uint8_t *in,
                          sel_error *error) {
    test t = {
        .grid = grid, .face = face, .at = at, .painted = painted, .slack = sel_limit_slack(grid)};
    bool any;
    if (face >= 0) {
        t.inward[face / 2] = (face % 2 ? -1 : 1) * sel_limit_inward(grid);
    }
    for (int a = 0; a < 3; a++) {
        t.last[a] = a < grid->dims ? sel_last_inside(grid, a) : HUGE_VAL;
    }
    test_bounds(&t);
    sel_status status = test_tree(shape, &t, false, in, &any, error);
    if (!any) {
        memset(in, 0, at->n);
    }
    return status;
}

/* ---- checks ---- */

static sel_status check_image(const sel_shape *shape, const sel_grid *grid, sel_error *error) {
    const sel_shape_image *image = shape->data;
    const int64_t *n = image->mask->n;
    const char *file = image->ask.file;
    if (grid->dims == 3 && n[2] == 1 && grid->n[2] > 1) {
        return sel_fail_at(error, shape->where,
                           "shape.image: a picture fills a domain of 2 dimensions, this one has 3; "
                           "take a stack of pictures, or a .npy, .raw or .vti file");
    }
    if (grid->dims == 2 && n[2] > 1) {
        return sel_fail_at(error, shape->where,
                           "shape.image: %s has %lld x %lld x %lld cells, this domain is a plane",
                           file, (long long)n[0], (long long)n[1], (long long)n[2]);
    }
    if (n[0] == grid->n[0] && n[1] == grid->n[1] && n[2] == grid->n[2]) {
        return SEL_OK;
    }
    return grid->dims == 2
               ? sel_fail_at(error, shape->where,
                             "shape.image: %s has %lld x %lld pixels, the domain %lld x %lld "
                             "cells; there must be a pixel for each cell",
                             file, (long long)n[0], (long long)n[1], (long long)grid->n[0],
                             (long long)grid->n[1])
               : sel_fail_at(error, shape->where,
                             "shape.image: %s has %lld x %lld x %lld cells, the domain %lld x "
                             "%lld x %lld",
                             file, (long long)n[0], (long long)n[1], (long long)n[2],
                             (long long)grid->n[0], (long long)grid->n[1], (long long)grid->n[2]);
}

/* Scripts are checked before; points given from C may have any number of coordinates. */
static sel_status check_points(const sel_shape *shape, int dims, sel_error *error) {
    const sel_table *table = sel_shape_family.tables[shape->kind - SEL_SHAPE_BOX];
    for (int i = 0; i < table->count; i++) {
        const sel_table_field *field = &table->fields[i];
        const sel_point *point = (const void *)((const char *)shape->data + field->offset);
        if (field->flags & SEL_ANY_DIMS && shape->kind != SEL_SHAPE_CYLINDER) {
            continue;
        }
        if (field->kind == SEL_KIND_POINT && point->n && point->n != dims) {
            return sel_fail_at(error, shape->where,
                               "%s: %s has %d coordinates in a domain of %d dimensions",
                               table->name, field->name, point->n, dims);
        }
    }
    return SEL_OK;
}

static sel_status check_leaf(const sel_shape *shape, const sel_chain *chain, const sel_grid *grid,
                             sel_error *error) {
    const int dims = grid->dims;
    if (shape->kind == SEL_SHAPE_FACE && shape->face / 2 >= dims) {
        return sel_fail_at(error, shape->where, "shape.face \"%s\": the domain has %d dimensions",
                           sel_face_name(shape->face), dims);
    }
    const sel_shape_cylinder *c = shape->data;
    if (shape->kind == SEL_SHAPE_CYLINDER && (dims == 2) != (c->centre.n > 0)) {
        return sel_fail_at(error, shape->where, "shape.cylinder: give %s in %d dimensions",
                           dims == 2 ? "centre" : "from and to", dims);
    }
    const sel_shape_torus *torus = shape->data;
    if (shape->kind == SEL_SHAPE_TORUS && torus->axis.n && torus->axis.n != dims) {
        return sel_fail_at(error, shape->where,
                           "shape.torus: axis is for 3 dimensions; leave it out in 2");
    }
    sel_status status = SEL_OK;
    if (shape->kind == SEL_SHAPE_IMAGE) {
        status = check_image(shape, grid, error);
    } else if (shape->kind == SEL_SHAPE_MESH) {
        const sel_bounds bounds = sel_chain_bounds(shape, chain);
        status = sel_mesh_check_place(shape, grid, &bounds, error);
    } else if (shape->kind > SEL_SHAPE_REST) {
        status = check_points(shape, dims, error);
    }
    const sel_shape_box *box = shape->data;
    for (int a = 0; shape->kind == SEL_SHAPE_BOX && !status && a < dims; a++) {
        if (box->min.v[a] >= box->max.v[a]) {
            status = sel_fail_at(error, shape->where,
                                 "shape.box is empty: min %.10g is not below max %.10g on axis %s",
                                 box->min.v[a], box->max.v[a], sel_axis_names[a]);
        }
    }
    return status;
}

static sel_status check_tree(const sel_shape *shape, const sel_chain *chain, const sel_grid *grid,
                             sel_error *error) {
    const sel_chain inner = {shape->data, chain};
    if (!shape->a) {
        return check_leaf(shape, chain, grid, error);
    }
    if (shape->kind == SEL_SHAPE_PLACED) {
        return sel_shape_has_faces(shape)
                   ? sel_fail_at(error, shape->where,
                                 "the faces of the domain cannot be placed elsewhere")
                   : check_tree(shape->a, &inner, grid, error);
    }
    sel_status a = check_tree(shape->a, chain, grid, error);
    sel_status b = shape->b ? check_tree(shape->b, chain, grid, error) : SEL_OK;
    return a ? a : b;
}

sel_status sel_shape_check(const sel_shape *shape, const sel_grid *grid, sel_error *error) {
    return check_tree(shape, NULL, grid, error);
}

/* ---- warnings ---- */

static void warn_tree(const sel_shape *shape, const sel_chain *chain, const sel_grid *grid,
                      sel_error *warnings) {
    const sel_chain inner = {shape->data, chain};
    if (shape->kind == SEL_SHAPE_MESH) {
        sel_mesh_warn(shape, chain, grid, warnings);
    } else if (shape->a) {
        warn_tree(shape->a, shape->kind == SEL_SHAPE_PLACED ? &inner : chain, grid, warnings);
    }
    if (shape->b) {
        warn_tree(shape->b, chain, grid, warnings);
    }
}

void sel_shape_warn(const sel_shape *shape, const sel_grid *grid, sel_error *warnings) {
    warn_tree(shape, NULL, grid, warnings);
}
