/* test_out_picture.c -- out.picture: PNG files read back pixel by pixel. */
#include <png.h>
#include "engine/output/picture.h"
#include "tests/unit/output_case.h"

/* ---- files ---- */

typedef struct read_picture {
    png_image image;
    sel_colour *pixels;
} read_picture;

static void open_picture(const output_case *c, const char *name, read_picture *picture) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", c->directory, name);
    picture->image = (png_image){.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&picture->image, path) != 0);
    picture->image.format = PNG_FORMAT_RGB;
    picture->pixels = malloc(PNG_IMAGE_SIZE(picture->image));
    assert_true(png_image_finish_read(&picture->image, NULL, picture->pixels, 0, NULL) != 0);
}

/* Pixel (x, y) of the field, which stands in the middle of the canvas. */
static sel_colour field_pixel(const read_picture *picture, int width, int x, int y) {
    int left = ((int)picture->image.width - width) / 2;
    return picture->pixels[(size_t)y * picture->image.width + (size_t)(left + x)];
}

static void assert_colour(sel_colour got, sel_colour expected) {
    assert_int_equal(got.r << 16 | got.g << 8 | got.b,
                     expected.r << 16 | expected.g << 8 | expected.b);
}

static sel_picture_params *add_picture(output_case *c, const char *field) {
    sel_picture_params *picture = case_add(c, &sel_out_picture_table);
    picture->field = field;
    return picture;
}

/* pressure = 10 x + step: 12.5, 17.5, 22.5, 27.5 along x. */
/* One of several pictures of a case, which need names: a to d. */
static sel_picture_params *add_numbered(output_case *c, int number, const char *field) {
    static const char *const names[] = {"a", "b", "c", "d"};
    sel_picture_params *params = add_picture(c, field);
    params->common.name = names[number];
    return params;
}

/* In grey from `min` to `max`. */
static void add_grey(output_case *c, double scale, double min, double max) {
    sel_picture_params *params = add_picture(c, "pressure");
    params->scale = scale;
    params->colours = SEL_COLOURS_GREY;
    params->min = min;
    params->max = max;
}

static void pixels_are_cells_with_the_highest_row_on_top(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[1 + 4 * 2] = 1; /* the second cell of the highest row */
    sel_picture_params *params = add_picture(&c, "pressure");
    params->scale = 1;
    params->colours = SEL_COLOURS_GREY;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_listed(&c, "\"picture/picture_00000000.png\"");
    open_picture(&c, "picture/picture_00000000.png", &picture);
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 4; x++) {
            bool solid = x == 1 && y == 0;
            sel_colour expected = solid ? (sel_colour){150, 150, 150} : table[x * 85];
            assert_colour(field_pixel(&picture, 4, x, y), expected);
        }
    }
    free(picture.pixels);
    case_close(&c);
}

/* Between centres the value is linear; beyond the last ones it holds; solids have no part in it. */
static void larger_pictures_are_linear_between_centres(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[3] = 1; /* the last cell of the lowest row */
    add_grey(&c, 10, 10, 30);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    open_picture(&c, "picture/picture_00000000.png", &picture);
    for (int x = 0; x < 40; x++) {
        double cell = fmin(fmax((x + 0.5) / 10 - 0.5, 0), 3), value = 12.5 + 5 * cell;
        sel_colour expected = table[(int)((value - 10) / 20 * 255 + 0.5)];
        assert_colour(field_pixel(&picture, 40, x, 5), expected);
        value = fmin(value, 22.5);
        sel_colour beside = table[(int)((value - 10) / 20 * 255 + 0.5)];
        assert_colour(field_pixel(&picture, 40, x, 29),
                      x < 30 ? beside : (sel_colour){150, 150, 150});
    }
    free(picture.pixels);
    case_close(&c);
}

/* Pixels of four cells by four: cells 2, 6, ... are read. */
static void smaller_pictures_are_linear_between_the_cells_that_are_read(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 2, 40, 9, 1);
    c.domain.cell[6 + 40 * 2] = 1; /* it is read */
    c.domain.cell[9 + 40 * 2] = 1; /* it is not */
    add_grey(&c, 0.25, 10, 210);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    open_picture(&c, "picture/picture_00000000.png", &picture);
    for (int x = 0; x < 10; x++) {
        const double cell = fmax(4 * x + 1.5, 2);
        for (int low = 0; low < 2; low++) { /* beside the solid the value holds */
            const double value = 12.5 + 5 * (low && x == 2 ? 10 : cell);
            const sel_colour expected = table[(int)((value - 10) / 200 * 255 + 0.5)];
            assert_colour(field_pixel(&picture, 10, x, low),
                          low && x == 1 ? (sel_colour){150, 150, 150} : expected);
        }
    }
    free(picture.pixels);
    case_close(&c);
}

/* velocity = (1, 2) + 2 x - 3 y: the magnitude, and x = 1.25, y = 2.25: 1 + 2.5 - 6.75. */
static void vectors_are_drawn_by_magnitude_and_components_by_value(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 2, 4, 3, 1);
    for (int i = 0; i < 2; i++) {
        sel_picture_params *params = add_picture(&c, i ? "velocity_x" : "velocity");
        params->common.name = i ? "x" : "all";
        params->scale = 1;
        params->colours = SEL_COLOURS_GREY;
        params->min = i ? -4 : 0;
        params->max = i ? 0 : 5;
    }
    assert_int_equal(case_run(&c, 0), SEL_OK);
    open_picture(&c, "all/all_00000000.png", &picture);
    double magnitude = hypot(3.25, 2.25);
    assert_colour(field_pixel(&picture, 4, 0, 2), table[(int)(magnitude / 5 * 255 + 0.5)]);
    free(picture.pixels);
    open_picture(&c, "x/x_00000000.png", &picture);
    assert_colour(field_pixel(&picture, 4, 0, 2), table[(int)(0.75 / 4 * 255 + 0.5)]);
    free(picture.pixels);
    case_close(&c);
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

static sel_picture_params *add_slice(output_case *c, int axis, double place) {
    sel_picture_params *params = add_picture(c, "velocity_x");
    params->slice.v[axis] = place;
    params->colours = SEL_COLOURS_GREY;
    params->scale = 1;
    params->min = -10;
    params->max = 10;
    return params;
}

/* The colours of the field 1 + 2 x - 3 y + 5 z on a plane of the case of 4 x 3 x 2 cells: the first
 * of the plane's axes runs to the right, the other one up. */
static void assert_plane(const output_case *c, int axis, double place) {
    static const int right[] = {1, 0, 0}, up[] = {2, 2, 1}, n[] = {4, 3, 2};
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    open_picture(c, "picture/picture_00000000.png", &picture);
    for (int j = 0; j < n[up[axis]]; j++) {
        for (int i = 0; i < n[right[axis]]; i++) {
            double p[3];
            p[axis] = place;
            p[right[axis]] = sel_centre(&c->domain.grid, right[axis], i);
            p[up[axis]] = sel_centre(&c->domain.grid, up[axis], n[up[axis]] - 1 - j);
            double value = 1 + 2 * p[0] - 3 * p[1] + 5 * p[2];
            assert_colour(field_pixel(&picture, n[right[axis]], i, j),
                          table[(int)((value + 10) / 20 * 255 + 0.5)]);
        }
    }
    free(picture.pixels);
}

static void slices_are_linear_between_two_layers_and_read_no_more(void **state) {
    (void)state;
    static const double between[] = {1.9, 2.7, 0.6}, centre[] = {1.75, 3.25, 0.25};
    static const int64_t cells[] = {6, 8, 12}; /* of a layer */
    for (int axis = 0; axis < 3; axis++) {
        for (int two = 0; two <= 1; two++) {
            output_case c;
            double place = two ? between[axis] : centre[axis];
            case_open(&c, 3, 4, 3, 2);
            add_slice(&c, axis, place);
            assert_int_equal(case_run(&c, 0), SEL_OK);
            assert_plane(&c, axis, place);
            assert_int_equal(c.state.cells_read, (two + 1) * cells[axis]);
            case_close(&c);
        }
    }
}

/* x = 1 is half a cell outside of the first centre, and between the last and the first. */
static void slices_at_the_border_keep_the_last_layer_or_wrap(void **state) {
    (void)state;
    for (int periodic = 0; periodic <= 1; periodic++) {
        for (int side = 0; side <= 1; side++) {
            output_case c;
            case_open(&c, 3, 4, 3, 2);
            c.domain.grid.periodic = (unsigned)periodic;
            add_slice(&c, 0, side ? 3 : 1);
            assert_int_equal(case_run(&c, 0), SEL_OK);
            assert_plane(&c, 0, periodic ? (1.25 + 2.75) / 2 : side ? 2.75 : 1.25);
            case_close(&c);
        }
    }
    output_case c;
    case_open(&c, 3, 4, 3, 2);
    c.domain.grid.periodic = 1;
    add_slice(&c, 0, 1.05); /* 0.6 of the first layer, 0.4 of the last */
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_plane(&c, 0, 0.6 * 1.25 + 0.4 * 2.75);
    case_close(&c);
}

/* The first cell of the lower layer and the second of the upper one are solid, the third in both;
 * the layers meet at z = 0.5. */
static void slices_draw_the_solids_that_hold_their_plane(void **state) {
    (void)state;
    static const double places[] = {0.45, 0.5, 0.55};
    static const bool solid[][4] = {
        {true, false, true, false}, {false, false, true, false}, {false, true, true, false}};
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    for (int k = 0; k < 3; k++) {
        output_case c;
        read_picture picture;
        case_open(&c, 3, 4, 3, 2);
        c.domain.cell[0] = c.domain.cell[12 + 1] = c.domain.cell[2] = c.domain.cell[12 + 2] = 1;
        add_slice(&c, 2, places[k]);
        assert_int_equal(case_run(&c, 0), SEL_OK);
        open_picture(&c, "picture/picture_00000000.png", &picture);
        for (int x = 0; x < 4; x++) {
            /* Beside a solid the value of the free centre holds. */
            double z = x == 0 ? 0.75 : x == 1 ? 0.25 : places[k];
            double value = 1 + 2 * (1.25 + 0.5 * x) - 3 * 2.25 + 5 * z;
            assert_colour(field_pixel(&picture, 4, x, 2),
                          solid[k][x] ? (sel_colour){150, 150, 150}
                                      : table[(int)((value + 10) / 20 * 255 + 0.5)]);
        }
        free(picture.pixels);
        case_close(&c);
    }
}

/* At z = 0.35, (x, y) = (1.25, 2.25): the magnitude of what lies between, not the mean of two. */
static void vectors_of_slices_are_drawn_by_magnitude(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 3, 4, 3, 2);
    add_slice(&c, 2, 0.35)->field = "velocity";
    assert_int_equal(case_run(&c, 0), SEL_OK);
    double x = 1 + 2.5 - 6.75 + 1.75,
           magnitude = sqrt(x * x + (x + 1) * (x + 1) + (x + 2) * (x + 2));
    open_picture(&c, "picture/picture_00000000.png", &picture);
    assert_colour(field_pixel(&picture, 4, 0, 2), table[(int)((magnitude + 10) / 20 * 255 + 0.5)]);
    free(picture.pixels);
    case_close(&c);
}

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

/* The field ends with the first and the last node: 10 x from 10 to 30. */
static void pictures_of_nodes_reach_from_node_to_node(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 2, 5, 4, 1);
    c.domain.grid.nodes = true;
    add_grey(&c, 100, 10, 30);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    open_picture(&c, "picture/picture_00000000.png", &picture);
    assert_int_equal(picture.image.width, 400);
    assert_colour(field_pixel(&picture, 400, 0, 299), table[0]);
    assert_colour(field_pixel(&picture, 400, 200, 0), table[128]);
    assert_colour(field_pixel(&picture, 400, 399, 150), table[255]);
    free(picture.pixels);
    case_close(&c);
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

/* Slopes of 1 : 1000 are drawn as of 1 : 2, steep ones as they are. */
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

static void gentle_reliefs_are_exaggerated(void **state) {
    (void)state;
    assert_int_equal(brightness_of_plane(0.01, 0, (double)NAN), brightness_of_plane(5, 0, 1));
    assert_int_equal(brightness_of_plane(0.01, 0, 300), brightness_of_plane(3, 0, 1));
    assert_int_equal(brightness_of_plane(20, 0, (double)NAN), brightness_of_plane(20, 0, 1));
    assert_true(brightness_of_plane(20, 0, 1) != brightness_of_plane(5, 0, 1));
}

static void water_lies_over_the_relief_where_it_exceeds_above(void **state) {
    (void)state;
    const int64_t n[2] = {4, 1};
    const float values[] = {0, 0.04F, 0.06F, 2}, heights[] = {1, 1, 1, 1};
    const uint8_t solid[4] = {0};
    const double flat = 255 * sel_relief_flat();
    sel_colour pixel[4], table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_WATER, table);
    draw_relief(n, values, solid, heights, 1, pixel);
    for (int i = 0; i < 2; i++) {
        assert_true(is_grey(pixel[i]) && pixel[i].r == lround(flat));
    }
    const sel_colour shallow = table[(int)(0.03 * 255 + 0.5)], deep = table[255];
    assert_int_equal(pixel[2].b, lround(0.75 * shallow.b + 0.25 * lround(flat)));
    assert_int_equal(pixel[3].r, lround(0.75 * deep.r + 0.25 * lround(flat)));
    assert_true(pixel[2].b > pixel[2].r + 20 && pixel[3].g < pixel[2].g);
}

/* A hill of the same shape, dry and under water: its relief shows through. */
static void water_shows_the_relief_beneath(void **state) {
    (void)state;
    const int64_t n[2] = {5, 1};
    const float wet[] = {1, 1, 1, 1, 1}, heights[] = {0, 0, 5, 0, 0};
    const uint8_t solid[5] = {0};
    sel_colour pixel[5];
    draw_relief(n, wet, solid, heights, 1, pixel);
    assert_true(pixel[1].g > pixel[2].g && pixel[2].g > pixel[3].g);
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

/* The relief is the field 10 x, which rises eastwards by 5 a cell of 0.5: steep, lit from the west
 * at 0.2 + 0.8 (0.5 * 10 + 0.7071) / sqrt(101) of the brightest. velocity_x = 1 + 2 x - 3 y is
 * above -2.5 in the lowest row alone, -2.25 and -1.25 in its middle; the first cell there has no
 * data, the last is a wall. */
static void files_show_a_field_over_a_relief(void **state) {
    (void)state;
    output_case c;
    read_picture picture;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_GREY, table);
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[0] = (uint8_t)c.domain.region_count;
    c.domain.nodata = c.domain.region_count;
    c.domain.cell[3] = 1;
    sel_picture_params *params = add_picture(&c, "velocity_x");
    params->relief = "pressure";
    params->exaggeration = 1;
    params->above = -2.5;
    params->scale = 1;
    params->colours = SEL_COLOURS_GREY;
    params->min = -2.5;
    params->max = 1.5;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    open_picture(&c, "picture/picture_00000000.png", &picture);
    int ground = (int)lround(255 * (0.2 + 0.8 * (5 + sqrt(0.5)) / sqrt(101)));
    assert_colour(field_pixel(&picture, 4, 0, 2), (sel_colour){255, 255, 255});
    assert_colour(field_pixel(&picture, 4, 3, 2), (sel_colour){150, 150, 150});
    for (int x = 1; x < 3; x++) {
        double value = 1 + 2 * (1.25 + 0.5 * x) - 3 * 2.25;
        sel_colour layer = table[(int)((value + 2.5) / 4 * 255 + 0.5)];
        int seen = (int)lround(0.75 * layer.r + 0.25 * ground);
        assert_int_equal(field_pixel(&picture, 4, x, 2).r, seen);
        assert_int_equal(field_pixel(&picture, 4, x, 0).r, ground); /* y = 3.25 */
    }
    c.domain.nodata = 0;
    free(picture.pixels);
    case_close(&c);
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
        cmocka_unit_test(pixels_are_cells_with_the_highest_row_on_top),
        cmocka_unit_test(larger_pictures_are_linear_between_centres),
        cmocka_unit_test(smaller_pictures_are_linear_between_the_cells_that_are_read),
        cmocka_unit_test(vectors_are_drawn_by_magnitude_and_components_by_value),
        cmocka_unit_test(fields_of_both_signs_are_white_at_zero),
        cmocka_unit_test(slices_are_linear_between_two_layers_and_read_no_more),
        cmocka_unit_test(slices_at_the_border_keep_the_last_layer_or_wrap),
        cmocka_unit_test(slices_draw_the_solids_that_hold_their_plane),
        cmocka_unit_test(vectors_of_slices_are_drawn_by_magnitude),
        cmocka_unit_test(usual_pictures_are_about_1000_pixels_long),
        cmocka_unit_test(pictures_of_oblong_cells_keep_their_shape),
        cmocka_unit_test(pictures_of_nodes_reach_from_node_to_node),
        cmocka_unit_test(reliefs_are_lit_from_the_north_west),
        cmocka_unit_test(gentle_reliefs_are_exaggerated),
        cmocka_unit_test(ground_beside_heights_that_are_no_numbers_is_flat),
        cmocka_unit_test(water_lies_over_the_relief_where_it_exceeds_above),
        cmocka_unit_test(water_shows_the_relief_beneath),
        cmocka_unit_test(cells_without_data_are_blank_and_cast_no_shade),
        cmocka_unit_test(files_show_a_field_over_a_relief),
        cmocka_unit_test(a_full_disk_leaves_no_picture),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
        cmocka_unit_test(a_relief_is_a_field_and_has_to_be_given),
        cmocka_unit_test(slices_must_be_one_plane_of_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
