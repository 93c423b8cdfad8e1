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
    sel_state_undivided(base); /* as multigrid is */
    sel_conduction_list(base, "potential", state->u, 0);
    SEL_ADD_VALUE(&base->arrays, state, now);
    mg_body_list(&state->solve, &plan->box, base, SEL_SAVED, threads);
    state->known = -1;
}

/* ---- the right-hand side ---- */

/* F = s - rhs, in rows of cells; as A is, of bodies that are not even times the part inside. */
static sel_status fill_F(poisson_state *state, double *F, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->base);
    const poisson_params *params = (const poisson_params *)plan->base.simulation->params;
    const sel_domain *domain = plan->base.domain;
    const sel_inputs *inputs = &plan->body.inputs;
    const sel_surfaces *on = &inputs->surfaces;
    const sel_grid *grid = &domain->grid;
    sel_balance *balance = &state->base.balance;
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

static sel_status start_F(poisson_state *state, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->base);
    const sel_cells *cells = &state->base.turns.cells;
    const int64_t *n = plan->base.domain->grid.n;
    const size_t bytes = (size_t)(n[0] * n[1] * n[2]) * sizeof(double);
    const size_t laid_out = (size_t)cells->count * sizeof(double);
    double *F = malloc(bytes), *to = calloc(laid_out, 1);
    sel_status status =
        F && to ? fill_F(state, F, error) : sel_fail_memory(error, "rhs", bytes + laid_out);
    if (!status && plan->singular) {
        status = balance_F(plan, F, error);
    }
    for (int64_t row = 0; row < n[1] * n[2] && !status; row++) {
        memcpy(to + row % n[1] * cells->pitch + row / n[1] * cells->slice, F + row * n[0],
               (size_t)n[0] * sizeof *F);
    }
    status =
        status ? status : sel_arrays_send(&state->base.arrays, state->solve.F, to, laid_out, error);
    free(to);
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
    const poisson_plan *plan = poisson_plan_for(base);
    const poisson_params *params = (const poisson_params *)plan->base.simulation->params;
    const sel_quantity none = {.components = 0};
    sel_status status = mg_body_start(&state->solve, base, error);
    see_level(state);
    status = status ? status : start_F(state, error);
    /* The residual of the potential 0 is the right-hand side, with the boundaries' values. */
    status = status ? status : sel_conduction_start(base, &none, "potential", error);
    status = status ? status : measure(state, error);
    if (!status) {
        state->norm = state->now.relative; /* of which was 1 */
        base->ending = (sel_ending){.how = SEL_GOES_ON};
        state->now = (poisson_progress){.best = HUGE_VAL};
        status = sel_conduction_start(base, &params->initial.potential, "initial.potential", error);
    }
    return status ? status : measure(state, error);
}

/* ---- the end ---- */

poisson_limits poisson_limits_of(const poisson_state *state) {
    const poisson_params *params = (const poisson_params *)state->base.plan->simulation->params;
    return (poisson_limits){.tolerance = params->tolerance,
                            .norm = state->norm,
                            .rows = state->solve.m.norm,
                            .cycles = params->method == POISSON_MULTIGRID,
                            .most = params->max_iterations};
}

void poisson_conclude(poisson_state *state) {
    static const sel_end ends[] = {[POISSON_CONVERGED] = SEL_CONVERGED,
                                   [POISSON_AT_ROUND_OFF] = SEL_CONVERGED,
                                   [POISSON_STAGNATED] = SEL_STAGNATED,
                                   [POISSON_OUT_OF_ITERATIONS] = SEL_OUT_OF_ITERATIONS,
                                   [POISSON_DIVERGED] = SEL_ITERATION_DIVERGED};
    static const char *const begins[] = {[POISSON_CONVERGED] = "",
                                         [POISSON_AT_ROUND_OFF] = "",
                                         [POISSON_STAGNATED] = "stagnated: ",
                                         [POISSON_OUT_OF_ITERATIONS] = "max_iterations reached: ",
                                         [POISSON_DIVERGED] = "diverged: "};
    const poisson_progress *now = &state->now;
    const poisson_limits limits = poisson_limits_of(state);
    sel_ending *ending = &state->base.ending;
    char more[100] = "";
    state->known = state->base.step = now->step;
    state->base.balance.residual = now->relative;
    if (now->how == POISSON_GOES_ON) {
        return;
    }
    if (now->how == POISSON_AT_ROUND_OFF) {
        snprintf(more, sizeof more, ": round-off, %.2g, keeps it from falling", now->level);
    } else if (now->how == POISSON_STAGNATED) {
        snprintf(more, sizeof more, ", has not fallen since iteration %lld",
                 (long long)now->best_step);
    } else if (now->how == POISSON_OUT_OF_ITERATIONS) {
        snprintf(more, sizeof more, ", not %.3g", limits.tolerance);
    }
    ending->how = ends[now->how];
    snprintf(ending->why, sizeof ending->why, "%sthe residual%s %.3g of the right-hand side%s",
             begins[now->how], now->how == POISSON_STAGNATED ? "," : " is", now->relative, more);
    state->base.observed = state->base.step;
}

void poisson_judge(poisson_state *state, double residual, double potential) {
    const poisson_limits limits = poisson_limits_of(state);
    state->now.step = state->base.step;
    poisson_decide(&limits, residual, potential, &state->now);
    poisson_conclude(state);
}
