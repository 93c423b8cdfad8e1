/* test_map_unit.c -- units of maps: by text, by keys, by numbers of the registry; turned into
 * metres. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/io/raster.h"
#include "tests/unit/files.h"
#include "tests/unit/raster_cell.h"

static sel_error error;
static const double us_foot = 1200.0 / 3937;

#define GEOGCS                                                                     \
    "GEOGCS[\"GCS\",DATUM[\"D\",SPHEROID[\"GRS\",6378137,298]],UNIT[\"Degree\",0." \
    "0174532925199433]]"

static void is_text(const char *prj, double place, double height) {
    sel_arena *arena = sel_arena_create();
    sel_raster_file file = {.prj = prj};
    sel_map_find_units(arena, &file, NULL);
    if (!(file.place.metres == place || (isnan(place) && isnan(file.place.metres))) ||
        !(file.height.metres == height || (isnan(height) && isnan(file.height.metres))))
        fail_msg("%s: %.17g %.17g", prj, file.place.metres, file.height.metres);
    sel_arena_destroy(arena);
}

static void a_prj_names_the_unit_of_its_projection(void **state) {
    (void)state;
    is_text("PROJCS[\"a\"," GEOGCS ",PROJECTION[\"x\"],UNIT[\"Meter\",1.0]]", 1, 0);
    is_text("PROJCS[\"a\"," GEOGCS ",UNIT[\"Foot_US\",0.3048006096012192]]", us_foot, 0);
    is_text("PROJCS[\"a\"," GEOGCS ",UNIT[\"US survey foot\",0.3048006]]", us_foot, 0);
    is_text("PROJCS[\"a\"," GEOGCS ",UNIT[\"Foot\",0.3048]]", 0.3048, 0);
    is_text("PROJCS[\"a\"," GEOGCS ",UNIT[\"kilometre\",1000]]", 1000, 0);
    is_text("PROJCS[\"a (x], UNIT)\"," GEOGCS ",UNIT[\"smoot\",1.7018]]", 1.7018, 0);
    is_text("PROJCS[\"a\"," GEOGCS ",UNIT[\"smoot\"]]", (double)NAN, 0);
    is_text("LOCAL_CS[\"mine\",UNIT[\"Foot_US\",0.304800609601219]]", us_foot, 0);
    is_text(GEOGCS, 0, 0);
    is_text("PROJCRS[\"a\",BASEGEOGCRS[\"b\",PRIMEM[\"G\",0,ANGLEUNIT[\"degree\",0.0174]]],"
            "CS[Cartesian,2],AXIS[\"E\",east,ORDER[1],LENGTHUNIT[\"US survey "
            "foot\",0.304800609601219]],"
            "AXIS[\"N\",north,ORDER[2],LENGTHUNIT[\"US survey foot\",0.304800609601219]]]",
            us_foot, 0);
    is_text("PROJCRS[\"a\",CS[Cartesian,2],AXIS[\"E\",east,LENGTHUNIT[\"metre\",1]],"
            "AXIS[\"N\",north,LENGTHUNIT[\"foot\",0.3048]]]",
            (double)NAN, 0);
    is_text("Projection STATEPLANE\nUnits FEET\nZunits NO\n", us_foot, 0);
    is_text("Projection UTM\nZone 13\nUnits METERS\nZunits 100\n", 1, 0.01);
}

static void a_compound_prj_names_both_units(void **state) {
    (void)state;
    static const char plane[] = "PROJCS[\"a\"," GEOGCS ",UNIT[\"Meter\",1]]";
    char text[1000];
    snprintf(text, sizeof text,
             "COMPD_CS[\"c\",%s,VERT_CS[\"v\",VERT_DATUM[\"d\",2005],"
             "UNIT[\"foot\",0.3048],AXIS[\"Up\",UP]]]",
             plane);
    is_text(text, 1, 0.3048);
    snprintf(text, sizeof text,
             "%s,VERTCS[\"v\",VDATUM[\"d\"],PARAMETER[\"Direction\",1.0],"
             "UNIT[\"Foot_US\",0.3048006096012192]]",
             plane);
    is_text(text, 1, us_foot);
    snprintf(text, sizeof text,
             "COMPD_CS[\"c\",%s,VERT_CS[\"v\",UNIT[\"metre\",1],"
             "AXIS[\"Depth\",DOWN]]]",
             plane);
    is_text(text, 1, (double)NAN);
}

/* In GeoTIFF's keys. */
static void keys_are(const uint16_t *keys, size_t count, const char *unit, double place,
                     double height) {
    static const double doubles[] = {0.25};
    uint16_t directory[40] = {1, 1, 0, (uint16_t)(count / 4)};
    const sel_geo_keys geo = {.directory_count = 4 + count,
                              .directory = directory,
                              .double_count = 1,
                              .doubles = doubles};
    sel_arena *arena = sel_arena_create();
    sel_raster_file file = {.keys = &geo};
    memcpy(directory + 4, keys, count * sizeof *keys);
    sel_map_find_units(arena, &file, unit);
    assert_true(file.place.metres == place || (isnan(place) && isnan(file.place.metres)));
    assert_true(file.height.metres == height || (isnan(height) && isnan(file.height.metres)));
    sel_arena_destroy(arena);
}

#define KEYS(unit, place, height, ...)                                                           \
    keys_are((const uint16_t[]){__VA_ARGS__}, sizeof((const uint16_t[]){__VA_ARGS__}) / 2, unit, \
             place, height)

static void keys_name_units_or_maps_of_the_registry(void **state) {
    (void)state;
    KEYS(NULL, us_foot, 0, 1024, 0, 1, 1, 3072, 0, 1, 2263);
    KEYS(NULL, us_foot, 0, 1024, 0, 1, 1, 3072, 0, 1, 2249);
    KEYS(NULL, 0.3048, 0, 1024, 0, 1, 1, 3072, 0, 1, 2222);
    KEYS(NULL, us_foot, 0, 1024, 0, 1, 1, 3072, 0, 1, 6539);
    KEYS(NULL, us_foot, 0, 1024, 0, 1, 1, 3072, 0, 1, 32045);
    KEYS(NULL, 1, 0, 1024, 0, 1, 1, 3072, 0, 1, 32618);
    KEYS(NULL, 1, 0, 1024, 0, 1, 1, 3072, 0, 1, 25832);
    KEYS(NULL, 1, 0, 1024, 0, 1, 1, 3072, 0, 1, 2056);
    KEYS(NULL, 1000, 0, 1024, 0, 1, 1, 3072, 0, 1, 32767, 3076, 0, 1, 9036);
    KEYS(NULL, 0.25, 0, 1024, 0, 1, 1, 3072, 0, 1, 32767, 3076, 0, 1, 32767, 3077, 34736, 1, 0);
    KEYS(NULL, (double)NAN, 0, 1024, 0, 1, 1, 3072, 0, 1, 11999); /* not issued in 2022 */
    KEYS(NULL, (double)NAN, 0, 1024, 0, 1, 1, 3072, 0, 1, 32767, 3076, 0, 1, 8999);
    KEYS(NULL, 0, 0, 1024, 0, 1, 2, 2048, 0, 1, 4326, 3076, 0, 1, 9001);
    KEYS(NULL, us_foot, us_foot, 3072, 0, 1, 2263, 4096, 0, 1, 6360);
    KEYS(NULL, 1, 0.3048, 3072, 0, 1, 32618, 4096, 0, 1, 5703, 4099, 0, 1, 9002);
    KEYS(NULL, 1, (double)NAN, 3072, 0, 1, 32618, 4096, 0, 1, 5715);
    KEYS("cm", 1, 0.01, 3072, 0, 1, 32618, 4096, 0, 1, 5703);
    KEYS("US survey foot", 1, us_foot, 3072, 0, 1, 32618);
    KEYS("Feet", 1, 0.3048, 3072, 0, 1, 32618);
    KEYS("m3/s", 1, (double)NAN, 3072, 0, 1, 32618);
    KEYS("unknown", 1, 0, 3072, 0, 1, 32618);
}

/* ---- into metres ---- */

static void write_file(const char *path, const char *text) {
    FILE *to = fopen(path, "w");
    fputs(text, to);
    fclose(to);
}

static const sel_lookup *read_feet(sel_arena *arena, sel_raster_params params) {
    write_file("f.prj",
               "PROJCS[\"a\"," GEOGCS ",UNIT[\"Foot\",0.3048]],VERTCS[\"v\",UNIT[\"cm\",0.01]]");
    write_file("f.asc", "ncols 2\nnrows 2\nxllcorner 980000\nyllcorner 200\ncellsize 10\n"
                        "nodata_value -1\n100 -1\n300 400\n");
    params.file = "f.asc";
    params.nodata = (double)NAN;
    error = (sel_error){.status = SEL_OK};
    const sel_lookup *made = sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error);
    if (!made)
        fail_msg("%s", error.text);
    return made;
}

static void lengths_become_metres_and_filled_cells_stay(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    const double nan = (double)NAN;
    const sel_lookup *plain =
        read_feet(arena, (sel_raster_params){.scale = nan, .fill = 7, .offset = 2});
    const sel_raster *r = sel_raster_of(plain);
    assert_true(r->dx == 10 && raster_cell(r, 0, 1) == 102);
    assert_int_equal(sel_raster_to_metres(plain, (sel_where){NULL, 0}, &error), SEL_OK);
    assert_int_equal(sel_raster_to_metres(plain, (sel_where){NULL, 0}, &error), SEL_OK); /* once */
    assert_true(r->dx == 3.048 && r->origin[0] == 980000 * 0.3048 && r->origin[1] == 200 * 0.3048);
    assert_true(raster_cell(r, 0, 1) == 3 && raster_cell(r, 1, 1) == 7);
    assert_true(r->file->dx == 10 && r->file->origin[0] == 980000);
    r = sel_raster_of(
        read_feet(arena, (sel_raster_params){.scale = nan, .fill = nan, .metres = true}));
    assert_true(r->dx == 3.048 && raster_cell(r, 1, 0) == 4 && raster_nodata(r, 1, 1));
    /* A scale of the script is that of the values. */
    r = sel_raster_of(
        read_feet(arena, (sel_raster_params){.scale = 2, .fill = nan, .metres = true}));
    assert_true(r->dx == 3.048 && raster_cell(r, 1, 0) == 800);
    sel_arena_destroy(arena);
}

static void what_the_script_has_read_is_not_changed_under_it(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    const sel_lookup *made = read_feet(arena, (sel_raster_params){.scale = 1, .fill = (double)NAN});
    sel_raster_note_read(made);
    assert_int_equal(sel_raster_to_metres(made, (sel_where){NULL, 0}, &error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(error.text, "sel.raster { \"f.asc\", metres = true }"));
    sel_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prj_names_the_unit_of_its_projection),
        cmocka_unit_test(a_compound_prj_names_both_units),
        cmocka_unit_test(keys_name_units_or_maps_of_the_registry),
        cmocka_unit_test(lengths_become_metres_and_filled_cells_stay),
        cmocka_unit_test(what_the_script_has_read_is_not_changed_under_it),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
