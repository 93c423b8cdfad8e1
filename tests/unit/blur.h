/* blur.h -- a solver of a few lines, on the processor and on a device (blur.cu): a cell
 * becomes the mean of itself and of its two neighbours along y; solids and the ends are mirrors.
 */
#ifndef BLUR_H
#define BLUR_H

#include "engine/base/sums.h"

/* A cell of row y of ny rows of nx. */
SEL_SUMS_INLINE double blur_rule(const double *c, const uint8_t *solid, int64_t nx, int64_t ny,
                                 int64_t y) {
    const double south = y == 0 || solid[-nx] ? c[0] : c[-nx];
    const double north = y == ny - 1 || solid[nx] ? c[0] : c[nx];
    return solid[0] ? 0 : (south + c[0] + north) / 3;
}

#ifdef SEL_CUDA
#include "cuda/query.h"

typedef struct blur_view {
    cuda_grid grid;
    cuda_parts from, to;
} blur_view;
#endif
#ifndef __CUDACC__
#include "engine/core/cpu.h"

typedef struct blur {
    sel_state base;
    void *c[2]; /* of doubles, from row -1 on */
} blur;

static void blur_list(sel_state *base) {
    blur *state = (blur *)base;
    const int64_t nx = base->plan->domain->grid.n[0], ny = base->plan->domain->grid.n[1];
    const sel_layout all = {.n = {nx, ny, 1},
                            .slow = 1,
                            .components = 1,
                            .origin = nx,
                            .pitch = nx,
                            .count = nx * (ny + 2)};
    base->last = (sel_last){.type = {'f', 8}, .components = 1, .scale = 1};
    const sel_field c = {.name = "c",
                         .flags = SEL_SAVED | SEL_ANY_NUMBER,
                         .copies = 2,
                         .alternates = true,
                         .at = state->c,
                         .type = base->last.type,
                         .layout = sel_patch_layout(&all, &base->own),
                         .halo = 1};
    sel_state_add_field(base, &c);
    sel_state_list_room(base);
}

static double *blur_row(const sel_state *base, int64_t step, int64_t y) {
    return (double *)sel_field_at(base, 0, step) + (y + 1) * base->plan->domain->grid.n[0];
}

/* A spot. */
static sel_status blur_start(sel_state *base, sel_error *error) {
    const double one = 1;
    return sel_arrays_send(&base->arrays, blur_row(base, 0, 2) + 2, &one, sizeof one, error);
}

static sel_status blur_steps(sel_state *base, int64_t n, sel_error *error) {
    const int64_t nx = base->plan->domain->grid.n[0], ny = base->plan->domain->grid.n[1];
    (void)error;
    for (; n > 0; n--, sel_state_pass(base, 1)) {
        sel_state_exchange(base, base->step, SEL_FETCH);
        for (int64_t i = 0; i < nx * ny; i++) {
            const int64_t x = i % nx, y = i / nx;
            blur_row(base, base->step + 1, y)[x] = blur_rule(
                blur_row(base, base->step, y) + x, sel_state_solids(base, y) + x, nx, ny, y);
        }
    }
    return SEL_OK;
}

static int blur_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                      const double **values) {
    (void)field, (void)x1;
    *values = blur_row(base, base->step, row) + x0;
    return 1;
}

static const sel_cpu blur_on_cpu = {.what = "the blur",
                                    .state_size = sizeof(blur),
                                    .list = blur_list,
                                    .start = blur_start,
                                    .steps = blur_steps,
                                    .look = {.field = blur_field}};

#ifdef SEL_CUDA
#include "cuda/backend.h"

cudaError_t blur_gpu_step(const blur_view *view, cudaStream_t stream);
const cuda_look *blur_gpu_look(void);

static const blur_view *blur_at(const sel_state *base, int64_t step) {
    static blur_view view;
    const int from = sel_copy_at(base, &base->field[0], step);
    view = (blur_view){cuda_grid_of(base), cuda_parts_of(base, from), cuda_parts_of(base, !from)};
    return &view;
}

static sel_status blur_step(sel_state *base, int64_t step, sel_error *error) {
    sel_status status = cuda_exchange(base, step, base->queue->stream, error);
    CUDA_TRY(blur_gpu_step(blur_at(base, step), base->queue->stream));
    return status;
}

static sel_status blur_look(sel_state *base, int field, const cuda_look **look, const void **view,
                            sel_error *error) {
    (void)field, (void)error;
    *view = blur_at(base, base->step);
    *look = blur_gpu_look();
    return SEL_OK;
}

static const cuda_solver blur_on_cuda = {.what = "the blur",
                                         .state_size = sizeof(blur),
                                         .list = blur_list,
                                         .start = blur_start,
                                         .step = blur_step,
                                         .look = blur_look};
#endif

static const sel_solver blur_solver = {
    .name = "blur",
    .fields = (const sel_field_info[]){{.name = "c", .rank = SEL_SCALAR}},
    .field_count = 1,
    .cpu = &sel_cpu_backend,
    .on_cpu = &blur_on_cpu,
#ifdef SEL_CUDA
    .cuda = &cuda_backend,
    .on_cuda = &blur_on_cuda,
#endif
};
#endif
#endif
