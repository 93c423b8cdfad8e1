/* fuzz_asc.c -- libFuzzer: any bytes as an ESRI ASCII grid. */
#include "tests/fuzz/grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_grid(data, size, sel_asc_read);
}
