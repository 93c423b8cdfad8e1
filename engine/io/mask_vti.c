/* mask_vti.c -- reads an array of a VTK image file (.vti): ours, and those of ParaView.
 *
 *   <VTKFile type="ImageData" byte_order= header_type= compressor=>
 *     <ImageData WholeExtent="x0 x1 y0 y1 z0 z1" ...> <Piece Extent=...>
 *       <CellData> <DataArray type= Name= format= offset=> ...
 *     <AppendedData encoding="raw" or "base64"> _...
 *
 * The bytes of an array follow a header of whole numbers: their number; or with zlib the number of
 * blocks, the bytes of a block, those of the last (0: a whole one), and those of each packed block.
 * Base64 is read in groups of four characters, since the header may be padded by itself.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/base/text.h"
#include "engine/io/mask.h"

/* Deflate packs at most 1032 bytes into one. */
enum { VALUE_ROOM = 128, TAG_ROOM = 4096, MOST_PACKED = 1032 };

typedef struct vti_file {
    sel_mask_source *source;
    const char *end;      /* of the file */
    bool big, wide, zlib; /* header_type UInt64; compressor */
    const char *appended; /* behind its '_'; NULL: none */
    bool appended_text;   /* in base64 */
} vti_file;

/* A stream of bytes, as they are or in base64. */
typedef struct vti_bytes {
    const char *at, *end;
    bool text;
    unsigned char group[3];
    int left; /* bytes of the group that are not taken yet */
} vti_bytes;

/* ---- tags ---- */

/* The text of an attribute of a tag; false: it is not there. */
static bool attribute_of(const char *tag, const char *name, char value[VALUE_ROOM]) {
    const size_t length = strlen(name);
    for (const char *at = tag; (at = strstr(at, name)); at += length) {
        const char *quote = at + length + strspn(at + length, " \t\r\n");
        quote += *quote == '=' ? 1 + strspn(quote + 1, " \t\r\n") : 0;
        if (at > tag && isspace((unsigned char)at[-1]) && (*quote == '"' || *quote == '\'')) {
            const char *end = strchr(quote + 1, *quote);
            snprintf(value, VALUE_ROOM, "%.*s", end ? (int)(end - quote - 1) : 0, quote + 1);
            return end != NULL;
        }
    }
    return false;
}

/* Finds the next tag between two places whose name is `name`, and copies what is in it. Returns the
 * place behind it; NULL: there is none. */
static const char *next_tag(const char *at, const char *end, const char *name, char tag[TAG_ROOM]) {
    const size_t length = strlen(name);
    for (; at < end && (at = memchr(at, '<', (size_t)(end - at))); at++) {
        if ((size_t)(end - at) > length + 1 && memcmp(at + 1, name, length) == 0 &&
            strchr(" \t\r\n/>", at[1 + length])) {
            const char *close = memchr(at, '>', (size_t)(end - at));
            if (!close || close - at >= TAG_ROOM) {
                return NULL;
            }
            memcpy(tag, at + 1, (size_t)(close - at - 1));
            tag[close - at - 1] = 0;
            return close + 1;
        }
    }
    return NULL;
}

static bool attribute_is(const char *tag, const char *name, const char *wanted) {
    char value[VALUE_ROOM];
    return attribute_of(tag, name, value) && strcmp(value, wanted) == 0;
}

/* ---- bytes ---- */

static int digit_of_base64(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Reads a group of four characters; false: there is none. */
static bool read_group(vti_bytes *from) {
    unsigned bits = 0;
    int count = 0, pad = 0;
    while (count < 4 && from->at < from->end) {
        const char c = *from->at++;
        const int digit = c == '=' ? 0 : digit_of_base64(c);
        if (isspace((unsigned char)c)) {
            continue;
        }
        if (digit < 0) {
            return false;
        }
        pad += c == '=';
        bits = bits << 6 | (unsigned)digit;
        count++;
    }
    from->left = count == 4 && pad < 3 ? 3 - pad : 0;
    for (int k = 0; k < from->left; k++) { /* the next to be taken is the last */
        from->group[from->left - 1 - k] = (unsigned char)(bits >> (16 - 8 * k));
    }
    return from->left > 0;
}

/* Takes `count` bytes; false: there are fewer. */
static bool take_bytes(vti_bytes *from, void *to, size_t count) {
    unsigned char *b = to;
    if (!from->text) {
        if ((size_t)(from->end - from->at) < count) {
            return false;
        }
        memcpy(to, from->at, count);
        from->at += count;
        return true;
    }
    for (size_t k = 0; k < count; k++) {
        if (from->left == 0 && !read_group(from)) {
            return false;
        }
        b[k] = from->group[--from->left];
    }
    return true;
}

static bool take_count(const vti_file *vti, vti_bytes *from, uint64_t *value) {
    unsigned char b[8];
    const int bytes = vti->wide ? 8 : 4;
    *value = 0;
    if (!take_bytes(from, b, (size_t)bytes)) {
        return false;
    }
    for (int k = 0; k < bytes; k++) {
        *value |= (uint64_t)b[vti->big ? bytes - 1 - k : k] << 8 * k;
    }
    return true;
}

/* Unpacks an array of `size` bytes into `to`; false: it is broken. */
static bool unpack_array(const vti_file *vti, vti_bytes *from, unsigned char *to, size_t size) {
    uint64_t blocks, block, last;
    if (!take_count(vti, from, &blocks) || !take_count(vti, from, &block) ||
        !take_count(vti, from, &last)) {
        return false;
    }
    const size_t most = (size_t)(from->end - from->at);
    const uint64_t end = last ? last : block; /* a lone block may be shorter than `block` */
    if (blocks == 0 || blocks > most || last > block ||
        (double)(blocks - 1) * (double)block > (double)size || (blocks - 1) * block + end != size) {
        return false;
    }
    uint64_t *packed = malloc((size_t)blocks * sizeof *packed);
    bool good = packed;
    for (uint64_t k = 0; k < blocks && good; k++) {
        good = take_count(vti, from, &packed[k]) && packed[k] <= most;
    }
    from->left = 0; /* the blocks begin a group of their own */
    for (uint64_t k = 0; k < blocks && good; k++) {
        const uint64_t wanted = k + 1 < blocks ? block : end;
        unsigned char *bytes = malloc((size_t)packed[k] + 1);
        uLongf length = (uLongf)wanted;
        good = bytes && take_bytes(from, bytes, (size_t)packed[k]) &&
               uncompress(to, &length, bytes, (uLong)packed[k]) == Z_OK && length == wanted;
        to += wanted;
        free(bytes);
    }
    free(packed);
    return good;
}

static bool read_bytes_of_array(const vti_file *vti, vti_bytes *from, unsigned char *to,
                                size_t size) {
    uint64_t count = 0;
    return vti->zlib ? unpack_array(vti, from, to, size)
                     : take_count(vti, from, &count) && count == size && take_bytes(from, to, size);
}

/* ---- arrays ---- */

static sel_status mark_text(sel_mask_source *source, const char *at, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double value;
        at += strspn(at, " \t\r\n");
        at = sel_decimal_read(at, &value);
        if (!at) {
            return sel_mask_refuse(source, "its array has %lld numbers instead of %lld",
                                   (long long)i, (long long)count);
        }
        const sel_status status =
            sel_mask_mark(source, &value, (sel_mask_type){.kind = 'f', .bytes = 8}, i, 1);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

static sel_mask_type vti_type(const char *tag) {
    static const char *const names[] = {"UInt8",  "Int8",  "UInt16",  "Int16",   "UInt32", "Int32",
                                        "UInt64", "Int64", "Float32", "Float64", NULL};
    char value[VALUE_ROOM];
    const int k = attribute_of(tag, "type", value) ? sel_name_index(names, value) : -1;
    if (k < 0) {
        return (sel_mask_type){.kind = 0};
    }
    return sel_mask_type_of(k);
}

static sel_status read_data_array(const vti_file *vti, const char *tag, const char *behind) {
    sel_mask_source *source = vti->source;
    const int64_t *n = source->to->n;
    char value[VALUE_ROOM];
    sel_mask_type type = vti_type(tag);
    type.big = vti->big;
    if (type.kind == 0 || (attribute_of(tag, "NumberOfComponents", value) && atoi(value) != 1)) {
        return sel_mask_refuse(source, "its array must have one number for each cell");
    }
    sel_status status =
        sel_mask_allocate(source, (double)source->length * MOST_PACKED / type.bytes);
    if (status) {
        return status;
    }
    const int64_t count = n[0] * n[1] * n[2];
    if (attribute_is(tag, "format", "ascii")) {
        return mark_text(source, behind, count);
    }
    vti_bytes from = {.at = behind, .end = vti->end, .text = true};
    if (attribute_is(tag, "format", "appended")) {
        const bool placed = attribute_of(tag, "offset", value);
        const unsigned long long offset = placed ? strtoull(value, NULL, 10) : 0;
        if (!placed || !vti->appended || offset > (size_t)(vti->end - vti->appended)) {
            return sel_mask_refuse(source, "has no appended data for its array");
        }
        from =
            (vti_bytes){.at = vti->appended + offset, .end = vti->end, .text = vti->appended_text};
    }
    const size_t size = (size_t)count * (size_t)type.bytes;
    unsigned char *numbers = malloc(size);
    status = !numbers ? sel_fail_memory(source->error, source->name, size)
             : read_bytes_of_array(vti, &from, numbers, size)
                 ? sel_mask_mark(source, numbers, type, 0, count)
                 : sel_mask_refuse(source,
                                   "the data of its array are broken, or not the %zu bytes of "
                                   "%lld x %lld x %lld numbers",
                                   size, (long long)n[0], (long long)n[1], (long long)n[2]);
    free(numbers);
    return status;
}

/* ---- the file ---- */

/* Looks for the array in CellData or PointData; `more`: 1 for points. NULL: it is not there, or
 * *count says that there are several. */
static const char *find_array(const vti_file *vti, const char *section, char tag[TAG_ROOM],
                              int *count) {
    const char *wanted = vti->source->params->array, *found = NULL;
    char other[TAG_ROOM], close[VALUE_ROOM];
    const char *start = next_tag(vti->source->bytes, vti->end, section, other);
    snprintf(close, sizeof close, "/%s", section);
    const char *end = start ? next_tag(start, vti->end, close, other) : NULL;
    for (const char *at = start; at && end && (at = next_tag(at, end, "DataArray", other));) {
        if (!wanted || attribute_is(other, "Name", wanted)) {
            ++*count;
            found = at;
            memcpy(tag, other, sizeof other);
        }
    }
    return found;
}

static sel_status read_extent(sel_mask_source *source, const char *piece, bool points) {
    char value[VALUE_ROOM];
    long long e[6];
    if (!attribute_of(piece, "Extent", value) ||
        sscanf(value, "%lld %lld %lld %lld %lld %lld", &e[0], &e[1], &e[2], &e[3], &e[4], &e[5]) !=
            6) {
        return sel_mask_refuse(source, "its piece has no Extent");
    }
    for (int a = 0; a < 3; a++) {
        const double cells = (double)e[2 * a + 1] - (double)e[2 * a];
        if (!(cells >= 0 && cells < 1e9)) {
            return sel_mask_refuse(source, "its Extent %.80s is none", value);
        }
        source->to->n[a] = (int64_t)cells + (points || cells == 0);
    }
    return SEL_OK;
}

/* Finds the appended data, before which the tags end. */
static void find_appended(vti_file *vti, const char **tags_end) {
    char tag[TAG_ROOM];
    const char *behind = next_tag(vti->source->bytes, vti->end, "AppendedData", tag);
    *tags_end = behind ? behind : vti->end;
    vti->appended_text = behind && attribute_is(tag, "encoding", "base64");
    behind = behind ? memchr(behind, '_', (size_t)(vti->end - behind)) : NULL;
    vti->appended = behind ? behind + 1 : NULL;
}

sel_status sel_vti_read(sel_mask_source *source) {
    vti_file vti = {.source = source, .end = source->bytes + source->length};
    char tag[TAG_ROOM], piece[TAG_ROOM], other[TAG_ROOM];
    const char *tags_end;
    if (!next_tag(source->bytes, vti.end, "VTKFile", tag) ||
        !attribute_is(tag, "type", "ImageData")) {
        return sel_mask_refuse(source, "is no VTK image file");
    }
    vti.big = attribute_is(tag, "byte_order", "BigEndian");
    vti.wide = attribute_is(tag, "header_type", "UInt64");
    vti.zlib = attribute_of(tag, "compressor", other);
    if (vti.zlib && strcmp(other, "vtkZLibDataCompressor") != 0) {
        return sel_mask_refuse(source, "is packed by %.60s, which is not read; write it with zlib",
                               other);
    }
    find_appended(&vti, &tags_end);
    const char *first = next_tag(source->bytes, tags_end, "Piece", piece);
    if (!first || next_tag(first, tags_end, "Piece", other)) {
        return sel_mask_refuse(source, "must have one piece");
    }
    int count = 0;
    bool points = false;
    const char *behind = find_array(&vti, "CellData", tag, &count);
    if (!behind) {
        behind = find_array(&vti, "PointData", tag, &count);
        points = true;
    }
    if (count != 1) {
        return sel_mask_refuse(source, count ? "has several arrays; say which: array = \"NAME\""
                                             : "has no such array; array = \"NAME\" says which");
    }
    const sel_status status = read_extent(source, piece, points);
    return status ? status : read_data_array(&vti, tag, behind);
}
