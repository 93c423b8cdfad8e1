/* series_csv.c -- reads the points of a series from CSV text.
 *
 * Accepts what spreadsheets, loggers and other programs write: any of four separators, quotes, a
 * line of column names or none, comments, any ends of line. Ambiguous text is refused with its
 * line.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/base/text.h"
#include "engine/values/series.h"

/* ---- dates of ISO 8601, such as 2024-05-31T12:30:00Z ---- */

typedef struct date {
    int64_t seconds; /* since 1970-01-01T00:00 */
    double part;     /* the fraction of a second, in [0, 1) */
    bool zoned;      /* the text has a time zone, so `seconds` are in UTC */
} date;

/* Reads YYYY-MM-DD, optionally followed by 'T' or a blank and hh:mm, hh:mm:ss or hh:mm:ss.fff, and
 * by Z, +hh, +hhmm or +hh:mm. False when the text is anything else, or no day of the calendar. */
static bool read_date(const char *text, date *to) {
    struct tm parts = {.tm_sec = 0}, zone = {.tm_gmtoff = 0};
    const char *at = strptime(text, "%Y-%m-%d", &parts);
    const int day = parts.tm_mday;
    *to = (date){.seconds = 0};
    if (!at || at != text + strlen("YYYY-MM-DD")) {
        return false;
    }
    if (*at) {
        at = *at == 'T' || *at == ' ' ? strptime(at + 1, "%H:%M", &parts) : NULL;
        at = at && *at == ':' ? strptime(at + 1, "%S", &parts) : at;
        if (at && *at == '.') {
            double unit = 0.1;
            for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10) {
                to->part += unit * (*at - '0');
            }
        }
        to->zoned = at && *at;
        at = to->zoned ? strptime(at, "%z", &zone) : at;
    }
    to->seconds = timegm(&parts) - zone.tm_gmtoff;
    /* timegm has changed a day that is not in the calendar. */
    return at && !*at && parts.tm_mday == day;
}

/* ---- lines and cells ---- */

enum { MAX_COLUMNS = 1000 };

typedef struct reader {
    const char *name; /* of the text, for messages */
    char *at;         /* the rest of the text */
    int line;         /* number of the present line */
    char separator;   /* ' ': one or more blanks; 0: not known yet */
    locale_t numbers; /* the C locale, with a decimal point */
    char **cell;      /* the cells of the present line, */
    int cells;        /* and their number */
    int columns;      /* the number of cells in the first line; 0: not known yet */
    bool dates;       /* the times are dates */
    date first;       /* the first date */
    sel_error *error;
} reader;

/* FAIL: an error in the file. FAIL_ASKED: the script asks for a column that the file lacks. */
#define FAIL(r, ...) \
    sel_fail_as((r)->error, SEL_BAD_FILE, (sel_where){(r)->name, (r)->line}, __VA_ARGS__)
#define FAIL_ASKED(r, ...) sel_fail_at((r)->error, (sel_where){(r)->name, (r)->line}, __VA_ARGS__)

static const char blanks[] = " \t";

/* Removes the blanks at both ends. */
static char *trim(char *text) {
    text += strspn(text, blanks);
    for (size_t n = strlen(text); n > 0 && strchr(blanks, text[n - 1]); n--) {
        text[n - 1] = '\0';
    }
    return text;
}

/* The first character of `text` outside quotes that is one of `wanted`, or the end of the text.
 * NULL: a quote is not closed. */
static char *find_unquoted(char *text, const char *wanted) {
    bool quoted = false;
    for (; *text && (quoted || !strchr(wanted, *text)); text++) {
        quoted ^= *text == '"';
    }
    return quoted ? NULL : text;
}

/* Removes a comment, which begins with '#' outside quotes, at the start of a line or behind a
 * blank. */
static void cut_comment(char *line) {
    for (char *at = find_unquoted(line, "#"); at && *at; at = find_unquoted(at + 1, "#")) {
        if (at == line || strchr(blanks, at[-1])) {
            *at = '\0';
        }
    }
}

/* The next line that is not blank, without comment; NULL at the end. Lines end with LF, CR LF or
 * CR. */
static char *next_line(reader *r) {
    while (*r->at) {
        char *line = r->at, *stop = line + strcspn(line, "\r\n");
        r->at = stop + (stop[0] == '\r' && stop[1] == '\n' ? 2 : *stop != '\0');
        *stop = '\0';
        r->line++;
        cut_comment(line);
        line = trim(line);
        if (*line) {
            return line;
        }
    }
    return NULL;
}

/* The separator of a line: the first of semicolon, tab and comma that occurs outside quotes, else
 * blanks. */
static char find_separator(char *line) {
    for (const char *c = ";\t,"; *c; c++) {
        const char *at = find_unquoted(line, (char[2]){*c, '\0'});
        if (at && *at) {
            return *c;
        }
    }
    return ' ';
}

/* Gets the next cell, without quotes around it. *line becomes the text behind its separator; NULL:
 * it was the last cell. */
static sel_status csv_next_cell(reader *r, char **line, char **cell) {
    char *stop = find_unquoted(*line, r->separator == ' ' ? blanks : (char[2]){r->separator, '\0'});
    if (!stop) {
        return FAIL(r, "a quote is not closed");
    }
    const size_t behind = r->separator == ' ' ? strspn(stop, blanks) : *stop != '\0';
    *stop = '\0';
    *cell = trim(*line);
    const size_t length = strlen(*cell);
    if (length >= 2 && **cell == '"' && (*cell)[length - 1] == '"') {
        (*cell)[length - 1] = '\0';
        *cell = trim(*cell + 1);
    }
    *line = behind ? stop + behind : NULL;
    return SEL_OK;
}

/* Refuses cells beyond the columns of the first line, unless they are empty, as spreadsheets write
 * them. Else a decimal comma, or a column without a name, would not be noticed. Between blanks it
 * also refuses fewer cells: which one is missing cannot be seen. */
static sel_status csv_check_count(const reader *r) {
    int used = r->cells;
    while (used > 0 && !*r->cell[used - 1]) {
        used--;
    }
    if (r->columns && used > r->columns) {
        return FAIL(r,
                    "%d cells, but the first line has %d: decimals take a point, and a text "
                    "with the separator in it stands in quotes",
                    used, r->columns);
    }
    if (r->separator == ' ' && r->cells < r->columns) {
        return FAIL(r,
                    "%d cell%s between blanks, but the first line has %d: which is missing cannot "
                    "be seen; leave the line out, or separate all cells by commas",
                    r->cells, r->cells == 1 ? "" : "s", r->columns);
    }
    return SEL_OK;
}

/* Splits a line into r->cell. */
static sel_status split(reader *r, char *line) {
    r->separator = r->separator ? r->separator : find_separator(line);
    for (r->cells = 0; line; r->cells++) {
        if (r->cells == MAX_COLUMNS) {
            return FAIL(r, "more than %d columns", MAX_COLUMNS);
        }
        sel_status status = csv_next_cell(r, &line, &r->cell[r->cells]);
        if (status) {
            return status;
        }
    }
    sel_status status = csv_check_count(r);
    r->columns = r->columns ? r->columns : r->cells;
    return status;
}

/* Reads a number in decimal notation. NaN and infinity count as numbers, so that they are not taken
 * for names of columns; they are refused later. */
static bool csv_read_number(const reader *r, const char *cell, double *value) {
    char *stop;
    *value = strtod_l(cell, &stop, r->numbers);
    bool word = isnan(*value) || (isinf(*value) && strpbrk(cell, "iI"));
    return *cell && *stop == '\0' && (word || cell[strspn(cell, "+-.0123456789eE")] == '\0');
}

/* Whether the cell may be a date in another notation, as 31.05.2024 or 5/31/2024 12:30: three whole
 * numbers with the same sign between them, the first or the last of four digits. */
static bool is_other_date(const char *cell) {
    static const char digits[] = "0123456789", signs[] = "./-";
    size_t length[3];
    char sign = '\0';
    for (int k = 0; k < 3; k++) {
        length[k] = strspn(cell, digits);
        cell += length[k];
        if (length[k] == 0 ||
            (k < 2 && (!*cell || !strchr(signs, *cell) || (k && *cell != sign)))) {
            return false;
        }
        sign = *cell;
        cell += k < 2;
    }
    return (length[0] == 4 || length[2] == 4 || length[2] == 2) && length[0] <= 4 &&
           length[1] <= 2 && (!*cell || strchr(" ,T", *cell));
}

/* Why a cell written year-month-day is no date, if it begins with one; false: it does not. */
static bool is_no_date(const char *cell, char *text, size_t size) {
    static const int days_of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 0, month = 0, day = 0, end = 0;
    sscanf(cell, "%4d-%2d-%2d%n", &year, &month, &day, &end);
    if (end != (int)strlen("YYYY-MM-DD")) {
        return false;
    }
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int days = month < 1 || month > 12 ? 0 : days_of[month - 1] + (month == 2 && leap);
    if (days == 0) {
        snprintf(text, size, "there is no month %02d", month);
    } else if (day < 1 || day > days) {
        snprintf(text, size, "%04d-%02d has %d days", year, month, days);
    } else if (strstr(cell, "24:00")) {
        snprintf(text, size, "24:00 is 00:00 of the next day");
    } else {
        snprintf(text, size, "behind the day stands a time as 12:30 or 12:30:00, or nothing");
    }
    return true;
}

/* Advice about a cell that is not a finite number; "": none. */
static const char *advise(const char *cell, bool number, char text[SEL_HOLDS_ROOM]) {
    static const char *const gaps[] = {"",    "-",   "--",   "NA",   "N/A",  "n/a", "na",
                                       "NaN", "nan", "null", "NULL", "None", NULL};
    if (number || sel_name_index(gaps, cell) >= 0) {
        return "; leave a line without a value out, or put # before it: the series goes on from "
               "the point before the gap to the one behind it";
    }
    if (is_other_date(cell)) {
        return "; dates are written year-month-day, as 2024-05-31 00:00";
    }
    if (strchr(cell, ',')) {
        return "; decimals take a point";
    }
    sel_character_held(cell, text);
    char *advice = strstr(text, ": write a plain space");
    if (advice) {
        strcpy(advice, ", and digits stand without");
    }
    return text;
}

static sel_status csv_cell_number(reader *r, int column, double *value) {
    if (column >= r->cells) {
        return FAIL_ASKED(r, "%d column%s, but column %d is asked for", r->cells,
                          r->cells == 1 ? "" : "s", column + 1);
    }
    const char *cell = r->cell[column];
    bool number = csv_read_number(r, cell, value);
    if (!number || !isfinite(*value)) {
        char held[SEL_HOLDS_ROOM];
        if (!number && is_no_date(cell, held, sizeof held)) {
            return FAIL(r, "column %d: \"%.40s\" is not a date: %s", column + 1, cell, held);
        }
        return FAIL(r, "column %d: \"%.40s\" is not a %snumber%s", column + 1, cell,
                    number ? "finite " : "", advise(cell, number, held));
    }
    return SEL_OK;
}

/* The time of a line whose first cell is, or should be, a date: seconds since the first. */
static sel_status date_of(reader *r, bool first, double *seconds) {
    date found;
    if (!read_date(r->cell[0], &found)) {
        char why[SEL_HOLDS_ROOM];
        return is_no_date(r->cell[0], why, sizeof why)
                   ? FAIL(r, "column 1: \"%.40s\" is not a date: %s", r->cell[0], why)
                   : FAIL(r,
                          "column 1: \"%.40s\" is not a date as 2024-05-31T12:30 or "
                          "2024-05-31T12:30:00Z",
                          r->cell[0]);
    }
    r->first = first ? found : r->first;
    if (found.zoned != r->first.zoned) {
        return FAIL(r, "column 1: some dates have a time zone and some have none");
    }
    *seconds = (double)(found.seconds - r->first.seconds) + (found.part - r->first.part);
    return SEL_OK;
}

static sel_status time_of(reader *r, bool first, double *time) {
    date found;
    if (first) {
        r->dates = read_date(r->cell[0], &found);
    }
    return r->dates ? date_of(r, first, time) : csv_cell_number(r, 0, time);
}

/* Whether the line names the columns: no cell is a number, and the first cell does not begin like a
 * number or a date, which may be mistyped. */
static bool is_line_of_names(const reader *r) {
    double number;
    const char first = r->cell[0][0];
    if (first && strchr("+-.0123456789", first)) {
        return false;
    }
    for (int i = 0; i < r->cells; i++) {
        if (csv_read_number(r, r->cell[i], &number)) {
            return false;
        }
    }
    return true;
}

/* The column of the values, from 0. The present line names the columns if `header`. */
static sel_status find_column(reader *r, const sel_key *wanted, bool header, int *column) {
    *column = wanted->number ? (int)wanted->number - 1 : 1;
    if (!wanted->name) {
        return SEL_OK;
    }
    if (!header) {
        return FAIL_ASKED(r, "column '%s' is asked for, but the first line has no names",
                          wanted->name);
    }
    char names[512] = "";
    size_t used = 0;
    int found = -1;
    for (int i = 0; i < r->cells; i++) {
        if (strcmp(wanted->name, r->cell[i]) == 0 && found >= 0) {
            return FAIL_ASKED(r,
                              "columns %d and %d are both called '%s'; ask for one by its number",
                              found + 1, i + 1, wanted->name);
        }
        found = strcmp(wanted->name, r->cell[i]) == 0 ? i : found;
        used += used < sizeof names ? (size_t)snprintf(names + used, sizeof names - used, "%s%.60s",
                                                       i ? ", " : "", r->cell[i])
                                    : 0;
    }
    *column = found;
    return found >= 0
               ? SEL_OK
               : FAIL_ASKED(r, "there is no column '%s'; the columns are %s", wanted->name, names);
}

static sel_status add_point(reader *r, int column, sel_csv_points *points) {
    size_t n = points->n;
    sel_status status = time_of(r, n == 0, &points->t[n]);
    status = status ? status : csv_cell_number(r, column, &points->value[n]);
    if (!status && n && points->t[n] <= points->t[n - 1]) {
        return r->dates
                   ? FAIL(r, "dates must rise, but %s is not later than the one before", r->cell[0])
                   : FAIL(r, "times must rise, but %.15g follows %.15g", points->t[n],
                          points->t[n - 1]);
    }
    points->n = n + 1;
    points->last_line = r->line;
    return status;
}

static sel_status read_lines(reader *r, const sel_key *wanted, sel_csv_points *points) {
    char *line;
    int column = -1;
    sel_status status = SEL_OK;
    while (!status && (line = next_line(r))) {
        status = split(r, line);
        bool header = !status && column < 0 && is_line_of_names(r);
        if (!status && column < 0) {
            status = find_column(r, wanted, header, &column);
        }
        if (!status && !header) {
            status = add_point(r, column, points);
        }
    }
    return status;
}

/* A copy of the text with '?' for 0 bytes; *lines gets an upper bound of the number of its lines.
 */
static char *copy_text(const char *text, size_t length, size_t *lines) {
    char *copy = calloc(length + 1, 1);
    *lines = 1;
    for (size_t i = 0; copy && i < length; i++) {
        copy[i] = text[i] ? text[i] : '?';
        *lines += copy[i] == '\n' || copy[i] == '\r';
    }
    return copy;
}

sel_status sel_csv_read(const char *name, const char *text, size_t length, const sel_key *column,
                        sel_csv_points *points, sel_error *error) {
    size_t lines;
    char *copy = copy_text(text, length, &lines);
    reader r = {.name = name, .at = copy, .error = error};
    *points = (sel_csv_points){.t = malloc(lines * sizeof(double)),
                               .value = malloc(lines * sizeof(double))};
    r.numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    r.cell = malloc(MAX_COLUMNS * sizeof *r.cell);
    if (copy && strncmp(copy, "\xef\xbb\xbf", 3) == 0) {
        r.at += 3;
    }
    const char *wide = sel_wide_encoding(text, length);
    sel_status status = r.numbers && r.cell && copy && points->t && points->value
                            ? SEL_OK
                            : sel_fail_memory(error, name, length);
    if (!status && wide) {
        status =
            sel_fail(error, SEL_BAD_FILE, "%s: the text is in %s; save it as UTF-8", name, wide);
    }
    status = status ? status : read_lines(&r, column, points);
    if (!status && points->n == 0) {
        r.line = r.line ? r.line : 1;
        status = FAIL(&r, "there are no numbers in it; a line is a time and its values");
    }
    if (r.numbers) {
        freelocale(r.numbers);
    }
    free(r.cell);
    free(copy);
    return status;
}
