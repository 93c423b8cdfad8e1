/* output.c -- the outputs of a run: checked, opened, written when they are due.
 *
 * Those that are due at a step start together and are taken together, in the order of the script,
 * so that rows, frames and results come in the same order whether or not a backend works meanwhile.
 */
#include "engine/output/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/folder.h"
#include "engine/machine.h"
#include "engine/output/opened.h"

static const sel_output_kind *const kinds[] = {
    &sel_vtk_kind,     &sel_probe_kind, &sel_profile_kind,   &sel_reduce_kind,
    &sel_balance_kind, &sel_force_kind, &sel_flux_kind,      &sel_average_kind,
    &sel_picture_kind, &sel_grid_kind,  &sel_checkpoint_kind};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const sel_table *const tables[] = {
    &sel_out_vtk_table,     &sel_out_probe_table, &sel_out_profile_table,   &sel_out_reduce_table,
    &sel_out_balance_table, &sel_out_force_table, &sel_out_flux_table,      &sel_out_average_table,
    &sel_out_picture_table, &sel_out_grid_table,  &sel_out_checkpoint_table};
const sel_family sel_output_family = {
    "out",
    "What a run writes. The last state is always written.",
    tables,
    sizeof tables / sizeof *tables,
};

const sel_output_kind *sel_output_kind_of(const sel_table *table) {
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k]->table == table) {
            return kinds[k];
        }
    }
    return NULL;
}

static const sel_variant *variant(const sel_simulation *simulation, int i) {
    return (const sel_variant *)simulation->params->output.v + i;
}

const char *sel_output_name(const sel_variant *output) {
    const sel_output_common *common = output->data;
    return common->name ? common->name : strrchr(output->table->name, '.') + 1;
}

/* ---- checks ---- */

enum { LONGEST_NAME = 64 };

/* Files of the run itself. */
static bool is_reserved(const char *name) {
    return strncmp(name, SEL_RUN_PREFIX, strlen(SEL_RUN_PREFIX)) == 0 ||
           strncmp(name, "checkpoint.", strlen("checkpoint.")) == 0;
}

static const char *wrong_with_name(const char *name) {
    if (!*name) {
        return "is empty";
    }
    if (strlen(name) > LONGEST_NAME) {
        return "is longer than 64 bytes";
    }
    if (is_reserved(name)) {
        return "is that of a file of the run; choose another";
    }
    if (name[0] == '.' || strpbrk(name, "/\\")) {
        return "would leave the run's directory or hide in it: no '/', '\\' or leading '.'";
    }
    return sel_is_plain(name) ? NULL : "holds a control character";
}

/* Whether `name` is `other` and an ending of the files that outputs write. */
static bool is_file_of(const char *name, const char *other) {
    static const char *const endings[] = {".csv", ".pvd", ".vti"};
    size_t length = strlen(other);
    for (size_t e = 0; strncmp(name, other, length) == 0 && e < sizeof endings / sizeof *endings;
         e++) {
        if (strcmp(name + length, endings[e]) == 0) {
            return true;
        }
    }
    return false;
}

/* Two outputs of one name, or with files of one name. */
static sel_status fail_clash(const sel_variant *output, const sel_variant *other,
                             sel_error *error) {
    const char *name = sel_output_name(output), *before = sel_output_name(other);
    char first[512] = "";
    if (other->where.file) {
        snprintf(first, sizeof first, " (the first at %s:%d)", other->where.file,
                 other->where.line);
    }
    return strcmp(before, name) == 0
               ? sel_fail_at(error, output->where,
                             "%s: two outputs are called '%s'%s; give each a name of its own",
                             output->table->name, name, first)
               : sel_fail_at(error, output->where,
                             "%s: the files of outputs called '%s' and '%s' may have one name%s; "
                             "leave the ending to the outputs",
                             output->table->name, before, name, first);
}

static sel_status check_name(const sel_simulation *simulation, int i, sel_error *error) {
    const sel_variant *output = variant(simulation, i);
    const char *name = sel_output_name(output);
    const char *wrong = wrong_with_name(name);
    if (wrong) {
        return sel_fail_at(error, output->where, "%s: the name '%s' %s", output->table->name, name,
                           wrong);
    }
    for (int j = 0; j < i; j++) {
        const sel_variant *other = variant(simulation, j);
        const char *before = sel_output_name(other);
        if (strcmp(before, name) == 0 || is_file_of(name, before) || is_file_of(before, name)) {
            return fail_clash(output, other, error);
        }
    }
    return SEL_OK;
}

static sel_status check_schedule(const sel_variant *output, sel_error *error) {
    const sel_output_common *common = output->data;
    const char *table = output->table->name;
    bool every = common->every != SEL_INT_NOT_GIVEN, interval = !isnan(common->interval);
    sel_status status = SEL_OK;
    if (every && interval) {
        status = sel_fail_at(error, output->where,
                             "%s: give every (steps) or interval (time), "
                             "not both",
                             table);
    }
    if (every && common->every < 1) {
        status = sel_fail_at(error, output->where, "%s: every must be at least 1 step, got %lld",
                             table, (long long)common->every);
    }
    if (interval && !(common->interval > 0)) {
        status = sel_fail_at(error, output->where, "%s: interval must be positive, got %g", table,
                             common->interval);
    }
    if (common->from_step < 0 || common->from_time < 0) {
        status = sel_fail_at(error, output->where,
                             "%s: from_step and from_time must not be negative", table);
    }
    return status;
}

sel_status sel_outputs_check(const sel_simulation *simulation, const sel_domain *domain,
                             sel_error *error) {
    sel_status first = SEL_OK;
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = variant(simulation, i);
        const sel_output_kind *kind = sel_output_kind_of(output->table);
        const sel_output_site site = {simulation, domain, output->table, output->where};
        sel_status found[] = {check_name(simulation, i, error), check_schedule(output, error),
                              kind->check ? kind->check(&site, output->data, error) : SEL_OK};
        for (int k = 0; k < 3; k++) {
            first = first ? first : found[k];
        }
    }
    return first;
}

static void want_field(const sel_simulation *simulation, const char *name, sel_plan *plan) {
    int component;
    int field =
        name ? sel_solver_field(simulation->solver, plan->domain->grid.dims, name, &component) : -1;
    plan->wants_fields |= field < 0 ? 0 : 1u << field;
}

/* The fields of the results that an output reads. */
static void want_fields(const sel_simulation *simulation, const sel_variant *output,
                        sel_plan *plan) {
    for (int i = 0; i < output->table->count; i++) {
        const sel_field *row = &output->table->fields[i];
        const void *member = (const char *)output->data + row->offset;
        if (!(row->flags & SEL_RESULT)) {
            continue;
        }
        if (row->kind == SEL_KIND_STRING) {
            want_field(simulation, *(const char *const *)member, plan);
        }
        const sel_names *names = member;
        for (int k = 0; row->kind == SEL_KIND_NAMES && k < names->n; k++) {
            want_field(simulation, names->v[k], plan);
        }
    }
}

void sel_outputs_wants(const sel_simulation *simulation, sel_plan *plan) {
    if (simulation->params->hooks.n > 0) {
        plan->wants_fields = ~0u; /* they may ask for anything */
    }
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = variant(simulation, i);
        const sel_output_kind *kind = sel_output_kind_of(output->table);
        if (kind->wants) {
            kind->wants(output->data, plan);
        }
        want_fields(simulation, output, plan);
    }
}

/* ---- when ---- */

/* The first step after `step` at which a multiple of `interval` has been reached. */
static int64_t next_interval(double dt, double interval, int64_t step) {
    if (step < 0) {
        return 0;
    }
    double passed = floor((double)step * dt / interval);
    int64_t next = sel_step_at((passed + 1) * interval, dt);
    /* The multiple of this very step may have been rounded up. */
    next = next > step ? next : sel_step_at((passed + 2) * interval, dt);
    return next > step ? next : step + 1;
}

int64_t sel_output_next(const sel_output_common *common, int64_t period, double dt, int64_t step) {
    int64_t from = common->from_step;
    if (!isnan(common->from_time) && sel_step_at(common->from_time, dt) > from) {
        from = sel_step_at(common->from_time, dt);
    }
    step = from - 1 > step ? from - 1 : step;
    if (!isnan(common->interval)) {
        return next_interval(dt, common->interval, step);
    }
    if (common->every != SEL_INT_NOT_GIVEN) {
        return sel_next_multiple(step, common->every);
    }
    if (period == 0) {
        return INT64_MAX;
    }
    return sel_next_multiple(step < 0 ? 0 : step, period);
}

static int64_t next_due(const sel_outputs *outputs, const opened_output *output, int64_t step) {
    return sel_output_next(output->common, output->kind->period, outputs->context->domain->grid.dt,
                           step);
}

int64_t sel_outputs_next(const sel_outputs *outputs, int64_t step) {
    int64_t next = INT64_MAX;
    for (int i = 0; i < outputs->count; i++) {
        int64_t due = next_due(outputs, &outputs->v[i], step);
        next = due < next ? due : next;
    }
    return next;
}

/* ---- what ---- */

static sel_status open_output(sel_outputs *outputs, const sel_variant *from, sel_error *error) {
    opened_output *output = &outputs->v[outputs->count];
    output->kind = sel_output_kind_of(from->table);
    if (!output->kind->open) { /* the run itself writes it */
        return SEL_OK;
    }
    output->common = from->data;
    output->name = sel_output_name(from);
    output->written = -1;
    sel_status status = output->kind->open(outputs->context, from->data, sel_output_name(from),
                                           &outputs->files, &output->self, error);
    outputs->count += status == SEL_OK;
    return status;
}

sel_status sel_outputs_open(const sel_output_context *context, sel_outputs **outputs,
                            sel_error *error) {
    int count = context->simulation->params->output.n;
    *outputs = NULL;
    sel_outputs *made = calloc(1, sizeof *made);
    opened_output *v = calloc((size_t)count + 1, sizeof *v);
    if (!made || !v) {
        free(made);
        free(v);
        return sel_fail_memory(error, "the outputs", (size_t)count * sizeof *v);
    }
    made->context = context;
    made->files.directory = context->directory;
    made->files.force = context->force;
    made->v = v;
    sel_status status =
        context->resume ? sel_output_files_known(&made->files, context, error) : SEL_OK;
    for (int i = 0; i < count && status == SEL_OK; i++) {
        status = open_output(made, variant(context->simulation, i), error);
    }
    if (status != SEL_OK) {
        sel_outputs_close(made);
        return status;
    }
    *outputs = made;
    return SEL_OK;
}

/* Waits for the first `count` requests of an output. */
static sel_status finish_requests(sel_outputs *outputs, opened_output *output, int count,
                                  sel_error *error) {
    const sel_output_context *context = outputs->context;
    double before = sel_machine_seconds();
    sel_status status = SEL_OK;
    output->under_way = false;
    for (int i = 0; i < count; i++) {
        sel_status one =
            context->backend->finish(context->state, &output->requests.v[i], status ? NULL : error);
        status = status ? status : one;
    }
    outputs->waited += sel_machine_seconds() - before;
    return status;
}

static sel_status start_output(sel_outputs *outputs, opened_output *output, sel_error *error) {
    const sel_output_context *context = outputs->context;
    sel_requests *requests = &output->requests;
    requests->count = 0;
    sel_status status =
        output->kind->ask(output->self, outputs->step, outputs->time, requests, error);
    if (status) {
        return status;
    }
    int started = 0;
    while (started < requests->count && !status) {
        status = context->backend->start(context->state, &requests->v[started], error);
        started += status == SEL_OK;
    }
    if (status) {
        finish_requests(outputs, output, started, NULL);
        return status;
    }
    output->under_way = true;
    return SEL_OK;
}

static void set_present(sel_outputs *outputs, int64_t step, double time, bool last) {
    outputs->step = step;
    outputs->time = time;
    outputs->last = last;
}

static bool is_due(const sel_outputs *outputs, const opened_output *output) {
    bool due = next_due(outputs, output, outputs->step - 1) == outputs->step;
    bool at_end = outputs->last && (!output->kind->only_when_due || output->written < 0);
    return (due || at_end) && output->written != outputs->step;
}

sel_status sel_outputs_start(sel_outputs *outputs, int64_t step, double time, bool last,
                             sel_error *error) {
    sel_status status = sel_outputs_finish(outputs, error);
    set_present(outputs, step, time, last);
    for (int i = 0; i < outputs->count && !status; i++) {
        if (is_due(outputs, &outputs->v[i])) {
            status = start_output(outputs, &outputs->v[i], error);
        }
    }
    return status;
}

static sel_status take_output(sel_outputs *outputs, opened_output *output, sel_error *error) {
    const sel_requests *requests = &output->requests;
    sel_status status = finish_requests(outputs, output, requests->count, error);
    if (!status) {
        status = output->kind->take(output->self, outputs->step, outputs->time, requests, error);
    }
    output->written = status ? output->written : outputs->step;
    return status;
}

static sel_status conclude(const sel_outputs *outputs, opened_output *output, sel_error *error) {
    if (output->concluded || !output->kind->conclude) {
        return SEL_OK;
    }
    output->concluded = true;
    return output->kind->conclude(output->self, outputs->step, outputs->time, error);
}

sel_status sel_outputs_finish(sel_outputs *outputs, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < outputs->count && !status; i++) {
        opened_output *output = &outputs->v[i];
        if (output->under_way) {
            status = take_output(outputs, output, error);
        }
        if (!status && outputs->last) {
            status = conclude(outputs, output, error);
        }
    }
    outputs->last = false;
    return status;
}

void sel_outputs_end(sel_outputs *outputs, int64_t step, double time, bool whole) {
    for (int i = 0; i < outputs->count; i++) {
        if (outputs->v[i].under_way) {
            take_output(outputs, &outputs->v[i], NULL);
        }
    }
    set_present(outputs, step, time, whole);
    for (int i = 0; i < outputs->count; i++) {
        opened_output *output = &outputs->v[i];
        if (whole && is_due(outputs, output) && start_output(outputs, output, NULL) == SEL_OK) {
            take_output(outputs, output, NULL);
        }
        if (output->written >= 0) {
            conclude(outputs, output, NULL);
        }
    }
}

double sel_outputs_waited(const sel_outputs *outputs) {
    return outputs->waited;
}

const char *const *sel_outputs_files(const sel_outputs *outputs) {
    static const char *const none[] = {NULL};
    const sel_output_files *files = &outputs->files;
    int64_t submitted, written;
    int count = 0;
    if (!files->listed) {
        return none;
    }
    sel_writer_counts(outputs->context->writer, &submitted, &written);
    for (int i = 0; i < files->count; i++) {
        if (files->v[i].job <= written) {
            files->listed[count++] = files->v[i].name;
        }
    }
    files->listed[count] = NULL;
    return files->listed;
}

void sel_outputs_close(sel_outputs *outputs) {
    if (!outputs) {
        return;
    }
    for (int i = 0; i < outputs->count; i++) {
        opened_output *output = &outputs->v[i];
        if (output->under_way) {
            finish_requests(outputs, output, output->requests.count, NULL);
        }
        output->kind->close(output->self);
        free(output->requests.v);
    }
    sel_output_files_free(&outputs->files);
    free(outputs->v);
    free(outputs);
}
