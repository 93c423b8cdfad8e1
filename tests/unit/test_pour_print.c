/* test_pour_print.c -- rates of run-off as CUDA C, without a GPU: what is printed for a program
 * that varies in time, with the kernel that pours it, compiles for one.
 */
#include "tests/unit/files.h"
#ifdef SEL_CUDA
#include "engine/solvers/aqua/aqua_kernels_cuda.h"
#include "engine/values/program.h"

/* 50 exp(-(x - t)^2) + y c0 */
static const sel_program *program_of(sel_arena *arena) {
    sel_builder *b = sel_builder_create(20);
    const int x = sel_build_argument(b, SEL_ARGUMENT_X), y = sel_build_argument(b, SEL_ARGUMENT_Y);
    const int t = sel_build_argument(b, SEL_ARGUMENT_T);
    const int away = sel_build(b, SEL_OP_SUB, x, t, 0);
    const int power = sel_build(b, SEL_OP_UNM, sel_build(b, SEL_OP_MUL, away, away, 0), 0, 0);
    const int bell = sel_build(b, SEL_OP_MUL, sel_build_constant(b, 50),
                               sel_build(b, SEL_OP_EXP, power, 0, 0), 0);
    const int sloped = sel_build(b, SEL_OP_MUL, y, sel_build_argument(b, SEL_ARGUMENT_CONTROL), 0);
    const int value = sel_build(b, SEL_OP_ADD, bell, sloped, 0);
    const sel_program *program = sel_builder_finish(b, &value, 1, -1, arena);
    sel_builder_destroy(b);
    assert_non_null(program);
    return program;
}

static void what_pours_a_program_compiles_for_a_device(void **state) {
    (void)state;
    static const char *const pours[] = {
        AQUA_POUR("aqua_f32", "false"), AQUA_POUR("aqua_f32", "true"),
        AQUA_POUR("aqua_f64", "false"), AQUA_POUR("aqua_f64", "true")};
    sel_arena *arena = sel_arena_create();
    const sel_program *program = program_of(arena);
    for (size_t k = 0; k < sizeof pours / sizeof *pours; k++) {
        sel_error error = {.status = SEL_OK};
        char *text = NULL;
        void *binary = NULL;
        size_t length, bytes;
        FILE *to = open_memstream(&text, &length);
        assert_non_null(to);
        const cuda_fill fill = {.unit = 1, .kind = k < 2 ? CUDA_F32 : CUDA_F64, .beside = pours[k]};
        cuda_fill_print(&fill, program, to);
        fclose(to);
        const cuda_text given = {text, "a rate", "."};
        if (cuda_compile(&given, 90, &binary, &bytes, &error)) {
            fail_msg("%s\n%s", error.text, text);
        }
        if (!binary) {
            print_message("there is no NVRTC: not compiled\n");
        }
        assert_true(!binary || memmem(binary, bytes, "pour", 4));
        free(binary);
        free(text);
    }
    sel_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_pours_a_program_compiles_for_a_device),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
#else
int main(void) {
    printf("ok test_pour_print # SKIP this build has no CUDA backend\n");
    return 0;
}
#endif
