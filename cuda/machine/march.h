/* march.h -- a 2-D grid that is marched over in tiles (march.cuh).
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_MARCH_H
#define CUDA_MARCH_H

#include "cuda/machine/look.h"

/* Rows and columns of the tiles. */
typedef struct march_cut {
    int strips, side_rows, rows, band; /* rows of a tile at a side, inside, at an end */
    int side_tiles;                    /* of a side, without the ends */
    bool low_end, high_end;            /* the grid's first, last rows are in the block */
    int borders, tiles;                /* numbers of tiles: at the borders, of all */
    bool together;                     /* they all fit on the device, in one launch */
} march_cut;

/* A block of a grid. */
typedef struct march_grid {
    int nx, ny, pitch, first, end; /* rows first <= y < end */
    int64_t plane;                 /* elements from field to field */
    bool periodic_x, periodic_y;
    bool wraps; /* periodic along y, and not by halos */
    const void *from;
    void *to;
    march_cut cut;
} march_grid;

/* Rows first <= y < end, columns low <= x < high of a strip from column `start` on. */
typedef struct march_tile {
    int first, end, low, high, start;
    bool last_strip;
} march_tile;

/* Where a pass runs: two streams that wait for each other, and how many multiprocessors. */
typedef struct march_device {
    cudaStream_t stream, beside;
    cudaEvent_t fork, join;
    int processors;
} march_device;

/* The least grid that is marched over, in columns and rows of a block. */
enum { MARCH_LEAST_COLUMNS = 128, MARCH_LEAST_ROWS = 64 };

enum { MARCH_WARPS = 4 /* of a block */ };

static inline void march_set_rows(march_cut *c, int inside, int rows, int side_rows) {
    const int ends = c->low_end + c->high_end;
    c->rows = rows;
    c->side_rows = side_rows < rows ? side_rows : rows;
    c->side_tiles = (inside + c->side_rows - 1) / c->side_rows;
    c->borders = 2 * c->side_tiles + ends * c->strips;
    c->tiles = c->borders + (inside + rows - 1) / rows * (c->strips - 2);
}

/* Tiles of strips of `width` columns. Small ones if all run at once; else as many rows as take the
 * least time: blocks begin in waves of `blocks_each` per multiprocessor, and one at the border
 * costs about as much as two of its rows inside. */
static inline march_cut march_cut_of(const march_grid *g, int width, int steps, int processors,
                                     int blocks_each) {
    enum { LEAST = 4, MOST_TOGETHER = 24, MOST = 1000, SIDE = 64, BAND = 16 };
    march_cut c, best;
    c.strips = (g->nx + width - 1) / width;
    c.low_end = g->first == 0 && (g->wraps || !g->periodic_y);
    c.high_end = g->end == g->ny && (g->wraps || !g->periodic_y);
    c.band = steps < BAND / 2 ? BAND / 2 : BAND;
    c.together = true;
    const int inside = g->end - g->first - (c.low_end + c.high_end) * c.band;
    for (int rows = LEAST; rows <= MOST_TOGETHER; rows++) {
        march_set_rows(&c, inside, rows, rows);
        if (c.tiles <= processors * 2 * MARCH_WARPS) {
            return c;
        }
    }
    double least = 1e300;
    c.together = false;
    best = c;
    for (int rows = SIDE; rows <= MOST; rows++) {
        march_set_rows(&c, inside, rows, SIDE);
        const double slots = (double)processors * blocks_each, time = rows + 2 * steps;
        const double border = (double)c.borders / MARCH_WARPS * 2 * (SIDE + 2 * steps) / time;
        const double blocks = (double)(c.tiles - c.borders) / MARCH_WARPS + border;
        const double waves = (double)(int64_t)((blocks + slots - 1) / slots);
        if (waves * time < least) {
            least = waves * time;
            best = c;
        }
    }
    return best;
}

#endif
