/* bench.h -- `selenite bench`: how fast this machine runs the kernels, against what memory allows.
 */
#ifndef SEL_BENCH_H
#define SEL_BENCH_H

#include <stdio.h>
#include "engine/status.h"

typedef struct sel_bench_options {
    int backend;      /* SEL_BACKEND_AUTO, ...; -1: auto */
    int threads;      /* 0: all cores */
    int rounds;       /* measurements of every case, the median counts; at most SEL_MOST_ROUNDS */
    double seconds;   /* of stepping in each measurement */
    const char *only; /* cases whose name, "D2Q9 f32 512x512 periodic trt" or "aqua f32 1024x1024
                         wet fill smooth", holds it, where * stands for any text; NULL: all */
    bool json;
} sel_bench_options;

enum { SEL_MOST_ROUNDS = 31 };

/* Measures kernels, precisions and grids on a backend, and its copy bandwidth beside them in each
 * round, so that a busy machine slows both. Prints a line as soon as a case is done, or JSON. Cases
 * that do not fit into memory are left out, with a line that says so. SEL_BAD_USAGE when no case
 * is called so, SEL_NO_DEVICE when the backend is not there. */
sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error);

#endif
