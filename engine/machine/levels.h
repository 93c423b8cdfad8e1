/* levels.h -- which of the compiled tables of kernels this processor can run.
 *
 * Files named *_kernel.c are built once for each x86-64 level, each build with a table of its own.
 */
#ifndef SEL_LEVELS_H
#define SEL_LEVELS_H

/* V(level), best first: what the names of the tables end with. */
#if defined(__x86_64__)
#define SEL_LEVELS(V) V(v4) V(v3) V(v2)
#else
#define SEL_LEVELS(V) V(any)
#endif

/* The number in SEL_LEVELS of the best table that this processor can run (k = 0), the next best,
 * ...; -1: there is none. The results of all are the same to the last bit. */
int sel_level(int k);

/* "x86-64-v4": the best level. */
const char *sel_level_name(void);

#endif
