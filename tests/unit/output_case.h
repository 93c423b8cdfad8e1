/* output_case.h -- a small run without physics whose fields are known, for tests of outputs.
 *
 * The fields are linear in place, so that interpolation between centres is exact:
 * velocity_a = (a + 1) + 2 x - 3 y + 5 z + step, pressure = 10 x + step, component c of the tensor
 * stress = 100 (c + 1) + x and of the curl vorticity = 1000 (c + 1) + y; all 0 in solids.
 * The force on region k is k (2 + step, sin(step / 5), 3), the torque in 2-D about the origin
 * -1000 + 50 sin(step / 10), the flux through it 10 k + step.
 */
#ifndef OUTPUT_CASE_H
#define OUTPUT_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/output.h"
#include "engine/scene/shape.h"
#include "tests/unit/files.h"

enum { CASE_OUTPUTS = 12, CASE_REQUESTS = 64 };

/* Requests are answered when they are finished, as by a device: what they were asked at is kept. */
struct sel_state {
    const sel_domain *domain;
    int64_t step;
    int64_t cells_read; /* by all requests */
    int pending;
    sel_request *requests[CASE_REQUESTS];
    int64_t asked[CASE_REQUESTS];
};

typedef struct output_case {
    sel_domain domain;
    sel_region regions[2];
    sel_common params;
    sel_simulation simulation;
    sel_variant outputs[CASE_OUTPUTS];
    sel_plan plan;
    struct sel_state state;
    sel_results results;
    sel_clock clock;
    sel_output_context context;
    sel_outputs *opened;
    sel_error error;
    char directory[DIRECTORY_ROOM];
} output_case;

/* ---- the solver ---- */

static const sel_field_info case_fields[] = {{.name = "velocity", .rank = SEL_VECTOR},
                                             {.name = "pressure", .rank = SEL_SCALAR},
                                             {.name = "stress", .rank = SEL_TENSOR},
                                             {.name = "vorticity", .rank = SEL_CURL}};

static inline double case_value(const sel_grid *grid, const int64_t at[3], int field, int c,
                                int64_t step) {
    double x = sel_centre(grid, 0, (double)at[0]), y = sel_centre(grid, 1, (double)at[1]);
    double z = grid->dims == 3 ? sel_centre(grid, 2, (double)at[2]) : 0;
    double n = (double)step;
    if (field >= 2) {
        return field == 2 ? 100 * (c + 1) + x : 1000 * (c + 1) + y;
    }
    return field == 1 ? 10 * x + n : (c + 1) + 2 * x - 3 * y + 5 * z + n;
}

static inline bool case_solid(const sel_domain *domain, const int64_t at[3]) {
    return domain->cell[sel_cell_number(&domain->grid, at)] != 0;
}

static inline void case_store(const sel_state *s, sel_request *r, int64_t i, const int64_t at[3]) {
    int components = sel_field_components(&case_fields[r->field], s->domain->grid.dims);
    for (int c = 0; c < r->components; c++) {
        bool zero = c >= components || case_solid(s->domain, at);
        double value = zero ? 0 : case_value(&s->domain->grid, at, r->field, c, s->step);
        if (r->precision == SEL_F32) {
            ((float *)r->to)[i * r->components + c] = (float)value;
        } else {
            ((double *)r->to)[i * r->components + c] = value;
        }
    }
}

static inline void case_read(const sel_state *s, sel_request *r) {
    int64_t at[3], i = 0;
    for (; r->cells && i < r->cell_count; i++) {
        sel_cell_at(&s->domain->grid, r->cells[i], at);
        case_store(s, r, i, at);
    }
    if (r->cells) {
        return;
    }
    for (at[2] = r->box.lo[2]; at[2] < r->box.hi[2]; at[2] += r->box.stride[2]) {
        for (at[1] = r->box.lo[1]; at[1] < r->box.hi[1]; at[1] += r->box.stride[1]) {
            for (at[0] = r->box.lo[0]; at[0] < r->box.hi[0]; at[0] += r->box.stride[0]) {
                case_store(s, r, i++, at);
            }
        }
    }
}

static inline void case_reduce(const sel_state *s, sel_request *r) {
    int64_t at[3];
    r->count = 0;
    for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
        r->sum[c] = r->sum_of_squares[c] = 0;
        r->min[c] = (double)INFINITY;
        r->max[c] = -(double)INFINITY;
    }
    for (at[2] = r->box.lo[2]; at[2] < r->box.hi[2]; at[2]++) {
        for (at[1] = r->box.lo[1]; at[1] < r->box.hi[1]; at[1]++) {
            for (at[0] = r->box.lo[0]; at[0] < r->box.hi[0]; at[0]++) {
                if (case_solid(s->domain, at)) {
                    continue;
                }
                r->count++;
                for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
                    double v = case_value(&s->domain->grid, at, r->field, c, s->step);
                    r->sum[c] += v;
                    r->sum_of_squares[c] += v * v;
                    r->min[c] = fmin(r->min[c], v);
                    r->max[c] = fmax(r->max[c], v);
                }
            }
        }
    }
}

static inline void case_answer(const sel_state *state, sel_request *request) {
    if (request->kind == SEL_READ) {
        case_read(state, request);
    } else if (request->kind == SEL_REDUCE) {
        case_reduce(state, request);
    } else if (request->kind == SEL_BALANCE) {
        strcpy(request->terms[0].name, "mass");
        strcpy(request->terms[1].name, "out_a, b");
        request->terms[0].value = 100 + (double)state->step;
        request->terms[1].value = 0.1;
        request->term_count = 2;
    } else if (request->kind == SEL_FORCE) {
        double n = (double)state->step;
        request->force[0] = request->region * (2 + n);
        request->force[1] = request->region * sin(n / 5);
        request->torque[2] = -1000 + 50 * sin(n / 10) - request->centre[1];
        if (state->domain->grid.dims == 3) {
            request->force[2] = 3 * request->region;
            request->torque[0] = -2000 - request->centre[2];
            request->torque[1] = -3000 - request->centre[0];
        }
    } else if (request->kind == SEL_FLUX) {
        request->flux = 10 * request->region + (double)state->step;
    }
}

static inline sel_status case_start(sel_state *state, sel_request *request, sel_error *error) {
    if (state->pending == CASE_REQUESTS) {
        return sel_fail(error, SEL_NO_DEVICE, "too many requests under way");
    }
    if (request->kind == SEL_READ) {
        state->cells_read += request->cells ? request->cell_count : sel_box_cells(&request->box);
    }
    state->requests[state->pending] = request;
    state->asked[state->pending++] = state->step;
    return SEL_OK;
}

static inline sel_status case_finish(sel_state *state, sel_request *request, sel_error *error) {
    int i = 0;
    while (i < state->pending && state->requests[i] != request) {
        i++;
    }
    if (i == state->pending) {
        return sel_fail(error, SEL_NO_DEVICE, "a request was finished that was not started");
    }
    sel_state then = {.domain = state->domain, .step = state->asked[i]};
    case_answer(&then, request);
    state->requests[i] = state->requests[--state->pending];
    state->asked[i] = state->asked[state->pending];
    return SEL_OK;
}

/* Region 2 is a wall that moves with (7 t, 8, 9). */
static inline sel_status case_wall_value(const sel_plan *plan, int field, int region,
                                         const sel_beside *beside, const sel_places *at,
                                         bool *known, double *out, sel_error *error) {
    (void)beside;
    (void)error;
    *known = field == 0 && region == 2;
    const double fixed[] = {7 * at->t, 8, 9};
    for (int a = 0; *known && a < plan->domain->grid.dims; a++) {
        out[a] = fixed[a];
    }
    return SEL_OK;
}

static const sel_backend case_backend = {
    .name = "fake", .start = case_start, .finish = case_finish};
static const sel_solver case_solver = {
    .name = "fake",
    .fields = case_fields,
    .field_count = 4,
    .cpu = &case_backend,
    .wall_value = case_wall_value,
};

/* ---- the run ---- */

/* nx x ny (x nz) cells of side 0.5 from (1, 2, 0) on, dt 0.25; all faces under region 2. */
static inline void case_open(output_case *c, int dims, int64_t nx, int64_t ny, int64_t nz) {
    memset(c, 0, sizeof *c);
    sel_grid *grid = &c->domain.grid;
    *grid = (sel_grid){
        .dims = dims, .n = {nx, ny, nz}, .dx = {0.5, 0.5, 0.5}, .dt = 0.25, .origin = {1, 2, 0}};
    c->domain.cell = calloc((size_t)sel_grid_cells(grid), 1);
    for (int f = 0; f < 2 * dims; f++) {
        size_t sites = (size_t)sel_face_sites(grid, f);
        c->domain.face[f] = malloc(sites);
        memset(c->domain.face[f], 2, sites);
    }
    c->regions[0].name = "block";
    c->domain.regions = c->regions;
    c->domain.region_count = 2;
    c->params.dt = grid->dt;
    c->params.reference = (sel_reference){(double)NAN, (double)NAN, (double)NAN};
    c->params.output = (sel_list){0, c->outputs, NULL};
    c->simulation = (sel_simulation){.solver = &case_solver, .params = &c->params};
    make_directory(c->directory);
}

/* Adds an output on line 10 * number of "test.lua". Its struct gets the presets. */
static inline void *case_add(output_case *c, const sel_table *table) {
    int i = c->params.output.n++;
    void *params = calloc(1, table->size);
    sel_table_presets(table, params);
    c->outputs[i] = (sel_variant){table, params, {"test.lua", 10 * (i + 1)}};
    return params;
}

static inline sel_names case_names(const char **names, int n) {
    return (sel_names){n, names};
}

static inline sel_status case_check(output_case *c) {
    return sel_outputs_check(&c->simulation, &c->domain, &c->error);
}

static inline sel_status case_begin(output_case *c) {
    c->state.domain = &c->domain;
    c->plan = (sel_plan){
        .simulation = &c->simulation, .domain = &c->domain, .precision = SEL_F64, .threads = 1};
    assert_int_equal(sel_outputs_wants(&c->simulation, &c->plan, &c->error), SEL_OK);
    c->clock = sel_even_clock(c->domain.grid.dt);
    c->context = (sel_output_context){.simulation = &c->simulation,
                                      .solver = &case_solver,
                                      .domain = &c->domain,
                                      .plan = &c->plan,
                                      .backend = &case_backend,
                                      .state = &c->state,
                                      .clock = &c->clock,
                                      .directory = c->directory,
                                      .results = &c->results};
    assert_int_equal(case_check(c), SEL_OK);
    assert_int_equal(sel_writer_create(2, &c->context.writer, NULL), SEL_OK);
    return sel_outputs_open(&c->context, &c->opened, &c->error);
}

static inline sel_status case_start_outputs(output_case *c, int64_t step, bool last) {
    c->state.step = step;
    double time = (double)step * c->domain.grid.dt;
    return sel_outputs_start(c->opened, step, time, last, &c->error);
}

/* The run goes on before what is due at `step` is taken. */
static inline sel_status case_write(output_case *c, int64_t step, bool last) {
    sel_status status = case_start_outputs(c, step, last);
    c->state.step += 17;
    return status ? status : sel_outputs_finish(c->opened, &c->error);
}

/* Runs as the run loop does, to `last` steps. */
static inline sel_status case_run(output_case *c, int64_t last) {
    sel_status status = case_begin(c);
    status = status ? status : case_write(c, 0, false);
    for (int64_t step = 0; !status && (step = sel_outputs_next(c->opened, step)) <= last;) {
        status = case_write(c, step, false);
    }
    status = status ? status : case_write(c, last, true);
    sel_status drained = sel_writer_drain(c->context.writer, status ? NULL : &c->error);
    return status ? status : drained;
}

static inline void case_close(output_case *c) {
    sel_outputs_close(c->opened);
    sel_writer_destroy(c->context.writer);
    sel_results_free(&c->results);
    for (int i = 0; i < c->params.output.n; i++) {
        free(c->outputs[i].data);
    }
    free(c->domain.cell);
    for (int f = 0; f < SEL_FACES; f++) {
        free(c->domain.face[f]);
    }
    remove_directory(c->directory);
}

/* ---- what was written ---- */

/* The bytes of a file of the run, a NUL behind them; freed by the caller. NULL: no such file. */
static inline char *case_file(const output_case *c, const char *name, size_t *size) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", c->directory, name);
    return read_whole(path, size);
}

static inline void assert_file(const output_case *c, const char *name, const char *expected) {
    char *text = case_file(c, name, NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

/* `expected`: the files of the outputs as they stand in run.json. */
static inline void assert_listed(const output_case *c, const char *expected) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    sel_outputs_list(c->opened, to);
    fclose(to);
    assert_string_equal(text, expected);
    free(text);
}

/* Number `column` of line `line` (0: the header) of a CSV file. */
static inline double case_number(const output_case *c, const char *name, int line, int column) {
    char *text = case_file(c, name, NULL), *at = text;
    for (int i = 0; i < line; i++) {
        at = strchr(at, '\n') + 1;
    }
    for (int i = 0; i < column; i++) {
        at = strchr(at, ',') + 1;
    }
    double value = strtod(at, NULL);
    free(text);
    return value;
}

/* The steps of a CSV file's lines as "0 3 6". */
static inline void assert_steps(const output_case *c, const char *name, const char *expected) {
    char steps[512] = "", *text = case_file(c, name, NULL), *line = text;
    for (size_t used = 0; (line = strchr(line, '\n')) && line[1];) {
        used += (size_t)snprintf(steps + used, sizeof steps - used, "%s%ld", used ? " " : "",
                                 strtol(++line, NULL, 10));
    }
    assert_string_equal(steps, expected);
    free(text);
}

#endif
