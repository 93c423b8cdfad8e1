/* writer.h -- a thread that writes files while the run computes, with a bounded queue. */
#ifndef SEL_WRITER_H
#define SEL_WRITER_H

#include <stdint.h>
#include "engine/base/status.h"

typedef struct sel_writer sel_writer;

/* A job runs on the writer's thread, in the order of submission; it owns `data` and frees it,
 * also when `cancelled` (after an earlier job failed nothing more is written). */
typedef sel_status (*sel_writer_job)(void *data, bool cancelled, sel_error *error);

/* `depth` jobs may wait (2 is the default of a run); submit blocks while the queue is full. */
sel_status sel_writer_create(int depth, sel_writer **writer, sel_error *error);

/* Fails with the first failure of an earlier job (then `data` has been freed by the job). */
sel_status sel_writer_submit(sel_writer *writer, sel_writer_job job, void *data, sel_error *error);

/* Waits until all jobs are done; returns the first failure. */
sel_status sel_writer_drain(sel_writer *writer, sel_error *error);

/* Jobs that were submitted so far, and how many of them, from the first on, have written all that
 * they had to: after a failure none does. Seconds that jobs took, and that others stood still for
 * them: submit() without room, drain(). */
typedef struct sel_writer_figures {
    int64_t submitted, written;
    double busy, waited;
} sel_writer_figures;
sel_writer_figures sel_writer_so_far(sel_writer *writer);

/* Drains, ends the thread. NULL is fine. */
void sel_writer_destroy(sel_writer *writer);

#endif
