/* arrays.c -- one list of arrays: lay it out, allocate, zero, save, load. */
#include "engine/core/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/scene/domain.h"

static uint64_t arrays_round_up(uint64_t bytes, uint64_t line) {
    return (bytes + line - 1) / line * line;
}

static bool on_host(const sel_arrays *arrays, const sel_array *array) {
    return arrays->memory && array->flags & SEL_ON_HOST;
}

static sel_array *append(sel_arrays *arrays) {
    if (arrays->count == arrays->room) {
        int room = 2 * arrays->room + 32;
        sel_array *v = realloc(arrays->v, (size_t)room * sizeof *v);
        arrays->failed = arrays->failed || !v;
        if (!v) {
            return NULL;
        }
        arrays->v = v;
        arrays->room = room;
    }
    return &arrays->v[arrays->count++];
}

/* is: there is an element on some rank. */
static void arrays_add(sel_arrays *arrays, const char *name, void *place, sel_type type,
                       int64_t count, bool is, unsigned flags) {
    void *nothing = NULL;
    if (!(flags & SEL_VALUE)) {
        memcpy(place, &nothing, sizeof nothing);
    }
    sel_array *array = is ? append(arrays) : NULL;
    if (array) {
        *array =
            (sel_array){.name = name, .type = type, .flags = flags, .count = count, .place = place};
    }
    if (array && !(flags & SEL_VALUE)) {
        const bool host = on_host(arrays, array);
        const uint64_t line = arrays->memory && !host ? arrays->memory->line : SEL_LINE;
        array->offset = arrays->bytes[host];
        arrays->bytes[host] += arrays_round_up((uint64_t)count * type.size, line);
    }
}

void sel_arrays_add(sel_arrays *arrays, const char *name, void *place, sel_type type, int64_t count,
                    unsigned flags) {
    arrays_add(arrays, name, place, type, count, count > 0, flags);
}

void sel_arrays_add_sites(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_sites *sites, int64_t lists, unsigned flags) {
    const int before = arrays->count;
    arrays_add(arrays, name, place, type, lists * sites->count, lists * sites->all > 0, flags);
    if (arrays->count > before) {
        arrays->v[before].sites = sites;
        arrays->v[before].lists = lists;
    }
}

void sel_arrays_add_cells(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_layout *layout, unsigned flags) {
    const int before = arrays->count;
    sel_arrays_add(arrays, name, place, type, layout->count, flags);
    if (arrays->count > before) {
        arrays->v[before].layout = *layout;
    }
}

void sel_arrays_add_patch(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_layout *layout, unsigned flags) {
    const int before = arrays->count;
    sel_arrays_add_cells(arrays, name, place, type, layout, flags);
    if (arrays->count > before) {
        arrays->v[before].patch = true;
    }
}

void sel_arrays_add_copy(sel_arrays *arrays, const char *name, void *place, sel_type type,
                         int64_t count, const void *from) {
    const int before = arrays->count;
    sel_arrays_add(arrays, name, place, type, count, 0);
    if (arrays->count > before) {
        arrays->v[before].from = from;
    }
}

/* The number of patches; 1: this rank has all cells. */
static int arrays_patches(const sel_arrays *arrays) {
    return arrays->ranks && !arrays->replicated ? arrays->ranks->count : 1;
}

/* The cells of an array that rank r has. */
static sel_patch arrays_patch_of(const sel_arrays *arrays, const sel_array *array, int r) {
    const int64_t *n = array->layout.n;
    return arrays_patches(arrays) > 1 ? sel_patch_of(arrays->decomposition, r)
                                      : (sel_patch){.hi = {n[0], n[1], n[2]}};
}

/* The element of memory in which a cell is. */
static int64_t arrays_element(const sel_layout *layout, int64_t x, int64_t y, int64_t z) {
    return layout->before + layout->origin + z * layout->slice + y * layout->pitch + x;
}

/* ---- memory ---- */

static char *memory_of(const sel_arrays *arrays, const sel_array *array) {
    return array->flags & SEL_VALUE ? array->place
                                    : (char *)arrays->block[on_host(arrays, array)] + array->offset;
}

/* The element of a component of `end` elements at which thread `t` of `threads` begins. */
static int64_t begin_of(const sel_arrays *arrays, const sel_array *array, int t, int threads,
                        int64_t end) {
    const sel_layout *layout = &array->layout;
    if (!layout->components || !arrays->first_row || t == 0) {
        return end * t / threads;
    }
    const int rank = arrays->ranks ? arrays->ranks->rank : 0;
    const sel_patch own = sel_patch_of(arrays->decomposition, rank);
    const int64_t height = sel_patch_cells(&own, 1), row = arrays->first_row[t];
    const int64_t at =
        arrays_element(layout, 0, own.lo[1] + row % height, own.lo[2] + row / height);
    return t == threads || at > end ? end : at < 0 ? 0 : at;
}

/* Zeroes an array by the threads that will use it, so that its pages lie close to them. */
static void zero(const sel_arrays *arrays, const sel_array *array, int threads) {
    char *memory = memory_of(arrays, array);
    const sel_layout *layout = &array->layout;
    const int64_t size = array->type.size, parts = layout->components ? layout->components : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        for (int64_t c = 0; c < parts; c++) {
            const int64_t from = c * layout->component;
            const int64_t all = c + 1 < parts ? layout->component : array->count - from;
            const int64_t begin = begin_of(arrays, array, t, threads, all);
            const int64_t end = begin_of(arrays, array, t + 1, threads, all);
            memset(memory + (from + begin) * size, 0, (size_t)((end - begin) * size));
        }
    }
}

uint64_t sel_arrays_untouched(const sel_arrays *arrays) {
    uint64_t bytes = 0;
    for (int k = 0; k < arrays->count && arrays_patches(arrays) > 1 && !arrays->memory; k++) {
        const sel_array *array = &arrays->v[k];
        const sel_layout *layout = &array->layout;
        const sel_patch own = sel_patch_of(arrays->decomposition, arrays->ranks->rank);
        const int slow = layout->slow;
        const int64_t planes = array->patch ? 0 : layout->n[slow] - sel_patch_cells(&own, slow);
        bytes += (uint64_t)(layout->components * planes * sel_layout_stride(layout, slow)) *
                 array->type.size;
    }
    return bytes;
}

static const sel_array *find(const sel_arrays *arrays, const void *place) {
    const sel_array *array = arrays->v;
    while (array->place != place) {
        array++;
    }
    return array;
}

void *sel_arrays_memory(const sel_arrays *arrays, const void *place) {
    return memory_of(arrays, find(arrays, place));
}

void sel_arrays_zero(const sel_arrays *arrays, const void *place, int threads) {
    zero(arrays, find(arrays, place), threads);
}

static void set_pointers(const sel_arrays *arrays) {
    for (int k = 0; k < arrays->count; k++) {
        const sel_array *array = &arrays->v[k];
        if (array->flags & SEL_VALUE) {
            continue;
        }
        void *at = memory_of(arrays, array) + array->layout.before * array->type.size;
        memcpy(array->place, &at, sizeof at);
    }
}

sel_status sel_arrays_allocate(sel_arrays *arrays, int threads, const char *what,
                               sel_error *error) {
    const sel_memory *memory = arrays->memory;
    const uint64_t host = arrays->bytes[memory != NULL] + 1;
    void **block = &arrays->block[memory != NULL];
    if (memory) {
        sel_status status = memory->allocate(&arrays->block[0], arrays->bytes[0] + 1, what, error);
        if (status) {
            return status;
        }
    }
    *block = arrays->failed ? NULL : sel_machine_allocate((size_t)host);
    if (!*block) {
        return sel_fail_memory(error, what, host);
    }
    set_pointers(arrays);
    sel_status status = SEL_OK;
    for (int k = 0; k < arrays->count && !status; k++) {
        const sel_array *array = &arrays->v[k];
        if (array->from) {
            status = sel_arrays_send(arrays, memory_of(arrays, array), array->from,
                                     sel_array_bytes(array), error);
        } else if ((!memory || on_host(arrays, array)) && !(array->flags & SEL_VALUE)) {
            if (arrays_patches(arrays) > 1 && !array->patch) {
                sel_machine_clear(memory_of(arrays, array),
                                  (size_t)array->count * array->type.size);
            } else {
                zero(arrays, array, threads);
            }
        }
    }
    return status;
}

sel_status sel_arrays_send(const sel_arrays *arrays, void *to, const void *from, uint64_t bytes,
                           sel_error *error) {
    if (arrays->memory) {
        return arrays->memory->copy(to, from, bytes, error);
    }
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
    return SEL_OK;
}

void sel_arrays_free(sel_arrays *arrays) {
    if (arrays->memory && arrays->block[0]) {
        arrays->memory->release(arrays->block[0]);
    } else {
        free(arrays->block[0]);
    }
    free(arrays->block[1]);
    free(arrays->first_row);
    free(arrays->v);
    *arrays = (sel_arrays){.memory = arrays->memory};
}

/* ---- saving and loading ---- */

/* The ranks that save an array: those that have its cells, or rank 0 a list. */
static int arrays_savers(const sel_arrays *arrays, const sel_array *array) {
    return array->layout.components ? arrays_patches(arrays) : 1;
}

uint64_t sel_array_bytes(const sel_array *array) {
    const int64_t *n = array->layout.n;
    const int64_t count = array->layout.components ? array->layout.components * n[0] * n[1] * n[2]
                          : array->sites           ? array->lists * array->sites->all
                                                   : array->count;
    return (uint64_t)count * array->type.size;
}

/* Elements that lie together in memory: `rows` rows of `width` of them, `pitch` apart. */
typedef struct piece {
    char *at;
    int64_t rows, width, pitch; /* in bytes, but for rows */
} piece;

/* How many bytes are moved at a time. */
static const int64_t piece_bytes = 16 << 20;

/* What saving and loading an array takes. */
typedef struct keeping {
    const sel_arrays *arrays;
    bool host, load;
    sel_arrays_move *move;
    void *stream;
    sel_error *error;
    /* `room` holds rows as they lie in memory that is not the host's; in `buffer` they are compact.
     */
    char *room, *buffer;
    int64_t together; /* rows */
} keeping;

/* Copies a piece between the memory and the buffer. */
static sel_status copy_piece(const keeping *k, const piece *given, size_t bytes) {
    const piece whole = {given->at, 1, (int64_t)bytes, (int64_t)bytes};
    const piece *p = given->width == given->pitch ? &whole : given;
    const uint64_t span = (uint64_t)((p->rows - 1) * p->pitch + p->width);
    const sel_memory *memory = k->arrays->memory;
    char *rows = k->host ? p->at : k->room;
    sel_status status = SEL_OK;
    if (!k->host) { /* what lies between the rows stays */
        status = memory->copy(k->room, p->at, span, k->error);
    }
    for (int64_t r = 0; r < p->rows && !status; r++) {
        char *in_memory = rows + r * p->pitch, *compact = k->buffer + r * p->width;
        memcpy(k->load ? in_memory : compact, k->load ? compact : in_memory, (size_t)p->width);
    }
    return status || k->host || !k->load ? status : memory->copy(p->at, k->room, span, k->error);
}

/* Moves the buffer to the stream of rank 0, or from it. Ranks go on after a failure, since others
 * wait for them. */
static sel_status move_piece(const keeping *k, const piece *p, int owner) {
    const size_t bytes = (size_t)(p->rows * p->width);
    const sel_ranks *ranks = k->arrays->ranks ? k->arrays->ranks : &sel_one_rank;
    const bool mine = owner == ranks->rank, leads = ranks->rank == 0;
    const sel_message message = {
        .rank = leads ? owner : 0, .sends = leads == k->load, .at = k->buffer, .bytes = bytes};
    sel_status status = leads && k->load ? k->move(k->stream, k->buffer, bytes, k->error) : SEL_OK;
    if (k->load && owner > 0) {
        ranks->transfer(&message, leads || mine);
    }
    if (mine && !status) {
        status = copy_piece(k, p, bytes);
    }
    if (!k->load && owner > 0) {
        ranks->transfer(&message, leads || mine);
    }
    return status || k->load || !leads ? status : k->move(k->stream, k->buffer, bytes, k->error);
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The rows of a component in a patch, which rank `owner` has. */
static sel_status keep_component(const keeping *k, const sel_array *array, const sel_layout *layout,
                                 const sel_patch *patch, int64_t c, int owner) {
    const int64_t size = array->type.size;
    piece p = {.width = sel_patch_cells(patch, 0) * size, .pitch = layout->pitch * size};
    sel_status status = SEL_OK;
    for (int64_t y = patch->lo[1], z = patch->lo[2]; z < patch->hi[2] && y < patch->hi[1];) {
        p.rows = smaller(k->together, patch->hi[1] - y);
        p.at = memory_of(k->arrays, array) +
               (arrays_element(layout, patch->lo[0], y, z) + c * layout->component) * size;
        const sel_status one = move_piece(k, &p, owner);
        status = status ? status : one;
        if (status && arrays_patches(k->arrays) == 1) {
            return status;
        }
        y += p.rows;
        z += y == patch->hi[1];
        y = y == patch->hi[1] ? patch->lo[1] : y;
    }
    return status;
}

/* Saves or loads a component in the order of the grid. Each rank moves its own patch; patches that
 * share planes take turns plane by plane. */
static sel_status keep_patches(const keeping *k, const sel_array *array, int64_t c) {
    const sel_decomposition *d = k->arrays->decomposition;
    const int savers = arrays_savers(k->arrays, array);
    const int share = sel_divides_planes(d) ? d->ranks[1] : 1; /* of the same planes */
    sel_status status = SEL_OK;
    for (int first = 0; first < savers; first += share) {
        const sel_patch planes = sel_patch_of(d, first);
        const int64_t together = share > 1 ? 1 : sel_patch_cells(&planes, 2);
        for (int64_t z = planes.lo[2]; z < planes.hi[2]; z += together) {
            for (int r = first; r < first + share; r++) {
                sel_patch patch = sel_patch_of(d, r);
                patch.lo[2] = z;
                patch.hi[2] = z + together;
                const sel_status one = keep_component(k, array, &array->layout, &patch, c, r);
                status = status ? status : one;
            }
        }
    }
    return status;
}

/* All cells of an array. */
static sel_status keep_cells(const keeping *k, const sel_array *array) {
    const bool alone = arrays_patches(k->arrays) == 1;
    const sel_patch all = arrays_patch_of(k->arrays, array, 0);
    sel_status status = SEL_OK;
    for (int64_t c = 0; c < array->layout.components && !(alone && status); c++) {
        const sel_status one = alone ? keep_component(k, array, &array->layout, &all, c, 0)
                                     : keep_patches(k, array, c);
        status = status ? status : one;
    }
    return status;
}

/* Copies an array of rank 0 to the memory of all ranks. */
static sel_status broadcast(const keeping *k, const sel_ranks *ranks, const sel_array *array) {
    const size_t bytes = (size_t)array->count * array->type.size;
    char *memory = memory_of(k->arrays, array);
    char *at = k->host ? memory : sel_ranks_memory(ranks, bytes);
    sel_status status = SEL_OK;
    if (!k->host && ranks->rank == 0) {
        status = k->arrays->memory->copy(at, memory, bytes, k->error);
    }
    ranks->broadcast(at, bytes, false);
    if (!k->host) {
        status = status ? status : k->arrays->memory->copy(memory, at, bytes, k->error);
        free(at);
    }
    return status;
}

/* What all ranks know: rank 0 saves it, all load it. A list is moved like a column of rows. */
static sel_status keep_known(const keeping *k, const sel_array *array) {
    const sel_layout list = {.pitch = 1};
    const sel_patch all = {.hi = {1, array->count, 1}};
    const sel_ranks *ranks = k->arrays->ranks ? k->arrays->ranks : &sel_one_rank;
    sel_status status = SEL_OK;
    if (ranks->rank == 0) {
        status = array->layout.components ? keep_cells(k, array)
                                          : keep_component(k, array, &list, &all, 0, 0);
    }
    if (k->load && ranks->count > 1) {
        const sel_status sent = broadcast(k, ranks, array);
        status = status ? status : sent;
    }
    return status;
}

/* One of the lists of an array at sites, which each rank has at `own`: rank 0 moves all of it.
 * Ranks go on after a failure, since others wait for them. */
static sel_status keep_list(const keeping *k, const sel_array *array, char *own) {
    const sel_sites *sites = array->sites;
    const size_t size = array->type.size, bytes = (size_t)sites->all * size;
    const bool leads = sites->ranks->rank == 0;
    char *all = leads ? sel_ranks_memory(sites->ranks, bytes) : NULL;
    sel_status status = SEL_OK;
    if (!k->load) {
        sel_sites_gather(sites, own, size, all);
    }
    for (size_t at = 0; at < bytes && leads && !status; at += (size_t)piece_bytes) {
        const int64_t left = (int64_t)(bytes - at);
        status = k->move(k->stream, all + at, (size_t)smaller(left, piece_bytes), k->error);
    }
    if (k->load) {
        sel_sites_scatter(sites, all, size, own);
    }
    free(all);
    return status;
}

/* Numbers at sites that several ranks have. */
static sel_status keep_sites(const keeping *k, const sel_array *array) {
    const sel_ranks *ranks = array->sites->ranks;
    const size_t bytes = (size_t)array->count * array->type.size;
    char *memory = memory_of(k->arrays, array);
    char *at = k->host ? memory : sel_ranks_memory(ranks, bytes);
    sel_status status = SEL_OK;
    if (!k->host && !k->load) {
        status = k->arrays->memory->copy(at, memory, bytes, k->error);
    }
    for (int64_t l = 0; l < array->lists; l++) {
        char *list = at + l * array->sites->count * array->type.size;
        const sel_status one = keep_list(k, array, list);
        status = status ? status : one;
    }
    if (!k->host) {
        if (k->load && !status) {
            status = k->arrays->memory->copy(memory, at, bytes, k->error);
        }
        free(at);
    }
    return status;
}

/* Whether each of several ranks has those of its patch. */
static bool arrays_divide_sites(const sel_arrays *arrays, const sel_array *array) {
    return array->sites && array->sites->ranks && array->sites->ranks->count > 1 &&
           arrays_patches(arrays) > 1;
}

bool sel_array_may_hold(const sel_array *array, const void *elements, int64_t count) {
    const bool part = array->flags & SEL_PART;
    bool may = true;
    for (int64_t i = 0; array->type.kind == 'f' && i < count && may; i++) {
        const double value = sel_get(elements, array->type, i);
        may = part ? value >= 0 && value < 1 : array->flags & SEL_ANY_NUMBER || isfinite(value);
    }
    for (int64_t i = 0; array->type.kind == 't' && i < count && may; i++) {
        const sel_total *total = (const sel_total *)elements + i;
        may = isfinite(total->sum) && isfinite(total->lost);
    }
    return may;
}

sel_status sel_arrays_keep(const sel_arrays *arrays, int k, bool load, sel_arrays_move *move,
                           void *stream, sel_error *error) {
    const sel_array *array = &arrays->v[k];
    const bool is_list = array->layout.components == 0;
    const int64_t pitch = (is_list ? 1 : array->layout.pitch) * array->type.size;
    keeping keeps = {.arrays = arrays,
                     .host = !arrays->memory || on_host(arrays, array),
                     .load = load,
                     .move = move,
                     .stream = stream,
                     .error = error};
    if (arrays_divide_sites(arrays, array)) {
        return keep_sites(&keeps, array);
    }
    for (int r = 0; r < arrays_savers(arrays, array); r++) {
        const sel_patch patch = arrays_patch_of(arrays, array, r);
        const int64_t rows = is_list ? array->count : sel_patch_cells(&patch, 1);
        keeps.together = rows > keeps.together ? rows : keeps.together;
    }
    keeps.together = smaller(keeps.together, piece_bytes / pitch + 1);
    char *room = malloc((size_t)(2 * keeps.together * pitch));
    sel_status status = room ? SEL_OK
                             : sel_fail_memory(error, "a part of the state",
                                               (uint64_t)(2 * keeps.together * pitch));
    status = arrays->ranks ? sel_ranks_agree(arrays->ranks, status, error) : status;
    keeps.room = room;
    keeps.buffer = room ? room + keeps.together * pitch : NULL;
    if (!status) {
        const bool known = is_list || arrays_patches(arrays) == 1;
        status = known ? keep_known(&keeps, array) : keep_cells(&keeps, array);
    }
    free(room);
    return status;
}
