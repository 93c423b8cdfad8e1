/* follow.h -- ranks of one run: that they have read the same, and what those do that do not lead.
 */
#ifndef SEL_FOLLOW_H
#define SEL_FOLLOW_H

#include "engine/run/prepare.h"

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
sel_status sel_prepared_compare(const sel_ranks *ranks, const sel_prepared *prepared,
                                sel_error *error);

/* Takes part in the runs of a scenario that rank 0 leads, until it ends. */
void sel_follow(const sel_scenario *scenario, const sel_settings *settings);

/* Rank 0: there are no more runs. */
void sel_follow_end(const sel_ranks *ranks);

#endif
