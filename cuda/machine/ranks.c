/* ranks.c -- exchange between the devices of several ranks, by NCCL or through the host. */
#include "cuda/machine/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda/machine/backend.h"

/* ---- NCCL, which is opened when it is there ---- */

typedef struct nccl_id {
    char bytes[128];
} nccl_id;

/* In the order of their names. */
typedef struct nccl_api {
    int (*get_id)(nccl_id *id);
    int (*join)(void **comm, int count, nccl_id id, int rank);
    int (*leave)(void *comm);
    int (*begin)(void);
    int (*end)(void);
    int (*send)(const void *from, size_t count, int type, int peer, void *comm, cudaStream_t on);
    int (*receive)(void *to, size_t count, int type, int peer, void *comm, cudaStream_t on);
    const char *(*text)(int code);
} nccl_api;

enum { NCCL_BYTES = 0 /* ncclInt8 */ };

/* The library stays open. */
static bool open_nccl(nccl_api *to) {
    static const char *const names[] = {"ncclGetUniqueId", "ncclCommInitRank",  "ncclCommDestroy",
                                        "ncclGroupStart",  "ncclGroupEnd",      "ncclSend",
                                        "ncclRecv",        "ncclGetErrorString"};
    const char *wanted = getenv("SELENITE_NCCL");
    const bool refused = wanted && strcmp(wanted, "0") == 0;
    void *library = refused ? NULL : dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names && found; k++) {
        void *function = dlsym(library, names[k]);
        memcpy((char *)to + k * sizeof function, &function, sizeof function);
        found = function != NULL;
    }
    return found;
}

struct cuda_link {
    nccl_api nccl;
    void *comm;   /* NULL: staged, */
    char *pinned; /* with room as in state->halos */
};

static sel_status nccl_check(const nccl_api *nccl, int code, const char *what, sel_error *error) {
    return code == 0 ? SEL_OK
                     : sel_fail(error, SEL_NO_DEVICE,
                                "NCCL: %s: %s; SELENITE_NCCL=0 has halos pass through the host",
                                what, nccl->text(code));
}

/* ---- joining ---- */

/* Where a rank computes. */
typedef struct seat {
    char host[64], device[32];
    bool has_nccl;
} seat;

/* Whether NCCL can join the ranks: all have it, and a device each. */
static bool can_join(const sel_ranks *ranks, const seat *own) {
    seat *all = sel_ranks_memory(ranks, (size_t)ranks->count * sizeof *all);
    bool has = true, alone = true;
    ranks->gather(own, sizeof *own, all);
    for (int r = 0; r < ranks->count; r++) {
        has = has && all[r].has_nccl;
        for (int q = 0; q < r; q++) {
            alone =
                alone && (strcmp(all[r].host, all[q].host) || strcmp(all[r].device, all[q].device));
        }
    }
    free(all);
    if (alone && !has && ranks->rank == 0 && !getenv("SELENITE_NCCL")) {
        fprintf(stderr, "halos pass through the host, which is slow, until NCCL is installed on "
                        "all machines: libnccl2 (libnccl.so.2)\n");
    }
    return alone && has;
}

/* Halos of a few bytes, so that all connections are made before graphs are recorded. */
static sel_status try_out(const sel_state *state, sel_error *error) {
    char *at = state->halos;
    const size_t bytes = 1, apart = state->halo_bytes / 4;
    const cuda_sides sides = {at, at + apart, at + 2 * apart, at + 3 * apart, bytes, bytes, 1};
    sel_status status = state->halo_bytes ? cuda_exchange_sides(state, &sides, 1, error) : SEL_OK;
    if (!status) {
        CUDA_TRY(cudaStreamSynchronize(state->queue->stream));
    }
    return status;
}

static sel_status join(const sel_state *state, cuda_link *link, sel_error *error) {
    const sel_ranks *ranks = state->ranks;
    nccl_id id = {{0}};
    int code = ranks->rank == 0 ? link->nccl.get_id(&id) : 0;
    sel_status status = nccl_check(&link->nccl, code, "its start", error);
    status = sel_ranks_agree(ranks, status, error);
    if (!status) {
        ranks->broadcast(&id, sizeof id, false);
        code = link->nccl.join(&link->comm, ranks->count, id, ranks->rank);
        status = nccl_check(&link->nccl, code, "the devices cannot be joined", error);
        status = sel_ranks_agree(ranks, status, error);
    }
    return status ? status : try_out(state, error);
}

sel_status cuda_link_open(const sel_state *state, cuda_link **made, sel_error *error) {
    const sel_ranks *ranks = state->ranks;
    *made = NULL;
    if (ranks->count == 1) {
        return SEL_OK;
    }
    cuda_link *link = *made = calloc(1, sizeof *link);
    seat own = {.host = ""};
    sel_status status = link ? SEL_OK : sel_fail_memory(error, "the halos", sizeof *link);
    status = status ? status
                    : cuda_host_allocate((void **)&link->pinned, state->halo_bytes + 1, "the halos",
                                         error);
    status = sel_ranks_agree(ranks, status, error);
    if (status) {
        return status;
    }
    own.has_nccl = open_nccl(&link->nccl);
    gethostname(own.host, sizeof own.host - 1);
    CUDA_TRY(cudaDeviceGetPCIBusId(own.device, sizeof own.device - 1, state->plan->device));
    return can_join(ranks, &own) ? join(state, link, error) : SEL_OK;
}

void cuda_link_close(cuda_link *link) {
    if (link && link->comm) {
        link->nccl.leave(link->comm);
    }
    if (link) {
        cudaFreeHost(link->pinned);
    }
    free(link);
}

bool cuda_link_staged(const cuda_link *link) {
    return link && !link->comm;
}

/* ---- halos ---- */

/* Bytes between the rows of a copy are fewer. */
static const size_t most_pitch = (size_t)1 << 30;

/* state->halos has the sides low, high, from low, from high, of `total` bytes each. Copies to them
 * what is sent, or from them what has been received. */
static sel_status pack(const sel_state *state, const cuda_sides *sides, int count, size_t total,
                       int side, bool back, sel_error *error) {
    char *room = state->halos + (size_t)side * total;
    for (int k = 0; k < count; k++) {
        const cuda_sides *s = &sides[k];
        void *const at[] = {s->low, s->high, s->from_low, s->from_high};
        if (s->count * (int64_t)s->bytes == 0) {
            continue;
        }
        const int64_t together = s->apart < most_pitch ? s->count : 1;
        for (int64_t j = 0; j < s->count; j += together) {
            char *piece = (char *)at[side] + (size_t)j * s->apart;
            CUDA_TRY(cudaMemcpy2DAsync(
                back ? piece : room, back && together > 1 ? s->apart : s->bytes,
                back ? room : piece, back || together == 1 ? s->bytes : s->apart, s->bytes,
                (size_t)together, cudaMemcpyDeviceToDevice, state->queue->stream));
            room += (size_t)together * s->bytes;
        }
    }
    return SEL_OK;
}

static sel_status by_host(const sel_state *state, size_t total, sel_error *error) {
    cudaStream_t stream = state->queue->stream;
    char *at = state->queue->link->pinned;
    const sel_sides sides = {at, at + total, at + 2 * total, at + 3 * total, total};
    CUDA_TRY(cudaMemcpyAsync(at, state->halos, 2 * total, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    sel_exchange_sides(state->ranks, state->blocks.wraps, &sides, 1);
    CUDA_TRY(cudaMemcpyAsync(state->halos + 2 * total, at + 2 * total, 2 * total,
                             cudaMemcpyHostToDevice, stream));
    return SEL_OK;
}

/* What one rank sends to another twice, NCCL matches in its order: to the low side first. */
static sel_status by_nccl(const sel_state *state, size_t total, sel_error *error) {
    const cuda_link *link = state->queue->link;
    const nccl_api *nccl = &link->nccl;
    cudaStream_t stream = state->queue->stream;
    char *at = state->halos;
    int low, high, code = nccl->begin();
    const bool below = sel_ranks_below(state->ranks, state->blocks.wraps, &low);
    const bool above = sel_ranks_above(state->ranks, state->blocks.wraps, &high);
    const struct {
        bool wanted, sends;
        int peer, side;
    } parts[] = {{below, true, low, 0},
                 {above, true, high, 1},
                 {above, false, high, 3},
                 {below, false, low, 2}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts && code == 0; k++) {
        char *place = at + (size_t)parts[k].side * total;
        if (parts[k].wanted) {
            code = parts[k].sends
                       ? nccl->send(place, total, NCCL_BYTES, parts[k].peer, link->comm, stream)
                       : nccl->receive(place, total, NCCL_BYTES, parts[k].peer, link->comm, stream);
        }
    }
    const int ended = nccl->end();
    return nccl_check(nccl, code ? code : ended, "an exchange", error);
}

sel_status cuda_exchange_sides(const sel_state *state, const cuda_sides *sides, int count,
                               sel_error *error) {
    const bool wraps = state->blocks.wraps;
    size_t total = 0;
    int beside;
    for (int k = 0; k < count; k++) {
        total += (size_t)sides[k].count * sides[k].bytes;
    }
    if (total == 0) {
        return SEL_OK;
    }
    sel_status status = SEL_OK;
    for (int side = 0; side < 2 && !status; side++) {
        status = pack(state, sides, count, total, side, false, error);
    }
    status = status                                 ? status
             : cuda_link_staged(state->queue->link) ? by_host(state, total, error)
                                                    : by_nccl(state, total, error);
    for (int side = 2; side < 4 && !status; side++) {
        if (side == 2 ? sel_ranks_below(state->ranks, wraps, &beside)
                      : sel_ranks_above(state->ranks, wraps, &beside)) {
            status = pack(state, sides, count, total, side, true, error);
        }
    }
    return status;
}

sel_status cuda_exchange_in(const sel_state *state, void *array, sel_error *error) {
    const sel_turns *turns = &state->turns;
    const sel_block *own = &state->blocks.v[0];
    const int64_t stride = sel_turns_stride(turns), size = turns->type.size;
    char *at = (char *)array - turns->margin * size;
    const int64_t plane[] = {own->first, own->end - turns->width, sel_halo_low(turns, own),
                             sel_halo_high(turns, own)};
    const cuda_sides sides = {.low = at + plane[0] * stride * size,
                              .high = at + plane[1] * stride * size,
                              .from_low = at + plane[2] * stride * size,
                              .from_high = at + plane[3] * stride * size,
                              .bytes = (size_t)(turns->width * stride * size),
                              .apart = (size_t)(turns->cells.components == 1
                                                    ? turns->width * stride * size
                                                    : turns->cells.plane * size),
                              .count = turns->cells.components};
    return cuda_exchange_sides(state, &sides, 1, error);
}

/* ---- sums ---- */

/* Partials of a rank that rank 0 needs, between the device and a buffer: loose ones, those that
 * have been joined, and loose ones. Returns their number; buffer NULL: that alone. */
static int64_t move_partials(const cuda_rows *rows, int rank, size_t size, char *buffer, bool back,
                             cudaStream_t stream, cudaError_t *code) {
    int64_t first, end, count = 0;
    cuda_rows_joined(rows, rank, &first, &end);
    const int64_t of[3][3] = {{rows->start[rank], first - rows->start[rank], 1},
                              {first, (end - first + CUDA_JOINED - 1) / CUDA_JOINED, CUDA_JOINED},
                              {end, rows->start[rank + 1] - end, 1}};
    for (int k = 0; k < 3; k++) {
        char *at = (char *)rows->partials + (size_t)of[k][0] * size;
        char *compact = buffer ? buffer + (size_t)count * size : NULL;
        const size_t apart = (size_t)of[k][2] * size;
        if (buffer && of[k][1] > 0 && *code == cudaSuccess) {
            *code = cudaMemcpy2DAsync(back ? at : compact, back ? apart : size, back ? compact : at,
                                      back ? size : apart, size, (size_t)of[k][1],
                                      cudaMemcpyDefault, stream);
        }
        count += of[k][1];
    }
    return count;
}

/* cuda_rows.gather */
static cudaError_t gather(const cuda_rows *rows, size_t size, cudaStream_t stream) {
    const sel_ranks *ranks = ((const sel_state *)rows->with)->ranks;
    const bool leads = ranks->rank == 0;
    cudaError_t code = cudaSuccess;
    for (int r = leads ? 1 : ranks->rank; r < (leads ? ranks->count : ranks->rank + 1); r++) {
        const int64_t count = move_partials(rows, r, size, NULL, false, stream, &code);
        char *buffer = sel_ranks_memory(ranks, (size_t)count * size);
        const sel_message message = {
            .rank = leads ? r : 0, .sends = !leads, .at = buffer, .bytes = (size_t)count * size};
        for (int turn = 0; turn < 2; turn++) {
            if (turn == (int)leads) {
                move_partials(rows, r, size, buffer, leads, stream, &code);
                const cudaError_t done = cudaStreamSynchronize(stream);
                code = code == cudaSuccess ? done : code;
            } else {
                ranks->transfer(&message, count > 0);
            }
        }
        free(buffer);
    }
    return code;
}

cuda_rows cuda_rows_of(const sel_state *state, const sel_box *box) {
    const sel_box all = sel_grid_box(&state->plan->domain->grid);
    const int own = state->ranks->rank;
    cuda_queue *queue = state->queue;
    sel_state_share_box(state, box ? box : &all, queue->row_start);
    return (cuda_rows){.partials = queue->rows,
                       .first = queue->row_start[own],
                       .end = queue->row_start[own + 1],
                       .rank = own,
                       .ranks = state->ranks->count,
                       .start = queue->row_start,
                       .gather = gather,
                       .with = (void *)(uintptr_t)state};
}

/* ---- lists, and cells that are read ---- */

/* `by_rows`: by the first of each row, else by the row of each. */
static sel_status share(const sel_state *state, void *list, int64_t count, size_t size,
                        int64_t (*place)(const sel_state *, int64_t), bool by_rows,
                        sel_error *error) {
    const size_t bytes = (size_t)count * size;
    if (state->ranks->count == 1 || bytes == 0 || !list) {
        return SEL_OK;
    }
    void *host = sel_ranks_memory(state->ranks, bytes);
    sel_status status = cuda_send(host, list, bytes, error);
    if (by_rows) {
        sel_state_share_list(state, host, size, place);
    } else {
        sel_state_share_items(state, host, size, count, place);
    }
    status = status ? status : cuda_send(list, host, bytes, error);
    free(host);
    return status;
}

sel_status cuda_share_list(const sel_state *state, void *list, int64_t count, size_t size,
                           int64_t (*first)(const sel_state *state, int64_t row),
                           sel_error *error) {
    return share(state, list, count, size, first, true, error);
}

sel_status cuda_share_items(const sel_state *state, void *list, int64_t count, size_t size,
                            int64_t (*row)(const sel_state *state, int64_t k), sel_error *error) {
    return share(state, list, count, size, row, false, error);
}

sel_status cuda_own_cells(const sel_state *state, const sel_request *request, int64_t *first,
                          int64_t *end, int64_t **list, sel_error *error) {
    const int own = state->ranks->rank;
    int64_t start[SEL_MOST_RANKS + 1];
    *list = NULL;
    *first = 0;
    *end = request->cells ? request->cell_count : sel_box_cells(&request->box);
    if (state->ranks->count == 1) {
        return SEL_OK;
    }
    if (!request->cells) {
        const int64_t width = sel_box_count(&request->box, 0);
        sel_state_share_box(state, &request->box, start);
        *first = start[own] * width;
        *end = start[own + 1] * width;
        return SEL_OK;
    }
    *list = malloc((size_t)(request->cell_count + 1) * sizeof **list);
    *end = 0;
    for (int64_t c = 0; c < request->cell_count && *list; c++) {
        if (sel_state_has(state, request->cells[c] / state->plan->domain->grid.n[0])) {
            (*list)[(*end)++] = request->cells[c];
        }
    }
    return *list ? SEL_OK
                 : sel_fail_memory(error, "a list of cells",
                                   (uint64_t)request->cell_count * sizeof **list);
}
