// lbm_view.cuh -- the fields of one cell on the device, in f64. As
// engine/solvers/lbm/lbm_cpu_fields.c it computes moments, strain and gradients;
// engine/physics/lbm_field.h derives fields from them.
#ifndef LBM_VIEW_CUH
#define LBM_VIEW_CUH

#include "cuda/lbm_traits.cuh"

// T: the stored populations; D: the same lattice in f64.
template <class T, class D> struct lbm_look {
    typedef typename T::real real;
    typedef lbm_gpu_view view;
    typedef real last;
    static constexpr int components = D::dims;
    static constexpr bool whole = false;

    static __host__ __device__ void extent(const lbm_gpu_view &v, uint32_t n[3]) {
        n[0] = v.last.layout.nx;
        n[1] = v.last.layout.ny;
        n[2] = v.last.layout.nz;
    }

    static __device__ __forceinline__ bool is_solid(const lbm_gpu_view &v, const uint32_t at[3]) {
        return is_solid(v, at[0], at[1], at[2]);
    }

    static __device__ __forceinline__ bool is_solid(const lbm_gpu_view &v, uint32_t x, uint32_t y,
                                                    uint32_t z) {
        const uint32_t at[3] = {x, y, z};
        return v.solid[cell_of(v.last.layout, at)] != 0;
    }

    // The number of a cell of the grid.
    static __device__ __forceinline__ int64_t cell_of(const lbm_gpu_layout &l,
                                                      const uint32_t at[3]) {
        return ((int64_t)at[2] * l.ny + at[1]) * l.nx + at[0];
    }

    static __device__ __forceinline__ uint32_t index_of(const lbm_gpu_layout &l, uint32_t x,
                                                        uint32_t y, uint32_t z) {
        return z * l.slice + y * l.pitch + x;
    }

    // The acceleration of the last collision.
    static __device__ __forceinline__ void acceleration(const lbm_gpu_view &v, uint32_t index,
                                                        double a[D::dims]) {
        const typename T::lbm_rates rates = T::rates_of(v.last, index);
#pragma unroll
        for (int k = 0; k < D::dims; k++) {
            a[k] = (double)rates.a[k];
        }
    }

    // Those of the block of the grid that has a cell.
    static __device__ __forceinline__ const real *populations(const lbm_gpu_view &v,
                                                              uint32_t index) {
        return (const real *)cuda_part(v.now, index);
    }

    // Density deviation and velocity: the momentum of stored populations is rho u + F/2.
    static __device__ __forceinline__ double velocity(const lbm_gpu_view &v, uint32_t index,
                                                      double u[D::dims]) {
        const real *f = populations(v, index) + index;
        typename D::lbm_rates rates;
        double g[D::q], drho;
#pragma unroll
        for (int i = 0; i < D::q; i++) {
            g[i] = (double)f[i * v.last.layout.plane];
        }
        acceleration(v, index, rates.a);
#pragma unroll
        for (int k = 0; k < D::dims; k++) {
            rates.a[k] = -rates.a[k];
        }
        D::lbm_moments(g, &rates, true, &drho, u);
        return drho;
    }

    // d[a][b] = d u_a / d x_b: central differences, one-sided beside solids and faces that are not
    // periodic. `at(x, y, z, u)` gives the velocity of a free cell.
    template <class At>
    static __device__ void gradient(const lbm_gpu_view &v, const uint32_t at[3],
                                    const At &velocity_at, double d[3][3]) {
        const lbm_gpu_layout &l = v.last.layout;
        const uint32_t n[3] = {l.nx, l.ny, l.nz};
        double here[3] = {0, 0, 0};
        velocity_at(at[0], at[1], at[2], here);
        for (int b = 0; b < 3; b++) {
            double value[2][3] = {{0, 0, 0}, {0, 0, 0}};
            bool known[2] = {false, false};
            for (int side = 0; side < 2 && b < D::dims; side++) {
                uint32_t to[3] = {at[0], at[1], at[2]};
                const bool ends = side == 0 ? at[b] == 0 : at[b] == n[b] - 1;
                to[b] = !ends ? at[b] + 2 * side - 1 : side == 0 ? n[b] - 1 : 0;
                known[side] = (!ends || v.periodic[b]) && !is_solid(v, to[0], to[1], to[2]);
                if (known[side]) {
                    velocity_at(to[0], to[1], to[2], value[side]);
                }
            }
            for (int a = 0; a < 3; a++) {
                d[a][b] = known[0] && known[1] ? 0.5 * (value[1][a] - value[0][a])
                          : known[1]           ? value[1][a] - here[a]
                          : known[0]           ? here[a] - value[0][a]
                                               : 0;
            }
        }
    }

    static __device__ void gradient_now(const lbm_gpu_view &v, const uint32_t at[3],
                                        double d[3][3]) {
        gradient(
            v, at,
            [&](uint32_t x, uint32_t y, uint32_t z, double *u) {
                velocity(v, index_of(v.last.layout, x, y, z), u);
            },
            d);
    }

    // The populations of a cell in the step `last` before collision.
    static __device__ void arrived(const lbm_gpu_view &v, const uint32_t at[3], double g[D::q]) {
        const lbm_gpu_step &s = v.last;
        const typename T::place p = T::make_place(s.layout, at[0], at[1], at[2]);
        const uint32_t index = index_of(s.layout, at[0], at[1], at[2]);
        real come[T::q];
        const uint32_t word = index / CUDA_WARP, lane = index % CUDA_WARP;
        const uint32_t bits = s.boundary.cell_count ? s.boundary.words[word] : 0;
        if (bits >> lane & 1u) {
            const lbm_gpu_cell cell =
                s.boundary.cells[s.boundary.before[word] + __popc(bits & ((1u << lane) - 1u))];
            const typename T::lbm_rates rates = T::rates_of(s, index);
            T::gather(s, cell, p, rates, come);
        } else {
            T::pull((const real *)s.from, s.layout.plane, p, come);
        }
#pragma unroll
        for (int i = 0; i < T::q; i++) {
            g[i] = (double)come[i];
        }
    }

    // Strain and dynamic viscosity of a cell, lattice units, from its populations before collision.
    static __device__ double strain(const lbm_gpu_view &v, const uint32_t at[3],
                                    double s[D::parts]) {
        double g[D::q], drho, u[D::dims], pi_neq[D::parts];
        typename D::lbm_rates rates;
        rates.tau = v.last.tau;
        rates.eddy = v.last.eddy;
        arrived(v, at, g);
        acceleration(v, index_of(v.last.layout, at[0], at[1], at[2]), rates.a);
        D::lbm_moments(g, &rates, true, &drho, u);
        D::lbm_pi_neq(g, &rates, true, drho, u, pi_neq);
        const double tau = rates.eddy > 0 ? D::lbm_tau_of_pi(pi_neq, 1 + drho, &rates) : rates.tau;
        return lbm_pi_strain(pi_neq, drho, tau, D::dims, s);
    }

    // The same from differences of the velocity.
    static __device__ double initial_strain(const lbm_gpu_view &v, const uint32_t at[3],
                                            double s[D::parts]) {
        double d[3][3], u[D::dims];
        gradient_now(v, at, d);
        lbm_gradient_strain(d, D::dims, s);
        const double rho = 1 + velocity(v, index_of(v.last.layout, at[0], at[1], at[2]), u);
        return rho * (v.nu + lbm_eddy_viscosity(v.last.eddy, d));
    }

    // The components of a field at a cell, user's units; returns their number.
    static __device__ int field(const lbm_gpu_view &v, int which, const uint32_t at[3],
                                double out[CUDA_PARTS]) {
        const uint32_t index = index_of(v.last.layout, at[0], at[1], at[2]);
        if (which == LBM_VORTICITY || which == LBM_Q_CRITERION) {
            double d[3][3];
            gradient_now(v, at, d);
            return lbm_rotation_field(which, d, D::dims, &v.units, out);
        }
        if (which == LBM_STRAIN_RATE || which == LBM_STRESS) {
            const lbm_gpu_layout &l = v.last.layout;
            const int64_t cells = (int64_t)l.nx * l.ny * l.nz;
            const int count = which == LBM_STRESS ? D::parts : 1;
            const double *from = v.strain[which - LBM_STRAIN_RATE] + cell_of(l, at);
            for (int c = 0; c < count; c++) {
                out[c] = from[c * cells];
            }
            return count;
        }
        double u[D::dims];
        const double drho = velocity(v, index, u);
        return lbm_moment_field(which, drho, u, 1, D::dims, &v.units, out);
    }

    // The velocity; the minimum of the density deviation and the maximum of the speed squared are
    // monitored. Lattice units.
    static __device__ double main(const lbm_gpu_view &v, const uint32_t at[3], double u[D::dims],
                                  double *small) {
        double square = 0;
        *small = velocity(v, index_of(v.last.layout, at[0], at[1], at[2]), u);
#pragma unroll
        for (int a = 0; a < D::dims; a++) {
            square += u[a] * u[a];
        }
        return square;
    }

    static __device__ __forceinline__ real last_of(const lbm_gpu_view &, double u) {
        return (real)u;
    }

    static __device__ __forceinline__ double value_of(const lbm_gpu_view &, real kept) {
        return (double)kept;
    }

    static __device__ double amount(const lbm_gpu_view &v, const uint32_t at[3]) {
        double u[D::dims];
        return velocity(v, index_of(v.last.layout, at[0], at[1], at[2]), u);
    }
};

// Calls CALL<stored traits, f64 traits>(...) for the lattice and precision of a step.
#define LBM_DISPATCH(step, CALL, ...)                                                \
    ((step).dims == 2    ? (step).bytes == 4 ? CALL<d2q9_f32, d2q9_f64>(__VA_ARGS__) \
                                             : CALL<d2q9_f64, d2q9_f64>(__VA_ARGS__) \
        : (step).bytes == 4 ? CALL<d3q19_f32, d3q19_f64>(__VA_ARGS__)                \
                         : CALL<d3q19_f64, d3q19_f64>(__VA_ARGS__))

#endif
