/* lbm_mass.c -- the mass of a domain that no face holds: what laws bring in, and what may make it
 * drift.
 *
 * law.pressure, law.outflow and law.far_field hold the mean density, because the flow chooses what
 * passes them. Without such a face the mass is what the laws make of it. Half-way walls bring in
 * exactly what their velocity says, at density 1. Wet faces bring in rho u.n with the density that
 * the closure finds, so equal velocities at two ends do not keep the mass. Where walls with scheme
 * "zou_he" meet at an edge the density is that of the next cell inwards, and the edge gains or
 * loses mass.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/lbm/lbm_law.h"
#include "engine/solvers/lbm/lbm_terms.h"

/* A flow smaller than this part of the others counts as none: zeros of profiles have round-off. */
static const double no_part = 1e-6;
/* Steps over which laws without a known end are sampled. */
static const double end_if_unknown = 1e5;

bool lbm_has_free_face(const lbm_plan *plan) {
    return plan->boundary.free_face;
}

/* ---- what laws bring in ---- */

/* The mass that the laws of each region bring in and take out in a step, at density 1; lattice
 * units. Of a half-way wall only the difference counts: what its links add cancels where it moves
 * along itself. */
typedef struct passing {
    double in[SEL_REGION_NUMBERS], out[SEL_REGION_NUMBERS], all_in, all_out;
} passing;

static void add_passing(passing *to, int region, double inward) {
    *(inward > 0 ? &to->in[region] : &to->out[region]) += fabs(inward);
    *(inward > 0 ? &to->all_in : &to->all_out) += fabs(inward);
}

static double wall_brings(const lbm_plan *plan, const sel_input *law, const double *values) {
    const uint8_t *detail = plan->everywhere.detail + law->first;
    double sum = 0, size = 0;
    for (int64_t k = 0; k < law->count; k++) {
        double adds =
            lbm_wall_adds(plan->boundary.lattice->direction, detail[k], law->quantity->components,
                          values + k, law->count, plan->numbers.velocity_unit);
        sum += adds;
        size += fabs(adds);
    }
    return fabs(sum) > no_part * size ? sum : 0;
}

/* Wet faces. At the edges of walls the wall's velocity is one along the other face. */
static void add_openings(const lbm_plan *plan, const sel_input *law, const double *values,
                         passing *to) {
    const int64_t *target = plan->everywhere.target + law->first;
    const bool wall = plan->boundary.law[law->region]->wall;
    for (int64_t k = 0; k < law->count; k++) {
        const lbm_open_cell *cell = &plan->boundary.open[target[k]];
        double inward = 0;
        for (int a = 0; a < plan->base.domain->grid.dims; a++) {
            inward += cell->normal[a] * values[a * law->count + k];
        }
        if (cell->opening != LBM_OPEN_EDGE || !wall) {
            add_passing(to, law->region, inward / plan->numbers.velocity_unit);
        }
    }
}

/* Room for the values of any law. */
static double *room_for_values(const lbm_plan *plan) {
    const size_t places = (size_t)lbm_laws_largest(&plan->everywhere);
    return malloc((3 * places + 1) * sizeof(double));
}

/* `steps` steps after time 0. A law that fails counts as zero: failures are reported elsewhere. */
static void find_passing(const lbm_plan *plan, double *values, double steps, passing *to) {
    const sel_inputs *inputs = &plan->everywhere;
    *to = (passing){.all_in = 0};
    for (int k = 0; k < inputs->count; k++) {
        const sel_input *law = &inputs->v[k];
        if (!law->region || law->which == LBM_TO_DENSITY ||
            lbm_law_evaluate(inputs, law, steps, values, NULL)) {
            continue;
        }
        if (law->which == LBM_TO_LINKS) {
            add_passing(to, law->region, wall_brings(plan, law, values));
        } else {
            add_openings(plan, law, values, to);
        }
    }
}

/* Not where hooks may change a velocity. */
static bool can_be_sampled(const lbm_plan *plan) {
    return !(plan->params->common.hooks.n > 0 && lbm_laws_depend(&plan->inputs) & SEL_ON_CONTROLS);
}

bool lbm_brought(const sel_plan *base, int64_t from, int64_t to, double *mass) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const int samples = lbm_laws_depend(&plan->inputs) & SEL_ON_T ? LBM_SAMPLES : 1;
    const double steps = (double)(to - from);
    *mass = 0;
    if (lbm_has_free_face(plan) || !can_be_sampled(plan)) {
        return false;
    }
    double *values = room_for_values(plan);
    for (int s = 0; s < samples && values; s++) {
        passing now;
        find_passing(plan, values, (double)from + (s + 0.5) / samples * steps, &now);
        *mass += (now.all_in - now.all_out) * steps / samples * plan->numbers.density_unit;
    }
    const bool known = values != NULL;
    free(values);
    return known;
}

/* ---- why the mass may drift ---- */

/* The laws of a run: means over samples of it. */
typedef struct sampled {
    passing mean;
    double both;     /* the largest of what enters and leaves in the same step */
    bool alternates; /* the mass grows in some samples and shrinks in others */
} sampled;

static sampled sample_passing(const lbm_plan *plan, double *values) {
    const int64_t stop = sel_stop_step(&plan->params->common);
    const double end = stop == INT64_MAX ? end_if_unknown : (double)stop;
    const int samples = lbm_laws_depend(&plan->inputs) & SEL_ON_T ? LBM_SAMPLES + 1 : 1;
    double most = 0, least = 0, largest = 0;
    sampled found = {.both = 0};
    for (int s = 0; s < samples; s++) {
        passing now;
        find_passing(plan, values, lbm_sample_step(s, end), &now);
        for (int r = 0; r < SEL_REGION_NUMBERS; r++) {
            found.mean.in[r] += now.in[r] / samples;
            found.mean.out[r] += now.out[r] / samples;
        }
        found.mean.all_in += now.all_in / samples;
        found.mean.all_out += now.all_out / samples;
        found.both = fmax(found.both, fmin(now.all_in, now.all_out));
        most = fmax(most, now.all_in - now.all_out);
        least = fmin(least, now.all_in - now.all_out);
        largest = fmax(largest, fmax(now.all_in, now.all_out));
    }
    found.alternates = most > no_part * largest && least < -no_part * largest;
    found.both = found.both > no_part * largest ? found.both : 0;
    return found;
}

/* The region through which most passes. */
static int largest_of(const double of_region[SEL_REGION_NUMBERS]) {
    int found = 0;
    for (int r = 1; r < SEL_REGION_NUMBERS; r++) {
        found = of_region[r] > of_region[found] ? r : found;
    }
    return found;
}

/* "grows by 0.2 % per step" */
static void change_text(const lbm_plan *plan, const sampled *s, char *text, size_t size) {
    const double change = s->mean.all_in - s->mean.all_out;
    const double part = 100 * fabs(change) / (double)plan->base.domain->free_cells;
    if (fabs(change) > no_part * (s->mean.all_in + s->mean.all_out) && !s->alternates) {
        snprintf(text, size, "%s by %.2g %% per step", change > 0 ? "grows" : "shrinks", part);
    } else {
        snprintf(text, size, "drifts");
    }
}

/* A wall whose velocity has a part normal to its surface. Half-way walls that together bring in
 * what they take out keep the mass. */
static int find_wall(const lbm_plan *plan, const sampled *s, int in, int out) {
    const bool balances =
        fabs(s->mean.all_in - s->mean.all_out) <= no_part * (s->mean.all_in + s->mean.all_out);
    const int both[2] = {in, out};
    for (int k = 0; k < 2 && !balances; k++) {
        if (both[k] && plan->boundary.law[both[k]]->wall) {
            return both[k];
        }
    }
    return 0;
}

static bool lbm_mass_is_wet(const lbm_plan *plan, int region) {
    return plan->boundary.law[region]->opening != LBM_CLOSED;
}

/* A law through which mass comes or goes, and what to do; its region, 0: there is none. */
static int describe_passing(const lbm_plan *plan, const sampled *s, char *text, size_t size) {
    const sel_domain *domain = plan->base.domain;
    const int in = largest_of(s->mean.in), out = largest_of(s->mean.out);
    const int wall = find_wall(plan, s, in, out);
    char change[64], a[32], b[32];
    change_text(plan, s, change, sizeof change);
    if ((s->alternates && s->both == 0) || (!in && !out)) {
        return 0;
    }
    if (wall) {
        snprintf(text, size,
                 "wall '%s' moves through its own surface, and no face gives the pressure: mass "
                 "%s; give the wall a velocity along its surface, or make it law.velocity and "
                 "another face law.pressure or law.outflow",
                 sel_region_name(domain, wall, a), change);
        return wall;
    }
    if (s->both > 0) {
        if (!lbm_mass_is_wet(plan, in) && !lbm_mass_is_wet(plan, out)) {
            return 0;
        }
        snprintf(text, size,
                 "fluid enters at '%s' and leaves at '%s' with given velocities, and no face gives "
                 "the pressure: mass %s; make one of them law.pressure or law.outflow",
                 sel_region_name(domain, in, a), sel_region_name(domain, out, b), change);
        return out;
    }
    const bool enters = s->mean.all_in > s->mean.all_out;
    snprintf(text, size,
             enters ? "fluid enters at '%s' and can leave nowhere: mass only grows; give a face "
                      "law.pressure or law.outflow"
                    : "fluid leaves at '%s' and can enter nowhere: mass only shrinks; give a face "
                      "law.pressure",
             sel_region_name(domain, enters ? in : out, a));
    return enters ? in : out;
}

/* Edges at which walls with scheme "zou_he" meet; the region of the first, 0: there are none. */
static int describe_edges(const lbm_plan *plan, char *text, size_t size) {
    const sel_domain *domain = plan->base.domain;
    const int region = plan->boundary.edge_wall;
    if (!region) {
        return 0;
    }
    char name[32];
    snprintf(
        text, size,
        "at the edges of '%s' faces with scheme = \"zou_he\" meet and let mass through, and "
        "no face gives the pressure: mass drifts while fluid moves along them, by some 1e-5 per "
        "step; leave the scheme out, since half-way walls keep the mass, or give a face "
        "law.pressure",
        sel_region_name(domain, region, name));
    return region;
}

/* Finds the causes, and the regions whose laws mend them; returns their number. */
static int find_causes(const lbm_plan *plan, char texts[2][400], int regions[2]) {
    int count = 0;
    if (lbm_has_free_face(plan)) {
        return 0;
    }
    double *values = room_for_values(plan);
    if (values && can_be_sampled(plan)) {
        const sampled s = sample_passing(plan, values);
        regions[count] = describe_passing(plan, &s, texts[count], sizeof texts[count]);
        count += regions[count] != 0;
    }
    free(values);
    regions[count] = describe_edges(plan, texts[count], sizeof texts[count]);
    return count + (regions[count] != 0);
}

void lbm_warn_of_mass(const lbm_plan *plan, sel_error *warnings) {
    char texts[2][400];
    int regions[2];
    const int count = find_causes(plan, texts, regions);
    for (int k = 0; k < count; k++) {
        sel_fail_at(warnings, plan->base.domain->regions[regions[k] - 1].at, "%s", texts[k]);
    }
}

bool lbm_mass_cause(const sel_plan *plan, char *text, size_t size) {
    char texts[2][400];
    int regions[2];
    const int count = find_causes((const lbm_plan *)plan, texts, regions);
    if (count > 0) {
        snprintf(text, size, "%s", texts[0]);
    }
    return count > 0;
}
