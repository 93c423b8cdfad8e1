/* test_raster_tif.c -- GeoTIFF grids made by libtiff: kinds of numbers, packings, places, keys. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include "engine/io/raster.h"
#include "tests/unit/files.h"
#include "tests/unit/raster_cell.h"

static sel_error error;

/* ---- files to read ---- */

typedef struct recipe {
    int width, height;
    int format, bits; /* 0: float of 32 bits */
    int compression;  /* 0: none */
    int predictor;
    int tile; /* 0: strips of 2 rows */
    bool big;
    double value_of_first;
    const double *scale, *tie, *matrix;
    int ties;
    bool points;
    const char *nodata, *metadata;
    int samples; /* 0: 1 */
} recipe;

static const TIFFFieldInfo tags[] = {
    {SEL_TAG_PIXEL_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "s"},
    {SEL_TAG_TIE_POINT, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "t"},
    {SEL_TAG_TRANSFORMATION, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "m"},
    {SEL_TAG_KEY_DIRECTORY, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, (char *)(uintptr_t) "k"},
    {SEL_TAG_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)(uintptr_t) "n"},
    {SEL_TAG_METADATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)(uintptr_t) "d"},
};

/* Value of pixel i of the file, the first row the northernmost. */
static double number(const recipe *r, int64_t i) {
    return i == 0 && r->value_of_first != 0 ? r->value_of_first : (double)(i % 120) + 3;
}

static void put(const recipe *r, uint8_t *to, double value) {
    if (r->format == SAMPLEFORMAT_IEEEFP && r->bits == 64)
        memcpy(to, &value, 8);
    else if (r->format == 0 || r->format == SAMPLEFORMAT_IEEEFP)
        memcpy(to, &(float){(float)value}, 4);
    else
        memcpy(to, &(int64_t){(int64_t)value}, (size_t)r->bits / 8);
}

static void describe(TIFF *t, const recipe *r) {
    static const uint16_t keys[] = {1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, 2};
    TIFFMergeFieldInfo(t, tags, sizeof tags / sizeof *tags);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, r->width);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, r->height);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, r->bits ? r->bits : 32);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, r->format ? r->format : SAMPLEFORMAT_IEEEFP);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, r->samples ? r->samples : 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_COMPRESSION, r->compression ? r->compression : COMPRESSION_NONE);
    if (r->predictor)
        TIFFSetField(t, TIFFTAG_PREDICTOR, r->predictor);
    if (r->tile) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, r->tile);
        TIFFSetField(t, TIFFTAG_TILELENGTH, r->tile);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 2);
    }
    if (r->scale)
        TIFFSetField(t, SEL_TAG_PIXEL_SCALE, 3, r->scale);
    if (r->tie)
        TIFFSetField(t, SEL_TAG_TIE_POINT, r->ties ? r->ties : 6, r->tie);
    if (r->matrix)
        TIFFSetField(t, SEL_TAG_TRANSFORMATION, 16, r->matrix);
    if (r->points)
        TIFFSetField(t, SEL_TAG_KEY_DIRECTORY, 12, keys);
    if (r->nodata)
        TIFFSetField(t, SEL_TAG_NODATA, r->nodata);
    if (r->metadata)
        TIFFSetField(t, SEL_TAG_METADATA, r->metadata);
}

static void write_rows(TIFF *t, const recipe *r) {
    size_t size = (size_t)(r->bits ? r->bits : 32) / 8,
           samples = r->samples ? (size_t)r->samples : 1;
    uint8_t *line = calloc((size_t)r->width * samples, size);
    for (int j = 0; j < r->height; j++) {
        for (int i = 0; i < r->width; i++)
            put(r, line + (size_t)i * samples * size, number(r, (int64_t)j * r->width + i));
        assert_int_equal(TIFFWriteScanline(t, line, (uint32_t)j, 0), 1);
    }
    free(line);
}

static void write_tiles(TIFF *t, const recipe *r) {
    size_t size = (size_t)(r->bits ? r->bits : 32) / 8;
    uint8_t *tile = malloc((size_t)r->tile * (size_t)r->tile * size);
    for (int y = 0; y < r->height; y += r->tile) {
        for (int x = 0; x < r->width; x += r->tile) {
            for (int k = 0; k < r->tile * r->tile; k++) {
                int i = x + k % r->tile, j = y + k / r->tile;
                bool inside = i < r->width && j < r->height;
                put(r, tile + (size_t)k * size, inside ? number(r, (int64_t)j * r->width + i) : 99);
            }
            assert_true(TIFFWriteTile(t, tile, (uint32_t)x, (uint32_t)y, 0, 0) > 0);
        }
    }
    free(tile);
}

static void write_tif(const recipe *r) {
    TIFF *t = TIFFOpen("g.tif", r->big ? "w8" : "w");
    describe(t, r);
    if (r->tile)
        write_tiles(t, r);
    else
        write_rows(t, r);
    TIFFClose(t);
}

static const sel_raster *make(sel_arena *arena) {
    sel_raster_params params = {
        .file = "g.tif", .scale = 1, .offset = 0, .nodata = (double)NAN, .fill = (double)NAN};
    error = (sel_error){.status = SEL_OK};
    return sel_raster_of(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
}

static void reads(const recipe *r) {
    sel_arena *arena = sel_arena_create();
    write_tif(r);
    const sel_raster *raster = make(arena);
    if (!raster)
        fail_msg("%s", error.text);
    assert_true(raster->n[0] == r->width && raster->n[1] == r->height);
    for (int64_t j = 0; j < r->height; j++)
        for (int64_t i = 0; i < r->width; i++)
            assert_true(raster_cell(raster, i, r->height - 1 - j) == number(r, j * r->width + i));
    sel_arena_destroy(arena);
}

static void refused_file(const char *message) {
    sel_arena *arena = sel_arena_create();
    assert_null(make(arena));
    assert_int_equal(error.status, SEL_BAD_FILE);
    assert_string_equal(error.text, message);
    sel_arena_destroy(arena);
}

static void refused(const recipe *r, const char *message) {
    write_tif(r);
    refused_file(message);
}

/* ---- numbers ---- */

static const struct {
    int format, bits;
    double first;
} kinds[] = {{SAMPLEFORMAT_IEEEFP, 32, -0.625},     {SAMPLEFORMAT_IEEEFP, 64, 1.0 / 3},
             {SAMPLEFORMAT_INT, 16, -32768},        {SAMPLEFORMAT_UINT, 16, 65535},
             {SAMPLEFORMAT_UINT, 8, 255},           {SAMPLEFORMAT_INT, 32, -2147483648.0},
             {SAMPLEFORMAT_UINT, 32, 4294967295.0}, {SAMPLEFORMAT_INT, 8, -128}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void every_kind_of_number_is_read(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++)
        reads(&(recipe){.width = 7,
                        .height = 5,
                        .format = kinds[k].format,
                        .bits = kinds[k].bits,
                        .value_of_first = kinds[k].first});
}

static void every_packing_is_undone_in_strips_and_tiles(void **state) {
    (void)state;
    static const int packings[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                   COMPRESSION_DEFLATE};
    for (int k = 0; k < 6 * 4 * 3 * 2; k++) {
        int kind = k % 6, packing = k / 6 % 4, predictor = k / 24 % 3 + 1, tiled = k / 72;
        bool floats = kinds[kind].format == SAMPLEFORMAT_IEEEFP;
        if ((predictor == 3 && !floats) || (packing == 0 && predictor > 1))
            continue;
        reads(&(recipe){.width = 50,
                        .height = 37,
                        .format = kinds[kind].format,
                        .bits = kinds[kind].bits,
                        .value_of_first = kinds[kind].first,
                        .compression = packings[packing],
                        .predictor = packing ? predictor : 0,
                        .tile = tiled ? 16 : 0});
    }
}

static void big_tiffs_are_read(void **state) {
    (void)state;
    reads(&(recipe){.width = 50, .height = 37, .big = true});
    reads(&(recipe){.width = 50,
                    .height = 37,
                    .big = true,
                    .tile = 32,
                    .compression = COMPRESSION_ADOBE_DEFLATE,
                    .predictor = 3});
}

static void no_data_are_what_the_tag_says(void **state) {
    (void)state;
    static const struct {
        int format, bits;
        double first;
        const char *tag;
        bool none;
    } cases[] = {{SAMPLEFORMAT_IEEEFP, 32, -9999, "-9999", true},
                 {SAMPLEFORMAT_IEEEFP, 32, -3.4028234663852886e38, "-3.4028234663852886e+38", true},
                 {SAMPLEFORMAT_IEEEFP, 32, -3.4028234663852886e38, "-3.40282e+38", true},
                 {SAMPLEFORMAT_IEEEFP, 32, -9999, NULL, false},
                 {SAMPLEFORMAT_IEEEFP, 32, -9999, "nan", false},
                 {SAMPLEFORMAT_IEEEFP, 64, -(double)INFINITY, " -inf", true},
                 {SAMPLEFORMAT_UINT, 16, 65535, "65535", true},
                 {SAMPLEFORMAT_INT, 32, -2147483647, "-2147483648", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sel_arena *arena = sel_arena_create();
        write_tif(&(recipe){.width = 2,
                            .height = 2,
                            .format = cases[k].format,
                            .bits = cases[k].bits,
                            .value_of_first = cases[k].first,
                            .nodata = cases[k].tag});
        const sel_raster *raster = make(arena);
        assert_non_null(raster);
        assert_int_equal(raster_nodata(raster, 0, 1), cases[k].none);
        assert_false(raster_nodata(raster, 1, 1));
        sel_arena_destroy(arena);
    }
}

/* Decimetres above 100 m, as GDAL says it. The script's own scale comes behind the file's. */
static void the_scale_and_the_offset_of_a_file_are_applied(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "g.tif", .scale = 2, .offset = -1, .nodata = (double)NAN, .fill = (double)NAN};
    recipe r = {.width = 2,
                .height = 2,
                .format = SAMPLEFORMAT_INT,
                .bits = 16,
                .value_of_first = -9999,
                .nodata = "-9999",
                .metadata = "<GDALMetadata>\n"
                            "  <Item name=\"SCALE\" sample=\"1\" role=\"scale\">7</Item>\n"
                            "  <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">100</Item>\n"
                            "  <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.125</Item>\n"
                            "</GDALMetadata>\n"};
    write_tif(&r);
    const sel_raster *raster = make(arena);
    assert_non_null(raster);
    assert_true(raster_nodata(raster, 0, 1));
    assert_true(raster_cell(raster, 1, 1) == 100 + 4 * 0.125);
    raster = sel_raster_of(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
    assert_non_null(raster);
    assert_true(raster_cell(raster, 1, 0) == 2 * (100 + 6 * 0.125) - 1);
    r.metadata = "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">0</Item>";
    refused(&r, "g.tif: its metadata give its values the scale 0 and the offset 0");
    sel_arena_destroy(arena);
}

/* ---- places ---- */

static void lies_at(const recipe *r, double x, double y, double side) {
    sel_arena *arena = sel_arena_create();
    write_tif(r);
    const sel_raster *raster = make(arena);
    if (!raster)
        fail_msg("%s", error.text);
    assert_true(raster->origin[0] == x && raster->origin[1] == y && raster->dx == side);
    sel_arena_destroy(arena);
}

static const double ten[] = {10, 10, 0}, corner[] = {0, 0, 0, 500000, 5000100, 0};

static void the_tie_point_places_the_picture(void **state) {
    (void)state;
    recipe r = {.width = 4, .height = 3, .scale = ten, .tie = corner};
    lies_at(&r, 500000, 5000070, 10);
    r.points = true; /* the tie is the centre of the first pixel */
    lies_at(&r, 499995, 5000075, 10);
    r.points = false;
    r.tie = (const double[]){1, 2, 0, 500000, 5000100, 0};
    lies_at(&r, 499990, 5000090, 10);
    lies_at(&(recipe){.width = 4, .height = 3}, 0, 0, 1);
}

static void a_transformation_places_it_when_it_does_not_turn(void **state) {
    (void)state;
    const double straight[16] = {10, 0, 0, 500000, 0, -10, 0, 5000100, 0, 0, 0, 0, 0, 0, 0, 1};
    const double turned[16] = {10, 1, 0, 500000, 1, -10, 0, 5000100, 0, 0, 0, 0, 0, 0, 0, 1};
    recipe r = {.width = 4, .height = 3, .matrix = straight};
    lies_at(&r, 500000, 5000070, 10);
    r.points = true;
    lies_at(&r, 499995, 5000075, 10);
    r.matrix = turned;
    refused(&r, "g.tif: is a rotated grid; turn it with gdalwarp first");
    r.matrix = (const double[16]){-10, 0, 0, 500000, 0, -10, 0, 5000100, [15] = 1};
    refused(&r, "g.tif: its pixels of -10 x 10 at 500000, 5000100 do not run from the west to the "
                "east; turn it with gdalwarp first");
}

/* The first row of the file is the southernmost. */
static void rows_from_south_to_north_are_turned_over(void **state) {
    (void)state;
    const double upwards[16] = {10, 0, 0, 500000, 0, 10, 0, 5000100, 0, 0, 0, 0, 0, 0, 0, 1};
    recipe r = {.width = 4, .height = 3, .matrix = upwards};
    lies_at(&r, 500000, 5000100, 10);
    for (int points = 0; points < 2; points++) {
        sel_arena *arena = sel_arena_create();
        const sel_raster *raster = make(arena);
        assert_non_null(raster);
        for (int64_t i = 0; i < 12; i++)
            assert_true(raster_cell(raster, i % 4, i / 4) == number(&r, i));
        sel_arena_destroy(arena);
        r = (recipe){.width = 4, .height = 3, .scale = (const double[]){10, -10, 0}, .tie = corner};
        lies_at(&r, 500000, 5000100, 10);
    }
    r = (recipe){.width = 4, .height = 3, .matrix = upwards, .points = true};
    lies_at(&r, 499995, 5000095, 10);
}

static void places_that_are_not_clear_are_refused(void **state) {
    (void)state;
    recipe r = {.width = 4, .height = 3, .scale = (const double[]){10, 20, 0}, .tie = corner};
    refused(&r, "g.tif: its cells of 10 x 20 are not square; gdalwarp -tr makes them so");
    r.scale = (const double[]){1e300, 1e300, 0};
    r.tie = (const double[]){1e300, 0, 0, 0, 0, 0};
    refused(&r, "g.tif: its corners are not finite numbers");
    static const char lost[] = "g.tif: has not all the tags that place it: a pixel scale (33550) "
                               "and a tie point (33922), or a transformation (34264)";
    refused(&(recipe){.width = 4, .height = 3, .scale = ten}, lost);
    refused(&(recipe){.width = 4, .height = 3, .tie = corner}, lost);
}

/* ---- what is refused ---- */

#define WITHOUT_GDAL \
    "; with libgdal it is read: install libgdal32 (Debian 12; other systems: gdal-bin brings it)"

static void other_pictures_are_refused(void **state) {
    (void)state;
    refused(&(recipe){.width = 4, .height = 3, .samples = 3},
            "g.tif: has 3 values per pixel, a grid has one; gdal_translate -b 1 takes the first");
    refused(&(recipe){.width = 4, .height = 3, .format = SAMPLEFORMAT_INT, .bits = 64},
            "g.tif: has numbers of 64 bits and format 2; 8, 16 and 32 bits whole, 32 and 64 bits "
            "floating are read" WITHOUT_GDAL);
    refused(&(recipe){.width = 4, .height = 3, .compression = COMPRESSION_PACKBITS},
            "g.tif: is compressed by method 32773; none, LZW and deflate are read: gdal_translate "
            "-co COMPRESS=DEFLATE" WITHOUT_GDAL);
}

static void overwrite(long at, const void *bytes, size_t count) {
    FILE *file = fopen("g.tif", "rb+");
    fseek(file, at, SEEK_SET);
    fwrite(bytes, 1, count, file);
    fclose(file);
}

/* The place of the value of a tag in a little-endian file. */
static long value_of_tag(uint16_t tag) {
    size_t size = 0;
    char *bytes = read_whole("g.tif", &size);
    long found = -1;
    for (size_t i = 8; i + 12 <= size && found < 0; i++) {
        uint16_t here, type;
        uint32_t count;
        memcpy(&here, bytes + i, 2);
        memcpy(&type, bytes + i + 2, 2);
        memcpy(&count, bytes + i + 4, 4);
        if (here == tag && (type == 3 || type == 4) && count == 1)
            found = (long)i + 8;
    }
    free(bytes);
    assert_true(found > 0);
    return found;
}

static void bombs_are_refused_before_memory_is_taken(void **state) {
    (void)state;
    recipe r = {.width = 4, .height = 4, .compression = COMPRESSION_ADOBE_DEFLATE};
    write_tif(&r);
    overwrite(value_of_tag(TIFFTAG_IMAGEWIDTH), &(uint16_t){65535}, 2);
    overwrite(value_of_tag(TIFFTAG_IMAGELENGTH), &(uint16_t){65535}, 2);
    sel_arena *arena = sel_arena_create();
    assert_null(make(arena));
    assert_non_null(strstr(error.text, "bytes cannot hold the 65535 x 65535 pixels"));
    assert_true(arena->held < 1 << 20);
    r.tile = 16;
    write_tif(&r);
    overwrite(value_of_tag(TIFFTAG_TILEWIDTH), &(uint16_t){65520}, 2);
    assert_null(make(arena));
    assert_non_null(strstr(error.text, "bytes cannot hold the 4 x 4 pixels"));
    sel_arena_destroy(arena);
}

/* 324 million values, of which the file holds a row. */
static void values_beyond_the_limit_are_refused_before_memory_is_taken(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "g.tif", .scale = 1, .nodata = (double)NAN, .fill = (double)NAN};
    static uint8_t row[18000];
    TIFF *t = TIFFOpen("g.tif", "w");
    describe(t, &(recipe){.width = 18000, .height = 18000, .format = SAMPLEFORMAT_UINT, .bits = 8});
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 1);
    assert_true(TIFFWriteEncodedStrip(t, 0, row, sizeof row) > 0);
    TIFFClose(t);
    error = (sel_error){.status = SEL_OK};
    params.most_bytes = (size_t)512 << 20;
    assert_null(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
    assert_int_equal(error.status, SEL_BAD_SCENARIO);
    assert_string_equal(error.text,
                        "g.tif: its 18000 x 18000 values take 2.59 GB of memory, a script's data "
                        "may take 537 MB more; gdalwarp -tr makes fewer of them, -te cuts out a "
                        "part, --trust lifts the limit");
    assert_true(arena->held < 1 << 20);
    sel_arena_destroy(arena);
}

static void broken_files_give_the_message_of_libtiff(void **state) {
    (void)state;
    FILE *file = fopen("g.tif", "wb");
    fputs("nothing", file);
    fclose(file);
    refused_file("g.tif: is no GeoTIFF that can be read: Cannot read TIFF header");
    recipe r = {.width = 400, .height = 300, .compression = COMPRESSION_ADOBE_DEFLATE};
    write_tif(&r);
    overwrite(300, "garbage garbage", 15);
    sel_arena *arena = sel_arena_create();
    assert_null(make(arena));
    assert_non_null(strstr(error.text, "g.tif: is no GeoTIFF that can be read: "));
    sel_arena_destroy(arena);
}

int main(void) {
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandler(NULL);
    setenv("SELENITE_GDAL", "0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_number_is_read),
        cmocka_unit_test(every_packing_is_undone_in_strips_and_tiles),
        cmocka_unit_test(big_tiffs_are_read),
        cmocka_unit_test(no_data_are_what_the_tag_says),
        cmocka_unit_test(the_scale_and_the_offset_of_a_file_are_applied),
        cmocka_unit_test(the_tie_point_places_the_picture),
        cmocka_unit_test(a_transformation_places_it_when_it_does_not_turn),
        cmocka_unit_test(rows_from_south_to_north_are_turned_over),
        cmocka_unit_test(places_that_are_not_clear_are_refused),
        cmocka_unit_test(other_pictures_are_refused),
        cmocka_unit_test(bombs_are_refused_before_memory_is_taken),
        cmocka_unit_test(values_beyond_the_limit_are_refused_before_memory_is_taken),
        cmocka_unit_test(broken_files_give_the_message_of_libtiff),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
