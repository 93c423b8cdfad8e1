/* csv.h -- a CSV file that grows by whole lines, also on a full disk. */
#ifndef SEL_CSV_H
#define SEL_CSV_H

#include <stdint.h>
#include "engine/base/status.h"

typedef struct sel_csv sel_csv;

/* Opens DIRECTORY/FILE: a new one for bytes = -1, else one as a run left it, cut to its first
 * `bytes`. There the first line that is written must be the one that is there: it is compared, and
 * nothing is written. SEL_BAD_FILE when the file cannot be made, is not there or shorter;
 * SEL_BAD_SCENARIO at the first sel_csv_flush when the line is another one. */
sel_status sel_csv_open(const char *directory, const char *file, int64_t bytes, sel_csv **csv,
                        sel_error *error);

/* Bytes that were written, whole lines. */
int64_t sel_csv_bytes(const sel_csv *csv);

/* Add a value to the present line. Text is quoted where it needs to be. */
void sel_csv_text(sel_csv *csv, const char *text);
void sel_csv_number(sel_csv *csv, double value);

/* Ends the present line. */
void sel_csv_end_line(sel_csv *csv);

/* Forgets what was added and not written. */
void sel_csv_drop(sel_csv *csv);

/* Writes all ended lines at once. When that fails the file is cut back to the lines that were
 * whole before: SEL_BAD_FILE. */
sel_status sel_csv_flush(sel_csv *csv, sel_error *error);

/* NULL is fine. */
void sel_csv_close(sel_csv *csv);

#endif
