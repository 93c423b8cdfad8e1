/* mg_cycle.c -- cycles of a multigrid on the processor. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/cpu.h"
#include "engine/solvers/multigrid/multigrid.h"

extern const mg_loops SEL_OF_LEVELS(mg_loops, [2]);

/* The last of several passes may read planes so far behind the one before its own. */
enum { REACH = 2 };

const mg_loops *mg_loops_of(const mg *m) {
    static const mg_loops *const tables[] = {SEL_OF_LEVELS(mg_loops, )};
    return &tables[sel_level(0)][m->box.single];
}

/* ---- passes over a level ---- */

typedef struct job {
    const mg *m;
    int level, count, more;
    bool wraps;
    mg_work *work;
    void *data;
} job;

/* Copies periodic images along an axis to the halo of e, along y of plane z. */
static void copy_images(const job *j, int a, int64_t z) {
    const mg_level *v = &j->m->level[j->level];
    const int64_t size = j->m->box.single ? 4 : 8, s = v->stride[a] * size;
    const int64_t begin = 1 + (a == 2 ? v->lead - MG_ALIGNED : 0);
    const int64_t count = a == 1 ? v->n[0] + 2 : v->stride[2];
    char *first = (char *)v->e + (z * v->stride[2] - begin) * size;
    if (j->wraps && j->m->box.periodic >> a & 1u && !v->sides[a]) {
        memcpy(first - s, first + (v->n[a] - 1) * s, (size_t)(count * size));
        memcpy(first + v->n[a] * s, first, (size_t)(count * size));
    }
}

/* Row k of a plane. */
static void do_row(const job *j, int pass, int64_t plane, int64_t k) {
    const bool deep = j->m->box.dims == 3;
    j->work(j->data, pass, deep ? k : plane, deep ? plane : 0,
            j->m->scratch + mg_scratch(j->m) * omp_get_thread_num());
}

/* Planes of the slowest axis, first <= plane < end, and rows of each, low <= row < high: 0 to 1 in
 * 2-D, where planes are rows. */
typedef struct planes {
    int64_t first, end, low, high;
} planes;

/* Those of this rank and `more` beside these. */
static planes planes_with(const job *j, int more) {
    const sel_patch cells = mg_patch(&j->m->level[j->level], more);
    return j->m->box.dims == 3
               ? (planes){cells.lo[2], cells.hi[2], cells.lo[1], cells.hi[1]}
               : (planes){.first = cells.lo[1], .end = cells.hi[1], .low = 0, .high = 1};
}

/* Those of a pass. */
static planes planes_of(const job *j, int pass) {
    return planes_with(j, j->more + j->count - 1 - pass);
}

/* One pass after the other. */
static void in_turn(const job *j) {
    const bool deep = j->m->box.dims == 3;
    for (int p = 0; p < j->count; p++) {
        const planes of = planes_of(j, p);
        const int64_t height = of.high - of.low;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < (of.end - of.first) * height; k++) {
            do_row(j, p, of.first + k / height, of.low + k % height);
        }
#pragma omp single
        {
            for (int64_t z = of.first; z < of.end && deep; z++) {
                copy_images(j, 1, z);
            }
            copy_images(j, deep ? 2 : 1, 0);
        }
    }
}

/* Planes that a pass leaves out where a thread begins. */
static int gap_of(const job *j, int pass) {
    return pass + (pass > 0 && pass + 1 == j->count ? REACH : 0);
}

static void do_plane(const job *j, int pass, int64_t plane) {
    const planes of = planes_of(j, pass);
    for (int64_t k = of.low; k < of.high; k++) {
        do_row(j, pass, plane, k);
    }
    copy_images(j, 1, plane);
}

/* Each thread has planes of its own, the first and the last one also those beyond this rank's. A
 * pass follows the one before at a distance of one of them; where the planes of two threads meet it
 * keeps the same distance,
 *
 *      0 0 0 0 0 0 | 0 0 0 0 0 0
 *      1 1 1 1 1 . | . 1 1 1 1 1
 *      2 2 2 2 . . | . . 2 2 2 2
 *
 * and the gap is filled when both are done. */
static void in_a_wave(const job *j) {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    const int64_t more = j->more + j->count;
    const planes own = planes_with(j, 0);
    const int64_t count = own.end - own.first;
    const int64_t begin = own.first + count * t / threads;
    const int64_t end = own.first + count * (t + 1) / threads;
    for (int64_t front = begin - more; front < end + more; front++) {
        for (int p = 0; p < j->count; p++) {
            const int64_t plane = front - p;
            const planes of = planes_of(j, p);
            const int64_t from = t > 0 ? begin + gap_of(j, p) : of.first;
            const int64_t to = t + 1 < threads ? end - p : of.end;
            if (plane >= from && plane < to) {
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

void mg_pass(const mg *m, int l, int count, int more, bool wraps, mg_work *work, void *data,
             int threads) {
    const mg_level *v = &m->level[l];
    const int slow = m->box.dims - 1;
    const job j = {m, l, count, more, wraps, .work = work, .data = data};
    const planes own = planes_with(&j, 0);
    const int64_t height = own.end - own.first;
    const int used = v->n[0] * (own.high - own.low) * height > MG_ALONE ? threads : 1;
    const bool around = m->box.periodic >> slow & 1u && !v->sides[slow];
    const bool wave = !around && (used == 1 || height / used >= 2 * (count + REACH));
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
    int corrected; /* planes and rows at each end beside another rank, which have been */
} passes;

/* The first row of the next level that needs fine row i, or later ones, to be complete. */
static int64_t first_after(const mg_level *v, int axis, int64_t i) {
    return i == v->n[axis] ? v[1].n[axis] : v->half[axis] ? i / 2 : i;
}

/* Whether a row lies so far inside of this rank's own. */
static bool mg_cycle_is_inside(const mg_level *v, int far, int64_t y, int64_t z) {
    const int64_t at[3] = {0, y, z};
    bool inside = true;
    for (int a = 1; a < 3; a++) {
        inside = inside && at[a] >= v->own.lo[a] + (v->sides[a] & MG_BELOW ? far : 0) &&
                 at[a] < v->own.hi[a] - (v->sides[a] & MG_ABOVE ? far : 0);
    }
    return inside;
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
        if (!v->divided || mg_cycle_is_inside(v, p->corrected, y, z)) {
            loops->correct(m, p->level, y, z, scratch);
        }
        break;
    case 't': /* the next rows have passed the sweeps */
        for (int64_t k = first_after(v, 2, z); k < first_after(v, 2, z + 1); k++) {
            for (int64_t j = first_after(v, 1, y); j < first_after(v, 1, y + 1); j++) {
                if (mg_cycle_is_inside(v + 1, 0, j, k)) {
                    loops->take_residual(m, p->level, j, k, scratch);
                }
            }
        }
        break;
    default:
        loops->relax(m, p->level, p->what[pass] == 'b', p->omega, y, z);
    }
}

/* What comes along y has no periodic images along z where planes are not divided. */
static void spread_e(const mg *m, int l) {
    const job images = {m, l, .wraps = true};
    mg_spread(m, l, m->level[l].e, m->box.single ? 4 : 8, MG_HALO);
    if (m->box.dims == 3) {
        copy_images(&images, 2, 0);
    }
}

/* Corrects the planes and rows that ranks beside need, and sends them. */
static void correct_ends(passes *p, int threads) {
    const mg *m = p->m;
    const mg_level *v = &m->level[p->level];
    const job j = {m, p->level, .count = 1, .wraps = true, .work = work, .data = p};
#pragma omp parallel for schedule(static) collapse(2) num_threads(threads)
    for (int64_t z = v->own.lo[2]; z < v->own.hi[2]; z++) {
        for (int64_t y = v->own.lo[1]; y < v->own.hi[1]; y++) {
            if (!mg_cycle_is_inside(v, MG_HALO, y, z)) {
                m->box.dims == 3 ? do_row(&j, 0, z, y) : do_row(&j, 0, y, 0);
            }
        }
    }
    for (int64_t z = v->own.lo[2]; z < v->own.hi[2] && m->box.dims == 3; z++) {
        copy_images(&j, 1, z);
    }
    spread_e(m, p->level);
    p->corrected = MG_HALO;
}

static void run(const mg *m, int l, const char *what, double omega, int threads) {
    const mg_level *v = &m->level[l];
    passes p = {m, mg_loops_of(m), l, what, omega, 0};
    if (mg_meets(m, v)) { /* no rank can do another's cells */
        for (; *p.what; p.what++) {
            mg_pass(m, l, 1, *p.what == 't', true, work, &p, threads);
            spread_e(m, l);
        }
    } else {
        if (v->divided && *what == 'c') {
            correct_ends(&p, threads);
        }
        mg_pass(m, l, (int)strlen(what), 1, true, work, &p, threads);
    }
    if (strchr(what, 't')) {
        mg_spread(m, l + 1, v[1].f, m->box.single ? 4 : 8, MG_HALO);
    }
}

/* A V-cycle from level l, where it begins with `first`. */
static void cycle(const mg *m, int l, const char *first, int threads) {
    const int last = m->count - 1;
    for (int k = l; k < last; k++) {
        run(m, k, k == l ? first : "0rbrbt", m->level[k].omega, threads);
    }
    run(m, last, "0rb", 1, threads); /* a single cell */
    for (int k = last - 1; k >= l; k--) {
        run(m, k, mg_jumps(&m->box) ? "cbrbr" : "crbrb", m->level[k].omega, threads);
    }
}

void mg_cycle(const mg *m, bool full, int threads) {
    int first = 0;
    mg_spread(m, 0, m->level[0].f, m->box.single ? 4 : 8, MG_HALO);
    for (; full && !mg_is_coarse(m, first); first++) {
        run(m, first, "0t", 1, threads);
    }
    cycle(m, first, "0rbrbt", threads);
    for (int k = first - 1; k >= 0; k--) {
        cycle(m, k, "crbrbt", threads);
    }
}

void mg_sweep(const mg *m, double omega, int threads) {
    mg_spread(m, 0, m->level[0].f, m->box.single ? 4 : 8, 2);
    run(m, 0, "0rb", omega, threads);
}
