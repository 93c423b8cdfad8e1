/* out_force.c -- out.force: force and torque on a region as CSV, with coefficients; at the end
 * their statistics and the dominant frequency. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/kind.h"

static const sel_table_field fields[] = {
    SEL_OUT_SCHEDULE_ROWS(
        "First step of the statistics; rows are written from step 0 on.",
        "First time of the statistics, to leave out how the flow began; rows are written from "
        "step 0 on."),
    SEL_OUT_AT_ROW,
    SEL_ROW(sel_force_params, region, STRING,
            "Name of the region on which the fluid acts; regions of one name count together.",
            .flags = SEL_REQUIRED),
    SEL_ROW(sel_force_params, centre, POINT,
            "Point about which the torque is taken; the origin of coordinates when not given."),
};

const sel_table sel_out_force_table = SEL_TABLE(
    "out.force", sel_force_params, fields,
    "Force of the fluid on a region, as NAME.csv with step,time,force_x,force_y,torque (3-D: "
    "force_z, torque_x, torque_y, torque_z): the mean of the last two steps, at steps 0 and 1 that "
    "of the first step. The unit is density velocity^2 length^2; in 2-D it is "
    "per unit depth. With reference.velocity and reference.area (2-D: or reference.length) the "
    "file has also the coefficients cd = 2 force_x / (density velocity^2 area), and cl likewise "
    "with force_y. The results of run.json get statistics over the samples from from_step or "
    "from_time on, else over the second half of the run. Without a sample there are none, and a "
    "warning. For each component of force and torque "
    "and for cd and cl: NAME.force_x_mean, NAME.force_x_rms (of the deviation from the mean), "
    "NAME.force_x_min, NAME.force_x_max and the like. For each component of force and torque that "
    "oscillates: NAME.force_x_frequency and the like, the highest peak of the spectrum after the "
    "linear trend is removed, under a Hann window, refined by a parabola; with reference.length "
    "and reference.velocity also NAME.force_x_strouhal = frequency length / velocity. "
    "NAME.frequency and NAME.strouhal are those of force_y. A warning at the end tells where the "
    "force changes from step to step by more than 5 % of itself (rms).");

/* A component counts as steady if it varies by less than this fraction of the force; of the torque
 * plus that of the force about an arm as long as the domain's shortest side. */
static const double steady_part = 1e-5;

/* The force alternates if it changes from step to step by more than `alternating_part` of itself.
 * Changes below `cancelled_part` of the sum of all magnitudes are round-off. */
static const double alternating_part = 0.05, cancelled_part = 1e-4;

/* Series of the record: times, components of the force, magnitude of the change from step to step,
 * components of the torque. */
enum { TIME, FORCE, CHANGE = FORCE + 3, TORQUE, SERIES = TORQUE + 3 };
_Static_assert((int)SERIES <= (int)SEL_MOST_SERIES, "a record has room for them");

typedef struct force_output {
    sel_output base;
    double to_coefficient; /* factor from a force to its coefficient; NaN: no coefficients */
    sel_record record;     /* samples of the statistics */
} force_output;

static void force_check(sel_output_checker *checker, const void *params) {
    const sel_force_params *force = params;
    const sel_solver *solver = checker->simulation->solver;
    if (solver->no_forces) {
        sel_output_refuse(checker, "sel.%s knows no forces", solver->name);
        return;
    }
    sel_measure_check(checker, force->region);
    if (force->centre.n != 0 && force->centre.n != checker->domain->grid.dims) {
        sel_output_refuse(checker, "centre has %d coordinates, the domain has %d dimensions",
                          force->centre.n, checker->domain->grid.dims);
    }
}

/* Whether a body lies across the face of a periodic axis: the regions of a name have cells on both
 * sides of it, and not in all planes across the axis. */
static bool lies_across(const sel_domain *domain, const bool named[], int axis) {
    const sel_grid *grid = &domain->grid;
    const int64_t last = grid->n[axis] - 1;
    bool *plane = calloc((size_t)grid->n[axis], sizeof *plane), across = false;
    for (int64_t k = 0; plane && k < sel_grid_cells(grid); k++) {
        int64_t at[3];
        sel_cell_at(grid, k, at);
        if (named[domain->cell[k]]) {
            plane[at[axis]] = true;
            if (at[axis] == 0) {
                at[axis] = last;
                across = across || named[domain->cell[sel_cell_number(grid, at)]];
            }
        }
    }
    int64_t k = 0;
    while (plane && k <= last && plane[k]) {
        k++;
    }
    free(plane);
    return across && k <= last;
}

/* Links count with the arms of the cells in the domain. */
static void force_warn(const sel_domain *domain, const sel_variant *output, sel_error *warnings) {
    const char *region = ((const sel_force_params *)output->data)->region;
    bool named[SEL_REGION_NUMBERS] = {false};
    char text[32];
    for (int r = 1; r <= domain->region_count; r++) {
        named[r] = strcmp(sel_region_name(domain, r, text), region) == 0;
    }
    for (int a = 0; a < domain->grid.dims; a++) {
        if (sel_axis_periodic(&domain->grid, a) && lies_across(domain, named, a)) {
            sel_fail_at(warnings, output->where,
                        "out.force: '%s' lies across the periodic faces %s and %s, and its torque "
                        "is not that of a whole body: each part counts where it is in the domain, "
                        "a period from the other; forces are right; move the body along %s",
                        region, sel_face_name(2 * a), sel_face_name(2 * a + 1), sel_axis_names[a]);
        }
    }
}

static void force_keep(sel_output *base, sel_checkpoint *checkpoint) {
    sel_record_keep(&((force_output *)base)->record, checkpoint);
}

/* ---- rows ---- */

static sel_status force_take(sel_output *base, sel_error *error) {
    (void)error;
    force_output *output = (force_output *)base;
    int dims = base->context->domain->grid.dims;
    const sel_force_sum sum = sel_measure_sum_force(&base->requests);
    const double *force = sum.force, *torque = sum.torque, *change = sum.change;
    const double changed = hypot(hypot(change[0], change[1]), change[2]);
    for (int a = 0; a < dims; a++) {
        sel_csv_number(base->csv, force[a]);
    }
    for (int a = dims == 2 ? 2 : 0; a < 3; a++) {
        sel_csv_number(base->csv, torque[a]);
    }
    for (int a = 0; a < 2 && !isnan(output->to_coefficient); a++) {
        sel_csv_number(base->csv, output->to_coefficient * force[a]);
    }
    const double sample[SERIES] = {base->time,
                                   force[0],
                                   force[1],
                                   force[2],
                                   changed > cancelled_part * sum.size ? changed : 0,
                                   torque[0],
                                   torque[1],
                                   torque[2]};
    if (base->step >= sel_output_from(base->params, base->context->clock)) {
        sel_record_add(&output->record, sample);
    }
    return SEL_OK;
}

/* ---- statistics ---- */

/* The samples of a series that statistics cover. */
typedef struct force_samples {
    const double *time, *value;
    size_t n;
} force_samples;

static force_samples samples_of(const force_output *output, int series, size_t first) {
    const sel_record *record = &output->record;
    return (force_samples){record->v[TIME] + first, record->v[series] + first,
                           record->count - first};
}

/* The first sample of the statistics: 0 if the script gives from_step or from_time, else the first
 * in the second half of the run. */
static size_t first_sample(const force_output *output, double end) {
    const sel_output_common *common = output->base.params;
    const sel_record *record = &output->record;
    size_t first = 0;
    if (common->from_step == 0 && isnan(common->from_time)) {
        while (first + 1 < record->count && record->v[TIME][first] < 0.5 * end) {
            first++;
        }
    }
    return first;
}

/* Sets NAME.COLUMN_mean and the like: `scale` times the samples. */
static sel_status set_statistics(const force_output *output, const char *column, double scale,
                                 const force_samples *samples, sel_error *error) {
    static const struct {
        const char *name;
        double (*of)(const double *value, size_t n);
    } statistic[] = {{"mean", sel_signal_mean},
                     {"rms", sel_signal_rms},
                     {"min", sel_signal_min},
                     {"max", sel_signal_max}};
    sel_status status = SEL_OK;
    for (size_t k = 0; k < sizeof statistic / sizeof *statistic && !status; k++) {
        char what[32];
        snprintf(what, sizeof what, "%s_%s", column, statistic[k].name);
        status = sel_output_result(&output->base, what,
                                   scale * statistic[k].of(samples->value, samples->n), error);
    }
    return status;
}

/* Sets NAME.COLUMN_frequency and NAME.COLUMN_strouhal, or NAME.frequency and NAME.strouhal if
 * `column` is NULL. */
static sel_status set_frequency(const force_output *output, const char *column, double frequency,
                                sel_error *error) {
    const sel_reference *reference = &output->base.context->simulation->params->reference;
    const double strouhal = frequency * reference->length / reference->velocity;
    const char *between = column ? "_" : "";
    column = column ? column : "";
    char what[32];
    snprintf(what, sizeof what, "%s%sfrequency", column, between);
    sel_status status = sel_output_result(&output->base, what, frequency, error);
    if (!status && !isnan(strouhal)) {
        snprintf(what, sizeof what, "%s%sstrouhal", column, between);
        status = sel_output_result(&output->base, what, strouhal, error);
    }
    return status;
}

/* The largest magnitude of a vector of three series. */
static double largest_magnitude(const force_output *output, int series, size_t first) {
    double *const *v = &output->record.v[series], largest = 0;
    for (size_t i = first; i < output->record.count; i++) {
        largest = fmax(largest, hypot(hypot(v[0][i], v[1][i]), v[2][i]));
    }
    return largest;
}

static double shortest_side(const sel_grid *grid) {
    double shortest = (double)INFINITY;
    for (int a = 0; a < grid->dims; a++) {
        shortest = fmin(shortest, (double)grid->n[a] * grid->dx[a]);
    }
    return shortest;
}

/* Sets the statistics of a column of the CSV file. */
static sel_status set_component(const force_output *output, int series, const char *column,
                                size_t first, sel_error *error) {
    const force_samples samples = samples_of(output, series, first);
    if (isnan(samples.value[0])) { /* see warn_of_gap */
        return SEL_OK;
    }
    double noise = steady_part * largest_magnitude(output, FORCE, first);
    if (series >= TORQUE) {
        noise = noise * shortest_side(&output->base.context->domain->grid) +
                steady_part * largest_magnitude(output, TORQUE, first);
    }
    sel_status status = set_statistics(output, column, 1, &samples, error);
    const double frequency = sel_signal_frequency(samples.time, samples.value, samples.n, noise);
    if (!status && !isnan(frequency)) {
        status = set_frequency(output, column, frequency, error);
        if (!status && series == FORCE + 1) {
            status = set_frequency(output, NULL, frequency, error);
        }
    }
    return status;
}

/* Warns of a force that alternates from step to step. */
static void warn_of_alternation(const force_output *output, size_t first) {
    const char *advice = output->base.context->solver->force_advice;
    const sel_force_params *params = output->base.params;
    const sel_record *record = &output->record;
    double changes = 0, forces = 0;
    for (size_t i = first; i < record->count; i++) {
        changes += record->v[CHANGE][i] * record->v[CHANGE][i];
        for (int a = 0; a < 3; a++) {
            forces += record->v[FORCE + a][i] * record->v[FORCE + a][i];
        }
    }
    const double part = sqrt(changes / forces);
    if (part > alternating_part) {
        char about[128];
        snprintf(about, sizeof about, "the force on '%.64s' alternates", params->region);
        sel_output_warn(&output->base, about,
                        "from one step to the next it changes by %.3g %% of itself (rms of %s.csv, "
                        "whose rows are means of two steps)%s%s",
                        100 * part, output->base.name, advice ? "; " : "", advice ? advice : "");
    }
}

/* Warns of a run that goes on from a checkpoint of an earlier version, whose samples lack the
 * torque. */
static void warn_of_gap(const force_output *output, size_t first) {
    const sel_record *record = &output->record;
    const bool diverged = isnan(record->v[FORCE][first]);
    if (isnan(record->v[TORQUE][first]) && !diverged) {
        char about[128];
        snprintf(about, sizeof about, "%.64s has no statistics of the torque", output->base.name);
        sel_output_warn(&output->base, about,
                        "the run went on from a checkpoint of an earlier version, which did not "
                        "keep its samples; the rows of %.64s.csv have it, and from_step, after "
                        "that checkpoint, begins statistics with the torque",
                        output->base.name);
    }
}

/* Warns of links that do not carry all momentum. */
static void warn_of_missing_momentum(const force_output *output) {
    const sel_output_context *context = output->base.context;
    const sel_requests *requests = &output->base.requests;
    const sel_solver *solver = context->solver;
    char about[128], why[256];
    for (int i = 0; solver->lacks_force && i < requests->count; i++) {
        if (solver->lacks_force(context->plan, requests->v[i].region, why, sizeof why)) {
            const sel_force_params *params = output->base.params;
            snprintf(about, sizeof about, "the force on '%.64s' is not all of it", params->region);
            sel_output_warn(&output->base, about, "%s", why);
            return;
        }
    }
}

/* Warns of a run that ends before from_step or from_time. */
static void warn_of_none(const sel_output *base) {
    char about[128];
    snprintf(about, sizeof about, "%.64s has no statistics", base->name);
    sel_output_warn(base, about,
                    "the run ended at step %lld, time %g, before from_step or from_time; %.64s.csv "
                    "has the rows before",
                    (long long)base->step, base->time, base->name);
}

/* The names of the columns with components of force and torque; NULL ends them. */
static const char *const force_columns[2][7] = {
    {"force_x", "force_y", "torque", NULL},
    {"force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z", NULL}};

static sel_status force_conclude(sel_output *base, sel_error *error) {
    static const char *const coefficients[] = {"cd", "cl"};
    force_output *output = (force_output *)base;
    const int dims = base->context->domain->grid.dims;
    if (output->record.count == 0) {
        warn_of_none(base);
        return SEL_OK;
    }
    const size_t first = first_sample(output, base->time);
    sel_status status = SEL_OK;
    warn_of_missing_momentum(output);
    warn_of_alternation(output, first);
    warn_of_gap(output, first);
    for (int a = 0; force_columns[dims - 2][a] && !status; a++) {
        const int torque = dims == 3 ? TORQUE + a - dims : TORQUE + 2;
        status = set_component(output, a < dims ? FORCE + a : torque, force_columns[dims - 2][a],
                               first, error);
    }
    for (int a = 0; a < 2 && !status && !isnan(output->to_coefficient); a++) {
        const force_samples samples = samples_of(output, FORCE + a, first);
        status = set_statistics(output, coefficients[a], output->to_coefficient, &samples, error);
    }
    return status;
}

/* ---- opening ---- */

/* 2 / (density velocity^2 area); NaN: reference.velocity or the area is missing. */
static double force_coefficient(const sel_output_context *context) {
    const sel_reference *reference = &context->simulation->params->reference;
    double density = context->plan->density > 0 ? context->plan->density : 1;
    double area = reference->area;
    if (isnan(area) && context->domain->grid.dims == 2) {
        area = reference->length;
    }
    return 2 / (density * reference->velocity * reference->velocity * area);
}

static sel_status force_open(sel_output *base, sel_error *error) {
    force_output *output = (force_output *)base;
    const sel_status status = sel_record_open(base, SERIES, &output->record, error);
    if (status) {
        return status;
    }
    output->to_coefficient = force_coefficient(base->context);
    for (const char *const *column = force_columns[base->context->domain->grid.dims - 2]; *column;
         column++) {
        sel_csv_text(base->csv, *column);
    }
    if (!isnan(output->to_coefficient)) {
        sel_csv_text(base->csv, "cd");
        sel_csv_text(base->csv, "cl");
    }
    const sel_force_params *params = base->params;
    return sel_measure_regions(base, SEL_FORCE, params->region, &params->centre, error);
}

const sel_output_kind sel_force_kind = {
    .table = &sel_out_force_table,
    .size = sizeof(force_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .all_rows = true,
    .check = force_check,
    .warn = force_warn,
    .open = force_open,
    .take = force_take,
    .keep = force_keep,
    .conclude = force_conclude,
};
