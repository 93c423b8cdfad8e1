/* mask.h -- masks: which cells of a grid a file marks. */
#ifndef SEL_MASK_H
#define SEL_MASK_H

#include <stdint.h>
#include "engine/base/arena.h"
#include "engine/values/schema.h"

/* The types of numbers in files: names for tables, NULL-terminated, and what they are. */
extern const char *const sel_mask_types[];
typedef struct sel_mask_type {
    char kind; /* 'u', 'i', 'f'; 0: unknown */
    int bytes;
    bool big; /* the highest byte first */
} sel_mask_type;
sel_mask_type sel_mask_type_of(int choice);

/* What a script says of a file. Less than `threshold` is marked, or with `invert` what is not. */
typedef struct sel_mask_params {
    const char
        *file; /* the path to open; of pictures, one per plane, with %d or %03d in its name */
    double threshold;
    bool invert;
    sel_ints size;     /* .raw: cells along x, y, z */
    int type;          /* .raw: in sel_mask_types; -1: not given */
    const char *array; /* .vti: which; NULL: the only one */
} sel_mask_params;

typedef struct sel_mask {
    int64_t n[3];          /* n[2] = 1: a plane */
    const uint8_t *marked; /* [n[2]][n[1]][n[0]]: 1 or 0 */
} sel_mask;

/* Reads a mask, in the arena. Pictures (.png): brightness from 0 (black) to 1 (white), the first
 * row is the last along y; planes are numbered from 0 or 1. Arrays hold numbers as they are, the
 * first at the lower ends of all axes: .npy of [z][y][x] or [y][x], .raw with x fastest, .vti with
 * a number for each cell or point. Errors name the file. */
sel_status sel_mask_read(sel_arena *arena, const sel_mask_params *params, const sel_mask **mask,
                         sel_error *error);

/* ---- readers of arrays ---- */

/* A file in memory, while it is read. */
typedef struct sel_mask_source {
    const sel_mask_params *params;
    const char *name;  /* for messages */
    const char *bytes; /* a NUL follows */
    size_t length;
    sel_arena *arena;
    sel_mask *to; /* n is set first, then `marked` is made */
    sel_error *error;
} sel_mask_source;

typedef sel_status sel_mask_reader(sel_mask_source *source);
sel_mask_reader sel_npy_read, sel_raw_read, sel_vti_read;

/* Fails with SEL_BAD_FILE and "NAME: " before the message. */
sel_status sel_mask_refuse(const sel_mask_source *source, const char *format, ...) SEL_PRINTF(2, 3);

/* Allocates the marks for the n[3] that are set: each 1 or more, and not more than `most` together.
 */
sel_status sel_mask_allocate(sel_mask_source *source, double most);

/* Marks `count` cells from cell `first` on by numbers in memory. SEL_BAD_FILE: one is NaN. */
sel_status sel_mask_mark(sel_mask_source *source, const void *numbers, sel_mask_type type,
                         int64_t first, int64_t count);

#endif
