/* aqua_terrain.h -- grounds that are no terrain in metres: refused or warned of. */
#ifndef AQUA_TERRAIN_H
#define AQUA_TERRAIN_H

#include "engine/aqua/aqua.h"

/* Refuses a ground whose cells would be those of a raster in degrees. */
sel_status aqua_degrees_check(const aqua_params *params, sel_where where, sel_error *error);

/* Warns of a raster that looks like one, where nothing says what its coordinates are. */
void aqua_degrees_warn(const aqua_plan *plan, sel_error *warnings);

/* Refuses heights of free cells that stand for no data, and such as no ground has. Names the value,
 * how many cells have it, the file and what to write. */
sel_status aqua_terrain_check(const aqua_plan *plan, sel_error *error);

#endif
