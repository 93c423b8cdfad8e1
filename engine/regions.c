/* regions.c -- paint a region of a simulation onto its cells and face sites.
 *
 * Volumes and faces do not compete: each region is tested at the centres of all cells and at the
 * sites of all faces (the centres of the outer faces of boundary cells), some rows at a time,
 * leaving out the cells that the bounds of its shape exclude (all of them for a shape of faces),
 * and the last region that paints a place owns it.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/domain.h"
#include "engine/share.h"
#include "engine/solver.h"
#include "geometry/shape.h"

/* Places that are tested at once: some rows. */
typedef struct places {
    double *x, *y, *z;
    uint8_t *in;
} places;

/* One region to paint onto the cells (face < 0) or onto a face. */
typedef struct brush {
    sel_domain *domain;
    int face, region;
    const sel_shape *shape;
    sel_box rows;             /* one cell or site for each row: its first */
    int64_t length, together; /* places of a row; rows tested at once */
    int64_t painted;          /* places that are new to the region */
} brush;

enum { TESTED_AT_ONCE = 1 << 15, LEAST_PER_THREAD = 1 << 20 };

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
    const int64_t first = part * b->together, left = sel_box_cells(&b->rows) - first;
    const int64_t count = left < b->together ? left : b->together, n = count * b->length;
    const size_t bytes = (size_t)n * (3 * sizeof(double) + 1);
    int64_t painted = 0, at[3];
    double *room = malloc(bytes);
    const places p = {room, room + n, room + 2 * n, (uint8_t *)(room + 3 * n)};
    (void)thread;
    if (!room) {
        return sel_fail_memory(error, "painting the regions", bytes);
    }
    for (int64_t r = 0; r < count; r++) {
        row_start(b, first + r, at);
        fill_row(grid, b->face, at, b->length, &p, r * b->length);
    }
    row_start(b, first, at);
    const sel_places centres = {.n = (size_t)n,
                                .x = p.x,
                                .y = p.y,
                                .z = grid->dims == 3 ? p.z : NULL,
                                .controls = b->domain->control_values};
    sel_status status =
        sel_shape_test(b->shape, grid, b->face, &centres, row_regions(b, at), p.in, error);
    for (int64_t r = 0; r < count && !status; r++) {
        row_start(b, first + r, at);
        painted +=
            paint_row((uint8_t)b->region, p.in + r * b->length, b->length, row_regions(b, at));
    }
    free(room);
#pragma omp atomic
    b->painted += painted;
    return status;
}

static sel_status paint_parts(brush *b, int threads, int64_t *painted, sel_error *error) {
    const int64_t rows = sel_box_cells(&b->rows), worth = 1 + rows * b->length / LEAST_PER_THREAD;
    b->together = b->length < TESTED_AT_ONCE ? TESTED_AT_ONCE / b->length : 1;
    b->together = b->together < rows ? b->together : rows;
    threads = worth < threads ? (int)worth : threads;
    const int64_t parts = (rows + b->together - 1) / b->together;
    sel_status status = sel_share_out(parts, threads, paint_rows, b, error);
    *painted += b->painted;
    return status;
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
    brush b = {.domain = domain,
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

sel_status sel_domain_paint(sel_domain *domain, const sel_solver *solver, int number, int threads,
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
    status = paint(domain, -1, number, region->where, threads, &cells, error);
    for (int face = 0; !status && face < 2 * grid->dims; face++) {
        if (domain->face[face]) {
            status = paint(domain, face, number, region->where, threads, &sites, error);
        }
    }
    return status ? status : check_place(domain, solver, number, cells, sites, error);
}
