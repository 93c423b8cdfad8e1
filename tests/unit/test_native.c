/* test_native.c -- rules as machine code on the processor: the same bits as by the loops, kept in
 * a folder, and done without where there is no compiler or no such folder.
 */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/code_cache.h"
#include "engine/base/hardware.h"
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
    rule_open(&c, 2);
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

/* The cache of code in the working directory of the tests. */
static void use_cache(const char *name) {
    char path[PATH_MAX];
    assert_non_null(getcwd(path, sizeof path - 64));
    setenv("XDG_CACHE_HOME", strcat(strcat(path, "/"), name), 1);
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
    use_cache("same");
    assert_same("'f32'", "cc");
    assert_same("'f64'", "cc");
    assert_int_equal(files("same", ".so", NULL), has_compiler() ? 2 : 0);
    assert_int_equal(files("same", "", NULL), has_compiler() ? 2 : 0); /* and nothing else */
}

static void damaged_code_is_made_again(void **state) {
    char name[256], command[1024];
    (void)state;
    use_cache("damaged");
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
    use_cache("none");
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
    use_cache("stopped");
    char path[PATH_MAX];
    assert_non_null(getcwd(path, sizeof path - 64));
    setenv("PATH", strcat(path, "/slow:/usr/bin:/bin"), 1);
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
    rule_open(&c, 1);
    const double before = sel_machine_seconds();
    for (int k = 0; k < 10000 && !files("stopped", "/text.c", NULL); k++) {
        rule_steps(&c, 50);
    }
    assert_int_equal(files("stopped", "/text.c", NULL), 1);
    const double asked = sel_machine_seconds();
    rule_close(&c);
    assert_true(sel_machine_seconds() - asked < 10 && asked - before < 100);
    assert_int_equal(files("stopped", "", NULL), 0);
}

/* ---- what others may have laid there ---- */

static int mode_of(const char *name) {
    struct stat about;
    assert_int_equal(stat(name, &about), 0);
    return (int)(about.st_mode & 0777);
}

static void the_folder_is_of_the_user_alone_whatever_the_umask(void **state) {
    (void)state;
    char name[256];
    const mode_t before = umask(0);
    use_cache("masked");
    assert_same("'f32'", "cc");
    umask(before);
    if (has_compiler()) {
        assert_int_equal(mode_of("masked/selenite"), 0700);
        assert_int_equal(files("masked", ".so", name), 1);
        assert_int_equal(mode_of(name), 0600);
    }
}

/* A folder or file that others can write to is left alone: the run goes on by the loops. */
static void what_others_can_write_to_is_not_used(void **state) {
    (void)state;
    char name[256];
    use_cache("open");
    assert_int_equal(system("mkdir -p open/selenite && chmod 777 open/selenite"), 0);
    assert_same("'f32'", "cc");
    assert_int_equal(files("open", "", NULL), 0);
    assert_int_equal(
        system("rmdir open/selenite && mkdir -m 700 aside && ln -s ../aside open/selenite"), 0);
    assert_same("'f32'", "cc");
    assert_int_equal(files("open", "", NULL), 0);
    use_cache("writable");
    assert_same("'f32'", "cc");
    if (has_compiler()) {
        assert_int_equal(files("writable", ".so", name), 1);
        const int folder = open("writable/selenite", O_RDONLY | O_DIRECTORY);
        void *code;
        size_t bytes;
        int file = sel_code_cache_read(folder, strrchr(name, '/') + 1, &code, &bytes);
        assert_true(file >= 0);
        close(file);
        free(code);
        chmod(name, 0622);
        assert_int_equal(sel_code_cache_read(folder, strrchr(name, '/') + 1, &code, &bytes), -1);
        assert_null(code);
        chmod(name, 0600);
        if (geteuid() == 0) {
            assert_int_equal(chown(name, 65534, 65534), 0);
            assert_int_equal(sel_code_cache_read(folder, strrchr(name, '/') + 1, &code, &bytes),
                             -1);
        }
        close(folder);
    }
}

static void a_relative_cache_is_ignored(void **state) {
    (void)state;
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_same("'f32'", "cc");
    assert_int_equal(access("relative", F_OK), -1);
}

/* Code of the right name and checksum that computes something else does not run in a run. */
static void code_that_differs_from_the_loops_is_not_used(void **state) {
    (void)state;
    char name[256];
    use_cache("wrong");
    assert_same("'f32'", "cc");
    if (!has_compiler()) {
        skip();
    }
    assert_int_equal(files("wrong", ".so", name), 1);
    assert_int_equal(
        system("printf 'void f0_0(int n, void **s, void **t) {} void f0_1(int n, void **s, "
               "void **t) {} void f0_2(int n, void **s, void **t) {} void f0_3(int n, "
               "void **s, void **t) {}' | cc -x c -shared -fPIC -w -o wrong.so -"),
        0);
    FILE *file = fopen("wrong.so", "rb");
    static char code[1 << 20];
    const size_t bytes = fread(code, 1, sizeof code, file);
    fclose(file);
    const int folder = open("wrong/selenite", O_RDONLY | O_DIRECTORY);
    assert_int_equal(unlink(name), 0);
    assert_true(sel_code_cache_write(folder, strrchr(name, '/') + 1, code, bytes));
    close(folder);
    assert_same("'f32'", "cc");
}

/* ---- the compiler ---- */

static void a_compiler_is_found_in_absolute_parts_of_the_path_only(void **state) {
    (void)state;
    char path[SEL_PATH_ROOM], identity[SEL_CC_IDENTITY], here[PATH_MAX],
        *before = strdup(getenv("PATH"));
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(system("printf '#!/bin/sh\n' > own_cc && chmod +x own_cc"), 0);
    for (int k = 0; k < 3; k++) {
        setenv("PATH", ((const char *[]){"/nonexistent:", ".:", ":/nonexistent"})[k], 1);
        assert_false(sel_cc_find("own_cc", path, identity));
    }
    assert_false(sel_cc_find("./own_cc", path, identity));
    setenv("PATH", here, 1);
    assert_true(sel_cc_find("own_cc", path, identity));
    assert_string_equal(strrchr(path, '/'), "/own_cc");
    setenv("PATH", before, 1);
    free(before);
}

/* What decides which headers and programs a compiler takes does not reach it. */
static void the_compiler_starts_in_the_root_with_a_bare_environment(void **state) {
    (void)state;
    char path[PATH_MAX];
    use_cache("bare");
    assert_non_null(getcwd(path, sizeof path - 64));
    assert_int_equal(system("mkdir -p told && { echo '#!/bin/sh'; "
                            "echo \"{ pwd; env; } >$PWD/told/said; exit 1\"; } >told/cc && "
                            "chmod +x told/cc"),
                     0);
    setenv("CPATH", "/opt/include:", 1);
    setenv("C_INCLUDE_PATH", ".", 1);
    setenv("COMPILER_PATH", ".", 1);
    setenv("GCC_EXEC_PREFIX", "./", 1);
    setenv("LD_LIBRARY_PATH", ":/opt/lib:.", 1);
    assert_same("'f32'", strcat(path, "/told/cc"));
    assert_int_equal(system("head -n 1 told/said | grep -qx /"), 0);
    assert_int_equal(system("grep -q 'CPATH\\|C_INCLUDE\\|COMPILER_PATH\\|GCC_EXEC' told/said"),
                     256);
    assert_int_equal(system("grep -qx LD_LIBRARY_PATH=/opt/lib told/said"), 0);
    for (int k = 0; k < 5; k++) {
        unsetenv(((const char *[]){"CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
                                   "LD_LIBRARY_PATH"})[k]);
    }
    assert_int_equal(files("bare", "", NULL), 0);
}

/* What a process left that was killed the next one removes; what is locked lives. */
static void the_next_run_removes_what_a_killed_one_left(void **state) {
    (void)state;
    use_cache("left");
    assert_int_equal(
        system("mkdir -p -m 700 left/selenite/job.1.0 && echo x > left/selenite/job.1.0/text.c"),
        0);
    assert_int_equal(chmod("left/selenite", 0700), 0);
    char path[SEL_PATH_ROOM], name[SEL_CODE_NAME];
    const int folder = sel_code_cache_open(NULL, path);
    assert_int_equal(files("left", "", NULL), 0);
    const int job = sel_code_cache_begin_job(folder, name);
    assert_true(job >= 0);
    close(sel_code_cache_open(NULL, path));
    assert_int_equal(files("left", "", NULL), 1);
    sel_code_cache_end_job(folder, name, job);
    assert_int_equal(files("left", "", NULL), 0);
    close(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_code_gives_the_same_bits),
        cmocka_unit_test(damaged_code_is_made_again),
        cmocka_unit_test(without_a_compiler_or_a_folder_the_loops_do_all),
        cmocka_unit_test(the_folder_is_of_the_user_alone_whatever_the_umask),
        cmocka_unit_test(what_others_can_write_to_is_not_used),
        cmocka_unit_test(a_relative_cache_is_ignored),
        cmocka_unit_test(code_that_differs_from_the_loops_is_not_used),
        cmocka_unit_test(a_compiler_is_found_in_absolute_parts_of_the_path_only),
        cmocka_unit_test(the_compiler_starts_in_the_root_with_a_bare_environment),
        cmocka_unit_test(the_next_run_removes_what_a_killed_one_left),
        cmocka_unit_test(a_compiler_that_is_not_done_is_stopped),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
