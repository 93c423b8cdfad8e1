// aqua_tiled.cu -- one step of the flow of AQUA-GRAPH in whole quanta: each warp marches up a strip
// of columns, with three rows in registers.
//
// A strip has 128 columns, four per lane; 124 of them (x) are stored:
//
//     lane      0    1   ...  30   31         Neighbours in x are in the same lane or one shuffle
//     columns  --xx xxxx ... xxxx xx--        away; the columns -- only serve their neighbours.
//
// The pipeline. A row is at one stage per step; the step that reads row r works on five rows:
//
//     row r + 2             memory -> shared memory: copy starts
//     row r + 1             memory -> shared memory: copy in flight
//     row r      o---o---o  above   read from shared memory; edges along it and down to r - 1
//                | X | X |
//     row r - 1  o---o---o  here    its eight edges are known: factors; fluxes along and down to
//                | X | X |          r - 2
//     row r - 2  o---o---o  below   its eight fluxes are known: new depths, stored
//
// Rows stay in the same registers: the loop is unrolled by three, and in each of the three steps
// the rows a, b, c and the slots of the ring in shared memory have other roles:
//
//     step   a        b        c        ring[0]     ring[1]     ring[2]
//     0      below    here     above    r           r + 1       r + 2
//     1      above    below    here     r + 2       r           r + 1
//     2      here     above    below    r + 1       r + 2       r
//
// A march that stores the rows from y0 on begins by reading row y0 - 2; its first four steps store
// nothing. Rows come by asynchronous copies, since the compiler would move loads into registers to
// their first use. Per cell the march moves 12 bytes (bed and depth read, depth written) and takes
// about 120 instructions (mean), which limit its speed.
//
// Dry tiles are skipped. A strip is divided into tiles of AQUA_TILE_ROWS rows; each has a byte of
// marks (engine/solvers/aqua/aqua_kernels_cuda.h). Tile T is computed if T, the tile above or below
// it, or the near side of one of the six tiles beside these is wet (E: AQUA_WET_EAST, the two
// eastern columns; W: AQUA_WET_WEST, the two western columns):
//
//     E * W     Runs of tiles to be computed are one march. The depths of other tiles are 0 in both
//     E T W     copies; a tile that has just become dry is set to 0 once, since the copy of two
//     E * W     steps ago still has its water. A march reads marks of one copy and writes its own
//               marks of the other copy, so blocks need not wait for each other. If the frame may
//               hold water (f.framed), tiles next to it are always computed.
//
// A march has at most MOST_TILES tiles. The last marches of a step are shorter, so that all
// multiprocessors finish together. The arithmetic: engine/solvers/aqua/aqua_tiled_row.cuh.
#include "engine/solvers/aqua/aqua_tiled_row.cuh"

namespace {

// The ring of rows in shared memory, which are copied AHEAD rows ahead. A lane reads only what it
// has copied itself, so no barrier is needed.
enum { AHEAD = 2, SLOTS = AHEAD + 1 };
struct slot {
    alignas(16) float bed[LANES][COLUMNS], alpha[LANES][COLUMNS];
    alignas(16) int32_t water[LANES][COLUMNS];
};

// The state of a march: where a lane reads and stores. The march reads up to four columns before a
// row and a few rows and columns behind the last: no result depends on them, but the memory must
// exist (AQUA_GPU_MARGIN).
struct strip {
    const float *bed, *alpha;
    const int32_t *from;
    int32_t *to, most = 0, peak = 0; // greatest depth of this tile; of the tiles before
    uint8_t *mark;                   // of this tile
    int stored = 0;                  // bit c: column c is stored; 0 in the first 2 HALO steps
    bool ragged; // some lane stores a set of columns other than the first two, last two or all
    bool started = false; // the first 2 HALO steps are done
    int until = 2 * HALO, // steps to the end of the tile, or of the start
        rows;             // rows to store after that
    int32_t due = 0, end; // infiltration per cell, as far as there is water; end of the rows
};

// Starts the copy of the next row to a slot.
template <bool ALPHAS>
__device__ __forceinline__ void bring_row(strip &s, int64_t pitch, slot &to) {
    wide_ask(s.bed, to.bed[threadIdx.x]);
    wide_ask(s.from, to.water[threadIdx.x]);
    s.bed += pitch;
    s.from += pitch;
    if (ALPHAS) {
        wide_ask(s.alpha, to.alpha[threadIdx.x]);
        s.alpha += pitch;
    }
    wide_end_group();
}

// Waits for the oldest copy and loads its row into registers. `same`: alpha without ALPHAS.
template <bool ALPHAS>
__device__ __forceinline__ void take_row(const slot &from, float same, row &r) {
    wide_wait<AHEAD - 1>();
    wide_load(from.bed[threadIdx.x], r.bed);
    wide_load(from.water[threadIdx.x], r.water);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        r.alpha[c] = ALPHAS ? from.alpha[threadIdx.x][c] : same;
    }
}

// Subtracts the infiltration from a row and adds it to the row's sum. A strip's part of a row is
// less than 2^32 quanta (aqua_store.most_rain).
__device__ __forceinline__ void soak(const strip &s, sel_total *soil, int32_t after[COLUMNS]) {
    uint32_t taken = 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int32_t part = min(after[c], s.due);
        after[c] -= part;
        taken += s.stored >> c & 1 ? part : 0;
    }
    if (soil && s.started) {
        taken = sum_of_lanes(taken);
        if (threadIdx.x == 0) {
            atomicAdd((unsigned long long *)&soil[s.end - s.until - s.rows].whole, taken);
        }
    }
}

template <bool SOAKS>
__device__ __forceinline__ void store_row(strip &s, int64_t pitch, sel_total *soil,
                                          int32_t after[COLUMNS]) {
    s.most = __vimax3_s32(__vimax3_s32(s.most, after[0], after[1]), after[2], after[3]);
    if (SOAKS) {
        soak(s, soil, after);
    }
    if (s.stored == 15) {
        *(int4 *)s.to = make_int4(after[0], after[1], after[2], after[3]);
    }
    if (s.stored == 12) {
        *(int2 *)(s.to + 2) = make_int2(after[2], after[3]);
    }
    if (s.stored == 3) {
        *(int2 *)s.to = make_int2(after[0], after[1]);
    }
    if (s.ragged) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            if (s.stored >> c & 1) {
                s.to[c] = after[c];
            }
        }
    }
    s.to += pitch;
}

// Bit c: column c of the lane is stored.
__device__ __forceinline__ int columns_stored(const aqua_gpu_flow &f, int column) {
    int stored = 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int in_strip = COLUMNS * (int)threadIdx.x + c, x = column + c - HALO;
        const bool is =
            in_strip >= HALO && in_strip < STRIP - HALO && x >= 0 && x < (int)f.layout.nx;
        stored |= (int)is << c;
    }
    return stored;
}

// Ends the first steps or a tile, with its marks, and begins the next tile. False: the march is
// done.
__device__ __forceinline__ bool next_tile(strip &s, const aqua_gpu_flow &f, int stored) {
    if (s.stored) {
        s.peak = max(s.peak, s.most);
    }
    if (s.mark && s.started) {
        const unsigned wet = __ballot_sync(~0u, s.most > 0);
        if (threadIdx.x == 0) {
            *s.mark = (wet ? AQUA_WET : 0) | (wet & 1u ? AQUA_WET_WEST : 0) |
                      (wet >> (LANES - 1) ? AQUA_WET_EAST : 0);
        }
        s.mark += (int)f.layout.across;
    }
    s.started = true;
    s.stored = stored;
    s.most = 0;
    s.until = min(s.rows, (int)AQUA_TILE_ROWS);
    s.rows -= s.until;
    return s.until > 0;
}

// Finds the depths beyond the limit among those that a march has stored, and reports them.
__device__ __noinline__ void raise_alarm(const aqua_gpu_flow &f, const int32_t *to, int stored,
                                         int rows, int32_t limit) {
    for (int k = 0; k < rows * COLUMNS; k++) {
        const int32_t *at = to + (int64_t)(k / COLUMNS) * f.layout.pitch + k % COLUMNS;
        if ((stored >> k % COLUMNS & 1) && *at > limit) {
            aqua_raise(f, 2, at - (const int32_t *)f.to);
        }
    }
}

// One step of the pipeline after a row has been read into `above`: edges of `above`, factors of
// `here`, new depths `after` of `below`.
template <int EQUILIBRIUM, bool LEAST>
__device__ __forceinline__ void march(row &below, row &here, row &above, float least, bool framed,
                                      bool rough[COLUMNS], int32_t after[COLUMNS]) {
    join<EQUILIBRIUM, LEAST>(here, above, least);
    if (EQUILIBRIUM == AQUA_MINDIFF) {
        find_cut_factors<LEAST>(here, above, least);
        carry_cut(below, here, after);
    } else {
        find_factors<EQUILIBRIUM == AQUA_FILL, LEAST>(below, here, above, least, framed, rough);
        carry(below, here, after);
    }
}

// Makes r a row without ground.
__device__ __forceinline__ void clear(row &r) {
    r = {};
    r.bed[0] = r.bed[1] = r.bed[2] = r.bed[3] = (float)AQUA_NO_GROUND;
    r.bed_left = r.bed_right = (float)AQUA_NO_GROUND;
}

// Marches over the rows y0 <= y < y0 + rows of a strip; row y0 begins a tile.
template <int EQUILIBRIUM, bool LEAST, bool ALPHAS, bool SOAKS>
__device__ __forceinline__ void march_rows(const aqua_gpu_flow &f, slot ring[SLOTS], int number,
                                           int tile, int y0, int rows) {
    const int column = -COLUMNS + number * STORED + COLUMNS * (int)threadIdx.x;
    const int stored = columns_stored(f, column);
    const int64_t pitch = f.layout.pitch, at = y0 * pitch + column;
    const float least = LEAST ? (float)f.store.least : 0.0f, same = (float)f.store.alpha;
    strip s;
    s.bed = (const float *)f.bed + at;
    s.alpha = ALPHAS ? (const float *)f.alphas + at : nullptr;
    s.from = (const int32_t *)f.from + at;
    s.to = (int32_t *)f.to + at - HALO * pitch;
    s.mark = f.marks_to ? f.marks_to + (int64_t)tile * (int)f.layout.across + number : nullptr;
    s.ragged = __any_sync(~0u, stored != 0 && stored != 3 && stored != 12 && stored != 15);
    s.rows = rows;
    s.end = y0 + rows;
    if (SOAKS) {
        s.due = (int32_t)aqua_amounts_of(f)[AQUA_SOIL];
    }
    bool rough[COLUMNS] = {false, false, false, false};
    row a, b, c;
    clear(a);
    clear(b);
    bring_row<ALPHAS>(s, pitch, ring[0]);
    bring_row<ALPHAS>(s, pitch, ring[1]);
#define ROW(below, here, above, k)                                                    \
    {                                                                                 \
        int32_t after[COLUMNS];                                                       \
        take_row<ALPHAS>(ring[k], same, above);                                       \
        bring_row<ALPHAS>(s, pitch, ring[(k + AHEAD) % SLOTS]);                       \
        march<EQUILIBRIUM, LEAST>(below, here, above, least, f.framed, rough, after); \
        store_row<SOAKS>(s, pitch, f.soil, after);                                    \
        if (--s.until == 0 && !next_tile(s, f, stored)) {                             \
            break;                                                                    \
        }                                                                             \
    }
    while (true) {
        ROW(a, b, c, 0)
        ROW(b, c, a, 1)
        ROW(c, a, b, 2)
    }
#undef ROW
    wide_wait<0>();
    if (s.peak > (int32_t)f.store.limit) {
        raise_alarm(f, s.to - rows * pitch, stored, rows, (int32_t)f.store.limit - s.due);
    }
}

enum { MOST_TILES = 22 };     // of a march; at most 30, since a vote has 32 lanes
enum { BLOCKS_AT_ONCE = 12 }; // on a multiprocessor: with more, registers are spilt

// The first row of a tile.
__device__ __forceinline__ int row_of_tile(const aqua_gpu_flow &f, int tile) {
    return tile * AQUA_TILE_ROWS - (int)f.layout.shift;
}

// Bit k of the result: tile first + k must be computed. Bit k of *stale: it need not, but its copy
// of two steps ago has water.
__device__ __forceinline__ unsigned find_awake(const aqua_gpu_flow &f, int number, int first,
                                               int tiles, unsigned *stale) {
    const int across = (int)f.layout.across, tile = first - 1 + (int)threadIdx.x;
    const int x_end = (number + 1) * STORED - COLUMNS;
    const bool here = tile >= 0 && row_of_tile(f, tile) < (int)f.layout.ny;
    const bool rim = f.framed && (number == 0 || x_end + HALO > (int)f.layout.nx || tile == 0 ||
                                  row_of_tile(f, tile + 1) + HALO > (int)f.layout.ny);
    bool wet = false, was = false;
    if (here && (int)threadIdx.x < tiles + 2) {
        const uint8_t *mark = f.marks_from + (int64_t)tile * across + number;
        wet = mark[0] || (number > 0 && (mark[-1] & AQUA_WET_EAST)) ||
              (number < across - 1 && (mark[1] & AQUA_WET_WEST));
        was = f.marks_to[(int64_t)tile * across + number];
    }
    const unsigned all = (1u << tiles) - 1, w = __ballot_sync(~0u, wet);
    const unsigned awake = (w | w >> 1 | w >> 2 | __ballot_sync(~0u, rim) >> 1) & all;
    *stale = __ballot_sync(~0u, was) >> 1 & all & ~awake;
    return awake;
}

// Sets the depths and the marks of a tile that has become dry to 0.
__device__ void dry_tile(const aqua_gpu_flow &f, int number, int tile) {
    const int begin = max(number * STORED - COLUMNS, 0);
    const int end = min((number + 1) * STORED - COLUMNS, (int)f.layout.nx);
    const int y1 = min(row_of_tile(f, tile + 1), (int)f.layout.end);
    for (int y = row_of_tile(f, tile); y < y1; y++) {
        for (int x = begin + (int)threadIdx.x; x < end; x += LANES) {
            ((int32_t *)f.to)[(int64_t)(y + HALO) * f.layout.pitch + x + HALO] = 0;
        }
    }
    if (threadIdx.x == 0) {
        f.marks_to[(int64_t)tile * (int)f.layout.across + number] = 0;
    }
}

// The division of strips into marches: in each strip first `coarse` marches of `tiles` tiles, then
// marches of `fine` tiles, which balance the load at the end of the step.
struct division {
    int tiles, coarse, fine;
};

template <int EQUILIBRIUM, bool LEAST, bool ALPHAS, bool SOAKS>
__global__ void __launch_bounds__(LANES, BLOCKS_AT_ONCE)
    march_kernel(const __grid_constant__ aqua_gpu_flow f, division d) {
    const int number = blockIdx.x % (int)f.layout.across, turn = blockIdx.x / (int)f.layout.across;
    const int behind = turn - d.coarse;
    const int first = (int)(f.layout.first + f.layout.shift) / AQUA_TILE_ROWS +
                      (behind < 0 ? turn * d.tiles : d.coarse * d.tiles + behind * d.fine);
    const int there =
        (int)(f.layout.end + f.layout.shift + AQUA_TILE_ROWS - 1) / AQUA_TILE_ROWS - first;
    const int tiles = min(behind < 0 ? d.tiles : d.fine, there);
    __shared__ slot ring[SLOTS];
    unsigned stale = 0, awake = (1u << tiles) - 1;
    if (cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    if (f.marks_from) {
        awake = find_awake(f, number, first, tiles, &stale);
    }
    for (; stale; stale &= stale - 1) {
        dry_tile(f, number, first + __ffs(stale) - 1);
    }
    while (awake) {
        const int begin = __ffs(awake) - 1, count = __ffs(~(awake >> begin)) - 1;
        const int y0 = row_of_tile(f, first + begin);
        const int rows = min(count * AQUA_TILE_ROWS, (int)f.layout.end - y0);
        march_rows<EQUILIBRIUM, LEAST, ALPHAS, SOAKS>(f, ring, number, first + begin, y0, rows);
        awake &= ~(((1u << count) - 1) << begin);
    }
}

// Chooses marches that are long enough to amortise their first steps, but several per block that
// the device can hold (`places` blocks); then short ones, two per block. `high`: tiles of a strip.
division divide(int64_t across, int64_t high, int64_t places) {
    const int64_t each = across * high / places;
    const int tiles = each >= 160  ? MOST_TILES
                      : each >= 96 ? 16
                      : each >= 24 ? 8
                      : each >= 6  ? 4
                      : each >= 3  ? 2
                                   : 1;
    const int fine = tiles < 4 ? 1 : tiles / 4;
    const int64_t last = 2 * places / across * fine;
    return {tiles, last < high ? (int)((high - last) / tiles) : 0, fine};
}

} // namespace

cudaError_t aqua_gpu_march(const aqua_gpu_flow *f, const march_device *on) {
#define KERNELS(E, LEAST)                                                      \
    march_kernel<E, LEAST, false, false>, march_kernel<E, LEAST, false, true>, \
        march_kernel<E, LEAST, true, false>, march_kernel<E, LEAST, true, true>
    static const decltype(&march_kernel<0, false, false, false>) kernels[AQUA_EQUILIBRIA][8] = {
        {KERNELS(AQUA_FILL, false), KERNELS(AQUA_FILL, true)},
        {KERNELS(AQUA_MEAN, false), KERNELS(AQUA_MEAN, true)},
        {KERNELS(AQUA_MINDIFF, false), KERNELS(AQUA_MINDIFF, true)}};
    const int which = 4 * (f->store.least > 0) + 2 * (f->alphas != nullptr) + f->soaks;
    const auto march = kernels[f->equilibrium][which];
    const int64_t across = f->layout.across;
    const int64_t rows = f->layout.end - f->layout.first; // from the begin of a tile on
    const int64_t high = (rows + AQUA_TILE_ROWS - 1) / AQUA_TILE_ROWS;
    const division d = divide(across, high, on->processors * BLOCKS_AT_ONCE);
    const int64_t behind = high - (int64_t)d.coarse * d.tiles;
    const int64_t turns = d.coarse + (behind + d.fine - 1) / d.fine;
    march<<<(unsigned)(across * turns), LANES, 0, on->stream>>>(*f, d);
    return cudaGetLastError();
}
