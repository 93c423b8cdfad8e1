/* heat_cuda.c -- sel.heat on the device.
 *
 * A uniform 2-D body whose laws do not vary in time takes HEAT_PASS steps per pass (heat_march.cu);
 * all else, and observed steps, one step (heat.cu).
 */
#include <math.h>
#include <string.h>
#include "cuda/heat_gpu.h"
#include "cuda/machine/inputs.h"
#include "engine/solvers/heat/heat.h"

typedef struct heat_cuda {
    heat_state all;
    bool marches;
    march_device device;
    heat_gpu_sides sides;
    int64_t changes;                         /* of cells on surfaces */
    double *row_change, *cell_change, *sums; /* [2]: of these */
    heat_gpu_view view;
} heat_cuda;

static int64_t strips(const heat_plan *plan) {
    return heat_gpu_strips(plan->base.domain->grid.n[0], plan->base.precision == SEL_F32);
}

/* ---- memory ---- */

static void list(sel_state *base) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = (const heat_plan *)base->plan;
    const int64_t *n = plan->base.domain->grid.n, rows = sel_state_rows(base);
    sel_arrays *arrays = &base->arrays;
    state->marches = plan->base.domain->grid.dims == 2 && plan->kind != HEAT_VARIED &&
                     !plan->inputs.depends && n[0] >= MARCH_LEAST_COLUMNS &&
                     n[1] >= MARCH_LEAST_ROWS * base->blocks.count;
    state->all.halo = state->marches ? HEAT_PASS : 1;
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
    SEL_ADD(arrays, state, row_change, changes * rows * strips(plan), 0);
    state->changes = plan->kind == HEAT_VARIED ? plan->inputs.surfaces.cells : numbers / 2;
    SEL_ADD(arrays, state, cell_change, changes * state->changes, 0);
    SEL_ADD(arrays, state, sums, 2, 0);
}

static void close(sel_state *base) {
    heat_cuda *state = (heat_cuda *)base;
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
                       .value = all->base.given.value,
                       .cell = all->base.given.cell,
                       .first_site = all->base.given.first_site,
                       .b = all->b,
                       .s = all->s,
                       .halted = cuda_inputs_halted(&all->base),
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
static sel_status derive(sel_state *base, sel_error *error) {
    for (int b = 0; b < base->blocks.count; b++) {
        const heat_gpu_step s = step_of((heat_cuda *)base, 0, b);
        CUDA_TRY(heat_gpu_surfaces(&s, base->queue->stream));
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

static sel_status start(sel_state *base, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    sel_status status = heat_start(base, error);
    return status || !state->marches ? status : start_march(state, error);
}

/* ---- steps ---- */

static int64_t pass(const sel_state *base, int64_t most) {
    const heat_cuda *state = (const heat_cuda *)base;
    return !state->marches || base->observing || most < 3 ? 1 : most < HEAT_PASS ? 3 : HEAT_PASS;
}

static sel_status step(sel_state *base, int64_t step, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    sel_status status = cuda_exchange(base, step, error);
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
        CUDA_TRY(heat_gpu_sum(state->row_change, sel_state_rows(base) * strips(state->all.plan),
                              state->sums, stream));
        CUDA_TRY(heat_gpu_sum(state->cell_change, state->changes, state->sums + 1, stream));
    }
    return status;
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
    const uint64_t entering = (uint64_t)state->all.plan->inputs.surfaces.sites * sizeof(double);
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
    .derive = derive,
    .pass = pass,
    .step = step,
    .close = close,
    .look = look,
    .ask = ask,
    .answer = answer,
};
