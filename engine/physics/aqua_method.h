/* aqua_method.h -- how T_eq of AQUA-GRAPH is read; the order of equilibrium's choices. */
#ifndef AQUA_METHOD_H
#define AQUA_METHOD_H

typedef enum aqua_equilibrium {
    AQUA_FILL,    /* all water of a cell and its receivers at its lowest */
    AQUA_MEAN,    /* mean level of a cell and its receivers */
    AQUA_MINDIFF, /* minimisation of differences: only the cell's own water moves */
    AQUA_EQUILIBRIA
} aqua_equilibrium;

#endif
