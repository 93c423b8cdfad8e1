/* launch.h -- start this program in several ranks. */
#ifndef SEL_LAUNCH_H
#define SEL_LAUNCH_H

#include "engine/base/status.h"

/* Has mpirun run this program with `arguments` (NULL behind the last) in so many ranks, and exits
 * with its status. A signal that ends a run reaches the ranks, which end it in order. Returns only
 * where there is no mpirun. */
sel_status sel_launch_ranks(int count, const char *const *arguments, sel_error *error);

#endif
