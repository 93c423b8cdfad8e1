/* poisson_state.c -- the arrays of sel.poisson, their start, and when its iteration ends, for all
 * backends.
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "engine/solvers/poisson/poisson.h"

/* Right-hand sides of potentials that are known but for a constant must add up to 0, but for this
 * part of their magnitudes. */
static const double round_off = 1e-9;

void poisson_list(sel_state *base, int threads) {
    poisson_state *state = (poisson_state *)base;
    const poisson_plan *plan = poisson_plan_for(base);
    const poisson_params *params = poisson_params_of(base);
    mg_body_list(&state->solve, &plan->box, base, "potential", state->u, SEL_SAVED, threads);
    SEL_ADD_VALUE(&base->arrays, &state->solve, now);
    state->solve.limits = (mg_limits){.tolerance = params->tolerance,
                                      .volume = plan->singular ? plan->volume : 0,
                                      .cycles = params->method == POISSON_MULTIGRID,
                                      .most = params->max_iterations};
    state->known = -1;
}

/* ---- the right-hand side ---- */

/* F = s - rhs, in rows of cells; as A is, of bodies that are not even times the part inside. */
static sel_status fill_F(poisson_state *state, double *F, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->base);
    const poisson_params *params = poisson_params_of(&state->base);
    const sel_domain *domain = plan->base.domain;
    const sel_inputs *inputs = &plan->body.inputs;
    const sel_surfaces *on = &inputs->surfaces;
    const sel_grid *grid = &domain->grid;
    sel_balance *balance = &state->base.balance;
    *balance = (sel_balance){0};
    const sel_evaluation asked = {&params->rhs, "rhs", .end = sel_state_rows(&state->base)};
    sel_status status = sel_domain_evaluate(domain, &asked, state->base.threads, F, error);
    for (int64_t k = 0; k < sel_grid_cells(grid) && !status; k++) {
        const double inside = poisson_part(plan, k);
        balance->source += F[k] * inside * sel_cell_volume(grid);
        balance->size += fabs(F[k]) * inside * sel_cell_volume(grid);
        F[k] *= plan->box.even ? -1 : -inside;
    }
    for (int64_t k = 0; k < on->cells && !status; k++) {
        const double inside = sel_capacity_of(&plan->body, on->cell[k]);
        double b, s;
        cond_surfaces(inputs->site, inputs->value, on->first_site[k], on->first_site[k + 1], 1, &b,
                      &s);
        F[on->cell[k]] += isinf(b) ? 0 : s * (plan->box.even ? 1 : inside);
    }
    return status;
}

/* Where phi is known but for a constant, F adds up to 0. */
static sel_status balance_F(const poisson_plan *plan, double *F, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double volume = sel_cell_volume(grid);
    double sum = 0, magnitude = 0;
    for (int turn = 0; turn < 2; turn++) {
        const double mean = sum / plan->volume;
        for (int64_t k = 0; k < sel_grid_cells(grid); k++) {
            const double inside = poisson_part(plan, k);
            if (turn == 0) {
                sum += F[k] * (plan->box.even ? inside : 1);
                magnitude += fabs(F[k]) * (plan->box.even ? inside : 1);
            } else {
                F[k] -= mean * (plan->box.even ? 1 : inside);
            }
        }
        if (!(fabs(sum) <= round_off * magnitude)) {
            return sel_fail_at(
                error, sel_simulation_where(plan->base.simulation, "rhs"),
                "nothing fixes the potential, and the integral of rhs differs from what the laws "
                "let in by %.6g (%.2g of the magnitudes): there is no solution. Fix a value "
                "somewhere, or add %.9g to rhs",
                -sum * volume, fabs(sum) / magnitude, sum / plan->volume);
        }
    }
    return SEL_OK;
}

/* sel_state_number */
static double number(const sel_state *state, const void *data, int which, int64_t cell) {
    (void)state, (void)which;
    return ((const double *)data)[cell];
}

static sel_status start_F(poisson_state *state, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->base);
    const size_t bytes = (size_t)sel_grid_cells(&plan->base.domain->grid) * sizeof(double);
    double *F = malloc(bytes);
    sel_status status = F ? fill_F(state, F, error) : sel_fail_memory(error, "rhs", bytes);
    if (!status && plan->singular) {
        status = balance_F(plan, F, error);
    }
    status = status ? status
                    : sel_state_fill(&state->base, state->solve.F, (sel_type){'f', 8},
                                     &state->base.turns.cells, 3, number, F, error);
    free(F);
    return status;
}

/* ---- the start ---- */

/* What is given: the coefficients of the finest level, the right-hand side, the residual. */
static void see_level(poisson_state *state) {
    const mg_level *level = &state->solve.m.level[0];
    sel_given *given = &state->base.given;
    memcpy(given->coefficient, level->g, sizeof level->g);
    memcpy(given->apart, level->stride, sizeof given->apart);
    given->F = state->solve.F;
    given->f = level->f;
    given->single_f = state->solve.m.box.single;
}

sel_status poisson_start(sel_state *base, poisson_measure *measure, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    const poisson_params *params = poisson_params_of(base);
    const sel_quantity none = {.components = 0};
    sel_status status = mg_body_start(&state->solve, base, error);
    see_level(state);
    status = status ? status : start_F(state, error);
    /* The residual of the potential 0 is the right-hand side, with the boundaries' values. */
    status = status ? status : sel_conduction_start(base, &none, "potential", error);
    state->solve.now = MG_BEGINS;
    status = status ? status : measure(base, error);
    if (!status) {
        const double norm = state->solve.now.norm;
        base->ending = (sel_ending){.how = SEL_GOES_ON};
        state->solve.now = MG_BEGINS;
        state->solve.now.norm = norm;
        status = sel_conduction_start(base, &params->initial.potential, "initial.potential", error);
    }
    return status ? status : measure(base, error);
}

/* ---- an iteration ---- */

int poisson_correction(const sel_state *state, int64_t step, double *omega) {
    static const int corrections[] = {[POISSON_MULTIGRID] = MG_CYCLE,
                                      [POISSON_JACOBI] = MG_DIVIDE,
                                      [POISSON_GAUSS_SEIDEL] = MG_SWEEP,
                                      [POISSON_SOR] = MG_SWEEP,
                                      [POISSON_CONJUGATE_GRADIENT] = MG_DIVIDE};
    const int method = poisson_params_of(state)->method;
    *omega = method == POISSON_SOR ? poisson_plan_for(state)->omega : 1;
    return method == POISSON_MULTIGRID && step == 0 ? MG_FULL_CYCLE : corrections[method];
}

void poisson_conclude(poisson_state *state) {
    static const struct {
        sel_end how;
        const char *begins;
    } ends[] = {[MG_CONVERGED] = {SEL_CONVERGED, ""},
                [MG_AT_ROUND_OFF] = {SEL_CONVERGED, ""},
                [MG_STAGNATED] = {SEL_STAGNATED, "stagnated: "},
                [MG_OUT_OF_ITERATIONS] = {SEL_OUT_OF_ITERATIONS, "max_iterations reached: "},
                [MG_DIVERGED] = {SEL_ITERATION_DIVERGED, "diverged: "}};
    const mg_progress *now = &state->solve.now;
    sel_ending *ending = &state->base.ending;
    char more[100] = "";
    state->known = state->base.step = now->step;
    state->base.balance.residual = now->relative;
    if (now->how == MG_GOES_ON) {
        return;
    }
    if (now->how == MG_AT_ROUND_OFF) {
        snprintf(more, sizeof more, ": round-off, %.2g, keeps it from falling", now->level);
    } else if (now->how == MG_STAGNATED) {
        snprintf(more, sizeof more, ", has not fallen since iteration %lld",
                 (long long)now->best_step);
    } else if (now->how == MG_OUT_OF_ITERATIONS) {
        snprintf(more, sizeof more, ", not %.3g", state->solve.limits.tolerance);
    }
    ending->how = ends[now->how].how;
    snprintf(ending->why, sizeof ending->why, "%sthe residual%s %.3g of the right-hand side%s",
             ends[now->how].begins, now->how == MG_STAGNATED ? "," : " is", fabs(now->relative),
             more);
    state->base.observed = state->base.step;
}
