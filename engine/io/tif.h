/* tif.h -- TIFF files through libtiff: opening, errors, masks. */
#ifndef SEL_TIF_H
#define SEL_TIF_H

#include <tiffio.h>
#include "engine/io/raster.h"

/* The first error that libtiff reported. */
typedef struct sel_tif_complaint {
    int code;          /* errno at that time; 0: not an error of the system */
    char message[240]; /* empty: no error */
} sel_tif_complaint;

/* SEL_TIF_PACKING: the largest ratio of unpacked to packed bytes. An LZW code of 12 bits expands to
 * at most 4096 bytes, which is 2731 to 1; a byte of deflate expands to 1032. The ratio also limits
 * uncompressed files, since sparse ones omit tiles. SEL_TIF_MIB: a mebibyte, in bytes. */
enum { SEL_TIF_PACKING = 2800, SEL_TIF_MIB = 1 << 20 };

/* Opens the TIFF in `file` with a mode as for TIFFOpen. The caller keeps `file`, and closes the
 * TIFF with TIFFCleanup. A single allocation of libtiff is limited to `largest` bytes; 0: no limit.
 * Errors go to `first`, which must outlive the TIFF. NULL: an error. */
TIFF *sel_tif_open(FILE *file, sel_tif_complaint *first, const char *name, const char *mode,
                   size_t largest);

/* Applies the mask in the present directory of `tiff`: sets values of source->raster to NaN where
 * the mask is 0 or its tile is missing. `name` and `bytes`: name and size of the mask's file. */
sel_status sel_tif_mask(TIFF *tiff, const char *name, double bytes, sel_tif_complaint *first,
                        sel_raster_source *source);

/* Applies the masks among the further directories of `tiff`. */
sel_status sel_tif_masks_inside(TIFF *tiff, sel_tif_complaint *first, sel_raster_source *source);

/* Applies the mask in the file NAME.msk, if there is one. To be called before rows are flipped. */
sel_status sel_tif_mask_beside(sel_raster_source *source);

#endif
