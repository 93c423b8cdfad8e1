// mg_cycle.cu -- cycles of a multigrid on the device: mg_cycle.c with a thread for each cell.
//
// Levels take a kernel for each pass over their cells; the largest in 3-D one for two sweeps
// (cuda/multigrid/mg_sweeps.cuh). All levels of at most SMALL cells are done by one block of
// threads, in its shared memory where they fit, which waits for itself between passes.
#include "cuda/multigrid/mg_cycle.h"
#include "cuda/multigrid/mg_sweeps.cuh"

enum { THREADS = 128, BLOCK = 1024, SMALL = 64 * 64, SWEEPS = 2, MOST_ROOM = 200 << 10 };

// What kernels know of the whole.
struct shape {
    unsigned periodic;
    const int64_t *stop;
};

struct place {
    int x, y, z;
};

template <class REAL> static __device__ __forceinline__ REAL *array(void *of) {
    return (REAL *)of;
}

static __device__ __forceinline__ int64_t element(const mg_level &v, place p) {
    return p.x + p.y * v.stride[1] + p.z * v.stride[2];
}

// ---- a cell of a level ----

// f + what the neighbours add, and the diagonal.
template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ REAL around(const mg_level &v, place p, REAL *diagonal) {
    const int64_t i = element(v, p), y = v.stride[1], z = v.stride[2];
    const REAL *e = (const REAL *)v.e;
    REAL sum = ((const REAL *)v.f)[i];
    if (EVEN) {
        const int of[3] = {p.x, p.y, p.z};
        const int64_t apart[3] = {1, y, z};
        *diagonal = 0;
#pragma unroll
        for (int a = 0; a < (DEEP ? 3 : 2); a++) {
            *diagonal += ((const REAL *)v.table[a][MG_MIDDLE])[of[a]];
            sum += ((const REAL *)v.table[a][MG_LOW])[of[a]] * e[i - apart[a]] +
                   ((const REAL *)v.table[a][MG_HIGH])[of[a]] * e[i + apart[a]];
        }
    } else {
        const REAL *const *g = (const REAL *const *)v.g;
        *diagonal = ((const REAL *)v.d)[i];
        sum += g[0][i] * e[i - 1] + g[0][i + 1] * e[i + 1];
        sum += g[1][i] * e[i - y] + g[1][i + y] * e[i + y];
        sum += DEEP ? g[2][i] * e[i - z] + g[2][i + z] * e[i + z] : 0;
    }
    return sum;
}

template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ void relax_cell(const mg_level &v, REAL omega, place p) {
    REAL diagonal, *e = array<REAL>(v.e) + element(v, p);
    const REAL sum = around<REAL, EVEN, DEEP>(v, p, &diagonal);
    *e += omega * ((diagonal > 0 ? sum / diagonal : 0) - *e);
}

static __device__ __forceinline__ int around_of(int i, int n) {
    return i < 0 ? i + n : i < n ? i : i - n;
}

// f of a cell of the next level, whose e becomes 0.
template <class REAL, bool EVEN, bool DEEP>
static __device__ void restrict_cell(const mg_level &v, const mg_level &to, place p) {
    const int n[3] = {(int)v.n[0], (int)v.n[1], (int)v.n[2]}, of[3] = {p.x, p.y, p.z};
    int first[3];
    const REAL *weight[3];
    for (int a = 0; a < 3; a++) {
        first[a] = (v.half[a] ? 2 * of[a] : of[a]) - 1;
        weight[a] = (const REAL *)v.table[a][MG_RESIDUAL] + 3 * of[a];
    }
    REAL sum = 0;
    for (int k = DEEP ? 0 : 9; k < (DEEP ? 27 : 18); k++) {
        const REAL w = weight[0][k % 3] * weight[1][k / 3 % 3] * weight[2][k / 9];
        if (w != 0) {
            const place from = {around_of(first[0] + k % 3, n[0]),
                                around_of(first[1] + k / 3 % 3, n[1]),
                                around_of(first[2] + k / 9, n[2])};
            REAL diagonal;
            const REAL all = around<REAL, EVEN, DEEP>(v, from, &diagonal);
            const REAL here = ((const REAL *)v.e)[element(v, from)];
            sum += diagonal > 0 ? w * (all - diagonal * here) : 0;
        }
    }
    const int64_t i = element(to, p);
    array<REAL>(to.f)[i] = EVEN || ((const REAL *)to.d)[i] > 0 ? sum : 0;
    array<REAL>(to.e)[i] = 0;
}

// Adds the corrections of the next level.
template <class REAL, bool EVEN, bool DEEP>
static __device__ void correct_cell(const mg_level &v, const mg_level &from, place p) {
    const int of[3] = {p.x, p.y, p.z};
    const int64_t i = element(v, p);
    int64_t at[3][2];
    REAL weight[3][2], sum = 0;
    for (int a = 0; a < 3; a++) {
        const int own = v.half[a] ? of[a] >> 1 : of[a], other = own + (of[a] & 1 ? 1 : -1);
        at[a][0] = own * from.stride[a];
        at[a][1] = other * from.stride[a];
        weight[a][0] = ((const REAL *)v.table[a][MG_OWN])[of[a]];
        weight[a][1] = ((const REAL *)v.table[a][MG_OTHER])[of[a]];
    }
    for (int k = 0; k < (DEEP ? 8 : 4); k++) {
        const REAL w = weight[0][k & 1] * weight[1][k >> 1 & 1] * weight[2][k >> 2];
        sum += w != 0 ? w * ((const REAL *)from.e)[at[0][k & 1] + at[1][k >> 1 & 1] + at[2][k >> 2]]
                      : 0;
    }
    if (EVEN || ((const REAL *)v.d)[i] > 0) {
        array<REAL>(v.e)[i] += sum;
    }
}

// Copies periodic images along an axis to number k of both sides of the halo, which reaches over
// the halos of the axes before.
template <class REAL> static __device__ void wrap_cell(const mg_level &v, int axis, int64_t k) {
    const int64_t wide = axis > 0 ? v.n[0] + 2 : 1;
    const int64_t high = axis == 0 ? v.n[1] : axis == 2 ? v.n[1] + 2 : 1;
    const int64_t x = axis > 0 ? k % wide - 1 : 0, y = k / wide % high - (axis == 2);
    const int64_t z = k / wide / high, s = v.stride[axis];
    REAL *e = array<REAL>(v.e) + x + (axis == 1 ? 0 : y * v.stride[1]) +
              (axis == 2 ? 0 : z * v.stride[2]);
    e[-s] = e[(v.n[axis] - 1) * s];
    e[v.n[axis] * s] = e[0];
}

static __host__ __device__ int64_t wrapped(const mg_level &v, int axis) {
    return axis == 0   ? v.n[1] * v.n[2]
           : axis == 1 ? (v.n[0] + 2) * v.n[2]
                       : (v.n[0] + 2) * (v.n[1] + 2);
}

// ---- kernels of large levels ----

enum { RELAX, RESTRICT, CORRECT };

// A thread for each cell; of RELAX for each of the cells of a colour.
template <class REAL, bool EVEN, bool DEEP, int WHAT>
__global__ void pass_kernel(const __grid_constant__ mg_level v,
                            const __grid_constant__ mg_level next, shape s, int colour,
                            REAL omega) {
    place p = {(int)(blockIdx.x * THREADS + threadIdx.x), (int)blockIdx.y, (int)blockIdx.z};
    p.x = WHAT == RELAX ? 2 * p.x + ((p.y + p.z + colour) & 1) : p.x;
    if (*s.stop || p.x >= (WHAT == RESTRICT ? next : v).n[0]) {
        return;
    }
    if (WHAT == RELAX) {
        relax_cell<REAL, EVEN, DEEP>(v, omega, p);
    } else if (WHAT == RESTRICT) {
        restrict_cell<REAL, EVEN, DEEP>(v, next, p);
    } else {
        correct_cell<REAL, EVEN, DEEP>(v, next, p);
    }
}

template <class REAL>
__global__ void wrap_kernel(const __grid_constant__ mg_level v, shape s, int axis) {
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (!*s.stop && k < wrapped(v, axis)) {
        wrap_cell<REAL>(v, axis, k);
    }
}

// ---- all small levels, by one block ----

// k / n for small numbers, without the device's slow division of integers.
static __device__ __forceinline__ int part_of(int k, int n) {
    return (int)(((float)k + 0.5f) / (float)n);
}

static __device__ __forceinline__ place place_of(const mg_level &v, int k) {
    const int nx = (int)v.n[0], ny = (int)v.n[1], row = part_of(k, nx), z = part_of(row, ny);
    return {k - row * nx, row - z * ny, z};
}

static __device__ __forceinline__ int cells_of(const mg_level &v) {
    return (int)(v.n[0] * v.n[1] * v.n[2]);
}

template <class REAL> static __device__ void wrap(const mg_level &v, const shape &s) {
    __syncthreads();
    for (int a = 0; a < 3 && s.periodic; a++) {
        for (int64_t k = threadIdx.x; k < wrapped(v, a) && s.periodic >> a & 1u; k += blockDim.x) {
            wrap_cell<REAL>(v, a, k);
        }
        __syncthreads();
    }
}

template <class REAL, bool EVEN, bool DEEP>
static __device__ void relax(const mg_level &v, const shape &s, int colours) {
    for (int c = 0; c < colours; c++) {
        for (int k = threadIdx.x; k < cells_of(v); k += blockDim.x) {
            const place p = place_of(v, k);
            if (((p.x + p.y + p.z + c) & 1) == 0) {
                relax_cell<REAL, EVEN, DEEP>(v, (REAL)v.omega, p);
            }
        }
        wrap<REAL>(v, s);
    }
}

template <class REAL, bool EVEN, bool DEEP>
static __device__ void descend(const mg_level *v, const shape &s) {
    for (int k = threadIdx.x; k < cells_of(v[1]); k += blockDim.x) {
        restrict_cell<REAL, EVEN, DEEP>(v[0], v[1], place_of(v[1], k));
    }
    wrap<REAL>(v[1], s);
}

template <class REAL, bool EVEN, bool DEEP>
static __device__ void ascend(const mg_level *v, const shape &s) {
    for (int k = threadIdx.x; k < cells_of(v[0]); k += blockDim.x) {
        correct_cell<REAL, EVEN, DEEP>(v[0], v[1], place_of(v[0], k));
    }
    wrap<REAL>(v[0], s);
}

// From e of level `first` on; see cycle() of mg_cycle.c. room: of so many numbers, where e and f of
// all levels are kept meanwhile; 0: they stay where they are.
template <class REAL, bool EVEN, bool DEEP>
__global__ void __launch_bounds__(BLOCK)
    small_kernel(const mg_level *level, int first, int count, bool full, shape s, int room) {
    extern __shared__ char memory[];
    __shared__ mg_level all[MG_MOST_LEVELS];
    REAL *const near = (REAL *)memory;
    const mg_level &top = level[first];
    REAL *const e = array<REAL>(top.e) - top.first, *const f = array<REAL>(top.f) - top.first;
    const int own = threadIdx.x, last = count - 1 - first;
    if (*s.stop) {
        return;
    }
    if (own <= last) {
        int64_t at = 0;
        for (int l = 0; l < own; l++) {
            at += 2 * level[first + l].elements;
        }
        mg_level v = level[first + own];
        v.e = room ? near + at + v.first : v.e;
        v.f = room ? near + at + v.elements + v.first : v.f;
        all[own] = v;
    }
    for (int k = own; k < room; k += BLOCK) {
        near[k] = k < top.elements ? e[k] : k < 2 * top.elements ? f[k - top.elements] : 0;
    }
    __syncthreads();
    for (int l = 0; l < last && full; l++) {
        descend<REAL, EVEN, DEEP>(all + l, s);
    }
    for (int t = full ? last : 0; t >= 0; t--) { // V-cycles
        if (full && t < last) {
            ascend<REAL, EVEN, DEEP>(all + t, s);
        }
        for (int l = t; l < last; l++) {
            relax<REAL, EVEN, DEEP>(all[l], s, 2 * SWEEPS);
            descend<REAL, EVEN, DEEP>(all + l, s);
        }
        relax<REAL, EVEN, DEEP>(all[last], s, 2); // a single cell
        for (int l = last - 1; l >= t; l--) {
            ascend<REAL, EVEN, DEEP>(all + l, s);
            relax<REAL, EVEN, DEEP>(all[l], s, 2 * SWEEPS);
        }
    }
    for (int k = own; k < top.elements && room; k += BLOCK) {
        e[k] = near[k];
    }
}

// ---- on the host ----

template <class REAL, bool EVEN, bool DEEP> struct cycles {
    const mg_gpu &g;
    shape s;

    const mg_level &level(int l) const { return g.m->level[l]; }

    template <int WHAT> void pass(int l, int colour, double omega) const {
        const mg_level &v = level(l), &to = WHAT == RESTRICT ? level(l + 1) : v;
        const int64_t threads = WHAT == RELAX ? (to.n[0] + 1) / 2 : to.n[0];
        const dim3 blocks((unsigned)((threads + THREADS - 1) / THREADS), (unsigned)to.n[1],
                          (unsigned)to.n[2]);
        pass_kernel<REAL, EVEN, DEEP, WHAT><<<blocks, THREADS, 0, g.stream>>>(
            v, WHAT == RELAX ? v : level(l + 1), s, colour, (REAL)omega);
        for (int a = 0; a < 3; a++) {
            if (s.periodic >> a & 1u) {
                const unsigned parts = (unsigned)((wrapped(to, a) + THREADS - 1) / THREADS);
                wrap_kernel<REAL><<<parts, THREADS, 0, g.stream>>>(to, s, a);
            }
        }
    }

    void relax(int l, int colours, double omega) const {
        for (int c = 0; c < colours; c++) {
            pass<RELAX>(l, c & 1, omega);
        }
    }

    // START: what e is at first; on large levels its place is not read.
    void descend_from(int l, int start) const {
        const mg_level &v = level(l);
        if (is_large(l)) {
            const auto sweep = start == FROM_NEXT ? launch_sweeps<DEEP, FROM_NEXT>
                                                  : launch_sweeps<DEEP, FROM_ZERO>;
            sweep(v, level(l + 1), NULL, v.before, s.stop, g.stream);
            take_residual(l, v.before);
            return;
        }
        if (start == FROM_NEXT) {
            pass<CORRECT>(l, 0, 1);
        }
        relax(l, 2 * SWEEPS, level(l).omega);
        take_residual(l, v.e);
    }

    void take_residual(int l, void *e) const {
        mg_level v = level(l);
        v.e = e;
        is_large(l) ? launch_restrict<DEEP>(v, level(l + 1), s.stop, g.stream)
                    : pass<RESTRICT>(l, 0, 1);
    }

    void ascend_to(int l) const {
        if (is_large(l)) {
            launch_sweeps<DEEP, FROM_BOTH>(level(l), level(l + 1), level(l).before, level(l).e,
                                           s.stop, g.stream);
            return;
        }
        pass<CORRECT>(l, 0, 1);
        relax(l, 2 * SWEEPS, level(l).omega);
    }

    bool is_large(int l) const {
        const mg_level &v = level(l);
        return v.before && v.omega > 1 && v.n[0] * v.n[1] * v.n[2] > (DEEP ? 1 << 20 : 1 << 12) &&
               v.n[DEEP + 1] > MOST_PLANES / 4;
    }

    void solve_small(int first, bool full) const {
        const auto kernel = small_kernel<REAL, EVEN, DEEP>;
        int64_t room = 0;
        for (int l = first; l < g.m->count; l++) {
            room += 2 * level(l).elements;
        }
        room = room * sizeof(REAL) <= MOST_ROOM ? room : 0;
        const size_t size = room * sizeof(REAL);
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_ROOM);
        kernel<<<1, BLOCK, size, g.stream>>>(g.level, first, g.m->count, full, s, (int)room);
    }

    void cycle(int first, bool full, int start) const {
        int l = first;
        for (; l + 1 < g.m->count && level(l).n[0] * level(l).n[1] * level(l).n[2] > SMALL; l++) {
            full ? take_residual(l, level(l).e) : descend_from(l, l == first ? start : FROM_ZERO);
        }
        solve_small(l, full);
        for (l--; l >= first; l--) {
            full ? cycle(l, false, FROM_NEXT) : ascend_to(l);
        }
    }
};

// use(cycles) with the finest e cleared.
template <class USE> static cudaError_t with_cycles(const mg_gpu *g, USE use) {
    const mg_box *box = &g->m->box;
    const mg_level *v = &g->m->level[0];
    const size_t size = box->single ? sizeof(float) : sizeof(double);
    const shape s = {box->periodic, g->stop};
    cudaMemsetAsync((char *)v->e - v->first * size, 0, v->elements * size, g->stream);
    if (box->even) {
        box->dims == 3 ? box->single ? use(cycles<float, true, true>{*g, s})
                                     : use(cycles<double, true, true>{*g, s})
        : box->single ? use(cycles<float, true, false>{*g, s})
                       : use(cycles<double, true, false>{*g, s});
    } else { // in double precision
        box->dims == 3 ? use(cycles<double, false, true>{*g, s})
                       : use(cycles<double, false, false>{*g, s});
    }
    return cudaGetLastError();
}

extern "C" cudaError_t mg_gpu_cycle(const mg_gpu *g, bool full) {
    return with_cycles(g, [&](auto c) { c.cycle(0, full, FROM_ZERO); });
}

extern "C" cudaError_t mg_gpu_sweep(const mg_gpu *g, double omega) {
    return with_cycles(g, [&](auto c) { c.relax(0, 2, omega); });
}
