// mg_sweeps.cuh -- two red-black sweeps over a level in one pass, and the residual restricted to
// the next level: for even bodies, whose couplings are tables by axis, in single precision, without
// periodic axes.
//
// In 3-D a block owns a tile of TILE_X x TILE_Y columns and marches plane by plane. HOLD_X x HOLD_Y
// columns are stored; the REACH columns around them only serve their neighbours. A thread has a
// quad: four cells along x. The passes over a colour follow each other at a distance of one plane;
// the iteration that reads plane z does
//
//     plane                   z         z - 1     z - 2     z - 3            z - 4
//     FROM_NEXT, FROM_BOTH    read      1 red     2 black   3 red            4 black, stored
//     FROM_ZERO               read,     1 black   2 red     3 black, stored
//                             0 red
//
// From zero the first red pass needs no neighbours (e = omega f / diagonal) and is done at once.
//
// A cell reads only cells of the other colour. The cells above and below are the thread's own, in
// registers for the last RING planes. The cells beside it in y and at the ends of the quad come
// through shared memory, where each pass leaves its result for the next pass; so a plane takes one
// barrier. A quad is stored by colour, and the place of its first red cell alternates:
//
//     y + z even    R B R B        e[plane][0] = the two red cells
//     y + z odd     B R B R        e[plane][1] = the two black cells
//
// All rows of a warp have the same parity, and the loop is unrolled by RING (even): the places of
// the red cells are known at compile time.
//
// In 2-D rows along y take the place of planes: a warp owns a strip of STRIP columns, of which it
// stores HOLD_STRIP, and gets neighbours along x from other lanes by shuffles.
#ifndef CUDA_MG_SWEEPS_CUH
#define CUDA_MG_SWEEPS_CUH

#include "cuda/wide.cuh"

enum { TILE_X = 64, TILE_Y = 32, QUAD = 4, REACH = 4, QUADS = TILE_X / QUAD, RING = 6 };
enum { TEAM = QUADS * TILE_Y, MOST_PLANES = 128, AHEAD = 2 };
enum { HOLD_X = TILE_X - 2 * REACH, HOLD_Y = TILE_Y - 2 * REACH };
enum { STRIP = 32 * QUAD, HOLD_STRIP = STRIP - 2 * REACH };

// The e with which the sweeps begin: 0, the correction from the next level, or `from` plus that
// correction.
enum { FROM_ZERO, FROM_NEXT, FROM_BOTH };

struct sweeps {
    mg_level v, next;
    const float *from; // e before the sweeps, for FROM_BOTH
    float *to;         // e after the sweeps
    int planes;        // planes per block; even, at most MOST_PLANES
    mg_cells cells;    // that are stored; lo is even
    mg_cells there;    // whose f and e this rank has
    mg_cells next_there;
};

static __device__ __forceinline__ bool is_there(const mg_cells &there, int axis, int i) {
    return i >= there.lo[axis] && i < there.hi[axis];
}

// Shared memory of a block.
template <bool DEEP> struct sides {
    // 3-D: of[pass][z & 1][ty][tx]: the two cells of a quad that the pass has computed (pass 0:
    // that were read), for the neighbours in the next pass.
    float2 of[4][2][DEEP ? TILE_Y + 2 : 1][QUADS + 2];
    float4 z[MOST_PLANES + 6 * REACH]; // coupling to the planes below, above; part of the diagonal
    float2 weight[MOST_PLANES + 6 * REACH];        // MG_OWN and MG_OTHER of a plane
    float4 f[AHEAD + 1][TEAM], e[AHEAD + 1][TEAM]; // ring of planes in flight from memory
};

// A thread's quad: (x, y) is its first cell, (tx, ty) its place in sides.of. Couplings and parts of
// the diagonal along x and y.
struct quad {
    int x, y, tx, ty, count; // count: cells inside the grid
    float low[QUAD], high[QUAD], middle[QUAD], y_low, y_high, y_middle;
};

static __device__ __forceinline__ float table_at(const mg_level &v, int axis, int which, int i) {
    return ((const float *)v.table[axis][which])[i];
}

// Loads the couplings of a quad along x. A cell outside the grid gets the diagonal `none`.
static __device__ __forceinline__ void take_along_x(const mg_level &v, float none, quad &q) {
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        q.low[i] = i < q.count ? table_at(v, 0, MG_LOW, q.x + i) : 0;
        q.high[i] = i < q.count ? table_at(v, 0, MG_HIGH, q.x + i) : 0;
        q.middle[i] = i < q.count ? table_at(v, 0, MG_MIDDLE, q.x + i) : none;
    }
}

static __device__ __forceinline__ void load_quad(const float *from, float to[QUAD]) {
    const float4 all = *(const float4 *)from;
    to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
}

static __device__ __forceinline__ float reciprocal(float b) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b));
    return y;
}

static __device__ __forceinline__ double reciprocal(double b) {
    return 1 / b;
}

// MG_OMEGA / b for the diagonal b; 0 for cells outside the grid, whose diagonal is -infinity.
static __device__ __forceinline__ float over(float b) {
    return b > 0 ? (float)MG_OMEGA * reciprocal(b) : 0;
}

// Relaxes the two cells `to` of one colour, at places ODD and 2 + ODD of the quad. `other`,
// `below`, `above`: the cells of the other colour in this plane and beside the two cells in the
// planes below and above.
template <bool DEEP, int ODD>
static __device__ __forceinline__ void
relax_pair(const quad &q, const float4 &z, const float2 (*side)[QUADS + 2], const float f[2],
           const float other[2], const float below[2], const float above[2], float to[2]) {
    const float2 none = {0, 0}, south = DEEP ? side[q.ty - 1][q.tx] : none,
                 north = DEEP ? side[q.ty + 1][q.tx] : none;
    const float beside = DEEP  ? ODD ? side[q.ty][q.tx + 1].x : side[q.ty][q.tx - 1].y
                         : ODD ? lane_behind(other[0])
                               : lane_before(other[1]);
    const float low[2] = {ODD ? other[0] : beside, ODD ? other[1] : other[0]};
    const float high[2] = {ODD ? other[1] : other[0], ODD ? beside : other[1]};
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int i = 2 * k + ODD;
        float sum = f[k] + q.low[i] * low[k] + q.high[i] * high[k];
        if (DEEP) {
            sum += q.y_low * (k ? south.y : south.x);
            sum += q.y_high * (k ? north.y : north.x);
        }
        sum += z.x * below[k];
        sum += z.y * above[k];
        to[k] = (1 - (float)MG_OMEGA) * to[k] + over(q.middle[i] + (q.y_middle + z.z)) * sum;
    }
}

// The corrections of the next level around a quad: those of the coarse planes k - 1, k, k + 1, in
// 3-D interpolated along y.
struct coarse {
    float of[3][QUAD], own, other; // own, other: weights of the two coarse rows
    const float *at;               // e in the own coarse row of the plane that is read next
    int64_t apart, stride;         // offsets to the other coarse row, to the next coarse plane
};

// Advances to the next coarse plane; 0 if it is not there.
template <bool DEEP> static __device__ __forceinline__ void next_plane(coarse &c, bool there) {
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        c.of[0][i] = c.of[1][i];
        c.of[1][i] = c.of[2][i];
        c.of[2][i] = 0;
    }
    if (there) {
#pragma unroll
        for (int row = 0; row < (DEEP ? 2 : 1); row++) {
            const float *e = c.at + row * c.apart, w = row ? c.other : c.own;
            const float2 middle = *(const float2 *)e;
            c.of[2][0] += w * e[-1];
            c.of[2][1] += w * middle.x;
            c.of[2][2] += w * middle.y;
            c.of[2][3] += w * e[2];
        }
    }
    c.at += c.stride;
}

// Starts the copies of f and e of plane z to shared memory. (The compiler would move loads into
// registers to their first use.)
template <bool DEEP, int START>
static __device__ __forceinline__ void ask(const sweeps &s, sides<DEEP> &mine, const quad &q, int z,
                                           int slot) {
    const int64_t at = q.x + q.y * s.v.stride[1] + z * s.v.stride[DEEP + 1];
    const bool there = q.count > 0 && is_there(s.there, DEEP + 1, z);
    wide_ask((const float *)s.v.f + at, &mine.f[slot][threadIdx.x], there);
    if (START == FROM_BOTH) {
        wide_ask(s.from + at, &mine.e[slot][threadIdx.x], there);
    }
    wide_end_group();
}

// Waits for the oldest copies, of plane z; returns its f, and its e with the corrections of the
// next level. `odd`: z is odd.
template <bool DEEP, int START>
static __device__ __forceinline__ void take(const sweeps &s, const sides<DEEP> &mine, const quad &q,
                                            coarse &c, int z, float2 weight, bool odd, int slot,
                                            float f[QUAD], float e[QUAD]) {
    const mg_level &v = s.v;
    const int ahead = ((z + 1) >> 1) + 1; // the coarse plane that next_plane reads
    wide_wait<AHEAD - 1>();
    load_quad(&mine.f[slot][threadIdx.x].x, f);
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        e[i] = 0;
    }
    if (START == FROM_BOTH) {
        load_quad(&mine.e[slot][threadIdx.x].x, e);
    }
    if (START != FROM_ZERO && q.count > 0 && is_there(s.there, DEEP + 1, z)) {
        float all[QUAD], own[QUAD], other[QUAD];
        load_quad((const float *)v.table[0][MG_OWN] + q.x, own);
        load_quad((const float *)v.table[0][MG_OTHER] + q.x, other);
#pragma unroll
        for (int i = 0; i < QUAD; i++) {
            all[i] = weight.x * c.of[1][i] + weight.y * c.of[odd ? 2 : 0][i];
        }
#pragma unroll
        for (int i = 0; i < QUAD; i++) {
            const int at = 1 + i / 2, beside = at + (i % 2 ? 1 : -1);
            e[i] += i < q.count ? own[i] * all[at] + other[i] * all[beside] : 0;
        }
    }
    if (START != FROM_ZERO && odd) { // planes z + 1 and z + 2 are next to the plane above them
        next_plane<DEEP>(c, q.count > 0 && is_there(s.next_there, DEEP + 1, ahead));
    }
}

// Marches over the planes of a block; ODD_ROW: y is odd.
template <bool DEEP, int ODD_ROW, int START>
static __device__ __forceinline__ void march(const sweeps &s, sides<DEEP> &mine, const quad &q) {
    constexpr int LAST = START == FROM_ZERO ? 3 : 4; // the last pass
    constexpr int FIRST = START == FROM_ZERO;        // the colour of pass 1: 0 red, 1 black
    const mg_level &v = s.v;
    const int z0 = s.cells.lo[DEEP + 1] + blockIdx.z * s.planes,
              z1 = min(z0 + s.planes, s.cells.hi[DEEP + 1]);
    const bool holds = DEEP ? q.tx > REACH / QUAD && q.tx <= QUADS - REACH / QUAD && q.ty > REACH &&
                                  q.ty <= TILE_Y - REACH && q.y < s.cells.hi[1]
                            : q.tx >= REACH / QUAD && q.tx < 32 - REACH / QUAD;
    const int count = holds ? q.count : 0;
    float e[RING][2][2] = {}, f[RING][2][2] = {};
    coarse c = {};
    if (START != FROM_ZERO) {
        c.own = !DEEP ? 1 : q.count ? table_at(v, 1, MG_OWN, q.y) : 0;
        c.other = DEEP && q.count ? table_at(v, 1, MG_OTHER, q.y) : 0;
        c.stride = s.next.stride[DEEP + 1];
        c.apart = ODD_ROW ? s.next.stride[1] : -s.next.stride[1];
        const int k = (z0 - REACH) / 2;
        c.at =
            (const float *)s.next.e + q.x / 2 + (q.y >> 1) * s.next.stride[1] + (k - 1) * c.stride;
        next_plane<DEEP>(c, q.count > 0 && is_there(s.next_there, DEEP + 1, k - 1));
        next_plane<DEEP>(c, q.count > 0 && is_there(s.next_there, DEEP + 1, k));
        next_plane<DEEP>(c, q.count > 0 && is_there(s.next_there, DEEP + 1, k + 1));
    }
    ask<DEEP, START>(s, mine, q, z0 - REACH, 0);
    ask<DEEP, START>(s, mine, q, z0 - REACH + 1, 1);
    for (int z = z0 - REACH; z < z1 + LAST;) {
#pragma unroll
        for (int K = 0; K < RING; K++, z++) {
            const int red =
                (ODD_ROW + K) & 1; // place of the first red cell; K and z have one parity
            float new_f[QUAD], new_e[QUAD];
            take<DEEP, START>(s, mine, q, c, z, mine.weight[z - z0 + 2 * REACH], K % 2,
                              K % (AHEAD + 1), new_f, new_e);
            ask<DEEP, START>(s, mine, q, z + AHEAD, (K + AHEAD) % (AHEAD + 1));
#pragma unroll
            for (int i = 0; i < QUAD; i++) {
                f[K][(i + red) & 1][i / 2] = new_f[i];
                e[K][(i + red) & 1][i / 2] = new_e[i];
            }
            if (START == FROM_ZERO) { // pass 0, over the red cells
                const float rest = q.y_middle + mine.z[z - z0 + 2 * REACH].z;
                e[K][0][0] = over(q.middle[red] + rest) * f[K][0][0];
                e[K][0][1] = over(q.middle[2 + red] + rest) * f[K][0][1];
            }
            if (DEEP) {
                mine.of[0][K & 1][q.ty][q.tx] = make_float2(e[K][1 - FIRST][0], e[K][1 - FIRST][1]);
            }
#pragma unroll
            for (int pass = 1; pass <= LAST; pass++) {
                const int p = (K - pass + RING) % RING, up = (p + 1) % RING;
                const int down = (p + RING - 1) % RING, colour = (FIRST + pass - 1) & 1;
                const float4 along = mine.z[z - pass - z0 + 2 * REACH];
                const auto *side = mine.of[pass - 1][p & 1];
                if ((ODD_ROW + p + colour) & 1) {
                    relax_pair<DEEP, 1>(q, along, side, f[p][colour], e[p][1 - colour],
                                        e[down][1 - colour], e[up][1 - colour], e[p][colour]);
                } else {
                    relax_pair<DEEP, 0>(q, along, side, f[p][colour], e[p][1 - colour],
                                        e[down][1 - colour], e[up][1 - colour], e[p][colour]);
                }
                if (DEEP && pass < LAST) {
                    mine.of[pass][p & 1][q.ty][q.tx] =
                        make_float2(e[p][colour][0], e[p][colour][1]);
                }
            }
            const int p = (K - LAST + RING) % RING, r = (ODD_ROW + p) & 1;
            float *to = s.to + q.x + q.y * v.stride[1] + (z - LAST) * v.stride[DEEP + 1];
            if (count > 0 && z - LAST >= z0 && z - LAST < z1) {
                const float all[QUAD] = {e[p][r][0], e[p][1 - r][0], e[p][r][1], e[p][1 - r][1]};
                if (count == QUAD) {
                    *(float4 *)to = make_float4(all[0], all[1], all[2], all[3]);
                }
#pragma unroll
                for (int i = 0; i < QUAD - 1; i++) {
                    if (count < QUAD && i < count) {
                        to[i] = all[i];
                    }
                }
            }
            if (DEEP) {
                // Warps of odd and of even rows run different copies of this code; __syncthreads()
                // must be the same one for all warps.
                asm volatile("bar.sync 0;" ::: "memory");
            }
        }
    }
}

template <bool DEEP, int START>
__global__ void __launch_bounds__(TEAM, 1)
    sweeps_kernel(const __grid_constant__ sweeps s, const int64_t *stop) {
    extern __shared__ char memory[];
    sides<DEEP> &mine = *(sides<DEEP> *)memory;
    const mg_level &v = s.v;
    const int axis = DEEP + 1, team = blockDim.x; // the last axis
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (*stop) {
        return;
    }
    for (int k = threadIdx.x; k < MOST_PLANES + 6 * REACH; k += team) {
        const int z = s.cells.lo[axis] + blockIdx.z * s.planes + k - 2 * REACH;
        mine.z[k] = make_float4(0, 0, -INFINITY, 0);
        mine.weight[k] = make_float2(0, 0);
        if (is_there(s.there, axis, z)) {
            mine.z[k] = make_float4(table_at(v, axis, MG_LOW, z), table_at(v, axis, MG_HIGH, z),
                                    table_at(v, axis, MG_MIDDLE, z), 0);
            mine.weight[k] =
                make_float2(table_at(v, axis, MG_OWN, z), table_at(v, axis, MG_OTHER, z));
        }
    }
    quad q = {.tx = lane};
    if (DEEP) {
        for (int k = threadIdx.x; k < (int)(sizeof mine.of / sizeof(float2)); k += team) {
            (&mine.of[0][0][0][0])[k] = make_float2(0, 0);
        }
        q.tx = lane % QUADS;
        q.ty = warp / 2 * 4 + warp % 2 + 2 * (lane / QUADS);
        q.x = (int)blockIdx.x * HOLD_X - REACH + QUAD * q.tx++;
        q.y = s.cells.lo[1] + (int)blockIdx.y * HOLD_Y - REACH + q.ty++;
    } else {
        q.x = ((int)blockIdx.x * (team / 32) + warp) * HOLD_STRIP - REACH + QUAD * lane;
    }
    q.count = q.x < 0 || (DEEP && !is_there(s.there, 1, q.y))
                  ? 0
                  : max(0, min((int)QUAD, (int)v.n[0] - q.x));
    take_along_x(v, -INFINITY, q);
    if (DEEP) {
        q.y_low = q.count ? table_at(v, 1, MG_LOW, q.y) : 0;
        q.y_high = q.count ? table_at(v, 1, MG_HIGH, q.y) : 0;
        q.y_middle = q.count ? table_at(v, 1, MG_MIDDLE, q.y) : 0;
    }
    __syncthreads();
    DEEP &&warp % 2 ? march<DEEP, 1, START>(s, mine, q) : march<DEEP, 0, START>(s, mine, q);
}

// Launches the sweeps for the cells of this rank and `more` planes and rows of its halo.
template <bool DEEP, int START>
static void launch_sweeps(const mg_level &v, const mg_level &next, int more, const void *from,
                          void *to, const int64_t *stop, cudaStream_t stream) {
    sweeps s = {};
    s.v = v;
    s.next = next;
    s.from = (const float *)from;
    s.to = (float *)to;
    const int slow = DEEP + 1;
    const sel_patch cells = mg_patch(&v, more), there = mg_patch(&v, MG_HALO),
                    next_there = mg_patch(&next, MG_HALO);
    s.cells = mg_cells_of(&cells);
    s.there = mg_cells_of(&there);
    s.next_there = mg_cells_of(&next_there);
    for (int a = 1; a <= slow; a++) {
        s.cells.lo[a] &= ~1;
    }
    const int64_t strips = (v.n[0] + HOLD_STRIP - 1) / HOLD_STRIP,
                  high = s.cells.hi[slow] - s.cells.lo[slow];
    const int team = DEEP || strips * 32 > TEAM ? TEAM : (int)strips * 32, warps = team / 32;
    const int64_t x = DEEP ? (v.n[0] + HOLD_X - 1) / HOLD_X : (strips + warps - 1) / warps;
    const int64_t y = DEEP ? (s.cells.hi[1] - s.cells.lo[1] + HOLD_Y - 1) / HOLD_Y : 1;
    int planes = MOST_PLANES;
    while (planes > (DEEP ? 32 : 8) && x * y * high < 100 * planes) {
        planes /= 4;
    }
    const dim3 blocks((unsigned)x, (unsigned)y, (unsigned)((high + planes - 1) / planes));
    const auto kernel = sweeps_kernel<DEEP, START>;
    const int size = (int)sizeof(sides<DEEP>);
    s.planes = planes;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, size);
    kernel<<<blocks, team, size, stream>>>(s, stop);
}

// Adds w times the residual of a fine row to the sums of the two coarse cells of a quad. Lane 0 of
// a warp only serves lane 1.
template <bool DEEP>
static __device__ __forceinline__ void add_row(const mg_level &v, const quad &q, int y, int z,
                                               float w, const float weight[6], float sum[2]) {
    const int64_t at = q.x + y * v.stride[1] + z * v.stride[2];
    const float *e = (const float *)v.e + at,
                *beside[4] = {e - v.stride[1], e + v.stride[1], e - v.stride[2], e + v.stride[2]};
    const float k[4] = {table_at(v, 1, MG_LOW, y), table_at(v, 1, MG_HIGH, y),
                        DEEP ? table_at(v, 2, MG_LOW, z) : 0,
                        DEEP ? table_at(v, 2, MG_HIGH, z) : 0};
    const float rest = table_at(v, 1, MG_MIDDLE, y) + (DEEP ? table_at(v, 2, MG_MIDDLE, z) : 0);
    float here[QUAD + 2] = {0}, r[QUAD] = {0};
    if (q.count > 0) {
        load_quad(e, here + 1);
        load_quad((const float *)v.f + at, r);
        here[0] = e[-1];
        here[QUAD + 1] = e[QUAD];
#pragma unroll
        for (int b = 0; b < (DEEP ? 4 : 2); b++) {
            float other[QUAD];
            load_quad(beside[b], other);
#pragma unroll
            for (int i = 0; i < QUAD; i++) {
                r[i] += k[b] * other[i];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        r[i] += q.low[i] * here[i] + q.high[i] * here[i + 2] - (q.middle[i] + rest) * here[i + 1];
    }
    const float before = lane_before(r[QUAD - 1]);
    sum[0] += w * (weight[0] * before + weight[1] * r[0] + weight[2] * r[1]);
    sum[1] += w * (weight[3] * r[1] + weight[4] * r[2] + weight[5] * r[3]);
}

enum { RESTRICT_WARPS = 4, RESTRICTED = 31 * QUAD / 2 }; // RESTRICTED: coarse cells per warp

template <bool DEEP>
__global__ void __launch_bounds__(RESTRICT_WARPS * 32)
    restrict_kernel(const __grid_constant__ mg_level v, const __grid_constant__ mg_level next,
                    mg_cells cells, const int64_t *stop) {
    const int y = cells.lo[1] + blockIdx.y * RESTRICT_WARPS + threadIdx.x / 32;
    const int z = DEEP ? cells.lo[2] + blockIdx.z : 0;
    const int x = (int)blockIdx.x * RESTRICTED + 2 * ((int)threadIdx.x % 32 - 1);
    if (*stop || y >= cells.hi[1]) {
        return;
    }
    quad q = {.x = 2 * x};
    float weight[6] = {0}, sum[2] = {0, 0};
    q.count = x < 0 ? 0 : max(0, min((int)QUAD, (int)v.n[0] - q.x));
    take_along_x(v, 0, q);
#pragma unroll
    for (int i = 0; i < 6; i++) {
        const bool there = x >= 0 && x + i / 3 < next.n[0];
        weight[i] = there ? table_at(v, 0, MG_RESIDUAL, 3 * x + i) : 0;
    }
    for (int k = 0; k < (DEEP ? 9 : 3); k++) {
        const float w = table_at(v, 1, MG_RESIDUAL, 3 * y + k % 3) *
                        (DEEP ? table_at(v, 2, MG_RESIDUAL, 3 * z + k / 3) : 1);
        if (w != 0) {
            add_row<DEEP>(v, q, 2 * y + k % 3 - 1, DEEP ? 2 * z + k / 3 - 1 : 0, w, weight, sum);
        }
    }
    const int64_t at = x + y * next.stride[1] + z * next.stride[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x % 32 > 0 && x + i < next.n[0]) {
            ((float *)next.f)[at + i] = sum[i];
            ((float *)next.e)[at + i] = 0;
        }
    }
}

// Restricts the residual to this rank's cells of the next level.
template <bool DEEP>
static void launch_restrict(const mg_level &v, const mg_level &next, const int64_t *stop,
                            cudaStream_t stream) {
    const mg_cells own = mg_cells_of(&next.own);
    const dim3 blocks((unsigned)((next.n[0] + RESTRICTED - 1) / RESTRICTED),
                      (unsigned)((own.hi[1] - own.lo[1] + RESTRICT_WARPS - 1) / RESTRICT_WARPS),
                      (unsigned)(own.hi[2] - own.lo[2]));
    restrict_kernel<DEEP><<<blocks, RESTRICT_WARPS * 32, 0, stream>>>(v, next, own, stop);
}

#endif
