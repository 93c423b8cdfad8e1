/* writer.h -- a thread that writes files while the run computes, with a bounded queue. */
#ifndef SEL_WRITER_H
#define SEL_WRITER_H

#include <stdint.h>
#include "engine/base/status.h"

typedef struct sel_writer sel_writer;

/* A job, run on the writer's thread in the order of submission. It owns `data` and frees it.
 * `cancelled`: an earlier job failed, so it writes nothing and only frees. */
typedef sel_status (*sel_writer_job)(void *data, bool cancelled, sel_error *error);

/* Creates a writer whose queue holds `depth` jobs (a run uses 2 by default). */
sel_status sel_writer_create(int depth, sel_writer **writer, sel_error *error);

/* Queues a job; blocks while the queue is full. Fails with the first failure of an earlier job;
 * then the job has been called with `cancelled`, which frees `data`. */
sel_status sel_writer_submit(sel_writer *writer, sel_writer_job job, void *data, sel_error *error);

/* Waits until all jobs are done; returns the first failure. */
sel_status sel_writer_drain(sel_writer *writer, sel_error *error);

/* Statistics of a writer. */
typedef struct sel_writer_figures {
    int64_t submitted, written; /* jobs; `written` counts successful ones, none after a failure */
    double busy, waited;        /* seconds in jobs; seconds that submit and drain were blocked */
} sel_writer_figures;
sel_writer_figures sel_writer_so_far(sel_writer *writer);

/* Waits until all jobs are done, and ends the thread. NULL: does nothing. */
void sel_writer_destroy(sel_writer *writer);

#endif
