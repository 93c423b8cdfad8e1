/* tif_mask.c -- masks of rasters: 0 where there are no data. A mask is a further directory of a
 * GeoTIFF (NewSubfileType 4, TIFF 6.0), or a TIFF named FILE.msk beside any raster, as GDAL writes
 * it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/io/tif.h"

/* The maximum of directories that are searched, with overviews and their masks. */
enum { MOST_PICTURES = 256 };

typedef struct mask {
    TIFF *tiff;
    const char *name;
    const sel_tif_complaint *first;
    sel_raster_source *to;
    uint16_t bits, samples;    /* bits per sample; samples per pixel, of which the first counts */
    uint32_t part[2];          /* width and height of a part (tile or strip) in pixels */
    tmsize_t bytes, row_bytes; /* of a part, and of a row in it */
    bool tiled;
} mask;

static sel_status mask_refuse(const mask *m, const char *why) {
    return sel_fail(m->to->error, SEL_BAD_FILE, "%s: %s is no mask that can be read: %s",
                    m->to->name, m->name, why);
}

static bool is_known(uint16_t compression) {
    return compression == COMPRESSION_NONE || compression == COMPRESSION_LZW ||
           compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE ||
           compression == COMPRESSION_PACKBITS || compression == COMPRESSION_CCITTRLE ||
           compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
}

/* Finds the layout of the mask's parts, and checks it. */
static sel_status mask_find_parts(mask *m, double file_bytes) {
    uint32_t width = 0, height = 0;
    uint16_t planes = PLANARCONFIG_CONTIG, compression = COMPRESSION_NONE;
    const int64_t *n = m->to->raster.n;
    TIFFGetField(m->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(m->tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_BITSPERSAMPLE, &m->bits);
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_SAMPLESPERPIXEL, &m->samples);
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_PLANARCONFIG, &planes);
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_COMPRESSION, &compression);
    if (width != n[0] || height != n[1]) {
        return sel_fail(m->to->error, SEL_BAD_FILE,
                        "%s: its mask %s has %" PRIu32 " x %" PRIu32
                        " pixels, the map has %lld x %lld",
                        m->to->name, m->name, width, height, (long long)n[0], (long long)n[1]);
    }
    if (planes == PLANARCONFIG_SEPARATE) {
        m->samples = 1;
    }
    if ((m->bits != 1 && m->bits != 8) || m->samples == 0 || !is_known(compression)) {
        return mask_refuse(m,
                           "it has not 1 or 8 bits per pixel, or is compressed in another way than "
                           "masks are");
    }
    m->tiled = TIFFIsTiled(m->tiff) != 0;
    m->part[0] = width;
    TIFFGetFieldDefaulted(m->tiff, m->tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP,
                          &m->part[1]);
    if (m->tiled) {
        TIFFGetField(m->tiff, TIFFTAG_TILEWIDTH, &m->part[0]);
    } else if (m->part[1] > height) {
        m->part[1] = height;
    }
    m->bytes = m->tiled ? TIFFTileSize(m->tiff) : TIFFStripSize(m->tiff);
    m->row_bytes = m->tiled ? TIFFTileRowSize(m->tiff) : TIFFScanlineSize(m->tiff);
    const double row = ceil((double)m->part[0] * m->bits * m->samples / 8);
    const bool fits = m->part[0] > 0 && m->part[1] > 0 && (double)m->row_bytes >= row &&
                      (double)m->bytes >= (double)m->row_bytes * m->part[1] &&
                      (double)m->bytes <= SEL_TIF_PACKING * file_bytes + SEL_TIF_MIB;
    return fits ? SEL_OK : mask_refuse(m, "its bytes cannot hold the pixels that it declares");
}

static bool is_set(const mask *m, const uint8_t *row, int64_t i) {
    const int64_t at = i * m->samples;
    return m->bits == 8 ? row[at] != 0 : (row[at / 8] >> (7 - at % 8) & 1) != 0;
}

/* Applies the part at pixel (x, y). `part` NULL: it is missing, and all its pixels are 0. */
static void apply_part(const mask *m, const uint8_t *part, int64_t x, int64_t y) {
    const int64_t *n = m->to->raster.n;
    const int64_t width = n[0] - x < m->part[0] ? n[0] - x : m->part[0];
    const int64_t height = n[1] - y < m->part[1] ? n[1] - y : m->part[1];
    for (int64_t row = 0; row < height; row++) {
        double *to = m->to->raster.value + (n[1] - 1 - y - row) * n[0] + x;
        for (int64_t i = 0; i < width; i++) {
            if (!part || !is_set(m, part + row * m->row_bytes, i)) {
                to[i] = (double)NAN;
            }
        }
    }
}

static sel_status apply_parts(const mask *m, uint8_t *buffer) {
    const int64_t *n = m->to->raster.n;
    for (int64_t y = 0; y < n[1]; y += m->part[1]) {
        for (int64_t x = 0; x < n[0]; x += m->part[0]) {
            const uint32_t part = m->tiled
                                      ? TIFFComputeTile(m->tiff, (uint32_t)x, (uint32_t)y, 0, 0)
                                      : TIFFComputeStrip(m->tiff, (uint32_t)y, 0);
            const bool there = TIFFGetStrileByteCount(m->tiff, part) != 0;
            const int64_t rows = n[1] - y < m->part[1] && !m->tiled ? n[1] - y : m->part[1];
            const tmsize_t bytes = m->tiled ? m->bytes : m->row_bytes * rows;
            if (there) {
                const tmsize_t got = m->tiled ? TIFFReadEncodedTile(m->tiff, part, buffer, bytes)
                                              : TIFFReadEncodedStrip(m->tiff, part, buffer, bytes);
                if (got != bytes) {
                    return mask_refuse(m, *m->first->message ? m->first->message
                                                             : "libtiff does not say why");
                }
            }
            apply_part(m, there ? buffer : NULL, x, y);
        }
    }
    return SEL_OK;
}

sel_status sel_tif_mask(TIFF *tiff, const char *name, double bytes, sel_tif_complaint *first,
                        sel_raster_source *source) {
    mask m = {.tiff = tiff, .name = name, .first = first, .to = source};
    sel_status status = mask_find_parts(&m, bytes);
    uint8_t *buffer = status ? NULL : calloc(1, (size_t)m.bytes);
    if (!status && !buffer) {
        status = sel_fail_memory(source->error, name, (size_t)m.bytes);
    }
    status = status ? status : apply_parts(&m, buffer);
    free(buffer);
    return status;
}

sel_status sel_tif_masks_inside(TIFF *tiff, sel_tif_complaint *first, sel_raster_source *source) {
    sel_status status = SEL_OK;
    for (int k = 0; k < MOST_PICTURES && !status && TIFFReadDirectory(tiff); k++) {
        uint32_t kind = 0, width = 0;
        TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
        TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
        if (kind & FILETYPE_MASK && !(kind & FILETYPE_REDUCEDIMAGE)) {
            status = sel_tif_mask(tiff, "inside", source->file_bytes, first, source);
        }
    }
    return status;
}

/* Whether GDAL's metadata say that the mask does not apply: INTERNAL_MASK_FLAGS_1 is 1 (all cells
 * have data). */
static bool is_void(TIFF *tiff) {
    const TIFFField *field = TIFFFindField(tiff, SEL_TAG_METADATA, TIFF_ANY);
    uint32_t count = 0;
    const char *text = NULL;
    if (!field || TIFFFieldDataType(field) != TIFF_ASCII || !TIFFFieldPassCount(field) ||
        TIFFFieldReadCount(field) != TIFF_VARIABLE2 ||
        !TIFFGetField(tiff, SEL_TAG_METADATA, &count, &text) || !text) {
        return false;
    }
    static const char none[] = "\"INTERNAL_MASK_FLAGS_1\">1<";
    return memmem(text, count, none, sizeof none - 1) != NULL;
}

sel_status sel_tif_mask_beside(sel_raster_source *source) {
    char *path = sel_arena_print(source->arena, "%s.msk", source->name);
    FILE *file = NULL;
    if (!path || access(path, F_OK) != 0) {
        return path ? SEL_OK : sel_fail_memory(source->error, source->name, 0);
    }
    sel_status status = sel_file_open(path, &file, source->error);
    if (status) {
        return status;
    }
    fseeko(file, 0, SEEK_END);
    const double bytes = (double)ftello(file);
    sel_tif_complaint first = {.code = 0};
    TIFF *tiff = sel_tif_open(file, &first, path, "rm", 2 * (size_t)bytes + 16 * SEL_TIF_MIB);
    const char *name = sel_file_name(path);
    if (!tiff) {
        const mask m = {.name = name, .to = source};
        status = mask_refuse(&m, first.message);
    } else if (!is_void(tiff)) {
        status = sel_tif_mask(tiff, name, bytes, &first, source);
    }
    if (tiff) {
        TIFFCleanup(tiff);
    }
    fclose(file);
    return status;
}
