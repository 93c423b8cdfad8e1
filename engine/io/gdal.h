/* gdal.h -- rasters that the engine's own readers do not read, by GDAL's library where it is. */
#ifndef SEL_GDAL_H
#define SEL_GDAL_H

#include "engine/io/raster.h"

/* Reads source->name again from the start, units and masks too. Local regular files only: a name
 * that GDAL takes for something else is refused, and so is a VRT that names anything else or holds
 * code. SEL_NO_DEVICE where there is no libgdal. */
sel_raster_reader sel_gdal_read;

/* What a refusal of another reader adds: "; install libgdal ...", or "" where the library is. */
const char *sel_gdal_missing(void);

#endif
