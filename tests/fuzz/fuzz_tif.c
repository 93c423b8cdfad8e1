/* fuzz_tif.c -- libFuzzer: any bytes as a GeoTIFF. */
#include "tests/fuzz/grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_grid(data, size, sel_tif_read);
}
