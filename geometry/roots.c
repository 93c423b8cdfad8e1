/* roots.c -- a list of the places where a segment meets surfaces, which grows as it has to. */
#include <stdlib.h>
#include <string.h>
#include "engine/scene/segment.h"

void sel_roots_open(sel_roots *roots) {
    roots->count = 0;
    roots->room = SEL_ROOTS_AT_ONCE;
    roots->failed = false;
    roots->v = roots->few;
}

void sel_roots_close(sel_roots *roots) {
    if (roots->v != roots->few) {
        free(roots->v);
    }
}

void sel_roots_add(sel_roots *roots, double at, bool surface) {
    if (!(at >= 0 && at <= 1)) {
        return;
    }
    if (roots->count == roots->room) {
        const size_t bytes = 2 * (size_t)roots->room * sizeof *roots->v;
        sel_root *v = roots->v == roots->few ? malloc(bytes) : realloc(roots->v, bytes);
        if (!v) {
            roots->failed = true;
            return;
        }
        if (roots->v == roots->few) {
            memcpy(v, roots->few, sizeof roots->few);
        }
        roots->v = v;
        roots->room *= 2;
    }
    roots->v[roots->count++] = (sel_root){at, surface};
}
