/* resume.h -- the checkpoints of a simulation: their names, and which one a run goes on from. */
#ifndef SEL_RESUME_H
#define SEL_RESUME_H

#include "engine/io/checkpoint.h"
#include "engine/simulation.h"

/* The names of the checkpoint of a simulation and of the one before it, in `directory`. */
typedef struct sel_checkpoint_names {
    char file[96], before[96]; /* in the directory */
    char path[4400], path_before[4400];
    bool keeps_before; /* the present one is worse than the one before it: it is replaced */
} sel_checkpoint_names;
void sel_checkpoint_name(const sel_simulation *simulation, const char *directory,
                         sel_checkpoint_names *names);

/* The out.checkpoint of a simulation; NULL: it has none. */
const sel_variant *sel_checkpoint_output(const sel_simulation *simulation);

/* Opens the file, or the checkpoint of those names where it is NULL. When that is damaged the
 * message names the one before it, if that is whole. */
sel_status sel_resume_open(const sel_checkpoint_names *names, const char *file,
                           sel_checkpoint **opened, sel_error *error);

/* Of a simulation in a list: what a run of the list that goes on does with it. */
typedef enum sel_resume_step {
    SEL_RESUME_IT,   /* it has a checkpoint */
    SEL_RESUME_DONE, /* it has ended */
    SEL_RESUME_ANEW, /* it was ended without a checkpoint: its files are replaced */
    SEL_RESUME_BEGIN /* it has no run yet */
} sel_resume_step;
sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory);

#endif
