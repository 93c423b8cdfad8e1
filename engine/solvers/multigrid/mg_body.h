/* mg_body.h -- conducting bodies as problems of multigrid: A u = F with A = K + C / (w dt), K the
 * conduction to neighbours and through surfaces, C the heat capacity and w body->implicit; A = K
 * where that is 0.
 */
#ifndef MG_BODY_H
#define MG_BODY_H

#include "engine/solvers/diffusion/diffusion.h"
#include "engine/solvers/multigrid/mg_solve.h"

/* Whether every rank computes the whole body, since the grid is too small to be divided. */
bool mg_body_whole(const sel_domain *domain);
/* Moves the first planes and rows of ranks to where those of a device begin. False: levels are too
 * small to be divided among devices, or cannot be. */
bool mg_body_decompose(const sel_grid *grid, sel_decomposition *decomposition);

/* Describes the whole body to multigrid. Each rank has the surfaces and materials of its patch, so
 * all ranks must call it. The box is even if no coefficient varies and each face has one law.
 * Cycles on an even box are in single precision, unless the box is too large; on any other box they
 * precondition conjugate gradients. */
void mg_body_box(const diffusion_body *body, mg_box *box);

/* Lists what has a neighbourhood, `name`, in the one block that is here, with a halo of a plane
 * beside other ranks, and the arrays of a problem, whose vectors are laid out as this. `flags`: of
 * the direction; threads: of mg_list. */
void mg_body_list(mg_solve *s, const mg_box *box, sel_state *state, const char *name, void *at[2],
                  unsigned flags, int threads);
/* Fills the tables and coefficients. */
sel_status mg_body_start(mg_solve *s, const sel_state *state, sel_error *error);

/* An implicit step (heat_right_side) of the state's turns, on the processor. */
sel_status mg_body_step(mg_solve *s, const sel_state *state, sel_error *error);
/* Fails when the iteration of a step has ended, by s->now, without solving for it. */
sel_status mg_body_solved(const mg_solve *s, const sel_state *state, sel_error *error);

#endif
