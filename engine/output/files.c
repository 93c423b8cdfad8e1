/* files.c -- the files of a run's outputs, and its results. */
#include "engine/output/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/folder.h"

sel_output_file *sel_output_files_append(sel_output_files *files, const char *name, bool known,
                                         int64_t bytes, sel_error *error) {
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

sel_output_file *sel_output_files_known(const sel_output_files *files, const char *name) {
    sel_output_file *file = files->first;
    while (file && file->known && strcmp(file->name, name) != 0) {
        file = file->next;
    }
    return file && file->known ? file : NULL;
}

sel_status sel_output_files_claim(const sel_output_files *files, const char *path,
                                  sel_error *error) {
    return sel_output_files_known(files, path)
               ? SEL_OK
               : sel_folder_claim(files->directory, path, files->force, error);
}

sel_status sel_output_files_list(sel_output_files *files, const char *path, int64_t job,
                                 sel_output_file **file, sel_error *error) {
    *file = sel_output_files_known(files, path);
    if (!*file && (*file = sel_output_files_append(files, path, false, -1, error))) {
        (*file)->job = job;
    }
    return *file ? SEL_OK : SEL_NO_DEVICE;
}

sel_status sel_output_files_add(sel_output_files *files, sel_writer *writer, const char *name,
                                const char *ending, sel_error *error) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s%s", name, ending);
    const int64_t job = writer ? sel_writer_so_far(writer).submitted + 1 : 0;
    sel_output_file *file;
    sel_status status = sel_output_files_claim(files, path, error);
    return status ? status : sel_output_files_list(files, path, job, &file, error);
}

/* ---- results ---- */

sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error) {
    int k = 0;
    while (k < results->count && strcmp(results->v[k].name, name) != 0) {
        k++;
    }
    if (k == results->capacity) {
        const int capacity = 2 * results->capacity + 16;
        const size_t bytes = (size_t)capacity * sizeof *results->v;
        struct sel_result *v = realloc(results->v, bytes);
        if (!v) {
            return sel_fail_memory(error, "the results", bytes);
        }
        results->v = v;
        results->capacity = capacity;
    }
    if (k == results->count) {
        results->count++;
        results->v[k] = (struct sel_result){.value = 0}; /* all of it goes to checkpoints */
        snprintf(results->v[k].name, sizeof results->v[k].name, "%s", name);
    }
    results->v[k].value = value;
    return SEL_OK;
}

void sel_results_free(sel_results *results) {
    free(results->v);
    *results = (sel_results){.count = 0};
}
