/* process.c -- the process: standard streams, signals, threads, and the emergency exit. */
#include "engine/base/process.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t interrupt_signal, writing, progress_asked;
static bool is_worker;
static const unsigned grace = 3; /* seconds that a worker leaves rank 0 to print its error */

/* Async-signal-safe: nothing is freed, no stream is flushed. */
static void on_signal(int number) {
    static const char text[] = "interrupted\n";
    if (!writing || interrupt_signal) {
        ssize_t written = is_worker ? 0 : write(STDERR_FILENO, text, sizeof text - 1);
        (void)written;
        _exit(SEL_INTERRUPTED);
    }
    interrupt_signal = number;
}

static void on_progress_request(int number) {
    progress_asked = number;
}

static void open_standard_streams(void) {
    int descriptor;
    do {
        descriptor = open("/dev/null", O_RDWR); /* the lowest that is closed */
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0) {
        close(descriptor);
    }
}

/* Lua and readers of files need more than a few pages; threads have stacks of the same size. */
static void refuse_small_stack(void) {
    enum { LEAST = 512 }; /* KiB */
    static const char text[] = "the stack is limited to less than 512 KiB, which is not enough to "
                               "run in: raise the limit, as by ulimit -s 8192\n";
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < (rlim_t)LEAST << 10) {
        ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
        (void)written;
        _exit(SEL_NO_DEVICE);
    }
}

void sel_process_start(void) {
    struct sigaction action = {.sa_handler = on_signal}, before;
    refuse_small_stack();
    open_standard_streams();
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR2, &action, NULL); /* mpirun forwards it */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, NULL);
    }
    action = (struct sigaction){.sa_handler = on_progress_request, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
#ifdef SIGINFO
    sigaction(SIGINFO, &action, NULL);
#endif
    action = (struct sigaction){.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
    /* Flushed after each line, so that a signal loses no output. */
    setvbuf(stdout, NULL, _IOLBF, 0);
}

const volatile sig_atomic_t *sel_process_interrupt(void) {
    return &interrupt_signal;
}

bool sel_process_asked(void) {
    const bool was = progress_asked;
    progress_asked = 0;
    return was;
}

void sel_process_follow(void) {
    const int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        close(nothing);
    }
    is_worker = true;
    writing = true;
}

void sel_process_write(bool writes) {
    writing = writes || is_worker; /* a signal may reach a worker late; rank 0 decides */
    interrupt_signal = 0;
}

bool sel_process_thread(pthread_t *thread, void *(*work)(void *), void *data) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, work, data) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool sel_process_output_arrived(void) {
    struct pollfd to = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    return poll(&to, 1, 0) == 1 && (to.revents & POLLERR);
}

/* ---- the emergency exit ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*registered)(void *data, const sel_error *error);
static void *registered_data;

void sel_emergency_set(void (*call)(void *data, const sel_error *error), void *data) {
    pthread_mutex_lock(&lock);
    registered = call;
    registered_data = data;
    pthread_mutex_unlock(&lock);
}

/* Prints without the stream stderr, which may be locked; gives up if the pipe stays full. */
static void process_print(const char *text) {
    struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
    size_t length = strlen(text);
    while (length > 0 && poll(&to, 1, 1000) == 1) {
        ssize_t written = write(to.fd, text, length < PIPE_BUF ? length : PIPE_BUF);
        if (written <= 0) {
            break;
        }
        text += written;
        length -= (size_t)written;
    }
}

void sel_emergency_end(const sel_error *error) {
    if (is_worker) {
        sleep(grace);
    }
    pthread_mutex_lock(&lock); /* never released, so that later callers stop here */
    process_print(error->text);
    process_print("\n");
    if (registered) {
        registered(registered_data, error);
    }
    _exit(error->status);
}
