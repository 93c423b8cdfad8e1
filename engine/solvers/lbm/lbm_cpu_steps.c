/* lbm_cpu_steps.c -- the CPU backend of lattice Boltzmann: memory, stepping, threads.
 *
 * Two copies of the cells' components, populations or moments, take turns. A step goes row by row:
 * the row's cells, then its halo.
 * Rows are shared out among the threads; no cell's result depends on who computes it.
 */
#include "engine/solvers/lbm/lbm_cpu.h"

#include <stdlib.h>
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/solvers/lbm/lbm_closed.h"

/* Planes begin this many cache lines further on in a page of 64 lines than the plane before: so all
 * streams of a step stand in different sets of the caches, wherever they are in a row. */
enum { LINE = 64, PAGE_LINES = 64, PLANE_LINES = 25 };

static int64_t pad_plane(int64_t bytes) {
    const int64_t lines = (bytes + LINE - 1) / LINE;
    const int64_t missing = (PLANE_LINES - lines) % PAGE_LINES;
    return (lines + (missing < 0 ? missing + PAGE_LINES : missing)) * LINE;
}

static int64_t lbm_cpu_steps_round_up(int64_t bytes) {
    return (bytes + SEL_LINE - 1) / SEL_LINE * SEL_LINE;
}

/* Rows begin with x = -1 and end with padding after x = nx. */
static lbm_layout lbm_cpu_steps_make_layout(const sel_grid *grid, const sel_patch *own,
                                            int64_t real) {
    lbm_layout layout = {.nx = grid->n[0], .ny = grid->n[1], .nz = grid->n[2]};
    layout.pitch = lbm_cpu_steps_round_up((layout.nx + 2) * real) / real;
    layout.slice = layout.pitch * (sel_patch_cells(own, 1) + 2);
    const int64_t slices = grid->dims == 3 ? sel_patch_cells(own, 2) + 2 : 1;
    layout.plane = pad_plane(layout.slice * slices * real) / real;
    return layout;
}

/* What a thread needs to make populations of moments (lbm_scatter.h): rows of a line more on either
 * side, three of populations and nine of velocities. */
static int64_t lbm_scratch_bytes(const lbm_plan *plan, int64_t nx) {
    const int64_t row = lbm_cpu_steps_round_up((nx + 2) * lbm_real(&plan->base)) + 2 * SEL_LINE;
    const lbm_lattice *lattice = plan->boundary.lattice;
    return plan->moments ? (3 * lattice->q + 9 * lattice->dims) * row : 0;
}

/* What a row costs, in free cells; 1 for visiting it. */
static int64_t cost_of_row(const lbm_boundary *boundary, int64_t row) {
    int64_t cost = 1;
    for (int64_t s = boundary->row_spans[row]; s < boundary->row_spans[row + 1]; s++) {
        cost += boundary->spans[s].x1 - boundary->spans[s].x0;
    }
    return cost;
}

static void share_rows(const sel_state *state, const lbm_boundary *boundary, sel_arrays *arrays) {
    const sel_rows own = sel_own_rows(state);
    const int64_t threads = state->threads;
    int64_t all = 0, before = 0, k = 0;
    int64_t *first = arrays->first_row = calloc((size_t)threads + 1, sizeof *first);
    arrays->failed = arrays->failed || !first;
    for (int64_t r = 0; r < own.count; r++) {
        all += cost_of_row(boundary, sel_row_of(&own, r));
    }
    for (int64_t t = 0; t <= threads && first; t++) {
        while (k < own.count && before < all * t / threads) {
            before += cost_of_row(boundary, sel_row_of(&own, k++));
        }
        first[t] = t < threads ? k : own.count;
    }
}

/* An acceleration that varies in space: the cells of the patch, and a row on either side along each
 * axis that is divided. */
static sel_layout acceleration_layout(const sel_state *base) {
    const sel_grid *grid = &base->plan->domain->grid;
    const sel_patch *own = &base->own;
    sel_layout layout = sel_plain_layout(grid, grid->dims);
    int64_t cells[3] = {grid->n[0], 0, 0};
    for (int a = 1; a < 3; a++) {
        const int64_t beside = base->decomposition.ranks[a] > 1;
        cells[a] = sel_patch_cells(own, a) + 2 * beside;
        layout.before += (beside - own->lo[a]) * sel_layout_stride(&layout, a);
        layout.slice = layout.pitch * cells[1];
    }
    layout.component = layout.slice * cells[2];
    layout.count = layout.components * layout.component;
    return layout;
}

static void lbm_cpu_steps_list(sel_state *base) {
    lbm_cpu *state = (lbm_cpu *)base;
    const lbm_plan *plan = (const lbm_plan *)base->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t dims = grid->dims, nx = grid->n[0], real = lbm_real(base->plan);
    const sel_patch *own = &base->own;
    const lbm_layout layout = state->layout = lbm_cpu_steps_make_layout(grid, own, real);
    sel_arrays *arrays = &base->arrays;
    state->lattice = plan->boundary.lattice;
    state->forcing = lbm_acceleration_is_field(plan) ? LBM_FORCE_FIELD
                     : lbm_is_forced(plan)           ? LBM_UNIFORM_FORCE
                                                     : LBM_NO_FORCE;
    /* A line before the first row, which cells of its halo pull from. */
    const int64_t line = SEL_LINE / real;
    const sel_layout populations = {
        .n = {nx, grid->n[1], grid->n[2]},
        .slow = grid->dims - 1,
        .components = plan->components,
        .pitch = layout.pitch,
        .slice = layout.slice,
        .component = layout.plane,
        .before = line + layout.pitch + (dims == 3 ? layout.slice : 0) + 1,
        .count = line + plan->components * layout.plane,
    };
    const sel_layout acceleration = acceleration_layout(base);
    const bool divides = sel_divides_planes(&base->decomposition);
    const sel_field field = {
        .layout = sel_patch_layout(&populations, own),
        .halo = 1,
        .lead = {0, 1, 1 + layout.pitch - (divides ? own->lo[1] * layout.pitch : 0)}};
    state->streams = !sel_state_stays(base, 2 * (uint64_t)(populations.count * real));
    share_rows(base, &plan->boundary, arrays);
    lbm_count_sites(&state->all);
    lbm_list(&state->all, &field, &acceleration);
    SEL_ADD(arrays, state, rows, LBM_ROWS * nx * base->threads, 0);
    state->scratch_bytes = lbm_scratch_bytes(plan, nx);
    sel_arrays_add(arrays, "scratch", &state->scratch, (sel_type){'u', 1},
                   state->scratch_bytes * base->threads, 0);
    SEL_ADD(arrays, state, acceleration, 3, 0);
    SEL_ADD(arrays, state, acceleration_before, 3, 0);
}

/* ---- what is given ---- */

static lbm_values lbm_cpu_steps_values(const lbm_cpu *state) {
    return (lbm_values){.plan = state->all.plan,
                        .link_add = state->all.link_add,
                        .link_velocity = state->all.link_velocity,
                        .links = state->all.sites.count,
                        .open_value = state->all.open_value,
                        .acceleration = state->acceleration};
}

/* sel_cpu.store */
static void lbm_cpu_steps_store(void *to, const sel_inputs *inputs,
                                const sel_input_values *values) {
    lbm_values here = lbm_cpu_steps_values(to);
    lbm_values_store(&here, inputs, values);
}

/* The acceleration `step` steps after time 0: that of the end of the step before. */
static sel_status lbm_cpu_steps_accelerate(lbm_cpu *state, int64_t step, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    const sel_input *input = &plan->inputs.v[0];
    const sel_state *base = &state->all.base;
    lbm_values here = lbm_cpu_steps_values(state);
    double value[3] = {0};
    if (!sel_quantity_given(&plan->acceleration)) {
        return SEL_OK;
    }
    if (lbm_acceleration_is_field(plan)) {
        const sel_input_cells cells = lbm_acceleration_cells(base, input);
        return sel_input_fill(base, input, step - 1, &cells, error);
    }
    const sel_status status =
        sel_input_evaluate(&plan->inputs, input, step - 1, 0, 1, value, error);
    if (!status) {
        lbm_values_store(&here, &plan->inputs, &(sel_input_values){input, 0, 1, step, value});
    }
    return status;
}

/* For the step to come, that of the step before: populations are forced when they have arrived, at
 * the end of the step. */
static void lbm_cpu_steps_keep_acceleration(lbm_cpu *state) {
    memcpy(state->acceleration_before, state->acceleration, 3 * sizeof(double));
}

/* sel_cpu.keep_terms: the velocity of the present state depends on its acceleration. */
static void lbm_cpu_steps_keep_terms(sel_state *base) {
    lbm_cpu_steps_accelerate((lbm_cpu *)base, base->step, NULL);
}

/* All that is given, acceleration apart, in the step from `step` on. */
static sel_status lbm_cpu_steps_set_laws(lbm_cpu *state, int64_t step, sel_error *error) {
    double acceleration[3];
    lbm_values here = lbm_cpu_steps_values(state);
    here.acceleration = acceleration;
    const sel_status status = sel_inputs_evaluate(&state->all.plan->inputs, SEL_ALWAYS, step,
                                                  lbm_values_store, &here, error);
    return sel_state_agree(&state->all.base, status, error);
}

/* sel_cpu.loaded */
static sel_status lbm_cpu_steps_loaded(sel_state *base, sel_error *error) {
    lbm_cpu *state = (lbm_cpu *)base;
    const sel_rows own = sel_own_rows(base);
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        lbm_fill_halo(state, lbm_now(state), row, true);
    }
    sel_state_exchange(base, base->step, SEL_FETCH);
    const sel_status status = lbm_cpu_steps_accelerate(state, base->step, error);
    lbm_cpu_steps_keep_acceleration(state);
    return status;
}

static sel_status lbm_cpu_steps_start(sel_state *base, sel_error *error) {
    lbm_cpu *state = (lbm_cpu *)base;
    state->loops = lbm_loops_usable(state->all.plan, 0);
    sel_status status = lbm_cpu_steps_accelerate(state, 0, error);
    lbm_cpu_steps_keep_acceleration(state);
    status = sel_state_agree(base, status, error);
    status = status ? status : lbm_set_initial(state, error);
    status = status ? status : lbm_cpu_steps_set_laws(state, 0, error);
    if (!status && base->plan->wants_balance) {
        state->all.first_mass = lbm_mass(&state->all, lbm_deviation(state));
    }
    return status;
}

/* Makes a step an observed one. */
static void observe_step(const lbm_cpu *state, lbm_step *step, bool strain) {
    const lbm_state *all = &state->all;
    const bool strains = strain && lbm_has_strain(all);
    step->observed = (lbm_observed){.links = all->links,
                                    .link_gain = all->link_gain,
                                    .links_follow = all->links_follow,
                                    .strains = strains,
                                    .strain = all->strain,
                                    .strain_layout = &all->strain_layout,
                                    .units = lbm_units_of(all->plan)};
    step->wraps = step->wraps && !strains;
}

/* Thread `thread` computes the rows first <= k < end of those of this rank. */
static void sweep(const lbm_cpu *state, lbm_step step, int thread, int64_t first, int64_t end) {
    const sel_rows own = sel_own_rows(&state->all.base);
    lbm_scratch scratch = {.row = -2};
    if (step.moments) {
        scratch.room = (char *)state->scratch + thread * state->scratch_bytes;
    }
    step.scratch = &scratch;
    const int64_t *spans = state->all.plan->boundary.row_spans;
    for (int64_t k = first; k < end; k++) {
        const int64_t row = sel_row_of(&own, k);
        if (spans[row] == spans[row + 1]) {
            continue; /* all cells are solid, and zero for ever */
        }
        state->loops->sweep[step.moments][step.collision][step.forcing][step.numbers->eddy > 0](
            &step, row);
        const int64_t *cells = step.sponge->row_first;
        const bool damps = cells && cells[row] < cells[row + 1];
        if (damps) {
            state->loops->sponge(&step, row);
        }
        lbm_fill_halo(state, step.to, row, damps || !lbm_row_wraps(&step, row));
    }
}

/* `n` steps. Each thread sweeps rows that lie together. */
static void sweep_steps(sel_state *base, int64_t n) {
    lbm_cpu *state = (lbm_cpu *)base;
    const int64_t *first_row = base->arrays.first_row;
#pragma omp parallel num_threads(base->threads)
    for (int64_t k = 0; k < n; k++) {
        lbm_step step = lbm_describe_step(state, base->step + k);
        if (base->observing) {
            observe_step(state, &step, base->observing == 1);
        }
#pragma omp for schedule(static) nowait
        for (int t = 0; t < base->threads; t++) {
            sweep(state, step, t, first_row[t], first_row[t + 1]);
        }
        sel_stream_end();
#pragma omp barrier
        if (base->ranks->count > 1) {
#pragma omp master
            sel_state_exchange(base, base->step + k + 1, SEL_FETCH);
#pragma omp barrier
        }
    }
    for (int64_t k = 0; k < n; k++) {
        sel_state_pass(base, 1);
    }
}

/* sel_cpu.steps */
static sel_status steps(sel_state *base, int64_t n, sel_error *error) {
    lbm_cpu *state = (lbm_cpu *)base;
    const lbm_boundary *boundary = &state->all.plan->boundary;
    const int64_t end = base->step + n;
    (void)error;
    while (base->step < end) {
        const int64_t left = lbm_closed_left(boundary, base->step);
        if (lbm_closed_due(boundary, base->step)) {
            lbm_return_mass(state);
        }
        sweep_steps(base, left < end - base->step ? left : end - base->step);
    }
    lbm_cpu_steps_keep_acceleration(state);
    return SEL_OK;
}

/* What the links of step 0 show: the next step, whose other results are computed again. */
static void observe_first_links(const lbm_cpu *state) {
    const sel_state *base = &state->all.base;
    lbm_step step = lbm_describe_step(state, 0);
    observe_step(state, &step, false);
    step.link_flow = NULL;
    step.gain = NULL;
    step.sponge_gain = NULL;
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int t = 0; t < base->threads; t++) {
        sweep(state, step, t, base->arrays.first_row[t], base->arrays.first_row[t + 1]);
        sel_stream_end();
    }
}

/* sel_cpu.observe: the step itself stores what it shows. */
static void lbm_cpu_steps_observe(sel_state *base, bool initially) {
    lbm_cpu *state = (lbm_cpu *)base;
    lbm_links_turn(&state->all, base->step + !initially);
    if (initially && lbm_has_strain(&state->all)) {
        lbm_initial_strain(state);
    }
    if (initially && state->all.links) {
        observe_first_links(state);
    }
}

/* sel_look.ready: derivatives need the velocity beside the patch, so all populations there; walls
 * the stress. */
static sel_status lbm_cpu_steps_ready(sel_state *base, const sel_request *request,
                                      sel_error *error) {
    const bool field = request->kind == SEL_READ || request->kind == SEL_REDUCE;
    if (field && (request->field == LBM_VORTICITY || request->field == LBM_Q_CRITERION)) {
        sel_state_exchange(base, base->step, SEL_FETCH_ALL);
    }
    if (field && lbm_is_of_walls(request->field)) {
        const sel_exchange stress = lbm_stress_exchange();
        sel_state_complete(base, &stress, 1, NULL);
        return lbm_find_walls(&((lbm_cpu *)base)->all, error);
    }
    return SEL_OK;
}

const sel_cpu lbm_on_cpu = {
    .what = "the flow",
    .state_size = sizeof(lbm_cpu),
    .list = lbm_cpu_steps_list,
    .start = lbm_cpu_steps_start,
    .store = lbm_cpu_steps_store,
    .cells = lbm_acceleration_cells,
    .keep_terms = lbm_cpu_steps_keep_terms,
    .observe = lbm_cpu_steps_observe,
    .steps = steps,
    .loaded = lbm_cpu_steps_loaded,
    .look = {.ready = lbm_cpu_steps_ready,
             .field = lbm_cpu_field,
             .main = lbm_cpu_main,
             .watched = lbm_watched_answer,
             .other = lbm_cpu_other},
};
