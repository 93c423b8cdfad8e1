/* program_kernel.c -- the instructions of programs as loops over a row of places, for one processor
 * level. */
#if !defined(__clang__) /* with gcc's reordered loads the processor does not prefetch */
#pragma GCC optimize("no-schedule-insns2")
#endif
#include <math.h>
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/values/philox.h"
#include "engine/values/program_row.h"

/* The places of a row do not depend on each other. */
#define EACH SEL_INDEPENDENT for (int k = 0; k < n; k++)

#define INTO(to, number, op, value)                                      \
    case op:                                                             \
        EACH {                                                           \
            const number a = (number)from[0][k], b = (number)from[1][k]; \
            (void)b;                                                     \
            (to)[k] = value;                                             \
        }                                                                \
        return;
#define SUM(name, value) INTO(sums, sum, SEL_OP_##name, value)
#define CASE(name, value) INTO(to, number, SEL_OP_##name, value)
#define COMPARE(name, value) INTO(is, number, SEL_OP_##name, value)

/* Runs an instruction on n numbers of type T; sums and products are computed in S. */
#define OPERATE(name, T, S, MORE)                                                    \
    static void operate_##name(const sel_instruction *v, void *const *slot, int n) { \
        typedef T number;                                                            \
        typedef S sum;                                                               \
        T *to = slot[v->to];                                                         \
        S *sums = slot[v->to];                                                       \
        int32_t *is = slot[v->to];                                                   \
        const T *from[] = {slot[v->from[0]], slot[v->from[1]], slot[v->from[2]]};    \
        const int32_t *if_so = slot[v->from[0]];                                     \
        switch (v->op) {                                                             \
        case SEL_OP_SELECT:                                                          \
            EACH to[k] = if_so[k] ? from[1][k] : from[2][k];                         \
            return;                                                                  \
            SEL_OPS_OF_SUMS(SUM)                                                     \
            SEL_OPS_OF_EXTREMES(CASE)                                                \
            SEL_OPS_OF_COMPARISON(COMPARE)                                           \
            MORE                                                                     \
        }                                                                            \
        if (v->op < SEL_RULE_BAND) {                                                 \
            sel_row_call(v, slot, n);                                                \
            return;                                                                  \
        }                                                                            \
        for (int k = 0; k < n; k++) {                                                \
            const T a = from[0][k], b = from[1][k];                                  \
            to[k] = (T)sel_rule_bits(v->op, (int64_t)a, (int64_t)b);                 \
        }                                                                            \
    }

OPERATE(f, float, float, SEL_OPS_OF_REALS(CASE, f))
OPERATE(d, double, double, SEL_OPS_OF_REALS(CASE, ) CASE(IDIV, floor(a / b)))
OPERATE(i, int32_t, uint32_t, /* sums wrap */
        SEL_OPS_OF_WHOLES(CASE) INTO(to, number, SEL_OP_SHIFT, a >> (int)v->number)
            INTO(to, number, SEL_OP_MASK, a &(int)v->number))

#define CONVERT(type, T, S)                    \
    case type: {                               \
        const S *from = row->slot[v->from[0]]; \
        T *to = row->slot[v->to];              \
        EACH to[k] = (T)from[k];               \
        return;                                \
    }

static void row_convert(const sel_instruction *v, const sel_row *row) {
    const int n = row->n;
    switch (3 * v->type + (int)v->number) {
        CONVERT(3 * SEL_NUMBER_F + SEL_NUMBER_D, float, double)
        CONVERT(3 * SEL_NUMBER_F + SEL_NUMBER_I, float, int32_t)
        CONVERT(3 * SEL_NUMBER_D + SEL_NUMBER_F, double, float)
        CONVERT(3 * SEL_NUMBER_D + SEL_NUMBER_I, double, int32_t)
        CONVERT(3 * SEL_NUMBER_I + SEL_NUMBER_F, int32_t, float)
        CONVERT(3 * SEL_NUMBER_I + SEL_NUMBER_D, int32_t, double)
    default:
        break;
    }
}

static void row_argument(const sel_instruction *v, const sel_row *row) {
    const int axis = (int)v->number, n = row->n;
    const double *place = row->place[axis];
    const double first = (double)row->at[axis], next = axis == 0;
    const double origin = row->dx ? row->origin[axis] : 0, dx = row->dx ? row->dx[axis] : 0;
    float *f = row->slot[v->to];
    double *d = row->slot[v->to];
    if (place) {
        memcpy(d, place, (size_t)n * sizeof *d);
    } else if (v->type == SEL_NUMBER_F) {
        EACH f[k] = (float)(origin + (first + k * next + 0.5) * dx);
    } else {
        EACH d[k] = origin + (first + k * next + 0.5) * dx;
    }
}

static void row_random(const sel_instruction *v, const sel_row *row) {
    const double *which = row->slot[v->from[0]];
    double *to = row->slot[v->to];
    const int n = row->n;
    const int single = (int)v->number;
    EACH to[k] = sel_philox_number(
        sel_philox(row->seed, row->cell + k, row->step, (int64_t)which[k]), single);
}

/* Looks up a row. Gives NaN rather than an error where there are no data: not all places need their
 * value. */
static void row_look_up(const sel_instruction *v, const sel_row *row) {
    const double *at[SEL_LOOKUP_ARGUMENTS];
    double values[SEL_ROW];
    for (int a = 0; a < SEL_LOOKUP_ARGUMENTS; a++) {
        at[a] = row->slot[v->from[a]];
    }
    sel_lookup_values(row->lookup[v->number].host, (size_t)row->n, at, values);
    memcpy(row->slot[v->to], values, (size_t)row->n * sizeof *values);
}

static void row_run(const sel_instruction *v, int count, const sel_row *row) {
    for (const sel_instruction *end = v + count; v < end; v++) {
        switch (v->op) {
        case SEL_OP_CONVERT:
            row_convert(v, row);
            break;
        case SEL_OP_ARGUMENT:
            row_argument(v, row);
            break;
        case SEL_RULE_RANDOM:
            row_random(v, row);
            break;
        case SEL_OP_LOOKUP:
            row_look_up(v, row);
            break;
        default:
            (v->type == SEL_NUMBER_F   ? operate_f
             : v->type == SEL_NUMBER_D ? operate_d
                                       : operate_i)(v, row->slot, row->n);
        }
    }
}

static void row_fill(int type, double value, void *to, int n) {
    for (int k = 0; k < n; k++) {
        if (type == SEL_NUMBER_F) {
            ((float *)to)[k] = (float)value;
        } else if (type == SEL_NUMBER_D) {
            ((double *)to)[k] = value;
        } else {
            ((int32_t *)to)[k] = (int32_t)value;
        }
    }
}

static void row_widen(const uint8_t *from, int32_t *to, int n) {
    EACH to[k] = from[k];
}

static void row_put(const void *from, void *to, size_t bytes, bool streams) {
    const size_t lines = streams ? bytes / 64 * 64 : 0;
    for (size_t k = 0; k < lines; k += 64) {
        sel_stream_line((char *)to + k, (const char *)from + k);
    }
    memcpy((char *)to + lines, (const char *)from + lines, bytes - lines);
}

static int row_store(int type, const void *from, sel_cell_type field, void *to, int n, bool checked,
                     bool streams) {
    const double *d = from, high = field == SEL_CELL_U8 ? UINT8_MAX : INT32_MAX;
    const double low = field == SEL_CELL_U8 ? 0 : INT32_MIN;
    const int32_t *i = from;
    int32_t whole[SEL_ROW];
    uint8_t bytes[SEL_ROW];
    int first = -1;
    for (int k = n - 1; k >= 0 && checked; k--) {
        const double value = type == SEL_NUMBER_D ? d[k] : i[k];
        first = value >= low && value <= high ? first : k;
    }
    for (int k = 0; k < n && type == SEL_NUMBER_D; k++) {
        whole[k] = (int32_t)(d[k] >= low ? d[k] <= high ? d[k] : high : low);
    }
    i = type == SEL_NUMBER_D ? whole : i;
    for (int k = 0; k < n && field == SEL_CELL_U8; k++) {
        bytes[k] = (uint8_t)i[k];
    }
    if (field == SEL_CELL_U8) {
        row_put(bytes, to, (size_t)n, streams);
    } else {
        row_put(i, to, (size_t)n * sizeof *i, streams);
    }
    return first;
}

#define TABLE SEL_OF_LEVEL(sel_row_loops)
extern const sel_row_loops TABLE;
const sel_row_loops TABLE = {row_run, row_fill, row_widen, row_put, row_store};
