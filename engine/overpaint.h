/* overpaint.h -- regions of which nothing is left: painted over by others, or behind solid cells.
 */
#ifndef SEL_OVERPAINT_H
#define SEL_OVERPAINT_H

#include "engine/domain.h"

/* What regions painted and lost, while a domain is painted. By region number. */
typedef struct sel_overpaint {
    int64_t cells[SEL_REGION_NUMBERS], sites[SEL_REGION_NUMBERS]; /* painted */
    int64_t kept_cells[SEL_REGION_NUMBERS];
    /* taken[before][by]: places of `before` that `by` painted over */
    int64_t taken[SEL_REGION_NUMBERS][SEL_REGION_NUMBERS];
} sel_overpaint;

/* Region `region` is about to paint the places of `to[n]` where in[n] is 1: cells, or sites. May be
 * called by several threads at once. */
void sel_overpaint_note(sel_overpaint *overpaint, bool cells, uint8_t region, const uint8_t *in,
                        int64_t n, const uint8_t *to);

/* Lists in domain->lost the regions that painted something and have no cell, and no site with a
 * free cell behind it, left. */
sel_status sel_overpaint_find(const sel_overpaint *overpaint, sel_domain *domain, sel_error *error);

#endif
