/* kernel.h -- macros of the files named *_kernel.c, the inner loops of the CPU.
 *
 * Each such file is compiled once per x86-64 level, with -DSEL_LEVEL=v2, v3 or v4 (`any` on other
 * processors), and defines one table of functions per level. No arithmetic is contracted or
 * reordered, so that all levels give the same bits.
 */
#ifndef SEL_KERNEL_H
#define SEL_KERNEL_H

#define SEL_INLINE static inline __attribute__((always_inline))

/* Stands before a loop whose iterations do not depend on each other. */
#if defined(__clang__)
#define SEL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SEL_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define SEL_JOIN_NAMES(a, b) a##_##b
#define SEL_JOIN(a, b) SEL_JOIN_NAMES(a, b)

/* SEL_OF_LEVEL: the name of a table of this level, such as name_v3. SEL_OF_REAL: the name of a
 * function in the precision REAL (name_float, name_double), for files that are included once per
 * precision. */
#define SEL_OF_LEVEL(name) SEL_JOIN(name, SEL_LEVEL)
#define SEL_OF_REAL(name) SEL_JOIN(name, REAL)

#endif
