/* mask_npy.c -- reads arrays of numpy (.npy, format 1 to 3).
 *
 *   \x93NUMPY, major, minor, the length of the header (2 bytes; from format 2 on 4), then a text:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (nz, ny, nx), }
 */
#include <stdlib.h>
#include <string.h>
#include "engine/io/mask.h"

enum { MAGIC = 8, LONGEST_HEADER = 4096 };

/* What follows 'KEY': in a header; NULL: it is not there. */
static const char *value_of_key(const char *header, const char *key) {
    const char *at = strstr(header, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* The type of "'<f4'". */
static sel_mask_type npy_type(const char *text) {
    sel_mask_type type = {.kind = 0};
    if (text && strlen(text) > 4 && (text[0] == '\'' || text[0] == '"') && text[4] == text[0]) {
        const char kind = text[2] == 'b' ? 'u' : text[2];
        const int bytes = text[3] - '0';
        const bool size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        const bool known = strchr("<>|=", text[1]) && strchr("uif", kind) && size &&
                           (kind != 'f' || bytes >= 4) && (text[2] != 'b' || bytes == 1);
        type = (sel_mask_type){known ? kind : 0, bytes, text[1] == '>'};
    }
    return type;
}

/* The numbers of "(4, 3, 2)"; returns how many, -1 if there are more than 3. */
static int npy_shape(const char *text, int64_t shape[3]) {
    int count = 0;
    text += *text == '(';
    for (text += strspn(text, " "); *text >= '0' && *text <= '9'; text += strspn(text, ", ")) {
        char *end;
        if (count == 3) {
            return -1;
        }
        shape[count++] = strtoll(text, &end, 10);
        text = end;
    }
    return *text == ')' ? count : -1;
}

/* Where the numbers begin, with a copy of the header; 0: not in the file. */
static size_t copy_header(const sel_mask_source *source, char header[LONGEST_HEADER]) {
    const unsigned char *b = (const unsigned char *)source->bytes;
    const bool magic = source->length >= 12 && memcmp(b, "\x93NUMPY", 6) == 0;
    const size_t width = magic && b[6] >= 2 ? 4 : 2;
    size_t length = 0;
    for (size_t k = 0; k < width && magic; k++) {
        length |= (size_t)b[MAGIC + k] << 8 * k;
    }
    const size_t start = MAGIC + width;
    if (!magic || length >= LONGEST_HEADER || start + length > source->length) {
        return 0;
    }
    memcpy(header, b + start, length);
    header[length] = 0;
    return start + length;
}

/* Marks an array in which z, or y in a plane, is fastest. */
static sel_status mark_fortran(sel_mask_source *source, const char *numbers, sel_mask_type type) {
    const int64_t *n = source->to->n;
    const bool plane = n[2] == 1;
    const int64_t along_x = plane ? n[1] : n[1] * n[2], along_y = plane ? 1 : n[2];
    sel_status status = SEL_OK;
    for (int64_t i = 0; i < n[0] * n[1] * n[2] && !status; i++) {
        const int64_t x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
        status = sel_mask_mark(source, numbers + (x * along_x + y * along_y + z) * type.bytes, type,
                               i, 1);
    }
    return status;
}

sel_status sel_npy_read(sel_mask_source *source) {
    char header[LONGEST_HEADER];
    int64_t shape[3];
    const size_t start = copy_header(source, header);
    const char *order = start ? value_of_key(header, "fortran_order") : NULL;
    const char *sizes = start ? value_of_key(header, "shape") : NULL;
    if (!order || !sizes) {
        return sel_mask_refuse(source, "is no .npy file that can be read");
    }
    const sel_mask_type type = npy_type(value_of_key(header, "descr"));
    const int count = npy_shape(sizes, shape);
    if (type.kind == 0) {
        return sel_mask_refuse(source, "its numbers are none of bool, (u)int8 to 64, float32, 64; "
                                       "convert them by astype");
    }
    if (count < 2) {
        return sel_mask_refuse(source, "its array must be [y][x] or [z][y][x]");
    }
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        source->to->n[a] = a < count ? shape[count - 1 - a] : 1;
        cells *= (double)source->to->n[a];
    }
    if (cells * type.bytes != (double)(source->length - start)) {
        return sel_mask_refuse(source, "its array has %.0f bytes, behind its header are %zu",
                               cells * type.bytes, source->length - start);
    }
    const sel_status status = sel_mask_allocate(source, (double)source->length);
    const char *numbers = source->bytes + start;
    return status            ? status
           : order[0] == 'T' ? mark_fortran(source, numbers, type)
                             : sel_mask_mark(source, numbers, type, 0, (int64_t)cells);
}
