/* arena.c -- blocks in a list; a block holds many small allocations. */
#include "engine/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16384, ALIGNMENT = _Alignof(max_align_t) };

typedef struct block {
    struct block *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
} block;

struct sel_arena {
    block *first;
};

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

void *sel_arena_alloc(sel_arena *arena, size_t bytes) {
    size_t need = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block *b = arena->first;
    if (need < bytes) {
        return NULL;
    }
    if (!b || b->size - b->used < need) {
        size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
        b = calloc(1, sizeof *b + size);
        if (!b) {
            return NULL;
        }
        b->size = size;
        b->next = arena->first;
        arena->first = b;
    }
    void *result = b->bytes + b->used;
    b->used += need;
    return result;
}

size_t sel_arena_bytes(const sel_arena *arena) {
    size_t bytes = 0;
    for (const block *b = arena->first; b; b = b->next) {
        bytes += b->size;
    }
    return bytes;
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
