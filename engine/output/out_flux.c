/* out_flux.c -- out.flux: the flow rate through a region, a line or a layer of cells, as CSV. */
#include <math.h>
#include <string.h>
#include "engine/output/kind.h"

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_flux_params, region, STRING,
            "Name of a region: the rate at which what the solver conserves leaves the "
            "domain through it (flow: mass per time, in 2-D per unit depth; runoff: m3/s). "
            "Positive out of the domain. Regions of one name count together."),
    SEL_ROW(
        sel_flux_params, across, POINTS,
        "Two points { { x1, y1 }, { x2, y2 } } in 2-D: the volume per time and unit "
        "depth that crosses the line between them, the integral of velocity . normal "
        "(runoff: the discharge, m3/s; half of what flows through an end of the line). Positive "
        "to the left of the way from the first point to the second. In sel.heat and "
        "sel.poisson it integrates the field flux, the mean over the two faces of a cell: one "
        "or two cells from a surface it may be off by some per cent, while region is exact."),
    SEL_ROW(sel_flux_params, through, SHAPE,
            "A shape.box that is one cell thin along one axis: the volume per time (in 2-D: and "
            "unit depth) that flows through it. Positive along that axis. With layout = \"node\" "
            "nodes on the border of the domain count by the part of their face that lies inside."),
};

const sel_table sel_out_flux_table =
    SEL_TABLE("out.flux", sel_flux_params, fields,
              "A flow rate, as NAME.csv with step,time,flux: give one of region, across and "
              "through. The last value is also in the results of run.json, as NAME.flux.");

enum { LAYER_PARTS = 3, LAYER_SUMS = LAYER_PARTS * LAYER_PARTS };

/* The flux through a line is integrated from samples of a vector field; that through a region or a
 * layer of cells comes from requests. */
typedef struct flux_output {
    sel_output base;
    sel_sample *sample; /* at points along the line; NULL: no line is sampled */
    int points;
    double element[2];       /* unit normal times length of the line per point */
    int normal;              /* the thin axis of a layer */
    double area[LAYER_SUMS]; /* the area that counts of a cell in each sum over a layer */
} flux_output;

/* ---- checks ---- */

/* The axis along which a box is one cell thin; -1: none, -2: several. */
static int thin_axis(const sel_grid *grid, const sel_box *box) {
    int axis = -1;
    for (int a = 0; a < grid->dims; a++) {
        if (sel_box_count(box, a) == 1) {
            axis = axis == -1 ? a : -2;
        }
    }
    return axis;
}

static void check_through(sel_output_checker *checker, const struct sel_shape *through) {
    if (!sel_within_check(checker, "through", through)) {
        return;
    }
    const sel_box box = sel_within_box(&checker->domain->grid, through);
    if (thin_axis(&checker->domain->grid, &box) < 0) {
        sel_output_refuse(checker,
                          "the box of through must hold the centres of one layer of cells along "
                          "just one axis; it has %lld x %lld x %lld",
                          (long long)sel_box_count(&box, 0), (long long)sel_box_count(&box, 1),
                          (long long)sel_box_count(&box, 2));
    }
}

static void check_across(sel_output_checker *checker, const sel_points *across) {
    if (checker->domain->grid.dims == 3) {
        sel_output_refuse(
            checker, "across is a line in 2-D; in 3-D give through, a box that is one cell thin");
    } else if (across->n != 2) {
        sel_output_refuse(checker, "across must hold two points, not %d", across->n);
    } else {
        const bool from = sel_point_check(checker, "across[1]", &across->v[0]);
        const bool to = sel_point_check(checker, "across[2]", &across->v[1]);
        if (from && to && !(sel_line_length(&across->v[0], &across->v[1]) > 0)) {
            sel_output_refuse(checker, "the points of across are the same");
        }
    }
}

/* Whether the region is the outline of gaps in data that have none: then nothing flows through. */
static bool is_no_outline(const sel_output_checker *checker, const char *region) {
    return checker->simulation->solver->blank && !checker->domain->nodata &&
           strcmp(region, "nodata") == 0;
}

static void flux_check(sel_output_checker *checker, const void *params) {
    const sel_flux_params *flux = params;
    const sel_solver *solver = checker->simulation->solver;
    if (solver->no_fluxes) {
        sel_output_refuse(checker,
                          "sel.%s knows no fluxes; sum a field with out.reduce, `within` a box",
                          solver->name);
    } else if ((flux->region != NULL) + (flux->across.n > 0) + (flux->through != NULL) != 1) {
        sel_output_refuse(checker, "give one of region, across and through");
    } else if (flux->region) {
        if (!is_no_outline(checker, flux->region)) {
            sel_measure_check(checker, flux->region);
        }
    } else if (flux->across.n > 0) {
        check_across(checker, &flux->across);
    } else if (solver->flux_field < 0) {
        sel_output_refuse(checker, "sel.%s has no vector field to integrate; give region or across",
                          solver->name);
    } else {
        check_through(checker, flux->through);
    }
}

/* ---- values ---- */

static sel_status line_flux(const flux_output *output, double *flux, sel_error *error) {
    sel_status status = sel_sample_take(output->sample, error);
    *flux = 0;
    for (int p = 0; p < output->points; p++) {
        *flux += sel_sample_value(output->sample, 0, p, 0) * output->element[0] +
                 sel_sample_value(output->sample, 0, p, 1) * output->element[1];
    }
    return status;
}

static double layer_flux(const flux_output *output) {
    double flux = 0;
    for (int i = 0; i < output->base.requests.count; i++) {
        flux += output->base.requests.v[i].sum[output->normal] * output->area[i];
    }
    return flux;
}

static sel_status flux_take(sel_output *base, sel_error *error) {
    const flux_output *output = (const flux_output *)base;
    const sel_flux_params *params = base->params;
    double flux;
    sel_status status = SEL_OK;
    if (output->sample) {
        status = line_flux(output, &flux, error);
    } else if (params->through) {
        flux = layer_flux(output);
    } else {
        flux = 0;
        for (int i = 0; i < base->requests.count; i++) {
            flux += base->requests.v[i].flux;
        }
    }
    if (status != SEL_OK) {
        return status;
    }
    sel_csv_number(base->csv, flux);
    return sel_output_result(base, "flux", flux, error);
}

/* ---- opening ---- */

/* One sample per cell's length, at the middles of equal parts. On a line along an axis the samples
 * are the centres of cells, whose sum is the flux that the solver conserves. */
static sel_status open_line(flux_output *output, const sel_points *across, sel_error *error) {
    const sel_output_context *context = output->base.context;
    const sel_point *from = &across->v[0], *to = &across->v[1];
    sel_point *points;
    sel_picks *picks = &output->base.picks; /* empty, with room for one more: see make_picks */
    picks->v[picks->count++] =
        sel_pick_of(context->solver, 2, context->solver->fields[context->solver->flux_field].name);
    sel_status status = sel_sample_line(&output->base, from, to, false, &output->points, &points,
                                        &output->sample, error);
    output->element[0] = -(to->v[1] - from->v[1]) / output->points;
    output->element[1] = (to->v[0] - from->v[0]) / output->points;
    return status;
}

/* Cells first <= i < end along an axis, and the part of a side that they count in a sum. */
typedef struct layer_part {
    int64_t first, end;
    double side;
} layer_part;

/* The parts of a layer along an axis, whose sum has all cells. Nodes on a border of the domain have
 * half a side (sel_part_inside), so half of one is taken away. Returns their number. */
static int divide_layer(const sel_grid *grid, const sel_box *box, int axis,
                        layer_part part[LAYER_PARTS]) {
    const int64_t lo = box->lo[axis], hi = box->hi[axis], n = grid->n[axis];
    const bool ends = grid->nodes && axis < grid->dims && !sel_axis_periodic(grid, axis);
    int count = 0;
    part[count++] = (layer_part){lo, hi, 1};
    if (ends && lo == 0) {
        part[count++] = (layer_part){0, 1, -0.5};
    }
    if (ends && hi == n) {
        part[count++] = (layer_part){n - 1, n, -0.5};
    }
    return count;
}

/* Adds a request for each sum over the layer: parts along one axis times parts along the other. */
static sel_status flux_open_layer(flux_output *output, const sel_box *box, sel_error *error) {
    const sel_grid *grid = &output->base.context->domain->grid;
    const int normal = output->normal = thin_axis(grid, box);
    const int one = normal == 0 ? 1 : 0, other = normal == 2 ? 1 : 2;
    layer_part part[2][LAYER_PARTS];
    const int count = divide_layer(grid, box, one, part[0]);
    const int others = divide_layer(grid, box, other, part[1]);
    sel_status status = SEL_OK;
    for (int k = 0; k < count * others && !status; k++) {
        const layer_part *p = &part[0][k % count], *q = &part[1][k / count];
        sel_request request = {.kind = SEL_REDUCE,
                               .field = output->base.context->solver->flux_field,
                               .box = *box,
                               .components = grid->dims};
        request.box.lo[one] = p->first;
        request.box.hi[one] = p->end;
        request.box.lo[other] = q->first;
        request.box.hi[other] = q->end;
        output->area[k] =
            p->side * grid->dx[one] * q->side * (grid->dims == 3 ? grid->dx[other] : 1);
        status = sel_output_request(&output->base, &request, error);
    }
    return status;
}

static sel_status flux_open(sel_output *base, sel_error *error) {
    const sel_flux_params *params = base->params;
    const sel_grid *grid = &base->context->domain->grid;
    const int field = base->context->solver->flux_field;
    sel_request request = {.kind = SEL_FLUX};
    sel_csv_text(base->csv, "flux");
    if (params->region) {
        const sel_point nowhere = {.n = 0};
        return sel_measure_regions(base, SEL_FLUX, params->region, &nowhere, error);
    }
    if (params->through) {
        const sel_box box = sel_within_box(grid, params->through);
        return flux_open_layer((flux_output *)base, &box, error);
    }
    if (field >= 0) {
        return open_line((flux_output *)base, &params->across, error);
    }
    memcpy(request.line[0], params->across.v[0].v, sizeof request.line[0]);
    memcpy(request.line[1], params->across.v[1].v, sizeof request.line[1]);
    return sel_output_request(base, &request, error);
}

const sel_output_kind sel_flux_kind = {
    .table = &sel_out_flux_table,
    .size = sizeof(flux_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .check = flux_check,
    .open = flux_open,
    .take = flux_take,
};
