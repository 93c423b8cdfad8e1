/* kernel.h -- what files of inner loops (*_kernel.c) share.
 *
 * They are compiled once per level with -DSEL_LEVEL=v2, v3, v4 (or any, off x86-64); each has a
 * table of its functions (cpu.h). Nothing is contracted or reordered, so that all levels give the
 * same bits.
 */
#ifndef SEL_KERNEL_H
#define SEL_KERNEL_H

#define SEL_INLINE static inline __attribute__((always_inline))

/* Before a loop over cells that do not depend on each other. (Not `omp simd`: with it gcc keeps the
 * arrays of inlined functions in memory and gives up.) */
#if defined(__clang__)
#define SEL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SEL_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The name of a table of this level: SEL_OF_LEVEL(heat_loops_) is heat_loops_v3. */
#define SEL_JOIN(a, b) a##b
#define SEL_LEVEL_NAME(prefix, level) SEL_JOIN(prefix, level)
#define SEL_OF_LEVEL(prefix) SEL_LEVEL_NAME(prefix, SEL_LEVEL)

#endif
