/* grid_tif.c -- reads grids from GeoTIFF: one number per pixel, placed by tags.
 *
 * libtiff unpacks strips and tiles. The declared sizes are compared with the size of the file
 * before memory is allocated. Tags: OGC GeoTIFF Standard 1.1.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/base/text.h"
#include "engine/io/raster.h"
#include "engine/io/tif.h"

/* ---- reading ---- */

typedef struct number_kind {
    uint16_t format, bits;
    void (*convert)(const void *from, int64_t n, double *to);
} number_kind;

#define CONVERT(type)                                                     \
    static void convert_##type(const void *from, int64_t n, double *to) { \
        for (int64_t i = 0; i < n; i++) {                                 \
            to[i] = (double)((const type *)from)[i];                      \
        }                                                                 \
    }
CONVERT(uint8_t)
CONVERT(uint16_t)
CONVERT(uint32_t)
CONVERT(int8_t)
CONVERT(int16_t)
CONVERT(int32_t)
CONVERT(float)
CONVERT(double)

static const number_kind kinds[] = {
    {SAMPLEFORMAT_UINT, 8, convert_uint8_t},   {SAMPLEFORMAT_UINT, 16, convert_uint16_t},
    {SAMPLEFORMAT_UINT, 32, convert_uint32_t}, {SAMPLEFORMAT_INT, 8, convert_int8_t},
    {SAMPLEFORMAT_INT, 16, convert_int16_t},   {SAMPLEFORMAT_INT, 32, convert_int32_t},
    {SAMPLEFORMAT_IEEEFP, 32, convert_float},  {SAMPLEFORMAT_IEEEFP, 64, convert_double},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct reader {
    sel_raster_source *to;
    sel_tif_complaint first;
    TIFF *tiff;
    const number_kind *kind;
    uint32_t part[2]; /* width and height of a part (tile or strip) in pixels */
    int step;         /* numbers per pixel in a part */
    bool alpha;       /* pixels have a second value, the opacity; 0: no data */
    bool planes;      /* the opacities lie in parts of their own (PLANARCONFIG_SEPARATE) */
    double *line;     /* a converted row with opacities */
} reader;

static sel_status tif_unreadable(const reader *r) {
    return sel_raster_refuse(r->to, "is no GeoTIFF that can be read: %s",
                             r->first.message[0] ? r->first.message : "libtiff does not say why");
}

/* ---- tags that libtiff does not know ---- */

/* Finds a tag of the given type; *to gets its numbers. Returns their count; 0: there is no such
 * tag. libtiff keeps unknown tags unchanged. */
static size_t find_tag(const reader *r, uint32_t tag, TIFFDataType type, const void **to) {
    const TIFFField *field = TIFFFindField(r->tiff, tag, TIFF_ANY);
    *to = NULL;
    if (!field || TIFFFieldDataType(field) != type || !TIFFFieldPassCount(field)) {
        return 0;
    }
    uint32_t many = 0;
    uint16_t few = 0;
    int found = TIFFFieldReadCount(field) == TIFF_VARIABLE2 ? TIFFGetField(r->tiff, tag, &many, to)
                                                            : TIFFGetField(r->tiff, tag, &few, to);
    size_t count = many ? many : few;
    return found && *to ? count : 0;
}

/* Copies a tag into the arena, followed by a NUL; *count is 0 if there is no such tag. */
static sel_status copy_tag(const reader *r, uint32_t tag, TIFFDataType type, const void **to,
                           size_t *count) {
    const void *from;
    *to = NULL;
    *count = find_tag(r, tag, type, &from);
    const size_t bytes = *count * (size_t)TIFFDataWidth(type);
    void *copy = *count ? sel_arena_alloc(r->to->arena, bytes + 1) : NULL;
    if (*count && !copy) {
        return sel_fail_memory(r->to->error, r->to->name, bytes);
    }
    if (copy) {
        *to = memcpy(copy, from, bytes);
    }
    return SEL_OK;
}

static sel_status copy_keys(const reader *r) {
    sel_geo_keys *keys = sel_arena_alloc(r->to->arena, sizeof *keys);
    const void *directory, *doubles, *text;
    if (!keys) {
        return sel_fail_memory(r->to->error, r->to->name, sizeof *keys);
    }
    sel_status status =
        copy_tag(r, SEL_TAG_KEY_DIRECTORY, TIFF_SHORT, &directory, &keys->directory_count);
    status = status ? status
                    : copy_tag(r, SEL_TAG_KEY_DOUBLES, TIFF_DOUBLE, &doubles, &keys->double_count);
    status = status ? status : copy_tag(r, SEL_TAG_KEY_TEXT, TIFF_ASCII, &text, &keys->text_count);
    if (!status && keys->directory_count) {
        keys->directory = directory;
        keys->doubles = doubles;
        keys->text = text;
        r->to->keys = keys;
    }
    return status;
}

/* ---- origin and cell size ---- */

/* The sides of a pixel, and a tie point: pixel position at[] (column, row) has the coordinates x
 * and y. */
typedef struct placement {
    double side[2], at[2], x, y;
} placement;

/* Without tags the lower left corner is the origin, and pixels have side 1. */
static sel_status find_placement(const reader *r, placement *p) {
    const void *scale, *tie, *matrix;
    size_t scales = find_tag(r, SEL_TAG_PIXEL_SCALE, TIFF_DOUBLE, &scale);
    size_t ties = find_tag(r, SEL_TAG_TIE_POINT, TIFF_DOUBLE, &tie);
    size_t numbers = find_tag(r, SEL_TAG_TRANSFORMATION, TIFF_DOUBLE, &matrix);
    if (scales >= 2 && ties >= 6) {
        const double *s = scale, *t = tie;
        *p = (placement){{s[0], s[1]}, {t[0], t[1]}, t[3], t[4]};
        return SEL_OK;
    }
    if (numbers >= 16) {
        const double *m = matrix;
        *p = (placement){{m[0], -m[5]}, {0, 0}, m[3], m[7]};
        return m[1] == 0 && m[4] == 0 ? SEL_OK
                                      : sel_raster_refuse(r->to, "is a rotated grid; turn it with "
                                                                 "gdalwarp first");
    }
    r->to->placed = false;
    r->to->place_lacks = scales || ties || numbers;
    *p = (placement){{1, 1}, {0, (double)r->to->raster.n[1]}, 0, 0};
    return SEL_OK;
}

static sel_status tif_place(const reader *r) {
    placement p = {{0, 0}, {0, 0}, 0, 0};
    sel_raster *raster = &r->to->raster;
    r->to->placed = true;
    sel_status status = find_placement(r, &p);
    if (status) {
        return status;
    }
    double sum = p.side[0] + p.side[1] + p.at[0] + p.at[1] + p.x + p.y;
    if (!isfinite(sum) || !(p.side[0] > 0 && p.side[1] != 0)) {
        return sel_raster_refuse(r->to,
                                 "its pixels of %.10g x %.10g at %.10g, %.10g do not run from the "
                                 "west to the east; turn it with gdalwarp first",
                                 p.side[0], p.side[1], p.x, p.y);
    }
    /* By the formula of the standard, rows run from south to north if the height is negative. */
    status = sel_raster_check_square(r->to, p.side[0], fabs(p.side[1]));
    double half = sel_geo_keys_are_points(r->to->keys) ? 0.5 : 0;
    const double rows = p.side[1] > 0 ? (double)raster->n[1] : 0;
    r->to->south_up = p.side[1] < 0;
    raster->dx = p.side[0];
    raster->origin[0] = p.x - (p.at[0] + half) * p.side[0];
    raster->origin[1] = p.y + (p.at[1] + half - rows) * p.side[1];
    return status;
}

/* ---- number type, compression, size ---- */

static sel_status find_kind(reader *r) {
    uint16_t bits = 0, format = 0, samples = 0;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    r->step = 1;
    if (samples == 2) {
        uint16_t count = 0, layout = PLANARCONFIG_CONTIG;
        const uint16_t *extra = NULL;
        TIFFGetFieldDefaulted(r->tiff, TIFFTAG_EXTRASAMPLES, &count, &extra);
        TIFFGetFieldDefaulted(r->tiff, TIFFTAG_PLANARCONFIG, &layout);
        r->alpha = count == 1 && extra && extra[0] != EXTRASAMPLE_UNSPECIFIED;
        r->planes = layout == PLANARCONFIG_SEPARATE;
        r->step = r->planes ? 1 : 2;
    }
    if (samples != 1 && !r->alpha) {
        return sel_raster_refuse(
            r->to, "has %u values per pixel, a grid has one; gdal_translate -b 1 takes the first",
            (unsigned)samples);
    }
    format = format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].bits == bits && kinds[i].format == format) {
            r->kind = &kinds[i];
            return SEL_OK;
        }
    }
    r->to->foreign = !*sel_gdal_missing();
    return r->to->foreign ? SEL_OK
                          : sel_raster_refuse(r->to,
                                              "has numbers of %u bits and format %u; 8, 16 and 32 "
                                              "bits whole, 32 and 64 bits floating are read%s",
                                              (unsigned)bits, (unsigned)format, sel_gdal_missing());
}

static sel_status check_compression(const reader *r) {
    uint16_t compression = 0;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_NONE || compression == COMPRESSION_LZW ||
        compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE) {
        return SEL_OK;
    }
    r->to->foreign = !*sel_gdal_missing();
    return r->to->foreign
               ? SEL_OK
               : sel_raster_refuse(r->to,
                                   "is compressed by method %u; none, LZW and deflate are read: "
                                   "gdal_translate -co COMPRESS=DEFLATE%s",
                                   (unsigned)compression, sel_gdal_missing());
}

/* Finds the size of a part: a tile, or a strip, which is as wide as the picture. */
static void tif_find_parts(reader *r) {
    const bool tiled = TIFFIsTiled(r->tiff) != 0;
    r->part[0] = (uint32_t)r->to->raster.n[0];
    TIFFGetFieldDefaulted(r->tiff, tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &r->part[1]);
    if (tiled) {
        TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &r->part[0]);
    } else if (r->part[1] > r->to->raster.n[1]) {
        r->part[1] = (uint32_t)r->to->raster.n[1];
    }
}

static sel_status tif_check_size(reader *r) {
    uint32_t width = 0, height = 0;
    double bytes = r->kind->bits / 8 * r->step, most = SEL_TIF_PACKING * r->to->file_bytes;
    TIFFGetField(r->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tiff, TIFFTAG_IMAGELENGTH, &height);
    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) {
        return sel_raster_refuse(r->to, "has %" PRIu32 " x %" PRIu32 " pixels", width, height);
    }
    r->to->raster.n[0] = width;
    r->to->raster.n[1] = height;
    tif_find_parts(r);
    if ((double)width * height * bytes > most || (double)r->part[0] * r->part[1] * bytes > most) {
        return sel_raster_refuse(
            r->to, "%.0f bytes cannot hold the %" PRIu32 " x %" PRIu32 " pixels that it declares",
            r->to->file_bytes, width, height);
    }
    return SEL_OK;
}

/* ---- values ---- */

/* Converts a row of a part into `to`. `opacity`: the row holds opacities alone, and only sets NaN
 * where they are 0. */
static void tif_store_row(const reader *r, const uint8_t *row, int64_t width, bool opacity,
                          double *to) {
    if (!r->alpha) {
        r->kind->convert(row, width, to);
        return;
    }
    r->kind->convert(row, width * r->step, r->line);
    for (int64_t i = 0; i < width; i++) {
        const double *pixel = r->line + i * r->step;
        if (!opacity) {
            to[i] = pixel[0];
        }
        if ((opacity && pixel[0] == 0) || (r->step == 2 && pixel[1] == 0)) {
            to[i] = (double)NAN;
        }
    }
}

/* Converts the part at pixel (x, y), as far as it lies in the picture. `part` NULL: no data. */
static void tif_store_part(const reader *r, const uint8_t *part, int64_t x, int64_t y,
                           bool opacity) {
    const int64_t *n = r->to->raster.n;
    const int64_t width = n[0] - x < r->part[0] ? n[0] - x : r->part[0];
    const int64_t height = n[1] - y < r->part[1] ? n[1] - y : r->part[1];
    const size_t row_bytes = (size_t)r->part[0] * (size_t)r->step * (r->kind->bits / 8);
    for (int64_t row = 0; row < height; row++) {
        double *to = r->to->raster.value + (n[1] - 1 - y - row) * n[0] + x;
        for (int64_t i = 0; !part && i < width; i++) {
            to[i] = (double)NAN;
        }
        if (part) {
            tif_store_row(r, part + (size_t)row * row_bytes, width, opacity, to);
        }
    }
}

/* Reads and converts the part at pixel (x, y). A part of zero bytes has no data: sparse files omit
 * it. */
static sel_status tif_read_part(const reader *r, int64_t x, int64_t y, int plane, void *buffer,
                                tmsize_t bytes) {
    const bool tiled = TIFFIsTiled(r->tiff) != 0;
    const uint16_t sample = (uint16_t)plane;
    const uint32_t part = tiled ? TIFFComputeTile(r->tiff, (uint32_t)x, (uint32_t)y, 0, sample)
                                : TIFFComputeStrip(r->tiff, (uint32_t)y, sample);
    const int64_t rows = r->to->raster.n[1] - y;
    if (TIFFGetStrileByteCount(r->tiff, part) == 0) {
        tif_store_part(r, NULL, x, y, plane != 0);
        return SEL_OK;
    }
    if (!tiled && rows < r->part[1]) { /* the last strip is short */
        bytes = bytes / r->part[1] * rows;
    }
    tmsize_t got = tiled ? TIFFReadEncodedTile(r->tiff, part, buffer, bytes)
                         : TIFFReadEncodedStrip(r->tiff, part, buffer, bytes);
    if (got != bytes) {
        return tif_unreadable(r);
    }
    tif_store_part(r, buffer, x, y, plane != 0);
    return SEL_OK;
}

/* Reads all parts. libtiff's size of a part must be the one that the conversion expects. */
static sel_status tif_read_values(reader *r) {
    tmsize_t bytes = TIFFIsTiled(r->tiff) ? TIFFTileSize(r->tiff) : TIFFStripSize(r->tiff);
    size_t need = (size_t)r->part[0] * r->part[1] * (size_t)r->step * (r->kind->bits / 8);
    if (bytes <= 0 || (size_t)bytes != need) {
        return tif_unreadable(r);
    }
    const size_t line = r->alpha ? (size_t)r->part[0] * (size_t)r->step * sizeof *r->line : 1;
    void *buffer = calloc(1, need);
    r->line = malloc(line);
    sel_status status =
        buffer && r->line ? SEL_OK : sel_fail_memory(r->to->error, r->to->name, need + line);
    for (int plane = 0; plane <= (r->alpha && r->planes); plane++) {
        for (int64_t y = 0; y < r->to->raster.n[1]; y += r->part[1]) {
            for (int64_t x = 0; x < r->to->raster.n[0] && !status; x += r->part[0]) {
                status = tif_read_part(r, x, y, plane, buffer, bytes);
            }
        }
    }
    free(r->line);
    free(buffer);
    return status;
}

/* The number at the beginning of a text of GDAL's; `preset` if there is none. */
static double tif_number_of(const char *text, double preset) {
    double value = preset;
    text += strspn(text, " ");
    if (!sel_decimal_read(text, &value)) {
        value = strncasecmp(text, "-inf", 4) == 0  ? -(double)INFINITY
                : strncasecmp(text, "inf", 3) == 0 ? (double)INFINITY
                                                   : preset;
    }
    return value;
}

static void find_nodata(const reader *r) {
    const void *text;
    size_t length = find_tag(r, SEL_TAG_NODATA, TIFF_ASCII, &text);
    char copy[64] = "";
    if (length) {
        memcpy(copy, text, length < sizeof copy ? length : sizeof copy - 1);
        r->to->nodata = tif_number_of(copy, (double)NAN);
    }
    r->to->exact = r->kind->format != SAMPLEFORMAT_IEEEFP;
}

/* The content of the item with this role in GDAL's metadata, for the first band; NULL: none. */
static const char *find_metadata(const char *text, const char *role) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "role=\"%s\"", role);
    for (const char *item = text; (item = strstr(item, "<Item ")) != NULL; item++) {
        const char *end = strchr(item, '>'), *found = strstr(item, wanted);
        const char *sample = strstr(item, "sample=\"");
        bool other_band = end && sample && sample < end && strncmp(sample, "sample=\"0\"", 10) != 0;
        if (end && found && found < end && !other_band) {
            return end + 1;
        }
    }
    return NULL;
}

static double metadata_number(const char *text, const char *role, double preset) {
    const char *found = find_metadata(text, role);
    return found ? tif_number_of(found, preset) : preset;
}

static const char *metadata_text(sel_arena *arena, const char *text, const char *role) {
    const char *found = find_metadata(text, role);
    return found ? sel_arena_copy_length(arena, found, strcspn(found, "<")) : NULL;
}

/* Reads unit, scale and offset from GDAL's metadata, which are XML. */
static sel_status find_scale(const reader *r) {
    sel_raster_source *to = r->to;
    const void *text;
    size_t length;
    sel_status status = copy_tag(r, SEL_TAG_METADATA, TIFF_ASCII, &text, &length);
    if (status || !length) {
        return status;
    }
    to->unit = metadata_text(to->arena, text, "unittype");
    to->scale = metadata_number(text, "scale", 1);
    to->offset = metadata_number(text, "offset", 0);
    if (!isfinite(to->scale) || !isfinite(to->offset) || to->scale == 0) {
        return sel_raster_refuse(r->to,
                                 "its metadata give its values the scale %g and the offset %g",
                                 to->scale, to->offset);
    }
    return SEL_OK;
}

static sel_status read_grid(reader *r) {
    sel_status status = find_kind(r);
    status = status ? status : check_compression(r);
    status = status || r->to->foreign ? status : tif_check_size(r);
    status = status ? status : copy_keys(r);
    if (status || r->to->foreign) {
        return status;
    }
    status = tif_place(r);
    status = status ? status : find_scale(r);
    status = status ? status : sel_raster_allocate(r->to);
    if (!status) {
        find_nodata(r);
        status = tif_read_values(r);
        status = status ? status : sel_tif_masks_inside(r->tiff, &r->first, r->to);
    }
    return status;
}

sel_status sel_tif_read(sel_raster_source *to) {
    reader r = {.to = to};
    r.tiff = sel_tif_open(to->file, &r.first, to->name, "rm",
                          2 * (size_t)to->file_bytes + 16 * SEL_TIF_MIB);
    if (!r.tiff) {
        return tif_unreadable(&r);
    }
    sel_status status = read_grid(&r);
    TIFFCleanup(r.tiff);
    return status;
}
