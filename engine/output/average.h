/* average.h -- what the files of out.average share: components of fields, and means along axes. */
#ifndef SEL_OUTPUT_AVERAGE_H
#define SEL_OUTPUT_AVERAGE_H

#include <string.h>
#include "engine/output/kind.h"

/* A component of a pick. */
typedef struct sel_average_factor {
    char name[SEL_COLUMN_ROOM];
    int pick, component;
} sel_average_factor;

/* Two components whose covariance is asked for. */
typedef struct sel_average_product {
    sel_average_factor factor[2];
    char name[2 * SEL_COLUMN_ROOM + 16]; /* "velocity_x_velocity_y_covariance" */
    double *sum; /* [cells], of products of deviations; NULL with means along axes */
} sel_average_product;

/* The pick whose fluctuations have a kinetic energy: the whole velocity. -1: none. */
static inline int sel_average_velocity(const sel_output *base) {
    int k = 0;
    while (k < base->picks.count && strcmp(base->picks.v[k].name, "velocity") != 0) {
        k++;
    }
    return k < base->picks.count ? k : -1;
}

/* Its name in files. */
#define SEL_TURBULENT_ENERGY "turbulent_kinetic_energy"

/* ---- means over time and along axes (average_rows.c) ---- */

/* A row has the cells that differ only in the coordinates along the axes of the mean. */
typedef struct sel_average_rows sel_average_rows;

/* Adds the requests of the picks. `over`: bit a for axis a. Lives as long as the output. */
sel_status sel_average_rows_open(sel_output *base, unsigned over,
                                 const sel_average_product *products, int product_count,
                                 sel_average_rows **rows, sel_error *error);

/* Adds the sample that the requests have brought, the number `samples` from 1 on. */
void sel_average_rows_add(sel_average_rows *rows, int64_t samples);

/* Saves or loads the sums. */
void sel_average_rows_keep(sel_average_rows *rows, sel_checkpoint *checkpoint);

/* Writes NAME.csv of so many samples. */
sel_status sel_average_rows_write(const sel_average_rows *rows, int64_t samples, sel_error *error);

#endif
