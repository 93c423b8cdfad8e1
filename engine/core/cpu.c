/* cpu.c -- the backend that runs a solver on the processor. */
#include "engine/core/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include "engine/base/hardware.h"

/* ---- the backend ---- */

static const sel_cpu *cpu_of(const sel_plan *plan) {
    return plan->simulation->solver->on_cpu;
}

static sel_status probe(int device, uint64_t *free_bytes, sel_error *error) {
    (void)device, (void)error;
    *free_bytes = sel_machine_free_memory();
    return SEL_OK;
}

static double bandwidth(int device, int threads) {
    (void)device;
    return sel_machine_bandwidth(threads);
}

static void cpu_list(sel_state *state, const sel_plan *plan) {
    sel_state_begin(state, plan);
    cpu_of(plan)->list(state);
    sel_state_list(state);
    SEL_ADD(&state->arrays, state, scratch,
            cpu_of(plan)->look.main ? 0 : 3 * state->threads * plan->domain->grid.n[0], 0);
    SEL_ADD(&state->arrays, state, partials, SEL_PARTIALS * sel_own_rows(state).count, 0);
}

static sel_share cpu_estimate(const sel_plan *plan) {
    const size_t size = cpu_of(plan)->state_size;
    sel_state *state = calloc(1, size);
    sel_share share = {.memory = 0};
    if (state) {
        cpu_list(state, plan);
        share = sel_state_share(state, size + state->arrays.bytes[0] -
                                           sel_arrays_untouched(&state->arrays));
        sel_state_end(state);
    }
    free(state);
    return share;
}

static void cpu_destroy(sel_state *state) {
    if (state) {
        const sel_cpu *cpu = cpu_of(state->plan);
        if (cpu->close) {
            cpu->close(state);
        }
        sel_state_end(state);
        free(state);
    }
}

static sel_status cpu_create(const sel_plan *plan, sel_state **made, sel_error *error) {
    const sel_cpu *cpu = cpu_of(plan);
    *made = NULL;
    if (sel_level(0) < 0) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "this processor is older than x86-64-v2 (SSE 4.2), which Selenite needs");
    }
    sel_state *state = calloc(1, cpu->state_size);
    if (!state) {
        return sel_fail_memory(error, cpu->what, cpu->state_size);
    }
    cpu_list(state, plan);
    sel_status status = sel_state_allocate(state, cpu->what, error);
    status = sel_state_agree(state, status, error); /* before the first exchange */
    status = status || !plan->inputs ? status : sel_inputs_start(state, error);
    status = plan->inputs ? sel_state_agree(state, status, error) : status;
    status = status ? status : cpu->start(state, error);
    if (!status && cpu->derive) {
        cpu->derive(state);
    }
    status = sel_state_agree(state, status, error);
    if (!status && sel_plan_observes(plan) && cpu->observe) {
        cpu->observe(state, true);
    }
    if (status) {
        cpu_destroy(state);
        return status;
    }
    *made = state;
    return SEL_OK;
}

/* Evaluates the plan's inputs for the next step: what varies in cells, then the rest. */
static sel_status cpu_evaluate_inputs(sel_state *state, unsigned due, sel_error *error) {
    const sel_cpu *cpu = cpu_of(state->plan);
    const sel_inputs *inputs = state->listed;
    sel_status status = SEL_OK;
    if (!inputs || !(inputs->depends & due)) {
        return SEL_OK;
    }
    status =
        sel_inputs_fill(state, due, state->step, cpu->cells ? cpu->cells : sel_given_cells, error);
    if (inputs->source_depends & due && sel_state_total(state, status != SEL_OK)) {
        return status; /* that of some ranks */
    }
    status = sel_inputs_evaluate(inputs, due, state->step,
                                 cpu->store ? cpu->store : sel_given_store, state, error);
    if (!status && cpu->derive) {
        cpu->derive(state);
    }
    return status;
}

sel_status sel_cpu_evaluate(sel_state *state, unsigned due, sel_error *error) {
    const sel_cpu *cpu = cpu_of(state->plan);
    const sel_status status = cpu_evaluate_inputs(state, due, error);
    return status || !cpu->terms ? status : cpu->terms(state, due, error);
}

static sel_status cpu_clock_of(sel_state *state, sel_clock *clock, sel_error *error) {
    return sel_state_clock(state, cpu_of(state->plan)->time_step, clock, error);
}

static sel_status cpu_advance(sel_state *state, int64_t n, bool observed, sel_error *error) {
    const sel_cpu *cpu = cpu_of(state->plan);
    const int64_t observes = observed ? sel_plan_observed_steps(state->plan) : 0;
    sel_status status = SEL_OK;
    while (n > 0 && !status && state->ending.how == SEL_GOES_ON) {
        const unsigned due = sel_domain_due(state->plan->domain, state->controls);
        sel_clock clock;
        status = cpu_clock_of(state, &clock, error);
        int64_t together = state->plan->depends & due || n <= observes ? 1 : n - observes;
        together = together < clock.until - state->step ? together : clock.until - state->step;
        status = status ? status : sel_cpu_evaluate(state, due, error);
        if (state->plan->depends & due) {
            status = sel_state_agree(state, status, error);
        }
        if (status && cpu->keep_terms) {
            cpu->keep_terms(state);
        }
        state->observing = n <= observes ? n : 0;
        if (!status && state->observing && cpu->observe) {
            cpu->observe(state, false);
        }
        if (!status && state->observing == 1) {
            state->observed = state->step + 1;
        }
        status = status ? status : cpu->steps(state, together, error);
        n -= together;
    }
    return status;
}

/* The inputs of the last step, and what follows from them with the reference of the checkpoint;
 * then what the solver does, or else halos. What observed steps show is then lost where it follows
 * from the copy of the step before the present one, which is not saved. */
static sel_status cpu_restore(sel_state *state, sel_error *error) {
    const int64_t last = state->step > 0 ? 1 : 0;
    const sel_cpu *cpu = cpu_of(state->plan);
    if (!cpu->loaded) {
        sel_state_exchange(state, state->step, SEL_FETCH);
        if (sel_plan_observes(state->plan) && !sel_state_keeps_observed(state)) {
            state->observed = -1;
        }
    }
    state->step -= last;
    sel_status status = cpu_evaluate_inputs(state, SEL_ON_T | SEL_ON_CONTROLS, error);
    state->step += last;
    status = sel_state_agree(state, status, error);
    if (!status && cpu->derive) {
        cpu->derive(state);
    }
    return status || !cpu->loaded ? status : cpu->loaded(state, error);
}

static sel_status cpu_loaded(sel_state *state, sel_error *error) {
    const sel_cpu *cpu = cpu_of(state->plan);
    return sel_state_loaded(state, state->plan->inputs ? cpu_restore : cpu->loaded, error);
}

static sel_status cpu_restart(sel_state *state, sel_error *error) {
    sel_state_reset(state, 0);
    return cpu_of(state->plan)->start(state, error);
}

static sel_status cpu_start(sel_state *state, sel_request *request, sel_error *error) {
    request->unobserved = sel_state_misses(state, request);
    if (request->unobserved) {
        return SEL_OK;
    }
    return sel_look_at(&cpu_of(state->plan)->look, state, request, error);
}

static sel_status cpu_finish(sel_state *state, sel_request *request, sel_error *error) {
    (void)state, (void)request, (void)error; /* answered when it was started */
    return SEL_OK;
}

static void cpu_describe(int device, char *text, size_t size) {
    (void)device;
    char model[128];
    sel_machine_processor(model, sizeof model);
    snprintf(text, size, "%s, %s", model, sel_level_name());
}

const sel_backend sel_cpu_backend = {
    .name = "cpu",
    .probe = probe,
    .bandwidth = bandwidth,
    .estimate = cpu_estimate,
    .create = cpu_create,
    .advance = cpu_advance,
    .ending = sel_state_ending,
    .whole = sel_state_whole,
    .clock = cpu_clock_of,
    .start = cpu_start,
    .finish = cpu_finish,
    .loaded = cpu_loaded,
    .restart = cpu_restart,
    .destroy = cpu_destroy,
    .device = cpu_describe,
};
