/* test_out_grid.c -- out.grid: map files read back by our readers and by GDAL. */
#include <tiffio.h>
#include <unistd.h>
#include "engine/values/quantity.h"
#include "engine/io/raster.h"
#include "tests/unit/output_case.h"
#include "tests/unit/raster_cell.h"

static sel_error error;

static const sel_raster *read_back(sel_arena *arena, const char *path) {
    sel_raster_params params = {
        .file = path, .scale = 1, .offset = 0, .nodata = (double)NAN, .fill = (double)NAN};
    error = (sel_error){.status = SEL_OK};
    const sel_lookup *found = sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error);
    if (!found)
        fail_msg("%s", error.text);
    return sel_raster_of(found);
}

static sel_grid_params *add_grid(output_case *c, const char *field, int format) {
    sel_grid_params *grid = case_add(c, &sel_out_grid_table);
    grid->field = field;
    grid->format = format;
    return grid;
}

/* pressure = 10 x + step at x = 1.25, 1.75, ... */
static void the_north_comes_first_and_solids_have_no_data(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 3, 2, 1);
    c.domain.cell[1] = 1; /* the second cell of the southern row */
    add_grid(&c, "pressure", SEL_GRID_ASC)->common.every = 2;
    assert_int_equal(case_run(&c, 2), SEL_OK);
    assert_listed(&c, "\"grid/grid_00000000.asc\", \"grid/grid_00000002.asc\"");
    assert_file(&c, "grid/grid_00000002.asc",
                "ncols 3\nnrows 2\nxllcorner 1\nyllcorner 2\ncellsize 0.5\nNODATA_value -9999.0\n"
                "14.5 19.5 24.5\n14.5 -9999 24.5\n");
    case_close(&c);
}

static void both_formats_read_back_to_the_bit(void **state) {
    (void)state;
    static const char *const names[] = {"a/a_00000007.asc", "b/b_00000007.tif"};
    output_case c;
    case_open(&c, 2, 37, 23, 1);
    c.domain.grid.origin[0] = 500000.1;
    c.domain.grid.origin[1] = 5000000.3;
    c.domain.grid.dx[0] = c.domain.grid.dx[1] = 1.0 / 3;
    c.domain.cell[0] = 1;
    add_grid(&c, "velocity_y", SEL_GRID_ASC)->common.name = "a";
    add_grid(&c, "velocity_y", SEL_GRID_TIF)->common.name = "b";
    assert_int_equal(case_run(&c, 7), SEL_OK);
    for (int k = 0; k < 2; k++) {
        sel_arena *arena = sel_arena_create();
        char path[256];
        snprintf(path, sizeof path, "%s/%s", c.directory, names[k]);
        const sel_raster *r = read_back(arena, path);
        assert_true(r->n[0] == 37 && r->n[1] == 23 && r->dx == 1.0 / 3);
        assert_true(r->origin[0] == 500000.1 && fabs(r->origin[1] - 5000000.3) < 1e-8);
        assert_true(raster_nodata(r, 0, 0));
        for (int64_t i = 1; i < 37 * 23; i++) {
            const int64_t at[3] = {i % 37, i / 37, 0};
            assert_true(raster_cell(r, at[0], at[1]) ==
                        (double)(float)case_value(&c.domain.grid, at, 0, 1, 7));
        }
        sel_arena_destroy(arena);
    }
    case_close(&c);
}

static void vectors_are_written_by_their_magnitude(void **state) {
    (void)state;
    output_case c;
    sel_arena *arena = sel_arena_create();
    char path[256];
    case_open(&c, 2, 4, 3, 1);
    add_grid(&c, "velocity", SEL_GRID_TIF);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    snprintf(path, sizeof path, "%s/grid/grid_00000000.tif", c.directory);
    const sel_raster *r = read_back(arena, path);
    const int64_t at[3] = {3, 1, 0};
    double x = case_value(&c.domain.grid, at, 0, 0, 0), y = case_value(&c.domain.grid, at, 0, 1, 0);
    assert_true(fabs(raster_cell(r, 3, 1) - sqrt(x * x + y * y)) < 1e-5);
    sel_arena_destroy(arena);
    case_close(&c);
}

static void mistakes_are_told_before_the_run(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, 3, 3, 3);
    add_grid(&c, "presure", SEL_GRID_ASC);
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "test.lua:10: out.grid: sel.fake has no field 'presure'; did you mean 'pressure'? (it has "
        "velocity, pressure, stress, vorticity)\n"
        "test.lua:10: out.grid: grids are of two-dimensional domains, this one has 3 dimensions; "
        "out.vtk writes it");
    c.params.output.n = 0;
    free(c.outputs[0].data);
    c.error = (sel_error){.status = SEL_OK};
    c.domain.grid.dims = 2;
    add_grid(&c, "stress", SEL_GRID_ASC);
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "test.lua:10: out.grid: 'stress' is a tensor; name a "
                                      "component, such as stress_xy");
    c.domain.grid.dims = 3;
    sel_writer_create(1, &c.context.writer, NULL);
    case_close(&c);
}

/* ---- files by themselves ---- */

enum { WIDTH = 300, HEIGHT = 200 };

static float *make_values(void) {
    float *value = malloc(WIDTH * HEIGHT * sizeof *value);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        value[i] = i % 11 == 5 ? NAN : (float)(sin(i) * pow(10, i % 60 - 30));
    }
    return value;
}

static void no_file_is_left_when_the_disk_is_full(void **state) {
    (void)state;
    static sel_grid_writer *const writers[] = {sel_asc_write, sel_tif_write};
    float *value = make_values();
    const sel_grid_file grid = {.n = {WIDTH, HEIGHT}, .dx = 1, .value = value};
    for (int k = 0; k < 2; k++) {
        error = (sel_error){.status = SEL_OK};
        limit_files(100000);
        sel_status status = sel_grid_file_write(&grid, writers[k], "full.grid", &error);
        limit_files(RLIM_INFINITY);
        assert_int_equal(status, SEL_BAD_FILE);
        assert_string_equal(error.text, "cannot write full.grid: File too large");
        assert_int_equal(access("full.grid", F_OK), -1);
        assert_int_equal(access("full.grid.tmp", F_OK), -1);
    }
    free(value);
}

/* UTM zone 30 north, pixels by their centres. */
static const uint16_t directory[] = {1, 1, 0,    4,     1024, 0, 1,    1, 1025, 0,
                                     1, 2, 1026, 34737, 8,    0, 3072, 0, 1,    32630};
static const sel_geo_keys utm = {
    sizeof directory / sizeof *directory, 0, 9, directory, NULL, "my place|"};

static void keys_of_the_map_go_through_as_they_are(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    float *value = make_values();
    sel_grid_file grid = {
        .n = {WIDTH, HEIGHT}, .dx = 10, .origin = {500000, 4000000}, .value = value, .keys = &utm};
    assert_int_equal(sel_grid_file_write(&grid, sel_tif_write, "k.tif", &error), SEL_OK);
    const sel_raster *r = read_back(arena, "k.tif");
    assert_true(r->origin[0] == 500000 && r->origin[1] == 4000000);
    const sel_geo_keys *keys = r->file->keys;
    assert_int_equal(keys->directory_count, utm.directory_count);
    assert_memory_equal(keys->directory, directory, sizeof directory);
    assert_int_equal(keys->double_count, 0);
    assert_string_equal(keys->text, utm.text);
    free(value);
    sel_arena_destroy(arena);
}

/* A solver whose ground is a raster hands its keys on. */
static void files_of_a_run_carry_the_keys_of_its_terrain(void **state) {
    (void)state;
    static const sel_table_field rows[] = {
        {"ground", SEL_KIND_QUANTITY, 0, sizeof(sel_common), "", 0, NULL, NULL, NULL}};
    static const sel_table table = {.name = "sel.fake",
                                    .size = sizeof(sel_common) + sizeof(sel_quantity),
                                    .fields = rows,
                                    .count = 1};
    sel_arena *arena = sel_arena_create();
    const sel_raster_file file = {.keys = &utm};
    sel_raster terrain = {.n = {1, 1}, .dx = 1, .value = (double[]){0}, .file = &file};
    const sel_lookup lookup = {SEL_LOOKUP_RASTER, "terrain", 2, NULL, &terrain};
    struct {
        sel_common common;
        sel_quantity ground;
    } params;
    assert_int_equal(offsetof(__typeof__(params), ground), sizeof(sel_common));
    output_case c;
    char path[256];
    case_open(&c, 2, 4, 3, 1);
    add_grid(&c, "pressure", SEL_GRID_TIF);
    sel_solver solver = case_solver;
    solver.table = &table;
    memset(&params, 0, sizeof params);
    params.common = c.params;
    params.ground.components = 1;
    params.ground.part[0].function = sel_lookup_function(arena, &lookup, (sel_where){NULL, 0});
    c.simulation.params = &params.common;
    c.simulation.solver = &solver;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    snprintf(path, sizeof path, "%s/grid/grid_00000000.tif", c.directory);
    const sel_raster *r = read_back(arena, path);
    assert_true(r->origin[0] == 1 && r->origin[1] == 2);
    assert_non_null(r->file->keys);
    assert_memory_equal(r->file->keys->directory, directory, sizeof directory);
    case_close(&c);
    sel_arena_destroy(arena);
}

static const char projected[] =
    "PROJCS[\"WGS_1984_UTM_Zone_30N\",\n GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\","
    "SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],PRIMEM[\"Greenwich\",0.0],"
    "UNIT[\"Degree\",0.0174532925199433]],PROJECTION[\"Transverse_Mercator\"],"
    "PARAMETER[\"False_Easting\",500000.0],PARAMETER[\"False_Northing\",0.0],"
    "PARAMETER[\"Central_Meridian\",-3.0],PARAMETER[\"Scale_Factor\",0.9996],"
    "PARAMETER[\"Latitude_Of_Origin\",0.0],UNIT[\"Meter\",1.0]]\n";

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void a_prj_beside_a_grid_says_what_its_map_is(void **state) {
    (void)state;
    static const struct {
        const char *prj;
        sel_map_unit unit;
    } cases[] = {{projected, SEL_MAP_LENGTH},
                 {"GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\"]]", SEL_MAP_DEGREES},
                 {"Projection    GEOGRAPHIC\nUnits DD\n", SEL_MAP_DEGREES},
                 {"Projection    UTM\nZone 33\n", SEL_MAP_LENGTH},
                 {"", SEL_MAP_UNKNOWN}};
    sel_arena *arena = sel_arena_create();
    write_text("p.asc", "ncols 1 nrows 1 xllcorner 10 yllcorner 50 cellsize 1 7");
    assert_int_equal(sel_map_unit_of(read_back(arena, "p.asc")), SEL_MAP_UNKNOWN);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_text("p.prj", cases[k].prj);
        assert_int_equal(sel_map_unit_of(read_back(arena, "p.asc")), cases[k].unit);
    }
    sel_arena_destroy(arena);
}

/* ---- GDAL ---- */

static bool have_gdal(void) {
    return system("gdal_translate --version >/dev/null 2>&1") == 0;
}

/* What a command of GDAL prints; freed by the caller. */
static char *ask_gdal(const char *command) {
    char line[512];
    snprintf(line, sizeof line, "%s >gdal.txt 2>&1", command);
    if (system(line) != 0)
        fail_msg("%s: %s", command, read_whole("gdal.txt", NULL));
    return read_whole("gdal.txt", NULL);
}

static void gdal_says(const char *file, const char *expected) {
    char command[128];
    snprintf(command, sizeof command, "gdalinfo %s", file);
    char *text = ask_gdal(command);
    if (!strstr(text, expected))
        fail_msg("'%s' is not in:\n%s", expected, text);
    free(text);
}

/* A .prj goes into a GeoTIFF in a way that GDAL knows. */
static void gdal_reads_the_map_of_a_prj(void **state) {
    (void)state;
    if (!have_gdal())
        skip();
    sel_arena *arena = sel_arena_create();
    const float value = 7;
    write_text("q.asc", "ncols 1 nrows 1 xllcorner 500000 yllcorner 4000000 cellsize 10 7");
    write_text("q.prj", projected);
    const sel_raster *r = read_back(arena, "q.asc");
    const sel_grid_file grid = {.n = {1, 1},
                                .dx = 10,
                                .origin = {500000, 4000000},
                                .value = &value,
                                .keys = r->file->keys,
                                .prj = r->file->prj};
    assert_int_equal(sel_grid_file_write(&grid, sel_tif_write, "q.tif", &error), SEL_OK);
    assert_int_equal(sel_grid_file_write(&grid, sel_asc_write, "w.asc", &error), SEL_OK);
    assert_int_equal(sel_grid_file_write(&grid, sel_prj_write, "w.prj", &error), SEL_OK);
    gdal_says("q.tif", "PROJCRS[\"WGS 84 / UTM zone 30N\"");
    gdal_says("w.asc", "PROJCRS[\"WGS 84 / UTM zone 30N\"");
    assert_int_equal(sel_map_unit_of(read_back(arena, "q.tif")), SEL_MAP_LENGTH);
    sel_arena_destroy(arena);
}

static void same_values(const char *path, const sel_grid_file *grid) {
    sel_arena *arena = sel_arena_create();
    const sel_raster *r = read_back(arena, path);
    assert_true(r->n[0] == grid->n[0] && r->n[1] == grid->n[1] && r->dx == grid->dx);
    assert_true(r->origin[0] == grid->origin[0] && r->origin[1] == grid->origin[1]);
    for (int64_t i = 0; i < WIDTH * HEIGHT; i++) {
        double value = raster_cell(r, i % WIDTH, i / WIDTH);
        bool none = isnan(grid->value[i]);
        assert_true(none ? isnan(value) : (float)value == grid->value[i]);
    }
    sel_arena_destroy(arena);
}

/* What GDAL makes of our files, in its own layouts, reads back as the same. */
static void gdal_reads_and_rewrites_our_files(void **state) {
    (void)state;
    static const char *const rewritten[] = {
        "gdal_translate -q g.asc r.tif",
        "gdal_translate -q g.tif r.tif",
        "gdal_translate -q -co COMPRESS=LZW -co PREDICTOR=3 -co TILED=YES g.tif r.tif",
        "gdal_translate -q -co COMPRESS=DEFLATE -co PREDICTOR=2 -co BIGTIFF=YES g.tif r.tif",
        "gdal_translate -q -ot Float64 -co COMPRESS=DEFLATE -co PREDICTOR=3 g.tif r.tif",
        "gdal_translate -q -co ENDIANNESS=BIG g.tif r.tif"};
    if (!have_gdal())
        skip();
    float *value = make_values();
    for (int i = 0; i < 20 * WIDTH; i++) { /* GDAL guesses from the beginning: whole numbers */
        value[(HEIGHT - 1) * WIDTH - 19 * WIDTH + i] = (float)(i % 7);
    }
    sel_grid_file grid = {
        .n = {WIDTH, HEIGHT}, .dx = 10, .origin = {500000, 4000000}, .value = value, .keys = &utm};
    assert_int_equal(sel_grid_file_write(&grid, sel_tif_write, "g.tif", &error), SEL_OK);
    assert_int_equal(sel_grid_file_write(&grid, sel_asc_write, "g.asc", &error), SEL_OK);
    gdal_says("g.tif", "Upper Left  (  500000.000, 4002000.000)");
    gdal_says("g.tif", "WGS 84 / UTM zone 30N");
    gdal_says("g.tif", "AREA_OR_POINT=Point");
    gdal_says("g.tif", "NoData Value=-9999");
    gdal_says("g.asc", "Upper Left  (  500000.000, 4002000.000)");
    gdal_says("g.asc", "Type=Float32");
    for (size_t k = 0; k < sizeof rewritten / sizeof *rewritten; k++) {
        free(ask_gdal(rewritten[k]));
        same_values("r.tif", &grid);
    }
    free(ask_gdal("gdal_translate -q -of AAIGrid -co SIGNIFICANT_DIGITS=9 g.tif r.asc"));
    same_values("r.asc", &grid);
    free(value);
}

static void sparse_tiles_of_gdal_have_no_data(void **state) {
    (void)state;
    if (!have_gdal())
        skip();
    sel_arena *arena = sel_arena_create();
    float *value = calloc(WIDTH * HEIGHT, sizeof *value);
    const sel_grid_file grid = {.n = {WIDTH, HEIGHT}, .dx = 1, .value = value};
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        value[i] = i % WIDTH < 40 ? (float)i : NAN;
    }
    assert_int_equal(sel_grid_file_write(&grid, sel_tif_write, "g.tif", &error), SEL_OK);
    free(ask_gdal("gdal_translate -q -co TILED=YES -co BLOCKXSIZE=16 -co BLOCKYSIZE=16 "
                  "-co SPARSE_OK=TRUE g.tif s.tif"));
    same_values("s.tif", &grid);
    free(ask_gdal("gdal_create -q -of GTiff -ot Float32 -outsize 300 200 -a_ullr 0 200 300 0 "
                  "-co TILED=YES -co SPARSE_OK=TRUE e.tif"));
    assert_true(raster_nodata(read_back(arena, "e.tif"), 5, 5));
    free(value);
    sel_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_north_comes_first_and_solids_have_no_data),
        cmocka_unit_test(both_formats_read_back_to_the_bit),
        cmocka_unit_test(vectors_are_written_by_their_magnitude),
        cmocka_unit_test(mistakes_are_told_before_the_run),
        cmocka_unit_test(no_file_is_left_when_the_disk_is_full),
        cmocka_unit_test(keys_of_the_map_go_through_as_they_are),
        cmocka_unit_test(files_of_a_run_carry_the_keys_of_its_terrain),
        cmocka_unit_test(a_prj_beside_a_grid_says_what_its_map_is),
        cmocka_unit_test(gdal_reads_the_map_of_a_prj),
        cmocka_unit_test(gdal_reads_and_rewrites_our_files),
        cmocka_unit_test(sparse_tiles_of_gdal_have_no_data),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
