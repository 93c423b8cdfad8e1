/* mg_ranks_cuda.c -- what several ranks send each other of a multigrid on their devices:
 * mg_ranks_cuda.c of engine/solvers/multigrid, enqueued. */
#include "cuda/backend.h"
#include "engine/solvers/multigrid/mg_solve_cuda.h"

static const sel_state *state_of(const mg_gpu_solve *g) {
    return g->solve->state;
}

/* The first failure is that of the iteration. */
static void note(mg_gpu_solve *g, sel_status status) {
    g->status = g->status ? g->status : status;
}

static sel_status mg_ranks_cuda_share(mg_gpu_solve *g, void *array, const size_t *end) {
    sel_message messages[2 * SEL_MOST_RANKS];
    const int count = sel_ranks_list_shares(state_of(g)->ranks, array, end, messages);
    return cuda_link_transfer(state_of(g), messages, count, g->stream, g->error);
}

/* ---- boxes: through a copy in which the parts of ranks stand one behind the other ---- */

/* The part of an array of partials. */
static mg_part part_of_partials(const mg_gpu_solve *g, int rank) {
    const mg *m = &g->solve->m;
    const sel_decomposition *d = &state_of(g)->decomposition;
    const sel_patch own = sel_patch_of(d, rank);
    const int64_t *n = m->level[0].n, unit = mg_device_planes(n);
    int64_t all[3];
    mg_gpu_partials(m->box.dims, n, all);
    const int64_t first = own.lo[d->slow] / unit, end = (own.hi[d->slow] + unit - 1) / unit;
    const int64_t row = sel_patch_low(d, &own), height = sel_patch_height(d, &own);
    const int64_t low = row / MG_DEVICE_ROWS;
    const int64_t high = (row + height + MG_DEVICE_ROWS - 1) / MG_DEVICE_ROWS;
    return (mg_part){.at = g->partials + all[0] * (low + all[1] * first),
                     .width = (size_t)(all[0] * (high - low)) * sizeof *g->partials,
                     .apart = (size_t)(all[0] * all[1]) * sizeof *g->partials,
                     .planes = end - first};
}

static sel_status move_part(mg_gpu_solve *g, const mg_part *part, size_t packed, bool back) {
    sel_error *error = g->error;
    char *at = g->packed + packed;
    CUDA_TRY(cudaMemcpy2DAsync(back ? part->at : at, back ? part->apart : part->width,
                               back ? at : part->at, back ? part->width : part->apart, part->width,
                               (size_t)part->planes, cudaMemcpyDeviceToDevice, g->stream));
    return SEL_OK;
}

/* Of level v an array, or with NULL the partials. */
static void mg_ranks_cuda_share_boxes(mg_gpu_solve *g, const mg_level *v, void *array,
                                      const size_t *end) {
    const int own = state_of(g)->ranks->rank, count = state_of(g)->ranks->count;
    const int size = g->solve->m.box.single ? 4 : 8;
    for (int k = 0; k < count && !g->status; k++) { /* its own first */
        const int rank = (own + k) % count;
        const mg_part part =
            v ? mg_part_of(&g->solve->m, v, rank, array, size) : part_of_partials(g, rank);
        note(g, move_part(g, &part, rank > 0 ? end[rank - 1] : 0, k > 0));
        if (k == 0 && !g->status) {
            note(g, mg_ranks_cuda_share(g, g->packed, end));
        }
    }
}

/* ---- levels ---- */

static void share_level(mg_gpu_solve *g, const mg_halo_of *part) {
    const mg *m = &g->solve->m;
    const mg_level *v = &m->level[part->level];
    const int size = m->box.single ? 4 : 8;
    size_t end[SEL_MOST_RANKS];
    mg_ends_of_ranks(m, v, size, end);
    if (sel_divides_planes(&m->decomposition)) {
        mg_ranks_cuda_share_boxes(g, v, part->array, end);
    } else {
        note(g, mg_ranks_cuda_share(g, (char *)part->array - v->lead * size, end));
    }
}

/* The halos of all parts along an axis; those along y go first. */
static void spread_along(mg_gpu_solve *g, int axis, const mg_halo_of *parts, int count) {
    enum { MOST = 2 };
    const mg *m = &g->solve->m;
    const int size = m->box.single ? 4 : 8;
    sel_halo halos[MOST];
    int divided = 0;
    for (int k = 0; k < count; k++) {
        const mg_level *v = &m->level[parts[k].level];
        if (v->sides[axis]) {
            halos[divided++] = mg_level_halo(m, v, axis, parts[k].array, size, parts[k].width);
        }
    }
    if (divided > 0 && !g->status) {
        note(g, cuda_exchange_halos(state_of(g), axis, halos, divided, g->stream, g->error));
    }
}

static void spread(void *with, const mg_halo_of *parts, int count) {
    mg_gpu_solve *g = with;
    const mg *m = &g->solve->m;
    for (int k = 0; k < count && !g->status; k++) {
        if (!m->level[parts[k].level].divided) {
            share_level(g, &parts[k]);
        }
    }
    for (int axis = 1; axis < m->box.dims; axis++) {
        spread_along(g, axis, parts, count);
    }
}

static void share_partials(void *with) {
    mg_gpu_solve *g = with;
    if (sel_divides_planes(&state_of(g)->decomposition)) {
        mg_ranks_cuda_share_boxes(g, NULL, NULL, g->end_of_partials);
    } else {
        note(g, g->status ? g->status : mg_ranks_cuda_share(g, g->partials, g->end_of_partials));
    }
}

sel_status mg_gpu_spread(mg_gpu_solve *g, double *v, sel_error *error) {
    const sel_state *state = state_of(g);
    const mg *m = &g->solve->m;
    const sel_field field = sel_state_vector_field(state);
    sel_status status = SEL_OK;
    for (int axis = 1; axis < m->box.dims && !status; axis++) {
        if (m->level[0].sides[axis]) {
            sel_halo halo;
            sel_list_halos(&field, &state->own, v, axis, field.halo, SEL_FETCH, &halo);
            status = cuda_exchange_halos(state, axis, &halo, 1, g->stream, error);
        }
    }
    return status;
}

/* ---- */

void mg_gpu_list_ranks(mg_gpu_solve *g, sel_state *state) {
    const mg *m = &g->solve->m;
    const int size = m->box.single ? 4 : 8, dims = m->box.dims;
    int64_t most, partials[3];
    mg_gpu_partials(dims, m->level[0].n, partials);
    most = partials[0] * partials[1] * partials[2] * (int64_t)sizeof *g->partials;
    for (int l = 0; l + 1 < m->count && m->level[l].divided; l++) {
        const int64_t next = m->level[l + 1].elements * size;
        most = !m->level[l + 1].divided && next > most ? next : most;
    }
    const sel_field field = sel_state_vector_field(state);
    for (int axis = 1; axis < dims && m->level[0].divided; axis++) { /* those of a vector, too */
        if (m->level[0].sides[axis] || axis == dims - 1) {
            state->halo_bytes += 4 * (uint64_t)sel_halo_bytes(&field, &state->own, axis);
        }
    }
    SEL_ADD(&state->arrays, g, packed,
            m->level[0].divided && sel_divides_planes(&m->decomposition) ? most : 0, 0);
}

void mg_gpu_join_ranks(mg_gpu_solve *g) {
    const int count = state_of(g)->ranks->count;
    g->spread = spread;
    g->share_partials = share_partials;
    size_t end = 0;
    for (int r = 0; r < count && g->solve->m.level[0].divided;
         r++) { /* those of boxes are packed */
        const mg_part part = part_of_partials(g, r);
        end += part.width * (size_t)part.planes;
        g->end_of_partials[r] = end;
    }
}
