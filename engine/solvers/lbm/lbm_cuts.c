/* lbm_cuts.c -- where links meet interpolated walls, and the weights that follow (lbm_closure.h).
 *
 * A link leaves the cell x along -c and meets the surface of a shape after the part q of its
 * length:
 *
 *     x - c     wall       x         x + c
 *       o --------|------- o --------- o
 *                 |<- q -->|
 *
 *     f(x, t+1) = f*(x) + wall [f*_opposite(x) - f*(x) + what a moving wall adds]
 *                       + far [f*_opposite(x + c) - f*_opposite(x)],     far = 1 - 2 q wall
 *
 * Bouzidi, Firdaouss, Lallemand, Phys. Fluids 13 (2001) 3452; docs/physics.md, "Interpolated
 * walls".
 */
#include <math.h>
#include <stdlib.h>
#include "engine/scene/crossing.h"
#include "engine/solvers/lbm/lbm_boundary.h"
#include "engine/solvers/lbm/lbm_law.h"

/* The least fraction of a link at which it meets a wall: 0 would be half-way. */
static const double least_cut = 1e-6;
/* A surface this near to the middle of a link lies half-way, up to round-off. */
static const double least_away = 1e-9;

/* The least weight of a wall in what an interpolated link sends back; at smaller viscosities, where
 * a cell's flow is no longer viscous, more, up to that of Bouzidi's rule. */
static double least_wall(double relax) {
    return fmax(0.1, 0.5 - 16 * relax);
}

/* The place of a link of a cell in its row of the lists. */
static int64_t link_at(const lbm_boundary_cell *cell, int i) {
    return cell->first_link + __builtin_popcount(cell->links & ((1u << i) - 1u));
}

/* The weights of a link that meets a wall after the part q of its length (lbm_closure.h). passes:
 * something arrives along the opposite direction. relax: as of lbm_boundary_create. */
static lbm_cut weigh_cut(double q, bool passes, double relax) {
    const double most = q < 0.5 ? 1 : 0.5 / q;
    if (!passes) {
        return (lbm_cut){q < 0.5 ? 0 : (float)most, 0};
    }
    const double best = relax > 0 ? 1 / (q + q * q / (2 * relax)) : most;
    const double wall = fmin(most, fmax(least_wall(relax), best));
    return (lbm_cut){(float)wall, (float)(1 - 2 * q * wall)};
}

/* Where the link along direction i of a cell meets an interpolated wall, as link_cut. *away becomes
 * true, if it is interpolated and the wall does not lie half-way. */
static lbm_cut find_cut(const lbm_boundary *b, const lbm_boundary_cell *cell, int i, bool *away) {
    const lbm_direction *d = &b->lattice->direction[i];
    const int64_t number = cell->row * b->domain->grid.n[0] + cell->x;
    const int offset[3] = {-d->e[0], -d->e[1], -d->e[2]};
    const uint8_t region = b->link_region[link_at(cell, i)];
    const bool wall =
        cell->bounced >> i & 1u && !(cell->shared >> i & 1u) && b->law[region]->interpolates;
    double q = 0;
    if (!wall || !sel_domain_crossing(b->domain, number, offset, &q)) {
        return (lbm_cut){0, 0};
    }
    q = q < least_cut ? least_cut : q > 1 ? 1 : q;
    const lbm_cut cut =
        weigh_cut(q, !(cell->links >> d->opposite & 1u), b->moves[region] ? 0 : b->relax);
    if (cut.wall > 0 && fabs(q - 0.5) > least_away) {
#pragma omp atomic write
        away[region] = true;
    }
    return cut;
}

/* Finds the cuts of the links of a cell; away: by region. */
static void find_cell_cuts(lbm_boundary *b, const lbm_boundary_cell *cell, bool *away) {
    lbm_cut *cuts = b->link_cut + cell->first_link;
    for (int i = 1; i < b->lattice->q; i++) {
        if (cell->links >> i & 1u) {
            *cuts++ = find_cut(b, cell, i, away);
        }
    }
    for (int k = 0; k < __builtin_popcount(cell->shared); k++) {
        *cuts++ = (lbm_cut){0, 0};
    }
}

/* Walls that choose, and all of whose links lie half-way, become half-way walls. */
static void choose_walls(lbm_boundary *b, const bool away[]) {
    for (int r = 1; r <= b->domain->region_count; r++) {
        if (b->law[r]->chooses && !away[r]) {
            b->law[r] = lbm_halfway_wall;
        }
    }
}

void lbm_boundary_find_cuts(lbm_boundary *b) {
    const bool alone = sel_domain_crossing_needs_one_thread(b->domain);
    const int64_t count = b->interpolates ? b->cell_count : 0;
    bool away[SEL_REGION_NUMBERS] = {false}, some = false;
#pragma omp parallel for schedule(static) if (!alone)
    for (int64_t c = 0; c < count; c++) {
        find_cell_cuts(b, &b->cells[c], away);
    }
    choose_walls(b, away);
#pragma omp parallel for schedule(static) reduction(|| : some)
    for (int64_t c = 0; c < count; c++) {
        lbm_boundary_cell *cell = &b->cells[c];
        const int links = __builtin_popcount(cell->links);
        for (uint32_t k = cell->first_link; k < cell->first_link + (uint32_t)links; k++) {
            if (!b->law[b->link_region[k]]->interpolates) {
                b->link_cut[k] = (lbm_cut){0, 0};
            }
            cell->cut |= b->link_cut[k].wall > 0;
        }
        cell->straight = cell->cut ? 0 : cell->straight;
        some = some || cell->cut;
    }
    b->interpolates = some;
    if (!some) {
        free(b->link_cut);
        b->link_cut = NULL;
    }
}
