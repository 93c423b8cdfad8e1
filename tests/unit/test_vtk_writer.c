/* test_vtk_writer.c -- the VTK writer's bytes and its failures; tests/vtk reads its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/io/vtk_share.h"
#include "tests/unit/files.h"
#include "tests/unit/vti_file.h"

static char directory[DIRECTORY_ROOM];

static const char *in_directory(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int set_up(void **state) {
    (void)state;
    make_directory(directory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    remove_directory(directory);
    return 0;
}

static int files_in_directory(void) {
    int count = 0;
    DIR *entries = opendir(directory);
    for (struct dirent *e; (e = readdir(entries));) {
        count += e->d_name[0] != '.';
    }
    closedir(entries);
    return count;
}

static vtkw_image image_of(const vtkw_array *arrays, int count, int64_t nx) {
    return (vtkw_image){.extent = {0, nx, 0, 1, 0, 1},
                        .spacing = {1, 1, 1},
                        .cell_arrays = arrays,
                        .cell_array_count = count};
}

/* ---- bytes ---- */

static void assert_padded(const char *path) {
    size_t size = 0;
    char *bytes = read_whole(path, &size);
    char *tag = find_text(bytes, size, "<AppendedData");
    assert_non_null(tag);
    size_t end = (size_t)(tag - bytes) + strlen("<AppendedData");
    assert_int_equal(end % 4096, 0);
    assert_memory_equal(bytes + end, " encoding=\"raw\"                 >\n   _", 38);
    free(bytes);
}

static void header_ends_at_a_page_whatever_its_length(void **state) {
    (void)state;
    enum { MOST = 400 };
    uint8_t value = 7;
    char names[MOST][48];
    vtkw_array arrays[MOST];
    for (int i = 0; i < MOST; i++) {
        snprintf(names[i], sizeof names[i], "an_array_with_a_longer_name_%d", i);
        arrays[i] = (vtkw_array){names[i], VTKW_UINT8, 1, &value};
    }
    for (int count = 0; count <= MOST; count += 13) {
        for (int level = 0; level <= 1; level++) {
            vtkw_image image = image_of(arrays, count, 1);
            image.level = level;
            assert_int_equal(vtkw_write_image(in_directory("page.vti"), &image, NULL), VTKW_OK);
            assert_padded(in_directory("page.vti"));
        }
    }
}

static void raw_array_is_its_size_and_its_bytes(void **state) {
    (void)state;
    float values[5] = {1, 2, 3, 4, 5};
    vtkw_array array = {"v", VTKW_FLOAT32, 1, values};
    vtkw_image image = image_of(&array, 1, 5);
    size_t size = 0;
    assert_int_equal(vtkw_write_image(in_directory("raw.vti"), &image, NULL), VTKW_OK);
    char *bytes = read_whole(in_directory("raw.vti"), &size);
    const char *data = appended_data(bytes, size);
    assert_int_equal(word_at(data), sizeof values);
    assert_memory_equal(data + 8, values, sizeof values);
    assert_string_equal(data + 8 + sizeof values, "\n  </AppendedData>\n</VTKFile>\n");
    free(bytes);
}

static void compressed_blocks_decode_to_the_same_bytes(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 32767, 32768, 32769, 65536, 100000};
    unsigned char *values = malloc(100000), *decoded = malloc(200000);
    for (int i = 0; i < 100000; i++) {
        values[i] = (unsigned char)(i * 7919 >> 3);
    }
    for (int level = 1; level <= 9; level += 4) {
        for (int k = 0; k < 6; k++) {
            vtkw_array array = {"v", VTKW_UINT8, 1, values};
            vtkw_image image = image_of(&array, 1, sizes[k]);
            image.level = level;
            size_t size = 0;
            assert_int_equal(vtkw_write_image(in_directory("zlib.vti"), &image, NULL), VTKW_OK);
            char *bytes = read_whole(in_directory("zlib.vti"), &size);
            const char *data = appended_data(bytes, size);
            assert_int_equal(decode_array(data, decoded, 200000), sizes[k]);
            assert_memory_equal(decoded, values, (size_t)sizes[k]);
            free(bytes);
        }
    }
    free(values);
    free(decoded);
}

static void offsets_point_to_each_array(void **state) {
    (void)state;
    int32_t a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, c[16] = {9};
    vtkw_array cell[] = {{"a", VTKW_INT32, 1, a}, {"b", VTKW_INT32, 1, b}};
    vtkw_array point = {"c", VTKW_INT32, 1, c};
    vtkw_image image = image_of(cell, 2, 3);
    image.point_arrays = &point;
    image.point_array_count = 1;
    size_t size = 0;
    assert_int_equal(vtkw_write_image(in_directory("offsets.vti"), &image, NULL), VTKW_OK);
    char *bytes = read_whole(in_directory("offsets.vti"), &size);
    const char *data = appended_data(bytes, size);
    static const struct {
        const char *name;
        uint64_t bytes;
        int32_t first;
    } expected[] = {{"Name=\"a\"", 12, 1}, {"Name=\"b\"", 12, 4}, {"Name=\"c\"", 64, 9}};
    for (int i = 0; i < 3; i++) {
        char *offset = strstr(find_text(bytes, size, expected[i].name), "offset=\"") + 8;
        const char *at = data + strtoull(offset, NULL, 10);
        assert_int_equal(word_at(at), expected[i].bytes);
        assert_memory_equal(at + 8, &expected[i].first, sizeof(int32_t));
    }
    free(bytes);
}

static void names_are_escaped(void **state) {
    (void)state;
    uint8_t value = 1;
    vtkw_array array = {"a<b & \"c\">\t\x01", VTKW_UINT8, 1, &value};
    vtkw_image image = image_of(&array, 1, 1);
    size_t size = 0;
    assert_int_equal(vtkw_write_image(in_directory("names.vti"), &image, NULL), VTKW_OK);
    char *bytes = read_whole(in_directory("names.vti"), &size);
    assert_non_null(find_text(bytes, size, "Name=\"a&lt;b &amp; &quot;c&quot;&gt;&#9;?\""));
    free(bytes);
}

static void collection_lists_times_and_files(void **state) {
    (void)state;
    vtkw_step steps[] = {{0, "f/f_0.vti"}, {0.1, "f/<1>.vti"}};
    size_t size = 0;
    assert_int_equal(vtkw_write_collection(in_directory("f.pvd"), steps, 2, NULL), VTKW_OK);
    char *bytes = read_whole(in_directory("f.pvd"), &size);
    assert_non_null(strstr(bytes, "<DataSet timestep=\"0\" part=\"0\" file=\"f/f_0.vti\"/>"));
    assert_non_null(strstr(
        bytes, "<DataSet timestep=\"0.10000000000000001\" part=\"0\" file=\"f/&lt;1&gt;.vti\"/>"));
    free(bytes);
}

static void numbers_have_a_point_in_every_locale(void **state) {
    (void)state;
    static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    for (int i = 0; i < 4; i++) {
        if (setlocale(LC_NUMERIC, locales[i])) { /* else it is not installed here */
            vtkw_text text = {NULL, 0, 0, 0};
            vtkw_number(&text, -0.125);
            vtkw_append(&text, "", 1);
            setlocale(LC_NUMERIC, "C");
            assert_string_equal(text.data, "-0.125");
            free(text.data);
        }
    }
}

/* ---- failures ---- */

static void bad_input_is_refused(void **state) {
    (void)state;
    uint8_t value = 1;
    vtkw_array array = {"v", VTKW_UINT8, 1, &value};
    vtkw_array broken[] = {{"", VTKW_UINT8, 1, &value},
                           {NULL, VTKW_UINT8, 1, &value},
                           {"v", VTKW_UINT8, 0, &value},
                           {"v", VTKW_UINT8, 1, NULL}};
    vtkw_error error;
    for (int i = 0; i < 4; i++) {
        vtkw_image image = image_of(&broken[i], 1, 1);
        assert_int_equal(vtkw_write_image(in_directory("bad.vti"), &image, &error), VTKW_BAD_INPUT);
    }
    vtkw_image image = image_of(&array, 1, 0);
    assert_int_equal(vtkw_write_image(in_directory("bad.vti"), &image, &error), VTKW_BAD_INPUT);
    assert_non_null(strstr(error.text, "the extent of axis 0 is empty"));
    image = image_of(&array, 1, 1);
    image.level = 10;
    assert_int_equal(vtkw_write_image(in_directory("bad.vti"), &image, &error), VTKW_BAD_INPUT);
    assert_int_not_equal(access(in_directory("bad.vti"), F_OK), 0);
}

static void missing_directory_is_an_error_with_its_cause(void **state) {
    (void)state;
    uint8_t value = 1;
    vtkw_array array = {"v", VTKW_UINT8, 1, &value};
    vtkw_image image = image_of(&array, 1, 1);
    vtkw_error error;
    assert_int_equal(vtkw_write_image(in_directory("no/such.vti"), &image, &error), VTKW_BAD_FILE);
    assert_int_equal(error.code, ENOENT);
    assert_non_null(strstr(error.text, "no/such.vti: No such file or directory"));
    assert_int_equal(vtkw_write_collection(in_directory("no/such.pvd"), NULL, 0, &error),
                     VTKW_BAD_FILE);
}

static void failed_write_leaves_the_older_file_whole(void **state) {
    (void)state;
    enum { CELLS = 300000 };
    float *values = calloc(CELLS, sizeof *values);
    for (int i = 0; i < CELLS; i++) {
        values[i] = (float)((unsigned)i * 2654435761u);
    }
    vtkw_array array = {"v", VTKW_FLOAT32, 1, values};
    static const rlim_t limits[] = {100, 4096, 5000, 50000, 900000};
    for (int level = 0; level <= 1; level++) {
        vtkw_image small = image_of(&array, 1, 10), large = image_of(&array, 1, CELLS);
        large.level = level;
        assert_int_equal(vtkw_write_image(in_directory("kept.vti"), &small, NULL), VTKW_OK);
        size_t size = 0, size_after = 0;
        char *before = read_whole(in_directory("kept.vti"), &size);
        int files = files_in_directory();
        for (int k = 0; k < 5; k++) {
            vtkw_error error;
            limit_files(limits[k]);
            vtkw_status status = vtkw_write_image(in_directory("kept.vti"), &large, &error);
            limit_files(RLIM_INFINITY);
            assert_int_equal(status, VTKW_BAD_FILE);
            assert_int_equal(error.code, EFBIG);
        }
        char *after = read_whole(in_directory("kept.vti"), &size_after);
        assert_int_equal(size, size_after);
        assert_memory_equal(before, after, size);
        assert_int_equal(files_in_directory(), files);
        free(before);
        free(after);
    }
    free(values);
}

static void links_in_the_place_of_a_file_are_replaced(void **state) {
    (void)state;
    uint8_t value = 1;
    vtkw_array array = {"v", VTKW_UINT8, 1, &value};
    vtkw_image image = image_of(&array, 1, 1);
    struct stat found;
    char target[512];
    snprintf(target, sizeof target, "%s", in_directory("target"));
    fclose(fopen(target, "w"));
    assert_int_equal(symlink(target, in_directory("link.vti.tmp")), 0);
    assert_int_equal(symlink(target, in_directory("link.vti")), 0);
    assert_int_equal(vtkw_write_image(in_directory("link.vti"), &image, NULL), VTKW_OK);
    assert_int_equal(lstat(target, &found), 0);
    assert_int_equal(found.st_size, 0);
    assert_int_equal(lstat(in_directory("link.vti"), &found), 0);
    assert_true(S_ISREG(found.st_mode) && found.st_size > 0);
}

/* The way of several ranks, with one; tests/ranks compares more of them. */
static void shared_file_has_the_same_bytes(void **state) {
    (void)state;
    enum { CELLS = 3 * VTKW_BLOCK + 1234 };
    const int64_t start[] = {0, CELLS};
    sel_writer *writer;
    sel_error error = {.status = SEL_OK};
    assert_int_equal(sel_writer_create(2, &writer, &error), SEL_OK);
    for (int level = 0; level <= 6; level += 3) {
        size_t size, size_shared;
        FILE *file;
        float *values = malloc(CELLS * sizeof *values);
        for (int i = 0; i < CELLS; i++) {
            values[i] = (float)(i % 1000) / 7;
        }
        vtkw_array array = {"v", VTKW_FLOAT32, 1, values};
        vtkw_image image = image_of(&array, 1, CELLS);
        image.level = level;
        assert_int_equal(vtkw_write_image(in_directory("one.vti"), &image, NULL), VTKW_OK);
        char *one = read_whole(in_directory("one.vti"), &size);
        assert_int_equal(sel_vtk_share(&sel_one_rank, in_directory("shared.vti"), &image, start, 2,
                                       writer, &file, &error),
                         SEL_OK);
        assert_int_equal(sel_writer_drain(writer, &error), SEL_OK);
        assert_int_equal(sel_file_end(file, in_directory("shared.vti"), NULL, &error), SEL_OK);
        char *shared = read_whole(in_directory("shared.vti"), &size_shared);
        assert_int_equal(size, size_shared);
        assert_memory_equal(one, shared, size);
        free(one);
        free(shared);
    }
    sel_writer_destroy(writer);
}

static void shared_file_without_a_directory_is_an_error(void **state) {
    (void)state;
    const int64_t start[] = {0, 1};
    sel_error error = {.status = SEL_OK};
    vtkw_array array = {"v", VTKW_UINT8, 1, calloc(1, 1)};
    vtkw_image image = image_of(&array, 1, 1);
    FILE *file;
    assert_int_equal(sel_vtk_share(&sel_one_rank, in_directory("no/file.vti"), &image, start, 1,
                                   NULL, &file, &error),
                     SEL_BAD_FILE);
    assert_null(file);
    assert_non_null(strstr(error.text, "no/file.vti: No such file or directory"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_ends_at_a_page_whatever_its_length),
        cmocka_unit_test(raw_array_is_its_size_and_its_bytes),
        cmocka_unit_test(compressed_blocks_decode_to_the_same_bytes),
        cmocka_unit_test(offsets_point_to_each_array),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(collection_lists_times_and_files),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(missing_directory_is_an_error_with_its_cause),
        cmocka_unit_test(failed_write_leaves_the_older_file_whole),
        cmocka_unit_test(links_in_the_place_of_a_file_are_replaced),
        cmocka_unit_test(shared_file_has_the_same_bytes),
        cmocka_unit_test(shared_file_without_a_directory_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
