/* fake_scene.h -- a scene of a solver without physics, and its tear-down; behind cmocka.h. */
#ifndef FAKE_SCENE_H
#define FAKE_SCENE_H

#include "engine/scene/domain.h"
#include "tests/unit/fake_solver.h"

/* A scene that a test fills: a simulation, its painted domain, and what they need. */
typedef struct fake_scene {
    sel_arena *arena;
    sel_region regions[300];
    sel_common common;
    sel_solver solver; /* of a test that changes it */
    sel_simulation simulation;
    sel_domain *domain;
    sel_error error;
} fake_scene;

/* Tear-down of a test whose state is a fake_scene. */
static inline int fake_scene_close(void **state) {
    fake_scene *f = *state;
    sel_domain_destroy(f->domain);
    sel_arena_destroy(f->arena);
    test_free(f);
    return 0;
}

#endif
