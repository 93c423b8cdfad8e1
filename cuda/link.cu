// link.cu -- what ranks exchange is gathered and scattered by kernels: in a graph these go before
// those of the inner planes, as their stream does, and copies would come after them.
#include "cuda/link.h"

enum { THREADS = 256 };

// Blocks along x for the numbers of a piece, along y for pieces, along z for parts and sides.
template <class T> static __global__ void pieces_kernel(const __grid_constant__ cuda_pieces p) {
    const cuda_part_of_sides &v = p.v[blockIdx.z / p.sides];
    const int side = blockIdx.z % p.sides;
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < v.bytes / sizeof(T) && blockIdx.y < v.count) {
        T *place = (T *)(v.place[side] + blockIdx.y * v.apart) + k;
        // What has been met is one more when it is fetched than when it was sent.
        const size_t further = p.met && ((*p.met + p.back) & 1) ? p.further : 0;
        T *room = (T *)(v.room[side] + further + blockIdx.y * v.bytes) + k;
        *(p.back ? place : room) = *(p.back ? room : place);
    }
}

// All that it is made of, as a number whose last bits are 0 where all are aligned.
static size_t aligned(const cuda_pieces &p) {
    size_t all = 0;
    for (int k = 0; k < p.count * p.sides; k++) {
        const cuda_part_of_sides &v = p.v[k / p.sides];
        all |= v.bytes | (v.count > 1 ? v.apart : 0) | (size_t)v.place[k % p.sides] |
               (size_t)v.room[k % p.sides] | p.further;
    }
    return all;
}

template <class T> static void launch(const cuda_pieces &p, cudaStream_t stream) {
    size_t bytes = 0;
    unsigned count = 0;
    for (int k = 0; k < p.count; k++) {
        bytes = p.v[k].bytes > bytes ? p.v[k].bytes : bytes;
        count = p.v[k].count > count ? (unsigned)p.v[k].count : count;
    }
    const dim3 blocks(cuda_shares(bytes / sizeof(T), THREADS), count, p.count * p.sides);
    pieces_kernel<T><<<blocks, THREADS, 0, stream>>>(p);
}

extern "C" cudaError_t cuda_move_pieces(const cuda_pieces *p, cudaStream_t stream) {
    if (p->count > 0 && p->sides > 0) {
        const size_t all = aligned(*p);
        const auto go = all % sizeof(uint4) == 0      ? launch<uint4>
                        : all % sizeof(uint32_t) == 0 ? launch<uint32_t>
                                                      : launch<unsigned char>;
        go(*p, stream);
    }
    return cudaGetLastError();
}

// What the kernels before it have written is there for all who see the counter.
static __global__ void meet_kernel(const __grid_constant__ cuda_meeting m) {
    const int64_t n = *m.met + 1;
    __threadfence_system();
    for (int side = 0; side < 2; side++) {
        if (m.its[side]) {
            *(volatile int64_t *)m.its[side] = n;
        }
    }
    for (int side = 0; side < 2; side++) {
        while (m.its[side] && *(volatile int64_t *)(m.own + side) < n) {
        }
    }
    __threadfence_system();
    *m.met = n;
}

extern "C" cudaError_t cuda_meet(const cuda_meeting *meeting, cudaStream_t stream) {
    meet_kernel<<<1, 1, 0, stream>>>(*meeting);
    return cudaGetLastError();
}

static __global__ void pause_kernel() {
    __nanosleep(2000);
}

extern "C" cudaError_t cuda_pause(cudaStream_t stream) {
    pause_kernel<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}
