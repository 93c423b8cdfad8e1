/* source.h -- find the line of a field in a script's text. */
#ifndef SEL_SOURCE_H
#define SEL_SOURCE_H

#include <stdbool.h>
#include "engine/base/arena.h"
#include "engine/base/status.h"

typedef struct sel_token {
    enum { SEL_TOKEN_NAME, SEL_TOKEN_OTHER, SEL_TOKEN_STRING } kind;
    int line;
    int nesting; /* 1: opens a bracket or a block, -1: closes one */
    size_t start, length;
} sel_token;

/* A script's text. Its tokens are read when the first line is asked for. */
typedef struct sel_source {
    struct sel_source *next;
    const char *name;      /* as messages show it */
    const char *directory; /* of the file, with its last '/'; "" for the working directory */
    sel_where loaded_at;   /* the call of sel.load; without a file: none */
    const char *text;
    size_t length;
    sel_token *tokens; /* ends with an empty token of the last line */
    int token_count;
} sel_source;

/* A value in a script: `line` is always good for a message; `brace` is the token of the value's
 * `{`, or -1 where the text does not show it; `at` the token of its key, or -1. */
typedef struct sel_span {
    sel_source *source; /* NULL: not from a script */
    int line;
    int at;
    int brace;
} sel_span;

/* `text` must outlive the source. NULL when there is no memory. */
sel_source *sel_source_create(sel_arena *arena, const char *name, const char *text, size_t length);

/* Splits the text into tokens, once. False when there is no memory. */
bool sel_source_read(sel_arena *arena, sel_source *source);

/* Whether token `at` is `text`, or one of `texts` (NULL-terminated), and no string. */
bool sel_token_is(const sel_source *source, int at, const char *text);
bool sel_token_is_any(const sel_source *source, int at, const char *const *texts);

/* The argument table of the call of `name` ("wall" for law.wall{...}) on `line`. */
sel_span sel_source_call(sel_arena *arena, sel_source *source, int line, const char *name);

/* The value of `key` in the table `span`; the table's own line when its text has no such key. */
sel_span sel_source_key(sel_span span, const char *key);

/* A name in a table, and where the script's text gives it its value. */
typedef struct sel_named_span {
    const char *name;
    sel_span span;
} sel_named_span;

/* The same of `count` keys in the order of strcmp, in one walk through the text. */
void sel_source_keys(sel_span span, sel_named_span *keys, int count);

/* The value at position `number` (from 1) in the table `span`. */
sel_span sel_source_item(sel_span span, int number);

/* The values of a table without keys, one after the other: for all items of a long list. */
typedef struct sel_walk {
    sel_span table;
    int at; /* the token that the next item begins with */
} sel_walk;
sel_walk sel_source_walk(sel_span table);

/* The next one; the table's own line when its text shows no more. */
sel_span sel_source_next(sel_walk *walk);

/* The value at "stop.steps": keys separated by dots. */
sel_span sel_source_path(sel_span span, const char *path);

sel_where sel_span_where(sel_span span);

#endif
