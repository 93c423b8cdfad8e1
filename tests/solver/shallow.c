/* shallow.c -- sel.shallow, a solver of three coupled fields beside those of the engine: tables,
 * plan, state, steps on the CPU and on a device. Its rule and its equations: shallow.h.
 *
 * tests/solver/solvers.c adds it to the list of solvers; all else that makes a run of it is in the
 * engine.
 */
#include "tests/solver/shallow.h"

#include <stdio.h>
#include <stdlib.h>
#include "engine/core/collectives.h"
#include "engine/core/cpu.h"

/* ---- tables ---- */

typedef struct shallow_sea {
    sel_quantity value[SHALLOW_VALUES];
} shallow_sea;

typedef struct shallow_initial {
    sel_quantity depth, discharge;
} shallow_initial;

typedef struct shallow_params {
    sel_common common;
    double gravity;
    sel_quantity rain;
    shallow_initial initial;
} shallow_params;

static const sel_table_field sea_fields[] = {
    SEL_ROW_NAMED("depth", shallow_sea, value[SHALLOW_DEPTH], QUANTITY, "Depth beyond the face.",
                  .flags = SEL_REQUIRED),
    SEL_ROW_NAMED("inflow", shallow_sea, value[SHALLOW_INFLOW], QUANTITY,
                  "Discharge per width into the domain.", .flags = SEL_REQUIRED),
};
static const sel_table sea_table =
    SEL_TABLE("law.sea", shallow_sea, sea_fields, "sel.shallow: a sea beyond the face.");
static const sel_table bank_table = {.name = "law.bank", .doc = "sel.shallow: a bank."};
static const sel_table *const laws[] = {&sea_table, &bank_table};
static const sel_family law_family = {"law", "What holds on a region of sel.shallow.", laws, 2};
static const sel_table_field region_fields[] = {SEL_REGION_FIELDS(law_family)};
static const sel_table region_table = SEL_REGION_TABLE(region_fields);

static const sel_table_field initial_fields[] = {
    SEL_ROW(shallow_initial, depth, QUANTITY, "Depth at step 0.", .flags = SEL_REQUIRED),
    SEL_ROW(shallow_initial, discharge, VECTOR, "Discharge per width; 0 when not given."),
};
static const sel_table initial_table =
    SEL_TABLE("initial", shallow_initial, initial_fields, "The water at step 0.");

static const sel_table_field fields[] = {
    SEL_COMMON_FIELDS(region_table),
    SEL_PRECISION_ROW(SEL_F64),
    SEL_ROW(shallow_params, gravity, NUMBER, "Acceleration of gravity.", .flags = SEL_POSITIVE,
            .preset = 9.81),
    SEL_ROW(shallow_params, rain, QUANTITY, "Depth per time that appears; 0 when not given."),
    SEL_ROW(shallow_params, initial, TABLE, "The water at step 0.", .flags = SEL_REQUIRED,
            .table = &initial_table),
};
static const sel_table shallow_table =
    SEL_TABLE("sel.shallow", shallow_params, fields,
              "Water in shallow basins with a level bottom, in 2-D.", .has_where = true);

/* ---- the plan ---- */

typedef struct shallow_plan {
    sel_plan base;
    sel_inputs inputs;
    uint8_t *face; /* of each site */
} shallow_plan;

/* sel_surface_far: the sea stands at the face; banks need no values. */
static double far(const sel_domain *domain, int region, bool outer) {
    (void)outer;
    return domain->regions[region - 1].law.table == &sea_table ? 0.5 : -1;
}

static sel_status shallow_make(sel_plan *base, sel_error *error) {
    shallow_plan *plan = (shallow_plan *)base;
    const shallow_params *params = (const shallow_params *)base->simulation->params;
    sel_inputs *inputs = &plan->inputs;
    inputs->values = SHALLOW_VALUES;
    sel_status status = sel_inputs_list(inputs, base->domain, false, far, error);
    if (status) {
        return status;
    }
    const int64_t sites = inputs->surfaces.sites.count;
    plan->face = malloc((size_t)sites + 1);
    if (!plan->face) {
        return sel_fail_memory(error, "the surfaces", (size_t)sites);
    }
    for (int64_t k = 0; k < sites; k++) {
        plan->face[k] = (uint8_t)inputs->surfaces.site[k].face;
    }
    status = sel_inputs_source(inputs, &params->rain, error);
    for (int k = 0; k < inputs->count; k++) {
        inputs->v[k].ahead = 0.5; /* the middle of a step */
        if (inputs->v[k].region && inputs->v[k].which == SHALLOW_DEPTH) {
            inputs->v[k].least = 0;
        }
    }
    base->inputs = inputs;
    base->depends = inputs->depends;
    return status ? status : sel_inputs_complete(inputs, error);
}

static void shallow_clear(sel_plan *base) {
    shallow_plan *plan = (shallow_plan *)base;
    free(plan->face);
    sel_inputs_free(&plan->inputs);
}

static int shallow_dims(const sel_common *common) {
    (void)common;
    return 2;
}

static void shallow_facts(const sel_plan *base, sel_facts *to) {
    const shallow_params *params = (const shallow_params *)base->simulation->params;
    sel_fact_add(to, "gravity", "%.6g", params->gravity);
}

static void shallow_json(const sel_plan *base, FILE *to) {
    const shallow_params *params = (const shallow_params *)base->simulation->params;
    fprintf(to, "\"gravity\": %.9g", params->gravity);
}

static sel_cell_bytes shallow_bytes(const sel_common *common, int precision) {
    (void)common, (void)precision;
    const double numbers = SHALLOW_NUMBERS * sizeof(double);
    return (sel_cell_bytes){2 * numbers, 8, 2 * numbers};
}

/* ---- the state ---- */

typedef struct shallow_state {
    sel_state base;
    void *w[2]; /* [SHALLOW_NUMBERS][rows][nx], with a row of halo below and above */
    int64_t *cell, *first_site;
    uint8_t *face;
#ifdef SEL_CUDA
    shallow_seen seen;
#endif
} shallow_state;

static void shallow_list(sel_state *base) {
    shallow_state *state = (shallow_state *)base;
    const shallow_plan *plan = (const shallow_plan *)base->plan;
    const sel_surfaces *on = &plan->inputs.surfaces;
    const int64_t nx = base->plan->domain->grid.n[0], ny = base->plan->domain->grid.n[1];
    const int64_t rows = sel_patch_cells(&base->own, 1) + 2;
    const sel_layout grid = {.n = {nx, ny, 1},
                             .slow = 1,
                             .components = SHALLOW_NUMBERS,
                             .origin = nx,
                             .pitch = nx,
                             .component = nx * rows,
                             .count = SHALLOW_NUMBERS * nx * rows};
    base->last = (sel_last){.type = {'f', 8}, .components = 1, .scale = 1};
    const sel_field w = {.name = "w",
                         .flags = SEL_SAVED | SEL_ANY_NUMBER,
                         .copies = 2,
                         .alternates = true,
                         .at = state->w,
                         .type = base->last.type,
                         .layout = sel_patch_layout(&grid, &base->own),
                         .halo = 1};
    sel_state_add_field(base, &w);
    sel_state_list_room(base);
    const sel_state_surfaces own = sel_state_find_surfaces(base);
    sel_state_list_part(base, "cell", &state->cell, SEL_TYPE_OF(*state->cell), own.cells[0],
                        own.cells[1], on->cell);
    sel_state_list_part(base, "first_site", &state->first_site, SEL_TYPE_OF(*state->first_site),
                        own.cells[0], own.cells[1] + 1, on->first_site);
    sel_state_list_part(base, "face", &state->face, SEL_TYPE_OF(*state->face), own.sites[0],
                        own.sites[1], plan->face);
}

/* The step from `step`. */
static shallow_view shallow_view_of(const sel_state *base, int64_t step) {
    const shallow_state *state = (const shallow_state *)base;
    const sel_grid *grid = &base->plan->domain->grid;
    const shallow_params *params = (const shallow_params *)base->plan->simulation->params;
    const sel_field *w = &base->field[0];
    const int from = sel_copy_at(base, w, step);
    return (shallow_view){.n = {grid->n[0], grid->n[1]},
                          .first = base->own.lo[1],
                          .end = base->own.hi[1],
                          .component = w->layout.component,
                          .rain_pitch = base->given.apart[1],
                          .periodic = {sel_axis_periodic(grid, 0), sel_axis_periodic(grid, 1)},
                          .halo = base->ranks->count > 1,
                          .g = params->gravity,
                          .dt = grid->dt,
                          .dx = grid->dx[0],
                          .from = (const double *)w->at[from] + w->layout.origin,
                          .rain = base->given.source,
                          .to = (double *)w->at[!from] + w->layout.origin,
                          .solid = base->plan->domain->cell,
                          .cell = state->cell,
                          .first_site = state->first_site,
                          .face = state->face,
                          .value = base->given.value};
}

/* sel_state_number: what was evaluated, [rows of the rank][SHALLOW_NUMBERS][nx]. */
typedef struct shallow_start_values {
    sel_rows rows;
    int component;
    double *v;
} shallow_start_values;

static double shallow_number(const sel_state *base, const void *data, int which, int64_t cell) {
    const shallow_start_values *values = data;
    const int64_t nx = base->plan->domain->grid.n[0];
    const int64_t k = sel_row_number(&values->rows, cell / nx);
    (void)which;
    return values->v[(k * SHALLOW_NUMBERS + values->component) * nx + cell % nx];
}

static sel_status shallow_evaluate(const sel_state *base, double *to, sel_error *error) {
    const shallow_params *params = (const shallow_params *)base->plan->simulation->params;
    const sel_domain *domain = base->plan->domain;
    const int64_t nx = domain->grid.n[0];
    sel_evaluation depth = {.quantity = &params->initial.depth,
                            .what = "initial.depth",
                            .first = base->own.lo[1],
                            .end = base->own.hi[1],
                            .apart = SHALLOW_NUMBERS * nx};
    sel_evaluation discharge = depth;
    discharge.quantity = &params->initial.discharge;
    discharge.what = "initial.discharge";
    sel_status status = sel_domain_evaluate(domain, &depth, base->threads, to, error);
    return status || !sel_quantity_given(discharge.quantity)
               ? status
               : sel_domain_evaluate(domain, &discharge, base->threads, to + nx, error);
}

static sel_status shallow_start(sel_state *base, sel_error *error) {
    const sel_layout *layout = &base->field[0].layout;
    shallow_start_values values = {.rows = sel_own_rows(base)};
    const size_t bytes = (size_t)(values.rows.count * SHALLOW_NUMBERS * layout->n[0]) * 8;
    values.v = calloc(bytes, 1);
    sel_status status = values.v ? shallow_evaluate(base, values.v, error)
                                 : sel_fail_memory(error, "the water", bytes);
    sel_layout one = *layout; /* of a component, from cell (0, 0) on */
    one.components = 1;
    one.before += one.origin;
    one.origin = 0;
    one.count = one.component;
    for (; values.component < SHALLOW_NUMBERS && !status; values.component++) {
        double *to =
            (double *)base->field[0].at[0] + layout->origin + values.component * layout->component;
        status =
            sel_state_fill(base, to, base->field[0].type, &one, 3, shallow_number, &values, error);
    }
    free(values.v);
    return sel_state_agree(base, status, error);
}

/* ---- on the CPU ---- */

static sel_status shallow_steps(sel_state *base, int64_t n, sel_error *error) {
    (void)error;
    for (; n > 0; n--, sel_state_pass(base, 1)) {
        sel_state_exchange(base, base->step, SEL_FETCH);
        const shallow_view v = shallow_view_of(base, base->step);
        int64_t first, end;
        sel_given_range(base, &base->own, &first, &end);
#pragma omp parallel num_threads(base->threads)
        {
#pragma omp for schedule(static)
            for (int64_t y = v.first; y < v.end; y++) {
                for (int64_t x = 0; x < v.n[0]; x++) {
                    shallow_step(&v, x, y, -1);
                }
            }
#pragma omp for schedule(static)
            for (int64_t k = first; k < end; k++) {
                shallow_step(&v, v.cell[k] % v.n[0], v.cell[k] / v.n[0], k);
            }
        }
    }
    return SEL_OK;
}

/* sel_look.field */
static int shallow_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                         const double **values) {
    const shallow_view v = shallow_view_of(base, base->step);
    double *to = sel_state_scratch(base);
    *values = to;
    for (int64_t x = x0; x < x1; x++, to++) {
        const shallow_cell c = shallow_at(&v, x, row);
        to[0] = field == 0 ? c.h : c.q[0];
        to[v.n[0]] = c.q[1];
    }
    return field == 0 ? 1 : 2;
}

static const sel_cpu shallow_on_cpu = {
    .what = "the water",
    .state_size = sizeof(shallow_state),
    .list = shallow_list,
    .start = shallow_start,
    .steps = shallow_steps,
    .look = {.field = shallow_field},
};

/* ---- on a device ---- */

#ifdef SEL_CUDA
#include "cuda/backend.h"
#include "cuda/inputs.h"

static sel_status shallow_cuda_step(sel_state *base, int64_t step, sel_error *error) {
    const cudaStream_t stream = base->queue->stream;
    shallow_view v = shallow_view_of(base, step);
    int64_t surfaces[2];
    v.solid = cuda_grid_of(base).solid;
    v.images = true;
    sel_given_range(base, &base->own, &surfaces[0], &surfaces[1]);
    const sel_status status = cuda_exchange(base, step, stream, error);
    CUDA_TRY(shallow_gpu_step(&v, surfaces, cuda_inputs_halted(base),
                              cuda_queue_clock(base->queue, step), stream));
    return status;
}

/* Steps are not divided into slabs, beside which ranks could agree. */
static bool shallow_cuda_joins_before(const sel_state *base) {
    (void)base;
    return true;
}

static sel_status shallow_cuda_look(sel_state *base, int field, const cuda_look **look,
                                    const void **view, sel_error *error) {
    shallow_state *state = (shallow_state *)base;
    (void)field, (void)error;
    state->seen = (shallow_seen){cuda_grid_of(base), shallow_view_of(base, base->step)};
    *view = &state->seen;
    *look = shallow_gpu_look();
    return SEL_OK;
}

static const cuda_solver shallow_on_cuda = {
    .what = "the water",
    .state_size = sizeof(shallow_state),
    .list = shallow_list,
    .start = shallow_start,
    .joins_before = shallow_cuda_joins_before,
    .step = shallow_cuda_step,
    .look = shallow_cuda_look,
};
#endif

/* ---- the entry ---- */

static const sel_field_info field_infos[] = {
    {"depth", SEL_SCALAR, "length (SI: m)", "Depth of the water.", false},
    {"discharge", SEL_VECTOR, "length^2 per time (SI: m^2/s)", "Depth times velocity.", false},
};

const sel_solver shallow_solver = {
    .name = "shallow",
    .table = &shallow_table,
    .laws = &law_family,
    .fields = field_infos,
    .field_count = 2,
    .main_field = 0,
    .flux_field = -1,
    .no_forces = true,
    .no_fluxes = true,
    .double_only = true,
    .dims = shallow_dims,
    .plan_size = sizeof(shallow_plan),
    .plan = shallow_make,
    .plan_clear = shallow_clear,
    .facts = shallow_facts,
    .ahead = sel_inputs_ahead,
    .json = shallow_json,
    .advice = "dt may be too large: waves must not cross a cell in a step",
    .bytes = shallow_bytes,
    .cpu = &sel_cpu_backend,
    .on_cpu = &shallow_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &shallow_on_cuda,
#endif
};
