/* laws_list.c -- find the laws that vary, pack their programs, share out threads and registers. */
#include "cuda/laws_list.h"

#include <stdlib.h>
#include "engine/lbm/acceleration.h"

enum { MOST_THREADS = 128, LEAST_THREADS = 32, MOST_PLACES_PER_THREAD = 8 };

static void add(cuda_law_list *list, cuda_terms *terms, cuda_listed_law listed) {
    cuda_listed_law *to = &list->v[list->count];
    *to = listed;
    to->by_host = !cuda_terms_take(terms, to->quantity, LEAST_THREADS, &to->law.term);
    to->law.number = list->count++;
}

static void add_batch(cuda_law_list *list, cuda_terms *terms, const lbm_batch *batch) {
    list->depends |= batch->depends;
    if (batch->depends && batch->count > 0) {
        add(list, terms,
            (cuda_listed_law){.quantity = batch->quantity,
                              .batch = batch,
                              .what = batch->what,
                              .depends = batch->depends,
                              .law = {.kind = batch->on_links ? CUDA_LAW_LINKS : CUDA_LAW_OPENINGS,
                                      .width = batch->count,
                                      .rows = 1}});
    }
}

static void add_acceleration(cuda_law_list *list, cuda_terms *terms, const lbm_plan *plan) {
    const sel_quantity *q = &plan->params->acceleration;
    const sel_grid *grid = &plan->base.domain->grid;
    unsigned depends = sel_quantity_depends(q) & (SEL_ON_T | SEL_ON_CONTROLS);
    bool field = lbm_acceleration_is_field(plan);
    list->depends |= depends;
    if (depends) {
        add(list, terms,
            (cuda_listed_law){.quantity = q,
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
            const cuda_listed_law *listed = &list->v[k];
            size_t bytes = listed->by_host ? 0 : cuda_term_bytes(&listed->law.term, list->threads);
            list->shared_bytes = bytes > list->shared_bytes ? bytes : list->shared_bytes;
        }
        if (list->shared_bytes <= CUDA_TERM_SHARED) {
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

sel_status cuda_law_list_create(const lbm_plan *plan, cuda_terms *terms, cuda_law_list *list,
                                sel_error *error) {
    const lbm_batches *batches = &plan->boundary.batches;
    *list = (cuda_law_list){.v = calloc((size_t)batches->count + 1, sizeof *list->v)};
    if (!list->v) {
        return sel_fail_memory(error, "the laws", (size_t)batches->count * sizeof *list->v);
    }
    for (int k = 0; k < batches->count; k++) {
        add_batch(list, terms, &batches->v[k]);
    }
    add_acceleration(list, terms, plan);
    share_threads(list);
    share_blocks(list);
    return SEL_OK;
}

void cuda_law_list_free(cuda_law_list *list) {
    free(list->v);
    *list = (cuda_law_list){0};
}

bool cuda_law_is_launched(const cuda_listed_law *listed) {
    return !listed->by_host || listed->law.kind != CUDA_LAW_FIELD;
}
