/* query.c -- fields, sums and monitors of a state on the processor. */
#include "engine/core/cpu.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

double *sel_state_scratch(const sel_state *state) {
    return state->scratch + 3 * state->plan->domain->grid.n[0] * omp_get_thread_num();
}

/* sel_look.field */
static int query_read_field(const sel_look *look, const sel_state *state, int field, int64_t row,
                            int64_t x0, int64_t x1, const double **values) {
    if (!look->numbers || field > 0) {
        return look->field(state, field, row, x0, x1, values);
    }
    const void *from = sel_state_row(state, state->field[0].present, row);
    double *to = sel_state_scratch(state);
    *values = to;
    for (int64_t x = x0; x < x1; x++) {
        *to++ = sel_state_value(state, sel_get(from, state->field[0].type, x));
    }
    return 1;
}

/* Stores cell k of a row with `count` components as entry `at` of the request. */
static void query_store(const sel_request *request, const double *values, int64_t stride, int count,
                        int64_t k, bool solid, int64_t at) {
    for (int c = 0; c < request->components; c++) {
        const int64_t to = at * request->components + c;
        const double v = c < count && !solid ? values[c * stride + k] : 0;
        if (request->precision == SEL_F32) {
            ((float *)request->to)[to] = (float)v;
        } else {
            ((double *)request->to)[to] = v;
        }
    }
}

static void query_read_cells(const sel_look *look, sel_state *state, sel_request *request) {
    const int64_t nx = state->plan->domain->grid.n[0];
    int64_t own = 0;
    void *to = request->to;
    if (state->ranks->count > 1) {
        request->to = sel_ranks_memory(state->ranks, (size_t)request->cell_count *
                                                         sel_request_cell_bytes(request));
    }
    for (int64_t c = 0; c < request->cell_count; c++) {
        const int64_t row = request->cells[c] / nx, x = request->cells[c] % nx;
        const double *values;
        if (!sel_state_has(state, row)) {
            continue;
        }
        const int count = query_read_field(look, state, request->field, row, x, x + 1, &values);
        query_store(request, values, nx, count, 0, sel_state_solids(state, row)[x] != 0, own++);
    }
    if (state->ranks->count > 1) {
        void *found = request->to;
        request->to = to;
        sel_state_gather_read(state, request, found);
        free(found);
    }
}

static void read_box(const sel_look *look, sel_state *state, sel_request *request) {
    const sel_box *box = &request->box;
    const sel_ranks *ranks = state->ranks;
    const int64_t width = sel_box_count(box, 0);
    const int64_t nx = state->plan->domain->grid.n[0];
    const size_t row_bytes = (size_t)width * sel_request_cell_bytes(request);
    const sel_rows own = sel_state_part_rows(state, box, ranks->rank);
    if (ranks->rank > 0 && !request->stays) {
        request->to = sel_ranks_memory(ranks, (size_t)own.count * row_bytes);
    }
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t j = 0; j < own.count; j++) {
        const int64_t row = sel_row_of_box(state, box, sel_row_of(&own, j));
        const uint8_t *solid = sel_state_solids(state, row) + box->lo[0];
        const double *values;
        const int count =
            query_read_field(look, state, request->field, row, box->lo[0], box->hi[0], &values);
        for (int64_t i = 0; i < width; i++) {
            const int64_t k = i * box->stride[0];
            query_store(request, values, nx, count, k, solid[k] != 0, j * width + i);
        }
    }
    if (request->stays) {
        return;
    }
    sel_state_gather_read(state, request, request->to);
    if (ranks->rank > 0) {
        free(request->to);
    }
}

/* ---- sums ---- */

/* Columns of a row's partials. */
enum {
    SUM = 0,
    SQUARES = SUM + SEL_MAX_COMPONENTS,
    LEAST = SQUARES + SEL_MAX_COMPONENTS,
    MOST = LEAST + SEL_MAX_COMPONENTS,
    CELLS = MOST + SEL_MAX_COMPONENTS
};
_Static_assert((int)CELLS < (int)SEL_PARTIALS, "a row has room for all sums");

static void reduce_row(const sel_look *look, const sel_state *state, const sel_request *request,
                       int64_t row, double *partial) {
    const sel_box *box = &request->box;
    const int64_t nx = state->plan->domain->grid.n[0];
    const uint8_t *solid = sel_state_solids(state, row);
    const double *values;
    const int count =
        query_read_field(look, state, request->field, row, box->lo[0], box->hi[0], &values);
    partial[CELLS] = 0;
    for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
        partial[SUM + c] = partial[SQUARES + c] = 0;
        partial[LEAST + c] = HUGE_VAL;
        partial[MOST + c] = -HUGE_VAL;
    }
    for (int64_t x = box->lo[0]; x < box->hi[0]; x += box->stride[0]) {
        if (solid[x]) {
            continue;
        }
        for (int c = 0; c < count; c++) {
            const double value = values[c * nx + x - box->lo[0]];
            partial[SUM + c] += value;
            partial[SQUARES + c] += value * value;
            partial[LEAST + c] = sel_smaller(partial[LEAST + c], value);
            partial[MOST + c] = sel_larger(partial[MOST + c], value);
        }
        partial[CELLS]++;
    }
}

static void query_reduce(const sel_look *look, sel_state *state, sel_request *request) {
    enum { EXTREMES = 2 * SEL_MAX_COMPONENTS };
    const sel_box *box = &request->box;
    double sums[CELLS + 1], own[EXTREMES];
    double all[SEL_MOST_RANKS][EXTREMES];
    const sel_rows rows = sel_state_part_rows(state, box, state->ranks->rank);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < rows.count; k++) {
        const int64_t row = sel_row_of_box(state, box, sel_row_of(&rows, k));
        reduce_row(look, state, request, row, state->partials + k * SEL_PARTIALS);
    }
    for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (int64_t k = 0; k < rows.count; k++) {
            const double *partial = state->partials + k * SEL_PARTIALS;
            least = sel_smaller(least, partial[LEAST + c]);
            most = sel_larger(most, partial[MOST + c]);
        }
        own[c] = least;
        own[SEL_MAX_COMPONENTS + c] = most;
    }
    state->ranks->gather(own, sizeof own, all);
    sel_state_sums_of_box(state, box, CELLS + 1, sums);
    for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
        request->min[c] = all[0][c];
        request->max[c] = all[0][SEL_MAX_COMPONENTS + c];
        for (int r = 1; r < state->ranks->count; r++) {
            request->min[c] = sel_smaller(request->min[c], all[r][c]);
            request->max[c] = sel_larger(request->max[c], all[r][SEL_MAX_COMPONENTS + c]);
        }
        request->sum[c] = sums[SUM + c];
        request->sum_of_squares[c] = sums[SQUARES + c];
    }
    request->count = (int64_t)sums[CELLS];
}

double sel_join_rows(const sel_state *state, bool whole) {
    const sel_rows own = sel_own_rows(state);
    int64_t count = 0;
    double sum;
    if (!whole) {
        sel_state_sums(state, 0, 1, &sum);
        return sum;
    }
    for (int64_t k = 0; k < own.count; k++) {
        count += (int64_t)state->partials[k * SEL_PARTIALS];
    }
    return (double)sel_state_total(state, count);
}

double sel_sum_rows(sel_state *state, double (*sum)(const sel_state *state, int64_t row),
                    bool whole) {
    const sel_rows own = sel_own_rows(state);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < own.count; k++) {
        state->partials[k * SEL_PARTIALS] = sum(state, sel_row_of(&own, k));
    }
    return sel_join_rows(state, whole);
}

/* ---- monitors ---- */

/* Maxima side by side, which compilers turn into vectors; one alone would have to keep its order.
 */
enum { LANES = 8 };

/* Shows numbers that comparisons miss: this sum is NaN if one of them is NaN or infinite. */
static double residue(double a, double b) {
    return (a - a) + (b - b);
}

/* Extremes of cells that are all free; false, with nothing found, when some are not finite. */
static bool extremes(const double *large, const double *small, int64_t n, double *largest,
                     double *smallest) {
    double high[LANES], low[LANES], bad[LANES] = {0}, any = 0;
    int64_t k = 0;
    for (int l = 0; l < LANES; l++) {
        high[l] = -HUGE_VAL;
        low[l] = HUGE_VAL;
    }
    for (; k + LANES <= n; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            const double a = large[k + l], b = small[k + l];
            high[l] = a > high[l] ? a : high[l];
            low[l] = b < low[l] ? b : low[l];
            bad[l] += residue(a, b);
        }
    }
    for (; k < n; k++) {
        high[0] = large[k] > high[0] ? large[k] : high[0];
        low[0] = small[k] < low[0] ? small[k] : low[0];
        bad[0] += residue(large[k], small[k]);
    }
    *largest = -HUGE_VAL;
    *smallest = HUGE_VAL;
    for (int l = 0; l < LANES; l++) {
        *largest = fmax(*largest, high[l]);
        *smallest = fmin(*smallest, low[l]);
        any += bad[l];
    }
    return any == 0;
}

static int64_t first_of(const double *values, double wanted) {
    int64_t k = 0;
    while (values[k] != wanted) {
        k++;
    }
    return k;
}

/* What a monitor finds in the free cells of a row, n cells from number `first` on. */
static void watch_row(sel_watched *w, int64_t first, int64_t n, const double *large,
                      const double *small, const uint8_t *solid) {
    double largest, smallest;
    uint8_t solids = 0;
    sel_watch_none(w);
    for (int64_t k = 0; k < n; k++) {
        solids |= solid[k];
    }
    if (!solids && n > 0 && extremes(large, small, n, &largest, &smallest)) {
        w->largest = largest;
        w->largest_cell = (double)(first + first_of(large, largest));
        w->smallest = smallest;
        w->smallest_cell = (double)(first + first_of(small, smallest));
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        if (!solid[k]) {
            sel_watch(w, (double)(first + k), large[k], small[k]);
        }
    }
}

/* A row's partials: squares of the change and of the main field. */
typedef struct row_monitor {
    double change, magnitude;
    sel_watched watched;
} row_monitor;
_Static_assert(sizeof(row_monitor) <= SEL_PARTIALS * sizeof(double), "a row has room for it");

/* That of own row k. */
static row_monitor *monitor_of(const sel_state *state, int64_t k) {
    return (row_monitor *)(void *)(state->partials + k * SEL_PARTIALS);
}

/* The value at the last monitor, which the present one replaces. */
static double query_exchange(const sel_last *last, int64_t at, double value) {
    const double before = sel_get(last->v, last->type, at) / last->scale;
    sel_put(last->v, last->type, at, value * last->scale);
    return before;
}

static void look_at_main(const sel_look *look, const sel_state *state, int64_t row,
                         sel_main_row *main) {
    const double *values;
    if (look->main) {
        look->main(state, row, main);
    } else {
        query_read_field(look, state, state->plan->simulation->solver->main_field, row, 0,
                         state->plan->domain->grid.n[0], &values);
        *main = (sel_main_row){.value = {values}, .large = values, .small = values};
    }
}

static void monitor_row(const sel_look *look, const sel_state *state, int64_t row,
                        bool only_bad_cell, row_monitor *found) {
    const sel_grid *grid = &state->plan->domain->grid;
    const int64_t nx = grid->n[0];
    const uint8_t *solid = sel_state_solids(state, row);
    const sel_layout *kept = &state->last.layout;
    const int64_t first = sel_layout_row(kept, row);
    row_monitor mine = {.change = 0};
    sel_main_row main;
    look_at_main(look, state, row, &main);
    watch_row(&mine.watched, row * nx, nx, main.large, main.small, solid);
    for (int64_t x = 0; x < nx && !only_bad_cell; x++) {
        double square = 0;
        if (solid[x] || !isfinite(main.large[x]) || !isfinite(main.small[x])) {
            continue;
        }
        for (int a = 0; a < state->last.components; a++) {
            const double u = main.value[a][x];
            const int64_t at = a * kept->component + first + x;
            const double du = u - query_exchange(&state->last, at, u);
            mine.change += state->last.counts ? du != 0 : du * du;
            square += state->last.counts ? 1 : u * u;
        }
        mine.magnitude += square;
    }
    *found = mine;
}

static void query_monitor(const sel_look *look, sel_state *state, sel_request *request) {
    const sel_rows own = sel_own_rows(state);
    sel_watched watched, all[SEL_MOST_RANKS];
    double sums[2];
    sel_watch_none(&watched);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        monitor_row(look, state, row, request->only_bad_cell, monitor_of(state, k));
    }
    for (int64_t k = 0; k < own.count; k++) {
        sel_watch_join(&watched, &monitor_of(state, k)->watched);
    }
    state->ranks->gather(&watched, sizeof watched, all);
    for (int r = 1; r < state->ranks->count; r++) {
        sel_watch_join(&all[0], &all[r]);
    }
    sel_state_sums(state, 0, 2, sums);
    request->change = sel_relative_change(state->monitored, sums[0], sums[1]);
    request->change *= state->last.counts ? request->change : 1; /* a part, no root */
    sel_request_watched(request, &all[0]);
    if (look->watched) {
        look->watched(state->plan, request);
    }
    state->monitored |= !request->only_bad_cell;
}

/* ---- balances and changes of solvers that have none of their own ---- */

/* The change of a row's sum in the last step. */
static double change_row(const sel_state *state, int64_t row) {
    const uint8_t *solid = sel_state_solids(state, row);
    const int present = state->field[0].present;
    const void *now = sel_state_row(state, present, row);
    const void *before = sel_state_row(state, !present, row);
    const sel_type type = state->field[0].type;
    double sum = 0;
    for (int64_t x = 0; x < state->plan->domain->grid.n[0]; x++) {
        sum += solid[x] ? 0 : sel_get(now, type, x) - sel_get(before, type, x);
    }
    return sum;
}

static double mean_change(sel_state *state) {
    const double cells = (double)state->plan->domain->free_cells;
    return state->step > 0 ? fabs(sel_sum_rows(state, change_row, false)) / cells : (double)NAN;
}

static void balance(const sel_look *look, sel_state *state, sel_request *request) {
    const sel_rows own = sel_own_rows(state);
    const int64_t nx = state->plan->domain->grid.n[0];
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        const uint8_t *solid = sel_state_solids(state, row);
        double sum = 0;
        sel_main_row main;
        look_at_main(look, state, row, &main);
        for (int64_t x = 0; x < nx; x++) {
            sum += solid[x] ? 0 : main.value[0][x];
        }
        state->partials[k * SEL_PARTIALS] = sum;
    }
    sel_request_term(request, SEL_TERM_NOTED, "total", "", sel_join_rows(state, false));
}

sel_status sel_look_at(const sel_look *look, sel_state *state, sel_request *request,
                       sel_error *error) {
    sel_status status = look->ready ? look->ready(state, request, error) : SEL_OK;
    status = look->ready ? sel_state_agree(state, status, error) : status;
    if (status) {
        return status;
    }
    switch (request->kind) {
    case SEL_READ:
        if (request->cells) {
            query_read_cells(look, state, request);
        } else {
            read_box(look, state, request);
        }
        break;
    case SEL_REDUCE:
        query_reduce(look, state, request);
        break;
    case SEL_MONITOR:
        query_monitor(look, state, request);
        break;
    case SEL_MEAN_CHANGE:
        request->mean_change = look->mean_change ? look->mean_change(state)
                               : look->numbers   ? mean_change(state)
                                                 : (double)NAN;
        break;
    default:
        if (look->other) {
            return look->other(state, request, error);
        }
        balance(look, state, request);
    }
    return SEL_OK;
}
