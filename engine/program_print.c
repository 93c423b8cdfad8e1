/* program_print.c -- a program as text, for people who want to see what a law costs. */
#include <string.h>
#include "engine/program.h"

typedef struct printer {
    const sel_program *p;
    const char *const *controls;
    FILE *to;
} printer;

/* An operand: a constant or an argument by itself, else its register. */
static void print_operand(const printer *out, uint16_t at) {
    static const char *const names[] = {"x", "y", "z", "t"};
    for (int i = 0; i < out->p->inputs; i++) {
        const sel_program_input *input = &out->p->input[i];
        /* Coordinates lend their register to later values, so they are shown as registers. */
        bool stays = input->is_constant || input->argument >= SEL_ARGUMENT_T;
        if (input->to != at || !stays) {
            continue;
        }
        if (input->is_constant) {
            fprintf(out->to, "%.17g", input->value);
        } else if (input->argument < SEL_ARGUMENT_CONTROL) {
            fputs(names[input->argument], out->to);
        } else {
            fputs(out->controls[input->argument - SEL_ARGUMENT_CONTROL], out->to);
        }
        return;
    }
    fprintf(out->to, "r%d", at);
}

static void print_operation(const printer *out, const sel_instruction *in) {
#define NAME(name, operands, value) {#name, operands},
    static const struct {
        const char *name;
        int operands;
    } ops[] = {SEL_PROGRAM_OPS(NAME)};
#undef NAME
    const uint16_t operand[3] = {in->a, in->b, in->c};
    char name[16] = "";
    for (size_t i = 0; ops[in->op].name[i] && i + 1 < sizeof name; i++) {
        char letter = ops[in->op].name[i];
        name[i] = (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    }
    fprintf(out->to, "%s", name);
    for (int k = 0; k < ops[in->op].operands; k++) {
        fputc(' ', out->to);
        print_operand(out, operand[k]);
    }
}

static void print_lookup(const printer *out, const sel_instruction *in) {
    const sel_program_call *call = &out->p->call[in->a];
    fprintf(out->to, "%s(", call->lookup->name);
    for (int k = 0; k < call->lookup->arguments; k++) {
        fputs(k ? ", " : "", out->to);
        print_operand(out, call->arguments[k]);
    }
    fputc(')', out->to);
}

static void print_part(const printer *out, const sel_instruction *code, int count,
                       const char *indent, const char *when) {
    for (int i = 0; i < count; i++) {
        fprintf(out->to, "%s%-5s r%d = ", indent, i ? "" : when, code[i].to);
        if (code[i].op == SEL_OP_LOOKUP) {
            print_lookup(out, &code[i]);
        } else {
            print_operation(out, &code[i]);
        }
        fputc('\n', out->to);
    }
}

void sel_program_print(const sel_program *program, const char *const *control_names,
                       const char *indent, FILE *to) {
    static const char *const axes[] = {"x", "y", "z"};
    printer out = {program, control_names, to};
    print_part(&out, program->once, program->once_count, indent, "once");
    for (int i = 0; i < program->inputs; i++) {
        const sel_program_input *input = &program->input[i];
        if (!input->is_constant && input->argument <= SEL_ARGUMENT_Z) {
            fprintf(to, "%s      r%d = %s\n", indent, input->to, axes[input->argument]);
        }
    }
    print_part(&out, program->each, program->each_count, indent, "each");
    fprintf(to, "%s      return", indent);
    for (int r = 0; r < program->results; r++) {
        fputs(r ? ", " : " ", to);
        print_operand(&out, program->result[r]);
    }
    if (program->has_exact) {
        fputs(" where ", to);
        print_operand(&out, program->exact);
    }
    fputc('\n', to);
}
