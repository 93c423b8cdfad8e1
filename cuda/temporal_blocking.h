/* temporal_blocking.h -- a 2-D grid that is marched over in tiles (temporal_blocking.cuh).
 *
 * Plain C, shared by the host's files, nvcc's and what is compiled at run time.
 */
#ifndef CUDA_MARCH_H
#define CUDA_MARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Rows and columns of the tiles. */
typedef struct march_cut {
    int strips, side_rows, band; /* of columns; rows of a tile at a side, at an end */
    int rows, parts, later_rows; /* inside: of the first `parts` of a strip, of the others */
    int side_tiles;              /* of a side, without the ends */
    bool low_end, high_end;      /* the grid's first, last rows are in the block */
    int borders, tiles;          /* numbers of tiles: at the borders, of all */
} march_cut;

enum { MARCH_FIELDS = 2 /* at most */, MARCH_WARPS = 4 /* of a block */ };

/* A block of a grid. */
typedef struct march_grid {
    int nx, ny, pitch, first, end; /* rows first <= y < end */
    bool periodic_x, periodic_y;
    bool wraps; /* periodic along y, and not by halos */
    const void *from[MARCH_FIELDS];
    void *to[MARCH_FIELDS];
    march_cut cut;
} march_grid;

/* Rows first <= y < end, columns low <= x < high of a strip from column `start` on. */
typedef struct march_tile {
    int first, end, low, high, start;
    bool last_strip;
} march_tile;

/* Where a pass runs: two streams that wait for each other, and how many multiprocessors. */
typedef struct march_device march_device;

#ifndef __CUDACC_RTC__
#include "cuda/query.h"

struct march_device {
    cudaStream_t stream, beside;
    cudaEvent_t fork, join;
    int processors;
};

/* The least grid that is marched over, in columns and rows of a block. */
enum { MARCH_LEAST_COLUMNS = 128, MARCH_LEAST_ROWS = 64 };

/* Columns of a strip of a warp. */
static inline int march_width(int steps, int columns) {
    return CUDA_WARP * columns - 2 * ((steps + columns - 1) / columns * columns);
}

/* Blocks of threads for the tiles at the borders, and for those inside. */
static inline int march_border_blocks(const march_cut *c) {
    return (c->borders + MARCH_WARPS - 1) / MARCH_WARPS;
}
static inline int march_inner_blocks(const march_cut *c) {
    return (c->tiles - c->borders + MARCH_WARPS - 1) / MARCH_WARPS;
}

/* Work that is put into on->beside between the two runs beside that in on->stream. */
static inline cudaError_t march_fork(const march_device *on) {
    cudaEventRecord(on->fork, on->stream);
    return cudaStreamWaitEvent(on->beside, on->fork, 0);
}
static inline cudaError_t march_join(const march_device *on) {
    cudaEventRecord(on->join, on->beside);
    return cudaStreamWaitEvent(on->stream, on->join, 0);
}

/* Tiles of strips of `width` columns, for a device that runs `blocks` blocks of inner tiles on a
 * multiprocessor, or two of others. Each of these slots takes one inner tile after the other, in as
 * many waves as end soonest. The last tiles of a strip have fewer rows: they are for slots that
 * begin late, after a tile at the borders. */
static inline march_cut march_cut_of(const march_grid *g, int width, int steps, int processors,
                                     int blocks) {
    enum { SIDE = 64, BAND = 16, WAVES = 4 };
    const int slots = processors * blocks * MARCH_WARPS;
    march_cut c;
    c.strips = (g->nx + width - 1) / width;
    c.low_end = g->first == 0 && (g->wraps || !g->periodic_y);
    c.high_end = g->end == g->ny && (g->wraps || !g->periodic_y);
    c.band = steps < BAND / 2 ? BAND / 2 : BAND;
    const int ends = c.low_end + c.high_end, inner = c.strips - 2 > 0 ? c.strips - 2 : 1;
    const int inside = g->end - g->first - ends * c.band;
    c.side_rows = SIDE;
    c.side_tiles = (inside + c.side_rows - 1) / c.side_rows;
    c.borders = 2 * c.side_tiles + ends * c.strips;
    const int waits = (int)((int64_t)c.borders * blocks / 2);
    const int late = (waits < slots ? waits : slots) / inner;
    const int wait = (c.side_rows + 2 * steps) * 11 / 10;
    int soonest = INT32_MAX;
    for (int waves = 1; waves <= WAVES; waves++) {
        const int tiles = waves * slots / inner > 1 ? waves * slots / inner : 1;
        const int later = late < tiles ? late : tiles - 1;
        const int rows = (inside + later * wait + tiles - 1) / tiles;
        if (waves * (rows + 2 * steps) < soonest && rows > wait + steps) {
            soonest = waves * (rows + 2 * steps);
            c.rows = rows;
            c.later_rows = rows - wait;
            c.parts = tiles - later;
        }
    }
    if (soonest == INT32_MAX) {
        c.parts = slots / inner > 1 ? slots / inner : 1;
        c.rows = c.later_rows = (inside + c.parts - 1) / c.parts;
    }
    const int left = inside - c.parts * c.rows > 0 ? inside - c.parts * c.rows : 0;
    c.tiles = c.borders + (c.parts + (left + c.later_rows - 1) / c.later_rows) * (c.strips - 2);
    return c;
}
#endif

#endif
