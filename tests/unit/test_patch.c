/* test_patch.c -- the decomposition of a grid into patches, and their halos. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/collectives.h"

enum { NX = 5, NY = 9, NZ = 8, CELLS = NX * NY * NZ };

/* A grid, of which the first cells are solid. */
typedef struct scene {
    uint8_t cell[CELLS];
    sel_domain domain;
    sel_plan plan;
    sel_state state;
} scene;

static scene *make(scene *s, int dims, unsigned periodic, int64_t solids) {
    *s = (scene){
        .domain.grid = {.dims = dims, .n = {NX, NY, dims == 3 ? NZ : 1}, .periodic = periodic}};
    memset(s->cell, 1, (size_t)solids);
    s->domain.cell = s->cell;
    s->domain.free_cells = sel_grid_cells(&s->domain.grid) - solids;
    s->plan.domain = &s->domain;
    s->state.plan = &s->plan;
    s->state.rows_per_plane = dims == 3 ? NY : 1;
    return s;
}

static int ranks_along_y(int dims, unsigned periodic, int ranks) {
    scene s;
    sel_decomposition d;
    make(&s, dims, periodic, 0);
    assert_int_equal(sel_decompose(&s.domain, ranks, 0, &d), ranks);
    return sel_divides_planes(&d) ? d.ranks[1] : 1;
}

static void the_least_halo_decides(void **state) {
    (void)state;
    assert_int_equal(ranks_along_y(3, 0, 1), 1);
    assert_int_equal(ranks_along_y(3, 0, 2), 2); /* planes have 9 rows, of which 8 would be cut */
    assert_int_equal(ranks_along_y(3, 0, 4), 2);
    assert_int_equal(ranks_along_y(3, 0, 3), 3);
    assert_int_equal(ranks_along_y(3, 4, 2), 2); /* around z a rank exchanges with itself */
    assert_int_equal(ranks_along_y(2, 0, 4), 1);
}

/* Devices take whole planes unless boxes have less than half of their halos. */
static void devices_have_boxes_where_these_halve_halos(void **state) {
    (void)state;
    static const int64_t sides[] = {64, 64, 64, 8};
    static const int ranks[] = {4, 16, 36, 8}, wanted[] = {1, 1, 6, 2};
    for (int k = 0; k < 4; k++) {
        scene s;
        sel_decomposition d;
        const int64_t n = sides[k];
        uint8_t *cell = calloc((size_t)(n * n * n), 1);
        make(&s, 3, 0, 0);
        s.domain.cell = cell;
        s.domain.grid.n[0] = s.domain.grid.n[1] = s.domain.grid.n[2] = n;
        s.domain.free_cells = n * n * n;
        assert_int_equal(sel_decompose(&s.domain, ranks[k], SEL_FEW_RANKS_Y, &d), ranks[k]);
        assert_int_equal(d.ranks[1], wanted[k]); /* of 8 planes eight ranks cannot have two */
        free(cell);
    }
}

static void what_does_not_fit_is_told(void **state) {
    (void)state;
    scene s;
    sel_decomposition d;
    make(&s, 3, 0, 0);
    assert_int_equal(sel_decompose(&s.domain, 5, 1, &d), 4);  /* planes, two each */
    assert_int_equal(sel_decompose(&s.domain, 10, 5, &d), 8); /* four of nine rows */
    assert_int_equal(sel_decompose(&s.domain, 5, 2, &d), 4);
}

static void parts_have_as_many_free_cells(void **state) {
    (void)state;
    scene s;
    sel_decomposition d;
    make(&s, 3, 0, CELLS / 2); /* the lower planes */
    assert_int_equal(sel_decompose(&s.domain, 4, 2, &d), 4);
    assert_int_equal(d.first[2][1], 6);
    assert_int_equal(d.first[1][1], 5);
}

/* Every row has one owner, which finds it among its own. */
static void each_row_is_in_one_part(void **state) {
    (void)state;
    static const int ways[][3] = {{3, 4, 2}, {3, 3, 3}, {3, 6, 3}, {3, 4, 1}, {2, 4, 1}, {3, 1, 1}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        scene s;
        int found[NY * NZ] = {0};
        make(&s, ways[w][0], 0, 0);
        assert_int_equal(sel_decompose(&s.domain, ways[w][1], ways[w][2], &s.state.decomposition),
                         ways[w][1]);
        for (int r = 0; r < ways[w][1]; r++) {
            const sel_ranks ranks = {.rank = r, .count = ways[w][1]};
            s.state.ranks = &ranks;
            sel_state_divide(&s.state);
            const sel_rows own = sel_own_rows(&s.state);
            for (int64_t k = 0; k < own.count; k++) {
                found[sel_row_of(&own, k)]++;
                assert_int_equal(sel_state_rank_of(&s.state, sel_row_of(&own, k)), r);
            }
            for (int64_t k = 0, n; k < own.count; k += n) {
                const sel_rows_range together = sel_rows_together(&own, k, 4);
                n = together.end - together.first;
                assert_in_range(n, 1, 4);
                for (int64_t i = 0; i < n; i++) {
                    assert_int_equal(sel_row_of(&own, k + i), together.first + i);
                }
            }
        }
        for (int64_t row = 0; row < sel_state_rows(&s.state); row++) {
            assert_int_equal(found[row], 1);
        }
    }
}

/* Of a box with strides, too: by their numbers in it, as cells of the grid. */
static void parts_of_a_box_are_those_of_its_rows(void **state) {
    (void)state;
    const sel_box box = {.lo = {0, 1, 2}, .hi = {5, 9, 8}, .stride = {1, 3, 2}};
    scene s;
    const sel_ranks ranks = {.count = 6};
    make(&s, 3, 0, 0);
    s.state.ranks = &ranks;
    assert_int_equal(sel_decompose(&s.domain, 6, 3, &s.state.decomposition), 6);
    int64_t all = 0;
    for (int r = 0; r < 6; r++) {
        const sel_rows rows = sel_state_part_rows(&s.state, &box, r);
        const sel_box part = sel_state_part(&s.state, &box, r);
        assert_int_equal(sel_box_count(&part, 1) * sel_box_count(&part, 2), rows.count);
        for (int64_t k = 0; k < rows.count; k++) {
            const int64_t row = sel_row_of_box(&s.state, &box, sel_row_of(&rows, k));
            assert_int_equal(sel_state_rank_of(&s.state, row), r);
            assert_int_equal(row, sel_row_of_box(&s.state, &part, k));
        }
        all += rows.count;
    }
    assert_int_equal(all, 9);
}

/* sel_ranks.transfer of a rank that is beside itself: what it sends it receives, in order. */
static void transfer(const sel_message *messages, int count) {
    int next[2] = {0, 0}; /* by tag: the message from which on one is looked for that receives */
    for (int i = 0; i < count; i++) {
        if (messages[i].sends) {
            const int tag = messages[i].tag;
            int j = next[tag];
            while (messages[j].sends || messages[j].tag != tag) {
                j++;
            }
            assert_int_equal(messages[i].bytes, messages[j].bytes);
            memcpy(messages[j].at, messages[i].at, messages[i].bytes);
            next[tag] = j + 1;
        }
    }
}

/* ---- halos of one rank around both axes ---- */

enum {
    PITCH = 8,
    ROWS = 3,
    PLANES = 2,
    SLICE = PITCH * (ROWS + 2),
    ALL = SLICE * (PLANES + 2),
    MOVING = 9 /* components, which move by -1, 0 or 1 row and plane */
};

/* Of two along y the other one has no rows: its transfer brings this one's own. */
static const sel_decomposition around = {.slow = 2,
                                         .ranks = {1, 2, 1},
                                         .periodic = {false, true, true},
                                         .first = {{0, NX}, {0, ROWS, ROWS}, {0, PLANES}}};

static void exchange(float *first, int components, sel_way way) {
    static char room[4 * MOVING * ALL * sizeof *first];
    const sel_ranks alone = {.count = 1, .transfer = transfer};
    sel_field field = {.type = {'f', sizeof *first},
                       .layout = {.n = {NX, ROWS, PLANES},
                                  .slow = 2,
                                  .components = components,
                                  .pitch = PITCH,
                                  .slice = SLICE,
                                  .component = ALL},
                       .halo = 1,
                       .lead = {0, 0, PITCH}};
    for (uint32_t i = 0; i < MOVING && components == MOVING; i++) {
        field.moves[1][0] |= (uint32_t)(i % 3 == 0) << i;
        field.moves[1][1] |= (uint32_t)(i % 3 == 2) << i;
        field.moves[2][0] |= (uint32_t)(i / 3 == 0) << i;
        field.moves[2][1] |= (uint32_t)(i / 3 == 2) << i;
    }
    sel_exchange_field(&alone, &around, &field, first, way, room);
}

/* The number of a cell, of one beyond an end that of the other end. */
static float number_of(int y, int z) {
    return (float)(1 + (z + PLANES) % PLANES * ROWS + (y + ROWS) % ROWS);
}

/* Halos have the cells of the other end, edges those of the corner. */
static void halos_of_rows_come_before_those_of_planes(void **state) {
    (void)state;
    static float v[ALL];
    float *first = v + SLICE + PITCH;
    for (int k = 0; k < ROWS * PLANES; k++) {
        first[k / ROWS * SLICE + k % ROWS * PITCH] = (float)(1 + k);
    }
    exchange(first, 1, SEL_FETCH_ALL);
    for (int z = -1; z <= PLANES; z++) {
        for (int y = -1; y <= ROWS; y++) {
            assert_true(first[z * SLICE + y * PITCH] == number_of(y, z));
        }
    }
}

/* Each component moves by a row, a plane, or both: a step that pulls finds it in the halo of the
 * cell from which it comes; a step that pushes leaves it in the halo, from which it returns. */
static void what_moves_across_an_end_is_fetched_or_returned(void **state) {
    (void)state;
    for (int pushes = 0; pushes < 2; pushes++) {
        static float v[MOVING * ALL];
        float *first = v + SLICE + PITCH;
        for (int k = 0; k < MOVING * ALL; k++) {
            v[k] = -1;
        }
        for (int k = 0; k < MOVING * ROWS * PLANES; k++) {
            const int i = k / (ROWS * PLANES), y = k % ROWS, z = k / ROWS % PLANES;
            const int dy = pushes ? i % 3 - 1 : 0, dz = pushes ? i / 3 - 1 : 0;
            first[i * ALL + (z + dz) * SLICE + (y + dy) * PITCH] = number_of(y, z);
        }
        exchange(first, MOVING, pushes ? SEL_RETURN : SEL_FETCH);
        for (int k = 0; k < MOVING * ROWS * PLANES; k++) {
            const int i = k / (ROWS * PLANES), y = k % ROWS, z = k / ROWS % PLANES;
            const int dy = i % 3 - 1, dz = i / 3 - 1;
            const int at = pushes ? z * SLICE + y * PITCH : (z - dz) * SLICE + (y - dy) * PITCH;
            assert_true(first[i * ALL + at] == number_of(y - dy, z - dz));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_halo_decides),
        cmocka_unit_test(devices_have_boxes_where_these_halve_halos),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(parts_have_as_many_free_cells),
        cmocka_unit_test(each_row_is_in_one_part),
        cmocka_unit_test(parts_of_a_box_are_those_of_its_rows),
        cmocka_unit_test(halos_of_rows_come_before_those_of_planes),
        cmocka_unit_test(what_moves_across_an_end_is_fetched_or_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
