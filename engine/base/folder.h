/* folder.h -- the directory of a run: whose files it holds, and which may be written. */
#ifndef SEL_FOLDER_H
#define SEL_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/base/status.h"

enum { SEL_PATH_ROOM = 4200 };

/* The files of the run itself, which all begin with this; no output may take such a name. */
#define SEL_RUN_PREFIX "run."
#define SEL_RUN_JSON "run.json"
#define SEL_RUN_LOG "run.log"
#define SEL_RUN_SCRIPT "run.lua" /* a copy of the script */
/* The outputs, a line for each, from before they are written until run.json lists all of them. */
#define SEL_RUN_FILES "run.files"

/* Makes `directory` and its parents. Refuses one that holds a run, or files of such names that no
 * run wrote, unless `force`: then the files that the former run listed are removed, but only
 * regular files inside the directory; no link is followed. */
sel_status sel_run_directory(const char *directory, bool force, sel_error *error);

/* Makes `directory`, if `makes`, and locks it for this run: no other process can run in it before
 * `lock` is closed or this process has ended. *lock is -1 where there is no such directory, or a
 * file system without locks. SEL_BAD_USAGE: another run goes on there. */
sel_status sel_run_lock(const char *directory, bool makes, int *lock, sel_error *error);

/* Refuses `directory` when it is a link, for a directory that the user did not choose. */
sel_status sel_folder_refuse_link(const char *directory, sel_error *error);

/* For a resumed run: removes the outputs that it listed, except for `names` (NULL-terminated),
 * which are truncated to `bytes` (-1: not at all) and listed in SEL_RUN_FILES. Nothing is changed
 * when a file to be truncated is missing or shorter. */
sel_status sel_folder_resume(const char *directory, const char *const *names, const int64_t *bytes,
                             sel_error *error);

/* Makes the folder NAME below the run's directory, unless it is there. A link is refused; without
 * `force` also a folder that holds files of the output NAME. */
sel_status sel_folder_make(const char *directory, const char *name, bool force, sel_error *error);

/* To be called before a run writes the file `name` for the first time: lists it in SEL_RUN_FILES,
 * for later runs, however this one ends. Anything of that name which no run listed is refused
 * without `force`, and removed with it (a link, not its target). */
sel_status sel_folder_claim(const char *directory, const char *name, bool force, sel_error *error);

/* To be called when run.json lists all outputs: removes SEL_RUN_FILES. */
void sel_folder_listed(const char *directory);

#endif
