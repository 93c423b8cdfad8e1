/* lbm_sound.c -- the slowest sound of a domain with openings, and starts that set it off.
 *
 * Between a face that holds the velocity and one that holds the pressure the slowest wave has four
 * lengths of the domain. What starts faster than its period rings: the velocity that an inlet jumps
 * by becomes a wave that goes to and fro for a long time, and passes for drag and pressure.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/lbm/lbm_terms.h"

/* A velocity that differs from the fluid's at the start by this part of its largest jumps. */
static const double jump = 0.1;
/* A law is through with its rise when this part of it is done in this part of the period: smooth
 * ramps as long as the period are just not. */
static const double risen = 0.97, of_period = 0.85;
enum { RISE_SAMPLES = 12 };

static bool is_open(const sel_domain *domain, int region) {
    const sel_table *law = region ? domain->regions[region - 1].law.table : NULL;
    return law == &lbm_velocity_table || law == &lbm_pressure_table || law == &lbm_outflow_table;
}

double lbm_sound_period(const lbm_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    int64_t longest = 0;
    for (int face = 0; face < 2 * grid->dims; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(grid, face); s++) {
            if (grid->n[face / 2] > longest && is_open(domain, domain->face[face][s])) {
                longest = grid->n[face / 2];
            }
        }
    }
    return 4 * (double)longest * sqrt(3);
}

/* ---- starts ---- */

typedef struct start {
    const lbm_plan *plan;
    const lbm_batch *batch;
    double *first, *now; /* [components][count]: at the first step, and later; user's units */
    double largest;      /* that the law gives in the run */
    double jumps;        /* by this much from the initial state in the first step */
} start;

/* The largest magnitude of a - b over n vectors, by component; b NULL: of a. */
static double largest_difference(const double *a, const double *b, int64_t n, int components) {
    double largest = 0;
    for (int64_t k = 0; k < n; k++) {
        double square = 0;
        for (int c = 0; c < components; c++) {
            const double d = a[c * n + k] - (b ? b[c * n + k] : 0);
            square += d * d;
        }
        largest = fmax(largest, sqrt(square));
    }
    return largest;
}

/* Change of the law from its first step, `steps` after the start; 0 where it fails, which is told
 * elsewhere. */
static double change_at(start *s, double steps) {
    const lbm_batch *batch = s->batch;
    const int components = batch->quantity->components;
    if (lbm_batch_evaluate(batch, s->plan->base.domain, steps, s->now, NULL)) {
        return 0;
    }
    s->largest = fmax(s->largest, largest_difference(s->now, NULL, batch->count, components));
    return largest_difference(s->now, s->first, batch->count, components);
}

/* How much of its change over the run, of `last` steps, a law does within a part of the period. */
static double early_share(start *s, double period, double last) {
    double early = 0, late = 0;
    for (int k = 1; k <= RISE_SAMPLES; k++) {
        early = fmax(early, change_at(s, of_period * period * k / RISE_SAMPLES));
    }
    for (int k = 1; k <= RISE_SAMPLES && last < 1e15; k++) {
        late = fmax(late, change_at(s, period + (last - period) * k / RISE_SAMPLES));
    }
    return early > 0 ? early / fmax(early, late) : 0;
}

static bool measure_jump(start *s) {
    const lbm_batch *batch = s->batch;
    const sel_quantity *initial = &s->plan->params->initial.velocity;
    const sel_places at = {.n = (size_t)batch->count,
                           .x = batch->x,
                           .y = batch->y,
                           .z = batch->z,
                           .controls = s->plan->base.domain->control_values};
    const double steps = lbm_batch_steps(batch, 0);
    if (lbm_batch_evaluate(batch, s->plan->base.domain, steps, s->first, NULL) ||
        (sel_quantity_given(initial) &&
         sel_quantity_eval(initial, "initial velocity", &at, s->now, NULL))) {
        return false;
    }
    const int components = batch->quantity->components;
    s->largest = largest_difference(s->first, NULL, batch->count, components);
    s->jumps = largest_difference(s->first, sel_quantity_given(initial) ? s->now : NULL,
                                  batch->count, components);
    return true;
}

/* The region whose law has this quantity. */
static const sel_region *region_of(const sel_domain *domain, const lbm_batch *batch) {
    for (int r = 0; r < domain->region_count; r++) {
        const sel_region *region = &domain->regions[r];
        if (region->law.table == &lbm_velocity_table &&
            &((const lbm_law_velocity *)region->law.data)->velocity == batch->quantity) {
            return region;
        }
    }
    return NULL;
}

static void warn_of_batch(start *s, double period, double last, sel_error *warnings) {
    const sel_grid *grid = &s->plan->base.domain->grid;
    const sel_region *region = region_of(s->plan->base.domain, s->batch);
    if (!region || s->batch->count == 0 || !measure_jump(s)) {
        return;
    }
    const bool varies = (s->batch->depends & SEL_ON_T) != 0;
    const double share = varies && last >= period ? early_share(s, period, last) : 0;
    if (s->jumps > jump * s->largest) {
        sel_fail_at(warnings, region->at,
                    "%s starts at once: its sound goes to and fro in the domain (period %.4g) and "
                    "passes for flow; multiply it by sel.ramp(t, %.2g), or give it as "
                    "initial.velocity",
                    s->batch->what, period * grid->dt, 4 * period * grid->dt);
    } else if (share > risen) {
        sel_fail_at(warnings, region->at,
                    "%s changes within less than %.4g, the period of the slowest sound, which then "
                    "passes for flow; let it rise by sel.ramp(t, %.2g)",
                    s->batch->what, period * grid->dt, 4 * period * grid->dt);
    }
}

/* Where the density of no face is free, sound is the smaller trouble: see lbm_find_passing. */
static bool has_free_face(const lbm_plan *plan) {
    const lbm_boundary *boundary = &plan->boundary;
    bool found = false;
    for (int64_t c = 0; c < boundary->cell_count && !found; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        found = cell->opening_index >= 0 &&
                (cell->opening == LBM_OPEN_OUTFLOW || cell->density_region != 0);
    }
    return found;
}

bool lbm_starts_at_once(const lbm_plan *plan) {
    sel_error found = {.status = SEL_OK};
    lbm_warn_of_sound(plan, &found);
    return found.status != SEL_OK && strstr(found.text, "starts at once") != NULL;
}

void lbm_warn_of_sound(const lbm_plan *plan, sel_error *warnings) {
    const lbm_batches *batches = &plan->boundary.batches;
    const sel_grid *grid = &plan->base.domain->grid;
    const double period = lbm_sound_period(plan);
    bool moves = false;
    const int64_t end = sel_stop_step(&plan->params->common);
    const double last = end == INT64_MAX ? HUGE_VAL : (double)end;
    double *values = malloc((6 * (size_t)batches->largest + 1) * sizeof *values);
    for (int k = 0; values && k < batches->count && has_free_face(plan); k++) {
        start s = {.plan = plan,
                   .batch = &batches->v[k],
                   .first = values,
                   .now = values + 3 * batches->largest};
        if (!s.batch->on_links && s.batch->quantity->components > 1) {
            warn_of_batch(&s, period, last, warnings);
            moves = moves || s.largest > 0;
        }
    }
    free(values);
    if (moves && last < period) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "the run ends after %.4g, before the slowest sound has gone to and fro once "
                 "(%.4g): what it shows is the start",
                 last * grid->dt, period * grid->dt);
    }
}
