/* diffusion_cuda.c -- a body that conducts, on the device: what kernels see of it, and what
 * requests find. */
#include "engine/solvers/diffusion/diffusion_cuda.h"

#include <math.h>
#include <string.h>
#include "cuda/inputs.h"
#include "cuda/collectives.h"
#include "cuda/interior.h"
#include "engine/solvers/diffusion/diffusion.h"

/* ---- what kernels see ---- */

/* A body at a step, and what is summed. */
static diffusion_view diffusion_view_of(const sel_state *state, int64_t step, int sum) {
    const int from = sel_copy_at(state, &state->field[0], step);
    diffusion_view body = {.grid = cuda_grid_of(state),
                           .heat = diffusion_heat_view(state, step),
                           .from = cuda_parts_of(state, from),
                           .before = cuda_parts_of(state, !from),
                           .first = state->field[0].layout.origin,
                           .sum = sum};
    /* Of divided planes only its own cells, and those beside them, are asked for. */
    if (sel_divides_planes(&state->decomposition)) {
        body.from = (cuda_parts){.at = {state->field[0].at[from]}, .count = 1};
        body.before = (cuda_parts){.at = {state->field[0].at[!from]}, .count = 1};
    }
    return body;
}

sel_status diffusion_cuda_look(sel_state *state, diffusion_view *seen, int field,
                               const cuda_look **look, const void **view, sel_error *error) {
    *seen = diffusion_view_of(state, state->step, HEAT_CONTENT);
    *look = diffusion_gpu_look();
    *view = seen;
    return field > 0 ? cuda_exchange(state, state->step, state->queue->stream, error) : SEL_OK;
}

diffusion_gpu_step diffusion_gpu_step_of(const sel_state *state, int64_t step) {
    const sel_patch *own = &state->own;
    const sel_field *field = &state->field[0];
    const heat_view view = diffusion_heat_view(state, step);
    const int slow = field->layout.slow, halo = field->halo;
    const int64_t plane = view.stride[slow];
    diffusion_gpu_step s = {.view = view,
                            .given = diffusion_given_of(state),
                            .first = (own->lo[slow] - halo) * plane - field->lead[slow],
                            .count = (sel_patch_cells(own, slow) + 2 * halo) * plane,
                            .halted = cuda_inputs_halted(state),
                            .clock = cuda_queue_clock(state->queue, step)};
    sel_given_range(state, own, &s.surfaces[0], &s.surfaces[1]);
    return s;
}

/* ---- requests ---- */

static sel_status ask_change(sel_state *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->queue;
    cuda_slot *slot;
    sel_status status = cuda_slot_open(queue, request, sizeof(sel_total), 0, &slot, error);
    if (!status) {
        const diffusion_view body = diffusion_view_of(state, state->step, HEAT_VALUE);
        const cuda_rows rows = cuda_rows_of(state, NULL);
        CUDA_TRY(diffusion_gpu_look()->sum(&body, &rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(sel_total), error);
    }
    return status;
}

/* The answer in a slot by which diffusion_answer_balance answers. */
typedef struct found_balance {
    sel_total after, before, source;
    diffusion_balance known; /* on the host */
    double entering[];       /* at the sites of this rank */
} found_balance;

static sel_status find_entering(sel_state *state, int64_t step, sel_error *error) {
    heat_view view = diffusion_heat_view(state, step);
    const bool changes = state->step > 0 && !diffusion_body_of(state->plan)->steady;
    view.implicit = changes ? view.implicit : 0;
    int64_t first, end;
    sel_given_range(state, &state->own, &first, &end);
    const diffusion_given given = diffusion_given_of(state);
    CUDA_TRY(diffusion_gpu_entering(&view, &given, first, end, changes, state->queue->stream));
    return SEL_OK;
}

static sel_status body_ask_balance(sel_state *state, const sel_request *request, sel_error *error) {
    const bool steady = diffusion_body_of(state->plan)->steady;
    cuda_queue *queue = state->queue;
    const uint64_t bytes = (uint64_t)state->plan->inputs->surfaces.sites.count * sizeof(double);
    const int64_t before = state->step > 0 && !steady ? state->step - 1 : state->step;
    const int64_t step[3] = {state->step, before, state->step};
    const int totals = request->kind != SEL_BALANCE || steady ? 0 : state->given.source ? 3 : 2;
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(queue, request, sizeof(found_balance) + bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    memset(slot->host, 0, sizeof(found_balance));
    ((found_balance *)slot->host)->known = ((const diffusion_state *)state)->balance;
    if (before == state->step && !steady) { /* no step has filled its halos yet */
        status = cuda_exchange(state, before, queue->stream, error);
    }
    status = status ? status : find_entering(state, before, error);
    status = status ? status
                    : cuda_slot_fetch(queue, slot, sizeof(found_balance),
                                      diffusion_given_of(state).entering, bytes, error);
    for (int k = 0; k < totals && !status; k++) {
        const diffusion_view body =
            diffusion_view_of(state, step[k], k == 2 ? HEAT_ADDED : HEAT_CONTENT);
        const cuda_rows rows = cuda_rows_of(state, NULL);
        CUDA_TRY(diffusion_gpu_look()->sum(&body, &rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, (uint64_t)k * sizeof(sel_total), queue->rows,
                                 sizeof(sel_total), error);
    }
    return status;
}

sel_status diffusion_cuda_ask(sel_state *state, const sel_request *request, sel_error *error) {
    return request->kind == SEL_MEAN_CHANGE ? ask_change(state, request, error)
                                            : body_ask_balance(state, request, error);
}

static void answer_balance(const sel_state *state, const cuda_slot *slot, sel_request *request) {
    const found_balance *found = slot->host;
    const sel_surfaces *on = &state->plan->inputs->surfaces;
    const double *entering = found->entering;
    diffusion_balance b = found->known;
    if (!diffusion_body_of(state->plan)->steady) {
        b.after = sel_total_of(&found->after, false);
        b.before = slot->step > 0 ? sel_total_of(&found->before, false) : (double)NAN;
        b.source = sel_total_of(&found->source, false);
    }
    if (on->divided) {
        double *all = ((const diffusion_state *)state)->given.all_entering;
        sel_sites_gather(&on->sites, entering, sizeof *entering, all);
        entering = all;
    }
    if (on->region) { /* of several ranks rank 0 answers */
        diffusion_answer_balance(state->plan, entering, &b, request);
    }
}

void diffusion_cuda_answer(sel_state *state, const cuda_slot *slot, sel_request *request) {
    if (request->kind != SEL_MEAN_CHANGE) {
        answer_balance(state, slot, request);
        return;
    }
    const double change = fabs(sel_total_of(slot->host, false));
    request->mean_change =
        slot->step > 0 ? change / (double)state->plan->domain->free_cells : (double)NAN;
}
