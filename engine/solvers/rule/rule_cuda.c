/* rule_cuda.c -- sel.rule on the device.
 *
 * Functions are printed (rule_print_cuda.c), compiled at run time and launched, after the
 * margins of what they look at are filled. The state of step 0 is made on the host, with arrays of
 * the same layout, and sent. Data and values of laws that vary are inputs (cuda/inputs.h). Values
 * that are the same in all cells the host computes some steps ahead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/rule/rule_kernels_cuda.h"
#include "engine/values/program.h"

enum { BUFFERS = 4 };

/* ---- memory ---- */

/* The most numbers that a derived field or dt.limit has in a cell. */
static int most_outputs(const rule_model *m) {
    int most = 0;
    for (int k = m->rules; k < m->functions; k++) {
        const int outputs = m->function[k].code->layout.outputs;
        most = outputs > most ? outputs : most;
    }
    return most;
}

static void rule_cuda_list(sel_state *base) {
    rule_cuda *state = (rule_cuda *)base;
    sel_arrays *arrays = &base->arrays;
    const sel_domain *domain = base->plan->domain;
    state->first_array = arrays->count;
    rule_list(base, base->ranks->count > 1 ? rule_march_steps(base) : 0);
    state->end_array = arrays->count;
    const rule_model *m = state->all.model;
    SEL_ADD(arrays, state, fixed, m->slots, SEL_ON_HOST);
    SEL_ADD(arrays, state, kept, domain->control_count + 1, SEL_ON_HOST);
    SEL_ADD(arrays, state, tables, 1, 0);
    SEL_ADD(arrays, state, uniform, CUDA_STEPS * m->uniforms + 1, 0);
    SEL_ADD(arrays, state, found, 1, 0);
    sel_layout numbers = *rule_layout(&state->all);
    numbers.components = most_outputs(m);
    numbers.count = numbers.components * numbers.component;
    sel_arrays_add_patch(arrays, "numbers", &state->numbers, SEL_TYPE_OF(*state->numbers), &numbers,
                         0);
    bool packed = cuda_terms_open(&state->terms, domain);
    for (int k = 0; k < m->functions && packed; k++) {
        packed = sel_pack_add(state->terms.pack, m->function[k].code) == k;
    }
    if (packed) {
        cuda_terms_list(&state->terms, arrays);
    }
    arrays->failed |= !packed;
}

static void rule_cuda_close(sel_state *base) {
    rule_cuda *state = (rule_cuda *)base;
    cuda_terms_close(&state->terms);
    cuda_module_free(state->module);
    free(state->kernel);
    cuda_feed_close(&state->rows);
}

/* ---- the start ---- */

static void rule_free_first(rule_state *first) {
    if (first) {
        sel_state_end(&first->base);
    }
    free(first);
}

/* The state of step 0 on the host, of which the caller frees *made. */
static sel_status rule_make_first(const sel_state *base, rule_state **made, sel_error *error) {
    rule_state *first = *made = calloc(1, sizeof *first);
    sel_status status = first ? SEL_OK : sel_fail_memory(error, "the fields", sizeof *first);
    if (first) {
        sel_state_begin(&first->base, base->plan);
        rule_list(&first->base, base->field[0].halo);
        status = sel_state_allocate(&first->base, "the fields", error);
    }
    status = sel_state_agree(base, status, error);
    return status ? status : rule_start(&first->base, error);
}

/* Sends all its arrays. */
static sel_status rule_send_first(const rule_cuda *state, const rule_state *first,
                                  sel_error *error) {
    const sel_arrays *arrays = &state->all.base.arrays;
    for (int k = state->first_array; k < state->end_array; k++) {
        const sel_array *array = &arrays->v[k];
        const char *from = (const char *)first + ((const char *)array->place - (const char *)state);
        if (!(array->flags & SEL_ON_HOST)) {
            CUDA_TRY(cudaMemcpyAsync(sel_arrays_memory(arrays, array->place),
                                     sel_arrays_memory(&first->base.arrays, from),
                                     (size_t)array->count * array->type.size,
                                     cudaMemcpyHostToDevice, state->all.base.queue->stream));
        }
    }
    return SEL_OK;
}

/* The tables of the first state, of arrays on the device. */
static sel_status send_tables(const rule_cuda *state, const rule_state *first, sel_error *error) {
    const rule_bad none = {.when = INT64_MAX};
    rule_tables tables = first->tables;
    memcpy(tables.at, state->all.tables.at, sizeof tables.at);
    memcpy(tables.law, state->all.tables.law, sizeof tables.law);
    tables.run = state->all.tables.run;
    sel_status status = cuda_send(state->tables, &tables, sizeof tables, error);
    return status ? status : cuda_send(state->found, &none, sizeof none, error);
}

static sel_status start_kernels(rule_cuda *state, sel_error *error) {
    const rule_model *m = state->all.model;
    const sel_plan *plan = &state->all.plan->base;
    const rule_march *march = state->marches ? &state->march : NULL;
    char *text = NULL, name[24];
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (to) {
        rule_print(m, plan->domain->grid.dt, plan->depends, march, to);
        fclose(to);
    }
    const cuda_text given = {.text = text, .name = "the rule"};
    state->kernel = calloc((size_t)m->functions, sizeof(cuda_kernel *));
    sel_status status = to && text && state->kernel
                            ? cuda_module_compile(&given, plan->device, &state->module, error)
                            : sel_fail_memory(error, "the rules", length);
    free(text);
    status = status || state->module ? status : cuda_compiler_find(error);
    for (int k = 0; k < m->functions && !status; k++) {
        snprintf(name, sizeof name, "function_%d", k);
        status = cuda_module_kernel(state->module, name, &state->kernel[k], error);
    }
    for (int k = 0; k < 2 && march && !status; k++) {
        status = cuda_module_kernel(state->module, k ? "march_inner" : "march_border",
                                    &state->march_kernel[k], error);
    }
    return status;
}

/* What the values vary with that are the same in all cells; whether steps read the clock. */
static sel_status start_uniforms(rule_cuda *state, sel_error *error) {
    const rule_model *m = state->all.model;
    bool reads = false;
    for (int k = 0; k < m->rules; k++) {
        const sel_program *code = m->function[k].code;
        state->vary |= code->vary;
        reads = reads || code->reports || m->function[k].rule->depends & SEL_ON_STEP;
    }
    state->uniform_steps = state->vary & SEL_ON_T ? CUDA_STEPS : 1;
    state->all.base.queue->timeless =
        !reads && !(state->vary & SEL_ON_T) && !state->all.base.inputs;
    state->sent_dt = (double)NAN;
    return cuda_feed_open(&state->rows, state->uniform,
                          (uint64_t)(state->uniform_steps * m->uniforms + 1) * sizeof(double),
                          BUFFERS, error);
}

/* What kernels see of the inputs' values. */
static void start_store(rule_cuda *state) {
    const rule_model *m = state->all.model;
    state->store.tables = state->tables;
    for (int e = 0; e < m->entries; e++) {
        state->store.first[e] = (uint8_t)m->entry[e].first;
        state->store.components[e] = (uint8_t)m->entry[e].components;
    }
}

static sel_status rule_cuda_start(sel_state *base, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    rule_state *first = NULL;
    sel_status status = rule_make_first(base, &first, error);
    if (!status) {
        state->marches = rule_march_of(first, &state->march);
        state->direct = rule_is_direct(first);
        state->holds = rule_holds_cells(first);
        state->all.kinds = first->kinds;
    }
    start_store(state);
    status = status ? status : rule_send_first(state, first, error);
    status = status ? status : send_tables(state, first, error);
    status = status ? status : cuda_terms_start(&state->terms, error);
    status = status ? status : start_uniforms(state, error);
    status = status ? status : start_kernels(state, error);
    cudaError_t sent = cudaStreamSynchronize(base->queue->stream);
    rule_free_first(first);
    if (!status) {
        CUDA_TRY(sent);
    }
    status = sel_state_agree(base, status, error);
    return status ? status : rule_start_sums(base, error);
}

/* ---- what varies in time ---- */

/* Fills the runs of a section. */
static sel_status rule_cuda_fill(const rule_cuda *state, int section, uint64_t fields,
                                 uint64_t turns, cudaStream_t stream, sel_error *error) {
    CUDA_TRY(rule_gpu_fill(state->tables, state->all.first_run[section],
                           state->all.first_run[section + 1], fields, turns, stream));
    return SEL_OK;
}

/* cuda_solver.store_view */
static const void *rule_cuda_store_view(sel_state *base) {
    return &((rule_cuda *)base)->store;
}

/* cuda_solver.derive: cells under laws, in both copies. */
static sel_status rule_cuda_derive(sel_state *base, int64_t step, sel_error *error) {
    const rule_cuda *state = (const rule_cuda *)base;
    const int64_t *runs = &state->all.first_run[RULE_IN_CELLS];
    const rule_filled_cells fill = {.tables = state->tables,
                                    .first = runs[0],
                                    .end = runs[1],
                                    .halted = cuda_inputs_halted(base),
                                    .clock = cuda_queue_clock(base->queue, step)};
    if (state->all.plan->law_depends & (SEL_ON_T | SEL_ON_CONTROLS)) {
        CUDA_TRY(rule_gpu_fill_cells(&fill, base->queue->stream));
    }
    return SEL_OK;
}

/* The uniform values of all functions for `count` steps to come. */
static sel_status rule_cuda_send_rows(rule_cuda *state, int64_t count, sel_error *error) {
    const rule_model *m = state->all.model;
    const sel_state *base = &state->all.base;
    void *rows;
    sel_status status = cuda_feed_next(&state->rows, &rows, error);
    for (int64_t s = 0; s < count && s < state->uniform_steps && !status; s++) {
        const int64_t step = base->step + s;
        double *row = (double *)rows + step % state->uniform_steps * m->uniforms;
        for (int k = 0; k < m->functions; k++) {
            const rule_function *f = &m->function[k];
            const sel_program *code = f->code;
            sel_packed_once(&code->tables, 0, sel_clock_time(&base->clock, step), base->clock.dt,
                            base->plan->domain->control_values, state->fixed);
            memcpy(row + f->first, state->fixed, (size_t)code->layout.uniforms * sizeof *row);
        }
    }
    state->sent_dt = base->clock.dt;
    return status ? status : cuda_feed_send(&state->rows, base->queue->stream, error);
}

static sel_status rule_cuda_terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    sel_status status = cuda_inputs_terms(base, due, error);
    const bool stale = state->vary & due || !(state->sent_dt == base->clock.dt);
    const bool any = state->all.model->uniforms > 0;
    return status || !stale || !any ? status : rule_cuda_send_rows(state, *count, error);
}

/* ---- functions ---- */

/* Margins beside other ranks, of passes those of any. */
static sel_status exchange_along(const sel_state *base, int axis, int64_t step, cudaStream_t stream,
                                 sel_error *error) {
    const rule_cuda *state = (const rule_cuda *)base;
    const rule_function *f = &state->all.model->function[state->now.function];
    const bool passes = state->now.steps > 1;
    sel_exchange what[SEL_MOST_CELL_FIELDS];
    sel_halo halos[SEL_MOST_HALOS];
    const int count =
        passes ? rule_list_exchanges(&state->all, f->writes, rule_turns(&state->all, step),
                                     state->now.steps, what)
               : rule_list_exchanges(&state->all, f->looks, state->now.turns,
                                     state->all.model->reach, what);
    const int listed = sel_state_list_halos(base, what, count, axis, halos);
    return cuda_exchange_halos(base, axis, halos, listed, stream, error);
}

/* cuda_fill_halos */
static sel_status rule_cuda_exchange(const sel_state *base, int64_t step, cudaStream_t stream,
                                     sel_error *error) {
    const rule_cuda *state = (const rule_cuda *)base;
    sel_status status = SEL_OK;
    if (sel_divides_planes(&base->decomposition)) {
        const uint64_t looks = state->all.model->function[state->now.function].looks;
        status = exchange_along(base, 1, step, stream, error);
        status = status ? status : rule_cuda_fill(state, 2, looks, state->now.turns, stream, error);
    }
    return status ? status : exchange_along(base, base->decomposition.slow, step, stream, error);
}

/* cuda_take_slab, of a function. */
static sel_status rule_cuda_take(sel_state *base, int64_t step, const cuda_slab *slab,
                                 sel_error *error) {
    static const unsigned threads[2] = {RULE_LANES, RULE_LANE_ROWS};
    const rule_cuda *state = (const rule_cuda *)base;
    const rule_model *m = state->all.model;
    const int k = state->now.function;
    const cuda_clock clock = cuda_queue_clock(base->queue, step);
    rule_view v = rule_view_of(&state->all, state->tables, k, &slab->planes, state->now.turns);
    v.numbers = state->numbers;
    v.uniform = state->uniform + m->function[k].first;
    v.uniform_steps = state->uniform_steps;
    v.uniform_apart = m->uniforms;
    v.packed = cuda_terms_see(&state->terms).packed;
    v.bad = state->found;
    v.alarm = base->queue->alarm;
    v.clock = clock.base;
    v.ahead = clock.offset;
    v.halted = cuda_inputs_halted(base);
    v.direct = state->direct;
    return cuda_kernel_launch(state->kernel[k], rule_blocks(&v, rule_shape_of(m, k)), threads, &v,
                              slab->on->stream, error);
}

/* Enqueues function k, after the margins of what it looks at. */
static sel_status run_function(rule_cuda *state, int k, int64_t step, uint64_t turns,
                               sel_error *error) {
    enum { RIM = 2 * RULE_LANE_ROWS };
    sel_state *base = &state->all.base;
    const rule_model *m = state->all.model;
    const uint64_t looks = m->function[k].looks;
    sel_status status = SEL_OK;
    state->now = (rule_now){k, 1, turns};
    /* Of boxes those along z come after the halos along y. */
    const int axes = sel_divides_planes(&base->decomposition) ? 2 : m->dims;
    for (int axis = 0; axis < axes && !state->direct && !status; axis++) {
        status = rule_cuda_fill(state, axis, looks, turns, base->queue->stream, error);
    }
    return status
               ? status
               : cuda_take_slabs(base, step, looks ? RIM : sel_patch_cells(&base->own, m->dims - 1),
                                 false, rule_cuda_exchange, rule_cuda_take, error);
}

static int64_t rule_cuda_pass(const sel_state *base, int64_t most) {
    const rule_cuda *state = (const rule_cuda *)base;
    const bool varies = base->plan->depends & SEL_ON_T;
    const bool marches =
        state->marches && !varies && !base->observing && most >= state->march.steps;
    return marches ? state->march.steps : 1;
}

static sel_status rule_cuda_step(sel_state *base, int64_t step, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    const rule_model *m = state->all.model;
    uint64_t turns = rule_turns(&state->all, step);
    if (base->queue->pass > 1) {
        state->now = (rule_now){0, state->march.steps, turns};
        return cuda_take_slabs(base, step, MARCH_LEAST_ROWS, false, rule_cuda_exchange,
                               rule_march_pass, error);
    }
    sel_status status = SEL_OK;
    if (base->queue->halts && base->ranks->count > 1) {
        /* Before any function writes in place: nobody could go back. */
        status = cuda_link_least(base, base->queue->halts, base->queue->stream, error);
    }
    for (int k = 0; k < m->rules && !status; k++) {
        status = run_function(state, k, step, turns, error);
        turns ^= m->function[k].turns;
    }
    return status;
}

/* Evaluates data and laws for the state that is read. Controls count as kept until a step takes
 * them. */
static sel_status evaluate_now(rule_cuda *state, sel_error *error) {
    sel_state *base = &state->all.base;
    const sel_domain *domain = base->plan->domain;
    const size_t bytes = (size_t)domain->control_count * sizeof(double);
    memcpy(state->kept, base->controls, bytes);
    sel_domain_due(domain, base->controls);
    sel_status status = cuda_inputs_terms(base, SEL_ON_T | SEL_ON_CONTROLS, error);
    status = status ? status : cuda_inputs_step(base, base->step, error);
    memcpy(base->controls, state->kept, bytes);
    state->read[base->step % RULE_READS] = base->step + 1;
    return status;
}

/* Before data are read, or with a function that is no rule, whose numbers it finds; the rows of
 * uniform values for the steps to come are sent again before these. */
static sel_status rule_cuda_ready(rule_cuda *state, int field, sel_error *error) {
    const rule_model *m = state->all.model;
    const sel_state *base = &state->all.base;
    const bool computed = field >= m->entries;
    sel_status status = base->inputs ? evaluate_now(state, error) : SEL_OK;
    if (computed && !status) {
        status = rule_cuda_send_rows(state, 1, error);
        state->sent_dt = (double)NAN;
    }
    status = sel_state_agree(base, status, error);
    if (status || !computed) {
        return status;
    }
    const int function = m->rules + field - m->entries;
    status = run_function(state, function, base->step, rule_turns(&state->all, base->step), error);
    if (!status && m->function[function].code->reports) {
        CUDA_TRY(cudaMemcpyAsync(base->queue->seen, base->queue->alarm, sizeof *base->queue->seen,
                                 cudaMemcpyDeviceToHost, base->queue->stream));
    }
    return status;
}

/* ---- reads and sums ---- */

static sel_status rule_cuda_look(sel_state *base, int field, const cuda_look **to,
                                 const void **view, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    const rule_model *m = state->all.model;
    const bool computed = field >= m->entries;
    const rule_entry *e = &m->entry[field < 0 || computed ? 0 : field], *main = &m->entry[m->main];
    sel_status status = field < m->states ? SEL_OK : rule_cuda_ready(state, field, error);
    state->view = (rule_gpu_look){
        .grid = cuda_grid_of(base),
        .tables = state->tables,
        .turns = rule_turns(&state->all, base->step),
        .first = rule_layout(&state->all)->origin,
        .pitch = rule_layout(&state->all)->pitch,
        .slice = rule_layout(&state->all)->slice,
        .output = rule_layout(&state->all)->component,
        .dims = m->dims,
        .numbers = computed ? state->numbers : NULL,
        .field = e->first,
        .components =
            computed ? m->function[m->rules + field - m->entries].rule->outputs : e->components,
        .main = main->first,
        .reals = m->reals};
    *to = rule_gpu_looks(main->components, m->solver.counts_changes);
    *view = &state->view;
    return status;
}

static sel_status rule_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    const rule_model *m = ((const rule_state *)base)->model;
    const sel_box all = sel_grid_box(&base->plan->domain->grid);
    const cuda_cells cells = cuda_cells_of(&all);
    const uint64_t each = sizeof(cuda_sums);
    const int count = rule_conserved_count(m);
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(base->queue, request, (uint64_t)count * each, 0, &slot, error);
    for (int k = 0; k < count && !status; k++) {
        int component;
        const int field = rule_conserved(m, k, &component);
        const cuda_look *with;
        const void *view;
        status = rule_cuda_look(base, field, &with, &view, error);
        if (!status) {
            const cuda_rows rows = cuda_rows_of(base, NULL);
            CUDA_TRY(with->reduce(view, field, &cells, &rows, base->queue->stream));
            status = cuda_slot_fetch(base->queue, slot, (uint64_t)k * each, base->queue->rows, each,
                                     error);
        }
    }
    return status;
}

static void rule_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    const rule_state *state = (const rule_state *)base;
    for (int k = 0; k < rule_conserved_count(state->model); k++) {
        rule_add_terms(state, k, ((const cuda_sums *)slot->host)[k].sum, request);
    }
}

/* ---- the rest ---- */

/* The first value that did not fit. */
static sel_status rule_cuda_check(sel_state *base, int64_t step, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    const rule_model *m = state->all.model;
    const uint64_t alarm = *(volatile const uint64_t *)base->queue->seen;
    rule_bad bad = {0};
    /* A step, or a function of the state before it that is no rule. */
    const bool steps = alarm != CUDA_NO_ALARM && (int64_t)alarm % m->functions < m->rules;
    /* Before a function of a step, or of a state that was read, come the values that it takes. */
    const bool read = state->read[step % RULE_READS] == step + 1;
    int64_t failed;
    if (cuda_inputs_failed(base, step + read, &failed) &&
        (alarm == CUDA_NO_ALARM || (int64_t)alarm / m->functions >= failed)) {
        return cuda_inputs_check(base, step + read, error);
    }
    if (alarm == CUDA_NO_ALARM || (int64_t)alarm / m->functions >= step + !steps) {
        return SEL_OK;
    }
    sel_status status = cuda_send(&bad, state->found, sizeof bad, error);
    if (!status) {
        state->all.bad.cell = bad.which / RULE_ODD;
        state->all.bad.field = bad.field;
        state->all.bad.value = bad.value;
        sel_state_go_to(base, bad.when / m->functions);
        status = rule_report_bad(&state->all, &m->function[bad.when % m->functions], error);
    }
    base->broken = base->broken || steps || !status;
    return status;
}

/* rule_hold_cells on the device: of all cells, since steps fill the others. */
static sel_status hold_cells(rule_cuda *state, sel_error *error) {
    const sel_state *base = &state->all.base;
    for (int f = 0; f < state->all.model->fields && state->holds; f++) {
        const sel_field *field = &base->field[f];
        if (field->copies == 2) {
            const int from = sel_copy_at(base, field, base->step);
            CUDA_TRY(cudaMemcpyAsync(sel_arrays_memory(&base->arrays, &field->at[!from]),
                                     sel_arrays_memory(&base->arrays, &field->at[from]),
                                     (size_t)field->layout.count * field->type.size,
                                     cudaMemcpyDeviceToDevice, base->queue->stream));
        }
    }
    return SEL_OK;
}

static sel_status rule_cuda_loaded(sel_state *base, sel_error *error) {
    rule_cuda *state = (rule_cuda *)base;
    state->sent_dt = (double)NAN;
    return hold_cells(state, error);
}

static void rule_cuda_print(const sel_plan *plan, FILE *to) {
    fprintf(to, "  kernels on a GPU:\n");
    rule_print(((const rule_plan *)plan)->model, plan->domain->grid.dt, plan->depends, NULL, to);
}

const cuda_solver rule_on_cuda = {
    .what = "the fields",
    .compiles = true,
    .state_size = sizeof(rule_cuda),
    .list = rule_cuda_list,
    .start = rule_cuda_start,
    .store = rule_gpu_store,
    .store_view = rule_cuda_store_view,
    .cells = rule_cells,
    .derive = rule_cuda_derive,
    .terms = rule_cuda_terms,
    .pass = rule_cuda_pass,
    .step = rule_cuda_step,
    .time_step = rule_time_step,
    .check = rule_cuda_check,
    .print = rule_cuda_print,
    .close = rule_cuda_close,
    .loaded = rule_cuda_loaded,
    .look = rule_cuda_look,
    .ask = rule_cuda_ask,
    .answer = rule_cuda_answer,
};
