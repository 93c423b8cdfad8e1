/* heat_cuda.c -- sel.heat on the device.
 *
 * A uniform 2-D body whose laws do not vary in time takes 7 or 8 steps per pass (heat_march.cu);
 * all else, and observed steps, one step (heat.cu). Laws and sources that are programs are
 * evaluated before each step where the kernels run; what only Lua can evaluate, the host sends.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/heat_gpu.h"
#include "cuda/machine/backend.h"
#include "engine/solvers/heat/heat.h"

enum { BUFFERS = 4, MOST_LAWS = 2 * SEL_REGION_NUMBERS, PLACES_AT_ONCE = 128 };

typedef struct heat_cuda {
    heat_state all;
    bool marches;
    march_device device;
    heat_gpu_sides sides;
    /* Laws that vary: number 2 region + which; 0: the source. */
    cuda_terms terms;
    heat_gpu_law law[MOST_LAWS];
    int laws;
    unsigned on[MOST_LAWS];       /* what they vary with */
    unsigned vary, source_varies; /* with what those that the host evaluates do */
    double *place[3];
    int64_t *order;
    cuda_feed sites, source;
    int64_t changes;                         /* of cells on surfaces */
    double *row_change, *cell_change, *sums; /* [2]: of these */
    heat_gpu_view view;
} heat_cuda;

static int64_t strips(const heat_plan *plan) {
    return heat_gpu_strips(plan->base.domain->grid.n[0], plan->base.precision == SEL_F32);
}

/* ---- memory ---- */

static void take_laws(heat_cuda *state) {
    const heat_plan *plan = state->all.plan;
    const unsigned in_time = SEL_ON_T | SEL_ON_CONTROLS;
    for (int k = 0; k < 2 * plan->base.domain->region_count + 2; k++) {
        const sel_quantity *q = k == 0  ? &plan->params->source
                                : k > 1 ? heat_law_value(plan, k / 2, k % 2)
                                        : NULL;
        const unsigned depends = k > 1    ? heat_law_depends(plan, k / 2, k % 2)
                                 : k == 0 ? sel_quantity_depends(q)
                                          : 0;
        heat_gpu_law *law = &state->law[state->laws];
        *law = (heat_gpu_law){.number = k, .which = k % 2};
        if (!(depends & in_time)) {
            continue;
        }
        if (cuda_terms_take(&state->terms, q, PLACES_AT_ONCE, &law->term)) {
            state->on[state->laws++] = depends;
        } else {
            *(k ? &state->vary : &state->source_varies) |= depends & in_time;
        }
    }
}

static void list(sel_state *base) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = (const heat_plan *)base->plan;
    const int64_t *n = plan->base.domain->grid.n, rows = sel_state_rows(base);
    sel_arrays *arrays = &base->arrays;
    state->marches = plan->base.domain->grid.dims == 2 && plan->kind != HEAT_VARIED &&
                     plan->steady_laws && n[0] >= MARCH_LEAST_COLUMNS &&
                     n[1] >= MARCH_LEAST_ROWS * base->blocks.count;
    state->all.halo = state->marches ? HEAT_PASS_F64 : 1;
    heat_list(base);
    const sel_type real = base->turns.type;
    const int64_t changes = plan->base.wants_mean_change ? 1 : 0;
    int64_t numbers = 0;
    for (int face = 0; face < 2 * plan->base.domain->grid.dims && plan->kind != HEAT_VARIED;
         face++) {
        state->sides.first[face] = numbers;
        state->sides.sites[face] = sel_face_sites(&plan->base.domain->grid, face);
        numbers += 2 * state->sides.sites[face];
    }
    sel_arrays_add(arrays, "sides", &state->sides.numbers, real, numbers, 0);
    if (cuda_terms_open(&state->terms, plan->base.domain)) {
        take_laws(state);
        cuda_terms_list(&state->terms, arrays);
    }
    SEL_ADD(arrays, state, place[0], plan->steady_laws ? 0 : plan->surfaces.sites, 0);
    SEL_ADD(arrays, state, place[1], plan->steady_laws ? 0 : plan->surfaces.sites, 0);
    SEL_ADD(arrays, state, place[2], plan->steady_laws ? 0 : plan->surfaces.sites, 0);
    SEL_ADD(arrays, state, order, plan->steady_laws ? 0 : plan->surfaces.sites, 0);
    SEL_ADD(arrays, state, row_change, changes * rows * strips(plan), 0);
    state->changes = plan->kind == HEAT_VARIED ? plan->surfaces.cells : numbers / 2;
    SEL_ADD(arrays, state, cell_change, changes * state->changes, 0);
    SEL_ADD(arrays, state, sums, 2, 0);
}

static void close(sel_state *base) {
    heat_cuda *state = (heat_cuda *)base;
    cuda_terms_close(&state->terms);
    cuda_feed_close(&state->sites);
    cuda_feed_close(&state->source);
    if (state->device.beside) {
        cudaStreamDestroy(state->device.beside);
        cudaEventDestroy(state->device.fork);
        cudaEventDestroy(state->device.join);
    }
}

static sel_status fits(const sel_plan *plan, sel_error *error) {
    const int64_t *n = plan->domain->grid.n;
    const double elements = (double)(n[0] + 32) * (double)(n[1] + 14) * (double)(n[2] + 2);
    return elements < 4294967295.0
               ? SEL_OK
               : sel_fail_at(error, sel_simulation_where(plan->simulation, "size"),
                             "a device takes at most 4.29e9 cells of sel.heat");
}

/* ---- a step of a block ---- */

static heat_gpu_step step_of(const heat_cuda *state, int64_t step, int b) {
    const heat_state *all = &state->all;
    heat_gpu_step s = {.view = heat_view_of(all, step, b),
                       .sides = state->sides,
                       .site = all->site,
                       .cell = all->cell,
                       .first_site = all->first_site,
                       .b = all->b,
                       .s = all->s,
                       .halted = all->plan->steady_laws ? NULL : state->terms.halted,
                       .clock = cuda_queue_clock(all->base.queue, step)};
    heat_surface_range(all, b, &s.first, &s.end);
    if (all->base.observing && state->row_change) {
        s.row_change = state->row_change;
        s.cell_change = state->cell_change;
        s.strips = (int)strips(all->plan);
    }
    return s;
}

/* b and s of all cells on surfaces. */
static sel_status set_surfaces(const heat_cuda *state, sel_error *error) {
    for (int b = 0; b < state->all.base.blocks.count; b++) {
        const heat_gpu_step s = step_of(state, 0, b);
        CUDA_TRY(heat_gpu_surfaces(&s, state->all.base.queue->stream));
    }
    return SEL_OK;
}

/* ---- the start ---- */

static sel_status start_march(heat_cuda *state, sel_error *error) {
    march_device *device = &state->device;
    device->stream = state->all.base.queue->stream;
    CUDA_TRY(cudaDeviceGetAttribute(&device->processors, cudaDevAttrMultiProcessorCount,
                                    state->all.plan->base.device));
    CUDA_TRY(cudaStreamCreateWithFlags(&device->beside, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&device->fork, cudaEventDisableTiming));
    CUDA_TRY(cudaEventCreateWithFlags(&device->join, cudaEventDisableTiming));
    return SEL_OK;
}

static sel_status start_laws(heat_cuda *state, sel_error *error) {
    const heat_plan *plan = state->all.plan;
    const sel_surfaces *on = &plan->surfaces;
    const size_t sites = (size_t)on->sites;
    const sel_grid *grid = &plan->base.domain->grid;
    sel_status status = cuda_terms_start(&state->terms, error);
    for (int a = 0; a < 3 && !status; a++) {
        status = cuda_send(state->place[a], on->place[a], sites * sizeof(double), error);
    }
    status = status ? status : cuda_send(state->order, on->order, sites * sizeof(int64_t), error);
    for (int k = 0; k < state->laws; k++) {
        heat_gpu_law *law = &state->law[k];
        const int r = law->number / 2;
        const int64_t first = r ? on->first_of[r] : 0;
        law->terms = cuda_terms_see(&state->terms);
        law->grid = *grid;
        law->view = heat_view_of(&state->all, 0, 0);
        law->count = r ? on->first_of[r + 1] - first : sel_grid_cells(grid);
        law->ahead = r ? heat_law_time(plan, r, 0) / grid->dt : 0;
        law->order = r ? state->order + first : NULL;
        law->site = state->all.site;
        law->solid = state->all.base.solid;
        for (int a = 0; a < 3; a++) {
            law->place[a] = state->place[a] + first;
        }
    }
    if (!status && state->vary) {
        status = cuda_feed_open(&state->sites, state->all.site, sites * sizeof *plan->site + 1,
                                BUFFERS, error);
    }
    if (!status && state->source_varies) {
        status = cuda_feed_open(&state->source, state->all.q, heat_coefficient_bytes(&state->all),
                                BUFFERS, error);
    }
    return status;
}

static sel_status start(sel_state *base, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = state->all.plan;
    sel_status status = heat_start(base, error);
    base->queue->timeless = plan->steady_laws;
    status = status ? status : set_surfaces(state, error);
    if (!status && state->marches) {
        status = start_march(state, error);
    }
    return status || plan->steady_laws ? status : start_laws(state, error);
}

/* ---- steps ---- */

static bool alone(const sel_state *base) {
    const heat_cuda *state = (const heat_cuda *)base;
    return (state->vary | state->source_varies) & SEL_ON_T;
}

static int64_t pass(const sel_state *base, int64_t most) {
    const heat_cuda *state = (const heat_cuda *)base;
    const int whole = base->plan->precision == SEL_F32 ? HEAT_PASS_F32 : HEAT_PASS_F64;
    return !state->marches || base->observing || most < 3 ? 1 : most < whole ? 3 : whole;
}

/* Evaluates, where kernels run, what depends on any of `on`, and b and s. */
static sel_status evaluate_laws(heat_cuda *state, unsigned on, int64_t step, sel_error *error) {
    const heat_state *all = &state->all;
    cudaStream_t stream = all->base.queue->stream;
    bool any = state->vary & on;
    for (int k = 0; k < state->laws; k++) {
        heat_gpu_law law = state->law[k];
        law.clock = cuda_queue_clock(all->base.queue, step);
        if (state->on[k] & on) {
            any = true;
            CUDA_TRY(heat_gpu_evaluate(&law, stream));
        }
    }
    return any ? set_surfaces(state, error) : SEL_OK;
}

/* What varies by controls, and what the host evaluates, for the next step. */
static sel_status terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = state->all.plan;
    cuda_queue *queue = base->queue;
    const bool changed = due & SEL_ON_CONTROLS && !plan->steady_laws;
    void *pinned;
    (void)count;
    sel_status status =
        changed ? cuda_terms_set_controls(&state->terms, base->controls, queue->stream, error)
                : SEL_OK;
    if (!status && state->vary & due) {
        status = heat_evaluate_sites(plan, due, base->step, plan->site, error);
        status = status ? status : cuda_feed_next(&state->sites, &pinned, error);
        if (!status) {
            memcpy(pinned, plan->site, (size_t)plan->surfaces.sites * sizeof *plan->site);
            status = cuda_feed_send(&state->sites, queue->stream, error);
        }
    }
    if (!status && state->source_varies & due) {
        const double t = (double)base->step * plan->base.domain->grid.dt;
        status = cuda_feed_next(&state->source, &pinned, error);
        status = status ? status : heat_source(&state->all, t, pinned, error);
        status = status ? status : cuda_feed_send(&state->source, queue->stream, error);
    }
    return status || !changed ? status : evaluate_laws(state, SEL_ON_CONTROLS, base->step, error);
}

static sel_status step(sel_state *base, int64_t step, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = state->all.plan;
    sel_status status = plan->steady_laws ? SEL_OK : evaluate_laws(state, SEL_ON_T, step, error);
    status = status ? status : cuda_exchange(base, step, error);
    for (int b = 0; b < base->blocks.count && !status; b++) {
        const heat_gpu_step s = step_of(state, step, b);
        if (base->queue->pass > 1) {
            CUDA_TRY(heat_gpu_pass(&s, (int)base->queue->pass, &state->device));
        } else {
            CUDA_TRY(heat_gpu_take_step(&s, base->queue->stream));
        }
    }
    if (!status && base->observing && state->row_change) {
        cudaStream_t stream = base->queue->stream;
        CUDA_TRY(heat_gpu_sum(state->row_change, sel_state_rows(base) * strips(plan), state->sums,
                              stream));
        CUDA_TRY(heat_gpu_sum(state->cell_change, state->changes, state->sums + 1, stream));
    }
    return status;
}

static sel_status loaded(sel_state *base, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    base->observed = -1; /* the copy before the present one is not saved */
    if (state->all.plan->steady_laws || base->step == 0) {
        return SEL_OK;
    }
    int64_t one = 1;
    base->step--;
    sel_status status = terms(base, SEL_ON_T | SEL_ON_CONTROLS, &one, error);
    status = status ? status : evaluate_laws(state, SEL_ON_T, base->step, error);
    base->step++;
    return status;
}

/* The host's error at the place that failed. */
static sel_status check(sel_state *base, int64_t step, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = state->all.plan;
    const sel_domain *domain = plan->base.domain;
    cuda_term_fault fault;
    if (plan->steady_laws || !cuda_terms_failed(&state->terms, step, &fault)) {
        return SEL_OK;
    }
    const int r = fault.number / 2;
    const int64_t k = r ? plan->surfaces.first_of[r] + fault.place : fault.place;
    double place[3], value;
    for (int a = 0; a < 3 && r; a++) {
        place[a] = plan->surfaces.place[a][k];
    }
    if (!r) {
        sel_cell_centre(&domain->grid, k, place);
    }
    const sel_quantity *q = r ? heat_law_value(plan, r, fault.number % 2) : &plan->params->source;
    const double t = r ? heat_law_time(plan, r, fault.step) : (double)fault.step * domain->grid.dt;
    const sel_places at = sel_domain_at(domain, 1, place, place + 1, place + 2, t);
    const char *what = r ? domain->regions[r - 1].law.table->name : "source";
    sel_status status = sel_quantity_eval(q, what, &at, &value, error);
    base->step = base->step > fault.step ? fault.step : base->step;
    if (!status && fault.number % 2 == 1 && value < 0) {
        return sel_fail_at(error, domain->regions[r - 1].at, HEAT_NEGATIVE_H, value);
    }
    return status ? status : cuda_term_unknown(q, what, &at, error);
}

/* ---- requests ---- */

static const heat_gpu_view *view_at(heat_cuda *state, int64_t step, bool source) {
    state->view = (heat_gpu_view){.grid = cuda_grid_of(&state->all.base),
                                  .heat = heat_view_of(&state->all, step, 0),
                                  .from = cuda_parts_of(&state->all.base, step),
                                  .first = -state->all.base.turns.margin,
                                  .source = source};
    return &state->view;
}

static sel_status look(sel_state *base, int field, const cuda_look **to, const void **view,
                       sel_error *error) {
    *to = heat_gpu_look();
    *view = view_at((heat_cuda *)base, base->step, false);
    return field == HEAT_FLUX_FIELD ? cuda_exchange(base, base->step, error) : SEL_OK;
}

/* The answer in a slot: totals of the heat after and before the step, and of the source, then what
 * enters at the sites; of SEL_MEAN_CHANGE two sums. */
typedef struct heat_found {
    sel_total total[3];
    double entering[];
} heat_found;

static sel_status ask_totals(heat_cuda *state, cuda_slot *slot, int64_t before, sel_error *error) {
    cuda_queue *queue = state->all.base.queue;
    const int64_t step[3] = {state->all.base.step, before, state->all.base.step};
    const int count = state->all.plan->kind == HEAT_VARIED ? 3 : 2;
    sel_status status = SEL_OK;
    for (int k = 0; k < count && !status; k++) {
        CUDA_TRY(heat_gpu_look()->sum(view_at(state, step[k], k == 2), queue->rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, (uint64_t)k * sizeof(sel_total), queue->rows,
                                 sizeof(sel_total), error);
    }
    return status;
}

static sel_status ask(sel_state *base, const sel_request *request, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    const uint64_t entering = (uint64_t)state->all.plan->surfaces.sites * sizeof(double);
    const int64_t before = base->step > 0 ? base->step - 1 : 0;
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(base->queue, request, sizeof(heat_found) + entering, 0, &slot, error);
    if (status) {
        return status;
    }
    memset(slot->host, 0, sizeof(heat_found));
    if (request->kind == SEL_MEAN_CHANGE) {
        return cuda_slot_fetch(base->queue, slot, 0, state->sums, 2 * sizeof(double), error);
    }
    for (int b = 0; b < base->blocks.count; b++) {
        const heat_gpu_step s = step_of(state, before, b);
        CUDA_TRY(heat_gpu_entering(&s, base->step > 0, state->all.entering, base->queue->stream));
    }
    status = cuda_slot_fetch(base->queue, slot, sizeof(heat_found), state->all.entering, entering,
                             error);
    return status || request->kind != SEL_BALANCE ? status : ask_totals(state, slot, before, error);
}

static void answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    const heat_plan *plan = ((const heat_cuda *)base)->all.plan;
    const heat_found *found = slot->host;
    const double *change = slot->host;
    if (request->kind == SEL_MEAN_CHANGE) {
        request->mean_change =
            slot->step > 0 ? fabs(change[0] + change[1]) / (double)plan->base.domain->free_cells
                           : (double)NAN;
        return;
    }
    const double heat = sel_total_of(&found->total[0], false);
    heat_answer(plan, found->entering, heat,
                slot->step > 0 ? sel_total_of(&found->total[1], false) : (double)NAN,
                sel_total_of(&found->total[2], false), request);
}

const cuda_solver heat_on_cuda = {
    .what = "the temperature",
    .state_size = sizeof(heat_cuda),
    .unit = 8,
    .fits = fits,
    .list = list,
    .start = start,
    .alone = alone,
    .terms = terms,
    .pass = pass,
    .step = step,
    .check = check,
    .close = close,
    .loaded = loaded,
    .look = look,
    .ask = ask,
    .answer = answer,
};
