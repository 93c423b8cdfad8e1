/* run_audit.c -- the audit of single precision: at test steps, one step of some cells is repeated
 * in double precision. The run warns once if f32 loses too much of the cells' changes.
 *
 *     right   change of a cell in the step, in double precision
 *     change  the same as the run computes it
 *     loss    |change - right|
 *
 * sel_run_audit requests the values of the cells at one test step; sel_run_take_audit judges the
 * answer at the next. The first audit of a field only records, since a later one needs its changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/run/running.h"

/* Largest tolerable loss, as a fraction of the change. */
static const double most_lost = 0.01;
/* Changes count only if their sum over the remaining steps exceeds this fraction of the field's
 * range. */
static const double least_change = 1e-3;
/* Losses below this fraction count only if they do not cancel among cells. */
static const double most_random = 0.1;
/* Accumulated rounding makes changes several times as large as one rounding does: changes below
 * this multiple of one rounding (sel_audit.noise) are noise. */
static const double above_noise = 8;
enum { FEWEST = 4 /* cells: with fewer, nothing is judged */ };

static const sel_audit_reads *reads_of(const run *r) {
    const sel_solver *solver = r->prepared->simulation->solver;
    return solver->audit_reads ? solver->audit_reads(r->prepared->plan) : NULL;
}

static int components_of(const run *r, int field) {
    const sel_prepared *p = r->prepared;
    return sel_field_components(&p->simulation->solver->fields[field], p->domain->grid.dims);
}

static sel_status open_audit(run *r, const sel_audit_reads *reads, sel_error *error) {
    run_audit *audit = &r->audit;
    int components = 0;
    for (int f = 0; f < reads->fields; f++) {
        components += components_of(r, reads->field[f]);
    }
    const size_t bytes = (size_t)reads->cells * (size_t)components * sizeof *audit->values;
    audit->test = calloc((size_t)reads->fields, sizeof *audit->test);
    audit->audited = calloc(SEL_AUDIT_FIELDS, sizeof *audit->audited);
    audit->values = malloc(bytes);
    return audit->test && audit->audited && audit->values
               ? SEL_OK
               : sel_fail_memory(error, "the audit", bytes);
}

void sel_run_close_audit(run *r) {
    free(r->audit.test);
    free(r->audit.audited);
    free(r->audit.values);
}

sel_status sel_run_audit(run *r, sel_error *error) {
    const sel_audit_reads *reads = reads_of(r);
    run_audit *audit = &r->audit;
    if (!reads || audit->told || r->step >= r->last_step) {
        return SEL_OK;
    }
    sel_status status = audit->test ? SEL_OK : open_audit(r, reads, error);
    double *to = audit->values;
    for (int f = 0; f < reads->fields && !status; f++) {
        const sel_request request = {.kind = SEL_READ,
                                     .field = reads->field[f],
                                     .box = sel_grid_box(&r->prepared->domain->grid),
                                     .cells = reads->cell,
                                     .cell_count = reads->cells,
                                     .precision = SEL_F64,
                                     .components = components_of(r, reads->field[f]),
                                     .to = to};
        audit->value[f] = to;
        to += reads->cells * request.components;
        status = sel_run_start_test(r, &audit->test[f], &request, error);
    }
    audit->pending = status == SEL_OK;
    return status;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median, of an even count the upper one; sorts the values. */
static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* The number of remaining steps; if the last step is not known, the number of steps so far. */
static double steps_left(const run *r, int64_t step) {
    return r->last_step < INT64_MAX ? (double)(r->last_step - step) : (double)step;
}

/* For how many steps cell i keeps its present rate of change. At most the `left` steps, the
 * solver's relaxation time (1 / fades), and the e-folding time of a decrease since the last audit.
 */
static double steps_alike(const run_audited *before, const sel_audit *found, int i, int64_t step,
                          double left) {
    const double faded = log(fabs(before->right[i] / found->right[i]));
    const double since = (double)(step - before->step);
    double steps = left;
    steps = found->fades[i] > 0 ? fmin(steps, 1 / found->fades[i]) : steps;
    return faded > 0 ? fmin(steps, since / faded) : steps;
}

/* Whether the sum of the changes exceeds half the sum of their magnitudes: the changes mostly have
 * one sign. Rounding makes changes of both signs. */
static bool one_sided(const sel_audit *found) {
    double sum = 0, size = 0;
    for (int i = 0; i < found->count; i++) {
        sum += isfinite(found->right[i]) ? found->right[i] : 0;
        size += isfinite(found->right[i]) ? fabs(found->right[i]) : 0;
    }
    return fabs(sum) > size / 2;
}

/* The number that a cell's loss is compared with: the magnitude of its change. For outflows, which
 * rise and fall: the largest outflow so far, or the outflow at the end of the run if the present
 * rise continues. */
static double scale_of(const run_audited *before, const sel_audit *found, int i, int64_t step,
                       double left) {
    const double right = fabs(found->right[i]), rise = right - fabs(before->right[i]);
    const double since = (double)(step - before->step);
    return found->flows ? fmax(right + fmax(rise, 0) / since * left, before->largest[i]) : right;
}

/* The losses of the cells whose changes matter: medians over these cells. */
typedef struct losses {
    int count;             /* cells whose changes matter */
    double part;           /* loss / scale_of; 0: losses cancel among cells, or too few cells */
    double part_of_change; /* loss / change */
    double change;         /* magnitude in double precision */
} losses;

static losses find_losses(const run *r, const run_audited *before, const sel_audit *found,
                          int64_t step) {
    const bool together = one_sided(found);
    const double left = steps_left(r, step), range = before->most - before->least;
    double part[SEL_AUDITED], of_change[SEL_AUDITED], change[SEL_AUDITED], sum = 0, size = 0;
    losses lost = {.count = 0};
    for (int i = 0; i < found->count; i++) {
        const double right = fabs(found->right[i]);
        if (isfinite(found->change[i]) && isfinite(right) && right > 0 &&
            (together || right > above_noise * found->noise[i]) &&
            right * steps_alike(before, found, i, step, left) > least_change * range) {
            const double scale = scale_of(before, found, i, step, left);
            part[lost.count] = fabs(found->change[i] - found->right[i]) / scale;
            of_change[lost.count] = fabs(found->change[i] - found->right[i]) / right;
            change[lost.count++] = right;
            sum += (found->change[i] - found->right[i]) * (found->right[i] > 0 ? 1 : -1);
            size += scale;
        }
    }
    if (lost.count >= FEWEST) {
        const double median = median_of(part, lost.count);
        const bool adds_up = median > most_random || fabs(sum) > most_lost * size;
        lost.part = adds_up ? median : 0;
        lost.part_of_change = median_of(of_change, lost.count);
        lost.change = median_of(change, lost.count);
    }
    return lost;
}

/* Extends the range of a field by the values that the audit has read. */
static void take_range(const run *r, const sel_audit *found, run_audited *audited) {
    const sel_audit_reads *reads = reads_of(r);
    const int components = components_of(r, found->field);
    int f = 0;
    while (reads->field[f] != found->field) {
        f++;
    }
    for (int64_t i = 0; i < reads->cells; i++) {
        const double value = r->audit.value[f][i * components + found->component];
        audited->least = fmin(audited->least, value);
        audited->most = fmax(audited->most, value);
    }
}

/* Extends the range of a field by the values of all cells: waits for a reduction. */
static sel_status audit_find_range(run *r, const sel_audit *found, run_audited *audited,
                                   sel_error *error) {
    run_test *test = &r->audit.range;
    const sel_request request = {
        .kind = SEL_REDUCE, .field = found->field, .box = sel_grid_box(&r->prepared->domain->grid)};
    sel_status status = sel_run_start_test(r, test, &request, error);
    status = status ? status : sel_run_answer_test(r, test, error);
    audited->least = fmin(audited->least, test->request.min[found->component]);
    audited->most = fmax(audited->most, test->request.max[found->component]);
    return status;
}

/* Audits one field: warns if too much is lost. The range of all cells is costly, so it is found at
 * the first audit, and again only before a warning. */
static sel_status judge(run *r, run_audited *audited, const sel_audit *found, int64_t step,
                        sel_error *error) {
    if (!audited->seen) {
        audited->least = HUGE_VAL;
        audited->most = -HUGE_VAL;
    }
    take_range(r, found, audited);
    if (!audited->seen) {
        return audit_find_range(r, found, audited, error);
    }
    if (!(find_losses(r, audited, found, step).part > most_lost)) {
        return SEL_OK;
    }
    const sel_solver *solver = r->prepared->simulation->solver;
    sel_status status = audit_find_range(r, found, audited, error);
    const losses lost = find_losses(r, audited, found, step);
    if (!status && lost.part > most_lost) {
        r->audit.told = true;
        sel_run_warn(
            r,
            "at step %lld a step in f32 misses what it should %s a cell's %s, %.2g, by %.3g %% "
            "(median of %d cells): %s; take precision = \"f64\", or %s",
            (long long)step, solver->audit_does, found->what, lost.change,
            100 * lost.part_of_change, lost.count, solver->audit_why, solver->audit_advice);
    }
    return status;
}

sel_status sel_run_take_audit(run *r, sel_error *error) {
    const sel_solver *solver = r->prepared->simulation->solver;
    const sel_audit_reads *reads = reads_of(r);
    run_audit *audit = &r->audit;
    sel_status status = SEL_OK;
    sel_audit found;
    for (int f = 0; audit->pending && f < reads->fields && !status; f++) {
        status = sel_run_answer_test(r, &audit->test[f], error);
    }
    const bool take = audit->pending && !status;
    audit->pending = false;
    for (int k = 0; take && !status && !audit->told &&
                    solver->audit(r->state, audit->test->step, audit->value, k, &found);
         k++) {
        run_audited *audited = &audit->audited[k];
        status = judge(r, audited, &found, audit->test->step, error);
        audited->seen = true;
        audited->step = audit->test->step;
        memcpy(audited->right, found.right, sizeof found.right);
        for (int i = 0; i < found.count; i++) {
            audited->largest[i] = fmax(audited->largest[i], fabs(found.right[i]));
        }
    }
    return status;
}
