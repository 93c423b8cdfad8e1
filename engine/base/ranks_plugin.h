/* ranks_plugin.h -- what a plug-in for an MPI has. */
#ifndef SEL_RANKS_PLUGIN_H
#define SEL_RANKS_PLUGIN_H

#include <signal.h>
#include "engine/base/ranks.h"

/* selenite_ranks_open, called once: joins the ranks. `interrupt`: the signal that was received,
 * after which waits are short; others last `patience` seconds at most. A rank that has received one
 * has rank 0 receive SIGTERM, unless that has received one itself. NULL, with a text, where MPI
 * does not start. */
typedef const sel_ranks *sel_ranks_open(const volatile sig_atomic_t *interrupt, double patience,
                                        char *text, size_t size);

/* The version of this interface, which a plug-in has as const int selenite_ranks_version. */
enum { SEL_RANKS_VERSION = 3 };

#endif
