/* laws.c -- the laws of a flow on the device: memory, the first values, launches, faults.
 *
 * The host evaluates every law once, for the first step, as the CPU backend does: mistakes are
 * reported, and what does not vary is complete. From then on the device evaluates the programs.
 * What only the host can evaluate is written into buffers of pinned memory, used in turns, and
 * copied in the order of the stream, so that the host may be steps ahead.
 */
#include "cuda/laws.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/machine/backend.h"
#include "cuda/machine/device.h"
#include "cuda/laws_list.h"
#include "engine/lbm/acceleration.h"

enum { BUFFERS = 4, MASKS = 4 };

struct cuda_laws {
    const lbm_plan *plan;
    cuda_law_targets targets;
    cuda_law_list list;
    /* On the device. */
    cuda_terms terms;
    cuda_law *table;
    int64_t *first_block[MASKS];
    lbm_direction *directions;
    cuda_feed feed;     /* what the host sends */
    int64_t chunk_rows; /* of an acceleration by the host */
    double *scratch;    /* 6 numbers for each place of them */
    cuda_laws_launch launch[MASKS];
};

static size_t real_size(const cuda_laws *laws) {
    return laws->plan->base.precision == SEL_F32 ? sizeof(float) : sizeof(double);
}

static int64_t row_count(const sel_grid *grid) {
    return grid->n[1] * grid->n[2];
}

/* A law's places, and the values from the host. */
static void list_law(cuda_listed_law *listed, sel_arrays *arrays) {
    const lbm_batch *batch = listed->batch;
    cuda_law *law = &listed->law;
    const int64_t n = law->width, placed = batch && !listed->by_host ? n : 0;
    SEL_ADD(arrays, law, x, placed, 0);
    SEL_ADD(arrays, law, y, placed, 0);
    SEL_ADD(arrays, law, z, batch && batch->z ? placed : 0, 0);
    SEL_ADD(arrays, law, target, batch ? n : 0, 0);
    SEL_ADD(arrays, law, incoming, batch ? n : 0, 0);
    SEL_ADD(arrays, law, given,
            listed->by_host && cuda_law_is_launched(listed) ? n * law->term.components : 0, 0);
}

static void list(cuda_laws *laws, sel_arrays *arrays) {
    const int64_t entries = laws->list.count + 1;
    cuda_terms_list(&laws->terms, arrays);
    SEL_ADD(arrays, laws, table, entries, 0);
    for (int mask = 0; mask < MASKS; mask++) {
        SEL_ADD(arrays, laws, first_block[mask], entries, 0);
    }
    SEL_ADD(arrays, laws, directions, LBM_MAX_Q, 0);
    for (int k = 0; k < laws->list.count; k++) {
        list_law(&laws->list.v[k], arrays);
    }
}

bool cuda_acceleration_turns(const lbm_plan *plan) {
    return !lbm_acceleration_is_field(plan) &&
           sel_quantity_depends(&plan->params->acceleration) & SEL_ON_T;
}

/* Pinned memory for the largest of what the host sends at a time. */
static size_t buffer_bytes(const cuda_laws *laws) {
    size_t most = 0;
    for (int k = 0; k < laws->list.count; k++) {
        const cuda_listed_law *listed = &laws->list.v[k];
        int64_t rows = cuda_law_is_launched(listed) ? 1 : laws->chunk_rows;
        size_t numbers = (size_t)(rows * listed->law.width * listed->law.term.components);
        if (listed->by_host && numbers * sizeof(double) > most) {
            most = numbers * sizeof(double);
        }
    }
    return most;
}

/* Rows of the acceleration into to[dims][rows][nx] in the run's precision, lattice units. */
static sel_status evaluate_rows(const cuda_laws *laws, double steps, int64_t first, int64_t rows,
                                void *to, sel_error *error) {
    const sel_grid *grid = &laws->plan->base.domain->grid;
    const int64_t n = rows * grid->n[0];
    const double unit = lbm_acceleration_unit(laws->plan);
    double *values = laws->scratch + 3 * n;
    sel_status status =
        lbm_acceleration_rows(laws->plan, steps, first, rows, laws->scratch, values, error);
    for (int64_t k = 0; k < grid->dims * n && !status; k++) {
        if (laws->plan->base.precision == SEL_F32) {
            ((float *)to)[k] = (float)(values[k] / unit);
        } else {
            ((double *)to)[k] = values[k] / unit;
        }
    }
    return status;
}

static sel_status copy_rows(const cuda_laws *laws, int64_t first, int64_t rows, const void *from,
                            cudaStream_t stream, sel_error *error) {
    const sel_grid *grid = &laws->plan->base.domain->grid;
    size_t real = real_size(laws), width = (size_t)grid->n[0] * real;
    size_t pitch = (size_t)laws->targets.pitch * real;
    for (int a = 0; a < grid->dims; a++) {
        char *to = (char *)laws->targets.acceleration_field +
                   (size_t)(a * row_count(grid) + first) * pitch;
        const char *part = (const char *)from + (size_t)(a * rows) * width;
        CUDA_TRY(cudaMemcpy2DAsync(to, pitch, part, width, width, (size_t)rows,
                                   cudaMemcpyHostToDevice, stream));
    }
    return SEL_OK;
}

static int64_t rows_from(const cuda_laws *laws, int64_t first) {
    int64_t left = row_count(&laws->plan->base.domain->grid) - first;
    return left < laws->chunk_rows ? left : laws->chunk_rows;
}

/* All rows of the acceleration, by the host, `steps` steps after time 0. */
static sel_status send_field(cuda_laws *laws, double steps, cudaStream_t stream, sel_error *error) {
    int64_t total = row_count(&laws->plan->base.domain->grid);
    for (int64_t first = 0; first < total; first += laws->chunk_rows) {
        int64_t rows = rows_from(laws, first);
        void *pinned;
        sel_status status = cuda_feed_next(&laws->feed, &pinned, error);
        status = status ? status : evaluate_rows(laws, steps, first, rows, pinned, error);
        status = status ? status : copy_rows(laws, first, rows, pinned, stream, error);
        status = status ? status : cuda_feed_sent(&laws->feed, stream, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

/* The values of one law, by the host, for the step from `step` to the next. */
static sel_status send_values(cuda_laws *laws, const cuda_listed_law *listed, int64_t step,
                              cudaStream_t stream, sel_error *error) {
    const cuda_law *law = &listed->law;
    const double steps = (double)step + (law->kind == CUDA_LAW_LINKS ? 0.5 : 1);
    double value[3];
    void *pinned;
    if (law->kind == CUDA_LAW_FIELD) {
        return send_field(laws, steps, stream, error);
    }
    size_t bytes = (size_t)(law->width * law->term.components) * sizeof(double);
    sel_status status = cuda_feed_next(&laws->feed, &pinned, error);
    if (!status && listed->batch) {
        status = lbm_batch_evaluate(listed->batch, laws->plan->base.domain, steps, pinned, error);
    } else if (!status) {
        status = lbm_acceleration_uniform(laws->plan, steps, value, error);
        memcpy(pinned, value, bytes);
    }
    if (status) {
        return status;
    }
    CUDA_TRY(cudaMemcpyAsync((void *)(uintptr_t)law->given, pinned, bytes, cudaMemcpyHostToDevice,
                             stream));
    return cuda_feed_sent(&laws->feed, stream, error);
}

/* The acceleration at time 0. */
static sel_status start_acceleration(cuda_laws *laws, void *rows_memory, sel_error *error) {
    const lbm_plan *plan = laws->plan;
    const int64_t total = row_count(&plan->base.domain->grid);
    double value[3] = {0, 0, 0};
    sel_status status = SEL_OK;
    if (!rows_memory && sel_quantity_given(&plan->params->acceleration)) {
        status = lbm_acceleration_uniform(plan, 0, value, error);
    }
    for (int a = 0; a < 3; a++) {
        value[a] /= lbm_acceleration_unit(plan);
    }
    status = status ? status : cuda_send(laws->targets.acceleration, value, sizeof value, error);
    for (int64_t first = 0; rows_memory && first < total && !status; first += laws->chunk_rows) {
        int64_t rows = rows_from(laws, first);
        status = evaluate_rows(laws, 0, first, rows, rows_memory, error);
        status = status ? status : copy_rows(laws, first, rows, rows_memory, NULL, error);
        if (!status) {
            CUDA_TRY(cudaStreamSynchronize(NULL));
        }
    }
    return status;
}

static sel_status start_field(cuda_laws *laws, sel_error *error) {
    if (!lbm_acceleration_is_field(laws->plan)) {
        return start_acceleration(laws, NULL, error);
    }
    laws->chunk_rows = lbm_acceleration_chunk(laws->plan);
    size_t places = (size_t)(laws->chunk_rows * laws->plan->base.domain->grid.n[0]);
    laws->scratch = malloc(6 * places * sizeof *laws->scratch);
    void *rows_memory = malloc(3 * places * real_size(laws));
    sel_status status = laws->scratch && rows_memory
                            ? start_acceleration(laws, rows_memory, error)
                            : sel_fail_memory(error, "the acceleration", 9 * places * 8);
    free(rows_memory);
    return status;
}

/* The values of all other laws for the first step. */
static sel_status start_boundary(cuda_laws *laws, sel_error *error) {
    const lbm_boundary *boundary = &laws->plan->boundary;
    size_t links = (size_t)boundary->link_count;
    size_t values = LBM_OPEN_VALUES * (size_t)boundary->open_count;
    size_t numbers = links + values + 3 * (size_t)boundary->batches.largest;
    double *link_add = calloc(numbers + 1, sizeof *link_add);
    if (!link_add) {
        return sel_fail_memory(error, "the laws", numbers * sizeof *link_add);
    }
    double *open_value = link_add + links, *scratch = open_value + values;
    sel_status status =
        lbm_batches_apply(laws->plan, 0, LBM_ALWAYS, scratch, link_add, open_value, error);
    status = status ? status
                    : cuda_send(laws->targets.link_add, link_add, links * sizeof(double), error);
    status = status
                 ? status
                 : cuda_send(laws->targets.open_value, open_value, values * sizeof(double), error);
    free(link_add);
    return status;
}

static sel_status open_feed(cuda_laws *laws, sel_error *error) {
    const size_t most = buffer_bytes(laws);
    return most > 0 ? cuda_feed_open(&laws->feed, NULL, most, BUFFERS, error) : SEL_OK;
}

static sel_status upload_places(const cuda_listed_law *listed, sel_error *error) {
    const lbm_batch *batch = listed->batch;
    const cuda_law *law = &listed->law;
    const struct {
        const void *to, *from;
        size_t bytes;
    } parts[] = {{law->x, batch ? batch->x : NULL, sizeof(double)},
                 {law->y, batch ? batch->y : NULL, sizeof(double)},
                 {law->z, batch ? batch->z : NULL, sizeof(double)},
                 {law->target, batch ? batch->target : NULL, sizeof(int64_t)},
                 {law->incoming, batch ? batch->incoming : NULL, 1}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        size_t bytes = parts[k].to ? (size_t)law->width * parts[k].bytes : 0;
        sel_status status = cuda_send(parts[k].to, parts[k].from, bytes, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

/* Bit 0 of a mask: SEL_ON_T, bit 1: SEL_ON_CONTROLS. */
static int mask_of(unsigned depends) {
    return (depends & SEL_ON_T ? 1 : 0) + (depends & SEL_ON_CONTROLS ? 2 : 0);
}

/* Blocks of the laws that depend on what a mask says; first[count + 1]. */
static void count_blocks(const cuda_law_list *list, int mask, int64_t *first) {
    first[0] = 0;
    for (int k = 0; k < list->count; k++) {
        const cuda_listed_law *listed = &list->v[k];
        bool due = (mask_of(listed->depends) & mask) && cuda_law_is_launched(listed);
        first[k + 1] = first[k] + (due ? listed->law.rows * listed->law.blocks_per_row : 0);
    }
}

static void describe_launch(cuda_laws *laws, int mask, int64_t blocks) {
    const lbm_numbers *numbers = &laws->plan->numbers;
    laws->launch[mask] = (cuda_laws_launch){
        .terms = cuda_terms_see(&laws->terms),
        .laws = laws->table,
        .first_block = laws->first_block[mask],
        .count = laws->list.count,
        .threads = laws->list.threads,
        .blocks = blocks,
        .shared_bytes = laws->list.shared_bytes,
        .grid = laws->plan->base.domain->grid,
        .velocity_unit = numbers->velocity_unit,
        .pressure_unit = numbers->pressure_unit,
        .acceleration_unit = lbm_acceleration_unit(laws->plan),
        .directions = laws->directions,
        .link_add = laws->targets.link_add,
        .open_value = laws->targets.open_value,
        .acceleration = laws->targets.acceleration,
        .acceleration_turns = cuda_acceleration_turns(laws->plan),
        .acceleration_field = laws->targets.acceleration_field,
        .pitch = laws->targets.pitch,
        .single = laws->plan->base.precision == SEL_F32,
    };
}

/* `laws` and `first` hold count + 1 entries. */
static sel_status upload_tables(cuda_laws *laws, cuda_law *table, int64_t *first,
                                sel_error *error) {
    const cuda_law_list *list = &laws->list;
    const lbm_lattice *lattice = laws->plan->boundary.lattice;
    sel_status status =
        cuda_send(laws->directions, lattice->direction, sizeof lattice->direction, error);
    for (int k = 0; k < list->count && !status; k++) {
        table[k] = list->v[k].law;
        status = upload_places(&list->v[k], error);
    }
    status =
        status ? status : cuda_send(laws->table, table, (size_t)list->count * sizeof *table, error);
    for (int mask = 0; mask < MASKS && !status; mask++) {
        count_blocks(list, mask, first);
        describe_launch(laws, mask, first[list->count]);
        status = cuda_send(laws->first_block[mask], first,
                           (size_t)(list->count + 1) * sizeof *first, error);
    }
    return status;
}

static sel_status upload_all(cuda_laws *laws, sel_error *error) {
    size_t entries = (size_t)laws->list.count + 1;
    cuda_law *table = calloc(entries, sizeof *table);
    int64_t *first = calloc(entries, sizeof *first);
    sel_status status = table && first
                            ? upload_tables(laws, table, first, error)
                            : sel_fail_memory(error, "the laws", entries * sizeof *table);
    free(table);
    free(first);
    return status;
}

cuda_laws *cuda_laws_create(const lbm_plan *plan, sel_arrays *arrays) {
    cuda_laws *laws = calloc(1, sizeof *laws);
    if (laws && cuda_terms_open(&laws->terms, plan->base.domain) &&
        cuda_law_list_create(plan, &laws->terms, &laws->list, NULL) == SEL_OK) {
        laws->plan = plan;
        list(laws, arrays);
        return laws;
    }
    cuda_laws_destroy(laws);
    return NULL;
}

sel_status cuda_laws_start(cuda_laws *laws, const cuda_law_targets *targets, sel_error *error) {
    laws->targets = *targets;
    sel_status status = start_field(laws, error);
    status = status ? status : start_boundary(laws, error);
    status = status ? status : cuda_terms_start(&laws->terms, error);
    status = status ? status : open_feed(laws, error);
    status = status ? status : upload_all(laws, error);
    if (status) {
        return status;
    }
    CUDA_TRY(cudaDeviceSynchronize());
    return SEL_OK;
}

void cuda_laws_destroy(cuda_laws *laws) {
    if (!laws) {
        return;
    }
    cuda_feed_close(&laws->feed);
    cuda_terms_close(&laws->terms);
    cuda_law_list_free(&laws->list);
    free(laws->scratch);
    free(laws);
}

unsigned cuda_laws_depend(const cuda_laws *laws) {
    return laws->list.depends;
}

bool cuda_laws_need_host(const cuda_laws *laws) {
    for (int k = 0; k < laws->list.count; k++) {
        if (laws->list.v[k].by_host && laws->list.v[k].depends & SEL_ON_T) {
            return true;
        }
    }
    return false;
}

sel_status cuda_laws_set_controls(cuda_laws *laws, const double *values, cudaStream_t stream,
                                  sel_error *error) {
    return cuda_terms_set_controls(&laws->terms, values, stream, error);
}

static sel_status enqueue(cuda_laws *laws, unsigned due, int64_t step, cuda_laws_launch launch,
                          cudaStream_t stream, sel_error *error) {
    for (int k = 0; k < laws->list.count; k++) {
        const cuda_listed_law *listed = &laws->list.v[k];
        if (listed->by_host && listed->depends & due) {
            sel_status status = send_values(laws, listed, step, stream, error);
            if (status) {
                return status;
            }
        }
    }
    if (launch.blocks > 0) {
        CUDA_TRY(cuda_laws_run(&launch, stream));
    }
    return SEL_OK;
}

sel_status cuda_laws_enqueue(cuda_laws *laws, unsigned due, int64_t step, cuda_clock clock,
                             cudaStream_t stream, sel_error *error) {
    cuda_laws_launch launch = laws->launch[mask_of(due)];
    launch.clock = clock;
    launch.halted = cuda_laws_halted(laws);
    return enqueue(laws, due, step, launch, stream, error);
}

void cuda_laws_restore(cuda_laws *laws, int64_t step, cuda_clock clock, cudaStream_t stream) {
    cuda_laws_launch launch = laws->launch[mask_of(SEL_ON_T)];
    launch.clock = clock;
    launch.terms = cuda_terms_silent(&laws->terms);
    enqueue(laws, SEL_ON_T, step, launch, stream, NULL);
}

const int *cuda_laws_halted(const cuda_laws *laws) {
    return cuda_terms_see(&laws->terms).claimed;
}

static void find_place(const cuda_laws *laws, const cuda_listed_law *listed, int64_t place,
                       double at[3]) {
    const sel_grid *grid = &laws->plan->base.domain->grid;
    const lbm_batch *batch = listed->batch;
    if (batch) {
        at[0] = batch->x[place];
        at[1] = batch->y[place];
        at[2] = batch->z ? batch->z[place] : 0;
    } else if (listed->law.kind == CUDA_LAW_FIELD) {
        int64_t row = place / grid->n[0];
        at[0] = sel_centre(grid, 0, (double)(place % grid->n[0]));
        at[1] = sel_centre(grid, 1, (double)(row % grid->n[1]));
        at[2] = sel_centre(grid, 2, (double)(row / grid->n[1]));
    }
}

/* What the host says of the place that went wrong. */
static sel_status explain(const cuda_laws *laws, const cuda_term_fault *fault, sel_error *error) {
    const cuda_listed_law *listed = &laws->list.v[fault->number];
    const sel_domain *domain = laws->plan->base.domain;
    const double after = listed->law.kind == CUDA_LAW_LINKS ? 0.5 : 1;
    double place[3] = {0, 0, 0}, values[3];
    find_place(laws, listed, fault->place, place);
    const sel_places at = {.n = 1,
                           .x = &place[0],
                           .y = &place[1],
                           .z = domain->grid.dims == 3 ? &place[2] : NULL,
                           .t = ((double)fault->step + after) * domain->grid.dt,
                           .controls = domain->control_values};
    sel_status status = sel_quantity_eval(listed->quantity, listed->what, &at, values, error);
    return status ? status : cuda_term_unknown(listed->quantity, listed->what, &at, error);
}

sel_status cuda_laws_check(cuda_laws *laws, int64_t step, int64_t *failed, sel_error *error) {
    cuda_term_fault fault;
    if (cuda_terms_failed(&laws->terms, step, &fault)) {
        *failed = fault.step;
        return explain(laws, &fault, error);
    }
    return SEL_OK;
}
