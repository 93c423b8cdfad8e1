/* mesh_tree.c -- the tree of boxes of a mesh.
 *
 * Boxes are divided where the sum of area times triangles of both parts is least (surface area
 * heuristic; MacDonald and Booth 1990), among the borders of equal bins along the widest axis of
 * the middles of triangles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/mesh.h"

/* Boxes deeper than FAIR are divided into halves of equal number, so that no path is longer than
 * what the search keeps in mind. */
enum { BINS = 16, MOST_IN_LEAF = 4, FAIR = 24 };

/* A triangle while the tree is made. */
typedef struct brick {
    double lo[3], hi[3];
    int32_t corner[3];
} brick;

typedef struct builder {
    sel_mesh *mesh;
    brick *bricks;
} builder;

static double middle(const brick *b, int axis) {
    return 0.5 * (b->lo[axis] + b->hi[axis]);
}

static void extend_bounds(double lo[3], double hi[3], const double by_lo[3],
                          const double by_hi[3]) {
    for (int a = 0; a < 3; a++) {
        lo[a] = by_lo[a] < lo[a] ? by_lo[a] : lo[a];
        hi[a] = by_hi[a] > hi[a] ? by_hi[a] : hi[a];
    }
}

static double half_area(const double lo[3], const double hi[3]) {
    const double x = hi[0] - lo[0], y = hi[1] - lo[1], z = hi[2] - lo[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
}

/* The axis along which the middles lie farthest apart. */
static int widest_axis(const brick *bricks, int32_t n, double *from, double *width) {
    int widest = 0;
    *width = -1;
    for (int a = 0; a < 3; a++) {
        double lo = HUGE_VAL, hi = -HUGE_VAL;
        for (int32_t i = 0; i < n; i++) {
            const double at = middle(&bricks[i], a);
            lo = at < lo ? at : lo;
            hi = at > hi ? at : hi;
        }
        if (hi - lo > *width) {
            widest = a;
            *width = hi - lo;
            *from = lo;
        }
    }
    return widest;
}

static int bin_of(const brick *b, int axis, double from, double width) {
    const int bin = (int)(BINS * (middle(b, axis) - from) / width);
    return bin < BINS ? bin : BINS - 1;
}

typedef struct bin {
    double lo[3], hi[3];
    int32_t count;
} bin;

static bin empty_bin(void) {
    return (bin){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0};
}

static void add_bin(bin *to, const bin *more) {
    extend_bounds(to->lo, to->hi, more->lo, more->hi);
    to->count += more->count;
}

/* The last bin of the first part by the heuristic. */
static int choose_bin(const brick *bricks, int32_t n, int axis, double from, double width) {
    bin bins[BINS], part = empty_bin();
    double cost[BINS], least = HUGE_VAL;
    int best = BINS / 2 - 1;
    for (int k = 0; k < BINS; k++) {
        bins[k] = empty_bin();
    }
    for (int32_t i = 0; i < n; i++) {
        bin *to = &bins[bin_of(&bricks[i], axis, from, width)];
        extend_bounds(to->lo, to->hi, bricks[i].lo, bricks[i].hi);
        to->count++;
    }
    for (int k = 0; k < BINS - 1; k++) {
        add_bin(&part, &bins[k]);
        cost[k] = part.count * half_area(part.lo, part.hi);
    }
    part = empty_bin();
    for (int k = BINS - 2; k >= 0; k--) {
        add_bin(&part, &bins[k + 1]);
        cost[k] += part.count * half_area(part.lo, part.hi);
        if (part.count < n && part.count > 0 && cost[k] < least) {
            least = cost[k];
            best = k;
        }
    }
    return best;
}

/* Divides bricks; returns the number in the first part, 0 < number < n. */
static int32_t divide(brick *bricks, int32_t n, int depth) {
    double from = 0, width;
    const int axis = widest_axis(bricks, n, &from, &width);
    if (depth > FAIR || !(width > 0)) {
        return n / 2;
    }
    const int last = choose_bin(bricks, n, axis, from, width);
    int32_t first = 0;
    for (int32_t i = 0; i < n; i++) {
        if (bin_of(&bricks[i], axis, from, width) <= last) {
            const brick kept = bricks[i];
            bricks[i] = bricks[first];
            bricks[first++] = kept;
        }
    }
    return first > 0 && first < n ? first : n / 2;
}

/* Boxes are a little larger than what they hold, for the round-off of lines. */
static void set_node_bounds(builder *b, sel_mesh_node *node, const brick *bricks, int32_t n) {
    const double margin =
        1e-9 * (b->mesh->bounds.hi[0] - b->mesh->bounds.lo[0] + b->mesh->bounds.hi[1] -
                b->mesh->bounds.lo[1] + b->mesh->bounds.hi[2] - b->mesh->bounds.lo[2]);
    bin all = empty_bin();
    for (int32_t i = 0; i < n; i++) {
        extend_bounds(all.lo, all.hi, bricks[i].lo, bricks[i].hi);
    }
    for (int a = 0; a < 3; a++) {
        node->lo[a] = all.lo[a] - margin;
        node->hi[a] = all.hi[a] + margin;
    }
}

static void build(builder *b, int32_t number, int32_t first, int32_t n, int depth) {
    sel_mesh *mesh = b->mesh;
    brick *bricks = b->bricks + first;
    sel_mesh_node *node = &mesh->node[number];
    set_node_bounds(b, node, bricks, n);
    if (n <= MOST_IN_LEAF) {
        node->first = first;
        node->count = n;
        return;
    }
    const int32_t half = divide(bricks, n, depth), parts = mesh->nodes;
    mesh->nodes += 2;
    node->first = parts;
    node->count = 0;
    build(b, parts, first, half, depth + 1);
    build(b, parts + 1, first + half, n - half, depth + 1);
}

bool sel_mesh_sort(sel_arena *arena, sel_mesh *mesh) {
    const int32_t n = (int32_t)mesh->triangles;
    builder b = {mesh, malloc((size_t)n * sizeof *b.bricks)};
    sel_mesh_node *room = malloc(2 * (size_t)n * sizeof *room);
    for (int32_t i = 0; i < n && b.bricks; i++) {
        brick *own = &b.bricks[i];
        memcpy(own->corner, mesh->corner[i], sizeof own->corner);
        for (int k = 0; k < 3; k++) {
            const double *p = mesh->point[own->corner[k]];
            for (int a = 0; a < 3; a++) {
                own->lo[a] = k ? fmin(own->lo[a], p[a]) : p[a];
                own->hi[a] = k ? fmax(own->hi[a], p[a]) : p[a];
            }
        }
    }
    if (b.bricks && room) {
        mesh->nodes = 1;
        mesh->node = room;
        build(&b, 0, 0, n, 0);
        mesh->node = sel_arena_alloc(arena, (size_t)mesh->nodes * sizeof *room);
        for (int32_t i = 0; i < n; i++) {
            memcpy(mesh->corner[i], b.bricks[i].corner, sizeof *mesh->corner);
        }
    }
    if (mesh->node) {
        memcpy(mesh->node, room, (size_t)mesh->nodes * sizeof *room);
    }
    free(room);
    free(b.bricks);
    return mesh->node;
}
