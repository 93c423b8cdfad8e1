/* annotate.c -- print LuaLS annotations of the scenario library, from the engine's lists of fields.
 *
 * Editors with the Lua language server use them to complete and check scenarios. The text depends
 * on these lists only, so that a test finds out when the committed file is stale.
 */
#include <string.h>
#include "engine/values/series.h"
#include "lua/commands/commands.h"
#include "lua/tables/tables.h"

static const char header[] =
    "---@meta selenite\n"
    "-- Generated from the engine's field lists by `make annotations`; do not edit.\n"
    "\n"
    "---A number, a function whose parameters are any of x, y, z, t and the controls, or data.\n"
    "---@alias selenite.quantity number|function|selenite.series|selenite.raster|selenite.paint\n"
    "\n"
    "---A quantity per component, or one function that returns all components.\n"
    "---@alias selenite.vector selenite.quantity[]|function\n"
    "\n"
    "---Cells or face sites; `+` joins, `-` takes away, `*` keeps what both have.\n"
    "---@class selenite.shape\n"
    "---@field moved fun(shape: selenite.shape, by: selenite.shape.moved): selenite.shape\n"
    "---@field rotated fun(shape: selenite.shape, by: selenite.shape.rotated): selenite.shape\n"
    "---@field scaled fun(shape: selenite.shape, by: selenite.shape.scaled|number): "
    "selenite.shape\n"
    "---@operator add(selenite.shape): selenite.shape\n"
    "---@operator sub(selenite.shape): selenite.shape\n"
    "---@operator mul(selenite.shape): selenite.shape\n"
    "\n"
    "---Values over time: a quantity, and s(t) inside functions.\n"
    "---@class selenite.series\n"
    "---@overload fun(t: number): number\n"
    "\n"
    "---Values over the x-y plane: a quantity, and r(x, y) inside functions.\n"
    "---@class selenite.raster\n"
    "---@field size integer[] columns and rows\n"
    "---@field dx number size of a pixel\n"
    "---@field origin number[] lower left corner\n"
    "---@overload fun(x: number, y: number): number\n"
    "\n"
    "---A lattice that sel.units made; a solver's field `units`.\n"
    "---@class selenite.units\n"
    "---@field dx number side of a cell\n"
    "---@field dt number time step; where velocity or viscosity is known\n"
    "---@field nu number kinematic viscosity; where it is known\n"
    "---@field density number\n"
    "---@field length number\n"
    "---@field velocity number where it is known\n"
    "---@field cells fun(lengths: number[]): integer[] cells along lengths; refuses parts of "
    "cells\n"
    "\n"
    "---A quantity painted by shapes, in order.\n"
    "---@class selenite.paint\n"
    "\n"
    "---The default of a parameter, or a table of the default, a help text and what is allowed.\n"
    "---@class (exact) selenite.parameter\n"
    "---@field [1] number|string|boolean the default\n"
    "---@field [2]? string help\n"
    "---@field min? number smallest value\n"
    "---@field max? number largest value\n"
    "---@field choices? (number|string)[] the only values\n"
    "---@field integer? boolean whole numbers only\n"
    "---@field file? boolean the path of a file; the default is relative to the script\n"
    "\n"
    "---What a hook gets: the run that it may look at and act on.\n"
    "---@class (exact) selenite.run\n"
    "---@field step integer steps done\n"
    "---@field time number\n"
    "---@field state table the script's own, kept between the calls of all hooks\n"
    "---@field probe fun(run: selenite.run, field: string, at: number[]): number ... values there\n"
    "---@field reduce fun(run: selenite.run, field: string, op: string): number ... over the "
    "cells\n"
    "---@field force fun(run: selenite.run, name: string): number ... force, then torque\n"
    "---@field set fun(run: selenite.run, control: string, value: number) changes a control\n"
    "---@field result fun(run: selenite.run, name: string, value: number) for run.json\n"
    "---@field stop fun(run: selenite.run, reason: string) ends the run\n"
    "---@field log fun(run: selenite.run, text: string) a line on standard error\n"
    "\n";

static void annotate_choices(FILE *to, const sel_table_field *field) {
    for (const char *const *choice = field->choices; *choice; choice++)
        fprintf(to, "%s\"%s\"", choice == field->choices ? "" : "|", *choice);
}

/* The type of a field as LuaLS writes it. */
static void print_type(FILE *to, const sel_table_field *field) {
    const bool list = field->kind == SEL_KIND_LIST || field->kind == SEL_KIND_VARIANTS;
    const bool flags = field->kind == SEL_KIND_FLAGS;
    const bool named = field->kind == SEL_KIND_NAMED_CHOICES;
    if (field->table || field->family) {
        const char *name = field->table ? field->table->name : field->family->name;
        fprintf(to, "%sselenite.%s%s", field->flags & SEL_BARE ? "number|" : "", name,
                list ? "[]" : "");
        if (field->kind == SEL_KIND_NAMED_VARIANTS)
            fprintf(to, "|table<string, selenite.%s>", name);
    } else if (field->choices) {
        fputs(named ? "table<string, " : flags ? "(" : "", to);
        annotate_choices(to, field);
        fputs(named ? ">" : flags ? ")[]" : "", to);
    } else {
        fputs(sel_kind_annotation(field->kind), to);
    }
}

/* Prints a field; a positional field also as the array part of the table. */
static void print_field(FILE *to, const sel_table_field *field) {
    const bool positional = field->flags & SEL_POSITIONAL;
    const bool optional = positional || !(field->flags & SEL_REQUIRED);
    fprintf(to, "---@field %s%s ", field->name, optional ? "?" : "");
    print_type(to, field);
    fprintf(to, " %s\n", field->doc);
    if (positional && field->kind == SEL_KIND_VECTOR) {
        fputs("---@field [integer] selenite.quantity the components\n", to);
    } else if (positional && field->kind == SEL_KIND_POINT) {
        fputs("---@field [integer] number the same as by\n", to);
    } else if (positional) {
        fputs("---@field [1]? ", to);
        print_type(to, field);
        fprintf(to, " the same as %s\n", field->name);
    }
}

static bool is_listed(const sel_table *const *tables, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(tables[i]->name, name) == 0)
            return true;
    return false;
}

/* Prints the fields of table t, without those of an earlier table of its name. */
static void print_new_fields(FILE *to, const sel_schema *all, int t) {
    const sel_table *table = all->tables[t];
    for (int i = 0; i < table->count; i++) {
        bool printed = false;
        for (int k = 0; k < t && !printed; k++)
            printed = strcmp(all->tables[k]->name, table->name) == 0 &&
                      sel_fill_field(all->tables[k], table->fields[i].name);
        if (!printed)
            print_field(to, &table->fields[i]);
    }
}

/* Laws of several solvers with one name are one class with the fields of all. */
static void print_classes(FILE *to, const sel_schema *all) {
    for (int t = 0; t < all->table_count; t++) {
        const sel_table *table = all->tables[t];
        if (is_listed(all->tables, t, table->name))
            continue;
        fprintf(to, "---%s\n---@class (exact) selenite.%s\n", table->doc, table->name);
        for (int k = t; k < all->table_count; k++)
            if (strcmp(all->tables[k]->name, table->name) == 0)
                print_new_fields(to, all, k);
        fputc('\n', to);
    }
}

/* The type that a constructor takes in place of its table. */
static const char *positional_type(const sel_table *table) {
    const sel_table_field *field = sel_fill_positional(table);
    return !field ? "" : field->kind == SEL_KIND_FILE ? "|string" : "|selenite.quantity";
}

/* Prints a constructor as a field of the class of its module. */
static void print_constructor(FILE *to, const sel_table *table, const char *result) {
    fprintf(to, "---@field %s fun(fields: selenite.%s%s): %s %s\n", sel_table_short_name(table),
            table->name, positional_type(table), result, table->doc);
}

/* Whether the table belongs to the family: "law.wall" to "law". */
static bool annotate_is_of(const sel_table *table, const char *family) {
    const size_t length = strlen(family);
    return strncmp(table->name, family, length) == 0 && table->name[length] == '.';
}

/* Prints the module of a family and, for laws and outputs, the class of their values. Families of
 * one name (the laws of several solvers) are one module. */
static void print_family(FILE *to, const sel_schema *all, const sel_family *family) {
    const char *name = family->name;
    bool shapes = strcmp(name, "shape") == 0;
    char result[64];
    snprintf(result, sizeof result, "selenite.%s", name);
    if (!shapes)
        fprintf(to, "---%s\n---@class selenite.%s\n\n", family->doc, name);
    fprintf(to, "---@class (exact) selenite.%s.module\n", name);
    for (int t = 0; t < all->table_count; t++)
        if (annotate_is_of(all->tables[t], name) && !all->tables[t]->usage &&
            !is_listed(all->tables, t, all->tables[t]->name))
            print_constructor(to, all->tables[t], result);
    if (shapes)
        fputs("---@field face fun(name: \"x-\"|\"x+\"|\"y-\"|\"y+\"|\"z-\"|\"z+\"): "
              "selenite.shape The sites of one face of the domain.\n---@field faces "
              "selenite.shape All boundary faces, except on periodic sides.\n---@field rest "
              "selenite.shape The face sites that nothing before painted.\n",
              to);
    fputc('\n', to);
}

static bool is_first(const sel_family *const *families, int at) {
    for (int i = 0; i < at; i++)
        if (strcmp(families[i]->name, families[at]->name) == 0)
            return false;
    return true;
}

static void print_library(FILE *to, const sel_family *const *families, int count) {
    fputs("---What a solver's constructor returns: the table that it got, to be returned by the "
          "script.\n---@class selenite.simulation\n\n---@class (exact) selenite.library\n",
          to);
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++)
        print_constructor(to, (*solver)->table, "selenite.simulation");
    print_constructor(to, &sel_units_table, "selenite.units");
    print_constructor(to, &sel_series_table, "selenite.series");
    print_constructor(to, &sel_raster_table, "selenite.raster");
    print_constructor(to, &sel_state_table, "table");
    for (int i = 0; i < count; i++)
        if (is_first(families, i))
            fprintf(to, "---@field %s selenite.%s.module\n", families[i]->name, families[i]->name);
    fputs("local sel = {}\n"
          "\n"
          "---Declares what the command line may set as name=value, and returns the values.\n"
          "---@param declared table<string, number|string|boolean|selenite.parameter>\n"
          "---@return table<string, any> values read-only; other names are errors\n"
          "function sel.params(declared) end\n"
          "\n"
          "---A quantity painted in order: a base, then { shape, quantity } over it.\n"
          "---@param layers (selenite.quantity|table)[]\n"
          "---@return selenite.paint\n"
          "function sel.paint(layers) end\n"
          "\n"
          "---Uniform in [0, 1); depends on seed, cell, step and the whole number k only; in rules "
          "and in `initial` of sel.rule.\n"
          "---@param k integer\n"
          "---@return number\n"
          "function sel.random(k) end\n"
          "\n"
          "---Smooth noise in [-1, 1] that varies over a distance of about 1; the same on every "
          "machine.\n"
          "---@param seed number\n"
          "---@param x number\n"
          "---@param y? number\n"
          "---@param z? number\n"
          "---@return number\n"
          "function sel.noise(seed, x, y, z) end\n"
          "\n"
          "---0 where x is below 0, else 1: for numbers, and inside functions.\n"
          "---@param x number\n"
          "---@return number\n"
          "function sel.step(x) end\n"
          "\n"
          "---Rises smoothly from 0 at t = 0 to 1 at t = T, and stays there: s^2 (3 - 2 s), s = "
          "t/T.\n"
          "---@param t number\n"
          "---@param T number above 0\n"
          "---@return number\n"
          "function sel.ramp(t, T) end\n"
          "\n"
          "---The editable table of another scenario, or the list of them.\n"
          "---@param path string relative to this script\n"
          "---@param values? table<string, number|string|boolean> for its sel.params\n"
          "---@return table simulation\n"
          "function sel.load(path, values) end\n"
          "\n"
          "return sel\n",
          to);
}

void sel_annotations(FILE *to) {
    const sel_schema all = sel_schema_collect();
    fputs(header, to);
    print_classes(to, &all);
    for (int i = 0; i < all.family_count; i++)
        if (is_first(all.families, i))
            print_family(to, &all, all.families[i]);
    print_library(to, all.families, all.family_count);
}
