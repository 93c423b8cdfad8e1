/* files.c -- the list of the files that the outputs of a run have made, also in a checkpoint. */
#include <stdio.h>
#include <string.h>
#include "engine/output/kind.h"

/* NULL: no memory. */
static sel_output_file *append(sel_output_files *files, const char *name, bool known, int64_t bytes,
                               sel_error *error) {
    sel_output_file *file = sel_arena_alloc(files->arena, sizeof *file);
    const char *copy = sel_arena_copy(files->arena, name);
    if (!file || !copy) {
        sel_fail_memory(error, "the list of files", sizeof *file);
        return NULL;
    }
    *file = (sel_output_file){.name = copy, .known = known, .bytes = bytes};
    *(files->last ? &files->last->next : &files->first) = file;
    files->last = file;
    files->count++;
    return file;
}

/* NULL: the run that this one goes on from has no such file. */
static sel_output_file *find_known(const sel_output_files *files, const char *name) {
    sel_output_file *file = files->first;
    while (file && file->known && strcmp(file->name, name) != 0) {
        file = file->next;
    }
    return file && file->known ? file : NULL;
}

sel_status sel_output_files_add(sel_output_files *files, sel_writer *writer, const char *name,
                                const char *ending, sel_error *error) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s%s", name, ending);
    if (find_known(files, path)) {
        return SEL_OK;
    }
    sel_status status = sel_folder_claim(files->directory, path, files->force, error);
    sel_output_file *file = status ? NULL : append(files, path, false, -1, error);
    if (!file) {
        return status ? status : SEL_NO_DEVICE;
    }
    file->job = writer ? sel_writer_so_far(writer).submitted + 1 : 0;
    return SEL_OK;
}

sel_status sel_output_files_csv(sel_output_files *files, const char *name, sel_csv **csv,
                                sel_error *error) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s.csv", name);
    sel_output_file *file = find_known(files, path);
    sel_status status = file ? SEL_OK : sel_output_files_add(files, NULL, path, "", error);
    file = file ? file : files->last;
    status = status ? status : sel_csv_open(files->directory, path, file->bytes, csv, error);
    if (status == SEL_OK) {
        file->csv = *csv;
    }
    return status;
}

/* ---- in a checkpoint ---- */

void sel_output_files_keep(sel_output_files *files, sel_checkpoint *checkpoint) {
    int count = files->count;
    sel_output_file *file = files->first;
    SEL_KEEP(checkpoint, count);
    for (int i = 0; i < count && !checkpoint->failure.status; i++) {
        int64_t bytes = file && file->csv ? sel_csv_bytes(file->csv) : file ? file->bytes : -1;
        const char *name = sel_keep_text(checkpoint, files->arena, file ? file->name : NULL);
        SEL_KEEP(checkpoint, bytes);
        if (!checkpoint->loads) {
            file = file->next;
        } else if (!checkpoint->failure.status) {
            append(files, name, true, bytes, &checkpoint->failure);
        }
    }
}

sel_status sel_output_files_known(sel_output_files *files, const sel_output_context *context,
                                  sel_error *error) {
    sel_checkpoint_block(context->resume, "files");
    sel_output_files_keep(files, context->resume);
    sel_status status = sel_checkpoint_status(context->resume, error);
    for (const char *const *more = context->resume_files; *more && !status; more++) {
        if (!find_known(files, *more) && !append(files, *more, true, -1, error)) {
            return SEL_NO_DEVICE;
        }
    }
    return status;
}

sel_status sel_outputs_cut(const sel_output_context *context, sel_error *error) {
    sel_arena *arena = sel_arena_create();
    sel_output_files files = {.directory = context->directory, .arena = arena};
    sel_status status = arena ? sel_output_files_known(&files, context, error)
                              : sel_fail_memory(error, "the list of files", sizeof files);
    const size_t room = (size_t)files.count + 1;
    const char **names = status ? NULL : sel_arena_alloc(arena, room * sizeof *names);
    int64_t *bytes = status ? NULL : sel_arena_alloc(arena, room * sizeof *bytes);
    if (!status && (!names || !bytes)) {
        status = sel_fail_memory(error, "the list of files", room * sizeof *names);
    }
    const sel_output_file *file = files.first;
    for (int i = 0; file && !status; i++, file = file->next) {
        names[i] = file->name;
        bytes[i] = file->bytes;
    }
    status = status ? status : sel_folder_resume(context->directory, names, bytes, error);
    sel_arena_destroy(arena);
    return status;
}
