/* record.h -- what a run tells of itself in its directory, while it goes on and at the end:
 * run.json, run.log, and a copy of the script. */
#ifndef SEL_RECORD_H
#define SEL_RECORD_H

#include <stdio.h>
#include "engine/run.h"

typedef struct sel_record {
    const sel_scenario *scenario;
    const sel_prepared *prepared;
    const sel_run_options *options;
    sel_report *report;
    FILE *log;    /* NULL: it could not be made */
    double clock; /* of the last run.json */
} sel_record;

/* Copies the script, writes the first run.json, and begins the log. What it points to must outlive
 * the record. */
sel_status sel_record_open(sel_record *record, sel_error *error);

/* Whether run.json and the log are due again, as they are every ten seconds. */
bool sel_record_due(const sel_record *record);

/* Writes run.json from the report as it stands, and a line into the log. A failure is left to the
 * next time: the run goes on. */
void sel_record_refresh(sel_record *record, const sel_progress *progress, const char *const *files);

/* A line of the log, with the time. */
void sel_record_log(sel_record *record, const char *text);

/* The last run.json, of the report of a run that has ended, and the end of the log. `files` NULL:
 * they are not known. */
sel_status sel_record_close(sel_record *record, const char *const *files, sel_error *error);

#endif
