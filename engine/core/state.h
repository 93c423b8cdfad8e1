/* state.h -- the common part of every solver's state, on the CPU and on a device; saving it. */
#ifndef SEL_STATE_H
#define SEL_STATE_H

#include "engine/io/checkpoint.h"
#include "engine/core/arrays.h"
#include "engine/core/halo.h"
#include "engine/core/inputs.h"

/* The main field at the last monitor times `scale`, numbers of `type`. */
typedef struct sel_last {
    void *v;
    sel_type type;
    int components;
    sel_layout layout; /* of the patch, without halo */
    double scale;
    bool counts; /* whole numbers: the change is the part of the cells that changed */
} sel_last;

enum { SEL_MOST_FIELDS = 65 }; /* of a rule: its cell fields, and the kinds of its cells */

struct sel_state {
    const sel_plan *plan;
    const sel_inputs *listed; /* the plan's; or, with places of this patch, the state's own */
    int64_t step;
    int64_t pass;     /* the steps that the pass under way makes; 1 between passes */
    sel_clock clock;  /* of the steps to come, or of those just made */
    int64_t observed; /* the last observed step, that of the SEL_OBSERVED arrays; -1: none */
    int threads;
    const sel_ranks *ranks; /* that compute the state */
    sel_decomposition decomposition;
    sel_patch own;          /* the patch of this rank */
    int64_t rows_per_plane; /* of the slowest axis; rows of cells are numbered y + ny z */
    char *halos;            /* room for halos on their way, */
    uint64_t halo_bytes;    /* what a rank with two neighbours sends and receives in a step */
    bool broken;            /* a step failed half-way: no state is complete */
    /* 1: the next step is to be observed; 2: it is the first of two (sel_plan_observed_steps), of
     * which only the links are kept; else 0. */
    int64_t observing;
    bool unbalanced; /* the totals include a step that failed: there is no balance */
    bool monitored;
    sel_ending ending;
    sel_arrays arrays;
    sel_field field[SEL_MOST_FIELDS]; /* what steps read beyond the patch */
    int field_count;
    sel_last last;            /* type, components and scale are given by the list() of the solver */
    sel_given given;          /* of the plan's inputs */
    double reference;         /* field 0 has numbers less by this; 0 in f64 */
    double *controls;         /* their values when terms were last evaluated; on the host */
    double *partials;         /* on the CPU: SEL_PARTIALS numbers for each own row of cells, */
    double *scratch;          /* [threads][3][nx], see sel_state_scratch */
    struct cuda_queue *queue; /* on a device: its queue, */
    uint8_t *solid;           /* the domain's cell[] of the cells of cuda_regions_layout, */
    struct cuda_inputs *inputs; /* and inputs that vary, if there are any */
};

enum { SEL_PARTIALS = 32 };

/* The time of the present step. */
static inline double sel_state_time(const sel_state *state) {
    return sel_clock_time(&state->clock, state->step);
}

/* Rows of cells: y + ny z. */
static inline int64_t sel_state_rows(const sel_state *state) {
    const sel_grid *grid = &state->plan->domain->grid;
    return grid->n[1] * grid->n[2];
}

/* Region numbers of the cells of a row; 0: free. */
static inline const uint8_t *sel_state_solids(const sel_state *state, int64_t row) {
    const sel_domain *domain = state->plan->domain;
    return domain->cell + row * domain->grid.n[0];
}

/* Whether what observed steps show is among the state's arrays: then it is saved with them. */
bool sel_state_keeps_observed(const sel_state *state);

/* Whether a request cannot be answered: it needs an observed step, and the last was not observed;
 * or a failure has made the answer invalid. */
bool sel_state_misses(const sel_state *state, const sel_request *request);

/* Memory for the listed arrays, and the controls. */
sel_status sel_state_allocate(sel_state *state, const char *what, sel_error *error);

/* Calls `loaded` (NULL: nothing) while the controls have the values of the last step. */
sel_status sel_state_loaded(sel_state *state, sel_status (*loaded)(sel_state *, sel_error *),
                            sel_error *error);

/* sel_backend.clock; `time_step` finds the dt of the steps to come where it changes. */
sel_status sel_state_clock(sel_state *state,
                           sel_status (*time_step)(sel_state *, double *, sel_error *),
                           sel_clock *clock, sel_error *error);

/* sel_backend.whole, sel_backend.ending */
int64_t sel_state_whole(const sel_state *state);
const sel_ending *sel_state_ending(const sel_state *state);

/* Set-up common to all states: before the solver lists its arrays, and after. */
void sel_state_begin(sel_state *state, const sel_plan *plan);
void sel_state_list(sel_state *state);

/* Frees the arrays, and the inputs if they are its own. */
void sel_state_end(sel_state *state);

/* Undoes the decomposition: each rank then computes the whole grid. */
void sel_state_replicate(sel_state *state);

/* Takes over a changed decomposition: the patch of this rank. */
void sel_state_divide(sel_state *state);

/* A pass over the memory of a state makes one step or several. It fills the copies of alternating
 * fields that do not hold the present state, and then these do.
 *
 * Counts `steps` made by one pass. */
void sel_state_pass(sel_state *state, int64_t steps);
/* Makes `step` the present step, without computing: a copy must hold its state, and each pass
 * between the two steps an odd number of steps. */
void sel_state_go_to(sel_state *state, int64_t step);
/* Begins at a step of which the first copies are to hold the state. */
void sel_state_reset(sel_state *state, int64_t step);

/* The copy of a field that holds the state of `step`, a whole number of passes from the present
 * one. */
static inline int sel_copy_at(const sel_state *state, const sel_field *field, int64_t step) {
    const int64_t passes = (step - state->step) / state->pass;
    return field->alternates ? (int)((field->present + passes) & 1) : 0;
}

static inline void *sel_field_at(const sel_state *state, int field, int64_t step) {
    return state->field[field].at[sel_copy_at(state, &state->field[field], step)];
}

/* Adds a field, and lists its copies. They are saved without halos. */
void sel_state_add_field(sel_state *state, const sel_field *field);
/* Sums up state->halo_bytes, and lists the room, of all fields added so far. */
void sel_state_list_room(sel_state *state);

/* The layout of all cells of a grid, without halos: [components][nz][ny][nx]. */
sel_layout sel_plain_layout(const sel_grid *grid, int components);

/* That of numbers of cells and of their lower faces: a cell more along each axis. */
sel_layout sel_faces_layout(const sel_grid *grid);

/* The layout of a patch, from that of the whole grid with halos: memory begins with the halo of the
 * patch. With several components `count` and `component` are of the patch already. */
sel_layout sel_patch_layout(const sel_layout *of_grid, const sel_patch *patch);

/* The layout of an array of the patch's cells and of those up to `halo` cells away along y and z.
 * It is addressed by the cell numbers of the whole grid. */
sel_layout sel_state_own_layout(const sel_state *state, int components, int halo);

/* Lists an array of the patch's cells, without halo (components 0: none), that is addressed by the
 * cell numbers of the whole grid. Returns its layout. */
sel_layout sel_state_list_own(sel_state *state, const char *name, void *place, sel_type type,
                              int components, unsigned flags);

/* Lists the elements first <= k < end of a list. The pointer is shifted, so that k of the whole
 * list addresses them. from: their content; NULL: zeros. */
void sel_state_list_part(sel_state *state, const char *name, void *place, sel_type type,
                         int64_t first, int64_t end, const void *from);

/* The cells on surfaces and the sites of which this rank has values. If every rank lists the whole
 * surfaces, these are the ones in its planes. On a device, passes of several steps also compute
 * planes beyond these (one fewer than the halo has), and values that vary are evaluated at all
 * sites of the grid. */
typedef struct sel_state_surfaces {
    int64_t cells[2], sites[2]; /* from and to */
    bool estimated;             /* one process counts them for each of several ranks */
} sel_state_surfaces;
sel_state_surfaces sel_state_find_surfaces(const sel_state *state);

/* Adds the field of a solver with one number per cell in the precision of the plan: rows of whole
 * cache lines, halos of `halo` cells. Describes state->last. */
void sel_state_list_numbers(sel_state *state, const char *name, void *at[2], int halo);

/* Lists an array of one double per cell, with the layout of these numbers; the pointer is that of
 * cell (0, 0, 0). The second function returns the layout, the third the field. */
void sel_state_list_vector(sel_state *state, const char *name, double **at, unsigned flags);
sel_layout sel_state_vector(const sel_state *state);
sel_field sel_state_vector_field(const sel_state *state);

/* The value of a stored number of field 0. (Adding 0 would change -0.) */
static inline double sel_state_value(const sel_state *state, double number) {
    return state->reference != 0 ? number + state->reference : number;
}

/* The first number of a copy of field 0 in a row of cells (y + ny z), on the host. */
static inline const void *sel_state_row(const sel_state *state, int copy, int64_t row) {
    const sel_field *field = &state->field[0];
    const sel_layout *layout = &field->layout;
    const char *at = field->at[copy];
    return at + (layout->origin + sel_layout_row(layout, row)) * field->type.size;
}

/* The present copy of field 0, shifted so that the cell numbers of `row` address it. A row of
 * another rank beside the patch is that of the halo. */
void *sel_state_beside(const sel_state *state, int64_t row);

/* The part of a layout of cells and lower faces (no components) that a rank has: its patch, and the
 * faces above it. The second function lists an array of it, of the type of field 0, that is
 * addressed by the numbers of the whole grid. */
sel_layout sel_state_own_faces(const sel_state *state, const sel_layout *of_grid);
void sel_state_list_faces(sel_state *state, const char *name, void *place,
                          const sel_layout *of_grid);

/* Fills an array (NULL: none) of a number for each cell, laid out as `layout`, and sends it: of
 * kind `which`, by a function of the cell; of a vector in the rows of this rank. Those of the low
 * faces along the axis `which` (0 to 2) stand a second time beyond the last cells, as the high
 * faces of these. */
typedef double sel_state_number(const sel_state *state, const void *data, int which, int64_t cell);
sel_status sel_state_fill(const sel_state *state, void *array, sel_type type,
                          const sel_layout *layout, int which, sel_state_number *number,
                          const void *data, sel_error *error);

/* Fills elements of an array (NULL: none) of `size` bytes each, from `first` on, by a function of
 * their number, and sends them. */
typedef void sel_state_setter(const sel_state *state, int64_t k, void *to);
sel_status sel_state_set(const sel_state *state, void *array, int64_t first, int64_t count,
                         int64_t size, sel_state_setter *set, const char *what, sel_error *error);

/* Sets copy 0 of field 0 to a quantity of one component at time 0 (not given: 0) less
 * state->reference, with halos on the host; `edit` may change the values of cells first <= cell <
 * end, values[cell - first], or refuse them. range (NULL: not wanted): the least and the largest
 * value of the quantity in the free cells of all ranks. */
typedef sel_status sel_state_edit(const sel_state *state, int64_t first, int64_t end,
                                  double *values, sel_error *error);
sel_status sel_state_start(sel_state *state, const sel_quantity *quantity, const char *what,
                           sel_state_edit *edit, double range[2], sel_error *error);

/* What is to be exchanged of a field: a copy, some cells deep. */
typedef struct sel_exchange {
    int field, copy, depth;
    sel_way way;
} sel_exchange;

/* Lists the halos along an axis of what is to be exchanged; returns their number, 0 of one rank. At
 * most SEL_MOST_HALOS, the components of all fields. */
enum { SEL_MOST_HALOS = 128 };
int sel_state_list_halos(const sel_state *state, const sel_exchange *what, int count, int axis,
                         sel_halo halos[SEL_MOST_HALOS]);

/* Completes halos on the host (SEL_FETCH, SEL_FETCH_ALL), axis by axis. First `ghosts` (NULL:
 * nothing) fills what the solver itself puts beyond the ends of the axis: periodic images, values
 * of laws. Then the halos of other ranks come. The halos of earlier axes are exchanged along, so
 * that corners are right. */
typedef void sel_ghosts(sel_state *state, const sel_exchange *what, int count, int axis);
void sel_state_complete(sel_state *state, const sel_exchange *what, int count, sel_ghosts *ghosts);

/* Fills the halo of field 0 at `step`, on the host; or returns it. */
void sel_state_exchange(const sel_state *state, int64_t step, sel_way way);

/* ---- checkpoints ---- */

/* Saves all saved arrays to a checkpoint, each as a block "state NAME". Numbers of field 0 are
 * values less the block "state reference"; without that block they are the values. No steps may be
 * under way. All ranks call it, and sel_state_load; rank 0 alone has a checkpoint, others pass
 * NULL. */
void sel_state_save(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint);

/* Checks for sel_state_load: fails if an array is missing in the checkpoint, or has another size.
 */
void sel_state_check(const sel_state *state, sel_checkpoint *checkpoint);

/* Restores the saved state. */
void sel_state_load(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint);

#endif
