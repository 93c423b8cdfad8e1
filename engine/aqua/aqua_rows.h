/* aqua_rows.h -- quantities evaluated at the cells of all rows, some rows at a time by each thread.
 */
#ifndef AQUA_ROWS_H
#define AQUA_ROWS_H

#include "engine/aqua/aqua.h"

/* What is to be evaluated. */
typedef struct aqua_asked {
    const sel_quantity *quantity;
    const char *what; /* for messages */
    double t;
    bool ghosts; /* at free cells, and at those painted by laws other than walls */
    bool gaps;   /* NaN where it asks a raster that has no data there; else that is an error */
} aqua_asked;

/* Takes `count` rows from y on: values[count][nx], 0 in cells that were not asked for. Several
 * threads call it at once; it may be called again for rows that failed. */
typedef sel_status aqua_take(void *to, int64_t y, int64_t count, const double *values,
                             sel_error *error);

/* Fails where the quantity or `take` does: at the first of such rows. */
sel_status aqua_rows_visit(const aqua_plan *plan, const aqua_asked *asked, aqua_take *take,
                           void *to, sel_error *error);

/* All rows: to[ny][nx]. */
sel_status aqua_rows_all(const aqua_plan *plan, const aqua_asked *asked, double *to,
                         sel_error *error);

#endif
