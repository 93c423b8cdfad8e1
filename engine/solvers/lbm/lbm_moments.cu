// lbm_moments.cu -- one time step of a flow whose cells are stored as moments: rebuild populations,
// stream, add up moments, collide, store. All axes periodic, all cells fluid.
//
// A warp has a strip of columns along x, some neighbouring ones to a lane, and marches along the
// slowest axis. Populations exist only on their way from one lane to another:
//
//     z+1   . . . . . . . .   up     what the populations that move up have brought so far
//     z     o o o o o o o o   now    rebuilt here from the moments that were loaded for this plane
//     z-1   * * * * * * * *   open   lacks what moves down; then it collides and is stored
//           lane 0 ... 31
//
// At plane z each lane rebuilds the populations of its cells. Those that move along x go to the
// column beside, in the lane or by a shuffle; the cells at both ends of the strip are rebuilt, too,
// from moments that one load brings. In 3-D the strips of a thread block lie beside each other
// along y, with a strip more at either side, which is loaded but not stored:
//
//     y     ring   - - - - - - - -        populations that move along y
//           strip  o o o o o o o o   |    pass through shared memory (two buffers,
//             :                      v    one barrier per plane),
//           strip  o o o o o o o o   ^    shifted along x before
//           ring   - - - - - - - -   |
//
// The arriving populations are added to three sets of moments at once: those of plane z-1 are then
// complete. The moments of the next plane are loaded before the barrier. A thread block starts one
// plane early and ends one plane late.
//
// The strain of the hybrid operator is that of the velocities around the cell, which stay in shared
// memory for three planes.
//
// A strip that the grid's end cuts loads single cells; the place behind the last cell has a copy of
// the first, so that columns and shuffles are those of other strips. All strips, rings too, rebuild
// by the same instructions: so a cell gets the same bits wherever thread blocks and ranks begin.
#include "engine/solvers/lbm/lbm_traits.cuh"
#include "cuda/early.cuh"
#include "cuda/wide.cuh"

template <class T> using real_of = typename T::real;
template <class T> using moments_of = typename T::lbm_cell_moments;

template <int DIMS> struct in_f64 { typedef d3q19_f64 type; };
template <> struct in_f64<2> { typedef d2q9_f64 type; };

static const uint32_t EVERY_LANE = ~0u;

// The columns of a strip: of each lane 16 bytes, in 3-D with f32 8.
template <class T> struct columns_of {
    enum {
        deep = T::dims == 3,
        small = sizeof(real_of<T>) == 4,
        columns = small && !deep ? 4 : 2,
        width = columns * CUDA_WARP,
        parts = 1 + T::dims + T::parts,
    };
};

// The shape of a thread block. velocity: of a row of velocities, whose ends are aligned as strips.
template <class T, int ROWS> struct shape : columns_of<T> {
    typedef columns_of<T> C;
    enum {
        rows = ROWS,
        warps = C::deep ? rows + 2 : 4,
        threads = warps * CUDA_WARP,
        in_space = 16 / (warps * (C::small ? 1 : 2)),
        in_plane = C::small ? 4 : 3,
        at_once = C::deep ? in_space : in_plane, // blocks of a multiprocessor, by their registers
        moving = C::deep ? 10 : 0,               // populations that move along y, in 3-D
        buffer = moving * rows * C::width,
        velocity_row = C::width + 2 * C::columns,
        velocity_part = warps * velocity_row,
        velocities = T::dims * velocity_part
    };
    static size_t bytes(int collision) {
        return (2 * buffer + (collision == LBM_HYBRID ? 3 * velocities : 0)) * sizeof(real_of<T>);
    }
};

// The rows of a thread block, and where shared memory is short: for 64 KB of it.
template <int DIMS, int BYTES> struct rows_of_blocks {
    enum { most = 1, least = 1 };
};
template <> struct rows_of_blocks<3, 4> {
    enum { most = 14, least = 6 };
};
template <> struct rows_of_blocks<3, 8> {
    enum { most = 6, least = 2 };
};
template <class T> using rows_of = rows_of_blocks<T::dims, (int)sizeof(real_of<T>)>;

// Moment number k in the order in which they are stored.
template <class T> static __device__ __forceinline__ real_of<T> &moment(moments_of<T> &m, int k) {
    return k == 0 ? m.drho : k <= T::dims ? m.j[k - 1] : m.p[k - 1 - T::dims];
}

// Where a warp is: its strip, and the planes that it stores.
struct strip {
    uint32_t x, y;       // of its first column and its row, from the first of the patch
    uint32_t begin, end; // along the slowest axis
    uint32_t row;        // offset of the row
    bool whole;          // no column lies beyond the grid
    bool ring;           // beside the strips of the thread block
    bool stores;         // its row is one of the patch
};

// The offset of a plane, or of a row of a plane grid; `at` may be one before begin, or end.
template <class T>
static __device__ __forceinline__ uint32_t plane_offset(const lbm_gpu_layout &l, const strip &w,
                                                        uint32_t at) {
    const uint32_t number = at + 1 == w.begin && w.begin == l.first ? l.below
                            : at == w.end && w.end == l.last + 1    ? l.above
                                                                    : at;
    return number * (T::dims == 3 ? l.slice : l.pitch);
}

template <class T, int ROWS>
static __device__ __forceinline__ strip find_strip(const lbm_gpu_layout &l,
                                                   const lbm_gpu_tiles &tiles, uint32_t block,
                                                   uint32_t warp) {
    typedef shape<T, ROWS> S;
    strip w;
    const uint32_t number = S::deep ? block : block * S::warps + warp;
    const uint32_t rest = number / tiles.across, part = rest / tiles.down;
    const uint32_t rows = S::deep ? l.rows : 1;
    const uint32_t end = l.end_row / rows;
    w.x = (number - rest * tiles.across) * S::width;
    w.begin = l.first_row / rows + part * tiles.planes;
    w.end = w.begin + tiles.planes < end ? w.begin + tiles.planes : end;
    w.whole = w.x + S::width <= l.nx;
    w.y = w.row = 0;
    w.ring = S::deep && (warp == 0 || warp == S::warps - 1);
    w.stores = part < tiles.deep;
    if (S::deep) { // y + 1: the row before a patch has a place, too
        const uint32_t next = (rest - part * tiles.down) * S::rows + warp;
        uint32_t y = next < l.rows + 1 ? next : l.rows + 1;
        y = l.halo ? y + l.halo - 1 : y == 0 ? l.ny - 1 : y == l.ny + 1 ? 0 : y - 1;
        w.stores = !w.ring && next >= 1 && next <= l.rows;
        w.y = next - 1;
        w.row = y * l.pitch;
    }
    return w;
}

// Which moments populations need that cross into a strip: those from beside it lack P_yz; those
// that leave a ring lack P_xz, and at its ends also j_z.
enum { J_Z = 3, P_YZ = 8, P_XZ = 9 };

// The moment that this lane loads of a cell beside its strip; lanes with nothing to load repeat
// another.
template <class T>
static __device__ __forceinline__ uint32_t moment_beside(const strip &w, uint32_t lane) {
    const uint32_t k = lane % (CUDA_WARP / 2);
    const bool lacks = T::dims == 3 && (k == P_YZ || (w.ring && (k == J_Z || k == P_XZ)));
    return k < columns_of<T>::parts && !lacks ? k : 0;
}

// Loads the moments of a plane: those of the lane's columns, and of the cells beside the strip one
// number per lane.
template <class T>
static __device__ __forceinline__ void
load_plane(const real_of<T> *__restrict__ from, int64_t plane, uint32_t nx, const strip &w,
           uint32_t offset, uint32_t lane, const real_of<T> *__restrict__ beside,
           moments_of<T> (&m)[columns_of<T>::columns], real_of<T> &edge) {
    typedef columns_of<T> S;
    const real_of<T> *own = from + (offset + w.row);
    edge = beside[offset + w.row];
    if (w.whole) {
#pragma unroll
        for (int k = 0; k < S::parts; k++) {
            real_of<T> v[S::columns] = {};
            if (T::dims == 2 || k != P_XZ || !w.ring) {
                wide_load(own + k * plane + w.x + lane * S::columns, v);
            }
#pragma unroll
            for (int c = 0; c < S::columns; c++) {
                moment<T>(m[c], k) = v[c];
            }
        }
    } else {
#pragma unroll
        for (int c = 0; c < S::columns; c++) {
            const uint32_t x = w.x + lane * S::columns + c;
#pragma unroll
            for (int k = 0; k < S::parts; k++) {
                moment<T>(m[c], k) = own[k * plane + (x < nx ? x : 0)];
            }
        }
    }
}

// Moves a population along x to the column beside. edge: what comes from beside the strip.
template <class T>
static __device__ __forceinline__ void shift_up(real_of<T> (&g)[columns_of<T>::columns][T::q],
                                                int i, real_of<T> edge, uint32_t lane) {
    enum { LAST = columns_of<T>::columns - 1 };
    const real_of<T> before = __shfl_up_sync(EVERY_LANE, g[LAST][i], 1);
#pragma unroll
    for (int c = LAST; c > 0; c--) {
        g[c][i] = g[c - 1][i];
    }
    g[0][i] = lane == 0 ? edge : before;
}
template <class T>
static __device__ __forceinline__ void shift_down(real_of<T> (&g)[columns_of<T>::columns][T::q],
                                                  int i, real_of<T> edge, uint32_t lane) {
    enum { LAST = columns_of<T>::columns - 1 };
    const real_of<T> behind = __shfl_down_sync(EVERY_LANE, g[0][i], 1);
#pragma unroll
    for (int c = 0; c < LAST; c++) {
        g[c][i] = g[c + 1][i];
    }
    g[LAST][i] = lane == CUDA_WARP - 1 ? edge : behind;
}

// Populations that move up and down along x, pair by pair.
#define D2Q9_ALONG_X(X) X(1, 3) X(5, 7) X(8, 6)
#define D3Q19_ALONG_X(X) X(1, 2) X(7, 8) X(9, 10) X(11, 12) X(13, 14)
// Those that move up and down along y, with a number for each in the buffer.
#define D3Q19_UP_Y(X) X(3, 0) X(7, 1) X(10, 2) X(15, 3) X(17, 4)
#define D3Q19_DOWN_Y(X) X(4, 5) X(8, 6) X(9, 7) X(16, 8) X(18, 9)

// What has arrived in a cell so far. moved: the sums of the populations that move up, all, and the
// differences and sums of those that also move along x, and along y. open: all but what moves down;
// of what has moved up, only sums that differ from each other. add: adds what arrives at plane z;
// the moments of plane z-1 are then complete.
template <int DIMS, class T> struct level {};

template <class T> struct level<3, T> {
    typedef typename T::real R;
    struct moved {
        R all, dx, dy, xx, yy;
    };
    struct open {
        R rho, jx, jy, xx, yy, xy, up, up_x, up_y;
    };
    static __device__ __forceinline__ moments_of<T> add(const R f[T::q], moved &up, open &sums) {
        moments_of<T> m;
        const open below = sums;
        // Down.
        const R down_xx = f[12] + f[13], down_yy = f[16] + f[17];
        const R down_x = f[13] - f[12], down_y = f[17] - f[16];
        const R down = f[6] + (down_xx + down_yy);
        m.drho = below.rho + down;
        const R still = m.drho * (R)(1.0 / 3.0);
        m.j[0] = below.jx + down_x;
        m.j[1] = below.jy + down_y;
        m.j[2] = below.up - down;
        m.p[0] = below.xx + down_xx - still;
        m.p[1] = below.yy + down_yy - still;
        m.p[2] = below.up + down - still;
        m.p[3] = below.xy;
        m.p[4] = below.up_y - down_y;
        m.p[5] = below.up_x - down_x;
        // In the plane.
        const R along = f[7] + f[8], across = f[9] + f[10];
        const R along_x = f[7] - f[8], across_x = f[9] - f[10];
        const R both = along + across, xx = f[1] + f[2], yy = f[3] + f[4];
        sums.rho = up.all + (f[0] + (xx + yy + both));
        sums.jx = up.dx + ((f[1] - f[2]) + (along_x + across_x));
        sums.jy = up.dy + ((f[3] - f[4]) + (along_x - across_x));
        sums.xx = up.xx + (xx + both);
        sums.yy = up.yy + (yy + both);
        sums.xy = along - across;
        sums.up = up.all;
        sums.up_x = up.dx;
        sums.up_y = up.dy;
        // Up.
        up.xx = f[11] + f[14];
        up.yy = f[15] + f[18];
        up.dx = f[11] - f[14];
        up.dy = f[15] - f[18];
        up.all = f[5] + (up.xx + up.yy);
        return m;
    }
};

template <class T> struct level<2, T> {
    typedef typename T::real R;
    struct moved {
        R all, dx, xx;
    };
    struct open {
        R rho, jx, xx, up, up_x;
    };
    static __device__ __forceinline__ moments_of<T> add(const R f[T::q], moved &up, open &sums) {
        moments_of<T> m;
        const open below = sums;
        // Down.
        const R down_xx = f[7] + f[8], down_x = f[8] - f[7];
        const R down = f[4] + down_xx;
        m.drho = below.rho + down;
        const R still = m.drho * (R)(1.0 / 3.0);
        m.j[0] = below.jx + down_x;
        m.j[1] = below.up - down;
        m.p[0] = below.xx + down_xx - still;
        m.p[1] = below.up + down - still;
        m.p[2] = below.up_x - down_x;
        // In the row.
        const R xx = f[1] + f[3];
        sums.rho = up.all + (f[0] + xx);
        sums.jx = up.dx + (f[1] - f[3]);
        sums.xx = up.xx + xx;
        sums.up = up.all;
        sums.up_x = up.dx;
        // Up.
        up.xx = f[5] + f[6];
        up.dx = f[5] - f[6];
        up.all = f[2] + up.xx;
        return m;
    }
};

// Stores the velocities of the lane's cells, and at the ends of a strip of the cell beside it. The
// rows of components stand `apart`.
template <class T>
static __device__ __forceinline__ void
store_velocities(const moments_of<T> (&m)[columns_of<T>::columns], const moments_of<T> &side,
                 uint32_t lane, int apart, real_of<T> *to) {
    typedef real_of<T> R;
    enum { C = columns_of<T>::columns };
    const R per_rho_beside = (R)1 / ((R)1 + side.drho);
    R per_rho[C];
#pragma unroll
    for (int c = 0; c < C; c++) {
        per_rho[c] = (R)1 / ((R)1 + m[c].drho);
    }
#pragma unroll
    for (int d = 0; d < T::dims; d++) {
        R v[C];
#pragma unroll
        for (int c = 0; c < C; c++) {
            v[c] = m[c].j[d] * per_rho[c];
        }
        wide_store(v, to + d * apart);
        if (lane == 0) {
            to[d * apart - 1] = side.j[d] * per_rho_beside;
        } else if (lane == CUDA_WARP - 1) {
            to[d * apart + C] = side.j[d] * per_rho_beside;
        }
    }
}

// Stores the moments of the lane's cells.
template <class T>
static __device__ __forceinline__ void store_moments(moments_of<T> (&m)[columns_of<T>::columns],
                                                     int64_t plane, bool whole, uint32_t x,
                                                     uint32_t nx, real_of<T> *__restrict__ to) {
    typedef columns_of<T> S;
    if (whole) {
#pragma unroll
        for (int k = 0; k < S::parts; k++) {
            real_of<T> v[S::columns];
#pragma unroll
            for (int c = 0; c < S::columns; c++) {
                v[c] = moment<T>(m[c], k);
            }
            wide_store_apart(v, to + k * plane);
        }
    } else {
#pragma unroll
        for (int c = 0; c < S::columns; c++) {
#pragma unroll
            for (int k = 0; k < S::parts; k++) {
                if (x + c < nx) {
                    to[k * plane + c] = moment<T>(m[c], k);
                }
            }
        }
    }
}

// The strain of the velocities around a cell; v(a, b, side): component a at the neighbour along b.
template <int DIMS, class R, class V>
static __device__ __forceinline__ void strain_of(const V &v, R *s) {
    const R half = (R)0.5, quarter = (R)0.25;
#pragma unroll
    for (int a = 0; a < DIMS; a++) {
        s[a] = half * (v(a, a, 1) - v(a, a, -1));
    }
#pragma unroll
    for (int k = DIMS; k < (DIMS == 2 ? 3 : 6); k++) {
        const int a = k == DIMS + 1 ? 1 : 0, b = k == DIMS ? 1 : 2;
        s[k] = quarter * ((v(a, b, 1) - v(a, b, -1)) + (v(b, a, 1) - v(b, a, -1)));
    }
}

// Stores the strain of a cell from its moments before collision, but for boundary cells. The trace
// relaxes with a time of 1 under recursive operators. A call, since inlined it might change how the
// compiler rounds the collision.
template <class T>
static __device__ __noinline__ void march_keep_strain(const lbm_gpu_step &s, uint32_t index,
                                                      uint32_t x, uint32_t y, uint32_t z,
                                                      const moments_of<T> *in) {
    const uint32_t at[3] = {x, y, z};
    typedef typename in_f64<T::dims>::type D;
    const bool listed = s.boundary.cell_count > 0 &&
                        (s.boundary.words[index / CUDA_WARP] >> index % CUDA_WARP & 1u);
    if (listed || s.fields.grid.solid[cuda_solid_at(s.fields.grid, at)]) {
        return;
    }
    const typename T::lbm_rates stored = T::rates_of(s, index);
    typename D::lbm_rates rates;
    double u[D::dims], q[D::parts], strain[D::parts];
    const double drho = (double)in->drho, rho = 1 + drho;
    rates.tau = s.tau;
    rates.eddy = s.eddy;
    for (int a = 0; a < D::dims; a++) {
        rates.a[a] = (double)stored.a[a];
        u[a] = (double)in->j[a] / rho + 0.5 * rates.a[a];
    }
    for (int k = 0; k < D::parts; k++) {
        const int a = k < D::dims ? k : k == D::dims + 1 ? 1 : 0;
        const int b = k < D::dims ? k : k == D::dims ? 1 : 2;
        q[k] = (double)in->p[k] - rho * u[a] * u[b] +
               0.5 * rho * (u[a] * rates.a[b] + u[b] * rates.a[a]);
    }
    const double tau = rates.eddy > 0 ? D::lbm_tau_of_pi(q, rho, &rates) : rates.tau;
    const lbm_viscosity viscosity =
        lbm_pi_strain(q, drho, tau, D::lbm_is_recursive(s.collision), D::dims, strain);
    lbm_gpu_put_strain(s.fields, at, D::dims, strain, viscosity);
}

struct moments_step {
    lbm_gpu_step step;
    lbm_gpu_tiles tiles;
};

template <class T, int ROWS, int COLLISION, bool PLAIN, bool OBSERVED>
__global__ void __launch_bounds__(shape<T, ROWS>::threads, shape<T, ROWS>::at_once)
    march_kernel(const __grid_constant__ moments_step a) {
    typedef shape<T, ROWS> S;
    typedef real_of<T> R;
    typedef level<T::dims, T> L;
    enum { C = S::columns, HYBRID = COLLISION == LBM_HYBRID };
    extern __shared__ double2 shared_room[];
    R *const room = (R *)shared_room;
    cuda_wait_for_last();
    cuda_let_next_begin();
    const lbm_gpu_step &s = a.step;
    const lbm_gpu_layout &l = s.layout;
    if (cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint32_t block =
        s.boundary.free_blocks ? s.boundary.free_blocks[blockIdx.x].number : blockIdx.x;
    const strip w = find_strip<T, ROWS>(l, a.tiles, block, warp);
    if (!S::deep && !w.stores) {
        return;
    }
    const R *__restrict__ from = (const R *)s.from;
    R *__restrict__ to = (R *)s.to;
    const bool left = lane < CUDA_WARP / 2;
    const uint32_t last = w.x + S::width;
    const R *beside = from + moment_beside<T>(w, lane) * l.plane +
                      (left          ? (w.x == 0 ? l.nx : w.x) - 1
                       : last < l.nx ? last
                                     : 0);

    typename T::lbm_rates rates;
    if (PLAIN) {
        rates.omega_even = (R)s.omega_even;
        rates.tau = (R)s.tau;
    } else {
        rates = T::rates_of(s, 0);
    }
    // Shared memory: of this lane's columns.
    R *buffer = room + ((int)warp - 1) * S::width + lane * C; // of the row, if it is no ring
    R *const speeds =
        room + 2 * S::buffer + warp * S::velocity_row + C + lane * C; // in 3 slots by turns
    uint32_t slot = 0, slot_before = S::velocities, slot_behind = 2 * S::velocities;

    moments_of<T> m[C];
    typename L::moved up[C] = {};
    typename L::open open[C] = {};
    R edge;
    load_plane<T>(from, l.plane, l.nx, w, plane_offset<T>(l, w, w.begin - 1), lane, beside, m,
                  edge);
#pragma unroll 1
    for (uint32_t z = w.begin - 1;; z++) { // from -1 on
        R g[C][T::q];
#pragma unroll
        for (int c = 0; c < C; c++) {
            T::lbm_of_moments(&m[c], COLLISION != LBM_REGULARIZED, g[c]);
        }
        {
            moments_of<T> side;
            R g_side[T::q];
#pragma unroll
            for (int k = 0; k < S::parts; k++) {
                moment<T>(side, k) =
                    T::dims == 3 && k == P_YZ
                        ? (R)0
                        : __shfl_sync(EVERY_LANE, edge, k + (left ? 0 : CUDA_WARP / 2));
            }
            T::lbm_of_moments(&side, COLLISION != LBM_REGULARIZED, g_side);
#define SHIFT(plus, minus)                                    \
    {                                                         \
        const R enters = left ? g_side[plus] : g_side[minus]; \
        shift_up<T>(g, plus, enters, lane);                   \
        shift_down<T>(g, minus, enters, lane);                \
    }
            if constexpr (T::dims == 3) {
                D3Q19_ALONG_X(SHIFT)
            } else {
                D2Q9_ALONG_X(SHIFT)
            }
#undef SHIFT
            if (HYBRID) {
                store_velocities<T>(m, side, lane, S::velocity_part, speeds + slot);
            }
        }
        if (z != w.end) {
            load_plane<T>(from, l.plane, l.nx, w, plane_offset<T>(l, w, z + 1), lane, beside, m,
                          edge);
        }
        if constexpr (T::dims == 3) {
#define SEND(i, number, row)                                              \
    {                                                                     \
        R sent[C];                                                        \
        _Pragma("unroll") for (int c = 0; c < C; c++) {                   \
            sent[c] = g[c][i];                                            \
        }                                                                 \
        wide_store(sent, buffer + (number * S::rows + (row)) * S::width); \
    }
#define SEND_UP(i, number) SEND(i, number, 1)
#define SEND_DOWN(i, number) SEND(i, number, -1)
            if (warp < S::rows) {
                D3Q19_UP_Y(SEND_UP)
            }
            if (warp > 1) {
                D3Q19_DOWN_Y(SEND_DOWN)
            }
#undef SEND_UP
#undef SEND_DOWN
#undef SEND
            __syncthreads();
#define RECEIVE(i, number)                                    \
    {                                                         \
        R got[C];                                             \
        wide_load(buffer + number * S::rows * S::width, got); \
        _Pragma("unroll") for (int c = 0; c < C; c++) {       \
            g[c][i] = got[c];                                 \
        }                                                     \
    }
            if (w.stores) {
                D3Q19_UP_Y(RECEIVE)
                D3Q19_DOWN_Y(RECEIVE)
            }
#undef RECEIVE
        } else if (HYBRID) {
            __syncwarp();
        }
        if (w.stores) {
            moments_of<T> in[C];
#pragma unroll
            for (int c = 0; c < C; c++) {
                in[c] = L::add(g[c], up[c], open[c]);
            }
            if (z != w.begin - 1 && z != w.begin) {
                const uint32_t done = z - 1;
                const uint32_t offset = w.row + done * (S::deep ? l.slice : l.pitch);
                R strain[C][T::parts];
                if (HYBRID) {
                    const R *here = speeds + slot_before;
#pragma unroll
                    for (int c = 0; c < C; c++) {
                        strain_of<T::dims>(
                            [&](int component, int axis, int side) {
                                const int part = component * S::velocity_part + c;
                                return axis == 0 ? here[part + side]
                                       : axis == T::dims - 1
                                           ? speeds[part + (side > 0 ? slot : slot_behind)]
                                           : here[part + side * S::velocity_row];
                            },
                            strain[c]);
                    }
                }
#pragma unroll
                for (int c = 0; c < C; c++) {
                    const uint32_t x = w.x + lane * C + c;
                    if (OBSERVED && s.strains && x < l.nx) {
                        const moments_of<T> copy = in[c];
                        march_keep_strain<T>(s, offset + x, x,
                                             S::deep ? w.y + l.low : done + l.base,
                                             S::deep ? done + l.base : 0, &copy);
                    }
                    if (!PLAIN && s.acceleration_field) {
                        rates = T::rates_of(s, offset + (x < l.nx ? x : 0));
                    }
                    in[c] = T::lbm_collide_moments(&in[c], &rates, COLLISION, !PLAIN,
                                                   !PLAIN && s.les, HYBRID ? strain[c] : NULL);
                }
                const uint32_t x = w.x + lane * C;
                store_moments<T>(in, l.plane, w.whole, x, l.nx, to + offset + x);
            }
        }
        if (z == w.end) {
            return;
        }
        buffer += z % 2 == w.begin % 2 ? -S::buffer : S::buffer;
        if (HYBRID) {
            const uint32_t next = slot_behind;
            slot_behind = slot_before;
            slot_before = slot;
            slot = next;
        }
    }
}

// Chooses how many planes a thread block marches: few fill the last turn of a device, many need
// fewer planes twice.
template <class T, int ROWS>
static void divide(const lbm_gpu_step &s, uint32_t processors, lbm_gpu_tiles *tiles) {
    enum { LEAST = LBM_TILE_PLANES, MOST = 128, TWICE = 3 /* planes loaded and not stored */ };
    typedef shape<T, ROWS> S;
    static_assert(int(S::width) >= int(LBM_TILE_COLUMNS), "the smallest tile");
    static_assert(!S::deep || int(S::rows) >= int(LBM_TILE_ROWS), "the smallest tile");
    const lbm_gpu_layout &l = s.layout;
    const uint32_t rows = S::deep ? l.rows : 1, planes = (l.end_row - l.first_row) / rows;
    const uint32_t places = processors * S::at_once;
    uint32_t least = 0;
    *tiles = lbm_gpu_tiles{};
    tiles->width = S::width;
    tiles->rows = S::rows;
    tiles->strips = S::deep ? 1 : S::warps;
    tiles->across = (l.nx + S::width - 1) / S::width;
    tiles->down = S::deep ? (l.rows + S::rows - 1) / S::rows : 1;
    for (uint32_t n = LEAST; n <= MOST; n++) {
        const uint32_t deep = (planes + n - 1) / n;
        const uint32_t strips = tiles->across * tiles->down * deep;
        const uint32_t blocks = (strips + tiles->strips - 1) / tiles->strips;
        const uint32_t cost = (blocks + places - 1) / places * (n + TWICE);
        if (n == LEAST || cost < least) {
            least = cost;
            tiles->planes = n;
            tiles->deep = deep;
            tiles->blocks = blocks;
        }
    }
}

// Chooses the rows of a thread block, by the shared memory of the device.
template <class T> static cudaError_t divide(const lbm_gpu_step &s, lbm_gpu_tiles *tiles) {
    enum { MOST = rows_of<T>::most, LEAST = rows_of<T>::least };
    int device = 0, processors = 0, room = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) {
        code = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    }
    if (code == cudaSuccess) {
        code = cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    }
    if (shape<T, MOST>::bytes(s.collision) <= (size_t)room) {
        divide<T, MOST>(s, (uint32_t)processors, tiles);
    } else {
        divide<T, LEAST>(s, (uint32_t)processors, tiles);
    }
    return code;
}

template <class T, int ROWS, int COLLISION, bool PLAIN, bool OBSERVED>
static cudaError_t march_launch_rows(const moments_step &one, cudaStream_t stream) {
    typedef shape<T, ROWS> S;
    const auto kernel = march_kernel<T, ROWS, COLLISION, PLAIN, OBSERVED>;
    const lbm_gpu_step &s = one.step;
    const size_t bytes = S::bytes(COLLISION);
    const uint32_t blocks = s.boundary.free_blocks ? s.block_count : one.tiles.blocks;
    cudaError_t code = cudaSuccess;
    if (bytes > 0) {
        code =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    }
    if (code == cudaSuccess && blocks > 0) {
        code = cuda_launch_early(kernel, blocks, S::threads, stream, one, bytes);
    }
    return code;
}

template <class T, int COLLISION, bool PLAIN, bool OBSERVED>
static cudaError_t march_launch(const lbm_gpu_step *s, cudaStream_t stream) {
    enum { MOST = rows_of<T>::most, LEAST = rows_of<T>::least };
    moments_step one;
    one.step = *s;
    const cudaError_t code = divide<T>(*s, &one.tiles);
    return code != cudaSuccess ? code
           : one.tiles.rows == MOST
               ? march_launch_rows<T, MOST, COLLISION, PLAIN, OBSERVED>(one, stream)
               : march_launch_rows<T, LEAST, COLLISION, PLAIN, OBSERVED>(one, stream);
}

template <class T, int COLLISION>
static cudaError_t march_choose_kernel(const lbm_gpu_step *s, cudaStream_t stream) {
    const bool plain = !s->forced && !s->les;
    return s->observed ? plain ? march_launch<T, COLLISION, true, true>(s, stream)
                               : march_launch<T, COLLISION, false, true>(s, stream)
           : plain ? march_launch<T, COLLISION, true, false>(s, stream)
                       : march_launch<T, COLLISION, false, false>(s, stream);
}

template <class T>
static cudaError_t march_choose_collision(const lbm_gpu_step *s, cudaStream_t stream) {
    switch (s->collision) {
    case LBM_RECURSIVE:
        return march_choose_kernel<T, LBM_RECURSIVE>(s, stream);
    case LBM_HYBRID:
        return march_choose_kernel<T, LBM_HYBRID>(s, stream);
    default:
        return march_choose_kernel<T, LBM_REGULARIZED>(s, stream);
    }
}

#ifndef LBM_STEP_TRAITS
#error "compiled once per lattice and precision, with -DLBM_STEP_TRAITS=d2q9_f32 and so on"
#endif
#define JOIN(a, b) a##b
#define NAME(prefix, traits) JOIN(prefix, traits)

extern "C" cudaError_t NAME(lbm_gpu_moments_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                               cudaStream_t stream) {
    return march_choose_collision<LBM_STEP_TRAITS>(step, stream);
}

extern "C" cudaError_t NAME(lbm_gpu_moments_tiles_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                                     lbm_gpu_tiles *tiles) {
    return divide<LBM_STEP_TRAITS>(*step, tiles);
}
