/* compare.h -- checks that all ranks of a run have read the same script and files. */
#ifndef SEL_COMPARE_H
#define SEL_COMPARE_H

#include "engine/scene/solver.h"

/* A CRC, and what it was computed from (for messages). */
typedef struct sel_digest {
    const char *what;
    unsigned long crc;
} sel_digest;

enum { SEL_MOST_DIGESTS = 8 };

/* CRC-32 of some bytes; NULL: 0. */
unsigned long sel_digest_of(const void *bytes, size_t count);

/* Collective. SEL_BAD_SCENARIO on all ranks: a digest of some rank differs from that of rank 0. */
sel_status sel_digests_compare(const sel_ranks *ranks, const sel_digest *digests, int count,
                               sel_error *error);

/* Compares the grid, the regions, the data and the numbers of a run; as sel_digests_compare. */
sel_status sel_plan_compare(const sel_ranks *ranks, const sel_plan *plan, const char *backend,
                            sel_error *error);

#endif
