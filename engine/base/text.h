/* text.h -- numbers and strings as text and as JSON, whatever the locale. */
#ifndef SEL_TEXT_H
#define SEL_TEXT_H

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

#endif
