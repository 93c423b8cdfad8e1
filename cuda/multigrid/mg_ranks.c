/* mg_ranks.c -- what several ranks send each other of a multigrid on their devices: mg_ranks.c of
 * engine/multigrid, enqueued. */
#include "cuda/machine/backend.h"
#include "cuda/multigrid/mg_solve.h"

static const sel_state *state_of(const mg_gpu_solve *g) {
    return g->solve->state;
}

/* The first failure is that of the iteration. */
static void note(mg_gpu_solve *g, sel_status status) {
    g->status = g->status ? g->status : status;
}

static sel_status share(mg_gpu_solve *g, void *array, const size_t *end) {
    sel_message messages[2 * SEL_MOST_RANKS];
    const int count = sel_ranks_list_shares(state_of(g)->ranks, array, end, messages);
    return cuda_link_transfer(state_of(g), messages, count, g->stream, g->error);
}

static void spread(void *with, const mg_planes_of *parts, int count) {
    enum { MOST = 2 };
    mg_gpu_solve *g = with;
    const mg *m = &g->solve->m;
    const int size = m->box.single ? 4 : 8, slow = m->box.dims - 1;
    sel_sides sides[MOST];
    size_t end[SEL_MOST_RANKS];
    int divided = 0;
    for (int k = 0; k < count && !g->status; k++) {
        const mg_level *v = &m->level[parts[k].level];
        const int64_t bytes = v->stride[slow] * size;
        char *at = (char *)parts[k].array - v->lead * size;
        if (v->divided) {
            sides[divided++] = sel_sides_of_planes(v->own, parts[k].planes, at, (size_t)bytes);
            continue;
        }
        mg_ends_of_ranks(m, bytes, end);
        note(g, share(g, at, end));
    }
    if (!g->status) {
        note(g, cuda_exchange_sides(state_of(g), 1, sides, divided, g->stream, g->error));
    }
}

static void share_partials(void *with) {
    mg_gpu_solve *g = with;
    note(g, g->status ? g->status : share(g, g->partials, g->end_of_partials));
}

sel_status mg_gpu_spread(mg_gpu_solve *g, double *v, sel_error *error) {
    const mg_solve *s = g->solve;
    const mg_level *level = &s->m.level[0];
    const int64_t bytes = s->stride[s->m.box.dims - 1] * (int64_t)sizeof *v;
    const sel_sides sides = sel_sides_of_planes(level->own, 1, v, (size_t)bytes);
    return level->divided ? cuda_exchange_sides(state_of(g), 1, &sides, 1, g->stream, error)
                          : SEL_OK;
}

void mg_gpu_join_ranks(mg_gpu_solve *g) {
    const mg *m = &g->solve->m;
    const sel_ranks *ranks = state_of(g)->ranks;
    g->spread = spread;
    g->share_partials = share_partials;
    for (int r = 0; r < ranks->count && m->level[0].divided; r++) {
        g->end_of_partials[r] =
            sizeof *g->partials *
            (size_t)mg_gpu_partials(m->box.dims, m->level[0].n, state_of(g)->cut.plane[r + 1]);
    }
}
