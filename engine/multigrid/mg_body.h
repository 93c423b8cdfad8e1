/* mg_body.h -- conducting bodies as problems of multigrid: A = K + rate C, with K the conduction to
 * neighbours and through surfaces, and C the heat capacity.
 */
#ifndef MG_BODY_H
#define MG_BODY_H

#include "engine/machine/conduction.h"
#include "engine/multigrid/multigrid.h"

typedef struct mg_body {
    const sel_conduction *body;
    const sel_domain *domain;
    double rate; /* 1 over a time; 0: a steady body */
} mg_body;

/* Its box; even, when no coefficient varies and each face has one law, and then in single precision
 * unless it is too large for that. */
void mg_body_box(const mg_body *of, mg_box *box);

/* mg_describe, of an mg_body. */
void mg_body_cell(const void *data, int64_t cell, mg_cell *to);

#endif
