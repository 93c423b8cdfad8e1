/* regions.c -- paint a region of a simulation onto its cells and face sites.
 *
 * Cells and face sites are separate maps. Each region is tested at the centres of the cells within
 * the bounds of its shape (a shape of faces has none) and at the sites of all faces (the centres of
 * the outer faces of boundary cells), in batches of rows. The last region that paints a place owns
 * it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/scene/domain.h"
#include "engine/scene/shape.h"
#include "engine/scene/solver.h"

sel_status sel_domain_allocate(sel_domain *domain, sel_error *error) {
    int64_t cells = sel_grid_cells(&domain->grid);
    domain->cell = sel_machine_map((size_t)cells);
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

void sel_domain_free_maps(sel_domain *domain) {
    for (int face = 0; face < SEL_FACES; face++) {
        free(domain->face[face]);
    }
    for (int a = 0; a < 3; a++) {
        free(domain->free_at[a]);
    }
    sel_machine_unmap(domain->cell, (size_t)sel_grid_cells(&domain->grid));
    sel_machine_unmap(domain->painted, (size_t)sel_grid_cells(&domain->grid));
}

const char *sel_region_name(const sel_domain *domain, int number, char text[32]) {
    const char *name = domain->regions[number - 1].name;
    if (name) {
        return name;
    }
    snprintf(text, 32, "region_%d", number);
    return text;
}

/* The places of one batch of rows, and whether each lies inside the shape. */
typedef struct places {
    double *x, *y, *z;
    uint8_t *in;
} places;

/* One region to paint onto the cells (face < 0) or onto a face. */
typedef struct brush {
    sel_domain *domain;
    int face, region;
    const sel_shape *shape;
    sel_box rows;             /* the first cell or site of each row */
    int64_t length, together; /* places per row; rows per batch */
    int64_t painted;          /* places that the region did not own before */
} brush;

enum { TESTED_AT_ONCE = 1 << 15, LEAST_PER_THREAD = 1 << 20 };

/* Rows run along x, or along y on the faces across x: the order in which both are stored. */
static int row_axis(int face) {
    return face >= 0 && face / 2 == 0 ? 1 : 0;
}

/* Stores the coordinates of a row of n places in p, from index `from` on. The row begins at cell
 * `at`, or at the site of cell `at` on a face (face >= 0). */
static void regions_fill_row(const sel_grid *grid, int face, const int64_t at[3], int64_t n,
                             const places *p, int64_t from) {
    double first[3];
    double *const coordinate[3] = {p->x + from, p->y + from, p->z + from};
    const int along = row_axis(face);
    for (int a = 0; a < 3; a++) {
        first[a] = sel_centre(grid, a, (double)at[a]);
    }
    if (face >= 0) {
        const int normal = face / 2;
        first[normal] = face % 2 ? sel_upper_end(grid, normal) : grid->origin[normal];
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

/* The entries of a row in the map of the cells or of a face. */
static uint8_t *row_regions(const brush *b, const int64_t at[3]) {
    const sel_domain *domain = b->domain;
    return b->face < 0 ? domain->cell + sel_cell_number(&domain->grid, at)
                       : domain->face[b->face] + sel_face_site(&domain->grid, b->face, at);
}

/* Paints a row; returns the number of places that the region did not own before. Memory of rows
 * without any is not touched. */
static int64_t paint_row(uint8_t region, const uint8_t *restrict in, int64_t n,
                         uint8_t *restrict to) {
    int64_t painted = 0;
    if (!memchr(in, 1, (size_t)n)) {
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        painted += in[i] && to[i] != region;
        to[i] = in[i] ? region : to[i];
    }
    return painted;
}

/* Tests and paints one batch of rows; a sel_part. The rows of a face are contiguous, so that
 * row_regions of the first serves for the whole batch. */
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
        regions_fill_row(grid, b->face, at, b->length, &p, r * b->length);
    }
    row_start(b, first, at);
    const sel_places centres = sel_domain_at(b->domain, n, p.x, p.y, p.z, 0);
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

/* Clips a box of cells to the planes of this rank. */
static void leave_to_others(const sel_domain *domain, sel_box *box) {
    const sel_grid *grid = &domain->grid;
    const int axis = grid->dims - 1;
    const int64_t rows = axis == 2 ? grid->n[1] : 1;
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t first = own.first / rows, end = own.end / rows;
    box->lo[axis] = box->lo[axis] > first ? box->lo[axis] : first;
    box->hi[axis] = box->hi[axis] < end ? box->hi[axis] : end;
}

/* Paints a shape of region `region` on the cells (face < 0) or on one face. On cells the operands
 * of a union are painted one by one, each within its own bounds. */
static sel_status paint(sel_domain *domain, int face, int region, const sel_shape *shape,
                        int threads, int64_t *painted, sel_error *error) {
    if (face < 0 && shape->kind == SEL_SHAPE_UNION) {
        sel_status status = paint(domain, face, region, shape->a, threads, painted, error);
        return status ? status : paint(domain, face, region, shape->b, threads, painted, error);
    }
    sel_box box = face < 0 ? sel_shape_cells(shape, &domain->grid) : sel_grid_box(&domain->grid);
    if (face >= 0) {
        box.hi[face / 2] = 1;
    } else {
        leave_to_others(domain, &box);
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

/* The number of the cell that contains a point; -1: the point lies outside the domain. */
static int64_t cell_of(const sel_grid *grid, const sel_point *point) {
    int64_t at[3] = {0};
    for (int a = 0; a < grid->dims; a++) {
        const double cells = floor((point->v[a] - grid->origin[a]) / grid->dx[a]);
        if (!(cells >= 0 && cells < (double)grid->n[a])) {
            return -1;
        }
        at[a] = (int64_t)cells;
    }
    return sel_cell_number(grid, at);
}

/* The error of a spot without a free cell. */
static sel_status refuse_spot(const sel_domain *domain, const sel_spot *spot, int64_t cell,
                              sel_error *error) {
    char extent[SEL_EXTENT_TEXT], text[32], cell_text[SEL_CELL_TEXT];
    sel_extent_text(&domain->grid, extent);
    if (spot->shape) {
        return sel_fail_at(error, spot->where,
                           "%s: its shape covers no free cell of the domain, %s; cells of regions "
                           "and without ground are not free",
                           spot->what, extent);
    }
    if (cell < 0) {
        return sel_fail_at(error, spot->where, "%s at { %.10g, %.10g } lies outside the domain, %s",
                           spot->what, spot->point->v[0], spot->point->v[1], extent);
    }
    return sel_fail_at(error, spot->where,
                       "%s at { %.10g, %.10g }: its cell %s belongs to the region '%s' and takes "
                       "no water",
                       spot->what, spot->point->v[0], spot->point->v[1],
                       sel_cell_text(&domain->grid, cell, cell_text),
                       sel_region_name(domain, domain->cell[cell], text));
}

sel_status sel_domain_find(const sel_domain *domain, const sel_spot *spot, int threads, uint8_t *in,
                           int64_t *count, sel_error *error) {
    sel_domain of_one = {
        .grid = domain->grid, .cell = in, .control_values = domain->control_values};
    const int64_t cell = spot->shape ? -1 : cell_of(&domain->grid, spot->point);
    sel_status status = spot->shape ? sel_shape_check(spot->shape, &domain->grid, error) : SEL_OK;
    if (spot->shape && !status) {
        status = paint(&of_one, -1, 1, spot->shape, threads, count, error);
    }
    *count = 0;
    for (int64_t i = 0; i < sel_grid_cells(&domain->grid); i++) {
        in[i] = (in[i] || i == cell) && domain->cell[i] == 0;
        *count += in[i];
    }
    return status || *count > 0 ? status : refuse_spot(domain, spot, cell, error);
}

/* The first periodic face that a shape names; -1: none. `faces` leaves periodic faces out. */
static int periodic_face_of(const sel_shape *shape, const sel_grid *grid) {
    if (shape->a) {
        int face = periodic_face_of(shape->a, grid);
        return face >= 0 || !shape->b ? face : periodic_face_of(shape->b, grid);
    }
    bool periodic = shape->kind == SEL_SHAPE_FACE && sel_axis_periodic(grid, shape->face / 2);
    return periodic ? shape->face : -1;
}

static bool has_law(const sel_solver *solver, const sel_table *law) {
    bool found = false;
    for (int i = 0; i < solver->laws->count; i++) {
        found = found || solver->laws->tables[i] == law;
    }
    return found;
}

static sel_status check_place(const sel_domain *domain, const sel_solver *solver, int number,
                              int64_t cells, int64_t sites, sel_error *error) {
    const sel_region *region = &domain->regions[number - 1];
    char text[32];
    const char *name = sel_region_name(domain, number, text);
    const sel_variant *law;
    for (int k = 0; (law = sel_region_law(region, k)); k++) {
        if (!has_law(solver, law->table)) {
            return sel_fail_at(error, law->where, "region '%s': sel.%s has no such law", name,
                               solver->name);
        }
        if (cells && law->table->faces_only) {
            return sel_fail_at(error, law->where,
                               "region '%s': %s may sit on faces only, and this shape paints %lld "
                               "cells; use shape.face, or face * shape for a part of a face",
                               name, law->table->name, (long long)cells);
        }
    }
    if (cells + sites == 0 && !sel_shape_has_rest(region->where)) {
        char extent[SEL_EXTENT_TEXT];
        sel_extent_text(&domain->grid, extent);
        return sel_fail_at(error, region->at,
                           "region '%s' paints nothing: its shape contains no cell centre and no "
                           "face site of the domain, %s",
                           name, extent);
    }
    return SEL_OK;
}

/* Names are columns of files and keys of results, so their length is limited. Regions of one name
 * are added up there. */
enum { LONGEST_REGION_NAME = 48 };

sel_status sel_domain_paint(sel_domain *domain, const sel_solver *solver, int number, int threads,
                            sel_error *error) {
    const sel_region *region = &domain->regions[number - 1];
    const sel_grid *grid = &domain->grid;
    sel_status status = SEL_OK;
    if (region->name && (!*region->name || strlen(region->name) > LONGEST_REGION_NAME)) {
        status = sel_fail_at(error, region->at, "the name of a region must have 1 to %d characters",
                             LONGEST_REGION_NAME);
    }
    const sel_status shape = sel_shape_check(region->where, grid, error);
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
    sel_error own = {.status = SEL_OK};
    status = paint(domain, -1, number, region->where, threads, &cells, &own);
    status = sel_domain_agree(domain, status, &own, error);
    cells = sel_domain_total(domain, cells);
    for (int face = 0; !status && face < 2 * grid->dims; face++) {
        if (domain->face[face]) {
            status = paint(domain, face, number, region->where, threads, &sites, error);
        }
    }
    return status ? status : check_place(domain, solver, number, cells, sites, error);
}

/* ---- regions without effect: painted over by others, or in front of solid cells ----
 *
 * The final map shows which regions have no effect. If there are any, the regions are painted again
 * on a second map, which shows the places that each region painted at its turn.
 */

/* The number of places that a region painted at its turn. */
typedef struct former_places {
    int64_t cells, sites;
    int64_t over[SEL_REGION_NUMBERS];   /* places that another region owns now, by that region */
    int64_t behind[SEL_REGION_NUMBERS]; /* sites that it still owns, by the region of the cell
                                           behind */
} former_places;

/* Marks the regions that own a cell, or a site with a free cell behind it. */
static void regions_find_owners(const sel_domain *domain, int threads,
                                uint8_t owns[SEL_REGION_NUMBERS]) {
    const sel_grid *grid = &domain->grid;
    const int64_t cells = sel_grid_cells(grid);
    const uint8_t *cell = sel_domain_painted(domain);
#pragma omp parallel for schedule(static) num_threads(threads) \
    reduction(|                                                \
              : owns[:SEL_REGION_NUMBERS])
    for (int64_t i = 0; i < cells; i++) {
        owns[cell[i]] = 1;
    }
    for (int face = 0; face < SEL_FACES; face++) {
        const uint8_t *region = domain->face[face];
        for (int64_t s = 0; region && s < sel_face_sites(grid, face); s++) {
            owns[region[s]] |= domain->cell[sel_cell_behind(grid, face, s)] == 0;
        }
    }
}

/* Counts the places of region `number` in `then`, the map just after it was painted, by what they
 * are in the final map `now`. */
static void look_back(const sel_domain *then, const sel_domain *now, int number,
                      former_places *found) {
    const sel_grid *grid = &now->grid;
    *found = (former_places){.cells = 0};
    for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
        if (then->cell[i] == number) {
            found->cells++;
            found->over[sel_domain_painted(now)[i]]++;
        }
    }
    for (int face = 0; face < SEL_FACES; face++) {
        for (int64_t s = 0; now->face[face] && s < sel_face_sites(grid, face); s++) {
            const int owner = now->face[face][s];
            if (then->face[face][s] != number) {
                continue;
            }
            found->sites++;
            if (owner == number) {
                found->behind[now->cell[sel_cell_behind(grid, face, s)]]++;
            } else {
                found->over[owner]++;
            }
        }
    }
}

/* Prints " are painted over by 'walls' (channel.lua:12) and 1 more": the region with the largest
 * count, and the number of the others. False: all counts are 0. */
static bool name_most(const sel_domain *domain, const int64_t count[SEL_REGION_NUMBERS],
                      const char *verb, FILE *to) {
    int most = 0, others = -1;
    char name[32];
    for (int k = 1; k <= domain->region_count; k++) {
        others += count[k] > 0;
        most = count[k] > count[most] ? k : most;
    }
    if (!most) {
        return false;
    }
    const sel_where at = domain->regions[most - 1].at;
    fprintf(to, " %s '%s'", verb, sel_region_name(domain, most, name));
    if (at.file) {
        fprintf(to, " (%s:%d)", at.file, at.line);
    }
    if (others) {
        fprintf(to, " and %d more", others);
    }
    return true;
}

static sel_status regions_describe_lost(const sel_domain *domain, const former_places *found,
                                        sel_lost_region *lost, sel_error *error) {
    const bool one = found->cells + found->sites == 1;
    size_t size;
    char name[32];
    FILE *to = open_memstream(&lost->text, &size);
    if (!to) {
        return sel_fail_memory(error, "the regions", 0);
    }
    fputs(one ? "the " : "all ", to);
    if (found->cells) {
        fprintf(to, "%lld cell%s", (long long)found->cells, found->cells == 1 ? "" : "s");
    }
    fputs(found->cells && found->sites ? " and " : "", to);
    if (found->sites) {
        fprintf(to, "%lld site%s", (long long)found->sites, found->sites == 1 ? "" : "s");
    }
    fprintf(to, " of '%s'", sel_region_name(domain, lost->number, name));
    lost->painted_over =
        name_most(domain, found->over, one ? "is painted over by" : "are painted over by", to);
    char verb[40];
    snprintf(verb, sizeof verb, "%s%s behind the cells of", lost->painted_over ? "or " : "",
             one ? "lies" : "lie");
    name_most(domain, found->behind, verb, to);
    return fclose(to) == 0 ? SEL_OK : sel_fail_memory(error, "the regions", 0);
}

sel_status sel_domain_find_lost(sel_domain *domain, const struct sel_solver *solver, int threads,
                                sel_error *error) {
    uint8_t owns[SEL_REGION_NUMBERS] = {0};
    former_places found;
    int last = domain->region_count;
    regions_find_owners(domain, threads, owns);
    while (last > 0 && owns[last]) {
        last--;
    }
    if (last == 0) {
        return SEL_OK;
    }
    sel_domain then = {.grid = domain->grid,
                       .regions = domain->regions,
                       .region_count = domain->region_count,
                       .control_values = domain->control_values};
    sel_status status = sel_domain_allocate(&then, error);
    for (int k = 1; k <= last && !status; k++) {
        status = sel_domain_paint(&then, solver, k, threads, error);
        if (status || owns[k]) {
            continue;
        }
        look_back(&then, domain, k, &found);
        if (found.cells + found.sites) {
            sel_lost_region *lost = &domain->lost[domain->lost_count++];
            lost->number = k;
            status = regions_describe_lost(domain, &found, lost, error);
        }
    }
    sel_domain_free_maps(&then);
    return status;
}

const char *sel_domain_lost(const sel_domain *domain, int number) {
    for (int k = 0; k < domain->lost_count; k++) {
        if (domain->lost[k].number == number) {
            return domain->lost[k].text;
        }
    }
    return NULL;
}

void sel_domain_warn(const sel_domain *domain, sel_error *warnings) {
    for (int k = 0; k < domain->lost_count; k++) {
        const sel_lost_region *lost = &domain->lost[k];
        sel_fail_at(warnings, domain->regions[lost->number - 1].at, "%s%s", lost->text,
                    lost->painted_over ? "; regions are painted in order, the last one owns a place"
                                       : "");
    }
    sel_domain_warn_of_seams(domain, warnings);
    for (int k = 0; k < domain->region_count; k++) {
        if (domain->regions[k].where) {
            sel_shape_warn(domain->regions[k].where, &domain->grid, warnings);
        }
    }
}
