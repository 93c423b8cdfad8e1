/* aqua_cpu.c -- the CPU backend of sel.aqua: memory, stepping, threads.
 *
 * Two copies of the depths take turns. Rows are shared out among the threads in pieces; no cell's
 * result depends on who computes it. What is added up goes by rows, joined in their order.
 */
#include "engine/aqua/aqua_cpu.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/backend.h"
#include "engine/bandwidth.h"
#include "engine/carver.h"
#include "engine/machine.h"
#include "engine/reduce.h"

/* ---- memory ---- */

static void place_amount(sel_carver *c, aqua_amount *amount, aqua_spread spread, int64_t cells,
                         int64_t size) {
    if (spread == AQUA_FIELD) {
        amount->rate = sel_carve(c, cells, (uint64_t)size);
        amount->owed = sel_carve(c, cells, (uint64_t)size);
    }
}

/* Sets all pointers of `state` into `block`; returns the bytes that they need. */
static uint64_t place(sel_state *state, const sel_plan *base, const aqua_kernels *kernels,
                      void *block) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const aqua_layout *layout = &plan->layout;
    const int64_t cells = layout->nx * layout->ny, sources = plan->inflow_count;
    const int64_t regions = base->domain->region_count + 1;
    sel_carver c = {block, 0};
    *state = (sel_state){.plan = plan,
                         .store = aqua_store_of(plan),
                         .loops = &kernels->loops[base->precision],
                         .threads = base->threads > 0 ? base->threads : 1,
                         .size = base->precision == SEL_F32 ? 4 : 8,
                         .block = block};
    const uint64_t size = (uint64_t)state->size;
    state->bed = sel_carve(&c, layout->cells, size);
    state->water[0] = sel_carve(&c, layout->cells, size);
    state->water[1] = sel_carve(&c, layout->cells, size);
    state->alphas = plan->alpha ? sel_carve(&c, layout->cells, size) : NULL;
    if (plan->params->scheme == AQUA_SCATTER) {
        state->more = sel_carve(&c, layout->cells, size);
        state->less = sel_carve(&c, layout->cells, size);
    }
    state->most = aqua_wants_max(plan) ? sel_carve(&c, cells, size) : NULL;
    state->arrived = aqua_wants_arrival(plan) ? sel_carve(&c, cells, sizeof(int32_t)) : NULL;
    state->last = sel_carve(&c, cells, size);
    place_amount(&c, &state->rain, plan->rain, cells, state->size);
    place_amount(&c, &state->soil, plan->infiltration, cells, state->size);
    bool fields = plan->rain == AQUA_FIELD || plan->infiltration == AQUA_FIELD;
    state->field = fields ? sel_carve(&c, cells, sizeof(double)) : NULL;
    state->inflow_units = sel_carve(&c, sources, sizeof(double));
    state->inflow_carry = sel_carve(&c, sources, sizeof(double));
    state->inflow_turn = sel_carve(&c, sources, sizeof(int64_t));
    state->inflow = sel_carve(&c, sources, sizeof(aqua_total));
    state->out = sel_carve(&c, regions, sizeof(aqua_total));
    state->edges = base->wants_balance ? sel_carve(&c, regions, sizeof(aqua_edges)) : NULL;
    state->z = sel_carve(&c, plan->ghosts.count, sizeof(double));
    state->controls = sel_carve(&c, base->domain->control_count, sizeof(double));
    state->partials = sel_carve(&c, AQUA_PARTIALS * layout->ny, sizeof(double));
    state->rows = sel_carve(&c, layout->nx * state->threads, sizeof(double));
    state->scratch = sel_carve(&c, state->threads, sel_carver_round(state->loops->scratch));
    return c.used;
}

static uint64_t estimate(const sel_plan *plan) {
    const aqua_kernels *kernels = aqua_kernels_usable(0);
    sel_state state;
    return kernels ? sizeof state + place(&state, plan, kernels, NULL) : 0;
}

static void destroy(sel_state *state) {
    if (state) {
        for (int r = 0; state->edges && r <= state->plan->base.domain->region_count; r++) {
            aqua_edges_free(&state->edges[r]);
        }
        free(state->block);
        free(state);
    }
}

/* ---- totals ---- */

void aqua_total_add(const sel_state *state, aqua_total *total, double value) {
    if (state->store.whole) {
        total->whole += (int64_t)value;
        return;
    }
    const double sum = total->sum + value, part = sum - total->sum;
    total->lost += (total->sum - (sum - part)) + (value - part);
    total->sum = sum;
}

double aqua_total_value(const sel_state *state, const aqua_total *total) {
    return state->store.whole ? (double)total->whole : total->sum + total->lost;
}

/* The sum of the rows' partials, which are exact in whole quanta. */
static double join_rows(const sel_state *state) {
    const int64_t rows = state->plan->layout.ny;
    if (!state->store.whole) {
        return sel_tree_sum(state->partials, rows, AQUA_PARTIALS);
    }
    int64_t sum = 0;
    for (int64_t y = 0; y < rows; y++) {
        sum += (int64_t)state->partials[y * AQUA_PARTIALS];
    }
    return (double)sum;
}

double aqua_volume(const sel_state *state) {
    const aqua_layout *layout = &state->plan->layout;
    const void *water = state->water[state->step & 1];
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t y = 0; y < layout->ny; y++) {
        state->partials[y * AQUA_PARTIALS] =
            state->loops->sum(layout, water, y, aqua_solids(state, y));
    }
    return join_rows(state);
}

double aqua_edges_flux(const sel_state *state, int64_t step, const aqua_edges *edges) {
    const aqua_step described = aqua_describe_step(state, step);
    aqua_total total = {0};
    for (int64_t e = 0; e < edges->count; e++) {
        const aqua_edge *edge = &edges->v[e];
        aqua_total_add(state, &total,
                       edge->sign * state->loops->edge(&described, edge->at, edge->k));
    }
    return aqua_total_value(state, &total);
}

/* ---- amounts ---- */

static void store_rates(const sel_state *state, void *rate) {
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t i = 0; i < aqua_cells(state); i++) {
        if (state->store.whole) {
            ((float *)rate)[i] = (float)state->field[i];
        } else {
            ((double *)rate)[i] = state->field[i];
        }
    }
}

typedef sel_status evaluate_amount(const aqua_plan *plan, int64_t step, double *to,
                                   sel_error *error);

static sel_status set_amount(sel_state *state, aqua_amount *amount, aqua_spread spread,
                             const sel_quantity *q, unsigned due, evaluate_amount *evaluate,
                             sel_error *error) {
    if (spread == AQUA_NOTHING || !((sel_quantity_depends(q) | AQUA_ALWAYS) & due)) {
        return SEL_OK;
    }
    double *to = spread == AQUA_FIELD ? state->field : &amount->uniform;
    sel_status status = evaluate(state->plan, state->step, to, error);
    if (!status && spread == AQUA_FIELD) {
        store_rates(state, amount->rate);
    }
    return status;
}

/* Evaluates for the step to come what depends on what is due. */
static sel_status set_amounts(sel_state *state, unsigned due, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const aqua_params *params = plan->params;
    sel_status status =
        set_amount(state, &state->rain, plan->rain, &params->rain, due, aqua_rain, error);
    status = status ? status
                    : set_amount(state, &state->soil, plan->infiltration, &params->infiltration,
                                 due, aqua_infiltration, error);
    for (int i = 0; i < plan->inflow_count && !status; i++) {
        unsigned depends = sel_quantity_depends(&plan->inflows[i].source->discharge);
        if ((depends | AQUA_ALWAYS) & due) {
            status = aqua_discharge(plan, i, state->step, &state->inflow_units[i], error);
        }
    }
    return status ? status : aqua_levels(plan, (double)state->step, due, state->z, error);
}

/* ---- a step ---- */

aqua_step aqua_describe_step(const sel_state *state, int64_t step) {
    const aqua_plan *plan = state->plan;
    double alpha = plan->largest_alpha;
    return (aqua_step){
        .layout = plan->layout,
        .bed = state->bed,
        .from = state->water[step & 1],
        .to = state->water[(step + 1) & 1],
        .alphas = state->alphas,
        .alpha = alpha < state->store.largest_alpha ? alpha : state->store.largest_alpha,
        .least = state->store.least,
        .equilibrium = plan->params->equilibrium,
    };
}

static void pour_rain(sel_state *state, double uniform) {
    const aqua_plan *plan = state->plan;
    const aqua_layout *layout = &plan->layout;
    void *water = state->water[state->step & 1];
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t y = 0; y < layout->ny; y++) {
        const uint8_t *solid = aqua_solids(state, y);
        int64_t at = y * layout->nx * state->size;
        state->partials[y * AQUA_PARTIALS] =
            plan->rain == AQUA_FIELD
                ? state->loops->pour_field(layout, water, y, solid, (char *)state->rain.rate + at,
                                           (char *)state->rain.owed + at)
                : state->loops->pour(layout, water, y, solid, uniform);
    }
    aqua_total_add(state, &state->rained, join_rows(state));
}

static void soak_row(sel_state *state, int64_t y, double uniform) {
    const aqua_plan *plan = state->plan;
    const aqua_layout *layout = &plan->layout;
    void *water = state->water[(state->step + 1) & 1];
    const uint8_t *solid = aqua_solids(state, y);
    int64_t at = y * layout->nx * state->size;
    state->partials[y * AQUA_PARTIALS] =
        plan->infiltration == AQUA_FIELD
            ? state->loops->soak_field(layout, water, y, solid, (char *)state->soil.rate + at,
                                       (char *)state->soil.owed + at)
            : state->loops->soak(layout, water, y, solid, uniform);
}

static void watch_row(sel_state *state, int64_t y, int64_t step) {
    const aqua_layout *layout = &state->plan->layout;
    int64_t at = y * layout->nx;
    state->loops->watch(layout, state->water[step & 1], y,
                        state->most ? (char *)state->most + at * state->size : NULL,
                        state->arrived ? state->arrived + at : NULL,
                        state->plan->params->arrival_depth * state->store.per_metre, (int32_t)step);
}

static bool watches(const sel_state *state) {
    return state->most || state->arrived;
}

/* The number of a cell of the layout. */
static int64_t cell_number(const aqua_layout *layout, int64_t at) {
    return (at / layout->pitch - AQUA_HALO) * layout->nx + at % layout->pitch - AQUA_HALO;
}

static sel_status pour_whole(sel_state *state, int source, sel_error *error) {
    const aqua_inflow *inflow = &state->plan->inflows[source];
    int32_t *water = state->water[state->step & 1];
    int64_t *turn = &state->inflow_turn[source];
    int64_t whole = aqua_whole(state->inflow_units[source], &state->inflow_carry[source]);
    int64_t each = whole / inflow->count, odd = whole % inflow->count;
    for (int64_t c = 0; c < inflow->count; c++) {
        int64_t behind = (c - *turn + inflow->count) % inflow->count, at = inflow->at[c];
        int64_t depth = water[at] + each + (behind < odd);
        if ((double)depth > state->store.most_poured) {
            state->half_done = true;
            return aqua_too_deep(state->plan, state->step, cell_number(&state->plan->layout, at),
                                 error);
        }
        water[at] = (int32_t)depth;
    }
    *turn = (*turn + odd) % inflow->count;
    aqua_total_add(state, &state->inflow[source], (double)whole);
    return SEL_OK;
}

/* Before anything is poured: a source that alone brings more than a cell may hold. */
static sel_status check_sources(const sel_state *state, sel_error *error) {
    for (int i = 0; i < state->plan->inflow_count && state->store.whole; i++) {
        const aqua_inflow *inflow = &state->plan->inflows[i];
        if (state->inflow_units[i] / (double)inflow->count > state->store.limit) {
            return aqua_too_deep(state->plan, state->step,
                                 cell_number(&state->plan->layout, inflow->at[0]), error);
        }
    }
    return SEL_OK;
}

static sel_status pour_sources(sel_state *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < state->plan->inflow_count && !status; i++) {
        const aqua_inflow *inflow = &state->plan->inflows[i];
        if (state->store.whole) {
            status = pour_whole(state, i, error);
            continue;
        }
        double *water = state->water[state->step & 1];
        double each = state->inflow_units[i] / (double)inflow->count;
        for (int64_t c = 0; c < inflow->count; c++) {
            water[inflow->at[c]] += each;
        }
        aqua_total_add(state, &state->inflow[i], each * (double)inflow->count);
    }
    return status;
}

/* Ghosts before the flow: open ones dry, the others at their level. */
static void settle(sel_state *state) {
    const aqua_plan *plan = state->plan;
    void *water = state->water[state->step & 1];
    bool moves = aqua_levels_depend(plan) != 0;
    aqua_set_ghosts(plan, state->z, moves ? state->bed : NULL, water);
    if (moves) {
        aqua_fill_frame(plan, state->bed, (size_t)state->size);
    }
    aqua_fill_frame(plan, water, (size_t)state->size);
}

static double scatter_all(sel_state *state, const aqua_step *step) {
    const aqua_layout *layout = &state->plan->layout;
    size_t bytes = (size_t)(layout->cells * state->size);
    double most = 0;
    memset(state->more, 0, bytes);
    memset(state->less, 0, bytes);
    /* Rows that lie three apart share no receiver: no two threads write to one place, and the order
     * in which a place is written does not depend on their number. */
    for (int64_t turn = 0; turn < 3; turn++) {
#pragma omp parallel for schedule(static) num_threads(state->threads)
        for (int64_t y = turn - 1; y <= layout->ny; y += 3) {
            state->loops->scatter(step, y, state->more, state->less);
        }
    }
#pragma omp parallel for schedule(static) num_threads(state->threads) reduction(max : most)
    for (int64_t y = 0; y < layout->ny; y++) {
        double here = state->loops->update(step, y, state->more, state->less);
        most = here > most ? here : most;
    }
    return most;
}

/* Rows at a time: enough for the two that are computed twice not to count. */
static int64_t rows_of_a_piece(const sel_state *state) {
    int64_t share = state->plan->layout.ny / (4 * state->threads);
    return share < 16 ? 16 : share > 128 ? 128 : share;
}

static double gather_all(sel_state *state, const aqua_step *step) {
    const int64_t ny = state->plan->layout.ny, piece = rows_of_a_piece(state);
    const size_t scratch = sel_carver_round(state->loops->scratch);
    double most = 0;
#pragma omp parallel for schedule(dynamic) num_threads(state->threads) reduction(max : most)
    for (int64_t y = 0; y < ny; y += piece) {
        int64_t end = y + piece < ny ? y + piece : ny;
        double here = state->loops->flow(step, y, end,
                                         state->scratch + scratch * (size_t)omp_get_thread_num());
        most = here > most ? here : most;
    }
    return most;
}

/* The first cell that is deeper than may be after the flow. */
static sel_status refuse_depth(const sel_state *state, sel_error *error) {
    const aqua_layout *layout = &state->plan->layout;
    const int32_t *water = state->water[(state->step + 1) & 1];
    for (int64_t i = 0; i < aqua_cells(state); i++) {
        int32_t depth = water[aqua_index(layout, i % layout->nx, i / layout->nx)];
        if ((double)depth > state->store.limit) {
            return aqua_too_deep(state->plan, state->step + 1, i, error);
        }
    }
    return SEL_OK;
}

static void soak_and_watch(sel_state *state, double uniform) {
    const bool soaks = state->plan->infiltration != AQUA_NOTHING;
    if (!soaks && !watches(state)) {
        return;
    }
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t y = 0; y < state->plan->layout.ny; y++) {
        if (soaks) {
            soak_row(state, y, uniform);
        }
        if (watches(state)) {
            watch_row(state, y, state->step + 1);
        }
    }
    if (soaks) {
        aqua_total_add(state, &state->soaked, join_rows(state));
    }
}

/* The uniform amount of this step: whole quanta, the rest is carried. */
static double take_uniform(const sel_state *state, aqua_amount *amount) {
    return state->store.whole ? (double)aqua_whole(amount->uniform, &amount->carry)
                              : amount->uniform;
}

static sel_status one_step(sel_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    sel_status status =
        set_amounts(state, sel_domain_due(plan->base.domain, state->controls), error);
    status = status ? status : check_sources(state, error);
    if (status) {
        return status;
    }
    if (plan->rain != AQUA_NOTHING) {
        pour_rain(state, take_uniform(state, &state->rain));
    }
    status = pour_sources(state, error);
    if (status) {
        return status;
    }
    settle(state);
    const aqua_step step = aqua_describe_step(state, state->step);
    double most =
        plan->params->scheme == AQUA_SCATTER ? scatter_all(state, &step) : gather_all(state, &step);
    status = most > state->store.limit ? refuse_depth(state, error) : SEL_OK;
    for (int r = 1; state->edges && r <= plan->base.domain->region_count; r++) {
        aqua_total_add(state, &state->out[r],
                       aqua_edges_flux(state, state->step, &state->edges[r]));
    }
    soak_and_watch(state, take_uniform(state, &state->soil));
    state->step++;
    return status;
}

static sel_status advance(sel_state *state, int64_t n, sel_error *error) {
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < n && !status; k++) {
        status = one_step(state, error);
    }
    return status;
}

/* ---- making ---- */

static sel_status list_edges(sel_state *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int r = 1; state->edges && r <= state->plan->base.domain->region_count && !status; r++) {
        const sel_request request = {.kind = SEL_FLUX, .region = r};
        status = aqua_flux_edges(state->plan, &request, &state->edges[r], error);
    }
    return status;
}

static sel_status fill(sel_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    sel_status status = aqua_fill_bed(plan, state->bed, error);
    status = status ? status : aqua_fill_water(plan, state->water[0], error);
    status = status ? status : list_edges(state, error);
    if (status) {
        return status;
    }
    if (state->alphas) {
        aqua_fill_alpha(plan, state->alphas);
    }
    if (state->arrived) {
        memset(state->arrived, 0xff, (size_t)aqua_cells(state) * sizeof *state->arrived); /* -1 */
    }
#pragma omp parallel for schedule(static) num_threads(state->threads) if (watches(state))
    for (int64_t y = 0; y < plan->layout.ny; y++) {
        if (watches(state)) {
            watch_row(state, y, 0);
        }
    }
    memcpy(state->controls, plan->base.domain->control_values,
           (size_t)plan->base.domain->control_count * sizeof(double));
    state->first_volume = aqua_volume(state);
    /* Fluxes may be asked for before the first step. */
    return set_amounts(state, AQUA_ALWAYS, error);
}

/* By all threads: it takes them as long as their first steps. */
static void zero(char *block, int64_t bytes, int threads) {
    const int64_t piece = (int64_t)1 << 21;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t at = 0; at < bytes; at += piece) {
        memset(block + at, 0, (size_t)(bytes - at < piece ? bytes - at : piece));
    }
}

static sel_status create(const sel_plan *plan, sel_state **made, sel_error *error) {
    const aqua_kernels *kernels = aqua_kernels_usable(0);
    *made = NULL;
    if (!kernels) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "this processor is older than x86-64-v2 (SSE 4.2), which Selenite needs");
    }
    sel_state *state = malloc(sizeof *state);
    uint64_t bytes = state ? place(state, plan, kernels, NULL) : 0;
    void *block = state ? sel_machine_allocate((size_t)bytes) : NULL;
    if (!block) {
        free(state);
        return sel_fail_memory(error, "the water", estimate(plan));
    }
    place(state, plan, kernels, block);
    zero(block, (int64_t)bytes, state->threads);
    sel_status status = fill(state, error);
    if (status) {
        destroy(state);
        return status;
    }
    *made = state;
    return SEL_OK;
}

static int64_t whole(const sel_state *state) {
    return state->half_done ? -1 : state->step;
}

static void device(char *text, size_t size) {
    const aqua_kernels *kernels = aqua_kernels_usable(0);
    sel_cpu_device(kernels ? kernels->level : "unsupported", text, size);
}

const sel_backend aqua_cpu_backend = {
    .name = "cpu",
    .bandwidth = sel_bandwidth_copy,
    .estimate = estimate,
    .create = create,
    .advance = advance,
    .whole = whole,
    .start = aqua_cpu_start,
    .finish = sel_cpu_finish,
    .destroy = destroy,
    .device = device,
};
