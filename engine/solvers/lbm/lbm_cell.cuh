// lbm_cell.cuh -- one cell on the device: streaming, bounce-back, mirroring, closures, storing.
//
// Included by lbm_traits.cuh inside a struct, once per lattice and precision, with LBM_DIMS, REAL
// and LBM_SQRT as in engine/solvers/lbm/lbm_collision.h. The algorithm at boundaries is that of
// engine/solvers/lbm/lbm_gather.h. Component i of a cell, the population of direction i or a
// moment, is at f[i plane + index]. MOMENTS: moments are stored.
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"
#include "engine/solvers/lbm/lbm_absorbing.h"
#include "engine/solvers/lbm/lbm_sponge.h"

typedef REAL real;
enum {
    dims = LBM_DIMS,
    q = LBM_Q,
    parts = LBM_PARTS,
    differences = LBM_DIFFERENCES,
    moments = LBM_MOMENTS
};

// A cell and its neighbours, with all axes periodic: x, y and z are the offsets of the column, the
// row and the plane; m and p mark the neighbours at -1 and +1. If ranks share planes, rows are
// counted with the halo, so that no row of the block is at an end.
struct place {
    uint32_t x, xm, xp, y, ym, yp, z, zm, zp;
};

static __device__ __forceinline__ place make_place(const lbm_gpu_layout &l, uint32_t x, uint32_t y,
                                                   uint32_t z) {
    place p;
    p.x = x;
    p.xm = x == 0 ? l.nx - 1 : x - 1;
    p.xp = x == l.nx - 1 ? 0 : x + 1;
    p.y = y * l.pitch;
    p.z = p.zm = p.zp = 0;
    if (LBM_DIMS == 3) {
        p.ym = (y == 0 ? l.ny - 1 : y - 1) * l.pitch;
        p.yp = (y == l.ny - 1 ? 0 : y + 1) * l.pitch;
        p.z = z * l.slice;
        p.zm = (z == l.first ? l.below : z - 1) * l.slice;
        p.zp = (z == l.last ? l.above : z + 1) * l.slice;
    } else {
        p.ym = (y == l.first ? l.below : y - 1) * l.pitch;
        p.yp = (y == l.last ? l.above : y + 1) * l.pitch;
    }
    return p;
}

static __device__ __forceinline__ place make_place(const lbm_gpu_layout &l, uint32_t index) {
    const uint32_t z = index / l.slice, rest = index - z * l.slice, y = rest / l.pitch;
    return make_place(l, rest - y * l.pitch, y, z);
}

// The neighbour at (ex, ey, ez), which are literals.
#define NEIGHBOUR(p, ex, ey, ez) \
    (((ex) > 0   ? (p).xp        \
      : (ex) < 0 ? (p).xm        \
                 : (p).x) +      \
     ((ey) > 0   ? (p).yp        \
      : (ey) < 0 ? (p).ym        \
                 : (p).y) +      \
     ((ez) > 0   ? (p).zp        \
      : (ez) < 0 ? (p).zm        \
                 : (p).z))

// The populations that stream to a cell if all its neighbours are fluid.
static __device__ __forceinline__ void pull(const REAL *__restrict__ from, int64_t plane,
                                            const place &p, REAL g[LBM_Q]) {
#define LOAD(i, ex, ey, ez, opposite, weight) \
    g[i] = from[i * plane + NEIGHBOUR(p, -(ex), -(ey), -(ez))];
    LBM_DIRECTIONS(LOAD)
#undef LOAD
}

// The populations of a cell after the last collision: where they stand, or made of its moments.
struct sent {
    const REAL *f;
    int64_t plane;
    REAL made[LBM_Q];
};

template <bool MOMENTS>
static __device__ __forceinline__ sent sent_by(const lbm_gpu_step &s, uint32_t index) {
    sent by;
    by.f = (const REAL *)s.from + index;
    by.plane = s.layout.plane;
    if (MOMENTS) {
        const lbm_cell_moments m = lbm_get_moments((const REAL *)s.from + index, s.layout.plane);
        if (lbm_is_recursive(s.collision)) {
            lbm_of_moments(&m, true, by.made);
        } else {
            lbm_of_moments(&m, false, by.made);
        }
    }
    return by;
}

// That of direction i, a literal.
template <bool MOMENTS> static __device__ __forceinline__ REAL sent_along(const sent &by, int i) {
    return MOMENTS ? by.made[i] : by.f[i * by.plane];
}

// The populations that stream to a cell if all its neighbours are fluid, from stored moments.
static __device__ __forceinline__ void pull_moments(const lbm_gpu_step &s, const place &p,
                                                    REAL g[LBM_Q]) {
#define LOAD(i, ex, ey, ez, opposite, weight) \
    g[i] = sent_along<true>(sent_by<true>(s, NEIGHBOUR(p, -(ex), -(ey), -(ez))), i);
    LBM_DIRECTIONS(LOAD)
#undef LOAD
}

static __device__ __forceinline__ void store(REAL *__restrict__ to, int64_t plane, uint32_t index,
                                             const REAL g[LBM_Q]) {
#pragma unroll
    for (int i = 0; i < LBM_Q; i++) {
        to[i * plane + index] = g[i];
    }
}

// The values of this step. They are among those of CUDA_STEPS steps if these are evaluated ahead
// (stride > 0).
static __device__ __forceinline__ const double *of_step(const lbm_gpu_step &s, const double *values,
                                                        int64_t stride) {
    return stride ? values + cuda_now(s.clock) % CUDA_STEPS * stride : values;
}

// The rates of a cell; field: its place in the field of acceleration, NULL if there is none. Those
// of a later step, for a uniform acceleration.
static __device__ __forceinline__ lbm_rates rates_at(const lbm_gpu_step &s, const REAL *field,
                                                     int later = 0) {
    lbm_rates r;
    r.omega_even = (REAL)s.omega_even;
    r.omega_odd = (REAL)s.omega_odd;
    r.tau = (REAL)s.tau;
    r.magic = (REAL)s.magic;
    r.eddy = (REAL)s.eddy;
#define COMPONENT(axis, sum) r.a[axis] = (REAL)0;
    LBM_AXES(COMPONENT)
#undef COMPONENT
    if (field) {
#define COMPONENT(axis, sum) r.a[axis] = field[axis * s.layout.plane];
        LBM_AXES(COMPONENT)
#undef COMPONENT
    } else if (s.forced) {
        const double *a = s.acceleration;
        a += s.acceleration_turns ? 3 * ((cuda_now(s.clock) + 1 + later) % CUDA_TURNS) : 0;
#define COMPONENT(axis, sum) r.a[axis] = (REAL)a[axis];
        LBM_AXES(COMPONENT)
#undef COMPONENT
    }
    return r;
}

static __device__ __forceinline__ lbm_rates rates_of(const lbm_gpu_step &s, uint32_t index) {
    return rates_at(s, s.acceleration_field ? (const REAL *)s.acceleration_field + index : NULL);
}

// Replaces the populations that a boundary cell has pulled across bounced and mirrored links. own:
// those that it has sent; link_add: the momentum that moving walls add in this step, by link.
template <bool MOMENTS>
static __device__ __forceinline__ void bounce(const lbm_gpu_step &s, const lbm_boundary_cell &cell,
                                              const double *link_add, const place &p,
                                              const sent &own, REAL g[LBM_Q]) {
#define BOUNCE(i, ex, ey, ez, opposite, weight)    \
    if (cell.bounced >> i & 1u) {                  \
        g[i] = sent_along<MOMENTS>(own, opposite); \
    }
    LBM_DIRECTIONS(BOUNCE)
#undef BOUNCE
    if (cell.moves) {
        const double *add = link_add + cell.first_link;
#define MOVE(i, ex, ey, ez, opposite, weight)                     \
    if (cell.bounced >> i & 1u) {                                 \
        g[i] += (REAL)add[__popc(cell.links & ((1u << i) - 1u))]; \
    }
        LBM_DIRECTIONS(MOVE)
#undef MOVE
    }
    if (cell.mirrored[0] | cell.mirrored[1] | cell.mirrored[2]) {
#define BESIDE(i, index) sent_along<MOMENTS>(sent_by<MOMENTS>(s, index), i)
#define MIRROR(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) \
    if (cell.mirrored[0] >> i & 1u) {                             \
        g[i] = BESIDE(mirrored_x, NEIGHBOUR(p, 0, -(ey), -(ez))); \
    } else if (cell.mirrored[1] >> i & 1u) {                      \
        g[i] = BESIDE(mirrored_y, NEIGHBOUR(p, -(ex), 0, -(ez))); \
    } else if (cell.mirrored[2] >> i & 1u) {                      \
        g[i] = BESIDE(mirrored_z, NEIGHBOUR(p, -(ex), -(ey), 0)); \
    }
        LBM_DIAGONALS(MIRROR)
#undef MIRROR
#undef BESIDE
    }
}

// A cell at the start of the step: its moments after the last collision, and the acceleration of
// the last step. A field of acceleration is that of this step instead, half a step's change ahead.
struct cell_before {
    lbm_cell_moments m;
    REAL a[LBM_DIMS];
};

template <bool MOMENTS>
static __device__ __forceinline__ cell_before before(const lbm_gpu_step &s, uint32_t index) {
    lbm_gpu_step last = s;
    last.acceleration = s.acceleration_before;
    last.clock.offset--;
    const lbm_rates rates = rates_of(last, index);
    cell_before cell;
    if (MOMENTS) {
        cell.m = lbm_get_moments((const REAL *)s.from + index, s.layout.plane);
    } else {
        REAL f[LBM_Q];
#pragma unroll
        for (int i = 0; i < LBM_Q; i++) {
            f[i] = ((const REAL *)s.from)[i * s.layout.plane + index];
        }
        cell.m = lbm_moments_of(f);
    }
#define COMPONENT(axis, sum) cell.a[axis] = rates.a[axis];
    LBM_AXES(COMPONENT)
#undef COMPONENT
    return cell;
}

// The offset of the next cell along the normal of an axis; of the cell itself at the grid's end.
static __device__ __forceinline__ uint32_t further(uint32_t at, uint32_t below, uint32_t above,
                                                   int normal) {
    return normal > 0 && above > at ? above : normal < 0 && below < at ? below : at;
}

// The index of the next cell along the inward normals; of the cell itself if that one is solid.
static __device__ __forceinline__ uint32_t inward_index(const lbm_boundary_cell &cell,
                                                        const place &p) {
    if (cell.inward_solid) {
        return NEIGHBOUR(p, 0, 0, 0);
    }
    return further(p.x, p.xm, p.xp, cell.normal[0]) + further(p.y, p.ym, p.yp, cell.normal[1]) +
           further(p.z, p.zm, p.zp, cell.normal[2]);
}

// What absorb is given and returns: copies, since what it points to lies in memory.
struct absorbed {
    lbm_boundary_cell cell;
    place p;
    REAL g[LBM_Q], shift[LBM_DIMS];
    int n[LBM_DIMS];
    lbm_cell wanted, to;
};

// The cell on absorbing faces, from what is wanted; shift: -a/2. A call, since inlined it would
// cost all boundary cells registers.
template <bool MOMENTS>
static __device__ __noinline__ void absorb(const lbm_gpu_step &s, absorbed *at) {
    const lbm_boundary_cell &cell = at->cell;
    const place &p = at->p;
    const cell_before own = before<MOMENTS>(s, NEIGHBOUR(p, 0, 0, 0));
    const lbm_cell here = lbm_cell_after(&own.m, own.a);
    lbm_beside beside;
    int what[LBM_DIMS][2];
    lbm_find_beside(&cell, what);
#define BESIDE(axis, side, step)                                                            \
    beside.cell[axis][side] = here;                                                         \
    if (what[axis][side] == LBM_BESIDE_FLUID) {                                             \
        const uint32_t index =                                                              \
            NEIGHBOUR(p, (step) * (axis == 0), (step) * (axis == 1), (step) * (axis == 2)); \
        const cell_before there = before<MOMENTS>(s, index);                                \
        beside.cell[axis][side] = lbm_cell_after(&there.m, own.a);                          \
    }
#define BOTH(axis, sum) BESIDE(axis, 0, -1) BESIDE(axis, 1, 1)
    LBM_AXES(BOTH)
#undef BOTH
#undef BESIDE
    at->to = lbm_absorbing_cell(at->g, at->n, &here, &beside, &at->wanted, cell.relax,
                                cell.holds_density, cell.holds_velocity, at->shift);
}

// Closes the cell's wet faces. KEEPS: of an operator that keeps moments only. The laws give the
// fluid's velocity u; the momentum of populations before collision is rho (u - a/2).
template <bool KEEPS, bool MOMENTS>
static __device__ __forceinline__ void close(const lbm_gpu_step &s, const lbm_boundary_cell &cell,
                                             const place &p, const lbm_rates &rates,
                                             REAL g[LBM_Q]) {
    const double *value = of_step(s, s.boundary.open_value, s.boundary.open_stride) +
                          LBM_OPEN_VALUES * (int64_t)cell.opening_index;
    const REAL drho = (REAL)value[3];
    const bool edge = cell.opening == LBM_OPEN_EDGE;
    REAL u[LBM_DIMS], shift[LBM_DIMS];
    int n[LBM_DIMS];
    cell_before next;
    lbm_cell inward, target;
#define GIVEN(axis, sum)                      \
    n[axis] = cell.normal[axis];              \
    shift[axis] = -(REAL)0.5 * rates.a[axis]; \
    u[axis] = (REAL)value[axis] + shift[axis];
    LBM_AXES(GIVEN)
#undef GIVEN
    if (cell.opening == LBM_OPEN_VELOCITY) {
        target = lbm_velocity_cell(g, n, u);
    } else if (cell.opening == LBM_OPEN_PRESSURE) {
        target = lbm_density_cell(g, n, drho, shift);
    } else if (cell.opening == LBM_OPEN_ABSORBING) {
        const REAL second_half = (REAL)value[LBM_SECOND_HALF];
        absorbed at;
        at.cell = cell;
        at.p = p;
        at.wanted.drho = drho;
#define COPY(i, ex, ey, ez, opposite, weight) at.g[i] = g[i];
        LBM_DIRECTIONS(COPY)
#undef COPY
#define WANTED(axis, sum)         \
    at.n[axis] = n[axis];         \
    at.shift[axis] = shift[axis]; \
    at.wanted.u[axis] = (REAL)value[axis] + (cell.velocity_region[axis] ? (REAL)0 : second_half);
        LBM_AXES(WANTED)
#undef WANTED
        absorb<MOMENTS>(s, &at);
        target = at.to;
    }
    if (KEEPS || cell.opening == LBM_OPEN_OUTFLOW || edge) {
        next = before<MOMENTS>(s, inward_index(cell, p));
        inward = lbm_cell_after(&next.m, next.a);
    }
    if (cell.opening == LBM_OPEN_OUTFLOW) {
        const cell_before own = before<MOMENTS>(s, NEIGHBOUR(p, 0, 0, 0));
        const lbm_cell here = lbm_cell_after(&own.m, own.a);
        const REAL K = (REAL)(cell.relax[0] + cell.relax[1] + cell.relax[2]);
        target = lbm_outflow_cell(g, n, &here, &inward, (REAL)1 - K, shift);
    } else if (edge) {
        const REAL second_half = (REAL)value[LBM_SECOND_HALF];
        target.drho = cell.density_region ? drho : inward.drho;
#define CHOOSE(axis, sum)                                                        \
    target.u[axis] = !cell.velocity_given         ? inward.u[axis] + shift[axis] \
                     : cell.velocity_region[axis] ? u[axis]                      \
                                                  : u[axis] + second_half;
        LBM_AXES(CHOOSE)
#undef CHOOSE
    }
    if (KEEPS) {
        lbm_regularize(g, n, cell.opening == LBM_OPEN_PRESSURE, &target, shift, &next.m, next.a,
                       rates.omega_even);
    } else {
        lbm_close(g, n, target.drho, target.u);
    }
}

// Adds what the second of two moving walls adds to a link; bounce has added the first one's.
static __device__ __forceinline__ void add_second(const lbm_boundary_cell &cell,
                                                  const double *link_add, REAL g[LBM_Q]) {
    const double *add = link_add + cell.first_link + __popc(cell.links);
#define SECOND(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) \
    if (cell.shared >> i & 1u) {                                  \
        g[i] += (REAL)*add++;                                     \
    }
    LBM_DIAGONALS(SECOND)
#undef SECOND
}

// Replaces what walls send back half-way along interpolated links. Returns what the cell gains
// beyond that.
template <bool MOMENTS>
static __device__ __forceinline__ double
interpolate(const lbm_gpu_step &s, const lbm_boundary_cell &cell, const double *link_add,
            const sent &own, REAL g[LBM_Q]) {
    const lbm_cut *cut = s.boundary.link_cut + cell.first_link;
    const double *add = link_add + cell.first_link;
    REAL rho = (REAL)1;
    double gain = 0;
    if (cell.moves) {
#define DENSITY(i, ex, ey, ez, opposite, weight) rho += sent_along<MOMENTS>(own, i);
        LBM_DIRECTIONS(DENSITY)
#undef DENSITY
    }
#define CUT(i, ex, ey, ez, opposite, weight)                                          \
    if (cell.links >> i & 1u) {                                                       \
        const lbm_cut to = *cut++;                                                    \
        const double more = cell.moves ? *add : 0;                                    \
        add++;                                                                        \
        if (to.wall > 0) {                                                            \
            const REAL out = sent_along<MOMENTS>(own, opposite);                      \
            g[i] = lbm_interpolate(to, out, sent_along<MOMENTS>(own, i), g[opposite], \
                                   rho * (REAL)more);                                 \
            gain += (double)g[i] - (double)out - more;                                \
        }                                                                             \
    }
    LBM_DIRECTIONS(CUT)
#undef CUT
    return gain;
}

// What correct_straight is given and returns: copies, since what it points to lies in memory.
struct corrected {
    lbm_boundary_cell cell;
    place p;
    REAL more[LBM_Q];
};

// What straight walls send back beyond bounce-back. A call, for the registers of other cells.
template <bool MOMENTS>
static __device__ __noinline__ void correct_straight(const lbm_gpu_step &s, const double *link_add,
                                                     corrected *to) {
    const lbm_boundary_cell &cell = to->cell;
    const place &p = to->p;
    const cell_before own = before<MOMENTS>(s, NEIGHBOUR(p, 0, 0, 0));
    const lbm_cell here = lbm_cell_after(&own.m, own.a);
    lbm_at_wall at;
    int normal[LBM_DIMS];
    lbm_find_straight(&cell, normal);
#define BESIDE(axis, step) \
    before<MOMENTS>(       \
        s, NEIGHBOUR(p, (step) * (axis == 0), (step) * (axis == 1), (step) * (axis == 2)))
#define AROUND(axis, sum)                                                                \
    {                                                                                    \
        const cell_before up = BESIDE(axis, 1), down = BESIDE(axis, -1);                 \
        const lbm_cell next = lbm_cell_after(normal[axis] > 0 ? &up.m : &down.m, own.a); \
        for (int a = 0; a < LBM_DIMS; a++) {                                             \
            at.inwards[axis][a] = next.u[a];                                             \
        }                                                                                \
        at.stretch[axis] =                                                               \
            normal[axis] != 0 ? (REAL)0 : (REAL)0.5 * (up.m.j[axis] - down.m.j[axis]);   \
    }
    LBM_AXES(AROUND)
#undef AROUND
#undef BESIDE
#define NONE(i, ex, ey, ez, opposite, weight) to->more[i] = (REAL)0;
    LBM_DIRECTIONS(NONE)
#undef NONE
    lbm_correct_straight(&cell, (REAL)s.boundary.curvature, here.u, &at,
                         cell.moves ? link_add + cell.first_link : NULL, to->more, 1);
}

// The differences of the velocities around a boundary cell, for the hybrid operator.
static __device__ __forceinline__ void differences_beside(const lbm_gpu_step &s,
                                                          const lbm_boundary_cell &cell,
                                                          const place &p,
                                                          REAL to[LBM_DIFFERENCES]) {
    const REAL *from = (const REAL *)s.from;
    REAL v[LBM_DIMS], beside[LBM_DIMS][2][LBM_DIMS] = {};
    int what[LBM_DIMS][2];
    lbm_find_beside(&cell, what);
#define VELOCITY_AT(index, to)                                \
    {                                                         \
        const REAL *at = from + (index);                      \
        const REAL per_rho = (REAL)1 / ((REAL)1 + at[0]);     \
        for (int a = 0; a < LBM_DIMS; a++) {                  \
            (to)[a] = at[(1 + a) * s.layout.plane] * per_rho; \
        }                                                     \
    }
#define BESIDE(axis, sum)                                                                    \
    if (what[axis][0] == LBM_BESIDE_FLUID) {                                                 \
        VELOCITY_AT(NEIGHBOUR(p, -(axis == 0), -(axis == 1), -(axis == 2)), beside[axis][0]) \
    }                                                                                        \
    if (what[axis][1] == LBM_BESIDE_FLUID) {                                                 \
        VELOCITY_AT(NEIGHBOUR(p, axis == 0, axis == 1, axis == 2), beside[axis][1])          \
    }
    VELOCITY_AT(NEIGHBOUR(p, 0, 0, 0), v)
    LBM_AXES(BESIDE)
#undef BESIDE
#undef VELOCITY_AT
    lbm_differences_beside(v, beside, what, to);
}

// Pulls the populations of a boundary cell and applies its boundary conditions. own: those that it
// has sent; entered: what enters along its links. Returns what it gains along interpolated links.
template <bool KEEPS, bool MOMENTS>
static __device__ __forceinline__ double
gather(const lbm_gpu_step &s, const lbm_boundary_cell &cell, const place &p, const lbm_rates &rates,
       const sent &own, REAL g[LBM_Q], REAL entered[LBM_Q]) {
    if (MOMENTS) {
        pull_moments(s, p, g);
    } else {
        pull((const REAL *)s.from, s.layout.plane, p, g);
    }
    const double *link_add = of_step(s, s.boundary.link_add, s.boundary.link_stride);
    bounce<MOMENTS>(s, cell, link_add, p, own, g);
    if (cell.both_move) {
        add_second(cell, link_add, g);
    }
    const double gain = cell.cut ? interpolate<MOMENTS>(s, cell, link_add, own, g) : 0;
    if (KEEPS && cell.straight) {
        corrected by;
        by.cell = cell;
        by.p = p;
        correct_straight<MOMENTS>(s, link_add, &by);
#define MORE(i, ex, ey, ez, opposite, weight) g[i] += by.more[i];
        LBM_DIRECTIONS(MORE)
#undef MORE
    }
#define ENTERED(i, ex, ey, ez, opposite, weight) entered[i] = g[i];
    LBM_DIRECTIONS(ENTERED)
    if (cell.opening != LBM_CLOSED) {
        close<KEEPS, MOMENTS>(s, cell, p, rates, g);
        if (KEEPS) {
            lbm_find_entered(&cell, g, entered);
        } else {
            LBM_DIRECTIONS(ENTERED)
        }
    }
#undef ENTERED
    return gain;
}

// Stores the populations that leave and enter a boundary cell along its links, before collision. If
// those of the last step are stored (links_follow), keeps their sums as `before`, and with moving
// walls in - out as link_gain:
//
//     links   | out [link_count] | in [link_count] | before [link_count] |
template <bool MOMENTS>
static __device__ __forceinline__ void keep_links(const lbm_gpu_step &s,
                                                  const lbm_boundary_cell &cell, const sent &own,
                                                  const REAL g[LBM_Q]) {
    const bool follows = s.boundary.links_follow;
    REAL *out = (REAL *)s.boundary.links + cell.first_link, *in = out + s.boundary.link_count;
    REAL *before = in + s.boundary.link_count, *gain = (REAL *)s.boundary.link_gain;
    gain += gain ? cell.first_link : 0;
#define KEEP(i, ex, ey, ez, opposite, weight)        \
    if (cell.links >> i & 1u) {                      \
        if (follows) {                               \
            *before++ = *out + *in;                  \
        }                                            \
        if (follows && gain) {                       \
            *gain++ = *in - *out;                    \
        }                                            \
        *out++ = sent_along<MOMENTS>(own, opposite); \
        *in++ = g[i];                                \
    }
    LBM_DIRECTIONS(KEEP)
#undef KEEP
}

// Calls each(e, link), with the arguments of lbm_carry, for each link of a cell that belongs to
// `region`: with half of what a shared one carries. e points inwards. velocity: as lbm_gpu_links.
template <class Each>
static __device__ __forceinline__ void each_link(const lbm_gpu_boundary &b,
                                                 const lbm_boundary_cell &cell, int region,
                                                 const double *velocity, const Each &each) {
    const REAL *out = (const REAL *)b.links, *in = out + b.link_count, *before = in + b.link_count;
    const REAL *gain = (const REAL *)b.link_gain;
    int64_t k = cell.first_link, second = k + __popc(cell.links);
#define LINK(i, ex, ey, ez, opposite, weight)                                                     \
    if (cell.links >> i & 1u) {                                                                   \
        const bool shared = cell.shared >> i & 1u, first = b.link_region[k] == region;            \
        if (first || (shared && b.link_region[second] == region)) {                               \
            const int e[3] = {ex, ey, ez};                                                        \
            const double share = shared ? 0.5 : 1;                                                \
            lbm_link link = {};                                                                   \
            link.out = share * (double)out[k];                                                    \
            link.in = share * (double)in[k];                                                      \
            link.before = b.links_follow ? share * (double)before[k] : link.out + link.in;        \
            if (velocity) {                                                                       \
                const double *u = velocity + (cell.both_move && !first ? second : k);             \
                link.gain_before = b.links_follow ? share * (double)gain[k] : link.in - link.out; \
                for (int a = 0; a < 3; a++) {                                                     \
                    link.velocity[a] = u[a * b.link_count];                                       \
                }                                                                                 \
            }                                                                                     \
            each(e, link);                                                                        \
        }                                                                                         \
        second += shared;                                                                         \
        k++;                                                                                      \
    }
    LBM_DIRECTIONS(LINK)
#undef LINK
}

// Adds the mass that leaves through each link to its sum. All populations are loaded before the
// first addition. Only one thread adds to a sum in a step; atomicAdd without a result need not wait
// for the old sum.
template <bool MOMENTS>
static __device__ __forceinline__ void count_flow(const lbm_gpu_step &s,
                                                  const lbm_boundary_cell &cell, const sent &own,
                                                  const REAL g[LBM_Q]) {
    double *flow = s.boundary.link_flow + cell.first_link;
    REAL out[LBM_Q];
#define LEAVES(i, ex, ey, ez, opposite, weight)      \
    if (cell.links >> i & 1u) {                      \
        out[i] = sent_along<MOMENTS>(own, opposite); \
    }
    LBM_DIRECTIONS(LEAVES)
#undef LEAVES
#define FLOW(i, ex, ey, ez, opposite, weight)             \
    if (cell.links >> i & 1u) {                           \
        atomicAdd(flow++, (double)out[i] - (double)g[i]); \
    }
    LBM_DIRECTIONS(FLOW)
#undef FLOW
}

#undef REAL
#undef LBM_SQRT
