/* lbm_boundary.c -- list the boundary cells of a domain and where their populations come from.
 *
 * A population that moves along e arrives at the cell x from x - e (after the periodic axes have
 * wrapped). When x - e is a free cell it is pulled. When x - e is a solid cell, the link is bounced
 * back by the solid's region. When x - e lies outside, the link crosses one face or, at an edge,
 * two; see the rules in lbm_boundary.h. No direction goes along three axes at once.
 *
 * All threads go through the rows twice: first to count the entries of each row, then, when it is
 * known where they begin in the lists, to store them.
 */
#include "engine/solvers/lbm/lbm_boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm.h"
#include "engine/solvers/lbm/lbm_closed.h"
#include "engine/solvers/lbm/lbm_law.h"

/* Where a population comes from. */
typedef enum source { PULLED, BOUNCED, MIRRORED, OPEN } source;

typedef struct origin {
    source source;
    int region[2]; /* that own the link; 0: pulled, or there is only one */
    /* Of each: bounced back with the velocity along this axis only, LBM_ALL_AXES: with the whole
     * one. Mirrored: across this axis. */
    int axis[2];
} origin;

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

/* The region of `face` in front of the cell `at`. */
static int region_at(const lbm_boundary *b, int face, const int64_t at[3]) {
    return b->domain->face[face][sel_face_site(&b->domain->grid, face, at)];
}

/* A link that a region owns alone. */
static origin owned(source from, int region, int axis) {
    return (origin){from, {region, 0}, {axis, axis}};
}

/* A link that crosses two faces, the lower axis's first. */
static origin across_edge(const lbm_boundary *b, const int region[2], const int axis[2]) {
    bool wet[2], wall[2], slip[2];
    for (int k = 0; k < 2; k++) {
        wet[k] = b->law[region[k]]->opening != LBM_CLOSED;
        wall[k] = b->law[region[k]]->wall;
        slip[k] = b->law[region[k]]->mirrors;
    }
    if (wet[0] || wet[1]) {
        bool other = !wet[0] || (wet[1] && wall[0] && !wall[1]);
        return owned(OPEN, region[other], LBM_ALL_AXES);
    }
    if (slip[0] != slip[1]) {
        return owned(BOUNCED, region[slip[0]], axis[slip[0]]);
    }
    if (region[0] == region[1]) { /* along the normals of both its faces */
        return owned(BOUNCED, region[0], LBM_ALL_AXES);
    }
    return (origin){BOUNCED, {region[0], region[1]}, {axis[0], axis[1]}};
}

/* A link along e that crosses one face, across `axis`, and comes from `from`. */
static origin across_face(const lbm_boundary *b, int region, int axis, const int e[3],
                          const int64_t at[3], const int64_t from[3]) {
    if (b->law[region]->opening != LBM_CLOSED) {
        return owned(OPEN, region, LBM_ALL_AXES);
    }
    bool diagonal = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] > 1;
    if (!b->law[region]->mirrors || !diagonal) {
        return owned(BOUNCED, region, LBM_ALL_AXES);
    }
    int64_t beside[3] = {from[0], from[1], from[2]};
    beside[axis] = at[axis];
    int solid = b->domain->cell[sel_cell_number(&b->domain->grid, beside)];
    return solid ? owned(BOUNCED, solid, LBM_ALL_AXES) : owned(MIRRORED, region, axis);
}

/* What comes to the cell `at` along e. */
static origin find_origin(const lbm_boundary *b, const int64_t at[3], const int e[3]) {
    const sel_grid *grid = &b->domain->grid;
    int64_t from[3] = {at[0], at[1], at[2]};
    int region[3], axis[3], count = 0;
    for (int a = 0; a < grid->dims; a++) {
        from[a] -= e[a];
        int face = face_crossed(grid, a, &from[a]);
        if (face >= 0) {
            region[count] = region_at(b, face, at);
            axis[count++] = a;
        }
    }
    if (count == 0) {
        int solid = b->domain->cell[sel_cell_number(grid, from)];
        return owned(solid ? BOUNCED : PULLED, solid, LBM_ALL_AXES);
    }
    return count == 1 ? across_face(b, region[0], axis[0], e, at, from)
                      : across_edge(b, region, axis);
}

uint8_t lbm_boundary_link_detail(const lbm_boundary *b, const lbm_boundary_cell *cell, int i,
                                 int owner) {
    const int64_t ny = b->domain->grid.n[1], at[3] = {cell->x, cell->row % ny, cell->row / ny};
    const origin from = find_origin(b, at, b->lattice->direction[i].e);
    return lbm_link_detail(i, from.axis[owner]);
}

/* The wet faces at the cell `at`: their number, and which. */
static int wet_faces(const lbm_boundary *b, const int64_t at[3], int faces[SEL_FACES]) {
    const int64_t *n = b->domain->grid.n;
    int count = 0;
    for (int f = 0; f < 2 * b->domain->grid.dims; f++) {
        bool touches = at[f / 2] == (f % 2 ? n[f / 2] - 1 : 0);
        if (b->domain->face[f] && touches && b->law[region_at(b, f, at)]->opening) {
            faces[count++] = f;
        }
    }
    return count;
}

/* Finds whose laws give the velocity and the density at a cell with wet faces. Of laws that are no
 * walls only one gives a velocity, and one a density: others may not meet. */
static void describe_givers(const lbm_boundary *b, const int faces[], const int regions[],
                            int count, lbm_boundary_cell *cell) {
    bool only_walls = true;
    for (int k = 0; k < count; k++) {
        const lbm_law_row *law = b->law[regions[k]];
        const bool velocity = law->goal == LBM_TO_VELOCITY;
        if (law->goal == LBM_TO_DENSITY) {
            cell->density_region = (uint8_t)regions[k];
        }
        if (velocity && only_walls && !law->wall) {
            memset(cell->velocity_region, 0, sizeof cell->velocity_region);
            only_walls = false;
        }
        if (velocity && law->wall <= only_walls) {
            cell->velocity_region[faces[k] / 2] = (uint8_t)regions[k];
            cell->velocity_given = true;
        }
    }
}

int lbm_boundary_givers(const lbm_boundary_cell *cell, lbm_giver givers[LBM_GIVERS]) {
    int region[3] = {0}, count = 0;
    for (int a = 0; a < 3; a++) {
        int k = 0;
        while (k < count && region[k] != cell->velocity_region[a]) {
            k++;
        }
        if (cell->velocity_region[a] && k == count) {
            region[count++] = cell->velocity_region[a];
        }
    }
    for (int k = 0; k < count; k++) {
        unsigned own = 0, common = 0;
        for (int a = 0; a < 3; a++) {
            const int of = cell->velocity_region[a];
            own |= of == region[k] || (of == 0 && count == 1) ? 1u << a : 0;
            common |= of == 0 && count == 2 ? 1u << a : 0;
        }
        givers[k] = (lbm_giver){.region = (uint8_t)region[k],
                                .detail = lbm_open_detail(own, common, k == 1)};
    }
    if (cell->density_region) {
        givers[count++] = (lbm_giver){.region = cell->density_region};
    }
    return count;
}

/* True when the next cell along the normals, at most at the grid's end, is solid. */
static bool is_solid_inwards(const lbm_boundary *b, const int64_t at[3], const int8_t normal[3]) {
    int64_t next[3];
    for (int a = 0; a < 3; a++) {
        const int64_t further = at[a] + normal[a];
        next[a] = further < 0 || further >= b->domain->grid.n[a] ? at[a] : further;
    }
    return b->domain->cell[sel_cell_number(&b->domain->grid, next)] != 0;
}

/* At 0.25 c_s / L the slowest wave, with a quarter of its length in L, comes back with
 * 0.25 / sqrt(0.25^2 + pi^2), 8 % of its height. */
static const double usual_share = 0.25;

double lbm_boundary_relaxation(const lbm_boundary *b, int region, int axis) {
    const char *data = b->domain->regions[region - 1].law.data;
    const double *given = (const double *)(const void *)(data + b->law[region]->relaxation);
    return *given > 0 ? *given : usual_share / sqrt(3) / (double)b->domain->grid.n[axis];
}

/* What absorbing faces of a cell hold, if all of its faces are such. */
static void describe_absorbing(const lbm_boundary *b, const int faces[], const int regions[],
                               int count, lbm_boundary_cell *cell) {
    bool all = true, density = false;
    for (int k = 0; k < count; k++) {
        all = all && b->law[regions[k]]->absorbs;
        density =
            density || (b->law[regions[k]]->goal == LBM_TO_DENSITY && !b->law[regions[k]]->absorbs);
    }
    for (int k = 0; k < count && all; k++) {
        const lbm_law_row *law = b->law[regions[k]];
        const unsigned bit = 1u << faces[k] / 2;
        const bool velocity = law->goal == LBM_TO_VELOCITY;
        cell->holds_density |= !velocity || law->far_field ? bit : 0;
        cell->holds_velocity |= velocity ? bit : 0;
        cell->relax[faces[k] / 2] = (float)lbm_boundary_relaxation(b, regions[k], faces[k] / 2);
    }
    if (all) {
        cell->opening = LBM_OPEN_ABSORBING;
    } else if (!density) {
        cell->density_region = 0; /* a pressure that is only held a little */
    }
}

/* How the wet faces of a cell are closed. */
static void describe_opening(const lbm_boundary *b, const int64_t at[3], lbm_boundary_cell *cell) {
    int faces[SEL_FACES], regions[SEL_FACES], count = wet_faces(b, at, faces);
    for (int k = 0; k < count; k++) {
        regions[k] = region_at(b, faces[k], at);
        cell->normal[faces[k] / 2] = faces[k] % 2 ? -1 : 1;
    }
    describe_givers(b, faces, regions, count, cell);
    cell->opening = (uint8_t)(count > 1 ? LBM_OPEN_EDGE : b->law[regions[0]]->opening);
    if (cell->opening == LBM_OPEN_OUTFLOW) {
        cell->relax[faces[0] / 2] = (float)lbm_boundary_relaxation(b, regions[0], faces[0] / 2);
    }
    describe_absorbing(b, faces, regions, count, cell);
    cell->inward_solid = is_solid_inwards(b, at, cell->normal);
}

static sel_status refuse_meeting(const lbm_boundary *b, const int64_t at[3], const int faces[2],
                                 sel_error *error) {
    char text[2][32], cell[SEL_CELL_TEXT];
    int region[2];
    for (int k = 0; k < 2; k++) {
        region[k] = region_at(b, faces[k], at);
    }
    sel_cell_text(&b->domain->grid, sel_cell_number(&b->domain->grid, at), cell);
    return sel_fail_at(
        error, b->domain->regions[region[1] - 1].law.where,
        "open faces %s (region '%s') and %s (region '%s') meet at cell %s; "
        "paint a wall on one of them there, for example with face - box, or make one of them "
        "law.outflow, law.far_field or law.slip",
        sel_face_name(faces[0]), sel_region_name(b->domain, region[0], text[0]),
        sel_face_name(faces[1]), sel_region_name(b->domain, region[1], text[1]), cell);
}

/* Two wet faces of a cell must be across different axes, and one of them a wall, an outflow or a
 * far field. */
static sel_status refuse_meetings_at(const lbm_boundary *b, const int64_t at[3], sel_error *error) {
    int faces[SEL_FACES], count = wet_faces(b, at, faces);
    for (int k = 0; k < count; k++) {
        for (int other = k + 1; other < count; other++) {
            bool opposite = faces[k] / 2 == faces[other] / 2;
            bool allowed = !opposite && (b->law[region_at(b, faces[k], at)]->meets_any ||
                                         b->law[region_at(b, faces[other], at)]->meets_any);
            if (!allowed) {
                return refuse_meeting(b, at, (const int[]){faces[k], faces[other]}, error);
            }
        }
    }
    return SEL_OK;
}

static sel_status refuse_meetings(const lbm_boundary *b, sel_error *error) {
    const int64_t ny = b->domain->grid.n[1];
    sel_status status = SEL_OK;
    for (int64_t row = 0; row < b->rows && !status; row++) {
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1] && !status; c++) {
            if (b->cells[c].opening == LBM_OPEN_EDGE || b->cells[c].opening == LBM_OPEN_ABSORBING) {
                const int64_t at[3] = {b->cells[c].x, row % ny, row / ny};
                status = refuse_meetings_at(b, at, error);
            }
        }
    }
    return status;
}

/* A solid cannot have its wall at the centres of its cells, since they are not fluid. */
static sel_status refuse_wet_solids(const lbm_boundary *b, sel_error *error) {
    const sel_domain *domain = b->domain;
    bool solid[256] = {false};
    sel_status status = SEL_OK;
    for (int64_t k = 0, cells = sel_grid_cells(&domain->grid); k < cells; k++) {
        solid[domain->cell[k]] = true;
    }
    for (int r = 1; r <= domain->region_count; r++) {
        if (solid[r] && b->law[r]->opening != LBM_CLOSED) {
            char text[32];
            status =
                sel_fail_at(error, domain->regions[r - 1].law.where,
                            "region '%s' paints cells: scheme = \"zou_he\" is for faces, leave "
                            "it out for half-way walls",
                            sel_region_name(domain, r, text));
        }
    }
    return status;
}

/* Entries of the lists: those before a row, or those of a row. */
typedef struct tally {
    int64_t cells, links, openings, spans;
} tally;

/* Adds the spans of a row. Here and in list_cell entries are only counted while the lists have no
 * memory. */
static void list_spans(lbm_boundary *b, tally *at, const uint8_t *solid, int64_t n) {
    for (int64_t x = 0; x < n;) {
        int64_t start = x;
        while (x < n && !solid[x]) {
            x++;
        }
        if (x > start && b->spans) {
            b->spans[at->spans] = (lbm_span){.x0 = start, .x1 = x};
        }
        at->spans += x > start;
        while (x < n && solid[x]) {
            x++;
        }
    }
}

/* Most cells have only free neighbours, and a large domain has millions of them, so they are found
 * many at a time: near[x] != 0 where a neighbour of the cell x is solid. Not for cells at the
 * domain's faces. */
static void look_around(const uint8_t *solid, const int64_t offset[], int directions, int64_t count,
                        uint8_t *restrict near) {
    memset(near, 0, (size_t)count);
    for (int i = 1; i < directions; i++) {
        const uint8_t *there = solid + offset[i];
        for (int64_t x = 0; x < count; x++) {
            near[x] |= there[x];
        }
    }
}

/* Adds entries of links. */
static void list_owners(lbm_boundary *b, const uint8_t *regions, int count, tally *sum) {
    if (b->link_region) {
        memcpy(b->link_region + sum->links, regions, (size_t)count);
    }
    sum->links += count;
}

/* Adds a cell, if it is a boundary cell. */
static void list_cell(lbm_boundary *b, int64_t row, int64_t x, tally *sum) {
    const int64_t ny = b->domain->grid.n[1], at[3] = {x, row % ny, row / ny};
    lbm_boundary_cell cell = {.x = (uint32_t)x,
                              .row = (uint32_t)row,
                              .first_link = (uint32_t)sum->links,
                              .opening_index = -1};
    uint8_t first[LBM_MAX_Q], second[LBM_MAX_Q];
    uint32_t parabolic = 0;
    int links = 0, shared = 0;
    for (int i = 1; i < b->lattice->q; i++) {
        const origin from = find_origin(b, at, b->lattice->direction[i].e);
        const uint32_t bit = 1u << i;
        if (from.source == PULLED) {
            continue;
        }
        cell.links |= bit;
        cell.bounced |= from.source == BOUNCED ? bit : 0;
        cell.open |= from.source == OPEN ? bit : 0;
        cell.moves = cell.moves || b->moves[from.region[0]] || b->moves[from.region[1]];
        cell.both_move = cell.both_move || (b->moves[from.region[0]] && b->moves[from.region[1]]);
        first[links++] = (uint8_t)from.region[0];
        parabolic |= from.source == BOUNCED && b->law[from.region[0]]->parabolic ? bit : 0;
        if (from.source == MIRRORED) {
            cell.mirrored[from.axis[0]] |= bit;
        }
        if (from.region[1]) {
            cell.shared |= bit;
            second[shared++] = (uint8_t)from.region[1];
        }
    }
    list_owners(b, first, links, sum);
    list_owners(b, second, shared, sum);
    cell.straight = b->curvature != 0 ? lbm_boundary_straight(b->lattice, &cell, parabolic) : 0;
    if (cell.open) {
        describe_opening(b, at, &cell);
        cell.opening_index = (int32_t)sum->openings++;
    }
    if (cell.links && b->cells) {
        b->cells[sum->cells] = cell;
    }
    sum->cells += cell.links != 0;
}

/* Adds one row to the lists; offset[i] leads from a cell to where direction i comes from. */
static void list_row(lbm_boundary *b, int64_t row, const int64_t offset[], tally *sum) {
    enum { PIECE = 512 };
    const sel_domain *domain = b->domain;
    const int64_t *n = domain->grid.n, y = row % n[1], z = row / n[1];
    const uint8_t *solid = domain->cell + row * n[0];
    bool inside =
        y > 0 && y < n[1] - 1 && (domain->grid.dims == 2 || (z > 0 && z < n[2] - 1)) && n[0] > 2;
    uint8_t near[PIECE];
    list_spans(b, sum, solid, n[0]);
    for (int64_t x0 = 0; x0 < n[0]; x0 += PIECE) {
        const int64_t x1 = x0 + PIECE < n[0] ? x0 + PIECE : n[0];
        const int64_t first = x0 > 0 ? x0 : 1, end = x1 < n[0] ? x1 : n[0] - 1;
        memset(near, 1, sizeof near);
        if (inside) {
            look_around(solid + first, offset, b->lattice->q, end - first, near + first - x0);
        }
        for (int64_t x = x0; x < x1; x++) {
            if (near[x - x0] && !solid[x]) {
                list_cell(b, row, x, sum);
            }
        }
    }
}

/* Lists all rows: counts[r] is first what row r adds, then, with memory, what comes before it. */
static void list_rows(lbm_boundary *b, tally counts[]) {
    const int64_t *n = b->domain->grid.n;
    int64_t offset[LBM_MAX_Q];
    for (int i = 0; i < b->lattice->q; i++) {
        const int *e = b->lattice->direction[i].e;
        offset[i] = -(((int64_t)e[2] * n[1] + e[1]) * n[0] + e[0]);
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t row = 0; row < b->rows; row++) {
        tally at = counts[row];
        list_row(b, row, offset, &at);
        if (!b->cells) {
            counts[row] = at;
        }
    }
}

/* Memory of the cells, spans and links of all rows; of cuts, if some may be interpolated. */
static sel_status allocate_rows(lbm_boundary *b, sel_error *error) {
    const size_t rows = (size_t)b->rows + 1, spans = (size_t)b->span_count * sizeof *b->spans;
    const size_t cells = (size_t)b->cell_count * sizeof *b->cells;
    const size_t links = (size_t)b->links.count;
    const size_t cuts = b->interpolates ? (links + 1) * sizeof *b->link_cut : 0;
    const size_t bytes = cells + spans + 2 * rows * sizeof *b->row_cells + links;
    b->cells = malloc(bytes);
    b->link_cut = b->cells && cuts ? malloc(cuts) : NULL;
    if (!b->cells || (cuts && !b->link_cut)) {
        free(b->cells);
        b->cells = NULL;
        return sel_fail_memory(error, "the list of boundary cells", bytes + cuts);
    }
    b->spans = (lbm_span *)(void *)(b->cells + b->cell_count);
    b->row_cells = (int64_t *)(void *)(b->spans + b->span_count);
    b->row_spans = b->row_cells + rows;
    b->link_region = (uint8_t *)(b->row_spans + rows);
    return SEL_OK;
}

static sel_status lbm_boundary_allocate(lbm_boundary *b, sel_error *error) {
    const size_t open = ((size_t)b->open_count + 1) * sizeof *b->open;
    const size_t rows = ((size_t)b->rows + 1) * sizeof *b->links.before;
    sel_status status = allocate_rows(b, error);
    b->open = status ? NULL : malloc(open);
    if (!status && (!b->open || !sel_sites_create(&b->links, &b->domain->grid, NULL, NULL))) {
        status = sel_fail_memory(error, "the list of boundary cells", rows + open);
    }
    return status;
}

/* What is known of cells with wet faces wherever they are. */
static void describe_open_cells(lbm_boundary *b) {
    for (int64_t c = 0; c < b->cell_count; c++) {
        const lbm_boundary_cell *cell = &b->cells[c];
        if (cell->opening == LBM_CLOSED) {
            continue;
        }
        lbm_open_cell *open = &b->open[cell->opening_index];
        memcpy(open->normal, cell->normal, sizeof open->normal);
        open->opening = cell->opening;
        b->free_face = b->free_face || cell->opening == LBM_OPEN_OUTFLOW || cell->density_region ||
                       cell->holds_density;
        if (cell->opening == LBM_OPEN_EDGE && b->edge_wall == 0) {
            lbm_giver givers[LBM_GIVERS] = {{0}};
            lbm_boundary_givers(cell, givers);
            b->edge_wall = cell->velocity_given ? givers[0].region : 0;
        }
    }
}

static sel_status lbm_boundary_list(lbm_boundary *b, sel_error *error) {
    tally *counts = calloc((size_t)b->rows, sizeof *counts), sum = {0, 0, 0, 0};
    if (!counts) {
        return sel_fail_memory(error, "counting the boundary cells",
                               (uint64_t)b->rows * sizeof *counts);
    }
    list_rows(b, counts);
    for (int64_t row = 0; row < b->rows; row++) {
        const tally here = counts[row];
        counts[row] = sum;
        sum.cells += here.cells;
        sum.links += here.links;
        sum.openings += here.openings;
        sum.spans += here.spans;
    }
    b->cell_count = sum.cells;
    b->links.count = sum.links;
    b->open_count = b->all_open = sum.openings;
    b->span_count = sum.spans;
    sel_status status =
        sum.links <= UINT32_MAX
            ? lbm_boundary_allocate(b, error)
            : sel_fail(error, SEL_BAD_SCENARIO,
                       "%.3g links of cells cross walls and openings, and 2^32 can; use a coarser "
                       "grid or fewer solid cells",
                       (double)sum.links);
    if (!status) {
        list_rows(b, counts);
        for (int64_t row = 0; row <= b->rows; row++) {
            b->row_cells[row] = row < b->rows ? counts[row].cells : sum.cells;
            b->row_spans[row] = row < b->rows ? counts[row].spans : sum.spans;
        }
        for (int64_t row = 0; row <= b->rows; row++) {
            b->links.before[row] = row < b->rows ? counts[row].links : sum.links;
        }
        b->links.count = b->links.all = sum.links;
        describe_open_cells(b);
        lbm_boundary_find_cuts(b);
        status = lbm_closed_find(b, error);
    }
    free(counts);
    return status;
}

sel_status lbm_boundary_create(const sel_domain *domain, const lbm_lattice *lattice, double relax,
                               lbm_boundary *boundary, sel_error *error) {
    static const lbm_law_row none = {.quantity = -1};
    *boundary = (lbm_boundary){.domain = domain,
                               .lattice = lattice,
                               .relax = relax,
                               .rows = domain->grid.n[1] * domain->grid.n[2],
                               .law = {&none}};
    for (int r = 1; r <= domain->region_count; r++) {
        const sel_region *region = &domain->regions[r - 1];
        boundary->law[r] = lbm_law_of(region);
        boundary->moves[r] =
            boundary->law[r]->goal == LBM_TO_LINKS && lbm_region_quantity(region) != NULL;
        boundary->interpolates = boundary->interpolates || boundary->law[r]->interpolates;
        boundary->absorbs = boundary->absorbs || boundary->law[r]->absorbs;
        if (relax > 0 && boundary->law[r]->parabolic) {
            boundary->curvature = fmax(0.125 - relax / 3, -0.25) * 4 / 3;
        }
    }
    sel_status solids = refuse_wet_solids(boundary, error);
    sel_status status = lbm_boundary_list(boundary, error);
    status = status ? status : refuse_meetings(boundary, error);
    status = solids ? solids : status;
    if (status) {
        lbm_boundary_free(boundary);
    }
    return status;
}

/* Appends the cells, spans and links of a row, or nothing of one that another rank has. *links: the
 * links so far. */
static void keep_row(lbm_boundary *to, const lbm_boundary *from, int64_t row, bool own,
                     int64_t *links) {
    const int64_t cell = from->row_cells[row], span = from->row_spans[row];
    const int64_t link = from->links.before[row];
    const int64_t cells = own ? from->row_cells[row + 1] - cell : 0;
    const int64_t spans = own ? from->row_spans[row + 1] - span : 0;
    const int64_t count = own ? from->links.before[row + 1] - link : 0;
    for (int64_t k = 0; k < cells; k++) {
        lbm_boundary_cell here = from->cells[cell + k];
        here.first_link = (uint32_t)(here.first_link - link + *links);
        if (here.opening_index >= 0) {
            here.opening_index = (int32_t)to->open_count++;
        }
        if (to->cells) {
            to->cells[to->cell_count + k] = here;
        }
    }
    if (to->cells) {
        memcpy(to->spans + to->span_count, from->spans + span, (size_t)spans * sizeof *to->spans);
        memcpy(to->link_region + *links, from->link_region + link, (size_t)count);
        if (to->link_cut) {
            memcpy(to->link_cut + *links, from->link_cut + link,
                   (size_t)count * sizeof *to->link_cut);
        }
        to->row_cells[row + 1] = to->cell_count + cells;
        to->row_spans[row + 1] = to->span_count + spans;
    }
    to->cell_count += cells;
    to->span_count += spans;
    *links += count;
}

sel_status lbm_boundary_keep_patch(lbm_boundary *boundary, sel_error *error) {
    const lbm_boundary all = *boundary;
    const sel_domain *domain = all.domain;
    if (!domain->ranks) {
        return SEL_OK;
    }
    const sel_patch patch = sel_patch_of(&domain->decomposition, domain->ranks->rank);
    sel_status status = SEL_OK;
    lbm_boundary kept = all;
    kept.links = sel_sites_divide(&all.links, domain->ranks, &domain->decomposition);
    kept.cells = NULL;
    /* First to count them. */
    for (int turn = 0; turn < 2 && !status; turn++) {
        int64_t links = 0;
        status = turn ? allocate_rows(&kept, error) : SEL_OK;
        kept.cell_count = kept.span_count = kept.open_count = 0;
        if (turn && !status) {
            kept.row_cells[0] = kept.row_spans[0] = 0;
        }
        for (int64_t row = 0; row < all.rows && !status; row++) {
            keep_row(&kept, &all, row, sel_patch_has_row(&domain->grid, &patch, row), &links);
        }
    }
    if (status) {
        return status;
    }
    free(all.cells);
    free(all.link_cut);
    if (domain->ranks->rank > 0) {
        free(kept.open);
        sel_sites_free(&kept.links);
        kept.open = NULL;
    }
    *boundary = kept;
    return SEL_OK;
}

bool lbm_region_passes(const lbm_boundary *b, int region) {
    const lbm_law_row *law = b->law[region];
    return law->opening != LBM_CLOSED || law->interpolates ||
           lbm_region_quantity(&b->domain->regions[region - 1]) != NULL;
}

void lbm_boundary_row(const lbm_boundary *b, int64_t row, int64_t links[2], int64_t openings[2]) {
    links[0] = b->links.before[row];
    links[1] = b->links.before[row + 1];
    openings[0] = openings[1];
    for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
        openings[1] += b->cells[c].opening_index >= 0;
    }
}

void lbm_boundary_free(lbm_boundary *boundary) {
    free(boundary->cells); /* and all behind them */
    free(boundary->link_cut);
    free(boundary->open);
    free(boundary->closed_cells);
    sel_sites_free(&boundary->links);
    *boundary = (lbm_boundary){0};
}
