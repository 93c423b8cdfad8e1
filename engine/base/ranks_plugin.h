/* ranks_plugin.h -- the interface of a plug-in for an MPI. */
#ifndef SEL_RANKS_PLUGIN_H
#define SEL_RANKS_PLUGIN_H

#include <signal.h>
#include "engine/base/ranks.h"

/* selenite_ranks_open, called once: starts MPI and joins the ranks. A wait for other ranks lasts at
 * most `patience` seconds, and less once *interrupt, the signal that was received, is not 0. A rank
 * that has received a signal sends SIGTERM to rank 0, unless rank 0 has received one itself. NULL:
 * MPI does not start; `text` says why. */
typedef const sel_ranks *sel_ranks_open(const volatile sig_atomic_t *interrupt, double patience,
                                        char *text, size_t size);

/* The version of this interface; a plug-in exports its own as const int selenite_ranks_version. */
enum { SEL_RANKS_VERSION = 3 };

#endif
