/* test_share.c -- parts of a task shared out among threads, and those that only the caller can do;
 * the caches that threads share.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/hardware.h"

enum { PARTS = 1000, THREADS = 4 };

/* A task that counts how often each part was done. */
typedef struct count {
    pthread_t caller;
    bool alone;      /* other threads fail */
    int64_t refused; /* parts from this one on fail always; -1: none */
    int done[PARTS];
    bool crowded; /* a thread's number was out of range */
} count;

static sel_status do_part(void *task, int64_t part, int thread, sel_error *error) {
    count *c = task;
    bool caller = pthread_equal(pthread_self(), c->caller) != 0;
    if (thread < 0 || thread >= THREADS || (thread == 0) != caller) {
        c->crowded = true;
    }
    if (part == 0) {
        usleep(200); /* the others begin */
    }
    if (c->alone && !caller) {
        return sel_fail(error, SEL_BAD_SCENARIO, "another thread");
    }
    if (c->refused >= 0 && part >= c->refused) {
        return sel_fail(error, SEL_BAD_FILE, "part %d is refused", (int)part);
    }
    c->done[part]++;
    return SEL_OK;
}

static void check(bool alone, int threads) {
    count c = {.caller = pthread_self(), .alone = alone, .refused = -1};
    assert_int_equal(sel_share_out(PARTS, threads, do_part, &c, NULL), SEL_OK);
    assert_false(c.crowded);
    for (int i = 0; i < PARTS; i++) {
        assert_int_equal(c.done[i], 1);
    }
}

static void every_part_is_done_once(void **state) {
    (void)state;
    check(false, 1);
    check(false, THREADS);
}

static void what_other_threads_cannot_do_the_caller_does(void **state) {
    (void)state;
    check(true, THREADS);
}

static void a_slow_first_part_is_done_once(void **state) {
    (void)state;
    for (int k = 0; k < 500; k++) {
        count c = {.caller = pthread_self(), .refused = -1};
        assert_int_equal(sel_share_out(2 + k % 5, THREADS, do_part, &c, NULL), SEL_OK);
        assert_int_equal(c.done[0], 1);
    }
}

static void the_first_part_that_fails_is_told_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        for (int alone = 0; alone < 2; alone++) {
            count c = {.caller = pthread_self(), .alone = alone, .refused = 700};
            static sel_error error;
            error = (sel_error){.status = SEL_OK};
            assert_int_equal(sel_share_out(PARTS, threads, do_part, &c, &error), SEL_BAD_FILE);
            assert_int_equal(error.status, SEL_BAD_FILE);
            assert_string_equal(error.text, "part 700 is refused");
        }
    }
}

static void no_parts_are_nothing_to_do(void **state) {
    (void)state;
    count c = {.caller = pthread_self(), .refused = 0};
    assert_int_equal(sel_share_out(0, THREADS, do_part, &c, NULL), SEL_OK);
}

/* The C library tells that of a whole package, also on a machine that has a part of it. */
static void the_cache_is_that_of_these_processors(void **state) {
    (void)state;
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    const bool known = file && fscanf(file, "%lluK", &kilobytes) == 1;
    if (file) {
        fclose(file);
    }
    if (!known) {
        skip();
    }
    assert_in_range(sel_machine_cache(), kilobytes * 1024,
                    kilobytes * 1024 * (unsigned)sel_machine_threads());
}

/* Solvers ask in every step: files are read once. */
static void the_cache_is_known_at_once(void **state) {
    (void)state;
    const double before = sel_machine_seconds();
    for (int k = 0; k < 1000000; k++) {
        assert_true(sel_machine_cache() > 0);
    }
    assert_true(sel_machine_seconds() - before < 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_done_once),
        cmocka_unit_test(what_other_threads_cannot_do_the_caller_does),
        cmocka_unit_test(a_slow_first_part_is_done_once),
        cmocka_unit_test(the_first_part_that_fails_is_told_once),
        cmocka_unit_test(no_parts_are_nothing_to_do),
        cmocka_unit_test(the_cache_is_that_of_these_processors),
        cmocka_unit_test(the_cache_is_known_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
