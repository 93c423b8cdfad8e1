/* lbm_laws.c -- the laws of a flow on the device, evaluated before each step without the host.
 *
 * A kernel runs functions that are programs at their places: the middle of links of moving walls,
 * the cells of open faces, all cells for an acceleration that depends on place. What only Lua can
 * evaluate, the host evaluates and sends step by step, through pinned buffers that take turns and
 * are copied in the order of the stream, so that the host may be steps ahead.
 *
 * The host evaluates every law once, for the first step, as the CPU backend does: mistakes are
 * reported, and what does not vary is complete.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/lbm_laws.h"
#include "cuda/lbm_state.h"
#include "cuda/machine/device.h"

enum { BUFFERS = 4, MOST_THREADS = 128, LEAST_THREADS = 32, MOST_PLACES_PER_THREAD = 8 };

/* Launches: of the laws that vary in time, and of those that vary with controls alone. */
enum { IN_TIME, BY_CONTROLS, LAUNCHES };

/* The most numbers that are stored for steps evaluated together. */
enum { MOST_AHEAD = 1 << 21 };

/* How a law that varies is evaluated. */
typedef struct listed_law {
    const lbm_batch *batch;
    bool by_host;  /* it is no program, or its data or registers do not fit */
    bool launched; /* by cuda_laws_run; else the host sends rows of the acceleration */
    cuda_law *law; /* of the table on the host */
} listed_law;

struct cuda_laws {
    const lbm_plan *plan;
    int count, threads;
    size_t shared_bytes; /* of a block of so many threads */
    listed_law *v;
    cuda_law *law;  /* [count], as sent to the table */
    int64_t *first; /* [count + 1] scratch */
    /* On the device. */
    cuda_terms terms;
    cuda_law *table;
    int64_t *first_block[LAUNCHES];
    lbm_direction *directions;
    cuda_feed feed;     /* what the host sends */
    int64_t chunk_rows; /* of an acceleration by the host */
    double *scratch;    /* 6 numbers for each place of them */
    cuda_laws_launch launch[LAUNCHES];
};

/* ---- choosing the laws ---- */

static void add(cuda_laws *laws, const lbm_batch *batch) {
    const int64_t *n = laws->plan->base.domain->grid.n;
    const bool acceleration = batch == &laws->plan->acceleration;
    const bool field = acceleration && lbm_acceleration_is_field(laws->plan);
    listed_law *to = &laws->v[laws->count];
    if (!batch->depends || (batch->count == 0 && !field)) {
        return;
    }
    to->batch = batch;
    to->law = &laws->law[laws->count];
    *to->law = (cuda_law){.kind = field             ? CUDA_LAW_FIELD
                                  : acceleration    ? CUDA_LAW_UNIFORM
                                  : batch->on_links ? CUDA_LAW_LINKS
                                                    : CUDA_LAW_OPENINGS,
                          .number = laws->count++,
                          .width = field ? n[0] : batch->count,
                          .rows = field ? n[1] * n[2] : 1};
    to->by_host = !cuda_terms_take(&laws->terms, batch->quantity, LEAST_THREADS, &to->law->term);
    to->launched = !(to->by_host && field);
}

/* All laws share one launch: as many threads as the registers of each allow. */
static void share_threads(cuda_laws *laws) {
    for (laws->threads = MOST_THREADS; laws->threads >= LEAST_THREADS; laws->threads /= 2) {
        laws->shared_bytes = 0;
        for (int k = 0; k < laws->count; k++) {
            const listed_law *listed = &laws->v[k];
            size_t bytes = listed->by_host ? 0 : cuda_term_bytes(&listed->law->term, laws->threads);
            laws->shared_bytes = bytes > laws->shared_bytes ? bytes : laws->shared_bytes;
        }
        if (laws->shared_bytes <= CUDA_TERM_SHARED) {
            break;
        }
    }
}

static void share_blocks(cuda_laws *laws) {
    for (int k = 0; k < laws->count; k++) {
        cuda_law *law = &laws->law[k];
        int64_t threads = laws->threads, needed = (law->width + threads - 1) / threads;
        int64_t most = law->kind == CUDA_LAW_FIELD ? MOST_PLACES_PER_THREAD : 1;
        law->places_per_thread = (int)(needed < most ? needed : most);
        law->blocks_per_row = (needed + law->places_per_thread - 1) / law->places_per_thread;
    }
}

/* A law's places, and the values from the host. */
static void list_law(listed_law *listed, sel_arrays *arrays) {
    const lbm_batch *batch = listed->batch;
    cuda_law *law = listed->law;
    const int64_t n = batch->count, placed = listed->by_host ? 0 : n;
    SEL_ADD(arrays, law, x, placed, 0);
    SEL_ADD(arrays, law, y, placed, 0);
    SEL_ADD(arrays, law, z, batch->z ? placed : 0, 0);
    SEL_ADD(arrays, law, target, batch->target ? n : 0, 0);
    SEL_ADD(arrays, law, incoming, batch->incoming ? n : 0, 0);
    SEL_ADD(arrays, law, given, listed->by_host ? n * law->term.components : 0, 0);
}

cuda_laws *cuda_laws_create(const lbm_plan *plan, sel_arrays *arrays) {
    const lbm_batches *batches = &plan->boundary.batches;
    const size_t most = (size_t)batches->count + 1;
    cuda_laws *laws = calloc(1, sizeof *laws);
    bool all = laws && cuda_terms_open(&laws->terms, plan->base.domain);
    all = all && (laws->v = calloc(most, sizeof *laws->v));
    all = all && (laws->law = calloc(most, sizeof *laws->law));
    all = all && (laws->first = calloc(most + 1, sizeof *laws->first));
    if (!all) {
        cuda_laws_destroy(laws);
        return NULL;
    }
    laws->plan = plan;
    laws->chunk_rows = lbm_acceleration_chunk(plan);
    for (int k = 0; k < batches->count; k++) {
        add(laws, &batches->v[k]);
    }
    add(laws, &plan->acceleration);
    share_threads(laws);
    share_blocks(laws);
    cuda_terms_list(&laws->terms, arrays);
    SEL_ADD(arrays, laws, table, laws->count + 1, 0);
    for (int which = 0; which < LAUNCHES; which++) {
        SEL_ADD(arrays, laws, first_block[which], laws->count + 1, 0);
    }
    SEL_ADD(arrays, laws, directions, LBM_MAX_Q, 0);
    for (int k = 0; k < laws->count; k++) {
        list_law(&laws->v[k], arrays);
    }
    return laws;
}

void cuda_laws_destroy(cuda_laws *laws) {
    if (laws) {
        cuda_feed_close(&laws->feed);
        cuda_terms_close(&laws->terms);
        free(laws->v);
        free(laws->law);
        free(laws->first);
        free(laws->scratch);
        free(laws);
    }
}

bool cuda_laws_need_host(const cuda_laws *laws) {
    for (int k = 0; k < laws->count; k++) {
        if (laws->v[k].by_host && laws->v[k].batch->depends & SEL_ON_T) {
            return true;
        }
    }
    return false;
}

int64_t cuda_laws_copies(const cuda_laws *laws) {
    const lbm_boundary *boundary = &laws->plan->boundary;
    const int64_t numbers = boundary->link_count + LBM_OPEN_VALUES * boundary->open_count;
    const bool in_time = lbm_depends(laws->plan) & SEL_ON_T;
    const bool field = lbm_acceleration_is_field(laws->plan) && laws->plan->acceleration.depends;
    return in_time && !field && !cuda_laws_need_host(laws) && numbers <= MOST_AHEAD / CUDA_STEPS
               ? CUDA_STEPS
               : 1;
}

bool cuda_acceleration_turns(const lbm_plan *plan) {
    return !lbm_acceleration_is_field(plan) && plan->acceleration.depends & SEL_ON_T;
}

/* ---- values from the host ---- */

/* Pinned memory for the largest block that is sent at a time. */
static sel_status open_feed(cuda_laws *laws, sel_error *error) {
    const int64_t places = laws->chunk_rows * laws->plan->base.domain->grid.n[0];
    const bool field = lbm_acceleration_is_field(laws->plan);
    size_t most = field ? 3 * (size_t)places * sizeof(double) : 0;
    for (int k = 0; k < laws->count; k++) {
        const listed_law *listed = &laws->v[k];
        const int64_t numbers = listed->batch->count * listed->law->term.components;
        if (listed->by_host && (size_t)numbers * sizeof(double) > most) {
            most = (size_t)numbers * sizeof(double);
        }
    }
    if (field && !(laws->scratch = malloc(6 * (size_t)places * sizeof *laws->scratch))) {
        return sel_fail_memory(error, "the acceleration", 6 * (size_t)places * sizeof(double));
    }
    return most > 0 ? cuda_feed_open(&laws->feed, NULL, most, BUFFERS, error) : SEL_OK;
}

/* All rows of the acceleration, `steps` steps after time 0. */
static sel_status send_field(lbm_cuda *state, double steps, sel_error *error) {
    cuda_laws *laws = state->laws;
    const cudaStream_t stream = state->all.base.queue->stream;
    const int64_t total = sel_state_rows(&state->all.base), nx = state->pattern.layout.nx;
    const size_t real = (size_t)lbm_real(&laws->plan->base), width = (size_t)nx * real;
    const size_t pitch = (size_t)state->pattern.layout.pitch * real;
    for (int64_t first = 0, rows; first < total; first += rows) {
        void *pinned;
        rows = first + laws->chunk_rows < total ? laws->chunk_rows : total - first;
        sel_status status = cuda_feed_next(&laws->feed, &pinned, error);
        status = status ? status
                        : lbm_acceleration_rows(laws->plan, steps, first, rows, laws->scratch,
                                                pinned, rows * nx, error);
        for (int a = 0; a < laws->plan->base.domain->grid.dims && !status; a++) {
            char *to = (char *)state->all.acceleration_field + (size_t)(a * total + first) * pitch;
            const char *part = (const char *)pinned + (size_t)(a * rows) * width;
            CUDA_TRY(cudaMemcpy2DAsync(to, pitch, part, width, width, (size_t)rows,
                                       cudaMemcpyHostToDevice, stream));
        }
        status = status ? status : cuda_feed_sent(&laws->feed, stream, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

/* The values of one law for the step from `step` to the next. */
static sel_status send_values(lbm_cuda *state, const listed_law *listed, int64_t step,
                              sel_error *error) {
    cuda_laws *laws = state->laws;
    const lbm_batch *batch = listed->batch;
    const double steps = lbm_batch_steps(batch, step);
    const cudaStream_t stream = state->all.base.queue->stream;
    const int64_t numbers = batch->count * listed->law->term.components;
    void *pinned;
    if (!listed->launched) {
        return send_field(state, steps, error);
    }
    sel_status status = cuda_feed_next(&laws->feed, &pinned, error);
    status =
        status ? status : lbm_batch_evaluate(batch, laws->plan->base.domain, steps, pinned, error);
    if (status) {
        return status;
    }
    CUDA_TRY(cudaMemcpyAsync((void *)(uintptr_t)listed->law->given, pinned,
                             (size_t)numbers * sizeof(double), cudaMemcpyHostToDevice, stream));
    return cuda_feed_sent(&laws->feed, stream, error);
}

/* ---- the start ---- */

/* The acceleration at time 0. */
static sel_status start_acceleration(lbm_cuda *state, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    double value[3] = {0, 0, 0};
    sel_status status = SEL_OK;
    if (lbm_acceleration_is_field(plan)) {
        return send_field(state, 0, error);
    }
    if (sel_quantity_given(plan->acceleration.quantity)) {
        status = lbm_batch_evaluate(&plan->acceleration, plan->base.domain, 0, value, error);
    }
    for (int a = 0; a < 3; a++) {
        value[a] /= lbm_acceleration_unit(plan);
    }
    return status ? status : cuda_send(state->acceleration, value, sizeof value, error);
}

/* The values of all other laws for the first step. */
static sel_status start_boundary(const lbm_state *state, sel_error *error) {
    const lbm_boundary *boundary = &state->plan->boundary;
    size_t links = (size_t)boundary->link_count;
    size_t values = LBM_OPEN_VALUES * (size_t)boundary->open_count;
    size_t numbers = links + values + 3 * (size_t)boundary->batches.largest;
    double *link_add = calloc(numbers + 1, sizeof *link_add);
    if (!link_add) {
        return sel_fail_memory(error, "the laws", numbers * sizeof *link_add);
    }
    double *open_value = link_add + links, *scratch = open_value + values;
    sel_status status =
        lbm_batches_apply(state->plan, 0, LBM_ALWAYS, scratch, link_add, open_value, error);
    for (size_t k = 0; k < (size_t)state->copies && !status; k++) {
        status = cuda_send(state->link_add + k * links, link_add, links * sizeof(double), error);
        status = status ? status
                        : cuda_send(state->open_value + k * values, open_value,
                                    values * sizeof(double), error);
    }
    free(link_add);
    return status;
}

static sel_status upload_places(const listed_law *listed, sel_error *error) {
    const lbm_batch *batch = listed->batch;
    const cuda_law *law = listed->law;
    const struct {
        const void *to, *from;
        size_t bytes;
    } parts[] = {{law->x, batch->x, sizeof(double)},
                 {law->y, batch->y, sizeof(double)},
                 {law->z, batch->z, sizeof(double)},
                 {law->target, batch->target, sizeof(int64_t)},
                 {law->incoming, batch->incoming, 1}};
    sel_status status = SEL_OK;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && !status; k++) {
        size_t bytes = parts[k].to ? (size_t)batch->count * parts[k].bytes : 0;
        status = cuda_send(parts[k].to, parts[k].from, bytes, error);
    }
    return status;
}

static cuda_laws_launch describe_launch(const lbm_cuda *state, int which, int64_t blocks) {
    const cuda_laws *laws = state->laws;
    const lbm_numbers *numbers = &laws->plan->numbers;
    return (cuda_laws_launch){
        .terms = cuda_terms_see(&laws->terms),
        .halted = laws->terms.halted,
        .laws = laws->table,
        .first_block = laws->first_block[which],
        .count = laws->count,
        .threads = laws->threads,
        .blocks = blocks,
        .shared_bytes = laws->shared_bytes,
        .grid = laws->plan->base.domain->grid,
        .velocity_unit = numbers->velocity_unit,
        .pressure_unit = numbers->pressure_unit,
        .acceleration_unit = lbm_acceleration_unit(laws->plan),
        .directions = laws->directions,
        .link_add = state->all.link_add,
        .open_value = state->all.open_value,
        .link_stride = state->pattern.boundary.link_stride,
        .open_stride = state->pattern.boundary.open_stride,
        .acceleration = state->acceleration,
        .acceleration_turns = cuda_acceleration_turns(laws->plan),
        .acceleration_field = state->all.acceleration_field,
        .pitch = state->pattern.layout.pitch,
        .single = laws->plan->base.precision == SEL_F32,
    };
}

static sel_status upload(const lbm_cuda *state, sel_error *error) {
    cuda_laws *laws = state->laws;
    const lbm_lattice *lattice = laws->plan->boundary.lattice;
    const size_t count = (size_t)laws->count;
    sel_status status =
        cuda_send(laws->directions, lattice->direction, sizeof lattice->direction, error);
    status = status ? status : cuda_send(laws->table, laws->law, count * sizeof *laws->law, error);
    for (size_t k = 0; k < count && !status; k++) {
        status = upload_places(&laws->v[k], error);
    }
    for (int which = 0; which < LAUNCHES && !status; which++) {
        for (size_t k = 0; k < count; k++) {
            const cuda_law *law = &laws->law[k];
            const bool in_time = laws->v[k].batch->depends & SEL_ON_T;
            const bool due = in_time == (which == IN_TIME) && laws->v[k].launched;
            laws->first[k + 1] = laws->first[k] + (due ? law->rows * law->blocks_per_row : 0);
        }
        laws->launch[which] = describe_launch(state, which, laws->first[count]);
        status = cuda_send(laws->first_block[which], laws->first, (count + 1) * sizeof *laws->first,
                           error);
    }
    return status;
}

sel_status cuda_laws_start(lbm_cuda *state, sel_error *error) {
    cuda_laws *laws = state->laws;
    sel_status status = open_feed(laws, error);
    status = status ? status : start_acceleration(state, error);
    status = status ? status : start_boundary(&state->all, error);
    status = status ? status : cuda_terms_start(&laws->terms, error);
    status = status ? status : upload(state, error);
    if (!status) {
        CUDA_TRY(cudaDeviceSynchronize());
    }
    state->all.base.queue->timeless = !lbm_depends(laws->plan);
    state->pattern.halted = lbm_depends(laws->plan) ? cuda_terms_see(&laws->terms).halted : NULL;
    return status;
}

/* ---- steps ---- */

static sel_status launch(const lbm_cuda *state, cuda_laws_launch one, int64_t step, int64_t steps,
                         sel_error *error) {
    const cuda_queue *queue = state->all.base.queue;
    one.clock = cuda_queue_clock(queue, step);
    one.steps = steps;
    if (one.blocks > 0) {
        CUDA_TRY(cuda_laws_run(&one, queue->stream));
    }
    return SEL_OK;
}

sel_status cuda_laws_enqueue(lbm_cuda *state, unsigned due, int64_t step, int64_t steps,
                             sel_error *error) {
    cuda_laws *laws = state->laws;
    const sel_state *base = &state->all.base;
    const bool changed = due & SEL_ON_CONTROLS;
    sel_status status =
        changed ? cuda_terms_set_controls(&laws->terms, base->controls, base->queue->stream, error)
                : SEL_OK;
    for (int k = 0; k < laws->count && !status; k++) {
        if (laws->v[k].by_host && laws->v[k].batch->depends & due) {
            status = send_values(state, &laws->v[k], step, error);
        }
    }
    if (changed && !status) {
        status = launch(state, laws->launch[BY_CONTROLS], step, state->all.copies, error);
    }
    return status || !(due & SEL_ON_T) ? status
                                       : launch(state, laws->launch[IN_TIME], step, steps, error);
}

void cuda_laws_restore(lbm_cuda *state) {
    const cuda_laws *laws = state->laws;
    cuda_laws_launch again = laws->launch[IN_TIME];
    again.terms.claimed = NULL; /* faults are known */
    again.halted = NULL;
    if (lbm_acceleration_is_field(laws->plan)) {
        launch(state, again, state->all.base.step - 1, 1, NULL);
    }
}

/* ---- faults ---- */

static void find_place(const cuda_laws *laws, const lbm_batch *batch, int64_t place, double at[3]) {
    const sel_grid *grid = &laws->plan->base.domain->grid;
    if (batch->x) {
        at[0] = batch->x[place];
        at[1] = batch->y[place];
        at[2] = batch->z ? batch->z[place] : 0;
    } else {
        int64_t row = place / grid->n[0];
        at[0] = sel_centre(grid, 0, (double)(place % grid->n[0]));
        at[1] = sel_centre(grid, 1, (double)(row % grid->n[1]));
        at[2] = sel_centre(grid, 2, (double)(row / grid->n[1]));
    }
}

/* The host's error at the place that failed. */
static sel_status explain(const cuda_laws *laws, const cuda_term_fault *fault, sel_error *error) {
    const lbm_batch *batch = laws->v[fault->number].batch;
    double place[3], values[3];
    find_place(laws, batch, fault->place, place);
    const sel_domain *domain = laws->plan->base.domain;
    const double time = lbm_batch_steps(batch, fault->step) * domain->grid.dt;
    const sel_places at = sel_domain_at(domain, 1, &place[0], &place[1], &place[2], time);
    sel_status status = sel_quantity_eval(batch->quantity, batch->what, &at, values, error);
    return status ? status : cuda_term_unknown(batch->quantity, batch->what, &at, error);
}

sel_status cuda_laws_check(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    cuda_term_fault fault;
    if (!cuda_terms_failed(&state->laws->terms, step, &fault)) {
        return SEL_OK;
    }
    sel_status status = explain(state->laws, &fault, error);
    if (base->step > fault.step) {
        base->step = fault.step;
        cuda_laws_restore(state);
    }
    return status;
}
