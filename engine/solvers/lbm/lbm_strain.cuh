// lbm_strain.cuh -- the strain of a cell, which observed steps store for the fields.
#ifndef LBM_STRAIN_CUH
#define LBM_STRAIN_CUH

#include "engine/solvers/lbm/lbm_traits.cuh"

// The same lattice in f64.
template <int DIMS> struct in_f64 { typedef d3q19_f64 type; };
template <> struct in_f64<2> { typedef d2q9_f64 type; };

// The place of a cell in a component of the strain.
static __device__ __forceinline__ int64_t lbm_gpu_strain_at(const lbm_gpu_fields &of,
                                                            const uint32_t at[3]) {
    return at[2] * of.strain_slice + (int64_t)at[1] * of.grid.n[0] + at[0];
}

// Stores the fields of the strain of a cell, those that are asked for.
static __device__ __forceinline__ void lbm_gpu_put_strain(const lbm_gpu_fields &to,
                                                          const uint32_t at[3], int dims,
                                                          double rate, const double *stress,
                                                          double dissipation) {
    const int64_t place = lbm_gpu_strain_at(to, at);
    if (to.strain[0]) {
        to.strain[0][place] = rate;
    }
    for (int k = 0; to.strain[1] && k < (dims == 2 ? 3 : 6); k++) {
        to.strain[1][k * to.strain_component + place] = stress[k];
    }
    if (to.strain[2]) {
        to.strain[2][place] = dissipation;
    }
}

// Stores the strain of a cell from its moments before collision, unless the cell is solid.
// differences: the strain by differences, for the hybrid operator. A call, since inlined it might
// change how the compiler rounds the collision, and the registers of steps without strain.
template <class T>
static __device__ __noinline__ void
lbm_gpu_keep_strain(const lbm_gpu_step &s, uint32_t index, uint32_t x, uint32_t y, uint32_t z,
                    const typename in_f64<T::dims>::type::lbm_cell_moments *in,
                    const real_of<T> *differences) {
    typedef typename in_f64<T::dims>::type D;
    const uint32_t at[3] = {x, y, z};
    if (s.fields.grid.solid[cuda_solid_at(s.fields.grid, at)]) {
        return;
    }
    const typename T::lbm_rates stored = T::rates_of(s, index);
    typename D::lbm_rates rates;
    double pi_neq[D::parts], beside[D::parts], rate, stress[CUDA_PARTS], dissipation;
    rates.tau = s.tau;
    rates.eddy = s.eddy;
    for (int a = 0; a < D::dims; a++) {
        rates.a[a] = (double)stored.a[a];
    }
    D::lbm_pi_of_moments(in, &rates, pi_neq);
    const double tau = rates.eddy > 0 ? D::lbm_tau_of_pi(pi_neq, 1 + in->drho, &rates) : rates.tau;
    const bool hybrid = s.collision == LBM_HYBRID;
    for (int k = 0; hybrid && k < D::parts; k++) {
        beside[k] = (double)differences[k];
    }
    lbm_strain_fields(pi_neq, in->drho, tau, D::lbm_is_recursive(s.collision),
                      hybrid ? beside : NULL, D::dims, &s.fields.units, &rate, stress,
                      &dissipation);
    lbm_gpu_put_strain(s.fields, at, D::dims, rate, stress, dissipation);
}

#endif
