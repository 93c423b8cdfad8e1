/* aqua_inflow.c -- sources, rain and infiltration: where, and how much in a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"

static const double mm_per_hour = 1e-3 / 3600; /* m/s */

/* ---- sources ---- */

/* The cell of a point; false: it lies outside. */
static bool find_cell(const sel_grid *grid, const sel_point *point, int64_t cell[2]) {
    for (int a = 0; a < 2; a++) {
        double at = floor((point->v[a] - grid->origin[a]) / grid->dx);
        if (!(at >= 0 && at < (double)grid->n[a])) {
            return false;
        }
        cell[a] = (int64_t)at;
    }
    return true;
}

/* Sets in[cell] = 1 where a source covers it. */
static sel_status cover(const aqua_plan *plan, const aqua_source *source, uint8_t *in,
                        sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    int64_t cell[2];
    if (source->where) {
        return sel_domain_cover(domain, source->where, plan->base.threads, in, error);
    }
    if (find_cell(&domain->grid, &source->at, cell)) {
        in[cell[1] * domain->grid.n[0] + cell[0]] = 1;
    }
    return SEL_OK;
}

/* Where a source lies of which no free cell is found. */
static sel_status refuse_place(const aqua_plan *plan, const aqua_inflow *inflow, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const aqua_source *source = inflow->source;
    int64_t cell[2];
    char extent[SEL_EXTENT_TEXT], text[32], cell_text[SEL_CELL_TEXT];
    sel_extent_text(grid, extent);
    if (source->where) {
        return sel_fail_at(error, source->place,
                           "source %s: its shape covers no free cell of the domain, %s; cells of "
                           "regions and without ground are not free",
                           inflow->name, extent);
    }
    if (!find_cell(grid, &source->at, cell)) {
        return sel_fail_at(error, source->place,
                           "source %s at { %.10g, %.10g } lies outside the domain, %s",
                           inflow->name, source->at.v[0], source->at.v[1], extent);
    }
    const int64_t number = cell[1] * grid->n[0] + cell[0];
    return sel_fail_at(error, source->place,
                       "source %s at { %.10g, %.10g }: its cell %s belongs to the region '%s' and "
                       "takes no water",
                       inflow->name, source->at.v[0], source->at.v[1],
                       sel_cell_text(grid, number, cell_text),
                       sel_region_name(domain, domain->cell[number], text));
}

static sel_status create_inflow(const aqua_plan *plan, aqua_inflow *inflow, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = domain->grid.n[0], cells = sel_grid_cells(&domain->grid);
    uint8_t *in = calloc((size_t)cells, 1);
    sel_status status = in ? cover(plan, inflow->source, in, error)
                           : sel_fail_memory(error, "the sources", (size_t)cells);
    int64_t count = 0, next = 0;
    for (int64_t i = 0; i < cells && !status; i++) {
        in[i] = in[i] && domain->cell[i] == 0;
        count += in[i];
    }
    if (!status && count == 0) {
        status = refuse_place(plan, inflow, error);
    }
    inflow->count = count;
    inflow->at = status ? NULL : malloc((size_t)count * sizeof *inflow->at);
    if (!status && !inflow->at) {
        status = sel_fail_memory(error, "the sources", (size_t)count * sizeof *inflow->at);
    }
    for (int64_t i = 0; i < cells && !status; i++) {
        if (in[i]) {
            inflow->at[next++] = aqua_index(&plan->layout, i % nx, i / nx);
        }
    }
    free(in);
    return status;
}

static aqua_supply supply_of(const char *name, const sel_quantity *rate) {
    const bool place = sel_quantity_depends(rate) & SEL_ON_PLACE;
    return (aqua_supply){name, rate,
                         !sel_quantity_given(rate) ? AQUA_NOTHING
                         : place                   ? AQUA_FIELD
                                                   : AQUA_UNIFORM};
}

sel_status aqua_inflows_create(aqua_plan *plan, sel_error *error) {
    const aqua_params *params = plan->params;
    const aqua_source *sources = params->sources.v;
    plan->supply[AQUA_RAIN] = supply_of("rain", &params->rain);
    plan->supply[AQUA_SOIL] = supply_of("infiltration", &params->infiltration);
    plan->inflow_count = params->sources.n;
    plan->inflows = calloc((size_t)params->sources.n + 1, sizeof *plan->inflows);
    if (!plan->inflows) {
        return sel_fail_memory(error, "the sources", sizeof *plan->inflows);
    }
    sel_status status = SEL_OK;
    for (int i = 0; i < params->sources.n; i++) {
        aqua_inflow *inflow = &plan->inflows[i];
        inflow->source = &sources[i];
        if (sources[i].name) {
            snprintf(inflow->name, sizeof inflow->name, "%s", sources[i].name);
        } else {
            snprintf(inflow->name, sizeof inflow->name, "%d", i + 1);
        }
        sel_status created = create_inflow(plan, inflow, error);
        status = status ? status : created;
    }
    return status;
}

void aqua_inflows_free(aqua_plan *plan) {
    for (int i = 0; plan->inflows && i < plan->inflow_count; i++) {
        free(plan->inflows[i].at);
    }
    free(plan->inflows);
    plan->inflows = NULL;
}

/* ---- amounts of a step ---- */

double aqua_time_of_amounts(const aqua_plan *plan, int64_t step) {
    return ((double)step + 0.5) * plan->base.domain->grid.dt;
}

/* `cell`: where, -1 for what is the same everywhere. */
static sel_status refuse_negative(const aqua_plan *plan, const char *what, double value,
                                  int64_t cell, double t, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    char place[96] = "";
    if (cell >= 0) {
        snprintf(place, sizeof place, "x=%.10g, y=%.10g, ",
                 sel_centre(grid, 0, (double)(cell % grid->n[0])),
                 sel_centre(grid, 1, (double)(cell / grid->n[0])));
    }
    return sel_fail_at(error, sel_simulation_where(plan->base.simulation, what),
                       "%s is negative, %g, at %st=%.10g", what, value, place, t);
}

double aqua_rate_unit(const aqua_plan *plan) {
    return mm_per_hour * plan->base.domain->grid.dt * aqua_store_of(plan).per_metre;
}

sel_status aqua_rate(const aqua_plan *plan, const aqua_supply *supply, int64_t step, double *to,
                     sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const char *what = supply->name;
    const double t = aqua_time_of_amounts(plan, step);
    const double unit = aqua_rate_unit(plan), most = aqua_store_of(plan).most_rain;
    const int64_t count = aqua_value_count(plan, supply->rate);
    sel_status status = aqua_values(plan, supply->rate, what, t, to, error);
    for (int64_t i = 0; i < count && !status; i++) {
        const double given = to[i];
        if (aqua_rate_fits(given, unit, most, &to[i])) {
            continue;
        }
        return given < 0
                   ? refuse_negative(plan, what, given, count > 1 ? i : -1, t, error)
                   : sel_fail_at(error, sel_simulation_where(plan->base.simulation, what),
                                 "%s brings %.3g m in a step at t=%g, too much for the depths of "
                                 "precision \"f32\"; reduce dt, or give depth_limit",
                                 what, to[i] / unit * mm_per_hour * domain->grid.dt, t);
    }
    return status;
}

sel_status aqua_discharge(const aqua_plan *plan, int inflow, int64_t step, double *units,
                          sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_inflow *from = &plan->inflows[inflow];
    const double t = aqua_time_of_amounts(plan, step);
    char what[80];
    snprintf(what, sizeof what, "discharge of source %s", from->name);
    sel_status status = aqua_values(plan, &from->source->discharge, what, t, units, error);
    if (!status && *units < 0) {
        return sel_fail_at(error, from->source->place,
                           "%s is negative, %g, at t=%.10g: sources only bring water", what, *units,
                           t);
    }
    *units *= grid->dt / (grid->dx * grid->dx) * aqua_store_of(plan).per_metre;
    return status;
}
