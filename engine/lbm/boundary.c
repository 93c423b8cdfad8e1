/* boundary.c -- list the boundary cells of a D2Q9 domain and where each population comes from.
 *
 * A population that moves along e arrives at the cell x from x - e (after the periodic axes have
 * wrapped). When x - e is a free cell it is pulled. When x - e is a solid cell, the link is bounced
 * back by the solid's region. When x - e lies outside, the link crosses one face or, at a corner,
 * two; see the rules in boundary.h.
 */
#include "engine/lbm/boundary.h"

#include <stdlib.h>
#include "engine/lbm/lbm.h"
#include "engine/physics/lbm_d2q9.h"

/* ex, ey of direction i */
#define VELOCITY(i, ex, ey, opposite, weight) {ex, ey},
static const int velocities[D2Q9_COUNT][2] = {D2Q9(VELOCITY)};
#undef VELOCITY

/* What one cell's links are: per direction the region that owns it, 0: pulled. */
typedef struct links {
    uint8_t region[D2Q9_COUNT];
    uint32_t bounced, open;
    int face; /* the open one */
    lbm_opening opening;
} links;

static const sel_region *region_of(const sel_domain *domain, int number) {
    return &domain->regions[number - 1];
}

static lbm_opening opening_of(const sel_domain *domain, int region) {
    const sel_table *law = region_of(domain, region)->law.table;
    return law == &lbm_velocity_table   ? LBM_OPEN_VELOCITY
           : law == &lbm_pressure_table ? LBM_OPEN_PRESSURE
                                        : LBM_CLOSED;
}

/* Face across which `at` lies outside along `axis`; -1 inside, and on periodic axes after wrapping
 * `at` back. */
static int face_crossed(const sel_grid *grid, int axis, int64_t *at) {
    int64_t n = grid->n[axis];
    if (*at >= 0 && *at < n) {
        return -1;
    }
    if (sel_axis_periodic(grid, axis)) {
        *at = *at < 0 ? *at + n : *at - n;
        return -1;
    }
    return 2 * axis + (*at < 0 ? 0 : 1);
}

/* The region that owns what comes to cell (x, y) along direction i; 0: pulled from a free cell. */
static int owner(const sel_domain *domain, int64_t x, int64_t y, int i) {
    const sel_grid *grid = &domain->grid;
    int64_t from[2] = {x - velocities[i][0], y - velocities[i][1]};
    int face_x = face_crossed(grid, 0, &from[0]), face_y = face_crossed(grid, 1, &from[1]);
    int across_x = face_x >= 0 ? domain->face[face_x][y] : 0;
    int across_y = face_y >= 0 ? domain->face[face_y][x] : 0;
    if (!across_x && !across_y) {
        return domain->cell[from[1] * grid->n[0] + from[0]];
    }
    if (across_x && opening_of(domain, across_x)) {
        return across_x;
    }
    if (across_y && opening_of(domain, across_y)) {
        return across_y;
    }
    return across_x > across_y ? across_x : across_y;
}

/* The open faces at cell (x, y): their number, at most 4, and which. */
static int open_faces(const sel_domain *domain, int64_t x, int64_t y, int faces[4]) {
    const int64_t *n = domain->grid.n, at[2] = {x, y};
    int count = 0;
    for (int f = 0; f < 4; f++) {
        bool touches = at[f / 2] == (f % 2 ? n[f / 2] - 1 : 0);
        if (domain->face[f] && touches && opening_of(domain, domain->face[f][at[1 - f / 2]])) {
            faces[count++] = f;
        }
    }
    return count;
}

static bool find_links(const sel_domain *domain, int64_t x, int64_t y, links *found) {
    *found = (links){.face = -1};
    for (int i = 1; i < D2Q9_COUNT; i++) {
        int region = owner(domain, x, y, i);
        found->region[i] = (uint8_t)region;
        if (region && opening_of(domain, region)) {
            found->open |= 1u << i;
            found->opening = opening_of(domain, region);
        } else if (region) {
            found->bounced |= 1u << i;
        }
    }
    int faces[4];
    if (found->open && open_faces(domain, x, y, faces) > 0) {
        found->face = faces[0];
    }
    return (found->open | found->bounced) != 0;
}

static sel_status refuse_meeting(const sel_domain *domain, int64_t x, int64_t y, const int faces[4],
                                 sel_error *error) {
    char text[2][32];
    int region[2];
    for (int k = 0; k < 2; k++) {
        region[k] = domain->face[faces[k]][faces[k] / 2 ? x : y];
    }
    return sel_fail_at(
        error, region_of(domain, region[1])->law.where,
        "open faces %s (region '%s') and %s (region '%s') meet at cell {%lld, %lld}; "
        "paint a wall on one of them there, for example with face - box",
        sel_face_name(faces[0]), sel_region_name(domain, region[0], text[0]),
        sel_face_name(faces[1]), sel_region_name(domain, region[1], text[1]), (long long)x,
        (long long)y);
}

static sel_status refuse_meetings(const sel_domain *domain, sel_error *error) {
    const int64_t *n = domain->grid.n;
    for (int64_t y = 0; y < n[1]; y++) {
        bool edge = y == 0 || y == n[1] - 1;
        for (int64_t x = 0; x < n[0]; x += edge || n[0] == 1 ? 1 : n[0] - 1) {
            int faces[4];
            if (!domain->cell[y * n[0] + x] && open_faces(domain, x, y, faces) > 1) {
                return refuse_meeting(domain, x, y, faces, error);
            }
        }
    }
    return SEL_OK;
}

/* Both lists are made in two passes: without memory yet, entries are only counted. */
static void add_to_spans(lbm_boundary *b, int64_t x, bool opens) {
    b->span_count += opens;
    if (b->spans) {
        lbm_span *span = &b->spans[b->span_count - 1];
        span->x0 = opens ? x : span->x0;
        span->x1 = x + 1;
    }
}

static void add_cell(lbm_boundary *b, int64_t x, const links *found) {
    if (b->cells) {
        b->cells[b->cell_count] = (lbm_boundary_cell){
            .x = x,
            .first_link = b->link_count,
            .opening_index = found->open ? b->open_count : -1,
            .bounced = found->bounced,
            .open = found->open,
            .face = found->face,
            .opening = found->opening,
        };
    }
    for (int i = 1; i < D2Q9_COUNT; i++) {
        if (found->region[i] && b->link_region) {
            b->link_region[b->link_count] = found->region[i];
        }
        b->link_count += found->region[i] != 0;
    }
    b->open_count += found->open != 0;
    b->cell_count++;
}

static void list_row(const sel_domain *domain, int64_t y, lbm_boundary *b) {
    int64_t n = domain->grid.n[0];
    const uint8_t *solid = domain->cell + y * n;
    for (int64_t x = 0; x < n; x++) {
        links found;
        if (solid[x]) {
            continue;
        }
        add_to_spans(b, x, x == 0 || solid[x - 1]);
        if (find_links(domain, x, y, &found)) {
            add_cell(b, x, &found);
        }
    }
}

static void list_rows(const sel_domain *domain, lbm_boundary *b) {
    b->cell_count = b->link_count = b->open_count = b->span_count = 0;
    for (int64_t y = 0; y < b->rows; y++) {
        if (b->row_cells) {
            b->row_cells[y] = b->cell_count;
            b->row_spans[y] = b->span_count;
        }
        list_row(domain, y, b);
    }
    if (b->row_cells) {
        b->row_cells[b->rows] = b->cell_count;
        b->row_spans[b->rows] = b->span_count;
    }
}

/* calloc that never asks for nothing, and adds up what it asked for. */
static void *take(int64_t count, size_t size, uint64_t *bytes) {
    *bytes += (uint64_t)(count + 1) * size;
    return calloc((size_t)count + 1, size);
}

sel_status lbm_boundary_create(const sel_domain *domain, lbm_boundary *boundary, sel_error *error) {
    *boundary = (lbm_boundary){.rows = domain->grid.n[1]};
    sel_status status = refuse_meetings(domain, error);
    if (status) {
        return status;
    }
    lbm_boundary *b = boundary;
    list_rows(domain, b);
    uint64_t bytes = 0;
    b->cells = take(b->cell_count, sizeof *b->cells, &bytes);
    b->link_region = take(b->link_count, sizeof *b->link_region, &bytes);
    b->spans = take(b->span_count, sizeof *b->spans, &bytes);
    b->row_cells = take(b->rows, sizeof *b->row_cells, &bytes);
    b->row_spans = take(b->rows, sizeof *b->row_spans, &bytes);
    if (!b->cells || !b->link_region || !b->spans || !b->row_cells || !b->row_spans) {
        lbm_boundary_free(b);
        return sel_fail_memory(error, "the list of boundary cells", bytes);
    }
    list_rows(domain, b);
    status = lbm_batches_create(domain, b, &b->batches, error);
    if (status) {
        lbm_boundary_free(b);
    }
    return status;
}

void lbm_boundary_free(lbm_boundary *boundary) {
    lbm_batches_free(&boundary->batches);
    free(boundary->cells);
    free(boundary->link_region);
    free(boundary->spans);
    free(boundary->row_cells);
    free(boundary->row_spans);
    *boundary = (lbm_boundary){0};
}
