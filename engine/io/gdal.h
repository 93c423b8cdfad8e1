/* gdal.h -- rasters in formats that only GDAL reads, through libgdal if it is installed. */
#ifndef SEL_GDAL_H
#define SEL_GDAL_H

#include "engine/io/raster.h"

/* A raster reader (raster.h). Opens source->name anew, without source->file, and reads place, map,
 * units and values; values under a mask become NaN. Reads local regular files only: refuses a name
 * that GDAL would not open as a file, and a VRT that refers to anything else or holds code. libgdal
 * is loaded at the first use. SEL_BAD_FILE: refused, unreadable, or there is no libgdal. */
sel_raster_reader sel_gdal_read;

/* "; with libgdal it is read: install ...", for the messages of other readers; "" if libgdal is
 * installed. */
const char *sel_gdal_missing(void);

#endif
