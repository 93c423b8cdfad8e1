/* rule_laws.c -- what rules read beyond the faces of the domain and in cells under laws.
 *
 * About the cells stand margins, filled axis after axis: around periodic axes by copies, beyond
 * faces by the laws. Lines of a later axis include the margins of
 * the earlier ones, so that edges and corners are filled by the law of the later axis, from what
 * the earlier one has put there; around an earlier axis that is periodic the law is that of the
 * image, at its place. All these places are listed once, as runs that one law fills;
 * cells on shapes whose values laws give are such runs too. A rank has the runs of its own
 * block; margins beside other blocks come from the ranks that own them, axis after axis too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/rule/rule.h"

/* ---- laws of regions ---- */

rule_holds rule_law_of(const sel_domain *domain, int region, const char *name, bool state,
                       bool beyond) {
    const sel_named_variants *laws = &domain->regions[region - 1].laws;
    const sel_variant *found = NULL;
    for (int k = 0; k < laws->n; k++) {
        const bool named = laws->v[k].name != NULL;
        if (named ? strcmp(laws->v[k].name, name) == 0 : state && !found) {
            found = &laws->v[k].value;
        }
    }
    if (!found) {
        return (rule_holds){beyond || region == domain->nodata ? RULE_WALL : RULE_FREE, NULL};
    }
    if (found->table == &rule_wall_table || found->table == &rule_mirror_table) {
        return (rule_holds){found->table == &rule_wall_table ? RULE_WALL : RULE_MIRROR, NULL};
    }
    const rule_law *law = found->data;
    return (rule_holds){found->table == &rule_gradient_table ? RULE_GRADIENT
                        : beyond && law->at == RULE_AT_FACE  ? RULE_FIXED_FACE
                                                             : RULE_FIXED,
                        law};
}

const rule_law *rule_law_value(const rule_plan *plan, int region, int entry) {
    const rule_entry *e = &plan->model->entry[entry];
    return rule_law_of(plan->base.domain, region, e->name, e->state, true).law;
}

/* ---- runs ---- */

_Static_assert(RULE_FIELDS == (int)SEL_MOST_CELL_FIELDS && RULE_FACES == (int)SEL_FACES &&
                   RULE_REGIONS == (int)SEL_REGION_NUMBERS && SEL_CELL_I32 == 1 &&
                   SEL_CELL_U8 == 2 && SEL_F64 == 1,
               "rule_margin.h numbers as the engine does");

static int64_t clamp(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* The index in the grid whose region holds at index i: around periodic axes that of its image, else
 * the nearest one. */
static int64_t owner(const sel_grid *grid, int axis, int64_t i) {
    return sel_axis_periodic(grid, axis) ? sel_wrapped(grid, axis, i) : clamp(i, grid->n[axis]);
}

/* A line of n places from that of `run` on. */
static void add_line(rule_state *state, rule_run run, int along, int64_t n) {
    const sel_domain *domain = state->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const bool cells = run.face == RULE_FACES;
    int64_t at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = a == along ? 0 : owner(grid, a, run.at[a]);
    }
    const uint8_t *region = run.face < 0 ? NULL
                            : cells      ? sel_domain_painted(domain) + sel_cell_number(grid, at)
                                    : domain->face[run.face] + sel_face_site(grid, run.face, at);
    for (int64_t k = 0; k < n; k += run.count) {
        run.region = region ? region[owner(grid, along, run.at[along])] : 0;
        run.count = 1;
        while (run.count < RULE_RUN && k + run.count < n &&
               (!region || region[owner(grid, along, run.at[along] + run.count)] == run.region)) {
            run.count++;
        }
        const bool valued = state->valued[cells][run.region];
        run.number = state->places;
        state->places += valued ? run.count : 0;
        if (state->tables.run && (valued || !cells)) {
            state->tables.run[state->first_run[RULE_SECTIONS]] = run;
        }
        state->first_run[RULE_SECTIONS] += valued || !cells;
        run.at[along] += run.count;
        run.to += run.count * run.stride;
        run.from += run.count * run.stride;
    }
}

/* A box of places in lines; `mirror`: elements from a place to what it mirrors. */
static void add_box(rule_state *state, rule_run run, const int64_t low[3], const int64_t high[3],
                    int along, int64_t mirror) {
    const int across = 1 - along;
    run.stride = along ? rule_layout(state)->pitch : 1;
    for (int64_t z = low[2]; z < high[2]; z++) {
        for (int64_t k = low[across]; k < high[across]; k++) {
            run.at[along] = (int32_t)low[along];
            run.at[across] = (int32_t)k;
            run.at[2] = (int32_t)z;
            run.to = rule_place(state, run.at[0], run.at[1], run.at[2]);
            run.from = run.to + mirror;
            add_line(state, run, along, high[along] - low[along]);
        }
    }
}

/* Whether other ranks fill the margins along an axis, but for those beyond faces. */
static bool margin_of_ranks(const rule_state *state, int axis) {
    return state->base.ranks->count > 1 && axis > 0 &&
           sel_halo_along(&state->base.decomposition, axis);
}

static void add_section(rule_state *state, int s) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int dims = grid->dims, reach = state->model->reach;
    const int64_t strides[] = {1, rule_layout(state)->pitch, rule_layout(state)->slice};
    int64_t low[3] = {0}, high[3] = {1, 1, 1};
    for (int a = 0; a < dims; a++) {
        const bool filled = a < s && s < dims;
        low[a] = state->base.own.lo[a] - filled * reach;
        high[a] = state->base.own.hi[a] + filled * reach;
    }
    if (s == RULE_IN_CELLS) {
        add_box(state, (rule_run){.face = RULE_FACES}, low, high, 0, 0);
        return;
    }
    const int64_t n = grid->n[s], begin = low[s], end = high[s];
    for (int j = 0; j < 2 * reach; j++) {
        const int layer = j / 2, side = j % 2;
        const int64_t i = side ? end + layer : begin - 1 - layer;
        const bool copies = (i >= 0 && i < n) || sel_axis_periodic(grid, s);
        const int64_t from =
            copies ? sel_wrapped(grid, s, i) : clamp(side ? n - 1 - layer : layer, n);
        if (copies && margin_of_ranks(state, s)) {
            continue; /* another rank has them */
        }
        const rule_run run = {.layer = layer, .face = copies ? -1 : 2 * s + side};
        low[s] = i;
        high[s] = i + 1;
        add_box(state, run, low, high, s == 0, (from - i) * strides[s]);
    }
}

void rule_list_runs(rule_state *state) {
    bool cells = false;
    for (int r = 1; r <= state->plan->base.domain->region_count; r++) {
        cells = cells || state->valued[1][r];
    }
    state->places = state->first_run[RULE_SECTIONS] = 0;
    for (int s = 0; s < RULE_SECTIONS; s++) {
        const bool has = s < state->model->dims || (s == RULE_IN_CELLS && cells);
        state->first_run[s] = state->first_run[RULE_SECTIONS];
        if (has) {
            add_section(state, s);
        }
    }
}

/* The kinds of laws; fields of which any has values. */
static uint64_t rule_laws_find(rule_state *state) {
    const rule_model *m = state->model;
    const sel_domain *domain = state->plan->base.domain;
    uint64_t valued = 0;
    for (int k = 0; k < 2 * domain->region_count * m->fields; k++) {
        const int r = 1 + k / 2 / m->fields, f = k / 2 % m->fields, cells = k % 2;
        const rule_holds holds =
            rule_law_of(domain, r, m->entry[m->entry_of[f]].name, m->field[f].state, !cells);
        state->tables.kind[cells][r][f] = (uint8_t)holds.kind;
        state->valued[cells][r] |= holds.law != NULL;
        valued |= (uint64_t)(holds.law != NULL) << f;
    }
    return valued;
}

void rule_find_laws(rule_state *state) {
    rule_laws_find(state);
}

void rule_list_laws(rule_state *state) {
    const rule_model *m = state->model;
    rule_tables *t = &state->tables;
    const uint64_t valued = rule_laws_find(state);
    memcpy(t->dx, state->plan->base.domain->grid.dx, sizeof t->dx);
    t->wide = m->precision == SEL_F64;
    rule_list_runs(state);
    SEL_ADD(&state->base.arrays, state, tables.run, state->first_run[RULE_SECTIONS], 0);
    for (int f = 0; f < m->fields; f++) {
        t->type[f] = (uint8_t)m->field[f].type;
        SEL_ADD(&state->base.arrays, state, tables.law[f], valued >> f & 1 ? state->places : 0, 0);
    }
}

/* Fills places of these fields in the copies `turns`. */
static void rule_laws_fill(rule_state *state, int section, uint64_t fields, uint64_t turns) {
    const rule_tables *t = &state->tables;
    const int64_t first = state->first_run[section], end = state->first_run[section + 1];
#pragma omp parallel for schedule(static) num_threads(end - first > 32 ? state->base.threads : 1)
    for (int64_t i = first; i < end; i++) {
        const rule_run *run = &t->run[i];
        for (int f = 0; f < state->model->fields; f++) {
            const int turn = (int)(turns >> f & 1);
            const int64_t size = rule_size(state->model, f);
            if (!(fields >> f & 1) || !t->at[f][turn]) {
                continue;
            }
            if (!run->region && run->stride == 1) {
                memcpy((char *)t->at[f][turn] + run->to * size,
                       (const char *)t->at[f][turn] + run->from * size,
                       (size_t)(run->count * size));
                continue;
            }
            for (int k = 0; k < run->count; k++) {
                rule_fill_place(t, run, k, f, turn);
            }
        }
    }
}

int rule_list_exchanges(const rule_state *state, uint64_t fields, uint64_t turns, int depth,
                        sel_exchange what[SEL_MOST_CELL_FIELDS]) {
    int count = 0;
    for (int f = 0; f < state->model->fields; f++) {
        if (fields >> f & 1) {
            what[count++] = (sel_exchange){f, (int)(turns >> f & 1), depth, SEL_FETCH};
        }
    }
    return count;
}

/* sel_ghosts: laws beyond faces, and images around axes that are not divided. */
static void rule_laws_ghosts(sel_state *base, const sel_exchange *what, int count, int axis) {
    uint64_t fields = 0, turns = 0;
    for (int k = 0; k < count; k++) {
        fields |= UINT64_C(1) << what[k].field;
        turns |= (uint64_t)what[k].copy << what[k].field;
    }
    rule_laws_fill((rule_state *)base, axis, fields, turns);
}

void rule_fill_margins(rule_state *state, uint64_t fields) {
    sel_exchange what[SEL_MOST_CELL_FIELDS];
    const int count = rule_list_exchanges(state, fields, state->turns, state->model->reach, what);
    sel_state_complete(&state->base, what, count, rule_laws_ghosts);
}

void rule_fill_cells(rule_state *state) {
    for (int copy = 0; copy < 2; copy++) {
        rule_laws_fill(state, RULE_IN_CELLS, RULE_ALL, copy ? RULE_ALL : 0);
    }
}

/* ---- walls, and cells that are not computed ---- */

/* The number of a pair of masks; a new one where there is none yet. */
static uint8_t rule_laws_kind_of(rule_state *state, uint64_t walls, uint64_t held) {
    int k = 0;
    while (k < state->kinds && (state->tables.walls[k] != walls || state->tables.held[k] != held)) {
        k++;
    }
    state->too_many = state->too_many || k == RULE_ODD;
    if (k == state->kinds && k < RULE_ODD) {
        state->tables.walls[k] = walls;
        state->tables.held[k] = held;
        state->kinds++;
    }
    return (uint8_t)(k % RULE_ODD);
}

static void find_margin_kinds(rule_state *state, const rule_run *run) {
    for (int k = 0; k < run->count; k++) {
        const uint8_t there = state->kind[run->from + k * run->stride];
        uint64_t walls = 0;
        for (int f = 0; f < state->model->fields && run->region; f++) {
            const int law = state->tables.kind[0][run->region][f];
            const bool wall =
                law == RULE_WALL || (law != RULE_FIXED && state->tables.walls[there] >> f & 1);
            walls |= (uint64_t)wall << f;
        }
        state->kind[run->to + k * run->stride] =
            run->region ? rule_laws_kind_of(state, walls, 0) : there;
    }
}

/* By a cell's region, and where its data have gaps. */
static uint8_t cell_kind(rule_state *state, int64_t at, int region) {
    const rule_model *m = state->model;
    uint64_t walls = 0, held = 0;
    for (int f = 0; f < m->fields; f++) {
        const int law = state->tables.kind[1][region][f];
        const bool data = !m->field[f].state, computed = law == RULE_FREE;
        const bool gap = data && isnan(rule_value(state, f, at));
        walls |= (uint64_t)(law == RULE_WALL || (gap && computed)) << f;
        held |= (uint64_t) !(data || computed) << f;
    }
    return rule_laws_kind_of(state, walls, held);
}

/* Whether one of the cells about it is a wall. */
static bool beside_wall(const rule_state *state, int64_t at) {
    const int reach = state->model->reach, deep = state->model->dims == 3 ? reach : 0;
    for (int z = -deep; z <= deep; z++) {
        for (int y = -reach; y <= reach; y++) {
            const uint8_t *row =
                state->kind + at + z * rule_layout(state)->slice + y * rule_layout(state)->pitch;
            for (int x = -reach; x <= reach; x++) {
                if (state->tables.walls[row[x] % RULE_ODD]) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Those of cells of other ranks, which number them otherwise. */
static void share_kinds(rule_state *state, int axis) {
    const sel_state *base = &state->base;
    const sel_field *kind = &base->field[state->model->fields];
    sel_halo sides;
    sel_list_halos(kind, &base->own, state->kind, axis, state->model->reach, SEL_FETCH, &sides);
    const sel_neighbours neighbours =
        sel_neighbours_of(&base->decomposition, base->ranks->rank, axis);
    uint8_t *const at[] = {sides.low, sides.high, sides.from_low, sides.from_high};
    const size_t bytes = sides.bytes, n = bytes * (size_t)(sides.pieces ? sides.pieces : 1);
    uint64_t *walls = sel_ranks_memory(state->base.ranks, 4 * n * sizeof *walls);
    for (size_t k = 0; k < 4 * n; k++) {
        const size_t piece = k % n / bytes * (size_t)sides.apart;
        walls[k] = state->tables.walls[at[k / n][piece + k % bytes]];
    }
    const sel_halo masks = {walls, walls + n, walls + 2 * n, walls + 3 * n, n * sizeof *walls,
                            0,     0};
    sel_exchange_halos(base->ranks, &neighbours, &masks, 1, NULL);
    for (size_t k = 2 * n; k < 4 * n; k++) {
        const size_t piece = k % n / bytes * (size_t)sides.apart;
        at[k / n][piece + k % bytes] = rule_laws_kind_of(state, walls[k], 0);
    }
    free(walls);
}

sel_status rule_find_kinds(rule_state *state, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const int64_t nx = domain->grid.n[0];
    const sel_rows own = sel_own_rows(&state->base);
    bool walls = false;
    state->kinds = 0;
    rule_laws_kind_of(state, 0, 0);
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        const uint8_t *region = sel_domain_painted(domain) + row * nx;
        for (int64_t x = 0, at = rule_row(state, row); x < nx; x++, at++) {
            state->kind[at] = region[x] ? cell_kind(state, at, region[x]) : 0;
        }
    }
    for (int axis = 0; axis < state->model->dims; axis++) {
        for (int64_t i = state->first_run[axis]; i < state->first_run[axis + 1]; i++) {
            find_margin_kinds(state, &state->tables.run[i]);
        }
        if (margin_of_ranks(state, axis)) {
            share_kinds(state, axis);
        }
    }
    for (int k = 0; k < state->kinds; k++) {
        walls = walls || state->tables.walls[k];
    }
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        for (int64_t x = 0, at = rule_row(state, row); x < nx; x++, at++) {
            if (state->kind[at] || (walls && beside_wall(state, at))) {
                state->kind[at] |= RULE_ODD;
                state->odd[row * rule_pieces(nx) + x / SEL_ROW] = 1;
            }
        }
    }
    return sel_state_total(&state->base, state->too_many) > 0
               ? sel_fail_at(error, sel_simulation_where(state->plan->base.simulation, "regions"),
                             "more than %d combinations of laws meet; use fewer", RULE_ODD)
               : SEL_OK;
}

/* Of a row: cells where a field is not computed get their present value in the other copy, too. */
static void hold_row(rule_state *state, int f, int64_t row) {
    const int present = (int)(state->turns >> f & 1), size = (int)state->base.field[f].type.size;
    const int64_t nx = state->plan->base.domain->grid.n[0], first = rule_row(state, row);
    const char *from = state->tables.at[f][present];
    char *to = state->tables.at[f][!present];
    for (int64_t at = first; at < first + nx; at++) {
        if (state->tables.held[state->kind[at] % RULE_ODD] >> f & 1) {
            memcpy(to + at * size, from + at * size, (size_t)size);
        }
    }
}

bool rule_holds_cells(const rule_state *state) {
    uint64_t held = 0;
    for (int k = 0; k < state->kinds; k++) {
        held |= state->tables.held[k];
    }
    return held & state->model->doubled;
}

void rule_hold_cells(rule_state *state) {
    const sel_rows own = sel_own_rows(&state->base);
    for (int f = 0; f < state->model->fields && rule_holds_cells(state); f++) {
        if (state->model->doubled >> f & 1) {
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
            for (int64_t k = 0; k < own.count; k++) {
                hold_row(state, f, sel_row_of(&own, k));
            }
        }
    }
}
