/* heat_cuda.c -- sel.heat on the device.
 *
 * A uniform 2-D body whose laws do not vary in time takes 9 or 3 steps per pass where it is large
 * (heat_temporal.cu); all else, and observed steps, one step (heat.cu); implicit schemes one by
 * multigrid.
 */
#include "engine/solvers/heat/heat_kernels_cuda.h"

#include <stdlib.h>
#include "cuda/backend.h"
#include "cuda/inputs.h"
#include "engine/solvers/diffusion/diffusion_cuda.h"
#include "engine/solvers/multigrid/mg_solve_cuda.h"
#include "engine/solvers/heat/heat.h"

typedef struct heat_cuda {
    heat_state all;
    bool marches;
    int64_t tested; /* the step in which dt was last compared with its limit */
    heat_gpu_sides sides;
    mg_gpu_solve solve; /* of implicit steps */
    diffusion_view seen;
} heat_cuda;

static bool implicit(const sel_state *base) {
    return diffusion_body_of(base->plan)->implicit > 0;
}

/* ---- memory ---- */

/* The faces of the domain on which a law acts: a bit each. */
static unsigned sides_that_act(const sel_domain *domain) {
    const sel_grid *grid = &domain->grid;
    unsigned acts = 0;
    for (int face = 0; face < 2 * grid->dims; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(grid, face); s++) {
            const int region = domain->face[face][s];
            acts |= (unsigned)(region && diffusion_law_of(domain, region) != DIFFUSION_INSULATED)
                    << face;
        }
    }
    return acts;
}

static void heat_cuda_list(sel_state *base) {
    heat_cuda *state = (heat_cuda *)base;
    const heat_plan *plan = heat_plan_for(base);
    const sel_grid *grid = &plan->diffusion.base.domain->grid;
    const bool uniform = plan->diffusion.body.kind != HEAT_VARIED && !implicit(base);
    state->marches = grid->dims == 2 && uniform && !plan->diffusion.base.inputs->depends &&
                     grid->n[0] >= MARCH_LEAST_COLUMNS &&
                     sel_fewest_cells(&base->decomposition, 1) >= MARCH_LEAST_ROWS;
    heat_list(base, state->marches ? HEAT_PASS : 1, 0);
    if (implicit(base)) {
        mg_gpu_list(&state->solve, &state->all.solve, base);
    }
    for (int face = 0; face < 2 * grid->dims && uniform; face++) {
        state->sides.first[face] = state->sides.sites;
        state->sides.sites += sel_face_sites(grid, face);
    }
    state->sides.acts = sides_that_act(plan->diffusion.base.domain);
    sel_arrays_add(&base->arrays, "sides", &state->sides.numbers, base->field[0].type,
                   2 * state->sides.sites, 0);
}

static void heat_cuda_close(sel_state *base) {
    mg_gpu_close(&((heat_cuda *)base)->solve);
}

/* ---- a step ---- */

static heat_gpu_step step_of(const heat_cuda *state, int64_t step, const sel_patch *planes) {
    const sel_state *base = &state->all.diffusion.base;
    heat_gpu_step s = {.view = diffusion_heat_view(base, step),
                       .sides = state->sides,
                       .given = diffusion_given_of(base),
                       .halted = cuda_inputs_halted(base),
                       .clock = cuda_queue_clock(base->queue, step)};
    const sel_decomposition *d = &base->decomposition;
    s.view.first = planes->lo[d->slow];
    s.view.end = planes->hi[d->slow];
    s.view.low = sel_patch_low(d, planes);
    s.view.high = s.view.low + sel_patch_height(d, planes);
    sel_given_range(base, planes, &s.first, &s.end);
    return s;
}

/* Passes of several steps compute rows beyond the patch: the sides of all ranks, which vary in no
 * step, are put together. A rank has zeros where others have numbers. */
static sel_status share_sides(heat_cuda *state, sel_error *error) {
    const sel_state *base = &state->all.diffusion.base;
    const sel_ranks *ranks = base->ranks;
    const size_t bytes = 2 * (size_t)state->sides.sites * base->field[0].type.size;
    if (ranks->count == 1 || !state->marches) {
        return SEL_OK;
    }
    uint8_t *own = sel_ranks_memory(ranks, bytes);
    uint8_t *all = sel_ranks_memory(ranks, bytes * (size_t)ranks->count);
    CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
    sel_status status = cuda_send(own, state->sides.numbers, bytes, error);
    ranks->gather(own, bytes, all);
    for (size_t k = 0; k < bytes * (size_t)ranks->count; k++) {
        own[k % bytes] |= all[k];
    }
    status = status ? status : cuda_send(state->sides.numbers, own, bytes, error);
    free(own);
    free(all);
    return status;
}

/* b and s of the cells on surfaces that a rank has. */
static sel_status derive(sel_state *base, int64_t step, sel_error *error) {
    const sel_state_surfaces on = sel_state_find_surfaces(base);
    heat_gpu_step s = step_of((heat_cuda *)base, step, &base->own);
    s.first = on.cells[0];
    s.end = on.cells[1];
    CUDA_TRY(heat_gpu_surfaces(&s, base->queue->stream));
    return share_sides((heat_cuda *)base, error);
}

/* ---- steps ---- */

static int64_t heat_cuda_pass(const sel_state *base, int64_t most) {
    const heat_cuda *state = (const heat_cuda *)base;
    return !state->marches || base->observing || most < 3 ? 1 : most < HEAT_PASS ? 3 : HEAT_PASS;
}

/* cuda_take_slab */
static sel_status heat_cuda_take(sel_state *base, int64_t step, const cuda_slab *slab,
                                 sel_error *error) {
    const int steps = (int)base->queue->pass;
    const heat_gpu_step s = step_of((heat_cuda *)base, step, &slab->planes);
    if (steps > 1) {
        CUDA_TRY(heat_gpu_pass(&s, cuda_march_grid(base, &slab->planes), steps, slab->on));
    } else {
        CUDA_TRY(heat_gpu_take_step(&s, slab->on->stream));
    }
    return SEL_OK;
}

enum { RIM = 4, WIDE_RIM = 12 }; /* planes: a lane takes 4 at once; halos of marches have fewer */
static sel_status heat_cuda_step(sel_state *base, int64_t step, sel_error *error) {
    heat_cuda *state = (heat_cuda *)base;
    const int rim = base->queue->pass > 1 ? MARCH_LEAST_ROWS : state->marches ? WIDE_RIM : RIM;
    return implicit(base)
               ? mg_gpu_body_step(&state->solve, base, step, error)
               : cuda_take_slabs(base, step, rim, false, cuda_exchange, heat_cuda_take, error);
}

/* cuda_solver.terms: where h varies, dt is compared with its limit at every change of a control,
 * and now and then in time: the host evaluates all values for it. */
static sel_status heat_cuda_terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    enum { APART = 100 }; /* steps */
    heat_cuda *state = (heat_cuda *)base;
    const bool now = due & SEL_ON_CONTROLS || base->step >= state->tested + APART;
    const unsigned on = base->plan->inputs->depends & due;
    (void)count;
    sel_status status = cuda_inputs_terms(base, due, error);
    if (!status && on && now && !implicit(base)) {
        state->tested = base->step;
        status = diffusion_limit_check(base, NULL, error);
    }
    return status;
}

static sel_status heat_cuda_look(sel_state *base, int field, const cuda_look **look,
                                 const void **view, sel_error *error) {
    return diffusion_cuda_look(base, &((heat_cuda *)base)->seen, field, look, view, error);
}

/* cuda_solver.loaded: the copy of the step before the present one is not saved. */
static sel_status heat_cuda_loaded(sel_state *base, sel_error *error) {
    (void)error;
    base->observed = -1;
    return SEL_OK;
}

/* cuda_solver.decompose */
static bool heat_cuda_decompose(const sel_simulation *simulation, const sel_grid *grid,
                                sel_decomposition *decomposition) {
    const heat_params *params = (const heat_params *)simulation->params;
    return params->scheme == HEAT_EXPLICIT || mg_body_decompose(grid, decomposition);
}

const cuda_solver heat_on_cuda = {
    .what = "the temperature",
    .state_size = sizeof(heat_cuda),
    .timeless = true,
    .decompose = heat_cuda_decompose,
    .list = heat_cuda_list,
    .start = heat_start,
    .derive = derive,
    .alone = implicit,
    .terms = heat_cuda_terms,
    .pass = heat_cuda_pass,
    .step = heat_cuda_step,
    .loaded = heat_cuda_loaded,
    .close = heat_cuda_close,
    .look = heat_cuda_look,
    .ask = diffusion_cuda_ask,
    .answer = diffusion_cuda_answer,
};
