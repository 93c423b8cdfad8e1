/* test_out_picture.c -- out.picture: one picture of each kind against a file that was looked at,
 * ranges of colours, sizes, shading, and what is refused. */
#include <png.h>
#include "engine/output/picture.h"
#include "tests/unit/output_case.h"

/* ---- pictures that were looked at ---- */

/* One picture each, kept as tests/unit/pictures/NAME.png. The place of a slice lies along z but for
 * `axis`. */
typedef struct example {
    const char *name, *field, *relief;
    int n[3]; /* cells */
    int axis;
    double scale, place, min, max, above;
    int64_t cells_read;
    unsigned periodic;
    bool nodes;
    int solids[4], nodata; /* numbers of cells plus 1; 0: none */
} example;

/* The cases have cells of 0.5; see output_case.h for the values of their fields. */
static const example examples[] = {
    {.name = "cells", .field = "pressure", .n = {4, 3, 1}, .scale = 10, .solids = {4, 10}},
    /* a pixel has four cells by four, of which the cells 2, 6, ... along an axis are read: of the
     * two solids one is seen */
    {.name = "many_cells",
     .field = "pressure",
     .n = {160, 72, 1},
     .scale = 0.25,
     .solids = {6 + 160 * 2 + 1, 9 + 160 * 2 + 1}},
    {.name = "nodes", .field = "pressure", .n = {5, 4, 1}, .scale = 10, .nodes = true},
    {.name = "magnitude", .field = "velocity", .n = {4, 3, 1}, .scale = 10},
    {.name = "component", .field = "velocity_x", .n = {4, 3, 1}, .scale = 10},
    {.name = "slice_x",
     .field = "velocity_x",
     .n = {4, 3, 2},
     .axis = 0,
     .place = 1.9,
     .scale = 10,
     .cells_read = 2 * 6},
    {.name = "slice_y",
     .field = "velocity",
     .n = {4, 3, 2},
     .axis = 1,
     .place = 2.7,
     .scale = 10,
     .cells_read = 2 * 8},
    /* of a layer that it halves */
    {.name = "slice_layer",
     .field = "velocity_x",
     .n = {4, 3, 2},
     .axis = 1,
     .place = 3.25,
     .scale = 10,
     .cells_read = 8},
    /* through the upper layer: the first cell below is solid, the second above, the third in both
     */
    {.name = "slice_solids",
     .field = "velocity_x",
     .n = {4, 3, 2},
     .axis = 2,
     .place = 0.55,
     .scale = 10,
     .cells_read = 2 * 12,
     .solids = {1, 12 + 2, 3, 12 + 3}},
    /* half a cell outside of the first centre, and between the last and the first */
    {.name = "slice_border",
     .field = "velocity_x",
     .n = {4, 3, 2},
     .axis = 0,
     .place = 1,
     .min = -10,
     .max = 10,
     .scale = 10,
     .cells_read = 6},
    {.name = "slice_around",
     .field = "velocity_x",
     .n = {4, 3, 2},
     .axis = 0,
     .place = 1.05,
     .min = -10,
     .max = 10,
     .scale = 10,
     .periodic = 1,
     .cells_read = 2 * 6},
    /* a slope that is lit from the west, water in the lowest row, no data and a wall at its ends */
    {.name = "relief",
     .field = "velocity_x",
     .relief = "pressure",
     .n = {4, 3, 1},
     .scale = 10,
     .above = -2.5,
     .min = -2.5,
     .max = 1.5,
     .solids = {4},
     .nodata = 1},
};

static sel_picture_params *add_picture(output_case *c, const char *field) {
    sel_picture_params *picture = case_add(c, &sel_out_picture_table);
    picture->field = field;
    return picture;
}

static void draw_example(output_case *c, const example *e) {
    const int dims = e->n[2] > 1 ? 3 : 2;
    case_open(c, dims, e->n[0], e->n[1], e->n[2]);
    c->domain.grid.nodes = e->nodes;
    c->domain.grid.periodic = e->periodic;
    for (int k = 0; k < 4 && e->solids[k]; k++) {
        c->domain.cell[e->solids[k] - 1] = 1;
    }
    if (e->nodata) {
        c->domain.nodata = c->domain.region_count;
        c->domain.cell[e->nodata - 1] = (uint8_t)c->domain.region_count;
    }
    sel_picture_params *params = add_picture(c, e->field);
    params->scale = e->scale;
    if (dims == 3) {
        params->slice.v[e->axis] = e->place;
    }
    if (e->max > e->min) {
        params->min = e->min;
        params->max = e->max;
    }
    if (e->relief) {
        params->relief = e->relief;
        params->exaggeration = 1;
        params->above = e->above;
    }
    assert_int_equal(case_run(c, 0), SEL_OK);
    c->domain.nodata = 0;
}

static sel_colour *read_pixels(const char *path, png_image *image) {
    *image = (png_image){.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(image, path)) {
        fail_msg("%s cannot be read", path);
    }
    image->format = PNG_FORMAT_RGB;
    sel_colour *pixels = malloc(PNG_IMAGE_SIZE(*image));
    assert_true(png_image_finish_read(image, NULL, pixels, 0, NULL) != 0);
    return pixels;
}

static bool is_near(const sel_colour *a, const sel_colour *b) { /* rounding may differ */
    return abs(a->r - b->r) <= 1 && abs(a->g - b->g) <= 1 && abs(a->b - b->b) <= 1;
}

/* With PICTURES=DIRECTORY the pictures are left there, to be looked at and kept. */
static void pictures_are_as_they_were_when_looked_at(void **state) {
    (void)state;
    const char *keep = getenv("PICTURES");
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        const example *e = &examples[k];
        output_case c;
        png_image image, kept_image;
        char path[300];
        draw_example(&c, e);
        if (e->cells_read) {
            assert_int_equal(c.state.cells_read, e->cells_read);
        }
        assert_listed(&c, "\"picture/picture_00000000.png\"");
        snprintf(path, sizeof path, "%s/picture/picture_00000000.png", c.directory);
        sel_colour *pixels = read_pixels(path, &image);
        if (keep) {
            snprintf(path, sizeof path, "%s/%s.png", keep, e->name);
            assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0);
        }
        snprintf(path, sizeof path, "tests/unit/pictures/%s.png", e->name);
        sel_colour *kept = read_pixels(path, &kept_image);
        assert_int_equal(image.width, kept_image.width);
        assert_int_equal(image.height, kept_image.height);
        for (unsigned i = 0; i < image.width * image.height; i++) {
            if (!is_near(&pixels[i], &kept[i])) {
                fail_msg("%s differs at pixel (%u, %u)", path, i % image.width, i / image.width);
            }
        }
        free(pixels);
        free(kept);
        case_close(&c);
    }
}

/* ---- ranges of colours ---- */

static void assert_colour(sel_colour got, sel_colour expected) {
    assert_int_equal(got.r << 16 | got.g << 8 | got.b,
                     expected.r << 16 | expected.g << 8 | expected.b);
}

static void fields_of_both_signs_are_white_at_zero(void **state) {
    (void)state;
    const float values[] = {-1, 0, 2}, level[] = {3, 3, (float)NAN};
    const uint8_t solid[] = {0, 0, 0};
    sel_colour table[SEL_COLOURS];
    const sel_picture_params params = {.min = (double)NAN, .max = (double)NAN, .scale = 1};
    sel_plot plot = {.n = {3, 1},
                     .every = {1, 1},
                     .dx = {1, 1},
                     .span = {3, 1},
                     .start = -0.5,
                     .values = values,
                     .solid = solid,
                     .params = &params,
                     .title = ""};
    sel_canvas canvas;
    assert_int_equal(sel_plot_draw(&plot, &canvas, NULL), SEL_OK);
    sel_colour_table(SEL_COLOURS_SIGNED, table);
    int left = (canvas.width - 3) / 2;
    assert_colour(canvas.pixels[left], table[64]);
    assert_colour(canvas.pixels[left + 1], table[128]);
    assert_colour(canvas.pixels[left + 2], table[255]);
    sel_canvas_free(&canvas);
    plot.values = level; /* one value: the middle of the map; what is no number stands out */
    assert_int_equal(sel_plot_draw(&plot, &canvas, NULL), SEL_OK);
    sel_colour_table(SEL_COLOURS_DEEP, table);
    assert_colour(canvas.pixels[left], table[128]);
    assert_colour(canvas.pixels[left + 2], (sel_colour){255, 0, 255});
    sel_canvas_free(&canvas);
}

/* ---- sizes ---- */

static void usual_pictures_are_about_1000_pixels_long(void **state) {
    (void)state;
    const double sizes[][2] = {{192, 64}, {2048, 512}, {3, 1000}};
    const double expected[][2] = {{960, 320}, {1000, 250}, {3, 1000}};
    sel_picture_params params = {.scale = (double)NAN};
    sel_plot plot = {.dx = {0.5, 0.5}, .params = &params};
    double size[2];
    for (int i = 0; i < 3; i++) {
        plot.span[0] = sizes[i][0];
        plot.span[1] = sizes[i][1];
        sel_plot_size(&plot, size);
        assert_true(size[0] == expected[i][0] && size[1] == expected[i][1]);
    }
    params.scale = 2.5;
    sel_plot_size(&plot, size);
    assert_true(size[0] == 8 && size[1] == 2500);
}

static void pictures_of_oblong_cells_keep_their_shape(void **state) {
    (void)state;
    sel_picture_params params = {.scale = (double)NAN};
    const sel_plot plot = {.span = {100, 50}, .dx = {0.25, 1}, .params = &params};
    double size[2];
    sel_plot_size(&plot, size);
    assert_true(size[0] == 500 && size[1] == 1000);
    params.scale = 3; /* pixels along the shorter side of a cell */
    sel_plot_size(&plot, size);
    assert_true(size[0] == 300 && size[1] == 600);
}

/* ---- reliefs ---- */

static bool is_grey(sel_colour c) {
    return c.r == c.g && c.g == c.b;
}

/* Draws n[0] x n[1] cells, a pixel each, of which the field is `values` over the relief `heights`,
 * and copies the pixels: pixel[n[1]][n[0]], row 0 at the top. */
static void draw_relief(const int64_t n[2], const float *values, const uint8_t *solid,
                        const float *heights, double exaggeration, sel_colour *pixel) {
    const sel_picture_params params = {
        .min = 0, .max = 2, .scale = 1, .exaggeration = exaggeration, .above = 0.05};
    sel_plot plot = {.n = {n[0], n[1]},
                     .every = {1, 1},
                     .span = {(double)n[0], (double)n[1]},
                     .start = -0.5,
                     .values = values,
                     .solid = solid,
                     .params = &params,
                     .title = "",
                     .relief = heights,
                     .dx = {10, 10}};
    sel_canvas canvas;
    assert_int_equal(sel_plot_draw(&plot, &canvas, NULL), SEL_OK);
    int left = (canvas.width - (int)n[0]) / 2;
    for (int64_t i = 0; i < n[0] * n[1]; i++) {
        pixel[i] = canvas.pixels[i / n[0] * canvas.width + left + i % n[0]];
    }
    sel_canvas_free(&canvas);
}

enum { SIDE = 5, SQUARE = SIDE * SIDE, MIDDLE = SQUARE / 2 };

/* The middle of a dry plane that rises by x per 10 m to the east and y to the north. */
static int brightness_of_plane(double x, double y, double exaggeration) {
    const int64_t n[2] = {SIDE, SIDE};
    const float values[SQUARE] = {0};
    const uint8_t solid[SQUARE] = {0};
    float heights[SQUARE];
    sel_colour pixel[SQUARE];
    for (int i = 0; i < SQUARE; i++) {
        heights[i] = (float)(x * (i % SIDE) + y * (i / SIDE));
    }
    draw_relief(n, values, solid, heights, exaggeration, pixel);
    assert_true(is_grey(pixel[MIDDLE]));
    assert_int_equal(pixel[MIDDLE].r, pixel[0].r); /* at the border one-sided slopes */
    return pixel[MIDDLE].r;
}

static void reliefs_are_lit_from_the_north_west(void **state) {
    (void)state;
    int flat = brightness_of_plane(0, 0, 1), faces_north_west = brightness_of_plane(3, -3, 1);
    int faces_south_east = brightness_of_plane(-3, 3, 1), faces_west = brightness_of_plane(3, 0, 1);
    assert_true(faces_north_west > faces_west + 5 && faces_west > flat + 5);
    assert_true(faces_south_east < brightness_of_plane(-3, 0, 1) - 5);
    assert_int_equal(brightness_of_plane(0, -3, 1), faces_west); /* north: the same angle */
    assert_int_equal(brightness_of_plane(0, 3, 1), brightness_of_plane(-3, 0, 1));
    assert_int_equal(flat, (int)lround(255 * sel_relief_flat()));
    assert_int_equal(brightness_of_plane(-100, 100, 1), 51); /* turned away: what is all around */
}

static void ground_beside_heights_that_are_no_numbers_is_flat(void **state) {
    (void)state;
    const int64_t n[2] = {SIDE, SIDE};
    const float values[SQUARE] = {0};
    const uint8_t solid[SQUARE] = {0};
    float heights[SQUARE] = {0};
    sel_colour pixel[SQUARE];
    heights[MIDDLE] = INFINITY;
    draw_relief(n, values, solid, heights, 1, pixel);
    assert_int_equal(pixel[MIDDLE + 1].r, pixel[0].r);
    assert_int_equal(pixel[MIDDLE].r, pixel[0].r);
}

/* Slopes of 1 : 1000 are drawn as of 1 : 2, steep ones as they are. */
static void gentle_reliefs_are_exaggerated(void **state) {
    (void)state;
    assert_int_equal(brightness_of_plane(0.01, 0, (double)NAN), brightness_of_plane(5, 0, 1));
    assert_int_equal(brightness_of_plane(0.01, 0, 300), brightness_of_plane(3, 0, 1));
    assert_int_equal(brightness_of_plane(20, 0, (double)NAN), brightness_of_plane(20, 0, 1));
    assert_true(brightness_of_plane(20, 0, 1) != brightness_of_plane(5, 0, 1));
}

/* Between a cell without data and a wall; their heights of 0 are none. */
static void cells_without_data_are_blank_and_cast_no_shade(void **state) {
    (void)state;
    const int64_t n[2] = {3, 1};
    const float values[3] = {0}, heights[] = {0, 700, 0};
    const uint8_t solid[] = {SEL_PLANE_NODATA, SEL_PLANE_FREE, SEL_PLANE_SOLID};
    sel_colour pixel[3];
    draw_relief(n, values, solid, heights, 1, pixel);
    assert_colour(pixel[0], (sel_colour){255, 255, 255});
    assert_int_equal(pixel[1].r, lround(255 * sel_relief_flat()));
    assert_colour(pixel[2], (sel_colour){150, 150, 150});
}

/* ---- failures ---- */

static void a_full_disk_leaves_no_picture(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 40, 30, 1);
    add_picture(&c, "velocity");
    assert_int_equal(case_begin(&c), SEL_OK);
    limit_files(100);
    sel_status status = case_write(&c, 0, true);
    status = status ? status : sel_writer_drain(c.context.writer, &c.error);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, SEL_BAD_FILE);
    assert_non_null(strstr(c.error.text, "picture/picture_00000000.png: File too large"));
    assert_null(case_file(&c, "picture/picture_00000000.png", NULL));
    assert_null(case_file(&c, "picture/picture_00000000.png.tmp", NULL));
    case_close(&c);
}

/* One of several pictures of a case, which need names: a to d. */
static sel_picture_params *add_numbered(output_case *c, int number, const char *field) {
    static const char *const names[] = {"a", "b", "c", "d"};
    sel_picture_params *params = add_picture(c, field);
    params->common.name = names[number];
    return params;
}

static void what_cannot_be_drawn_is_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_picture_params *params[4];
    for (int i = 0; i < 4; i++) {
        params[i] = add_numbered(&c, i, i == 0 ? "presure" : i == 1 ? "stress" : "pressure");
    }
    params[1]->slice.v[2] = 1;
    params[2]->min = params[2]->max = 1;
    params[3]->scale = 1e4;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "test.lua:10: out.picture: sel.fake has no field 'presure'; did you mean 'pressure'? (it "
        "has velocity, pressure, stress, vorticity)\n"
        "test.lua:20: out.picture: 'stress' is a tensor; name a component, such as stress_xy\n"
        "test.lua:20: out.picture: slice is for 3-D domains\n"
        "test.lua:30: out.picture: max must be above min\n"
        "test.lua:40: out.picture: scale = 10000 makes a picture of 40000 x 30000 pixels; 16384 "
        "along a side are allowed");
    case_close(&c);
}

static void a_relief_is_a_field_and_has_to_be_given(void **state) {
    (void)state;
    output_case c;
    sel_picture_params *params[3];
    case_open(&c, 2, 4, 3, 1);
    for (int i = 0; i < 3; i++) {
        params[i] = add_numbered(&c, i, "pressure");
    }
    params[0]->relief = "presure";
    params[1]->relief = "stress";
    params[2]->above = 0.1;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "test.lua:10: out.picture: sel.fake has no field 'presure'; did you mean 'pressure'? (it "
        "has velocity, pressure, stress, vorticity)\n"
        "test.lua:20: out.picture: 'stress' is a tensor; name a component, such as stress_xy\n"
        "test.lua:30: out.picture: above and exaggeration are for a picture with a relief; give "
        "relief, a field of heights");
    case_close(&c);
}

static void slices_must_be_one_plane_of_the_domain(void **state) {
    (void)state;
    output_case c;
    static const char *const names[] = {"none", "two", "below", "above", "long"};
    sel_picture_params *params[5];
    case_open(&c, 3, 4, 3, 2);
    for (int i = 0; i < 5; i++) {
        params[i] = add_picture(&c, "pressure");
        params[i]->common.name = names[i];
    }
    params[1]->slice.v[0] = params[1]->slice.v[1] = 2;
    params[2]->slice.v[0] = 0.9;
    params[3]->slice.v[2] = 1.1;
    params[4]->slice.v[0] = 1;
    params[4]->scale = 6000;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "test.lua:10: out.picture: a picture of a 3-D domain shows a plane: give just one of x, y "
        "and z, as slice = { z = 0.75 }\n"
        "test.lua:20: out.picture: a picture of a 3-D domain shows a plane: give just one of x, y "
        "and z, as slice = { z = 0.75 }\n"
        "test.lua:30: out.picture: slice x = 0.9 lies outside the domain, which is [1, 3]\n"
        "test.lua:40: out.picture: slice z = 1.1 lies outside the domain, which is [0, 1]\n"
        "test.lua:50: out.picture: scale = 6000 makes a picture of 18000 x 12000 pixels; 16384 "
        "along a side are allowed");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_as_they_were_when_looked_at),
        cmocka_unit_test(fields_of_both_signs_are_white_at_zero),
        cmocka_unit_test(usual_pictures_are_about_1000_pixels_long),
        cmocka_unit_test(pictures_of_oblong_cells_keep_their_shape),
        cmocka_unit_test(reliefs_are_lit_from_the_north_west),
        cmocka_unit_test(gentle_reliefs_are_exaggerated),
        cmocka_unit_test(ground_beside_heights_that_are_no_numbers_is_flat),
        cmocka_unit_test(cells_without_data_are_blank_and_cast_no_shade),
        cmocka_unit_test(a_full_disk_leaves_no_picture),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
        cmocka_unit_test(a_relief_is_a_field_and_has_to_be_given),
        cmocka_unit_test(slices_must_be_one_plane_of_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
