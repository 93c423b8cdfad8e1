/* link.c -- exchange between the devices of several ranks: straight into each other's memory, by
 * NCCL, or through the host.
 *
 * Straight: state->halos of a rank has two rooms, for exchanges of even and odd numbers, each with
 * one for the rank below and one for that above. These write what they send, then a counter for
 * which the rank waits before it fetches it. A rank does not write into a room again before the
 * next exchange, in which the other has counted, has shown that the room was read.
 */
#include "cuda/link.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda/queue.h"

/* ---- NCCL, which is opened when it is there ---- */

typedef struct nccl_id {
    char bytes[128];
} nccl_id;

/* The functions, in the order of their names. */
typedef struct nccl_api {
    int (*get_id)(nccl_id *id);
    int (*join)(void **comm, int count, nccl_id id, int rank);
    int (*leave)(void *comm);
    int (*begin)(void);
    int (*end)(void);
    int (*send)(const void *from, size_t count, int type, int peer, void *comm, cudaStream_t on);
    int (*receive)(void *to, size_t count, int type, int peer, void *comm, cudaStream_t on);
    int (*reduce)(const void *from, void *to, size_t count, int type, int how, void *comm,
                  cudaStream_t on);
    const char *(*text)(int code);
} nccl_api;

/* ncclInt8, ncclInt64, ncclMin */
enum { NCCL_BYTES = 0, NCCL_WHOLE = 4, NCCL_LEAST = 3 };

static bool open_nccl(nccl_api *to) {
    static const char *const names[] = {
        "ncclGetUniqueId", "ncclCommInitRank", "ncclCommDestroy",
        "ncclGroupStart",  "ncclGroupEnd",     "ncclSend",
        "ncclRecv",        "ncclAllReduce",    "ncclGetErrorString"};
    const char *wanted = getenv("SELENITE_NCCL");
    void *library = wanted && strcmp(wanted, "0") == 0 ? NULL : dlopen("libnccl.so.2", RTLD_NOW);
    return cuda_find_functions(library, names, sizeof names / sizeof *names, to);
}

struct cuda_link {
    nccl_api nccl;
    void *comm;      /* of NCCL; NULL: MPI sends, */
    char *pinned;    /* from here, with room as in state->halos, unless it sends from devices */
    void *mapped[2]; /* the memory of the ranks below and above; NULL: there is none, or no way */
    char *halos[2];  /* their state->halos in it */
    march_device beside;
};

/* Bytes of a side in state->halos. */
static size_t room_bytes(const sel_state *state) {
    return state->halo_bytes / 4 / CUDA_LINK_ALIGNED * CUDA_LINK_ALIGNED + CUDA_LINK_ALIGNED;
}

static int64_t *counters(const sel_state *state, char *halos) {
    return (int64_t *)(void *)(halos + 4 * room_bytes(state));
}

static sel_status nccl_check(const nccl_api *nccl, int code, sel_error *error) {
    return code == 0 ? SEL_OK : sel_fail(error, SEL_NO_DEVICE, "NCCL: %s", nccl->text(code));
}

/* ---- halos ---- */

static int64_t pieces_of(const sel_halo *s) {
    return s->pieces ? s->pieces : 1;
}

/* Copies what is sent to rooms, or what has been received from them. state->halos has four, of
 * `total` bytes: low, high, from low, from high; or directly those that are told of on top. */
static sel_status pack(const sel_state *state, const sel_neighbours *beside, const sel_halo *sides,
                       int count, size_t total, bool back, cudaStream_t stream, sel_error *error) {
    const cuda_link *link = state->queue->link;
    const bool direct = cuda_link_direct(link);
    const size_t apart = direct ? room_bytes(state) : total;
    cuda_pieces p = {.sides = beside->is[0] + beside->is[1], .back = back};
    if (direct) {
        p.met = counters(state, state->halos) + 2;
        p.further = 2 * apart;
    }
    size_t done = 0;
    for (int k = 0; k < count; k++) {
        const sel_halo *s = &sides[k];
        void *const at[] = {s->low, s->high, s->from_low, s->from_high};
        cuda_part_of_sides *v = &p.v[p.count++];
        *v = (cuda_part_of_sides){
            .apart = (size_t)s->apart, .bytes = s->bytes, .count = pieces_of(s)};
        for (int i = 0; i < p.sides; i++) {
            const int side = beside->is[0] ? i : 1; /* a rank is above that below it */
            const size_t room = (size_t)(direct ? side ^ !back : side + 2 * back);
            v->place[i] = at[side + 2 * back];
            v->room[i] = (direct && !back ? link->halos[side] : state->halos) + room * apart + done;
        }
        done += (size_t)v->count * s->bytes;
        if (p.count == CUDA_PIECES || k + 1 == count) {
            CUDA_TRY(cuda_move_pieces(&p, stream));
            p.count = 0;
        }
    }
    return SEL_OK;
}

/* In the order of the messages, which NCCL matches by it. */
static sel_status by_nccl(const cuda_link *link, const sel_message *messages, int count,
                          cudaStream_t stream, sel_error *error) {
    const nccl_api *nccl = &link->nccl;
    int code = nccl->begin();
    for (int k = 0; k < count && code == 0; k++) {
        const sel_message *m = &messages[k];
        code = m->sends ? nccl->send(m->at, m->bytes, NCCL_BYTES, m->rank, link->comm, stream)
                        : nccl->receive(m->at, m->bytes, NCCL_BYTES, m->rank, link->comm, stream);
    }
    const int ended = nccl->end();
    return nccl_check(nccl, code ? code : ended, error);
}

static sel_status by_mpi(const sel_state *state, const sel_message *messages, int count,
                         cudaStream_t stream, sel_error *error) {
    const cudaError_t code = cudaStreamSynchronize(stream);
    state->ranks->transfer(messages, count); /* others wait for it */
    CUDA_TRY(code);
    return SEL_OK;
}

static sel_status by_host(const sel_state *state, const sel_message *messages, int count,
                          cudaStream_t stream, sel_error *error) {
    sel_message staged[2 * SEL_MOST_RANKS];
    size_t bytes = 0;
    for (int k = 0; k < count; k++) {
        bytes += messages[k].bytes;
    }
    const bool fits = bytes <= state->halo_bytes + CUDA_LINK_MORE;
    char *memory = fits ? NULL : sel_ranks_memory(state->ranks, bytes);
    char *at = fits ? state->queue->link->pinned : memory;
    cudaError_t code = cudaSuccess, ended;
    for (int k = 0; k < count; at += messages[k++].bytes) {
        const sel_message *m = &messages[k];
        staged[k] = (sel_message){m->rank, m->tag, m->sends, at, m->bytes};
        if (m->sends && !code) {
            code = cudaMemcpyAsync(at, m->at, m->bytes, cudaMemcpyDeviceToHost, stream);
        }
    }
    ended = cudaStreamSynchronize(stream);
    state->ranks->transfer(staged, count); /* others wait for it */
    code = code ? code : ended;
    for (int k = 0; k < count && !code; k++) {
        if (!staged[k].sends) {
            code = cudaMemcpyAsync(messages[k].at, staged[k].at, staged[k].bytes,
                                   cudaMemcpyHostToDevice, stream);
        }
    }
    ended = fits ? cudaSuccess : cudaStreamSynchronize(stream);
    free(memory);
    CUDA_TRY(code ? code : ended);
    return SEL_OK;
}

sel_status cuda_link_transfer(const sel_state *state, const sel_message *messages, int count,
                              cudaStream_t stream, sel_error *error) {
    const cuda_link *link = state->queue->link;
    return link->comm                    ? by_nccl(link, messages, count, stream, error)
           : state->ranks->sends_devices ? by_mpi(state, messages, count, stream, error)
                                         : by_host(state, messages, count, stream, error);
}

static sel_status transfer_sides(const sel_state *state, const sel_neighbours *beside, size_t total,
                                 cudaStream_t stream, sel_error *error) {
    const cuda_link *link = state->queue->link;
    char *at = state->halos;
    if (cuda_link_direct(link)) {
        int64_t *own = counters(state, at);
        const cuda_meeting meeting = {
            .met = own + 2,
            .own = own,
            .its = {link->halos[0] ? counters(state, link->halos[0]) + 1 : NULL,
                    link->halos[1] ? counters(state, link->halos[1]) : NULL}};
        CUDA_TRY(cuda_meet(&meeting, stream));
        return SEL_OK;
    }
    const sel_halo sides = {at, at + total, at + 2 * total, at + 3 * total, .bytes = total};
    sel_message messages[4];
    const int count = sel_list_messages(beside, &sides, messages);
    return cuda_link_transfer(state, messages, count, stream, error);
}

/* ---- joining ---- */

/* Where a rank computes, and its memory for others: state->halos stands `ahead` of its first byte.
 */
typedef struct seat {
    char host[64], device[32];
    bool has_nccl, shares;
    cudaIpcMemHandle_t memory;
    size_t ahead, room;
} seat;

static void tell_slow(const sel_ranks *ranks, const char *why) {
    if (ranks->rank == 0) {
        fprintf(stderr, "halos pass through %s, which is slow: %s\n",
                ranks->sends_devices ? "MPI" : "the host", why);
    }
}

/* Whether NCCL can join the ranks: all have it, and a device each. */
static bool can_join(const sel_ranks *ranks, const seat *all) {
    bool has = true, alone = true;
    for (int r = 0; r < ranks->count; r++) {
        has = has && all[r].has_nccl;
        for (int q = 0; q < r; q++) {
            alone =
                alone && (strcmp(all[r].host, all[q].host) || strcmp(all[r].device, all[q].device));
        }
    }
    if (alone && !has && !getenv("SELENITE_NCCL")) {
        tell_slow(ranks, "install NCCL (libnccl2)");
    }
    return alone && has;
}

/* Where NCCL does not join them, halos are staged. */
static sel_status link_join(const sel_state *state, cuda_link *link, sel_error *error) {
    const sel_ranks *ranks = state->ranks;
    sel_error why = {.status = SEL_OK};
    struct {
        nccl_id id;
        int code;
    } first = {.code = 0};
    if (ranks->rank == 0) {
        first.code = link->nccl.get_id(&first.id);
    }
    ranks->broadcast(&first, sizeof first, false);
    const int code =
        first.code ? first.code : link->nccl.join(&link->comm, ranks->count, first.id, ranks->rank);
    sel_status status = sel_ranks_agree(ranks, nccl_check(&link->nccl, code, &why), &why);
    if (status) {
        link->comm = NULL;
        cudaGetLastError();
        tell_slow(ranks, why.text);
        return SEL_OK;
    }
    /* Connections are made before graphs are recorded; other ones by the first sums. */
    const sel_decomposition *d = &state->decomposition;
    for (int axis = 1; axis <= d->slow && !status; axis++) {
        const sel_neighbours beside = sel_neighbours_of(d, ranks->rank, axis);
        status = sel_halo_along(d, axis)
                     ? transfer_sides(state, &beside, 1, link->beside.stream, error)
                     : SEL_OK;
    }
    status = status ? status
                    : cuda_link_least(state, (int64_t *)(void *)state->halos, link->beside.stream,
                                      error);
    CUDA_TRY(cudaStreamSynchronize(link->beside.stream));
    return status;
}

/* The neighbours along the slowest axis. */
static sel_neighbours link_neighbours(const sel_state *state) {
    const sel_decomposition *d = &state->decomposition;
    return sel_neighbours_of(d, state->ranks->rank, d->slow);
}

/* Opens the memory of a rank beside this one. */
static bool reach(const sel_state *state, cuda_link *link, int side, const seat *own,
                  const seat *other) {
    const sel_neighbours beside = link_neighbours(state);
    if (!beside.is[side]) {
        return true;
    }
    const bool again = side == 1 && beside.is[0] && beside.rank[0] == beside.rank[1];
    const bool can = own->shares && other->shares && strcmp(own->host, other->host) == 0 &&
                     own->room == other->room;
    if (can && !again &&
        cudaIpcOpenMemHandle(&link->mapped[side], other->memory, cudaIpcMemLazyEnablePeerAccess)) {
        link->mapped[side] = NULL;
        cudaGetLastError();
    }
    char *at = link->mapped[again ? 0 : side];
    link->halos[side] = at ? at + other->ahead : NULL;
    return at != NULL;
}

static void leave(cuda_link *link) {
    for (int side = 0; side < 2; side++) {
        if (link->mapped[side]) {
            cudaIpcCloseMemHandle(link->mapped[side]);
        }
        link->mapped[side] = NULL;
        link->halos[side] = NULL;
    }
}

/* All ranks reach those beside them, or none does. */
static void join_directly(const sel_state *state, cuda_link *link, const seat *all) {
    const sel_ranks *ranks = state->ranks;
    const sel_neighbours beside = link_neighbours(state);
    const char *wanted = getenv("SELENITE_DIRECT");
    bool reached = (!wanted || strcmp(wanted, "0") != 0) &&
                   !cudaMemset(counters(state, state->halos), 0, 3 * sizeof(int64_t)) &&
                   !cudaDeviceSynchronize(); /* before others count */
    for (int side = 0; side < 2 && reached; side++) {
        reached = reach(state, link, side, &all[ranks->rank], &all[beside.rank[side]]);
    }
    if (sel_ranks_total(ranks, reached) < ranks->count) {
        leave(link);
    }
}

static sel_status open_link(const sel_state *state, cuda_link *link, seat *own, sel_error *error) {
    sel_status status = link ? SEL_OK : sel_fail_memory(error, "the halos", sizeof *link);
    status = status ? status
                    : cuda_host_allocate((void **)&link->pinned, state->halo_bytes + CUDA_LINK_MORE,
                                         "the halos", error);
    status = status ? status : cuda_march_open(&link->beside, state->plan->device, true, error);
    if (!status) {
        own->has_nccl = open_nccl(&link->nccl);
        gethostname(own->host, sizeof own->host - 1);
        CUDA_TRY(cudaDeviceGetPCIBusId(own->device, sizeof own->device - 1, state->plan->device));
        own->shares = !cudaIpcGetMemHandle(&own->memory, state->arrays.block[0]);
        own->ahead = (size_t)(state->halos - (char *)state->arrays.block[0]);
        own->room = room_bytes(state);
        cudaGetLastError();
    }
    return status;
}

sel_status cuda_link_open(const sel_state *state, cuda_link **made, sel_error *error) {
    const sel_ranks *ranks = state->ranks;
    seat own = {.host = ""};
    if (ranks->count == 1) {
        return SEL_OK;
    }
    cuda_link *link = *made = calloc(1, sizeof *link);
    seat *all = sel_ranks_memory(ranks, (size_t)ranks->count * sizeof *all);
    sel_status status = sel_ranks_agree(ranks, open_link(state, link, &own, error), error);
    ranks->gather(&own, sizeof own, all);
    if (!status && can_join(ranks, all)) {
        status = sel_ranks_agree(ranks, link_join(state, link, error), error);
        if (!status && link->comm && !sel_divides_planes(&state->decomposition)) {
            join_directly(state, link, all);
        }
    }
    free(all);
    return status;
}

void cuda_link_close(cuda_link *link) {
    if (!link) {
        return;
    }
    leave(link);
    if (link->comm) {
        link->nccl.leave(link->comm);
    }
    cuda_march_close(&link->beside);
    cudaFreeHost(link->pinned);
    free(link);
}

bool cuda_link_staged(const cuda_link *link) {
    return link && !link->comm;
}

bool cuda_link_direct(const cuda_link *link) {
    return link && (link->halos[0] || link->halos[1]);
}

const march_device *cuda_link_beside(const cuda_link *link) {
    return link ? &link->beside : NULL;
}

/* ---- exchanges ---- */

sel_status cuda_exchange_halos(const sel_state *state, int axis, const sel_halo *sides, int count,
                               cudaStream_t stream, sel_error *error) {
    const sel_neighbours at_sides =
        sel_neighbours_of(&state->decomposition, state->ranks->rank, axis);
    size_t total = 0;
    for (int k = 0; k < count; k++) {
        total += (size_t)pieces_of(&sides[k]) * sides[k].bytes;
    }
    total = (total + CUDA_LINK_ALIGNED - 1) / CUDA_LINK_ALIGNED * CUDA_LINK_ALIGNED;
    if (total == 0) {
        return SEL_OK;
    }
    const march_device *beside = cuda_link_beside(state->queue->link);
    sel_status status = pack(state, &at_sides, sides, count, total, false, stream, error);
    if (stream == beside->stream) {
        CUDA_TRY(cudaEventRecord(beside->fork, stream));
    }
    status = status ? status : transfer_sides(state, &at_sides, total, stream, error);
    return status ? status : pack(state, &at_sides, sides, count, total, true, stream, error);
}

sel_status cuda_link_least(const sel_state *state, int64_t *number, cudaStream_t stream,
                           sel_error *error) {
    const cuda_link *link = state->queue->link;
    int64_t *own = (int64_t *)(void *)link->pinned, all[SEL_MOST_RANKS];
    if (link->comm) {
        const int code =
            link->nccl.reduce(number, number, 1, NCCL_WHOLE, NCCL_LEAST, link->comm, stream);
        return nccl_check(&link->nccl, code, error);
    }
    CUDA_TRY(cudaMemcpyAsync(own, number, sizeof *own, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    state->ranks->gather(own, sizeof *own, all);
    for (int r = 0; r < state->ranks->count; r++) {
        *own = all[r] < *own ? all[r] : *own;
    }
    CUDA_TRY(cudaMemcpyAsync(number, own, sizeof *own, cudaMemcpyHostToDevice, stream));
    return SEL_OK;
}
