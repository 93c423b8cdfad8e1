/* kept.c -- the outputs of a run in a checkpoint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/output/opened.h"

sel_status sel_outputs_add_file(sel_outputs *outputs, const char *name, sel_error *error) {
    const sel_output_files *files = &outputs->files;
    for (int i = 0; i < files->count; i++) {
        if (strcmp(files->v[i].name, name) == 0) {
            return SEL_OK;
        }
    }
    return sel_output_files_add(&outputs->files, NULL, error, "%s", name);
}

static void keep_output(opened_output *output, sel_checkpoint *checkpoint) {
    SEL_KEEP(checkpoint, output->written);
    if (output->kind->keep) {
        output->kind->keep(output->self, checkpoint);
    }
}

void sel_outputs_save(sel_outputs *outputs, sel_checkpoint *checkpoint) {
    int count = outputs->count;
    char block[SEL_BLOCK_NAME];
    sel_checkpoint_block(checkpoint, "files");
    sel_output_files_keep(&outputs->files, checkpoint);
    sel_checkpoint_block(checkpoint, "outputs");
    SEL_KEEP(checkpoint, count);
    for (int i = 0; i < count; i++) {
        sel_keep_text(checkpoint, outputs->v[i].name);
        sel_keep_text(checkpoint, outputs->v[i].kind->table->name);
    }
    for (int i = 0; i < count; i++) {
        snprintf(block, sizeof block, "output %d", i + 1);
        sel_checkpoint_block(checkpoint, block);
        keep_output(&outputs->v[i], checkpoint);
    }
}

/* The output of that name, if it is of the same kind. */
static opened_output *same_output(sel_outputs *outputs, const char *name, const char *kind,
                                  sel_checkpoint *checkpoint) {
    for (int i = 0; i < outputs->count; i++) {
        opened_output *output = &outputs->v[i];
        if (strcmp(output->name, name) != 0) {
            continue;
        }
        if (strcmp(output->kind->table->name, kind) != 0) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: the output '%s' was an %s, and is an %s now; give it another "
                                "name",
                                sel_checkpoint_path(checkpoint), name, kind,
                                output->kind->table->name);
        }
        return output;
    }
    return NULL;
}

void sel_outputs_load(sel_outputs *outputs, sel_checkpoint *checkpoint, sel_error *notes) {
    int count = 0;
    char block[SEL_BLOCK_NAME];
    sel_checkpoint_block(checkpoint, "outputs");
    SEL_KEEP(checkpoint, count);
    opened_output **to =
        calloc((size_t)(count > 0 && count < SEL_MOST_OUTPUTS ? count : 0) + 1, sizeof *to);
    if (!to || count < 0 || count >= SEL_MOST_OUTPUTS) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: cannot have %d outputs",
                            sel_checkpoint_path(checkpoint), count);
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        char *name = sel_kept_text(checkpoint), *kind = sel_kept_text(checkpoint);
        to[i] = name && kind ? same_output(outputs, name, kind, checkpoint) : NULL;
        if (name && kind && !to[i]) {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s '%s' is no longer written", kind, name);
        }
        free(name);
        free(kind);
    }
    for (int i = 0; i < outputs->count; i++) {
        bool known = false;
        for (int k = 0; k < count; k++) {
            known = known || to[k] == &outputs->v[i];
        }
        if (!known) {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s '%s' is new", outputs->v[i].kind->table->name,
                     outputs->v[i].name);
        }
    }
    for (int i = 0; i < count; i++) {
        if (to[i]) {
            snprintf(block, sizeof block, "output %d", i + 1);
            sel_checkpoint_block(checkpoint, block);
            keep_output(to[i], checkpoint);
        }
    }
    free(to);
}
