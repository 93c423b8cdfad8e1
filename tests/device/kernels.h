/* kernels.h -- what nvcc gives to device code, for a processor (runtime.cpp): threads of a block
 * are fibers, which wait for each other where the code says so. Included before a .cu file that
 * ./nvcc has rewritten.
 *
 * What is not there: memory of threads is not checked, races are not found, and blocks run one
 * after the other.
 */
#ifndef DEVICE_KERNELS_H
#define DEVICE_KERNELS_H

#include <cuda_runtime_api.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace device {

extern void *dynamic; // shared memory of the launch

struct launch {
    dim3 blocks, threads;
    size_t bytes = 0;
    cudaStream_t stream = nullptr;
};

// Runs the threads, or records them in a graph.
void run(const launch &as, std::function<void()> thread);
// A new folder, below TMPDIR.
std::string make_folder();

// Does other work in the order of the streams, or records it.
void later(std::function<void()> work);

// The arguments are copied at once, as by a launch.
template <class KERNEL, class... A> void go(launch as, KERNEL kernel, A &&...arguments) {
    const std::tuple<std::decay_t<A>...> kept(arguments...);
    run(as, [=] {
        auto own = kept;
        std::apply(kernel, own);
    });
}

void sync_block();

// What the lanes of `mask` brought that were still there.
struct exchanged {
    uint32_t lanes;
    uint64_t value[32];
};
const exchanged &exchange(unsigned mask, const void *value, size_t size);
int lane();

template <class T> T of_lane(unsigned mask, T own, int from) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "a register");
    const exchanged &all = exchange(mask, &own, sizeof own);
    if (from >= 0 && from < 32 && (all.lanes >> from & 1u)) {
        memcpy(&own, &all.value[from], sizeof own);
    }
    return own;
}

template <class TO, class FROM> TO as(FROM from) {
    TO to;
    memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace device

static inline void __syncthreads() {
    device::sync_block();
}
static inline void __syncwarp(unsigned mask = ~0u) {
    const int nothing = 0;
    device::exchange(mask, &nothing, sizeof nothing);
}
static inline void __nanosleep(unsigned) {}
static inline void __threadfence() {}
static inline void __threadfence_system() {}

template <class T> T __shfl_sync(unsigned mask, T value, int from) {
    return device::of_lane(mask, value, from & 31);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by) {
    return device::of_lane(mask, value, device::lane() - (int)by);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by) {
    return device::of_lane(mask, value, device::lane() + (int)by);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const uint64_t own = predicate != 0;
    const device::exchanged &all = device::exchange(mask, &own, sizeof own);
    unsigned found = 0;
    for (int k = 0; k < 32; k++) {
        found |= (all.lanes >> k & 1u) && all.value[k] ? 1u << k : 0;
    }
    return found;
}
static inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
static inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    const uint64_t own = value;
    const device::exchanged &all = device::exchange(mask, &own, sizeof own);
    uint64_t sum = 0;
    for (int k = 0; k < 32; k++) {
        sum += all.lanes >> k & 1u ? all.value[k] : 0;
    }
    return (unsigned)sum;
}

template <class T> T __ldg(const T *from) {
    return *from;
}
template <class T> void __stcg(T *to, T value) {
    *to = value;
}
static inline double __dadd_rn(double a, double b) {
    return a + b;
}
static inline double __dmul_rn(double a, double b) {
    return a * b; // compiled without contraction
}
static inline int __popc(unsigned v) {
    return __builtin_popcount(v);
}
static inline int __ffs(int v) {
    return __builtin_ffs(v);
}
static inline int __ffsll(long long v) {
    return __builtin_ffsll(v);
}
static inline float __fmaf_rn(float a, float b, float c) {
    return fmaf(a, b, c);
}
static inline float __fmul_rn(float a, float b) {
    return a * b;
}
static inline float __fsqrt_rn(float a) {
    return sqrtf(a);
}
static inline double __dsqrt_rn(double a) {
    return sqrt(a);
}
static inline float __saturatef(float a) {
    return a > 0 ? (a < 1 ? a : 1) : 0;
}
static inline int __float_as_int(float a) {
    return device::as<int>(a);
}
static inline float __int_as_float(int a) {
    return device::as<float>(a);
}
static inline double __longlong_as_double(long long a) {
    return device::as<double>(a);
}
static inline int __vimax3_s32(int a, int b, int c) {
    return std::max(a, std::max(b, c));
}

template <class T> T atomicCAS(T *at, std::common_type_t<T> expected, std::common_type_t<T> value) {
    const T before = *at;
    *at = before == expected ? value : before;
    return before;
}
template <class T> T atomicExch(T *at, std::common_type_t<T> value) {
    return std::exchange(*at, value);
}
template <class T> T atomicMin(T *at, std::common_type_t<T> value) {
    const T before = *at;
    *at = std::min<T>(before, value);
    return before;
}

template <class T> T atomicAdd(T *at, std::common_type_t<T> value) {
    return std::exchange(*at, *at + value);
}

static inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z,
                                 unsigned char w) {
    return (uchar4){x, y, z, w};
}
static inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
static inline float2 make_float2(float x, float y) {
    return {x, y};
}
static inline double2 make_double2(double x, double y) {
    return {x, y};
}
static inline int2 make_int2(int x, int y) {
    return {x, y};
}
static inline int4 make_int4(int x, int y, int z, int w) {
    return {x, y, z, w};
}

#define DEVICE_LEAST_AND_MOST(type)          \
    static inline type min(type a, type b) { \
        return b < a ? b : a;                \
    }                                        \
    static inline type max(type a, type b) { \
        return a < b ? b : a;                \
    }
DEVICE_LEAST_AND_MOST(int)
DEVICE_LEAST_AND_MOST(unsigned)
DEVICE_LEAST_AND_MOST(long)
DEVICE_LEAST_AND_MOST(unsigned long)
DEVICE_LEAST_AND_MOST(float)
DEVICE_LEAST_AND_MOST(double)

// ---- launches that begin early: here as all others, one after the other ----

enum { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
    int id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
struct cudaFuncAttributes {
    int ptxVersion;
};
static inline void cudaGridDependencySynchronize() {}
static inline void cudaTriggerProgrammaticLaunchCompletion() {}
template <class KERNEL> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *code, KERNEL *) {
    code->ptxVersion = 90;
    return cudaSuccess;
}
template <class... A, class... B>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *as, void (*kernel)(A...), B &&...given) {
    device::go(
        {as->gridDim, as->blockDim, as->dynamicSmemBytes, as->stream},
        [=](auto &...a) { kernel(a...); }, given...);
    return cudaSuccess;
}

template <class KERNEL> cudaError_t cudaFuncSetAttribute(KERNEL *, cudaFuncAttribute, int) {
    return cudaSuccess;
}

#endif
