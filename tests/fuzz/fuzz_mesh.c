/* fuzz_mesh.c -- libFuzzer: any bytes as an STL, OBJ or PLY file, and the body that they make. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void point_of_row(const void *of, size_t i, double p[3]) {
    const sel_mesh *mesh = of;
    for (int a = 0; a < 3; a++) {
        const double part = a == 0 ? (double)i / 7 : a == 1 ? 0.5 : 0.25;
        p[a] = mesh->bounds.lo[a] + part * (mesh->bounds.hi[a] - mesh->bounds.lo[a]);
    }
}

/* Whatever the triangles, a line enters their body as often as it leaves, and a row of points is
 * tested as its points are. */
static void make_body(sel_triangles *triangles) {
    static sel_error error;
    const sel_mesh *mesh;
    sel_arena *arena = sel_arena_create();
    memset(&error, 0, sizeof error);
    if (sel_mesh_make(arena, triangles, "fuzz", &mesh, &error) == SEL_OK) {
        uint8_t in[8];
        double p[3], q[3];
        sel_mesh_hits hits;
        bool failed = false;
        assert(sel_mesh_contains(mesh, point_of_row, mesh, 8, in, &error) == SEL_OK);
        for (size_t i = 0; i < 8; i++) {
            point_of_row(mesh, i, p);
            assert(in[i] == (sel_mesh_winding(mesh, p, &failed) != 0));
            memcpy(q, mesh->point[(int64_t)i % mesh->points], sizeof q);
            const sel_mesh_line line = sel_mesh_line_of(p, q);
            int sum = 0;
            sel_mesh_cross(mesh, &line, &hits);
            for (int k = 0; k < hits.count; k++)
                sum += hits.v[k].enters;
            sel_mesh_hits_free(&hits);
            assert(sum == 0);
        }
    }
    sel_arena_destroy(arena);
}

/* All corners of what is read are finite points, and no small file makes many of them. */
static void read_mesh(const char *bytes, size_t size, sel_mesh_reader *read) {
    static sel_error error;
    sel_triangles found = {.points = 0};
    memset(&error, 0, sizeof error);
    sel_mesh_source source = {
        .name = "fuzz", .bytes = bytes, .length = size, .to = &found, .error = &error};
    const sel_status status = sel_triangles_parse(&source, read);
    assert((status == SEL_OK) == (error.text[0] == '\0'));
    assert((size_t)found.points <= size && (size_t)found.triangles <= size);
    for (int64_t k = 0; status == SEL_OK && k < 3 * found.triangles; k++) {
        const double *p = found.point[found.corner[k / 3][k % 3]];
        assert(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]));
    }
    if (status == SEL_OK)
        make_body(&found);
    sel_triangles_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *copy = malloc(size + 1); /* so that reading beyond the end is seen */
    if (!copy)
        return -1;
    memcpy(copy, data, size);
    copy[size] = 0;
    read_mesh(copy, size, sel_stl_read);
    read_mesh(copy, size, sel_obj_read);
    read_mesh(copy, size, sel_ply_read);
    free(copy);
    return 0;
}
