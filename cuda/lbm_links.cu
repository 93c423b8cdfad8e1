// lbm_links.cu -- what the links between fluid and boundary carry.
#include "cuda/lbm_view.cuh"
#include "cuda/machine/look.cuh"

enum { THREADS = LOOK_THREADS, JOINERS = LOOK_JOINED, ROWS_PER_BLOCK = LOOK_ROWS };

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

// Adds the link along direction i; torque about `centre` in cells, from the middle of the link.
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

// The links of one lattice written out. Included per lattice, because the directions are macros.
#define LBM_DIMS 2
#include "engine/physics/lbm_lattice.h"
struct d2q9_links {
#include "cuda/lbm_links.cuh"
};
#undef LBM_DIMS
#define LBM_DIMS 3
#include "engine/physics/lbm_lattice.h"
struct d3q19_links {
#include "cuda/lbm_links.cuh"
};
#undef LBM_DIMS

template <class T, class L>
__global__ void __launch_bounds__(THREADS)
    links_kernel(const __grid_constant__ lbm_gpu_view v, int region, double cx, double cy,
                 double cz, lbm_gpu_carried *partials) {
    const lbm_gpu_step &s = v.last;
    const double centre[3] = {cx, cy, cz};
    lbm_gpu_carried mine;
    clear(mine);
    const uint32_t share = (s.boundary.cell_count + gridDim.x - 1) / gridDim.x;
    const uint32_t first = blockIdx.x * share;
    const uint32_t last =
        first + share < s.boundary.cell_count ? first + share : s.boundary.cell_count;
    for (uint32_t c = first + threadIdx.x; c < last; c += blockDim.x) {
        const lbm_gpu_cell cell = s.boundary.cells[c];
        const uint8_t *owner = s.boundary.link_region + cell.first_link;
        bool any = false;
        for (int k = __popc(cell.links) - 1; k >= 0; k--) {
            any = any || owner[k] == region;
        }
        if (any) {
            const typename T::place p = T::make_place(s.layout, cell.index);
            const typename T::lbm_rates rates = T::rates_of(s, cell.index);
            typename T::real g[T::q];
            T::arrive(s, cell, p, rates, g);
            const uint32_t z = cell.index / s.layout.slice, rest = cell.index % s.layout.slice;
            const double at[3] = {(double)(rest % s.layout.pitch), (double)(rest / s.layout.pitch),
                                  (double)z};
            L::add(mine, (const typename T::real *)s.from + cell.index, s.layout.plane, cell.links,
                   owner, region, at, centre, g);
        }
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

template <class T, class L>
static cudaError_t carried(const lbm_gpu_view *v, int region, const double centre[3],
                           lbm_gpu_carried *partials, cudaStream_t stream) {
    links_kernel<T, L><<<LBM_GPU_LINK_BLOCKS, THREADS, 0, stream>>>(*v, region, centre[0],
                                                                    centre[1], centre[2], partials);
    return join_all(partials, LBM_GPU_LINK_BLOCKS, stream);
}

extern "C" cudaError_t lbm_gpu_links(const lbm_gpu_view *view, int region, const double centre[3],
                                     lbm_gpu_carried *partials, cudaStream_t stream) {
    const lbm_gpu_step *s = &view->last;
    if (s->dims == 2) {
        return s->bytes == 4
                   ? carried<d2q9_f32, d2q9_links>(view, region, centre, partials, stream)
                   : carried<d2q9_f64, d2q9_links>(view, region, centre, partials, stream);
    }
    return s->bytes == 4 ? carried<d3q19_f32, d3q19_links>(view, region, centre, partials, stream)
                         : carried<d3q19_f64, d3q19_links>(view, region, centre, partials, stream);
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
