/* out_wall.c -- out.wall: fields in the cells beside a region, as CSV. */
#include <stdlib.h>
#include <string.h>
#include "engine/output/kind.h"

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_wall_params, region, STRING,
            "Name of a region, on cells or on faces; regions of one name count together.",
            .flags = SEL_REQUIRED),
    SEL_ROW(sel_wall_params, field, NAMES, SEL_OUT_FIELDS_HELP, .flags = SEL_REQUIRED | SEL_RESULT),
};

const sel_table sel_out_wall_table = SEL_TABLE(
    "out.wall", sel_wall_params, fields,
    "Fields along the surface of a region, as NAME.csv with step,time,x,y,z,values: at each time a "
    "row for each free cell beside the region, with its centre, in the order of the grid. For "
    "sel.lbm see pressure, wall_shear, y_plus, wall_normal, wall_area: the sum of wall_shear times "
    "wall_area is the friction on the region.");

typedef struct wall_output {
    sel_output base;
    int64_t count, *cells; /* numbers of the cells beside the region */
} wall_output;

/* ---- the cells beside a region ---- */

/* Whether a cell is beside regions of a name: of the cells around it, but for those at its corners
 * in space, one is solid by them, or a face of the domain is theirs. */
static bool is_beside(const sel_domain *domain, const int64_t at[3], const bool named[]) {
    const sel_grid *grid = &domain->grid;
    const int deep = grid->dims == 3;
    for (int f = 0; f < 2 * grid->dims; f++) {
        const bool touches = at[f / 2] == (f % 2 ? grid->n[f / 2] - 1 : 0);
        if (domain->face[f] && touches && named[domain->face[f][sel_face_site(grid, f, at)]]) {
            return true;
        }
    }
    for (int k = 0; k < 27; k++) {
        const int e[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        int64_t to[3];
        bool inside = (deep || e[2] == 0) && abs(e[0]) + abs(e[1]) + abs(e[2]) < 3;
        for (int a = 0; a < 3; a++) {
            to[a] = at[a] + e[a];
            to[a] = sel_axis_periodic(grid, a) ? sel_wrapped(grid, a, to[a]) : to[a];
            inside = inside && to[a] >= 0 && to[a] < grid->n[a];
        }
        if (inside && named[domain->cell[sel_cell_number(grid, to)]]) {
            return true;
        }
    }
    return false;
}

/* Counts the cells beside the region; lists them if `to` is not NULL. */
static int64_t list_beside(const sel_domain *domain, const char *region, int64_t *to) {
    const int64_t cells = sel_grid_cells(&domain->grid);
    bool named[SEL_REGION_NUMBERS] = {false};
    int64_t count = 0;
    char text[32];
    for (int r = 1; r <= domain->region_count; r++) {
        named[r] = strcmp(sel_region_name(domain, r, text), region) == 0;
    }
    for (int64_t k = 0; k < cells; k++) {
        int64_t at[3];
        sel_cell_at(&domain->grid, k, at);
        if (!domain->cell[k] && is_beside(domain, at, named)) {
            if (to) {
                to[count] = k;
            }
            count++;
        }
    }
    return count;
}

/* ---- rows ---- */

static sel_status wall_open(sel_output *base, sel_error *error) {
    static const char *const places[] = {"x", "y", "z"};
    wall_output *output = (wall_output *)base;
    const char *region = ((const sel_wall_params *)base->params)->region;
    const sel_domain *domain = base->context->domain;
    output->count = list_beside(domain, region, NULL);
    output->cells = sel_arena_alloc(base->arena, (size_t)(output->count + 1) * sizeof(int64_t));
    sel_status status = output->cells ? SEL_OK : sel_fail_memory(error, "the cells of a wall", 0);
    if (!status) {
        list_beside(domain, region, output->cells);
    }
    for (int a = 0; a < 3; a++) {
        sel_csv_text(base->csv, places[a]);
    }
    sel_picks_columns(&base->picks, 0, base->csv);
    for (int i = 0; i < base->picks.count && !status; i++) {
        const sel_pick *pick = &base->picks.v[i];
        const size_t bytes = (size_t)(output->count * pick->field_components + 1) * sizeof(double);
        sel_request request = {.kind = SEL_READ,
                               .field = pick->field,
                               .cells = output->cells,
                               .cell_count = output->count,
                               .precision = SEL_F64,
                               .components = pick->field_components,
                               .to = sel_arena_alloc(base->arena, bytes)};
        status = request.to ? sel_output_request(base, &request, error)
                            : sel_fail_memory(error, "the values of a wall", bytes);
    }
    return status;
}

static sel_status wall_take(sel_output *base, sel_error *error) {
    const wall_output *output = (const wall_output *)base;
    const sel_grid *grid = &base->context->domain->grid;
    (void)error;
    for (int64_t k = 0; k < output->count; k++) {
        int64_t at[3];
        sel_cell_at(grid, output->cells[k], at);
        if (k > 0) {
            sel_csv_end_line(base->csv);
            sel_output_row(base);
        }
        for (int a = 0; a < 3; a++) {
            sel_csv_number(base->csv, a < grid->dims ? sel_centre(grid, a, (double)at[a]) : 0);
        }
        for (int i = 0; i < base->picks.count; i++) {
            const sel_pick *pick = &base->picks.v[i];
            const double *values = base->requests.v[i].to;
            for (int c = 0; c < pick->components; c++) {
                sel_csv_number(base->csv, values[k * pick->field_components + pick->first + c]);
            }
        }
    }
    return SEL_OK;
}

static void wall_check(sel_output_checker *checker, const void *params) {
    static const char *const others[] = {"step", "time", "x", "y", "z", NULL};
    const char *region = ((const sel_wall_params *)params)->region;
    const sel_status status = checker->status;
    sel_columns_check(checker, &((const sel_wall_params *)params)->field, false, others);
    sel_measure_check(checker, region);
    if (checker->status == status && list_beside(checker->domain, region, NULL) == 0) {
        sel_output_refuse(checker, "no free cell is beside region '%s'", region);
    }
}

const sel_output_kind sel_wall_kind = {
    .table = &sel_out_wall_table,
    .size = sizeof(wall_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .check = wall_check,
    .open = wall_open,
    .take = wall_take,
};
