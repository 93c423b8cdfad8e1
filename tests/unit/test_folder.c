/* test_folder.c -- the directory of a run: links lead nowhere, and only what a run wrote goes. */
#include "engine/base/folder.h"

#include <fcntl.h>
#include "engine/base/file.h"
#include "engine/output/kind.h"
#include "tests/unit/files.h"

static sel_error error;

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void holds(const char *path, const char *expected) {
    char *text = read_whole(path, NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static bool there(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0;
}

static void refused(sel_status status, const char *message) {
    assert_int_not_equal(status, SEL_OK);
    assert_string_equal(error.text, message);
    error = (sel_error){.status = SEL_OK};
}

/* An empty directory "run" beside a file and a folder that are none of a run's business. */
static int begin(void **state) {
    (void)state;
    error = (sel_error){.status = SEL_OK};
    if (there("run")) {
        remove_directory("run");
    }
    mkdir("run", 0700);
    mkdir("elsewhere", 0700);
    put("precious", "kept\n");
    put("elsewhere/f_00000001.vti", "kept\n");
    return 0;
}

static void a_link_in_place_of_an_output_is_refused(void **state) {
    (void)state;
    assert_int_equal(symlink("../precious", "run/balance.csv"), 0);
    refused(sel_folder_claim("run", "balance.csv", false, &error),
            "run/balance.csv is there, and no run wrote it; move it away, choose another directory "
            "with -o, or write over it with --force");
    holds("precious", "kept\n");
}

static void force_replaces_the_link_and_not_what_it_leads_to(void **state) {
    (void)state;
    sel_csv *csv;
    assert_int_equal(symlink("../precious", "run/balance.csv"), 0);
    assert_int_equal(sel_folder_claim("run", "balance.csv", true, &error), SEL_OK);
    assert_int_equal(sel_csv_open("run", "balance.csv", -1, &csv, &error), SEL_OK);
    sel_csv_text(csv, "step");
    sel_csv_end_line(csv);
    assert_int_equal(sel_csv_flush(csv, &error), SEL_OK);
    sel_csv_close(csv);
    holds("precious", "kept\n");
    holds("run/balance.csv", "step\n");
}

static void a_csv_file_is_never_opened_through_a_link(void **state) {
    (void)state;
    sel_csv *csv;
    assert_int_equal(symlink("../precious", "run/a.csv"), 0);
    assert_int_equal(symlink("../made", "run/b.csv"), 0);
    refused(sel_csv_open("run", "a.csv", -1, &csv, &error), "cannot write run/a.csv: File exists");
    refused(sel_csv_open("run", "b.csv", -1, &csv, &error), "cannot write run/b.csv: File exists");
    holds("precious", "kept\n");
    assert_false(there("made"));
}

static void temporary_files_are_never_opened_through_a_link(void **state) {
    (void)state;
    assert_int_equal(symlink("../precious", "run/run.json.tmp"), 0);
    FILE *file = sel_file_begin("run/run.json");
    assert_non_null(file);
    fputs("{}", file);
    assert_int_equal(sel_file_end(file, "run/run.json", NULL, &error), SEL_OK);
    holds("precious", "kept\n");
    holds("run/run.json", "{}");
    assert_false(there("run/run.json.tmp"));
}

static void a_file_that_no_run_wrote_is_refused(void **state) {
    (void)state;
    put("run/probe.csv", "mine\n");
    put("run/f.pvd.tmp", "mine\n");
    assert_int_equal(sel_folder_claim("run", "probe.csv", false, NULL), SEL_BAD_FILE);
    assert_int_equal(sel_folder_claim("run", "f.pvd", false, NULL), SEL_BAD_FILE);
    holds("run/probe.csv", "mine\n");
    assert_int_equal(mkfifo("run/pipe.csv", 0600), 0);
    assert_int_equal(sel_folder_claim("run", "pipe.csv", false, NULL), SEL_BAD_FILE);
    put("run/run.log", "mine\n");
    refused(sel_run_directory("run", false, &error),
            "run/run.log is there, and no run wrote it; move it away, choose another directory "
            "with -o, or write over it with --force");
    holds("run/run.log", "mine\n");
}

static void what_stands_in_the_way_of_run_json_is_refused(void **state) {
    (void)state;
    assert_int_equal(symlink("../precious", "run/run.json.tmp"), 0);
    refused(sel_run_directory("run", false, &error),
            "run/run.json.tmp is a link or no file; move it away, choose another directory with "
            "-o, or write over it with --force");
    assert_int_equal(sel_run_directory("run", true, &error), SEL_OK);
    put("run/run.lua.tmp", "mine\n");
    unlink("run/run.json.tmp");
    refused(sel_run_directory("run", false, &error),
            "run/run.lua.tmp is there, and no run wrote it; move it away, choose another directory "
            "with -o, or write over it with --force");
    holds("run/run.lua.tmp", "mine\n");
    holds("precious", "kept\n");
}

static void a_link_for_run_json_is_no_run(void **state) {
    (void)state;
    put("list", "{ \"outputs\": [\"probe.csv\"]\n}\n");
    put("run/probe.csv", "mine\n");
    assert_int_equal(symlink("../list", "run/run.json"), 0);
    refused(sel_run_directory("run", false, &error),
            "run/run.json is a link or no file; move it away, choose another directory with -o, or "
            "write over it with --force");
    assert_int_equal(sel_run_directory("run", true, &error), SEL_OK);
    holds("run/probe.csv", "mine\n"); /* no run of this directory listed it */
}

static void linked_folders_are_not_written_into(void **state) {
    (void)state;
    assert_int_equal(symlink("../elsewhere", "run/f"), 0);
    for (int force = 0; force < 2; force++) {
        refused(sel_folder_make("run", "f", force, &error),
                "run/f is a link; files are not written through links: remove it, or choose "
                "another directory with -o");
        refused(sel_folder_claim("run", "f/f_00000002.vti", force, &error),
                "cannot write run/f/f_00000002.vti: Not a directory");
    }
}

static void frames_that_no_run_listed_are_refused_at_the_start(void **state) {
    (void)state;
    mkdir("run/f", 0700);
    put("run/f/notes.txt", "");
    assert_int_equal(sel_folder_make("run", "f", false, &error), SEL_OK);
    put("run/f/f_00000500.vti", "");
    refused(sel_folder_make("run", "f", false, &error),
            "run/f/f_00000500.vti is there, and no run wrote it; move it away, choose another "
            "directory with -o, or write over it with --force");
    assert_int_equal(sel_folder_make("run", "f", true, &error), SEL_OK);
}

static void force_removes_what_the_former_run_listed_and_nothing_else(void **state) {
    (void)state;
    put("run/run.json",
        "{\"outputs\": [\"a.csv\", \"f/f_00000001.vti\", \"linked/f_00000001.vti\", "
        "\"../precious\", \"link.csv\", \".hidden\", \"f/../../precious\"]\n}\n");
    mkdir("run/f", 0700);
    put("run/a.csv", "");
    put("run/f/f_00000001.vti", "");
    put("run/f/notes.txt", "");
    put("run/.hidden", "");
    assert_int_equal(symlink("../elsewhere", "run/linked"), 0);
    assert_int_equal(symlink("../precious", "run/link.csv"), 0);
    assert_int_equal(sel_run_directory("run", true, &error), SEL_OK);
    assert_false(there("run/a.csv"));
    assert_false(there("run/f/f_00000001.vti"));
    assert_true(there("run/f/notes.txt"));
    assert_true(there("run/.hidden"));
    assert_true(there("run/link.csv"));
    holds("precious", "kept\n");
    holds("elsewhere/f_00000001.vti", "kept\n");
}

/* kill -9 leaves run.json as it was when it was written last, and a file half done. */
static void force_removes_the_files_of_a_run_that_was_killed(void **state) {
    (void)state;
    assert_int_equal(sel_run_directory("run", false, &error), SEL_OK);
    put("run/run.json", "{\"stopped_by\": \"running\", \"outputs\": []\n}\n");
    assert_int_equal(sel_folder_make("run", "f", false, &error), SEL_OK);
    static const char *const names[] = {"f.pvd", "f/f_00000001.vti", "f/f_00000002.vti"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sel_folder_claim("run", names[i], false, &error), SEL_OK);
    }
    put("run/f.pvd", "");
    put("run/f/f_00000001.vti", "");
    put("run/f/f_00000002.vti.tmp", "");
    holds("run/run.files", "f.pvd\nf/f_00000001.vti\nf/f_00000002.vti\n");
    unlink("run/run.json"); /* nor is it needed */
    assert_int_equal(sel_run_directory("run", false, NULL), SEL_BAD_USAGE);
    assert_int_equal(sel_run_directory("run", true, &error), SEL_OK);
    assert_false(there("run/f.pvd"));
    assert_false(there("run/f/f_00000001.vti"));
    assert_false(there("run/f/f_00000002.vti.tmp"));
    assert_false(there("run/run.files"));
}

static void the_directory_itself_may_be_a_link(void **state) {
    (void)state;
    unlink("way");
    assert_int_equal(symlink("run", "way"), 0);
    assert_int_equal(sel_run_directory("way", false, &error), SEL_OK);
    assert_int_equal(sel_folder_claim("way", "a.csv", false, &error), SEL_OK);
    assert_true(there("run/run.files"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_link_in_place_of_an_output_is_refused, begin),
        cmocka_unit_test_setup(force_replaces_the_link_and_not_what_it_leads_to, begin),
        cmocka_unit_test_setup(a_csv_file_is_never_opened_through_a_link, begin),
        cmocka_unit_test_setup(temporary_files_are_never_opened_through_a_link, begin),
        cmocka_unit_test_setup(a_file_that_no_run_wrote_is_refused, begin),
        cmocka_unit_test_setup(what_stands_in_the_way_of_run_json_is_refused, begin),
        cmocka_unit_test_setup(a_link_for_run_json_is_no_run, begin),
        cmocka_unit_test_setup(linked_folders_are_not_written_into, begin),
        cmocka_unit_test_setup(frames_that_no_run_listed_are_refused_at_the_start, begin),
        cmocka_unit_test_setup(force_removes_what_the_former_run_listed_and_nothing_else, begin),
        cmocka_unit_test_setup(force_removes_the_files_of_a_run_that_was_killed, begin),
        cmocka_unit_test_setup(the_directory_itself_may_be_a_link, begin),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
