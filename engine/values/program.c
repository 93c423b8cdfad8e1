/* program.c -- evaluate programs on the CPU, a block of places at a time.
 *
 * A register holds the values of a block of places; each instruction is one loop over the block,
 * which the compiler vectorises where the operation is plain arithmetic. Registers that are the
 * same at all places are filled once per call. Places in rows, with the same x again and again, are
 * done column by column, so that functions of x alone are computed once for many rows; functions of
 * y and z alone are computed once in a block that has one y and one z. A few places are done one by
 * one, with a single number per register; many are shared among threads. The bits are always the
 * same.
 */
#include "engine/values/program.h"

#include <ctype.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* From MANY operations on, places are shared among threads: a third of a millisecond of sums. */
enum { BLOCK = 128, FEW = 8, MANY = 1 << 20 };

/* Shorter rows are not worth a column of their own. */
enum { SHORTEST_ROW = BLOCK / 2 };

/* The registers of a thread, of `stride` values each, and their state. */
typedef struct worker {
    double *registers;
    size_t stride;
    const double *x; /* of the block for which the registers of x hold; NULL: none */
    size_t n;        /* places of that block */
} worker;

static void run_block(uint64_t word, double *registers, size_t n) {
    double *restrict to = registers + sel_packed_operand(word, 0) * BLOCK;
    const double *first = registers + sel_packed_operand(word, 1) * BLOCK;
    const double *second = registers + sel_packed_operand(word, 2) * BLOCK;
    const double *third = registers + sel_packed_operand(word, 3) * BLOCK;
    switch (sel_packed_op(word)) {
#define LOOP(name, operands, value)                                 \
    case SEL_OP_##name:                                             \
        for (size_t i = 0; i < n; i++) {                            \
            const double a = first[i], b = second[i], c = third[i]; \
            (void)b;                                                \
            (void)c;                                                \
            to[i] = value;                                          \
        }                                                           \
        break;
        SEL_PROGRAM_OPS(LOOP)
#undef LOOP
    default:
        break;
    }
}

/* Those without a value get NaN, which `exact` judges. */
static void run_lookup(const sel_program_call *call, double *to, const double *registers,
                       size_t stride, size_t n) {
    const double *arguments[SEL_LOOKUP_ARGUMENTS];
    double block[BLOCK];
    for (int k = 0; k < call->lookup->arguments; k++) {
        arguments[k] = registers + (size_t)call->arguments[k] * stride;
    }
    sel_lookup_values(call->lookup, n, arguments, block);
    memcpy(to, block, n * sizeof *to);
}

static void run_instructions(const sel_program *p, int first, int count, double *registers,
                             size_t stride, size_t n) {
    for (const uint64_t *word = p->code + first; word < p->code + first + count; word++) {
        const int a = sel_packed_operand(*word, 1);
        double *to = registers + (size_t)sel_packed_operand(*word, 0) * stride;
        if (sel_packed_op(*word) == SEL_OP_LOOKUP) {
            run_lookup(&p->call[a], to, registers, stride, n);
        } else if (stride == 1) {
            *to = sel_program_value(sel_packed_op(*word), registers[a],
                                    registers[sel_packed_operand(*word, 2)],
                                    registers[sel_packed_operand(*word, 3)]);
        } else {
            run_block(*word, registers, n);
        }
    }
}

/* Fills the registers that are the same at all places: one value each, then the whole block. */
static void start_call(const sel_program *p, const sel_places *at, const double *controls,
                       double *registers, size_t stride) {
    double *single = registers; /* packed: below `fixed` registers of one value */
    for (int i = 0; i < p->layout.inputs; i++) {
        single[p->input[i].to] = sel_input_value(&p->input[i], at->t, controls);
    }
    run_instructions(p, 0, p->layout.once, single, 1, 1);
    for (int r = p->layout.fixed - 1; stride > 1 && r >= 0; r--) {
        double value = single[r];
        for (size_t i = 0; i < stride; i++) {
            registers[(size_t)r * stride + i] = value;
        }
    }
}

static void fill_coordinates(const sel_program *p, const sel_places *at, size_t first, size_t n,
                             const worker *w) {
    const double *const coordinates[] = {at->x, at->y, at->z};
    const sel_packed_input *input = p->input + p->layout.inputs;
    for (int i = 0; i < p->layout.coordinates; i++) {
        double *to = w->registers + (size_t)input[i].to * w->stride;
        const double *from = coordinates[input[i].argument];
        for (size_t k = 0; k < n; k++) {
            to[k] = from ? from[first + k] : 0;
        }
    }
}

static bool same_numbers(const double *a, const double *b, size_t n) {
    return a == b || memcmp(a, b, n * sizeof *a) == 0;
}

static bool all_same(const double *v, size_t first, size_t n) {
    return !v || same_numbers(v + first, v + first + 1, n - 1);
}

static void run_of_x(const sel_program *p, const double *x, size_t n, worker *w) {
    if (!x || !w->x || n > w->n || !same_numbers(x, w->x, n)) {
        run_instructions(p, p->layout.once, p->layout.of_x, w->registers, w->stride, n);
        w->x = x;
        w->n = n;
    }
}

static void run_of_yz(const sel_program *p, const sel_places *at, size_t first, size_t n,
                      const worker *w) {
    const sel_packed_program *l = &p->layout;
    const bool one = n > 1 && all_same(at->y, first, n) && all_same(at->z, first, n);
    run_instructions(p, l->once + l->of_x, l->of_yz, w->registers, w->stride, one ? 1 : n);
    for (int r = l->fixed; one && r < l->fixed + l->per_row; r++) {
        double *v = w->registers + (size_t)r * w->stride;
        for (size_t i = 1; i < n; i++) {
            v[i] = v[0];
        }
    }
}

static void store_results(const sel_program *p, size_t places, size_t first, size_t n,
                          const worker *w, double *out, uint8_t *exact) {
    for (int r = 0; r < p->results; r++) {
        memcpy(out + (size_t)r * places + first,
               w->registers + (size_t)p->layout.result[r] * w->stride, n * sizeof *out);
    }
    const double *sure = w->registers + (size_t)p->layout.exact * w->stride;
    for (size_t i = 0; i < n; i++) {
        exact[first + i] = sure[i] != 0;
    }
}

/* Places first <= i < first + n, at most a block. */
static void eval_block(const sel_program *p, const sel_places *at, size_t first, size_t n,
                       worker *w, double *out, uint8_t *exact) {
    const sel_packed_program *l = &p->layout;
    const int before = l->of_x + l->of_yz;
    fill_coordinates(p, at, first, n, w);
    run_of_x(p, at->x ? at->x + first : NULL, n, w);
    run_of_yz(p, at, first, n, w);
    run_instructions(p, l->once + before, l->each - before, w->registers, w->stride, n);
    store_results(p, at->n, first, n, w, out, exact);
}

static int threads_for(const sel_program *p, size_t n) {
    size_t operations = n * (size_t)(p->layout.each + p->results);
    return operations < MANY || omp_in_parallel() ? 1 : omp_get_max_threads();
}

/* The length of rows with the same x; all places when there are no rows, or it would not help. */
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

/* Blocks do not reach from row to row; they are numbered column by column. */
typedef struct blocks {
    size_t row, rows, columns, size;
} blocks;

static blocks cut(const sel_program *p, const sel_places *at, size_t size) {
    const size_t row = row_length(p, at);
    return (blocks){row, row ? (at->n + row - 1) / row : 0, (row + size - 1) / size, size};
}

static void eval_blocks(const sel_program *p, const sel_places *at, const blocks *cut, worker *w,
                        double *out, uint8_t *exact) {
#pragma omp for schedule(static)
    for (int64_t b = 0; b < (int64_t)(cut->rows * cut->columns); b++) {
        const size_t start = (size_t)b / cut->rows * cut->size;
        const size_t first = (size_t)b % cut->rows * cut->row + start;
        size_t n = cut->row - start < cut->size ? cut->row - start : cut->size;
        if (first < at->n) {
            n = at->n - first < n ? at->n - first : n;
            eval_block(p, at, first, n, w, out, exact);
        }
    }
}

sel_status sel_program_eval(const sel_program *program, const sel_places *at,
                            const double *controls, double *out, uint8_t *exact, sel_error *error) {
    const size_t stride = at->n > FEW ? BLOCK : 1;
    const size_t numbers = (size_t)program->registers * stride;
    const int threads = threads_for(program, at->n);
    const blocks parts = cut(program, at, stride);
    double *memory = malloc((size_t)threads * numbers * sizeof *memory);
    if (!memory) {
        return sel_fail_memory(error, "the registers of a function",
                               (size_t)threads * numbers * sizeof *memory);
    }
    start_call(program, at, controls, memory, stride);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        worker w = {.registers = memory + (size_t)omp_get_thread_num() * numbers, .stride = stride};
        if (w.registers != memory) {
            memcpy(w.registers, memory, (size_t)program->layout.fixed * stride * sizeof *memory);
        }
        eval_blocks(program, at, &parts, &w, out, exact);
    }
    free(memory);
    return SEL_OK;
}

/* ---- as text ---- */

#define TEXT(name, operands, value) {#name, operands},
const sel_op_text sel_op_texts[] = {SEL_PROGRAM_OPS(TEXT)};
#undef TEXT

typedef struct printer {
    const sel_program *p;
    const char *const *controls;
    FILE *to;
} printer;

/* An operand: a constant, t or a control by itself, else its register: also of coordinates, whose
 * registers later values reuse. */
static void print_operand(const printer *out, int at) {
    const sel_packed_input *input = out->p->input, *end = input + out->p->layout.inputs;
    while (input < end && input->to != at) {
        input++;
    }
    if (input == end) {
        fprintf(out->to, "r%d", at);
    } else if (input->argument == SEL_NO_ARGUMENT) {
        fprintf(out->to, "%.17g", input->value);
    } else if (input->argument == SEL_ARGUMENT_T) {
        fputs("t", out->to);
    } else {
        fputs(out->controls[input->argument - SEL_ARGUMENT_CONTROL], out->to);
    }
}

static void print_operation(const printer *out, uint64_t word) {
    const int op = sel_packed_op(word);
    for (const char *letter = sel_op_texts[op].name; *letter; letter++) {
        fputc(tolower(*letter), out->to);
    }
    for (int k = 1; k <= sel_op_texts[op].operands; k++) {
        fputc(' ', out->to);
        print_operand(out, sel_packed_operand(word, k));
    }
}

static void print_lookup(const printer *out, const sel_program_call *call) {
    fprintf(out->to, "%s(", call->lookup->name);
    for (int k = 0; k < call->lookup->arguments; k++) {
        fputs(k ? ", " : "", out->to);
        print_operand(out, call->arguments[k]);
    }
    fputc(')', out->to);
}

static void print_part(const printer *out, const uint64_t *code, int count, const char *indent,
                       const char *when) {
    for (int i = 0; i < count; i++) {
        fprintf(out->to, "%s%-5s r%d = ", indent, i ? "" : when, sel_packed_operand(code[i], 0));
        if (sel_packed_op(code[i]) == SEL_OP_LOOKUP) {
            print_lookup(out, &out->p->call[sel_packed_operand(code[i], 1)]);
        } else {
            print_operation(out, code[i]);
        }
        fputc('\n', out->to);
    }
}

void sel_program_print(const sel_program *program, const char *const *control_names,
                       const char *indent, FILE *to) {
    printer out = {program, control_names, to};
    const sel_packed_program *l = &program->layout;
    print_part(&out, program->code, l->once, indent, "once");
    for (int i = l->inputs; i < l->inputs + l->coordinates; i++) {
        const sel_packed_input *input = &program->input[i];
        fprintf(to, "%s      r%d = %c\n", indent, input->to, "xyz"[input->argument]);
    }
    print_part(&out, program->code + l->once, l->each, indent, "each");
    fprintf(to, "%s      return", indent);
    for (int r = 0; r < program->results; r++) {
        fputs(r ? ", " : " ", to);
        print_operand(&out, l->result[r]);
    }
    if (l->has_exact) {
        fputs(" where ", to);
        print_operand(&out, l->exact);
    }
    fputc('\n', to);
}
