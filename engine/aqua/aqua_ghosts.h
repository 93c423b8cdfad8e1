/* aqua_ghosts.h -- the list of ghosts of a painted domain. */
#ifndef AQUA_GHOSTS_H
#define AQUA_GHOSTS_H

#include "engine/aqua/aqua.h"

/* Fills plan->ghosts; plan->ground must be there. */
sel_status aqua_ghosts_create(aqua_plan *plan, sel_error *error);
void aqua_ghosts_free(aqua_ghosts *ghosts);

/* The law of a region when it makes ghosts; NULL: it does not. */
const aqua_law_open *aqua_open_of(const sel_domain *domain, int region);
const aqua_law_level *aqua_level_of(const sel_domain *domain, int region);

/* The highest level of any law, sampled over the run; -HUGE_VAL: none. A law that fails counts as
 * none: the run itself will report it. */
double aqua_highest_level(const aqua_plan *plan);

#endif
