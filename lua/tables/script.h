/* script.h -- load a scenario script into C structs: what the rest of Selenite sees of Lua, beside
 * the commands (lua/commands/commands.h). */
#ifndef SEL_SCRIPT_H
#define SEL_SCRIPT_H

#include "engine/scene/simulation.h"
#include "lua/script/options.h"

/* Runs the script at `path` ("-": standard input) and fills the structs from its result.
 * All mistakes of the tables are reported together, one per line, each with file:line.
 * SEL_BAD_SCENARIO, SEL_BAD_FILE (cannot be read) or SEL_BAD_USAGE (a bad assignment).
 * Functions of the scenario stay callable until sel_scenario_destroy, from one thread.
 * A script that does not return from a call within a second of its limit ends the process
 * (engine/base/process.h), but not with `trust`. */
sel_status sel_script_load(const char *path, const sel_script_options *options,
                           sel_scenario **scenario, sel_error *error);

#endif
