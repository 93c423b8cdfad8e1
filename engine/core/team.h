/* team.h -- several ranks on one run: rank 0 coordinates, the other ranks are workers.
 *
 * The run loop, hooks, outputs and checkpoints run on rank 0 alone. Its backend broadcasts each
 * command (sel_order); then all ranks execute it, each on its patch of the grid.
 */
#ifndef SEL_TEAM_H
#define SEL_TEAM_H

#include "engine/core/image.h"

/* What the others are told. */
typedef enum sel_order_kind {
    SEL_ORDER_END,
    SEL_ORDER_SET_UP, /* take up number `simulation` of the scenario */
    SEL_ORDER_LEAVE,  /* leave it */
    SEL_ORDER_ADVANCE,
    SEL_ORDER_CLOCK,
    SEL_ORDER_RESTART,
    SEL_ORDER_WAIT,
    SEL_ORDER_LOOK,
    SEL_ORDER_IMAGE,
    SEL_ORDER_SETTLE,
    SEL_ORDER_SAVE,
    SEL_ORDER_LOAD
} sel_order_kind;

typedef struct sel_order {
    sel_order_kind kind;
    int simulation;
    int64_t steps;
    bool observed;
    sel_request request;
} sel_order;

/* Gives an order, or waits for one. */
void sel_order_give(const sel_ranks *ranks, sel_order *order);

/* Turns a copy of a backend into that of rank 0. */
void sel_team_lead(sel_backend *backend);

/* Rank 0: has all ranks write an image (sel_image_share), each by a writer of its own; and wait
 * until it is complete. */
sel_status sel_team_image(sel_state *state, const sel_image *image, const sel_image_field *fields,
                          sel_writer *writer, FILE **file, sel_error *error);
sel_status sel_team_settle(sel_state *state, sel_writer *writer, sel_error *error);

/* The others: obeys orders until that to leave, with the backend of which rank 0 has a copy. */
void sel_team_follow(sel_state *state, const sel_backend *backend);

#endif
