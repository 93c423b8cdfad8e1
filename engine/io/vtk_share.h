/* vtk_share.h -- a VTK image that several ranks write into one file. */
#ifndef SEL_VTK_SHARE_H
#define SEL_VTK_SHARE_H

#include <stdio.h>
#include "engine/base/ranks.h"
#include "engine/io/vtk_writer.h"
#include "engine/io/writer.h"

/* Writes the bytes of vtkw_write_image to PATH.tmp. Rank r has the tuples (cells or points, x
 * fastest) start[r] <= k < start[r + 1] of all arrays: their data begin with its first one. Data
 * are sent to the ranks that write whole blocks of a compressed array; compression takes so many
 * threads. What a rank has that does not see the file of rank 0, on another machine, the one before
 * it writes. All ranks call it, with the same image but for pointers: names and strings of rank 0
 * count. That gets the file, for sel_file_end once all have drained their writers, to which the
 * rest is left (NULL: it is done at once). After a failure on any rank there is none. The arrays'
 * data are from malloc, and freed. */
sel_status sel_vtk_share(const sel_ranks *ranks, const char *path, const vtkw_image *image,
                         const int64_t *start, int threads, sel_writer *writer, FILE **file,
                         sel_error *error);

#endif
