/* vtk_share.h -- parallel output: all ranks write one VTK image file. */
#ifndef SEL_VTK_SHARE_H
#define SEL_VTK_SHARE_H

#include <stdio.h>
#include "engine/base/ranks.h"
#include "engine/io/vtk_writer.h"
#include "engine/io/writer.h"

/* Writes the same bytes as vtkw_write_image to PATH.tmp. All ranks call it with the same image,
 * except for data pointers; names and strings of rank 0 are used. Rank r contributes the tuples
 * (cells or points, x fastest) start[r] <= k < start[r + 1] of every array: array data point to
 * tuple start[r], come from malloc and are freed here.
 *
 * Each rank writes whole compression blocks, so parts of blocks are first sent to their writer. A
 * rank that cannot open the file (on another machine) sends its data to the rank before it. Each
 * rank compresses with `threads` threads.
 *
 * `writer`: the thread that writes the data later; NULL: they are written before the return. Rank 0
 * gets the open *file, to be passed to sel_file_end after all ranks have drained their writers.
 * After a failure on any rank, all ranks fail and *file is NULL. */
sel_status sel_vtk_share(const sel_ranks *ranks, const char *path, const vtkw_image *image,
                         const int64_t *start, int threads, sel_writer *writer, FILE **file,
                         sel_error *error);

#endif
