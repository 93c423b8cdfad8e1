/* inputs.c -- lay out the inputs that vary, evaluate them or send them, explain faults. */
#include "cuda/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/solver.h"
#include "engine/core/collectives.h"

enum { BUFFERS = 4, FIELD_BUFFERS = 2, MOST_THREADS = 128, LEAST_THREADS = 32 };

/* Launches: of what varies in time; of what varies by controls only. */
enum { IN_TIME, BY_CONTROLS, LAUNCHES };

/* An input in cells that varies. */
typedef struct cuda_input_field {
    int number;     /* in the list of the plan */
    bool by_host;   /* it is sent, */
    bool is_ahead;  /* a kernel of the solver fills it for the next of steps that are together */
    cuda_feed feed; /* of the whole memory that `cells` has for it; */
    cuda_fill fill; /* or a kernel fills it */
    cuda_module *module; /* compiled; or NULL */
} cuda_input_field;

typedef struct cuda_inputs {
    cuda_terms terms;
    int count;         /* of inputs that vary, but for those in cells */
    cuda_input *v;     /* on the host, */
    cuda_input *table; /* and on the device */
    int64_t *first_block[LAUNCHES];
    cuda_inputs_launch launch[LAUNCHES];
    int threads; /* of a block, and the bytes of their registers */
    size_t shared_bytes;
    cuda_feed feed; /* of values from the host */
    int fields;
    cuda_input_field *field;
    unsigned by_host;  /* what those depend on that the host evaluates, */
    unsigned in_cells; /* and those in cells */
    bool divided;      /* one that kernels evaluate may fail on one rank only; */
    bool joins;        /* the ranks join before the step, not beside it */
} cuda_inputs;

static const sel_input *input_of(const sel_state *state, const cuda_input *input) {
    return &state->listed->v[input->number];
}

static bool is_by_host(const cuda_input *input) {
    return input->term.programs == 0;
}

/* Steps whose values are kept. */
static int64_t copies_of(const sel_state *state) {
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    return solver->copies ? solver->copies(state) : 1;
}

/* ---- choosing ---- */

/* Places of an input in the patch, also where one process lists those of the grid to estimate the
 * memory of a rank. */
static int64_t inputs_places_of(const sel_state *state, const sel_input *input) {
    const sel_inputs *plan = state->listed;
    const int64_t nx = plan->domain->grid.n[0];
    int64_t count = 0;
    if (state->ranks->count == 1 || plan->domain->ranks || plan != state->plan->inputs) {
        return input->count;
    }
    for (int64_t k = 0; k < input->count; k++) {
        count += sel_state_has(state, plan->cell(plan, input->first + k) / nx);
    }
    return count;
}

static void inputs_choose(const sel_state *state, const sel_input *input, int number) {
    cuda_inputs *inputs = state->inputs;
    cuda_input *v = &inputs->v[inputs->count];
    const unsigned depends = sel_input_depends(input);
    if (!depends || (input->on_host && input->kind != SEL_INPUT_IN_CELLS)) {
        return;
    }
    if (input->kind == SEL_INPUT_IN_CELLS) {
        cuda_input_field *field = &inputs->field[inputs->fields++];
        field->number = number;
        field->by_host = input->on_host || !cuda_terms_take(&inputs->terms, input->quantity,
                                                            CUDA_FILL_THREADS, &field->fill.term);
        field->fill.term.number = number;
        inputs->by_host |= field->by_host ? depends : 0;
        inputs->divided = inputs->divided || !field->by_host;
        inputs->in_cells |= depends;
        return;
    }
    const bool uniform = input->kind == SEL_INPUT_UNIFORM;
    *v = (cuda_input){.number = number,
                      .which = input->which,
                      .uniform = uniform,
                      .ahead = input->ahead,
                      .least = input->least,
                      .most = input->most,
                      .whole = input->whole,
                      .count = uniform ? 1 : inputs_places_of(state, input)};
    /* Ranks without a place know as well what the host has to evaluate, and whether one may fail.
     */
    if (!cuda_terms_take(&inputs->terms, input->quantity, LEAST_THREADS, &v->term)) {
        inputs->by_host |= depends;
    } else if (!uniform) {
        inputs->divided = true;
    }
    inputs->count += v->count > 0;
}

/* One launch takes all: as many threads as the registers of each allow. */
static void inputs_share_threads(cuda_inputs *inputs) {
    for (inputs->threads = MOST_THREADS; inputs->threads >= LEAST_THREADS; inputs->threads /= 2) {
        inputs->shared_bytes = 0;
        for (int k = 0; k < inputs->count; k++) {
            const size_t bytes = cuda_term_bytes(&inputs->v[k].term, inputs->threads);
            inputs->shared_bytes = bytes > inputs->shared_bytes ? bytes : inputs->shared_bytes;
        }
        if (inputs->shared_bytes <= CUDA_TERM_SHARED) {
            break;
        }
    }
    for (int k = 0; k < inputs->count; k++) {
        inputs->v[k].blocks = (inputs->v[k].count + inputs->threads - 1) / inputs->threads;
    }
}

void cuda_inputs_open(sel_state *state) {
    const sel_inputs *plan = state->listed;
    cuda_inputs *inputs = plan && plan->depends ? calloc(1, sizeof *inputs) : NULL;
    cuda_input *v = inputs ? calloc((size_t)plan->count + 1, sizeof *v) : NULL;
    cuda_input_field *field = inputs ? calloc((size_t)plan->count + 1, sizeof *field) : NULL;
    if (!v || !field || !cuda_terms_open(&inputs->terms, plan->domain)) {
        state->arrays.failed |= plan && plan->depends;
        free(inputs);
        free(v);
        free(field);
        return;
    }
    inputs->terms.follows = plan->clock && state->plan->dt_steps > 0;
    inputs->v = v;
    inputs->field = field;
    state->inputs = inputs;
    for (int k = 0; k < plan->count; k++) {
        inputs_choose(state, &plan->v[k], k);
    }
    inputs_share_threads(inputs);
    /* Also a rank without places takes part where ranks join. */
    if (!inputs->by_host && !inputs->divided && inputs->count + inputs->fields == 0) {
        cuda_inputs_close(state);
        state->inputs = NULL;
    }
}

bool cuda_inputs_are_programs(const sel_state *state) {
    const cuda_inputs *inputs = state->inputs;
    return inputs && !(inputs->by_host & SEL_ON_T) && !inputs->in_cells;
}

void cuda_inputs_close(sel_state *state) {
    cuda_inputs *inputs = state->inputs;
    if (inputs) {
        cuda_terms_close(&inputs->terms);
        cuda_feed_close(&inputs->feed);
        for (int k = 0; k < inputs->fields; k++) {
            cuda_feed_close(&inputs->field[k].feed);
            cuda_module_free(inputs->field[k].module);
        }
        free(inputs->field);
        free(inputs->v);
    }
    free(inputs);
}

/* ---- memory ---- */

/* The places of an input, and the values from the host. */
static void inputs_list_places(const sel_inputs *plan, const sel_input *input, cuda_input *v,
                               sel_arrays *arrays) {
    const int64_t n = v->uniform ? 0 : v->count, placed = is_by_host(v) ? 0 : n;
    for (int a = 0; a < 3; a++) {
        const double *from = plan->place[a] ? plan->place[a] + input->first : NULL;
        SEL_ADD_COPY(arrays, v, place[a], from ? placed : 0, from);
    }
    SEL_ADD_COPY(arrays, v, target, plan->target ? n : 0, plan->target + input->first);
    SEL_ADD_COPY(arrays, v, detail, plan->detail ? n : 0, plan->detail + input->first);
    SEL_ADD(arrays, v, given, is_by_host(v) ? v->count * v->term.components : 0, 0);
}

void cuda_inputs_list(sel_state *state) {
    cuda_inputs *inputs = state->inputs;
    sel_arrays *arrays = &state->arrays;
    if (!inputs) {
        return;
    }
    cuda_terms_list(&inputs->terms, arrays);
    for (int k = 0; k < inputs->count; k++) {
        inputs_list_places(state->listed, input_of(state, &inputs->v[k]), &inputs->v[k], arrays);
    }
    SEL_ADD(arrays, inputs, table, inputs->count, 0);
    SEL_ADD(arrays, inputs, first_block[IN_TIME], inputs->count + 1, 0);
    SEL_ADD(arrays, inputs, first_block[BY_CONTROLS], inputs->count + 1, 0);
}

/* ---- the start ---- */

static sel_status inputs_start_launch(sel_state *state, int which, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    const size_t bytes = (size_t)(inputs->count + 1) * sizeof(int64_t);
    int64_t *first = calloc(1, bytes);
    if (!first) {
        return sel_fail_memory(error, "the laws", bytes);
    }
    for (int k = 0; k < inputs->count; k++) {
        const bool in_time = sel_input_depends(input_of(state, &inputs->v[k])) & SEL_ON_T;
        first[k + 1] = first[k] + (in_time == (which == IN_TIME) ? inputs->v[k].blocks : 0);
    }
    inputs->launch[which] = (cuda_inputs_launch){.terms = cuda_terms_see(&inputs->terms),
                                                 .inputs = inputs->table,
                                                 .first_block = inputs->first_block[which],
                                                 .count = inputs->count,
                                                 .threads = inputs->threads,
                                                 .blocks = first[inputs->count],
                                                 .shared_bytes = inputs->shared_bytes,
                                                 .dt = state->plan->domain->grid.dt};
    const sel_status status = cuda_send(inputs->first_block[which], first, bytes, error);
    free(first);
    return status;
}

/* Pinned memory for the most values that the host sends at a time. */
static sel_status inputs_open_feed(cuda_inputs *inputs, sel_error *error) {
    int64_t most = 0;
    for (int k = 0; k < inputs->count; k++) {
        const int64_t numbers = inputs->v[k].count * inputs->v[k].term.components;
        most = is_by_host(&inputs->v[k]) && numbers > most ? numbers : most;
    }
    const uint64_t bytes = (uint64_t)most * sizeof(double);
    return most > 0 ? cuda_feed_open(&inputs->feed, NULL, bytes, BUFFERS, error) : SEL_OK;
}

/* sel_input_cells_of */
static sel_input_cells inputs_cells(const sel_state *state, const sel_input *input) {
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    return solver->cells ? solver->cells(state, input) : sel_given_cells(state, input);
}

/* The memory that the rank has for an input in cells. */
static char *inputs_memory(const sel_input_cells *cells, uint64_t *bytes) {
    const int64_t size = cells->type.size;
    *bytes = (uint64_t)(cells->layout.count * size);
    return (char *)cells->to - cells->layout.before * size;
}

static sel_status inputs_start_field(sel_state *state, cuda_input_field *field, sel_error *error) {
    const sel_input *input = &state->listed->v[field->number];
    const sel_input_cells cells = inputs_cells(state, input);
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    const bool real = cells.type.kind == 'f', small = cells.type.size == 4;
    if (field->by_host) {
        uint64_t bytes;
        char *memory = inputs_memory(&cells, &bytes);
        const int buffers = sel_input_depends(input) & SEL_ON_T ? FIELD_BUFFERS : 1;
        return cuda_feed_open(&field->feed, memory, bytes, buffers, error);
    }
    field->fill = (cuda_fill){.term = field->fill.term,
                              .ahead = input->ahead,
                              .least = input->least,
                              .most = input->most,
                              .factor = cells.factor,
                              .unit = cells.unit != 0 ? cells.unit : 1,
                              .near = cells.vicinity != NULL,
                              .whole = input->whole,
                              .everywhere = input->everywhere,
                              .to = cells.to,
                              .kind = real    ? small ? CUDA_F32 : CUDA_F64
                                      : small ? CUDA_I32
                                              : CUDA_U8,
                              .part = cells.part,
                              .pitch = cells.layout.pitch,
                              .slice = cells.layout.slice,
                              .component = cells.layout.component,
                              .beside = solver->beside ? solver->beside(state, input) : NULL};
    if (cells.vicinity) {
        field->fill.vicinity = *cells.vicinity;
    }
    return cuda_fill_open(&field->fill, &state->inputs->terms, input->quantity, state,
                          &field->module, error);
}

sel_status cuda_inputs_start(sel_state *state, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    state->queue->timeless = !inputs && solver->timeless;
    if (!inputs) {
        return SEL_OK;
    }
    /* Where values are evaluated ahead, ranks join once for many steps; and what a step adds to
     * sums cannot be undone. */
    const bool before =
        copies_of(state) > 1 || (solver->joins_before && solver->joins_before(state));
    inputs->joins = inputs->divided && before && state->ranks->count > 1;
    state->queue->halts = inputs->joins ? NULL : inputs->terms.halted;
    sel_status status = cuda_terms_start(&inputs->terms, error);
    status = status ? status : inputs_open_feed(inputs, error);
    for (int which = 0; which < LAUNCHES && !status; which++) {
        status = inputs_start_launch(state, which, error);
    }
    status = status ? status
                    : cuda_send(inputs->table, inputs->v, (size_t)inputs->count * sizeof *inputs->v,
                                error);
    for (int k = 0; k < inputs->fields && !status; k++) {
        status = inputs_start_field(state, &inputs->field[k], error);
    }
    return status;
}

/* ---- steps ---- */

sel_status cuda_inputs_hand_over(sel_state *state, int number, const char *name,
                                 cuda_kernel **kernel, const cuda_fill **fill, sel_error *error) {
    const cuda_inputs *inputs = state->inputs;
    sel_status status = SEL_OK;
    *kernel = NULL;
    *fill = NULL;
    for (int k = 0; inputs && k < inputs->fields && !status; k++) {
        cuda_input_field *field = &inputs->field[k];
        if (field->number == number && field->fill.kernel && field->fill.beside) {
            *fill = &field->fill;
            field->is_ahead = true;
            status = cuda_module_kernel(field->module, name, kernel, error);
        }
    }
    return status;
}

bool cuda_inputs_alone(const sel_state *state) {
    const cuda_inputs *inputs = state->inputs;
    return inputs && inputs->by_host & SEL_ON_T;
}

const int64_t *cuda_inputs_halted(const sel_state *state) {
    return state->inputs ? state->inputs->terms.halted : NULL;
}

static sel_status inputs_launch(sel_state *state, int which, int64_t step, int64_t steps,
                                sel_error *error) {
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    cuda_inputs_launch launch = state->inputs->launch[which];
    launch.clock = cuda_queue_clock(state->queue, step);
    launch.steps = steps;
    if (launch.blocks == 0) {
        return SEL_OK;
    }
    if (solver->store) {
        CUDA_TRY(solver->store(&launch, solver->store_view(state), state->queue->stream));
        return SEL_OK;
    }
    const sel_state_surfaces on = sel_state_find_surfaces(state);
    const cuda_given_view given = {.value = state->given.value,
                                   .first = on.sites[0],
                                   .end = on.sites[1],
                                   .values = state->listed->values};
    CUDA_TRY(cuda_given_run(&launch, &given, state->queue->stream));
    return SEL_OK;
}

/* The step in which a value is missing becomes that of all ranks, where they join before it. */
static sel_status inputs_join(sel_state *state, sel_error *error) {
    const cuda_inputs *inputs = state->inputs;
    return inputs->joins ? cuda_link_least(state, inputs->terms.halted, state->queue->stream, error)
                         : SEL_OK;
}

/* What follows from values that are new. */
static sel_status inputs_derive(sel_state *state, bool any, int64_t step, sel_error *error) {
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    return any && solver->derive ? solver->derive(state, step, error) : SEL_OK;
}

/* Enqueues the fields that kernels fill and that depend on `on`, of SEL_ON_T and SEL_ON_CONTROLS.
 */
static sel_status inputs_fill(sel_state *state, unsigned on, int64_t step, bool *any,
                              sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    sel_status status = SEL_OK;
    for (int k = 0; k < inputs->fields && !status; k++) {
        cuda_input_field *field = &inputs->field[k];
        const unsigned depends = sel_input_depends(&state->listed->v[field->number]);
        const bool in_time = depends & SEL_ON_T;
        const bool is_filled = field->is_ahead && step > state->queue->first;
        if (!field->by_host && !is_filled && in_time == (on == SEL_ON_T)) {
            field->fill.clock = cuda_queue_clock(state->queue, step);
            status = cuda_fill_enqueue(&field->fill, state->queue->stream, error);
            *any = true;
        }
    }
    return status;
}

sel_status cuda_inputs_step(sel_state *state, int64_t step, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    const cuda_queue *queue = state->queue;
    bool any = true;
    if (!inputs || !(state->listed->depends & SEL_ON_T)) {
        return SEL_OK;
    }
    sel_status status = inputs_fill(state, SEL_ON_T, step, &any, error);
    const bool ahead = copies_of(state) > 1;
    if (!status && (!ahead || step == queue->first)) {
        status = inputs_launch(state, IN_TIME, step, ahead ? queue->until - step : 1, error);
        status = status ? status : inputs_join(state, error);
    }
    return status ? status : inputs_derive(state, any, step, error);
}

/* Sends the values of an input for the step to come. */
static sel_status inputs_send_values(sel_state *state, const cuda_input *input, sel_error *error) {
    cuda_feed *feed = &state->inputs->feed;
    const uint64_t bytes = (uint64_t)(input->count * input->term.components) * sizeof(double);
    void *pinned;
    sel_status status = cuda_feed_next(feed, &pinned, error);
    status = status ? status
                    : sel_input_evaluate(state->listed, input_of(state, input), state->step, 0,
                                         input->count, pinned, error);
    if (status) {
        return status;
    }
    CUDA_TRY(cudaMemcpyAsync((void *)(uintptr_t)input->given, pinned, bytes, cudaMemcpyHostToDevice,
                             state->queue->stream));
    return cuda_feed_sent(feed, state->queue->stream, error);
}

static sel_status inputs_send_field(sel_state *state, cuda_input_field *field, sel_error *error) {
    const sel_input *input = &state->listed->v[field->number];
    sel_input_cells cells = inputs_cells(state, input);
    void *pinned;
    sel_status status = cuda_feed_next(&field->feed, &pinned, error);
    cells.to = (char *)pinned + cells.layout.before * (int64_t)cells.type.size;
    status = status ? status : sel_input_fill(state, input, state->step, &cells, error);
    return status ? status : cuda_feed_send(&field->feed, state->queue->stream, error);
}

sel_status cuda_inputs_terms(sel_state *state, unsigned due, sel_error *error) {
    cuda_inputs *inputs = state->inputs;
    if (!inputs) {
        return SEL_OK;
    }
    sel_status status = cuda_terms_set_controls(&inputs->terms, state, due, error);
    for (int k = 0; k < inputs->fields && !status; k++) {
        cuda_input_field *field = &inputs->field[k];
        if (field->by_host && sel_input_depends(&state->listed->v[field->number]) & due) {
            status = inputs_send_field(state, field, error);
        }
    }
    for (int k = 0; k < inputs->count && !status; k++) {
        const cuda_input *input = &inputs->v[k];
        if (is_by_host(input) && sel_input_depends(input_of(state, input)) & due) {
            status = inputs_send_values(state, input, error);
        }
    }
    if (status || !(due & SEL_ON_CONTROLS)) {
        return status;
    }
    bool any = inputs->launch[BY_CONTROLS].blocks > 0;
    status = inputs_fill(state, SEL_ON_CONTROLS, state->step, &any, error);
    status =
        status ? status : inputs_launch(state, BY_CONTROLS, state->step, copies_of(state), error);
    status = status ? status : inputs_join(state, error);
    return status ? status : inputs_derive(state, any, state->step, error);
}

sel_status cuda_inputs_loaded(sel_state *state, sel_error *error) {
    const cuda_solver *solver = state->plan->simulation->solver->on_cuda;
    sel_status status = SEL_OK;
    if (state->inputs && state->step > 0) {
        state->step--;
        state->queue->first = state->step;
        state->queue->until = state->step + 1;
        status = cuda_inputs_terms(state, SEL_ON_T | SEL_ON_CONTROLS, error);
        status = status ? status : cuda_inputs_step(state, state->step, error);
        state->step++;
    }
    /* The reference of the checkpoint may be another than that of the start. */
    return status || !solver->derive ? status : solver->derive(state, state->step, error);
}

/* ---- faults ---- */

bool cuda_inputs_failed(const sel_state *state, int64_t step, int64_t *failed) {
    cuda_term_fault fault = {.step = step};
    const bool has = state->inputs && cuda_terms_failed(&state->inputs->terms, step, &fault);
    *failed = fault.step;
    return has;
}

/* The host's error: that of the first place that failed, since the blocks of a kernel come in any
 * order. */
sel_status cuda_inputs_check(sel_state *state, int64_t step, sel_error *error) {
    const sel_inputs *plan = state->listed;
    cuda_term_fault fault;
    double place[3] = {0};
    if (!state->inputs || !cuda_terms_failed(&state->inputs->terms, step, &fault)) {
        return SEL_OK;
    }
    const sel_input *input = &plan->v[fault.number];
    sel_status status = sel_inputs_fault(state, fault.step, inputs_cells, error);
    sel_input_try(plan, input, fault.place, fault.step, place, NULL);
    const sel_places at = sel_domain_at(plan->domain, 1, place, place + 1, place + 2,
                                        sel_input_time(plan, input, fault.step));
    sel_state_go_to(state, state->step > fault.step ? fault.step : state->step);
    return status ? status : cuda_term_unknown(input->quantity, input->what, &at, error);
}
