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

void sel_arrays_add(sel_arrays *arrays, const char *name, void *place, sel_type type, int64_t count,
                    unsigned flags) {
    void *nothing = NULL;
    if (!(flags & SEL_VALUE)) {
        memcpy(place, &nothing, sizeof nothing);
    }
    sel_array *array = count > 0 ? append(arrays) : NULL;
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

void sel_arrays_add_cells(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_cells *cells, unsigned flags) {
    const int before = arrays->count;
    sel_arrays_add(arrays, name, place, type, cells->count, flags);
    if (arrays->count > before) {
        arrays->v[before].cells = *cells;
    }
}

void sel_arrays_add_block(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_cells *cells, unsigned flags) {
    const int before = arrays->count;
    sel_arrays_add_cells(arrays, name, place, type, cells, flags);
    if (arrays->count > before) {
        arrays->v[before].divided = true;
        arrays->v[before].boxed = true;
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

/* How many ranks share cells out; 1: this one has all. */
static int ranks_of(const sel_arrays *arrays) {
    return arrays->ranks && !arrays->all_know ? arrays->ranks->count : 1;
}

/* ---- memory ---- */

static char *memory_of(const sel_arrays *arrays, const sel_array *array) {
    return array->flags & SEL_VALUE ? array->place
                                    : (char *)arrays->block[on_host(arrays, array)] + array->offset;
}

/* The element of a plane of `end` elements at which thread `t` of `threads` begins. */
static int64_t begin_of(const sel_arrays *arrays, const sel_cells *cells, int t, int threads,
                        int64_t end) {
    if (!cells->components || !arrays->first_row || t == 0) {
        return end * t / threads;
    }
    const sel_rows own = sel_cut_rows(arrays->cut, arrays->ranks ? arrays->ranks->rank : 0);
    const int64_t row = sel_row_of(&own, arrays->first_row[t]);
    const int64_t ny = sel_cells_in_layers(cells) ? arrays->cut->row[arrays->cut->across] : row + 1;
    const int64_t at = cells->before + cells->first - cells->shift + row / ny * cells->slice +
                       row % ny * cells->pitch;
    return t == threads || at > end ? end : at < 0 ? 0 : at;
}

/* Zeroes an array by the threads that will use it, so that its pages lie close to them. */
static void zero(const sel_arrays *arrays, const sel_array *array, int threads) {
    char *memory = memory_of(arrays, array);
    const sel_cells *cells = &array->cells;
    const int64_t size = array->type.size, planes = cells->components ? cells->components : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        for (int64_t c = 0; c < planes; c++) {
            const int64_t from = c * cells->plane;
            const int64_t plane = c + 1 < planes ? cells->plane : array->count - from;
            const int64_t begin = begin_of(arrays, cells, t, threads, plane);
            const int64_t end = begin_of(arrays, cells, t + 1, threads, plane);
            memset(memory + (from + begin) * size, 0, (size_t)((end - begin) * size));
        }
    }
}

uint64_t sel_arrays_untouched(const sel_arrays *arrays) {
    const int axis = arrays->axis;
    uint64_t bytes = 0;
    for (int k = 0; k < arrays->count && ranks_of(arrays) > 1 && !arrays->memory; k++) {
        const sel_array *array = &arrays->v[k];
        const sel_cells *cells = &array->cells;
        const int64_t *first = arrays->cut->plane + arrays->ranks->rank / arrays->cut->across;
        const int64_t planes = array->divided ? 0 : cells->n[axis] - (first[1] - first[0]);
        const int64_t plane = axis == 2 ? cells->slice : cells->pitch;
        bytes += (uint64_t)(cells->components * planes * plane) * array->type.size;
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
        void *at = memory_of(arrays, array) +
                   (array->cells.before - array->cells.shift) * array->type.size;
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
                                     sel_array_bytes(arrays, array), error);
        } else if ((!memory || on_host(arrays, array)) && !(array->flags & SEL_VALUE)) {
            if (ranks_of(arrays) > 1 && !array->divided) {
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

/* What rank p has of an array. */
static sel_cells cells_of_part(const sel_arrays *arrays, const sel_array *array, int p) {
    const int all = ranks_of(arrays), axis = arrays->axis;
    const sel_cut *cut = arrays->cut;
    sel_cells cells = array->cells;
    if (all > 1 && cells.components) {
        const int64_t *plane = cut->plane + p / cut->across, *row = cut->row + p % cut->across;
        cells.n[axis] = plane[1] - plane[0];
        cells.first += (array->divided ? 0 : plane[0]) * (axis == 2 ? cells.slice : cells.pitch);
        if (axis == 2) {
            cells.n[1] = row[1] - row[0];
            cells.first += (array->boxed ? 0 : row[0]) * cells.pitch;
        }
    }
    return cells;
}

static int arrays_parts_of(const sel_arrays *arrays, const sel_array *array) {
    return array->cells.components ? ranks_of(arrays) : 1;
}

uint64_t sel_array_bytes(const sel_arrays *arrays, const sel_array *array) {
    int64_t count = array->cells.components ? 0 : array->count;
    for (int p = 0; p < arrays_parts_of(arrays, array); p++) {
        const sel_cells cells = cells_of_part(arrays, array, p);
        count += cells.components * cells.n[0] * cells.n[1] * cells.n[2];
    }
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

/* One component of an array or of a part of it. */
static sel_status keep_component(const keeping *k, const sel_array *array, const sel_cells *cells,
                                 int64_t c, int owner) {
    const int64_t size = array->type.size, rows = cells->n[1];
    piece p = {.width = cells->n[0] * size, .pitch = cells->pitch * size};
    sel_status status = SEL_OK;
    for (int64_t row = 0, z = 0; z < cells->n[2] && rows > 0;) {
        p.rows = smaller(k->together, rows - row);
        p.at = memory_of(k->arrays, array) +
               (cells->before + cells->first + c * cells->plane + z * cells->slice) * size +
               row * p.pitch;
        const sel_status one = move_piece(k, &p, owner);
        status = status ? status : one;
        if (status && ranks_of(k->arrays) == 1) {
            return status;
        }
        row += p.rows;
        z += row == rows;
        row = row == rows ? 0 : row;
    }
    return status;
}

/* A component of what ranks share out: where they have rows of planes, plane by plane. */
static sel_status keep_shared(const keeping *k, const sel_array *array, int64_t c) {
    const int across = k->arrays->cut->across, parts = arrays_parts_of(k->arrays, array);
    sel_status status = SEL_OK;
    for (int first = 0; first < parts; first += across) {
        const int64_t planes = cells_of_part(k->arrays, array, first).n[2];
        const int64_t together = across > 1 ? 1 : planes;
        for (int64_t z = 0; z < planes; z += together) {
            for (int p = first; p < first + across; p++) {
                sel_cells cells = cells_of_part(k->arrays, array, p);
                cells.first += z * cells.slice;
                cells.n[2] = together;
                const sel_status one = keep_component(k, array, &cells, c, p);
                status = status ? status : one;
            }
        }
    }
    return status;
}

/* All of an array, or of what ranks share out. */
static sel_status keep_cells(const keeping *k, const sel_array *array) {
    const bool alone = ranks_of(k->arrays) == 1;
    sel_status status = SEL_OK;
    for (int64_t c = 0; c < array->cells.components && !(alone && status); c++) {
        const sel_status one =
            alone ? keep_component(k, array, &array->cells, c, 0) : keep_shared(k, array, c);
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

/* What all ranks know: rank 0 saves it, all load it. A list is cut like a column of rows. */
static sel_status keep_known(const keeping *k, const sel_array *array) {
    const sel_cells list = {
        .n = {1, array->count, 1}, .components = 1, .pitch = 1, .slice = 1, .plane = 1};
    const sel_ranks *ranks = k->arrays->ranks ? k->arrays->ranks : &sel_one_rank;
    sel_status status = SEL_OK;
    if (ranks->rank == 0) {
        status =
            array->cells.components ? keep_cells(k, array) : keep_component(k, array, &list, 0, 0);
    }
    if (k->load && ranks->count > 1) {
        const sel_status sent = broadcast(k, ranks, array);
        status = status ? status : sent;
    }
    return status;
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
    const bool is_list = array->cells.components == 0;
    const int64_t pitch = (is_list ? 1 : array->cells.pitch) * array->type.size;
    const int parts = arrays_parts_of(arrays, array);
    keeping keeps = {.arrays = arrays,
                     .host = !arrays->memory || on_host(arrays, array),
                     .load = load,
                     .move = move,
                     .stream = stream,
                     .error = error};
    for (int p = 0; p < parts; p++) {
        const int64_t rows = is_list ? array->count : cells_of_part(arrays, array, p).n[1];
        keeps.together = rows > keeps.together ? rows : keeps.together;
    }
    keeps.together = smaller(keeps.together, piece_bytes / pitch + 1);
    char *room = malloc((size_t)(2 * keeps.together * pitch));
    sel_status status = room ? SEL_OK
                             : sel_fail_memory(error, "a part of the state",
                                               (uint64_t)(2 * keeps.together * pitch));
    status = arrays->ranks ? sel_ranks_agree(arrays->ranks, status, error) : status;
    keeps.room = room;
    keeps.buffer = room + keeps.together * pitch;
    if (!status) {
        const bool known = is_list || ranks_of(arrays) == 1;
        status = known ? keep_known(&keeps, array) : keep_cells(&keeps, array);
    }
    free(room);
    return status;
}
