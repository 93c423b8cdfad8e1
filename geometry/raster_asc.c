/* raster_asc.c -- grids of numbers as text: ESRI ASCII (.asc), read block by block.
 *
 * Keys and their numbers, then rows * columns values, the north-west one first; white space is all
 * that separates. https://desktop.arcgis.com, "Esri ASCII raster format"; GDAL's driver AAIGrid.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/text.h"
#include "geometry/raster.h"

enum { BLOCK = 1 << 20, LONGEST_NUMBER = 1024, SHOWN = 40 };

typedef struct reader {
    const char *name;
    FILE *file;
    char *block;          /* BLOCK bytes and a NUL */
    const char *at, *end; /* what is read and not used */
    bool ended;           /* nothing is behind `end` */
    int line;             /* of `at` */
    locale_t c_locale;
    sel_error *error;
} reader;

#define FAIL_LINE(r, ...) fail_at_file((r)->error, (sel_where){(r)->name, (r)->line}, __VA_ARGS__)

static sel_status fail_at_file(sel_error *error, sel_where where, const char *format, ...)
    SEL_PRINTF(3, 4);

/* A file's line is wrong, not the scenario's. */
static sel_status fail_at_file(sel_error *error, sel_where where, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sel_fail(error, SEL_BAD_FILE, "%s:%d: %s", where.file, where.line, text);
}

/* ---- tokens ---- */

static inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Keeps what is not used and reads on; false at the end of the file. */
static bool refill(reader *r) {
    size_t kept = (size_t)(r->end - r->at);
    if (r->ended) {
        return false;
    }
    memmove(r->block, r->at, kept);
    size_t got = fread(r->block + kept, 1, BLOCK - kept, r->file);
    r->ended = got < BLOCK - kept;
    r->at = r->block;
    r->end = r->block + kept + got;
    r->block[kept + got] = '\0';
    return got > 0;
}

/* Goes to the next token, all of which is in the block then; false when there is none. */
static inline bool next_token(reader *r) {
    for (;;) {
        for (; r->at < r->end && is_blank(*r->at); r->at++) {
            r->line += *r->at == '\n';
        }
        if (r->at == r->end) {
            if (!refill(r)) {
                return false;
            }
        } else {
            if (r->end - r->at < LONGEST_NUMBER) {
                refill(r);
            }
            return true;
        }
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
    return token_is(r, "nan") || token_is(r, "-nan") || token_is(r, "+nan");
}

static sel_status bad_number(const reader *r) {
    size_t length = token_length(r);
    char shown[SHOWN + 1];
    snprintf(shown, sizeof shown, "%.*s", (int)(length < SHOWN ? length : SHOWN), r->at);
    for (char *c = shown; *c; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    return FAIL_LINE(r, "'%s%s' is no number%s", shown, length > SHOWN ? "..." : "",
                     strchr(shown, ',') ? "; decimals take a point" : "");
}

/* The number at the token that next_token found. */
static inline sel_status read_number(reader *r, double *value) {
    const char *behind = sel_decimal_read(r->at, r->c_locale, value);
    if (behind && (behind < r->end ? is_blank(*behind) : r->ended) && isfinite(*value)) {
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

enum { COLUMNS, ROWS, X_CORNER, X_CENTRE, Y_CORNER, Y_CENTRE, SIDE, DX, DY, NODATA, KEYS };
static const char *const keys[KEYS] = {"NCOLS",     "NROWS",       "XLLCORNER", "XLLCENTER",
                                       "YLLCORNER", "YLLCENTER",   "CELLSIZE",  "DX",
                                       "DY",        "NODATA_VALUE"};

typedef struct header {
    bool given[KEYS];
    double value[KEYS];
} header;

static sel_status read_key(reader *r, header *h) {
    int key = 0;
    while (key < KEYS && !token_is(r, keys[key])) {
        key++;
    }
    size_t length = token_length(r);
    if (key == KEYS) {
        return FAIL_LINE(r,
                         "unknown key '%.*s'; an ASCII grid has NCOLS, NROWS, XLLCORNER or "
                         "XLLCENTER, YLLCORNER or YLLCENTER, CELLSIZE, NODATA_VALUE",
                         (int)(length < SHOWN ? length : SHOWN), r->at);
    }
    if (h->given[key]) {
        return FAIL_LINE(r, "%s is given twice", keys[key]);
    }
    h->given[key] = true;
    r->at += length;
    if (!next_token(r)) {
        return FAIL_LINE(r, "ends behind %s", keys[key]);
    }
    sel_status status = read_number(r, &h->value[key]);
    if (!status && isnan(h->value[key]) && key != NODATA) {
        status = FAIL_LINE(r, "%s is not a number", keys[key]);
    }
    return status;
}

/* Up to the first value. */
static sel_status read_keys(reader *r, header *h) {
    sel_status status = SEL_OK;
    while (!status && next_token(r)) {
        char c = *r->at;
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) || is_nan(r)) {
            break;
        }
        status = read_key(r, h);
    }
    return status;
}

static sel_status unreadable(const reader *r) {
    return sel_fail(r->error, SEL_BAD_FILE, "%s: cannot be read: %s", r->name, strerror(errno));
}

static sel_status check_count(const reader *r, const header *h, int key) {
    double n = h->value[key];
    if (!h->given[key]) {
        return sel_fail(r->error, SEL_BAD_FILE, "%s: %s is missing; is it an ASCII grid?", r->name,
                        keys[key]);
    }
    if (!(n >= 1 && n <= INT32_MAX && n == floor(n))) {
        return sel_fail(r->error, SEL_BAD_FILE, "%s: %s must be a whole number above 0, not %.10g",
                        r->name, keys[key], n);
    }
    return SEL_OK;
}

static sel_status check_corner(const reader *r, const header *h, int corner, int centre) {
    if (h->given[corner] == h->given[centre]) {
        return sel_fail(r->error, SEL_BAD_FILE, "%s: give %s or %s%s", r->name, keys[corner],
                        keys[centre], h->given[corner] ? ", not both" : "");
    }
    return SEL_OK;
}

/* The side of a cell, by CELLSIZE or by DX and DY. */
static sel_status take_side(const reader *r, const header *h, double *side) {
    bool one = h->given[SIDE], both = h->given[DX] && h->given[DY];
    if (one ? h->given[DX] || h->given[DY] : !both) {
        return sel_fail(r->error, SEL_BAD_FILE, "%s: give CELLSIZE, or DX and DY", r->name);
    }
    *side = h->value[one ? SIDE : DX];
    double other = h->value[one ? SIDE : DY];
    if (!(*side > 0 && other > 0)) {
        return sel_fail(r->error, SEL_BAD_FILE, "%s: %s must be above 0, not %.10g", r->name,
                        keys[one ? SIDE : (*side > 0 ? DY : DX)], *side > 0 ? other : *side);
    }
    return sel_raster_check_square(r->name, *side, other, r->error);
}

/* A value and what separates it take two bytes at least. */
static sel_status check_size(const reader *r, const header *h) {
    double columns = h->value[COLUMNS], rows = h->value[ROWS], bytes = -1;
    long before = ftell(r->file);
    if (before >= 0 && fseek(r->file, 0, SEEK_END) == 0) {
        bytes = (double)ftell(r->file);
    }
    if (bytes < 0 || fseek(r->file, before, SEEK_SET) != 0) {
        return sel_fail(r->error, SEL_BAD_FILE, "%s: is no file that can be read", r->name);
    }
    if (2 * columns * rows - 1 > bytes) {
        return sel_fail(
            r->error, SEL_BAD_FILE,
            "%s: %.0f bytes cannot hold the %.0f x %.0f values that its header declares", r->name,
            bytes, columns, rows);
    }
    return SEL_OK;
}

static sel_status read_header(reader *r, header *h, sel_raster *raster) {
    const char *const mark = "\xef\xbb\xbf";
    if (next_token(r) && r->end - r->at >= 3 && memcmp(r->at, mark, 3) == 0) {
        r->at += 3;
    }
    sel_status status = read_keys(r, h);
    if (!status && ferror(r->file)) {
        return unreadable(r);
    }
    status = status ? status : check_count(r, h, COLUMNS);
    status = status ? status : check_count(r, h, ROWS);
    status = status ? status : check_corner(r, h, X_CORNER, X_CENTRE);
    status = status ? status : check_corner(r, h, Y_CORNER, Y_CENTRE);
    status = status ? status : take_side(r, h, &raster->dx);
    status = status ? status : check_size(r, h);
    if (!status) {
        double half = raster->dx / 2;
        raster->n[0] = (int64_t)h->value[COLUMNS];
        raster->n[1] = (int64_t)h->value[ROWS];
        raster->origin[0] = h->given[X_CORNER] ? h->value[X_CORNER] : h->value[X_CENTRE] - half;
        raster->origin[1] = h->given[Y_CORNER] ? h->value[Y_CORNER] : h->value[Y_CENTRE] - half;
    }
    return status;
}

/* ---- values ---- */

static sel_status too_few(const reader *r, const sel_raster *raster, int64_t done) {
    if (ferror(r->file)) {
        return unreadable(r);
    }
    return FAIL_LINE(r, "ends after %lld of %lld x %lld = %lld values", (long long)done,
                     (long long)raster->n[0], (long long)raster->n[1],
                     (long long)(raster->n[0] * raster->n[1]));
}

static sel_status read_values(reader *r, sel_raster *raster) {
    int64_t width = raster->n[0], height = raster->n[1];
    for (int64_t row = 0; row < height; row++) {
        double *to = raster->value + (height - 1 - row) * width;
        for (int64_t i = 0; i < width; i++) {
            if (!next_token(r)) {
                return too_few(r, raster, row * width + i);
            }
            sel_status status = read_number(r, &to[i]);
            if (status) {
                return status;
            }
        }
    }
    if (next_token(r)) {
        return FAIL_LINE(r, "there are more values than %lld x %lld = %lld", (long long)width,
                         (long long)height, (long long)(width * height));
    }
    return SEL_OK;
}

static sel_status read_grid(reader *r, sel_arena *arena, sel_raster_source *to) {
    header h = {.value = {[NODATA] = -9999}};
    sel_status status = read_header(r, &h, &to->raster);
    if (status) {
        return status;
    }
    to->nodata = h.value[NODATA];
    status = sel_raster_allocate(arena, r->name, to, r->error);
    return status ? status : read_values(r, &to->raster);
}

sel_status sel_asc_read(sel_arena *arena, const char *name, FILE *file, sel_raster_source *to,
                        sel_error *error) {
    char *block = malloc(BLOCK + 1);
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    reader r = {.name = name,
                .file = file,
                .block = block,
                .at = block,
                .end = block,
                .line = 1,
                .c_locale = c_locale,
                .error = error};
    *to = (sel_raster_source){.nodata = (double)NAN, .most_bytes = to->most_bytes};
    sel_status status =
        block && c_locale ? read_grid(&r, arena, to) : sel_fail_memory(error, name, BLOCK);
    if (c_locale) {
        freelocale(c_locale);
    }
    free(block);
    return status;
}
