/* grid_tif.c -- a grid as GeoTIFF: floats, deflated, with the map's keys as they were read. */
#include <stdlib.h>
#include <string.h>
#include "geometry/grid_file.h"
#include "geometry/tiff_file.h"

enum { STRIP_BYTES = 1 << 18, DEFLATE_LEVEL = 1 };

/* From here on offsets may not fit in 32 bits: BigTIFF. */
static const double large_file = 3.9e9;

#define TEXT(name) ((char *)(uintptr_t)(name))
static const TIFFFieldInfo own_tags[] = {
    {SEL_TAG_PIXEL_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, TEXT("ModelPixelScale")},
    {SEL_TAG_TIE_POINT, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, TEXT("ModelTiepoint")},
    {SEL_TAG_KEY_DIRECTORY, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, TEXT("GeoKeyDirectory")},
    {SEL_TAG_KEY_DOUBLES, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, TEXT("GeoDoubleParams")},
    {SEL_TAG_KEY_TEXT, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, TEXT("GeoAsciiParams")},
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

/* A count is a uint16_t to libtiff here, as the specification has it for the directory. */
static bool set_keys(TIFF *tiff, const sel_geo_keys *keys) {
    if (!keys) {
        return true;
    }
    return TIFFSetField(tiff, SEL_TAG_KEY_DIRECTORY, (int)keys->directory_count, keys->directory) &&
           (!keys->double_count ||
            TIFFSetField(tiff, SEL_TAG_KEY_DOUBLES, (int)keys->double_count, keys->doubles)) &&
           (!keys->text_count || TIFFSetField(tiff, SEL_TAG_KEY_TEXT, keys->text));
}

static bool write_rows(TIFF *tiff, const sel_grid_file *grid, float *line) {
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

static bool write_all(TIFF *tiff, const sel_grid_file *grid) {
    float *line = malloc((size_t)grid->n[0] * sizeof *line);
    TIFFMergeFieldInfo(tiff, own_tags, sizeof own_tags / sizeof *own_tags);
    bool written = line && set_layout(tiff, grid) && set_place(tiff, grid) &&
                   set_keys(tiff, grid->keys) && write_rows(tiff, grid, line) &&
                   TIFFWriteDirectory(tiff) == 1;
    free(line);
    return written;
}

bool sel_tif_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    double bytes = (double)grid->n[0] * (double)grid->n[1] * sizeof(float);
    sel_tiff_file file = {.file = to};
    TIFF *tiff = sel_tiff_open(&file, "the grid", bytes > large_file ? "w8" : "w", 0);
    bool written = tiff && write_all(tiff, grid);
    if (tiff) {
        TIFFClose(tiff);
    }
    written = written && !ferror(to);
    *wrong = '\0';
    if (!written && !ferror(to)) {
        snprintf(wrong, SEL_WRONG_ROOM, "%s",
                 *file.message ? file.message : "there is not enough memory");
    }
    return written;
}
