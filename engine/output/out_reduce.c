/* out_reduce.c -- out.reduce: sums, means and extremes of fields over free cells, as CSV; and
 * out.balance: the solver's balance of the conserved quantity, a column per term, as CSV.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/output/picture.h"

/* ---- out.reduce ---- */

const char *const sel_reduce_ops[] = {"sum", "min", "max", "mean", "l2", NULL};

static const sel_table_field reduce_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_reduce_params, field, NAMES,
            "Fields of the results (listed with each solver), or components such as velocity_x; "
            "vectors by component.",
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_reduce_params, op, CHOICE,
            "How the values are combined; l2 is the root mean square. A NaN in any cell "
            "makes the result NaN.",
            .flags = SEL_REQUIRED, .choices = sel_reduce_ops),
    SEL_ROW(sel_reduce_params, within, SHAPE,
            "A shape.box: only cells whose centres lie in it count; all cells when not given."),
};

const sel_table sel_out_reduce_table = SEL_TABLE(
    "out.reduce", sel_reduce_params, reduce_fields,
    "One number per field over all cells that are not solid, as NAME.csv with step,time,values. "
    "The last values are also in the results of run.json, as NAME.FIELD.");

static void reduce_check(sel_output_checker *checker, const void *params) {
    static const char *const others[] = {"step", "time", NULL};
    const sel_reduce_params *reduce = params;
    sel_free_within_check(checker, reduce->within);
    sel_columns_check(checker, &reduce->field, false, others);
}

double sel_reduce_value(const sel_request *request, int op, int c) {
    double count = (double)request->count;
    switch (op) {
    case SEL_OF_SUM:
        return request->sum[c];
    case SEL_OF_MIN:
        return request->min[c];
    case SEL_OF_MAX:
        return request->max[c];
    case SEL_OF_MEAN:
        return request->sum[c] / count;
    default:
        return sqrt(request->sum_of_squares[c] / count);
    }
}

static sel_status reduce_open(sel_output *output, sel_error *error) {
    const sel_reduce_params *params = output->params;
    sel_status status = SEL_OK;
    sel_picks_columns(&output->picks, 0, output->csv);
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        const sel_request request = {
            .kind = SEL_REDUCE,
            .field = pick->field,
            .box = sel_within_box(&output->context->domain->grid, params->within),
            .components = pick->field_components};
        status = sel_output_request(output, &request, error);
    }
    return status;
}

static sel_status reduce_take(sel_output *output, sel_error *error) {
    const int op = ((const sel_reduce_params *)output->params)->op;
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count; i++) {
        const sel_pick *pick = &output->picks.v[i];
        for (int c = 0; c < pick->components && !status; c++) {
            double value = sel_reduce_value(&output->requests.v[i], op, pick->first + c);
            sel_csv_number(output->csv, value);
            status = sel_output_result(output, pick->columns[c], value, error);
        }
    }
    return status;
}

const sel_output_kind sel_reduce_kind = {
    .table = &sel_out_reduce_table,
    .size = sizeof(sel_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .check = reduce_check,
    .open = reduce_open,
    .take = reduce_take,
};

/* ---- out.balance ---- */

static const sel_table_field balance_fields[] = {SEL_OUT_COMMON_ROWS};

const sel_table sel_out_balance_table =
    SEL_TABLE("out.balance", sel_balance_params, balance_fields,
              "The balance of what the solver conserves (mass, water, heat), as NAME.csv "
              "with step,time and a column per term. The last values are also in the results "
              "of run.json, as NAME.TERM. `error` is the amount that appeared from nowhere, "
              "divided by the largest of the inflow, the outflow, the sources and the change "
              "of the amount in the domain: magnitudes, summed over the rows; of a flow, in which "
              "what enters and leaves through one region cancels, by its mass if they are no more "
              "than the round-off of it. If nothing "
              "came in, went out or came from sources, it is not divided, and has the unit "
              "of the conserved amount. For sel.poisson the residuals of all rows are drawn "
              "over the iterations, as NAME.png.");

typedef struct balance_output {
    sel_output base;
    sel_term terms[SEL_MAX_TERMS];
    double before[SEL_MAX_TERMS]; /* values at the previous row, at first those of step 0 */
    int count;
    bool has_error;        /* a term is the error of the balance */
    sel_turnover turnover; /* inflow, outflow, sources and changes, summed over the rows */
    double error;          /* amount that appeared from nowhere, summed over the rows */
    sel_record residuals;  /* steps and residuals of an iterative solver */
} balance_output;

enum { STEP, RESIDUAL, SERIES };

static bool has_residuals(const sel_output *base) {
    return base->context->solver->iterates;
}

/* The names of the terms are known only once a state has answered. */
static sel_status balance_open(sel_output *base, sel_error *error) {
    balance_output *output = (balance_output *)base;
    const sel_request request = {.kind = SEL_BALANCE, .terms = output->terms};
    sel_status status = sel_output_request(base, &request, error);
    status = status ? status : sel_output_answer(base, error);
    for (int i = 0; !status && i < base->requests.v[0].term_count; i++) {
        sel_csv_text(base->csv, base->requests.v[0].terms[i].name);
        output->before[output->count++] = output->terms[i].value;
        output->has_error |= output->terms[i].kind == SEL_TERM_ERROR;
    }
    return status || !has_residuals(base)
               ? status
               : sel_record_open(base, SERIES, &((balance_output *)base)->residuals, error);
}

/* Adds a row to the turnover. Terms that are running totals are added by their difference to the
 * previous row. The error of a solver with totals is itself a total; that of a solver with
 * balance_of_step is summed here. An iterative solver has no history: only the present row counts.
 */
static void balance_add(balance_output *output, const sel_request *answer) {
    const sel_solver *solver = output->base.context->solver;
    const sel_turnover *now = &answer->turnover;
    sel_turnover *all = &output->turnover;
    if (solver->iterates) {
        *all = (sel_turnover){0};
    }
    all->in += now->in;
    all->out += now->out;
    all->source += now->source;
    all->change += now->change;
    for (int i = 0; i < answer->term_count; i++) {
        const sel_term *term = &answer->terms[i];
        const double more = i < output->count ? term->value - output->before[i] : 0;
        if (term->kind == SEL_TERM_IN || term->kind == SEL_TERM_OUT) {
            *((term->kind == SEL_TERM_IN) == (more > 0) ? &all->in : &all->out) += fabs(more);
        } else if (term->kind == SEL_TERM_CONTENT) {
            all->change += fabs(more);
        } else if (term->kind == SEL_TERM_ERROR) {
            output->error = term->value + (solver->balance_of_step ? output->error : 0);
        }
        output->before[i] = term->value;
    }
    output->count = answer->term_count;
}

/* What flows in and out through one region cancels, so the turnover of a steady stream may be
 * nothing but the round-off of the amount: this part of it after the present step. */
static double round_off(const sel_output *base) {
    const double one = base->context->plan->precision == SEL_F32 ? 0x1p-23 : 0x1p-52;
    return one * (64 + (double)base->step / 64);
}

/* The error relative to the turnover, or to the amount if the turnover is its round-off; the
 * absolute error if nothing came in, went out or came from sources. */
static double balance_error(const balance_output *output, const sel_request *answer) {
    const sel_turnover *all = &output->turnover;
    const double made = fmax(all->source, fmax(all->in, all->out));
    double amount = 0;
    for (int i = 0; i < answer->term_count && output->base.context->solver->sound; i++) {
        const sel_term *term = &answer->terms[i];
        amount += term->kind == SEL_TERM_CONTENT ? fabs(term->value) : 0;
    }
    const double turnover = fmax(made, all->change);
    const double scale = turnover > round_off(&output->base) * amount ? turnover : amount;
    return made > 0 ? output->error / scale : output->error;
}

static sel_status balance_take(sel_output *base, sel_error *error) {
    const sel_request *answer = &base->requests.v[0];
    sel_status status = SEL_OK;
    balance_add((balance_output *)base, answer);
    for (int i = 0; i < answer->term_count && !status; i++) {
        const sel_term *term = &answer->terms[i];
        const double value = term->kind == SEL_TERM_ERROR
                                 ? balance_error((balance_output *)base, answer)
                                 : term->value;
        sel_csv_number(base->csv, value);
        status = sel_output_result(base, term->name, value, error);
    }
    if (has_residuals(base)) { /* the residual is the first term */
        sel_record_add(&((balance_output *)base)->residuals,
                       (double[SERIES]){(double)base->step, answer->terms[0].value});
    }
    return status;
}

/* Checkpoints of runs without an error term hold no turnover. */
static void balance_keep(sel_output *base, sel_checkpoint *checkpoint) {
    balance_output *output = (balance_output *)base;
    if (has_residuals(base)) {
        sel_record_keep(&output->residuals, checkpoint);
    } else if (output->has_error && (!checkpoint->loads || checkpoint->left > 0)) {
        double before[SEL_MAX_TERMS];
        int count = output->count;
        memcpy(before, output->before, sizeof before);
        SEL_KEEP(checkpoint, output->turnover);
        SEL_KEEP(checkpoint, output->error);
        SEL_KEEP(checkpoint, count);
        count = count < 0 || count > SEL_MAX_TERMS ? 0 : count;
        sel_keep(checkpoint, before, (size_t)count * sizeof *before);
        if (count == output->count) { /* else the regions have changed, and so have the terms */
            memcpy(output->before, before, sizeof before);
        }
    }
}

static sel_status balance_conclude(sel_output *base, sel_error *error) {
    char path[SEL_PATH_ROOM];
    if (!has_residuals(base)) {
        return SEL_OK;
    }
    snprintf(path, sizeof path, "%s/%s.png", base->context->directory, base->name);
    const sel_status status = sel_output_files_add(base->files, NULL, base->name, ".png", error);
    return status ? status
                  : sel_curve_draw(&((balance_output *)base)->residuals, "residual", path, error);
}

/* Rates are means since the previous request, so only one output may make requests: `once`. */
const sel_output_kind sel_balance_kind = {
    .table = &sel_out_balance_table,
    .size = sizeof(balance_output),
    .period = SEL_CSV_PERIOD,
    .once = true,
    .rows = true,
    .open = balance_open,
    .take = balance_take,
    .keep = balance_keep,
    .conclude = balance_conclude,
};
