/* folder.h -- the directory of a run: which files in it belong to runs, and which may be written.
 */
#ifndef SEL_FOLDER_H
#define SEL_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/base/status.h"

enum { SEL_PATH_ROOM = 4200 };

/* The prefix of the run's own files; no output may have such a name. */
#define SEL_RUN_PREFIX "run."
#define SEL_RUN_JSON "run.json"
#define SEL_RUN_LOG "run.log"
#define SEL_RUN_SCRIPT "run.lua" /* a copy of the script */
/* The list of outputs, one per line. Each is added before it is written; the list is removed when
 * run.json lists them all. */
#define SEL_RUN_FILES "run.files"

/* Makes `directory` and its parents. Without `force` refuses a directory that holds a run, or other
 * files with the names of a run's own files. With `force` removes the files that the former run
 * listed: only regular files inside the directory, following no link. */
sel_status sel_run_directory(const char *directory, bool force, sel_error *error);

/* Refuses what sel_run_directory without `force` refuses, and makes nothing. */
sel_status sel_folder_refuse_run(const char *directory, sel_error *error);

/* Locks `directory` for this run until the descriptor *lock is closed or this process ends; first
 * makes the directory if `makes`. *lock is -1 if there is no such directory, or if its file system
 * has no locks. SEL_BAD_USAGE: another run goes on there. */
sel_status sel_run_lock(const char *directory, bool makes, int *lock, sel_error *error);

/* Refuses `directory` when it is a link, for a directory that the user did not choose. */
sel_status sel_folder_refuse_link(const char *directory, sel_error *error);

/* Prepares the directory of a resumed run. Truncates the outputs `names` (NULL-terminated) to
 * bytes[i] each (-1: leaves the file as it is), lists them in SEL_RUN_FILES, and removes all other
 * outputs of the former run. Changes nothing if a file to be truncated is missing or shorter. */
sel_status sel_folder_resume(const char *directory, const char *const *names, const int64_t *bytes,
                             sel_error *error);

/* Makes the folder NAME in the run's directory, unless it exists. Refuses a link, and, without
 * `force`, a folder that holds files of the output NAME. */
sel_status sel_folder_make(const char *directory, const char *name, bool force, sel_error *error);

/* To be called before a run writes the file `name` for the first time: lists it in SEL_RUN_FILES,
 * so that later runs know it even if this run is killed. If something of that name exists, refuses
 * without `force`, and removes it with `force` (a link, not its target). */
sel_status sel_folder_claim(const char *directory, const char *name, bool force, sel_error *error);

/* To be called when run.json lists all outputs: removes SEL_RUN_FILES. */
void sel_folder_listed(const char *directory);

#endif
