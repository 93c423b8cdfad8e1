/* aqua_inflow.h -- the cells of sources, and how rain and infiltration are spread. */
#ifndef AQUA_INFLOW_H
#define AQUA_INFLOW_H

#include "engine/aqua/aqua.h"

/* Fills plan->inflows, plan->rain and plan->infiltration. */
sel_status aqua_inflows_create(aqua_plan *plan, sel_error *error);
void aqua_inflows_free(aqua_plan *plan);

#endif
