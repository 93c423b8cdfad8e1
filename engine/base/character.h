/* character.h -- characters outside ASCII that word processors, web pages and spreadsheets put into
 * a text: what they are, and what to type instead.
 */
#ifndef SEL_CHARACTER_H
#define SEL_CHARACTER_H

#include <stddef.h>

/* The first byte of `text` that is not ASCII; its end where there is none. */
const char *sel_beyond_ascii(const char *text);

/* Writes "a curly quote (U+201C): write \"" of the character at `text`, which ends with 0; or no
 * more than "'x' (U+0441)" where nothing stands for it. Returns its length in bytes. */
enum { SEL_CHARACTER_ROOM = 128 };
int sel_character_text(const char *text, char name[SEL_CHARACTER_ROOM]);

/* "; it holds " and the name of the first character of `text` that is not ASCII; "" where all are.
 */
enum { SEL_HOLDS_ROOM = SEL_CHARACTER_ROOM + 16 };
const char *sel_character_held(const char *text, char held[SEL_HOLDS_ROOM]);

/* "UTF-16" or "UTF-32" where a text is in that, by its mark or its zero bytes; else NULL. */
const char *sel_wide_encoding(const char *text, size_t length);

#endif
