/* ranks.c -- the ranks of a run: one rank without MPI, several through a plug-in. */
#include "engine/base/ranks.h"

#include <dlfcn.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/process.h"
#include "engine/base/ranks_plugin.h"
#include "engine/base/sums.h"

/* ---- one rank ---- */

static void transfer_nothing(const sel_message *messages, int count) {
    (void)messages, (void)count;
}

static void broadcast_alone(void *at, size_t bytes, bool idle) {
    (void)at, (void)bytes, (void)idle;
}

static void gather_alone(const void *own, size_t bytes, void *all) {
    memcpy(all, own, bytes);
}

static void end_alone(void) {}

const sel_ranks sel_one_rank = {.count = 1,
                                .here = 1,
                                .library = "none",
                                .transfer = transfer_nothing,
                                .broadcast = broadcast_alone,
                                .gather = gather_alone,
                                .end = end_alone};

/* ---- collectives made of transfer and gather ---- */

sel_status sel_ranks_agree(const sel_ranks *ranks, sel_status status, sel_error *error) {
    if (ranks->count == 1) {
        return status;
    }
    struct {
        sel_status status;
        int64_t cell;
    } own = {status, error ? error->cell : 0}, all[SEL_MOST_RANKS];
    int first = -1;
    ranks->gather(&own, sizeof own, all);
    for (int r = 0; r < ranks->count; r++) {
        const bool fails = all[r].status != SEL_OK;
        first = fails && (first < 0 || all[r].cell < all[first].cell) ? r : first;
    }
    if (first < 0) {
        return SEL_OK;
    }
    if (first > 0) {
        sel_error *of_first = sel_ranks_memory(ranks, sizeof *of_first);
        *of_first =
            ranks->rank == first && error ? *error : (sel_error){.status = all[first].status};
        const sel_message message = {.rank = ranks->rank ? 0 : first,
                                     .sends = ranks->rank == first,
                                     .at = of_first,
                                     .bytes = sizeof *of_first};
        ranks->transfer(&message, ranks->rank == 0 || ranks->rank == first);
        if (ranks->rank == 0) {
            if (error && status) {
                error->status = SEL_OK; /* its own message gives way */
            }
            sel_fail(error, all[first].status, "%s", of_first->text);
        }
        free(of_first);
    }
    if (ranks->rank > 0) {
        sel_fail(error, all[first].status, "%s", "");
    }
    if (error) {
        error->cell = all[first].cell; /* rank 0 has the text if callers agree again */
    }
    return all[first].status;
}

int64_t sel_ranks_total(const sel_ranks *ranks, int64_t value) {
    int64_t all[SEL_MOST_RANKS], total = 0;
    ranks->gather(&value, sizeof value, all);
    for (int r = 0; r < ranks->count; r++) {
        total += all[r];
    }
    return total;
}

double sel_ranks_largest(const sel_ranks *ranks, double value) {
    double all[SEL_MOST_RANKS];
    ranks->gather(&value, sizeof value, all);
    for (int r = 0; r < ranks->count; r++) {
        value = sel_larger(value, all[r]);
    }
    return value;
}

int sel_ranks_list_shares(const sel_ranks *ranks, void *array, const size_t *end,
                          sel_message *messages) {
    const int own = ranks->rank;
    int count = 0;
    for (int r = 0; r < ranks->count; r++) {
        const size_t mine = own ? end[own - 1] : 0, its = r ? end[r - 1] : 0;
        if (r != own && end[own] > mine) {
            messages[count++] = (sel_message){r, 0, true, (char *)array + mine, end[own] - mine};
        }
        if (r != own && end[r] > its) {
            messages[count++] = (sel_message){r, 0, false, (char *)array + its, end[r] - its};
        }
    }
    return count;
}

void sel_ranks_share(const sel_ranks *ranks, void *array, const size_t *end) {
    sel_message messages[2 * SEL_MOST_RANKS];
    ranks->transfer(messages, sel_ranks_list_shares(ranks, array, end, messages));
}

void *sel_ranks_memory(const sel_ranks *ranks, size_t bytes) {
    void *memory = malloc(bytes + 1);
    if (!memory) {
        fprintf(stderr,
                "rank %d: %zu bytes cannot be had for what ranks exchange; use fewer ranks on a "
                "machine, or a smaller grid\n",
                ranks->rank, bytes);
        _exit(SEL_NO_DEVICE);
    }
    return memory;
}

/* ---- launchers ---- */

/* A launcher: the environment variables that hold the rank and the number of ranks, the plug-in for
 * the launcher's MPI, and the MPI's name. */
static const struct launcher {
    const char *rank, *count, *plugin, *name;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi", "Open MPI"},
    {"PMI_RANK", "PMI_SIZE", "mpich", "MPICH"}, /* mpiexec.hydra; srun --mpi=pmi2 */
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "openmpi", "Open MPI"}, /* srun --mpi=pmix */
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

static const struct launcher *launcher_of_run(int *count) {
    *count = 1;
    for (int k = 0; k < LAUNCHERS; k++) {
        const char *number = getenv(launchers[k].rank) ? getenv(launchers[k].count) : NULL;
        if (number) {
            *count = atoi(number) > 1 ? atoi(number) : 1;
            return &launchers[k];
        }
    }
    return NULL;
}

int sel_ranks_number(void) {
    int count;
    const struct launcher *launcher = launcher_of_run(&count);
    return launcher ? atoi(getenv(launcher->rank)) : 0;
}

/* ---- the plug-in ---- */

/* The timeout of communication (s): how long a rank waits for others in the middle of a step. */
static double patience(void) {
    const char *text = getenv("SELENITE_PATIENCE");
    const double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 ? seconds : 600;
}

/* A timeout for joining: MPI itself waits forever for a rank that has ended or is stopped before it
 * joins. Rank 0 times out first, so that one message is printed; its launcher then ends all ranks.
 */
static char late_text[256];

static void on_late(int number) {
    (void)number;
    ssize_t written = write(STDERR_FILENO, late_text, strlen(late_text));
    (void)written;
    _exit(SEL_NO_DEVICE);
}

static void begin_to_join(double seconds) {
    const struct sigaction action = {.sa_handler = on_late};
    const unsigned most = (unsigned)fmin(ceil(seconds), 1e8);
    snprintf(late_text, sizeof late_text,
             "MPI does not start: not all ranks have joined within %u s; one has ended, is stopped "
             "or cannot be reached\n",
             most);
    sigaction(SIGALRM, &action, NULL);
    alarm(most + (sel_ranks_number() > 0 ? 3 : 0));
}

static void end_to_join(void) {
    alarm(0);
    signal(SIGALRM, SIG_DFL);
}

/* Finds a plug-in beside the program, or where `make install` puts it. False: there is none; `path`
 * is then empty. */
static bool find_plugin(const char *name, char *path, size_t size) {
    static const char *const folders[] = {"", "../lib/selenite/"};
    char program[3072] = "";
    const bool known = readlink("/proc/self/exe", program, sizeof program - 1) > 0;
    const char *folder = dirname(program);
    bool found = false;
    for (int k = 0; k < 2 && known && !found; k++) {
        snprintf(path, size, "%s/%sselenite_%s.so", folder, folders[k], name);
        found = access(path, F_OK) == 0;
    }
    path[0] = found ? path[0] : '\0';
    return found;
}

const char *sel_ranks_launcher(void) {
    static const char *const alone[] = {"mpirun.openmpi", "mpirun.mpich"};
    char path[4096];
    const bool there[] = {find_plugin("openmpi", path, sizeof path),
                          find_plugin("mpich", path, sizeof path)};
    return there[0] == there[1] ? "mpirun" : alone[there[1]];
}

const char *sel_ranks_plugins(char *text, size_t size) {
    char path[4096];
    snprintf(text, size, "none");
    for (int k = 0, used = 0; k < 2; k++) { /* the third launcher has the plug-in of the first */
        if (find_plugin(launchers[k].plugin, path, sizeof path)) {
            used += snprintf(text + used, size - (size_t)used, "%s%s", used ? ", " : "",
                             launchers[k].name);
        }
    }
    return text;
}

sel_status sel_ranks_join(const sel_ranks **ranks, sel_error *error) {
    int count;
    const struct launcher *launcher = launcher_of_run(&count);
    *ranks = &sel_one_rank;
    if (count == 1) {
        return SEL_OK;
    }
    if (count > SEL_MOST_RANKS) {
        return sel_fail(error, SEL_BAD_USAGE, "%d ranks were started; start at most %d", count,
                        SEL_MOST_RANKS);
    }
    char path[4096], text[512];
    const bool open_mpi = strcmp(launcher->plugin, "openmpi") == 0;
    if (!find_plugin(launcher->plugin, path, sizeof path)) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "%d ranks were started by %s, and this build of Selenite has no plug-in "
                        "for it: install %s (Debian, Ubuntu) and call make again",
                        count, launcher->name, open_mpi ? "libopenmpi-dev" : "libmpich-dev");
    }
    void *plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const char *why = plugin ? NULL : dlerror();
    if (!plugin) {
        return sel_fail(error, SEL_NO_DEVICE, "%s: %s; install %s (Debian, Ubuntu)", path,
                        why ? why : "cannot be loaded", open_mpi ? "libopenmpi3" : "libmpich12");
    }
    sel_ranks_open *open;
    void *function = dlsym(plugin, "selenite_ranks_open");
    const int *version = dlsym(plugin, "selenite_ranks_version");
    memcpy(&open, &function, sizeof open);
    if (!function || !version || *version != SEL_RANKS_VERSION) {
        return sel_fail(error, SEL_NO_DEVICE, "%s is of another version: call make again", path);
    }
    begin_to_join(patience());
    const sel_ranks *made = open(sel_process_interrupt(), patience(), text, sizeof text);
    end_to_join();
    *ranks = made ? made : &sel_one_rank;
    return made ? SEL_OK : sel_fail(error, SEL_NO_DEVICE, "MPI does not start: %s", text);
}
