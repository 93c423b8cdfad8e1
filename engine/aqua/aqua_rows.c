/* aqua_rows.c -- evaluate quantities at the cells of rows. */
#include "engine/aqua/aqua_rows.h"

#include <stdlib.h>

enum { PLACES = 1 << 16 };

sel_status aqua_rows_open(const sel_domain *domain, bool ghosts, aqua_rows *rows,
                          sel_error *error) {
    const int64_t nx = domain->grid.n[0];
    *rows = (aqua_rows){.domain = domain, .wanted = {true}, .chunk = nx < PLACES ? PLACES / nx : 1};
    for (int r = 1; r <= domain->region_count; r++) {
        rows->wanted[r] = ghosts && domain->regions[r - 1].law.table != &aqua_wall_table;
    }
    size_t places = (size_t)(rows->chunk * nx);
    rows->x = malloc(3 * places * sizeof *rows->x);
    rows->y = rows->x + places;
    rows->value = rows->y + places;
    return rows->x ? SEL_OK : sel_fail_memory(error, "evaluating a quantity", 24 * places);
}

void aqua_rows_close(aqua_rows *rows) {
    free(rows->x);
    rows->x = NULL;
}

sel_status aqua_rows_evaluate(const aqua_rows *rows, const sel_quantity *q, const char *what,
                              double t, int64_t y, int64_t count, double *to, sel_error *error) {
    const sel_domain *domain = rows->domain;
    const sel_grid *grid = &domain->grid;
    const int64_t nx = grid->n[0], cells = count * nx;
    const uint8_t *region = domain->cell + y * nx;
    size_t n = 0;
    for (int64_t c = 0; c < cells; c++) {
        if (rows->wanted[region[c]]) {
            rows->x[n] = sel_centre(grid, 0, (double)(c % nx));
            rows->y[n++] = sel_centre(grid, 1, (double)(y + c / nx));
        }
    }
    sel_places at = {
        .n = n, .x = rows->x, .y = rows->y, .t = t, .controls = domain->control_values};
    sel_status status = n ? sel_quantity_eval(q, what, &at, rows->value, error) : SEL_OK;
    const double *value = rows->value;
    for (int64_t c = 0; c < cells && !status; c++) {
        to[c] = rows->wanted[region[c]] ? *value++ : 0;
    }
    return status;
}

sel_status aqua_rows_all(const aqua_rows *rows, const sel_quantity *q, const char *what, double t,
                         double *to, sel_error *error) {
    const int64_t nx = rows->domain->grid.n[0], ny = rows->domain->grid.n[1];
    sel_status status = SEL_OK;
    for (int64_t y = 0; y < ny && !status; y += rows->chunk) {
        int64_t count = ny - y < rows->chunk ? ny - y : rows->chunk;
        status = aqua_rows_evaluate(rows, q, what, t, y, count, to + y * nx, error);
    }
    return status;
}
