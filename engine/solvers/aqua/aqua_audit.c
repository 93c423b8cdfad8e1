/* aqua_audit.c -- what flows out of single cells in a step of whole quanta, as it is cut to these
 * and before that.
 *
 * It is by that part that films are slower than alpha dx/dt. The step is taken on the depths at a
 * test, before rain and sources: these change little of a film.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/base/kernel.h"
#include "engine/solvers/aqua/aqua_state.h"

#define REAL float
#define AQUA_WATER int32_t
#define AQUA_SQRT(x) sqrtf(x)
#define AQUA_NAME(name) name##_f32
#include "engine/solvers/aqua/aqua_step.h"

/* ---- which cells, and what is about them ---- */

/* The elements of all ghosts, sorted. */
typedef struct ghost_list {
    const aqua_plan *plan;
    int64_t *at;
} ghost_list;

static int compare_elements(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The free cell beside one, at place j of the nine about it; -1: there is none. x and y: its
 * column and row, also beyond the grid. */
static int64_t beside(const aqua_plan *plan, int64_t cell, int j, int64_t *x, int64_t *y) {
    *x = cell % plan->layout.nx + j % 3 - 1;
    *y = cell / plan->layout.nx + j / 3 - 1;
    return sel_free_cell(plan->base.domain, *x, *y);
}

/* Whether there are only free cells and walls about a cell: the depths of ghosts are not kept. */
static bool aqua_audit_fits(const void *of, int64_t cell) {
    const ghost_list *ghosts = of;
    const aqua_plan *plan = ghosts->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    bool is = true;
    for (int j = 0; j < AQUA_ABOUT && is; j++) {
        int64_t x, y;
        if (beside(plan, cell, j, &x, &y) < 0) {
            x = sel_axis_periodic(grid, 0) ? sel_wrapped(grid, 0, x) : x;
            y = sel_axis_periodic(grid, 1) ? sel_wrapped(grid, 1, y) : y;
            const int64_t at = aqua_index(&plan->layout, x, y);
            is = !bsearch(&at, ghosts->at, (size_t)plan->ghosts.count, sizeof at, compare_elements);
        }
    }
    return is;
}

static void aqua_audit_list_reads(aqua_audit *audit, const aqua_plan *plan) {
    audit->reads = (sel_audit_reads){.fields = 1, .field = {AQUA_DEPTH}, .cell = audit->cell};
    for (int i = 0; i < audit->of.count; i++) {
        for (int j = 0; j < AQUA_ABOUT; j++) {
            int64_t x, y, cell = beside(plan, audit->of.cell[i], j, &x, &y);
            audit->cell[audit->reads.cells++] = cell < 0 ? audit->of.cell[i] : cell;
        }
    }
}

/* A rank knows the beds and alphas of its own rows only: an allgather gives them to all ranks. */
static void aqua_audit_list_cells(aqua_audit *audit, const aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const sel_rows_range own = sel_domain_own(domain);
    const aqua_store store = aqua_store_of(plan);
    const int64_t nx = plan->layout.nx;
    size_t end[SEL_MOST_RANKS];
    for (int i = 0; i < audit->of.count; i++) {
        const int64_t cell = audit->of.cell[i];
        aqua_audit_cell *to = &audit->v[i];
        if (cell / nx < own.first || cell / nx >= own.end) {
            continue;
        }
        for (int j = 0; j < AQUA_ABOUT; j++) {
            int64_t x, y, other = beside(plan, cell, j, &x, &y);
            to->bed[j] =
                other < 0 ? (float)AQUA_NO_GROUND : (float)aqua_bed_of(&store, plan->ground[other]);
        }
        to->alpha =
            (float)(plan->alpha ? fmin(plan->alpha[cell], store.largest_alpha) : store.alpha);
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

sel_status aqua_audit_find(aqua_plan *plan, sel_error *error) {
    const size_t count = (size_t)plan->ghosts.count;
    if (plan->base.precision != SEL_F32) {
        return SEL_OK;
    }
    ghost_list ghosts = {plan, malloc((count + 1) * sizeof *ghosts.at)};
    sel_error why = {.status = SEL_OK};
    sel_status status =
        ghosts.at ? SEL_OK : sel_fail_memory(&why, "the audit", count * sizeof *ghosts.at);
    for (size_t k = 0; k < count && !status; k++) {
        ghosts.at[k] = plan->ghosts.v[k].at;
    }
    status = sel_domain_agree(plan->base.domain, status, &why, error);
    if (!status) {
        qsort(ghosts.at, count, sizeof *ghosts.at, compare_elements);
        sel_audited_draw(plan->base.domain, 0, aqua_audit_fits, &ghosts, &plan->audit.of);
        aqua_audit_list_reads(&plan->audit, plan);
        aqua_audit_list_cells(&plan->audit, plan);
    }
    free(ghosts.at);
    return status;
}

const sel_audit_reads *aqua_audit_reads(const sel_plan *base) {
    const aqua_audit *audit = &((const aqua_plan *)base)->audit;
    return audit->of.count > 0 ? &audit->reads : NULL;
}

/* ---- steps ---- */

/* What flows out of a cell, in quanta: `cut` to whole ones for each neighbour, and all of it. */
static void flow_out(const aqua_plan *plan, const aqua_store *store, const aqua_audit_cell *cell,
                     const double *depth, double *cut, double *all) {
    enum { CENTRE = AQUA_ABOUT / 2 };
    float root[AQUA_AROUND], least_root;
    int32_t water[AQUA_ABOUT];
    for (int j = 0; j < AQUA_ABOUT; j++) {
        const bool ground = cell->bed[j] != (float)AQUA_NO_GROUND;
        water[j] = ground ? (int32_t)aqua_water_of(store, depth[j]) : 0;
    }
    const float factor = aqua_cell_f32(plan->params->equilibrium, cell->alpha, (float)store->least,
                                       cell->bed + CENTRE, water + CENTRE, 3, root, &least_root);
    *cut = *all = 0;
    for (int k = 0; k < AQUA_AROUND; k++) {
        const bool gives = root[k] > 0 && root[k] >= least_root;
        *cut += gives ? (double)aqua_flux_cut_f32(root[k], factor, least_root, 0, 0) : 0;
        *all += gives ? (double)(factor * root[k]) : 0;
    }
}

/* A step takes the part alpha of a cell's imbalance away: with nothing that flows in, the outflow
 * fades by it. So it matters where the imbalance does, which in a film is all of the depth, and in
 * a lake at rest hardly any. */
bool aqua_audit_step(const sel_state *state, int64_t step, const double *const *values, int k,
                     sel_audit *found) {
    const aqua_plan *plan = (const aqua_plan *)state->plan;
    const aqua_audit *audit = &plan->audit;
    const aqua_store store = aqua_store_of(plan);
    (void)step;
    *found = (sel_audit){.what = aqua_solver.fields[AQUA_DEPTH].name,
                         .field = AQUA_DEPTH,
                         .count = audit->of.count,
                         .flows = true};
    for (int i = 0; i < found->count && k == 0; i++) {
        double cut, all;
        flow_out(plan, &store, &audit->v[i], values[0] + (int64_t)i * AQUA_ABOUT, &cut, &all);
        found->change[i] = cut / store.per_metre;
        found->right[i] = all / store.per_metre;
        found->fades[i] = (double)audit->v[i].alpha;
    }
    return k == 0;
}
