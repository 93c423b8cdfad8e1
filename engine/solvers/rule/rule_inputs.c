/* rule_inputs.c -- values of laws and data of sel.rule as inputs: those of the plan, the places in
 * a patch, and where values are kept.
 *
 *     data    in all cells              the cell field itself
 *     law     at places of runs,        tables.law, by the number of a place, from which margins
 *             of one face or in cells   and cells under laws are filled
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/rule/rule.h"

/* sel_input.which: an entry times RULE_WHERE, and where it has values: a face, RULE_FACES (cells
 * under laws) or DATA. */
enum { DATA = RULE_FACES + 1 };

static int entry_of(const sel_input *input) {
    return input->which / RULE_WHERE;
}

static int where_of(const sel_input *input) {
    return input->which % RULE_WHERE;
}

/* ---- the list of the plan ---- */

/* sel_inputs.cell: of a margin the cell nearest to the place. */
static int64_t rule_inputs_cell(const sel_inputs *inputs, int64_t k) {
    const sel_grid *grid = &inputs->domain->grid;
    int64_t at[3] = {0};
    for (int a = 0; a < grid->dims; a++) {
        const double i = floor(sel_index(grid, a, inputs->place[a][k]) + 0.5);
        const double most = (double)(grid->n[a] - 1);
        at[a] = (int64_t)(i < 0 ? 0 : i < most ? i : most);
    }
    return sel_cell_number(grid, at);
}

/* sel_inputs.check */
static sel_status rule_inputs_check(const sel_inputs *inputs, const sel_input *input, int64_t k,
                                    int64_t step, double value, sel_error *error) {
    const rule_plan *plan = inputs->of;
    const int field = plan->model->entry[entry_of(input)].first, where = where_of(input);
    (void)step;
    return where < RULE_FACES
               ? SEL_OK
               : rule_check_value(plan, input->what, field, value,
                                  where == DATA ? k : inputs->cell(inputs, input->first + k),
                                  error);
}

/* Adds an input; `input` says of which region it is and what it is called. */
static sel_status rule_inputs_add(rule_plan *plan, sel_input input, int entry, int where,
                                  sel_error *error) {
    const rule_model *m = plan->model;
    const sel_cell_type type = m->field[m->entry[entry].first].type;
    input.which = entry * RULE_WHERE + where;
    if (where >= RULE_FACES && type != SEL_CELL_REAL) {
        input.whole = true;
        input.least = type == SEL_CELL_U8 ? 0 : INT32_MIN;
        input.most = type == SEL_CELL_U8 ? UINT8_MAX : INT32_MAX;
    }
    return sel_inputs_add(&plan->inputs, &input) ? SEL_OK
                                                 : sel_fail_memory(error, "the laws", sizeof input);
}

static sel_status rule_inputs_list_data(rule_plan *plan, sel_error *error) {
    const rule_model *m = plan->model;
    sel_status status = SEL_OK;
    for (int e = m->states; e < m->entries && !status; e++) {
        sel_input input = sel_input_of(m->entry[e].value, SEL_INPUT_IN_CELLS);
        input.everywhere = true;
        input.gaps = input.quantity->components == 1;
        snprintf(input.what, sizeof input.what, "data.%.64s", m->entry[e].name);
        status = rule_inputs_add(plan, input, e, DATA, error);
    }
    return status;
}

static sel_status rule_inputs_list_laws(rule_plan *plan, int where, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const rule_model *m = plan->model;
    sel_status status = SEL_OK;
    for (int k = 0; k < domain->region_count * m->entries && !status; k++) {
        const int region = 1 + k / m->entries, e = k % m->entries;
        const rule_holds holds =
            rule_law_of(domain, region, m->entry[e].name, m->entry[e].state, where < RULE_FACES);
        if (holds.law) {
            sel_input input = sel_input_of(&holds.law->value, SEL_INPUT_AT_PLACES);
            input.region = region;
            snprintf(input.what, sizeof input.what, "%s",
                     holds.kind == RULE_FIXED ? "law.fixed" : "law, on a face");
            status = rule_inputs_add(plan, input, e, where, error);
        }
    }
    return status;
}

sel_status rule_inputs_list(rule_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    plan->inputs.domain = domain;
    plan->inputs.cell = rule_inputs_cell;
    plan->inputs.check = rule_inputs_check;
    plan->inputs.of = plan;
    sel_status status = rule_inputs_list_data(plan, error);
    for (int where = 0; where <= RULE_FACES && !status; where++) {
        const bool cells = where == RULE_FACES;
        if (cells || (domain->face[where] && !sel_axis_periodic(&domain->grid, where / 2))) {
            status = rule_inputs_list_laws(plan, where, error);
        }
    }
    return status;
}

/* ---- places of a state ---- */

/* Places that inputs share: at the centres of cells or on the face itself, by where and region. */
typedef struct rule_segment {
    bool wanted;
    int64_t first, count;
} rule_segment;

static rule_segment *segment_of(rule_segment *segments, bool on_face, int where, int region) {
    return &segments[(on_face * RULE_WHERE + where) * RULE_REGIONS + region];
}

/* The segment of an input. */
static rule_segment *segment_for(const rule_state *state, rule_segment *segments,
                                 const sel_input *input) {
    const int where = where_of(input), field = state->model->entry[entry_of(input)].first;
    const int law = state->tables.kind[where == RULE_FACES][input->region][field];
    return segment_of(segments, law != RULE_FIXED, where, input->region);
}

/* Lists the places of a run that follow number `k` of the lists; around periodic axes those of
 * their images. */
static void put_places(const sel_grid *grid, const rule_run *run, bool on_face, int64_t k,
                       double *const place[3], int64_t *target) {
    const int axis = run->face / 2, along = run->face == RULE_FACES || axis ? 0 : 1;
    for (int i = 0; i < run->count; i++, k++) {
        for (int a = 0; a < 3; a++) {
            const int64_t index = run->at[a] + (a == along ? i : 0);
            const bool wraps = a < grid->dims && sel_axis_periodic(grid, a);
            const double at = (double)(wraps ? sel_wrapped(grid, a, index) : index);
            place[a][k] = a != axis || !on_face ? sel_centre(grid, a, at)
                          : run->face % 2       ? sel_upper_end(grid, a)
                                                : grid->origin[a];
        }
        target[k] = run->number + i;
    }
}

/* Walks over the runs that have places of a segment: counts these, or lists them. */
static void walk_runs(const rule_state *state, rule_segment *segments, double *const place[3],
                      int64_t *target) {
    for (int64_t i = 0; i < state->first_run[RULE_SECTIONS]; i++) {
        const rule_run *run = &state->tables.run[i];
        for (int on_face = 0; on_face < 2 && run->face >= 0; on_face++) {
            rule_segment *segment = segment_of(segments, on_face, run->face, run->region);
            if (!segment->wanted) {
                continue;
            }
            if (target) {
                put_places(&state->plan->base.domain->grid, run, on_face,
                           segment->first + segment->count, place, target);
            }
            segment->count += run->count;
        }
    }
}

/* Lists the places of laws that depend on any of `due`; the runs are known. */
static bool rule_inputs_place(const rule_state *state, unsigned due, sel_inputs *inputs) {
    enum { SEGMENTS = 2 * RULE_WHERE * RULE_REGIONS };
    rule_segment *segments = calloc(SEGMENTS, sizeof *segments);
    bool any = false;
    for (int k = 0; k < inputs->count && segments; k++) {
        const sel_input *input = &inputs->v[k];
        if (input->kind == SEL_INPUT_AT_PLACES && (sel_input_depends(input) | SEL_ALWAYS) & due) {
            segment_for(state, segments, input)->wanted = any = true;
        }
    }
    if (!any) {
        const bool made = segments != NULL;
        free(segments);
        return made;
    }
    walk_runs(state, segments, NULL, NULL);
    for (int k = 0; k < SEGMENTS; k++) {
        segments[k].first = inputs->places;
        inputs->places += segments[k].count;
        segments[k].count = 0;
    }
    const size_t places = (size_t)inputs->places;
    double *place = inputs->memory = malloc((4 * places + 1) * sizeof *place);
    if (place) {
        double *const by_axis[3] = {place, place + places, place + 2 * places};
        int64_t *target = (int64_t *)(place + 3 * places);
        memcpy(inputs->place, by_axis, sizeof by_axis);
        inputs->target = target;
        walk_runs(state, segments, by_axis, target);
        for (int k = 0; k < inputs->count; k++) {
            sel_input *input = &inputs->v[k];
            if (input->kind == SEL_INPUT_AT_PLACES) {
                const rule_segment *segment = segment_for(state, segments, input);
                input->first = segment->first;
                input->count = segment->wanted ? segment->count : 0;
            }
        }
    }
    free(segments);
    return place;
}

bool rule_list_places(sel_state *base, sel_inputs *inputs) {
    rule_state *state = (rule_state *)base;
    state->plan = (const rule_plan *)base->plan;
    state->model = state->plan->model;
    rule_find_laws(state);
    if (!(state->plan->law_depends & (SEL_ON_T | SEL_ON_CONTROLS))) {
        return true;
    }
    rule_list_runs(state);
    state->tables.run = malloc(((size_t)state->first_run[RULE_SECTIONS] + 1) * sizeof(rule_run));
    bool listed = state->tables.run;
    if (listed) {
        rule_list_runs(state);
        listed = rule_inputs_place(state, SEL_ON_T | SEL_ON_CONTROLS, inputs);
    }
    free(state->tables.run);
    state->tables.run = NULL;
    return listed;
}

/* ---- values ---- */

sel_status rule_check_value(const rule_plan *plan, const char *what, int f, double value,
                            int64_t cell, sel_error *error) {
    const sel_cell_field *field = &plan->model->field[f];
    const bool byte = field->type == SEL_CELL_U8;
    char text[SEL_CELL_TEXT];
    return field->type == SEL_CELL_REAL ||
                   (value >= (byte ? 0 : INT32_MIN) && value <= (byte ? UINT8_MAX : INT32_MAX) &&
                    value == floor(value))
               ? SEL_OK
               : sel_fail_in_cell(
                     error,
                     sel_fail_at(error, plan->model->entry[plan->model->entry_of[f]].where,
                                 "%s: '%s' is %s, got %.17g in cell %s", what, field->name,
                                 byte ? "a whole number from 0 to 255"
                                      : "a whole number of 32 bits",
                                 value, sel_cell_text(&plan->base.domain->grid, cell, text)),
                     cell);
}

void rule_store(void *to, const sel_inputs *inputs, const sel_input_values *values) {
    const rule_state *state = to;
    const rule_entry *e = &state->model->entry[entry_of(values->input)];
    const int64_t apart = values->input->quantity->components > 1 ? values->count : 0;
    for (int c = 0; c < e->components; c++) {
        double *law = state->tables.law[e->first + c];
        for (int64_t k = 0; k < values->count; k++) {
            law[inputs->target[values->first + k]] = values->v[c * apart + k];
        }
    }
}

sel_input_cells rule_cells(const sel_state *base, const sel_input *input) {
    const rule_entry *e = &((const rule_plan *)base->plan)->model->entry[entry_of(input)];
    const sel_field *field = &base->field[e->first];
    const int64_t size = field->type.size;
    sel_layout layout = field->layout;
    /* Arrays of components stand one behind the other. */
    layout.component =
        e->components > 1 ? ((char *)field[1].at[0] - (char *)field[0].at[0]) / size : 0;
    layout.components = e->components;
    layout.count += (e->components - 1) * layout.component;
    layout.before += layout.origin;
    layout.origin = 0;
    return (sel_input_cells){.to = (char *)field->at[0] + field->layout.origin * size,
                             .type = field->type,
                             .layout = layout,
                             .factor = 1};
}

static bool rule_inputs_place_all(sel_state *base, sel_inputs *inputs) {
    return rule_inputs_place((const rule_state *)base, SEL_ALWAYS, inputs);
}

sel_status rule_start_laws(rule_state *state, sel_error *error) {
    sel_inputs *all =
        state->base.listed ? sel_inputs_copy(&state->base, rule_inputs_place_all) : NULL;
    sel_status status = all ? sel_inputs_evaluate(all, SEL_ALWAYS, -1, rule_store, state, error)
                        : state->base.listed ? sel_fail_memory(error, "the laws", sizeof *all)
                                             : SEL_OK;
    sel_inputs_free_copy(all);
    if (!status) {
        rule_fill_cells(state);
    }
    return status;
}

void rule_derive(sel_state *base) {
    rule_state *state = (rule_state *)base;
    if (state->plan->law_depends & (SEL_ON_T | SEL_ON_CONTROLS)) {
        rule_fill_cells(state);
    }
}
