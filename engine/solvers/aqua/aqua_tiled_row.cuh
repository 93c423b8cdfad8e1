// aqua_tiled_row.cuh -- the arithmetic of the march: edges, factors and fluxes of rows of a lane.
//
// The operations and their order are those of engine/solvers/aqua/aqua_step.h, so the bits are the
// CPU's; but each edge is computed once for both its cells, and in ways that give the same bits in
// fewer or faster instructions:
//
//   heads are whole numbers of quanta, so a head clamped to [0, 1] is 1 where it drives water;
//   products with that 1 or 0 are exact, so sums over receivers are chains of multiply-adds, which
//   run twice as fast as comparisons, selections and maxima;
//   2^-100 is added where 0 would be divided by, and rounds away elsewhere;
//   root and quotient: see below.
//
// The edges of a row, by the column that they start from; those that come from columns of other
// lanes are along_left, right_before (from the lane before) and left_behind (from the next lane):
//
//     here      c - 1     c -along[c]- c + 1
//                    \    |         /
//               left[c]  up[c]   right[c]
//                      \  |     /
//     below               c
#ifndef AQUA_MARCH_ROW_CUH
#define AQUA_MARCH_ROW_CUH

#include "engine/solvers/aqua/aqua_traits.cuh"
#include "cuda/wide.cuh"

namespace {

// Smaller than any head, and than any product of members and roots, that is not 0.
constexpr float NEARLY_NOTHING = 0x1p-100f;

// IEEE's root and quotient without the branches that very small and very large numbers would need:
// heads are 0 or at least about a quantum, and where there is no ground only 0 is divided. One
// Newton step, then what is left over. (After its Newton step the reciprocal is the nearest number
// for every divisor; then one correction gives the nearest quotient.)
__device__ __forceinline__ float exact_root(float a) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a + NEARLY_NOTHING));
    const float s = __fmul_rn(a, y);
    return __fmaf_rn(__fmaf_rn(-s, s, a), 0.5f * y, s);
}

__device__ __forceinline__ float exact_quotient(float a, float b) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b));
    y = __fmaf_rn(__fmaf_rn(-b, y, 1.0f), y, y);
    const float q = __fmul_rn(a, y);
    return __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
}

// The rule with these.
struct rule {
    typedef float REAL;
    typedef int32_t AQUA_WATER;
#define AQUA_SQRT(x) exact_root(x)
#undef AQUA_DIVIDE
#define AQUA_DIVIDE(a, b) exact_quotient(a, b)
#undef AQUA_LESS
#undef AQUA_MORE
#define AQUA_LESS(a, b) fminf(a, b)
#define AQUA_MORE(a, b) fmaxf(a, b)
#include "engine/solvers/aqua/aqua_step.h"
};

enum { LANES = 32, COLUMNS = 4, STRIP = LANES * COLUMNS, HALO = 2, STORED = AQUA_TILE_COLUMNS };
static_assert((int)STORED == STRIP - 2 * HALO,
              "the columns of a tile are those that a strip stores");
static_assert((int)AQUA_TILE_SHIFT == (int)COLUMNS,
              "the first strip begins where the first tile does");

// A head and its root. The root has the head's sign where cuts are made, else none.
struct edge {
    float head, root;
};

// A row of the lane's columns, with what its left and right neighbours in other lanes need.
struct row {
    float bed[COLUMNS], bed_left, bed_right;
    int32_t water[COLUMNS], left_over[COLUMNS]; // left_over: water and what has flowed so far
    edge along[COLUMNS], along_left;            // to the next column
    // Edges from the row below: straight up, up and to the right, up and to the left.
    edge up[COLUMNS], right[COLUMNS], left[COLUMNS];
    edge right_before, left_behind; // those that start in the neighbouring lanes
    float alpha[COLUMNS], factor[COLUMNS];
    int32_t onward[COLUMNS]; // fluxes to the next column
    // For mindiff: by neighbour, the roots of the edges along which the cells give water, in the
    // upper row of the edge; fluxes from the last and first column to the next lanes, within the
    // row, to the one above and below.
    float given[AQUA_AROUND][COLUMNS];
    int32_t far_east[3], far_west[3];
};

__device__ __forceinline__ edge edge_before(edge e) {
    return {lane_before(e.head), lane_before(e.root)};
}
__device__ __forceinline__ edge edge_behind(edge e) {
    return {lane_behind(e.head), lane_behind(e.root)};
}

// The value of the column to the east or west of column c; `beyond` is that of the other lane.
template <class T> __device__ __forceinline__ T east_of(const T v[COLUMNS], int c, T beyond) {
    return c == COLUMNS - 1 ? beyond : v[c == COLUMNS - 1 ? c : c + 1];
}
template <class T> __device__ __forceinline__ T west_of(const T v[COLUMNS], int c, T beyond) {
    return c == 0 ? beyond : v[c == 0 ? c : c - 1];
}

// 1 if the head drives water, else 0. Heads are whole numbers of quanta.
template <bool LEAST> __device__ __forceinline__ float drives(float head, float least) {
    return LEAST ? (head > least ? 1.0f : 0.0f) : __saturatef(head);
}

template <int EQUILIBRIUM, bool LEAST>
__device__ __forceinline__ edge make_edge(float bed_c, int32_t water_c, float bed_u,
                                          int32_t water_u, float least) {
    const float d = rule::aqua_head(bed_c, bed_u, water_c, water_u);
    float root = exact_root(fabsf(d));
    if (LEAST) {
        root = fabsf(d) > least ? root : 0.0f;
    }
    return {d, EQUILIBRIUM == AQUA_MINDIFF ? copysignf(root, d) : root};
}

// Heads and roots of the edges in a row that has just been read and from the row below it.
template <int EQUILIBRIUM, bool LEAST>
__device__ __forceinline__ void join(const row &below, row &here, float least) {
#define EDGE make_edge<EQUILIBRIUM, LEAST>
    here.bed_left = lane_before(here.bed[COLUMNS - 1]);
    here.bed_right = lane_behind(here.bed[0]);
    const int32_t water_left = lane_before(here.water[COLUMNS - 1]);
    const int32_t water_right = lane_behind(here.water[0]);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const float bed_next = east_of(here.bed, c, here.bed_right);
        const int32_t water_next = east_of(here.water, c, water_right);
        const float bed_before = west_of(here.bed, c, here.bed_left);
        const int32_t water_before = west_of(here.water, c, water_left);
        const float bed = below.bed[c];
        const int32_t water = below.water[c];
        here.along[c] = EDGE(here.bed[c], here.water[c], bed_next, water_next, least);
        here.up[c] = EDGE(bed, water, here.bed[c], here.water[c], least);
        here.right[c] = EDGE(bed, water, bed_next, water_next, least);
        here.left[c] = EDGE(bed, water, bed_before, water_before, least);
    }
#undef EDGE
    here.along_left = edge_before(here.along[COLUMNS - 1]);
    here.right_before = edge_before(here.right[COLUMNS - 1]);
    here.left_behind = edge_behind(here.left[0]);
}

// The eight edges of column c of `here`, seen from the cell, in the order of AQUA_NEIGHBOURS. Roots
// without a sign stay as they are.
template <bool SIGNED>
__device__ __forceinline__ void look_about(const row &here, const row &above, int c,
                                           float head[AQUA_AROUND], float root[AQUA_AROUND]) {
    const edge west = west_of(here.along, c, here.along_left);
    const edge south_west = west_of(here.right, c, here.right_before);
    const edge south_east = east_of(here.left, c, here.left_behind);
    const edge out[AQUA_AROUND] = {here.along[c],  west,       above.up[c],   here.up[c],
                                   above.right[c], south_west, above.left[c], south_east};
#pragma unroll
    for (int k = 0; k < AQUA_AROUND; k++) {
        head[k] = k % 2 ? -out[k].head : out[k].head;
        root[k] = SIGNED && k % 2 ? -out[k].root : out[k].root;
    }
}

// The beds about column c of `here`, in the order of AQUA_NEIGHBOURS.
__device__ __forceinline__ void beds_about(const row &below, const row &here, const row &above,
                                           int c, float bed[AQUA_AROUND]) {
    bed[0] = east_of(here.bed, c, here.bed_right);
    bed[1] = west_of(here.bed, c, here.bed_left);
    bed[2] = above.bed[c];
    bed[3] = below.bed[c];
    bed[4] = east_of(above.bed, c, above.bed_right);
    bed[5] = west_of(below.bed, c, below.bed_left);
    bed[6] = west_of(above.bed, c, above.bed_left);
    bed[7] = east_of(below.bed, c, below.bed_right);
}

// aqua_tree of v[k] where on[k] is 1, 0 where it is 0: products with 1 and 0 are exact, so the sums
// are rounded as in the tree. NOT_ZERO: nearly nothing instead of 0.
template <bool NOT_ZERO>
__device__ __forceinline__ float tree_of(const float v[AQUA_AROUND], const float on[AQUA_AROUND]) {
    float pair[AQUA_AROUND / 2];
#pragma unroll
    for (int k = 0; k < AQUA_AROUND / 2; k++) {
        const float second = NOT_ZERO && k == 0 ? __fmaf_rn(v[1], on[1], NEARLY_NOTHING)
                                                : v[2 * k + 1] * on[2 * k + 1];
        pair[k] = __fmaf_rn(v[2 * k], on[2 * k], second);
    }
    return (pair[0] + pair[1]) + (pair[2] + pair[3]);
}

// The greatest of numbers that are not negative, and 0.
__device__ __forceinline__ float greatest(const float v[AQUA_AROUND]) {
    int most = __vimax3_s32(__float_as_int(v[0]), __float_as_int(v[1]), 0);
#pragma unroll
    for (int k = 2; k < AQUA_AROUND; k += 2) {
        most = __vimax3_s32(most, __float_as_int(v[k]), __float_as_int(v[k + 1]));
    }
    return __int_as_float(most);
}

// X, m and S of engine/solvers/aqua/aqua_step.h.
struct sums {
    float heads, members, roots;
};

__device__ __forceinline__ bool has_negative_bed(const row &below, const row &here,
                                                 const row &above, int c) {
    float bed[AQUA_AROUND];
    int sign = 0;
    beds_about(below, here, above, c, bed);
#pragma unroll
    for (int k = 0; k < AQUA_AROUND; k++) {
        sign |= __float_as_int(bed[k]);
    }
    return sign < 0;
}

// aqua_mindiff: after the first head that is not taken none is, so the k-th meets k + 1 members.
__device__ __forceinline__ float take(float drive[AQUA_AROUND], sums *s) {
    float *v = drive;
    rule::aqua_sort_down(v);
    float x = v[0], m = 2, last = v[0];
    bool takes = true;
#pragma unroll
    for (int k = 1; k < AQUA_AROUND; k++) {
        takes = takes && v[k] * (float)(k + 1) >= x;
        if (takes) {
            x += v[k];
            last = v[k];
            m = (float)(k + 2);
        }
    }
    s->heads = x;
    s->members = m;
    return fmaxf(exact_root(last), NEARLY_NOTHING);
}

// aqua_factor. Without receivers the sum is 0, and the roots are NEARLY_NOTHING.
__device__ __forceinline__ float factor_of(float alpha, int32_t water, const sums &s) {
    const float part = alpha * fminf(s.heads, (float)water * s.members);
    return exact_quotient(part, s.members * s.roots);
}

// The sums over all receivers of column c of `here`.
template <bool LEAST>
__device__ __forceinline__ sums all_receivers(const row &here, const row &above, int c,
                                              float least) {
    float head[AQUA_AROUND], root[AQUA_AROUND], on[AQUA_AROUND], members = 1;
    look_about<false>(here, above, c, head, root);
#pragma unroll
    for (int k = 0; k < AQUA_AROUND; k++) {
        on[k] = drives<LEAST>(head[k], least);
        members += on[k];
    }
    return {tree_of<false>(head, on), members, tree_of<true>(root, on)};
}

// The beds of the receivers of column c of `here`; 0 for others.
template <bool LEAST>
__device__ __forceinline__ void receiving_beds(const row &below, const row &here, const row &above,
                                               int c, float least, float bed[AQUA_AROUND]) {
    float head[AQUA_AROUND], root[AQUA_AROUND];
    look_about<false>(here, above, c, head, root);
    beds_about(below, here, above, c, bed);
#pragma unroll
    for (int k = 0; k < AQUA_AROUND; k++) {
        bed[k] *= drives<LEAST>(head[k], least);
    }
}

// Whether fill drops beds of column c of `here`; false for dry cells, where it does not matter.
template <bool LEAST>
__device__ __forceinline__ bool has_drops(const row &below, const row &here, const row &above,
                                          int c, float least, const sums &s) {
    float bed[AQUA_AROUND];
    receiving_beds<LEAST>(below, here, above, c, least, bed);
    const float smallest = (here.bed[c] - greatest(bed)) + (float)here.water[c];
    return rule::aqua_fill_drops(smallest, s.heads, s.members) && here.water[c] > 0;
}

// aqua_fill. Neighbours that are no receivers count with a bed of 0, at depth T_c. Where no bed is
// negative (only those of ghosts may be) they are never dropped: no head is larger than T_c, and
// the sum has one term fewer than there are members. Nor is the greatest of eight ever dropped.
template <bool LEAST>
__device__ __forceinline__ void drop(const row &below, const row &here, const row &above, int c,
                                     float least, bool framed, sums &s) {
    float v[AQUA_AROUND];
    receiving_beds<LEAST>(below, here, above, c, least, v);
#pragma unroll
    for (int k = 0; k < AQUA_AROUND; k++) {
        v[k] = (here.bed[c] - v[k]) + (float)here.water[c];
    }
    if (framed && __any_sync(~0u, has_negative_bed(below, here, above, c))) {
        float head[AQUA_AROUND], root[AQUA_AROUND];
        look_about<false>(here, above, c, head, root);
#pragma unroll
        for (int k = 0; k < AQUA_AROUND; k++) {
            v[k] = drives<LEAST>(head[k], least) > 0 ? v[k] : (float)AQUA_NO_GROUND;
        }
    }
    rule::aqua_sort_up(v);
#pragma unroll
    for (int k = 0; k < AQUA_AROUND - 1; k++) {
        if (v[k] * s.members < s.heads) {
            s.heads -= v[k];
            s.members -= 1;
        }
    }
}

// The factors of `here`, for mean and fill. rough[c]: beds were dropped in column c of the row
// before, so the test for drops is skipped.
template <bool DROPS, bool LEAST>
__device__ __forceinline__ void find_factors(const row &below, row &here, const row &above,
                                             float least, bool framed, bool rough[COLUMNS]) {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        sums s = all_receivers<LEAST>(here, above, c, least);
        if (DROPS &&
            (rough[c] || __any_sync(~0u, has_drops<LEAST>(below, here, above, c, least, s)))) {
            const float members = s.members;
            drop<LEAST>(below, here, above, c, least, framed, s);
            rough[c] = __any_sync(~0u, s.members < members && here.water[c] > 0);
        }
        here.factor[c] = factor_of(here.alpha[c], here.water[c], s);
    }
}

// The factors of `here` for mindiff, and what each cell gives along each edge.
template <bool LEAST>
__device__ __forceinline__ void find_cut_factors(row &here, row &above, float least) {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        float head[AQUA_AROUND], root[AQUA_AROUND], drive[AQUA_AROUND], given[AQUA_AROUND];
        sums s;
        look_about<true>(here, above, c, head, root);
#pragma unroll
        for (int k = 0; k < AQUA_AROUND; k++) {
            drive[k] = LEAST ? rule::aqua_drive(head[k], least) : fmaxf(head[k], 0.0f);
        }
        const float cut = take(drive, &s);
#pragma unroll
        for (int k = 0; k < AQUA_AROUND; k++) {
            given[k] = root[k] >= cut ? root[k] : k == 0 ? NEARLY_NOTHING : 0.0f;
        }
        s.roots = rule::aqua_tree(given);
        here.factor[c] = factor_of(here.alpha[c], here.water[c], s);
#pragma unroll
        for (int k = 0; k < AQUA_AROUND; k++) {
            (k == 2 || k == 4 || k == 6 ? above : here).given[k][c] = given[k];
        }
        if (c == COLUMNS - 1) {
            here.far_east[0] = (int32_t)(here.factor[c] * given[0]);
            here.far_east[1] = (int32_t)(here.factor[c] * given[4]);
            here.far_east[2] = (int32_t)(here.factor[c] * given[7]);
        } else if (c == 0) {
            here.far_west[0] = (int32_t)(here.factor[c] * given[1]);
            here.far_west[1] = (int32_t)(here.factor[c] * given[5]);
            here.far_west[2] = (int32_t)(here.factor[c] * given[6]);
        }
    }
}

// The flux through an edge.
__device__ __forceinline__ int32_t flux(edge e, float factor_c, float factor_u) {
    return (int32_t)((e.head > 0 ? factor_c : -factor_u) * e.root);
}

// The same from what its ends give, one of which is 0.
__device__ __forceinline__ int32_t exchange(float factor_c, float given_c, float factor_u,
                                            float given_u) {
    return (int32_t)__fmaf_rn(factor_c, given_c, -(factor_u * given_u));
}

// Completes the new depths `after` of the row below and what is left over in `here` with the fluxes
// between them and along `here`; from_west and from_east come into its first and last column.
__device__ __forceinline__ void settle(const row &below, row &here, const int32_t up[COLUMNS],
                                       const int32_t right[COLUMNS], const int32_t left[COLUMNS],
                                       int32_t from_west, int32_t from_east,
                                       int32_t after[COLUMNS]) {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int32_t west = west_of(here.onward, c, from_west) + west_of(right, c, 0);
        const int32_t east = east_of(left, c, from_east);
        after[c] = (below.left_over[c] - below.onward[c] - up[c]) - right[c] - left[c];
        here.left_over[c] = (here.water[c] + up[c] + west) + east;
    }
}

// Fluxes in `here`, whose factors are known now, and between it and the row below. Those between
// lanes are computed by one of them and passed on.
__device__ __forceinline__ void carry(row &below, row &here, int32_t after[COLUMNS]) {
    const float factor_left = lane_before(here.factor[COLUMNS - 1]);
    const float factor_right = lane_behind(here.factor[0]);
    int32_t up[COLUMNS], right[COLUMNS], left[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const float factor_next = east_of(here.factor, c, factor_right);
        const float factor_before = west_of(here.factor, c, factor_left);
        here.onward[c] = flux(here.along[c], here.factor[c], factor_next);
        up[c] = flux(here.up[c], below.factor[c], here.factor[c]);
        right[c] = flux(here.right[c], below.factor[c], factor_next);
        left[c] = flux(here.left[c], below.factor[c], factor_before);
    }
    const int32_t from_west = lane_before(here.onward[COLUMNS - 1] + right[COLUMNS - 1]);
    settle(below, here, up, right, left, from_west, lane_behind(left[0]), after);
}

// The same after cuts: roots below the cut are 0. At an edge between lanes each computes what its
// own cell gives.
__device__ __forceinline__ void carry_cut(row &below, row &here, int32_t after[COLUMNS]) {
    int32_t up[COLUMNS], right[COLUMNS], left[COLUMNS];
    const int32_t in_west = lane_before(here.far_east[0] + below.far_east[1]);
    const int32_t in_west_below = lane_before(here.far_east[2]);
    const int32_t in_east = lane_behind(here.far_west[0] + below.far_west[2]);
    const int32_t in_east_below = lane_behind(here.far_west[1]);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const bool first = c == 0, last = c == COLUMNS - 1;
        const int next = last ? c : c + 1, before = first ? c : c - 1;
        const float *f = here.factor, g = below.factor[c];
        here.onward[c] = last ? here.far_east[0]
                              : exchange(f[c], here.given[0][c], f[next], here.given[1][next]);
        up[c] = exchange(g, here.given[2][c], f[c], here.given[3][c]);
        right[c] = last ? below.far_east[1] - in_east_below
                        : exchange(g, here.given[4][c], f[next], here.given[5][next]);
        left[c] = first ? below.far_west[2] - in_west_below
                        : exchange(g, here.given[6][c], f[before], here.given[7][before]);
    }
    settle(below, here, up, right, left, in_west - here.far_west[0] - here.far_west[1],
           in_east - here.far_east[2], after);
}

} // namespace

#endif
