/* tiff_file.h -- libtiff over a C file, its complaints kept, and the tags of a GeoTIFF. */
#ifndef SEL_TIFF_FILE_H
#define SEL_TIFF_FILE_H

#include <stdio.h>
#include <tiffio.h>

/* OGC GeoTIFF 1.1, and GDAL's own. */
enum {
    SEL_TAG_PIXEL_SCALE = 33550,
    SEL_TAG_TIE_POINT = 33922,
    SEL_TAG_TRANSFORMATION = 34264,
    SEL_TAG_KEY_DIRECTORY = 34735,
    SEL_TAG_KEY_DOUBLES = 34736,
    SEL_TAG_KEY_TEXT = 34737,
    SEL_TAG_METADATA = 42112,
    SEL_TAG_NODATA = 42113
};

/* A file that libtiff reads or writes; it stays the caller's. */
typedef struct sel_tiff_file {
    FILE *file;
    char message[240]; /* the first error that libtiff reported; empty: none */
} sel_tiff_file;

/* TIFFClientOpen with a mode as for TIFFOpen. Memory that libtiff takes at once is limited to
 * `largest` bytes (0: it is not) where libtiff can (from 4.5 on). NULL after an error, with
 * `message`. `from` outlives it. */
TIFF *sel_tiff_open(sel_tiff_file *from, const char *name, const char *mode, size_t largest);

#endif
