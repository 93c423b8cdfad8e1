/* mg_body.c -- conducting bodies as problems of multigrid. */
#include "engine/multigrid/mg_body.h"

#include <math.h>

/* Along an axis; on larger grids the round-off of corrections in single precision would slow
 * cycles. */
enum { MOST_CELLS_SINGLE = 8192 };

/* ---- the box ---- */

/* The conductance from outside to the surface at a site. */
static double outside(const sel_inputs *inputs, int64_t site) {
    const int law = inputs->site[site].law;
    return law == COND_FIXED        ? HUGE_VAL
           : law == COND_CONVECTIVE ? inputs->value[COND_VALUES * site + 1]
                                    : 0;
}

/* Sets box->h; whether each face has one law in all its cells. */
static bool find_faces(const sel_inputs *inputs, mg_box *box) {
    const sel_grid *grid = &inputs->domain->grid;
    int64_t count[SEL_FACES] = {0};
    bool one[SEL_FACES] = {true, true, true, true, true, true}, all = true;
    for (int64_t k = 0; k < inputs->surfaces.sites; k++) {
        const sel_site *site = &inputs->surfaces.site[k];
        const double h = outside(inputs, k);
        if (site->outer) {
            double *known = &box->h[site->face];
            one[site->face] = one[site->face] && (count[site->face] == 0 || *known == h);
            count[site->face]++;
            *known = h;
        }
    }
    for (int face = 0; face < 2 * grid->dims; face++) {
        const bool whole = count[face] == 0 || count[face] == sel_face_sites(grid, face);
        all = all && one[face] && (whole || box->h[face] == 0);
        box->h[face] = one[face] ? box->h[face] : 0;
    }
    return all;
}

/* 1 / (w dt) */
static double rate_of(const sel_conduction *body) {
    return body->implicit > 0 ? 1 / (body->implicit * body->inputs.domain->grid.dt) : 0;
}

void mg_body_box(const sel_conduction *body, mg_box *box) {
    const sel_domain *domain = body->inputs.domain;
    const sel_grid *grid = &domain->grid;
    const sel_material *k = &body->k;
    *box = (mg_box){.dims = grid->dims,
                    .nodes = grid->nodes,
                    .periodic = grid->periodic,
                    .mass = rate_of(body) * body->capacity.same[0]};
    box->even = find_faces(&body->inputs, box) && body->kind != HEAT_VARIED;
    box->single = box->even;
    box->conjugate = !box->even;
    for (int a = 0; a < 3; a++) {
        box->single = box->single && grid->n[a] <= MOST_CELLS_SINGLE;
        box->n[a] = grid->n[a];
        box->dx[a] = grid->dx[a];
        box->k[a] = k->of ? 0 : k->same[a];
    }
    for (int64_t cell = 0; cell < sel_grid_cells(grid) && k->of; cell++) {
        for (int a = 0; a < grid->dims && !domain->cell[cell]; a++) {
            box->k[a] += sel_material_at(k, grid, cell, a) / (double)domain->free_cells;
        }
    }
}

/* ---- bodies that are not even ---- */

/* mg_describe. A resistance R of the body in the whole 1 / U of a surface doubles with the
 * distance, so that U becomes U / (1 + U R): as if the part 2 U R / (1 + U R) of U were halved.
 */
static void describe_cell(const void *data, int64_t cell, mg_cell *to) {
    const sel_conduction *body = data;
    const sel_inputs *inputs = &body->inputs;
    const sel_domain *domain = inputs->domain;
    const sel_surfaces *on = &inputs->surfaces;
    if (domain->cell[cell]) {
        return;
    }
    for (int a = 0; a < domain->grid.dims; a++) {
        to->K[a] = sel_conductance(&body->k, domain, cell, 2 * a);
    }
    const double capacity = sel_capacity_of(body, cell);
    to->near = rate_of(body) * capacity;
    to->seeks = true;
    const int64_t k = sel_surfaces_from(on, cell);
    if (k < on->cells && on->cell[k] == cell) {
        const int64_t first = on->first_site[k], end = on->first_site[k + 1];
        to->seeks = cond_fixed(inputs->site, first, end) == end;
        for (int64_t i = first; i < end && to->seeks; i++) {
            const cond_site *site = &inputs->site[i];
            double u, p;
            cond_surface(site, inputs->value + COND_VALUES * i, &u, &p);
            const double of_body = site->reach > 0 ? u / site->reach : 0;
            const double far = 2 * of_body / (1 + of_body), all = u * site->weight * capacity;
            to->far += far * all;
            to->near += (1 - far) * all;
        }
    }
}

/* ---- the problem of a state ---- */

void mg_body_list(mg_solve *s, const mg_box *box, sel_state *state, unsigned flags, int threads) {
    const sel_cells *cells = &state->turns.cells;
    const int64_t directions = box->conjugate ? cells->count : 0;
    *s = (mg_solve){.stride = {1, cells->pitch, cells->slice}, .threads = threads};
    SEL_ADD(&state->arrays, s, F, cells->count, 0);
    if (box->conjugate) {
        sel_arrays_add_cells(&state->arrays, "direction", &s->p, (sel_type){'f', 8}, cells, flags);
    }
    SEL_ADD(&state->arrays, s, q, directions, 0);
    SEL_ADD(&state->arrays, s, mass, state->plan->body->implicit > 0 ? directions : 0, 0);
    mg_list(&s->m, box, threads, &state->arrays);
}

/* sel_state_number: as rows of A have it. */
static double mass(const sel_state *state, const void *data, int which, int64_t cell) {
    (void)state, (void)which;
    return rate_of(data) * sel_capacity_of(data, cell);
}

sel_status mg_body_start(mg_solve *s, const sel_state *state, sel_error *error) {
    const sel_conduction *body = state->plan->body;
    s->partials = state->partials;
    sel_status status = sel_state_fill(state, s->mass, (sel_type){'f', 8}, &state->turns.cells, 3,
                                       mass, body, error);
    status = status ? status
                    : mg_start(&s->m, &state->arrays, describe_cell, body, state->threads, error);
    s->limits.rows = s->m.norm;
    return status;
}
