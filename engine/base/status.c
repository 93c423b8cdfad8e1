/* status.c -- the error text of a call, and the nearest name to a misspelt one. */
#include "engine/base/status.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/text.h"
#include "engine/base/hardware.h"

/* Whether byte i is a control character: below 32, 127, or 0x80 to 0x9f, either as a single byte or
 * as the second byte of its UTF-8 form (after 0xc2). */
static bool is_control(const char *text, size_t i) {
    const unsigned char c = (unsigned char)text[i];
    const unsigned char before = i > 0 ? (unsigned char)text[i - 1] : 0;
    return c < 32 || c == 127 || (c >= 0x80 && c < 0xa0 && (before < 0x80 || before == 0xc2));
}

void sel_plain_text(char *text) {
    for (size_t i = 0; text[i]; i++) {
        if (is_control(text, i) && text[i] != '\n' && text[i] != '\t') {
            text[i - (i > 0 && (unsigned char)text[i - 1] == 0xc2)] = '?';
            text[i] = '?';
        }
    }
}

bool sel_is_plain(const char *text) {
    for (size_t i = 0; text[i]; i++) {
        if (is_control(text, i)) {
            return false;
        }
    }
    return true;
}

/* Appends the formatted line; a line that does not fit is replaced by "...". */
static sel_status status_append(sel_error *error, sel_status status, sel_where where,
                                const char *format, va_list args) {
    static const char cut[] = "\n...";
    char line[sizeof error->text] = "";
    if (!error) {
        return status;
    }
    if (error->status == SEL_OK) {
        error->status = status;
        error->cell = 0;
        error->text[0] = '\0';
    }
    const size_t used = strlen(error->text), room = sizeof error->text - used;
    size_t length = (size_t)snprintf(line, sizeof line, "%s", used ? "\n" : "");
    if (where.file) {
        length += (size_t)snprintf(line + length, sizeof line - length, "%.1000s:%d: ", where.file,
                                   where.line);
    }
    length += (size_t)vsnprintf(line + length, sizeof line - length, format, args);
    sel_plain_text(line);
    if (length + strlen(cut) < room) {
        strcpy(error->text + used, line);
    } else if (room > strlen(cut)) {
        strcpy(error->text + used, cut);
    }
    return status;
}

sel_status sel_fail(sel_error *error, sel_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    status_append(error, status, (sel_where){NULL, 0}, format, args);
    va_end(args);
    return status;
}

sel_status sel_fail_as(sel_error *error, sel_status status, sel_where where, const char *format,
                       ...) {
    va_list args;
    va_start(args, format);
    status_append(error, status, where, format, args);
    va_end(args);
    return status;
}

sel_status sel_fail_at(sel_error *error, sel_where where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    status_append(error, SEL_BAD_SCENARIO, where, format, args);
    va_end(args);
    return SEL_BAD_SCENARIO;
}

sel_status sel_fail_memory(sel_error *error, const char *what, unsigned long long bytes) {
    char text[SEL_BYTES_ROOM];
    return sel_fail(error, SEL_NO_DEVICE, "not enough memory for %s: %s could not be allocated",
                    what, sel_bytes_text((double)bytes, text));
}

sel_status sel_fail_in_cell(sel_error *error, sel_status status, int64_t cell) {
    if (error && status && error->cell == 0) {
        error->cell = cell;
    }
    return status;
}

int sel_name_index(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

enum { LONGEST_NAME = 63 };

/* Edit distance with transpositions counted as one (optimal string alignment). */
static int edit_distance(const char *a, const char *b) {
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME) {
        return INT_MAX;
    }
    int row[3][LONGEST_NAME + 1];
    for (int j = 0; j <= m; j++) {
        row[0][j] = j;
    }
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *above = row[(i + 2) % 3], *two_above = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two_above[j - 2] + 1 < best) {
                best = two_above[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *sel_nearest(const char *name, const char *const *names) {
    const char *nearest = NULL;
    int length = (int)strlen(name);
    int least = length / 3 + 2;              /* one error in a short name, more in a long one */
    least = least < length ? least : length; /* some of the name must match */
    for (; *names; names++) {
        int distance = edit_distance(name, *names);
        if (distance < least) {
            least = distance;
            nearest = *names;
        }
    }
    return nearest;
}

const char *sel_suggestion(const char *name, const char *const *names,
                           char text[SEL_SUGGESTION_ROOM]) {
    const char *nearest = sel_nearest(name, names);
    char held[SEL_HOLDS_ROOM];
    sel_character_held(name, held);
    snprintf(text, SEL_SUGGESTION_ROOM, "%s%.60s%s%s", nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "", held);
    return text;
}
