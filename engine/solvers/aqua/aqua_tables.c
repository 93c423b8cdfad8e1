/* aqua_tables.c -- the fields of sel.aqua, of its laws and of its sources. */
#include <math.h>
#include "engine/solvers/aqua/aqua.h"

const char *const aqua_equilibrium_names[] = {"fill", "mean", "mindiff", NULL};
const char *const aqua_scheme_names[] = {"gather", "scatter", NULL};

static const sel_table_field open_fields[] = {
    SEL_ROW(aqua_law_open, slope, NUMBER,
            "Slope of the ground beyond the face; when not given, that between the last two cells, "
            "but the ground never rises. On cells: how far the water falls below their own ground, "
            "in units of dx; 0 when not given.",
            .flags = SEL_NOT_NEGATIVE, .preset = SEL_NOT_GIVEN),
};
static const sel_table_field level_fields[] = {
    SEL_ROW(aqua_law_level, z, QUANTITY,
            "Level of the water there, m; it may depend on place, time and controls.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
};

const sel_table aqua_wall_table = {.name = "law.wall", .doc = "sel.aqua: no water passes."};
const sel_table aqua_open_table = SEL_TABLE("law.open", aqua_law_open, open_fields,
                                            "sel.aqua: water that reaches it leaves the domain.");
const sel_table aqua_level_table =
    SEL_TABLE("law.level", aqua_law_level, level_fields,
              "sel.aqua: a lake or the sea at a given level, which takes and gives water.");

static const sel_table *const laws[] = {&aqua_wall_table, &aqua_open_table, &aqua_level_table};
const sel_family aqua_law_family = {"law", "What holds on a region of sel.aqua.", laws, 3};

static const sel_table_field region_fields[] = {SEL_REGION_FIELDS(aqua_law_family)};
const sel_table aqua_region_table = SEL_REGION_TABLE(region_fields);

static sel_status check_source(const void *data, sel_where where, sel_error *error) {
    const aqua_source *source = data;
    if ((source->at.n > 0) == (source->where != NULL)) {
        return sel_fail_at(error, where, "sources: give one of at (a point) and where (a shape)");
    }
    unsigned place = sel_quantity_depends(&source->discharge) & SEL_ON_PLACE;
    return place ? sel_fail_at(error, where,
                               "sources: discharge is one number for the whole source; it may "
                               "depend on t and controls, not on place")
                 : SEL_OK;
}

static const sel_table_field source_fields[] = {
    SEL_ROW(aqua_source, name, STRING,
            "Name in the column inflow_NAME of out.balance, unlike those of the other sources; the "
            "number "
            "of the source when not given."),
    SEL_ROW(aqua_source, at, POINT, "A point; the cell that holds it gets all of the water."),
    SEL_ROW(aqua_source, where, SHAPE, "A shape; its cells share the water equally."),
    SEL_ROW(aqua_source, discharge, QUANTITY,
            "m3/s: a number, a series, or a function of t and controls.", .flags = SEL_REQUIRED),
};
const sel_table aqua_source_table =
    SEL_TABLE("source", aqua_source, source_fields, "Water that enters at a place: a hydrograph.",
              .has_where = true, .check = check_source);

static const sel_table_field initial_fields[] = {
    SEL_ROW(aqua_initial, depth, QUANTITY, "Depth of the water at step 0, m; dry when not given."),
};
static const sel_table initial_table =
    SEL_TABLE("initial", aqua_initial, initial_fields, "The water at step 0.");

static sel_status aqua_tables_check_params(const void *data, sel_where where, sel_error *error) {
    const aqua_params *params = data;
    const sel_units *units = params->common.units;
    sel_status status =
        sel_terrain_check_params(&params->ground, &params->common, "sel.aqua", where, error);
    const struct {
        const sel_quantity *quantity;
        const char *what;
        bool lengths;
    } others[] = {{&params->initial.depth, "initial.depth", true},
                  {&params->rain, "rain", false},
                  {&params->infiltration, "infiltration", false},
                  {&params->alpha, "alpha", false}};
    for (size_t k = 0; k < sizeof others / sizeof *others && !status; k++) {
        status = sel_terrain_check_unit(others[k].quantity, others[k].what, others[k].lengths,
                                        where, error);
    }
    /* What counts in seconds or hours means nothing without dt. */
    const char *needs = sel_quantity_given(&params->rain)           ? "rain"
                        : sel_quantity_given(&params->infiltration) ? "infiltration"
                        : params->sources.n > 0                     ? "sources"
                                                                    : NULL;
    if (needs && isnan(params->common.dt)) {
        status = sel_fail_at(error, where, "sel.aqua: dt (seconds) is required with %s", needs);
    }
    /* Water on a slope moves alpha dx/dt: only the script can say what that velocity is to be. */
    if (units && !isnan(units->velocity) && isnan(units->lattice_velocity)) {
        status = sel_fail_at(error, where,
                             "sel.aqua: units with a velocity need lattice_velocity too; with "
                             "alpha there, water on a slope moves with that velocity");
    }
    return status;
}

static const sel_table_field fields[] = {
    SEL_COMMON_FIELDS_FROM(
        aqua_region_table, sel_stop_table, 0, "; the raster's when ground is one.",
        SEL_DX_ROW(SEL_NOT_GIVEN, "the raster's when ground is one, else 1 when not given."),
        SEL_DT_ROW(SEL_NOT_GIVEN,
                   "1 when not given. Rain, infiltration and sources require it, in seconds.")),
    SEL_PRECISION_ROW(SEL_F32),
    SEL_ROW(aqua_params, ground, QUANTITY,
            "Elevation of the ground, m. If it is made of a raster (by itself, painted over, or "
            "called by a function), cells without data are outside of the domain, and size, dx and "
            "origin are the raster's unless given. Rasters in feet or other lengths become metres.",
            .flags = SEL_REQUIRED | SEL_OF_PLACE),
    SEL_ROW(aqua_params, alpha, QUANTITY,
            "Relaxation, above 0 and at most 1: the fraction of the imbalance that moves in one "
            "step. Films, up to 3/4 of the fall from cell to cell deep, run down slopes at alpha "
            "dx/dt; deeper water only diffuses, with 3/4 alpha dx^2/dt. May depend on place.",
            .flags = SEL_REQUIRED | SEL_OF_PLACE),
    SEL_ROW(aqua_params, equilibrium, CHOICE,
            "The level at which a cell would be in balance with its lower neighbours. fill: the "
            "common level of all their water; mean: the mean of their levels; mindiff: the level "
            "to which the cell's own water makes the differences smallest.",
            .preset = AQUA_FILL, .choices = aqua_equilibrium_names),
    SEL_ROW(aqua_params, scheme, CHOICE,
            "gather: each cell sums what its neighbours exchange with it; scatter: each cell adds "
            "to its neighbours. The same water moves, summed in another order.",
            .preset = AQUA_GATHER, .choices = aqua_scheme_names),
    SEL_ROW(aqua_params, min_head, NUMBER, "Differences of level up to this, m, do not move water.",
            .flags = SEL_NOT_NEGATIVE),
    SEL_ROW(aqua_params, initial, TABLE, "The water at step 0; dry when not given.",
            .table = &initial_table),
    SEL_ROW(aqua_params, rain, QUANTITY, "Rain, mm/h."),
    SEL_ROW(aqua_params, infiltration, QUANTITY,
            "Rate at which the soil takes up the water that lies on it, mm/h."),
    SEL_ROW(aqua_params, sources, LIST, "Where water enters.", .table = &aqua_source_table),
    SEL_ROW(aqua_params, nodata, VARIANT,
            "What holds along the outline of cells without data, the region \"nodata\" (without "
            "gaps nothing flows through it); a wall "
            "when not given.",
            .family = &aqua_law_family),
    SEL_ROW(aqua_params, arrival_depth, NUMBER,
            "Depth, m, at which water counts as arrived, for arrival_time.", .flags = SEL_POSITIVE,
            .preset = 0.01),
    SEL_ROW(aqua_params, depth_limit, NUMBER,
            "Greatest depth, m, that precision \"f32\" must hold; it determines the quantum of "
            "depth. When not given, the initial depth and the levels determine it.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table aqua_table =
    SEL_TABLE("sel.aqua", aqua_params, fields,
              "Surface runoff: films of water on slopes and hollows that fill, by the "
              "cellular automaton AQUA-GRAPH. For rivers and other deep water, where "
              "roughness matters, take scenarios/flood.lua.",
              .has_where = true, .check = aqua_tables_check_params);
