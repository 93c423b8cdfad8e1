/* text.c -- numbers and strings as text and as JSON, whatever the locale. */
#include "engine/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Copies a number that printf printed, with a point for the locale's decimal separator, which is
 * whatever is no digit, sign or letter and may have several bytes. */
static void point_for_separator(const char *raw, char text[SEL_NUMBER_ROOM]) {
    size_t used = 0;
    for (; *raw; raw++) {
        if (strchr("0123456789+-einfa", *raw)) {
            text[used++] = *raw;
        } else if (used == 0 || text[used - 1] != '.') {
            text[used++] = '.';
        }
    }
    text[used] = '\0';
}

void sel_number_text(double value, char text[SEL_NUMBER_ROOM]) {
    char raw[SEL_NUMBER_ROOM];
    if (isnan(value)) { /* the sign of a NaN means nothing and differs between machines */
        strcpy(text, "nan");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(raw, sizeof raw, "%.*g", digits, value);
        if (strtod(raw, NULL) == value) {
            break;
        }
    }
    point_for_separator(raw, text);
}

void sel_json_number(FILE *to, double value) {
    char text[SEL_NUMBER_ROOM];
    if (isfinite(value)) {
        sel_number_text(value, text);
    }
    fputs(isfinite(value) ? text : "null", to);
}

/* Bytes of the UTF-8 character at `text`; 0 when it is invalid (also overlong forms, surrogates and
 * values beyond U+10FFFF). */
static int utf8_length(const unsigned char *text) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = text[0] < 0x80   ? 1
                 : text[0] < 0xc0 ? 0
                 : text[0] < 0xe0 ? 2
                 : text[0] < 0xf0 ? 3
                 : text[0] < 0xf8 ? 4
                                  : 0;
    if (length < 2) {
        return length;
    }
    unsigned code = text[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fu);
    }
    int valid = code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? length : 0;
}

void sel_json_string(FILE *to, const char *text) {
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int length = utf8_length(at);
        if (length == 0) {
            fputs("\\ufffd", to);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            fprintf(to, "\\%c", *at);
        } else if (*at < 32) {
            fprintf(to, "\\u%04x", *at);
        } else {
            fwrite(at, 1, (size_t)length, to);
        }
        at += length;
    }
    fputc('"', to);
}

/* ---- reading ----
 *
 * An integer up to 2^53 and a power of ten up to 10^22 are exact as doubles, so their product or
 * quotient is rounded once, to nearest (W. D. Clinger, How to read floating point numbers
 * accurately, 1990). All other numbers are left to the C library.
 */

enum { EXACT_DIGITS = 18, EXACT_POWER = 22, LARGE_EXPONENT = 100000 };

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

typedef struct digits {
    uint64_t whole; /* the integer of all digits, without the point; wraps if there are too many */
    int count;      /* digits without leading zeros, counted up to EXACT_DIGITS + 1 */
    bool any;       /* there is a digit */
} digits;

static inline const char *read_digits(const char *at, digits *d) {
    for (; *at >= '0' && *at <= '9'; at++) {
        d->any = true;
        d->whole = 10 * d->whole + (uint64_t)(*at - '0');
        d->count += d->count <= EXACT_DIGITS && (d->count > 0 || *at != '0');
    }
    return at;
}

/* Reads "e-3" into *exponent; returns its end, or `at` if there is no exponent. */
static const char *read_exponent(const char *at, int *exponent) {
    int value = 0;
    if (*at != 'e' && *at != 'E') {
        return at;
    }
    bool negative = at[1] == '-';
    const char *from = at + 1 + (negative || at[1] == '+');
    if (*from < '0' || *from > '9') {
        return at;
    }
    for (at = from; *at >= '0' && *at <= '9'; at++) {
        value = value < LARGE_EXPONENT ? 10 * value + (*at - '0') : value;
    }
    *exponent = negative ? -value : value;
    return at;
}

const char *sel_decimal_read(const char *text, double *value) {
    bool negative = *text == '-';
    digits d = {0, 0, false};
    int exponent = 0;
    const char *at = read_digits(text + (negative || *text == '+'), &d);
    long places = 0;
    if (*at == '.') {
        const char *point = at + 1;
        at = read_digits(point, &d);
        places = at - point;
    }
    if (!d.any) {
        return NULL;
    }
    at = read_exponent(at, &exponent);
    long power = exponent - places;
    bool exact = d.count <= EXACT_DIGITS && d.whole <= (uint64_t)1 << 53;
    if (exact && power >= -EXACT_POWER && power <= EXACT_POWER) {
        double whole = (double)d.whole;
        double magnitude = power < 0 ? whole / powers[-power] : whole * powers[power];
        *value = negative ? -magnitude : magnitude;
    } else {
        locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        *value = strtod_l(text, NULL, c_locale);
        freelocale(c_locale);
    }
    return at;
}
