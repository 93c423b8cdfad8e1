/* aqua_rows.c -- evaluate quantities at the cells of rows. */
#include <math.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"
#include "engine/base/machine.h"

enum { EVALUATED_AT_ONCE = 1 << 15 };

/* Scratch of a thread: places and values of the wanted cells, and values of whole rows. */
enum { ARRAYS = 4 };

typedef struct visit {
    const aqua_plan *plan;
    const aqua_asked *asked;
    bool wanted[SEL_REGION_NUMBERS]; /* by the region of a cell */
    int64_t rows;                    /* of a part */
    double *scratch;                 /* [threads][ARRAYS][rows][nx] */
    aqua_take_rows *take;
    void *to;
} visit;

/* Values of the wanted cells to those of all cells. */
static void spread(const visit *v, const uint8_t *region, int64_t cells, const double *value,
                   double *to) {
    for (int64_t c = 0; c < cells; c++) {
        to[c] = v->wanted[region[c]] ? *value++ : 0;
    }
}

/* Fills value[at->n], NaN in gaps. Only those of the places remain that are no gaps. */
static sel_status evaluate_with_gaps(const aqua_asked *asked, sel_places *at, double *x, double *y,
                                     uint8_t *gap, double *value, sel_error *error) {
    const size_t n = at->n;
    sel_status status = sel_quantity_gaps(asked->quantity, at, gap, error);
    if (status) {
        return status;
    }
    at->n = 0;
    for (size_t i = 0; i < n; i++) {
        x[at->n] = x[i];
        y[at->n] = y[i];
        at->n += !gap[i];
    }
    size_t behind = at->n;
    status = behind ? sel_quantity_eval(asked->quantity, asked->what, at, value, error) : SEL_OK;
    for (size_t i = n; i-- > 0 && !status;) {
        value[i] = gap[i] ? (double)NAN : value[--behind];
    }
    return status;
}

/* sel_part */
static sel_status visit_part(void *task, int64_t part, int thread, sel_error *error) {
    const visit *v = task;
    const sel_domain *domain = v->plan->base.domain;
    const int64_t nx = domain->grid.n[0], ny = domain->grid.n[1], first = part * v->rows;
    const int64_t count = ny - first < v->rows ? ny - first : v->rows, cells = count * nx;
    double *x = v->scratch + thread * ARRAYS * v->rows * nx;
    double *y = x + v->rows * nx, *value = y + v->rows * nx, *all = value + v->rows * nx;
    const int64_t n = sel_domain_places(domain, first, first + count, v->wanted, x, y, all);
    sel_places at = sel_domain_at(domain, n, x, y, NULL, v->asked->t);
    sel_status status = SEL_OK;
    if (n && v->asked->gaps) {
        status = evaluate_with_gaps(v->asked, &at, x, y, (uint8_t *)all, value, error);
    } else if (n) {
        status = sel_quantity_eval(v->asked->quantity, v->asked->what, &at, value, error);
    }
    if (status) {
        return status;
    }
    double *to = v->take ? all : (double *)v->to + first * nx;
    spread(v, domain->cell + first * nx, cells, value, to);
    return v->take ? v->take(v->to, first, count, all, error) : SEL_OK;
}

sel_status aqua_rows_visit(const aqua_plan *plan, const aqua_asked *asked, aqua_take_rows *take,
                           void *to, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0], ny = domain->grid.n[1];
    const int threads = plan->base.threads > 0 ? plan->base.threads : 1;
    visit v = {.plan = plan, .asked = asked, .wanted = {true}, .take = take, .to = to};
    for (int r = 1; r <= domain->region_count; r++) {
        v.wanted[r] = asked->ghosts && aqua_passes(domain, r);
    }
    v.rows = nx < EVALUATED_AT_ONCE ? EVALUATED_AT_ONCE / nx : 1;
    v.rows = v.rows < ny ? v.rows : ny;
    const size_t bytes = (size_t)(threads * ARRAYS * v.rows * nx) * sizeof *v.scratch;
    v.scratch = malloc(bytes);
    sel_status status =
        v.scratch ? sel_share_out((ny + v.rows - 1) / v.rows, threads, visit_part, &v, error)
                  : sel_fail_memory(error, "evaluating a quantity", bytes);
    free(v.scratch);
    return status;
}

sel_status aqua_value(const aqua_plan *plan, const sel_quantity *q, const char *what,
                      const double *place, double t, double *value, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const double *at = place ? place : domain->grid.origin;
    const sel_places places = sel_domain_at(domain, 1, at, at + 1, NULL, t);
    return sel_quantity_eval(q, what, &places, value, error);
}
