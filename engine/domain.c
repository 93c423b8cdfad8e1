/* domain.c -- paint a simulation's regions onto its cells and face sites.
 *
 * Volumes and faces do not compete: each region is tested at the centres of all cells and at the
 * sites of all faces (the centres of the outer faces of boundary cells), row by row, leaving out
 * the cells that the bounds of its shape exclude (all of them for a shape of faces), and the last
 * region that paints a place owns it. Afterwards every site of a face that is neither periodic nor
 * behind a solid cell must have an owner.
 */
#include "engine/domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"
#include "engine/solver.h"
#include "geometry/shape.h"

enum { MAX_REGIONS = 255 };

/* One region to paint onto the cells (face < 0) or onto a face. */
typedef struct brush {
    sel_domain *domain;
    int face, region;
    const sel_shape *shape;
    sel_box rows; /* one cell or site for each row: its first */
    int64_t length;
} brush;

/* Buffers for one row of places. */
typedef struct row {
    double *x, *y, *z;
    uint8_t *in;
} row;

static void row_free(row *r) {
    free(r->x);
    free(r->in);
}

static sel_status row_create(row *r, int64_t length, sel_error *error) {
    size_t n = (size_t)length;
    *r = (row){.x = malloc(3 * n * sizeof *r->x), .in = malloc(n)};
    if (!r->x || !r->in) {
        row_free(r);
        return sel_fail_memory(error, "painting the regions", n * 25);
    }
    r->y = r->x + n;
    r->z = r->y + n;
    return SEL_OK;
}

/* Rows run along x, or along y on the faces across x: the order in which both are stored. */
static int row_axis(int face) {
    return face >= 0 && face / 2 == 0 ? 1 : 0;
}

/* The row of `n` places from cell or site `at` on; of a face when face >= 0. */
static void row_places(const sel_grid *grid, int face, const int64_t at[3], int64_t n, row *r) {
    double p[3];
    for (int a = 0; a < 3; a++) {
        p[a] = sel_centre(grid, a, (double)at[a]);
    }
    if (face >= 0) {
        double cells = face % 2 ? (double)grid->n[face / 2] : 0;
        p[face / 2] = grid->origin[face / 2] + cells * grid->dx;
    }
    int along = row_axis(face);
    for (int64_t i = 0; i < n; i++) {
        p[along] = sel_centre(grid, along, (double)(at[along] + i));
        r->x[i] = p[0];
        r->y[i] = p[1];
        r->z[i] = p[2];
    }
}

/* Paints the row from `at` on; adds the number of places that are new to the region to *painted. */
static sel_status paint_row(const brush *b, const int64_t at[3], row *r, int64_t *painted,
                            sel_error *error) {
    const sel_domain *domain = b->domain;
    const sel_grid *grid = &domain->grid;
    size_t n = (size_t)b->length;
    uint8_t *to = b->face < 0 ? domain->cell + sel_cell_number(grid, at)
                              : domain->face[b->face] + sel_face_site(grid, b->face, at);
    row_places(grid, b->face, at, b->length, r);
    sel_places places = {n, r->x, r->y, grid->dims == 3 ? r->z : NULL, 0, domain->control_values};
    sel_status status = sel_shape_test(b->shape, grid, b->face, &places, to, r->in, error);
    for (size_t i = 0; i < n && !status; i++) {
        if (r->in[i] && to[i] != b->region) {
            to[i] = (uint8_t)b->region;
            ++*painted;
        }
    }
    return status;
}

/* Every parts-th row from row `part` on. */
static sel_status paint_rows(const brush *b, int64_t part, int64_t parts, int64_t *painted,
                             sel_error *error) {
    const sel_box *rows = &b->rows;
    int64_t n[2] = {sel_box_count(rows, 0), sel_box_count(rows, 1)};
    row r;
    sel_status status = row_create(&r, b->length, error);
    if (status) {
        return status;
    }
    for (int64_t i = part; i < sel_box_cells(rows) && !status; i += parts) {
        const int64_t at[3] = {rows->lo[0] + i % n[0], rows->lo[1] + i / n[0] % n[1],
                               rows->lo[2] + i / n[0] / n[1]};
        status = paint_row(b, at, &r, painted, error);
    }
    row_free(&r);
    return status;
}

enum { LEAST_PER_THREAD = 1 << 20 };

/* Functions belong to one thread. */
static int threads_for(const brush *b, int threads) {
    int64_t worth = 1 + sel_box_cells(&b->rows) * b->length / LEAST_PER_THREAD;
    return sel_shape_has_function(b->shape) ? 1 : worth < threads ? (int)worth : threads;
}

static sel_status paint_parts(const brush *b, int threads, int64_t *painted, sel_error *error) {
    int64_t sum = 0;
    bool failed = false;
    threads = threads_for(b, threads);
    if (threads == 1) {
        return paint_rows(b, 0, 1, painted, error);
    }
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum) \
    reduction(|| : failed)
    for (int part = 0; part < threads; part++) {
        failed = failed || paint_rows(b, part, threads, &sum, NULL) != SEL_OK;
    }
    *painted += sum;
    return failed ? sel_fail_memory(error, "painting the regions", (size_t)b->length * 25) : SEL_OK;
}

/* Paints a shape of region `region` on the cells (face < 0) or on one face. On cells the parts of a
 * sum are painted one by one, each within its own bounds. */
static sel_status paint(sel_domain *domain, int face, int region, const sel_shape *shape,
                        int threads, int64_t *painted, sel_error *error) {
    if (face < 0 && shape->kind == SEL_SHAPE_UNION) {
        sel_status status = paint(domain, face, region, shape->a, threads, painted, error);
        return status ? status : paint(domain, face, region, shape->b, threads, painted, error);
    }
    sel_box box = face < 0 ? sel_shape_cells(shape, &domain->grid) : sel_grid_box(&domain->grid);
    if (face >= 0) {
        box.hi[face / 2] = 1;
    }
    if (sel_box_cells(&box) == 0) {
        return SEL_OK;
    }
    int along = row_axis(face);
    brush b = {domain, face, region, shape, box, sel_box_count(&box, along)};
    b.rows.hi[along] = b.rows.lo[along] + 1;
    return paint_parts(&b, threads, painted, error);
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

static sel_status paint_region(sel_domain *domain, const sel_solver *solver, int number,
                               int threads, sel_error *error) {
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
    status = paint(domain, -1, number, region->where, threads, &cells, error);
    for (int face = 0; !status && face < 2 * grid->dims; face++) {
        if (domain->face[face]) {
            status = paint(domain, face, number, region->where, threads, &sites, error);
        }
    }
    return status ? status : check_place(domain, solver, number, cells, sites, error);
}

static sel_status check_face_painted(const sel_domain *domain, const sel_simulation *simulation,
                                     int face, sel_error *error) {
    const sel_grid *grid = &domain->grid;
    int64_t first = -1, missing = 0;
    for (int64_t site = 0; site < sel_face_sites(grid, face); site++) {
        int64_t at[3];
        sel_face_cell(grid, face, site, at);
        if (domain->face[face][site] == 0 && domain->cell[sel_cell_number(grid, at)] == 0) {
            first = first < 0 ? site : first;
            missing++;
        }
    }
    if (missing == 0) {
        return SEL_OK;
    }
    char cell[SEL_CELL_TEXT];
    int64_t at[3];
    sel_face_cell(grid, face, first, at);
    sel_cell_text(grid, at, cell);
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

/* Makes the free cells that are blank a region of their own, behind the others. */
static sel_status add_nodata(sel_domain *domain, const sel_simulation *simulation,
                             const uint8_t *blank, sel_variant law, sel_error *error) {
    int64_t cells = sel_grid_cells(&domain->grid), painted = 0;
    int number = domain->region_count + 1;
    for (int64_t i = 0; i < cells; i++) {
        bool paints = blank[i] && domain->cell[i] == 0;
        domain->cell[i] = paints && number <= MAX_REGIONS ? (uint8_t)number : domain->cell[i];
        painted += paints;
    }
    if (painted == 0) {
        return SEL_OK;
    }
    if (number > MAX_REGIONS) {
        return sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                           "%d regions, and the cells without data are one more; at most %d are "
                           "possible",
                           domain->region_count, MAX_REGIONS);
    }
    domain->own_regions = calloc((size_t)number, sizeof *domain->own_regions);
    if (!domain->own_regions) {
        return sel_fail_memory(error, "the regions", (size_t)number * sizeof *domain->own_regions);
    }
    for (int k = 0; k < domain->region_count; k++) {
        domain->own_regions[k] = domain->regions[k];
    }
    domain->own_regions[number - 1] = (sel_region){
        .at = sel_simulation_where(simulation, "nodata"), .name = "nodata", .law = law};
    domain->regions = domain->own_regions;
    domain->region_count = number;
    return SEL_OK;
}

static sel_status paint_nodata(sel_domain *domain, const sel_simulation *simulation,
                               sel_error *error) {
    const sel_solver *solver = simulation->solver;
    size_t cells = (size_t)sel_grid_cells(&domain->grid);
    sel_variant law = {NULL, NULL, {NULL, 0}};
    if (!solver->blank) {
        return SEL_OK;
    }
    uint8_t *blank = calloc(cells, 1);
    if (!blank) {
        return sel_fail_memory(error, "the cells without data", cells);
    }
    sel_status status = solver->blank(simulation, &domain->grid, blank, &law, error);
    status = status ? status : add_nodata(domain, simulation, blank, law, error);
    free(blank);
    return status;
}

static sel_status paint_all(sel_domain *domain, const sel_simulation *simulation,
                            sel_error *error) {
    int64_t given = simulation->params->threads;
    int threads = given > 0 ? (int)given : sel_machine_threads();
    sel_status status = SEL_OK;
    for (int region = 1; region <= domain->region_count; region++) {
        sel_status painted = paint_region(domain, simulation->solver, region, threads, error);
        status = status ? status : painted;
    }
    status = status ? status : paint_nodata(domain, simulation, error);
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
    free(domain->own_regions);
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
    const sel_grid *grid = &domain->grid;
    uint8_t solid = domain->cell[sel_cell_number(grid, at)], type = 0;
    for (int f = 0; f < 2 * grid->dims; f++) {
        if (domain->face[f] && at[f / 2] == (f % 2 ? grid->n[f / 2] - 1 : 0)) {
            uint8_t region = domain->face[f][sel_face_site(grid, f, at)];
            type = region > type ? region : type;
        }
    }
    return solid ? solid : type;
}

/* Away from the faces across y and z only the ends of a row touch a face. */
static bool only_ends_touch(const sel_grid *grid, int64_t y, int64_t z) {
    bool inner = y > 0 && y < grid->n[1] - 1;
    return inner && (grid->dims == 2 || (z > 0 && z < grid->n[2] - 1));
}

void sel_domain_cell_type(const sel_domain *domain, const sel_box *box, uint8_t *to) {
    const sel_grid *grid = &domain->grid;
    int64_t at[3], last = grid->n[0] - 1;
    for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2] += box->stride[2]) {
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1] += box->stride[1]) {
            bool inner = only_ends_touch(grid, at[1], at[2]);
            const int64_t start[3] = {0, at[1], at[2]};
            const uint8_t *solid = domain->cell + sel_cell_number(grid, start);
            for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0] += box->stride[0]) {
                bool plain = inner && at[0] > 0 && at[0] < last;
                *to++ = plain ? solid[at[0]] : cell_type(domain, at);
            }
        }
    }
}
