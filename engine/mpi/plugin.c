/* plugin.c -- ranks by MPI: the plug-in that is loaded when there are several.
 *
 * Every wait asks again and again: it yields the processor, sees ranks that have ended, and does
 * not last for ever.
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

/* Bytes of one message of MPI, which counts them in an int. */
enum { MOST_BYTES = 1 << 30 };
/* Seconds between two looks at the other processes; of a wait for them after a signal. */
static const double look_seconds = 0.2, last_seconds = 5;
/* That a rank is stopped before the others say so. */
static const double stopped_seconds = 5;
/* Of spinning before an idle rank sleeps, and of a sleep at most. */
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

static bool has_ended(int rank) {
    const process *own = &processes[joined.rank], *other = &processes[rank];
    return strcmp(own->host, other->host) == 0 && kill(other->pid, 0) != 0 && errno == ESRCH;
}

/* Whether a signal (SIGSTOP) has stopped a rank of this machine. */
static bool is_stopped(int rank) {
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

/* One rank speaks: the first that is alive and goes on, as far as this machine knows. */
static bool is_speaker(void) {
    int first = 0;
    while (first < joined.rank && (has_ended(first) || is_stopped(first))) {
        first++;
    }
    return first == joined.rank;
}

/* Of itself each speaks. The others leave the one that speaks time to do so, before a launcher that
 * sees one end kills all. */
_Noreturn static void give_up(const char *why, int rank) {
    if (is_speaker() || rank == joined.rank) {
        fprintf(stderr, "rank %d %s: the run ends; the checkpoints before are whole\n", rank, why);
        fflush(stderr);
    } else {
        sleep(2);
    }
    _exit(SEL_NO_DEVICE);
}

/* ---- signals ---- */

/* Rank 0 leads the run: what asks another rank to end is told to it by a message. The tag is the
 * largest that every MPI has. A launcher may hand a signal on to all ranks, and the second one ends
 * rank 0 at once: the message comes later, and counts when there was no signal before. */
enum { SIGNAL_TAG = 32767 };
static const double tell_seconds = 1;

static void tell_of_signal(void) {
    static double since;
    static bool told;
    MPI_Request request;
    if (*interrupted && !told) {
        since = since > 0 ? since : seconds();
        if (seconds() - since > tell_seconds) {
            told = true;
            MPI_Isend(NULL, 0, MPI_BYTE, 0, SIGNAL_TAG, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
    }
}

static void hear_of_signal(void) {
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
    double begun, last, waited; /* time when the process is stopped does not count */
    double looked, signalled;
    double stopped_for; /* that `stopped`, -1: none, has been seen to be stopped */
    int stopped;
} wait;

/* Says once that a rank is stopped. */
static void look_for_stopped(wait *w) {
    int rank = 0;
    while (rank < joined.count && !is_stopped(rank)) {
        rank++;
    }
    rank = rank == joined.count ? -1 : rank;
    const double before = rank == w->stopped ? w->stopped_for : 0;
    w->stopped = rank;
    w->stopped_for = rank < 0 ? 0 : before + look_seconds;
    if (before <= stopped_seconds && w->stopped_for > stopped_seconds && is_speaker()) {
        fprintf(stderr,
                "rank %d is stopped: continue it by kill -CONT %ld on %s; the others wait for "
                "%g s\n",
                rank, (long)processes[rank].pid, processes[rank].host, patience_seconds);
        fflush(stderr);
    }
}

/* After a test that has not succeeded; `peer`: for which the wait is, as far as it is known. */
static void wait_more(wait *w, bool idle, int peer) {
    const double now = seconds();
    if (w->begun == 0) {
        *w = (wait){.begun = now, .last = now, .looked = now, .stopped = -1};
    }
    const double passed = now - w->last;
    w->waited += passed < look_seconds ? passed : look_seconds;
    w->last = now;
    if (now - w->looked > look_seconds) {
        w->looked = now;
        for (int r = 0; r < joined.count; r++) {
            if (has_ended(r)) {
                give_up("has ended", r);
            }
        }
        look_for_stopped(w);
        w->signalled += *interrupted ? look_seconds : 0;
        const double waited = idle ? w->stopped_for : w->waited;
        const bool signalled = w->signalled > last_seconds && (!idle || w->stopped >= 0);
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

static void complete(int count, MPI_Request *requests, bool idle, int peer) {
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

static void transfer(const sel_message *messages, int count) {
    size_t parts = 0;
    for (int k = 0; k < count; k++) {
        parts += messages[k].bytes / MOST_BYTES + 1;
    }
    MPI_Request few[16], *requests = parts <= 16 ? few : malloc(parts * sizeof *requests);
    if (!requests) {
        give_up("has no memory", joined.rank);
    }
    int started = 0;
    for (int turn = 0; turn < 2; turn++) { /* what is received has its place first */
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
    complete(started, requests, false, count ? messages[0].rank : 0);
    if (requests != few) {
        free(requests);
    }
}

/* Rank 0 gives its orders by this, several in a second. */
static void broadcast(void *at, size_t bytes, bool idle) {
    if (joined.rank == 0) {
        hear_of_signal();
    } else {
        tell_of_signal();
    }
    for (size_t from = 0; from < bytes; from += MOST_BYTES) {
        const size_t left = bytes - from;
        MPI_Request request;
        MPI_Ibcast((char *)at + from, left < MOST_BYTES ? (int)left : MOST_BYTES, MPI_BYTE, 0,
                   MPI_COMM_WORLD, &request);
        complete(1, &request, idle, 0);
    }
}

static void gather(const void *own, size_t bytes, void *all) {
    MPI_Request request;
    MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    complete(1, &request, false, joined.rank ? 0 : 1);
}

static void end(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete(1, &request, true, 0);
    MPI_Finalize();
    free(processes);
    processes = NULL;
}

static sel_ranks joined = {
    .library = library, .transfer = transfer, .broadcast = broadcast, .gather = gather, .end = end};

/* ---- the start ---- */

extern const int selenite_ranks_version;
const int selenite_ranks_version = SEL_RANKS_VERSION;

sel_ranks_open selenite_ranks_open;
const sel_ranks *selenite_ranks_open(const volatile sig_atomic_t *interrupt, double patience,
                                     char *text, size_t size) {
    int given, length;
    process own = {.pid = getpid()};
    struct sigaction kept[NSIG];
    for (int s = 1; s < NSIG; s++) { /* MPI has handlers of its own */
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
