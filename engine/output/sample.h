/* sample.h -- fields at points between cell centres. */
#ifndef SEL_SAMPLE_H
#define SEL_SAMPLE_H

#include "engine/output/kind.h"

/* The two cells about a coordinate along one axis, and the weight of the upper one: 0 to 1, 0 where
 * the coordinate is the lower one's centre but for round-off, or lies beyond the last centre. */
typedef struct sel_interval {
    int64_t cell[2];
    double upper;
} sel_interval;

/* `c` in cells: cell i has its centre at i + 1/2. Periodic axes wrap. */
sel_interval sel_interval_about(const sel_grid *grid, int axis, double c);

/* Linear interpolation between the centres of the cells about a point. Solid cells have no part
 * in it (the others' weights are scaled up); a point in a solid has the value 0. Periodic axes
 * wrap; beyond the last centre of other axes the value of the last centre holds, or, where
 * `walls` is true and the law on that face says what holds there, the line from the last centre
 * to the face. Where two faces meet the nearer one counts. */
typedef struct sel_sample sel_sample;

/* For `count` points that were checked to lie in the domain. */
sel_status sel_sample_create(const sel_output_context *context, const sel_point *points, int count,
                             bool walls, sel_sample **sample, sel_error *error);

/* Cells whose values a sample needs. */
int sel_sample_cells(const sel_sample *sample);

/* Asks for a field at these cells: cells[sel_sample_cells()][components]. */
sel_status sel_sample_ask(const sel_sample *sample, int field, int components, double *cells,
                          sel_requests *requests, sel_error *error);

/* From the answer the values[point][components]. Laws on faces are taken at `time`. */
sel_status sel_sample_values(const sel_sample *sample, int field, int components, double time,
                             const double *cells, double *values, sel_error *error);

/* Asks, waits, and gives the values. */
sel_status sel_sample_read(const sel_sample *sample, int field, int components, double time,
                           double *values, sel_error *error);

/* NULL is fine. */
void sel_sample_destroy(sel_sample *sample);

#endif
