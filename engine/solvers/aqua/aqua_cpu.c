/* aqua_cpu.c -- the CPU backend of sel.aqua: memory, steps, threads, answers to requests.
 *
 * Two copies of the depths take turns. Threads take pieces of some rows; no cell's result depends
 * on the thread that computes it. Sums are made row by row, and those of the rows are added in a
 * fixed order.
 */
#include <omp.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"
#include "engine/core/cpu.h"

/* ---- memory ---- */

static void aqua_cpu_list(sel_state *base) {
    aqua_state *state = (aqua_state *)base;
    const aqua_loops *loops = aqua_loops_usable(0);
    aqua_list(state, 0, 0);
    state->loops = loops ? loops + base->plan->precision : NULL;
    SEL_ADD(&base->arrays, state, amounts, aqua_amount_count(state->plan), 0);
    SEL_ADD(&base->arrays, state, flux,
            base->plan->wants_balance ? state->plan->ghosts.first_edge[AQUA_FIRSTS - 1] : 0, 0);
    SEL_ADD(&base->arrays, state, scratch,
            loops ? base->threads * (int64_t)state->loops->scratch : 0, 0);
}

/* ---- depths ---- */

/* From cell x of row y on. */
static void *depths(const aqua_state *state, int64_t step, int64_t x, int64_t y) {
    return (char *)sel_field_at(&state->base, 0, step) +
           aqua_index(&state->plan->layout, x, y) * state->size;
}

/* The array in which this rank has element `at`, or beside which it lies; NULL: another one has. */
static void *depths_at(const aqua_state *state, int64_t step, int64_t at) {
    const int64_t y = aqua_row_beside(&state->plan->layout, at);
    return sel_state_has(&state->base, y) ? sel_field_at(&state->base, 0, step) : NULL;
}

static void *offset(void *array, int64_t bytes) {
    return array ? (char *)array + bytes : NULL;
}

/* In units of the store. */
static double aqua_cpu_sum_row(const sel_state *base, int64_t y) {
    const aqua_state *state = (const aqua_state *)base;
    const uint8_t *solid = sel_state_solids(base, y);
    const void *row = depths(state, base->step, 0, y);
    double sum = 0;
    for (int64_t x = 0; x < state->plan->layout.nx; x++) {
        sum += solid[x] ? 0 : sel_get(row, base->field[0].type, x);
    }
    return sum;
}

/* The flow of the step to come or under way. */
static aqua_step describe_step(const aqua_state *state) {
    const int64_t step = state->base.step;
    return (aqua_step){
        .layout = state->plan->layout,
        .bed = state->bed,
        .from = sel_field_at(&state->base, 0, step),
        .to = sel_field_at(&state->base, 0, step + 1),
        .alphas = state->alphas,
        .alpha = state->store.alpha,
        .least = state->store.least,
        .equilibrium = state->plan->params->equilibrium,
        .sent = !state->store.whole && state->plan->params->scheme == AQUA_SCATTER,
    };
}

/* ---- a step ---- */

/* Rain is added to the depths of `step`, or infiltration taken from them (k; not at step 0). After
 * infiltration depths are final: then the greatest depths and arrivals are kept up. */
static void aqua_cpu_supply(aqua_state *state, int k, int64_t step) {
    const int64_t nx = state->plan->layout.nx, size = state->size;
    const double arrival = state->plan->params->arrival_depth * state->store.per_metre;
    const bool watches = k == AQUA_SOIL && (state->most || state->arrived);
    const bool supplies = aqua_supply_of(state->plan, k) && !(k == AQUA_SOIL && step == 0);
    const sel_rows_range own = sel_own_planes(&state->base);
    if (!supplies && !watches) {
        return;
    }
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t y = own.first; y < own.end; y++) {
        const int64_t at = y * nx;
        void *water = depths(state, step, 0, y);
        if (supplies) {
            *sel_state_partials(&state->base, y) =
                state->loops->supply(water, nx, sel_state_solids(&state->base, y),
                                     state->amounts[k], offset(state->rate[k], at * size),
                                     offset(state->owed[k], at * size), k == AQUA_SOIL);
        }
        if (watches) {
            state->loops->watch(water, nx, offset(state->most, at * size),
                                offset(state->arrived, at * (int64_t)sizeof *state->arrived),
                                arrival, (int32_t)step);
        }
    }
    if (supplies) {
        sel_total_more(&state->totals[k], state->store.whole,
                       sel_join_rows(&state->base, state->store.whole));
    }
}

static sel_status add_sources(aqua_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const aqua_dose *doses = (const aqua_dose *)(state->amounts + AQUA_SUPPLIES);
    const sel_type type = state->base.field[0].type;
    sel_status status = SEL_OK;
    for (int64_t c = 0; c < plan->source_cell_count; c++) {
        const aqua_source_cell *cell = &plan->source_cells[c];
        void *water = depths_at(state, state->base.step, cell->at);
        if (!water) {
            continue;
        }
        const double depth =
            sel_get(water, type, cell->at) + aqua_dose_of(&doses[cell->source], cell);
        if (depth > state->store.most_poured) {
            status = aqua_too_deep(plan, state->base.step,
                                   aqua_cell_number(&plan->layout, cell->at), error);
            break;
        }
        sel_put(water, type, cell->at, depth);
    }
    status = plan->source_cell_count ? sel_state_agree(&state->base, status, error) : SEL_OK;
    state->base.broken = state->base.broken || status;
    return status;
}

/* Fills what lies beyond periodic axes; rows beyond the ends of several ranks are exchanged. */
static void fill_frame(const aqua_state *state, int64_t step) {
    const aqua_layout *l = &state->plan->layout;
    const unsigned periodic = state->plan->base.domain->grid.periodic;
    const sel_type type = state->base.field[0].type;
    const int64_t count = aqua_images(l->nx, l->ny, periodic, state->base.ranks->count == 1);
    for (int64_t at, from, k = 0; k < count; k++) {
        const bool is = aqua_image(l->nx, l->ny, l->pitch, periodic, k, &at, &from);
        void *array = is ? depths_at(state, step, at) : NULL;
        if (array) {
            sel_put(array, type, at, sel_get(array, type, from));
        }
    }
}

/* Sets the bed of a ghost, also at its periodic images, where this rank has them. Other cells have
 * their images from the start on. */
static void set_bed_of_ghost(const aqua_state *state, int64_t at, double bed) {
    const aqua_layout *l = &state->plan->layout;
    const sel_patch *own = &state->base.own;
    const unsigned periodic = state->plan->base.domain->grid.periodic;
    const int64_t far_x = aqua_image_reach(periodic, 0), far_y = aqua_image_reach(periodic, 1);
    const int64_t first = own->lo[1] * l->pitch, end = (own->hi[1] + 2 * AQUA_HALO) * l->pitch;
    for (int64_t j = -far_y; j <= far_y; j++) {
        for (int64_t i = -far_x; i <= far_x; i++) {
            const int64_t image = aqua_image_of(l->nx, l->ny, l->pitch, at, i, j);
            if (image >= first && image < end) {
                sel_put(state->bed, state->real, image, bed);
            }
        }
    }
}

/* Sets the depths of the ghosts, open ones dry, and their beds, if wanted; and the frame. */
static void set_ghosts(aqua_state *state, int64_t step, bool beds) {
    const aqua_ghosts *ghosts = &state->plan->ghosts;
    const double *z = aqua_levels(state);
    for (int64_t k = 0; k < ghosts->count; k++) {
        const aqua_ghost *g = &ghosts->v[k];
        void *water = depths_at(state, step, g->at);
        if (water) {
            sel_put(water, state->base.field[0].type, g->at,
                    aqua_water_of(&state->store, aqua_ghost_depth(g, z[k])));
        }
        if (beds) {
            set_bed_of_ghost(state, g->at, aqua_bed_of(&state->store, aqua_ghost_bed(g, z[k])));
        }
    }
    fill_frame(state, step);
}

/* Moves water in all rows of this rank; returns the greatest depth. A thread takes `piece` rows at
 * a time. They are enough that the two rows computed twice, at the ends of a piece, cost little. */
static double flow_all(aqua_state *state) {
    const int64_t share = state->plan->layout.ny / (4 * state->base.threads);
    const int64_t piece = share < 16 ? 16 : share > 128 ? 128 : share;
    double most = 0;
    const sel_patch *own = &state->base.own;
    const aqua_step step = describe_step(state);
#pragma omp parallel for schedule(dynamic) num_threads(state->base.threads) reduction(max : most)
    for (int64_t y = own->lo[1]; y < own->hi[1]; y += piece) {
        int64_t end = y + piece < own->hi[1] ? y + piece : own->hi[1];
        uint8_t *scratch = state->scratch + (int64_t)state->loops->scratch * omp_get_thread_num();
        double here = state->loops->flow(&step, y, end, scratch);
        most = here > most ? here : most;
    }
    return state->store.whole ? sel_state_largest(&state->base, most) : most;
}

/* Names the first cell that is too deep after the flow. */
static sel_status refuse_depth(const aqua_state *state, sel_error *error) {
    const int64_t nx = state->plan->layout.nx;
    const sel_rows_range own = sel_own_planes(&state->base);
    sel_status status = SEL_OK;
    for (int64_t i = own.first * nx; i < own.end * nx && !status; i++) {
        const void *depth = depths(state, state->base.step + 1, i % nx, i / nx);
        if (sel_get(depth, state->base.field[0].type, 0) > state->store.limit) {
            status = aqua_too_deep(state->plan, state->base.step + 1, i, error);
        }
    }
    return sel_state_agree(&state->base, status, error);
}

/* flux[e] of the first `count` edges in the step under way, units of the store. Each rank computes
 * those in its own rows, then every rank gets all. */
static void find_fluxes(const aqua_state *state, int64_t count, double *flux) {
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t e = 0; e < count; e++) {
        const int64_t y = aqua_row_of_edge(&state->base, e);
        if (sel_state_has(&state->base, y)) {
            const aqua_step step = describe_step(state);
            flux[e] = state->loops->edge(&step, &state->edges[e]);
        }
    }
    sel_state_share_items(&state->base, flux, sizeof *flux, count, aqua_row_of_edge);
}

/* Into the ghosts of each region, to the totals of the balance. */
static void add_fluxes(aqua_state *state) {
    const int64_t *first = state->plan->ghosts.first_edge;
    find_fluxes(state, first[AQUA_FIRSTS - 1], state->flux);
    for (int r = 1; r <= state->plan->base.domain->region_count; r++) {
        sel_total sum = {0};
        for (int64_t e = first[r]; e < first[r + 1]; e++) {
            sel_total_more(&sum, state->store.whole, state->flux[e]);
        }
        sel_total_more(&state->totals[aqua_total_of(state->plan, r)], state->store.whole,
                       sel_total_of(&sum, state->store.whole));
    }
}

/* The fluxes of this step; and sel_cpu.observe: at step 0 those of the step to come, before rain.
 */
static void aqua_cpu_observe(sel_state *base, bool now) {
    const aqua_state *state = (const aqua_state *)base;
    if (now && state->shown) {
        find_fluxes(state, state->edge_count, state->shown);
    }
}

static sel_status aqua_cpu_steps(sel_state *base, int64_t n, sel_error *error) {
    aqua_state *state = (aqua_state *)base;
    sel_status status = SEL_OK;
    for (; n > 0 && !status; n--) {
        aqua_take(state, state->amounts);
        aqua_cpu_supply(state, AQUA_RAIN, base->step);
        status = add_sources(state, error);
        if (status) {
            return status;
        }
        set_ghosts(state, base->step, state->plan->levels_depend);
        sel_state_exchange(base, base->step, SEL_FETCH);
        const double most = flow_all(state);
        status = most > state->store.limit ? refuse_depth(state, error) : SEL_OK;
        if (base->plan->wants_balance) {
            add_fluxes(state);
        }
        aqua_cpu_observe(base, base->observing);
        sel_state_pass(base, 1);
        aqua_cpu_supply(state, AQUA_SOIL, base->step);
    }
    return status;
}

/* sel_cpu.loaded */
static sel_status aqua_cpu_loaded(sel_state *base, sel_error *error) {
    (void)error;
    for (int ahead = 0; ahead < 2; ahead++) { /* both copies */
        set_ghosts((aqua_state *)base, base->step + ahead, true);
    }
    return SEL_OK;
}

static sel_status aqua_cpu_start(sel_state *base, sel_error *error) {
    aqua_state *state = (aqua_state *)base;
    sel_status status = aqua_start_inputs(state, error);
    status = sel_state_agree(base, status, error);
    status = status ? status : aqua_start(state, error);
    if (status) {
        return status;
    }
    set_ghosts(state, 0, true);
    sel_state_exchange(base, 0, SEL_FETCH);
    if (state->arrived) {
        const sel_rows_range own = sel_own_planes(base);
        const int64_t nx = state->plan->layout.nx;
        memset(state->arrived + own.first * nx, 0xff, /* -1 */
               (size_t)((own.end - own.first) * nx) * sizeof *state->arrived);
    }
    aqua_cpu_supply(state, AQUA_SOIL, 0);
    state->first_volume = sel_sum_rows(base, aqua_cpu_sum_row, state->store.whole);
    return SEL_OK;
}

/* ---- answers ---- */

static int aqua_cpu_field(const sel_state *base, int which, int64_t y, int64_t x0, int64_t x1,
                          const double **values) {
    const aqua_state *state = (const aqua_state *)base;
    const aqua_plan *plan = state->plan;
    const int64_t at = y * plan->layout.nx + x0;
    const void *water = aqua_is_greatest(which) ? (char *)state->most + at * state->size
                                                : depths(state, base->step, x0, y);
    double *to = sel_state_scratch(base);
    for (int64_t x = 0; x < x1 - x0; x++) {
        const double depth = sel_get(water, base->field[0].type, x) / state->store.per_metre;
        const int32_t step = state->arrived ? state->arrived[at + x] : -1;
        to[x] = aqua_field_of(which, plan->ground[at + x], depth,
                              step < 0 ? -1 : step * plan->base.domain->grid.dt);
    }
    *values = to;
    return 1;
}

static sel_status aqua_cpu_other(sel_state *base, sel_request *request, sel_error *error) {
    aqua_state *state = (aqua_state *)base;
    int64_t first;
    (void)error;
    if (request->kind == SEL_FLUX) {
        const int64_t count = aqua_flux_edges(state->plan, request, &first);
        aqua_answer_flux(state, state->shown + first, count, request);
    } else {
        aqua_answer_balance(state, state->totals,
                            sel_sum_rows(base, aqua_cpu_sum_row, state->store.whole), request);
    }
    return SEL_OK;
}

/* ---- the solver ---- */

extern const aqua_loops SEL_OF_LEVELS(aqua_loops, [2]);

const aqua_loops *aqua_loops_usable(int k) {
    static const aqua_loops *const tables[] = {SEL_OF_LEVELS(aqua_loops, )};
    return sel_level(k) < 0 ? NULL : tables[sel_level(k)];
}

const sel_cpu aqua_on_cpu = {
    .what = "the water",
    .state_size = sizeof(aqua_state),
    .list = aqua_cpu_list,
    .start = aqua_cpu_start,
    .terms = aqua_refuse_inflow,
    .store = aqua_keep_values,
    .cells = aqua_cells,
    .steps = aqua_cpu_steps,
    .observe = aqua_cpu_observe,
    .loaded = aqua_cpu_loaded,
    .look = {.field = aqua_cpu_field, .other = aqua_cpu_other},
};
