/* solvers.c -- the solvers of a program that knows sel.shallow beside those of the engine. */
#include "engine/solvers/aqua/aqua.h"
#include "engine/solvers/heat/heat.h"
#include "engine/solvers/lbm/lbm.h"
#include "engine/solvers/poisson/poisson.h"
#include "engine/solvers/rule/rule.h"

extern const sel_solver shallow_solver;

const sel_solver *const sel_solvers[] = {
    &lbm_solver, &aqua_solver, &heat_solver, &poisson_solver, &rule_solver, &shallow_solver, NULL};
