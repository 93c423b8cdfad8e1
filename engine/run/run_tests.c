/* run_tests.c -- the tests of a run: divergence, steadiness, change of the mean, Mach number, mass;
 * stopping the run.
 *
 * A test at step k starts requests; the next test takes their answers, so that devices need not
 * wait.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/run/running.h"
#include "engine/values/schema.h"

/* Warn above this Mach number: the density varies by Mach^2 / 2. */
static const double fastest = 0.3;
/* The scale of a field without a zero of its own is at least this fraction of its values, so that
 * round-off in a uniform body is no change. */
static const double least_range = 1e-6;
/* Warn if the mass has drifted by more than this fraction. */
static const double most_drift = 1e-3;

void sel_run_stop(run *r, sel_stopped_by by, const char *reason, ...) {
    va_list args;
    va_start(args, reason);
    r->report->stopped_by = by;
    vsnprintf(r->report->stop_reason, sizeof r->report->stop_reason, reason, args);
    va_end(args);
    sel_plain_text(r->report->stop_reason); /* a hook's reason may hold control characters */
}

sel_status sel_run_wait(run *r, sel_error *error) {
    double before = sel_machine_seconds();
    sel_status status = sel_backend_wait(r->prepared->backend, r->state, error);
    r->compute_seconds += sel_machine_seconds() - before;
    return status;
}

void sel_run_warn(run *r, const char *format, ...) {
    char text[700], line[720];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sel_fail(&r->prepared->warnings, SEL_BAD_SCENARIO, "%s", text);
    snprintf(line, sizeof line, "warning: %s", text);
    sel_run_log(line, r);
}

void sel_run_warn_once(void *run_under_way, const char *about, const char *text) {
    run *r = run_under_way;
    if (!strstr(r->prepared->warnings.text, about)) {
        sel_run_warn(r, "%s", text);
    }
}

static void warn_of_mach(run *r, double mach) {
    sel_run_warn(r,
                 "at step %lld the flow passes Mach %g (%.2g): errors of compressibility grow as "
                 "Mach^2; reduce what drives it, or dt as far as tau stays above 0.505",
                 (long long)r->monitor.step, fastest, mach);
}

static void warn_of_mass(run *r, double drift) {
    const sel_solver *solver = r->prepared->simulation->solver;
    char cause[500];
    if (!solver->mass_cause(r->prepared->plan, cause, sizeof cause)) {
        snprintf(cause, sizeof cause, "no law lets any through; use precision = \"f64\"");
    }
    sel_run_warn(r, "at step %lld the mass is %.2g %% %s than its laws make it: %s",
                 (long long)r->mass.test.step, 100 * fabs(drift), drift > 0 ? "more" : "less",
                 cause);
}

/* Stops the run if the monitor shows that it has diverged; warns once of a high Mach number. */
static void judge_monitor(run *r) {
    const sel_plan *plan = r->prepared->plan;
    const sel_solver *solver = r->prepared->simulation->solver;
    char found[SEL_DIVERGENCE_TEXT], hint[480], good[sizeof r->names.path + 40] = "";
    const sel_request *answer = &r->monitor.request;
    const double mach = solver->sound ? answer->largest / solver->sound(plan) : 0;
    if (sel_diverged(plan, answer, r->monitor.step, found)) {
        snprintf(hint, sizeof hint, "%s", solver->advice ? solver->advice : "");
        if (solver->hint) {
            solver->hint(plan, fmax(r->largest, answer->largest), hint, sizeof hint);
        }
        if (r->saved_step >= 0) {
            snprintf(good, sizeof good, ". %s holds step %lld", r->names.path,
                     (long long)r->saved_step);
        }
        sel_run_stop(r, SEL_BY_DIVERGENCE, "%s. %s%s", found, hint, good);
    } else if (mach > fastest && !(r->report->largest_mach > fastest)) {
        warn_of_mach(r, mach);
    }
    if (solver->sound && answer->largest_cell >= 0) {
        r->report->largest_mach = fmax(r->report->largest_mach, mach);
    }
    r->largest = fmax(r->largest, answer->largest);
}

sel_status sel_run_start_test(run *r, run_test *test, const sel_request *request,
                              sel_error *error) {
    test->request = *request;
    test->step = r->step;
    double before = sel_machine_seconds();
    sel_status status = r->prepared->backend->start(r->state, &test->request, error);
    r->compute_seconds += sel_machine_seconds() - before;
    test->pending = status == SEL_OK;
    test->answered = false;
    return status;
}

sel_status sel_run_answer_test(run *r, run_test *test, sel_error *error) {
    if (!test->pending || test->answered) {
        return SEL_OK;
    }
    test->answered = true;
    double before = sel_machine_seconds();
    sel_status status = r->prepared->backend->finish(r->state, &test->request, error);
    r->compute_seconds += sel_machine_seconds() - before;
    return status;
}

sel_status sel_run_answer_tests(run *r, sel_error *error) {
    sel_status status = sel_run_answer_test(r, &r->monitor, error);
    status = status ? status : sel_run_answer_test(r, &r->mean, error);
    status = status ? status : sel_run_answer_test(r, &r->range.test, error);
    status = status ? status : sel_run_answer_test(r, &r->mass.test, error);
    return status ? status : sel_run_take_audit(r, error);
}

/* Takes the extremes of the main field. */
static void take_extremes(run *r) {
    run_range *range = &r->range;
    range->least = fmin(range->least, range->test.request.min[0]);
    range->most = fmax(range->most, range->test.request.max[0]);
}

/* The change between the last two monitors: relative to the field in the L2 norm, or its root mean
 * square relative to the range of the field. */
static double steady_measure(const run *r) {
    const run_range *range = &r->range;
    const sel_request *field = &range->test.request;
    const double change = r->monitor.request.change;
    if (!r->prepared->simulation->solver->steady_by_range || range->test.step != r->monitor.step) {
        return change;
    }
    const double size = sqrt(field->sum_of_squares[0] / (double)field->count);
    const double largest = fmax(fabs(range->least), fabs(range->most));
    return change * size / fmax(range->most - range->least, least_range * largest);
}

/* Takes the answer of a monitor; stops the run if it has diverged or is steady. */
static void take_monitor(run *r) {
    const double tolerance = r->prepared->simulation->params->stop.steady;
    judge_monitor(r);
    if (r->report->stopped_by != SEL_BY_DIVERGENCE && !r->monitor.request.only_bad_cell) {
        const double change = r->report->steady_measure = steady_measure(r);
        const bool steady = change < tolerance || (tolerance == 0 && change == 0);
        if (r->report->stopped_by == SEL_BY_NOTHING && steady) {
            sel_run_stop(r, SEL_BY_STEADY, "steady: change %.3g between steps %lld and %lld",
                         change, (long long)(r->monitor.step - r->test_steps),
                         (long long)r->monitor.step);
            sel_run_warn_of_time(r, r->monitor.step);
        }
    }
}

static void take_mean(run *r) {
    const double change = r->report->mean_change = r->mean.request.mean_change;
    if (r->report->stopped_by == SEL_BY_NOTHING &&
        change <= r->prepared->simulation->params->stop.mean_change) {
        sel_run_stop(r, SEL_BY_MEAN_CHANGE, "mean change %.3g between steps %lld and %lld", change,
                     (long long)(r->mean.step - 1), (long long)r->mean.step);
        sel_run_warn_of_later(r, r->mean.step);
    }
}

/* Compares the mass with that of the first test plus what laws have brought in since. */
static void take_mass(run *r) {
    run_mass *mass = &r->mass;
    const double now = mass->test.request.sum[0];
    double brought = 0;
    if (mass->step < 0) {
        mass->first = now;
    } else {
        r->prepared->simulation->solver->brought(r->prepared->plan, mass->step, mass->test.step,
                                                 &brought);
    }
    mass->brought += brought;
    mass->step = mass->test.step;
    const double drift = (now - mass->first - mass->brought) / mass->first;
    r->report->mass_drift = drift;
    if (fabs(drift) > most_drift && !mass->told) {
        mass->told = true;
        warn_of_mass(r, drift);
    }
}

sel_status sel_run_finish_tests(run *r, sel_error *error) {
    sel_status status = sel_run_answer_tests(r, error);
    const bool has_monitor = r->monitor.pending, has_mean = r->mean.pending;
    const bool has_mass = r->mass.test.pending, has_range = r->range.test.pending;
    r->monitor.pending = r->mean.pending = r->mass.test.pending = r->range.test.pending = false;
    if (!status && has_range) {
        take_extremes(r);
    }
    if (!status && has_monitor) {
        take_monitor(r);
    }
    if (!status && has_mean) {
        take_mean(r);
    }
    if (!status && has_mass && r->report->stopped_by != SEL_BY_DIVERGENCE) {
        take_mass(r);
    }
    return status;
}

sel_status sel_run_start_monitor(run *r, bool only_bad_cell, sel_error *error) {
    const sel_request request = {.kind = SEL_MONITOR,
                                 .box = sel_grid_box(&r->prepared->domain->grid),
                                 .only_bad_cell = only_bad_cell};
    return sel_run_start_test(r, &r->monitor, &request, error);
}

sel_status sel_run_start_range(run *r, sel_error *error) {
    const sel_solver *solver = r->prepared->simulation->solver;
    const sel_request request = {.kind = SEL_REDUCE,
                                 .field = solver->main_field,
                                 .box = sel_grid_box(&r->prepared->domain->grid)};
    return solver->steady_by_range ? sel_run_start_test(r, &r->range.test, &request, error)
                                   : SEL_OK;
}

sel_status sel_run_start_mass(run *r, sel_error *error) {
    const sel_solver *solver = r->prepared->simulation->solver;
    double brought;
    if (!solver->brought || (r->mass.step >= 0 && r->step - r->mass.step < r->monitor_steps) ||
        !solver->brought(r->prepared->plan, r->step, r->step, &brought)) {
        return SEL_OK;
    }
    const sel_request request = {.kind = SEL_REDUCE,
                                 .field = solver->mass_field,
                                 .box = sel_grid_box(&r->prepared->domain->grid)};
    return sel_run_start_test(r, &r->mass.test, &request, error);
}

sel_status sel_run_start_tests(run *r, sel_error *error) {
    const sel_stop *stop = &r->prepared->simulation->params->stop;
    const bool test = r->step % r->test_steps == 0, by_mean = sel_stops_by_mean(stop);
    const bool compares = test && !(by_mean && isnan(stop->steady));
    const sel_request mean = {.kind = SEL_MEAN_CHANGE, .mean_change = (double)NAN};
    sel_status status = SEL_OK;
    if (compares || r->step % r->monitor_steps == 0) {
        status = sel_run_start_monitor(r, !compares, error);
        status = status ? status : sel_run_audit(r, error);
        status = status || !compares ? status : sel_run_start_range(r, error);
    }
    if (!status && test && by_mean) {
        status = sel_run_start_test(r, &r->mean, &mean, error);
    }
    return status || !test ? status : sel_run_start_mass(r, error);
}
