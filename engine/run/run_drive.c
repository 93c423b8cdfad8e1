/* run_drive.c -- holds the mean velocity of a flow by an acceleration along an axis.
 *
 * A flow under the acceleration a has dU/dt = a - f, where f is the friction per mass and U the
 * mean velocity of the fluid. Every T, with U* to be held,
 *
 *     a += -(U - U_before) / F + T (U* - U) (1 / F + L) / (4 F),   L = f / U,
 *
 * which is an integral of what is missing with a damping by U itself: without friction and with
 * friction in proportion to U all error dies away without overshoot, within some 4 F. L is measured
 * from the balance over the last interval, so flows that are ruled by friction (fine pores) answer
 * as fast. F is the time in which sound crosses the domain, but at least 4 T: sound is not
 * answered.
 *
 * The control is changed after all that is due at a step, just before the next step.
 */
#include <math.h>
#include "engine/run/running.h"

enum { LEAST_STEPS = 20 };
static const double crossings = 1, intervals = 4; /* in F */

const sel_drive *sel_run_drive_of(const run *r) {
    const sel_solver *solver = r->prepared->simulation->solver;
    return solver->drive ? solver->drive(r->prepared->simulation->params) : NULL;
}

static int64_t longest_axis(const run *r) {
    const sel_grid *grid = &r->prepared->domain->grid;
    int64_t longest = 0;
    for (int a = 0; a < grid->dims; a++) {
        longest = grid->n[a] > longest ? grid->n[a] : longest;
    }
    return longest;
}

/* The default is a quarter of the longest axis: then 4 T is less than a crossing by sound, which F
 * is. */
int64_t sel_run_drive_steps(const run *r) {
    const int64_t quarter = longest_axis(r) / 4, given = sel_run_drive_of(r)->every;
    return given > 0 ? given : quarter > LEAST_STEPS ? quarter : LEAST_STEPS;
}

/* F above. */
static double answer_time(const run *r) {
    const sel_grid *grid = &r->prepared->domain->grid;
    const sel_solver *solver = r->prepared->simulation->solver;
    const double longest = (double)longest_axis(r);
    const double sound = longest * grid->dx[0] / solver->sound(r->prepared->plan);
    return fmax(crossings * sound, intervals * (double)sel_run_drive_steps(r) * grid->dt);
}

/* The change of the acceleration at a mean velocity, after a time T since the last one. */
static double change(const run *r, const sel_drive *drive, double velocity, double passed) {
    const double time = answer_time(r), before = r->drive.velocity;
    const double target = sel_drive_velocity(drive, r->prepared->domain);
    const double friction = r->drive.acceleration - (velocity - before) / passed;
    const double rate = friction * velocity > 0 ? fmin(friction / velocity, 1 / passed) : 0;
    return -(velocity - before) / time +
           passed * (target - velocity) * (1 / time + rate) / (4 * time);
}

static sel_status set_results(const run *r, sel_error *error) {
    const run_drive *now = &r->drive;
    sel_results *results = &r->report->results;
    sel_status status = sel_results_set(results, "drive.acceleration", now->acceleration, error);
    if (!status && now->steps > 0) {
        status = sel_results_set(results, "drive.acceleration_mean", now->sum / (double)now->steps,
                                 error);
    }
    return status ? status : sel_results_set(results, "drive.velocity", now->velocity, error);
}

/* The mean velocity of the fluid along the axis, now. */
static sel_status find_mean(run *r, const sel_drive *drive, double *mean, sel_error *error) {
    const sel_solver *solver = r->prepared->simulation->solver;
    run_test test = {.pending = false};
    const sel_request request = {.kind = SEL_REDUCE,
                                 .field = solver->main_field,
                                 .components = r->prepared->domain->grid.dims,
                                 .box = sel_grid_box(&r->prepared->domain->grid)};
    sel_status status = sel_run_start_test(r, &test, &request, error);
    status = status ? status : sel_run_answer_test(r, &test, error);
    const double count = (double)test.request.count;
    *mean = !status && count > 0 ? test.request.sum[drive->axis] / count : 0;
    return status;
}

/* Counts the steps since the last change in the mean acceleration. */
static void count_steps(run_drive *now, const sel_drive *drive, int64_t step) {
    if (now->step >= drive->from_step) {
        now->sum += now->acceleration * (double)(step - now->step);
        now->steps += step - now->step;
    }
}

sel_status sel_run_drive_end(run *r, sel_error *error) {
    const sel_drive *drive = sel_run_drive_of(r);
    sel_status status = drive ? find_mean(r, drive, &r->drive.velocity, error) : SEL_OK;
    if (drive && !status) {
        count_steps(&r->drive, drive, r->step);
        status = set_results(r, error);
    }
    return status;
}

sel_status sel_run_drive(run *r, sel_error *error) {
    const sel_drive *drive = sel_run_drive_of(r);
    run_drive *now = &r->drive;
    if (!drive || r->step % sel_run_drive_steps(r) != 0 || now->step == r->step) {
        return SEL_OK;
    }
    double mean;
    /* Outputs that have been started tell of the acceleration before. */
    sel_status status = sel_outputs_finish(r->outputs, error);
    status = status ? status : find_mean(r, drive, &mean, error);
    if (status || !isfinite(mean)) {
        return status; /* the next test for divergence ends the run */
    }
    const double dt = r->prepared->domain->grid.dt;
    const int64_t steps = now->step >= 0 ? r->step - now->step : sel_run_drive_steps(r);
    if (now->step >= 0) {
        count_steps(now, drive, r->step);
    }
    now->velocity = now->step >= 0 ? now->velocity : mean;
    const double next = now->acceleration + change(r, drive, mean, (double)steps * dt);
    now->velocity = mean;
    now->step = r->step;
    status = set_results(r, error);
    now->acceleration = next;
    r->prepared->domain->control_values[r->prepared->domain->control_count - 1] = next;
    return status;
}
