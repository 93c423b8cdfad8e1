/* rule_packed.c -- the instructions of a function as a table for rule_interpret.cu. */
#include <stdlib.h>
#include "cuda/rule_gpu.h"

_Static_assert(RULE_STEP_RANDOM == (int)SEL_RULE_RANDOM && RULE_STEP_CONVERT == (int)RULE_CONVERT &&
                   RULE_STEP_SHIFT == (int)RULE_SHIFT && RULE_STEP_MASK == (int)RULE_MASK,
               "rule_view.h numbers as the engine does");

/* A chain is one operation for each link: its result takes no operand's register. */
static int add_chain(const rule_instruction *v, rule_packed_op *to) {
    static const uint8_t ops[] = {SEL_OP_ADD, SEL_OP_SUB, SEL_OP_MUL,
                                  SEL_OP_DIV, SEL_OP_SUB, SEL_OP_DIV};
    for (int k = 1; k < v->operands; k++) {
        const rule_link *l = &v->link[k];
        const uint16_t before = k == 1 ? v->link->slot : v->to;
        const bool under = l->op == RULE_FROM || l->op == RULE_UNDER;
        to[k - 1] = (rule_packed_op){.op = ops[l->op],
                                     .type = v->type,
                                     .to = v->to,
                                     .from = {under ? l->slot : before, under ? before : l->slot}};
    }
    return v->operands - 1;
}

void *rule_packed_make(const rule_model *m, int k, int precision, rule_packed *to, size_t *bytes) {
    const rule_function *f = rule_function_at(m, k);
    const rule_code *code = f->code[precision];
    const bool numbers = k >= m->rules;
    int ops = 0;
    for (int i = 0; i < code->count; i++) {
        ops += code->v[i].op == RULE_CHAIN ? code->v[i].operands - 1 : 1;
    }
    const size_t read_at = (size_t)ops * sizeof(rule_packed_op);
    const size_t store_at = read_at + (size_t)code->reads * sizeof(rule_packed_read);
    *bytes = store_at + (size_t)code->outputs * sizeof(rule_packed_store);
    char *block = calloc(1, *bytes + 1);
    if (!block) {
        return NULL;
    }
    rule_packed_op *op = (rule_packed_op *)(void *)block;
    rule_packed_read *read = (rule_packed_read *)(void *)(block + read_at);
    rule_packed_store *store = (rule_packed_store *)(void *)(block + store_at);
    for (int i = 0; i < code->count; i++) {
        const rule_instruction *v = &code->v[i];
        if (v->op == RULE_CHAIN) {
            op += add_chain(v, op);
            continue;
        }
        *op++ = (rule_packed_op){.op = v->op,
                                 .type = v->type,
                                 .to = v->to,
                                 .from = {v->from[0], v->from[1], v->from[2], v->from[3]},
                                 .number = v->lookup ? rule_lookup_number(m, precision, v->lookup)
                                                     : v->number};
    }
    for (int r = 0; r < code->reads; r++) {
        const rule_read *from = &code->read[r];
        read[r] = (rule_packed_read){from->field, {from->at[0], from->at[1], from->at[2]}};
    }
    for (int o = 0; o < code->outputs; o++) {
        const rule_store *from = &code->output[o];
        store[o] = (rule_packed_store){from->field, from->slot, (int)from->type, from->checked};
    }
    *to = (rule_packed){.ops = ops,
                        .uniforms = code->uniforms,
                        .reads = code->reads,
                        .stores = code->outputs,
                        .slots = code->slots,
                        .fails = numbers ? -1 : code->fails,
                        .numbers = numbers,
                        .wide = precision == SEL_F64};
    for (int i = 0; i < m->fields; i++) {
        to->type[i] = (uint8_t)m->field[i].type;
    }
    rule_packed_place(to, block);
    return block;
}

void rule_packed_place(rule_packed *table, const void *block) {
    table->op = block;
    table->read = (const rule_packed_read *)(const void *)(table->op + table->ops);
    table->store = (const rule_packed_store *)(const void *)(table->read + table->reads);
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
