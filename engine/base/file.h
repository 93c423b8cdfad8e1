/* file.h -- open and read the files that a scenario names; make files without following links. */
#ifndef SEL_FILE_H
#define SEL_FILE_H

#include <stddef.h>
#include <stdio.h>
#include "engine/base/status.h"

/* Opens a regular file for reading; the caller closes it. All files that a scenario names are
 * opened by this function. SEL_BAD_FILE: the file cannot be opened, or is no regular file: a
 * folder, a device or FIFO, where a read may block or have effects, or a file that the kernel
 * generates (/proc, /sys). */
sel_status sel_file_open(const char *path, FILE **file, sel_error *error);

/* Reads all of a regular file, or of standard input (path NULL), into *bytes, which the caller
 * frees, also after an error; a NUL follows them. SEL_BAD_FILE: the file cannot be read, or has
 * more than `limit` bytes; the message then ends with `what`, such as "a scenario is a text file".
 */
sel_status sel_file_read(const char *path, size_t limit, const char *what, char **bytes,
                         size_t *length, sel_error *error);

/* Creates the file `path` for reading and writing and returns its descriptor; -1 with errno. Never
 * opens what exists: a file, link or device of that name is EEXIST. */
int sel_file_create(const char *path);

/* Opens a stream on a descriptor, which may be -1. On failure returns NULL with errno, and closes
 * the descriptor. */
FILE *sel_file_stream(int descriptor, const char *mode);

/* Closes a descriptor, which may be -1, and leaves errno unchanged. */
void sel_file_close(int descriptor);

/* Opens PATH.tmp for reading and writing, so that PATH appears only when it is complete. Replaces a
 * PATH.tmp left by a killed run. NULL, with errno: it cannot be created. */
FILE *sel_file_begin(const char *path);

/* Closes what sel_file_begin opened and renames it to `path`. `wrong`: an error of the caller's;
 * NULL or "": none. On a write error, with an error in `wrong` or with a NULL `file`, removes
 * PATH.tmp instead and returns SEL_BAD_FILE; an older file PATH stays as it was. */
sel_status sel_file_end(FILE *file, const char *path, const char *wrong, sel_error *error);

/* Whether sel_file_begin and sel_file_end may replace `path` and PATH.tmp, which no run has
 * claimed. They may if each is missing, or is a regular file that is empty or begins with the bytes
 * `begins`, as a file of the kind `kind` ("PNG picture") does. SEL_BAD_FILE: another file or a link
 * is there; the message advises to move it away, or what to do `instead`. */
sel_status sel_file_may_replace(const char *path, const char *begins, const char *kind,
                                const char *instead, sel_error *error);

/* The part of a path after the last '/'. */
const char *sel_file_name(const char *path);

#endif
