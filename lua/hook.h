/* hook.h -- functions of a script that the run calls between steps. */
#ifndef SEL_HOOK_H
#define SEL_HOOK_H

#include "lua/fill.h"

/* The function at `index` as the engine calls it. `label` names it in messages: "hooks[1]". */
const sel_callback *sel_hook_callback(sel_filler *f, int index, const char *label, sel_where where);

struct sel_checkpoint;

/* Pushes the table run.state. */
int sel_hook_state(lua_State *L, struct sel_hook_run *run);

/* Moves run.state to a checkpoint, or from it (hook_state.c). */
void sel_hook_keep(lua_State *L, struct sel_hook_run *run, struct sel_checkpoint *checkpoint);

#endif
