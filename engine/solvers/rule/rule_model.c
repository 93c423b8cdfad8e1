/* rule_model.c -- the fields and functions that a scenario of sel.rule describes.
 *
 * rule_name_cells and rule_name_fields describe and check them when the table is read.
 * rule_model_compile adds, for a plan, the functions in the plan's precision.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/solvers/rule/rule.h"

/* ---- names ---- */

enum { LONGEST_NAME = 32 }; /* also a part of the names of blocks in checkpoints */

/* One name for two of state, data, derived, controls and x y z t dt. */
static sel_status check_name(const rule_model *m, const char *name, sel_where where,
                             sel_error *error) {
    static const char *const taken[] = {"x", "y", "z", "t", "dt", NULL};
    const sel_numbers *controls = &m->params->common.controls;
    const bool argument =
        sel_name_index(taken, name) >= 0 && !(m->dims == 2 && strcmp(name, "z") == 0);
    const char *other = argument ? "an argument of rules" : NULL;
    if (strlen(name) > LONGEST_NAME) {
        return sel_fail_at(error, where, "sel.rule: the name '%.40s' is longer than %d bytes", name,
                           LONGEST_NAME);
    }
    for (int k = 0; k < controls->n; k++) {
        other = strcmp(controls->v[k].name, name) == 0 ? "a control" : other;
    }
    int e = sel_name_index(m->name, name);
    for (int f = 0; f < m->fields; f++) {
        e = strcmp(m->field[f].name, name) == 0 ? m->entry_of[f] : e;
    }
    other = e < 0 ? other : m->entry[e].state ? "in state" : "in data";
    for (int d = 0; d < m->deriveds; d++) {
        other = strcmp(m->params->derived.v[d].name, name) == 0 ? "in derived" : other;
    }
    return other ? sel_fail_at(error, where, "sel.rule: '%s' is already %s; choose another name",
                               name, other)
                 : SEL_OK;
}

/* ---- fields ---- */

static sel_status rule_model_add_entry(rule_model *m, const char *name, sel_cell_type type,
                                       int components, bool state, sel_where where,
                                       sel_error *error) {
    rule_entry *entry = &m->entry[m->entries];
    if (m->fields + components > SEL_MOST_CELL_FIELDS) {
        return sel_fail_at(error, where, "sel.rule: more than %d fields, components counted singly",
                           SEL_MOST_CELL_FIELDS);
    }
    *entry = (rule_entry){
        .name = name, .first = m->fields, .components = components, .state = state, .where = where};
    sel_status status = components > 1 ? check_name(m, name, where, error) : SEL_OK;
    for (int c = 0; c < components; c++) {
        const char *full =
            components > 1 ? sel_arena_print(m->arena, "%s_%s", name, sel_axis_names[c]) : name;
        const sel_status taken =
            full ? check_name(m, full, where, error) : sel_fail_memory(error, "the fields", 0);
        status = status ? status : taken;
        m->entry_of[m->fields] = m->entries;
        m->reals |= (uint64_t)(state && type == SEL_CELL_REAL) << m->fields;
        m->bytes |= (uint64_t)(state && type == SEL_CELL_U8) << m->fields;
        m->saved[m->fields] = sel_arena_print(m->arena, "rule %s", full);
        m->field[m->fields++] = (sel_cell_field){.name = full, .type = type, .state = state};
    }
    m->name[m->entries] = name;
    m->state_name[m->entries++] = state ? name : NULL;
    return status;
}

/* What may be meant by a name that is none of `names`: of a component the vector, else the nearest;
 * or "". */
static const char *suggest_entry(const rule_model *m, const char *name, const char *const *names,
                                 char text[256]) {
    char near[SEL_SUGGESTION_ROOM];
    for (int k = 0; k < m->fields; k++) {
        const rule_entry *entry = &m->entry[m->entry_of[k]];
        if (entry->components > 1 && strcmp(m->field[k].name, name) == 0) {
            snprintf(text, 256,
                     "; it is a component of the vector '%.60s', which stands here as a whole",
                     entry->name);
            return text;
        }
    }
    snprintf(text, 256, "%s", sel_suggestion(name, names, near));
    return text;
}

static sel_status add_entries(rule_model *m, sel_error *error) {
    static const sel_cell_type types[] = {SEL_CELL_REAL, SEL_CELL_REAL, SEL_CELL_I32, SEL_CELL_U8};
    const rule_params *p = m->params;
    sel_status status = SEL_OK;
    for (int k = 0; k < p->state.n && status != SEL_NO_DEVICE; k++) {
        const sel_named_choice *given = &p->state.v[k];
        const int components = given->choice == RULE_VECTOR ? m->dims : 1;
        sel_status added = rule_model_add_entry(m, given->name, types[given->choice], components,
                                                true, given->where, error);
        status = status ? status : added;
    }
    m->states = m->entries;
    for (int k = 0; k < p->data.n; k++) {
        const sel_named_quantity *given = &p->data.v[k];
        sel_status added = rule_model_add_entry(
            m, given->name, SEL_CELL_REAL, given->value.components, false, given->where, error);
        m->entry[m->entries - 1].value = &given->value;
        status = status ? status : added;
    }
    for (int k = 0; k < p->initial.n; k++) {
        const sel_named_quantity *given = &p->initial.v[k];
        const int e = sel_name_index(m->state_name, given->name);
        char near[256];
        if (e < 0) {
            status = sel_fail_at(error, given->where, "initial: state has no field '%s'%s",
                                 given->name, suggest_entry(m, given->name, m->state_name, near));
        } else if (m->entry[e].components != given->value.components) {
            status = sel_fail_at(error, given->where, "initial.%s has %d components, the field %d",
                                 given->name, given->value.components, m->entry[e].components);
        } else {
            m->entry[e].value = &given->value;
        }
    }
    return status;
}

/* The range of an entry's values at the start, from some places of the domain. They only say where
 * a rule is compared with Lua: where they cannot be had, they begin with 0. */
static void find_range(rule_model *m, const rule_entry *e) {
    enum { ALONG = 4, PLACES = ALONG * ALONG * ALONG };
    const sel_common *common = &m->params->common;
    double place[3][PLACES], values[SEL_MAX_COMPONENTS * PLACES];
    for (int i = 0; i < 3 * PLACES; i++) {
        const int a = i / PLACES, k = i % PLACES;
        const int at = a == 0 ? k % ALONG : a == 1 ? k / ALONG % ALONG : k / ALONG / ALONG;
        const double side =
            common->sides.n ? common->sides.v[common->sides.n > a ? a : 0] : common->dx;
        const double cells = a < m->dims ? (double)common->size.v[a] : 0;
        const double origin = a < common->origin.n ? common->origin.v[a] : 0;
        place[a][k] = origin + side * fmin(cells - 0.5, floor(cells * at / (ALONG - 1)) + 0.5);
    }
    const sel_places at = {PLACES, place[0], place[1], place[2], 0, NULL, NULL};
    if (!e->value || !sel_quantity_is_pure(e->value) ||
        sel_quantity_eval(e->value, "range", &at, values, NULL) != SEL_OK) {
        return;
    }
    for (int c = 0; c < e->components; c++) {
        const double *v = values + (e->value->components > 1 ? c * PLACES : 0);
        sel_cell_field *f = &m->field[e->first + c];
        f->low = f->high = v[0];
        for (int k = 1; k < PLACES; k++) {
            f->low = fmin(f->low, v[k]);
            f->high = fmax(f->high, v[k]);
        }
    }
}

/* ---- functions ---- */

static void find_masks(rule_model *m, rule_function *f) {
    if (!f->rule) { /* Lua may look at anything */
        f->reads = f->looks = RULE_ALL;
        m->reach = SEL_MOST_REACH;
        return;
    }
    for (int n = 0; n < f->rule->nodes; n++) {
        const sel_rule_node *node = &f->rule->node[n];
        if (node->op == SEL_RULE_READ) {
            f->reads |= UINT64_C(1) << node->field;
            f->looks |= (uint64_t)(node->at[0] || node->at[1] || node->at[2]) << node->field;
        }
    }
    for (int a = 0; a < m->dims; a++) {
        m->reach = f->rule->reach[a] > m->reach ? f->rule->reach[a] : m->reach;
    }
}

/* Of a function that Lua evaluates: it gives all state fields, or one number. */
static const sel_program *code_of_lua(const rule_model *m, bool numbers) {
    sel_program_output *output =
        sel_arena_alloc(m->arena, ((size_t)m->fields + 1) * sizeof *output);
    sel_program *code = sel_arena_alloc(m->arena, sizeof *code);
    if (!output || !code) {
        return NULL;
    }
    *code = (sel_program){.layout = {.outputs = numbers, .fails = -1}, .tables.output = output};
    output[0] = (sel_program_output){.type = SEL_NUMBER_D};
    for (int f = 0; f < m->fields && !numbers; f++) {
        if (m->field[f].state) {
            const int k = code->layout.outputs++;
            const bool checked = m->field[f].type != SEL_CELL_REAL;
            const bool single = !checked && m->precision == SEL_F32;
            output[k] =
                (sel_program_output){f, k, single ? SEL_NUMBER_F : SEL_NUMBER_D, checked, false};
            code->reports = code->reports || checked;
        }
    }
    code->layout.own = code->layout.outputs;
    return code;
}

rule_function rule_function_at(const rule_params *p, int k) {
    const int d = k - p->rule.n;
    const bool derived = d >= 0 && d < p->derived.n;
    const sel_rule_source *source = d < 0     ? p->rule.v[k].source
                                    : derived ? p->derived.v[d].source
                                              : p->dt.limit;
    const char *name = derived        ? p->derived.v[d].name
                       : d >= 0       ? "dt.limit"
                       : source->rule ? source->rule->name
                                      : "rule";
    return (rule_function){
        .source = source, .name = name, .rule = source->rule, .why = source->why};
}

static sel_status compile_function(rule_model *m, int k, sel_error *error) {
    rule_function *f = &m->function[k];
    *f = rule_function_at(m->params, k);
    find_masks(m, f);
    const bool numbers = k >= m->rules;
    const sel_program_form form = {
        .field = m->field, .single = m->precision == SEL_F32, .numbers = numbers};
    f->code = f->rule ? sel_program_compile(f->rule, &form, m->arena) : code_of_lua(m, numbers);
    if (!f->code) {
        return sel_fail_at(error, f->source->where, "sel.rule: '%s' is too long", f->name);
    }
    const sel_packed_program *l = &f->code->layout;
    f->first = m->uniforms;
    m->uniforms += l->uniforms;
    m->slots = l->fixed + l->own > m->slots ? l->fixed + l->own : m->slots;
    return SEL_OK;
}

/* Whether several steps can be taken in a pass over the memory
 * (engine/solvers/rule/rule_temporal_cuda.c), but for the laws. */
static bool is_simple(const rule_model *m) {
    const rule_function *f = m->function;
    const int fields = __builtin_popcountll(f->writes);
    return m->dims == 2 && m->rules == 1 && m->reach == 1 && f->rule && !m->params->dt.limit &&
           !(f->reads & ~f->writes) &&
           ((fields <= 2 && !(f->writes & ~m->reals)) || (fields == 1 && !(f->writes & ~m->bytes)));
}

/* What a function writes goes to a second copy where others look at the first, or will do so while
 * several steps are taken. */
static void find_turns(rule_model *m) {
    for (int k = 0; k < m->rules; k++) {
        rule_function *f = &m->function[k];
        for (int o = 0; o < f->code->layout.outputs; o++) {
            f->writes |= UINT64_C(1) << f->code->tables.output[o].field;
        }
        m->simple = is_simple(m);
        f->turns = m->simple ? f->writes : f->writes & f->looks;
        m->doubled |= f->turns;
        m->swapping ^= f->turns;
    }
}

int rule_bytes(const rule_model *m, uint64_t fields) {
    int bytes = 0;
    for (int f = 0; f < m->fields; f++) {
        bytes += fields >> f & 1 ? rule_size(m, f) : 0;
    }
    return bytes;
}

/* How many numbers a function returns; Lua's functions return one. */
static int count_results(const rule_function *f) {
    return f->rule ? f->rule->outputs : 1;
}

static sel_status check_count(const rule_model *m, const rule_function *f, const char *what,
                              bool vectors, sel_error *error) {
    const int count = count_results(f);
    return count == 1 || (vectors && count == m->dims)
               ? SEL_OK
               : sel_fail_at(error, f->source->where, "%s must return 1 number%s, not %d", what,
                             vectors ? m->dims == 2 ? " or 2" : " or 3" : "", count);
}

/* The mistake that the reader of functions has found in one. */
static sel_status check_text(const rule_function *f, sel_error *error) {
    const sel_error *mistake = f->source->mistake;
    return mistake ? sel_fail(error, mistake->status, "%s", mistake->text) : SEL_OK;
}

static sel_status check_functions(rule_model *m, sel_error *error) {
    const rule_params *p = m->params;
    sel_status status = SEL_OK;
    char what[96];
    for (; m->rules < p->rule.n; m->rules++) {
        const rule_function f = rule_function_at(p, m->rules);
        sel_status found = check_text(&f, error);
        status = status ? status : found;
    }
    for (; m->deriveds < p->derived.n; m->deriveds++) {
        const rule_function f = rule_function_at(p, m->rules + m->deriveds);
        sel_status found = check_name(m, f.name, f.source->where, error);
        found = found ? found : check_text(&f, error);
        snprintf(what, sizeof what, "derived.%.64s", f.name);
        status = status ? status : found ? found : check_count(m, &f, what, true, error);
    }
    m->functions = m->rules + m->deriveds;
    if (p->dt.limit) {
        const rule_function f = rule_function_at(p, m->functions++);
        sel_status found = check_text(&f, error);
        status = status ? status : found ? found : check_count(m, &f, f.name, false, error);
    }
    return status;
}

/* ---- the solver of a scenario ---- */

/* Of dt.limit, too, which is asked for by the number behind those of the fields. */
static sel_status make_fields(rule_model *m, sel_arena *arena, sel_error *error) {
    const int count = m->entries + m->functions - m->rules;
    sel_field_info *info = sel_arena_alloc(arena, (size_t)count * sizeof *info);
    sel_where *places = sel_arena_alloc(arena, (size_t)count * sizeof *places);
    if (!info || !places) {
        return sel_fail_memory(error, "the fields", 0);
    }
    for (int k = 0; k < count; k++) {
        const rule_entry *entry = k < m->entries ? &m->entry[k] : NULL;
        rule_function f = {.name = NULL};
        if (!entry) {
            f = rule_function_at(m->params, m->rules + k - m->entries);
        }
        const int components = entry ? entry->components : count_results(&f);
        info[k] = (sel_field_info){.name = entry ? entry->name : f.name,
                                   .rank = components > 1 ? SEL_VECTOR : SEL_SCALAR,
                                   .unit = "the script's"};
        places[k] = entry ? entry->where : f.source->where;
    }
    m->solver.fields = info;
    m->solver.places = places;
    m->solver.field_count = m->entries + m->deriveds;
    m->solver.initial_fields = m->state_name;
    return SEL_OK;
}

/* Whether two numbers of what is conserved share a column of out.balance, `name`. */
static bool conserved_share(const rule_model *m, int j, int k, char name[RULE_COLUMN + 8]) {
    static const char *const endings[] = {"", "_sum"};
    char one[RULE_COLUMN], other[RULE_COLUMN], column[RULE_COLUMN + 8];
    for (int n = 0; n < 36; n++) {
        const bool has = rule_conserved_column(m, j, n % 3, one) &&
                         rule_conserved_column(m, k, n / 3 % 3, other);
        snprintf(name, RULE_COLUMN + 8, "%s%s", one, endings[n / 9 % 2]);
        snprintf(column, sizeof column, "%s%s", other, endings[n / 18]);
        if (has && strcmp(name, column) == 0) {
            return true;
        }
    }
    return false;
}

/* Refuses what out.balance could not tell apart: it adds up columns of one name. */
static sel_status check_conserved(const rule_model *m, sel_where where, sel_error *error) {
    static const char *const others[] = {"step", "time", NULL};
    const sel_names *names = &m->params->conserved;
    char name[RULE_COLUMN + 8];
    sel_status status = SEL_OK;
    int component;
    for (int k = 0; k < names->n; k++) {
        const sel_where at = m->solver.places[rule_conserved(m, k, &component)];
        if (sel_name_index(others, names->v[k]) >= 0) {
            status = sel_fail_at(error, where,
                                 "conserved: out.balance has a column '%s' already; give the field "
                                 "'%s' (%s:%d) another name",
                                 names->v[k], names->v[k], at.file, at.line);
        }
        for (int j = 0; j < k; j++) {
            if (conserved_share(m, j, k, name)) {
                status = sel_fail_at(error, where,
                                     "conserved: '%s' and '%s' (%s:%d) both have a column '%s' of "
                                     "out.balance; give one another name, or leave it out",
                                     names->v[j], names->v[k], at.file, at.line, name);
            }
        }
    }
    return status;
}

static sel_status check_uses(rule_model *m, const sel_simulation *simulation, sel_error *error) {
    const rule_params *p = m->params;
    char near[256];
    sel_status status = SEL_OK;
    int component;
    m->main = p->main ? sel_name_index(m->state_name, p->main) : 0;
    if (m->main < 0 || m->states == 0) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "main"),
                             "main: state has no field '%s'%s", p->main,
                             suggest_entry(m, p->main, m->state_name, near));
    } else if (!p->main && m->states > 1 && !isnan(p->common.stop.steady)) {
        status =
            sel_fail_at(error, sel_simulation_where(simulation, "stop"),
                        "stop.steady needs main = \"NAME\", the field of state that it watches");
    }
    for (int k = 0; k < p->conserved.n; k++) {
        const char *name = p->conserved.v[k];
        if (sel_solver_field(&m->solver, m->dims, name, &component) < 0) {
            status = sel_fail_at(error, sel_simulation_where(simulation, "conserved"),
                                 "conserved: there is no field '%s'%s", name,
                                 suggest_entry(m, name, m->name, near));
        }
    }
    status =
        status ? status : check_conserved(m, sel_simulation_where(simulation, "conserved"), error);
    if (!status) {
        m->solver.main_field = m->main;
        m->solver.counts_changes = m->field[m->entry[m->main].first].type != SEL_CELL_REAL;
    }
    return status;
}

/* The laws of a region name fields, and give as many values as these have. */
static sel_status check_laws(const rule_model *m, const sel_named_variants *laws,
                             sel_error *error) {
    sel_status status = SEL_OK;
    char near[256];
    for (int k = 0; k < laws->n; k++) {
        const sel_named_variant *law = &laws->v[k];
        const bool valued =
            law->value.table == &rule_fixed_table || law->value.table == &rule_gradient_table;
        const int given = valued ? ((const rule_law *)law->value.data)->value.components : 1;
        const int e = law->name ? sel_name_index(m->name, law->name) : 0;
        const int end = law->name ? e + 1 : m->states;
        if (e < 0) {
            status = sel_fail_at(error, law->value.where, "law: there is no field '%s'%s",
                                 law->name, suggest_entry(m, law->name, m->name, near));
        }
        for (int i = e; e >= 0 && given > 1 && i < end; i++) {
            const rule_entry *entry = &m->entry[i];
            if (entry->components != given) {
                status = sel_fail_at(error, law->value.where,
                                     "%s gives %d values, '%s' has %d component%s",
                                     law->value.table->name, given, entry->name, entry->components,
                                     entry->components > 1 ? "s" : "");
            }
        }
    }
    return status;
}

sel_status rule_name_cells(sel_simulation *simulation, sel_arena *arena, sel_error *error) {
    rule_model *m = sel_arena_alloc(arena, sizeof *m);
    if (!m) {
        return sel_fail_memory(error, "the rules", sizeof *m);
    }
    m->arena = arena;
    m->params = (const rule_params *)simulation->params;
    m->dims = simulation->params->size.n;
    m->solver = rule_solver;
    const sel_status status = add_entries(m, error);
    for (int e = 0; e < m->entries && !status; e++) {
        find_range(m, &m->entry[e]);
    }
    m->cells = (sel_cells){m->field, m->fields, m->dims};
    simulation->solver = &m->solver;
    simulation->cells = status ? NULL : &m->cells;
    return status;
}

sel_status rule_name_fields(sel_simulation *simulation, sel_arena *arena, sel_error *error) {
    rule_model *m = (rule_model *)(uintptr_t)simulation->solver;
    const sel_list *regions = &simulation->params->regions;
    sel_status status = simulation->cells ? check_functions(m, error) : SEL_BAD_SCENARIO;
    status = status ? status : make_fields(m, arena, error);
    status = status ? status : check_uses(m, simulation, error);
    for (int k = 0; k < regions->n && m->entries > 0; k++) {
        sel_status laws = check_laws(m, &((const sel_region *)regions->v)[k].laws, error);
        status = status ? status : laws;
    }
    sel_status gaps = check_laws(m, &m->params->nodata, error);
    return status ? status : gaps;
}

/* ---- the model of a plan ---- */

sel_status rule_model_compile(const sel_simulation *simulation, int precision, sel_arena *arena,
                              const rule_model **model, sel_error *error) {
    rule_model *m = sel_arena_alloc(arena, sizeof *m);
    sel_status status = SEL_OK;
    if (m) {
        *m = *(const rule_model *)simulation->solver;
        m->function = sel_arena_alloc(arena, (size_t)m->functions * sizeof *m->function);
    }
    if (!m || !m->function) {
        return sel_fail_memory(error, "the rules", sizeof *m);
    }
    m->arena = arena;
    m->precision = precision;
    *model = m;
    for (int k = 0; k < m->functions; k++) {
        const sel_status one = compile_function(m, k, error);
        status = status ? status : one;
    }
    if (!status) {
        find_turns(m);
    }
    return status;
}
