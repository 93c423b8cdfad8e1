// lbm_fields.cu -- fields of the flow for outputs, the populations of step 0, and the data of an
// observed step: momentum and mass through links, strain rate and stress.
//
// A step is observed just before it is computed: populations are pulled and closed as in the step
// itself, stored, and not collided.
#include "cuda/lbm_view.cuh"
#include "cuda/machine/look.cuh"

enum { THREADS = LOOK_THREADS, JOINERS = LOOK_JOINED, ROWS_PER_BLOCK = LOOK_ROWS };

// Blocks for a thread per cell of a block of the grid, or for several cells per thread.
static unsigned blocks_of(const lbm_gpu_layout &l) {
    const int64_t blocks = ((int64_t)l.nx * (l.end_row - l.first_row) + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20);
}

// ---- fields ----

extern "C" const cuda_look *lbm_gpu_look(int dims, int bytes) {
    return dims == 2    ? bytes == 4 ? look_of<lbm_look<d2q9_f32, d2q9_f64>>()
                                     : look_of<lbm_look<d2q9_f64, d2q9_f64>>()
              : bytes == 4 ? look_of<lbm_look<d3q19_f32, d3q19_f64>>()
                        : look_of<lbm_look<d3q19_f64, d3q19_f64>>();
}

// ---- the start ----

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    start_kernel(const __grid_constant__ lbm_gpu_view v, const double *values,
                 typename T::real *to) {
    typedef lbm_look<T, D> look;
    const lbm_gpu_layout &l = v.last.layout;
    const int64_t cells = (int64_t)l.nx * l.ny * l.nz, step = (int64_t)gridDim.x * blockDim.x;
    const int64_t first = (int64_t)l.first_row * l.nx, end = (int64_t)l.end_row * l.nx;
    for (int64_t k = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < end; k += step) {
        const uint32_t at[3] = {(uint32_t)(k % l.nx), (uint32_t)(k / l.nx % l.ny),
                                (uint32_t)(k / l.nx / l.ny)};
        const uint32_t index = look::index_of(l, at[0], at[1], at[2]);
        double g[D::q];
        for (int i = 0; i < D::q; i++) {
            g[i] = 0;
        }
        if (!look::is_solid(v, at[0], at[1], at[2])) {
            double u[D::dims] = {0}, d[3][3] = {{0}}, strain[D::parts], a[D::dims], drho = 0;
            if (values) {
                auto given = [&](uint32_t x, uint32_t y, uint32_t z, double *to_u) {
                    const int64_t cell = ((int64_t)z * l.ny + y) * l.nx + x;
                    for (int c = 0; c < D::dims; c++) {
                        to_u[c] = values[(c + 1) * cells + cell];
                    }
                };
                drho = values[k];
                given(at[0], at[1], at[2], u);
                look::gradient(v, at, given, d);
            }
            lbm_gradient_strain(d, D::dims, strain);
            look::acceleration(v, index, a);
            const double eddies = lbm_eddy_viscosity(v.last.eddy, d);
            D::lbm_start(drho, u, strain, v.last.tau + 3 * eddies, a, g);
        }
        for (int i = 0; i < D::q; i++) {
            to[i * l.plane + index] = (typename T::real)g[i];
        }
    }
}

template <class T, class D>
static cudaError_t start(const lbm_gpu_view *v, const double *values, void *to,
                         cudaStream_t stream) {
    start_kernel<T, D>
        <<<blocks_of(v->last.layout), THREADS, 0, stream>>>(*v, values, (typename T::real *)to);
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_start(const lbm_gpu_view *view, const double *values, void *to,
                                     cudaStream_t stream) {
    return LBM_DISPATCH(view->last, start, view, values, to, stream);
}

// ---- observing ----

// A thread per boundary cell.
template <class T>
__global__ void __launch_bounds__(THREADS) keep_links(const __grid_constant__ lbm_gpu_step s) {
    const uint32_t k = s.boundary.first_cell + blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.boundary.end_cell || cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    const lbm_gpu_cell cell = s.boundary.cells[k];
    typename T::real g[T::q];
    T::gather(s, cell, T::make_place(s.layout, cell.index), T::rates_of(s, cell.index), g);
    T::keep_links(s, cell, g);
}

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    keep_strain(const __grid_constant__ lbm_gpu_view v, bool initially) {
    typedef lbm_look<T, D> look;
    const lbm_gpu_layout &l = v.last.layout;
    const int64_t cells = (int64_t)l.nx * l.ny * l.nz, step = (int64_t)gridDim.x * blockDim.x;
    if (cuda_is_halted(v.last.halted, v.last.clock)) {
        return;
    }
    const int64_t first = (int64_t)l.first_row * l.nx, end = (int64_t)l.end_row * l.nx;
    for (int64_t k = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < end; k += step) {
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
    const uint32_t cells = b.end_cell - b.first_cell;
    if (b.links && cells > 0) {
        keep_links<T><<<(cells + THREADS - 1) / THREADS, THREADS, 0, stream>>>(v->last);
    }
    if (v->strain[0] || v->strain[1]) {
        keep_strain<T, D><<<blocks_of(v->last.layout), THREADS, 0, stream>>>(*v, initially);
    }
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_observe(const lbm_gpu_view *view, bool initially,
                                       cudaStream_t stream) {
    return LBM_DISPATCH(view->last, observe, view, initially, stream);
}

// ---- sums over links ----

static __device__ void join(lbm_carried &a, const lbm_carried &b) {
    for (int k = 0; k < 3; k++) {
        a.force[k] += b.force[k];
        a.torque[k] += b.torque[k];
    }
    a.mass += b.mass;
}

static __device__ void clear(lbm_carried &a) {
    a = {{0, 0, 0}, {0, 0, 0}, 0};
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    links_kernel(const __grid_constant__ lbm_gpu_step s, int region, double cx, double cy,
                 double cz, lbm_carried *partials) {
    const double centre[3] = {cx, cy, cz};
    lbm_carried mine;
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
            lbm_carry(&mine, e, out, in, at, centre);
        });
    }
    __shared__ double room[ROWS_PER_BLOCK][sizeof(lbm_carried) / sizeof(double)];
    join_lanes(mine);
    if (threadIdx.x % CUDA_WARP == 0) {
        *(lbm_carried *)room[threadIdx.x / CUDA_WARP] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < ROWS_PER_BLOCK; w++) {
            join(mine, *(const lbm_carried *)room[w]);
        }
        partials[blockIdx.x] = mine;
    }
}

template <class T, class D>
static cudaError_t carried(const lbm_gpu_step *s, int region, const double centre[3],
                           lbm_carried *partials, cudaStream_t stream) {
    links_kernel<T><<<LBM_GPU_LINK_BLOCKS, THREADS, 0, stream>>>(*s, region, centre[0], centre[1],
                                                                 centre[2], partials);
    return join_all(partials, LBM_GPU_LINK_BLOCKS, stream);
}

extern "C" cudaError_t lbm_gpu_links(const lbm_gpu_step *step, int region, const double centre[3],
                                     lbm_carried *partials, cudaStream_t stream) {
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
