/* state_save.c -- how the state of any solver gets into a checkpoint, and out of it. */
#include "engine/core/collectives.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void block_of(const sel_array *array, char name[SEL_BLOCK_NAME]) {
    snprintf(name, SEL_BLOCK_NAME, "state %s", array->name);
}

/* Whether an array holds the present state: of the two copies of a field one does. */
static bool is_present(const sel_array *array) {
    return !array->present || *array->present == array->copy;
}

/* An array on its way to a checkpoint or from it. */
typedef struct moving {
    sel_checkpoint *checkpoint;
    const sel_array *array;
} moving;

/* sel_arrays_move */
static sel_status move(void *stream, void *bytes, size_t count, sel_error *error) {
    const moving *m = stream;
    sel_checkpoint *checkpoint = m->checkpoint;
    (void)error;
    sel_keep(checkpoint, bytes, count);
    if (checkpoint->loads && !checkpoint->failure.status &&
        !sel_array_may_hold(m->array, bytes, (int64_t)(count / m->array->type.size))) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE,
                            "%s: is damaged: no state has such numbers in its '%s'",
                            checkpoint->path, m->array->name);
    }
    return checkpoint->failure.status;
}

/* What rank 0 finds in the checkpoint is so for all. */
static bool for_all(const sel_state *state, bool said) {
    sel_plan_ranks(state->plan)->broadcast(&said, sizeof said, false);
    return said;
}

/* Saves or loads the arrays with these flags; of those to be loaded only what the checkpoint has.
 * Ranks list the same arrays that are saved; of others some may have none. Collective: when a rank
 * fails all have its error, rank 0 in its checkpoint, which then is not committed. */
static void keep_arrays(sel_state *state, unsigned flags, bool loads, sel_checkpoint *checkpoint) {
    const sel_arrays *arrays = &state->arrays;
    sel_error unread = {.status = SEL_OK}, *error = checkpoint ? &checkpoint->failure : &unread;
    const bool alone = sel_plan_ranks(state->plan)->count == 1;
    sel_status failed = SEL_OK;
    for (int k = 0; k < arrays->count && !(alone && error->status); k++) {
        const sel_array *array = &arrays->v[k];
        char name[SEL_BLOCK_NAME];
        if ((array->flags & (SEL_SAVED | SEL_OPTIONAL)) != flags) {
            continue;
        }
        block_of(array, name);
        const bool has = for_all(state, !loads || !checkpoint ||
                                            sel_checkpoint_bytes(checkpoint, name) ==
                                                (int64_t)sel_array_bytes(array));
        if (!has && array->flags & SEL_OBSERVED) {
            state->observed = -1;
        }
        if (has && is_present(array)) {
            if (checkpoint) {
                sel_checkpoint_block(checkpoint, name);
            }
            moving stream = {checkpoint, array};
            const sel_status status = sel_arrays_keep(arrays, k, loads, move, &stream, error);
            failed = failed ? failed : status;
        }
    }
    sel_state_agree(state, failed ? failed : error->status, error);
}

/* A checkpoint without a reference has the values themselves. */
static void keep_reference(sel_state *state, sel_checkpoint *checkpoint) {
    static const char name[] = "state reference";
    double *reference = &state->reference;
    if (checkpoint) {
        const bool has = checkpoint->loads
                             ? sel_checkpoint_bytes(checkpoint, name) == (int64_t)sizeof *reference
                             : *reference != 0;
        *reference = has ? *reference : 0;
        if (has) {
            sel_checkpoint_block(checkpoint, name);
            SEL_KEEP(checkpoint, *reference);
        }
    }
    sel_plan_ranks(state->plan)->broadcast(reference, sizeof *reference, false);
}

void sel_state_save(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint) {
    if (checkpoint && checkpoint->failure.status) {
        return;
    }
    sel_error unread = {.status = SEL_OK}, *error = checkpoint ? &checkpoint->failure : &unread;
    const sel_status status = backend->saving ? backend->saving(state, error) : SEL_OK;
    if (sel_state_agree(state, status, error)) {
        return;
    }
    keep_reference(state, checkpoint);
    keep_arrays(state, SEL_SAVED, false, checkpoint);
    keep_arrays(state, SEL_SAVED | SEL_OPTIONAL, false, checkpoint);
}

void sel_state_check(const sel_state *state, sel_checkpoint *checkpoint) {
    const sel_arrays *arrays = &state->arrays;
    for (int k = 0; k < arrays->count; k++) {
        const sel_array *array = &arrays->v[k];
        const uint64_t bytes = sel_array_bytes(array);
        char name[SEL_BLOCK_NAME];
        block_of(array, name);
        const int64_t saved = (array->flags & (SEL_SAVED | SEL_OPTIONAL)) == SEL_SAVED
                                  ? sel_checkpoint_bytes(checkpoint, name)
                                  : (int64_t)bytes;
        if (saved < 0) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: has no '%s': an output, field or law needs it from the start "
                                "on; take that away, or begin at step 0",
                                checkpoint->path, array->name);
        } else if ((uint64_t)saved != bytes) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: the scenario has other regions or controls than the run had "
                                "('%s': %lld bytes in the checkpoint, %llu now); go on with those "
                                "of the run, or begin at step 0",
                                checkpoint->path, array->name, (long long)saved,
                                (unsigned long long)bytes);
        }
    }
}

/* What steps count on, and no state can have otherwise. */
static void check_loaded(const sel_state *state, sel_checkpoint *checkpoint) {
    const sel_clock *clock = &state->clock;
    uint8_t monitored;
    memcpy(&monitored, &state->monitored, 1);
    const bool good = monitored <= 1 && state->step >= 0 && state->step <= SEL_MOST_STEPS &&
                      state->observed >= -1 && state->observed <= state->step && clock->step >= 0 &&
                      clock->step <= state->step && clock->until >= state->step &&
                      isfinite(clock->time) && clock->time >= 0 && isfinite(clock->dt) &&
                      clock->dt > 0 && isfinite(state->reference);
    if (!good) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE,
                            "%s: is damaged: the step or the time of its state", checkpoint->path);
    }
}

void sel_state_load(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint) {
    sel_error unread = {.status = SEL_OK}, *error = checkpoint ? &checkpoint->failure : &unread;
    if (checkpoint) {
        sel_state_check(state, checkpoint);
    }
    if (error->status || (backend->loading && backend->loading(state, error))) {
        return;
    }
    keep_reference(state, checkpoint);
    sel_state_reset(state, state->step); /* before the arrays, of which the step is one */
    keep_arrays(state, SEL_SAVED, true, checkpoint);
    if (checkpoint) {
        check_loaded(state, checkpoint);
    }
    if (for_all(state, error->status == SEL_OK)) {
        const sel_status status = backend->loaded(state, error);
        sel_state_agree(state, status, error);
    }
    keep_arrays(state, SEL_SAVED | SEL_OPTIONAL, true, checkpoint);
}
