/* arrays.h -- the memory of a state as one list: from it memory is estimated, allocated, zeroed,
 * saved and loaded, on the host and on a device.
 *
 * A solver lists its arrays once. An array knows the layout of its cells, so it is saved without
 * halos and padding, in the order of the grid, and backends with other layouts can load it.
 */
#ifndef SEL_ARRAYS_H
#define SEL_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/base/ranks.h"
#include "engine/base/sums.h"
#include "engine/core/sites.h"
#include "engine/scene/patch.h"

enum { SEL_LINE = 128 }; /* bytes to which arrays on the host are aligned */

enum {
    SEL_SAVED = 1,   /* part of checkpoints: the state cannot be resumed without it */
    SEL_ON_HOST = 2, /* kept by the host, wherever the kernels run */
    SEL_VALUE = 4,   /* a member of the state itself, at `place` */
    /* With SEL_SAVED: may be missing in a checkpoint, as it can be computed again, except for
     * effects of hooks or of the order of sums. Loaded after the others. */
    SEL_OPTIONAL = 8,
    SEL_OBSERVED = 16, /* with SEL_OPTIONAL: filled by observed steps (sel_backend.advance) */
    /* With SEL_SAVED, of floats: NaN and infinities are no damage. Cells that are not free may have
     * them; of free ones the run looks at the state that it has loaded. */
    SEL_ANY_NUMBER = 32,
    SEL_PART = 64 /* with SEL_SAVED, of floats: each is at least 0 and less than 1 */
};

/* Of an element: 'f', 'i', 'u' for numbers, 't' for a sel_total, 's' for other structs; its bytes.
 */
typedef struct sel_type {
    char kind;
    uint32_t size;
} sel_type;

#define SEL_TYPE_OF(x)                    \
    ((sel_type){_Generic((x), double      \
                         : 'f', float     \
                         : 'f', int32_t   \
                         : 'i', int64_t   \
                         : 'i', uint8_t   \
                         : 'u', uint32_t  \
                         : 'u', sel_total \
                         : 't', default   \
                         : 's'),          \
                (uint32_t)sizeof(x)})

/* Stores a number as element k of an array of the type: of floats, doubles, int32_t or uint8_t. */
static inline void sel_put(void *array, sel_type type, int64_t k, double value) {
    if (type.kind == 'i') {
        ((int32_t *)array)[k] = (int32_t)value;
    } else if (type.kind == 'u') {
        ((uint8_t *)array)[k] = (uint8_t)value;
    } else if (type.size == sizeof(float)) {
        ((float *)array)[k] = (float)value;
    } else {
        ((double *)array)[k] = value;
    }
}

/* The value of element k of such an array. */
static inline double sel_get(const void *array, sel_type type, int64_t k) {
    return type.kind == 'i'             ? ((const int32_t *)array)[k]
           : type.size == sizeof(float) ? (double)((const float *)array)[k]
                                        : ((const double *)array)[k];
}

/* Where the numbers of cells are in memory: component c of cell (x, y, z) of the grid is element
 *
 *     origin + c component + z slice + y pitch + x
 *
 * counted from the pointer to the array. A rank stores the cells of its patch and a halo only; its
 * pointer is shifted so that numbers of the whole grid lead to them.
 *
 *     memory   | padding | halo | cells lo <= i < hi of the patch | halo | padding |
 *              ^ element -before                                              count elements
 */
typedef struct sel_layout {
    int64_t n[3]; /* of the grid */
    int slow;     /* its slowest axis: 1 or 2 */
    int components;
    int64_t origin, pitch, slice, component;
    int64_t before; /* elements of memory in front of the pointer; negative: it points before it */
    int64_t count;  /* of all elements, with halos and padding */
} sel_layout;

/* Elements from a cell to the next one along an axis. */
static inline int64_t sel_layout_stride(const sel_layout *layout, int axis) {
    return axis == 2 ? layout->slice : axis == 1 ? layout->pitch : 1;
}

/* Elements from cell (0, 0, 0) to the first cell of a row (y + ny z). */
static inline int64_t sel_layout_row(const sel_layout *layout, int64_t row) {
    return row % layout->n[1] * layout->pitch + row / layout->n[1] * layout->slice;
}

typedef struct sel_array {
    const char *name; /* unique in the list, except for the two copies of a field */
    sel_type type;
    unsigned flags;
    int64_t count;     /* of elements */
    sel_layout layout; /* components == 0: no cells, a list */
    /* Of a list of numbers at the sites of the rank's patch: the sites, and the number of lists of
     * that length, one after the other. NULL: a list that every rank has as a whole. */
    const sel_sites *sites;
    int64_t lists;
    bool patch;       /* its memory is that of the rank's own cells, not of the whole grid */
    void *place;      /* the pointer that is set, or the value */
    const void *from; /* its content; NULL: zeros */
    uint64_t offset;  /* bytes in its block */
    /* Of two copies of a field: its number, and a pointer to the number of the present copy. NULL:
     * it is no copy. */
    int copy;
    const int *present;
} sel_array;

/* Memory that is not the host's own. */
typedef struct sel_memory {
    uint64_t line; /* bytes to which arrays are aligned */
    /* Zeroed. */
    sel_status (*allocate)(void **block, uint64_t bytes, const char *what, sel_error *error);
    void (*release)(void *block);
    /* Between host and device or within it; done when it returns. */
    sel_status (*copy)(void *to, const void *from, uint64_t bytes, sel_error *error);
} sel_memory;

typedef struct sel_arrays {
    const sel_memory *memory; /* NULL: the host's */
    sel_array *v;
    int count, room;
    bool failed;       /* there was no memory for the list */
    uint64_t bytes[2]; /* of memory, and of the host's for SEL_ON_HOST */
    void *block[2];
    /* [threads + 1] of the rows of this rank (sel_row_of) those that each thread will step; from
     * malloc, freed with the list. NULL: as many each. */
    int64_t *first_row;
    /* NULL: one rank. Each of several has the cells and sites of its own patch, or with
     * `replicated` all of them; and all of the other lists. */
    const sel_ranks *ranks;
    const sel_decomposition *decomposition;
    bool replicated;
} sel_arrays;

/* Lists an array; `place` is the address of the pointer to it, which is NULL until there is memory,
 * and stays so when the count is 0. `name` must live as long as the list. */
void sel_arrays_add(sel_arrays *arrays, const char *name, void *place, sel_type type, int64_t count,
                    unsigned flags);
void sel_arrays_add_cells(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_layout *layout, unsigned flags);
/* The same with memory for the cells of the rank's patch only. */
void sel_arrays_add_patch(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_layout *layout, unsigned flags);
/* The same of `lists` lists, one behind the other, of an element at each site of the patch.
 * `sites` must live as long as the list. The pointer is not NULL if the grid has sites. */
void sel_arrays_add_sites(sel_arrays *arrays, const char *name, void *place, sel_type type,
                          const sel_sites *sites, int64_t lists, unsigned flags);

/* A typed member of a struct, by its name. */
#define SEL_ADD(arrays, owner, member, count, flags) \
    sel_arrays_add(arrays, #member, &(owner)->member, SEL_TYPE_OF(*(owner)->member), count, flags)

/* The same for a list whose content is known: `from`, which must live until there is memory. */
void sel_arrays_add_copy(sel_arrays *arrays, const char *name, void *place, sel_type type,
                         int64_t count, const void *from);
#define SEL_ADD_COPY(arrays, owner, member, count, from)                                         \
    sel_arrays_add_copy(arrays, #member, &(owner)->member, SEL_TYPE_OF(*(owner)->member), count, \
                        from)

/* The same for a number or struct of the state that is saved. */
#define SEL_ADD_VALUE(arrays, owner, member)                                           \
    sel_arrays_add(arrays, #member, &(owner)->member, SEL_TYPE_OF((owner)->member), 1, \
                   SEL_SAVED | SEL_ON_HOST | SEL_VALUE)

/* Bytes of the cells of other ranks, which take no memory on the host. */
uint64_t sel_arrays_untouched(const sel_arrays *arrays);

/* Memory for all, zeroed (the host's by `threads` threads, each that of the cells that it will
 * step) or with its content, and the pointers. `what` it is for is named when there is not enough.
 */
sel_status sel_arrays_allocate(sel_arrays *arrays, int threads, const char *what, sel_error *error);

/* The memory of the array whose pointer is `*place`, from its first element on, which may lie
 * before the pointer. The second function zeroes it, on the host. */
void *sel_arrays_memory(const sel_arrays *arrays, const void *place);
void sel_arrays_zero(const sel_arrays *arrays, const void *place, int threads);

/* Whether elements as they are saved, one behind the other, are what an array may hold. */
bool sel_array_may_hold(const sel_array *array, const void *elements, int64_t count);

/* Copies from the host's memory to where the arrays are; done when it returns. */
sel_status sel_arrays_send(const sel_arrays *arrays, void *to, const void *from, uint64_t bytes,
                           sel_error *error);

/* Frees the memory and the list. */
void sel_arrays_free(sel_arrays *arrays);

/* Bytes of an array as it is saved, of all ranks: [components][nz][ny][nx], [lists][sites of the
 * grid], or the list. */
uint64_t sel_array_bytes(const sel_array *array);

/* Saves or loads array k piece by piece in the order of the file: `move` takes the bytes, or fills
 * them; with several ranks, that of rank 0. */
typedef sel_status sel_arrays_move(void *stream, void *bytes, size_t count, sel_error *error);
sel_status sel_arrays_keep(const sel_arrays *arrays, int k, bool load, sel_arrays_move *move,
                           void *stream, sel_error *error);

#endif
