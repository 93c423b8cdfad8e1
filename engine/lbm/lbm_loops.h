/* lbm_loops.h -- the CPU's inner loops for one lattice and precision: bulk rows, boundary cells,
 * reading.
 *
 * Included by lbm_kernel_table.h once for each, with LBM_DIMS, REAL, LBM_SQRT, LBM_NAME and
 * SEL_INLINE as in engine/physics/lbm_collision.h. A step pulls: g_i(x, n+1) = collide(g_i(x - e_i,
 * n)). The two copies of the populations take turns, so every cell may be computed in any order,
 * and twice.
 */
#include "engine/physics/lbm_collision.h"
#include "engine/physics/lbm_closure.h"

/* The rates of all cells. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(common_rates)(const lbm_step *step) {
    LBM_NAME(lbm_rates)
    rates = {.omega_even = (REAL)step->omega_even,
             .omega_odd = (REAL)step->omega_odd,
             .tau = (REAL)step->tau,
             .magic = (REAL)step->magic,
             .eddy = (REAL)step->eddy};
#define UNIFORM(axis, sum) rates.a[axis] = (REAL)step->acceleration[axis];
    LBM_AXES(UNIFORM)
#undef UNIFORM
    return rates;
}

/* The rates of cell x of a row. */
SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(rates)(const lbm_step *step, int64_t x, int64_t row) {
    LBM_NAME(lbm_rates) rates = LBM_NAME(common_rates)(step);
    if (step->forcing == LBM_FORCE_FIELD) {
        const lbm_layout *layout = &step->layout;
        const REAL *a = (const REAL *)step->acceleration_field + row * layout->nx + x;
#define HERE(axis, sum) rates.a[axis] = a[axis * (layout->nx * layout->ny * layout->nz)];
        LBM_AXES(HERE)
#undef HERE
    }
    return rates;
}

/* from##i[x] is what streams along direction i to cell x of the row at `offset`. */
#define SOURCE(i, ex, ey, ez, opposite, weight)                                   \
    const REAL *from##i = (const REAL *)step->from + i * layout->plane + offset - \
                          ((ez)*layout->slice + (ey)*layout->pitch + (ex));

/* Cells x0 <= x < x1 of a row, stored for direction i at to[i * plane + x - x0]. */
SEL_INLINE void LBM_NAME(cells)(const lbm_step *step, int64_t row, int64_t x0, int64_t x1, REAL *to,
                                int64_t plane, int collision, lbm_forcing forcing, bool eddies) {
    const lbm_layout *layout = &step->layout;
    const int64_t offset = lbm_row_offset(layout, row);
#define FIELD(axis, sum)                                                    \
    const REAL *field##axis = (const REAL *)step->acceleration_field;       \
    if (forcing == LBM_FORCE_FIELD) {                                       \
        field##axis += (axis * layout->nz * layout->ny + row) * layout->nx; \
    }
    LBM_AXES(FIELD)
#undef FIELD
    const LBM_NAME(lbm_rates) common = LBM_NAME(common_rates)(step);
    LBM_DIRECTIONS(SOURCE)
#define TARGET(i, ex, ey, ez, opposite, weight) REAL *to##i = to + i * plane;
    LBM_DIRECTIONS(TARGET)
#undef TARGET
    LBM_INDEPENDENT
    for (int64_t x = x0; x < x1; x++) {
        LBM_NAME(lbm_rates) rates = common;
        REAL g[LBM_Q];
        if (forcing == LBM_FORCE_FIELD) {
#define HERE(axis, sum) rates.a[axis] = field##axis[x];
            LBM_AXES(HERE)
#undef HERE
        }
#define LOAD(i, ex, ey, ez, opposite, weight) g[i] = from##i[x];
        LBM_DIRECTIONS(LOAD)
#undef LOAD
        LBM_NAME(lbm_collide)(g, &rates, collision, forcing != LBM_NO_FORCE, eddies);
#define STORE(i, ex, ey, ez, opposite, weight) to##i[x - x0] = g[i];
        LBM_DIRECTIONS(STORE)
#undef STORE
    }
}

enum { LBM_NAME(LINE) = 64 / sizeof(REAL) }; /* cells of a cache line */

/* Asks for what the cells some lines further on will pull, as no processor follows this many
 * streams by itself. */
SEL_INLINE void LBM_NAME(foresee)(const lbm_step *step, int64_t row, int64_t x) {
    enum { AHEAD = 1024 / sizeof(REAL) };
    const lbm_layout *layout = &step->layout;
    const int64_t offset = lbm_row_offset(layout, row);
    LBM_DIRECTIONS(SOURCE)
#define ASK(i, ex, ey, ez, opposite, weight) __builtin_prefetch(from##i + x + AHEAD, 0, 2);
    LBM_DIRECTIONS(ASK)
#undef ASK
}

/* Cells x0 <= x < x1, whole cache lines, past the caches: each line of cells is stored at once, so
 * that loads and stores go on side by side. */
SEL_INLINE void LBM_NAME(stream_cells)(const lbm_step *step, int64_t row, int64_t x0, int64_t x1,
                                       int collision, lbm_forcing forcing, bool eddies) {
    const int64_t plane = step->layout.plane;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    for (int64_t x = x0; x < x1; x += LBM_NAME(LINE)) {
        REAL line[LBM_Q * LBM_NAME(LINE)] __attribute__((aligned(64)));
        LBM_NAME(foresee)(step, row, x);
        LBM_NAME(cells)
        (step, row, x, x + LBM_NAME(LINE), line, LBM_NAME(LINE), collision, forcing, eddies);
#define STORE(i, ex, ey, ez, opposite, weight) \
    sel_stream_line(to + i * plane + x, line + i * LBM_NAME(LINE));
        LBM_DIRECTIONS(STORE)
#undef STORE
    }
}

/* One of the variants of `cells` and of `stream_cells` below. */
typedef void (*LBM_NAME(cells_of))(const lbm_step *step, int64_t row, int64_t x0, int64_t x1,
                                   REAL *to, int64_t plane);
typedef void (*LBM_NAME(stream_of))(const lbm_step *step, int64_t row, int64_t x0, int64_t x1);

/* A whole periodic row with its halo, past the caches: its ends wait for each other. What lies
 * beyond the halo stays zero. */
SEL_INLINE void LBM_NAME(wrapped_row)(const lbm_step *step, int64_t row, LBM_NAME(cells_of) cells,
                                      LBM_NAME(stream_of) stream) {
    enum { LINE = LBM_NAME(LINE) };
    const int64_t plane = step->layout.plane, nx = step->layout.nx;
    const int64_t last = (nx + 1) / LINE * LINE - 1;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    REAL left[LBM_Q * LINE] __attribute__((aligned(64)));
    REAL right[LBM_Q * LINE] __attribute__((aligned(64)));
    LBM_NAME(foresee)(step, row, -1);
    cells(step, row, -1, LINE - 1, left, LINE);
    stream(step, row, LINE - 1, last);
    LBM_NAME(foresee)(step, row, last);
    cells(step, row, last, last + LINE, right, LINE);
    for (int i = 0; i < LBM_Q; i++) {
        REAL *first = left + i * LINE, *end = right + i * LINE + (nx - last);
        first[0] = nx > last ? end[-1] : to[i * plane + nx - 1];
        end[0] = first[1];
        memset(end + 1, 0, (size_t)(last + LINE - 1 - nx) * sizeof(REAL));
        sel_stream_line(to + i * plane - 1, first);
        sel_stream_line(to + i * plane + last, right + i * LINE);
    }
}

/* The ends of a span are needed again at once, for boundary cells and halos: they stay in the
 * cache. What is streamed begins and ends on cache lines, which begin at x = -1. */
SEL_INLINE void LBM_NAME(bulk)(const lbm_step *step, int64_t row, int64_t x0, int64_t x1,
                               LBM_NAME(cells_of) cells, LBM_NAME(stream_of) stream) {
    enum { LINE = LBM_NAME(LINE) };
    const int64_t plane = step->layout.plane;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    int64_t first = ((x0 + 1) / LINE + 1) * LINE - 1, last = x1 / LINE * LINE - 1;
    if (lbm_row_wraps(step, row)) {
        LBM_NAME(wrapped_row)(step, row, cells, stream);
        return;
    }
    if (!step->streams || first >= last) {
        cells(step, row, x0, x1, to + x0, plane);
        return;
    }
    LBM_NAME(foresee)(step, row, x0);
    cells(step, row, x0, first, to + x0, plane);
    stream(step, row, first, last);
    LBM_NAME(foresee)(step, row, last);
    cells(step, row, last, x1, to + last, plane);
}

/* What arrives at a boundary cell before its wet faces are closed. own[i] is what the cell itself
 * sent along i. */
SEL_INLINE void LBM_NAME(arrivals)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                                   REAL own[LBM_Q], REAL g[LBM_Q]) {
    const lbm_layout *layout = &step->layout;
    const int64_t x = cell->x, offset = lbm_row_offset(layout, row);
    const REAL *here = (const REAL *)step->from + offset + x;
    int64_t link = cell->first_link;
    LBM_DIRECTIONS(SOURCE)
    for (int i = 0; i < LBM_Q; i++) {
        own[i] = here[i * layout->plane];
    }
    g[0] = own[0];
#define ARRIVE(i, ex, ey, ez, opposite, weight)            \
    if (cell->bounced >> i & 1u) {                         \
        g[i] = own[opposite] + (REAL)step->link_add[link]; \
    } else if (cell->links >> i & 1u) {                    \
        g[i] = (REAL)0;                                    \
    } else if (i > 0) {                                    \
        g[i] = from##i[x];                                 \
    }                                                      \
    link += cell->links >> i & 1u;
    LBM_DIRECTIONS(ARRIVE)
#undef ARRIVE
    if (cell->mirrored[0] | cell->mirrored[1] | cell->mirrored[2]) {
        const int64_t stride[3] = {1, layout->pitch, layout->slice};
#define MIRROR(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z)                                 \
    {                                                                                             \
        static const int mirrored[3] = {mirrored_x, mirrored_y, mirrored_z}, e[3] = {ex, ey, ez}; \
        for (int a = 0; a < LBM_DIMS; a++) {                                                      \
            if (cell->mirrored[a] >> i & 1u) {                                                    \
                const int64_t away =                                                              \
                    ((ez)*layout->slice + (ey)*layout->pitch + (ex)) - e[a] * stride[a];          \
                g[i] = here[mirrored[a] * layout->plane - away];                                  \
            }                                                                                     \
        }                                                                                         \
    }
        LBM_DIAGONALS(MIRROR)
#undef MIRROR
    }
}

/* Cell x of a row at the start of the step, from its populations after collision. A field of
 * acceleration is that of this step, so in time it is half a step's change ahead. */
SEL_INLINE LBM_NAME(lbm_cell) LBM_NAME(before)(const lbm_step *step, int64_t x, int64_t row) {
    const lbm_layout *layout = &step->layout;
    const REAL *from = (const REAL *)step->from + lbm_row_offset(layout, row) + x;
    LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, x, row);
    LBM_NAME(lbm_cell) cell;
    REAL f[LBM_Q];
    if (step->forcing != LBM_FORCE_FIELD) {
#define UNIFORM(axis, sum) rates.a[axis] = (REAL)step->acceleration_before[axis];
        LBM_AXES(UNIFORM)
#undef UNIFORM
    }
    for (int i = 0; i < LBM_Q; i++) {
        f[i] = from[i * layout->plane];
    }
    cell.drho = LBM_SUM(f);
    const REAL per_rho = (REAL)1 / ((REAL)1 + cell.drho);
#define VELOCITY(axis, sum) cell.u[axis] = sum(f) * per_rho - (REAL)0.5 * rates.a[axis];
    LBM_AXES(VELOCITY)
#undef VELOCITY
    return cell;
}

/* The next cell along the inward normals, at most at the grid's end and at solids, as it was before
 * the step. */
SEL_INLINE LBM_NAME(lbm_cell)
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

/* Fills what comes through the cell's wet faces. The laws give the fluid's velocity u; the
 * momentum of populations before collision is rho (u - a/2). */
SEL_INLINE void LBM_NAME(close)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                                const LBM_NAME(lbm_rates) * rates, REAL g[LBM_Q]) {
    if (cell->opening == LBM_CLOSED) {
        return;
    }
    const double *value = step->open_value + LBM_OPEN_VALUES * cell->opening_index;
    const REAL drho = (REAL)value[3];
    REAL u[LBM_DIMS], shift[LBM_DIMS];
    int n[LBM_DIMS];
#define GIVEN(axis, sum)                       \
    n[axis] = cell->normal[axis];              \
    shift[axis] = -(REAL)0.5 * rates->a[axis]; \
    u[axis] = (REAL)value[axis] + shift[axis];
    LBM_AXES(GIVEN)
#undef GIVEN
    if (cell->opening == LBM_OPEN_VELOCITY) {
        LBM_NAME(lbm_close_velocity)(g, n, u);
        return;
    }
    if (cell->opening == LBM_OPEN_PRESSURE) {
        LBM_NAME(lbm_close_density)(g, n, drho, shift);
        return;
    }
    LBM_NAME(lbm_cell) inward = LBM_NAME(inward)(step, cell, row);
    if (cell->opening == LBM_OPEN_OUTFLOW) {
        const LBM_NAME(lbm_cell) here = LBM_NAME(before)(step, cell->x, row);
        LBM_NAME(lbm_close_outflow)(g, n, &here, &inward, shift);
        return;
    }
#define CHOOSE(axis, sum) u[axis] = cell->velocity_region ? u[axis] : inward.u[axis] + shift[axis];
    LBM_AXES(CHOOSE)
#undef CHOOSE
    LBM_NAME(lbm_close)(g, n, cell->density_region ? drho : inward.drho, u);
}

SEL_INLINE void LBM_NAME(count_flow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                     const REAL own[LBM_Q], const REAL g[LBM_Q]) {
    int64_t link = cell->first_link;
#define FLOW(i, ex, ey, ez, opposite, weight)                            \
    if (cell->links >> i & 1u) {                                         \
        step->link_flow[link++] += (double)own[opposite] - (double)g[i]; \
    }
    LBM_DIRECTIONS(FLOW)
#undef FLOW
}

static void LBM_NAME(edge)(const lbm_step *step, int64_t row) {
    const lbm_layout *layout = &step->layout;
    const lbm_boundary *boundary = step->boundary;
    REAL *to = (REAL *)step->to + lbm_row_offset(layout, row);
    for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, row);
        REAL own[LBM_Q], g[LBM_Q];
        LBM_NAME(arrivals)(step, cell, row, own, g);
        LBM_NAME(close)(step, cell, row, &rates, g);
        if (step->link_flow) {
            LBM_NAME(count_flow)(step, cell, own, g);
        }
        LBM_NAME(lbm_collide)
        (g, &rates, step->collision, step->forcing != LBM_NO_FORCE, step->eddy > 0);
        for (int i = 0; i < LBM_Q; i++) {
            to[i * layout->plane + cell->x] = g[i];
        }
    }
}

static void LBM_NAME(arrive)(const lbm_step *step, int64_t row, const lbm_boundary_cell *cell,
                             double *own, double *g) {
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, row);
    REAL sent[LBM_Q], come[LBM_Q];
    LBM_NAME(arrivals)(step, cell, row, sent, come);
    LBM_NAME(close)(step, cell, row, &rates, come);
    for (int i = 0; i < LBM_Q; i++) {
        own[i] = (double)sent[i];
        g[i] = (double)come[i];
    }
}

static void LBM_NAME(pull)(const lbm_step *step, int64_t x, int64_t row, double *g) {
    const lbm_layout *layout = &step->layout;
    const int64_t offset = lbm_row_offset(layout, row);
    LBM_DIRECTIONS(SOURCE)
#define LOAD(i, ex, ey, ez, opposite, weight) g[i] = (double)from##i[x];
    LBM_DIRECTIONS(LOAD)
#undef LOAD
}

#undef SOURCE

/* The momentum of stored populations, after collision, is rho u + F/2. */
static void LBM_NAME(read)(const lbm_layout *layout, const void *f, int64_t row, int64_t x0,
                           int64_t x1, double *to, int64_t stride) {
    const int64_t offset = lbm_row_offset(layout, row);
#define ROW(i, ex, ey, ez, opposite, weight) \
    const REAL *row##i = (const REAL *)f + i * layout->plane + offset;
    LBM_DIRECTIONS(ROW)
#undef ROW
    LBM_INDEPENDENT
    for (int64_t x = x0; x < x1; x++) {
        double g[LBM_Q];
#define LOAD(i, ex, ey, ez, opposite, weight) g[i] = (double)row##i[x];
        LBM_DIRECTIONS(LOAD)
#undef LOAD
        const double deviation = LBM_SUM(g), rho = 1.0 + deviation;
        to[x - x0] = deviation;
#define VELOCITY(axis, sum) to[(axis + 1) * stride + x - x0] = sum(g) / rho;
        LBM_AXES(VELOCITY)
#undef VELOCITY
    }
}

static void LBM_NAME(write)(const lbm_layout *layout, void *f, int64_t x, int64_t row,
                            const double *g) {
    REAL *to = (REAL *)f + lbm_row_offset(layout, row) + x;
    for (int i = 0; i < LBM_Q; i++) {
        to[i * layout->plane] = (REAL)g[i];
    }
}

/* The variants of the table: constants for each, so that loops have no branches. */
#define VARIANT(name, COLLISION, FORCING, EDDIES)                                                  \
    __attribute__((noinline)) static void LBM_NAME(cells_##name)(                                  \
        const lbm_step *step, int64_t row, int64_t x0, int64_t x1, REAL *to, int64_t plane) {      \
        LBM_NAME(cells)(step, row, x0, x1, to, plane, COLLISION, FORCING, EDDIES);                 \
    }                                                                                              \
    __attribute__((noinline)) static void LBM_NAME(stream_##name)(                                 \
        const lbm_step *step, int64_t row, int64_t x0, int64_t x1) {                               \
        LBM_NAME(stream_cells)(step, row, x0, x1, COLLISION, FORCING, EDDIES);                     \
    }                                                                                              \
    static void LBM_NAME(bulk_##name)(const lbm_step *step, int64_t row, int64_t x0, int64_t x1) { \
        LBM_NAME(bulk)(step, row, x0, x1, LBM_NAME(cells_##name), LBM_NAME(stream_##name));        \
    }
#define VARIANTS(name, COLLISION)                                  \
    VARIANT(name, COLLISION, LBM_NO_FORCE, false)                  \
    VARIANT(name##_force, COLLISION, LBM_UNIFORM_FORCE, false)     \
    VARIANT(name##_field, COLLISION, LBM_FORCE_FIELD, false)       \
    VARIANT(name##_eddy, COLLISION, LBM_NO_FORCE, true)            \
    VARIANT(name##_force_eddy, COLLISION, LBM_UNIFORM_FORCE, true) \
    VARIANT(name##_field_eddy, COLLISION, LBM_FORCE_FIELD, true)
VARIANTS(trt, LBM_TRT)
VARIANTS(bgk, LBM_BGK)
VARIANTS(regularized, LBM_REGULARIZED)
#undef VARIANTS
#undef VARIANT
