/* fuzz_script.c -- libFuzzer: any bytes as a scenario, and as a text to find fields in.
 *
 * Nothing may crash, hang or leak; and a script that loads has finite, whole structs. Seeds are the
 * scenarios: `make fuzz`, then build/fuzz_script -rss_limit_mb=4096 CORPUS scenarios examples.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <stdio.h>
#include "engine/base/process.h"
#include "lua/functions/functions.h"
#include "lua/tables/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks for every name of the text as a call and as a key. */
static void search_source(const uint8_t *data, size_t size) {
    static const char *const keys[] = {"size", "stop.steps", "regions", "lbm", "x"};
    sel_arena *arena = sel_arena_create();
    sel_source *source = sel_source_create(arena, "fuzz", (const char *)data, size);
    for (int line = 1; line < 20; line++) {
        sel_span span = sel_source_call(arena, source, line, "lbm");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            sel_span found = sel_source_path(span, keys[i]);
            assert(found.line >= 1 && found.at < source->token_count);
            assert(sel_source_item(found, 1).line >= 1);
        }
    }
    sel_arena_destroy(arena);
}

/* Programs give what their functions give: bit by bit, or a failure of both. */
static void compare_programs(const sel_scenario *scenario) {
    static const double x[] = {0.5, -3, 1e9, 2.25}, y[] = {7.5, 0, -0.25, 1e-9};
    const sel_script *script = scenario->release_data;
    for (const sel_lua_function *f = script->functions; f; f = f->next) {
        sel_places at = {.n = 4, .x = x, .y = y, .z = y, .t = 1.5};
        double out[12], lua[12];
        if (!f->base.program)
            continue;
        sel_status status = f->base.eval(&f->base, &at, out, NULL);
        assert(status == sel_function_call(f, &at, NULL, lua, NULL));
        assert(status || memcmp(out, lua, 4 * (size_t)f->base.results * sizeof *out) == 0);
    }
}

static void load(const char *path) {
    static sel_error error;
    sel_script_options options = {.seconds = 0.2};
    sel_scenario *scenario = NULL;
    memset(&error, 0, sizeof error);
    sel_status status = sel_script_load(path, &options, &scenario, &error);
    assert((status == SEL_OK) == (scenario != NULL));
    assert((status == SEL_OK) == (error.text[0] == '\0'));
    for (int i = 0; scenario && i < scenario->count; i++) {
        const sel_common *common = scenario->simulations[i].params;
        assert(common->size.n >= 2 && common->size.v[0] >= 1);
        const sel_grid grid = sel_common_grid(common);
        assert(isfinite(grid.dx[0]) && grid.dx[0] > 0);
    }
    if (scenario)
        compare_programs(scenario);
    sel_scenario_destroy(scenario);
}

static void end_expected(void *data, const sel_error *error) {
    (void)data;
    (void)error;
    _exit(77);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    sel_emergency_set(end_expected, NULL);
    int file = memfd_create("script", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    search_source(data, size);
    load(path);
    close(file);
    return 0;
}
