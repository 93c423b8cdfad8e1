/* arena.c -- an arena as a list of blocks; a block holds many small allocations. */
#include "engine/base/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16384, ALIGNMENT = _Alignof(max_align_t) };

typedef struct sel_arena_block {
    struct sel_arena_block *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
} block;

sel_arena *sel_arena_create(void) {
    return calloc(1, sizeof(sel_arena));
}

void sel_arena_destroy(sel_arena *arena) {
    if (!arena) {
        return;
    }
    for (block *b = arena->first; b;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(arena);
}

/* A new block of at least `need` bytes. The block of a large allocation goes behind the first
 * block, so that later small allocations still fill the first. */
static block *add_block(sel_arena *arena, size_t need) {
    const bool large = need > BLOCK_BYTES / 4;
    const size_t size = large ? need : BLOCK_BYTES;
    if (arena->limit && (size > arena->limit || arena->held > arena->limit - size)) {
        arena->full = true;
        return NULL;
    }
    block *b = calloc(1, sizeof *b + size);
    if (!b) {
        return NULL;
    }
    block **link = large && arena->first ? &arena->first->next : &arena->first;
    b->size = size;
    b->next = *link;
    *link = b;
    arena->held += size;
    return b;
}

void *sel_arena_alloc(sel_arena *arena, size_t bytes) {
    size_t need = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block *b = arena->first;
    if (need < bytes || need > SIZE_MAX - sizeof *b) {
        return NULL;
    }
    if (!b || b->size - b->used < need) {
        b = add_block(arena, need);
    }
    if (!b) {
        return NULL;
    }
    void *result = b->bytes + b->used;
    b->used += need;
    return result;
}

char *sel_arena_copy_length(sel_arena *arena, const char *text, size_t length) {
    char *copy = text ? sel_arena_alloc(arena, length + 1) : NULL;
    return copy ? memcpy(copy, text, length) : NULL;
}

char *sel_arena_copy(sel_arena *arena, const char *text) {
    return text ? sel_arena_copy_length(arena, text, strlen(text)) : NULL;
}

char *sel_arena_print(sel_arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : sel_arena_alloc(arena, (size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(args);
    return text;
}
