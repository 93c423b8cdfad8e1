/* lbm_gather.h -- the populations that cells gather in a step on the CPU: pulled from neighbours,
 * bounced back, mirrored, closed.
 *
 * Re-includable behind lbm_closure.h, with the same macros. SOURCE is left defined.
 */
#include "engine/solvers/lbm/lbm_absorbing.h"
#include "engine/solvers/lbm/lbm_scatter.h"

/* The source of the cells from x on, which pull from their neighbours. */
SEL_INLINE LBM_NAME(lbm_source) LBM_NAME(pulled)(const lbm_step *step, int64_t row, int64_t x) {
    const lbm_layout *layout = &step->layout;
    if (step->moments) {
        return LBM_NAME(scattered)(step, row, x);
    }
    return (LBM_NAME(lbm_source)){.from =
                                      (const REAL *)step->from + lbm_row_offset(layout, row) + x,
                                  .plane = layout->plane,
                                  .slice = layout->slice,
                                  .pitch = layout->pitch,
                                  .cell = 1};
}

/* from##i[k] is the population that cell k of `source` pulls along direction i. */
#define SOURCE(i, ex, ey, ez, opposite, weight)            \
    const REAL *from##i = source.from + i * source.plane - \
                          ((ez)*source.slice + (ey)*source.pitch + (ex)*source.cell);

/* The rates of all cells, with the uniform acceleration. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(common_rates)(const lbm_step *step) {
    const lbm_numbers *numbers = step->numbers;
    LBM_NAME(lbm_rates)
    rates = {.omega_even = (REAL)numbers->omega_even,
             .omega_odd = (REAL)numbers->omega_odd,
             .tau = (REAL)numbers->tau,
             .magic = (REAL)numbers->magic,
             .eddy = (REAL)numbers->eddy};
#define UNIFORM(axis, sum) rates.a[axis] = (REAL)step->acceleration[axis];
    LBM_AXES(UNIFORM)
#undef UNIFORM
    return rates;
}

/* The rates of cell x of a row, with the acceleration of this cell. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(rates)(const lbm_step *step, int64_t x, int64_t row) {
    LBM_NAME(lbm_rates) rates = LBM_NAME(common_rates)(step);
    if (step->forcing == LBM_FORCE_FIELD) {
        const sel_layout *layout = step->acceleration_layout;
        const REAL *a = (const REAL *)step->acceleration_field + sel_layout_row(layout, row) + x;
#define HERE(axis, sum) rates.a[axis] = a[axis * layout->component];
        LBM_AXES(HERE)
#undef HERE
    }
    return rates;
}

/* The moments of a cell at the start of the step, after the last collision; offset: its place in a
 * plane. */
SEL_INLINE LBM_NAME(lbm_cell_moments) LBM_NAME(moments_at)(const lbm_step *step, int64_t offset) {
    const lbm_layout *layout = &step->layout;
    const REAL *from = (const REAL *)step->from + offset;
    if (step->moments) {
        return LBM_NAME(lbm_get_moments)(from, layout->plane);
    }
    REAL f[LBM_Q];
    for (int i = 0; i < LBM_Q; i++) {
        f[i] = from[i * layout->plane];
    }
    return LBM_NAME(lbm_moments_of)(f);
}

/* The populations of a cell at the start of the step: direction i is at f[i * plane]. */
typedef struct LBM_NAME(lbm_sent) {
    const REAL *f;
    int64_t plane;
} LBM_NAME(lbm_sent);

/* Those of the cell at this place of a plane; `room` holds them where moments are stored. */
SEL_INLINE LBM_NAME(lbm_sent)
    LBM_NAME(sent_by)(const lbm_step *step, int64_t offset, REAL room[LBM_Q]) {
    if (step->moments) {
        const LBM_NAME(lbm_cell_moments) m = LBM_NAME(moments_at)(step, offset);
        LBM_NAME(lbm_of_moments)(&m, LBM_NAME(lbm_is_recursive)(step->collision), room);
        return (LBM_NAME(lbm_sent)){room, 1};
    }
    return (LBM_NAME(lbm_sent)){(const REAL *)step->from + offset, step->layout.plane};
}

/* A cell at the start of the step: its moments after the last collision, and the acceleration of
 * the last step. A field of acceleration is that of this step instead, half a step's change ahead.
 */
typedef struct LBM_NAME(cell_before) {
    LBM_NAME(lbm_cell_moments) m;
    LBM_NAME(lbm_rates) rates;
} LBM_NAME(cell_before);

SEL_INLINE LBM_NAME(cell_before) LBM_NAME(before)(const lbm_step *step, int64_t x, int64_t row) {
    LBM_NAME(cell_before)
    cell = {.m = LBM_NAME(moments_at)(step, lbm_row_offset(&step->layout, row) + x),
            .rates = LBM_NAME(rates)(step, x, row)};
    if (step->forcing != LBM_FORCE_FIELD) {
#define UNIFORM(axis, sum) cell.rates.a[axis] = (REAL)step->acceleration_before[axis];
        LBM_AXES(UNIFORM)
#undef UNIFORM
    }
    return cell;
}

/* The next cell along the inward normals at the start of the step; the cell itself along axes where
 * the grid ends, or if that cell is solid. */
SEL_INLINE LBM_NAME(cell_before)
    LBM_NAME(inward)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row) {
    const lbm_layout *layout = &step->layout;
    const int64_t n[3] = {layout->nx, layout->ny, layout->nz};
    int64_t at[3] = {cell->x, row % layout->ny, row / layout->ny};
    for (int a = 0; a < 3; a++) {
        const int64_t next = at[a] + cell->normal[a];
        at[a] = next >= 0 && next < n[a] && !cell->inward_solid ? next : at[a];
    }
    return LBM_NAME(before)(step, at[0], at[1] + layout->ny * at[2]);
}

/* The outflow's K of a cell on one wet face. */
SEL_INLINE REAL LBM_NAME(relaxation)(const lbm_boundary_cell *cell) {
    return (REAL)(cell->relax[0] + cell->relax[1] + cell->relax[2]);
}

/* The cell on absorbing faces, with the wanted velocity less shift: -a/2. */
__attribute__((noinline)) static LBM_NAME(lbm_cell)
    LBM_NAME(absorb)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                     const REAL g[LBM_Q], const int n[LBM_DIMS], const LBM_NAME(lbm_cell) * wanted,
                     const REAL shift[LBM_DIMS]) {
    const lbm_layout *layout = &step->layout;
    const int64_t along[3] = {1, layout->pitch, layout->slice};
    const int64_t place = lbm_row_offset(layout, row) + cell->x;
    const LBM_NAME(cell_before) before = LBM_NAME(before)(step, cell->x, row);
    const LBM_NAME(lbm_cell) here = LBM_NAME(lbm_cell_after)(&before.m, before.rates.a);
    LBM_NAME(lbm_beside) beside;
    int what[LBM_DIMS][2];
    LBM_NAME(lbm_find_beside)(cell, what);
    for (int a = 0; a < LBM_DIMS; a++) {
        for (int side = 0; side < 2; side++) {
            beside.cell[a][side] = here;
            if (what[a][side] == LBM_BESIDE_FLUID) {
                const LBM_NAME(lbm_cell_moments) m =
                    LBM_NAME(moments_at)(step, place + (2 * side - 1) * along[a]);
                beside.cell[a][side] = LBM_NAME(lbm_cell_after)(&m, before.rates.a);
            }
        }
    }
    return LBM_NAME(lbm_absorbing_cell)(g, n, &here, &beside, wanted, cell->relax,
                                        cell->holds_density, cell->holds_velocity, shift);
}

/* Closes a cell with wet faces. The laws give the fluid's velocity u; the momentum of populations
 * before collision is rho (u - a/2). */
SEL_INLINE void LBM_NAME(close)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                                const LBM_NAME(lbm_rates) * rates, REAL g[LBM_Q]) {
    const double *value = step->open_value + LBM_OPEN_VALUES * cell->opening_index;
    const REAL drho = (REAL)value[3];
    const bool regularized = LBM_NAME(lbm_keeps_moments)(step->collision);
    REAL u[LBM_DIMS], shift[LBM_DIMS];
    int n[LBM_DIMS];
#define GIVEN(axis, sum)                       \
    n[axis] = cell->normal[axis];              \
    shift[axis] = -(REAL)0.5 * rates->a[axis]; \
    u[axis] = (REAL)value[axis] + shift[axis];
    LBM_AXES(GIVEN)
#undef GIVEN
    LBM_NAME(cell_before) next;
    LBM_NAME(lbm_cell) inward, target;
    if (cell->opening == LBM_OPEN_VELOCITY) {
        target = LBM_NAME(lbm_velocity_cell)(g, n, u);
    } else if (cell->opening == LBM_OPEN_PRESSURE) {
        target = LBM_NAME(lbm_density_cell)(g, n, drho, shift);
    } else if (cell->opening == LBM_OPEN_ABSORBING) {
        LBM_NAME(lbm_cell) wanted = {.drho = drho};
        const REAL second_half = (REAL)value[LBM_SECOND_HALF];
#define WANTED(axis, sum) \
    wanted.u[axis] = (REAL)value[axis] + (cell->velocity_region[axis] ? (REAL)0 : second_half);
        LBM_AXES(WANTED)
#undef WANTED
        target = LBM_NAME(absorb)(step, cell, row, g, n, &wanted, shift);
    }
    if (regularized || cell->opening == LBM_OPEN_OUTFLOW || cell->opening == LBM_OPEN_EDGE) {
        next = LBM_NAME(inward)(step, cell, row);
        inward = LBM_NAME(lbm_cell_after)(&next.m, next.rates.a);
    }
    if (cell->opening == LBM_OPEN_OUTFLOW) {
        const LBM_NAME(cell_before) before = LBM_NAME(before)(step, cell->x, row);
        const LBM_NAME(lbm_cell) here = LBM_NAME(lbm_cell_after)(&before.m, before.rates.a);
        target = LBM_NAME(lbm_outflow_cell)(g, n, &here, &inward,
                                            (REAL)1 - LBM_NAME(relaxation)(cell), shift);
    } else if (cell->opening == LBM_OPEN_EDGE) {
        const REAL second_half = (REAL)value[LBM_SECOND_HALF];
        target.drho = cell->density_region ? drho : inward.drho;
#define CHOOSE(axis, sum)                                                         \
    target.u[axis] = !cell->velocity_given         ? inward.u[axis] + shift[axis] \
                     : cell->velocity_region[axis] ? u[axis]                      \
                                                   : u[axis] + second_half;
        LBM_AXES(CHOOSE)
#undef CHOOSE
    }
    if (regularized) {
        LBM_NAME(lbm_regularize)
        (g, n, cell->opening == LBM_OPEN_PRESSURE, &target, shift, &next.m, next.rates.a,
         rates->omega_even);
    } else {
        LBM_NAME(lbm_close)(g, n, target.drho, target.u);
    }
}

/* Adds the mass that leaves the domain through a cell's links to step->link_flow. */
SEL_INLINE void LBM_NAME(count_flow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                     LBM_NAME(lbm_sent) here, const REAL entered[LBM_Q]) {
    int64_t link = cell->first_link;
#define FLOW(i, ex, ey, ez, opposite, weight)                                                  \
    if (cell->links >> i & 1u) {                                                               \
        step->link_flow[link++] += (double)here.f[opposite * here.plane] - (double)entered[i]; \
    }
    LBM_DIRECTIONS(FLOW)
#undef FLOW
}

/* Replaces the populations that come across slip faces by those that the cell beside this one,
 * along the face, sends along the mirrored direction. */
SEL_INLINE void LBM_NAME(mirror)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                                 REAL *g, int64_t stride) {
    const lbm_layout *layout = &step->layout;
    const int64_t along[3] = {1, layout->pitch, layout->slice};
    const int64_t here = lbm_row_offset(layout, row) + cell->x;
#define MIRROR(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z)                                 \
    {                                                                                             \
        static const int mirrored[3] = {mirrored_x, mirrored_y, mirrored_z}, e[3] = {ex, ey, ez}; \
        for (int a = 0; a < LBM_DIMS; a++) {                                                      \
            if (cell->mirrored[a] >> i & 1u) {                                                    \
                const int64_t away =                                                              \
                    ((ez)*layout->slice + (ey)*layout->pitch + (ex)) - e[a] * along[a];           \
                REAL room[LBM_Q];                                                                 \
                const LBM_NAME(lbm_sent) beside = LBM_NAME(sent_by)(step, here - away, room);     \
                g[i * stride] = beside.f[mirrored[a] * beside.plane];                             \
            }                                                                                     \
        }                                                                                         \
    }
    LBM_DIAGONALS(MIRROR)
#undef MIRROR
}

/* Replaces what walls send back half-way along interpolated links. Adds what a cell of a closed
 * region gains to step->gain. */
__attribute__((noinline)) static void LBM_NAME(interpolate)(const lbm_step *step,
                                                            const lbm_boundary_cell *cell,
                                                            LBM_NAME(lbm_sent) here, REAL *g,
                                                            int64_t stride) {
    const lbm_direction *direction = step->boundary->lattice->direction;
    const lbm_cut *cut = step->boundary->link_cut + cell->first_link;
    const double *add = step->link_add + cell->first_link;
    REAL rho = (REAL)1;
    double gain = 0;
    for (int i = 0; i < LBM_Q && cell->moves; i++) {
        rho += here.f[i * here.plane];
    }
    for (uint32_t left = cell->links; left; left &= left - 1, cut++, add++) {
        const int i = __builtin_ctz(left), opposite = direction[i].opposite;
        const REAL *back = here.f + i * here.plane;
        const REAL out = here.f[opposite * here.plane], moves = cell->moves ? (REAL)*add : (REAL)0;
        __builtin_prefetch(back + step->layout.pitch);
        if (cut->wall > 0) {
            const REAL in =
                LBM_NAME(lbm_interpolate)(*cut, out, *back, g[opposite * stride], rho * moves);
            gain += (double)in - (double)out - (cell->moves ? *add : 0);
            g[i * stride] = in;
        }
    }
    if (cell->closed && step->gain) {
        step->gain[cell->first_link] += LBM_NAME(lbm_gain)(gain);
    }
}

/* Corrects what straight walls have sent back half-way. */
__attribute__((noinline)) static void LBM_NAME(correct_straight)(const lbm_step *step,
                                                                 const lbm_boundary_cell *cell,
                                                                 int64_t row, REAL *g,
                                                                 int64_t stride) {
    const lbm_layout *layout = &step->layout;
    const int64_t along[3] = {1, layout->pitch, layout->slice};
    const int64_t place = lbm_row_offset(layout, row) + cell->x;
    const LBM_NAME(cell_before) before = LBM_NAME(before)(step, cell->x, row);
    const LBM_NAME(lbm_cell) here = LBM_NAME(lbm_cell_after)(&before.m, before.rates.a);
    LBM_NAME(lbm_at_wall) at;
    int normal[LBM_DIMS];
    LBM_NAME(lbm_find_straight)(cell, normal);
    for (int a = 0; a < LBM_DIMS; a++) {
        const LBM_NAME(lbm_cell_moments) up = LBM_NAME(moments_at)(step, place + along[a]);
        const LBM_NAME(lbm_cell_moments) down = LBM_NAME(moments_at)(step, place - along[a]);
        const LBM_NAME(lbm_cell) next =
            LBM_NAME(lbm_cell_after)(normal[a] > 0 ? &up : &down, before.rates.a);
        for (int b = 0; b < LBM_DIMS; b++) {
            at.inwards[a][b] = next.u[b];
        }
        at.stretch[a] = normal[a] != 0 ? (REAL)0 : (REAL)0.5 * (up.j[a] - down.j[a]);
    }
    LBM_NAME(lbm_correct_straight)
    (cell, (REAL)step->boundary->curvature, here.u, &at,
     cell->moves ? step->link_add + cell->first_link : NULL, g, stride);
}

/* Applies the boundary conditions of a cell to its pulled populations g[i * stride]. entered: what
 * enters along its links, for who asks. Prefetches the same links of the next row, which mostly has
 * the same boundary cells. */
SEL_INLINE void LBM_NAME(apply_boundary)(const lbm_step *step, const lbm_boundary_cell *cell,
                                         int64_t row, LBM_NAME(lbm_sent) here, REAL *g,
                                         int64_t stride, REAL entered[LBM_Q]) {
    int64_t link = cell->first_link;
#define BOUNCE(i, ex, ey, ez, opposite, weight)                                 \
    if (cell->links >> i & 1u) {                                                \
        const REAL *sent = here.f + opposite * here.plane;                      \
        const bool bounced = cell->bounced >> i & 1u;                           \
        g[i * stride] = bounced ? *sent + (REAL)step->link_add[link] : (REAL)0; \
        __builtin_prefetch(sent + step->layout.pitch);                          \
        link++;                                                                 \
    }
    LBM_DIRECTIONS(BOUNCE)
#undef BOUNCE
#define SECOND(i, ex, ey, ez, opposite, weight)        \
    if (cell->shared >> i & 1u) {                      \
        g[i * stride] += (REAL)step->link_add[link++]; \
    }
    if (cell->both_move) {
        LBM_DIRECTIONS(SECOND)
    }
#undef SECOND
    if (cell->cut) {
        LBM_NAME(interpolate)(step, cell, here, g, stride);
    }
    if (cell->straight) {
        LBM_NAME(correct_straight)(step, cell, row, g, stride);
    }
    if (cell->mirrored[0] | cell->mirrored[1] | cell->mirrored[2]) {
        LBM_NAME(mirror)(step, cell, row, g, stride);
    }
    for (int i = 0; i < LBM_Q; i++) {
        entered[i] = g[i * stride];
    }
    if (cell->opening != LBM_CLOSED) {
        const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, row);
        REAL all[LBM_Q];
        memcpy(all, entered, sizeof all);
        LBM_NAME(close)(step, cell, row, &rates, all);
        LBM_NAME(lbm_find_entered)(cell, all, entered);
        for (int i = 0; i < LBM_Q; i++) {
            g[i * stride] = all[i];
        }
    }
}
