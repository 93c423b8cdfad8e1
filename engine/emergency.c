/* emergency.c -- end the process in the middle of a call, with what must not be lost. */
#include "engine/emergency.h"
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*registered)(void *data, const sel_error *error);
static void *registered_data;

void sel_emergency_set(void (*call)(void *data, const sel_error *error), void *data) {
    pthread_mutex_lock(&lock);
    registered = call;
    registered_data = data;
    pthread_mutex_unlock(&lock);
}

/* Standard error may be a pipe that nobody empties, and its stream may be locked. */
static void print(const char *text) {
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
    pthread_mutex_lock(&lock); /* for ever: who comes later finds nothing to do */
    if (registered) {
        registered(registered_data, error);
    }
    print(error->text);
    print("\n");
    _exit(error->status);
}
