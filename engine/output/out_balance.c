/* out_balance.c -- out.balance: the solver's own balance, term by term, as CSV. */
#include "engine/output/kind.h"

static const sel_field fields[] = {SEL_OUT_COMMON_ROWS};

const sel_table sel_out_balance_table = SEL_TABLE(
    "out.balance", sel_out_balance, fields,
    "The balance of what the solver conserves (mass, water), as NAME.csv with step,time and a "
    "column per term. The last values are also in the results of run.json, as NAME.TERM.");

typedef struct balance_output {
    sel_output base;
    sel_term terms[SEL_MAX_TERMS];
} balance_output;

static sel_status balance_ask(sel_output *base, sel_error *error) {
    const sel_request request = {.kind = SEL_BALANCE, .terms = ((balance_output *)base)->terms};
    return sel_requests_add(&base->requests, &request, error);
}

/* The terms' names are those of the present state. */
static sel_status balance_open(sel_output *base, sel_error *error) {
    sel_status status = balance_ask(base, error);
    status = status ? status : sel_output_requests(base->context, &base->requests, error);
    for (int i = 0; !status && i < base->requests.v[0].term_count; i++) {
        sel_csv_text(base->csv, base->requests.v[0].terms[i].name);
    }
    return status;
}

static sel_status balance_take(sel_output *base, sel_error *error) {
    const sel_request *answer = &base->requests.v[0];
    sel_status status = SEL_OK;
    for (int i = 0; i < answer->term_count && !status; i++) {
        sel_csv_number(base->csv, answer->terms[i].value);
        status = sel_output_result(base, answer->terms[i].name, answer->terms[i].value, error);
    }
    return status;
}

/* Rates are means since the solver was last asked, which only one output may do. */
const sel_output_kind sel_balance_kind = {
    .table = &sel_out_balance_table,
    .size = sizeof(balance_output),
    .period = SEL_CSV_PERIOD,
    .once = true,
    .rows = true,
    .open = balance_open,
    .ask = balance_ask,
    .take = balance_take,
};
