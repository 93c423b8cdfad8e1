// rule_cell.cuh -- what the kernels of sel.rule do around a function's own operations: read cells
// and those about them, store results that fit, report those that do not.
//
// A thread has N cells of a row; N numbers of a field are loaded and stored together. Compiled by
// nvcc, and at run time with the printed functions. In pieces of rows with odd cells (walls beside
// them, fields that are held) ODD is true.
#ifndef RULE_CELL_CUH
#define RULE_CELL_CUH

#define SEL_PHILOX_INLINE static __device__ inline
#include "cuda/ops.cuh"
#include "engine/solvers/rule/rule_view.h"
#include "engine/values/philox.h"

#define RULE_CALL static __device__ __forceinline__

// The first of a thread's cells, N of each of its ROWS rows.
struct rule_at {
    int64_t x, y, z, row, at, cell, step;
    bool odd;
};

// The rest, of a cell at x in a row.
RULE_CALL void rule_find(const rule_view &v, rule_at &p) {
    p.z = v.grid.n[2] == 1 ? 0 : (uint32_t)p.row / (uint32_t)v.grid.n[1];
    p.y = p.row - p.z * v.grid.n[1];
    p.at = v.first + p.z * v.slice + p.y * v.pitch + p.x;
    p.cell = p.row * v.grid.n[0] + p.x;
    p.step = *v.clock + v.ahead;
}

// The row y + ny z that is number k.
RULE_CALL int64_t rule_row(const rule_view &v, int64_t k) {
    const uint32_t height = (uint32_t)v.height, z = height ? (uint32_t)k / height : 0;
    return height ? z * v.grid.n[1] + v.low + ((uint32_t)k - z * height) : k;
}

// False: the thread has no cells.
template <int N, int ROWS> RULE_CALL bool rule_begin(const rule_view &v, rule_at &p) {
    // In 32 bits: quotients of 64 bits would take longer than the cells.
    const uint32_t wide = RULE_LANES * N, strips = ((uint32_t)v.grid.n[0] + wide - 1) / wide;
    const uint32_t group = blockIdx.x / strips;
    p.x = (blockIdx.x - group * strips) * wide + threadIdx.x * N;
    p.row = v.first_row + (group * RULE_LANE_ROWS + threadIdx.y) * ROWS;
    const bool has = p.row < v.end_row;
    p.row = has ? rule_row(v, p.row) : v.beyond;
    if (p.x >= v.grid.n[0] || !has) {
        return false; // nor has it more
    }
    rule_find(v, p);
    p.odd = false;
#pragma unroll
    for (int r = 0; r < ROWS && v.odd; r++) {
        const int64_t row = p.row + r < v.beyond ? p.row + r : p.row;
        p.odd = p.odd || v.odd[row * v.pieces + p.x / SEL_ROW];
    }
    return true;
}

// The cell `right` of p, `up` rows above it. Several rows are those of a plane.
RULE_CALL rule_at rule_moved(const rule_view &v, rule_at p, int right, int up) {
    p.x += right;
    p.y += up;
    p.row += up;
    p.at += up * v.pitch + right;
    p.cell += up * v.grid.n[0] + right;
    return p;
}

RULE_CALL bool rule_is_there(const rule_view &v, const rule_at &p) {
    return p.x < v.grid.n[0] && p.row < v.beyond;
}

// ---- reading ----

template <class S, int N> struct alignas(N * sizeof(S)) rule_pack { S v[N]; };

// Where a cell's number i along an axis stands.
RULE_CALL int rule_inside(const rule_view &v, int axis, int i) {
    const int n = (int)v.grid.n[axis];
    if (v.direct && (uint32_t)i >= (uint32_t)n) {
        const bool around = v.grid.periodic >> axis & 1u;
        i = i < 0 ? (around ? i + n : -1 - i) : (around ? i - n : 2 * n - 1 - i);
    }
    return i;
}

// ROWS rows of a field from row y + low of plane z + dz on: LEFT cells before the thread's own,
// these, and RIGHT cells behind them.
template <class S, int N, int ROWS, int LEFT, int RIGHT>
RULE_CALL void rule_window(const rule_view &v, const rule_at &p, int field, int low, int high,
                           int dz, S (&to)[ROWS][LEFT + N + RIGHT]) {
    const int64_t plane = v.first + (int64_t)rule_inside(v, 2, (int)p.z + dz) * v.slice;
    const int last = (int)(v.beyond - 1 - p.row + p.y) + high; // of rows that are needed
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
        int y = (int)p.y + low + q;
        y = ROWS > high - low + 1 && y > last ? last : y;
        const S *from = (const S *)v.from[field] + plane + rule_inside(v, 1, y) * v.pitch;
        const rule_pack<S, N> own = *(const rule_pack<S, N> *)(from + p.x);
#pragma unroll
        for (int k = 0; k < LEFT; k++) {
            to[q][k] = from[rule_inside(v, 0, (int)p.x + k - LEFT)];
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            to[q][LEFT + k] = own.v[k];
        }
#pragma unroll
        for (int k = 0; k < RIGHT; k++) {
            to[q][LEFT + N + k] = from[rule_inside(v, 0, (int)p.x + N + k)];
        }
    }
}

// The value of a cell `away`: that of cell j itself where there is a wall.
template <bool ODD, class T, class S>
RULE_CALL T rule_beside(const rule_view &v, const rule_at &p, int j, int field, int64_t away,
                        T value) {
    if (ODD && v.tables->walls[v.kind[p.at + j + away] % RULE_ODD] >> field & 1) {
        value = ((const S *)v.from[field])[p.at + j];
    }
    return value;
}

// A number that is the same in all cells.
RULE_CALL double rule_uniform(const rule_view &v, const rule_at &p, int k) {
    return v.uniform[p.step % v.uniform_steps * v.uniform_apart + k];
}

RULE_CALL double rule_place(const rule_view &v, const rule_at &p, int j, int axis) {
    const int64_t i = axis == 0 ? p.x + j : axis == 1 ? p.y : p.z;
    return sel_centre(&v.grid, axis, (double)i);
}

RULE_CALL double rule_random(const rule_view &v, const rule_at &p, int j, double k, int single) {
    return sel_philox_number(sel_philox(v.seed, p.cell + j, p.step, (int64_t)k), single);
}

// What printed functions call so.
#define UNIFORM(k) rule_uniform(v, p, k)
#define PLACE(axis) rule_place(v, q, j, axis)
#define RANDOM(k, single) rule_random(v, q, j, k, single)
#define LOOK_UP(...) op_LOOKUP(v.packed, (int)v.function, __VA_ARGS__)

// ---- results ----

// Keeps the first of all bad values. Only few threads wait: those that have an earlier one.
static __device__ __noinline__ void rule_report(const rule_view &v, int64_t step, int64_t cell,
                                                int output, int field, double value) {
    volatile rule_bad *bad = v.bad;
    const int64_t when = step * v.functions + v.function, which = cell * RULE_ODD + output;
    bool waits = when < bad->when || (when == bad->when && which < bad->which);
    while (waits) {
        if (atomicCAS(&v.bad->lock, 0, 1) == 0) {
            __threadfence();
            if (when < bad->when || (when == bad->when && which < bad->which)) {
                bad->when = when;
                bad->which = which;
                bad->field = field;
                bad->value = value;
                *(volatile uint64_t *)v.alarm = (uint64_t)when;
            }
            __threadfence();
            atomicExch(&v.bad->lock, 0);
            waits = false;
        }
    }
}

// Whether a field of S holds whole numbers, and which.
template <class S> constexpr bool rule_whole = S(0.5) == 0;
template <class S> constexpr double rule_low = sizeof(S) == 1 ? 0 : -2147483648.0;
template <class S> constexpr double rule_high = sizeof(S) == 1 ? 255 : 2147483647.0;

// As the field holds it; a real that does not fit whole numbers becomes the nearest that does.
template <class S, class T> RULE_CALL S rule_kept(T value) {
    const bool clamps = rule_whole<S> && !rule_whole<T>;
    return (S)(!clamps                   ? value
               : !(value >= rule_low<S>) ? (T)rule_low<S>
               : value <= rule_high<S>   ? value
                                         : (T)rule_high<S>);
}

template <bool ODD> RULE_CALL uint64_t rule_held(const rule_view &v, const rule_at &p, int j) {
    return ODD ? v.tables->held[v.kind[p.at + j] % RULE_ODD] : 0;
}

template <bool ODD, bool CHECKED, class T, class S, int N>
RULE_CALL void rule_store(const rule_view &v, const rule_at &p, int output, int field,
                          const T *value) {
    S *to = (S *)v.to[field] + p.at;
    rule_pack<S, N> kept;
    if (p.row >= v.beyond) {
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        kept.v[j] = rule_kept<S>(value[j]);
        if (CHECKED && p.x + j < v.grid.n[0] && !(rule_held<ODD>(v, p, j) >> field & 1) &&
            !(value[j] >= rule_low<S> && value[j] <= rule_high<S>)) {
            rule_report(v, p.step, p.cell + j, output + 1, field, (double)value[j]);
        }
    }
    if (!ODD && p.x + N <= v.grid.n[0]) {
        *(rule_pack<S, N> *)to = kept;
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (p.x + j < v.grid.n[0] && !(rule_held<ODD>(v, p, j) >> field & 1)) {
            to[j] = kept.v[j];
        }
    }
}

template <int N>
RULE_CALL void rule_store_numbers(const rule_view &v, const rule_at &p, int output,
                                  const double *value) {
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (rule_is_there(v, rule_moved(v, p, j, 0))) {
            v.numbers[output * v.output + p.at + j] = value[j];
        }
    }
}

// Cells where only Lua can evaluate the function.
template <bool ODD, int N>
RULE_CALL void rule_failed(const rule_view &v, const rule_at &p, const int32_t *fails) {
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (fails[j] && rule_is_there(v, rule_moved(v, p, j, 0)) &&
            (!v.writes || v.writes & ~rule_held<ODD>(v, p, j))) {
            rule_report(v, p.step, p.cell + j, 0, -1, 0);
        }
    }
}

#endif
