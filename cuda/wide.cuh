// wide.cuh -- 8 or 16 bytes of numbers at once, from and to aligned places; bytes in memory are
// four ints in registers. Copies to shared memory while the program goes on. Numbers of the lanes
// beside.
#ifndef CUDA_WIDE_CUH
#define CUDA_WIDE_CUH

static __device__ __forceinline__ void wide_load(const float *from, float (&to)[4]) {
    const float4 v = *(const float4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

static __device__ __forceinline__ void wide_load(const int *from, int (&to)[4]) {
    const int4 v = *(const int4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

static __device__ __forceinline__ void wide_load(const double *from, double (&to)[2]) {
    const double2 v = *(const double2 *)from;
    to[0] = v.x, to[1] = v.y;
}

static __device__ __forceinline__ void wide_load(const float *from, float (&to)[2]) {
    const float2 v = *(const float2 *)from;
    to[0] = v.x, to[1] = v.y;
}

static __device__ __forceinline__ void wide_load(const unsigned char *from, int (&to)[4]) {
    const uchar4 v = *(const uchar4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

static __device__ __forceinline__ void wide_store(const float (&from)[4], float *to) {
    *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
}

static __device__ __forceinline__ void wide_store(const double (&from)[2], double *to) {
    *(double2 *)to = make_double2(from[0], from[1]);
}

static __device__ __forceinline__ void wide_store(const float (&from)[2], float *to) {
    *(float2 *)to = make_float2(from[0], from[1]);
}

// The same, so that the compiler does not join the store with one of single numbers in another
// branch, which takes it apart.
static __device__ __forceinline__ void wide_store_apart(const float (&from)[2], float *to) {
    __stcg((float2 *)to, make_float2(from[0], from[1]));
}

static __device__ __forceinline__ void wide_store_apart(const float (&from)[4], float *to) {
    __stcg((float4 *)to, make_float4(from[0], from[1], from[2], from[3]));
}

static __device__ __forceinline__ void wide_store_apart(const double (&from)[2], double *to) {
    __stcg((double2 *)to, make_double2(from[0], from[1]));
}

// A single number, for those who choose how many.
template <class R> static __device__ __forceinline__ void wide_load(const R *from, R (&to)[1]) {
    to[0] = *from;
}

template <class R>
static __device__ __forceinline__ void wide_store_apart(const R (&from)[1], R *to) {
    __stcg(to, from[0]);
}

static __device__ __forceinline__ void wide_store(const int (&from)[4], unsigned char *to) {
    *(uchar4 *)to = make_uchar4((unsigned char)from[0], (unsigned char)from[1],
                                (unsigned char)from[2], (unsigned char)from[3]);
}

// Asks for 16 bytes in shared memory; of zeros where they are not there. GPUs before 8.0 wait for
// them.
static __device__ __forceinline__ void wide_ask(const void *from, void *to, bool there = true) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
#else
    *(int4 *)to = there ? *(const int4 *)from : make_int4(0, 0, 0, 0);
#endif
}

// wide_end_group: the copies asked for so far are a group. wide_wait: waits until at most LATER
// groups are still on their way.
static __device__ __forceinline__ void wide_end_group() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int LATER> static __device__ __forceinline__ void wide_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

// The sum over the lanes of a warp, in all of them.
static __device__ __forceinline__ uint32_t sum_of_lanes(uint32_t v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, v);
#else
    for (int far = 16; far > 0; far /= 2) {
        v += __shfl_xor_sync(~0u, v, far);
    }
    return v;
#endif
}

static __device__ inline void join(double &a, const double &b) {
    a += b;
}

// The join of a value over the lanes of a warp, in lane 0: neighbours first.
template <class S> static __device__ inline void join_lanes(S &value) {
    static_assert(sizeof(S) % sizeof(double) == 0, "made of 8-byte numbers");
    for (int distance = 1; distance < CUDA_WARP; distance *= 2) {
        S other;
        double *to = (double *)&other;
        const double *from = (const double *)&value;
        for (size_t k = 0; k < sizeof(S) / sizeof(double); k++) {
            to[k] = __shfl_down_sync(0xffffffffu, from[k], distance);
        }
        if (threadIdx.x % (2 * distance) == 0) {
            join(value, other);
        }
    }
}

// The number of the lane before, or behind; that at an end has its own.
template <class T> static __device__ __forceinline__ T lane_before(T v) {
    return __shfl_up_sync(~0u, v, 1);
}

template <class T> static __device__ __forceinline__ T lane_behind(T v) {
    return __shfl_down_sync(~0u, v, 1);
}

#endif
