/* character.h -- names of characters outside ASCII that word processors, web pages and spreadsheets
 * put into a text, and what to type instead.
 */
#ifndef SEL_CHARACTER_H
#define SEL_CHARACTER_H

#include <stddef.h>

/* The first byte of `text` that is not ASCII; the end of `text` if all bytes are ASCII. */
const char *sel_beyond_ascii(const char *text);

/* Describes the first UTF-8 character of the 0-terminated `text`; this character must not be ASCII:
 * "a curly quote (U+201C): write \"", "an invisible character (U+200B): delete it", or only
 * "'x' (U+0441)" for a character without a replacement. A byte that is not UTF-8 is described as a
 * byte. Returns the length in bytes of what `name` describes. */
enum { SEL_CHARACTER_ROOM = 128 };
int sel_character_text(const char *text, char name[SEL_CHARACTER_ROOM]);

/* "; it holds " and the description of the first character of `text` that is not ASCII; "" if all
 * are ASCII. Returns `held`. */
enum { SEL_HOLDS_ROOM = SEL_CHARACTER_ROOM + 16 };
const char *sel_character_held(const char *text, char held[SEL_HOLDS_ROOM]);

/* The encoding of `text`: "UTF-32" by its byte-order mark; "UTF-16" by its byte-order mark, or if
 * zero bytes alternate with others in the first four bytes; else NULL. */
const char *sel_wide_encoding(const char *text, size_t length);

#endif
