/* compile.c -- read and compile the texts of a script, and explain Lua's syntax errors.
 *
 * Lua's messages name neither a missing comma nor a character outside ASCII, the most frequent
 * causes. They are found in the tokens of the text, and the message is rewritten.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "lua/script/state.h"

static const size_t max_script = (size_t)16 << 20;

/* ---- reading ---- */

/* Overwrites a byte order mark and a first line `#!...` with blanks. */
static void blank_header(char *text, size_t length) {
    size_t i = 0;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        memset(text, ' ', i = 3);
    if (i < length && text[i] == '#')
        for (; i < length && text[i] != '\n'; i++)
            text[i] = ' ';
}

/* Reads the text of a script. Refuses names with control characters, since messages show them.
 * `given`: options with the scenario's text; NULL: the file is read. */
static sel_status read_text(const char *path, bool input, const sel_script_options *given,
                            char **text, size_t *length, sel_error *error) {
    static const char kind[] = "a scenario is a text file";
    if (given && given->text) {
        *text = strndup(given->text, given->text_length);
        *length = given->text_length;
        return *text ? SEL_OK : sel_fail_memory(error, path, *length);
    }
    if (!sel_is_plain(path))
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: the file's name holds control characters; rename it", path);
    return sel_file_read(input ? NULL : path, max_script, kind, text, length, error);
}

sel_source *sel_script_read_source(lua_State *L, const char *path, sel_where from,
                                   const char *what) {
    sel_script *script = sel_script_of(L);
    char *text = NULL;
    size_t length = 0;
    sel_source *source = NULL;
    sel_error found = {.status = SEL_OK};
    const bool first = !script->sources; /* the scenario itself */
    const bool input = first && strcmp(path, "-") == 0;
    const char *name = input ? "stdin" : path;
    read_text(path, input, first ? &script->options : NULL, &text, &length, &found);
    const char *wide = found.status ? NULL : sel_wide_encoding(text, length);
    if (wide)
        sel_fail(&found, SEL_BAD_SCENARIO, "%s: the text is in %s; save it as UTF-8", name, wide);
    if (!found.status) {
        if (first) {
            script->scenario->text = sel_arena_copy_length(script->arena, text, length);
            script->scenario->text_length = length;
        }
        blank_header(text, length);
        source = sel_source_create(script->arena, name, text, length);
        if (!source)
            sel_fail_memory(&found, "the script", length);
    }
    sel_script_report_file(script, &found, from, what);
    free(text);
    if (source) {
        source->next = script->sources;
        script->sources = source;
        script->main = first ? source : script->main;
    } else {
        sel_limits_break(L);
    }
    return source;
}

/* ---- syntax errors ---- */

/* Whether the token is a string, a number, a name, or a word that may stand in a value. */
static bool is_word(const sel_source *source, int at) {
    static const char *const others[] = {"and",    "break", "do",    "else",  "elseif", "for",
                                         "goto",   "if",    "in",    "local", "or",     "repeat",
                                         "return", "then",  "until", "while", NULL};
    const sel_token *token = &source->tokens[at];
    const char first = source->text[token->start];
    return token->kind == SEL_TOKEN_STRING || ((isalnum((unsigned char)first) || first == '_') &&
                                               !sel_token_is_any(source, at, others));
}

static bool begins_field(const sel_source *source, int at) {
    static const char *const brackets[] = {"{", "[", NULL}, *const end[] = {"end", NULL};
    return sel_token_is_any(source, at, brackets) ||
           (is_word(source, at) && !sel_token_is_any(source, at, end));
}

static bool ends_value(const sel_source *source, int at) {
    static const char *const brackets[] = {"}", ")", "]", NULL};
    static const char *const openings[] = {"function", "not", NULL};
    return sel_token_is_any(source, at, brackets) ||
           (is_word(source, at) && !sel_token_is_any(source, at, openings));
}

/* The line of the value before the token `near` (`length` characters) on `line`, if a comma is
 * missing between them; else 0. */
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

/* The token if it is a character outside ASCII. In a string the first curly quote, which its author
 * may have meant as its end. NULL: neither. */
static const char *strange_character(const sel_source *source, int at) {
    static const char *const quotes[] = {"\u2018", "\u2019", "\u201c", "\u201d", NULL};
    const sel_token *token = &source->tokens[at];
    const char *text = source->text + token->start, *end = text + token->length;
    if (token->kind != SEL_TOKEN_STRING)
        return (unsigned char)*text >= 0x80 ? text : NULL;
    for (const char *c = text; c < end; c++)
        for (int k = 0; quotes[k]; k++)
            if (strncmp(c, quotes[k], strlen(quotes[k])) == 0)
                return c;
    return NULL;
}

/* The column of a character, from 1; UTF-8 continuation bytes do not count. */
static int column_of(const sel_source *source, const char *character) {
    int column = 1;
    for (const char *c = character; c > source->text && c[-1] != '\n'; c--)
        column += ((unsigned char)c[-1] & 0xc0) != 0x80;
    return column;
}

/* "; more on line 5, 6": further lines from token `at` on with characters outside ASCII, outside
 * strings. */
static void list_lines(const sel_source *source, int at, char text[128]) {
    size_t used = 0;
    int last = source->tokens[at].line;
    text[0] = '\0';
    for (at++; at < source->token_count && used < 96; at++) {
        const sel_token *token = &source->tokens[at];
        if (token->line == last || token->kind == SEL_TOKEN_STRING ||
            !strange_character(source, at))
            continue;
        last = token->line;
        used +=
            (size_t)snprintf(text + used, 128 - used, used ? ", %d" : "; more on line %d", last);
    }
}

/* Improves Lua's syntax error at the top if its cause is a character outside ASCII, of which Lua
 * shows the first byte: the new message names the character. A curly quote in a string of the line
 * is added to the message. Returns whether there was such a character. */
static bool explain_character(lua_State *L, sel_source *source) {
    const char *message = lua_tostring(L, -1);
    const char *number = message ? find_line(message) : NULL;
    if (!number || !sel_source_tokenize(sel_script_of(L)->arena, source))
        return false;
    const int line = (int)strtol(number, NULL, 10);
    const bool strange = strstr(number, " near '<\\") != NULL;
    const char *character = NULL;
    int at = 0;
    for (; at < source->token_count && !character; at++)
        if (source->tokens[at].line == line &&
            (source->tokens[at].kind == SEL_TOKEN_STRING) == !strange)
            character = strange_character(source, at);
    if (!character)
        return false;
    char name[SEL_CHARACTER_ROOM], more[128] = "";
    sel_character_text(character, name);
    const char *allowed = strchr(name, ':') ? ""
                                            : ", which may stand in strings and comments only; "
                                              "names are of a to z, A to Z, 0 to 9 and _";
    if (strange)
        list_lines(source, at - 1, more);
    lua_pushlstring(L, message, strange ? (size_t)(number - message) : strlen(message));
    if (strange)
        lua_pushfstring(L, "%d: ", line);
    else
        lua_pushliteral(L, "; a string in this line is not ended where it may seem: ");
    lua_pushfstring(L, "column %d holds %s%s%s", column_of(source, character), name, allowed, more);
    lua_concat(L, 3);
    lua_remove(L, -2);
    return true;
}

/* Improves Lua's syntax error at the top if its cause is a missing comma. Lua stops at the next
 * field, often a line later, and expects a closing brace; the new message names the comma. */
static void explain_comma(lua_State *L, sel_source *source) {
    const char *message = lua_tostring(L, -1);
    const char *number = message ? find_line(message) : NULL;
    if (!number || !sel_source_tokenize(sel_script_of(L)->arena, source))
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

bool sel_source_compile(lua_State *L, sel_source *source) {
    lua_pushfstring(L, "@%s", source->name);
    const int status = luaL_loadbufferx(L, source->text, source->length, lua_tostring(L, -1), "t");
    if (status != LUA_OK && !explain_character(L, source))
        explain_comma(L, source);
    lua_remove(L, -2);
    return status == LUA_OK;
}

/* ---- places ---- */

sel_source *sel_script_source(const sel_script *script, const char *chunk) {
    sel_source *source = chunk[0] == '@' ? script->sources : NULL;
    while (source && strcmp(source->name, chunk + 1) != 0)
        source = source->next;
    return source;
}

sel_where sel_script_place(lua_State *L, sel_source **source) {
    lua_Debug frame;
    sel_source *found = NULL;
    for (int level = 0; !found && lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        found = frame.currentline > 0 ? sel_script_source(sel_script_of(L), frame.source) : NULL;
    }
    if (source)
        *source = found;
    return found ? (sel_where){found->name, frame.currentline} : (sel_where){NULL, 0};
}
