/* output_check.c -- outputs before the run: mistakes, what steps must compute for them, and the
 * forecast of when and how much they will write.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/output/kind.h"
#include "engine/output/output.h"

enum { LONGEST_NAME = 64 };

/* What is wrong with the name of an output, as the end of a message; NULL: nothing. */
static const char *wrong_with_name(const char *name) {
    if (!*name) {
        return "is empty";
    }
    if (strlen(name) > LONGEST_NAME) {
        return "is longer than 64 bytes";
    }
    if (strncmp(name, SEL_RUN_PREFIX, strlen(SEL_RUN_PREFIX)) == 0 ||
        strncmp(name, "checkpoint.", strlen("checkpoint.")) == 0) {
        return "is that of a file of the run; choose another";
    }
    if (name[0] == '.' || strpbrk(name, "/\\")) {
        return "would leave the run's directory or hide in it: no '/', '\\' or leading '.'";
    }
    return sel_is_plain(name) ? NULL : "holds a control character";
}

/* Whether `name` is `other` followed by an ending of outputs' files: "a.csv" is a file of "a". */
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

enum { MOST_OUTPUTS = 4096 };

/* Reports an output whose name, or a file of which, is that of an earlier output. */
static void refuse_clash(sel_output_checker *checker, const char *name, const sel_variant *other) {
    const char *before = sel_output_name(other);
    char first[512] = "";
    if (other->where.file) {
        snprintf(first, sizeof first, " (the first at %s:%d)", other->where.file,
                 other->where.line);
    }
    if (strcmp(before, name) == 0) {
        sel_output_refuse(checker, "two outputs are called '%s'%s; give each a name of its own",
                          name, first);
    } else {
        sel_output_refuse(
            checker,
            "the files of outputs called '%s' and '%s' may have one name%s; leave the "
            "ending to the outputs",
            before, name, first);
    }
}

static void output_check_name(sel_output_checker *checker, int i) {
    const char *name = sel_output_name(sel_output_variant(checker->simulation, i));
    const char *wrong = wrong_with_name(name);
    if (wrong) {
        sel_output_refuse(checker, "the name '%s' %s", name, wrong);
        return;
    }
    for (int j = 0; j < i; j++) {
        const sel_variant *other = sel_output_variant(checker->simulation, j);
        const char *before = sel_output_name(other);
        if (strcmp(before, name) == 0 || is_file_of(name, before) || is_file_of(before, name)) {
            refuse_clash(checker, name, other);
            return;
        }
    }
}

static void check_schedule(sel_output_checker *checker, const sel_output_kind *kind,
                           const sel_output_common *common) {
    bool every = common->every != SEL_INT_NOT_GIVEN, interval = !isnan(common->interval);
    if (common->at == SEL_OUTPUT_AT_END) {
        if (kind->only_when_due) {
            sel_output_refuse(checker, "at = \"end\" would be a single sample; give every or "
                                       "interval, and from_step or from_time");
        } else if (every || interval || common->from_step > 0 || !isnan(common->from_time)) {
            sel_output_refuse(checker, "at = \"end\" writes once; leave out every, interval, "
                                       "from_step and from_time");
        }
    }
    if (every && interval) {
        sel_output_refuse(checker, "give every (steps) or interval (time), not both");
    }
    if (every && common->every < 1) {
        sel_output_refuse(checker, "every must be at least 1 step, got %lld",
                          (long long)common->every);
    }
    if (interval && !(common->interval > 0)) {
        sel_output_refuse(checker, "interval must be positive, got %g", common->interval);
    }
    if (common->from_step < 0 || common->from_time < 0) {
        sel_output_refuse(checker, "from_step and from_time must not be negative");
    }
}

static void check_once(sel_output_checker *checker, int i) {
    for (int j = 0; j < i; j++) {
        if (sel_output_variant(checker->simulation, j)->table == checker->table) {
            sel_output_refuse(checker, "given twice; a run has one %s",
                              strrchr(checker->table->name, '.') + 1);
            return;
        }
    }
}

sel_status sel_outputs_check(const sel_simulation *simulation, const sel_domain *domain,
                             sel_error *error) {
    sel_output_checker checker = {.simulation = simulation, .domain = domain, .error = error};
    if (simulation->params->output.n > MOST_OUTPUTS) { /* comparing all pairs of names is O(n^2) */
        const sel_variant *last = sel_output_variant(simulation, MOST_OUTPUTS);
        checker.table = last->table;
        checker.where = last->where;
        sel_output_refuse(&checker,
                          "a simulation has at most %d outputs, got %d; give one output "
                          "several fields or points",
                          MOST_OUTPUTS, simulation->params->output.n);
        return checker.status;
    }
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        const sel_output_kind *kind = sel_output_kind_of(output->table);
        checker.table = output->table;
        checker.where = output->where;
        output_check_name(&checker, i);
        check_schedule(&checker, kind, output->data);
        if (kind->once) {
            check_once(&checker, i);
        }
        sel_fields_check(&checker, output->data);
        if (kind->check) {
            kind->check(&checker, output->data);
        }
    }
    return checker.status;
}

void sel_outputs_warn(const sel_simulation *simulation, const sel_domain *domain,
                      sel_error *warnings) {
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        const sel_output_kind *kind = sel_output_kind_of(output->table);
        if (kind->warn) {
            kind->warn(domain, output, warnings);
        }
    }
}

sel_status sel_outputs_wants(const sel_simulation *simulation, sel_plan *plan, sel_error *error) {
    sel_status status = SEL_OK;
    if (simulation->params->hooks.n > 0) {
        plan->wants_fields = ~0u; /* hooks may request any field */
        plan->wants_links = true;
    }
    for (int i = 0; i < simulation->params->output.n && !status; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        const char *name;
        const sel_flux_params *flux = output->data; /* valid if is_flux */
        const bool is_flux = output->table == &sel_out_flux_table;
        plan->wants_balance = plan->wants_balance || output->table == &sel_out_balance_table;
        plan->wants_forces = plan->wants_forces || output->table == &sel_out_force_table;
        plan->wants_links = plan->wants_links || plan->wants_forces || (is_flux && flux->region);
        if (is_flux && flux->across.n > 0 && simulation->solver->flux_field < 0) {
            status = sel_plan_line(plan, flux->across.v[0].v, flux->across.v[1].v, error);
        }
        for (int k = 0; (name = sel_output_field(output->table, output->data, k)); k++) {
            int component;
            int field =
                sel_solver_field(simulation->solver, plan->domain->grid.dims, name, &component);
            plan->wants_fields |= field < 0 ? 0 : 1u << (field & 31); /* fields 32 apart share it */
        }
    }
    return status;
}

/* ---- forecast ---- */

/* Steps from one writing to the next, unless `interval` is given; 0: at the end only. */
static int64_t steps_between(const sel_output_kind *kind, const sel_output_common *common) {
    const int64_t usual = common->at == SEL_OUTPUT_AT_END ? 0 : kind->period;
    return common->every != SEL_INT_NOT_GIVEN ? common->every : usual;
}

/* How many times an output is due in steps 0 to `last`; *at_last: it is due at `last`. */
static int64_t times_due(const sel_output_kind *kind, const sel_output_common *common, double dt,
                         int64_t last, bool *at_last) {
    bool given = common->every != SEL_INT_NOT_GIVEN;
    const sel_clock clock = sel_even_clock(dt);
    const sel_output_common schedule = sel_output_schedule(kind, common);
    int64_t from = sel_output_from(&schedule, &clock), period = steps_between(kind, common);
    *at_last = false;
    if (!isnan(common->interval)) {
        const double slack = 1e-9, interval = fmax(common->interval, dt);
        double first = from > 0 ? floor((double)(from - 1) * dt / interval + slack) + 1 : 0;
        double end = floor((double)last * dt / interval + slack);
        *at_last = end >= first && sel_step_at(end * interval, dt) == last;
        return end >= first ? (int64_t)(end - first) + 1 : 0;
    }
    if (period == 0) {
        return 0;
    }
    from = given || from > 0 ? from : 1; /* by default step 0 is not written */
    int64_t first = (from + period - 1) / period, end = last / period;
    *at_last = end >= first && last % period == 0;
    return end >= first ? end - first + 1 : 0;
}

/* "every 500 steps" */
static void cadence(const sel_output_kind *kind, const sel_output_common *common, char *text,
                    size_t size) {
    const int64_t period = steps_between(kind, common);
    if (!isnan(common->interval)) {
        snprintf(text, size, "every %g time units", common->interval);
    } else if (period) {
        snprintf(text, size, "every %lld step%s", (long long)period, period == 1 ? "" : "s");
    } else {
        snprintf(text, size, "at the end");
    }
}

void sel_output_forecast(const sel_plan *plan, const sel_variant *output, int64_t last_step,
                         char *text, size_t size) {
    const sel_output_kind *kind = sel_output_kind_of(output->table);
    const sel_output_common *common = output->data;
    char when[64], often[64] = "", much[128] = "";
    int64_t times = 0;
    const double seconds = sel_checkpoint_seconds(output);
    if (seconds > 0) {
        snprintf(text, size, "%s: %s every %g s and at the end", sel_output_name(output),
                 output->table->name, seconds);
        return;
    }
    cadence(kind, common, when, sizeof when);
    if (last_step != INT64_MAX) {
        bool at_last;
        times = times_due(kind, common, plan->domain->grid.dt, last_step, &at_last);
        times += !at_last && (!kind->only_when_due || times == 0);
        snprintf(often, sizeof often, ", %s%lld time%s",
                 sel_may_end_early(plan->simulation->params) ? "at most " : "", (long long)times,
                 times == 1 ? "" : "s");
    }
    if (kind->bytes) {
        char one[SEL_BYTES_ROOM], all[SEL_BYTES_ROOM];
        bool packed = false;
        double bytes = kind->bytes(plan, output->data, &packed);
        const char *still = packed ? " before compression" : "";
        sel_bytes_text(bytes, one);
        sel_bytes_text(bytes * (double)times, all);
        if (times > 1) {
            snprintf(much, sizeof much, " %s = %s%s", one, all, still);
        } else {
            snprintf(much, sizeof much, ", %s%s", one, still);
        }
    }
    snprintf(text, size, "%s: %s %s%s%s", sel_output_name(output), output->table->name, when, often,
             much);
}
