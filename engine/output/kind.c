/* kind.c -- helpers that kinds of output share: fields, checks, requests, frames. */
#include "engine/output/kind.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/file.h"
#include "engine/base/hardware.h"
#include "engine/scene/limit.h"
#include "engine/scene/shape.h"

const char *const sel_output_moments[] = {"due", "end", NULL};

const sel_variant *sel_output_variant(const sel_simulation *simulation, int i) {
    return (const sel_variant *)simulation->params->output.v + i;
}

const char *sel_output_name(const sel_variant *output) {
    const sel_output_common *common = output->data;
    return common->name ? common->name : strrchr(output->table->name, '.') + 1;
}

/* ---- fields ---- */

const char *sel_output_field(const sel_table *table, const void *params, int k) {
    for (int i = 0; i < table->count; i++) {
        const sel_table_field *row = &table->fields[i];
        const void *member = (const char *)params + row->offset;
        const sel_names one = {1, (const char **)(uintptr_t)member};
        const sel_names *names = row->kind == SEL_KIND_NAMES ? member : &one;
        if (!(row->flags & SEL_RESULT) || (names == &one && !*one.v)) {
            continue;
        }
        if (k < names->n) {
            return names->v[k];
        }
        k -= names->n;
    }
    return NULL;
}

sel_pick sel_pick_of(const sel_solver *solver, int dims, const char *name) {
    sel_pick pick = {.name = name};
    int component;
    pick.field = sel_solver_field(solver, dims, name, &component);
    const sel_field_info *info = &solver->fields[pick.field];
    pick.field_components = sel_field_components(info, dims);
    pick.first = component < 0 ? 0 : component;
    pick.components = component < 0 ? pick.field_components : 1;
    pick.stored = pick.components == 2 ? 3 : pick.components;
    pick.read = component < 0 ? pick.stored : pick.field_components;
    for (int c = 0; c < pick.components; c++) {
        const char *suffix = pick.components > 1 ? sel_field_suffix(info, dims, c) : "";
        snprintf(pick.columns[c], SEL_COLUMN_ROOM, *suffix ? "%s_%s" : "%s", name, suffix);
    }
    return pick;
}

void sel_pick_scalar(const sel_pick *pick, float *values, int64_t cells) {
    for (int64_t i = 0; i < cells; i++) {
        const float *cell = values + i * pick->read;
        double squares = 0;
        for (int c = 0; c < pick->read; c++) {
            squares += (double)cell[c] * (double)cell[c];
        }
        values[i] = pick->components == 1 ? cell[pick->first] : (float)sqrt(squares);
    }
}

void sel_picks_columns(const sel_picks *picks, int number, sel_csv *csv) {
    for (int i = 0; i < picks->count; i++) {
        for (int c = 0; c < picks->v[i].components; c++) {
            char numbered[SEL_COLUMN_ROOM + 16];
            snprintf(numbered, sizeof numbered, number ? "%s_%d" : "%s", picks->v[i].columns[c],
                     number);
            sel_csv_text(csv, numbered);
        }
    }
}

/* ---- checks ---- */

bool sel_output_refuse(sel_output_checker *checker, const char *format, ...) {
    char text[sizeof checker->error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    checker->status =
        sel_fail_at(checker->error, checker->where, "%s: %s", checker->table->name, text);
    return false;
}

/* Reports a field that the solver does not have, with the list of those it has. */
static bool output_unknown_field(sel_output_checker *checker, const char *name) {
    enum { MOST = 64 };
    const sel_solver *solver = checker->simulation->solver;
    const char *names[MOST + 1] = {NULL};
    char list[1024] = "", near[SEL_SUGGESTION_ROOM];
    size_t used = 0;
    for (int f = 0; f < solver->field_count && f < MOST; f++) {
        names[f] = solver->fields[f].name;
        if (used < sizeof list) {
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", f ? ", " : "", names[f]);
        }
    }
    return sel_output_refuse(checker, "sel.%s has no field '%s'%s (it has %s)", solver->name, name,
                             sel_suggestion(name, names, near), list);
}

static bool named_before(const sel_names *names, int i) {
    for (int j = 0; j < i; j++) {
        if (strcmp(names->v[i], names->v[j]) == 0) {
            return true;
        }
    }
    return false;
}

bool sel_picks_check(sel_output_checker *checker, const sel_names *names) {
    bool fine = true;
    if (names->n == 0) {
        return sel_output_refuse(checker, "the list of fields is empty");
    }
    for (int i = 0; i < names->n; i++) {
        int component;
        if (sel_solver_field(checker->simulation->solver, checker->domain->grid.dims, names->v[i],
                             &component) < 0) {
            fine = output_unknown_field(checker, names->v[i]);
        } else if (named_before(names, i)) {
            fine = sel_output_refuse(checker, "field '%s' is listed twice", names->v[i]);
        }
    }
    return fine;
}

/* " (FILE:LINE)", where the scenario names the field of a pick; or "". */
static const char *pick_place(const sel_solver *solver, const sel_pick *pick, char text[512]) {
    const sel_where none = {NULL, 0}, where = solver->places ? solver->places[pick->field] : none;
    snprintf(text, 512, where.file ? " (%.480s:%d)" : "", where.file, where.line);
    return text;
}

/* The first column of a pick that another one has, too; NULL: none. */
static const char *shared_column(const sel_pick *a, const sel_pick *b) {
    for (int k = 0; k < a->components * b->components; k++) {
        const char *name = a->columns[k / b->components];
        if (strcmp(name, b->columns[k % b->components]) == 0) {
            return name;
        }
    }
    return NULL;
}

void sel_columns_check(sel_output_checker *checker, const sel_names *fields, bool arrays,
                       const char *const *others) {
    const sel_solver *solver = checker->simulation->solver;
    const int dims = checker->domain->grid.dims;
    const char *what = arrays ? "array" : "column";
    char place[512], place_before[512];
    int component;
    for (int i = 0; i < fields->n; i++) {
        if (sel_solver_field(solver, dims, fields->v[i], &component) < 0) {
            continue;
        }
        const sel_pick pick = sel_pick_of(solver, dims, fields->v[i]);
        for (int c = 0; c < (arrays ? 1 : pick.components); c++) {
            const char *name = arrays ? pick.name : pick.columns[c];
            if (sel_name_index(others, name) >= 0) {
                sel_output_refuse(checker,
                                  "the %s of the field '%s'%s would be called as another %s of the "
                                  "file, '%s'; give the field another name",
                                  what, pick.name, pick_place(solver, &pick, place), what, name);
            }
        }
        for (int j = 0; j < i && !arrays; j++) {
            if (strcmp(fields->v[j], fields->v[i]) == 0 ||
                sel_solver_field(solver, dims, fields->v[j], &component) < 0) {
                continue;
            }
            const sel_pick before = sel_pick_of(solver, dims, fields->v[j]);
            const char *name = shared_column(&pick, &before);
            if (name) {
                sel_output_refuse(checker,
                                  "'%s'%s and '%s'%s both have a column '%s'; leave one out",
                                  before.name, pick_place(solver, &before, place_before), pick.name,
                                  pick_place(solver, &pick, place), name);
            }
        }
    }
}

/* Reports a tensor: a scalar is needed, or a vector, of which the magnitude is taken. */
static void check_scalar(sel_output_checker *checker, const char *field) {
    const sel_solver *solver = checker->simulation->solver;
    const sel_names names = {1, &field};
    if (!sel_picks_check(checker, &names)) {
        return;
    }
    const sel_pick pick = sel_pick_of(solver, checker->domain->grid.dims, field);
    if (pick.components > 1 && solver->fields[pick.field].rank == SEL_TENSOR) {
        sel_output_refuse(checker, "'%s' is a tensor; name a component, such as %s_xy", field,
                          field);
    }
}

void sel_fields_check(sel_output_checker *checker, const void *params) {
    for (int i = 0; i < checker->table->count; i++) {
        const sel_table_field *row = &checker->table->fields[i];
        const void *member = (const char *)params + row->offset;
        if ((row->flags & SEL_RESULT) && row->kind == SEL_KIND_NAMES) {
            sel_picks_check(checker, member);
        } else if ((row->flags & SEL_RESULT) && *(const char *const *)member) {
            check_scalar(checker, *(const char *const *)member);
        }
    }
}

/* "[0, 2] x [0, 1]" */
static void domain_text(const sel_grid *grid, char *text, size_t size) {
    size_t used = 0;
    for (int a = 0; a < grid->dims && used < size; a++) {
        used += (size_t)snprintf(text + used, size - used, "%s[%.10g, %.10g]", a ? " x " : "",
                                 grid->origin[a], sel_upper_end(grid, a));
    }
}

bool sel_point_check(sel_output_checker *checker, const char *what, const sel_point *point) {
    const sel_grid *grid = &checker->domain->grid;
    if (point->n != grid->dims) {
        return sel_output_refuse(checker, "%s has %d coordinates, the domain has %d dimensions",
                                 what, point->n, grid->dims);
    }
    for (int a = 0; a < grid->dims; a++) {
        if (!sel_in_domain(grid, a, point->v[a])) {
            char domain[128];
            domain_text(grid, domain, sizeof domain);
            return sel_output_refuse(checker,
                                     "%s lies outside the domain: %s = %.10g, the domain is %s",
                                     what, sel_axis_names[a], point->v[a], domain);
        }
    }
    return true;
}

/* The first cell whose centre is at or beyond `coordinate` (up to round-off), 0 to n. */
static int64_t first_cell(const sel_grid *grid, int axis, double coordinate) {
    double cell = ceil(sel_index(grid, axis, coordinate - sel_limit_slack(grid)));
    if (!(cell > 0)) {
        return 0;
    }
    return cell > (double)grid->n[axis] ? grid->n[axis] : (int64_t)cell;
}

sel_box sel_within_box(const sel_grid *grid, const struct sel_shape *within) {
    sel_box box = sel_grid_box(grid);
    const sel_shape_box *shape = within ? within->data : NULL;
    for (int a = 0; shape && a < grid->dims; a++) {
        box.lo[a] = first_cell(grid, a, shape->min.v[a]);
        const double max = shape->max.v[a];
        box.hi[a] = max > sel_last_inside(grid, a) ? grid->n[a] : first_cell(grid, a, max);
    }
    return box;
}

bool sel_within_check(sel_output_checker *checker, const char *what,
                      const struct sel_shape *within) {
    if (!within) {
        return true;
    }
    if (within->kind != SEL_SHAPE_BOX) {
        return sel_output_refuse(checker, "%s must be a shape.box", what);
    }
    sel_status status = sel_shape_check(within, &checker->domain->grid, checker->error);
    if (status != SEL_OK) {
        checker->status = status;
        return false;
    }
    const sel_box box = sel_within_box(&checker->domain->grid, within);
    return sel_box_cells(&box) > 0 ||
           sel_output_refuse(checker, "no cell centre lies within the box");
}

int sel_box_region(const sel_domain *domain, const sel_box *box, int64_t i) {
    int64_t at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = box->lo[a] + i % sel_box_count(box, a) * box->stride[a];
        i /= sel_box_count(box, a);
    }
    return domain->cell[sel_cell_number(&domain->grid, at)];
}

bool sel_free_within_check(sel_output_checker *checker, const struct sel_shape *within) {
    if (!sel_within_check(checker, "within", within)) {
        return false;
    }
    const sel_box box = sel_within_box(&checker->domain->grid, within);
    for (int64_t i = 0; i < sel_box_cells(&box); i++) {
        if (sel_box_region(checker->domain, &box, i) == 0) {
            return true;
        }
    }
    return sel_output_refuse(checker, "all cells %s are solid",
                             within ? "of the box" : "of the domain");
}

/* ---- while the run is under way ---- */

sel_status sel_output_request(sel_output *output, const sel_request *request, sel_error *error) {
    sel_requests *requests = &output->requests;
    if (requests->count == requests->room) {
        int room = 2 * requests->room + 4;
        sel_request *v = realloc(requests->v, (size_t)room * sizeof *v);
        if (!v) {
            return sel_fail_memory(error, "an output", (size_t)room * sizeof *v);
        }
        requests->v = v;
        requests->room = room;
    }
    requests->v[requests->count++] = *request;
    return SEL_OK;
}

sel_status sel_output_read(sel_output *output, const sel_box *box, int precision,
                           sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        const sel_request request = {.kind = SEL_READ,
                                     .field = pick->field,
                                     .box = *box,
                                     .precision = precision,
                                     .components = pick->read};
        status = sel_output_request(output, &request, error);
    }
    return status;
}

sel_status sel_answer(const sel_output_context *context, sel_request *request, sel_error *error) {
    sel_status status = context->backend->start(context->state, request, error);
    return status ? status : context->backend->finish(context->state, request, error);
}

sel_status sel_output_answer(sel_output *output, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < output->requests.count && !status; i++) {
        status = sel_answer(output->context, &output->requests.v[i], error);
    }
    return status;
}

void sel_output_row(sel_output *output) {
    sel_csv_number(output->csv, (double)output->step);
    sel_csv_number(output->csv, output->time);
}

sel_status sel_output_result(const sel_output *output, const char *what, double value,
                             sel_error *error) {
    char result[160];
    snprintf(result, sizeof result, "%s.%s", output->name, what);
    return sel_results_set(output->context->results, result, value, error);
}

void sel_output_warn(const sel_output *output, const char *about, const char *format, ...) {
    char text[1024];
    va_list args;
    if (!output->context->warn) {
        return;
    }
    const int used = snprintf(text, sizeof text, "%.200s: ", about);
    va_start(args, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    va_end(args);
    output->context->warn(output->context->warn_data, about, text);
}

sel_status sel_output_table(const sel_output *output, const void *data,
                            void (*write)(const void *data, sel_csv *csv), sel_error *error) {
    char path[SEL_PATH_ROOM];
    sel_output_file *file;
    sel_csv *csv = NULL;
    snprintf(path, sizeof path, "%s.csv", output->name);
    sel_status status = sel_output_files_claim(output->files, path, error);
    status = status ? status : sel_csv_open(output->context->directory, path, -1, &csv, error);
    if (!status) {
        write(data, csv);
        status = sel_csv_flush(csv, error);
    }
    sel_csv_close(csv);
    return status ? status : sel_output_files_list(output->files, path, 0, &file, error);
}

void sel_output_keep_names(sel_output *output, const char *(*name)(const sel_output *output, int i),
                           const char *what, sel_checkpoint *checkpoint) {
    int all = 0;
    while (name(output, all)) {
        all++;
    }
    int count = all;
    SEL_KEEP(checkpoint, count);
    bool same = count == all;
    for (int i = 0; i < all && same; i++) {
        const char *now = name(output, i);
        same = strcmp(sel_keep_text(checkpoint, output->arena, now), now) == 0;
    }
    if (!same) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                            "%s: the output '%s' had other %s; give it another name",
                            checkpoint->path, output->name, what);
    }
}

/* ---- frames ---- */

sel_status sel_frames_open(sel_frames *frames, const char *ending, const sel_box *box,
                           int precision, sel_frame_writer *write, sel_error *error) {
    const sel_output_context *context = frames->base.context;
    frames->ending = ending;
    frames->box = *box;
    frames->precision = precision;
    frames->write = write;
    pthread_mutex_init(&frames->lock, NULL);
    sel_status status = sel_output_read(&frames->base, box, precision, error);
    return status ? status
                  : sel_folder_make(context->directory, frames->base.name,
                                    context->force || context->resume, error);
}

void sel_frame_file(const sel_frame *frame, const char *ending, char path[SEL_PATH_ROOM]) {
    const char *name = frame->frames->base.name;
    snprintf(path, SEL_PATH_ROOM, "%s/%s_%08lld.%s", name, name, (long long)frame->step, ending);
}

void sel_frame_path(const sel_frame *frame, char path[2 * SEL_PATH_ROOM]) {
    char file[SEL_PATH_ROOM];
    sel_frame_file(frame, frame->frames->ending, file);
    snprintf(path, 2 * SEL_PATH_ROOM, "%s/%s", frame->frames->base.context->directory, file);
}

/* Discards the unnamed file of a frame that is not written. */
static void drop_file(sel_frame *frame) {
    char path[2 * SEL_PATH_ROOM];
    if (frame->file) {
        sel_frame_path(frame, path);
        sel_file_end(frame->file, path, "it is not wanted", NULL);
        frame->file = NULL;
    }
}

static void free_frame(sel_frame *frame) {
    if (frame) {
        drop_file(frame);
    }
    for (int i = 0; frame && i < frame->frames->base.picks.count; i++) {
        free(frame->values[i]);
    }
    free(frame);
}

static sel_status make_frame(sel_frames *frames, sel_error *error) {
    const sel_picks *picks = &frames->base.picks;
    const size_t number = frames->precision == SEL_F32 ? sizeof(float) : sizeof(double);
    const size_t cells = (size_t)sel_box_cells(&frames->box);
    size_t bytes = sizeof(sel_frame) + (size_t)picks->count * sizeof(void *);
    sel_frame *frame = calloc(1, bytes);
    bool failed = !frame;
    if (frame) {
        frame->frames = frames;
    }
    for (int i = 0; i < frames->base.requests.count && !failed; i++) {
        bytes = cells * (size_t)picks->v[i].read * number;
        frame->values[i] = sel_machine_allocate(bytes);
        failed = !frame->values[i];
    }
    if (failed) {
        free_frame(frame);
        return sel_fail_memory(error, "a copy of a field to write", bytes);
    }
    frames->requested = frame;
    return SEL_OK;
}

sel_status sel_frames_ask(sel_output *output, sel_error *error) {
    sel_frames *frames = (sel_frames *)output;
    if (!frames->requested) {
        pthread_mutex_lock(&frames->lock);
        frames->requested = frames->spare;
        frames->spare = frames->spare ? frames->spare->next : NULL;
        pthread_mutex_unlock(&frames->lock);
    }
    sel_status status = frames->requested ? SEL_OK : make_frame(frames, error);
    for (int i = 0; i < output->requests.count && !status; i++) {
        output->requests.v[i].to = frames->requested->values[i];
    }
    if (!status) {
        frames->requested->step = output->step;
        frames->requested->time = output->time;
    }
    return status;
}

/* A job of the writer's thread: writes a frame, then puts it into the list of spare frames. */
static sel_status write_frame(void *data, bool cancelled, sel_error *error) {
    sel_frame *frame = data;
    sel_frames *frames = frame->frames;
    char path[2 * SEL_PATH_ROOM];
    sel_frame_path(frame, path);
    sel_status status = cancelled ? SEL_OK : frames->write(frame, path, error);
    pthread_mutex_lock(&frames->lock);
    frame->next = frames->spare;
    frames->spare = frame;
    pthread_mutex_unlock(&frames->lock);
    return status;
}

sel_status sel_frames_take(sel_output *output, sel_error *error) {
    sel_frames *frames = (sel_frames *)output;
    const char *endings[] = {frames->ending, frames->beside};
    sel_writer *writer = output->context->writer;
    sel_status status = SEL_OK;
    for (int k = 0; k < 2 && endings[k] && !status; k++) {
        char file[SEL_PATH_ROOM];
        sel_frame_file(frames->requested, endings[k], file);
        status = sel_output_files_add(output->files, writer, file, "", error);
    }
    if (status) {
        return status;
    }
    sel_frame *frame = frames->requested;
    frames->requested = NULL;
    return sel_writer_submit(writer, write_frame, frame, error);
}

void sel_frames_close(sel_output *output) {
    sel_frames *frames = (sel_frames *)output;
    free_frame(frames->requested);
    for (sel_frame *frame = frames->spare, *next; frame; frame = next) {
        next = frame->next;
        free_frame(frame);
    }
    pthread_mutex_destroy(&frames->lock);
}
