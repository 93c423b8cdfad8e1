/* run_audit.c -- the audit of single precision: at tests, a step of some cells is computed again in
 * double, and the run says once when what it keeps of their changes is not enough.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/run/running.h"

/* The part of a change that may be lost; and the part of the field's range below which a change in
 * all steps to come does not matter. */
static const double most_lost = 0.01, least_change = 1e-3;
enum { FEWEST = 4 /* cells */ };

sel_status sel_run_audit(run *r, sel_error *error) {
    const sel_solver *solver = r->prepared->simulation->solver;
    run_audit *audit = &r->audit;
    if (!solver->audit_reads || audit->told || r->step >= r->last_step) {
        return SEL_OK;
    }
    const int count = solver->audit_reads(r->prepared->plan, audit->cell);
    const sel_request request = {.kind = SEL_READ,
                                 .field = solver->main_field,
                                 .box = sel_grid_box(&r->prepared->domain->grid),
                                 .cells = audit->cell,
                                 .cell_count = count,
                                 .precision = SEL_F64,
                                 .components = 1,
                                 .to = audit->value};
    return count > 0 ? sel_run_start_test(r, &audit->test, &request, error) : SEL_OK;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

/* The steps to come; where their number is not known as many as there were. */
static double steps_left(const run *r, int64_t step) {
    return r->last_step < INT64_MAX ? (double)(r->last_step - step) : (double)step;
}

void sel_run_take_audit(run *r) {
    const sel_solver *solver = r->prepared->simulation->solver;
    const sel_request *seen = &r->monitor.request;
    const int64_t step = r->audit.test.step;
    const double left = steps_left(r, step), range = seen->largest - seen->smallest;
    double lost[SEL_AUDITED], change[SEL_AUDITED];
    int count = 0;
    sel_audit found;
    solver->audit(r->state, step, r->audit.value, &found);
    for (int i = 0; i < found.count; i++) {
        const double right = fabs(found.right[i]);
        if (isfinite(found.change[i]) && isfinite(right) && right > 0 &&
            right * left > least_change * range) {
            change[count] = right;
            lost[count++] = fabs(found.change[i] - found.right[i]) / right;
        }
    }
    if (count < FEWEST) {
        return;
    }
    const double part = median_of(lost, count), size = median_of(change, count);
    if (part > most_lost) {
        r->audit.told = true;
        sel_run_warn(r,
                     "at step %lld a step in f32 misses what it should add to a cell, %.2g, by "
                     "%.3g %% (median of %d cells): the numbers have no digits for so little; "
                     "take precision = \"f64\", or %s",
                     (long long)step, size, 100 * part, count, solver->audit_advice);
    }
}
