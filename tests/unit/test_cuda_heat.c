/* test_cuda_heat.c -- sel.heat on the GPU is that on the CPU but for round-off: bodies, layouts,
 * laws and sources of every kind; several steps per pass are single steps,
 * bit by bit. Arguments: see compare.h.
 */
#include "tests/unit/compare.h"
#include "tests/unit/heat_case.h"

/* A snippet changes what the first line sets. laws: "still", "program" and "lua" vary in time,
 * "control" by a control only, "both"; the same for source, and "none". */
#define BODY                                                                                       \
    "local size, dx, layout, periodic, laws, source = { 45, 22 }, 1, 'cell', '', 'still', "        \
    "'none'\n"                                                                                     \
    "local k, capacity, hole, axes_with_laws = 1, 2, false, 'xyz'\n"                               \
    "local scheme, dt\n"                                                                           \
    "local base = 0\n"                                                                             \
    "local materials = function(x, y) return 1 + 0.5 * sin(0.3 * x) * cos(0.2 * y) end\n"          \
    "local lookup = { 0.1 }\n"                                                                     \
    "%s\n"                                                                                         \
    "local function value(a, kind)\n"                                                              \
    "  return ({ still = function(x, y) return a + 0.3 * sin(0.05 * x + 0.03 * y) end,\n"          \
    "    program = function(x, y, t) return a + 0.3 * sin(0.05 * x + 0.03 * y + 0.2 * t) end,\n"   \
    "    lua = function(x, t) return a + 0.3 * sin(0.05 * x + 0.2 * t) * lookup[1 + "              \
    "math.floor(t) * 0] end,\n"                                                                    \
    "    gap = function(x, y, t)\n"                                                                \
    "      return a * log((x - 21) ^ 2 + (y - 10) ^ 2 - 4) * cos(0.2 * t) end,\n"                  \
    "    control = function(x, c) return a + c * cos(0.05 * x) end,\n"                             \
    "    both = function(x, t, c) return a + c * cos(0.05 * x + 0.2 * t) end })[kind or laws]\n"   \
    "end\n"                                                                                        \
    "local deep, regions = #size == 3, { all(law.insulated {}) }\n"                                \
    "local function paint(name, what)\n"                                                           \
    "  local axis = name:sub(1, 1)\n"                                                              \
    "  if not periodic:find(axis) and axes_with_laws:find(axis) then\n"                            \
    "    regions[#regions + 1] = face(name, what)\n"                                               \
    "  end\n"                                                                                      \
    "end\n"                                                                                        \
    "paint('x-', law.fixed { value(base + 1) })\n"                                                 \
    "paint('x+', law.convective { h = scheme and 0.4 or value(0.4),\n"                             \
    "  ambient = value(base + 2) })\n"                                                             \
    "paint('y-', law.flux { value(0.2) })\n"                                                       \
    "paint('y+', law.fixed { value(base) })\n"                                                     \
    "if deep then paint('z+', law.convective { h = 0.3, ambient = value(base + 0.5) }) end\n"      \
    "if hole then regions[#regions + 1] = { name = 'hole', law = law.fixed { value(base + 3) },\n" \
    "  where = shape.ball { centre = deep and { 11, 7, 5 } or { 21, 10 }, radius = 4.3 } } end\n"  \
    "local axes = {}\n"                                                                            \
    "for axis in periodic:gmatch '.' do axes[#axes + 1] = axis end\n"                              \
    "if #axes == #size then table.remove(regions, 1) end\n"                                        \
    "return sel.heat { size = size, dx = dx, layout = layout, periodic = axes, precision = "       \
    "'%s',\n"                                                                                      \
    "  scheme = scheme, dt = dt,\n"                                                                \
    "  conductivity = k, capacity = capacity, regions = regions, controls = { c = 0.2 },\n"        \
    "  source = source ~= 'none' and value(0.05, source) or nil, stop = { steps = 1 },\n"          \
    "  initial = { temperature = function(x, y) \n"                                                \
    "    return base + sin(0.2 * x) * cos(0.15 * y) end } }\n"

static const char *const cases[] = {
    /* uniform */
    "",
    "layout = 'node'",
    "size = { 203, 151 }",
    "size = { 203, 151 } layout = 'node'",
    "size = { 131, 67 } dx = { 1, 1.3 }",
    "size = { 130, 70 } dx = { 1, 1.3 } layout = 'node'",
    "size = { 200, 64 } k = { 1, 2.5 } periodic = 'x'",
    "size = { 129, 80 } periodic = 'y'",
    "size = { 160, 90 } periodic = 'xy'",
    "size = { 160, 91 } layout = 'node' periodic = 'x'",
    "size = { 333, 71 } layout = 'node' periodic = 'xy'",
    "size = { 23, 14, 11 }",
    "size = { 23, 14, 11 } layout = 'node' dx = { 1, 1.3, 0.9 }",
    "size = { 67, 13, 9 } periodic = 'z'",
    "size = { 34, 9, 8 } layout = 'node' periodic = 'xz'",
    "size = { 40, 9, 8 } periodic = 'xyz'",
    /* laws at the faces along some axes, insulation at the others: corners have those of a face */
    "axes_with_laws = 'y'",
    "axes_with_laws = 'x' layout = 'node'",
    "axes_with_laws = 'y' layout = 'node' size = { 150, 70 }",
    "axes_with_laws = 'yz' size = { 24, 14, 12 }",
    "axes_with_laws = 'z' size = { 24, 14, 12 } layout = 'node'",
    "axes_with_laws = 'xz' size = { 24, 14, 12 }",
    /* laws in time and by controls */
    "laws = 'program'",
    "laws = 'program' layout = 'node' size = { 150, 70 }",
    "laws = 'lua' layout = 'node'",
    "laws = 'lua' size = { 150, 70 } periodic = 'y'",
    "laws = 'control' layout = 'node'",
    "laws = 'both' dx = { 1, 0.8 }",
    "laws = 'program' size = { 23, 14, 11 } layout = 'node'",
    "laws = 'lua' size = { 23, 14, 11 } periodic = 'x'",
    /* bodies that vary */
    "k = materials",
    "k = { materials, 0.7 } capacity = materials layout = 'node'",
    "k = materials hole = true laws = 'program'",
    "hole = true layout = 'node'",
    "hole = true periodic = 'x' laws = 'lua' size = { 150, 70 }",
    "size = { 23, 14, 11 } k = materials hole = true laws = 'both' layout = 'node'",
    "size = { 23, 14, 11 } k = { 1, materials, 2 } capacity = materials periodic = 'yz'",
    /* sources */
    "source = 'still'",
    "source = 'program' laws = 'program'",
    "source = 'lua' layout = 'node' periodic = 'y'",
    "source = 'control' laws = 'control' hole = true",
    "source = 'both' laws = 'lua' k = materials layout = 'node'",
    "source = 'lua' laws = 'program' size = { 23, 14, 11 } hole = true",
    "source = 'program' laws = 'still' size = { 23, 14, 11 } layout = 'node' periodic = 'z'",
    /* far from 0: states in f32 are less a reference */
    "base = 300 size = { 203, 151 }",
    "base = 300 layout = 'node' laws = 'program' size = { 150, 70 }",
    "base = -90 k = materials hole = true laws = 'lua' source = 'still'",
    "base = 300 size = { 23, 14, 11 } layout = 'node' laws = 'both'",
};

/* Steps of many times the stable one. */
#define EULER "scheme, dt = 'backward_euler', 8 "
#define MIDDLE "scheme, dt = 'crank_nicolson', 3 "
static const char *const implicit_cases[] = {
    EULER,
    MIDDLE "size = { 203, 151 } layout = 'node' laws = 'program'",
    EULER "size = { 131, 67 } dx = { 1, 1.3 } laws = 'lua' axes_with_laws = 'y'",
    MIDDLE "size = { 160, 90 } periodic = 'xy'",
    EULER "size = { 23, 14, 11 } layout = 'node' laws = 'both' periodic = 'z'",
    MIDDLE "size = { 23, 14, 11 } dx = { 1, 1.3, 0.9 }",
    EULER "k = { materials, 0.7 } capacity = materials layout = 'node' source = 'program'",
    MIDDLE "k = materials hole = true laws = 'program' source = 'lua'",
    EULER "hole = true layout = 'node' source = 'still' laws = 'control'",
    MIDDLE "size = { 23, 14, 11 } k = materials hole = true laws = 'both' layout = 'node'",
    MIDDLE "base = 300 layout = 'node' laws = 'program'",
    EULER "base = 300 k = materials hole = true source = 'program'",
};

static void write_text(char text[2 * HEAT_TEXT], const char *snippet, int precision) {
    snprintf(text, 2 * HEAT_TEXT, HEAT_BEGIN BODY, snippet, sel_precision_names[precision]);
}

static double rms_of(const double *values, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += values[i] * values[i];
    }
    return sqrt(sum / (double)n);
}

/* ---- the CPU and the GPU ---- */

/* Implicit steps are solved as far as their residuals are to fall. */
static tolerance limits_of(const heat_case side[2]) {
    const bool wide = side[0].prepared.plan->precision == SEL_F64;
    return heat_plan_of(side)->diffusion.body.implicit > 0
               ? wide ? (tolerance){1e-7, 1e-9} : (tolerance){1e-3, 1e-4}
           : wide ? (tolerance){1e-12, 1e-14}
                  : (tolerance){1e-5, 1e-7};
}

static void ask_both(heat_case side[2], sel_request request[2]) {
    heat_ask(&side[0], &request[0]);
    heat_ask(&side[1], &request[1]);
}

/* Temperatures less those that the states are less by. Returns their root mean square. */
static double compare_fields(heat_case side[2]) {
    const sel_grid *grid = heat_grid(side);
    const double reference = side[0].state->reference;
    assert_true(side[1].state->reference == reference);
    const tolerance t = limits_of(side);
    double size = 0;
    for (int field = 0; field < HEAT_FIELDS; field++) {
        double *values[2] = {heat_field(&side[0], field), heat_field(&side[1], field)};
        for (int64_t i = 0; i < sel_grid_cells(grid) && field == HEAT_TEMPERATURE; i++) {
            values[0][i] -= reference;
            values[1][i] -= reference;
        }
        size = field == HEAT_TEMPERATURE ? rms_of(values[0], sel_grid_cells(grid)) : size;
        compare_field(heat_solver.fields[field].name, values[0], values[1], grid->n,
                      field == HEAT_TEMPERATURE ? 1 : grid->dims, t, 10 * size);
        free(values[0]);
        free(values[1]);
    }
    return size;
}

/* What passes is of the size of the heat over a time step. */
static void compare_answers(heat_case side[2], double temperature) {
    static sel_term terms[2][SEL_MAX_TERMS];
    const sel_domain *domain = side[0].prepared.domain;
    const sel_grid *grid = &domain->grid;
    const tolerance t = limits_of(side);
    const double volume = grid->dx[0] * grid->dx[1] * (grid->dims == 3 ? grid->dx[2] : 1);
    const double heat = 3 * temperature * volume * (double)sel_grid_cells(grid);
    sel_request balance[2] = {{.kind = SEL_BALANCE, .terms = terms[0]},
                              {.kind = SEL_BALANCE, .terms = terms[1]}};
    sel_request mean[2] = {{.kind = SEL_MEAN_CHANGE}, {.kind = SEL_MEAN_CHANGE}};
    sel_request monitor[2] = {{.kind = SEL_MONITOR}, {.kind = SEL_MONITOR}};
    ask_both(side, balance);
    ask_both(side, mean);
    ask_both(side, monitor);
    assert_int_equal(balance[0].term_count, balance[1].term_count);
    for (int i = 0; i < balance[0].term_count; i++) {
        const char *name = terms[0][i].name;
        assert_string_equal(name, terms[1][i].name);
        const bool amount = strcmp(name, "heat") == 0 || strcmp(name, "error") == 0;
        compare_number(name, terms[0][i].value, terms[1][i].value, t,
                       amount ? heat : heat / grid->dt);
    }
    for (int region = 1; region <= domain->region_count; region++) {
        sel_request flux[2] = {{.kind = SEL_FLUX, .region = region},
                               {.kind = SEL_FLUX, .region = region}};
        ask_both(side, flux);
        compare_number("a flux", flux[0].flux, flux[1].flux, t, heat / grid->dt);
    }
    compare_number("the change of the mean", mean[0].mean_change, mean[1].mean_change,
                   (tolerance){t.relative, t.relative}, temperature);
    compare_number("the change", monitor[0].change, monitor[1].change,
                   (tolerance){fmin(1e-3, 1000 * t.relative), t.relative}, 1);
    compare_number("the largest temperature", monitor[0].largest, monitor[1].largest, t,
                   temperature);
    assert_int_equal(monitor[0].bad_cells, 0);
    assert_int_equal(monitor[1].bad_cells, 0);
}

/* A control changes in the middle. */
static void compare_pieces(const char *snippet, int precision, size_t count) {
    static const int64_t pieces[] = {0, 1, 2, 7, 69, 64};
    char text[2 * HEAT_TEXT];
    heat_case side[2];
    comparing("%s, %s", snippet, sel_precision_names[precision]);
    write_text(text, snippet, precision);
    for (int k = 0; k < 2; k++) {
        const sel_settings settings = {.precision = -1,
                                       .backend = k ? comparison.second_backend : SEL_BACKEND_CPU,
                                       .threads = 1 + k};
        heat_open_on(&side[k], &settings, text);
    }
    for (size_t p = 0; p < count; p++) {
        for (int k = 0; k < 2; k++) {
            side[k].prepared.domain->control_values[0] = p >= 3 ? 0.3 : 0.2;
            heat_advance(&side[k], pieces[p]);
        }
        compare_answers(side, compare_fields(side));
    }
    heat_close(&side[0]);
    heat_close(&side[1]);
}

static void compare_case(const char *snippet, int precision) {
    compare_pieces(snippet, precision, comparison.is_short ? 4 : 6);
}

static void compare_cases(const char *const *list, size_t count, size_t step) {
    for (size_t k = 0; k < count; k += step) {
        for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
            if (!comparison.is_short || (k / step + (size_t)precision) % 2 == 0) {
                compare_case(list[k], precision);
            }
        }
    }
    assert_agreement();
}

static void every_body_law_and_source_agrees(void **state) {
    (void)state;
    compare_cases(cases, sizeof cases / sizeof *cases, comparison.is_short ? 4 : 1);
}

static void implicit_schemes_agree(void **state) {
    (void)state;
    compare_cases(implicit_cases, sizeof implicit_cases / sizeof *implicit_cases,
                  comparison.is_short ? 3 : 1);
}

/* More rows and planes than a launch has blocks along an axis. */
static void bodies_of_many_planes_agree(void **state) {
    (void)state;
    if (!comparison.is_short) {
        compare_pieces("size = { 3, 270001 } k = materials", SEL_F64, 3);
        compare_pieces("size = { 2, 3, 66001 }", SEL_F32, 3);
    }
    assert_agreement();
}

/* No value in the middle of the hole. */
static void sources_are_not_asked_for_in_solids(void **state) {
    (void)state;
    compare_case("source = 'gap' hole = true", SEL_F32);
    compare_case("source = 'gap' hole = true layout = 'node'", SEL_F64);
    assert_agreement();
}

static void must_fail_alike(const char *body, const char *message) {
    char text[2][sizeof(sel_error)];
    for (int k = 0; k < 2; k++) {
        const sel_settings settings = {.precision = -1,
                                       .backend = k ? comparison.second_backend : SEL_BACKEND_CPU,
                                       .threads = 1};
        heat_case c;
        comparing("%s", message);
        heat_open_on(&c, &settings, body);
        const sel_backend *backend = c.prepared.backend;
        sel_status status = backend->advance(c.state, 40, true, &c.error);
        status = status ? status : sel_backend_wait(backend, c.state, &c.error);
        if (status != SEL_BAD_SCENARIO) {
            disagree("run %d ends with status %d", k, (int)status);
        }
        snprintf(text[k], sizeof text[k], "%s", status ? c.error.text : "no error");
        heat_close(&c);
    }
    if (!strstr(text[0], message) || strcmp(text[0], text[1]) != 0) {
        disagree("errors are \"%.200s\" and \"%.200s\"", text[0], text[1]);
    }
    assert_agreement();
}

/* By programs, from some step on. */
static void laws_that_fail_are_the_same_errors(void **state) {
    (void)state;
    must_fail_alike(HEAT_BEGIN
                    "return sel.heat { size = { 20, 10 }, diffusivity = 1, dt = 0.05,\n"
                    "regions = { all(law.insulated {}), face('y+', law.convective {\n"
                    "  h = function(x, t) return 0.5 - t * x / 20 end, ambient = 1 }) },\n"
                    "stop = { steps = 1 } }\n",
                    "law.convective: h must not be negative, got -0.0");
    must_fail_alike(HEAT_BEGIN
                    "return sel.heat { size = { 20, 10 }, diffusivity = 1, dt = 4,\n"
                    "scheme = 'backward_euler', regions = { all(law.insulated {}),\n"
                    "face('y+', law.fixed { function(x, t) return log(30 - x - t) end }) },\n"
                    "stop = { steps = 1 } }\n",
                    "law.fixed: function returned nan");
}

/* dt is compared with its limit when a control has changed. */
static void a_control_that_makes_steps_unstable_is_the_same_error(void **state) {
    (void)state;
    char text[2][sizeof(sel_error)];
    for (int k = 0; k < 2; k++) {
        const sel_settings settings = {.precision = -1,
                                       .backend = k ? comparison.second_backend : SEL_BACKEND_CPU,
                                       .threads = 1};
        heat_case c;
        comparing("a control");
        heat_open_on(&c, &settings,
                     HEAT_BEGIN
                     "return sel.heat { size = { 20, 10 }, diffusivity = 1, layout = 'node',\n"
                     "controls = { wind = 1 }, regions = { all(law.insulated {}), face('y+',\n"
                     "  law.convective { h = function(wind) return wind end, ambient = 1 }) },\n"
                     "stop = { steps = 1 } }\n");
        heat_steps(&c, 10, false);
        c.prepared.domain->control_values[0] = 500;
        const sel_status status = c.prepared.backend->advance(c.state, 10, true, &c.error);
        if (status != SEL_DIVERGED) {
            disagree("run %d ends with status %d", k, (int)status);
        }
        snprintf(text[k], sizeof text[k], "%s", c.error.text);
        heat_close(&c);
    }
    if (!strstr(text[0], "is not stable in step 11 (") || strcmp(text[0], text[1]) != 0) {
        disagree("errors are \"%.200s\" and \"%.200s\"", text[0], text[1]);
    }
    assert_agreement();
}

static void large_bodies_agree(void **state) {
    (void)state;
    if (!comparison.is_short) {
        compare_case("size = { 1001, 517 } layout = 'node'", SEL_F32);
        compare_case("size = { 1031, 417 } dx = { 1, 0.7 }", SEL_F64);
        compare_case("size = { 97, 70, 65 } laws = 'program' hole = true", SEL_F64);
    }
    assert_agreement();
}

/* ---- bit by bit ---- */

/* Two states on the second backend, side by side: after 1, 2, ... `most` further steps they have
 * the same bits. */
static void must_stay_the_same(heat_case side[2], int64_t most) {
    const int64_t cells = sel_grid_cells(heat_grid(side));
    for (int64_t n = 1; n <= most; n++) {
        double *T[2];
        for (int k = 0; k < 2; k++) {
            heat_steps(&side[k], n, false);
            T[k] = heat_field(&side[k], HEAT_TEMPERATURE);
        }
        if (memcmp(T[0], T[1], (size_t)cells * sizeof(double)) != 0) {
            const difference d = difference_between(T[0], T[1], (size_t)cells);
            const int64_t nx = heat_grid(side)->n[0];
            disagree("after a further %d steps cell {%d, %d} is %.17g and %.17g", (int)n,
                     (int)((int64_t)d.at % nx), (int)((int64_t)d.at / nx), T[0][d.at], T[1][d.at]);
            n = most;
        }
        free(T[0]);
        free(T[1]);
    }
}

/* Laws that depend on a control, here 0, take single steps. The values are exact in both. */
#define PASSES                                                                                  \
    "local function value(a) return %s end\n"                                                   \
    "local base = %d\n"                                                                         \
    "local periodic = '%s'\n"                                                                   \
    "local axes, regions = {}, {}\n"                                                            \
    "local laws = { ['x-'] = law.fixed { value(base + 0.25) }, ['y-'] = law.flux { value(0.5) " \
    "},\n"                                                                                      \
    "  ['x+'] = law.convective { h = value(2), ambient = value(base - 1) },\n"                  \
    "  ['y+'] = law.fixed { value(base + 1) } }\n"                                              \
    "for _, axis in ipairs { 'x', 'y' } do\n"                                                   \
    "  if periodic:find(axis) then axes[#axes + 1] = axis else\n"                               \
    "    for _, side in ipairs { '-', '+' } do\n"                                               \
    "      regions[#regions + 1] = face(axis .. side, laws[axis .. side]) end end end\n"        \
    "return sel.heat { size = { %d, %d }, dx = %s, layout = '%s', precision = '%s',\n"          \
    "  diffusivity = 1, periodic = axes, regions = regions, controls = { c = 0 },\n"            \
    "  initial = { temperature = function(x, y) \n"                                             \
    "    return base + sin(12.9898 * x + 78.233 * y) end },\n"                                  \
    "  stop = { steps = 1 } }\n"

typedef struct plate {
    int nx, ny;
    const char *sides, *layout, *periodic;
    int base;
} plate;

static const plate plates[] = {
    {203, 151, "1", "cell", "", 0},
    {203, 151, "1", "node", "", 0},
    {128, 64, "1", "cell", "", 0},
    {131, 67, "{ 1, 1.25 }", "cell", "", 0},
    {129, 65, "{ 1, 1.25 }", "node", "", 0},
    {257, 100, "1", "cell", "x", 0},
    {160, 129, "1", "node", "x", 0},
    {150, 97, "1", "cell", "y", 0},
    {193, 64, "{ 2, 1 }", "node", "y", 0},
    {140, 70, "1", "cell", "xy", 0},
    {165, 66, "1", "node", "xy", 0},
    {700, 333, "1", "cell", "", 0},
    /* too large for tiles in shared memory */
    {1433, 1402, "1", "cell", "", 0},
    {1500, 1407, "{ 1, 1.25 }", "node", "", 0},
    {1434, 1402, "1", "node", "xy", 0},
    /* 2 and 6 columns more than a whole number of strips of 112 and 44 */
    {1458, 1403, "1", "cell", "", 0},
    {1458, 1403, "1", "cell", "x", 0},
    /* less a reference, in f32 */
    {203, 151, "1", "node", "", 300},
};

static void open_plate(heat_case *c, const plate *p, int precision, bool single) {
    char text[2 * HEAT_TEXT];
    const sel_settings settings = {
        .precision = -1, .backend = comparison.second_backend, .threads = 1};
    snprintf(text, sizeof text, HEAT_BEGIN PASSES,
             single ? "function(x, y, c) return a + x / 64 + y / 128 + c end"
                    : "function(x, y) return a + x / 64 + y / 128 end",
             p->base, p->periodic, p->nx, p->ny, p->sides, p->layout,
             sel_precision_names[precision]);
    heat_open_on(c, &settings, text);
}

static void compare_plate(const plate *p, int precision, const bool single[2], int64_t most) {
    heat_case side[2];
    comparing("%d x %d, dx = %s, layout %s, periodic '%s', %s", p->nx, p->ny, p->sides, p->layout,
              p->periodic, sel_precision_names[precision]);
    open_plate(&side[0], p, precision, single[0]);
    open_plate(&side[1], p, precision, single[1]);
    must_stay_the_same(side, most);
    heat_close(&side[0]);
    heat_close(&side[1]);
}

static void several_steps_per_pass_are_single_steps(void **state) {
    (void)state;
    const bool single[] = {false, true};
    for (size_t k = 0; k < sizeof plates / sizeof *plates; k += comparison.is_short ? 5 : 1) {
        for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
            if (!comparison.is_short || (k + (size_t)precision) % 2 == 0) {
                compare_plate(&plates[k], precision, single,
                              comparison.is_short                     ? 9
                              : plates[k].nx * plates[k].ny > 1000000 ? 12
                                                                      : 30);
            }
        }
    }
    assert_agreement();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_body_law_and_source_agrees),
        cmocka_unit_test(bodies_of_many_planes_agree),
        cmocka_unit_test(implicit_schemes_agree),
        cmocka_unit_test(sources_are_not_asked_for_in_solids),
        cmocka_unit_test(laws_that_fail_are_the_same_errors),
        cmocka_unit_test(a_control_that_makes_steps_unstable_is_the_same_error),
        cmocka_unit_test(large_bodies_agree),
        cmocka_unit_test(several_steps_per_pass_are_single_steps),
    };
    if (!comparison_begins(argc, argv, "test_cuda_heat")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
