/* grid_asc.c -- grids of numbers as text: ESRI ASCII (.asc), read line by line, and written.
 *
 * Keys and their numbers, then rows * columns values, the north-west one first; white space is all
 * that separates. https://desktop.arcgis.com, "Esri ASCII raster format"; GDAL's driver AAIGrid.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/base/text.h"
#include "engine/io/raster.h"

enum { SHOWN = 40 };

enum { COLUMNS, ROWS, X_CORNER, X_CENTRE, Y_CORNER, Y_CENTRE, SIDE, DX, DY, NODATA, KEYS };
static const char *const keys[KEYS] = {"NCOLS",     "NROWS",       "XLLCORNER", "XLLCENTER",
                                       "YLLCORNER", "YLLCENTER",   "CELLSIZE",  "DX",
                                       "DY",        "NODATA_VALUE"};

typedef struct reader {
    sel_raster_source *to;
    bool given[KEYS]; /* of the header */
    double value[KEYS];
    char *text; /* a line */
    size_t room;
    const char *at, *end; /* what is not used of it */
    int line;             /* of `at` */
} reader;

/* Where a message is about; a line of the file stands for that of a script. */
static sel_where here(const reader *r) {
    return (sel_where){r->to->name, r->line};
}

/* ---- tokens ---- */

static inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* False at the end of the file. */
static inline bool next_token(reader *r) {
    for (;;) {
        for (; r->at < r->end && is_blank(*r->at); r->at++) {
            r->line += *r->at == '\n';
        }
        if (r->at < r->end) {
            return true;
        }
        const ssize_t length = getline(&r->text, &r->room, r->to->file);
        if (length < 0) {
            return false;
        }
        r->at = r->text;
        r->end = r->text + length;
    }
}

static size_t token_length(const reader *r) {
    size_t length = 0;
    while (r->at + length < r->end && !is_blank(r->at[length])) {
        length++;
    }
    return length;
}

static bool token_is(const reader *r, const char *word) {
    return token_length(r) == strlen(word) && strncasecmp(r->at, word, strlen(word)) == 0;
}

static bool is_nan(const reader *r) {
    return token_is(r, "null") || token_is(r, "nan") || token_is(r, "-nan") || token_is(r, "+nan");
}

/* The start of a token as it can be printed. */
static void show_token(const reader *r, char shown[SHOWN + 1]) {
    const size_t length = token_length(r);
    snprintf(shown, SHOWN + 1, "%.*s", (int)(length < SHOWN ? length : SHOWN), r->at);
    for (char *c = shown; *c; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
}

static sel_status bad_number(const reader *r) {
    size_t length = token_length(r);
    char shown[SHOWN + 1];
    show_token(r, shown);
    return sel_fail_as(r->to->error, SEL_BAD_FILE, here(r), "'%s%s' is no number%s", shown,
                       length > SHOWN ? "..." : "",
                       strchr(shown, ',') ? "; decimals take a point" : "");
}

/* The number at the token that next_token found. */
static inline sel_status read_number(reader *r, double *value) {
    const char *behind = sel_decimal_read(r->at, value);
    if (behind && (behind == r->end || is_blank(*behind)) && isfinite(*value)) {
        r->at = behind;
        return SEL_OK;
    }
    if (!is_nan(r)) {
        return bad_number(r);
    }
    *value = (double)NAN;
    r->at += token_length(r);
    return SEL_OK;
}

/* ---- header ---- */

static sel_status read_key(reader *r) {
    int key = 0;
    while (key < KEYS && !token_is(r, keys[key])) {
        key++;
    }
    size_t length = token_length(r);
    if (key == KEYS) {
        return sel_fail_as(r->to->error, SEL_BAD_FILE, here(r),
                           "unknown key '%.*s'; an ASCII grid has NCOLS, NROWS, XLLCORNER or "
                           "XLLCENTER, YLLCORNER or YLLCENTER, CELLSIZE, NODATA_VALUE",
                           (int)(length < SHOWN ? length : SHOWN), r->at);
    }
    if (r->given[key]) {
        return sel_fail_as(r->to->error, SEL_BAD_FILE, here(r), "%s is given twice", keys[key]);
    }
    r->given[key] = true;
    r->at += length;
    if (!next_token(r)) {
        return sel_fail_as(r->to->error, SEL_BAD_FILE, here(r), "ends behind %s", keys[key]);
    }
    sel_status status = read_number(r, &r->value[key]);
    if (!status && isnan(r->value[key]) && key != NODATA) {
        status = sel_fail_as(r->to->error, SEL_BAD_FILE, here(r), "%s is not a number", keys[key]);
    }
    return status;
}

/* Reads the header, up to the first value. */
static sel_status read_keys(reader *r) {
    sel_status status = SEL_OK;
    while (!status && next_token(r)) {
        char c = *r->at;
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) || is_nan(r)) {
            break;
        }
        status = read_key(r);
    }
    return status;
}

static sel_status unreadable(const reader *r) {
    return sel_raster_refuse(r->to, "cannot be read: %s", strerror(errno));
}

static sel_status check_count(const reader *r, int key) {
    double n = r->value[key];
    if (!r->given[key]) {
        return sel_raster_refuse(r->to, "%s is missing; is it an ASCII grid?", keys[key]);
    }
    if (!(n >= 1 && n <= INT32_MAX && n == floor(n))) {
        return sel_raster_refuse(r->to, "%s must be a whole number above 0, not %.10g", keys[key],
                                 n);
    }
    return SEL_OK;
}

static sel_status check_corner(const reader *r, int corner, int centre) {
    if (r->given[corner] == r->given[centre]) {
        return sel_raster_refuse(r->to, "give %s or %s%s", keys[corner], keys[centre],
                                 r->given[corner] ? ", not both" : "");
    }
    return SEL_OK;
}

/* The side of a cell, by CELLSIZE or by DX and DY. */
static sel_status take_side(const reader *r) {
    bool one = r->given[SIDE], both = r->given[DX] && r->given[DY];
    if (one ? r->given[DX] || r->given[DY] : !both) {
        return sel_raster_refuse(r->to, "give CELLSIZE, or DX and DY");
    }
    double side = r->value[one ? SIDE : DX], other = r->value[one ? SIDE : DY];
    if (!(side > 0 && other > 0)) {
        return sel_raster_refuse(r->to, "%s must be above 0, not %.10g",
                                 keys[one ? SIDE : (side > 0 ? DY : DX)], side > 0 ? other : side);
    }
    r->to->raster.dx = side;
    return sel_raster_check_square(r->to, side, other);
}

/* A value and what separates it take two bytes at least. */
static sel_status check_size(const reader *r) {
    double columns = r->value[COLUMNS], rows = r->value[ROWS], bytes = r->to->file_bytes;
    return 2 * columns * rows - 1 <= bytes
               ? SEL_OK
               : sel_raster_refuse(
                     r->to,
                     "%.0f bytes cannot hold the %.0f x %.0f values that its header declares",
                     bytes, columns, rows);
}

static sel_status read_header(reader *r) {
    sel_raster *raster = &r->to->raster;
    const char *const mark = "\xef\xbb\xbf";
    if (next_token(r) && r->end - r->at >= 3 && memcmp(r->at, mark, 3) == 0) {
        r->at += 3;
    }
    sel_status status = read_keys(r);
    if (!status && ferror(r->to->file)) {
        return unreadable(r);
    }
    status = status ? status : check_count(r, COLUMNS);
    status = status ? status : check_count(r, ROWS);
    status = status ? status : check_corner(r, X_CORNER, X_CENTRE);
    status = status ? status : check_corner(r, Y_CORNER, Y_CENTRE);
    status = status ? status : take_side(r);
    status = status ? status : check_size(r);
    if (!status) {
        double half = raster->dx / 2;
        raster->n[0] = (int64_t)r->value[COLUMNS];
        raster->n[1] = (int64_t)r->value[ROWS];
        raster->origin[0] = r->given[X_CORNER] ? r->value[X_CORNER] : r->value[X_CENTRE] - half;
        raster->origin[1] = r->given[Y_CORNER] ? r->value[Y_CORNER] : r->value[Y_CENTRE] - half;
    }
    return status;
}

/* ---- values ---- */

static sel_status too_few(const reader *r, int64_t done) {
    const int64_t *n = r->to->raster.n;
    if (ferror(r->to->file)) {
        return unreadable(r);
    }
    return sel_fail_as(r->to->error, SEL_BAD_FILE, here(r),
                       "ends after %lld of %lld x %lld = %lld values", (long long)done,
                       (long long)n[0], (long long)n[1], (long long)(n[0] * n[1]));
}

static sel_status read_values(reader *r) {
    const sel_raster *raster = &r->to->raster;
    int64_t width = raster->n[0], height = raster->n[1];
    for (int64_t row = 0; row < height; row++) {
        double *to = raster->value + (height - 1 - row) * width;
        for (int64_t i = 0; i < width; i++) {
            if (!next_token(r)) {
                return too_few(r, row * width + i);
            }
            sel_status status = read_number(r, &to[i]);
            if (status) {
                return status;
            }
        }
    }
    if (next_token(r)) {
        double value;
        const sel_where at = here(r);
        const size_t length = token_length(r);
        if (!sel_decimal_read(r->at, &value) && !is_nan(r)) {
            char shown[SHOWN + 1];
            show_token(r, shown);
            return sel_fail_as(r->to->error, SEL_BAD_FILE, at,
                               "text stands behind the %lld x %lld = %lld values: '%s%s'; remove "
                               "what follows them",
                               (long long)width, (long long)height, (long long)(width * height),
                               shown, length > SHOWN ? "..." : "");
        }
        return sel_fail_as(r->to->error, SEL_BAD_FILE, at,
                           "there are more values than %lld x %lld = %lld", (long long)width,
                           (long long)height, (long long)(width * height));
    }
    return SEL_OK;
}

static sel_status read_grid(reader *r) {
    sel_status status = read_header(r);
    r->to->nodata = r->value[NODATA];
    r->to->placed = true;
    status = status ? status : sel_raster_allocate(r->to);
    return status ? status : read_values(r);
}

sel_status sel_asc_read(sel_raster_source *to) {
    reader r = {.to = to, .value[NODATA] = -9999, .line = 1};
    sel_status status = read_grid(&r);
    free(r.text);
    return status;
}

/* ---- writing ---- */

enum { NUMBER_ROOM = 32, LINE_NUMBERS = 512 };

/* The point keeps GDAL from taking all values for whole numbers, by the first of them. */
static void write_header(const sel_grid_file *grid, FILE *to) {
    fprintf(to, "ncols %lld\nnrows %lld\nxllcorner ", (long long)grid->n[0], (long long)grid->n[1]);
    sel_json_number(to, grid->origin[0]);
    fputs("\nyllcorner ", to);
    sel_json_number(to, grid->origin[1]);
    fputs("\ncellsize ", to);
    sel_json_number(to, grid->dx);
    fprintf(to, "\nNODATA_value %d.0\n", SEL_GRID_NODATA);
}

/* Nine digits distinguish all floats. */
static size_t print_value(char *text, float value) {
    if (value == 0) {
        *text = '0';
        return 1;
    }
    double number = isnan(value) ? SEL_GRID_NODATA : (double)value;
    return (size_t)snprintf(text, NUMBER_ROOM, "%.9g", number);
}

static void write_rows(const sel_grid_file *grid, FILE *to) {
    char line[LINE_NUMBERS * NUMBER_ROOM];
    for (int64_t row = grid->n[1] - 1; row >= 0 && !ferror(to); row--) {
        const float *value = grid->value + row * grid->n[0];
        size_t used = 0;
        for (int64_t i = 0; i < grid->n[0]; i++) {
            used += print_value(line + used, value[i]);
            line[used++] = i + 1 < grid->n[0] ? ' ' : '\n';
            if (used > sizeof line - NUMBER_ROOM) {
                fwrite(line, 1, used, to);
                used = 0;
            }
        }
        fwrite(line, 1, used, to);
    }
}

void sel_asc_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) {
        snprintf(wrong, SEL_WRONG_ROOM, "there is not enough memory");
        return;
    }
    locale_t before = uselocale(c_locale); /* of this thread */
    write_header(grid, to);
    write_rows(grid, to);
    uselocale(before);
    freelocale(c_locale);
}
