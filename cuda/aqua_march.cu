// aqua_march.cu -- the flow of AQUA-GRAPH in whole quanta, one pass: a warp marches over a strip.
//
// A warp owns 128 columns, four to a lane, and goes up row by row; 124 of them are stored, since
// two on either side only serve their neighbours. When row r is read, the edges between rows r - 1
// and r get their heads and roots, once for both cells; then the cells of row r - 1 know all their
// heads and their factors follow; then the fluxes of row r - 2 are complete and it is stored.
// Neighbours in x are in the same lane or one shuffle away. Nothing is kept but what these three
// rows need, in registers; the loop is unrolled by three so that rows change names instead of
// places. Beds and depths are read once and depths written once: 12 bytes per cell.
//
// The operations and their order are those of engine/physics/aqua.h, so the bits are the CPU's.
#include "cuda/aqua_traits.cuh"

namespace {

// IEEE's root and quotient without the branches that very small and very large numbers would need:
// heads are 0 or at least about a quantum, and where there is no ground only 0 is divided. One
// Newton step, then what is left over.
__device__ __forceinline__ float exact_root(float a) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(fmaxf(a, 0x1p-100f)));
    const float s = __fmul_rn(a, y);
    return __fmaf_rn(__fmaf_rn(-s, s, a), 0.5f * y, s);
}

__device__ __forceinline__ float exact_quotient(float a, float b) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b));
    y = __fmaf_rn(__fmaf_rn(-b, y, 1.0f), y, y);
    float q = __fmul_rn(a, y);
    q = __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
    return __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
}

// The rule with these.
struct rule {
#define REAL float
#define AQUA_WATER int32_t
#define AQUA_SQRT(x) exact_root(x)
#undef AQUA_DIVIDE
#define AQUA_DIVIDE(a, b) exact_quotient(a, b)
#undef AQUA_LESS
#undef AQUA_MORE
#define AQUA_LESS(a, b) fminf(a, b)
#define AQUA_MORE(a, b) fmaxf(a, b)
#include "engine/physics/aqua.h"
};

enum { LANES = 32, COLUMNS = 4, STRIP = LANES * COLUMNS, HALO = 2, STORED = STRIP - 2 * HALO };

// A signed head and its root.
struct edge {
    float head, root;
};

// A row of the lane's columns, with what its left and right neighbours in other lanes need.
struct row {
    float bed[COLUMNS], bed_left, bed_right;
    int32_t water[COLUMNS], water_left, water_right;
    edge along[COLUMNS], along_left; // to the next column
    // Edges from the row below: straight up, up and to the right, up and to the left.
    edge up[COLUMNS], right[COLUMNS], left[COLUMNS];
    edge right_before, left_behind; // those that start in the neighbouring lanes
    float factor[COLUMNS], factor_left, factor_right;
    float cut[COLUMNS], cut_left, cut_right;
    int32_t out[COLUMNS];
};

__device__ __forceinline__ float from_left(float v) {
    return __shfl_up_sync(~0u, v, 1);
}
__device__ __forceinline__ float from_right(float v) {
    return __shfl_down_sync(~0u, v, 1);
}
__device__ __forceinline__ int32_t from_left(int32_t v) {
    return __shfl_up_sync(~0u, v, 1);
}
__device__ __forceinline__ int32_t from_right(int32_t v) {
    return __shfl_down_sync(~0u, v, 1);
}
__device__ __forceinline__ edge from_left(edge e) {
    return {from_left(e.head), from_left(e.root)};
}
__device__ __forceinline__ edge from_right(edge e) {
    return {from_right(e.head), from_right(e.root)};
}

// aqua_root; without a least head it needs no comparison.
template <bool LEAST> __device__ __forceinline__ float signed_root(float d, float least) {
    return LEAST ? rule::aqua_root(d, least) : copysignf(exact_root(fabsf(d)), d);
}

template <bool LEAST>
__device__ __forceinline__ edge make_edge(float bed_c, int32_t water_c, float bed_u,
                                          int32_t water_u, float least) {
    const float d = rule::aqua_head(bed_c, bed_u, water_c, water_u);
    return {d, signed_root<LEAST>(d, least)};
}

// Heads and roots of a row that has just been read, and of the edges from the one below it.
template <bool LEAST>
__device__ __forceinline__ void join(const row &below, row &here, float least) {
    here.bed_left = from_left(here.bed[COLUMNS - 1]);
    here.bed_right = from_right(here.bed[0]);
    here.water_left = from_left(here.water[COLUMNS - 1]);
    here.water_right = from_right(here.water[0]);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const bool first = c == 0, last = c == COLUMNS - 1;
        const float bed_next = last ? here.bed_right : here.bed[last ? c : c + 1];
        const int32_t water_next = last ? here.water_right : here.water[last ? c : c + 1];
        const float bed_before = first ? here.bed_left : here.bed[first ? c : c - 1];
        const int32_t water_before = first ? here.water_left : here.water[first ? c : c - 1];
        here.along[c] = make_edge<LEAST>(here.bed[c], here.water[c], bed_next, water_next, least);
        here.up[c] =
            make_edge<LEAST>(below.bed[c], below.water[c], here.bed[c], here.water[c], least);
        here.right[c] = make_edge<LEAST>(below.bed[c], below.water[c], bed_next, water_next, least);
        here.left[c] =
            make_edge<LEAST>(below.bed[c], below.water[c], bed_before, water_before, least);
        here.out[c] = 0;
    }
    here.along_left = from_left(here.along[COLUMNS - 1]);
    here.right_before = from_left(here.right[COLUMNS - 1]);
    here.left_behind = from_right(here.left[0]);
}

// The eight edges of column c of `here`, seen from the cell, in the order of AQUA_NEIGHBOURS.
__device__ __forceinline__ void look_about(const row &here, const row &above, int c,
                                           float head[AQUA_AROUND], float root[AQUA_AROUND]) {
    const edge west = c == 0 ? here.along_left : here.along[c == 0 ? 0 : c - 1];
    const edge south_west = c == 0 ? here.right_before : here.right[c == 0 ? 0 : c - 1];
    const edge south_east =
        c == COLUMNS - 1 ? here.left_behind : here.left[c == COLUMNS - 1 ? c : c + 1];
    head[0] = here.along[c].head, root[0] = here.along[c].root;
    head[1] = -west.head, root[1] = -west.root;
    head[2] = above.up[c].head, root[2] = above.up[c].root;
    head[3] = -here.up[c].head, root[3] = -here.up[c].root;
    head[4] = above.right[c].head, root[4] = above.right[c].root;
    head[5] = -south_west.head, root[5] = -south_west.root;
    head[6] = above.left[c].head, root[6] = above.left[c].root;
    head[7] = -south_east.head, root[7] = -south_east.root;
}

// The beds about column c of `here`, in the order of AQUA_NEIGHBOURS.
__device__ __forceinline__ void beds_about(const row &below, const row &here, const row &above,
                                           int c, float bed[AQUA_AROUND]) {
    const bool first = c == 0, last = c == COLUMNS - 1;
    const int before = first ? 0 : c - 1, next = last ? c : c + 1;
    bed[0] = last ? here.bed_right : here.bed[next];
    bed[1] = first ? here.bed_left : here.bed[before];
    bed[2] = above.bed[c];
    bed[3] = below.bed[c];
    bed[4] = last ? above.bed_right : above.bed[next];
    bed[5] = first ? below.bed_left : below.bed[before];
    bed[6] = first ? above.bed_left : above.bed[before];
    bed[7] = last ? below.bed_right : below.bed[next];
}

// The factor of column c of `here`.
template <int EQUILIBRIUM, bool LEAST>
__device__ __forceinline__ void find_factor(const row &below, row &here, const row &above, int c,
                                            float alpha, float least) {
    float head[AQUA_AROUND], root[AQUA_AROUND], drive[AQUA_AROUND], given[AQUA_AROUND];
    look_about(here, above, c, head, root);
#define DRIVE(k, dx, dy) drive[k] = LEAST ? rule::aqua_drive(head[k], least) : fmaxf(head[k], 0.0f);
    AQUA_NEIGHBOURS(DRIVE)
#undef DRIVE
    float sum = rule::aqua_tree(drive), members = rule::aqua_members(drive), cut = 0;
    if (EQUILIBRIUM == AQUA_FILL) {
        float bed[AQUA_AROUND], depth[AQUA_AROUND];
        beds_about(below, here, above, c, bed);
        float smallest = (float)AQUA_NO_GROUND;
#define DEPTH(k, dx, dy)                                                       \
    depth[k] = rule::aqua_below(here.bed[c], bed[k], here.water[c], drive[k]); \
    smallest = fminf(smallest, depth[k]);
        AQUA_NEIGHBOURS(DEPTH)
#undef DEPTH
        if (__any_sync(~0u, rule::aqua_fill_drops(smallest, sum, members))) {
            rule::aqua_fill(depth, &sum, &members);
        }
    } else if (EQUILIBRIUM == AQUA_MINDIFF) {
        cut = rule::aqua_mindiff(drive, &sum, &members);
    }
#define GIVEN(k, dx, dy) \
    given[k] = EQUILIBRIUM != AQUA_MINDIFF || root[k] >= cut ? fmaxf(root[k], 0.0f) : 0.0f;
    AQUA_NEIGHBOURS(GIVEN)
#undef GIVEN
    here.factor[c] = rule::aqua_factor(alpha, here.water[c], sum, members, rule::aqua_tree(given));
    here.cut[c] = cut;
}

template <int EQUILIBRIUM>
__device__ __forceinline__ int32_t flux(edge e, float factor_c, float cut_c, float factor_u,
                                        float cut_u) {
    return EQUILIBRIUM == AQUA_MINDIFF
               ? rule::aqua_flux_cut(e.root, factor_c, cut_c, factor_u, cut_u)
               : rule::aqua_flux(e.root, factor_c, factor_u);
}

// Fluxes in `here`, whose factors are known now, and between it and the row below.
template <int EQUILIBRIUM> __device__ __forceinline__ void carry(row &below, row &here) {
    here.factor_left = from_left(here.factor[COLUMNS - 1]);
    here.factor_right = from_right(here.factor[0]);
    if (EQUILIBRIUM == AQUA_MINDIFF) {
        here.cut_left = from_left(here.cut[COLUMNS - 1]);
        here.cut_right = from_right(here.cut[0]);
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const bool first = c == 0, last = c == COLUMNS - 1;
        const int before = first ? 0 : c - 1, next = last ? c : c + 1;
        const float factor_next = last ? here.factor_right : here.factor[next];
        const float cut_next = last ? here.cut_right : here.cut[next];
        const float factor_before = first ? here.factor_left : here.factor[before];
        const float cut_before = first ? here.cut_left : here.cut[before];
        const int32_t along =
            flux<EQUILIBRIUM>(here.along[c], here.factor[c], here.cut[c], factor_next, cut_next);
        const int32_t up = flux<EQUILIBRIUM>(here.up[c], below.factor[c], below.cut[c],
                                             here.factor[c], here.cut[c]);
        const int32_t right =
            flux<EQUILIBRIUM>(here.right[c], below.factor[c], below.cut[c], factor_next, cut_next);
        const int32_t left = flux<EQUILIBRIUM>(here.left[c], below.factor[c], below.cut[c],
                                               factor_before, cut_before);
        below.out[c] += up + right + left;
        here.out[c] += along - up;
        if (!last) {
            here.out[next] -= along + right;
        }
        if (!first) {
            here.out[before] -= left;
        }
    }
    here.out[0] -= flux<EQUILIBRIUM>(here.along_left, here.factor_left, here.cut_left,
                                     here.factor[0], here.cut[0]) +
                   flux<EQUILIBRIUM>(here.right_before, below.factor_left, below.cut_left,
                                     here.factor[0], here.cut[0]);
    here.out[COLUMNS - 1] -=
        flux<EQUILIBRIUM>(here.left_behind, below.factor_right, below.cut_right,
                          here.factor[COLUMNS - 1], here.cut[COLUMNS - 1]);
}

// Where a lane reads and stores. The march reads up to four columns before a row and a few rows
// and columns beyond the last: nothing that is stored depends on them, but they must be there
// (AQUA_GPU_MARGIN).
struct strip {
    const float *bed;
    const int32_t *from;
    int32_t *to;
    unsigned stored;             // bit c: column c is
    int rows_to_come, rows_left; // until the first row is stored, and from then on
};

__device__ __forceinline__ void read_row(strip &s, int64_t pitch, row &r) {
    const float4 bed = __ldg((const float4 *)s.bed);
    const int4 water = __ldg((const int4 *)s.from);
    s.bed += pitch;
    s.from += pitch;
    r.bed[0] = bed.x, r.bed[1] = bed.y, r.bed[2] = bed.z, r.bed[3] = bed.w;
    r.water[0] = water.x, r.water[1] = water.y, r.water[2] = water.z, r.water[3] = water.w;
}

__device__ __forceinline__ void store_row(strip &s, const aqua_gpu_flow &f, const row &r) {
    int32_t after[COLUMNS], most = INT32_MIN;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        after[c] = r.water[c] - r.out[c];
        most = max(most, after[c]);
    }
    if (--s.rows_to_come < 0 && s.rows_to_come >= s.rows_left) {
        if (s.stored == 15u) {
            *(int4 *)s.to = make_int4(after[0], after[1], after[2], after[3]);
        } else {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                if (s.stored >> c & 1u) {
                    s.to[c] = after[c];
                }
            }
        }
        if (most > (int32_t)f.limit) {
            for (int c = 0; c < COLUMNS; c++) {
                if ((s.stored >> c & 1u) && s.to[c] > (int32_t)f.limit) {
                    aqua_raise(f, (uint32_t)(s.to + c - (int32_t *)f.to));
                }
            }
        }
    }
    s.to += f.layout.pitch;
}

// A row has been read into `above`: the one before it gets its factors, the one before that is
// stored.
template <int EQUILIBRIUM, bool LEAST, bool ALPHAS>
__device__ __forceinline__ void march(strip &s, const aqua_gpu_flow &f, const float *&alphas,
                                      row &below, row &here, row &above) {
    const float least = LEAST ? (float)f.least : 0.0f, same = (float)f.alpha;
    float alpha[COLUMNS] = {same, same, same, same};
    if (ALPHAS) {
        const float4 four = __ldg((const float4 *)alphas);
        alpha[0] = four.x, alpha[1] = four.y, alpha[2] = four.z, alpha[3] = four.w;
        alphas += f.layout.pitch;
    }
    join<LEAST>(here, above, least);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        find_factor<EQUILIBRIUM, LEAST>(below, here, above, c, alpha[c], least);
    }
    carry<EQUILIBRIUM>(below, here);
    store_row(s, f, below);
}

// A row without ground.
__device__ __forceinline__ void clear(row &r) {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        r.bed[c] = (float)AQUA_NO_GROUND;
        r.water[c] = r.out[c] = 0;
        r.factor[c] = r.cut[c] = 0;
        r.along[c] = r.up[c] = r.right[c] = r.left[c] = {0, 0};
    }
    r.bed_left = r.bed_right = (float)AQUA_NO_GROUND;
    r.water_left = r.water_right = 0;
    r.along_left = r.right_before = r.left_behind = {0, 0};
    r.factor_left = r.factor_right = r.cut_left = r.cut_right = 0;
}

template <int EQUILIBRIUM, bool LEAST, bool ALPHAS>
__global__ void __launch_bounds__(LANES, 12)
    march_kernel(const __grid_constant__ aqua_gpu_flow f, int strips, int rows) {
    const int lane = threadIdx.x, number = blockIdx.x % strips;
    const int first = HALO + blockIdx.x / strips * rows;
    const int column = -COLUMNS + number * STORED + COLUMNS * lane;
    const int64_t pitch = f.layout.pitch, at = (int64_t)(first - HALO) * pitch + column;
    const float *alphas = ALPHAS ? (const float *)f.alphas + at - pitch : nullptr;
    strip s = {(const float *)f.bed + at,
               (const int32_t *)f.from + at,
               (int32_t *)f.to + at - HALO * pitch,
               0,
               2 * HALO,
               -min(rows, (int)f.layout.ny + HALO - first)};
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int in_strip = COLUMNS * lane + c, x = column + c - HALO;
        const bool stored =
            in_strip >= HALO && in_strip < STRIP - HALO && x >= 0 && x < (int)f.layout.nx;
        s.stored |= (unsigned)stored << c;
    }
    row a, b, c, next;
    clear(a);
    clear(b);
    read_row(s, pitch, next);
#define ROW(below, here, above)                                              \
    {                                                                        \
        _Pragma("unroll") for (int k = 0; k < COLUMNS; k++) {                \
            above.bed[k] = next.bed[k];                                      \
            above.water[k] = next.water[k];                                  \
        }                                                                    \
        read_row(s, pitch, next);                                            \
        march<EQUILIBRIUM, LEAST, ALPHAS>(s, f, alphas, below, here, above); \
    }
    while (s.rows_to_come > s.rows_left) {
        ROW(a, b, c)
        ROW(b, c, a)
        ROW(c, a, b)
    }
#undef ROW
}

// Rows of a march: enough to hide its start, few enough to fill the device several times.
template <int EQUILIBRIUM, bool LEAST, bool ALPHAS>
cudaError_t launch(const aqua_gpu_flow *f, cudaStream_t stream) {
    const int64_t most = 128, least = 12, enough = 24 * 132;
    const int64_t strips = ((int64_t)f->layout.nx + COLUMNS + STORED - 1) / STORED;
    int64_t rows = most, ny = f->layout.ny;
    while (rows > least && strips * ((ny + rows - 1) / rows) < enough) {
        rows /= 2;
    }
    march_kernel<EQUILIBRIUM, LEAST, ALPHAS>
        <<<(unsigned)(strips * ((ny + rows - 1) / rows)), LANES, 0, stream>>>(*f, (int)strips,
                                                                              (int)rows);
    return cudaGetLastError();
}

template <int EQUILIBRIUM> cudaError_t choose(const aqua_gpu_flow *f, cudaStream_t stream) {
    if (f->least > 0) {
        return f->alphas ? launch<EQUILIBRIUM, true, true>(f, stream)
                         : launch<EQUILIBRIUM, true, false>(f, stream);
    }
    return f->alphas ? launch<EQUILIBRIUM, false, true>(f, stream)
                     : launch<EQUILIBRIUM, false, false>(f, stream);
}

} // namespace

cudaError_t aqua_gpu_march(const aqua_gpu_flow *flow, cudaStream_t stream) {
    switch (flow->equilibrium) {
    case AQUA_FILL:
        return choose<AQUA_FILL>(flow, stream);
    case AQUA_MEAN:
        return choose<AQUA_MEAN>(flow, stream);
    default:
        return choose<AQUA_MINDIFF>(flow, stream);
    }
}
