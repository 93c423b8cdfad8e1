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

/* Where a pass runs: two streams of which the second waits for the first, and the reverse. */
typedef struct march_streams {
    cudaStream_t stream, beside;
    cudaEvent_t fork, join;
} march_streams;

/* The least grid that is marched over, in columns and rows of a block. */
enum { MARCH_LEAST_COLUMNS = 128, MARCH_LEAST_ROWS = 64 };

/* Tiles for a device that is filled by about 2,000 warps, and strips of `width` columns. */
static inline march_cut march_cut_of(const march_grid *g, int width) {
    enum { WARPS = 2000, LEAST = 8, MOST_SIDE = 64, MOST = 320, BAND = 16 };
    march_cut c;
    c.strips = (g->nx + width - 1) / width;
    c.low_end = g->first == 0 && (g->wraps || !g->periodic_y);
    c.high_end = g->end == g->ny && (g->wraps || !g->periodic_y);
    const int rows = g->end - g->first;
    const int fill = (int)((int64_t)rows * c.strips / WARPS);
    c.rows = fill < LEAST ? LEAST : fill > MOST ? MOST : fill;
    c.side_rows = c.rows < MOST_SIDE ? c.rows : MOST_SIDE;
    c.band = c.rows < BAND ? c.rows : BAND;
    const int inside = rows - (c.low_end + c.high_end) * c.band;
    c.side_tiles = (inside + c.side_rows - 1) / c.side_rows;
    c.borders = 2 * c.side_tiles + (c.low_end + c.high_end) * c.strips;
    c.tiles = c.borders + (inside + c.rows - 1) / c.rows * (c.strips - 2);
    return c;
}

#endif
