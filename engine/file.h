/* file.h -- read a whole file into memory. */
#ifndef SEL_FILE_H
#define SEL_FILE_H

#include <stddef.h>
#include "engine/status.h"

/* Reads all of `path` ("-": standard input) into *bytes, which the caller frees also after an
 * error. A file that cannot be read, or of more than `limit` bytes (it should be `what`: "a
 * scenario is a text file"), is SEL_BAD_FILE. */
sel_status sel_file_read(const char *path, size_t limit, const char *what, char **bytes,
                         size_t *length, sel_error *error);

/* The part of a path behind the last '/'. */
const char *sel_file_name(const char *path);

#endif
