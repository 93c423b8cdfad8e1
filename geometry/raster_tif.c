/* raster_tif.c -- grids from GeoTIFF: one number per pixel, placed by its tags.
 *
 * libtiff unpacks strips and tiles; what it declares is compared with the size of the file before
 * memory is taken for it. Tags: OGC GeoTIFF Standard 1.1.
 */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/text.h"
#include "geometry/raster.h"
#include "geometry/tiff_file.h"

/* LZW makes at most 4096 bytes of a code of 12 bits, deflate 1032 of one byte. Also for files that
 * are not packed: sparse ones leave parts out. */
enum { MOST_PACKING = 2800, RASTER_TYPE = 1025, PIXEL_IS_POINT = 2, MIB = 1 << 20 };

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
    const char *name;
    sel_tiff_file from;
    TIFF *tiff;
    const number_kind *kind;
    uint32_t part[2]; /* pixels of a tile or strip */
    double file_bytes;
    sel_arena *arena;
    sel_raster *raster;
    const sel_geo_keys *keys; /* NULL: none */
    sel_error *error;
} reader;

/* One line: the file, what is wrong with it. */
static sel_status refuse(const reader *r, const char *format, ...) SEL_PRINTF(2, 3);

static sel_status refuse(const reader *r, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sel_fail(r->error, SEL_BAD_FILE, "%s: %s", r->name, text);
}

static sel_status unreadable(const reader *r) {
    return refuse(r, "is no GeoTIFF that can be read: %s",
                  r->from.message[0] ? r->from.message : "libtiff does not say why");
}

/* ---- tags that libtiff does not know ---- */

/* The count and the numbers of a tag of the given type; 0 when it is not there. libtiff keeps tags
 * that it does not know as they stand in the file. */
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

/* A copy in the arena, a NUL behind it; *count is 0 when there is no such tag. */
static sel_status copy_tag(const reader *r, uint32_t tag, TIFFDataType type, size_t size,
                           const void **to, size_t *count) {
    const void *from;
    *to = NULL;
    *count = find_tag(r, tag, type, &from);
    void *copy = *count ? sel_arena_alloc(r->arena, *count * size + 1) : NULL;
    if (*count && !copy) {
        return sel_fail_memory(r->error, r->name, *count * size);
    }
    if (copy) {
        *to = memcpy(copy, from, *count * size);
    }
    return SEL_OK;
}

static sel_status copy_keys(reader *r) {
    sel_geo_keys found;
    const void *directory, *doubles, *text;
    sel_status status = copy_tag(r, SEL_TAG_KEY_DIRECTORY, TIFF_SHORT, sizeof(uint16_t), &directory,
                                 &found.directory_count);
    status = status ? status
                    : copy_tag(r, SEL_TAG_KEY_DOUBLES, TIFF_DOUBLE, sizeof(double), &doubles,
                               &found.double_count);
    status =
        status ? status : copy_tag(r, SEL_TAG_KEY_TEXT, TIFF_ASCII, 1, &text, &found.text_count);
    if (status || !found.directory_count) {
        return status;
    }
    sel_geo_keys *keys = sel_arena_alloc(r->arena, sizeof *keys);
    if (!keys) {
        return sel_fail_memory(r->error, r->name, sizeof *keys);
    }
    found.directory = directory;
    found.doubles = doubles;
    found.text = text;
    *keys = found;
    r->keys = keys;
    return SEL_OK;
}

int sel_geo_key(const sel_geo_keys *keys, int wanted) {
    for (size_t i = 4; keys && i + 4 <= keys->directory_count; i += 4) {
        const uint16_t *key = keys->directory + i;
        if (key[0] == wanted && key[1] == 0) {
            return key[3];
        }
    }
    return 0;
}

bool sel_geo_keys_are_points(const sel_geo_keys *keys) {
    return sel_geo_key(keys, RASTER_TYPE) == PIXEL_IS_POINT;
}

/* ---- where it lies ---- */

/* Sides of a pixel, and the coordinates of a place (column, row) of the picture. */
typedef struct placement {
    double side[2], at[2], x, y;
} placement;

static sel_status by_transformation(const reader *r, const double *m, placement *p) {
    if (m[1] != 0 || m[4] != 0) {
        return refuse(r, "is a rotated grid; turn it with gdalwarp first");
    }
    *p = (placement){{m[0], -m[5]}, {0, 0}, m[3], m[7]};
    return SEL_OK;
}

/* Without any tag the picture lies at the origin, its pixels of side 1. */
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
        return by_transformation(r, matrix, p);
    }
    if (scales || ties || numbers) {
        return refuse(r,
                      "has not all the tags that place it: a pixel scale (33550) and a tie point "
                      "(33922), or a transformation (34264)");
    }
    *p = (placement){{1, 1}, {0, (double)r->raster->n[1]}, 0, 0};
    return SEL_OK;
}

static sel_status place(const reader *r) {
    placement p = {{0, 0}, {0, 0}, 0, 0};
    sel_raster *raster = r->raster;
    sel_status status = find_placement(r, &p);
    if (status) {
        return status;
    }
    double sum = p.side[0] + p.side[1] + p.at[0] + p.at[1] + p.x + p.y;
    if (!isfinite(sum) || !(p.side[0] > 0 && p.side[1] > 0)) {
        return refuse(r,
                      "its pixels of %.10g x %.10g at %.10g, %.10g do not run from the "
                      "north-west to the south-east; turn it with gdalwarp first",
                      p.side[0], p.side[1], p.x, p.y);
    }
    status = sel_raster_check_square(r->name, p.side[0], p.side[1], r->error);
    double half = sel_geo_keys_are_points(r->keys) ? 0.5 : 0;
    raster->dx = p.side[0];
    raster->origin[0] = p.x - (p.at[0] + half) * p.side[0];
    raster->origin[1] = p.y + (p.at[1] + half - (double)raster->n[1]) * p.side[1];
    return status;
}

/* ---- what it declares ---- */

static sel_status find_kind(reader *r) {
    uint16_t bits = 0, format = 0, samples = 0;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    if (samples != 1) {
        return refuse(r,
                      "has %u values per pixel, a grid has one; gdal_translate -b 1 takes the "
                      "first",
                      (unsigned)samples);
    }
    format = format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].bits == bits && kinds[i].format == format) {
            r->kind = &kinds[i];
            return SEL_OK;
        }
    }
    return refuse(r,
                  "has numbers of %u bits and format %u; 8, 16 and 32 bits whole, 32 and 64 bits "
                  "floating are read",
                  (unsigned)bits, (unsigned)format);
}

static sel_status check_compression(const reader *r) {
    uint16_t compression = 0;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_NONE || compression == COMPRESSION_LZW ||
        compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE) {
        return SEL_OK;
    }
    return refuse(r,
                  "is compressed by method %u; none, LZW and deflate are read: gdal_translate -co "
                  "COMPRESS=DEFLATE",
                  (unsigned)compression);
}

/* A picture lies in parts: tiles, or strips, which are as wide as it. */
static void find_parts(reader *r) {
    const bool tiled = TIFFIsTiled(r->tiff) != 0;
    r->part[0] = (uint32_t)r->raster->n[0];
    TIFFGetFieldDefaulted(r->tiff, tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &r->part[1]);
    if (tiled) {
        TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &r->part[0]);
    } else if (r->part[1] > r->raster->n[1]) {
        r->part[1] = (uint32_t)r->raster->n[1];
    }
}

static sel_status check_size(reader *r) {
    uint32_t width = 0, height = 0;
    double bytes = r->kind->bits / 8, most = MOST_PACKING * r->file_bytes;
    TIFFGetField(r->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tiff, TIFFTAG_IMAGELENGTH, &height);
    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) {
        return refuse(r, "has %" PRIu32 " x %" PRIu32 " pixels", width, height);
    }
    r->raster->n[0] = width;
    r->raster->n[1] = height;
    find_parts(r);
    if ((double)width * height * bytes > most || (double)r->part[0] * r->part[1] * bytes > most) {
        return refuse(
            r, "%.0f bytes cannot hold the %" PRIu32 " x %" PRIu32 " pixels that it declares",
            r->file_bytes, width, height);
    }
    return SEL_OK;
}

/* ---- values ---- */

/* Takes the part of a tile or strip at (x, y) that lies in the picture; NULL: without data. */
static void take_part(const reader *r, const uint8_t *part, int64_t x, int64_t y) {
    const int64_t *n = r->raster->n;
    const int64_t width = n[0] - x < r->part[0] ? n[0] - x : r->part[0];
    const int64_t height = n[1] - y < r->part[1] ? n[1] - y : r->part[1];
    const size_t row_bytes = (size_t)r->part[0] * (r->kind->bits / 8);
    for (int64_t row = 0; row < height; row++) {
        double *to = r->raster->value + (n[1] - 1 - y - row) * n[0] + x;
        for (int64_t i = 0; !part && i < width; i++) {
            to[i] = (double)NAN;
        }
        if (part) {
            r->kind->convert(part + (size_t)row * row_bytes, width, to);
        }
    }
}

/* Parts of no bytes have no data: sparse files leave them out. */
static sel_status read_part(const reader *r, int64_t x, int64_t y, void *buffer, tmsize_t bytes) {
    const bool tiled = TIFFIsTiled(r->tiff) != 0;
    const uint32_t part = tiled ? TIFFComputeTile(r->tiff, (uint32_t)x, (uint32_t)y, 0, 0)
                                : TIFFComputeStrip(r->tiff, (uint32_t)y, 0);
    const int64_t rows = r->raster->n[1] - y;
    if (TIFFGetStrileByteCount(r->tiff, part) == 0) {
        take_part(r, NULL, x, y);
        return SEL_OK;
    }
    if (!tiled && rows < r->part[1]) { /* the last strip is short */
        bytes = bytes / r->part[1] * rows;
    }
    tmsize_t got = tiled ? TIFFReadEncodedTile(r->tiff, part, buffer, bytes)
                         : TIFFReadEncodedStrip(r->tiff, part, buffer, bytes);
    if (got != bytes) {
        return unreadable(r);
    }
    take_part(r, buffer, x, y);
    return SEL_OK;
}

/* The size that libtiff finds for a part must be the one that conversion counts on. */
static sel_status read_values(const reader *r) {
    tmsize_t bytes = TIFFIsTiled(r->tiff) ? TIFFTileSize(r->tiff) : TIFFStripSize(r->tiff);
    size_t need = (size_t)r->part[0] * r->part[1] * (r->kind->bits / 8);
    if (bytes <= 0 || (size_t)bytes != need) {
        return unreadable(r);
    }
    void *buffer = calloc(1, need);
    sel_status status = buffer ? SEL_OK : sel_fail_memory(r->error, r->name, need);
    for (int64_t y = 0; y < r->raster->n[1]; y += r->part[1]) {
        for (int64_t x = 0; x < r->raster->n[0] && !status; x += r->part[0]) {
            status = read_part(r, x, y, buffer, bytes);
        }
    }
    free(buffer);
    return status;
}

/* The number at the start of one of GDAL's texts; `preset` when there is none. */
static double number_of(const char *text, double preset) {
    double value = preset;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    text += strspn(text, " ");
    if (c_locale && !sel_decimal_read(text, c_locale, &value)) {
        value = strncasecmp(text, "-inf", 4) == 0  ? -(double)INFINITY
                : strncasecmp(text, "inf", 3) == 0 ? (double)INFINITY
                                                   : preset;
    }
    if (c_locale) {
        freelocale(c_locale);
    }
    return value;
}

static void find_nodata(const reader *r, sel_raster_source *to) {
    const void *text;
    size_t length = find_tag(r, SEL_TAG_NODATA, TIFF_ASCII, &text);
    char copy[64] = "";
    if (length) {
        memcpy(copy, text, length < sizeof copy ? length : sizeof copy - 1);
        to->nodata = number_of(copy, (double)NAN);
    }
    to->exact = r->kind->format != SAMPLEFORMAT_IEEEFP;
}

/* The number of the item of GDAL's metadata that has this role, in the first band; `preset` where
 * there is none. */
static double metadata_number(const char *text, const char *role, double preset) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "role=\"%s\"", role);
    for (const char *item = text; (item = strstr(item, "<Item ")) != NULL; item++) {
        const char *end = strchr(item, '>'), *found = strstr(item, wanted);
        const char *sample = strstr(item, "sample=\"");
        bool other_band = end && sample && sample < end && strncmp(sample, "sample=\"0\"", 10) != 0;
        if (end && found && found < end && !other_band) {
            return number_of(end + 1, preset);
        }
    }
    return preset;
}

/* GDAL's metadata are a text in XML. */
static sel_status find_scale(const reader *r, sel_raster_source *to) {
    const void *text;
    size_t length;
    sel_status status = copy_tag(r, SEL_TAG_METADATA, TIFF_ASCII, 1, &text, &length);
    if (status || !length) {
        return status;
    }
    to->scale = metadata_number(text, "scale", 1);
    to->offset = metadata_number(text, "offset", 0);
    if (!isfinite(to->scale) || !isfinite(to->offset) || to->scale == 0) {
        return refuse(r, "its metadata give its values the scale %g and the offset %g", to->scale,
                      to->offset);
    }
    return SEL_OK;
}

static sel_status read_grid(reader *r, sel_raster_source *to) {
    sel_status status = find_kind(r);
    status = status ? status : check_compression(r);
    status = status ? status : check_size(r);
    status = status ? status : copy_keys(r);
    status = status ? status : place(r);
    to->keys = r->keys;
    status = status ? status : find_scale(r, to);
    status = status ? status : sel_raster_allocate(r->arena, r->name, to, r->error);
    if (!status) {
        find_nodata(r, to);
        status = read_values(r);
    }
    return status;
}

sel_status sel_tif_read(sel_arena *arena, const char *name, FILE *file, sel_raster_source *to,
                        sel_error *error) {
    reader r = {.name = name,
                .from = {.file = file},
                .arena = arena,
                .raster = &to->raster,
                .error = error};
    *to = (sel_raster_source){.nodata = (double)NAN, .most_bytes = to->most_bytes};
    off_t bytes = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    if (bytes < 0 || fseeko(file, 0, SEEK_SET) != 0) {
        return refuse(&r, "is no file that can be read");
    }
    r.file_bytes = (double)bytes;
    r.tiff = sel_tiff_open(&r.from, name, "rm", 2 * (size_t)bytes + 16 * MIB);
    if (!r.tiff) {
        return unreadable(&r);
    }
    sel_status status = read_grid(&r, to);
    TIFFClose(r.tiff);
    return status;
}
