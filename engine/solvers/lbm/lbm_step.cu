// lbm_step.cu -- one time step on the device: stream, bounce, collide, store; then wet cells again.
//
// A thread owns a cell: it pulls the populations that stream to it from one copy, collides them and
// stores them in the other. Boundary cells have a bit each, in one word per warp:
//
//     from  o  o  o                  x      0   1  ...  12  ...  31   a warp: 32 places of a row
//            \ | /                   cell   B   o  ...   W  ...   o
//           o--g--o  -> collide      bit    1   0  ...   1  ...   0   words[index / 32]
//            / | \      -> to        data   cells[before[index / 32] + set bits of lanes before]
//           o  o  o
//                            o  pull, collide, store; a warp whose word is 0 reads nothing else
//     g_i comes from x - e_i B  pull, replace what crosses walls and slip faces, collide, store
//                            W  as B; then close_kernel computes and stores the cell again
//
// W are cells with wet faces, cells where two moving walls share a link or walls are straight
// (lbm_boundary_cell.again), and cells at moving walls whose values are evaluated several steps
// ahead: in the first kernel their closures would cost every cell registers. Interpolated links
// are part of the first kernel, in a variant for domains that have some. An observed step, by
// kernels of its own, also stores what links carry, and the strain, from the populations g. If much
// of the grid is solid, blocks and warps without a free cell are skipped (free_blocks); else no
// thread waits for this information.
#include "engine/solvers/lbm/lbm_strain.cuh"
#include "cuda/early.cuh"

template <class T> struct populations { real_of<T> of[T::q]; };

template <class T> static __device__ __forceinline__ populations<T> copy_of(const real_of<T> g[]) {
    populations<T> copy;
#pragma unroll
    for (int i = 0; i < T::q; i++) {
        copy.of[i] = g[i];
    }
    return copy;
}

// Stores the strain of a cell from its populations before collision. A call for the sake of the
// steps without strain (see lbm_gpu_keep_strain); with a copy of the populations, which else would
// lie in memory all the time.
template <class T>
static __device__ __noinline__ void keep_strain(const lbm_gpu_step &s, uint32_t index, uint32_t x,
                                                uint32_t y, uint32_t z, const populations<T> *come,
                                                const real_of<T> *differences) {
    typedef typename in_f64<T::dims>::type D;
    double g[D::q];
    for (int i = 0; i < D::q; i++) {
        g[i] = (double)come->of[i];
    }
    const typename D::lbm_cell_moments in = D::lbm_moments_of(g);
    lbm_gpu_keep_strain<T>(s, index, x, y, z, &in, differences);
}

// Adds what a cell of a closed region gains along interpolated links.
template <class T>
static __device__ __forceinline__ void add_gain(const lbm_gpu_step &s,
                                                const lbm_boundary_cell &cell, double gain) {
    if (cell.closed && s.boundary.gain) {
        atomicAdd((unsigned long long *)(s.boundary.gain + cell.first_link),
                  (unsigned long long)T::lbm_gain(gain)); // as count_flow
    }
}

template <class T, int COLLISION, bool PLAIN, bool WALLS, bool CUTS, bool OBSERVED>
__global__ void __launch_bounds__(LBM_BLOCK, sizeof(real_of<T>) == 4 ? 8 : 5)
    step_kernel(const __grid_constant__ lbm_gpu_step s) {
    cuda_wait_for_last();
    cuda_let_next_begin();
    const lbm_gpu_layout &l = s.layout;
    uint32_t block = blockIdx.x;
    if (WALLS && s.boundary.free_blocks) {
        const lbm_gpu_block free = s.boundary.free_blocks[block];
        if (!(free.warps >> (threadIdx.y * l.block_width + threadIdx.x) / CUDA_WARP & 1u)) {
            return;
        }
        block = free.number;
    }
    const uint32_t row_block = block / l.blocks_per_row;
    const uint32_t x = (block - row_block * l.blocks_per_row) * l.block_width + threadIdx.x;
    const uint32_t row = l.first_row + row_block * l.block_rows + threadIdx.y;
    if (row >= l.end_row) {
        return;
    }
    if (x >= l.nx || cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    const uint32_t z = T::dims == 3 ? row / l.rows : 0, y = row - z * l.rows + l.halo;
    uint32_t index = row * l.pitch + x;
    if (T::dims == 3 && l.halo) {
        index += z * (l.slice - l.rows * l.pitch) + l.halo * l.pitch;
    }
    const uint32_t lane = index % CUDA_WARP;
    uint32_t bits = 0, word = 0;
    if (WALLS && (!OBSERVED || s.boundary.cell_count > 0)) {
        word = index / CUDA_WARP;
        bits = s.boundary.words[word];
    }
    const typename T::place p = T::make_place(l, x, y, z);
    typename T::lbm_rates rates;
    if (PLAIN) {
        rates.omega_even = (real_of<T>)s.omega_even;
        rates.omega_odd = (real_of<T>)s.omega_odd;
    } else {
        rates = T::rates_of(s, index);
    }
    real_of<T> g[T::q];
    T::pull((const real_of<T> *)s.from, l.plane, p, g);
    bool again = false;
    if (WALLS && bits >> lane & 1u) {
        const uint32_t before = __popc(bits & ((1u << lane) - 1u));
        const lbm_boundary_cell cell = s.boundary.cells[s.boundary.before[word] + before];
        const typename T::sent own = T::template sent_by<false>(s, index);
        T::template bounce<false>(s, cell, s.boundary.link_add, p, own, g);
        if (CUTS && cell.cut && !cell.again) {
            add_gain<T>(s, cell,
                        T::template interpolate<false>(s, cell, s.boundary.link_add, own, g));
        }
        // walls at rest that are half-way pass no mass
        const bool passes = cell.moves || cell.links != cell.bounced || (CUTS && cell.cut);
        if (s.boundary.link_flow && passes && !cell.again) {
            T::template count_flow<false>(s, cell, own, g);
        }
        if (OBSERVED) {
            again = cell.again;
            if (s.boundary.links && !again) {
                T::template keep_links<false>(s, cell, own, g);
            }
        }
    }
    if (OBSERVED && s.strains && !again) {
        const populations<T> come = copy_of<T>(g);
        keep_strain<T>(s, index, x, y - l.halo + (T::dims == 3 ? l.low : l.base),
                       T::dims == 3 ? z + l.base : 0, &come, NULL);
    }
    T::lbm_collide(g, &rates, COLLISION, !PLAIN, !PLAIN && s.les);
    T::store((real_of<T> *)s.to, l.plane, index, g);
}

// Computes the cells W again, or all cells; cells of one kind are neighbours in the list. There are
// few warps, so the latency of the instructions counts: the kernel starts together with
// step_kernel, which has the same `from`, and stores after it has finished.
template <class T, bool KEEPS, bool MOMENTS, bool OBSERVED>
__global__ void __launch_bounds__(LBM_BLOCK) close_kernel(const __grid_constant__ lbm_gpu_step s) {
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (MOMENTS && s.gathers) { // no other kernel comes before
        cuda_wait_for_last();
        cuda_let_next_begin();
    }
    if (k >= s.boundary.again_count) {
        cuda_wait_for_last();
        return;
    }
    const lbm_boundary_cell cell = s.boundary.cells[s.boundary.again[k]];
    cuda_see_completed();
    const bool halted = cuda_is_halted(s.halted, s.clock);
    const typename T::lbm_rates rates = T::rates_of(s, cell.index);
    const typename T::sent own = T::template sent_by<MOMENTS>(s, cell.index);
    real_of<T> g[T::q], entered[T::q];
    const double gain = T::template gather<KEEPS, MOMENTS>(
        s, cell, T::make_place(s.layout, cell.index), rates, own, g, entered);
    if (!halted) {
        add_gain<T>(s, cell, gain);
    }
    if (s.boundary.link_flow && !halted) {
        T::template count_flow<MOMENTS>(s, cell, own, entered);
    }
    if (OBSERVED && s.boundary.links && !halted) {
        T::template keep_links<MOMENTS>(s, cell, own, entered);
    }
    real_of<T> differences[T::differences];
    if (MOMENTS && s.collision == LBM_HYBRID) {
        T::differences_beside(s, cell, T::make_place(s.layout, cell.index), differences);
    }
    if (OBSERVED && s.strains && !halted) {
        const populations<T> come = copy_of<T>(g);
        keep_strain<T>(s, cell.index, cell.x, cell.row % s.layout.ny, cell.row / s.layout.ny, &come,
                       differences);
    }
    if (MOMENTS) {
        const typename T::lbm_cell_moments in = T::lbm_moments_of(g);
        const typename T::lbm_cell_moments m =
            T::lbm_collide_moments(&in, &rates, s.collision, s.forced, s.les, differences);
        cuda_wait_for_last();
        if (!halted) {
            T::lbm_put_moments(&m, (real_of<T> *)s.to + cell.index, s.layout.plane);
        }
        return;
    }
    T::lbm_collide(g, &rates, s.collision, s.forced, s.les);
    cuda_wait_for_last();
    if (!halted) {
        T::store((real_of<T> *)s.to, s.layout.plane, cell.index, g);
    }
}

template <class T, int COLLISION, bool PLAIN, bool WALLS, bool CUTS, bool OBSERVED>
static cudaError_t launch(const lbm_gpu_step *s, cudaStream_t stream) {
    const dim3 threads(s->layout.block_width, s->layout.block_rows);
    cudaError_t code = cuda_launch_early(step_kernel<T, COLLISION, PLAIN, WALLS, CUTS, OBSERVED>,
                                         s->block_count, threads, stream, *s);
    if (code == cudaSuccess && WALLS && s->boundary.again_count > 0) {
        const uint32_t blocks = (s->boundary.again_count + LBM_BLOCK - 1) / LBM_BLOCK;
        code = cuda_launch_early(close_kernel<T, (COLLISION >= LBM_REGULARIZED), false, OBSERVED>,
                                 blocks, LBM_BLOCK, stream, *s);
    }
    return code;
}

template <class T, int COLLISION, bool PLAIN>
static cudaError_t choose_kernel(const lbm_gpu_step *s, cudaStream_t stream) {
    if (s->observed) {
        return launch<T, COLLISION, PLAIN, true, true, true>(s, stream);
    }
    if (s->boundary.link_cut) {
        return launch<T, COLLISION, PLAIN, true, true, false>(s, stream);
    }
    return s->boundary.cell_count > 0 ? launch<T, COLLISION, PLAIN, true, false, false>(s, stream)
                                      : launch<T, COLLISION, PLAIN, false, false, false>(s, stream);
}

template <class T, int COLLISION>
static cudaError_t choose_forcing(const lbm_gpu_step *s, cudaStream_t stream) {
    return !s->forced && !s->les ? choose_kernel<T, COLLISION, true>(s, stream)
                                 : choose_kernel<T, COLLISION, false>(s, stream);
}

template <class T> static cudaError_t choose_collision(const lbm_gpu_step *s, cudaStream_t stream) {
    switch (s->collision) {
    case LBM_TRT:
        return choose_forcing<T, LBM_TRT>(s, stream);
    case LBM_BGK:
        return choose_forcing<T, LBM_BGK>(s, stream);
    case LBM_REGULARIZED:
        return choose_forcing<T, LBM_REGULARIZED>(s, stream);
    default:
        return choose_forcing<T, LBM_RECURSIVE>(s, stream);
    }
}

#ifndef LBM_STEP_TRAITS
#error "compiled once per lattice and precision, with -DLBM_STEP_TRAITS=d2q9_f32 and so on"
#endif
#define JOIN(a, b) a##b
#define NAME(prefix, traits) JOIN(prefix, traits)

extern "C" cudaError_t NAME(lbm_gpu_step_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                            cudaStream_t stream) {
    return choose_collision<LBM_STEP_TRAITS>(step, stream);
}

// The boundary cells of a step of stored moments.
template <class T, bool OBSERVED>
static cudaError_t close_moments(const lbm_gpu_step *s, cudaStream_t stream) {
    const uint32_t blocks = (s->boundary.again_count + LBM_BLOCK - 1) / LBM_BLOCK;
    return blocks == 0 ? cudaSuccess
                       : cuda_launch_early(close_kernel<T, true, true, OBSERVED>, blocks, LBM_BLOCK,
                                           stream, *s);
}

extern "C" cudaError_t NAME(lbm_gpu_close_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                             cudaStream_t stream) {
    return step->observed ? close_moments<LBM_STEP_TRAITS, true>(step, stream)
                          : close_moments<LBM_STEP_TRAITS, false>(step, stream);
}
