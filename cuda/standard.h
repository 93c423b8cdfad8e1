/* standard.h -- the standard's headers for what is compiled at run time, as far as it needs them.
 */
#ifndef CUDA_STANDARD_H
#define CUDA_STANDARD_H

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

#define INT64_MAX 0x7fffffffffffffffll
#define INT64_MIN (-INT64_MAX - 1)
#define INT32_MAX 0x7fffffff
#define NAN __longlong_as_double(0x7ff8000000000000ll)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)

#endif
