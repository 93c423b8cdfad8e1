/* test_aqua_step.c -- one step of sel.aqua against the rule written down another way, and what
 * holds for any number of steps: mass, symmetry, rest, independence of threads and levels. */
#include "engine/solvers/aqua/aqua_state.h"
#include "tests/unit/aqua_case.h"
#include "tests/unit/aqua_oracle.h"

enum { N = 24, CELLS = N * N };

static const double alphas[] = {0.005, 0.2, 1};

/* Random ground between 0 and 1 m under water up to 0.5 m, a third of it dry. */
static void random_state(double *h, double *w, uint64_t seed) {
    case_fill_random(h, CELLS, 0, 1, seed);
    case_fill_random(w, CELLS, -0.25, 0.5, seed + 1);
    for (int i = 0; i < CELLS; i++) {
        w[i] = w[i] < 0 ? 0 : w[i];
    }
}

static void begin_square(aqua_case *c, double alpha, bool periodic, const double *h,
                         const double *w) {
    case_begin(c, N, N, alpha);
    c->params.common.periodic = periodic ? 3 : 0;
    c->params.ground = case_values(c, h);
    c->params.initial.depth = case_values(c, w);
    if (!periodic) {
        case_walls(c);
    }
}

static double step_error(int equilibrium, int scheme, double alpha, bool periodic, uint64_t seed) {
    double h[CELLS], w[CELLS], found[CELLS], error = 0;
    aqua_case c;
    random_state(h, w, seed);
    begin_square(&c, alpha, periodic, h, w);
    c.params.equilibrium = equilibrium;
    c.params.scheme = scheme;
    case_start(&c);
    case_advance(&c, 1);
    case_read(&c, AQUA_DEPTH, found);
    const double largest = aqua_store_of((const aqua_plan *)c.plan).largest_alpha;
    const oracle o = {N, N, periodic, equilibrium, fmin(alpha, largest), h};
    oracle_step(&o, w);
    for (int i = 0; i < CELLS; i++) {
        error = fmax(error, fabs(found[i] - w[i]));
        assert_true(found[i] >= 0);
    }
    case_end(&c);
    return error;
}

static void test_a_step_is_that_of_the_thesis(void **unused) {
    (void)unused;
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int scheme = 0; scheme < 2; scheme++) {
            double error = 0;
            for (int k = 0; k < 24; k++) {
                error =
                    fmax(error, step_error(e, scheme, alphas[k % 3], k / 3 % 2, 7 * (uint64_t)k));
            }
            print_message("# %s, %s: largest difference %.2e m\n", aqua_equilibrium_names[e],
                          aqua_scheme_names[scheme], error);
            assert_true(error <= 4.45e-16);
        }
    }
}

/* Depths after `steps` steps, in units of the store. */
static void run_depths(int equilibrium, int scheme, int precision, int threads, double alpha,
                       const double *h, const double *w, int steps, double *found) {
    aqua_case c;
    begin_square(&c, alpha, false, h, w);
    c.params.equilibrium = equilibrium;
    c.params.scheme = scheme;
    c.params.common.precision = precision;
    omp_set_num_threads(threads);
    case_start(&c);
    case_advance(&c, steps);
    case_read(&c, AQUA_DEPTH, found);
    case_end(&c);
}

static void test_whole_quanta_scatter_as_they_gather(void **unused) {
    (void)unused;
    double h[CELLS], w[CELLS], one[CELLS], other[CELLS];
    random_state(h, w, 5);
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int k = 0; k < 3; k++) {
            run_depths(e, AQUA_GATHER, SEL_F32, 1, alphas[k], h, w, 200, one);
            run_depths(e, AQUA_SCATTER, SEL_F32, 2, alphas[k], h, w, 200, other);
            assert_memory_equal(one, other, sizeof one);
        }
    }
}

static double depth_at(const void *water, bool whole, int64_t at) {
    return whole ? ((const int32_t *)water)[at] : ((const double *)water)[at];
}

/* Whether the depths after a step are those before it less what flows through the edges of each
 * cell, which are computed one by one. */
static void assert_by_edges(const aqua_state *state) {
    const aqua_layout layout = state->plan->layout;
    const bool whole = state->store.whole;
    const aqua_step step = {.layout = layout,
                            .bed = state->bed,
                            .from = state->water[(state->base.step - 1) & 1],
                            .to = state->water[state->base.step & 1],
                            .alpha = state->store.alpha,
                            .least = state->store.least,
                            .equilibrium = state->plan->params->equilibrium};
    for (int64_t i = 0; i < layout.nx * layout.ny; i++) {
        const int64_t at = aqua_index(&layout, i % layout.nx, i / layout.nx);
        const double before = depth_at(step.from, whole, at);
        bool wet = before > 0;
        double out[AQUA_AROUND] = {0};
        for (int k = 0; k < AQUA_AROUND; k++) {
            wet = wet || depth_at(step.from, whole,
                                  at + aqua_index(&layout, aqua_around[k][0], aqua_around[k][1]) -
                                      aqua_index(&layout, 0, 0)) > 0;
        }
        for (int k = 0; k < AQUA_AROUND && wet; k++) {
            out[k] = state->loops->edge(&step, &(aqua_edge){at, k, 1});
        }
        assert_true(depth_at(step.to, whole, at) == before - oracle_tree(out));
    }
}

/* Pools in dry land: the flow leaves out bands of rows without water, which wait for water from all
 * sides, across tiles and the borders of a plane that is closed on itself. */
static void test_nothing_is_missed_on_dry_land(void **unused) {
    (void)unused;
    enum { WIDE = 300, HIGH = 90, PLANE = WIDE * HIGH };
    static double h[PLANE], w[PLANE], found[2][PLANE];
    static const int pools[][2] = {{0, 0}, {255, 46}, {130, 89}, {299, 70}};
    case_fill_random(h, PLANE, 0, 0.01, 21);
    for (int k = 0; k < 4; k++) {
        w[pools[k][1] * WIDE + pools[k][0]] = 30;
    }
    for (int way = 0; way < 2 * AQUA_EQUILIBRIA; way++) {
        int64_t wet[2] = {0, 0};
        for (int scheme = 0; scheme < 2; scheme++) {
            aqua_case c;
            case_begin(&c, WIDE, HIGH, 0.7);
            c.params.common.periodic = 3;
            c.params.common.precision = way % 2 ? SEL_F64 : SEL_F32;
            c.params.ground = case_values(&c, h);
            c.params.initial.depth = case_values(&c, w);
            c.params.equilibrium = way / 2;
            c.params.scheme = scheme;
            case_start(&c);
            for (int n = 0; n < 60; n++) {
                case_advance(&c, 1);
                if (scheme == AQUA_GATHER) {
                    assert_by_edges((const aqua_state *)c.state);
                }
            }
            case_read(&c, AQUA_DEPTH, found[scheme]);
            case_end(&c);
        }
        for (int i = 0; i < PLANE; i++) {
            const double apart = fabs(found[0][i] - found[1][i]);
            assert_true(way % 2 ? apart < 1e-12 : apart == 0);
            wet[found[AQUA_GATHER][i] > 0]++;
        }
        assert_true(wet[0] > PLANE / 4 && wet[1] > PLANE / 40);
    }
}

static void test_threads_do_not_matter(void **unused) {
    (void)unused;
    double h[CELLS], w[CELLS], one[CELLS], other[CELLS];
    random_state(h, w, 11);
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int scheme = 0; scheme < 2; scheme++) {
            run_depths(e, scheme, SEL_F64, 1, 0.3, h, w, 50, one);
            run_depths(e, scheme, SEL_F64, 5, 0.3, h, w, 50, other);
            assert_memory_equal(one, other, sizeof one);
        }
    }
}

/* The state that symmetry s (0 to 7) makes of v. */
static void turn(const double *v, int s, double *to) {
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++) {
            int u = s & 1 ? N - 1 - x : x, t = s & 2 ? N - 1 - y : y;
            to[s & 4 ? u * N + t : t * N + u] = v[y * N + x];
        }
    }
}

static void test_the_square_has_eight_symmetries(void **unused) {
    (void)unused;
    double h[CELLS], w[CELLS], plain[CELLS], th[CELLS], tw[CELLS], turned[CELLS], back[CELLS];
    random_state(h, w, 3);
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int precision = 0; precision < 2; precision++) {
            run_depths(e, AQUA_GATHER, precision, 1, 0.2, h, w, 50, plain);
            for (int s = 1; s < 8; s++) {
                turn(h, s, th);
                turn(w, s, tw);
                run_depths(e, AQUA_GATHER, precision, 1, 0.2, th, tw, 50, turned);
                turn(plain, s, back);
                assert_memory_equal(turned, back, sizeof back);
            }
        }
    }
}

static void test_quanta_are_never_lost_nor_depths_negative(void **unused) {
    (void)unused;
    double h[CELLS], w[CELLS], found[CELLS];
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int k = 0; k < 3; k++) {
            aqua_case c;
            random_state(h, w, 17);
            begin_square(&c, alphas[k], false, h, w);
            c.params.equilibrium = e;
            c.params.common.precision = SEL_F32;
            case_start(&c);
            const double volume = case_term(&c, "volume");
            for (int block = 0; block < 10; block++) {
                case_advance(&c, k == 1 ? 10000 : 500);
                assert_true(case_term(&c, "volume") == volume);
                case_read(&c, AQUA_DEPTH, found);
                for (int i = 0; i < CELLS; i++) {
                    assert_true(found[i] >= 0);
                }
            }
            case_end(&c);
        }
    }
}

static void test_f64_keeps_mass_to_round_off(void **unused) {
    (void)unused;
    double h[CELLS], w[CELLS];
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        aqua_case c;
        random_state(h, w, 23);
        begin_square(&c, 0.2, true, h, w);
        c.params.equilibrium = e;
        case_start(&c);
        case_advance(&c, 400);
        assert_true(fabs(case_term(&c, "error")) < 1e-15);
        case_end(&c);
    }
}

/* A lake over dyadic ground, with an island. */
static void test_a_lake_at_rest_stays_so(void **unused) {
    (void)unused;
    double h[CELLS], w[CELLS], before[CELLS], found[CELLS];
    uint64_t seed = 1;
    for (int i = 0; i < CELLS; i++) {
        h[i] = floor(64 * case_random(&seed)) / 64;
        w[i] = h[i] < 0.75 ? 0.75 - h[i] : 0;
    }
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int precision = 0; precision < 2; precision++) {
            run_depths(e, AQUA_GATHER, precision, 1, 0.2, h, w, 0, before);
            run_depths(e, AQUA_GATHER, precision, 1, 0.2, h, w, 200, found);
            assert_memory_equal(before, found, sizeof found);
        }
    }
}

/* Every processor level gives the same bits. */
static void test_levels_do_not_matter(void **unused) {
    (void)unused;
    enum { WIDE = 300, HIGH = 40, PITCH = 320, ROOM = PITCH * (HIGH + 4) };
    static float bed[ROOM];
    static int32_t from[ROOM], to[2][ROOM];
    uint64_t seed = 9;
    const aqua_layout layout = {WIDE, HIGH, PITCH, ROOM};
    for (int i = 0; i < ROOM; i++) {
        bed[i] = (float)AQUA_NO_GROUND;
    }
    for (int64_t y = 0; y < HIGH; y++) {
        for (int64_t x = 0; x < WIDE; x++) {
            bed[aqua_index(&layout, x, y)] = rintf((float)(case_random(&seed) * 6e7));
            from[aqua_index(&layout, x, y)] = x < 100 ? 0 : (int32_t)(case_random(&seed) * 4e7);
        }
    }
    void *scratch = malloc(aqua_loops_usable(0)[SEL_F32].scratch);
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        for (int k = 0; aqua_loops_usable(k); k++) {
            const aqua_step step = {.layout = layout,
                                    .bed = bed,
                                    .from = from,
                                    .to = to[k > 0],
                                    .alpha = 0.3,
                                    .equilibrium = e};
            aqua_loops_usable(k)[SEL_F32].flow(&step, 0, HIGH, scratch);
            assert_memory_equal(to[0], to[k > 0], sizeof to[0]);
        }
    }
    free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_is_that_of_the_thesis),
        cmocka_unit_test(test_whole_quanta_scatter_as_they_gather),
        cmocka_unit_test(test_nothing_is_missed_on_dry_land),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_the_square_has_eight_symmetries),
        cmocka_unit_test(test_quanta_are_never_lost_nor_depths_negative),
        cmocka_unit_test(test_f64_keeps_mass_to_round_off),
        cmocka_unit_test(test_a_lake_at_rest_stays_so),
        cmocka_unit_test(test_levels_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
