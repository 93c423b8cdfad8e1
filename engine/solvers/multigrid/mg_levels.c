/* mg_levels.c -- the levels of a multigrid: their shapes, tables along axes, and coefficients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/multigrid/multigrid.h"

/* Axes whose neighbours are coupled less than this part of the strongest are not halved: where
 * coupling is weak, smoothing does not reach. */
static const double weakest = 0.3;

/* ---- shapes ---- */

static bool has_end_nodes(const mg_box *box, int axis) {
    return box->nodes && !(box->periodic >> axis & 1u);
}

/* Whether coarser levels have some of the nodes. Bodies that jump join nodes as they do cells. */
static bool picks_nodes(const mg_box *box) {
    return box->nodes && !mg_jumps(box);
}
static bool picks_end_nodes(const mg_box *box, int axis) {
    return has_end_nodes(box, axis) && picks_nodes(box);
}

/* Whether the next level keeps both of the last two nodes. Of an even number of nodes it has every
 * second one and the last. Unless that is fixed, the one before it is left out, since two nodes so
 * close would be smoothed as one. */
static bool keeps_both(const mg_box *box, int axis, int64_t n) {
    return picks_end_nodes(box, axis) && n % 2 == 0 && n > 2 && isinf(box->h[2 * axis + 1]);
}

/* The cells of the next level along a halved axis. Of an odd number of nodes around an axis the
 * last is left out. */
static int64_t half_of(const mg_box *box, int axis, int64_t n) {
    return keeps_both(box, axis, n)                                 ? n / 2 + 1
           : picks_nodes(box) && !has_end_nodes(box, axis) && n > 2 ? n / 2
                                                                    : (n + 1) / 2;
}

static int64_t mg_levels_aligned(int64_t count) {
    return (count + MG_ALIGNED - 1) / MG_ALIGNED * MG_ALIGNED;
}

static void lay_out(mg_level *v, int dims) {
    v->stride[0] = 1;
    v->stride[1] = mg_levels_aligned(v->n[0] + 1) + MG_ALIGNED;
    v->stride[2] = 0;
    v->first = MG_ALIGNED;
    const sel_patch patch = mg_patch(v, 0);
    for (int a = 1; a < dims; a++) {
        const int halo = v->sides[a] ? MG_HALO : 1;
        v->lead = v->first;
        v->first += (halo - patch.lo[a]) * v->stride[a];
        v->elements = (sel_patch_cells(&patch, a) + 2 * halo) * v->stride[a];
        v->stride[2] = dims == 3 && a == 1 ? v->elements : v->stride[2];
    }
    v->elements += MG_ALIGNED;
}

/* Decides which axes are halved; false: none can be. */
static bool halve(mg_level *v, const mg_box *box, double coupling[3], mg_level *next) {
    double most = 0;
    bool any = false;
    for (int a = 0; a < box->dims; a++) {
        most = v->n[a] > 1 ? fmax(most, coupling[a]) : most;
    }
    for (int a = 0; a < 3; a++) {
        v->half[a] = a < box->dims && v->n[a] > 1 && coupling[a] >= weakest * most;
        next->n[a] = v->half[a] ? half_of(box, a, v->n[a]) : v->n[a];
        coupling[a] /= v->half[a] ? 4 : 1;
        any = any || v->half[a];
    }
    return any;
}

/* Elements of the tables of a level. */
static int64_t tables_of(const mg *m, int l) {
    const mg_level *v = &m->level[l], *next = l + 1 < m->count ? v + 1 : v;
    int64_t sum = 0;
    for (int a = 0; a < 3; a++) {
        sum += MG_RESIDUAL * mg_levels_aligned(v->n[a]) + mg_levels_aligned(3 * next->n[a]);
    }
    return sum;
}

void mg_list(mg *m, const mg_box *box, int threads, sel_arrays *arrays) {
    const sel_type type = {'f', box->single ? 4 : 8}, f64 = {'f', 8};
    double coupling[3] = {0};
    int64_t elements = 0, tables = 0;
    *m = (mg){.box = *box, .count = 1};
    for (int a = 0; a < 3; a++) {
        m->level[0].n[a] = a < box->dims ? box->n[a] : 1;
        coupling[a] = box->k[a] / (box->dx[a] * box->dx[a]);
    }
    while (m->count < MG_MOST_LEVELS &&
           halve(&m->level[m->count - 1], box, coupling, &m->level[m->count])) {
        m->count++;
    }
    mg_divide(m, arrays, threads == 0);
    for (int l = 0; l < m->count; l++) {
        mg_level *v = &m->level[l];
        const bool all = v->half[0] && v->half[1] && (box->dims < 3 || v->half[2]);
        v->omega = all && !mg_jumps(box) ? MG_OMEGA : 1;
        lay_out(v, box->dims);
        elements += v->elements;
        tables += tables_of(m, l);
    }
    sel_arrays_add(arrays, "multigrid e", &m->e, type, elements, 0);
    sel_arrays_add(arrays, "multigrid f", &m->f, type, elements, 0);
    if (threads == 0 && box->single && box->even && !box->periodic) {
        sel_arrays_add(arrays, "multigrid e before corrections", &m->before, type, elements, 0);
    }
    sel_arrays_add(arrays, "multigrid tables", &m->tables, type, tables, 0);
    sel_arrays_add(arrays, "multigrid outer tables", &m->outer, f64,
                   4 * (m->level[0].n[0] + m->level[0].n[1] + m->level[0].n[2]), 0);
    sel_arrays_add(arrays, "multigrid scratch", &m->scratch, f64, threads * mg_scratch(m), 0);
    for (int a = 0; a < box->dims && !box->even; a++) {
        sel_arrays_add(arrays, "multigrid faces", &m->g[a], type, elements, 0);
    }
    sel_arrays_add(arrays, "multigrid diagonal", &m->d, type, box->even ? 0 : elements, 0);
}

/* ---- an axis of a level ---- */

typedef struct axis {
    int64_t n;
    bool periodic;
    double length, k, h[2]; /* conductances to its ends */
    double *x, *width;      /* places, and lengths that belong to them; room for the finest level */
    double *table[MG_TABLES];
} axis;

/* The place of cell i, or of its image beyond a periodic end. */
static double mg_levels_place_of(const axis *of, int64_t i) {
    return i < 0        ? of->x[i + of->n] - of->length
           : i >= of->n ? of->x[i - of->n] + of->length
                        : of->x[i];
}

/* Per area, to the law beyond an end (0: low) from a cell; infinite: the cell lies on a fixed
 * surface. */
static double to_end(const axis *of, int end, double x) {
    const double h = of->h[end], distance = end ? of->length - x : x;
    return of->periodic || h == 0 ? 0 : 1 / (1 / h + distance / of->k);
}

static bool is_fixed(const axis *of, int64_t i) {
    return isinf(to_end(of, 0, of->x[i])) || isinf(to_end(of, 1, of->x[i]));
}

static void make_first(axis *of, const mg_box *box, int a) {
    const bool ends = has_end_nodes(box, a);
    of->n = a < box->dims ? box->n[a] : 1;
    of->periodic = box->periodic >> a & 1u;
    of->k = box->k[a];
    of->length = (double)(of->n - ends) * box->dx[a];
    of->h[0] = box->h[2 * a];
    of->h[1] = box->h[2 * a + 1];
    for (int64_t i = 0; i < of->n; i++) {
        const bool border = ends && (i == 0 || i == of->n - 1);
        of->x[i] = ((double)i + (box->nodes ? 0 : 0.5)) * box->dx[a];
        of->width[i] = box->dx[a] * (border ? 0.5 : 1);
    }
}

/* The cell or node of which the coarser cell i is made: of cells the lower one. */
static int64_t fine_of(const axis *fine, bool ends, int64_t i) {
    const bool last = 2 * i + (isinf(fine->h[1]) ? 0 : 2) >= fine->n;
    return ends && fine->n == 2 ? is_fixed(fine, 0) : ends && last ? fine->n - 1 : 2 * i;
}

/* Places and widths of the next level. */
static void make_half(const axis *fine, const mg_box *box, int a, axis *to) {
    const bool ends = picks_end_nodes(box, a);
    double *const x = to->x, *const width = to->width;
    *to = *fine;
    to->x = x;
    to->width = width;
    to->n = half_of(box, a, fine->n);
    for (int64_t i = 0; i < to->n; i++) {
        const int64_t k = fine_of(fine, ends, i);
        const bool pair = !picks_nodes(box) && k + 1 < fine->n;
        x[i] = pair ? fine->x[k] - fine->width[k] / 2 + (fine->width[k] + fine->width[k + 1]) / 2
                    : fine->x[k];
        width[i] = fine->width[k] + (pair ? fine->width[k + 1] : 0);
    }
    for (int64_t i = 0; i < to->n && picks_nodes(box); i++) {
        const bool low = i > 0 || fine->periodic, high = i + 1 < to->n || fine->periodic;
        width[i] = (low ? x[i] - mg_levels_place_of(to, i - 1) : 2 * x[i]) / 2 +
                   (high ? mg_levels_place_of(to, i + 1) - x[i] : 2 * (to->length - x[i])) / 2;
        if (ends && fine->n == 2 && is_fixed(fine, 0) + is_fixed(fine, 1) > 0) {
            width[i] = fine->width[fine_of(fine, ends, i)]; /* its own, the other is known */
        }
    }
}

/* The couplings; of bodies that are not even only what interpolation needs is used. */
static void fill_operator(const axis *of) {
    for (int64_t i = 0; i < of->n; i++) {
        const double *x = of->x;
        const bool low = of->n > 1 && (i > 0 || of->periodic);
        const bool high = of->n > 1 && (i + 1 < of->n || of->periodic);
        const double scale = of->k / of->width[i];
        const double g_low = low ? scale / (x[i] - mg_levels_place_of(of, i - 1)) : 0;
        const double g_high = high ? scale / (mg_levels_place_of(of, i + 1) - x[i]) : 0;
        double ends = 0;
        for (int end = 0; end < 2 && !is_fixed(of, i); end++) {
            ends += i == (end ? of->n - 1 : 0) ? to_end(of, end, x[i]) / of->width[i] : 0;
        }
        of->table[MG_LOW][i] = is_fixed(of, i) ? 0 : g_low;
        of->table[MG_HIGH][i] = is_fixed(of, i) ? 0 : g_high;
        of->table[MG_MIDDLE][i] = g_low + g_high + ends;
    }
}

/* The weight of the cell that i belongs to where there is no other: the correction is linear up to
 * a surface that conducts. */
static double weight_at_end(const axis *fine, const axis *coarse, int64_t i, int64_t own) {
    const int end = i >= fine->n / 2;
    const double h = fine->h[end], k = fine->k;
    const double from = end ? fine->length - fine->x[i] : fine->x[i];
    const double to = end ? fine->length - coarse->x[own] : coarse->x[own];
    return fine->periodic || h == 0 || from == to ? 1 : (1 / h + from / k) / (1 / h + to / k);
}

static void fill_transfer(const axis *fine, const axis *coarse, const mg_box *box, bool halved,
                          bool ends) {
    double *const *t = fine->table;
    for (int64_t i = 0; i < fine->n; i++) {
        const int64_t own = halved ? i >> 1 : i, beside = own + (i & 1 ? 1 : -1);
        const bool lone = ends && fine->n == 2;
        const bool there = coarse->n > 1 && (fine->periodic || (beside >= 0 && beside < coarse->n));
        t[MG_OWN][i] = 1;
        t[MG_OTHER][i] = 0;
        if (mg_jumps(box)) {
            continue;
        }
        if (halved && there && !lone) {
            const double from = mg_levels_place_of(coarse, own);
            t[MG_OTHER][i] = (fine->x[i] - from) / (mg_levels_place_of(coarse, beside) - from);
            t[MG_OWN][i] = 1 - t[MG_OTHER][i];
        } else if (halved) {
            t[MG_OWN][i] = lone ? !is_fixed(fine, i) : weight_at_end(fine, coarse, i, own);
        }
    }
    for (int64_t i = 0; i < coarse->n; i++) {
        for (int k = 0; k < 3; k++) {
            const int64_t j = halved ? 2 * i + k - 1 : i + k - 1;
            const int64_t at = (j + fine->n) % fine->n;
            const bool there = j >= 0 || fine->periodic;
            double weight = k == 1 ? 1 : 0;
            if (halved && j < fine->n && there) {
                const bool left_out =
                    ends ? j == fine->n - 2 && j == 2 * i && j > 0 && !isinf(fine->h[1])
                         : picks_nodes(box) && fine->n % 2 && (j < 0 || j == fine->n - 2);
                weight = left_out            ? 1
                         : !picks_nodes(box) ? k > 0
                                             : t[k == 0 ? MG_OTHER : MG_OWN][at];
            } else if (halved) {
                weight = 0;
            }
            weight *= box->even ? fine->width[at] / coarse->width[i] : 1;
            t[MG_RESIDUAL][3 * i + k] = box->even && is_fixed(coarse, i) ? 0 : weight;
        }
    }
}

/* ---- coefficients of bodies that are not even, on the host ---- */

typedef struct faces {
    double *K[3], *near, *far, *d; /* laid out as the level */
} faces;

static void faces_free(faces *of) {
    free(of->K[0]);
    of->K[0] = NULL;
}

static sel_status faces_allocate(faces *of, const mg_level *v, sel_error *error) {
    const size_t each = (size_t)v->elements;
    double *all = calloc(6 * each, sizeof *all);
    of->K[0] = all; /* the others stand behind it */
    of->K[1] = all + each;
    of->K[2] = all + 2 * each;
    of->near = all + 3 * each;
    of->far = all + 4 * each;
    of->d = all + 5 * each;
    return of->K[0] ? SEL_OK : sel_fail_memory(error, "the coefficients", 6 * each * sizeof *all);
}

static int64_t mg_levels_place(const mg_level *v, int64_t x, int64_t y, int64_t z) {
    return v->first + x + y * v->stride[1] + z * v->stride[2];
}

static void complete_cell(const mg_level *v, faces *of, int dims, int a, int64_t i) {
    double sum = of->near[i] + of->far[i];
    if (a < dims) {
        of->K[a][i] = v->n[a] > 1 ? of->K[a][i] : 0;
        of->K[a][i + v->n[a] * v->stride[a]] = of->K[a][i];
        return;
    }
    for (int b = 0; b < dims; b++) {
        sum += of->K[b][i] + of->K[b][i + v->stride[b]];
    }
    of->d[i] = of->d[i] > 0 ? sum : 0;
}

/* What ranks have found in their own planes is completed in those beside, too: by the coefficients
 * that stand in the halo, high faces of the last cells; and the diagonal where d marks with 1 that
 * e is sought. */
static void mg_levels_complete(const mg *m, int l, faces *of) {
    const mg_level *v = &m->level[l];
    const int dims = m->box.dims;
    double *const all[] = {of->near, of->far, of->d, of->K[0], of->K[1], of->K[2]};
    for (int k = 0; k < 3 + dims; k++) {
        mg_spread(m, l, all[k] + v->first, sizeof *all[k], MG_HALO);
    }
    for (int a = 0; a <= dims; a++) { /* low faces along the axes; the diagonal */
        sel_patch patch = mg_patch(v, MG_HALO - 1);
        if (a < dims) {
            patch.hi[a] = v->sides[a] ? patch.lo[a] : 1; /* the halo has them */
        }
        for (int64_t z = patch.lo[2]; z < patch.hi[2]; z++) {
            for (int64_t y = patch.lo[1]; y < patch.hi[1]; y++) {
                for (int64_t x = 0; x < patch.hi[0]; x++) {
                    complete_cell(v, of, dims, a, mg_levels_place(v, x, y, z));
                }
            }
        }
    }
}

/* The coupling of coarser cells through the low face of one, whose cells along the face's axis
 * begin at i - 1 and i: of cells that of the faces between them, as their distance grows; of nodes
 * that of all faces from one to the other in series. */
static double along(const mg *m, const mg_level *v, const faces *of, int a, const axis *fine,
                    const axis *coarse, int64_t i, int64_t at) {
    const bool ends = picks_end_nodes(&m->box, a);
    const int64_t before = (i + coarse->n - 1) % coarse->n, s = v->stride[a];
    const int64_t from = fine_of(fine, ends, before), to = fine_of(fine, ends, i);
    const int64_t around = v->sides[a] ? fine->n : 0; /* beyond the end */
    const double *x = coarse->x;
    double series = 0;
    if (!v->half[a]) {
        return of->K[a][at + i * s];
    }
    if (!picks_nodes(&m->box)) {
        return of->K[a][at + to * s] * ((fine->x[to] - mg_levels_place_of(fine, to - 1)) /
                                        (x[i] - mg_levels_place_of(coarse, i - 1)));
    }
    for (int64_t j = from; j != to;) {
        j = (j + 1) % fine->n;
        series += 1 / of->K[a][at + (j > to ? j - around : j) * s];
    }
    return 1 / series;
}

/* Whether e is sought in the cell beside cell j = `at` along an axis; in one beyond an end that is
 * not periodic, to which nothing is coupled. */
static bool sought_beside(const mg_level *v, const faces *of, int a, int64_t j, int64_t at,
                          int side) {
    const int64_t k = v->sides[a] ? j + side : mg_image(j + side, v->n[a]);
    return of->d[at + (k - j) * v->stride[a]] > 0;
}

/* What couples a node of a body that jumps to nodes beside it on fixed surfaces, with which it may
 * be joined. */
static double to_fixed(const mg *m, const mg_level *v, const faces *of, const int64_t j[3],
                       int64_t at) {
    double sum = 0;
    for (int a = 0; a < m->box.dims && m->box.nodes && mg_jumps(&m->box) && of->d[at] > 0; a++) {
        sum += sought_beside(v, of, a, j[a], at, -1) ? 0 : of->K[a][at];
        sum += sought_beside(v, of, a, j[a], at, 1) ? 0 : of->K[a][at + v->stride[a]];
    }
    return sum;
}

/* Coarser cell `at` of `to`. */
static void coarsen_cell(const mg *m, int l, const faces *of, const axis fine[3],
                         const axis coarse[3], const int64_t at[3], faces *to) {
    const mg_level *v = &m->level[l], *next = v + 1;
    const int64_t i = mg_levels_place(next, at[0], at[1], at[2]);
    int64_t main[3] = {0};
    int halved = 0;
    bool seeks = picks_nodes(&m->box);
    for (int a = 0; a < m->box.dims; a++) {
        halved += v->half[a];
        main[a] = v->half[a] ? fine_of(&fine[a], picks_end_nodes(&m->box, a), at[a]) : at[a];
    }
    const double far = pow(0.5, (double)halved / m->box.dims);
    for (int k = 0; k < (m->box.dims == 3 ? 27 : 9); k++) {
        const int child[3] = {k % 3, k / 3 % 3, k / 9};
        double weight[3] = {1, 1, 1}, all = 1;
        int64_t j[3] = {0};
        bool is_main = true;
        for (int a = 0; a < m->box.dims; a++) {
            const int64_t low = (v->half[a] ? 2 * at[a] : at[a]) + child[a] - 1;
            weight[a] = fine[a].table[MG_RESIDUAL][3 * at[a] + child[a]];
            all *= weight[a];
            j[a] = v->sides[a] ? low : (low + fine[a].n) % fine[a].n;
            is_main = is_main && j[a] == main[a];
        }
        if (all == 0) {
            continue;
        }
        const int64_t from = mg_levels_place(v, j[0], j[1], j[2]);
        to->near[i] += all * of->near[from];
        to->far[i] += all * far * (of->far[from] + to_fixed(m, v, of, j, from));
        seeks = picks_nodes(&m->box) ? seeks && (!is_main || of->d[from] > 0)
                                     : seeks || of->d[from] > 0;
        for (int a = 0; a < m->box.dims; a++) {
            const bool couples =
                !mg_jumps(&m->box) || (of->d[from] > 0 && sought_beside(v, of, a, j[a], from, -1));
            if (j[a] == main[a] && (at[a] > 0 || fine[a].periodic) && couples) {
                to->K[a][i] +=
                    weight[(a + 1) % 3] * weight[(a + 2) % 3] *
                    along(m, v, of, a, &fine[a], &coarse[a], at[a], from - j[a] * v->stride[a]);
            }
        }
    }
    to->d[i] = seeks;
}

static void coarsen(const mg *m, int l, const faces *of, const axis fine[3], const axis coarse[3],
                    int threads, faces *to) {
    const mg_level *v = &m->level[l + 1];
#pragma omp parallel for schedule(static) collapse(2) num_threads(threads)
    for (int64_t z = v->own.lo[2]; z < v->own.hi[2]; z++) {
        for (int64_t y = v->own.lo[1]; y < v->own.hi[1]; y++) {
            for (int64_t x = 0; x < v->n[0]; x++) {
                coarsen_cell(m, l, of, fine, coarse, (int64_t[]){x, y, z}, to);
            }
        }
    }
    mg_levels_complete(m, l + 1, to);
}

static void describe_cells(const mg *m, mg_describe *describe, const void *data, int threads,
                           faces *to) {
    const mg_level *v = &m->level[0];
#pragma omp parallel for schedule(static) collapse(2) num_threads(threads)
    for (int64_t z = v->own.lo[2]; z < v->own.hi[2]; z++) {
        for (int64_t y = v->own.lo[1]; y < v->own.hi[1]; y++) {
            for (int64_t x = 0; x < v->n[0]; x++) {
                const int64_t i = mg_levels_place(v, x, y, z);
                mg_cell cell = {.seeks = false};
                describe(data, (z * v->n[1] + y) * v->n[0] + x, &cell);
                for (int a = 0; a < m->box.dims; a++) {
                    to->K[a][i] = cell.K[a];
                }
                to->near[i] = cell.near;
                to->far[i] = cell.far;
                to->d[i] = cell.seeks;
            }
        }
    }
    mg_levels_complete(m, 0, to);
}

/* ---- all levels ---- */

/* Converts to the type of the multigrid and sends; `at`: the first element of the array. */
static sel_status mg_levels_send(const mg *m, const sel_arrays *arrays, void *array, int64_t at,
                                 const double *values, int64_t count, sel_error *error) {
    const sel_type type = {'f', m->box.single ? 4 : 8};
    char *converted = malloc((size_t)count * type.size + 1);
    if (!converted) {
        return sel_fail_memory(error, "the multigrid", (size_t)count * type.size);
    }
    for (int64_t k = 0; k < count; k++) {
        sel_put(converted, type, k, values[k]);
    }
    sel_status status = sel_arrays_send(arrays, (char *)array + at * type.size, converted,
                                        (size_t)count * type.size, error);
    free(converted);
    return status;
}

static sel_status send_faces(mg *m, int l, const sel_arrays *arrays, int64_t at, const faces *of,
                             sel_error *error) {
    const int64_t count = m->level[l].elements;
    sel_status status = mg_levels_send(m, arrays, m->d, at, of->d, count, error);
    for (int a = 0; a < m->box.dims && !status; a++) {
        status = mg_levels_send(m, arrays, m->g[a], at, of->K[a], count, error);
    }
    const mg_level *v = &m->level[l];
    for (int64_t z = v->own.lo[2]; z < v->own.hi[2] && l == 0; z++) {
        for (int64_t y = v->own.lo[1]; y < v->own.hi[1]; y++) {
            for (int64_t x = 0; x < v->n[0]; x++) {
                m->norm = fmax(m->norm, 2 * of->d[mg_levels_place(v, x, y, z)]);
            }
        }
    }
    return status;
}

static void point_to(mg *m, int l, int64_t at) {
    const int size = m->box.single ? 4 : 8;
    mg_level *v = &m->level[l];
    const int64_t first = (at + v->first) * size;
    v->e = (char *)m->e + first;
    v->f = (char *)m->f + first;
    v->before = m->before ? (char *)m->before + first : NULL;
    v->d = m->d ? (char *)m->d + first : NULL;
    for (int a = 0; a < 3; a++) {
        v->g[a] = m->g[a] ? (char *)m->g[a] + first : NULL;
    }
}

/* The tables of the finest level in double precision. */
static sel_status send_outer(mg *m, const sel_arrays *arrays, const axis of[3], sel_error *error) {
    double *to = m->outer, middle = 0;
    sel_status status = SEL_OK;
    for (int a = 0; a < 3 && !status; a++) {
        const int64_t n = of[a].n;
        double *part = malloc((size_t)n * sizeof *part), most = 0;
        const double *from[4] = {of[a].table[MG_LOW], of[a].table[MG_HIGH], of[a].table[MG_MIDDLE],
                                 part};
        double **const into[4] = {&m->low[a], &m->high[a], &m->middle[a], &m->part[a]};
        if (!part) {
            return sel_fail_memory(error, "the multigrid", (size_t)n * sizeof *part);
        }
        for (int64_t i = 0; i < n; i++) {
            const bool fixed = m->box.even && is_fixed(&of[a], i);
            part[i] = a >= m->box.dims ? 1 : fixed ? 0 : of[a].width[i] / m->box.dx[a];
            most = fmax(most, from[2][i]);
        }
        for (int k = 0; k < 4 && !status; k++, to += n) {
            *into[k] = to;
            status = sel_arrays_send(arrays, to, from[k], (size_t)n * sizeof *to, error);
        }
        middle += most;
        free(part);
    }
    m->norm = m->box.even ? 2 * middle : 0;
    return status;
}

/* The tables of level l, whose axes are `fine`. */
static sel_status mg_levels_send_tables(mg *m, int l, const sel_arrays *arrays, int64_t *at,
                                        const axis fine[3], const axis coarse[3],
                                        sel_error *error) {
    const int size = m->box.single ? 4 : 8;
    sel_status status = SEL_OK;
    for (int a = 0; a < 3; a++) {
        fill_operator(&fine[a]);
        fill_transfer(&fine[a], &coarse[a], &m->box, m->level[l].half[a],
                      a < m->box.dims && picks_end_nodes(&m->box, a));
        for (int64_t i = 0; i < fine[a].n && a == 0; i++) {
            fine[a].table[MG_MIDDLE][i] += m->box.mass;
        }
        for (int k = 0; k < MG_TABLES && !status; k++) {
            const int64_t count = k == MG_RESIDUAL ? 3 * coarse[a].n : fine[a].n;
            m->level[l].table[a][k] = (char *)m->tables + *at * size;
            status = mg_levels_send(m, arrays, m->tables, *at, fine[a].table[k], count, error);
            *at += mg_levels_aligned(count);
        }
    }
    return status || l > 0 ? status : send_outer(m, arrays, fine, error);
}

static sel_status mg_levels_fill(mg *m, const sel_arrays *arrays, mg_describe *describe,
                                 const void *data, int threads, axis axes[2][3], sel_error *error) {
    faces now = {.d = NULL}, next = {.d = NULL};
    int64_t at = 0, tables = 0;
    sel_status status = m->box.even ? SEL_OK : faces_allocate(&now, &m->level[0], error);
    status = sel_ranks_agree(m->ranks, status, error);
    if (!status && !m->box.even) {
        describe_cells(m, describe, data, threads, &now);
    }
    for (int a = 0; a < 3; a++) {
        make_first(&axes[0][a], &m->box, a);
    }
    for (int l = 0; l < m->count && !status; l++) {
        axis *fine = axes[l % 2], *coarse = axes[(l + 1) % 2];
        const bool last = l + 1 == m->count;
        for (int a = 0; a < 3; a++) {
            if (m->level[l].half[a] && !last) {
                make_half(&fine[a], &m->box, a, &coarse[a]);
            } else {
                axis same = fine[a];
                same.x = coarse[a].x;
                same.width = coarse[a].width;
                for (int64_t i = 0; i < same.n; i++) {
                    same.x[i] = fine[a].x[i];
                    same.width[i] = fine[a].width[i];
                }
                coarse[a] = same;
            }
        }
        point_to(m, l, at);
        status = mg_levels_send_tables(m, l, arrays, &tables, fine, coarse, error);
        if (!m->box.even) {
            status = status ? status : send_faces(m, l, arrays, at, &now, error);
            status = status || last ? status : faces_allocate(&next, &m->level[l + 1], error);
            status = sel_ranks_agree(m->ranks, status, error);
            if (!status && !last) {
                coarsen(m, l, &now, fine, coarse, threads, &next);
            }
            faces_free(&now);
            now = next;
            next.K[0] = NULL;
        }
        at += m->level[l].elements;
    }
    faces_free(&now);
    faces_free(&next);
    return status;
}

sel_status mg_start(mg *m, const sel_arrays *arrays, mg_describe *describe, const void *data,
                    int threads, sel_error *error) {
    axis axes[2][3] = {{{.n = 0}}};
    int64_t most = 1;
    for (int a = 0; a < 3; a++) {
        most = m->level[0].n[a] > most ? m->level[0].n[a] : most;
    }
    /* Room for places and widths of both levels, and for the tables, which they share. */
    const int64_t each = (4 + MG_TABLES + 2) * most + 8;
    double *memory = calloc((size_t)(3 * each), sizeof *memory);
    sel_status status =
        memory ? SEL_OK
               : sel_fail_memory(error, "the multigrid", (size_t)(3 * each) * sizeof *memory);
    status = sel_ranks_agree(m->ranks, status, error);
    for (int a = 0; a < 3 && !status; a++) {
        for (int k = 0; k < 2; k++) {
            axes[k][a].x = memory + a * each + 2 * k * most;
            axes[k][a].width = axes[k][a].x + most;
        }
        for (int k = 0; k < MG_TABLES; k++) {
            axes[0][a].table[k] = axes[1][a].table[k] = memory + a * each + (4 + k) * most;
        }
    }
    status = status ? status : mg_levels_fill(m, arrays, describe, data, threads, axes, error);
    free(memory);
    return status;
}
