/* share.c -- share parts of a task among threads; repeat what only the calling thread can do. */
#include "engine/base/share.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

/* Does what the threads can do, until a part fails in the calling one. */
static void do_shared(int64_t parts, int threads, sel_part *work, void *task, uint8_t *done) {
    bool failed = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t p = 0; p < parts; p++) {
        const int thread = omp_get_thread_num();
        bool given_up;
#pragma omp atomic read
        given_up = failed;
        done[p] = !given_up && work(task, p, thread, NULL) == SEL_OK;
        if (!done[p] && thread == 0) {
#pragma omp atomic write
            failed = true;
        }
    }
}

sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error) {
    const bool shared = threads > 1 && parts > 1 && !omp_in_parallel();
    uint8_t *done = shared ? calloc((size_t)parts, 1) : NULL; /* without it all parts remain */
    sel_status status = SEL_OK;
    if (done) {
        do_shared(parts, threads, work, task, done);
    }
    for (int64_t p = 0; p < parts && !status; p++) {
        if (!done || !done[p]) {
            status = work(task, p, 0, error);
        }
    }
    free(done);
    return status;
}
