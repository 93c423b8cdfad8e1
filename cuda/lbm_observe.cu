// lbm_observe.cu -- what an observed step shows: what links carry, strain rate and stress.
//
// A step is observed just before it is taken: what comes to a cell is pulled and closed as the step
// itself will, kept, and not collided.
#include "cuda/lbm_view.cuh"
#include "cuda/machine/look.cuh"

enum { THREADS = LOOK_THREADS, JOINERS = LOOK_JOINED, ROWS_PER_BLOCK = LOOK_ROWS };

// ---- observing ----

// A boundary cell to a thread.
template <class T>
__global__ void __launch_bounds__(THREADS) keep_links(const __grid_constant__ lbm_gpu_step s) {
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.boundary.cell_count || (s.halted && *s.halted)) {
        return;
    }
    const lbm_gpu_cell cell = s.boundary.cells[k];
    typename T::real g[T::q];
    T::arrive(s, cell, T::make_place(s.layout, cell.index), T::rates_of(s, cell.index), g);
    T::keep_links(s, cell, g);
}

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    keep_strain(const __grid_constant__ lbm_gpu_view v, bool initially) {
    typedef lbm_look<T, D> look;
    const lbm_gpu_layout &l = v.last.layout;
    const int64_t cells = (int64_t)l.nx * l.ny * l.nz, step = (int64_t)gridDim.x * blockDim.x;
    if (v.last.halted && *v.last.halted) {
        return;
    }
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < cells; k += step) {
        const uint32_t at[3] = {(uint32_t)(k % l.nx), (uint32_t)(k / l.nx % l.ny),
                                (uint32_t)(k / l.nx / l.ny)};
        double s[D::parts], value[CUDA_PARTS];
        if (v.solid[k]) {
            continue;
        }
        const double viscosity =
            initially ? look::initial_strain(v, at, s) : look::strain(v, at, s);
        for (int f = 0; f < 2; f++) {
            const int count = v.strain[f] ? lbm_strain_field(LBM_STRAIN_RATE + f, s, viscosity,
                                                             D::dims, &v.units, value)
                                          : 0;
            for (int c = 0; c < count; c++) {
                v.strain[f][c * cells + k] = value[c];
            }
        }
    }
}

template <class T, class D>
static cudaError_t observe(const lbm_gpu_view *v, bool initially, cudaStream_t stream) {
    const lbm_gpu_boundary &b = v->last.boundary;
    if (b.links) {
        keep_links<T><<<(b.cell_count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(v->last);
    }
    if (v->strain[0] || v->strain[1]) {
        const lbm_gpu_layout &l = v->last.layout;
        const int64_t blocks = ((int64_t)l.nx * l.ny * l.nz + THREADS - 1) / THREADS;
        keep_strain<T, D><<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), THREADS, 0, stream>>>(
            *v, initially);
    }
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_observe(const lbm_gpu_view *view, bool initially,
                                       cudaStream_t stream) {
    return LBM_DISPATCH(view->last, observe, view, initially, stream);
}

// ---- sums over links ----

static __device__ void join(lbm_gpu_carried &a, const lbm_gpu_carried &b) {
    for (int k = 0; k < 3; k++) {
        a.force[k] += b.force[k];
        a.torque[k] += b.torque[k];
    }
    a.mass += b.mass;
}

static __device__ void clear(lbm_gpu_carried &a) {
    for (int k = 0; k < 3; k++) {
        a.force[k] = a.torque[k] = 0;
    }
    a.mass = 0;
}

// Adds a link along e; torque about `centre` in cells, from the middle of the link.
static __device__ void add_link(lbm_gpu_carried &sum, const int e[3], double out, double in,
                                const double at[3], const double centre[3]) {
    double arm[3], force[3];
    for (int a = 0; a < 3; a++) {
        arm[a] = at[a] - 0.5 * e[a] - centre[a];
        force[a] = -e[a] * (out + in);
        sum.force[a] += force[a];
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum.torque[a] += arm[b] * force[c] - arm[c] * force[b];
    }
    sum.mass += out - in;
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    links_kernel(const __grid_constant__ lbm_gpu_step s, int region, double cx, double cy,
                 double cz, lbm_gpu_carried *partials) {
    const double centre[3] = {cx, cy, cz};
    lbm_gpu_carried mine;
    clear(mine);
    const uint32_t share = (s.boundary.cell_count + gridDim.x - 1) / gridDim.x;
    const uint32_t first = blockIdx.x * share;
    const uint32_t last =
        first + share < s.boundary.cell_count ? first + share : s.boundary.cell_count;
    for (uint32_t c = first + threadIdx.x; c < last; c += blockDim.x) {
        const lbm_gpu_cell cell = s.boundary.cells[c];
        const uint32_t z = cell.index / s.layout.slice, rest = cell.index % s.layout.slice;
        const double at[3] = {(double)(rest % s.layout.pitch), (double)(rest / s.layout.pitch),
                              (double)z};
        T::each_link(s.boundary, cell, region, [&](const int e[3], double out, double in) {
            add_link(mine, e, out, in, at, centre);
        });
    }
    __shared__ double room[ROWS_PER_BLOCK][sizeof(lbm_gpu_carried) / sizeof(double)];
    join_lanes(mine);
    if (threadIdx.x % CUDA_WARP == 0) {
        *(lbm_gpu_carried *)room[threadIdx.x / CUDA_WARP] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < ROWS_PER_BLOCK; w++) {
            join(mine, *(const lbm_gpu_carried *)room[w]);
        }
        partials[blockIdx.x] = mine;
    }
}

template <class T, class D>
static cudaError_t carried(const lbm_gpu_step *s, int region, const double centre[3],
                           lbm_gpu_carried *partials, cudaStream_t stream) {
    links_kernel<T><<<LBM_GPU_LINK_BLOCKS, THREADS, 0, stream>>>(*s, region, centre[0], centre[1],
                                                                 centre[2], partials);
    return join_all(partials, LBM_GPU_LINK_BLOCKS, stream);
}

extern "C" cudaError_t lbm_gpu_links(const lbm_gpu_step *step, int region, const double centre[3],
                                     lbm_gpu_carried *partials, cudaStream_t stream) {
    return LBM_DISPATCH(*step, carried, step, region, centre, partials, stream);
}

// One block per region.
__global__ void __launch_bounds__(JOINERS)
    flows_kernel(const __grid_constant__ lbm_gpu_boundary b, double *rate) {
    const uint8_t region = (uint8_t)(blockIdx.x + 1);
    double sum = 0;
    for (int64_t k = threadIdx.x; k < b.link_count; k += JOINERS) {
        if (b.link_region[k] == region) {
            sum += b.link_flow[k];
            b.link_flow[k] = 0;
        }
    }
    __shared__ double room[JOINERS];
    room[threadIdx.x] = sum;
    for (int width = JOINERS / 2; width > 0; width /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < width) {
            room[threadIdx.x] += room[threadIdx.x + width];
        }
    }
    if (threadIdx.x == 0) {
        rate[region] = room[0];
    }
}

extern "C" cudaError_t lbm_gpu_flows(const lbm_gpu_boundary *boundary, int regions, double *rate,
                                     cudaStream_t stream) {
    if (regions > 0) {
        flows_kernel<<<regions, JOINERS, 0, stream>>>(*boundary, rate);
    }
    return cudaGetLastError();
}
