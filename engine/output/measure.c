/* measure.c -- force on the regions of a name, and what flows through them. */
#include "engine/output/measure.h"

#include <string.h>

/* The next region after number `before` that is called `name`; 0: none. */
static int next_region(const sel_domain *domain, const char *name, int before) {
    char text[32];
    for (int k = before + 1; k <= domain->region_count; k++) {
        if (strcmp(sel_region_name(domain, k, text), name) == 0) {
            return k;
        }
    }
    return 0;
}

sel_status sel_measure_check(const sel_output_site *site, const char *region, sel_error *error) {
    enum { MOST = 255 };
    const sel_domain *domain = site->domain;
    const char *names[MOST + 1] = {NULL};
    char texts[MOST][32];
    if (next_region(domain, region, 0)) {
        return SEL_OK;
    }
    for (int k = 0; k < domain->region_count && k < MOST; k++) {
        names[k] = sel_region_name(domain, k + 1, texts[k]);
    }
    const char *near = sel_nearest(region, names);
    return sel_fail_at(error, site->where, "%s: no region is called '%s'%s%s%s", site->table->name,
                       region, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

sel_status sel_measure_force(const sel_output_context *context, const char *region,
                             const sel_point *centre, double force[3], double torque[3],
                             sel_error *error) {
    sel_status status = SEL_OK;
    memset(force, 0, 3 * sizeof *force);
    memset(torque, 0, 3 * sizeof *torque);
    for (int k = 0; !status && (k = next_region(context->domain, region, k));) {
        sel_request request = {
            .kind = SEL_FORCE, .region = k, .centre = {centre->v[0], centre->v[1], centre->v[2]}};
        status = sel_output_request(context, &request, error);
        for (int a = 0; a < 3; a++) {
            force[a] += request.force[a];
            torque[a] += request.torque[a];
        }
    }
    return status;
}

sel_status sel_measure_flux(const sel_output_context *context, const char *region, double *flux,
                            sel_error *error) {
    sel_status status = SEL_OK;
    *flux = 0;
    for (int k = 0; !status && (k = next_region(context->domain, region, k));) {
        sel_request request = {.kind = SEL_FLUX, .region = k};
        status = sel_output_request(context, &request, error);
        *flux += request.flux;
    }
    return status;
}
