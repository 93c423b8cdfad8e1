/* out_vtk.c -- fields as VTK image data: out.vtk, a file per time and a collection of them; and
 * out.average, mean and rms over time in one file at the end.
 *
 * The writer's thread picks components, rounds, compresses and writes the fields of out.vtk. Then
 * the writer's thread rewrites the collection, which thus never names a file that does not exist.
 * With several ranks, all ranks write each file while the run waits, and the run's thread rewrites
 * the collection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/file.h"
#include "engine/core/team.h"
#include "engine/output/kind.h"

/* The header of an image of a box of cells. Each written cell is `stride` cells large, about its
 * own centre. On a grid of nodes the values are those of the image's points. */
static vtkw_image image_of(const sel_grid *grid, const sel_box *box) {
    vtkw_image image = {.level = 0};
    for (int a = 0; a < 3; a++) {
        double stride = (double)box->stride[a], first = (double)box->lo[a];
        image.extent[2 * a + 1] = sel_box_count(box, a) - grid->nodes;
        image.spacing[a] = stride * grid->dx[a];
        image.origin[a] = sel_centre(grid, a, grid->nodes ? first : first - 0.5 * stride);
    }
    return image;
}

/* Fields are cell data; on a grid of nodes they are point data. */
static void set_arrays(vtkw_image *image, const sel_grid *grid, const vtkw_array *arrays,
                       int count) {
    *(grid->nodes ? &image->point_arrays : &image->cell_arrays) = arrays;
    *(grid->nodes ? &image->point_array_count : &image->cell_array_count) = count;
}

static sel_status fail_image(const vtkw_error *failed, sel_error *error) {
    return sel_fail(error, failed->status == VTKW_NO_MEMORY ? SEL_NO_DEVICE : SEL_BAD_FILE, "%s",
                    failed->text);
}

/* ---- out.vtk ---- */

static const char *const compressions[] = {"none", "zlib", NULL};
static const char *const precisions[] = {"run", "f32", "f64", NULL};

static const sel_table_field vtk_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_vtk_params, fields, NAMES, SEL_OUT_FIELDS_HELP, .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(
        sel_vtk_params, within, SHAPE,
        "A shape.box: only cells whose centres lie in it are written; all cells when not given."),
    SEL_ROW(sel_vtk_params, stride, INT,
            "Writes every stride-th cell along each axis, as a cell that is stride times as large.",
            .flags = SEL_POSITIVE, .preset = 1),
    /* Level 1 shrinks a turbulent f32 field by 8 % at 60 MB/s, slower than any disk writes. Only
     * smooth or rounded fields gain, so compression is off by default. */
    SEL_ROW(sel_vtk_params, compression, CHOICE,
            "zlib makes files of smooth fields about three times smaller, those of turbulent "
            "fields hardly smaller.",
            .preset = SEL_VTK_NONE, .choices = compressions),
    SEL_ROW(sel_vtk_params, level, INT,
            "Level of zlib, 1 to 9; 1 when not given. Higher levels hardly help with "
            "floating-point numbers.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_vtk_params, precision, CHOICE,
            "Precision of the numbers in the file; run: that of the run.", .preset = SEL_VTK_AS_RUN,
            .choices = precisions),
    SEL_ROW(sel_vtk_params, digits, INT,
            "Rounds to this number of significant decimal digits, so that zlib compresses more "
            "(f32 to 3 digits: files smaller by a third); all digits when not given.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_vtk_table =
    SEL_TABLE("out.vtk", sel_vtk_params, vtk_fields,
              "Fields for ParaView, as cell data, with layout = \"node\" as point data: "
              "NAME.pvd, and NAME/NAME_STEP.vti for each time. They also hold solid (1 where "
              "nothing is computed), cell_type (0 in free cells, k where region k made them "
              "solid) and boundary (k in free cells at a boundary face of region k; the last "
              "of several).");

/* `steps` and `arrays` belong to the writer's thread, with several ranks to the run's thread. */
typedef struct vtk_output {
    sel_frames frames;
    bool collected; /* the collection is among the run's files */
    sel_image image;
    sel_image_field *fields;
    vtkw_array *arrays;   /* buffer for the arrays of a file */
    vtkw_strings regions; /* the names of the regions */
    sel_cell_marks marks; /* unused with several ranks */
    vtkw_step *steps;     /* of the collection */
    size_t step_count, step_room;
    /* With several ranks: the frame whose file is not named yet, and what vtk_flush marks as
     * existing in the list of files: the collection (NULL: it exists already) and the frame's file.
     */
    sel_frame *pending;
    sel_output_file *files[2];
} vtk_output;

/* ---- on the writer's thread ---- */

static sel_status vtk_write_image(vtk_output *output, sel_frame *frame, const char *path,
                                  sel_error *error) {
    const sel_grid *grid = &output->frames.base.context->domain->grid;
    const int64_t cells = sel_box_cells(&output->frames.box);
    vtkw_image image;
    for (int i = 0; i < output->image.count; i++) {
        sel_image_round(&output->image, &output->fields[i], cells, frame->values[i]);
    }
    sel_image_arrays(&output->image, output->fields, frame->values, &output->marks, grid->nodes,
                     output->arrays, &image);
    image.time = frame->time;
    vtkw_error failed;
    return vtkw_write_image(path, &image, &failed) == VTKW_OK ? SEL_OK : fail_image(&failed, error);
}

/* Gives the temporary file that several ranks have written the name `path`. */
static sel_status name_image(sel_frame *frame, const char *path, sel_error *error) {
    FILE *file = frame->file;
    frame->file = NULL;
    return sel_file_end(file, path, NULL, error);
}

/* Appends a step to the collection; takes ownership of `file`. file = NULL: strdup failed. */
static sel_status add_step(vtk_output *output, double time, char *file, sel_error *error) {
    const size_t room = 2 * output->step_room + 64;
    vtkw_step *steps = output->steps;
    if (file && output->step_count == output->step_room) {
        steps = realloc(output->steps, room * sizeof *steps);
        output->steps = steps ? steps : output->steps;
        output->step_room = steps ? room : output->step_room;
    }
    if (!file || !steps) {
        free(file);
        return sel_fail_memory(error, "the list of files", room * sizeof *steps);
    }
    output->steps[output->step_count++] = (vtkw_step){time, file};
    return SEL_OK;
}

static sel_status write_collection(const vtk_output *output, sel_error *error) {
    const sel_output *base = &output->frames.base;
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.pvd", base->context->directory, base->name);
    vtkw_error failed;
    vtkw_status status = vtkw_write_collection(path, output->steps, output->step_count, &failed);
    return status == VTKW_OK ? SEL_OK : fail_image(&failed, error);
}

static sel_status write_vtk(sel_frame *frame, const char *path, sel_error *error) {
    vtk_output *output = (vtk_output *)frame->frames;
    char file[SEL_PATH_ROOM];
    sel_frame_file(frame, output->frames.ending, file);
    sel_status status =
        frame->file ? name_image(frame, path, error) : vtk_write_image(output, frame, path, error);
    status = status ? status : add_step(output, frame->time, strdup(file), error);
    return status ? status : write_collection(output, error);
}

/* Whether several ranks write each file in parallel. */
static bool is_parallel(const sel_output *base) {
    return sel_plan_ranks(base->context->plan)->count > 1;
}

/* ---- with several ranks: all write the file, and rank 0 names it when it is complete ---- */

/* Completes the pending file: waits until all ranks have written, names the file, rewrites the
 * collection, and lists both as existing. Called before the next file, a checkpoint, and the end.
 */
static sel_status vtk_flush(vtk_output *output, sel_error *error) {
    const sel_output_context *context = output->frames.base.context;
    sel_frame *frame = output->pending;
    char path[2 * SEL_PATH_ROOM];
    if (!frame) {
        return SEL_OK;
    }
    sel_frame_path(frame, path);
    sel_status status = sel_team_settle(context->state, context->writer, error);
    status = status ? status : write_vtk(frame, path, error);
    for (int k = 0; k < 2 && !status; k++) {
        if (output->files[k]) {
            output->files[k]->job = 0;
        }
    }
    output->pending = NULL;
    frame->next = output->frames.spare;
    output->frames.spare = frame;
    return status;
}

/* Has all ranks read, compress and write their parts of the file (frame->file); the run waits
 * meanwhile. */
static sel_status vtk_write_parallel(vtk_output *output, sel_error *error) {
    sel_output *base = &output->frames.base;
    sel_frame *frame = output->frames.requested;
    char file[SEL_PATH_ROOM];
    sel_frame_file(frame, output->frames.ending, file);
    sel_frame_path(frame, output->image.path);
    output->image.header.time = base->time;
    sel_status status = sel_output_files_claim(base->files, file, error);
    return status ? status
                  : sel_team_image(base->context->state, &output->image, output->fields,
                                   base->context->writer, &frame->file, error);
}

static sel_status vtk_ask(sel_output *base, sel_error *error) {
    vtk_output *output = (vtk_output *)base;
    sel_status status = vtk_flush(output, error);
    status = status ? status : sel_frames_ask(base, error);
    return status || !is_parallel(base) ? status : vtk_write_parallel(output, error);
}

/* Lists the file, which exists only after vtk_flush, and makes the frame pending. frame->file is
 * NULL if the fields need an observed step and the last step was not observed. */
static sel_status vtk_take_parallel(vtk_output *output, sel_error *error) {
    sel_output *base = &output->frames.base;
    sel_frame *frame = output->frames.requested;
    char path[SEL_PATH_ROOM];
    sel_status status = SEL_OK;
    if (!frame->file) {
        return SEL_OK;
    }
    if (!output->collected) {
        output->collected = true;
        snprintf(path, sizeof path, "%s.pvd", base->name);
        status = sel_output_files_claim(base->files, path, error);
        status =
            status ? status
                   : sel_output_files_list(base->files, path, INT64_MAX, &output->files[0], error);
    }
    sel_frame_file(frame, output->frames.ending, path);
    status = status ? status
                    : sel_output_files_list(base->files, path, INT64_MAX, &output->files[1], error);
    output->pending = status ? NULL : frame;
    output->frames.requested = status ? frame : NULL;
    return status;
}

static sel_status vtk_conclude(sel_output *base, sel_error *error) {
    return vtk_flush((vtk_output *)base, error);
}

/* ---- on the run's thread ---- */

static sel_status vtk_take(sel_output *base, sel_error *error) {
    vtk_output *output = (vtk_output *)base;
    sel_status status = SEL_OK;
    if (is_parallel(base)) {
        return vtk_take_parallel(output, error);
    }
    if (!output->collected) {
        output->collected = true;
        status =
            sel_output_files_add(base->files, base->context->writer, base->name, ".pvd", error);
    }
    return status ? status : sel_frames_take(base, error);
}

/* Saves or loads the steps of the collection. After loading, the collection is rewritten without
 * the steps after the checkpoint. The writer is idle. */
static void vtk_keep(sel_output *base, sel_checkpoint *checkpoint) {
    vtk_output *output = (vtk_output *)base;
    sel_error *failure = &checkpoint->failure;
    if (!checkpoint->loads) {
        vtk_flush(output, failure);
    }
    uint64_t count = output->step_count;
    SEL_KEEP(checkpoint, count);
    for (uint64_t i = 0; i < count && !failure->status; i++) {
        vtkw_step step = {0, NULL};
        step = checkpoint->loads ? step : output->steps[i];
        SEL_KEEP(checkpoint, step.time);
        step.file = sel_keep_text(checkpoint, base->arena, step.file);
        if (checkpoint->loads && !failure->status) {
            add_step(output, step.time, strdup(step.file), failure);
        }
    }
    output->collected = count > 0;
    if (count > 0 && checkpoint->loads && !failure->status) {
        write_collection(output, failure);
    }
}

/* ---- opening ---- */

static void vtk_check(sel_output_checker *checker, const void *params) {
    const sel_vtk_params *vtk = params;
    sel_within_check(checker, "within", vtk->within);
    if (vtk->stride < 1) {
        sel_output_refuse(checker, "stride must be at least 1, got %lld", (long long)vtk->stride);
    }
    bool level = vtk->level != SEL_INT_NOT_GIVEN, digits = vtk->digits != SEL_INT_NOT_GIVEN;
    if ((level || digits) && vtk->compression == SEL_VTK_NONE) {
        sel_output_refuse(checker, "%s needs compression = \"zlib\"", level ? "level" : "digits");
    }
    if (level && (vtk->level < 1 || vtk->level > 9)) {
        sel_output_refuse(checker, "level must be 1 to 9, got %lld", (long long)vtk->level);
    }
    if (digits && (vtk->digits < 1 || vtk->digits > 17)) {
        sel_output_refuse(checker, "digits must be 1 to 17, got %lld", (long long)vtk->digits);
    }
}

/* The number of mantissa bits that rounding drops: the error stays within half a unit of the last
 * decimal digit. */
static int bits_to_drop(const sel_vtk_params *params, int precision) {
    if (params->digits == SEL_INT_NOT_GIVEN) {
        return 0;
    }
    int mantissa = precision == SEL_F32 ? 24 : 53;
    int kept = 1 + (int)ceil((double)params->digits * log2(10));
    return kept < mantissa ? mantissa - kept : 0;
}

/* SEL_F32 or SEL_F64; `of_run`: the precision of the run. */
static int chosen_precision(const sel_vtk_params *params, int of_run) {
    static const int chosen[] = {-1, SEL_F32, SEL_F64};
    return params->precision == SEL_VTK_AS_RUN ? of_run : chosen[params->precision];
}

static sel_box chosen_cells(const sel_vtk_params *params, const sel_grid *grid) {
    sel_box box = sel_within_box(grid, params->within);
    for (int a = 0; a < grid->dims; a++) {
        box.stride[a] = params->stride;
    }
    return box;
}

/* Bytes of a file's arrays. The marks (cell_type, solid, boundary) take a byte per cell each. */
static double vtk_bytes(const sel_plan *plan, const void *params, bool *packed) {
    const sel_vtk_params *vtk = params;
    const sel_grid *grid = &plan->domain->grid;
    const int number = chosen_precision(vtk, plan->precision) == SEL_F32 ? 4 : 8;
    const sel_box box = chosen_cells(vtk, grid);
    double per_cell = SEL_IMAGE_MARKS;
    for (int i = 0; i < vtk->fields.n; i++) {
        const sel_pick pick = sel_pick_of(plan->simulation->solver, grid->dims, vtk->fields.v[i]);
        per_cell += number * pick.stored;
    }
    *packed = vtk->compression != SEL_VTK_NONE;
    return per_cell * (double)sel_box_cells(&box);
}

/* Adds the names of the regions, as numbered in the array cell_type, to the header. */
static sel_status name_regions(const sel_output *base, vtkw_strings *regions, vtkw_image *header,
                               sel_error *error) {
    const sel_domain *domain = base->context->domain;
    const size_t count = (size_t)domain->region_count + 1;
    sel_arena *arena = base->arena;
    char number[32];
    const char **names = sel_arena_alloc(arena, count * sizeof *names);
    bool failed = !names;
    for (int k = 0; k <= domain->region_count && !failed; k++) {
        const char *name = k ? sel_region_name(domain, k, number) : "interior";
        names[k] = sel_arena_copy(arena, name);
        failed = !names[k];
    }
    *regions = (vtkw_strings){"cell_type_names", (int)count, names};
    header->strings = regions;
    header->strings_count = 1;
    return failed ? sel_fail_memory(error, "the names of regions", count * sizeof number) : SEL_OK;
}

static sel_status name_fields(vtk_output *output, sel_error *error) {
    const sel_picks *picks = &output->frames.base.picks;
    const size_t count = (size_t)picks->count, room = count + SEL_IMAGE_MARKS;
    sel_arena *arena = output->frames.base.arena;
    output->image.count = picks->count;
    output->fields = sel_arena_alloc(arena, count * sizeof *output->fields);
    output->arrays = sel_arena_alloc(arena, room * sizeof *output->arrays);
    if (!output->fields || !output->arrays) {
        return sel_fail_memory(error, "an output", room * sizeof *output->arrays);
    }
    for (int i = 0; i < picks->count; i++) {
        const sel_pick *pick = &picks->v[i];
        output->fields[i] =
            (sel_image_field){pick->name, pick->field, pick->first, pick->read, pick->stored};
    }
    return SEL_OK;
}

static sel_status mark_cells(const sel_output *base, const sel_box *box, sel_cell_marks *marks,
                             sel_error *error) {
    const size_t cells = (size_t)sel_box_cells(box);
    uint8_t *bytes = sel_arena_alloc(base->arena, SEL_IMAGE_MARKS * cells);
    if (!bytes) {
        return sel_fail_memory(error, "the cell types to write", SEL_IMAGE_MARKS * cells);
    }
    *marks =
        (sel_cell_marks){.cell_type = bytes, .solid = bytes + cells, .boundary = bytes + 2 * cells};
    sel_domain_cells(base->context->domain, box, marks);
    return SEL_OK;
}

static sel_status vtk_open(sel_output *base, sel_error *error) {
    vtk_output *output = (vtk_output *)base;
    const sel_vtk_params *params = base->params;
    const sel_grid *grid = &base->context->domain->grid;
    const int precision = chosen_precision(params, base->context->plan->precision);
    const sel_box box = chosen_cells(params, grid);
    output->image = (sel_image){.box = box,
                                .precision = precision,
                                .drop_bits = bits_to_drop(params, precision),
                                .header = image_of(grid, &box)};
    output->image.header.has_time = 1;
    output->image.header.level = params->compression == SEL_VTK_NONE  ? 0
                                 : params->level == SEL_INT_NOT_GIVEN ? 1
                                                                      : (int)params->level;
    sel_status status = is_parallel(base) ? SEL_OK : mark_cells(base, &box, &output->marks, error);
    status = status ? status : name_fields(output, error);
    status = status ? status : name_regions(base, &output->regions, &output->image.header, error);
    status = status ? status
                    : sel_frames_open(&output->frames, "vti", &box, precision, write_vtk, error);
    base->requests.count = is_parallel(base) ? 0 : base->requests.count;
    return status;
}

static void vtk_close(sel_output *base) {
    vtk_output *output = (vtk_output *)base;
    for (size_t i = 0; i < output->step_count; i++) {
        free((void *)(uintptr_t)output->steps[i].file);
    }
    free(output->steps);
    if (output->pending) {
        output->pending->next = output->frames.spare;
        output->frames.spare = output->pending;
    }
    sel_frames_close(base);
}

const sel_output_kind sel_vtk_kind = {
    .table = &sel_out_vtk_table,
    .size = sizeof(vtk_output),
    .check = vtk_check,
    .bytes = vtk_bytes,
    .open = vtk_open,
    .ask = vtk_ask,
    .take = vtk_take,
    .keep = vtk_keep,
    .conclude = vtk_conclude,
    .close = vtk_close,
};

/* ---- out.average ----
 *
 * Mean and sum of squared deviations are updated per sample (Welford 1962), in f64, which avoids
 * the cancellation of large sums. */

static const sel_table_field average_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_average_params, fields, NAMES, SEL_OUT_FIELDS_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
};

const sel_table sel_out_average_table =
    SEL_TABLE("out.average", sel_average_params, average_fields,
              "Mean and rms of fields over time, as NAME.vti, written at the end: for each field "
              "the arrays FIELD_mean and FIELD_rms, component by component; rms is that of the "
              "deviation from the mean; with solid, cell_type and boundary, as out.vtk. A sample "
              "every 10 steps when neither every nor interval is "
              "given; from_step or from_time leaves out how the flow began.");

enum { SAMPLE_PERIOD = 10 };

typedef struct average_field {
    double *mean;    /* [cells][stored] */
    double *squares; /* [cells][stored], sum of squared deviations; the rms after finish_rms */
    double *values;  /* [cells][read], the present sample */
} average_field;

typedef struct average_output {
    sel_output base;
    average_field *fields; /* per pick */
    size_t cells;
    int64_t samples;
} average_output;

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

static sel_status average_take(sel_output *base, sel_error *error) {
    (void)error;
    average_output *output = (average_output *)base;
    output->samples++;
    for (int k = 0; k < base->picks.count; k++) {
        add_field(output, k);
    }
    return SEL_OK;
}

/* Saves or loads the names of the fields; fields other than those in the checkpoint are a failure.
 */
static void keep_names(const sel_output *base, sel_checkpoint *checkpoint) {
    int count = base->picks.count;
    SEL_KEEP(checkpoint, count);
    bool same = count == base->picks.count;
    for (int i = 0; i < base->picks.count && same; i++) {
        const char *name = sel_keep_text(checkpoint, base->arena, base->picks.v[i].name);
        same = strcmp(name, base->picks.v[i].name) == 0;
    }
    if (!same) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                            "%s: the output '%s' had other fields; give it another name",
                            checkpoint->path, base->name);
    }
}

static void average_keep(sel_output *base, sel_checkpoint *checkpoint) {
    average_output *output = (average_output *)base;
    keep_names(base, checkpoint);
    SEL_KEEP(checkpoint, output->samples);
    if (output->samples < 0 || output->samples > SEL_MOST_STEPS) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the samples of a mean",
                            checkpoint->path);
    }
    for (int k = 0; k < base->picks.count; k++) {
        const size_t numbers = output->cells * (size_t)base->picks.v[k].stored;
        sel_keep(checkpoint, output->fields[k].mean, numbers * sizeof(double));
        sel_keep(checkpoint, output->fields[k].squares, numbers * sizeof(double));
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

/* Writes the file. `arrays` has room for SEL_IMAGE_MARKS arrays more, which are filled here. */
static sel_status write_average(const sel_output *base, vtkw_array *arrays, sel_error *error) {
    const sel_grid *grid = &base->context->domain->grid;
    const sel_box all = sel_grid_box(grid);
    const int count = 2 * base->picks.count;
    vtkw_image image = image_of(grid, &all);
    vtkw_strings regions;
    sel_cell_marks marks = {.cell_type = NULL};
    sel_status status = mark_cells(base, &all, &marks, error);
    status = status ? status : name_regions(base, &regions, &image, error);
    sel_image_mark_arrays(&marks, arrays + count);
    set_arrays(&image, grid, arrays, count + SEL_IMAGE_MARKS);
    image.has_time = 1;
    image.time = base->time;
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.vti", base->context->directory, base->name);
    status = status ? status : sel_output_files_add(base->files, NULL, base->name, ".vti", error);
    vtkw_error failed;
    if (!status && vtkw_write_image(path, &image, &failed) != VTKW_OK) {
        base->files->last->job = INT64_MAX; /* never listed: the file does not exist */
        status = fail_image(&failed, error);
    }
    return status;
}

static sel_status average_conclude(sel_output *base, sel_error *error) {
    const average_output *output = (const average_output *)base;
    const size_t room = 2 * (size_t)base->picks.count + SEL_IMAGE_MARKS;
    vtkw_array *arrays = sel_arena_alloc(base->arena, room * sizeof *arrays);
    bool failed = !arrays;
    for (int k = 0; k < base->picks.count && !failed; k++) {
        const sel_pick *pick = &base->picks.v[k];
        const char *mean = sel_arena_print(base->arena, "%s_mean", pick->name);
        const char *rms = sel_arena_print(base->arena, "%s_rms", pick->name);
        finish_rms(output, k);
        arrays[2 * k] = (vtkw_array){mean, VTKW_FLOAT64, pick->stored, output->fields[k].mean};
        arrays[2 * k + 1] =
            (vtkw_array){rms, VTKW_FLOAT64, pick->stored, output->fields[k].squares};
        failed = !mean || !rms;
    }
    return failed ? sel_fail_memory(error, "an output", room * sizeof *arrays)
                  : write_average(base, arrays, error);
}

static sel_status average_open(sel_output *base, sel_error *error) {
    average_output *output = (average_output *)base;
    const size_t picks = (size_t)base->picks.count;
    const sel_box box = sel_grid_box(&base->context->domain->grid);
    size_t all = 3 * picks;
    output->cells = (size_t)sel_box_cells(&box);
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

const sel_output_kind sel_average_kind = {
    .table = &sel_out_average_table,
    .size = sizeof(average_output),
    .period = SAMPLE_PERIOD,
    .only_when_due = true,
    .open = average_open,
    .take = average_take,
    .keep = average_keep,
    .conclude = average_conclude,
};
