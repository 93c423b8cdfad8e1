/* compare.h -- what tests that compare two backends share: options, tolerances, disagreements.
 *
 * The first backend is the CPU's with one thread, the second CUDA's. Arguments of such a program:
 *   short   few and small cases, each kernel once: for compute-sanitizer
 *   verbose says of each comparison how much of what is allowed was used
 *   cpu     the second backend is the CPU's again, with other threads: to try the tests themselves
 * Without a GPU that can be used, and without `cpu`, the whole program is skipped.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/script_case.h"
#include "engine/run/prepare.h"

enum { COMPARE_TEXT = 512, COMPARE_SHOWN = 10 };

static struct {
    bool is_short, is_verbose;
    int second_backend;      /* SEL_BACKEND_... */
    char tree[1024];         /* the root of the repository */
    char name[COMPARE_TEXT]; /* what is compared now */
    int disagreements;
    char first[2 * COMPARE_TEXT + 8];
} comparison = {.second_backend = SEL_BACKEND_CUDA};

/* Reads the arguments. False when there is nothing to compare with, which is said as TAP. */
static inline bool comparison_begins(int argc, char **argv, const char *program) {
    sel_error error = {.status = SEL_OK};
    uint64_t free_bytes;
    for (int i = 1; i < argc; i++) {
        comparison.is_short |= strcmp(argv[i], "short") == 0;
        comparison.is_verbose |= strcmp(argv[i], "verbose") == 0;
        if (strcmp(argv[i], "cpu") == 0) {
            comparison.second_backend = SEL_BACKEND_CPU;
        }
    }
    if (!getcwd(comparison.tree, sizeof comparison.tree)) {
        return false;
    }
    if (comparison.second_backend == SEL_BACKEND_CPU) {
        return true;
    }
    if (!lbm_solver.cuda) {
        printf("ok %s # SKIP this build has no CUDA backend\n", program);
        return false;
    }
    if (lbm_solver.cuda->probe(0, &free_bytes, &error)) {
        printf("ok %s # SKIP %s\n", program, error.text);
        return false;
    }
    return true;
}

/* Says what is compared from now on, for messages. */
__attribute__((format(printf, 1, 2))) static inline void comparing(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(comparison.name, sizeof comparison.name, format, arguments);
    va_end(arguments);
}

/* Notes that the backends disagree, and goes on, so that one run shows all places. */
__attribute__((format(printf, 1, 2))) static inline void disagree(const char *format, ...) {
    char text[COMPARE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (comparison.disagreements++ == 0) {
        snprintf(comparison.first, sizeof comparison.first, "%s: %s", comparison.name, text);
    }
    if (comparison.disagreements <= COMPARE_SHOWN) {
        fprintf(stderr, "%s: %s\n", comparison.name, text);
    }
}

/* The end of each test. */
static inline void assert_agreement(void) {
    int count = comparison.disagreements;
    comparison.disagreements = 0;
    if (count > 0) {
        fail_msg("%d disagreements, the first is %s", count, comparison.first);
    }
}

/* ---- tolerances ---- */

/* Fields agree when the root mean square of their difference is below
 *
 *   relative |field| + noise scale
 *
 * Both backends do the same arithmetic but for the order of sums and fused multiplications, so they
 * differ by round-off, which the flow carries on: a few hundred units of the last digit after a
 * thousand steps. The second term is for fields that are zero but for round-off: populations are of
 * the size of the velocity, whatever is left of them in a sum, so their noise is a part of it. What
 * is made of differences (of velocities of neighbours, of populations and their equilibrium) loses
 * as many digits as it is smaller than the velocity: two more. */
typedef struct tolerance {
    double relative, noise;
} tolerance;

static inline tolerance tolerance_of(int precision, bool of_differences) {
    if (precision == SEL_F64) {
        return (tolerance){of_differences ? 1e-10 : 1e-12, 1e-14};
    }
    return (tolerance){of_differences ? 1e-3 : 1e-5, 5e-6};
}

static inline bool is_of_differences(int field) {
    return field == LBM_VORTICITY || field == LBM_Q_CRITERION || field == LBM_STRAIN_RATE ||
           field == LBM_STRESS || field == LBM_DISSIPATION || field == LBM_WALL_SHEAR ||
           field == LBM_Y_PLUS;
}

/* The size of a field where the velocity has the size `velocity` and changes from cell to cell;
 * user's units. Pressure and density: of sound. */
static inline double field_scale(const lbm_plan *plan, int field, double velocity) {
    const lbm_numbers *numbers = &plan->numbers;
    const sel_grid *grid = &plan->base.domain->grid;
    const double mach = velocity / numbers->velocity_unit, rate = velocity / grid->dx[0];
    switch (field) {
    case LBM_DENSITY:
        return numbers->density_unit * mach;
    case LBM_PRESSURE:
        return numbers->pressure_unit * mach;
    case LBM_VORTICITY:
    case LBM_STRAIN_RATE:
        return rate;
    case LBM_Q_CRITERION:
        return rate * rate;
    case LBM_DISSIPATION:
        return numbers->nu * grid->dx[0] * grid->dx[0] / grid->dt * rate * rate;
    case LBM_STRESS:
    case LBM_WALL_SHEAR:
        return numbers->density_unit * numbers->nu * grid->dx[0] * grid->dx[0] / grid->dt * rate;
    case LBM_Y_PLUS: /* of a shear that vanishes at places: a root has half of the digits */
        return 1;
    default:
        return velocity;
    }
}

/* Sums over the numbers of an array, and the place where two differ most. */
typedef struct difference {
    double rms, of_first; /* root mean squares: of the difference, of the first */
    double worst;
    size_t at;
} difference;

/* Values that are no numbers agree with others of their kind. */
static inline double distance(double a, double b) {
    if (isnan(a) && isnan(b)) {
        return 0;
    }
    return a == b ? 0 : isnan(a - b) ? HUGE_VAL : fabs(a - b);
}

static inline difference difference_between(const double *a, const double *b, size_t n) {
    difference found = {0};
    size_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        double d = distance(a[i], b[i]);
        found.rms += d * d;
        if (isfinite(a[i])) {
            found.of_first += a[i] * a[i];
            counted++;
        }
        if (d > found.worst) {
            found.worst = d;
            found.at = i;
        }
    }
    found.rms = sqrt(found.rms / (double)(n ? n : 1));
    found.of_first = sqrt(found.of_first / (double)(counted ? counted : 1));
    return found;
}

/* Compares a field given by all its numbers, `components` a cell of a box `n`. */
static inline void compare_field(const char *what, const double *a, const double *b,
                                 const int64_t n[3], int components, tolerance t, double scale) {
    size_t numbers = (size_t)(n[0] * n[1] * n[2] * components);
    difference d = difference_between(a, b, numbers);
    double allowed = t.relative * d.of_first + t.noise * scale;
    if (comparison.is_verbose) {
        fprintf(stderr, "%s: %s differs by %.2e of %.2e\n", comparison.name, what, d.rms / allowed,
                allowed);
    }
    if (!(d.rms <= allowed)) {
        int64_t cell = (int64_t)d.at / components;
        disagree(
            "%s differs by %.3g (rms; its rms is %.3g, allowed are %.3g), most at cell {%d, %d, "
            "%d} component %d: %.17g and %.17g",
            what, d.rms, d.of_first, allowed, (int)(cell % n[0]), (int)(cell / n[0] % n[1]),
            (int)(cell / n[0] / n[1]), (int)d.at % components, a[d.at], b[d.at]);
    }
}

/* Compares single numbers; `size` is what the round-off of both is a part of. */
static inline void compare_number(const char *what, double a, double b, tolerance t, double size) {
    double allowed = t.relative * fmax(fabs(a), fabs(b)) + t.noise * size;
    if (distance(a, b) > 0 && !(distance(a, b) <= allowed)) {
        disagree("%s is %.17g and %.17g, %.3g apart; allowed are %.3g", what, a, b, a - b, allowed);
    }
}

/* ---- answers ---- */

/* A state, and the backend that has it. */
typedef struct compared {
    const sel_backend *backend;
    sel_state *state;
} compared;

static inline void ask_backends(const compared side[2], sel_request request[2]) {
    sel_error error = {.status = SEL_OK};
    for (int k = 0; k < 2; k++) {
        if (side[k].backend->start(side[k].state, &request[k], &error) ||
            side[k].backend->finish(side[k].state, &request[k], &error)) {
            fail_msg("%s", error.text);
        }
    }
}

static inline void compare_balances(const compared side[2], tolerance t, double size) {
    static sel_term terms[2][SEL_MAX_TERMS];
    sel_request balance[2] = {{.kind = SEL_BALANCE, .terms = terms[0]},
                              {.kind = SEL_BALANCE, .terms = terms[1]}};
    ask_backends(side, balance);
    assert_int_equal(balance[0].term_count, balance[1].term_count);
    for (int i = 0; i < balance[0].term_count; i++) {
        assert_string_equal(terms[0][i].name, terms[1][i].name);
        if (strcmp(terms[0][i].name, "error") == 0) { /* a part of what has passed */
            t.relative *= 100;
        }
        compare_number(terms[0][i].name, terms[0][i].value, terms[1][i].value, t, size);
    }
}

#endif
