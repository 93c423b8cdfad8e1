/* process.h -- the process: standard streams, signals, and its end in the middle of a call. */
#ifndef SEL_PROCESS_H
#define SEL_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include "engine/base/status.h"

/* Opens /dev/null where descriptor 0, 1 or 2 is closed, so that no file that is opened later gets
 * the program's messages; ignores what is an error of a call (SIGPIPE, SIGXFSZ); handles SIGINT,
 * SIGTERM and, unless it is ignored (nohup), SIGHUP: such a signal ends the process at once with
 * status 130, but during sel_process_write(true) the first only sets *sel_process_interrupt(). To
 * be called first in main. */
void sel_process_start(void);

/* The signal that was received; 0: none. */
const volatile sig_atomic_t *sel_process_interrupt(void);

/* Whether there are files to leave whole, by somebody who looks at *sel_process_interrupt(). */
void sel_process_write(bool writes);

/* Starts a thread that gets no signals: they are for the program's own threads. False: the system
 * refuses it. */
bool sel_process_thread(pthread_t *thread, void *(*work)(void *), void *data);

/* Whether all that was printed on standard output arrived, up to where a reader left (| head). */
bool sel_process_output_arrived(void);

/* ---- its end in the middle of a call, with what must not be lost ---- */

/* Registers what is done first, on the thread that ends the process, while others are stopped at
 * any place; NULL takes it back. Does not return when the process is ending. */
void sel_emergency_set(void (*call)(void *data, const sel_error *error), void *data);

/* Does what is registered, prints the error on standard error and ends the process with its
 * status. */
_Noreturn void sel_emergency_end(const sel_error *error);

#endif
