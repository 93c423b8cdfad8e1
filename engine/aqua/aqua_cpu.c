/* aqua_cpu.c -- the CPU backend of sel.aqua: memory, stepping, threads.
 *
 * Two copies of the depths take turns. Rows are shared out among the threads in pieces; no cell's
 * result depends on who computes it. What is added up goes by rows, joined in their order.
 */
#include "engine/aqua/aqua_cpu.h"

#include <omp.h>
#include <string.h>

/* ---- memory ---- */

/* Of the flow, for each thread. */
static int64_t scratch_bytes(const aqua_cpu *state) {
    return (int64_t)((state->loops->scratch + SEL_LINE - 1) / SEL_LINE * SEL_LINE);
}

static void list_amount(sel_arrays *arrays, aqua_amount *amount, const char *const names[2],
                        aqua_spread spread, sel_type real, const sel_cells *cells) {
    if (spread == AQUA_FIELD) {
        sel_arrays_add_cells(arrays, names[0], &amount->rate, real, cells, SEL_SAVED);
        sel_arrays_add_cells(arrays, names[1], &amount->owed, real, cells, SEL_SAVED);
    }
}

static void list_fields(aqua_cpu *state, sel_arrays *arrays) {
    const aqua_plan *plan = state->plan;
    const uint32_t size = (uint32_t)state->size;
    const sel_type real = {'f', size}, depth = {state->store.whole ? 'i' : 'f', size};
    const sel_cells framed = aqua_framed(&plan->layout, 0, 0), cells = aqua_unframed(&plan->layout);
    sel_arrays_add_cells(arrays, "bed", &state->bed, real, &framed, 0);
    sel_arrays_add_cells(arrays, "water0", &state->water[0], depth, &framed, SEL_SAVED);
    sel_arrays_add_cells(arrays, "water1", &state->water[1], depth, &framed, SEL_SAVED);
    if (plan->alpha) {
        sel_arrays_add_cells(arrays, "alphas", &state->alphas, real, &framed, 0);
    }
    if (plan->params->scheme == AQUA_SCATTER) {
        sel_arrays_add_cells(arrays, "more", &state->more, depth, &framed, 0);
        sel_arrays_add_cells(arrays, "less", &state->less, depth, &framed, 0);
    }
    if (aqua_wants_max(plan)) {
        sel_arrays_add_cells(arrays, "most", &state->most, depth, &cells, SEL_SAVED);
    }
    if (aqua_wants_arrival(plan)) {
        sel_arrays_add_cells(arrays, "arrived", &state->arrived, SEL_TYPE_OF(*state->arrived),
                             &cells, SEL_SAVED);
    }
    state->base.last = (sel_last){.type = depth, .components = 1, .scale = state->store.per_metre};
    list_amount(arrays, &state->rain, (const char *const[]){"rain", "rain_owed"}, plan->rain, real,
                &cells);
    list_amount(arrays, &state->soil, (const char *const[]){"soil", "soil_owed"},
                plan->infiltration, real, &cells);
}

static void list(sel_state *base) {
    aqua_cpu *state = (aqua_cpu *)base;
    const aqua_plan *plan = state->plan = (const aqua_plan *)base->plan;
    const aqua_layout *layout = &plan->layout;
    const int64_t sources = plan->inflow_count;
    const bool fields = plan->rain == AQUA_FIELD || plan->infiltration == AQUA_FIELD;
    sel_arrays *arrays = &base->arrays;
    const aqua_kernels *kernels = aqua_kernels_usable(0);
    state->store = aqua_store_of(plan);
    state->loops = kernels ? &kernels->loops[base->plan->precision] : NULL;
    state->size = base->plan->precision == SEL_F32 ? 4 : 8;
    list_fields(state, arrays);
    SEL_ADD(arrays, state, field, fields ? layout->nx * layout->ny : 0, 0);
    SEL_ADD_VALUE(arrays, state, rain.carry);
    SEL_ADD_VALUE(arrays, state, soil.carry);
    SEL_ADD_VALUE(arrays, state, rained);
    SEL_ADD_VALUE(arrays, state, soaked);
    SEL_ADD_VALUE(arrays, state, first_volume);
    SEL_ADD(arrays, state, inflow_units, sources, SEL_SAVED);
    SEL_ADD(arrays, state, inflow_carry, sources, SEL_SAVED);
    SEL_ADD(arrays, state, inflow_turn, sources, SEL_SAVED);
    SEL_ADD(arrays, state, inflow, sources, SEL_SAVED);
    SEL_ADD(arrays, state, out, base->plan->domain->region_count + 1, SEL_SAVED);
    if (base->plan->wants_balance) {
        SEL_ADD(arrays, state, edges, aqua_all_edges(plan, NULL, state->first_edge), 0);
    }
    SEL_ADD(arrays, state, z, plan->ghosts.count, SEL_SAVED);
    SEL_ADD(arrays, state, rows, layout->nx * base->threads, 0);
    SEL_ADD(arrays, state, scratch, kernels ? base->threads * scratch_bytes(state) : 0, 0);
}

/* ---- sums ---- */

static double sum_row(const sel_state *base, int64_t y) {
    const aqua_cpu *state = (const aqua_cpu *)base;
    return state->loops->sum(&state->plan->layout, state->water[base->step & 1], y,
                             sel_state_solids(base, y));
}

double aqua_volume(aqua_cpu *state) {
    return sel_sum_rows(&state->base, sum_row, state->store.whole);
}

double aqua_edges_flux(const aqua_cpu *state, int64_t step, const aqua_edge *edges, int64_t count) {
    const aqua_step described = aqua_describe_step(state, step);
    sel_total total = {0};
    for (int64_t e = 0; e < count; e++) {
        const aqua_edge *edge = &edges[e];
        sel_total_more(&total, state->store.whole,
                       edge->sign * state->loops->edge(&described, edge->at, edge->k));
    }
    return sel_total_of(&total, state->store.whole);
}

/* ---- amounts ---- */

static void store_rates(const aqua_cpu *state, void *rate) {
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
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

static sel_status set_amount(aqua_cpu *state, aqua_amount *amount, aqua_spread spread,
                             const sel_quantity *q, unsigned due, evaluate_amount *evaluate,
                             sel_error *error) {
    if (spread == AQUA_NOTHING || !((sel_quantity_depends(q) | AQUA_ALWAYS) & due)) {
        return SEL_OK;
    }
    double *to = spread == AQUA_FIELD ? state->field : &amount->uniform;
    sel_status status = evaluate(state->plan, state->base.step, to, error);
    if (!status && spread == AQUA_FIELD) {
        store_rates(state, amount->rate);
    }
    return status;
}

/* Evaluates for the step to come what depends on what is due. */
static sel_status set_amounts(aqua_cpu *state, unsigned due, sel_error *error) {
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
            status = aqua_discharge(plan, i, state->base.step, &state->inflow_units[i], error);
        }
    }
    return status ? status : aqua_levels(plan, (double)state->base.step, due, state->z, error);
}

/* ---- a step ---- */

aqua_step aqua_describe_step(const aqua_cpu *state, int64_t step) {
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

static void pour_rain(aqua_cpu *state, double uniform) {
    const aqua_plan *plan = state->plan;
    const aqua_layout *layout = &plan->layout;
    void *water = state->water[state->base.step & 1];
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t y = 0; y < layout->ny; y++) {
        const uint8_t *solid = sel_state_solids(&state->base, y);
        int64_t at = y * layout->nx * state->size;
        state->base.partials[y * SEL_PARTIALS] =
            plan->rain == AQUA_FIELD
                ? state->loops->pour_field(layout, water, y, solid, (char *)state->rain.rate + at,
                                           (char *)state->rain.owed + at)
                : state->loops->pour(layout, water, y, solid, uniform);
    }
    sel_total_more(&state->rained, state->store.whole,
                   sel_join_rows(&state->base, state->store.whole));
}

static void soak_row(aqua_cpu *state, int64_t y, double uniform) {
    const aqua_plan *plan = state->plan;
    const aqua_layout *layout = &plan->layout;
    void *water = state->water[(state->base.step + 1) & 1];
    const uint8_t *solid = sel_state_solids(&state->base, y);
    int64_t at = y * layout->nx * state->size;
    state->base.partials[y * SEL_PARTIALS] =
        plan->infiltration == AQUA_FIELD
            ? state->loops->soak_field(layout, water, y, solid, (char *)state->soil.rate + at,
                                       (char *)state->soil.owed + at)
            : state->loops->soak(layout, water, y, solid, uniform);
}

static void watch_row(aqua_cpu *state, int64_t y, int64_t step) {
    const aqua_layout *layout = &state->plan->layout;
    int64_t at = y * layout->nx;
    state->loops->watch(layout, state->water[step & 1], y,
                        state->most ? (char *)state->most + at * state->size : NULL,
                        state->arrived ? state->arrived + at : NULL,
                        state->plan->params->arrival_depth * state->store.per_metre, (int32_t)step);
}

static bool watches(const aqua_cpu *state) {
    return state->most || state->arrived;
}

/* The number of a cell of the layout. */
static int64_t cell_number(const aqua_layout *layout, int64_t at) {
    return (at / layout->pitch - AQUA_HALO) * layout->nx + at % layout->pitch - AQUA_HALO;
}

static sel_status pour_whole(aqua_cpu *state, int source, sel_error *error) {
    const aqua_inflow *inflow = &state->plan->inflows[source];
    int32_t *water = state->water[state->base.step & 1];
    int64_t *turn = &state->inflow_turn[source];
    int64_t whole = aqua_whole(state->inflow_units[source], &state->inflow_carry[source]);
    int64_t each = whole / inflow->count, odd = whole % inflow->count;
    for (int64_t c = 0; c < inflow->count; c++) {
        int64_t behind = (c - *turn + inflow->count) % inflow->count, at = inflow->at[c];
        int64_t depth = water[at] + each + (behind < odd);
        if ((double)depth > state->store.most_poured) {
            state->base.broken = true;
            return aqua_too_deep(state->plan, state->base.step,
                                 cell_number(&state->plan->layout, at), error);
        }
        water[at] = (int32_t)depth;
    }
    *turn = (*turn + odd) % inflow->count;
    sel_total_more(&state->inflow[source], state->store.whole, (double)whole);
    return SEL_OK;
}

/* Before anything is poured: a source that alone brings more than a cell may hold. */
static sel_status check_sources(const aqua_cpu *state, sel_error *error) {
    for (int i = 0; i < state->plan->inflow_count && state->store.whole; i++) {
        const aqua_inflow *inflow = &state->plan->inflows[i];
        if (state->inflow_units[i] / (double)inflow->count > state->store.limit) {
            return aqua_too_deep(state->plan, state->base.step,
                                 cell_number(&state->plan->layout, inflow->at[0]), error);
        }
    }
    return SEL_OK;
}

static sel_status pour_sources(aqua_cpu *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < state->plan->inflow_count && !status; i++) {
        const aqua_inflow *inflow = &state->plan->inflows[i];
        if (state->store.whole) {
            status = pour_whole(state, i, error);
            continue;
        }
        double *water = state->water[state->base.step & 1];
        double each = state->inflow_units[i] / (double)inflow->count;
        for (int64_t c = 0; c < inflow->count; c++) {
            water[inflow->at[c]] += each;
        }
        sel_total_more(&state->inflow[i], state->store.whole, each * (double)inflow->count);
    }
    return status;
}

/* Ghosts before the flow: open ones dry, the others at their level. */
static void settle(aqua_cpu *state) {
    const aqua_plan *plan = state->plan;
    void *water = state->water[state->base.step & 1];
    bool moves = aqua_levels_depend(plan) != 0;
    aqua_set_ghosts(plan, state->z, moves ? state->bed : NULL, water);
    if (moves) {
        aqua_fill_frame(plan, state->bed, (size_t)state->size);
    }
    aqua_fill_frame(plan, water, (size_t)state->size);
}

static double scatter_all(aqua_cpu *state, const aqua_step *step) {
    const aqua_layout *layout = &state->plan->layout;
    size_t bytes = (size_t)(layout->cells * state->size);
    double most = 0;
    memset(state->more, 0, bytes);
    memset(state->less, 0, bytes);
    /* Rows that lie three apart share no receiver: no two threads write to one place, and the order
     * in which a place is written does not depend on their number. */
    for (int64_t turn = 0; turn < 3; turn++) {
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
        for (int64_t y = turn - 1; y <= layout->ny; y += 3) {
            state->loops->scatter(step, y, state->more, state->less);
        }
    }
#pragma omp parallel for schedule(static) num_threads(state->base.threads) reduction(max : most)
    for (int64_t y = 0; y < layout->ny; y++) {
        double here = state->loops->update(step, y, state->more, state->less);
        most = here > most ? here : most;
    }
    return most;
}

/* Rows at a time: enough for the two that are computed twice not to count. */
static int64_t rows_of_a_piece(const aqua_cpu *state) {
    int64_t share = state->plan->layout.ny / (4 * state->base.threads);
    return share < 16 ? 16 : share > 128 ? 128 : share;
}

static double gather_all(aqua_cpu *state, const aqua_step *step) {
    const int64_t ny = state->plan->layout.ny, piece = rows_of_a_piece(state);
    const int64_t scratch = scratch_bytes(state);
    double most = 0;
#pragma omp parallel for schedule(dynamic) num_threads(state->base.threads) reduction(max : most)
    for (int64_t y = 0; y < ny; y += piece) {
        int64_t end = y + piece < ny ? y + piece : ny;
        double here =
            state->loops->flow(step, y, end, state->scratch + scratch * omp_get_thread_num());
        most = here > most ? here : most;
    }
    return most;
}

/* The first cell that is deeper than may be after the flow. */
static sel_status refuse_depth(const aqua_cpu *state, sel_error *error) {
    const aqua_layout *layout = &state->plan->layout;
    const int32_t *water = state->water[(state->base.step + 1) & 1];
    for (int64_t i = 0; i < aqua_cells(state); i++) {
        int32_t depth = water[aqua_index(layout, i % layout->nx, i / layout->nx)];
        if ((double)depth > state->store.limit) {
            return aqua_too_deep(state->plan, state->base.step + 1, i, error);
        }
    }
    return SEL_OK;
}

static void soak_and_watch(aqua_cpu *state, double uniform) {
    const bool soaks = state->plan->infiltration != AQUA_NOTHING;
    if (!soaks && !watches(state)) {
        return;
    }
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t y = 0; y < state->plan->layout.ny; y++) {
        if (soaks) {
            soak_row(state, y, uniform);
        }
        if (watches(state)) {
            watch_row(state, y, state->base.step + 1);
        }
    }
    if (soaks) {
        sel_total_more(&state->soaked, state->store.whole,
                       sel_join_rows(&state->base, state->store.whole));
    }
}

/* The uniform amount of this step: whole quanta, the rest is carried. */
static double take_uniform(const aqua_cpu *state, aqua_amount *amount) {
    return state->store.whole ? (double)aqua_whole(amount->uniform, &amount->carry)
                              : amount->uniform;
}

static sel_status one_step(aqua_cpu *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    if (plan->rain != AQUA_NOTHING) {
        pour_rain(state, take_uniform(state, &state->rain));
    }
    sel_status status = pour_sources(state, error);
    if (status) {
        return status;
    }
    settle(state);
    const aqua_step step = aqua_describe_step(state, state->base.step);
    double most =
        plan->params->scheme == AQUA_SCATTER ? scatter_all(state, &step) : gather_all(state, &step);
    status = most > state->store.limit ? refuse_depth(state, error) : SEL_OK;
    for (int r = 1; state->edges && r <= plan->base.domain->region_count; r++) {
        const int64_t first = state->first_edge[r], end = state->first_edge[r + 1];
        sel_total_more(&state->out[r], state->store.whole,
                       aqua_edges_flux(state, state->base.step, state->edges + first, end - first));
    }
    soak_and_watch(state, take_uniform(state, &state->soil));
    state->base.step++;
    return status;
}

static unsigned depends(const sel_plan *base) {
    const aqua_plan *plan = (const aqua_plan *)base;
    unsigned mask = aqua_levels_depend(plan) | sel_quantity_depends(&plan->params->rain) |
                    sel_quantity_depends(&plan->params->infiltration);
    for (int i = 0; i < plan->inflow_count; i++) {
        mask |= sel_quantity_depends(&plan->inflows[i].source->discharge);
    }
    return mask;
}

static sel_status terms(sel_state *base, unsigned due, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    sel_status status = set_amounts(state, due, error);
    return status ? status : check_sources(state, error);
}

static sel_status steps(sel_state *base, int64_t n, sel_error *error) {
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < n && !status; k++) {
        status = one_step((aqua_cpu *)base, error);
    }
    return status;
}

static sel_status start(sel_state *base, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    const aqua_plan *plan = state->plan;
    sel_status status = aqua_fill_bed(plan, state->bed, error);
    status = status ? status : aqua_fill_water(plan, state->water[0], error);
    if (status) {
        return status;
    }
    if (state->edges) {
        aqua_all_edges(plan, state->edges, state->first_edge);
    }
    if (state->alphas) {
        aqua_fill_alpha(plan, state->alphas);
    }
    if (state->arrived) {
        memset(state->arrived, 0xff, (size_t)aqua_cells(state) * sizeof *state->arrived); /* -1 */
    }
#pragma omp parallel for schedule(static) num_threads(state->base.threads) if (watches(state))
    for (int64_t y = 0; y < plan->layout.ny; y++) {
        if (watches(state)) {
            watch_row(state, y, 0);
        }
    }
    state->first_volume = aqua_volume(state);
    /* Fluxes may be asked for before the first step. */
    return set_amounts(state, AQUA_ALWAYS, error);
}

#define DECLARE(level) extern const aqua_loops aqua_loops_##level[2];
SEL_LEVELS(DECLARE)
#define TABLE(level) {aqua_loops_##level},

const aqua_kernels *aqua_kernels_usable(int k) {
    static const aqua_kernels tables[] = {SEL_LEVELS(TABLE)};
    return sel_level(k) < 0 ? NULL : &tables[sel_level(k)];
}

const sel_cpu aqua_on_cpu = {
    .what = "the water",
    .state_size = sizeof(aqua_cpu),
    .list = list,
    .start = start,
    .depends = depends,
    .terms = terms,
    .steps = steps,
    .look = {aqua_cpu_field, aqua_cpu_main, aqua_watched, aqua_cpu_other},
};
