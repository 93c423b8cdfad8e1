// lbm_pass.cu -- several time steps of a plane flow whose cells are stored as moments, in one pass
// over the grid. All axes periodic, all cells fluid.
//
// A warp has a strip of columns, some neighbouring ones to a lane, and marches along y. Each of
// STEPS levels does one step as lbm_moments.cu does it, with the same instructions. A level has in
// registers what has arrived so far in two rows; with the row that enters it completes the row
// below, collides it, and hands it to the next level:
//
//     after     0 steps     1 step      2 steps     3 steps       (STEPS = 3)
//     row y     enters
//     row y-1   completed   enters
//     row y-2               completed   enters
//     row y-3                           completed   stored
//
// Neighbours along x are in the same lane or one shuffle away. Each step makes the valid part of a
// strip one column narrower at either side, so strips overlap; likewise a tile begins STEPS rows
// early and ends STEPS rows late:
//
//     columns of a strip   |-HALO-|-------- WIDTH stored --------|-HALO-|
//
// The hybrid operator needs the velocities of the three rows around the one that it completes; they
// stay in registers, too.
#include "engine/solvers/lbm/lbm_march.cuh"

// STEPS: in a pass; COLUMNS: of a lane. A pass of one step serves the cells beside boundaries, in
// narrow tiles, so that few others are computed with them.
template <int STEPS, int COLUMNS> struct pass_shape {
    enum {
        steps = STEPS,
        columns = COLUMNS,
        halo = (steps + columns - 1) / columns * columns,
        span = columns * CUDA_WARP,
        width = span - 2 * halo,
        warps = 4,
        threads = warps * CUDA_WARP,
        at_once = 3 // blocks of a multiprocessor, by their registers
    };
};
template <class T, int COLLISION> struct long_pass {
    enum { small = sizeof(real_of<T>) == 4, longest = 5 };
    typedef pass_shape<small && COLLISION != LBM_HYBRID ? longest : 3, small ? 2 : 1> shape;
};
typedef pass_shape<1, 1> short_pass;
static_assert(int(short_pass::width) == int(LBM_BAND_COLUMNS), "tiles of the host's list");

struct pass_step {
    lbm_gpu_step step;
    const uint32_t *tiles;               // NULL: all of them
    uint32_t count, across, rows, parts; // tiles; strips, rows of a tile, tiles of a strip
};

// The columns of a lane: the first, and each within the grid.
template <int C> struct pass_lane {
    uint32_t x[C];
    bool whole; // the strip lies within the grid
};

template <class T, int C>
static __device__ __forceinline__ void pass_load(const real_of<T> *__restrict__ from, int64_t plane,
                                                 const pass_lane<C> &at, moments_of<T> (&m)[C]) {
#pragma unroll
    for (int k = 0; k < columns_of<T>::parts; k++) {
        real_of<T> v[C];
        if (at.whole) {
            wide_load(from + k * plane + at.x[0], v);
        } else {
#pragma unroll
            for (int c = 0; c < C; c++) {
                v[c] = from[k * plane + at.x[c]];
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            moment<T>(m[c], k) = v[c];
        }
    }
}

// The velocities of a row.
template <class T, int C> struct pass_row { real_of<T> v[C][T::dims]; };

template <class T, int C>
static __device__ __forceinline__ pass_row<T, C> pass_velocities(const moments_of<T> (&m)[C]) {
    typedef real_of<T> R;
    pass_row<T, C> row;
#pragma unroll
    for (int c = 0; c < C; c++) {
        const R per_rho = (R)1 / ((R)1 + m[c].drho);
#pragma unroll
        for (int a = 0; a < T::dims; a++) {
            row.v[c][a] = m[c].j[a] * per_rho;
        }
    }
    return row;
}

// The differences of velocities in the row `here`, between two others.
template <class T, int C>
static __device__ __forceinline__ void
pass_differences(const pass_row<T, C> &below, const pass_row<T, C> &here,
                 const pass_row<T, C> &above, real_of<T> (&to)[C][T::differences]) {
    real_of<T> before[T::dims], behind[T::dims];
#pragma unroll
    for (int a = 0; a < T::dims; a++) {
        before[a] = __shfl_up_sync(EVERY_LANE, here.v[C - 1][a], 1);
        behind[a] = __shfl_down_sync(EVERY_LANE, here.v[0][a], 1);
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        differences_of<T::dims>(
            [&](int component, int axis, int side) {
                return axis == 1  ? (side > 0 ? above : below).v[c][component]
                       : side > 0 ? (c + 1 < C ? here.v[c + 1 < C ? c + 1 : c][component]
                                               : behind[component])
                       : c > 0    ? here.v[c > 0 ? c - 1 : 0][component]
                                  : before[component];
            },
            to[c]);
    }
}

// What a level keeps of its rows.
template <class T, int C> struct pass_level {
    typedef level<T::dims, T> L;
    typename L::moved up[C];
    typename L::open open[C];
    pass_row<T, C> here, below; // velocities of the row that is to be completed, and of that below
};

// Takes a row into a level; the row below it, a step later, takes its place.
template <class T, int C, int COLLISION, bool PLAIN>
static __device__ __forceinline__ void pass_take(const lbm_gpu_step &s,
                                                 const typename T::lbm_rates &rates, uint32_t lane,
                                                 pass_level<T, C> &of, moments_of<T> (&m)[C]) {
    typedef real_of<T> R;
    typedef level<T::dims, T> L;
    enum { HYBRID = COLLISION == LBM_HYBRID };
    R g[C][T::q], differences[C][T::differences];
#pragma unroll
    for (int c = 0; c < C; c++) {
        T::lbm_of_moments(&m[c], COLLISION != LBM_REGULARIZED, g[c]);
    }
#define SHIFT(plus, minus)                  \
    shift_up<T>(g, plus, g[0][plus], lane); \
    shift_down<T>(g, minus, g[0][minus], lane);
    D2Q9_ALONG_X(SHIFT)
#undef SHIFT
    if (HYBRID) {
        const pass_row<T, C> now = pass_velocities<T>(m);
        pass_differences<T>(of.below, of.here, now, differences);
        of.below = of.here;
        of.here = now;
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        const moments_of<T> in = L::add(g[c], of.up[c], of.open[c]);
        m[c] = T::lbm_collide_moments(&in, &rates, COLLISION, !PLAIN, !PLAIN && s.les,
                                      HYBRID ? differences[c] : NULL);
    }
}

// The row beyond the grid's ends is that of the other end.
static __device__ __forceinline__ uint32_t pass_around(int at, uint32_t n) {
    return at < 0 ? at + n : (uint32_t)at < n ? (uint32_t)at : at - n;
}

template <class T, class S, int COLLISION, bool PLAIN>
__global__ void __launch_bounds__(S::threads, S::at_once)
    pass_kernel(const __grid_constant__ pass_step a) {
    typedef real_of<T> R;
    enum { C = S::columns, STEPS = S::steps };
    cuda_wait_for_last();
    cuda_let_next_begin();
    const lbm_gpu_step &s = a.step;
    const lbm_gpu_layout &l = s.layout;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const uint32_t place = blockIdx.x * S::warps + threadIdx.x / CUDA_WARP;
    if (place >= a.count) {
        return;
    }
    const uint32_t number = a.tiles ? a.tiles[place] : place, part = number / a.across;
    const int first = (int)((number - part * a.across) * S::width) - S::halo;
    const int begin = (int)(part * a.rows);
    const int end = begin + (int)a.rows < (int)l.ny ? begin + (int)a.rows : (int)l.ny;
    const int x = first + (int)lane * C;
    const bool stores = lane >= S::halo / C && lane < CUDA_WARP - S::halo / C;
    pass_lane<C> at;
    at.whole = first >= 0 && first + S::span <= (int)l.nx;
#pragma unroll
    for (int c = 0; c < C; c++) {
        at.x[c] = pass_around(x + c, l.nx);
    }
    const R *__restrict__ from = (const R *)s.from;
    R *__restrict__ to = (R *)s.to;
    typename T::lbm_rates rates[PLAIN ? 1 : STEPS];
#pragma unroll
    for (int k = 0; k < (PLAIN ? 1 : STEPS); k++) {
        if (PLAIN) {
            rates[k].omega_even = (R)s.omega_even;
            rates[k].tau = (R)s.tau;
        } else {
            rates[k] = T::rates_at(s, NULL, k);
        }
    }
    pass_level<T, C> levels[STEPS] = {};
    moments_of<T> next[C];
    pass_load<T>(from + pass_around(begin - STEPS, l.ny) * l.pitch, l.plane, at, next);
#pragma unroll 1
    for (int y = begin - STEPS; y < end + STEPS; y++) {
        moments_of<T> m[C];
#pragma unroll
        for (int c = 0; c < C; c++) {
            m[c] = next[c];
        }
        if (y + 1 < end + STEPS) {
            pass_load<T>(from + pass_around(y + 1, l.ny) * l.pitch, l.plane, at, next);
        }
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            pass_take<T, C, COLLISION, PLAIN>(s, rates[PLAIN ? 0 : k], lane, levels[k], m);
        }
        if (y >= begin + STEPS && stores) {
            const uint32_t offset = (uint32_t)(y - STEPS) * l.pitch + (uint32_t)x;
            store_moments<T>(m, l.plane, at.whole, (uint32_t)x, l.nx, to + offset);
        }
    }
}

// Chooses how many rows a tile has: few fill the last turn of a device, many need fewer rows twice.
template <class S> static cudaError_t pass_divide(const lbm_gpu_layout &l, pass_step *one) {
    enum { LEAST = 8, MOST = 256 };
    int device = 0, processors = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) {
        code = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    }
    const uint32_t places = (uint32_t)processors * S::at_once * S::warps;
    uint32_t least = 0;
    one->across = (l.nx + S::width - 1) / S::width;
    for (uint32_t n = LEAST; n <= MOST; n++) {
        const uint32_t parts = (l.ny + n - 1) / n;
        const uint32_t cost = (one->across * parts + places - 1) / places * (n + 2 * S::steps);
        if (n == LEAST || cost < least) {
            least = cost;
            one->rows = n;
            one->parts = parts;
        }
    }
    return code;
}

template <class T, class S, int COLLISION, bool PLAIN>
static cudaError_t pass_launch(const pass_step &one, cudaStream_t stream) {
    const uint32_t blocks = (one.count + S::warps - 1) / S::warps;
    return cuda_launch_early(pass_kernel<T, S, COLLISION, PLAIN>, blocks, S::threads, stream, one);
}

template <class T, int COLLISION>
static cudaError_t pass_choose_kernel(const lbm_gpu_step *s, const lbm_gpu_band *band,
                                      cudaStream_t stream) {
    typedef typename long_pass<T, COLLISION>::shape S;
    const bool plain = !s->forced && !s->les;
    pass_step one = {};
    one.step = *s;
    if (band) {
        one.tiles = band->tiles;
        one.count = band->count;
        one.across = (s->layout.nx + short_pass::width - 1) / short_pass::width;
        one.rows = LBM_BAND_ROWS;
        return plain ? pass_launch<T, short_pass, COLLISION, true>(one, stream)
                     : pass_launch<T, short_pass, COLLISION, false>(one, stream);
    }
    const cudaError_t code = pass_divide<S>(s->layout, &one);
    one.tiles = NULL;
    one.count = one.across * one.parts;
    return code != cudaSuccess ? code
           : plain             ? pass_launch<T, S, COLLISION, true>(one, stream)
                               : pass_launch<T, S, COLLISION, false>(one, stream);
}

template <class T>
static cudaError_t pass_choose_collision(const lbm_gpu_step *s, const lbm_gpu_band *band,
                                         cudaStream_t stream) {
    switch (s->collision) {
    case LBM_RECURSIVE:
        return pass_choose_kernel<T, LBM_RECURSIVE>(s, band, stream);
    case LBM_HYBRID:
        return pass_choose_kernel<T, LBM_HYBRID>(s, band, stream);
    default:
        return pass_choose_kernel<T, LBM_REGULARIZED>(s, band, stream);
    }
}

#ifndef LBM_STEP_TRAITS
#error "compiled once per precision, with -DLBM_STEP_TRAITS=d2q9_f32 and so on"
#endif
#define JOIN(a, b) a##b
#define NAME(prefix, traits) JOIN(prefix, traits)

extern "C" cudaError_t NAME(lbm_gpu_pass_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                            cudaStream_t stream) {
    return pass_choose_collision<LBM_STEP_TRAITS>(step, NULL, stream);
}

extern "C" cudaError_t NAME(lbm_gpu_band_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                            const lbm_gpu_band *band,
                                                            cudaStream_t stream) {
    return pass_choose_collision<LBM_STEP_TRAITS>(step, band, stream);
}

// Copies the moments of cells, given by their indices.
template <class T>
__global__ void pass_copy_kernel(const uint32_t *__restrict__ cells, uint32_t count,
                                 const real_of<T> *__restrict__ from, real_of<T> *__restrict__ to,
                                 int64_t plane) {
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) {
        const uint32_t index = cells[k];
#pragma unroll
        for (int part = 0; part < columns_of<T>::parts; part++) {
            to[part * plane + index] = from[part * plane + index];
        }
    }
}

extern "C" cudaError_t NAME(lbm_gpu_copy_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                            const uint32_t *cells, uint32_t count,
                                                            cudaStream_t stream) {
    typedef real_of<LBM_STEP_TRAITS> R;
    if (count > 0) {
        pass_copy_kernel<LBM_STEP_TRAITS>
            <<<(count + LBM_BLOCK - 1) / LBM_BLOCK, LBM_BLOCK, 0, stream>>>(
                cells, count, (const R *)step->from, (R *)step->to, step->layout.plane);
    }
    return cudaGetLastError();
}
