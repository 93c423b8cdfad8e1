/* mesh_obj.c -- reads the points and polygons of Wavefront OBJ files.
 *
 *   v x y z         a point
 *   f 1 2 3 4       a polygon of points by number from 1, or from the last one back: -1; what
 *   f 1/2/3 ...     follows a / (textures, normals) is not read
 *
 * A backslash continues a line. Lines that begin with other words are skipped.
 */
#include <string.h>
#include "geometry/mesh_read.h"

/* The next word of a line that a backslash may continue. */
static int obj_word(sel_mesh_source *source, const char **word) {
    int length = sel_mesh_word(source, true, word);
    while (length == 1 && **word == '\\' && sel_mesh_next_line(source)) {
        length = sel_mesh_word(source, true, word);
    }
    return length;
}

static sel_status read_point_line(sel_mesh_source *source) {
    double p[3];
    sel_status status = SEL_OK;
    for (int a = 0; a < 3 && !status; a++) {
        status = sel_mesh_number(source, true, &p[a]);
    }
    return status ? status : sel_mesh_add_point(source, p);
}

/* Reads the number of a point, from 1 or from -1 down, as one from 0. */
static sel_status read_corner(sel_mesh_source *source, const char *word, int length,
                              int64_t *corner) {
    const bool back = length > 0 && *word == '-';
    const int64_t points = source->to->points;
    int64_t number = 0;
    int k = back;
    for (; k < length && word[k] >= '0' && word[k] <= '9' && number <= points; k++) {
        number = 10 * number + word[k] - '0';
    }
    const bool whole = k > back && (k == length || word[k] == '/' || number > points);
    if (!whole) {
        return sel_mesh_refuse(source,
                               "a corner of f must be the number of a point, as 7 or 7/1/3");
    }
    if (number < 1 || number > points) {
        return sel_mesh_refuse(source,
                               "a corner of f is point %s%lld, but %lld points stand before",
                               back ? "-" : "", (long long)number, (long long)points);
    }
    *corner = back ? points - number : number - 1;
    return SEL_OK;
}

/* Reads a polygon as a fan about its first corner. */
static sel_status read_polygon_line(sel_mesh_source *source) {
    int64_t first = 0, before = 0, corner = 0;
    int count = 0, length;
    const char *word;
    sel_status status = SEL_OK;
    while (!status && (length = obj_word(source, &word)) > 0 && *word != '#') {
        status = read_corner(source, word, length, &corner);
        if (!status && count >= 2) {
            status = sel_mesh_add_triangle(source, first, before, corner);
        }
        first = count++ ? first : corner;
        before = corner;
    }
    return status || count >= 3
               ? status
               : sel_mesh_refuse(source, "f has %d corners; a polygon has 3 or more", count);
}

sel_status sel_obj_read(sel_mesh_source *source) {
    sel_status status = SEL_OK;
    source->line = 1;
    do {
        const char *word;
        const int length = obj_word(source, &word);
        if (length == 1 && *word == 'v') {
            status = read_point_line(source);
        } else if (length == 1 && *word == 'f') {
            status = read_polygon_line(source);
        } else if (memchr(word, 0, (size_t)length)) {
            status = sel_mesh_refuse(source, "is no text, so no OBJ file");
        }
    } while (!status && sel_mesh_next_line(source));
    return status;
}
