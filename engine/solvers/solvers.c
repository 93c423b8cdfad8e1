/* solvers.c -- the list of all solvers. A program with a list of its own has other ones. */
#include "engine/scene/solver.h"
#include "engine/solvers/aqua/aqua.h"
#include "engine/solvers/heat/heat.h"
#include "engine/solvers/lbm/lbm.h"
#include "engine/solvers/poisson/poisson.h"
#include "engine/solvers/rule/rule.h"

const sel_solver *const sel_solvers[] = {&lbm_solver,     &aqua_solver, &heat_solver,
                                         &poisson_solver, &rule_solver, NULL};
