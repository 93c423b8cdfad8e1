/* file.h -- open and read the files that a scenario names. */
#ifndef SEL_FILE_H
#define SEL_FILE_H

#include <stddef.h>
#include <stdio.h>
#include "engine/status.h"

/* Opens a regular file for reading; the caller closes it. SEL_BAD_FILE when it cannot be opened or
 * is anything else: a folder, a device, a FIFO, which a read may block on or change, or what the
 * kernel shows as a file (/proc, /sys). All that a scenario names is opened by this. */
sel_status sel_file_open(const char *path, FILE **file, sel_error *error);

/* Reads all of a regular file, or of standard input, into *bytes, which the caller frees also after
 * an error. One that cannot be read, or of more than `limit` bytes (it should be `what`: "a
 * scenario is a text file"), is SEL_BAD_FILE. */
sel_status sel_file_read(const char *path, size_t limit, const char *what, char **bytes,
                         size_t *length, sel_error *error);
sel_status sel_file_read_input(size_t limit, const char *what, char **bytes, size_t *length,
                               sel_error *error);

/* The part of a path behind the last '/'. */
const char *sel_file_name(const char *path);

#endif
