/* domain.c -- the cells of a domain: their centres, values of quantities there, marks and counts.
 */
#include "engine/scene/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"

/* ---- places ---- */

int64_t sel_free_cell(const sel_domain *domain, int64_t x, int64_t y) {
    const sel_grid *grid = &domain->grid;
    int64_t at[2] = {x, y};
    for (int a = 0; a < 2; a++) {
        if (sel_axis_periodic(grid, a)) {
            at[a] = sel_wrapped(grid, a, at[a]);
        } else if (at[a] < 0 || at[a] >= grid->n[a]) {
            return -1;
        }
    }
    const int64_t cell = at[1] * grid->n[0] + at[0];
    return domain->cell[cell] == 0 ? cell : -1;
}

unsigned sel_domain_due(const sel_domain *domain, double *kept) {
    const size_t bytes = (size_t)domain->control_count * sizeof *kept;
    if (bytes == 0 || memcmp(kept, domain->control_values, bytes) == 0) {
        return SEL_ON_T;
    }
    memcpy(kept, domain->control_values, bytes);
    return SEL_ON_T | SEL_ON_CONTROLS;
}

sel_places sel_domain_at(const sel_domain *domain, int64_t n, const double *x, const double *y,
                         const double *z, double t) {
    const double *third = domain->grid.dims == 3 ? z : NULL;
    return (sel_places){(size_t)n, x, y, third, t, domain->control_values, NULL};
}

int64_t sel_domain_places(const sel_domain *domain, int64_t first, int64_t end,
                          const bool wanted[SEL_REGION_NUMBERS], double *x, double *y, double *z) {
    const sel_grid *grid = &domain->grid;
    int64_t n = 0;
    for (int64_t row = first; row < end; row++) {
        const uint8_t *region = domain->cell + row * grid->n[0];
        const double at_y = sel_centre(grid, 1, (double)(row % grid->n[1]));
        const double at_z = sel_centre(grid, 2, (double)(row / grid->n[1]));
        for (int64_t i = 0; i < grid->n[0]; i++) {
            if (!wanted || wanted[region[i]]) {
                x[n] = sel_centre(grid, 0, (double)i);
                y[n] = at_y;
                z[n++] = at_z;
            }
        }
    }
    return n;
}

/* ---- quantities at cells ---- */

enum { EVALUATED_AT_ONCE = 1 << 15 }; /* cells per thread */

/* Scratch doubles per cell besides the components: x, y, z, and room for the byte of the gap.
 *
 *     thread 0                                         thread 1
 *     | x | y | z | value [components] | gap (bytes) | x | y | ...
 *      cells each
 */
enum { OF_PLACE = 4 };

typedef struct evaluation {
    const sel_domain *domain;
    const sel_evaluation *asked;
    const bool *wanted;
    int64_t end, rows; /* end of all rows; rows per part */
    double *scratch;   /* of all threads */
    double *to;
} evaluation;

/* Sets gap[i] of each place and removes the places that are gaps. */
static sel_status leave_out_gaps(const sel_quantity *q, sel_places *at, double *x, double *y,
                                 double *z, uint8_t *gap, sel_error *error) {
    const size_t n = at->n;
    sel_status status = sel_quantity_gaps(q, at, gap, error);
    at->n = 0;
    for (size_t i = 0; i < n && !status; i++) {
        x[at->n] = x[i];
        y[at->n] = y[i];
        z[at->n] = z[i];
        at->n += !gap[i];
    }
    return status;
}

/* Evaluates one part of the rows; a sel_part. */
static sel_status evaluate_part(void *task, int64_t part, int thread, sel_error *error) {
    const evaluation *e = task;
    const sel_evaluation *asked = e->asked;
    const sel_domain *domain = e->domain;
    const int components = asked->quantity->components;
    const int64_t nx = domain->grid.n[0], cells = e->rows * nx;
    const int64_t apart = asked->apart ? asked->apart : components * nx;
    const int64_t first = asked->first + part * e->rows;
    const int64_t end = first + e->rows < e->end ? first + e->rows : e->end;
    double *x = e->scratch + thread * (OF_PLACE + components) * cells, *y = x + cells;
    double *z = y + cells, *value = z + cells;
    uint8_t *gap = (uint8_t *)(value + components * cells);
    const int64_t n = sel_domain_places(domain, first, end, e->wanted, x, y, z);
    sel_places at = sel_domain_at(domain, n, x, y, z, asked->t);
    at.random = asked->random;
    sel_status status = SEL_OK;
    if (asked->gaps && n) {
        status = leave_out_gaps(asked->quantity, &at, x, y, z, gap, error);
    }
    if (!status && at.n) {
        status = sel_quantity_eval(asked->quantity, asked->what, &at, value, error);
    }
    for (int c = 0; c < components && !status; c++) {
        const uint8_t *next_gap = gap;
        for (int64_t row = first; row < end; row++) {
            const uint8_t *region = domain->cell + row * nx;
            double *to = e->to + (row - asked->first) * apart + c * nx;
            for (int64_t i = 0; i < nx; i++) {
                const bool wanted = e->wanted[region[i]];
                const bool is_gap = wanted && asked->gaps && *next_gap++;
                to[i] = !wanted ? 0 : is_gap ? (double)NAN : *value++;
            }
        }
    }
    return sel_fail_in_cell(error, status, first * nx);
}

int64_t sel_domain_rows_at_once(const sel_domain *domain, int threads) {
    enum { PER_THREAD = 4 * EVALUATED_AT_ONCE, MOST = 64 * EVALUATED_AT_ONCE };
    const int64_t wanted = (int64_t)(threads > 0 ? threads : 1) * PER_THREAD;
    return (wanted < MOST ? wanted : MOST) / domain->grid.n[0] + 1;
}

sel_status sel_domain_evaluate(const sel_domain *domain, const sel_evaluation *asked, int threads,
                               double *to, sel_error *error) {
    static const bool free_cells[SEL_REGION_NUMBERS] = {true};
    const int64_t nx = domain->grid.n[0], all = domain->grid.n[1] * domain->grid.n[2];
    evaluation e = {.domain = domain,
                    .asked = asked,
                    .wanted = asked->wanted ? asked->wanted : free_cells,
                    .end = asked->end ? asked->end : all,
                    .to = to};
    const int64_t rows = e.end - asked->first;
    threads = threads > 0 ? threads : 1;
    e.rows = nx < EVALUATED_AT_ONCE ? EVALUATED_AT_ONCE / nx : 1;
    e.rows = e.rows < rows ? e.rows : rows;
    const int64_t numbers = threads * (OF_PLACE + asked->quantity->components) * e.rows * nx;
    const size_t bytes = (size_t)numbers * sizeof *e.scratch;
    e.scratch = malloc(bytes);
    sel_status status =
        e.scratch ? sel_share_out((rows + e.rows - 1) / e.rows, threads, evaluate_part, &e, error)
                  : sel_fail_memory(error, "evaluating a quantity", bytes);
    free(e.scratch);
    return status;
}

/* ---- marks ---- */

/* The last painted region of the face sites that a cell touches; 0: it touches no face. */
static uint8_t face_region(const sel_domain *domain, const int64_t at[3]) {
    const sel_grid *grid = &domain->grid;
    uint8_t latest = 0;
    for (int f = 0; f < 2 * grid->dims; f++) {
        if (domain->face[f] && at[f / 2] == (f % 2 ? grid->n[f / 2] - 1 : 0)) {
            uint8_t region = domain->face[f][sel_face_site(grid, f, at)];
            latest = region > latest ? region : latest;
        }
    }
    return latest;
}

void sel_domain_cells(const sel_domain *domain, const sel_box *box, const sel_cell_marks *to) {
    const sel_grid *grid = &domain->grid;
    const int64_t last[3] = {grid->n[0] - 1, grid->n[1] - 1, grid->n[2] - 1};
    int64_t at[3], k = 0;
    for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2] += box->stride[2]) {
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1] += box->stride[1]) {
            /* Away from the faces across y and z only the ends of a row touch a face. */
            const bool inner =
                at[1] > 0 && at[1] < last[1] && (grid->dims == 2 || (at[2] > 0 && at[2] < last[2]));
            const int64_t start[3] = {0, at[1], at[2]};
            const int64_t first = sel_cell_number(grid, start);
            const uint8_t *row = domain->cell + first, *painted = sel_domain_painted(domain);
            for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0] += box->stride[0], k++) {
                const uint8_t region = row[at[0]];
                const bool away = inner && at[0] > 0 && at[0] < last[0];
                to->cell_type[k] = painted[first + at[0]];
                to->solid[k] = region != 0;
                to->boundary[k] = region || away ? 0 : face_region(domain, at);
            }
        }
    }
}

/* ---- kinds of cells ---- */

/* The kind of cell `at`, with a count of 0. *first: the first face that the cell touches. */
static sel_cell_kind kind_at(const sel_domain *domain, const int64_t at[3], int *first) {
    const sel_grid *grid = &domain->grid;
    sel_cell_kind kind = {.axes = 0};
    for (int axis = 2; axis >= 0; axis--) {
        int side = 0; /* 0: no face of the axis, 1: the lower one, or both, 2: the upper one */
        for (int face = 2 * axis + 1; face >= 2 * axis; face--) {
            if (domain->face[face] && at[axis] == (face % 2 ? grid->n[axis] - 1 : 0)) {
                kind.region[face] = domain->face[face][sel_face_site(grid, face, at)];
                side = face % 2 + 1;
                *first = face;
            }
        }
        kind.axes += side > 0;
        kind.place = 3 * kind.place + side;
    }
    return kind;
}

/* Adds to the count of a kind; a new kind is inserted in order. False: no memory. */
static bool count_cells(sel_census *census, sel_cell_kind kind, int64_t cells) {
    int k = 0;
    while (k < census->count && memcmp(census->kinds[k].region, kind.region, SEL_FACES) != 0) {
        k++;
    }
    if (k == census->count) {
        sel_cell_kind *v = realloc(census->kinds, ((size_t)k + 1) * sizeof *v);
        if (!v) {
            return false;
        }
        for (; k > 0 && (v[k - 1].axes > kind.axes ||
                         (v[k - 1].axes == kind.axes && v[k - 1].place > kind.place));
             k--) {
            v[k] = v[k - 1];
        }
        v[k] = kind;
        census->kinds = v;
        census->count++;
    }
    census->kinds[k].cells += cells;
    return true;
}

/* Counts a cell that touches several faces at the first of them; cells that touch none are the
 * rest of the free cells. */
static bool count_kinds(const sel_domain *domain, sel_census *census) {
    const sel_grid *grid = &domain->grid;
    int64_t at[3], inside = domain->free_cells;
    bool done = true;
    for (int face = 0; face < SEL_FACES; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(grid, face) && done; s++) {
            int first = face;
            sel_face_cell(grid, face, s, at);
            const sel_cell_kind kind = kind_at(domain, at, &first);
            if (first == face && domain->cell[sel_cell_number(grid, at)] == 0) {
                done = count_cells(census, kind, 1);
                inside--;
            }
        }
    }
    return done && (inside == 0 || count_cells(census, (sel_cell_kind){.axes = 0}, inside));
}

sel_status sel_census_take(const sel_domain *domain, sel_census *census, sel_error *error) {
    *census = (sel_census){.count = 0};
    for (int64_t i = 0; i < sel_grid_cells(&domain->grid); i++) {
        census->cells[sel_domain_painted(domain)[i]]++;
    }
    for (int f = 0; f < SEL_FACES; f++) {
        for (int64_t s = 0; domain->face[f] && s < sel_face_sites(&domain->grid, f); s++) {
            census->sites[f][domain->face[f][s]]++;
        }
    }
    return count_kinds(domain, census) ? SEL_OK : sel_fail_memory(error, "counting the cells", 0);
}

void sel_census_free(sel_census *census) {
    free(census->kinds);
    *census = (sel_census){.count = 0};
}
