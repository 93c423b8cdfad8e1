// aqua_flow.cu -- the flow between neighbours, one thread per cell: gather in two passes, scatter.
#include "cuda/aqua_traits.cuh"

enum { TILE_X = 32, TILE_Y = 8, MOST_BLOCKS_Y = 32768 };

// Threads for the cells x0 <= x < x1 of the rows y0, y0 + step ... below y1.
struct range {
    int x0, x1, y0, y1, step;
};

static int rows_of(const range &r) {
    return (r.y1 - r.y0 + r.step - 1) / r.step;
}

static dim3 blocks_of(const range &r) {
    const int rows = (rows_of(r) + TILE_Y - 1) / TILE_Y;
    return dim3((unsigned)((r.x1 - r.x0 + TILE_X - 1) / TILE_X),
                (unsigned)(rows < MOST_BLOCKS_Y ? rows : MOST_BLOCKS_Y));
}

static const dim3 tile(TILE_X, TILE_Y);

// for each row of this thread
#define EACH_ROW(r, x, y)                                                            \
    const int x = r.x0 + (int)(blockIdx.x * TILE_X + threadIdx.x);                   \
    if (x >= r.x1) {                                                                 \
        return;                                                                      \
    }                                                                                \
    for (int y = r.y0 + r.step * (int)(blockIdx.y * TILE_Y + threadIdx.y); y < r.y1; \
         y += r.step * (int)(gridDim.y * TILE_Y))

// The cells whose factors a flow needs: those of the block and a ring around it.
static range with_ring(const aqua_gpu_layout &l) {
    return {-1, (int)l.nx + 1, (int)l.first - 1, (int)l.end + 1, 1};
}

static range of_block(const aqua_gpu_layout &l) {
    return {0, (int)l.nx, (int)l.first, (int)l.end, 1};
}

// Those that send: the ring only where it is that of the grid, else it is of another block.
static range of_senders(const aqua_gpu_layout &l) {
    return {-1, (int)l.nx + 1, (int)l.first - (l.first == 0), (int)l.end + (l.end == l.ny), 1};
}

template <class S, int EQUILIBRIUM>
__global__ void __launch_bounds__(TILE_X *TILE_Y)
    factor_kernel(const __grid_constant__ aqua_gpu_flow f, range r) {
    EACH_ROW(r, x, y) {
        const uint32_t at = aqua_at(f.layout, x, y);
        const aqua_cell_of<S> cell = aqua_look_at<S>(f, EQUILIBRIUM, at);
        ((typename S::real *)f.factor)[at] = cell.factor;
        if (EQUILIBRIUM == AQUA_MINDIFF) {
            ((typename S::real *)f.cut)[at] = cell.cut;
        }
    }
}

template <class S, bool CUTS>
__global__ void __launch_bounds__(TILE_X *TILE_Y)
    flux_kernel(const __grid_constant__ aqua_gpu_flow f, range r) {
    typedef typename S::real real;
    typedef typename S::water water;
    if (cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    EACH_ROW(r, x, y) {
        const uint32_t at = aqua_at(f.layout, x, y);
        const int pitch = (int)f.layout.pitch;
        const real *bed = (const real *)f.bed + at, *factor = (const real *)f.factor + at;
        const real *cut = (const real *)f.cut + at, least = (real)f.least;
        const water *depth = (const water *)f.from + at;
        water out[AQUA_AROUND];
#define FLUX(k, dx, dy)                                                                          \
    {                                                                                            \
        const int u = (dy)*pitch + (dx);                                                         \
        const real root = S::aqua_root(S::aqua_head(bed[0], bed[u], depth[0], depth[u]), least); \
        out[k] = CUTS ? S::aqua_flux_cut(root, factor[0], cut[0], factor[u], cut[u])             \
                      : S::aqua_flux(root, factor[0], factor[u]);                                \
    }
        AQUA_NEIGHBOURS(FLUX)
#undef FLUX
        const water after = S::aqua_after(depth[0], out);
        ((water *)f.to)[at] = after;
        if (S::whole && after > (water)f.limit) {
            aqua_raise(f, at);
        }
    }
}

template <class S> static void find_factors(const aqua_gpu_flow *f, cudaStream_t stream) {
    const range r = with_ring(f->layout);
    if (f->equilibrium == AQUA_FILL) {
        factor_kernel<S, AQUA_FILL><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    } else if (f->equilibrium == AQUA_MEAN) {
        factor_kernel<S, AQUA_MEAN><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    } else {
        factor_kernel<S, AQUA_MINDIFF><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    }
}

cudaError_t aqua_gpu_two_pass(const aqua_gpu_flow *f, cudaStream_t stream) {
    const range r = of_block(f->layout);
    find_factors<aqua_f64>(f, stream);
    if (f->equilibrium == AQUA_MINDIFF) {
        flux_kernel<aqua_f64, true><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    } else {
        flux_kernel<aqua_f64, false><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    }
    return cudaGetLastError();
}

// ---- scatter ----

// The flux from a cell to its neighbour k.
template <class S> static __device__ typename S::water given(const aqua_cell_of<S> &cell, int k) {
    typedef typename S::water water;
    const bool gives = cell.root[k] > 0 && cell.root[k] >= cell.cut;
    return gives ? (water)(cell.factor * cell.root[k]) : (water)0;
}

enum { ALL = 2 }; // columns

static __device__ void add(int32_t *to, int32_t q) {
    atomicAdd(to, q);
}

static __device__ void add(double *to, double q) {
    *to += q;
}

// Whole quanta: sums do not depend on their order, so one launch does all (DX is ALL). Doubles:
// sums need a fixed order. Each launch does rows three apart and one of the directions right,
// straight, left, in this order, so that no cell receives twice in a launch. The CPU does the same.
template <class S, int DX>
__global__ void __launch_bounds__(TILE_X *TILE_Y)
    send_kernel(const __grid_constant__ aqua_gpu_flow f, range r) {
    typedef typename S::water water;
    EACH_ROW(r, x, y) {
        const uint32_t at = aqua_at(f.layout, x, y);
        water *more = (water *)f.more + at, sum = 0;
        if (((const water *)f.from)[at] > 0) {
            const aqua_cell_of<S> cell = aqua_look_at<S>(f, f.equilibrium, at);
#define SEND(k, dx, dy)                                       \
    {                                                         \
        const water q = given(cell, k);                       \
        if (DX == ALL ? q > 0 : (dx) == DX) {                 \
            add(more + (dy) * (int)f.layout.pitch + (dx), q); \
        }                                                     \
        sum += q;                                             \
    }
            AQUA_NEIGHBOURS(SEND)
#undef SEND
        }
        ((water *)f.less)[at] = sum;
    }
}

template <class S>
__global__ void __launch_bounds__(TILE_X *TILE_Y)
    update_kernel(const __grid_constant__ aqua_gpu_flow f, range r) {
    typedef typename S::water water;
    if (cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    EACH_ROW(r, x, y) {
        const uint32_t at = aqua_at(f.layout, x, y);
        const water in = ((const water *)f.more)[at], out = ((const water *)f.less)[at];
        const water after = ((const water *)f.from)[at] + in - out;
        ((water *)f.to)[at] = after;
        if (S::whole && after > (water)f.limit) {
            aqua_raise(f, at);
        }
    }
}

static void send(const aqua_gpu_flow *f, int turn, aqua_f32, cudaStream_t stream) {
    const range r = of_senders(f->layout);
    if (turn == 0) {
        send_kernel<aqua_f32, ALL><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    }
}

// The rows -1 + turn, 2 + turn ... of the grid.
static void send(const aqua_gpu_flow *f, int turn, aqua_f64, cudaStream_t stream) {
    range r = of_senders(f->layout);
    r.step = 3;
    r.y0 += (turn + 2 * (r.y0 + 1)) % 3;
    if (r.y0 < r.y1) {
        send_kernel<aqua_f64, 1><<<blocks_of(r), tile, 0, stream>>>(*f, r);
        send_kernel<aqua_f64, 0><<<blocks_of(r), tile, 0, stream>>>(*f, r);
        send_kernel<aqua_f64, -1><<<blocks_of(r), tile, 0, stream>>>(*f, r);
    }
}

template <class S>
static cudaError_t scatter(const aqua_gpu_flow *flows, int blocks, cudaStream_t stream) {
    const size_t bytes = (size_t)flows->layout.cells * sizeof(typename S::water);
    const cudaError_t cleared = cudaMemsetAsync(flows->more, 0, bytes, stream);
    for (int k = 0; k < 3 * blocks && cleared == cudaSuccess; k++) {
        send(&flows[k % blocks], k / blocks, S(), stream);
    }
    for (int b = 0; b < blocks && cleared == cudaSuccess; b++) {
        const range r = of_block(flows[b].layout);
        update_kernel<S><<<blocks_of(r), tile, 0, stream>>>(flows[b], r);
    }
    return cleared == cudaSuccess ? cudaGetLastError() : cleared;
}

cudaError_t aqua_gpu_scatter(const aqua_gpu_flow *flows, int blocks, cudaStream_t stream) {
    return flows->whole ? scatter<aqua_f32>(flows, blocks, stream)
                        : scatter<aqua_f64>(flows, blocks, stream);
}
