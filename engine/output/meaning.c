/* meaning.c -- what the numbers of an output mean, in a checkpoint: a run that goes on with other
 * parameters of an output would append numbers of another meaning to its file and statistics.
 *
 * Block "meaning K" of output K has a text per parameter: `count`, then name and value in turn. All
 * but the name of the output and, where no statistics are made of the samples, the schedule: rows
 * tell their step. Checkpoints of earlier versions have no such blocks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/base/text.h"
#include "engine/output/kind.h"

enum { MEANING_ROOM = 120 };

/* A parameter as text; values too long for a message by their CRC. */
typedef struct meaning {
    const char *of; /* "region" */
    char text[MEANING_ROOM];
    bool is_schedule; /* a change matters to statistics only */
    bool is_long;
} meaning;

enum { MOST_MEANINGS = 24 };

typedef struct meanings {
    int count;
    meaning v[MOST_MEANINGS];
} meanings;

static void meaning_add_box(const sel_output *output, const struct sel_shape *shape, FILE *to) {
    const sel_grid *grid = &output->context->domain->grid;
    const sel_box box = sel_within_box(grid, shape);
    for (int a = 0; a < grid->dims && shape; a++) {
        fprintf(to, " %lld to %lld", (long long)box.lo[a], (long long)box.hi[a]);
    }
}

static void add_meaning(const sel_output *output, const char *name, const sel_table_field *field,
                        const void *data, meanings *to) {
    meaning *one = &to->v[to->count];
    const char *member = (const char *)data + field->offset;
    char *text = NULL;
    size_t length = 0;
    FILE *file = to->count < MOST_MEANINGS ? open_memstream(&text, &length) : NULL;
    if (!file) {
        return;
    }
    if (field->kind == SEL_KIND_SHAPE) {
        meaning_add_box(output, *(const struct sel_shape *const *)member, file);
    } else {
        sel_member_print(field, member, file);
    }
    if (fclose(file) == 0) {
        const unsigned long crc = crc32_z(0, (const void *)text, length);
        one->of = name;
        one->is_long = length >= MEANING_ROOM / 2;
        if (one->is_long) {
            snprintf(one->text, sizeof one->text, "%zu bytes, CRC %08lx", length, crc);
        } else {
            snprintf(one->text, sizeof one->text, "%s", text + (length > 0)); /* less a blank */
        }
        to->count++;
    }
    free(text);
}

static bool is_schedule(const char *name) {
    static const char *const names[] = {"every", "interval", "from_step", "from_time"};
    bool is = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        is = is || strcmp(names[k], name) == 0;
    }
    return is;
}

static void list_meanings(const sel_output *output, meanings *to) {
    const sel_table *table = output->kind->table;
    to->count = 0;
    for (int k = 0; k < table->count && !output->kind->stands_alone; k++) {
        const sel_table_field *field = &table->fields[k];
        const bool moment = field->choices == sel_output_moments;
        if (strcmp(field->name, "name") != 0) {
            const int before = to->count;
            add_meaning(output, field->name, field, output->params, to);
            if (to->count > before) {
                to->v[before].is_schedule = moment || is_schedule(field->name);
            }
        }
    }
    if (table == &sel_out_force_table) { /* it divides by them, for cd and cl */
        static const char *const names[] = {"reference.length", "reference.velocity",
                                            "reference.area"};
        for (int k = 0; k < 3 && k < sel_reference_table.count; k++) {
            add_meaning(output, names[k], &sel_reference_table.fields[k],
                        &output->context->simulation->params->reference, to);
        }
    }
}

/* Compares a parameter of the checkpoint with that of now: refuses or notes a change. */
static void compare_meaning(const sel_output *output, const char *of, const char *then,
                            const meanings *now, sel_checkpoint *checkpoint, sel_error *notes) {
    const bool statistics = output->kind->all_rows || output->kind->only_when_due;
    char was[MEANING_ROOM];
    snprintf(was, sizeof was, "%s", then);
    sel_plain_text(was);
    for (int k = 0; k < now->count; k++) {
        const meaning *one = &now->v[k];
        if (strcmp(one->of, of) != 0 || strcmp(one->text, then) == 0) {
            continue;
        }
        if (one->is_schedule && !statistics) {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s '%s': %s was %s and is %s now",
                     output->kind->table->name, output->name, of, was, one->text);
        } else if (one->is_long) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: the output '%s' had another %s, and its numbers would mix "
                                "with those of now; give it another name",
                                checkpoint->path, output->name, of);
        } else {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: the output '%s' had %s %s and has %s now, and its numbers "
                                "would mix; give it another name",
                                checkpoint->path, output->name, of, *was ? was : "not given",
                                *one->text ? one->text : "none");
        }
    }
}

void sel_output_keep_meaning(sel_output *output, int number, sel_checkpoint *checkpoint,
                             sel_error *notes) {
    char block[SEL_BLOCK_NAME];
    meanings now;
    snprintf(block, sizeof block, "meaning %d", number);
    if (checkpoint->loads && sel_checkpoint_bytes(checkpoint, block) < 0) {
        return;
    }
    list_meanings(output, &now);
    int count = now.count;
    sel_checkpoint_block(checkpoint, block);
    SEL_KEEP(checkpoint, count);
    for (int k = 0; k < count && !checkpoint->failure.status; k++) {
        const bool saves = !checkpoint->loads;
        const char *of = sel_keep_text(checkpoint, output->arena, saves ? now.v[k].of : NULL);
        const char *then = sel_keep_text(checkpoint, output->arena, saves ? now.v[k].text : NULL);
        if (!saves && output->written >= 0 && !checkpoint->failure.status) {
            compare_meaning(output, of, then, &now, checkpoint, notes);
        }
    }
}
