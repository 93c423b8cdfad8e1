/* validate.h -- `selenite validate`: run the validation cases and judge them. */
#ifndef SEL_VALIDATE_H
#define SEL_VALIDATE_H

#include "engine/prepare.h"

typedef struct sel_validate_options {
    sel_settings settings; /* over what the scenarios say */
    const char *scenarios; /* the folder with validation/ and reference/ */
    const char *directory; /* of the results: results.csv, report.html, a folder per case */
    int count;             /* 0: all cases, on the CPU without those that are slow there */
    const char *const *cases;
} sel_validate_options;

/* Prints a row per quantity and counts those that missed their gates in *failed. Fails with
 * SEL_BAD_USAGE for an unknown case (with the list), SEL_BAD_FILE when the folder cannot be read,
 * SEL_NO_DEVICE when the backend asked for is not there. */
sel_status sel_validate(const sel_validate_options *options, int *failed, sel_error *error);

#endif
