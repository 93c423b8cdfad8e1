/* comma.c -- where a comma is missing between two fields, the message names the line before.
 *
 * Lua tells where it stopped: at the field behind the missing comma, often a line further down, and
 * of a closing brace that it expected there.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "lua/state.h"

static bool token_is_any(const sel_source *source, int at, const char *const *texts) {
    const sel_token *token = &source->tokens[at];
    for (; *texts; texts++)
        if (token->kind != SEL_TOKEN_STRING && token->length == strlen(*texts) &&
            memcmp(source->text + token->start, *texts, token->length) == 0)
            return true;
    return false;
}

/* Whether the token is a string, a number, a name, or a word that may stand in a value. */
static bool is_word(const sel_source *source, int at) {
    static const char *const others[] = {"and",    "break", "do",    "else",  "elseif", "for",
                                         "goto",   "if",    "in",    "local", "or",     "repeat",
                                         "return", "then",  "until", "while", NULL};
    const sel_token *token = &source->tokens[at];
    const char first = source->text[token->start];
    return token->kind == SEL_TOKEN_STRING ||
           ((isalnum((unsigned char)first) || first == '_') && !token_is_any(source, at, others));
}

static bool begins_field(const sel_source *source, int at) {
    static const char *const brackets[] = {"{", "[", NULL}, *const end[] = {"end", NULL};
    return token_is_any(source, at, brackets) ||
           (is_word(source, at) && !token_is_any(source, at, end));
}

static bool ends_value(const sel_source *source, int at) {
    static const char *const brackets[] = {"}", ")", "]", NULL};
    static const char *const openings[] = {"function", "not", NULL};
    return token_is_any(source, at, brackets) ||
           (is_word(source, at) && !token_is_any(source, at, openings));
}

/* The line of the value before the token `near` (`length` characters) on `line`, when a comma
 * between the two would mend the text; else 0. */
static int line_before(const sel_source *source, int line, const char *near, size_t length) {
    for (int at = 1; at < source->token_count && source->tokens[at].line <= line; at++) {
        const sel_token *token = &source->tokens[at];
        bool same = token->line == line && token->length == length &&
                    memcmp(source->text + token->start, near, length) == 0;
        if (same && begins_field(source, at) && ends_value(source, at - 1))
            return source->tokens[at - 1].line;
    }
    return 0;
}

/* The "12: " of "name.lua:12: message"; NULL: there is none. */
static const char *find_line(const char *message) {
    for (const char *at = strchr(message, ':'); at; at = strchr(at + 1, ':')) {
        size_t digits = strspn(at + 1, "0123456789");
        if (digits && strncmp(at + 1 + digits, ": ", 2) == 0)
            return at + 1;
    }
    return NULL;
}

void sel_comma_explain(lua_State *L, sel_source *source) {
    const char *message = lua_tostring(L, -1);
    const char *number = message ? find_line(message) : NULL;
    if (!number || !sel_source_read(sel_script_of(L)->arena, source))
        return;
    const int line = (int)strtol(number, NULL, 10);
    const char *text = strstr(number, ": ") + 2, *near = strstr(text, " near '");
    const size_t length = near ? strlen(near + 7) : 0;
    const bool closing =
        strncmp(text, "'}' expected", 12) == 0 || strncmp(text, "')' expected", 12) == 0;
    if (!closing || length < 2)
        return;
    const int before = line_before(source, line, near + 7, length - 1);
    if (before == 0)
        return;
    lua_pushlstring(L, message, (size_t)(number - message));
    if (before < line)
        lua_pushfstring(L, "%d: a comma is missing at the end of this line, before line %d: %s",
                        before, line, text);
    else
        lua_pushfstring(L, "%d: a comma is missing before %s: %s", line, near + 6, text);
    lua_concat(L, 2);
    lua_remove(L, -2);
}
