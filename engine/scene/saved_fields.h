/* saved_fields.h -- the fields in a checkpoint as functions of place: sel.state. */
#ifndef SEL_SAVED_FIELDS_H
#define SEL_SAVED_FIELDS_H

#include "engine/values/schema.h"

typedef struct sel_state_params {
    const char *file; /* as it is to be opened */
} sel_state_params;

extern const sel_table sel_state_table;

/* The cells of the fields in a checkpoint, for sel.state: its block "grid". */
typedef struct sel_state_grid {
    int64_t dims, n[3];
    double dx, origin[3];
} sel_state_grid;

/* A field of an initial state, component by component. */
typedef struct sel_saved_field {
    const char *name;
    int components;
    const sel_function *component[3]; /* of x, y and z */
} sel_saved_field;

enum { SEL_MOST_SAVED_FIELDS = 8 };

/* Reads all of them into the arena; *count is their number. At the centre of a cell a function has
 * the cell's value, between centres it is interpolated linearly without the solid cells, beyond the
 * last centres it is constant. Fails where the file is no complete checkpoint. */
sel_status sel_saved_fields(sel_arena *arena, const sel_state_params *params, sel_where where,
                            sel_saved_field fields[SEL_MOST_SAVED_FIELDS], int *count,
                            sel_error *error);

#endif
