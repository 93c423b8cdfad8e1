/* process.h -- the process: standard streams, signals, threads, and the emergency exit. */
#ifndef SEL_PROCESS_H
#define SEL_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include "engine/base/status.h"

/* To be called first in main.
 * - Ends the process with an error if its stack is too small.
 * - Opens /dev/null for each closed descriptor 0, 1 or 2, so that no file opened later receives the
 *   program's messages.
 * - Ignores SIGPIPE and SIGXFSZ, since the failing calls report the same as errors.
 * - Handles SIGINT, SIGTERM, SIGUSR2 and SIGHUP (unless it is ignored, as under nohup). Such a
 *   signal ends the process at once with status 130; but after sel_process_write(true) the first
 *   one only sets *sel_process_interrupt(). */
void sel_process_start(void);

/* Whether SIGUSR1 or (BSD) SIGINFO has arrived since the last call: they ask for the progress. */
bool sel_process_asked(void);

/* The signal that was received; 0: none. */
const volatile sig_atomic_t *sel_process_interrupt(void);

/* Tells whether files are being written, by code that polls *sel_process_interrupt(); sets that to
 * 0. */
void sel_process_write(bool writes);

/* Starts a thread in which all signals are blocked. False: the system refuses it. */
bool sel_process_thread(pthread_t *thread, void *(*work)(void *), void *data);

/* Makes this process a worker of another process (rank 0). It prints nothing to standard output,
 * and a signal only sets *sel_process_interrupt(). sel_emergency_end first waits, so that the other
 * process can print its own error. */
void sel_process_follow(void);

/* Whether all output to standard output was written, or its reader has closed the pipe (| head). */
bool sel_process_output_arrived(void);

/* ---- the emergency exit: an end in the middle of a call, which saves what must not be lost ----
 */

/* Registers the function that sel_emergency_end calls; NULL: none. The function must cope with any
 * state of the other threads, and may run in a signal handler. Does not return if the process is
 * already ending. */
void sel_emergency_set(void (*call)(void *data, const sel_error *error), void *data);

/* Prints the error, calls the registered function and ends the process with the error's status. */
_Noreturn void sel_emergency_end(const sel_error *error);

#endif
