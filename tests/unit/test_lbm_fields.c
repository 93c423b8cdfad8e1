/* test_lbm_fields.c -- derived fields, accelerations in place and time, controls. */
#include <complex.h>
#include "tests/unit/lbm_case.h"

enum { N = 32 };

static const double dx = 0.5, dt = 0.25, density = 3;

typedef struct vortices {
    double k, speed;
} vortices;

static void taylor_green(double x, double y, double t, const void *data, double value[2]) {
    const vortices *v = data;
    (void)t;
    value[0] = -v->speed * cos(v->k * x) * sin(v->k * y);
    value[1] = v->speed * sin(v->k * x) * cos(v->k * y);
}

/* Largest errors of vorticity, q, strain rate and stress over their largest values. */
static void field_errors(lbm_case *c, const vortices *v, double nu, double decay, double error[4]) {
    double curl[N * N], q[N * N], strain[N * N], stress[3 * N * N];
    case_read(c, LBM_VORTICITY, 1, curl);
    case_read(c, LBM_Q_CRITERION, 1, q);
    case_read(c, LBM_STRAIN_RATE, 1, strain);
    case_read(c, LBM_STRESS, 3, stress);
    memset(error, 0, 4 * sizeof *error);
    for (int n = 0; n < N * N; n++) {
        double x = v->k * (n % N + 0.5) * dx, y = v->k * (n / N + 0.5) * dx;
        double rate = 2 * v->speed * v->k * decay;
        double exact_curl = rate * cos(x) * cos(y), sxx = rate / 2 * sin(x) * sin(y);
        double exact_strain = 2 * fabs(sxx), size = rate * rate / 4;
        double exact_q = (exact_curl * exact_curl - exact_strain * exact_strain) / 4;
        double mu = 2 * density * nu;
        error[0] = fmax(error[0], fabs(curl[n] - exact_curl) / rate);
        error[1] = fmax(error[1], fabs(q[n] - exact_q) / size);
        error[2] = fmax(error[2], fabs(strain[n] - exact_strain) / rate);
        for (int a = 0; a < 3; a++) {
            double exact = a == 0 ? mu * sxx : a == 1 ? -mu * sxx : 0;
            error[3] = fmax(error[3], fabs(stress[3 * n + a] - exact) / (mu * rate / 2));
        }
    }
}

static void test_fields_of_a_decaying_vortex(void **unused) {
    (void)unused;
    const vortices v = {2 * pi / (N * dx), 0.02 * dx / dt};
    const double nu = 0.1 * dx * dx / dt;
    for (int collision = 0; collision < LBM_COLLISIONS; collision++) {
        lbm_case c;
        case_begin(&c, N, N, 0.8);
        c.params.common.dx = dx;
        c.params.common.dt = dt;
        c.params.common.periodic = 3;
        c.params.density = density;
        c.params.collision = collision;
        c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, taylor_green, &v);
        case_start(&c);
        for (int steps = 0; steps <= 100; steps += 100) {
            double error[4];
            case_advance(&c, steps);
            field_errors(&c, &v, nu, exp(-2 * nu * v.k * v.k * steps * dt), error);
            print_message(
                "# Taylor-Green, %s, step %d: vorticity %.4f, q %.4f, strain %.4f, stress "
                "%.4f off\n",
                lbm_collision_names[collision], steps, error[0], error[1], error[2], error[3]);
            for (int k = 0; k < 4; k++) {
                assert_true(error[k] < 0.03);
            }
        }
        sel_request sum = {
            .kind = SEL_REDUCE, .field = LBM_STRESS, .box = sel_grid_box(&c.domain->grid)};
        case_request(&c, &sum);
        assert_true(fabs(sum.sum[0]) < 1e-3 * N * N * sum.max[0] && sum.min[1] < 0);
        case_end(&c);
    }
}

/* Means over all cells, per mass: of the energy of the velocity and of the pressure, and of the
 * dissipation. */
typedef struct energies {
    double energy, dissipation;
} energies;

static energies read_energies(lbm_case *c) {
    const double speed_of_sound = dx / dt / sqrt(3);
    double u[2 * N * N], p[N * N], loss[N * N];
    energies mean = {0};
    case_read(c, LBM_VELOCITY, 2, u);
    case_read(c, LBM_PRESSURE, 1, p);
    case_read(c, LBM_DISSIPATION, 1, loss);
    for (int n = 0; n < N * N; n++) {
        const double part = p[n] / (density * speed_of_sound);
        mean.energy += 0.5 * (u[2 * n] * u[2 * n] + u[2 * n + 1] * u[2 * n + 1] + part * part);
        mean.dissipation += loss[n];
    }
    return (energies){mean.energy / (N * N), mean.dissipation / (N * N)};
}

static void begin_decay(lbm_case *c, int collision, double tau) {
    case_begin(c, N, N, tau);
    c->params.common.dx = dx;
    c->params.common.dt = dt;
    c->params.common.periodic = 3;
    c->params.density = density;
    c->params.collision = collision;
}

static void taylor_green_pressure(double x, double y, double t, const void *data, double *value) {
    const vortices *v = data;
    (void)t;
    value[0] = -density / 4 * v->speed * v->speed * (cos(2 * v->k * x) + cos(2 * v->k * y));
}

/* Also with Smagorinsky's model, whose viscosity is a good part of the fluid's here. */
static void test_dissipation_is_the_loss_of_energy(void **unused) {
    (void)unused;
    const vortices v = {2 * pi / (N * dx), 0.05 * dx / dt};
    for (int model = 0; model < 2; model++) {
        for (int collision = 0; collision < LBM_COLLISIONS; collision++) {
            lbm_case c;
            begin_decay(&c, collision, 0.6);
            c.params.smagorinsky = model ? 1.3 : (double)NAN;
            c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, taylor_green, &v);
            c.params.initial.pressure =
                case_of(&c, SEL_ON_X | SEL_ON_Y, 1, taylor_green_pressure, &v);
            case_start(&c);
            const double start = read_energies(&c).dissipation;
            case_advance(&c, 1);
            assert_true(fabs(read_energies(&c).dissipation / start - 1) < 0.03);
            case_advance(&c, 98);
            const energies before = read_energies(&c);
            case_advance(&c, 1);
            const energies now = read_energies(&c);
            case_advance(&c, 1);
            const double loss = (before.energy - read_energies(&c).energy) / (2 * dt);
            print_message("# %s, %s: dissipation is %.5f of the loss, at the start %.5f\n",
                          lbm_collision_names[collision], model ? "Smagorinsky" : "laminar",
                          now.dissipation / loss, start / now.dissipation);
            assert_true(fabs(now.dissipation / loss - 1) < 0.01);
            case_end(&c);
        }
    }
}

static void sound(double x, double y, double t, const void *data, double value[2]) {
    const vortices *v = data;
    (void)y;
    (void)t;
    value[0] = v->speed * cos(v->k * x);
    value[1] = 0;
}

/* Sound has a trace of the strain, which the recursive operators relax with a viscosity of its
 * own. */
static void test_dissipation_of_sound_is_its_loss_of_energy(void **unused) {
    (void)unused;
    enum { PERIOD = 55 };
    const vortices v = {2 * pi / (N * dx), 1e-4 * dx / dt};
    for (int collision = 0; collision < LBM_COLLISIONS; collision++) {
        lbm_case c;
        begin_decay(&c, collision, 0.55);
        c.params.initial.velocity = case_of(&c, SEL_ON_X, 2, sound, &v);
        case_start(&c);
        case_advance(&c, PERIOD);
        energies at = read_energies(&c);
        const double first = at.energy;
        double lost = 0.5 * at.dissipation * dt;
        for (int step = 1; step <= PERIOD; step++) {
            case_advance(&c, 1);
            at = read_energies(&c);
            lost += (step < PERIOD ? 1 : 0.5) * at.dissipation * dt;
        }
        print_message("# sound, %s: dissipation is %.5f of the loss\n",
                      lbm_collision_names[collision], lost / (first - at.energy));
        assert_true(fabs(lost / (first - at.energy) - 1) < 0.01);
        case_end(&c);
    }
}

/* In a Couette flow strain and stress are exact in every cell, also beside the walls. */
static void test_stress_beside_walls_is_exact(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 3, 8, 0.9);
    c.params.common.periodic = 1;
    case_wall(&c, case_face(&c, SEL_Y_MIN));
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.04, 0));
    case_start(&c);
    case_run_until_steady(&c, 200, 1e-13);
    double stress[3 * 24], strain[24], curl[24];
    case_read(&c, LBM_STRESS, 3, stress);
    case_read(&c, LBM_STRAIN_RATE, 1, strain);
    case_read(&c, LBM_VORTICITY, 1, curl);
    for (int n = 0; n < 24; n++) {
        assert_true(fabs(stress[3 * n + 2] - 0.4 / 3 * 0.005) < 1e-11);
        assert_true(fabs(strain[n] / 0.005 - 1) < 1e-3 && fabs(curl[n] + 0.005) < 1e-11);
    }
    case_end(&c);
}

typedef struct pulsation {
    double force, omega;
} pulsation;

static void pulsating(double x, double y, double t, const void *data, double value[2]) {
    const pulsation *p = data;
    (void)x;
    (void)y;
    value[0] = p->force * cos(p->omega * t);
    value[1] = 0;
}

/* A channel under the acceleration G cos wt: amplitude and phase of Womersley's solution. */
static void check_womersley(double womersley, bool field) {
    enum { H = 40, PERIODS = 6 };
    const double nu = 0.1, half = H / 2.0;
    const int64_t period = (int64_t)(2 * pi * half * half / (nu * womersley * womersley));
    const pulsation p = {1e-6, 2 * pi / (double)period};
    lbm_case c;
    case_begin(&c, 1, H, 0.8);
    c.params.common.periodic = 1;
    c.params.acceleration = case_of(&c, field ? SEL_ON_T | SEL_ON_Y : SEL_ON_T, 2, pulsating, &p);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_start(&c);
    case_advance(&c, PERIODS * period);
    double complex mode[H] = {0};
    for (int64_t step = 1; step <= period; step++) {
        double u[2 * H];
        case_advance(&c, 1);
        case_read(&c, LBM_VELOCITY, 2, u);
        double phase = p.omega * (double)step;
        for (int y = 0; y < H; y++) {
            mode[y] +=
                2.0 / (double)period * u[2 * y] * (cos(phase) - (double complex)I * sin(phase));
        }
    }
    double complex q = csqrt((double complex)I * p.omega / nu);
    double amplitude = 0, angle = 0;
    for (int y = 0; y < H; y++) {
        double complex exact = p.force / ((double complex)I * p.omega) *
                               (1 - ccosh(q * (y + 0.5 - half)) / ccosh(q * half));
        amplitude = fmax(amplitude, fabs(cabs(mode[y]) / cabs(exact) - 1));
        angle = fmax(angle, fabs(carg(mode[y] / exact)) / (2 * pi));
    }
    print_message("# Womersley number %g: amplitude off by %.4f, phase by %.4f of a period\n",
                  womersley, amplitude, angle);
    assert_true(amplitude < 0.01 && angle < 0.01);
    case_end(&c);
}

static void test_womersley_flow(void **unused) {
    (void)unused;
    check_womersley(2, false);
    check_womersley(5, false);
    check_womersley(10, false);
    check_womersley(10, true);
}

/* An acceleration that is a gradient only makes pressure: p = density a x holds it. */
static void rising(double x, double y, double t, const void *data, double value[2]) {
    (void)y;
    (void)t;
    (void)data;
    value[0] = 1e-5 * sin(2 * pi * x / 16);
    value[1] = 0;
}

static void test_gradient_forces_are_held_by_pressure(void **unused) {
    (void)unused;
    enum { LONG = 16 };
    lbm_case c;
    case_begin(&c, LONG, 4, 0.8);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    c.params.acceleration = case_of(&c, SEL_ON_X, 2, rising, NULL);
    case_start(&c);
    case_advance(&c, 6000);
    double p[4 * LONG], u[2 * 4 * LONG];
    case_read(&c, LBM_PRESSURE, 1, p);
    case_read(&c, LBM_VELOCITY, 2, u);
    double rise = 1e-5 * 16 / pi * cos(pi / 16);
    for (int n = 0; n < 4 * LONG; n++) {
        assert_true(fabs(u[2 * n]) < 1e-5 * 0.05);
    }
    print_message("# pressure against a force: %.4f of the exact\n", (p[LONG / 2] - p[0]) / rise);
    assert_true(fabs((p[LONG / 2] - p[0]) / rise - 1) < 0.03);
    case_end(&c);
}

/* What follows a control. */
static sel_status follow(const sel_function *self, const sel_places *at, double *out,
                         sel_error *error) {
    (void)error;
    ++*(int *)self->data;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = at->controls[0];
        out[at->n + i] = 0;
    }
    return SEL_OK;
}

static void test_controls_act_at_the_next_step(void **unused) {
    (void)unused;
    int calls = 0;
    const sel_function law = {
        .depends = SEL_ON_CONTROLS, .results = 2, .eval = follow, .data = &calls};
    sel_named_number speed = {"speed", 0.01};
    for (int force = 0; force < 2; force++) {
        double u[2 * 4 * 6];
        lbm_case c;
        case_begin(&c, 4, 6, 0.8);
        c.params.common.controls = (sel_numbers){1, &speed};
        case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        if (force) {
            c.params.common.periodic = 1;
            c.params.acceleration = sel_from_function(&law);
        } else {
            case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_from_function(&law));
            case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
        }
        case_start(&c);
        calls = 0;
        case_advance(&c, 20);
        assert_int_equal(calls, 0);
        c.domain->control_values[0] = 0.02;
        case_read(&c, LBM_VELOCITY, 2, u);
        double before = u[2 * 3 * 4];
        case_advance(&c, 1);
        case_read(&c, LBM_VELOCITY, 2, u);
        assert_int_equal(calls, 1);
        if (force) {
            assert_true(u[2 * 3 * 4] - before > 0.005);
        } else {
            assert_true(fabs(u[2 * 3 * 4] - 0.02) < 1e-15 && fabs(before - 0.01) < 1e-15);
        }
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_a_decaying_vortex),
        cmocka_unit_test(test_dissipation_is_the_loss_of_energy),
        cmocka_unit_test(test_dissipation_of_sound_is_its_loss_of_energy),
        cmocka_unit_test(test_stress_beside_walls_is_exact),
        cmocka_unit_test(test_womersley_flow),
        cmocka_unit_test(test_gradient_forces_are_held_by_pressure),
        cmocka_unit_test(test_controls_act_at_the_next_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
