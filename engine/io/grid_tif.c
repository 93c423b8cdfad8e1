/* grid_tif.c -- grids in GeoTIFF: one number per pixel, placed by its tags, read and written.
 *
 * libtiff unpacks strips and tiles; what it declares is compared with the size of the file before
 * memory is taken for it. Tags: OGC GeoTIFF Standard 1.1.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tiffio.h>
#include <unistd.h>
#include "engine/base/text.h"
#include "engine/io/map.h"

/* ---- libtiff, its complaints kept ---- */

/* What libtiff reported first. */
typedef struct complaint {
    int code;          /* errno of the system's part in it, or 0 */
    char message[240]; /* empty: nothing was reported */
} complaint;

static int on_error(TIFF *tiff, void *data, const char *module, const char *format, va_list args) {
    complaint *first = data;
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

/* A TIFF in a file that stays the caller's, with a mode as for TIFFOpen; ends with TIFFCleanup.
 * Memory that libtiff takes at once is limited to `largest` bytes (0: it is not). NULL after an
 * error. `first` outlives it. */
static TIFF *open_tiff(FILE *file, complaint *first, const char *name, const char *mode,
                       size_t largest) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) {
        snprintf(first->message, sizeof first->message, "there is not enough memory");
        return NULL;
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)largest);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, first);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, NULL);
    lseek(fileno(file), 0, SEEK_SET); /* which the C file may have left elsewhere */
    errno = 0;
    TIFF *tiff = TIFFFdOpenExt(fileno(file), name, mode, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/* ---- reading ---- */

/* LZW makes at most 4096 bytes of a code of 12 bits, deflate 1032 of one byte. Also for files that
 * are not packed: sparse ones leave parts out. */
enum { MOST_PACKING = 2800, MIB = 1 << 20 };

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
    complaint first;
    TIFF *tiff;
    const number_kind *kind;
    uint32_t part[2]; /* pixels of a tile or strip */
} reader;

static sel_status unreadable(const reader *r) {
    return sel_raster_refuse(r->to, "is no GeoTIFF that can be read: %s",
                             r->first.message[0] ? r->first.message : "libtiff does not say why");
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

/* ---- where it lies ---- */

/* Sides of a pixel, and the coordinates of a place (column, row) of the picture. */
typedef struct placement {
    double side[2], at[2], x, y;
} placement;

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
        const double *m = matrix;
        *p = (placement){{m[0], -m[5]}, {0, 0}, m[3], m[7]};
        return m[1] == 0 && m[4] == 0 ? SEL_OK
                                      : sel_raster_refuse(r->to, "is a rotated grid; turn it with "
                                                                 "gdalwarp first");
    }
    if (scales || ties || numbers) {
        return sel_raster_refuse(r->to, "has not all the tags that place it: a pixel scale (33550) "
                                        "and a tie point (33922), or a transformation (34264)");
    }
    *p = (placement){{1, 1}, {0, (double)r->to->raster.n[1]}, 0, 0};
    return SEL_OK;
}

static sel_status place(const reader *r) {
    placement p = {{0, 0}, {0, 0}, 0, 0};
    sel_raster *raster = &r->to->raster;
    sel_status status = find_placement(r, &p);
    if (status) {
        return status;
    }
    double sum = p.side[0] + p.side[1] + p.at[0] + p.at[1] + p.x + p.y;
    if (!isfinite(sum) || !(p.side[0] > 0 && p.side[1] > 0)) {
        return sel_raster_refuse(r->to,
                                 "its pixels of %.10g x %.10g at %.10g, %.10g do not run from the "
                                 "north-west to the south-east; turn it with gdalwarp first",
                                 p.side[0], p.side[1], p.x, p.y);
    }
    status = sel_raster_check_square(r->to, p.side[0], p.side[1]);
    double half = sel_geo_keys_are_points(r->to->keys) ? 0.5 : 0;
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
    return sel_raster_refuse(r->to,
                             "has numbers of %u bits and format %u; 8, 16 and 32 bits whole, 32 "
                             "and 64 bits floating are read",
                             (unsigned)bits, (unsigned)format);
}

static sel_status check_compression(const reader *r) {
    uint16_t compression = 0;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_NONE || compression == COMPRESSION_LZW ||
        compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE) {
        return SEL_OK;
    }
    return sel_raster_refuse(r->to,
                             "is compressed by method %u; none, LZW and deflate are read: "
                             "gdal_translate -co COMPRESS=DEFLATE",
                             (unsigned)compression);
}

/* A picture lies in parts: tiles, or strips, which are as wide as it. */
static void find_parts(reader *r) {
    const bool tiled = TIFFIsTiled(r->tiff) != 0;
    r->part[0] = (uint32_t)r->to->raster.n[0];
    TIFFGetFieldDefaulted(r->tiff, tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &r->part[1]);
    if (tiled) {
        TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &r->part[0]);
    } else if (r->part[1] > r->to->raster.n[1]) {
        r->part[1] = (uint32_t)r->to->raster.n[1];
    }
}

static sel_status check_size(reader *r) {
    uint32_t width = 0, height = 0;
    double bytes = r->kind->bits / 8, most = MOST_PACKING * r->to->file_bytes;
    TIFFGetField(r->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tiff, TIFFTAG_IMAGELENGTH, &height);
    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) {
        return sel_raster_refuse(r->to, "has %" PRIu32 " x %" PRIu32 " pixels", width, height);
    }
    r->to->raster.n[0] = width;
    r->to->raster.n[1] = height;
    find_parts(r);
    if ((double)width * height * bytes > most || (double)r->part[0] * r->part[1] * bytes > most) {
        return sel_raster_refuse(
            r->to, "%.0f bytes cannot hold the %" PRIu32 " x %" PRIu32 " pixels that it declares",
            r->to->file_bytes, width, height);
    }
    return SEL_OK;
}

/* ---- values ---- */

/* Takes the part of a tile or strip at (x, y) that lies in the picture; NULL: without data. */
static void take_part(const reader *r, const uint8_t *part, int64_t x, int64_t y) {
    const int64_t *n = r->to->raster.n;
    const int64_t width = n[0] - x < r->part[0] ? n[0] - x : r->part[0];
    const int64_t height = n[1] - y < r->part[1] ? n[1] - y : r->part[1];
    const size_t row_bytes = (size_t)r->part[0] * (r->kind->bits / 8);
    for (int64_t row = 0; row < height; row++) {
        double *to = r->to->raster.value + (n[1] - 1 - y - row) * n[0] + x;
        for (int64_t i = 0; !part && i < width; i++) {
            to[i] = (double)NAN;
        }
        if (part) {
            r->kind->convert(part + (size_t)row * row_bytes, width, to);
        }
    }
}

/* A part of zero bytes has no data: sparse files leave such parts out. */
static sel_status read_part(const reader *r, int64_t x, int64_t y, void *buffer, tmsize_t bytes) {
    const bool tiled = TIFFIsTiled(r->tiff) != 0;
    const uint32_t part = tiled ? TIFFComputeTile(r->tiff, (uint32_t)x, (uint32_t)y, 0, 0)
                                : TIFFComputeStrip(r->tiff, (uint32_t)y, 0);
    const int64_t rows = r->to->raster.n[1] - y;
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
    sel_status status = buffer ? SEL_OK : sel_fail_memory(r->to->error, r->to->name, need);
    for (int64_t y = 0; y < r->to->raster.n[1]; y += r->part[1]) {
        for (int64_t x = 0; x < r->to->raster.n[0] && !status; x += r->part[0]) {
            status = read_part(r, x, y, buffer, bytes);
        }
    }
    free(buffer);
    return status;
}

/* The number at the start of one of GDAL's texts; `preset` when there is none. */
static double number_of(const char *text, double preset) {
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
        r->to->nodata = number_of(copy, (double)NAN);
    }
    r->to->exact = r->kind->format != SAMPLEFORMAT_IEEEFP;
}

/* What is in the item of GDAL's metadata that has this role, in the first band; NULL: there is
 * none. */
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
    return found ? number_of(found, preset) : preset;
}

static const char *metadata_text(sel_arena *arena, const char *text, const char *role) {
    const char *found = find_metadata(text, role);
    return found ? sel_arena_copy_length(arena, found, strcspn(found, "<")) : NULL;
}

/* GDAL's metadata are a text in XML. */
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
    status = status ? status : check_size(r);
    status = status ? status : copy_keys(r);
    status = status ? status : place(r);
    status = status ? status : find_scale(r);
    status = status ? status : sel_raster_allocate(r->to);
    if (!status) {
        find_nodata(r);
        status = read_values(r);
    }
    return status;
}

sel_status sel_tif_read(sel_raster_source *to) {
    reader r = {.to = to};
    r.tiff = open_tiff(to->file, &r.first, to->name, "rm", 2 * (size_t)to->file_bytes + 16 * MIB);
    if (!r.tiff) {
        return unreadable(&r);
    }
    sel_status status = read_grid(&r);
    TIFFCleanup(r.tiff);
    return status;
}

/* ---- writing ---- */

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

/* The unit of the values, as GDAL has it. */
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

/* Vertical keys are of heights, whose unit a unit of the values replaces. */
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

/* A count is a uint16_t to libtiff here, as the specification has it for the directory. */
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
                   set_keys(tiff, grid) && set_unit(tiff, grid) && write_rows(tiff, grid, line) &&
                   TIFFWriteDirectory(tiff) == 1;
    free(line);
    return written;
}

void sel_tif_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    double bytes = (double)grid->n[0] * (double)grid->n[1] * sizeof(float);
    complaint first = {.code = 0};
    TIFF *tiff = open_tiff(to, &first, "the grid", bytes > large_file ? "w8" : "w", 0);
    bool written = tiff && write_all(tiff, grid);
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
