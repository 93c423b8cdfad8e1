// heat_march.cu -- several steps of sel.heat in one pass, of uniform 2-D bodies whose laws do not
// vary in time. The surfaces of a cell at a corner stand with its side.
#include "cuda/heat_traits.cuh"
#include "cuda/machine/march.cuh"

template <class REAL, int KIND> struct heat_rule {
    typedef REAL real;
    enum { FIELDS = 1 };
    REAL r[3];
    bool nodes;
    const REAL *face[4], *other[4]; // b and s of the cells at a face

    __device__ __forceinline__ void next(const REAL (&w)[3][3][1], REAL (&out)[1]) const {
        const typename heat_traits<REAL>::around t = {
            w[1][1][0], w[1][0][0], w[1][2][0], w[0][1][0], w[2][1][0], 0, 0};
        out[0] = heat_traits<REAL>::next(KIND, 2, r, &t, NULL, 0, 0);
    }
    __device__ __forceinline__ void beyond(const REAL (&near)[1], const REAL (&far)[1],
                                           REAL (&out)[1]) const {
        out[0] = nodes ? far[0] : near[0];
    }
    __device__ __forceinline__ march_site<REAL> site(int at, int k) const {
        return {face[at][k], other[at][k]};
    }
    __device__ __forceinline__ void touched(const REAL (&here)[1], REAL (&out)[1],
                                            const march_site<REAL> &site) const {
        out[0] = heat_traits<REAL>::touched(here[0], out[0], site.a, site.b);
    }
};

template <class REAL, int KIND>
static cudaError_t pass(const heat_view *v, const void *sides, int steps, const march_streams *on) {
    heat_rule<REAL, KIND> rule = {{(REAL)v->r[0], (REAL)v->r[1], 0}, v->nodes, {}, {}};
    const REAL *next = (const REAL *)sides;
    for (int face = 0; face < 4; face++) {
        rule.face[face] = next;
        rule.other[face] = next + v->n[1 - face / 2];
        next += 2 * v->n[1 - face / 2];
    }
    march_grid g = {};
    g.nx = (int)v->n[0];
    g.ny = (int)v->n[1];
    g.pitch = (int)v->stride[1];
    g.first = (int)v->first;
    g.end = (int)v->end;
    g.periodic_x = v->periodic & 1;
    g.periodic_y = v->periodic & 2;
    g.wraps = v->wraps;
    g.from = v->from;
    g.to = v->to;
    return steps == HEAT_PASS ? march_launch < heat_rule<REAL, KIND>, HEAT_PASS, 4,
           sizeof(REAL) == 4 ? 4 : 2 > (g, rule, on)
                              : march_launch<heat_rule<REAL, KIND>, 3, 4, 2>(g, rule, on);
}

extern "C" cudaError_t heat_gpu_pass(const heat_view *v, const void *sides, int steps,
                                     const march_streams *on) {
    if (v->single) {
        return v->kind == HEAT_EVEN ? pass<float, HEAT_EVEN>(v, sides, steps, on)
                                    : pass<float, HEAT_UNEVEN>(v, sides, steps, on);
    }
    return v->kind == HEAT_EVEN ? pass<double, HEAT_EVEN>(v, sides, steps, on)
                                : pass<double, HEAT_UNEVEN>(v, sides, steps, on);
}
