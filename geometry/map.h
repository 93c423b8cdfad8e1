/* map.h -- what is known of the map that a raster is drawn on: its unit, its .prj file. */
#ifndef SEL_MAP_H
#define SEL_MAP_H

#include "geometry/raster.h"

typedef enum sel_map_unit { SEL_MAP_UNKNOWN, SEL_MAP_LENGTH, SEL_MAP_DEGREES } sel_map_unit;

/* What the keys of a GeoTIFF, or else the .prj, say that coordinates are. */
sel_map_unit sel_map_unit_of(const sel_raster *raster);

/* Whether place and spacing look like longitude and latitude, where nothing says what they are. */
bool sel_map_looks_like_degrees(const sel_raster *raster);

/* The command that makes a map in metres of one in degrees: UTM at its middle, cells as wide as
 * they are high. With `told` its file says that it is in degrees. Returns `text`. */
enum { SEL_WARP_ROOM = 1200 };
const char *sel_map_warp(const sel_raster *raster, bool told, char text[SEL_WARP_ROOM]);

/* Reads the .prj beside file->path where there is one, and makes keys of it when there are none.
 * Fails where it cannot be read. */
sel_status sel_map_read_prj(sel_arena *arena, sel_raster_file *file, sel_error *error);

#endif
