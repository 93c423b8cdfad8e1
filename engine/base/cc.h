/* cc.h -- the system's C compiler, started on text that the engine has printed.
 *
 * What it makes runs in this process. So it is found in absolute parts of PATH, starts in / with
 * an environment of four variables, and has limits of time and memory. It works in a job of the
 * code cache (engine/base/code_cache.h), of which nothing is left, however this process ends.
 */
#ifndef SEL_CC_H
#define SEL_CC_H

#include <sys/types.h>
#include "engine/base/code_cache.h"

enum { SEL_CC_IDENTITY = SEL_PATH_ROOM + 64 };

typedef struct sel_cc_job {
    pid_t process;
    int folder, job; /* descriptors of the cache and of the job in it */
    char name[SEL_CODE_NAME];
} sel_cc_job;

/* Finds a compiler by its absolute path or by its name in PATH. `identity` tells its file from
 * others: path, size, time of change. False: there is none of that name. */
bool sel_cc_find(const char *wanted, char path[SEL_PATH_ROOM], char identity[SEL_CC_IDENTITY]);

/* Starts it on C text to make a shared library. `folder`: the cache, and its path; `options` end
 * with NULL. False: it does not start; then nothing is left. */
bool sel_cc_start(const char *compiler, const char *const *options, const char *text, size_t length,
                  int folder, const char *path, sel_cc_job *job);

typedef enum sel_cc_end { SEL_CC_RUNS, SEL_CC_MADE, SEL_CC_FAILED } sel_cc_end;

/* Whether it has ended; `waits`: when it has, or a signal has come. Made: *code, freed by the
 * caller, has the library. The job ends with the compiler. */
sel_cc_end sel_cc_poll(sel_cc_job *job, bool waits, void **code, size_t *bytes);

/* Ends a compiler that runs. */
void sel_cc_stop(sel_cc_job *job);

#endif
