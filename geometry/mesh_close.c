/* mesh_close.c -- closes the surface of a list of triangles.
 *
 * 1. Points with the same coordinates become one; triangles that use a point twice go.
 * 2. Triangles that share an edge with one other have to pass it in opposite directions. Of those
 *    that hang together the fewer are turned about.
 * 3. An edge that is passed more often in one direction is open. Open edges make rings, since each
 *    triangle enters a point as often as it leaves it; a fan about its middle closes a ring.
 *
 * Lists of edges are sorted by their lower point, by counting; so the time is proportional to the
 * number of triangles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/mesh.h"

/* A side of a triangle: from corner `number` % 3 of triangle `number` / 3 to the next. */
typedef struct edge {
    int32_t lo, hi; /* its points */
    int32_t number;
} edge;

/* A directed edge that a fan has to pass. */
typedef struct open_edge {
    int32_t from, to;
    bool used;
} open_edge;

typedef struct closing {
    sel_triangles *of;
    sel_mesh_facts *facts;
    edge *edges;
    int64_t edge_count;
    int32_t *partner; /* [3 triangles] the side of the other triangle; -1: none, or several */
    bool *turns;      /* [triangles] */
    open_edge *open;
    int64_t open_count;
    int32_t *path; /* points of the ring that is followed, and where a point stands in it */
    int32_t *place;
    sel_mesh_source source; /* for triangles that are added */
} closing;

/* ---- points ---- */

static uint64_t hash_point(const double p[3]) {
    uint64_t hash = 0, bits;
    for (int a = 0; a < 3; a++) {
        memcpy(&bits, &p[a], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Joins points with the same coordinates; corners become numbers of those that are left. */
static bool join_points(sel_triangles *t) {
    uint64_t room = 64;
    while (room < 2 * (uint64_t)t->points) {
        room *= 2;
    }
    int32_t *table = malloc((size_t)room * sizeof *table);
    int32_t *number = malloc((size_t)t->points * sizeof *number);
    int32_t left = 0;
    if (table && number) {
        memset(table, 0xff, (size_t)room * sizeof *table);
    }
    for (int64_t i = 0; i < t->points && table && number; i++) {
        double p[3];
        for (int a = 0; a < 3; a++) {
            p[a] = t->point[i][a] + 0.0; /* -0 becomes 0 */
        }
        uint64_t k = hash_point(p) & (room - 1);
        while (table[k] >= 0 && memcmp(t->point[table[k]], p, sizeof p) != 0) {
            k = (k + 1) & (room - 1);
        }
        if (table[k] < 0) {
            memcpy(t->point[left], p, sizeof p);
            table[k] = left++;
        }
        number[i] = table[k];
    }
    const bool done = table && number;
    for (int64_t i = 0; i < 3 * t->triangles && done; i++) {
        t->corner[i / 3][i % 3] = number[t->corner[i / 3][i % 3]];
    }
    t->points = done ? left : t->points;
    free(table);
    free(number);
    return done;
}

/* Whether a triangle has no area, but for round-off. */
static bool is_flat(const sel_triangles *t, const int32_t corner[3]) {
    double a[3], b[3], squares = 0, longest = 0;
    for (int k = 0; k < 3; k++) {
        a[k] = t->point[corner[1]][k] - t->point[corner[0]][k];
        b[k] = t->point[corner[2]][k] - t->point[corner[0]][k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double normal = a[i] * b[j] - a[j] * b[i];
        squares += normal * normal;
        longest += fmax(a[k] * a[k], b[k] * b[k]);
    }
    return squares <= 1e-24 * longest * longest;
}

/* Counts triangles without area and takes out those with fewer than three points. The others stay,
 * since their neighbours need their edges. */
static void drop_points(sel_triangles *t, sel_mesh_facts *facts) {
    int64_t left = 0;
    for (int64_t k = 0; k < t->triangles; k++) {
        const int32_t *c = t->corner[k];
        if (is_flat(t, c) && facts->degenerate++ == 0) {
            memcpy(facts->degenerate_at, t->point[c[0]], sizeof facts->degenerate_at);
        }
        if (c[0] != c[1] && c[1] != c[2] && c[2] != c[0]) {
            memmove(t->corner[left++], c, sizeof *t->corner);
        }
    }
    t->triangles = facts->own = left;
}

/* ---- edges ---- */

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    return x->hi != y->hi ? (x->hi > y->hi) - (x->hi < y->hi)
                          : (x->number > y->number) - (x->number < y->number);
}

/* Lists all sides, sorted by their points. */
static bool list_sides(closing *c) {
    const sel_triangles *t = c->of;
    int64_t *first = calloc((size_t)t->points + 2, sizeof *first);
    c->edge_count = 3 * t->triangles;
    c->edges = malloc((size_t)c->edge_count * sizeof *c->edges);
    for (int pass = 0; pass < 2 && first && c->edges; pass++) {
        for (int64_t i = 0; i < c->edge_count; i++) {
            const int32_t a = t->corner[i / 3][i % 3], b = t->corner[i / 3][(i + 1) % 3];
            const int32_t lo = a < b ? a : b, hi = a < b ? b : a;
            if (pass == 0) {
                first[lo + 2]++;
            } else {
                c->edges[first[lo + 1]++] = (edge){lo, hi, (int32_t)i};
            }
        }
        for (int64_t k = 2; k < t->points + 2 && pass == 0; k++) {
            first[k] += first[k - 1];
        }
    }
    for (int64_t k = 0; k < t->points && first && c->edges; k++) {
        if (first[k + 1] - first[k] > 1) {
            qsort(c->edges + first[k], (size_t)(first[k + 1] - first[k]), sizeof *c->edges,
                  compare_edges);
        }
    }
    const bool done = first && c->edges;
    free(first);
    return done;
}

/* The end of the sides that are edge k of the list. */
static int64_t end_of_edge(const closing *c, int64_t k) {
    int64_t end = k + 1;
    while (end < c->edge_count && c->edges[end].lo == c->edges[k].lo &&
           c->edges[end].hi == c->edges[k].hi) {
        end++;
    }
    return end;
}

/* Whether a side is passed from the lower point to the higher one. */
static bool passes_upward(const closing *c, int32_t number) {
    const int32_t *corner = c->of->corner[number / 3];
    return (corner[number % 3] < corner[(number + 1) % 3]) != c->turns[number / 3];
}

/* ---- which triangles are turned ---- */

static void find_partners(closing *c) {
    for (int64_t k = 0, end; k < c->edge_count; k = end) {
        end = end_of_edge(c, k);
        for (int64_t i = k; i < end; i++) {
            c->partner[c->edges[i].number] = end - k == 2 ? c->edges[2 * k + 1 - i].number : -1;
        }
    }
}

/* Goes through the triangles that hang together with `start`; `queue`: room for all. Returns their
 * number. */
static int64_t turn_neighbours(closing *c, int32_t start, bool *seen, int32_t *queue) {
    int64_t count = 1;
    queue[0] = start;
    seen[start] = true;
    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < 3; i++) {
            const int32_t side = 3 * queue[k] + i, other = c->partner[side];
            if (other < 0 || seen[other / 3]) {
                continue;
            }
            seen[other / 3] = true;
            c->turns[other / 3] = passes_upward(c, side) == passes_upward(c, other);
            queue[count++] = other / 3;
        }
    }
    return count;
}

static bool turn_triangles(closing *c) {
    sel_triangles *t = c->of;
    bool *seen = calloc((size_t)t->triangles, 1);
    int32_t *queue = malloc((size_t)t->triangles * sizeof *queue);
    for (int32_t start = 0; start < t->triangles && seen && queue; start++) {
        if (seen[start]) {
            continue;
        }
        const int64_t count = turn_neighbours(c, start, seen, queue);
        int64_t turned = 0;
        for (int64_t k = 0; k < count; k++) {
            turned += c->turns[queue[k]];
        }
        const bool others = 2 * turned > count;
        for (int64_t k = 0; k < count; k++) {
            c->turns[queue[k]] = c->turns[queue[k]] != others;
            if (c->turns[queue[k]] && c->facts->turned++ == 0) {
                memcpy(c->facts->turned_at, t->point[t->corner[queue[k]][0]],
                       sizeof c->facts->turned_at);
            }
        }
    }
    const bool done = seen && queue;
    free(seen);
    free(queue);
    return done;
}

/* ---- open edges ---- */

static bool add_open(closing *c, int64_t *room, int32_t from, int32_t to) {
    if (c->open_count == *room) {
        *room = *room ? 2 * *room : 256;
        open_edge *more = realloc(c->open, (size_t)*room * sizeof *more);
        if (!more) {
            return false;
        }
        c->open = more;
    }
    c->open[c->open_count++] = (open_edge){from, to, false};
    return true;
}

static int compare_rims(const void *a, const void *b) {
    const open_edge *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

/* Lists the edges that fans have to pass, sorted by their first points. */
static bool list_open_edges(closing *c) {
    int64_t room = 0;
    for (int64_t k = 0, end; k < c->edge_count; k = end) {
        const edge *e = &c->edges[k];
        int upward = 0;
        end = end_of_edge(c, k);
        for (int64_t i = k; i < end; i++) {
            upward += passes_upward(c, c->edges[i].number) ? 1 : -1;
        }
        if (upward && c->facts->open_edges++ == 0) {
            const double *a = c->of->point[e->lo], *b = c->of->point[e->hi];
            for (int i = 0; i < 3; i++) {
                c->facts->open_at[i] = 0.5 * (a[i] + b[i]);
            }
        }
        for (int i = 0; i < abs(upward); i++) {
            if (!add_open(c, &room, upward > 0 ? e->hi : e->lo, upward > 0 ? e->lo : e->hi)) {
                return false;
            }
        }
    }
    if (c->open_count) {
        qsort(c->open, (size_t)c->open_count, sizeof *c->open, compare_rims);
    }
    return true;
}

/* An unused open edge from a point; NULL: there is none. */
static open_edge *open_edge_from(const closing *c, int32_t point) {
    int64_t lo = 0, hi = c->open_count;
    while (lo < hi) {
        const int64_t half = (lo + hi) / 2;
        if (c->open[half].from < point) {
            lo = half + 1;
        } else {
            hi = half;
        }
    }
    while (lo < c->open_count && c->open[lo].from == point && c->open[lo].used) {
        lo++;
    }
    return lo < c->open_count && c->open[lo].from == point ? &c->open[lo] : NULL;
}

/* Adds the fan of a ring of `count` points. */
static sel_status add_fan(closing *c, const int32_t *ring, int64_t count) {
    double middle[3] = {0};
    sel_status status = SEL_OK;
    if (count < 3) {
        return SEL_OK;
    }
    c->facts->holes++;
    if (count == 3) {
        return sel_mesh_add_triangle(&c->source, ring[0], ring[1], ring[2]);
    }
    for (int64_t k = 0; k < count; k++) {
        for (int a = 0; a < 3; a++) {
            middle[a] += c->of->point[ring[k]][a] / (double)count;
        }
    }
    const int64_t tip = c->of->points;
    status = sel_mesh_add_point(&c->source, middle);
    for (int64_t k = 0; k < count && !status; k++) {
        status = sel_mesh_add_triangle(&c->source, tip, ring[k], ring[(k + 1) % count]);
    }
    return status;
}

/* Follows open edges from a point until all rings through it are closed. */
static sel_status follow_rings(closing *c, int32_t start) {
    int64_t length = 1;
    open_edge *next;
    sel_status status = SEL_OK;
    c->path[0] = start;
    c->place[start] = 0;
    while (length > 0 && !status) {
        next = open_edge_from(c, c->path[length - 1]);
        if (!next) { /* only at the start, where all is closed */
            c->place[c->path[--length]] = -1;
            continue;
        }
        next->used = true;
        const int32_t at = c->place[next->to];
        if (at < 0) {
            c->place[next->to] = (int32_t)length;
            c->path[length++] = next->to;
            continue;
        }
        status = add_fan(c, c->path + at, length - at);
        for (; length > at + 1; length--) {
            c->place[c->path[length - 1]] = -1;
        }
    }
    return status;
}

static sel_status close_holes(closing *c) {
    const size_t points = (size_t)c->of->points;
    sel_status status = SEL_OK;
    c->path = malloc(((size_t)c->open_count + 1) * sizeof *c->path);
    c->place = malloc(points * sizeof *c->place);
    if (!c->path || !c->place) {
        return sel_fail_memory(c->source.error, c->source.name, points * sizeof *c->place);
    }
    memset(c->place, 0xff, points * sizeof *c->place);
    for (int64_t k = 0; k < c->open_count && !status; k++) {
        if (!c->open[k].used) {
            status = follow_rings(c, c->open[k].from);
        }
    }
    return status;
}

static void apply_turns(closing *c) {
    for (int64_t k = 0; k < c->edge_count / 3; k++) {
        int32_t *corner = c->of->corner[k];
        const int32_t kept = corner[1];
        corner[1] = c->turns[k] ? corner[2] : kept;
        corner[2] = c->turns[k] ? kept : corner[2];
    }
}

sel_status sel_mesh_close(sel_triangles *triangles, sel_mesh_facts *facts, const char *name,
                          sel_error *error) {
    closing c = {
        .of = triangles, .facts = facts, .source = {.name = name, .to = triangles, .error = error}};
    *facts = (sel_mesh_facts){.triangles = triangles->triangles};
    bool room = join_points(triangles);
    if (room) {
        drop_points(triangles, facts);
    }
    const size_t count = (size_t)triangles->triangles;
    c.partner = malloc(3 * count * sizeof *c.partner + 1);
    c.turns = calloc(count + 1, 1);
    room = room && c.partner && c.turns && list_sides(&c);
    if (room) {
        find_partners(&c);
    }
    room = room && turn_triangles(&c) && list_open_edges(&c);
    if (room) {
        apply_turns(&c);
    }
    const sel_status status = room ? close_holes(&c) : sel_fail_memory(error, name, 16 * count);
    free(c.edges);
    free(c.partner);
    free(c.turns);
    free(c.open);
    free(c.path);
    free(c.place);
    return status;
}
