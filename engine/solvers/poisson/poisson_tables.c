/* poisson_tables.c -- the fields of sel.poisson. */
#include "engine/solvers/poisson/poisson.h"

static const sel_table_field initial_fields[] = {
    SEL_ROW(poisson_initial, potential, QUANTITY, "Potential to begin with; 0 when not given.",
            .flags = SEL_OF_PLACE),
};
static const sel_table initial_table =
    SEL_TABLE("initial", poisson_initial, initial_fields, "The potential to begin with.");

static sel_status poisson_tables_check_params(const void *data, sel_where where, sel_error *error) {
    const poisson_params *params = data;
    sel_status status = SEL_OK;
    if (params->tolerance >= 1) {
        status = sel_fail_at(error, where, "sel.poisson: tolerance must be below 1, got %g",
                             params->tolerance);
    }
    return status;
}

static const char *const methods[] = {"multigrid",          "jacobi", "gauss_seidel", "sor",
                                      "conjugate_gradient", NULL};

static const sel_table_field fields[] = {
    SEL_SIZE_FIELDS(SEL_REQUIRED, "."),
    SEL_SIDES_ROW(1, "1 when not given."),
    SEL_SCENE_FIELDS(diffusion_regions),
    SEL_RUN_FIELDS,
    SEL_PRECISION_ROW(SEL_F64),
    SEL_ROW(poisson_params, tolerance, NUMBER,
            "The iteration ends when the residual is at most this fraction of the "
            "right-hand side, boundary values included, or when round-off keeps it from "
            "falling.",
            .flags = SEL_POSITIVE, .preset = 1e-8),
    SEL_ROW(poisson_params, max_iterations, INT,
            "Number of iterations after which the run gives up, with exit status 3. When "
            "not given: 100 cycles of multigrid (1,000 where coefficients of neighbours "
            "differ by more than 30); for the other methods what they need on this grid.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(poisson_params, rhs, QUANTITY, "Right-hand side.",
            .flags = SEL_REQUIRED | SEL_OF_PLACE),
    SEL_ROW(poisson_params, coefficient, VECTOR,
            "Coefficient c, above 0, 1 when not given; or one per axis. A face between "
            "cells that differ has the harmonic mean.",
            .flags = SEL_ONE_FOR_ALL | SEL_OF_PLACE),
    SEL_ROW(poisson_params, method, CHOICE,
            "multigrid: each iteration is a cycle, and takes about nine tenths off the residual on "
            "any grid; conjugate_gradient and sor need iterations in proportion to the number of "
            "cells along an axis; jacobi and gauss_seidel to its square.",
            .choices = methods),
    SEL_LAYOUT_ROW("the potential"),
    SEL_ROW(poisson_params, initial, TABLE, "The potential to begin with; 0 when not given.",
            .table = &initial_table),
};

const sel_table poisson_table =
    SEL_TABLE("sel.poisson", poisson_params, fields,
              "Poisson's equation: div(coefficient grad phi) = rhs, on 5 points in 2-D and 7 in "
              "3-D, in double precision. The laws are those of sel.heat, phi for the temperature; "
              "a flux is c dphi/dn, outward.",
              .has_where = true, .check = poisson_tables_check_params);
