/* lbm_laws_cuda.c -- the laws of a flow on the device, evaluated before each step without the host.
 *
 * A kernel runs functions that are programs at their places: the middle of links of moving walls,
 * the cells of open faces, all cells for an acceleration that depends on place. What only Lua can
 * evaluate, the host evaluates and sends step by step, through pinned buffers that take turns and
 * are copied in the order of the stream, so that the host may be steps ahead.
 *
 * The host evaluates every law once, for the first step, as the CPU backend does: mistakes are
 * reported, and what does not vary is complete.
 *
 * A rank evaluates the places of its patch, so a law may fail on one rank only. Ranks join the step
 * in which one fails. They do so before a step if values are evaluated for CUDA_STEPS steps at
 * once, since they join once for all of these, and if a step adds to link_flow, which cannot be
 * undone. Else they join beside a step (queue->halts): the others have made it when they know, and
 * go back.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_state_cuda.h"
#include "engine/core/collectives.h"

enum { BUFFERS = 4, MOST_THREADS = 128, LEAST_THREADS = 32, MOST_PLACES_PER_THREAD = 8 };

/* The most numbers that are stored for steps evaluated together. */
enum { MOST_AHEAD = 1 << 21 };

/* The law is no program, or its data or registers do not fit. */
static bool is_by_host(const cuda_law *law) {
    return law->term.programs == 0;
}

/* Its values are stored by cuda_laws_run; otherwise the host sends the field of the acceleration.
 */
static bool is_launched(const cuda_law *law) {
    return !is_by_host(law) || law->goal != LBM_TO_FIELD;
}

/* ---- choosing the laws ---- */

static void lbm_laws_cuda_add(lbm_cuda *state, const lbm_batch *batch) {
    cuda_laws *laws = &state->laws;
    const lbm_batches *batches = &state->all.plan->boundary.batches;
    const int64_t *n = state->all.plan->base.domain->grid.n;
    const bool field = batch->goal == LBM_TO_FIELD, uniform = batch->goal == LBM_TO_FORCE;
    cuda_law *law = &laws->law[laws->count];
    if (!batch->depends || (batch->all == 0 && !field)) {
        return;
    }
    laws->batch[laws->count] = batch;
    *law = (cuda_law){.goal = batch->goal,
                      .number = laws->count++,
                      .width = field     ? n[0]
                               : uniform ? 1
                                         : state->all.law_places[batch - batches->v],
                      .rows = 1};
    const bool taken = cuda_terms_take(&laws->terms, batch->quantity, LEAST_THREADS, &law->term);
    laws->need_host = laws->need_host || (!taken && batch->depends & SEL_ON_T);
    laws->divided = laws->divided || (taken && !uniform && state->all.base.ranks->count > 1);
}

/* All laws share one launch: as many threads as the registers of each allow. */
static void share_threads(cuda_laws *laws) {
    for (laws->threads = MOST_THREADS; laws->threads >= LEAST_THREADS; laws->threads /= 2) {
        laws->shared_bytes = 0;
        for (int k = 0; k < laws->count; k++) {
            const size_t bytes = cuda_term_bytes(&laws->law[k].term, laws->threads);
            laws->shared_bytes = bytes > laws->shared_bytes ? bytes : laws->shared_bytes;
        }
        if (laws->shared_bytes <= CUDA_TERM_SHARED) {
            break;
        }
    }
    for (int k = 0; k < laws->count; k++) {
        cuda_law *law = &laws->law[k];
        const int64_t threads = laws->threads, needed = (law->width + threads - 1) / threads;
        const int64_t most = law->goal == LBM_TO_FIELD ? MOST_PLACES_PER_THREAD : 1;
        law->places_per_thread = (int)(needed < 1 ? 1 : needed < most ? needed : most);
        law->blocks_per_row = (needed + law->places_per_thread - 1) / law->places_per_thread;
    }
}

/* A law's places, and the values from the host. */
static void list_law(const lbm_batch *batch, cuda_law *law, sel_arrays *arrays) {
    const int64_t n = batch->goal == LBM_TO_FIELD ? 0 : law->width;
    const int64_t placed = is_by_host(law) ? 0 : n;
    SEL_ADD_COPY(arrays, law, x, placed, batch->x);
    SEL_ADD_COPY(arrays, law, y, placed, batch->y);
    SEL_ADD_COPY(arrays, law, z, batch->z ? placed : 0, batch->z);
    SEL_ADD_COPY(arrays, law, target, batch->target ? n : 0, batch->target);
    SEL_ADD_COPY(arrays, law, incoming, batch->incoming ? n : 0, batch->incoming);
    SEL_ADD(arrays, law, given, is_by_host(law) ? n * law->term.components : 0, 0);
}

/* Steps that one launch evaluates: CUDA_STEPS on small grids, where a launch for each step would
 * take longer than the step; else 1. */
static int64_t count_copies(const lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const lbm_boundary *boundary = &plan->boundary;
    const int64_t numbers = boundary->links.all + LBM_OPEN_VALUES * boundary->all_open;
    const bool in_time = plan->base.depends & SEL_ON_T;
    const bool field = lbm_acceleration_is_field(plan) && plan->acceleration.depends;
    return in_time && !field && !state->laws.need_host && numbers <= MOST_AHEAD / CUDA_STEPS
               ? CUDA_STEPS
               : 1;
}

void cuda_laws_list(lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const lbm_batches *batches = &plan->boundary.batches;
    cuda_laws *laws = &state->laws;
    sel_arrays *arrays = &state->all.base.arrays;
    if (!cuda_terms_open(&laws->terms, plan->base.domain)) {
        arrays->failed = true;
        return;
    }
    for (int k = 0; k < batches->count; k++) {
        lbm_laws_cuda_add(state, &batches->v[k]);
    }
    lbm_laws_cuda_add(state, &plan->acceleration);
    share_threads(laws);
    state->all.copies = count_copies(state);
    cuda_terms_list(&laws->terms, arrays);
    SEL_ADD(arrays, laws, table, laws->count + 1, 0);
    SEL_ADD(arrays, laws, first_block[CUDA_LAWS_IN_TIME], laws->count + 1, 0);
    SEL_ADD(arrays, laws, first_block[CUDA_LAWS_BY_CONTROLS], laws->count + 1, 0);
    SEL_ADD_COPY(arrays, laws, directions, LBM_MAX_Q, plan->boundary.lattice->direction);
    for (int k = 0; k < laws->count; k++) {
        list_law(laws->batch[k], &laws->law[k], arrays);
    }
}

void cuda_laws_close(sel_state *base) {
    cuda_laws *laws = &((lbm_cuda *)base)->laws;
    cuda_feed_close(&laws->feed);
    cuda_terms_close(&laws->terms);
}

/* ---- values from the host ---- */

/* Pinned memory for the most that is sent at a time. */
static sel_status open_feed(lbm_cuda *state, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    cuda_laws *laws = &state->laws;
    const int64_t places = lbm_acceleration_chunk(plan) * plan->base.domain->grid.n[0];
    int64_t most = lbm_acceleration_is_field(plan) ? 3 * places : 0;
    for (int k = 0; k < laws->count; k++) {
        const cuda_law *law = &laws->law[k];
        const int64_t numbers = law->goal == LBM_TO_FIELD ? 0 : law->width * law->term.components;
        most = is_by_host(&laws->law[k]) && numbers > most ? numbers : most;
    }
    const uint64_t bytes = (uint64_t)most * sizeof(double);
    return most > 0 ? cuda_feed_open(&laws->feed, NULL, bytes, BUFFERS, error) : SEL_OK;
}

/* Sends the rows first <= row < end of the acceleration, evaluated one behind the other at `from`,
 * components `apart` bytes apart. Rows that lie together are one copy. */
static sel_status send_rows(lbm_cuda *state, int64_t first, int64_t end, const char *from,
                            size_t apart, sel_error *error) {
    const sel_layout *layout = &state->all.acceleration_layout;
    const lbm_vicinity *vicinity = &state->all.vicinity;
    const size_t real = (size_t)lbm_real(&state->all.plan->base);
    const size_t width = (size_t)layout->n[0] * real, pitch = (size_t)layout->pitch * real;
    for (int64_t row = first, next; row < end; row = next) {
        const int64_t at = lbm_vicinity_row(vicinity, row);
        next = row + 1;
        while (next < end &&
               lbm_vicinity_row(vicinity, next) == at + (next - row) * layout->pitch) {
            next++;
        }
        for (int a = 0; a < layout->components; a++) {
            char *to = (char *)state->all.acceleration_field;
            to += (layout->origin + at + a * layout->component) * (int64_t)real;
            CUDA_TRY(cudaMemcpy2DAsync(
                to, pitch, from + (size_t)a * apart + (size_t)(row - first) * width, width, width,
                (size_t)(next - row), cudaMemcpyHostToDevice, state->all.base.queue->stream));
        }
    }
    return SEL_OK;
}

/* Evaluates the rows of the acceleration that this rank has, `steps` steps after time 0, and sends
 * them. */
static sel_status send_field(lbm_cuda *state, double steps, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    const lbm_vicinity *vicinity = &state->all.vicinity;
    cuda_feed *feed = &state->laws.feed;
    const cudaStream_t stream = state->all.base.queue->stream;
    const int64_t total = lbm_vicinity_count(vicinity), nx = state->pattern.layout.nx;
    const int64_t chunk = lbm_acceleration_chunk(plan);
    for (int64_t k = 0, rows; k < total; k += rows) {
        const int64_t first = lbm_vicinity_listed(vicinity, k);
        void *pinned;
        rows = 1;
        while (rows < chunk && k + rows < total &&
               lbm_vicinity_listed(vicinity, k + rows) == first + rows) {
            rows++;
        }
        sel_status status = cuda_feed_next(feed, &pinned, error);
        status = status ? status
                        : lbm_acceleration_rows(plan, steps, first, rows, state->all.places, pinned,
                                                rows * nx, error);
        status = status ? status
                        : send_rows(state, first, first + rows, pinned,
                                    (size_t)(rows * nx * lbm_real(&plan->base)), error);
        status = status ? status : cuda_feed_sent(feed, stream, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

/* The values of law k for the step from `step` to the next. */
static sel_status lbm_laws_cuda_send_values(lbm_cuda *state, int k, int64_t step,
                                            sel_error *error) {
    cuda_laws *laws = &state->laws;
    const lbm_batch *batch = laws->batch[k];
    const cuda_law *law = &laws->law[k];
    const double steps = lbm_batch_steps(batch, step);
    const cudaStream_t stream = state->all.base.queue->stream;
    const size_t bytes = (size_t)(batch->count * law->term.components) * sizeof(double);
    void *pinned;
    if (!is_launched(law) || law->width == 0) {
        return is_launched(law) ? SEL_OK : send_field(state, steps, error);
    }
    sel_status status = cuda_feed_next(&laws->feed, &pinned, error);
    status = status ? status
                    : lbm_batch_evaluate(batch, state->all.plan->base.domain, steps, pinned, error);
    if (status) {
        return status;
    }
    CUDA_TRY(cudaMemcpyAsync((void *)(uintptr_t)law->given, pinned, bytes, cudaMemcpyHostToDevice,
                             stream));
    return cuda_feed_sent(&laws->feed, stream, error);
}

/* ---- faults ---- */

/* Evaluates the acceleration of the patch, `steps` steps after time 0, for its error. */
static sel_status try_field(const lbm_cuda *state, double steps, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    const int64_t chunk = lbm_acceleration_chunk(plan), nx = state->pattern.layout.nx;
    const sel_rows own = sel_own_rows(&state->all.base);
    const size_t bytes = (size_t)(3 * chunk * nx) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the acceleration", bytes);
    for (int64_t k = 0; k < own.count && !status;) {
        const sel_rows_range now = sel_rows_together(&own, k, chunk);
        const int64_t rows = now.end - now.first;
        status = lbm_acceleration_rows(plan, steps, now.first, rows, state->all.places, values,
                                       chunk * nx, error);
        status = sel_fail_in_cell(error, status, now.first * nx);
        k += rows;
    }
    free(values);
    return status;
}

/* Evaluates on the host what is due in the step from `step` on, the acceleration `steps` steps
 * after time 0. Rank 0 gets the error of the first law and place of the grid, as on the CPU. */
static sel_status try_all(const lbm_cuda *state, unsigned due, int64_t step, double steps,
                          sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    const sel_state *base = &state->all.base;
    double value[3];
    sel_status status = SEL_OK;
    if ((plan->acceleration.depends | SEL_ALWAYS) & due) {
        status = lbm_acceleration_is_field(plan)
                     ? try_field(state, steps, error)
                     : lbm_acceleration_uniform(plan, steps, value, error);
        status = sel_state_agree(base, status, error);
    }
    if (!status && base->ranks->rank == 0) {
        status = lbm_batches_try(plan, step, due, error);
    }
    return sel_state_agree(base, status, error);
}

/* Where a quantity has failed on any rank, the message becomes that of try_all, if it fails. All
 * ranks must call it. */
static sel_status name_first(const lbm_cuda *state, unsigned due, int64_t step, double steps,
                             sel_status status, sel_error *error) {
    sel_error first = {.status = SEL_OK};
    if (status == SEL_BAD_SCENARIO && try_all(state, due, step, steps, &first) && error) {
        error->status = SEL_OK; /* the message of another place gives way */
        sel_fail(error, status, "%s", first.text);
    }
    return status;
}

/* All ranks learn whether one has failed. */
static sel_status laws_agree(const lbm_cuda *state, unsigned due, int64_t step, double steps,
                             sel_status status, sel_error *error) {
    status = sel_state_agree(&state->all.base, status, error);
    return state->all.base.ranks->count > 1 ? name_first(state, due, step, steps, status, error)
                                            : status;
}

/* ---- the start ---- */

/* The acceleration at time 0. */
static sel_status start_acceleration(lbm_cuda *state, sel_error *error) {
    double value[3];
    if (lbm_acceleration_is_field(state->all.plan)) {
        return send_field(state, 0, error);
    }
    sel_status status = lbm_acceleration_uniform(state->all.plan, 0, value, error);
    return status ? status : cuda_send(state->acceleration, value, sizeof value, error);
}

/* The values of all other laws for the first step. */
static sel_status start_boundary(const lbm_state *state, sel_error *error) {
    const size_t links = (size_t)state->sites.count;
    const size_t values = LBM_OPEN_VALUES * (size_t)state->openings;
    double *link_add = calloc(links + values + 1, sizeof *link_add);
    double *open_value = link_add + links;
    if (!link_add) {
        return sel_fail_memory(error, "the laws", (links + values) * sizeof *link_add);
    }
    sel_status status = lbm_batches_apply(state->plan, 0, SEL_ALWAYS, state->law_values, link_add,
                                          open_value, error);
    for (size_t k = 0; k < (size_t)state->copies && !status; k++) {
        status = cuda_send(state->link_add + k * links, link_add, links * sizeof(double), error);
        status = status ? status
                        : cuda_send(state->open_value + k * values, open_value,
                                    values * sizeof(double), error);
    }
    free(link_add);
    return status;
}

static cuda_laws_launch describe_launch(const lbm_cuda *state, int which, int64_t blocks) {
    const cuda_laws *laws = &state->laws;
    const lbm_plan *plan = state->all.plan;
    const bool field = lbm_acceleration_is_field(plan);
    const sel_layout *layout = &state->all.acceleration_layout;
    return (cuda_laws_launch){
        .terms = cuda_terms_see(&laws->terms),
        .halted = laws->terms.halted,
        .laws = laws->table,
        .first_block = laws->first_block[which],
        .count = laws->count,
        .threads = laws->threads,
        .blocks = blocks,
        .shared_bytes = laws->shared_bytes,
        .grid = plan->base.domain->grid,
        .velocity_unit = plan->numbers.velocity_unit,
        .pressure_unit = plan->numbers.pressure_unit,
        .acceleration_unit = lbm_acceleration_unit(plan),
        .directions = laws->directions,
        .link_add = state->all.link_add,
        .open_value = state->all.open_value,
        .link_stride = state->pattern.boundary.link_stride,
        .open_stride = state->pattern.boundary.open_stride,
        .acceleration = state->acceleration,
        .acceleration_turns = state->pattern.acceleration_turns,
        .acceleration_field =
            field ? (char *)state->all.acceleration_field + layout->origin * lbm_real(&plan->base)
                  : NULL,
        .acceleration_component = layout->component,
        .vicinity = state->all.vicinity,
        .single = plan->base.precision == SEL_F32,
    };
}

static sel_status upload(lbm_cuda *state, sel_error *error) {
    cuda_laws *laws = &state->laws;
    const size_t count = (size_t)laws->count;
    for (size_t k = 0; k < count; k++) {
        cuda_law *law = &laws->law[k];
        law->rows = law->goal == LBM_TO_FIELD ? lbm_vicinity_count(&state->all.vicinity) : 1;
    }
    sel_status status = cuda_send(laws->table, laws->law, count * sizeof *laws->law, error);
    for (int which = 0; which < CUDA_LAWS_LAUNCHES && !status; which++) {
        int64_t first[LBM_MOST_BATCHES + 1] = {0};
        for (size_t k = 0; k < count; k++) {
            const cuda_law *law = &laws->law[k];
            const bool in_time = laws->batch[k]->depends & SEL_ON_T;
            const bool due = in_time == (which == CUDA_LAWS_IN_TIME) && is_launched(law);
            first[k + 1] = first[k] + (due ? law->rows * law->blocks_per_row : 0);
        }
        laws->launch[which] = describe_launch(state, which, first[count]);
        status = cuda_send(laws->first_block[which], first, (count + 1) * sizeof *first, error);
    }
    return status;
}

sel_status cuda_laws_start(lbm_cuda *state, sel_error *error) {
    cuda_laws *laws = &state->laws;
    cuda_queue *queue = state->all.base.queue;
    const lbm_plan *plan = state->all.plan;
    const bool varies = plan->base.depends;
    sel_status status = open_feed(state, error);
    status = status ? status : start_acceleration(state, error);
    status = status ? status : start_boundary(&state->all, error);
    status = laws_agree(state, SEL_ALWAYS, 0, 0, status, error);
    status = status ? status : cuda_terms_start(&laws->terms, error);
    status = status ? status : upload(state, error);
    if (!status) {
        CUDA_TRY(cudaDeviceSynchronize());
    }
    queue->timeless = !varies;
    state->pattern.halted = varies ? laws->terms.halted : NULL;
    laws->join_before = laws->divided && (state->all.copies > 1 || plan->base.wants_balance);
    queue->halts = laws->divided && !laws->join_before ? laws->terms.halted : NULL;
    return status;
}

/* ---- steps ---- */

static sel_status lbm_laws_cuda_launch(const lbm_cuda *state, cuda_laws_launch one, int64_t step,
                                       int64_t steps, sel_error *error) {
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
    cuda_laws *laws = &state->laws;
    sel_state *base = &state->all.base;
    bool by_host = false;
    sel_status status = cuda_terms_set_controls(&laws->terms, base, due, error);
    for (int k = 0; k < laws->count; k++) {
        if (is_by_host(&laws->law[k]) && laws->batch[k]->depends & due) {
            by_host = true;
            status = status ? status : lbm_laws_cuda_send_values(state, k, step, error);
        }
    }
    if (by_host) {
        const double time = lbm_batch_steps(&state->all.plan->acceleration, step);
        status = laws_agree(state, due, step, time, status, error);
    }
    if (due & SEL_ON_CONTROLS && !status) {
        status = lbm_laws_cuda_launch(state, laws->launch[CUDA_LAWS_BY_CONTROLS], step,
                                      state->all.copies, error);
    }
    if (due & SEL_ON_T && !status) {
        status = lbm_laws_cuda_launch(state, laws->launch[CUDA_LAWS_IN_TIME], step, steps, error);
    }
    return status || !laws->join_before
               ? status
               : cuda_link_least(base, laws->terms.halted, base->queue->stream, error);
}

void cuda_laws_restore(lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const cuda_laws *laws = &state->laws;
    const int64_t step = state->all.base.step;
    if (!lbm_acceleration_is_field(plan) || !(plan->acceleration.depends & SEL_ON_T)) {
        return;
    }
    if (!is_launched(&laws->law[laws->count - 1])) {
        send_field(state, (double)step, NULL);
        return;
    }
    cuda_laws_launch again = laws->launch[CUDA_LAWS_IN_TIME];
    again.terms.claimed = NULL; /* faults are known */
    again.halted = NULL;
    lbm_laws_cuda_launch(state, again, step - 1, 1, NULL);
}

/* ---- faults of kernels ---- */

static void lbm_laws_cuda_find_place(const sel_grid *grid, const lbm_batch *batch, int64_t place,
                                     double at[3]) {
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
static sel_status explain(const lbm_cuda *state, const cuda_term_fault *fault, sel_error *error) {
    const lbm_batch *batch = state->laws.batch[fault->number];
    const sel_domain *domain = state->all.plan->base.domain;
    const double time = lbm_batch_steps(batch, fault->step) * domain->grid.dt;
    double place[3], values[3];
    lbm_laws_cuda_find_place(&domain->grid, batch, fault->place, place);
    const sel_places at = sel_domain_at(domain, 1, &place[0], &place[1], &place[2], time);
    sel_status status = sel_quantity_eval(batch->quantity, batch->what, &at, values, error);
    return status ? status : cuda_term_unknown(batch->quantity, batch->what, &at, error);
}

sel_status cuda_laws_check(sel_state *base, int64_t step, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    cuda_term_fault fault;
    if (!cuda_terms_failed(&state->laws.terms, step, &fault)) {
        return SEL_OK;
    }
    const sel_status status = explain(state, &fault, error);
    sel_state_go_to(base, fault.step);
    return status;
}

sel_status cuda_laws_failed(sel_state *base, sel_status status, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    const double steps = lbm_batch_steps(&state->all.plan->acceleration, base->step);
    cuda_laws_restore(state);
    return name_first(state, SEL_ON_T | SEL_ON_CONTROLS, base->step, steps, status, error);
}
