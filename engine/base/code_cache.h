/* code_cache.h -- machine code made at run time: the system's C compiler, and a cache in a folder
 * of the user's, so that each text is compiled once.
 *
 * The code runs in this process, so nobody else may be able to put code there: the folder and each
 * file must belong to the effective user and be writable by no other user. Both are checked on the
 * descriptors through which the code is read and loaded. `folder` below is the open descriptor of:
 *
 *     FOLDER/0123...cdef.so     code of one key, followed by a checksum
 *     FOLDER/job.12345.0/       work of one process; locked while that process lives
 */
#ifndef SEL_CODE_CACHE_H
#define SEL_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "engine/base/folder.h"

enum { SEL_CODE_NAME = 48, SEL_CODE_MOST = 64 << 20 }; /* bytes: of a name; of a file at most */

/* Opens the cache `folder`; NULL: $XDG_CACHE_HOME/selenite or ~/.cache/selenite. A missing folder
 * is made with mode 0700; relative paths are ignored. `path` gets the absolute path. Removes the
 * job folders of killed processes. Returns a descriptor, which the caller closes; -1: there is no
 * such folder, or other users could write to it. */
int sel_code_cache_open(const char *folder, char path[SEL_PATH_ROOM]);

/* The name of a cached file: a hash of the `count` texts that determine the code (source, options,
 * compiler) and of Selenite's version, with the extension `ending`. */
void sel_code_cache_name(const char *const *text, int count, const char *ending,
                         char name[SEL_CODE_NAME]);

/* Reads the file `name` into *code, which the caller frees. Returns its descriptor, which the
 * caller closes; -1: the file is missing or damaged, or other users could write to it. */
int sel_code_cache_read(int folder, const char *name, void **code, size_t *bytes);

/* Writes the code as file `name`, followed by the checksum, which dlopen ignores. False: the file
 * cannot be written. */
bool sel_code_cache_write(int folder, const char *name, const void *code, size_t bytes);

/* Makes a job folder of this process in the cache, with mode 0700. Returns its descriptor, which
 * holds the lock, and its name; -1: it cannot be made. */
int sel_code_cache_begin_job(int folder, char name[SEL_CODE_NAME]);

/* Removes the job folder with its files, and closes its descriptor `job`. */
void sel_code_cache_end_job(int folder, const char *name, int job);

/* ---- the system's C compiler, started on text that the engine has printed ----
 *
 * The compiled library runs in this process, so a manipulated compiler must not be started: the
 * compiler is searched in the absolute parts of PATH only, and starts in / with an environment of
 * four variables. Its time and memory are limited. It works in a job folder of the code cache,
 * which is removed however this process ends.
 */

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
