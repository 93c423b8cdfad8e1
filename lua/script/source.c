/* source.c -- find the line of a table's field in a script's text, for messages.
 *
 * Lua keeps no lines for the fields of a table. So the text is split into tokens, and a field is
 * looked up as `name =` at the top level of the braces that follow the constructor's call:
 *
 *      line 7      regions = { law.wall { at = ..., velocity = { 0, 1 } } }
 *                              |        |                      |
 *                   call of "wall"   brace of its table   span of "velocity"
 *
 * Where the text does not show the field (a table built in a loop, a renamed constructor), the line
 * of the enclosing table is used.
 */
#include "lua/script/state.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens; after_...() returns the first character after what begins at `at` ---- */

/* The number of '=' in a long bracket `[==[`; -1: there is no long bracket. */
static int long_bracket(const char *at) {
    const size_t n = *at == '[' ? strspn(at + 1, "=") : 0;
    return *at == '[' && at[n + 1] == '[' ? (int)n : -1;
}

static const char *after_long_bracket(const char *at, int level) {
    for (at += level + 2; *at; at++)
        if (*at == ']' && strspn(at + 1, "=") == (size_t)level && at[level + 1] == ']')
            return at + level + 2;
    return at;
}

static const char *after_quoted(const char *at) {
    const char quote = *at;
    for (at++; *at && *at != quote && *at != '\n'; at++)
        at += *at == '\\' && at[1];
    return at + (*at == quote);
}

static const char *after_blanks_and_comments(const char *at) {
    for (;;) {
        at += strspn(at, " \t\n\v\f\r");
        if (at[0] != '-' || at[1] != '-')
            return at;
        const int level = long_bracket(at + 2);
        at = level >= 0 ? after_long_bracket(at + 2, level) : at + strcspn(at, "\n");
    }
}

static bool is_name(char ch) {
    return isalnum((unsigned char)ch) || ch == '_';
}

static const char *after_number(const char *at) {
    while (is_name(*at) || *at == '.') {
        const bool exponent = strchr("eEpP", *at) != NULL;
        at++;
        at += exponent && (*at == '+' || *at == '-');
    }
    return at;
}

/* Reads the token at `at`: stores its kind, and returns its end. */
static const char *read_token(const char *at, sel_token *token) {
    const int level = long_bracket(at);
    const bool digit = isdigit((unsigned char)at[*at == '.']);
    *token = (sel_token){.kind = SEL_TOKEN_OTHER};
    if (digit)
        return after_number(at);
    if (is_name(*at)) {
        token->kind = SEL_TOKEN_NAME;
        while (is_name(*at))
            at++;
        return at;
    }
    if (*at == '"' || *at == '\'' || level >= 0) {
        token->kind = SEL_TOKEN_STRING;
        return level >= 0 ? after_long_bracket(at, level) : after_quoted(at);
    }
    if (strncmp(at, "...", 3) == 0)
        return at + 3;
    const bool twice = at[1] == *at && strchr("./:<>", *at);
    return at + 1 + (twice || (at[1] == '=' && strchr("=~<>", *at)));
}

/* Splits a text into tokens, with an empty one at the end, which is not counted. Returns their
 * number. `tokens` NULL: counts only. */
static int read_tokens(const char *text, sel_token *tokens) {
    int count = 0, line = 1;
    const char *counted = text; /* newlines up to here are counted in `line` */
    for (const char *at = after_blanks_and_comments(text);; at = after_blanks_and_comments(at)) {
        sel_token token = {.kind = SEL_TOKEN_OTHER};
        const char *end = *at ? read_token(at, &token) : at;
        for (; counted < at; counted++)
            line += *counted == '\n';
        token.line = line;
        token.start = (size_t)(at - text);
        token.length = (size_t)(end - at);
        if (tokens)
            tokens[count] = token;
        if (!*at)
            return count;
        count++;
        at = end;
    }
}

sel_source *sel_source_create(sel_arena *arena, const char *name, const char *text, size_t length) {
    sel_source *source = sel_arena_alloc(arena, sizeof *source);
    if (!source)
        return NULL;
    const char *slash = strrchr(name, '/');
    source->name = sel_arena_copy(arena, name);
    source->directory = sel_arena_copy_length(arena, name, slash ? (size_t)(slash + 1 - name) : 0);
    source->text = sel_arena_copy_length(arena, text, length);
    source->length = length;
    return source->name && source->directory && source->text ? source : NULL;
}

bool sel_token_is(const sel_source *source, int at, const char *text) {
    if (at < 0 || at >= source->token_count)
        return false;
    const sel_token *token = &source->tokens[at];
    return token->kind != SEL_TOKEN_STRING && token->length == strlen(text) &&
           memcmp(source->text + token->start, text, token->length) == 0;
}

bool sel_token_is_any(const sel_source *source, int at, const char *const *texts) {
    for (; *texts; texts++)
        if (sel_token_is(source, at, *texts))
            return true;
    return false;
}

/* sel_token.nesting of token `at`: 1 opens a bracket or block, -1 closes one, 0 neither. The block
 * of a `for` or `while` begins at its `do`. */
static int nesting(const sel_source *source, int at) {
    static const char *const opens[] = {"{", "(", "[", "function", "if", "do", "repeat", NULL};
    static const char *const closes[] = {"}", ")", "]", "end", "until", NULL};
    return sel_token_is_any(source, at, opens) - sel_token_is_any(source, at, closes);
}

bool sel_source_tokenize(sel_arena *arena, sel_source *source) {
    if (source->tokens)
        return true;
    const size_t count = (size_t)read_tokens(source->text, NULL);
    source->tokens = sel_arena_alloc(arena, (count + 1) * sizeof *source->tokens);
    source->token_count = source->tokens ? read_tokens(source->text, source->tokens) : 0;
    for (int at = 0; at < source->token_count; at++)
        source->tokens[at].nesting = nesting(source, at);
    return source->tokens;
}

static bool is_separator(const sel_source *source, int at) {
    return sel_token_is(source, at, ",") || sel_token_is(source, at, ";");
}

int sel_source_behind(const sel_source *source, int at) {
    int depth = 0;
    do
        depth += source->tokens[at++].nesting;
    while (depth > 0 && at < source->token_count);
    return at;
}

/* The token after the item that begins at `at`: its separator or the closing brace. */
static int item_end(const sel_source *source, int at) {
    while (at < source->token_count && source->tokens[at].nesting >= 0 && !is_separator(source, at))
        at = sel_source_behind(source, at);
    return at < source->token_count ? at : source->token_count;
}

/* An item of a table: `value`, `name = value` or `[key] = value`. */
typedef struct item {
    sel_span span; /* of its value */
    bool keyed;
    const char *name; /* `length` bytes, of `name =` or `["name"] =`; NULL: no such key */
    size_t length;
} item;

sel_walk sel_source_walk(sel_span table) {
    return (sel_walk){table, table.source && table.brace >= 0 ? table.brace + 1 : -1};
}

/* Reads the next item; false at the end of the table. */
static bool next_item(sel_walk *walk, item *next) {
    sel_source *source = walk->table.source;
    const int at = walk->at;
    if (at < 0 || at >= source->token_count || sel_token_is(source, at, "}"))
        return false;
    const sel_token *token = &source->tokens[at];
    const bool bracket = sel_token_is(source, at, "[");
    const int behind = bracket ? sel_source_behind(source, at) : at + 1, end = item_end(source, at);
    const bool quoted =
        bracket && behind == at + 3 && token[1].kind == SEL_TOKEN_STRING && token[1].length >= 2;
    *next = (item){.keyed = (bracket || token->kind == SEL_TOKEN_NAME) &&
                            sel_token_is(source, behind, "=")};
    if (next->keyed && (!bracket || quoted)) {
        next->name = source->text + token[quoted].start + quoted;
        next->length = token[quoted].length - 2 * (size_t)quoted;
    }
    const int value = next->keyed ? behind + 1 : at;
    const bool plain = sel_token_is(source, value, "{") && end > value;
    next->span = (sel_span){source, token->line, at, plain ? value : -1};
    walk->at = is_separator(source, end) ? end + 1 : -1;
    return true;
}

/* The span of a value that the text does not show: the table's line. */
static sel_span span_of_line(sel_span table) {
    return (sel_span){table.source, table.line, -1, -1};
}

sel_span sel_source_next(sel_walk *walk) {
    item next;
    while (next_item(walk, &next))
        if (!next.keyed)
            return next.span;
    return span_of_line(walk->table);
}

/* For bsearch: strcmp of an item's name with a sel_named_span. */
static int compare_name(const void *key, const void *named) {
    const item *k = key;
    const char *name = ((const sel_named_span *)named)->name;
    const int order = strncmp(k->name, name, k->length);
    return order || !name[k->length] ? order : -1;
}

void sel_source_keys(sel_span span, sel_named_span *keys, int count) {
    sel_walk walk = sel_source_walk(span);
    item next;
    int missing = count;
    for (int i = 0; i < count; i++)
        keys[i].span = span_of_line(span);
    while (missing > 0 && next_item(&walk, &next)) {
        if (!next.name)
            continue;
        sel_named_span *found = bsearch(&next, keys, (size_t)count, sizeof *keys, compare_name);
        if (found && found->span.at < 0) {
            found->span = next.span;
            missing--;
        }
    }
}

sel_span sel_source_key(sel_span span, const char *key) {
    sel_named_span value = {.name = key};
    sel_source_keys(span, &value, 1);
    return value.span;
}

sel_span sel_source_item(sel_span span, int number) {
    sel_walk walk = sel_source_walk(span);
    sel_span found = sel_source_next(&walk);
    for (int i = 1; i < number && found.at >= 0; i++)
        found = sel_source_next(&walk);
    return found;
}

sel_span sel_source_path(sel_span span, const char *path) {
    char key[64];
    while (*path) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof key)
            return span;
        memcpy(key, path, length);
        key[length] = '\0';
        span = sel_source_key(span, key);
        path += length + (path[length] == '.');
    }
    return span;
}

/* The brace of the table argument of a call whose last name is token `at`; -1: there is none. */
static int argument_brace(const sel_source *source, int at) {
    if (sel_token_is(source, at + 1, "{"))
        return at + 1;
    return sel_token_is(source, at + 1, "(") && sel_token_is(source, at + 2, "{") ? at + 2 : -1;
}

/* The first token of `line` or of a later one. */
static int first_of_line(const sel_source *source, int line) {
    int low = 0, high = source->token_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (source->tokens[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

sel_span sel_source_call(sel_arena *arena, sel_source *source, int line, const char *name) {
    sel_span span = {source, line, -1, -1};
    if (!source || !sel_source_tokenize(arena, source))
        return span;
    for (int at = first_of_line(source, line);
         at < source->token_count && source->tokens[at].line <= line; at++) {
        if (source->tokens[at].kind != SEL_TOKEN_NAME)
            continue;
        int brace = argument_brace(source, at);
        bool named = sel_token_is(source, at, name);
        if (brace >= 0 && (named || span.brace < 0))
            span.brace = brace;
        if (brace >= 0 && named)
            break;
    }
    return span;
}

sel_where sel_span_where(sel_span span) {
    return (sel_where){span.source ? span.source->name : NULL, span.line};
}
