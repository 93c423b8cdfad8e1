/* mesh_files.h -- triangles of tests, and files of them in all formats. */
#ifndef MESH_FILES_H
#define MESH_FILES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Triangles without shared points: [count][3][3]. */
typedef struct soup {
    int count, room;
    double (*v)[3][3];
} soup;

static inline void soup_add(soup *s, const double a[3], const double b[3], const double c[3]) {
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->v = realloc(s->v, (size_t)s->room * sizeof *s->v);
    }
    memcpy(s->v[s->count][0], a, 3 * sizeof(double));
    memcpy(s->v[s->count][1], b, 3 * sizeof(double));
    memcpy(s->v[s->count++][2], c, 3 * sizeof(double));
}

/* A box with its outside outside, two triangles on a side. */
static inline void soup_box(soup *s, const double lo[3], const double hi[3]) {
    static const int side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    double corner[8][3];
    for (int k = 0; k < 8; k++) {
        for (int a = 0; a < 3; a++) {
            corner[k][a] = k >> a & 1 ? hi[a] : lo[a];
        }
    }
    for (int k = 0; k < 6; k++) {
        soup_add(s, corner[side[k][0]], corner[side[k][1]], corner[side[k][2]]);
        soup_add(s, corner[side[k][0]], corner[side[k][2]], corner[side[k][3]]);
    }
}

static inline void soup_place(double at[3], const double centre[3], double radius, double polar,
                              double around) {
    at[0] = centre[0] + radius * sin(polar) * cos(around);
    at[1] = centre[1] + radius * sin(polar) * sin(around);
    at[2] = centre[2] + radius * cos(polar);
}

/* A ball of `rings` rings of 2 rings triangles pairs; its corners lie on the sphere. */
static inline void soup_ball(soup *s, const double centre[3], double radius, int rings) {
    const double step = 3.14159265358979323846 / rings;
    for (int i = 0; i < rings; i++) {
        for (int j = 0; j < 2 * rings; j++) {
            const int next = (j + 1) % (2 * rings);
            double p[2][2][3];
            for (int k = 0; k < 4; k++) {
                const int ring = i + k / 2;
                const bool pole = ring == 0 || ring == rings;
                soup_place(p[k / 2][k % 2], centre, radius,
                           ring == rings ? rings * step : ring * step,
                           pole ? 0 : (k % 2 ? next : j) * step);
                if (pole) { /* the same bits for all triangles of the pole */
                    p[k / 2][k % 2][0] = centre[0];
                    p[k / 2][k % 2][1] = centre[1];
                }
            }
            if (i > 0) {
                soup_add(s, p[0][0], p[1][0], p[0][1]);
            }
            if (i < rings - 1) {
                soup_add(s, p[0][1], p[1][0], p[1][1]);
            }
        }
    }
}

/* Turns all triangles about. */
static inline void soup_invert(soup *s) {
    for (int k = 0; k < s->count; k++) {
        double kept[3];
        memcpy(kept, s->v[k][1], sizeof kept);
        memcpy(s->v[k][1], s->v[k][2], sizeof kept);
        memcpy(s->v[k][2], kept, sizeof kept);
    }
}

/* ---- files ---- */

static inline void put_bytes(FILE *file, const void *value, int bytes, bool big) {
    const unsigned char *b = value; /* of a machine with the lowest byte first */
    for (int k = 0; k < bytes; k++) {
        fputc(b[big ? bytes - 1 - k : k], file);
    }
}

static inline void put_float(FILE *file, double value, bool big) {
    const float single = (float)value;
    put_bytes(file, &single, 4, big);
}

static inline void put_u32(FILE *file, uint32_t value, bool big) {
    put_bytes(file, &value, 4, big);
}

static inline void write_stl(const soup *s, const char *path) {
    FILE *file = fopen(path, "wb");
    char head[80] = "solid by name only";
    fwrite(head, 1, sizeof head, file);
    put_u32(file, (uint32_t)s->count, false);
    for (int k = 0; k < s->count; k++) {
        for (int i = 0; i < 12; i++) {
            put_float(file, i < 3 ? 0 : s->v[k][i / 3 - 1][i % 3], false);
        }
        fwrite("\0", 1, 2, file);
    }
    fclose(file);
}

static inline void write_stl_text(const soup *s, const char *path) {
    FILE *file = fopen(path, "wb");
    fprintf(file, "solid ball of facets\n");
    for (int k = 0; k < s->count; k++) {
        fprintf(file, "  facet normal nan 0 1e-3\n    outer loop\n");
        for (int i = 0; i < 3; i++) {
            fprintf(file, "      vertex %.17g %.17g %.17g\r\n", s->v[k][i][0], s->v[k][i][1],
                    s->v[k][i][2]);
        }
        fprintf(file, "    endloop\n  endfacet\n");
    }
    fprintf(file, "endsolid ball of facets\n");
    fclose(file);
}

static inline void write_obj(const soup *s, const char *path) {
    FILE *file = fopen(path, "wb");
    fprintf(file, "# a comment\nmtllib none.mtl\no body\n");
    for (int k = 0; k < s->count; k++) {
        for (int i = 0; i < 3; i++) {
            fprintf(file, "v %.17g %.17g %.17g 1.0\n", s->v[k][i][0], s->v[k][i][1], s->v[k][i][2]);
        }
        if (k % 2) {
            fprintf(file, "f -3/1 -2//4 \\\n -1\n");
        } else {
            fprintf(file, "f %d %d/7/8 %d\n", 3 * k + 1, 3 * k + 2, 3 * k + 3);
        }
    }
    fclose(file);
}

/* format: "ascii", "binary_little_endian", "binary_big_endian". Points are doubles. */
static inline void write_ply(const soup *s, const char *path, const char *format) {
    FILE *file = fopen(path, "wb");
    const bool text = format[0] == 'a', big = strstr(format, "big");
    fprintf(file,
            "ply\nformat %s 1.0\ncomment by hand\nelement vertex %d\nproperty double x\n"
            "property double y\nproperty double z\nproperty uchar red\nelement face %d\n"
            "property list uchar int vertex_indices\nend_header\n",
            format, 3 * s->count, s->count);
    for (int k = 0; k < 3 * s->count; k++) {
        const double *p = s->v[k / 3][k % 3];
        if (text) {
            fprintf(file, "%.17g %.17g %.17g 255\n", p[0], p[1], p[2]);
        } else {
            for (int a = 0; a < 3; a++) {
                put_bytes(file, &p[a], 8, big);
            }
            fputc(255, file);
        }
    }
    for (int k = 0; k < s->count; k++) {
        if (text) {
            fprintf(file, "3 %d %d %d\n", 3 * k, 3 * k + 1, 3 * k + 2);
        } else {
            fputc(3, file);
            for (uint32_t i = 0; i < 3; i++) {
                put_u32(file, 3 * (uint32_t)k + i, big);
            }
        }
    }
    fclose(file);
}

#endif
