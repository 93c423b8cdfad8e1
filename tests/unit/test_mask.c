/* test_mask.c -- masks of three dimensions: .npy, .raw, .vti, stacks of pictures. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <png.h>
#include <zlib.h>
#include "engine/io/mask.h"
#include "engine/scene/segment.h"
#include "tests/unit/files.h"

static sel_error error;

/* 3 x 2 x 2 numbers, x fastest; below 0.5 and below 3.5 they are inside. */
static const double numbers[12] = {0, 1, 2, 3, 4, 5, 6, 0, 0, 1, 0, 7};
#define BELOW_HALF "100000011010"
#define BELOW_4 "111100011110"

static void write_bytes(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, count, file);
    fclose(file);
}

/* "3x2x2 " and the marks, x fastest; or the error. */
static void holds(sel_mask_params params, const char *expected) {
    char text[700];
    sel_arena *arena = sel_arena_create();
    const sel_mask *mask;
    error = (sel_error){.status = SEL_OK};
    if (sel_mask_read(arena, &params, &mask, &error)) {
        snprintf(text, sizeof text, "%.600s", error.text);
    } else {
        int used = snprintf(text, sizeof text, "%dx%dx%d ", (int)mask->n[0], (int)mask->n[1],
                            (int)mask->n[2]);
        for (int64_t i = 0; i < mask->n[0] * mask->n[1] * mask->n[2]; i++)
            text[used++] = (char)('0' + mask->marked[i]);
        text[used] = 0;
    }
    assert_string_equal(text, expected);
    sel_arena_destroy(arena);
}

static sel_mask_params of_file(const char *file) {
    return (sel_mask_params){.file = file, .threshold = 0.5, .type = -1};
}

/* ---- .npy ---- */

/* Writes the numbers as `descr`; [z][y][x], or with the first index fastest. */
static void write_npy(const char *path, const char *descr, bool fortran) {
    FILE *file = fopen(path, "wb");
    char header[128];
    memset(header, ' ', sizeof header);
    const int length = snprintf(header, sizeof header,
                                "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 2, 3), }", descr,
                                fortran ? "True" : "False");
    header[length] = ' ';
    header[117] = '\n';
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file);
    fwrite(header, 1, 118, file);
    for (int k = 0; k < 12; k++) {
        const int z = k % 2, y = k / 2 % 2, x = k / 4;
        const double value = numbers[fortran ? x + 3 * (y + 2 * z) : k];
        const float single = (float)value;
        const int64_t whole = (int64_t)value;
        const int bytes = descr[2] - '0';
        const unsigned char *from = descr[1] != 'f' ? (const void *)&whole
                                    : bytes == 4    ? (const void *)&single
                                                    : (const void *)&value;
        for (int b = 0; b < bytes; b++)
            fputc(from[descr[0] == '>' ? bytes - 1 - b : b], file);
    }
    fclose(file);
}

static void npy_of_all_types_and_orders(void **state) {
    static const char *const types[] = {"|u1", "|i1", "<i2", ">u2", "<u4", ">i4",
                                        "<i8", ">u8", "<f4", ">f4", "<f8", ">f8"};
    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        write_npy("a.npy", types[k], k % 3 == 0);
        holds(of_file("a.npy"), "3x2x2 " BELOW_HALF);
        sel_mask_params params = of_file("a.npy");
        params.threshold = 3.5;
        params.invert = true;
        holds(params, "3x2x2 000011100001");
    }
}

static void bad_npy_is_refused(void **state) {
    size_t size = 0;
    (void)state;
    write_npy("a.npy", "<f2", false);
    holds(of_file("a.npy"), "a.npy: its numbers are none of bool, (u)int8 to 64, float32, 64; "
                            "convert them by astype");
    write_npy("a.npy", "<f8", false);
    char *bytes = read_whole("a.npy", &size);
    write_bytes("b.npy", bytes, size - 1);
    holds(of_file("b.npy"), "b.npy: its array has 96 bytes, behind its header are 95");
    bytes[128 + 8 * 3 + 7] = 0x7f;
    bytes[128 + 8 * 3 + 6] = (char)0xf8;
    write_bytes("b.npy", bytes, size);
    holds(of_file("b.npy"), "b.npy: number 4 is NaN");
    write_bytes("b.npy", bytes, 60);
    holds(of_file("b.npy"), "b.npy: is no .npy file that can be read");
    memcpy(strstr(bytes + 10, "(2, 2, 3)"), "(12,)    ", 9);
    write_bytes("b.npy", bytes, size);
    holds(of_file("b.npy"), "b.npy: its array must be [y][x] or [z][y][x]");
    memcpy(strstr(bytes + 10, "(12,)    "), "(0, 2, 3)", 9);
    write_bytes("b.npy", bytes, 128);
    holds(of_file("b.npy"), "b.npy: 3 x 2 x 0 numbers do not fit into its 128 bytes");
    free(bytes);
}

/* ---- .raw ---- */

static void raw_says_size_and_type(void **state) {
    uint16_t v[12];
    (void)state;
    for (int k = 0; k < 12; k++)
        v[k] = (uint16_t)numbers[k];
    write_bytes("a.raw", v, sizeof v);
    sel_mask_params params = of_file("a.raw");
    holds(params, "a.raw: a .raw file does not say what it holds: give size = { nx, ny, nz } and "
                  "type = \"uint8\"");
    params.size = (sel_ints){3, {3, 2, 2}};
    params.type = 2;
    holds(params, "3x2x2 " BELOW_HALF);
    params.size = (sel_ints){2, {3, 4}};
    holds(params, "3x4x1 " BELOW_HALF);
    params.type = 0;
    holds(params, "a.raw: 3 x 4 x 1 numbers of type uint8 are 12 bytes, the file has 24");
    params.file = "a.npy";
    holds(params, "a.npy: size and type are for .raw files; leave them out");
    params = of_file("a.raw");
    params.array = "solid";
    holds(params, "a.raw: array is for .vti files; leave it out");
}

/* ---- .vti ---- */

#define VTI(rest)                                                                         \
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\">\n" \
    "<ImageData WholeExtent=\"0 3 0 2 5 7\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n"        \
    "<Piece Extent=\"0 3 0 2 5 7\">\n" rest "</Piece></ImageData></VTKFile>\n"

static void vti_in_text(void **state) {
    (void)state;
#define A                                                                            \
    "<DataArray type=\"Int16\" Name=\"a\" format=\"ascii\">0 1 2 3 4 5\n 6 0 0 1 0 " \
    "7\n</DataArray>"
#define B                                                                                         \
    "<DataArray type='Float64' Name='b' NumberOfComponents='1' format='ascii'>9 9 9 1 1 1 9 9 9 " \
    "9 9 0</DataArray>"
    const char *one = VTI("<PointData/><CellData Scalars=\"a\">" A "</CellData>");
    const char *two = VTI("<CellData>" A B "</CellData>");
    write_bytes("a.vti", one, strlen(one));
    holds(of_file("a.vti"), "3x2x2 " BELOW_HALF);
    write_bytes("a.vti", two, strlen(two));
    holds(of_file("a.vti"), "a.vti: has several arrays; say which: array = \"NAME\"");
    sel_mask_params params = of_file("a.vti");
    params.array = "b";
    params.threshold = 2;
    holds(params, "3x2x2 000111000001");
    params.array = "c";
    holds(params, "a.vti: has no such array; array = \"NAME\" says which");
}

/* The header, of 4 bytes, and the numbers are one stream of base64. */
static void vti_in_base64(void **state) {
    (void)state;
    const char *text = VTI("<CellData><DataArray type=\"UInt8\" Name=\"a\" format=\"binary\">\n"
                           "  DAAAAAABAgMEBQYAAAEABw==\n</DataArray></CellData>");
    write_bytes("a.vti", text, strlen(text));
    holds(of_file("a.vti"), "3x2x2 " BELOW_HALF);
    const char *padded = VTI("<CellData><DataArray type=\"UInt8\" Name=\"a\" format=\"binary\">"
                             "DAAAAA==AAECAwQFBgAAAQAH</DataArray></CellData>");
    write_bytes("a.vti", padded, strlen(padded));
    holds(of_file("a.vti"), "3x2x2 " BELOW_HALF);
    const char *broken = VTI("<CellData><DataArray type=\"UInt8\" Name=\"a\" format=\"binary\">\n"
                             "  DAAAAAABAgMEBQYAAAE</DataArray></CellData>");
    write_bytes("a.vti", broken, strlen(broken));
    holds(of_file("a.vti"), "a.vti: the data of its array are broken, or not the 12 bytes of 3 x 2 "
                            "x 2 numbers");
}

/* One block that is larger than the array, as our writer has it, and blocks of five. */
static void vti_packed_behind_its_tags(void **state) {
    (void)state;
    for (int block = 5; block <= 1024; block += 1019) {
        const int blocks = block < 12 ? 3 : 1, last = block < 12 ? 2 : 12;
        uint64_t header[6] = {(uint64_t)blocks, (uint64_t)block, (uint64_t)last};
        unsigned char packed[3][64], value[12];
        uLongf length[3];
        for (int k = 0; k < 12; k++)
            value[k] = (unsigned char)numbers[k];
        for (int k = 0; k < blocks; k++) {
            length[k] = sizeof packed[k];
            compress(packed[k], &length[k], value + k * block,
                     k + 1 < blocks ? (uLong)block : (uLong)last);
            header[3 + k] = length[k];
        }
        FILE *file = fopen("a.vti", "wb");
        fprintf(file,
                "<VTKFile type=\"ImageData\" header_type=\"UInt64\" "
                "compressor=\"vtkZLibDataCompressor\"><Piece Extent=\"0 3 0 2 0 2\"><CellData>"
                "<DataArray type=\"UInt8\" Name=\"a\" format=\"appended\" offset=\"2\"/>"
                "</CellData></Piece><AppendedData encoding=\"raw\">\n  _xx");
        fwrite(header, sizeof *header, (size_t)(3 + blocks), file);
        for (int k = 0; k < blocks; k++)
            fwrite(packed[k], 1, length[k], file);
        fclose(file);
        holds(of_file("a.vti"), "3x2x2 " BELOW_HALF);
    }
}

static void other_vtk_files_are_refused(void **state) {
    (void)state;
    const char *other = "<VTKFile type=\"PolyData\">";
    write_bytes("a.vti", other, strlen(other));
    holds(of_file("a.vti"), "a.vti: is no VTK image file");
    const char *packed = "<VTKFile type=\"ImageData\" compressor=\"vtkLZ4DataCompressor\">";
    write_bytes("a.vti", packed, strlen(packed));
    holds(of_file("a.vti"), "a.vti: is packed by vtkLZ4DataCompressor, which is not read; write it "
                            "with zlib");
    const char *vector =
        VTI("<CellData><DataArray type=\"UInt8\" Name=\"a\" NumberOfComponents=\"3\" "
            "format=\"ascii\">1</DataArray></CellData>");
    write_bytes("a.vti", vector, strlen(vector));
    holds(of_file("a.vti"), "a.vti: its array must have one number for each cell");
    const char *pieces = VTI("</Piece><Piece Extent=\"0 1 0 1 0 1\"/>");
    write_bytes("a.vti", pieces, strlen(pieces));
    holds(of_file("a.vti"), "a.vti: must have one piece");
}

/* ---- pictures ---- */

/* A plane of the numbers; 0 is black, all others are white. */
static void write_plane(const char *path, int z, int width) {
    unsigned char pixel[6];
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (unsigned)width,
                       .height = (unsigned)(6 / width),
                       .format = PNG_FORMAT_GRAY};
    for (int k = 0; k < 6; k++) /* the first row is the top */
        pixel[(1 - k / 3) * 3 + k % 3] = numbers[6 * z + k] == 0 ? 0 : 255;
    assert_int_equal(png_image_write_to_file(&image, path, 0, pixel, 0, NULL), 1);
}

static void a_stack_of_pictures_begins_with_0_or_1(void **state) {
    (void)state;
    write_plane("p_000.png", 0, 3);
    write_plane("p_001.png", 1, 3);
    holds(of_file("p_%03d.png"), "3x2x2 " BELOW_HALF);
    holds(of_file("p_000.png"), "3x2x1 100000");
    write_plane("q1.png", 0, 3);
    write_plane("q2.png", 1, 3);
    write_plane("q4.png", 1, 3);
    holds(of_file("q%d.png"), "3x2x2 " BELOW_HALF);
    write_plane("q3.png", 1, 2);
    holds(of_file("q%d.png"), "q3.png: has 2 x 3 pixels, the pictures before 3 x 2");
    holds(of_file("r%d.png"), "r%d.png: there is neither r0.png nor r1.png");
    holds(of_file("r%s.png"), "r%s.png: the number of a plane must be written once, as %d or %03d");
    holds(of_file("r%d%d.png"),
          "r%d%d.png: the number of a plane must be written once, as %d or %03d");
    holds(of_file("r%*d.png"),
          "r%*d.png: the number of a plane must be written once, as %d or %03d");
    holds(of_file("r.jpg"), "r.jpg: this format is not read; images are read from .png, .npy, "
                            ".raw, .vti files");
}

/* ---- as a shape ---- */

static void a_mask_is_as_large_as_the_domain(void **state) {
    sel_grid grid = {.dims = 3, .n = {3, 2, 2}, .dx = {1, 1, 1}, .dt = 1};
    const sel_shape_space space = {&grid, NULL};
    sel_arena *arena = sel_arena_create();
    sel_shape_image image = {.ask = of_file("a.npy")};
    (void)state;
    write_npy("a.npy", "<f4", false);
    assert_int_equal(sel_mask_read(arena, &image.ask, &image.mask, &error), SEL_OK);
    sel_shape *shape = sel_shape_make(arena, SEL_SHAPE_IMAGE, &image);
    bool failed = false;
    assert_int_equal(sel_shape_check(shape, &grid, &error), SEL_OK);
    for (int k = 0; k < 12; k++)
        assert_int_equal(sel_shape_contains(shape, &space,
                                            (double[]){k % 3 + 0.5, k / 3 % 2 + 0.5, k / 6 + 0.5},
                                            &failed),
                         BELOW_HALF[k] == '1');
    assert_false(sel_shape_contains(shape, &space, (double[]){0.5, 0.5, -3}, &failed));
    shape->where = (sel_where){"s.lua", 4};
    error = (sel_error){.status = SEL_OK};
    grid.n[2] = 4;
    assert_int_equal(sel_shape_check(shape, &grid, &error), SEL_BAD_SCENARIO);
    grid.dims = 2;
    grid.n[2] = 1;
    assert_int_equal(sel_shape_check(shape, &grid, &error), SEL_BAD_SCENARIO);
    assert_string_equal(error.text,
                        "s.lua:4: shape.image: a.npy has 3 x 2 x 2 cells, the domain 3 x 2 x 4\n"
                        "s.lua:4: shape.image: a.npy has 3 x 2 x 2 cells, this domain is a plane");
    sel_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_of_all_types_and_orders),
        cmocka_unit_test(bad_npy_is_refused),
        cmocka_unit_test(raw_says_size_and_type),
        cmocka_unit_test(vti_in_text),
        cmocka_unit_test(vti_in_base64),
        cmocka_unit_test(vti_packed_behind_its_tags),
        cmocka_unit_test(other_vtk_files_are_refused),
        cmocka_unit_test(a_stack_of_pictures_begins_with_0_or_1),
        cmocka_unit_test(a_mask_is_as_large_as_the_domain),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
