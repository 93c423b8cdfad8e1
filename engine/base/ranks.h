/* ranks.h -- the ranks of a run (the processes that compute it together) and their messages.
 *
 * MPI starts and joins the ranks. The program itself does not depend on MPI: with several ranks it
 * loads a plug-in for the MPI that started them.
 */
#ifndef SEL_RANKS_H
#define SEL_RANKS_H

#include <stddef.h>
#include <stdint.h>
#include "engine/base/status.h"

/* A message to or from another rank. Messages of one rank with one tag arrive in order. */
typedef struct sel_message {
    int rank, tag; /* the other rank */
    bool sends;    /* true: sends `bytes` bytes at `at`; false: receives them */
    void *at;
    size_t bytes;
} sel_message;

/* The ranks and their communication. The functions block until they have completed, and all ranks
 * call them in the same order. If a rank has ended or does not answer, they end the process with a
 * message. */
typedef struct sel_ranks {
    int rank, count;     /* this rank, and the number of ranks */
    int here, place;     /* the number of ranks on this machine, and this rank's index among them */
    const char *library; /* the name of the MPI library */
    bool sends_devices;  /* the MPI library sends from and to the memory of CUDA devices */
    /* Sends and receives all messages. */
    void (*transfer)(const sel_message *messages, int count);
    /* Sends bytes of rank 0 to all ranks. idle: the wait may be long; wait without using processor
     * time. */
    void (*broadcast)(void *at, size_t bytes, bool idle);
    /* Allgather: `bytes` bytes of each rank, in rank order, in all[count][bytes] of every rank. */
    void (*gather)(const void *own, size_t bytes, void *all);
    /* Waits for all ranks, and ends MPI. */
    void (*end)(void);
} sel_ranks;

enum { SEL_MOST_RANKS = 256 };

/* The only rank of a run without MPI. */
extern const sel_ranks sel_one_rank;

/* The number of this rank as the launcher (mpirun, srun) says, before sel_ranks_join. */
int sel_ranks_number(void);

/* Joins the ranks that the launcher started; *ranks is &sel_one_rank if there is one.
 * SEL_NO_DEVICE: the plug-in or its MPI is missing; the error says what to install. SEL_BAD_USAGE:
 * more than SEL_MOST_RANKS ranks. */
sel_status sel_ranks_join(const sel_ranks **ranks, sel_error *error);

/* The command that starts ranks: "mpirun", or, if only one MPI has a plug-in, that MPI's own
 * command, since mpirun may belong to the other MPI. */
const char *sel_ranks_launcher(void);

/* The MPIs that this build has a plug-in for, as "Open MPI, MPICH", or "none". Returns `text`. */
const char *sel_ranks_plugins(char *text, size_t size);

/* If any rank failed, all ranks return the status of the failing rank whose error names the first
 * cell (sel_fail_in_cell), of equal ones the lowest; else SEL_OK. Rank 0 gets that rank's error
 * text, and the other ranks an error with an empty text and the same cell: agreeing again changes
 * nothing. */
sel_status sel_ranks_agree(const sel_ranks *ranks, sel_status status, sel_error *error);

/* All-reduce of one number per rank: the sum; the maximum, which is NaN if any rank has NaN. */
int64_t sel_ranks_total(const sel_ranks *ranks, int64_t value);
double sel_ranks_largest(const sel_ranks *ranks, double value);

/* Allgather of parts of different sizes: rank r contributes the bytes end[r - 1] <= b < end[r] of
 * `array` (rank 0: from 0 on); afterwards every rank has the whole array. */
void sel_ranks_share(const sel_ranks *ranks, void *array, const size_t *end);
/* The messages of sel_ranks_share, at most 2 SEL_MOST_RANKS; returns their number. */
int sel_ranks_list_shares(const sel_ranks *ranks, void *array, const size_t *end,
                          sel_message *messages);

/* Memory from malloc for messages. If there is none, ends the process with a message: an error
 * could not be returned, since the other ranks wait. */
void *sel_ranks_memory(const sel_ranks *ranks, size_t bytes);

#endif
