/* rule_packed.c -- what kernels are given: functions as tables for rule_interpret.cuh, blocks. */
#include <stdlib.h>
#include <string.h>
#include "cuda/rule_gpu.h"

/* ---- functions ---- */

void *rule_packed_make(const rule_model *m, int k, int precision, rule_packed *to, size_t *bytes) {
    const rule_code *code = rule_function_at(m, k)->code[precision];
    *to = (rule_packed){.ops = code->count,
                        .uniforms = code->uniforms,
                        .reads = code->reads,
                        .stores = code->outputs,
                        .slots = code->slots,
                        .fails = k < m->rules ? code->fails : -1,
                        .numbers = k >= m->rules,
                        .wide = precision == SEL_F64};
    for (int i = 0; i < m->fields; i++) {
        to->type[i] = (uint8_t)m->field[i].type;
    }
    for (int i = 0; i < code->count; i++) {
        to->links += code->v[i].op == RULE_CHAIN ? code->v[i].operands : 0;
    }
    *bytes = (size_t)code->count * sizeof *to->op + (size_t)code->reads * sizeof *to->read +
             (size_t)code->outputs * sizeof *to->store + (size_t)to->links * sizeof *to->link;
    void *block = calloc(1, *bytes + 1);
    if (!block) {
        return NULL;
    }
    rule_packed_place(to, block);
    rule_instruction *op = block;
    rule_link *links = (rule_link *)(uintptr_t)to->link, *link = links;
    memcpy(op, code->v, (size_t)code->count * sizeof *op);
    memcpy((void *)(uintptr_t)to->read, code->read, (size_t)code->reads * sizeof *to->read);
    memcpy((void *)(uintptr_t)to->store, code->output, (size_t)code->outputs * sizeof *to->store);
    for (int i = 0; i < code->count; i++) {
        if (op[i].op == RULE_CHAIN) {
            op[i].number = (int)(link - links);
            link = mempcpy(link, op[i].link, op[i].operands * sizeof *link);
        } else if (op[i].lookup) {
            op[i].number = rule_lookup_number(m, precision, op[i].lookup);
        }
    }
    return block;
}

void rule_packed_place(rule_packed *table, const void *block) {
    table->op = block;
    table->read = (const rule_read *)(const void *)(table->op + table->ops);
    table->store = (const rule_result *)(const void *)(table->read + table->reads);
    table->link = (const rule_link *)(const void *)(table->store + table->stores);
}

/* ---- a block ---- */

rule_view rule_view_of(const rule_state *state, int k, int block, uint64_t turns) {
    const rule_model *m = state->model;
    const rule_function *f = rule_function_at(m, k);
    const sel_grid *grid = &state->plan->base.domain->grid;
    const sel_block *own = &state->base.blocks.v[block];
    rule_view v = {.kind = state->kind[block],
                   .odd = state->odd,
                   .cells = sel_grid_cells(grid),
                   .first_row = own->first * state->base.blocks.rows_per_plane,
                   .end_row = own->end * state->base.blocks.rows_per_plane,
                   .first = state->cells.first,
                   .pitch = state->cells.pitch,
                   .slice = state->cells.slice,
                   .pieces = rule_pieces(grid->n[0]),
                   .seed = (uint64_t)m->params->seed,
                   .writes = f->writes,
                   .periodic = grid->periodic,
                   .half = grid->nodes ? 0 : 0.5,
                   .function = k,
                   .functions = rule_functions(m)};
    for (int a = 0; a < 3; a++) {
        v.n[a] = grid->n[a];
        v.origin[a] = grid->origin[a];
        v.dx[a] = grid->dx[a];
    }
    for (int i = 0; i < m->fields; i++) {
        const int turn = (int)(turns >> i & 1);
        v.from[i] = state->at[block][i][turn];
        v.to[i] = state->at[block][i][turn ^ (int)(f->turns >> i & 1)];
    }
    return v;
}
