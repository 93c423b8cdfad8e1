/* code_cache.h -- code that was compiled at run time, in a folder of the user's, so that one text
 * is compiled once.
 */
#ifndef SEL_CODE_CACHE_H
#define SEL_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include "engine/base/folder.h"

/* The file for what is made of these texts: FOLDER/NAME.ending, its name a number for them all.
 * `folder` NULL: $XDG_CACHE_HOME/selenite, or ~/.cache/selenite, which is made. Empty: there is no
 * folder for it. */
void sel_code_cache_path(const char *folder, const char *const *text, int count, const char *ending,
                         char path[SEL_PATH_ROOM]);

/* What the file holds, freed by the caller. NULL: it is not there, or not whole. */
void *sel_code_cache_read(const char *path, size_t *bytes);

/* Writes it, with a sum behind it by which it is known to be whole; loaders of code do not mind.
 * False: it cannot be kept; an empty path never can. */
bool sel_code_cache_write(const char *path, const void *code, size_t bytes);

#endif
