// temporal_blocking.cuh -- several steps of a rule in one pass over a 2-D grid, in registers.
//
// A warp owns a strip of 32 COLUMNS columns, COLUMNS to a lane, and marches along y. Each of the
// STEPS levels keeps two rows of its step; a row that enters a level gives the level's next row,
// one row behind, which enters the level above. What leaves the last one is stored:
//
//     row y enters        level 0   keeps y, y - 1         gives row y - 1 after 1 step
//                         level 1   keeps y - 1, y - 2     gives row y - 2 after 2 steps
//                         ...
//     row y - STEPS is stored
//
// Rows enter AT_ONCE at a time, and a level takes all of them before the next one begins: their
// cells do not depend on each other, which hides how long the arithmetic takes.
//
// There is no shared memory and no barrier: neighbours in x are in the same lane or one shuffle
// away. A strip loses STEPS columns at each side, which the strips beside it compute too, and a
// tile of rows begins STEPS rows early. Loads are AT_ONCE rows early.
//
// Tiles at the borders are of other kinds, in a kernel of their own, so that the inner one has none
// of their registers:
//
//     corner  end   end   end   corner     end: the first or last rows, with what is beyond them
//     side   inner inner inner   side      side: loads cell by cell; the last one ends with the
//     grid side   inner inner inner   side corner  end   end   end   corner
//
// The rule is a struct R:
//
//   real, stored, FIELDS          numbers of a cell, and their type in memory
//   next(w, out)                  out[FIELDS] from w[1 + dy][1 + dx][FIELDS]
//   beyond(face, near, far, out)  the cell beyond a face, from the two before it
//   site(face, k), touched(here, out, site)
//                                 what a face does to the new value of its k-th cell; site has two
//                                 numbers, which pass from lane to lane
// Faces are numbered 0 (x = 0), 1, 2 (y = 0), 3.
#ifndef CUDA_MARCH_CUH
#define CUDA_MARCH_CUH

#ifdef __CUDACC_RTC__
enum { CUDA_WARP = 32, MARCH_ENDS_APART = false /* as corners: somebody waits for the compiler */ };
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

// Number k of n, around a periodic axis; what is beyond the others is not used.
static __device__ __forceinline__ int march_around(int k, int n, bool periodic) {
    return k < 0 ? (periodic ? k + n : 0) : k >= n ? (periodic ? k - n : n - 1) : k;
}

// What is beyond a face that is there, in place of `to`.
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

// The new value of the cell in the middle of a window; `site`: of the first of its faces.
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

    // A row of a lane's cells between those of its neighbours.
    struct row {
        real v[COLUMNS + 2][FIELDS];
    };

    const march_grid &g;
    const R &rule;
    march_tile tile;
    int x;                // the lane's first column
    bool west, east, top; // the lane has the first, the last column; the tile has the last row
    // Of a face beside the tile: lane k has row side_row + k, and those 32 rows before and after.
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

    // Adds the neighbours' cells to a row.
    static __device__ __forceinline__ void widen(row &r) {
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            r.v[0][f] = lane_before(r.v[COLUMNS][f]);
            r.v[COLUMNS + 1][f] = lane_behind(r.v[1][f]);
        }
    }

    // Row y of a level, between `south` and `north`; RIM: the first or last of the grid.
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

    // Rows y, y + 1, ... enter; entered[k] becomes row y + k - STEPS.
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

    // Below the first row of the grid there is nothing.
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

    // Row y enters: now and then on to the next 32 rows.
    __device__ __forceinline__ void turn_sides(int y) {
        if (y == side_row + CUDA_WARP) {
            side_row = y;
            side_before = side;
            side = side_after;
            side_after = load_side(y + CUDA_WARP + threadIdx.x % CUDA_WARP);
        }
    }

    // The numbers of the face beside row y, one of the last STEPS.
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

// Tile number k: first the borders, then the inner ones.
template <int HALO, int WIDTH, int COLUMNS>
static __device__ __forceinline__ march_tile march_tile_of(const march_grid &g, int k, int *kind) {
    const march_cut &c = g.cut;
    const int ends = c.low_end + c.high_end;
    int strip, part;
    *kind = 0;
    if (k < c.borders) {
        // Of the two sides all tiles, of the other strips those at the ends.
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
    // The last strip has at least HALO columns, so that the one before it needs none beyond the
    // grid.
    const int rest = (g.nx - HALO) / COLUMNS * COLUMNS;
    tile.low = tile.last_strip && rest < strip * WIDTH ? rest : strip * WIDTH;
    tile.high = tile.last_strip                                    ? g.nx
                : strip + 2 == c.strips && rest < tile.low + WIDTH ? rest
                                                                   : tile.low + WIDTH;
    tile.start =
        tile.last_strip && !g.periodic_x ? g.nx + HALO - CUDA_WARP * COLUMNS : tile.low - HALO;
    return tile;
}

// The work of a warp: a tile at the borders, or an inner one.
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

// The launcher. Inner tiles run in BLOCKS blocks of a multiprocessor, tiles at the borders, of more
// registers, in two; these load two rows early only and begin first, beside the others.
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
