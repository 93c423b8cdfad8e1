/* file.h -- open and read the files that a scenario names; make files without following links. */
#ifndef SEL_FILE_H
#define SEL_FILE_H

#include <stddef.h>
#include <stdio.h>
#include "engine/base/status.h"

/* Opens a regular file for reading; the caller closes it. SEL_BAD_FILE when it cannot be opened or
 * is anything else: a folder, a device or FIFO, where a read may block or have effects, or a file
 * that the kernel generates (/proc, /sys). All files that a scenario names are opened by this. */
sel_status sel_file_open(const char *path, FILE **file, sel_error *error);

/* Reads all of a regular file, or of standard input (path NULL), into *bytes, which the caller
 * frees also after an error. SEL_BAD_FILE when it cannot be read or has more than `limit` bytes;
 * the message then adds `what` it should be: "a scenario is a text file". */
sel_status sel_file_read(const char *path, size_t limit, const char *what, char **bytes,
                         size_t *length, sel_error *error);

/* Makes the file `path` for reading and writing and returns its descriptor; -1 with errno. Nothing
 * existing is opened: a file, link or device of that name is EEXIST. */
int sel_file_create(const char *path);

/* A stream of a descriptor; NULL, with errno and the descriptor closed, when there is none. */
FILE *sel_file_stream(int descriptor, const char *mode);

/* Closes a descriptor that may be -1; errno stays. */
void sel_file_close(int descriptor);

/* Opens a file that appears under its name only when it is complete: PATH.tmp, for reading and
 * writing, replacing one left by a run that was killed. NULL: errno says why. */
FILE *sel_file_begin(const char *path);

/* Closes what sel_file_begin opened and renames it to `path`. On a write error, when `file` is NULL
 * or when `wrong` names an error (NULL or "": none), removes it instead and returns SEL_BAD_FILE;
 * an older file stays as it was. */
sel_status sel_file_end(FILE *file, const char *path, const char *wrong, sel_error *error);

/* Whether sel_file_begin and sel_file_end may write `path`, which no run has claimed: nothing is
 * there, or a regular file that is empty or begins with the bytes `begins`, as a `kind` ("PNG
 * picture") does; the same of PATH.tmp. SEL_BAD_FILE: what is there is someone's own, or a link;
 * the message then says what may be done `instead` of moving it away. */
sel_status sel_file_may_replace(const char *path, const char *begins, const char *kind,
                                const char *instead, sel_error *error);

/* The part of a path after the last '/'. */
const char *sel_file_name(const char *path);

#endif
