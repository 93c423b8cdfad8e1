/* run_settings.c -- the settings of a run in its checkpoints, compared when it goes on.
 *
 * Of each setting the file has a name and a text:
 *
 *     refused   grid, precision, storage: without them the state means nothing
 *     warned    materials, ground: the state goes on, but with them it meant something else
 *     noted     script, parameters: run.log tells
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/base/text.h"
#include "engine/base/version.h"
#include "engine/core/inputs.h"
#include "engine/run/running.h"

typedef struct property {
    char name[80], value[256];
    uint8_t change; /* CHANGE_NOTED, ... */
} property;

/* What is done about a change. */
enum { CHANGE_NOTED, CHANGE_REFUSED, CHANGE_WARNED };

enum { MOST_PROPERTIES = 1000 };

/* Settings of a run. */
typedef struct run_settings {
    int count;
    property v[MOST_PROPERTIES];
} properties;

SEL_PRINTF(4, 5)
static void properties_add(properties *list, uint8_t change, const char *name, const char *format,
                           ...) {
    va_list args;
    if (list->count == MOST_PROPERTIES) {
        return;
    }
    property *to = &list->v[list->count++];
    to->change = change;
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
static void add_to_names(char *list, size_t size, const char *name) {
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static void describe_names(const sel_prepared *prepared, properties *list) {
    const sel_domain *domain = prepared->domain;
    const sel_numbers *controls = &prepared->simulation->params->controls;
    char regions[200] = "", named[200] = "", text[32];
    for (int r = 1; r <= domain->region_count; r++) {
        add_to_names(regions, sizeof regions, sel_region_name(domain, r, text));
    }
    for (int i = 0; i < controls->n; i++) {
        add_to_names(named, sizeof named, controls->v[i].name);
    }
    properties_add(list, CHANGE_NOTED, "list of regions", "'%s'", regions);
    properties_add(list, CHANGE_NOTED, "list of controls", "'%s'", named);
}

static void describe_grid(const sel_grid *grid, properties *list) {
    char sides[SEL_SIDES_TEXT];
    if (grid->dims == 2) {
        properties_add(list, CHANGE_REFUSED, "size", "%lld x %lld", (long long)grid->n[0],
                       (long long)grid->n[1]);
    } else {
        properties_add(list, CHANGE_REFUSED, "size", "%lld x %lld x %lld", (long long)grid->n[0],
                       (long long)grid->n[1], (long long)grid->n[2]);
    }
    properties_add(list, CHANGE_REFUSED, "dx", "%s", sel_sides_text(grid, 17, sides));
    properties_add(list, CHANGE_REFUSED, "dt", "%.17g", grid->dt);
    properties_add(list, CHANGE_REFUSED, "layout", "%s", sel_layout_names[grid->nodes]);
    properties_add(list, CHANGE_REFUSED, "origin", "%.17g %.17g %.17g", grid->origin[0],
                   grid->origin[1], grid->origin[2]);
}

/* ---- materials and the ground ---- */

/* CRC of the values that a quantity has in the free cells at time 0. False: it has none somewhere.
 */
static bool crc_of_values(const run *r, const sel_quantity *quantity, const char *name,
                          unsigned long *crc) {
    const sel_domain *domain = r->prepared->domain;
    const int threads = r->prepared->plan->threads;
    const int64_t rows = domain->grid.n[1] * domain->grid.n[2];
    const int64_t most = sel_domain_rows_at_once(domain, threads);
    const int64_t numbers = quantity->components * domain->grid.n[0];
    sel_evaluation asked = {.quantity = quantity, .what = name, .gaps = quantity->components == 1};
    double *values = malloc((size_t)(most * numbers) * sizeof *values);
    bool known = values;
    *crc = 0;
    for (; asked.first < rows && known; asked.first = asked.end) {
        asked.end = asked.first + most < rows ? asked.first + most : rows;
        known = !sel_domain_evaluate(domain, &asked, threads, values, NULL);
        const size_t bytes = (size_t)((asked.end - asked.first) * numbers) * sizeof *values;
        *crc = known ? crc32_z(*crc, (const unsigned char *)values, bytes) : 0;
    }
    free(values);
    return known;
}

static void add_quantity(const run *r, const sel_quantity *quantity, const char *name,
                         properties *list) {
    char text[200] = "";
    unsigned long crc;
    if (!sel_quantity_given(quantity) ||
        sel_quantity_depends(quantity) & (SEL_ON_T | SEL_ON_CONTROLS)) {
        return;
    }
    for (int c = 0; c < quantity->components && !sel_quantity_depends(quantity); c++) {
        char number[SEL_NUMBER_ROOM];
        double value[3];
        const double origin = 0;
        const sel_places at = {.n = 1, .x = &origin, .y = &origin, .z = &origin};
        if (sel_quantity_eval(quantity, name, &at, value, NULL)) {
            return;
        }
        sel_number_text(value[c], number);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", c ? " " : "", number);
    }
    if (sel_quantity_depends(quantity)) {
        if (!crc_of_values(r, quantity, name, &crc)) {
            return;
        }
        snprintf(text, sizeof text, "values of CRC %08lx", crc);
    }
    properties_add(list, CHANGE_WARNED, name, "%s", text);
}

/* Whether a quantity is among the inputs: what drives a run, as rain or a source, may change. */
static bool drives(const sel_plan *plan, const sel_quantity *quantity) {
    for (int k = 0; plan->inputs && k < plan->inputs->count; k++) {
        if (plan->inputs->v[k].quantity == quantity) {
            return true;
        }
    }
    return false;
}

/* What the solver's table says of the body or the ground, and what a rule calls its data. */
static void describe_quantities(const run *r, properties *list) {
    const sel_simulation *simulation = r->prepared->simulation;
    const sel_table *table = simulation->solver->table;
    for (int k = 0; table && k < table->count; k++) {
        const sel_table_field *field = &table->fields[k];
        const void *at = (const char *)simulation->params + field->offset;
        const sel_named_quantities *named = at;
        const bool one = field->kind == SEL_KIND_QUANTITY || field->kind == SEL_KIND_VECTOR;
        if (one && !drives(r->prepared->plan, at)) {
            add_quantity(r, at, field->name, list);
        }
        for (int i = 0; strcmp(field->name, "data") == 0 && i < named->n; i++) {
            char name[80];
            snprintf(name, sizeof name, "data.%.60s", named->v[i].name);
            add_quantity(r, &named->v[i].value, name, list);
        }
    }
}

/* ---- all ---- */

static void properties_fill(const run *r, properties *list) {
    const sel_prepared *prepared = r->prepared;
    const sel_simulation *simulation = prepared->simulation;
    const sel_scenario *scenario = r->scenario;
    char text[200];
    list->count = 0;
    properties_add(list, CHANGE_REFUSED, "solver", "sel.%s", simulation->solver->name);
    describe_grid(&prepared->domain->grid, list);
    properties_add(list, CHANGE_REFUSED, "precision", "%s",
                   sel_precision_names[prepared->plan->precision]);
    if (simulation->solver->state_text) {
        simulation->solver->state_text(prepared->plan, text, sizeof text);
        properties_add(list, CHANGE_REFUSED, "lattice", "%s", text);
    }
    describe_quantities(r, list);
    properties_add(list, CHANGE_NOTED, "selenite", "%s", sel_version());
    properties_add(list, CHANGE_NOTED, "script", "%zu bytes, CRC %08lx",
                   scenario->text ? scenario->text_length : 0,
                   save_crc(scenario->text, scenario->text_length));
    properties_add(list, CHANGE_NOTED, "regions", "CRC %08lx", crc_of_regions(prepared->domain));
    describe_names(prepared, list);
    for (int i = 0; i < scenario->parameter_count; i++) {
        char name[80];
        snprintf(name, sizeof name, "parameter %s", scenario->parameters[i].name);
        properties_add(list, CHANGE_NOTED, name, "%s", scenario->parameters[i].text);
    }
}

/* Compares a property from a file with the present ones: refuses, warns of or notes a change. */
static void property_compare(property *then, const properties *now, sel_checkpoint *checkpoint,
                             sel_error *warnings, sel_error *notes) {
    then->name[sizeof then->name - 1] = then->value[sizeof then->value - 1] = '\0';
    sel_plain_text(then->name);
    sel_plain_text(then->value);
    for (int i = 0; i < now->count; i++) {
        if (strcmp(now->v[i].name, then->name) != 0 || strcmp(now->v[i].value, then->value) == 0) {
            continue;
        }
        if (then->change == CHANGE_REFUSED) {
            const bool precision = strcmp(then->name, "precision") == 0;
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO,
                                "%s: %s is %s in the checkpoint and %s in the scenario; a run goes "
                                "on with the grid, lattice, storage and precision that it had%s%s",
                                checkpoint->path, then->name, then->value, now->v[i].value,
                                precision ? ": --precision " : "", precision ? then->value : "");
        } else if (then->change == CHANGE_WARNED) {
            sel_fail(
                warnings, SEL_BAD_SCENARIO,
                "%s was %s and is %s now: the run goes on with the numbers of the state, which "
                "meant something else before, and balances do not count the difference",
                then->name, then->value, now->v[i].value);
        } else {
            sel_fail(notes, SEL_BAD_SCENARIO, "%s was %s and is %s now", then->name, then->value,
                     now->v[i].value);
        }
    }
}

void sel_run_keep_settings(run *r, sel_checkpoint *checkpoint) {
    if (!r->settings) {
        r->settings = calloc(1, sizeof *r->settings); /* zeroed: the file holds every byte */
        if (!r->settings) {
            sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "no memory for a checkpoint");
            return;
        }
        properties_fill(r, r->settings);
    }
    const properties *now = r->settings;
    int count = now->count;
    sel_checkpoint_block(checkpoint, "run");
    SEL_KEEP(checkpoint, count);
    if (count < 0) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: the number of properties",
                            checkpoint->path);
    }
    for (int i = 0; i < count && !checkpoint->failure.status; i++) {
        property one = {.change = CHANGE_NOTED};
        one = checkpoint->loads ? one : now->v[i];
        SEL_KEEP(checkpoint, one);
        if (checkpoint->loads) {
            property_compare(&one, now, checkpoint, &r->changed, &r->notes);
        }
    }
}

void sel_run_tell_settings(const run *r, sel_status status, sel_error *error) {
    char text[600];
    for (int i = 0; sel_warnings_line(&r->notes, i, text, sizeof text); i++) {
        if (status == SEL_BAD_SCENARIO && strncmp(text, "list of ", strlen("list of ")) == 0) {
            sel_fail(error, status, "%s: %s", r->resume->path, text);
        }
    }
}
