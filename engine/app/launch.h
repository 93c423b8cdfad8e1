/* launch.h -- starts this program in several ranks. */
#ifndef SEL_LAUNCH_H
#define SEL_LAUNCH_H

#include "engine/base/status.h"

/* Runs this program with `arguments` (ends with NULL) in `count` ranks by mpirun, and exits with
 * its status. Signals are forwarded, so that the ranks end a run in order. Returns only on failure:
 * SEL_NO_DEVICE, no mpirun. */
sel_status sel_launch_ranks(int count, const char *const *arguments, sel_error *error);

#endif
