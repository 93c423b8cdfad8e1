/* kernel.h -- what files named *_kernel.c share: the inner loops of the CPU.
 *
 * They are compiled once for each level of x86-64, with -DSEL_LEVEL=v2, v3, v4 (or any, elsewhere),
 * each time with a table of its own. Nothing is contracted or reordered, so that all levels give
 * the same bits.
 */
#ifndef SEL_KERNEL_H
#define SEL_KERNEL_H

#define SEL_INLINE static inline __attribute__((always_inline))

/* Before a loop: its turns do not depend on each other. */
#if defined(__clang__)
#define SEL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SEL_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define SEL_JOIN_NAMES(a, b) a##_##b
#define SEL_JOIN(a, b) SEL_JOIN_NAMES(a, b)

/* The name of a table of this level; of a function in the precision REAL, for files that are
 * included once for each: name_float, name_double. */
#define SEL_OF_LEVEL(name) SEL_JOIN(name, SEL_LEVEL)
#define SEL_OF_REAL(name) SEL_JOIN(name, REAL)

#endif
