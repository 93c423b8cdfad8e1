/* comm.h -- the blocks of a grid, one for each rank, and the halos that they exchange.
 *
 * A grid is cut along its slowest axis (y in 2-D, z in 3-D) into blocks of whole planes, and in 3-D
 * also along y, never along x. What steps also read in the cells beside (populations, depths: what
 * has a neighbourhood) is kept with a halo of some planes beyond the ends of the block, and of rows
 * where planes are cut; all numbers of cells, rows and planes are those of the whole grid: the
 * pointer to a block's memory is shifted, so that such a number leads to its cell. Before cells of
 * another block are read, they are sent to the halo: first those along y, then planes with the
 * halos along y, so that edges arrive too. A single rank has one block, the whole grid.
 */
#ifndef SEL_COMM_H
#define SEL_COMM_H

#include "engine/base/ranks.h"
#include "engine/core/arrays.h"
#include "engine/scene/solver.h"

/* Planes first <= p < end, in 3-D of these the rows low <= y < high; else low = 0, high = 1. */
typedef struct sel_block {
    int64_t first, end, low, high;
} sel_block;

/* Divides a grid into `count` parts with equal numbers of free cells. A part has two planes at
 * least; where there are too few planes, there are fewer parts. `across` is the number of parts
 * beside each other along y. 1: each part has whole planes. 0: the number with the least halo.
 * SEL_ACROSS_HALVES: that number if its halo is less than half of that of whole planes, else 1.
 * Returns the number of parts. */
enum { SEL_ACROSS_HALVES = -1 };
int sel_grid_cut(const sel_domain *domain, int count, int across, sel_cut *cut);
sel_block sel_cut_block(const sel_cut *cut, int rank);

/* Free cells of the planes first <= p < end, and of a block. */
int64_t sel_planes_free(const sel_domain *domain, int64_t first, int64_t end);
int64_t sel_block_free(const sel_domain *domain, const sel_block *block);

/* Two copies of cells that take turns: at[step & 1] is that for a step. */
typedef struct sel_turns {
    void **at;
    sel_type type;
    sel_cells cells; /* those of the whole grid, or as the block has them */
    int width;       /* planes of a halo, beyond each end of a block, and rows */
    int64_t margin;  /* elements of a plane in front of its first cell, */
    int64_t lead;    /* and of a row */
    bool behind;     /* both halos stand behind the block, the one of its first plane first */
} sel_turns;

/* Elements from plane to plane. */
static inline int64_t sel_turns_stride(const sel_turns *turns) {
    return sel_cells_in_layers(&turns->cells) ? turns->cells.slice : turns->cells.pitch;
}

/* The cells of a block. */
sel_cells sel_block_cells(const sel_turns *turns, const sel_block *block);

/* The first plane of the halo beyond the first plane of a block, and of that beyond its last. */
static inline int64_t sel_halo_low(const sel_turns *turns, const sel_block *block) {
    return turns->behind ? block->end : block->first - turns->width;
}
static inline int64_t sel_halo_high(const sel_turns *turns, const sel_block *block) {
    return block->end + (turns->behind ? turns->width : 0);
}

/* The ranks of a plan. */
static inline const sel_ranks *sel_plan_ranks(const sel_plan *plan) {
    return plan->ranks ? plan->ranks : &sel_one_rank;
}

/* The ranks below and above, along y (axis 0) or the slowest axis (1), and whether there are such:
 * around a periodic axis a rank may be beside itself. */
typedef struct sel_beside {
    int rank[2];
    bool is[2];
} sel_beside;
sel_beside sel_cut_beside(const sel_cut *cut, int rank, int axis);
/* Of ranks that have whole planes. */
sel_beside sel_ranks_beside(const sel_ranks *ranks, bool wraps);

/* Fills the halos of the block that this rank has, in an array that is laid out as these turns, by
 * messages; `room` for those of both axes. */
void sel_exchange_ranks(const sel_ranks *ranks, const sel_cut *cut, const sel_turns *turns,
                        void *array, char *room);

/* Bytes of a halo beyond planes: in an exchange a rank sends two, and receives as many. And of one
 * beyond rows. */
int64_t sel_halo_bytes(const sel_turns *turns);
int64_t sel_halo_of_rows(const sel_turns *turns, const sel_block *block);

/* Sends `low` to the rank below and `high` to the one above, and receives what these send:
 * equally many bytes from below and from above. Each message is one piece of `bytes` bytes, or
 * `pieces` of them (0: one), which begin `apart` bytes from one another. Ranks stand in a row, or
 * in a circle. `room`: with pieces, four times the bytes of all of them; else NULL. */
typedef struct sel_sides {
    void *low, *high, *from_low, *from_high;
    size_t bytes;
    int64_t pieces, apart;
} sel_sides;
void sel_exchange_sides(const sel_ranks *ranks, const sel_beside *beside, const sel_sides *sides,
                        int count, char *room);
/* The halos of an array that is laid out as these turns: along y, of component `up` those that come
 * from below, of component `down` those from above; and beyond planes, of all components. */
enum { SEL_MOST_COMPONENTS = 32 };
sel_sides sel_rows_beside(const sel_turns *turns, const sel_block *own, void *array, int up,
                          int down);
sel_sides sel_planes_beside(const sel_turns *turns, const sel_cut *cut, const sel_block *own,
                            void *array);

/* The messages of one without pieces; returns their number. Of two from one rank that to the low
 * side is first. */
int sel_list_sides(const sel_beside *beside, const sel_sides *sides, sel_message messages[4]);

/* The same for `count` planes at each end of a rank's own, own[0] <= p < own[1], which come to lie
 * beyond the ends of the neighbouring ranks. `at`: plane 0; `bytes`: of a plane. */
sel_sides sel_sides_of_planes(const int64_t own[2], int count, void *at, size_t bytes);
void sel_exchange_planes(const sel_ranks *ranks, bool wraps, const int64_t own[2], int count,
                         void *at, size_t bytes);

#endif
