/* rule_laws.c -- what rules read beyond the faces of the domain and in cells under laws.
 *
 * About each block's cells stand margins, filled axis after axis: around periodic axes and from the
 * blocks beside by copies, beyond faces by the laws. Lines of a later axis include the margins of
 * the earlier ones, so that edges and corners are filled by the law of the later axis, from what
 * the earlier one has put there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/rule/rule.h"

/* ---- laws of regions ---- */

rule_law_kind rule_law_of(const sel_region *region, bool nodata, const char *name, bool state,
                          bool beyond, const rule_law **law) {
    const sel_named_variants *laws = &region->laws;
    const sel_variant *found = NULL;
    for (int k = 0; k < laws->n; k++) {
        const bool named = laws->v[k].name != NULL;
        if (named ? strcmp(laws->v[k].name, name) == 0 : state && !found) {
            found = &laws->v[k].value;
        }
    }
    *law = NULL;
    if (!found) {
        return beyond || nodata ? RULE_WALL : RULE_FREE;
    }
    if (found->table == &rule_wall_table || found->table == &rule_mirror_table) {
        return found->table == &rule_wall_table ? RULE_WALL : RULE_MIRROR;
    }
    *law = found->data;
    return found->table == &rule_gradient_table   ? RULE_GRADIENT
           : beyond && (*law)->at == RULE_AT_FACE ? RULE_FIXED_FACE
                                                  : RULE_FIXED;
}

static bool has_value(int kind) {
    return kind == RULE_FIXED || kind == RULE_FIXED_FACE || kind == RULE_GRADIENT;
}

const rule_law *rule_law_value(const rule_plan *plan, int region, int entry) {
    const rule_entry *e = &plan->model->entry[entry];
    const rule_law *law;
    rule_law_of(&plan->base.domain->regions[region - 1], false, e->name, e->state, true, &law);
    return law;
}

/* ---- lines of places beyond faces ---- */

typedef struct line {
    int block, from_block;
    int axis, face, layer; /* face -1: a copy from elsewhere in the grid */
    int64_t to, from, stride, count;
    int64_t at[3]; /* of the first place; the line runs along `along` */
    int along;
    const uint8_t *region; /* of the sites of the face */
    int64_t number;        /* of the first place, among those beyond the face */
} line;

typedef void visit(rule_state *state, const line *l, const void *data);

static int64_t clamp(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Regions of the places of a line: those of the nearest sites. */
static int region_of(const rule_state *state, const line *l, int64_t k) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    int64_t at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = clamp(l->at[a] + (a == l->along ? k : 0), grid->n[a]);
    }
    return l->region[sel_face_site(grid, l->face, at)];
}

static int block_with(const rule_state *state, int64_t plane) {
    int b = 0;
    while (plane >= state->base.blocks.v[b].end) {
        b++;
    }
    return b;
}

/* Extents of the places beyond a face: its sites, with margins. */
static void extents(const rule_state *state, int axis, int64_t extent[2]) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int reach = state->model->reach, second = axis == 2 ? 1 : 2;
    extent[0] = grid->n[axis == 0 ? 1 : 0] + 2 * reach;
    extent[1] = grid->dims == 3 ? grid->n[second] + 2 * reach : 1;
}

/* Visits a line beyond side `side` of a block, or of the grid. */
static void visit_line(rule_state *state, int block, int axis, int side, int layer, line *l,
                       visit *visited, const void *data) {
    const sel_domain *domain = state->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const sel_block *own = &state->base.blocks.v[block];
    const bool slow = axis == grid->dims - 1;
    const int64_t n = grid->n[axis], first = slow ? own->first : 0, end = slow ? own->end : n;
    const int64_t i = side ? end + layer : first - 1 - layer;
    const bool inside = i >= 0 && i < n, copies = inside || sel_axis_periodic(grid, axis);
    const int64_t source = copies ? ((i % n) + n) % n : clamp(side ? n - 1 - layer : layer, n);
    const int reach = state->model->reach, second = axis == 2 ? 1 : 2;
    int64_t from[3], extent[2];
    extents(state, axis, extent);
    l->axis = axis;
    l->layer = layer;
    l->block = block;
    l->from_block = slow && copies ? block_with(state, source) : block;
    l->face = copies ? -1 : 2 * axis + side;
    l->region = copies ? NULL : domain->face[l->face];
    l->at[axis] = i;
    memcpy(from, l->at, sizeof from);
    from[axis] = source;
    l->to = rule_place(state, l->at[0], l->at[1], l->at[2]);
    l->from = rule_place(state, from[0], from[1], from[2]);
    l->number = (layer * extent[1] + (grid->dims == 3 ? l->at[second] + reach : 0)) * extent[0] +
                l->at[l->along] + reach;
    visited(state, l, data);
}

enum { LONGEST = 1024 /* places of a line */ };

static void each_line(rule_state *state, int threads, visit *visited, const void *data) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const sel_blocks *blocks = &state->base.blocks;
    const int reach = state->model->reach;
    const int64_t stride[3] = {1, state->cells.pitch, state->cells.slice};
    for (int k = 0; k < grid->dims * blocks->count; k++) {
        const int axis = k / blocks->count, b = k % blocks->count;
        const int along = axis == 0 ? 1 : 0, across = grid->dims == 2 ? 2 : 3 - axis - along;
        int64_t low[3] = {0}, high[3] = {1, 1, 1};
        for (int a = 0; a < grid->dims; a++) {
            const bool slow = a == grid->dims - 1;
            low[a] = a < axis ? -reach : slow ? blocks->v[b].first : 0;
            high[a] = a < axis ? grid->n[a] + reach : slow ? blocks->v[b].end : grid->n[a];
        }
        const int64_t parts = (high[along] - low[along] + LONGEST - 1) / LONGEST;
        const int64_t lines = (high[across] - low[across]) * parts;
#pragma omp parallel for schedule(static) num_threads(lines > 1 ? threads : 1)
        for (int64_t i = 0; i < lines; i++) {
            const int64_t first = low[along] + i % parts * LONGEST, left = high[along] - first;
            for (int j = 0; j < 2 * reach; j++) {
                line l = {.along = along,
                          .stride = stride[along],
                          .count = left < LONGEST ? left : LONGEST};
                l.at[along] = first;
                l.at[across] = low[across] + i / parts;
                visit_line(state, b, axis, j % 2, j / 2, &l, visited, data);
            }
        }
    }
}

/* ---- values ---- */

/* Whether a face has places with values of a field's laws. */
static bool face_has_values(const rule_plan *plan, int face, int entry) {
    const sel_domain *domain = plan->base.domain;
    bool has[SEL_REGION_NUMBERS] = {false};
    for (int r = 1; r <= domain->region_count; r++) {
        has[r] = has_value(plan->beyond[r][entry]);
    }
    for (int64_t s = 0; domain->face[face] && s < sel_face_sites(&domain->grid, face); s++) {
        if (has[domain->face[face][s]]) {
            return true;
        }
    }
    return false;
}

void rule_list_laws(rule_state *state) {
    const rule_model *m = state->model;
    for (int f = 0; f < m->fields; f++) {
        for (int face = 0; face < 2 * m->dims; face++) {
            int64_t extent[2];
            extents(state, face / 2, extent);
            const bool has = face_has_values(state->plan, face, m->entry_of[f]);
            SEL_ADD(&state->base.arrays, state, law[f][face],
                    has ? m->reach * extent[0] * extent[1] : 0, 0);
        }
    }
}

/* Places of one region beyond a face, and where their values belong. */
typedef struct gather {
    int face, region;
    bool on_face;
    int64_t count, room;
    double *place[3];
    int64_t *number;
    bool failed;
} gather;

static void gather_line(rule_state *state, const line *l, const void *data) {
    gather *g = (gather *)(uintptr_t)data;
    const sel_grid *grid = &state->plan->base.domain->grid;
    if (l->face != g->face) {
        return;
    }
    for (int64_t k = 0; k < l->count; k++) {
        if (region_of(state, l, k) != g->region) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            const double at = (double)(l->at[a] + (a == l->along ? k : 0));
            const double end = g->face % 2 ? sel_upper_end(grid, a) : grid->origin[a];
            g->place[a][g->count] = a == l->axis && g->on_face ? end : sel_centre(grid, a, at);
        }
        g->number[g->count++] = l->number + k;
    }
}

static sel_status evaluate_places(rule_state *state, const sel_quantity *quantity, const char *what,
                                  int entry, gather *g, sel_error *error) {
    const rule_entry *e = &state->model->entry[entry];
    double *values = malloc((size_t)(g->room * quantity->components + 1) * sizeof *values);
    if (!values) {
        return sel_fail_memory(error, "the laws", 0);
    }
    g->count = 0;
    each_line(state, 1, gather_line, g);
    const sel_places at = sel_domain_at(state->plan->base.domain, g->count, g->place[0],
                                        g->place[1], g->place[2], sel_state_time(&state->base));
    sel_status status = g->count ? sel_quantity_eval(quantity, what, &at, values, error) : SEL_OK;
    for (int c = 0; c < e->components && !status; c++) {
        const double *of = values + (quantity->components > 1 ? c : 0) * g->count;
        double *to = state->law[e->first + c][g->face];
        for (int64_t k = 0; k < g->count; k++) {
            to[g->number[k]] = of[k];
        }
    }
    free(values);
    return status;
}

sel_status rule_evaluate_laws(rule_state *state, unsigned due, sel_error *error) {
    const rule_model *m = state->model;
    const sel_domain *domain = state->plan->base.domain;
    sel_status status = SEL_OK;
    for (int k = 0; k < 2 * m->dims * m->entries && !status; k++) {
        const int face = k % (2 * m->dims), entry = k / (2 * m->dims);
        int64_t extent[2];
        extents(state, face / 2, extent);
        gather g = {.face = face, .room = m->reach * extent[0] * extent[1]};
        if (!state->law[m->entry[entry].first][face]) {
            continue;
        }
        double *room = malloc((size_t)g.room * (3 * sizeof(double) + sizeof(int64_t)));
        status = room ? SEL_OK : sel_fail_memory(error, "the laws", 0);
        for (int a = 0; a < 3; a++) {
            g.place[a] = room + a * g.room;
        }
        g.number = (int64_t *)(void *)(room + 3 * g.room);
        for (int r = 1; r <= domain->region_count && !status; r++) {
            const rule_law *law = rule_law_value(state->plan, r, entry);
            g.region = r;
            g.on_face = state->plan->beyond[r][entry] != RULE_FIXED;
            if (law && (due == ~0u || sel_quantity_depends(&law->value) & due)) {
                const char *what = has_value(state->plan->beyond[r][entry]) && g.on_face
                                       ? "law, on a face"
                                       : "law.fixed";
                status = evaluate_places(state, &law->value, what, entry, &g, error);
            }
        }
        free(room);
    }
    return status;
}

/* ---- margins ---- */

static void fill_field(rule_state *state, const line *l, int f) {
    const rule_model *m = state->model;
    const sel_cell_type type = m->field[f].type;
    const int precision = state->plan->base.precision, turn = state->turn[f];
    const double dx = state->plan->base.domain->grid.dx[l->axis];
    void *to = state->at[l->block][f][turn];
    const void *from = state->at[l->from_block][f][turn];
    const int64_t size = rule_size(m, f, precision);
    if (l->face < 0 && l->stride == 1) {
        memcpy((char *)to + l->to * size, (const char *)from + l->from * size,
               (size_t)(l->count * size));
        return;
    }
    for (int64_t k = 0; k < l->count; k++) {
        const int64_t at = l->to + k * l->stride;
        const int region = l->face < 0 ? 0 : region_of(state, l, k);
        const int kind = region ? state->plan->beyond[region][m->entry_of[f]] : RULE_MIRROR;
        const double mirrored = rule_number(type, precision, from, l->from + k * l->stride);
        const double value = has_value(kind) ? state->law[f][l->face][l->number + k] : 0;
        rule_set(type, precision, to, at,
                 kind == RULE_FIXED        ? value
                 : kind == RULE_FIXED_FACE ? 2 * value - mirrored
                 : kind == RULE_GRADIENT   ? mirrored + value * (2 * l->layer + 1) * dx
                                           : mirrored);
    }
}

static void fill_line(rule_state *state, const line *l, const void *data) {
    const uint64_t fields = *(const uint64_t *)data;
    for (int f = 0; f < state->model->fields; f++) {
        if (fields >> f & 1) {
            fill_field(state, l, f);
        }
    }
}

void rule_fill_margins(rule_state *state, uint64_t fields) {
    if (fields) {
        each_line(state, state->base.threads, fill_line, &fields);
    }
}

/* ---- walls, and cells that are not computed ---- */

/* The number of a pair of masks; a new one where there is none yet. RULE_ODD: there are too many.
 */
static int kind_of(rule_state *state, uint64_t walls, uint64_t held) {
    int k = 0;
    while (k < state->kinds && (state->walls[k] != walls || state->held[k] != held)) {
        k++;
    }
    if (k == state->kinds && k < RULE_ODD) {
        state->walls[k] = walls;
        state->held[k] = held;
        state->kinds++;
    }
    return k;
}

static void find_line_kinds(rule_state *state, const line *l, const void *data) {
    const rule_model *m = state->model;
    uint8_t *to = state->kind[l->block];
    const uint8_t *from = state->kind[l->from_block];
    bool *failed = (bool *)(uintptr_t)data;
    for (int64_t k = 0; k < l->count; k++) {
        const int there = from[l->from + k * l->stride];
        uint64_t walls = 0;
        const int region = l->face < 0 ? 0 : region_of(state, l, k);
        for (int f = 0; f < m->fields && region; f++) {
            const int law = state->plan->beyond[region][m->entry_of[f]];
            const bool wall =
                law == RULE_WALL || (law != RULE_FIXED && state->walls[there] >> f & 1);
            walls |= (uint64_t)wall << f;
        }
        const int kind = region ? kind_of(state, walls, 0) : there;
        *failed = *failed || kind == RULE_ODD;
        to[l->to + k * l->stride] = (uint8_t)(kind % RULE_ODD);
    }
}

/* By a cell's region, and where its data have gaps. */
static int cell_kind(rule_state *state, int block, int64_t at, int region) {
    const rule_model *m = state->model;
    const int precision = state->plan->base.precision;
    uint64_t walls = 0, held = 0;
    for (int f = 0; f < m->fields; f++) {
        const int law = state->plan->within[region][m->entry_of[f]];
        const bool data = !m->field[f].state, computed = law == RULE_FREE;
        const bool gap =
            data && isnan(rule_number(SEL_CELL_REAL, precision, state->at[block][f][0], at));
        walls |= (uint64_t)(law == RULE_WALL || (gap && computed)) << f;
        held |= (uint64_t) !(data || computed) << f;
    }
    return kind_of(state, walls, held);
}

/* Whether one of the cells about it is a wall. */
static bool beside_wall(const rule_state *state, int block, int64_t at) {
    const int reach = state->model->reach, deep = state->model->dims == 3 ? reach : 0;
    for (int z = -deep; z <= deep; z++) {
        for (int y = -reach; y <= reach; y++) {
            const uint8_t *row =
                state->kind[block] + at + z * state->cells.slice + y * state->cells.pitch;
            for (int x = -reach; x <= reach; x++) {
                if (state->walls[row[x] % RULE_ODD]) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void mark_odd(rule_state *state, int block, bool walls) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const sel_blocks *blocks = &state->base.blocks;
    const int64_t rows = blocks->rows_per_plane, nx = grid->n[0];
    const int pieces = rule_pieces(nx);
    for (int64_t row = blocks->v[block].first * rows; row < blocks->v[block].end * rows; row++) {
        const int64_t first = rule_place(state, 0, row % grid->n[1], row / grid->n[1]);
        for (int64_t x = 0; x < nx; x++) {
            uint8_t *kind = &state->kind[block][first + x];
            if (*kind || (walls && beside_wall(state, block, first + x))) {
                *kind |= RULE_ODD;
                state->odd[row * pieces + x / RULE_ROW] = 1;
            }
        }
    }
}

sel_status rule_find_kinds(rule_state *state, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const uint8_t *painted = sel_domain_painted(domain);
    bool failed = false, walls = false;
    state->kinds = 0;
    kind_of(state, 0, 0);
    for (int64_t row = 0; row < grid->n[1] * grid->n[2]; row++) {
        const int b = sel_block_of(&state->base.blocks, row);
        const int64_t first = rule_place(state, 0, row % grid->n[1], row / grid->n[1]);
        for (int64_t x = 0; x < grid->n[0]; x++) {
            const int region = painted[row * grid->n[0] + x];
            const int kind = region ? cell_kind(state, b, first + x, region) : 0;
            failed = failed || kind == RULE_ODD;
            state->kind[b][first + x] = (uint8_t)(kind % RULE_ODD);
        }
    }
    each_line(state, 1, find_line_kinds, &failed);
    for (int k = 0; k < state->kinds; k++) {
        walls = walls || state->walls[k];
    }
    for (int b = 0; b < state->base.blocks.count; b++) {
        mark_odd(state, b, walls);
    }
    return failed
               ? sel_fail_at(error, sel_simulation_where(state->plan->base.simulation, "regions"),
                             "more than %d combinations of laws meet; use fewer", RULE_ODD)
               : SEL_OK;
}
