/* test_checkpoint.c -- the checkpoint file: what is kept comes back, and nothing altered is read.
 */
#include "engine/core/state.h"
#include "engine/io/checkpoint.h"
#include "tests/unit/files.h"

static const char path[] = "a.sel", before[] = "a.before.sel";

/* A checkpoint of two blocks. Returns its bytes. */
static uint64_t write_two(int number) {
    sel_checkpoint *to;
    uint64_t bytes = 0;
    double values[] = {1.5, -2};
    assert_int_equal(sel_checkpoint_create(path, &to, NULL), SEL_OK);
    sel_checkpoint_block(to, "first");
    SEL_KEEP(to, number);
    sel_keep_text(to, NULL, "text");
    sel_checkpoint_block(to, "second");
    sel_keep(to, values, sizeof values);
    assert_int_equal(sel_checkpoint_commit(to, before, &bytes, NULL), SEL_OK);
    sel_checkpoint_close(to);
    return bytes;
}

static void write_file(const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static sel_status try_to_open(void) {
    sel_checkpoint *from;
    sel_status status = sel_checkpoint_open(path, &from, NULL);
    sel_checkpoint_close(from);
    return status;
}

static void what_is_kept_comes_back_in_any_order(void **unused) {
    (void)unused;
    sel_checkpoint *from;
    int number = 0;
    double values[2] = {0};
    write_two(42);
    assert_int_equal(sel_checkpoint_open(path, &from, NULL), SEL_OK);
    assert_int_equal(sel_checkpoint_bytes(from, "second"), 16);
    assert_int_equal(sel_checkpoint_bytes(from, "third"), -1);
    sel_checkpoint_block(from, "second");
    sel_keep(from, values, sizeof values);
    sel_checkpoint_block(from, "first");
    SEL_KEEP(from, number);
    sel_arena *arena = sel_arena_create();
    const char *text = sel_keep_text(from, arena, NULL);
    assert_int_equal(from->left, 0);
    assert_int_equal(from->failure.status, SEL_OK);
    assert_true(number == 42 && values[0] == 1.5 && values[1] == -2);
    assert_string_equal(text, "text");
    sel_arena_destroy(arena);
    sel_checkpoint_close(from);
}

static void each_flipped_bit_is_refused(void **unused) {
    (void)unused;
    size_t size = 0;
    write_two(1);
    char *bytes = read_whole(path, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        write_file(bytes, size);
        assert_int_equal(try_to_open(), SEL_BAD_FILE);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    write_file(bytes, size);
    assert_int_equal(try_to_open(), SEL_OK);
    free(bytes);
}

static void each_shorter_or_longer_file_is_refused(void **unused) {
    (void)unused;
    size_t size = 0;
    write_two(1);
    char *bytes = read_whole(path, &size);
    for (size_t length = 0; length < size; length++) {
        write_file(bytes, length);
        assert_int_equal(try_to_open(), SEL_BAD_FILE);
    }
    bytes[size] = 0;
    write_file(bytes, size + 1);
    assert_int_equal(try_to_open(), SEL_BAD_FILE);
    free(bytes);
}

/* Each has the CRC that it had. */
static void blocks_in_another_order_are_refused(void **unused) {
    (void)unused;
    size_t size = 0;
    const size_t start = 16, first = 64 + 4 + 8 + 4, second = 64 + 16;
    write_two(1);
    char *bytes = read_whole(path, &size), other[1024];
    memcpy(other, bytes, size);
    memcpy(other + start, bytes + start + first, second);
    memcpy(other + start + second, bytes + start, first);
    write_file(other, size);
    assert_int_equal(try_to_open(), SEL_BAD_FILE);
    memmove(bytes + start, bytes + start + first, size - start - first); /* one is left out */
    write_file(bytes, size - first);
    assert_int_equal(try_to_open(), SEL_BAD_FILE);
    free(bytes);
}

static void reading_beyond_a_block_fails_and_gives_zeros(void **unused) {
    (void)unused;
    sel_checkpoint *from;
    sel_error error = {.status = SEL_OK};
    double values[3] = {7, 7, 7};
    write_two(1);
    assert_int_equal(sel_checkpoint_open(path, &from, NULL), SEL_OK);
    sel_checkpoint_block(from, "second");
    sel_keep(from, values, sizeof values);
    assert_int_equal(sel_checkpoint_status(from, &error), SEL_BAD_FILE);
    assert_non_null(strstr(error.text, "block 'second' is shorter than it must be"));
    assert_true(values[0] == 0 && values[2] == 0);
    sel_checkpoint_close(from);
}

static void the_one_before_is_kept(void **unused) {
    (void)unused;
    struct stat found;
    unlink(before);
    write_two(1);
    const uint64_t bytes = write_two(2);
    assert_true(stat(path, &found) == 0 && (uint64_t)found.st_size == bytes);
    assert_true(stat(before, &found) == 0 && (uint64_t)found.st_size == bytes);
}

/* A run that fails while it writes leaves the older one. */
static void what_is_not_finished_leaves_the_older_file(void **unused) {
    (void)unused;
    sel_checkpoint *to;
    char temporary[80];
    struct stat found;
    write_two(1);
    assert_int_equal(sel_checkpoint_create(path, &to, NULL), SEL_OK);
    sel_checkpoint_block(to, "first");
    sel_checkpoint_close(to);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    assert_int_equal(stat(temporary, &found), -1);
    assert_int_equal(try_to_open(), SEL_OK);
}

/* ---- two ranks, of which the second is made up ---- */

static int gathers, failing_gather;

/* sel_ranks.gather of sel_ranks_agree: a status is the first number of each rank. */
static void gather_beside_one_that_fails(const void *own, size_t bytes, void *all) {
    const sel_status status = gathers++ == failing_gather ? SEL_NO_DEVICE : SEL_OK;
    memset(all, 0, 2 * bytes);
    memcpy(all, own, bytes);
    memcpy((char *)all + bytes, &status, sizeof status);
}

static void receive_its_error(const sel_message *messages, int count) {
    assert_int_equal(count, 1);
    assert_false(messages->sends);
    *(sel_error *)messages->at = (sel_error){.status = SEL_NO_DEVICE, .text = "no such device"};
}

static void broadcast_nothing(void *at, size_t bytes, bool idle) {
    (void)at;
    (void)bytes;
    (void)idle;
}

static void what_another_rank_cannot_save_leaves_the_older_file(void **unused) {
    (void)unused;
    const sel_ranks two = {.count = 2,
                           .gather = gather_beside_one_that_fails,
                           .transfer = receive_its_error,
                           .broadcast = broadcast_nothing};
    const sel_plan plan = {.ranks = &two};
    const sel_backend backend = {.saving = NULL};
    write_two(1);
    for (failing_gather = 0; failing_gather < 3; failing_gather++) {
        sel_state state = {.plan = &plan};
        sel_error error = {.status = SEL_OK};
        sel_checkpoint *to;
        uint64_t bytes;
        gathers = 0;
        assert_int_equal(sel_checkpoint_create(path, &to, NULL), SEL_OK);
        sel_state_save(&state, &backend, to);
        assert_int_equal(sel_checkpoint_commit(to, before, &bytes, &error), SEL_NO_DEVICE);
        assert_non_null(strstr(error.text, "no such device"));
        sel_checkpoint_close(to);
        assert_int_equal(try_to_open(), SEL_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_comes_back_in_any_order),
        cmocka_unit_test(each_flipped_bit_is_refused),
        cmocka_unit_test(each_shorter_or_longer_file_is_refused),
        cmocka_unit_test(blocks_in_another_order_are_refused),
        cmocka_unit_test(reading_beyond_a_block_fails_and_gives_zeros),
        cmocka_unit_test(the_one_before_is_kept),
        cmocka_unit_test(what_is_not_finished_leaves_the_older_file),
        cmocka_unit_test(what_another_rank_cannot_save_leaves_the_older_file),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
