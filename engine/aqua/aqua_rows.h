/* aqua_rows.h -- quantities evaluated at the cells of rows, many at a time. */
#ifndef AQUA_ROWS_H
#define AQUA_ROWS_H

#include "engine/aqua/aqua.h"

typedef struct aqua_rows {
    const sel_domain *domain;
    bool wanted[256]; /* by the region of a cell: 0 and those whose cells are evaluated too */
    int64_t chunk;    /* rows at a time */
    double *x, *y, *value;
} aqua_rows;

/* Free cells, and with `ghosts` those painted by laws other than walls. Closed also after an error.
 */
sel_status aqua_rows_open(const sel_domain *domain, bool ghosts, aqua_rows *rows, sel_error *error);
void aqua_rows_close(aqua_rows *rows);

/* At most rows->chunk rows from y on, at time t: to[count][nx], 0 in cells that are not wanted. */
sel_status aqua_rows_evaluate(const aqua_rows *rows, const sel_quantity *q, const char *what,
                              double t, int64_t y, int64_t count, double *to, sel_error *error);

/* All rows: to[ny][nx]. */
sel_status aqua_rows_all(const aqua_rows *rows, const sel_quantity *q, const char *what, double t,
                         double *to, sel_error *error);

#endif
