/* source.c -- find the line of a field in a script's text.
 *
 * Lua keeps no lines for the fields of a table, but messages about them need one. So the text is
 * split into tokens, and a field is looked up as `name =` at the top level of the braces that
 * follow the constructor's call. Where the text does not show the field (a table built in a loop,
 * a renamed constructor), the line of the enclosing table is the answer.
 */
#include "lua/source.h"
#include <ctype.h>
#include <stdbool.h>
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
    *token = (sel_token){SEL_TOKEN_OTHER, c->line, c->at, 0};
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
    return true;
}

static bool token_is(const sel_source *source, int at, const char *text) {
    if (at < 0 || at >= source->token_count)
        return false;
    const sel_token *token = &source->tokens[at];
    return token->kind != SEL_TOKEN_STRING && token->length == strlen(text) &&
           memcmp(source->text + token->start, text, token->length) == 0;
}

static bool token_is_any(const sel_source *source, int at, const char *const *texts) {
    for (; *texts; texts++)
        if (token_is(source, at, *texts))
            return true;
    return false;
}

/* How much deeper the text is nested after the token `at`: brackets, and blocks up to `end`. The
 * `do` of a `for` or `while` stands for the whole loop. */
static int nesting(const sel_source *source, int at) {
    static const char *const opens[] = {"{", "(", "[", "function", "if", "do", "repeat", NULL};
    static const char *const closes[] = {"}", ")", "]", "end", "until", NULL};
    return token_is_any(source, at, opens) - token_is_any(source, at, closes);
}

/* The token that follows the item which starts at `at`: its separator or the closing brace. */
static int item_end(const sel_source *source, int at) {
    int depth = 0;
    for (; at < source->token_count; at++) {
        if (depth == 0 && (token_is(source, at, ",") || token_is(source, at, ";")))
            return at;
        depth += nesting(source, at);
        if (depth < 0)
            return at;
    }
    return at;
}

static bool is_separator(const sel_source *source, int at) {
    return token_is(source, at, ",") || token_is(source, at, ";");
}

/* The first token of a value: behind `name =` or `[key] =` where the item has a key. */
static int value_of_item(const sel_source *source, int at, bool *keyed) {
    int value = at;
    *keyed = false;
    if (source->tokens[at].kind == SEL_TOKEN_NAME && token_is(source, at + 1, "=")) {
        value = at + 2;
        *keyed = true;
    } else if (token_is(source, at, "[")) {
        int depth = 1;
        for (value = at + 1; value < source->token_count && depth > 0; value++)
            depth += nesting(source, value);
        *keyed = token_is(source, value, "=");
        value = *keyed ? value + 1 : at;
    }
    return value;
}

static sel_span value_span(sel_span table, int at, int value) {
    sel_source *source = table.source;
    bool plain = token_is(source, value, "{") && item_end(source, at) > value;
    return (sel_span){source, source->tokens[at].line, at, plain ? value : -1};
}

static bool item_has_key(const sel_source *source, int at, const char *key) {
    if (token_is(source, at, key) && token_is(source, at + 1, "="))
        return true;
    if (!token_is(source, at, "[") || !token_is(source, at + 2, "]"))
        return false;
    const sel_token *string = &source->tokens[at + 1];
    return string->kind == SEL_TOKEN_STRING && string->length == strlen(key) + 2 &&
           memcmp(source->text + string->start + 1, key, strlen(key)) == 0;
}

/* Walks the items of a table: the first one with `key`, or the positional one `number`. */
static sel_span find_item(sel_span table, const char *key, int number) {
    sel_span none = {table.source, table.line, -1, -1};
    const sel_source *source = table.source;
    if (!source || table.brace < 0)
        return none;
    int at = table.brace + 1, position = 0;
    while (at < source->token_count && !token_is(source, at, "}")) {
        bool keyed;
        int value = value_of_item(source, at, &keyed);
        position += !keyed;
        if (key ? item_has_key(source, at, key) : !keyed && position == number)
            return value_span(table, at, value);
        at = item_end(source, at);
        if (!is_separator(source, at))
            break;
        at++;
    }
    return none;
}

sel_span sel_source_key(sel_span span, const char *key) {
    return find_item(span, key, 0);
}

sel_span sel_source_item(sel_span span, int number) {
    return find_item(span, NULL, number);
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
    if (token_is(source, at + 1, "{"))
        return at + 1;
    return token_is(source, at + 1, "(") && token_is(source, at + 2, "{") ? at + 2 : -1;
}

sel_span sel_source_call(sel_arena *arena, sel_source *source, int line, const char *name) {
    sel_span span = {source, line, -1, -1};
    if (!source || !sel_source_read(arena, source))
        return span;
    for (int at = 0; at < source->token_count && source->tokens[at].line <= line; at++) {
        if (source->tokens[at].line < line || source->tokens[at].kind != SEL_TOKEN_NAME)
            continue;
        int brace = argument_brace(source, at);
        bool named = token_is(source, at, name);
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
