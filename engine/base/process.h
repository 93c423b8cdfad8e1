/* process.h -- the process: standard streams, signals, and its end in the middle of a call. */
#ifndef SEL_PROCESS_H
#define SEL_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include "engine/base/status.h"

/* Ends the process with an error where its stack is too small; opens /dev/null where descriptor 0,
 * 1 or 2 is closed, so that no file opened later receives the program's messages; ignores signals
 * that calls report as errors (SIGPIPE, SIGXFSZ); handles SIGINT, SIGTERM, SIGUSR2 and, unless it
 * is ignored (nohup), SIGHUP: such a signal ends the process at once with status 130, but after
 * sel_process_write(true) the first only sets *sel_process_interrupt(). To be called first in main.
 */
void sel_process_start(void);

/* Whether SIGUSR1, or SIGINFO where there is one, has asked how far the run is, since the last
 * call. */
bool sel_process_asked(void);

/* The signal that was received; 0: none. */
const volatile sig_atomic_t *sel_process_interrupt(void);

/* true: files are written from here on, by code that polls *sel_process_interrupt(), which is set
 * to 0; false: their writing has ended. */
void sel_process_write(bool writes);

/* Starts a thread that gets no signals: they are for the program's own threads. False: the system
 * refuses it. */
bool sel_process_thread(pthread_t *thread, void *(*work)(void *), void *data);

/* For a process that follows another one: it prints nothing to standard output, a signal only sets
 * *sel_process_interrupt(), and when it ends in an emergency it first leaves the other one time to
 * say why. */
void sel_process_follow(void);

/* Whether all output to standard output was written, or its reader has closed the pipe (| head). */
bool sel_process_output_arrived(void);

/* ---- emergency end in the middle of a call, saving what must not be lost ---- */

/* Registers a call that is made then, in the middle of whatever the calling thread does, which may
 * be in a signal's handler; NULL unregisters it. Does not return when the process is ending. */
void sel_emergency_set(void (*call)(void *data, const sel_error *error), void *data);

/* Prints the error, makes the registered call and ends the process with the error's status. */
_Noreturn void sel_emergency_end(const sel_error *error);

#endif
