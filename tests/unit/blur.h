/* blur.h -- a solver of a few lines, on the processor and on a device (blur.cu): a cell becomes the
 * mean of itself and of its two neighbours along x; solids and the ends of rows are mirrors.
 */
#ifndef BLUR_H
#define BLUR_H

#include "engine/base/sums.h"

/* The cell at x of a row of nx. */
SEL_SUMS_INLINE double blur_rule(const double *row, const uint8_t *solid, int64_t nx, int64_t x) {
    const double west = x == 0 || solid[x - 1] ? row[x] : row[x - 1];
    const double east = x == nx - 1 || solid[x + 1] ? row[x] : row[x + 1];
    return solid[x] ? 0 : (west + row[x] + east) / 3;
}

#ifdef SEL_CUDA
#include "cuda/machine/look.h"

typedef struct blur_view {
    cuda_grid grid;
    double *from, *to;
} blur_view;
#endif
#ifndef __CUDACC__
#include "engine/machine/cpu.h"

typedef struct blur {
    sel_state base;
    double *c[2]; /* of even and odd steps */
} blur;

static void blur_list(sel_state *base) {
    const int64_t *n = base->plan->domain->grid.n, all = n[0] * n[1];
    const sel_cells cells = {{n[0], n[1], 1}, 1, 0, n[0], all, all, 0, 0, all};
    base->last = (sel_last){.type = {'f', 8}, .components = 1, .scale = 1};
    sel_arrays_add_turns(&base->arrays, "c", ((blur *)base)->c, base->last.type, &cells, 1);
}

/* A spot. */
static sel_status blur_start(sel_state *base, sel_error *error) {
    const double one = 1;
    return sel_arrays_send(&base->arrays, ((blur *)base)->c[0] + 7, &one, sizeof one, error);
}

static double *blur_row(const sel_state *base, int64_t step, int64_t row) {
    return ((const blur *)base)->c[step & 1] + row * base->plan->domain->grid.n[0];
}

static sel_status blur_steps(sel_state *base, int64_t n, sel_error *error) {
    const int64_t nx = base->plan->domain->grid.n[0];
    (void)error;
    for (; n > 0; n--, base->step++) {
        for (int64_t row = 0; row < sel_state_rows(base); row++) {
            const double *from = blur_row(base, base->step, row);
            for (int64_t x = 0; x < nx; x++) {
                blur_row(base, base->step + 1, row)[x] =
                    blur_rule(from, sel_state_solids(base, row), nx, x);
            }
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
#include "cuda/machine/backend.h"

cudaError_t blur_gpu_step(const blur_view *view, cudaStream_t stream);
const cuda_look *blur_gpu_look(void);

static const blur_view *blur_at(const sel_state *base, int64_t step) {
    static blur_view view;
    double *const *c = ((const blur *)base)->c;
    view = (blur_view){cuda_grid_of(base), c[step & 1], c[(step + 1) & 1]};
    return &view;
}

static sel_status blur_step(sel_state *base, int64_t step, sel_error *error) {
    CUDA_TRY(blur_gpu_step(blur_at(base, step), base->queue->stream));
    return SEL_OK;
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
