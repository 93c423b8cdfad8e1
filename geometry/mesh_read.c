/* mesh_read.c -- triangles from files: formats by suffix, lists that grow, words and numbers. */
#include "geometry/mesh_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/base/file.h"
#include "engine/base/text.h"

/* Numbers of points and of directed edges fit into 32 bits. */
enum { MOST_POINTS = 1 << 30, MOST_TRIANGLES = 1 << 28, LONGEST_WORD = 24 };
static const size_t most_bytes = (size_t)1 << 36;

sel_status sel_mesh_refuse(const sel_mesh_source *source, const char *format, ...) {
    char text[400], line[32] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (source->line) {
        snprintf(line, sizeof line, ":%lld", (long long)source->line);
    }
    return sel_fail(source->error, SEL_BAD_FILE, "%s%s: %s", source->name, line, text);
}

/* ---- lists ---- */

void sel_triangles_free(sel_triangles *triangles) {
    free(triangles->point);
    free(triangles->corner);
    *triangles = (sel_triangles){.points = 0};
}

/* Memory for one entry more; NULL: there is none, and the old memory stays. */
static void *grow_list(void *list, int64_t count, int64_t *room, size_t size) {
    if (count < *room) {
        return list;
    }
    const int64_t more = *room ? 2 * *room : 1024;
    void *grown = realloc(list, (size_t)more * size);
    *room = grown ? more : *room;
    return grown;
}

sel_status sel_mesh_add_point(sel_mesh_source *source, const double p[3]) {
    sel_triangles *to = source->to;
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) {
        return sel_mesh_refuse(source,
                               "point %lld is not finite: %g, %g, %g; export the mesh again",
                               (long long)to->points + 1, p[0], p[1], p[2]);
    }
    void *grown = to->points < MOST_POINTS
                      ? grow_list(to->point, to->points, &to->point_room, sizeof *to->point)
                      : NULL;
    if (!grown) {
        return sel_fail_memory(source->error, source->name, sizeof *to->point);
    }
    to->point = grown;
    memcpy(to->point[to->points++], p, sizeof *to->point);
    return SEL_OK;
}

sel_status sel_mesh_add_triangle(sel_mesh_source *source, int64_t a, int64_t b, int64_t c) {
    sel_triangles *to = source->to;
    const int64_t corner[3] = {a, b, c};
    void *grown = to->triangles < MOST_TRIANGLES
                      ? grow_list(to->corner, to->triangles, &to->triangle_room, sizeof *to->corner)
                      : NULL;
    if (!grown) {
        return sel_fail_memory(source->error, source->name, sizeof *to->corner);
    }
    to->corner = grown;
    for (int k = 0; k < 3; k++) {
        if (corner[k] < 0 || corner[k] >= MOST_POINTS) {
            return sel_mesh_refuse(source, "triangle %lld has the corner %lld, which is no point",
                                   (long long)to->triangles + 1, (long long)corner[k]);
        }
        to->corner[to->triangles][k] = (int32_t)corner[k];
    }
    to->triangles++;
    return SEL_OK;
}

/* ---- texts ---- */

static bool parts_words(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

int sel_mesh_word(sel_mesh_source *source, bool lines, const char **word) {
    const char *at = source->at, *end = source->bytes + source->length;
    while (at < end && (parts_words(*at) || (!lines && *at == '\n'))) {
        source->line += *at++ == '\n';
    }
    *word = at;
    while (at < end && !parts_words(*at) && *at != '\n') {
        at++;
    }
    source->at = at;
    return at - *word > 1 << 20 ? 1 << 20 : (int)(at - *word);
}

bool sel_mesh_next_line(sel_mesh_source *source) {
    const size_t left = source->length - (size_t)(source->at - source->bytes);
    const char *end = memchr(source->at, '\n', left);
    source->at = end ? end + 1 : source->bytes + source->length;
    source->line += end != NULL;
    return end && source->at < source->bytes + source->length;
}

bool sel_word_is(const char *word, int length, const char *name) {
    return (size_t)length == strlen(name) && strncasecmp(word, name, (size_t)length) == 0;
}

/* A word for a message; what may steer terminals is replaced. */
static const char *word_text(const char *word, int length, char text[LONGEST_WORD + 1]) {
    snprintf(text, LONGEST_WORD + 1, "%.*s", length < LONGEST_WORD ? length : LONGEST_WORD, word);
    for (char *c = text; *c; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    return text;
}

sel_status sel_mesh_number(sel_mesh_source *source, bool lines, double *value) {
    const char *word;
    char text[LONGEST_WORD + 1];
    const int length = sel_mesh_word(source, lines, &word);
    if (length == 0) {
        return sel_mesh_refuse(source, "it ends where a number should stand");
    }
    const char *end = sel_decimal_read(word, value);
    return end == word + length && isfinite(*value)
               ? SEL_OK
               : sel_mesh_refuse(source, "'%s' is not a finite number",
                                 word_text(word, length, text));
}

sel_status sel_mesh_whole(sel_mesh_source *source, bool lines, int64_t *value) {
    double number = 0;
    sel_status status = sel_mesh_number(source, lines, &number);
    if (!status && (number != floor(number) || fabs(number) > 1e15)) {
        status = sel_mesh_refuse(source, "%g is not a whole number", number);
    }
    *value = status ? 0 : (int64_t)number;
    return status;
}

/* ---- formats ---- */

static sel_status check_corners(sel_mesh_source *source) {
    const sel_triangles *to = source->to;
    source->line = 0;
    if (to->triangles == 0) {
        return sel_mesh_refuse(source, "has no triangles");
    }
    for (int64_t k = 0; k < to->triangles; k++) {
        for (int i = 0; i < 3; i++) {
            if (to->corner[k][i] >= to->points) {
                return sel_mesh_refuse(
                    source, "triangle %lld has corner %lld of %lld points, numbered from 0",
                    (long long)k + 1, (long long)to->corner[k][i], (long long)to->points);
            }
        }
    }
    return SEL_OK;
}

sel_status sel_triangles_parse(sel_mesh_source *source, sel_mesh_reader *read) {
    source->at = source->bytes;
    source->line = 0;
    sel_status status = source->length ? read(source) : sel_mesh_refuse(source, "is empty");
    return status ? status : check_corners(source);
}

sel_status sel_triangles_read(const char *path, sel_triangles *triangles, sel_error *error) {
    static const struct {
        const char *suffix;
        sel_mesh_reader *read;
    } formats[] = {{".stl", sel_stl_read}, {".obj", sel_obj_read}, {".ply", sel_ply_read}};
    const size_t length = strlen(path);
    sel_mesh_reader *read = NULL;
    *triangles = (sel_triangles){.points = 0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (length > 4 && strcasecmp(path + length - 4, formats[i].suffix) == 0) {
            read = formats[i].read;
        }
    }
    if (!read) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "%s: this format is not read; meshes are read from .stl, .obj, .ply files",
                        path);
    }
    char *bytes;
    sel_mesh_source source = {.name = path, .to = triangles, .error = error};
    sel_status status =
        sel_file_read(path, most_bytes, "take fewer triangles", &bytes, &source.length, error);
    source.bytes = bytes;
    status = status ? status : sel_triangles_parse(&source, read);
    free(bytes);
    return status;
}
