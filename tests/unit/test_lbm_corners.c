/* test_lbm_corners.c -- where faces meet at a corner or an edge: the order of painting decides
 * nothing, walls that slide bring in no mass, and what a link carries counts once. */
#include "tests/unit/lbm_case.h"

/* A region on one face. */
typedef struct paint {
    int face;
    const sel_table *law;
    int scheme;
    sel_quantity velocity;
} paint;

enum { MOST_FACES = 6 };

/* Orders of painting: forward, backward, mixed. In 2-D those below 4 count. */
static const int orders[3][MOST_FACES] = {
    {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}};

/* Faces painted in this order; region_of[p]: that of paint p. */
static void begin_painted(lbm_case *c, int dims, int collision, const paint *paints,
                          const int *order, int region_of[MOST_FACES]) {
    case_begin_size(c, (sel_ints){dims, {7, 6, 5}}, 0.6);
    c->params.collision = collision;
    for (int k = 0; k < MOST_FACES; k++) {
        const paint *p = &paints[order[k]];
        if (order[k] < 2 * dims) {
            case_region(c, case_face(c, p->face), p->law, p->velocity);
            region_of[order[k]] = c->params.common.regions.n;
            if (p->law == &lbm_wall_table) {
                c->laws[c->params.common.regions.n - 1].wall.scheme = p->scheme;
            }
        }
    }
    case_must_plan(c);
    c->plan->wants_balance = true;
    case_create(c);
}

/* The flow after some steps, and what each face carried. */
typedef struct result {
    double u[3 * 7 * 6 * 5];
    struct {
        double force[3], torque[3], flux;
    } of[MOST_FACES];
} result;

static void run_painted(int dims, int collision, const paint *paints, const int *order,
                        result *to) {
    int region_of[MOST_FACES];
    lbm_case c;
    memset(to, 0, sizeof *to);
    begin_painted(&c, dims, collision, paints, order, region_of);
    case_advance(&c, 60);
    case_read(&c, LBM_VELOCITY, dims, to->u);
    for (int p = 0; p < 2 * dims; p++) {
        const sel_request force = case_force(&c, region_of[p], 1, 2);
        memcpy(to->of[p].force, force.force, sizeof force.force);
        memcpy(to->of[p].torque, force.torque, sizeof force.torque);
        to->of[p].flux = case_flux(&c, region_of[p]);
    }
    case_end(&c);
}

static void any_order_is_the_same(int dims, const paint *paints) {
    static const int collisions[] = {LBM_TRT, LBM_HYBRID};
    for (int k = 2; k < 6; k++) {
        result first, other;
        run_painted(dims, collisions[k % 2], paints, orders[0], &first);
        run_painted(dims, collisions[k % 2], paints, orders[k / 2], &other);
        assert_memory_equal(&first, &other, sizeof first);
    }
}

static sel_quantity velocity(int dims, double x, double y, double z) {
    return dims == 3 ? sel_constant3(x, y, z) : sel_constant2(x, y);
}

/* Every face a wall with a velocity of its own. */
static void moving_walls(int dims, int scheme, paint paints[MOST_FACES]) {
    for (int face = 0; face < 2 * dims; face++) {
        const double u[3] = {0.01 * face, 0.02 - 0.007 * face, 0.005 * face};
        double along[3] = {u[0], u[1], u[2]};
        along[face / 2] = face % 2 ? -1e-3 : 1.3e-3;
        paints[face] =
            (paint){face, &lbm_wall_table, scheme, velocity(dims, along[0], along[1], along[2])};
    }
}

static void order_of_painting_decides_nothing_where_walls_meet(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        paint paints[MOST_FACES];
        moving_walls(dims, LBM_HALFWAY, paints);
        any_order_is_the_same(dims, paints);
    }
}

static void order_of_painting_decides_nothing_where_wet_walls_meet(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        paint paints[MOST_FACES];
        moving_walls(dims, LBM_ZOU_HE, paints);
        any_order_is_the_same(dims, paints);
    }
}

static void order_of_painting_decides_nothing_where_slip_and_openings_meet(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        const paint paints[MOST_FACES] = {
            {SEL_X_MIN, &lbm_velocity_table, 0, velocity(dims, 0.02, 0, 0)},
            {SEL_X_MAX, &lbm_pressure_table, 0, sel_constant(1e-3)},
            {SEL_Y_MIN, &lbm_slip_table, 0, {0}},
            {SEL_Y_MAX, &lbm_wall_table, LBM_ZOU_HE, velocity(dims, 0.01, 0, 0.02)},
            {SEL_Z_MIN, &lbm_slip_table, 0, {0}},
            {SEL_Z_MAX, &lbm_wall_table, LBM_ZOU_HE, velocity(dims, -0.01, 0.02, 0)}};
        const paint closed[MOST_FACES] = {
            {SEL_X_MIN, &lbm_slip_table, 0, {0}},
            {SEL_X_MAX, &lbm_wall_table, 0, velocity(dims, 0.001, 0.02, 0)},
            {SEL_Y_MIN, &lbm_slip_table, 0, {0}},
            {SEL_Y_MAX, &lbm_wall_table, 0, velocity(dims, 0.05, 0.001, 0)},
            {SEL_Z_MIN, &lbm_slip_table, 0, {0}},
            {SEL_Z_MAX, &lbm_outflow_table, 0, {0}}};
        any_order_is_the_same(dims, paints);
        any_order_is_the_same(dims, closed);
    }
}

static double total_mass(lbm_case *c) {
    sel_request mass = {
        .kind = SEL_REDUCE, .field = LBM_DENSITY, .box = sel_grid_box(&c->domain->grid)};
    case_request(c, &mass);
    return mass.sum[0];
}

/* Two walls that slide away from their common corner, the third beside them a wall or slip. */
static void walls_that_slide_apart_keep_the_mass(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        for (int k = 0; k < 4; k++) {
            const bool slips = k % 2;
            paint paints[MOST_FACES];
            int region_of[MOST_FACES];
            lbm_case c;
            for (int face = 0; face < 2 * dims; face++) {
                paints[face] = (paint){face, &lbm_wall_table, LBM_HALFWAY, {0}};
            }
            paints[SEL_X_MIN].velocity = velocity(dims, 0, -0.1, 0);
            paints[SEL_Y_MAX].velocity = velocity(dims, 0.1, 0, 0.03);
            paints[SEL_X_MAX].law = slips ? &lbm_slip_table : &lbm_wall_table;
            begin_painted(&c, dims, k < 2 ? LBM_TRT : LBM_HYBRID, paints, orders[slips], region_of);
            const double mass = total_mass(&c);
            case_advance(&c, dims == 2 ? 100000 : 5000);
            assert_true(fabs(total_mass(&c) - mass) < 1e-11 * mass);
            case_end(&c);
        }
    }
}

static void in_time(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)y;
    value[0] = ((const double *)data)[0] * cos(0.3 * t);
    value[1] = ((const double *)data)[1] * sin(0.2 * t);
}

/* Pistons that meet, each with a velocity in time: they bring in what they sweep over, and of each
 * other's velocities nothing. */
static void pistons_bring_in_what_they_sweep_over(void **unused) {
    (void)unused;
    enum { NX = 8, NY = 6 };
    static const double left[2] = {2e-3, 0.05}, below[2] = {0.04, 3e-3};
    for (int order = 0; order < 2; order++) {
        lbm_case c;
        case_begin(&c, NX, NY, 0.7);
        case_walls(&c, SEL_X_MAX, SEL_Y_MAX);
        for (int k = 0; k < 2; k++) {
            const bool is_left = k == order;
            case_region(&c, case_face(&c, is_left ? SEL_X_MIN : SEL_Y_MIN), &lbm_wall_table,
                        case_of(&c, SEL_ON_T, 2, in_time, is_left ? left : below));
        }
        case_start(&c);
        for (int step = 0; step < 20; step++) {
            const double mass = total_mass(&c), t = step + 0.5;
            case_advance(&c, 1);
            const double swept = NY * left[0] * cos(0.3 * t) + NX * below[1] * sin(0.2 * t);
            assert_true(fabs(total_mass(&c) - mass - swept) < 1e-13);
        }
        case_end(&c);
    }
}

/* A fluid at rest under pressure: a wall, or slip, gets it along its normal in each cell, of the
 * diagonal in a corner half. The other half is the other face's. */
static void both_faces_carry_half_of_their_corner(void **unused) {
    (void)unused;
    enum { N = 6 };
    static const double deviation = 0.01;
    for (int slips = 0; slips < 2; slips++) {
        double all[2] = {0, 0};
        lbm_case c;
        case_begin(&c, N, N, 0.8);
        c.params.initial.density = sel_constant(1 + deviation);
        for (int face = 0; face < 4; face++) {
            case_region(&c, case_face(&c, face), slips ? &lbm_slip_table : &lbm_wall_table,
                        (sel_quantity){0});
        }
        case_start(&c);
        case_advance(&c, 2);
        for (int face = 0; face < 4; face++) {
            const sel_request f = case_force(&c, face + 1, 1, 2);
            const double outwards = (face % 2 ? 1 : -1) * f.force[face / 2];
            /* each diagonal carries 2/36 of the deviation along an axis, two of them are halved */
            const double exact = deviation * (N / 3.0 - 1 / 18.0);
            assert_true(fabs(outwards - exact) < 1e-14);
            assert_true(fabs(f.force[1 - face / 2]) < 1e-14);
            all[0] += f.force[0];
            all[1] += f.force[1];
        }
        assert_true(fabs(all[0]) < 1e-14 && fabs(all[1]) < 1e-14);
        case_end(&c);
    }
}

/* What the regions carried is what the fluid has lost: momentum in the mean of two steps, mass in
 * one. A half-way wall that moves counts the momentum in its own frame: what it lets in brings
 * momentum with its own velocity, too. Closures of wet faces find the momentum, so that it is
 * compared without them. */
static void what_regions_carry_is_lost(int dims, int collision, const paint *paints) {
    const int count = 2 * dims;
    bool wet = false;
    int region_of[MOST_FACES];
    lbm_case c;
    begin_painted(&c, dims, collision, paints, orders[0], region_of);
    for (int face = 0; face < count; face++) {
        wet = wet || paints[face].scheme == LBM_ZOU_HE ||
              (paints[face].law != &lbm_wall_table && paints[face].law != &lbm_slip_table);
    }
    double before[3] = {0}, earlier[3] = {0}, mass[2] = {0}, left[MOST_FACES + 1] = {0};
    double flux[MOST_FACES + 1] = {0};
    for (int step = 0; step < 30; step++) {
        double now[3] = {0}, taken[3] = {0}, out = 0, u[3 * 7 * 6 * 5], rho[7 * 6 * 5];
        case_advance(&c, 1);
        case_read(&c, LBM_VELOCITY, dims, u);
        case_read(&c, LBM_DENSITY, 1, rho);
        for (int64_t k = 0; k < sel_grid_cells(&c.domain->grid); k++) {
            for (int a = 0; a < dims; a++) {
                now[a] += rho[k] * u[dims * k + a];
            }
        }
        mass[1] = total_mass(&c);
        for (int region = 1; region <= count; region++) {
            const sel_request f = case_force(&c, region, 1, 2);
            const sel_quantity *own = &paints[region - 1].velocity;
            const double flows = case_flux(&c, region);
            for (int a = 0; a < dims; a++) {
                const double with = a < own->components ? own->part[a].constant : 0;
                taken[a] += f.force[a] + with * (flux[region] + flows) / 2;
            }
            flux[region] = flows;
            out += flows;
            left[region] += flows;
        }
        for (int a = 0; a < dims && step > 1 && !wet; a++) {
            assert_true(fabs(taken[a] + (now[a] - earlier[a]) / 2) < 1e-13);
        }
        assert_true(step == 0 || fabs(out - (mass[0] - mass[1])) < 1e-12);
        mass[0] = mass[1];
        memcpy(earlier, before, sizeof before);
        memcpy(before, now, sizeof now);
    }
    sel_term terms[SEL_MAX_TERMS];
    sel_request balance = {.kind = SEL_BALANCE, .terms = terms};
    case_request(&c, &balance);
    for (int region = 1; region <= count; region++) {
        assert_true(fabs(left[region] - case_state(&c)->all.out[region]) < 1e-13);
    }
    case_end(&c);
}

static void forces_and_fluxes_of_all_regions_are_what_the_fluid_loses(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
            paint paints[MOST_FACES];
            moving_walls(dims, LBM_HALFWAY, paints);
            paints[SEL_Y_MIN].law = paints[SEL_X_MIN].law = &lbm_slip_table;
            paints[SEL_Y_MIN].velocity = paints[SEL_X_MIN].velocity = (sel_quantity){0};
            what_regions_carry_is_lost(dims, collision, paints);
        }
    }
}

/* Regularized closures replace what has arrived in a cell, too. */
static void fluxes_of_wet_faces_are_what_the_fluid_loses(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        const paint paints[MOST_FACES] = {
            {SEL_X_MIN, &lbm_velocity_table, 0, velocity(dims, 0.02, 0, 0)},
            {SEL_X_MAX, &lbm_pressure_table, 0, sel_constant(1e-3)},
            {SEL_Y_MIN, &lbm_slip_table, 0, {0}},
            {SEL_Y_MAX, &lbm_wall_table, LBM_ZOU_HE, velocity(dims, 0.01, 0, 0.02)},
            {SEL_Z_MIN, &lbm_wall_table, LBM_HALFWAY, velocity(dims, 0.02, 0.01, 1e-3)},
            {SEL_Z_MAX, &lbm_wall_table, LBM_HALFWAY, {0}}};
        for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
            what_regions_carry_is_lost(dims, collision, paints);
        }
    }
}

/* The least of values at distances of 1, by the parabola through the least and its neighbours. */
static double least_of(const double *v, int count) {
    int k = 1;
    for (int i = 1; i < count - 1; i++) {
        k = v[i] < v[k] ? i : k;
    }
    const double slope = 0.5 * (v[k + 1] - v[k - 1]), bend = v[k + 1] - 2 * v[k] + v[k - 1];
    return v[k] - slope * slope / (2 * bend);
}

/* The square cavity at Re 100: the least velocity on the vertical through the centre is -0.2140424
 * of the lid's (Botella and Peyret 1998). */
static void cavity_is_accurate_whether_its_lid_is_painted_first_or_last(void **unused) {
    (void)unused;
    enum { N = 33 };
    for (int run = 0; run < 4; run++) {
        const int order = run % 2;
        double u[2 * N * N], middle[N];
        lbm_case c;
        case_begin(&c, N, N, 0.5 + 3 * 0.05 * N / 100);
        c.params.collision = run < 2 ? LBM_TRT : LBM_HYBRID;
        for (int k = 0; k < 4; k++) {
            const int face = order ? SEL_Y_MAX - k : k;
            case_region(&c, case_face(&c, face), &lbm_wall_table,
                        face == SEL_Y_MAX ? sel_constant2(0.05, 0) : (sel_quantity){0});
        }
        case_start(&c);
        case_run_until_steady(&c, 1000, 1e-7);
        case_read(&c, LBM_VELOCITY, 2, u);
        for (int y = 0; y < N; y++) {
            middle[y] = u[2 * (N * y + N / 2)] / 0.05;
        }
        const double least = least_of(middle, N);
        print_message("# cavity, %s, lid %s: least velocity %.5f\n",
                      lbm_collision_names[c.params.collision], order ? "first" : "last", least);
        assert_true(fabs(least + 0.2140424) < 0.003);
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_painting_decides_nothing_where_walls_meet),
        cmocka_unit_test(order_of_painting_decides_nothing_where_wet_walls_meet),
        cmocka_unit_test(order_of_painting_decides_nothing_where_slip_and_openings_meet),
        cmocka_unit_test(walls_that_slide_apart_keep_the_mass),
        cmocka_unit_test(pistons_bring_in_what_they_sweep_over),
        cmocka_unit_test(both_faces_carry_half_of_their_corner),
        cmocka_unit_test(forces_and_fluxes_of_all_regions_are_what_the_fluid_loses),
        cmocka_unit_test(fluxes_of_wet_faces_are_what_the_fluid_loses),
        cmocka_unit_test(cavity_is_accurate_whether_its_lid_is_painted_first_or_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
