/* fill.c -- print the program of a term as CUDA C, compile it, enqueue the kernel that fills its
 * array.
 *
 * The text has the program's instructions one by one, those that run once in a function that a
 * block calls once; registers are variables. So the values are the interpreter's, to the bit.
 */
#include "cuda/machine/fill.h"

#include <math.h>
#include <stdlib.h>
#include "engine/values/program.h"

/* The constant that a register holds all the time; NULL: it holds something else. */
static const double *constant_of(const sel_program *p, int r) {
    const double *value = NULL;
    for (int k = 0; k < p->layout.inputs; k++) {
        if (p->input[k].to == r && p->input[k].argument == SEL_NO_ARGUMENT) {
            value = &p->input[k].value;
        }
    }
    for (int k = 0; k < p->layout.once; k++) {
        value = sel_packed_operand(p->code[k], 0) == r ? NULL : value;
    }
    return value;
}

static void print_number(double value, FILE *to) {
    if (isfinite(value)) {
        fprintf(to, "%a", value);
    } else {
        fputs(isnan(value) ? "NAN" : value > 0 ? "HUGE_VAL" : "-HUGE_VAL", to);
    }
}

static void print_register(const sel_program *p, int r, FILE *to) {
    const double *value = constant_of(p, r);
    if (value) {
        print_number(*value, to);
    } else if (r < p->layout.fixed) {
        fprintf(to, "r[%d]", r);
    } else {
        fprintf(to, "r%d", r);
    }
}

static void print_instructions(const sel_program *p, int first, int count, FILE *to) {
    for (const uint64_t *word = p->code + first; word < p->code + first + count; word++) {
        const int op = sel_packed_op(*word), a = sel_packed_operand(*word, 1);
        const sel_program_call *call = op == SEL_OP_LOOKUP ? &p->call[a] : NULL;
        fputs("        ", to);
        print_register(p, sel_packed_operand(*word, 0), to);
        fprintf(to, " = op_%s(", call ? "LOOKUP" : sel_op_texts[op].name);
        if (call) {
            fprintf(to, "f, %d, ", a);
        }
        for (int k = 0; k < (call ? call->lookup->arguments : sel_op_texts[op].operands); k++) {
            fputs(k ? ", " : "", to);
            print_register(p, call ? call->arguments[k] : sel_packed_operand(*word, k + 1), to);
        }
        fputs(");\n", to);
    }
}

void cuda_fill_print(const sel_program *p, FILE *to) {
    const sel_packed_program *l = &p->layout;
    fputs("#include \"cuda/machine/fill.cuh\"\n\n"
          "struct printed {\n"
          "    static __device__ void once(const cuda_fill &f, double t, double *r) {\n",
          to);
    for (const sel_packed_input *input = p->input; input < p->input + l->inputs; input++) {
        if (input->argument != SEL_NO_ARGUMENT) {
            fprintf(to, "        r[%d] = ", input->to);
            fprintf(to, input->argument == SEL_ARGUMENT_T ? "t;\n" : "f.terms.controls[%d];\n",
                    input->argument - SEL_ARGUMENT_CONTROL);
        } else if (!constant_of(p, input->to)) {
            fprintf(to, "        r[%d] = ", input->to);
            print_number(input->value, to);
            fputs(";\n", to);
        }
    }
    print_instructions(p, 0, l->once, to);
    fputs(
        "    }\n\n"
        "    static __device__ __forceinline__ bool each(const cuda_fill &f, const double *place,\n"
        "                                                const double *r, double *value) {\n",
        to);
    for (int r = l->fixed; r < l->fixed + l->own; r++) {
        fprintf(to, "        double r%d;\n", r);
    }
    for (int k = l->inputs; k < l->inputs + l->coordinates; k++) {
        fprintf(to, "        r%d = place[%d];\n", p->input[k].to, p->input[k].argument);
    }
    print_instructions(p, l->once, l->each, to);
    fputs("        *value = ", to);
    print_register(p, l->result[0], to);
    fputs(";\n        return isfinite(*value)", to);
    if (l->has_exact) {
        fputs(" && ", to);
        print_register(p, l->exact, to);
        fputs(" != 0", to);
    }
    fprintf(to,
            ";\n    }\n};\n\n"
            "extern \"C\" __global__ void __launch_bounds__(%d) fill(\n"
            "    const __grid_constant__ cuda_fill f) {\n"
            "    __shared__ double fixed[%d];\n"
            "    cuda_fill_cells<printed>(f, fixed);\n}\n",
            CUDA_FILL_THREADS, l->fixed + 1);
}

sel_status cuda_fill_compile(cuda_fill *fill, const sel_quantity *quantity, int device,
                             cuda_module **module, sel_error *error) {
    char *text = NULL, why[CUDA_WHY];
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (to) {
        cuda_fill_print(sel_quantity_function(quantity, 0)->program, to);
        fclose(to);
    }
    const cuda_text given = {.text = text, .name = "a law"};
    sel_status status = to && text ? cuda_module_compile(&given, device, module, why, error)
                                   : sel_fail_memory(error, "the laws", length);
    if (!status && *module) {
        status = cuda_module_kernel(*module, "fill", &fill->kernel, error);
    }
    free(text);
    return status;
}

sel_status cuda_fill_enqueue(const cuda_fill *fill, cudaStream_t stream, sel_error *error) {
    const unsigned threads[2] = {CUDA_FILL_THREADS, 1};
    if (fill->kernel) {
        return cuda_kernel_launch(fill->kernel, cuda_fill_blocks(fill), threads, fill, stream,
                                  error);
    }
    CUDA_TRY(cuda_fill_interpreted(fill, stream));
    return SEL_OK;
}
