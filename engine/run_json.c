/* run_json.c -- the directory of a run, and run.json: what was run, how it went, which files.
 *
 * run.json is written before the first step with `stopped_by` null and replaced at the end, so a
 * directory that holds one holds a run, finished or not.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/json.h"
#include "engine/run.h"
#include "engine/version.h"
#include "engine/warnings.h"

enum { PATH_ROOM = 4200 };

/* Makes `directory` and its parents. */
static sel_status make_directories(const char *directory, sel_error *error) {
    char path[PATH_ROOM];
    if (strlen(directory) + 1 > sizeof path) {
        return sel_fail(error, SEL_BAD_FILE, "the directory's name is too long");
    }
    strcpy(path, directory);
    for (char *slash = path + 1;; slash++) {
        if (*slash != '/' && *slash != '\0') {
            continue;
        }
        char kept = *slash;
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            return sel_fail(error, SEL_BAD_FILE,
                            "%s: cannot make the directory: %s; choose another with -o", path,
                            strerror(errno));
        }
        *slash = kept;
        if (kept == '\0') {
            break;
        }
    }
    struct stat found;
    if (stat(directory, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return sel_fail(error, SEL_BAD_FILE, "%s is not a directory; choose another with -o",
                        directory);
    }
    return SEL_OK;
}

/* Reads one character of a JSON string that run.json quoted; false at its end. */
static bool string_character(FILE *from, int *c) {
    *c = fgetc(from);
    if (*c == '\\') {
        *c = fgetc(from);
    } else if (*c == '"') {
        return false;
    }
    return *c != EOF;
}

/* Removes the files that an earlier run.json lists as its outputs: frames of two runs side by side
 * would be taken for one. Names that lead out of the directory are left alone. */
static void remove_outputs(const char *directory, const char *run_json) {
    static const char key[] = "\"outputs\": [";
    FILE *from = fopen(run_json, "r");
    size_t matched = 0;
    int c = 0;
    while (from && matched < strlen(key) && (c = fgetc(from)) != EOF) {
        matched = c == key[matched] ? matched + 1 : c == key[0];
    }
    while (from && (c = fgetc(from)) != EOF && c != ']') {
        char name[PATH_ROOM], path[2 * PATH_ROOM];
        size_t length = 0;
        while (c == '"' && length + 1 < sizeof name && string_character(from, &c)) {
            name[length++] = (char)c;
            c = '"';
        }
        name[length] = '\0';
        if (length > 0 && name[0] != '/' && !strstr(name, "..")) {
            snprintf(path, sizeof path, "%s/%s", directory, name);
            unlink(path);
        }
    }
    if (from) {
        fclose(from);
    }
}

sel_status sel_run_directory(const char *directory, bool force, sel_error *error) {
    char path[PATH_ROOM];
    sel_status status = make_directories(directory, error);
    if (status) {
        return status;
    }
    if (access(directory, W_OK) != 0) {
        return sel_fail(error, SEL_BAD_FILE, "%s cannot be written: %s; choose another with -o",
                        directory, strerror(errno));
    }
    snprintf(path, sizeof path, "%s/run.json", directory);
    if (!force && access(path, F_OK) == 0) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "%s holds a run already; choose another directory with -o, or write over "
                        "it with --force",
                        directory);
    }
    remove_outputs(directory, path);
    return SEL_OK;
}

static const char *stopped_by_text(sel_stopped_by by) {
    switch (by) {
    case SEL_BY_STEPS:
        return "steps";
    case SEL_BY_STEADY:
        return "steady";
    case SEL_BY_TIME:
        return "time";
    case SEL_BY_WALL_TIME:
        return "wall_time";
    case SEL_BY_HOOK:
        return "hook";
    case SEL_BY_INTERRUPT:
        return "interrupted";
    case SEL_BY_DIVERGENCE:
        return "diverged";
    case SEL_BY_ERROR:
        return "error";
    case SEL_BY_NOTHING:
        break;
    }
    return NULL;
}

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

/* "key": value of a list of entries inside { }. */
static void inner_key(FILE *to, int index, const char *key) {
    fputs(index ? ", " : "", to);
    sel_json_string(to, key);
    fputs(": ", to);
}

static void print_parameters(FILE *to, const sel_scenario *scenario) {
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

/* As they are now: hooks may have set them. */
static void print_controls(FILE *to, const sel_numbers *controls, const sel_domain *domain) {
    fputs(",\n  \"controls\": {", to);
    for (int i = 0; i < controls->n; i++) {
        inner_key(to, i, controls->v[i].name);
        sel_json_number(to, domain->control_values[i]);
    }
    fputs("}", to);
}

static void print_setup(FILE *to, const sel_scenario *scenario, const sel_prepared *prepared) {
    const sel_simulation *simulation = prepared->simulation;
    const sel_plan *plan = prepared->plan;
    const sel_grid *grid = &prepared->domain->grid;
    char text[1024];
    fputs("{\n  \"selenite\": ", to);
    sel_json_string(to, sel_version());
    string_entry(to, "commit", sel_commit());
    string_entry(to, "scenario", simulation->script);
    string_entry(to, "name", simulation->params->name);
    print_parameters(to, scenario);
    print_controls(to, &simulation->params->controls, prepared->domain);
    string_entry(to, "solver", simulation->solver->name);
    simulation->solver->json(plan, text, sizeof text);
    fprintf(to, ",\n  %s,\n  \"size\": [", text);
    for (int a = 0; a < grid->dims; a++) {
        fprintf(to, "%s%lld", a ? ", " : "", (long long)grid->n[a]);
    }
    fputs("]", to);
    integer_entry(to, "cells", sel_grid_cells(grid));
    number_entry(to, "dx", grid->dx);
    number_entry(to, "dt", grid->dt);
    string_entry(to, "precision", sel_precision_names[plan->precision]);
    string_entry(to, "backend", prepared->backend->name);
    prepared->backend->device(text, sizeof text);
    string_entry(to, "device", text);
    integer_entry(to, "threads", plan->threads);
    integer_entry(to, "ranks", 1);
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
    integer_entry(to, "steps", report->steps);
    number_entry(to, "time", report->time);
    string_entry(to, "stopped_by", stopped_by_text(report->stopped_by));
    string_entry(to, "stop_reason", *report->stop_reason ? report->stop_reason : NULL);
    number_entry(to, "steady_measure", report->steady_measure);
    number_entry(to, "largest_mach", report->largest_mach);
    number_entry(to, "wall_seconds", report->wall_seconds);
    number_entry(to, "setup_seconds", report->setup_seconds);
    number_entry(to, "output_seconds", report->output_seconds);
    number_entry(to, "output_wait_seconds", report->output_wait_seconds);
    number_entry(to, "mcells_per_second", report->mcells_per_second);
    number_entry(to, "bytes_per_update",
                 prepared->simulation->solver->bytes_per_update(prepared->plan));
    fputs(",\n  \"results\": {", to);
    for (int i = 0; i < report->results.count; i++) {
        inner_key(to, i, report->results.v[i].name);
        sel_json_number(to, report->results.v[i].value);
    }
    fputs("}", to);
}

sel_status sel_run_json(const sel_scenario *scenario, const sel_prepared *prepared,
                        const sel_report *report, const char *const *files, const char *directory,
                        sel_error *error) {
    char path[PATH_ROOM], temporary[PATH_ROOM + 8];
    snprintf(path, sizeof path, "%s/run.json", directory);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *to = fopen(temporary, "w");
    if (!to) {
        return sel_fail(error, SEL_BAD_FILE, "%s: %s", temporary, strerror(errno));
    }
    print_setup(to, scenario, prepared);
    print_warnings(to, &prepared->warnings);
    print_report(to, prepared, report);
    fputs(",\n  \"outputs\": [", to);
    for (int i = 0; files && files[i]; i++) {
        fputs(i ? ", " : "", to);
        sel_json_string(to, files[i]);
    }
    fputs("]\n}\n", to);
    bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed || rename(temporary, path) != 0) {
        int cause = errno;
        remove(temporary);
        return sel_fail(error, SEL_BAD_FILE, "%s: %s", path, strerror(cause));
    }
    return SEL_OK;
}
