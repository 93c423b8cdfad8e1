/* undeclared.c -- values that stand for no data in most files that hold them. */
#include <math.h>
#include <string.h>
#include "geometry/raster.h"

/* What programs write where there are no data, beside the lowest and the highest float, which some
 * write with fewer digits. */
static const double marks[] = {-9999, -32768, -32767, -99999};
enum { MARKS = sizeof marks / sizeof *marks };
static const double huge = 1e30;
_Static_assert(MARKS + 2 == SEL_UNDECLARED, "a row for each mark, and for huge ones of each sign");

void sel_undeclared_count(sel_undeclared *found, double value, double scaled) {
    int row = 0;
    if (value > -9999 && value < huge) {
        return;
    }
    while (row < MARKS && value != marks[row]) {
        row++;
    }
    if (row == MARKS && fabs(value) < huge) {
        return;
    }
    row += row == MARKS && value > 0;
    if (found[row].count++ == 0) {
        found[row].value = value;
        found[row].scaled = scaled;
    }
}

int sel_undeclared_sort(sel_undeclared *found) {
    int count = 0;
    for (int k = 0; k < SEL_UNDECLARED; k++) {
        const sel_undeclared here = found[k];
        int to = count;
        for (; here.count && to > 0 && found[to - 1].count < here.count; to--) {
            found[to] = found[to - 1];
        }
        if (here.count) {
            found[to] = here;
            count++;
        }
    }
    return count;
}
