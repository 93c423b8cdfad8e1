/* mg_ranks.c -- the levels of a multigrid that ranks share: which planes each has, and what they
 * send to each other. */
#include "engine/machine/comm.h"
#include "engine/multigrid/multigrid.h"

static int64_t cells_of(const mg_level *v) {
    return v->n[0] * v->n[1] * v->n[2];
}

void mg_divide(mg *m, const sel_arrays *arrays, bool device) {
    const int64_t alone = device ? MG_ALONE_ON_DEVICE : MG_ALONE;
    const int slow = m->box.dims - 1;
    const bool divides = arrays->ranks && !arrays->all_know;
    int64_t *first = m->first_plane, fewest = divides ? MG_HALO : 0;
    m->ranks = divides ? arrays->ranks : &sel_one_rank;
    const int rank = m->ranks->rank, all = m->ranks->count;
    for (int r = 0; r <= all && divides; r++) {
        first[r] = arrays->cut->plane[r];
    }
    for (int l = 0; l < m->count; l++) {
        mg_level *v = &m->level[l];
        v->own[1] = v->n[slow];
        if (fewest < MG_HALO) {
            continue;
        }
        const bool wraps = m->box.periodic >> slow & 1u;
        v->own[0] = first[rank];
        v->own[1] = first[rank + 1];
        for (int r = 0; r < all; r++) {
            fewest = first[r + 1] - first[r] < fewest ? first[r + 1] - first[r] : fewest;
        }
        const bool meet = device && wraps && v->n[slow] % 2;
        v->divided = fewest >= MG_HALO && (l == 0 || cells_of(v) > alone) && !meet;
        v->beside[0] = v->divided && (wraps || rank > 0);
        v->beside[1] = v->divided && (wraps || rank + 1 < all);
        fewest = v->divided ? fewest : 0;
        for (int r = 1; r <= all && v->divided; r++) { /* a plane's correction is its half's */
            const int64_t half = v->half[slow] ? (first[r] + 1) / 2 : first[r];
            first[r] = r == all || half > v[1].n[slow] ? v[1].n[slow] : half;
        }
    }
}

void mg_ends_of_ranks(const mg *m, int64_t plane_bytes, size_t *end) {
    for (int r = 0; r < m->ranks->count; r++) {
        end[r] = (size_t)(m->first_plane[r + 1] * plane_bytes);
    }
}

void mg_spread(const mg *m, int l, void *array, int size, int planes) {
    const mg_level *v = &m->level[l];
    const int slow = m->box.dims - 1;
    const int64_t bytes = v->stride[slow] * size;
    char *at = (char *)array - v->lead * size;
    size_t end[SEL_MOST_RANKS];
    if (v->divided) {
        sel_exchange_planes(m->ranks, m->box.periodic >> slow & 1u, v->own, planes, at,
                            (size_t)bytes);
    } else if (l > 0 && v[-1].divided) {
        mg_ends_of_ranks(m, bytes, end);
        sel_ranks_share(m->ranks, at, end);
    }
}

uint64_t mg_halo_bytes(const mg *m, bool cycle) {
    const int slow = m->box.dims - 1, planes = cycle ? 2 * MG_HALO : 2;
    uint64_t bytes = 0;
    for (int l = 0; l < (cycle ? m->count : 1); l++) {
        const mg_level *v = &m->level[l];
        bytes += v->divided ? (uint64_t)(4 * planes * v->stride[slow]) : 0;
    }
    return bytes * (m->box.single ? 4 : 8);
}
