/* raster_cell.h -- what a raster holds cell by cell, for the tests of what reads and writes them.
 */
#ifndef RASTER_CELL_H
#define RASTER_CELL_H

#include <math.h>
#include "engine/io/raster.h"

/* Cell (i, j), i from the west, j from the south, scaled as the script says; NaN: no data. */
static inline double raster_cell(const sel_raster *raster, int64_t i, int64_t j) {
    return raster->value[j * raster->n[0] + i];
}

static inline bool raster_nodata(const sel_raster *raster, int64_t i, int64_t j) {
    return isnan(raster_cell(raster, i, j));
}

#endif
