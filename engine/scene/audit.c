/* audit.c -- draw the cells of an audit of single precision. */
#include "engine/scene/audit.h"

#include <stdlib.h>
#include "engine/values/philox.h"

static int by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void sel_audited_draw(const sel_domain *domain, uint64_t seed,
                      bool (*fits)(const void *of, int64_t cell), const void *of, sel_audited *to) {
    enum { DRAWS = 16 * SEL_AUDITED };
    const int64_t cells = sel_grid_cells(&domain->grid);
    int64_t *cell = to->cell;
    int found = 0;
    for (int k = 0; k < DRAWS && found < SEL_AUDITED; k++) {
        const uint64_t high = sel_philox(seed, k, 0, 0), low = sel_philox(seed, k, 0, 1);
        const int64_t drawn = (int64_t)((high << 32 | low) % (uint64_t)cells);
        cell[found] = drawn;
        found += domain->cell[drawn] == 0 && (!fits || fits(of, drawn));
    }
    qsort(cell, (size_t)found, sizeof *cell, by_number);
    to->count = 0;
    for (int k = 0; k < found; k++) {
        if (k == 0 || cell[k] != cell[to->count - 1]) {
            cell[to->count++] = cell[k];
        }
    }
}
