// mg_cycle.cu -- cycles of a multigrid on the device: mg_cycle.c with a thread for each cell.
//
// Levels take a kernel for each pass over their cells; the largest in 3-D one for two sweeps
// (engine/solvers/multigrid/mg_sweeps.cuh). All coarse levels are done by one block of threads in
// its shared memory, which waits for itself between passes; the least by one warp.
#include <cstring>
#include "cuda/query.h"
#include "engine/solvers/multigrid/mg_cycle_cuda.h"
#include "engine/solvers/multigrid/mg_sweeps.cuh"

enum { THREADS = 128, BLOCK = 1024, SWEEPS = 2 };

// What kernels know of the whole, and the cells in which they work. reversed: sweeps after a
// correction begin with the other colour.
struct shape {
    unsigned periodic;
    bool reversed;
    const int64_t *stop;
    mg_cells cells;
};

struct place {
    int x, y, z;
};

template <class REAL> static __device__ __forceinline__ REAL *array(void *of) {
    return (REAL *)of;
}

// A product of 32 bits in 64, for strides that count.
static __device__ __forceinline__ int64_t times(int k, int64_t stride) {
    return (int64_t)k * (int)stride;
}

static __device__ __forceinline__ int64_t element(const mg_level &v, place p) {
    return p.x + times(p.y, v.stride[1]) + times(p.z, v.stride[2]);
}

static __device__ __forceinline__ int around_of(int i, int n) {
    return i < 0 ? i + n : i < n ? i : i - n;
}

// ---- a cell of a level ----

// f + what the neighbours add, and the diagonal.
template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ REAL around(const mg_level &v, place p, REAL *diagonal) {
    const int64_t i = element(v, p), y = v.stride[1], z = v.stride[2];
    const REAL *e = (const REAL *)v.e;
    REAL sum = ((const REAL *)v.f)[i];
    if (EVEN) {
        const int of[3] = {p.x, around_of(p.y, (int)v.n[1]), around_of(p.z, (int)v.n[2])};
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

// f of a cell of the next level, whose e becomes 0.
template <class REAL, bool EVEN, bool DEEP, class RESIDUAL>
static __device__ __forceinline__ void restrict_to(const mg_level &v, const mg_level &to, place p,
                                                   RESIDUAL residual_at) {
    const int n[3] = {(int)v.n[0], (int)v.n[1], (int)v.n[2]}, of[3] = {p.x, p.y, p.z};
    int at[3][3] = {};
    const REAL *weight[3];
    REAL sum = 0;
    for (int a = 0; a < (DEEP ? 3 : 2); a++) {
        const int middle = v.half[a] ? 2 * of[a] : of[a];
        weight[a] = (const REAL *)v.table[a][MG_RESIDUAL] + 3 * of[a];
        const bool around = !v.sides[a]; // else the halo has planes beyond an end
        at[a][0] = around ? around_of(middle - 1, n[a]) : middle - 1;
        at[a][1] = middle;
        at[a][2] = around ? around_of(middle + 1, n[a]) : middle + 1;
    }
#pragma unroll
    for (int k = DEEP ? 0 : 9; k < (DEEP ? 27 : 18); k++) {
        const int i = k % 3, j = k / 3 % 3, l = k / 9;
        const REAL w = weight[0][i] * weight[1][j] * (DEEP ? weight[2][l] : 1);
        sum += residual_at(w, {at[0][i], at[1][j], at[2][l]});
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
    int64_t at[3][2] = {};
    REAL weight[3][2], sum = 0;
    for (int a = 0; a < (DEEP ? 3 : 2); a++) {
        int own = v.half[a] ? of[a] >> 1 : of[a];
        int other = !v.half[a] ? own : own + (of[a] & 1 ? 1 : -1);
        if (v.sides[a] && !from.sides[a]) { // whose halo is not as wide
            own = around_of(own, (int)from.n[a]);
            other = around_of(other, (int)from.n[a]);
        }
        at[a][0] = times(own, a ? from.stride[a] : 1);
        at[a][1] = times(other, a ? from.stride[a] : 1);
        const int image = around_of(of[a], (int)v.n[a]);
        weight[a][0] = ((const REAL *)v.table[a][MG_OWN])[image];
        weight[a][1] = ((const REAL *)v.table[a][MG_OTHER])[image];
    }
    for (int k = 0; k < (DEEP ? 8 : 4); k++) {
        const REAL w = weight[0][k & 1] * weight[1][k >> 1 & 1] * (DEEP ? weight[2][k >> 2] : 1);
        sum += w * ((const REAL *)from.e)[at[0][k & 1] + at[1][k >> 1 & 1] + at[2][k >> 2]];
    }
    if (EVEN || ((const REAL *)v.d)[i] > 0) {
        array<REAL>(v.e)[i] += sum;
    }
}

// Rows beyond each end of y that images along an axis take with them.
static __host__ __device__ int beyond_of(const mg_level &v, int axis) {
    return axis == 2 && !v.sides[1];
}

// Copies periodic images along an axis to number k of both sides of the halo, which reaches over
// the halos of the axes before unless these are divided.
template <class REAL> static __device__ void wrap_cell(const mg_level &v, int axis, unsigned k) {
    const int beyond = beyond_of(v, axis);
    const unsigned wide = axis > 0 ? (unsigned)v.n[0] + 2 : 1;
    const unsigned high = axis == 1 ? 1 : (unsigned)v.n[1] + 2 * beyond;
    const int x = axis > 0 ? (int)(k % wide) - 1 : 0, y = (int)(k / wide % high) - beyond;
    const int64_t z = k / wide / high, s = v.stride[axis];
    REAL *e = array<REAL>(v.e) + x + (axis == 1 ? 0 : y * v.stride[1]) +
              (axis == 2 ? 0 : z * v.stride[2]);
    e[-s] = e[(v.n[axis] - 1) * s];
    e[v.n[axis] * s] = e[0];
}

static __host__ __device__ int64_t wrapped(const mg_level &v, int axis) {
    return axis == 0   ? v.n[1] * v.n[2]
           : axis == 1 ? (v.n[0] + 2) * v.n[2]
                       : (v.n[0] + 2) * (v.n[1] + 2 * beyond_of(v, axis));
}

// ---- kernels of large levels ----

enum { RELAX, RESTRICT, CORRECT };

// A thread for each cell of the planes, by blocks of cuda_blocks_of_rows; of RELAX for each of the
// cells of a colour.
template <class REAL, bool EVEN, bool DEEP, int WHAT>
__global__ void pass_kernel(const __grid_constant__ mg_level v,
                            const __grid_constant__ mg_level next, shape s, int colour,
                            REAL omega) {
    const mg_level &of = WHAT == RESTRICT ? next : v;
    const int rows = s.cells.hi[1] - s.cells.lo[1];
    const int64_t n[3] = {of.n[0], rows, DEEP ? s.cells.hi[2] - s.cells.lo[2] : 1};
    place p = {.x = (int)(blockIdx.x * THREADS + threadIdx.x)};
    cuda_row_of_block(n, p.y, p.z);
    const bool there = p.y < n[1];
    p.y += s.cells.lo[1];
    p.z += DEEP ? s.cells.lo[2] : 0;
    p.x = WHAT == RELAX ? 2 * p.x + ((p.y + p.z + colour) & 1) : p.x;
    if (*s.stop || p.x >= n[0] || !there) {
        return;
    }
    if (WHAT == RELAX) {
        relax_cell<REAL, EVEN, DEEP>(v, omega, p);
    } else if (WHAT == RESTRICT) {
        restrict_to<REAL, EVEN, DEEP>(v, next, p, [&](REAL weight, place from) {
            REAL diagonal = 0;
            const REAL all = weight != 0 ? around<REAL, EVEN, DEEP>(v, from, &diagonal) : 0;
            const REAL here = ((const REAL *)v.e)[element(v, from)];
            return diagonal > 0 ? weight * (all - diagonal * here) : 0;
        });
    } else {
        correct_cell<REAL, EVEN, DEEP>(v, next, p);
    }
}

template <class REAL>
__global__ void wrap_kernel(const __grid_constant__ mg_level v, shape s, int axis) {
    const unsigned k = blockIdx.x * THREADS + threadIdx.x;
    if (!*s.stop && k < wrapped(v, axis)) {
        wrap_cell<REAL>(v, axis, k);
    }
}

// ---- all small levels, by one block ----

// Threads that wait for each other: the block, or its first warp.
struct team {
    int size;

    __device__ __forceinline__ void wait() const {
        size > CUDA_WARP ? __syncthreads() : __syncwarp();
    }
};

// k / n for numbers below 2^16, without the device's slow division of integers.
static __device__ __forceinline__ int part_of(int k, int n) {
    return (int)(((float)k + 0.5f) * reciprocal((float)n));
}

static __device__ __forceinline__ place place_of(int k, int nx, int ny) {
    const int row = part_of(k, nx), z = part_of(row, ny);
    return {k - row * nx, row - z * ny, z};
}

template <class REAL>
static __device__ __forceinline__ void wrap(const mg_level &v, const shape &s, const team &t) {
    t.wait();
#pragma unroll 1
    for (int a = 0; a < 3 && s.periodic; a++) {
        for (int k = threadIdx.x; k < wrapped(v, a) && s.periodic >> a & 1u; k += t.size) {
            wrap_cell<REAL>(v, a, k);
        }
        t.wait();
    }
}

static __device__ __forceinline__ int pairs_of(const mg_level &v) {
    return ((int)v.n[0] + 1) / 2 * (int)v.n[1] * (int)v.n[2];
}

// Two cells beside each other along x, by colour: their elements, and what a sweep makes of each,
//     (1 - omega) e + part + sum over sides of coupling times e there;
// residuals are `back` times the change.
template <class REAL> struct pair {
    int at[2];
    bool there[2];
    REAL part[2], side[2][6], back[2];
};

template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ void take(const mg_level &v, REAL omega, int e, int k, int colour,
                                            pair<REAL> &p) {
    const place first = place_of(k, ((int)v.n[0] + 1) / 2, (int)v.n[1]);
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const int x = 2 * first.x + ((first.y + first.z + c + colour) & 1);
        p.there[c] = x < v.n[0];
        const int of[3] = {p.there[c] ? x : 0, first.y, first.z};
        const int64_t i = element(v, {of[0], of[1], of[2]});
        REAL diagonal = EVEN ? 0 : ((const REAL *)v.d)[i];
#pragma unroll
        for (int a = 0; a < (DEEP ? 3 : 2); a++) {
            const REAL *g = (const REAL *)v.g[a];
            p.side[c][2 * a] = EVEN ? ((const REAL *)v.table[a][MG_LOW])[of[a]] : g[i];
            p.side[c][2 * a + 1] =
                EVEN ? ((const REAL *)v.table[a][MG_HIGH])[of[a]] : g[i + v.stride[a]];
            diagonal += EVEN ? ((const REAL *)v.table[a][MG_MIDDLE])[of[a]] : 0;
        }
        const REAL factor = diagonal > 0 ? omega * reciprocal(diagonal) : 0;
        p.at[c] = e + (int)i;
        p.part[c] = factor * ((const REAL *)v.f)[i];
        p.back[c] = diagonal * reciprocal(omega);
#pragma unroll
        for (int side = 0; side < (DEEP ? 6 : 4); side++) {
            p.side[c][side] *= factor;
        }
    }
}

// Sweeps over `colours` colours, from `colour` on; then, if wanted, `before` = the residual. A
// thread that has one pair only holds it meanwhile. `near`: the shared memory of e.
template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ void smooth(const mg_level &v, REAL *near, const shape &s,
                                              const team &t, int colour, int colours,
                                              bool residual) {
    const int pairs = pairs_of(v), apart[3] = {1, (int)v.stride[1], (int)v.stride[2]};
    const int e = (int)(array<REAL>(v.e) - near);
    const int before = (int)(array<REAL>(v.before) - array<REAL>(v.e));
    const REAL omega = (REAL)v.omega;
    pair<REAL> p = {};
    for (int c0 = 0; c0 < colours + residual; c0 += 2) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            for (int k = threadIdx.x; k < pairs; k += t.size) {
                if (c0 + c == 0 || pairs > t.size) {
                    take<REAL, EVEN, DEEP>(v, omega, e, k, colour, p);
                }
                if (!p.there[c]) {
                    continue;
                }
                REAL *here = near + p.at[c], sum = p.part[c];
#pragma unroll
                for (int a = 0; a < (DEEP ? 3 : 2); a++) {
                    sum += p.side[c][2 * a] * here[-apart[a]];
                    sum += p.side[c][2 * a + 1] * here[apart[a]];
                }
                sum -= omega * *here;
                here[c0 < colours ? 0 : before] = c0 < colours ? *here + sum : p.back[c] * sum;
            }
            wrap<REAL>(v, s, t);
        }
    }
}

template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ void restrict_residual(const mg_level *v, const shape &s,
                                                         const team &t) {
    const int nx = (int)v[1].n[0], ny = (int)v[1].n[1];
    for (int k = threadIdx.x; k < nx * ny * (int)v[1].n[2]; k += t.size) {
        restrict_to<REAL, EVEN, DEEP>(v[0], v[1], place_of(k, nx, ny), [&](REAL weight, place at) {
            return weight * ((const REAL *)v[0].before)[element(v[0], at)];
        });
    }
    wrap<REAL>(v[1], s, t);
}

template <class REAL, bool EVEN, bool DEEP>
static __device__ __forceinline__ void correct(const mg_level *v, const shape &s, const team &t) {
    const int nx = (int)v->n[0], ny = (int)v->n[1];
    for (int k = threadIdx.x; k < nx * ny * (int)v->n[2]; k += t.size) {
        correct_cell<REAL, EVEN, DEEP>(v[0], v[1], place_of(k, nx, ny));
    }
    wrap<REAL>(v[0], s, t);
}

// A V-cycle from e of level `first` on; see cycle() of mg_cycle.c. room: how many numbers the
// shared memory holds: e and f of all levels meanwhile, and the residuals of one. One warp does the
// levels from `tiny` on, where each of its threads has a pair at most.
template <class REAL, bool EVEN, bool DEEP>
__global__ void __launch_bounds__(BLOCK)
    small_kernel(const mg_level *level, int first, int count, shape s, int room) {
    extern __shared__ char memory[];
    __shared__ mg_level all[MG_MOST_LEVELS];
    REAL *const near = (REAL *)memory;
    const mg_level &top = level[first];
    REAL *const e = array<REAL>(top.e) - top.first, *const f = array<REAL>(top.f) - top.first;
    const int own = threadIdx.x, last = count - 1 - first;
    if (*s.stop) {
        return;
    }
    for (int k = own; k < (last + 1) * (int)(sizeof top / sizeof(double)); k += BLOCK) {
        ((double *)all)[k] = ((const double *)&top)[k];
    }
    __syncthreads();
    if (own <= last) {
        mg_level &v = all[own];
        int64_t at = v.first;
        for (int l = 0; l < own; l++) {
            at += 2 * all[l].elements;
        }
        v.e = near + at;
        v.f = near + at + v.elements;
        v.before = near + room - all[0].elements + v.first;
    }
    for (int k = own; k < room; k += BLOCK) {
        near[k] = k < top.elements ? e[k] : k < 2 * top.elements ? f[k - top.elements] : 0;
    }
    __syncthreads();
    int tiny = 0;
    while (pairs_of(all[tiny]) > CUDA_WARP) {
        tiny++;
    }
    for (int k = 0; k <= 2 * last; k++) {
        const bool up = k > last, down = k < last; // or a single cell
        const int l = up ? 2 * last - k : k;
        const team t = {l < tiny ? BLOCK : CUDA_WARP};
        if (up && l == tiny - 1) {
            __syncthreads(); // for the warp
        }
        if (own < t.size) {
            if (up) {
                correct<REAL, EVEN, DEEP>(all + l, s, t);
            }
            smooth<REAL, EVEN, DEEP>(all[l], near, s, t, up && s.reversed,
                                     l < last ? 2 * SWEEPS : 2, down);
            if (down) {
                restrict_residual<REAL, EVEN, DEEP>(all + l, s, t);
            }
        }
    }
    __syncthreads();
    for (int k = own; k < top.elements; k += BLOCK) {
        e[k] = near[k];
    }
}

// ---- on the host ----

// With several ranks, each computes its planes of the divided levels, and as many halo planes as
// the work before the next exchange reads (multigrid.h): DOWN after the sweeps on the way down, for
// the residuals in the planes beside the ends; UP on the way up, for the corrections of the next
// finer level, and for the solution.
enum { DOWN = 2, UP = 1 };
// Planes of the next level, which has half of them, from which corrections of MG_HALO planes come.
enum { CORRECTING = 4 };

template <class REAL, bool EVEN, bool DEEP> struct cycles {
    const mg_gpu &g;
    shape s;

    const mg_level &level(int l) const { return g.m->level[l]; }

    // In the cells of this rank and `more` beside these.
    template <int WHAT> void pass(int l, int colour, double omega, int more) const {
        const mg_level &v = level(l), &to = WHAT == RESTRICT ? level(l + 1) : v;
        const int64_t threads = WHAT == RELAX ? (to.n[0] + 1) / 2 : to.n[0];
        const sel_patch cells = WHAT == RESTRICT ? to.own : mg_patch(&to, more);
        const int64_t n[3] = {to.n[0], sel_patch_cells(&cells, 1), sel_patch_cells(&cells, 2)};
        shape planes = s;
        planes.cells = mg_cells_of(&cells);
        pass_kernel<REAL, EVEN, DEEP, WHAT>
            <<<cuda_blocks_of_rows(cuda_shares(threads, THREADS), n), THREADS, 0, g.stream>>>(
                v, WHAT == RELAX ? v : level(l + 1), planes, colour, (REAL)omega);
        mg_level part = to; // these cells as a level of their own
        memcpy(part.n, n, sizeof n);
        part.e = (REAL *)to.e + cells.lo[1] * to.stride[1] + cells.lo[2] * to.stride[2];
        for (int a = 0; a < 3; a++) {
            if (s.periodic >> a & 1u && !to.sides[a]) {
                const unsigned parts = (unsigned)((wrapped(part, a) + THREADS - 1) / THREADS);
                wrap_kernel<REAL><<<parts, THREADS, 0, g.stream>>>(part, s, a);
            }
        }
    }

    // From a colour on, the last of them in `more` planes beside this rank's.
    void relax(int l, int colour, int colours, double omega, int more) const {
        for (int c = 0; c < colours; c++) {
            pass<RELAX>(l, (colour + c) & 1, omega, more + colours - 1 - c);
        }
    }

    template <int START> void sweep(int l, int more, const void *from, void *to) const {
        launch_sweeps<DEEP, START>(level(l), level(l + 1), more, from, to, s.stop, g.stream);
    }

    // START: what e is at first; on large levels its place is not read.
    void descend_from(int l, int start) const {
        const mg_level &v = level(l);
        if (is_large(l)) {
            start == FROM_NEXT ? sweep<FROM_NEXT>(l, DOWN, NULL, v.before)
                               : sweep<FROM_ZERO>(l, DOWN, NULL, v.before);
            take_residual(l, v.before, true);
            return;
        }
        if (start == FROM_NEXT) {
            pass<CORRECT>(l, 0, 1, MG_HALO);
        }
        relax(l, 0, 2 * SWEEPS, v.omega, DOWN);
        take_residual(l, v.e, true);
    }

    // f of the next level, and e of this one if it will be corrected, reach the ranks beside.
    void take_residual(int l, void *e, bool returns) const {
        const mg_level &next = level(l + 1);
        mg_level v = level(l);
        v.e = e;
        if (v.divided) {
            clear(next);
        }
        is_large(l) ? launch_restrict<DEEP>(v, next, s.stop, g.stream) : pass<RESTRICT>(l, 0, 1, 0);
        if (v.divided) {
            const mg_halo_of parts[] = {{l + 1, MG_HALO, next.f}, {l, MG_HALO, e}};
            g.spread(g.with, parts, 1 + returns);
        }
    }

    void clear(const mg_level &v) const {
        cudaMemsetAsync((REAL *)v.e - v.first, 0, v.elements * sizeof(REAL), g.stream);
    }

    // The corrections of the next level reach the ranks beside.
    void know_corrections(int l) const {
        const mg_level &v = level(l);
        const bool halves = (v.half[1] || !v.sides[1]) && (v.half[2] || !v.sides[2]);
        const int planes = halves ? (int)CORRECTING : (int)MG_HALO;
        const mg_halo_of part = {l + 1, planes, level(l + 1).e};
        if (level(l + 1).divided) {
            g.spread(g.with, &part, 1);
        }
    }

    void ascend_to(int l) const {
        const mg_level &v = level(l);
        know_corrections(l);
        if (is_large(l)) {
            sweep<FROM_BOTH>(l, UP, v.before, v.e);
            return;
        }
        pass<CORRECT>(l, 0, 1, UP + 2 * SWEEPS);
        relax(l, s.reversed, 2 * SWEEPS, v.omega, UP);
    }

    bool is_large(int l) const {
        const mg_level &v = level(l);
        return v.before && (int)sizeof(sides<DEEP>) <= g.shared && v.omega > 1 &&
               v.n[0] * v.n[1] * v.n[2] > (DEEP ? 1 << 20 : 1 << 12) &&
               v.n[DEEP + 1] > MOST_PLANES / 4;
    }

    // Numbers of the levels from `first` on (small_kernel).
    int64_t room_of(int first) const {
        int64_t room = level(first).elements;
        for (int l = first; l < g.m->count; l++) {
            room += 2 * level(l).elements;
        }
        return room;
    }

    // Bytes for these beside what the kernel has anyhow.
    int most_room() const { return g.shared - MG_MOST_LEVELS * (int)sizeof(mg_level) - 1024; }

    bool is_small(int l) const {
        return mg_is_coarse(g.m, l) && room_of(l) * (int64_t)sizeof(REAL) <= most_room();
    }

    void solve_small(int first) const {
        const auto kernel = small_kernel<REAL, EVEN, DEEP>;
        const int room = (int)room_of(first);
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_room());
        kernel<<<1, BLOCK, room * sizeof(REAL), g.stream>>>(g.level, first, g.m->count, s, room);
    }

    void cycle(int first, int start) const {
        int l = first;
        for (; !is_small(l); l++) {
            descend_from(l, l == first ? start : FROM_ZERO);
        }
        solve_small(l);
        for (l--; l >= first; l--) {
            ascend_to(l);
        }
    }

    void full_cycle() const {
        int l = 0;
        for (; !mg_is_coarse(g.m, l); l++) {
            take_residual(l, level(l).e, false);
        }
        cycle(l, FROM_ZERO);
        for (l--; l >= 0; l--) {
            know_corrections(l);
            cycle(l, FROM_NEXT);
        }
    }
};

// use(cycles) with the finest e cleared, and f known in `planes` halo planes.
template <class USE> static cudaError_t with_cycles(const mg_gpu *g, int planes, USE use) {
    const mg_box *box = &g->m->box;
    const mg_level *v = &g->m->level[0];
    const size_t size = box->single ? sizeof(float) : sizeof(double);
    const shape s = {box->periodic, mg_jumps(box), g->stop, {}};
    const mg_halo_of f = {0, planes, v->f};
    cudaMemsetAsync((char *)v->e - v->first * size, 0, v->elements * size, g->stream);
    if (v->divided) {
        g->spread(g->with, &f, 1);
    }
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
    return with_cycles(g, MG_HALO, [&](auto c) { full ? c.full_cycle() : c.cycle(0, FROM_ZERO); });
}

extern "C" cudaError_t mg_gpu_sweep(const mg_gpu *g, double omega) {
    return with_cycles(g, UP + 1, [&](auto c) { c.relax(0, 0, 2, omega, UP); });
}
