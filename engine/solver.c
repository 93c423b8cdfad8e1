/* solver.c -- the list of solvers, and the names of their fields. */
#include "engine/solver.h"

#include <string.h>
#include "engine/lbm/lbm.h"

const sel_solver *const sel_solvers[] = {&lbm_solver, NULL};

int sel_solver_field(const sel_solver *solver, int dims, const char *name, int *component) {
    for (int f = 0; f < solver->field_count; f++) {
        const char *field = solver->fields[f].name;
        size_t length = strlen(field);
        if (strcmp(name, field) == 0) {
            *component = -1;
            return f;
        }
        bool vector = sel_field_components(&solver->fields[f], dims) > 1;
        if (vector && strncmp(name, field, length) == 0 && name[length] == '_') {
            for (int a = 0; a < dims; a++) {
                if (strcmp(name + length + 1, sel_axis_names[a]) == 0) {
                    *component = a;
                    return f;
                }
            }
        }
    }
    return -1;
}
