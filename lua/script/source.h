/* source.h -- the text of a script: its tokens, and the places of values in it (source.c). */
#ifndef SEL_SOURCE_H
#define SEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include "engine/base/arena.h"
#include "engine/base/status.h"

typedef struct sel_token {
    enum { SEL_TOKEN_NAME, SEL_TOKEN_OTHER, SEL_TOKEN_STRING } kind;
    int line;
    int nesting; /* 1: opens a bracket or a block, -1: closes one */
    size_t start, length;
} sel_token;

/* A script's text. It is split into tokens when a line is first looked up. */
typedef struct sel_source {
    struct sel_source *next;
    const char *name;      /* as messages show it */
    const char *directory; /* of the file, with its last '/'; "" for the working directory */
    sel_where loaded_at;   /* the call of sel.load; file NULL: none */
    const char *text;
    size_t length;
    sel_token *tokens; /* ends with an empty token of the last line */
    int token_count;
} sel_source;

/* The place of a value in a script's text. */
typedef struct sel_span {
    sel_source *source; /* NULL: not from a script */
    int line;           /* for messages; always set */
    int at;             /* its first token, or that of its key; -1: not in the text */
    int brace;          /* token of its `{`; -1: not in the text */
} sel_span;

/* Copies the text. NULL: no memory. */
sel_source *sel_source_create(sel_arena *arena, const char *name, const char *text, size_t length);

/* Splits the text into tokens, unless that is done. False: no memory. */
bool sel_source_tokenize(sel_arena *arena, sel_source *source);

/* Whether token `at` is `text`, or one of `texts` (ends with NULL). False for strings. */
bool sel_token_is(const sel_source *source, int at, const char *text);
bool sel_token_is_any(const sel_source *source, int at, const char *const *texts);

/* The token after the bracket or block that opens at `at`. */
int sel_source_behind(const sel_source *source, int at);

/* The argument table of the call of `name` ("wall" for law.wall{...}) on `line`. */
sel_span sel_source_call(sel_arena *arena, sel_source *source, int line, const char *name);

/* The value of `key` in the table `span`; the table's own line when its text has no such key. */
sel_span sel_source_key(sel_span span, const char *key);

/* A name in a table, and the place of its value. */
typedef struct sel_named_span {
    const char *name;
    sel_span span;
} sel_named_span;

/* As sel_source_key, for `count` keys sorted by strcmp, in one walk through the text. */
void sel_source_keys(sel_span span, sel_named_span *keys, int count);

/* The value at position `number` (from 1) in the table `span`. */
sel_span sel_source_item(sel_span span, int number);

/* Iterates over the values without keys of a table: sel_source_item for all items of a long list.
 */
typedef struct sel_walk {
    sel_span table;
    int at; /* first token of the next item; -1: none is left */
} sel_walk;
sel_walk sel_source_walk(sel_span table);

/* The next value; the table's own line when its text shows no more. */
sel_span sel_source_next(sel_walk *walk);

/* The value at a path of keys: "stop.steps". */
sel_span sel_source_path(sel_span span, const char *path);

sel_where sel_span_where(sel_span span);

#endif
