/* program_print.c -- prints the instructions of programs as C for devices and the processor, and as
 * text for readers. */
#include "engine/values/program_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const number_names[] = {"float", "double", "int32_t"};

const char *sel_print_type(const sel_printer *p, sel_number type) {
    return p->bytes ? "uint8_t" : number_names[type];
}

sel_number sel_result_type(const sel_instruction *v) {
    return sel_op_compares(v->op) ? SEL_NUMBER_I : (sel_number)v->type;
}

bool sel_printer_open(sel_printer *p, const sel_program *program, double dt, FILE *to) {
    const sel_packed_program *l = &program->layout;
    int controls = 0;
    for (int k = 0; k < l->inputs; k++) {
        const int control = program->tables.input[k].argument - SEL_ARGUMENT_CONTROL;
        controls = control >= controls ? control + 1 : controls;
    }
    double *none = calloc((size_t)controls + 1, sizeof *none);
    p->to = to;
    p->program = program;
    p->value = calloc((size_t)l->fixed + 1, sizeof *p->value);
    p->made_by = calloc((size_t)(l->fixed + l->own) + 1, sizeof *p->made_by);
    p->product = calloc((size_t)(l->once + l->each) + 1, sizeof *p->product);
    const bool enough = none && p->value && p->made_by && p->product;
    if (enough) {
        sel_packed_once(&program->tables, 0, 0, dt, none, p->value);
    }
    free(none);
    return enough;
}

void sel_printer_close(sel_printer *p) {
    free(p->value);
    free(p->made_by);
    free(p->product);
}

const char *sel_print_name(const sel_printer *p, int slot, char text[SEL_PRINT_NAME]) {
    const sel_packed_program *l = &p->program->layout;
    const sel_packed_input *input = p->program->tables.input, *end = input + l->inputs;
    const int read = slot - l->fixed;
    while (p->controls && input < end && input->to != slot) {
        input++;
    }
    if (p->controls && input < end && input->argument == SEL_NO_ARGUMENT) {
        snprintf(text, SEL_PRINT_NAME, "%.17g", input->value);
    } else if (p->controls && input < end) {
        snprintf(text, SEL_PRINT_NAME, "%.40s",
                 input->argument == SEL_ARGUMENT_T
                     ? "t"
                     : p->controls[input->argument - SEL_ARGUMENT_CONTROL]);
    } else if (read < 0) {
        snprintf(text, SEL_PRINT_NAME, "u%d", slot);
    } else if (read < l->reads) {
        snprintf(text, SEL_PRINT_NAME, "r%d", read);
    } else {
        snprintf(text, SEL_PRINT_NAME, "a%d", p->made_by[slot]);
    }
    return text;
}

void sel_print_number(double value, FILE *to) {
    if (isfinite(value)) {
        fprintf(to, "%a", value);
    } else {
        fputs(isnan(value) ? "NAN" : value > 0 ? "HUGE_VAL" : "-HUGE_VAL", to);
    }
}

void sel_print_uniforms(const sel_printer *p) {
    for (int k = 0; k < p->program->layout.uniforms; k++) {
        const sel_uniform *u = &p->program->uniform[k];
        const char *type = sel_print_type(p, u->type);
        fprintf(p->to, "    const %s u%d = ", type, k);
        if (p->rows) {
            fprintf(p->to, "*(const %s *)slot[%d];\n", number_names[u->type], k);
            continue;
        }
        fprintf(p->to, "(%s)", type);
        if (u->depends & ~p->constant) {
            fprintf(p->to, "UNIFORM(%d);\n", k);
        } else {
            fputc('(', p->to);
            sel_print_number(p->value[k], p->to);
            fprintf(p->to, "); // %.17g\n", p->value[k]);
        }
    }
}

/* Prints a sum or product; with `fuses`, a sum of a product as fma. */
static void print_sum(sel_printer *p, int i, const sel_instruction *v) {
    const sel_print_product *product = NULL;
    char name[2][SEL_PRINT_NAME];
    int side = v->linked == 2; /* looks for a product in the linked operand first */
    for (int k = 0; k < 2; k++) {
        const int slot = v->from[side ^ k];
        const bool made = slot >= p->program->layout.fixed + p->program->layout.reads;
        sel_print_name(p, v->from[k], name[k]);
        if (!product && made && *p->product[p->made_by[slot]].of[0]) {
            product = &p->product[p->made_by[slot]];
            side ^= k; /* the operand that is the product */
        }
    }
    const bool adds = v->op == SEL_OP_ADD || v->op == SEL_OP_SUB, less = v->op == SEL_OP_SUB;
    if (adds && p->fuses && product) {
        fprintf(p->to, "fma(%s%s, %s, %s%s)", less && side ? "-" : "", product->of[0],
                product->of[1], less && !side ? "-" : "", name[1 - side]);
    } else {
        fprintf(p->to, "%s %c %s", name[0], "+-*/"[v->op], name[1]);
    }
    if (v->op == SEL_OP_MUL && v->type != SEL_NUMBER_I) {
        memcpy(&p->product[i], name, sizeof name);
    }
}

/* Orders terms by row, then by column. */
static int by_row(const void *a, const void *b) {
    const int *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* Prints a chain of integer additions from instruction i on, with the terms read from one row of
 * cells in parentheses: a thread that also computes the rows above and below reuses their sum.
 * Returns the number of instructions printed; 0: there is no such chain. */
static int print_sum_of_rows(const sel_printer *p, int i, int end) {
    enum { MOST = 64, NEITHER = INT32_MIN };
    const sel_packed_program *l = &p->program->layout;
    const sel_instruction *v = p->program->tables.code;
    int term[MOST][3]; /* row, column, slot */
    int count = 0, last = i;
    while (last < end && count < MOST && v[last].op == SEL_OP_ADD && v[last].type == SEL_NUMBER_I &&
           (last == i || v[last].linked)) {
        for (int k = last > i; k < 2; k++) {
            const int slot = k ? v[last].from[v[last].linked != 2] : v[i].from[0],
                      read = slot - l->fixed;
            const sel_read *r =
                read >= 0 && read < l->reads ? &p->program->tables.read[read] : NULL;
            term[count][0] = r ? (r->field * 8 + r->at[2]) * 8 + r->at[1] : NEITHER;
            term[count][1] = r ? r->at[0] : count;
            term[count++][2] = slot;
        }
        last++;
    }
    if (count < 3 || (last < end && v[last].linked)) {
        return 0;
    }
    qsort(term, (size_t)count, sizeof *term, by_row);
    fprintf(p->to, "        const int32_t a%d = ", last - 1);
    for (int k = 0; k < count; k++) {
        const int row = term[k][0];
        const bool begins = k == 0 || row != term[k - 1][0] || row == NEITHER;
        const bool ends = k + 1 == count || row != term[k + 1][0] || row == NEITHER;
        char name[SEL_PRINT_NAME];
        fprintf(p->to, "%s%s%s%s", k ? " + " : "", begins && !ends ? "(" : "",
                sel_print_name(p, term[k][2], name), ends && !begins ? ")" : "");
    }
    fputs(";\n", p->to);
    p->made_by[v[last - 1].to] = last - 1;
    return last - i;
}

/* Prints the value of an instruction that is no sum or product. */
static void print_value(const sel_printer *p, const sel_instruction *v) {
#define HAS(name, value) [SEL_OP_##name] = true,
    static const bool of_wholes[SEL_OP_COUNT] = {SEL_OPS_OF_NUMBERS(HAS) SEL_OPS_OF_COMPARISON(HAS)
                                                     SEL_OPS_OF_WHOLES(HAS)};
#undef HAS
    const char *begin = "", *between = ", ", *as = "";
    char end[48] = ")", called[24], name[SEL_PRINT_NAME];
    if (v->op == SEL_OP_ARGUMENT && p->controls) {
        end[0] = "xyz"[v->number];
    } else if (v->op == SEL_OP_ARGUMENT) {
        fprintf(p->to, "PLACE(%d", (int)v->number);
    } else if (v->op == SEL_OP_CONVERT) {
        end[0] = '\0';
    } else if (v->op == SEL_OP_SHIFT || v->op == SEL_OP_MASK) {
        begin = "(";
        snprintf(end, sizeof end, " %s %d)", v->op == SEL_OP_SHIFT ? ">>" : "&", (int)v->number);
    } else if (v->op == SEL_RULE_RANDOM) {
        begin = "RANDOM(";
        snprintf(end, sizeof end, ", %d)", (int)v->number);
    } else if (v->op == SEL_OP_LOOKUP) {
        const sel_lookup *lookup = p->program->tables.lookup[v->number].host;
        snprintf(called, sizeof called, "LOOK_UP(%d, ", (int)v->number);
        fprintf(p->to, p->controls ? "%s(" : "%s", p->controls ? lookup->name : called);
    } else if (v->op == SEL_OP_SELECT) {
        begin = "(";
        between = " ? ";
    } else if (v->op >= SEL_RULE_BAND) {
        fprintf(p->to, "sel_rule_bits(%d, ", v->op);
        as = "(int64_t)";
    } else {
        const char *of = p->bytes ? "b" : p->rows ? (const char *[]){"f", "d", "i"}[v->type] : "op";
        fprintf(p->to, "%s_%s(", of, sel_op_texts[v->op].name);
        as = v->type == SEL_NUMBER_I && !of_wholes[v->op] && !p->rows ? "(double)" : "";
    }
    for (int k = 0; k < v->operands; k++) {
        fprintf(p->to, "%s%s%s", k == 0 ? begin : between, as, sel_print_name(p, v->from[k], name));
        between = v->op == SEL_OP_SELECT && k == 1 ? " : " : between;
    }
    if (v->op == SEL_RULE_BNOT) {
        fputs(", 0", p->to);
    }
    fputs(end, p->to);
}

void sel_print_instructions(sel_printer *p, int first, int count) {
    for (int i = first; i < first + count; i++) {
        const sel_instruction *v = &p->program->tables.code[i];
        const bool sums =
            (v->op <= SEL_OP_MUL || (v->op == SEL_OP_DIV && v->type != SEL_NUMBER_I)) && !p->bytes;
        const bool once = v->to < p->program->layout.fixed;
        const char *type = sel_print_type(p, once ? (sel_number)v->type : sel_result_type(v));
        const int printed =
            sums && !v->linked && !p->rows ? print_sum_of_rows(p, i, first + count) : 0;
        if (printed) {
            i += printed - 1;
            continue;
        }
        fprintf(p->to, "        const %s %c%d = ", type, once ? 'u' : 'a', once ? v->to : i);
        if (sums) {
            print_sum(p, i, v);
        } else {
            fprintf(p->to, "(%s)", type);
            print_value(p, v);
        }
        fputs(";\n", p->to);
        p->made_by[v->to] = i;
    }
}

/* ---- macros of rows ---- */

/* Operations in uint8_t that saturate at 255; conditions are 0 or 1. */
#define SEL_OPS_OF_BYTES(OP)                               \
    OP(ADD, (uint8_t)(a + b) < b ? 255 : (uint8_t)(a + b)) \
    OP(MIN, b < a ? b : a)                                 \
    OP(MAX, a < b ? b : a)                                 \
    OP(AND, a &b)                                          \
    OP(OR, a | b)                                          \
    OP(NOT, a == 0)

#define OF_F(name, value) {SEL_OP_##name, 'f', #value},
#define OF_D(name, value) {SEL_OP_##name, 'd', #value},
#define OF_I(name, value) {SEL_OP_##name, 'i', #value},
#define OF_B(name, value) {SEL_OP_##name, 'b', #value},
static const struct macro {
    sel_op op;
    char type;         /* f, d, i for the types of sel_number; b for bytes */
    const char *value; /* an expression of a and b */
} macros[] = {SEL_OPS_OF_NUMBERS(OF_F) SEL_OPS_OF_COMPARISON(OF_F) SEL_OPS_OF_REALS(OF_F, f)
                  SEL_OPS_OF_NUMBERS(OF_D) SEL_OPS_OF_COMPARISON(OF_D) SEL_OPS_OF_REALS(OF_D, )
                      SEL_OPS_OF_NUMBERS(OF_I) SEL_OPS_OF_COMPARISON(OF_I) SEL_OPS_OF_WHOLES(OF_I)
                          SEL_OPS_OF_BYTES(OF_B) SEL_OPS_OF_COMPARISON(OF_B)};
enum { MACROS = sizeof macros / sizeof *macros };

bool sel_print_has(const sel_instruction *v) {
    bool has = v->op == SEL_OP_SELECT || v->op == SEL_OP_CONVERT || v->op == SEL_OP_SHIFT ||
               v->op == SEL_OP_MASK;
    for (int k = 0; k < MACROS && !has; k++) {
        has = macros[k].op == (sel_op)v->op && macros[k].type == "fdi"[v->type];
    }
    return has;
}

void sel_print_macros(FILE *to) {
    for (int k = 0; k < MACROS; k++) {
        const sel_op_text *text = &sel_op_texts[macros[k].op];
        fprintf(to, "#define %c_%s(a%s) (%s)\n", macros[k].type, text->name,
                text->operands > 1 ? ", b" : "", macros[k].value);
    }
}

void sel_program_print(const sel_program *program, const char *const *control_names, FILE *to) {
    const sel_packed_program *l = &program->layout;
    sel_printer p = {.controls = control_names};
    char name[SEL_PRINT_NAME];
    if (sel_printer_open(&p, program, 0, to)) {
        fputs(l->once ? "    once per step:\n" : "", to);
        sel_print_instructions(&p, 0, l->once);
        fputs("    per place:\n", to);
        sel_print_instructions(&p, l->once, l->each);
        for (int r = 0; r < l->outputs; r++) {
            fprintf(to, r ? ", %s" : "        return %s",
                    sel_print_name(&p, program->tables.output[r].slot, name));
        }
        fprintf(to, l->fails < 0 ? "\n" : ", unless %s\n",
                l->fails < 0 ? "" : sel_print_name(&p, l->fails, name));
    }
    sel_printer_close(&p);
}
