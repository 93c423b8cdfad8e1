/* out_vtk.c -- out.vtk: fields as VTK image data, a file for each time, and their collection.
 *
 * The run's thread has the fields copied; the writer's thread picks components, rounds, compresses
 * and writes them, then rewrites the collection, so that it never names a file that is not there.
 * The jobs share a series, which lives until the last of them is done, also after the outputs were
 * closed.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/vtk_writer.h"
#include "engine/machine.h"
#include "engine/output/kind.h"

enum { MARKS = 3 }; /* arrays of sel_cell_marks */

static const char *const compressions[] = {"none", "zlib", NULL};
static const char *const precisions[] = {"run", "f32", "f64", NULL};

static const sel_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_vtk, fields, NAMES,
            "Fields of the results (see sel.lbm, sel.aqua), or components such as velocity_x.",
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(
        sel_out_vtk, within, SHAPE,
        "A shape.box: only cells whose centres lie in it are written; all cells when not given."),
    SEL_ROW(sel_out_vtk, stride, INT,
            "Writes every stride-th cell along each axis, as a cell that is stride times as large.",
            .flags = SEL_POSITIVE, .preset = 1),
    /* Level 1 takes 8 % off a turbulent f32 field at 60 MB/s, less than any disk writes; only
     * smooth or rounded fields gain. So nothing is compressed unless asked for. */
    SEL_ROW(sel_out_vtk, compression, CHOICE,
            "zlib makes files of smooth fields about three times smaller, those of turbulent "
            "fields hardly smaller.",
            .preset = SEL_VTK_NONE, .choices = compressions),
    SEL_ROW(sel_out_vtk, level, INT,
            "Level of zlib, 1 to 9; 1 when not given. Higher levels hardly help with "
            "floating-point numbers.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_out_vtk, precision, CHOICE,
            "Precision of the numbers in the file; run: that of the run.", .preset = SEL_VTK_AS_RUN,
            .choices = precisions),
    SEL_ROW(sel_out_vtk, digits, INT,
            "Rounds to this number of significant decimal digits, so that zlib compresses more "
            "(f32 to 3 digits: files smaller by a third); all digits when not given.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_vtk_table = SEL_TABLE(
    "out.vtk", sel_out_vtk, fields,
    "Cell fields for ParaView: NAME.pvd, and NAME/NAME_STEP.vti for each time; with solid (1 where "
    "nothing is computed), cell_type (0 in free cells, k where region k made them solid) and "
    "boundary (k in free cells at a face of region k, the later of several).");

/* What all files of one out.vtk have in common. The collection's steps belong to the writer's
 * thread; all else, but for what the lock guards, is not changed once it is open. */
typedef struct vtk_series {
    atomic_int references;
    char *directory, *name;
    sel_picks picks; /* names copied */
    sel_box box;
    int64_t cells;
    int precision, drop_bits;
    vtkw_image image; /* but for the arrays and the time */
    vtkw_strings regions;
    sel_cell_marks marks; /* one allocation, which begins at cell_type */
    vtkw_step *steps;
    size_t step_count, step_room;

    /* Jobs that were written: the system takes as long to give pages as to fill them, so the next
     * frame gets theirs. As many as were in flight at once. */
    pthread_mutex_t lock;
    struct vtk_job *spare;
} vtk_series;

/* One file to write. */
typedef struct vtk_job {
    struct vtk_job *next; /* among the spare ones */
    vtk_series *series;
    int64_t step;
    double time;
    void **values; /* by pick */
} vtk_job;

typedef struct vtk_output {
    const sel_output_context *context;
    sel_output_files *files;
    vtk_series *series;
    vtk_job *job; /* asked for and not taken; else NULL */
    bool written;
} vtk_output;

static void job_free(vtk_job *job) {
    for (int i = 0; job->values && i < job->series->picks.count; i++) {
        free(job->values[i]);
    }
    free(job->values);
    free(job);
}

static void series_release(vtk_series *series) {
    if (!series || atomic_fetch_sub(&series->references, 1) != 1) {
        return;
    }
    for (vtk_job *job = series->spare, *next; job; job = next) {
        next = job->next;
        job_free(job);
    }
    pthread_mutex_destroy(&series->lock);
    for (int i = 0; i < series->picks.count; i++) {
        free((void *)(uintptr_t)series->picks.v[i].name);
    }
    for (int i = 0; series->regions.values && i < series->regions.count; i++) {
        free((void *)(uintptr_t)series->regions.values[i]);
    }
    for (size_t i = 0; i < series->step_count; i++) {
        free((void *)(uintptr_t)series->steps[i].file);
    }
    free(series->picks.v);
    free((void *)(uintptr_t)series->regions.values);
    free(series->steps);
    free(series->marks.cell_type);
    free(series->directory);
    free(series->name);
    free(series);
}

/* The job is done, or will not be. */
static void give_back(vtk_job *job) {
    vtk_series *series = job->series;
    pthread_mutex_lock(&series->lock);
    job->next = series->spare;
    series->spare = job;
    pthread_mutex_unlock(&series->lock);
    series_release(series);
}

/* ---- on the writer's thread ---- */

static sel_status file_error(const vtkw_error *failed, sel_error *error) {
    return sel_fail(error, failed->status == VTKW_NO_MEMORY ? SEL_NO_DEVICE : SEL_BAD_FILE, "%s",
                    failed->text);
}

/* Rounds mantissas to nearest by adding half of the dropped part to the bits: a carry into the
 * exponent is right, one into infinity is not and keeps the number as it was. */
static void round_f32(float *values, size_t count, int drop_bits) {
    uint32_t half = (uint32_t)1 << (drop_bits - 1), infinity = 0x7f800000u;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        uint32_t rounded = (bits + half) & ~(2 * half - 1);
        if ((bits & infinity) != infinity && (rounded & infinity) != infinity) {
            memcpy(&values[i], &rounded, sizeof rounded);
        }
    }
}

static void round_f64(double *values, size_t count, int drop_bits) {
    uint64_t half = (uint64_t)1 << (drop_bits - 1), infinity = 0x7ff0000000000000u;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        uint64_t rounded = (bits + half) & ~(2 * half - 1);
        if ((bits & infinity) != infinity && (rounded & infinity) != infinity) {
            memcpy(&values[i], &rounded, sizeof rounded);
        }
    }
}

static void round_values(const vtk_series *series, const sel_pick *pick, void *values) {
    size_t count = (size_t)series->cells * (size_t)sel_pick_stored(pick);
    if (series->drop_bits > 0 && series->precision == SEL_F32) {
        round_f32(values, count, series->drop_bits);
    } else if (series->drop_bits > 0) {
        round_f64(values, count, series->drop_bits);
    }
}

/* Keeps the component that was picked of each cell. */
static void extract_component(const vtk_series *series, const sel_pick *pick, void *values) {
    int64_t stride = pick->field_components;
    for (int64_t i = 0; i < series->cells; i++) {
        if (series->precision == SEL_F32) {
            ((float *)values)[i] = ((float *)values)[i * stride + pick->component];
        } else {
            ((double *)values)[i] = ((double *)values)[i * stride + pick->component];
        }
    }
}

static sel_status write_image(const vtk_job *job, const char *path, sel_error *error) {
    const vtk_series *series = job->series;
    const vtkw_array marks[] = {{"cell_type", VTKW_UINT8, 1, series->marks.cell_type},
                                {"solid", VTKW_UINT8, 1, series->marks.solid},
                                {"boundary", VTKW_UINT8, 1, series->marks.boundary}};
    vtkw_array *arrays = calloc((size_t)series->picks.count + MARKS, sizeof *arrays);
    if (!arrays) {
        return sel_fail_memory(error, path, (size_t)series->picks.count * sizeof *arrays);
    }
    for (int i = 0; i < series->picks.count; i++) {
        const sel_pick *pick = &series->picks.v[i];
        if (pick->component >= 0 && pick->field_components > 1) {
            extract_component(series, pick, job->values[i]);
        }
        round_values(series, pick, job->values[i]);
        arrays[i] =
            (vtkw_array){pick->name, series->precision == SEL_F32 ? VTKW_FLOAT32 : VTKW_FLOAT64,
                         sel_pick_stored(pick), job->values[i]};
    }
    memcpy(arrays + series->picks.count, marks, sizeof marks);
    vtkw_image image = series->image;
    image.cell_arrays = arrays;
    image.cell_array_count = series->picks.count + MARKS;
    image.strings = &series->regions;
    image.strings_count = 1;
    image.has_time = 1;
    image.time = job->time;
    vtkw_error failed;
    vtkw_status status = vtkw_write_image(path, &image, &failed);
    free(arrays);
    return status == VTKW_OK ? SEL_OK : file_error(&failed, error);
}

/* Takes `file` over. */
static sel_status add_step(vtk_series *series, double time, char *file, sel_error *error) {
    if (series->step_count == series->step_room) {
        size_t room = 2 * series->step_room + 64;
        vtkw_step *steps = realloc(series->steps, room * sizeof *steps);
        if (!steps) {
            free(file);
            return sel_fail_memory(error, "the list of files", room * sizeof *steps);
        }
        series->steps = steps;
        series->step_room = room;
    }
    series->steps[series->step_count++] = (vtkw_step){time, file};
    return SEL_OK;
}

static sel_status write_collection(const vtk_series *series, sel_error *error) {
    char *path;
    if (asprintf(&path, "%s/%s.pvd", series->directory, series->name) < 0) {
        return sel_fail_memory(error, series->name, strlen(series->directory));
    }
    vtkw_error failed;
    vtkw_status status = vtkw_write_collection(path, series->steps, series->step_count, &failed);
    free(path);
    return status == VTKW_OK ? SEL_OK : file_error(&failed, error);
}

static sel_status write_files(vtk_job *job, sel_error *error) {
    vtk_series *series = job->series;
    char *file, *path;
    if (asprintf(&file, "%s/%s_%08lld.vti", series->name, series->name, (long long)job->step) < 0) {
        return sel_fail_memory(error, series->name, strlen(series->name));
    }
    if (asprintf(&path, "%s/%s", series->directory, file) < 0) {
        free(file);
        return sel_fail_memory(error, series->name, strlen(series->directory));
    }
    sel_status status = write_image(job, path, error);
    free(path);
    if (status != SEL_OK) {
        free(file);
        return status;
    }
    status = add_step(series, job->time, file, error);
    return status ? status : write_collection(series, error);
}

static sel_status run_job(void *data, bool cancelled, sel_error *error) {
    vtk_job *job = data;
    sel_status status = cancelled ? SEL_OK : write_files(job, error);
    give_back(job);
    return status;
}

/* ---- on the run's thread ---- */

/* Numbers per cell that are read for a pick. */
static int read_components(const sel_pick *pick) {
    return pick->component < 0 ? sel_pick_stored(pick) : pick->field_components;
}

static sel_status allocate_job(vtk_series *series, vtk_job **made, sel_error *error) {
    size_t number = series->precision == SEL_F32 ? sizeof(float) : sizeof(double), bytes = 0;
    vtk_job *job = calloc(1, sizeof *job);
    void **values = calloc((size_t)series->picks.count, sizeof *values);
    bool failed = !job || !values;
    for (int i = 0; i < series->picks.count && !failed; i++) {
        bytes = (size_t)series->cells * (size_t)read_components(&series->picks.v[i]) * number;
        values[i] = sel_machine_allocate(bytes);
        failed = !values[i];
    }
    if (job) {
        *job = (vtk_job){.series = series, .values = values};
    }
    if (failed) {
        if (job) {
            job_free(job);
        } else {
            free(values);
        }
        return sel_fail_memory(error, "a copy of a field to write", bytes);
    }
    *made = job;
    return SEL_OK;
}

static sel_status take_job(vtk_series *series, vtk_job **job, sel_error *error) {
    pthread_mutex_lock(&series->lock);
    *job = series->spare;
    if (*job) {
        series->spare = (*job)->next;
    }
    pthread_mutex_unlock(&series->lock);
    sel_status status = *job ? SEL_OK : allocate_job(series, job, error);
    if (status == SEL_OK) {
        atomic_fetch_add(&series->references, 1);
    }
    return status;
}

static sel_status vtk_ask(void *self, int64_t step, double time, sel_requests *requests,
                          sel_error *error) {
    vtk_output *output = self;
    vtk_series *series = output->series;
    sel_status status = take_job(series, &output->job, error);
    for (int i = 0; i < series->picks.count && status == SEL_OK; i++) {
        const sel_pick *pick = &series->picks.v[i];
        const sel_request request = {.kind = SEL_READ,
                                     .field = pick->field,
                                     .box = series->box,
                                     .precision = series->precision,
                                     .components = read_components(pick),
                                     .to = output->job->values[i]};
        status = sel_requests_add(requests, &request, error);
    }
    if (output->job) {
        output->job->step = step;
        output->job->time = time;
    }
    return status;
}

static sel_status vtk_take(void *self, int64_t step, double time, const sel_requests *answers,
                           sel_error *error) {
    (void)time, (void)answers;
    vtk_output *output = self;
    const char *name = output->series->name;
    vtk_job *job = output->job;
    output->job = NULL;
    sel_writer *writer = output->context->writer;
    sel_status status = SEL_OK;
    if (!output->written) {
        output->written = true;
        status = sel_output_files_add(output->files, writer, error, "%s.pvd", name);
    }
    if (status == SEL_OK) {
        status = sel_output_files_add(output->files, writer, error, "%s/%s_%08lld.vti", name, name,
                                      (long long)step);
    }
    if (status != SEL_OK) {
        give_back(job);
        return status;
    }
    return sel_writer_submit(writer, run_job, job, error);
}

/* The steps of the collection; when they are loaded it is written again, without later ones. The
 * writer has nothing to do meanwhile. */
static void vtk_keep(void *self, sel_checkpoint *checkpoint) {
    vtk_output *output = self;
    vtk_series *series = output->series;
    uint64_t count = series->step_count;
    sel_error error = {.status = SEL_OK};
    SEL_KEEP(checkpoint, count);
    for (uint64_t i = 0; i < count && !error.status; i++) {
        const bool loads = sel_checkpoint_loads(checkpoint);
        double time = loads ? 0 : series->steps[i].time;
        SEL_KEEP(checkpoint, time);
        if (!loads) {
            sel_keep_text(checkpoint, series->steps[i].file);
            continue;
        }
        char *file = sel_kept_text(checkpoint);
        if (!file || sel_checkpoint_status(checkpoint, NULL)) {
            free(file);
            return;
        }
        add_step(series, time, file, &error);
    }
    output->written = count > 0;
    if (count > 0 && sel_checkpoint_loads(checkpoint) && !error.status) {
        write_collection(series, &error);
    }
    if (error.status) {
        sel_checkpoint_fail(checkpoint, error.status, "%s", error.text);
    }
}

/* ---- opening ---- */

static sel_status vtk_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_vtk *vtk = params;
    sel_status status = sel_picks_check(site, &vtk->fields, error);
    sel_status within = sel_within_check(site, "within", vtk->within, error);
    status = status ? status : within;
    if (vtk->stride < 1) {
        status = sel_fail_at(error, site->where, "out.vtk: stride must be at least 1, got %lld",
                             (long long)vtk->stride);
    }
    bool level = vtk->level != SEL_INT_NOT_GIVEN, digits = vtk->digits != SEL_INT_NOT_GIVEN;
    if ((level || digits) && vtk->compression == SEL_VTK_NONE) {
        status = sel_fail_at(error, site->where, "out.vtk: %s needs compression = \"zlib\"",
                             level ? "level" : "digits");
    }
    if (level && (vtk->level < 1 || vtk->level > 9)) {
        status = sel_fail_at(error, site->where, "out.vtk: level must be 1 to 9, got %lld",
                             (long long)vtk->level);
    }
    if (digits && (vtk->digits < 1 || vtk->digits > 17)) {
        status = sel_fail_at(error, site->where, "out.vtk: digits must be 1 to 17, got %lld",
                             (long long)vtk->digits);
    }
    return status;
}

/* Mantissa bits to drop so that the error is at most half a unit of the last decimal digit. */
static int bits_to_drop(const sel_out_vtk *params, int precision) {
    if (params->digits == SEL_INT_NOT_GIVEN) {
        return 0;
    }
    int mantissa = precision == SEL_F32 ? 24 : 53;
    int kept = 1 + (int)ceil((double)params->digits * log2(10));
    return kept < mantissa ? mantissa - kept : 0;
}

/* Each cell is drawn `stride` cells large about its own centre. */
static void place_image(vtk_series *series, const sel_grid *grid) {
    for (int a = 0; a < 3; a++) {
        double stride = (double)series->box.stride[a];
        series->image.extent[2 * a + 1] = sel_box_count(&series->box, a);
        series->image.spacing[a] = stride * grid->dx;
        series->image.origin[a] =
            grid->origin[a] + ((double)series->box.lo[a] + 0.5 * (1 - stride)) * grid->dx;
    }
}

static sel_status copy_names(vtk_series *series, const sel_domain *domain, sel_error *error) {
    bool copied = true;
    for (int i = 0; i < series->picks.count; i++) {
        series->picks.v[i].name = strdup(series->picks.v[i].name);
        copied = copied && series->picks.v[i].name;
    }
    int count = domain->region_count + 1;
    char **names = calloc((size_t)count, sizeof *names);
    for (int k = 0; names && k < count; k++) {
        char text[32];
        names[k] = strdup(k ? sel_region_name(domain, k, text) : "interior");
        copied = copied && names[k];
    }
    series->regions = (vtkw_strings){"cell_type_names", count, (const char *const *)names};
    return names && copied ? SEL_OK : sel_fail_memory(error, "the names of regions", 64);
}

static int chosen_precision(const sel_out_vtk *params, int of_run) {
    static const int chosen[] = {-1, SEL_F32, SEL_F64};
    return params->precision == SEL_VTK_AS_RUN ? of_run : chosen[params->precision];
}

static sel_box chosen_cells(const sel_out_vtk *params, const sel_grid *grid) {
    sel_box box = sel_within_box(grid, params->within);
    for (int a = 0; a < grid->dims; a++) {
        box.stride[a] = params->stride;
    }
    return box;
}

/* Of the arrays, the marks of the cells among them: a byte each. */
static double vtk_bytes(const sel_plan *plan, const void *params, bool *packed) {
    const sel_out_vtk *vtk = params;
    const sel_output_context context = {.solver = plan->simulation->solver, .domain = plan->domain};
    const int number = chosen_precision(vtk, plan->precision) == SEL_F32 ? 4 : 8;
    const sel_box box = chosen_cells(vtk, &plan->domain->grid);
    sel_picks picks;
    double per_cell = MARKS;
    if (sel_picks_make(&context, &vtk->fields, &picks, NULL)) {
        return 0;
    }
    for (int i = 0; i < picks.count; i++) {
        per_cell += number * sel_pick_stored(&picks.v[i]);
    }
    free(picks.v);
    *packed = vtk->compression != SEL_VTK_NONE;
    return per_cell * (double)sel_box_cells(&box);
}

static sel_status fill_series(vtk_series *series, const sel_output_context *context,
                              const sel_out_vtk *params, const char *name, sel_error *error) {
    const sel_domain *domain = context->domain;
    series->precision = chosen_precision(params, context->precision);
    series->drop_bits = bits_to_drop(params, series->precision);
    series->image.level = params->compression == SEL_VTK_NONE  ? 0
                          : params->level == SEL_INT_NOT_GIVEN ? 1
                                                               : (int)params->level;
    series->box = chosen_cells(params, &domain->grid);
    series->cells = sel_box_cells(&series->box);
    place_image(series, &domain->grid);
    series->directory = strdup(context->directory);
    series->name = strdup(name);
    uint8_t *marks = malloc(MARKS * (size_t)series->cells);
    series->marks = (sel_cell_marks){.cell_type = marks};
    if (!series->directory || !series->name || !marks) {
        return sel_fail_memory(error, "the cell types to write", MARKS * (size_t)series->cells);
    }
    series->marks.solid = marks + series->cells;
    series->marks.boundary = marks + 2 * series->cells;
    sel_domain_cells(domain, &series->box, &series->marks);
    sel_status status = sel_picks_make(context, &params->fields, &series->picks, error);
    return status ? status : copy_names(series, domain, error);
}

static void vtk_close(void *self) {
    vtk_output *output = self;
    if (output->job) {
        give_back(output->job);
    }
    series_release(output->series);
    free(output);
}

static sel_status vtk_open(const sel_output_context *context, const void *params, const char *name,
                           sel_output_files *files, void **self, sel_error *error) {
    vtk_output *output = calloc(1, sizeof *output);
    vtk_series *series = calloc(1, sizeof *series);
    if (!output || !series) {
        free(output);
        free(series);
        return sel_fail_memory(error, "an output", sizeof *series);
    }
    atomic_init(&series->references, 1);
    pthread_mutex_init(&series->lock, NULL);
    *output = (vtk_output){.context = context, .files = files, .series = series};
    sel_status status = fill_series(series, context, params, name, error);
    status = status ? status : sel_output_directory(context, name, error);
    if (status != SEL_OK) {
        vtk_close(output);
        return status;
    }
    *self = output;
    return SEL_OK;
}

const sel_output_kind sel_vtk_kind = {
    .table = &sel_out_vtk_table,
    .check = vtk_check,
    .bytes = vtk_bytes,
    .open = vtk_open,
    .ask = vtk_ask,
    .take = vtk_take,
    .keep = vtk_keep,
    .close = vtk_close,
};
