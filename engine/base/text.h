/* text.h -- numbers and strings as text and as JSON, whatever the locale; characters outside ASCII,
 * named in messages.
 */
#ifndef SEL_TEXT_H
#define SEL_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { SEL_NUMBER_ROOM = 40 };

/* The shortest decimal that reads back as the same number, with a decimal point; "nan", "inf",
 * "-inf". For CSV files. */
void sel_number_text(double value, char text[SEL_NUMBER_ROOM]);

/* Prints the number as sel_number_text does, but null for NaN and infinity, which JSON lacks. */
void sel_json_number(FILE *to, double value);

/* Prints `text` quoted and escaped; bytes that are not UTF-8 become U+FFFD. NULL prints null. */
void sel_json_string(FILE *to, const char *text);

/* Reads a number such as -12, .5, 1. or 2.5e-3 at the beginning of `text` into *value, rounded to
 * nearest; infinity if it is too large. Returns the end of the number; NULL if there is none. */
const char *sel_decimal_read(const char *text, double *value);

/* ---- characters outside ASCII ----
 *
 * Word processors, web pages and spreadsheets put them into a text. Messages name them and say what
 * to type instead.
 */

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
