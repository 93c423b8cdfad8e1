/* json.c -- numbers and strings as JSON, whatever the locale. */
#include "engine/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that printf writes besides digits, signs and letters is the locale's decimal separator. */
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

/* Bytes of the UTF-8 character at `text`; 0 when it is none (overlong forms, surrogates and what
 * lies beyond U+10FFFF included). */
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
