/* code_cache.h -- compiled code in a folder of the user's, so that each text is compiled once.
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

#endif
