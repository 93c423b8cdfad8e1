/* process.c -- what the program asks of its process: standard streams and signals. */
#include "engine/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "engine/status.h"

static volatile sig_atomic_t interrupt_signal, writing;

/* Only what is allowed in a handler: nothing is freed, no stream is flushed. */
static void on_signal(int number) {
    static const char text[] = "interrupted\n";
    if (!writing || interrupt_signal) {
        ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
        (void)written;
        _exit(SEL_INTERRUPTED);
    }
    interrupt_signal = number;
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

void sel_process_start(void) {
    struct sigaction action = {.sa_handler = on_signal}, before;
    open_standard_streams();
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, NULL);
    }
    action = (struct sigaction){.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
    /* What was printed before a signal is not lost. */
    setvbuf(stdout, NULL, _IOLBF, 0);
}

const volatile sig_atomic_t *sel_process_interrupt(void) {
    return &interrupt_signal;
}

volatile sig_atomic_t *sel_process_writing(void) {
    return &writing;
}
