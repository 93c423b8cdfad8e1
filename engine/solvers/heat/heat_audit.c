/* heat_audit.c -- explicit steps of single cells, in the precision of the run and in double. */
#include <math.h>
#include <stdlib.h>
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

/* The place of a site among those of its region. */
static int64_t order_of(const sel_surfaces *on, int64_t site) {
    const int region = on->site[site].region;
    int64_t low = on->first_of[region], high = on->first_of[region + 1];
    while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        low = on->order[middle] <= site ? middle : low;
        high = on->order[middle] <= site ? high : middle;
    }
    return low;
}

/* Keeps what is known of the surfaces of a cell; nothing where this rank does not list them. */
static void heat_audit_list_sites(const diffusion_body *body, int64_t cell, heat_audit_sites *to) {
    const sel_inputs *inputs = &body->inputs;
    const sel_surfaces *on = &inputs->surfaces;
    const int64_t k = sel_surfaces_from(on, cell);
    *to = (heat_audit_sites){.count = 0};
    if (k == on->cells || on->cell[k] != cell) {
        return;
    }
    for (int64_t site = on->first_site[k]; site < on->first_site[k + 1]; site++) {
        const int64_t order = order_of(on, site);
        const int i = to->count++;
        to->region[i] = on->site[site].region;
        to->site[i] = body->site[site];
        memcpy(to->value[i], inputs->value + DIFFUSION_VALUES * site, sizeof to->value[i]);
        for (int a = 0; a < 3; a++) {
            to->place[i][a] = on->place[a][order];
        }
    }
}

static void heat_audit_find_sites(const diffusion_body *body, heat_audit *audit) {
    const sel_inputs *inputs = &body->inputs;
    const sel_domain *domain = inputs->domain;
    for (int i = 0; i < audit->of.count; i++) {
        heat_audit_list_sites(body, audit->of.cell[i], &audit->on[i]);
    }
    if (!inputs->surfaces.divided) {
        return;
    }
    const size_t ranks = (size_t)sel_domain_ranks(domain);
    heat_audit_sites *all = sel_ranks_memory(domain->ranks, ranks * sizeof audit->on);
    sel_domain_gather(domain, audit->on, sizeof audit->on, all);
    for (size_t k = 0; k < ranks * SEL_AUDITED; k++) {
        if (all[k].count) {
            audit->on[k % SEL_AUDITED] = all[k];
        }
    }
    free(all);
}

void heat_audit_find(heat_plan *p) {
    const sel_domain *domain = p->diffusion.base.domain;
    const int64_t nx = domain->grid.n[0];
    const sel_rows_range own = sel_domain_own(domain);
    heat_audit *audit = &p->audit;
    size_t end[SEL_MOST_RANKS];
    if (p->diffusion.body.implicit > 0) { /* solved in double precision */
        return;
    }
    sel_audited_draw(domain, 0, NULL, NULL, &audit->of);
    heat_audit_list_reads(audit, &domain->grid);
    heat_audit_find_sites(&p->diffusion.body, audit);
    for (int i = 0; i < audit->of.count; i++) {
        const int64_t cell = audit->of.cell[i];
        heat_audit_cell *to = &audit->v[i];
        if (cell / nx < own.first || cell / nx >= own.end) {
            continue;
        }
        for (int face = 0; face < 2 * domain->grid.dims; face++) {
            to->g[face] = diffusion_conductance(&p->diffusion.body.k, domain, cell, face);
        }
        to->capacity = diffusion_capacity_of(&p->diffusion.body, cell);
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

/* The value of an input at a place, if it needs no Lua. */
static bool heat_audit_value_of(const sel_inputs *inputs, const sel_input *input,
                                const double place[3], int64_t step, double *to) {
    sel_error unread = {.status = SEL_OK};
    return sel_quantity_is_pure(input->quantity) &&
           !sel_input_at(inputs, input, place, step, to, &unread);
}

/* b and s of a cell; false: they are not known, or its temperature is given. */
static bool surfaces_of(const sel_state *state, const heat_audit_sites *on, int64_t step, double *b,
                        double *s) {
    const sel_inputs *inputs = state->plan->inputs;
    double value[SEL_FACES][DIFFUSION_VALUES];
    *b = *s = 0;
    memcpy(value, on->value, sizeof value);
    for (int i = 0; i < on->count; i++) {
        for (int n = 0; n < inputs->count; n++) {
            const sel_input *input = &inputs->v[n];
            const bool varies =
                sel_quantity_depends(input->quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
            if (input->region == on->region[i] && varies &&
                !heat_audit_value_of(inputs, input, on->place[i], step, &value[i][input->which])) {
                return false;
            }
        }
    }
    if (on->count) {
        diffusion_through_all(on->site, value[0], state->reference, 0, on->count,
                              inputs->domain->grid.dt, b, s);
    }
    return !isinf(*b);
}

static bool source_of(const sel_state *state, int64_t cell, int64_t step, double *q) {
    const sel_inputs *inputs = state->plan->inputs;
    int64_t at[3];
    double place[3];
    *q = 0;
    if (!inputs->has_source) {
        return true;
    }
    sel_cell_at(&inputs->domain->grid, cell, at);
    sel_cell_centre(&inputs->domain->grid, cell, place);
    const bool known =
        heat_audit_value_of(inputs, &inputs->v[inputs->source_number], place, step, q);
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
    const heat_view v = diffusion_heat_view(state, step);
    *found = (sel_audit){.what = heat_solver.fields[heat_solver.main_field].name,
                         .field = heat_solver.main_field,
                         .count = p->audit.of.count};
    for (int i = 0; i < found->count && k == 0; i++) {
        const int64_t cell = p->audit.of.cell[i];
        double given[3];
        found->change[i] = found->right[i] = (double)NAN;
        if (surfaces_of(state, &p->audit.on[i], step, &given[0], &given[1]) &&
            source_of(state, cell, step, &given[2])) {
            audit_cell(&v, &p->audit.v[i], values[0] + i * (1 + 2 * v.dims), given,
                       &found->change[i], &found->right[i]);
        }
    }
    return k == 0;
}
