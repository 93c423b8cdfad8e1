/* test_script_large.c -- long tables: in time and memory that grow as they do, and within limits.
 */
#include <sys/resource.h>
#include "script_case.h"
#include "engine/base/hardware.h"

/* A scenario whose regions are walls and what `shape` says. */
#define WITH(shape)                                                                            \
    "local sel = require 'selenite'\n"                                                         \
    "local law = sel.law\n" shape "\n"                                                         \
    "return sel.lbm { lattice = 'D2Q9', size = { 64, 64 }, tau = 0.8, stop = { steps = 1 },\n" \
    "  regions = { { where = sel.shape.faces, law = law.wall {} }, { where = part, law = "     \
    "law.wall {} } } }\n"

enum { LINE = 64 };

/* "HEAD LINE LINE ... TAIL": `count` lines that `format` makes of their number; to be freed. */
static char *long_script(const char *head, const char *format, int count, const char *tail) {
    char *text = malloc(strlen(head) + strlen(tail) + (size_t)count * LINE + 1);
    assert_non_null(text);
    char *end = text + sprintf(text, "%s", head);
    for (int i = 1; i <= count; i++)
        end += snprintf(end, LINE, format, i, i);
    strcpy(end, tail);
    return text;
}

/* Seconds that loading takes. */
static double load_seconds(char *text) {
    script_case c = {.scenario = NULL};
    double before = sel_machine_seconds();
    script_accepts(&c, text);
    double seconds = sel_machine_seconds() - before;
    script_done(&c);
    free(text);
    return seconds;
}

static size_t resident_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

/* Looking each point up from the first on took 40 s. */
static void a_polygon_of_many_points_is_read_at_once(void **state) {
    (void)state;
    char *text = long_script("local sel = require 'selenite'\nlocal part = sel.shape.polygon { "
                             "points = {\n",
                             "  { %d, %d.5 },\n", 20000,
                             "} }\nlocal law = sel.law\n"
                             "return sel.lbm { lattice = 'D2Q9', size = { 64, 64 }, tau = 0.8,\n"
                             "  stop = { steps = 1 }, regions = { { where = sel.shape.faces, law = "
                             "law.wall {} }, { where = part, law = law.wall {} } } }\n");
    assert_true(load_seconds(text) < 5);
}

static void the_line_of_a_late_point_is_told(void **state) {
    (void)state;
    char *text = long_script("local sel = require 'selenite'\nlocal p = sel.shape.polygon { points "
                             "= {\n",
                             "  { %d, %d.5 },\n", 1000,
                             "  { 1, 'x' },\n} }\n"
                             "return sel.lbm { lattice = 'D2Q9', size = { 64, 64 }, tau = 0.8,\n"
                             "  stop = { steps = 1 }, regions = { { where = p, law = sel.law.wall "
                             "{} } } }\n");
    script_refuses(text, "s.lua:1003: shape.polygon: points[1001][2] must be a number, got string "
                         "\"x\"");
    free(text);
}

static void many_controls_and_parameters_are_read_at_once(void **state) {
    (void)state;
    char *text = long_script("local sel = require 'selenite'\nlocal p = sel.params {\n",
                             "  a%d = %d,\n", 20000,
                             "}\nassert(p.a20000 == 20000)\n"
                             "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8, "
                             "stop = { steps = 1 } }\n");
    assert_true(load_seconds(text) < 5);
    text = long_script("local sel = require 'selenite'\n"
                       "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8, "
                       "stop = { steps = 1 },\n  controls = {\n",
                       "  a%d = %d,\n", 20000, "} }\n");
    assert_true(load_seconds(text) < 5);
}

/* 32 KB a box made 1.5 GB. */
static void a_union_of_many_boxes_takes_little_memory(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    size_t before = resident_bytes();
    script_accepts(&c, WITH("local part = sel.shape.box { min = { 0, 0 }, max = { 1, 1 } }\n"
                            "for i = 1, 20000 do\n"
                            "  part = part + sel.shape.box { min = { i % 60, 0 }, "
                            "max = { i % 60 + 1, 2 } }\n"
                            "end"));
    assert_true(resident_bytes() - before < (size_t)100 << 20);
    script_done(&c);
}

/* One string of Lua's, and a copy of it for each place. */
static void memory_outside_of_lua_is_limited(void **state) {
    (void)state;
    script_refuses("local sel = require 'selenite'\n"
                   "local long, list = string.rep('x', 2^20), {}\n"
                   "for i = 1, 600 do list[i] = long end\n"
                   "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8,\n"
                   "  stop = { steps = 1 }, output = { sel.out.vtk { fields = list } } }\n",
                   "s.lua: the data need more than 512 MiB of memory; --trust lifts all limits");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_union_of_many_boxes_takes_little_memory),
        cmocka_unit_test(a_polygon_of_many_points_is_read_at_once),
        cmocka_unit_test(the_line_of_a_late_point_is_told),
        cmocka_unit_test(many_controls_and_parameters_are_read_at_once),
        cmocka_unit_test(memory_outside_of_lua_is_limited),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
