/* mg_cycle.c -- cycles of a multigrid on the processor. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine/cpu.h"
#include "engine/multigrid/multigrid.h"

#define DECLARE(level) extern const mg_loops mg_loops_##level[2];
SEL_LEVELS(DECLARE)
#define TABLE(level) mg_loops_##level,

/* Sweeps before and after a correction. */
enum { SWEEPS = 2 };
/* Cells of a level that one thread does as fast as several. */
enum { ALONE = 1 << 13 };
/* Bytes of the rows that all sweeps pass before the next ones, to find them in the cache. */
enum { BAND = 1 << 20 };

const mg_loops *mg_loops_of(const mg *m) {
    static const mg_loops *const tables[] = {SEL_LEVELS(TABLE)};
    return &tables[sel_level(0)][m->box.single];
}

/* Copies periodic images along y and z to the halo of e; rows have done so along x. */
static void wrap(const mg *m, int l) {
    const mg_level *v = &m->level[l];
    const int64_t size = m->box.single ? 4 : 8;
    char *e = v->e;
    for (int a = 1; a < m->box.dims; a++) {
        const int64_t planes = a == 1 ? v->n[2] : 1, s = v->stride[a];
        const int64_t begin = 1 + (a == 2 ? v->stride[1] : 0);
        const int64_t count = a == 1 ? v->n[0] + 2 : v->n[1] * v->stride[1] + 2 * v->stride[1];
        for (int64_t z = 0; z < planes && m->box.periodic >> a & 1u; z++) {
            char *first = e + (z * v->stride[2] - begin) * size;
            memcpy(first - s * size, first + (v->n[a] - 1) * s * size, (size_t)(count * size));
            memcpy(first + v->n[a] * s * size, first, (size_t)(count * size));
        }
    }
}

static int threads_of(const mg *m, int l, int threads) {
    const int64_t *n = m->level[l].n;
    return n[0] * n[1] * n[2] > ALONE ? threads : 1;
}

static void *scratch_of(const mg *m) {
    return m->scratch + mg_scratch(m) * omp_get_thread_num();
}

/* Passes over a level: first the correction of the next level (`corrects`), then sweeps of one
 * colour after the other. Each follows the one before at a distance of a row (in 3-D a plane), band
 * by band, and so finds what it reads in the cache; where the planes' axis is periodic, after all
 * of the one before. */
static void passes(const mg *m, int l, bool corrects, int colours, double omega, int threads) {
    const mg_level *v = &m->level[l];
    const mg_loops *loops = mg_loops_of(m);
    const bool deep = m->box.dims == 3, whole = m->box.periodic >> (deep ? 2 : 1) & 1u;
    const int64_t planes = v->n[deep ? 2 : 1], rows = deep ? v->n[1] : 1;
    const int64_t bytes = 2 * rows * v->n[0] * (m->box.single ? 4 : 8);
    const int64_t band = whole ? planes : BAND / bytes + 1;
    const int count = colours + corrects;
#pragma omp parallel num_threads(threads_of(m, l, threads))
    for (int64_t low = 0; low < planes + (whole ? 0 : count - 1); low += band) {
        for (int p = 0; p < count; p++) {
            const int64_t shift = whole ? 0 : p;
            const int64_t begin = low > shift ? low - shift : 0;
            const int64_t end = low + band - shift < planes ? low + band - shift : planes;
#pragma omp for schedule(static)
            for (int64_t row = begin * rows; row < end * rows; row++) {
                const int64_t y = deep ? row % rows : row, z = deep ? row / rows : 0;
                if (p < corrects) {
                    loops->correct(m, l, y, z, scratch_of(m));
                } else {
                    loops->relax(m, l, (p - corrects) & 1, omega, y, z);
                }
            }
            if (m->box.periodic & ~1u) {
#pragma omp single
                wrap(m, l);
            }
        }
    }
}

static void descend(const mg *m, int l, int threads) {
    const int64_t *n = m->level[l + 1].n;
#pragma omp parallel for schedule(static) num_threads(threads_of(m, l, threads))
    for (int64_t row = 0; row < n[1] * n[2]; row++) {
        mg_loops_of(m)->take_residual(m, l, row % n[1], row / n[1], scratch_of(m));
    }
    wrap(m, l + 1);
}

/* From e of level l on; `full`: that is 0, and a V-cycle is made on each level, from the coarsest
 * to this one. */
static void cycle(const mg *m, int l, bool full, int threads) {
    int low = l;
    for (; low + 1 < m->count; low++) {
        passes(m, low, false, full ? 0 : 2 * SWEEPS, 1, threads);
        descend(m, low, threads);
    }
    passes(m, low, false, 2, 1, 1); /* a single cell */
    for (low--; low >= l; low--) {
        passes(m, low, true, full ? 0 : 2 * SWEEPS, 1, threads);
        if (full) {
            cycle(m, low, false, threads);
        }
    }
}

static void clear(const mg *m, int threads) {
    const mg_level *v = &m->level[0];
    const int64_t size = m->box.single ? 4 : 8;
#pragma omp parallel for schedule(static) num_threads(threads_of(m, 0, threads))
    for (int64_t row = 0; row < v->n[1] * v->n[2]; row++) {
        const int64_t at = row % v->n[1] * v->stride[1] + row / v->n[1] * v->stride[2] - 1;
        memset((char *)v->e + at * size, 0, (size_t)((v->n[0] + 2) * size));
    }
    wrap(m, 0);
}

void mg_cycle(const mg *m, bool full, int threads) {
    clear(m, threads);
    cycle(m, 0, full, threads);
}

void mg_sweep(const mg *m, double omega, int threads) {
    clear(m, threads);
    passes(m, 0, false, 2, omega, threads);
}
