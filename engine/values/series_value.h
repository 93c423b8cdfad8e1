/* series_value.h -- the value of a series at a time, between its points and beyond them.
 *
 * C11 and C++17; the includer may define SEL_SERIES_INLINE to add its qualifiers.
 */
#ifndef SEL_SERIES_RULE_H
#define SEL_SERIES_RULE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef SEL_SERIES_INLINE
#define SEL_SERIES_INLINE static inline
#endif

enum { SEL_SERIES_ERROR, SEL_SERIES_HOLD, SEL_SERIES_ZERO }; /* before the first, after the last */

/* n points: t[n] rises strictly, value[n]; all are finite. */
typedef struct sel_series_rule {
    int64_t n;
    bool previous; /* between two points the value of the one before; else along the line */
    bool repeats;
    int outside; /* SEL_SERIES_ERROR, ...; unless it repeats */
} sel_series_rule;

/* The last point whose time is not after `at`, which lies inside; the search starts at `hint`. */
SEL_SERIES_INLINE int64_t sel_series_point(const sel_series_rule *rule, const double *t, double at,
                                           int64_t hint) {
    int64_t low = 0, high = rule->n - 1;
    if (at >= t[hint] && (hint == high || at < t[hint + 1])) {
        return hint;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (at >= t[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return at >= t[high] ? high : low;
}

SEL_SERIES_INLINE double sel_series_inside(const sel_series_rule *rule, const double *t,
                                           const double *value, double at, int64_t *hint) {
    int64_t k = *hint = sel_series_point(rule, t, at, *hint);
    if (rule->previous || k == rule->n - 1) {
        return value[k];
    }
    double part = (at - t[k]) / (t[k + 1] - t[k]);
    return value[k] + (value[k + 1] - value[k]) * part;
}

SEL_SERIES_INLINE double sel_series_fold(double first, double last, double at) {
    double period = last - first, since = fmod(at - first, period);
    return first + (since < 0 ? since + period : since);
}

/* By rounding, a time n dt may miss a point that it should coincide with. */
SEL_SERIES_INLINE bool sel_series_almost(double a, double b) {
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* The value at `at`; NaN where there is none: outside a series with SEL_SERIES_ERROR, and at a time
 * that is not finite. The search starts at the point `hint`, which becomes the one found. */
SEL_SERIES_INLINE double sel_series_value(const sel_series_rule *rule, const double *t,
                                          const double *value, double at, int64_t *hint) {
    double first = t[0], last = t[rule->n - 1];
    if (!isfinite(at)) {
        return (double)NAN;
    }
    at = rule->repeats ? sel_series_fold(first, last, at) : at;
    if (at >= first && at <= last) {
        return sel_series_inside(rule, t, value, at, hint);
    }
    if (rule->outside == SEL_SERIES_HOLD || sel_series_almost(at, first) ||
        sel_series_almost(at, last)) {
        return value[at < first ? 0 : rule->n - 1];
    }
    return rule->outside == SEL_SERIES_ZERO ? 0 : (double)NAN;
}

#endif
