/* sites.c -- number the sites of patches; gather and scatter what is known of them. */
#include "engine/core/sites.h"

#include <stdlib.h>
#include <string.h>

static int64_t sites_all_rows(const sel_sites *sites) {
    return sites->grid->n[1] * sites->grid->n[2];
}

static bool sites_divided(const sel_sites *sites) {
    return sites->ranks && sites->ranks->count > 1;
}

bool sel_sites_create(sel_sites *sites, const sel_grid *grid, const sel_ranks *ranks,
                      const sel_decomposition *decomposition) {
    *sites = (sel_sites){.grid = grid, .ranks = ranks, .decomposition = decomposition};
    if (sites_divided(sites) && ranks->rank > 0) {
        return true;
    }
    sites->before = calloc((size_t)sites_all_rows(sites) + 1, sizeof *sites->before);
    return sites->before != NULL;
}

void sel_sites_free(sel_sites *sites) {
    free(sites->before);
    sites->before = NULL;
}

sel_rows sel_sites_rows(const sel_sites *sites, int rank) {
    const int64_t *n = sites->grid->n;
    const sel_patch patch = sites_divided(sites) ? sel_patch_of(sites->decomposition, rank)
                                                 : (sel_patch){.hi = {n[0], n[1], n[2]}};
    return sel_patch_rows(sites->grid, &patch);
}

int64_t sel_sites_in(const sel_sites *sites, const sel_patch *patch) {
    const sel_rows rows = sel_patch_rows(sites->grid, patch);
    int64_t count = 0;
    for (int64_t k = 0; k < rows.count; k++) {
        const int64_t row = sel_row_of(&rows, k);
        count += sites->before[row + 1] - sites->before[row];
    }
    return count;
}

sel_sites sel_sites_divide(const sel_sites *all, const sel_ranks *ranks,
                           const sel_decomposition *decomposition) {
    sel_sites sites = *all;
    sites.ranks = ranks;
    sites.decomposition = decomposition;
    if (sites_divided(&sites)) {
        const sel_patch patch = sel_patch_of(decomposition, ranks->rank);
        sites.count = sel_sites_in(all, &patch);
    }
    return sites;
}

/* Rank 0 receives what each rank has of its rows: first its own, then that of rank 1, and so on;
 * or (sends) gives it. counts[r] elements of `size` bytes belong to rank r. */
static void sites_transfer(const sel_ranks *ranks, bool sends, const int64_t *counts, size_t size,
                           char *sorted) {
    sel_message messages[SEL_MOST_RANKS];
    for (int r = 1; r < ranks->count; r++) {
        sorted += (size_t)counts[r - 1] * size;
        messages[r - 1] = (sel_message){r, 0, sends, sorted, (size_t)counts[r] * size};
    }
    ranks->transfer(messages, ranks->count - 1);
}

static void sites_transfer_own(const sel_ranks *ranks, bool sends, void *own, size_t bytes) {
    ranks->transfer(&(sel_message){0, 0, sends, own, bytes}, 1);
}

void sel_sites_number(sel_sites *sites, const int64_t *counts) {
    const sel_ranks *ranks = sites->ranks;
    const bool divided = sites_divided(sites);
    const sel_rows own = sel_sites_rows(sites, divided ? ranks->rank : 0);
    const size_t size = sizeof *counts, bytes = (size_t)own.count * size;
    sites->count = 0;
    for (int64_t k = 0; k < own.count; k++) {
        sites->count += counts[k];
    }
    sites->all = divided ? sel_ranks_total(ranks, sites->count) : sites->count;
    if (divided && ranks->rank > 0) {
        sites_transfer_own(ranks, true, (void *)(uintptr_t)counts, bytes);
        return;
    }
    const int savers = divided ? ranks->count : 1;
    const int64_t rows = sites_all_rows(sites), *from = counts;
    int64_t *sorted = divided ? sel_ranks_memory(ranks, (size_t)rows * size) : NULL;
    if (divided) {
        int64_t of_rank[SEL_MOST_RANKS];
        for (int r = 0; r < savers; r++) {
            of_rank[r] = sel_sites_rows(sites, r).count;
        }
        memcpy(sorted, counts, bytes);
        sites_transfer(ranks, false, of_rank, size, (char *)sorted);
        from = sorted;
    }
    for (int r = 0; r < savers; r++) {
        const sel_rows its = sel_sites_rows(sites, r);
        for (int64_t k = 0; k < its.count; k++) {
            sites->before[sel_row_of(&its, k) + 1] = *from++;
        }
    }
    for (int64_t row = 0; row < rows; row++) {
        sites->before[row + 1] += sites->before[row];
    }
    free(sorted);
}

/* Copies between numbers in the order of the grid and the same in the order of ranks, each in its
 * order; on rank 0. */
static void sites_sort(const sel_sites *sites, bool gathers, size_t size, char *all, char *sorted) {
    for (int r = 0; r < sites->ranks->count; r++) {
        const sel_rows its = sel_sites_rows(sites, r);
        for (int64_t k = 0; k < its.count; k++) {
            const int64_t row = sel_row_of(&its, k), first = sites->before[row];
            const size_t bytes = (size_t)(sites->before[row + 1] - first) * size;
            char *at = all + (size_t)first * size;
            memcpy(gathers ? at : sorted, gathers ? sorted : at, bytes);
            sorted += bytes;
        }
    }
}

static void sites_move(const sel_sites *sites, bool gathers, char *own, size_t size, char *all) {
    const sel_ranks *ranks = sites->ranks;
    const size_t bytes = (size_t)sites->count * size;
    if (!sites_divided(sites)) {
        if (bytes && own != all) {
            memcpy(gathers ? all : own, gathers ? own : all, bytes);
        }
        return;
    }
    if (ranks->rank > 0) {
        sites_transfer_own(ranks, gathers, own, bytes);
        return;
    }
    int64_t counts[SEL_MOST_RANKS];
    for (int r = 0; r < ranks->count; r++) {
        const sel_patch patch = sel_patch_of(sites->decomposition, r);
        counts[r] = sel_sites_in(sites, &patch);
    }
    char *sorted = sel_ranks_memory(ranks, (size_t)sites->all * size);
    if (!gathers) {
        sites_sort(sites, false, size, all, sorted);
    }
    if (bytes) {
        memcpy(gathers ? sorted : own, gathers ? own : sorted, bytes);
    }
    sites_transfer(ranks, !gathers, counts, size, sorted);
    if (gathers) {
        sites_sort(sites, true, size, all, sorted);
    }
    free(sorted);
}

void sel_sites_gather(const sel_sites *sites, const void *own, size_t size, void *all) {
    sites_move(sites, true, (void *)(uintptr_t)own, size, all);
}

void sel_sites_scatter(const sel_sites *sites, const void *all, size_t size, void *own) {
    sites_move(sites, false, own, size, (void *)(uintptr_t)all);
}
