/* grid.h -- the cells of a simulation: how many, how large, where; boxes of cells. */
#ifndef SEL_GRID_H
#define SEL_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SEL_GRID_INLINE static __host__ __device__ inline
#else
#define SEL_GRID_INLINE static inline
#endif

/* Faces of the domain, in the order of sel_face_name. face / 2 is the axis, face % 2 the side. */
enum { SEL_X_MIN, SEL_X_MAX, SEL_Y_MIN, SEL_Y_MAX, SEL_Z_MIN, SEL_Z_MAX, SEL_FACES };

/* Cell (i, j, k) has its centre at origin + ((i + 1/2) dx[0], ...). Indices are global; n[2] = 1 in
 * 2-D. Units of dx, origin and dt: the user's.
 *
 * With `nodes` the cells are nodes: node (i, j, k) lies at origin + (i dx[0], ...), and the domain
 * ends with the last node of an axis, where it is not periodic: face sites lie in the nodes of the
 * border. All places, of cells and of sites, are by the functions below.
 *
 *     cells   |  0  |  1  |  2  |     nodes   0-----1-----2     and periodic   0-----1-----2-----|
 */
typedef struct sel_grid {
    int dims;
    bool nodes;
    int64_t n[3];
    double dx[3]; /* sides of a cell, by axis */
    double dt;
    double origin[3];
    unsigned periodic; /* bit a: axis a */
} sel_grid;

/* Cells lo <= i < hi, every stride-th. */
typedef struct sel_box {
    int64_t lo[3], hi[3], stride[3];
} sel_box;

/* The rows of a box of cells (the row of a cell is y + ny z): `count` rows, `height` per plane,
 * `skip` other rows between planes.
 *
 *     first
 *       v
 *     --######------######------######--     # a row of the box, height 6, skip 6, count 18
 */
typedef struct sel_rows {
    int64_t first, count, height, skip;
} sel_rows;

/* The global row of row number k of the box, and the inverse. */
SEL_GRID_INLINE int64_t sel_row_of(const sel_rows *rows, int64_t k) {
    return rows->first + k + (rows->skip ? k / rows->height * rows->skip : 0);
}
SEL_GRID_INLINE int64_t sel_row_number(const sel_rows *rows, int64_t row) {
    const int64_t k = row - rows->first;
    return k - (rows->skip ? k / (rows->height + rows->skip) * rows->skip : 0);
}

/* Rows of cells first <= row < end. */
typedef struct sel_rows_range {
    int64_t first, end;
} sel_rows_range;

/* The longest contiguous range that begins with row number k of `rows`, of at most `most` rows. */
sel_rows_range sel_rows_together(const sel_rows *rows, int64_t k, int64_t most);

const char *sel_face_name(int face); /* "x-" ... "z+" */
int64_t sel_grid_cells(const sel_grid *grid);
sel_box sel_grid_box(const sel_grid *grid); /* all cells, stride 1 */
int64_t sel_box_count(const sel_box *box, int axis);
int64_t sel_box_cells(const sel_box *box);

/* The number of cell `at`, x fastest over the whole grid, and the inverse. */
static inline int64_t sel_cell_number(const sel_grid *grid, const int64_t at[3]) {
    return at[0] + grid->n[0] * (at[1] + grid->n[1] * at[2]);
}
void sel_cell_at(const sel_grid *grid, int64_t number, int64_t at[3]);

/* The centre of a cell, or the position of a node, in the user's units. */
void sel_cell_centre(const sel_grid *grid, int64_t number, double place[3]);

/* The number of sites of a face. A site is the outer face of a boundary cell; sites are numbered
 * with the lower axis fastest. */
int64_t sel_face_sites(const sel_grid *grid, int face);

/* The site of boundary cell `at` on a face (at[face / 2] is ignored), and the inverse. */
static inline int64_t sel_face_site(const sel_grid *grid, int face, const int64_t at[3]) {
    int first = face / 2 == 0 ? 1 : 0, second = face / 2 == 2 ? 1 : 2;
    return at[first] + grid->n[first] * at[second];
}
void sel_face_cell(const sel_grid *grid, int face, int64_t site, int64_t at[3]);
int64_t sel_cell_behind(const sel_grid *grid, int face, int64_t site); /* by number */

/* The first step at or after `time`. As equal times may differ by rounding, a time within a
 * millionth of a step counts as that step. INT64_MAX for times that no step reaches. */
int64_t sel_step_at(double time, double dt);

/* The times of steps: step `step` is at `time`; each later step, up to step `until`, is dt after
 * the step before. */
typedef struct sel_clock {
    int64_t step, until;
    double time, dt;
} sel_clock;

/* The most steps of a run: doubles count them exactly, and sums of two do not overflow. */
#define SEL_MOST_STEPS ((int64_t)1 << 53)

static inline sel_clock sel_even_clock(double dt) {
    const sel_clock clock = {0, INT64_MAX, 0, dt};
    return clock;
}

static inline double sel_clock_time(const sel_clock *clock, int64_t step) {
    return clock->time + (double)(step - clock->step) * clock->dt;
}

/* The first step at or after `time` (see sel_step_at); INT64_MAX if it comes after step `until`. */
int64_t sel_clock_step(const sel_clock *clock, double time);

/* The first multiple of `of` (>= 1) after `step`; 0 for steps below 0; INT64_MAX on overflow. */
int64_t sel_next_multiple(int64_t step, int64_t of);

static inline bool sel_axis_periodic(const sel_grid *grid, int axis) {
    return (grid->periodic >> axis & 1u) != 0;
}

/* Index i of a periodic axis, wrapped into 0 <= i < n. */
static inline int64_t sel_wrapped(const sel_grid *grid, int axis, int64_t i) {
    return (i % grid->n[axis] + grid->n[axis]) % grid->n[axis];
}

/* The coordinate along an axis of the centre of cell i, or of node i. */
SEL_GRID_INLINE double sel_centre(const sel_grid *grid, int axis, double i) {
    return grid->origin[axis] + (i + (grid->nodes ? 0 : 0.5)) * grid->dx[axis];
}

/* The fraction of a cell's volume that lies inside the domain (across = -1), or of its face normal
 * to the axis `across`: a node on the border has half of a cell per such axis. */
SEL_GRID_INLINE double sel_part_inside(const sel_grid *grid, const int64_t at[3], int across) {
    double part = 1;
    for (int a = 0; a < 3 && grid->nodes; a++) {
        const bool border = a < grid->dims && (at[a] == 0 || at[a] == grid->n[a] - 1);
        part *= a != across && border && !(grid->periodic >> a & 1u) ? 0.5 : 1;
    }
    return part;
}

/* The volume of a cell; in 2-D per unit depth. */
static inline double sel_cell_volume(const sel_grid *grid) {
    return grid->dx[0] * grid->dx[1] * (grid->dims == 3 ? grid->dx[2] : 1);
}

/* A coordinate in units of cells: i at the centre of cell i. The inverse of sel_centre. */
static inline double sel_index(const sel_grid *grid, int axis, double coordinate) {
    return (coordinate - grid->origin[axis]) / grid->dx[axis] - (grid->nodes ? 0 : 0.5);
}

/* The length of the domain along an axis, in cell sides. */
static inline int64_t sel_sides_along(const sel_grid *grid, int axis) {
    return grid->n[axis] - (grid->nodes && !sel_axis_periodic(grid, axis));
}

/* The upper end of the domain along an axis; the lower one is the origin. */
static inline double sel_upper_end(const sel_grid *grid, int axis) {
    return grid->origin[axis] + (double)sel_sides_along(grid, axis) * grid->dx[axis];
}

/* Nodes beyond this coordinate lie on the upper end of an axis. Half-open boxes that end with the
 * domain must contain these nodes, so shapes are tested at this coordinate instead. Infinity: the
 * axis has no such nodes. */
double sel_last_inside(const sel_grid *grid, int axis);

/* Whether a coordinate lies in the domain, with a tolerance for round-off. */
bool sel_in_domain(const sel_grid *grid, int axis, double coordinate);

/* Whether all sides of a cell are equal. */
bool sel_equal_sides(const sel_grid *grid);

/* "0.5" or, if the sides differ, "{0.5, 0.25}", with `digits` significant digits. */
enum { SEL_SIDES_TEXT = 80 };
const char *sel_sides_text(const sel_grid *grid, int digits, char text[SEL_SIDES_TEXT]);

/* A cell in messages: "{3, 4}" or, in 3-D, "{3, 4, 5}". Returns `text`. */
enum { SEL_CELL_TEXT = 72 };
const char *sel_cell_text(const sel_grid *grid, int64_t number, char text[SEL_CELL_TEXT]);

/* The extent of the domain in messages: "x from 0 to 16, y from 0 to 8". */
enum { SEL_EXTENT_TEXT = 144 };
void sel_extent_text(const sel_grid *grid, char text[SEL_EXTENT_TEXT]);

#endif
