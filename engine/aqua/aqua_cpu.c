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

static void list(sel_state *base) {
    aqua_cpu *state = (aqua_cpu *)base;
    const aqua_kernels *kernels = aqua_kernels_usable(0);
    sel_arrays *arrays = &base->arrays;
    aqua_list(&state->all, 0, 0);
    state->loops = kernels ? &kernels->loops[base->plan->precision] : NULL;
    SEL_ADD_VALUE(arrays, state, soaked);
    SEL_ADD(arrays, state, out, base->plan->domain->region_count + 1, SEL_SAVED);
    SEL_ADD(arrays, state, rows, state->all.plan->layout.nx * base->threads, 0);
    SEL_ADD(arrays, state, scratch, kernels ? base->threads * scratch_bytes(state) : 0, 0);
}

/* ---- sums ---- */

static double sum_row(const sel_state *base, int64_t y) {
    const aqua_cpu *state = (const aqua_cpu *)base;
    return state->loops->sum(&state->all.plan->layout, state->all.water[base->step & 1], y,
                             sel_state_solids(base, y));
}

double aqua_volume(aqua_cpu *state) {
    return sel_sum_rows(&state->all.base, sum_row, state->all.store.whole);
}

double aqua_edges_flux(const aqua_cpu *state, int64_t step, const aqua_edge *edges, int64_t count) {
    const aqua_step described = aqua_describe_step(state, step);
    sel_total total = {0};
    for (int64_t e = 0; e < count; e++) {
        const aqua_edge *edge = &edges[e];
        sel_total_more(&total, state->all.store.whole,
                       edge->sign * state->loops->edge(&described, edge->at, edge->k));
    }
    return sel_total_of(&total, state->all.store.whole);
}

/* ---- amounts ---- */

static sel_status set_rates(aqua_cpu *state, aqua_amount *amount, unsigned due, sel_error *error) {
    return aqua_rates_are_due(amount, due) ? aqua_rates(&state->all, amount, amount->rate, error)
                                           : SEL_OK;
}

/* Evaluates for the step to come what depends on what is due. */
static sel_status terms(sel_state *base, unsigned due, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    sel_status status = set_rates(state, &state->all.rain, due, error);
    status = status ? status : set_rates(state, &state->all.soil, due, error);
    status = status ? status : aqua_evaluate(&state->all, base->step, due, error);
    return status ? status
                  : aqua_levels(state->all.plan, (double)base->step, due, state->all.z, error);
}

/* ---- a step ---- */

aqua_step aqua_describe_step(const aqua_cpu *state, int64_t step) {
    const aqua_plan *plan = state->all.plan;
    double alpha = plan->largest_alpha;
    return (aqua_step){
        .layout = plan->layout,
        .bed = state->all.bed,
        .from = state->all.water[step & 1],
        .to = state->all.water[(step + 1) & 1],
        .alphas = state->all.alphas,
        .alpha = alpha < state->all.store.largest_alpha ? alpha : state->all.store.largest_alpha,
        .least = state->all.store.least,
        .equilibrium = plan->params->equilibrium,
    };
}

static void pour_rain(aqua_cpu *state, double uniform) {
    const aqua_plan *plan = state->all.plan;
    const aqua_layout *layout = &plan->layout;
    void *water = state->all.water[state->all.base.step & 1];
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads)
    for (int64_t y = 0; y < layout->ny; y++) {
        const uint8_t *solid = sel_state_solids(&state->all.base, y);
        int64_t at = y * layout->nx * state->all.size;
        state->all.base.partials[y * SEL_PARTIALS] =
            plan->rain == AQUA_FIELD ? state->loops->pour_field(layout, water, y, solid,
                                                                (char *)state->all.rain.rate + at,
                                                                (char *)state->all.rain.owed + at)
                                     : state->loops->pour(layout, water, y, solid, uniform);
    }
    sel_total_more(&state->all.rained, state->all.store.whole,
                   sel_join_rows(&state->all.base, state->all.store.whole));
}

static void soak_row(aqua_cpu *state, int64_t y, double uniform) {
    const aqua_plan *plan = state->all.plan;
    const aqua_layout *layout = &plan->layout;
    void *water = state->all.water[(state->all.base.step + 1) & 1];
    const uint8_t *solid = sel_state_solids(&state->all.base, y);
    int64_t at = y * layout->nx * state->all.size;
    state->all.base.partials[y * SEL_PARTIALS] =
        plan->infiltration == AQUA_FIELD
            ? state->loops->soak_field(layout, water, y, solid, (char *)state->all.soil.rate + at,
                                       (char *)state->all.soil.owed + at)
            : state->loops->soak(layout, water, y, solid, uniform);
}

static void watch_row(aqua_cpu *state, int64_t y, int64_t step) {
    const aqua_layout *layout = &state->all.plan->layout;
    int64_t at = y * layout->nx;
    state->loops->watch(layout, state->all.water[step & 1], y,
                        state->all.most ? (char *)state->all.most + at * state->all.size : NULL,
                        state->all.arrived ? state->all.arrived + at : NULL,
                        state->all.plan->params->arrival_depth * state->all.store.per_metre,
                        (int32_t)step);
}

static bool watches(const aqua_cpu *state) {
    return state->all.most || state->all.arrived;
}

static sel_status pour_whole(aqua_cpu *state, int source, aqua_dose dose, sel_error *error) {
    const aqua_inflow *inflow = &state->all.plan->inflows[source];
    int32_t *water = state->all.water[state->all.base.step & 1];
    for (int64_t c = 0; c < inflow->count; c++) {
        int64_t behind = (c - dose.turn + inflow->count) % inflow->count, at = inflow->at[c];
        int64_t depth = water[at] + (int64_t)dose.each + (behind < dose.odd);
        if ((double)depth > state->all.store.most_poured) {
            state->all.base.broken = true;
            return aqua_too_deep(state->all.plan, state->all.base.step,
                                 aqua_cell_number(&state->all.plan->layout, at), error);
        }
        water[at] = (int32_t)depth;
    }
    return SEL_OK;
}

static sel_status pour_sources(aqua_cpu *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < state->all.plan->inflow_count && !status; i++) {
        const aqua_inflow *inflow = &state->all.plan->inflows[i];
        const aqua_dose dose = aqua_take_dose(&state->all, i);
        double *water = state->all.water[state->all.base.step & 1];
        if (state->all.store.whole) {
            status = pour_whole(state, i, dose, error);
            continue;
        }
        for (int64_t c = 0; c < inflow->count; c++) {
            water[inflow->at[c]] += dose.each;
        }
    }
    return status;
}

/* Ghosts before the flow: open ones dry, the others at their level. */
static void settle(aqua_cpu *state) {
    const aqua_plan *plan = state->all.plan;
    void *water = state->all.water[state->all.base.step & 1];
    bool moves = aqua_levels_depend(plan) != 0;
    aqua_set_ghosts(plan, state->all.z, moves ? state->all.bed : NULL, water);
    if (moves) {
        aqua_fill_frame(plan, state->all.bed, (size_t)state->all.size);
    }
    aqua_fill_frame(plan, water, (size_t)state->all.size);
}

static double scatter_all(aqua_cpu *state, const aqua_step *step) {
    const aqua_layout *layout = &state->all.plan->layout;
    size_t bytes = (size_t)(layout->cells * state->all.size);
    double most = 0;
    memset(state->all.more, 0, bytes);
    memset(state->all.less, 0, bytes);
    /* Rows that lie three apart share no receiver: no two threads write to one place, and the order
     * in which a place is written does not depend on their number. */
    for (int64_t turn = 0; turn < 3; turn++) {
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads)
        for (int64_t y = turn - 1; y <= layout->ny; y += 3) {
            state->loops->scatter(step, y, state->all.more, state->all.less);
        }
    }
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads) reduction(max : most)
    for (int64_t y = 0; y < layout->ny; y++) {
        double here = state->loops->update(step, y, state->all.more, state->all.less);
        most = here > most ? here : most;
    }
    return most;
}

/* Rows at a time: enough for the two that are computed twice not to count. */
static int64_t rows_of_a_piece(const aqua_cpu *state) {
    int64_t share = state->all.plan->layout.ny / (4 * state->all.base.threads);
    return share < 16 ? 16 : share > 128 ? 128 : share;
}

static double gather_all(aqua_cpu *state, const aqua_step *step) {
    const int64_t ny = state->all.plan->layout.ny, piece = rows_of_a_piece(state);
    const int64_t scratch = scratch_bytes(state);
    double most = 0;
#pragma omp parallel for schedule(dynamic) num_threads(state->all.base.threads) reduction(max \
                                                                                          : most)
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
    const aqua_layout *layout = &state->all.plan->layout;
    const int32_t *water = state->all.water[(state->all.base.step + 1) & 1];
    for (int64_t i = 0; i < aqua_cells(&state->all); i++) {
        int32_t depth = water[aqua_index(layout, i % layout->nx, i / layout->nx)];
        if ((double)depth > state->all.store.limit) {
            return aqua_too_deep(state->all.plan, state->all.base.step + 1, i, error);
        }
    }
    return SEL_OK;
}

static void soak_and_watch(aqua_cpu *state, double uniform) {
    const bool soaks = state->all.plan->infiltration != AQUA_NOTHING;
    if (!soaks && !watches(state)) {
        return;
    }
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads)
    for (int64_t y = 0; y < state->all.plan->layout.ny; y++) {
        if (soaks) {
            soak_row(state, y, uniform);
        }
        if (watches(state)) {
            watch_row(state, y, state->all.base.step + 1);
        }
    }
    if (soaks) {
        sel_total_more(&state->soaked, state->all.store.whole,
                       sel_join_rows(&state->all.base, state->all.store.whole));
    }
}

static sel_status one_step(aqua_cpu *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    if (plan->rain != AQUA_NOTHING) {
        pour_rain(state, aqua_take(&state->all, &state->all.rain));
    }
    sel_status status = pour_sources(state, error);
    if (status) {
        return status;
    }
    settle(state);
    const aqua_step step = aqua_describe_step(state, state->all.base.step);
    double most =
        plan->params->scheme == AQUA_SCATTER ? scatter_all(state, &step) : gather_all(state, &step);
    status = most > state->all.store.limit ? refuse_depth(state, error) : SEL_OK;
    for (int r = 1; state->all.edges && r <= plan->base.domain->region_count; r++) {
        const int64_t first = state->all.first_edge[r], end = state->all.first_edge[r + 1];
        sel_total_more(
            &state->out[r], state->all.store.whole,
            aqua_edges_flux(state, state->all.base.step, state->all.edges + first, end - first));
    }
    soak_and_watch(state, aqua_take(&state->all, &state->all.soil));
    state->all.base.step++;
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

static sel_status steps(sel_state *base, int64_t n, sel_error *error) {
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < n && !status; k++) {
        status = one_step((aqua_cpu *)base, error);
    }
    return status;
}

/* sel_cpu.loaded */
static sel_status loaded(sel_state *base, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    const aqua_plan *plan = state->all.plan;
    const size_t size = (size_t)state->all.size;
    const int64_t step = base->step;
    base->step = step > 0 ? step - 1 : 0;
    sel_status status = terms(base, AQUA_ALWAYS, error);
    base->step = step;
    for (int k = 0; k < 2; k++) {
        aqua_set_ghosts(plan, state->all.z, state->all.bed, state->all.water[k]);
        aqua_fill_frame(plan, state->all.water[k], size);
    }
    aqua_fill_frame(plan, state->all.bed, size);
    return status;
}

static sel_status start(sel_state *base, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    const aqua_plan *plan = state->all.plan;
    sel_status status = aqua_fill_bed(plan, state->all.bed, error);
    status = status ? status : aqua_fill_water(plan, state->all.water[0], error);
    if (status) {
        return status;
    }
    if (state->all.edges) {
        aqua_all_edges(plan, state->all.edges, state->all.first_edge);
    }
    if (state->all.alphas) {
        aqua_fill_alpha(plan, state->all.alphas);
    }
    if (state->all.arrived) {
        memset(state->all.arrived, 0xff,
               (size_t)aqua_cells(&state->all) * sizeof *state->all.arrived); /* -1 */
    }
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads) if (watches(state))
    for (int64_t y = 0; y < plan->layout.ny; y++) {
        if (watches(state)) {
            watch_row(state, y, 0);
        }
    }
    state->all.first_volume = aqua_volume(state);
    /* Fluxes may be asked for before the first step. */
    return terms(base, AQUA_ALWAYS, error);
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
    .loaded = loaded,
    .look = {aqua_cpu_field, aqua_cpu_main, aqua_watched, aqua_cpu_other},
};
