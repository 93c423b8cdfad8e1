/* fill_scenario.c -- fill simulations, and lists of them, from the result of a script; and check
 * single tables for the prompt.
 */
#include <string.h>
#include "lua/tables/tables.h"

/* ---- simulations ---- */

static sel_where locate(const sel_simulation *self, const char *field) {
    const sel_span *span = self->locate_data;
    return sel_span_where(sel_source_path(*span, field));
}

static const sel_solver *find_solver(const char *name) {
    const sel_solver *const *solver = sel_solvers;
    while (*solver && strcmp((*solver)->name, name) != 0)
        solver++;
    return *solver;
}

/* Fills one simulation from the marked table at the top. */
static void fill_simulation(sel_filler *f, const char *path, sel_simulation *simulation) {
    sel_mark *mark = sel_script_mark(f->L, -1);
    sel_span *span = sel_fill_alloc(f, sizeof *span);
    f->solver = find_solver(mark->name);
    const sel_table *table = f->solver->table;
    *span = sel_source_call(f->arena, mark->source, mark->where.line, mark->name);
    simulation->solver = f->solver;
    simulation->params = sel_fill_alloc(f, table->size);
    simulation->script = sel_fill_print(f, "%s", path);
    simulation->locate = locate;
    simulation->locate_data = span;
    simulation->series = f->script->series;
    simulation->rasters = f->script->rasters;
    f->dims = 0;
    f->simulation = simulation;
    f->common = simulation->params;
    f->controls = &simulation->params->controls;
    bool filled =
        sel_fill_table(f, lua_gettop(f->L), table, table->name, simulation->params, *span);
    if (filled && f->solver->complete)
        f->solver->complete(simulation->params);
}

static bool is_simulation(lua_State *L, int index) {
    const sel_mark *mark = sel_script_mark(L, index);
    return mark && strcmp(mark->group, "sel") == 0 && find_solver(mark->name);
}

static bool is_directory_name(const char *name) {
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* In a list of simulations each needs a name of its own, which names its directory. */
static void check_names(sel_filler *f, const sel_scenario *scenario) {
    for (int i = 0; i < scenario->count; i++) {
        const sel_simulation *s = &scenario->simulations[i];
        const char *name = s->params->name;
        sel_where where = locate(s, "name");
        if (!name) {
            sel_fill_mistake(f, where, "%s: name is required in a list of simulations",
                             s->solver->table->name);
            continue;
        }
        if (!is_directory_name(name))
            sel_fill_mistake(f, where, "%s: name '%s' cannot be the name of a directory",
                             s->solver->table->name, name);
        for (int k = 0; k < i; k++) {
            const char *other = scenario->simulations[k].params->name;
            if (other && strcmp(other, name) == 0)
                sel_fill_mistake(f, where, "%s: name '%s' is taken by simulation %d of the list",
                                 s->solver->table->name, name, k + 1);
        }
    }
}

/* Converts the script's rasters to metres if a solver takes metres. A mistake if only some
 * simulations of a list do. */
static void rasters_to_metres(sel_filler *f, int index, int count, bool list) {
    sel_error found = {.status = SEL_OK};
    sel_where where = {NULL, 0};
    int wants = 0;
    for (int i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(f->L, index, i + 1);
        else
            lua_pushvalue(f->L, index);
        const sel_mark *mark = sel_script_mark(f->L, -1);
        if (find_solver(mark->name)->metres && wants++ == 0)
            where = mark->where;
        lua_pop(f->L, 1);
    }
    for (const sel_lookups *r = f->script->rasters; r && wants > 0; r = r->next) {
        found.status = SEL_OK;
        if (wants < count && !sel_raster_is_in_metres(r->lookup))
            sel_fill_mistake(f, where,
                             "%s is not in metres, which sel.aqua takes, and other simulations of "
                             "the list read it as it is: sel.raster { ..., metres = true } has it "
                             "in metres for all of them",
                             r->lookup->name);
        else if (sel_raster_to_metres(r->lookup, (sel_where){NULL, 0}, &found))
            sel_fill_mistake(f, where, "%s", found.text);
    }
}

static void fill_simulations(sel_filler *f, const char *path, int index, int count) {
    sel_scenario *scenario = f->script->scenario;
    sel_simulation *simulations = sel_fill_alloc(f, (size_t)count * sizeof *simulations);
    bool list = !is_simulation(f->L, index);
    scenario->simulations = simulations;
    scenario->count = count;
    rasters_to_metres(f, index, count, list);
    for (int i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(f->L, index, i + 1);
        else
            lua_pushvalue(f->L, index);
        fill_simulation(f, path, &simulations[i]);
        lua_pop(f->L, 1);
    }
    if (list)
        check_names(f, scenario);
}

/* The number of simulations in the value at `index`: 1, or the length of a list; 0: it is neither.
 */
static int count_simulations(lua_State *L, int index) {
    if (is_simulation(L, index))
        return 1;
    if (!lua_istable(L, index) || sel_script_mark(L, index) || lua_rawlen(L, index) > 100000)
        return 0;
    int n = (int)lua_rawlen(L, index);
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(L, index, i);
        bool right = is_simulation(L, -1);
        lua_pop(L, 1);
        if (!right)
            return 0;
    }
    return n;
}

void sel_fill_scenario(sel_script *script, const char *path) {
    lua_State *L = script->L;
    char found[80];
    int index = lua_gettop(L), count = count_simulations(L, index);
    if (count == 0) {
        sel_fail(
            script->error, SEL_BAD_SCENARIO,
            "%s: the script must return a simulation, as sel.lbm { ... }, or a list of them; it "
            "returned %s",
            path, sel_script_value_text(L, index, found));
        return;
    }
    sel_filler f = {.script = script, .L = L, .arena = script->arena};
    fill_simulations(&f, path, index, count);
    sel_functions_loaded(script);
    sel_fill_report(&f);
}

/* ---- fields that a scenario names ---- */

/* A step of sel_fill_fields. Mistakes are added to those of the simulation. */
static sel_status name_with(sel_script *script, sel_simulation *simulation,
                            sel_status (*name)(sel_simulation *simulation, sel_arena *arena,
                                               sel_error *error),
                            sel_error *error) {
    sel_error found = {.status = SEL_OK};
    if (simulation->mistakes)
        found = *simulation->mistakes;
    if (name(simulation, script->arena, &found) == SEL_NO_DEVICE)
        return sel_fail(error, found.status, "%s", found.text);
    sel_error *kept = found.status ? sel_arena_alloc(script->arena, sizeof *kept) : NULL;
    if (found.status && !kept)
        return sel_fail_memory(error, "the mistakes of a scenario", sizeof *kept);
    if (kept)
        *kept = found;
    simulation->mistakes = kept;
    return SEL_OK;
}

sel_status sel_fill_fields(sel_script *script, sel_error *error) {
    const sel_scenario *scenario = script->scenario;
    sel_simulation *const end = scenario->simulations + scenario->count;
    sel_status status = SEL_OK;
    for (sel_simulation *s = scenario->simulations; s < end && !status; s++)
        if (s->solver->name_cells)
            status = name_with(script, s, s->solver->name_cells, error);
    if (!status)
        sel_rules_loaded(script);
    for (sel_simulation *s = scenario->simulations; s < end && !status; s++)
        if (s->solver->name_fields)
            status = name_with(script, s, s->solver->name_fields, error);
    return status;
}

/* ---- single tables ---- */

/* Fills an unused struct of `table` from the value at `index`, to check the value. */
static void fill_table_alone(sel_filler *f, int index, const sel_mark *mark,
                             const sel_table *table) {
    const sel_span span = sel_source_call(f->arena, mark->source, mark->where.line, mark->name);
    sel_fill_table(f, index, table, table->name, sel_fill_alloc(f, table->size), span);
}

/* Checks a law or output. Several solvers may have a law of this name: the table with the fewest
 * mistakes counts. */
static void fill_member_alone(sel_script *script, int index, const sel_mark *mark) {
    const sel_schema all = sel_schema_collect();
    sel_filler best = {.mistake_count = INT32_MAX};
    for (int i = 0; i < all.family_count && best.mistake_count; i++) {
        sel_filler f = {.script = script, .L = script->L, .arena = script->arena};
        const sel_family *family = all.families[i];
        const sel_table *table = sel_family_find(family, mark->name);
        if (strcmp(family->name, mark->group) != 0 || !table)
            continue;
        fill_table_alone(&f, index, mark, table);
        best = f.mistake_count < best.mistake_count ? f : best;
    }
    if (best.script)
        sel_fill_report(&best);
}

int sel_fill_alone(sel_script *script, int index, const char *path) {
    const sel_mark *mark = sel_script_mark(script->L, index);
    const int count = count_simulations(script->L, index);
    if (count > 0) {
        lua_pushvalue(script->L, index);
        sel_fill_scenario(script, path);
        lua_pop(script->L, 1);
    } else if (mark && strcmp(mark->group, "shape") == 0) {
        const sel_table_field field = {.name = "shape"};
        const sel_slot slot = {&field, "shape", {.at = -1, .brace = -1}, false, 0};
        sel_filler f = {.script = script, .L = script->L, .arena = script->arena};
        sel_fill_shape(&f, &slot, index);
        sel_fill_report(&f);
    } else if (mark) {
        fill_member_alone(script, index, mark);
    }
    return count;
}
