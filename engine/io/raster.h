/* raster.h -- values on a plane and their map; the files of them: grids as ESRI ASCII (.asc) and
 * GeoTIFF (.tif), read and written, and pictures (.png), read.
 */
#ifndef SEL_RASTER_H
#define SEL_RASTER_H

#include <stdint.h>
#include <stdio.h>
#include "engine/base/arena.h"
#include "engine/values/quantity.h"
#include "engine/values/lookup_value.h"
#include "engine/values/schema.h"

/* What sel.raster{} takes. */
typedef struct sel_raster_params {
    const char *file; /* as it is to be opened */
    double scale;     /* NaN: that of the unit of heights where lengths are to be metres, else 1 */
    double offset;
    double nodata;     /* NaN: the file's own */
    double fill;       /* NaN: none */
    bool metres;       /* lengths are metres from the start */
    size_t most_bytes; /* that its values may take; 0: all that is free */
} sel_raster_params;

extern const sel_table sel_raster_table;

/* What a GeoTIFF says of its map projection, as it stands in the file. */
typedef struct sel_geo_keys {
    size_t directory_count, double_count, text_count;
    const uint16_t *directory; /* tag 34735 */
    const double *doubles;     /* 34736 */
    const char *text;          /* 34737, a NUL behind it */
} sel_geo_keys;

/* A value of a file that stands for no data in most files that hold it, but was not declared so. */
typedef struct sel_undeclared {
    double value;  /* in the file */
    double scaled; /* in the raster */
    int64_t count;
} sel_undeclared;

/* A unit of length. `name` is NULL, and metres 0, where a file names none; metres is NaN where what
 * it names is no length that is known. */
typedef struct sel_length {
    const char *name;
    double metres;
} sel_length;

/* What is known of a raster besides its values. All in the arena. */
typedef struct sel_raster_file {
    const char *path;
    const sel_geo_keys *keys; /* of the map that it is drawn on; NULL: none */
    const char *prj; /* the map in well-known text, of the .prj file beside it; NULL: none */
    sel_length place, height; /* units in the file, of coordinates and of values */
    double dx, origin[2];     /* of the raster, in the file */
    bool scale_given;         /* by the script: its values have the unit that it means */
    bool metres;              /* coordinates, and values whose unit is a length, are in metres */
    bool height_changed;      /* by that */
    bool read;                /* the script has read coordinates or values, in the file's units */
    double nodata;            /* the value of the file that stood for no data; NaN: none */
    bool nodata_given;        /* by the script */
    int64_t gaps;             /* values that stood for no data */
    int undeclared_count;
    const sel_undeclared *undeclared; /* the most frequent first */
} sel_raster_file;

/* The pixels of the picture in a file, for shape.image: 0 (black) to 1 (white). All in the arena.
 * An error names the file. */
sel_status sel_raster_read_picture(sel_arena *arena, const char *path, const sel_raster **raster,
                                   sel_error *error);

/* A lookup r(x, y) whose data are a sel_raster: bilinear between the centres of pixels, constant
 * beyond the outermost ones, an error outside of the raster and where there are no data. NULL after
 * an error that names the file, or `where`. */
const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error);

/* Turns coordinates into metres, and values too where the file gives them a unit of length and the
 * script gives no scale: once, before anything else reads the raster. Fails with SEL_BAD_SCENARIO
 * where the unit of coordinates is not known, and where the script has read the raster before. */
sel_status sel_raster_to_metres(const sel_lookup *lookup, sel_where where, sel_error *error);

/* Whether it is, or would not be changed. */
bool sel_raster_is_in_metres(const sel_lookup *lookup);

/* Notes that a script reads coordinates or values of a lookup while it is loaded. */
void sel_raster_note_read(const sel_lookup *lookup);

/* What `check` says of the units of a raster: "dem.tif: coordinates in ..."; "" for a picture. */
const char *sel_raster_text(const sel_lookup *lookup, char *text, size_t size);

/* The raster of a lookup; NULL for a lookup of another kind, and for NULL. */
const sel_raster *sel_raster_of(const sel_lookup *lookup);

/* The value at a point as above; NaN outside and where there are no data. */
double sel_raster_value(const sel_raster *raster, double x, double y);

/* The undeclared value that the pixel at a point has; NULL: none, or the point lies outside. */
const sel_undeclared *sel_raster_undeclared(const sel_raster *raster, double x, double y);

/* ---- the map that it is drawn on ---- */

typedef enum sel_map_unit { SEL_MAP_UNKNOWN, SEL_MAP_LENGTH, SEL_MAP_DEGREES } sel_map_unit;

/* What the keys of a GeoTIFF, or else the .prj, say that coordinates are. */
sel_map_unit sel_map_unit_of(const sel_raster *raster);

/* Whether place and spacing look like longitude and latitude, where nothing says what they are. */
bool sel_map_looks_like_degrees(const sel_raster *raster);

/* A path as a shell takes it, with `end` in place of its suffix unless that is ""; "FILE" when it
 * does not fit into `text`. Returns `text`. */
const char *sel_map_quote(const char *path, const char *end, char *text, size_t size);

/* The command that makes a map in metres of one in degrees: UTM at its middle, cells as wide as
 * they are high. `declared`: its file says that it is in degrees. Returns `text`. */
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

/* A raster that is read from a file. */
typedef struct sel_raster_source {
    /* Given by the caller. */
    sel_arena *arena; /* gets the values and keys */
    const char *name; /* for messages */
    FILE *file;
    double file_bytes;
    size_t most_bytes; /* that its values may take; 0: all that is free */
    sel_error *error;

    /* Read, the values not scaled yet. */
    sel_raster raster;
    double nodata;            /* the value that stands for no data; NaN: none */
    bool exact;               /* it has to be met exactly, not to six digits */
    bool picture;             /* without a place */
    bool placed;              /* by the file itself */
    bool place_lacks;         /* it has a part of what would place it */
    bool south_up;            /* the first row of the file is the southernmost, of `raster` the
                                 last until all is read */
    double scale, offset;     /* the values are scale * value in the file + offset */
    const char *unit;         /* of the values; NULL: none */
    const sel_geo_keys *keys; /* NULL: none */
    const char *prj;          /* the map in well-known text; NULL: none */
    bool foreign;             /* nothing is read yet: GDAL is to read it */
} sel_raster_source;

/* Grids with their place; and the luminance of a PNG, 0 to 1, transparent pixels upon white. */
typedef sel_status sel_raster_reader(sel_raster_source *to);
sel_raster_reader sel_asc_read, sel_tif_read, sel_png_read;

/* Fails with SEL_BAD_FILE: the file's name, and what is wrong with it. */
sel_status sel_raster_refuse(const sel_raster_source *source, const char *format, ...)
    SEL_PRINTF(2, 3);

/* Takes the memory for n[0] x n[1] values of a raster that has its place; refuses a place that is
 * not finite, and values that take more memory than there may be. */
sel_status sel_raster_allocate(sel_raster_source *source);

/* Refuses cells that are not square, to six digits. */
sel_status sel_raster_check_square(const sel_raster_source *source, double dx, double dy);

/* Reads the .prj beside file->path where there is one, and makes keys of it when there are none.
 * Fails where it cannot be read. */
sel_status sel_map_read_prj(sel_arena *arena, sel_raster_file *file, sel_error *error);

/* Whether the coordinates of a pixel are those of its centre (PixelIsPoint), not of its corner. */
bool sel_geo_keys_are_points(const sel_geo_keys *keys);

/* ---- writing files ---- */

/* The number in a file where there are no data. */
#define SEL_GRID_NODATA (-9999)

/* What is written. Row 0 is the southernmost; NaN: no data. */
typedef struct sel_grid_file {
    int64_t n[2];
    double dx, origin[2];     /* the lower left corner */
    const float *value;       /* n[1] rows of n[0] */
    const sel_geo_keys *keys; /* for .tif; NULL: none */
    const char *prj;          /* for the .prj beside an .asc; NULL: none */
    const char *unit;         /* of the values, for .tif; NULL: it is not written */
} sel_grid_file;

/* Write all of the grid to `to`, which stays open; what is `wrong` stays "" where errno says it.
 * Numbers read back as the same float. */
enum { SEL_WRONG_ROOM = 240 };
typedef void sel_grid_writer(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);
sel_grid_writer sel_asc_write, sel_tif_write, sel_prj_write;

/* Writes PATH.tmp by one of the above and renames it to PATH when it is whole. */
sel_status sel_grid_file_write(const sel_grid_file *grid, sel_grid_writer *write, const char *path,
                               sel_error *error);

/* What to do about an undeclared value of a file: declare it, or where there is a declared one
 * beside it, make them one. */
void sel_map_declare(const sel_raster_file *file, const sel_undeclared *u, char *text, size_t size);

#endif
