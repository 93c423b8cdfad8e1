/* run_series.c -- warns of series that are finer than the steps, which take single values of them.
 *
 * A step takes a value v(t) at one moment. What steps add up to over the run, the sum of v dt, is
 * compared with the integral of v. Between the points of series and the ends of steps v is taken as
 * linear, so the integral of a series is exact.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/core/inputs.h"
#include "engine/run/prepare.h"
#include "engine/values/program.h"
#include "engine/values/series.h"

/* Warn if the sum differs from the integral by more than this fraction of that of |v|. */
static const double most_error = 0.01;
enum { MOST_TIMES = 200000, MOST_SERIES_READ = 16 };

typedef struct series_read {
    int count;
    const sel_lookup *v[MOST_SERIES_READ];
} series_read;

static void add_series(series_read *list, const sel_lookup *lookup) {
    if (lookup->kind == SEL_LOOKUP_SERIES && list->count < MOST_SERIES_READ) {
        list->v[list->count++] = lookup;
    }
}

/* Lists the series that a function reads; if it is no program, all of the script. */
static void list_series(const sel_simulation *simulation, const sel_function *function,
                        series_read *list) {
    const sel_packed *tables = function->program ? &function->program->tables : NULL;
    for (int k = 0; tables && k < tables->program->lookups; k++) {
        const sel_packed_lookup *lookup =
            &tables->lookup[tables->data[tables->program->lookup + k]];
        if (lookup->host) {
            add_series(list, lookup->host);
        }
    }
    for (const sel_lookups *all = tables ? NULL : simulation->series; all; all = all->next) {
        add_series(list, all->lookup);
    }
}

static double shortest_interval(const sel_series *s) {
    double shortest = HUGE_VAL;
    for (int64_t i = 1; i < s->rule.n; i++) {
        shortest = fmin(shortest, s->t[i] - s->t[i - 1]);
    }
    return shortest;
}

/* The finest of the series; NULL: there is none. */
static const sel_lookup *finest_series(const series_read *list) {
    const sel_lookup *finest = NULL;
    double least = HUGE_VAL;
    for (int k = 0; k < list->count; k++) {
        const double shortest = shortest_interval(list->v[k]->data);
        finest = shortest < least ? list->v[k] : finest;
        least = fmin(least, shortest);
    }
    return finest;
}

static int compare_times(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds the points of a series between 0 and `end`. False: there is no room for all. */
static bool add_points(const sel_series *s, double end, double *times, int *count) {
    const double first = s->t[0], period = s->t[s->rule.n - 1] - first;
    double from = s->rule.repeats ? -ceil(first / period) * period : 0;
    do {
        for (int64_t i = 0; i < s->rule.n; i++) {
            const double t = s->t[i] + from;
            if (t > 0 && t < end && *count == MOST_TIMES) {
                return false;
            }
            if (t > 0 && t < end) {
                times[(*count)++] = t;
            }
        }
        from += period;
    } while (s->rule.repeats && first + from < end);
    return true;
}

/* The time up to which the sums are compared: the end of the run, or where it has none the last
 * time of the series; fewer steps if they are too many. */
static int64_t steps_to_compare(const sel_plan *plan, const series_read *list) {
    const double dt = plan->domain->grid.dt;
    int64_t steps = sel_stop_step(plan->simulation->params);
    double last = dt;
    for (int k = 0; k < list->count; k++) {
        const sel_series *s = list->v[k]->data;
        last = fmax(last, s->t[s->rule.n - 1]);
    }
    const double wanted = steps == INT64_MAX ? ceil(last / dt) : (double)steps;
    return (int64_t)fmin(wanted, MOST_TIMES / 2);
}

/* Where a quantity is looked at: the first free cell. */
typedef struct one_place {
    const sel_domain *domain;
    double at[3];
} one_place;

static one_place find_place(const sel_domain *domain) {
    one_place place = {.domain = domain};
    int64_t cell = 0;
    while (cell < sel_grid_cells(&domain->grid) - 1 && domain->cell[cell]) {
        cell++;
    }
    sel_cell_centre(&domain->grid, cell, place.at);
    return place;
}

typedef struct series_sums {
    double taken[3], right[3], size[3]; /* by component: sum of steps, integral, that of |v| */
} series_sums;

/* Values at the time t. False: there is none. */
static bool value_at_time(const one_place *place, const sel_quantity *q, double t, double v[3]) {
    const sel_places at =
        sel_domain_at(place->domain, 1, &place->at[0], &place->at[1], &place->at[2], t);
    return !sel_quantity_eval(q, "", &at, v, NULL);
}

/* False: a value is missing, or there are too many points. */
static bool find_sums(const sel_plan *plan, const sel_input *input, const series_read *list,
                      int64_t steps, double *times, series_sums *sums) {
    const one_place place = find_place(plan->domain);
    const sel_quantity *q = input->quantity;
    const double dt = plan->domain->grid.dt, end = (double)steps * dt;
    int count = 0;
    double v[3];
    *sums = (series_sums){.size = {0}};
    for (int64_t k = 0; k <= steps; k++) {
        times[count++] = (double)k * dt;
        const double t = sel_input_time(plan->inputs, input, k);
        if (k < steps && !value_at_time(&place, q, t, v)) {
            return false;
        }
        for (int c = 0; c < q->components && k < steps; c++) {
            sums->taken[c] += v[c] * dt;
        }
    }
    for (int k = 0; k < list->count; k++) {
        if (!add_points(list->v[k]->data, end, times, &count)) {
            return false;
        }
    }
    qsort(times, (size_t)count, sizeof *times, compare_times);
    for (int k = 1; k < count; k++) {
        const double length = times[k] - times[k - 1];
        if (length > 0 && !value_at_time(&place, q, times[k - 1] + length / 2, v)) {
            return false;
        }
        for (int c = 0; c < q->components && length > 0; c++) {
            sums->right[c] += v[c] * length;
            sums->size[c] += fabs(v[c]) * length;
        }
    }
    return true;
}

static void warn_of_input(const sel_plan *plan, const sel_input *input, double *times,
                          sel_error *warnings) {
    const sel_quantity *q = input->quantity;
    const double dt = plan->domain->grid.dt;
    series_read list = {.count = 0};
    sel_where where = plan->simulation->params->at;
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *function = sel_quantity_function(q, k);
        if (function && function->depends & SEL_ON_T) {
            list_series(plan->simulation, function, &list);
            where = function->where;
        }
    }
    const sel_lookup *finest = finest_series(&list);
    const double shortest = finest ? shortest_interval(finest->data) : HUGE_VAL;
    series_sums sums;
    const int64_t steps = steps_to_compare(plan, &list);
    if (!(shortest < dt * (1 - 1e-9)) || steps < 1 ||
        !find_sums(plan, input, &list, steps, times, &sums)) {
        return;
    }
    int worst = 0;
    double error = 0;
    for (int c = 0; c < q->components; c++) {
        const double off = (sums.taken[c] - sums.right[c]) / sums.size[c];
        worst = fabs(off) > fabs(error) ? c : worst;
        error = fabs(off) > fabs(error) ? off : error;
    }
    if (fabs(error) > most_error) {
        const double whole = (double)steps * dt;
        sel_fail_at(warnings, where,
                    "%s: %s has values %.6g apart, dt is %.6g: a step takes the value of one "
                    "moment, and over %.6g the mean of these is %.6g, that of the series %.6g "
                    "(%.3g %% %s); take dt of %.6g or less, or a series of means over dt, and mind "
                    "that its times are those of the run (time_scale)",
                    input->what, finest->name, shortest, dt, whole, sums.taken[worst] / whole,
                    sums.right[worst] / whole, 100 * fabs(error), error > 0 ? "more" : "less",
                    shortest);
    }
}

void sel_series_warn(const sel_plan *plan, sel_error *warnings) {
    const sel_inputs *inputs = plan->inputs;
    double *times = inputs ? malloc(MOST_TIMES * sizeof *times) : NULL;
    for (int k = 0; times && k < inputs->count; k++) {
        if (sel_input_depends(&inputs->v[k]) & SEL_ON_T) {
            warn_of_input(plan, &inputs->v[k], times, warnings);
        }
    }
    free(times);
}
