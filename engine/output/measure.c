/* measure.c -- force on the regions of a name, and what flows through them. */
#include "engine/output/measure.h"

#include <stdlib.h>
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

sel_status sel_measure_check(const sel_output_site *site, const char *region) {
    enum { MOST = 255 };
    const sel_domain *domain = site->domain;
    const char *names[MOST + 1] = {NULL};
    const char *lost = NULL;
    char texts[MOST][32], near[SEL_SUGGESTION_ROOM];
    const int first = next_region(domain, region, 0);
    for (int k = first; k; k = next_region(domain, region, k)) {
        lost = sel_domain_lost(domain, k);
        if (!lost) {
            return SEL_OK;
        }
    }
    if (first) {
        return sel_output_refuse(site, "nothing to measure: %s", lost);
    }
    for (int k = 0; k < domain->region_count && k < MOST; k++) {
        names[k] = sel_region_name(domain, k + 1, texts[k]);
    }
    return sel_output_refuse(site, "no region is called '%s'%s", region,
                             sel_suggestion(region, names, near));
}

sel_status sel_measure_ask(const sel_output_context *context, sel_request_kind kind,
                           const char *region, const sel_point *centre, sel_requests *requests,
                           sel_error *error) {
    sel_status status = SEL_OK;
    for (int k = 0; !status && (k = next_region(context->domain, region, k));) {
        sel_request request = {
            .kind = kind, .region = k, .centre = {centre->v[0], centre->v[1], centre->v[2]}};
        status = sel_requests_add(requests, &request, error);
    }
    return status;
}

void sel_measure_sum_force(const sel_requests *answers, double force[3], double torque[3]) {
    for (int a = 0; a < 3; a++) {
        force[a] = torque[a] = 0;
        for (int i = 0; i < answers->count; i++) {
            force[a] += answers->v[i].force[a];
            torque[a] += answers->v[i].torque[a];
        }
    }
}

double sel_measure_sum_flux(const sel_requests *answers) {
    double flux = 0;
    for (int i = 0; i < answers->count; i++) {
        flux += answers->v[i].flux;
    }
    return flux;
}

sel_status sel_measure_force(const sel_output_context *context, const char *region,
                             const sel_point *centre, double force[3], double torque[3],
                             sel_error *error) {
    sel_requests requests = {.v = NULL};
    sel_status status = sel_measure_ask(context, SEL_FORCE, region, centre, &requests, error);
    status = status ? status : sel_output_requests(context, &requests, error);
    sel_measure_sum_force(&requests, force, torque);
    free(requests.v);
    return status;
}
