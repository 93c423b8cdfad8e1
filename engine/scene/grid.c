/* grid.c -- number cells and face sites, find the step of a time, print cells and extents. */
#include "engine/scene/limit.h"

#include <math.h>
#include <stdio.h>

const char *sel_face_name(int face) {
    static const char *const names[SEL_FACES] = {"x-", "x+", "y-", "y+", "z-", "z+"};
    return names[face];
}

int64_t sel_grid_cells(const sel_grid *grid) {
    return grid->n[0] * grid->n[1] * grid->n[2];
}

sel_box sel_grid_box(const sel_grid *grid) {
    return (sel_box){{0, 0, 0}, {grid->n[0], grid->n[1], grid->n[2]}, {1, 1, 1}};
}

int64_t sel_box_count(const sel_box *box, int axis) {
    int64_t extent = box->hi[axis] - box->lo[axis];
    return extent <= 0 ? 0 : (extent - 1) / box->stride[axis] + 1;
}

int64_t sel_box_cells(const sel_box *box) {
    return sel_box_count(box, 0) * sel_box_count(box, 1) * sel_box_count(box, 2);
}

void sel_cell_at(const sel_grid *grid, int64_t number, int64_t at[3]) {
    at[0] = number % grid->n[0];
    at[1] = number / grid->n[0] % grid->n[1];
    at[2] = number / grid->n[0] / grid->n[1];
}

void sel_cell_centre(const sel_grid *grid, int64_t number, double place[3]) {
    int64_t at[3];
    sel_cell_at(grid, number, at);
    for (int a = 0; a < 3; a++) {
        place[a] = sel_centre(grid, a, (double)at[a]);
    }
}

int64_t sel_face_sites(const sel_grid *grid, int face) {
    return sel_grid_cells(grid) / grid->n[face / 2];
}

void sel_face_cell(const sel_grid *grid, int face, int64_t site, int64_t at[3]) {
    int normal = face / 2, first = normal == 0 ? 1 : 0, second = normal == 2 ? 1 : 2;
    at[first] = site % grid->n[first];
    at[second] = site / grid->n[first];
    at[normal] = face % 2 ? grid->n[normal] - 1 : 0;
}

int64_t sel_cell_behind(const sel_grid *grid, int face, int64_t site) {
    int64_t at[3];
    sel_face_cell(grid, face, site, at);
    return sel_cell_number(grid, at);
}

int64_t sel_step_at(double time, double dt) {
    double exact = time / dt, slack = 1e-6 + 1e-15 * fabs(exact);
    double steps = ceil(exact - slack);
    return steps < 0 ? 0 : steps < 9e18 ? (int64_t)steps : INT64_MAX;
}

int64_t sel_clock_step(const sel_clock *clock, double time) {
    const int64_t steps = sel_step_at(time - clock->time, clock->dt);
    return steps > clock->until - clock->step ? INT64_MAX : clock->step + steps;
}

int64_t sel_next_multiple(int64_t step, int64_t of) {
    int64_t next = step < 0 ? 0 : step / of + 1;
    return next > INT64_MAX / of ? INT64_MAX : next * of;
}

double sel_last_inside(const sel_grid *grid, int axis) {
    const bool ends = grid->nodes && !sel_axis_periodic(grid, axis);
    return ends ? sel_upper_end(grid, axis) - sel_limit_inward(grid) : HUGE_VAL;
}

bool sel_in_domain(const sel_grid *grid, int axis, double coordinate) {
    const double slack = 1e-9 * (double)grid->n[axis] * grid->dx[axis];
    return coordinate >= grid->origin[axis] - slack &&
           coordinate <= sel_upper_end(grid, axis) + slack;
}

bool sel_equal_sides(const sel_grid *grid) {
    return grid->dx[1] == grid->dx[0] && (grid->dims == 2 || grid->dx[2] == grid->dx[0]);
}

const char *sel_sides_text(const sel_grid *grid, int digits, char text[SEL_SIDES_TEXT]) {
    const double *dx = grid->dx;
    if (sel_equal_sides(grid)) {
        snprintf(text, SEL_SIDES_TEXT, "%.*g", digits, dx[0]);
    } else if (grid->dims == 2) {
        snprintf(text, SEL_SIDES_TEXT, "{%.*g, %.*g}", digits, dx[0], digits, dx[1]);
    } else {
        snprintf(text, SEL_SIDES_TEXT, "{%.*g, %.*g, %.*g}", digits, dx[0], digits, dx[1], digits,
                 dx[2]);
    }
    return text;
}

const char *sel_cell_text(const sel_grid *grid, int64_t number, char text[SEL_CELL_TEXT]) {
    int64_t at[3];
    sel_cell_at(grid, number, at);
    if (grid->dims == 3) {
        snprintf(text, SEL_CELL_TEXT, "{%lld, %lld, %lld}", (long long)at[0], (long long)at[1],
                 (long long)at[2]);
    } else {
        snprintf(text, SEL_CELL_TEXT, "{%lld, %lld}", (long long)at[0], (long long)at[1]);
    }
    return text;
}

void sel_extent_text(const sel_grid *grid, char text[SEL_EXTENT_TEXT]) {
    size_t used = 0;
    text[0] = '\0';
    for (int a = 0; a < grid->dims && used < SEL_EXTENT_TEXT; a++) {
        used +=
            (size_t)snprintf(text + used, SEL_EXTENT_TEXT - used, "%s%c from %.9g to %.9g",
                             a ? ", " : "", "xyz"[a], grid -> origin[a], sel_upper_end(grid, a));
    }
}
