// rule_interpret.cuh -- kernels of sel.rule that need no compiler at run time: places are filled by
// laws, and functions run by interpreting their instructions, a thread for each cell. That is slow,
// and the reference of those that are printed.
//
// All numbers of the interpreter stand in slots as doubles, which hold floats and whole numbers of
// 32 bits exactly; each operation is done in doubles and rounded once more, which gives the same
// bits for sums, products, quotients and roots.
#ifndef RULE_INTERPRET_CUH
#define RULE_INTERPRET_CUH

#include "cuda/rule_cell.cuh"
#include "engine/solvers/rule/rule_margin.h"

// A block of threads fills a run, from `first` on.
extern "C" __global__ void rule_fill_kernel(const rule_tables *t, int64_t first, uint64_t fields,
                                            uint64_t turns) {
    const rule_run &run = t->run[first + blockIdx.x];
    for (uint64_t left = fields; left && (int)threadIdx.x < run.count; left &= left - 1) {
        const int f = __ffsll((long long)left) - 1, turn = (int)(turns >> f & 1);
        if (t->at[run.block][f][turn]) {
            rule_fill_place(t, &run, threadIdx.x, f, turn);
        }
    }
}

enum { CELL_REAL, CELL_I32, CELL_U8 }; // sel_cell_type

static __device__ double as_type(int type, double value) {
    return type == RULE_F ? (double)(float)value : type == RULE_D ? value : (double)(int32_t)value;
}

static __device__ double run_op(const rule_view &v, const rule_at &p, const rule_instruction &o,
                                double a, double b, double c, double d) {
    switch (o.op) {
    case RULE_CONVERT:
        return as_type(o.type, a);
    case RULE_SHIFT:
        return (int32_t)a >> o.number;
    case RULE_MASK:
        return (int32_t)a & o.number;
    case SEL_OP_ARGUMENT:
        return as_type(o.type, rule_place(v, p, 0, o.number));
    case SEL_OP_LOOKUP:
        return rule_look_up(v, o.number, a, b, c, d);
    case SEL_RULE_RANDOM:
        return rule_random(v, p, 0, a);
    default:
        return as_type(o.type, o.op >= SEL_RULE_BAND ? sel_rule_bits(o.op, (int64_t)a, (int64_t)b)
                                                     : sel_program_value(o.op, a, b, c));
    }
}

// The links of a chain.
static __device__ double run_chain(const rule_view &v, const rule_code &t,
                                   const rule_instruction &o, const double *slot) {
    const uint8_t ops[] = {SEL_OP_ADD, SEL_OP_SUB, SEL_OP_MUL, SEL_OP_DIV, SEL_OP_SUB, SEL_OP_DIV};
    const rule_link *link = t.link + o.number;
    double value = slot[link->slot * v.threads];
    for (int k = 1; k < o.operands; k++) {
        const double b = slot[link[k].slot * v.threads];
        const bool under = link[k].op == RULE_FROM || link[k].op == RULE_UNDER;
        value = as_type(
            o.type, sel_program_value(ops[link[k].op], under ? b : value, under ? value : b, 0));
    }
    return value;
}

static __device__ void store_number(const rule_view &v, const rule_at &p, const rule_code &t,
                                    int output, double value) {
    const int field = t.output[output].field;
    const double kept[1] = {as_type(t.output[output].type, value)};
    const float single[1] = {(float)kept[0]};
    if (t.numbers) {
        rule_store_numbers<1>(v, p, field, kept);
    } else if (v.tables->type[field] == CELL_I32) {
        rule_store<true, true, double, int32_t, 1>(v, p, output, field, kept);
    } else if (v.tables->type[field] == CELL_U8) {
        rule_store<true, true, double, uint8_t, 1>(v, p, output, field, kept);
    } else if (v.tables->wide) {
        rule_store<true, false, double, double, 1>(v, p, output, field, kept);
    } else {
        rule_store<true, false, float, float, 1>(v, p, output, field, single);
    }
}

extern "C" __global__ void __launch_bounds__(RULE_THREADS)
    rule_interpret_kernel(const __grid_constant__ rule_view v,
                          const __grid_constant__ rule_code t) {
    const int64_t me = (int64_t)blockIdx.x * RULE_THREADS + threadIdx.x;
    const int64_t cells = (v.end_row - v.first_row) * v.grid.n[0];
    double *slot = v.slot + me;
    for (int64_t k = me; k < cells && me < v.threads; k += v.threads) {
        rule_at p;
        p.row = v.first_row + k / v.grid.n[0];
        p.x = k % v.grid.n[0];
        rule_find(v, p);
        for (int u = 0; u < t.uniforms; u++) {
            slot[u * v.threads] = as_type(t.uniform[u].type, rule_uniform(v, p, u));
        }
        for (int r = 0; r < t.reads; r++) {
            const rule_read &read = t.read[r];
            const int64_t away = read.at[0] + read.at[1] * v.pitch + read.at[2] * v.slice;
            const bool wall =
                away && v.tables->walls[v.kind[p.at + away] % RULE_ODD] >> read.field & 1;
            slot[(t.uniforms + r) * v.threads] =
                rule_number(v.tables->type[read.field], v.tables->wide, v.from[read.field],
                            wall ? p.at : p.at + away);
        }
        for (int i = 0; i < t.count; i++) {
            const rule_instruction &o = t.v[i];
            slot[o.to * v.threads] =
                o.op == RULE_CHAIN
                    ? run_chain(v, t, o, slot)
                    : run_op(v, p, o, slot[o.from[0] * v.threads], slot[o.from[1] * v.threads],
                             slot[o.from[2] * v.threads], slot[o.from[3] * v.threads]);
        }
        const int32_t fails[1] = {t.fails < 0 ? 0 : (int32_t)slot[t.fails * v.threads]};
        rule_failed<true, 1>(v, p, fails);
        for (int o = 0; o < t.outputs; o++) {
            store_number(v, p, t, o, slot[t.output[o].slot * v.threads]);
        }
    }
}

#endif
