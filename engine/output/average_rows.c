/* average_rows.c -- out.average with `over`: means over time and along axes, a row of NAME.csv for
 * each place along the other axes.
 *
 * A row has n free cells, and after s samples N = n s values of each component. Let m be the mean
 * so far, and M the sum of products of two components' deviations from it. A sample with the
 * deviations d = v - m from the mean before it makes
 *
 *     m += D,  D = sum d / N,    M += sum d d' - N D D'
 *
 * which is Welford's update for n values at once: M is exact, and nothing large cancels. In the
 * first sample m is the value of the row's first cell.
 *
 * Work is divided into units, each with a part of the lines of cells along x that make up a row, or
 * nx rows where x is not averaged over. `over = { "x", "z" }` with parts = 2:
 *
 *       z 0 1 2 3          a line of cells, which stands across this page
 *     y 2 - - - -
 *       1 - - - -          row 1 = units 2 (z = 0, 1) and 3 (z = 2, 3)
 *       0 - - - -
 *
 * The division depends on the grid only, and units are added up in their order: so the sums do not
 * depend on the threads.
 */
#include <math.h>
#include <stdio.h>
#include "engine/output/average.h"

/* Rows are divided until there are at least so many units, if they have enough lines of cells. */
enum { UNITS = 64 };
enum { NUMBERS_OF_CACHE_LINE = 8 };

/* A component of a pick in the present sample. */
typedef struct row_value {
    const void *values;
    int64_t stride, first; /* value i is values[i * stride + first] */
} row_value;

/* Two components, by their numbers; of one with itself it is the variance. */
typedef struct row_pair {
    int a, b;
} row_pair;

struct sel_average_rows {
    sel_output *base;
    const sel_average_product *products;
    int product_count;
    int values, pairs;      /* per row; the first `values` pairs are variances */
    int energy, energy_end; /* the variances of the velocity: from, to before; -1: it is not read */
    row_value *value;
    row_pair *pair;
    bool over[3];
    int64_t n[3];     /* of the grid */
    int64_t along_x;  /* rows that a line of cells along x has: 1 or n[0] */
    int64_t lines;    /* of rows: rows / along_x */
    int64_t averaged; /* lines of cells that are added to a line of rows */
    int64_t parts;    /* units that share these */
    int64_t rows;
    int64_t *count; /* [rows], free cells */
    int64_t *first; /* [rows], the number of the first of them */
    double *mean;   /* [rows][values] */
    double *sum;    /* [rows][pairs], of products of deviations */
    double *unit; /* [units][unit_size]: the deviations of a cell, sums [along_x][values + pairs] */
    int64_t unit_size;
};

/* The number of the first cell of the k-th line of cells of a line of rows. */
static int64_t line_of_cells(const sel_average_rows *rows, int64_t row_line, int64_t k) {
    int64_t at[3] = {0, 0, 0}, line = row_line;
    for (int a = 1; a < 3; a++) {
        int64_t *from = rows->over[a] ? &k : &line;
        at[a] = *from % rows->n[a];
        *from /= rows->n[a];
    }
    return sel_cell_number(&rows->base->context->domain->grid, at);
}

static double value_of(const sel_average_rows *rows, int s, int64_t cell) {
    const row_value *value = &rows->value[s];
    const int64_t i = cell * value->stride + value->first;
    return rows->base->context->plan->precision == SEL_F32
               ? (double)((const float *)value->values)[i]
               : ((const double *)value->values)[i];
}

/* ---- a sample ---- */

/* Adds the cells of a line to the sums of its rows. */
static void average_add_line(const sel_average_rows *rows, int64_t line, int64_t row,
                             double *unit) {
    const uint8_t *solid = rows->base->context->domain->cell;
    const int values = rows->values, pairs = rows->pairs;
    const bool over = rows->over[0];
    double *deviation = unit;
    for (int64_t x = 0; x < rows->n[0]; x++) {
        if (solid[line + x]) {
            continue;
        }
        const double *mean = rows->mean + (row + (over ? 0 : x)) * values;
        double *sum = unit + values + (over ? 0 : x) * (values + pairs);
        for (int s = 0; s < values; s++) {
            deviation[s] = value_of(rows, s, line + x) - mean[s];
            sum[s] += deviation[s];
        }
        for (int p = 0; p < pairs; p++) {
            sum[values + p] += deviation[rows->pair[p].a] * deviation[rows->pair[p].b];
        }
    }
}

/* Adds up the cells of unit u. */
static void add_unit(const sel_average_rows *rows, int64_t u) {
    const int64_t row_line = u / rows->parts, part = u % rows->parts;
    const int64_t end = rows->averaged * (part + 1) / rows->parts;
    double *unit = rows->unit + u * rows->unit_size;
    for (int64_t i = 0; i < rows->unit_size; i++) {
        unit[i] = 0;
    }
    for (int64_t k = rows->averaged * part / rows->parts; k < end; k++) {
        average_add_line(rows, line_of_cells(rows, row_line, k), row_line * rows->along_x, unit);
    }
}

/* Brings the sums of a sample into the mean and the products of a row. The sums of the row's first
 * unit become those of all its units, then the changes of the mean. */
static void join_row(const sel_average_rows *rows, int64_t row, int64_t samples) {
    const int values = rows->values, pairs = rows->pairs;
    const int64_t width = values + pairs, n = samples * rows->count[row];
    double *first = rows->unit + row / rows->along_x * rows->parts * rows->unit_size + values +
                    row % rows->along_x * width;
    double *mean = rows->mean + row * values, *sum = rows->sum + row * pairs;
    for (int64_t part = 1; part < rows->parts; part++) {
        for (int64_t i = 0; i < width; i++) {
            first[i] += first[part * rows->unit_size + i];
        }
    }
    for (int s = 0; s < values && n > 0; s++) {
        first[s] /= (double)n;
        mean[s] += first[s];
    }
    for (int p = 0; p < pairs; p++) {
        const double shift = first[rows->pair[p].a] * first[rows->pair[p].b];
        sum[p] += first[values + p] - (double)n * shift;
    }
}

static void begin_row(const sel_average_rows *rows, int64_t row) {
    for (int s = 0; s < rows->values && rows->count[row] > 0; s++) {
        rows->mean[row * rows->values + s] = value_of(rows, s, rows->first[row]);
    }
}

void sel_average_rows_add(sel_average_rows *rows, int64_t samples) {
    const int threads = rows->base->context->plan->threads;
    const int64_t units = rows->lines * rows->parts;
    for (int64_t row = 0; row < rows->rows && samples == 1; row++) {
        begin_row(rows, row);
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t u = 0; u < units; u++) {
        add_unit(rows, u);
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = 0; row < rows->rows; row++) {
        join_row(rows, row, samples);
    }
}

void sel_average_rows_keep(sel_average_rows *rows, sel_checkpoint *checkpoint) {
    const size_t means = (size_t)rows->rows * (size_t)rows->values;
    const size_t sums = (size_t)rows->rows * (size_t)rows->pairs;
    sel_keep(checkpoint, rows->mean, means * sizeof(double));
    sel_keep(checkpoint, rows->sum, sums * sizeof(double));
}

/* ---- the file ---- */

static void write_header(const sel_average_rows *rows, sel_csv *csv) {
    const sel_output *base = rows->base;
    char column[SEL_COLUMN_ROOM + 8];
    for (int a = 0; a < base->context->domain->grid.dims; a++) {
        if (!rows->over[a]) {
            sel_csv_text(csv, sel_axis_names[a]);
        }
    }
    sel_csv_text(csv, "cells");
    for (int k = 0; k < base->picks.count; k++) {
        for (int c = 0; c < base->picks.v[k].components; c++) {
            snprintf(column, sizeof column, "%s_mean", base->picks.v[k].columns[c]);
            sel_csv_text(csv, column);
            snprintf(column, sizeof column, "%s_rms", base->picks.v[k].columns[c]);
            sel_csv_text(csv, column);
        }
    }
    for (int p = 0; p < rows->product_count; p++) {
        sel_csv_text(csv, rows->products[p].name);
    }
    if (rows->energy >= 0) {
        sel_csv_text(csv, SEL_TURBULENT_ENERGY);
    }
    sel_csv_end_line(csv);
}

static void write_row(const sel_average_rows *rows, int64_t row, int64_t samples, sel_csv *csv) {
    const sel_grid *grid = &rows->base->context->domain->grid;
    const int64_t cells = rows->count[row], n = cells * samples;
    const double *mean = rows->mean + row * rows->values, *sum = rows->sum + row * rows->pairs;
    int64_t at = row;
    double energy = 0;
    for (int a = 0; a < grid->dims; a++) {
        if (!rows->over[a]) {
            sel_csv_number(csv, sel_centre(grid, a, (double)(at % rows->n[a])));
            at /= rows->n[a];
        }
    }
    sel_csv_number(csv, (double)cells);
    for (int p = 0; p < rows->pairs; p++) {
        const double product = n > 0 ? sum[p] / (double)n : 0;
        if (p < rows->values) {
            sel_csv_number(csv, mean[p]);
        }
        sel_csv_number(csv, p < rows->values ? sqrt(product) : product);
        energy += p >= rows->energy && p < rows->energy_end ? 0.5 * product : 0;
    }
    if (rows->energy >= 0) {
        sel_csv_number(csv, energy);
    }
    sel_csv_end_line(csv);
}

typedef struct row_lines {
    const sel_average_rows *rows;
    int64_t samples;
} row_lines;

static void write_rows(const void *data, sel_csv *csv) {
    const row_lines *lines = data;
    write_header(lines->rows, csv);
    for (int64_t row = 0; row < lines->rows->rows; row++) {
        write_row(lines->rows, row, lines->samples, csv);
    }
}

sel_status sel_average_rows_write(const sel_average_rows *rows, int64_t samples, sel_error *error) {
    const row_lines lines = {rows, samples};
    return sel_output_table(rows->base, &lines, write_rows, error);
}

/* ---- opening ---- */

/* Divides the lines of cells among the rows, and these among units. */
static void average_divide(sel_average_rows *rows, unsigned over) {
    const sel_grid *grid = &rows->base->context->domain->grid;
    rows->lines = rows->averaged = 1;
    for (int a = 0; a < 3; a++) {
        rows->n[a] = grid->n[a];
        rows->over[a] = a >= grid->dims || over >> a & 1;
        *(rows->over[a] ? &rows->averaged : &rows->lines) *= a > 0 ? grid->n[a] : 1;
    }
    rows->along_x = rows->over[0] ? 1 : grid->n[0];
    rows->rows = rows->lines * rows->along_x;
    const int64_t wanted = (UNITS + rows->lines - 1) / rows->lines;
    rows->parts = wanted < rows->averaged ? wanted : rows->averaged;
}

/* Lists the components and the pairs of them. */
static sel_status list_values(sel_average_rows *rows, sel_error *error) {
    const sel_output *base = rows->base;
    sel_arena *arena = base->arena;
    int *of_pick = sel_arena_alloc(arena, ((size_t)base->picks.count + 1) * sizeof *of_pick);
    for (int k = 0; k < base->picks.count && of_pick; k++) {
        of_pick[k] = rows->values;
        rows->values += base->picks.v[k].components;
    }
    const int velocity = sel_average_velocity(base);
    rows->energy = velocity >= 0 && of_pick ? of_pick[velocity] : -1;
    rows->energy_end = rows->energy + (velocity >= 0 ? base->picks.v[velocity].components : 0);
    rows->pairs = rows->values + rows->product_count;
    rows->value = sel_arena_alloc(arena, (size_t)rows->values * sizeof *rows->value);
    rows->pair = sel_arena_alloc(arena, (size_t)rows->pairs * sizeof *rows->pair);
    if (!of_pick || !rows->value || !rows->pair) {
        return sel_fail_memory(error, "the averages of fields",
                               (size_t)rows->pairs * sizeof *rows->pair);
    }
    for (int k = 0; k < base->picks.count; k++) {
        const sel_pick *pick = &base->picks.v[k];
        for (int c = 0; c < pick->components; c++) {
            const int s = of_pick[k] + c;
            rows->value[s] = (row_value){base->requests.v[k].to, pick->read, pick->first + c};
            rows->pair[s] = (row_pair){s, s};
        }
    }
    for (int p = 0; p < rows->product_count; p++) {
        const sel_average_factor *factor = rows->products[p].factor;
        rows->pair[rows->values + p] = (row_pair){of_pick[factor[0].pick] + factor[0].component,
                                                  of_pick[factor[1].pick] + factor[1].component};
    }
    return SEL_OK;
}

/* Counts the free cells of each row, and notes the first one. */
static void average_count_cells(const sel_average_rows *rows) {
    const uint8_t *solid = rows->base->context->domain->cell;
    for (int64_t row_line = 0; row_line < rows->lines; row_line++) {
        for (int64_t k = 0; k < rows->averaged; k++) {
            const int64_t line = line_of_cells(rows, row_line, k);
            for (int64_t x = 0; x < rows->n[0]; x++) {
                const int64_t row = row_line * rows->along_x + (rows->over[0] ? 0 : x);
                if (!solid[line + x] && rows->count[row]++ == 0) {
                    rows->first[row] = line + x;
                }
            }
        }
    }
}

static sel_status average_allocate_rows(sel_average_rows *rows, sel_error *error) {
    sel_arena *arena = rows->base->arena;
    const size_t n = (size_t)rows->rows, width = (size_t)(rows->values + rows->pairs);
    const size_t size = (size_t)rows->values + (size_t)rows->along_x * width;
    const size_t padded = (size / NUMBERS_OF_CACHE_LINE + 2) * NUMBERS_OF_CACHE_LINE;
    const size_t units = (size_t)(rows->lines * rows->parts);
    rows->unit_size = (int64_t)padded; /* threads that write do not share a cache line */
    rows->count = sel_arena_alloc(arena, 2 * n * sizeof *rows->count);
    rows->mean = sel_arena_alloc(arena, n * width * sizeof *rows->mean);
    rows->unit = sel_arena_alloc(arena, units * padded * sizeof *rows->unit);
    if (!rows->count || !rows->mean || !rows->unit) {
        return sel_fail_memory(error, "the averages of fields",
                               (n * (width + 2) + units * padded) * sizeof(double));
    }
    rows->first = rows->count + n;
    rows->sum = rows->mean + n * (size_t)rows->values;
    average_count_cells(rows);
    return SEL_OK;
}

sel_status sel_average_rows_open(sel_output *base, unsigned over,
                                 const sel_average_product *products, int product_count,
                                 sel_average_rows **rows, sel_error *error) {
    const sel_box box = sel_grid_box(&base->context->domain->grid);
    const int precision = base->context->plan->precision;
    const size_t number = precision == SEL_F32 ? sizeof(float) : sizeof(double);
    sel_average_rows *made = *rows = sel_arena_alloc(base->arena, sizeof *made);
    if (!made) {
        return sel_fail_memory(error, "the averages of fields", sizeof *made);
    }
    *made = (sel_average_rows){.base = base, .products = products, .product_count = product_count};
    sel_status status = sel_output_read(base, &box, precision, error);
    for (int k = 0; k < base->picks.count && !status; k++) {
        const size_t bytes = (size_t)(sel_box_cells(&box) * base->picks.v[k].read) * number;
        base->requests.v[k].to = sel_arena_alloc(base->arena, bytes);
        status = base->requests.v[k].to ? SEL_OK : sel_fail_memory(error, "a sample", bytes);
    }
    average_divide(made, over);
    status = status ? status : list_values(made, error);
    return status ? status : average_allocate_rows(made, error);
}
