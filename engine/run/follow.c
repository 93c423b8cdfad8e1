/* follow.c -- compare what ranks have read; follow rank 0. */
#include "engine/run/follow.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/machine/team.h"

unsigned long sel_digest_of(const void *bytes, size_t count) {
    return bytes ? crc32_z(0, bytes, count) : 0;
}

sel_status sel_digests_compare(const sel_ranks *ranks, const sel_digest *digests, int count,
                               sel_error *error) {
    unsigned long own[SEL_MOST_DIGESTS] = {0}, all[SEL_MOST_RANKS][SEL_MOST_DIGESTS];
    for (int k = 0; k < count; k++) {
        own[k] = digests[k].crc;
    }
    ranks->gather(own, sizeof own, all);
    for (int k = 0; k < count; k++) {
        for (int r = 1; r < ranks->count; r++) {
            if (all[r][k] != all[0][k]) {
                return sel_fail(error, SEL_BAD_SCENARIO,
                                "rank %d has read other %s than rank 0: all ranks need the same "
                                "files, and a script that takes nothing from the clock, the "
                                "environment or random numbers without a seed",
                                r, digests[k].what);
            }
        }
    }
    return SEL_OK;
}

sel_status sel_prepared_compare(const sel_ranks *ranks, const sel_prepared *prepared,
                                sel_error *error) {
    const sel_domain *domain = prepared->domain;
    const sel_grid *grid = &domain->grid;
    unsigned long regions = sel_digest_of(domain->cell, (size_t)sel_grid_cells(grid)), numbers = 0;
    char *text = NULL;
    size_t length = 0;
    if (ranks->count == 1) {
        return SEL_OK;
    }
    for (int face = 0; face < SEL_FACES; face++) {
        if (domain->face[face]) {
            regions = crc32_z(regions, domain->face[face], (size_t)sel_face_sites(grid, face));
        }
    }
    FILE *to = open_memstream(&text, &length);
    if (to) {
        sel_facts facts = {.count = 0};
        prepared->simulation->solver->json(prepared->plan, to);
        prepared->simulation->solver->facts(prepared->plan, &facts);
        for (int k = 0; k < facts.count; k++) {
            fprintf(to, "%s %s %.17g %.17g\n", facts.v[k].name, facts.v[k].text, facts.v[k].user,
                    facts.v[k].lattice);
        }
        fprintf(to, "%d %.17g %.17g %.17g %s", prepared->plan->precision, grid->dt, grid->dx[0],
                grid->origin[0], prepared->backend->name);
        fclose(to);
        numbers = sel_digest_of(text, length);
        free(text);
    }
    const sel_digest digests[] = {{"regions", regions}, {"numbers", numbers}};
    return sel_digests_compare(ranks, digests, 2, error);
}

void sel_follow(const sel_scenario *scenario, const sel_settings *settings) {
    sel_order order;
    for (sel_order_give(settings->ranks, &order); order.kind == SEL_ORDER_SET_UP;
         sel_order_give(settings->ranks, &order)) {
        sel_prepared prepared;
        sel_state *state;
        sel_error error = {.status = SEL_OK}; /* rank 0 reports it */
        if (!sel_set_up(&scenario->simulations[order.simulation], settings, &prepared, &state,
                        &error)) {
            sel_team_follow(state, prepared.backend);
        }
        sel_prepared_release(&prepared);
    }
}

void sel_follow_end(const sel_ranks *ranks) {
    sel_order order = {.kind = SEL_ORDER_END};
    sel_order_give(ranks, &order);
}
