/* run_tests.c -- the tests of a run: divergence, steadiness, change of the mean, Mach number, mass;
 * stopping the run; the warning about aliasing.
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
    status = status ? status : sel_run_answer_test(r, &r->mass.test, error);
    return status ? status : sel_run_take_audit(r, error);
}

/* Takes the answer of a monitor; stops the run if it has diverged or is steady. */
static void take_monitor(run *r) {
    const double tolerance = r->prepared->simulation->params->stop.steady;
    const sel_request *answer = &r->monitor.request;
    judge_monitor(r);
    if (r->report->stopped_by != SEL_BY_DIVERGENCE && !answer->only_bad_cell) {
        r->report->steady_measure = answer->change;
        const bool steady = answer->change < tolerance || (tolerance == 0 && answer->change == 0);
        if (r->report->stopped_by == SEL_BY_NOTHING && steady) {
            sel_run_stop(r, SEL_BY_STEADY, "steady: change %.3g between steps %lld and %lld",
                         answer->change, (long long)(r->monitor.step - r->test_steps),
                         (long long)r->monitor.step);
            sel_run_warn_of_aliasing(r);
        }
    }
}

static void take_mean(run *r) {
    const double change = r->report->mean_change = r->mean.request.mean_change;
    if (r->report->stopped_by == SEL_BY_NOTHING &&
        change <= r->prepared->simulation->params->stop.mean_change) {
        sel_run_stop(r, SEL_BY_MEAN_CHANGE, "mean change %.3g between steps %lld and %lld", change,
                     (long long)(r->mean.step - 1), (long long)r->mean.step);
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
    const bool has_mass = r->mass.test.pending;
    r->monitor.pending = r->mean.pending = r->mass.test.pending = false;
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
    }
    if (!status && test && by_mean) {
        status = sel_run_start_test(r, &r->mean, &mean, error);
    }
    return status || !test ? status : sel_run_start_mass(r, error);
}

/* ---- the warning about aliasing of steady tests ----
 *
 * A test compares two states, so it misses an oscillation whose period divides the time between
 * them.
 */

/* Points and times at which quantities are sampled, by a low-discrepancy sequence: equidistant
 * times would miss oscillations, too. */
enum { PLACES = 16, TIMES = 64, MOST_COMPONENTS = 3 };
/* Relative to the largest value. A smaller variation is round-off, or the end of a ramp. */
static const double least_variation = 1e-4;

typedef struct sampling {
    const sel_domain *domain;
    double x[PLACES], y[PLACES], z[PLACES];
    double begin, end;      /* times */
    const sel_table *table; /* of the first quantity found to vary; NULL: none */
    const char *field;      /* its name */
    sel_where where;
} sampling;

/* Element k, 0 to 1, of the additive recurrence with step alpha. */
static double alias_spread(double alpha, int k) {
    return fmod(0.5 + alpha * k, 1);
}

/* Whether a quantity varies in time; false if it cannot be evaluated. */
static bool alias_varies(const sampling *s, const sel_quantity *q) {
    double value[MOST_COMPONENTS * PLACES], low[MOST_COMPONENTS * PLACES];
    double high[MOST_COMPONENTS * PLACES], largest = 0, variation = 0;
    const int n = q->components * PLACES;
    for (int k = 0; k < TIMES; k++) {
        const double t = s->begin + (s->end - s->begin) * alias_spread(0.6180339887498949, k);
        const sel_places at = sel_domain_at(s->domain, PLACES, s->x, s->y,
                                            s->domain->grid.dims == 3 ? s->z : NULL, t);
        if (sel_quantity_eval(q, "", &at, value, NULL)) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            low[i] = k ? fmin(low[i], value[i]) : value[i];
            high[i] = k ? fmax(high[i], value[i]) : value[i];
        }
    }
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fmax(fabs(low[i]), fabs(high[i])));
        variation = fmax(variation, high[i] - low[i]);
    }
    return variation > least_variation * largest;
}

/* sel_quantity_visit */
static bool alias_visit(void *to, const sel_visited *found) {
    sampling *s = to;
    const sel_quantity *q = found->quantity;
    const bool here = q->components <= MOST_COMPONENTS && (sel_quantity_depends(q) & SEL_ON_T) &&
                      alias_varies(s, q);
    if (here) {
        s->table = found->table;
        s->field = found->field;
        s->where = found->where;
    }
    return !here;
}

/* Fields of quantities that do not drive the run. */
static const char *const not_driving[] = {"initial", "output", "hooks", "derived", NULL};

void sel_run_warn_of_aliasing(run *r) {
    const sel_simulation *simulation = r->prepared->simulation;
    const sel_domain *domain = r->prepared->domain;
    const sel_grid *grid = &domain->grid;
    sampling s = {.domain = domain,
                  .begin = sel_clock_time(&r->clock, r->monitor.step - r->test_steps),
                  .end = sel_clock_time(&r->clock, r->monitor.step)};
    if (r->test_steps == 1 || !(r->prepared->plan->depends & SEL_ON_T)) {
        return;
    }
    /* Spreads the places evenly: multiples of 1/g, 1/g^2, ... with g^(d + 1) = g + 1 in d
     * dimensions (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018). */
    static const double strides[2][3] = {
        {0.7548776662466927, 0.5698402909980532, 0},
        {0.8191725133961644, 0.6710436067037892, 0.5497004779019702}};
    const double *stride = strides[grid->dims == 3];
    for (int k = 0; k < PLACES; k++) {
        const double along[] = {alias_spread(stride[0], k), alias_spread(stride[1], k),
                                alias_spread(stride[2], k)};
        double *const to[] = {s.x, s.y, s.z};
        for (int a = 0; a < grid->dims; a++) {
            to[a][k] = sel_centre(grid, a, floor(along[a] * (double)grid->n[a]));
        }
    }
    sel_visit_quantities(simulation, not_driving, alias_visit, &s);
    if (s.table) {
        const sel_where stop = sel_simulation_where(simulation, "stop");
        sel_run_warn(r,
                     "%s:%d: %s of %s varies between the two tests that found the run steady: "
                     "tests every %lld steps (%.3g) see no oscillation whose period is that or a "
                     "whole part of it; set every of stop (%s:%d) to no multiple of the period and "
                     "look again",
                     s.where.file ? s.where.file : "?", s.where.line, s.field, s.table->name,
                     (long long)r->test_steps, s.end - s.begin, stop.file ? stop.file : "?",
                     stop.line);
    }
}
