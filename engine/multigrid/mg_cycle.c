/* mg_cycle.c -- cycles of a multigrid on the processor. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine/cpu.h"
#include "engine/multigrid/multigrid.h"

#define DECLARE(level) extern const mg_loops mg_loops_##level[2];
SEL_LEVELS(DECLARE)
#define TABLE(level) mg_loops_##level,

/* Cells of a level that one thread does as fast as several. */
enum { ALONE = 1 << 13 };
/* The last of several passes may read planes so far behind the one before its own. */
enum { REACH = 2 };

const mg_loops *mg_loops_of(const mg *m) {
    static const mg_loops *const tables[] = {SEL_LEVELS(TABLE)};
    return &tables[sel_level(0)][m->box.single];
}

/* ---- passes over a level ---- */

typedef struct job {
    const mg *m;
    int level, count;
    bool wraps;
    int64_t planes, rows; /* along the slowest axis; and in each */
    mg_work *work;
    void *data;
} job;

/* Copies periodic images along an axis to the halo of e, along y of plane z. */
static void copy_images(const job *j, int a, int64_t z) {
    const mg_level *v = &j->m->level[j->level];
    const int64_t size = j->m->box.single ? 4 : 8, s = v->stride[a] * size;
    const int64_t begin = 1 + (a == 2 ? v->stride[1] : 0);
    const int64_t count = a == 1 ? v->n[0] + 2 : (v->n[1] + 2) * v->stride[1];
    char *first = (char *)v->e + (z * v->stride[2] - begin) * size;
    if (j->wraps && j->m->box.periodic >> a & 1u) {
        memcpy(first - s, first + (v->n[a] - 1) * s, (size_t)(count * size));
        memcpy(first + v->n[a] * s, first, (size_t)(count * size));
    }
}

static void do_row(const job *j, int pass, int64_t row) {
    const bool deep = j->m->box.dims == 3;
    j->work(j->data, pass, deep ? row % j->rows : row, deep ? row / j->rows : 0,
            j->m->scratch + mg_scratch(j->m) * omp_get_thread_num());
}

/* One pass after the other. */
static void in_turn(const job *j) {
    for (int p = 0; p < j->count; p++) {
#pragma omp for schedule(static)
        for (int64_t row = 0; row < j->planes * j->rows; row++) {
            do_row(j, p, row);
        }
#pragma omp single
        for (int a = 1; a < j->m->box.dims; a++) {
            for (int64_t z = 0; z < (a == 1 ? j->m->level[j->level].n[2] : 1); z++) {
                copy_images(j, a, z);
            }
        }
    }
}

/* Planes that a pass leaves out where a thread begins. */
static int gap_of(const job *j, int pass) {
    return pass + (pass > 0 && pass + 1 == j->count ? REACH : 0);
}

static void do_plane(const job *j, int pass, int64_t plane) {
    for (int64_t k = 0; k < j->rows; k++) {
        do_row(j, pass, plane * j->rows + k);
    }
    copy_images(j, 1, plane);
}

/* Each thread has planes of its own. A pass follows the one before at a distance of one of them;
 * where the planes of two threads meet it keeps the same distance,
 *
 *      0 0 0 0 0 0 | 0 0 0 0 0 0
 *      1 1 1 1 1 . | . 1 1 1 1 1
 *      2 2 2 2 . . | . . 2 2 2 2
 *
 * and the gap is filled when both are done. */
static void in_a_wave(const job *j) {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    const int64_t begin = j->planes * t / threads, end = j->planes * (t + 1) / threads;
    for (int64_t front = begin; front < end + j->count; front++) {
        for (int p = 0; p < j->count; p++) {
            const int64_t plane = front - p;
            const bool in_gap =
                (t > 0 && plane < begin + gap_of(j, p)) || (t + 1 < threads && plane >= end - p);
            if (plane >= begin && plane < end && !in_gap) {
                do_plane(j, p, plane);
            }
        }
    }
#pragma omp barrier
    for (int p = 0; p < j->count && t > 0; p++) {
        for (int64_t plane = begin - p; plane < begin + gap_of(j, p); plane++) {
            do_plane(j, p, plane);
        }
    }
}

void mg_pass(const mg *m, int l, int count, bool wraps, mg_work *work, void *data, int threads) {
    const int64_t *n = m->level[l].n;
    const bool deep = m->box.dims == 3;
    const job j = {m, l, count, wraps, n[deep ? 2 : 1], deep ? n[1] : 1, work, data};
    const int used = n[0] * n[1] * n[2] > ALONE ? threads : 1;
    const bool around = m->box.periodic >> (deep ? 2 : 1) & 1u;
    const bool wave = !around && (used == 1 || j.planes / used >= 2 * (count + REACH));
#pragma omp parallel num_threads(used)
    wave ? in_a_wave(&j) : in_turn(&j);
}

/* ---- cycles ---- */

/* What passes do, a letter each: e = 0 (0), correct by the next level (c), relax the cells of one
 * colour (r) or of the other (b), take the residual to the next level (t). */
typedef struct passes {
    const mg *m;
    const mg_loops *loops;
    int level;
    const char *what;
    double omega;
} passes;

/* The first row of the next level that needs fine row i, or later ones, to be complete. */
static int64_t first_after(const mg_level *v, int axis, int64_t i) {
    return i == v->n[axis] ? v[1].n[axis] : v->half[axis] ? i / 2 : i;
}

static void work(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const passes *p = data;
    const mg *m = p->m;
    const mg_level *v = &m->level[p->level];
    const mg_loops *loops = p->loops;
    const int64_t size = m->box.single ? 4 : 8;
    switch (p->what[pass]) {
    case '0':
        memset((char *)v->e + (y * v->stride[1] + z * v->stride[2] - 1) * size, 0,
               (size_t)((v->n[0] + 2) * size));
        break;
    case 'c':
        loops->correct(m, p->level, y, z, scratch);
        break;
    case 't': /* the next rows have passed the sweeps */
        for (int64_t k = first_after(v, 2, z); k < first_after(v, 2, z + 1); k++) {
            for (int64_t j = first_after(v, 1, y); j < first_after(v, 1, y + 1); j++) {
                loops->take_residual(m, p->level, j, k, scratch);
            }
        }
        break;
    default:
        loops->relax(m, p->level, p->what[pass] == 'b', p->omega, y, z);
    }
}

static void run(const mg *m, int l, const char *what, double omega, int threads) {
    passes p = {m, mg_loops_of(m), l, what, omega};
    mg_pass(m, l, (int)strlen(what), true, work, &p, threads);
}

/* A V-cycle from level l, where it begins with `first`. */
static void cycle(const mg *m, int l, const char *first, int threads) {
    const int last = m->count - 1;
    for (int k = l; k < last; k++) {
        run(m, k, k == l ? first : "0rbrbt", m->level[k].omega, threads);
    }
    run(m, last, "0rb", 1, threads); /* a single cell */
    for (int k = last - 1; k >= l; k--) {
        run(m, k, "crbrb", m->level[k].omega, threads);
    }
}

void mg_cycle(const mg *m, bool full, int threads) {
    int first = 0;
    for (; full && !mg_is_coarse(m, first); first++) {
        run(m, first, "0t", 1, threads);
    }
    cycle(m, first, "0rbrbt", threads);
    for (int k = first - 1; k >= 0; k--) {
        cycle(m, k, "crbrbt", threads);
    }
}

void mg_sweep(const mg *m, double omega, int threads) {
    run(m, 0, "0rb", omega, threads);
}
