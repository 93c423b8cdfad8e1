/* inputs.c -- list the inputs of a plan; their values on the host. */
#include "engine/core/collectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void inputs_add(sel_inputs *inputs, const sel_input *input) {
    inputs->v[inputs->count++] = *input;
    inputs->depends |= sel_quantity_depends(input->quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
}

sel_status sel_inputs_list(sel_inputs *inputs, const sel_domain *domain, bool whole,
                           sel_surface_far *far, sel_error *error) {
    inputs->domain = domain;
    inputs->far = far;
    sel_status status = sel_surfaces_list(domain, whole, far, &inputs->surfaces, error);
    for (int r = 1; r <= domain->region_count && !status; r++) {
        const sel_variant *law = &domain->regions[r - 1].law;
        for (int k = 0; k < law->table->count && inputs->surfaces.of_region[r]; k++) {
            sel_input input = {.region = r, .which = k};
            const sel_table_field *field = &law->table->fields[k];
            input.quantity = (const void *)((const char *)law->data + field->offset);
            snprintf(input.what, sizeof input.what, "%s: %s", law->table->name, field->name);
            inputs_add(inputs, &input);
        }
    }
    return status;
}

void sel_inputs_source(sel_inputs *inputs, const sel_quantity *source) {
    if (sel_quantity_given(source)) {
        inputs_add(inputs, &(sel_input){.quantity = source, .what = "source"});
        inputs->has_source = true;
        inputs->source = sel_faces_layout(&inputs->domain->grid);
        inputs->source_depends = sel_quantity_depends(source) & (SEL_ON_T | SEL_ON_CONTROLS);
    }
}

sel_status sel_inputs_try_all(const sel_inputs *inputs, unsigned due, int64_t step,
                              sel_error *error) {
    sel_inputs all = *inputs;
    if (!inputs->surfaces.divided) {
        return sel_inputs_evaluate(inputs, due, step, NULL, NULL, error);
    }
    sel_status status = sel_surfaces_list(inputs->domain, true, inputs->far, &all.surfaces, error);
    status = status ? status : sel_inputs_evaluate(&all, due, step, NULL, NULL, error);
    sel_surfaces_free(&all.surfaces);
    return status;
}

sel_status sel_inputs_complete(sel_inputs *inputs, sel_error *error) {
    const sel_domain *domain = inputs->domain;
    const size_t count = (size_t)(inputs->values * inputs->surfaces.sites.count) + 1;
    double *value = inputs->value = calloc(count, sizeof *value);
    sel_error why = {.status = SEL_OK};
    sel_status status =
        value ? SEL_OK : sel_fail_memory(&why, "the laws", count * sizeof *inputs->value);
    status = inputs->surfaces.divided ? sel_domain_agree(domain, status, &why, error)
             : status                 ? sel_fail(error, status, "%s", why.text)
                                      : SEL_OK;
    if (status || !inputs->surfaces.divided) {
        return status ? status
                      : sel_inputs_evaluate(inputs, SEL_ALWAYS, -1, NULL, inputs->value, error);
    }
    status = sel_inputs_evaluate(inputs, SEL_ALWAYS, -1, NULL, inputs->value, &why);
    if (sel_domain_total(domain, status != SEL_OK) && domain->ranks->rank == 0) {
        why = (sel_error){.status = SEL_OK};
        status = sel_inputs_try_all(inputs, SEL_ALWAYS, -1, &why);
    }
    return sel_domain_agree(domain, status, &why, error);
}

sel_status sel_inputs_of_place(const sel_inputs *inputs, bool all, const char *advice,
                               sel_error *error) {
    for (int k = 0; k < inputs->count; k++) {
        const sel_input *input = &inputs->v[k];
        if (input->region && (all || input->not_negative) &&
            (sel_quantity_depends(input->quantity) & ~(unsigned)SEL_ON_PLACE)) {
            return sel_fail_at(error, inputs->domain->regions[input->region - 1].at,
                               "%s may depend on place only%s", input->what, advice);
        }
    }
    return SEL_OK;
}

void sel_inputs_free(sel_inputs *inputs) {
    sel_surfaces_free(&inputs->surfaces);
    free(inputs->value);
}

/* ---- values ---- */

double sel_input_time(const sel_inputs *inputs, const sel_input *input, int64_t step) {
    return step < 0 ? 0 : ((double)step + input->ahead) * inputs->domain->grid.dt;
}

/* Evaluates an input at n places. */
static sel_status inputs_evaluate(const sel_inputs *inputs, const sel_input *input, int64_t n,
                                  const double *x, const double *y, const double *z, int64_t step,
                                  double *to, sel_error *error) {
    const sel_domain *domain = inputs->domain;
    const sel_places at = sel_domain_at(domain, n, x, y, z, sel_input_time(inputs, input, step));
    sel_status status = sel_quantity_eval(input->quantity, input->what, &at, to, error);
    for (int64_t k = 0; k < n && input->not_negative && !status; k++) {
        if (to[k] < 0) {
            status = sel_fail_at(error, domain->regions[input->region - 1].at,
                                 "%s must not be negative, got %g", input->what, to[k]);
        }
    }
    return status;
}

sel_status sel_inputs_evaluate(const sel_inputs *inputs, unsigned due, int64_t step,
                               const int64_t sites[2], double *value, sel_error *error) {
    const sel_surfaces *on = &inputs->surfaces;
    const int64_t all[2] = {0, on->sites.count}, *of = sites ? sites : all;
    const size_t bytes = (size_t)(on->sites.count + 1) * sizeof(double);
    double *found = malloc(bytes);
    sel_status status = found ? SEL_OK : sel_fail_memory(error, "the laws", bytes);
    for (int k = 0; k < inputs->count && !status; k++) {
        const sel_input *input = &inputs->v[k];
        const int64_t first = on->first_of[input->region];
        const int64_t n = on->first_of[input->region + 1] - first;
        if (input->region && (sel_quantity_depends(input->quantity) | SEL_ALWAYS) & due) {
            status = inputs_evaluate(inputs, input, n, on->place[0] + first, on->place[1] + first,
                                     on->place[2] + first, step, found, error);
            for (int64_t i = 0; i < n && value && !status; i++) {
                const int64_t site = on->order[first + i];
                if (site >= of[0] && site < of[1]) {
                    value[inputs->values * site + input->which] = found[i];
                }
            }
        }
    }
    free(found);
    return status;
}

sel_status sel_input_at(const sel_inputs *inputs, const sel_input *input, const double place[3],
                        int64_t step, double *value, sel_error *error) {
    return inputs_evaluate(inputs, input, 1, place, place + 1, place + 2, step, value, error);
}

sel_status sel_input_number(const sel_inputs *inputs, const sel_input *input, int64_t k,
                            int64_t step, double place[3], double *value, sel_error *error) {
    const sel_surfaces *on = &inputs->surfaces;
    sel_cell_centre(&inputs->domain->grid, input->region ? 0 : k, place);
    for (int a = 0; a < 3 && input->region; a++) {
        place[a] = on->place[a][on->first_of[input->region] + k];
    }
    return sel_input_at(inputs, input, place, step, value, error);
}

sel_status sel_input_try(const sel_inputs *inputs, const sel_input *input, int64_t k, int64_t step,
                         double place[3], sel_error *error) {
    double value;
    return sel_input_number(inputs, input, k, step, place, &value, error);
}

sel_status sel_inputs_ahead(const sel_plan *plan, int64_t step, sel_error *error) {
    const sel_inputs *inputs = plan->inputs;
    double place[3];
    sel_status status =
        inputs->depends & SEL_ON_T ? sel_inputs_try_all(inputs, SEL_ON_T, step, error) : SEL_OK;
    return status || !(inputs->source_depends & SEL_ON_T)
               ? status
               : sel_input_try(inputs, &inputs->v[inputs->count - 1], 0, step, place, error);
}

/* ---- those of a state ---- */

sel_status sel_inputs_fill(const sel_state *state, int64_t step, void *to, sel_error *error) {
    const sel_inputs *inputs = state->plan->inputs;
    const sel_domain *domain = inputs->domain;
    const sel_input *input = &inputs->v[inputs->count - 1];
    const int64_t *n = domain->grid.n;
    const sel_layout layout = sel_state_own_faces(state, &inputs->source);
    const sel_rows rows = sel_own_rows(state);
    const int64_t fit = sel_domain_rows_at_once(domain, state->threads);
    const int64_t most = fit < rows.count ? fit : rows.count;
    const size_t bytes = (size_t)(most * n[0]) * sizeof(double);
    sel_evaluation asked = {input->quantity, input->what, .t = sel_input_time(inputs, input, step),
                            .first = 0};
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, input->what, bytes);
    for (int64_t k = 0; k < rows.count && !status; k += asked.end - asked.first) {
        const sel_rows_range together = sel_rows_together(&rows, k, most);
        asked.first = together.first;
        asked.end = together.end;
        status = sel_domain_evaluate(domain, &asked, state->threads, values, error);
        for (int64_t row = asked.first; row < asked.end && !status; row++) {
            int64_t at[3] = {0, row % n[1], row / n[1]};
            const int64_t first = at[1] * layout.pitch + at[2] * layout.slice;
            for (; at[0] < n[0]; at[0]++) {
                sel_put(to, state->field[0].type, first + at[0],
                        values[(row - asked.first) * n[0] + at[0]] *
                            sel_part_inside(&domain->grid, at, -1));
            }
        }
    }
    free(values);
    return status;
}

sel_status sel_inputs_start(sel_state *state, sel_error *error) {
    const sel_inputs *inputs = state->plan->inputs;
    if (!inputs->has_source || !state->arrays.memory) {
        return inputs->has_source ? sel_inputs_fill(state, -1, state->given.source, error) : SEL_OK;
    }
    const sel_layout own = sel_state_own_faces(state, &inputs->source);
    const int64_t first = (inputs->source.before - own.before) * state->field[0].type.size;
    const size_t bytes = (size_t)own.count * state->field[0].type.size;
    char *values = calloc(bytes, 1);
    sel_status status = values ? sel_inputs_fill(state, -1, values - first, error)
                               : sel_fail_memory(error, "the source", bytes);
    status = status ? status
                    : sel_arrays_send(&state->arrays, (char *)state->given.source + first, values,
                                      bytes, error);
    free(values);
    return status;
}

void sel_given_range(const sel_state *state, const sel_patch *planes, int64_t *first,
                     int64_t *end) {
    const sel_inputs *inputs = state->plan->inputs;
    const int slow = inputs->domain->grid.dims - 1;
    const int64_t cells = state->rows_per_plane * inputs->domain->grid.n[0];
    *first = sel_surfaces_from(&inputs->surfaces, planes->lo[slow] * cells);
    *end = sel_surfaces_from(&inputs->surfaces, planes->hi[slow] * cells);
}
