/* test_writer.c -- the writer's queue: order, bound, failures, waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/io/writer.h"

/* What the jobs of one test saw. */
typedef struct record {
    atomic_int freed, cancelled, done;
    int order[1000];
    pthread_mutex_t gate; /* jobs that are gated wait for it */
} record;

typedef struct job {
    record *seen;
    int number;
    bool gated, fails;
} job;

static sel_status run(void *data, bool cancelled, sel_error *error) {
    job *j = data;
    record *seen = j->seen;
    sel_status status = SEL_OK;
    if (cancelled) {
        atomic_fetch_add(&seen->cancelled, 1);
    } else {
        if (j->gated) {
            pthread_mutex_lock(&seen->gate);
            pthread_mutex_unlock(&seen->gate);
        }
        seen->order[atomic_fetch_add(&seen->done, 1)] = j->number;
        if (j->fails) {
            status = sel_fail(error, SEL_BAD_FILE, "job %d failed", j->number);
        }
    }
    atomic_fetch_add(&seen->freed, 1);
    free(j);
    return status;
}

static sel_status submit(sel_writer *writer, record *seen, job what, sel_error *error) {
    job *j = malloc(sizeof *j);
    *j = what;
    j->seen = seen;
    return sel_writer_submit(writer, run, j, error);
}

static record *new_record(void) {
    record *seen = calloc(1, sizeof *seen);
    pthread_mutex_init(&seen->gate, NULL);
    return seen;
}

static void free_record(record *seen) {
    pthread_mutex_destroy(&seen->gate);
    free(seen);
}

static void jobs_run_in_the_order_of_submission(void **state) {
    (void)state;
    for (int depth = 1; depth <= 3; depth++) {
        record *seen = new_record();
        sel_writer *writer;
        assert_int_equal(sel_writer_create(depth, &writer, NULL), SEL_OK);
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(submit(writer, seen, (job){.number = i}, NULL), SEL_OK);
        }
        assert_int_equal(sel_writer_drain(writer, NULL), SEL_OK);
        assert_int_equal(atomic_load(&seen->done), 1000);
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(seen->order[i], i);
        }
        sel_writer_destroy(writer);
        free_record(seen);
    }
}

static void submit_does_not_block_while_there_is_room(void **state) {
    (void)state;
    record *seen = new_record();
    sel_writer *writer;
    sel_writer_create(3, &writer, NULL);
    pthread_mutex_lock(&seen->gate);
    for (int i = 0; i < 3; i++) {
        submit(writer, seen, (job){.number = i, .gated = true}, NULL);
    }
    assert_int_equal(atomic_load(&seen->done), 0);
    pthread_mutex_unlock(&seen->gate);
    assert_int_equal(sel_writer_drain(writer, NULL), SEL_OK);
    assert_int_equal(atomic_load(&seen->freed), 3);
    sel_writer_destroy(writer);
    free_record(seen);
}

static sel_status slow(void *data, bool cancelled, sel_error *error) {
    (void)cancelled;
    (void)error;
    struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    atomic_fetch_add((atomic_int *)data, 1);
    return SEL_OK;
}

static void a_full_queue_blocks_and_the_time_is_counted(void **state) {
    (void)state;
    atomic_int done = 0;
    sel_writer *writer;
    sel_writer_create(1, &writer, NULL);
    for (int i = 0; i < 4; i++) {
        sel_writer_submit(writer, slow, &done, NULL);
        assert_true(atomic_load(&done) >= i - 2);
    }
    assert_true(atomic_load(&done) >= 2);
    assert_true(sel_writer_so_far(writer).waited >= 0.03);
    sel_writer_drain(writer, NULL);
    assert_int_equal(atomic_load(&done), 4);
    assert_true(sel_writer_so_far(writer).busy >= 0.12);
    sel_writer_destroy(writer);
}

/* What is written beside the run costs it nothing, but for the last file, which it waits for. */
static void only_the_last_files_are_waited_for_when_there_is_room(void **state) {
    (void)state;
    atomic_int done = 0;
    sel_writer *writer;
    sel_writer_create(2, &writer, NULL);
    for (int i = 0; i < 3; i++) {
        sel_writer_submit(writer, slow, &done, NULL);
        while (i < 2 && atomic_load(&done) <= i) { /* the run computes */
            sched_yield();
        }
    }
    assert_true(sel_writer_so_far(writer).waited < 0.01);
    sel_writer_drain(writer, NULL);
    const sel_writer_figures figures = sel_writer_so_far(writer);
    assert_true(figures.busy >= 0.09);
    assert_true(figures.waited > 0.01 && figures.waited < 0.06);
    sel_writer_destroy(writer);
}

static void first_failure_is_kept_and_later_jobs_are_cancelled(void **state) {
    (void)state;
    record *seen = new_record();
    sel_writer *writer;
    sel_error error = {.status = SEL_OK};
    sel_writer_create(4, &writer, NULL);
    pthread_mutex_lock(&seen->gate);
    submit(writer, seen, (job){.number = 0, .gated = true}, NULL);
    submit(writer, seen, (job){.number = 1, .fails = true}, NULL);
    submit(writer, seen, (job){.number = 2, .fails = true}, NULL);
    submit(writer, seen, (job){.number = 3}, NULL);
    pthread_mutex_unlock(&seen->gate);
    assert_int_equal(sel_writer_drain(writer, &error), SEL_BAD_FILE);
    assert_string_equal(error.text, "job 1 failed");
    assert_int_equal(atomic_load(&seen->done), 2);
    assert_int_equal(atomic_load(&seen->cancelled), 2);

    error = (sel_error){.status = SEL_OK};
    assert_int_equal(submit(writer, seen, (job){.number = 4}, &error), SEL_BAD_FILE);
    assert_string_equal(error.text, "job 1 failed");
    assert_int_equal(atomic_load(&seen->freed), 5);
    sel_writer_destroy(writer);
    free_record(seen);
}

static void destroy_finishes_what_was_submitted(void **state) {
    (void)state;
    record *seen = new_record();
    sel_writer *writer;
    sel_writer_create(3, &writer, NULL);
    for (int i = 0; i < 100; i++) {
        submit(writer, seen, (job){.number = i}, NULL);
    }
    sel_writer_destroy(writer);
    assert_int_equal(atomic_load(&seen->done), 100);
    sel_writer_destroy(NULL);
    free_record(seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_in_the_order_of_submission),
        cmocka_unit_test(submit_does_not_block_while_there_is_room),
        cmocka_unit_test(a_full_queue_blocks_and_the_time_is_counted),
        cmocka_unit_test(only_the_last_files_are_waited_for_when_there_is_room),
        cmocka_unit_test(first_failure_is_kept_and_later_jobs_are_cancelled),
        cmocka_unit_test(destroy_finishes_what_was_submitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
