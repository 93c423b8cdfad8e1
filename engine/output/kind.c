/* kind.c -- what the kinds of output share: names of fields, points, boxes, requests. */
#include "engine/output/kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/folder.h"
#include "geometry/shape.h"

int sel_pick_components(const sel_pick *pick) {
    return pick->component < 0 ? pick->field_components : 1;
}

int sel_pick_component(const sel_pick *pick, int c) {
    return pick->component < 0 ? c : pick->component;
}

int sel_pick_stored(const sel_pick *pick) {
    int components = sel_pick_components(pick);
    return components == 2 ? 3 : components;
}

void sel_pick_column(const sel_pick *pick, int c, char text[SEL_COLUMN_ROOM]) {
    if (sel_pick_components(pick) == 1) {
        snprintf(text, SEL_COLUMN_ROOM, "%s", pick->name);
    } else {
        snprintf(text, SEL_COLUMN_ROOM, "%s_%s", pick->name, pick->suffixes[c]);
    }
}

static sel_status unknown_field(const sel_output_site *site, const char *name, sel_error *error) {
    enum { MOST = 64 };
    const sel_solver *solver = site->simulation->solver;
    const char *names[MOST + 1] = {NULL};
    char list[1024] = "";
    size_t used = 0;
    for (int f = 0; f < solver->field_count && f < MOST; f++) {
        names[f] = solver->fields[f].name;
        if (used < sizeof list) {
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", f ? ", " : "", names[f]);
        }
    }
    const char *near = sel_nearest(name, names);
    return sel_fail_at(error, site->where, "%s: sel.%s has no field '%s'%s%s%s (it has %s)",
                       site->table->name, solver->name, name, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "", list);
}

static bool named_before(const sel_names *names, int i) {
    for (int j = 0; j < i; j++) {
        if (strcmp(names->v[i], names->v[j]) == 0) {
            return true;
        }
    }
    return false;
}

sel_status sel_picks_check(const sel_output_site *site, const sel_names *names, sel_error *error) {
    sel_status status = SEL_OK;
    if (names->n == 0) {
        return sel_fail_at(error, site->where, "%s: the list of fields is empty",
                           site->table->name);
    }
    for (int i = 0; i < names->n; i++) {
        int component;
        if (sel_solver_field(site->simulation->solver, site->domain->grid.dims, names->v[i],
                             &component) < 0) {
            status = unknown_field(site, names->v[i], error);
        } else if (named_before(names, i)) {
            status = sel_fail_at(error, site->where, "%s: field '%s' is listed twice",
                                 site->table->name, names->v[i]);
        }
    }
    return status;
}

sel_status sel_scalar_check(const sel_output_site *site, const char *field, sel_error *error) {
    const sel_solver *solver = site->simulation->solver;
    sel_names names = {1, &field};
    int component;
    sel_status status = sel_picks_check(site, &names, error);
    if (status != SEL_OK) {
        return status;
    }
    int found = sel_solver_field(solver, site->domain->grid.dims, field, &component);
    if (component < 0 && solver->fields[found].rank == SEL_TENSOR) {
        return sel_fail_at(error, site->where,
                           "%s: '%s' is a tensor; name a component, such as %s_xy",
                           site->table->name, field, field);
    }
    return SEL_OK;
}

void sel_pick_scalar(const sel_pick *pick, float *values, int64_t cells) {
    int components = pick->field_components;
    for (int64_t i = 0; i < cells; i++) {
        const float *cell = values + i * components;
        double squares = 0;
        for (int c = 0; c < components; c++) {
            squares += (double)cell[c] * (double)cell[c];
        }
        values[i] = sel_pick_components(pick) == 1 ? cell[sel_pick_component(pick, 0)]
                                                   : (float)sqrt(squares);
    }
}

sel_status sel_picks_make(const sel_output_context *context, const sel_names *names,
                          sel_picks *picks, sel_error *error) {
    int dims = context->domain->grid.dims;
    picks->count = 0;
    picks->v = calloc((size_t)names->n, sizeof *picks->v);
    if (!picks->v) {
        return sel_fail_memory(error, "an output", (size_t)names->n * sizeof *picks->v);
    }
    picks->count = names->n;
    for (int i = 0; i < names->n; i++) {
        sel_pick *pick = &picks->v[i];
        pick->name = names->v[i];
        pick->field = sel_solver_field(context->solver, dims, pick->name, &pick->component);
        const sel_field_info *info = &context->solver->fields[pick->field];
        pick->field_components = sel_field_components(info, dims);
        for (int c = 0; c < pick->field_components; c++) {
            pick->suffixes[c] = sel_field_suffix(info, dims, c);
        }
    }
    return SEL_OK;
}

static void domain_text(const sel_grid *grid, char *text, size_t size) {
    size_t used = 0;
    for (int a = 0; a < grid->dims && used < size; a++) {
        used += (size_t)snprintf(text + used, size - used, "%s[%.10g, %.10g]", a ? " x " : "",
                                 grid->origin[a], grid->origin[a] + (double)grid->n[a] * grid->dx);
    }
}

sel_status sel_point_check(const sel_output_site *site, const char *what, const sel_point *point,
                           sel_error *error) {
    const sel_grid *grid = &site->domain->grid;
    if (point->n != grid->dims) {
        return sel_fail_at(error, site->where,
                           "%s: %s has %d coordinates, the domain has %d dimensions",
                           site->table->name, what, point->n, grid->dims);
    }
    for (int a = 0; a < grid->dims; a++) {
        double cells = (point->v[a] - grid->origin[a]) / grid->dx;
        double slack = 1e-9 * (double)grid->n[a]; /* of a border computed another way */
        if (!(cells >= -slack && cells <= (double)grid->n[a] + slack)) {
            char domain[128];
            domain_text(grid, domain, sizeof domain);
            return sel_fail_at(error, site->where,
                               "%s: %s lies outside the domain: %s = %.10g, the domain is %s",
                               site->table->name, what, sel_axis_names[a], point->v[a], domain);
        }
    }
    return SEL_OK;
}

/* The cells from lo to hi along an axis in which a coordinate lies: two on the border between. */
static void cells_about(const sel_grid *grid, int axis, double coordinate, int64_t *lo,
                        int64_t *hi) {
    const double at = (coordinate - grid->origin[axis]) / grid->dx, slack = 1e-9 * at + 1e-9;
    const double last = (double)grid->n[axis] - 1;
    *lo = (int64_t)fmin(fmax(floor(at - slack), 0), last);
    *hi = (int64_t)fmin(fmax(floor(at + slack), 0), last);
}

sel_status sel_free_check(const sel_output_site *site, const char *what, const sel_point *point,
                          sel_error *error) {
    const sel_domain *domain = site->domain;
    const sel_grid *grid = &domain->grid;
    int64_t lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
    int region = 0;
    for (int a = 0; a < grid->dims; a++) {
        cells_about(grid, a, point->v[a], &lo[a], &hi[a]);
    }
    for (int64_t z = lo[2]; z <= hi[2]; z++) {
        for (int64_t y = lo[1]; y <= hi[1]; y++) {
            for (int64_t x = lo[0]; x <= hi[0]; x++) {
                region = domain->cell[(z * grid->n[1] + y) * grid->n[0] + x];
                if (region == 0) {
                    return SEL_OK;
                }
            }
        }
    }
    char name[32];
    return sel_fail_at(error, site->where,
                       "%s: %s lies in the region '%s', where nothing is computed",
                       site->table->name, what, sel_region_name(domain, region, name));
}

/* First cell whose centre is at or beyond `coordinate`, within [0, n]. */
static int64_t first_cell(const sel_grid *grid, int axis, double coordinate) {
    double cell = ceil((coordinate - grid->origin[axis]) / grid->dx - 0.5);
    if (!(cell > 0)) {
        return 0;
    }
    return cell > (double)grid->n[axis] ? grid->n[axis] : (int64_t)cell;
}

sel_box sel_within_box(const sel_grid *grid, const struct sel_shape *within) {
    sel_box box = sel_grid_box(grid);
    const sel_shape_box *shape = within ? within->data : NULL;
    for (int a = 0; shape && a < grid->dims; a++) {
        box.lo[a] = first_cell(grid, a, shape->min.v[a]);
        box.hi[a] = first_cell(grid, a, shape->max.v[a]);
    }
    return box;
}

sel_status sel_within_check(const sel_output_site *site, const char *what,
                            const struct sel_shape *within, sel_error *error) {
    if (!within) {
        return SEL_OK;
    }
    if (within->kind != SEL_SHAPE_BOX) {
        return sel_fail_at(error, site->where, "%s: %s must be a shape.box", site->table->name,
                           what);
    }
    sel_status status = sel_shape_check(within, &site->domain->grid, error);
    if (status != SEL_OK) {
        return status;
    }
    sel_box box = sel_within_box(&site->domain->grid, within);
    if (sel_box_cells(&box) == 0) {
        return sel_fail_at(error, site->where, "%s: no cell centre lies within the box",
                           site->table->name);
    }
    return SEL_OK;
}

sel_status sel_output_directory(const sel_output_context *context, const char *name,
                                sel_error *error) {
    return sel_folder_make(context->directory, name, context->force || context->resume, error);
}

sel_status sel_output_csv(const sel_output_context *context, const char *name,
                          sel_output_files *files, sel_csv **csv, sel_error *error) {
    char file[128];
    snprintf(file, sizeof file, "%s.csv", name);
    const int known = sel_output_files_find(files, file);
    sel_status status = SEL_OK;
    if (known >= 0) {
        status = sel_csv_reopen(context->directory, file, files->v[known].bytes, csv, error);
    } else {
        status = sel_output_files_add(files, NULL, error, "%s", file);
        status = status ? status : sel_csv_open(context->directory, file, csv, error);
    }
    if (status == SEL_OK) {
        files->v[known >= 0 ? known : files->count - 1].csv = *csv;
        sel_csv_text(*csv, "step");
        sel_csv_text(*csv, "time");
    }
    return status;
}

void sel_picks_keep(const sel_picks *picks, const char *output, sel_checkpoint *checkpoint) {
    int count = picks->count;
    bool same = true;
    SEL_KEEP(checkpoint, count);
    if (!sel_checkpoint_loads(checkpoint)) {
        for (int i = 0; i < count; i++) {
            sel_keep_text(checkpoint, picks->v[i].name);
        }
        return;
    }
    same = count == picks->count;
    for (int i = 0; i < picks->count && same; i++) {
        char *name = sel_kept_text(checkpoint);
        same = name && strcmp(name, picks->v[i].name) == 0;
        free(name);
    }
    if (!same) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                            "%s: the output '%s' had other fields; give it another name",
                            sel_checkpoint_path(checkpoint), output);
    }
}

void sel_output_row(sel_csv *csv, int64_t step, double time) {
    sel_csv_integer(csv, step);
    sel_csv_number(csv, time);
}

void sel_picks_columns(const sel_picks *picks, int number, sel_csv *csv) {
    for (int i = 0; i < picks->count; i++) {
        for (int c = 0; c < sel_pick_components(&picks->v[i]); c++) {
            char column[SEL_COLUMN_ROOM], numbered[SEL_COLUMN_ROOM + 16];
            sel_pick_column(&picks->v[i], c, column);
            snprintf(numbered, sizeof numbered, number ? "%s_%d" : "%s", column, number);
            sel_csv_text(csv, numbered);
        }
    }
}

sel_status sel_output_result(const sel_output_context *context, const char *name, const char *what,
                             double value, sel_error *error) {
    char result[160];
    snprintf(result, sizeof result, "%s.%s", name, what);
    return sel_results_set(context->results, result, value, error);
}

sel_status sel_requests_add(sel_requests *requests, const sel_request *request, sel_error *error) {
    if (requests->count == requests->room) {
        int room = 2 * requests->room + 4;
        sel_request *v = realloc(requests->v, (size_t)room * sizeof *v);
        if (!v) {
            return sel_fail_memory(error, "an output", (size_t)room * sizeof *v);
        }
        requests->v = v;
        requests->room = room;
    }
    requests->v[requests->count++] = *request;
    return SEL_OK;
}

sel_status sel_output_request(const sel_output_context *context, sel_request *request,
                              sel_error *error) {
    sel_status status = context->backend->start(context->state, request, error);
    return status ? status : context->backend->finish(context->state, request, error);
}
