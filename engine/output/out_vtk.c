/* out_vtk.c -- out.vtk: fields as VTK image data, a file per time and a collection of them.
 *
 * The writer's thread picks components, rounds, compresses and writes the fields. Then it rewrites
 * the collection, which thus never names a file that does not exist.
 * With several ranks, all ranks write each file while the run waits, and the run's thread rewrites
 * the collection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/file.h"
#include "engine/core/team.h"
#include "engine/output/vtk_image.h"

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
              "nothing is computed), cell_type (k where region k painted the cell, else 0) and "
              "boundary (k in free cells at a boundary face of region k; the last of several).");

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
    return vtkw_write_image(path, &image, &failed) == VTKW_OK ? SEL_OK
                                                              : sel_vtk_fail(&failed, error);
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
    return status == VTKW_OK ? SEL_OK : sel_vtk_fail(&failed, error);
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
    static const char *const marks[] = {"solid", "cell_type", "boundary", NULL};
    const sel_vtk_params *vtk = params;
    sel_within_check(checker, "within", vtk->within);
    sel_columns_check(checker, &vtk->fields, true, marks);
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

static sel_status vtk_open(sel_output *base, sel_error *error) {
    vtk_output *output = (vtk_output *)base;
    const sel_vtk_params *params = base->params;
    const sel_grid *grid = &base->context->domain->grid;
    const int precision = chosen_precision(params, base->context->plan->precision);
    const sel_box box = chosen_cells(params, grid);
    output->image = (sel_image){.box = box,
                                .precision = precision,
                                .drop_bits = bits_to_drop(params, precision),
                                .header = sel_vtk_image(grid, &box)};
    output->image.header.has_time = 1;
    output->image.header.level = params->compression == SEL_VTK_NONE  ? 0
                                 : params->level == SEL_INT_NOT_GIVEN ? 1
                                                                      : (int)params->level;
    sel_status status =
        is_parallel(base) ? SEL_OK : sel_vtk_marks(base, &box, &output->marks, error);
    status = status ? status : name_fields(output, error);
    status =
        status ? status : sel_vtk_regions(base, &output->regions, &output->image.header, error);
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
    .stands_alone = true,
    .check = vtk_check,
    .bytes = vtk_bytes,
    .open = vtk_open,
    .ask = vtk_ask,
    .take = vtk_take,
    .keep = vtk_keep,
    .conclude = vtk_conclude,
    .close = vtk_close,
};
