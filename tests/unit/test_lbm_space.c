/* test_lbm_space.c -- flows on D3Q19, some on D2Q9 too, against exact solutions and balances;
 * closed boxes on both lattices. */
#include "tests/unit/lbm_case.h"

/* A vector whose axes are moved on by `turn`: axis a becomes a + turn. */
typedef struct vector {
    double v[3];
} vector;

static vector turned(double x, double y, double z, int turn) {
    const double from[3] = {x, y, z};
    vector to;
    for (int a = 0; a < 3; a++) {
        to.v[(a + turn) % 3] = from[a];
    }
    return to;
}

static sel_quantity turned_constant(double x, double y, double z, int turn) {
    vector to = turned(x, y, z, turn);
    return sel_constant3(to.v[0], to.v[1], to.v[2]);
}

static int turned_face(int face, int turn) {
    return (face + 2 * turn) % SEL_FACES;
}

/* nx by ny by nz cells before they are turned. */
static void begin_turned(lbm_case *c, int nx, int ny, int nz, int turn, double tau) {
    vector n = turned(nx, ny, nz, turn);
    case_begin3(c, (int64_t)n.v[0], (int64_t)n.v[1], (int64_t)n.v[2], tau);
}

/* Flow along one axis between walls across another, in 2-D and 3-D: the parabola and its maximum
 * half-way between the walls are exact with 3/16. */
static void test_plane_poiseuille_flow_is_exact_along_each_axis(void **unused) {
    (void)unused;
    enum { N = 9 };
    static const struct {
        int dims, along, across;
    } flows[] = {{2, 0, 1}, {2, 1, 0}, {3, 0, 1}, {3, 0, 2},
                 {3, 1, 2}, {3, 1, 0}, {3, 2, 0}, {3, 2, 1}};
    const double drive = 1e-5, nu = 0.1;
    for (size_t k = 0; k < sizeof flows / sizeof *flows; k++) {
        const int dims = flows[k].dims, along = flows[k].along, across = flows[k].across;
        sel_ints n = {dims, {1, 1, dims == 3}};
        double a[3] = {0}, u[3 * N], error = 0, largest = drive / (2 * nu) * N * N / 4;
        lbm_case c;
        n.v[across] = N;
        a[along] = drive;
        case_begin_size(&c, n, 0.8);
        c.params.common.periodic = ((1u << dims) - 1) & ~(1u << across);
        c.params.acceleration =
            dims == 3 ? sel_constant3(a[0], a[1], a[2]) : sel_constant2(a[0], a[1]);
        case_walls(&c, 2 * across, 2 * across + 1);
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-14);
        case_read(&c, LBM_VELOCITY, dims, u);
        for (int i = 0; i < N; i++) {
            double z = i + 0.5;
            for (int b = 0; b < dims; b++) {
                double exact = b == along ? drive / (2 * nu) * z * (N - z) : 0;
                error = fmax(error, fabs(u[dims * i + b] - exact) / largest);
            }
        }
        print_message("# %d-D flow along %d between walls across %d: error %.1e\n", dims, along,
                      across, error);
        assert_true(error < 1e-9);
        case_end(&c);
    }
}

/* Walls across z move in their planes: half-way walls, and walls at the cell centres. */
static void test_couette_flow_is_exact(void **unused) {
    (void)unused;
    enum { N = 8 };
    for (int scheme = LBM_HALFWAY; scheme <= LBM_ZOU_HE; scheme++) {
        for (int turn = 0; turn < 3; turn++) {
            double u[3 * N], error = 0;
            lbm_case c;
            begin_turned(&c, 1, 1, N, turn, 0.7);
            c.params.common.periodic = 7 & ~(1u << (2 + turn) % 3);
            for (int side = 0; side < 2; side++) {
                case_region(&c, case_face(&c, turned_face(SEL_Z_MIN + side, turn)), &lbm_wall_table,
                            turned_constant(0.03 * side, -0.05 * side, 0, turn));
                c.laws[side].wall.scheme = scheme;
            }
            case_start(&c);
            case_run_until_steady(&c, 500, 1e-14);
            case_read(&c, LBM_VELOCITY, 3, u);
            for (int i = 0; i < N; i++) {
                double z = scheme == LBM_HALFWAY ? (i + 0.5) / N : i / (N - 1.0);
                vector exact = turned(0.03 * z, -0.05 * z, 0, turn);
                for (int a = 0; a < 3; a++) {
                    error = fmax(error, fabs(u[3 * i + a] - exact.v[a]) / 0.05);
                }
            }
            print_message("# Couette flow, %s, turned by %d: error %.1e\n", lbm_wall_names[scheme],
                          turn, error);
            assert_true(error < 1e-9);
            case_end(&c);
        }
    }
}

/* The same numbers on every machine, between -1 and 1. */
static double noise(double x, double y, double z, int component) {
    double s = sin(12.9898 * x + 78.233 * y + 37.719 * z + 4.581 * component) * 43758.5453;
    return 2 * (s - floor(s)) - 1;
}

static void random_flow(const double at[3], double t, const void *data, double value[3]) {
    (void)t;
    (void)data;
    for (int a = 0; a < 3; a++) {
        value[a] = 0.05 * noise(at[0], at[1], at[2], a);
    }
}

static double total_mass(lbm_case *c) {
    sel_request mass = {
        .kind = SEL_REDUCE, .field = LBM_DENSITY, .box = sel_grid_box(&c->domain->grid)};
    case_request(c, &mass);
    return mass.sum[0];
}

static void test_lid_driven_boxes_keep_their_mass(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        lbm_case c;
        case_begin_size(&c, (sel_ints){dims, {8, 8, 8}}, 0.55);
        c.params.initial.velocity = case_of_place(&c, SEL_ON_PLACE, dims, random_flow, NULL);
        case_wall(&c, case_faces(&c));
        case_region(&c, case_face(&c, 2 * dims - 1), &lbm_wall_table,
                    dims == 2 ? sel_constant2(0.1, 0) : sel_constant3(0.1, 0.05, 0));
        case_start(&c);
        double before = total_mass(&c);
        case_advance(&c, 10000);
        double drift = total_mass(&c) / before - 1;
        sel_request monitor = {.kind = SEL_MONITOR};
        case_request(&c, &monitor);
        print_message("# %d-D box: mass drifts by %.1e in 10000 steps, largest velocity %.3f\n",
                      dims, drift, monitor.largest);
        assert_true(fabs(drift) < 1e-12);
        assert_true(monitor.largest > 0.03 && monitor.largest < 0.12);
        case_end(&c);
    }
}

/* Sum of density times velocity. */
static vector momentum(lbm_case *c) {
    int64_t cells = sel_grid_cells(&c->domain->grid);
    double *u = malloc((size_t)(4 * cells) * sizeof *u), *rho = u + 3 * cells;
    vector sum = {{0, 0, 0}};
    case_read(c, LBM_VELOCITY, 3, u);
    case_read(c, LBM_DENSITY, 1, rho);
    for (int64_t k = 0; k < cells; k++) {
        for (int a = 0; a < 3; a++) {
            sum.v[a] += rho[k] * u[3 * k + a];
        }
    }
    free(u);
    return sum;
}

static sel_request force_on(lbm_case *c, int region, const double centre[3]) {
    sel_request request = {
        .kind = SEL_FORCE, .region = region, .centre = {centre[0], centre[1], centre[2]}};
    case_request(c, &request);
    return request;
}

static const sel_shape *ball(lbm_case *c, double x, double y, double z, double radius) {
    sel_shape_ball *shape = sel_arena_alloc(c->arena, sizeof *shape);
    *shape = (sel_shape_ball){{3, {x, y, z}}, radius};
    return sel_shape_make(c->arena, SEL_SHAPE_BALL, shape);
}

/* A driven duct around a ball: momentum grows by what the body force puts in less what body and
 * walls take out, the mean of the last two steps; when it is steady they are equal. */
static void test_momentum_balance_is_closed_in_space(void **unused) {
    (void)unused;
    const double dx = 0.5, dt = 0.25, density = 3, unit = dx / (dt * dt);
    const double drive[3] = {2e-5 * unit, 1e-5 * unit, -1e-5 * unit}, origin[3] = {0};
    for (int collision = LBM_TRT; lbm_collision_names[collision]; collision++) {
        lbm_case c;
        case_begin3(&c, 14, 10, 9, 0.8);
        c.params.common.dx = dx;
        c.params.common.dt = dt;
        c.params.density = density;
        c.params.common.periodic = 1;
        c.params.collision = collision;
        c.params.acceleration = sel_constant3(drive[0], drive[1], drive[2]);
        case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        case_walls(&c, SEL_Z_MIN, SEL_Z_MAX);
        case_wall(&c, ball(&c, 6.3 * dx, 5.1 * dx, 4.2 * dx, 2.6 * dx));
        case_start(&c);
        double error = 0, mass = total_mass(&c) * dx * dx * dx;
        vector earlier, before = momentum(&c),
                        after = before; /* two steps ago, one step ago, now */
        for (int round = 0; round < 4; round++) {
            const bool two = round == 1 || round == 2; /* the first force is of one step */
            earlier = two ? before : momentum(&c);
            before = after;
            case_advance(&c, 1);
            after = momentum(&c);
            double taken[3] = {0};
            for (int region = 1; region <= 5; region++) {
                sel_request f = force_on(&c, region, origin);
                for (int a = 0; a < 3; a++) {
                    taken[a] += f.force[a];
                }
            }
            for (int a = 0; a < 3; a++) {
                double grown = (after.v[a] - earlier.v[a]) * dx * dx * dx / (two ? 2 * dt : dt);
                error = fmax(error, fabs((grown + taken[a]) / (mass * drive[a]) - 1));
            }
            if (round == 2) {
                case_run_until_steady(&c, 1000, 1e-13);
            }
        }
        print_message("# driven duct, %s: balance of momentum to %.1e\n",
                      lbm_collision_names[collision], error);
        assert_true(error < 1e-10);
        /* moving the centre by d changes the torque by - d x force */
        const double moved[3] = {1, -2, 0.5};
        sel_request here = force_on(&c, 5, origin), there = force_on(&c, 5, moved);
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, d = (a + 2) % 3;
            double change = moved[b] * here.force[d] - moved[d] * here.force[b];
            assert_true(fabs(here.torque[a] - there.torque[a] - change) < 1e-12 * density);
        }
        case_end(&c);
    }
}

static void spin(const double at[3], double t, const void *data, double value[3]) {
    const vector *omega = data;
    (void)t;
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, d = (a + 2) % 3;
        value[a] = omega->v[b] * (at[d] - 5.5) - omega->v[d] * (at[b] - 5.5);
    }
}

/* A ball that turns in the middle of a box: the torque is against its turning, about its axis
 * only, and the same about all axes. */
static void test_torque_on_a_turning_ball(void **unused) {
    (void)unused;
    const double centre[3] = {5.5, 5.5, 5.5};
    double first = 0;
    for (int axis = 0; axis < 3; axis++) {
        vector omega = turned(0.01, 0, 0, axis);
        lbm_case c;
        case_begin3(&c, 11, 11, 11, 1);
        case_wall(&c, case_faces(&c));
        case_region(&c, ball(&c, 5.5, 5.5, 5.5, 2.7), &lbm_wall_table,
                    case_of_place(&c, SEL_ON_PLACE, 3, spin, &omega));
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-10);
        sel_request on_ball = force_on(&c, 2, centre), on_walls = force_on(&c, 1, centre);
        first = axis == 0 ? on_ball.torque[0] : first;
        /* Kirchhoff's -8 pi mu omega r^3 in an infinite fluid, more between walls */
        double infinite = -8 * pi / 6 * 0.01 * pow(2.7, 3);
        for (int a = 0; a < 3; a++) {
            double expected = a == axis ? first : 0;
            assert_true(fabs(on_ball.force[a]) < 1e-13);
            assert_true(fabs(on_ball.torque[a] - expected) < 1e-12 * fabs(first));
            assert_true(fabs(on_walls.torque[a] + expected) < 1e-8 * fabs(first));
        }
        print_message("# ball turning about axis %d: torque %.4f of that in infinite fluid\n", axis,
                      on_ball.torque[axis] / infinite);
        assert_true(on_ball.torque[axis] / infinite > 1 && on_ball.torque[axis] / infinite < 1.6);
        case_end(&c);
    }
}

/* Into a duct: zero where its walls are, `mean` on average. */
typedef struct inflow {
    double mean, from[2], width[2]; /* across the duct */
    int turn;
} inflow;

static void enter(const double at[3], double t, const void *data, double value[3]) {
    const inflow *in = data;
    double size = in->mean;
    (void)t;
    for (int k = 0; k < 2; k++) {
        double s = (at[(k + 1 + in->turn) % 3] - in->from[k]) / in->width[k];
        size *= 6 * s * (1 - s);
    }
    for (int a = 0; a < 3; a++) {
        value[a] = a == in->turn ? size : 0;
    }
}

/* What leaves by the regions in a step is what the mass inside loses in it; in the end as much
 * leaves as enters. Walls at the faces, and at the centres of the first cells, where they meet each
 * other and the open faces at edges and corners. */
static void test_mass_that_enters_a_duct_leaves_it(void **unused) {
    (void)unused;
    enum { NX = 16, NY = 11, NZ = 10 };
    const double dx = 0.5, dt = 0.1, density = 3;
    for (int k = 0; k < 6; k++) {
        int turn = k / 2, scheme = k % 2;
        double inset = scheme == LBM_ZOU_HE ? 0.5 * dx : 0;
        const inflow in = {0.1, {inset, inset}, {NY * dx - 2 * inset, NZ * dx - 2 * inset}, turn};
        lbm_case c;
        begin_turned(&c, NX, NY, NZ, turn, 0.8);
        c.params.common.dx = dx;
        c.params.common.dt = dt;
        c.params.density = density;
        case_wall(&c, case_faces(&c)); /* 1 */
        c.laws[0].wall.scheme = scheme;
        case_region(&c, case_face(&c, turned_face(SEL_X_MIN, turn)), &lbm_velocity_table,
                    case_of_place(&c, SEL_ON_PLACE, 3, enter, &in));
        case_region(&c, case_face(&c, turned_face(SEL_X_MAX, turn)), &lbm_pressure_table,
                    sel_constant(0));
        case_start(&c);
        double worst = 0;
        for (int step = 0; step < 40; step++) {
            double mass = total_mass(&c), out = 0;
            case_advance(&c, 1);
            for (int region = 1; region <= 3; region++) {
                out += case_flux(&c, region);
            }
            worst = fmax(worst, fabs(out - (mass - total_mass(&c)) * dx * dx * dx / dt));
        }
        case_run_until_steady(&c, 500, 1e-12);
        double enters = -case_flux(&c, 2), leaves = case_flux(&c, 3), walls = case_flux(&c, 1);
        print_message("# duct turned by %d, %s walls: enters %.6f, leaves %.6f, walls %.1e\n", turn,
                      lbm_wall_names[scheme], enters, leaves, walls);
        assert_true(worst < 1e-10);
        assert_true(fabs(leaves + walls - enters) < 1e-9 * enters);
        assert_true(fabs(walls) < (scheme == LBM_ZOU_HE ? 0.02 * enters : 1e-12));
        assert_true(fabs(enters / (density * in.mean * in.width[0] * in.width[1]) - 1) < 0.04);
        case_end(&c);
    }
}

/* Walls at the cell centres all about: their cells move as they are told; where two meet, along the
 * normal of each as this one tells, and along their edge with the mean of both. The flow settles.
 */
static void test_zou_he_box_has_edges_and_corners(void **unused) {
    (void)unused;
    enum { N = 9 };
    for (int dims = 2; dims <= 3; dims++) {
        double u[3 * N * N * N];
        lbm_case c;
        case_begin_size(&c, (sel_ints){dims, {N, N, N}}, 0.65);
        case_wall(&c, case_faces(&c));
        case_region(&c, case_face(&c, 2 * dims - 1), &lbm_wall_table,
                    dims == 2 ? sel_constant2(0.05, 0) : sel_constant3(0.05, 0.02, 0));
        c.laws[0].wall.scheme = c.laws[1].wall.scheme = LBM_ZOU_HE;
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-10);
        case_read(&c, LBM_VELOCITY, dims, u);
        int64_t cells = sel_grid_cells(&c.domain->grid);
        double inside = 0;
        for (int64_t k = 0; k < cells; k++) {
            const int64_t at[3] = {k % N, k / N % N, k / (N * N)};
            bool lid = at[dims - 1] == N - 1, wall = false, beside[3] = {false, false, false};
            int others = 0;
            for (int a = 0; a < dims; a++) {
                beside[a] = at[a] == 0 || at[a] == N - 1;
                wall = wall || beside[a];
                others += a < dims - 1 && beside[a];
            }
            for (int a = 0; a < dims; a++) {
                double exact = !lid || beside[a] ? 0 : a == 0 ? 0.05 : 0.02;
                exact /= 1 + others;
                assert_true(!wall || fabs(u[dims * k + a] - exact) < 1e-14);
                inside = fmax(inside, wall ? 0 : fabs(u[dims * k + a]));
            }
        }
        assert_true(inside > 0.01 && inside < 0.05);
        case_end(&c);
    }
}

/* A uniform flow through outflow and along slip faces goes on as it is. */
static void test_uniform_flow_passes_slip_and_outflow(void **unused) {
    (void)unused;
    for (int turn = 0; turn < 3; turn++) {
        double u[3 * 8 * 5 * 4], error = 0;
        lbm_case c;
        begin_turned(&c, 8, 5, 4, turn, 0.6);
        vector flow = turned(0.08, 0, 0, turn);
        c.params.initial.velocity = sel_constant3(flow.v[0], flow.v[1], flow.v[2]);
        case_region(&c, case_faces(&c), &lbm_slip_table, (sel_quantity){0});
        case_region(&c, case_face(&c, turned_face(SEL_X_MIN, turn)), &lbm_velocity_table,
                    c.params.initial.velocity);
        case_region(&c, case_face(&c, turned_face(SEL_X_MAX, turn)), &lbm_outflow_table,
                    (sel_quantity){0});
        case_start(&c);
        case_advance(&c, 200);
        case_read(&c, LBM_VELOCITY, 3, u);
        for (int k = 0; k < 3 * 8 * 5 * 4; k++) {
            error = fmax(error, fabs(u[k] - flow.v[k % 3]));
        }
        assert_true(error < 1e-13);
        case_end(&c);
    }
}

static void turned_noise(const double at[3], double t, const void *data, double value[3]) {
    int turn = *(const int *)data;
    (void)t;
    double x = at[turn % 3], y = at[(1 + turn) % 3], z = at[(2 + turn) % 3];
    for (int a = 0; a < 3; a++) {
        value[(a + turn) % 3] = 0.02 * noise(x, y, z, a);
    }
}

/* A small flow with all kinds of faces, a solid, a force and an eddy viscosity, its axes turned;
 * u[3 cells] is its velocity turned back. */
static void mixed_flow(int turn, int collision, bool outflow, double *u) {
    enum { NX = 7, NY = 6, NZ = 5, CELLS = NX * NY * NZ };
    double there[3 * CELLS];
    lbm_case c;
    begin_turned(&c, NX, NY, NZ, turn, 0.6);
    c.params.collision = collision;
    c.params.smagorinsky = 0.15;
    c.params.acceleration = turned_constant(1e-4, 2e-4, -1e-4, turn);
    c.params.initial.velocity = case_of_place(&c, SEL_ON_PLACE, 3, turned_noise, &turn);
    case_region(&c, case_face(&c, turned_face(SEL_Z_MIN, turn)), &lbm_wall_table,
                turned_constant(0.03, -0.02, 0, turn));
    case_region(&c, case_face(&c, turned_face(SEL_Z_MAX, turn)), &lbm_slip_table,
                (sel_quantity){0});
    case_wet_wall(&c, turned_face(SEL_Y_MIN, turn), turned_constant(0.01, 0, 0.02, turn));
    case_region(&c, case_face(&c, turned_face(SEL_Y_MAX, turn)),
                outflow ? &lbm_outflow_table : &lbm_slip_table, (sel_quantity){0});
    case_region(&c, case_face(&c, turned_face(SEL_X_MIN, turn)), &lbm_velocity_table,
                turned_constant(0.04, 0.01, -0.01, turn));
    case_region(&c, case_face(&c, turned_face(SEL_X_MAX, turn)),
                outflow ? &lbm_outflow_table : &lbm_pressure_table,
                outflow ? (sel_quantity){0} : sel_constant(0.01));
    vector low = turned(2, 2, 0, turn), high = turned(4, 3, 2, turn);
    case_wall(&c, case_box3(&c, low.v, high.v));
    case_start(&c);
    case_advance(&c, 60);
    case_read(&c, LBM_VELOCITY, 3, there);
    const int64_t *n = c.domain->grid.n;
    for (int k = 0; k < CELLS; k++) {
        vector at = turned(k % NX, k / NX % NY, k / NX / NY, turn);
        int64_t cell = (int64_t)at.v[0] + n[0] * ((int64_t)at.v[1] + n[1] * (int64_t)at.v[2]);
        for (int a = 0; a < 3; a++) {
            u[3 * k + a] = there[3 * cell + (a + turn) % 3];
        }
    }
    case_end(&c);
}

static void test_flows_do_not_know_their_axes(void **unused) {
    (void)unused;
    enum { NUMBERS = 3 * 7 * 6 * 5 };
    for (int k = 0; k < 2 * LBM_COLLISIONS; k++) {
        double u[3][NUMBERS], error = 0, largest = 0;
        for (int turn = 0; turn < 3; turn++) {
            mixed_flow(turn, k / 2, k % 2, u[turn]);
        }
        for (int i = 0; i < NUMBERS; i++) {
            error = fmax(error, fmax(fabs(u[1][i] - u[0][i]), fabs(u[2][i] - u[0][i])));
            largest = fmax(largest, fabs(u[0][i]));
        }
        print_message("# mixed flow, %s: largest velocity %.3f, turned it differs by %.1e\n",
                      lbm_collision_names[k / 2], largest, error);
        assert_true(error < 1e-13 && largest > 0.03 && largest < 0.2);
    }
}

/* A stress has six components: each has its own sums. */
static void test_reductions_of_a_tensor_are_by_component(void **unused) {
    (void)unused;
    enum { CELLS = 5 * 4 * 6, PARTS = 6 };
    double stress[PARTS * CELLS];
    lbm_case c;
    case_begin3(&c, 5, 4, 6, 0.7);
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant3(0.05, 0, 0.03));
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_REST, NULL));
    case_start(&c);
    case_advance(&c, 40);
    case_read(&c, LBM_STRESS, PARTS, stress);
    sel_request request = {
        .kind = SEL_REDUCE, .field = LBM_STRESS, .box = sel_grid_box(&c.domain->grid)};
    case_request(&c, &request);
    assert_int_equal(request.count, CELLS);
    for (int p = 0; p < PARTS; p++) {
        double sum = 0, squares = 0, least = HUGE_VAL, most = -HUGE_VAL;
        for (int k = 0; k < CELLS; k++) {
            double v = stress[PARTS * k + p];
            sum += v;
            squares += v * v;
            least = fmin(least, v);
            most = fmax(most, v);
        }
        assert_true(squares > 0);
        assert_true(fabs(request.sum[p] - sum) < 1e-12 * sqrt(squares * CELLS));
        assert_true(fabs(request.sum_of_squares[p] - squares) < 1e-12 * squares);
        assert_true(request.min[p] == least && request.max[p] == most);
    }
    case_end(&c);
}

/* Behind the outflow stands a solid: the closure takes its own cell instead of what is in there. */
static void test_outflow_beside_a_solid_takes_its_own_cell(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin3(&c, 8, 3, 4, 0.8);
    c.params.common.periodic = 6;
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant3(0.02, 0, 0));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
    case_wall(&c, case_box3(&c, (double[]){6, 1, 1}, (double[]){7, 2, 2}));
    case_start(&c);
    const lbm_boundary *boundary = case_boundary(&c);
    int solid = 0;
    for (int64_t k = 0; k < boundary->cell_count; k++) {
        const lbm_boundary_cell *cell = &boundary->cells[k];
        solid += cell->inward_solid;
        assert_true(!cell->inward_solid || (cell->x == 7 && cell->opening == LBM_OPEN_OUTFLOW));
    }
    assert_int_equal(solid, 1);
    case_advance(&c, 400);
    double u[3 * 8 * 3 * 4];
    case_read(&c, LBM_VELOCITY, 3, u);
    for (int k = 0; k < 3 * 8 * 3 * 4; k++) {
        assert_true(fabs(u[k]) < 0.2);
    }
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane_poiseuille_flow_is_exact_along_each_axis),
        cmocka_unit_test(test_couette_flow_is_exact),
        cmocka_unit_test(test_lid_driven_boxes_keep_their_mass),
        cmocka_unit_test(test_momentum_balance_is_closed_in_space),
        cmocka_unit_test(test_torque_on_a_turning_ball),
        cmocka_unit_test(test_mass_that_enters_a_duct_leaves_it),
        cmocka_unit_test(test_zou_he_box_has_edges_and_corners),
        cmocka_unit_test(test_uniform_flow_passes_slip_and_outflow),
        cmocka_unit_test(test_flows_do_not_know_their_axes),
        cmocka_unit_test(test_reductions_of_a_tensor_are_by_component),
        cmocka_unit_test(test_outflow_beside_a_solid_takes_its_own_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
