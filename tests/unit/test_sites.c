/* test_sites.c -- lists of sites: numbered, gathered and scattered by ranks with any patches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/core/arrays.h"
#include "engine/scene/domain.h"
#include "tests/unit/tape.h"

enum { NX = 2, NY = 5, NZ = 4, ROWS = NY * NZ, MOST = 6, TESTED = 6 };

static const sel_grid box = {.dims = 3, .n = {NX, NY, NZ}};

/* Sites in a row: 0 to 3. */
static int64_t sites_of(int64_t row) {
    return (7 * row + row / 3) % 4;
}

/* ---- ranks that are called one after the other ---- */

/* What ranks have sent to rank 0, and what it has sent to them, in order. */
static struct post {
    int rank, count; /* the rank that is called */
    struct {
        char bytes[4096];
        size_t written, read;
    } from[MOST], to[MOST];
    int64_t total;
} post;

static void transfer(const sel_message *messages, int count) {
    for (int k = 0; k < count; k++) {
        const sel_message *m = &messages[k];
        const int other = post.rank ? post.rank : m->rank;
        const bool up = m->sends == (post.rank > 0);
        char *bytes = up ? post.from[other].bytes : post.to[other].bytes;
        size_t *at = up         ? m->sends ? &post.from[other].written : &post.from[other].read
                     : m->sends ? &post.to[other].written
                                : &post.to[other].read;
        assert_true(*at + m->bytes <= sizeof post.from->bytes);
        if (m->bytes) {
            memcpy(m->sends ? bytes + *at : m->at, m->sends ? m->at : bytes + *at, m->bytes);
        }
        *at += m->bytes;
    }
}

/* Allgather, of which sel_ranks_total makes a sum: that of the grid is known here. */
static void gather(const void *own, size_t bytes, void *all) {
    (void)own;
    assert_int_equal(bytes, sizeof post.total);
    memset(all, 0, (size_t)post.count * bytes);
    memcpy(all, &post.total, bytes);
}

/* The lists of ranks, the last of which is rank 0: it needs what the others have sent. */
typedef struct ranks {
    sel_decomposition d;
    sel_ranks v[MOST];
    sel_sites sites[MOST];
} ranks;

static const struct cut {
    int count, ranks_y;
} cuts[TESTED] = {{1, 1}, {2, 1}, {3, 1}, {2, 2}, {4, 2}, {6, 3}};

static void call(int rank) {
    post.rank = rank;
}

static void open_ranks(ranks *r, const struct cut *cut) {
    r->d = (sel_decomposition){.slow = 2, .ranks = {1, cut->ranks_y, cut->count / cut->ranks_y}};
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k <= r->d.ranks[a]; k++) {
            r->d.first[a][k] = box.n[a] * k / r->d.ranks[a];
        }
    }
    post = (struct post){.count = cut->count};
    for (int64_t row = 0; row < ROWS; row++) {
        post.total += sites_of(row);
    }
    for (int k = cut->count - 1; k >= 0; k--) {
        int64_t counts[ROWS];
        call(k);
        r->v[k] =
            (sel_ranks){.rank = k, .count = cut->count, .transfer = transfer, .gather = gather};
        assert_true(sel_sites_create(&r->sites[k], &box, &r->v[k], &r->d));
        const sel_rows own = sel_sites_rows(&r->sites[k], k);
        for (int64_t i = 0; i < own.count; i++) {
            counts[i] = sites_of(sel_row_of(&own, i));
        }
        sel_sites_number(&r->sites[k], counts);
    }
}

static void close_ranks(ranks *r, const struct cut *cut) {
    for (int k = 0; k < cut->count; k++) {
        sel_sites_free(&r->sites[k]);
    }
}

/* A number for each site of a rank: 100 row + its number in the row. */
static int64_t label(const sel_sites *sites, int rank, float *to) {
    const sel_rows own = sel_sites_rows(sites, rank);
    int64_t count = 0;
    for (int64_t i = 0; i < own.count; i++) {
        const int64_t row = sel_row_of(&own, i);
        for (int64_t k = 0; k < sites_of(row); k++) {
            to[count++] = (float)(100 * row + k);
        }
    }
    return count;
}

static void sites_of_rows_are_counted_for_the_grid_and_for_patches(void **state) {
    (void)state;
    for (int t = 0; t < TESTED; t++) {
        ranks r;
        open_ranks(&r, &cuts[t]);
        int64_t all = 0, before = 0;
        for (int k = 0; k < cuts[t].count; k++) {
            float labels[3 * ROWS];
            const sel_patch patch = sel_patch_of(&r.d, k);
            assert_int_equal(r.sites[k].count, label(&r.sites[k], k, labels));
            assert_int_equal(r.sites[k].count, sel_sites_in(&r.sites[0], &patch));
            assert_int_equal(r.sites[k].all, post.total);
            assert_true((r.sites[k].before != NULL) == (k == 0));
            all += r.sites[k].count;
        }
        assert_int_equal(all, post.total);
        for (int64_t row = 0; row < ROWS; row++) {
            assert_int_equal(r.sites[0].before[row], before);
            before += sites_of(row);
        }
        assert_int_equal(r.sites[0].before[ROWS], before);
        close_ranks(&r, &cuts[t]);
    }
}

static void rank_0_gathers_and_scatters_in_the_order_of_the_grid(void **state) {
    (void)state;
    for (int t = 0; t < TESTED; t++) {
        ranks r;
        float all[3 * ROWS] = {0}, own[MOST][3 * ROWS], back[3 * ROWS];
        open_ranks(&r, &cuts[t]);
        for (int k = cuts[t].count - 1; k >= 0; k--) {
            call(k);
            label(&r.sites[k], k, own[k]);
            sel_sites_gather(&r.sites[k], own[k], sizeof **own, k ? NULL : all);
        }
        for (int64_t row = 0, k = 0; row < ROWS; row++) {
            for (int64_t i = 0; i < sites_of(row); i++, k++) {
                assert_true(all[k] == (float)(100 * row + i));
            }
        }
        for (int k = 0; k < cuts[t].count; k++) {
            call(k);
            sel_sites_scatter(&r.sites[k], k ? NULL : all, sizeof *all, back);
            assert_memory_equal(back, own[k], (size_t)r.sites[k].count * sizeof *back);
        }
        close_ranks(&r, &cuts[t]);
    }
}

static void list_of_the_grid_is_divided_into_those_of_patches(void **state) {
    (void)state;
    for (int t = 0; t < TESTED; t++) {
        ranks r;
        sel_sites whole;
        int64_t counts[ROWS];
        open_ranks(&r, &cuts[t]);
        assert_true(sel_sites_create(&whole, &box, NULL, NULL));
        for (int64_t row = 0; row < ROWS; row++) {
            counts[row] = sites_of(row);
        }
        sel_sites_number(&whole, counts);
        assert_int_equal(whole.count, post.total);
        for (int k = 0; k < cuts[t].count; k++) {
            const sel_sites part = sel_sites_divide(&whole, &r.v[k], &r.d);
            assert_int_equal(part.count, r.sites[k].count);
            assert_int_equal(part.all, whole.all);
            assert_ptr_equal(part.before, whole.before);
        }
        sel_sites_free(&whole);
        close_ranks(&r, &cuts[t]);
    }
}

/* ---- arrays ---- */

/* Two lists, one behind the other, of the labels of sites; the second list is negative. */
static void fill(const sel_sites *sites, int rank, float *to) {
    label(sites, rank, to);
    for (int64_t k = 0; k < sites->count; k++) {
        to[sites->count + k] = -to[k];
    }
}

/* What one rank saves any ranks load, and the reverse. */
static void arrays_at_sites_are_saved_in_the_order_of_the_grid(void **state) {
    (void)state;
    static tape first, now;
    for (int t = 0; t < TESTED; t++) {
        ranks r;
        sel_error error = {.status = SEL_OK};
        sel_arrays arrays[MOST] = {{.memory = NULL}};
        float *v[MOST], labels[6 * ROWS];
        open_ranks(&r, &cuts[t]);
        now.written = 0;
        for (int k = cuts[t].count - 1; k >= 0; k--) {
            call(k);
            arrays[k].ranks = &r.v[k];
            arrays[k].decomposition = &r.d;
            sel_arrays_add_sites(&arrays[k], "v", &v[k], SEL_TYPE_OF(*v[k]), &r.sites[k], 2,
                                 SEL_SAVED);
            assert_int_equal(sel_arrays_allocate(&arrays[k], 1, "a test", &error), SEL_OK);
            assert_int_equal(sel_array_bytes(&arrays[k].v[0]), 2 * (size_t)post.total * sizeof **v);
            fill(&r.sites[k], k, v[k]);
            assert_int_equal(sel_arrays_keep(&arrays[k], 0, false, put, &now, &error), SEL_OK);
        }
        first = t == 0 ? now : first;
        assert_int_equal(now.written, first.written);
        assert_memory_equal(now.bytes, first.bytes, first.written);
        now.read = 0;
        for (int k = 0; k < cuts[t].count; k++) {
            call(k);
            memset(v[k], 0, (size_t)(2 * r.sites[k].count) * sizeof **v);
            assert_int_equal(sel_arrays_keep(&arrays[k], 0, true, get, &now, &error), SEL_OK);
            fill(&r.sites[k], k, labels);
            assert_memory_equal(v[k], labels, (size_t)(2 * r.sites[k].count) * sizeof *labels);
            sel_arrays_free(&arrays[k]);
        }
        close_ranks(&r, &cuts[t]);
    }
}

/* Ranks list the same arrays, also where a patch has no sites. */
static void rank_without_sites_lists_the_array(void **state) {
    (void)state;
    const sel_sites none = {.count = 0, .all = 3}, nowhere = {.count = 0, .all = 0};
    sel_arrays arrays = {.memory = NULL};
    sel_error error = {.status = SEL_OK};
    double *v, *w;
    sel_arrays_add_sites(&arrays, "v", &v, SEL_TYPE_OF(*v), &none, 1, 0);
    sel_arrays_add_sites(&arrays, "w", &w, SEL_TYPE_OF(*w), &nowhere, 1, 0);
    assert_int_equal(arrays.count, 1);
    assert_int_equal(sel_arrays_allocate(&arrays, 1, "a test", &error), SEL_OK);
    assert_non_null(v);
    assert_null(w);
    sel_arrays_free(&arrays);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_of_rows_are_counted_for_the_grid_and_for_patches),
        cmocka_unit_test(rank_0_gathers_and_scatters_in_the_order_of_the_grid),
        cmocka_unit_test(list_of_the_grid_is_divided_into_those_of_patches),
        cmocka_unit_test(arrays_at_sites_are_saved_in_the_order_of_the_grid),
        cmocka_unit_test(rank_without_sites_lists_the_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
