/* test_limits.c -- which cells and nodes lie in shapes whose limits pass through them, whatever the
 * round-off of places and limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/kind.h"
#include "engine/scene/shape.h"

static const double pi = 3.14159265358979323846;

/* A place as a script has it: a decimal number. */
static double decimal(double place) {
    char text[64];
    snprintf(text, sizeof text, "%.16g", place);
    return strtod(text, NULL);
}

typedef struct limits {
    sel_arena *arena;
    sel_grid grid;
    double at; /* a node, by number: shapes begin there, or lie about it */
    int inside;
    char what[128];
} limits;

/* The place of node `i` along both axes, or of the centre of cell i. */
static sel_point place_of(const limits *l, double i, double j) {
    const double half = l->grid.nodes ? 0 : 0.5;
    return (sel_point){2,
                       {decimal(l->grid.origin[0] + (i + half) * l->grid.dx[0]),
                        decimal(l->grid.origin[1] + (j + half) * l->grid.dx[0]), 0}};
}

/* As many cells as `expected` lie in the shape. */
static void check(const limits *l, const char *name, const sel_shape *shape, int expected) {
    const int64_t n = l->grid.n[0], cells = n * n;
    double *x = malloc(2 * (size_t)cells * sizeof *x), *y = x + cells;
    uint8_t *in = malloc((size_t)cells);
    int found = 0;
    for (int64_t i = 0; i < cells; i++) {
        x[i] = sel_centre(&l->grid, 0, (double)(i % n));
        y[i] = sel_centre(&l->grid, 1, (double)(i / n));
    }
    const sel_places at = {(size_t)cells, x, y, NULL, 0, NULL, NULL};
    assert_int_equal(sel_shape_test(shape, &l->grid, -1, &at, NULL, in, NULL), SEL_OK);
    for (int64_t i = 0; i < cells; i++) {
        found += in[i];
    }
    if (found != expected) {
        fail_msg("%s: %s has %d cells instead of %d", l->what, name, found, expected);
    }
    free(x);
    free(in);
}

static const sel_shape *shape_of(const limits *l, sel_shape_kind kind, const void *data,
                                 size_t size) {
    void *own = sel_arena_alloc(l->arena, size);
    memcpy(own, data, size);
    return sel_shape_make(l->arena, kind, own);
}

static const sel_shape *placed(const limits *l, const sel_shape *shape,
                               const sel_shape_placement *placement) {
    void *own = sel_arena_alloc(l->arena, sizeof *placement);
    memcpy(own, placement, sizeof *placement);
    return sel_shape_place(l->arena, shape, own);
}

/* Those with flat sides hold the nodes on their lower ones. */
static void check_flat(const limits *l) {
    const double i = l->at;
    const sel_shape_box box = {place_of(l, i, i), place_of(l, i + 5, i + 4)};
    sel_point corner[4] = {place_of(l, i, i), place_of(l, i + 5, i), place_of(l, i + 5, i + 4),
                           place_of(l, i, i + 4)};
    const sel_shape_polygon polygon = {{4, corner}};
    const sel_shape *made = shape_of(l, SEL_SHAPE_BOX, &box, sizeof box);
    check(l, "the box", made, 20);
    check(l, "the polygon", shape_of(l, SEL_SHAPE_POLYGON, &polygon, sizeof polygon), 20);
    sel_shape_placement placement;
    const sel_point by = {2, {decimal(3 * l->grid.dx[0]), decimal(l->grid.dx[0]), 0}};
    sel_placement_move(&placement, by.v);
    check(l, "the box, moved", placed(l, made, &placement), 20);
    sel_placement_rotate(&placement, pi / 2, NULL, box.min.v);
    check(l, "the box, turned", placed(l, made, &placement), 20);
    sel_placement_scale(&placement, 2, box.min.v);
    check(l, "the box, scaled", placed(l, made, &placement), 80);
    const sel_shape within = {.kind = SEL_SHAPE_BOX, .data = &box};
    const sel_box cells = sel_within_box(&l->grid, &within);
    if (sel_box_count(&cells, 0) != 5 || sel_box_count(&cells, 1) != 4 ||
        cells.lo[0] != (int64_t)i) {
        fail_msg("%s: %d x %d cells within", l->what, (int)sel_box_count(&cells, 0),
                 (int)sel_box_count(&cells, 1));
    }
}

/* Round ones hold the nodes on their surfaces: 81 points of a lattice are no farther from one of
 * them than 5, of which 12 are at 5. */
static void check_round(const limits *l) {
    const double side = l->grid.dx[0];
    const sel_point centre = place_of(l, l->at, l->at);
    const sel_shape_ball ball = {centre, decimal(5 * side)};
    const sel_shape_ellipsoid ellipse = {centre, {2, {decimal(5 * side), decimal(3 * side), 0}}};
    const sel_shape_torus ring = {
        .centre = centre, .radius = decimal(3 * side), .tube = decimal(2 * side)};
    const sel_shape_cylinder disc = {.centre = centre, .radius = decimal(5 * side)};
    const sel_shape_cone band = {centre,
                                 place_of(l, l->at + 4, l->at + 3),
                                 {2, {decimal(2.5 * side), decimal(2.5 * side), 0}}};
    check(l, "the ball", shape_of(l, SEL_SHAPE_BALL, &ball, sizeof ball), 81);
    check(l, "the ellipse", shape_of(l, SEL_SHAPE_ELLIPSOID, &ellipse, sizeof ellipse), 45);
    check(l, "the ring", shape_of(l, SEL_SHAPE_TORUS, &ring, sizeof ring), 80);
    check(l, "the disc", shape_of(l, SEL_SHAPE_CYLINDER, &disc, sizeof disc), 81);
    check(l, "the band", shape_of(l, SEL_SHAPE_CONE, &band, sizeof band), 26);
}

static void limits_through_cells_count_alike_for_all_sizes(void **state) {
    (void)state;
    static const double sides[] = {0.03, 0.1, 0.15, 0.35, 0.7, 1.0 / 3, 0.5, 2e-6, 12.5};
    static const double origins[] = {0, -0.9, 5882280, 0.1};
    for (int k = 0; k < 9 * 4 * 2; k++) {
        limits l = {.arena = sel_arena_create()};
        const double side = sides[k / 8], origin = origins[k / 2 % 4];
        l.grid = (sel_grid){.dims = 2,
                            .nodes = k % 2,
                            .n = {30, 30, 1},
                            .dx = {side, side, side},
                            .origin = {origin, -2 * origin, 0}};
        snprintf(l.what, sizeof l.what, "%s of %g from %g on", k % 2 ? "nodes" : "cells", side,
                 origin);
        for (l.at = 7; l.at < 17 && !(side < 1e-3 && origin > 1); l.at++) {
            check_flat(&l);
            check_round(&l);
        }
        sel_arena_destroy(l.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_through_cells_count_alike_for_all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
