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

_Static_assert(RULE_FIELDS == (int)SEL_MOST_CELL_FIELDS && RULE_BLOCKS == (int)SEL_MOST_BLOCKS &&
                   RULE_FACES == (int)SEL_FACES && SEL_CELL_I32 == 1 && SEL_CELL_U8 == 2 &&
                   SEL_F64 == 1,
               "rule_margin.h numbers as the engine does");

rule_margin rule_margin_of(const rule_state *state, int axis, uint64_t fields, uint64_t turns) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return (rule_margin){.tables = state->tables,
                         .fields = fields,
                         .turns = turns,
                         .n = {grid->n[0], grid->n[1], grid->n[2]},
                         .first = state->cells.first,
                         .pitch = state->cells.pitch,
                         .slice = state->cells.slice,
                         .dx = grid->dx[axis],
                         .periodic = grid->periodic,
                         .dims = grid->dims,
                         .reach = state->model->reach,
                         .axis = axis,
                         .blocks = state->base.blocks.count,
                         .wide = state->plan->base.precision == SEL_F64};
}

void rule_tables_fill(const rule_state *state, rule_tables *to) {
    const rule_model *m = state->model;
    const sel_domain *domain = state->plan->base.domain;
    memcpy(to->at, state->at, sizeof to->at);
    memcpy(to->law, state->law, sizeof to->law);
    memcpy(to->face, domain->face, sizeof to->face);
    for (int b = 0; b < state->base.blocks.count; b++) {
        to->block_first[b] = state->base.blocks.v[b].first;
        to->block_end[b] = state->base.blocks.v[b].end;
    }
    if (state->base.ranks->count > 1) { /* what other ranks have seems to be in a block behind */
        to->block_end[1] = INT64_MAX;
    }
    for (int f = 0; f < m->fields; f++) {
        to->type[f] = (uint8_t)m->field[f].type;
        for (int r = 1; r <= domain->region_count; r++) {
            to->beyond[r][f] = state->plan->beyond[r][m->entry_of[f]];
        }
    }
}

typedef struct line {
    rule_beyond first; /* the line runs along `along` */
    int along;
    int64_t stride, count;
} line;

typedef void visit(rule_state *state, const rule_margin *m, const line *l, const void *data);

enum { LONGEST = 1024 /* places of a line */ };

static void each_line(rule_state *state, uint64_t fields, int threads, visit *visited,
                      const void *data) {
    const int dims = state->model->dims, reach = state->model->reach;
    uint64_t turns = 0;
    for (int f = 0; f < state->model->fields; f++) {
        turns |= (uint64_t)state->turn[f] << f;
    }
    for (int k = 0; k < dims * state->base.blocks.count; k++) {
        const int axis = k / state->base.blocks.count, b = k % state->base.blocks.count;
        const int along = axis == 0 ? 1 : 0, across = dims == 2 ? 2 : 3 - axis - along;
        const rule_margin m = rule_margin_of(state, axis, fields, turns);
        int64_t low[3], high[3];
        rule_ranges(&m, b, low, high);
        const int64_t parts = (high[along] - low[along] + LONGEST - 1) / LONGEST;
        const int64_t lines = (high[across] - low[across]) * parts;
#pragma omp parallel for schedule(static) num_threads(lines > 1 ? threads : 1)
        for (int64_t i = 0; i < lines; i++) {
            int64_t at[3] = {0};
            at[along] = low[along] + i % parts * LONGEST;
            at[across] = low[across] + i / parts;
            const int64_t left = high[along] - at[along];
            for (int j = 0; j < 2 * reach; j++) {
                const line l = {.first = rule_find_beyond(&m, b, at, j % 2, j / 2),
                                .along = along,
                                .stride = along ? m.pitch : 1,
                                .count = left < LONGEST ? left : LONGEST};
                const bool elsewhere = axis == dims - 1 && l.first.face < 0;
                if (!elsewhere || state->base.ranks->count == 1) {
                    visited(state, &m, &l, data);
                }
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
    SEL_ADD(&state->base.arrays, state, tables, 1, SEL_ON_HOST);
    for (int f = 0; f < m->fields; f++) {
        for (int face = 0; face < 2 * m->dims; face++) {
            const rule_margin margin = rule_margin_of(state, face / 2, 0, 0);
            int64_t extent[2];
            rule_extents(&margin, extent);
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

static void gather_line(rule_state *state, const rule_margin *m, const line *l, const void *data) {
    gather *g = (gather *)(uintptr_t)data;
    const sel_grid *grid = &state->plan->base.domain->grid;
    const rule_beyond *p = &l->first;
    for (int64_t k = 0; k < l->count && p->face == g->face; k++) {
        if (rule_region_of(m, p, l->along, k) != g->region) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            const double at = (double)(p->at[a] + (a == l->along ? k : 0));
            const double end = g->face % 2 ? sel_upper_end(grid, a) : grid->origin[a];
            g->place[a][g->count] = a == p->axis && g->on_face ? end : sel_centre(grid, a, at);
        }
        g->number[g->count++] = p->number + k;
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
    each_line(state, 0, 1, gather_line, g);
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
        const rule_margin margin = rule_margin_of(state, face / 2, 0, 0);
        int64_t extent[2];
        rule_extents(&margin, extent);
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

static void fill_line(rule_state *state, const rule_margin *m, const line *l, const void *data) {
    const rule_beyond *p = &l->first;
    (void)data;
    for (int f = 0; f < state->model->fields; f++) {
        const bool wanted = m->fields >> f & 1, whole = p->face < 0 && l->stride == 1;
        const int64_t size = rule_size(state->model, f, m->wide);
        if (wanted && whole) {
            memcpy((char *)state->at[p->block][f][state->turn[f]] + p->to * size,
                   (const char *)state->at[p->source][f][state->turn[f]] + p->from * size,
                   (size_t)(l->count * size));
        }
        for (int64_t k = 0; wanted && !whole && k < l->count; k++) {
            rule_fill_place(m, p, f, l->along, k, l->stride);
        }
    }
}

/* The planes at the ends of the block of this rank, and the margins beside them, of an array. */
static sel_sides sides_of(const rule_state *state, void *array, int64_t size) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int64_t plane = grid->dims == 3 ? state->cells.slice : state->cells.pitch;
    const int64_t reach = state->model->reach * plane * size;
    const sel_block *own = &state->base.blocks.v[0];
    /* From the first element of a plane on; what stands in front of its margin along x is that of
     * the plane before. */
    const int64_t ahead = state->model->reach * (grid->dims == 3 ? state->cells.pitch + 1 : 1);
    char *first = (char *)array + (state->cells.first - ahead + own->first * plane) * size;
    char *end = first + (own->end - own->first) * plane * size;
    return (sel_sides){first, end - reach, first - reach, end, (size_t)reach};
}

void rule_fill_margins(rule_state *state, uint64_t fields) {
    sel_sides sides[SEL_MOST_CELL_FIELDS];
    int count = 0;
    if (fields) {
        each_line(state, fields, state->base.threads, fill_line, NULL);
    }
    for (int f = 0; f < state->model->fields && state->base.ranks->count > 1; f++) {
        if (fields >> f & 1) {
            sides[count++] = sides_of(state, state->at[0][f][state->turn[f]],
                                      rule_size(state->model, f, state->plan->base.precision));
        }
    }
    sel_exchange_sides(state->base.ranks, state->base.blocks.wraps, sides, count);
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

static void find_line_kinds(rule_state *state, const rule_margin *m, const line *l,
                            const void *data) {
    const rule_beyond *p = &l->first;
    bool *failed = (bool *)(uintptr_t)data;
    for (int64_t k = 0; k < l->count; k++) {
        const int there = state->kind[p->source][p->from + k * l->stride];
        const int region = rule_region_of(m, p, l->along, k);
        uint64_t walls = 0;
        for (int f = 0; f < state->model->fields && region; f++) {
            const int law = m->tables->beyond[region][f];
            const bool wall =
                law == RULE_WALL || (law != RULE_FIXED && state->walls[there] >> f & 1);
            walls |= (uint64_t)wall << f;
        }
        const int kind = region ? kind_of(state, walls, 0) : there;
        *failed = *failed || kind == RULE_ODD;
        state->kind[p->block][p->to + k * l->stride] = (uint8_t)(kind % RULE_ODD);
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

/* Numbers of pairs of masks, as one rank has found them. */
typedef struct found_kinds {
    uint64_t walls[RULE_ODD], held[RULE_ODD];
    int count;
} found_kinds;

/* All ranks get the same numbers; false: there are too many. Then margins between ranks are known.
 */
static bool share_kinds(rule_state *state) {
    const sel_ranks *ranks = state->base.ranks;
    const int64_t planes = state->base.blocks.v[0].end - state->base.blocks.v[0].first;
    const bool deep = state->model->dims == 3;
    const int64_t plane = deep ? state->cells.slice : state->cells.pitch;
    uint8_t of_own[RULE_ODD] = {0};
    found_kinds own = {.count = state->kinds};
    found_kinds *all = sel_ranks_memory(ranks, (size_t)ranks->count * sizeof own);
    bool fits = true;
    memcpy(own.walls, state->walls, sizeof own.walls);
    memcpy(own.held, state->held, sizeof own.held);
    ranks->gather(&own, sizeof own, all);
    state->kinds = 0;
    for (int r = 0; r < ranks->count; r++) {
        for (int k = 0; k < all[r].count; k++) {
            const int kind = kind_of(state, all[r].walls[k], all[r].held[k]);
            of_own[k] = r == ranks->rank ? (uint8_t)(kind % RULE_ODD) : of_own[k];
            fits = fits && kind < RULE_ODD;
        }
    }
    free(all);
    const sel_sides sides = sides_of(state, state->kind[0], 1);
    uint8_t *kind = sides.from_low;
    for (int64_t k = 0; k < (planes + 2 * state->model->reach) * plane; k++) {
        kind[k] = of_own[kind[k]];
    }
    sel_exchange_sides(ranks, state->base.blocks.wraps, &sides, 1);
    return fits;
}

sel_status rule_find_kinds(rule_state *state, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const uint8_t *painted = sel_domain_painted(domain);
    const sel_rows_range own = sel_state_own(&state->base);
    bool failed = false, walls = false;
    state->kinds = 0;
    kind_of(state, 0, 0);
    for (int64_t row = own.first; row < own.end; row++) {
        const int b = sel_block_of(&state->base.blocks, row);
        const int64_t first = rule_place(state, 0, row % grid->n[1], row / grid->n[1]);
        for (int64_t x = 0; x < grid->n[0]; x++) {
            const int region = painted[row * grid->n[0] + x];
            const int kind = region ? cell_kind(state, b, first + x, region) : 0;
            failed = failed || kind == RULE_ODD;
            state->kind[b][first + x] = (uint8_t)(kind % RULE_ODD);
        }
    }
    each_line(state, 0, 1, find_line_kinds, &failed);
    if (state->base.ranks->count > 1) {
        failed = !share_kinds(state) || failed;
        failed = sel_state_total(&state->base, failed) > 0;
    }
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
