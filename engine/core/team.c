/* team.c -- the backend of rank 0, and the orders that the others obey. */
#include "engine/core/team.h"

#include <stdlib.h>
#include <string.h>
#include "engine/core/collectives.h"

void sel_order_give(const sel_ranks *ranks, sel_order *order) {
    ranks->broadcast(order, sizeof *order, true);
}

/* ---- rank 0 ---- */

static const sel_backend *own_backend(const sel_state *state) {
    const sel_solver *solver = state->plan->simulation->solver;
    return state->queue ? solver->cuda : solver->cpu;
}

/* Gives an order together with the present controls, which hooks set. */
static void tell(const sel_state *state, sel_order order) {
    const sel_ranks *ranks = state->plan->ranks;
    const sel_domain *domain = state->plan->domain;
    sel_order_give(ranks, &order);
    ranks->broadcast(domain->control_values,
                     (size_t)domain->control_count * sizeof *domain->control_values, false);
}

static sel_status lead_advance(sel_state *state, int64_t n, bool observed, sel_error *error) {
    tell(state, (sel_order){.kind = SEL_ORDER_ADVANCE, .steps = n, .observed = observed});
    return sel_state_agree(state, own_backend(state)->advance(state, n, observed, error), error);
}

static sel_status lead_clock(sel_state *state, sel_clock *clock, sel_error *error) {
    tell(state, (sel_order){.kind = SEL_ORDER_CLOCK});
    return sel_state_agree(state, own_backend(state)->clock(state, clock, error), error);
}

static sel_status lead_restart(sel_state *state, sel_error *error) {
    tell(state, (sel_order){.kind = SEL_ORDER_RESTART});
    return sel_state_agree(state, own_backend(state)->restart(state, error), error);
}

static sel_status lead_wait(sel_state *state, sel_error *error) {
    tell(state, (sel_order){.kind = SEL_ORDER_WAIT});
    return sel_state_agree(state, own_backend(state)->wait(state, error), error);
}

static sel_status lead_start(sel_state *state, sel_request *request, sel_error *error) {
    tell(state, (sel_order){.kind = SEL_ORDER_LOOK, .request = *request});
    if (request->cells) {
        state->plan->ranks->broadcast((void *)(uintptr_t)request->cells,
                                      (size_t)request->cell_count * sizeof *request->cells, false);
    }
    return sel_state_agree(state, own_backend(state)->start(state, request, error), error);
}

static sel_status lead_saving(sel_state *state, sel_error *error) {
    const sel_backend *own = own_backend(state);
    tell(state, (sel_order){.kind = SEL_ORDER_SAVE});
    return own->saving ? own->saving(state, error) : SEL_OK;
}

static sel_status lead_loading(sel_state *state, sel_error *error) {
    (void)error;
    tell(state, (sel_order){.kind = SEL_ORDER_LOAD});
    return SEL_OK;
}

sel_status sel_team_image(sel_state *state, const sel_image *image, const sel_image_field *fields,
                          sel_writer *writer, FILE **file, sel_error *error) {
    const sel_ranks *ranks = state->plan->ranks;
    sel_image of_all = *image;
    tell(state, (sel_order){.kind = SEL_ORDER_IMAGE});
    ranks->broadcast(&of_all, sizeof of_all, false);
    ranks->broadcast((void *)(uintptr_t)fields, (size_t)image->count * sizeof *fields, false);
    return sel_image_share(state, own_backend(state), image, fields, writer, file, error);
}

sel_status sel_team_settle(sel_state *state, sel_writer *writer, sel_error *error) {
    tell(state, (sel_order){.kind = SEL_ORDER_SETTLE});
    return sel_state_agree(state, sel_writer_drain(writer, error), error);
}

static void lead_destroy(sel_state *state) {
    if (state) {
        tell(state, (sel_order){.kind = SEL_ORDER_LEAVE});
        own_backend(state)->destroy(state);
    }
}

void sel_team_lead(sel_backend *backend) {
    backend->advance = lead_advance;
    backend->clock = lead_clock;
    backend->restart = lead_restart;
    backend->wait = backend->wait ? lead_wait : NULL;
    backend->start = lead_start;
    backend->saving = lead_saving;
    backend->loading = lead_loading;
    backend->destroy = lead_destroy;
}

/* ---- the others ---- */

/* Bytes of a field that each rank has as a whole. */
static size_t field_bytes(const sel_state *state, const sel_request *request) {
    const sel_box *box = &request->box;
    int64_t cells = request->cell_count;
    if (!request->cells) {
        cells = sel_box_count(box, 0) * sel_box_count(box, 1) * sel_box_count(box, 2);
    }
    return request->kind == SEL_READ && state->ranks->count == 1
               ? (size_t)(cells * request->components) * sizeof(double)
               : 0;
}

/* Answers go to rank 0, or are dropped. */
static sel_status team_look(sel_state *state, const sel_backend *backend, sel_request *request,
                            sel_error *error) {
    const sel_ranks *ranks = state->plan->ranks;
    const size_t bytes = (size_t)request->cell_count * sizeof *request->cells;
    int64_t *cells = request->cells ? sel_ranks_memory(ranks, bytes) : NULL;
    request->terms =
        request->terms ? sel_ranks_memory(ranks, SEL_MAX_TERMS * sizeof *request->terms) : NULL;
    request->to = sel_ranks_memory(ranks, field_bytes(state, request));
    if (cells) {
        ranks->broadcast(cells, bytes, false);
    }
    request->cells = cells;
    void *to = request->to;
    sel_status status = backend->start(state, request, error);
    status = status ? status : backend->finish(state, request, error);
    free(to);
    free(request->terms);
    free(cells);
    return status;
}

/* Writes an image; the first one makes the writer, if it can. */
static void write_image(sel_state *state, const sel_backend *backend, sel_writer **writer) {
    const sel_ranks *ranks = state->plan->ranks;
    sel_image *image = sel_ranks_memory(ranks, sizeof *image);
    ranks->broadcast(image, sizeof *image, false);
    const size_t bytes = (size_t)image->count * sizeof(sel_image_field);
    sel_image_field *fields = sel_ranks_memory(ranks, bytes);
    ranks->broadcast(fields, bytes, false);
    FILE *none;
    sel_error error = {.status = SEL_OK};
    if (!*writer) {
        sel_writer_create(1, writer, NULL);
    }
    sel_image_share(state, backend, image, fields, *writer, &none, &error);
    free(fields);
    free(image);
}

static void obey(sel_state *state, const sel_backend *backend, sel_writer **writer,
                 sel_order *order) {
    sel_error error = {.status = SEL_OK};
    sel_status status = SEL_OK;
    sel_clock clock;
    switch (order->kind) {
    case SEL_ORDER_ADVANCE:
        status = backend->advance(state, order->steps, order->observed, &error);
        break;
    case SEL_ORDER_CLOCK:
        status = backend->clock(state, &clock, &error);
        break;
    case SEL_ORDER_RESTART:
        status = backend->restart(state, &error);
        break;
    case SEL_ORDER_WAIT:
        status = backend->wait(state, &error);
        break;
    case SEL_ORDER_LOOK:
        status = team_look(state, backend, &order->request, &error);
        break;
    case SEL_ORDER_IMAGE:
        write_image(state, backend, writer);
        return;
    case SEL_ORDER_SETTLE:
        status = *writer ? sel_writer_drain(*writer, &error) : SEL_OK;
        break;
    case SEL_ORDER_SAVE:
        sel_state_save(state, backend, NULL);
        return;
    default:
        sel_state_load(state, backend, NULL);
        return;
    }
    sel_state_agree(state, status, &error);
}

void sel_team_follow(sel_state *state, const sel_backend *backend) {
    const sel_ranks *ranks = state->plan->ranks;
    const sel_domain *domain = state->plan->domain;
    sel_writer *writer = NULL;
    sel_order order;
    for (;;) {
        sel_order_give(ranks, &order);
        ranks->broadcast(domain->control_values,
                         (size_t)domain->control_count * sizeof *domain->control_values, false);
        if (order.kind == SEL_ORDER_LEAVE) {
            sel_writer_destroy(writer);
            backend->destroy(state);
            return;
        }
        obey(state, backend, &writer, &order);
    }
}
