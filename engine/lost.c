/* lost.c -- regions of which nothing is left: painted over by others, or behind solid cells.
 *
 * The final map shows which regions own nothing that counts. Only where there are some are the
 * regions painted once more, on a map of their own, which shows the places that each had painted.
 */
#include <stdio.h>
#include <stdlib.h>
#include "engine/domain.h"

/* Places that a region had painted. */
typedef struct former_places {
    int64_t cells, sites;
    int64_t over[SEL_REGION_NUMBERS];   /* by the region that owns them now */
    int64_t behind[SEL_REGION_NUMBERS]; /* its own sites, by the region of the cell behind */
} former_places;

static int64_t cell_behind(const sel_grid *grid, int face, int64_t site) {
    int64_t at[3];
    sel_face_cell(grid, face, site, at);
    return sel_cell_number(grid, at);
}

/* Marks the regions that own a cell, or a site with a free cell behind it. */
static void find_owners(const sel_domain *domain, int threads, uint8_t owns[SEL_REGION_NUMBERS]) {
    const sel_grid *grid = &domain->grid;
    const int64_t cells = sel_grid_cells(grid);
#pragma omp parallel for schedule(static) num_threads(threads) \
    reduction(|                                                \
              : owns[:SEL_REGION_NUMBERS])
    for (int64_t i = 0; i < cells; i++) {
        owns[domain->cell[i]] = 1;
    }
    for (int face = 0; face < SEL_FACES; face++) {
        const uint8_t *region = domain->face[face];
        for (int64_t s = 0; region && s < sel_face_sites(grid, face); s++) {
            owns[region[s]] |= domain->cell[cell_behind(grid, face, s)] == 0;
        }
    }
}

/* `then`: the map when region `number` had just been painted. */
static void look_back(const sel_domain *then, const sel_domain *now, int number,
                      former_places *found) {
    const sel_grid *grid = &now->grid;
    *found = (former_places){.cells = 0};
    for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
        if (then->cell[i] == number) {
            found->cells++;
            found->over[now->cell[i]]++;
        }
    }
    for (int face = 0; face < SEL_FACES; face++) {
        for (int64_t s = 0; now->face[face] && s < sel_face_sites(grid, face); s++) {
            const int owner = now->face[face][s];
            if (then->face[face][s] != number) {
                continue;
            }
            found->sites++;
            if (owner == number) {
                found->behind[now->cell[cell_behind(grid, face, s)]]++;
            } else {
                found->over[owner]++;
            }
        }
    }
}

/* " are painted over by 'walls' (channel.lua:12) and 1 more", of the region with the largest count;
 * false: there is none. */
static bool name_most(const sel_domain *domain, const int64_t count[SEL_REGION_NUMBERS],
                      const char *verb, FILE *to) {
    int most = 0, others = -1;
    char name[32];
    for (int k = 1; k <= domain->region_count; k++) {
        others += count[k] > 0;
        most = count[k] > count[most] ? k : most;
    }
    if (!most) {
        return false;
    }
    const sel_where at = domain->regions[most - 1].at;
    fprintf(to, " %s '%s'", verb, sel_region_name(domain, most, name));
    if (at.file) {
        fprintf(to, " (%s:%d)", at.file, at.line);
    }
    if (others) {
        fprintf(to, " and %d more", others);
    }
    return true;
}

static sel_status describe(const sel_domain *domain, const former_places *found,
                           sel_lost_region *lost, sel_error *error) {
    const bool one = found->cells + found->sites == 1;
    size_t size;
    char name[32];
    FILE *to = open_memstream(&lost->text, &size);
    if (!to) {
        return sel_fail_memory(error, "the regions", 0);
    }
    fputs(one ? "the " : "all ", to);
    if (found->cells) {
        fprintf(to, "%lld cell%s", (long long)found->cells, found->cells == 1 ? "" : "s");
    }
    fputs(found->cells && found->sites ? " and " : "", to);
    if (found->sites) {
        fprintf(to, "%lld site%s", (long long)found->sites, found->sites == 1 ? "" : "s");
    }
    fprintf(to, " of '%s'", sel_region_name(domain, lost->number, name));
    lost->painted_over =
        name_most(domain, found->over, one ? "is painted over by" : "are painted over by", to);
    static const char *const lie[2][2] = {
        {"lie behind the cells of", "lies behind the cells of"},
        {"or lie behind the cells of", "or lies behind the cells of"}};
    name_most(domain, found->behind, lie[lost->painted_over][one], to);
    return fclose(to) == 0 ? SEL_OK : sel_fail_memory(error, "the regions", 0);
}

sel_status sel_domain_find_lost(sel_domain *domain, const struct sel_solver *solver, int threads,
                                sel_error *error) {
    uint8_t owns[SEL_REGION_NUMBERS] = {0};
    int last = domain->region_count;
    find_owners(domain, threads, owns);
    while (last > 0 && owns[last]) {
        last--;
    }
    if (last == 0) {
        return SEL_OK;
    }
    sel_domain then = {.grid = domain->grid,
                       .regions = domain->regions,
                       .region_count = domain->region_count,
                       .control_values = domain->control_values};
    former_places *found = malloc(sizeof *found);
    domain->lost = calloc((size_t)last, sizeof *domain->lost);
    sel_status status = sel_domain_allocate(&then, error);
    if (!status && (!found || !domain->lost)) {
        status = sel_fail_memory(error, "the regions", sizeof *found);
    }
    for (int k = 1; k <= last && !status; k++) {
        status = sel_domain_paint(&then, solver, k, threads, error);
        if (status || owns[k]) {
            continue;
        }
        look_back(&then, domain, k, found);
        if (found->cells + found->sites) {
            sel_lost_region *lost = &domain->lost[domain->lost_count++];
            lost->number = k;
            status = describe(domain, found, lost, error);
        }
    }
    sel_domain_free_maps(&then);
    free(found);
    return status;
}

const char *sel_domain_lost(const sel_domain *domain, int number) {
    for (int k = 0; k < domain->lost_count; k++) {
        if (domain->lost[k].number == number) {
            return domain->lost[k].text;
        }
    }
    return NULL;
}

void sel_domain_warn(const sel_domain *domain, sel_error *warnings) {
    for (int k = 0; k < domain->lost_count; k++) {
        const sel_lost_region *lost = &domain->lost[k];
        sel_fail_at(warnings, domain->regions[lost->number - 1].at, "%s%s", lost->text,
                    lost->painted_over ? "; regions are painted in order, the last one owns a place"
                                       : "");
    }
}
