/* vtk_writer.h -- write fields on a regular grid as VTK XML image data (.vti, .pvd).
 *
 * Header-only; needs nothing but zlib (link with -lz). C11 and C++17, usable on its own.
 *
 *     #include "vtk_writer.h"
 *
 *     float velocity[3 * 64 * 32];                     // vectors by cell, x fastest
 *     vtkw_array cell_data[] = {{"velocity", VTKW_FLOAT32, 3, velocity}};
 *     vtkw_image image = {0};                          // C++: vtkw_image image = {};
 *     image.extent[1] = 64;                            // 64 x 32 x 1 cells
 *     image.extent[3] = 32;
 *     image.extent[5] = 1;
 *     image.spacing[0] = image.spacing[1] = image.spacing[2] = 0.5;
 *     image.cell_arrays = cell_data;
 *     image.cell_array_count = 1;
 *     image.has_time = 1;
 *     image.time = 0.25;
 *     image.level = 1;                                 // zlib level; 0 writes raw bytes
 *     vtkw_error error;
 *     if (vtkw_write_image("flow_1.vti", &image, &error) != VTKW_OK) {
 *         fprintf(stderr, "%s\n", error.text);
 *     }
 *
 *     vtkw_step steps[] = {{0.25, "flow_1.vti"}, {0.5, "flow_2.vti"}};
 *     vtkw_write_collection("flow.pvd", steps, 2, &error);  // paths relative to flow.pvd
 *
 * Format. The extent counts points: NX cells are "0 NX", x runs fastest, and point (i, j, k) lies
 * at origin + (i, j, k) * spacing. Cell arrays have one tuple per cell, point arrays one per point.
 * An extent that does not start at 0 describes a part of a larger image. An extent with an axis of
 * a single point ("0 0") has no cells and takes only point arrays. Arrays are appended raw in the
 * machine's byte order with UInt64 headers, either as [bytes] data or, compressed, as independent
 * zlib streams of 32 KiB each (the size at which zlib is fastest): [blocks] [block bytes] [bytes of
 * a last, partial block or 0] [compressed bytes]... streams Sizes are 64 bits wide throughout.
 * Strings (field data) are stored as character codes.
 *
 * Why the header is padded. VTK feeds its XML parser 4096 bytes at a time until it meets
 * <AppendedData, then byte by byte. Since expat defers the parsing of unfinished tokens, a VTK
 * that was not adapted (ParaView 5.11 of Debian 12) runs past the tag's end into binary data and
 * reads nothing at all. When the text "<AppendedData" ends at a multiple of 4096 and its
 * attributes take 32 bytes, the token's length passes expat's threshold just in its last byte,
 * and every version reads the file.
 *
 * Errors. Every function returns a status and describes a failure in `error` (may be NULL). Data
 * go to PATH.tmp, which is renamed when it is complete: a failed write removes it and leaves an
 * older PATH as it was. Exceeding a limit on file sizes is an error only if SIGXFSZ is ignored;
 * else that signal ends the process.
 */
#ifndef VTK_WRITER_H
#define VTK_WRITER_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef enum vtkw_status {
    VTKW_OK = 0,
    VTKW_BAD_INPUT, /* an empty extent, an array without name or data, a level above 9 */
    VTKW_NO_MEMORY,
    VTKW_BAD_FILE /* the system refused: error.code is errno */
} vtkw_status;

typedef struct vtkw_error {
    vtkw_status status;
    int code; /* errno of VTKW_BAD_FILE, else 0 */
    char text[1024];
} vtkw_error;

typedef enum vtkw_type { VTKW_FLOAT32, VTKW_FLOAT64, VTKW_UINT8, VTKW_INT32 } vtkw_type;

/* An array of `components` values per cell (or point), tuple after tuple, x fastest. */
typedef struct vtkw_array {
    const char *name; /* UTF-8 */
    vtkw_type type;
    int components;
    const void *data;
} vtkw_array;

/* A list of strings in the field data. */
typedef struct vtkw_strings {
    const char *name;
    int count;
    const char *const *values;
} vtkw_strings;

typedef struct vtkw_image {
    int64_t extent[6]; /* points: x from, x to, y from, y to, z from, z to */
    double origin[3], spacing[3];
    const vtkw_array *cell_arrays;
    int cell_array_count;
    const vtkw_array *point_arrays;
    int point_array_count;
    const vtkw_strings *strings;
    int strings_count;
    int has_time; /* writes TimeValue */
    double time;
    int level; /* of zlib, 1 to 9; 0: not compressed */
} vtkw_image;

typedef struct vtkw_step {
    double time;
    const char *file; /* relative to the collection */
} vtkw_step;

/* Writes one image to `path`. */
static inline vtkw_status vtkw_write_image(const char *path, const vtkw_image *image,
                                           vtkw_error *error);

/* Writes a collection (.pvd): `count` files with their times. */
static inline vtkw_status vtkw_write_collection(const char *path, const vtkw_step *steps,
                                                size_t count, vtkw_error *error);

/* ---- the implementation ---- */

enum { VTKW_PAGE = 4096, VTKW_BLOCK = 32768, VTKW_ATTRIBUTES = 32 };

#if defined(__GNUC__)
#define VTKW_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define VTKW_PRINTF(at, first)
#endif
VTKW_PRINTF(4, 5)
static inline vtkw_status vtkw_fail(vtkw_error *error, vtkw_status status, int code,
                                    const char *format, ...) {
    if (error) {
        va_list args;
        error->status = status;
        error->code = code;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}

/* A growing text; `failed`: there was no memory. */
typedef struct vtkw_text {
    char *data;
    size_t length, capacity;
    int failed;
} vtkw_text;

static inline void vtkw_append(vtkw_text *text, const char *bytes, size_t length) {
    if (text->failed) {
        return;
    }
    if (text->length + length > text->capacity) {
        size_t capacity = 2 * (text->length + length) + VTKW_PAGE;
        char *data = (char *)realloc(text->data, capacity);
        if (!data) {
            text->failed = 1;
            return;
        }
        text->data = data;
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
}

/* Appends formatted text of less than 512 bytes, such as numbers and tags. */
VTKW_PRINTF(2, 3)
static inline void vtkw_print(vtkw_text *text, const char *format, ...) {
    char piece[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    vtkw_append(text, piece, (size_t)length);
}

/* Appends a number with a decimal point in every locale: characters that are no digit, sign or
 * letter are the locale's decimal separator. */
static inline void vtkw_number(vtkw_text *text, double value) {
    char raw[64], number[64];
    size_t used = 0;
    snprintf(raw, sizeof raw, "%.17g", value);
    for (const char *c = raw; *c; c++) {
        if (strchr("0123456789+-einfa", *c)) {
            number[used++] = *c;
        } else if (used && number[used - 1] != '.') {
            number[used++] = '.';
        }
    }
    vtkw_append(text, number, used);
}

static inline void vtkw_escape(vtkw_text *text, const char *value) {
    static const char special[] = "&<>\"";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; *value; value++) {
        const char *at = strchr(special, *value);
        if (at) {
            vtkw_print(text, "%s", entities[at - special]);
        } else if (*value == '\n' || *value == '\t' || *value == '\r') {
            vtkw_print(text, "&#%d;", *value);
        } else { /* XML 1.0 allows no other control characters */
            vtkw_append(text, (unsigned char)*value < 32 ? "?" : value, 1);
        }
    }
}

/* A file that appears under its name only when it is complete. */
typedef struct vtkw_file {
    const char *path;
    char *temporary;
    FILE *stream;
    uint64_t written;
    int code; /* errno of the first failure */
} vtkw_file;

static inline vtkw_status vtkw_begin(vtkw_file *file, const char *path, vtkw_error *error) {
    size_t size = strlen(path) + 5;
    memset(file, 0, sizeof *file);
    file->path = path;
    file->temporary = (char *)malloc(size);
    if (!file->temporary) {
        return vtkw_fail(error, VTKW_NO_MEMORY, 0, "%s: not enough memory", path);
    }
    snprintf(file->temporary, size, "%s.tmp", path);
    remove(file->temporary);
    file->stream = fopen(file->temporary, "wbx"); /* a new file: no link is followed */
    if (!file->stream) {
        int code = errno;
        free(file->temporary);
        return vtkw_fail(error, VTKW_BAD_FILE, code, "cannot write %s: %s", path, strerror(code));
    }
    return VTKW_OK;
}

static inline void vtkw_put(vtkw_file *file, const void *data, size_t size) {
    if (!file->code && size && fwrite(data, 1, size, file->stream) != size) {
        file->code = errno ? errno : EIO;
    }
    file->written += size;
}

/* Keeps errno of the first failed call. */
static inline void vtkw_keep(vtkw_file *file, int failed) {
    file->code = failed && !file->code ? errno : file->code;
}

/* Overwrites the bytes at position `place`. Positions are fpos_t, the only type of standard C that
 * reaches beyond 2 GB on every system. */
static inline void vtkw_overwrite(vtkw_file *file, const fpos_t *place, const void *data,
                                  size_t size) {
    fpos_t end;
    vtkw_keep(file, fgetpos(file->stream, &end) || fsetpos(file->stream, place));
    vtkw_put(file, data, size);
    file->written -= size;
    vtkw_keep(file, file->code || fsetpos(file->stream, &end));
}

/* Closes the file and renames it; after a failed write, or if `status` is a failure, removes it. */
static inline vtkw_status vtkw_end(vtkw_file *file, vtkw_status status, vtkw_error *error) {
    vtkw_keep(file, fclose(file->stream));
    if (status == VTKW_OK && !file->code) {
        vtkw_keep(file, rename(file->temporary, file->path));
    }
    if (status != VTKW_OK || file->code) {
        remove(file->temporary);
    }
    if (status == VTKW_OK && file->code) {
        status = vtkw_fail(error, VTKW_BAD_FILE, file->code, "cannot write %s: %s", file->path,
                           strerror(file->code));
    }
    free(file->temporary);
    return status;
}

static inline const char *vtkw_byte_order(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? "LittleEndian" : "BigEndian";
}

static inline uint64_t vtkw_tuples(const vtkw_image *image, int points) {
    uint64_t tuples = 1;
    for (int a = 0; a < 3; a++) {
        tuples *= (uint64_t)(image->extent[2 * a + 1] - image->extent[2 * a] + points);
    }
    return tuples;
}

/* Array i; cell arrays come first, then point arrays. */
static inline const vtkw_array *vtkw_array_at(const vtkw_image *image, int i) {
    const int cells = image->cell_array_count;
    return i < cells ? &image->cell_arrays[i] : &image->point_arrays[i - cells];
}

static inline uint64_t vtkw_array_bytes(const vtkw_image *image, int i) {
    static const uint64_t sizes[] = {4, 8, 1, 4};
    const vtkw_array *array = vtkw_array_at(image, i);
    return vtkw_tuples(image, i >= image->cell_array_count) * (uint64_t)array->components *
           sizes[array->type];
}

static inline vtkw_status vtkw_check(const char *path, const vtkw_image *image, vtkw_error *error) {
    for (int a = 0; a < 3; a++) {
        if (image->extent[2 * a + 1] < image->extent[2 * a] + (image->cell_array_count > 0)) {
            return vtkw_fail(error, VTKW_BAD_INPUT, 0, "%s: the extent of axis %d is empty", path,
                             a);
        }
    }
    if (image->level < 0 || image->level > 9) {
        return vtkw_fail(error, VTKW_BAD_INPUT, 0, "%s: zlib has no level %d", path, image->level);
    }
    for (int i = 0; i < image->cell_array_count + image->point_array_count; i++) {
        const vtkw_array *array = vtkw_array_at(image, i);
        if (!array->name || !*array->name || array->components < 1 || !array->data) {
            return vtkw_fail(error, VTKW_BAD_INPUT, 0,
                             "%s: array %d has no name, components or data", path, i + 1);
        }
    }
    return VTKW_OK;
}

static inline void vtkw_print_arrays(vtkw_text *text, const char *element, const vtkw_array *arrays,
                                     int count, const uint64_t *offsets) {
    static const char *const types[] = {"Float32", "Float64", "UInt8", "Int32"};
    vtkw_print(text, "      <%s>\n", element);
    for (int i = 0; i < count; i++) {
        vtkw_print(text, "        <DataArray type=\"%s\" Name=\"", types[arrays[i].type]);
        vtkw_escape(text, arrays[i].name);
        vtkw_print(text, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
                   arrays[i].components, (unsigned long long)offsets[i]);
    }
    vtkw_print(text, "      </%s>\n", element);
}

static inline void vtkw_print_strings(vtkw_text *text, const vtkw_strings *strings) {
    vtkw_print(text, "      <Array type=\"String\" Name=\"");
    vtkw_escape(text, strings->name);
    vtkw_print(text, "\" NumberOfTuples=\"%d\" format=\"ascii\">\n       ", strings->count);
    for (int i = 0; i < strings->count; i++) {
        for (const char *c = strings->values[i]; *c; c++) {
            vtkw_print(text, " %d", (unsigned char)*c);
        }
        vtkw_print(text, " 0");
    }
    vtkw_print(text, "\n      </Array>\n");
}

static inline void vtkw_print_field_data(vtkw_text *text, const vtkw_image *image) {
    vtkw_print(text, "    <FieldData>\n");
    if (image->has_time) {
        vtkw_print(text, "      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                         "NumberOfTuples=\"1\" format=\"ascii\">");
        vtkw_number(text, image->time);
        vtkw_print(text, "</DataArray>\n");
    }
    for (int i = 0; i < image->strings_count; i++) {
        vtkw_print_strings(text, &image->strings[i]);
    }
    vtkw_print(text, "    </FieldData>\n");
}

static inline void vtkw_print_extent(vtkw_text *text, const char *attribute,
                                     const int64_t extent[6]) {
    vtkw_print(text, " %s=\"", attribute);
    for (int i = 0; i < 6; i++) {
        vtkw_print(text, "%s%lld", i ? " " : "", (long long)extent[i]);
    }
    vtkw_print(text, "\"");
}

static inline void vtkw_print_vector(vtkw_text *text, const char *attribute,
                                     const double value[3]) {
    vtkw_print(text, " %s=\"", attribute);
    for (int a = 0; a < 3; a++) {
        vtkw_append(text, " ", a > 0);
        vtkw_number(text, value[a]);
    }
    vtkw_print(text, "\"");
}

/* Prints the header up to <AppendedData. offsets[]: of the cell arrays, then the point arrays. */
static inline void vtkw_print_header(vtkw_text *text, const vtkw_image *image,
                                     const uint64_t *offsets) {
    vtkw_print(text,
               "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
               "byte_order=\"%s\" header_type=\"UInt64\"%s>\n  <ImageData",
               vtkw_byte_order(), image->level ? " compressor=\"vtkZLibDataCompressor\"" : "");
    vtkw_print_extent(text, "WholeExtent", image->extent);
    vtkw_print_vector(text, "Origin", image->origin);
    vtkw_print_vector(text, "Spacing", image->spacing);
    vtkw_print(text, ">\n");
    vtkw_print_field_data(text, image);
    vtkw_print(text, "    <Piece");
    vtkw_print_extent(text, "Extent", image->extent);
    vtkw_print(text, ">\n");
    vtkw_print_arrays(text, "CellData", image->cell_arrays, image->cell_array_count, offsets);
    vtkw_print_arrays(text, "PointData", image->point_arrays, image->point_array_count,
                      offsets + image->cell_array_count);
    vtkw_print(text, "    </Piece>\n  </ImageData>\n");
}

static const char vtkw_appended[] = "<AppendedData";

/* Prints all that precedes the arrays, padded with spaces so that <AppendedData ends at a multiple
 * of VTKW_PAGE. The length does not depend on the offsets. */
static inline void vtkw_make_header(vtkw_text *text, const vtkw_image *image,
                                    const uint64_t *offsets) {
    const int count = image->cell_array_count + image->point_array_count;
    uint64_t *longest = (uint64_t *)malloc(((size_t)count + 1) * sizeof *longest);
    text->failed |= !longest;
    for (int i = 0; i < count && longest; i++) {
        longest[i] = UINT64_MAX;
    }
    text->length = 0;
    if (!text->failed) {
        vtkw_print_header(text, image, longest);
    }
    free(longest);
    uint64_t end = text->length + strlen(vtkw_appended);
    end = (end + VTKW_PAGE - 1) / VTKW_PAGE * VTKW_PAGE;
    text->length = 0;
    if (!text->failed) {
        vtkw_print_header(text, image, offsets);
    }
    while (!text->failed && text->length + strlen(vtkw_appended) < end) {
        vtkw_append(text, " ", 1);
    }
    vtkw_print(text, "%s%-*s>\n   _", vtkw_appended, (int)VTKW_ATTRIBUTES, " encoding=\"raw\"");
}

/* All that follows the arrays. */
static const char vtkw_closing[] = "\n  </AppendedData>\n</VTKFile>\n";

/* The state of compression: the stream, and its output of at most `room` bytes. */
typedef struct vtkw_deflater {
    z_stream stream;
    unsigned char *out;
    size_t room;
} vtkw_deflater;

/* Compresses min(bytes, VTKW_BLOCK) bytes into deflater->out; returns the compressed size. */
static inline size_t vtkw_deflate(vtkw_deflater *deflater, const unsigned char *data,
                                  uint64_t bytes) {
    deflateReset(&deflater->stream);
    deflater->stream.next_in = (Bytef *)(uintptr_t)data;
    deflater->stream.avail_in = bytes < VTKW_BLOCK ? (uInt)bytes : (uInt)VTKW_BLOCK;
    deflater->stream.next_out = deflater->out;
    deflater->stream.avail_out = (uInt)deflater->room;
    deflate(&deflater->stream, Z_FINISH); /* cannot fail: the room is deflateBound */
    return deflater->room - deflater->stream.avail_out;
}

static inline vtkw_status vtkw_put_compressed(vtkw_file *file, vtkw_deflater *deflater,
                                              const unsigned char *data, uint64_t bytes,
                                              vtkw_error *error) {
    uint64_t blocks = (bytes + VTKW_BLOCK - 1) / VTKW_BLOCK;
    const uint64_t head[] = {blocks, VTKW_BLOCK, bytes % VTKW_BLOCK};
    fpos_t place;
    uint64_t *sizes = (uint64_t *)calloc(blocks ? (size_t)blocks : 1, sizeof *sizes);
    if (!sizes) {
        return vtkw_fail(error, VTKW_NO_MEMORY, 0, "%s: not enough memory", file->path);
    }
    vtkw_put(file, head, sizeof head);
    vtkw_keep(file, fgetpos(file->stream, &place));
    vtkw_put(file, sizes, (size_t)blocks * sizeof *sizes);
    for (uint64_t b = 0; b < blocks && !file->code; b++) {
        sizes[b] = vtkw_deflate(deflater, data + b * VTKW_BLOCK, bytes - b * VTKW_BLOCK);
        vtkw_put(file, deflater->out, (size_t)sizes[b]);
    }
    vtkw_overwrite(file, &place, sizes, (size_t)blocks * sizeof *sizes);
    free(sizes);
    return VTKW_OK;
}

/* Writes all arrays from the present position on; offsets[] gets the position of each. */
static inline vtkw_status vtkw_put_arrays(vtkw_file *file, const vtkw_image *image,
                                          vtkw_deflater *deflater, uint64_t *offsets,
                                          vtkw_error *error) {
    uint64_t start = file->written;
    int count = image->cell_array_count + image->point_array_count;
    vtkw_status status = VTKW_OK;
    for (int i = 0; i < count && status == VTKW_OK && !file->code; i++) {
        const void *data = vtkw_array_at(image, i)->data;
        uint64_t bytes = vtkw_array_bytes(image, i);
        offsets[i] = file->written - start;
        if (deflater) {
            status = vtkw_put_compressed(file, deflater, (const unsigned char *)data, bytes, error);
        } else {
            vtkw_put(file, &bytes, sizeof bytes);
            vtkw_put(file, data, (size_t)bytes);
        }
    }
    return status;
}

/* Writes a preliminary header, the arrays, and last the header with the offsets, which are known
 * only after compression. */
static inline vtkw_status vtkw_put_image(vtkw_file *file, const vtkw_image *image,
                                         vtkw_deflater *deflater, uint64_t *offsets,
                                         vtkw_error *error) {
    vtkw_text header = {NULL, 0, 0, 0};
    fpos_t start;
    vtkw_make_header(&header, image, offsets);
    vtkw_keep(file, fgetpos(file->stream, &start));
    vtkw_put(file, header.data, header.length);

    vtkw_status status = VTKW_OK;
    if (!header.failed) {
        status = vtkw_put_arrays(file, image, deflater, offsets, error);
        vtkw_put(file, vtkw_closing, strlen(vtkw_closing));
        vtkw_make_header(&header, image, offsets);
        vtkw_overwrite(file, &start, header.data, header.length);
    }
    if (header.failed) {
        status = vtkw_fail(error, VTKW_NO_MEMORY, 0, "%s: not enough memory", file->path);
    }
    free(header.data);
    return status;
}

static inline int vtkw_deflater_open(vtkw_deflater *deflater, int level) {
    memset(deflater, 0, sizeof *deflater);
    if (deflateInit(&deflater->stream, level) != Z_OK) {
        return 0;
    }
    deflater->room = deflateBound(&deflater->stream, VTKW_BLOCK);
    deflater->out = (unsigned char *)malloc(deflater->room);
    if (!deflater->out) {
        deflateEnd(&deflater->stream);
    }
    return deflater->out != NULL;
}

static inline vtkw_status vtkw_write_image(const char *path, const vtkw_image *image,
                                           vtkw_error *error) {
    vtkw_status status = vtkw_check(path, image, error);
    if (status != VTKW_OK) {
        return status;
    }
    int count = image->cell_array_count + image->point_array_count;
    uint64_t *offsets = (uint64_t *)calloc((size_t)count + 1, sizeof *offsets);
    vtkw_deflater deflater;
    int compressed = image->level > 0;
    if (!offsets || (compressed && !vtkw_deflater_open(&deflater, image->level))) {
        free(offsets);
        return vtkw_fail(error, VTKW_NO_MEMORY, 0, "%s: not enough memory", path);
    }
    vtkw_file file;
    status = vtkw_begin(&file, path, error);
    if (status == VTKW_OK) {
        status = vtkw_put_image(&file, image, compressed ? &deflater : NULL, offsets, error);
        status = vtkw_end(&file, status, error);
    }
    if (compressed) {
        deflateEnd(&deflater.stream);
        free(deflater.out);
    }
    free(offsets);
    return status;
}

static inline vtkw_status vtkw_write_collection(const char *path, const vtkw_step *steps,
                                                size_t count, vtkw_error *error) {
    vtkw_text text = {NULL, 0, 0, 0};
    vtkw_print(&text,
               "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
               "byte_order=\"%s\">\n  <Collection>\n",
               vtkw_byte_order());
    for (size_t i = 0; i < count; i++) {
        vtkw_print(&text, "    <DataSet timestep=\"");
        vtkw_number(&text, steps[i].time);
        vtkw_print(&text, "\" part=\"0\" file=\"");
        vtkw_escape(&text, steps[i].file);
        vtkw_print(&text, "\"/>\n");
    }
    vtkw_print(&text, "  </Collection>\n</VTKFile>\n");
    vtkw_file file;
    vtkw_status status = text.failed
                             ? vtkw_fail(error, VTKW_NO_MEMORY, 0, "%s: not enough memory", path)
                             : vtkw_begin(&file, path, error);
    if (status == VTKW_OK) {
        vtkw_put(&file, text.data, text.length);
        status = vtkw_end(&file, status, error);
    }
    free(text.data);
    return status;
}

#endif
