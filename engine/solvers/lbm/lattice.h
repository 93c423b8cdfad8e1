/* lattice.h -- the lattices as tables, for code that runs over directions at run time. */
#ifndef LBM_LATTICE_TABLE_H
#define LBM_LATTICE_TABLE_H

#include <stdint.h>

enum { LBM_D2Q9, LBM_D3Q19, LBM_LATTICES, LBM_MAX_Q = 19 };

typedef struct lbm_direction {
    int e[3];
    int opposite;
    int mirror[3]; /* of a diagonal: what it becomes at a mirror across each axis */
    double weight;
} lbm_direction;

typedef struct lbm_lattice {
    const char *name; /* "D2Q9" */
    int dims, q;      /* directions, the resting one included */
    lbm_direction direction[LBM_MAX_Q];
} lbm_lattice;

/* By number, LBM_D2Q9 or LBM_D3Q19. */
extern const lbm_lattice lbm_lattices[LBM_LATTICES];

#endif
