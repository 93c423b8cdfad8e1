/* lbm_sponge.c -- the sponge of a flow: its cells, what it holds there, what check says of it.
 *
 * The layer lies along faces, `thickness` cells deep, n. Of a cell at the depth d in cells from the
 * inner edge, sigma = s (d / n)^2 (lbm_sponge.h), with s such that sound which a face returns whole
 * comes back with a thousandth of its amplitude: s n / 3 = c_s ln(1000) / 2.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/scene/shape.h"
#include "engine/solvers/lbm/lbm.h"

/* The part of a wave's amplitude that comes back, in theory; the thinnest layer, whose largest rate
 * is 3/4; the layer from which on the rate changes little from cell to cell. Of pulses 20 cells
 * wide 2, 0.7 and 0.1 % come back from layers of 8, 20 and 40 cells. */
static const double sponge_returns = 1e-3, thinnest = 8, smooth = 20;

bool lbm_has_sponge(const lbm_plan *plan) {
    return plan->params->sponge.where != NULL;
}

static sel_where sponge_where(const lbm_plan *plan) {
    return sel_simulation_where(plan->base.simulation, "sponge");
}

/* ---- the faces that the layer lies along ---- */

/* Adds the faces of a shape, a bit each; false: it is not made of whole faces. */
static bool sponge_add_faces(const sel_shape *shape, const sel_grid *grid, unsigned *faces) {
    switch (shape->kind) {
    case SEL_SHAPE_FACE:
        *faces |= 1u << shape->face;
        return true;
    case SEL_SHAPE_FACES:
        for (int face = 0; face < 2 * grid->dims; face++) {
            *faces |= sel_axis_periodic(grid, face / 2) ? 0 : 1u << face;
        }
        return true;
    case SEL_SHAPE_UNION:
        return sponge_add_faces(shape->a, grid, faces) && sponge_add_faces(shape->b, grid, faces);
    default:
        return false;
    }
}

static sel_status sponge_check_face(const lbm_plan *plan, int face, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double thickness = plan->params->sponge.thickness, n = plan->sponge.thickness;
    const char *axis = sel_axis_names[face / 2];
    if (sel_axis_periodic(grid, face / 2)) {
        return sel_fail_at(error, sponge_where(plan),
                           "sponge: axis %s is periodic and has no faces; name others", axis);
    }
    if (n > (double)grid->n[face / 2]) {
        return sel_fail_at(error, sponge_where(plan),
                           "sponge: a thickness of %g is more than the length of the domain along "
                           "%s, %g; give less",
                           thickness, axis, (double)grid->n[face / 2] * grid->dx[0]);
    }
    return SEL_OK;
}

static sel_status sponge_check(lbm_plan *plan, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const lbm_sponge_params *given = &plan->params->sponge;
    lbm_sponge *sponge = &plan->sponge;
    sel_status status = sel_shape_check(given->where, grid, error);
    sponge->thickness = given->thickness / grid->dx[0];
    if (!status && !sponge_add_faces(given->where, grid, &sponge->faces)) {
        status = sel_fail_at(error, sponge_where(plan),
                             "sponge: where must be whole faces, such as shape.face \"x+\" or "
                             "shape.face \"x+\" + shape.face \"y+\"");
    }
    if (!status && sponge->thickness < thinnest) {
        status = sel_fail_at(error, sponge_where(plan),
                             "sponge: a thickness of %g is %.3g cells, too few to let waves fade; "
                             "give at least %g cells, %g",
                             given->thickness, sponge->thickness, thinnest, thinnest * grid->dx[0]);
    }
    for (int face = 0; face < 2 * grid->dims && !status; face++) {
        status = sponge->faces >> face & 1u ? sponge_check_face(plan, face, error) : SEL_OK;
    }
    return status;
}

/* ---- its cells ---- */

/* The depth of index i of an axis in the layers along its faces, over the thickness; 0: outside. */
static double sponge_depth(const lbm_plan *plan, int axis, int64_t i) {
    const lbm_sponge *sponge = &plan->sponge;
    const int64_t from_end[2] = {i, plan->base.domain->grid.n[axis] - 1 - i};
    double depth = 0;
    for (int side = 0; side < 2; side++) {
        if (sponge->faces >> (2 * axis + side) & 1u) {
            depth = fmax(depth, 1 - ((double)from_end[side] + 0.5) / sponge->thickness);
        }
    }
    return depth;
}

/* Where layers meet, the deeper one counts. */
static double sponge_depth_at(const lbm_plan *plan, const int64_t at[3]) {
    double depth = 0;
    for (int a = 0; a < plan->base.domain->grid.dims; a++) {
        depth = fmax(depth, sponge_depth(plan, a, at[a]));
    }
    return depth;
}

/* Refuses a layer that holds back what an inlet brings. */
static sel_status sponge_check_inlets(const lbm_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    for (int face = 0; face < 2 * domain->grid.dims; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(&domain->grid, face); s++) {
            const int region = domain->face[face][s];
            const lbm_law_row *law = plan->boundary.law[region];
            const bool inlet = law && law->law == &lbm_velocity_table;
            int64_t at[3];
            sel_face_cell(&domain->grid, face, s, at);
            if (inlet && sponge_depth_at(plan, at) > 0) {
                char name[32];
                return sel_fail_at(error, sponge_where(plan),
                                   "sponge: the layer covers cells of '%s', whose law.velocity it "
                                   "would work against; leave this face out, or make the layer "
                                   "thinner",
                                   sel_region_name(domain, region, name));
            }
        }
    }
    return SEL_OK;
}

/* The free cells of a row in the layer, stored from `to` on (NULL: counted); but for their u. */
static int64_t sponge_add_row(const lbm_plan *plan, int64_t row, lbm_sponge_cell *to) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const double n = plan->sponge.thickness;
    const double most = -1.5 * log(sponge_returns) / (sqrt(3) * n);
    const uint8_t *solid = domain->cell + row * grid->n[0];
    int64_t at[3] = {0, row % grid->n[1], row / grid->n[1]}, count = 0;
    const double beside = sponge_depth_at(plan, (int64_t[3]){grid->n[0] / 2, at[1], at[2]});
    const bool whole = beside > 0, ends = plan->sponge.faces & 3u;
    for (; at[0] < grid->n[0] && (whole || ends); at[0]++) {
        const double depth = sponge_depth_at(plan, at);
        if (depth > 0 && !solid[at[0]]) {
            if (to) {
                to[count] = (lbm_sponge_cell){.x = (uint32_t)at[0],
                                              .row = (uint32_t)row,
                                              .rate = (float)(most * depth * depth)};
            }
            count++;
        }
    }
    return count;
}

/* The velocity that the layer holds in `count` cells of a row. room: [6][nx]. */
static sel_status sponge_set_velocity(const lbm_plan *plan, lbm_sponge_cell *cells, int64_t count,
                                      double *room, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const sel_quantity *velocity = &plan->params->sponge.velocity;
    const int64_t nx = grid->n[0];
    double *value = room + 3 * nx;
    for (int64_t k = 0; k < count; k++) {
        const int64_t row = cells[k].row, at[3] = {cells[k].x, row % grid->n[1], row / grid->n[1]};
        for (int a = 0; a < 3; a++) {
            room[a * nx + k] = sel_centre(grid, a, (double)at[a]);
        }
    }
    const sel_places at = sel_domain_at(domain, count, room, room + nx, room + 2 * nx, 0);
    const sel_status status =
        sel_quantity_given(velocity) && count > 0
            ? sel_quantity_eval(velocity, "sponge: velocity", &at, value, error)
            : SEL_OK;
    for (int64_t k = 0; k < count && !status; k++) {
        for (int a = 0; a < velocity->components; a++) {
            cells[k].u[a] = (float)(value[a * count + k] / plan->numbers.velocity_unit);
        }
    }
    return status;
}

/* Numbers the cells of the rank's patch. */
static sel_status sponge_count(const lbm_plan *plan, lbm_sponge *sponge, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const int64_t all_rows = grid->n[1] * grid->n[2];
    const sel_ranks *ranks = domain->ranks;
    const bool created =
        sel_sites_create(&sponge->sites, grid, ranks, ranks ? &domain->decomposition : NULL);
    int64_t *counts = calloc((size_t)all_rows + 1, sizeof *counts);
    sponge->row_first = calloc((size_t)all_rows + 1, sizeof *sponge->row_first);
    sel_error own = {0};
    sel_status status = created && counts && sponge->row_first
                            ? SEL_OK
                            : sel_fail_memory(&own, "the sponge", 16 * (uint64_t)all_rows);
    status = sel_domain_agree(domain, status, &own, error);
    const sel_rows rows = sel_sites_rows(&sponge->sites, ranks ? ranks->rank : 0);
    for (int64_t k = 0, next = 0; k < rows.count && !status; k++) {
        const int64_t row = sel_row_of(&rows, k);
        counts[k] = sponge_add_row(plan, row, NULL);
        sponge->row_first[row] = next;
        sponge->row_first[row + 1] = next += counts[k];
    }
    if (!status) {
        sel_sites_number(&sponge->sites, counts);
    }
    free(counts);
    return status;
}

static sel_status sponge_fill(const lbm_plan *plan, lbm_sponge *sponge, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const size_t count = (size_t)sponge->sites.count + 1, nx = (size_t)domain->grid.n[0];
    const sel_rows rows = sel_sites_rows(&sponge->sites, domain->ranks ? domain->ranks->rank : 0);
    double *room = malloc(6 * nx * sizeof *room);
    sel_error own = {0};
    sponge->cells = malloc(count * sizeof *sponge->cells);
    sel_status status = room && sponge->cells
                            ? SEL_OK
                            : sel_fail_memory(&own, "the sponge", count * sizeof *sponge->cells);
    for (int64_t k = 0; k < rows.count && !status; k++) {
        const int64_t row = sel_row_of(&rows, k);
        lbm_sponge_cell *cells = sponge->cells + sponge->row_first[row];
        const int64_t found = sponge_add_row(plan, row, cells);
        status = sponge_set_velocity(plan, cells, found, room, &own);
    }
    free(room);
    return sel_domain_agree(domain, status, &own, error);
}

sel_status lbm_sponge_create(lbm_plan *plan, sel_error *error) {
    lbm_sponge *sponge = &plan->sponge;
    if (!lbm_has_sponge(plan)) {
        return SEL_OK;
    }
    sponge->drho = plan->params->sponge.pressure / plan->numbers.pressure_unit;
    sel_status status = sponge_check(plan, error);
    status = status ? status : sponge_check_inlets(plan, error);
    status = status ? status : sponge_count(plan, sponge, error);
    return status ? status : sponge_fill(plan, sponge, error);
}

void lbm_sponge_free(lbm_sponge *sponge) {
    sel_sites_free(&sponge->sites);
    free(sponge->cells);
    free(sponge->row_first);
    *sponge = (lbm_sponge){0};
}

/* ---- what check says ---- */

void lbm_sponge_facts(const lbm_plan *plan, sel_facts *facts) {
    const lbm_sponge *sponge = &plan->sponge;
    if (lbm_has_sponge(plan)) {
        sel_fact_add(facts, "sponge",
                     "%lld cells, %.4g deep; below %d %% of sound comes back along the normal",
                     (long long)sponge->sites.all, sponge->thickness,
                     sponge->thickness < smooth ? 3 : 1);
    }
}

void lbm_warn_of_sponge(const lbm_plan *plan, double velocity, sel_error *warnings) {
    if (lbm_has_sponge(plan) && !sel_quantity_given(&plan->params->sponge.velocity) &&
        velocity > 0) {
        sel_fail_at(warnings, sponge_where(plan),
                    "the sponge brings the fluid to rest, and velocities of up to %.3g are given: "
                    "give sponge.velocity, that of the stream, or { 0, 0%s } if rest is meant",
                    velocity, plan->base.domain->grid.dims == 3 ? ", 0" : "");
    }
}
