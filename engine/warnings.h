/* warnings.h -- what may be wrong with a scenario although it can be run. */
#ifndef SEL_WARNINGS_H
#define SEL_WARNINGS_H

#include <stdio.h>
#include "engine/solver.h"

/* Fills `warnings`, a line for each: what check and run print, and run.json keeps. Fails where the
 * run is bound to fail later, as its laws do not last until stop.steps or stop.time. */
sel_status sel_warnings_find(const sel_plan *plan, sel_error *warnings, sel_error *error);

/* Line `index` of them, cut to `size`; false: there is none. */
bool sel_warnings_line(const sel_error *warnings, int index, char *text, size_t size);

/* "warning: LINE", each opened with `before`. */
void sel_warnings_print(const sel_error *warnings, const char *before, FILE *to);

#endif
