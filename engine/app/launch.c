/* launch.c -- starts this program in several ranks by mpirun, and forwards signals to it. */
#include "engine/app/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/base/ranks.h"

/* Settings of Open MPI's mpirun: allow root, allow more ranks than cores, do not bind ranks to
 * cores, yield the core while waiting. Other MPI libraries ignore them. */
static const char *const settings[][2] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                          {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                          {"OMPI_MCA_orte_execute_quiet", "1"}};

static volatile sig_atomic_t ends;
static volatile pid_t mpirun;

/* Signal handler: forwards a signal to mpirun. The first one becomes SIGUSR2, which mpirun passes
 * to the ranks, so that they end in order; on SIGTERM it would kill them after a second. A second
 * signal becomes SIGTERM. */
static void forward_signal(int number) {
    const bool asks = number == SIGUSR1;
    kill(mpirun, asks ? SIGUSR1 : ends ? SIGTERM : SIGUSR2);
    ends = ends || !asks;
}

/* Waits for mpirun and forwards signals; returns the exit status. */
static int wait_for_mpirun(void) {
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    const struct sigaction action = {.sa_handler = forward_signal};
    int status = 0;
    for (size_t k = 0; k < sizeof forwarded / sizeof *forwarded; k++) {
        sigaction(forwarded[k], &action, NULL);
    }
    while (waitpid(mpirun, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

sel_status sel_launch_ranks(int count, const char *const *arguments, sel_error *error) {
    static char program[4096], number[16];
    int n = 0;
    while (arguments[n]) {
        n++;
    }
    const char **command = calloc((size_t)n + 8, sizeof *command);
    if (!command || readlink("/proc/self/exe", program, sizeof program - 1) <= 0) {
        free(command);
        return sel_fail(
            error, SEL_NO_DEVICE,
            "--ranks cannot read /proc/self/exe, the program to start: call mpirun -n %d with it",
            count);
    }
    const char *const first[] = {"mpirun", "-n", number, program};
    snprintf(number, sizeof number, "%d", count);
    memcpy(command, first, sizeof first);
    memcpy(command + 4, arguments, (size_t)n * sizeof *command);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        setenv(settings[k][0], settings[k][1], 0);
    }
    int ready[2];
    const bool piped = pipe2(ready, O_CLOEXEC) == 0;
    mpirun = piped ? fork() : -1;
    if (mpirun < 0) {
        free(command);
        return sel_fail(error, SEL_NO_DEVICE, "--ranks %d cannot start mpirun: %s", count,
                        strerror(errno));
    }
    if (mpirun == 0) { /* in a process group of its own: the terminal's signals do not reach it */
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execvp(sel_ranks_launcher(), (char *const *)(void *)command);
        execvp(command[0], (char *const *)(void *)command);
        ssize_t told = write(ready[1], "", 1);
        _exit(told < 0);
    }
    char failed;
    close(ready[1]);
    if (read(ready[0], &failed, 1) == 0) {
        exit(wait_for_mpirun());
    }
    free(command);
    return sel_fail(error, SEL_NO_DEVICE,
                    "--ranks %d needs mpirun: install openmpi-bin and libopenmpi-dev (Debian, "
                    "Ubuntu), and call make again",
                    count);
}
