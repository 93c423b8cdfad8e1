/* date.h -- dates of ISO 8601, as 2024-05-31T12:30:00Z, for times in files. */
#ifndef SEL_DATE_H
#define SEL_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sel_date {
    int64_t seconds; /* since 1970-01-01T00:00 */
    double part;     /* of a second, in [0, 1) */
    bool zoned;      /* a zone was given: `seconds` are those of UTC */
} sel_date;

/* Reads YYYY-MM-DD, or with a 'T' or a blank behind it hh:mm, hh:mm:ss or hh:mm:ss.fff, and then
 * perhaps Z, +hh, +hhmm or +hh:mm. False when the text is anything else, or no day of the
 * calendar. */
bool sel_date_read(const char *text, size_t length, sel_date *date);

#endif
