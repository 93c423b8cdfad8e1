/* laws_list.h -- the laws of a flow that vary, and how each is evaluated: by programs or the host.
 */
#ifndef CUDA_LAWS_LIST_H
#define CUDA_LAWS_LIST_H

#include "cuda/laws_kernels.h"
#include "engine/lbm/lbm.h"

typedef struct cuda_listed_law {
    const sel_quantity *quantity;
    const lbm_batch *batch; /* NULL: the acceleration */
    const char *what;       /* for messages */
    unsigned depends;       /* SEL_ON_T, SEL_ON_CONTROLS */
    bool by_host;
    cuda_law law; /* without what lies on the device */
} cuda_listed_law;

typedef struct cuda_law_list {
    int count, threads;
    size_t shared_bytes; /* of a block of so many threads */
    unsigned depends;    /* of all laws, also those that need no evaluation */
    cuda_listed_law *v;
} cuda_law_list;

/* Lists the laws that depend on time or controls. A law whose functions are all programs with data
 * that can be packed, and with few enough registers, is evaluated by the device. */
sel_status cuda_law_list_create(const lbm_plan *plan, cuda_terms *terms, cuda_law_list *list,
                                sel_error *error);
void cuda_law_list_free(cuda_law_list *list);

/* True when the device evaluates or stores this law, by cuda_laws_run; else the host sends rows of
 * the acceleration. */
bool cuda_law_is_launched(const cuda_listed_law *listed);

#endif
