/* raster_png.c -- reads the luminance of a PNG picture.
 *
 * libpng converts every picture to red, green, blue and opacity of 8 or 16 bits. The luminance is
 * the luma of ITU-R BT.709, computed from the stored values without gamma correction, in integers,
 * so that grey pixels give the same value whether stored as grey or as colour.
 */
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/raster.h"

/* Limits that are checked before memory is allocated. MAX_PACKING: deflate packs at most 1032 bytes
 * into one, so a file must not be shorter than its declared size allows. */
enum { MAX_PACKING = 1032, MAX_PIXELS = 1 << 26, MAX_CHUNK = 1 << 23 /* bytes */, MAX_CHUNKS = 64 };

/* Allocated on the heap: longjmp makes changed local variables indeterminate. */
typedef struct decoder {
    sel_raster_source *to;
    char message[160];
    png_structp png;
    png_infop info;
    uint8_t *pixels;
    png_bytep *rows;
    size_t row_bytes;
    int depth;
} decoder;

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    FILE *file = png_get_io_ptr(png);
    if (fread(to, 1, count, file) != count) {
        png_error(png, ferror(file) ? strerror(errno) : "it ends too early");
    }
}

/* libpng's error handler, which must not return. */
static PNG_NORETURN void picture_fail(png_structp png, png_const_charp message) {
    decoder *d = png_get_error_ptr(png);
    snprintf(d->message, sizeof d->message, "%s", message);
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

/* Checks the picture's size against the file's, before pixels are expanded to 8 or 16 bits. */
static void picture_check_size(decoder *d) {
    double width = png_get_image_width(d->png, d->info);
    double height = png_get_image_height(d->png, d->info);
    double bits = (double)png_get_bit_depth(d->png, d->info) * png_get_channels(d->png, d->info);
    char text[160] = "";
    if (width * height * bits / 8 > MAX_PACKING * d->to->file_bytes) {
        snprintf(text, sizeof text,
                 "%.0f bytes cannot hold the %.0f x %.0f pixels that it declares",
                 d->to->file_bytes, width, height);
    } else if (width * height > MAX_PIXELS) {
        snprintf(text, sizeof text, "%.0f x %.0f pixels are more than %d million", width, height,
                 MAX_PIXELS / 1000000);
    }
    if (*text) {
        png_error(d->png, text);
    }
}

/* Reads the header, and has libpng expand pixels to four numbers of 8 or 16 bits. */
static void picture_read_header(decoder *d) {
    png_set_user_limits(d->png, MAX_PIXELS, MAX_PIXELS);
    /* For texts and profiles libpng allocates what a chunk declares, up to these limits. */
    png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_chunk_malloc_max(d->png, MAX_CHUNK);
    png_set_chunk_cache_max(d->png, MAX_CHUNKS);
    png_read_info(d->png, d->info);
    picture_check_size(d);
    png_set_expand(d->png);
    png_set_gray_to_rgb(d->png);
    png_set_add_alpha(d->png, 0xffff, PNG_FILLER_AFTER);
    png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    d->row_bytes = png_get_rowbytes(d->png, d->info);
    d->depth = png_get_bit_depth(d->png, d->info);
    d->to->raster.n[0] = png_get_image_width(d->png, d->info);
    d->to->raster.n[1] = png_get_image_height(d->png, d->info);
    d->to->raster.dx = 1;
    d->to->exact = true;
}

static void read_rows(decoder *d) {
    size_t height = (size_t)d->to->raster.n[1];
    d->pixels = calloc(height, d->row_bytes);
    d->rows = malloc(height * sizeof *d->rows);
    if (!d->pixels || !d->rows) {
        png_error(d->png, "there is not enough memory for its pixels");
    }
    for (size_t j = 0; j < height; j++) {
        d->rows[j] = d->pixels + j * d->row_bytes;
    }
    png_read_image(d->png, d->rows);
    png_read_end(d->png, NULL);
}

static double picture_sample(const decoder *d, const uint8_t *pixel, int channel) {
    return d->depth == 16 ? pixel[2 * channel] << 8 | pixel[2 * channel + 1] : pixel[channel];
}

static double luminance(const decoder *d, const uint8_t *pixel) {
    const double full = d->depth == 16 ? 65535 : 255, opaque = picture_sample(d, pixel, 3) / full;
    const double luma = 2126 * picture_sample(d, pixel, 0) + 7152 * picture_sample(d, pixel, 1) +
                        722 * picture_sample(d, pixel, 2);
    return opaque * (luma / (10000 * full)) + (1 - opaque);
}

/* Stores luminances in reverse order of rows: a file begins at the top, a raster at the bottom. */
static void picture_store_values(const decoder *d) {
    const sel_raster *raster = &d->to->raster;
    const size_t step = d->depth == 16 ? 8 : 4, width = (size_t)raster->n[0];
    for (size_t j = 0; j < (size_t)raster->n[1]; j++) {
        double *to = raster->value + ((size_t)raster->n[1] - 1 - j) * width;
        for (size_t i = 0; i < width; i++) {
            to[i] = luminance(d, d->rows[j] + i * step);
        }
    }
}

static sel_status read_picture(decoder *d) {
    if (setjmp(png_jmpbuf(d->png)) != 0) {
        return sel_raster_refuse(d->to, "is no PNG picture that can be read: %s", d->message);
    }
    png_set_read_fn(d->png, d->to->file, read_bytes);
    picture_read_header(d);
    sel_status status = sel_raster_allocate(d->to);
    if (!status) {
        read_rows(d);
        picture_store_values(d);
    }
    return status;
}

sel_status sel_png_read(sel_raster_source *to) {
    decoder *d = calloc(1, sizeof *d);
    if (!d) {
        return sel_fail_memory(to->error, to->name, sizeof *d);
    }
    d->to = to;
    d->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, d, picture_fail, ignore);
    d->info = d->png ? png_create_info_struct(d->png) : NULL;
    sel_status status = d->info ? read_picture(d) : sel_fail_memory(to->error, to->name, sizeof *d);
    png_destroy_read_struct(&d->png, &d->info, NULL);
    free(d->rows);
    free(d->pixels);
    free(d);
    return status;
}
