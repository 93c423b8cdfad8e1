/* watchdog.h -- a thread that ends user code which does not come back in time. */
#ifndef SEL_WATCHDOG_H
#define SEL_WATCHDOG_H

#include <stdint.h>

typedef struct sel_watchdog sel_watchdog;

/* Nanoseconds of a clock that never goes back. Takes next to no time, and lags some milliseconds.
 */
int64_t sel_watchdog_now(void);

typedef struct sel_watchdog_calls {
    /* Tells which line of which file runs. On the watched thread, in a handler of SIGURG. */
    void (*place)(void *data, char *file, int room, int *line);
    /* Ends the process: the code has not come back a second after its deadline. On the watchdog's
     * thread; `file` is "" where the watched thread did not answer. */
    void (*end)(void *data, const char *file, int line);
    void *data;
} sel_watchdog_calls;

/* Starts the thread, for code that runs on the calling thread. NULL: there is no memory for it. */
sel_watchdog *sel_watchdog_create(const sel_watchdog_calls *calls);
void sel_watchdog_destroy(sel_watchdog *dog);

/* What runs must have come back a second after `deadline`; 0: nothing runs. Does not return when
 * the process is ending. */
void sel_watchdog_set(sel_watchdog *dog, int64_t deadline);

#endif
