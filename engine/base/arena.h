/* arena.h -- memory that lives as long as one scenario and is freed at once. */
#ifndef SEL_ARENA_H
#define SEL_ARENA_H

#include <stddef.h>
#include "engine/base/status.h"

typedef struct sel_arena {
    struct sel_arena_block *first; /* with room for small allocations */
    size_t held, limit;            /* bytes allocated, and their maximum; 0: no limit */
    bool full;                     /* an allocation failed because of the limit */
} sel_arena;

/* NULL when there is no memory. */
sel_arena *sel_arena_create(void);
void sel_arena_destroy(sel_arena *arena);

/* Zeroed, aligned for any type. NULL when there is no memory. */
void *sel_arena_alloc(sel_arena *arena, size_t bytes);

/* A copy of `text`, or of its first `length` bytes, ended with 0. NULL for a NULL text, or when
 * there is no memory. */
char *sel_arena_copy(sel_arena *arena, const char *text);
char *sel_arena_copy_length(sel_arena *arena, const char *text, size_t length);
/* The formatted text, as of printf. NULL when there is no memory. */
char *sel_arena_print(sel_arena *arena, const char *format, ...) SEL_PRINTF(2, 3);

#endif
