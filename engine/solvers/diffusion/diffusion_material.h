/* diffusion_material.h -- materials: coefficients above 0, which may differ from cell to cell and
 * by axis, and what passes between cells of different ones. */
#ifndef DIFFUSION_MATERIAL_H
#define DIFFUSION_MATERIAL_H

#include "engine/scene/solver.h"

typedef struct diffusion_material {
    int components; /* 1, or one per axis */
    double same[3]; /* by axis, where it is the same in all cells, */
    double *of;     /* else [rows][components][nx] */
} diffusion_material;

/* Evaluates a quantity (not given: 1) at the centres of all free cells, of several ranks as
 * sel_domain_numbers, or the `whole` in each; fails where it is not above 0. Freed with
 * free(material->of), also after a failure. */
sel_status diffusion_material_find(const sel_plan *plan, bool whole, const sel_quantity *quantity,
                                   const char *name, diffusion_material *material,
                                   sel_error *error);

static inline double diffusion_material_at(const diffusion_material *m, const sel_grid *grid,
                                           int64_t cell, int axis) {
    const int64_t nx = grid->n[0], row = cell / nx * m->components;
    return m->of ? m->of[(row + (m->components > 1 ? axis : 0)) * nx + cell % nx] : m->same[axis];
}

/* The conductance k / dx^2 of the face between a cell and the one beyond it, times the part of the
 * face that is inside: with the harmonic mean k = 2 k1 k2 / (k1 + k2), as of two slabs in series.
 * 0: nothing passes, since there is no free cell on both sides. */
double diffusion_conductance(const diffusion_material *material, const sel_domain *domain,
                             int64_t cell, int face);

#endif
