/* diffusion_limit.c -- the largest stable step forward in time: at the start, over a run, in a
 * step.
 *
 *   dt <= 1 / (sum of g / (C v) + b / 2)   in every cell, with b of a step of 1 (heat_step.h)
 *
 * Of all that is in it only h of law.convective may vary in time or with controls, so only cells on
 * surfaces are looked at again. Whatever h is, b of cells (layout = "cell") is that of a surface of
 * given temperature at most; that of nodes has no bound.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/cpu.h"
#include "engine/solvers/diffusion/diffusion.h"

/* Of dt, for round-off. */
static const double limit_slack = 1e-12;

/* sum of g / (C v) */
static double limit_sum(const diffusion_body *body, int64_t cell) {
    const sel_domain *domain = body->inputs.domain;
    double sum = 0;
    for (int face = 0; face < 2 * domain->grid.dims; face++) {
        sum += diffusion_conductance(&body->k, domain, cell, face);
    }
    return sum / diffusion_capacity_of(body, cell);
}

/* Lowers the limit to that of one cell, with the sum b of its surfaces for a step of 1. */
static bool limit_by(const diffusion_body *body, int64_t cell, double b, diffusion_limit *least) {
    const double limit = 1 / (limit_sum(body, cell) + b / 2);
    const bool lower = limit < least->dt;
    if (lower) {
        least->dt = limit;
        least->cell = cell;
    }
    return lower;
}

/* The lowest limit of all ranks: of equal ones that of the first cell, as one rank has it. */
static diffusion_limit limit_join(const diffusion_body *body, diffusion_limit own) {
    diffusion_limit all[SEL_MOST_RANKS], least;
    sel_domain_gather(body->inputs.domain, &own, sizeof own, all);
    least = all[0];
    for (int r = 1; r < sel_domain_ranks(body->inputs.domain); r++) {
        const bool before = all[r].dt == least.dt && all[r].cell < least.cell;
        least = all[r].dt < least.dt || before ? all[r] : least;
    }
    return least;
}

/* The largest h of a cell's surfaces, given their values. */
static double largest_h(const diffusion_body *body, int64_t k, const double *value) {
    const sel_surfaces *on = &body->inputs.surfaces;
    double h = 0;
    for (int64_t site = on->first_site[k]; site < on->first_site[k + 1]; site++) {
        const bool convects = body->site[site].law == DIFFUSION_CONVECTIVE;
        h = convects ? fmax(h, value[DIFFUSION_VALUES * site + 1]) : h;
    }
    return h;
}

/* Lowers the limit to that of this rank's cells on surfaces, given their values at the time t. */
static void limit_by_surfaces(const diffusion_body *body, const double *value, double t,
                              diffusion_limit *least) {
    const sel_surfaces *on = &body->inputs.surfaces;
    const sel_domain *domain = body->inputs.domain;
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0];
    const int64_t from = on->divided ? 0 : sel_surfaces_from(on, own.first * nx);
    const int64_t to = on->divided ? on->cells : sel_surfaces_from(on, own.end * nx);
    double b, s;
    for (int64_t k = from; k < to; k++) {
        diffusion_through_all(body->site, value, 0, on->first_site[k], on->first_site[k + 1], 1, &b,
                              &s);
        if (!isinf(b) && limit_by(body, on->cell[k], b, least)) {
            least->t = t;
            least->h = largest_h(body, k, value);
        }
    }
}

void diffusion_limit_find(diffusion_body *body) {
    const sel_domain *domain = body->inputs.domain;
    const double *dx = domain->grid.dx;
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t first = own.first * domain->grid.n[0], end = own.end * domain->grid.n[0];
    const bool varied = body->kind == HEAT_VARIED;
    double sum = 0;
    for (int a = 0; a < domain->grid.dims; a++) {
        sum += 2 * body->k.same[a] / (dx[a] * dx[a]);
    }
    diffusion_limit least = {.dt = varied ? HUGE_VAL : body->capacity.same[0] / sum, .cell = -1};
    for (int64_t c = first; c < end && varied; c++) {
        if (domain->cell[c] == 0) {
            limit_by(body, c, 0, &least);
        }
    }
    least = limit_join(body, least);
    limit_by_surfaces(body, body->inputs.value, 0, &least);
    body->limit = limit_join(body, least);
}

/* ---- over a run ---- */

enum {
    RUN_WITHOUT_END = 100000, /* steps that are sampled of it */
    SAMPLED_TIMES = 10000,    /* of a quantity that is the same everywhere */
    SAMPLED_VALUES = 200000,  /* else: */
    SAMPLED_PLACES = 64
};

static bool is_h(const diffusion_body *body, const sel_input *input) {
    const sel_domain *domain = body->inputs.domain;
    return input->region && input->which == 1 &&
           diffusion_law_of(domain, input->region) == DIFFUSION_CONVECTIVE;
}

/* The steps of a run. */
static double steps_of_run(const sel_plan *plan, double dt) {
    const sel_stop *stop = &plan->simulation->params->stop;
    const double steps = stop->steps == SEL_INT_NOT_GIVEN ? HUGE_VAL : (double)stop->steps;
    const double all = fmin(steps, isnan(stop->time) ? HUGE_VAL : ceil(stop->time / dt));
    return isinf(all) ? RUN_WITHOUT_END : all;
}

/* The time of the sample at which a quantity is largest at some of its places; 0: it has no value
 * above those that it has then. */
static double time_of_largest(const sel_inputs *inputs, const sel_input *input, double steps,
                              double dt) {
    const bool place = sel_quantity_depends(input->quantity) & SEL_ON_PLACE;
    const int64_t most = place ? SAMPLED_PLACES : 1;
    const int64_t places = input->count < most ? input->count : most;
    const double times = fmin(steps, place ? SAMPLED_VALUES / SAMPLED_PLACES : SAMPLED_TIMES);
    double at[3][SAMPLED_PLACES], value[SAMPLED_PLACES], first[SAMPLED_PLACES], rise = 0, when = 0;
    for (int64_t k = 0; k < places; k++) {
        for (int a = 0; a < 3; a++) {
            at[a][k] = inputs->place[a][input->first + k * input->count / places];
        }
    }
    for (double k = 0; k < times; k++) { /* the first and the last step are samples */
        const double t = dt * (times < steps ? round(k / (times - 1) * (steps - 1)) : k);
        const sel_places where =
            sel_domain_at(inputs->domain, (size_t)places, at[0], at[1], at[2], t);
        const bool known = !sel_quantity_eval(input->quantity, input->what, &where, value, NULL);
        if (k == 0) {
            memcpy(first, value, sizeof first);
        }
        for (int64_t i = 0; i < places && known; i++) {
            when = value[i] - first[i] > rise ? t : when;
            rise = fmax(rise, value[i] - first[i]);
        }
    }
    return when;
}

/* The values of laws at the time t, where h varies in time. False: they are not known. */
static bool values_at(const diffusion_body *body, double t, double *value) {
    enum { TOGETHER = 1 << 14 };
    const sel_inputs *inputs = &body->inputs;
    double *found = malloc(TOGETHER * sizeof *found);
    bool known = found;
    for (int n = 0; n < inputs->count && known; n++) {
        const sel_input *input = &inputs->v[n];
        const bool varies = is_h(body, input) && sel_input_depends(input) & SEL_ON_T;
        for (int64_t first = 0; first < input->count && varies && known; first += TOGETHER) {
            const int64_t left = input->count - first, count = left < TOGETHER ? left : TOGETHER;
            const int64_t from = input->first + first;
            const sel_places where =
                sel_domain_at(inputs->domain, (size_t)count, inputs->place[0] + from,
                              inputs->place[1] + from, inputs->place[2] + from, t);
            const sel_input_values values = {input, from, count, 0, found};
            known = sel_quantity_is_pure(input->quantity) &&
                    !sel_quantity_eval(input->quantity, input->what, &where, found, NULL);
            if (known) {
                sel_inputs_keep(value, inputs, &values);
            }
        }
    }
    free(found);
    return known;
}

diffusion_limit diffusion_limit_of_run(const sel_plan *plan, double dt) {
    const diffusion_body *body = diffusion_body_of(plan);
    const sel_inputs *inputs = &body->inputs;
    const size_t bytes = (size_t)(DIFFUSION_VALUES * inputs->surfaces.sites.count + 1) * 8;
    const double steps = steps_of_run(plan, dt);
    diffusion_limit least = body->limit;
    double *value = malloc(bytes);
    for (int n = 0; n < inputs->count && value; n++) {
        const sel_input *input = &inputs->v[n];
        if (is_h(body, input) && sel_input_depends(input) & SEL_ON_T && input->count > 0 &&
            sel_quantity_is_pure(input->quantity)) {
            const double t = time_of_largest(inputs, input, steps, dt);
            memcpy(value, inputs->value, bytes - 8);
            if (t > 0 && values_at(body, t, value)) {
                limit_by_surfaces(body, value, t, &least);
            }
        }
    }
    free(value);
    return limit_join(body, least);
}

/* ---- in a step ---- */

double diffusion_most_b(const diffusion_body *body, int64_t cell) {
    return 2 * (1 + limit_slack - body->inputs.domain->grid.dt * limit_sum(body, cell));
}

static sel_status limit_refuse(const sel_state *state, const diffusion_limit *limit,
                               sel_error *error) {
    const sel_grid *grid = &state->plan->domain->grid;
    char text[SEL_CELL_TEXT];
    const sel_status status = sel_fail_as(
        error, SEL_DIVERGED, sel_simulation_where(state->plan->simulation, "dt"),
        "dt = %.9g is not stable in step %lld (t = %.6g), where law.convective has h = %.6g: at "
        "most %.9g, by cell %s; take a smaller dt",
        grid->dt, (long long)state->step + 1, sel_state_time(state), limit->h, limit->dt,
        sel_cell_text(grid, limit->cell, text));
    return sel_fail_in_cell(error, status, limit->cell);
}

/* By the values of laws, evaluated here. */
static sel_status limit_check_values(const sel_state *state, diffusion_limit *least,
                                     sel_error *error) {
    const diffusion_body *body = diffusion_body_of(state->plan);
    const sel_inputs *inputs = &body->inputs;
    const size_t bytes = (size_t)(DIFFUSION_VALUES * inputs->surfaces.sites.count + 1) * 8;
    double *value = malloc(bytes);
    sel_status status = value ? SEL_OK : sel_fail_memory(error, "the laws", bytes);
    if (!status) {
        memcpy(value, inputs->value, bytes - 8);
        status = sel_inputs_evaluate(inputs, SEL_ON_T | SEL_ON_CONTROLS, state->step,
                                     sel_inputs_keep, value, error);
    }
    if (!status) {
        limit_by_surfaces(body, value, sel_state_time(state), least);
    }
    free(value);
    return status;
}

sel_status diffusion_limit_check(const sel_state *state, const double *most_b, sel_error *error) {
    const diffusion_body *body = diffusion_body_of(state->plan);
    const diffusion_given given = diffusion_given_of(state);
    const double dt = state->plan->domain->grid.dt;
    diffusion_limit least = {.dt = HUGE_VAL, .cell = -1};
    sel_status status = SEL_OK;
    int64_t first, end;
    if (most_b) {
        sel_given_range(state, &state->own, &first, &end);
        for (int64_t k = first; k < end; k++) {
            if (given.b[k] > most_b[k] && !isinf(given.b[k]) &&
                limit_by(body, given.cell[k], given.b[k] / dt, &least)) {
                least.h = largest_h(body, k, given.value);
            }
        }
    } else {
        status = limit_check_values(state, &least, error);
    }
    return status || !(dt > least.dt * (1 + limit_slack)) ? status
                                                          : limit_refuse(state, &least, error);
}
