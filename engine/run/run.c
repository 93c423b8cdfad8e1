/* run.c -- the run loop.
 *
 * The steps at which something happens (an output, a test, a hook, a checkpoint, the end) are known
 * in advance. Between two of them the backend advances in chunks of about a tenth of a second, so
 * that interrupts and progress are handled in time.
 *
 *     loop:  advance_to(target) -> tests -> outputs and hooks -> checkpoint
 *
 * A device is kept busy: advance may return before its steps are done; outputs are started when
 * they are due and taken after the next chunks have been submitted; a test takes the answers of the
 * test before it. The run waits for the device only before hooks, before the drive changes the
 * acceleration, before checkpoints and for the last state.
 */
#include "engine/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/process.h"
#include "engine/base/file.h"
#include "engine/base/hardware.h"
#include "engine/run/running.h"

enum { DEFAULT_TEST_STEPS = 1000, WRITER_QUEUE = 2 };

/* Chunks submitted before started outputs are taken: taking a large frame may last as long as a
 * chunk, during which the device must not run dry. */
enum { CHUNKS_AHEAD = 2 };
static const double chunk_seconds = 0.1;

/* Limits on the growth of a chunk: at first, while every chunk is waited for, and later, when the
 * time of a call to advance may be that of an earlier chunk, or nothing. */
static const double first_growth = 4, later_growth = 1.1;

/* Reads the times of the coming steps from the backend, and finds the last step. */
static sel_status read_clock(run *r, sel_error *error) {
    const sel_backend *backend = r->prepared->backend;
    const sel_stop *stop = &r->prepared->simulation->params->stop;
    const int64_t by_steps = stop->steps == SEL_INT_NOT_GIVEN ? INT64_MAX : stop->steps;
    sel_status status = backend->clock ? backend->clock(r->state, &r->clock, error) : SEL_OK;
    const int64_t by_time = isnan(stop->time) ? INT64_MAX : sel_clock_step(&r->clock, stop->time);
    r->report->last_step = r->last_step = by_time < by_steps ? by_time : by_steps;
    r->last_step_by = r->last_step == stop->steps ? SEL_BY_STEPS : SEL_BY_TIME;
    return status;
}

/* Sets the intervals of tests. By default, steady tests are as far apart as the flow takes to pass
 * the reference length. */
static void resolve_stops(run *r) {
    const sel_common *common = r->prepared->simulation->params;
    const sel_stop *stop = &common->stop;
    double steps_to_pass = common->reference.length / common->reference.velocity / common->dt;
    r->test_steps = stop->every != SEL_INT_NOT_GIVEN ? stop->every
                    : isnan(steps_to_pass)           ? DEFAULT_TEST_STEPS
                                           : (int64_t)fmin(fmax(1, round(steps_to_pass)), 1e15);
    r->monitor_steps = sel_monitor_interval(r->prepared->plan);
}

static bool interrupted(const run *r) {
    return r->options->interrupt && *r->options->interrupt;
}

/* Seconds until stop.wall_time; NaN: no limit. */
static double wall_time_left(const run *r) {
    const double limit = r->prepared->simulation->params->stop.wall_time;
    return limit - (sel_machine_seconds() - r->started);
}

static bool ends_early(const run *r) {
    return interrupted(r) || wall_time_left(r) <= 0;
}

/* Whether the run can end, or write a checkpoint, at the present step. If its last steps were not
 * observed it takes one or two more, since the last outputs, or the first ones of a resumed run,
 * may need the forces and fluxes of observed steps. */
static bool may_end_here(const run *r) {
    return r->observed_step == r->step || !sel_plan_observes(r->prepared->plan);
}

/* *steps: steps that are done. Returns the seconds they took: measured by a device that computes
 * while the host writes, else the time spent in advance and waiting for requests (a request
 * completes only after the steps submitted before it). */
static double seconds_of_steps(const run *r, int64_t *steps) {
    const sel_backend *backend = r->prepared->backend;
    double seconds = r->compute_seconds + (r->outputs ? sel_outputs_waited(r->outputs) : 0);
    *steps = r->step - r->first_step;
    if (backend->done) {
        backend->done(r->state, steps, &seconds);
    }
    return seconds;
}

static double updates_per_second(const run *r) {
    int64_t steps;
    double seconds = seconds_of_steps(r, &steps);
    double updates = (double)r->prepared->domain->free_cells * (double)steps;
    return seconds > 0 ? updates / seconds : 0;
}

static double run_time(const run *r) {
    return sel_clock_time(&r->clock, r->step);
}

static void fill_report(run *r) {
    sel_report *report = r->report;
    report->steps = r->step;
    report->time = run_time(r);
    report->wall_seconds = sel_machine_seconds() - r->started;
    report->mcells_per_second = 1e-6 * updates_per_second(r);
    if (r->writer) {
        const sel_writer_figures figures = sel_writer_so_far(r->writer);
        report->output_seconds = figures.busy;
        report->output_wait_seconds = figures.waited;
    }
}

/* Wall seconds until stop.time at the rate of the last ten seconds. Used if the number of steps is
 * not known, because dt adapts. NaN: no stop.time, or no rate yet. */
static double time_left(run *r) {
    static const double apart = 1; /* second between samples */
    const double now = sel_machine_seconds(), time = run_time(r);
    const double end = r->prepared->simulation->params->stop.time;
    if (r->pasts == 0 || now - r->past[r->pasts - 1].clock >= apart) {
        if (r->pasts == RUN_PAST) {
            memmove(r->past, r->past + 1, (RUN_PAST - 1) * sizeof *r->past);
            r->pasts--;
        }
        r->past[r->pasts].clock = now;
        r->past[r->pasts++].time = time;
    }
    const double clock = now - r->past[0].clock, passed = time - r->past[0].time;
    return clock > 0 && passed > 0 ? fmax(0, end - time) * clock / passed : (double)NAN;
}

/* Reports progress: on a terminal, in run.json and in run.log. */
static void show_progress(run *r) {
    sel_report *report = r->report;
    const bool asked = r->options->interrupt && sel_process_asked();
    const bool due = sel_run_record_due(r) || asked;
    if (!r->options->progress && !due) {
        return;
    }
    fill_report(r);
    const double done = (double)(r->step - r->first_step);
    const double seconds = report->wall_seconds - report->setup_seconds;
    const double to_last_step = r->last_step != INT64_MAX && done > 0
                                    ? seconds / done * (double)(r->last_step - r->step)
                                    : time_left(r);
    report->seconds_left = fmin(to_last_step, wall_time_left(r)); /* fmin ignores a NaN */
    if (r->options->progress) {
        r->options->progress(report, r->options->data);
    }
    if (due) {
        sel_run_record(r, asked);
    }
}

/* Adapts the chunk after n steps took `seconds`. It at most halves. It grows only after a whole
 * chunk, because one cut short by an output is dominated by overhead. */
static void adapt_chunk(run *r, int64_t n, double seconds, double growth) {
    double fitting = (double)n * chunk_seconds / fmax(seconds, 1e-9);
    if (fitting < r->chunk) {
        r->chunk = fmax(1, fmax(fitting, 0.5 * r->chunk));
    } else if (n == (int64_t)r->chunk) {
        r->chunk = fmin(fmin(fitting, growth * r->chunk), 1e9);
    }
}

/* Stops the run if the iteration of the solver has ended. */
static void take_ending(run *r) {
    static const sel_stopped_by by[] = {[SEL_CONVERGED] = SEL_BY_CONVERGENCE,
                                        [SEL_STAGNATED] = SEL_BY_STAGNATION,
                                        [SEL_OUT_OF_ITERATIONS] = SEL_BY_ITERATIONS,
                                        [SEL_ITERATION_DIVERGED] = SEL_BY_DIVERGENCE};
    const sel_backend *backend = r->prepared->backend;
    const sel_ending *ending = backend->ending ? backend->ending(r->state) : NULL;
    if (ending && ending->how != SEL_GOES_ON) {
        r->step = r->observed_step = backend->whole(r->state);
        sel_run_stop(r, by[ending->how], "%s", ending->why);
    }
}

/* Adds to the message of a law that refuses its value in which step, and which controls hooks had
 * set. */
static sel_status refuse_step(const run *r, sel_status status, sel_error *error) {
    const int64_t step = r->prepared->backend->whole(r->state);
    const size_t used = strlen(error->text);
    const bool on_cpu = r->prepared->choice.backend == r->prepared->simulation->solver->cpu;
    if (step < 0 || !on_cpu || (status != SEL_BAD_SCENARIO && status != SEL_DIVERGED)) {
        return status; /* some of several devices may have gone on */
    }
    char more[360] = "";
    if (*r->hooks.set) {
        snprintf(more, sizeof more, "%srun:set gave %s at step %lld",
                 status == SEL_DIVERGED ? "" : ", ", r->hooks.set, (long long)r->hooks.set_step);
    }
    if (status == SEL_BAD_SCENARIO) {
        snprintf(error->text + used, sizeof error->text - used, " (in step %lld%s)",
                 (long long)step + 1, more);
    } else if (*more) {
        snprintf(error->text + used, sizeof error->text - used, " (%s)", more);
    }
    return status;
}

static sel_status advance_chunk(run *r, int64_t n, bool observed, sel_error *error) {
    bool first = r->compute_seconds < chunk_seconds;
    double before = sel_machine_seconds();
    sel_status status = r->prepared->backend->advance(r->state, n, observed, error);
    if (!status && first) {
        status = sel_backend_wait(r->prepared->backend, r->state, error);
    }
    double seconds = sel_machine_seconds() - before;
    r->compute_seconds += seconds;
    if (!status) {
        int64_t steps;
        r->step += n;
        if (observed &&
            (n >= sel_plan_observed_steps(r->prepared->plan) || r->observed_step == r->step - n)) {
            r->observed_step = r->step;
        }
        take_ending(r);
        if (r->prepared->backend->done && seconds_of_steps(r, &steps) > 0) {
            seconds = seconds_of_steps(r, &steps) * (double)n / (double)steps;
        }
        adapt_chunk(r, n, seconds, first ? first_growth : later_growth);
    }
    return status ? refuse_step(r, status, error) : SEL_OK;
}

/* Advances to `target`, where something is due; the last one or two steps are observed. Ends
 * earlier on an interrupt, at stop.wall_time, or when a checkpoint is due by wall time. */
static sel_status advance_to(run *r, int64_t target, sel_error *error) {
    const int observes = sel_plan_observed_steps(r->prepared->plan);
    const int64_t last = observes > 1 ? observes : 1;
    for (bool on = true; on && r->step < target;) {
        const bool early = ends_early(r) || sel_run_saves_now(r);
        int64_t left = target - r->step;
        left = early && last < left ? last : left;
        int64_t n = early || (double)left < r->chunk ? left : (int64_t)r->chunk;
        sel_status status = advance_chunk(r, n, left - n < last, error);
        on = !ends_early(r) && !sel_run_saves_now(r) && r->report->stopped_by == SEL_BY_NOTHING;
        if (!status && ++r->chunks_ahead == CHUNKS_AHEAD) {
            status = sel_outputs_finish(r->outputs, error);
        }
        if (status) {
            return status;
        }
        show_progress(r);
    }
    return SEL_OK;
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Calls the hooks, after the outputs that were due before them have been written. */
static sel_status call_hooks(run *r, sel_error *error) {
    sel_status status = sel_run_wait(r, error);
    status = status ? status : sel_outputs_finish(r->outputs, error);
    return status ? status : sel_hooks_call(&r->hooks, r->step, run_time(r), false, error);
}

/* Starts the outputs due at the present step, which are taken later; then calls the hooks, which
 * may stop the run. */
static sel_status start_and_call(run *r, sel_error *error) {
    sel_status status = sel_outputs_start(r->outputs, r->step, run_time(r), false, error);
    r->chunks_ahead = 0;
    if (!status && sel_hooks_next(&r->hooks, r->step - 1) == r->step) {
        status = call_hooks(r, error);
    }
    if (r->hooks.stopped && r->report->stopped_by == SEL_BY_NOTHING) {
        sel_run_stop(r, SEL_BY_HOOK, "%s", r->hooks.reason);
    }
    return status;
}

static sel_status loop(run *r, sel_error *error) {
    /* Everything due at the step of a checkpoint was done before it was written. */
    sel_status status = r->resume ? SEL_OK : start_and_call(r, error);
    take_ending(r);
    status = status ? status : sel_run_audit(r, error);
    status = status || r->resume ? status : sel_run_start_range(r, error);
    while (!status && r->report->stopped_by == SEL_BY_NOTHING && !(status = read_clock(r, error))) {
        if (r->step >= r->last_step) {
            sel_run_stop(r, r->last_step_by, "stop.%s reached",
                         r->last_step_by == SEL_BY_TIME ? "time" : "steps");
            break;
        }
        if (ends_early(r) && may_end_here(r)) {
            const bool signalled = interrupted(r);
            sel_run_stop(r, signalled ? SEL_BY_INTERRUPT : SEL_BY_WALL_TIME, "%s",
                         signalled ? "interrupted by a signal" : "stop.wall_time reached");
            break;
        }
        if (sel_run_saves_now(r) && may_end_here(r) && (status = sel_run_save(r, error))) {
            break;
        }
        const int64_t test = earlier(sel_next_multiple(r->step, r->test_steps),
                                     sel_next_multiple(r->step, r->monitor_steps));
        const int64_t output =
            earlier(sel_outputs_next(r->outputs, r->step), sel_hooks_next(&r->hooks, r->step));
        const int64_t saved = sel_run_next_save(r);
        const sel_drive *drive = sel_run_drive_of(r);
        const int64_t driven =
            drive ? sel_next_multiple(r->step, sel_run_drive_steps(r)) : INT64_MAX;
        const int64_t known = earlier(earlier(r->last_step, r->clock.until), driven);
        r->target = earlier(earlier(test, output), earlier(saved, known));
        status = sel_run_drive(r, error);
        status = status ? status : advance_to(r, r->target, error);
        if (!status && r->step == test && r->report->stopped_by == SEL_BY_NOTHING) {
            status = sel_run_finish_tests(r, error);
            if (!status && r->report->stopped_by == SEL_BY_NOTHING) {
                status = sel_run_start_tests(r, error);
            }
        }
        if (!status && r->step == output) {
            status = start_and_call(r, error);
        }
        if (!status && r->step == saved && r->report->stopped_by == SEL_BY_NOTHING) {
            status = sel_run_save(r, error);
        }
    }
    return status;
}

/* Ends a run that has not failed: last checkpoint, last tests, hooks of the end, last outputs. */
static sel_status run_end(run *r, sel_error *error) {
    sel_status status = sel_run_wait(r, error);
    if (!status && r->report->stopped_by != SEL_BY_DIVERGENCE) {
        status = sel_run_save_last(r, error);
    }
    status = status ? status : sel_run_finish_tests(r, error);
    if (!status && r->report->stopped_by != SEL_BY_DIVERGENCE) {
        status = sel_run_start_monitor(r, true, error);
        status = status ? status : sel_run_start_mass(r, error);
        status = status ? status : sel_run_finish_tests(r, error);
    }
    if (!status && r->report->stopped_by != SEL_BY_DIVERGENCE) {
        status = sel_run_drive_end(r, error);
        status = status ? status : sel_hooks_call(&r->hooks, r->step, run_time(r), true, error);
    }
    if (!status) {
        status = sel_outputs_start(r->outputs, r->step, run_time(r), true, error);
        status = status ? status : sel_outputs_finish(r->outputs, error);
    }
    sel_status drained = sel_writer_drain(r->writer, status ? NULL : error);
    return status ? status : drained;
}

/* Ends a run after a failure: concludes the outputs with the last complete state, unless writing a
 * file has failed (full disk). Further failures are ignored. */
static void end_after(run *r, sel_status failure) {
    int64_t step = r->prepared->backend->whole(r->state);
    r->step = step >= 0 ? step : r->step;
    if (r->outputs) {
        const bool whole = step >= 0 && failure != SEL_BAD_FILE;
        sel_outputs_end(r->outputs, r->step, run_time(r), whole, r->step == r->target);
    }
    if (r->writer) {
        sel_writer_drain(r->writer, NULL);
    }
}

static sel_status open_run(run *r, sel_output_context *context, sel_error *error) {
    const sel_prepared *prepared = r->prepared;
    sel_status status = sel_writer_create(WRITER_QUEUE, &r->writer, error);
    if (status) {
        return status;
    }
    *context = (sel_output_context){
        .simulation = prepared->simulation,
        .solver = prepared->simulation->solver,
        .domain = prepared->domain,
        .plan = prepared->plan,
        .backend = prepared->backend,
        .state = r->state,
        .clock = &r->clock,
        .directory = r->options->directory,
        .force = r->options->force,
        .writer = r->writer,
        .results = &r->report->results,
        .resume = r->resume,
        .resume_files = r->resume_files,
        .warn = sel_run_warn_once,
        .warn_data = r,
    };
    r->hooks = (sel_hook_run){
        .context = context, .log = sel_run_log, .log_data = r, .interrupt = r->options->interrupt};
    return sel_outputs_open(context, &r->outputs, error);
}

/* Writes the final run.json. `status`, `why`: how the run failed. */
static sel_status write_report(run *r, sel_status status, const sel_error *why, sel_error *error) {
    if (status) {
        sel_run_stop(r,
                     status == SEL_DIVERGED      ? SEL_BY_DIVERGENCE
                     : status == SEL_INTERRUPTED ? SEL_BY_INTERRUPT
                                                 : SEL_BY_ERROR,
                     "%.500s", why ? why->text : "");
    }
    if (r->writer) {
        sel_writer_drain(r->writer, NULL); /* so that all its files are listed */
    }
    fill_report(r);
    r->report->ended = time(NULL);
    r->report->seconds_left = (double)NAN;
    return sel_run_record_end(r, status ? NULL : error);
}

/* Emergency handler: the process ends in the middle of a step or of a hook. */
static void end_at_once(void *data, const sel_error *error) {
    write_report(data, error->status, error, NULL);
}

static sel_status run_opened(run *r, sel_error *error) {
    r->clock = sel_even_clock(r->prepared->domain->grid.dt);
    if (r->options->begun) {
        r->options->begun(r->prepared);
    }
    resolve_stops(r);
    sel_status status = r->resume ? sel_run_load(r, error) : SEL_OK;
    r->saved_clock = sel_machine_seconds();
    r->report->setup_seconds = r->saved_clock - r->started;
    status = status ? status : loop(r, error);
    status = status ? status : sel_outputs_finish(r->outputs, error);
    return status ? status : run_end(r, error);
}

static sel_status run_prepared(run *r, sel_error *error) {
    sel_output_context context;
    sel_status status = sel_run_record_begin(r, error);
    if (!status) {
        sel_emergency_set(end_at_once, r);
        status = open_run(r, &context, error);
        status = status ? status : run_opened(r, error);
        if (status) {
            end_after(r, status);
        }
        sel_emergency_set(NULL, NULL);
        sel_status written = write_report(r, status, error, error);
        status = status ? status : written;
    }
    if (r->outputs) {
        sel_outputs_close(r->outputs);
    }
    sel_writer_destroy(r->writer);
    sel_run_close_audit(r);
    free(r->settings);
    return status;
}

/* Refuses a state of step 0 that is not finite, as that of an initial field whose values single
 * precision does not hold: else it would be said to diverge. */
static sel_status run_check_initial(const run *r, sel_error *error) {
    const sel_prepared *prepared = r->prepared;
    const sel_grid *grid = &prepared->domain->grid;
    sel_request monitor = {.kind = SEL_MONITOR, .box = sel_grid_box(grid), .only_bad_cell = true};
    char cell[SEL_CELL_TEXT];
    sel_status status = prepared->backend->start(r->state, &monitor, error);
    status = status ? status : prepared->backend->finish(r->state, &monitor, error);
    return status || monitor.bad_cells == 0
               ? status
               : sel_fail_at(error, sel_simulation_where(prepared->simulation, "initial"),
                             "initial: NaN or infinity in %lld cell%s, first in cell %s%s",
                             (long long)monitor.bad_cells, monitor.bad_cells == 1 ? "" : "s",
                             sel_cell_text(grid, monitor.bad_cell, cell),
                             prepared->plan->precision == SEL_F32
                                 ? "; precision \"f32\" holds numbers up to 3.4e38"
                                 : "");
}

sel_status sel_run(const sel_scenario *scenario, const sel_simulation *simulation,
                   const sel_run_options *options, sel_report *report, sel_error *error) {
    *report = (sel_report){.name = simulation->params->name,
                           .steady_measure = (double)NAN,
                           .mean_change = (double)NAN,
                           .seconds_left = (double)NAN,
                           .largest_mach = (double)NAN,
                           .mass_drift = (double)NAN,
                           .started = time(NULL)};
    sel_prepared prepared;
    run r = {.scenario = scenario,
             .prepared = &prepared,
             .options = options,
             .report = report,
             .chunk = 1,
             .saved_step = -1,
             .lock = -1,
             .range = {.least = HUGE_VAL, .most = -HUGE_VAL},
             .mass = {.step = -1},
             .drive = {.step = -1}};
    r.started = sel_machine_seconds();
    /* The state before the directory: a law or an initial field that fails leaves no directory. */
    sel_status status = sel_set_up(simulation, &options->settings, &prepared, &r.state, error);
    status = status || options->resume ? status : run_check_initial(&r, error);
    sel_process_write(options->interrupt != NULL);
    status = status ? status : sel_run_open_directory(&r, error);
    status = status ? status : run_prepared(&r, error);
    sel_process_write(false);
    sel_checkpoint_close(r.resume);
    sel_file_close(r.lock);
    if (prepared.backend) {
        prepared.backend->destroy(r.state);
    }
    sel_prepared_release(&prepared);
    if (status) {
        return status;
    }
    if (report->stopped_by == SEL_BY_DIVERGENCE || report->stopped_by == SEL_BY_STAGNATION ||
        report->stopped_by == SEL_BY_ITERATIONS) {
        return sel_fail(error, SEL_DIVERGED, "%s", report->stop_reason);
    }
    if (report->stopped_by == SEL_BY_INTERRUPT) {
        return sel_fail(error, SEL_INTERRUPTED, "interrupted at step %lld; the last state is in %s",
                        (long long)report->steps, options->directory);
    }
    return SEL_OK;
}

void sel_report_release(sel_report *report) {
    sel_results_free(&report->results);
}
