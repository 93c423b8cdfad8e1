/* mg_body.c -- conducting bodies as problems of multigrid. */
#include <math.h>
#include "engine/multigrid/mg_body.h"

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
static bool find_faces(const mg_body *of, mg_box *box) {
    const sel_inputs *inputs = &of->body->inputs;
    const sel_grid *grid = &of->domain->grid;
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

void mg_body_box(const mg_body *of, mg_box *box) {
    const sel_domain *domain = of->domain;
    const sel_grid *grid = &domain->grid;
    const sel_material *k = &of->body->k;
    *box = (mg_box){.dims = grid->dims,
                    .nodes = grid->nodes,
                    .periodic = grid->periodic,
                    .mass = of->rate * of->body->capacity.same[0]};
    box->even = find_faces(of, box) && of->body->kind != HEAT_VARIED;
    box->single = box->even;
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

/* Index in the list of cells on surfaces; its length when this is none. */
static int64_t surface_of(const sel_surfaces *on, int64_t cell) {
    int64_t low = 0, high = on->cells;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (on->cell[middle] < cell) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < on->cells && on->cell[low] == cell ? low : on->cells;
}

/* A resistance R of the body in the whole 1 / U of a surface doubles with
 * the distance, so that U becomes U / (1 + U R): as if the part 2 U R / (1 + U R) of U were halved.
 */
void mg_body_cell(const void *data, int64_t cell, mg_cell *to) {
    const mg_body *of = data;
    const sel_domain *domain = of->domain;
    const sel_inputs *inputs = &of->body->inputs;
    const sel_surfaces *on = &inputs->surfaces;
    if (domain->cell[cell]) {
        return;
    }
    for (int a = 0; a < domain->grid.dims; a++) {
        to->K[a] = sel_conductance(&of->body->k, domain, cell, 2 * a);
    }
    const double capacity = sel_capacity_of(of->body, &domain->grid, cell);
    to->near = of->rate * capacity;
    to->seeks = true;
    const int64_t k = surface_of(on, cell);
    if (k < on->cells) {
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
