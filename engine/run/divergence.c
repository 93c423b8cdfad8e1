/* divergence.c -- how often a run is tested for divergence, and whether a state has diverged. */
#include "engine/run/run.h"

#include <math.h>
#include <stdio.h>

enum { LEAST_STEPS = 100, MOST_STEPS = 1000 };
static const double monitor_share = 0.01;

/* The nominal device is a data-centre GPU, where a test costs most relative to a step. step_start:
 * seconds to start a kernel in a graph; monitor_start: for the kernels and the copy of a test;
 * bandwidth: bytes per second. A CPU tests a cell in the time of a step or less. */
static const double step_start = 2e-6, monitor_start = 10e-6, bandwidth = 3e12;

int64_t sel_monitor_interval(const sel_plan *plan) {
    const sel_simulation *simulation = plan->simulation;
    const sel_cell_bytes bytes = simulation->solver->bytes(simulation->params, plan->precision);
    const double cells = (double)sel_grid_cells(&plan->domain->grid);
    const double step = step_start + cells * bytes.update / bandwidth;
    const double monitor = monitor_start + cells * bytes.look / bandwidth;
    const double hundreds = ceil(monitor / (monitor_share * step) / LEAST_STEPS);
    return (int64_t)fmin(fmax(hundreds * LEAST_STEPS, LEAST_STEPS), MOST_STEPS);
}

/* ---- the nearest region ---- */

typedef struct nearest {
    const sel_grid *grid;
    const int64_t *at;
    double square; /* of the distance, in cells */
    int region;
} nearest;

/* Distance in cells along an axis from the cell `at` to the near border of the cell with index i.
 * Periodic axes wrap if that is shorter. */
static double distance_along(const nearest *n, int axis, int64_t i) {
    double cells = fabs((double)(n->at[axis] - i));
    double round = (double)n->grid->n[axis] - cells;
    cells = sel_axis_periodic(n->grid, axis) ? fmin(cells, round) : cells;
    return fmax(cells - 0.5, 0);
}

/* Keeps the region if it is nearer than the nearest so far. `normal`: the axis of a face site,
 * which is half a cell away from its cell's centre; -1: a solid cell. */
static void consider(nearest *n, int region, const int64_t cell[3], int normal) {
    double square = 0;
    for (int a = 0; a < n->grid->dims; a++) {
        double d =
            a == normal ? fabs((double)(n->at[a] - cell[a])) + 0.5 : distance_along(n, a, cell[a]);
        square += d * d;
    }
    if (square < n->square || (square == n->square && region > n->region)) {
        n->square = square;
        n->region = region;
    }
}

int sel_nearest_region(const sel_domain *domain, const int64_t at[3], double *distance) {
    const sel_grid *grid = &domain->grid;
    nearest n = {.grid = grid, .at = at, .square = HUGE_VAL};
    int64_t cell[3];
    for (int face = 0; face < SEL_FACES; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(grid, face); s++) {
            sel_face_cell(grid, face, s, cell);
            if (domain->face[face][s]) {
                consider(&n, domain->face[face][s], cell, face / 2);
            }
        }
    }
    for (int64_t number = 0; number < sel_grid_cells(grid); number++) {
        if (domain->cell[number]) {
            sel_cell_at(grid, number, cell);
            consider(&n, domain->cell[number], cell, -1);
        }
    }
    *distance = sqrt(n.square);
    return n.region;
}

/* ---- the answer of a monitor ---- */

/* "cell {3, 4}, beside 'inlet'" */
static void place_text(const sel_domain *domain, int64_t number, char *text, size_t size) {
    int64_t at[3];
    char cell[SEL_CELL_TEXT], name[32];
    double distance;
    sel_cell_at(&domain->grid, number, at);
    sel_cell_text(&domain->grid, number, cell);
    int region = sel_nearest_region(domain, at, &distance);
    if (region == 0) {
        snprintf(text, size, "cell %s", cell);
        return;
    }
    char apart[48] = "beside";
    if (distance >= 1) {
        snprintf(apart, sizeof apart, "%.3g cells from", distance);
    }
    snprintf(text, size, "cell %s, %s '%.100s'", cell, apart,
             sel_region_name(domain, region, name));
}

bool sel_diverged(const sel_plan *plan, const sel_request *monitor, int64_t step,
                  char text[SEL_DIVERGENCE_TEXT]) {
    const sel_solver *solver = plan->simulation->solver;
    const long long bad_cells = (long long)monitor->bad_cells;
    char place[256], value[96];
    int64_t cell = monitor->bad_cell;
    if (bad_cells >= plan->domain->free_cells) {
        snprintf(text, SEL_DIVERGENCE_TEXT, "diverged: at step %lld NaN or infinity in all cells",
                 (long long)step);
        return true;
    }
    if (bad_cells > 0) {
        snprintf(value, sizeof value, "NaN or infinity in %lld cell%s, first", bad_cells,
                 bad_cells == 1 ? "" : "s");
    } else if (!solver->impossible ||
               !solver->impossible(plan, monitor, &cell, value, sizeof value)) {
        return false;
    }
    place_text(plan->domain, cell, place, sizeof place);
    snprintf(text, SEL_DIVERGENCE_TEXT, "diverged: at step %lld %s in %s", (long long)step, value,
             place);
    return true;
}
