/* lbm_loops.h -- the CPU's inner loops for one lattice and precision: compute rows of cells, read
 * and write populations.
 *
 * Included by lbm_kernel_table.h once per lattice and precision, with LBM_DIMS, REAL, LBM_SQRT,
 * LBM_NAME and SEL_INLINE as in engine/solvers/lbm/lbm_collision.h. A step pulls: g_i(x, n+1) =
 * collide(g_i(x - e_i, n)). It reads one copy of the populations (from) and writes the other (to),
 * so cells may be computed in any order.
 *
 * A row is computed by cache lines of LINE cells; the first line begins at x = -1 (h halo, b
 * boundary cell, . other free cell, # solid, 0 unused; here LINE = 8):
 *
 *     x = -1           7                15               23
 *     | h b . . . . . .|. . . . . . . . |. . b # # # b . |. . . . b h 0 0 |
 *          mixed             bulk             mixed            mixed
 *
 *     bulk    from##i[k], all directions --collide--> to##i[k]
 *     mixed   from##i[k] --copy--> line[i][k]       (from##i is shifted by -e_i)
 *             line[i][k] of each b: bounced, mirrored, closed
 *             line --collide--> line, all k alike; 0 in h, # and beyond; stored whole
 *
 * So a boundary cell costs as much as its links. A periodic row without b and # is computed
 * together with its halo (wrapped_row).
 */
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"

/* ---- gathering: pulled from neighbours, bounced back, mirrored, closed ---- */

/* The populations that the cells of a row gather. */
typedef struct LBM_NAME(lbm_source) {
    const REAL *from;                  /* the first cell, direction 0 */
    int64_t plane, slice, pitch, cell; /* strides: of the directions, along z, y and x */
} LBM_NAME(lbm_source);

/* The source of the cells from x on, which pull from their neighbours. */
SEL_INLINE LBM_NAME(lbm_source) LBM_NAME(pulled)(const lbm_step *step, int64_t row, int64_t x) {
    const lbm_layout *layout = &step->layout;
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

/* A cell at the start of the step: its populations after the last collision, and the acceleration
 * of the last step. A field of acceleration is that of this step instead, half a step's change
 * ahead.
 */
typedef struct LBM_NAME(cell_before) {
    REAL f[LBM_Q];
    LBM_NAME(lbm_rates) rates;
} LBM_NAME(cell_before);

SEL_INLINE LBM_NAME(cell_before) LBM_NAME(before)(const lbm_step *step, int64_t x, int64_t row) {
    const lbm_layout *layout = &step->layout;
    const REAL *from = (const REAL *)step->from + lbm_row_offset(layout, row) + x;
    LBM_NAME(cell_before) cell = {.rates = LBM_NAME(rates)(step, x, row)};
    if (step->forcing != LBM_FORCE_FIELD) {
#define UNIFORM(axis, sum) cell.rates.a[axis] = (REAL)step->acceleration_before[axis];
        LBM_AXES(UNIFORM)
#undef UNIFORM
    }
    for (int i = 0; i < LBM_Q; i++) {
        cell.f[i] = from[i * layout->plane];
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

/* Closes a cell with wet faces. The laws give the fluid's velocity u; the momentum of populations
 * before collision is rho (u - a/2). */
SEL_INLINE void LBM_NAME(close)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                                const LBM_NAME(lbm_rates) * rates, REAL g[LBM_Q]) {
    const double *value = step->open_value + LBM_OPEN_VALUES * cell->opening_index;
    const REAL drho = (REAL)value[3];
    const bool regularized = step->collision == LBM_REGULARIZED;
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
    }
    if (regularized || cell->opening == LBM_OPEN_OUTFLOW || cell->opening == LBM_OPEN_EDGE) {
        next = LBM_NAME(inward)(step, cell, row);
        inward = LBM_NAME(lbm_cell_after)(next.f, next.rates.a);
    }
    if (cell->opening == LBM_OPEN_OUTFLOW) {
        const LBM_NAME(cell_before) before = LBM_NAME(before)(step, cell->x, row);
        const LBM_NAME(lbm_cell) here = LBM_NAME(lbm_cell_after)(before.f, before.rates.a);
        target = LBM_NAME(lbm_outflow_cell)(g, n, &here, &inward, (REAL)cell->keep, shift);
    } else if (cell->opening == LBM_OPEN_EDGE) {
        target.drho = cell->density_region ? drho : inward.drho;
#define CHOOSE(axis, sum) \
    target.u[axis] = cell->velocity_region ? u[axis] : inward.u[axis] + shift[axis];
        LBM_AXES(CHOOSE)
#undef CHOOSE
    }
    if (regularized) {
        LBM_NAME(lbm_regularize)
        (g, n, cell->opening == LBM_OPEN_PRESSURE, &target, shift, next.f, next.rates.a,
         rates->omega_even);
    } else {
        LBM_NAME(lbm_close)(g, n, target.drho, target.u);
    }
}

/* Adds the mass that leaves the domain through a cell's links to step->link_flow. `here`: the
 * cell's populations before the step. */
SEL_INLINE void LBM_NAME(count_flow)(const lbm_step *step, const lbm_boundary_cell *cell,
                                     const REAL *here, const REAL *g, int64_t stride) {
    int64_t link = cell->first_link;
#define FLOW(i, ex, ey, ez, opposite, weight)                                    \
    if (cell->links >> i & 1u) {                                                 \
        step->link_flow[link++] +=                                               \
            (double)here[opposite * step->layout.plane] - (double)g[i * stride]; \
    }
    LBM_DIRECTIONS(FLOW)
#undef FLOW
}

/* Replaces the populations that come across slip faces by those that the cell beside this one,
 * along the face, sends along the mirrored direction. */
SEL_INLINE void LBM_NAME(mirror)(const lbm_layout *layout, const lbm_boundary_cell *cell,
                                 const REAL *here, REAL *g, int64_t stride) {
    const int64_t along[3] = {1, layout->pitch, layout->slice};
#define MIRROR(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z)                                 \
    {                                                                                             \
        static const int mirrored[3] = {mirrored_x, mirrored_y, mirrored_z}, e[3] = {ex, ey, ez}; \
        for (int a = 0; a < LBM_DIMS; a++) {                                                      \
            if (cell->mirrored[a] >> i & 1u) {                                                    \
                const int64_t away =                                                              \
                    ((ez)*layout->slice + (ey)*layout->pitch + (ex)) - e[a] * along[a];           \
                g[i * stride] = here[mirrored[a] * layout->plane - away];                         \
            }                                                                                     \
        }                                                                                         \
    }
    LBM_DIAGONALS(MIRROR)
#undef MIRROR
}

/* Applies the boundary conditions of a cell to its pulled populations g[i * stride]. Prefetches the
 * same links of the next row, which mostly has the same boundary cells. */
SEL_INLINE void LBM_NAME(apply_boundary)(const lbm_step *step, const lbm_boundary_cell *cell,
                                         int64_t row, REAL *g, int64_t stride) {
    const lbm_layout *layout = &step->layout;
    const REAL *here = (const REAL *)step->from + lbm_row_offset(layout, row) + cell->x;
    int64_t link = cell->first_link;
#define BOUNCE(i, ex, ey, ez, opposite, weight)                                 \
    if (cell->links >> i & 1u) {                                                \
        const REAL *sent = here + opposite * layout->plane;                     \
        const bool bounced = cell->bounced >> i & 1u;                           \
        g[i * stride] = bounced ? *sent + (REAL)step->link_add[link] : (REAL)0; \
        __builtin_prefetch(sent + layout->pitch);                               \
        link++;                                                                 \
    }
    LBM_DIRECTIONS(BOUNCE)
#undef BOUNCE
    if (cell->mirrored[0] | cell->mirrored[1] | cell->mirrored[2]) {
        LBM_NAME(mirror)(layout, cell, here, g, stride);
    }
    if (cell->opening != LBM_CLOSED) {
        const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, row);
        REAL all[LBM_Q];
        for (int i = 0; i < LBM_Q; i++) {
            all[i] = g[i * stride];
        }
        LBM_NAME(close)(step, cell, row, &rates, all);
        for (int i = 0; i < LBM_Q; i++) {
            g[i * stride] = all[i];
        }
    }
}

/* The populations of a cell in double precision: `own`, those that it stores; `g`, those before the
 * next collision. `cell`: its boundary conditions, or NULL. */
static void LBM_NAME(gather)(const lbm_step *step, int64_t x, int64_t row,
                             const lbm_boundary_cell *cell, double *own, double *g) {
    const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, x);
    REAL come[LBM_Q];
    LBM_DIRECTIONS(SOURCE)
#define LOAD(i, ex, ey, ez, opposite, weight) come[i] = *from##i;
    LBM_DIRECTIONS(LOAD)
#undef LOAD
    if (cell) {
        LBM_NAME(apply_boundary)(step, cell, row, come, 1);
    }
    for (int i = 0; i < LBM_Q; i++) {
        own[i] = (double)source.from[i * source.plane];
        g[i] = (double)come[i];
    }
}

/* ---- lines and rows ---- */

enum { LBM_NAME(LINE) = 64 / sizeof(REAL) }; /* cells of a cache line */

/* Collides `count` cells of a row from x on. Direction i of the result begins at to[i * plane];
 * `to` may be the source. */
SEL_INLINE void LBM_NAME(cells)(const lbm_step *step, int64_t row, int64_t x, int64_t count,
                                LBM_NAME(lbm_source) source, REAL *to, int64_t plane, int collision,
                                lbm_forcing forcing, bool les) {
    const sel_layout *layout = step->acceleration_layout;
#define FIELD(axis, sum)                                                           \
    const REAL *field##axis = (const REAL *)step->acceleration_field;              \
    if (forcing == LBM_FORCE_FIELD) {                                              \
        field##axis += axis * layout->component + sel_layout_row(layout, row) + x; \
    }
    LBM_AXES(FIELD)
#undef FIELD
    const LBM_NAME(lbm_rates) common = LBM_NAME(common_rates)(step);
    LBM_DIRECTIONS(SOURCE)
#define TARGET(i, ex, ey, ez, opposite, weight) REAL *to##i = to + i * plane;
    LBM_DIRECTIONS(TARGET)
#undef TARGET
    SEL_INDEPENDENT
    for (int64_t k = 0; k < count; k++) {
        LBM_NAME(lbm_rates) rates = common;
        REAL g[LBM_Q];
        if (forcing == LBM_FORCE_FIELD) {
#define HERE(axis, sum) rates.a[axis] = field##axis[k];
            LBM_AXES(HERE)
#undef HERE
        }
#define LOAD(i, ex, ey, ez, opposite, weight) g[i] = from##i[k];
        LBM_DIRECTIONS(LOAD)
#undef LOAD
        LBM_NAME(lbm_collide)(g, &rates, collision, forcing != LBM_NO_FORCE, les);
#define STORE(i, ex, ey, ez, opposite, weight) to##i[k] = g[i];
        LBM_DIRECTIONS(STORE)
#undef STORE
    }
}

/* Prefetches the populations of cells some lines ahead: hardware prefetchers cannot follow this
 * many streams. */
SEL_INLINE void LBM_NAME(prefetch)(LBM_NAME(lbm_source) source) {
    enum { AHEAD = 1024 / sizeof(REAL) };
    LBM_DIRECTIONS(SOURCE)
#define PREFETCH(i, ex, ey, ez, opposite, weight) __builtin_prefetch(from##i + AHEAD, 0, 2);
    LBM_DIRECTIONS(PREFETCH)
#undef PREFETCH
}

/* Stores a cache line of one direction; `streams`: past the caches. */
SEL_INLINE void LBM_NAME(put)(REAL *to, const REAL *line, bool streams) {
    if (streams) {
        sel_stream_line(to, line);
    } else {
        memcpy(to, line, 64);
    }
}

/* Computes the cells x0 <= x < x1, whole cache lines, and stores them past the caches. Each line of
 * cells is stored before the next is computed, so that loads and stores overlap. */
SEL_INLINE void LBM_NAME(stream_cells)(const lbm_step *step, int64_t row, int64_t x0, int64_t x1,
                                       int collision, lbm_forcing forcing, bool les) {
    enum { LINE = LBM_NAME(LINE) };
    const int64_t plane = step->layout.plane;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    for (int64_t x = x0; x < x1; x += LINE) {
        const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, x);
        REAL line[LBM_Q * LINE] __attribute__((aligned(64)));
        LBM_NAME(prefetch)(source);
        LBM_NAME(cells)(step, row, x, LINE, source, line, LINE, collision, forcing, les);
#define STORE(i, ex, ey, ez, opposite, weight) sel_stream_line(to + i * plane + x, line + i * LINE);
        LBM_DIRECTIONS(STORE)
#undef STORE
    }
}

/* Variants of `cells` and of `stream_cells` (see VARIANT below). */
typedef void (*LBM_NAME(cells_of))(const lbm_step *step, int64_t row, int64_t x, int64_t count,
                                   LBM_NAME(lbm_source) source, REAL *to, int64_t plane);
typedef void (*LBM_NAME(stream_of))(const lbm_step *step, int64_t row, int64_t x0, int64_t x1);

/* Computes the cells x0 <= x < x1: whole cache lines of free cells that are no boundary cells. */
SEL_INLINE void LBM_NAME(bulk)(const lbm_step *step, int64_t row, int64_t x0, int64_t x1,
                               LBM_NAME(cells_of) cells, LBM_NAME(stream_of) stream) {
    if (step->streams) {
        stream(step, row, x0, x1);
    } else {
        REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row) + x0;
        cells(step, row, x0, x1 - x0, LBM_NAME(pulled)(step, row, x0), to, step->layout.plane);
    }
}

/* Computes a periodic row with its halo, the copies of its ends:
 *
 *     x = -1  0  1  ...  nx-2  nx-1  nx      cell -1 is a copy of nx - 1, cell nx of 0
 *
 * The first and the last line are stored at the end, when both are known. Cells beyond the halo
 * become 0. */
SEL_INLINE void LBM_NAME(wrapped_row)(const lbm_step *step, int64_t row, LBM_NAME(cells_of) cells,
                                      LBM_NAME(stream_of) stream) {
    enum { LINE = LBM_NAME(LINE) };
    const int64_t plane = step->layout.plane, nx = step->layout.nx;
    const int64_t last = (nx + 1) / LINE * LINE - 1;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    const LBM_NAME(lbm_source) begin = LBM_NAME(pulled)(step, row, -1),
                               finish = LBM_NAME(pulled)(step, row, last);
    REAL left[LBM_Q * LINE] __attribute__((aligned(64)));
    REAL right[LBM_Q * LINE] __attribute__((aligned(64)));
    LBM_NAME(prefetch)(begin);
    cells(step, row, -1, LINE, begin, left, LINE);
    LBM_NAME(bulk)(step, row, LINE - 1, last, cells, stream);
    LBM_NAME(prefetch)(finish);
    cells(step, row, last, LINE, finish, right, LINE);
    for (int i = 0; i < LBM_Q; i++) {
        REAL *first = left + i * LINE, *end = right + i * LINE + (nx - last);
        first[0] = nx > last ? end[-1] : to[i * plane + nx - 1];
        end[0] = first[1];
        memset(end + 1, 0, (size_t)(last + LINE - 1 - nx) * sizeof(REAL));
        LBM_NAME(put)(to + i * plane - 1, first, step->streams);
        LBM_NAME(put)(to + i * plane + last, right + i * LINE, step->streams);
    }
}

/* The rest of a row from some line on: its spans of free cells and its boundary cells. */
typedef struct LBM_NAME(rest) {
    const lbm_span *span, *last_span;
    const lbm_boundary_cell *cell, *last_cell;
} LBM_NAME(rest);

/* Sets the cells of the line that begins at x to 0, except the free ones: solids, the halo, cells
 * beyond it. */
SEL_INLINE void LBM_NAME(clear)(const LBM_NAME(rest) * rest, int64_t x, REAL *line) {
    enum { LINE = LBM_NAME(LINE) };
    const lbm_span *span = rest->span;
    REAL keeps[LINE]; /* a mask: single stores to a line would stall its next load as a whole */
    for (int64_t k = 0; k < LINE; k++) {
        span += span < rest->last_span && span->x1 <= x + k;
        keeps[k] = span != rest->last_span && x + k >= span->x0;
    }
    for (int i = 0; i < LBM_Q; i++) {
        SEL_INDEPENDENT
        for (int k = 0; k < LINE; k++) {
            const REAL here = line[i * LINE + k];
            line[i * LINE + k] = keeps[k] != 0 ? here : (REAL)0;
        }
    }
}

/* Computes the line that begins at x and has boundary cells, solids or an end of the row. The ends
 * of periodic rows stay in the cache, since they are read again at once, for the halo. */
SEL_INLINE void LBM_NAME(mixed_line)(const lbm_step *step, int64_t row, int64_t x,
                                     LBM_NAME(rest) * rest, LBM_NAME(cells_of) cells) {
    enum { LINE = LBM_NAME(LINE) };
    const bool end = x < 0 || x + LINE >= step->layout.nx;
    const bool streams = step->streams && !(step->wraps && end);
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row) + x;
    const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, x);
    REAL line[LBM_Q * LINE] __attribute__((aligned(64)));
    LBM_NAME(prefetch)(source);
    LBM_DIRECTIONS(SOURCE)
#define GATHER(i, ex, ey, ez, opposite, weight) \
    memcpy(line + i * LINE, from##i, LINE * sizeof(REAL));
    LBM_DIRECTIONS(GATHER)
#undef GATHER
    for (; rest->cell < rest->last_cell && rest->cell->x < x + LINE; rest->cell++) {
        const lbm_boundary_cell *cell = rest->cell;
        REAL *g = line + (cell->x - x);
        LBM_NAME(apply_boundary)(step, cell, row, g, LINE);
        if (step->link_flow) {
            LBM_NAME(count_flow)(step, cell, source.from + (cell->x - x), g, LINE);
        }
    }
    cells(step, row, x, LINE, (LBM_NAME(lbm_source)){.from = line, .plane = LINE}, line, LINE);
    LBM_NAME(clear)(rest, x, line);
    for (int i = 0; i < LBM_Q; i++) {
        LBM_NAME(put)(to + i * step->layout.plane, line + i * LINE, streams);
    }
}

/* The first cell of the line that contains x. */
SEL_INLINE int64_t LBM_NAME(line_of)(int64_t x) {
    return (x + 1) / LBM_NAME(LINE) * LBM_NAME(LINE) - 1;
}

/* Computes the free cells of a row. Compiled once for all variants. */
__attribute__((noinline)) static void LBM_NAME(sweep)(const lbm_step *step, int64_t row,
                                                      LBM_NAME(cells_of) cells,
                                                      LBM_NAME(stream_of) stream) {
    const lbm_boundary *b = step->boundary;
    LBM_NAME(rest)
    rest = {b->spans + b->row_spans[row], b->spans + b->row_spans[row + 1],
            b->cells + b->row_cells[row], b->cells + b->row_cells[row + 1]};
    if (lbm_row_wraps(step, row)) {
        LBM_NAME(wrapped_row)(step, row, cells, stream);
        return;
    }
    for (int64_t x = -1; rest.span < rest.last_span;) {
        const lbm_span *span = rest.span;
        const bool met = rest.cell < rest.last_cell && rest.cell->x < span->x1;
        const int64_t stop = LBM_NAME(line_of)(met ? rest.cell->x : span->x1);
        if (x < LBM_NAME(line_of)(span->x0)) {
            x = LBM_NAME(line_of)(span->x0);
        }
        if (x >= span->x0 && x < stop) {
            LBM_NAME(bulk)(step, row, x, stop, cells, stream);
            x = stop;
        } else {
            LBM_NAME(mixed_line)(step, row, x, &rest, cells);
            x += LBM_NAME(LINE);
        }
        while (rest.span < rest.last_span && rest.span->x1 <= x) {
            rest.span++;
        }
    }
}

#undef SOURCE

/* Reads density deviation and momentum / density of the cells x0 <= x < x1 of a row: to[k stride +
 * x - x0], k = 0 the deviation, k = 1 + axis the momentum. The momentum of stored populations,
 * after collision, is rho u + F/2. */
static void LBM_NAME(read)(const lbm_layout *layout, const void *f, int64_t row, int64_t x0,
                           int64_t x1, double *to, int64_t stride) {
    const int64_t offset = lbm_row_offset(layout, row);
#define ROW(i, ex, ey, ez, opposite, weight) \
    const REAL *row##i = (const REAL *)f + i * layout->plane + offset;
    LBM_DIRECTIONS(ROW)
#undef ROW
    SEL_INDEPENDENT
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

/* The variants of the table; their parameters are constants, so that the loops have no branches. */
#define VARIANT(name, COLLISION, FORCING, EDDIES)                                                 \
    __attribute__((noinline)) static void LBM_NAME(cells_##name)(                                 \
        const lbm_step *step, int64_t row, int64_t x, int64_t count, LBM_NAME(lbm_source) source, \
        REAL *to, int64_t plane) {                                                                \
        LBM_NAME(cells)(step, row, x, count, source, to, plane, COLLISION, FORCING, EDDIES);      \
    }                                                                                             \
    __attribute__((noinline)) static void LBM_NAME(stream_##name)(                                \
        const lbm_step *step, int64_t row, int64_t x0, int64_t x1) {                              \
        LBM_NAME(stream_cells)(step, row, x0, x1, COLLISION, FORCING, EDDIES);                    \
    }                                                                                             \
    static void LBM_NAME(sweep_##name)(const lbm_step *step, int64_t row) {                       \
        LBM_NAME(sweep)(step, row, LBM_NAME(cells_##name), LBM_NAME(stream_##name));              \
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
#undef REAL
#undef LBM_SQRT
#undef LBM_NAME
