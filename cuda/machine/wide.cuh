// wide.cuh -- 16 bytes of numbers at once, from and to aligned places; bytes in memory are four
// ints in registers.
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

static __device__ __forceinline__ void wide_store(const int (&from)[4], unsigned char *to) {
    *(uchar4 *)to = make_uchar4((unsigned char)from[0], (unsigned char)from[1],
                                (unsigned char)from[2], (unsigned char)from[3]);
}

#endif
