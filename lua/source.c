/* source.c -- find the line of a field in a script's text.
 *
 * Lua keeps no lines for the fields of a table, but messages about them need one. So the text is
 * split into tokens, and a field is looked up as `name =` at the top level of the braces that
 * follow the constructor's call. Where the text does not show the field (a table built in a loop,
 * a renamed constructor), the line of the enclosing table is the answer.
 */
#include "lua/state.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const char *text;
    size_t length, at;
    int line;
} cursor;

static char peek(const cursor *c, size_t ahead) {
    return ahead < c->length - c->at ? c->text[c->at + ahead] : '\0';
}

static bool at_end(const cursor *c) {
    return c->at >= c->length;
}

static void step(cursor *c) {
    if (at_end(c))
        return;
    if (c->text[c->at] == '\n')
        c->line++;
    c->at++;
}

/* The number of '=' in a long bracket `[==[` at the cursor, or -1. */
static int long_bracket(const cursor *c) {
    size_t n = 1;
    if (peek(c, 0) != '[')
        return -1;
    while (peek(c, n) == '=')
        n++;
    return peek(c, n) == '[' ? (int)(n - 1) : -1;
}

static bool closes_long_bracket(const cursor *c, int level) {
    if (peek(c, 0) != ']' || peek(c, (size_t)level + 1) != ']')
        return false;
    for (int i = 1; i <= level; i++)
        if (peek(c, (size_t)i) != '=')
            return false;
    return true;
}

static void skip_long_bracket(cursor *c, int level) {
    for (int i = 0; i < level + 2; i++)
        step(c);
    while (!at_end(c) && !closes_long_bracket(c, level))
        step(c);
    for (int i = 0; i < level + 2; i++)
        step(c);
}

static void skip_quoted(cursor *c) {
    char quote = peek(c, 0);
    step(c);
    while (!at_end(c) && peek(c, 0) != quote && peek(c, 0) != '\n') {
        if (peek(c, 0) == '\\')
            step(c);
        step(c);
    }
    if (peek(c, 0) == quote)
        step(c);
}

static void skip_blanks_and_comments(cursor *c) {
    for (;;) {
        if (!at_end(c) && isspace((unsigned char)peek(c, 0))) {
            step(c);
        } else if (peek(c, 0) == '-' && peek(c, 1) == '-') {
            c->at += 2;
            int level = long_bracket(c);
            if (level >= 0)
                skip_long_bracket(c, level);
            while (level < 0 && !at_end(c) && peek(c, 0) != '\n')
                step(c);
        } else {
            return;
        }
    }
}

static bool is_name(char ch) {
    return isalnum((unsigned char)ch) || ch == '_';
}

static void skip_number(cursor *c) {
    while (is_name(peek(c, 0)) || peek(c, 0) == '.') {
        bool exponent = strchr("eEpP", peek(c, 0)) != NULL;
        step(c);
        if (exponent && (peek(c, 0) == '+' || peek(c, 0) == '-'))
            step(c);
    }
}

/* Operators of which a single '=' must be told apart are one token. */
static void skip_operator(cursor *c) {
    bool pair = peek(c, 1) == '=' && strchr("=~<>", peek(c, 0)) != NULL;
    step(c);
    if (pair)
        step(c);
}

/* Reads the next token; false at the end of the text. */
static bool next_token(cursor *c, sel_token *token) {
    skip_blanks_and_comments(c);
    *token = (sel_token){.kind = SEL_TOKEN_OTHER, .line = c->line, .start = c->at};
    if (at_end(c))
        return false;
    char ch = peek(c, 0);
    int level = long_bracket(c);
    if (isdigit((unsigned char)ch) || (ch == '.' && isdigit((unsigned char)peek(c, 1)))) {
        skip_number(c);
    } else if (is_name(ch)) {
        token->kind = SEL_TOKEN_NAME;
        while (is_name(peek(c, 0)))
            step(c);
    } else if (ch == '"' || ch == '\'') {
        token->kind = SEL_TOKEN_STRING;
        skip_quoted(c);
    } else if (level >= 0) {
        token->kind = SEL_TOKEN_STRING;
        skip_long_bracket(c, level);
    } else {
        skip_operator(c);
    }
    token->length = c->at - token->start;
    return true;
}

sel_source *sel_source_create(sel_arena *arena, const char *name, const char *text, size_t length) {
    sel_source *source = sel_arena_alloc(arena, sizeof *source);
    if (!source)
        return NULL;
    const char *slash = strrchr(name, '/');
    source->name = sel_arena_copy(arena, name);
    source->directory = sel_arena_copy_length(arena, name, slash ? (size_t)(slash + 1 - name) : 0);
    source->text = text;
    source->length = length;
    return source->name && source->directory ? source : NULL;
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

/* How much deeper the text is nested after the token `at`: brackets, and blocks up to `end`. The
 * `do` of a `for` or `while` stands for the whole loop. */
static int nesting(const sel_source *source, int at) {
    static const char *const opens[] = {"{", "(", "[", "function", "if", "do", "repeat", NULL};
    static const char *const closes[] = {"}", ")", "]", "end", "until", NULL};
    return sel_token_is_any(source, at, opens) - sel_token_is_any(source, at, closes);
}

bool sel_source_read(sel_arena *arena, sel_source *source) {
    sel_token token;
    if (source->tokens)
        return true;
    cursor c = {source->text, source->length, 0, 1};
    size_t count = 0;
    while (next_token(&c, &token))
        count++;
    sel_token *tokens = sel_arena_alloc(arena, (count + 1) * sizeof *tokens);
    if (!tokens)
        return false;
    c = (cursor){source->text, source->length, 0, 1};
    for (size_t i = 0; i <= count; i++)
        next_token(&c, &tokens[i]);
    source->tokens = tokens;
    source->token_count = (int)count;
    for (int at = 0; at < source->token_count; at++)
        tokens[at].nesting = nesting(source, at);
    return true;
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

/* The token that follows the item which starts at `at`: its separator or the closing brace. */
static int item_end(const sel_source *source, int at) {
    while (at < source->token_count && source->tokens[at].nesting >= 0 && !is_separator(source, at))
        at = sel_source_behind(source, at);
    return at < source->token_count ? at : source->token_count;
}

/* The first token of a value: behind `name =` or `[key] =` where the item has a key. */
static int value_of_item(const sel_source *source, int at, bool *keyed) {
    int value = at;
    *keyed = false;
    if (source->tokens[at].kind == SEL_TOKEN_NAME && sel_token_is(source, at + 1, "=")) {
        value = at + 2;
        *keyed = true;
    } else if (sel_token_is(source, at, "[")) {
        value = sel_source_behind(source, at);
        *keyed = sel_token_is(source, value, "=");
        value = *keyed ? value + 1 : at;
    }
    return value;
}

static sel_span value_span(sel_span table, int at, int value) {
    sel_source *source = table.source;
    bool plain = sel_token_is(source, value, "{") && item_end(source, at) > value;
    return (sel_span){source, source->tokens[at].line, at, plain ? value : -1};
}

/* A key as the text has it. */
typedef struct text_key {
    const char *text;
    size_t length;
} text_key;

/* The key of the item that starts at `at`: `name =`, or `["name"] =`. */
static bool key_of_item(const sel_source *source, int at, text_key *key) {
    const sel_token *token = &source->tokens[at];
    bool quoted = sel_token_is(source, at, "[") && sel_token_is(source, at + 2, "]") &&
                  token[1].kind == SEL_TOKEN_STRING && token[1].length >= 2;
    if (!quoted && (token->kind != SEL_TOKEN_NAME || !sel_token_is(source, at + 1, "=")))
        return false;
    key->text = source->text + token[quoted].start + quoted;
    key->length = token[quoted].length - 2 * (size_t)quoted;
    return true;
}

sel_walk sel_source_walk(sel_span table) {
    return (sel_walk){table, table.source && table.brace >= 0 ? table.brace + 1 : -1};
}

/* The next item: its first token, that of its value, and whether it has a key. */
static bool next_item(sel_walk *walk, int *at, int *value, bool *keyed) {
    const sel_source *source = walk->table.source;
    if (walk->at < 0 || walk->at >= source->token_count || sel_token_is(source, walk->at, "}"))
        return false;
    *at = walk->at;
    *value = value_of_item(source, *at, keyed);
    int end = item_end(source, *at);
    walk->at = is_separator(source, end) ? end + 1 : -1;
    return true;
}

static sel_span nothing(sel_span table) {
    return (sel_span){table.source, table.line, -1, -1};
}

sel_span sel_source_next(sel_walk *walk) {
    int at, value;
    bool keyed;
    while (next_item(walk, &at, &value, &keyed))
        if (!keyed)
            return value_span(walk->table, at, value);
    return nothing(walk->table);
}

static int compare_key(const void *key, const void *item) {
    const text_key *k = key;
    const char *name = ((const sel_named_span *)item)->name;
    const int order = strncmp(k->text, name, k->length);
    return order || !name[k->length] ? order : -1;
}

void sel_source_keys(sel_span span, sel_named_span *keys, int count) {
    sel_walk walk = sel_source_walk(span);
    int at, value, missing = count;
    bool keyed;
    for (int i = 0; i < count; i++)
        keys[i].span = nothing(span);
    while (missing > 0 && next_item(&walk, &at, &value, &keyed)) {
        text_key key;
        if (!key_of_item(span.source, at, &key))
            continue;
        sel_named_span *found = bsearch(&key, keys, (size_t)count, sizeof *keys, compare_key);
        if (found && found->span.at < 0) {
            found->span = value_span(span, at, value);
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
    sel_span item = sel_source_next(&walk);
    for (int i = 1; i < number && item.at >= 0; i++)
        item = sel_source_next(&walk);
    return item;
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

/* The brace that opens the argument of a call whose last name is token `at`, or -1. */
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
    if (!source || !sel_source_read(arena, source))
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
