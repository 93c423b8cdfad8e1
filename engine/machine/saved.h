/* saved.h -- the state of any solver in a checkpoint. */
#ifndef SEL_SAVED_H
#define SEL_SAVED_H

#include "engine/io/checkpoint.h"
#include "engine/solver.h"

/* Moves all saved arrays to a checkpoint: a block each, called "state NAME". Nothing may be under
 * way. */
void sel_state_save(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint);

/* Whether sel_state_load can: fails where an array is not in the checkpoint, or has another size.
 */
void sel_state_check(const sel_state *state, sel_checkpoint *checkpoint);

/* Sets the state to the saved one. */
void sel_state_load(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint);

#endif
