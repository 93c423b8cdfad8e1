/* share.c -- share parts of a task among threads; repeat what only the calling thread can do. */
#include "engine/base/share.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

/* The parts that remain after the threads. */
typedef struct rest {
    uint8_t *done;    /* [parts] */
    int64_t failed;   /* the part that failed in the calling thread; -1: none */
    sel_error reason; /* of that failure */
} rest;

/* Does part p in one of the threads. */
static void try_part(int64_t p, sel_part *work, void *task, rest *left, bool *failed) {
    const int thread = omp_get_thread_num();
    sel_error error;
    error.status = SEL_OK;
    error.text[0] = '\0';
    left->done[p] = work(task, p, thread, &error) == SEL_OK;
    if (!left->done[p] && thread == 0) {
        left->failed = p;
        left->reason = error;
#pragma omp atomic write
        *failed = true;
    }
}

static void do_shared(int64_t parts, int threads, sel_part *work, void *task, rest *left) {
    bool failed = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t p = 0; p < parts; p++) {
        bool given_up;
#pragma omp atomic read
        given_up = failed;
        if (!given_up) {
            try_part(p, work, task, left, &failed);
        }
    }
}

/* Does the remaining parts in order. */
static sel_status do_rest(int64_t parts, sel_part *work, void *task, const rest *left,
                          sel_error *error) {
    sel_status status = SEL_OK;
    for (int64_t p = 0; p < parts && !status; p++) {
        if (p == left->failed) {
            return sel_fail(error, left->reason.status, "%s", left->reason.text);
        }
        if (!left->done || !left->done[p]) {
            status = work(task, p, 0, error);
        }
    }
    return status;
}

sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error) {
    rest left = {.failed = -1};
    if (threads > 1 && parts > 1 && !omp_in_parallel()) {
        left.done = calloc((size_t)parts, 1); /* without it all parts remain */
    }
    if (left.done) {
        do_shared(parts, threads, work, task, &left);
    }
    sel_status status = do_rest(parts, work, task, &left, error);
    free(left.done);
    return status;
}
