/* test_script_units.c -- sel.units: what it gives, to whom, and what it refuses. */
#include "script_case.h"
#include "engine/solvers/aqua/aqua.h"

/* A scenario with `units`, made from `given`, and `fields` of a solver. */
#define FLOW(given, fields)                                                              \
    "local sel = require 'selenite'\n"                                                   \
    "local u = sel.units { " given " }\n"                                                \
    "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, stop = { steps = 1 }, units = " \
    "u,\n" fields " }\n"
#define RUNOFF(given, fields)                                                             \
    "local sel = require 'selenite'\n"                                                    \
    "local u = sel.units { " given " }\n"                                                 \
    "return sel.aqua { ground = 0, alpha = 0.2, size = { 8, 8 }, stop = { steps = 1 },\n" \
    "  units = u, " fields " }\n"

static void near(double value, double reference) {
    if (!(fabs(value - reference) <= 1e-12 * fabs(reference)))
        fail_msg("%.17g against %.17g", value, reference);
}

static void a_velocity_and_a_viscosity_make_the_lattice(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, FLOW("length = 0.1, cells = 50, velocity = 0.5, viscosity = 1e-4, "
                            "lattice_velocity = 0.1, density = 1000",
                            ""));
    const lbm_params *p = script_lbm(&c);
    near(p->common.dx, 0.002);
    near(p->common.dt, 0.1 * 0.002 / 0.5);
    near(p->nu, 1e-4);
    near(p->density, 1000);
    near(p->common.reference.length, 0.1);
    near(p->common.reference.velocity, 0.5);
    script_done(&c);
}

static void two_of_velocity_viscosity_and_re_give_the_third(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, FLOW("length = 2, cells = 10, velocity = 3, Re = 60", ""));
    near(script_lbm(&c)->nu, 0.1);
    near(script_lbm(&c)->common.dt, 0.05 * 0.2 / 3);
    assert_true(script_lbm(&c)->density == 1);
    script_done(&c);
    script_accepts(&c, FLOW("length = 2, cells = 10, viscosity = 0.1, Re = 60", ""));
    near(script_lbm(&c)->common.reference.velocity, 3);
    near(script_lbm(&c)->common.dt, 0.05 * 0.2 / 3);
    script_done(&c);
}

static void a_viscosity_alone_gives_tau_0_8(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, FLOW("length = 1, cells = 10, viscosity = 1e-3", ""));
    const lbm_params *p = script_lbm(&c);
    near(p->nu * p->common.dt / (p->common.dx * p->common.dx), 0.1);
    assert_true(isnan(p->common.reference.velocity));
    script_done(&c);
}

static void the_solver_gives_what_units_leave_open(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, FLOW("length = 1, cells = 10",
                            "dt = 0.5, tau = 0.9, reference = { length = 0.3, area = 2 }"));
    const lbm_params *p = script_lbm(&c);
    assert_true(p->common.dt == 0.5 && p->tau == 0.9 && isnan(p->nu));
    assert_true(p->common.reference.length == 0.3 && p->common.reference.area == 2);
    script_done(&c);
    script_refuses(FLOW("length = 1, cells = 10", "tau = 0.9"),
                   "s.lua:3: sel.lbm: units give no dt; give sel.units a velocity or a viscosity, "
                   "or give dt here");
}

static void scripts_read_units(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, "local sel = require 'selenite'\n"
                       "local u = sel.units { length = 0.1, cells = 30, velocity = 1, Re = 10 }\n"
                       "local n = u.cells { 0.2, 0.1 }\n"
                       "assert(n[1] == 60 and math.type(n[1]) == 'integer' and n[2] == 30)\n"
                       "assert(u.cells { 0.1 + 1e-10, 0.1, 0.3 }[3] == 90)\n"
                       "assert(u.dx == 0.1 / 30 and u.nu == 0.01 and u.velocity == 1)\n"
                       "assert(u.length == 0.1 and u.density == 1)\n"
                       "return sel.lbm { lattice = 'D2Q9', size = n, stop = { steps = 1 },\n"
                       "  dx = u.dx, dt = u.dt, nu = u.nu }\n");
    script_done(&c);
    script_refuses(FLOW("length = 1, cells = 10", "nu = u.nu"),
                   "s.lua:4: units has no 'nu'; it has cells, density, dx, length");
    script_refuses("local u = require 'selenite'.units { length = 1, cells = 10 }\nu.dx = 2",
                   "s.lua:2: units cannot be changed");
}

static void parts_of_cells_are_refused(void **state) {
    (void)state;
    script_refuses("local u = require 'selenite'.units { length = 0.1, cells = 50 }\n"
                   "return u.cells { 0.3, 0.1017 }",
                   "s.lua:2: units.cells: the length 0.1017 along y is 50.85 cells of 0.002; take "
                   "0.102, or other length and cells of sel.units");
    script_refuses("local u = require 'selenite'.units { length = 0.1, cells = 50 }\n"
                   "return u.cells { 0.3, -1 }",
                   "s.lua:2: units.cells: the length along y must be a positive number, got -1");
    script_refuses("local u = require 'selenite'.units { length = 0.1, cells = 50 }\n"
                   "return u.cells(0.3, 0.1)",
                   "s.lua:2: units.cells takes a list of 2 or 3 lengths: units.cells { Lx, Ly }");
}

static void nothing_is_given_twice(void **state) {
    (void)state;
    script_refuses(FLOW("length = 1, cells = 10, velocity = 1, viscosity = 1, Re = 1", ""),
                   "s.lua:2: sel.units: the viscosity is given twice, by viscosity and by Re with "
                   "velocity; leave one of the three out");
    script_refuses(FLOW("length = 1, cells = 10, velocity = 1, viscosity = 1",
                        "dx = 1,\ndt = 1,\nnu = 1,\ndensity = 1"),
                   "s.lua:4: sel.lbm: dx comes from units; leave it out here\n"
                   "s.lua:5: sel.lbm: dt comes from units; leave it out here\n"
                   "s.lua:6: sel.lbm: nu comes from units; leave it out here\n"
                   "s.lua:7: sel.lbm: density comes from units; leave it out here");
    script_refuses(FLOW("length = 1, cells = 10, viscosity = 1", "tau = 0.8"),
                   "s.lua:3: sel.lbm: nu comes from units; leave tau out");
}

static void units_are_complete_and_made_by_sel_units(void **state) {
    (void)state;
    script_refuses(FLOW("cells = 10, vlocity = 1", ""),
                   "s.lua:2: sel.units: unknown field 'vlocity'; did you mean 'velocity'?\n"
                   "s.lua:2: sel.units: length is required (positive number)");
    script_refuses(FLOW("length = 1, cells = 10, Re = 1", ""),
                   "s.lua:2: sel.units: Re gives the viscosity when velocity is given, and the "
                   "velocity when viscosity is given; give one of them");
    script_refuses(FLOW("length = 1, cells = 10, viscosity = 1, lattice_velocity = 0.1", ""),
                   "s.lua:2: sel.units: lattice_velocity is the velocity in cells per step; give "
                   "velocity too");
    script_refuses(LBM("units = { dx = 1 }"), "s.lua:4: sel.lbm: units must be made by sel.units "
                                              "{ ... }, got table");
}

static void run_off_takes_dx_and_dt(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, RUNOFF("length = 1000, cells = 100, velocity = 0.5, lattice_velocity = 0.2",
                              "rain = 10"));
    near(c.scenario->simulations[0].params->dx, 10);
    near(c.scenario->simulations[0].params->dt, 4); /* alpha dx / dt is the velocity */
    script_done(&c);
    script_accepts(&c, RUNOFF("length = 1000, cells = 100", "rain = 10, dt = 3"));
    near(c.scenario->simulations[0].params->dt, 3);
    script_done(&c);
    script_refuses(RUNOFF("length = 1000, cells = 100", "rain = 10"),
                   "s.lua:3: sel.aqua: dt (seconds) is required with rain");
    script_refuses(RUNOFF("length = 1000, cells = 100, velocity = 1", ""),
                   "s.lua:3: sel.aqua: units with a velocity need lattice_velocity too; with alpha "
                   "there, water on a slope moves with that velocity");
    script_refuses(RUNOFF("length = 1, cells = 10, viscosity = 1, density = 1000", ""),
                   "s.lua:4: sel.aqua has no nu; leave viscosity and Re out of sel.units\n"
                   "s.lua:4: sel.aqua has no density; leave density out of sel.units");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_velocity_and_a_viscosity_make_the_lattice),
        cmocka_unit_test(two_of_velocity_viscosity_and_re_give_the_third),
        cmocka_unit_test(a_viscosity_alone_gives_tau_0_8),
        cmocka_unit_test(the_solver_gives_what_units_leave_open),
        cmocka_unit_test(scripts_read_units),
        cmocka_unit_test(parts_of_cells_are_refused),
        cmocka_unit_test(nothing_is_given_twice),
        cmocka_unit_test(units_are_complete_and_made_by_sel_units),
        cmocka_unit_test(run_off_takes_dx_and_dt),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
