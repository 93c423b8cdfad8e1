/* map.h -- maps of rasters, for all readers: GeoTIFF keys, units of length, sidecar files. */
#ifndef SEL_MAP_H
#define SEL_MAP_H

#include "engine/io/raster.h"

/* Keys of OGC GeoTIFF 1.1, and their values. */
enum {
    SEL_KEY_MODEL_TYPE = 1024,
    SEL_KEY_RASTER_TYPE = 1025,
    SEL_KEY_CITATION = 1026,
    SEL_KEY_GEOGRAPHIC_TYPE = 2048,
    SEL_KEY_PROJECTED_TYPE = 3072,
    SEL_KEY_PROJECTED_CITATION = 3073,
    SEL_KEY_LINEAR_UNIT = 3076,
    SEL_KEY_LINEAR_UNIT_SIZE = 3077,
    SEL_KEY_VERTICAL_TYPE = 4096,
    SEL_KEY_VERTICAL_UNIT = 4099,
    SEL_IS_PROJECTED = 1,
    SEL_IS_GEOGRAPHIC = 2,
    SEL_IS_AREA = 1,
    SEL_IS_POINT = 2,
    SEL_USER_DEFINED = 32767
};

/* Esri's programs and GDAL read well-known text from a citation key that begins with this, if the
 * model is user-defined. */
#define SEL_CITATION "ESRI PE String = "

/* The value of the key `wanted`, if it is stored in the directory itself; 0: there is none, or
 * `keys` is NULL. */
int sel_geo_key(const sel_geo_keys *keys, int wanted);

/* The unit of the coordinates of a projected map, and of the heights of a vertical datum, by EPSG
 * code. `metres` is NaN for a code that the table does not cover, and for depths (positive down).
 */
sel_length sel_epsg_projected(int code);
sel_length sel_epsg_vertical(int code);

/* A unit by its EPSG code; metres is NaN for an unknown code. */
sel_length sel_epsg_unit(int code);

/* Sets file->place and file->height from the .prj or else the keys, and from `unit`, the unit that
 * the file declares for its values (NULL: none). */
void sel_map_find_units(sel_arena *arena, sel_raster_file *file, const char *unit);

/* Places a raster by the world file beside its file, if there is one, for a file that does not
 * place it itself. */
sel_status sel_world_read(sel_raster_source *source);

#endif
