/* fuzz_csv.c -- libFuzzer: any bytes as the CSV file of a series. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The points that come out are finite, and their times rise. */
static void read_column(const uint8_t *data, size_t size, sel_key column) {
    static sel_error error;
    sel_csv_points points;
    memset(&error, 0, sizeof error);
    sel_status status =
        sel_csv_read("fuzz.csv", (const char *)data, size, &column, &points, &error);
    assert((status == SEL_OK) == (error.text[0] == '\0'));
    for (size_t i = 0; status == SEL_OK && i < points.n; i++) {
        assert(isfinite(points.t[i]) && isfinite(points.value[i]));
        assert(i == 0 || points.t[i] > points.t[i - 1]);
    }
    free(points.t);
    free(points.value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *copy = malloc(size ? size : 1); /* so that reading beyond the end is seen */
    if (!copy)
        return -1;
    memcpy(copy, data, size);
    read_column((const uint8_t *)copy, size, (sel_key){NULL, 0});
    read_column((const uint8_t *)copy, size, (sel_key){NULL, 1});
    read_column((const uint8_t *)copy, size, (sel_key){"flow", 0});
    free(copy);
    return 0;
}
