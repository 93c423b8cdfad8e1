/* hardware.h -- the machine's resources: memory, caches, cores, a clock; a parallel loop on
 * threads.
 */
#ifndef SEL_MACHINE_H
#define SEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/base/status.h"

/* Bytes that can be allocated without swapping; UINT64_MAX if unknown. */
uint64_t sel_machine_free_memory(void);

/* Threads that this process may run at once. */
int sel_machine_threads(void);

/* "23.6 GB": three digits and a unit from bytes to EB (powers of 1000). Returns `text`. */
enum { SEL_BYTES_ROOM = 24 };
const char *sel_bytes_text(double bytes, char text[SEL_BYTES_ROOM]);

/* Memory for arrays, aligned to 128 bytes, not zeroed; in large pages if it is large enough to gain
 * from them. NULL when there is no memory. Release with free(). */
void *sel_machine_allocate(size_t bytes);

/* Zeroes memory of sel_machine_allocate. Whole pages are returned to the system until they are
 * written again. */
void sel_machine_clear(void *memory, size_t bytes);

/* Zeroed memory, whose pages take none before they are written. NULL when there is no memory.
 * Release with sel_machine_unmap, which ignores NULL. */
void *sel_machine_map(size_t bytes);
void sel_machine_unmap(void *memory, size_t bytes);

/* Returns the pages of memory of sel_machine_map that hold only zeros to the system, until they are
 * written again. */
void sel_machine_return_zeros(void *memory, size_t bytes);

/* Ends the use of some bytes of memory of sel_machine_map. Their whole pages are returned to the
 * system, and reading them ends the process; under the address sanitizer reading any byte does. */
void sel_machine_withdraw(void *memory, size_t bytes);

/* Bytes of all level-3 caches of the cores of this process; a guess if unknown. */
uint64_t sel_machine_cache(void);

/* The processor's name, such as "AMD EPYC 7763"; the architecture if unknown. */
void sel_machine_processor(char *text, size_t size);

/* Seconds of a monotonic clock. */
double sel_machine_seconds(void);

/* Whether the machine shows an NVIDIA GPU, with a driver or without. */
bool sel_machine_has_gpu(void);

/* The median of `count` values, which are sorted in place. */
double sel_median(double *values, int count);

/* The memory bandwidth in bytes per second (read plus written), as a reference for memory-bound
 * kernels: the median of 9 copies by streaming stores on `threads` threads, between two arrays far
 * larger than the caches. Takes about half a second. 0 when there is no memory for the arrays. */
double sel_machine_bandwidth(int threads);

/* ---- a parallel loop over the parts of a task, which may call a script ---- */

/* Does one part of a task in thread 0 <= thread < threads, by which the task may select scratch
 * memory. A failed part is repeated, so its incomplete results must not matter. `error` may be
 * NULL. */
typedef sel_status sel_part(void *task, int64_t part, int thread, sel_error *error);

/* Does all parts on `threads` threads, in any order. Functions of a script may need the thread that
 * loaded it, so the calling thread (thread 0) then repeats the failed parts in ascending order; the
 * first part that fails again ends the task with its error. */
sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error);

/* ---- which of the compiled tables of kernels this processor can run ----
 *
 * Files named *_kernel.c are built once for each x86-64 level, each build with a table of its own.
 */

/* SEL_LEVELS: V(level) for each level, best first; the level is the suffix of the table's name.
 * SEL_OF_LEVELS: the names of one table for all levels, each followed by `size`, as a declaration
 * of arrays needs. */
#if defined(__x86_64__)
#define SEL_LEVELS(V) V(v4) V(v3) V(v2)
#define SEL_OF_LEVELS(name, size) name##_v4 size, name##_v3 size, name##_v2 size
#else
#define SEL_LEVELS(V) V(any)
#define SEL_OF_LEVELS(name, size) name##_any size
#endif

/* The index in SEL_LEVELS of the best table that this processor can run (k = 0), the next best
 * (k = 1), ...; -1: there is none. All tables give the same bits. */
int sel_level(int k);
/* The name of the best level; "unsupported" if there is none. */
const char *sel_level_name(void);

#endif
