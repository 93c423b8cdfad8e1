/* check.h -- every call of CUDA is checked: one text with what was done, where, and why it failed.
 */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#include <cuda_runtime_api.h>
#include "engine/status.h"

/* SEL_OK, or SEL_NO_DEVICE with the text of the code, `what` and where. What runs out of memory is
 * told by cuda_device_allocate and cuda_host_allocate, which know how much. */
sel_status sel_cuda_check(cudaError_t code, const char *what, const char *file, int line,
                          sel_error *error);

/* In functions that return sel_status and have an `error`: returns at the first failure. */
#define CUDA_TRY(call)                                                                      \
    do {                                                                                    \
        sel_status cuda_status_ = sel_cuda_check((call), #call, __FILE__, __LINE__, error); \
        if (cuda_status_) {                                                                 \
            return cuda_status_;                                                            \
        }                                                                                   \
    } while (0)

#endif
