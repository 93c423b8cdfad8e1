/* out_balance.c -- out.balance: the solver's own balance, term by term, as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include "engine/output/kind.h"

static const sel_field fields[] = {SEL_OUT_COMMON_ROWS};

const sel_table sel_out_balance_table = SEL_TABLE(
    "out.balance", sel_out_balance, fields,
    "The balance of what the solver conserves (mass, water), as NAME.csv with step,time and a "
    "column per term. The last values are also in the results of run.json, as NAME.TERM.");

typedef struct balance_output {
    const sel_output_context *context;
    const char *name;
    sel_csv *csv;
    sel_term *terms; /* SEL_MAX_TERMS */
} balance_output;

/* Rates are means since the solver was last asked, which only one output may do. */
static sel_status balance_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_variant *first = site->simulation->params->output.v;
    while (first->table != &sel_out_balance_table) {
        first++;
    }
    if (first->data == params) {
        return SEL_OK;
    }
    return sel_fail_at(error, site->where, "out.balance: given twice; a run has one balance");
}

static sel_status balance_ask(void *self, int64_t step, double time, sel_requests *requests,
                              sel_error *error) {
    (void)step, (void)time;
    const balance_output *output = self;
    const sel_request request = {.kind = SEL_BALANCE, .terms = output->terms};
    return sel_requests_add(requests, &request, error);
}

static sel_status balance_take(void *self, int64_t step, double time, const sel_requests *answers,
                               sel_error *error) {
    balance_output *output = self;
    sel_status status = SEL_OK;
    sel_output_row(output->csv, step, time);
    for (int i = 0; i < answers->v[0].term_count && status == SEL_OK; i++) {
        const sel_term *term = &output->terms[i];
        sel_csv_number(output->csv, term->value);
        status = sel_output_result(output->context, output->name, term->name, term->value, error);
    }
    sel_csv_end_line(output->csv);
    return status ? status : sel_csv_flush(output->csv, error);
}

/* Behind step,time. The terms' names are those of the present state. */
static sel_status write_header(balance_output *output, sel_error *error) {
    sel_request request = {.kind = SEL_BALANCE, .terms = output->terms};
    sel_status status = sel_output_request(output->context, &request, error);
    if (status != SEL_OK) {
        return status;
    }
    for (int i = 0; i < request.term_count; i++) {
        sel_csv_text(output->csv, output->terms[i].name);
    }
    sel_csv_end_line(output->csv);
    return sel_csv_flush(output->csv, error);
}

static void balance_close(void *self) {
    balance_output *output = self;
    sel_csv_close(output->csv);
    free(output->terms);
    free(output);
}

static sel_status balance_open(const sel_output_context *context, const void *params,
                               const char *name, sel_output_files *files, void **self,
                               sel_error *error) {
    (void)params;
    balance_output *output = calloc(1, sizeof *output);
    sel_term *terms = calloc(SEL_MAX_TERMS, sizeof *terms);
    if (!output || !terms) {
        free(output);
        free(terms);
        return sel_fail_memory(error, "the terms of the balance", SEL_MAX_TERMS * sizeof *terms);
    }
    output->context = context;
    output->name = name;
    output->terms = terms;
    sel_status status = sel_output_csv(context, name, files, &output->csv, error);
    status = status ? status : write_header(output, error);
    if (status != SEL_OK) {
        balance_close(output);
        return status;
    }
    *self = output;
    return SEL_OK;
}

static void balance_wants(const void *params, sel_plan *plan) {
    (void)params;
    plan->wants_balance = true;
}

const sel_output_kind sel_balance_kind = {
    .table = &sel_out_balance_table,
    .period = SEL_CSV_PERIOD,
    .wants = balance_wants,
    .check = balance_check,
    .open = balance_open,
    .ask = balance_ask,
    .take = balance_take,
    .close = balance_close,
};
