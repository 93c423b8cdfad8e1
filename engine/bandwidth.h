/* bandwidth.h -- how fast this machine copies memory: the yardstick of kernels that move bytes. */
#ifndef SEL_BANDWIDTH_H
#define SEL_BANDWIDTH_H

/* Bytes per second, read and written, of a copy by streaming stores on `threads` threads between
 * two arrays far larger than the caches: the median of 9 copies, about half a second. 0 when there
 * is no memory for it. */
double sel_bandwidth_copy(int threads);

#endif
