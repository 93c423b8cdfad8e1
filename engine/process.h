/* process.h -- what the program asks of its process: standard streams and signals. */
#ifndef SEL_PROCESS_H
#define SEL_PROCESS_H

#include <signal.h>

/* Opens /dev/null where descriptor 0, 1 or 2 is closed, so that no file that is opened later gets
 * the program's messages; ignores what is an error of a call (SIGPIPE, SIGXFSZ); handles SIGINT,
 * SIGTERM and, unless it is ignored (nohup), SIGHUP: such a signal ends the process at once with
 * status 130, but while *sel_process_writing() is not 0 the first only sets
 * *sel_process_interrupt(). To be called first in main. */
void sel_process_start(void);

/* The signal that was received; 0: none. */
const volatile sig_atomic_t *sel_process_interrupt(void);

/* For sel_run_options.writing. */
volatile sig_atomic_t *sel_process_writing(void);

#endif
