/* mesh_stl.c -- reads STL files, binary and ASCII.
 *
 *   binary  80 bytes of any text, the number of triangles (4 bytes), 50 bytes for each triangle
 *   ASCII   solid NAME  facet normal x y z  outer loop  vertex x y z (3 times)  endloop  endfacet
 *           ...  endsolid NAME; a file may hold several solids
 *
 * Binary files may begin with "solid", too, so the size decides. Normals are not read: the order of
 * the corners says which side is outside.
 */
#include <string.h>
#include "geometry/mesh_read.h"

enum { HEADER = 84, PER_TRIANGLE = 50, NORMAL = 12 };

static uint32_t stl_count(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float stl_float(const char *bytes) {
    const uint32_t bits = stl_count(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static sel_status read_stl_binary(sel_mesh_source *source, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        const char *at = source->bytes + HEADER + (size_t)k * PER_TRIANGLE + NORMAL;
        for (int i = 0; i < 3; i++, at += 12) {
            const double p[3] = {(double)stl_float(at), (double)stl_float(at + 4),
                                 (double)stl_float(at + 8)};
            const sel_status status = sel_mesh_add_point(source, p);
            if (status) {
                return status;
            }
        }
        const sel_status status =
            sel_mesh_add_triangle(source, 3 * (int64_t)k, 3 * (int64_t)k + 1, 3 * (int64_t)k + 2);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

static sel_status refuse_size(sel_mesh_source *source, uint32_t count) {
    const double needed = HEADER + (double)count * PER_TRIANGLE, has = (double)source->length;
    return sel_mesh_refuse(source,
                           "a binary STL of %u triangles has %.0f bytes, this file has %.0f: it is "
                           "%s; export it again",
                           count, needed, has, has < needed ? "truncated" : "too long");
}

/* Takes one of the words that must stand there; `words` is NULL-terminated. Returns its index; -1:
 * an error. */
static int take_word(sel_mesh_source *source, const char *const *words, sel_status *status) {
    const char *word;
    const int length = sel_mesh_word(source, false, &word);
    for (int i = 0; words[i]; i++) {
        if (sel_word_is(word, length, words[i])) {
            return i;
        }
    }
    *status = length ? sel_mesh_refuse(source, "here should stand \"%s\"", words[0])
                     : sel_mesh_refuse(source,
                                       "it ends where \"%s\" should stand: it is truncated; "
                                       "export it again",
                                       words[0]);
    return -1;
}

static sel_status take_words(sel_mesh_source *source, const char *first, const char *second) {
    sel_status status = SEL_OK;
    take_word(source, (const char *const[]){first, NULL}, &status);
    if (!status && second) {
        take_word(source, (const char *const[]){second, NULL}, &status);
    }
    return status;
}

static sel_status take_numbers(sel_mesh_source *source, double p[3]) {
    sel_status status = SEL_OK;
    for (int a = 0; a < 3 && !status; a++) {
        status = sel_mesh_number(source, false, &p[a]);
    }
    return status;
}

/* Reads a facet behind its first word. Normals are often nan: three words. */
static sel_status read_facet(sel_mesh_source *source) {
    const char *word;
    double p[3];
    sel_status status = take_words(source, "normal", NULL);
    for (int a = 0; a < 3 && !status; a++) {
        sel_mesh_word(source, false, &word);
    }
    status = status ? status : take_words(source, "outer", "loop");
    for (int i = 0; i < 3 && !status; i++) {
        status = take_words(source, "vertex", NULL);
        status = status ? status : take_numbers(source, p);
        status = status ? status : sel_mesh_add_point(source, p);
    }
    status = status ? status : take_words(source, "endloop", "endfacet");
    const int64_t last = source->to->points - 1;
    return status ? status : sel_mesh_add_triangle(source, last - 2, last - 1, last);
}

static sel_status read_stl_text(sel_mesh_source *source) {
    static const char *const words[] = {"facet", "endsolid", NULL};
    const char *word;
    sel_status status = SEL_OK;
    source->line = 1;
    while (!status && sel_mesh_word(source, false, &word) > 0) {
        if (!sel_word_is(word, (int)(source->at - word), "solid")) {
            return sel_mesh_refuse(source, "here should stand \"solid\"");
        }
        sel_mesh_next_line(source); /* behind its name */
        int found = take_word(source, words, &status);
        while (found == 0) {
            status = read_facet(source);
            found = status ? -1 : take_word(source, words, &status);
        }
        if (!status) {
            sel_mesh_next_line(source);
        }
    }
    return status;
}

sel_status sel_stl_read(sel_mesh_source *source) {
    const bool begins = source->length > 5 && memcmp(source->bytes, "solid", 5) == 0;
    const size_t head = source->length < 2000 ? source->length : 2000;
    const bool text = begins && (memmem(source->bytes, head, "facet", 5) ||
                                 memmem(source->bytes, head, "endsolid", 8) ||
                                 !memchr(source->bytes, 0, source->length));
    if (source->length >= HEADER) {
        const uint32_t count = stl_count(source->bytes + 80);
        if (source->length == HEADER + (size_t)count * PER_TRIANGLE) {
            return read_stl_binary(source, count);
        }
        return text ? read_stl_text(source) : refuse_size(source, count);
    }
    return text ? read_stl_text(source)
                : sel_mesh_refuse(source, "is no STL: %zu bytes are too few", source->length);
}
