/* watch.c -- a row of cells at once, for a monitor. */
#include "engine/watch.h"

/* Maxima side by side, which compilers turn into vectors; one alone would have to keep its order.
 * The rest of n / LANES is the caller's. */
enum { LANES = 8 };

/* What passes unseen when comparing: NaN stays in this sum, and infinity becomes NaN. */
static double residue(double a, double b) {
    return (a - a) + (b - b);
}

/* Extremes of cells that are all free; false, with nothing found, when some are not finite. */
static bool extremes(const double *large, const double *small, int64_t n, double *largest,
                     double *smallest) {
    double high[LANES], low[LANES], bad[LANES] = {0}, any = 0;
    int64_t k = 0;
    for (int l = 0; l < LANES; l++) {
        high[l] = -HUGE_VAL;
        low[l] = HUGE_VAL;
    }
    for (; k + LANES <= n; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            const double a = large[k + l], b = small[k + l];
            high[l] = a > high[l] ? a : high[l];
            low[l] = b < low[l] ? b : low[l];
            bad[l] += residue(a, b);
        }
    }
    for (; k < n; k++) {
        high[0] = large[k] > high[0] ? large[k] : high[0];
        low[0] = small[k] < low[0] ? small[k] : low[0];
        bad[0] += residue(large[k], small[k]);
    }
    *largest = -HUGE_VAL;
    *smallest = HUGE_VAL;
    for (int l = 0; l < LANES; l++) {
        *largest = fmax(*largest, high[l]);
        *smallest = fmin(*smallest, low[l]);
        any += bad[l];
    }
    return any == 0;
}

static int64_t first_of(const double *values, double wanted) {
    int64_t k = 0;
    while (values[k] != wanted) {
        k++;
    }
    return k;
}

void sel_watch_row(sel_watched *w, int64_t first, int64_t n, const double *large,
                   const double *small, const uint8_t *solid) {
    double largest, smallest;
    uint8_t solids = 0;
    sel_watch_none(w);
    for (int64_t k = 0; k < n; k++) {
        solids |= solid[k];
    }
    if (!solids && n > 0 && extremes(large, small, n, &largest, &smallest)) {
        w->largest = largest;
        w->largest_cell = (double)(first + first_of(large, largest));
        w->smallest = smallest;
        w->smallest_cell = (double)(first + first_of(small, smallest));
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        if (!solid[k]) {
            sel_watch(w, (double)(first + k), large[k], small[k]);
        }
    }
}
