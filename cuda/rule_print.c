/* rule_print.c -- the functions of sel.rule as CUDA C, from the instructions that the processor
 * runs, so that types and values are the same.
 *
 * A thread has some cells of a row. What it reads stands in windows, a field's row each; then the
 * instructions follow for each cell, a variable for each value; results are stored together. Odd
 * cells are done one by one, so that they cost the others no registers.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/rule_gpu.h"
#include "lookup_value_text.h"
#include "philox_text.h"
#include "program_eval_text.h"
#include "rule_cell_text.h"
#include "rule_view_text.h"

/* ---- the functions of a model ---- */

int rule_functions(const rule_model *m) {
    return m->rules + m->deriveds + 1;
}

const rule_function *rule_function_at(const rule_model *m, int k) {
    const rule_function *f = k < m->rules                 ? &m->rule[k]
                             : k < m->rules + m->deriveds ? &m->derived[k - m->rules]
                                                          : &m->limit;
    return f->rule ? f : NULL;
}

static int size_of(sel_cell_type type, int precision) {
    return type == SEL_CELL_U8 ? 1 : type == SEL_CELL_I32 || precision == SEL_F32 ? 4 : 8;
}

enum { LOAD = 16 /* bytes */, MOST_OPERATIONS = 2000 /* of a thread */ };

int rule_cells_of_thread(const rule_model *m, int k, int precision) {
    const rule_function *f = rule_function_at(m, k);
    int largest = 1;
    for (int i = 0; i < m->fields; i++) {
        const int size = (f->reads | f->writes) >> i & 1 ? size_of(m->field[i].type, precision) : 1;
        largest = size > largest ? size : largest;
    }
    int cells = LOAD / largest;
    while (cells > 1 && cells * f->code[precision]->count > MOST_OPERATIONS) {
        cells /= 2;
    }
    return cells;
}

int rule_lookups(const rule_model *m, int precision, const sel_lookup **list) {
    const sel_lookup *found[RULE_MOST_SLOTS];
    int count = 0;
    for (int k = 0; k < rule_functions(m); k++) {
        const rule_function *f = rule_function_at(m, k);
        for (int i = 0; f && i < f->code[precision]->count; i++) {
            const sel_lookup *lookup = f->code[precision]->v[i].lookup;
            int n = 0;
            while (n < count && lookup &&
                   (found[n]->kind != lookup->kind || found[n]->data != lookup->data)) {
                n++;
            }
            if (lookup && n == count && count < RULE_MOST_SLOTS) {
                found[count++] = lookup;
            }
        }
    }
    if (list) {
        memcpy(list, found, (size_t)count * sizeof(const sel_lookup *));
    }
    return count;
}

int rule_lookup_number(const rule_model *m, int precision, const sel_lookup *lookup) {
    const sel_lookup *list[RULE_MOST_SLOTS];
    const int count = rule_lookups(m, precision, list);
    int n = 0;
    while (n + 1 < count && (list[n]->kind != lookup->kind || list[n]->data != lookup->data)) {
        n++;
    }
    return n;
}

/* What each node that is the same in all cells varies with; freed by the caller. */
static unsigned *find_varies(const sel_rule *rule) {
    unsigned *varies = calloc((size_t)rule->nodes + 1, sizeof *varies);
    for (int n = 0; n < rule->nodes && varies; n++) {
        const sel_rule_node *node = &rule->node[n];
        varies[n] = node->op == SEL_RULE_DT              ? SEL_ON_DT
                    : node->op != SEL_OP_ARGUMENT        ? 0
                    : node->operand[0] == SEL_ARGUMENT_T ? SEL_ON_T
                                                         : SEL_ON_CONTROLS;
        for (int k = 0; k < sel_rule_operands(node); k++) {
            varies[n] |= varies[node->operand[k]];
        }
    }
    return varies;
}

unsigned rule_uniforms_vary(const rule_function *f, int precision) {
    const rule_code *code = f->code[precision];
    unsigned *varies = find_varies(f->rule), all = 0;
    for (int k = 0; k < code->uniforms && varies; k++) {
        all |= varies[code->uniform[k].node];
    }
    free(varies);
    return all;
}

/* ---- printing ---- */

typedef struct printer {
    FILE *to;
    const rule_model *model;
    const rule_function *f;
    const rule_code *code;
    int precision, function, cells;
    bool numbers;
    unsigned fixed;   /* what does not vary in this run */
    unsigned *varies; /* with what nodes do */
    double *value;    /* of those that do not */
    int *made_by;     /* of each slot: the instruction that filled it last */
    int *window;      /* of each read */
} printer;

static const char *const types[] = {"float", "double", "int32_t"};

static const char *stored_type(const printer *p, int field) {
    const sel_cell_type type = p->model->field[field].type;
    return type == SEL_CELL_U8       ? "uint8_t"
           : type == SEL_CELL_I32    ? "int32_t"
           : p->precision == SEL_F32 ? "float"
                                     : "double";
}

static const char *read_type(const printer *p, int field) {
    return p->model->field[field].type == SEL_CELL_U8 ? "int32_t" : stored_type(p, field);
}

enum { NAME = 16 };

static const char *name_of(const printer *p, int slot, char text[NAME]) {
    const int read = slot - p->code->uniforms;
    if (read < 0) {
        snprintf(text, NAME, "u%d", slot);
    } else if (read < p->code->reads) {
        snprintf(text, NAME, "r%d", read);
    } else {
        snprintf(text, NAME, "a%d", p->made_by[slot]);
    }
    return text;
}

static void print_uniforms(const printer *p) {
    for (int k = 0; k < p->code->uniforms; k++) {
        const rule_uniform *u = &p->code->uniform[k];
        const double value = p->value[u->node];
        fprintf(p->to, "    const %s u%d = (%s)", types[u->type], k, types[u->type]);
        if (p->varies[u->node] & ~p->fixed) {
            fprintf(p->to, "rule_uniform(v, p, %d);\n", k);
        } else if (isfinite(value)) {
            fprintf(p->to, "(%a); // %.17g\n", value, value);
        } else {
            fprintf(p->to, "%s;\n", isnan(value) ? "NAN" : value > 0 ? "HUGE_VAL" : "-HUGE_VAL");
        }
    }
}

/* The rows of fields that are read, each once. */
static void print_windows(printer *p) {
    int windows = 0;
    for (int k = 0; k < p->code->reads; k++) {
        const rule_read *read = &p->code->read[k];
        int left = 0, right = 0, same = -1;
        for (int i = 0; i < p->code->reads; i++) {
            const rule_read *other = &p->code->read[i];
            if (other->field == read->field && other->at[1] == read->at[1] &&
                other->at[2] == read->at[2]) {
                same = same < 0 ? i : same;
                left = -other->at[0] > left ? -other->at[0] : left;
                right = other->at[0] > right ? other->at[0] : right;
            }
        }
        if (same < k) {
            p->window[k] = p->window[same];
            continue;
        }
        p->window[k] = windows;
        const char *type = stored_type(p, read->field);
        fprintf(p->to, "    %s w%d[%d + N];\n", type, windows, left + right);
        fprintf(p->to,
                "    rule_window<%s, %s, N, %d, %d>(v.from[%d], p.at + %d * v.pitch + %d * "
                "v.slice, w%d);\n",
                type, type, left, right, read->field, read->at[1], read->at[2], windows);
        windows++;
    }
}

static void print_reads(const printer *p) {
    for (int k = 0; k < p->code->reads; k++) {
        const rule_read *read = &p->code->read[k];
        int left = 0;
        for (int i = 0; i < p->code->reads; i++) {
            const int before = p->window[i] == p->window[k] ? -p->code->read[i].at[0] : 0;
            left = before > left ? before : left;
        }
        const char *type = read_type(p, read->field);
        const int at = left + read->at[0];
        if (read->at[0] || read->at[1] || read->at[2]) {
            fprintf(
                p->to,
                "        const %s r%d = rule_beside<ODD, %s, %s>(v, p, j, %d, %d + %d * v.pitch "
                "+ %d * v.slice, w%d[j + %d]);\n",
                type, k, type, stored_type(p, read->field), read->field, read->at[0], read->at[1],
                read->at[2], p->window[k], at);
        } else {
            fprintf(p->to, "        const %s r%d = w%d[j + %d];\n", type, k, p->window[k], at);
        }
    }
}

/* Formulas with operands a, b and c: of numbers of all types, of reals, of whole ones. What is in
 * none is computed in doubles. */
#define TEXT(name, operands, value) [SEL_OP_##name] = #value,
static const char *const in_doubles[SEL_OP_COUNT] = {SEL_PROGRAM_OPS(TEXT)};
static const char *const of_all[SEL_OP_COUNT] = {
    [SEL_OP_UNM] = "-a",          [SEL_OP_MIN] = "b < a ? b : a", [SEL_OP_MAX] = "a < b ? b : a",
    [SEL_OP_LT] = "a < b",        [SEL_OP_LE] = "a <= b",         [SEL_OP_EQ] = "a == b",
    [SEL_OP_ADD] = "a + b",       [SEL_OP_SUB] = "a - b",         [SEL_OP_MUL] = "a * b",
    [SEL_OP_SELECT] = "a ? b : c"};
static const char *const of_reals[SEL_OP_COUNT] = {
    [SEL_OP_DIV] = "a / b",           [SEL_OP_SQRT] = "rule_sqrt(a)",
    [SEL_OP_FLOOR] = "rule_floor(a)", [SEL_OP_CEIL] = "rule_ceil(a)",
    [SEL_OP_ABS] = "rule_abs(a)",     [SEL_OP_WHOLE] = "a + 0"};
static const char *const of_wholes[SEL_OP_COUNT] = {
    [SEL_OP_ABS] = "rule_abs(a)",          [SEL_OP_IDIV] = "rule_quotient(a, b)",
    [SEL_OP_MOD] = "rule_remainder(a, b)", [SEL_OP_AND] = "a != 0 && b != 0",
    [SEL_OP_OR] = "a != 0 || b != 0",      [SEL_OP_NOT] = "a == 0"};

/* A formula with its operands in place. */
static void print_formula(const printer *p, const char *formula, const int slot[3],
                          const char *before) {
    const char *c = formula;
    while (*c) {
        size_t word = 0;
        while (isalnum((unsigned char)c[word]) || c[word] == '_') {
            word++;
        }
        char name[NAME];
        if (word == 1 && *c >= 'a' && *c <= 'c') {
            fprintf(p->to, "%s%s", before, name_of(p, slot[*c - 'a'], name));
        } else {
            fwrite(c, 1, word ? word : 1, p->to);
        }
        c += word ? word : 1;
    }
}

static void print_chain(const printer *p, int i) {
    const rule_instruction *v = &p->code->v[i];
    char name[NAME], last[NAME], text[3 * NAME];
    name_of(p, v->link[0].slot, last);
    for (int k = 1; k < v->operands; k++) {
        const rule_link *l = &v->link[k];
        const bool under = l->op == RULE_FROM || l->op == RULE_UNDER;
        name_of(p, l->slot, name);
        snprintf(text, sizeof text, "%s %c %s", under ? name : last, "+-*/-/"[l->op],
                 under ? last : name);
        if (k + 1 < v->operands) {
            fprintf(p->to, "        const %s b%d_%d = %s;\n", types[v->type], i, k, text);
            snprintf(last, NAME, "b%d_%d", i, k);
        }
    }
    fprintf(p->to, "        const %s a%d = %s;\n", types[v->type], i, text);
}

static void print_value(const printer *p, const rule_instruction *v) {
    const int slot[3] = {v->from[0], v->from[1], v->from[2]};
    char a[NAME], b[NAME], c[NAME], d[NAME];
    if (v->op == SEL_OP_ARGUMENT) {
        fprintf(p->to, "rule_place(v, p, j, %d)", v->number);
    } else if (v->op == RULE_CONVERT) {
        fprintf(p->to, "%s", name_of(p, v->from[0], a));
    } else if (v->op == RULE_SHIFT || v->op == RULE_MASK) {
        fprintf(p->to, "(%s %s %d)", name_of(p, v->from[0], a), v->op == RULE_SHIFT ? ">>" : "&",
                v->number);
    } else if (v->op == SEL_RULE_RANDOM) {
        fprintf(p->to, "rule_random(v, p, j, %s)", name_of(p, v->from[0], a));
    } else if (v->op == SEL_OP_LOOKUP) {
        fprintf(p->to, "rule_look_up(v, %d, %s, %s, %s, %s)",
                rule_lookup_number(p->model, p->precision, v->lookup), name_of(p, v->from[0], a),
                name_of(p, v->from[1], b), name_of(p, v->from[2], c), name_of(p, v->from[3], d));
    } else if (v->op >= SEL_RULE_BAND) {
        fprintf(p->to, "rule_bits(%d, (double)%s, (double)%s)", v->op - SEL_RULE_BAND,
                name_of(p, v->from[0], a), name_of(p, v->from[1], b));
    } else {
        const char *own = v->type == RULE_I ? of_wholes[v->op] : of_reals[v->op];
        own = own ? own : of_all[v->op];
        fputc('(', p->to);
        print_formula(p, own ? own : in_doubles[v->op], slot, own ? "" : "(double)");
        fputc(')', p->to);
    }
}

static bool is_comparison(int op) {
    return op == SEL_OP_LT || op == SEL_OP_LE || op == SEL_OP_EQ;
}

static void print_instructions(const printer *p) {
    for (int i = 0; i < p->code->count; i++) {
        const rule_instruction *v = &p->code->v[i];
        const char *type = is_comparison(v->op) ? types[RULE_I] : types[v->type];
        if (v->op == RULE_CHAIN) {
            print_chain(p, i);
        } else {
            fprintf(p->to, "        const %s a%d = (%s)", type, i, type);
            print_value(p, v);
            fputs(";\n", p->to);
        }
        p->made_by[v->to] = i;
    }
}

static void print_stores(const printer *p) {
    const bool fails = p->code->fails >= 0 && !p->numbers;
    if (fails) {
        fprintf(p->to, "    rule_failed<ODD, N>(v, p, fails);\n");
    }
    for (int o = 0; o < p->code->outputs; o++) {
        const rule_store *out = &p->code->output[o];
        if (p->numbers) {
            fprintf(p->to, "    rule_store_numbers<N>(v, p, %d, o%d);\n", out->field, o);
        } else {
            fprintf(p->to, "    rule_store<ODD, %s, %s, %s, N>(v, p, %d, %d, o%d);\n",
                    out->checked ? "true" : "false", types[out->type], stored_type(p, out->field),
                    o, out->field, o);
        }
    }
}

static void print_function(printer *p) {
    const rule_code *code = p->code;
    const bool fails = code->fails >= 0 && !p->numbers;
    char name[NAME];
    fprintf(p->to,
            "\n// %s: %d operations on %d numbers\n"
            "template <bool ODD, int N>\n"
            "RULE_CALL void cells_%d(const rule_view &v, const rule_at &p) {\n",
            p->f->name, code->count, code->reads, p->function);
    print_uniforms(p);
    print_windows(p);
    for (int o = 0; o < code->outputs; o++) {
        fprintf(p->to, "    %s o%d[N];\n", types[code->output[o].type], o);
    }
    fputs(fails ? "    int32_t fails[N];\n" : "", p->to);
    fputs("#pragma unroll\n    for (int j = 0; j < N; j++) {\n", p->to);
    print_reads(p);
    print_instructions(p);
    for (int o = 0; o < code->outputs; o++) {
        fprintf(p->to, "        o%d[j] = %s;\n", o, name_of(p, code->output[o].slot, name));
    }
    if (fails) {
        fprintf(p->to, "        fails[j] = %s;\n", name_of(p, code->fails, name));
    }
    fputs("    }\n", p->to);
    print_stores(p);
    fprintf(p->to,
            "}\n\nextern \"C\" __global__ void __launch_bounds__(%d) function_%d(\n"
            "    const __grid_constant__ rule_view v) {\n    rule_at p;\n"
            "    if (rule_begin<%d>(v, p) && !p.odd) {\n"
            "        cells_%d<false, %d>(v, p);\n"
            "        return;\n    }\n"
            "#pragma unroll 1\n"
            "    for (int j = 0; j < %d && rule_has_more(v, p); j++, rule_move_on(p)) {\n"
            "        cells_%d<true, 1>(v, p);\n    }\n}\n",
            RULE_LANES * RULE_LANE_ROWS, p->function, p->cells, p->function, p->cells, p->cells,
            p->function);
}

void rule_print(const rule_model *m, int precision, double dt, FILE *to) {
    fputs("#include \"cuda/rule_cell.cuh\"\n", to);
    for (int k = 0; k < rule_functions(m); k++) {
        const rule_function *f = rule_function_at(m, k);
        if (!f) {
            continue;
        }
        const rule_code *code = f->code[precision];
        printer p = {.to = to,
                     .model = m,
                     .f = f,
                     .code = code,
                     .precision = precision,
                     .function = k,
                     .cells = rule_cells_of_thread(m, k, precision),
                     .numbers = k >= m->rules,
                     .fixed = m->limit.source ? 0 : SEL_ON_DT,
                     .varies = find_varies(f->rule),
                     .value = calloc((size_t)f->rule->nodes + 1, sizeof(double)),
                     .made_by = calloc((size_t)code->slots + 1, sizeof(int)),
                     .window = calloc((size_t)code->reads + 1, sizeof(int))};
        double *none = calloc((size_t)m->params->common.controls.n + 1, sizeof *none);
        if (p.varies && p.value && p.made_by && p.window && none) {
            rule_uniforms(code, f->rule, 0, dt, none, p.value);
            print_function(&p);
        }
        free(none), free(p.varies), free(p.value), free(p.made_by), free(p.window);
    }
}

/* ---- headers ---- */

/* The standard's headers, as far as the others need them. */
static const char stdint_text[] =
    "typedef signed char int8_t; typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"
    "typedef int int32_t; typedef unsigned uint32_t; typedef long long int64_t;\n"
    "typedef unsigned long long uint64_t;\n"
    "#define INT64_MAX 0x7fffffffffffffffll\n#define INT32_MAX 0x7fffffff\n";
static const char math_text[] = "#define NAN __longlong_as_double(0x7ff8000000000000ll)\n"
                                "#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)\n";

#define CONTENT(name) (const char *)name##_text
const char *const rule_header_names[] = {"cuda/rule_cell.cuh",
                                         "cuda/rule_view.h",
                                         "engine/physics/philox.h",
                                         "engine/values/program_eval.h",
                                         "engine/values/lookup_value.h",
                                         "stdint.h",
                                         "math.h",
                                         "stdbool.h",
                                         "string.h",
                                         NULL};
const char *const rule_headers[] = {CONTENT(rule_cell),
                                    CONTENT(rule_view),
                                    CONTENT(philox),
                                    CONTENT(program_eval),
                                    CONTENT(lookup_value),
                                    stdint_text,
                                    math_text,
                                    "",
                                    "",
                                    NULL};
