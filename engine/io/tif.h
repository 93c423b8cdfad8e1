/* tif.h -- what the files that know libtiff share: its complaints, masks. */
#ifndef SEL_TIF_H
#define SEL_TIF_H

#include <tiffio.h>
#include "engine/io/map.h"

/* What libtiff reported first. */
typedef struct sel_tif_complaint {
    int code;          /* errno of the system's part in it, or 0 */
    char message[240]; /* empty: nothing was reported */
} sel_tif_complaint;

/* LZW makes at most 4096 bytes of a code of 12 bits, deflate 1032 of one byte. Also for files that
 * are not packed: sparse ones leave parts out. */
enum { SEL_TIF_PACKING = 2800, SEL_TIF_MIB = 1 << 20 };

/* A TIFF in a file that stays the caller's, with a mode as for TIFFOpen; ends with TIFFCleanup.
 * Memory that libtiff takes at once is limited to `largest` bytes (0: it is not). NULL after an
 * error. `first` outlives it. */
TIFF *sel_tif_open(FILE *file, sel_tif_complaint *first, const char *name, const char *mode,
                   size_t largest);

/* Takes the values from source->raster, NaN, where the mask that the picture of `tiff` is has 0, or
 * nothing at all. `name`: of the file of the mask, which has `bytes`. */
sel_status sel_tif_mask(TIFF *tiff, const char *name, double bytes, sel_tif_complaint *first,
                        sel_raster_source *source);

/* The same by the masks among the further pictures of a file. */
sel_status sel_tif_masks_inside(TIFF *tiff, sel_tif_complaint *first, sel_raster_source *source);

/* The same by NAME.msk where there is such a file, the values in the order of their file. */
sel_status sel_tif_mask_beside(sel_raster_source *source);

#endif
