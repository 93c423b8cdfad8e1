/* test_device_memory.c -- memory that a device needs and that cannot be had is told in one message:
 * what needs it, how much, and what to do. Without a GPU there is none to be had either.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "engine/base/status.h"

typedef sel_status allocator(void **block, uint64_t bytes, const char *what, sel_error *error);

/* NULL in a build without the CUDA backend. */
__attribute__((weak)) allocator cuda_host_allocate, cuda_device_allocate;

static const uint64_t too_much = (uint64_t)1 << 60;

static void expect_message(allocator *allocate, const char *memory) {
    char place;
    void *block = &place;
    sel_error error = {0};
    if (!allocate) {
        skip();
    }
    assert_int_equal(allocate(&block, too_much, "the laws", &error), SEL_NO_DEVICE);
    assert_null(block);
    assert_non_null(strstr(error.text, "for the laws: 1.15 EB are needed"));
    assert_non_null(strstr(error.text, memory));
    assert_non_null(strstr(error.text, "use fewer cells, or --backend cpu"));
}

static void page_locked_memory_that_runs_out_is_told(void **state) {
    (void)state;
    expect_message(cuda_host_allocate, "of the host's memory");
}

static void device_memory_that_runs_out_is_told(void **state) {
    (void)state;
    expect_message(cuda_device_allocate, "of the device's memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_locked_memory_that_runs_out_is_told),
        cmocka_unit_test(device_memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests_name("device memory", tests, NULL, NULL);
}
