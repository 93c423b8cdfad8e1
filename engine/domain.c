/* domain.c -- paint a simulation's regions onto its cells and face sites.
 *
 * Volumes and faces do not compete: each region is tested at the centres of all cells and at the
 * sites of all faces (the centres of the outer faces of boundary cells), some rows at a time,
 * leaving out the cells that the bounds of its shape exclude (all of them for a shape of faces),
 * and the last region that paints a place owns it. Afterwards every site of a face that is neither
 * periodic nor behind a solid cell must have an owner.
 */
#include "engine/domain.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"
#include "engine/overpaint.h"
#include "engine/share.h"
#include "engine/solver.h"
#include "geometry/shape.h"

enum { MAX_REGIONS = SEL_REGION_NUMBERS - 1 };

/* Places that are tested at once: some rows. */
typedef struct places {
    double *x, *y, *z;
    uint8_t *in;
} places;

/* One region to paint onto the cells (face < 0) or onto a face. */
typedef struct brush {
    sel_domain *domain;
    sel_overpaint *overpaint;
    int face, region;
    const sel_shape *shape;
    sel_box rows;             /* one cell or site for each row: its first */
    int64_t length, together; /* places of a row; rows tested at once */
    places *places;           /* of each thread */
    int64_t painted;          /* places that are new to the region */
} brush;

enum { TESTED_AT_ONCE = 1 << 15, LEAST_PER_THREAD = 1 << 20 };

static void free_places(brush *b, int threads) {
    for (int k = 0; b->places && k < threads; k++) {
        free(b->places[k].x);
        free(b->places[k].in);
    }
    free(b->places);
}

static sel_status take_places(brush *b, int threads, sel_error *error) {
    const size_t n = (size_t)(b->length * b->together);
    b->places = calloc((size_t)threads, sizeof *b->places);
    bool enough = b->places;
    for (int k = 0; enough && k < threads; k++) {
        places *p = &b->places[k];
        *p = (places){.x = malloc(3 * n * sizeof *p->x), .in = malloc(n)};
        enough = p->x && p->in;
        p->y = enough ? p->x + n : NULL;
        p->z = enough ? p->y + n : NULL;
    }
    return enough ? SEL_OK
                  : sel_fail_memory(error, "painting the regions", (size_t)threads * n * 25);
}

/* Rows run along x, or along y on the faces across x: the order in which both are stored. */
static int row_axis(int face) {
    return face >= 0 && face / 2 == 0 ? 1 : 0;
}

/* Fills p from its place `from` on with the row of `n` places from cell or site `at` on; of a face
 * when face >= 0. */
static void fill_row(const sel_grid *grid, int face, const int64_t at[3], int64_t n,
                     const places *p, int64_t from) {
    double first[3];
    double *const coordinate[3] = {p->x + from, p->y + from, p->z + from};
    const int along = row_axis(face);
    for (int a = 0; a < 3; a++) {
        first[a] = sel_centre(grid, a, (double)at[a]);
    }
    if (face >= 0) {
        double cells = face % 2 ? (double)grid->n[face / 2] : 0;
        first[face / 2] = grid->origin[face / 2] + cells * grid->dx;
    }
    for (int a = 0; a < 3; a++) {
        for (int64_t i = 0; i < n; i++) {
            coordinate[a][i] =
                a == along ? sel_centre(grid, along, (double)(at[along] + i)) : first[a];
        }
    }
}

/* The first cell or site of row i. */
static void row_start(const brush *b, int64_t i, int64_t at[3]) {
    const int64_t n[2] = {sel_box_count(&b->rows, 0), sel_box_count(&b->rows, 1)};
    at[0] = b->rows.lo[0] + i % n[0];
    at[1] = b->rows.lo[1] + i / n[0] % n[1];
    at[2] = b->rows.lo[2] + i / n[0] / n[1];
}

/* Where the regions of a row are stored. */
static uint8_t *row_regions(const brush *b, const int64_t at[3]) {
    const sel_domain *domain = b->domain;
    return b->face < 0 ? domain->cell + sel_cell_number(&domain->grid, at)
                       : domain->face[b->face] + sel_face_site(&domain->grid, b->face, at);
}

/* Returns the number of places that are new to the region. */
static int64_t paint_row(uint8_t region, const uint8_t *restrict in, int64_t n,
                         uint8_t *restrict to) {
    int64_t painted = 0;
    for (int64_t i = 0; i < n; i++) {
        painted += in[i] && to[i] != region;
        to[i] = in[i] ? region : to[i];
    }
    return painted;
}

/* sel_part: tests and paints the rows of a part. Those of a face lie one behind the other. */
static sel_status paint_rows(void *task, int64_t part, int thread, sel_error *error) {
    brush *b = task;
    const sel_grid *grid = &b->domain->grid;
    const places *p = &b->places[thread];
    int64_t first = part * b->together, left = sel_box_cells(&b->rows) - first;
    int64_t count = left < b->together ? left : b->together, painted = 0, at[3];
    for (int64_t r = 0; r < count; r++) {
        row_start(b, first + r, at);
        fill_row(grid, b->face, at, b->length, p, r * b->length);
    }
    row_start(b, first, at);
    const sel_places centres = {.n = (size_t)(count * b->length),
                                .x = p->x,
                                .y = p->y,
                                .z = grid->dims == 3 ? p->z : NULL,
                                .controls = b->domain->control_values};
    sel_status status =
        sel_shape_test(b->shape, grid, b->face, &centres, row_regions(b, at), p->in, error);
    for (int64_t r = 0; r < count && !status; r++) {
        row_start(b, first + r, at);
        const uint8_t *in = p->in + r * b->length, region = (uint8_t)b->region;
        sel_overpaint_note(b->overpaint, b->face < 0, region, in, b->length, row_regions(b, at));
        painted += paint_row(region, in, b->length, row_regions(b, at));
    }
#pragma omp atomic
    b->painted += painted;
    return status;
}

static sel_status paint_parts(brush *b, int threads, int64_t *painted, sel_error *error) {
    const int64_t rows = sel_box_cells(&b->rows), worth = 1 + rows * b->length / LEAST_PER_THREAD;
    b->together = b->length < TESTED_AT_ONCE ? TESTED_AT_ONCE / b->length : 1;
    b->together = b->together < rows ? b->together : rows;
    threads = worth < threads ? (int)worth : threads;
    sel_status status = take_places(b, threads, error);
    if (!status) {
        int64_t parts = (rows + b->together - 1) / b->together;
        status = sel_share_out(parts, threads, paint_rows, b, error);
    }
    free_places(b, threads);
    *painted += b->painted;
    return status;
}

/* Paints a shape of region `region` on the cells (face < 0) or on one face. On cells the parts of a
 * sum are painted one by one, each within its own bounds. */
static sel_status paint(sel_domain *domain, sel_overpaint *overpaint, int face, int region,
                        const sel_shape *shape, int threads, int64_t *painted, sel_error *error) {
    if (face < 0 && shape->kind == SEL_SHAPE_UNION) {
        sel_status status =
            paint(domain, overpaint, face, region, shape->a, threads, painted, error);
        return status ? status
                      : paint(domain, overpaint, face, region, shape->b, threads, painted, error);
    }
    sel_box box = face < 0 ? sel_shape_cells(shape, &domain->grid) : sel_grid_box(&domain->grid);
    if (face >= 0) {
        box.hi[face / 2] = 1;
    }
    if (sel_box_cells(&box) == 0) {
        return SEL_OK;
    }
    int along = row_axis(face);
    brush b = {.domain = domain,
               .overpaint = overpaint,
               .face = face,
               .region = region,
               .shape = shape,
               .rows = box,
               .length = sel_box_count(&box, along)};
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
        char extent[SEL_EXTENT_TEXT];
        sel_extent_text(&domain->grid, extent);
        return sel_fail_at(error, region->at,
                           "region '%s' paints nothing: its shape contains no cell centre and no "
                           "face site of the domain, %s",
                           name, extent);
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

/* Names are columns of files and keys of results: not too long for them. Regions of one name count
 * together there. */
static sel_status check_name(const sel_domain *domain, int number, sel_error *error) {
    const sel_region *region = &domain->regions[number - 1];
    if (!region->name) {
        return SEL_OK;
    }
    if (!*region->name || strlen(region->name) > LONGEST_REGION_NAME) {
        return sel_fail_at(error, region->at, "the name of a region must have 1 to %d characters",
                           LONGEST_REGION_NAME);
    }
    return SEL_OK;
}

static sel_status paint_region(sel_domain *domain, sel_overpaint *overpaint,
                               const sel_solver *solver, int number, int threads,
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
    status = paint(domain, overpaint, -1, number, region->where, threads, &cells, error);
    for (int face = 0; !status && face < 2 * grid->dims; face++) {
        if (domain->face[face]) {
            status = paint(domain, overpaint, face, number, region->where, threads, &sites, error);
        }
    }
    overpaint->cells[number] = cells;
    overpaint->kept_cells[number] += cells;
    overpaint->sites[number] = sites;
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
        char text[SEL_BYTES_ROOM];
        return sel_fail(error, SEL_NO_DEVICE,
                        "not enough memory: the map of %lld cells alone takes %s; reduce size",
                        (long long)cells, sel_bytes_text((double)cells, text));
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

unsigned sel_domain_due(const sel_domain *domain, double *kept) {
    const size_t bytes = (size_t)domain->control_count * sizeof *kept;
    if (bytes == 0 || memcmp(kept, domain->control_values, bytes) == 0) {
        return SEL_ON_T;
    }
    memcpy(kept, domain->control_values, bytes);
    return SEL_ON_T | SEL_ON_CONTROLS;
}

/* Makes the free cells that are blank a region of their own, behind the others. */
static sel_status add_nodata(sel_domain *domain, const sel_simulation *simulation,
                             const uint8_t *blank, sel_variant law, int threads, sel_error *error) {
    const int64_t cells = sel_grid_cells(&domain->grid);
    const int number = domain->region_count + 1;
    const uint8_t region = number <= MAX_REGIONS ? (uint8_t)number : 0;
    uint8_t *cell = domain->cell;
    int64_t painted = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : painted)
    for (int64_t i = 0; i < cells; i++) {
        bool paints = blank[i] && cell[i] == 0;
        cell[i] = paints ? region : cell[i];
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

static sel_status paint_nodata(sel_domain *domain, const sel_simulation *simulation, int threads,
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
    sel_status status = solver->blank(simulation, domain, threads, blank, &law, error);
    if (!status && law.table) {
        status = add_nodata(domain, simulation, blank, law, threads, error);
    }
    free(blank);
    return status;
}

static int64_t count_free(const sel_domain *domain, int threads) {
    const int64_t cells = sel_grid_cells(&domain->grid);
    const uint8_t *cell = domain->cell;
    int64_t count = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : count)
    for (int64_t i = 0; i < cells; i++) {
        count += cell[i] == 0;
    }
    return count;
}

static sel_status paint_all(sel_domain *domain, const sel_simulation *simulation, int threads,
                            sel_error *error) {
    sel_overpaint *overpaint = calloc(1, sizeof *overpaint);
    sel_status status =
        overpaint ? SEL_OK : sel_fail_memory(error, "the regions", sizeof *overpaint);
    for (int region = 1; overpaint && region <= domain->region_count; region++) {
        sel_status painted =
            paint_region(domain, overpaint, simulation->solver, region, threads, error);
        status = status ? status : painted;
    }
    status = status ? status : paint_nodata(domain, simulation, threads, error);
    status = status ? status : sel_overpaint_find(overpaint, domain, error);
    free(overpaint);
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
    const int threads = omp_get_max_threads();
    status = status ? status : paint_all(d, simulation, threads, error);
    d->free_cells = status ? 0 : count_free(d, threads);
    if (!status && d->free_cells == 0) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "regions"),
                             d->own_regions
                                 ? "the data have gaps wherever the regions leave a cell free; "
                                   "nothing is left to compute"
                                 : "the regions make every cell solid; nothing is left to compute");
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
    free(domain->lost);
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

/* The latest painted of the faces that a cell touches; 0 away from them. */
static uint8_t face_region(const sel_domain *domain, const int64_t at[3]) {
    const sel_grid *grid = &domain->grid;
    uint8_t latest = 0;
    for (int f = 0; f < 2 * grid->dims; f++) {
        if (domain->face[f] && at[f / 2] == (f % 2 ? grid->n[f / 2] - 1 : 0)) {
            uint8_t region = domain->face[f][sel_face_site(grid, f, at)];
            latest = region > latest ? region : latest;
        }
    }
    return latest;
}

/* Away from the faces across y and z only the ends of a row touch a face. */
static bool only_ends_touch(const sel_grid *grid, int64_t y, int64_t z) {
    bool inner = y > 0 && y < grid->n[1] - 1;
    return inner && (grid->dims == 2 || (z > 0 && z < grid->n[2] - 1));
}

void sel_domain_cells(const sel_domain *domain, const sel_box *box, const sel_cell_marks *to) {
    const sel_grid *grid = &domain->grid;
    int64_t at[3], last = grid->n[0] - 1, k = 0;
    for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2] += box->stride[2]) {
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1] += box->stride[1]) {
            const bool inner = only_ends_touch(grid, at[1], at[2]);
            const int64_t start[3] = {0, at[1], at[2]};
            const uint8_t *row = domain->cell + sel_cell_number(grid, start);
            for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0] += box->stride[0], k++) {
                const uint8_t region = row[at[0]];
                const bool away = inner && at[0] > 0 && at[0] < last;
                to->cell_type[k] = region;
                to->solid[k] = region != 0;
                to->boundary[k] = region || away ? 0 : face_region(domain, at);
            }
        }
    }
}
