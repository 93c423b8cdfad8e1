/* run_record.c -- the record of a run in its directory: run.json, run.log, a copy of the script.
 *
 * run.json holds what was run, how it went, and the list of files. It is written before the first
 * step with `stopped_by` "running", every ten seconds during the run, and at the end. So it also
 * tells how far a killed run came.
 */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/text.h"
#include "engine/base/hardware.h"
#include "engine/run/running.h"
#include "engine/base/version.h"

static const double default_seconds = 10;

/* ---- run.json ---- */

static const char *const stopped_by_names[] = {[SEL_BY_NOTHING] = "running",
                                               [SEL_BY_STEPS] = "steps",
                                               [SEL_BY_STEADY] = "steady",
                                               [SEL_BY_MEAN_CHANGE] = "mean_change",
                                               [SEL_BY_TIME] = "time",
                                               [SEL_BY_WALL_TIME] = "wall_time",
                                               [SEL_BY_HOOK] = "hook",
                                               [SEL_BY_INTERRUPT] = "interrupted",
                                               [SEL_BY_CONVERGENCE] = "converged",
                                               [SEL_BY_STAGNATION] = "stagnated",
                                               [SEL_BY_ITERATIONS] = "max_iterations",
                                               [SEL_BY_DIVERGENCE] = "diverged",
                                               [SEL_BY_ERROR] = "error"};

static void string_entry(FILE *to, const char *key, const char *value) {
    fprintf(to, ",\n  \"%s\": ", key);
    sel_json_string(to, value);
}

static void number_entry(FILE *to, const char *key, double value) {
    fprintf(to, ",\n  \"%s\": ", key);
    sel_json_number(to, value);
}

static void integer_entry(FILE *to, const char *key, int64_t value) {
    fprintf(to, ",\n  \"%s\": %lld", key, (long long)value);
}

/* The key of entry `index` of an inner object. */
static void inner_key(FILE *to, int index, const char *key) {
    fputs(index ? ", " : "", to);
    sel_json_string(to, key);
    fputs(": ", to);
}

static void inner_number(FILE *to, int index, const char *key, double value) {
    inner_key(to, index, key);
    sel_json_number(to, value);
}

static void record_print_parameters(FILE *to, const sel_scenario *scenario) {
    fputs(",\n  \"parameters\": {", to);
    for (int i = 0; i < scenario->parameter_count; i++) {
        const sel_parameter *p = &scenario->parameters[i];
        inner_key(to, i, p->name);
        if (p->kind == SEL_PARAMETER_STRING) {
            sel_json_string(to, p->text);
        } else if (p->kind == SEL_PARAMETER_NUMBER) {
            sel_json_number(to, strtod(p->text, NULL));
        } else {
            fputs(p->text, to);
        }
    }
    fputs("}", to);
}

/* The present values: hooks may have set them. */
static void print_controls(FILE *to, const sel_numbers *controls, const sel_domain *domain) {
    fputs(",\n  \"controls\": {", to);
    for (int i = 0; i < controls->n; i++) {
        inner_number(to, i, controls->v[i].name, domain->control_values[i]);
    }
    fputs("}", to);
}

/* The command line, quoted for a shell. */
static void record_print_command(FILE *to, const char *const *words) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    char *text = NULL;
    size_t size;
    FILE *line = words ? open_memstream(&text, &size) : NULL;
    for (; line && *words; words++) {
        bool quoted = !**words || (*words)[strspn(*words, plain)];
        fputs(quoted ? "'" : "", line);
        for (const char *c = *words; *c; c++) {
            fputs(*c == '\'' ? "'\\'" : "", line);
            fputc(*c, line);
        }
        fputs(quoted ? "'" : "", line);
        fputs(words[1] ? " " : "", line);
    }
    if (line) {
        fclose(line);
    }
    string_entry(to, "command", text);
    free(text);
}

const char *sel_time_text(time_t time, char text[SEL_TIME_ROOM]) {
    struct tm parts;
    bool known = time && gmtime_r(&time, &parts);
    return known && strftime(text, SEL_TIME_ROOM, "%Y-%m-%dT%H:%M:%SZ", &parts) ? text : NULL;
}

/* dx as a number; as a list if the sides of a cell differ. */
static void print_sides(FILE *to, const sel_grid *grid) {
    if (sel_equal_sides(grid)) {
        number_entry(to, "dx", grid->dx[0]);
        return;
    }
    fputs(",\n  \"dx\": ", to);
    for (int a = 0; a < grid->dims; a++) {
        fputs(a ? ", " : "[", to);
        sel_json_number(to, grid->dx[a]);
    }
    fputs("]", to);
}

static void record_print_setup(FILE *to, const run *r) {
    const sel_prepared *prepared = r->prepared;
    const sel_scenario *scenario = r->scenario;
    const sel_simulation *simulation = prepared->simulation;
    const sel_plan *plan = prepared->plan;
    const sel_reference *reference = &simulation->params->reference;
    const sel_grid *grid = &prepared->domain->grid;
    char text[1024];
    fputs("{\n  \"selenite\": ", to);
    sel_json_string(to, sel_version());
    string_entry(to, "commit", sel_commit());
    record_print_command(to, r->options->command);
    string_entry(to, "scenario", simulation->script);
    string_entry(to, "script", scenario->text ? SEL_RUN_SCRIPT : NULL);
    string_entry(to, "name", simulation->params->name);
    record_print_parameters(to, scenario);
    print_controls(to, &simulation->params->controls, prepared->domain);
    string_entry(to, "solver", simulation->solver->name);
    fputs(",\n  ", to);
    simulation->solver->json(plan, to);
    fputs(",\n  \"size\": [", to);
    for (int a = 0; a < grid->dims; a++) {
        fprintf(to, "%s%lld", a ? ", " : "", (long long)grid->n[a]);
    }
    fputs("]", to);
    string_entry(to, "layout", sel_layout_names[grid->nodes]);
    integer_entry(to, "cells", sel_grid_cells(grid));
    print_sides(to, grid);
    number_entry(to, "dt", grid->dt);
    string_entry(to, "precision", sel_precision_names[plan->precision]);
    string_entry(to, "backend", prepared->backend->name);
    string_entry(to, "device", prepared->device);
    integer_entry(to, "threads", plan->threads);
    integer_entry(to, "ranks", plan->ranks ? plan->ranks->count : 1);
    text[sizeof text - 1] = '\0';
    string_entry(to, "host", gethostname(text, sizeof text - 1) == 0 ? text : NULL);
    fputs(",\n  \"reference\": {", to);
    inner_number(to, 0, "length", reference->length);
    inner_number(to, 1, "velocity", reference->velocity);
    inner_number(to, 2, "area", reference->area);
    fputs("}", to);
}

static void print_warnings(FILE *to, const sel_error *warnings) {
    char text[2048];
    fputs(",\n  \"warnings\": [", to);
    for (int i = 0; sel_warnings_line(warnings, i, text, sizeof text); i++) {
        fputs(i ? ", " : "", to);
        sel_json_string(to, text);
    }
    fputs("]", to);
}

static void print_report(FILE *to, const sel_prepared *prepared, const sel_report *report) {
    const sel_simulation *simulation = prepared->simulation;
    char text[SEL_TIME_ROOM];
    string_entry(to, "started", sel_time_text(report->started, text));
    string_entry(to, "ended", sel_time_text(report->ended, text));
    integer_entry(to, "steps", report->steps);
    number_entry(to, "time", report->time);
    string_entry(to, "stopped_by", stopped_by_names[report->stopped_by]);
    string_entry(to, "stop_reason", *report->stop_reason ? report->stop_reason : NULL);
    number_entry(to, "steady_measure", report->steady_measure);
    number_entry(to, "mean_change", report->mean_change);
    number_entry(to, "largest_mach", report->largest_mach);
    number_entry(to, "mass_drift", report->mass_drift);
    number_entry(to, "wall_seconds", report->wall_seconds);
    number_entry(to, "seconds_left", report->seconds_left);
    number_entry(to, "setup_seconds", report->setup_seconds);
    number_entry(to, "output_seconds", report->output_seconds);
    number_entry(to, "output_wait_seconds", report->output_wait_seconds);
    number_entry(to, "mcells_per_second", report->mcells_per_second);
    number_entry(to, "bytes_per_update",
                 simulation->solver->bytes(simulation->params, prepared->plan->precision).update);
    fputs(",\n  \"results\": {", to);
    for (int i = 0; i < report->results.count; i++) {
        inner_number(to, i, report->results.v[i].name, report->results.v[i].value);
    }
    fputs("}", to);
}

/* The text of run.json; freed by the caller. NULL: no memory. */
static char *make_text(const run *r, size_t *size) {
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) {
        return NULL;
    }
    record_print_setup(to, r);
    print_warnings(to, &r->prepared->warnings);
    print_report(to, r->prepared, r->report);
    fputs(",\n  \"outputs\": [", to);
    if (r->outputs) {
        sel_outputs_list(r->outputs, to);
    }
    fputs("]\n}\n", to);
    bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* Reserves `bytes` on the disk for a file, without changing its length. */
static bool keep_room(int descriptor, size_t bytes) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0;
}

/* Replaces the file atomically. During the run it reserves room on the disk for its final text, so
 * that the end of a run can be recorded on a full disk. */
static sel_status replace(const char *path, const char *text, size_t size, bool ended,
                          sel_error *error) {
    enum { RESERVE = 1 << 16 };
    FILE *to = sel_file_begin(path);
    if (to && fwrite(text, 1, size, to) == size && fflush(to) == 0 && !ended) {
        keep_room(fileno(to), size + RESERVE);
    }
    return sel_file_end(to, path, NULL, error);
}

/* Overwrites the file in place, within its reserved room. False: the room does not suffice, and the
 * file is unchanged. */
static bool write_over(const char *path, const char *text, size_t size) {
    int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    bool written = descriptor >= 0 && keep_room(descriptor, size) &&
                   pwrite(descriptor, text, size, 0) == (ssize_t)size &&
                   ftruncate(descriptor, (off_t)size) == 0;
    sel_file_close(descriptor);
    return written;
}

static sel_status write_json(run *r, sel_error *error) {
    const bool ended = r->report->ended != 0;
    char path[SEL_PATH_ROOM];
    size_t size = 0;
    sel_error failed = {.status = SEL_OK};
    snprintf(path, sizeof path, "%s/" SEL_RUN_JSON, r->options->directory);
    r->recorded = sel_machine_seconds();
    char *text = make_text(r, &size);
    if (!text) {
        return sel_fail_memory(error, path, size);
    }
    sel_status status = replace(path, text, size, ended, &failed);
    if (status && ended && write_over(path, text, size)) {
        status = SEL_OK;
    }
    free(text);
    return status ? sel_fail(error, status, "%s", failed.text) : SEL_OK;
}

/* ---- run.log, the script ---- */

void sel_run_note(run *r, const char *format, ...) {
    char now[SEL_TIME_ROOM], line[2048], *text = NULL;
    va_list args;
    va_start(args, format);
    const bool made = r->log && vasprintf(&text, format, args) >= 0;
    va_end(args);
    for (const char *at = text; made && *at; at += strspn(at, "\n")) {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        sel_plain_text(line);
        fprintf(r->log, "%s  %s\n", sel_time_text(time(NULL), now), line);
        at += length;
    }
    if (made) {
        fflush(r->log); /* failures are ignored: a run does not end because of its log */
        free(text);
    }
}

void sel_run_log(const char *text, void *data) {
    run *r = data;
    sel_run_note(r, "%s", text);
    if (r->options->log) {
        r->options->log(text, r->options->data);
    }
}

static void record_begin_log(run *r) {
    const sel_prepared *prepared = r->prepared;
    char path[SEL_PATH_ROOM], text[2048];
    snprintf(path, sizeof path, "%s/" SEL_RUN_LOG, r->options->directory);
    int descriptor = sel_file_create(path);
    if (descriptor < 0 && r->options->resume) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    }
    r->log = sel_file_stream(descriptor, "a");
    const char *script = prepared->simulation->script;
    sel_run_note(r, "selenite %s (%s): %s", sel_version(), sel_commit(),
                 script ? script : "simulation");
    sel_run_note(r, "running on %s: %s, %d thread%s", prepared->backend->name, prepared->device,
                 prepared->plan->threads, prepared->plan->threads == 1 ? "" : "s");
    if (prepared->plan->chose_double) {
        sel_run_note(r, "%s", SEL_CHOSE_DOUBLE);
    }
    for (int i = 0; sel_warnings_line(&prepared->warnings, i, text, sizeof text); i++) {
        sel_run_note(r, "warning: %s", text);
    }
}

static sel_status copy_script(const run *r, sel_error *error) {
    const sel_scenario *scenario = r->scenario;
    char path[SEL_PATH_ROOM];
    if (!scenario->text) {
        return SEL_OK;
    }
    snprintf(path, sizeof path, "%s/" SEL_RUN_SCRIPT, r->options->directory);
    FILE *to = sel_file_begin(path);
    if (to) {
        fwrite(scenario->text, 1, scenario->text_length, to);
    }
    return sel_file_end(to, path, NULL, error);
}

/* ---- the whole record ---- */

sel_status sel_run_record_begin(run *r, sel_error *error) {
    sel_status status = copy_script(r, error);
    status = status ? status : write_json(r, error);
    if (!status) {
        record_begin_log(r);
    }
    return status;
}

bool sel_run_record_due(const run *r) {
    const double seconds = r->options->refresh_seconds;
    return sel_machine_seconds() - r->recorded >= (seconds > 0 ? seconds : default_seconds);
}

void sel_run_record(run *r, bool asked) {
    char text[256];
    write_json(r, NULL);
    sel_progress_line(r->report, text, sizeof text);
    sel_run_note(r, "%s", text);
    if (asked) {
        fprintf(stderr, "%s\n", text);
    }
}

sel_status sel_run_record_end(run *r, sel_error *error) {
    const sel_report *report = r->report;
    sel_status status = write_json(r, error);
    if (!status && r->outputs) {
        sel_folder_listed(r->options->directory);
    }
    if (r->log) {
        sel_run_note(r, "%s; %lld steps, %.3g s, %.4g Mcells/s", report->stop_reason,
                     (long long)report->steps, report->wall_seconds, report->mcells_per_second);
        fclose(r->log);
        r->log = NULL;
    }
    return status;
}
