/* feed.c -- buffers of the host that take turns to be copied to the device. */
#include "cuda/feed.h"

#include "cuda/device.h"

sel_status cuda_feed_open(cuda_feed *feed, void *device, uint64_t bytes, int turns,
                          sel_error *error) {
    *feed = (cuda_feed){.device = device, .turns = turns, .bytes = bytes};
    sel_status status = SEL_OK;
    for (int k = 0; k < turns && !status; k++) {
        status = cuda_host_allocate(&feed->pinned[k], bytes + 1, "the values from the host", error);
        if (!status) {
            CUDA_TRY(cudaEventCreateWithFlags(&feed->sent[k], cudaEventDisableTiming));
        }
    }
    return status;
}

void cuda_feed_close(cuda_feed *feed) {
    for (int k = 0; k < feed->turns; k++) {
        cudaFreeHost(feed->pinned[k]);
        if (feed->sent[k]) {
            cudaEventDestroy(feed->sent[k]);
        }
    }
}

sel_status cuda_feed_next(cuda_feed *feed, void **pinned, sel_error *error) {
    const int64_t k = feed->count % feed->turns;
    CUDA_TRY(cudaEventSynchronize(feed->sent[k]));
    *pinned = feed->pinned[k];
    return SEL_OK;
}

sel_status cuda_feed_sent(cuda_feed *feed, cudaStream_t stream, sel_error *error) {
    CUDA_TRY(cudaEventRecord(feed->sent[feed->count++ % feed->turns], stream));
    return SEL_OK;
}

sel_status cuda_feed_send(cuda_feed *feed, cudaStream_t stream, sel_error *error) {
    CUDA_TRY(cudaMemcpyAsync(feed->device, feed->pinned[feed->count % feed->turns], feed->bytes,
                             cudaMemcpyHostToDevice, stream));
    return cuda_feed_sent(feed, stream, error);
}

sel_status cuda_send(const void *to, const void *from, uint64_t bytes, sel_error *error) {
    if (bytes > 0) {
        CUDA_TRY(cudaDeviceSynchronize());
        CUDA_TRY(cudaMemcpy((void *)(uintptr_t)to, from, bytes, cudaMemcpyDefault));
        CUDA_TRY(cudaDeviceSynchronize());
    }
    return SEL_OK;
}
