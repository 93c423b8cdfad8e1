/* carver.h -- the arrays of a state as parts of one block of memory. */
#ifndef SEL_CARVER_H
#define SEL_CARVER_H

#include <stddef.h>
#include <stdint.h>

enum { SEL_CARVER_LINE = 128 }; /* bytes to which parts are aligned */

/* Hands out parts of a block; with a NULL block it only counts what they need. */
typedef struct sel_carver {
    char *block;
    uint64_t used;
} sel_carver;

static inline uint64_t sel_carver_round(uint64_t bytes) {
    return (bytes + SEL_CARVER_LINE - 1) / SEL_CARVER_LINE * SEL_CARVER_LINE;
}

static inline void *sel_carve(sel_carver *c, int64_t count, uint64_t size) {
    void *at = c->block ? c->block + c->used : NULL;
    c->used += sel_carver_round((uint64_t)count * size);
    return at;
}

#endif
