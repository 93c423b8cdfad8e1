/* hooks.c -- hooks: when they are due, how they are called, and what they may do. */
#include "engine/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/kind.h"

/* Stand-ins for an output's table: messages about fields and points begin with its name. */
static const sel_table probe_call = {.name = "run:probe"};
static const sel_table reduce_call = {.name = "run:reduce"};

static const sel_list *hooks_of(const sel_hook_run *run) {
    return &run->context->simulation->params->hooks;
}

static const sel_hook *hook_at(const sel_hook_run *run, int i) {
    return (const sel_hook *)hooks_of(run)->v + i;
}

int64_t sel_hooks_next(const sel_hook_run *run, int64_t step) {
    int64_t next = INT64_MAX;
    for (int i = 0; i < hooks_of(run)->n; i++) {
        const sel_hook *hook = hook_at(run, i);
        const bool at_end = hook->at == SEL_HOOK_AT_END;
        const int64_t due = at_end ? INT64_MAX : sel_next_multiple(step, hook->every);
        next = due < next ? due : next;
    }
    return next;
}

/* Calls a hook. A failure of the run during the call takes precedence over the hook's own error. */
static sel_status hook_call(sel_hook_run *run, const sel_hook *hook, sel_error *error) {
    sel_error raised = {.status = SEL_OK};
    sel_status status = hook->call->call(hook->call, run, &raised);
    return run->failure.status ? sel_fail(error, run->failure.status, "%s", run->failure.text)
           : status            ? sel_fail(error, status, "%s", raised.text)
                               : SEL_OK;
}

sel_status sel_hooks_call(sel_hook_run *run, int64_t step, double time, bool end,
                          sel_error *error) {
    sel_status status = SEL_OK;
    run->step = step;
    run->time = time;
    for (int i = 0; i < hooks_of(run)->n && !status; i++) {
        const sel_hook *hook = hook_at(run, i);
        const bool at_end = hook->at == SEL_HOOK_AT_END;
        run->hook = i;
        if (end ? at_end : !at_end && step % hook->every == 0) {
            status = hook_call(run, hook, error);
        }
    }
    return status;
}

/* Stores the failure of a hook's request in run->failure, unless it is a mistake of the script. */
static sel_status keep_failure(sel_hook_run *run, sel_status status, const sel_error *error) {
    if (status && status != SEL_BAD_SCENARIO && !run->failure.status) {
        sel_fail(&run->failure, status, "%s", error ? error->text : "what a hook asked for failed");
    }
    return status;
}

/* ---- reading the state ---- */

static sel_output_checker hook_checker(const sel_hook_run *run, const sel_table *call,
                                       sel_error *error) {
    return (sel_output_checker){.simulation = run->context->simulation,
                                .domain = run->context->domain,
                                .table = call,
                                .error = error};
}

/* Checks and resolves the name of a field. */
static sel_status pick_field(sel_output_checker *checker, const char *field, sel_pick *pick) {
    const sel_names names = {1, &field};
    if (sel_picks_check(checker, &names)) {
        *pick = sel_pick_of(checker->simulation->solver, checker->domain->grid.dims, field);
    }
    return checker->status;
}

/* A state from a checkpoint may lack what observed steps store, until the next of them. */
static sel_status hook_check_observed(const char *call, const sel_request *requests, int count,
                                      sel_error *error) {
    for (int k = 0; k < count; k++) {
        if (requests[k].unobserved) {
            return sel_fail(error, SEL_BAD_SCENARIO,
                            "%s: the checkpoint that this run goes on from has not stored it; ask "
                            "after the next step",
                            call);
        }
    }
    return SEL_OK;
}

sel_status sel_hook_probe(sel_hook_run *run, const char *field, const sel_point *at,
                          double values[SEL_MAX_COMPONENTS], int *count, sel_error *error) {
    sel_output_checker checker = hook_checker(run, &probe_call, error);
    sel_pick pick;
    sel_sample *sample;
    sel_output output = {.context = run->context,
                         .arena = sel_arena_create(),
                         .picks = {1, &pick},
                         .time = run->time};
    sel_status status = output.arena ? pick_field(&checker, field, &pick)
                                     : sel_fail_memory(error, "run:probe", sizeof output);
    if (!status && !sel_point_check(&checker, "the point", at)) {
        status = checker.status;
    }
    if (!status) {
        sel_free_check(&checker, "the point", at);
        status = checker.status;
    }
    status = status ? status : sel_sample_create(&output, at, 1, false, &sample, error);
    status = status ? status : sel_output_answer(&output, error);
    status =
        status ? status
               : hook_check_observed("run:probe", output.requests.v, output.requests.count, error);
    status = status ? status : sel_sample_take(sample, error);
    *count = status ? 0 : pick.components;
    for (int c = 0; c < *count; c++) {
        values[c] = sel_sample_value(sample, 0, 0, pick.first + c);
    }
    free(output.requests.v);
    sel_arena_destroy(output.arena);
    return keep_failure(run, status, error);
}

sel_status sel_hook_reduce(sel_hook_run *run, const char *field, const char *op,
                           double values[SEL_MAX_COMPONENTS], int *count, sel_error *error) {
    sel_output_checker checker = hook_checker(run, &reduce_call, error);
    const int which = sel_name_index(sel_reduce_ops, op);
    if (which < 0) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "run:reduce: op must be one of \"sum\", \"min\", \"max\", \"mean\", "
                        "\"l2\", got \"%.40s\"",
                        op);
    }
    sel_pick pick;
    sel_request request = {.kind = SEL_REDUCE, .box = sel_grid_box(&run->context->domain->grid)};
    sel_status status = pick_field(&checker, field, &pick);
    if (!status) {
        request.field = pick.field;
        request.components = pick.field_components;
        status = sel_answer(run->context, &request, error);
    }
    status = status ? status : hook_check_observed("run:reduce", &request, 1, error);
    *count = status ? 0 : pick.components;
    for (int c = 0; c < *count; c++) {
        values[c] = sel_reduce_value(&request, which, pick.first + c);
    }
    return keep_failure(run, status, error);
}

/* The out.force called `name`, else the first on a region of that name; NULL: none. */
static const sel_force_params *find_force(const sel_simulation *simulation, const char *name) {
    const sel_force_params *on_region = NULL;
    for (int i = 0; i < simulation->params->output.n; i++) {
        const sel_variant *output = sel_output_variant(simulation, i);
        const sel_force_params *force = output->data;
        if (output->table != &sel_out_force_table) {
            continue;
        }
        if (strcmp(sel_output_name(output), name) == 0) {
            return force;
        }
        if (!on_region && strcmp(force->region, name) == 0) {
            on_region = force;
        }
    }
    return on_region;
}

sel_status sel_hook_force(sel_hook_run *run, const char *name, double force[3], double torque[3],
                          sel_error *error) {
    const sel_force_params *found = find_force(run->context->simulation, name);
    if (!found) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "run:force: no out.force is called '%.64s' or measures a region of that "
                        "name; add out.force { region = \"%.64s\" } to output",
                        name, name);
    }
    sel_output output = {.context = run->context};
    sel_status status =
        sel_measure_regions(&output, SEL_FORCE, found->region, &found->centre, error);
    status = status ? status : sel_output_answer(&output, error);
    status =
        status ? status
               : hook_check_observed("run:force", output.requests.v, output.requests.count, error);
    const sel_force_sum sum = sel_measure_sum_force(&output.requests);
    memcpy(force, sum.force, sizeof sum.force);
    memcpy(torque, sum.torque, sizeof sum.torque);
    free(output.requests.v);
    return keep_failure(run, status, error);
}

/* ---- changing the run ---- */

/* Keeps what a control is set to, for the message of a law that refuses it. */
static void hook_note_set(sel_hook_run *run, const char *control, double value) {
    const bool first = run->set_step != run->step || !*run->set;
    size_t used = first ? 0 : strlen(run->set);
    run->set_step = run->step;
    snprintf(run->set + used, sizeof run->set - used, "%s%.40s = %.6g by hooks[%d]",
             first ? "" : ", ", control, value, run->hook + 1);
}

sel_status sel_hook_set(sel_hook_run *run, const char *control, double value, sel_error *error) {
    enum { MOST = 64 };
    const sel_numbers *controls = &run->context->simulation->params->controls;
    const char *names[MOST + 1] = {NULL};
    if (!isfinite(value)) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "run:set: the value of '%.64s' must be a finite number", control);
    }
    for (int i = 0; i < controls->n; i++) {
        if (strcmp(controls->v[i].name, control) == 0) {
            run->context->domain->control_values[i] = value;
            hook_note_set(run, control, value);
            return SEL_OK;
        }
        if (i < MOST) {
            names[i] = controls->v[i].name;
        }
    }
    char suggestion[SEL_SUGGESTION_ROOM];
    return sel_fail(error, SEL_BAD_SCENARIO, "run:set: controls has no '%.64s'%s", control,
                    sel_suggestion(control, names, suggestion));
}

/* Whose results have names that begin as this one does, "NAME.": an output's name, or "drive";
 * NULL: nobody's. */
static const char *owner_of_result(const sel_simulation *simulation, const char *name) {
    const sel_solver *solver = simulation->solver;
    const char *end = strchr(name, '.');
    for (int i = 0; end && i < simulation->params->output.n; i++) {
        const char *output = sel_output_name(sel_output_variant(simulation, i));
        const size_t length = strlen(output);
        if (strncmp(name, output, length) == 0 && name[length] == '.') {
            return output;
        }
    }
    return end && strncmp(name, "drive.", strlen("drive.")) == 0 && solver->drive &&
                   solver->drive(simulation->params)
               ? "drive"
               : NULL;
}

sel_status sel_hook_result(sel_hook_run *run, const char *name, double value, sel_error *error) {
    enum { LONGEST_NAME = 100 };
    if (!*name || strlen(name) > LONGEST_NAME) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "run:result: the name must have 1 to %d characters", LONGEST_NAME);
    }
    if (!sel_is_plain(name)) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "run:result: the name must not hold control characters");
    }
    const char *owner = owner_of_result(run->context->simulation, name);
    if (owner) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "run:result: '%s' begins as the results of '%s' do; choose another name",
                        name, owner);
    }
    sel_status status = sel_results_set(run->context->results, name, value, error);
    return keep_failure(run, status, error);
}

void sel_hook_stop(sel_hook_run *run, const char *reason) {
    if (!run->stopped) {
        snprintf(run->reason, sizeof run->reason, "%s", reason);
    }
    run->stopped = true;
}

void sel_hook_log(const sel_hook_run *run, const char *text) {
    char *plain = run->log ? strdup(text) : NULL;
    if (plain) {
        sel_plain_text(plain);
        run->log(plain, run->log_data);
    }
    free(plain);
}
