/* grid_asc.c -- grids as ESRI ASCII (.asc), read line by line, and written.
 *
 * A file holds keys with numbers, then rows * columns values from the north-west corner, all
 * separated by white space. Sources: https://desktop.arcgis.com, "Esri ASCII raster format"; GDAL's
 * driver AAIGrid.
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
    bool given[KEYS];   /* the header has the key */
    double value[KEYS]; /* of the header */
    char *text;         /* the present line, of `room` bytes */
    size_t room;
    const char *at, *end; /* the present token, and the end of the line */
    size_t length;        /* of the token */
    int line;             /* line number of the token */
} reader;

/* Fails with "FILE:LINE: " before the message. */
#define FAIL(r, ...) \
    sel_fail_as((r)->to->error, SEL_BAD_FILE, (sel_where){(r)->to->name, (r)->line}, __VA_ARGS__)

/* ---- tokens ---- */

static inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Advances to the next token; false at the end of the file. */
static inline bool next_token(reader *r) {
    r->at += r->length;
    r->length = 0;
    for (;;) {
        for (; r->at < r->end && is_blank(*r->at); r->at++) {
            r->line += *r->at == '\n';
        }
        if (r->at < r->end) {
            break;
        }
        const ssize_t length = getline(&r->text, &r->room, r->to->file);
        if (length < 0) {
            return false;
        }
        r->at = r->text;
        r->end = r->text + length;
    }
    while (r->at + r->length < r->end && !is_blank(r->at[r->length])) {
        r->length++;
    }
    return true;
}

static bool token_is(const reader *r, const char *word) {
    return r->length == strlen(word) && strncasecmp(r->at, word, r->length) == 0;
}

static bool is_nan(const reader *r) {
    return token_is(r, "null") || token_is(r, "nan") || token_is(r, "-nan") || token_is(r, "+nan");
}

/* The beginning of the token, with other than printable ASCII characters replaced. */
static const char *asc_shown(const reader *r, char text[SHOWN + 4]) {
    snprintf(text, SHOWN + 1, "%.*s", (int)r->length, r->at);
    for (char *c = text; *c; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    return r->length > SHOWN ? strcat(text, "...") : text;
}

static sel_status not_a_number(const reader *r) {
    char text[SHOWN + 4];
    const char *advice = strchr(asc_shown(r, text), ',') ? "; decimals take a point" : "";
    return FAIL(r, "'%s' is no number%s", text, advice);
}

static inline sel_status asc_read_number(const reader *r, double *value) {
    if (sel_decimal_read(r->at, value) == r->at + r->length && isfinite(*value)) {
        return SEL_OK;
    }
    *value = (double)NAN;
    return is_nan(r) ? SEL_OK : not_a_number(r);
}

/* ---- header ---- */

static sel_status read_key(reader *r) {
    int key = 0;
    while (key < KEYS && !token_is(r, keys[key])) {
        key++;
    }
    if (key == KEYS) {
        return FAIL(r,
                    "unknown key '%.*s'; an ASCII grid has NCOLS, NROWS, XLLCORNER or XLLCENTER, "
                    "YLLCORNER or YLLCENTER, CELLSIZE, NODATA_VALUE",
                    (int)(r->length < SHOWN ? r->length : SHOWN), r->at);
    }
    if (r->given[key]) {
        return FAIL(r, "%s is given twice", keys[key]);
    }
    r->given[key] = true;
    if (!next_token(r)) {
        return FAIL(r, "ends behind %s", keys[key]);
    }
    const sel_status status = asc_read_number(r, &r->value[key]);
    return status || !isnan(r->value[key]) || key == NODATA
               ? status
               : FAIL(r, "%s is not a number", keys[key]);
}

static sel_status asc_unreadable(const reader *r) {
    return sel_raster_refuse(r->to, "cannot be read: %s", strerror(errno));
}

/* Checks the header and sets the cell size. */
static sel_status check_header(const reader *r) {
    const bool *given = r->given, one = given[SIDE];
    const double *v = r->value, side = v[one ? SIDE : DX], other = v[one ? SIDE : DY];
    for (int key = COLUMNS; key <= ROWS; key++) {
        if (!given[key]) {
            return sel_raster_refuse(r->to, "%s is missing; is it an ASCII grid?", keys[key]);
        }
        if (!(v[key] >= 1 && v[key] <= INT32_MAX && v[key] == floor(v[key]))) {
            return sel_raster_refuse(r->to, "%s must be a whole number above 0, not %.10g",
                                     keys[key], v[key]);
        }
    }
    for (int key = X_CORNER; key <= Y_CORNER; key += Y_CORNER - X_CORNER) {
        if (given[key] == given[key + 1]) {
            return sel_raster_refuse(r->to, "give %s or %s%s", keys[key], keys[key + 1],
                                     given[key] ? ", not both" : "");
        }
    }
    if (one ? given[DX] || given[DY] : !(given[DX] && given[DY])) {
        return sel_raster_refuse(r->to, "give CELLSIZE, or DX and DY");
    }
    if (!(side > 0 && other > 0)) {
        return sel_raster_refuse(r->to, "%s must be above 0, not %.10g",
                                 keys[one ? SIDE : (side > 0 ? DY : DX)], side > 0 ? other : side);
    }
    r->to->raster.dx = side;
    const sel_status status = sel_raster_check_square(r->to, side, other);
    /* A value with its separator takes at least two bytes. */
    return status || 2 * v[COLUMNS] * v[ROWS] - 1 <= r->to->file_bytes
               ? status
               : sel_raster_refuse(
                     r->to,
                     "%.0f bytes cannot hold the %.0f x %.0f values that its header declares",
                     r->to->file_bytes, v[COLUMNS], v[ROWS]);
}

/* Reads and checks the header; then the token is the first value. */
static sel_status asc_read_header(reader *r) {
    static const char mark[] = "\xef\xbb\xbf";
    sel_raster *raster = &r->to->raster;
    sel_status status = SEL_OK;
    bool more = next_token(r);
    if (more && r->length >= strlen(mark) && memcmp(r->at, mark, strlen(mark)) == 0) {
        r->at += strlen(mark);
        r->length -= strlen(mark);
        more = r->length > 0 || next_token(r);
    }
    while (more && !status && is_letter(*r->at) && !is_nan(r)) {
        status = read_key(r);
        more = status || next_token(r);
    }
    if (!status && ferror(r->to->file)) {
        return asc_unreadable(r);
    }
    status = status ? status : check_header(r);
    if (!status) {
        raster->n[0] = (int64_t)r->value[COLUMNS];
        raster->n[1] = (int64_t)r->value[ROWS];
        for (int a = 0; a < 2; a++) {
            const int corner = a ? Y_CORNER : X_CORNER;
            raster->origin[a] =
                r->given[corner] ? r->value[corner] : r->value[corner + 1] - raster->dx / 2;
        }
    }
    return status;
}

/* ---- values ---- */

static sel_status asc_read_values(reader *r) {
    const sel_raster *raster = &r->to->raster;
    const int64_t width = raster->n[0], height = raster->n[1];
    char text[SHOWN + 4];
    double value;
    for (int64_t row = 0; row < height; row++) {
        double *to = raster->value + (height - 1 - row) * width;
        for (int64_t i = 0; i < width; i++) {
            if (r->length == 0) {
                return ferror(r->to->file) ? asc_unreadable(r)
                                           : FAIL(r, "ends after %lld of %lld x %lld = %lld values",
                                                  (long long)(row * width + i), (long long)width,
                                                  (long long)height, (long long)(width * height));
            }
            const sel_status status = asc_read_number(r, &to[i]);
            if (status) {
                return status;
            }
            next_token(r);
        }
    }
    if (r->length > 0 && (sel_decimal_read(r->at, &value) || is_nan(r))) {
        return FAIL(r, "there are more values than %lld x %lld = %lld", (long long)width,
                    (long long)height, (long long)(width * height));
    }
    return r->length == 0 ? SEL_OK
                          : FAIL(r,
                                 "text stands behind the %lld x %lld = %lld values: '%s'; remove "
                                 "what follows them",
                                 (long long)width, (long long)height, (long long)(width * height),
                                 asc_shown(r, text));
}

sel_status sel_asc_read(sel_raster_source *to) {
    reader r = {.to = to, .value[NODATA] = -9999, .line = 1};
    sel_status status = asc_read_header(&r);
    to->nodata = r.value[NODATA];
    to->placed = true;
    status = status ? status : sel_raster_allocate(to);
    status = status ? status : asc_read_values(&r);
    free(r.text);
    return status;
}

/* ---- writing ---- */

/* "-9999.0": the decimal point keeps GDAL from reading all values as integers if the first one has
 * no point. */
static void asc_write_header(const sel_grid_file *grid, FILE *to) {
    fprintf(to, "ncols %lld\nnrows %lld\nxllcorner ", (long long)grid->n[0], (long long)grid->n[1]);
    sel_json_number(to, grid->origin[0]);
    fputs("\nyllcorner ", to);
    sel_json_number(to, grid->origin[1]);
    fputs("\ncellsize ", to);
    sel_json_number(to, grid->dx);
    fprintf(to, "\nNODATA_value %d.0\n", SEL_GRID_NODATA);
}

/* Nine digits distinguish all floats. */
static void asc_write_rows(const sel_grid_file *grid, FILE *to) {
    for (int64_t row = grid->n[1] - 1; row >= 0 && !ferror(to); row--) {
        const float *value = grid->value + row * grid->n[0];
        for (int64_t i = 0; i < grid->n[0]; i++) {
            const double number = isnan(value[i]) ? SEL_GRID_NODATA : (double)value[i];
            /* writes -0 as 0 */
            fprintf(to, "%.9g%c", number == 0 ? 0 : number, i + 1 < grid->n[0] ? ' ' : '\n');
        }
    }
}

void sel_asc_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) {
        snprintf(wrong, SEL_WRONG_ROOM, "there is not enough memory");
        return;
    }
    locale_t before = uselocale(c_locale); /* of this thread */
    asc_write_header(grid, to);
    asc_write_rows(grid, to);
    uselocale(before);
    freelocale(c_locale);
}
