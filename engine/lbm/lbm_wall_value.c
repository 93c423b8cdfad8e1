/* lbm_wall_value.c -- what a law fixes on a face itself: half-way walls, the wall's velocity.
 *
 * Velocity, pressure and outflow laws and "zou_he" walls hold at the first cell centres, so that
 * they fix nothing on the face; slip fixes no whole vector.
 */
#include <math.h>
#include "engine/lbm/lbm.h"

sel_status lbm_wall_value(const sel_plan *plan, int field, int region, const sel_places *at,
                          bool *known, double *out, sel_error *error) {
    const sel_variant *law = &plan->domain->regions[region - 1].law;
    const lbm_law_wall *wall = law->data;
    *known = law->table == &lbm_wall_table && wall->scheme == LBM_HALFWAY &&
             (field == LBM_VELOCITY || field == LBM_SPEED);
    if (!*known) {
        return SEL_OK;
    }
    for (size_t i = 0; i < at->n; i++) {
        const sel_places place = {1,     &at->x[i],   &at->y[i], at->z ? &at->z[i] : NULL,
                                  at->t, at->controls};
        double velocity[3] = {0, 0, 0};
        if (sel_quantity_given(&wall->velocity)) {
            sel_status status =
                sel_quantity_eval(&wall->velocity, "law.wall: velocity", &place, velocity, error);
            if (status != SEL_OK) {
                return status;
            }
        }
        if (field == LBM_SPEED) {
            out[i] = sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] +
                          velocity[2] * velocity[2]);
            continue;
        }
        for (int a = 0; a < plan->domain->grid.dims; a++) {
            out[(size_t)a * at->n + i] = velocity[a];
        }
    }
    return SEL_OK;
}
