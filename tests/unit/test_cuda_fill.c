/* test_cuda_fill.c -- the values of a term in all cells are the same bits from a kernel that is
 * compiled at run time and from the interpreter of programs, and so are the places without any.
 */
#include "tests/unit/compare.h"
#include "tests/unit/heat_case.h"
#ifdef SEL_CUDA
#include "cuda/backend.h"
#include "cuda/fill.h"
#include "cuda/interior.h"

/* Sizes and layouts are shared out among the functions. */
static const char *const functions[] = {
    "function(x, y, t) return 50 * exp(-((x - 150 - 40 * sin(t)) ^ 2 + (y - 10) ^ 2) / 90) end",
    "function(x, y, t)\n"
    "  local u, v = (x - 3 * t) / 40, (y - 9) / 12\n"
    "  return 30 * math.max(0, 1 - (u * u + v * v)) end",
    "function(x, y, t, a, b)\n"
    "  local turns = floor(x / 7) % 3\n"
    "  return turns == 0 and a * t or y < 9 and b * exp(x / 99) // 0.25 or -turns ^ 3 end",
    "function(x, y, t) return 3 * series(t + y) + sel.noise(7, x / 9, y, t) end",
    "function(x, y, z, t) return exp(t) * math.log(1 + z) + math.abs(cos(x * y)) ^ 1.7 end",
    "function(x, t) return math.tan(t) + (t > 0.05 and x > 11 and (11 - x) ^ 0.5 or x / 99) end",
};

/* Values, and what is beside them. */
typedef struct filled {
    void *numbers;
    bool failed;
    cuda_term_fault fault;
} filled;

enum { STEP = 7 };

static filled fill(const heat_case *c, const sel_quantity *q, bool compiled, size_t bytes) {
    filled out = {.numbers = malloc(bytes)};
    const sel_domain *domain = c->prepared.domain;
    sel_arrays arrays = {.memory = c->state->arrays.memory};
    sel_error error = {.status = SEL_OK};
    cuda_terms terms;
    cuda_module *module = NULL;
    int64_t *clock;
    const int64_t step = STEP;
    assert_true(out.numbers && cuda_terms_open(&terms, domain));
    cuda_fill f = {.grid = domain->grid,
                   .ahead = 0.5,
                   .least = -20,
                   .most = 45,
                   .factor = 1.5,
                   .unit = 1,
                   .cells = cuda_grid_of(c->state),
                   .rows = sel_own_rows(c->state),
                   .pitch = domain->grid.n[0],
                   .slice = domain->grid.n[0] * domain->grid.n[1],
                   .part = true,
                   .kind = c->prepared.plan->precision == SEL_F32 ? CUDA_F32 : CUDA_F64};
    assert_true(cuda_terms_take(&terms, q, CUDA_FILL_THREADS, &f.term));
    cuda_terms_list(&terms, &arrays);
    sel_arrays_add(&arrays, "numbers", &f.to, (sel_type){'u', 1}, (int64_t)bytes, 0);
    sel_arrays_add(&arrays, "clock", &clock, (sel_type){'i', sizeof *clock}, 1, 0);
    assert_int_equal(sel_arrays_allocate(&arrays, 1, "a term", &error), SEL_OK);
    assert_int_equal(cuda_terms_start(&terms, &error), SEL_OK);
    assert_int_equal(cuda_send(clock, &step, sizeof step, &error), SEL_OK);
    f.terms = cuda_terms_see(&terms);
    f.clock.base = clock;
    if (compiled && cuda_fill_compile(&f, q, 0, &module, &error)) {
        fail_msg("%s", error.text);
    }
    if (compiled && !f.kernel) {
        print_message("there is no NVRTC: not compiled\n");
    }
    assert_int_equal(cuda_fill_enqueue(&f, NULL, &error), SEL_OK);
    assert_int_equal(cuda_send(out.numbers, f.to, bytes, &error), SEL_OK);
    out.failed = cuda_terms_failed(&terms, STEP + 1, &out.fault);
    cuda_terms_close(&terms);
    cuda_module_free(module);
    sel_arrays_free(&arrays);
    return out;
}

static void what_is_compiled_gives_the_bits_of_the_interpreter(void **state) {
    (void)state;
    static const char *const bodies[] = {"size = { 300, 37 }, precision = 'f32'",
                                         "size = { 131, 18 }, precision = 'f64', layout = 'node'",
                                         "size = { 23, 14, 11 }, precision = 'f32'",
                                         "size = { 130, 5, 4 }, precision = 'f64'"};
    int faults = 0;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        char text[HEAT_TEXT];
        heat_case c;
        const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CUDA, .threads = 1};
        snprintf(text, sizeof text,
                 HEAT_BEGIN
                 "local floor = math.floor\n"
                 "local series = sel.series { t = { -1, 0, 0.5, 3 }, value = { 2, -1, 4, 0 },\n"
                 "  outside = 'hold' }\n"
                 "return sel.heat { %s, conductivity = 1, capacity = 2, dt = 0.01, regions = { "
                 "all(law.insulated {}) },\n"
                 "  controls = { a = 2.5, b = 3 }, initial = { temperature = 0 },\n"
                 "  stop = { steps = 1 }, source = %s }\n",
                 bodies[k == 4 ? 2 : k % 4], functions[k]);
        comparing("%s", text);
        heat_open_on(&c, &settings, text);
        const sel_quantity *q =
            c.prepared.plan->inputs->v[c.prepared.plan->inputs->source_number].quantity;
        const int64_t cells = sel_grid_cells(&c.prepared.domain->grid);
        const size_t bytes = (size_t)cells * c.state->field[0].type.size;
        filled side[2] = {fill(&c, q, false, bytes), fill(&c, q, true, bytes)};
        assert_memory_equal(side[0].numbers, side[1].numbers, bytes);
        assert_int_equal(side[0].failed, side[1].failed);
        faults += side[0].failed;
        free(side[0].numbers), free(side[1].numbers);
        heat_close(&c);
    }
    assert_true(faults > 0 && faults < 4);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_compiled_gives_the_bits_of_the_interpreter),
    };
    if (!comparison_begins(argc, argv, "test_cuda_fill")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
#else
int main(void) {
    printf("ok test_cuda_fill # SKIP this build has no CUDA backend\n");
    return 0;
}
#endif
