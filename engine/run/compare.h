/* compare.h -- whether the ranks of a run have read the same. */
#ifndef SEL_COMPARE_H
#define SEL_COMPARE_H

#include "engine/scene/solver.h"

/* What ranks compare: a CRC, and what it is of. */
typedef struct sel_digest {
    const char *what;
    unsigned long crc;
} sel_digest;

enum { SEL_MOST_DIGESTS = 8 };

unsigned long sel_digest_of(const void *bytes, size_t count);

/* SEL_BAD_SCENARIO where a rank has others than rank 0. All ranks learn it. */
sel_status sel_digests_compare(const sel_ranks *ranks, const sel_digest *digests, int count,
                               sel_error *error);

/* Compares the grid, the regions and the numbers of a run. */
sel_status sel_plan_compare(const sel_ranks *ranks, const sel_plan *plan, const char *backend,
                            sel_error *error);

#endif
