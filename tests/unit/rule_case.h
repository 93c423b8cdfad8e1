/* rule_case.h -- a table with fields as sel.rule has them, filled from a script. */
#ifndef RULE_CASE_H
#define RULE_CASE_H

#include "script_case.h"
#include "lua/tables/tables.h"

/* The fields of a table that no solver has. */
typedef struct step {
    double fixed;
    const sel_rule_source *limit;
} step;
typedef struct model {
    sel_ints size;
    sel_numbers controls;
    sel_named_choices state;
    sel_named_rules rule, derived;
    sel_named_quantities initial;
    sel_named_variants law;
    step dt;
} model;

static const char *const types[] = {"real", "vector", "i32", "u8", NULL};
static const sel_table_field step_fields[] = {
    SEL_ROW(step, fixed, NUMBER, "", .flags = SEL_POSITIVE, .preset = 1),
    SEL_ROW(step, limit, RULE, "", .flags = SEL_REQUIRED),
};
static const sel_table step_table = SEL_TABLE("dt", step, step_fields, "");
static const sel_table *const laws[] = {&lbm_pressure_table, &lbm_velocity_table};
static const sel_family law_family = {"law", "", laws, 2};
static const sel_table_field model_fields[] = {
    SEL_ROW(model, size, SIZE, ""),
    SEL_ROW(model, controls, NUMBERS, ""),
    SEL_ROW(model, state, NAMED_CHOICES, "", .choices = types),
    SEL_ROW(model, rule, RULES, ""),
    SEL_ROW(model, derived, NAMED_RULES, ""),
    SEL_ROW(model, initial, NAMED_QUANTITIES, ""),
    SEL_ROW(model, law, NAMED_VARIANTS, "", .family = &law_family),
    SEL_ROW(model, dt, TABLE, "", .flags = SEL_BARE, .table = &step_table),
};
static const sel_table model_table = SEL_TABLE("sel.lbm", model, model_fields, "");

static model filled;
static char mistakes[4096];

/* Fills `filled` from what the script returned. */
static inline void fill(lua_State *L) {
    sel_script *script = sel_script_of(L);
    static sel_solver none = {.name = "none"};
    sel_filler f = {.script = script, .L = L, .arena = script->arena, .dims = 2, .solver = &none};
    sel_mark *mark = sel_script_mark(L, -1);
    sel_span span = sel_source_call(f.arena, mark->source, mark->where.line, mark->name);
    memset(&filled, 0, sizeof filled);
    f.controls = &filled.controls;
    sel_fill_table(&f, lua_gettop(L), &model_table, model_table.name, &filled, span);
    mistakes[0] = '\0';
    for (int i = 0; i < f.mistake_count; i++)
        snprintf(mistakes + strlen(mistakes), sizeof mistakes - strlen(mistakes), "%d: %s\n",
                 f.mistakes[i].where.line, f.mistakes[i].text);
}

/* Reads the first rule, for cells with these fields. */
static inline const sel_rule_source *read_first(const sel_cells *cells, sel_rule_returns returns) {
    const sel_rule_source *source = filled.rule.v[0].source;
    sel_lua_rule *rule = source->data;
    rule->returns = returns;
    sel_rule_read(rule, cells);
    return source;
}

#define MODEL(fields) \
    "local sel = require 'selenite'\nlocal law = sel.law\nreturn sel.lbm {\n" fields " }\n"

/* script_case.load */
static inline sel_status load_table(const char *path, const sel_script_options *options,
                                    sel_scenario **scenario, sel_error *error) {
    return sel_script_run(path, options, fill, scenario, error);
}

static inline void load(script_case *c, const char *text) {
    *c = (script_case){.load = load_table};
    script_accepts(c, text);
}

#endif
