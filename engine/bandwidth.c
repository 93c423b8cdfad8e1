/* bandwidth.c -- time a large copy by streaming stores on all threads. */
#include "engine/bandwidth.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"
#include "engine/stream.h"

enum { COPIES = 9, LINE = 4096 };

/* Bytes of one array: several times the largest cache. */
static size_t array_bytes(void) {
    const size_t least = (size_t)128 << 20;
    size_t cache = (size_t)sel_machine_cache() * 4;
    return (cache > least ? cache : least) / LINE * LINE;
}

/* One copy, each thread its own part, as the populations of a flow are shared. */
static double time_copy(char *to, const char *from, size_t bytes, int threads) {
    double start = sel_machine_seconds();
    int64_t lines = (int64_t)(bytes / LINE);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < lines; k++) {
            sel_stream(to + k * LINE, from + k * LINE, LINE);
        }
        sel_stream_end();
    }
    return sel_machine_seconds() - start;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sel_bandwidth_copy(int threads) {
    size_t bytes = array_bytes();
    char *from = sel_machine_allocate(bytes), *to = sel_machine_allocate(bytes);
    double seconds[COPIES], rate = 0;
    if (from && to) {
        int64_t lines = (int64_t)(bytes / LINE);
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t k = 0; k < lines; k++) { /* its pages lie close to the thread that uses them */
            memset(from + k * LINE, (int)(k & 127), LINE);
            memset(to + k * LINE, 1, LINE);
        }
        for (int k = 0; k < COPIES; k++) {
            seconds[k] = time_copy(to, from, bytes, threads);
        }
        qsort(seconds, COPIES, sizeof *seconds, by_size);
        rate = 2 * (double)bytes / seconds[COPIES / 2];
    }
    free(from);
    free(to);
    return rate;
}
