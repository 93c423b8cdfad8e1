/* overpaint.c -- regions of which nothing is left: painted over by others, or behind solid cells.
 */
#include "engine/overpaint.h"

#include <stdio.h>
#include <stdlib.h>

void sel_overpaint_note(sel_overpaint *overpaint, bool cells, uint8_t region, const uint8_t *in,
                        int64_t n, const uint8_t *to) {
    int64_t over = 0;
    for (int64_t i = 0; i < n; i++) {
        over += in[i] && to[i] && to[i] != region;
    }
    /* Neighbours mostly had the same region: one count for all of a stretch. */
    for (int64_t i = 0, stretch; over > 0 && i < n; i += stretch) {
        const uint8_t before = to[i];
        int64_t count = 0;
        for (stretch = 0; i + stretch < n && to[i + stretch] == before; stretch++) {
            count += in[i + stretch];
        }
        if (before && before != region && count) {
#pragma omp atomic
            overpaint->taken[before][region] += count;
            if (cells) {
#pragma omp atomic
                overpaint->kept_cells[before] -= count;
            }
            over -= count;
        }
    }
}

/* Sites of each region by the region of the cell behind them; 0: a free cell. */
typedef struct sites_behind {
    int64_t sites[SEL_REGION_NUMBERS][SEL_REGION_NUMBERS];
} sites_behind;

static void count_behind(const sel_domain *domain, sites_behind *found) {
    for (int face = 0; face < SEL_FACES; face++) {
        const uint8_t *region = domain->face[face];
        for (int64_t s = 0; region && s < sel_face_sites(&domain->grid, face); s++) {
            int64_t at[3];
            sel_face_cell(&domain->grid, face, s, at);
            found->sites[region[s]][domain->cell[sel_cell_number(&domain->grid, at)]]++;
        }
    }
}

/* The region with the largest count, 0: none; *others are those with less. */
static int most_of(const int64_t count[SEL_REGION_NUMBERS], int *others) {
    int most = 0, found = 0;
    for (int k = 1; k < SEL_REGION_NUMBERS; k++) {
        found += count[k] > 0;
        most = count[k] > 0 && (!most || count[k] > count[most]) ? k : most;
    }
    *others = found > 1 ? found - 1 : 0;
    return most;
}

sel_status sel_overpaint_find(const sel_overpaint *overpaint, sel_domain *domain,
                              sel_error *error) {
    sites_behind *found = calloc(1, sizeof *found);
    sel_lost_region *lost = calloc((size_t)domain->region_count + 1, sizeof *lost);
    if (!found || !lost) {
        free(found);
        free(lost);
        return sel_fail_memory(error, "the regions", sizeof *found);
    }
    count_behind(domain, found);
    domain->lost = lost;
    for (int k = 1; k <= domain->region_count; k++) {
        const int64_t cells = overpaint->cells[k], sites = overpaint->sites[k];
        if (cells + sites > 0 && overpaint->kept_cells[k] == 0 && found->sites[k][0] == 0) {
            sel_lost_region *region = &lost[domain->lost_count++];
            *region = (sel_lost_region){.number = k, .cells = cells, .sites = sites};
            region->painted_over_by = most_of(overpaint->taken[k], &region->more_over);
            region->behind = most_of(found->sites[k], &region->more_behind);
        }
    }
    free(found);
    return SEL_OK;
}

/* "'walls' (channel.lua:12) and 1 more" */
static void name_taker(const sel_domain *domain, int number, int others, char *text, size_t size) {
    const sel_region *region = &domain->regions[number - 1];
    char name[32], place[512] = "", more[32] = "";
    if (region->at.file) {
        snprintf(place, sizeof place, " (%s:%d)", region->at.file, region->at.line);
    }
    if (others) {
        snprintf(more, sizeof more, " and %d more", others);
    }
    snprintf(text, size, "'%s'%s%s", sel_region_name(domain, number, name), place, more);
}

/* "49 cells and 12 sites" */
static void count_places(const sel_lost_region *lost, char *text, size_t size) {
    char cells[48] = "", sites[48] = "";
    if (lost->cells) {
        snprintf(cells, sizeof cells, "%lld cell%s", (long long)lost->cells,
                 lost->cells == 1 ? "" : "s");
    }
    if (lost->sites) {
        snprintf(sites, sizeof sites, "%lld site%s", (long long)lost->sites,
                 lost->sites == 1 ? "" : "s");
    }
    snprintf(text, size, "%s%s%s", cells, *cells && *sites ? " and " : "", sites);
}

/* "all 32 sites of 'inlet'", and whether that is one place. */
static bool name_places(const sel_domain *domain, const sel_lost_region *lost, char *text,
                        size_t size) {
    char name[32], places[112];
    bool one = lost->cells + lost->sites == 1;
    count_places(lost, places, sizeof places);
    snprintf(text, size, "%s %s of '%s'", one ? "the" : "all", places,
             sel_region_name(domain, lost->number, name));
    return one;
}

static const sel_lost_region *find_lost(const sel_domain *domain, int number) {
    for (int k = 0; k < domain->lost_count; k++) {
        if (domain->lost[k].number == number) {
            return &domain->lost[k];
        }
    }
    return NULL;
}

bool sel_domain_lost(const sel_domain *domain, int number, char text[SEL_LOST_TEXT]) {
    const sel_lost_region *lost = find_lost(domain, number);
    char places[256], over[640] = "", behind[640] = "";
    if (!lost) {
        return false;
    }
    bool one = name_places(domain, lost, places, sizeof places);
    if (lost->painted_over_by) {
        name_taker(domain, lost->painted_over_by, lost->more_over, over, sizeof over);
    }
    if (lost->behind) {
        name_taker(domain, lost->behind, lost->more_behind, behind, sizeof behind);
    }
    snprintf(text, SEL_LOST_TEXT, "%s %s%s%s%s%s", places,
             !*over ? ""
             : one  ? "is painted over by "
                    : "are painted over by ",
             over, *over && *behind ? " or " : "",
             !*behind ? ""
             : one    ? "lies behind the cells of "
                      : "lie behind the cells of ",
             behind);
    return true;
}

void sel_domain_warn(const sel_domain *domain, sel_error *warnings) {
    for (int k = 0; k < domain->lost_count; k++) {
        char text[SEL_LOST_TEXT];
        const int number = domain->lost[k].number;
        sel_domain_lost(domain, number, text);
        sel_fail_at(warnings, domain->regions[number - 1].at, "%s%s", text,
                    domain->lost[k].painted_over_by
                        ? "; regions are painted in order, the last one owns a place"
                        : "");
    }
}
