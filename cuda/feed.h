/* feed.h -- data on their way from the host to the device, while steps run. */
#ifndef CUDA_FEED_H
#define CUDA_FEED_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include "engine/base/status.h"

/* Pinned buffers that take turns: one is filled while others are being copied. */
enum { CUDA_FEED = 16 };
typedef struct cuda_feed {
    void *device; /* destination of cuda_feed_send */
    void *pinned[CUDA_FEED];
    cudaEvent_t sent[CUDA_FEED];
    int turns;
    int64_t count;
    uint64_t bytes;
} cuda_feed;

/* `turns` buffers of `bytes` each; device: NULL if the caller copies them elsewhere. */
sel_status cuda_feed_open(cuda_feed *feed, void *device, uint64_t bytes, int turns,
                          sel_error *error);
void cuda_feed_close(cuda_feed *feed);
/* The buffer to fill; waits only until its last content, `turns` sends ago, has been copied. */
sel_status cuda_feed_next(cuda_feed *feed, void **pinned, sel_error *error);
/* Copies of the buffer have been enqueued on the stream; moves on to the next one. */
sel_status cuda_feed_sent(cuda_feed *feed, cudaStream_t stream, sel_error *error);
/* Enqueues a copy of the whole buffer to `device`, and moves on. */
sel_status cuda_feed_send(cuda_feed *feed, cudaStream_t stream, sel_error *error);

/* Copies between host and device; done when it returns. */
sel_status cuda_send(const void *to, const void *from, uint64_t bytes, sel_error *error);

#endif
