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
 * together with its halo (wrapped_row). An observed step stores what links carry, and for the
 * strain takes all lines as mixed, from line[i][k] before collision.
 *
 * Where moments are stored, a thread first makes populations of them, in scratch that the caches
 * hold (lbm_scatter.h), and cells pull these; line then holds moments after the collision.
 */
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"
#include "engine/solvers/lbm/lbm_gather.h"
#include "engine/solvers/lbm/lbm_sponge.h"

/* ---- lines and rows ---- */

enum { LBM_NAME(LINE) = 64 / sizeof(REAL) }; /* cells of a cache line */

/* What the table's variants differ in: constants, so that the loops have no branches. */
typedef struct LBM_NAME(lbm_variant) {
    int collision;
    lbm_forcing forcing;
    bool les, moments;
} LBM_NAME(lbm_variant);

/* Collides `count` cells of a row from x on. Component i of the result, a population or a moment,
 * begins at to[i * plane]; `to` may be the source. */
SEL_INLINE void LBM_NAME(cells)(const lbm_step *step, int64_t row, int64_t x, int64_t count,
                                LBM_NAME(lbm_source) source, REAL *to, int64_t plane,
                                LBM_NAME(lbm_variant) variant) {
    const sel_layout *layout = step->acceleration_layout;
    const lbm_forcing forcing = variant.forcing;
    const int collision = variant.collision;
    const bool forced = forcing != LBM_NO_FORCE, les = variant.les;
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
        if (variant.moments) {
            const LBM_NAME(lbm_cell_moments) in = LBM_NAME(lbm_moments_of)(g);
            REAL differences[LBM_DIFFERENCES];
            if (collision == LBM_HYBRID) {
                LBM_NAME(differences_between)(&source.around, k, differences);
            }
            const LBM_NAME(lbm_cell_moments) m = LBM_NAME(lbm_collide_moments)(
                &in, &rates, collision, forced, les, collision == LBM_HYBRID ? differences : NULL);
            LBM_NAME(lbm_put_moments)(&m, to + k, plane);
        } else {
            LBM_NAME(lbm_collide)(g, &rates, collision, forced, les);
#define STORE(i, ex, ey, ez, opposite, weight) to##i[k] = g[i];
            LBM_DIRECTIONS(STORE)
#undef STORE
        }
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
                                       LBM_NAME(lbm_variant) variant) {
    enum { LINE = LBM_NAME(LINE) };
    const int components = variant.moments ? LBM_MOMENTS : LBM_Q;
    const int64_t plane = step->layout.plane;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    for (int64_t x = x0; x < x1; x += LINE) {
        const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, x);
        REAL line[LBM_Q * LINE] __attribute__((aligned(64)));
        if (!variant.moments) {
            LBM_NAME(prefetch)(source);
        }
        LBM_NAME(cells)(step, row, x, LINE, source, line, LINE, variant);
        for (int i = 0; i < components; i++) {
            sel_stream_line(to + i * plane + x, line + i * LINE);
        }
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
    for (int i = 0; i < step->components; i++) {
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

/* Stores the populations that leave and enter a boundary cell along its links, before collision. If
 * those of the last step are stored (links_follow), keeps their sums as `before`, and with moving
 * walls in - out as link_gain:
 *
 *     links   | out [links] | in [links] | before [links] | */
__attribute__((noinline)) static void LBM_NAME(keep_links)(const lbm_step *step,
                                                           const lbm_boundary_cell *cell,
                                                           LBM_NAME(lbm_sent) here,
                                                           const REAL entered[LBM_Q]) {
    const int64_t count = step->boundary->links.count;
    REAL *out = (REAL *)step->observed.links + cell->first_link;
    REAL *gain = (REAL *)step->observed.link_gain;
    gain += gain ? cell->first_link : 0;
#define KEEP(i, ex, ey, ez, opposite, weight)   \
    if (cell->links >> i & 1u) {                \
        if (step->observed.links_follow) {      \
            out[2 * count] = *out + out[count]; \
            if (gain) {                         \
                *gain = out[count] - *out;      \
            }                                   \
        }                                       \
        *out = here.f[opposite * here.plane];   \
        out[count] = entered[i];                \
        out++;                                  \
        gain += gain ? 1 : 0;                   \
    }
    LBM_DIRECTIONS(KEEP)
#undef KEEP
}

/* Stores the strain of the free cells of the line that begins at x, from its populations before
 * collision; differences[part][k]: the strain by differences, for the hybrid operator. */
__attribute__((noinline)) static void
LBM_NAME(keep_strain)(const lbm_step *step, int64_t row, int64_t x, const LBM_NAME(rest) * rest,
                      const REAL *line, const REAL differences[][LBM_NAME(LINE)]) {
    enum { LINE = LBM_NAME(LINE) };
    const lbm_observed *observed = &step->observed;
    const lbm_units units = observed->units;
    const double tau = step->numbers->tau, eddy = step->numbers->eddy;
    const bool recursive = LBM_NAME(lbm_is_recursive)(step->collision);
    const bool hybrid = step->collision == LBM_HYBRID;
    const sel_layout *to = observed->strain_layout, *layout = step->acceleration_layout;
    const int64_t first = sel_layout_row(to, row) + x;
    double a[LBM_DIMS][LINE], value[2 + LBM_PARTS][LINE];
    for (int axis = 0; axis < LBM_DIMS; axis++) {
        const REAL *field = (const REAL *)step->acceleration_field;
        field += field ? axis * layout->component + sel_layout_row(layout, row) + x : 0;
        for (int k = 0; k < LINE; k++) {
            a[axis][k] = field ? (double)field[k] : step->acceleration[axis];
        }
    }
    for (int k = 0; k < LINE; k++) {
        double g[LBM_Q], push[LBM_DIMS], beside[LBM_PARTS], rate, stress[LBM_PARTS], dissipation;
#define LOAD(i, ex, ey, ez, opposite, weight) g[i] = (double)line[i * LINE + k];
        LBM_DIRECTIONS(LOAD)
#undef LOAD
#define PUSH(axis, sum) push[axis] = a[axis][k];
        LBM_AXES(PUSH)
#undef PUSH
        for (int part = 0; hybrid && part < LBM_PARTS; part++) {
            beside[part] = (double)differences[part][k];
        }
        cell_strain(g, push, tau, eddy, recursive, hybrid ? beside : NULL, &units, &rate, stress,
                    &dissipation);
        value[0][k] = rate;
        value[1 + LBM_PARTS][k] = dissipation;
#define KEEP(part, i, j, sum) value[1 + part][k] = stress[part];
        LBM_TENSOR(KEEP)
#undef KEEP
    }
    const double(*from)[LINE] = value;
    for (int f = 0; f < LBM_STRAIN_FIELDS; f++) {
        const int parts = f == LBM_STRESS - LBM_STRAIN_RATE ? LBM_PARTS : 1;
        for (int c = 0; observed->strain[f] && c < parts; c++) {
            const lbm_span *span = rest->span;
            for (int k = 0; k < LINE; k++) {
                span += span < rest->last_span && span->x1 <= x + k;
                if (span != rest->last_span && x + k >= span->x0) {
                    observed->strain[f][c * to->component + first + k] = from[c][k];
                }
            }
        }
        from += parts;
    }
}

/* Sets the cells of the line that begins at x to 0, except the free ones: solids, the halo, cells
 * beyond it. */
SEL_INLINE void LBM_NAME(clear)(const LBM_NAME(rest) * rest, int64_t x, int components,
                                REAL *line) {
    enum { LINE = LBM_NAME(LINE) };
    const lbm_span *span = rest->span;
    REAL keeps[LINE]; /* a mask: single stores to a line would stall its next load as a whole */
    for (int64_t k = 0; k < LINE; k++) {
        span += span < rest->last_span && span->x1 <= x + k;
        keeps[k] = span != rest->last_span && x + k >= span->x0;
    }
    for (int i = 0; i < components; i++) {
        SEL_INDEPENDENT
        for (int k = 0; k < LINE; k++) {
            const REAL here = line[i * LINE + k];
            line[i * LINE + k] = keeps[k] != 0 ? here : (REAL)0;
        }
    }
}

/* v = j / rho of a cell at the start of the step; offset: its place in a plane. */
SEL_INLINE void LBM_NAME(velocity_at)(const lbm_step *step, int64_t offset, REAL v[LBM_DIMS]) {
    const LBM_NAME(lbm_cell_moments) m = LBM_NAME(moments_at)(step, offset);
    const REAL per_rho = (REAL)1 / ((REAL)1 + m.drho);
#define VELOCITY(axis, sum) v[axis] = m.j[axis] * per_rho;
    LBM_AXES(VELOCITY)
#undef VELOCITY
}

/* The moments that the hybrid operator leaves in a cell on the boundary, whose populations before
 * collision are line[i * stride]. around: to the differences of velocities. */
SEL_INLINE LBM_NAME(lbm_cell_moments)
    LBM_NAME(collide_alone)(const lbm_step *step, const lbm_boundary_cell *cell, int64_t row,
                            const REAL *line, int64_t stride, REAL around[LBM_DIFFERENCES]) {
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(step, cell->x, row);
    const lbm_layout *layout = &step->layout;
    const int64_t along[3] = {1, layout->pitch, layout->slice};
    const int64_t here = lbm_row_offset(layout, row) + cell->x;
    REAL g[LBM_Q], v[LBM_DIMS], beside[LBM_DIMS][2][LBM_DIMS] = {{{0}}};
    int what[LBM_DIMS][2];
    for (int i = 0; i < LBM_Q; i++) {
        g[i] = line[i * stride];
    }
    LBM_NAME(lbm_find_beside)(cell, what);
    LBM_NAME(velocity_at)(step, here, v);
    for (int b = 0; b < LBM_DIMS; b++) {
        for (int side = 0; side < 2; side++) {
            if (what[b][side] == LBM_BESIDE_FLUID) {
                LBM_NAME(velocity_at)(step, here + (2 * side - 1) * along[b], beside[b][side]);
            }
        }
    }
    LBM_NAME(lbm_differences_beside)
    (v, (const REAL(*)[2][LBM_DIMS])beside, (const int(*)[2])what, around);
    const LBM_NAME(lbm_cell_moments) in = LBM_NAME(lbm_moments_of)(g);
    return LBM_NAME(lbm_collide_moments)(&in, &rates, LBM_HYBRID, step->forcing != LBM_NO_FORCE,
                                         step->numbers->eddy > 0, around);
}

/* Computes the line that begins at x and has boundary cells, solids or an end of the row, or whose
 * populations before collision are looked at. The ends of periodic rows stay in the cache, since
 * they are read again at once, for the halo. */
SEL_INLINE void LBM_NAME(mixed_line)(const lbm_step *step, int64_t row, int64_t x,
                                     LBM_NAME(rest) * rest, LBM_NAME(cells_of) cells) {
    enum { LINE = LBM_NAME(LINE) };
    const bool end = x < 0 || x + LINE >= step->layout.nx;
    const bool streams = step->streams && !(step->wraps && end);
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row) + x;
    const LBM_NAME(lbm_source) source = LBM_NAME(pulled)(step, row, x);
    REAL line[LBM_Q * LINE] __attribute__((aligned(64)));
    LBM_NAME(lbm_cell_moments) local[LINE]; /* of boundary cells, for the hybrid operator */
    REAL around[LBM_DIFFERENCES], differences[LBM_PARTS][LINE];
    const bool hybrid = step->collision == LBM_HYBRID;
    const lbm_boundary_cell *first = rest->cell;
    LBM_NAME(prefetch)(source);
    LBM_DIRECTIONS(SOURCE)
#define GATHER(i, ex, ey, ez, opposite, weight) \
    memcpy(line + i * LINE, from##i, LINE * sizeof(REAL));
    LBM_DIRECTIONS(GATHER)
#undef GATHER
    for (int k = 0; hybrid && step->observed.strains && k < LINE; k++) {
        LBM_NAME(differences_between)(&source.around, k, around);
        for (int part = 0; part < LBM_PARTS; part++) {
            differences[part][k] = around[part];
        }
    }
    for (; rest->cell < rest->last_cell && rest->cell->x < x + LINE; rest->cell++) {
        const lbm_boundary_cell *cell = rest->cell;
        REAL *g = line + (cell->x - x), room[LBM_Q], entered[LBM_Q];
        const LBM_NAME(lbm_sent) here =
            LBM_NAME(sent_by)(step, lbm_row_offset(&step->layout, row) + cell->x, room);
        LBM_NAME(apply_boundary)(step, cell, row, here, g, LINE, entered);
        if (step->link_flow) {
            LBM_NAME(count_flow)(step, cell, here, entered);
        }
        if (step->observed.links) {
            LBM_NAME(keep_links)(step, cell, here, entered);
        }
        if (hybrid) {
            local[cell - first] = LBM_NAME(collide_alone)(step, cell, row, g, LINE, around);
            for (int part = 0; part < LBM_PARTS; part++) {
                differences[part][cell->x - x] = around[part];
            }
        }
    }
    if (step->observed.strains) {
        LBM_NAME(keep_strain)(step, row, x, rest, line, differences);
    }
    cells(step, row, x, LINE,
          (LBM_NAME(lbm_source)){.from = line, .plane = LINE, .around = source.around}, line, LINE);
    for (int k = 0; hybrid && k < rest->cell - first; k++) {
        LBM_NAME(lbm_put_moments)(&local[k], line + (first[k].x - x), LINE);
    }
    LBM_NAME(clear)(rest, x, step->components, line);
    for (int i = 0; i < step->components; i++) {
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
    if (step->moments) {
        LBM_NAME(scatter_around)(step, row);
    }
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
        if (x >= span->x0 && x < stop && !step->observed.strains) {
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

/* lbm_loops.sponge */
static void LBM_NAME(sponge)(const lbm_step *step, int64_t row) {
    const lbm_sponge *sponge = step->sponge;
    REAL *to = (REAL *)step->to + lbm_row_offset(&step->layout, row);
    for (int64_t k = sponge->row_first[row]; k < sponge->row_first[row + 1]; k++) {
        const lbm_sponge_cell *cell = &sponge->cells[k];
        const double gain =
            LBM_NAME(lbm_sponge_stored)(to + cell->x, step->layout.plane, step->moments,
                                        step->collision, cell, (REAL)sponge->drho);
        if (step->sponge_gain) {
            step->sponge_gain[k] += LBM_NAME(lbm_gain)(gain);
        }
    }
}

/* Reads density deviation and momentum / density of the cells x0 <= x < x1 of a row: to[k stride +
 * x - x0], k = 0 the deviation, k = 1 + axis the momentum. The momentum of stored populations,
 * after collision, is rho u + F/2. */
static void LBM_NAME(read)(const lbm_layout *layout, bool moments, const void *f, int64_t row,
                           int64_t x0, int64_t x1, double *to, int64_t stride) {
    const int64_t offset = lbm_row_offset(layout, row);
    const REAL *m = (const REAL *)f + offset;
    for (int64_t x = x0; moments && x < x1; x++) {
        to[x - x0] = (double)m[x];
        for (int a = 1; a <= LBM_DIMS; a++) {
            to[a * stride + x - x0] = (double)m[a * layout->plane + x] / (1.0 + to[x - x0]);
        }
    }
    if (moments) {
        return;
    }
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

/* Stores the components of a cell: populations or moments. */
static void LBM_NAME(write)(const lbm_layout *layout, int components, void *f, int64_t x,
                            int64_t row, const double *values) {
    REAL *to = (REAL *)f + lbm_row_offset(layout, row) + x;
    for (int i = 0; i < components; i++) {
        to[i * layout->plane] = (REAL)values[i];
    }
}

#define VARIANT(name, COLLISION, FORCING, EDDIES, MOMENTS)                                        \
    __attribute__((noinline)) static void LBM_NAME(cells_##name)(                                 \
        const lbm_step *step, int64_t row, int64_t x, int64_t count, LBM_NAME(lbm_source) source, \
        REAL *to, int64_t plane) {                                                                \
        LBM_NAME(cells)                                                                           \
        (step, row, x, count, source, to, plane,                                                  \
         (LBM_NAME(lbm_variant)){COLLISION, FORCING, EDDIES, MOMENTS});                           \
    }                                                                                             \
    __attribute__((noinline)) static void LBM_NAME(stream_##name)(                                \
        const lbm_step *step, int64_t row, int64_t x0, int64_t x1) {                              \
        LBM_NAME(stream_cells)                                                                    \
        (step, row, x0, x1, (LBM_NAME(lbm_variant)){COLLISION, FORCING, EDDIES, MOMENTS});        \
    }                                                                                             \
    static void LBM_NAME(sweep_##name)(const lbm_step *step, int64_t row) {                       \
        LBM_NAME(sweep)(step, row, LBM_NAME(cells_##name), LBM_NAME(stream_##name));              \
    }
#define VARIANTS(name, COLLISION, MOMENTS)                                  \
    VARIANT(name, COLLISION, LBM_NO_FORCE, false, MOMENTS)                  \
    VARIANT(name##_force, COLLISION, LBM_UNIFORM_FORCE, false, MOMENTS)     \
    VARIANT(name##_field, COLLISION, LBM_FORCE_FIELD, false, MOMENTS)       \
    VARIANT(name##_eddy, COLLISION, LBM_NO_FORCE, true, MOMENTS)            \
    VARIANT(name##_force_eddy, COLLISION, LBM_UNIFORM_FORCE, true, MOMENTS) \
    VARIANT(name##_field_eddy, COLLISION, LBM_FORCE_FIELD, true, MOMENTS)
VARIANTS(trt, LBM_TRT, false)
VARIANTS(bgk, LBM_BGK, false)
VARIANTS(regularized, LBM_REGULARIZED, false)
VARIANTS(recursive, LBM_RECURSIVE, false)
VARIANTS(regularized_moments, LBM_REGULARIZED, true)
VARIANTS(recursive_moments, LBM_RECURSIVE, true)
VARIANTS(hybrid_moments, LBM_HYBRID, true)
#undef VARIANTS
#undef VARIANT
#undef REAL
#undef LBM_SQRT
#undef LBM_NAME
