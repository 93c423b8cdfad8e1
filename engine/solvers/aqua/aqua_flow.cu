// aqua_flow.cu -- the flow between neighbours in f64, one thread per cell, in two passes.
#include "engine/solvers/aqua/aqua_traits.cuh"

enum { TILE_X = 32, TILE_Y = 8, MOST_BLOCKS_Y = 32768 };

// Threads for the cells of a block and of a ring around it, `ring` cells wide.
static dim3 blocks_of(const aqua_gpu_layout &l, int ring) {
    const int rows = ((int)(l.end - l.first) + 2 * ring + TILE_Y - 1) / TILE_Y;
    return dim3((l.nx + 2 * ring + TILE_X - 1) / TILE_X,
                (unsigned)(rows < MOST_BLOCKS_Y ? rows : MOST_BLOCKS_Y));
}

static const dim3 tile(TILE_X, TILE_Y);

// for each row of this thread
#define EACH_ROW(l, ring, x, y)                                                 \
    const int x = (int)(blockIdx.x * TILE_X + threadIdx.x) - (ring);            \
    if (x >= (int)(l).nx + (ring)) {                                            \
        return;                                                                 \
    }                                                                           \
    for (int y = (int)((l).first + blockIdx.y * TILE_Y + threadIdx.y) - (ring); \
         y < (int)(l).end + (ring); y += (int)(gridDim.y * TILE_Y))

typedef aqua_f64 S;

template <int EQUILIBRIUM>
__global__ void __launch_bounds__(TILE_X *TILE_Y)
    factor_kernel(const __grid_constant__ aqua_gpu_flow f) {
    EACH_ROW(f.layout, 1, x, y) {
        const int64_t at = aqua_at(f.layout, x, y);
        const double alpha = f.alphas ? ((const double *)f.alphas)[at] : f.store.alpha;
        double root[AQUA_AROUND], cut;
        ((double *)f.factor)[at] =
            S::aqua_cell(EQUILIBRIUM, alpha, f.store.least, (const double *)f.bed + at,
                         (const double *)f.from + at, (int)f.layout.pitch, root, &cut);
        if (EQUILIBRIUM == AQUA_MINDIFF) {
            ((double *)f.cut)[at] = cut;
        }
    }
}

template <bool CUTS, bool SENT>
__global__ void __launch_bounds__(TILE_X *TILE_Y)
    flux_kernel(const __grid_constant__ aqua_gpu_flow f) {
    if (cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    EACH_ROW(f.layout, 0, x, y) {
        const int64_t at = aqua_at(f.layout, x, y);
        const int pitch = (int)f.layout.pitch;
        const double *bed = (const double *)f.bed + at, *factor = (const double *)f.factor + at;
        const double *cut = (const double *)f.cut + at, *depth = (const double *)f.from + at;
        double out[AQUA_AROUND];
#define FLUX(k, dx, dy)                                                                    \
    {                                                                                      \
        const int u = (dy)*pitch + (dx);                                                   \
        const double root =                                                                \
            S::aqua_root(S::aqua_head(bed[0], bed[u], depth[0], depth[u]), f.store.least); \
        out[k] = CUTS ? S::aqua_flux_cut(root, factor[0], cut[0], factor[u], cut[u])       \
                      : S::aqua_flux(root, factor[0], factor[u]);                          \
    }
        AQUA_NEIGHBOURS(FLUX)
#undef FLUX
        ((double *)f.to)[at] =
            SENT ? S::aqua_after_sent(depth[0], out, (y + 1) % 3) : S::aqua_after(depth[0], out);
    }
}

cudaError_t aqua_gpu_two_pass(const aqua_gpu_flow *f, const march_device *on) {
    const bool cuts = f->equilibrium == AQUA_MINDIFF;
    const auto factors = cuts                          ? factor_kernel<AQUA_MINDIFF>
                         : f->equilibrium == AQUA_MEAN ? factor_kernel<AQUA_MEAN>
                                                       : factor_kernel<AQUA_FILL>;
    const auto gathered = cuts ? flux_kernel<true, false> : flux_kernel<false, false>;
    const auto sent = cuts ? flux_kernel<true, true> : flux_kernel<false, true>;
    factors<<<blocks_of(f->layout, 1), tile, 0, on->stream>>>(*f);
    (f->sent ? sent : gathered)<<<blocks_of(f->layout, 0), tile, 0, on->stream>>>(*f);
    return cudaGetLastError();
}
