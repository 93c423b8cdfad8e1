/* plugin.c -- the plug-in that joins several ranks through MPI.
 *
 * Every wait polls MPI. Between polls it yields the processor, checks whether ranks have ended or
 * are stopped, and enforces a timeout.
 */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "engine/base/ranks_plugin.h"

/* The most bytes of one MPI message: MPI counts them in an int. */
enum { MOST_BYTES = 1 << 30 };
/* The interval of checks of the other processes; the timeout after a signal. */
static const double check_seconds = 0.2, signal_timeout = 5;
/* How long a rank must be stopped before a message says so. */
static const double stopped_seconds = 5;
/* An idle rank polls for spin_seconds before it sleeps, at most sleep_seconds at a time. */
static const double spin_seconds = 2e-4, sleep_seconds = 1e-3;

typedef struct process {
    char host[64];
    pid_t pid;
} process;

static sel_ranks joined;
static process *processes; /* of all ranks */
static const volatile sig_atomic_t *interrupted;
static double patience_seconds;
static char library[MPI_MAX_LIBRARY_VERSION_STRING];

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the end of a run that cannot go on ---- */

static bool mpi_rank_has_ended(int rank) {
    const process *own = &processes[joined.rank], *other = &processes[rank];
    return strcmp(own->host, other->host) == 0 && kill(other->pid, 0) != 0 && errno == ESRCH;
}

/* Whether a signal (SIGSTOP) has stopped a rank of this machine. */
static bool mpi_rank_is_stopped(int rank) {
    char path[64], state = '\0';
    if (rank == joined.rank || strcmp(processes[joined.rank].host, processes[rank].host) != 0) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)processes[rank].pid);
    FILE *from = fopen(path, "re");
    if (from) {
        (void)!fscanf(from, "%*d (%*[^)]) %c", &state);
        fclose(from);
    }
    return state == 'T';
}

/* Whether this rank prints the message: the first rank that has not ended and is not stopped, as
 * far as this machine knows. */
static bool is_reporter(void) {
    int first = 0;
    while (first < joined.rank && (mpi_rank_has_ended(first) || mpi_rank_is_stopped(first))) {
        first++;
    }
    return first == joined.rank;
}

/* Ends the process, as `rank` can no longer take part. A rank always prints messages about itself.
 * Ranks that do not print wait first: a launcher kills all ranks when it sees one end. */
_Noreturn static void give_up(const char *why, int rank) {
    if (is_reporter() || rank == joined.rank) {
        fprintf(stderr, "rank %d %s: the run ends; the checkpoints before are whole\n", rank, why);
        fflush(stderr);
    } else {
        sleep(2);
    }
    _exit(SEL_NO_DEVICE);
}

/* ---- signals ---- */

/* Rank 0 coordinates the run, so another rank that receives a signal reports it to rank 0 by an
 * empty message. Its tag is the largest that every MPI allows. A launcher may forward a signal to
 * all ranks, and a second signal would end rank 0 at once. So the message is sent report_delay
 * later, and rank 0 ignores it if it has received a signal itself. */
enum { SIGNAL_TAG = 32767 };
static const double report_delay = 1;

static void report_signal(void) {
    static double since;
    static bool told;
    MPI_Request request;
    if (*interrupted && !told) {
        since = since > 0 ? since : seconds();
        if (seconds() - since > report_delay) {
            told = true;
            MPI_Isend(NULL, 0, MPI_BYTE, 0, SIGNAL_TAG, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
    }
}

static void receive_signal_report(void) {
    static bool known;
    int waits;
    known = known || *interrupted;
    MPI_Iprobe(MPI_ANY_SOURCE, SIGNAL_TAG, MPI_COMM_WORLD, &waits, MPI_STATUS_IGNORE);
    if (waits) {
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, SIGNAL_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!known) {
            known = true;
            raise(SIGTERM);
        }
    }
}

/* ---- waiting ---- */

typedef struct wait {
    double begun, last; /* the time of the first and of the latest poll */
    double waited;      /* seconds, without those when this process was stopped */
    double checked;     /* the time of the latest check of the other processes */
    double signalled;   /* seconds since a signal */
    double stopped_for; /* seconds that rank `stopped` has been stopped */
    int stopped;        /* -1: no rank */
} wait;

/* Updates w->stopped, and prints once that a rank is stopped. */
static void check_stopped(wait *w) {
    int rank = 0;
    while (rank < joined.count && !mpi_rank_is_stopped(rank)) {
        rank++;
    }
    rank = rank == joined.count ? -1 : rank;
    const double before = rank == w->stopped ? w->stopped_for : 0;
    w->stopped = rank;
    w->stopped_for = rank < 0 ? 0 : before + check_seconds;
    if (before <= stopped_seconds && w->stopped_for > stopped_seconds && is_reporter()) {
        fprintf(stderr,
                "rank %d is stopped: continue it by kill -CONT %ld on %s; the others wait for "
                "%g s\n",
                rank, (long)processes[rank].pid, processes[rank].host, patience_seconds);
        fflush(stderr);
    }
}

/* Waits after a poll that has not succeeded. `peer`: the rank to blame at a timeout. */
static void wait_more(wait *w, bool idle, int peer) {
    const double now = seconds();
    if (w->begun == 0) {
        *w = (wait){.begun = now, .last = now, .checked = now, .stopped = -1};
    }
    const double passed = now - w->last;
    w->waited += passed < check_seconds ? passed : check_seconds;
    w->last = now;
    if (now - w->checked > check_seconds) {
        w->checked = now;
        for (int r = 0; r < joined.count; r++) {
            if (mpi_rank_has_ended(r)) {
                give_up("has ended", r);
            }
        }
        check_stopped(w);
        w->signalled += *interrupted ? check_seconds : 0;
        const double waited = idle ? w->stopped_for : w->waited;
        const bool signalled = w->signalled > signal_timeout && (!idle || w->stopped >= 0);
        if (signalled || waited > patience_seconds) {
            give_up(w->stopped < 0 ? "does not answer" : "is stopped",
                    w->stopped < 0 ? peer : w->stopped);
        }
    }
    if (idle && w->waited > spin_seconds) {
        const double nap = w->waited / 8 < sleep_seconds ? w->waited / 8 : sleep_seconds;
        const struct timespec time = {.tv_nsec = (long)(1e9 * nap)};
        nanosleep(&time, NULL);
    } else {
        sched_yield();
    }
}

static void mpi_wait(int count, MPI_Request *requests, bool idle, int peer) {
    wait w = {.begun = 0};
    MPI_Status status;
    for (int done, k = 0; k < count; k += done != 0) {
        MPI_Test(&requests[k], &done, &status);
        if (!done) {
            wait_more(&w, idle, peer);
        }
    }
}

/* ---- the functions ---- */

static void mpi_transfer(const sel_message *messages, int count) {
    size_t parts = 0;
    for (int k = 0; k < count; k++) {
        parts += messages[k].bytes / MOST_BYTES + 1;
    }
    MPI_Request few[16], *requests = parts <= 16 ? few : malloc(parts * sizeof *requests);
    if (!requests) {
        give_up("has no memory", joined.rank);
    }
    int started = 0;
    for (int turn = 0; turn < 2; turn++) { /* receives are posted before sends */
        for (int k = 0; k < count; k++) {
            const sel_message *m = &messages[k];
            for (size_t from = 0; m->sends == turn && from < m->bytes; from += MOST_BYTES) {
                const size_t left = m->bytes - from;
                const int bytes = left < MOST_BYTES ? (int)left : MOST_BYTES;
                char *at = (char *)m->at + from;
                MPI_Request *to = &requests[started++];
                if (m->sends) {
                    MPI_Isend(at, bytes, MPI_BYTE, m->rank, m->tag, MPI_COMM_WORLD, to);
                } else {
                    MPI_Irecv(at, bytes, MPI_BYTE, m->rank, m->tag, MPI_COMM_WORLD, to);
                }
            }
        }
    }
    mpi_wait(started, requests, false, count ? messages[0].rank : 0);
    if (requests != few) {
        free(requests);
    }
}

/* Also exchanges news of signals: rank 0 broadcasts its commands, several per second. */
static void mpi_broadcast(void *at, size_t bytes, bool idle) {
    if (joined.rank == 0) {
        receive_signal_report();
    } else {
        report_signal();
    }
    for (size_t from = 0; from < bytes; from += MOST_BYTES) {
        const size_t left = bytes - from;
        MPI_Request request;
        MPI_Ibcast((char *)at + from, left < MOST_BYTES ? (int)left : MOST_BYTES, MPI_BYTE, 0,
                   MPI_COMM_WORLD, &request);
        mpi_wait(1, &request, idle, 0);
    }
}

static void mpi_gather(const void *own, size_t bytes, void *all) {
    MPI_Request request;
    MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    mpi_wait(1, &request, false, joined.rank ? 0 : 1);
}

static void mpi_end(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    mpi_wait(1, &request, true, 0);
    MPI_Finalize();
    free(processes);
    processes = NULL;
}

static sel_ranks joined = {.library = library,
                           .transfer = mpi_transfer,
                           .broadcast = mpi_broadcast,
                           .gather = mpi_gather,
                           .end = mpi_end};

/* ---- the start ---- */

extern const int selenite_ranks_version;
const int selenite_ranks_version = SEL_RANKS_VERSION;

sel_ranks_open selenite_ranks_open;
const sel_ranks *selenite_ranks_open(const volatile sig_atomic_t *interrupt, double patience,
                                     char *text, size_t size) {
    int given, length;
    process own = {.pid = getpid()};
    struct sigaction kept[NSIG];
    for (int s = 1; s < NSIG; s++) { /* MPI installs handlers, which are removed below */
        sigaction(s, NULL, &kept[s]);
    }
    const bool starts = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) == MPI_SUCCESS;
    if (!starts || given < MPI_THREAD_FUNNELED) {
        snprintf(text, size, "%s",
                 starts ? "it allows no threads (MPI_THREAD_FUNNELED); install one that does"
                        : "MPI_Init_thread fails");
        return NULL;
    }
    for (int s = 1; s < NSIG; s++) {
        sigaction(s, &kept[s], NULL);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &joined.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &joined.count);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    for (char *tab = strchr(library, '\t'); tab; tab = strchr(tab, '\t')) {
        *tab = ' ';
    }
    int (*sends_devices)(void); /* Open MPI has it, and MPICH from 4.0 on */
    void *function = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    memcpy(&sends_devices, &function, sizeof function);
    joined.sends_devices = function && sends_devices();
    gethostname(own.host, sizeof own.host - 1);
    processes = malloc((size_t)joined.count * sizeof *processes);
    if (!processes) {
        snprintf(text, size, "there is no memory for the list of ranks");
        return NULL;
    }
    MPI_Allgather(&own, sizeof own, MPI_BYTE, processes, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < joined.count; r++) {
        const bool here = strcmp(processes[r].host, own.host) == 0;
        joined.here += here;
        joined.place += here && r < joined.rank;
    }
    interrupted = interrupt;
    patience_seconds = patience;
    return &joined;
}
