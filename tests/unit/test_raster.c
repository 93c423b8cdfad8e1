/* test_raster.c -- rasters from PNG: every kind of picture, placement, what is refused. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/raster.h"
#include "engine/scene/shape.h"
#include "tests/unit/files.h"

static sel_error error;

typedef struct bytes {
    uint8_t data[1 << 16];
    size_t length;
} bytes;

static void append(png_structp png, png_bytep data, size_t count) {
    bytes *to = png_get_io_ptr(png);
    assert_true(to->length + count <= sizeof to->data);
    memcpy(to->data + to->length, data, count);
    to->length += count;
}

static void flush(png_structp png) {
    (void)png;
}

/* A picture as libpng writes it. `rows` are packed as the type asks for. */
static void write_png(bytes *to, int width, int height, int depth, int type, int interlace,
                      const uint8_t *rows, size_t row_bytes) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[] = {{0, 0, 0}, {255, 255, 255}, {51, 51, 51}};
    png_byte opacity[] = {255, 255, 0};
    to->length = 0;
    png_set_write_fn(png, to, append, flush);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, type, interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, 3);
        png_set_tRNS(png, info, opacity, 3, NULL);
    }
    png_write_info(png, info);
    png_bytep lines[16];
    for (int j = 0; j < height; j++) {
        lines[j] = (png_bytep)(uintptr_t)rows + (size_t)j * row_bytes;
    }
    png_write_image(png, lines);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

/* Reads a picture called p.png into the arena. */
static sel_status read_png(const bytes *from, sel_arena *arena, sel_raster *picture) {
    FILE *file = fmemopen((void *)(uintptr_t)from->data, from->length, "rb");
    error = (sel_error){.status = SEL_OK};
    assert_non_null(file);
    sel_raster_source source = {.arena = arena,
                                .name = "p.png",
                                .file = file,
                                .file_bytes = (double)from->length,
                                .error = &error};
    sel_status status = sel_png_read(&source);
    *picture = source.raster;
    fclose(file);
    return status;
}

static void reads(const bytes *from, int width, int height, const double *expected) {
    sel_raster picture;
    sel_arena *arena = sel_arena_create();
    if (read_png(from, arena, &picture))
        fail_msg("%s", error.text);
    assert_int_equal(picture.n[0], width);
    assert_int_equal(picture.n[1], height);
    for (int i = 0; i < width * height; i++) {
        int row = height - 1 - i / width; /* the first is the lowest */
        assert_true(fabs(picture.value[row * width + i % width] - expected[i]) < 1e-15);
    }
    sel_arena_destroy(arena);
}

static void every_kind_of_picture_gives_its_luminance(void **state) {
    (void)state;
    static bytes file;
    const uint8_t grey[] = {0, 51, 255};
    write_png(&file, 3, 1, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, grey, 3);
    reads(&file, 3, 1, (const double[]){0, 0.2, 1});
    const uint8_t deep[] = {0, 1, 0xff, 0xff, 0x33, 0x33};
    write_png(&file, 3, 1, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, deep, 6);
    reads(&file, 3, 1, (const double[]){1.0 / 65535, 1, 0.2});
    const uint8_t bits[] = {0xa0};
    write_png(&file, 3, 1, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, bits, 1);
    reads(&file, 3, 1, (const double[]){1, 0, 1});
    const uint8_t colours[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 51, 51};
    write_png(&file, 4, 1, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, colours, 12);
    reads(&file, 4, 1, (const double[]){0.2126, 0.7152, 0.0722, 0.2});
    const uint8_t clear[] = {0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 51};
    write_png(&file, 3, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE, clear, 12);
    reads(&file, 3, 1, (const double[]){0, 1, 0.8});
    const uint8_t pair[] = {51, 255, 51, 0};
    write_png(&file, 2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE, pair, 4);
    reads(&file, 2, 1, (const double[]){0.2, 1});
    const uint8_t indices[] = {0, 1, 2};
    write_png(&file, 3, 1, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, indices, 3);
    reads(&file, 3, 1, (const double[]){0, 1, 1});
}

static void interlaced_pictures_are_the_same(void **state) {
    (void)state;
    static bytes plain, interlaced;
    uint8_t grey[9 * 7];
    double expected[9 * 7];
    for (int i = 0; i < 63; i++) {
        grey[i] = (uint8_t)(4 * i);
        expected[i] = 4 * i / 255.0;
    }
    write_png(&plain, 9, 7, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, grey, 9);
    write_png(&interlaced, 9, 7, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, grey, 9);
    reads(&plain, 9, 7, expected);
    reads(&interlaced, 9, 7, expected);
}

static void put_u32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* CRC-32 as PNG has it. */
static uint32_t crc(const uint8_t *data, size_t length) {
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < length; i++) {
        c ^= data[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    }
    return ~c;
}

static void refuses(const bytes *from, const char *message) {
    sel_raster picture;
    sel_arena *arena = sel_arena_create();
    assert_int_equal(read_png(from, arena, &picture), SEL_BAD_FILE);
    assert_string_equal(error.text, message);
    sel_arena_destroy(arena);
}

static void broken_and_lying_files_are_refused(void **state) {
    (void)state;
    static bytes file;
    const uint8_t grey[] = {0, 51, 255};
    write_png(&file, 3, 1, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, grey, 3);
    bytes part = file;
    part.length -= 14;
    refuses(&part, "p.png: is no PNG picture that can be read: it ends too early");
    part.length = 0;
    refuses(&part, "p.png: is no PNG picture that can be read: it ends too early");
    memcpy(part.data, "P5 3 1 255 and more", 19);
    part.length = 19;
    refuses(&part, "p.png: is no PNG picture that can be read: Not a PNG file");
    /* a header that declares 60000 x 60000 pixels */
    part = file;
    put_u32(part.data + 16, 60000);
    put_u32(part.data + 20, 60000);
    put_u32(part.data + 29, crc(part.data + 12, 17));
    char message[160];
    snprintf(message, sizeof message,
             "p.png: is no PNG picture that can be read: %zu bytes cannot hold the 60000 x 60000 "
             "pixels that it declares",
             part.length);
    refuses(&part, message);
}

/* A picture of 3 x 2 pixels, 0 0.2 0.4 above 0.6 0.8 1. */
static void write_picture(const char *path) {
    static bytes file;
    const uint8_t grey[] = {0, 51, 102, 153, 204, 255};
    write_png(&file, 3, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, grey, 3);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    fwrite(file.data, 1, file.length, to);
    fclose(to);
}

/* The picture as a raster, by way of a file of the working directory. */
static const sel_lookup *make(sel_arena *arena, const sel_raster_params *params) {
    write_picture(params->file);
    error = (sel_error){.status = SEL_OK};
    const sel_lookup *raster = sel_raster_create(arena, params, (sel_where){"s.lua", 2}, &error);
    unlink(params->file);
    return raster;
}

static double at(const sel_lookup *raster, double x, double y) {
    const double *arguments[] = {&x, &y};
    double value = (double)NAN;
    error = (sel_error){.status = SEL_OK};
    raster->at(raster, 1, arguments, &value, &error);
    return value;
}

static void near(double a, double b) {
    if (!(fabs(a - b) < 1e-12))
        fail_msg("%.17g is not %.17g", a, b);
}

static void the_first_row_is_the_top_and_centres_are_joined(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "r.png", .scale = 10, .offset = 1, .nodata = (double)NAN, .fill = (double)NAN};
    const sel_lookup *raster = make(arena, &params);
    near(at(raster, 0.5, 1.5), 1);
    near(at(raster, 2.5, 1.5), 5);
    near(at(raster, 0.5, 0.5), 7);
    near(at(raster, 2.5, 0.5), 11);
    near(at(raster, 1, 1.5), 2);
    near(at(raster, 1, 1), 5);
    near(at(raster, 0, 0), 7);
    near(at(raster, 3, 2), 5);
    at(raster, 3.01, 1);
    assert_string_equal(error.text,
                        "raster r.png: x = 3.01, y = 1 is outside its 0 to 3 by 0 to 2");
    at(raster, 1, -0.01);
    assert_int_equal(error.status, SEL_BAD_SCENARIO);
    sel_arena_destroy(arena);
}

static void missing_data_are_errors_where_they_count(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "r.png", .scale = 10, .offset = 1, .nodata = 0.2, .fill = (double)NAN};
    const sel_lookup *raster = make(arena, &params);
    near(at(raster, 0.5, 1.5), 1);
    near(at(raster, 1.5, 0.5), 9);
    at(raster, 1.5, 1.4);
    assert_string_equal(error.text, "raster r.png: there are no data at x = 1.5, y = 1.4");
    assert_true(isnan(sel_raster_value(raster->data, 1.2, 1.5)));
    sel_shape_raster shape = {raster, 8};
    assert_true(sel_shape_raster_contains(&shape, (const double[]){1.5, 0.5, 0}));
    assert_false(sel_shape_raster_contains(&shape, (const double[]){0.5, 0.5, 0}));
    assert_false(sel_shape_raster_contains(&shape, (const double[]){1.5, 1.5, 0}));
    assert_false(sel_shape_raster_contains(&shape, (const double[]){9, 9, 0}));
    sel_arena_destroy(arena);
}

/* ---- shape.image, on 3 x 2 cells of side 0.5 from (10, 20) on ---- */

static const sel_grid cells = {
    .dims = 2, .n = {3, 2, 1}, .dx = {0.5, 0.5, 0.5}, .dt = 1, .origin = {10, 20, 0}};

/* The cells (face < 0) or sites of a face that a shape holds, as text of 0 and 1, the lowest row
 * first. */
static void assert_holds(const sel_shape *shape, int face, const char *expected) {
    double x[6], y[6];
    uint8_t in[6];
    char text[7] = "";
    size_t n = face < 0 ? 6 : face / 2 ? 3 : 2;
    for (size_t i = 0; i < n; i++) {
        x[i] = face < 0 || face / 2 ? 10.25 + 0.5 * (double)(i % 3) : face % 2 ? 11.5 : 10;
        y[i] = face < 0        ? 20.25 + 0.5 * (double)(i / 3)
               : face / 2 == 0 ? 20.25 + 0.5 * (double)i
               : face % 2      ? 21
                               : 20;
    }
    const sel_places at = {n, x, y, NULL, 0, NULL, NULL};
    const uint8_t painted[6] = {0};
    assert_int_equal(sel_shape_test(shape, &cells, face, &at, painted, in, &error), SEL_OK);
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)('0' + in[i]);
    }
    assert_string_equal(text, expected);
}

/* The picture of write_picture as a shape. */
static sel_shape *shape_of_picture(sel_arena *arena, sel_shape_image *image) {
    write_picture("i.png");
    assert_int_equal(sel_mask_read(arena, &image->ask, &image->mask, &error), SEL_OK);
    return sel_shape_make(arena, SEL_SHAPE_IMAGE, image);
}

static void dark_pixels_are_solid_and_the_first_row_is_the_top(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_shape_image image = {.ask = {"i.png", .threshold = 0.5, .type = -1}};
    sel_shape *shape = shape_of_picture(arena, &image);
    assert_int_equal(sel_shape_check(shape, &cells, &error), SEL_OK);
    assert_holds(shape, -1, "000111");
    image.ask.threshold = 0.7;
    assert_holds(shape_of_picture(arena, &image), -1, "100111");
    image.ask.threshold = 0.2; /* darker than: not as dark as */
    assert_holds(shape_of_picture(arena, &image), -1, "000100");
    image.ask.invert = true;
    assert_holds(shape_of_picture(arena, &image), -1, "111011");
    sel_arena_destroy(arena);
}

static void an_image_cuts_faces_by_the_pixels_beside_them(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_shape_image image = {.ask = {"i.png", .threshold = 0.3, .type = -1}};
    sel_shape *pixels = shape_of_picture(arena, &image);
    sel_shape *faces = sel_shape_make(arena, SEL_SHAPE_FACES, NULL);
    sel_shape *cut = sel_shape_combine(arena, SEL_SHAPE_INTERSECTION, faces, pixels);
    assert_holds(cut, SEL_Y_MAX, "110");
    assert_holds(cut, SEL_Y_MIN, "000");
    assert_holds(cut, SEL_X_MIN, "01");
    assert_holds(cut, SEL_X_MAX, "00");
    assert_holds(pixels, SEL_Y_MAX, "000"); /* alone it paints no faces */
    sel_arena_destroy(arena);
}

static void an_image_has_a_pixel_for_each_cell_of_a_plane(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_shape_image image = {.ask = {"i.png", .threshold = 0.5, .type = -1}};
    sel_shape *shape = shape_of_picture(arena, &image);
    sel_grid wrong = cells, space = cells;
    wrong.n[0] = 2;
    space.dims = 3;
    space.n[2] = 2;
    shape->where = (sel_where){"s.lua", 4};
    error = (sel_error){.status = SEL_OK};
    assert_int_equal(sel_shape_check(shape, &wrong, &error), SEL_BAD_SCENARIO);
    assert_int_equal(sel_shape_check(shape, &space, &error), SEL_BAD_SCENARIO);
    assert_string_equal(error.text,
                        "s.lua:4: shape.image: i.png has 3 x 2 pixels, the domain 2 x 2 cells; "
                        "there must be a pixel for each cell\n"
                        "s.lua:4: shape.image: a picture fills a domain of 2 dimensions, this one "
                        "has 3; take a stack of pictures, or a .npy, .raw or .vti file");
    sel_arena_destroy(arena);
}

static void other_formats_are_named(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "r.jpg", .scale = 1, .offset = 0, .nodata = (double)NAN, .fill = (double)NAN};
    assert_null(make(arena, &params));
    assert_string_equal(error.text, "r.jpg: this format is not read; rasters are read from .asc, "
                                    ".tif, .tiff, .png, .hgt, .nc, .vrt, .bil, .flt files");
    const sel_raster *picture;
    error = (sel_error){.status = SEL_OK};
    assert_int_equal(sel_raster_read_picture(arena, "r.tif", &picture, &error), SEL_BAD_SCENARIO);
    assert_string_equal(error.text,
                        "r.tif: this format is not read; images are read from .png files");
    params.file = "none.png";
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
    assert_int_equal(error.status, SEL_BAD_FILE);
    sel_arena_destroy(arena);
}

static void paths_in_commands_are_quoted_for_the_shell(void **state) {
    (void)state;
    char text[64];
    assert_string_equal(sel_map_quote("a/b.c/dem.tif", "_m.tif", text, sizeof text),
                        "a/b.c/dem_m.tif");
    assert_string_equal(sel_map_quote("my dem.asc", "", text, sizeof text), "'my dem.asc'");
    assert_string_equal(sel_map_quote("a'$(b)'.tif", "", text, sizeof text),
                        "'a'\\''$(b)'\\''.tif'");
    assert_string_equal(sel_map_quote("a longer 'name'.tif", "", text, 24), "FILE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_picture_gives_its_luminance),
        cmocka_unit_test(interlaced_pictures_are_the_same),
        cmocka_unit_test(broken_and_lying_files_are_refused),
        cmocka_unit_test(the_first_row_is_the_top_and_centres_are_joined),
        cmocka_unit_test(missing_data_are_errors_where_they_count),
        cmocka_unit_test(dark_pixels_are_solid_and_the_first_row_is_the_top),
        cmocka_unit_test(an_image_cuts_faces_by_the_pixels_beside_them),
        cmocka_unit_test(an_image_has_a_pixel_for_each_cell_of_a_plane),
        cmocka_unit_test(other_formats_are_named),
        cmocka_unit_test(paths_in_commands_are_quoted_for_the_shell),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
