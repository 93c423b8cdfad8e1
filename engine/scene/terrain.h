/* terrain.h -- the ground of a 2-D domain: elevations in m, from a raster or another quantity, the
 * field "ground" of scripts. */
#ifndef SEL_TERRAIN_H
#define SEL_TERRAIN_H

#include "engine/io/raster.h"
#include "engine/scene/solver.h"

/* The raster behind a ground: the raster itself, one with edits, or one that a function calls.
 * NULL: the ground has no raster. */
static inline const sel_raster *sel_terrain_raster(const sel_quantity *ground) {
    return sel_raster_of(sel_quantity_raster(ground));
}

/* Sets the size, origin and dx (1 without a raster) that the script does not give. Called by
 * sel_solver.complete. */
void sel_terrain_complete(const sel_quantity *ground, sel_common *params);

/* Fails for a size that is missing or not 2-D, and for a map in degrees. `table`: the name of the
 * parameter table in messages. */
sel_status sel_terrain_check_params(const sel_quantity *ground, const sel_common *params,
                                    const char *table, sel_where where, sel_error *error);

/* Checks the unit of a raster's values. With `lengths` the unit must be a length; without it, the
 * values must not have been converted to metres. `what`: the field that reads the raster. */
sel_status sel_terrain_check_unit(const sel_quantity *quantity, const char *what, bool lengths,
                                  sel_where where, sel_error *error);

/* Elevations [ny][nx] in m of the free cells and of the `wanted` regions (NULL: free cells only);
 * NaN: no data. *heights points into the raster if its pixels are the cells (*own = NULL), else to
 * *own, which the caller frees. */
sel_status sel_terrain_evaluate(const sel_quantity *ground, const sel_domain *domain, int threads,
                                const bool *wanted, double **own, const double **heights,
                                sel_error *error);

/* Sets blank[cell] = 1 where the raster of a ground has no data. Called by sel_solver.blank. */
sel_status sel_terrain_blank(const sel_quantity *ground, const sel_simulation *simulation,
                             const sel_domain *domain, int threads, uint8_t *blank,
                             sel_error *error);

/* Fails if a free cell has an impossible height, or a value that usually means "no data" and that
 * the file does not declare. *lowest: the lowest height of a free cell. */
sel_status sel_terrain_check(const sel_quantity *ground, const sel_simulation *simulation,
                             const sel_domain *domain, const double *heights, int threads,
                             double *lowest, sel_error *error);

/* Warns if the coordinates of a raster look like degrees and the file names no map, and if the unit
 * of its heights is unknown while its map is not in metres. */
void sel_terrain_warn(const sel_quantity *ground, const sel_plan *plan, sel_error *warnings);

/* The lowest height of a cell's eight neighbours, of those that are free, also across periodic
 * faces. NaN: no neighbour is free. */
double sel_terrain_beside(const sel_domain *domain, const double *heights, int64_t x, int64_t y);

/* Measures of a ground. Slopes are taken between neighbours along x and y. */
typedef struct sel_terrain {
    double highest;     /* m */
    int64_t pits;       /* cells lower than all their neighbours */
    double deepest_pit; /* m below its lowest neighbour */
    double mean_slope, largest_slope;
} sel_terrain;

/* Measures the free cells; the results do not depend on the number of threads or ranks. False: no
 * memory. sel_terrain_facts adds the results to the facts of a plan. */
bool sel_terrain_measure(const sel_domain *domain, const double *heights, int threads,
                         sel_terrain *terrain);
void sel_terrain_facts(const sel_plan *plan, const double *heights, double lowest,
                       sel_facts *facts);

#endif
