/* aqua_method.h -- definitions of AQUA-GRAPH for f32 and f64, CPU and CUDA: kinds of equilibrium,
 * order of neighbours, fields, conversion of metres to units of the store, the frame of images,
 * sources, rates of rain and infiltration.
 *
 * C11 and C++17. `per_metre` is the number of units of the store in a metre: a power of two for
 * whole quanta, 1 for f64.
 */
#ifndef AQUA_METHOD_H
#define AQUA_METHOD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define AQUA_INLINE static __device__ inline
#else
#define AQUA_INLINE static inline
#endif

typedef enum aqua_equilibrium {
    AQUA_FILL,    /* common level of all water of a cell and its receivers */
    AQUA_MEAN,    /* mean level of a cell and its receivers */
    AQUA_MINDIFF, /* minimisation of differences: only the cell's own water moves */
    AQUA_EQUILIBRIA
} aqua_equilibrium;

/* The bed where there is no ground, in units of the store. Sums over eight neighbours of
 * differences to it, and of their square roots, are finite in f32. */
#define AQUA_NO_GROUND 1e30

/* V(k, dx, dy) for each neighbour; neighbour k ^ 1 is opposite to k.
 *
 *     6 2 4
 *     1 c 0
 *     5 3 7
 */
#define AQUA_NEIGHBOURS(V) \
    V(0, 1, 0) V(1, -1, 0) V(2, 0, 1) V(3, 0, -1) V(4, 1, 1) V(5, -1, -1) V(6, -1, 1) V(7, 1, -1)
enum { AQUA_AROUND = 8 };

/* How depths and beds are stored: in f32 as int32_t and float, in quanta; in f64 as double, in
 * metres. Quanta and metres are called units. */
typedef struct aqua_store {
    bool whole;       /* depths are quanta */
    double per_metre; /* units in a metre */
    double datum;     /* m: beds count from here */
    /* The greatest depth, in units, for which no sum of the rule can overflow: depths are checked
     * against it after every step, and against most_poured after sources have added water. */
    double limit, most_poured;
    double most_rain;     /* largest rain of a step, in units: more is refused */
    double least;         /* min_head in units */
    double largest_alpha; /* below 1, so that a cell never gives more water than it has */
    double alpha;         /* the uniform alpha, if it is uniform */
} aqua_store;

/* An edge whose flux is summed: from the cell of element `at` to its neighbour k. Positive is the
 * flux to the neighbour (sign 1), or to the cell (-1). */
typedef struct aqua_edge {
    int64_t at;
    int32_t k, sign;
} aqua_edge;

/* The frame: AQUA_HALO cells around the grid on each side, which are images of cells on periodic
 * axes. They are numbered row by row, first those beside the rows of the grid:
 *
 *     ....................   from 4 ny on: the rows below and above, of nx + 4 elements
 *     0 1 |  row 0   | 2 3
 *     4 5 |  row 1   | 6 7
 *     ....................
 */
enum { AQUA_HALO = 2 };

/* The number of elements of the frame to visit. The rows below and above are among them if y is not
 * periodic, or if `all`: several ranks exchange those of a periodic y instead. */
AQUA_INLINE int64_t aqua_images(int64_t nx, int64_t ny, unsigned periodic, bool all) {
    const int64_t sides = 2 * AQUA_HALO, beyond = sides * (nx + sides);
    return periodic == 0 ? 0 : sides * ny + (all || !(periodic & 2u) ? beyond : 0);
}

/* Image (i, j) of element `at`, -AQUA_HALO <= i, j <= AQUA_HALO, that many grids away along x and y
 * (a grid may have one cell along an axis); (0, 0): itself. -1: the array has none there. */
AQUA_INLINE int64_t aqua_image_of(int64_t nx, int64_t ny, int64_t pitch, int64_t at, int64_t i,
                                  int64_t j) {
    const int64_t x = at % pitch + i * nx, y = at / pitch + j * ny, sides = 2 * AQUA_HALO;
    return x >= 0 && x < nx + sides && y >= 0 && y < ny + sides ? y * pitch + x : -1;
}

/* How many grids away along an axis images may be. */
AQUA_INLINE int64_t aqua_image_reach(unsigned periodic, int axis) {
    return periodic >> axis & 1u ? AQUA_HALO : 0;
}

/* Index x of a periodic axis of n cells, at most AQUA_HALO beyond either end, wrapped into 0 <= x <
 * n. */
AQUA_INLINE int64_t aqua_wrapped(int64_t x, int64_t n) {
    return n < AQUA_HALO ? 0 : x < 0 ? x + n : x < n ? x : x - n;
}

/* Element k of the frame: *at is its index, *from the index of the cell or ghost of which it is an
 * image. `periodic`: a bit per axis. False: it is no image. */
AQUA_INLINE bool aqua_image(int64_t nx, int64_t ny, int64_t pitch, unsigned periodic, int64_t k,
                            int64_t *at, int64_t *from) {
    const int64_t sides = 2 * AQUA_HALO, wide = nx + sides;
    int64_t x = k % sides < AQUA_HALO ? k % sides - AQUA_HALO : nx + k % sides - AQUA_HALO;
    int64_t y = k / sides;
    if (y >= ny) { /* above or below all rows; a loop takes less time than a division */
        for (x = k - sides * ny, y = -AQUA_HALO; x >= wide; y++) {
            x -= wide;
        }
        x -= AQUA_HALO;
        y = y < 0 ? y : ny + y;
    }
    const int64_t u = periodic & 1u ? aqua_wrapped(x, nx) : x;
    const int64_t v = periodic & 2u ? aqua_wrapped(y, ny) : y;
    *at = (y + AQUA_HALO) * pitch + x + AQUA_HALO;
    *from = (v + AQUA_HALO) * pitch + u + AQUA_HALO;
    return *at != *from;
}

/* The amount that a source adds in a step: `each` units to each of its cells. Of whole quanta `odd`
 * cells, cyclically from number `turn` on, get one unit more, so that the cells get the remainder
 * in turn. */
typedef struct aqua_dose {
    double each;
    uint32_t odd, turn;
} aqua_dose;

/* A cell of a source: the k-th of its `count`. */
typedef struct aqua_source_cell {
    int64_t at; /* its element */
    uint32_t source, k, count;
} aqua_source_cell;

/* The units that a cell gets from its source in a step. */
AQUA_INLINE double aqua_dose_of(const aqua_dose *dose, const aqua_source_cell *cell) {
    const uint32_t k = cell->k, turn = dose->turn;
    const uint32_t behind = k >= turn ? k - turn : k + (cell->count - turn);
    return dose->each + (behind < dose->odd ? 1 : 0);
}

/* The supplies: rain, and infiltration into the soil. */
enum { AQUA_RAIN, AQUA_SOIL, AQUA_SUPPLIES };

/* Index in aqua_solver.fields. */
enum {
    AQUA_GROUND,
    AQUA_DEPTH,
    AQUA_LEVEL,
    AQUA_MAX_DEPTH,
    AQUA_MAX_LEVEL,
    AQUA_ARRIVAL_TIME,
    AQUA_FIELDS
};

/* Sorts v[0..8), of the type REAL of the including file, in 19 comparisons. FIRST(a, b) is the one
 * that goes first, LAST(a, b) the other. */
#define AQUA_ORDER(v, i, j, FIRST, LAST) \
    {                                    \
        const REAL a = v[i], b = v[j];   \
        v[i] = FIRST(a, b);              \
        v[j] = LAST(a, b);               \
    }
#define AQUA_SORT8(v, FIRST, LAST)   \
    AQUA_ORDER(v, 0, 2, FIRST, LAST) \
    AQUA_ORDER(v, 1, 3, FIRST, LAST) \
    AQUA_ORDER(v, 4, 6, FIRST, LAST) \
    AQUA_ORDER(v, 5, 7, FIRST, LAST) \
    AQUA_ORDER(v, 0, 4, FIRST, LAST) \
    AQUA_ORDER(v, 1, 5, FIRST, LAST) \
    AQUA_ORDER(v, 2, 6, FIRST, LAST) \
    AQUA_ORDER(v, 3, 7, FIRST, LAST) \
    AQUA_ORDER(v, 0, 1, FIRST, LAST) \
    AQUA_ORDER(v, 2, 3, FIRST, LAST) \
    AQUA_ORDER(v, 4, 5, FIRST, LAST) \
    AQUA_ORDER(v, 6, 7, FIRST, LAST) \
    AQUA_ORDER(v, 2, 4, FIRST, LAST) \
    AQUA_ORDER(v, 3, 5, FIRST, LAST) \
    AQUA_ORDER(v, 1, 4, FIRST, LAST) \
    AQUA_ORDER(v, 3, 6, FIRST, LAST) \
    AQUA_ORDER(v, 1, 2, FIRST, LAST) \
    AQUA_ORDER(v, 3, 4, FIRST, LAST) \
    AQUA_ORDER(v, 5, 6, FIRST, LAST)

/* A bed in units. Whole quanta count from `datum`, a whole number of metres below all ground, since
 * floats resolve small numbers best; they are rounded, so that a head is 0 or at least about a
 * quantum. */
AQUA_INLINE double aqua_bed_of(const aqua_store *store, double metres) {
    return store->whole ? rint((metres - store->datum) * store->per_metre) : metres;
}

/* A depth in units. Depths beyond the range of whole quanta become the largest of it. */
AQUA_INLINE double aqua_water_of(const aqua_store *store, double metres) {
    return store->whole ? fmin(rint(metres * store->per_metre), (double)INT32_MAX) : metres;
}

/* A ghost: a cell whose depth is given by a law and not by the flow. */
typedef struct aqua_ghost {
    int64_t at;    /* its element */
    double ground; /* m: the bed; of a level: the lowest bed of its region */
    int64_t level; /* 1: the water stands at a level z; 0: open, without water */
} aqua_ghost;

/* The bed and the depth of a ghost, m. A level z below the ground lowers the bed to z. */
AQUA_INLINE double aqua_ghost_bed(const aqua_ghost *ghost, double z) {
    return ghost->level && z < ghost->ground ? z : ghost->ground;
}

AQUA_INLINE double aqua_ghost_depth(const aqua_ghost *ghost, double z) {
    return ghost->level && !(z < ghost->ground) ? z - ghost->ground : 0;
}

/* Whether a field is derived from the greatest depths so far, instead of the present ones. */
AQUA_INLINE bool aqua_is_greatest(int field) {
    return field == AQUA_MAX_DEPTH || field == AQUA_MAX_LEVEL;
}

/* The value of a field from the ground, the depth (for aqua_is_greatest the greatest depth) in m,
 * and the time of arrival. */
AQUA_INLINE double aqua_field_of(int field, double ground, double depth, double arrival) {
    return field == AQUA_GROUND                             ? ground
           : field == AQUA_LEVEL || field == AQUA_MAX_LEVEL ? depth + ground
           : field == AQUA_ARRIVAL_TIME                     ? arrival
                                                            : depth;
}

/* Converts a rate of rain or infiltration from mm/h to units per step; `unit`: units per step in 1
 * mm/h. False: it is negative, or more than `most` units. */
AQUA_INLINE bool aqua_rate_fits(double rate, double unit, double most, double *units) {
    *units = rate * unit;
    return !(rate < 0) && !(*units > most);
}

/* Whether a level z (m) is at most `limit` units above its ground (m). */
AQUA_INLINE bool aqua_level_fits(double z, double ground, double per_metre, double limit) {
    return !((z - ground) * per_metre > limit);
}

#endif
