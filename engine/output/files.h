/* files.h -- the list of files that the outputs of a run have written, and the run's results. */
#ifndef SEL_OUTPUT_FILES_H
#define SEL_OUTPUT_FILES_H

#include "engine/base/arena.h"
#include "engine/io/csv.h"
#include "engine/io/writer.h"

/* ---- the list of files ---- */

/* A file of the outputs, relative to the run's directory. */
typedef struct sel_output_file {
    const char *name;
    int64_t job;        /* the writer's job, from 1, that creates the file; 0: it exists */
    const sel_csv *csv; /* the open CSV file that appends to it; NULL: none */
    bool known;         /* the resumed run had created it */
    int64_t bytes;      /* length of a CSV file at the resumed checkpoint; -1: none */
    struct sel_output_file *next;
} sel_output_file;

/* The files in the order in which they were added; those of the resumed run come first. */
typedef struct sel_output_files {
    const char *directory;
    bool force; /* overwrite files that no run has listed */
    sel_arena *arena;
    int count;
    sel_output_file *first, *last;
} sel_output_files;

/* Adds the file NAME ENDING before it is created: by the caller (writer NULL), or by the next job
 * that is submitted to `writer`. Refuses to replace an existing file that no run has listed
 * (engine/base/folder.h). */
sel_status sel_output_files_add(sel_output_files *files, sel_writer *writer, const char *name,
                                const char *ending, sel_error *error);

/* Appends a file without looking at the disk. NULL: no memory. */
sel_output_file *sel_output_files_append(sel_output_files *files, const char *name, bool known,
                                         int64_t bytes, sel_error *error);

/* The file of that name that the resumed run had created; NULL: none. */
sel_output_file *sel_output_files_known(const sel_output_files *files, const char *name);

/* The two halves of sel_output_files_add: claim refuses to replace a foreign file; list adds *file,
 * which the writer's job number `job` creates (0: it exists; INT64_MAX: not yet known). */
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
    int *slot, slots; /* hash table of names: 1 + index in v, 0: empty; slots is a power of 2 */
} sel_results;

/* Sets or replaces a result. SEL_BAD_SCENARIO: more than 2^22 results. */
sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error);
void sel_results_free(sel_results *results);

#endif
