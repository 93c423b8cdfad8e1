/* ranks.h -- the processes that compute one run together, and what they send to each other.
 *
 * MPI starts and joins them. It is loaded when there are several: a plug-in beside the program for
 * each kind of MPI, so that the program itself needs none.
 */
#ifndef SEL_RANKS_H
#define SEL_RANKS_H

#include <stddef.h>
#include <stdint.h>
#include "engine/base/status.h"

/* Bytes for another rank, or from it. Of one rank those of one tag arrive in order. */
typedef struct sel_message {
    int rank, tag;
    bool sends;
    void *at;
    size_t bytes;
} sel_message;

/* The functions return when their work is done. All ranks call them in the same order. Where one
 * can never be done, since a rank has ended or does not answer, they end the process with a
 * message. */
typedef struct sel_ranks {
    int rank, count; /* this one, and all */
    int here, place; /* those on this machine, and which of them this one is */
    const char *library;
    bool sends_devices; /* messages may be in the memory of CUDA's devices */
    void (*transfer)(const sel_message *messages, int count);
    /* Sends bytes of rank 0 to all. idle: the wait may be long, and takes no time of a processor.
     */
    void (*broadcast)(void *at, size_t bytes, bool idle);
    /* As many bytes of each rank, in their order: all[count][bytes]. */
    void (*gather)(const void *own, size_t bytes, void *all);
    /* Waits for all others, and leaves. */
    void (*end)(void);
} sel_ranks;

enum { SEL_MOST_RANKS = 256 };

/* A process on its own. */
extern const sel_ranks sel_one_rank;

/* The number of this one, as the launcher (mpirun, srun) says. */
int sel_ranks_number(void);

/* Joins them: *ranks, or &sel_one_rank where there is one. SEL_NO_DEVICE where the plug-in or its
 * MPI is missing, with what to install. */
sel_status sel_ranks_join(const sel_ranks **ranks, sel_error *error);

/* The command that starts ranks: mpirun, or the one of the only MPI that has a plug-in, since
 * mpirun may be another MPI's. */
const char *sel_ranks_launcher(void);

/* "Open MPI, MPICH": those that this build has a plug-in for; returns `text`. */
const char *sel_ranks_plugins(char *text, size_t size);

/* All get the status of the first rank that failed, SEL_OK if none has: rank 0 with its error,
 * others with an error without a text. */
sel_status sel_ranks_agree(const sel_ranks *ranks, sel_status status, sel_error *error);

/* The sum of whole numbers; the largest number, NaN where a rank has NaN. */
int64_t sel_ranks_total(const sel_ranks *ranks, int64_t value);
double sel_ranks_largest(const sel_ranks *ranks, double value);

/* Parts of an array that ranks hold: rank r has the bytes end[r - 1] <= b < end[r] of it (from 0
 * on). All get all. */
void sel_ranks_share(const sel_ranks *ranks, void *array, const size_t *end);
/* Its messages, at most 2 SEL_MOST_RANKS; returns their number. */
int sel_ranks_list_shares(const sel_ranks *ranks, void *array, const size_t *end,
                          sel_message *messages);

/* Memory for what is sent; ends the process where there is none, as others wait. From malloc. */
void *sel_ranks_memory(const sel_ranks *ranks, size_t bytes);

#endif
