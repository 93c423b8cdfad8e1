/* lbm_samples.c -- what the laws and the initial state of a flow show before it is run.
 *
 * Laws that vary are sampled over the run: one that starts from rest shows its size only later. One
 * that fails counts as zero here, since what fails is told elsewhere.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/solvers/lbm/lbm_terms.h"

enum { MOST_PER_AXIS = 64, MOST_PER_AXIS_OF_BOX = 16 };

/* Between the first step and the last none at even distances, which could all meet one phase of an
 * oscillation. */
double lbm_sample_step(int sample, double end) {
    const double golden = 0.6180339887498949;
    return sample == 0 ? 0 : sample == LBM_SAMPLES ? end : end * fmod(sample * golden, 1);
}

/* ---- the largest velocity, and pressures ---- */

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

/* By the values of a law: velocities, or pressures; the region of the highest. */
static void widen(lbm_extremes *found, int *highest, const sel_input *law, const double *values) {
    const int components = law->quantity->components;
    const bool pressure = law->which == LBM_TO_DENSITY;
    for (int64_t k = 0; k < law->count && pressure; k++) {
        *highest = values[k] > found->highest ? law->region : *highest;
        found->lowest = fmin(found->lowest, values[k]);
        found->highest = fmax(found->highest, values[k]);
    }
    if (!pressure) {
        found->velocity =
            fmax(found->velocity, largest_difference(values, NULL, law->count, components));
    }
}

/* Centres of free cells, some along each axis: x, y and z of `room` each. Returns their number. */
static int64_t some_cells(const sel_domain *domain, int64_t most, int64_t room, double *places) {
    const sel_grid *grid = &domain->grid;
    int64_t stride[3], at[3], count = 0;
    for (int a = 0; a < 3; a++) {
        stride[a] = (grid->n[a] + most - 1) / most;
    }
    for (at[2] = stride[2] / 2; at[2] < grid->n[2]; at[2] += stride[2]) {
        for (at[1] = stride[1] / 2; at[1] < grid->n[1]; at[1] += stride[1]) {
            for (at[0] = stride[0] / 2; at[0] < grid->n[0]; at[0] += stride[0]) {
                if (domain->cell[sel_cell_number(grid, at)] == 0 && count < room) {
                    for (int a = 0; a < 3; a++) {
                        places[a * room + count] = sel_centre(grid, a, (double)at[a]);
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

static double largest_initial(const lbm_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const sel_quantity *q = &plan->params->initial.velocity;
    const bool space = domain->grid.dims == 3;
    const int64_t most = space ? MOST_PER_AXIS_OF_BOX : MOST_PER_AXIS;
    const int64_t room = space ? most * most * most : most * most;
    double largest = 0, *x = sel_quantity_given(q) ? malloc(6 * (size_t)room * sizeof *x) : NULL;
    if (x) {
        double *y = x + room, *z = y + room, *values = z + room;
        const int64_t n = some_cells(domain, most, room, x);
        const sel_places at = sel_domain_at(domain, n, x, y, z, 0);
        if (n > 0 && !sel_quantity_eval(q, "initial velocity", &at, values, NULL)) {
            largest = largest_difference(values, NULL, n, q->components);
        }
    }
    free(x);
    return largest;
}

static lbm_extremes find_extremes(const lbm_plan *plan, int *highest) {
    const sel_inputs *inputs = &plan->everywhere;
    const int64_t last_step = sel_stop_step(&plan->params->common);
    const double end = last_step == INT64_MAX ? 0 : (double)last_step;
    const double reference = plan->params->common.reference.velocity;
    const sel_drive *drive = lbm_drive(&plan->params->common);
    const double held = drive ? fabs(sel_drive_velocity(drive, plan->base.domain)) : 0;
    if (!inputs->domain) {
        return plan->extremes;
    }
    lbm_extremes found = {.velocity = fmax(largest_initial(plan), fmax(held, reference))};
    double *values = malloc((3 * (size_t)lbm_laws_largest(inputs) + 1) * sizeof *values);
    for (int k = 0; values && k < inputs->count; k++) {
        const sel_input *law = &inputs->v[k];
        const int last = sel_input_depends(law) & SEL_ON_T && end > 0 ? LBM_SAMPLES : 0;
        for (int s = 0; s <= last && law->region; s++) {
            const double step = lbm_sample_step(s, end);
            if (!lbm_law_evaluate(inputs, law, step, values, NULL)) {
                widen(&found, highest, law, values);
            }
        }
    }
    free(values);
    return found;
}

lbm_extremes lbm_find_extremes(const lbm_plan *plan) {
    int highest = 0;
    return find_extremes(plan, &highest);
}

int lbm_pressure_inlet(const lbm_plan *plan) {
    int highest = 0;
    for (int k = 0; k < plan->everywhere.count; k++) {
        const sel_input *law = &plan->everywhere.v[k];
        if (law->which == LBM_TO_VELOCITY && !plan->boundary.law[law->region]->wall) {
            return 0;
        }
    }
    find_extremes(plan, &highest);
    return highest && !plan->boundary.law[highest]->absorbs ? highest : 0;
}

/* ---- the slowest sound of a domain with openings ----
 *
 * Between a face that holds the velocity and one that holds the pressure the slowest wave has four
 * lengths of the domain. What starts faster than its period rings: the velocity that an inlet jumps
 * by becomes a wave that goes to and fro for a long time, and passes for drag and pressure.
 */

/* A velocity that differs from the fluid's at the start by this part of its largest jumps. */
static const double jump = 0.1;
/* A law is through with its rise when this part of it is done in this part of the period: smooth
 * ramps as long as the period are just not. */
static const double risen = 0.97, of_period = 0.85;
enum { RISE_SAMPLES = 12 };

double lbm_sound_period(const lbm_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    int64_t longest = 0;
    for (int face = 0; face < 2 * grid->dims; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(grid, face); s++) {
            if (grid->n[face / 2] > longest &&
                lbm_law_is_open(plan->boundary.law[domain->face[face][s]])) {
                longest = grid->n[face / 2];
            }
        }
    }
    return 4 * (double)longest * sqrt(3);
}

/* ---- sound along an axis ---- */

/* What the ends of an axis do with sound: some part lets it out; holds the pressure; or the
 * velocity, as walls and slip do. */
enum { LETS_OUT = 1, HOLDS_PRESSURE = 2, HOLDS_VELOCITY = 4, ALL_SLIP = 8 };

static unsigned end_of(const lbm_plan *plan, int face) {
    const sel_domain *domain = plan->base.domain;
    unsigned found = plan->sponge.faces >> face & 1u ? LETS_OUT : 0;
    bool slip = true;
    for (int64_t s = 0; s < sel_face_sites(&domain->grid, face); s++) {
        const lbm_law_row *law = plan->boundary.law[domain->face[face][s]];
        const bool out = law->absorbs || law->opening == LBM_OPEN_OUTFLOW;
        found |= out ? LETS_OUT : law->goal == LBM_TO_DENSITY ? HOLDS_PRESSURE : HOLDS_VELOCITY;
        slip = slip && law->mirrors;
    }
    return found | (slip ? ALL_SLIP : 0);
}

/* The period of sound that stays along an axis: both ends return it; 0: it leaves, or goes around.
 */
static double period_along(const lbm_plan *plan, int axis, bool *slip) {
    const sel_domain *domain = plan->base.domain;
    *slip = false;
    if (sel_axis_periodic(&domain->grid, axis)) {
        return 0;
    }
    const unsigned low = end_of(plan, 2 * axis), high = end_of(plan, 2 * axis + 1);
    const bool unlike = ((low | high) & HOLDS_PRESSURE) && ((low | high) & HOLDS_VELOCITY);
    *slip = low & high & ALL_SLIP;
    return (low | high) & LETS_OUT ? 0 : (unlike ? 4 : 2) * (double)domain->grid.n[axis] * sqrt(3);
}

void lbm_sound_facts(const lbm_plan *plan, sel_facts *facts) {
    static const char *const names[] = {"sound along x", "sound along y", "sound along z"};
    const sel_grid *grid = &plan->base.domain->grid;
    for (int a = 0; a < grid->dims && lbm_sound_period(plan) > 0; a++) {
        bool slip;
        const double period = period_along(plan, a, &slip);
        if (period > 0) {
            sel_fact_add(facts, names[a], "stays, both ends return it: period %.4g (%.0f steps)",
                         period * grid->dt, ceil(period));
        } else if (!sel_axis_periodic(grid, a)) {
            sel_fact_add(facts, names[a], "leaves");
        }
    }
}

/* In a stream between two slip sides little damps the sound across: it looks as if vortices were
 * shed. Runs that end when the flow is steady show it by themselves. */
static void warn_of_slip(const lbm_plan *plan, sel_error *warnings) {
    const sel_grid *grid = &plan->base.domain->grid;
    const sel_common *common = &plan->params->common;
    bool slip = false;
    for (int a = 0; a < grid->dims && !slip && lbm_sound_period(plan) > 0; a++) {
        const double period = period_along(plan, a, &slip), k = acos(-1) / (double)grid->n[a];
        const double damped = 1 / (plan->numbers.nu * k * k); /* by a factor e, by viscosity */
        if (slip && isnan(common->stop.steady) && damped > (double)sel_stop_step(common) / 10) {
            sel_fail(
                warnings, SEL_BAD_SCENARIO,
                "sound stays between the sides %c- and %c+, which are law.slip, and passes for "
                "a frequency of the flow (period %.4g); for a free stream take law.far_field",
                "xyz"[a], "xyz"[a], period * grid -> dt);
        }
    }
}

/* ---- starts that set sound off ---- */

typedef struct start {
    const lbm_plan *plan;
    const sel_input *law;
    double *first, *now; /* [components][count]: at the first step, and later; user's units */
    double largest;      /* that the law gives in the run */
    double jumps;        /* by this much from the initial state in the first step */
} start;

/* Change of the law from its first step, `steps` after the start; 0 where it fails, which is told
 * elsewhere. */
static double change_at(start *s, double steps) {
    const sel_input *law = s->law;
    const int components = law->quantity->components;
    if (lbm_law_evaluate(&s->plan->everywhere, law, steps, s->now, NULL)) {
        return 0;
    }
    s->largest = fmax(s->largest, largest_difference(s->now, NULL, law->count, components));
    return largest_difference(s->now, s->first, law->count, components);
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
    const sel_input *law = s->law;
    const sel_quantity *initial = &s->plan->params->initial.velocity;
    const double *const *place = s->plan->everywhere.place;
    const sel_places at =
        sel_domain_at(s->plan->base.domain, law->count, place[0] + law->first,
                      place[1] + law->first, place[2] ? place[2] + law->first : NULL, 0);
    const double steps = law->ahead;
    if (lbm_law_evaluate(&s->plan->everywhere, law, steps, s->first, NULL) ||
        (sel_quantity_given(initial) &&
         sel_quantity_eval(initial, "initial velocity", &at, s->now, NULL))) {
        return false;
    }
    const int components = law->quantity->components;
    s->largest = largest_difference(s->first, NULL, law->count, components);
    s->jumps = largest_difference(s->first, sel_quantity_given(initial) ? s->now : NULL, law->count,
                                  components);
    return true;
}

static bool starts_at_once(const start *s) {
    return s->jumps > jump * s->largest;
}

static void warn_of_law(start *s, double period, double last, sel_error *warnings) {
    const sel_grid *grid = &s->plan->base.domain->grid;
    const sel_region *region = &s->plan->base.domain->regions[s->law->region - 1];
    const lbm_law_row *law = s->plan->boundary.law[s->law->region];
    if (law->wall || law->absorbs || s->law->count == 0 || !measure_jump(s)) {
        return;
    }
    const bool varies = (sel_input_depends(s->law) & SEL_ON_T) != 0;
    const double share = varies && last >= period ? early_share(s, period, last) : 0;
    if (starts_at_once(s)) {
        sel_fail_at(warnings, region->at,
                    "%s starts at once: its sound goes to and fro in the domain (period %.4g) and "
                    "passes for flow; multiply it by sel.ramp(t, %.2g), or give it as "
                    "initial.velocity",
                    s->law->what, period * grid->dt, 4 * period * grid->dt);
    } else if (share > risen) {
        sel_fail_at(warnings, region->at,
                    "%s changes within less than %.4g, the period of the slowest sound, which then "
                    "passes for flow; let it rise by sel.ramp(t, %.2g)",
                    s->law->what, period * grid->dt, 4 * period * grid->dt);
    }
}

/* ---- what absorbing faces follow ----
 *
 * They bring what they hold to what is given by dv/dt = rate (given - v), with the rate K / 2, and
 * K of a far field (lbm_absorbing.h). Of a swing with the angular frequency w thus enters rate /
 * sqrt(rate^2 + w^2). What a law gives at one of its places is followed so in some windows of the
 * run, each long enough to forget its start.
 */

enum { FOLLOWED = 2048, WINDOWS = 4 };
/* Less than this part of a swing is warned of, if the swing is this part of the largest value. */
static const double least_followed = 0.9, least_swing = 0.02;
static const double followed_end = 1e5; /* of runs without a known end, in steps */

typedef struct follower {
    const lbm_plan *plan;
    const sel_input *law;
    double place[3];
    int component;
    double rate;
} follower;

/* What the law gives there `steps` steps after the start; NaN where it fails. */
static double given_at(const follower *f, double steps) {
    const double t = steps * f->plan->base.domain->grid.dt;
    const sel_places at =
        sel_domain_at(f->plan->base.domain, 1, &f->place[0], &f->place[1], &f->place[2], t);
    double value[3];
    return sel_quantity_eval(f->law->quantity, f->law->what, &at, value, NULL)
               ? (double)NAN
               : value[f->component];
}

/* The part of the swing that is followed in the steps from `first` on; 1: hardly anything swings.
 */
static double follow(const follower *f, double first, double steps) {
    const double h = fmax(1, steps / FOLLOWED), share = 1 - exp(-f->rate * h);
    const double forget = fmin(3 / f->rate, 0.5 * steps);
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    double largest = 0, taken = given_at(f, first);
    for (double at = 0; at < steps; at += h) {
        const double given = given_at(f, first + at);
        taken += share * (given - taken);
        const double both[2] = {given, taken};
        largest = fmax(largest, fabs(given));
        for (int k = 0; k < 2 && at >= forget; k++) {
            low[k] = fmin(low[k], both[k]);
            high[k] = fmax(high[k], both[k]);
        }
    }
    const double swing = high[0] - low[0];
    return swing > least_swing * largest ? (high[1] - low[1]) / swing : 1;
}

/* The place at which a law is largest, once in the run, and what it gives along the normal. */
static follower make_follower(const lbm_plan *plan, const sel_input *law, double end,
                              double *values) {
    const sel_inputs *inputs = &plan->everywhere;
    follower f = {.plan = plan, .law = law};
    const lbm_open_cell *cell = &plan->boundary.open[inputs->target[law->first]];
    int axis = 0;
    while (axis < 2 && cell->normal[axis] == 0) {
        axis++;
    }
    f.component = law->which == LBM_TO_VELOCITY ? axis : 0;
    int64_t best = 0;
    if (!lbm_law_evaluate(inputs, law, 0.618 * end, values, NULL)) {
        const double *v = values + f.component * law->count;
        for (int64_t k = 0; k < law->count; k++) {
            best = fabs(v[k]) > fabs(v[best]) ? k : best;
        }
    }
    for (int a = 0; a < 3; a++) {
        f.place[a] = inputs->place[a] ? inputs->place[a][law->first + best] : 0;
    }
    const bool whole = plan->boundary.law[law->region]->far_field;
    f.rate = lbm_boundary_relaxation(&plan->boundary, law->region, axis) * (whole ? 1 : 0.5);
    return f;
}

static void warn_of_unfollowed(const lbm_plan *plan, const sel_input *law, double *values,
                               sel_error *warnings) {
    const sel_region *region = &plan->base.domain->regions[law->region - 1];
    const lbm_law_row *row = plan->boundary.law[law->region];
    const int64_t stop = sel_stop_step(&plan->params->common);
    const double end = stop == INT64_MAX ? followed_end : (double)stop;
    const follower f = make_follower(plan, law, end, values);
    const double steps = fmin(end, 20 / f.rate);
    double part = 1;
    for (int k = 0; k < WINDOWS; k++) {
        part = fmin(part, follow(&f, (end - steps) * k / (WINDOWS - 1), steps));
    }
    const double omega = f.rate * sqrt(1 / (part * part) - 1), wanted = 3 * omega; /* 95 % */
    const double relaxation = row->far_field ? wanted : 2 * wanted;
    char larger[96] = "";
    if (part < least_followed && relaxation < 1) {
        snprintf(larger, sizeof larger, ", or set relaxation = %.2g, which lets less sound out",
                 relaxation);
    }
    if (part < least_followed) {
        sel_fail_at(warnings, region->at,
                    "%s changes faster than a face that absorbs sound follows, by a factor e in "
                    "%.0f steps: about %.2g %% of its swing enters; %s%s",
                    law->what, 1 / f.rate, 100 * part,
                    row->far_field ? "take law.velocity there" : "leave absorbing out", larger);
    }
}

static void warn_of_absorbing(const lbm_plan *plan, double *values, sel_error *warnings) {
    const sel_inputs *inputs = &plan->everywhere;
    for (int k = 0; k < inputs->count; k++) {
        const sel_input *law = &inputs->v[k];
        const bool holds = law->which == LBM_TO_VELOCITY || law->which == LBM_TO_DENSITY;
        if (law->region && holds && law->count > 0 && plan->boundary.law[law->region]->absorbs &&
            sel_input_depends(law) & SEL_ON_T) {
            warn_of_unfollowed(plan, law, values, warnings);
        }
    }
}

bool lbm_warn_of_sound(const lbm_plan *plan, sel_error *warnings) {
    const sel_inputs *inputs = &plan->everywhere;
    const sel_grid *grid = &plan->base.domain->grid;
    const double period = lbm_sound_period(plan);
    bool moves = false, at_once = false;
    const int64_t end = sel_stop_step(&plan->params->common);
    const double last = end == INT64_MAX ? HUGE_VAL : (double)end;
    double *values = malloc((6 * (size_t)lbm_laws_largest(inputs) + 1) * sizeof *values);
    /* Where nothing holds the mass, sound is the smaller trouble: see lbm_warn_of_mass. */
    const bool rings = lbm_has_free_face(plan);
    for (int k = 0; values && k < inputs->count && rings; k++) {
        start s = {.plan = plan,
                   .law = &inputs->v[k],
                   .first = values,
                   .now = values + 3 * lbm_laws_largest(inputs)};
        if (s.law->which == LBM_TO_VELOCITY) {
            warn_of_law(&s, period, last, warnings);
            moves = moves || s.largest > 0;
            const bool absorbs = plan->boundary.law[s.law->region]->absorbs;
            at_once = at_once || (!absorbs && starts_at_once(&s));
        }
    }
    if (warnings && values) {
        warn_of_absorbing(plan, values, warnings);
    }
    free(values);
    if (warnings) {
        warn_of_slip(plan, warnings);
    }
    if (moves && last < period) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "the run ends after %.4g, before the slowest sound has gone to and fro once "
                 "(%.4g): what it shows is the start",
                 last * grid->dt, period * grid->dt);
    }
    return at_once;
}
