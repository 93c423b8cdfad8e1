/* segment.h -- where a segment, such as a link between two cells, enters a shape. */
#ifndef SEL_SEGMENT_H
#define SEL_SEGMENT_H

#include "engine/scene/shape.h"

/* The grid in which shapes are tested, and the values of the controls for their functions. */
typedef struct sel_shape_space {
    const sel_grid *grid;
    const double *controls;
} sel_shape_space;

/* Whether a point lies in the shape as the centre of a cell would. *failed = true if a function of
 * the shape fails; it stays as it is otherwise. */
bool sel_shape_contains(const sel_shape *shape, const sel_shape_space *space, const double p[3],
                        bool *failed);

/* A fraction of a segment at which a point that moves along it may enter or leave a shape.
 * `surface`: it lies on a surface; false: on the edge of a pixel. */
typedef struct sel_root {
    double at;
    bool surface;
} sel_root;

enum { SEL_ROOTS_AT_ONCE = 48 };

/* A list of roots; the first ones need no memory from the heap. */
typedef struct sel_roots {
    int count, room;
    bool failed; /* without memory, or as a function of the script did */
    sel_root *v; /* `few`, or memory of the heap */
    sel_root few[SEL_ROOTS_AT_ONCE];
} sel_roots;

void sel_roots_open(sel_roots *roots);
void sel_roots_close(sel_roots *roots);
/* Adds a root if it lies on the segment. */
void sel_roots_add(sel_roots *roots, double at, bool surface);

/* Adds the fractions of the segment at which its points may enter or leave the shape: all of them,
 * for primitives other than functions, images and rasters. Those are tested at the ends of
 * SEL_PARTS_OF_LINK equal parts, and, where two differ, by halving to 1e-12 of the segment (36
 * tests). A layer thinner than a part may be missed. */
enum { SEL_PARTS_OF_LINK = 16 };
void sel_shape_roots(const sel_shape *shape, const sel_shape_space *space, const double from[3],
                     const double to[3], sel_roots *roots);

/* The first part of the segment between roots, longer than 1e-13, in which `inside` is true: the
 * root at which it begins, *at = 0 for the first part. False: there is none, and *at = 1. Sorts
 * the roots. */
typedef bool sel_inside(const void *of, const double p[3], bool *failed);
bool sel_roots_enter(sel_roots *roots, sel_inside *inside, const void *of, const double from[3],
                     const double to[3], double *at, bool *surface);

/* The smallest fraction 0 < *q <= 1 at which the segment from a point outside to a point inside
 * enters the shape. False: memory lacks, or a function of the shape fails. */
bool sel_shape_crossing(const sel_shape *shape, const sel_shape_space *space, const double from[3],
                        const double to[3], double *q);

#endif
