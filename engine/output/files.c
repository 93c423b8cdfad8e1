/* files.c -- the list of the files that the outputs of a run have made, also in a checkpoint. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/folder.h"
#include "engine/output/kind.h"

static sel_status make_room(sel_output_files *files, sel_error *error) {
    if (files->count < files->capacity) {
        return SEL_OK;
    }
    const int capacity = 2 * files->capacity + 16;
    struct sel_output_file *v = realloc(files->v, (size_t)capacity * sizeof *v);
    if (!v) {
        return sel_fail_memory(error, "the list of files", (size_t)capacity * sizeof *v);
    }
    files->v = v;
    const char **listed = realloc(files->listed, ((size_t)capacity + 1) * sizeof *listed);
    if (!listed) {
        return sel_fail_memory(error, "the list of files", (size_t)capacity * sizeof *listed);
    }
    files->listed = listed;
    files->capacity = capacity;
    return SEL_OK;
}

/* Takes `name` over; NULL: there was no memory for it. */
static sel_status append(sel_output_files *files, char *name, int64_t job, int64_t bytes,
                         sel_error *error) {
    sel_status status =
        name ? make_room(files, error) : sel_fail_memory(error, "the list of files", sizeof *name);
    if (status) {
        free(name);
        return status;
    }
    files->v[files->count++] = (struct sel_output_file){.name = name, .job = job, .bytes = bytes};
    return SEL_OK;
}

/* Its place in the list, if it is of the run that this one goes on from; -1: it is not. */
static int find_known(const sel_output_files *files, const char *name) {
    for (int i = 0; i < files->known; i++) {
        if (strcmp(files->v[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

sel_status sel_output_files_add(sel_output_files *files, sel_writer *writer, sel_error *error,
                                const char *format, ...) {
    int64_t submitted = -1, written;
    if (writer) {
        sel_writer_counts(writer, &submitted, &written);
    }
    char *name = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&name, format, args);
    va_end(args);
    if (length < 0) {
        return sel_fail_memory(error, "the list of files", strlen(format));
    }
    const bool known = find_known(files, name) >= 0;
    sel_status status =
        known ? SEL_OK : sel_folder_claim(files->directory, name, files->force, error);
    if (status || known) {
        free(name);
        return status;
    }
    return append(files, name, submitted + 1, -1, error);
}

void sel_output_files_drop(sel_output_files *files) {
    free(files->v[--files->count].name);
}

sel_status sel_output_files_csv(sel_output_files *files, const char *name, sel_csv **csv,
                                sel_error *error) {
    char file[128];
    snprintf(file, sizeof file, "%s.csv", name);
    int at = find_known(files, file);
    int64_t bytes = at >= 0 ? files->v[at].bytes : -1;
    sel_status status = SEL_OK;
    if (at < 0) {
        status = sel_output_files_add(files, NULL, error, "%s", file);
        at = files->count - 1;
    }
    status = status ? status : sel_csv_open(files->directory, file, bytes, csv, error);
    if (status == SEL_OK) {
        files->v[at].csv = *csv;
    }
    return status;
}

/* ---- in a checkpoint ---- */

static void load_file(sel_output_files *files, sel_checkpoint *checkpoint) {
    char *name = sel_kept_text(checkpoint);
    int64_t bytes = -1;
    sel_error error = {.status = SEL_OK};
    SEL_KEEP(checkpoint, bytes);
    if (sel_checkpoint_status(checkpoint, NULL)) {
        free(name);
    } else if (append(files, name, 0, bytes, &error)) {
        sel_checkpoint_fail(checkpoint, error.status, "%s", error.text);
    }
}

void sel_output_files_keep(sel_output_files *files, sel_checkpoint *checkpoint) {
    int count = files->count;
    SEL_KEEP(checkpoint, count);
    for (int i = 0; i < count && !sel_checkpoint_status(checkpoint, NULL); i++) {
        if (sel_checkpoint_loads(checkpoint)) {
            load_file(files, checkpoint);
            continue;
        }
        struct sel_output_file *file = &files->v[i];
        file->bytes = file->csv ? sel_csv_bytes(file->csv) : file->bytes;
        sel_keep_text(checkpoint, file->name);
        SEL_KEEP(checkpoint, file->bytes);
    }
}

sel_status sel_output_files_known(sel_output_files *files, const sel_output_context *context,
                                  sel_error *error) {
    sel_checkpoint_block(context->resume, "files");
    sel_output_files_keep(files, context->resume);
    sel_status status = sel_checkpoint_status(context->resume, error);
    files->known = files->count;
    for (const char *const *more = context->resume_files; *more && !status; more++) {
        if (find_known(files, *more) < 0) {
            status = append(files, strdup(*more), 0, -1, error);
            files->known = files->count;
        }
    }
    return status;
}

void sel_output_files_free(sel_output_files *files) {
    for (int i = 0; i < files->count; i++) {
        free(files->v[i].name);
    }
    free(files->listed);
    free(files->v);
}

sel_status sel_outputs_cut(const sel_output_context *context, sel_error *error) {
    sel_output_files files = {.directory = context->directory};
    sel_status status = sel_output_files_known(&files, context, error);
    const char **names = calloc((size_t)files.count + 1, sizeof *names);
    int64_t *bytes = calloc((size_t)files.count + 1, sizeof *bytes);
    if (!names || !bytes) {
        status = status ? status : sel_fail_memory(error, "the list of files", sizeof *names);
    }
    for (int i = 0; i < files.count && !status; i++) {
        names[i] = files.v[i].name;
        bytes[i] = files.v[i].bytes;
    }
    status = status ? status : sel_folder_resume(context->directory, names, bytes, error);
    free(names);
    free(bytes);
    sel_output_files_free(&files);
    return status;
}
