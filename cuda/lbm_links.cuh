// lbm_links.cuh -- what the links of a boundary cell carry, for one lattice.
//
// Included by lbm_links.cu inside a struct, with LBM_DIMS and the names of lbm_lattice.h.

// Adds the links that `region` owns. sent: the cell's populations before the step, `plane` apart;
// g: what came.
template <class R>
static __device__ void add(lbm_gpu_carried &sum, const R *sent, int64_t plane, uint32_t links,
                           const uint8_t *owner, int region, const double at[3],
                           const double centre[3], const R g[LBM_Q]) {
#define ADD(i, ex, ey, ez, opposite, weight)                                            \
    if (links >> i & 1u) {                                                              \
        if (*owner++ == region) {                                                       \
            const int e[3] = {ex, ey, ez};                                              \
            add_link(sum, e, (double)sent[opposite * plane], (double)g[i], at, centre); \
        }                                                                               \
    }
    LBM_DIRECTIONS(ADD)
#undef ADD
}
