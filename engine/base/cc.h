/* cc.h -- the system's C compiler, started on text that the engine has printed.
 *
 * The compiled library runs in this process, so a manipulated compiler must not be started: the
 * compiler is searched in the absolute parts of PATH only, and starts in / with an environment of
 * four variables. Its time and memory are limited. It works in a job folder of the code cache
 * (engine/base/code_cache.h), which is removed however this process ends.
 */
#ifndef SEL_CC_H
#define SEL_CC_H

#include <sys/types.h>
#include "engine/base/code_cache.h"

enum { SEL_CC_IDENTITY = SEL_PATH_ROOM + 64 };

typedef struct sel_cc_job {
    pid_t process;
    int folder, job; /* descriptors: the cache, and the job's folder in it */
    char name[SEL_CODE_NAME];
} sel_cc_job;

/* Finds a compiler by its absolute path or by its name in PATH. `identity` gets what distinguishes
 * its version: path, size and modification time of the file. False: no such program. */
bool sel_cc_find(const char *wanted, char path[SEL_PATH_ROOM], char identity[SEL_CC_IDENTITY]);

/* Starts `compiler` on the C text `text` to make a shared library. `options`: NULL-terminated.
 * `folder` and `path`: descriptor and path of the code cache. False: the compiler cannot be
 * started; the job's folder is then removed. */
bool sel_cc_start(const char *compiler, const char *const *options, const char *text, size_t length,
                  int folder, const char *path, sel_cc_job *job);

typedef enum sel_cc_end { SEL_CC_RUNS, SEL_CC_MADE, SEL_CC_FAILED } sel_cc_end;

/* Whether the compiler still runs, has made a library, or has failed. `waits`: waits until it ends
 * or a signal arrives. SEL_CC_MADE: *code holds the library's bytes; the caller frees it. The job's
 * folder is removed when the compiler has ended. */
sel_cc_end sel_cc_poll(sel_cc_job *job, bool waits, void **code, size_t *bytes);

/* Ends a running compiler and removes the job's folder. */
void sel_cc_stop(sel_cc_job *job);

#endif
