/* backend.c -- which of a solver's backends computes, and what all callers of one share. */
#include "engine/backend.h"

#include <stdio.h>
#include "engine/machine.h"

sel_status sel_backend_probe(const sel_backend *backend, uint64_t *free_bytes, sel_error *error) {
    if (backend->probe) {
        return backend->probe(free_bytes, error);
    }
    *free_bytes = sel_machine_free_memory();
    return SEL_OK;
}

sel_status sel_backend_wait(const sel_backend *backend, sel_state *state, sel_error *error) {
    return backend->wait ? backend->wait(state, error) : SEL_OK;
}

static sel_status take(const sel_backend *backend, sel_choice *choice, sel_error *error) {
    choice->backend = backend;
    return sel_backend_probe(backend, &choice->free_bytes, error);
}

sel_status sel_backend_choose(const sel_solver *solver, int wanted, sel_choice *choice,
                              sel_error *error) {
    sel_error why = {.status = SEL_OK};
    *choice = (sel_choice){.backend = solver->cpu};
    if (wanted == SEL_BACKEND_CUDA) {
        return solver->cuda ? take(solver->cuda, choice, error)
                            : sel_fail(error, SEL_NO_DEVICE,
                                       "this build of Selenite has no CUDA backend for sel.%s; "
                                       "build it where nvcc is installed, or use --backend cpu",
                                       solver->name);
    }
    if (wanted == SEL_BACKEND_AUTO && solver->cuda) {
        if (take(solver->cuda, choice, &why) == SEL_OK) {
            return SEL_OK;
        }
        snprintf(choice->fallback, sizeof choice->fallback, "%.500s", why.text);
    }
    return take(solver->cpu, choice, error);
}
