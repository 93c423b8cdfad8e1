/* series.h -- series: values over time, from a list or from a column of a CSV file. */
#ifndef SEL_SERIES_H
#define SEL_SERIES_H

#include "engine/values/lookup_value.h"
#include "engine/values/schema.h"

enum { SEL_SERIES_LINEAR, SEL_SERIES_PREVIOUS };

/* The parameters of sel.series{}: either `file`, or `t` and `value`. */
typedef struct sel_series_params {
    const char *file; /* the path to open */
    sel_values t, value;
    sel_key column;
    double scale, time_scale;
    int interpolation; /* SEL_SERIES_LINEAR, ... */
    bool repeats;
    int outside; /* SEL_SERIES_ERROR, ... */
} sel_series_params;

extern const sel_table sel_series_table;

/* The data of a lookup of kind SEL_LOOKUP_SERIES. */
typedef struct sel_series {
    sel_series_rule rule;
    double *t, *value;
} sel_series;

/* Makes a lookup of one argument, t in the user's units, in the arena. Times must rise strictly,
 * and all numbers must be finite. NULL: an error, which names the file and line, or `where`. */
const sel_lookup *sel_series_create(sel_arena *arena, const sel_series_params *params,
                                    sel_where where, sel_error *error);

/* Describes a series for `check`: "times 0 to 24 (the run: 0 to 86400), values 0 to 12.5". run_end:
 * the time of the run's last step; infinity: unknown. */
void sel_series_text(const sel_lookup *lookup, double run_end, char *text, size_t size);

/* The points of a CSV text: times from the first column, values from another. */
typedef struct sel_csv_points {
    size_t n;
    double *t, *value; /* from malloc; the caller frees them, also after an error */
    int last_line;     /* the line of the last point, from 1 */
} sel_csv_points;

/* Reads a CSV text; `name` is for messages. The first line decides the separator: semicolon, tab,
 * comma or blanks. Cells may be quoted. Comments (#) and blank lines are skipped. A first line
 * without numbers names the columns. Refuses times that do not rise strictly, and values that are
 * not finite numbers. */
sel_status sel_csv_read(const char *name, const char *text, size_t length, const sel_key *column,
                        sel_csv_points *points, sel_error *error);

#endif
