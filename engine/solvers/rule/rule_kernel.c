/* rule_kernel.c -- the instructions of rules as loops over a piece of a row, for one level. */
#if !defined(__clang__) /* The processor orders instructions; it fetches ahead what rises. */
#pragma GCC optimize("no-schedule-insns2")
#endif
#include <math.h>
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/base/stream.h"
#include "engine/physics/philox.h"
#include "engine/solvers/rule/rule.h"

/* The cells of a row do not depend on each other. */
#define EACH SEL_INDEPENDENT for (int k = 0; k < n; k++)

#define INTO(to, op, value)                              \
    case op:                                             \
        EACH {                                           \
            const number a = from[0][k], b = from[1][k]; \
            (void)b;                                     \
            (to)[k] = value;                             \
        }                                                \
        return;
#define CASE(name, value) INTO(to, SEL_OP_##name, value)
#define COMPARE(name, value) INTO(is, SEL_OP_##name, value)

/* An instruction on n numbers of one type. */
#define OPERATE(name, T, MORE)                                                         \
    static void operate_##name(const rule_instruction *v, void *const *slot, int n) {  \
        typedef T number;                                                              \
        T *to = slot[v->to];                                                           \
        int32_t *is = slot[v->to];                                                     \
        const T *from[] = {slot[v->from[0]], slot[v->from[1]], slot[v->from[2]]};      \
        const int32_t *if_so = slot[v->from[0]];                                       \
        switch (v->op) {                                                               \
            RULE_NUMBERS(CASE)                                                         \
            RULE_COMPARISONS(COMPARE)                                                  \
            MORE case SEL_OP_SELECT : EACH to[k] = if_so[k] ? from[1][k] : from[2][k]; \
            return;                                                                    \
        default:                                                                       \
            for (int k = 0; k < n; k++) {                                              \
                const T a = from[0][k], b = from[1][k];                                \
                to[k] = (T)(v->op >= SEL_RULE_BAND                                     \
                                ? sel_rule_bits(v->op, (int64_t)a, (int64_t)b)         \
                                : sel_program_value(v->op, (double)a, (double)b, 0));  \
            }                                                                          \
        }                                                                              \
    }

OPERATE(f, float, RULE_REALS(CASE, f))
OPERATE(d, double, RULE_REALS(CASE, ))
OPERATE(i, int32_t,
        RULE_WHOLES(CASE) INTO(to, RULE_SHIFT, a >> v->number) INTO(to, RULE_MASK, a & v->number))

/* ---- chains ---- */

/* Vectors that stay in registers from link to link. */
#if defined(__AVX512F__)
enum { VECTOR = 64, VECTORS = 16 };
#elif defined(__AVX2__)
enum { VECTOR = 32, VECTORS = 8 };
#else
enum { VECTOR = 16, VECTORS = 8 };
#endif
#define EACH_VECTOR _Pragma("GCC unroll 16") for (int j = 0; j < VECTORS; j++)

/* The value so far, r, and an operand b: a row, or the same in all cells. */
#define LINK(name, value)                    \
    case 2 * RULE_##name:                    \
        EACH_VECTOR {                        \
            const vector r = v[j], b = w[j]; \
            v[j] = value;                    \
        }                                    \
        break;                               \
    case 2 * RULE_##name + 1: {              \
        const vector b = *w;                 \
        EACH_VECTOR {                        \
            const vector r = v[j];           \
            v[j] = value;                    \
        }                                    \
        break;                               \
    }
#define SUMS LINK(ADD, r + b) LINK(SUB, r - b) LINK(MUL, r *b) LINK(FROM, b - r)

/* The last vectors of a row may reach beyond its end, where memory is there to be read. */
#define CHAIN(T, LINKS)                                                                            \
    static void chain_##T(const rule_instruction *i, const rule_row *row, const rule_code *code) { \
        const rule_link *link = code->link + i->number, *end = link + i->operands;                 \
        typedef T vector __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));      \
        void *const placed = i->placed ? row->to[i->placed - 1] : NULL;                            \
        for (int k = 0; k < row->n; k += VECTORS * VECTOR / (int)sizeof(T)) {                      \
            const T *from = (const T *)row->slot[link->slot] + k;                                  \
            T *to = (T *)(placed ? placed : row->slot[i->to]) + k;                                 \
            vector v[VECTORS];                                                                     \
            EACH_VECTOR v[j] = ((const vector *)(const void *)from)[j];                            \
            for (const rule_link *l = link + 1; l < end; l++) {                                    \
                const vector *w = (const vector *)(const void *)((T *)row->slot[l->slot] + k);     \
                switch (2 * l->op + (l->slot < code->uniforms)) { LINKS }                          \
            }                                                                                      \
            if (placed && row->streams) {                                                          \
                for (int j = 0; j < VECTORS; j += SEL_STREAM_BYTES / VECTOR) {                     \
                    sel_stream_one((char *)to + j * VECTOR, (const char *)&v[j]);                  \
                }                                                                                  \
            } else {                                                                               \
                EACH_VECTOR((vector *)(void *)to)[j] = v[j];                                       \
            }                                                                                      \
        }                                                                                          \
    }

CHAIN(float, SUMS LINK(DIV, r / b) LINK(UNDER, b / r))
CHAIN(double, SUMS LINK(DIV, r / b) LINK(UNDER, b / r))
CHAIN(int32_t, SUMS)

/* ---- the others ---- */

#define CONVERT(type, T, S)                    \
    case type: {                               \
        const S *from = row->slot[v->from[0]]; \
        T *to = row->slot[v->to];              \
        EACH to[k] = (T)from[k];               \
        return;                                \
    }

static void convert(const rule_instruction *v, const rule_row *row) {
    const int n = row->n;
    switch (3 * (int)v->type + v->number) {
        CONVERT(3 * RULE_F + RULE_D, float, double)
        CONVERT(3 * RULE_F + RULE_I, float, int32_t)
        CONVERT(3 * RULE_D + RULE_F, double, float)
        CONVERT(3 * RULE_D + RULE_I, double, int32_t)
        CONVERT(3 * RULE_I + RULE_F, int32_t, float)
        CONVERT(3 * RULE_I + RULE_D, int32_t, double)
    default:
        break;
    }
}

static void argument(const rule_instruction *v, const rule_row *row) {
    const int axis = v->number, n = row->n;
    const double first = (double)row->at[axis], next = axis == 0;
    const double origin = row->grid->origin[axis], dx = row->grid->dx[axis];
    float *f = row->slot[v->to];
    double *d = row->slot[v->to];
    if (v->type == RULE_F) {
        EACH f[k] = (float)(origin + (first + k * next + 0.5) * dx);
    } else {
        EACH d[k] = origin + (first + k * next + 0.5) * dx;
    }
}

static void random_numbers(const rule_instruction *v, const rule_row *row) {
    const double *which = row->slot[v->from[0]];
    double *to = row->slot[v->to];
    const int n = row->n;
    EACH to[k] = sel_philox(row->seed, row->cell + k, row->step, (int64_t)which[k]) * 0x1p-32;
}

/* Not all cells need theirs. */
static void look_up(const sel_lookup *lookup, const rule_instruction *v, const rule_row *row) {
    const double *at[4];
    double values[RULE_ROW];
    for (int a = 0; a < 4; a++) {
        at[a] = row->slot[v->from[a]];
    }
    sel_lookup_values(lookup, (size_t)row->n, at, values);
    memcpy(row->slot[v->to], values, (size_t)row->n * sizeof *values);
}

static void run(const rule_code *code, const rule_row *row) {
    for (const rule_instruction *v = code->v; v < code->v + code->count; v++) {
        switch (v->op) {
        case RULE_CONVERT:
            convert(v, row);
            break;
        case RULE_CHAIN:
            (v->type == RULE_F   ? chain_float
             : v->type == RULE_D ? chain_double
                                 : chain_int32_t)(v, row, code);
            break;
        case SEL_OP_ARGUMENT:
            argument(v, row);
            break;
        case SEL_RULE_RANDOM:
            random_numbers(v, row);
            break;
        case SEL_OP_LOOKUP:
            look_up(code->call[v->number].lookup, v, row);
            break;
        default:
            (v->type == RULE_F   ? operate_f
             : v->type == RULE_D ? operate_d
                                 : operate_i)(v, row->slot, row->n);
        }
    }
}

static void fill(rule_type type, double value, void *to) {
    for (int k = 0; k < RULE_ROW; k++) {
        if (type == RULE_F) {
            ((float *)to)[k] = (float)value;
        } else if (type == RULE_D) {
            ((double *)to)[k] = value;
        } else {
            ((int32_t *)to)[k] = (int32_t)value;
        }
    }
}

static void widen(const uint8_t *from, int32_t *to, int n) {
    EACH to[k] = from[k];
}

static void put(const void *from, void *to, size_t bytes, bool streams) {
    const size_t lines = streams ? bytes / 64 * 64 : 0;
    for (size_t k = 0; k < lines; k += 64) {
        sel_stream_line((char *)to + k, (const char *)from + k);
    }
    memcpy((char *)to + lines, (const char *)from + lines, bytes - lines);
}

static int store(rule_type type, const void *from, sel_cell_type field, void *to, int n,
                 bool checked, bool streams) {
    const double *d = from, high = field == SEL_CELL_U8 ? UINT8_MAX : INT32_MAX;
    const double low = field == SEL_CELL_U8 ? 0 : INT32_MIN;
    const int32_t *i = from;
    int32_t whole[RULE_ROW];
    uint8_t bytes[RULE_ROW];
    int first = -1;
    if (field == SEL_CELL_REAL) {
        put(from, to, (size_t)n * (type == RULE_F ? sizeof(float) : sizeof(double)), streams);
        return -1;
    }
    for (int k = n - 1; k >= 0 && checked; k--) {
        const double value = type == RULE_D ? d[k] : i[k];
        first = value >= low && value <= high ? first : k;
    }
    for (int k = 0; k < n && type == RULE_D; k++) {
        whole[k] = (int32_t)(d[k] >= low ? d[k] <= high ? d[k] : high : low);
    }
    i = type == RULE_D ? whole : i;
    for (int k = 0; k < n && field == SEL_CELL_U8; k++) {
        bytes[k] = (uint8_t)i[k];
    }
    if (field == SEL_CELL_U8) {
        put(bytes, to, (size_t)n, streams);
    } else {
        put(i, to, (size_t)n * sizeof *i, streams);
    }
    return first;
}

#define TABLE SEL_OF_LEVEL(rule_loops)
extern const rule_loops TABLE;
const rule_loops TABLE = {run, fill, widen, store};
