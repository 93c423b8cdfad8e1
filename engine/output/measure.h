/* measure.h -- what outputs measure: fields at points, forces and fluxes of regions, signals. */
#ifndef SEL_MEASURE_H
#define SEL_MEASURE_H

#include "engine/output/kind.h"

/* ---- fields at points between cell centres ---- */

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
sel_status sel_sample_create(sel_arena *arena, const sel_output_context *context,
                             const sel_point *points, int count, bool walls, const sel_picks *picks,
                             sel_sample **sample, sel_error *error);

double sel_line_length(const sel_point *from, const sel_point *to);

enum { SEL_MOST_POINTS = 10000000 };

/* Of an output's fields at the midpoints of *count equal parts of a line, with walls; 0: as many
 * parts as are a cell long. */
sel_status sel_sample_line(const sel_output *output, const sel_point *from, const sel_point *to,
                           int *count, sel_point **points, sel_sample **sample, sel_error *error);

/* Asks for the fields at the cells about the points. */
sel_status sel_sample_ask(const sel_sample *sample, sel_requests *requests, sel_error *error);

/* Takes the answers. Laws on faces are taken at `time`. */
sel_status sel_sample_take(sel_sample *sample, double time, sel_error *error);

/* Asks, waits, and takes the answers. */
sel_status sel_sample_read(sel_sample *sample, double time, sel_error *error);

/* The value of component c of a pick at a point, as it was taken last. */
double sel_sample_value(const sel_sample *sample, int pick, int point, int c);

/* ---- force on the regions of a name, and what flows through them ---- */

/* Several regions may share a name: they are measured together. */

/* Refuses a name that no region has, with the nearest one that exists. */
sel_status sel_measure_check(const sel_output_site *site, const char *region);

/* Appends a request of `kind`, SEL_FORCE or SEL_FLUX, for each region called `region`; `centre` is
 * that of torques. */
sel_status sel_measure_ask(const sel_output_context *context, sel_request_kind kind,
                           const char *region, const sel_point *centre, sel_requests *requests,
                           sel_error *error);

/* The sums of the answers: force and torque in user's units, per unit depth in 2-D, where only
 * torque[2] is not zero. */
void sel_measure_sum_force(const sel_requests *answers, double force[3], double torque[3]);

/* Asks for the force in the last step and waits for it. */
sel_status sel_measure_force(const sel_output_context *context, const char *region,
                             const sel_point *centre, double force[3], double torque[3],
                             sel_error *error);

/* ---- mean, deviation and dominant frequency of a sampled signal ---- */

/* Of value[0..n); NaN for n = 0. */
double sel_signal_mean(const double *value, size_t n);

/* Root mean square of the deviations from the mean; NaN for n = 0. */
double sel_signal_rms(const double *value, size_t n);

/* The frequency, in cycles per unit of `time`, of the strongest oscillation of a signal sampled at
 * rising times. NaN where there is none: fewer than 16 samples, less than two cycles, or
 * a deviation that is not above `noise`. Within 0.1 % for a sinusoid that is seen for four cycles
 * and sampled eight times in each. */
double sel_signal_frequency(const double *time, const double *value, size_t n, double noise);

#endif
