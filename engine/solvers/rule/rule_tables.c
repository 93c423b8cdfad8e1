/* rule_tables.c -- the fields of sel.rule and of its laws. */
#include "engine/solvers/rule/rule.h"

static const char *const places[] = {"cell", "face", NULL};
static const sel_table_field fixed_fields[] = {
    SEL_ROW(rule_law, value, VECTOR,
            "The value; of a vector one for each component, or one for all.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL | SEL_ONE_FOR_ALL),
    SEL_ROW(rule_law, at, CHOICE,
            "cell: the value in the cells beyond a face; face: the value on the face "
            "itself, so that the cells beyond have twice the value minus the mirror image.",
            .choices = places),
};
static const sel_table_field gradient_fields[] = {
    SEL_ROW(rule_law, value, VECTOR,
            "The outward derivative; of a vector one for each component, or one for all.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL | SEL_ONE_FOR_ALL),
};

const sel_table rule_fixed_table =
    SEL_TABLE("law.fixed", rule_law, fixed_fields,
              "sel.rule: a given value, beyond a face or in the cells of a shape.");
const sel_table rule_wall_table = {
    .name = "law.wall",
    .doc = "sel.rule: zero gradient: a neighbour inside the wall has the cell's own "
           "value. Cells of a shape are not computed."};
const sel_table rule_mirror_table = {
    .name = "law.mirror",
    .doc = "sel.rule: the cells beyond the face have the mirror image.",
    .faces_only = true};
const sel_table rule_gradient_table =
    SEL_TABLE("law.gradient", rule_law, gradient_fields,
              "sel.rule: a given derivative across the face: the mirror image plus the "
              "derivative times the distance.",
              .faces_only = true);

static const sel_table *const laws[] = {&rule_fixed_table, &rule_wall_table, &rule_mirror_table,
                                        &rule_gradient_table};
const sel_family rule_law_family = {"law", "What holds on a region of sel.rule.", laws, 4};

static const sel_table_field region_fields[] = {SEL_REGION_FIELDS_WITH(
    SEL_ROW_NAMED("law", sel_region, laws, NAMED_VARIANTS,
                  "What holds there: one law for all state fields, or { NAME = law, ... }, data "
                  "included. Fields that are left out have a wall beyond faces; on a shape they "
                  "are computed as elsewhere.",
                  .flags = SEL_REQUIRED, .family = &rule_law_family))};
static const sel_table region_table = SEL_REGION_TABLE(region_fields);

static const sel_table_field dt_fields[] = {
    SEL_ROW(rule_dt, max, NUMBER, "The largest step.", .flags = SEL_REQUIRED | SEL_POSITIVE,
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(rule_dt, limit, RULE, "The largest step that a cell allows, a function as of a rule.",
            .flags = SEL_REQUIRED),
    SEL_ROW(rule_dt, factor, NUMBER,
            "The fraction of the smallest limit of all cells that is taken.", .flags = SEL_POSITIVE,
            .preset = 1),
    SEL_ROW(rule_dt, every, INT, "Number of steps after which dt is found again.",
            .flags = SEL_POSITIVE, .preset = 10),
};
static const sel_table dt_table =
    SEL_TABLE("dt", rule_dt, dt_fields,
              "A step that adapts: `factor` times the smallest `limit` of all cells, but at "
              "most `max`.");

static const char *const types[] = {"real", "vector", "i32", "u8", NULL};

static const sel_table_field fields[] = {
    SEL_COMMON_FIELDS_FROM(
        region_table, sel_rule_stop_table, SEL_REQUIRED, ".", SEL_DX_ROW(1, "1 when not given."),
        SEL_ROW(rule_params, dt, TABLE, "Time step, or how it adapts; 1 when not given.",
                .flags = SEL_BARE, .table = &dt_table)),
    SEL_PRECISION_ROW(SEL_F32),
    SEL_ROW(
        rule_params, state, NAMED_CHOICES,
        "What rules change: { NAME = type }. Reals have the precision of the run; a vector V is "
        "V_x, V_y (V_z) in rules.",
        .flags = SEL_REQUIRED, .choices = types),
    SEL_ROW(rule_params, rule, RULES,
            "A function of any of c, x, y, z, t, dt and the controls that returns the new values "
            "of a cell, { NAME = value, ... }; or several that run in order in each step.",
            .flags = SEL_REQUIRED),
    SEL_ROW(rule_params, data, NAMED_QUANTITIES,
            "Fields that rules read but do not change; those that depend on t or a control "
            "are evaluated before each step."),
    SEL_ROW(rule_params, derived, NAMED_RULES,
            "Fields that are computed when they are needed; a vector returns its "
            "components."),
    SEL_ROW(rule_params, initial, NAMED_QUANTITIES, "The state at step 0; 0 when not given."),
    SEL_ROW(rule_params, conserved, NAMES,
            "Fields that out.balance adds up: NAME_sum is the sum over all cells, NAME its "
            "change since step 0."),
    SEL_ROW(rule_params, main, STRING,
            "The field that stop.steady watches; required there if there are several."),
    SEL_ROW(rule_params, nodata, NAMED_VARIANTS,
            "Law where a raster in data has no value; wall when not given.",
            .family = &rule_law_family),
    SEL_ROW(rule_params, seed, INT, "Seed of sel.random."),
    SEL_ROW(rule_params, exact, BOOL,
            "Whether reals are computed without contraction, so that all backends give the same "
            "bits."),
};

static sel_status rule_tables_check_params(const void *data, sel_where where, sel_error *error) {
    const rule_params *params = data;
    sel_status status = SEL_OK;
    if (params->state.n == 0) {
        status = sel_fail_at(error, where,
                             "sel.rule: state has no field; give state = { NAME = "
                             "\"real\" }");
    }
    if (params->rule.n == 0) {
        status = sel_fail_at(error, where, "sel.rule: the list of rules is empty");
    }
    return status;
}

const sel_table rule_table =
    SEL_TABLE("sel.rule", rule_params, fields,
              "Your own automaton or equations: named fields, and functions that compute the "
              "new values of a cell from those around it.",
              .has_where = true, .check = rule_tables_check_params);
