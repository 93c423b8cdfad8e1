/* rule_audit.c -- rules on single cells, in the precision of the run and in double.
 *
 * Each rule is taken by itself, on the values at a test: what an earlier rule of the step would
 * write first is taken as the step before left it. That changes little of what rounding does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/philox.h"
#include "engine/solvers/rule/rule.h"

enum {
    MOST_OFFSETS = (2 * SEL_MOST_REACH + 1) * (2 * SEL_MOST_REACH + 1) * (2 * SEL_MOST_REACH + 1)
};

/* A real field that a rule computes from its own values: what others lose does not add up. */
typedef struct rule_audited {
    const rule_function *f;
    int field, output, wide_output; /* of the programs */
    const sel_program *wide;        /* in double precision */
} rule_audited;

typedef struct rule_audit {
    sel_audited of;
    sel_audit_reads reads;
    int offsets, at[MOST_OFFSETS][3]; /* of the cells that rules read; the first is the cell */
    int row_of[SEL_MOST_CELL_FIELDS]; /* by entry: in reads.field; -1: it is not read */
    int count;
    rule_audited v[SEL_MOST_CELL_FIELDS];
    double *fixed, *own; /* slots */
} rule_audit;

/* ---- what is audited ---- */

/* Whether the value that a rule gives a field depends on values of that field. */
static bool adds_up(const sel_rule *rule, int field) {
    bool *needed = calloc((size_t)rule->nodes + 1, sizeof *needed), own = false;
    for (int o = 0; o < rule->outputs && needed; o++) {
        needed[rule->output[o].node] |= rule->output[o].field == field;
    }
    for (int n = rule->nodes - 1; n >= 0 && needed; n--) {
        const sel_rule_node *node = &rule->node[n];
        own = own || (needed[n] && node->op == SEL_RULE_READ && node->field == field);
        for (int k = 0; k < sel_rule_operands(node); k++) {
            needed[node->operand[k]] |= needed[n];
        }
    }
    free(needed);
    return own;
}

/* Data that vary in time are evaluated, with the laws, before any are read. */
static bool data_are_pure(const rule_plan *plan) {
    const rule_model *m = plan->model;
    const unsigned varies = SEL_ON_T | SEL_ON_CONTROLS;
    bool pure = true;
    for (int e = m->states; e < m->entries; e++) {
        const sel_quantity *data = m->entry[e].value;
        pure = pure && (!(sel_quantity_depends(data) & varies) || sel_quantity_is_pure(data));
    }
    for (int k = 0; k < plan->base.domain->region_count * m->entries; k++) {
        const rule_law *law = rule_law_value(plan, 1 + k / m->entries, k % m->entries);
        pure = pure && (!law || !(sel_quantity_depends(&law->value) & varies) ||
                        sel_quantity_is_pure(&law->value));
    }
    return pure;
}

static bool reads_data(const rule_model *m, const rule_function *f) {
    const int first = m->states < m->entries ? m->entry[m->states].first : m->fields;
    return first < SEL_MOST_CELL_FIELDS && f->reads >> first;
}

static int output_of(const sel_program *program, int field) {
    int k = 0;
    while (program->tables.output[k].field != field) {
        k++;
    }
    return k;
}

static void add_function(rule_audit *audit, const rule_plan *plan, const rule_function *f) {
    const rule_model *m = plan->model;
    const sel_program_form form = {.field = m->field};
    const sel_program *wide = NULL;
    for (int field = 0; field < m->fields && audit->count < SEL_MOST_CELL_FIELDS; field++) {
        if (!((f->writes & m->reals) >> field & 1) || !adds_up(f->rule, field)) {
            continue;
        }
        wide = wide ? wide : sel_program_compile(f->rule, &form, m->arena);
        if (!wide) { /* too long: it is left out */
            return;
        }
        audit->v[audit->count++] =
            (rule_audited){f, field, output_of(f->code, field), output_of(wide, field), wide};
    }
}

/* ---- what it reads ---- */

static int offset_of(const rule_audit *audit, const int32_t at[3]) {
    int k = 0;
    while (k < audit->offsets &&
           (audit->at[k][0] != at[0] || audit->at[k][1] != at[1] || audit->at[k][2] != at[2])) {
        k++;
    }
    return k;
}

static void rule_audit_add_entry(rule_audit *audit, int entry) {
    if (audit->row_of[entry] < 0) {
        audit->row_of[entry] = audit->reads.fields;
        audit->reads.field[audit->reads.fields++] = entry;
    }
}

static void add_reads(rule_audit *audit, const rule_model *m, const sel_program *program) {
    for (int r = 0; r < program->layout.reads; r++) {
        const sel_read *read = &program->tables.read[r];
        const int k = offset_of(audit, read->at);
        if (k == audit->offsets) {
            audit->offsets++;
            for (int a = 0; a < 3; a++) {
                audit->at[k][a] = read->at[a];
            }
        }
        rule_audit_add_entry(audit, m->entry_of[read->field]);
    }
}

/* The cell `at` further; -1: beyond a face. */
static int64_t cell_at(const sel_grid *grid, int64_t cell, const int at[3]) {
    int64_t place[3];
    sel_cell_at(grid, cell, place);
    for (int a = 0; a < 3; a++) {
        place[a] += at[a];
        if (sel_axis_periodic(grid, a)) {
            place[a] = (place[a] + 2 * grid->n[a]) % grid->n[a];
        }
        if (place[a] < 0 || place[a] >= grid->n[a]) {
            return -1;
        }
    }
    return sel_cell_number(grid, place);
}

/* Whether all cells that are read about a cell have values of their own: no law gives them. */
static bool rule_audit_fits(const void *of, int64_t cell) {
    const rule_plan *plan = of;
    const sel_domain *domain = plan->base.domain;
    bool free = true;
    for (int k = 0; k < plan->audit->offsets && free; k++) {
        const int64_t other = cell_at(&domain->grid, cell, plan->audit->at[k]);
        free = other >= 0 && domain->cell[other] == 0;
    }
    return free;
}

static sel_status rule_audit_list_reads(rule_audit *audit, const rule_plan *plan,
                                        sel_error *error) {
    const rule_model *m = plan->model;
    int fixed = 0, own = 0;
    memset(audit->row_of, -1, sizeof audit->row_of);
    audit->offsets = 1;
    for (int k = 0; k < audit->count; k++) {
        const rule_audited *v = &audit->v[k];
        const sel_packed_program *narrow = &v->f->code->layout, *wide = &v->wide->layout;
        add_reads(audit, m, v->f->code);
        add_reads(audit, m, v->wide);
        rule_audit_add_entry(audit, m->entry_of[v->field]);
        fixed = narrow->fixed > fixed ? narrow->fixed : fixed;
        fixed = wide->fixed > fixed ? wide->fixed : fixed;
        own = narrow->fixed + narrow->own > own ? narrow->fixed + narrow->own : own;
        own = wide->fixed + wide->own > own ? wide->fixed + wide->own : own;
    }
    sel_audited_draw(plan->base.domain, (uint64_t)m->params->seed, rule_audit_fits, plan,
                     &audit->of);
    const size_t cells = (size_t)(audit->of.count * audit->offsets);
    audit->reads.cell = malloc((cells + 1) * sizeof *audit->reads.cell);
    audit->fixed = calloc((size_t)fixed + 1, sizeof *audit->fixed);
    audit->own = calloc((size_t)own + 1, sizeof *audit->own);
    if (!audit->reads.cell || !audit->fixed || !audit->own) {
        return sel_fail_memory(error, "the audit", cells * sizeof *audit->reads.cell);
    }
    for (int i = 0; i < audit->of.count; i++) {
        for (int k = 0; k < audit->offsets; k++) {
            audit->reads.cell[audit->reads.cells++] =
                cell_at(&plan->base.domain->grid, audit->of.cell[i], audit->at[k]);
        }
    }
    return SEL_OK;
}

sel_status rule_audit_find(rule_plan *plan, sel_error *error) {
    const rule_model *m = plan->model;
    if (m->precision != SEL_F32) {
        return SEL_OK;
    }
    rule_audit *audit = plan->audit = calloc(1, sizeof *audit);
    if (!audit) {
        return sel_fail_memory(error, "the audit", sizeof *audit);
    }
    const bool pure = data_are_pure(plan);
    for (int k = 0; k < m->rules; k++) {
        const rule_function *f = &m->function[k];
        if (f->rule && (pure || !reads_data(m, f))) {
            add_function(audit, plan, f);
        }
    }
    return audit->count > 0 ? rule_audit_list_reads(audit, plan, error) : SEL_OK;
}

void rule_audit_clear(rule_plan *plan) {
    if (plan->audit) {
        free(plan->audit->reads.cell);
        free(plan->audit->fixed);
        free(plan->audit->own);
        free(plan->audit);
    }
}

const sel_audit_reads *rule_audit_reads(const sel_plan *base) {
    const rule_audit *audit = ((const rule_plan *)base)->audit;
    return audit && audit->of.count > 0 ? &audit->reads : NULL;
}

/* ---- steps ---- */

/* A cell of the audit, with the values of its neighbourhood. Evaluations may perturb the values: by
 * random last digits of f32, or one field by a constant. */
typedef struct place {
    const rule_plan *plan;
    const double *const *values;
    int number;
    int64_t cell, step;
    int trial;    /* number of the perturbation by last digits; 0: none */
    int shifted;  /* index of the field to whose values `shift` is added */
    double shift; /* 0: nothing is added */
} place;

enum { TRIALS = 4 };

static double rule_audit_value_of(const place *p, int field, int offset) {
    const rule_model *m = p->plan->model;
    const rule_audit *audit = p->plan->audit;
    const int e = m->entry_of[field];
    const int64_t at = (int64_t)p->number * audit->offsets + offset;
    const double value =
        p->values[audit->row_of[e]][at * m->entry[e].components + field - m->entry[e].first];
    if (p->trial && m->reals >> field & 1) {
        const double digits = sel_philox((uint64_t)field, at, p->trial, 0) * 0x1p-31 - 1;
        return value * (1 + digits * 0x1p-24);
    }
    return value + (field == p->shifted ? p->shift : 0);
}

/* An output of a program; false: only Lua can compute it. */
static bool rule_audit_evaluate(const place *p, const sel_program *program, int output,
                                double *to) {
    const rule_audit *audit = p->plan->audit;
    const sel_packed *tables = &program->tables;
    const sel_packed_program *l = &program->layout;
    const sel_packed_slots slots = {audit->own, audit->own, 0, 1};
    double centre[3];
    sel_cell_centre(&p->plan->base.domain->grid, p->cell, centre);
    for (int k = 0; k < l->uniforms; k++) {
        audit->own[k] = sel_number_as((int)program->uniform[k].type, audit->fixed[k]);
    }
    for (int k = 0; k < l->reads; k++) {
        const sel_read *read = &tables->read[k];
        audit->own[l->fixed + k] = rule_audit_value_of(p, read->field, offset_of(audit, read->at));
    }
    for (int k = l->once; k < l->once + l->each; k++) {
        const sel_instruction *o = &tables->code[k];
        if (o->op == SEL_RULE_RANDOM) {
            const int64_t number = (int64_t)audit->own[o->from[0]];
            audit->own[o->to] =
                sel_number_as(o->type, rule_random(p->plan, p->cell, p->step, number));
        } else {
            sel_packed_step(tables, l, k, centre, &slots);
        }
    }
    *to = sel_number_as(tables->output[output].type, audit->own[tables->output[output].slot]);
    return l->fails < 0 || audit->own[l->fails] == 0;
}

/* The change of a field in a cell; NaN: it is not known. */
static double change_of(const place *p, const rule_audited *v, bool wide) {
    const double before = rule_audit_value_of(p, v->field, 0);
    double after;
    const bool known = rule_audit_evaluate(p, wide ? v->wide : v->f->code,
                                           wide ? v->wide_output : v->output, &after);
    return !known ? (double)NAN : wide ? after - before : (double)(float)after - before;
}

static void begin_program(const place *p, const sel_program *program, const sel_clock *clock) {
    sel_packed_once(&program->tables, 0, sel_clock_time(clock, p->step), clock->dt,
                    p->plan->base.domain->control_values, p->plan->audit->fixed);
}

/* What becomes of the change in double precision when values change. */
static void try_others(place *p, const rule_audited *v, int i, sel_audit *found) {
    const double right = found->right[i], value = rule_audit_value_of(p, v->field, 0);
    for (p->trial = 1; p->trial <= TRIALS; p->trial++) {
        found->noise[i] = fmax(found->noise[i], fabs(change_of(p, v, true) - right));
    }
    p->trial = 0;
    p->shift = value == 0 ? 0 : fabs(value) * 0x1p-10;
    found->fades[i] = p->shift > 0 ? (right - change_of(p, v, true)) / p->shift : 0;
    p->shift = 0;
}

bool rule_audit_step(const sel_state *state, int64_t step, const double *const *values, int k,
                     sel_audit *found) {
    const rule_plan *plan = (const rule_plan *)state->plan;
    const rule_model *m = plan->model;
    const rule_audit *audit = plan->audit;
    if (k >= audit->count) {
        return false;
    }
    const rule_audited *v = &audit->v[k];
    const int entry = m->entry_of[v->field];
    place p = {.plan = plan, .values = values, .step = step, .shifted = v->field};
    *found = (sel_audit){.what = m->field[v->field].name,
                         .field = entry,
                         .component = v->field - m->entry[entry].first,
                         .count = audit->of.count};
    for (int wide = 0; wide < 2; wide++) {
        begin_program(&p, wide ? v->wide : v->f->code, &state->clock);
        for (int i = 0; i < found->count; i++) {
            p.number = i;
            p.cell = audit->of.cell[i];
            *(wide ? &found->right[i] : &found->change[i]) = change_of(&p, v, wide);
            if (wide && isfinite(found->right[i])) {
                try_others(&p, v, i, found);
            }
        }
    }
    return true;
}
