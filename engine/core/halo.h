/* halo.h -- fields: numbers of cells that steps read beyond the rank's patch; their halos.
 *
 * A field is stored with a halo of some cells beyond each end of the patch along the divided axes.
 * Before a step reads it, each rank sends the cells at its ends to its neighbours, first along y,
 * then along z together with the halos along y, so that the cells at edges arrive, too:
 *
 *        +---+--------------+---+        1. along y: rows of the patch
 *        | 2 |      1       | 2 |        2. along z: planes, with the halo rows of 1
 *     y  +---+--------------+---+
 *        | 2 | cells of the | 2 |
 *        | 2 |    patch     | 2 |
 *        +---+--------------+---+
 *        | 2 |      1       | 2 |
 *        +---+--------------+---+
 *                  z ->
 *
 * A rank that is alone along the slowest axis fills its halo there by a message to itself, where
 * the grid is periodic.
 *
 * A step that writes beyond the patch instead (streaming in place does so in every other step) is
 * followed by the way back: from the halo of a rank to the cells of its neighbour, first along z,
 * then along y.
 */
#ifndef SEL_HALO_H
#define SEL_HALO_H

#include "engine/base/ranks.h"
#include "engine/core/arrays.h"
#include "engine/scene/solver.h"

typedef struct sel_field {
    const char *name; /* of its array in a checkpoint */
    unsigned flags;  /* SEL_SAVED and others (arrays.h), of the copy that holds the present state */
    int copies;      /* 1, or 2 */
    bool alternates; /* a pass reads one copy and fills the other one; else the second is scratch */
    int present;     /* the copy that holds the present state */
    void **at;       /* where the pointers to the copies are */
    sel_type type;
    sel_layout layout;
    int halo;        /* cells beyond each end of the patch along a divided axis */
    int64_t lead[3]; /* [1] row, [2] plane: offset of its cell x = 0, y = 0 from the begin of the
                        message; negative where planes begin with a later row */
    bool behind; /* both halos of the slowest axis stand behind the patch, the lower one first */
    /* [axis][0], [1]: the components that steps move down, up across the ends of patches, a bit
     * each and as many down as up: five of D3Q19's 19 populations. 0: steps read all of them. */
    uint32_t moves[3][2];
} sel_field;

/* Elements from a plane of the slowest axis to the next one. */
static inline int64_t sel_field_stride(const sel_field *field) {
    return sel_layout_stride(&field->layout, field->layout.slow);
}

/* What an array sends to the neighbours on the lower and the upper side, and receives from them, as
 * many bytes each: `pieces` (0: one) of `bytes` bytes, `apart` bytes from one to the next. */
typedef struct sel_halo {
    void *low, *high, *from_low, *from_high;
    size_t bytes;
    int64_t pieces, apart;
} sel_halo;

/* What an exchange carries, and which way. */
typedef enum sel_way {
    SEL_FETCH_ALL, /* from the cells of a neighbour to the halo: all components, */
    SEL_FETCH,     /* those that steps move across the end (sel_field.moves) */
    SEL_RETURN     /* these from the halo to the cells of the neighbour */
} sel_way;

/* The halos of an array that is laid out as the field, `depth` cells deep, along an axis. Returns
 * their number, at most that of the field's components. */
enum { SEL_MOST_COMPONENTS = 32 };
int sel_list_halos(const sel_field *field, const sel_patch *own, void *array, int axis, int depth,
                   sel_way way, sel_halo *halos);

/* Bytes that a rank sends to one neighbour along an axis for all components of a field, as many
 * cells deep as its halo. */
int64_t sel_halo_bytes(const sel_field *field, const sel_patch *own, int axis);

/* Whether halos along an axis come from other ranks. */
static inline bool sel_halo_along(const sel_decomposition *decomposition, int axis) {
    return axis == decomposition->slow || decomposition->ranks[axis] > 1;
}

/* Sends and receives halos along an axis. `room`: four times the bytes of all halos, if any of them
 * has pieces; else NULL. */
void sel_exchange_halos(const sel_ranks *ranks, const sel_neighbours *neighbours,
                        const sel_halo *halos, int count, char *room);

/* Fills the halo of an array that is laid out as the field, along all axes; or returns it. `room`
 * as above. */
void sel_exchange_field(const sel_ranks *ranks, const sel_decomposition *decomposition,
                        const sel_field *field, void *array, sel_way way, char *room);

/* The axis of pass k = 0, 1, ... of an exchange over the axes from `first` on: halos are filled
 * axis by axis, and returned in the reverse order. */
static inline int sel_way_axis(const sel_decomposition *decomposition, sel_way way, int first,
                               int k) {
    return way == SEL_RETURN ? decomposition->slow - k : first + k;
}

/* The messages of a halo of one piece; returns their number. Where one rank is the neighbour on
 * both sides, the message to the lower side comes first. */
int sel_list_messages(const sel_neighbours *neighbours, const sel_halo *halo,
                      sel_message messages[4]);

/* The ranks of a plan. */
static inline const sel_ranks *sel_plan_ranks(const sel_plan *plan) {
    return plan->ranks ? plan->ranks : &sel_one_rank;
}

#endif
