/* lines.c -- record which lines of a script's functions Lua runs, while they are compared with
 * their programs (compare.c). */
#include "lua/script/state.h"
#include <stdlib.h>
#include <string.h>

enum { ACTIVE = 1, RAN = 2 };

/* A function that was entered: lines `first` to `last` of a chunk. */
typedef struct entered {
    struct entered *next;
    const char *source; /* Lua's name of the chunk */
    int first, last;
    uint8_t *line; /* [last - first + 1]: ACTIVE (has code), RAN */
} entered;

struct sel_lines {
    entered *functions, *latest;
    bool full; /* out of memory for a function */
};

sel_lines *sel_lines_create(void) {
    return calloc(1, sizeof(sel_lines));
}

void sel_lines_destroy(sel_lines *lines) {
    entered *next;
    for (entered *f = lines ? lines->functions : NULL; f; f = next) {
        next = f->next;
        free(f);
    }
    free(lines);
}

/* Marks the lines with code of the function at the top, which is popped. Not the last line, with
 * the implicit return of every function. */
static void mark_active(lua_State *L, entered *f) {
    lua_Debug info;
    lua_getinfo(L, ">L", &info);
    for (int line = f->first; line <= f->last && lua_istable(L, -1); line++) {
        lua_rawgeti(L, -1, line);
        const bool end = line == f->last && f->last > f->first;
        f->line[line - f->first] = lua_toboolean(L, -1) && !end ? ACTIVE : 0;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static entered *lines_add_function(lua_State *L, sel_lines *lines, lua_Debug *info) {
    const size_t count = (size_t)(info->lastlinedefined - info->linedefined + 1);
    entered *f = calloc(1, sizeof *f + count + info->srclen + 1);
    if (!f || !lua_checkstack(L, LUA_MINSTACK)) {
        lines->full = true;
        free(f);
        return NULL;
    }
    f->first = info->linedefined;
    f->last = info->lastlinedefined;
    f->line = (uint8_t *)(f + 1);
    f->source = memcpy((char *)f->line + count, info->source, info->srclen);
    f->next = lines->functions;
    lines->functions = f;
    lua_getinfo(L, "f", info);
    mark_active(L, f);
    return f;
}

static bool lines_is_of(const entered *f, const lua_Debug *info) {
    return f->first == info->linedefined && f->last == info->lastlinedefined &&
           strcmp(f->source, info->source) == 0;
}

void sel_lines_note(sel_lines *lines, lua_State *L, lua_Debug *info) {
    if (!lua_getinfo(L, "Sl", info) || *info->source != '@' || *info->what != 'L') {
        return;
    }
    entered *f =
        lines->latest && lines_is_of(lines->latest, info) ? lines->latest : lines->functions;
    while (f && !lines_is_of(f, info)) {
        f = f->next;
    }
    f = f ? f : lines_add_function(L, lines, info);
    lines->latest = f;
    if (f && info->currentline >= f->first && info->currentline <= f->last) {
        f->line[info->currentline - f->first] |= RAN;
    }
}

int sel_lines_missed(const sel_lines *lines, const char *source, int after) {
    int found = 0;
    for (const entered *f = lines->functions; f; f = f->next) {
        for (int line = f->first; line <= f->last && (!source || strcmp(f->source, source) == 0);
             line++) {
            const bool missed = f->line[line - f->first] == ACTIVE && line > after;
            found = missed && (!found || line < found) ? line : found;
        }
    }
    for (const entered *f = lines->functions; f && found; f = f->next) {
        /* The line is not missed if another function that stands on it ran there. */
        const bool here =
            found >= f->first && found <= f->last && (!source || strcmp(f->source, source) == 0);
        if (here && f->line[found - f->first] & RAN) {
            return sel_lines_missed(lines, source, found);
        }
    }
    return found;
}
