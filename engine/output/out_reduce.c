/* out_reduce.c -- out.reduce: sums, means and extremes of fields over free cells, as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/output/kind.h"

const char *const sel_reduce_ops[] = {"sum", "min", "max", "mean", "l2", NULL};

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_reduce, field, NAMES,
            "Fields of the results (see sel.lbm, sel.aqua), or components such as velocity_x; "
            "vectors by component.",
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_out_reduce, op, CHOICE, "What is made of the values; l2 is the root mean square.",
            .flags = SEL_REQUIRED, .choices = sel_reduce_ops),
    SEL_ROW(sel_out_reduce, within, SHAPE,
            "A shape.box: only cells whose centres lie in it count; all cells when not given."),
};

const sel_table sel_out_reduce_table = SEL_TABLE(
    "out.reduce", sel_out_reduce, fields,
    "One number per field over all cells that are not solid, as NAME.csv with step,time,values. "
    "The last values are also in the results of run.json, as NAME.FIELD.");

typedef struct reduce_output {
    const sel_output_context *context;
    const char *name;
    sel_picks picks;
    int op;
    sel_box box;
    sel_csv *csv;
} reduce_output;

static bool holds_free_cell(const sel_domain *domain, const sel_box *box) {
    int64_t at[3];
    for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2]++) {
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1]++) {
            for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0]++) {
                if (domain->cell[sel_cell_number(&domain->grid, at)] == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

static sel_status reduce_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_reduce *reduce = params;
    sel_status status = sel_picks_check(site, &reduce->field, error);
    sel_status within = sel_within_check(site, "within", reduce->within, error);
    if (within != SEL_OK) {
        return within;
    }
    sel_box box = sel_within_box(&site->domain->grid, reduce->within);
    if (!holds_free_cell(site->domain, &box)) {
        return sel_fail_at(error, site->where, "out.reduce: all cells %s are solid",
                           reduce->within ? "of the box" : "of the domain");
    }
    return status;
}

double sel_reduce_value(const sel_request *request, int op, int c) {
    double count = (double)request->count;
    switch (op) {
    case SEL_OP_SUM:
        return request->sum[c];
    case SEL_OP_MIN:
        return request->min[c];
    case SEL_OP_MAX:
        return request->max[c];
    case SEL_OP_MEAN:
        return request->sum[c] / count;
    default:
        return sqrt(request->sum_of_squares[c] / count);
    }
}

static sel_status reduce_ask(void *self, int64_t step, double time, sel_requests *requests,
                             sel_error *error) {
    (void)step, (void)time;
    const reduce_output *output = self;
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        const sel_request request = {.kind = SEL_REDUCE,
                                     .field = pick->field,
                                     .box = output->box,
                                     .components = pick->field_components};
        status = sel_requests_add(requests, &request, error);
    }
    return status;
}

static sel_status write_pick(reduce_output *output, const sel_pick *pick, const sel_request *answer,
                             sel_error *error) {
    sel_status status = SEL_OK;
    for (int c = 0; c < sel_pick_components(pick) && status == SEL_OK; c++) {
        double value = sel_reduce_value(answer, output->op, sel_pick_component(pick, c));
        char column[SEL_COLUMN_ROOM];
        sel_pick_column(pick, c, column);
        sel_csv_number(output->csv, value);
        status = sel_output_result(output->context, output->name, column, value, error);
    }
    return status;
}

static sel_status reduce_take(void *self, int64_t step, double time, const sel_requests *answers,
                              sel_error *error) {
    reduce_output *output = self;
    sel_output_row(output->csv, step, time);
    for (int i = 0; i < output->picks.count; i++) {
        sel_status status = write_pick(output, &output->picks.v[i], &answers->v[i], error);
        if (status != SEL_OK) {
            return status;
        }
    }
    sel_csv_end_line(output->csv);
    return sel_csv_flush(output->csv, error);
}

static void reduce_close(void *self) {
    reduce_output *output = self;
    sel_csv_close(output->csv);
    free(output->picks.v);
    free(output);
}

static sel_status reduce_open(const sel_output_context *context, const void *params,
                              const char *name, sel_output_files *files, void **self,
                              sel_error *error) {
    const sel_out_reduce *reduce = params;
    reduce_output *output = calloc(1, sizeof *output);
    if (!output) {
        return sel_fail_memory(error, "an output", sizeof *output);
    }
    output->context = context;
    output->name = name;
    output->op = reduce->op;
    output->box = sel_within_box(&context->domain->grid, reduce->within);
    sel_status status = sel_picks_make(context, &reduce->field, &output->picks, error);
    status = status ? status : sel_output_csv(context, name, files, &output->csv, error);
    if (status == SEL_OK) {
        sel_picks_columns(&output->picks, 0, output->csv);
        sel_csv_end_line(output->csv);
        status = sel_csv_flush(output->csv, error);
    }
    if (status != SEL_OK) {
        reduce_close(output);
        return status;
    }
    *self = output;
    return SEL_OK;
}

const sel_output_kind sel_reduce_kind = {
    .table = &sel_out_reduce_table,
    .period = SEL_CSV_PERIOD,
    .check = reduce_check,
    .open = reduce_open,
    .ask = reduce_ask,
    .take = reduce_take,
    .close = reduce_close,
};
