// heat_temporal.cu -- several steps of sel.heat in one pass, for uniform 2-D bodies whose laws do
// not vary in time. The surface of a corner cell is stored with its x face and includes both faces.
#include "engine/solvers/heat/heat_kernels_cuda.h"
#include "cuda/tile.cuh"

// Largest block, in cells, that is computed by tiles in shared memory (tile.cuh); larger ones
// march.
enum { TILED = 1400 * 1400 };

template <class REAL, int KIND> struct heat_rule {
    typedef REAL real, stored;
    enum { FIELDS = 1 };
    REAL r[3];
    bool nodes;
    const REAL *face[4], *other[4]; // b and s of the cells at a face

    __device__ __forceinline__ void next(const REAL (&w)[3][3][1], REAL (&out)[1]) const {
        const REAL t[6] = {w[1][0][0], w[1][2][0], w[0][1][0], w[2][1][0]};
        out[0] = heat_next(KIND, 2, r, w[1][1][0], t, t, r[0], r[0]); // the last three: not read
    }
    __device__ __forceinline__ void beyond(int, const REAL (&near)[1], const REAL (&far)[1],
                                           REAL (&out)[1]) const {
        out[0] = nodes ? far[0] : near[0];
    }
    __device__ __forceinline__ march_site<REAL> site(int at, int k) const {
        return {face[at][k], other[at][k]};
    }
    __device__ __forceinline__ void touched(const REAL (&here)[1], REAL (&out)[1],
                                            const march_site<REAL> &site) const {
        out[0] = heat_touched(here[0], out[0], site.a, site.b);
    }
};

template <class REAL, int KIND>
static cudaError_t pass(const heat_gpu_step *s, march_grid g, int steps, const march_device *on) {
    typedef heat_rule<REAL, KIND> rule_type;
    const heat_view *v = &s->view;
    rule_type rule = {{(REAL)v->r[0], (REAL)v->r[1], 0}, v->nodes, {}, {}};
    for (int face = 0; face < 4; face++) {
        rule.face[face] = (const REAL *)s->sides.numbers + s->sides.first[face];
        rule.other[face] = rule.face[face] + s->sides.sites;
    }
    g.from[0] = v->from;
    g.to[0] = v->to;
    if ((g.end - g.first) * (int64_t)g.nx <= TILED) {
        return steps == HEAT_PASS ? tile_launch<rule_type, HEAT_PASS>(g, rule, on->stream)
                                  : tile_launch<rule_type, 3>(g, rule, on->stream);
    }
    // As many rows and blocks as the registers allow.
    constexpr int AT_ONCE = sizeof(REAL) == 4 ? 4 : 2, BLOCKS = sizeof(REAL) == 4 ? 3 : 2;
    return steps == HEAT_PASS ? march_launch<rule_type, HEAT_PASS, 4, AT_ONCE, BLOCKS>(g, rule, on)
                              : march_launch<rule_type, 3, 4, AT_ONCE, BLOCKS>(g, rule, on);
}

extern "C" cudaError_t heat_gpu_pass(const heat_gpu_step *s, march_grid g, int steps,
                                     const march_device *on) {
    static cudaError_t (*const passes[2][2])(const heat_gpu_step *, march_grid, int,
                                             const march_device *) = {
        {pass<double, HEAT_EVEN>, pass<double, HEAT_UNEVEN>},
        {pass<float, HEAT_EVEN>, pass<float, HEAT_UNEVEN>}};
    return passes[s->view.single][s->view.kind](s, g, steps, on);
}
