/* aqua_ground.h -- the terrain: its elevations, where it has none, and what it is like. */
#ifndef AQUA_GROUND_H
#define AQUA_GROUND_H

#include "engine/aqua/aqua.h"

/* For sel_solver.complete and sel_solver.blank. */
void aqua_complete(sel_common *params);
sel_status aqua_blank(const sel_simulation *simulation, const sel_domain *domain, int threads,
                      uint8_t *blank, sel_variant *law, sel_error *error);

/* Elevations of all cells but walls and those without data: plan->ground, NaN in the latter; and
 * plan->lowest. */
sel_status aqua_ground_evaluate(aqua_plan *plan, sel_error *error);

/* The same for any number of threads. */
sel_status aqua_terrain_measure(const aqua_plan *plan, aqua_terrain *terrain, sel_error *error);

/* The lowest ground of the free neighbours of a cell, also across periodic faces; NaN: none. */
double aqua_lowest_beside(const aqua_plan *plan, int64_t x, int64_t y);

/* Neighbour k lies at (x + aqua_around[k][0], y + aqua_around[k][1]), as AQUA_NEIGHBOURS says. */
extern const int aqua_around[8][2];

/* The cell at (x, y) with periodic axes wrapped; -1: outside. */
int64_t aqua_cell_of(const sel_grid *grid, int64_t x, int64_t y);

#endif
