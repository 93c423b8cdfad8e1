// aqua_water.cu -- what comes and goes besides the flow: rain, soil, sources, ghosts, and the
// books.
//
// Rows are done by a warp each: its lanes take every 32nd cell and then join what they booked by a
// fixed tree, so that sums do not depend on which block ran when.
#include "cuda/aqua_traits.cuh"
#include "cuda/machine/look.cuh"

enum { THREADS = LOOK_THREADS };

static unsigned blocks_for(int64_t threads) {
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

// ---- rain and soil ----

// What cell i of the grid is due in this step.
template <class S, bool FIELD>
static __device__ typename S::water due(const aqua_gpu_spread &s, int64_t i, double uniform) {
    typedef typename S::real real;
    if (s.solid[i]) {
        return 0;
    }
    return FIELD ? S::part_of(((const real *)s.rate)[i], (real *)s.owed + i)
                 : (typename S::water)uniform;
}

template <class S, bool FIELD, bool TAKES>
__global__ void __launch_bounds__(THREADS)
    spread_kernel(aqua_gpu_layout l, cuda_clock clock, typename S::water *water, uint8_t *marks,
                  const __grid_constant__ aqua_gpu_spread s) {
    typedef typename S::water depth;
    const uint32_t y = row_of_warp();
    if (y >= l.ny) {
        return;
    }
    const double uniform = FIELD ? 0 : s.uniform[cuda_now(clock) % CUDA_STEPS];
    depth *row = water + aqua_at(l, 0, (int)y);
    double sum = 0;
    for (uint32_t x = threadIdx.x % CUDA_WARP; x < l.nx; x += CUDA_WARP) {
        const depth amount = due<S, FIELD>(s, (int64_t)y * l.nx + x, uniform);
        const depth part = TAKES && row[x] < amount ? row[x] : amount;
        row[x] += TAKES ? -part : part;
        if (marks && part != 0) {
            aqua_mark(l, marks, x, y);
        }
        sum += (double)part;
    }
    if (s.booked) {
        join_lanes(sum);
        if (threadIdx.x % CUDA_WARP == 0) {
            sel_total_more(&s.booked[y], S::whole, sum);
        }
    }
}

template <class S, bool TAKES>
static cudaError_t spread(const aqua_gpu_layout *l, cuda_clock clock, void *water, uint8_t *marks,
                          const aqua_gpu_spread *s, cudaStream_t stream) {
    typename S::water *depths = (typename S::water *)water;
    if (s->uniform) {
        spread_kernel<S, false, TAKES>
            <<<row_blocks(l->ny), THREADS, 0, stream>>>(*l, clock, depths, marks, *s);
    } else {
        spread_kernel<S, true, TAKES>
            <<<row_blocks(l->ny), THREADS, 0, stream>>>(*l, clock, depths, marks, *s);
    }
    return cudaGetLastError();
}

cudaError_t aqua_gpu_pour(const aqua_gpu_layout *layout, bool whole, cuda_clock clock, void *water,
                          uint8_t *marks, const aqua_gpu_spread *rain, cudaStream_t stream) {
    return whole ? spread<aqua_f32, false>(layout, clock, water, marks, rain, stream)
                 : spread<aqua_f64, false>(layout, clock, water, marks, rain, stream);
}

cudaError_t aqua_gpu_soak(const aqua_gpu_layout *layout, bool whole, cuda_clock clock, void *water,
                          const aqua_gpu_spread *soil, cudaStream_t stream) {
    return whole ? spread<aqua_f32, true>(layout, clock, water, NULL, soil, stream)
                 : spread<aqua_f64, true>(layout, clock, water, NULL, soil, stream);
}

// ---- sources ----

template <class S>
__global__ void __launch_bounds__(THREADS)
    source_kernel(aqua_gpu_layout l, cuda_clock clock, typename S::water *water, uint8_t *marks,
                  const aqua_gpu_tap *taps, uint32_t count, const aqua_dose *doses, int sources,
                  double most_poured, uint64_t *alarm) {
    const uint32_t t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= count) {
        return;
    }
    const int64_t now = cuda_now(clock);
    const aqua_gpu_tap tap = taps[t];
    const aqua_dose dose = doses[now % CUDA_STEPS * sources + tap.source];
    if (S::whole) {
        const uint32_t behind =
            tap.k >= dose.turn ? tap.k - dose.turn : tap.k + (tap.count - dose.turn);
        const double depth = (double)water[tap.at] + dose.each + (behind < dose.odd ? 1 : 0);
        if (depth > most_poured) {
            aqua_raise_at(alarm, 2 * now + 1, tap.at);
        } else {
            water[tap.at] = (typename S::water)depth;
        }
    } else {
        water[tap.at] += (typename S::water)dose.each;
    }
    aqua_mark_at(l, marks, tap.at);
}

cudaError_t aqua_gpu_source(const aqua_gpu_layout *layout, bool whole, cuda_clock clock,
                            void *water, uint8_t *marks, const aqua_gpu_tap *taps, uint32_t count,
                            const aqua_dose *doses, int sources, double most_poured,
                            uint64_t *alarm, cudaStream_t stream) {
    if (count == 0) {
        return cudaSuccess;
    }
    if (whole) {
        source_kernel<aqua_f32><<<blocks_for(count), THREADS, 0, stream>>>(
            *layout, clock, (int32_t *)water, marks, taps, count, doses, sources, most_poured,
            alarm);
    } else {
        source_kernel<aqua_f64><<<blocks_for(count), THREADS, 0, stream>>>(
            *layout, clock, (double *)water, marks, taps, count, doses, sources, most_poured,
            alarm);
    }
    return cudaGetLastError();
}

// ---- ghosts and the frame ----

template <class S>
__global__ void __launch_bounds__(THREADS)
    settle_kernel(aqua_gpu_layout l, const __grid_constant__ aqua_gpu_ghosts g,
                  typename S::real *bed, typename S::water *water, uint8_t *marks) {
    const uint32_t k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= g.count) {
        return;
    }
    const double ground = g.ground[k], z = g.z[k];
    const bool level = g.level[k];
    if (bed) {
        bed[g.at[k]] = S::bed_of(level ? aqua_level_bed(ground, z) : ground, g.datum, g.per_metre);
    }
    if (water) {
        water[g.at[k]] = S::water_of(level ? aqua_level_depth(ground, z) : 0, g.per_metre);
        if (level) {
            aqua_mark_at(l, marks, g.at[k]);
        }
    }
}

cudaError_t aqua_gpu_settle(const aqua_gpu_layout *layout, const aqua_gpu_ghosts *ghosts,
                            bool whole, void *bed, void *water, uint8_t *marks,
                            cudaStream_t stream) {
    if (ghosts->count == 0) {
        return cudaSuccess;
    }
    if (whole) {
        settle_kernel<aqua_f32><<<blocks_for(ghosts->count), THREADS, 0, stream>>>(
            *layout, *ghosts, (float *)bed, (int32_t *)water, marks);
    } else {
        settle_kernel<aqua_f64><<<blocks_for(ghosts->count), THREADS, 0, stream>>>(
            *layout, *ghosts, (double *)bed, (double *)water, marks);
    }
    return cudaGetLastError();
}

static __device__ int wrapped(int at, int n) {
    return (at % n + n) % n;
}

// Cells of the four rows beyond the ends of y, and of the four columns beyond those of x.
template <class T>
__global__ void __launch_bounds__(THREADS)
    wrap_kernel(aqua_gpu_layout l, bool along_x, bool along_y, T *values) {
    const int64_t t = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int nx = (int)l.nx, ny = (int)l.ny, width = nx + 2 * AQUA_GPU_HALO;
    int x, y;
    if (t < 4 * (int64_t)width) {
        const int row = (int)(t / width);
        x = (int)(t % width) - AQUA_GPU_HALO;
        y = row < AQUA_GPU_HALO ? row - AQUA_GPU_HALO : ny + row - AQUA_GPU_HALO;
    } else {
        const int64_t rest = t - 4 * (int64_t)width;
        const int column = (int)(rest % 4);
        if (rest >= 4 * (int64_t)ny) {
            return;
        }
        x = column < AQUA_GPU_HALO ? column - AQUA_GPU_HALO : nx + column - AQUA_GPU_HALO;
        y = (int)(rest / 4);
    }
    const int from_x = along_x ? wrapped(x, nx) : x, from_y = along_y ? wrapped(y, ny) : y;
    if (from_x != x || from_y != y) {
        values[aqua_at(l, x, y)] = values[aqua_at(l, from_x, from_y)];
    }
}

cudaError_t aqua_gpu_wrap(const aqua_gpu_layout *layout, const bool periodic[2], int bytes,
                          void *values, cudaStream_t stream) {
    if (!periodic[0] && !periodic[1]) {
        return cudaSuccess;
    }
    const int64_t frame = 4 * ((int64_t)layout->nx + 2 * AQUA_GPU_HALO) + 4 * (int64_t)layout->ny;
    if (bytes == 4) {
        wrap_kernel<uint32_t><<<blocks_for(frame), THREADS, 0, stream>>>(
            *layout, periodic[0], periodic[1], (uint32_t *)values);
    } else {
        wrap_kernel<uint64_t><<<blocks_for(frame), THREADS, 0, stream>>>(
            *layout, periodic[0], periodic[1], (uint64_t *)values);
    }
    return cudaGetLastError();
}

// ---- edges ----

// What an edge carries, with its sign.
template <class S> static __device__ double carried(const aqua_gpu_flow &f, const aqua_edge &edge) {
#define OFFSET(k, dx, dy) (dy) * (int)f.layout.pitch + (dx),
    const int offset[AQUA_AROUND] = {AQUA_NEIGHBOURS(OFFSET)};
#undef OFFSET
    const int along = edge.k;
    typename S::real root = 0;
    const aqua_cell_of<S> c = aqua_look_at<S>(f, f.equilibrium, (uint32_t)edge.at);
    const aqua_cell_of<S> u =
        aqua_look_at<S>(f, f.equilibrium, (uint32_t)edge.at + (uint32_t)offset[along]);
#define ROOT(k, dx, dy) root = along == k ? c.root[k] : root;
    AQUA_NEIGHBOURS(ROOT)
#undef ROOT
    return edge.sign * (double)S::aqua_flux_cut(root, c.factor, c.cut, u.factor, u.cut);
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    edge_kernel(const __grid_constant__ aqua_gpu_flow f, const aqua_edge *edges, int64_t count,
                sel_total *booked, double *flux) {
    const int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (e >= count) {
        return;
    }
    const double value = carried<S>(f, edges[e]);
    if (booked) {
        sel_total_more(&booked[e], S::whole, value);
    } else {
        flux[e] = value;
    }
}

static cudaError_t edges_of(const aqua_gpu_flow *flow, const aqua_edge *edges, int64_t count,
                            sel_total *booked, double *flux, cudaStream_t stream) {
    if (count == 0) {
        return cudaSuccess;
    }
    if (flow->whole) {
        edge_kernel<aqua_f32>
            <<<blocks_for(count), THREADS, 0, stream>>>(*flow, edges, count, booked, flux);
    } else {
        edge_kernel<aqua_f64>
            <<<blocks_for(count), THREADS, 0, stream>>>(*flow, edges, count, booked, flux);
    }
    return cudaGetLastError();
}

cudaError_t aqua_gpu_book(const aqua_gpu_flow *flow, const aqua_edge *edges, int64_t count,
                          sel_total *booked, cudaStream_t stream) {
    return edges_of(flow, edges, count, booked, NULL, stream);
}

cudaError_t aqua_gpu_fluxes(const aqua_gpu_flow *flow, const aqua_edge *edges, int64_t count,
                            double *flux, cudaStream_t stream) {
    return edges_of(flow, edges, count, NULL, flux, stream);
}

// ---- what is watched ----

template <class S>
__global__ void __launch_bounds__(THREADS)
    watch_kernel(aqua_gpu_layout l, cuda_clock clock, const typename S::water *water,
                 typename S::water *most, int32_t *first, double arrival) {
    const uint32_t y = row_of_warp();
    if (y >= l.ny) {
        return;
    }
    const typename S::water *row = water + aqua_at(l, 0, (int)y);
    const int32_t step = (int32_t)(cuda_now(clock) + 1);
    for (uint32_t x = threadIdx.x % CUDA_WARP; x < l.nx; x += CUDA_WARP) {
        const int64_t i = (int64_t)y * l.nx + x;
        if (most && row[x] > most[i]) {
            most[i] = row[x];
        }
        if (first && first[i] < 0 && (double)row[x] >= arrival) {
            first[i] = step;
        }
    }
}

cudaError_t aqua_gpu_watch(const aqua_gpu_layout *layout, bool whole, cuda_clock clock,
                           const void *water, void *most, int32_t *first, double arrival,
                           cudaStream_t stream) {
    if (whole) {
        watch_kernel<aqua_f32><<<row_blocks(layout->ny), THREADS, 0, stream>>>(
            *layout, clock, (const int32_t *)water, (int32_t *)most, first, arrival);
    } else {
        watch_kernel<aqua_f64><<<row_blocks(layout->ny), THREADS, 0, stream>>>(
            *layout, clock, (const double *)water, (double *)most, first, arrival);
    }
    return cudaGetLastError();
}
