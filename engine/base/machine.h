/* machine.h -- the machine's resources: memory, cores, a clock; tasks shared among threads. */
#ifndef SEL_MACHINE_H
#define SEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/base/status.h"

/* Bytes that can be allocated without swapping; UINT64_MAX when the system does not say. */
uint64_t sel_machine_free_memory(void);

/* Threads that this process may run at once. */
int sel_machine_threads(void);

/* "23.6 GB": three digits and the unit that suits them, from bytes to EB (powers of 1000); returns
 * `text`. */
enum { SEL_BYTES_ROOM = 24 };
const char *sel_bytes_text(double bytes, char text[SEL_BYTES_ROOM]);

/* Memory for arrays, aligned to 128 bytes, in large pages where it is large enough to profit; not
 * zeroed. NULL when there is none. Release with free(). */
void *sel_machine_allocate(size_t bytes);

/* Zeroes memory of sel_machine_allocate, of which whole pages then take none until they are
 * written. */
void sel_machine_clear(void *memory, size_t bytes);

/* Bytes of the level-3 cache, which cores share; a guess where the system does not say. */
uint64_t sel_machine_cache(void);

/* "AMD EPYC 7763", or the architecture where the system does not say. */
void sel_machine_processor(char *text, size_t size);

/* Seconds of a monotonic clock. */
double sel_machine_seconds(void);

/* Whether the machine shows an NVIDIA GPU, with a driver or without. */
bool sel_machine_has_gpu(void);

/* The median of timings, which it sorts. */
double sel_median(double *values, int count);

/* Bytes per second, read and written, of a copy by streaming stores on `threads` threads between
 * two arrays far larger than the caches, as a reference for memory-bound kernels: the median of 9
 * copies, about half a second. 0 when there is no memory for it. */
double sel_machine_bandwidth(int threads);

/* ---- parts of a task shared among threads, where parts may call a script ---- */

/* Does a part of a task in thread 0 <= thread < threads, which may have its own scratch memory. A
 * failed part is repeated, so its incomplete results must not matter; `error` may be NULL. */
typedef sel_status sel_part(void *task, int64_t part, int thread, sel_error *error);

/* Does all parts, in any order. Functions of a script may need the thread that loaded it, so the
 * calling thread (thread 0) then repeats the parts that failed, in order; the first that fails
 * again ends the task with its error. */
sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error);

/* ---- which of the compiled tables of kernels this processor can run ----
 *
 * Files named *_kernel.c are built once for each x86-64 level, each build with a table of its own.
 */

/* V(level), best first: suffixes of the tables. And the names of a table of all levels, each with
 * what stands behind it: its size in their declaration. */
#if defined(__x86_64__)
#define SEL_LEVELS(V) V(v4) V(v3) V(v2)
#define SEL_OF_LEVELS(name, size) name##_v4 size, name##_v3 size, name##_v2 size
#else
#define SEL_LEVELS(V) V(any)
#define SEL_OF_LEVELS(name, size) name##_any size
#endif

/* The number in SEL_LEVELS of the best table that this processor can run (k = 0), the next best,
 * ...; -1: there is none. The results of all are the same to the last bit. */
int sel_level(int k);
/* The name of the best level; "unsupported" where there is none. */
const char *sel_level_name(void);

#endif
