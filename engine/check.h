/* check.h -- `selenite check`: what a scenario means, before it is run. */
#ifndef SEL_CHECK_H
#define SEL_CHECK_H

#include <stdio.h>
#include "engine/prepare.h"

/* Prints the resolved simulation: sizes, numbers and warnings, regions with their counts, memory,
 * outputs, and the time that the run will take, from a calibration of less than a second. */
sel_status sel_check(const sel_simulation *simulation, const sel_settings *settings, bool regions,
                     FILE *to, sel_error *error);

#endif
