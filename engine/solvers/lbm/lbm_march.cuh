// lbm_march.cuh -- the pieces of the march through stored moments (lbm_moments.cu): the shape of a
// thread block, strips, loads, shifts along x, sums of what arrives, stores.
#ifndef LBM_MARCH_CUH
#define LBM_MARCH_CUH

#include "engine/solvers/lbm/lbm_strain.cuh"
#include "cuda/early.cuh"
#include "cuda/wide.cuh"

template <class T> using moments_of = typename T::lbm_cell_moments;

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
    bool halo;           // beside the strips of the thread block
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

// number: in 3-D of the thread block.
template <class T, int ROWS>
static __device__ __forceinline__ strip find_strip(const lbm_gpu_layout &l,
                                                   const lbm_gpu_tiles &tiles, uint32_t number,
                                                   uint32_t warp) {
    typedef shape<T, ROWS> S;
    strip w;
    const uint32_t rest = number / tiles.across, part = rest / tiles.down;
    const uint32_t rows = S::deep ? l.rows : 1;
    const uint32_t end = l.end_row / rows;
    w.x = (number - rest * tiles.across) * S::width;
    w.begin = l.first_row / rows + part * tiles.planes;
    w.end = w.begin + tiles.planes < end ? w.begin + tiles.planes : end;
    w.whole = w.x + S::width <= l.nx;
    w.y = w.row = 0;
    w.halo = S::deep && (warp == 0 || warp == S::warps - 1);
    w.stores = part < tiles.deep;
    if (S::deep) { // y + 1: the row before a patch has a place, too
        const uint32_t next = (rest - part * tiles.down) * S::rows + warp;
        uint32_t y = next < l.rows + 1 ? next : l.rows + 1;
        y = l.halo ? y + l.halo - 1 : y == 0 ? l.ny - 1 : y == l.ny + 1 ? 0 : y - 1;
        w.stores = !w.halo && next >= 1 && next <= l.rows;
        w.y = next - 1;
        w.row = y * l.pitch;
    }
    return w;
}

// Which moments populations need that cross into a strip: those from beside it lack P_yz; those
// that leave a halo row lack P_xz, and at its ends also j_z.
enum { J_Z = 3, P_YZ = 8, P_XZ = 9 };

// The moment that this lane loads of a cell beside its strip; lanes with nothing to load repeat
// another.
template <class T>
static __device__ __forceinline__ uint32_t moment_beside(const strip &w, uint32_t lane) {
    const uint32_t k = lane % (CUDA_WARP / 2);
    const bool lacks = T::dims == 3 && (k == P_YZ || (w.halo && (k == J_Z || k == P_XZ)));
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
            if (T::dims == 2 || k != P_XZ || !w.halo) {
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
template <class T, int C>
static __device__ __forceinline__ void shift_up(real_of<T> (&g)[C][T::q], int i, real_of<T> edge,
                                                uint32_t lane) {
    enum { LAST = C - 1 };
    const real_of<T> before = __shfl_up_sync(EVERY_LANE, g[LAST][i], 1);
#pragma unroll
    for (int c = LAST; c > 0; c--) {
        g[c][i] = g[c - 1][i];
    }
    g[0][i] = lane == 0 ? edge : before;
}
template <class T, int C>
static __device__ __forceinline__ void shift_down(real_of<T> (&g)[C][T::q], int i, real_of<T> edge,
                                                  uint32_t lane) {
    enum { LAST = C - 1 };
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
template <class T, int C>
static __device__ __forceinline__ void store_moments(moments_of<T> (&m)[C], int64_t plane,
                                                     bool whole, uint32_t x, uint32_t nx,
                                                     real_of<T> *__restrict__ to) {
    enum { PARTS = columns_of<T>::parts };
    if (whole) {
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            real_of<T> v[C];
#pragma unroll
            for (int c = 0; c < C; c++) {
                v[c] = moment<T>(m[c], k);
            }
            wide_store_apart(v, to + k * plane);
        }
    } else {
#pragma unroll
        for (int c = 0; c < C; c++) {
#pragma unroll
            for (int k = 0; k < PARTS; k++) {
                if (x + c < nx) {
                    to[k * plane + c] = moment<T>(m[c], k);
                }
            }
        }
    }
}

// The differences of the velocities around a cell; v(a, b, side): component a at the neighbour
// along b; v(a, 0, 0) that of the cell itself.
template <int DIMS, class R, class V>
static __device__ __forceinline__ void differences_of(const V &v, R *s) {
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
#pragma unroll
    for (int k = 0; k < (DIMS == 2 ? 0 : 6); k++) { // as LBM_FLUXES
        const int a = k < 3 ? k : k == 4 ? 1 : 0, b = k < 3 ? k : k == 3 ? 1 : 2;
        const int along = k < 3 ? k : 3 - a - b;
        const auto product = [&](int side) { return v(a, along, side) * v(b, along, side); };
        s[6 + k] = product(1) + product(-1) - 2 * (v(a, 0, 0) * v(b, 0, 0));
    }
}

#endif
