/* crossing.h -- how far a free cell is from the wall along a link. */
#ifndef SEL_CROSSING_H
#define SEL_CROSSING_H

#include "engine/scene/domain.h"

/* The fraction 0 < *q <= 1 of the link from the centre of a free cell to the centre of the cell
 * `offset` cells away at which it enters the solid. Regions are painted in order along the link, as
 * they are painted on the cells, so other regions may cover a shape. Periodic axes wrap.
 *
 * False: no surface is known, and the wall lies half-way. So it is if the other cell is free,
 * outside, without data, or solid by a picture, and if a function of a shape fails. The other cell
 * must be one that this rank may look at (sel_domain_keep). */
bool sel_domain_crossing(const sel_domain *domain, int64_t fluid_cell, const int offset[3],
                         double *q);

/* Whether only one thread may call sel_domain_crossing, the one that prepares the simulation, since
 * a shape has a function. Other domains may be asked by all threads at once. */
bool sel_domain_crossing_needs_one_thread(const sel_domain *domain);

#endif
