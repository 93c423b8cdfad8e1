/* lbm_wall.c -- where the walls beside the cells of a flow lie: normals, distances, areas.
 *
 * A link along e leaves the cell x along -e and meets the wall at x - q e. The normal is that of
 * the plane through these points, by least squares: exact on planes however they lie, of second
 * order on curved surfaces. They are those of the shapes, also where the wall of the scheme lies
 * half-way, since steps have no normal of use. With p = -q e seen from n0 inside the fluid, n0 the
 * mean direction of the links, a plane is m.(p - n0) = -1 with m = -n / (its distance from n0):
 * this point is far from it, and m is found even where the wall passes through x. Where the cell
 * has too few links, those of the free cells around it count, too; what even these leave open is
 * that of n0 (a small weight).
 *
 * The area is that whose links the cell has: as many links of direction e cross a plane as its area
 * times |n.e|, so that 6 times the sum of w e n.e is its area, in the mean for any normal and for
 * every cell beside a plane along axes.
 */
#include "engine/solvers/lbm/lbm_wall.h"

#include <stdlib.h>
#include <string.h>
#include "engine/core/collectives.h"
#include "engine/scene/crossing.h"
#include "engine/solvers/lbm/lbm_state.h"

/* The weight of what is known without the points. */
static const double known_weight = 1e-6;

/* Points tell a plane if the determinant of their second moments is this part of what it would be
 * if these were equal. */
static const double least_spread = 0.01;

/* The links of a cell that walls own. */
typedef struct wall_links {
    int count;
    const lbm_direction *of[LBM_MAX_Q];
    double meets[LBM_MAX_Q], surface[LBM_MAX_Q]; /* where: by the scheme, and by the shapes */
} wall_links;

static bool wall_of(const lbm_boundary *b, int64_t link) {
    return b->law[b->link_region[link]]->wall;
}

static void list_wall_links(const lbm_boundary *b, const lbm_boundary_cell *cell,
                            wall_links *links) {
    const int64_t number = cell->row * b->domain->grid.n[0] + cell->x;
    int64_t link = cell->first_link, second = link + __builtin_popcount(cell->links);
    links->count = 0;
    for (int i = 1; i < b->lattice->q; i++) {
        const bool shared = cell->shared >> i & 1u;
        if (cell->links >> i & 1u) {
            const lbm_direction *d = &b->lattice->direction[i];
            const int offset[3] = {-d->e[0], -d->e[1], -d->e[2]};
            const bool open = cell->open >> i & 1u; /* the wall is at the cell's centre */
            if (wall_of(b, link) || (shared && wall_of(b, second))) {
                const int k = links->count++;
                double q;
                links->of[k] = d;
                links->meets[k] = open ? 0 : lbm_boundary_meets(b, link);
                links->surface[k] = !open && sel_domain_crossing(b->domain, number, offset, &q)
                                        ? q
                                        : links->meets[k];
            }
            link++;
        }
        second += shared;
    }
}

/* Scales a vector to length 1; false: it is 0. */
static bool normalize(double v[3]) {
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3 && length > 1e-9; a++) {
        v[a] /= length;
    }
    return length > 1e-9;
}

static double component_along(const lbm_direction *d, const double v[3]) {
    return d->e[0] * v[0] + d->e[1] * v[1] + d->e[2] * v[2];
}

/* Solves a v = b, a symmetric and positive, by elimination. */
static void solve(double a[3][3], double v[3]) {
    for (int k = 0; k < 3; k++) {
        for (int i = k + 1; i < 3; i++) {
            const double part = a[i][k] / a[k][k];
            for (int j = k; j < 3; j++) {
                a[i][j] -= part * a[k][j];
            }
            v[i] -= part * v[k];
        }
    }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) {
            v[k] -= a[k][j] * v[j];
        }
        v[k] /= a[k][k];
    }
}

/* The number of the cell `e` away from a cell; -1: it is outside. */
static int64_t cell_beside(const sel_domain *domain, const lbm_boundary_cell *cell,
                           const int e[3]) {
    const sel_grid *grid = &domain->grid;
    int64_t to[3] = {(int64_t)cell->x + e[0], cell->row % grid->n[1] + e[1],
                     cell->row / grid->n[1] + e[2]}; /* x has no sign */
    for (int a = 0; a < 3; a++) {
        to[a] = sel_axis_periodic(grid, a) ? sel_wrapped(grid, a, to[a]) : to[a];
        if (to[a] < 0 || to[a] >= grid->n[a]) {
            return -1;
        }
    }
    return sel_cell_number(grid, to);
}

/* A sum over points p of the wall, seen from n0: of r r and of -r, r = p - n0. */
typedef struct plane {
    double n0[3], a[3][3], m[3];
} plane;

static void add_to_plane(plane *of, const double p[3]) {
    for (int i = 0; i < 3; i++) {
        of->m[i] -= p[i] - of->n0[i];
        for (int j = 0; j < 3; j++) {
            of->a[i][j] += (p[i] - of->n0[i]) * (p[j] - of->n0[j]);
        }
    }
}

/* Whether the points lie far enough apart to tell the plane. */
static bool tells_plane(const plane *of, int dims) {
    const double(*a)[3] = of->a;
    const double flat = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    const double all = flat * a[2][2] + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]) +
                       a[1][2] * (a[2][0] * a[0][1] - a[0][0] * a[2][1]);
    const double mean = (a[0][0] + a[1][1] + a[2][2]) / dims;
    return dims == 2 ? flat > least_spread * mean * mean : all > least_spread * pow(mean, 3);
}

/* Adds where links of the free cells around a cell meet walls. */
static void add_points_around(const lbm_boundary *b, const lbm_boundary_cell *cell, plane *to) {
    const sel_domain *domain = b->domain;
    for (int k = 1; k < b->lattice->q; k++) {
        const int *away = b->lattice->direction[k].e;
        const int64_t number = cell_beside(domain, cell, away);
        for (int i = 1; i < b->lattice->q && number >= 0 && !domain->cell[number]; i++) {
            const int *e = b->lattice->direction[i].e, offset[3] = {-e[0], -e[1], -e[2]};
            const int further[3] = {away[0] - e[0], away[1] - e[1], away[2] - e[2]};
            const int64_t solid = cell_beside(domain, cell, further);
            double q = 0.5;
            if (solid >= 0 && b->law[domain->cell[solid]]->wall) {
                q = sel_domain_crossing(domain, number, offset, &q) ? q : 0.5;
                add_to_plane(to, (const double[]){away[0] - q * e[0], away[1] - q * e[1],
                                                  away[2] - q * e[2]});
            }
        }
    }
}

/* The normal of the plane through the points at which links meet the wall; false: none. */
static bool find_normal(const lbm_boundary *b, const lbm_boundary_cell *cell,
                        const wall_links *links, double normal[3]) {
    plane of = {.a = {{0}}};
    double mean = 0;
    for (int k = 0; k < links->count; k++) {
        for (int axis = 0; axis < 3; axis++) {
            of.n0[axis] += links->of[k]->weight * links->of[k]->e[axis];
        }
    }
    if (!normalize(of.n0)) {
        return false;
    }
    for (int k = 0; k < links->count; k++) {
        const int *e = links->of[k]->e;
        const double q = links->surface[k];
        mean += q * component_along(links->of[k], of.n0) / links->count;
        add_to_plane(&of, (const double[]){-q * e[0], -q * e[1], -q * e[2]});
    }
    if (!tells_plane(&of, b->lattice->dims)) {
        add_points_around(b, cell, &of);
    }
    for (int axis = 0; axis < 3; axis++) {
        of.a[axis][axis] += known_weight;
        of.m[axis] += known_weight * of.n0[axis] / (1 + mean);
    }
    solve(of.a, of.m);
    memcpy(normal, of.m, sizeof of.m);
    return normalize(normal);
}

/* The next cell inwards, along the link that is nearest to the normal. */
static void find_next(const lbm_state *state, const lbm_boundary_cell *cell,
                      const wall_links *links, lbm_wall *wall) {
    const sel_domain *domain = state->plan->base.domain;
    const int64_t nx = domain->grid.n[0];
    double best = 0;
    for (int k = 0; k < links->count; k++) {
        const int *e = links->of[k]->e;
        const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        const double near = component_along(links->of[k], wall->normal) / sqrt(square);
        const int64_t next = near > best ? cell_beside(domain, cell, e) : -1;
        if (next >= 0 && !domain->cell[next]) {
            best = near;
            wall->part = links->meets[k];
            wall->next = sel_vicinity_row(&state->stress_beside, next / nx) + next % nx;
        }
    }
}

static lbm_wall find_wall_beside(const lbm_state *state, const lbm_boundary_cell *cell) {
    wall_links links;
    lbm_wall wall = {.here = sel_layout_row(&state->strain_layout, cell->row) + cell->x};
    wall.next = wall.here;
    list_wall_links(&state->plan->boundary, cell, &links);
    if (links.count == 0 || !find_normal(&state->plan->boundary, cell, &links, wall.normal)) {
        memset(wall.normal, 0, sizeof wall.normal);
        return wall;
    }
    for (int k = 0; k < links.count; k++) {
        const double near = component_along(links.of[k], wall.normal);
        wall.area += 6 * links.of[k]->weight * near;
        wall.distance += links.meets[k] * near / links.count;
    }
    find_next(state, cell, &links, &wall);
    return wall;
}

sel_status lbm_find_walls(lbm_state *state, sel_error *error) {
    const lbm_boundary *b = &state->plan->boundary;
    const uint64_t bytes = (uint64_t)b->cell_count * sizeof(lbm_wall);
    const bool alone = sel_domain_crossing_needs_one_thread(b->domain);
    if (state->walls_known) {
        return SEL_OK;
    }
    lbm_wall *walls = malloc(bytes + 1);
    sel_status status = walls ? SEL_OK : sel_fail_memory(error, "the walls", bytes);
#pragma omp parallel for schedule(static) num_threads(state->base.threads) if (!alone)
    for (int64_t c = 0; c < (walls ? b->cell_count : 0); c++) {
        walls[c] = find_wall_beside(state, &b->cells[c]);
    }
    if (walls && bytes > 0) {
        status = sel_arrays_send(&state->base.arrays, state->walls, walls, bytes, error);
    }
    free(walls);
    status = sel_state_agree(&state->base, status, error);
    state->walls_known = !status;
    return status;
}
