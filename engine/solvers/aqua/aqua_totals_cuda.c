/* aqua_totals_cuda.c -- the totals and fluxes of sel.aqua on the device: what checkpoints keep, and
 * what requests find.
 */
#include "engine/solvers/aqua/aqua_cuda.h"

#include <string.h>

/* What ranks know of their own rows and edges, all get to know: the books, or the fluxes. */
static sel_status aqua_totals_cuda_share(const aqua_cuda *state, bool books, sel_error *error) {
    const aqua_state *all = &state->all;
    return books ? cuda_share_items(&all->base, state->books, state->book_count,
                                    sizeof *state->books, aqua_row_of_part, error)
                 : cuda_share_items(&all->base, all->shown, all->edge_count, sizeof *all->shown,
                                    aqua_row_of_edge, error);
}

sel_status aqua_cuda_saving(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const uint64_t bytes = (uint64_t)state->book_count * sizeof *state->books;
    sel_status status = aqua_totals_cuda_share(state, true, error);
    status = status ? status : aqua_totals_cuda_share(state, false, error);
    status = status ? status : cuda_send(state->copied, state->books, bytes, error);
    if (!status) {
        aqua_join_parts(state->all.plan, state->copied, state->all.totals, false);
    }
    return status;
}

/* The host's totals until now, the volume, and the books of the kernels; of a flux its edges
 * instead of all these. */
sel_status aqua_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    const aqua_state *all = &state->all;
    const bool balance = request->kind == SEL_BALANCE;
    const size_t one = sizeof(sel_total), totals = (size_t)aqua_total_count(all->plan) * one;
    int64_t first = 0;
    const int64_t count = balance ? state->book_count : aqua_flux_edges(all->plan, request, &first);
    const size_t bytes = (size_t)count * (balance ? one : sizeof *all->shown);
    const void *list = balance ? (const void *)state->books : all->shown + first;
    cuda_slot *slot;
    sel_status status = cuda_slot_open(base->queue, request, totals + one + bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->count = count;
    status = aqua_totals_cuda_share(state, balance, error);
    if (balance && !status) {
        memcpy(slot->host, all->totals, totals);
        status = cuda_sum(base, error);
        status = status ? status
                        : cuda_slot_fetch(base->queue, slot, totals, base->queue->rows, one, error);
    }
    return status ? status : cuda_slot_fetch(base->queue, slot, totals + one, list, bytes, error);
}

void aqua_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    const aqua_state *all = (const aqua_state *)base;
    sel_total *totals = slot->host, *volume = totals + aqua_total_count(all->plan);
    if (request->kind == SEL_BALANCE) {
        aqua_join_parts(all->plan, volume + 1, totals, false);
        aqua_answer_balance(all, totals, sel_total_of(volume, all->store.whole), request);
    } else {
        aqua_answer_flux(all, (const double *)(const void *)(volume + 1), slot->count, request);
    }
}
