/* compile.h -- kernels from text at run time, by NVRTC: kept in a folder of the user's, so that one
 * text is compiled once.
 *
 * NVRTC and the driver are opened when they are needed; nothing is linked to them.
 */
#ifndef CUDA_COMPILE_H
#define CUDA_COMPILE_H

#include <stdbool.h>
#include "cuda/device.h"

/* A text, which may include RUN_TIME_HEADERS of the Makefile. Only fma() takes a product
 * that is not rounded. */
typedef struct cuda_text {
    const char *text, *name;
    const char *folder; /* for what was compiled; NULL: $XDG_CACHE_HOME/selenite, or
                           ~/.cache/selenite */
} cuda_text;

/* Whether NVRTC is here; fails with what to install. $SELENITE_NVRTC = 0: as if it were not. */
sel_status cuda_compiler_find(sel_error *error);

/* Code for devices of an architecture (90: sm_90); freed by the caller. *binary is NULL where there
 * is no NVRTC. A text that does not compile is an error. */
sel_status cuda_compile(const cuda_text *text, int architecture, void **binary, size_t *bytes,
                        sel_error *error);

/* What was compiled, on the device that is current. */
typedef struct cuda_module cuda_module;
typedef struct cuda_kernel cuda_kernel;
sel_status cuda_module_load(const void *binary, cuda_module **module, sel_error *error);
/* Compiles for a device, which is current, and loads; *module is NULL where there is no NVRTC. */
sel_status cuda_module_compile(const cuda_text *text, int device, cuda_module **module,
                               sel_error *error);
void cuda_module_free(cuda_module *module); /* NULL is fine */
sel_status cuda_module_kernel(cuda_module *module, const char *name, cuda_kernel **kernel,
                              sel_error *error);

/* Enqueues a kernel that takes one struct. */
sel_status cuda_kernel_launch(cuda_kernel *kernel, unsigned blocks, const unsigned threads[2],
                              const void *argument, cudaStream_t stream, sel_error *error);

#endif
