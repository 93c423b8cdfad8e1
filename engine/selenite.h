/* selenite.h -- the public C API: everything that the command line does, from C.
 *
 * A simulation is a plain struct. Fill it, give it to sel_run, read the files and the report:
 *
 *     lbm_params params = {0};
 *     sel_table_presets(lbm_solver.table, &params);      the defaults of sel.lbm
 *     params.common.size = (sel_ints){2, {64, 32, 1}};
 *     params.nu = 0.1;
 *     params.common.stop.steps = 1000;
 *     ... params.common.regions, params.common.output ...
 *     sel_simulation simulation = {.solver = &lbm_solver, .params = &params.common};
 *     sel_run(&scenario, &simulation, &options, &report, &error);
 *
 * examples/c/embed.c is a whole program. To step a simulation by hand, use sel_prepare and the
 * functions of prepared.backend (engine/scene/solver.h). Scripts are read by sel_script_load
 * (lua/tables/script.h), which is the only part that needs Lua.
 *
 * Every function that can fail returns a sel_status and fills a sel_error. Nothing is global:
 * several simulations may run in one process, each in a thread of its own.
 */
#ifndef SELENITE_H
#define SELENITE_H

#include "engine/run/prepare.h"
#include "engine/solvers/lbm/lbm.h"
#include "engine/output/output.h"
#include "engine/run/run.h"
#include "engine/base/version.h"
#include "engine/scene/shape.h"

#endif
