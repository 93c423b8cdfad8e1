/* native.c -- machine code for programs: printing C, compiling, checking, calling.
 *
 * The instructions of a program are divided into parts. A run of instructions that can be printed
 * (sel_print_has) becomes one C function; the others (mathematical functions, lookups, random
 * numbers) are done by the loops of program_kernel.c. Values pass between parts in the slots of the
 * row:
 *
 *     instructions:  ADD MUL SELECT | SIN   | SUB MAX LT AND
 *     done by:       f0_0()         | loops | f0_2()
 */
#include "engine/values/program_row.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/code_cache.h"
#include "engine/values/program_print.h"

typedef void rows_function(int n, void *const *slot, void *const *to);

/* Instructions first <= k < first + count of a program. */
typedef struct part {
    int first, count;
    bool printed;        /* as a C function; else the loops do them */
    rows_function *rows; /* the compiled function; NULL: not printed */
} part;

typedef struct parts {
    const sel_program *program;
    part *v;
    int count;
} parts;

struct sel_native {
    parts *of; /* by program */
    int programs;
    char *text;
    size_t text_length;
    enum { UNASKED, TRANSLATING, READY, NEVER } state; /* TRANSLATING: the compiler runs */
    sel_cc_job job;
    int waits;  /* calls that waited for another process */
    int folder; /* descriptor of the code cache; -1: none */
    int file;   /* descriptor of the loaded file; -1: none */
    char path[SEL_PATH_ROOM], compiler[SEL_PATH_ROOM], name[SEL_CODE_NAME];
    void *library;
};

/* As in the Makefile, no contraction and no reordering. Sums of integers wrap; a slot holds numbers
 * of different types at different times; the text includes no headers. */
static const char *const options[] = {"-x",
                                      "c",
                                      "-std=gnu11",
                                      "-O3",
                                      "-ffp-contract=off",
                                      "-fPIC",
                                      "-w",
                                      "-shared",
                                      "-fwrapv",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-strict-aliasing",
                                      "-nostdinc"};
enum { OPTIONS = sizeof options / sizeof *options, MOST_WAITS = 10000 };

/* Definitions of the types and functions that printed instructions use. */
static const char prelude[] = "typedef __INT32_TYPE__ int32_t;\n"
                              "typedef __UINT8_TYPE__ uint8_t;\n"
                              "#define sqrt __builtin_sqrt\n"
                              "#define sqrtf __builtin_sqrtf\n"
                              "#define floor __builtin_floor\n"
                              "#define floorf __builtin_floorf\n"
                              "#define ceil __builtin_ceil\n"
                              "#define ceilf __builtin_ceilf\n"
                              "#define fabs __builtin_fabs\n"
                              "#define fabsf __builtin_fabsf\n"
                              "#if defined(__clang__)\n"
                              "#define EACH _Pragma(\"clang loop vectorize(assume_safety)\")\n"
                              "#else\n"
                              "#define EACH _Pragma(\"GCC ivdep\")\n"
                              "#endif\n";

/* Compiling pays from this number of operations on: the loops take some tenths of a second for
 * them, as the compiler does. */
static const double PAYS = 4e9;

/* ---- printing ---- */

static bool reads_slot(const sel_instruction *v, int slot) {
    bool is = false;
    for (int j = 0; j < v->operands; j++) {
        is = is || v->from[j] == slot;
    }
    return is;
}

/* Whether the value of instruction i is needed after its part, which ends before instruction
 * `end`. */
static bool leaves(const sel_program *p, int i, int end) {
    const sel_instruction *code = p->tables.code;
    const int slot = code[i].to;
    bool is = p->layout.fails == slot;
    for (int o = 0; o < p->layout.outputs; o++) {
        is = is || p->tables.output[o].slot == slot;
    }
    for (int k = p->layout.once + p->layout.each - 1; k > i; k--) {
        is = code[k].to == slot ? false : is;
        is = is || (k >= end && reads_slot(&code[k], slot));
    }
    return is;
}

static sel_number operand_type(const sel_instruction *v, int j) {
    return v->op == SEL_OP_CONVERT            ? (sel_number)v->number
           : v->op == SEL_OP_SELECT && j == 0 ? SEL_NUMBER_I
                                              : (sel_number)v->type;
}

/* The first instruction of a part that reads the value that `slot` has before the part; -1: none.
 */
static int reader_of(const sel_instruction *code, const part *t, int slot, int *operand) {
    for (int i = t->first; i < t->first + t->count; i++) {
        for (int j = 0; j < code[i].operands; j++) {
            if (code[i].from[j] == slot) {
                *operand = j;
                return i;
            }
        }
        if (code[i].to == slot) {
            return -1;
        }
    }
    return -1;
}

/* Prints the variables of the slots that a part reads: before the loop, pointers to rows; inside
 * it, the numbers of place k. */
static void native_print_reads(const sel_printer *p, const part *t, bool inside) {
    const sel_packed_program *l = &p->program->layout;
    const sel_instruction *code = p->program->tables.code;
    for (int slot = l->fixed; slot < l->fixed + l->own; slot++) {
        char name[SEL_PRINT_NAME];
        int j = 0;
        const int i = reader_of(code, t, slot, &j);
        if (i >= 0) {
            const char *type = sel_print_type(p, operand_type(&code[i], j));
            if (inside) {
                sel_print_name(p, slot, name);
                fprintf(p->to, "        const %s %s = s%d[k];\n", type, name, slot);
            } else {
                fprintf(p->to, "    const %s *const s%d = slot[%d];\n", type, slot, slot);
            }
        }
    }
}

static void native_print_writes(const sel_printer *p, const part *t, bool inside) {
    for (int i = t->first; i < t->first + t->count; i++) {
        const sel_instruction *v = &p->program->tables.code[i];
        const char *type = sel_print_type(p, sel_result_type(v));
        if (!leaves(p->program, i, t->first + t->count)) {
            continue;
        }
        if (inside) {
            fprintf(p->to, "        o%d[k] = a%d;\n", i, i);
        } else if (v->placed) {
            fprintf(p->to, "    %s *const o%d = to[%d] ? to[%d] : slot[%d];\n", type, i,
                    v->placed - 1, v->placed - 1, v->to);
        } else {
            fprintf(p->to, "    %s *const o%d = slot[%d];\n", type, i, v->to);
        }
    }
}

static void native_print_part(sel_printer *p, const part *t, int program, int number) {
    fprintf(p->to, "\nvoid f%d_%d(int n, void *const *slot, void *const *to) {\n", program, number);
    sel_print_uniforms(p);
    native_print_reads(p, t, false);
    native_print_writes(p, t, false);
    fputs("    EACH for (int k = 0; k < n; k++) {\n", p->to);
    native_print_reads(p, t, true);
    sel_print_instructions(p, t->first, t->count);
    native_print_writes(p, t, true);
    fputs("    }\n}\n", p->to);
}

/* Whether instruction i writes numbers of another size to a slot than the part reads from it: in
 * one loop, the writes would overwrite numbers not yet read. */
static bool native_overlaps(const sel_instruction *code, const part *t, int i) {
    int j = 0;
    const int reader = reader_of(code, t, code[i].to, &j);
    return reader >= 0 && sel_number_size((int)operand_type(&code[reader], j)) !=
                              sel_number_size((int)sel_result_type(&code[i]));
}

/* Divides a program into parts and prints their functions. False: no memory. */
static bool native_print_program(sel_native *native, int number, FILE *to) {
    parts *all = &native->of[number];
    const sel_program *program = all->program;
    const sel_packed_program *l = &program->layout;
    const sel_instruction *code = program->tables.code;
    sel_printer p = {.rows = true, .bytes = program->bytes};
    all->v = calloc((size_t)l->each + 1, sizeof *all->v);
    const bool enough = sel_printer_open(&p, program, 0, to) && all->v;
    for (int i = l->once; i < l->once + l->each && enough; i++) {
        const bool has = sel_print_has(&code[i]);
        part *last = all->count ? &all->v[all->count - 1] : NULL;
        if (!last || last->printed != has || (has && native_overlaps(code, last, i))) {
            last = &all->v[all->count++];
            *last = (part){.first = i, .printed = has};
        }
        last->count++;
    }
    for (int k = 0; k < all->count; k++) {
        const part *t = &all->v[k];
        if (t->printed) {
            native_print_part(&p, t, number, k);
        }
        for (int i = t->first; i < t->first + t->count; i++) {
            p.made_by[code[i].to] = i;
        }
    }
    sel_printer_close(&p);
    return enough;
}

/* Prints all programs into native->text. False: no memory. */
static bool native_print_all(sel_native *native) {
    FILE *to = open_memstream(&native->text, &native->text_length);
    bool enough = to != NULL;
    if (enough) {
        fputs(prelude, to);
        sel_print_macros(to);
    }
    for (int k = 0; k < native->programs && enough; k++) {
        enough = !native->of[k].program || native_print_program(native, k, to);
    }
    return !(to && (ferror(to) || fclose(to))) && enough;
}

sel_native *sel_native_create(int count) {
    sel_native *native = calloc(1, sizeof *native);
    parts *of = calloc((size_t)count + 1, sizeof *of);
    if (!native || !of) {
        free(native);
        free(of);
        return NULL;
    }
    native->of = of;
    native->programs = count;
    native->folder = native->file = -1;
    return native;
}

void sel_native_add(sel_native *native, int number, const sel_program *program) {
    native->of[number].program = program;
}

/* ---- compiling and checking ---- */

/* The option -march=x86-64-v3, for the level of the loops; "" on processors without levels. */
static void native_march(char text[48]) {
    snprintf(text, 48, "-march=%.32s", sel_level_name());
    if (strncmp(text, "-march=x86", 10) != 0) {
        text[0] = '\0';
    }
}

/* Fills the row of a slot with test numbers, of the type that the program first reads there;
 * integers are uint8_t if `as_bytes`. */
static void native_fill_slot(const sel_program *program, int slot, bool as_bytes, int n,
                             void *row) {
    const sel_packed_program *l = &program->layout;
    const sel_instruction *code = program->tables.code;
    sel_number type = SEL_NUMBER_D;
    for (int i = l->once, j = 0, found = 0; i < l->once + l->each && !found; i++) {
        for (j = 0; j < code[i].operands && code[i].from[j] != slot; j++) {
        }
        found = j < code[i].operands || code[i].to == slot;
        type = j < code[i].operands ? operand_type(&code[i], j) : type;
    }
    for (int k = 0; k < n; k++) {
        const int mixed = (k * 37 + slot * 11) % 64;
        switch (type) {
        case SEL_NUMBER_F:
            ((float *)row)[k] = (float)mixed / 16 - 1.5F;
            break;
        case SEL_NUMBER_D:
            ((double *)row)[k] = mixed / 16.0 - 1.5;
            break;
        default:
            if (as_bytes) {
                ((uint8_t *)row)[k] = (uint8_t)(mixed * 4);
            } else {
                ((int32_t *)row)[k] = program->bytes ? mixed * 4 : mixed % 13 - 2;
            }
        }
    }
}

/* Whether two rows have the same bits, except that all NaN are equal. `as_bytes`: row b is
 * uint8_t. */
static bool native_same(sel_number type, const void *a, const void *b, bool as_bytes, int n) {
    bool same = true;
    for (int k = 0; k < n; k++) {
        if (type == SEL_NUMBER_F) {
            const float *x = a, *y = b;
            same = same && (memcmp(&x[k], &y[k], sizeof *x) == 0 || (isnan(x[k]) && isnan(y[k])));
        } else if (type == SEL_NUMBER_D) {
            const double *x = a, *y = b;
            same = same && (memcmp(&x[k], &y[k], sizeof *x) == 0 || (isnan(x[k]) && isnan(y[k])));
        } else {
            const int32_t *x = a, *y = b;
            same = same && x[k] == (as_bytes ? ((const uint8_t *)b)[k] : y[k]);
        }
    }
    return same;
}

/* Runs a program by the loops and by machine code on a row of test numbers; returns whether the
 * results agree. */
static bool native_agrees(const sel_native *native, int number) {
    enum { N = 64, ROOM = 2 * SEL_ROW * sizeof(double) + 64, MOST_CONTROLS = 1024 };
    const sel_program *program = native->of[number].program;
    const sel_packed_program *l = &program->layout;
    const size_t slots = (size_t)(l->fixed + l->own) + 1, outputs = (size_t)l->outputs + 1;
    char *rows = aligned_alloc(64, 3 * slots * ROOM);
    double *uniform = calloc(slots + MOST_CONTROLS, sizeof *uniform);
    void **slot = calloc(2 * slots + outputs, sizeof *slot), **none = slot + 2 * slots;
    bool agrees = rows && uniform && slot;
    if (agrees) {
        memset(rows, 0, 3 * slots * ROOM);
        sel_packed_once(&program->tables, 0, 0.75, 0.5, uniform + slots, uniform);
        sel_row_uniforms(program, uniform, rows, ROOM);
        for (int side = 0; side < 2; side++) {
            void **own = slot + (size_t)side * slots;
            sel_row_slots(program, rows, rows + (size_t)(1 + side) * slots * ROOM, ROOM, own);
            for (int k = l->fixed; k < l->fixed + l->own; k++) {
                native_fill_slot(program, k, side && program->bytes, N, own[k]);
            }
            const sel_row row = {.n = N,
                                 .slot = own,
                                 .lookup = program->tables.lookup,
                                 .origin = (const double[]){0, 0, 0},
                                 .dx = (const double[]){1, 1, 1},
                                 .to = none};
            if (side) {
                sel_native_run(native, number, &row);
            } else {
                sel_row_loops_here()->run(program->tables.code + l->once, l->each, &row);
            }
        }
        for (int o = 0; o < l->outputs && agrees; o++) {
            const sel_program_output *output = &program->tables.output[o];
            agrees = native_same((sel_number)output->type, slot[output->slot],
                                 slot[slots + (size_t)output->slot], program->bytes, N);
        }
    }
    free(rows);
    free(uniform);
    free(slot);
    return agrees;
}

/* Loads the cached file and checks its values. The file is loaded through the descriptor on which
 * its owner was checked. The descriptor stays open, since dlopen would take a later file with the
 * same /proc/self/fd/N for the same library. */
static bool native_load(sel_native *native) {
    void *code;
    size_t bytes;
    char path[48];
    native->file = sel_code_cache_read(native->folder, native->name, &code, &bytes);
    free(code);
    snprintf(path, sizeof path, "/proc/self/fd/%d", native->file);
    native->library = native->file >= 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    bool all = native->library != NULL;
    for (int k = 0; k < native->programs && all; k++) {
        for (int i = 0; i < native->of[k].count && all; i++) {
            part *t = &native->of[k].v[i];
            char name[48];
            snprintf(name, sizeof name, "f%d_%d", k, i);
            if (t->printed) {
                *(void **)&t->rows = dlsym(native->library, name);
                all = t->rows != NULL;
            }
        }
        all = all && (!native->of[k].program || native_agrees(native, k));
    }
    return all;
}

/* Sets the name of the cached file by all that determines the code: text, options, level, compiler.
 * False: there is no compiler or no cache. */
static bool native_name(sel_native *native, const char *wanted, const char *level) {
    const char *key[OPTIONS + 3] = {native->text, level};
    char identity[SEL_CC_IDENTITY];
    memcpy(key + 2, options, sizeof options);
    key[OPTIONS + 2] = identity;
    native->folder = sel_cc_find(wanted && *wanted ? wanted : "cc", native->compiler, identity)
                         ? sel_code_cache_open(NULL, native->path)
                         : -1;
    sel_code_cache_name(key, OPTIONS + 3, "so", native->name);
    return native->folder >= 0;
}

static bool native_start(sel_native *native, const char *level) {
    const char *all[OPTIONS + 2] = {NULL};
    memcpy(all, options, sizeof options);
    all[OPTIONS] = *level ? level : NULL;
    return sel_cc_start(native->compiler, all, native->text, native->text_length, native->folder,
                        native->path, &native->job);
}

/* Loads the code from the cache; else starts the compiler, if that pays. */
static void native_find_or_make(sel_native *native, const char *wanted, bool pays, bool leads) {
    char level[48];
    native_march(level);
    if (!native->text && !(wanted && strcmp(wanted, "0") == 0) && native_print_all(native)) {
        native_name(native, wanted, level);
    }
    native->state = NEVER;
    if (native->folder < 0) {
        return;
    }
    if (native_load(native)) {
        native->state = READY;
    } else if (native->library) { /* its values differ from those of the loops */
        return;
    } else if (!pays || (!leads && native->waits++ < MOST_WAITS)) {
        native->state = UNASKED;
    } else if (native_start(native, level)) {
        native->state = TRANSLATING;
    }
}

/* Puts the compiled library into the cache, and loads it from there as any other process does. */
static bool native_take(sel_native *native, const void *code, size_t bytes) {
    return sel_code_cache_write(native->folder, native->name, code, bytes) && native_load(native);
}

bool sel_native_ready(sel_native *native, double done, bool leads) {
    const char *wanted = getenv("SELENITE_CC");
    const bool pays = done > PAYS || (wanted && *wanted);
    if (native && native->state == UNASKED && (pays || !native->text)) {
        native_find_or_make(native, wanted, pays, leads);
    }
    if (native && native->state == TRANSLATING) {
        void *code;
        size_t bytes = 0;
        const sel_cc_end end = sel_cc_poll(&native->job, wanted && *wanted, &code, &bytes);
        if (end != SEL_CC_RUNS) {
            native->state = code && native_take(native, code, bytes) ? READY : NEVER;
        }
        free(code);
    }
    return native && native->state == READY;
}

void sel_native_destroy(sel_native *native) {
    if (!native) {
        return;
    }
    if (native->state == TRANSLATING) {
        sel_cc_stop(&native->job);
    }
    if (native->library) {
        dlclose(native->library);
    }
    if (native->file >= 0) {
        close(native->file);
    }
    if (native->folder >= 0) {
        close(native->folder);
    }
    for (int k = 0; k < native->programs; k++) {
        free(native->of[k].v);
    }
    free(native->of);
    free(native->text);
    free(native);
}

/* ---- running ---- */

bool sel_native_has_all(const sel_native *native, int program) {
    const parts *all = &native->of[program];
    return all->count == 1 && all->v->printed;
}

void sel_native_run(const sel_native *native, int program, const sel_row *row) {
    const parts *all = &native->of[program];
    for (const part *t = all->v; t < all->v + all->count; t++) {
        if (t->rows) {
            t->rows(row->n, row->slot, row->to);
        } else {
            sel_row_loops_here()->run(all->program->tables.code + t->first, t->count, row);
        }
    }
}
