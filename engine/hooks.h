/* hooks.h -- functions of the scenario that the run calls between steps, and what they may do. */
#ifndef SEL_HOOKS_H
#define SEL_HOOKS_H

#include "engine/output/output.h"

/* The run as its hooks see it. The run loop sets context and log and zeroes the rest. */
typedef struct sel_hook_run {
    const sel_output_context *context;
    void (*log)(const char *text, void *data); /* NULL: nobody reads it */
    void *log_data;
    int64_t step;
    double time;       /* user's units */
    bool stopped;      /* a hook asked for the end of the run */
    char reason[256];  /* why */
    int caller_handle; /* what the language of the hooks keeps of this run; 0: nothing yet */
    sel_error failure; /* of the device, memory or files, not the hook's: it ends the run */
} sel_hook_run;

/* The first step after `step` at which a hook is due; INT64_MAX when none is. */
int64_t sel_hooks_next(const sel_hook_run *run, int64_t step);

/* Calls, in the script's order, the hooks that are due at `step`, or with `end` those of the end.
 * Fails with a hook's error, or with what failed when it asked the run, whatever the hook made of
 * that. */
sel_status sel_hooks_call(sel_hook_run *run, int64_t step, double time, bool end, sel_error *error);

/* ---- what a hook may do; each refuses what is not there with SEL_BAD_SCENARIO ---- */

/* The values of a field, or of a component such as "velocity_x", at a point: as out.probe. */
sel_status sel_hook_probe(sel_hook_run *run, const char *field, const sel_point *at,
                          double values[SEL_MAX_COMPONENTS], int *count, sel_error *error);

/* "sum", "min", "max", "mean" or "l2" of a field over the cells that are not solid. */
sel_status sel_hook_reduce(sel_hook_run *run, const char *field, const char *op,
                           double values[SEL_MAX_COMPONENTS], int *count, sel_error *error);

/* The present values of the out.force called `name`, or of one on the region of that name. */
sel_status sel_hook_force(sel_hook_run *run, const char *name, double force[3], double torque[3],
                          sel_error *error);

/* Functions see the new value of a control from the next step on. */
sel_status sel_hook_set(sel_hook_run *run, const char *control, double value, sel_error *error);

sel_status sel_hook_result(sel_hook_run *run, const char *name, double value, sel_error *error);
void sel_hook_stop(sel_hook_run *run, const char *reason);
void sel_hook_log(const sel_hook_run *run, const char *text);

#endif
