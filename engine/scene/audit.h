/* audit.h -- the audit of single precision: the changes of some cells are computed again in double
 * precision, without truncation to whole quanta, and compared with those of the run
 * (sel_solver.audit, run/run_audit.c).
 */
#ifndef SEL_AUDIT_H
#define SEL_AUDIT_H

#include "engine/scene/domain.h"

enum { SEL_AUDITED = 64 /* most cells of an audit */, SEL_AUDIT_FIELDS = 64 };

/* The audited cells: free cells in ascending order, each once. */
typedef struct sel_audited {
    int count;
    int64_t cell[SEL_AUDITED];
} sel_audited;

/* Draws audited cells at random from the free cells for which fits(of, cell) holds (NULL: every
 * free cell). The result depends on the seed only, not on the number of ranks. */
void sel_audited_draw(const sel_domain *domain, uint64_t seed,
                      bool (*fits)(const void *of, int64_t cell), const void *of, sel_audited *to);

/* What an audit reads from a state: each field in each cell. */
typedef struct sel_audit_reads {
    int fields, field[SEL_AUDIT_FIELDS]; /* indices in sel_solver.fields */
    int64_t cells, *cell;
} sel_audit_reads;

/* The change of one component of a field in a step, or the outflow of a cell in a step: as the run
 * computes it and as double precision does. One number per audited cell; NaN: unknown. */
typedef struct sel_audit {
    const char *what; /* "temperature" */
    int field, component, count;
    bool flows;                                     /* the numbers are outflows; false: changes */
    double change[SEL_AUDITED], right[SEL_AUDITED]; /* of the run; in double precision */
    /* noise: the uncertainty of `right` from the last digits of the stored values. fades: the
     * fraction by which one step damps a shift of the whole field, or the outflow. 0: unknown. */
    double noise[SEL_AUDITED], fades[SEL_AUDITED];
} sel_audit;

#endif
