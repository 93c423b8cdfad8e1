/* lbm_cpu.c -- what steps, starts and fields share on the CPU: the loops, the description of a
 * step, halos of rows, accelerations.
 */
#include "engine/solvers/lbm/lbm_cpu.h"

#include <string.h>

#define DECLARE(level) extern const lbm_loops lbm_d2q9_loops_##level[2], lbm_d3q19_loops_##level[2];
SEL_LEVELS(DECLARE)
#define TABLE(level) {[LBM_D2Q9] = lbm_d2q9_loops_##level, [LBM_D3Q19] = lbm_d3q19_loops_##level},

const lbm_loops *lbm_loops_usable(const lbm_plan *plan, int k) {
    static const lbm_loops *const tables[][LBM_LATTICES] = {SEL_LEVELS(TABLE)};
    const int level = sel_level(k);
    return level < 0 ? NULL : &tables[level][plan->params->lattice][plan->base.precision];
}

lbm_step lbm_describe_step(const lbm_cpu *state, int64_t step) {
    const lbm_plan *plan = state->all.plan;
    return (lbm_step){.layout = state->layout,
                      .from = sel_field_at(&state->all.base, 0, step),
                      .to = sel_field_at(&state->all.base, 0, step + 1),
                      .moments = plan->moments,
                      .components = plan->components,
                      .streams = state->streams,
                      .wraps = sel_axis_periodic(&plan->base.domain->grid, 0) &&
                               state->layout.nx * lbm_real(&plan->base) >= SEL_LINE,
                      .collision = plan->collision,
                      .forcing = state->forcing,
                      .numbers = &plan->numbers,
                      .acceleration = state->acceleration,
                      .acceleration_before = state->acceleration_before,
                      .acceleration_field = state->all.acceleration_field,
                      .acceleration_layout = &state->all.acceleration_layout,
                      .boundary = &plan->boundary,
                      .link_add = state->all.link_add,
                      .open_value = state->all.open_value,
                      .gain = state->all.gain,
                      .link_flow = state->all.link_flow,
                      .sponge = &plan->sponge,
                      .sponge_gain = state->all.sponge_gain};
}

/* The offsets at which halos need copies of a row, after 0: a period away, if it is at an end of a
 * periodic axis that is not cut; at both ends if the axis has one cell. Returns their number. */
static int find_shifts(const sel_state *state, int axis, int64_t at, int64_t stride,
                       int64_t shift[3]) {
    const sel_grid *grid = &state->plan->domain->grid;
    const int64_t n = grid->n[axis];
    const bool cut = axis == grid->dims - 1 ? state->ranks->count > 1
                                            : sel_divides_planes(&state->decomposition);
    const bool wraps = sel_axis_periodic(grid, axis) && !cut;
    int count = 0;
    shift[count++] = 0;
    if (wraps && at == 0) {
        shift[count++] = n * stride;
    }
    if (wraps && at == n - 1) {
        shift[count++] = -n * stride;
    }
    return count;
}

void lbm_fill_halo(const lbm_cpu *state, void *f, int64_t row, bool ends) {
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    const lbm_layout *layout = &state->layout;
    const int64_t real = lbm_real(state->all.base.plan), last = (layout->nx - 1) * real;
    const size_t bytes = (size_t)((layout->nx + 2) * real);
    const sel_state *base = &state->all.base;
    int64_t shift_y[3], shift_z[3];
    const int y_count = find_shifts(base, 1, row % layout->ny, layout->pitch * real, shift_y);
    const int z_count = find_shifts(base, 2, row / layout->ny, layout->slice * real, shift_z);
    ends = ends && sel_axis_periodic(grid, 0);
    for (int i = 0; i < state->all.plan->components && (ends || y_count > 1 || z_count > 1); i++) {
        char *at = (char *)f + (i * layout->plane + lbm_row_offset(layout, row)) * real;
        if (ends) {
            memcpy(at - real, at + last, (size_t)real);
            memcpy(at + last + real, at, (size_t)real);
        }
        for (int k = 1; k < y_count * z_count; k++) {
            memcpy(at - real + shift_y[k % y_count] + shift_z[k / y_count], at - real, bytes);
        }
    }
}

void lbm_acceleration_at(const lbm_cpu *state, int64_t x, int64_t row, double value[3]) {
    const void *field = state->all.acceleration_field;
    const sel_layout *layout = &state->all.acceleration_layout;
    const int64_t first = field ? sel_vicinity_row(&state->all.vicinity, row) : 0;
    for (int a = 0; a < 3; a++) {
        value[a] = !field || a >= state->lattice->dims
                       ? state->acceleration[a]
                       : lbm_get(state->all.plan, field, first + x + a * layout->component);
    }
}
