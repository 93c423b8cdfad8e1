/* aqua_tables.c -- the fields of sel.aqua, of its laws and of its sources. */
#include <math.h>
#include "engine/aqua/aqua_terrain.h"
#include "engine/lookup.h"

const char *const aqua_equilibrium_names[] = {"fill", "mean", "mindiff", NULL};
const char *const aqua_scheme_names[] = {"gather", "scatter", NULL};

#define COUNT(fields) (int)(sizeof(fields) / sizeof *(fields))

static const sel_field open_fields[] = {
    {"slope", SEL_KIND_NUMBER, 0, offsetof(aqua_law_open, slope),
     "How steeply the ground falls beyond; when not given it goes on as the last two cells do, but "
     "never rises. On cells: how far below their own ground water falls, in units of dx; 0 when "
     "not "
     "given.",
     SEL_NOT_GIVEN, NULL, NULL, NULL},
};
static const sel_field level_fields[] = {
    {"z", SEL_KIND_QUANTITY, SEL_REQUIRED | SEL_POSITIONAL, offsetof(aqua_law_level, z),
     "Level of the water there, m; a function of place, time and controls.", 0, NULL, NULL, NULL},
};

static sel_status check_open(const void *data, sel_where where, sel_error *error) {
    const aqua_law_open *law = data;
    return law->slope < 0 ? sel_fail_at(error, where,
                                        "law.open: slope must not be negative, got %g: the ground "
                                        "must fall towards the outside",
                                        law->slope)
                          : SEL_OK;
}

const sel_table aqua_wall_table = {
    "law.wall", "sel.aqua: no water passes.", sizeof(aqua_law_wall), SIZE_MAX, NULL, 0, NULL,
};
const sel_table aqua_open_table = {
    "law.open",
    "sel.aqua: water that reaches it leaves the domain.",
    sizeof(aqua_law_open),
    SIZE_MAX,
    open_fields,
    COUNT(open_fields),
    check_open,
};
const sel_table aqua_level_table = {
    "law.level",
    "sel.aqua: water that stands at a given level, a lake or the sea; it takes and gives.",
    sizeof(aqua_law_level),
    SIZE_MAX,
    level_fields,
    COUNT(level_fields),
    NULL,
};

static const sel_table *const laws[AQUA_LAWS] = {&aqua_wall_table, &aqua_open_table,
                                                 &aqua_level_table};
const sel_family aqua_law_family = {"law", "What holds on a region of sel.aqua.", laws, AQUA_LAWS};
const sel_law_place aqua_law_places[AQUA_LAWS] = {
    {&aqua_wall_table, true, true},
    {&aqua_open_table, true, true},
    {&aqua_level_table, true, true},
};

static const sel_field region_fields[] = {SEL_REGION_FIELDS(aqua_law_family)};
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

static const sel_field source_fields[] = {
    {"name", SEL_KIND_STRING, 0, offsetof(aqua_source, name),
     "Name in the column inflow_NAME of out.balance; the number of the source when not given.", 0,
     NULL, NULL, NULL},
    {"at", SEL_KIND_POINT, 0, offsetof(aqua_source, at),
     "A point; the cell that holds it gets all of the water.", 0, NULL, NULL, NULL},
    {"where", SEL_KIND_SHAPE, 0, offsetof(aqua_source, where),
     "A shape; its cells share the water equally.", 0, NULL, NULL, NULL},
    {"discharge", SEL_KIND_QUANTITY, SEL_REQUIRED, offsetof(aqua_source, discharge),
     "m3/s: a number, a series, or a function of t and controls.", 0, NULL, NULL, NULL},
};
const sel_table aqua_source_table = {
    "source",
    "Water that enters at a place: a hydrograph.",
    sizeof(aqua_source),
    offsetof(aqua_source, place),
    source_fields,
    COUNT(source_fields),
    check_source,
};

static const sel_field initial_fields[] = {
    {"depth", SEL_KIND_QUANTITY, 0, offsetof(aqua_initial, depth),
     "Depth of the water at step 0, m; dry when not given.", 0, NULL, NULL, NULL},
};
static const sel_table initial_table = {
    "initial", "The water at step 0.", sizeof(aqua_initial),
    SIZE_MAX,  initial_fields,         COUNT(initial_fields),
    NULL,
};

static sel_status check_size(const aqua_params *params, sel_where where, sel_error *error) {
    int dims = params->common.size.n;
    if (dims == 0 && !sel_quantity_raster(&params->ground)) {
        return sel_fail_at(error, where,
                           "sel.aqua: size is required ({ nx, ny }), unless ground is made of a "
                           "raster, which has one");
    }
    return dims == 3 ? sel_fail_at(error, where, "sel.aqua: size must be { nx, ny }") : SEL_OK;
}

/* What counts in seconds or hours means nothing without dt. */
static sel_status check_dt(const aqua_params *params, sel_where where, sel_error *error) {
    const char *needs = sel_quantity_given(&params->rain)           ? "rain"
                        : sel_quantity_given(&params->infiltration) ? "infiltration"
                        : params->sources.n > 0                     ? "sources"
                                                                    : NULL;
    return needs && isnan(params->common.dt)
               ? sel_fail_at(error, where, "sel.aqua: dt (seconds) is required with %s", needs)
               : SEL_OK;
}

/* Water on a slope moves alpha dx/dt: only the script can say what that velocity is to be. */
static sel_status check_units(const aqua_params *params, sel_where where, sel_error *error) {
    const sel_units *units = params->common.units;
    return units && !isnan(units->velocity) && isnan(units->lattice_velocity)
               ? sel_fail_at(error, where,
                             "sel.aqua: units with a velocity need lattice_velocity too; with "
                             "alpha there, water on a slope moves with that velocity")
               : SEL_OK;
}

static sel_status check_params(const void *data, sel_where where, sel_error *error) {
    const aqua_params *params = data;
    sel_status size = check_size(params, where, error);
    sel_status dt = check_dt(params, where, error);
    sel_status units = check_units(params, where, error);
    sel_status degrees = aqua_degrees_check(params, where, error);
    sel_status status = size ? size : dt ? dt : units ? units : degrees;
    if (params->min_head < 0) {
        status = sel_fail_at(error, where, "sel.aqua: min_head must not be negative");
    }
    if (sel_quantity_depends(&params->alpha) & ~(unsigned)SEL_ON_PLACE) {
        status = sel_fail_at(error, where, "sel.aqua: alpha may depend on place only");
    }
    if (sel_quantity_depends(&params->ground) & ~(unsigned)SEL_ON_PLACE) {
        status = sel_fail_at(error, where, "sel.aqua: ground may depend on place only");
    }
    return status;
}

static const sel_field fields[] = {
    SEL_COMMON_FIELDS_FROM(aqua_region_table, 0, "; the raster's when ground is one.",
                           SEL_NOT_GIVEN, "the raster's when ground is one, else 1 when not given.",
                           "seconds; 1 when not given, required with rain, infiltration and "
                           "sources."),
    {"ground", SEL_KIND_QUANTITY, SEL_REQUIRED, offsetof(aqua_params, ground),
     "Elevation of the ground, m. Where it is made of a raster (by itself, painted over, called by "
     "a function) cells in its gaps are outside of the domain; size, dx and origin are the "
     "raster's "
     "unless given.",
     0, NULL, NULL, NULL},
    {"alpha", SEL_KIND_QUANTITY, SEL_REQUIRED, offsetof(aqua_params, alpha),
     "Relaxation, above 0 and at most 1: the fraction of the imbalance that moves in one step. On "
     "a slope, water moves at alpha dx/dt, whatever the slope and the depth. May depend on place.",
     0, NULL, NULL, NULL},
    {"equilibrium", SEL_KIND_CHOICE, 0, offsetof(aqua_params, equilibrium),
     "The level to which a cell and the lower ones about it strive: fill: that of all their water "
     "at "
     "its lowest; mean: the mean of their levels; mindiff: as high as the cell's own water makes "
     "differences least.",
     AQUA_FILL, aqua_equilibrium_names, NULL, NULL},
    {"scheme", SEL_KIND_CHOICE, 0, offsetof(aqua_params, scheme),
     "gather: each cell sums what its neighbours exchange with it; scatter: each cell adds to its "
     "neighbours. The same water moves, summed in another order.",
     AQUA_GATHER, aqua_scheme_names, NULL, NULL},
    {"min_head", SEL_KIND_NUMBER, 0, offsetof(aqua_params, min_head),
     "Differences of level up to this, m, do not move water.", 0, NULL, NULL, NULL},
    {"initial", SEL_KIND_TABLE, 0, offsetof(aqua_params, initial),
     "The water at step 0; dry when not given.", 0, NULL, &initial_table, NULL},
    {"rain", SEL_KIND_QUANTITY, 0, offsetof(aqua_params, rain), "Rain, mm/h.", 0, NULL, NULL, NULL},
    {"infiltration", SEL_KIND_QUANTITY, 0, offsetof(aqua_params, infiltration),
     "Rate at which the soil takes up water where there is any, mm/h.", 0, NULL, NULL, NULL},
    {"sources", SEL_KIND_LIST, 0, offsetof(aqua_params, sources), "Where water enters.", 0, NULL,
     &aqua_source_table, NULL},
    {"nodata", SEL_KIND_VARIANT, 0, offsetof(aqua_params, nodata),
     "What holds along the outline of cells without data, the region \"nodata\"; a wall when not "
     "given.",
     0, NULL, NULL, &aqua_law_family},
    {"arrival_depth", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(aqua_params, arrival_depth),
     "Depth from which water has arrived, m, for arrival_time.", 0.01, NULL, NULL, NULL},
    {"depth_limit", SEL_KIND_NUMBER, SEL_POSITIVE, offsetof(aqua_params, depth_limit),
     "Greatest depth, m, that precision \"f32\" must hold: the quantum of its depths is chosen by "
     "it; by the initial depth and the levels when not given.",
     SEL_NOT_GIVEN, NULL, NULL, NULL},
};

const sel_table aqua_table = {
    "sel.aqua",
    "Surface run-off by the cellular automaton AQUA-GRAPH.",
    sizeof(aqua_params),
    offsetof(sel_common, at),
    fields,
    COUNT(fields),
    check_params,
};
