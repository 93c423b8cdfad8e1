// temporal_blocking.cuh -- temporal blocking: several steps of a rule in one pass over a 2-D grid,
// in registers.
//
// A warp owns a strip of 32 COLUMNS columns, COLUMNS to a lane, and marches along y. Each of STEPS
// levels does one step: level k keeps the last two rows after k steps. With the row that enters it,
// it computes the row between them after k + 1 steps, which enters the next level:
//
//     after     0 steps     1 step      2 steps     3 steps       (STEPS = 3)
//     row y     enters
//     row y-1   kept 0      computed
//     row y-2   kept 0      kept 1      computed
//     row y-3               kept 1      kept 2      computed, stored
//     row y-4                           kept 2
//
// AT_ONCE rows enter together, and a level takes all of them before the next level begins: their
// cells do not depend on each other, which hides the latency of the arithmetic. Their loads are
// issued AT_ONCE rows earlier.
//
// There is no shared memory and no barrier: neighbours in x are in the same lane or one shuffle
// away. Each step makes the valid part of a strip one column narrower at either side, so strips
// overlap; likewise a tile of rows begins STEPS rows early:
//
//     columns of a strip   |-HALO-|-------- WIDTH stored --------|-HALO-|
//
// Tiles at the borders of the grid are of other kinds. They have a kernel of their own, so that the
// kernel of the inner tiles needs fewer registers:
//
//     corner  end   end   end   corner     end: has the first or last rows of the grid, and
//      side  inner inner inner   side           computes the rows beyond them
//      side  inner inner inner   side      side: has the first or last columns, and loads cell by
//     corner  end   end   end   corner          cell; the last strip ends with the grid
//
// The rule is a struct R:
//
//   real, stored, FIELDS          type of numbers in registers, in memory; numbers per cell
//   next(w, out)                  the new cell out[FIELDS] from the cells w[1 + dy][1 + dx][FIELDS]
//   beyond(face, near, far, out)  the cell beyond a face, from the first and second cell inside
//   site(face, k)                 two numbers of the k-th cell of a face
//   touched(here, out, site)      applies the surface of a cell on a face to its new value `out`
//
// Faces: 0 is x = 0, 1 is the last x, 2 is y = 0, 3 is the last y.
#ifndef CUDA_MARCH_CUH
#define CUDA_MARCH_CUH

#ifdef __CUDACC_RTC__
// At run time end tiles are compiled as corners: one variant fewer, since a user waits for the
// compiler.
enum { CUDA_WARP = 32, MARCH_ENDS_APART = false };
#else
enum { MARCH_ENDS_APART = true };
#endif
#include "cuda/temporal_blocking.h"
#include "cuda/wide.cuh"

enum { MARCH_SIDE = 1, MARCH_END = 2 };

template <class REAL> struct march_site { REAL a, b; };

// The faces of the grid at which a cell lies.
struct march_faces {
    bool west, east, low, high;
};

// Index k, at most n beyond either end, wrapped around a periodic axis. On other axes the nearest
// index inside: cells beyond a face are not used.
static __device__ __forceinline__ int march_around(int k, int n, bool periodic) {
    return k < 0 ? (periodic ? k + n : 0) : k >= n ? (periodic ? k - n : n - 1) : k;
}

// Sets `to` to the cell beyond a face, if the face is there.
template <class R, class CELL>
static __device__ __forceinline__ void march_replace(const R &rule, bool there, int face,
                                                     const CELL &near, const CELL &far, CELL &to) {
    CELL beyond;
    rule.beyond(face, near, far, beyond);
#pragma unroll
    for (int f = 0; f < R::FIELDS; f++) {
        to[f] = there ? beyond[f] : to[f];
    }
}

// The new value of the cell in the middle of a window. `site`: of the cell on the first of its
// faces.
template <class R, class WINDOW, class CELL>
static __device__ __forceinline__ void march_next(const R &rule, const march_faces &at,
                                                  const march_site<typename R::real> &site,
                                                  WINDOW &w, CELL &to) {
    const bool any = at.west || at.east || at.low || at.high;
    CELL touched;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        march_replace(rule, at.west, 0, w[k][1], w[k][2], w[k][0]);
        march_replace(rule, at.east, 1, w[k][1], w[k][0], w[k][2]);
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
        march_replace(rule, at.low, 2, w[1][k], w[2][k], w[0][k]);
        march_replace(rule, at.high, 3, w[1][k], w[0][k], w[2][k]);
    }
    rule.next(w, to);
#pragma unroll
    for (int f = 0; f < R::FIELDS; f++) {
        touched[f] = to[f];
    }
    rule.touched(w[1][1], touched, site);
#pragma unroll
    for (int f = 0; f < R::FIELDS; f++) {
        to[f] = any ? touched[f] : to[f];
    }
}

template <class R, int STEPS, int COLUMNS, int AT_ONCE, int KIND> struct march {
    typedef typename R::real real;
    typedef typename R::stored stored;
    typedef march_site<real> site;
    static constexpr int FIELDS = R::FIELDS, VECTOR = 16 / sizeof(real);
    static constexpr int HALO = (STEPS + COLUMNS - 1) / COLUMNS * COLUMNS;
    static constexpr int WIDTH = CUDA_WARP * COLUMNS - 2 * HALO;
    static constexpr bool SIDE = KIND & MARCH_SIDE, END = KIND & MARCH_END;
    static_assert(AT_ONCE >= 2 && CUDA_WARP % AT_ONCE == 0, "see kept and turn_sides");

    // A row of a lane: its COLUMNS cells at v[1] to v[COLUMNS], and one cell of each neighbour.
    struct row {
        real v[COLUMNS + 2][FIELDS];
    };

    const march_grid &g;
    const R &rule;
    march_tile tile;
    int x;                // the lane's first column
    bool west, east, top; // the lane has the first, last column; END: tile at the high end
    // Sites of a face beside the tile. Lane k holds those of the rows side_row + k - 32 (before),
    // side_row + k and side_row + k + 32 (after).
    site side, side_before, side_after;
    int side_row;
    site ends[END ? COLUMNS : 1];
    row kept[2][STEPS];

    __device__ __forceinline__ march(const march_grid &grid, const R &r, const march_tile &t)
        : g(grid), rule(r), tile(t) {}

    __device__ __forceinline__ void load(int y, row &to) const {
        y = END ? march_around(y, g.ny, g.wraps) : y;
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            const stored *from = (const stored *)g.from[f] + (int64_t)y * g.pitch;
            if (KIND) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    to.v[j + 1][f] = from[march_around(x + j, g.nx, g.periodic_x)];
                }
            } else {
#pragma unroll
                for (int j = 0; j < COLUMNS; j += VECTOR) {
                    real part[VECTOR];
                    wide_load(from + x + j, part);
#pragma unroll
                    for (int k = 0; k < VECTOR; k++) {
                        to.v[j + k + 1][f] = part[k];
                    }
                }
            }
        }
    }

    __device__ __forceinline__ void store(int y, const row &from) const {
        if (y < tile.first || y >= tile.end) {
            return;
        }
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            stored *to = (stored *)g.to[f] + (int64_t)y * g.pitch + x;
            if (KIND) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    if (x + j >= tile.low && x + j < tile.high) {
                        to[j] = (stored)from.v[j + 1][f];
                    }
                }
            } else if (x >= tile.low && x < tile.high) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j += VECTOR) {
                    real part[VECTOR];
#pragma unroll
                    for (int k = 0; k < VECTOR; k++) {
                        part[k] = from.v[j + k + 1][f];
                    }
                    wide_store(part, to + j);
                }
            }
        }
    }

    // Fetches the neighbours' cells of a row.
    static __device__ __forceinline__ void widen(row &r) {
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            r.v[0][f] = lane_before(r.v[COLUMNS][f]);
            r.v[COLUMNS + 1][f] = lane_behind(r.v[1][f]);
        }
    }

    // The next step of row `here` between the rows `south` and `north`. RIM: it is the first or the
    // last row of the grid.
    template <bool RIM>
    __device__ __forceinline__ row next(const row &south, const row &here, const row &north,
                                        const site &beside) const {
        row out;
#pragma unroll
        for (int j = 1; j <= COLUMNS; j++) {
            real w[3][3][FIELDS];
#pragma unroll
            for (int k = 0; k < 3 * FIELDS; k++) {
                const int f = k / 3, dx = k % 3;
                w[0][dx][f] = south.v[j + dx - 1][f];
                w[1][dx][f] = here.v[j + dx - 1][f];
                w[2][dx][f] = north.v[j + dx - 1][f];
            }
            const march_faces at = {SIDE && j == 1 && west, SIDE && j == COLUMNS && east,
                                    RIM && !top, RIM && top};
            const bool at_side = at.west || at.east;
            march_next(rule, at, RIM && !at_side ? ends[END ? j - 1 : 0] : beside, w, out.v[j]);
        }
        return out;
    }

    // AT_ONCE rows from y on enter level 0 and pass all levels. On return entered[k] is row y + k -
    // STEPS after STEPS steps.
    __device__ __forceinline__ void enter(row (&entered)[AT_ONCE], int y) {
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            widen(entered[k]);
        }
#pragma unroll
        for (int level = 0; level < STEPS; level++) {
            row out[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const int middle = y + k - level - 1;
                const site beside = SIDE ? side_of(middle) : site{0, 0};
                const row &south = k < 2 ? kept[k][level] : entered[k - 2];
                const row &here = k < 1 ? kept[1][level] : entered[k - 1];
                if (END && !g.wraps && middle == (top ? g.ny - 1 : 0)) {
                    out[k] = next<true>(south, here, entered[k], beside);
                } else {
                    out[k] = next<false>(south, here, entered[k], beside);
                }
            }
            kept[0][level] = entered[AT_ONCE - 2];
            kept[1][level] = entered[AT_ONCE - 1];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                if (level + 1 < STEPS) {
                    widen(out[k]);
                }
                entered[k] = out[k];
            }
        }
    }

    __device__ __forceinline__ site load_side(int y) const {
        return rule.site(tile.last_strip ? 1 : 0, march_around(y, g.ny, g.periodic_y));
    }

    // The first row that enters: STEPS rows before the tile, but not below the grid.
    __device__ __forceinline__ int begin_row() const {
        return END && !g.wraps && !top ? 0 : tile.first - STEPS;
    }

    __device__ __forceinline__ void begin() {
        const int lane = threadIdx.x % CUDA_WARP;
        x = tile.start + lane * COLUMNS;
        top = tile.first > 0;
        west = SIDE && !g.periodic_x && x == 0;
        east = SIDE && !g.periodic_x && x + COLUMNS == g.nx;
#pragma unroll
        for (int level = 0; level < STEPS; level++) {
#pragma unroll
            for (int j = 0; j < COLUMNS + 2; j++) {
#pragma unroll
                for (int f = 0; f < FIELDS; f++) {
                    kept[0][level].v[j][f] = kept[1][level].v[j][f] = 0;
                }
            }
        }
#pragma unroll
        for (int j = 0; j < COLUMNS && END; j++) {
            ends[j] = rule.site(top ? 3 : 2, march_around(x + j, g.nx, g.periodic_x));
        }
        side = side_before = side_after = site{0, 0};
        side_row = begin_row();
        if (SIDE && !g.periodic_x) {
            side = load_side(side_row + lane);
            side_after = load_side(side_row + CUDA_WARP + lane);
        }
    }

    // Before row y enters: every 32 rows, advances the sites by 32 rows.
    __device__ __forceinline__ void turn_sides(int y) {
        if (y == side_row + CUDA_WARP) {
            side_row = y;
            side_before = side;
            side = side_after;
            side_after = load_side(y + CUDA_WARP + threadIdx.x % CUDA_WARP);
        }
    }

    // The site of the face beside row y, one of the last STEPS rows, from the lane that holds it.
    __device__ __forceinline__ site side_of(int y) const {
        const bool now = y >= side_row;
        const int lane = (y - side_row) & (CUDA_WARP - 1);
        return {__shfl_sync(~0u, now ? side.a : side_before.a, lane),
                __shfl_sync(~0u, now ? side.b : side_before.b, lane)};
    }

    __device__ __forceinline__ void run() {
        const int last = tile.end + STEPS - 1;
        row ahead[AT_ONCE];
        begin();
        int y = begin_row();
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            load(y + k < last ? y + k : last, ahead[k]);
        }
        for (; y <= last; y += AT_ONCE) {
            row entered[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                entered[k] = ahead[k];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                load(y + AT_ONCE + k < last ? y + AT_ONCE + k : last, ahead[k]);
            }
            if (SIDE && !g.periodic_x) {
                turn_sides(y);
            }
            enter(entered, y);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                store(y + k - STEPS, entered[k]);
            }
        }
    }
};

// The place of tile number k: first the tiles at the borders, then the inner ones.
template <int HALO, int WIDTH, int COLUMNS>
static __device__ __forceinline__ march_tile march_tile_of(const march_grid &g, int k, int *kind) {
    const march_cut &c = g.cut;
    const int ends = c.low_end + c.high_end;
    int strip, part;
    *kind = 0;
    if (k < c.borders) {
        // All tiles of the two side strips; then the end tiles of the other strips.
        const int of_sides = 2 * (ends + c.side_tiles);
        if (k < of_sides) {
            strip = k % 2 ? c.strips - 1 : 0;
            part = k / 2;
            *kind = MARCH_SIDE;
        } else {
            strip = 1 + (k - of_sides) % (c.strips - 2);
            part = (k - of_sides) / (c.strips - 2);
        }
        *kind |= part < ends ? MARCH_END : 0;
    } else {
        strip = 1 + (k - c.borders) % (c.strips - 2);
        part = ends + (k - c.borders) / (c.strips - 2);
    }
    march_tile tile = {};
    tile.last_strip = strip == c.strips - 1;
    if (part < ends) {
        tile.first = part == 0 && c.low_end ? g.first : g.end - c.band;
        tile.end = tile.first + c.band;
    } else {
        const int k = part - ends, end = g.end - (c.high_end ? c.band : 0);
        const int later = *kind ? 0 : k - c.parts;
        const int rows = *kind ? c.side_rows : later < 0 ? c.rows : c.later_rows;
        tile.first = g.first + (c.low_end ? c.band : 0) +
                     (*kind || later < 0 ? k * rows : c.parts * c.rows + later * rows);
        tile.end = tile.first + rows < end ? tile.first + rows : end;
    }
    // The last strip stores at least HALO columns, so that the strip before it needs no columns
    // beyond the grid.
    const int rest = (g.nx - HALO) / COLUMNS * COLUMNS;
    tile.low = tile.last_strip && rest < strip * WIDTH ? rest : strip * WIDTH;
    tile.high = tile.last_strip                                    ? g.nx
                : strip + 2 == c.strips && rest < tile.low + WIDTH ? rest
                                                                   : tile.low + WIDTH;
    tile.start =
        tile.last_strip && !g.periodic_x ? g.nx + HALO - CUDA_WARP * COLUMNS : tile.low - HALO;
    return tile;
}

// The work of a warp: one tile, at the borders (BORDER) or inside.
template <class R, int STEPS, int COLUMNS, int AT_ONCE, bool BORDER>
static __device__ __forceinline__ void march_warp(const march_grid &g, const R &rule) {
    typedef march<R, STEPS, COLUMNS, AT_ONCE, 0> inner;
    const int k = blockIdx.x * MARCH_WARPS + threadIdx.x / CUDA_WARP;
    const int number = BORDER ? k : g.cut.borders + k;
    if (number >= (BORDER ? g.cut.borders : g.cut.tiles)) {
        return;
    }
    int kind;
    const march_tile tile = march_tile_of<inner::HALO, inner::WIDTH, COLUMNS>(g, number, &kind);
    if (!BORDER) {
        inner(g, rule, tile).run();
    } else if (kind == MARCH_SIDE) {
        march<R, STEPS, COLUMNS, AT_ONCE, MARCH_SIDE>(g, rule, tile).run();
    } else if (MARCH_ENDS_APART && kind == MARCH_END) {
        march<R, STEPS, COLUMNS, AT_ONCE, MARCH_END>(g, rule, tile).run();
    } else {
        march<R, STEPS, COLUMNS, AT_ONCE, MARCH_SIDE | MARCH_END>(g, rule, tile).run();
    }
}

#ifndef __CUDACC_RTC__
template <class R, int STEPS, int COLUMNS, int AT_ONCE, int BLOCKS, bool BORDER>
__global__ void __launch_bounds__(MARCH_WARPS *CUDA_WARP, BLOCKS)
    march_kernel(const __grid_constant__ march_grid g, const __grid_constant__ R rule) {
    march_warp<R, STEPS, COLUMNS, AT_ONCE, BORDER>(g, rule);
}

// Launches a pass. Inner tiles run with BLOCKS blocks per multiprocessor. Tiles at the borders need
// more registers: they run with two blocks, with two rows at once, start first and run beside the
// inner tiles, on a stream of their own.
template <class R, int STEPS, int COLUMNS, int AT_ONCE, int BLOCKS>
static cudaError_t march_launch(march_grid g, const R &rule, const march_device *on) {
    const int threads = MARCH_WARPS * CUDA_WARP;
    g.cut = march_cut_of(&g, march_width(STEPS, COLUMNS), STEPS, on->processors, BLOCKS);
    const int inside = march_inner_blocks(&g.cut);
    march_fork(on);
    march_kernel<R, STEPS, COLUMNS, 2, 2, true>
        <<<march_border_blocks(&g.cut), threads, 0, on->beside>>>(g, rule);
    if (inside > 0) {
        march_kernel<R, STEPS, COLUMNS, AT_ONCE, BLOCKS, false>
            <<<inside, threads, 0, on->stream>>>(g, rule);
    }
    march_join(on);
    return cudaGetLastError();
}
#endif

#endif
