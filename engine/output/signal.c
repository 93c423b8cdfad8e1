/* signal.c -- sampled signals: mean, deviation, extremes, dominant frequency and power spectrum;
 * records, which keep them.
 *
 * The frequency is that of the highest peak of the amplitude spectrum:
 *
 *     resample -> remove linear trend -> Hann window -> zero padding -> FFT -> peak -> parabola
 *
 * The window suppresses leakage from the ends of the signal. Zero padding makes the spectrum
 * PADDING times denser. The peak is refined by the parabola through the logarithms of its three
 * highest points, which is exact for a Gaussian; the peak of a Hann window is nearly one.
 *
 * The power spectral density is the mean of those of parts of the signal (Welch, IEEE Trans. Audio
 * Electroacoust. 15 (1967) 70), each with its mean removed under a Hann window. Three of them:
 *
 *     |----- 1 -----|              a window is 2 parts long, and begins a part after the
 *            |----- 2 -----|       one before it: n samples make windows + 1 parts
 *                   |----- 3 -----|
 */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "engine/output/kind.h"

/* CMPLX of C11, which glibc defines for gcc only. */
#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

enum { LEAST_SAMPLES = 16, PADDING = 4 };
static const double least_cycles = 2;
static const double side_lobe = 0.1; /* of a peak; those of a Hann window are below 0.03 */
static const double pi = 3.14159265358979323846;

double sel_signal_mean(const double *value, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += value[i];
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

double sel_signal_rms(const double *value, size_t n) {
    double mean = sel_signal_mean(value, n), squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += (value[i] - mean) * (value[i] - mean);
    }
    return n > 0 ? sqrt(squares / (double)n) : (double)NAN;
}

double sel_signal_min(const double *value, size_t n) {
    double least = n > 0 ? value[0] : (double)NAN;
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, value[i]);
    }
    return least;
}

double sel_signal_max(const double *value, size_t n) {
    double most = n > 0 ? value[0] : (double)NAN;
    for (size_t i = 1; i < n; i++) {
        most = fmax(most, value[i]);
    }
    return most;
}

/* to[n]: the signal at n evenly spaced times from the first to the last, linear in between. */
static void resample(const double *time, const double *value, size_t n, double complex *to) {
    double spacing = (time[n - 1] - time[0]) / (double)(n - 1);
    for (size_t i = 0, k = 0; i < n; i++) {
        double t = time[0] + (double)i * spacing;
        while (k + 2 < n && time[k + 1] <= t) {
            k++;
        }
        double part = (t - time[k]) / (time[k + 1] - time[k]);
        to[i] = value[k] + fmin(part, 1) * (value[k + 1] - value[k]);
    }
}

/* Subtracts the least-squares line. */
static void detrend(double complex *v, size_t n) {
    double middle = 0.5 * (double)(n - 1), sum = 0, moment = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i - middle;
        sum += creal(v[i]);
        moment += x * creal(v[i]);
        spread += x * x;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] -= sum / (double)n + moment / spread * ((double)i - middle);
    }
}

static void apply_window(double complex *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        v[i] *= 0.5 - 0.5 * cos(2 * pi * ((double)i + 0.5) / (double)n);
    }
}

static void swap_bit_reversed(double complex *v, size_t n) {
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            double complex kept = v[i];
            v[i] = v[j];
            v[j] = kept;
        }
    }
}

/* Fourier transform in place, radix 2 (Cooley and Tukey 1965); n is a power of two. */
static void transform(double complex *v, size_t n) {
    swap_bit_reversed(v, n);
    for (size_t half = 1; half < n; half *= 2) {
        for (size_t k = 0; k < half; k++) {
            double angle = pi * (double)k / (double)half;
            double complex turn = CMPLX(cos(angle), -sin(angle));
            for (size_t i = k; i < n; i += 2 * half) {
                double complex odd = turn * v[i + half];
                v[i + half] = v[i] - odd;
                v[i] += odd;
            }
        }
    }
}

/* Position of the highest peak of the spectrum at point `least` or above, in points; 0: none.
 * Points below `least` are a drift; peaks no higher than its side lobes are ignored. */
static double find_peak(const double complex *v, size_t n, size_t least) {
    size_t best = 0;
    double drift = 0;
    for (size_t k = 1; k < least && k < n / 2; k++) {
        drift = fmax(drift, cabs(v[k]));
    }
    for (size_t k = least > 1 ? least : 1; k + 1 < n / 2; k++) {
        bool peak = cabs(v[k]) >= cabs(v[k - 1]) && cabs(v[k]) > cabs(v[k + 1]);
        if (peak && cabs(v[k]) > (best ? cabs(v[best]) : side_lobe * drift)) {
            best = k;
        }
    }
    if (best == 0) {
        return 0;
    }
    double below = log(cabs(v[best - 1])), at = log(cabs(v[best])), above = log(cabs(v[best + 1]));
    double shift = 0.5 * (below - above) / (below - 2 * at + above);
    return (double)best + (isfinite(shift) ? shift : 0);
}

double sel_signal_frequency(const double *time, const double *value, size_t n, double noise) {
    if (n < LEAST_SAMPLES || !(time[n - 1] > time[0])) {
        return (double)NAN;
    }
    size_t padded = 1;
    while (padded < PADDING * n) {
        padded *= 2;
    }
    double complex *v = calloc(padded, sizeof *v);
    if (!v) {
        return (double)NAN;
    }
    resample(time, value, n, v);
    detrend(v, n);
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += creal(v[i]) * creal(v[i]);
    }
    double peak = 0;
    if (sqrt(squares / (double)n) > noise) {
        apply_window(v, n);
        transform(v, padded);
        peak = find_peak(v, padded, (size_t)ceil(least_cycles * (double)padded / (double)n));
    }
    free(v);
    double spacing = (time[n - 1] - time[0]) / (double)(n - 1);
    return peak > 0 ? peak / ((double)padded * spacing) : (double)NAN;
}

static size_t part_of(size_t n, int windows) {
    return n / ((size_t)windows + 1);
}

/* The number of points of the transform of a window. */
static size_t points_of_window(size_t n, int windows) {
    size_t padded = 1;
    while (padded < 2 * part_of(n, windows)) {
        padded *= 2;
    }
    return padded;
}

size_t sel_signal_frequencies(size_t n, int windows) {
    return 2 * part_of(n, windows) < LEAST_SAMPLES ? 0 : points_of_window(n, windows) / 2 + 1;
}

static void remove_mean(double complex *v, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += creal(v[i]);
    }
    for (size_t i = 0; i < n; i++) {
        v[i] -= sum / (double)n;
    }
}

/* The integral over k from 0 to half of the points is the mean square of the windowed signal over
 * that of the window, 3/8. So each power counts twice, but not those that have no negative twin. */
bool sel_signal_density(const double *time, const double *value, size_t n, int windows,
                        double *density) {
    const size_t part = part_of(n, windows), padded = points_of_window(n, windows);
    const size_t count = padded / 2 + 1;
    const double spacing = (time[n - 1] - time[0]) / (double)(n - 1);
    const double weight = spacing / (0.375 * 2 * (double)part * windows);
    double complex *even = calloc(n + padded, sizeof *even), *v = even ? even + n : NULL;
    if (!even) {
        return false;
    }
    resample(time, value, n, even);
    for (size_t k = 0; k < count; k++) {
        density[k] = 0;
    }
    for (size_t w = 0; w < (size_t)windows; w++) {
        for (size_t i = 0; i < padded; i++) {
            v[i] = i < 2 * part ? even[w * part + i] : 0;
        }
        remove_mean(v, 2 * part);
        apply_window(v, 2 * part);
        transform(v, padded);
        for (size_t k = 0; k < count; k++) {
            const double power = creal(v[k]) * creal(v[k]) + cimag(v[k]) * cimag(v[k]);
            density[k] += (k == 0 || k == count - 1 ? 1 : 2) * weight * power;
        }
    }
    free(even);
    return true;
}

double sel_signal_spacing(const double *time, size_t n, int windows) {
    const double spacing = (time[n - 1] - time[0]) / (double)(n - 1);
    return 1 / ((double)points_of_window(n, windows) * spacing);
}

/* ---- records: time series that an output keeps in memory for its statistics at the end ---- */

sel_status sel_record_open(sel_output *output, int series, sel_record *record, sel_error *error) {
    const size_t bytes = (size_t)series * SEL_MOST_SAMPLES * sizeof(double);
    double *samples = sel_arena_alloc(output->arena, bytes);
    *record = (sel_record){.series = series, .stride = 1};
    for (int k = 0; k < series && samples; k++) {
        record->v[k] = samples + k * SEL_MOST_SAMPLES;
    }
    return samples ? SEL_OK : sel_fail_memory(error, "a record", bytes);
}

/* Drops every second sample. */
static void thin(sel_record *record) {
    for (int k = 0; k < record->series; k++) {
        for (size_t i = 0; 2 * i < record->count; i++) {
            record->v[k][i] = record->v[k][2 * i];
        }
    }
    record->count = (record->count + 1) / 2;
    record->stride *= 2;
}

void sel_record_add(sel_record *record, const double *sample) {
    if (++record->skipped < record->stride) {
        return;
    }
    record->skipped = 0;
    if (record->count == SEL_MOST_SAMPLES) {
        thin(record);
    }
    for (int k = 0; k < record->series; k++) {
        record->v[k][record->count] = sample[k];
    }
    record->count++;
}

void sel_record_keep(sel_record *record, sel_checkpoint *checkpoint) {
    SEL_KEEP(checkpoint, record->count);
    SEL_KEEP(checkpoint, record->stride);
    SEL_KEEP(checkpoint, record->skipped);
    if (record->count > SEL_MOST_SAMPLES || record->stride < 1 || record->stride > SEL_MOST_STEPS ||
        record->skipped >= record->stride) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: a record", checkpoint->path);
        record->count = 0;
        return;
    }
    for (int k = 0; k < record->series; k++) {
        const size_t bytes = record->count * sizeof(double);
        /* Checkpoints of earlier versions lack the last series of out.force (CHANGE, TORQUE). */
        if (checkpoint->loads && checkpoint->left == 0 && k > 0) {
            for (size_t i = 0; i < record->count; i++) {
                record->v[k][i] = (double)NAN;
            }
        } else {
            sel_keep(checkpoint, record->v[k], bytes);
        }
    }
}
