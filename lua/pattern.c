/* pattern.c -- string.find, match, gmatch and gsub under the script's limits.
 *
 * A pattern such as ("a-"):rep(40) tries so many ways to match a short text that it never ends, and
 * Lua's own matcher cannot be stopped: no hook is called inside C. This one counts its steps and
 * looks at the clock now and then. Patterns mean what the Lua manual says (5.4, section 6.4.1).
 *
 * The matcher backtracks: match_here() answers where a match of the pattern from `p` on that begins
 * at `s` ends, or NULL. An item that repeats tries its counts in order, and each time asks for the
 * rest of the pattern.
 */
#include "lua/pattern.h"
#include "lua/state.h"
#include <ctype.h>
#include <string.h>

enum { MAX_CAPTURES = 32, MAX_NESTING = 200, STEPS_PER_LOOK = 1 << 18 };
enum { OPEN = -1, POSITION = -2 }; /* lengths of captures that are no substrings */

typedef struct matcher {
    lua_State *L;
    const char *text, *text_end;
    const char *pattern, *pattern_end;
    long steps;
    int nesting, count;
    struct {
        const char *start;
        ptrdiff_t length;
    } captures[MAX_CAPTURES];
} matcher;

static const char *match_here(matcher *m, const char *s, const char *p);

static void count_step(matcher *m) {
    if (++m->steps % STEPS_PER_LOOK == 0)
        sel_limits_look(m->L);
}

static int class_holds(int ch, int class) {
    int holds;
    switch (tolower(class)) {
    case 'a':
        holds = isalpha(ch);
        break;
    case 'c':
        holds = iscntrl(ch);
        break;
    case 'd':
        holds = isdigit(ch);
        break;
    case 'g':
        holds = isgraph(ch);
        break;
    case 'l':
        holds = islower(ch);
        break;
    case 'p':
        holds = ispunct(ch);
        break;
    case 's':
        holds = isspace(ch);
        break;
    case 'u':
        holds = isupper(ch);
        break;
    case 'w':
        holds = isalnum(ch);
        break;
    case 'x':
        holds = isxdigit(ch);
        break;
    default:
        return class == ch;
    }
    return isupper(class) ? !holds : holds;
}

/* The pattern behind the single character class at `p`: x, ., %x or [set]. */
static const char *class_end(matcher *m, const char *p) {
    char first = *p++;
    if (first == '%') {
        if (p == m->pattern_end)
            luaL_error(m->L, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (first != '[')
        return p;
    if (p < m->pattern_end && *p == '^')
        p++;
    do { /* a ']' in the first place stands for itself */
        if (p >= m->pattern_end)
            luaL_error(m->L, "malformed pattern (missing ']')");
        if (*p++ == '%')
            p++;
    } while (p >= m->pattern_end || *p != ']');
    return p + 1;
}

/* Whether the set from '[' at `p` to its ']' at `last` holds the character. */
static bool set_holds(int ch, const char *p, const char *last) {
    bool negated = p[1] == '^';
    for (p += negated ? 2 : 1; p < last; p++) {
        if (*p == '%') {
            p++;
            if (class_holds(ch, (unsigned char)*p))
                return !negated;
        } else if (p[1] == '-' && p + 2 < last) {
            if ((unsigned char)p[0] <= ch && ch <= (unsigned char)p[2])
                return !negated;
            p += 2;
        } else if ((unsigned char)*p == ch) {
            return !negated;
        }
    }
    return negated;
}

/* Whether the class from `p` to `end` holds the character at `s`. */
static bool single_matches(matcher *m, const char *s, const char *p, const char *end) {
    count_step(m);
    if (s >= m->text_end)
        return false;
    int ch = (unsigned char)*s;
    switch (*p) {
    case '.':
        return true;
    case '%':
        return class_holds(ch, (unsigned char)p[1]);
    case '[':
        return set_holds(ch, p, end - 1);
    default:
        return (unsigned char)*p == ch;
    }
}

/* %bxy at `p` (behind the b): from x to the y that balances it. */
static const char *match_balance(matcher *m, const char *s, const char *p) {
    if (m->pattern_end - p < 2)
        luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->text_end || *s != p[0])
        return NULL;
    int depth = 1;
    while (++s < m->text_end) {
        count_step(m);
        if (*s == p[1]) {
            if (--depth == 0)
                return s + 1;
        } else if (*s == p[0]) {
            depth++;
        }
    }
    return NULL;
}

/* As many as there are, then fewer and fewer. */
static const char *match_most(matcher *m, const char *s, const char *p, const char *end) {
    ptrdiff_t n = 0;
    while (single_matches(m, s + n, p, end))
        n++;
    for (; n >= 0; n--) {
        const char *found = match_here(m, s + n, end + 1);
        if (found)
            return found;
    }
    return NULL;
}

/* As few as do, then more and more. */
static const char *match_least(matcher *m, const char *s, const char *p, const char *end) {
    for (;; s++) {
        const char *found = match_here(m, s, end + 1);
        if (found || !single_matches(m, s, p, end))
            return found;
    }
}

static const char *open_capture(matcher *m, const char *s, const char *p, ptrdiff_t length) {
    if (m->count >= MAX_CAPTURES)
        luaL_error(m->L, "too many captures");
    m->captures[m->count].start = s;
    m->captures[m->count].length = length;
    m->count++;
    const char *found = match_here(m, s, p);
    if (!found)
        m->count--;
    return found;
}

static const char *close_capture(matcher *m, const char *s, const char *p) {
    int k = m->count - 1;
    while (k >= 0 && m->captures[k].length != OPEN)
        k--;
    if (k < 0)
        luaL_error(m->L, "invalid pattern capture");
    m->captures[k].length = s - m->captures[k].start;
    const char *found = match_here(m, s, p);
    if (!found)
        m->captures[k].length = OPEN;
    return found;
}

/* %1 to %9: the text of an earlier capture. */
static const char *match_capture(matcher *m, const char *s, int digit) {
    int k = digit - '1';
    if (k < 0 || k >= m->count || m->captures[k].length == OPEN)
        luaL_error(m->L, "invalid capture index %%%d", k + 1);
    if (m->captures[k].length == POSITION)
        return NULL;
    size_t length = (size_t)m->captures[k].length;
    m->steps += (long)length;
    count_step(m);
    bool same = (size_t)(m->text_end - s) >= length && memcmp(m->captures[k].start, s, length) == 0;
    return same ? s + length : NULL;
}

/* %f[set] with the set at `p`: the border before s. */
static bool at_frontier(matcher *m, const char *s, const char *p, const char *end) {
    int before = s == m->text ? 0 : (unsigned char)s[-1];
    int after = s == m->text_end ? 0 : (unsigned char)*s;
    return !set_holds(before, p, end - 1) && set_holds(after, p, end - 1);
}

static const char *match_items(matcher *m, const char *s, const char *p) {
    while (p < m->pattern_end) {
        if (*p == '(') {
            bool position = p + 1 < m->pattern_end && p[1] == ')';
            return position ? open_capture(m, s, p + 2, POSITION) : open_capture(m, s, p + 1, OPEN);
        }
        if (*p == ')')
            return close_capture(m, s, p + 1);
        if (*p == '$' && p + 1 == m->pattern_end)
            return s == m->text_end ? s : NULL;
        char special = *p == '%' && p + 1 < m->pattern_end ? p[1] : '\0';
        if (special == 'b' || isdigit((unsigned char)special)) {
            s = special == 'b' ? match_balance(m, s, p + 2) : match_capture(m, s, special);
            if (!s)
                return NULL;
            p += special == 'b' ? 4 : 2;
            continue;
        }
        if (special == 'f') {
            p += 2;
            if (p >= m->pattern_end || *p != '[')
                luaL_error(m->L, "missing '[' after '%%f' in pattern");
            const char *set_end = class_end(m, p);
            if (!at_frontier(m, s, p, set_end))
                return NULL;
            p = set_end;
            continue;
        }
        const char *end = class_end(m, p);
        char suffix = end < m->pattern_end ? *end : '\0';
        if (suffix == '*')
            return match_most(m, s, p, end);
        if (suffix == '-')
            return match_least(m, s, p, end);
        bool here = single_matches(m, s, p, end);
        if (suffix == '+')
            return here ? match_most(m, s + 1, p, end) : NULL;
        if (suffix == '?') {
            const char *found = here ? match_here(m, s + 1, end + 1) : NULL;
            if (found)
                return found;
            p = end + 1;
            continue;
        }
        if (!here)
            return NULL;
        s++;
        p = end;
    }
    return s;
}

static const char *match_here(matcher *m, const char *s, const char *p) {
    if (m->nesting >= MAX_NESTING)
        luaL_error(m->L, "pattern too complex");
    m->nesting++;
    count_step(m);
    const char *found = match_items(m, s, p);
    m->nesting--;
    return found;
}

/* Where the match at `s` ends, or NULL. */
static const char *match_at(matcher *m, const char *s) {
    m->nesting = m->count = 0;
    return match_here(m, s, m->pattern);
}

static matcher start(lua_State *L, int text_index, int pattern_index) {
    size_t text, pattern;
    matcher m = {.L = L};
    m.text = luaL_checklstring(L, text_index, &text);
    m.pattern = luaL_checklstring(L, pattern_index, &pattern);
    m.text_end = m.text + text;
    m.pattern_end = m.pattern + pattern;
    return m;
}

static bool skip_anchor(matcher *m) {
    bool anchored = m->pattern < m->pattern_end && *m->pattern == '^';
    m->pattern += anchored;
    return anchored;
}

static void push_capture(matcher *m, int k, const char *s, const char *end) {
    if (k == 0 && m->count == 0) {
        lua_pushlstring(m->L, s, (size_t)(end - s));
        return;
    }
    if (k >= m->count)
        luaL_error(m->L, "invalid capture index %%%d", k + 1);
    if (m->captures[k].length == OPEN)
        luaL_error(m->L, "unfinished capture");
    if (m->captures[k].length == POSITION)
        lua_pushinteger(m->L, m->captures[k].start - m->text + 1);
    else
        lua_pushlstring(m->L, m->captures[k].start, (size_t)m->captures[k].length);
}

/* Pushes all captures; the whole match, if `s` is given and there are none. Returns their number.
 */
static int push_captures(matcher *m, const char *s, const char *end) {
    int count = m->count == 0 && s ? 1 : m->count;
    luaL_checkstack(m->L, count, "too many captures");
    for (int k = 0; k < count; k++)
        push_capture(m, k, s, end);
    return count;
}

/* The start of the search for the argument `init`, or NULL behind the end. */
static const char *initial_position(const matcher *m, int index) {
    lua_Integer length = m->text_end - m->text, at = luaL_optinteger(m->L, index, 1);
    if (at < 0)
        at = at < -length ? 1 : length + at + 1;
    else if (at == 0)
        at = 1;
    return at > length + 1 ? NULL : m->text + (at - 1);
}

static int find_plain(matcher *m, const char *s) {
    size_t length = (size_t)(m->pattern_end - m->pattern);
    const char *found = memmem(s, (size_t)(m->text_end - s), m->pattern, length);
    sel_limits_look(m->L);
    if (!found) {
        lua_pushnil(m->L);
        return 1;
    }
    lua_pushinteger(m->L, found - m->text + 1);
    lua_pushinteger(m->L, found - m->text + (lua_Integer)length);
    return 2;
}

static bool has_specials(const matcher *m) {
    for (const char *p = m->pattern; p < m->pattern_end; p++)
        if (*p && strchr("^$*+?.([%-", *p))
            return true;
    return false;
}

static int search(lua_State *L, bool find) {
    matcher m = start(L, 1, 2);
    const char *s = initial_position(&m, 3);
    if (s && find && (lua_toboolean(L, 4) || !has_specials(&m)))
        return find_plain(&m, s);
    bool anchored = skip_anchor(&m);
    for (; s && s <= m.text_end; s++) {
        const char *end = match_at(&m, s);
        if (end && find) {
            lua_pushinteger(L, s - m.text + 1);
            lua_pushinteger(L, end - m.text);
            return 2 + push_captures(&m, NULL, NULL);
        }
        if (end)
            return push_captures(&m, s, end);
        if (anchored)
            break;
    }
    lua_pushnil(L);
    return 1;
}

static int pattern_find(lua_State *L) {
    return search(L, true);
}

static int pattern_match(lua_State *L) {
    return search(L, false);
}

/* Upvalues: text, pattern, offset of the next try, offset of the last match's end (-1: none). */
static int next_match(lua_State *L) {
    matcher m = start(L, lua_upvalueindex(1), lua_upvalueindex(2));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    for (const char *s = m.text + lua_tointeger(L, lua_upvalueindex(3)); s <= m.text_end; s++) {
        const char *end = match_at(&m, s);
        if (!end || end - m.text == last)
            continue;
        lua_pushinteger(L, end - m.text);
        lua_pushvalue(L, -1);
        lua_replace(L, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, s, end);
    }
    lua_pushinteger(L, m.text_end - m.text + 1);
    lua_replace(L, lua_upvalueindex(3));
    return 0;
}

static int pattern_gmatch(lua_State *L) {
    matcher m = start(L, 1, 2);
    const char *s = initial_position(&m, 3);
    lua_settop(L, 2);
    lua_pushinteger(L, s ? s - m.text : m.text_end - m.text + 1);
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/* Adds the replacement string at index 3, with its %0 to %9, to the buffer. */
static void add_template(matcher *m, luaL_Buffer *to, const char *s, const char *end) {
    size_t length;
    const char *template = lua_tolstring(m->L, 3, &length);
    for (const char *p = template; p < template + length; p++) {
        if (*p != '%') {
            luaL_addchar(to, *p);
            continue;
        }
        p++;
        if (p < template + length && *p == '%') {
            luaL_addchar(to, '%');
        } else if (p < template + length && *p == '0') {
            luaL_addlstring(to, s, (size_t)(end - s));
        } else if (p < template + length && isdigit((unsigned char)*p)) {
            push_capture(m, *p - '1', s, end);
            luaL_tolstring(m->L, -1, NULL);
            lua_remove(m->L, -2);
            luaL_addvalue(to);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
}

/* Adds what replaces the match to the buffer: by string, table or function at index 3. */
static void add_replacement(matcher *m, luaL_Buffer *to, const char *s, const char *end, int type) {
    lua_State *L = m->L;
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, s, end), 1);
    } else if (type == LUA_TTABLE) {
        push_capture(m, 0, s, end);
        lua_gettable(L, 3);
    } else {
        add_template(m, to, s, end);
        return;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(to, s, (size_t)(end - s));
    } else if (lua_isstring(L, -1)) {
        luaL_addvalue(to);
    } else {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
}

static int pattern_gsub(lua_State *L) {
    matcher m = start(L, 1, 2);
    int type = lua_type(L, 3);
    lua_Integer limit = luaL_optinteger(L, 4, m.text_end - m.text + 1), n = 0;
    bool right =
        type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE;
    luaL_argexpected(L, right, 3, "string/function/table");
    bool anchored = skip_anchor(&m);
    const char *s = m.text, *last = NULL;
    luaL_Buffer result;
    luaL_buffinit(L, &result);
    while (n < limit) {
        const char *end = match_at(&m, s);
        if (end && end != last) {
            n++;
            add_replacement(&m, &result, s, end, type);
            s = last = end;
        } else if (s < m.text_end) {
            luaL_addchar(&result, *s++);
        } else {
            break;
        }
        if (anchored)
            break;
    }
    luaL_addlstring(&result, s, (size_t)(m.text_end - s));
    luaL_pushresult(&result);
    lua_pushinteger(L, n);
    return 2;
}

void sel_pattern_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"find", pattern_find},
                                         {"match", pattern_match},
                                         {"gmatch", pattern_gmatch},
                                         {"gsub", pattern_gsub},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
