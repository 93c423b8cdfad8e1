/* measure.c -- measurements of outputs: forces on regions, fluxes through them, fields at points.
 */
#include "engine/output/kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first region called `name` with a number greater than `before`; 0: none. */
static int next_region(const sel_domain *domain, const char *name, int before) {
    char text[32];
    for (int k = before + 1; k <= domain->region_count; k++) {
        if (strcmp(sel_region_name(domain, k, text), name) == 0) {
            return k;
        }
    }
    return 0;
}

void sel_measure_check(sel_output_checker *checker, const char *region) {
    enum { MOST = 255 };
    const sel_domain *domain = checker->domain;
    const char *names[MOST + 1] = {NULL};
    const char *lost = NULL;
    char texts[MOST][32], near[SEL_SUGGESTION_ROOM];
    const int first = next_region(domain, region, 0);
    for (int k = first; k; k = next_region(domain, region, k)) {
        lost = sel_domain_lost(domain, k);
        if (!lost) {
            return;
        }
    }
    if (first) {
        sel_output_refuse(checker, "nothing to measure: %s", lost);
        return;
    }
    for (int k = 0; k < domain->region_count && k < MOST; k++) {
        names[k] = sel_region_name(domain, k + 1, texts[k]);
    }
    sel_output_refuse(checker, "no region is called '%s'%s", region,
                      sel_suggestion(region, names, near));
}

sel_status sel_measure_regions(sel_output *output, sel_request_kind kind, const char *region,
                               const sel_point *centre, sel_error *error) {
    sel_status status = SEL_OK;
    for (int k = 0; !status && (k = next_region(output->context->domain, region, k));) {
        const sel_request request = {
            .kind = kind, .region = k, .centre = {centre->v[0], centre->v[1], centre->v[2]}};
        status = sel_output_request(output, &request, error);
    }
    return status;
}

sel_force_sum sel_measure_sum_force(const sel_requests *answers) {
    sel_force_sum sum = {.size = 0};
    for (int i = 0; i < answers->count; i++) {
        const sel_request *answer = &answers->v[i];
        for (int a = 0; a < 3; a++) {
            sum.force[a] += answer->force[a];
            sum.torque[a] += answer->torque[a];
            sum.change[a] += answer->force_change[a];
        }
        sum.size += answer->force_size;
    }
    return sum;
}

/* ---- fields at points between cell centres ---- */

enum { CORNERS = 8 /* of the box of cells about a point in 3-D */ };

/* Distances below this, in cells, are round-off of the point's coordinates. */
static const double round_off = 1e-9;

/* A wall (face or solid) whose law may prescribe a value:
 *
 *        centre    point   wall
 *     |    o---------x------|     fraction = (point - centre) / (wall - centre)
 */
typedef struct near_face {
    int region;      /* 0: none */
    int64_t cell;    /* whose wall it is, */
    int face;        /* and at which of its faces */
    double fraction; /* 0 at the last centre, 1 at the wall */
    double place[3]; /* the point's projection onto the wall */
} near_face;

typedef struct sampled_point {
    int first, count;   /* its range in cells[] and weights[] */
    near_face faces[3]; /* at most one per axis, the nearest first */
} sampled_point;

struct sel_sample {
    const sel_output *output;
    int points;
    sampled_point *v;
    int cell_count;
    int64_t *cells;  /* free cells about the points */
    double *weights; /* of cells[]; their sum is 1 per point */
    double **values; /* per pick: [points][field_components] */
};

sel_interval sel_interval_about(const sel_grid *grid, int axis, double index) {
    int64_t n = grid->n[axis];
    bool periodic = sel_axis_periodic(grid, axis);
    double s = index, below = floor(s + round_off);
    if (!periodic) {
        s = s < 0 ? 0 : s > (double)(n - 1) ? (double)(n - 1) : s;
        below = floor(s + round_off);
    }
    sel_interval about = {.upper = s - below < round_off ? 0 : s - below};
    for (int side = 0; side < 2; side++) {
        int64_t i = (int64_t)below + side;
        about.cell[side] = periodic ? (i % n + n) % n : i < n ? i : n - 1;
    }
    return about;
}

/* Finds the free cell that contains `point`. On a border between cells, or between nodes, any free
 * one is taken. False: the point is in a solid, and `at` is a solid cell. */
static bool free_cell_at(const sel_domain *domain, const sel_point *point, int64_t at[3]) {
    const sel_grid *grid = &domain->grid;
    const double slack = grid->nodes ? 0.5 - round_off : round_off;
    for (int corner = 0; corner < 1 << grid->dims; corner++) {
        at[0] = at[1] = at[2] = 0;
        for (int a = 0; a < grid->dims; a++) {
            double nearest = sel_index(grid, a, point->v[a]) + 0.5;
            int64_t n = grid->n[a];
            int64_t i = (int64_t)floor(nearest + (corner >> a & 1 ? slack : -slack));
            bool periodic = sel_axis_periodic(grid, a);
            at[a] = periodic ? (i % n + n) % n : i < 0 ? 0 : i < n ? i : n - 1;
        }
        if (domain->cell[sel_cell_number(grid, at)] == 0) {
            return true;
        }
    }
    return false;
}

void sel_free_check(sel_output_checker *checker, const char *what, const sel_point *point) {
    const sel_domain *domain = checker->domain;
    int64_t at[3];
    char name[32];
    if (!free_cell_at(domain, point, at)) {
        const int region = domain->cell[sel_cell_number(&domain->grid, at)];
        sel_output_refuse(checker, "%s lies in the region '%s', where nothing is computed", what,
                          sel_region_name(domain, region, name));
    }
}

void sel_points_check(sel_output_checker *checker, const sel_points *at) {
    if (at->n == 0) {
        sel_output_refuse(checker, "at holds no point");
    }
    for (int p = 0; p < at->n; p++) {
        char what[32];
        snprintf(what, sizeof what, at->n > 1 ? "at[%d]" : "at", p + 1);
        if (sel_point_check(checker, what, &at->v[p])) {
            sel_free_check(checker, what, &at->v[p]);
        }
    }
}

/* Appends the free cells about `point` with their weights, scaled to the sum 1. */
static void weigh_cells(sel_sample *sample, sampled_point *v, const sel_point *point) {
    const sel_domain *domain = sample->output->context->domain;
    const sel_grid *grid = &domain->grid;
    sel_interval about[3] = {{.upper = 0}, {.upper = 0}, {.upper = 0}};
    for (int a = 0; a < grid->dims; a++) {
        about[a] = sel_interval_about(grid, a, sel_index(grid, a, point->v[a]));
    }
    double sum = 0;
    for (int corner = 0; corner < 1 << grid->dims; corner++) {
        int64_t at[3];
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            int side = corner >> a & 1;
            at[a] = about[a].cell[side];
            weight *= side ? about[a].upper : 1 - about[a].upper;
        }
        int64_t cell = sel_cell_number(grid, at);
        if (weight > 0 && domain->cell[cell] == 0) {
            sample->cells[sample->cell_count] = cell;
            sample->weights[sample->cell_count++] = weight;
            sum += weight;
        }
    }
    v->count = sample->cell_count - v->first;
    for (int i = v->first; i < sample->cell_count; i++) {
        sample->weights[i] /= sum;
    }
}

/* The region beyond the `upper` or lower border of a free cell along an axis: that of the domain's
 * face or of the neighbouring solid cell. 0: the neighbour is free. */
static int region_behind(const sel_domain *domain, const int64_t at[3], int axis, bool upper) {
    const sel_grid *grid = &domain->grid;
    int64_t next[3] = {at[0], at[1], at[2]}, n = grid->n[axis];
    next[axis] += upper ? 1 : -1;
    if ((next[axis] < 0 || next[axis] >= n) && !sel_axis_periodic(grid, axis)) {
        int face = 2 * axis + upper;
        return domain->face[face][sel_face_site(grid, face, at)];
    }
    next[axis] = (next[axis] + n) % n;
    return domain->cell[sel_cell_number(grid, next)];
}

/* Inserts a wall by its distance, the nearest first. */
static void insert_face(near_face faces[3], near_face face) {
    for (int i = 0; i < 3; i++) {
        if (faces[i].region == 0 || face.fraction > faces[i].fraction) {
            near_face moved = faces[i];
            faces[i] = face;
            face = moved;
        }
    }
}

/* Finds, along each axis, the wall between the centre of the point's cell `at` and the side towards
 * which the point lies. The wall of a cell is half a cell from its centre; on a grid of nodes the
 * solid neighbour itself is the wall. */
static void sample_find_faces(const sel_domain *domain, sampled_point *v, const sel_point *point,
                              const int64_t at[3]) {
    const sel_grid *grid = &domain->grid;
    const double reach = grid->nodes ? 1 : 0.5; /* from the centre to what lies beyond */
    for (int a = 0; a < grid->dims; a++) {
        double n = (double)grid->n[a];
        double from_centre = sel_index(grid, a, point->v[a]) - (double)at[a];
        from_centre -= sel_axis_periodic(grid, a) ? n * floor((from_centre + 1) / n) : 0;
        double fraction = fabs(from_centre) / reach;
        bool upper = from_centre > 0;
        near_face found = {.region = region_behind(domain, at, a, upper),
                           .cell = sel_cell_number(grid, at),
                           .face = 2 * a + upper,
                           .fraction = fraction < 1 ? fraction : 1};
        for (int b = 0; b < grid->dims; b++) {
            found.place[b] = point->v[b];
        }
        found.place[a] = sel_centre(grid, a, (double)at[a] + (upper ? reach : -reach));
        if (found.region > 0 && fraction > 0) {
            insert_face(v->faces, found);
        }
    }
}

double sel_line_length(const sel_point *from, const sel_point *to) {
    double squares = 0;
    for (int a = 0; a < from->n; a++) {
        squares += (to->v[a] - from->v[a]) * (to->v[a] - from->v[a]);
    }
    return sqrt(squares);
}

/* Adds a request per pick, and allocates its answer and the interpolated values. */
static sel_status add_requests(sel_output *output, sel_sample *sample, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        const size_t bytes = (size_t)pick->field_components * sizeof(double);
        const sel_request request = {
            .kind = SEL_READ,
            .field = pick->field,
            .cells = sample->cells,
            .cell_count = sample->cell_count,
            .precision = SEL_F64,
            .components = pick->field_components,
            .to = sel_arena_alloc(output->arena, (size_t)sample->cell_count * bytes)};
        sample->values[i] = sel_arena_alloc(output->arena, (size_t)sample->points * bytes);
        if (!request.to || !sample->values[i]) {
            return sel_fail_memory(error, "the points of an output", CORNERS * bytes);
        }
        status = sample->cell_count ? sel_output_request(output, &request, error) : SEL_OK;
    }
    return status;
}

sel_status sel_sample_create(sel_output *output, const sel_point *points, int count, bool walls,
                             sel_sample **sample, sel_error *error) {
    const sel_domain *domain = output->context->domain;
    const size_t corners = (size_t)count * CORNERS, picks = (size_t)output->picks.count;
    sel_arena *arena = output->arena;
    sel_sample *made = *sample = sel_arena_alloc(arena, sizeof *made);
    if (made) {
        *made = (sel_sample){.output = output,
                             .points = count,
                             .v = sel_arena_alloc(arena, (size_t)count * sizeof *made->v),
                             .cells = sel_arena_alloc(arena, corners * sizeof *made->cells),
                             .weights = sel_arena_alloc(arena, corners * sizeof *made->weights),
                             .values = sel_arena_alloc(arena, picks * sizeof *made->values)};
    }
    if (!made || !made->v || !made->cells || !made->weights || !made->values) {
        return sel_fail_memory(error, "the points of an output", 2 * corners * sizeof(double));
    }
    for (int p = 0; p < count; p++) {
        sampled_point *v = &made->v[p];
        int64_t at[3];
        v->first = made->cell_count;
        if (free_cell_at(domain, &points[p], at)) {
            weigh_cells(made, v, &points[p]);
        }
        if (walls && v->count > 0) {
            sample_find_faces(domain, v, &points[p], at);
        }
    }
    return add_requests(output, made, error);
}

/* The length of a line in cells: each axis is measured in sides of a cell. */
static double in_cells(const sel_grid *grid, const sel_point *from, const sel_point *to) {
    const sel_point start = {.n = from->n};
    sel_point end = start;
    for (int a = 0; a < from->n; a++) {
        end.v[a] = (to->v[a] - from->v[a]) / grid->dx[a];
    }
    return sel_line_length(&start, &end);
}

double sel_line_part(int p, int count, bool ends) {
    return ends && count > 1 ? (double)p / (count - 1) : (p + 0.5) / count;
}

sel_status sel_sample_line(sel_output *output, const sel_point *from, const sel_point *to,
                           bool ends, int *count, sel_point **points, sel_sample **sample,
                           sel_error *error) {
    if (*count == 0) {
        const double cells = in_cells(&output->context->domain->grid, from, to);
        *count = (int)fmin(fmax(1, round(cells) + ends), SEL_MOST_POINTS);
    }
    const size_t bytes = (size_t)*count * sizeof **points;
    sel_point *v = *points = sel_arena_alloc(output->arena, bytes);
    if (!v) {
        return sel_fail_memory(error, "the points of an output", bytes);
    }
    for (int p = 0; p < *count; p++) {
        v[p].n = from->n;
        for (int a = 0; a < from->n; a++) {
            v[p].v[a] = from->v[a] + sel_line_part(p, *count, ends) * (to->v[a] - from->v[a]);
        }
    }
    return sel_sample_create(output, v, *count, true, sample, error);
}

/* Interpolates from the value at the last centre to that on the nearest wall where it is known. */
static sel_status approach_wall(const sel_output *output, const sampled_point *v,
                                const sel_pick *pick, double *value, sel_error *error) {
    const sel_output_context *context = output->context;
    for (int i = 0; i < 3 && v->faces[i].region > 0; i++) {
        const near_face *face = &v->faces[i];
        const double *place = face->place;
        const sel_places at =
            sel_domain_at(context->domain, 1, &place[0], &place[1], &place[2], output->time);
        const sel_beside beside = {face->cell, face->face, value};
        double wall[9];
        bool known = false;
        sel_status status = context->solver->wall_value(context->plan, pick->field, face->region,
                                                        &beside, &at, &known, wall, error);
        if (status != SEL_OK) {
            return status;
        }
        for (int c = 0; known && c < pick->field_components; c++) {
            value[c] += face->fraction * (wall[c] - value[c]);
        }
        if (known) {
            break;
        }
    }
    return SEL_OK;
}

/* Interpolates the values of pick `i` at all points. */
static sel_status take_pick(sel_sample *sample, int i, sel_error *error) {
    const sel_output *output = sample->output;
    const sel_pick *pick = &output->picks.v[i];
    const int components = pick->field_components;
    const double *read = sample->cell_count ? output->requests.v[i].to : NULL;
    const bool laws = output->context->solver->wall_value;
    double *value = sample->values[i];
    sel_status status = SEL_OK;
    for (int p = 0; p < sample->points && !status; p++, value += components) {
        const sampled_point *v = &sample->v[p];
        for (int c = 0; c < components; c++) {
            value[c] = 0;
            for (int k = v->first; k < v->first + v->count; k++) {
                value[c] += sample->weights[k] * read[(int64_t)k * components + c];
            }
        }
        status = laws ? approach_wall(output, v, pick, value, error) : SEL_OK;
    }
    return status;
}

sel_status sel_sample_take(sel_sample *sample, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < sample->output->picks.count && !status; i++) {
        status = take_pick(sample, i, error);
    }
    return status;
}

double sel_sample_value(const sel_sample *sample, int pick, int point, int c) {
    const int components = sample->output->picks.v[pick].field_components;
    return sample->values[pick][(int64_t)point * components + c];
}
