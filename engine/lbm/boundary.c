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

/* Where a population comes from. */
typedef enum source { PULLED, BOUNCED, MIRRORED_X, MIRRORED_Y, OPEN } source;

typedef struct origin {
    source source;
    int region; /* that owns the link; 0: pulled */
} origin;

static const sel_region *region_of(const sel_domain *domain, int number) {
    return &domain->regions[number - 1];
}

static bool is_law(const sel_domain *domain, int number, const sel_table *law) {
    return number > 0 && region_of(domain, number)->law.table == law;
}

bool lbm_region_is_wet(const sel_region *region) {
    const sel_table *law = region->law.table;
    if (law == &lbm_wall_table) {
        return ((const lbm_law_wall *)region->law.data)->scheme == LBM_ZOU_HE;
    }
    return law != &lbm_slip_table;
}

static bool is_wet(const sel_domain *domain, int number) {
    return number > 0 && lbm_region_is_wet(region_of(domain, number));
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

/* A link that crosses the faces of two regions, of which none is wet. */
static origin across_corner(const sel_domain *domain, int across_x, int across_y) {
    bool slip_x = is_law(domain, across_x, &lbm_slip_table);
    bool slip_y = is_law(domain, across_y, &lbm_slip_table);
    int later = across_x > across_y ? across_x : across_y;
    return (origin){BOUNCED, slip_x == slip_y ? later : slip_x ? across_y : across_x};
}

/* What comes to cell (x, y) along direction i. */
static origin find_origin(const sel_domain *domain, int64_t x, int64_t y, int i) {
    const sel_grid *grid = &domain->grid;
    int64_t from[2] = {x - velocities[i][0], y - velocities[i][1]};
    int face_x = face_crossed(grid, 0, &from[0]), face_y = face_crossed(grid, 1, &from[1]);
    int across_x = face_x >= 0 ? domain->face[face_x][y] : 0;
    int across_y = face_y >= 0 ? domain->face[face_y][x] : 0;
    int across = across_x ? across_x : across_y;
    if (is_wet(domain, across_x) && is_wet(domain, across_y)) {
        return (origin){OPEN, is_law(domain, across_x, &lbm_wall_table) ? across_y : across_x};
    }
    if (is_wet(domain, across_x) || is_wet(domain, across_y)) {
        return (origin){OPEN, is_wet(domain, across_x) ? across_x : across_y};
    }
    if (across_x && across_y) {
        return across_corner(domain, across_x, across_y);
    }
    if (!across) {
        int solid = domain->cell[from[1] * grid->n[0] + from[0]];
        return (origin){solid ? BOUNCED : PULLED, solid};
    }
    bool diagonal = velocities[i][0] != 0 && velocities[i][1] != 0;
    if (!is_law(domain, across, &lbm_slip_table) || !diagonal) {
        return (origin){BOUNCED, across};
    }
    int solid = domain->cell[(across_y ? y : from[1]) * grid->n[0] + (across_x ? x : from[0])];
    return solid ? (origin){BOUNCED, solid} : (origin){across_x ? MIRRORED_X : MIRRORED_Y, across};
}

/* The wet faces at cell (x, y): their number, at most 4, and which. */
static int wet_faces(const sel_domain *domain, int64_t x, int64_t y, int faces[4]) {
    const int64_t *n = domain->grid.n, at[2] = {x, y};
    int count = 0;
    for (int f = 0; f < 4; f++) {
        bool touches = at[f / 2] == (f % 2 ? n[f / 2] - 1 : 0);
        if (domain->face[f] && touches && is_wet(domain, domain->face[f][at[1 - f / 2]])) {
            faces[count++] = f;
        }
    }
    return count;
}

static int region_at(const sel_domain *domain, int face, int64_t x, int64_t y) {
    return domain->face[face][face / 2 ? x : y];
}

/* The later painted of two regions that has this law; 0: none. */
static int later_with(const sel_domain *domain, const int regions[2], const sel_table *law) {
    int found = 0;
    for (int k = 0; k < 2; k++) {
        if (is_law(domain, regions[k], law) && regions[k] > found) {
            found = regions[k];
        }
    }
    return found;
}

/* How the wet faces of a cell are closed. */
static void describe_opening(const sel_domain *domain, int64_t x, int64_t y,
                             lbm_boundary_cell *cell) {
    int faces[4], count = wet_faces(domain, x, y, faces), regions[2] = {0, 0};
    for (int k = 0; k < count && k < 2; k++) {
        regions[k] = region_at(domain, faces[k], x, y);
    }
    int velocity = later_with(domain, regions, &lbm_velocity_table);
    int wall = later_with(domain, regions, &lbm_wall_table);
    cell->face = count > 0 ? faces[0] : -1;
    cell->other_face = count > 1 ? faces[1] : -1;
    cell->velocity_region = (uint8_t)(velocity ? velocity : wall);
    cell->density_region = (uint8_t)later_with(domain, regions, &lbm_pressure_table);
    cell->opening = count == 0              ? LBM_CLOSED
                    : count > 1             ? LBM_OPEN_CORNER
                    : cell->velocity_region ? LBM_OPEN_VELOCITY
                    : cell->density_region  ? LBM_OPEN_PRESSURE
                                            : LBM_OPEN_OUTFLOW;
}

/* What one cell's links are: per direction the region that owns it, 0: pulled. */
typedef struct links {
    uint8_t region[D2Q9_COUNT];
    lbm_boundary_cell cell;
} links;

static bool find_links(const sel_domain *domain, int64_t x, int64_t y, links *found) {
    *found = (links){.cell = {.x = x, .opening_index = -1, .face = -1, .other_face = -1}};
    lbm_boundary_cell *cell = &found->cell;
    uint32_t *const masks[] = {[BOUNCED] = &cell->bounced,
                               [MIRRORED_X] = &cell->mirrored_x,
                               [MIRRORED_Y] = &cell->mirrored_y,
                               [OPEN] = &cell->open};
    for (int i = 1; i < D2Q9_COUNT; i++) {
        origin from = find_origin(domain, x, y, i);
        found->region[i] = (uint8_t)from.region;
        if (from.source != PULLED) {
            *masks[from.source] |= 1u << i;
            cell->links |= 1u << i;
        }
    }
    if (cell->open) {
        describe_opening(domain, x, y, cell);
    }
    return cell->links != 0;
}

/* True for the wet faces that may meet any other. */
static bool yields(const sel_domain *domain, int region) {
    return is_law(domain, region, &lbm_wall_table) || is_law(domain, region, &lbm_outflow_table);
}

static sel_status refuse_meeting(const sel_domain *domain, int64_t x, int64_t y, const int faces[4],
                                 sel_error *error) {
    char text[2][32];
    int region[2];
    for (int k = 0; k < 2; k++) {
        region[k] = region_at(domain, faces[k], x, y);
    }
    return sel_fail_at(
        error, region_of(domain, region[1])->law.where,
        "open faces %s (region '%s') and %s (region '%s') meet at cell {%lld, %lld}; "
        "paint a wall on one of them there, for example with face - box, or make one of them "
        "law.outflow or law.slip",
        sel_face_name(faces[0]), sel_region_name(domain, region[0], text[0]),
        sel_face_name(faces[1]), sel_region_name(domain, region[1], text[1]), (long long)x,
        (long long)y);
}

static sel_status refuse_meetings_at(const sel_domain *domain, int64_t x, int64_t y,
                                     sel_error *error) {
    int faces[4], count = wet_faces(domain, x, y, faces);
    if (count < 2) {
        return SEL_OK;
    }
    bool opposite = faces[0] / 2 == faces[1] / 2;
    bool allowed = count == 2 && !opposite &&
                   (yields(domain, region_at(domain, faces[0], x, y)) ||
                    yields(domain, region_at(domain, faces[1], x, y)));
    return allowed ? SEL_OK : refuse_meeting(domain, x, y, faces, error);
}

static sel_status refuse_meetings(const sel_domain *domain, sel_error *error) {
    const int64_t *n = domain->grid.n;
    for (int64_t y = 0; y < n[1]; y++) {
        bool edge = y == 0 || y == n[1] - 1;
        for (int64_t x = 0; x < n[0]; x += edge || n[0] == 1 ? 1 : n[0] - 1) {
            if (!domain->cell[y * n[0] + x]) {
                sel_status status = refuse_meetings_at(domain, x, y, error);
                if (status) {
                    return status;
                }
            }
        }
    }
    return SEL_OK;
}

/* A wall at the centres of its cells has no sense for a solid: its cells are no fluid. */
static sel_status refuse_wet_solids(const sel_domain *domain, sel_error *error) {
    bool solid[256] = {false};
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < sel_grid_cells(&domain->grid); k++) {
        solid[domain->cell[k]] = true;
    }
    for (int r = 1; r <= domain->region_count; r++) {
        if (solid[r] && is_wet(domain, r)) {
            char text[32];
            status =
                sel_fail_at(error, region_of(domain, r)->law.where,
                            "region '%s' paints cells: scheme = \"zou_he\" is for faces, leave "
                            "it out for half-way walls",
                            sel_region_name(domain, r, text));
        }
    }
    return status;
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

static void add_cell(lbm_boundary *b, const links *found) {
    bool open = found->cell.open != 0;
    if (b->cells) {
        lbm_boundary_cell *cell = &b->cells[b->cell_count];
        *cell = found->cell;
        cell->first_link = b->link_count;
        cell->opening_index = open ? b->open_count : -1;
    }
    for (int i = 1; i < D2Q9_COUNT; i++) {
        if (found->region[i] && b->link_region) {
            b->link_region[b->link_count] = found->region[i];
        }
        b->link_count += found->region[i] != 0;
    }
    b->open_count += open;
    b->cell_count++;
}

/* Most cells: away from the faces and with free cells all about. Told at a glance, since a large
 * domain has millions of them. */
static bool is_bulk(const sel_grid *grid, const uint8_t *solid, int64_t x, int64_t y) {
    int64_t n = grid->n[0];
    if (x == 0 || y == 0 || x == n - 1 || y == grid->n[1] - 1) {
        return false;
    }
    const uint8_t *below = solid + x - 1 - n, *here = solid + x - 1, *above = solid + x - 1 + n;
    return !(below[0] | below[1] | below[2] | here[0] | here[2] | above[0] | above[1] | above[2]);
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
        if (!is_bulk(&domain->grid, solid, x, y) && find_links(domain, x, y, &found)) {
            add_cell(b, &found);
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
    sel_status status = refuse_wet_solids(domain, error);
    sel_status meetings = refuse_meetings(domain, error);
    status = status ? status : meetings;
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
