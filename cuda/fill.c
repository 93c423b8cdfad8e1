/* fill.c -- print the program of a term as CUDA C, compile it, enqueue the kernel that fills its
 * array.
 *
 * The text has the program's instructions one by one, those that run once in a function that a
 * block calls once. So the values are the interpreter's, to the bit.
 */
#include "cuda/fill.h"

#include <stdlib.h>
#include "cuda/interior.h"
#include "cuda/queue.h"
#include "engine/core/collectives.h"
#include "engine/values/program_print.h"

void cuda_fill_print(const cuda_fill *fill, const sel_program *program, FILE *to) {
    const sel_packed_program *l = &program->layout;
    sel_printer p = {.fuses = false};
    char name[SEL_PRINT_NAME];
    if (!sel_printer_open(&p, program, 0, to)) {
        sel_printer_close(&p);
        return;
    }
    fprintf(to,
            "#include \"cuda/fill.cuh\"\n\n"
            "struct printed {\n"
            "    enum { FIXED = %d, PARTS = %d, KIND = %d, PLAIN = %d };\n"
            "    static __device__ void once(const cuda_fill &f, double t, double *r) {\n",
            l->uniforms + 1, l->outputs, (int)fill->kind, CUDA_FILL_IS_PLAIN(fill));
    for (const sel_packed_input *input = program->tables.input;
         input < program->tables.input + l->inputs; input++) {
        fprintf(to, "        const double u%d = ", input->to);
        if (input->argument == SEL_NO_ARGUMENT) {
            sel_print_number(input->value, to);
        } else if (input->argument == SEL_ARGUMENT_T) {
            fputc('t', to);
        } else {
            fprintf(to, "f.terms.controls[%d]", input->argument - SEL_ARGUMENT_CONTROL);
        }
        fputs(";\n", to);
    }
    sel_print_instructions(&p, 0, l->once);
    for (int k = 0; k < l->uniforms; k++) {
        if (program->uniform[k].depends) {
            fprintf(to, "        r[%d] = u%d;\n", k, k);
        }
    }
    fputs(
        "    }\n\n"
        "    static __device__ __forceinline__ bool each(const cuda_fill &f, const double *place,\n"
        "                                                const double *r, double *value) {\n",
        to);
    sel_print_uniforms(&p);
    sel_print_instructions(&p, l->once, l->each);
    for (int c = 0; c < l->outputs; c++) {
        fprintf(to, "        value[%d] = %s;\n", c,
                sel_print_name(&p, program->tables.output[c].slot, name));
    }
    for (int c = 0; c < l->outputs; c++) {
        fprintf(to, "%sisfinite(value[%d])", c ? " && " : "        return ", c);
    }
    if (l->fails >= 0) {
        fprintf(to, " && %s == 0", sel_print_name(&p, l->fails, name));
    }
    fprintf(to,
            ";\n    }\n};\n\n"
            "extern \"C\" __global__ void __launch_bounds__(%d) fill(\n"
            "    const __grid_constant__ cuda_fill f) {\n"
            "    __shared__ double fixed[printed::FIXED];\n"
            "    cuda_fill_cells<printed>(f, fixed);\n}\n%s",
            CUDA_FILL_THREADS, fill->beside ? fill->beside : "");
    sel_printer_close(&p);
}

sel_status cuda_fill_compile(cuda_fill *fill, const sel_quantity *quantity, int device,
                             cuda_module **module, sel_error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (to) {
        cuda_fill_print(fill, sel_quantity_function(quantity, 0)->program, to);
        fclose(to);
    }
    const cuda_text given = {.text = text, .name = "a law"};
    sel_status status = to && text ? cuda_module_compile(&given, device, module, error)
                                   : sel_fail_memory(error, "the laws", length);
    if (!status && *module) {
        status = cuda_module_kernel(*module, "fill", &fill->kernel, error);
    }
    free(text);
    return status;
}

sel_status cuda_fill_open(cuda_fill *fill, const cuda_terms *terms, const sel_quantity *quantity,
                          const sel_state *state, cuda_module **module, sel_error *error) {
    fill->terms = cuda_terms_see(terms);
    fill->grid = state->plan->domain->grid;
    fill->cells = cuda_grid_of(state);
    fill->rows = sel_own_rows(state);
    state->queue->halts = terms->halted;
    return cuda_fill_pays(fill) && (quantity->whole || quantity->components == 1)
               ? cuda_fill_compile(fill, quantity, state->plan->device, module, error)
               : SEL_OK;
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
