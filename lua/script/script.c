/* script.c -- read and run script files: the scenario, its modules (require) and other scenarios
 * (sel.load). Runs the scenario and fills C structs from its result, in one protected call.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/text.h"
#include "engine/base/file.h"
#include "lua/script/state.h"

enum { MAX_DEPTH = 16 };
static const size_t max_script = (size_t)16 << 20;
static const double default_seconds = 10;

/* Its address is the key, in Lua's registry, of the table of required modules by name. */
static const char modules_key;

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

/* Reads the file that `what` ("sel.load") loads at `from`, and adds it to the sources. Ends the
 * script if the file cannot be read. */
static sel_source *read_source(lua_State *L, const char *path, sel_where from, const char *what) {
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
    sel_script_hand_over(script, &found, from, what);
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

/* The token if it is a character outside ASCII; or the first curly quote in a string, which may
 * have been meant as its end. NULL: neither. */
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
    if (!number || !sel_source_read(sel_script_of(L)->arena, source))
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

bool sel_source_compile(lua_State *L, sel_source *source) {
    lua_pushfstring(L, "@%s", source->name);
    const int status = luaL_loadbufferx(L, source->text, source->length, lua_tostring(L, -1), "t");
    if (status != LUA_OK && !explain_character(L, source))
        explain_comma(L, source);
    lua_remove(L, -2);
    return status == LUA_OK;
}

/* Pushes the compiled text. */
static void script_compile(lua_State *L, sel_source *source) {
    if (source->length > 0 && source->text[0] == LUA_SIGNATURE[0]) {
        sel_fail(sel_script_of(L)->error, SEL_BAD_SCENARIO,
                 "%s: is a compiled chunk; a scenario is a text file", source->name);
        sel_limits_break(L);
    }
    if (!sel_source_compile(L, source))
        lua_error(L);
}

/* Runs the main chunk at `path` ("-": standard input) and pushes its result. Raises an error for
 * mistakes; a file that cannot be read ends the script with SEL_BAD_FILE. */
static void run_chunk(lua_State *L, const char *path, sel_chunk *chunk) {
    sel_script *script = sel_script_of(L);
    sel_source *source = read_source(L, path, chunk->loaded_at, "sel.load");
    if (!script->chunk) { /* the scenario: its time begins after it is read, which may be typed */
        sel_limits_begin(script, script->seconds);
        sel_limits_start(script, SEL_MAIN_CHUNK);
    }
    script_compile(L, source);
    source->loaded_at = chunk->loaded_at;
    chunk->directory = source->directory;
    chunk->above = script->chunk;
    chunk->depth = chunk->above ? chunk->above->depth + 1 : 0;
    script->chunk = chunk;
    int status = lua_pcall(L, 0, 1, 0);
    script->chunk = chunk->above;
    if (status != LUA_OK)
        lua_error(L);
}

static bool is_plain_name(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *name && name[strspn(name, allowed)] == '\0' && strlen(name) < 200;
}

/* Pushes the value of the module `name`, a file in the scenario's directory. */
static void run_module(lua_State *L, const char *name) {
    bool plain = is_plain_name(name);
    const char *path =
        lua_pushfstring(L, "%s%s.lua", sel_script_of(L)->main->directory, plain ? name : "");
    if (!plain || access(path, R_OK) != 0) {
        if (!lua_isnil(L, lua_upvalueindex(1))) {
            lua_pushvalue(L, lua_upvalueindex(1));
            lua_pushstring(L, name);
            lua_call(L, 1, 1);
            return;
        }
        luaL_error(L,
                   "module '%s' not found: require takes \"selenite\" and the names of .lua files "
                   "beside the scenario",
                   name);
    }
    script_compile(L, read_source(L, path, sel_script_place(L, NULL), "require"));
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, true);
    }
}

/* require(name). Upvalue 1: with --trust Lua's require, else nil. */
static int require(lua_State *L) {
    const char *name = sel_script_path(L, 1, "require: the name");
    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
    int type = lua_getfield(L, 2, name);
    if (type == LUA_TLIGHTUSERDATA)
        return luaL_error(L, "module '%s' requires itself", name);
    if (type != LUA_TNIL)
        return 1;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&modules_key);
    lua_setfield(L, 2, name);
    run_module(L, name);
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

void sel_module_open(lua_State *L) {
    lua_newtable(L);
    sel_library_push(L);
    lua_setfield(L, -2, "selenite");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
    sel_script_field(L, -1, "require");
    lua_pushcclosure(L, require, 1);
    lua_setfield(L, -2, "require");
}

int sel_module_load(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_source *caller;
    const char *path = sel_script_path(L, 1, "sel.load: the path");
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (!script->chunk)
        return luaL_error(L, "sel.load may only be called while the scenario is read");
    if (script->chunk->depth >= MAX_DEPTH)
        return luaL_error(L, "sel.load: scenarios load each other more than %d deep", MAX_DEPTH);
    sel_where place = sel_script_place(L, &caller);
    if (path[0] != '/' && !sel_params_is_path(L, 1))
        path = lua_pushfstring(L, "%s%s", caller ? caller->directory : "", path);
    sel_chunk *chunk = lua_newuserdatauv(L, sizeof *chunk, 0);
    *chunk = (sel_chunk){.values = LUA_NOREF, .loaded_at = place};
    if (lua_istable(L, 2)) {
        lua_pushvalue(L, 2);
        chunk->values = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    run_chunk(L, path, chunk);
    if (!lua_istable(L, -1))
        return luaL_error(L, "sel.load: %s returned no simulation but a %s", path,
                          luaL_typename(L, -1));
    luaL_unref(L, LUA_REGISTRYINDEX, chunk->values);
    if (chunk->values != LUA_NOREF && !chunk->declared)
        return luaL_error(L, "sel.load: %s declares no parameters with sel.params", path);
    return 1;
}

/* ---- loading a scenario ---- */

/* Runs in a protected call: runs the script and fills the structs. Argument: the path. */
static int script_run_and_fill(lua_State *L) {
    const char *path = lua_touserdata(L, 1);
    sel_script *script = sel_script_of(L);
    const sel_script_options *options = &script->options;
    sel_chunk chunk = {.values = LUA_NOREF};
    sel_sandbox_open(L);
    run_chunk(L, path, &chunk);
    sel_limits_look(L, (sel_where){path, 1});
    if (script->options.parameters_only)
        return 0;
    if (script->prompt) {
        sel_chunk lines = {.values = LUA_NOREF, .directory = "", .above = &chunk, .depth = 1};
        script->chunk = &lines;
        script->at_prompt = true;
        script->prompt(L);
        script->chunk = NULL;
        return 0;
    }
    if (options->assignments && options->assignments[0] && !chunk.declared)
        sel_fail(script->error, SEL_BAD_USAGE,
                 "%s declares no parameters with sel.params; it cannot take '%s'", path,
                 options->assignments[0]);
    sel_fill_scenario(script, path);
    return 0;
}

static void script_release(sel_scenario *scenario) {
    sel_limits_close(scenario->release_data);
}

static sel_scenario *script_create(const sel_script_options *options, sel_error *error) {
    sel_arena *arena = sel_arena_create();
    sel_scenario *scenario = arena ? sel_arena_alloc(arena, sizeof *scenario) : NULL;
    sel_script *script = scenario ? sel_arena_alloc(arena, sizeof *script) : NULL;
    if (!script) {
        sel_arena_destroy(arena);
        sel_fail_memory(error, "the script", sizeof *script);
        return NULL;
    }
    *script = (sel_script){.arena = arena,
                           .error = error,
                           .thread = pthread_self(),
                           .seconds = options->seconds > 0 ? options->seconds : default_seconds,
                           .deadline = INT64_MAX,
                           .left = -1,
                           .options = *options,
                           .functions_end = &script->functions,
                           .rules_end = &script->rules,
                           .series_end = &script->series,
                           .rasters_end = &script->rasters,
                           .scenario = scenario};
    *scenario = (sel_scenario){.arena = arena, .release = script_release, .release_data = script};
    return scenario;
}

sel_status sel_script_run(const char *path, const sel_script_options *options,
                          void (*prompt)(lua_State *L), sel_scenario **scenario, sel_error *error) {
    *scenario = script_create(options, error);
    if (!*scenario)
        return SEL_NO_DEVICE;
    sel_script *script = (*scenario)->release_data;
    script->prompt = prompt;
    script->L = sel_limits_open(script);
    if (!script->L) {
        sel_fail_memory(error, "the script", sizeof(void *));
    } else {
        script->arena->limit = script->options.trust ? SIZE_MAX : script->memory;
        lua_pushcfunction(script->L, script_run_and_fill);
        lua_pushlightuserdata(script->L, (void *)(uintptr_t)path);
        int called = lua_pcall(script->L, 1, 0, 0);
        sel_limits_stop(script);
        if (called != LUA_OK)
            sel_limits_report(script, (sel_where){path, 0}, "");
        double left = sel_limits_end(script);
        if (script->options.one_clock)
            script->left = fmax(0, left);
    }
    script->arena->limit = SIZE_MAX;
    script->error = NULL;
    if (error->status == SEL_OK)
        return SEL_OK;
    sel_scenario_destroy(*scenario);
    *scenario = NULL;
    return error->status;
}

sel_status sel_script_load(const char *path, const sel_script_options *options,
                           sel_scenario **scenario, sel_error *error) {
    return sel_script_run(path, options, NULL, scenario, error);
}
