/* hook.h -- functions of a script that the run calls between steps. */
#ifndef SEL_HOOK_H
#define SEL_HOOK_H

#include "lua/fill.h"

/* The function at `index` as the engine calls it. `label` names it in messages: "hooks[1]". */
const sel_callback *sel_hook_callback(sel_filler *f, int index, const char *label, sel_where where);

#endif
