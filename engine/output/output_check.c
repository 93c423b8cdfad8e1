/* output_check.c -- what can be told of the outputs of a scenario before it runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/folder.h"
#include "engine/output/kind.h"

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
    const sel_variant *output = sel_output_variant(simulation, i);
    const char *name = sel_output_name(output);
    const char *wrong = wrong_with_name(name);
    if (wrong) {
        return sel_fail_at(error, output->where, "%s: the name '%s' %s", output->table->name, name,
                           wrong);
    }
    for (int j = 0; j < i; j++) {
        const sel_variant *other = sel_output_variant(simulation, j);
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

static sel_status check_once(const sel_simulation *simulation, int i, sel_error *error) {
    const sel_variant *output = sel_output_variant(simulation, i);
    const char *table = output->table->name;
    bool again = false;
    for (int j = 0; j < i; j++) {
        again = again || sel_output_variant(simulation, j)->table == output->table;
    }
    return again ? sel_fail_at(error, output->where, "%s: given twice; a run has one %s", table,
                               strrchr(table, '.') + 1)
                 : SEL_OK;
}

sel_status sel_outputs_check(const sel_simulation *simulation, const sel_domain *domain,
                             sel_error *error) {
    sel_status first = SEL_OK;
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        const sel_output_kind *kind = sel_output_kind_of(output->table);
        const sel_output_site site = {simulation, domain, output->table, output->where};
        const sel_status found[] = {check_name(simulation, i, error), check_schedule(output, error),
                                    kind->once ? check_once(simulation, i, error) : SEL_OK,
                                    sel_fields_check(&site, output->data, error),
                                    kind->check ? kind->check(&site, output->data, error) : SEL_OK};
        for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
            first = first ? first : found[k];
        }
    }
    return first;
}

void sel_outputs_wants(const sel_simulation *simulation, sel_plan *plan) {
    if (simulation->params->hooks.n > 0) {
        plan->wants_fields = ~0u; /* they may ask for anything */
        plan->wants_links = true;
    }
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        const char *name;
        const sel_out_flux *flux = output->data; /* if it is one */
        plan->wants_balance = plan->wants_balance || output->table == &sel_out_balance_table;
        plan->wants_links = plan->wants_links || output->table == &sel_out_force_table ||
                            (output->table == &sel_out_flux_table && flux->region);
        for (int k = 0; (name = sel_output_field(output->table, output->data, k)); k++) {
            int component;
            int field =
                sel_solver_field(simulation->solver, plan->domain->grid.dims, name, &component);
            plan->wants_fields |= field < 0 ? 0 : 1u << field;
        }
    }
}
