/* files.h -- the files of a run's outputs, and its results. */
#ifndef SEL_OUTPUT_FILES_H
#define SEL_OUTPUT_FILES_H

#include "engine/base/arena.h"
#include "engine/io/csv.h"
#include "engine/io/writer.h"

/* ---- the list of files ---- */

/* A file of the outputs, relative to the run's directory. */
typedef struct sel_output_file {
    const char *name;
    int64_t job;        /* of the writer, 1 the first, with which the file is there; 0: it is */
    const sel_csv *csv; /* that writes it now; NULL: none does */
    bool known;         /* the resumed run had made it */
    int64_t bytes;      /* of a CSV file at the checkpoint that is resumed; -1: none */
    struct sel_output_file *next;
} sel_output_file;

/* The files in the order in which they were added, those of the resumed run first. */
typedef struct sel_output_files {
    const char *directory;
    bool force; /* replace what no run listed */
    sel_arena *arena;
    int count;
    sel_output_file *first, *last;
} sel_output_files;

/* Adds a file, of a name and an ending, before it is made: one that the caller makes; or, with a
 * writer, one that is there when the next job to be submitted is done. Refuses what is there
 * already (engine/base/folder.h). */
sel_status sel_output_files_add(sel_output_files *files, sel_writer *writer, const char *name,
                                const char *ending, sel_error *error);

/* Adds one whose name is known. NULL: no memory. The second function finds one of those that the
 * resumed run had made; NULL: it had none of that name. */
sel_output_file *sel_output_files_append(sel_output_files *files, const char *name, bool known,
                                         int64_t bytes, sel_error *error);
sel_output_file *sel_output_files_known(const sel_output_files *files, const char *name);

/* The two halves of sel_output_files_add: refuses what is there; adds what may be made, *file,
 * which is there with the writer's job number `job`. */
sel_status sel_output_files_claim(const sel_output_files *files, const char *path,
                                  sel_error *error);
sel_status sel_output_files_list(sel_output_files *files, const char *path, int64_t job,
                                 sel_output_file **file, sel_error *error);

/* ---- results ---- */

/* Named numbers for run.json's `results`, in the order in which they were first set. */
typedef struct sel_results {
    int count, capacity;
    struct sel_result {
        char name[128];
        double value;
    } * v;
    int *slot, slots; /* hash table of the names: 1 + index in `v`, 0: empty; a power of two */
} sel_results;

sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error);
void sel_results_free(sel_results *results);

#endif
