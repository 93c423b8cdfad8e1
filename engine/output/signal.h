/* signal.h -- mean, deviation and dominant frequency of a sampled signal. */
#ifndef SEL_SIGNAL_H
#define SEL_SIGNAL_H

#include <stddef.h>

/* Of value[0..n); NaN for n = 0. */
double sel_signal_mean(const double *value, size_t n);

/* Root mean square of the deviations from the mean; NaN for n = 0. */
double sel_signal_rms(const double *value, size_t n);

/* The frequency, in cycles per unit of `time`, of the strongest oscillation of a signal sampled at
 * rising times. NaN where there is none: fewer than 16 samples, less than two cycles, or
 * a deviation that is not above `noise`. Within 0.1 % for a sinusoid that is seen for four cycles
 * and sampled eight times in each. */
double sel_signal_frequency(const double *time, const double *value, size_t n, double noise);

#endif
