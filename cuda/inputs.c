/* inputs.c -- lay out the inputs that vary, evaluate them or send them, explain faults. */
#include "cuda/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/solver.h"

enum { BUFFERS = 4 };

typedef struct cuda_inputs {
    cuda_terms terms;
    cuda_input program[SEL_MOST_INPUTS];
    int programs;
    unsigned sites, source; /* what those depend on that the host evaluates */
    double *place;          /* [3][sites + 1], as in sel_surfaces */
    int64_t *order;
    double *known; /* on the host: the values that it sent last */
    cuda_feed value_feed, source_feed;
    cuda_module *module; /* of a source that is compiled */
} cuda_inputs;

static unsigned varies_with(const sel_input *input) {
    return sel_quantity_depends(input->quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
}

/* ---- memory ---- */

void cuda_inputs_list(sel_state *state) {
    const sel_inputs *plan = state->plan->inputs;
    sel_arrays *arrays = &state->arrays;
    cuda_inputs *inputs = plan && plan->depends ? calloc(1, sizeof *inputs) : NULL;
    if (!inputs || !cuda_terms_open(&inputs->terms, plan->domain)) {
        arrays->failed |= plan && plan->depends;
        free(inputs);
        return;
    }
    state->inputs = inputs;
    for (int k = 0; k < plan->count; k++) {
        const sel_input *input = &plan->v[k];
        cuda_input *program = &inputs->program[inputs->programs];
        if (varies_with(input) && cuda_terms_take(&inputs->terms, input->quantity,
                                                  CUDA_FILL_THREADS, &program->in.term)) {
            program->in.term.number = k;
            inputs->programs++;
        } else {
            *(input->region ? &inputs->sites : &inputs->source) |= varies_with(input);
        }
    }
    cuda_terms_list(&inputs->terms, arrays);
    SEL_ADD_COPY(arrays, inputs, place, 3 * (plan->surfaces.sites.count + 1),
                 plan->surfaces.place[0]);
    SEL_ADD_COPY(arrays, inputs, order, plan->surfaces.sites.count, plan->surfaces.order);
    SEL_ADD(arrays, inputs, known, plan->values * plan->surfaces.sites.count, SEL_ON_HOST);
}

void cuda_inputs_close(sel_state *state) {
    cuda_inputs *inputs = state->inputs;
    if (inputs) {
        cuda_terms_close(&inputs->terms);
        cuda_feed_close(&inputs->value_feed);
        cuda_feed_close(&inputs->source_feed);
        cuda_module_free(inputs->module);
    }
    free(inputs);
}

/* Describes an input to its kernel. */
static sel_status inputs_describe(const sel_state *state, cuda_input *to, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    const sel_inputs *plan = state->plan->inputs;
    const sel_input *input = &plan->v[to->in.term.number];
    const int64_t *first = &plan->surfaces.first_of[input->region];
    const sel_layout source = sel_state_own_faces(state, &plan->source);
    to->in = (cuda_fill){.term = to->in.term,
                         .ahead = input->ahead,
                         .least = input->not_negative ? 0 : -HUGE_VAL,
                         .most = HUGE_VAL,
                         .factor = 1,
                         .to = input->region ? NULL : state->given.source,
                         .pitch = source.pitch,
                         .slice = source.slice};
    to->which = input->which;
    to->values = plan->values;
    to->count = first[1] - first[0];
    for (int a = 0; a < 3; a++) {
        to->place[a] = inputs->place + a * (plan->surfaces.sites.count + 1) + first[0];
    }
    to->order = inputs->order + first[0];
    to->value = state->given.value;
    return cuda_fill_open(&to->in, &inputs->terms, input->quantity, state, &inputs->module, error);
}

sel_status cuda_inputs_start(sel_state *state, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    state->queue->timeless = !inputs;
    if (!inputs) {
        return SEL_OK;
    }
    const size_t sites = (size_t)state->plan->inputs->surfaces.sites.count;
    const size_t bytes = (size_t)state->plan->inputs->values * sites * sizeof(double);
    sel_status status = cuda_terms_start(&inputs->terms, error);
    for (int k = 0; k < inputs->programs && !status; k++) {
        status = inputs_describe(state, &inputs->program[k], error);
    }
    if (!status && inputs->sites) {
        memcpy(inputs->known, state->plan->inputs->value, bytes);
        status = cuda_feed_open(&inputs->value_feed, state->given.value, bytes, BUFFERS, error);
    }
    if (!status && inputs->source) {
        const sel_layout own = sel_state_own_faces(state, &state->plan->inputs->source);
        const int64_t size = state->field[0].type.size;
        status =
            cuda_feed_open(&inputs->source_feed, (char *)state->given.source - own.before * size,
                           (uint64_t)(own.count * size), BUFFERS, error);
    }
    return status;
}

/* ---- steps ---- */

bool cuda_inputs_alone(const sel_state *state) {
    return state->inputs && (state->inputs->sites | state->inputs->source) & SEL_ON_T;
}

const int64_t *cuda_inputs_halted(const sel_state *state) {
    return state->inputs ? state->inputs->terms.halted : NULL;
}

sel_status cuda_inputs_step(sel_state *state, unsigned on, int64_t step, sel_error *error) {
    const cuda_inputs *inputs = state->inputs;
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    bool any = inputs && inputs->sites & on;
    sel_status status = SEL_OK;
    for (int k = 0; inputs && k < inputs->programs && !status; k++) {
        cuda_input program = inputs->program[k];
        program.in.clock = cuda_queue_clock(state->queue, step);
        if (!(varies_with(&state->plan->inputs->v[program.in.term.number]) & on)) {
            continue;
        }
        any = true;
        if (program.in.to) {
            status = cuda_fill_enqueue(&program.in, state->queue->stream, error);
        } else {
            CUDA_TRY(cuda_input_evaluate(&program, state->queue->stream));
        }
    }
    return any && solver->derive && !status ? solver->derive(state, step, error) : status;
}

static sel_status inputs_send_values(sel_state *state, unsigned due, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    void *pinned;
    sel_status status =
        sel_inputs_evaluate(state->plan->inputs, due, state->step, NULL, inputs->known, error);
    status = status ? status : cuda_feed_next(&inputs->value_feed, &pinned, error);
    if (status) {
        return status;
    }
    memcpy(pinned, inputs->known, inputs->value_feed.bytes);
    return cuda_feed_send(&inputs->value_feed, state->queue->stream, error);
}

static sel_status send_source(sel_state *state, sel_error *error) {
    cuda_feed *feed = &state->inputs->source_feed;
    const sel_layout own = sel_state_own_faces(state, &state->plan->inputs->source);
    const int64_t before = own.before * state->field[0].type.size;
    void *pinned;
    sel_status status = cuda_feed_next(feed, &pinned, error);
    status = status ? status : sel_inputs_fill(state, state->step, (char *)pinned + before, error);
    return status ? status : cuda_feed_send(feed, state->queue->stream, error);
}

sel_status cuda_inputs_terms(sel_state *state, unsigned due, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    if (!inputs) {
        return SEL_OK;
    }
    sel_status status = cuda_terms_set_controls(&inputs->terms, state, due, error);
    if (!status && inputs->sites & due) {
        status = inputs_send_values(state, due, error);
    }
    if (!status && inputs->source & due) {
        status = send_source(state, error);
    }
    return status || !(due & SEL_ON_CONTROLS)
               ? status
               : cuda_inputs_step(state, SEL_ON_CONTROLS, state->step, error);
}

sel_status cuda_inputs_loaded(sel_state *state, sel_error *error) {
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    sel_status status = SEL_OK;
    state->observed = -1; /* the copy of the step before the present one is not saved */
    if (state->inputs && state->step > 0) {
        state->step--;
        status = cuda_inputs_terms(state, SEL_ON_T | SEL_ON_CONTROLS, error);
        status = status ? status : cuda_inputs_step(state, SEL_ON_T, state->step, error);
        state->step++;
    }
    /* The reference of the checkpoint may be another than that of the start. */
    return status || !solver->derive ? status : solver->derive(state, state->step, error);
}

/* ---- faults ---- */

/* The host's error at the place that failed. */
sel_status cuda_inputs_check(sel_state *state, int64_t step, sel_error *error) {
    const sel_inputs *plan = state->plan->inputs;
    cuda_term_fault fault;
    double place[3];
    if (!state->inputs || !cuda_terms_failed(&state->inputs->terms, step, &fault)) {
        return SEL_OK;
    }
    const sel_input *input = &plan->v[fault.number];
    sel_status status = sel_input_try(plan, input, fault.place, fault.step, place, error);
    const sel_places at = sel_domain_at(plan->domain, 1, place, place + 1, place + 2,
                                        sel_input_time(plan, input, fault.step));
    sel_state_go_to(state, state->step > fault.step ? fault.step : state->step);
    return status ? status : cuda_term_unknown(input->quantity, input->what, &at, error);
}
