/* device.h -- the CUDA device behind plain C: whether there is one, what it is, how fast it copies.
 */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include "engine/base/status.h"

/* ---- every call of CUDA is checked ---- */

/* SEL_OK, or SEL_NO_DEVICE with the text of the code, `what` and where. Lack of memory is reported
 * by cuda_device_allocate and cuda_host_allocate, which know how much was needed. */
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

/* ---- the device ---- */

/* How many devices there are, with numbers from 0 on. */
int cuda_device_count(void);

/* Selects a device for all calls of this thread. SEL_NO_DEVICE, with the reason, when there
 * is none of this number, its driver is too old, or this build has no code for it. */
sel_status cuda_device_probe(int device, uint64_t *free_bytes, sel_error *error);

/* "NVIDIA H200, CUDA 13.0"; empty when there is none. */
void cuda_device_text(int device, char *text, size_t size);

/* What joins two devices: "NVLink" where the driver's library says so, "PCIe" where one reaches the
 * memory of the other, "the host". */
const char *cuda_device_link(int device, int other);

/* Fills `count` pointers to functions of a library, which is NULL where it is missing; false: one
 * of them is. Libraries stay open. */
bool cuda_find_functions(void *library, const char *const *names, int count, void *to);

/* Bytes per second, read and written, of a copy much larger than the caches; 0 when it fails. The
 * number of threads means nothing here. */
double cuda_device_bandwidth(int device, int threads);

/* Device memory; the message names its use, `what`, when there is not enough. */
sel_status cuda_device_allocate(void **block, uint64_t bytes, const char *what, sel_error *error);

/* Page-locked memory of the host, which the device can access, with the same message; freed with
 * cudaFreeHost. */
sel_status cuda_host_allocate(void **block, uint64_t bytes, const char *what, sel_error *error);

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a copy by a kernel, 16 bytes a thread; both aligned to 16. */
cudaError_t cuda_copy(void *to, const void *from, int64_t bytes, cudaStream_t stream);

/* *base += steps, the clock of the device (query.h). */
cudaError_t cuda_tick(int64_t *base, int64_t steps, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
