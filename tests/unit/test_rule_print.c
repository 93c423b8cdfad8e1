/* test_rule_print.c -- rules as CUDA C, without a GPU: what is printed compiles for one, and,
 * compiled for the processor, gives what the CPU's solver gives, bit by bit.
 */
#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>
#include "tests/unit/rule_graph.h"
#include "tests/unit/rule_texts.h"
#ifdef SEL_CUDA
#include "cuda/compile.h"
#include "engine/core/cpu.h"
#include "engine/solvers/rule/rule_kernels_cuda.h"

static char tree[1024]; /* of the sources */

static char *print_model(const rule_case *c, bool whole) {
    rule_march march;
    const bool marches = whole && rule_march_of((const rule_state *)c->state, &march);
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    rule_print(((const rule_plan *)c->prepared.plan)->model, c->prepared.domain->grid.dt,
               c->prepared.plan->depends, marches ? &march : NULL, to);
    fclose(to);
    return text;
}

static void open_text(rule_case *c, int k, int precision) {
    char text[8192] = RULE_BEGIN;
    const size_t begin = strlen(text);
    snprintf(text + begin, sizeof text - begin, rule_texts[k].text, sel_precision_names[precision]);
    rule_load(c, text);
    rule_open(c, 1);
}

/* ---- as kernels ---- */

static void what_is_printed_compiles_for_a_device(void **state) {
    (void)state;
    int passes = 0;
    for (int k = 0; k < RULE_TEXTS; k++) {
        rule_case c;
        sel_error error = {.status = SEL_OK};
        void *binary = NULL;
        size_t bytes = 0;
        open_text(&c, k, k % 2);
        char *text = print_model(&c, true);
        passes += strstr(text, "march_inner") != NULL;
        const cuda_text given = {text, rule_texts[k].name, "."};
        for (int again = 0; again < 2; again++) { /* the second time from the file */
            if (cuda_compile(&given, 90, &binary, &bytes, &error)) {
                fail_msg("%s\n%s", error.text, text);
            }
            if (!binary) {
                print_message("there is no NVRTC: not compiled\n");
            } else {
                assert_memory_equal(binary,
                                    "\x7f"
                                    "ELF",
                                    4);
            }
            free(binary);
        }
        free(text);
        rule_close(&c);
    }
    assert_int_equal(passes, 3);
}

static void *compile_in(const char *folder, size_t *bytes) {
    const cuda_text text = {"extern \"C\" __global__ void f(int *a) { *a = 1; }\n", "a text",
                            folder};
    sel_error error = {.status = SEL_OK};
    void *binary;
    if (cuda_compile(&text, 90, &binary, bytes, &error)) {
        fail_msg("%s", error.text);
    }
    return binary;
}

/* A file that is damaged is not believed, a folder that cannot be had is no error. */
static void what_was_compiled_is_kept_where_it_can_be(void **state) {
    (void)state;
    size_t bytes, again;
    char kept[PATH_MAX];
    assert_non_null(getcwd(kept, sizeof kept - 8));
    strcat(kept, "/kept");
    void *first = compile_in(kept, &bytes);
    if (!first) {
        return; /* there is no NVRTC */
    }
    assert_int_equal(system("set -- kept/*.cubin; test $# = 1 && test -s \"$1\" && printf x | "
                            "dd of=\"$1\" bs=1 seek=200 conv=notrunc 2>/dev/null"),
                     0);
    const char *const folders[] = {kept, kept, "relative", "/proc/none", ""};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        void *binary = compile_in(folders[k], &again);
        assert_true(binary && again == bytes);
        assert_memory_equal(binary, first, bytes);
        free(binary);
    }
    free(first);
}

/* ---- as C++ for the processor ---- */

static const char stand_ins[] =
    "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n"
    "#define __device__\n#define __global__\n#define __grid_constant__\n"
    "#define __forceinline__ inline\n#define __noinline__\n#define __launch_bounds__(...)\n"
    "static struct { unsigned x, y; } threadIdx, blockIdx;\n"
    "extern \"C\" void place(unsigned b, unsigned x, unsigned y) {\n"
    "    blockIdx.x = b, threadIdx.x = x, threadIdx.y = blockIdx.y = y;\n}\n"
    "static int __ffsll(long long bits) { return __builtin_ffsll(bits); }\n"
    "static int atomicCAS(int *p, int a, int b) { int o = *p; *p = o == a ? b : o; return o; }\n"
    "static int atomicExch(int *p, int a) { int o = *p; *p = a; return o; }\n"
    "static void __threadfence() {}\n";

/* What is printed of a rule in a precision, once for all tests. */
static void *compile_for_processor(const char *text, int k, int precision) {
    static void *compiled[RULE_TEXTS][2];
    char name[32], command[2048];
    if (compiled[k][precision]) {
        return compiled[k][precision];
    }
    FILE *to = fopen("printed.cpp", "w");
    assert_non_null(to);
    fprintf(to, "%s%s#include \"engine/solvers/rule/rule_fill.cuh\"\n", stand_ins, text);
    fclose(to);
    snprintf(name, sizeof name, "./printed_%d_%d.so", k, precision);
    snprintf(command, sizeof command,
             "g++ -std=c++17 -O1 -ffp-contract=off -w -shared -fPIC -I%s -o %s printed.cpp", tree,
             name);
    assert_int_equal(system(command), 0);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail_msg("%s", dlerror());
    }
    return compiled[k][precision] = library;
}

/* By the device's kernel. */
static void fill_margins(void *library, const rule_state *state, uint64_t fields, uint64_t turns) {
    void (*kernel)(const rule_tables *, int64_t, uint64_t, uint64_t);
    void (*place)(unsigned, unsigned, unsigned);
    *(void **)&kernel = dlsym(library, "rule_fill_kernel");
    *(void **)&place = dlsym(library, "place");
    assert_true(kernel && place);
    for (int64_t run = 0; run < state->first_run[RULE_IN_CELLS]; run++) {
        for (unsigned k = 0; k < RULE_RUN; k++) {
            place((unsigned)run, k, 0);
            kernel(&state->tables, 0, fields, turns);
        }
    }
}

static void run_printed(void *library, rule_state *state, int k, rule_bad *bad) {
    const rule_function *f = &state->model->function[k];
    const sel_program *code = f->code;
    const sel_domain *domain = state->plan->base.domain;
    const size_t slots = (size_t)(code->layout.fixed + code->layout.own);
    double *uniform = calloc(slots + 1, sizeof *uniform);
    void (*kernel)(rule_view), (*place)(unsigned, unsigned, unsigned);
    sel_pack *pack = sel_pack_create();
    for (int i = 0; i < state->model->functions; i++) {
        assert_int_equal(sel_pack_add(pack, state->model->function[i].code), i);
    }
    void *block = malloc(sel_pack_bytes(pack));
    sel_pack_write(pack, block);
    char name[24];
    uint64_t alarm = UINT64_MAX, turns = state->turns;
    snprintf(name, sizeof name, "function_%d", k);
    *(void **)&kernel = dlsym(library, name);
    *(void **)&place = dlsym(library, "place");
    assert_true(kernel && place);
    sel_packed_once(&code->tables, 0, sel_state_time(&state->base), state->base.clock.dt,
                    domain->control_values, uniform);
    const bool direct = rule_is_direct(state);
    if (!direct) {
        fill_margins(library, state, f->looks, turns);
    }
    rule_view v = rule_view_of(state, &state->tables, k, &state->base.own, turns);
    v.uniform = uniform;
    v.uniform_steps = 1;
    v.packed = sel_pack_tables(pack, block);
    v.bad = bad;
    v.alarm = &alarm;
    v.clock = &state->base.step;
    v.direct = direct;
    const int64_t blocks = rule_blocks(&v, rule_shape_of(state->model, k));
    for (int64_t t = 0; t < blocks * RULE_LANES * RULE_LANE_ROWS; t++) {
        place((unsigned)(t / RULE_LANES / RULE_LANE_ROWS), (unsigned)(t % RULE_LANES),
              (unsigned)(t / RULE_LANES % RULE_LANE_ROWS));
        kernel(v);
    }
    state->turns ^= f->turns;
    free(uniform), free(block);
    sel_pack_destroy(pack);
}

static void compare_printed(int k, int precision) {
    rule_case c, d;
    sel_error error = {.status = SEL_OK};
    rule_bad bad = {.when = INT64_MAX};
    open_text(&c, k, precision);
    open_text(&d, k, precision);
    rule_state *state = (rule_state *)d.state;
    char *text = print_model(&d, false);
    void *library = compile_for_processor(text, k, precision);
    for (int s = 0; s < 7; s++) {
        sel_clock clock;
        rule_steps(&c, 1);
        assert_int_equal(d.prepared.backend->clock(d.state, &clock, &error), SEL_OK);
        assert_int_equal(sel_cpu_evaluate(d.state, SEL_ON_T | SEL_ON_CONTROLS, &error), SEL_OK);
        for (int r = 0; r < state->model->rules; r++) {
            run_printed(library, state, r, &bad);
        }
        sel_state_pass(&state->base, 1);
    }
    assert_true(bad.when == INT64_MAX);
    const rule_model *m = state->model;
    for (int f = 0; f < m->states; f++) {
        sel_request read[2];
        const int64_t cells = sel_grid_cells(&c.prepared.domain->grid);
        for (int side = 0; side < 2; side++) {
            rule_case *of = side ? &d : &c;
            read[side] = (sel_request){.kind = SEL_READ,
                                       .field = f,
                                       .box = sel_grid_box(&c.prepared.domain->grid),
                                       .precision = SEL_F64,
                                       .components = m->entry[f].components,
                                       .to = calloc((size_t)cells, 3 * sizeof(double))};
            of->prepared.backend->start(of->state, &read[side], &error);
        }
        const double *a = read[0].to, *b = read[1].to;
        for (int64_t i = 0; i < cells * m->entry[f].components; i++) {
            if (memcmp(&a[i], &b[i], sizeof *a)) {
                fail_msg("%s, %s: %s %lld: %.17g %.17g\n%s", rule_texts[k].name,
                         sel_precision_names[precision], m->entry[f].name, (long long)i, a[i], b[i],
                         text);
            }
        }
        free(read[0].to), free(read[1].to);
    }
    free(text);
    rule_close(&c);
    rule_close(&d);
}

static void what_is_printed_gives_the_same_bits(void **state) {
    (void)state;
    for (int k = 0; k < RULE_TEXTS; k++) {
        compare_printed(k, k % 2);
        compare_printed(k, 1 - k % 2);
    }
}

int main(void) {
    if (!getcwd(tree, sizeof tree)) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_compiles_for_a_device),
        cmocka_unit_test(what_was_compiled_is_kept_where_it_can_be),
        cmocka_unit_test(what_is_printed_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
#else
int main(void) {
    printf("ok test_rule_print # SKIP this build has no CUDA backend\n");
    return 0;
}
#endif
