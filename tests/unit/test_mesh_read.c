/* test_mesh_read.c -- the readers of STL, OBJ and PLY: what they read, what they refuse. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "geometry/mesh_read.h"
#include "tests/unit/files.h"
#include "tests/unit/mesh_files.h"

static sel_error error;

/* The triangles of a file are those of a soup, in the same order. */
static void assert_holds(const char *path, const soup *s, bool single) {
    sel_triangles found;
    error = (sel_error){.status = SEL_OK};
    if (sel_triangles_read(path, &found, &error))
        fail_msg("%s", error.text);
    assert_int_equal(found.triangles, s->count);
    for (int k = 0; k < s->count; k++)
        for (int i = 0; i < 9; i++) {
            const double value = s->v[k][i / 3][i % 3];
            assert_true(found.point[found.corner[k][i / 3]][i % 3] ==
                        (single ? (double)(float)value : value));
        }
    sel_triangles_free(&found);
}

static void all_formats_give_the_same_triangles(void **state) {
    soup s = {.count = 0};
    (void)state;
    soup_ball(&s, (const double[]){0.1, -2e-3, 1e5}, 0.7, 6);
    write_stl(&s, "b.stl");
    assert_holds("b.stl", &s, true);
    write_stl_text(&s, "t.STL");
    assert_holds("t.STL", &s, false);
    write_obj(&s, "o.obj");
    assert_holds("o.obj", &s, false);
    write_ply(&s, "a.ply", "ascii");
    assert_holds("a.ply", &s, false);
    write_ply(&s, "l.ply", "binary_little_endian");
    assert_holds("l.ply", &s, false);
    write_ply(&s, "g.ply", "binary_big_endian");
    assert_holds("g.ply", &s, false);
    free(s.v);
}

static void write_bytes(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, count, file);
    fclose(file);
}

/* Corners as "0 1 2/0 2 3", of polygons that become fans. */
static void reads(const char *path, const char *text, const char *corners) {
    sel_triangles found;
    char got[256] = "";
    write_bytes(path, text, strlen(text));
    error = (sel_error){.status = SEL_OK};
    if (sel_triangles_read(path, &found, &error))
        fail_msg("%s", error.text);
    for (int64_t k = 0; k < found.triangles; k++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d %d %d", k ? "/" : "",
                 found.corner[k][0], found.corner[k][1], found.corner[k][2]);
    assert_string_equal(got, corners);
    sel_triangles_free(&found);
}

static void refuses(const char *path, const void *bytes, size_t count, const char *message) {
    sel_triangles found;
    write_bytes(path, bytes, count);
    error = (sel_error){.status = SEL_OK};
    assert_int_equal(sel_triangles_read(path, &found, &error), SEL_BAD_FILE);
    assert_string_equal(error.text, message);
    sel_triangles_free(&found);
}
#define REFUSES(path, text, message) refuses(path, text, strlen(text), message)

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void polygons_become_fans(void **state) {
    (void)state;
    reads("a.obj", SQUARE "f 1 2 3 4\n", "0 1 2/0 2 3");
    reads("a.obj", SQUARE "usemtl red\ns off\nf -4 -3 -2 # back\nvn 0 0 1\nf 1//1 3//1 4//1",
          "0 1 2/0 2 3");
    reads("a.ply",
          "ply\nformat ascii 1.0\nelement vertex 4\nproperty float y\nproperty float x\n"
          "property float z\nelement face 1\nproperty uchar red\n"
          "property list uint8 uint32 vertex_index\nelement edge 1\nproperty list uchar float w\n"
          "end_header\n0 0 0\n0 1 0\n1 1 0\n1 0 0\n255 4 3 2 1 0\n2 0.5 0.25\n",
          "3 2 1/3 1 0");
}

static void two_solids_of_a_text(void **state) {
    (void)state;
#define FACET                                                                 \
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 " \
    "0\nendloop\nendfacet\n"
    reads("a.stl", "solid\n" FACET "endsolid\nSOLID second facet\n" FACET FACET "endsolid second\n",
          "0 1 2/3 4 5/6 7 8");
}

static void bad_stl_is_refused(void **state) {
    soup s = {.count = 0};
    size_t size = 0;
    (void)state;
    soup_box(&s, (const double[]){0, 0, 0}, (const double[]){1, 1, 1});
    write_stl(&s, "b.stl");
    char *bytes = read_whole("b.stl", &size);
    refuses(
        "c.stl", bytes, size - 7,
        "c.stl: a binary STL of 12 triangles has 684 bytes, this file has 677: it is truncated; "
        "export it again");
    refuses("c.stl", bytes, size + 1,
            "c.stl: a binary STL of 12 triangles has 684 bytes, this file has 685: it is too long; "
            "export it again");
    refuses("c.stl", bytes, 60, "c.stl: is no STL: 60 bytes are too few");
    const float bad = (float)NAN;
    memcpy(bytes + 84 + 50 + 12 + 4, &bad, 4);
    refuses("c.stl", bytes, size, "c.stl: point 4 is not finite: 0, nan, 0; export the mesh again");
    memset(bytes + 80, 0, 4);
    refuses("c.stl", bytes, 84, "c.stl: has no triangles");
    free(bytes);
    free(s.v);
    REFUSES("c.stl", "", "c.stl: is empty");
    REFUSES("c.stl", "solid x\nendsolid x\n", "c.stl: has no triangles");
    REFUSES("c.stl", "solid\n" FACET,
            "c.stl:9: it ends where \"facet\" should stand: it is "
            "truncated; export it again");
    REFUSES("c.stl", "solid\n" FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 x1\n",
            "c.stl:11: 'x1' is not a finite number");
    REFUSES("c.stl", "solid\n" FACET "facet normal 0 0 1\nouter loop\nvertex 0 1e999 0\n",
            "c.stl:11: '1e999' is not a finite number");
    REFUSES("c.stl", "solid\n" FACET "facet normal 0 0 1\nouter vertex 0 0 1\n",
            "c.stl:10: here should stand \"loop\"");
}

static void bad_obj_is_refused(void **state) {
    (void)state;
    REFUSES("a.obj", SQUARE, "a.obj: has no triangles");
    REFUSES("a.obj", SQUARE "f 1 2\n", "a.obj:5: f has 2 corners; a polygon has 3 or more");
    REFUSES("a.obj", SQUARE "f 1 2 5\n",
            "a.obj:5: a corner of f is point 5, but 4 points stand before");
    REFUSES("a.obj", SQUARE "f 1 2 -5\n",
            "a.obj:5: a corner of f is point -5, but 4 points stand before");
    REFUSES("a.obj", SQUARE "f 0 1 2\n",
            "a.obj:5: a corner of f is point 0, but 4 points stand before");
    REFUSES("a.obj", SQUARE "f 1 2 99999999999999999999\n",
            "a.obj:5: a corner of f is point 9, but 4 points stand before");
    REFUSES("a.obj", SQUARE "f 1 2 b\n",
            "a.obj:5: a corner of f must be the number of a point, as 7 or 7/1/3");
    REFUSES("a.obj", "v 1 2\nv 3 4 5\n", "a.obj:1: it ends where a number should stand");
    refuses("a.obj", "\0\1\2", 3, "a.obj:1: is no text, so no OBJ file");
}

#define PLY_HEAD(format)                                                                 \
    "ply\nformat " format " 1.0\nelement vertex 3\nproperty float x\nproperty float y\n" \
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"

static void bad_ply_is_refused(void **state) {
    (void)state;
    const char *points = "0 0 0\n1 0 0\n0 1 0\n";
    char text[600];
    reads("a.ply", PLY_HEAD("ascii") "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "0 1 2");
    snprintf(text, sizeof text, "%s%s3 0 1 3\n", PLY_HEAD("ascii"), points);
    REFUSES("a.ply", text, "a.ply: triangle 1 has corner 3 of 3 points, numbered from 0");
    snprintf(text, sizeof text, "%s%s3 0 1 -1\n", PLY_HEAD("ascii"), points);
    REFUSES("a.ply", text, "a.ply:13: face 1 has the corner -1, which is no point");
    snprintf(text, sizeof text, "%s%s2 0 1\n", PLY_HEAD("ascii"), points);
    REFUSES("a.ply", text, "a.ply:13: face 1 has 2 corners; a polygon has 3 or more");
    snprintf(text, sizeof text, "%s%s3 0 1 2\n7\n", PLY_HEAD("ascii"), points);
    REFUSES("a.ply", text,
            "a.ply:14: it goes on behind the elements that its header counts; "
            "export it again");
    snprintf(text, sizeof text, "%s%s", PLY_HEAD("ascii"), points);
    REFUSES("a.ply", text, "a.ply:13: it ends where a number should stand");
    REFUSES("a.ply", PLY_HEAD("binary_little_endian") "0123456789",
            "a.ply: it ends before the elements that its header counts: it is truncated; export it "
            "again");
    REFUSES("a.ply", PLY_HEAD("binary"),
            "a.ply:2: format must be ascii, binary_little_endian or binary_big_endian");
    REFUSES("a.ply", "plx\n", "a.ply:1: is no PLY file: it does not begin with \"ply\"");
    REFUSES("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\n",
            "a.ply:4: its header does not end with end_header; it is truncated");
    REFUSES("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n0 0 0",
            "a.ply:6: element vertex has no properties x, y and z");
    REFUSES("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty half x\nend_header\n",
            "a.ply:4: is no property that can be read");
}

static void files_of_other_kinds_are_refused(void **state) {
    sel_triangles found;
    (void)state;
    error = (sel_error){.status = SEL_OK};
    assert_int_equal(sel_triangles_read("a.step", &found, &error), SEL_BAD_SCENARIO);
    assert_string_equal(error.text, "a.step: this format is not read; meshes are read from .stl, "
                                    ".obj, .ply files");
    error = (sel_error){.status = SEL_OK};
    assert_int_equal(sel_triangles_read("none.stl", &found, &error), SEL_BAD_FILE);
    assert_string_equal(error.text, "none.stl: cannot be opened: No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_give_the_same_triangles),
        cmocka_unit_test(polygons_become_fans),
        cmocka_unit_test(two_solids_of_a_text),
        cmocka_unit_test(bad_stl_is_refused),
        cmocka_unit_test(bad_obj_is_refused),
        cmocka_unit_test(bad_ply_is_refused),
        cmocka_unit_test(files_of_other_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
