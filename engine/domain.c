/* domain.c -- paint a simulation's regions onto its cells and face sites.
 *
 * Volumes and faces do not compete: each region is tested at the centres of all cells and at the
 * sites of all faces (the centres of the outer faces of boundary cells), row by row, and the last
 * region that paints a place owns it. Afterwards every site of a face that is neither periodic nor
 * behind a solid cell must have an owner.
 */
#include "engine/domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solver.h"
#include "geometry/shape.h"

enum { MAX_REGIONS = 255 };

/* Buffers for one row of places. */
typedef struct row {
    double *x, *y, *z;
    uint8_t *in;
} row;

static void row_free(row *r) {
    free(r->x);
    free(r->y);
    free(r->z);
    free(r->in);
}

static sel_status row_create(row *r, int64_t n, sel_error *error) {
    size_t count = (size_t)n;
    r->x = malloc(count * sizeof *r->x);
    r->y = malloc(count * sizeof *r->y);
    r->z = malloc(count * sizeof *r->z);
    r->in = malloc(count);
    if (!r->x || !r->y || !r->z || !r->in) {
        row_free(r);
        return sel_fail_memory(error, "painting the regions", count * 25);
    }
    return SEL_OK;
}

/* The places of row `index` of a face (face >= 0) or of the cells: n of them, row by row in the
 * order in which both arrays are stored. */
static size_t row_places(const sel_grid *grid, int face, int64_t index, row *r) {
    int normal = face < 0 ? -1 : face / 2;
    int along = normal == 0 ? 1 : 0;
    int across[2], count = 0;
    for (int a = 0; a < 3; a++) {
        if (a != along && a != normal) {
            across[count++] = a;
        }
    }
    double p[3] = {0};
    p[across[0]] = sel_centre(grid, across[0], (double)(index % grid->n[across[0]]));
    if (count == 2) {
        p[across[1]] = sel_centre(grid, across[1], (double)(index / grid->n[across[0]]));
    }
    if (normal >= 0) {
        double cells = face % 2 ? (double)grid->n[normal] : 0;
        p[normal] = grid->origin[normal] + cells * grid->dx;
    }
    for (int64_t i = 0; i < grid->n[along]; i++) {
        p[along] = sel_centre(grid, along, (double)i);
        r->x[i] = p[0];
        r->y[i] = p[1];
        r->z[i] = p[2];
    }
    return (size_t)grid->n[along];
}

/* Paints `region` on the cells (face < 0) or on one face; adds the number of places to *painted. */
static sel_status paint(sel_domain *domain, int face, int region, row *r, int64_t *painted,
                        sel_error *error) {
    const sel_grid *grid = &domain->grid;
    const sel_shape *shape = domain->regions[region - 1].where;
    uint8_t *to = face < 0 ? domain->cell : domain->face[face];
    int64_t places = face < 0 ? sel_grid_cells(grid) : sel_face_sites(grid, face);
    int64_t length = grid->n[face >= 0 && face / 2 == 0 ? 1 : 0];
    for (int64_t index = 0; index < places / length; index++, to += length) {
        size_t n = row_places(grid, face, index, r);
        sel_places at = {n, r->x, r->y, grid->dims == 3 ? r->z : NULL, 0, domain->control_values};
        sel_status status = sel_shape_test(shape, grid, face, &at, to, r->in, error);
        if (status) {
            return status;
        }
        for (size_t i = 0; i < n; i++) {
            if (r->in[i]) {
                to[i] = (uint8_t)region;
                ++*painted;
            }
        }
    }
    return SEL_OK;
}

/* A shape that names a periodic face, `faces` aside (which leaves periodic ones out itself). */
static int periodic_face_of(const sel_shape *shape, const sel_grid *grid) {
    if (shape->a) {
        int face = periodic_face_of(shape->a, grid);
        return face >= 0 ? face : periodic_face_of(shape->b, grid);
    }
    bool periodic = shape->kind == SEL_SHAPE_FACE && sel_axis_periodic(grid, shape->face / 2);
    return periodic ? shape->face : -1;
}

static const sel_law_place *law_place(const sel_solver *solver, const sel_table *table) {
    for (int i = 0; i < solver->law_count; i++) {
        if (solver->laws[i].table == table) {
            return &solver->laws[i];
        }
    }
    return NULL;
}

static sel_status check_place(const sel_domain *domain, const sel_solver *solver, int number,
                              int64_t cells, int64_t sites, sel_error *error) {
    const sel_region *region = &domain->regions[number - 1];
    const sel_law_place *place = law_place(solver, region->law.table);
    char text[32];
    const char *name = sel_region_name(domain, number, text);
    if (!place) {
        return sel_fail_at(error, region->law.where, "region '%s': sel.%s has no such law", name,
                           solver->name);
    }
    if (cells + sites == 0 && !sel_shape_has_rest(region->where)) {
        return sel_fail_at(error, region->at,
                           "region '%s' paints nothing: its shape contains no cell centre and no "
                           "face site of the domain",
                           name);
    }
    if (cells && !place->on_volumes) {
        return sel_fail_at(error, region->law.where,
                           "region '%s': %s may sit on faces only, and this shape paints %lld "
                           "cells; use shape.face, or face * shape for a part of a face",
                           name, place->table->name, (long long)cells);
    }
    if (sites && !place->on_faces) {
        return sel_fail_at(error, region->law.where,
                           "region '%s': %s may sit on volumes only, and this shape paints faces",
                           name, place->table->name);
    }
    return SEL_OK;
}

enum { LONGEST_REGION_NAME = 48 };

/* Names are columns of files and keys of results: unique, and not too long for them. */
static sel_status check_name(const sel_domain *domain, int number, sel_error *error) {
    const sel_region *region = &domain->regions[number - 1];
    if (!region->name) {
        return SEL_OK;
    }
    if (!*region->name || strlen(region->name) > LONGEST_REGION_NAME) {
        return sel_fail_at(error, region->at, "the name of a region must have 1 to %d characters",
                           LONGEST_REGION_NAME);
    }
    for (int before = 1; before < number; before++) {
        const char *name = domain->regions[before - 1].name;
        if (name && strcmp(name, region->name) == 0) {
            return sel_fail_at(error, region->at,
                               "two regions are called '%s'; join them with +, or rename one",
                               name);
        }
    }
    return SEL_OK;
}

static sel_status paint_region(sel_domain *domain, const sel_solver *solver, int number, row *r,
                               sel_error *error) {
    const sel_region *region = &domain->regions[number - 1];
    const sel_grid *grid = &domain->grid;
    sel_status status = check_name(domain, number, error);
    sel_status shape = sel_shape_check(region->where, grid, error);
    status = status ? status : shape;
    if (status) {
        return status;
    }
    int periodic = periodic_face_of(region->where, grid);
    if (periodic >= 0) {
        char text[32];
        return sel_fail_at(error, region->at,
                           "region '%s' paints face %s, but axis %s is periodic; take it out of "
                           "periodic or of the shape",
                           sel_region_name(domain, number, text), sel_face_name(periodic),
                           sel_axis_names[periodic / 2]);
    }
    int64_t cells = 0, sites = 0;
    status = paint(domain, -1, number, r, &cells, error);
    for (int face = 0; !status && face < 2 * grid->dims; face++) {
        if (domain->face[face]) {
            status = paint(domain, face, number, r, &sites, error);
        }
    }
    return status ? status : check_place(domain, solver, number, cells, sites, error);
}

/* The cell behind site `site` of a face: its number. */
static int64_t cell_behind(const sel_grid *grid, int face, int64_t site) {
    int64_t at[3];
    int normal = face / 2, first = normal == 0 ? 1 : 0, second = normal == 2 ? 1 : 2;
    at[first] = site % grid->n[first];
    at[second] = site / grid->n[first];
    at[normal] = face % 2 ? grid->n[normal] - 1 : 0;
    return (at[2] * grid->n[1] + at[1]) * grid->n[0] + at[0];
}

static sel_status check_face_painted(const sel_domain *domain, const sel_simulation *simulation,
                                     int face, sel_error *error) {
    const sel_grid *grid = &domain->grid;
    int64_t first = -1, missing = 0;
    for (int64_t site = 0; site < sel_face_sites(grid, face); site++) {
        int64_t cell = cell_behind(grid, face, site);
        if (domain->face[face][site] == 0 && domain->cell[cell] == 0) {
            first = first < 0 ? cell : first;
            missing++;
        }
    }
    if (missing == 0) {
        return SEL_OK;
    }
    char cell[96];
    int64_t i = first % grid->n[0], j = first / grid->n[0] % grid->n[1];
    int64_t k = first / (grid->n[0] * grid->n[1]);
    if (grid->dims == 3) {
        snprintf(cell, sizeof cell, "{%lld, %lld, %lld}", (long long)i, (long long)j, (long long)k);
    } else {
        snprintf(cell, sizeof cell, "{%lld, %lld}", (long long)i, (long long)j);
    }
    return sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                       "face %s: no region paints %lld of its %lld sites, the first at cell %s; "
                       "paint them, or make axis %s periodic",
                       sel_face_name(face), (long long)missing,
                       (long long)sel_face_sites(grid, face), cell, sel_axis_names[face / 2]);
}

static sel_status resolve_grid(const sel_simulation *simulation, sel_grid *grid, sel_error *error) {
    const sel_common *common = simulation->params;
    *grid = sel_common_grid(common);
    double cells = 1;
    for (int a = 0; a < grid->dims; a++) {
        cells *= (double)grid->n[a];
        if (grid->n[a] < 1) {
            return sel_fail_at(error, sel_simulation_where(simulation, "size"),
                               "size[%d] must be at least 1, got %lld", a + 1,
                               (long long)grid->n[a]);
        }
    }
    if (common->origin.n && common->origin.n != grid->dims) {
        return sel_fail_at(error, sel_simulation_where(simulation, "origin"),
                           "origin has %d coordinates in a domain of %d dimensions",
                           common->origin.n, grid->dims);
    }
    if (grid->periodic >> grid->dims) {
        return sel_fail_at(error, sel_simulation_where(simulation, "periodic"),
                           "periodic names axis z in a domain of 2 dimensions");
    }
    if (cells > 4e15) {
        return sel_fail_at(error, sel_simulation_where(simulation, "size"),
                           "size asks for %.3g cells, more than any memory holds", cells);
    }
    return SEL_OK;
}

static sel_status allocate(sel_domain *domain, sel_error *error) {
    int64_t cells = sel_grid_cells(&domain->grid);
    domain->cell = calloc((size_t)cells, 1);
    if (!domain->cell) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "not enough memory: the map of %lld cells alone takes %.3g GB; reduce size",
                        (long long)cells, (double)cells / 1e9);
    }
    for (int face = 0; face < 2 * domain->grid.dims; face++) {
        if (!sel_axis_periodic(&domain->grid, face / 2)) {
            domain->face[face] = calloc((size_t)sel_face_sites(&domain->grid, face), 1);
            if (!domain->face[face]) {
                return sel_fail_memory(error, "the faces", 0);
            }
        }
    }
    return SEL_OK;
}

static sel_status copy_controls(sel_domain *domain, const sel_numbers *controls, sel_error *error) {
    domain->control_count = controls->n;
    domain->control_values = calloc((size_t)controls->n + 1, sizeof(double));
    if (!domain->control_values) {
        return sel_fail_memory(error, "the controls", 0);
    }
    for (int i = 0; i < controls->n; i++) {
        domain->control_values[i] = controls->v[i].value;
    }
    return SEL_OK;
}

static sel_status paint_all(sel_domain *domain, const sel_simulation *simulation,
                            sel_error *error) {
    int64_t *n = domain->grid.n;
    row r = {0};
    sel_status status = row_create(&r, n[0] > n[1] ? n[0] : n[1], error);
    if (status) {
        return status;
    }
    for (int region = 1; region <= domain->region_count; region++) {
        sel_status painted = paint_region(domain, simulation->solver, region, &r, error);
        status = status ? status : painted;
    }
    row_free(&r);
    /* After a bad region the unpainted faces would only repeat the news. */
    for (int face = 0; status == SEL_OK && face < 2 * domain->grid.dims; face++) {
        if (domain->face[face]) {
            sel_status painted = check_face_painted(domain, simulation, face, error);
            status = status ? status : painted;
        }
    }
    return status;
}

sel_status sel_domain_create(const sel_simulation *simulation, sel_domain **domain,
                             sel_error *error) {
    const sel_common *common = simulation->params;
    sel_domain *d = calloc(1, sizeof *d);
    *domain = NULL;
    if (!d) {
        return sel_fail_memory(error, "the domain", sizeof *d);
    }
    d->regions = common->regions.v;
    d->region_count = common->regions.n;
    sel_status status = resolve_grid(simulation, &d->grid, error);
    if (!status && d->region_count > MAX_REGIONS) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                             "%d regions; at most %d are possible", d->region_count, MAX_REGIONS);
    }
    status = status ? status : allocate(d, error);
    status = status ? status : copy_controls(d, &common->controls, error);
    status = status ? status : paint_all(d, simulation, error);
    for (int64_t i = 0; !status && i < sel_grid_cells(&d->grid); i++) {
        d->free_cells += d->cell[i] == 0;
    }
    if (!status && d->free_cells == 0) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                             "the regions make every cell solid; nothing is left to compute");
    }
    if (status) {
        sel_domain_destroy(d);
        return status;
    }
    *domain = d;
    return SEL_OK;
}

void sel_domain_destroy(sel_domain *domain) {
    if (!domain) {
        return;
    }
    for (int face = 0; face < SEL_FACES; face++) {
        free(domain->face[face]);
    }
    free(domain->cell);
    free(domain->control_values);
    free(domain);
}

const char *sel_region_name(const sel_domain *domain, int number, char text[32]) {
    const char *name = domain->regions[number - 1].name;
    if (name) {
        return name;
    }
    snprintf(text, 32, "region_%d", number);
    return text;
}

/* 0 in the interior, the solid's region, or the latest painted of the faces that the cell touches.
 */
static uint8_t cell_type(const sel_domain *domain, const int64_t at[3]) {
    const int64_t *n = domain->grid.n;
    uint8_t solid = domain->cell[(at[2] * n[1] + at[1]) * n[0] + at[0]], type = 0;
    for (int f = 0; f < 2 * domain->grid.dims; f++) {
        int normal = f / 2, first = normal == 0 ? 1 : 0, second = normal == 2 ? 1 : 2;
        if (domain->face[f] && at[normal] == (f % 2 ? n[normal] - 1 : 0)) {
            uint8_t region = domain->face[f][at[second] * n[first] + at[first]];
            type = region > type ? region : type;
        }
    }
    return solid ? solid : type;
}

void sel_domain_cell_type(const sel_domain *domain, const sel_box *box, uint8_t *to) {
    int64_t at[3];
    for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2] += box->stride[2]) {
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1] += box->stride[1]) {
            for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0] += box->stride[0]) {
                *to++ = cell_type(domain, at);
            }
        }
    }
}
