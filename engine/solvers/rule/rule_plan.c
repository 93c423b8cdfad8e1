/* rule_plan.c -- laws by region and field, what users are told; the entry of sel.rule. A step runs
 * the script's functions in order, each on all cells at once (docs/rules.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/cpu.h"
#include "engine/solvers/rule/rule.h"

/* ---- the grid and its solids ---- */

/* The step of even steps, or the largest one. */
static void rule_plan_complete(sel_common *common) {
    const rule_params *params = (const rule_params *)common;
    const bool given = common->units && !isnan(common->units->dt);
    common->dt = !isnan(params->dt.max) ? params->dt.max : given ? common->units->dt : 1;
}

/* sel_solver.solid: where all fields are walls. What a law fixes elsewhere belongs to the results.
 */
static bool is_solid(const sel_simulation *simulation, const sel_domain *domain, int region) {
    const rule_params *params = (const rule_params *)simulation->params;
    bool solid = true;
    for (int k = 0; k < params->state.n; k++) {
        const rule_holds holds = rule_law_of(domain, region, params->state.v[k].name, true, false);
        solid = solid && holds.kind == RULE_WALL;
    }
    return solid;
}

/* sel_solver.blank */
static sel_status find_blank(const sel_simulation *simulation, const sel_domain *domain,
                             int threads, uint8_t *blank, sel_region *gaps, sel_error *error) {
    static const sel_named_variant walls = {.value = {.table = &rule_wall_table}};
    const rule_params *params = (const rule_params *)simulation->params;
    const int64_t cells = sel_grid_cells(&domain->grid);
    double *values = NULL;
    sel_status status = SEL_OK;
    for (int k = 0; k < params->data.n && !status; k++) {
        const sel_evaluation asked = {
            .quantity = &params->data.v[k].value, .what = "data", .gaps = true};
        if (!sel_quantity_raster(asked.quantity) || asked.quantity->components > 1) {
            continue;
        }
        gaps->laws = params->nodata;
        if (params->nodata.n == 0) {
            gaps->laws = (sel_named_variants){1, (sel_named_variant *)(uintptr_t)&walls, gaps->at};
        }
        values = values ? values : malloc((size_t)cells * sizeof *values);
        status = values ? sel_domain_evaluate(domain, &asked, threads, values, error)
                        : sel_fail_memory(error, "the data", 0);
        for (int64_t i = 0; i < cells && !status; i++) {
            blank[i] |= isnan(values[i]) != 0;
        }
    }
    free(values);
    return status;
}

/* ---- the plan ---- */

static sel_status rule_plan_complete_plan(sel_plan *base, sel_error *error) {
    rule_plan *plan = (rule_plan *)base;
    const sel_domain *domain = base->domain;
    plan->arena = sel_arena_create();
    const sel_status status = plan->arena ? rule_model_compile(base->simulation, base->precision,
                                                               plan->arena, &plan->model, error)
                                          : sel_fail_memory(error, "the rules", 0);
    if (status) {
        return status;
    }
    const rule_model *m = plan->model;
    base->dt_steps = m->params->dt.limit ? m->params->dt.every : 0;
    for (int k = 0; k < domain->region_count * m->entries; k++) {
        const rule_law *law = rule_law_value(plan, 1 + k / m->entries, k % m->entries);
        plan->law_depends |= law ? sel_quantity_depends(&law->value) : 0;
    }
    const sel_status listed = rule_inputs_list(plan, error);
    base->inputs = plan->inputs.count > 0 ? &plan->inputs : NULL;
    base->depends = plan->inputs.depends;
    return listed ? listed : rule_audit_find(plan, error);
}

static void rule_plan_clear(sel_plan *base) {
    rule_plan *plan = (rule_plan *)base;
    rule_audit_clear(plan);
    sel_inputs_free(&plan->inputs);
    sel_arena_destroy(plan->arena);
}

/* ---- what users are told ---- */

static void rule_plan_facts(const sel_plan *base, sel_facts *to) {
    const rule_plan *plan = (const rule_plan *)base;
    const rule_model *m = plan->model;
    for (int k = 0; k < m->rules; k++) {
        const rule_function *f = &m->function[k];
        if (!f->rule) {
            sel_fact_add(to, "rule", "%s: by Lua at each cell", f->name);
            continue;
        }
        const sel_program *code = f->code;
        sel_fact_add(to, "rule", "%s: %d operations, %d reads, %d writes, %d bytes per cell",
                     f->name, code->operations, code->layout.reads, __builtin_popcountll(f->writes),
                     rule_bytes(m, f->reads) + rule_bytes(m, f->writes));
    }
    if (base->dt_steps) {
        sel_fact_add(to, "time step", "at most %g, found every %lld steps", m->params->dt.max,
                     (long long)base->dt_steps);
    }
}

/* Whether the bounds of whole numbers pass 2^53, where programs give up. Of reals that are rounded
 * nothing is known. */
static bool may_be_too_large(const sel_rule *rule) {
    bool may = false;
    for (int n = 0; rule->fails >= 0 && n < rule->nodes; n++) {
        const sel_rule_node *test = &rule->node[n], *left = &rule->node[test->operand[0]];
        if (test->op != SEL_OP_LT || rule->node[test->operand[1]].value != 0x1p53 ||
            left->op != SEL_OP_ABS) {
            continue;
        }
        const sel_rule_node *number = &rule->node[left->operand[0]];
        const bool rounds =
            number->op == SEL_OP_FLOOR || number->op == SEL_OP_CEIL || number->op == SEL_OP_WHOLE;
        may = may || !rounds || rule->node[number->operand[0]].whole ||
              sel_rule_of_integers(rule->node, left->operand[0]) >= 0;
    }
    return may;
}

static void rule_plan_warn(const sel_plan *base, sel_error *warnings) {
    const rule_model *m = ((const rule_plan *)base)->model;
    for (int k = 0; k < m->functions; k++) {
        const rule_function *f = &m->function[k];
        if (!f->rule) {
            sel_fail_at(warnings, f->source->where,
                        "%s is evaluated by Lua at each cell, hundreds of times slower: %s",
                        f->name, f->why);
        } else if (may_be_too_large(f->rule)) {
            sel_fail_at(warnings, f->source->where,
                        "whole numbers of %s may pass 2^53: in such cells Lua evaluates it, "
                        "hundreds of times slower, and a GPU ends the run; %% or & keep them "
                        "smaller",
                        f->name);
        }
    }
}

static sel_status portable(const sel_simulation *simulation, sel_error *error) {
    const rule_model *m = (const rule_model *)simulation->solver;
    for (int k = 0; k < m->functions; k++) {
        const rule_function f = rule_function_at(m->params, k);
        if (!f.rule) {
            return sel_fail_at(error, f.source->where,
                               "only Lua can evaluate %s, which runs on the processor (--backend "
                               "cpu): %s",
                               f.name, f.why);
        }
    }
    return SEL_OK;
}

static void rule_plan_json(const sel_plan *base, FILE *to) {
    const rule_model *m = ((const rule_plan *)base)->model;
    fprintf(to, "\"rules\": %d, \"seed\": %lld", m->rules, (long long)m->params->seed);
}

/* The fields and their types, of which a checkpoint has the numbers. */
static void rule_plan_state_text(const sel_plan *base, char *text, size_t size) {
    const rule_model *m = ((const rule_plan *)base)->model;
    static const char *const types[] = {"real", "i32", "u8"};
    size_t used = (size_t)snprintf(text, size, "fields");
    for (int f = 0; f < m->fields && used < size; f++) {
        if (m->field[f].state) {
            used += (size_t)snprintf(text + used, size - used, " %s:%s", m->field[f].name,
                                     types[m->field[f].type]);
        }
    }
}

/* Before the rules are read: two copies of all fields are taken for granted. */
static sel_cell_bytes rule_plan_bytes(const sel_common *common, int precision) {
    const rule_params *params = (const rule_params *)common;
    const double real = precision == SEL_F32 ? 4 : 8;
    double state = 0;
    for (int k = 0; k < params->state.n; k++) {
        const int type = params->state.v[k].choice;
        state += type == RULE_U8    ? 1
                 : type == RULE_I32 ? 4
                                    : real * (type == RULE_VECTOR ? common->size.n : 1);
    }
    const double data = real * params->data.n;
    return (sel_cell_bytes){2 * state + data, state + 8, 2 * state + data + 10};
}

const sel_solver rule_solver = {
    .name = "rule",
    .table = &rule_table,
    .laws = &rule_law_family,
    .flux_field = -1,
    .no_forces = true,
    .no_fluxes = true,
    .complete = rule_plan_complete,
    .name_cells = rule_name_cells,
    .name_fields = rule_name_fields,
    .blank = find_blank,
    .solid = is_solid,
    .plan_size = sizeof(rule_plan),
    .plan = rule_plan_complete_plan,
    .plan_clear = rule_plan_clear,
    .list_places = rule_list_places,
    .facts = rule_plan_facts,
    .warn = rule_plan_warn,
    .json = rule_plan_json,
    .state_text = rule_plan_state_text,
    .advice = "A smaller dt may be stable; else look at what the rules divide by, and at the laws",
    .audit_reads = rule_audit_reads,
    .audit = rule_audit_step,
    .audit_does = "add to",
    .audit_why = "the numbers have no digits for so little",
    .audit_advice = "keep in the field how far it is from a constant of about its size, and add "
                    "that where rules need the whole",
    .bytes = rule_plan_bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &rule_on_cpu,
    .portable = portable,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &rule_on_cuda,
#endif
};
