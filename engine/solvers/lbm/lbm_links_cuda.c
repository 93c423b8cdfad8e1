/* lbm_links_cuda.c -- what the links of several ranks carry, added up by rank 0.
 *
 * A sum of floating-point numbers depends on their order. The kernels of one rank (lbm_fields.cu)
 * go over its links in an order of blocks and warps; here the links of all ranks, gathered in the
 * order of the grid, are added up in the same order.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_state_cuda.h"

enum { NUMBERS = sizeof(lbm_carried) / sizeof(double) };

/* What the links of the grid carry: [2][links], with forces [3][links], as in lbm_state.links. NULL
 * but on rank 0; from malloc. */
static void *gather_links(const lbm_state *state, sel_status *status, sel_error *error) {
    const sel_sites *sites = &state->sites;
    const sel_ranks *ranks = state->base.ranks;
    const size_t real = (size_t)lbm_real(&state->plan->base);
    const size_t lists = state->plan->base.wants_forces ? 3 : 2;
    const size_t own = (size_t)sites->count * real;
    const size_t all = ranks->rank == 0 ? (size_t)sites->all * real : 0;
    char *host = sel_ranks_memory(ranks, lists * own);
    char *gathered = ranks->rank == 0 ? sel_ranks_memory(ranks, lists * all) : NULL;
    *status = cuda_send(host, state->links, lists * own, error);
    for (size_t k = 0; k < lists; k++) {
        sel_sites_gather(sites, host + k * own, real, gathered ? gathered + k * all : NULL);
    }
    free(host);
    return gathered;
}

static void links_join(lbm_carried *a, const lbm_carried *b) {
    double *to = (double *)(void *)a;
    const double *from = (const double *)(const void *)b;
    for (int k = 0; k < NUMBERS; k++) {
        to[k] += from[k];
    }
}

/* join_lanes of cuda/wide.cuh, for the first lane. */
static lbm_carried join_lanes(lbm_carried lanes[CUDA_WARP]) {
    for (int distance = 1; distance < CUDA_WARP; distance *= 2) {
        for (int lane = 0; lane < CUDA_WARP; lane += 2 * distance) {
            links_join(&lanes[lane], &lanes[lane + distance]);
        }
    }
    return lanes[0];
}

static void add_links(const lbm_state *state, const void *links, const lbm_boundary_cell *cell,
                      int region, const double centre[3], lbm_carried *sum) {
    const lbm_plan *plan = state->plan;
    const lbm_boundary *boundary = &plan->boundary;
    const int64_t count = boundary->links.all, ny = plan->base.domain->grid.n[1];
    const double at[3] = {(double)cell->x, (double)(cell->row % ny), (double)(cell->row / ny)};
    int64_t link = cell->first_link;
    for (int i = 1; i < boundary->lattice->q; i++) {
        if (!(cell->links >> i & 1u)) {
            continue;
        }
        if (boundary->link_region[link] == region) {
            const double out = lbm_get(plan, links, link), in = lbm_get(plan, links, count + link);
            const double before =
                state->links_follow ? lbm_get(plan, links, 2 * count + link) : out + in;
            lbm_carry(sum, boundary->lattice->direction[i].e, out, in, before, at, centre);
        }
        link++;
    }
}

/* links_kernel: the sum of a block. */
static lbm_carried sum_block(const lbm_state *state, const void *links, int region,
                             const double centre[3], int64_t block) {
    enum { THREADS = LBM_GPU_LINK_THREADS };
    const lbm_boundary *boundary = &state->plan->boundary;
    const int64_t count = boundary->cell_count;
    const int64_t share = (count + LBM_GPU_LINK_BLOCKS - 1) / LBM_GPU_LINK_BLOCKS;
    const int64_t first = block * share, last = first + share < count ? first + share : count;
    lbm_carried threads[THREADS], sum;
    memset(threads, 0, sizeof threads);
    for (int64_t c = first; c < last; c++) {
        add_links(state, links, &boundary->cells[c], region, centre,
                  &threads[(c - first) % THREADS]);
    }
    sum = join_lanes(threads);
    for (int warp = 1; warp < THREADS / CUDA_WARP; warp++) {
        const lbm_carried more = join_lanes(threads + warp * CUDA_WARP);
        links_join(&sum, &more);
    }
    return sum;
}

/* join_block of cuda/query.cuh. */
static lbm_carried sum_blocks(lbm_carried blocks[CUDA_JOINED]) {
    lbm_carried warps[CUDA_WARP];
    for (int warp = 0; warp < CUDA_WARP; warp++) {
        warps[warp] = join_lanes(blocks + warp * CUDA_WARP);
    }
    return join_lanes(warps);
}
_Static_assert((int)CUDA_JOINED == CUDA_WARP * CUDA_WARP, "a block joins a warp of warps");
_Static_assert((int)LBM_GPU_LINK_BLOCKS <= (int)CUDA_JOINED, "one block joins all");

sel_status lbm_links_sum(const lbm_state *state, int region, const double centre[3],
                         lbm_carried *carried, sel_error *error) {
    sel_status status;
    void *links = gather_links(state, &status, error);
    memset(carried, 0, sizeof *carried);
    if (links) {
        lbm_carried blocks[CUDA_JOINED];
        memset(blocks, 0, sizeof blocks);
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
        for (int block = 0; block < LBM_GPU_LINK_BLOCKS; block++) {
            blocks[block] = sum_block(state, links, region, centre, block);
        }
        *carried = sum_blocks(blocks);
    }
    free(links);
    return status;
}

/* flows_kernel: each of CUDA_JOINED threads adds up the flows of some links by region. */
static void sum_gathered_flows(const lbm_state *state, const double *flow, int regions,
                               double *sums, double *rate) {
    const lbm_boundary *boundary = &state->plan->boundary;
    for (int64_t link = 0; link < boundary->links.all; link++) {
        sums[boundary->link_region[link] * CUDA_JOINED + link % CUDA_JOINED] += flow[link];
    }
    for (int r = 1; r <= regions; r++) {
        double *room = sums + r * CUDA_JOINED;
        for (int width = CUDA_JOINED / 2; width > 0; width /= 2) {
            for (int k = 0; k < width; k++) {
                room[k] += room[k + width];
            }
        }
        rate[r] = room[0];
    }
}

sel_status lbm_flows_sum(lbm_state *state, double *rate, sel_error *error) {
    const sel_sites *sites = &state->sites;
    const sel_ranks *ranks = state->base.ranks;
    const int regions = state->plan->base.domain->region_count;
    const size_t own = (size_t)sites->count * sizeof *state->link_flow;
    const size_t numbers = ((size_t)regions + 1) * CUDA_JOINED;
    const bool leads = ranks->rank == 0;
    double *host = sel_ranks_memory(ranks, own), *all = NULL;
    sel_status status = cuda_send(host, state->link_flow, own, error);
    if (leads) {
        all = sel_ranks_memory(ranks, ((size_t)sites->all + numbers) * sizeof *all);
    }
    sel_sites_gather(sites, host, sizeof *host, all);
    memset(rate, 0, ((size_t)regions + 1) * sizeof *rate);
    if (leads) {
        double *sums = all + sites->all;
        memset(sums, 0, numbers * sizeof *sums);
        sum_gathered_flows(state, all, regions, sums, rate);
    }
    ranks->broadcast(rate, ((size_t)regions + 1) * sizeof *rate, false);
    memset(host, 0, own);
    status = status ? status : cuda_send(state->link_flow, host, own, error);
    free(all);
    free(host);
    return status;
}
