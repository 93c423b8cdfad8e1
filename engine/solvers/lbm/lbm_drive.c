/* lbm_drive.c -- the acceleration of a flow whose mean is held: that of the scenario, and along the
 * axis of the drive the last control, which the run sets (engine/run/run_drive.c).
 */
#include <math.h>
#include <string.h>
#include "engine/solvers/lbm/lbm.h"

const sel_drive *lbm_drive(const sel_common *params) {
    const sel_drive *drive = &((const lbm_params *)params)->drive;
    const bool given = !isnan(drive->velocity) || !isnan(drive->flow);
    return given && drive->every != 0 ? drive : NULL;
}

/* sel_function.eval */
static sel_status drive_eval(const sel_function *self, const sel_places *at, double *out,
                             sel_error *error) {
    const sel_domain *domain = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = at->controls[domain->control_count - 1];
    }
    return SEL_OK;
}

static sel_status drive_check_axis(const lbm_plan *plan, const sel_drive *drive, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const char *axis = sel_axis_names[drive->axis];
    const sel_where where = sel_simulation_where(plan->base.simulation, "drive");
    if (drive->axis >= grid->dims) {
        return sel_fail_at(error, where, "drive names axis z in a domain of 2 dimensions");
    }
    if (!sel_axis_periodic(grid, drive->axis)) {
        return sel_fail_at(error, where,
                           "drive: axis %s is not periodic; add periodic = { \"%s\" }, or drive "
                           "the flow by laws of its faces",
                           axis, axis);
    }
    return SEL_OK;
}

/* Refuses an acceleration along the axis. */
static sel_status check_single(const lbm_plan *plan, const sel_drive *drive, sel_error *error) {
    const sel_quantity *given = &plan->params->acceleration;
    const bool along =
        given->whole || given->part[drive->axis].function || given->part[drive->axis].constant != 0;
    return sel_quantity_given(given) && along
               ? sel_fail_at(error, sel_simulation_where(plan->base.simulation, "acceleration"),
                             "drive finds the acceleration along %s; %s",
                             sel_axis_names[drive->axis],
                             given->whole ? "give acceleration by components, 0 along this axis"
                                          : "set this component of acceleration to 0")
               : SEL_OK;
}

sel_status lbm_resolve_drive(lbm_plan *plan, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_drive *drive = lbm_drive(&plan->params->common);
    plan->acceleration = plan->params->acceleration;
    if (!drive) {
        return SEL_OK;
    }
    sel_status status = drive_check_axis(plan, drive, error);
    status = status ? status : check_single(plan, drive, error);
    if (status) {
        return status;
    }
    plan->driven = (sel_function){.depends = SEL_ON_CONTROLS,
                                  .results = 1,
                                  .where = sel_simulation_where(plan->base.simulation, "drive"),
                                  .eval = drive_eval,
                                  .data = (void *)(uintptr_t)domain};
    plan->acceleration.components = domain->grid.dims;
    plan->acceleration.part[drive->axis].function = &plan->driven;
    return SEL_OK;
}
