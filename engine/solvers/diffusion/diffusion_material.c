/* diffusion_material.c -- evaluate materials; conductances of faces. */
#include "engine/solvers/diffusion/diffusion_material.h"

#include "engine/core/surface.h"

/* The error of a value that is not above 0; cell -1: of all cells. */
static sel_status refuse(const sel_plan *plan, const char *name, double value, int64_t cell,
                         sel_error *error) {
    const sel_where where = sel_simulation_where(plan->simulation, name);
    char text[SEL_CELL_TEXT];
    return cell < 0 ? sel_fail_at(error, where, "%s must be above 0, got %g", name, value)
                    : sel_fail_at(error, where, "%s must be above 0, it is %g in cell %s", name,
                                  value, sel_cell_text(&plan->domain->grid, cell, text));
}

static sel_status material_evaluate(const sel_plan *plan, const sel_domain *domain,
                                    const sel_quantity *quantity, const char *name,
                                    diffusion_material *m, sel_error *error) {
    const sel_evaluation asked = {.quantity = quantity, .what = name};
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t row = m->components * domain->grid.n[0], nx = domain->grid.n[0];
    sel_error why = {.status = SEL_OK};
    sel_status status = sel_domain_numbers(domain, asked, plan->threads, &m->of, error);
    if (status) {
        return status;
    }
    for (int64_t k = own.first * row; k < own.end * row && !status; k++) {
        const int64_t cell = k / row * nx + k % nx;
        if (domain->cell[cell] == 0 && !(m->of[k] > 0)) {
            status = refuse(plan, name, m->of[k], cell, &why);
        }
    }
    return sel_domain_agree(domain, status, &why, error);
}

sel_status diffusion_material_find(const sel_plan *plan, bool whole, const sel_quantity *quantity,
                                   const char *name, diffusion_material *m, sel_error *error) {
    const sel_quantity one = sel_constant(1);
    const sel_quantity *q = sel_quantity_given(quantity) ? quantity : &one;
    *m = (diffusion_material){.components = q->components};
    if (sel_quantity_depends(q)) {
        sel_domain domain = *plan->domain;
        domain.ranks = whole ? NULL : domain.ranks;
        return material_evaluate(plan, &domain, q, name, m, error);
    }
    for (int a = 0; a < plan->domain->grid.dims; a++) {
        m->same[a] = q->part[q->components > 1 ? a : 0].constant;
        if (!(m->same[a] > 0)) {
            return refuse(plan, name, m->same[a], -1, error);
        }
    }
    return SEL_OK;
}

double diffusion_conductance(const diffusion_material *m, const sel_domain *domain, int64_t cell,
                             int face) {
    const sel_grid *grid = &domain->grid;
    const int64_t other = sel_cell_beyond(grid, cell, face);
    const int axis = face / 2;
    int64_t at[3];
    sel_cell_at(grid, cell, at);
    if (other < 0 || domain->cell[cell] || domain->cell[other]) {
        return 0;
    }
    const double k = diffusion_material_at(m, grid, cell, axis);
    const double k_other = diffusion_material_at(m, grid, other, axis);
    return 2 * k * k_other / (k + k_other) / (grid->dx[axis] * grid->dx[axis]) *
           sel_part_inside(grid, at, axis);
}
