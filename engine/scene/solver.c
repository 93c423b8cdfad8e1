/* solver.c -- make and free plans; names of fields; answers of requests. */
#include "engine/scene/solver.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double sel_drive_velocity(const sel_drive *drive, const sel_domain *domain) {
    const sel_grid *grid = &domain->grid;
    double section = (double)domain->free_cells / (double)grid->n[drive->axis];
    for (int a = 0; a < grid->dims - 1; a++) {
        section *= grid->dx[0];
    }
    return isnan(drive->flow) ? drive->velocity : drive->flow / section;
}

int sel_field_components(const sel_field_info *info, int dims) {
    const int components[] = {[SEL_SCALAR] = 1,
                              [SEL_VECTOR] = dims,
                              [SEL_CURL] = dims == 2 ? 1 : 3,
                              [SEL_TENSOR] = dims * (dims + 1) / 2};
    return components[info->rank];
}

const char *sel_field_suffix(const sel_field_info *info, int dims, int c) {
    static const char *const pairs[2][SEL_MAX_COMPONENTS] = {{"xx", "yy", "xy"},
                                                             {"xx", "yy", "zz", "xy", "yz", "xz"}};
    return info->rank == SEL_TENSOR ? pairs[dims - 2][c] : sel_axis_names[c];
}

sel_status sel_plan_create(const sel_simulation *simulation, sel_domain *domain, int precision,
                           sel_plan **plan, sel_error *error) {
    const size_t size = simulation->solver->plan_size;
    sel_plan *made = calloc(1, size);
    *plan = NULL;
    if (!made) {
        return sel_fail_memory(error, "the plan", size);
    }
    made->simulation = simulation;
    made->domain = domain;
    made->precision = precision;
    made->wants_mean_change = sel_stops_by_mean(&simulation->params->stop);
    made->threads = omp_get_max_threads();
    sel_status status = simulation->solver->plan(made, error);
    if (status) {
        sel_plan_destroy(made);
        return status;
    }
    if (isnan(domain->grid.dt)) {
        domain->grid.dt = simulation->params->dt = simulation->solver->time_step(made);
    }
    made->chose_double = precision == SEL_PRECISION_AUTO && simulation->solver->needs_double(made);
    made->precision = made->chose_double                ? SEL_F64
                      : precision == SEL_PRECISION_AUTO ? SEL_F32
                                                        : precision;
    *plan = made;
    return SEL_OK;
}

void sel_plan_destroy(sel_plan *plan) {
    if (plan && plan->simulation->solver->plan_clear) {
        plan->simulation->solver->plan_clear(plan);
    }
    if (plan) {
        free(plan->lines);
        free(plan->links);
    }
    free(plan);
}

bool sel_plan_observes(const sel_plan *plan) {
    const sel_solver *solver = plan->simulation->solver;
    bool observes = plan->wants_links || plan->wants_mean_change ||
                    (plan->wants_balance && solver->balance_of_step);
    for (int f = 0; f < solver->field_count; f++) {
        observes = observes || (solver->fields[f].observed && plan->wants_fields >> f & 1u);
    }
    return observes;
}

int sel_plan_observed_steps(const sel_plan *plan) {
    return plan->wants_forces ? 2 : sel_plan_observes(plan);
}

bool sel_request_observes(const sel_plan *plan, const sel_request *request) {
    const sel_solver *solver = plan->simulation->solver;
    const bool field = request->kind == SEL_READ || request->kind == SEL_REDUCE;
    const bool links = request->kind == SEL_FORCE || request->kind == SEL_FLUX ||
                       (request->kind == SEL_BALANCE && solver->balance_of_step);
    return (field && solver->fields[request->field].observed) || links ||
           request->kind == SEL_MEAN_CHANGE;
}

void sel_fact_add(sel_facts *facts, const char *name, const char *format, ...) {
    sel_fact *fact = &facts->v[facts->count++];
    va_list values;
    va_start(values, format);
    fact->name = name;
    vsnprintf(fact->text, sizeof fact->text, format, values);
    va_end(values);
}

void sel_request_watched(sel_request *request, const sel_watched *found) {
    request->bad_cells = (int64_t)found->bad_cells;
    request->bad_cell = (int64_t)found->bad_cell;
    request->largest = fmax(found->largest, 0);
    request->largest_cell = (int64_t)found->largest_cell;
    request->smallest = found->smallest;
    request->smallest_cell = (int64_t)found->smallest_cell;
}

void sel_request_term(sel_request *request, sel_term_kind kind, const char *prefix,
                      const char *name, double value) {
    sel_term term = {.kind = kind, .value = value};
    snprintf(term.name, sizeof term.name, "%s%s", prefix, name);
    for (int i = 0; i < request->term_count; i++) {
        if (strcmp(request->terms[i].name, term.name) == 0) {
            request->terms[i].value += value;
            return;
        }
    }
    if (request->term_count < SEL_MAX_TERMS) {
        request->terms[request->term_count++] = term;
    }
}

int sel_solver_field(const sel_solver *solver, int dims, const char *name, int *component) {
    for (int f = 0; f < solver->field_count; f++) {
        const sel_field_info *info = &solver->fields[f];
        size_t length = strlen(info->name);
        int components = sel_field_components(info, dims);
        if (strcmp(name, info->name) == 0) {
            *component = -1;
            return f;
        }
        if (components == 1 || strncmp(name, info->name, length) != 0 || name[length] != '_') {
            continue;
        }
        for (int c = 0; c < components; c++) {
            if (strcmp(name + length + 1, sel_field_suffix(info, dims, c)) == 0) {
                *component = c;
                return f;
            }
        }
    }
    return -1;
}
