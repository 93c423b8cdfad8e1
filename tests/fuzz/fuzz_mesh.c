/* fuzz_mesh.c -- libFuzzer: any bytes as an STL, OBJ or PLY file. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/mesh_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
