/* raster.h -- rasters: values on a plane, with their map. Grids are read and written as ESRI ASCII
 * (.asc) and GeoTIFF (.tif); pictures (.png) are read.
 */
#ifndef SEL_RASTER_H
#define SEL_RASTER_H

#include <stdint.h>
#include <stdio.h>
#include "engine/base/arena.h"
#include "engine/values/lookup_value.h"
#include "engine/values/quantity.h"
#include "engine/values/schema.h"

/* The parameters of sel.raster{}. */
typedef struct sel_raster_params {
    const char *file;  /* the path to open */
    double scale;      /* NaN: 1, or the unit of heights when lengths become metres */
    double offset;     /* added to scaled values */
    double nodata;     /* NaN: the value that the file declares */
    double fill;       /* the value of cells without data; NaN: none */
    bool metres;       /* converts lengths to metres when the file is read */
    size_t most_bytes; /* limit on the memory for its values; 0: all free memory */
} sel_raster_params;

extern const sel_table sel_raster_table;

/* The keys of a GeoTIFF, which describe its map projection, as in the file. */
typedef struct sel_geo_keys {
    size_t directory_count, double_count, text_count;
    const uint16_t *directory; /* tag 34735 */
    const double *doubles;     /* 34736 */
    const char *text;          /* 34737, followed by a NUL */
} sel_geo_keys;

/* A value that usually means "no data", such as -9999, but that the file does not declare so. */
typedef struct sel_undeclared {
    double value;  /* in the file */
    double scaled; /* in the raster */
    int64_t count; /* cells */
} sel_undeclared;

/* A unit of length. A file without a unit: NULL and 0. A unit that is unknown or no length: metres
 * is NaN. */
typedef struct sel_length {
    const char *name;
    double metres;
} sel_length;

/* The file of a raster, its map, units and gaps. All in the arena. */
typedef struct sel_raster_file {
    const char *path;
    const sel_geo_keys *keys; /* the map as keys; NULL: none */
    const char *prj;          /* the map as well-known text, from the .prj file; NULL: none */
    sel_length place, height; /* the file's units of coordinates and of values */
    double dx, origin[2];     /* cell size and lower left corner in the file's units */
    bool scale_given;         /* the script gave `scale`, so it chose the unit of the values */
    bool metres;              /* coordinates, and values whose unit is a length, are in metres */
    bool height_changed;      /* converting to metres has changed the values */
    bool read;                /* the script has read coordinates or values, in the file's units */
    double nodata;            /* the value in the file that means no data; NaN: none */
    bool nodata_given;        /* the script gave `nodata` */
    int64_t gaps;             /* cells without data */
    int undeclared_count;
    const sel_undeclared *undeclared; /* the most frequent first */
} sel_raster_file;

/* Reads the picture in a file, for shape.image: values from 0 (black) to 1 (white), in the arena.
 * Errors name the file. */
sel_status sel_raster_read_picture(sel_arena *arena, const char *path, const sel_raster **raster,
                                   sel_error *error);

/* Makes a lookup r(x, y) whose data are a sel_raster. It is bilinear between the centres of cells
 * and constant from the outermost centres to the edge; outside the raster, and where there are no
 * data, evaluation fails. NULL: an error, which names the file or `where`. */
const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error);

/* Converts coordinates to metres, and also values if the file declares a unit of length for them
 * and the script gave no scale. A second call does nothing. SEL_BAD_SCENARIO: the unit of the
 * coordinates is unknown, or the script has already read coordinates or values that would change.
 */
sel_status sel_raster_to_metres(const sel_lookup *lookup, sel_where where, sel_error *error);

/* Whether the raster is in metres, so that sel_raster_to_metres would change nothing. */
bool sel_raster_is_in_metres(const sel_lookup *lookup);

/* Notes that the script has read coordinates or values of the raster. */
void sel_raster_note_read(const sel_lookup *lookup);

/* Describes the units of a raster for `check`: "dem.tif: coordinates in ..."; "" for a picture.
 * Returns `text`. */
const char *sel_raster_text(const sel_lookup *lookup, char *text, size_t size);

/* The raster of a lookup; NULL for a lookup of another kind, and for NULL. */
const sel_raster *sel_raster_of(const sel_lookup *lookup);

/* The value at a point, as of the lookup; NaN outside and where there are no data. */
double sel_raster_value(const sel_raster *raster, double x, double y);

/* The undeclared nodata value in the cell at a point; NULL: none, or the point lies outside. */
const sel_undeclared *sel_raster_undeclared(const sel_raster *raster, double x, double y);

/* ---- the map of a raster ---- */

typedef enum sel_map_unit { SEL_MAP_UNKNOWN, SEL_MAP_LENGTH, SEL_MAP_DEGREES } sel_map_unit;

/* The unit of coordinates by the GeoTIFF keys, or else by the .prj. */
sel_map_unit sel_map_unit_of(const sel_raster *raster);

/* Whether origin and cell size look like longitude and latitude, for a map that declares no unit.
 */
bool sel_map_looks_like_degrees(const sel_raster *raster);

/* Quotes a path for a shell, with `end` in place of its suffix ("": the path as it is); "FILE" and
 * `end` if it does not fit into `text`. Returns `text`. */
const char *sel_map_quote(const char *path, const char *end, char *text, size_t size);

/* The gdalwarp command that converts a map in degrees to metres: the UTM zone of its centre, square
 * cells. `declared`: the file declares that it is in degrees. Returns `text`. */
enum { SEL_WARP_ROOM = 1200 };
const char *sel_map_warp(const sel_raster *raster, bool declared, char text[SEL_WARP_ROOM]);

/* ---- reading files ---- */

/* Tags of a GeoTIFF: OGC GeoTIFF 1.1, and GDAL's own. */
enum {
    SEL_TAG_PIXEL_SCALE = 33550,
    SEL_TAG_TIE_POINT = 33922,
    SEL_TAG_TRANSFORMATION = 34264,
    SEL_TAG_KEY_DIRECTORY = 34735,
    SEL_TAG_KEY_DOUBLES = 34736,
    SEL_TAG_KEY_TEXT = 34737,
    SEL_TAG_METADATA = 42112,
    SEL_TAG_NODATA = 42113
};

/* A raster while it is read from a file. */
typedef struct sel_raster_source {
    /* Set by the caller. */
    sel_arena *arena;  /* for values and keys */
    const char *name;  /* the path, also for messages */
    FILE *file;        /* at its beginning */
    double file_bytes; /* size of the file */
    size_t most_bytes; /* limit on the memory for its values; 0: all free memory */
    sel_error *error;

    /* Set by the reader. Row 0 of `raster` is the last row of the file; values are not scaled. */
    sel_raster raster;
    double nodata;            /* the value that means no data; NaN: none */
    bool exact;               /* nodata must match exactly, not to six digits */
    bool picture;             /* a picture has no map */
    bool placed;              /* the file itself gives origin and cell size */
    bool place_lacks;         /* the file has only some of the tags that would place it */
    bool south_up;            /* the first row of the file is the southernmost, so the rows have to
                                 be flipped */
    double scale, offset;     /* the file's own: value = scale * stored value + offset */
    const char *unit;         /* of the values; NULL: none */
    const sel_geo_keys *keys; /* NULL: none */
    const char *prj;          /* the map in well-known text; NULL: none */
    bool foreign;             /* nothing was read, since only GDAL can read this file */
} sel_raster_source;

/* Readers: grids with their place; a PNG's luminance from 0 to 1, transparent pixels over white. */
typedef sel_status sel_raster_reader(sel_raster_source *to);
sel_raster_reader sel_asc_read, sel_tif_read, sel_png_read;

/* Fails with SEL_BAD_FILE and "NAME: " before the message, which says what is wrong. */
sel_status sel_raster_refuse(const sel_raster_source *source, const char *format, ...)
    SEL_PRINTF(2, 3);

/* Allocates n[0] x n[1] values of a raster whose origin and dx are set. Refuses corners that are
 * not finite, and values that exceed the memory limit (SEL_BAD_SCENARIO) or the free memory
 * (SEL_NO_DEVICE). */
sel_status sel_raster_allocate(sel_raster_source *source);

/* Refuses cells that are not square to six digits. */
sel_status sel_raster_check_square(const sel_raster_source *source, double dx, double dy);

/* Reads the .prj beside file->path, if there is one and the file has no map of its own, and makes
 * keys of it. SEL_BAD_FILE: it cannot be read. */
sel_status sel_map_read_prj(sel_arena *arena, sel_raster_file *file, sel_error *error);

/* Whether coordinates refer to centres of pixels (PixelIsPoint) rather than corners. */
bool sel_geo_keys_are_points(const sel_geo_keys *keys);

/* ---- writing files ---- */

/* The nodata value of files that are written. */
#define SEL_GRID_NODATA (-9999)

/* A grid to write. Row 0 is the southernmost; NaN: no data. */
typedef struct sel_grid_file {
    int64_t n[2];
    double dx, origin[2];     /* cell size, lower left corner */
    const float *value;       /* n[1] rows of n[0] */
    const sel_geo_keys *keys; /* the map, for .tif; NULL: none */
    const char *prj;          /* the map, for the .prj beside an .asc; NULL: none */
    const char *unit;         /* of the values, for .tif; NULL: none */
} sel_grid_file;

/* Write the grid to `to`, which stays open. Numbers read back as the same float. On failure `wrong`
 * gets a message; it stays "" if errno describes the failure. */
enum { SEL_WRONG_ROOM = 240 };
typedef void sel_grid_writer(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);
sel_grid_writer sel_asc_write, sel_tif_write, sel_prj_write;

/* Writes PATH.tmp with one of these writers and renames it to PATH when it is complete. */
sel_status sel_grid_file_write(const sel_grid_file *grid, sel_grid_writer *write, const char *path,
                               sel_error *error);

/* Advises what to do about an undeclared nodata value: declare it; or, if the file also has gaps of
 * its declared value, replace one value by the other with gdalwarp. */
void sel_map_declare(const sel_raster_file *file, const sel_undeclared *u, char *text, size_t size);

/* ---- formats that only GDAL reads, through libgdal if it is installed ---- */

/* A reader. Opens source->name anew, without source->file, and reads place, map,
 * units and values; values under a mask become NaN. Reads local regular files only: refuses a name
 * that GDAL would not open as a file, and a VRT that refers to anything else or holds code. libgdal
 * is loaded at the first use. SEL_BAD_FILE: refused, unreadable, or there is no libgdal. */
sel_raster_reader sel_gdal_read;

/* "; with libgdal it is read: install ...", for the messages of other readers; "" if libgdal is
 * installed. */
const char *sel_gdal_missing(void);

/* ---- maps, for all readers: GeoTIFF keys, units of length, files beside a raster ---- */

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
