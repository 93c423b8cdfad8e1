// rule_margin.cuh -- a place of a margin: from elsewhere in the grid, or by a law.
#ifndef RULE_MARGIN_CUH
#define RULE_MARGIN_CUH

#include "cuda/rule_margin.h"

// Kinds of laws and types of fields as engine/solvers/rule/rule.h and engine/values/rule.h number
// them; rule_cuda.c asserts it.
enum { LAW_FIXED = 2, LAW_FIXED_FACE = 3, LAW_GRADIENT = 5 };
enum { CELL_REAL, CELL_I32, CELL_U8 };

static __device__ double number_at(int type, int wide, const void *array, int64_t at) {
    return type == CELL_I32  ? ((const int32_t *)array)[at]
           : type == CELL_U8 ? ((const uint8_t *)array)[at]
           : wide            ? ((const double *)array)[at]
                             : (double)((const float *)array)[at];
}

static __device__ void set_number(int type, int wide, void *array, int64_t at, double value) {
    if (type == CELL_I32) {
        ((int32_t *)array)[at] = (int32_t)value;
    } else if (type == CELL_U8) {
        ((uint8_t *)array)[at] = (uint8_t)value;
    } else if (wide) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}

static __device__ int64_t clamp(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static __device__ int64_t place_of(const rule_margin &m, const int64_t at[3]) {
    return m.first + at[2] * m.slice + at[1] * m.pitch + at[0];
}

// A place of a margin, on a side of a block: from elsewhere in the grid, or by the face's law.
static __device__ void fill_place(const rule_margin &m, int block, const int64_t at[3], int side,
                                  int layer) {
    const rule_tables &t = *m.tables;
    const int64_t n = m.n[m.axis];
    const bool slow = m.axis == m.dims - 1;
    const bool copies = (at[m.axis] >= 0 && at[m.axis] < n) || m.periodic >> m.axis & 1u;
    int64_t from[3] = {at[0], at[1], at[2]};
    from[m.axis] = copies ? (at[m.axis] % n + n) % n : clamp(side ? n - 1 - layer : layer, n);
    int source = slow && copies ? 0 : block, region = 0;
    while (slow && copies && from[m.axis] >= t.block_end[source]) {
        source++;
    }
    const int face = 2 * m.axis + side, low = m.axis == 0 ? 1 : 0, high = m.axis == 2 ? 1 : 2;
    if (!copies) {
        region = t.face[face][clamp(at[low], m.n[low]) + m.n[low] * clamp(at[high], m.n[high])];
    }
    const int64_t wide = m.n[low] + 2 * m.reach;
    const int64_t deep = m.dims == 3 ? m.n[high] + 2 * m.reach : 1;
    const int64_t number =
        (layer * deep + (m.dims == 3 ? at[high] + m.reach : 0)) * wide + at[low] + m.reach;
    const int64_t to = place_of(m, at), there = place_of(m, from);
    for (uint64_t left = m.fields; left; left &= left - 1) {
        const int f = __ffsll((long long)left) - 1, turn = (int)(m.turns >> f & 1);
        const int law = region ? t.beyond[region][f] : 0;
        const double mirrored = number_at(t.type[f], m.wide, t.at[source][f][turn], there);
        double value = mirrored;
        if (law == LAW_FIXED || law == LAW_FIXED_FACE || law == LAW_GRADIENT) {
            const double given = t.law[f][face][number];
            value = law == LAW_FIXED        ? given
                    : law == LAW_FIXED_FACE ? 2 * given - mirrored
                                            : mirrored + given * (2 * layer + 1) * m.dx;
        }
        set_number(t.type[f], m.wide, t.at[block][f][turn], to, value);
    }
}

extern "C" __global__ void rule_margin_kernel(const __grid_constant__ rule_margin m,
                                              int64_t along_count, int64_t most) {
    const int block = blockIdx.y, sides = 2 * m.reach;
    const int along = m.axis == 0 ? 1 : 0, across = m.dims == 2 ? 2 : 3 - m.axis - along;
    const int64_t k = (int64_t)blockIdx.x * RULE_MARGIN_THREADS + threadIdx.x;
    const int64_t first = m.tables->block_first[block], end = m.tables->block_end[block];
    if (k >= most) {
        return;
    }
    // The axes before this one are done: their margins are filled with the rest.
    int64_t at[3], low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    for (int a = 0; a < m.dims; a++) {
        const bool slow = a == m.dims - 1;
        low[a] = a < m.axis ? -m.reach : slow ? first : 0;
        high[a] = a < m.axis ? m.n[a] + m.reach : slow ? end : m.n[a];
    }
    const int j = (int)(k / along_count % sides), side = j % 2, layer = j / 2;
    at[along] = low[along] + k % along_count;
    at[across] = low[across] + k / along_count / sides;
    const bool slow = m.axis == m.dims - 1;
    at[m.axis] = side ? (slow ? end : m.n[m.axis]) + layer : (slow ? first : 0) - 1 - layer;
    if (at[along] < high[along] && at[across] < high[across]) {
        fill_place(m, block, at, side, layer);
    }
}

#endif
