/* text.c -- numbers and strings as text and as JSON, whatever the locale; characters outside ASCII,
 * named in messages.
 */
#include "engine/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

/* The code point of the UTF-8 character at `text`, and its length in bytes; length 0: not UTF-8
 * (also overlong forms, surrogates and values beyond U+10FFFF). */
static unsigned text_decode(const unsigned char *text, int *length) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int bytes = text[0] < 0x80   ? 1
                      : text[0] < 0xc0 ? 0
                      : text[0] < 0xe0 ? 2
                      : text[0] < 0xf0 ? 3
                      : text[0] < 0xf8 ? 4
                                       : 0;
    unsigned code = bytes == 1 ? text[0] : text[0] & (0x7fu >> bytes);
    *length = 0;
    for (int k = 1; k < bytes; k++) {
        if ((text[k] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[k] & 0x3fu);
    }
    const bool valid = code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    *length = valid ? bytes : 0;
    return code;
}

void sel_json_string(FILE *to, const char *text) {
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int length;
        text_decode(at, &length);
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

/* ---- characters outside ASCII ---- */

/* Characters from `first` to `last`, and what to type instead; NULL: nothing. */
static const struct {
    unsigned first, last;
    const char *what, *instead;
} typographic[] = {
    {0xa0, 0xa0, "a no-break space", "a plain space"},
    {0xab, 0xab, "a quotation mark", "\""},
    {0xad, 0xad, "an invisible character", NULL},
    {0xb2, 0xb2, "a raised 2", "^2"},
    {0xb3, 0xb3, "a raised 3", "^3"},
    {0xb4, 0xb4, "an accent", "'"},
    {0xb7, 0xb7, "a dot for a product", "*"},
    {0xbb, 0xbb, "a quotation mark", "\""},
    {0xd7, 0xd7, "a sign for a product", "*"},
    {0xf7, 0xf7, "a sign for a quotient", "/"},
    {0x3c0, 0x3c0, "the letter pi", "math.pi"},
    {0x2000, 0x200a, "a blank of a fixed width", "a plain space"},
    {0x200b, 0x200f, "an invisible character", NULL},
    {0x2010, 0x2015, "a dash", "-"},
    {0x2018, 0x201b, "a curly quote", "'"},
    {0x201c, 0x201f, "a curly quote", "\""},
    {0x2026, 0x2026, "three dots in one", "..."},
    {0x202a, 0x202e, "an invisible character", NULL},
    {0x202f, 0x202f, "a no-break space", "a plain space"},
    {0x2032, 0x2032, "a prime", "'"},
    {0x2033, 0x2033, "a double prime", "\""},
    {0x2044, 0x2044, "a fraction stroke", "/"},
    {0x205f, 0x205f, "a blank of a fixed width", "a plain space"},
    {0x2060, 0x2064, "an invisible character", NULL},
    {0x2212, 0x2212, "a minus sign of typesetting", "-"},
    {0x2215, 0x2215, "a fraction stroke", "/"},
    {0x2217, 0x2217, "an asterisk of typesetting", "*"},
    {0x2219, 0x2219, "a dot for a product", "*"},
    {0x221a, 0x221a, "a root", "math.sqrt"},
    {0x221e, 0x221e, "the sign of infinity", "math.huge"},
    {0x2260, 0x2260, "a sign of comparison", "~="},
    {0x2264, 0x2264, "a sign of comparison", "<="},
    {0x2265, 0x2265, "a sign of comparison", ">="},
    {0x22c5, 0x22c5, "a dot for a product", "*"},
    {0x3000, 0x3000, "a wide blank", "a plain space"},
    {0xfeff, 0xfeff, "an invisible character", NULL},
};

const char *sel_beyond_ascii(const char *text) {
    while (*text && (unsigned char)*text < 0x80) {
        text++;
    }
    return text;
}

int sel_character_text(const char *text, char name[SEL_CHARACTER_ROOM]) {
    int length;
    const unsigned code = text_decode((const unsigned char *)text, &length);
    if (length == 0) {
        snprintf(name, SEL_CHARACTER_ROOM,
                 "the byte 0x%02X, which is no UTF-8: save the file as UTF-8",
                 (unsigned char)*text);
        return 1;
    }
    for (size_t k = 0; k < sizeof typographic / sizeof *typographic; k++) {
        if (code >= typographic[k].first && code <= typographic[k].last) {
            snprintf(name, SEL_CHARACTER_ROOM, "%s (U+%04X): %s%s", typographic[k].what, code,
                     typographic[k].instead ? "write " : "delete it",
                     typographic[k].instead ? typographic[k].instead : "");
            return length;
        }
    }
    const bool wide = code >= 0xff01 && code <= 0xff5e; /* full-width forms of ASCII */
    const bool control = code < 0xa0;
    snprintf(name, SEL_CHARACTER_ROOM, "%s%.*s%s(U+%04X)%s%c",
             control ? "a control character " : "'", control ? 0 : length, text,
             control ? "" : "' ", code, wide ? ": write " : "",
             wide ? (char)(code - 0xfee0) : '\0');
    return length;
}

const char *sel_character_held(const char *text, char held[SEL_HOLDS_ROOM]) {
    char name[SEL_CHARACTER_ROOM];
    held[0] = '\0';
    text = sel_beyond_ascii(text);
    if (*text) {
        sel_character_text(text, name);
        snprintf(held, SEL_HOLDS_ROOM, "; it holds %s", name);
    }
    return held;
}

const char *sel_wide_encoding(const char *text, size_t length) {
    static const char marks[][5] = {"\xff\xfe", "\xfe\xff"};
    if (length >= 4 &&
        (memcmp(text, "\xff\xfe\0\0", 4) == 0 || memcmp(text, "\0\0\xfe\xff", 4) == 0)) {
        return "UTF-32";
    }
    for (int k = 0; k < 2 && length >= 2; k++) {
        if (memcmp(text, marks[k], 2) == 0) {
            return "UTF-16";
        }
    }
    /* Without a mark: ASCII bytes alternating with zero bytes. */
    return length >= 4 && ((text[0] && !text[1] && text[2] && !text[3]) ||
                           (!text[0] && text[1] && !text[2] && text[3]))
               ? "UTF-16"
               : NULL;
}
