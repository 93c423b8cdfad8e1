/* grid_tif_write.c -- writes grids as GeoTIFF; opens TIFF files with libtiff. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/io/tif.h"

/* ---- opening, with the first error kept ---- */

static int on_error(TIFF *tiff, void *data, const char *module, const char *format, va_list args) {
    sel_tif_complaint *first = data;
    (void)tiff, (void)module;
    if (!first->message[0]) {
        first->code = errno;
        vsnprintf(first->message, sizeof first->message, format, args);
    }
    return 1;
}

static int on_warning(TIFF *tiff, void *data, const char *module, const char *format,
                      va_list args) {
    (void)tiff, (void)data, (void)module, (void)format, (void)args;
    return 1;
}

TIFF *sel_tif_open(FILE *file, sel_tif_complaint *first, const char *name, const char *mode,
                   size_t largest) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) {
        snprintf(first->message, sizeof first->message, "there is not enough memory");
        return NULL;
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)largest);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, first);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, NULL);
    lseek(fileno(file), 0, SEEK_SET); /* reading through `file` may have moved it */
    errno = 0;
    TIFF *tiff = TIFFFdOpenExt(fileno(file), name, mode, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/* ---- writing ---- */

enum { STRIP_BYTES = 1 << 18, DEFLATE_LEVEL = 1 };

/* From this size on (bytes) a BigTIFF is written, since offsets may not fit in 32 bits. */
static const double large_file = 3.9e9;

/* The tags of GeoTIFF and GDAL, which libtiff does not know by itself. */
#define TEXT(name) ((char *)(uintptr_t)(name))
static const TIFFFieldInfo own_tags[] = {
    {SEL_TAG_PIXEL_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, TEXT("ModelPixelScale")},
    {SEL_TAG_TIE_POINT, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, TEXT("ModelTiepoint")},
    {SEL_TAG_KEY_DIRECTORY, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, TEXT("GeoKeyDirectory")},
    {SEL_TAG_KEY_DOUBLES, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, TEXT("GeoDoubleParams")},
    {SEL_TAG_KEY_TEXT, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, TEXT("GeoAsciiParams")},
    {SEL_TAG_METADATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, TEXT("GDALMetadata")},
    {SEL_TAG_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, TEXT("GDALNoData")},
};

static bool set_layout(TIFF *tiff, const sel_grid_file *grid) {
    int64_t rows = STRIP_BYTES / ((int64_t)sizeof(float) * grid->n[0]);
    uint32_t strip = rows < 1 ? 1 : rows > grid->n[1] ? (uint32_t)grid->n[1] : (uint32_t)rows;
    return TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)grid->n[0]) &&
           TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)grid->n[1]) &&
           TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32) &&
           TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1) &&
           TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP) &&
           TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
           TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
           TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) &&
           TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_FLOATINGPOINT) &&
           TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, DEFLATE_LEVEL) &&
           TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, strip);
}

/* Ties pixel (0, 0), which is in the north-west, to a point of the map: to its corner, or to its
 * centre if the keys say that pixels are points. */
static bool set_place(TIFF *tiff, const sel_grid_file *grid) {
    double half = sel_geo_keys_are_points(grid->keys) ? grid->dx / 2 : 0;
    double top = grid->origin[1] + (double)grid->n[1] * grid->dx;
    const double scale[3] = {grid->dx, grid->dx, 0};
    const double tie[6] = {0, 0, 0, grid->origin[0] + half, top - half, 0};
    char nodata[16];
    snprintf(nodata, sizeof nodata, "%d", SEL_GRID_NODATA);
    return TIFFSetField(tiff, SEL_TAG_PIXEL_SCALE, 3, scale) &&
           TIFFSetField(tiff, SEL_TAG_TIE_POINT, 6, tie) &&
           TIFFSetField(tiff, SEL_TAG_NODATA, nodata);
}

/* Writes the unit of the values in GDAL's metadata. */
static bool set_unit(TIFF *tiff, const sel_grid_file *grid) {
    char text[200];
    if (!grid->unit || strpbrk(grid->unit, "<>&\"")) {
        return true;
    }
    snprintf(text, sizeof text,
             "<GDALMetadata>\n  <Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">%s</Item>\n"
             "</GDALMetadata>\n",
             grid->unit);
    return TIFFSetField(tiff, SEL_TAG_METADATA, text);
}

/* Copies all but the vertical keys: they give the unit of heights, but the grid has a unit of its
 * own. Returns the count. */
static size_t copy_keys_of_plane(const sel_geo_keys *keys, uint16_t *to) {
    size_t count = 4;
    memcpy(to, keys->directory, 4 * sizeof *to);
    for (size_t i = 4; i + 4 <= keys->directory_count; i += 4) {
        if (keys->directory[i] < SEL_KEY_VERTICAL_TYPE) {
            memcpy(to + count, keys->directory + i, 4 * sizeof *to);
            count += 4;
        }
    }
    to[3] = (uint16_t)(count / 4 - 1);
    return count;
}

static bool set_directory(TIFF *tiff, const sel_grid_file *grid) {
    const sel_geo_keys *keys = grid->keys;
    uint16_t *copy = NULL;
    size_t count = keys->directory_count;
    if (grid->unit && count >= 4) {
        copy = malloc(count * sizeof *copy);
        if (!copy) {
            return false;
        }
        count = copy_keys_of_plane(keys, copy);
    }
    const bool set =
        TIFFSetField(tiff, SEL_TAG_KEY_DIRECTORY, (int)count, copy ? copy : keys->directory) == 1;
    free(copy);
    return set;
}

/* Counts are passed as int: libtiff reads the count of these tags as uint16_t. */
static bool set_keys(TIFF *tiff, const sel_grid_file *grid) {
    const sel_geo_keys *keys = grid->keys;
    if (!keys) {
        return true;
    }
    return set_directory(tiff, grid) &&
           (!keys->double_count ||
            TIFFSetField(tiff, SEL_TAG_KEY_DOUBLES, (int)keys->double_count, keys->doubles)) &&
           (!keys->text_count || TIFFSetField(tiff, SEL_TAG_KEY_TEXT, keys->text));
}

/* Writes the rows from north to south, with SEL_GRID_NODATA for NaN. line: room for a row. */
static bool tif_write_rows(TIFF *tiff, const sel_grid_file *grid, float *line) {
    for (int64_t row = 0; row < grid->n[1]; row++) {
        const float *from = grid->value + (grid->n[1] - 1 - row) * grid->n[0];
        for (int64_t i = 0; i < grid->n[0]; i++) {
            line[i] = isnan(from[i]) ? (float)SEL_GRID_NODATA : from[i];
        }
        if (TIFFWriteScanline(tiff, line, (uint32_t)row, 0) < 0) {
            return false;
        }
    }
    return true;
}

static bool tif_write_all(TIFF *tiff, const sel_grid_file *grid) {
    float *line = malloc((size_t)grid->n[0] * sizeof *line);
    TIFFMergeFieldInfo(tiff, own_tags, sizeof own_tags / sizeof *own_tags);
    bool written = line && set_layout(tiff, grid) && set_place(tiff, grid) &&
                   set_keys(tiff, grid) && set_unit(tiff, grid) &&
                   tif_write_rows(tiff, grid, line) && TIFFWriteDirectory(tiff) == 1;
    free(line);
    return written;
}

void sel_tif_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    double bytes = (double)grid->n[0] * (double)grid->n[1] * sizeof(float);
    sel_tif_complaint first = {.code = 0};
    TIFF *tiff = sel_tif_open(to, &first, "the grid", bytes > large_file ? "w8" : "w", 0);
    bool written = tiff && tif_write_all(tiff, grid);
    if (tiff) {
        TIFFCleanup(tiff);
    }
    if (!written || *first.message) {
        snprintf(wrong, SEL_WRONG_ROOM, "%s",
                 first.code       ? strerror(first.code)
                 : *first.message ? first.message
                                  : "there is not enough memory");
    }
}
