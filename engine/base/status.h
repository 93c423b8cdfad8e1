/* status.h -- the one error path: a status that is also the exit status, and one text. */
#ifndef SEL_STATUS_H
#define SEL_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* Every function that can fail returns one of these; main.c exits with it. */
typedef enum sel_status {
    SEL_OK = 0,
    SEL_BAD_SCENARIO = 1, /* the scenario is wrong */
    SEL_BAD_USAGE = 2,    /* the command line is wrong */
    SEL_DIVERGED = 3,     /* NaN, infinity or physically impossible values in the fields */
    SEL_BAD_FILE = 4,     /* a file could not be read or written */
    SEL_NO_DEVICE = 5,    /* the machine lacks a device, memory, a library, a rank */
    SEL_INTERRUPTED = 130 /* stopped by a signal, after the last state was written */
} sel_status;

/* A place in a script, for messages. `file` is NULL for a simulation built from C. */
typedef struct sel_where {
    const char *file;
    int line;
} sel_where;

/* The error of a call: the first status that was set, and one message per line of `text`. */
typedef struct sel_error {
    sel_status status;
    int64_t cell; /* of an error in a cell: its number, see sel_fail_in_cell; else 0 */
    char text[16384];
} sel_error;

#if defined(__GNUC__)
#define SEL_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define SEL_PRINTF(at, first)
#endif

/* Appends one line to `error` (several mistakes are reported together) and returns `status`.
 * `error` may be NULL. Text that does not fit is cut at a line's end, with "..." as the last. */
sel_status sel_fail(sel_error *error, sel_status status, const char *format, ...) SEL_PRINTF(3, 4);

/* As sel_fail, but the line begins with "file:line: ". sel_fail_at: with SEL_BAD_SCENARIO. */
sel_status sel_fail_as(sel_error *error, sel_status status, sel_where where, const char *format,
                       ...) SEL_PRINTF(4, 5);
sel_status sel_fail_at(sel_error *error, sel_where where, const char *format, ...) SEL_PRINTF(3, 4);

/* Notes in which cell of the grid a call has failed that searches cells in their order, and returns
 * its `status` (SEL_OK: nothing is noted). Of several ranks that fail, the one with the first cell
 * is heard (sel_ranks_agree). */
sel_status sel_fail_in_cell(sel_error *error, sel_status status, int64_t cell);

/* As sel_fail with SEL_NO_DEVICE, for `bytes` bytes of `what` that could not be allocated. */
sel_status sel_fail_memory(sel_error *error, const char *what, unsigned long long bytes);

/* Replaces control characters other than newline and tab by '?', since they may steer terminals. */
void sel_plain_text(char *text);

/* Whether a text may be a name: it holds no control characters at all. */
bool sel_is_plain(const char *text);

/* The index of `name` in a NULL-terminated list; -1: it is not there. */
int sel_name_index(const char *const *names, const char *name);

/* The nearest of `names` (NULL-terminated) to `name` by edit distance; NULL when none is near
 * enough to be a typing error. */
const char *sel_nearest(const char *name, const char *const *names);

/* "; did you mean 'NEAREST'?", or "" when no name is near, followed by sel_character_held(name).
 * Returns `text`. */
enum { SEL_SUGGESTION_ROOM = 256 };
const char *sel_suggestion(const char *name, const char *const *names,
                           char text[SEL_SUGGESTION_ROOM]);

#endif
