/* laws_list.c -- find the laws that vary, pack their programs, share out threads and registers. */
#include "cuda/laws_list.h"

#include <stdlib.h>
#include "engine/lbm/acceleration.h"

enum { MOST_THREADS = 128, LEAST_THREADS = 32, MOST_PLACES_PER_THREAD = 8 };

/* What any device gives a block without asking. */
static const size_t shared_limit = (size_t)48 << 10;

static int function_count(const sel_quantity *q) {
    return q->whole ? 1 : q->components;
}

/* NULL: a constant. */
static const sel_function *function_at(const sel_quantity *q, int k) {
    return q->whole ? q->whole : q->part[k].function;
}

static size_t shared_bytes(const cuda_listed_law *listed, int threads, int own) {
    return listed->by_host ? 0 : (size_t)(listed->law.quantity.fixed + own * threads) * 8;
}

/* The most registers that a place needs for one of a law's programs. */
static int most_own(const cuda_listed_law *listed) {
    int most = 0;
    for (int k = 0; k < function_count(listed->quantity) && !listed->by_host; k++) {
        const sel_function *f = function_at(listed->quantity, k);
        if (f && sel_pack_own(f->program) > most) {
            most = sel_pack_own(f->program);
        }
    }
    return most;
}

static bool are_programs(const sel_quantity *q) {
    for (int k = 0; k < function_count(q); k++) {
        const sel_function *f = function_at(q, k);
        if (f && (!f->program || !sel_pack_can_hold(f->program))) {
            return false;
        }
    }
    return true;
}

static void set_constants(cuda_listed_law *listed) {
    const sel_quantity *q = listed->quantity;
    cuda_law_quantity *to = &listed->law.quantity;
    *to = (cuda_law_quantity){.components = q->components};
    for (int c = 0; c < CUDA_LAW_PARTS; c++) {
        to->slot[c] = -1;
        to->constant[c] = q->whole || c >= q->components ? 0 : q->part[c].constant;
    }
}

/* Packs the programs of a law. False: the host has to evaluate it. */
static bool use_programs(cuda_law_list *list, cuda_listed_law *listed) {
    const sel_quantity *q = listed->quantity;
    cuda_law_quantity *to = &listed->law.quantity;
    if (!are_programs(q)) {
        return false;
    }
    for (int k = 0; k < function_count(q); k++) {
        const sel_function *f = function_at(q, k);
        if (!f) {
            continue;
        }
        to->room[to->programs] = to->fixed;
        to->fixed += sel_pack_fixed(f->program);
        for (int c = 0; c < (q->whole ? q->components : 1); c++) {
            to->slot[q->whole ? c : k] = to->programs;
            to->result[q->whole ? c : k] = c;
        }
        to->programs++;
    }
    if (shared_bytes(listed, LEAST_THREADS, most_own(listed)) > shared_limit) {
        return false;
    }
    for (int k = 0, slot = 0; k < function_count(q); k++) {
        const sel_function *f = function_at(q, k);
        int number = f ? sel_pack_add(list->pack, f->program) : 0;
        if (number < 0) {
            return false;
        }
        if (f) {
            to->program[slot++] = number;
        }
    }
    return true;
}

static void add(cuda_law_list *list, cuda_listed_law listed) {
    cuda_listed_law *to = &list->v[list->count];
    *to = listed;
    to->law.number = list->count++;
    set_constants(to);
    if (!use_programs(list, to)) {
        set_constants(to);
        to->by_host = true;
    }
}

static void add_batch(cuda_law_list *list, const lbm_batch *batch) {
    list->depends |= batch->depends;
    if (batch->depends && batch->count > 0) {
        add(list,
            (cuda_listed_law){.quantity = batch->quantity,
                              .batch = batch,
                              .what = batch->what,
                              .depends = batch->depends,
                              .law = {.kind = batch->on_links ? CUDA_LAW_LINKS : CUDA_LAW_OPENINGS,
                                      .width = batch->count,
                                      .rows = 1}});
    }
}

static void add_acceleration(cuda_law_list *list, const lbm_plan *plan) {
    const sel_quantity *q = &plan->params->acceleration;
    const sel_grid *grid = &plan->base.domain->grid;
    unsigned depends = sel_quantity_depends(q) & (SEL_ON_T | SEL_ON_CONTROLS);
    bool field = lbm_acceleration_is_field(plan);
    list->depends |= depends;
    if (depends) {
        add(list, (cuda_listed_law){.quantity = q,
                                    .what = "acceleration",
                                    .depends = depends,
                                    .law = {.kind = field ? CUDA_LAW_FIELD : CUDA_LAW_UNIFORM,
                                            .width = field ? grid->n[0] : 1,
                                            .rows = field ? grid->n[1] * grid->n[2] : 1}});
    }
}

/* All laws share one launch: as many threads as the registers of each allow. */
static void share_threads(cuda_law_list *list) {
    for (list->threads = MOST_THREADS; list->threads >= LEAST_THREADS; list->threads /= 2) {
        list->shared_bytes = 0;
        for (int k = 0; k < list->count; k++) {
            size_t bytes = shared_bytes(&list->v[k], list->threads, most_own(&list->v[k]));
            list->shared_bytes = bytes > list->shared_bytes ? bytes : list->shared_bytes;
        }
        if (list->shared_bytes <= shared_limit) {
            break;
        }
    }
}

static void share_blocks(cuda_law_list *list) {
    for (int k = 0; k < list->count; k++) {
        cuda_law *law = &list->v[k].law;
        int64_t threads = list->threads, needed = (law->width + threads - 1) / threads;
        int64_t most = law->kind == CUDA_LAW_FIELD ? MOST_PLACES_PER_THREAD : 1;
        law->places_per_thread = (int)(needed < most ? needed : most);
        law->blocks_per_row = (needed + law->places_per_thread - 1) / law->places_per_thread;
    }
}

sel_status cuda_law_list_create(const lbm_plan *plan, cuda_law_list *list, sel_error *error) {
    const lbm_batches *batches = &plan->boundary.batches;
    *list = (cuda_law_list){.v = calloc((size_t)batches->count + 1, sizeof *list->v),
                            .pack = sel_pack_create()};
    if (!list->v || !list->pack) {
        cuda_law_list_free(list);
        return sel_fail_memory(error, "the laws", (size_t)batches->count * sizeof *list->v);
    }
    for (int k = 0; k < batches->count; k++) {
        add_batch(list, &batches->v[k]);
    }
    add_acceleration(list, plan);
    share_threads(list);
    share_blocks(list);
    return SEL_OK;
}

void cuda_law_list_free(cuda_law_list *list) {
    sel_pack_destroy(list->pack);
    free(list->v);
    *list = (cuda_law_list){0};
}

bool cuda_law_is_launched(const cuda_listed_law *listed) {
    return !listed->by_host || listed->law.kind != CUDA_LAW_FIELD;
}

bool cuda_law_is_trusted(const cuda_listed_law *listed) {
    return listed->by_host || are_programs(listed->quantity);
}

sel_where cuda_law_where(const cuda_listed_law *listed) {
    for (int k = 0; k < function_count(listed->quantity); k++) {
        const sel_function *f = function_at(listed->quantity, k);
        if (f) {
            return f->where;
        }
    }
    return (sel_where){NULL, 0};
}
