// rule_interpret.cuh -- kernels of sel.rule that need no compiler at run time: places are filled by
// laws, and functions run by interpreting their instructions, a thread for each cell. That is slow,
// and the reference of those that are printed.
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
        if (t->at[f][turn]) {
            rule_fill_place(t, &run, threadIdx.x, f, turn);
        }
    }
}

enum { CELL_REAL, CELL_I32, CELL_U8 }; // sel_cell_type

static __device__ void store_number(const rule_view &v, const rule_at &p,
                                    const sel_program_output &to, bool numbers, int output,
                                    double value) {
    const int field = to.field;
    const double kept[1] = {sel_number_as(to.type, value)};
    if (numbers) {
        rule_store_numbers<1>(v, p, field, kept);
    } else if (v.tables->type[field] == CELL_I32) {
        rule_store<true, true, double, int32_t, 1>(v, p, output, field, kept);
    } else if (v.tables->type[field] == CELL_U8) {
        rule_store<true, true, double, uint8_t, 1>(v, p, output, field, kept);
    } else if (v.tables->wide) {
        rule_store<true, false, double, double, 1>(v, p, output, field, kept);
    } else {
        rule_store<true, false, double, float, 1>(v, p, output, field, kept);
    }
}

extern "C" __global__ void __launch_bounds__(RULE_THREADS, 8)
    rule_interpret_kernel(const __grid_constant__ rule_view v) {
    const int64_t me = (int64_t)blockIdx.x * RULE_THREADS + threadIdx.x;
    const int64_t cells = (v.end_row - v.first_row) * v.grid.n[0];
    const sel_packed_program &t = v.packed.program[v.function];
    const sel_packed_slots slots = {v.slot + me, v.slot + me, 0, (int32_t)v.threads};
    for (int64_t k = me; k < cells && me < v.threads; k += v.threads) {
        rule_at p;
        p.row = rule_row(v, v.first_row + k / v.grid.n[0]);
        p.x = k % v.grid.n[0];
        rule_find(v, p);
        for (int u = 0; u < t.uniforms; u++) {
            *sel_packed_slot(&slots, u) = rule_uniform(v, p, u);
        }
        for (int r = 0; r < t.reads; r++) {
            const sel_read &read = v.packed.read[t.read + r];
            const int64_t away = read.at[0] + read.at[1] * v.pitch + read.at[2] * v.slice;
            const bool wall =
                away && v.tables->walls[v.kind[p.at + away] % RULE_ODD] >> read.field & 1;
            *sel_packed_slot(&slots, t.fixed + r) =
                rule_number(v.tables->type[read.field], v.tables->wide, v.from[read.field],
                            wall ? p.at : p.at + away);
        }
        for (int i = t.once; i < t.once + t.each; i++) {
            const sel_instruction &o = v.packed.code[t.code + i];
            double *to = sel_packed_slot(&slots, o.to);
            if (o.op == SEL_RULE_RANDOM) {
                *to = rule_random(v, p, 0, *sel_packed_slot(&slots, o.from[0]));
            } else if (o.op == SEL_OP_ARGUMENT) {
                *to = sel_number_as(o.type, rule_place(v, p, 0, (int)o.number));
            } else {
                sel_packed_step(&v.packed, &t, i, to, &slots);
            }
        }
        const int32_t fails[1] = {t.fails < 0 ? 0 : (int32_t)*sel_packed_slot(&slots, t.fails)};
        rule_failed<true, 1>(v, p, fails);
        for (int o = 0; o < t.outputs; o++) {
            const sel_program_output &to = v.packed.output[t.output + o];
            store_number(v, p, to, t.numbers, o, *sel_packed_slot(&slots, to.slot));
        }
    }
}

#endif
