/* audit.h -- cells whose steps are computed again in double precision, or before fluxes are cut to
 * whole quanta, to see what single precision takes from them (sel_solver.audit, run/run_audit.c).
 */
#ifndef SEL_AUDIT_H
#define SEL_AUDIT_H

#include "engine/scene/domain.h"

enum { SEL_AUDITED = 64 /* cells, at most */, SEL_AUDIT_FIELDS = 64 };

/* Free cells, in the order of their numbers. */
typedef struct sel_audited {
    int count;
    int64_t cell[SEL_AUDITED];
} sel_audited;

/* Draws them by a seed, of those that fit (NULL: all): the same for any number of ranks. */
void sel_audited_draw(const sel_domain *domain, uint64_t seed,
                      bool (*fits)(const void *of, int64_t cell), const void *of, sel_audited *to);

/* What an audit needs of a state: the values of these fields in these cells. */
typedef struct sel_audit_reads {
    int fields, field[SEL_AUDIT_FIELDS]; /* in sel_solver.fields */
    int64_t cells, *cell;
} sel_audit_reads;

/* Changes of a component of a field in a step, or what flows out, as the run computes them and as
 * is right; by cell, NaN where they are not known. */
typedef struct sel_audit {
    const char *what; /* "temperature" */
    int field, component, count;
    bool flows; /* they are what flows out */
    double change[SEL_AUDITED], right[SEL_AUDITED];
    /* By how much `right` may change with the last digits of the values; and the part of a shift
     * of the whole field that a step takes back, or by which a step lets what flows out fade. 0:
     * not known. */
    double noise[SEL_AUDITED], fades[SEL_AUDITED];
} sel_audit;

#endif
