/* saved_fields.c -- sel.state: the fields in a checkpoint as functions of place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/checkpoint.h"
#include "engine/scene/solver.h"

static const sel_table_field rows[] = {
    SEL_ROW(sel_state_params, file, FILE,
            "A checkpoint (.sel) of a run of the same solver, relative to the script.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
};

const sel_table sel_state_table =
    SEL_TABLE("sel.state", sel_state_params, rows,
              "The fields in a checkpoint, as `initial` of a new run: sel.state "
              "\"run/checkpoint.sel\". From another grid they are taken at the same places: "
              "linear between the centres of cells that are not solid, constant beyond the "
              "last ones. Where cells were solid, those of the nearest cell that was not are "
              "taken, and a warning has their number; sel.paint { state.temperature, { shape, "
              "value } } gives others. Fields of a 2-D run are constant along z; a 2-D run "
              "takes none of a 3-D one.");

/* The cells, common to all fields. */
typedef struct saved_cells {
    sel_grid grid;
    const uint8_t *solid;
} saved_cells;

typedef struct saved_component {
    sel_function base;
    const saved_cells *cells;
    const double *values; /* [cells][stride] */
    int stride;
} saved_component;

/* The two cells whose centres enclose a coordinate, and its relative distance from the first
 * centre. */
static void cells_about(const sel_grid *grid, int axis, double coordinate, int64_t cell[2],
                        double *part) {
    const int64_t last = grid->n[axis] - 1;
    double at = sel_index(grid, axis, coordinate);
    at = fabs(at - round(at)) < 1e-9 * (double)grid->n[axis] ? round(at) : at;
    at = fmin(fmax(at, 0), (double)last);
    cell[0] = (int64_t)at;
    cell[1] = cell[0] < last ? cell[0] + 1 : last;
    *part = at - (double)cell[0];
}

/* The means over the cells about a place, by their distances from it: `own` of those that are not
 * solid, `all` of all. False: all are solid. */
static bool means_at(const saved_component *c, const double place[3], double *own, double *all) {
    const sel_grid *grid = &c->cells->grid;
    int64_t cell[3][2] = {{0}};
    double part[3] = {0}, sum = 0, weights = 0;
    *all = 0;
    for (int a = 0; a < grid->dims; a++) {
        cells_about(grid, a, place[a], cell[a], &part[a]);
    }
    for (int corner = 0; corner < 1 << grid->dims; corner++) {
        int64_t index = 0;
        double weight = 1;
        for (int a = grid->dims - 1; a >= 0; a--) {
            const int side = corner >> a & 1;
            index = index * grid->n[a] + cell[a][side];
            weight *= side ? part[a] : 1 - part[a];
        }
        *all += weight > 0 ? weight * c->values[index * c->stride] : 0;
        if (weight > 0 && !c->cells->solid[index]) {
            sum += weight * c->values[index * c->stride];
            weights += weight;
        }
    }
    *own = weights > 0 ? sum / weights : 0;
    return weights > 0;
}

/* sel_function.eval */
static sel_status eval(const sel_function *self, const sel_places *at, double *out,
                       sel_error *error) {
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        const double place[3] = {at->x[i], at->y[i], at->z ? at->z[i] : 0};
        double own, all;
        out[i] = means_at(self->data, place, &own, &all) ? own : all;
    }
    return SEL_OK;
}

/* sel_function.strange */
static sel_status mark_strange(const sel_function *self, const sel_places *at, uint8_t *mark,
                               sel_error *error) {
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        const double place[3] = {at->x[i], at->y[i], at->z ? at->z[i] : 0};
        double own, all;
        mark[i] = !means_at(self->data, place, &own, &all);
    }
    return SEL_OK;
}

/* Allocates in the arena; NULL after this or an earlier failure. */
static void *saved_alloc(sel_arena *arena, sel_checkpoint *from, size_t bytes) {
    void *room = from->failure.status ? NULL : sel_arena_alloc(arena, bytes);
    if (!room) {
        sel_checkpoint_fail(from, SEL_NO_DEVICE, "%s: no memory for its fields", from->path);
    }
    return room;
}

/* Reads a block of `bytes` bytes into the arena; NULL after a failure. */
static void *read_block(sel_arena *arena, sel_checkpoint *from, const char *name, uint64_t bytes) {
    sel_checkpoint_block(from, name);
    if (from->left != bytes) {
        sel_checkpoint_fail(from, SEL_BAD_FILE, "%s: block '%s' does not have the size of its grid",
                            from->path, name);
    }
    void *room = saved_alloc(arena, from, (size_t)bytes);
    if (room) {
        sel_keep(from, room, (size_t)bytes);
    }
    return room;
}

/* The number of cells of a grid; -1: the grid is not valid. */
static int64_t check_grid(const sel_state_grid *grid) {
    int64_t cells = 1;
    bool good = grid->dims == 2 || grid->dims == 3;
    for (int a = 0; a < 3 && good; a++) {
        good = grid->n[a] >= 1 && grid->n[a] <= INT64_MAX / 64 / cells &&
               (a < grid->dims || grid->n[a] == 1) && isfinite(grid->origin[a]) &&
               grid->dx[a] > 0 && isfinite(grid->dx[a]);
        cells *= good ? grid->n[a] : 1;
    }
    return good ? cells : -1;
}

static sel_grid grid_of(const sel_state_grid *saved) {
    sel_grid grid = {.dims = (int)saved->dims, .nodes = saved->nodes != 0};
    memcpy(grid.n, saved->n, sizeof grid.n);
    memcpy(grid.dx, saved->dx, sizeof grid.dx);
    memcpy(grid.origin, saved->origin, sizeof grid.origin);
    return grid;
}

static const sel_function *make_function(sel_arena *arena, sel_checkpoint *from,
                                         saved_component made, sel_where where) {
    saved_component *component = saved_alloc(arena, from, sizeof *component);
    if (component) {
        *component = made;
        component->base = (sel_function){.depends = SEL_ON_PLACE,
                                         .results = 1,
                                         .where = where,
                                         .eval = eval,
                                         .data = component,
                                         .saved_dims = made.cells->grid.dims,
                                         .strange = mark_strange};
    }
    return component ? &component->base : NULL;
}

/* By cell, the nearest one that is not solid; found layer by layer from all of these. Freed by the
 * caller; NULL: none is solid, or a failure. */
static int64_t *find_nearest(sel_checkpoint *from, const saved_cells *cells, int64_t count) {
    const sel_grid *grid = &cells->grid;
    const int64_t stride[3] = {1, grid->n[0], grid->n[0] * grid->n[1]};
    int64_t solids = 0, n = 0;
    for (int64_t i = 0; i < count && !from->failure.status; i++) {
        solids += cells->solid[i] != 0;
    }
    if (solids == 0 || solids == count) {
        return NULL;
    }
    int64_t *nearest = malloc(2 * (size_t)count * sizeof *nearest), *queue = nearest + count;
    if (!nearest) {
        sel_checkpoint_fail(from, SEL_NO_DEVICE, "%s: no memory for its fields", from->path);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        nearest[i] = cells->solid[i] ? -1 : i;
        if (!cells->solid[i]) {
            queue[n++] = i;
        }
    }
    for (int64_t k = 0; k < n; k++) {
        for (int a = 0; a < grid->dims; a++) {
            const int64_t at = queue[k] / stride[a] % grid->n[a];
            for (int side = -1; side <= 1; side += 2) {
                const int64_t next = queue[k] + side * stride[a];
                if (at + side >= 0 && at + side < grid->n[a] && nearest[next] < 0) {
                    nearest[next] = nearest[queue[k]];
                    queue[n++] = next;
                }
            }
        }
    }
    return nearest;
}

/* nearest: of find_nearest; NULL: solid cells keep their values. */
static void saved_read_field(sel_arena *arena, sel_checkpoint *from, const saved_cells *cells,
                             int64_t count, const int64_t *nearest, sel_where where,
                             const char *block, sel_saved_field *field) {
    const uint64_t each = (uint64_t)count * sizeof(double);
    const uint64_t bytes = (uint64_t)sel_checkpoint_bytes(from, block);
    field->components = bytes == each ? 1 : cells->grid.dims;
    double *values = read_block(arena, from, block, each * (unsigned)field->components);
    for (int64_t i = 0; i < count && values && nearest; i++) {
        for (int c = 0; c < field->components; c++) {
            values[i * field->components + c] = values[nearest[i] * field->components + c];
        }
    }
    for (int c = 0; c < field->components && values; c++) {
        const saved_component component = {
            .cells = cells, .values = values + c, .stride = field->components};
        field->component[c] = make_function(arena, from, component, where);
    }
}

static const char prefix[] = "field "; /* of the names of the blocks that hold fields */

static void read_fields(sel_arena *arena, sel_checkpoint *from, sel_where where,
                        sel_saved_field *fields, int *count) {
    saved_cells *cells = saved_alloc(arena, from, sizeof *cells);
    sel_state_grid saved = {.dims = 0};
    if (!cells) {
        return;
    }
    sel_checkpoint_block(from, "grid");
    SEL_KEEP(from, saved);
    const int64_t number = check_grid(&saved);
    if (number < 0) {
        sel_checkpoint_fail(from, SEL_BAD_FILE, "%s: its grid is not valid", from->path);
        return;
    }
    cells->grid = grid_of(&saved);
    cells->solid = read_block(arena, from, "solids", (uint64_t)number);
    int64_t *nearest = find_nearest(from, cells, number);
    char block[SEL_BLOCK_NAME];
    for (int k = 0; sel_checkpoint_name(from, k, block) && *count < SEL_MOST_SAVED_FIELDS; k++) {
        if (strncmp(block, prefix, strlen(prefix)) == 0 && !from->failure.status) {
            sel_saved_field *field = &fields[(*count)++];
            *field = (sel_saved_field){.name = sel_arena_copy(arena, block + strlen(prefix))};
            saved_read_field(arena, from, cells, number, nearest, where, block, field);
        }
    }
    free(nearest);
}

sel_status sel_saved_fields(sel_arena *arena, const sel_state_params *params, sel_where where,
                            sel_saved_field fields[SEL_MOST_SAVED_FIELDS], int *count,
                            sel_error *error) {
    sel_checkpoint *from;
    *count = 0;
    sel_status status = sel_checkpoint_open(params->file, &from, error);
    if (!status) {
        read_fields(arena, from, where, fields, count);
        status = sel_checkpoint_status(from, error);
        sel_checkpoint_close(from);
    }
    return status;
}

/* ---- what users are told ---- */

typedef struct saved_check {
    int dims;
    sel_status status;
    sel_error *error;
} saved_check;

/* sel_quantity_visit */
static bool refuse_deeper(void *to, const sel_visited *found) {
    saved_check *check = to;
    if (sel_quantity_saved_dims(found->quantity) > check->dims) {
        check->status = sel_fail_at(check->error, found->where,
                                    "sel.state: the fields are those of a run in 3 dimensions, "
                                    "this one has 2");
    }
    return check->status == SEL_OK;
}

sel_status sel_saved_check(const sel_simulation *simulation, int dims, sel_error *error) {
    saved_check check = {.dims = dims, .error = error};
    sel_visit_quantities(simulation, NULL, refuse_deeper, &check);
    return check.status;
}

/* sel_function.eval: 1 where the quantity `data` is strange, else 0. */
static sel_status eval_strange(const sel_function *self, const sel_places *at, double *out,
                               sel_error *error) {
    uint8_t *mark = malloc(at->n + 1);
    const sel_status status = mark ? sel_quantity_strange(self->data, at, mark, error)
                                   : sel_fail_memory(error, "sel.state", at->n);
    for (size_t i = 0; i < at->n && !status; i++) {
        out[i] = mark[i];
    }
    free(mark);
    return status;
}

typedef struct saved_warning {
    const sel_plan *plan;
    sel_error *warnings;
} saved_warning;

/* sel_quantity_visit; the fields of a run are all strange at the same places. */
static bool warn_of_strange(void *to, const sel_visited *found) {
    const saved_warning *of = to;
    const sel_function count = {.depends = SEL_ON_PLACE,
                                .results = 1,
                                .eval = eval_strange,
                                .data = (void *)(uintptr_t)found->quantity};
    const sel_quantity counted = sel_from_function(&count);
    sel_survey strange = {.sum = 0};
    const bool known = sel_quantity_saved_dims(found->quantity) > 0 &&
                       !sel_survey_cells(of->plan, &counted, found->field, 0, &strange, NULL);
    if (known && strange.sum > 0) {
        sel_fail_at(of->warnings, found->where,
                    "sel.state: %.0f of %lld free cells lie where the earlier run had solids and "
                    "computed nothing: they begin with the values of the nearest cell that it "
                    "computed; to give them others, paint over them: sel.paint { state.%s, { "
                    "shape, value } }",
                    strange.sum, (long long)strange.count, found->field);
    }
    return !(known && strange.sum > 0);
}

void sel_saved_warn(const sel_plan *plan, sel_error *warnings) {
    saved_warning of = {plan, warnings};
    sel_visit_quantities(plan->simulation, NULL, warn_of_strange, &of);
}
