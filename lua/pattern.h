/* pattern.h -- string.find, match, gmatch and gsub under the script's limits. */
#ifndef SEL_PATTERN_H
#define SEL_PATTERN_H

#include <lua.h>

/* Replaces the pattern functions in the string library at the top of the stack. */
void sel_pattern_open(lua_State *L);

#endif
