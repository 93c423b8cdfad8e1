/* code_cache.h -- compiled code in a folder of the user's, so that one text is compiled once.
 *
 * The code runs in this process, so that nobody else may have laid it there: the folder and each
 * file must belong to the effective user and be writable by no other. Both are checked on the
 * descriptors by which the code is read and loaded. The functions work in the folder's descriptor:
 *
 *     FOLDER/0123...cdef.so     code of one key, with a checksum behind it
 *     FOLDER/job.12345.0/       what one process is making; locked while that process lives
 */
#ifndef SEL_CODE_CACHE_H
#define SEL_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include "engine/base/folder.h"

enum { SEL_CODE_NAME = 48, SEL_CODE_MOST = 64 << 20 /* bytes of a file */ };

/* Opens `folder`; NULL: $XDG_CACHE_HOME/selenite or ~/.cache/selenite, made with mode 0700 where it
 * is missing. Relative paths are ignored. `path` gets its absolute path. Removes what processes
 * that were killed have left there. Returns a descriptor, closed by the caller; -1: there is no
 * such folder, or others could write to it. */
int sel_code_cache_open(const char *folder, char path[SEL_PATH_ROOM]);

/* The name of the file for all that decides the code: texts, options, compiler, versions. That of
 * Selenite is added. */
void sel_code_cache_name(const char *const *text, int count, const char *ending,
                         char name[SEL_CODE_NAME]);

/* Opens the file and reads it into *code, which the caller frees; returns its descriptor, closed by
 * the caller. -1: it is not there, not whole, or others could write to it. */
int sel_code_cache_read(int folder, const char *name, void **code, size_t *bytes);

/* Writes it, with the checksum, which loaders of code ignore. False: it cannot be kept. */
bool sel_code_cache_write(int folder, const char *name, const void *code, size_t bytes);

/* A folder of this process in the cache, of mode 0700: its descriptor, which holds its lock, and
 * its name. -1: it cannot be made. */
int sel_code_cache_begin_job(int folder, char name[SEL_CODE_NAME]);

/* Removes the folder with its files, and closes the descriptor. */
void sel_code_cache_end_job(int folder, const char *name, int job);

#endif
