/* watchdog.c -- a thread that ends user code whose time is up.
 *
 * All that it shares with the thread that it watches is one atomic number, the deadline. Lua's hook
 * raises when that has passed; where C does not return to Lua, or Lua calls no hooks, this thread
 * ends the process a second later. Only the watched thread can read where the script is, so it is
 * asked by a signal.
 */
#include "lua/watchdog.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PLACE_ROOM = 4096 };
#define ENDING (-1)
static const int64_t second = 1000000000;
static const int64_t longest_sleep = 200000000;
static const int64_t grace = 1000000000; /* for C to return to Lua */

struct sel_watchdog {
    _Atomic int64_t deadline; /* 0: none; ENDING: the process ends */
    sel_watchdog_calls calls;
    pthread_t watched, thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
    sem_t answered;
    char file[PLACE_ROOM];
    int line;
};

/* The one that asks where its script is: the last thing that a process does. */
static sel_watchdog *_Atomic asking;

int64_t sel_watchdog_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * second + now.tv_nsec;
}

static struct timespec at(int64_t time) {
    return (struct timespec){time / second, time % second};
}

static void answer(int number) {
    (void)number;
    int kept = errno;
    sel_watchdog *dog = atomic_load(&asking);
    if (dog && pthread_equal(pthread_self(), dog->watched)) {
        dog->calls.place(dog->calls.data, dog->file, PLACE_ROOM, &dog->line);
        sem_post(&dog->answered);
    }
    errno = kept;
}

/* Asks the watched thread for its place. A thread that takes no signals is not waited for. */
static void ask(sel_watchdog *dog) {
    struct timespec until;
    atomic_store(&asking, dog);
    pthread_kill(dog->watched, SIGURG);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (sem_timedwait(&dog->answered, &until) != 0 && errno == EINTR)
        ;
}

static void end(sel_watchdog *dog) {
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&first); /* for ever: one message is enough */
    ask(dog);
    dog->calls.end(dog->calls.data, dog->file, dog->line);
}

/* Ends the process where that is due; returns the time of the next look. */
static int64_t look(sel_watchdog *dog) {
    int64_t now = sel_watchdog_now(), deadline = atomic_load(&dog->deadline);
    int64_t due = deadline ? deadline + grace : INT64_MAX;
    /* The exchange fails when the code has just come back. */
    if (now >= due && atomic_compare_exchange_strong(&dog->deadline, &deadline, ENDING))
        end(dog);
    return due > now && due < now + longest_sleep ? due : now + longest_sleep;
}

static void *watch(void *data) {
    sel_watchdog *dog = data;
    pthread_mutex_lock(&dog->lock);
    while (!dog->done) {
        /* The clock that is read may lag behind the one that wakes. */
        struct timespec next = at(look(dog) + second / 100);
        pthread_cond_timedwait(&dog->wake, &dog->lock, &next);
    }
    pthread_mutex_unlock(&dog->lock);
    return NULL;
}

static bool start_thread(sel_watchdog *dog) {
    sigset_t all, kept;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept); /* signals are for the program's own threads */
    bool started = pthread_create(&dog->thread, NULL, watch, dog) == 0;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return started;
}

sel_watchdog *sel_watchdog_create(const sel_watchdog_calls *calls) {
    sel_watchdog *dog = calloc(1, sizeof *dog);
    pthread_condattr_t attributes;
    struct sigaction action = {.sa_handler = answer, .sa_flags = SA_RESTART};
    if (!dog)
        return NULL;
    dog->calls = *calls;
    dog->watched = pthread_self();
    pthread_mutex_init(&dog->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&dog->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    sem_init(&dog->answered, 0, 0);
    sigaction(SIGURG, &action, NULL);
    if (start_thread(dog))
        return dog;
    pthread_cond_destroy(&dog->wake);
    pthread_mutex_destroy(&dog->lock);
    sem_destroy(&dog->answered);
    free(dog);
    return NULL;
}

void sel_watchdog_destroy(sel_watchdog *dog) {
    if (!dog)
        return;
    sel_watchdog_set(dog, 0);
    pthread_mutex_lock(&dog->lock);
    dog->done = true;
    pthread_cond_signal(&dog->wake);
    pthread_mutex_unlock(&dog->lock);
    pthread_join(dog->thread, NULL);
    pthread_cond_destroy(&dog->wake);
    pthread_mutex_destroy(&dog->lock);
    sem_destroy(&dog->answered);
    free(dog);
}

void sel_watchdog_set(sel_watchdog *dog, int64_t deadline) {
    if (atomic_exchange(&dog->deadline, deadline) != ENDING)
        return;
    for (;;)
        pause();
}
