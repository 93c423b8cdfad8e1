/* test_native.c -- rules as machine code on the processor: the same bits as by the loops, kept in
 * a folder, and done without where there is no compiler or no such folder.
 */
#include <glob.h>
#include <unistd.h>
#include "engine/base/machine.h"
#include "tests/unit/rule_graph.h"

enum { CELLS = 1500 * 5 };

/* Two fields, one of whole numbers, through functions of math and chance. */
static const char rule[] =
    "local function step(c, dt)\n"
    "  local mean = 0.25 * (c(1, 0).u + c(-1, 0).u + c(0, 1).u + c(0, -1).u)\n"
    "  local n = (c.n + c(1, 1).n * 3 + math.floor(4 * sel.random(1))) % 200\n"
    "  local u = c.u + dt * (mean - c.u) + 0.01 * math.sin(mean)\n"
    "  if n < 20 then u = math.max(u - 0.1, 0) end\n"
    "  return { u = u, n = n }\n"
    "end\n"
    "return sel.rule { size = { 1500, 5 }, periodic = { 'x', 'y' }, rule = step, dt = 0.5,\n"
    "seed = 4, main = 'u', precision = PRECISION, state = { u = 'real', n = 'u8' },\n"
    "initial = { u = function(x, y) return math.sin(x) + y end,\n"
    "n = function(x, y) return math.floor(x * y) % 256 end }, stop = { steps = 9 } }\n";

static void run(const char *precision, const char *compiler, double *u, double *n) {
    char text[4096] = RULE_BEGIN "local PRECISION = ";
    rule_case c;
    setenv("SELENITE_CC", compiler, 1);
    strcat(strcat(strcat(text, precision), "\n"), rule);
    rule_load(&c, text);
    rule_open(&c, 2, 1);
    rule_steps(&c, 7);
    double *const values[] = {rule_values(&c, "u"), rule_values(&c, "n")};
    memcpy(u, values[0], CELLS * sizeof *u);
    memcpy(n, values[1], CELLS * sizeof *n);
    free(values[0]);
    free(values[1]);
    rule_close(&c);
}

static void assert_same(const char *precision, const char *compiler) {
    static double u[2][CELLS], n[2][CELLS];
    run(precision, "0", u[0], n[0]);
    run(precision, compiler, u[1], n[1]);
    assert_memory_equal(u[0], u[1], sizeof u[0]);
    assert_memory_equal(n[0], n[1], sizeof n[0]);
    assert_true(u[0][7] != u[0][8] && n[0][7] != n[0][8]);
}

/* Files whose names end so in the folder of code; `first` gets the name of one. */
static int files(const char *folder, const char *ending, char first[256]) {
    char pattern[256];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/selenite/*%s", folder, ending);
    const int count = glob(pattern, 0, NULL, &found) ? 0 : (int)found.gl_pathc;
    if (count > 0 && first) {
        snprintf(first, 256, "%s", found.gl_pathv[0]);
    }
    globfree(&found);
    return count;
}

static bool has_compiler(void) {
    return system("cc --version > cc.log 2>&1") == 0;
}

static void machine_code_gives_the_same_bits(void **state) {
    (void)state;
    setenv("XDG_CACHE_HOME", "same", 1);
    assert_same("'f32'", "cc");
    assert_same("'f64'", "cc");
    assert_int_equal(files("same", ".so", NULL), has_compiler() ? 2 : 0);
    assert_int_equal(files("same", "", NULL), has_compiler() ? 2 : 0); /* and nothing else */
}

static void damaged_code_is_made_again(void **state) {
    char name[256], command[1024];
    (void)state;
    setenv("XDG_CACHE_HOME", "damaged", 1);
    assert_same("'f32'", "cc");
    if (!has_compiler()) {
        skip();
    }
    assert_int_equal(files("damaged", ".so", name), 1);
    snprintf(command, sizeof command,
             "cp %s whole && printf x | dd of=%s bs=1 seek=900 conv=notrunc 2>dd.log", name, name);
    assert_int_equal(system(command), 0);
    assert_same("'f32'", "cc");
    snprintf(command, sizeof command, "cmp -s whole %s", name);
    assert_int_equal(system(command), 0);
    assert_int_equal(truncate(name, 100), 0);
    assert_same("'f32'", "cc");
}

static void without_a_compiler_or_a_folder_the_loops_do_all(void **state) {
    (void)state;
    setenv("XDG_CACHE_HOME", "none", 1);
    assert_same("'f32'", "/nowhere/cc");
    assert_same("'f32'", "false"); /* it fails */
    assert_int_equal(files("none", "", NULL), 0);
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    assert_same("'f32'", "cc");
}

/* A run may end while the compiler is at work. */
static void a_compiler_that_is_not_done_is_stopped(void **state) {
    (void)state;
    rule_case c;
    setenv("XDG_CACHE_HOME", "stopped", 1);
    setenv("PATH", "slow:/usr/bin:/bin", 1);
    assert_int_equal(system("mkdir slow && printf '#!/bin/sh\\nsleep 60\\n' > slow/cc && "
                            "chmod +x slow/cc"),
                     0);
    unsetenv("SELENITE_CC");
    rule_load(&c, RULE_BEGIN
              "local function step(c)\n"
              "  local s = c.u\n"
              "  for k = 1, 99 do s = 0.99 * s + c(k % 3 - 1, 0).u end\n"
              "  return 0.01 * s\n"
              "end\n"
              "return sel.rule { size = { 4000, 9 }, periodic = { 'x', 'y' }, rule = step,\n"
              "state = { u = 'real' }, initial = { u = 1 }, stop = { steps = 9 } }\n");
    rule_open(&c, 1, 1);
    const double before = sel_machine_seconds();
    for (int k = 0; k < 10000 && !files("stopped", ".c", NULL); k++) {
        rule_steps(&c, 50);
    }
    assert_int_equal(files("stopped", ".c", NULL), 1);
    const double asked = sel_machine_seconds();
    rule_close(&c);
    assert_true(sel_machine_seconds() - asked < 10 && asked - before < 100);
    assert_int_equal(files("stopped", "", NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_code_gives_the_same_bits),
        cmocka_unit_test(damaged_code_is_made_again),
        cmocka_unit_test(without_a_compiler_or_a_folder_the_loops_do_all),
        cmocka_unit_test(a_compiler_that_is_not_done_is_stopped),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
