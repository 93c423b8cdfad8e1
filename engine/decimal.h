/* decimal.h -- decimal numbers in text, fast and the same whatever the locale. */
#ifndef SEL_DECIMAL_H
#define SEL_DECIMAL_H

#include <locale.h>

/* Reads a number such as -12, .5, 1. or 2.5e-3 at the beginning of `text` into *value, rounded to
 * nearest; infinite when it is too large. Returns what follows it; NULL when there is no number.
 * `c_locale`: newlocale(LC_ALL_MASK, "C", 0). */
const char *sel_decimal_read(const char *text, locale_t c_locale, double *value);

#endif
