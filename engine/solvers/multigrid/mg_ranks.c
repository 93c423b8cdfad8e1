/* mg_ranks.c -- the levels of a multigrid that ranks share: which cells each has, and what they
 * send to each other. */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/multigrid/multigrid.h"

static int64_t mg_ranks_cells_of(const mg_level *v) {
    return v->n[0] * v->n[1] * v->n[2];
}

/* Whether each rank has as many planes of a level as another one needs of it. */
static bool suffices(mg *m, const mg_level *v, bool device) {
    bool enough = true;
    for (int a = 1; a < m->box.dims; a++) {
        const bool fits = sel_fewest_cells(&m->decomposition, a) >= MG_HALO;
        enough = enough && (m->decomposition.ranks[a] == 1 || fits);
    }
    return enough && !(device && mg_meets(m, v));
}

/* A plane's correction is its half's. */
static void halve_parts(mg *m, const mg_level *v) {
    for (int a = 1; a < m->box.dims; a++) {
        int64_t *first = m->decomposition.first[a];
        const int count = m->decomposition.ranks[a];
        for (int r = 1; r <= count; r++) {
            const int64_t half = v->half[a] ? (first[r] + 1) / 2 : first[r];
            first[r] = r == count || half > v[1].n[a] ? v[1].n[a] : half;
        }
    }
}

/* Gives a level the patch of this rank. */
static void divide_level(const mg *m, mg_level *v) {
    const sel_decomposition *d = &m->decomposition;
    const sel_patch own = sel_patch_of(d, m->ranks->rank);
    for (int a = 1; a < m->box.dims; a++) {
        const sel_neighbours beside = sel_neighbours_of(d, m->ranks->rank, a);
        const int sides = (beside.is[0] ? MG_BELOW : 0) | (beside.is[1] ? MG_ABOVE : 0);
        v->own.lo[a] = own.lo[a];
        v->own.hi[a] = own.hi[a];
        v->sides[a] = d->ranks[a] > 1 ? (uint8_t)sides : 0;
    }
}

void mg_divide(mg *m, const sel_arrays *arrays, bool device) {
    const int64_t alone = device ? MG_ALONE_ON_DEVICE : MG_ALONE;
    bool divides = arrays->ranks && !arrays->replicated;
    m->ranks = divides ? arrays->ranks : &sel_one_rank;
    if (divides) {
        m->decomposition = *arrays->decomposition;
    }
    for (int l = 0; l < m->count; l++) {
        mg_level *v = &m->level[l];
        v->own = mg_patch(v, 0); /* all, while it is not divided */
        if (!divides) {
            continue;
        }
        divide_level(m, v);
        v->divided = divides = suffices(m, v, device) && (l == 0 || mg_ranks_cells_of(v) > alone);
        memset(v->sides, 0, divides ? 0 : sizeof v->sides);
        if (divides) {
            halve_parts(m, v);
        }
    }
}

mg_part mg_part_of(const mg *m, const mg_level *v, int rank, void *array, int size) {
    const sel_patch own = sel_patch_of(&m->decomposition, rank);
    const int64_t row = v->stride[1] * size, plane = v->stride[2] * size;
    return (mg_part){.at = (char *)array + own.lo[1] * row + own.lo[2] * plane - MG_ALIGNED * size,
                     .width = (size_t)(sel_patch_cells(&own, 1) * row),
                     .apart = (size_t)plane,
                     .planes = sel_patch_cells(&own, 2)};
}

void mg_ends_of_ranks(const mg *m, const mg_level *v, int size, size_t *end) {
    const int slow = m->decomposition.slow;
    for (int r = 0; r < m->ranks->count; r++) {
        const mg_part part = mg_part_of(m, v, r, m->e, size); /* of any array */
        end[r] = sel_divides_planes(&m->decomposition)
                     ? (r > 0 ? end[r - 1] : 0) + (size_t)part.planes * part.width
                     : (size_t)(m->decomposition.first[slow][r + 1] * v->stride[slow] * size);
    }
}

/* Through a copy in which the boxes of ranks stand one behind the other. */
static void mg_ranks_share_boxes(const mg *m, const mg_level *v, void *array, int size,
                                 const size_t *end) {
    char *copy = sel_ranks_memory(m->ranks, end[m->ranks->count - 1]);
    const int own = m->ranks->rank;
    for (int k = 0; k <= m->ranks->count; k++) { /* its own first */
        const int rank = k > 0 ? k - 1 : own;
        const mg_part part = mg_part_of(m, v, rank, array, size);
        char *packed = copy + (rank > 0 ? end[rank - 1] : 0);
        for (int64_t p = 0; p < part.planes; p++, packed += part.width) {
            char *at = (char *)part.at + (size_t)p * part.apart;
            memcpy(k > 0 ? at : packed, k > 0 ? packed : at, part.width);
        }
        if (k == 0) {
            sel_ranks_share(m->ranks, copy, end);
        }
    }
    free(copy);
}

sel_halo mg_level_halo(const mg *m, const mg_level *v, int axis, void *array, int size, int depth) {
    const int slow = m->box.dims - 1;
    sel_field field = {
        .type = {'f', (uint32_t)size},
        .layout = {.slow = slow, .components = 1, .pitch = v->stride[1], .slice = v->stride[2]},
        .halo = MG_HALO,
        .lead = {0, MG_ALIGNED, 0}};
    field.lead[slow] = v->lead;
    sel_halo halo;
    sel_list_halos(&field, &v->own, array, axis, depth, SEL_FETCH, &halo);
    return halo;
}

void mg_spread(const mg *m, int l, void *array, int size, int planes) {
    const mg_level *v = &m->level[l];
    const int slow = m->box.dims - 1;
    size_t end[SEL_MOST_RANKS];
    for (int a = 1; a <= slow; a++) {
        if (v->sides[a]) {
            const sel_halo halo = mg_level_halo(m, v, a, array, size, planes);
            const sel_neighbours beside = sel_neighbours_of(&m->decomposition, m->ranks->rank, a);
            const size_t bytes = 4 * (size_t)halo.pieces * halo.bytes;
            char *room = halo.pieces ? sel_ranks_memory(m->ranks, bytes) : NULL;
            sel_exchange_halos(m->ranks, &beside, &halo, 1, room);
            free(room);
        }
    }
    if (l > 0 && v[-1].divided && !v->divided) {
        mg_ends_of_ranks(m, v, size, end);
        if (sel_divides_planes(&m->decomposition)) {
            mg_ranks_share_boxes(m, v, array, size, end);
        } else {
            sel_ranks_share(m->ranks, (char *)array - v->lead * size, end);
        }
    }
}

uint64_t mg_halo_bytes(const mg *m, bool cycle) {
    const int planes = cycle ? 2 * MG_HALO : 2;
    uint64_t bytes = 0;
    for (int l = 0; l < (cycle ? m->count : 1); l++) {
        const mg_level *v = &m->level[l];
        for (int a = 1; a < m->box.dims; a++) {
            const int64_t pieces = a + 1 < m->box.dims ? sel_patch_cells(&v->own, 2) : 1;
            bytes += v->sides[a] ? (uint64_t)(4 * planes * pieces * v->stride[a]) : 0;
        }
    }
    return bytes * (m->box.single ? 4 : 8);
}
