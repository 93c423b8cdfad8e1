/* test_cuda_aqua.c -- sel.aqua on the GPU is that on the CPU, bit by bit: all readings, stores and
 * schemes, all laws, all that brings and takes water, all requests. Arguments: see aqua_twins.h.
 */
#include "tests/unit/aqua_twins.h"

static double tide(double x, double y, double t, const void *data) {
    (void)data;
    return 100.4 + 0.2 * sin(0.05 * t) + 0.001 * (x + y);
}

static double shower(double x, double y, double t, const void *data) {
    (void)x, (void)y, (void)data;
    return t < 20.2 ? 100 + 3 * t : 0;
}

static double moving_shower(double x, double y, double t, const void *data) {
    (void)data;
    return fmax(0, 300 * cos(0.1 * x - 0.07 * y - 0.05 * t));
}

typedef void change_twins(twins *t);

static void walls(twins *t) {
    case_walls(&t->c);
}

static void periodic(twins *t) {
    t->c.params.common.periodic = 3;
}

/* Two open faces that meet, a level, a wall; gaps are outlets. */
static void open_faces(twins *t) {
    aqua_case *c = &t->c;
    case_open(c, "west", case_face(c, SEL_X_MIN), 0.1);
    case_open(c, "south", case_face(c, SEL_Y_MIN), (double)NAN);
    case_level(c, "east", case_face(c, SEL_X_MAX), sel_constant(100.5));
    case_region(c, "north", case_face(c, SEL_Y_MAX), &aqua_wall_table);
    t->nodata_open.slope = 0.05;
    c->params.nodata = (sel_variant){&aqua_open_table, &t->nodata_open, {NULL, 0}};
}

/* Levels that rise and fall, over their ground and under it, on a channel that closes on itself. */
static void tides(twins *t) {
    aqua_case *c = &t->c;
    c->params.common.periodic = 1;
    case_level(c, "sea", case_face(c, SEL_Y_MIN),
               case_quantity(c, SEL_ON_X | SEL_ON_T, tide, NULL));
    case_open(c, "top", case_face(c, SEL_Y_MAX), 0.02);
}

/* Painted cells that take water in the middle of the grid, across a periodic face too. */
static void painted(twins *t) {
    aqua_case *c = &t->c;
    const double w = (double)c->params.common.size.v[0], h = (double)c->params.common.size.v[1];
    c->params.common.periodic = 2;
    case_region(c, "sides", sel_shape_make(c->arena, SEL_SHAPE_FACES, NULL), &aqua_wall_table);
    case_open(c, "drain", case_box(c, 0.3 * w, 0, 0.5 * w, 0.2 * h), 0.3);
    case_level(c, "pond", case_box(c, 0.6 * w, 0.5 * h, 0.9 * w, 0.8 * h), sel_constant(100.7));
}

static void nothing(twins *t) {
    (void)t;
}

static void steady_rain(twins *t) {
    t->c.params.rain = sel_constant(77.7);
    t->c.params.infiltration = case_values(&t->c, t->rate);
}

static void varying_rain(twins *t) {
    t->c.params.rain = case_quantity(&t->c, SEL_ON_T, shower, NULL);
    t->c.params.infiltration = sel_constant(30);
}

static void moving_rain(twins *t) {
    aqua_case *c = &t->c;
    c->params.rain = case_quantity(c, SEL_ON_X | SEL_ON_Y | SEL_ON_T, moving_shower, NULL);
    c->params.infiltration = case_quantity(c, SEL_ON_T, shower, NULL);
}

/* Two that share cells, one in a single cell, one whose share is less than a quantum. */
static void sources(twins *t) {
    aqua_case *c = &t->c;
    const double w = (double)c->params.common.size.v[0], h = (double)c->params.common.size.v[1];
    c->sources[c->params.sources.n++] = (aqua_source){
        .name = "spring", .where = case_box(c, 0, 0, w, 0.5 * h), .discharge = sel_constant(0.01)};
    c->sources[c->params.sources.n++] =
        (aqua_source){.where = case_box(c, 0, 0.2 * h, 0.6 * w, h),
                      .discharge = case_quantity(c, SEL_ON_T, shower, NULL)};
    c->sources[1].discharge = sel_constant(1e-7);
    c->params.rain = case_values(c, t->rate);
}

static void own_alpha(twins *t) {
    t->c.params.alpha = case_values(&t->c, t->alpha);
    t->c.params.min_head = 1e-3;
    t->c.params.arrival_depth = 0.1;
}

typedef struct choice {
    const char *name;
    change_twins *change;
} choice;

static const choice boundaries[] = {{"walls", walls},
                                    {"periodic", periodic},
                                    {"open faces", open_faces},
                                    {"tides", tides},
                                    {"painted", painted}};
static const choice supplies[] = {{"no rain", nothing},           {"steady rain", steady_rain},
                                  {"varying rain", varying_rain}, {"moving rain", moving_rain},
                                  {"sources", sources},           {"own alpha", own_alpha}};
enum { BOUNDARIES = 5, SUPPLIES = 6 };

static const char *const precisions[] = {"f64", "f32"};
static const int precision_of[] = {SEL_F64, SEL_F32};

static void compare_case(int e, int scheme, int p, int boundary, int supply, int nx, int ny) {
    static const double alphas[] = {0.2, 0.005, 1};
    static uint64_t seed = 1;
    twins *t = begin_twins(nx, ny, alphas[seed % 3], seed % 2, seed * 100);
    seed++;
    snprintf(now, sizeof now, "%d x %d, %s, %s, %s, %s, %s", nx, ny, aqua_equilibrium_names[e],
             aqua_scheme_names[scheme], precisions[p], boundaries[boundary].name,
             supplies[supply].name);
    t->c.params.equilibrium = e;
    t->c.params.scheme = scheme;
    t->c.params.common.precision = precision_of[p];
    t->c.params.depth_limit = 10;
    boundaries[boundary].change(t);
    supplies[supply].change(t);
    start_twins(t);
    compare_steps(t);
    end_twins(t);
}

/* Half of the combinations, each pair of choices among them. */
static void every_reading_store_and_scheme_agrees(void **unused) {
    (void)unused;
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int scheme = 0; scheme < 2; scheme++) {
            for (int p = 0; p < 2; p++) {
                for (int b = 0; b < BOUNDARIES; b++) {
                    for (int s = 0; s < SUPPLIES; s++) {
                        if ((e + scheme + p + b + s) % (is_short ? 12 : 2) == 0) {
                            compare_case(e, scheme, p, b, s, 45, 22);
                        }
                    }
                }
            }
        }
    }
}

/* Rows shorter than a warp, as long, a cell longer, of one cell; one cell in all. */
static void thin_and_odd_sizes_agree(void **unused) {
    (void)unused;
    static const int sizes[][2] = {{1, 1},  {1, 40}, {40, 1}, {2, 2},  {3, 3},  {31, 3},
                                   {32, 8}, {33, 7}, {64, 5}, {65, 9}, {70, 41}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int b = 0; b < BOUNDARIES - 1; b++) {
            for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
                const int nx = sizes[k][0], ny = sizes[k][1];
                if (is_short && ((int)k + b + e) % 9 != 0) {
                    continue;
                }
                twins *t = begin_twins(nx, ny, 0.4, false, 7 + k);
                snprintf(now, sizeof now, "%d x %d, %s, %s", nx, ny, boundaries[b].name,
                         aqua_equilibrium_names[e]);
                t->c.params.equilibrium = e;
                t->c.params.scheme = (int)(k + (size_t)b) % 2;
                t->c.params.common.precision = precision_of[(b + e) % 2];
                boundaries[b].change(t);
                start_twins(t);
                compare_steps(t);
                end_twins(t);
            }
        }
    }
}

static void strides_lists_and_precisions_of_reads_agree(void **unused) {
    (void)unused;
    int64_t cells[50];
    uint64_t seed = 9;
    for (int i = 0; i < 50; i++) {
        cells[i] = (int64_t)(case_random(&seed) * 45 * 22);
    }
    for (int p = 0; p < 2; p++) {
        twins *t = begin_twins(45, 22, 0.3, true, 3);
        snprintf(now, sizeof now, "reads, %s", precisions[p]);
        t->c.params.common.precision = precision_of[p];
        open_faces(t);
        start_twins(t);
        advance(t, 7);
        for (int f = 0; f < AQUA_FIELDS; f++) {
            sel_request some = {.kind = SEL_READ,
                                .field = f,
                                .box = {.lo = {3, 2, 0}, .hi = {44, 20, 1}, .stride = {3, 2, 1}},
                                .precision = SEL_F32,
                                .components = 3};
            compare_read(t, &some, 3 * sel_box_cells(&some.box));
            some.cells = cells;
            some.cell_count = 50;
            some.precision = SEL_F64;
            compare_read(t, &some, 3 * 50);
        }
        end_twins(t);
    }
}

/* Answers belong to the step at which they were asked for, however late they are fetched. */
static void answers_belong_to_their_step(void **unused) {
    (void)unused;
    enum { ASKED = 5 };
    twins *t = begin_twins(45, 22, 0.3, true, 4);
    static double field[2][ASKED][45 * 22];
    static sel_term terms[2][ASKED][SEL_MAX_TERMS];
    sel_request reads[2][ASKED], balances[2][ASKED];
    snprintf(now, sizeof now, "late answers");
    t->c.params.common.precision = SEL_F32;
    open_faces(t);
    steady_rain(t);
    sources(t);
    start_twins(t);
    for (int a = 0; a < ASKED; a++) {
        for (int k = 0; k < 2; k++) {
            reads[k][a] = (sel_request){.kind = SEL_READ,
                                        .field = AQUA_LEVEL,
                                        .box = sel_grid_box(&t->c.domain->grid),
                                        .precision = SEL_F64,
                                        .components = 1,
                                        .to = field[k][a]};
            balances[k][a] = (sel_request){.kind = SEL_BALANCE, .terms = terms[k][a]};
            must(t, t->backend[k]->advance(t->state[k], 20, true, &t->c.error), k);
            must(t, t->backend[k]->start(t->state[k], &reads[k][a], &t->c.error), k);
            must(t, t->backend[k]->start(t->state[k], &balances[k][a], &t->c.error), k);
        }
    }
    advance(t, 64);
    for (int a = 0; a < ASKED; a++) {
        for (int k = 0; k < 2; k++) {
            must(t, t->backend[k]->finish(t->state[k], &reads[k][a], &t->c.error), k);
            must(t, t->backend[k]->finish(t->state[k], &balances[k][a], &t->c.error), k);
        }
        assert_memory_equal(field[0][a], field[1][a], sizeof field[0][a]);
        for (int i = 0; i < balances[0][a].term_count; i++) {
            must_be_same(terms[0][a][i].name, terms[0][a][i].value, terms[1][a][i].value);
        }
    }
    end_twins(t);
}

static sel_status by_control(const sel_function *self, const sel_places *at, double *out,
                             sel_error *error) {
    const double *base = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = *base + at->controls[0] * (1 + 0.01 * at->x[i]);
    }
    return SEL_OK;
}

static sel_quantity controlled(aqua_case *c, unsigned place, double base) {
    double *data = sel_arena_alloc(c->arena, sizeof *data);
    sel_function *f = sel_arena_alloc(c->arena, sizeof *f);
    *data = base;
    *f = (sel_function){
        .depends = SEL_ON_CONTROLS | place, .results = 1, .eval = by_control, .data = data};
    sel_quantity q = {.components = 1};
    q.part[0].function = f;
    return q;
}

/* A control set between two calls holds from the next step on, in steps that a graph holds too. */
static void controls_act_from_the_next_step_on(void **unused) {
    (void)unused;
    static sel_named_number valve[1];
    for (int p = 0; p < 2; p++) {
        for (int fields = 0; fields < 2; fields++) {
            twins *t = begin_twins(45, 22, 0.3, true, 6);
            aqua_case *c = &t->c;
            snprintf(now, sizeof now, "controls, %s, %s", precisions[p],
                     fields ? "fields" : "uniform");
            valve[0].name = "valve";
            valve[0].value = 0.1;
            c->params.common.controls = (sel_numbers){1, valve};
            c->params.common.precision = precision_of[p];
            case_level(c, "sea", case_face(c, SEL_X_MIN), controlled(c, 0, 100.2));
            case_open(c, "rest", sel_shape_make(c->arena, SEL_SHAPE_REST, NULL), 0.1);
            c->params.rain = controlled(c, fields ? SEL_ON_X : 0, 50);
            c->params.infiltration = controlled(c, fields ? SEL_ON_X : 0, 10);
            case_source(c, 20.5, 10.5, controlled(c, 0, 0.001));
            start_twins(t);
            for (int k = 0; k < 6; k++) {
                c->domain->control_values[0] = k == 3 ? 0.5 : 0.1 * k;
                advance(t, k % 2 ? 70 : 5);
                compare_all(t);
            }
            end_twins(t);
        }
    }
}

/* The message of the first failure: of advancing, or of waiting for it. */
static void first_error(twins *t, int k, char *text, size_t size) {
    sel_error error = {.status = SEL_OK};
    sel_status status = SEL_OK;
    for (int block = 0; block < 10 && !status; block++) {
        status = t->backend[k]->advance(t->state[k], 40, true, &error);
    }
    status = status ? status : sel_backend_wait(t->backend[k], t->state[k], &error);
    assert_int_equal(status, SEL_BAD_SCENARIO);
    snprintf(text, size, "%s", error.text);
}

static void must_fail_alike(twins *t) {
    char text[2][sizeof t->c.error.text];
    for (int k = 0; k < 2; k++) {
        first_error(t, k, text[k], sizeof text[k]);
    }
    assert_string_equal(text[0], text[1]);
    assert_non_null(strstr(text[0], "give depth_limit"));
    end_twins(t);
}

/* By the water that is there, and by itself. */
static void too_deep_by_a_source_is_the_same_error(void **unused) {
    (void)unused;
    static const double discharges[] = {3.3, 5};
    for (int k = 0; k < 2; k++) {
        twins *t = begin_twins(45, 22, 1, false, 8);
        snprintf(now, sizeof now, "too deep by %g m3/s", discharges[k]);
        t->c.params.common.precision = SEL_F32;
        walls(t);
        case_source(&t->c, 20.5, 10.5, sel_constant(discharges[k]));
        start_twins(t);
        must_fail_alike(t);
    }
}

/* Also where the soil takes the excess in the same step, mm/h. */
static void too_deep_by_the_flow_is_the_same_error(void **unused) {
    (void)unused;
    static const double soils[] = {0, 50000};
    for (int k = 0; k < 2; k++) {
        twins *t = begin_twins(45, 22, 1, false, 8);
        snprintf(now, sizeof now, "too deep by the flow, soil %g mm/h", soils[k]);
        for (int i = 0; i < 45 * 22; i++) {
            t->ground[i] = 100 + 0.3 * (fabs(i % 45 - 22.0) + abs(i / 45 - 11));
            t->depth[i] = 1;
        }
        t->c.params.depth_limit = 1.01;
        t->c.params.common.precision = SEL_F32;
        t->c.params.infiltration = sel_constant(soils[k]);
        walls(t);
        start_twins(t);
        must_fail_alike(t);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reading_store_and_scheme_agrees),
        cmocka_unit_test(thin_and_odd_sizes_agree),
        cmocka_unit_test(strides_lists_and_precisions_of_reads_agree),
        cmocka_unit_test(answers_belong_to_their_step),
        cmocka_unit_test(controls_act_from_the_next_step_on),
        cmocka_unit_test(too_deep_by_a_source_is_the_same_error),
        cmocka_unit_test(too_deep_by_the_flow_is_the_same_error),
    };
    return find_second("test_cuda_aqua", argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL)
                                                     : 0;
}
