/* fake_solver.h -- a solver without physics, for tests of what surrounds the solvers. */
#ifndef FAKE_SOLVER_H
#define FAKE_SOLVER_H

#include "engine/scene/solver.h"
#include "engine/scene/shape.h"

static const sel_table fake_anywhere = {.name = "law.anywhere"};
static const sel_table fake_faces_only = {.name = "law.faces_only", .faces_only = true};

static const sel_table *const fake_law_tables[] = {&fake_anywhere, &fake_faces_only};
static const sel_family fake_laws = {"law", "", fake_law_tables, 2};
static const sel_field_info fake_fields[] = {{.name = "velocity", .rank = SEL_VECTOR},
                                             {.name = "pressure", .rank = SEL_SCALAR}};

static const sel_solver fake_solver = {
    .name = "fake",
    .laws = &fake_laws,
    .fields = fake_fields,
    .field_count = 2,
};

/* A region of `shape` under `law`, as line 10 * number of "test.lua". */
static inline sel_region fake_region(int number, const char *name, const sel_shape *shape,
                                     const sel_table *law) {
    sel_where at = {"test.lua", 10 * number};
    return (sel_region){.at = at, .name = name, .where = shape, .law = {law, NULL, at}};
}

#endif
