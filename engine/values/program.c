/* program.c -- evaluates programs on the CPU, a block of places at a time.
 *
 * A slot holds the values of a block of places; each instruction is one loop over the block
 * (program_kernel.c). Uniform slots are filled once per call. If the places are the cells of rows
 * with the same x, blocks are done column by column:
 *
 *     row 0:  block 0 | block 3        Functions of x alone are computed in block 0, and reused in
 *     row 1:  block 1 | block 4        blocks 1 and 2. Functions of y and z alone are computed once
 *     row 2:  block 2 | block 5        in a block with one y and one z.
 *
 * Few places are done one by one, with a single number per slot; many are divided among threads.
 * The bits are the same in all cases.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/program_row.h"

#define DECLARE(level) extern const sel_row_loops sel_row_loops_##level;
SEL_LEVELS(DECLARE)
#define TABLE(level) &sel_row_loops_##level,

const sel_row_loops *sel_row_loops_here(void) {
    static const sel_row_loops *const tables[] = {SEL_LEVELS(TABLE)};
    return tables[sel_level(0)];
}

/* From MANY operations on, a third of a millisecond of sums, places are divided among threads. */
enum { BLOCK = 128, ROW_BYTES = BLOCK * sizeof(double), FEW = 8, MANY = 1 << 20 };

/* Shorter rows are not worth a column of their own. */
enum { SHORTEST_ROW = BLOCK / 2 };

#define CALL(name, operands, value)                     \
    case SEL_OP_##name:                                 \
        for (int k = 0; k < n; k++) {                   \
            const double a = (double)from[0][k];        \
            const double b = (double)from[1][k], c = b; \
            (void)b;                                    \
            (void)c;                                    \
            to[k] = (number)(value);                    \
        }                                               \
        break;

#define CALLS(T)                                                         \
    static void call_##T(int op, T *to, const T *const from[2], int n) { \
        typedef T number;                                                \
        switch (op) { SEL_PROGRAM_OPS(CALL) }                            \
    }

CALLS(float)
CALLS(double)
CALLS(int32_t)

void sel_row_call(const sel_instruction *v, void *const *slot, int n) {
    const void *a = slot[v->from[0]], *b = slot[v->from[1]];
    if (v->type == SEL_NUMBER_F) {
        call_float(v->op, slot[v->to], (const float *const[]){a, b}, n);
    } else if (v->type == SEL_NUMBER_D) {
        call_double(v->op, slot[v->to], (const double *const[]){a, b}, n);
    } else {
        call_int32_t(v->op, slot[v->to], (const int32_t *const[]){a, b}, n);
    }
}

/* ---- rows ---- */

void sel_row_uniforms(const sel_program *p, const double *fixed, char *rows, size_t row_bytes) {
    for (int k = 0; k < p->layout.uniforms; k++) {
        const int type = (int)p->uniform[k].type;
        sel_row_loops_here()->fill(type, fixed[k], rows + (size_t)k * row_bytes,
                                   (int)(row_bytes / sel_number_size(type)));
    }
}

void sel_row_slots(const sel_program *p, char *uniform, char *own, size_t row_bytes, void **slot) {
    const sel_packed_program *l = &p->layout;
    for (int k = 0; k < l->fixed + l->own; k++) {
        slot[k] = k < l->uniforms ? uniform + (size_t)k * row_bytes
                                  : own + (size_t)(k < l->fixed ? 0 : k - l->fixed) * row_bytes;
    }
}

/* The state of a thread that evaluates a program. */
typedef struct worker {
    const sel_program *p;
    const sel_row_loops *loops;
    void **slot;     /* by slot: its row */
    double *single;  /* by slot: a value that is computed once per block */
    const double *x; /* the coordinates for which functions of x were computed last; NULL: none */
    size_t n;        /* the number of these */
} worker;

static void run_rows(const worker *w, const sel_places *at, size_t first, int from, int count,
                     size_t n) {
    static const double none[BLOCK] = {0};
    const sel_row row = {.n = (int)n,
                         .slot = w->slot,
                         .lookup = w->p->tables.lookup,
                         .place = {at->x ? at->x + first : none, at->y ? at->y + first : none,
                                   at->z ? at->z + first : none}};
    w->loops->run(w->p->tables.code + w->p->layout.once + from, count, &row);
}

static bool same_numbers(const double *a, const double *b, size_t n) {
    return a == b || memcmp(a, b, n * sizeof *a) == 0;
}

static bool all_same(const double *v, size_t first, size_t n) {
    return !v || same_numbers(v + first, v + first + 1, n - 1);
}

static void run_of_x(worker *w, const sel_places *at, size_t first, size_t n) {
    const double *x = at->x ? at->x + first : NULL;
    if (!x || !w->x || n > w->n || !same_numbers(x, w->x, n)) {
        run_rows(w, at, first, 0, w->p->layout.of_x, n);
        w->x = x;
        w->n = n;
    }
}

static void run_of_yz(const worker *w, const sel_places *at, size_t first, size_t n) {
    const sel_packed_program *l = &w->p->layout;
    const sel_instruction *v = w->p->tables.code + l->once + l->of_x;
    if (!all_same(at->y, first, n) || !all_same(at->z, first, n)) {
        run_rows(w, at, first, l->of_x, l->of_yz, n);
        return;
    }
    const double place[3] = {0, at->y ? at->y[first] : 0, at->z ? at->z[first] : 0};
    const sel_packed_slots slots = {w->single, w->single, 0, 1};
    for (int i = 0; i < l->of_yz; i++) {
        sel_packed_step(&w->p->tables, l, l->once + l->of_x + i, place, &slots);
        if (v[i].to < l->fixed + l->per_row) {
            w->loops->fill(sel_op_compares(v[i].op) ? SEL_NUMBER_I : v[i].type, w->single[v[i].to],
                           w->slot[v[i].to], (int)n);
        }
    }
}

/* Evaluates places first <= i < first + n, at most a block. */
static void eval_block(worker *w, const sel_places *at, size_t first, size_t n, double *out,
                       uint8_t *exact) {
    const sel_packed_program *l = &w->p->layout;
    const int before = l->of_x + l->of_yz;
    run_of_x(w, at, first, n);
    run_of_yz(w, at, first, n);
    run_rows(w, at, first, before, l->each - before, n);
    for (int r = 0; r < l->outputs; r++) {
        memcpy(out + (size_t)r * at->n + first, w->slot[w->p->tables.output[r].slot],
               n * sizeof *out);
    }
    const int32_t *fails = l->fails < 0 ? NULL : w->slot[l->fails];
    for (size_t i = 0; i < n; i++) {
        exact[first + i] = !fails || !fails[i];
    }
}

static int threads_for(const sel_program *p, size_t n) {
    size_t operations = n * (size_t)(p->layout.each + p->layout.outputs);
    return operations < MANY || omp_in_parallel() ? 1 : omp_get_max_threads();
}

/* The length of rows with the same x; all places if there are no rows, or too short ones. */
static size_t row_length(const sel_program *p, const sel_places *at) {
    size_t length = 1;
    if (p->layout.of_x + p->layout.of_yz == 0 || !at->x || at->n <= FEW) {
        return at->n;
    }
    while (length < at->n && at->x[length] != at->x[0]) {
        length++;
    }
    return length < SHORTEST_ROW ? at->n : length;
}

/* Evaluates all blocks. A block lies in one row; blocks are numbered column by column. */
static void eval_blocks(worker *w, const sel_places *at, double *out, uint8_t *exact) {
    const size_t row = row_length(w->p, at), rows = (at->n + row - 1) / row;
#pragma omp for schedule(static)
    for (int64_t b = 0; b < (int64_t)(rows * ((row + BLOCK - 1) / BLOCK)); b++) {
        const size_t start = (size_t)b / rows * BLOCK, first = (size_t)b % rows * row + start;
        size_t n = row - start < BLOCK ? row - start : BLOCK;
        if (first < at->n) {
            n = at->n - first < n ? at->n - first : n;
            eval_block(w, at, first, n, out, exact);
        }
    }
}

/* Evaluates many places with threads. The memory holds
 *     rows of the uniform values | rows of each thread's own slots | per thread: slot[], single[]
 */
static sel_status eval_rows(const sel_program *p, const sel_places *at, int threads, double *fixed,
                            double *out, uint8_t *exact, sel_error *error) {
    const sel_packed_program *l = &p->layout;
    const size_t slots = (size_t)(l->fixed + l->own);
    const size_t rows = (size_t)(l->uniforms + threads * l->own) * ROW_BYTES;
    const size_t bytes = rows + (size_t)threads * slots * (sizeof(void *) + sizeof(double));
    char *memory = malloc(bytes);
    if (!memory) {
        return sel_fail_memory(error, "the registers of a function", bytes);
    }
    sel_row_uniforms(p, fixed, memory, ROW_BYTES);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const int thread = omp_get_thread_num();
        void *behind = memory + rows + (size_t)thread * slots * (sizeof(void *) + sizeof(double));
        worker w = {.p = p,
                    .loops = sel_row_loops_here(),
                    .slot = behind,
                    .single = (double *)behind + slots};
        memcpy(w.single, fixed, (size_t)l->fixed * sizeof *fixed);
        sel_row_slots(p, memory, memory + (size_t)(l->uniforms + thread * l->own) * ROW_BYTES,
                      ROW_BYTES, w.slot);
        eval_blocks(&w, at, out, exact);
    }
    free(memory);
    return SEL_OK;
}

sel_status sel_program_eval(const sel_program *program, const sel_places *at,
                            const double *controls, double *out, uint8_t *exact, sel_error *error) {
    const sel_packed_program *l = &program->layout;
    const size_t bytes = (size_t)(l->fixed + l->own + 1) * sizeof(double);
    sel_status status = SEL_OK;
    double *slot = malloc(bytes);
    if (!slot) {
        return sel_fail_memory(error, "the registers of a function", bytes);
    }
    slot[0] = 0;
    sel_packed_once(&program->tables, 0, at->t, 0, controls, slot);
    for (size_t i = 0; i < at->n && at->n <= FEW; i++) {
        const double place[] = {at->x ? at->x[i] : 0, at->y ? at->y[i] : 0, at->z ? at->z[i] : 0};
        double result[SEL_PROGRAM_RESULTS];
        exact[i] = sel_packed_each(&program->tables, 0, place, slot, slot + l->fixed, 1, result);
        for (int r = 0; r < l->outputs; r++) {
            out[(size_t)r * at->n + i] = result[r];
        }
    }
    if (at->n > FEW) {
        status = eval_rows(program, at, threads_for(program, at->n), slot, out, exact, error);
    }
    free(slot);
    return status;
}

#define TEXT(name, operands, value) {#name, operands},
const sel_op_text sel_op_texts[] = {SEL_PROGRAM_OPS(TEXT)};
