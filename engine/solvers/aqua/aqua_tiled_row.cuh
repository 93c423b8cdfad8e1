// aqua_tiled_row.cuh -- one stage of the march in aqua_tiled.cu: edges, factors and fluxes of the
// three rows that a lane has in registers.
//
// The results are those of engine/solvers/aqua/aqua_step.h, bit by bit. But each edge is computed
// once for both its cells, and some operations are replaced by faster ones of the same result:
//
//   Heads are whole numbers of quanta. So a head clamped to [0, 1] is 1 if it drives water, else 0.
//   Products with 1 and 0 are exact. So sums over receivers are chains of multiply-adds, which run
//   twice as fast as comparisons, selections and maxima.
//   2^-100 is added where a divisor would be 0; it rounds away elsewhere.
//   Root and quotient: exact_root, exact_quotient.
//
// The pipeline. In the step that reads row r, a lane's three `row`s hold
//
//     row      name    known before the step       computed in the step
//     r        above   -                           take_row      bed, water, alpha
//                                                  join          along; up, right, left from r - 1
//     r - 1    here    bed, water, alpha, edges    find_factors  factor
//                                                  carry         onward; left_over = water + the
//                                                                fluxes in from r - 2 and from the
//                                                                west
//     r - 2    below   all but the fluxes to       carry         after = left_over - fluxes out to
//                      r - 1                                     the east and to r - 1: stored
//
// In the next step `here` is called below, `above` is called here, and the row that was `below` is
// overwritten. With mindiff find_cut_factors and carry_cut take the places of find_factors and
// carry.
//
// Edges belong to their upper row and have the index of the column that they start from. Those that
// start in other lanes are along_left, right_before (the lane before) and left_behind (the next
// lane):
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

// Root and quotient, rounded to nearest as IEEE 754 says, without the branches for very small and
// very large numbers: heads are 0 or at least about a quantum, and cells without ground divide only
// 0. Each is a hardware approximation and one correction by its remainder. (The Newton step makes
// the reciprocal the nearest number for every divisor; then one correction gives the nearest
// quotient.)
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

// engine/solvers/aqua/aqua_step.h with these functions.
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

// A strip has STRIP columns, COLUMNS per lane. The outer HALO columns at either end are computed
// for their neighbours only; STORED columns are stored.
enum { LANES = 32, COLUMNS = 4, STRIP = LANES * COLUMNS, HALO = 2, STORED = AQUA_TILE_COLUMNS };
static_assert((int)STORED == STRIP - 2 * HALO,
              "the columns of a tile are those that a strip stores");
static_assert((int)AQUA_TILE_SHIFT == (int)COLUMNS,
              "the first strip begins where the first tile does");

// The head d of an edge and sqrt(|d|). With mindiff the root has the sign of the head; else it is
// not negative.
struct edge {
    float head, root;
};

// A row of a lane: COLUMNS cells, and the values of the cells and edges beside them that belong to
// other lanes.
struct row {
    float bed[COLUMNS], bed_left, bed_right;
    int32_t water[COLUMNS];
    int32_t left_over[COLUMNS];      // water and the fluxes in from the west and the row below
    edge along[COLUMNS], along_left; // to the next column
    // Edges from the row below: straight up, up and to the right, up and to the left.
    edge up[COLUMNS], right[COLUMNS], left[COLUMNS];
    edge right_before, left_behind; // they start in the lane before and in the next lane
    float alpha[COLUMNS], factor[COLUMNS];
    int32_t onward[COLUMNS]; // fluxes to the next column
    // Mindiff only. given[k][c]: the root of the edge from a cell of column c to its neighbour k if
    // the cell gives water along it, else 0; stored in the upper row of the edge. Fluxes out of the
    // lane, from its last column to E, NE, SE and from its first column to W, SW, NW:
    float given[AQUA_AROUND][COLUMNS];
    int32_t far_east[3], far_west[3];
};

__device__ __forceinline__ edge edge_before(edge e) {
    return {lane_before(e.head), lane_before(e.root)};
}
__device__ __forceinline__ edge edge_behind(edge e) {
    return {lane_behind(e.head), lane_behind(e.root)};
}

// The value in the column east or west of column c; `beyond`: the value in the next lane's or the
// lane before's column.
template <class T> __device__ __forceinline__ T east_of(const T v[COLUMNS], int c, T beyond) {
    return c == COLUMNS - 1 ? beyond : v[c == COLUMNS - 1 ? c : c + 1];
}
template <class T> __device__ __forceinline__ T west_of(const T v[COLUMNS], int c, T beyond) {
    return c == 0 ? beyond : v[c == 0 ? c : c - 1];
}

// 1 if the head drives water, else 0. LEAST: there is a threshold `least`; else it is 0, and a
// whole number of quanta can be clamped.
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

// Computes the edges of the row that has just been read: along it, and from the row below.
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

// The heads and roots of the eight edges of column c of `here`, in the order of AQUA_NEIGHBOURS and
// with the sign as seen from the cell. SIGNED: roots have a sign.
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

// The beds of the eight neighbours of column c of `here`, in the order of AQUA_NEIGHBOURS.
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

// aqua_tree of the v[k] with on[k] = 1; on[k] is 1 or 0, so the products are exact and the sums are
// rounded as in aqua_tree. NOT_ZERO: the result is NEARLY_NOTHING instead of 0.
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

// The largest of v[] and 0. The bits of non-negative floats, read as integers, have the same order,
// and negative floats are negative integers.
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

// aqua_mindiff; returns the cut. Heads are taken up in descending order until one is refused, so
// head k, if taken, is compared with k + 1 members.
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

// aqua_factor. Without receivers s.heads is 0 and s.roots is NEARLY_NOTHING: the factor is 0.
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

// The beds of the receivers of column c of `here`; 0 for neighbours that are no receivers.
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

// Whether fill drops beds among the receivers of column c of `here`. False for dry cells, whose
// factor does not matter.
template <bool LEAST>
__device__ __forceinline__ bool has_drops(const row &below, const row &here, const row &above,
                                          int c, float least, const sums &s) {
    float bed[AQUA_AROUND];
    receiving_beds<LEAST>(below, here, above, c, least, bed);
    const float smallest = (here.bed[c] - greatest(bed)) + (float)here.water[c];
    return rule::aqua_fill_drops(smallest, s.heads, s.members) && here.water[c] > 0;
}

// aqua_fill: removes the dropped beds from s. Neighbours that are no receivers count with a bed of
// 0, at depth T_c. If no bed is negative, they are never dropped: no head is larger than T_c, and
// the sum has one term fewer than there are members. Only beds of ghosts, in the frame (`framed`),
// can be negative; then these neighbours get a depth that is never dropped. The greatest of eight
// depths is never dropped either.
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

// The factors of `here`, for mean and for fill (DROPS). rough[c]: some lane dropped beds in column
// c of the last row, so beds are dropped here without a test whether there are any.
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

// The factors of `here` for mindiff; `given` of each edge, and the fluxes out of the lane.
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

// The flux through an edge, from the cell c where it starts to the cell u.
__device__ __forceinline__ int32_t flux(edge e, float factor_c, float factor_u) {
    return (int32_t)((e.head > 0 ? factor_c : -factor_u) * e.root);
}

// The flux through an edge from the `given` roots of its two ends, one of which is 0.
__device__ __forceinline__ int32_t exchange(float factor_c, float given_c, float factor_u,
                                            float given_u) {
    return (int32_t)__fmaf_rn(factor_c, given_c, -(factor_u * given_u));
}

// Applies the fluxes between the rows below and here, and those along here. Completes `after`, the
// new depths of the row below, and starts here.left_over. from_west and from_east: the fluxes from
// other lanes into the first and the last column.
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

// Computes and applies the fluxes along `here`, whose factors are known now, and between it and the
// row below. Of two lanes that share an edge the one where the edge starts computes its flux.
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

// As carry, for mindiff: a root below the cut of its cell is 0 in `given`. At an edge between lanes
// each lane computes what its own cell gives (far_east, far_west), and the flux is the difference.
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
