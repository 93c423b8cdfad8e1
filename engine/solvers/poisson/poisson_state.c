/* poisson_state.c -- the arrays of sel.poisson, their start, and when its iteration ends, for all
 * backends.
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "engine/core/collectives.h"
#include "engine/solvers/poisson/poisson.h"

/* Right-hand sides of potentials that are known but for a constant must add up to 0, but for this
 * part of their magnitudes. */
static const double round_off = 1e-9;

/* Right-hand sides are judged by squares, also those of residuals of 1e-16 of them: what is largest
 * of them lies between these. */
static const double least_size = 1e-138, most_size = 1e140;

/* At round-off, a potential whose residual is this part of the right-hand side has three digits or
 * more; above it, or where all of the residual may be round-off, it may have none. */
static const double most_at_round_off = 0.03;

void poisson_list(sel_state *base, int threads) {
    poisson_state *state = (poisson_state *)base;
    const poisson_plan *plan = poisson_plan_for(base);
    const poisson_params *params = poisson_params_of(base);
    mg_body_list(&state->solve, &plan->box, base, "potential", state->u, SEL_SAVED, threads);
    SEL_ADD_VALUE(&base->arrays, &state->solve, now);
    state->solve.limits = (mg_limits){.tolerance = params->tolerance,
                                      .volume = plan->singular ? plan->volume : 0,
                                      .cycles = params->method == POISSON_MULTIGRID,
                                      .jumps = mg_jumps(&plan->box),
                                      .most = plan->most};
    base->halo_bytes = mg_halo_bytes(&state->solve.m, state->solve.limits.cycles);
    state->known = -1;
}

/* ---- the right-hand side ---- */

/* Sums over the cells of a row, or over all. */
typedef struct sums {
    double amount, magnitude;
} sums;

/* F in the rows of this rank, one behind the other, and sums of each. */
typedef struct right_side {
    sel_rows rows;
    int64_t nx;
    double *F;
    sums *of_row;
} right_side;

/* Where F of a cell stands. */
static double *poisson_state_place_of(const right_side *of, int64_t cell) {
    return of->F + sel_row_number(&of->rows, cell / of->nx) * of->nx + cell % of->nx;
}

static sums poisson_state_sum_of(const sel_state *state, const right_side *of) {
    double all[2];
    sel_state_sum_rows(state, &of->of_row->amount, 2, 2, all);
    return (sums){all[0], all[1]};
}

/* F = the quantity. */
static sel_status poisson_state_evaluate(const sel_state *state, const right_side *of,
                                         sel_error *error) {
    sel_evaluation asked = {&poisson_params_of(state)->rhs, "rhs", .end = 0};
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < of->rows.count && !status; k += asked.end - asked.first) {
        const sel_rows_range together = sel_rows_together(&of->rows, k, of->rows.count);
        asked.first = together.first;
        asked.end = together.end;
        status = sel_domain_evaluate(state->plan->domain, &asked, state->threads,
                                     of->F + k * of->nx, error);
    }
    return sel_state_agree(state, status, error);
}

/* F = s - rhs; as A is, of bodies that are not even times the part inside. */
static sel_status fill_F(poisson_state *state, const right_side *of, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->diffusion.base);
    const sel_domain *domain = plan->diffusion.base.domain;
    const sel_inputs *inputs = &plan->diffusion.body.inputs;
    const sel_surfaces *on = &inputs->surfaces;
    const sel_status status = poisson_state_evaluate(&state->diffusion.base, of, error);
    if (status) {
        return status;
    }
#pragma omp parallel for schedule(static) num_threads(state->diffusion.base.threads)
    for (int64_t k = 0; k < of->rows.count; k++) {
        const int64_t row = sel_row_of(&of->rows, k);
        double *F = of->F + k * of->nx;
        of->of_row[k] = (sums){0};
        for (int64_t x = 0; x < of->nx; x++) {
            const double inside = poisson_part(plan, row * of->nx + x), rhs = F[x];
            of->of_row[k].amount += rhs * inside;
            of->of_row[k].magnitude += fabs(rhs) * inside;
            F[x] *= plan->box.even ? -1 : -inside;
        }
    }
    int64_t first, end;
    sel_given_range(&state->diffusion.base, &state->diffusion.base.own, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const double inside = diffusion_capacity_of(&plan->diffusion.body, on->cell[k]);
        double b, s;
        diffusion_through_all(plan->diffusion.body.site, inputs->value, 0, on->first_site[k],
                              on->first_site[k + 1], 1, &b, &s);
        if (!isinf(b) && sel_state_has(&state->diffusion.base, on->cell[k] / of->nx)) {
            *poisson_state_place_of(of, on->cell[k]) += s * (plan->box.even ? 1 : inside);
        }
    }
    const sums all = poisson_state_sum_of(&state->diffusion.base, of);
    const double volume = sel_cell_volume(&domain->grid);
    state->diffusion.balance =
        (diffusion_balance){.source = all.amount * volume, .size = all.magnitude * volume};
    return SEL_OK;
}

/* What is largest in F, or enters it from nodes on surfaces of given potential; of all ranks. */
static double largest_of_F(const sel_state *state, const right_side *of) {
    const poisson_plan *plan = poisson_plan_for(state);
    const diffusion_body *body = &plan->diffusion.body;
    const sel_domain *domain = plan->diffusion.base.domain;
    const sel_surfaces *on = &body->inputs.surfaces;
    int64_t first, end;
    double largest = 0;
    for (int64_t k = 0; k < of->rows.count * of->nx; k++) {
        largest = fmax(largest, fabs(of->F[k]));
    }
    sel_given_range(state, &state->own, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const int64_t last = on->first_site[k + 1];
        const int64_t fixed = diffusion_first_fixed(body->site, on->first_site[k], last);
        for (int face = 0; face < 2 * domain->grid.dims && fixed < last; face++) {
            const double g = diffusion_conductance(&body->k, domain, on->cell[k], face);
            largest = fmax(largest, g * fabs(body->inputs.value[DIFFUSION_VALUES * fixed]));
        }
    }
    return sel_domain_largest(domain, largest);
}

static sel_status check_right_side(const sel_state *state, const right_side *of, sel_error *error) {
    const double largest = largest_of_F(state, of);
    return largest == 0 || (largest >= least_size && largest <= most_size)
               ? SEL_OK
               : sel_fail_at(error, sel_simulation_where(state->plan->simulation, "rhs"),
                             "the right-hand side, with the values of laws in it, is %.3g at its "
                             "largest: beyond %g to %g its squares overflow or vanish; take other "
                             "units of length or of the potential",
                             largest, least_size, most_size);
}

/* Sums of F, less `mean` in each cell. */
static sums shift_F(const poisson_state *state, double mean, const right_side *of) {
    const poisson_plan *plan = poisson_plan_for(&state->diffusion.base);
#pragma omp parallel for schedule(static) num_threads(state->diffusion.base.threads)
    for (int64_t k = 0; k < of->rows.count; k++) {
        const int64_t row = sel_row_of(&of->rows, k);
        double *F = of->F + k * of->nx;
        of->of_row[k] = (sums){0};
        for (int64_t x = 0; x < of->nx; x++) {
            const double inside = poisson_part(plan, row * of->nx + x);
            F[x] -= mean * (plan->box.even ? 1 : inside);
            of->of_row[k].amount += F[x] * (plan->box.even ? inside : 1);
            of->of_row[k].magnitude += fabs(F[x]) * (plan->box.even ? inside : 1);
        }
    }
    return poisson_state_sum_of(&state->diffusion.base, of);
}

/* Where phi is known but for a constant, F adds up to 0. */
static sel_status balance_F(const poisson_state *state, const right_side *of, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->diffusion.base);
    const sums all = shift_F(state, 0, of);
    if (!(fabs(all.amount) <= round_off * all.magnitude)) {
        return sel_fail_at(
            error, sel_simulation_where(plan->diffusion.base.simulation, "rhs"),
            "nothing fixes the potential, and the integral of rhs differs from what the laws "
            "let in by %.6g (%.2g of the magnitudes): there is no solution. Fix a value "
            "somewhere, or add %.9g to rhs",
            -all.amount * sel_cell_volume(&plan->diffusion.base.domain->grid),
            fabs(all.amount) / all.magnitude, all.amount / plan->volume);
    }
    shift_F(state, all.amount / plan->volume, of);
    return SEL_OK;
}

/* sel_state_number */
static double poisson_state_number(const sel_state *state, const void *data, int which,
                                   int64_t cell) {
    (void)state, (void)which;
    return *poisson_state_place_of(data, cell);
}

static sel_status start_F(poisson_state *state, sel_error *error) {
    const sel_state *base = &state->diffusion.base;
    const sel_layout cells = sel_state_vector(base);
    const int64_t nx = base->plan->domain->grid.n[0];
    right_side of = {.rows = sel_own_rows(base), .nx = nx};
    const int64_t rows = of.rows.count;
    const size_t bytes = (size_t)rows * sizeof(sums) + (size_t)(rows * nx) * sizeof(double);
    of.of_row = malloc(bytes);
    of.F = of.of_row ? &of.of_row->amount + 2 * rows : NULL;
    sel_status status = of.of_row ? SEL_OK : sel_fail_memory(error, "rhs", bytes);
    status = sel_state_agree(base, status, error);
    status = status ? status : fill_F(state, &of, error);
    status = status ? status : check_right_side(base, &of, error);
    if (!status && poisson_plan_for(base)->singular) {
        status = balance_F(state, &of, error);
    }
    status = status ? status
                    : sel_state_fill(base, state->solve.F, (sel_type){'f', 8}, &cells, 3,
                                     poisson_state_number, &of, error);
    free(of.of_row);
    return sel_state_agree(base, status, error);
}

/* ---- the start ---- */

/* What is given: the coefficients of the finest level, the right-hand side, the residual. */
static void see_level(poisson_state *state) {
    const mg_level *level = &state->solve.m.level[0];
    diffusion_given *given = &state->diffusion.given;
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
    status = status ? status : diffusion_start(base, &none, "potential", error);
    state->solve.now = MG_BEGINS;
    status = status ? status : measure(base, error);
    if (!status) {
        const double norm = state->solve.now.norm;
        base->ending = (sel_ending){.how = SEL_GOES_ON};
        state->solve.now = MG_BEGINS;
        state->solve.now.norm = norm;
        status = diffusion_start(base, &params->initial.potential, "initial.potential", error);
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
    const bool full = method == POISSON_MULTIGRID && !mg_jumps(&poisson_plan_for(state)->box);
    return full && step == 0 ? MG_FULL_CYCLE : corrections[method];
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
    sel_ending *ending = &state->diffusion.base.ending;
    const char *const others = state->solve.limits.cycles
                                   ? "; method = \"conjugate_gradient\" or \"sor\" may do"
                                   : "; method = \"multigrid\" may do";
    /* Infinite residuals are at round-off that is infinite, too. */
    const bool rounds = now->how == MG_AT_ROUND_OFF && isfinite(now->relative);
    const int64_t how = now->how == MG_AT_ROUND_OFF && !rounds ? MG_DIVERGED : now->how;
    const bool lost = rounds && !(now->relative <= most_at_round_off && now->level <= 1);
    char more[200] = "";
    sel_state_go_to(&state->diffusion.base, now->step);
    state->known = now->step;
    state->diffusion.balance.residual = now->relative;
    if (how == MG_GOES_ON) {
        return;
    }
    if (how == MG_AT_ROUND_OFF) {
        snprintf(more, sizeof more, ", not %.3g: round-off, %.2g, keeps it from falling%s",
                 state->solve.limits.tolerance, now->level,
                 lost ? "; tie the potential more firmly (law.fixed, a larger h), or let "
                        "coefficients differ less"
                      : "");
    } else if (how == MG_STAGNATED) {
        snprintf(more, sizeof more, ", has not fallen since iteration %lld%s",
                 (long long)now->best_step, others);
    } else if (how == MG_OUT_OF_ITERATIONS) {
        snprintf(more, sizeof more, ", not %.3g%s", state->solve.limits.tolerance, others);
    }
    ending->how = lost ? SEL_STAGNATED : ends[how].how;
    snprintf(ending->why, sizeof ending->why, "%sthe residual%s %.3g of the right-hand side%s",
             lost ? ends[MG_STAGNATED].begins : ends[how].begins, how == MG_STAGNATED ? "," : " is",
             fabs(now->relative), more);
    state->diffusion.base.observed = state->diffusion.base.step;
}
