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

/* Refuses a point of the domain that has only solid cells about it, where all fields are 0; `what`
 * names it. */
sel_status sel_free_check(const sel_output_site *site, const char *what, const sel_point *point);

/* Linear interpolation between the centres of the cells about a point. Solid cells have no part
 * in it (the others' weights are scaled up); a point in a solid has the value 0. Periodic axes
 * wrap; beyond the last centre of other axes the value of the last centre holds, or, where
 * `walls` is true and the law on that face says what holds there, the line from the last centre
 * to the face. Where two faces meet the nearer one counts. */
typedef struct sel_sample sel_sample;

/* Of the picks' fields, for `count` points that were checked to lie in the domain. The picks
 * outlive it. */
sel_status sel_sample_create(const sel_output_context *context, const sel_point *points, int count,
                             bool walls, const sel_picks *picks, sel_sample **sample,
                             sel_error *error);

/* Asks for the fields at the cells about the points. */
sel_status sel_sample_ask(const sel_sample *sample, sel_requests *requests, sel_error *error);

/* Takes the answers. Laws on faces are taken at `time`. */
sel_status sel_sample_take(sel_sample *sample, double time, sel_error *error);

/* Asks, waits, and takes the answers. */
sel_status sel_sample_read(sel_sample *sample, double time, sel_error *error);

/* The value of component c of a pick at a point, as it was taken last. */
double sel_sample_value(const sel_sample *sample, int pick, int point, int c);

/* NULL is fine. */
void sel_sample_destroy(sel_sample *sample);

#endif
