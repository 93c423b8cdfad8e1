/* run_varying.c -- warns of what varies in time when a run has been found steady: of oscillations
 * that its tests miss, and of what was still to change.
 *
 * A test compares two states, so it misses an oscillation whose period divides the time between
 * them.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/run/running.h"
#include "engine/values/series.h"

/* Points and times at which quantities are sampled, by a low-discrepancy sequence: equidistant
 * times would miss oscillations, too. */
enum { PLACES = 16, TIMES = 64, MOST_COMPONENTS = 3 };
/* Times at which later changes are looked for: equidistant ones, and the points of series. */
enum { LATER = 1024, MOST_LATER = 8192 };
/* Relative to the largest value. A smaller variation is round-off, or the end of a ramp. */
static const double least_variation = 1e-4;

typedef struct sampling {
    const sel_domain *domain;
    double x[PLACES], y[PLACES], z[PLACES];
    double begin, end;      /* times */
    const sel_table *table; /* of the first quantity found to vary; NULL: none */
    const char *field;      /* its name */
    sel_where where;
} sampling;

/* Element k, 0 to 1, of the additive recurrence with step alpha. */
static double alias_spread(double alpha, int k) {
    return fmod(0.5 + alpha * k, 1);
}

/* Whether a quantity varies in time; false if it cannot be evaluated. */
static bool varies_meanwhile(const sampling *s, const sel_quantity *q) {
    double value[MOST_COMPONENTS * PLACES], low[MOST_COMPONENTS * PLACES];
    double high[MOST_COMPONENTS * PLACES], largest = 0, variation = 0;
    const int n = q->components * PLACES;
    for (int k = 0; k < TIMES; k++) {
        const double t = s->begin + (s->end - s->begin) * alias_spread(0.6180339887498949, k);
        const sel_places at = sel_domain_at(s->domain, PLACES, s->x, s->y,
                                            s->domain->grid.dims == 3 ? s->z : NULL, t);
        if (sel_quantity_eval(q, "", &at, value, NULL)) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            low[i] = k ? fmin(low[i], value[i]) : value[i];
            high[i] = k ? fmax(high[i], value[i]) : value[i];
        }
    }
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fmax(fabs(low[i]), fabs(high[i])));
        variation = fmax(variation, high[i] - low[i]);
    }
    return variation > least_variation * largest;
}

/* sel_quantity_visit */
static bool oscillates(void *to, const sel_visited *found) {
    sampling *s = to;
    const sel_quantity *q = found->quantity;
    const bool here = q->components <= MOST_COMPONENTS && (sel_quantity_depends(q) & SEL_ON_T) &&
                      varies_meanwhile(s, q);
    if (here) {
        s->table = found->table;
        s->field = found->field;
        s->where = found->where;
    }
    return !here;
}

/* Fields of quantities that do not drive the run. */
static const char *const not_driving[] = {"initial", "output", "hooks", "derived", NULL};

static sampling find_places(const run *r, double begin, double end) {
    const sel_domain *domain = r->prepared->domain;
    const sel_grid *grid = &domain->grid;
    sampling s = {.domain = domain, .begin = begin, .end = end};
    /* Spreads the places evenly: multiples of 1/g, 1/g^2, ... with g^(d + 1) = g + 1 in d
     * dimensions (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018). */
    static const double strides[2][3] = {
        {0.7548776662466927, 0.5698402909980532, 0},
        {0.8191725133961644, 0.6710436067037892, 0.5497004779019702}};
    const double *stride = strides[grid->dims == 3];
    for (int k = 0; k < PLACES; k++) {
        const double along[] = {alias_spread(stride[0], k), alias_spread(stride[1], k),
                                alias_spread(stride[2], k)};
        double *const to[] = {s.x, s.y, s.z};
        for (int a = 0; a < grid->dims; a++) {
            to[a][k] = sel_centre(grid, a, floor(along[a] * (double)grid->n[a]));
        }
    }
    return s;
}

/* False: nothing was found. */
static bool warn_of_aliasing(run *r, int64_t step) {
    const sel_simulation *simulation = r->prepared->simulation;
    sampling s = find_places(r, sel_clock_time(&r->clock, step - r->test_steps),
                             sel_clock_time(&r->clock, step));
    if (r->test_steps > 1) {
        sel_visit_quantities(simulation, not_driving, oscillates, &s);
    }
    if (s.table) {
        const sel_where stop = sel_simulation_where(simulation, "stop");
        sel_run_warn(r,
                     "%s:%d: %s of %s varies between the two tests that found the run steady: "
                     "tests every %lld steps (%.3g) see no oscillation whose period is that or a "
                     "whole part of it; set every of stop (%s:%d) to no multiple of the period and "
                     "look again",
                     s.where.file ? s.where.file : "?", s.where.line, s.field, s.table->name,
                     (long long)r->test_steps, s.end - s.begin, stop.file ? stop.file : "?",
                     stop.line);
    }
    return s.table;
}

/* ---- what changes later ---- */

typedef struct later {
    sampling s; /* its places; the times from which and up to which is looked */
    const double *t;
    int count;             /* of t */
    double from, to, when; /* the largest change: the value at the beginning, the other, its time */
} later;

/* sel_quantity_visit: finds the largest change, up to the first time without a value. */
static bool changes_later(void *to, const sel_visited *found) {
    later *l = to;
    sampling *s = &l->s;
    const sel_quantity *q = found->quantity;
    double value[2][MOST_COMPONENTS * PLACES]; /* at the beginning; later */
    const double *first = value[0];
    double largest = 0, change = 0;
    if (q->components > MOST_COMPONENTS || !(sel_quantity_depends(q) & SEL_ON_T)) {
        return true;
    }
    for (int k = -1; k < l->count; k++) {
        double *v = value[k >= 0];
        const sel_places at =
            sel_domain_at(s->domain, PLACES, s->x, s->y, s->domain->grid.dims == 3 ? s->z : NULL,
                          k < 0 ? s->begin : l->t[k]);
        if (sel_quantity_eval(q, "", &at, v, NULL)) {
            break;
        }
        for (int i = 0; i < q->components * PLACES; i++) {
            largest = fmax(largest, fabs(v[i]));
            if (fabs(v[i] - first[i]) > change) {
                change = fabs(v[i] - first[i]);
                l->from = first[i];
                l->to = v[i];
                l->when = l->t[k];
            }
        }
    }
    if (!(change > least_variation * largest)) {
        return true;
    }
    s->table = found->table;
    s->field = found->field;
    s->where = found->where;
    return false;
}

/* Lists the times to look at; returns their number. *end: where the run has no end, the last time
 * of its series. */
static int list_times(const sel_simulation *simulation, double begin, double *end,
                      double t[MOST_LATER]) {
    int count = 0;
    const bool open = isinf(*end);
    for (const sel_lookups *all = simulation->series; all; all = all->next) {
        const sel_series *s = all->lookup->data;
        const double last = s->t[s->rule.n - 1];
        *end = open && !s->rule.repeats && (isinf(*end) || last > *end) ? last : *end;
    }
    for (int k = 1; k <= LATER && !isinf(*end) && *end > begin; k++) {
        t[count++] = begin + (*end - begin) * k / LATER;
    }
    for (const sel_lookups *all = simulation->series; all; all = all->next) {
        const sel_series *s = all->lookup->data;
        for (int64_t i = 0; i < s->rule.n && count < MOST_LATER; i++) {
            if (s->t[i] > begin && s->t[i] <= *end && count > 0) {
                t[count++] = s->t[i];
            }
        }
    }
    return count;
}

void sel_run_warn_of_later(run *r, int64_t step) {
    const sel_simulation *simulation = r->prepared->simulation;
    const double begin = sel_clock_time(&r->clock, step);
    double end =
        r->last_step == INT64_MAX ? (double)INFINITY : sel_clock_time(&r->clock, r->last_step);
    double *t = malloc(MOST_LATER * sizeof *t);
    if (t && r->prepared->plan->depends & SEL_ON_T) {
        later l = {.t = t, .count = list_times(simulation, begin, &end, t)};
        l.s = find_places(r, begin, end);
        sel_visit_quantities(simulation, not_driving, changes_later, &l);
        if (l.s.table) {
            const sel_where stop = sel_simulation_where(simulation, "stop");
            sel_run_warn(r,
                         "%s:%d: the run was found steady at t = %.6g, but %s of %s still changes, "
                         "from %.6g to %.6g at t = %.6g; to see what comes of it leave steady and "
                         "mean_change of stop (%s:%d) out",
                         l.s.where.file ? l.s.where.file : "?", l.s.where.line, begin, l.s.field,
                         l.s.table->name, l.from, l.to, l.when, stop.file ? stop.file : "?",
                         stop.line);
        }
    }
    free(t);
}

void sel_run_warn_of_time(run *r, int64_t step) {
    if (r->prepared->plan->depends & SEL_ON_T && !warn_of_aliasing(r, step)) {
        sel_run_warn_of_later(r, step);
    }
}
