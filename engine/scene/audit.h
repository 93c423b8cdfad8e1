/* audit.h -- cells whose steps are computed again in double precision, to see what single precision
 * takes from them (sel_solver.audit, run/run_audit.c). */
#ifndef SEL_AUDIT_H
#define SEL_AUDIT_H

#include "engine/scene/domain.h"

enum {
    SEL_AUDITED = 64, /* cells, at most */
    SEL_AUDIT_READS = 8 * SEL_AUDITED
};

/* Free cells, in the order of their numbers. */
typedef struct sel_audited {
    int count;
    int64_t cell[SEL_AUDITED];
} sel_audited;

/* Draws them by a seed: the same for any number of ranks. */
void sel_audited_draw(const sel_domain *domain, uint64_t seed, sel_audited *to);

/* Changes of the main field in a step, as the run computes them and in double precision. */
typedef struct sel_audit {
    int count;
    double change[SEL_AUDITED], right[SEL_AUDITED];
} sel_audit;

#endif
