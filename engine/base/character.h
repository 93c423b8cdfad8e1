/* character.h -- names of characters outside ASCII that word processors, web pages and spreadsheets
 * put into a text, and what to type instead.
 */
#ifndef SEL_CHARACTER_H
#define SEL_CHARACTER_H

#include <stddef.h>

/* The first byte of `text` that is not ASCII; the end of `text` if all bytes are ASCII. */
const char *sel_beyond_ascii(const char *text);

/* Describes the character at the beginning of the 0-terminated `text`: "a curly quote (U+201C):
 * write \"", or only "'x' (U+0441)" for a character without a replacement. Returns the character's
 * length in bytes. */
enum { SEL_CHARACTER_ROOM = 128 };
int sel_character_text(const char *text, char name[SEL_CHARACTER_ROOM]);

/* "; it holds " and the description of the first character of `text` that is not ASCII; "" if all
 * are ASCII. Returns `held`. */
enum { SEL_HOLDS_ROOM = SEL_CHARACTER_ROOM + 16 };
const char *sel_character_held(const char *text, char held[SEL_HOLDS_ROOM]);

/* "UTF-16" or "UTF-32" if `text` is encoded so, judged by its byte-order mark or its zero bytes;
 * else NULL. */
const char *sel_wide_encoding(const char *text, size_t length);

#endif
