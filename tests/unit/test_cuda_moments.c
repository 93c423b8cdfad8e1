/* test_cuda_moments.c -- a step of moments on the device is that of a plain loop over cells, for
 * both lattices and precisions, all operators, with and without forces, on any grid, and in a patch
 * of it. Arguments: see compare.h.
 */
#ifdef SEL_CUDA
#include <math.h>
#include "cuda/backend.h"
#include "engine/solvers/lbm/lbm_kernels_cuda.h"

/* A periodic box of cells. */
typedef struct box {
    int dims;
    int64_t n[3], cells;
} box;

static int64_t around(int64_t at, int64_t n) {
    return (at % n + n) % n;
}

static int64_t box_index(const box *b, int64_t x, int64_t y, int64_t z) {
    return (around(z, b->n[2]) * b->n[1] + around(y, b->n[1])) * b->n[0] + around(x, b->n[0]);
}

#define SEL_INLINE static inline
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_DIMS 2
#define LBM_NAME(name) name##_2
#include "tests/unit/lbm_marched.h"
#undef LBM_DIMS
#undef LBM_NAME
#define LBM_DIMS 3
#define LBM_NAME(name) name##_3
#include "tests/unit/lbm_marched.h"
#undef LBM_DIMS
#undef LBM_NAME
#undef LBM_SQRT
#undef REAL
#undef SEL_INLINE

#include "tests/unit/compare.h"

enum { MOST_COMPONENTS = components_3, STRAIN_PARTS = CUDA_PARTS };

/* What a cell is pushed by. */
enum { NOTHING, UNIFORM, FIELD, PUSHES, SIZES = 8 };

/* A case: the box, the numbers of its moments, and what the plain loop makes of them. */
typedef struct example {
    box b;
    int bytes, components, collision, push;
    bool les;
    double acceleration[3];
    double *from, *to, *strain, *field;
    lbm_gpu_step step;
} example;

static double random_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / (double)(1ull << 53);
}

/* Smooth waves with amplitudes of their own in each component, and a little noise; numbers that
 * the precision can hold. */
static double *smooth(const example *e, int components, double size, uint64_t *seed) {
    double *to = malloc((size_t)(components * e->b.cells) * sizeof *to);
    for (int c = 0; c < components; c++) {
        const double phase = 6 * random_number(seed), part = size * (0.5 + random_number(seed));
        for (int64_t k = 0; k < e->b.cells; k++) {
            const int64_t *n = e->b.n;
            const double turn = 2 * 3.14159265358979 *
                                ((double)(k % n[0]) / (double)n[0] +
                                 (double)(k / n[0] % n[1]) / (double)n[1] * (1 + c % 2) -
                                 (double)(k / n[0] / n[1]) / (double)n[2]);
            const double noise = 0.1 * size * (random_number(seed) - 0.5);
            const double value = part * sin(turn + phase) + noise;
            to[c * e->b.cells + k] = e->bytes == 4 ? (double)(float)value : value;
        }
    }
    return to;
}

static void example_begin(example *e, uint64_t seed) {
    const bool flat = e->b.dims == 2;
    const double tau = 0.6;
    e->b.cells = e->b.n[0] * e->b.n[1] * e->b.n[2];
    e->components = flat ? components_2 : components_3;
    e->from = smooth(e, e->components, 0.05, &seed);
    e->field = smooth(e, 3, 1e-3, &seed);
    e->to = calloc((size_t)(e->components * e->b.cells), sizeof *e->to);
    e->strain = calloc((size_t)(STRAIN_PARTS * e->b.cells), sizeof *e->strain);
    memcpy(e->acceleration, (double[]){2e-3, -1e-3, 5e-4}, sizeof e->acceleration);
    e->step = (lbm_gpu_step){.dims = e->b.dims,
                             .bytes = e->bytes,
                             .collision = e->collision,
                             .forced = e->push != NOTHING,
                             .les = e->les,
                             .omega_even = 1 / tau,
                             .tau = tau,
                             .eddy = e->les ? 18 * sqrt(2.0) * 0.03 : 0};
    const double *field = e->push == FIELD ? e->field : NULL;
    const double nothing[3] = {0}, *a = e->push == UNIFORM ? e->acceleration : nothing;
    (flat ? step_of_2 : step_of_3)(&e->b, &e->step, a, field, e->from, e->to, e->strain);
}

static void example_end(example *e) {
    free(e->from), free(e->to), free(e->strain), free(e->field);
}

static void *on_device(size_t bytes) {
    void *made = NULL;
    assert_int_equal(cudaMalloc(&made, bytes), cudaSuccess);
    return made;
}

static void *sent(const void *from, size_t bytes) {
    void *made = on_device(bytes);
    assert_int_equal(cudaMemcpy(made, from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    return made;
}

/* A patch of the box: all of it, or some rows of some planes, with halos. Of a plane grid lo[1] to
 * hi[1] are planes. */
typedef struct patch {
    int64_t lo[3], hi[3];
    bool cut, halo;
} patch;

static lbm_gpu_layout layout_of(const example *e, const patch *p) {
    const int slow = e->b.dims - 1;
    const int64_t *n = e->b.n;
    lbm_gpu_layout l = {.nx = (uint32_t)n[0], .ny = (uint32_t)n[1], .nz = (uint32_t)n[2]};
    uint32_t pitch = (l.nx + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP;
    while (pitch / 2 >= l.nx) {
        pitch /= 2;
    }
    const uint32_t count = (uint32_t)(p->hi[slow] - p->lo[slow]);
    l.pitch = pitch;
    l.base = p->cut ? (uint32_t)p->lo[slow] : 0;
    l.rows = slow == 2 ? (uint32_t)(p->hi[1] - p->lo[1]) : l.ny;
    l.low = slow == 2 ? (uint32_t)p->lo[1] : 0;
    l.halo = p->halo;
    l.slice = pitch * l.ny;
    if (l.halo) {
        l.slice = (pitch * (l.rows + 2) + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP;
    }
    const uint32_t stride = slow == 2 ? l.slice : pitch;
    l.plane = (int64_t)stride * (count + 2);
    l.last = count - 1;
    l.below = p->cut ? count : count - 1;
    l.above = p->cut ? count + 1 : 0;
    l.end_row = count * (slow == 2 ? l.rows : 1);
    return l;
}

/* The cell of the box at a place (x, y, z) of a patch's memory. */
static int64_t cell_at(const example *e, const patch *p, const lbm_gpu_layout *l, int64_t x,
                       int64_t y, int64_t z) {
    const int slow = e->b.dims - 1;
    const int64_t count = p->hi[slow] - p->lo[slow], at = slow == 2 ? z : y;
    const int64_t plane = p->lo[slow] + (at == count ? -1 : at == count + 1 ? count : at);
    return slow == 2 ? box_index(&e->b, x, p->lo[1] + y - l->halo, plane)
                     : box_index(&e->b, x, plane, 0);
}

/* Calls `each` number by number: components of the box and their places in a patch's memory, halos
 * too if `all`. */
static void copy_patch(const example *e, const patch *p, const lbm_gpu_layout *l, int components,
                       bool all, double *numbers, void *memory, bool out) {
    const int slow = e->b.dims - 1;
    const int64_t count = p->hi[slow] - p->lo[slow], rows = l->rows + 2 * l->halo;
    const int64_t planes = slow == 2 ? count + 2 * all : 1;
    const int64_t lines = slow == 2 ? rows : count + 2 * all;
    for (int c = 0; c < components; c++) {
        for (int64_t z = 0; z < planes; z++) {
            for (int64_t y = 0; y < lines; y++) {
                for (int64_t x = 0; x < l->nx; x++) {
                    double *number = numbers + c * e->b.cells + cell_at(e, p, l, x, y, z);
                    const int64_t at = c * l->plane + z * l->slice + y * l->pitch + x;
                    const bool halo = y < l->halo || (slow == 2 && y >= l->halo + l->rows);
                    if (halo && !all) {
                        continue;
                    }
                    if (e->bytes == 4 && out) {
                        *number = (double)((float *)memory)[at];
                    } else if (out) {
                        *number = ((double *)memory)[at];
                    } else if (e->bytes == 4) {
                        ((float *)memory)[at] = (float)*number;
                    } else {
                        ((double *)memory)[at] = *number;
                    }
                }
            }
        }
    }
}

/* The largest difference, as a part of the largest number. */
static double part_between(const double *a, const double *b, int64_t count) {
    double most = 0, size = 1e-30;
    for (int64_t k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
        most = isfinite(a[k]) ? most : HUGE_VAL;
        size = fmax(size, fabs(b[k]));
    }
    return most / size;
}

static cudaError_t launch(const lbm_gpu_step *s) {
    const bool flat = s->dims == 2, small = s->bytes == 4;
    return (flat    ? small ? lbm_gpu_moments_d2q9_f32 : lbm_gpu_moments_d2q9_f64
            : small ? lbm_gpu_moments_d3q19_f32
                    : lbm_gpu_moments_d3q19_f64)(s, NULL);
}

static void divide(const lbm_gpu_step *s, lbm_gpu_tiles *tiles) {
    const bool flat = s->dims == 2, small = s->bytes == 4;
    assert_int_equal((flat ? small ? lbm_gpu_moments_tiles_d2q9_f32 : lbm_gpu_moments_tiles_d2q9_f64
                      : small ? lbm_gpu_moments_tiles_d3q19_f32
                              : lbm_gpu_moments_tiles_d3q19_f64)(s, tiles),
                     cudaSuccess);
}

/* Lists every other thread block, the second first. */
static lbm_gpu_block *every_other(lbm_gpu_step *s) {
    lbm_gpu_tiles tiles;
    divide(s, &tiles);
    const uint32_t most = tiles.blocks * tiles.strips + 1;
    lbm_gpu_block *blocks = calloc(most, sizeof *blocks);
    s->block_count = tiles.blocks / 2 * tiles.strips;
    for (uint32_t k = 0; k < s->block_count; k++) {
        const uint32_t block = 2 * (k / tiles.strips) + 1;
        blocks[k] = (lbm_gpu_block){block * tiles.strips + k % tiles.strips, ~0u};
    }
    void *listed = sent(blocks, most * sizeof *blocks);
    free(blocks);
    return listed;
}

/* What is special about a step: nothing, a law that has failed, thread blocks that are left out; or
 * as many steps as a pass has, and a pass. */
enum { WHOLE, HALTED, LISTED, STEPS, PASS };

/* Launches the steps; the last result is in s->to. */
static cudaError_t launch_way(lbm_gpu_step *s, int way) {
    const int steps = way == STEPS ? lbm_pass_steps(s->collision, s->bytes) : 1;
    cudaError_t code = cudaSuccess;
    for (int k = 0; k < steps && !code; k++) {
        if (k > 0) {
            void *from = s->to;
            s->to = (void *)s->from;
            s->from = from;
        }
        code = way != PASS     ? launch(s)
               : s->bytes == 4 ? lbm_gpu_pass_d2q9_f32(s, NULL)
                               : lbm_gpu_pass_d2q9_f64(s, NULL);
    }
    return code;
}

/* Computes a patch on the device, into `to` and `strain` (NULL: not observed), numbers of the box.
 * way: what is special. */
static void compute(const example *e, const patch *p, int way, double *to, double *strain) {
    lbm_gpu_step s = e->step;
    s.layout = layout_of(e, p);
    const lbm_gpu_layout *l = &s.layout;
    const size_t bytes = (size_t)(e->components * l->plane) * (size_t)e->bytes;
    const size_t strain_bytes = (size_t)(1 + STRAIN_PARTS) * (size_t)e->b.cells * sizeof(double);
    void *memory = calloc(1, bytes), *numbers = calloc(1, strain_bytes);
    const int64_t step = 7;
    copy_patch(e, p, l, e->components, true, e->from, memory, false);
    s.from = sent(memory, bytes);
    memset(memory, 0x55, bytes);
    s.to = sent(memory, bytes);
    copy_patch(e, p, l, e->b.dims, true, e->field, memory, false);
    void *field = sent(memory, bytes), *clock = sent(&step, sizeof step);
    void *a = sent(e->acceleration, sizeof e->acceleration);
    void *solid = sent(numbers, (size_t)e->b.cells);
    double *fields = sent(numbers, strain_bytes);
    s.acceleration = s.acceleration_before = a;
    s.acceleration_field = e->push == FIELD ? field : NULL;
    s.clock.base = clock;
    s.halted = way == HALTED ? clock : NULL;
    s.boundary.free_blocks = way == LISTED ? every_other(&s) : NULL;
    s.observed = s.strains = strain != NULL;
    s.fields.grid =
        (cuda_grid){.n = {l->nx, l->ny, l->nz}, .solid = solid, .slice = (int64_t)l->nx * l->ny};
    s.fields.strain[0] = fields;
    s.fields.strain[1] = fields + e->b.cells;
    s.fields.strain_component = e->b.cells;
    s.fields.strain_slice = (int64_t)l->nx * l->ny;
    s.fields.units = (lbm_units){1, 1, 1, 1};
    assert_int_equal(launch_way(&s, way), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy(memory, s.to, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(numbers, fields, strain_bytes, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    copy_patch(e, p, l, e->components, false, to, memory, true);
    if (strain) {
        memcpy(strain, numbers, strain_bytes);
    }
    cudaFree((void *)s.from), cudaFree(s.to), cudaFree(field), cudaFree(clock), cudaFree(a);
    cudaFree(solid), cudaFree(fields), cudaFree((void *)s.boundary.free_blocks);
    free(memory), free(numbers);
}

static patch whole(const example *e) {
    return (patch){.hi = {e->b.n[0], e->b.n[1], e->b.n[2]}};
}

static double *room(const example *e) {
    return calloc((size_t)((1 + MOST_COMPONENTS) * e->b.cells), sizeof(double));
}

static const int64_t flat_sizes[SIZES][3] = {{129, 9, 1},  {1, 1, 1},  {5, 3, 1},   {128, 4, 1},
                                             {300, 37, 1}, {64, 1, 1}, {255, 6, 1}, {1, 40, 1}};
static const int64_t deep_sizes[SIZES][3] = {{65, 9, 5},   {1, 1, 1},  {5, 3, 2},   {64, 8, 4},
                                             {130, 17, 9}, {67, 1, 3}, {33, 10, 1}, {1, 11, 40}};

/* Calls `test` for lattices, precisions, operators and pushes, each with a size. */
static void for_each_example(bool sizes, void (*test)(const example *e)) {
    for (int k = 0; k < 2 * 2 * 3 * PUSHES; k++) {
        const int dims = 2 + k % 2, push = k / 12;
        for (size_t size = 0; size < SIZES; size++) {
            if (size != (sizes ? size : 4) ||
                (comparison.is_short && sizes && size != (size_t)k % 8)) {
                continue;
            }
            const int64_t *n = dims == 2 ? flat_sizes[size] : deep_sizes[size];
            example e = {.b = {.dims = dims, .n = {n[0], n[1], n[2]}},
                         .bytes = k / 2 % 2 ? 4 : 8,
                         .collision = LBM_REGULARIZED + k / 4 % 3,
                         .push = push,
                         .les = push == UNIFORM};
            comparing("%dD, %d bytes, %s, push %d, %d x %d x %d", dims, e.bytes,
                      e.collision == LBM_HYBRID      ? "hybrid"
                      : e.collision == LBM_RECURSIVE ? "recursive"
                                                     : "regularized",
                      push, (int)n[0], (int)n[1], (int)n[2]);
            example_begin(&e, (uint64_t)k * 8 + size);
            test(&e);
            example_end(&e);
        }
    }
    assert_agreement();
}

/* Notes if numbers differ by more than round-off. */
static void agree(const example *e, const char *what, const double *a, const double *b,
                  int64_t count, double f64, double f32) {
    const double apart = part_between(a, b, count);
    if (!(apart <= (e->bytes == 8 ? f64 : f32))) {
        disagree("%s: %g apart", what, apart);
    }
}

static void is_the_plain_step(const example *e) {
    const patch all = whole(e);
    double *to = room(e);
    compute(e, &all, WHOLE, to, NULL);
    agree(e, "moments", to, e->to, e->components * e->b.cells, 1e-13, 2e-6);
    free(to);
}

static void a_step_of_moments_is_that_of_a_plain_loop(void **state) {
    (void)state;
    for_each_example(true, is_the_plain_step);
}

/* A quarter of a box, as a rank has it. */
static void is_the_step_of_the_box(const example *e) {
    const int64_t *n = e->b.n;
    const bool flat = e->b.dims == 2;
    const patch all = whole(e);
    const patch part = {.lo = {0, flat ? 3 : 2, flat ? 0 : 1},
                        .hi = {n[0], n[1] - 4, flat ? 1 : n[2] - 2},
                        .cut = true,
                        .halo = !flat};
    double *to = room(e), *of_part = room(e);
    compute(e, &all, WHOLE, to, NULL);
    memcpy(of_part, to, (size_t)(e->components * e->b.cells) * sizeof *to);
    for (int64_t k = 0; k < e->components * e->b.cells; k++) {
        const int64_t y = k / n[0] % n[1], z = k % e->b.cells / n[0] / n[1];
        const bool inside = y >= part.lo[1] && y < part.hi[1] && z >= part.lo[2] && z < part.hi[2];
        of_part[k] = inside ? HUGE_VAL : to[k];
    }
    compute(e, &part, WHOLE, of_part, NULL);
    if (memcmp(of_part, to, (size_t)(e->components * e->b.cells) * sizeof *to) != 0) {
        disagree("other bits in a patch");
    }
    free(to), free(of_part);
}

static void a_patch_has_the_bits_of_the_box(void **state) {
    (void)state;
    for_each_example(false, is_the_step_of_the_box);
}

static void is_observed(const example *e) {
    const patch all = whole(e);
    const int parts = e->b.dims == 2 ? 3 : 6;
    double *to = room(e), *observed = room(e), *strain = room(e), *rate = room(e);
    compute(e, &all, WHOLE, to, NULL);
    compute(e, &all, WHOLE, observed, strain);
    if (memcmp(observed, to, (size_t)(e->components * e->b.cells) * sizeof *to) != 0) {
        disagree("an observed step has other bits");
    }
    for (int64_t k = 0; k < e->b.cells; k++) {
        for (int part = 0; part < parts; part++) {
            const double s = e->strain[part * e->b.cells + k];
            rate[k] += (part < e->b.dims ? 2 : 4) * s * s;
        }
        rate[k] = sqrt(rate[k]);
    }
    agree(e, "rate of strain", strain, rate, e->b.cells, 1e-12, 3e-5);
    free(to), free(observed), free(strain), free(rate);
}

static void is_its_steps(const example *e) {
    const patch all = whole(e);
    double *to = room(e), *expected = room(e);
    if (e->b.dims == 2 && e->push != FIELD) {
        compute(e, &all, STEPS, expected, NULL);
        compute(e, &all, PASS, to, NULL);
    }
    if (memcmp(to, expected, (size_t)(e->components * e->b.cells) * sizeof *to) != 0) {
        disagree("a pass has other bits than its steps");
    }
    free(to), free(expected);
}

static void a_pass_has_the_bits_of_its_steps(void **state) {
    (void)state;
    for_each_example(false, is_its_steps);
}

static void an_observed_step_stores_the_strain_and_the_same_moments(void **state) {
    (void)state;
    for_each_example(false, is_observed);
}

/* What a number is that a step has not stored. */
static double untouched(const example *e) {
    double large;
    float small;
    memset(&large, 0x55, sizeof large);
    memset(&small, 0x55, sizeof small);
    return e->bytes == 4 ? (double)small : large;
}

static void is_left_alone(const example *e) {
    const patch all = whole(e);
    const double expected = untouched(e);
    double *to = room(e);
    compute(e, &all, HALTED, to, NULL);
    for (int64_t k = 0; k < e->components * e->b.cells; k++) {
        if (memcmp(&to[k], &expected, sizeof expected) != 0) {
            disagree("a halted step stores number %d", (int)k);
            break;
        }
    }
    free(to);
}

static void a_halted_step_stores_nothing(void **state) {
    (void)state;
    for_each_example(false, is_left_alone);
}

static void is_half_done(const example *e) {
    const patch all = whole(e);
    const int64_t *n = e->b.n;
    double *to = room(e), *expected = room(e);
    lbm_gpu_step s = e->step;
    lbm_gpu_tiles tiles;
    s.layout = layout_of(e, &all);
    divide(&s, &tiles);
    compute(e, &all, WHOLE, expected, NULL);
    compute(e, &all, LISTED, to, NULL);
    for (int64_t k = 0; k < e->components * e->b.cells; k++) {
        const int64_t x = k % n[0], y = k / n[0] % n[1], z = k % e->b.cells / n[0] / n[1];
        const int64_t down = e->b.dims == 3 ? y / tiles.rows : 0;
        const int64_t deep = (e->b.dims == 3 ? z : y) / tiles.planes;
        const int64_t tile = (deep * tiles.down + down) * tiles.across + x / tiles.width;
        const double wanted = tile / tiles.strips % 2 ? expected[k] : untouched(e);
        if (memcmp(&to[k], &wanted, sizeof wanted) != 0) {
            disagree("number %d is %g instead of %g", (int)k, to[k], wanted);
            break;
        }
    }
    free(to), free(expected);
}

static void thread_blocks_that_are_not_listed_store_nothing(void **state) {
    (void)state;
    for_each_example(false, is_half_done);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_moments_is_that_of_a_plain_loop),
        cmocka_unit_test(a_patch_has_the_bits_of_the_box),
        cmocka_unit_test(a_pass_has_the_bits_of_its_steps),
        cmocka_unit_test(an_observed_step_stores_the_strain_and_the_same_moments),
        cmocka_unit_test(a_halted_step_stores_nothing),
        cmocka_unit_test(thread_blocks_that_are_not_listed_store_nothing),
    };
    if (!comparison_begins(argc, argv, "test_cuda_moments")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include <stdio.h>

int main(void) {
    printf("ok test_cuda_moments # SKIP this build has no CUDA backend\n");
    return 0;
}
#endif
