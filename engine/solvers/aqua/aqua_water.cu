// aqua_water.cu -- all but the flow: rain, infiltration, sources, ghosts, sums, fields.
//
#include "engine/solvers/aqua/aqua_supply.cuh"
#include "cuda/query.cuh"

enum { THREADS = LOOK_THREADS };

// Calls `launch`, a generic lambda, with the struct of the store and the number of blocks that
// `threads` threads fill.
template <class LAUNCH>
static cudaError_t by_store(const aqua_gpu_flow *f, int64_t threads, LAUNCH launch) {
    const unsigned blocks = (unsigned)((threads + THREADS - 1) / THREADS);
    if (blocks > 0) {
        f->store.whole ? launch(aqua_f32(), blocks) : launch(aqua_f64(), blocks);
    }
    return blocks > 0 ? cudaGetLastError() : cudaSuccess;
}

// Launches the kernel of the store, on `stream`.
#define LAUNCH(f, threads, kernel, ...)                                       \
    by_store(f, threads, [&](auto store, unsigned blocks) {                   \
        kernel<decltype(store)><<<blocks, THREADS, 0, stream>>>(__VA_ARGS__); \
    })

// A warp for each row.
static int64_t threads_of_rows(const aqua_gpu_flow *f) {
    return (int64_t)(f->layout.end - f->layout.first) * CUDA_WARP;
}

// ---- rain and infiltration ----

template <class S, bool STORED, bool TAKES>
__global__ void __launch_bounds__(THREADS, 8)
    supply_kernel(const __grid_constant__ aqua_gpu_flow f,
                  const __grid_constant__ aqua_gpu_spread s) {
    aqua_supply_row<S, STORED, TAKES, void>(f, s, NULL, NULL);
}

cudaError_t aqua_gpu_supply(const aqua_gpu_flow *f, bool takes, const aqua_gpu_spread *s,
                            cudaStream_t stream) {
    static_assert(int(AQUA_SUPPLY_THREADS) == int(THREADS), "blocks are as many");
    return by_store(f, threads_of_rows(f), [&](auto store, unsigned blocks) {
        typedef decltype(store) S;
        const auto kernel =
            s->rate ? (takes ? supply_kernel<S, true, true> : supply_kernel<S, true, false>)
                    : (takes ? supply_kernel<S, false, true> : supply_kernel<S, false, false>);
        kernel<<<blocks, THREADS, 0, stream>>>(*f, *s);
    });
}

// ---- sources ----

// The first thread of a cell adds what all of its sources bring, one after the other.
template <class S>
__global__ void __launch_bounds__(THREADS) source_kernel(const __grid_constant__ aqua_gpu_flow f) {
    const aqua_source_cell *cells = f.source_cells;
    const int64_t count = f.source_cell_count;
    int64_t t = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (t >= count || (t > 0 && cells[t - 1].at == cells[t].at) ||
        !aqua_owns(f.layout, cells[t].at) || cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    const int64_t at = cells[t].at;
    const aqua_dose *doses = (const aqua_dose *)(aqua_amounts_of(f) + AQUA_SUPPLIES);
    typename S::water *water = (typename S::water *)f.from;
    for (; t < count && cells[t].at == at; t++) {
        const aqua_source_cell cell = cells[t];
        const double depth = (double)water[at] + aqua_dose_of(&doses[cell.source], &cell);
        if (depth > f.store.most_poured) {
            aqua_raise(f, 1, at);
        } else {
            water[at] = (typename S::water)depth;
        }
    }
    aqua_mark_at(f, at);
}

cudaError_t aqua_gpu_source(const aqua_gpu_flow *f, cudaStream_t stream) {
    return LAUNCH(f, f->source_cell_count, source_kernel, *f);
}

// ---- ghosts, the frame, edges ----

// The bed of a ghost, also at its periodic images, where the rank has them. Other cells have their
// images from the start on.
template <class S>
__device__ void set_bed_of_ghost(const aqua_gpu_flow &f, int64_t at, typename S::real bed) {
    const aqua_gpu_layout &l = f.layout;
    const int64_t far_x = aqua_image_reach(f.periodic, 0), far_y = aqua_image_reach(f.periodic, 1);
    const int64_t first = (int64_t)l.first * l.pitch;
    const int64_t end = ((int64_t)l.end + 2 * AQUA_HALO) * l.pitch;
    for (int64_t j = -far_y; j <= far_y; j++) {
        for (int64_t i = -far_x; i <= far_x; i++) {
            const int64_t image = aqua_image_of(l.nx, l.ny, l.pitch, at, i, j);
            if (image >= first && image < end) {
                ((typename S::real *)f.bed)[image] = bed;
            }
        }
    }
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    ghosts_kernel(const __grid_constant__ aqua_gpu_flow f, bool beds) {
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= f.ghost_count || cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    const aqua_ghost ghost = f.ghosts[k];
    typename S::water *water = (typename S::water *)f.from;
    const double z = f.levels[cuda_now(f.clock) % CUDA_STEPS * f.stride + k];
    if (beds) { // also of those of other ranks, in the halo
        set_bed_of_ghost<S>(f, ghost.at,
                            (typename S::real)aqua_bed_of(&f.store, aqua_ghost_bed(&ghost, z)));
    }
    if (aqua_owns(f.layout, ghost.at)) {
        water[ghost.at] = (typename S::water)aqua_water_of(&f.store, aqua_ghost_depth(&ghost, z));
        if (ghost.level) {
            aqua_mark_at(f, ghost.at);
        }
    }
}

cudaError_t aqua_gpu_set_ghosts(const aqua_gpu_flow *f, bool beds, cudaStream_t stream) {
    return LAUNCH(f, f->ghost_count, ghosts_kernel, *f, beds);
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    wrap_kernel(const __grid_constant__ aqua_gpu_flow f, void *array) {
    typename S::water *values = (typename S::water *)array;
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const aqua_gpu_layout &l = f.layout;
    int64_t at, from;
    if (k < f.images && aqua_image(l.nx, l.ny, l.pitch, f.periodic, k, &at, &from) &&
        aqua_owns(l, at)) {
        values[at] = values[from];
    }
}

cudaError_t aqua_gpu_wrap(const aqua_gpu_flow *f, void *values, cudaStream_t stream) {
    return LAUNCH(f, values ? f->images : 0, wrap_kernel, *f, values);
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    edge_kernel(const __grid_constant__ aqua_gpu_flow f, int64_t count, sel_total *totals,
                double *flux) {
    const int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (e >= count || !aqua_owns(f.layout, f.edges[e].at) ||
        (totals && cuda_is_halted(f.halted, f.clock))) {
        return;
    }
    typedef typename S::real real;
    const double value =
        (double)S::aqua_edge_flux(&f.edges[e], f.equilibrium, (const real *)f.alphas,
                                  (real)f.store.alpha, (real)f.store.least, (const real *)f.bed,
                                  (const typename S::water *)f.from, (int)f.layout.pitch);
    if (totals) {
        sel_total_more(&totals[e], S::whole, value);
    } else {
        flux[e] = value;
    }
}

cudaError_t aqua_gpu_edges(const aqua_gpu_flow *f, int64_t count, sel_total *totals, double *flux,
                           cudaStream_t stream) {
    return LAUNCH(f, count, edge_kernel, *f, count, totals, flux);
}

// ---- maxima and arrival times ----

template <class S>
__global__ void __launch_bounds__(THREADS) watch_kernel(const __grid_constant__ aqua_gpu_flow f) {
    typename S::water *most = (typename S::water *)f.most;
    const aqua_gpu_layout &l = f.layout;
    const uint32_t y = (uint32_t)row_of_warp(l.first);
    if (y >= l.end || cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    const typename S::water *row = (const typename S::water *)f.to + aqua_at(l, 0, (int)y);
    const int32_t step = (int32_t)(cuda_now(f.clock) + 1);
    for (uint32_t x = threadIdx.x % CUDA_WARP; x < l.nx; x += CUDA_WARP) {
        const int64_t i = (int64_t)y * l.nx + x;
        if (most && !(row[x] <= most[i])) { // NaN too
            most[i] = row[x];
        }
        if (f.arrived && f.arrived[i] < 0 && (double)row[x] >= f.arrival) {
            f.arrived[i] = step;
        }
    }
}

cudaError_t aqua_gpu_watch(const aqua_gpu_flow *f, cudaStream_t stream) {
    return LAUNCH(f, f->most || f->arrived ? threads_of_rows(f) : 0, watch_kernel, *f);
}

// ---- fields ----

struct aqua_grid {
    typedef aqua_gpu_view view;
};

template <class S> struct aqua_looked : look_of_value<aqua_grid> {
    typedef typename S::water last;
    static constexpr bool whole = S::whole;

    // The depth in units of the store.
    static __device__ __forceinline__ last depth(const view &v, const uint32_t at[3]) {
        const int64_t cell = aqua_at(v.flow.layout, (int)at[0], (int)at[1]);
        return ((const last *)cuda_part(v.water, cell))[cell];
    }

    static __device__ int field(const view &v, int which, const uint32_t at[3], double *out) {
        const int64_t i = number(v, at);
        const last water = aqua_is_greatest(which) ? ((const last *)v.flow.most)[i] : depth(v, at);
        const int32_t step = v.flow.arrived ? v.flow.arrived[i] : -1;
        *out = aqua_field_of(which, v.ground ? v.ground[i] : 0, value_of(v, water),
                             step < 0 ? -1 : step * v.dt);
        return 1;
    }

    static __device__ double main(const view &v, const uint32_t at[3], double *u, double *small) {
        return *small = *u = value_of(v, depth(v, at));
    }

    static __device__ __forceinline__ double value_of(const view &v, last kept) {
        return (double)kept * v.metre;
    }

    static __device__ __forceinline__ last last_of(const view &v, double metres) {
        return (last)(metres / v.metre); // exact: a power of two
    }

    static __device__ __forceinline__ double amount(const view &v, const uint32_t at[3]) {
        return (double)depth(v, at);
    }
};

const cuda_look *aqua_gpu_look(bool whole) {
    return whole ? look_of<aqua_looked<aqua_f32>>() : look_of<aqua_looked<aqua_f64>>();
}
