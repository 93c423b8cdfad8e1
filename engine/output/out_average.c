/* out_average.c -- out.average: mean, rms and covariances of fields over time in one .vti file at
 * the end; with `over` also along axes, as CSV (average_rows.c).
 *
 * Mean m and sum of squared deviations are updated per sample (Welford 1962), in f64, which avoids
 * the cancellation of large sums. So are sums of products of deviations: the n-th sample x, y adds
 * (x - m_x)(y - m_y) n / (n - 1) with the means that include it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/output/average.h"
#include "engine/output/vtk_image.h"

static const sel_table_field average_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_average_params, fields, NAMES, SEL_OUT_FIELDS_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_average_params, products, NAMES,
            "Products of two components of `fields`: \"velocity_x*velocity_y\" gives the array "
            "velocity_x_velocity_y_covariance, the mean product of the deviations from the means. "
            "Of velocities it is the Reynolds stress divided by minus the density."),
    SEL_ROW(sel_average_params, over, FLAGS,
            "Axes along which means are taken, too, as a flow is the same along them on average: "
            "NAME.csv instead of NAME.vti, with a row for each place along the other axes. "
            "Deviations are those from the mean of the row. All cells count alike, solid ones "
            "do not.",
            .choices = sel_axis_names),
};

const sel_table sel_out_average_table = SEL_TABLE(
    "out.average", sel_average_params, average_fields,
    "Mean and rms of fields over time, as NAME.vti, written at the end: for each field "
    "the arrays FIELD_mean and FIELD_rms, component by component; rms is that of the "
    "deviation from the mean; of `velocity` also turbulent_kinetic_energy, per mass: half "
    "the sum of its components' variances; with solid, cell_type and boundary, as "
    "out.vtk. A sample "
    "every 10 steps when neither every nor interval is "
    "given; without one there is no file, and a warning; from_step or from_time leaves out how the "
    "flow began. With `over` NAME.csv "
    "has the columns x, y, z as far as they are left, cells (those that are not solid), "
    "and for each component its mean, rms and covariances, and of `velocity` the energy.");

enum { SAMPLE_PERIOD = 10 };

typedef struct average_field {
    double *mean;    /* [cells][stored] */
    double *squares; /* [cells][stored], sum of squared deviations; the rms after finish_rms */
    double *values;  /* [cells][read], the present sample */
} average_field;

typedef struct average_output {
    sel_output base;
    sel_average_product *products; /* per name in the parameters */
    sel_average_rows *rows;        /* means along axes; NULL: none, and what follows is used */
    average_field *fields;         /* per pick */
    size_t cells;
    int64_t samples;
} average_output;

static const sel_names *product_names(const sel_output *base) {
    return &((const sel_average_params *)base->params)->products;
}

/* ---- products ---- */

/* Copies a factor, from `text` to `end`, without blanks around it. */
static void copy_factor(const char *text, const char *end, char name[SEL_COLUMN_ROOM]) {
    while (text < end && isspace((unsigned char)*text)) {
        text++;
    }
    while (end > text && isspace((unsigned char)end[-1])) {
        end--;
    }
    snprintf(name, SEL_COLUMN_ROOM, "%.*s", (int)(end - text), text);
}

/* Finds the component that a factor names among the fields. false: none of them has it. */
static bool find_factor(const sel_solver *solver, int dims, const sel_names *fields,
                        sel_average_factor *factor) {
    int component;
    const int field = sel_solver_field(solver, dims, factor->name, &component);
    if (field < 0 || (component < 0 && sel_field_components(&solver->fields[field], dims) > 1)) {
        return false;
    }
    for (int k = 0; k < fields->n; k++) {
        int first;
        if (sel_solver_field(solver, dims, fields->v[k], &first) == field &&
            (first < 0 || first == component)) {
            factor->pick = k;
            factor->component = first < 0 && component >= 0 ? component : 0;
            return true;
        }
    }
    return false;
}

/* Reads "velocity_x*velocity_y". NULL: fine; else what is wrong, the end of a message. */
static const char *read_product(const char *text, const sel_solver *solver, int dims,
                                const sel_names *fields, sel_average_product *product) {
    const char *star = strchr(text, '*');
    if (!star || strchr(star + 1, '*')) {
        return "is not two names with a * between them";
    }
    copy_factor(text, star, product->factor[0].name);
    copy_factor(star + 1, text + strlen(text), product->factor[1].name);
    snprintf(product->name, sizeof product->name, "%s_%s_covariance", product->factor[0].name,
             product->factor[1].name);
    for (int f = 0; f < 2; f++) {
        if (!find_factor(solver, dims, fields, &product->factor[f])) {
            return "needs two components that `fields` has, such as velocity_x of velocity";
        }
    }
    return NULL;
}

static void average_check(sel_output_checker *checker, const void *params) {
    static const char *const none[] = {NULL};
    const sel_average_params *average = params;
    sel_columns_check(checker, &average->fields, !average->over, none);
    if (checker->domain->grid.dims == 2 && average->over >> 2) {
        sel_output_refuse(checker, "over has the axis z, and the domain only x and y");
    }
    for (int k = 0; k < average->products.n; k++) {
        sel_average_product product = {0};
        const char *wrong = read_product(average->products.v[k], checker->simulation->solver,
                                         checker->domain->grid.dims, &average->fields, &product);
        if (wrong) {
            sel_output_refuse(checker, "the product '%s' %s", average->products.v[k], wrong);
        }
        for (int j = 0; j < k; j++) {
            if (strcmp(average->products.v[j], average->products.v[k]) == 0) {
                sel_output_refuse(checker, "the product '%s' is listed twice",
                                  average->products.v[k]);
            }
        }
    }
}

/* Reads the products; those of single cells get their sums. */
static sel_status open_products(average_output *output, sel_error *error) {
    const sel_output *base = &output->base;
    const sel_average_params *average = base->params;
    const size_t count = (size_t)average->products.n;
    output->products = sel_arena_alloc(base->arena, count * sizeof *output->products);
    bool failed = count > 0 && !output->products;
    for (size_t k = 0; k < count && !failed; k++) {
        read_product(average->products.v[k], base->context->solver,
                     base->context->domain->grid.dims, &average->fields, &output->products[k]);
        if (!average->over) {
            output->products[k].sum = sel_arena_alloc(base->arena, output->cells * sizeof(double));
            failed = !output->products[k].sum;
        }
    }
    return failed ? sel_fail_memory(error, "the products of fields",
                                    count * output->cells * sizeof(double))
                  : SEL_OK;
}

/* ---- samples ---- */

/* Adds the sample of pick k. Cells are independent: the result does not depend on the threads. */
static void add_field(const average_output *output, int k) {
    const sel_pick *pick = &output->base.picks.v[k];
    const int64_t cells = (int64_t)output->cells;
    const int components = pick->components, stored = pick->stored;
    const int read = pick->read, threads = output->base.context->plan->threads;
    const double samples = (double)output->samples, *values = output->fields[k].values;
    double *mean = output->fields[k].mean, *squares = output->fields[k].squares;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < cells; i++) {
        for (int c = 0; c < components; c++) {
            int64_t at = i * stored + c;
            double value = values[i * read + pick->first + c];
            double before = value - mean[at];
            mean[at] += before / samples;
            squares[at] += before * (value - mean[at]);
        }
    }
}

static void add_product(const average_output *output, const sel_average_product *product) {
    const int64_t cells = (int64_t)output->cells;
    const int threads = output->base.context->plan->threads;
    const double samples = (double)output->samples;
    const double weight = samples > 1 ? samples / (samples - 1) : 0;
    const double *value[2], *mean[2];
    int64_t read[2], stored[2];
    for (int f = 0; f < 2; f++) {
        const sel_average_factor *factor = &product->factor[f];
        const sel_pick *pick = &output->base.picks.v[factor->pick];
        value[f] = output->fields[factor->pick].values + pick->first + factor->component;
        mean[f] = output->fields[factor->pick].mean + factor->component;
        read[f] = pick->read;
        stored[f] = pick->stored;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < cells; i++) {
        product->sum[i] += weight * (value[0][i * read[0]] - mean[0][i * stored[0]]) *
                           (value[1][i * read[1]] - mean[1][i * stored[1]]);
    }
}

static sel_status average_take(sel_output *base, sel_error *error) {
    (void)error;
    average_output *output = (average_output *)base;
    output->samples++;
    if (output->rows) {
        sel_average_rows_add(output->rows, output->samples);
        return SEL_OK;
    }
    for (int k = 0; k < base->picks.count; k++) {
        add_field(output, k);
    }
    for (int k = 0; k < product_names(base)->n; k++) {
        add_product(output, &output->products[k]);
    }
    return SEL_OK;
}

/* Name i of what an average is made of: the fields, the products, the axes of `over`. NULL: i is
 * past the last. */
static const char *part_name(const sel_output *base, int i) {
    const sel_average_params *average = base->params;
    if (i < base->picks.count) {
        return base->picks.v[i].name;
    }
    i -= base->picks.count;
    if (i < average->products.n) {
        return average->products.v[i];
    }
    i -= average->products.n;
    for (int a = 0; a < 3; a++) {
        if (average->over >> a & 1 && i-- == 0) {
            return sel_axis_names[a];
        }
    }
    return NULL;
}

static void average_keep(sel_output *base, sel_checkpoint *checkpoint) {
    average_output *output = (average_output *)base;
    sel_output_keep_names(base, part_name, "fields or axes", checkpoint);
    SEL_KEEP(checkpoint, output->samples);
    if (output->samples < 0 || output->samples > SEL_MOST_STEPS) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the samples of a mean",
                            checkpoint->path);
    }
    if (output->rows) {
        sel_average_rows_keep(output->rows, checkpoint);
        return;
    }
    for (int k = 0; k < base->picks.count; k++) {
        const size_t numbers = output->cells * (size_t)base->picks.v[k].stored;
        sel_keep(checkpoint, output->fields[k].mean, numbers * sizeof(double));
        sel_keep(checkpoint, output->fields[k].squares, numbers * sizeof(double));
    }
    for (int k = 0; k < product_names(base)->n; k++) {
        sel_keep(checkpoint, output->products[k].sum, output->cells * sizeof(double));
    }
}

/* ---- the file ---- */

static void finish_rms(const average_output *output, int k) {
    double *squares = output->fields[k].squares;
    const double samples = (double)output->samples;
    const int64_t numbers = (int64_t)output->cells * output->base.picks.v[k].stored;
    const int threads = output->base.context->plan->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < numbers; i++) {
        squares[i] = sqrt(squares[i] / samples);
    }
}

/* Half the sum of the squares of the components' rms, for each cell. */
static void find_energy(const average_output *output, int k, double *energy) {
    const sel_pick *pick = &output->base.picks.v[k];
    const double *rms = output->fields[k].squares;
    const int64_t cells = (int64_t)output->cells;
    const int threads = output->base.context->plan->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < cells; i++) {
        double sum = 0;
        for (int c = 0; c < pick->components; c++) {
            sum += rms[i * pick->stored + c] * rms[i * pick->stored + c];
        }
        energy[i] = 0.5 * sum;
    }
}

static void finish_product(const average_output *output, int k) {
    for (size_t i = 0; i < output->cells; i++) {
        output->products[k].sum[i] /= (double)output->samples;
    }
}

/* Writes the file of `count` arrays, which have room for SEL_IMAGE_MARKS more, filled here. */
static sel_status write_average(const sel_output *base, vtkw_array *arrays, int count,
                                sel_error *error) {
    const sel_grid *grid = &base->context->domain->grid;
    const sel_box all = sel_grid_box(grid);
    vtkw_image image = sel_vtk_image(grid, &all);
    vtkw_strings regions;
    sel_cell_marks marks = {.cell_type = NULL};
    sel_status status = sel_vtk_marks(base, &all, &marks, error);
    status = status ? status : sel_vtk_regions(base, &regions, &image, error);
    sel_image_mark_arrays(&marks, arrays + count);
    sel_vtk_arrays(&image, grid, arrays, count + SEL_IMAGE_MARKS);
    image.has_time = 1;
    image.time = base->time;
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.vti", base->context->directory, base->name);
    status = status ? status : sel_output_files_add(base->files, NULL, base->name, ".vti", error);
    vtkw_error failed;
    if (!status && vtkw_write_image(path, &image, &failed) != VTKW_OK) {
        base->files->last->job = INT64_MAX; /* never listed: the file does not exist */
        status = sel_vtk_fail(&failed, error);
    }
    return status;
}

static void warn_of_no_sample(const average_output *output) {
    const sel_output *base = &output->base;
    char about[128];
    snprintf(about, sizeof about, "%.64s.%s is not written", base->name,
             output->rows ? "csv" : "vti");
    sel_output_warn(
        base, about,
        "the run ended at step %lld, time %g, before a sample was due (every, interval, "
        "from_step, from_time)",
        (long long)base->step, base->time);
}

static sel_status average_conclude(sel_output *base, sel_error *error) {
    const average_output *output = (const average_output *)base;
    if (output->samples == 0) {
        warn_of_no_sample(output);
        return SEL_OK;
    }
    if (output->rows) {
        return sel_average_rows_write(output->rows, output->samples, error);
    }
    const int picks = base->picks.count, products = product_names(base)->n;
    const int velocity = sel_average_velocity(base), more = velocity >= 0;
    const int count = 2 * picks + products + more;
    const size_t room = (size_t)count + SEL_IMAGE_MARKS, cells = more ? output->cells : 0;
    vtkw_array *arrays = sel_arena_alloc(base->arena, room * sizeof *arrays);
    double *energy = sel_arena_alloc(base->arena, cells * sizeof *energy);
    bool failed = !arrays || !energy;
    for (int k = 0; k < picks && !failed; k++) {
        const sel_pick *pick = &base->picks.v[k];
        const char *mean = sel_arena_print(base->arena, "%s_mean", pick->name);
        const char *rms = sel_arena_print(base->arena, "%s_rms", pick->name);
        finish_rms(output, k);
        arrays[2 * k] = (vtkw_array){mean, VTKW_FLOAT64, pick->stored, output->fields[k].mean};
        arrays[2 * k + 1] =
            (vtkw_array){rms, VTKW_FLOAT64, pick->stored, output->fields[k].squares};
        failed = !mean || !rms;
    }
    for (int k = 0; k < products && !failed; k++) {
        const sel_average_product *product = &output->products[k];
        finish_product(output, k);
        arrays[2 * picks + k] = (vtkw_array){product->name, VTKW_FLOAT64, 1, product->sum};
    }
    if (!failed && more) {
        find_energy(output, velocity, energy);
        arrays[count - 1] = (vtkw_array){SEL_TURBULENT_ENERGY, VTKW_FLOAT64, 1, energy};
    }
    return failed
               ? sel_fail_memory(error, "an output", room * sizeof *arrays + cells * sizeof *energy)
               : write_average(base, arrays, count, error);
}

/* Allocates the mean and the deviations of each cell. */
static sel_status open_fields(average_output *output, sel_error *error) {
    sel_output *base = &output->base;
    const size_t picks = (size_t)base->picks.count;
    const sel_box box = sel_grid_box(&base->context->domain->grid);
    size_t all = 3 * picks;
    output->fields = sel_arena_alloc(base->arena, picks * sizeof *output->fields);
    sel_status status = sel_output_read(base, &box, SEL_F64, error);
    bool failed = !output->fields;
    for (size_t k = 0; k < picks && !failed && !status; k++) {
        size_t read = output->cells * (size_t)base->picks.v[k].read;
        size_t stored = output->cells * (size_t)base->picks.v[k].stored;
        average_field *field = &output->fields[k];
        all += read + 2 * stored;
        field->mean = sel_arena_alloc(base->arena, 2 * stored * sizeof(double));
        field->values = sel_arena_alloc(base->arena, read * sizeof(double));
        failed = !field->mean || !field->values;
        field->squares = failed ? NULL : field->mean + stored;
        base->requests.v[k].to = field->values;
    }
    return failed ? sel_fail_memory(error, "the averages of fields", all * sizeof(double)) : status;
}

static sel_status average_open(sel_output *base, sel_error *error) {
    average_output *output = (average_output *)base;
    const unsigned over = ((const sel_average_params *)base->params)->over;
    output->cells = (size_t)sel_grid_cells(&base->context->domain->grid);
    sel_status status = open_products(output, error);
    if (status) {
        return status;
    }
    return over ? sel_average_rows_open(base, over, output->products, product_names(base)->n,
                                        &output->rows, error)
                : open_fields(output, error);
}

const sel_output_kind sel_average_kind = {
    .table = &sel_out_average_table,
    .size = sizeof(average_output),
    .period = SAMPLE_PERIOD,
    .only_when_due = true,
    .check = average_check,
    .open = average_open,
    .take = average_take,
    .keep = average_keep,
    .conclude = average_conclude,
};
