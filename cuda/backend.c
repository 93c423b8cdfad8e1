/* backend.c -- the backend that runs a solver on the device: memory, steps, requests. */
#include "cuda/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cuda/compile.h"
#include "cuda/inputs.h"
#include "cuda/interior.h"

static const cuda_solver *solver_of(const sel_plan *plan) {
    return plan->simulation->solver->on_cuda;
}

/* Selects the state's device; all calls begin with this, since each thread has a current one. */
static sel_status enter(const sel_state *state, sel_error *error) {
    CUDA_TRY(cudaSetDevice(state->plan->device));
    return SEL_OK;
}

/* ---- memory ---- */

static sel_status backend_allocate(void **block, uint64_t bytes, const char *what,
                                   sel_error *error) {
    sel_status status = cuda_device_allocate(block, bytes, what, error);
    if (!status) {
        CUDA_TRY(cudaMemset(*block, 0, bytes));
        CUDA_TRY(cudaDeviceSynchronize());
    }
    return status;
}

static void release(void *block) {
    cudaFree(block);
}

/* sel_memory.copy */
static sel_status copy(void *to, const void *from, uint64_t bytes, sel_error *error) {
    return cuda_send(to, from, bytes, error);
}

static const sel_memory device_memory = {512, backend_allocate, release, copy};

static sel_state *begin(const sel_plan *plan) {
    sel_state *state = calloc(1, solver_of(plan)->state_size);
    cuda_queue *queue = calloc(1, sizeof *queue);
    if (!state || !queue) {
        free(state);
        free(queue);
        return NULL;
    }
    state->queue = queue;
    state->arrays.memory = &device_memory;
    sel_state_begin(state, plan);
    return state;
}

static void backend_list(sel_state *state) {
    const sel_rows_range planes = sel_own_planes(state);
    const int64_t rows =
        state->ranks->rank == 0 ? sel_state_rows(state) : planes.end - planes.first;
    cuda_inputs_open(state);
    solver_of(state->plan)->list(state);
    sel_state_list(state);
    SEL_ADD(&state->arrays, state, halos,
            state->ranks->count > 1 ? (int64_t)state->halo_bytes + CUDA_LINK_MORE : 0, 0);
    cuda_inputs_list(state);
    cuda_list_regions(state);
    sel_arrays_add(&state->arrays, "rows", &state->queue->rows, (sel_type){'s', sizeof(cuda_sums)},
                   rows, 0);
    cuda_queue_list(state->queue, &state->arrays, state->ranks->count);
}

static void backend_destroy(sel_state *state) {
    if (state) {
        cuda_queue_close(state->queue);
        if (solver_of(state->plan)->close) {
            solver_of(state->plan)->close(state);
        }
        cuda_link_close(state->queue->link); /* NCCL waits until no graph holds exchanges */
        cuda_inputs_close(state);
        sel_state_end(state);
        free(state->queue);
        free(state);
    }
}

static sel_status serves(const sel_solver *solver, sel_error *error) {
    return solver->on_cuda->compiles ? cuda_compiler_find(error) : SEL_OK;
}

static bool backend_decompose(const sel_simulation *simulation, const sel_grid *grid,
                              sel_decomposition *decomposition) {
    const cuda_solver *solver = simulation->solver->on_cuda;
    return !solver->decompose || solver->decompose(simulation, grid, decomposition);
}

static sel_share backend_estimate(const sel_plan *plan) {
    sel_state *state = begin(plan);
    sel_share share = {.memory = 0};
    if (state) {
        backend_list(state);
        share = sel_state_share(state, state->arrays.bytes[0] + CUDA_QUEUE_LATER);
    }
    backend_destroy(state);
    return share;
}

static sel_status backend_fill(sel_state *state, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    sel_status status = enter(state, error);
    status = status ? status : cuda_queue_open(state->queue, state->plan->device, error);
    backend_list(state);
    status = status ? status : sel_state_allocate(state, solver->what, error);
    status = status ? status : cuda_send_regions(state, error);
    status = status ? status : cuda_queue_start(state->queue, error);
    status = sel_state_agree(state, status, error); /* before the first exchange */
    status = status ? status : cuda_link_open(state, &state->queue->link, error);
    if (!status && state->plan->inputs) {
        status = sel_inputs_start(state, error);
        status = status ? status : cuda_inputs_start(state, error);
        status = sel_state_agree(state, status, error);
    }
    status = status ? status : solver->start(state, error);
    status = status || !solver->derive ? status : solver->derive(state, 0, error);
    return sel_state_agree(state, status, error);
}

/* Some kernels count the cells of a rank, halos and the rest of a row's last warp included, in 32
 * bits. */
static sel_status check_size(const sel_state *state, sel_error *error) {
    enum { HALOS = 18 };
    const sel_grid *grid = &state->plan->domain->grid;
    const sel_patch *own = &state->own;
    const int64_t rows = grid->dims == 3 ? sel_patch_cells(own, 1) + HALOS : 1;
    const double cells = (double)(grid->n[0] + CUDA_WARP + HALOS) * (double)rows *
                         (double)(sel_patch_cells(own, grid->dims - 1) + HALOS);
    return cells < 4294967296.0
               ? SEL_OK
               : sel_fail(error, SEL_NO_DEVICE,
                          "a GPU takes up to 2^32 cells, halos included, and would have %.3g of "
                          "this domain; use more of them (--ranks), or --backend cpu",
                          cells);
}

static sel_status backend_create(const sel_plan *plan, sel_state **made, sel_error *error) {
    const cuda_solver *solver = solver_of(plan);
    sel_state *state = begin(plan);
    *made = NULL;
    sel_status status =
        state ? check_size(state, error) : sel_fail_memory(error, solver->what, solver->state_size);
    status = status || !solver->fits ? status : solver->fits(plan, error);
    status = sel_ranks_agree(sel_plan_ranks(plan), status, error);
    status = status ? status : backend_fill(state, error);
    if (status) {
        backend_destroy(state);
    } else {
        *made = state;
    }
    return status;
}

/* ---- steps ---- */

static sel_status check_own(sel_state *state, int64_t step, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    return solver->check ? solver->check(state, step, error)
                         : cuda_inputs_check(state, step, error);
}

static sel_status check_failed(sel_state *state, sel_status status, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    return status && solver->failed ? solver->failed(state, status, error) : status;
}

/* Waits for all that is enqueued; then all ranks learn of a failure. The earliest is reported, of
 * equally early ones that of the first cell. */
static sel_status backend_check(sel_state *state, int64_t step, sel_error *error) {
    const sel_ranks *ranks = sel_plan_ranks(state->plan);
    sel_error own = {.status = SEL_OK};
    if (ranks->count == 1) {
        return check_failed(state, check_own(state, step, error), error);
    }
    sel_status status = check_own(state, step, &own);
    if (!sel_ranks_total(ranks, status != SEL_OK)) {
        return SEL_OK;
    }
    sel_status waited = cuda_queue_wait(state->queue, status ? NULL : &own);
    status = status ? status : waited;
    status = status ? status : check_own(state, state->step, &own);
    struct {
        uint64_t alarm; /* that of the earliest is the smallest */
        int64_t step, cell;
        bool failed, broken, unbalanced;
    } mine = {*state->queue->seen, state->step,   own.cell,
              status != SEL_OK,    state->broken, state->unbalanced},
      all[SEL_MOST_RANKS];
    ranks->gather(&mine, sizeof mine, all);
    int first = 0;
    for (int r = 0; r < ranks->count; r++) {
        const bool same_step = all[r].step == all[first].step;
        const bool same_alarm = same_step && all[r].alarm == all[first].alarm;
        const bool earlier = all[r].step < all[first].step ||
                             (same_step && all[r].alarm < all[first].alarm) ||
                             (same_alarm && all[r].cell < all[first].cell);
        first = all[r].failed && (!all[first].failed || earlier) ? r : first;
        state->broken = state->broken || all[r].broken;
        state->unbalanced = state->unbalanced || all[r].unbalanced;
    }
    sel_state_go_to(state, all[first].step);
    if (status && ranks->rank == first && error) {
        *error = own;
    }
    status = sel_ranks_agree(ranks, ranks->rank == first ? status : SEL_OK, error);
    return check_failed(state, status, error);
}

static int64_t pass_of(const sel_state *state, int64_t most) {
    const cuda_solver *solver = solver_of(state->plan);
    return solver->pass ? solver->pass(state, most) : 1;
}

/* cuda_enqueue */
static sel_status backend_enqueue_step(sel_state *state, int64_t step, sel_error *error) {
    sel_status status = cuda_inputs_step(state, step, error);
    return status ? status : solver_of(state->plan)->step(state, step, error);
}

/* `count` steps, by the graph if there are as many. */
static sel_status enqueue(sel_state *state, int64_t count, sel_error *error) {
    cuda_queue *queue = state->queue;
    sel_status status = SEL_OK;
    queue->first = state->step;
    queue->until = state->step + count;
    if (count == queue->graph_steps && !cuda_link_staged(queue->link)) {
        queue->pass = pass_of(state, count);
        state->pass = queue->pass;
        status = cuda_queue_launch(queue, backend_enqueue_step, state, error);
        state->pass = 1;
        state->step += status ? 0 : count; /* an even number of passes */
        return status;
    }
    while (state->step < queue->until && !status) {
        state->pass = queue->pass = pass_of(state, queue->until - state->step);
        status = backend_enqueue_step(state, state->step, error);
        state->pass = 1;
        if (!status) {
            sel_state_pass(state, queue->pass);
        }
    }
    return status;
}

/* Steps that can be enqueued together: a graph's, which begin with the first copies, or one that
 * leads to it. An
 * observed step is alone: `observes` of those left. */
static int64_t together(const sel_state *state, int64_t left, int64_t observes) {
    const cuda_solver *solver = solver_of(state->plan);
    const int64_t most = state->queue->graph_steps;
    const bool alone = left <= observes || state->field[0].present || cuda_inputs_alone(state) ||
                       (solver->alone && solver->alone(state));
    left -= observes;
    return alone ? 1 : left < most ? left : most;
}

/* A device that fails between exchanges: other ranks wait, and end when this one has ended. */
static void leave_others(const sel_state *state, bool failed, const sel_error *error) {
    const sel_ranks *ranks = sel_plan_ranks(state->plan);
    if (failed && ranks->count > 1) {
        fprintf(stderr, "rank %d: %s\n", ranks->rank, error ? error->text : "its device failed");
        fflush(stderr);
        _exit(SEL_NO_DEVICE);
    }
}

static sel_status backend_clock_of(sel_state *state, sel_clock *clock, sel_error *error) {
    sel_status status = enter(state, error);
    return status ? status
                  : sel_state_clock(state, solver_of(state->plan)->time_step, clock, error);
}

static sel_status backend_advance(sel_state *state, int64_t n, bool observed, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    const int64_t observes = observed ? sel_plan_observed_steps(state->plan) : 0;
    const int64_t first = state->step, end = first + n;
    sel_status status = enter(state, error);
    status = status ? status : cuda_queue_begin(state->queue, error);
    leave_others(state, status, error);
    status = status ? status : backend_check(state, first, error);
    const int64_t two = 2 * pass_of(state, CUDA_STEPS / 2);
    state->queue->graph_steps = CUDA_STEPS / two * two;
    unsigned due = sel_domain_due(state->plan->domain, state->controls);
    while (state->step < end && !status && state->ending.how == SEL_GOES_ON) {
        sel_clock clock;
        status = backend_clock_of(state, &clock, error);
        const int64_t known = clock.until < end ? clock.until : end;
        int64_t count = together(state, known - state->step, known == end ? observes : 0);
        state->observing = end - state->step <= observes ? end - state->step : 0;
        status = status          ? status
                 : solver->terms ? solver->terms(state, due, &count, error)
                                 : cuda_inputs_terms(state, due, error);
        if (state->plan->depends & due) {
            status = sel_state_agree(state, status, error);
            status = check_failed(state, status, error);
        }
        if (!status) {
            status = enqueue(state, count, error);
            state->broken = status && status != SEL_BAD_SCENARIO;
            leave_others(state, status == SEL_NO_DEVICE, error);
        }
        due = SEL_ON_T;
    }
    state->observing = 0;
    state->observed = observes && !status ? end : state->observed;
    sel_status ended = cuda_queue_end(state->queue, state->step - first, status ? NULL : error);
    status = status ? status : ended;
    return status || !solver->ending ? status : solver->ending(state, error);
}

static sel_status wait_for_steps(sel_state *state, sel_error *error) {
    sel_status status = enter(state, error);
    status = status ? status : cuda_queue_wait(state->queue, error);
    leave_others(state, status, error);
    state->broken = state->broken || status;
    return status ? status : backend_check(state, state->step, error);
}

static sel_status backend_saving(sel_state *state, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    sel_status status = enter(state, error);
    return status || !solver->saving ? status : solver->saving(state, error);
}

static sel_status backend_loaded(sel_state *state, sel_error *error) {
    sel_status status = enter(state, error);
    if (!status && state->plan->inputs) {
        status = sel_state_loaded(state, cuda_inputs_loaded, error);
    }
    status = status ? status : sel_state_loaded(state, solver_of(state->plan)->loaded, error);
    return status ? status : wait_for_steps(state, error);
}

static sel_status backend_restart(sel_state *state, sel_error *error) {
    sel_status status = wait_for_steps(state, error);
    sel_state_reset(state, 0);
    return status ? status : solver_of(state->plan)->start(state, error);
}

static void done(const sel_state *state, int64_t *steps, double *seconds) {
    *steps = state->queue->steps_done;
    *seconds = state->queue->seconds_done;
}

/* ---- requests ---- */

/* Kernels compute the answer on the stream of the steps, so that they see the state for which it
 * was requested. */
static sel_status ask_sums(sel_state *state, const cuda_look *look, const void *view,
                           const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->queue;
    cuda_slot *slot;
    sel_status status = cuda_slot_open(queue, request, sizeof(cuda_sums), 0, &slot, error);
    if (status) {
        return status;
    }
    const cuda_rows rows = cuda_rows_of(state, request->kind == SEL_REDUCE ? &request->box : NULL);
    if (request->kind == SEL_BALANCE) {
        CUDA_TRY(look->sum(view, &rows, queue->stream));
        return cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(sel_total), error);
    }
    if (request->kind == SEL_REDUCE) {
        const cuda_cells cells = cuda_cells_of(&request->box);
        CUDA_TRY(look->reduce(view, request->field, &cells, &rows, queue->stream));
        return cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(cuda_sums), error);
    }
    CUDA_TRY(look->monitor(view, request->only_bad_cell ? NULL : state->last.v,
                           state->last.layout.component, state->last.layout.slice, &rows,
                           queue->stream));
    slot->had_before = state->monitored;
    state->monitored |= !request->only_bad_cell;
    return cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(cuda_monitor), error);
}

static sel_status backend_ask(sel_state *state, const sel_request *request, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    const bool field = request->kind == SEL_READ || request->kind == SEL_REDUCE;
    const cuda_look *look;
    const void *view;
    const bool own = !field && request->kind != SEL_MONITOR;
    if (own && solver->ask) {
        return solver->ask(state, request, error);
    }
    sel_status status = solver->look(state, field ? request->field : -1, &look, &view, error);
    if (status) {
        return status;
    }
    return request->kind == SEL_READ ? cuda_slot_read(state, request, look->read, view, error)
                                     : ask_sums(state, look, view, request, error);
}

sel_status cuda_sum(sel_state *state, sel_error *error) {
    const cuda_look *look;
    const void *view;
    sel_status status = solver_of(state->plan)->look(state, -1, &look, &view, error);
    if (!status) {
        const cuda_rows rows = cuda_rows_of(state, NULL);
        CUDA_TRY(look->sum(view, &rows, state->queue->stream));
    }
    return status;
}

sel_status cuda_sum_now(sel_state *state, sel_total *sum, sel_error *error) {
    sel_status status = cuda_sum(state, error);
    return status ? status : copy(sum, state->queue->rows, sizeof *sum, error);
}

static void answer_sums(const cuda_sums *sums, sel_request *request) {
    for (int c = 0; c < CUDA_PARTS; c++) {
        request->sum[c] = sums->sum[c];
        request->sum_of_squares[c] = sums->squares[c];
        request->min[c] = sums->least[c];
        request->max[c] = sums->most[c];
    }
    request->count = (int64_t)sums->count;
}

static sel_status finish_now(sel_state *state, sel_request *request, sel_error *error) {
    const cuda_solver *solver = solver_of(state->plan);
    cuda_slot *slot;
    sel_status status = enter(state, error);
    status = status ? status : cuda_slot_answer(state, request, &slot, error);
    if (status) {
        state->broken = true;
        return status;
    }
    const cuda_monitor *found = slot->host;
    switch (request->kind) {
    case SEL_READ:
        break;
    case SEL_REDUCE:
        answer_sums(slot->host, request);
        break;
    case SEL_MONITOR:
        sel_request_watched(request, &found->watched);
        if (solver->watched) {
            solver->watched(state->plan, request);
        }
        request->change = sel_relative_change(slot->had_before, found->change, found->magnitude);
        request->change *= state->last.counts ? request->change : 1; /* a part, no root */
        break;
    default:
        if (solver->answer) {
            solver->answer(state, slot, request);
        } else {
            sel_request_term(request, SEL_TERM_NOTED, "total", "", sel_total_of(slot->host, false));
        }
        break;
    }
    return backend_check(state, slot->step, error);
}

/* Several ranks answer at once, as all take part. */
static sel_status backend_start(sel_state *state, sel_request *request, sel_error *error) {
    request->unobserved = sel_state_misses(state, request);
    if (request->unobserved) {
        return SEL_OK;
    }
    sel_status status = enter(state, error);
    status = status ? status : backend_ask(state, request, error);
    cuda_slot_started(state->queue, request, state->step, status);
    leave_others(state, status == SEL_NO_DEVICE, error);
    return status || sel_plan_ranks(state->plan)->count == 1 ? status
                                                             : finish_now(state, request, error);
}

static sel_status backend_finish(sel_state *state, sel_request *request, sel_error *error) {
    const bool several = sel_plan_ranks(state->plan)->count > 1;
    return several || request->unobserved ? SEL_OK : finish_now(state, request, error);
}

static void backend_print(const sel_plan *plan, FILE *to) {
    if (solver_of(plan)->print) {
        solver_of(plan)->print(plan, to);
    }
}

const sel_backend cuda_backend = {
    .name = "cuda",
    .devices = cuda_device_count,
    .link = cuda_device_link,
    .probe = cuda_device_probe,
    .serves = serves,
    .decompose = backend_decompose,
    .bandwidth = cuda_device_bandwidth,
    .estimate = backend_estimate,
    .create = backend_create,
    .advance = backend_advance,
    .ending = sel_state_ending,
    .whole = sel_state_whole,
    .clock = backend_clock_of,
    .wait = wait_for_steps,
    .done = done,
    .start = backend_start,
    .finish = backend_finish,
    .saving = backend_saving,
    .loaded = backend_loaded,
    .restart = backend_restart,
    .destroy = backend_destroy,
    .print = backend_print,
    .device = cuda_device_text,
};
