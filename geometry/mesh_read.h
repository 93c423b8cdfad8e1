/* mesh_read.h -- triangles from STL, OBJ and PLY files. */
#ifndef SEL_MESH_READ_H
#define SEL_MESH_READ_H

#include <stddef.h>
#include <stdint.h>
#include "engine/base/status.h"

/* Triangles as a file gives them: corners are numbers of points. Of STL files each triangle has
 * three points of its own. */
typedef struct sel_triangles {
    int64_t points, triangles;
    double (*point)[3];
    int32_t (*corner)[3];
    int64_t point_room, triangle_room;
} sel_triangles;

void sel_triangles_free(sel_triangles *triangles);

/* Reads a file of a format that is known by its suffix: .stl (ASCII or binary), .obj, .ply (ASCII,
 * binary of either order of bytes). Polygons become fans of triangles. There is at least one
 * triangle; all coordinates are finite, all corners are points. Freed with sel_triangles_free, also
 * after an error. SEL_BAD_FILE: the file cannot be opened, is no such file, is truncated or larger
 * than its counts say. SEL_BAD_SCENARIO: an unknown suffix. */
sel_status sel_triangles_read(const char *path, sel_triangles *triangles, sel_error *error);

/* ---- readers ---- */

/* A file in memory, while it is read. */
typedef struct sel_mesh_source {
    const char *name;  /* for messages */
    const char *bytes; /* a NUL follows */
    size_t length;
    const char *at; /* where texts are read on */
    int64_t line;   /* there, from 1; 0: not in a text */
    sel_triangles *to;
    sel_error *error;
} sel_mesh_source;

/* A reader: begins at the first byte, `to` is empty. */
typedef sel_status sel_mesh_reader(sel_mesh_source *source);
sel_mesh_reader sel_stl_read, sel_obj_read, sel_ply_read;

/* The reader of a suffix and the checks of its result; what sel_triangles_read does with the bytes
 * of a file. */
sel_status sel_triangles_parse(sel_mesh_source *source, sel_mesh_reader *read);

/* Fails with SEL_BAD_FILE, and "NAME: ", or "NAME:LINE: " in a text, before the message. */
sel_status sel_mesh_refuse(const sel_mesh_source *source, const char *format, ...) SEL_PRINTF(2, 3);

/* Add a point, or a triangle of three points by number from 0, which are checked at the end. */
sel_status sel_mesh_add_point(sel_mesh_source *source, const double p[3]);
sel_status sel_mesh_add_triangle(sel_mesh_source *source, int64_t a, int64_t b, int64_t c);

/* Reads the next word; `lines`: of this line only. Returns its length, *word is its beginning; 0:
 * there is none. */
int sel_mesh_word(sel_mesh_source *source, bool lines, const char **word);
/* Goes to the next line; false: there is none. */
bool sel_mesh_next_line(sel_mesh_source *source);
/* Whether a word is `name`, in any case. */
bool sel_word_is(const char *word, int length, const char *name);
/* Reads a finite number, or a whole number, from the next word. */
sel_status sel_mesh_number(sel_mesh_source *source, bool lines, double *value);
sel_status sel_mesh_whole(sel_mesh_source *source, bool lines, int64_t *value);

#endif
