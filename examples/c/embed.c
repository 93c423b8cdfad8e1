/* embed.c -- a lid-driven box from C, without Lua: fill the structs, run, look at the report.
 *
 *     make build/examples/c/embed && build/examples/c/embed [DIRECTORY]
 */
#include <math.h>
#include <stdio.h>
#include "engine/selenite.h"

enum { N = 48 };

/* The lid starts gently: a function of time, evaluated at every step. Fills ux[n], then uy[n]. */
static sel_status lid_velocity(const sel_function *self, const sel_places *at, double *out,
                               sel_error *error) {
    double top = *(const double *)self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = top * fmin(1, at->t / 1000);
        out[at->n + i] = 0;
    }
    return SEL_OK;
}

int main(int argc, char **argv) {
    double top = 0.1;
    sel_arena *arena = sel_arena_create();
    lbm_params params = {.common.at.file = NULL};
    sel_table_presets(lbm_solver.table, &params);
    params.common.size = (sel_ints){2, {N, N, 1}};
    params.nu = top * N / 100;
    params.common.stop.steps = 5000;

    sel_function lid = {.depends = SEL_ON_T, .results = 2, .eval = lid_velocity, .data = &top};
    lbm_law_wall at_rest = {.velocity.components = 0};
    lbm_law_wall moving = {.velocity = sel_from_function(&lid)};
    sel_region regions[] = {
        {.name = "lid",
         .where = sel_shape_face(arena, SEL_Y_MAX),
         .law = {&lbm_wall_table, &moving, {NULL, 0}}},
        {.name = "walls",
         .where = sel_shape_make(arena, SEL_SHAPE_REST, NULL),
         .law = {&lbm_wall_table, &at_rest, {NULL, 0}}},
    };
    params.common.regions = (sel_list){2, regions, NULL};

    const char *fields[] = {"velocity", "pressure"};
    sel_vtk_params vtk = {.common.name = NULL};
    sel_table_presets(&sel_out_vtk_table, &vtk);
    vtk.fields = (sel_names){2, fields};
    sel_variant outputs[] = {{&sel_out_vtk_table, &vtk, {NULL, 0}}};
    params.common.output = (sel_list){1, outputs, NULL};

    sel_simulation simulation = {.solver = &lbm_solver, .params = &params.common};
    sel_scenario scenario = {.arena = arena, .count = 1, .simulations = &simulation};
    sel_run_options options = {.settings = {.precision = -1, .backend = -1},
                               .directory = argc > 1 ? argv[1] : "out/embed",
                               .force = true};
    sel_report report;
    sel_error error = {.status = SEL_OK};
    sel_status status = sel_run(&scenario, &simulation, &options, &report, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.text);
    } else {
        printf("%lld steps at %.3g MLUPS, files in %s\n", (long long)report.steps,
               report.mcells_per_second, options.directory);
    }
    sel_report_release(&report);
    sel_scenario_destroy(&scenario);
    return status;
}
