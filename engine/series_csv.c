/* series_csv.c -- the points of a series from a text in CSV.
 *
 * Takes what spreadsheets, loggers and other programs write: any of four separators, quotes, a line
 * of names or none, comments, CR LF. What is ambiguous is refused with its line.
 */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/series.h"

enum { MAX_COLUMNS = 1000, MAX_NUMBER = 63 };

/* A part of the text. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

typedef struct reader {
    const char *name;
    const char *at, *end; /* what is still to be read */
    int line;             /* that was read last */
    char separator;       /* ' ' stands for runs of blanks; 0: not known yet */
    locale_t numbers;     /* in which 1.5 is a number */
    piece *cell;          /* of the line */
    int cells;
    bool dates;     /* the times are dates */
    sel_date first; /* of them */
    sel_error *error;
} reader;

/* What is wrong with the file. */
SEL_PRINTF(2, 3) static sel_status fail(const reader *r, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sel_fail(r->error, SEL_BAD_FILE, "%s:%d: %s", r->name, r->line, text);
}

/* What the script asks of it in vain. */
#define FAIL_ASKED(r, ...) sel_fail_at((r)->error, (sel_where){(r)->name, (r)->line}, __VA_ARGS__)

static bool is_blank(char ch) {
    return ch == ' ' || ch == '\t';
}

static piece trim(piece p) {
    while (p.length && is_blank(p.at[0])) {
        p.at++;
        p.length--;
    }
    while (p.length && is_blank(p.at[p.length - 1])) {
        p.length--;
    }
    return p;
}

/* A '#' at the start of a line or behind a blank opens a comment, but not inside quotes. */
static piece without_comment(piece line) {
    bool quoted = false;
    for (size_t i = 0; i < line.length; i++) {
        quoted ^= line.at[i] == '"';
        if (line.at[i] == '#' && !quoted && (i == 0 || is_blank(line.at[i - 1]))) {
            line.length = i;
        }
    }
    return line;
}

/* The next line that holds something; false at the end. Ends of line: LF, CR LF or CR. */
static bool next_line(reader *r, piece *line) {
    while (r->at < r->end) {
        const char *stop = r->at;
        while (stop < r->end && *stop != '\n' && *stop != '\r') {
            stop++;
        }
        *line = trim(without_comment((piece){r->at, (size_t)(stop - r->at)}));
        bool pair = stop + 1 < r->end && stop[0] == '\r' && stop[1] == '\n';
        r->at = stop < r->end ? stop + (pair ? 2 : 1) : stop;
        r->line++;
        if (line->length) {
            return true;
        }
    }
    return false;
}

/* The first of ; tab , that stands outside of quotes; else blanks. */
static char find_separator(piece line) {
    static const char candidates[] = ";\t,";
    for (const char *c = candidates; *c; c++) {
        bool quoted = false;
        for (size_t i = 0; i < line.length; i++) {
            quoted ^= line.at[i] == '"';
            if (line.at[i] == *c && !quoted) {
                return *c;
            }
        }
    }
    return ' ';
}

static bool ends_cell(const reader *r, char ch) {
    return r->separator == ' ' ? is_blank(ch) : ch == r->separator;
}

/* Takes one cell and the separator behind it off the line; *more tells whether there was one.
 * Quotes around a cell are no part of it. */
static sel_status take_cell(reader *r, piece *line, piece *cell, bool *more) {
    size_t i = 0;
    bool quoted = false;
    while (i < line->length && (quoted || !ends_cell(r, line->at[i]))) {
        quoted ^= line->at[i++] == '"';
    }
    if (quoted) {
        return fail(r, "a quote is not closed");
    }
    *cell = trim((piece){line->at, i});
    if (cell->length >= 2 && cell->at[0] == '"' && cell->at[cell->length - 1] == '"') {
        *cell = trim((piece){cell->at + 1, cell->length - 2});
    }
    *more = i < line->length;
    while (i < line->length && ends_cell(r, line->at[i])) {
        i++;
        if (r->separator != ' ') {
            break;
        }
    }
    line->at += i;
    line->length -= i;
    return SEL_OK;
}

static sel_status split(reader *r, piece line) {
    bool more = true;
    r->separator = r->separator ? r->separator : find_separator(line);
    for (r->cells = 0; more; r->cells++) {
        if (r->cells == MAX_COLUMNS) {
            return fail(r, "more than %d columns", MAX_COLUMNS);
        }
        sel_status status = take_cell(r, &line, &r->cell[r->cells], &more);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

/* Only what a decimal number is written with: no hexadecimal, no other words than NaN and
 * infinity, which are refused as values but are no names either. */
static bool read_number(const reader *r, piece cell, double *value) {
    char text[MAX_NUMBER + 1], *stop;
    if (cell.length == 0 || cell.length > MAX_NUMBER) {
        return false;
    }
    memcpy(text, cell.at, cell.length);
    text[cell.length] = '\0';
    *value = strtod_l(text, &stop, r->numbers);
    bool word = isnan(*value) || (isinf(*value) && strpbrk(text, "iI"));
    return *stop == '\0' && stop == text + cell.length &&
           (word || strspn(text, "+-.0123456789eE") == cell.length);
}

static sel_status number_of(reader *r, int column, double *value) {
    if (column >= r->cells) {
        return FAIL_ASKED(r, "%d column%s, but column %d is asked for", r->cells,
                          r->cells == 1 ? "" : "s", column + 1);
    }
    piece cell = r->cell[column];
    bool number = read_number(r, cell, value);
    if (!number || !isfinite(*value)) {
        int shown = cell.length > 40 ? 40 : (int)cell.length;
        const char *hint = memchr(cell.at, ',', cell.length) ? "; decimals take a point" : "";
        return fail(r, "column %d: \"%.*s\" is not a %snumber%s", column + 1, shown, cell.at,
                    number ? "finite " : "", hint);
    }
    return SEL_OK;
}

/* The time of a line whose first cell is, or should be, a date: seconds since the first. */
static sel_status date_of(reader *r, bool first, double *seconds) {
    const piece cell = r->cell[0];
    sel_date date;
    if (!sel_date_read(cell.at, cell.length, &date)) {
        int shown = cell.length > 40 ? 40 : (int)cell.length;
        return fail(r,
                    "column 1: \"%.*s\" is not a date as 2024-05-31T12:30 or 2024-05-31T12:30:00Z",
                    shown, cell.at);
    }
    r->first = first ? date : r->first;
    if (date.zoned != r->first.zoned) {
        return fail(r, "column 1: some dates have a time zone and some have none");
    }
    *seconds = (double)(date.seconds - r->first.seconds) + (date.part - r->first.part);
    return SEL_OK;
}

static sel_status time_of(reader *r, bool first, double *time) {
    sel_date date;
    if (first) {
        r->dates = sel_date_read(r->cell[0].at, r->cell[0].length, &date);
    }
    return r->dates ? date_of(r, first, time) : number_of(r, 0, time);
}

/* Whether the line names the columns: no cell is a number, and the first is none with a slip in
 * it. */
static bool is_line_of_names(const reader *r) {
    double number;
    const piece first = r->cell[0];
    if (first.length && strchr("+-.0123456789", first.at[0])) {
        return false;
    }
    for (int i = 0; i < r->cells; i++) {
        if (read_number(r, r->cell[i], &number)) {
            return false;
        }
    }
    return true;
}

static sel_status no_such_column(reader *r, const char *wanted) {
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < r->cells && used < sizeof names; i++) {
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", i ? ", " : "",
                             r->cell[i].length > 60 ? 60 : (int)r->cell[i].length, r->cell[i].at);
    }
    return FAIL_ASKED(r, "there is no column '%s'; the columns are %s", wanted, names);
}

/* Where the values are, from 0. The present line names the columns if `header`. */
static sel_status find_column(reader *r, const sel_key *wanted, bool header, int *column) {
    *column = wanted->number ? (int)wanted->number - 1 : 1;
    if (!wanted->name) {
        return SEL_OK;
    }
    if (!header) {
        return FAIL_ASKED(r, "column '%s' is asked for, but the first line has no names",
                          wanted->name);
    }
    for (int i = 0; i < r->cells; i++) {
        if (strlen(wanted->name) == r->cell[i].length &&
            memcmp(wanted->name, r->cell[i].at, r->cell[i].length) == 0) {
            *column = i;
            return SEL_OK;
        }
    }
    return no_such_column(r, wanted->name);
}

/* The list with more room; NULL, the list left as it is, when there is no memory. */
static double *grow(double **list, size_t room) {
    double *grown = realloc(*list, room * sizeof *grown);
    if (grown) {
        *list = grown;
    }
    return grown;
}

static sel_status add_point(reader *r, int column, size_t *room, sel_csv_points *points) {
    size_t n = points->n;
    if (n == *room) {
        *room = *room ? 2 * *room : 256;
        if (!grow(&points->t, *room) || !grow(&points->value, *room)) {
            return sel_fail_memory(r->error, r->name, *room * sizeof(double));
        }
    }
    sel_status status = time_of(r, n == 0, &points->t[n]);
    status = status ? status : number_of(r, column, &points->value[n]);
    if (!status && n && points->t[n] <= points->t[n - 1]) {
        const piece cell = r->cell[0];
        return r->dates ? fail(r, "dates must rise, but %.*s is not later than the one before",
                               (int)cell.length, cell.at)
                        : fail(r, "times must rise, but %.15g follows %.15g", points->t[n],
                               points->t[n - 1]);
    }
    points->n = n + 1;
    points->last_line = r->line;
    return status;
}

static sel_status read_lines(reader *r, const sel_key *wanted, sel_csv_points *points) {
    piece line;
    int column = -1;
    size_t room = 0;
    sel_status status = SEL_OK;
    while (!status && next_line(r, &line)) {
        status = split(r, line);
        bool header = !status && column < 0 && is_line_of_names(r);
        if (!status && column < 0) {
            status = find_column(r, wanted, header, &column);
        }
        if (!status && !header) {
            status = add_point(r, column, &room, points);
        }
    }
    return status;
}

sel_status sel_csv_read(const char *name, const char *text, size_t length, const sel_key *column,
                        sel_csv_points *points, sel_error *error) {
    bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    reader r = {.name = name, .at = text + (marked ? 3 : 0), .end = text + length, .error = error};
    *points = (sel_csv_points){0};
    r.numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    r.cell = malloc(MAX_COLUMNS * sizeof *r.cell);
    sel_status status = r.numbers && r.cell ? read_lines(&r, column, points)
                                            : sel_fail_memory(error, name, MAX_COLUMNS);
    if (!status && points->n == 0) {
        r.line = r.line ? r.line : 1;
        status = fail(&r, "there are no numbers in it; a line is a time and its values");
    }
    if (r.numbers) {
        freelocale(r.numbers);
    }
    free(r.cell);
    return status;
}
