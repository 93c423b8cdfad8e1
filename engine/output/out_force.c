/* out_force.c -- out.force: force and torque on a region as CSV, with coefficients; at the end
 * their statistics and the dominant frequency. */
#include <math.h>
#include <stdio.h>
#include "engine/output/kind.h"

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
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
    "from_time on, else over the second half of the run: NAME.force_x_mean and the like, "
    "NAME.cd_mean, cd_rms, cl_mean, cl_rms (the rms is that of the deviation from the mean), and "
    "NAME.frequency, the dominant frequency of force_y: the highest peak of the spectrum after the "
    "linear trend is removed, under a Hann window, refined by a parabola. With reference.length "
    "and reference.velocity there is also NAME.strouhal = frequency length / velocity. A warning "
    "at the end tells where the force changes from step to step by more than 5 % of itself (rms).");

/* The flow counts as steady if the lift varies by less than this fraction of the force. */
static const double steady_part = 1e-5;

/* The force alternates if it changes from step to step by more than `alternating_part` of itself.
 * Changes below `cancelled_part` of the sum of all magnitudes are round-off. */
static const double alternating_part = 0.05, cancelled_part = 1e-4;

/* Series of the record: times, components of the force, magnitude of the change from step to step.
 */
enum { TIME, FORCE, CHANGE = FORCE + 3, SERIES };
_Static_assert((int)SERIES <= (int)SEL_MOST_SERIES, "a record has room for them");

typedef struct force_output {
    sel_output base;
    double to_coefficient; /* factor from a force to its coefficient; NaN: no coefficients */
    sel_record record;
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
    sel_record_add(&output->record,
                   (double[SERIES]){base->time, force[0], force[1], force[2],
                                    changed > cancelled_part * sum.size ? changed : 0});
    return SEL_OK;
}

/* ---- statistics ---- */

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

static sel_status set_coefficients(const force_output *output, size_t first, sel_error *error) {
    static const char *const means[] = {"cd_mean", "cl_mean"}, *const rms[] = {"cd_rms", "cl_rms"};
    const sel_record *record = &output->record;
    size_t n = record->count - first;
    sel_status status = SEL_OK;
    for (int a = 0; a < 2 && !status; a++) {
        const double *force = record->v[FORCE + a] + first;
        double mean = output->to_coefficient * sel_signal_mean(force, n);
        double deviation = output->to_coefficient * sel_signal_rms(force, n);
        status = sel_output_result(&output->base, means[a], mean, error);
        status = status ? status : sel_output_result(&output->base, rms[a], deviation, error);
    }
    return status;
}

static sel_status set_frequency(const force_output *output, size_t first, sel_error *error) {
    const sel_record *record = &output->record;
    const sel_reference *reference = &output->base.context->simulation->params->reference;
    size_t n = record->count - first;
    double largest = 0;
    for (size_t i = first; i < record->count; i++) {
        largest = fmax(largest, hypot(record->v[FORCE][i], record->v[FORCE + 1][i]));
    }
    double frequency = sel_signal_frequency(record->v[TIME] + first, record->v[FORCE + 1] + first,
                                            n, steady_part * largest);
    if (isnan(frequency)) {
        return SEL_OK;
    }
    sel_status status = sel_output_result(&output->base, "frequency", frequency, error);
    double strouhal = frequency * reference->length / reference->velocity;
    return status || isnan(strouhal)
               ? status
               : sel_output_result(&output->base, "strouhal", strouhal, error);
}

/* Warns of a force that alternates from step to step. */
static void warn_of_alternation(const force_output *output, size_t first) {
    const sel_output_context *context = output->base.context;
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
    if (context->warn && part > alternating_part) {
        char about[128], text[640];
        snprintf(about, sizeof about, "the force on '%.64s' alternates", params->region);
        snprintf(text, sizeof text,
                 "%s: from one step to the next it changes by %.3g %% of itself (rms of %s.csv, "
                 "whose rows are means of two steps)%s%s",
                 about, 100 * part, output->base.name, context->solver->force_advice ? "; " : "",
                 context->solver->force_advice ? context->solver->force_advice : "");
        context->warn(context->warn_data, about, text);
    }
}

static sel_status force_conclude(sel_output *base, sel_error *error) {
    static const char *const means[] = {"force_x_mean", "force_y_mean", "force_z_mean"};
    const force_output *output = (const force_output *)base;
    const sel_record *record = &output->record;
    if (record->count == 0) {
        return SEL_OK;
    }
    size_t first = first_sample(output, base->time);
    sel_status status = SEL_OK;
    warn_of_alternation(output, first);
    for (int a = 0; a < base->context->domain->grid.dims && !status; a++) {
        double mean = sel_signal_mean(record->v[FORCE + a] + first, record->count - first);
        status = sel_output_result(base, means[a], mean, error);
    }
    if (!status && !isnan(output->to_coefficient)) {
        status = set_coefficients(output, first, error);
    }
    return status ? status : set_frequency(output, first, error);
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
    static const char *const columns[2][7] = {
        {"force_x", "force_y", "torque", NULL},
        {"force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z", NULL}};
    force_output *output = (force_output *)base;
    const sel_status status = sel_record_open(base, SERIES, &output->record, error);
    if (status) {
        return status;
    }
    output->to_coefficient = force_coefficient(base->context);
    for (const char *const *column = columns[base->context->domain->grid.dims == 3]; *column;
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
    .check = force_check,
    .open = force_open,
    .take = force_take,
    .keep = force_keep,
    .conclude = force_conclude,
};
