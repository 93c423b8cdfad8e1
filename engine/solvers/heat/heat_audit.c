/* heat_audit.c -- explicit steps of single cells, in the precision of the run and in double. */
#include <math.h>
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/core/collectives.h"
#include "engine/solvers/heat/heat.h"

#define HEAT_FMA(a, b, c) ((a) * (b) + (c))
#define HEAT_NAME(name) SEL_OF_REAL(name)

#define REAL float
#include "engine/solvers/heat/heat_step.h"
#undef REAL

#define REAL double
#include "engine/solvers/heat/heat_step.h"

/* The cell beyond a face, or that by whose temperature heat_beside replaces it. */
static int64_t neighbour(const sel_grid *grid, int64_t cell, int face) {
    const int64_t beyond = sel_cell_beyond(grid, cell, face);
    return beyond >= 0 ? beyond : grid->nodes ? sel_cell_beyond(grid, cell, face ^ 1) : cell;
}

static void heat_audit_list_reads(heat_audit *audit, const sel_grid *grid) {
    audit->reads =
        (sel_audit_reads){.fields = 1, .field = {heat_solver.main_field}, .cell = audit->cell};
    for (int i = 0; i < audit->of.count; i++) {
        const int64_t cell = audit->of.cell[i];
        audit->cell[audit->reads.cells++] = cell;
        for (int face = 0; face < 2 * grid->dims; face++) {
            audit->cell[audit->reads.cells++] = neighbour(grid, cell, face);
        }
    }
}

void heat_audit_find(heat_plan *p) {
    const sel_domain *domain = p->base.domain;
    const int64_t nx = domain->grid.n[0];
    const sel_rows_range own = sel_domain_own(domain);
    heat_audit *audit = &p->audit;
    size_t end[SEL_MOST_RANKS];
    if (p->body.implicit > 0) { /* solved in double precision */
        return;
    }
    sel_audited_draw(domain, 0, NULL, NULL, &audit->of);
    heat_audit_list_reads(audit, &domain->grid);
    for (int i = 0; i < audit->of.count; i++) {
        const int64_t cell = audit->of.cell[i];
        heat_audit_cell *to = &audit->v[i];
        if (cell / nx < own.first || cell / nx >= own.end) {
            continue;
        }
        for (int face = 0; face < 2 * domain->grid.dims; face++) {
            to->g[face] = sel_conductance(&p->body.k, domain, cell, face);
        }
        to->capacity = sel_capacity_of(&p->body, cell);
    }
    for (int r = 0, i = 0; domain->ranks && r < domain->ranks->count; r++) {
        while (i < audit->of.count && audit->of.cell[i] / nx < domain->first_row[r + 1]) {
            i++;
        }
        end[r] = (size_t)i * sizeof *audit->v;
    }
    if (domain->ranks) {
        sel_ranks_share(domain->ranks, audit->v, end);
    }
}

const sel_audit_reads *heat_audit_reads(const sel_plan *base) {
    const heat_audit *audit = &((const heat_plan *)base)->audit;
    return base->precision == SEL_F32 && audit->of.count > 0 ? &audit->reads : NULL;
}

/* ---- what laws and the source bring in the step from `step` ---- */

/* Number k of an input, if it needs no Lua. */
static bool heat_audit_value_of(const sel_inputs *inputs, const sel_input *input, int64_t k,
                                int64_t step, double *to) {
    double place[3];
    sel_error unread = {.status = SEL_OK};
    return sel_quantity_is_pure(input->quantity) &&
           !sel_input_number(inputs, input, k, step, place, to, &unread);
}

/* The place of a site among those of its region. */
static int64_t order_of(const sel_surfaces *on, int64_t site) {
    const int region = on->site[site].region;
    int64_t low = on->first_of[region], high = on->first_of[region + 1];
    while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        low = on->order[middle] <= site ? middle : low;
        high = on->order[middle] <= site ? high : middle;
    }
    return low - on->first_of[region];
}

/* b and s of a cell; false: they are not known, or its temperature is given. */
static bool surfaces_of(const sel_state *state, int64_t cell, int64_t step, double *b, double *s) {
    const sel_inputs *inputs = state->plan->inputs;
    const sel_surfaces *on = &inputs->surfaces;
    const int64_t k = sel_surfaces_from(on, cell);
    *b = *s = 0;
    if (k == on->cells || on->cell[k] != cell) {
        return true;
    }
    const int64_t first = on->first_site[k], count = on->first_site[k + 1] - first;
    double value[COND_VALUES * SEL_FACES];
    for (int64_t i = 0; i < count; i++) {
        memcpy(value + COND_VALUES * i, inputs->value + COND_VALUES * (first + i),
               COND_VALUES * sizeof *value);
        for (int n = 0; n < inputs->count; n++) {
            const sel_input *input = &inputs->v[n];
            const bool varies =
                sel_quantity_depends(input->quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
            if (input->region == on->site[first + i].region && varies &&
                !heat_audit_value_of(inputs, input, order_of(on, first + i), step,
                                     &value[COND_VALUES * i + input->which])) {
                return false;
            }
        }
    }
    cond_surfaces(inputs->site + first, value, state->given.reference, 0, count,
                  inputs->domain->grid.dt, b, s);
    return !isinf(*b);
}

static bool source_of(const sel_state *state, int64_t cell, int64_t step, double *q) {
    const sel_inputs *inputs = state->plan->inputs;
    int64_t at[3];
    *q = 0;
    if (!inputs->has_source) {
        return true;
    }
    sel_cell_at(&inputs->domain->grid, cell, at);
    const bool known = heat_audit_value_of(inputs, &inputs->v[inputs->count - 1], cell, step, q);
    *q *= sel_part_inside(&inputs->domain->grid, at, -1);
    return known;
}

/* ---- steps ---- */

static void audit_cell(const heat_view *v, const heat_audit_cell *cell, const double *values,
                       const double given[3], double *change, double *right) {
    const double b = given[0], s = given[1], q = given[2], m = v->dt / cell->capacity;
    float t[6] = {0}, g[6] = {0}, r[3];
    double wide[6] = {0};
    const float here = (float)(values[0] - v->reference);
    const double before = (double)here;
    for (int k = 0; k < 2 * v->dims; k++) {
        t[k] = (float)(values[1 + k] - v->reference);
        wide[k] = (double)t[k];
        g[k] = (float)cell->g[k];
        r[k / 2] = (float)v->r[k / 2];
    }
    float next = heat_next_float(v->kind, v->dims, r, here, t, g, (float)m, (float)q);
    double true_next = heat_next_double(v->kind, v->dims, v->r, before, wide, cell->g, m, q);
    next = heat_touched_float(here, next, (float)b, (float)s);
    true_next = heat_touched_double(before, true_next, b, s);
    *change = (double)next - before;
    *right = true_next - before;
}

bool heat_audit_step(const sel_state *state, int64_t step, const double *const *values, int k,
                     sel_audit *found) {
    const heat_plan *p = heat_plan_for(state);
    const heat_view v = sel_conduction_view(state, step);
    *found = (sel_audit){.what = heat_solver.fields[heat_solver.main_field].name,
                         .field = heat_solver.main_field,
                         .count = p->audit.of.count};
    for (int i = 0; i < found->count && k == 0; i++) {
        const int64_t cell = p->audit.of.cell[i];
        double given[3];
        found->change[i] = found->right[i] = (double)NAN;
        if (surfaces_of(state, cell, step, &given[0], &given[1]) &&
            source_of(state, cell, step, &given[2])) {
            audit_cell(&v, &p->audit.v[i], values[0] + i * (1 + 2 * v.dims), given,
                       &found->change[i], &found->right[i]);
        }
    }
    return k == 0;
}
