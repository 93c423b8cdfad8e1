/* fuzz_tif.c -- libFuzzer: any bytes as a GeoTIFF. */
#include <stdlib.h>
#include "tests/fuzz/grid.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);

/* GDAL's library is not what is tried. */
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    return setenv("SELENITE_GDAL", "0", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_grid(data, size, sel_tif_read);
}
