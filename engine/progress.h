/* progress.h -- how far a run is, on a terminal or in a log. */
#ifndef SEL_PROGRESS_H
#define SEL_PROGRESS_H

#include <stdio.h>
#include "engine/run.h"

typedef struct sel_progress_printer {
    FILE *to;
    bool terminal; /* a bar that is redrawn; else a plain line now and then */
    bool drawn;
    double last; /* clock of the last drawing */
} sel_progress_printer;

sel_progress_printer sel_progress_printer_create(FILE *to);

/* "step 1000/20000, 120 Mcells/s, 2:03 left" */
void sel_progress_line(const sel_progress *progress, char *text, size_t size);

/* A sel_run_options.progress; `data` is a sel_progress_printer. */
void sel_progress_print(const sel_progress *progress, void *data);

/* A sel_run_options.log: a line of its own, above the bar; `data` is a sel_progress_printer. */
void sel_progress_log(const char *text, void *data);

/* "1:02:03" or "2:03", "?" when it is not finite; returns `text`. */
enum { SEL_DURATION_ROOM = 32 };
const char *sel_duration_text(double seconds, char text[SEL_DURATION_ROOM]);

/* Ends the bar's line. */
void sel_progress_end(sel_progress_printer *printer);

#endif
