/* resume.c -- the checkpoints of a simulation: their names, and which one a run goes on from. */
#include "engine/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/file.h"
#include "engine/folder.h"
#include "engine/output/kind.h"

const sel_variant *sel_checkpoint_output(const sel_simulation *simulation) {
    const sel_list *outputs = &simulation->params->output;
    for (int i = 0; i < outputs->n; i++) {
        const sel_variant *output = (const sel_variant *)outputs->v + i;
        if (output->table == &sel_out_checkpoint_table) {
            return output;
        }
    }
    return NULL;
}

void sel_checkpoint_name(const sel_simulation *simulation, const char *directory,
                         sel_checkpoint_names *names) {
    const sel_variant *output = sel_checkpoint_output(simulation);
    const char *name = output ? sel_output_name(output) : "checkpoint";
    snprintf(names->file, sizeof names->file, "%.64s.sel", name);
    snprintf(names->before, sizeof names->before, "%.64s.before.sel", name);
    snprintf(names->path, sizeof names->path, "%s/%s", directory, names->file);
    snprintf(names->path_before, sizeof names->path_before, "%s/%s", directory, names->before);
}

static sel_status open_of_directory(const sel_checkpoint_names *names, sel_checkpoint **opened,
                                    sel_error *error) {
    sel_error why = {.status = SEL_OK};
    const bool there = access(names->path, F_OK) == 0;
    if (!there && access(names->path_before, F_OK) == 0) { /* ended between two names */
        return sel_checkpoint_open(names->path_before, opened, error);
    }
    if (!there) {
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: there is no checkpoint; runs write one where the scenario has "
                        "out.checkpoint, and when they are interrupted",
                        names->path);
    }
    sel_status status = sel_checkpoint_open(names->path, opened, &why);
    if (!status) {
        return SEL_OK;
    }
    sel_checkpoint *before = NULL;
    sel_fail(error, status, "%s", why.text);
    if (!sel_checkpoint_open(names->path_before, &before, NULL)) {
        sel_fail(error, status, "the one before it is whole: --resume %s", names->path_before);
    }
    sel_checkpoint_close(before);
    return status;
}

/* Whether run.json says that the run has come to an end of its own. */
static bool has_ended(const char *json) {
    static const char *const others[] = {"running", "interrupted", "error", NULL};
    bool ended = true;
    for (const char *const *by = others; *by; by++) {
        char entry[64];
        snprintf(entry, sizeof entry, "\"stopped_by\": \"%s\"", *by);
        ended = ended && !strstr(json, entry);
    }
    return ended;
}

sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory) {
    enum { LONGEST = 1 << 26 };
    sel_checkpoint_names names = {.keeps_before = false};
    char path[SEL_PATH_ROOM], *json = NULL;
    size_t length = 0;
    sel_checkpoint_name(simulation, directory, &names);
    if (access(names.path, F_OK) == 0 || access(names.path_before, F_OK) == 0) {
        return SEL_RESUME_IT;
    }
    snprintf(path, sizeof path, "%s/" SEL_RUN_JSON, directory);
    sel_resume_step step = SEL_RESUME_BEGIN;
    if (!sel_file_read(path, LONGEST, "it tells of a run", &json, &length, NULL)) {
        json[length < LONGEST && length > 0 ? length - 1 : 0] = '\0'; /* the last line's end */
        step = has_ended(json) ? SEL_RESUME_DONE : SEL_RESUME_ANEW;
    }
    free(json);
    return step;
}

sel_status sel_resume_open(const sel_checkpoint_names *names, const char *file,
                           sel_checkpoint **opened, sel_error *error) {
    *opened = NULL;
    return file ? sel_checkpoint_open(file, opened, error)
                : open_of_directory(names, opened, error);
}
