/* frame.h -- outputs that write the fields of a moment into a file of their own,
 * NAME/NAME_STEP.ENDING: the run's thread has the fields copied, the writer's thread writes them.
 */
#ifndef SEL_FRAME_H
#define SEL_FRAME_H

#include <pthread.h>
#include "engine/folder.h"
#include "engine/output/kind.h"

typedef struct sel_frames sel_frames;

/* One file to write. */
typedef struct sel_frame {
    sel_frames *frames;
    struct sel_frame *next; /* among the spare ones */
    int64_t step;
    double time;
    void *values[]; /* by pick: [cells of the box][read] */
} sel_frame;

/* An output of frames; the first member of each kind's own struct. */
struct sel_frames {
    sel_output base;
    const char *ending;
    const char *beside; /* ending of a second file that `write` makes; NULL: none */
    sel_box box;        /* of cells that are read */
    int precision;
    /* Writes a frame to `path`, on the writer's thread; it may change the values. */
    sel_status (*write)(sel_frame *frame, const char *path, sel_error *error);
    sel_frame *asked; /* for and not taken; else NULL */

    /* Frames that were written: the system takes as long to give pages as to fill them, so the next
     * frame gets theirs. As many as were in flight at once. */
    pthread_mutex_t lock;
    sel_frame *spare;
};

/* Makes the directory NAME; the box, the precision, the endings and `write` have been set. */
sel_status sel_frames_open(sel_frames *frames, sel_error *error);

/* The path of a frame's file with an ending, relative to the run's directory. */
void sel_frame_file(const sel_frame *frame, const char *ending, char path[SEL_PATH_ROOM]);

/* The functions of the kind. */
sel_status sel_frames_ask(sel_output *output, sel_error *error);
sel_status sel_frames_take(sel_output *output, sel_error *error);
void sel_frames_close(sel_output *output);

#endif
