/* files.c -- the list of files of a run's outputs, and the run's results. */
#include "engine/output/output.h"

#include <stdint.h>
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

/* The slot of a name in the hash table, or the empty slot where it belongs. */
static int *results_slot(const sel_results *results, const char *name) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = name; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    const uint32_t mask = (uint32_t)results->slots - 1;
    uint32_t at = hash & mask;
    while (results->slot[at] && strcmp(results->v[results->slot[at] - 1].name, name) != 0) {
        at = (at + 1) & mask;
    }
    return &results->slot[at];
}

/* Doubles the capacity. The hash table has twice as many slots as results. */
static sel_status results_grow(sel_results *results, sel_error *error) {
    const int capacity = results->capacity ? 2 * results->capacity : 16, slots = 2 * capacity;
    const size_t bytes = (size_t)capacity * sizeof *results->v;
    struct sel_result *v = realloc(results->v, bytes);
    if (!v) {
        return sel_fail_memory(error, "the results", bytes);
    }
    results->v = v;
    int *slot = calloc((size_t)slots, sizeof *slot);
    if (!slot) {
        return sel_fail_memory(error, "the results", (size_t)slots * sizeof *slot);
    }
    free(results->slot);
    results->slot = slot;
    results->slots = slots;
    results->capacity = capacity;
    for (int k = 0; k < results->count; k++) {
        *results_slot(results, results->v[k].name) = k + 1;
    }
    return SEL_OK;
}

sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error) {
    struct sel_result one = {.value = value}; /* zeroed: checkpoints store every byte */
    snprintf(one.name, sizeof one.name, "%s", name);
    enum { MOST_RESULTS = 1 << 22 }; /* half a gigabyte */
    sel_status status = results->slots ? SEL_OK : results_grow(results, error);
    int *slot = status ? NULL : results_slot(results, one.name);
    if (slot && *slot) {
        results->v[*slot - 1].value = value;
        return SEL_OK;
    }
    if (results->count == MOST_RESULTS) {
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "a run has at most %d results; write what is more to an output",
                        MOST_RESULTS);
    }
    if (!status && results->count == results->capacity) {
        status = results_grow(results, error);
        slot = status ? NULL : results_slot(results, one.name);
    }
    if (slot) {
        results->v[results->count++] = one;
        *slot = results->count;
    }
    return status;
}

void sel_results_free(sel_results *results) {
    free(results->v);
    free(results->slot);
    *results = (sel_results){.count = 0};
}
