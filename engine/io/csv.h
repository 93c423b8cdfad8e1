/* csv.h -- a CSV file that grows by whole lines, even if the disk gets full.
 *
 * Values are collected in memory. sel_csv_flush writes all collected lines, or none of them.
 */
#ifndef SEL_CSV_H
#define SEL_CSV_H

#include <stdint.h>
#include "engine/base/status.h"

typedef struct sel_csv sel_csv;

/* Opens DIRECTORY/FILE. bytes = -1: creates the file. Else continues the file of a former run,
 * truncated to `bytes`. The first sel_csv_flush then writes nothing: it compares the collected
 * text, which must be the line of column names alone, with the first line of the file, and fails
 * with SEL_BAD_SCENARIO if they differ. SEL_BAD_FILE: the file cannot be created, or is missing or
 * shorter than `bytes`. */
sel_status sel_csv_open(const char *directory, const char *file, int64_t bytes, sel_csv **csv,
                        sel_error *error);

/* The size of the file in bytes, without the lines that are not flushed yet. */
int64_t sel_csv_bytes(const sel_csv *csv);

/* Add a value to the present line. Text with a comma, a quote or a line break is quoted. */
void sel_csv_text(sel_csv *csv, const char *text);
void sel_csv_number(sel_csv *csv, double value);

/* Ends the present line. */
void sel_csv_end_line(sel_csv *csv);

/* Discards all that was added since the last sel_csv_flush. */
void sel_csv_drop(sel_csv *csv);

/* Writes all lines that were added; the last one must be ended. SEL_BAD_FILE: the write failed, the
 * file was truncated to its size before, and the lines are lost. */
sel_status sel_csv_flush(sel_csv *csv, sel_error *error);

/* Closes the file. NULL: does nothing. */
void sel_csv_close(sel_csv *csv);

#endif
