/* character.c -- characters outside ASCII, named in messages. */
#include "engine/base/character.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Characters from `first` to `last`, and what to type instead; NULL: nothing. */
static const struct {
    unsigned first, last;
    const char *what, *instead;
} known[] = {
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

/* The code point of the UTF-8 character at `text`, and its length in bytes; 0: not UTF-8. */
static unsigned decode(const unsigned char *text, int *length) {
    const int bytes = text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    unsigned code = text[0] & (0x7fu >> bytes);
    *length = text[0] < 0xf5 ? bytes : 0;
    for (int k = 1; k < *length; k++) {
        if ((text[k] & 0xc0) != 0x80) {
            *length = 0;
            return 0;
        }
        code = code << 6 | (text[k] & 0x3fu);
    }
    return code;
}

int sel_character_text(const char *text, char name[SEL_CHARACTER_ROOM]) {
    int length;
    const unsigned code = decode((const unsigned char *)text, &length);
    if (length == 0) {
        snprintf(name, SEL_CHARACTER_ROOM,
                 "the byte 0x%02X, which is no UTF-8: save the file as UTF-8",
                 (unsigned char)*text);
        return 1;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (code >= known[k].first && code <= known[k].last) {
            snprintf(name, SEL_CHARACTER_ROOM, "%s (U+%04X): %s%s", known[k].what, code,
                     known[k].instead ? "write " : "delete it",
                     known[k].instead ? known[k].instead : "");
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
