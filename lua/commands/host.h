/* host.h -- functions for the Lua code of commands: they write files. */
#ifndef SEL_HOST_H
#define SEL_HOST_H

#include "lua/script/state.h"

/* What to do about a path that may not be written, for messages. */
#define SEL_HOST_ADVICE "take another folder with -o"

/* draw(path, width, height, drawing) -> sel_host_result. Calls drawing(put), which sets pixels by
 * put (host.c), and writes a PNG file. Replaces only pictures. */
int sel_host_draw(lua_State *L);

/* write(path, text, begins) -> sel_host_result. Replaces the file at `path` by `text`, atomically.
 * Fails if the path is a symbolic link, or a file that does not begin with `begins`. */
int sel_host_write(lua_State *L);

/* may_write(path, begins) -> sel_host_result: whether a file that begins with `begins` (nil: a
 * picture) may be written at `path`. */
int sel_host_may_write(lua_State *L);

#endif
