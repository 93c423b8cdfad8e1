// diffusion.cu -- reads and sums of conducting bodies, what enters through their surfaces, and
// parts of implicit steps.
#include "engine/solvers/diffusion/diffusion_kernels_cuda.h"

#include "cuda/query.cuh"

struct body_cell {
    typedef diffusion_view view;
};

// What query.cuh asks for.
struct body_look : look_of_value<body_cell> {
    // The grid with the block of the cell.
    static __device__ heat_view with(const view &v, const cuda_parts &from,
                                     const int64_t place[3]) {
        heat_view heat = v.heat;
        const int64_t element = v.first + heat_place(heat.stride, place);
        heat.from = (const char *)cuda_part(from, element) + v.first * (heat.single ? 4 : 8);
        return heat;
    }

    static __device__ int values(const view &v, const cuda_parts &from, int what,
                                 const uint32_t at[3], double *out) {
        const int64_t place[3] = {at[0], at[1], at[2]};
        const heat_view heat = with(v, from, place);
        return heat_values(&heat, what, place, out);
    }

    static __device__ double number(const view &v, const cuda_parts &from, const uint32_t at[3]) {
        const int64_t place[3] = {at[0], at[1], at[2]};
        const heat_view heat = with(v, from, place);
        return heat_number(&heat, heat.from, heat_place(heat.stride, place));
    }

    static __device__ int field(const view &v, int which, const uint32_t at[3], double *out) {
        return values(v, v.from, v.heat.field[which], at, out);
    }

    static __device__ double main(const view &v, const uint32_t at[3], double *u, double *small) {
        values(v, v.from, HEAT_VALUE, at, u);
        return *small = *u;
    }

    static __device__ double amount(const view &v, const uint32_t at[3]) {
        double value;
        if (v.sum == HEAT_VALUE) {
            return number(v, v.from, at) - number(v, v.before, at);
        }
        values(v, v.from, v.sum, at, &value);
        return value;
    }
};

extern "C" const cuda_look *diffusion_gpu_look() {
    return look_of<body_look>();
}

enum { THREADS = 128 };

static __global__ void entering_kernel(const __grid_constant__ heat_view v,
                                       const __grid_constant__ diffusion_given given, int64_t first,
                                       int64_t end, bool changes) {
    const int64_t k = first + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= end) {
        return;
    }
    int64_t at[3];
    heat_at(&v, given.cell[k], at);
    if (heat_has(&v, at)) {
        heat_entering(&v, &given, k, changes);
    }
}

extern "C" cudaError_t diffusion_gpu_entering(const heat_view *view, const diffusion_given *given,
                                              int64_t first, int64_t end, bool changes,
                                              cudaStream_t stream) {
    if (end > first) {
        const unsigned blocks = (unsigned)((end - first + THREADS - 1) / THREADS);
        entering_kernel<<<blocks, THREADS, 0, stream>>>(*view, *given, first, end, changes);
    }
    return cudaGetLastError();
}

// ---- implicit steps ----

static __device__ int64_t number() {
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

static __global__ void load_kernel(const __grid_constant__ diffusion_gpu_step s) {
    const int64_t i = s.first + number();
    if (i < s.first + s.count) {
        s.u[i] = heat_number(&s.view, s.view.from, i);
    }
}

static __global__ void right_side_kernel(const __grid_constant__ diffusion_gpu_step s) {
    const heat_view &v = s.view;
    const bool deep = v.dims == 3;
    const int64_t planes = v.end - v.first;
    const int64_t n[3] = {v.n[0], deep ? v.high - v.low : planes, deep ? planes : 1};
    int y, z;
    cuda_row_of_block(n, y, z);
    const int64_t at[3] = {number(), deep ? v.low + y : v.first + y, deep ? v.first + z : 0};
    const int64_t i = heat_place(v.stride, at);
    if (at[0] < n[0] && y < n[1]) {
        s.F[i] = heat_right_side(&v, at, s.mass ? s.mass[i] : s.uniform, s.u[i], s.F[i]);
    }
}

static __global__ void right_surfaces_kernel(const __grid_constant__ diffusion_gpu_step s) {
    const int64_t k = s.surfaces[0] + number();
    if (k < s.surfaces[1]) {
        int64_t at[3];
        heat_at(&s.view, s.given.cell[k], at);
        const int64_t i = heat_place(s.view.stride, at);
        if (heat_has(&s.view, at)) {
            heat_right_surface(&s.given, k, s.mass ? s.mass[i] : s.uniform, &s.u[i], &s.F[i]);
        }
    }
}

static __global__ void store_kernel(const __grid_constant__ diffusion_gpu_step s) {
    const int64_t i = s.first + number();
    if (i < s.first + s.count && !cuda_is_halted(s.halted, s.clock)) {
        if (s.view.single) {
            ((float *)s.view.to)[i] = (float)s.u[i];
        } else {
            ((double *)s.view.to)[i] = s.u[i];
        }
    }
}

extern "C" cudaError_t diffusion_gpu_load(const diffusion_gpu_step *s, cudaStream_t stream) {
    load_kernel<<<cuda_shares(s->count, THREADS), THREADS, 0, stream>>>(*s);
    return cudaGetLastError();
}

extern "C" cudaError_t diffusion_gpu_right_side(const diffusion_gpu_step *s, cudaStream_t stream) {
    const heat_view *v = &s->view;
    const int64_t planes = v->end - v->first, sites = s->surfaces[1] - s->surfaces[0];
    const bool deep = v->dims == 3;
    const int64_t n[3] = {v->n[0], deep ? v->high - v->low : planes, deep ? planes : 1};
    const dim3 cells = cuda_blocks_of_rows(cuda_shares(n[0], THREADS), n);
    right_side_kernel<<<cells, THREADS, 0, stream>>>(*s);
    if (sites > 0) {
        right_surfaces_kernel<<<cuda_shares(sites, THREADS), THREADS, 0, stream>>>(*s);
    }
    return cudaGetLastError();
}

extern "C" cudaError_t diffusion_gpu_store(const diffusion_gpu_step *s, cudaStream_t stream) {
    store_kernel<<<cuda_shares(s->count, THREADS), THREADS, 0, stream>>>(*s);
    return cudaGetLastError();
}
