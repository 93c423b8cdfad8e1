/* lattice.c -- the tables of the lattices, made from their X-macros. */
#include "engine/lbm/lattice.h"

#include "engine/physics/lbm_lattice.h"

#define DIRECTION(i, ex, ey, ez, opposite_of, weight_of) \
    [i].e = {ex, ey, ez}, [i].opposite = (opposite_of), [i].weight = (weight_of),
#define MIRRORS(i, ex, ey, ez, mx, my, mz) [i].mirror = {mx, my, mz},

const lbm_lattice lbm_lattices[LBM_LATTICES] = {
    [LBM_D2Q9] = {.name = "D2Q9",
                  .dims = 2,
                  .q = D2Q9_COUNT,
                  .direction = {D2Q9(DIRECTION) D2Q9_DIAGONALS(MIRRORS)}},
    [LBM_D3Q19] = {.name = "D3Q19",
                   .dims = 3,
                   .q = D3Q19_COUNT,
                   .direction = {D3Q19(DIRECTION) D3Q19_DIAGONALS(MIRRORS)}},
};
