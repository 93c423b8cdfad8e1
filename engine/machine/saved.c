/* saved.c -- the state of any solver in a checkpoint. */
#include "engine/machine/saved.h"

#include <stdio.h>
#include "engine/machine/state.h"

static void block_of(const sel_array *array, char name[SEL_BLOCK_NAME]) {
    snprintf(name, SEL_BLOCK_NAME, "state %s", array->name);
}

typedef sel_status mover(const sel_arrays *arrays, int k, sel_arrays_move *move, void *stream,
                         sel_error *error);

/* Of arrays that take turns the present one. */
static bool is_present(const sel_state *state, const sel_array *array) {
    return !(array->flags & (state->step % 2 ? SEL_EVEN : SEL_ODD));
}

/* Those with these flags; loading, only what the checkpoint has. */
static void move_arrays(sel_state *state, unsigned flags, mover *move, sel_checkpoint *checkpoint) {
    const sel_arrays *arrays = &state->arrays;
    const bool loads = sel_checkpoint_loads(checkpoint);
    for (int k = 0; k < arrays->count && !sel_checkpoint_status(checkpoint, NULL); k++) {
        const sel_array *array = &arrays->v[k];
        char name[SEL_BLOCK_NAME];
        sel_error error = {.status = SEL_OK};
        block_of(array, name);
        const bool has =
            !loads || sel_checkpoint_bytes(checkpoint, name) == (int64_t)sel_array_bytes(array);
        if (!has && array->flags & SEL_OBSERVED) {
            state->observed = -1;
        }
        if ((array->flags & (SEL_SAVED | SEL_OPTIONAL)) == flags && has &&
            is_present(state, array)) {
            sel_checkpoint_block(checkpoint, name);
            move(arrays, k, sel_checkpoint_move, checkpoint, &error);
            sel_checkpoint_take(checkpoint, &error);
        }
    }
}

void sel_state_save(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint) {
    sel_error error = {.status = SEL_OK};
    if (backend->saving) {
        backend->saving(state, &error);
        sel_checkpoint_take(checkpoint, &error);
    }
    move_arrays(state, SEL_SAVED, sel_arrays_save, checkpoint);
    move_arrays(state, SEL_SAVED | SEL_OPTIONAL, sel_arrays_save, checkpoint);
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
                                "%s: has no '%s', which an output, field or law needs that the run "
                                "did not have",
                                sel_checkpoint_path(checkpoint), array->name);
        } else if ((uint64_t)saved != bytes) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: '%s' has %lld bytes in the checkpoint, %llu in the scenario: "
                                "its regions or controls are others",
                                sel_checkpoint_path(checkpoint), array->name, (long long)saved,
                                (unsigned long long)bytes);
        }
    }
}

void sel_state_load(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint) {
    sel_error error = {.status = SEL_OK};
    sel_state_check(state, checkpoint);
    move_arrays(state, SEL_SAVED, sel_arrays_load, checkpoint);
    if (!sel_checkpoint_status(checkpoint, NULL)) {
        backend->loaded(state, &error);
        sel_checkpoint_take(checkpoint, &error);
    }
    move_arrays(state, SEL_SAVED | SEL_OPTIONAL, sel_arrays_load, checkpoint);
}
