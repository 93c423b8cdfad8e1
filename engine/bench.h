/* bench.h -- `selenite bench`: how fast this machine runs the kernels, against what memory allows.
 */
#ifndef SEL_BENCH_H
#define SEL_BENCH_H

#include <stdio.h>
#include "engine/status.h"

typedef struct sel_bench_options {
    int threads;    /* 0: all cores */
    int rounds;     /* interleaved measurements of every case; the median counts */
    double seconds; /* of stepping in each measurement */
    bool json;
} sel_bench_options;

/* Measures every kernel, precision and grid, and the copy bandwidth beside them in each round, so
 * that a busy machine slows both. Prints a table, or JSON. SEL_NO_DEVICE when memory is short. */
sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error);

#endif
