/* resume.c -- what a checkpoint holds of a run: where it stands, what it was made from, the state,
 * the outputs, the results, what hooks keep, and the fields that sel.state takes. */
#include "engine/resume.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "engine/file.h"
#include "engine/folder.h"
#include "engine/machine/saved.h"
#include "engine/output/kind.h"
#include "engine/version.h"

/* ---- names ---- */

const sel_variant *sel_checkpoint_output(const sel_simulation *simulation) {
    const sel_list *outputs = &simulation->params->output;
    for (int i = 0; i < outputs->n; i++) {
        const sel_variant *output = (const sel_variant *)outputs->v + i;
        if (output->table == &sel_out_checkpoint_table) {
            return output;
        }
    }
    return NULL;
}

void sel_checkpoint_name(const sel_simulation *simulation, const char *directory,
                         sel_checkpoint_names *names) {
    const sel_variant *output = sel_checkpoint_output(simulation);
    const char *name = output ? sel_output_name(output) : "checkpoint";
    snprintf(names->file, sizeof names->file, "%.64s.sel", name);
    snprintf(names->before, sizeof names->before, "%.64s.before.sel", name);
    snprintf(names->path, sizeof names->path, "%s/%s", directory, names->file);
    snprintf(names->path_before, sizeof names->path_before, "%s/%s", directory, names->before);
}

/* ---- what it was made from ---- */

/* A number or word that a run goes on with, or that is told when it has changed. */
typedef struct property {
    char name[80], value[256];
    bool fixed; /* the state means nothing with another */
} property;

enum { MOST_PROPERTIES = 1000 };

typedef struct properties {
    int count;
    property v[MOST_PROPERTIES];
} properties;

static void add(properties *list, bool fixed, const char *name, const char *format, ...)
    SEL_PRINTF(4, 5);
static void add(properties *list, bool fixed, const char *name, const char *format, ...) {
    va_list args;
    if (list->count == MOST_PROPERTIES) {
        return;
    }
    property *to = &list->v[list->count++];
    to->fixed = fixed;
    snprintf(to->name, sizeof to->name, "%s", name);
    va_start(args, format);
    vsnprintf(to->value, sizeof to->value, format, args);
    va_end(args);
}

static unsigned long crc_of(const void *bytes, size_t count) {
    return crc32_z(0, bytes, bytes ? count : 0);
}

static unsigned long crc_of_regions(const sel_domain *domain) {
    unsigned long crc = crc_of(domain->cell, (size_t)sel_grid_cells(&domain->grid));
    for (int face = 0; face < SEL_FACES; face++) {
        if (domain->face[face]) {
            crc = crc32_z(crc, domain->face[face], (size_t)sel_face_sites(&domain->grid, face));
        }
    }
    return crc;
}

static void describe_grid(const sel_grid *grid, properties *list) {
    if (grid->dims == 2) {
        add(list, true, "size", "%lld x %lld", (long long)grid->n[0], (long long)grid->n[1]);
    } else {
        add(list, true, "size", "%lld x %lld x %lld", (long long)grid->n[0], (long long)grid->n[1],
            (long long)grid->n[2]);
    }
    add(list, true, "dx", "%.17g", grid->dx);
    add(list, true, "dt", "%.17g", grid->dt);
    add(list, true, "origin", "%.17g %.17g %.17g", grid->origin[0], grid->origin[1],
        grid->origin[2]);
}

static void describe(const sel_kept_run *run, properties *list) {
    const sel_prepared *prepared = run->prepared;
    const sel_simulation *simulation = prepared->simulation;
    const sel_scenario *scenario = run->scenario;
    char text[200];
    list->count = 0;
    add(list, true, "solver", "sel.%s", simulation->solver->name);
    describe_grid(&prepared->domain->grid, list);
    add(list, true, "precision", "%s", sel_precision_names[prepared->plan->precision]);
    if (simulation->solver->state_text) {
        simulation->solver->state_text(prepared->plan, text, sizeof text);
        add(list, true, "lattice", "%s", text);
    }
    add(list, false, "selenite", "%s", sel_version());
    add(list, false, "script", "%zu bytes, CRC %08lx", scenario->text ? scenario->text_length : 0,
        crc_of(scenario->text, scenario->text_length));
    add(list, false, "regions", "CRC %08lx", crc_of_regions(prepared->domain));
    for (int i = 0; i < scenario->parameter_count; i++) {
        char name[80];
        snprintf(name, sizeof name, "parameter %s", scenario->parameters[i].name);
        add(list, false, name, "%s", scenario->parameters[i].text);
    }
}

static void compare(const property *then, const properties *now, sel_checkpoint *checkpoint,
                    sel_error *notes) {
    for (int i = 0; i < now->count; i++) {
        if (strcmp(now->v[i].name, then->name) != 0 || strcmp(now->v[i].value, then->value) == 0) {
            continue;
        }
        if (then->fixed) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: %s is %s in the checkpoint and %s in the scenario; a run goes "
                                "on with the grid, lattice and precision that it had",
                                sel_checkpoint_path(checkpoint), then->name, then->value,
                                now->v[i].value);
        } else {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s was %s and is %s now", then->name, then->value,
                     now->v[i].value);
        }
    }
}

/* Moves the block; what is loaded is compared. */
static void keep_properties(const sel_kept_run *run, sel_checkpoint *checkpoint, sel_error *notes) {
    properties *now = malloc(sizeof *now);
    if (!now) {
        sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "no memory for a checkpoint");
        return;
    }
    describe(run, now);
    int count = now->count;
    sel_checkpoint_block(checkpoint, "run");
    SEL_KEEP(checkpoint, count);
    for (int i = 0; i < count && !sel_checkpoint_status(checkpoint, NULL); i++) {
        property one = {.fixed = false};
        if (!sel_checkpoint_loads(checkpoint)) {
            one = now->v[i];
        }
        SEL_KEEP(checkpoint, one);
        if (sel_checkpoint_loads(checkpoint) && !sel_checkpoint_status(checkpoint, NULL)) {
            one.name[sizeof one.name - 1] = one.value[sizeof one.value - 1] = '\0';
            sel_plain_text(one.name);
            sel_plain_text(one.value);
            compare(&one, now, checkpoint, notes);
        }
    }
    free(now);
}

/* ---- where it stands ---- */

static void keep_monitor(sel_checkpoint *checkpoint, sel_standing *at) {
    sel_request *monitor = &at->monitor;
    SEL_KEEP(checkpoint, at->monitor_pending);
    SEL_KEEP(checkpoint, at->monitor_step);
    SEL_KEEP(checkpoint, monitor->only_bad_cell);
    SEL_KEEP(checkpoint, monitor->change);
    SEL_KEEP(checkpoint, monitor->bad_cells);
    SEL_KEEP(checkpoint, monitor->bad_cell);
    SEL_KEEP(checkpoint, monitor->largest);
    SEL_KEEP(checkpoint, monitor->largest_cell);
    SEL_KEEP(checkpoint, monitor->smallest);
    SEL_KEEP(checkpoint, monitor->smallest_cell);
}

static bool is_cell(int64_t cell, const sel_grid *grid) {
    return cell >= -1 && cell < sel_grid_cells(grid);
}

static void keep_standing(const sel_kept_run *run, sel_checkpoint *checkpoint) {
    const sel_domain *domain = run->prepared->domain;
    sel_standing *at = run->standing;
    sel_checkpoint_block(checkpoint, "standing");
    SEL_KEEP(checkpoint, at->step);
    SEL_KEEP(checkpoint, at->largest);
    SEL_KEEP(checkpoint, at->steady_measure);
    SEL_KEEP(checkpoint, at->largest_mach);
    keep_monitor(checkpoint, at);
    at->monitor_answered = at->monitor_pending;
    sel_keep(checkpoint, domain->control_values,
             (size_t)domain->control_count * sizeof *domain->control_values);
    if (sel_checkpoint_loads(checkpoint) &&
        (at->step < 0 || !is_cell(at->monitor.bad_cell, &domain->grid) ||
         !is_cell(at->monitor.largest_cell, &domain->grid) ||
         !is_cell(at->monitor.smallest_cell, &domain->grid))) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: its step or cells cannot be",
                            sel_checkpoint_path(checkpoint));
    }
}

static void keep_results(sel_results *results, sel_checkpoint *checkpoint) {
    int count = results->count;
    sel_checkpoint_block(checkpoint, "results");
    SEL_KEEP(checkpoint, count);
    for (int i = 0; i < count && !sel_checkpoint_status(checkpoint, NULL); i++) {
        struct sel_result one = {.value = 0};
        one = sel_checkpoint_loads(checkpoint) ? one : results->v[i];
        SEL_KEEP(checkpoint, one);
        one.name[sizeof one.name - 1] = '\0';
        sel_error error = {.status = SEL_OK};
        if (sel_checkpoint_loads(checkpoint) &&
            sel_results_set(results, one.name, one.value, &error)) {
            sel_checkpoint_fail(checkpoint, error.status, "%s", error.text);
        }
    }
}

static void keep_hooks(const sel_kept_run *run, sel_checkpoint *checkpoint) {
    const sel_list *hooks = &run->prepared->simulation->params->hooks;
    const sel_callback *first = hooks->n > 0 ? ((const sel_hook *)hooks->v)->call : NULL;
    const bool loads = sel_checkpoint_loads(checkpoint);
    if (first && first->keep && (!loads || sel_checkpoint_bytes(checkpoint, "hooks") >= 0)) {
        sel_checkpoint_block(checkpoint, "hooks");
        first->keep(first, run->hooks, checkpoint);
    }
}

/* ---- fields for sel.state ---- */

static void save_field(const sel_kept_run *run, const char *name, sel_checkpoint *checkpoint) {
    const sel_output_context *context = run->hooks->context;
    const sel_grid *grid = &run->prepared->domain->grid;
    int component;
    const int field = sel_solver_field(context->solver, grid->dims, name, &component);
    const int components = sel_field_components(&context->solver->fields[field], grid->dims);
    char block[SEL_BLOCK_NAME];
    sel_error error = {.status = SEL_OK};
    const int64_t slabs = grid->n[grid->dims - 1], cells = sel_grid_cells(grid) / slabs;
    double *values = malloc((size_t)(cells * components) * sizeof *values);
    if (!values) {
        sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "no memory for a checkpoint");
        return;
    }
    snprintf(block, sizeof block, "field %s", name);
    sel_checkpoint_block(checkpoint, block);
    for (int64_t s = 0; s < slabs && !error.status; s++) {
        sel_request request = {.kind = SEL_READ,
                               .field = field,
                               .box = sel_grid_box(grid),
                               .precision = SEL_F64,
                               .components = components,
                               .to = values};
        request.box.lo[grid->dims - 1] = s;
        request.box.hi[grid->dims - 1] = s + 1;
        if (!sel_output_request(context, &request, &error)) {
            sel_keep(checkpoint, values, (size_t)(cells * components) * sizeof *values);
        }
    }
    if (error.status) {
        sel_checkpoint_fail(checkpoint, error.status, "%s", error.text);
    }
    free(values);
}

static void save_fields(const sel_kept_run *run, sel_checkpoint *checkpoint) {
    const sel_domain *domain = run->prepared->domain;
    const sel_grid *grid = &domain->grid;
    sel_state_grid place = {.dims = grid->dims, .dx = grid->dx};
    memcpy(place.n, grid->n, sizeof place.n);
    memcpy(place.origin, grid->origin, sizeof place.origin);
    sel_checkpoint_block(checkpoint, "grid");
    SEL_KEEP(checkpoint, place);
    sel_checkpoint_block(checkpoint, "solids");
    sel_keep(checkpoint, domain->cell, (size_t)sel_grid_cells(grid));
    const char *const *name = run->prepared->simulation->solver->initial_fields;
    for (; name && *name; name++) {
        save_field(run, *name, checkpoint);
    }
}

/* ---- save and load ---- */

sel_status sel_resume_save(const sel_kept_run *run, const sel_checkpoint_names *names,
                           uint64_t *bytes, sel_error *error) {
    sel_checkpoint *checkpoint;
    sel_status status = sel_checkpoint_create(names->path, &checkpoint, error);
    if (status) {
        return status;
    }
    keep_properties(run, checkpoint, NULL);
    keep_standing(run, checkpoint);
    keep_results(run->results, checkpoint);
    keep_hooks(run, checkpoint);
    sel_outputs_save(run->outputs, checkpoint);
    sel_state_save(run->state, run->prepared->backend, checkpoint);
    save_fields(run, checkpoint);
    status = sel_checkpoint_commit(checkpoint, names->keeps_before ? NULL : names->path_before,
                                   bytes, error);
    sel_checkpoint_close(checkpoint);
    return status;
}

sel_status sel_resume_check(const sel_kept_run *run, sel_checkpoint *checkpoint, sel_error *notes,
                            sel_error *error) {
    keep_properties(run, checkpoint, notes);
    if (!sel_checkpoint_status(checkpoint, NULL)) {
        sel_state_check(run->state, checkpoint);
    }
    return sel_checkpoint_status(checkpoint, error);
}

sel_status sel_resume_load(const sel_kept_run *run, sel_checkpoint *checkpoint, sel_error *notes,
                           sel_error *error) {
    sel_state_load(run->state, run->prepared->backend, checkpoint);
    keep_standing(run, checkpoint);
    keep_results(run->results, checkpoint);
    keep_hooks(run, checkpoint);
    sel_outputs_load(run->outputs, checkpoint, notes);
    return sel_checkpoint_status(checkpoint, error);
}

/* ---- opening ---- */

static sel_status open_of_directory(const sel_simulation *simulation, const char *directory,
                                    sel_checkpoint **opened, sel_error *error) {
    sel_checkpoint_names names = {.keeps_before = false};
    sel_error why = {.status = SEL_OK};
    sel_checkpoint_name(simulation, directory, &names);
    const bool there = access(names.path, F_OK) == 0;
    if (!there && access(names.path_before, F_OK) == 0) { /* ended between two names */
        return sel_checkpoint_open(names.path_before, opened, error);
    }
    if (!there) {
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: there is no checkpoint; runs write one where the scenario has "
                        "out.checkpoint, and when they are interrupted",
                        names.path);
    }
    sel_status status = sel_checkpoint_open(names.path, opened, &why);
    if (!status) {
        return SEL_OK;
    }
    sel_checkpoint *before = NULL;
    sel_fail(error, status, "%s", why.text);
    if (!sel_checkpoint_open(names.path_before, &before, NULL)) {
        sel_fail(error, status, "the one before it is whole: --resume %s", names.path_before);
    }
    sel_checkpoint_close(before);
    return status;
}

/* Whether run.json says that the run has come to an end of its own. */
static bool has_ended(const char *json) {
    static const char *const others[] = {"running", "interrupted", "error", NULL};
    bool ended = true;
    for (const char *const *by = others; *by; by++) {
        char entry[64];
        snprintf(entry, sizeof entry, "\"stopped_by\": \"%s\"", *by);
        ended = ended && !strstr(json, entry);
    }
    return ended;
}

sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory) {
    enum { LONGEST = 1 << 26 };
    sel_checkpoint_names names = {.keeps_before = false};
    char path[SEL_PATH_ROOM], *json = NULL;
    size_t length = 0;
    sel_checkpoint_name(simulation, directory, &names);
    if (access(names.path, F_OK) == 0 || access(names.path_before, F_OK) == 0) {
        return SEL_RESUME_IT;
    }
    snprintf(path, sizeof path, "%s/" SEL_RUN_JSON, directory);
    sel_resume_step step = SEL_RESUME_BEGIN;
    if (!sel_file_read(path, LONGEST, "it tells of a run", &json, &length, NULL)) {
        json[length < LONGEST && length > 0 ? length - 1 : 0] = '\0'; /* the last line's end */
        step = has_ended(json) ? SEL_RESUME_DONE : SEL_RESUME_ANEW;
    }
    free(json);
    return step;
}

sel_status sel_resume_open(const sel_simulation *simulation, const char *directory,
                           const char *file, sel_checkpoint **opened, sel_error *error) {
    *opened = NULL;
    return file ? sel_checkpoint_open(file, opened, error)
                : open_of_directory(simulation, directory, opened, error);
}
