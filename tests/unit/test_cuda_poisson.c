/* test_cuda_poisson.c -- sel.poisson on the GPU is that on the CPU but for round-off: methods,
 * bodies, layouts and laws of every kind, the iterations that they take and how these end.
 * Arguments: see compare.h.
 */
#include "tests/unit/compare.h"
#include "tests/unit/heat_case.h"
#include "engine/solvers/poisson/poisson.h"

/* A snippet changes what the first lines set. */
#define BODY                                                                                      \
    "local size, dx, layout, periodic, method = { 45, 22 }, 1, 'cell', '', 'multigrid'\n"         \
    "local c, hole, loose, most = nil, false, false, nil\n"                                       \
    "local materials = function(x, y) return 1 + 0.5 * sin(0.3 * x) * cos(0.2 * y) end\n"         \
    "local grains = function(x, y)\n"                                                             \
    "  local i, j = math.floor(x / 4), math.floor(y / 4)\n"                                       \
    "  return (i * 7 + j * 13 + i * j * 5) %% 3 == 0 and 1e4 or 1\n"                              \
    "end\n"                                                                                       \
    "%s\n"                                                                                        \
    "local deep, regions = #size == 3, { all(law.insulated {}) }\n"                               \
    "local function paint(name, what)\n"                                                          \
    "  if not periodic:find(name:sub(1, 1)) then regions[#regions + 1] = face(name, what) end\n"  \
    "end\n"                                                                                       \
    "if not loose then\n"                                                                         \
    "  paint('x-', law.fixed { function(x, y) return 1 + sin(0.1 * y) end })\n"                   \
    "  paint('x+', law.convective { h = 0.4, ambient = 2 })\n"                                    \
    "  paint('y-', law.flux { 0.2 })\n"                                                           \
    "  paint('y+', law.fixed { 0.5 })\n"                                                          \
    "  if deep then paint('z+', law.convective { h = 0.3, ambient = 0.5 }) end\n"                 \
    "end\n"                                                                                       \
    "if hole then regions[#regions + 1] = { name = 'hole', law = law.fixed { 3 },\n"              \
    "  where = shape.ball { centre = deep and { 11, 7, 5 } or { 21, 10 }, radius = 4.3 } } end\n" \
    "local axes = {}\n"                                                                           \
    "for axis in periodic:gmatch '.' do axes[#axes + 1] = axis end\n"                             \
    "if #axes == #size then table.remove(regions, 1) end\n"                                       \
    "return sel.poisson { size = size, dx = dx, layout = layout, periodic = axes,\n"              \
    "  method = method, coefficient = c, regions = regions, max_iterations = most,\n"             \
    "  rhs = function(x, y)\n"                                                                    \
    "    return loose and cos(2 * pi * x / size[1]) or sin(0.3 * x) * cos(0.2 * y) end,\n"        \
    "  initial = { potential = function(x) return cos(x) end } }\n"

static const char *const cases[] = {
    "",
    "layout = 'node'",
    "size = { 203, 151 }",
    "size = { 203, 151 } layout = 'node' hole = true",
    "size = { 128, 96 } dx = { 1, 5 }",
    "size = { 130, 70 } dx = { 1, 1.3 } layout = 'node'",
    "size = { 200, 64 } periodic = 'x'",
    "size = { 129, 80 } periodic = 'y' hole = true",
    "size = { 160, 91 } layout = 'node' periodic = 'x'",
    "size = { 64, 64 } periodic = 'xy' loose = true",
    "size = { 80, 70 } loose = true",
    "size = { 23, 14, 11 }",
    "size = { 40, 30, 28 } hole = true",
    "size = { 23, 14, 11 } layout = 'node' dx = { 1, 1.3, 0.9 }",
    "size = { 67, 13, 9 } periodic = 'z'",
    "size = { 128, 100, 83 }",
    "c = materials",
    "size = { 103, 102, 101 } layout = 'node' dx = { 1, 1.1, 1.2 }",
    "c = { materials, 0.7 } layout = 'node'",
    "c = grains",
    "c = grains size = { 203, 151 } hole = true",
    "c = grains size = { 130, 97 } layout = 'node'",
    "c = grains size = { 160, 91 } layout = 'node' periodic = 'x'",
    "c = grains size = { 67, 53, 40 } periodic = 'z'",
    "c = grains size = { 60, 50 } method = 'conjugate_gradient'",
    "size = { 33, 34, 21 } c = materials hole = true",
    "method = 'jacobi' size = { 24, 17 }",
    "method = 'gauss_seidel' size = { 24, 17 } layout = 'node' hole = true",
    "method = 'sor' periodic = 'x' size = { 32, 20 }",
    "method = 'conjugate_gradient'",
    "method = 'conjugate_gradient' c = materials size = { 23, 14, 11 }",
    "method = 'jacobi' most = 7",
    "most = 2 hole = true",
    "method = 'gauss_seidel' most = 1 size = { 3, 66001 }",
    "method = 'gauss_seidel' most = 1 size = { 3, 66001, 2 }",
    "method = 'gauss_seidel' most = 1 size = { 2, 3, 66001 }",
    "size = { 1, 50 }",
};

static double *field_of(heat_case *c, int field, int components) {
    sel_request read = {
        .kind = SEL_READ,
        .field = field,
        .box = sel_grid_box(heat_grid(c)),
        .precision = SEL_F64,
        .components = components,
        .to = calloc((size_t)(sel_grid_cells(heat_grid(c)) * components), sizeof(double)),
    };
    heat_ask(c, &read);
    return read.to;
}

/* Between grains fluxes are as exact as the residual that the iteration ends at, times the ratio of
 * coefficients; without multigrid iterations are many, and their number depends on round-off. */
static bool has_grains(const char *snippet) {
    return strstr(snippet, "grains") != NULL;
}

/* The residual that is left is made of round-off, by as much as cycles in single precision leave.
 */
static void compare_fields(heat_case side[2], bool grains) {
    const sel_grid *grid = heat_grid(side);
    for (int field = 0; field < POISSON_FIELDS; field++) {
        const int components =
            field == POISSON_POTENTIAL || field == POISSON_RESIDUAL ? 1 : grid->dims;
        double *values[2] = {field_of(&side[0], field, components),
                             field_of(&side[1], field, components)};
        compare_field(poisson_solver.fields[field].name, values[0], values[1], grid->n, components,
                      field == POISSON_RESIDUAL ? (tolerance){grains ? 2 : 0.5, 1e-9}
                                                : (tolerance){1e-6, 1e-12},
                      10);
        free(values[0]);
        free(values[1]);
    }
}

enum { MOST_REGIONS = 8 };

static void compare_answers(heat_case side[2], bool grains) {
    /* Three cycles in single precision leave a residual of its round-off, which balances show. */
    const tolerance t = {1e-6, comparison.is_short ? 1e-9 : 1e-11};
    const compared both[2] = {{side[0].prepared.backend, side[0].state},
                              {side[1].prepared.backend, side[1].state}};
    sel_request monitor[2] = {{.kind = SEL_MONITOR}, {.kind = SEL_MONITOR}};
    const int regions = side[0].prepared.domain->region_count;
    sel_request flux[MOST_REGIONS + 1][2];
    double largest = 0;
    assert_true(regions <= MOST_REGIONS);
    ask_backends(both, monitor);
    for (int region = 1; region <= regions; region++) {
        flux[region][0] = flux[region][1] = (sel_request){.kind = SEL_FLUX, .region = region};
        ask_backends(both, flux[region]);
        largest = fmax(largest, fabs(flux[region][0].flux));
    }
    const tolerance of_flux = grains ? (tolerance){1e-4, 1e-6 * largest} : t;
    compare_balances(both, of_flux, 100);
    for (int region = 1; region <= regions; region++) {
        compare_number("a flux", flux[region][0].flux, flux[region][1].flux, of_flux, 100);
    }
    compare_number("the largest potential", monitor[0].largest, monitor[1].largest, t, 10);
}

static void open_side(heat_case *c, const char *snippet, int k) {
    char text[2 * HEAT_TEXT], snippets[HEAT_TEXT];
    const sel_settings settings = {.precision = -1,
                                   .backend = k ? comparison.second_backend : SEL_BACKEND_CPU,
                                   .threads = 1 + k};
    snprintf(snippets, sizeof snippets, "%s%s", snippet,
             comparison.is_short ? " most = most or 3" : "");
    snprintf(text, sizeof text, HEAT_BEGIN BODY, snippets);
    heat_open_on(c, &settings, text);
}

static void every_body_and_method_agrees(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k += comparison.is_short ? 4 : 1) {
        heat_case side[2];
        comparing("%s", cases[k]);
        for (int s = 0; s < 2; s++) {
            open_side(&side[s], cases[k], s);
            heat_steps(&side[s], 100000, true);
        }
        const sel_ending *ending[2] = {&side[0].state->ending, &side[1].state->ending};
        const bool grains = has_grains(cases[k]);
        const int64_t steps = side[0].state->step, apart = llabs(side[1].state->step - steps);
        if (ending[0]->how != ending[1]->how || apart > (grains ? steps / 50 : 0) ||
            ending[0]->how == SEL_GOES_ON) {
            disagree("%d iterations (%s) and %d (%s)", (int)side[0].state->step, ending[0]->why,
                     (int)side[1].state->step, ending[1]->why);
        }
        compare_fields(side, grains);
        compare_answers(side, grains);
        heat_close(&side[0]);
        heat_close(&side[1]);
    }
    assert_agreement();
}

/* Whatever the iterations that are enqueued together, and when all begins anew: the same bits. */
static void iterations_in_pieces_are_those_in_one(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k += comparison.is_short ? 8 : 3) {
        heat_case side[2];
        comparing("%s", cases[k]);
        open_side(&side[0], cases[k], 1);
        open_side(&side[1], cases[k], 1);
        heat_steps(&side[0], 100000, false);
        assert_int_equal(side[0].prepared.backend->restart(side[0].state, &side[0].error), SEL_OK);
        assert_int_equal(side[0].state->ending.how, SEL_GOES_ON);
        heat_steps(&side[0], 100000, false);
        for (int n = 1; side[1].state->ending.how == SEL_GOES_ON; n++) {
            heat_steps(&side[1], n, n % 2);
        }
        if (side[0].state->step != side[1].state->step) {
            disagree("%d iterations and %d", (int)side[0].state->step, (int)side[1].state->step);
        }
        const size_t cells = (size_t)sel_grid_cells(heat_grid(side));
        double *phi[2] = {field_of(&side[0], POISSON_POTENTIAL, 1),
                          field_of(&side[1], POISSON_POTENTIAL, 1)};
        if (memcmp(phi[0], phi[1], cells * sizeof(double)) != 0) {
            const difference d = difference_between(phi[0], phi[1], cells);
            disagree("cell %d is %.17g and %.17g", (int)d.at, phi[0][d.at], phi[1][d.at]);
        }
        free(phi[0]);
        free(phi[1]);
        heat_close(&side[0]);
        heat_close(&side[1]);
    }
    assert_agreement();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_body_and_method_agrees),
        cmocka_unit_test(iterations_in_pieces_are_those_in_one),
    };
    return comparison_begins(argc, argv, "test_cuda_poisson")
               ? cmocka_run_group_tests(tests, enter_directory, leave_directory)
               : 0;
}
