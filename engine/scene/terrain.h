/* terrain.h -- the ground of a plane domain: elevations in m, of a raster or another quantity,
 * which scripts give as the field "ground". */
#ifndef SEL_TERRAIN_H
#define SEL_TERRAIN_H

#include "engine/io/raster.h"
#include "engine/scene/solver.h"

/* The raster of which it is made, by itself, edited or called by a function; NULL: of none. */
static inline const sel_raster *sel_terrain_raster(const sel_quantity *ground) {
    return sel_raster_of(sel_quantity_raster(ground));
}

/* Size, origin and dx (1 without a raster) as far as they are not given: sel_solver.complete. */
void sel_terrain_complete(const sel_quantity *ground, sel_common *params);

/* Refuses a size that is missing or not plane, and a map in degrees; `table`: whose fields. */
sel_status sel_terrain_check_params(const sel_quantity *ground, const sel_common *params,
                                    const char *table, sel_where where, sel_error *error);

/* Refuses a raster of lengths whose values are in a unit that is none, and with `lengths` false one
 * whose values were turned into metres. `what`: the field that reads it. */
sel_status sel_terrain_check_unit(const sel_quantity *quantity, const char *what, bool lengths,
                                  sel_where where, sel_error *error);

/* Elevations [ny][nx] of free cells and of the regions that are `wanted` (NULL: none), NaN where
 * there are no data: those of a raster whose pixels are the cells, else of memory of their own. */
sel_status sel_terrain_evaluate(const sel_quantity *ground, const sel_domain *domain, int threads,
                                const bool *wanted, double **own, const double **heights,
                                sel_error *error);

/* Sets blank[cell] = 1 where a ground of a raster has no data: sel_solver.blank. */
sel_status sel_terrain_blank(const sel_quantity *ground, const sel_simulation *simulation,
                             const sel_domain *domain, int threads, uint8_t *blank,
                             sel_error *error);

/* Refuses heights of free cells that no ground has, and values that stand for no data although
 * their file does not say so; finds the lowest one. */
sel_status sel_terrain_check(const sel_quantity *ground, const sel_simulation *simulation,
                             const sel_domain *domain, const double *heights, int threads,
                             double *lowest, sel_error *error);

/* Warns of a raster that looks like one in degrees, where nothing says what its coordinates are. */
void sel_terrain_warn(const sel_quantity *ground, const sel_plan *plan, sel_error *warnings);

/* The lowest free one of a cell's eight neighbours, also across periodic faces; NaN: none. */
double sel_terrain_beside(const sel_domain *domain, const double *heights, int64_t x, int64_t y);

/* Slopes are those between neighbours in x and y. */
typedef struct sel_terrain {
    double highest;     /* m */
    int64_t pits;       /* cells lower than all their neighbours */
    double deepest_pit; /* m below its lowest neighbour */
    double mean_slope, largest_slope;
} sel_terrain;

/* Measures the free cells, the same for any number of threads; false: there is no memory. The
 * second function adds the results to facts. */
bool sel_terrain_measure(const sel_domain *domain, const double *heights, int threads,
                         sel_terrain *terrain);
void sel_terrain_facts(const sel_plan *plan, const double *heights, double lowest,
                       sel_facts *facts);

#endif
