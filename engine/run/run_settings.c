/* run_settings.c -- the settings of a run in its checkpoint, compared when the run is resumed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/base/version.h"
#include "engine/run/running.h"

/* A setting of the run, compared when the run is resumed. */
typedef struct property {
    char name[80], value[256];
    bool fixed; /* a change is refused; else it is noted in run.log */
} property;

enum { MOST_PROPERTIES = 1000 };

typedef struct properties {
    int count;
    property v[MOST_PROPERTIES];
} properties;

SEL_PRINTF(4, 5)
static void properties_add(properties *list, bool fixed, const char *name, const char *format,
                           ...) {
    va_list args;
    if (list->count == MOST_PROPERTIES) {
        return;
    }
    property *to = &list->v[list->count++];
    to->fixed = fixed;
    snprintf(to->name, sizeof to->name, "%s", name);
    va_start(args, format);
    vsnprintf(to->value, sizeof to->value, format, args);
    va_end(args);
}

static unsigned long save_crc(const void *bytes, size_t count) {
    return crc32_z(0, bytes, bytes ? count : 0);
}

static unsigned long crc_of_regions(const sel_domain *domain) {
    unsigned long crc = save_crc(domain->cell, (size_t)sel_grid_cells(&domain->grid));
    for (int face = 0; face < SEL_FACES; face++) {
        if (domain->face[face]) {
            crc = crc32_z(crc, domain->face[face], (size_t)sel_face_sites(&domain->grid, face));
        }
    }
    return crc;
}

/* Names by commas, as many as there is room for. */
static void add_name(char *list, size_t size, const char *name) {
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static void list_names(const sel_prepared *prepared, properties *list) {
    const sel_domain *domain = prepared->domain;
    const sel_numbers *controls = &prepared->simulation->params->controls;
    char regions[200] = "", named[200] = "", text[32];
    for (int r = 1; r <= domain->region_count; r++) {
        add_name(regions, sizeof regions, sel_region_name(domain, r, text));
    }
    for (int i = 0; i < controls->n; i++) {
        add_name(named, sizeof named, controls->v[i].name);
    }
    properties_add(list, false, "list of regions", "'%s'", regions);
    properties_add(list, false, "list of controls", "'%s'", named);
}

static void describe_grid(const sel_grid *grid, properties *list) {
    char sides[SEL_SIDES_TEXT];
    if (grid->dims == 2) {
        properties_add(list, true, "size", "%lld x %lld", (long long)grid->n[0],
                       (long long)grid->n[1]);
    } else {
        properties_add(list, true, "size", "%lld x %lld x %lld", (long long)grid->n[0],
                       (long long)grid->n[1], (long long)grid->n[2]);
    }
    properties_add(list, true, "dx", "%s", sel_sides_text(grid, 17, sides));
    properties_add(list, true, "dt", "%.17g", grid->dt);
    properties_add(list, true, "layout", "%s", sel_layout_names[grid->nodes]);
    properties_add(list, true, "origin", "%.17g %.17g %.17g", grid->origin[0], grid->origin[1],
                   grid->origin[2]);
}

static void properties_fill(const run *r, properties *list) {
    const sel_prepared *prepared = r->prepared;
    const sel_simulation *simulation = prepared->simulation;
    const sel_scenario *scenario = r->scenario;
    char text[200];
    list->count = 0;
    properties_add(list, true, "solver", "sel.%s", simulation->solver->name);
    describe_grid(&prepared->domain->grid, list);
    properties_add(list, true, "precision", "%s", sel_precision_names[prepared->plan->precision]);
    if (simulation->solver->state_text) {
        simulation->solver->state_text(prepared->plan, text, sizeof text);
        properties_add(list, true, "lattice", "%s", text);
    }
    properties_add(list, false, "selenite", "%s", sel_version());
    properties_add(list, false, "script", "%zu bytes, CRC %08lx",
                   scenario->text ? scenario->text_length : 0,
                   save_crc(scenario->text, scenario->text_length));
    properties_add(list, false, "regions", "CRC %08lx", crc_of_regions(prepared->domain));
    list_names(prepared, list);
    for (int i = 0; i < scenario->parameter_count; i++) {
        char name[80];
        snprintf(name, sizeof name, "parameter %s", scenario->parameters[i].name);
        properties_add(list, false, name, "%s", scenario->parameters[i].text);
    }
}

/* Compares a property from a file with the present ones: refuses or notes a change. */
static void property_compare(property *then, const properties *now, sel_checkpoint *checkpoint,
                             sel_error *notes) {
    then->name[sizeof then->name - 1] = then->value[sizeof then->value - 1] = '\0';
    sel_plain_text(then->name);
    sel_plain_text(then->value);
    for (int i = 0; i < now->count; i++) {
        if (strcmp(now->v[i].name, then->name) != 0 || strcmp(now->v[i].value, then->value) == 0) {
            continue;
        }
        if (then->fixed) {
            const bool precision = strcmp(then->name, "precision") == 0;
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: %s is %s in the checkpoint and %s in the scenario; a run goes "
                                "on with the grid, lattice, storage and precision that it had%s%s",
                                checkpoint->path, then->name, then->value, now->v[i].value,
                                precision ? ": --precision " : "", precision ? then->value : "");
        } else {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s was %s and is %s now", then->name, then->value,
                     now->v[i].value);
        }
    }
}

void sel_run_keep_settings(run *r, sel_checkpoint *checkpoint) {
    properties *now = calloc(1, sizeof *now); /* zeroed: the file holds every byte */
    if (!now) {
        sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "no memory for a checkpoint");
        return;
    }
    properties_fill(r, now);
    int count = now->count;
    sel_checkpoint_block(checkpoint, "run");
    SEL_KEEP(checkpoint, count);
    if (count < 0) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the number of properties",
                            checkpoint->path);
    }
    for (int i = 0; i < count && !checkpoint->failure.status; i++) {
        property one = {.fixed = false};
        one = checkpoint->loads ? one : now->v[i];
        SEL_KEEP(checkpoint, one);
        if (checkpoint->loads) {
            property_compare(&one, now, checkpoint, &r->notes);
        }
    }
    free(now);
}

void sel_run_tell_settings(const run *r, sel_status status, sel_error *error) {
    char text[600];
    for (int i = 0; sel_warnings_line(&r->notes, i, text, sizeof text); i++) {
        if (status == SEL_BAD_SCENARIO && strncmp(text, "list of ", strlen("list of ")) == 0) {
            sel_fail(error, status, "%s: %s", r->resume->path, text);
        }
    }
}
