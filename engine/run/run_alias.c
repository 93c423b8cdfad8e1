/* run_alias.c -- the warning about aliasing of steady tests: a test compares two states, so it
 * misses an oscillation whose period divides the time between them. */
#include <math.h>
#include <string.h>
#include "engine/run/running.h"
#include "engine/values/schema.h"

/* Points and times at which quantities are sampled, by a low-discrepancy sequence: equidistant
 * times would miss oscillations, too. */
enum { PLACES = 16, TIMES = 64, MOST_COMPONENTS = 3 };
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
static bool varies(const sampling *s, const sel_quantity *q) {
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

static void alias_visit_table(sampling *s, const sel_table *table, const void *data,
                              sel_where where);

static void alias_visit_variant(sampling *s, const sel_variant *variant) {
    if (variant->table) {
        alias_visit_table(s, variant->table, variant->data, variant->where);
    }
}

static void alias_visit_quantity(sampling *s, const sel_quantity *q, const sel_table *table,
                                 const char *field, sel_where where) {
    if (!s->table && q->components <= MOST_COMPONENTS && (sel_quantity_depends(q) & SEL_ON_T) &&
        varies(s, q)) {
        s->table = table;
        s->field = field;
        s->where = sel_quantity_functions(q) && sel_quantity_function(q, 0)
                       ? sel_quantity_function(q, 0)->where
                       : where;
    }
}

static void alias_visit_member(sampling *s, const sel_table *table, const sel_table_field *field,
                               const void *at, sel_where where) {
    const sel_list *list = at;
    const sel_named_quantities *quantities = at;
    const sel_named_variants *variants = at;
    switch (field->kind) {
    case SEL_KIND_QUANTITY:
    case SEL_KIND_VECTOR:
        alias_visit_quantity(s, at, table, field->name, where);
        break;
    case SEL_KIND_NAMED_QUANTITIES:
        for (int k = 0; k < quantities->n; k++) {
            alias_visit_quantity(s, &quantities->v[k].value, table, field->name, where);
        }
        break;
    case SEL_KIND_TABLE:
        alias_visit_table(s, field->table, at, where);
        break;
    case SEL_KIND_VARIANT:
        alias_visit_variant(s, at);
        break;
    case SEL_KIND_NAMED_VARIANTS:
        for (int k = 0; k < variants->n; k++) {
            alias_visit_variant(s, &variants->v[k].value);
        }
        break;
    case SEL_KIND_VARIANTS:
        for (int k = 0; k < list->n; k++) {
            alias_visit_variant(s, (const sel_variant *)list->v + k);
        }
        break;
    case SEL_KIND_LIST:
        for (int k = 0; k < list->n; k++) {
            const char *entry = (const char *)list->v + (size_t)k * field->table->size;
            alias_visit_table(s, field->table, entry, where);
        }
        break;
    default:
        break;
    }
}

/* Examines every quantity of a table, except those that do not drive the run. */
static void alias_visit_table(sampling *s, const sel_table *table, const void *data,
                              sel_where where) {
    static const char *const others[] = {"initial", "output", "hooks", "derived", NULL};
    for (int k = 0; k < table->count && !s->table; k++) {
        const sel_table_field *field = &table->fields[k];
        if (sel_name_index(others, field->name) < 0) {
            alias_visit_member(s, table, field, (const char *)data + field->offset, where);
        }
    }
}

void sel_run_warn_of_aliasing(run *r) {
    const sel_simulation *simulation = r->prepared->simulation;
    const sel_domain *domain = r->prepared->domain;
    const sel_grid *grid = &domain->grid;
    sampling s = {.domain = domain,
                  .begin = sel_clock_time(&r->clock, r->monitor.step - r->test_steps),
                  .end = sel_clock_time(&r->clock, r->monitor.step)};
    if (r->test_steps == 1 || !(r->prepared->plan->depends & SEL_ON_T)) {
        return;
    }
    for (int k = 0; k < PLACES; k++) { /* Roberts 2018: powers of the plastic number */
        const double along[] = {alias_spread(0.7548776662466927, k),
                                alias_spread(0.5698402909980532, k),
                                alias_spread(0.4301597090019468, k)};
        double *const to[] = {s.x, s.y, s.z};
        for (int a = 0; a < grid->dims; a++) {
            to[a][k] = sel_centre(grid, a, floor(along[a] * (double)grid->n[a]));
        }
    }
    alias_visit_table(&s, simulation->solver->table, simulation->params, simulation->params->at);
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
}
