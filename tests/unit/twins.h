/* twins.h -- one flow on two backends, step by step, for the tests that compare them. */
#ifndef TWINS_H
#define TWINS_H

#include "tests/unit/compare.h"
#include "engine/run/prepare.h"

typedef struct twins {
    script_case script;
    sel_prepared side[2];
    sel_state *state[2];
    bool failed;     /* nothing more can be compared */
    double velocity; /* the largest seen, user's units */
    int notices;     /* functions that Lua evaluates */
    sel_error error;
} twins;

static inline const sel_backend *twin_backend(const twins *t, int k) {
    return t->side[k].backend;
}

static inline const lbm_plan *twins_plan(const twins *t) {
    return (const lbm_plan *)t->side[0].plan;
}

static inline int twins_precision(const twins *t) {
    return t->side[0].plan->precision;
}

static inline tolerance twins_tolerance(const twins *t, bool of_differences) {
    return tolerance_of(twins_precision(t), of_differences);
}

/* Notes a failure of one backend; true when there is none. */
static inline bool twin_worked(twins *t, int k, const char *what, sel_status status) {
    if (status) {
        disagree("%s failed on %s twin %d: %s", what,
                 twin_backend(t, k) ? twin_backend(t, k)->name : "the backend of", k,
                 t->error.text);
        t->failed = true;
    }
    return !status;
}

static inline void twins_notice(void *data, const char *text) {
    (void)text;
    ++*(int *)data;
}

/* Prepares both sides of the scenario `text`; `balance`: as if an output asked for it. */
static inline void twins_open_on(twins *t, const char *text, const int backends[2], bool balance) {
    memset(t, 0, sizeof *t);
    t->script.options.notice = twins_notice;
    t->script.options.notice_data = &t->notices;
    if (script_load(&t->script, text)) {
        disagree("the script is refused: %s", t->script.error.text);
        t->failed = true;
        return;
    }
    for (int k = 0; k < 2 && !t->failed; k++) {
        const sel_settings settings = {.precision = -1, .backend = backends[k], .threads = 1 + k};
        sel_status status =
            sel_prepare(t->script.scenario->simulations, &settings, &t->side[k], &t->error);
        if (twin_worked(t, k, "preparing", status)) {
            t->side[k].plan->wants_balance = balance;
            t->side[k].plan->wants_fields = ~0u;
            t->side[k].plan->wants_links = t->side[k].plan->wants_forces = true;
            status = twin_backend(t, k)->create(t->side[k].plan, &t->state[k], &t->error);
            twin_worked(t, k, "creating", status);
        }
    }
    t->velocity = t->failed ? 0 : lbm_find_extremes(twins_plan(t)).velocity;
}

static inline void twins_open(twins *t, const char *text) {
    twins_open_on(t, text, (const int[2]){SEL_BACKEND_CPU, comparison.second_backend}, true);
}

static inline void twins_close(twins *t) {
    for (int k = 0; k < 2; k++) {
        if (t->state[k]) {
            twin_backend(t, k)->destroy(t->state[k]);
        }
        sel_prepared_release(&t->side[k]);
    }
    script_done(&t->script);
}

static inline void twins_advance(twins *t, int64_t steps) {
    for (int k = 0; k < 2 && !t->failed; k++) {
        sel_status status = twin_backend(t, k)->advance(t->state[k], steps, true, &t->error);
        twin_worked(t, k, "advancing", status);
    }
}

/* The value of a control from the next step on. */
static inline void twins_control(twins *t, int control, double value) {
    for (int k = 0; k < 2 && !t->failed; k++) {
        t->side[k].domain->control_values[control] = value;
    }
}

/* Starts, and finishes, a request on both sides; those of `requests` belong to them. */
static inline void twins_start(twins *t, sel_request requests[2]) {
    for (int k = 0; k < 2 && !t->failed; k++) {
        sel_status status = twin_backend(t, k)->start(t->state[k], &requests[k], &t->error);
        twin_worked(t, k, "starting a request", status);
    }
}

static inline void twins_finish(twins *t, sel_request requests[2]) {
    for (int k = 0; k < 2 && !t->failed; k++) {
        sel_status status = twin_backend(t, k)->finish(t->state[k], &requests[k], &t->error);
        twin_worked(t, k, "finishing a request", status);
    }
}

/* A read of both sides: of a box, or a list of cells. */
typedef struct twin_read {
    sel_request request[2];
    int field, components, own; /* own: components that the field has */
    int64_t n[3];
    double *value[2];
} twin_read;

static inline void twin_read_open(const twins *t, twin_read *r, int field, int components,
                                  const sel_box *box, const int64_t *cells, int64_t count,
                                  int precision) {
    const int dims = t->side[0].domain->grid.dims;
    int own = sel_field_components(&lbm_solver.fields[field], dims);
    *r = (twin_read){.field = field, .components = components ? components : own, .own = own};
    for (int a = 0; a < 3; a++) {
        r->n[a] = cells ? (a == 0 ? count : 1) : sel_box_count(box, a);
    }
    for (int k = 0; k < 2; k++) {
        r->value[k] = calloc((size_t)(r->n[0] * r->n[1] * r->n[2] * r->components), sizeof(double));
        memset(r->value[k], 0x55,
               (size_t)(r->n[0] * r->n[1] * r->n[2] * r->components) * sizeof(double));
        r->request[k] = (sel_request){.kind = SEL_READ,
                                      .field = field,
                                      .box = *box,
                                      .cells = cells,
                                      .cell_count = count,
                                      .precision = precision,
                                      .components = r->components,
                                      .to = r->value[k]};
    }
}

/* Numbers of 4 bytes become numbers of 8 where they stand. */
static inline void twin_read_widen(twin_read *r) {
    size_t numbers = (size_t)(r->n[0] * r->n[1] * r->n[2] * r->components);
    for (int k = 0; k < 2 && r->request[k].precision == SEL_F32; k++) {
        float *narrow = malloc(numbers * sizeof *narrow);
        memcpy(narrow, r->value[k], numbers * sizeof *narrow);
        for (size_t i = 0; i < numbers; i++) {
            r->value[k][i] = (double)narrow[i];
        }
        free(narrow);
    }
}

static inline void twin_read_compare(const twins *t, twin_read *r) {
    const char *name = lbm_solver.fields[r->field].name;
    const lbm_plan *plan = twins_plan(t);
    tolerance allowed = twins_tolerance(t, is_of_differences(r->field));
    if (!t->failed) {
        twin_read_widen(r);
        if (r->request[0].precision == SEL_F32) { /* half a digit of what was stored */
            allowed.relative += 1e-7;
        }
        compare_field(name, r->value[0], r->value[1], r->n, r->components, allowed,
                      field_scale(plan, r->field, t->velocity));
    }
    free(r->value[0]);
    free(r->value[1]);
}

/* Compares all fields of the present state at all cells; notes the largest velocity first. */
static inline void twins_compare_fields(twins *t) {
    if (t->failed) {
        return;
    }
    const sel_box box = sel_grid_box(&t->side[0].domain->grid);
    twin_read all[LBM_FIELDS];
    for (int f = 0; f < LBM_FIELDS; f++) {
        twin_read_open(t, &all[f], f, 0, &box, NULL, 0, SEL_F64);
        twins_start(t, all[f].request);
    }
    for (int f = 0; f < LBM_FIELDS; f++) {
        twins_finish(t, all[f].request);
    }
    for (int64_t i = 0; i < sel_grid_cells(&t->side[0].domain->grid) && !t->failed; i++) {
        t->velocity = fmax(t->velocity, all[LBM_SPEED].value[0][i]);
    }
    for (int f = 0; f < LBM_FIELDS; f++) {
        twin_read_compare(t, &all[f]);
    }
}

#endif
