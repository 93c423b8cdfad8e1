// lbm_fields.cu -- fields of the flow for outputs, and the populations of step 0.
#include "cuda/lbm_view.cuh"
#include "cuda/machine/look.cuh"

enum { THREADS = 128 };

extern "C" const cuda_look *lbm_gpu_look(int dims, int bytes) {
    return dims == 2    ? bytes == 4 ? look_of<lbm_look<d2q9_f32, d2q9_f64>>()
                                     : look_of<lbm_look<d2q9_f64, d2q9_f64>>()
              : bytes == 4 ? look_of<lbm_look<d3q19_f32, d3q19_f64>>()
                        : look_of<lbm_look<d3q19_f64, d3q19_f64>>();
}

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    start_kernel(const __grid_constant__ lbm_gpu_view v, const double *values,
                 typename T::real *to) {
    typedef lbm_look<T, D> look;
    const lbm_gpu_layout &l = v.last.layout;
    const int64_t cells = (int64_t)l.nx * l.ny * l.nz, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < cells; k += step) {
        const uint32_t at[3] = {(uint32_t)(k % l.nx), (uint32_t)(k / l.nx % l.ny),
                                (uint32_t)(k / l.nx / l.ny)};
        const uint32_t index = look::index_of(l, at[0], at[1], at[2]);
        double g[D::q];
        for (int i = 0; i < D::q; i++) {
            g[i] = 0;
        }
        if (!look::is_solid(v, at[0], at[1], at[2])) {
            double u[D::dims] = {0}, d[3][3] = {{0}}, strain[D::parts], a[D::dims], drho = 0;
            if (values) {
                auto given = [&](uint32_t x, uint32_t y, uint32_t z, double *to_u) {
                    const int64_t cell = ((int64_t)z * l.ny + y) * l.nx + x;
                    for (int c = 0; c < D::dims; c++) {
                        to_u[c] = values[(c + 1) * cells + cell];
                    }
                };
                drho = values[k];
                given(at[0], at[1], at[2], u);
                look::gradient(v, at, given, d);
            }
            lbm_gradient_strain(d, D::dims, strain);
            look::acceleration(v, index, a);
            const double eddies = lbm_eddy_viscosity(v.last.eddy, d);
            D::lbm_start(drho, u, strain, v.last.tau + 3 * eddies, a, g);
        }
        for (int i = 0; i < D::q; i++) {
            to[i * l.plane + index] = (typename T::real)g[i];
        }
    }
}

template <class T, class D>
static cudaError_t start(const lbm_gpu_view *v, const double *values, void *to,
                         cudaStream_t stream) {
    const lbm_gpu_layout &l = v->last.layout;
    const int64_t blocks = ((int64_t)l.nx * l.ny * l.nz + THREADS - 1) / THREADS;
    start_kernel<T, D><<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), THREADS, 0, stream>>>(
        *v, values, (typename T::real *)to);
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_start(const lbm_gpu_view *view, const double *values, void *to,
                                     cudaStream_t stream) {
    return LBM_DISPATCH(view->last, start, view, values, to, stream);
}
