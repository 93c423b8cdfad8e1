/* grid_asc.c -- a grid as ESRI ASCII, and the writing of either kind of grid file. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "engine/file.h"
#include "engine/text.h"
#include "geometry/grid_file.h"

enum { NUMBER_ROOM = 32, LINE_NUMBERS = 4096 };

/* The point keeps GDAL from taking all values for whole numbers, by the first of them. */
static void write_header(const sel_grid_file *grid, FILE *to) {
    fprintf(to, "ncols %lld\nnrows %lld\nxllcorner ", (long long)grid->n[0], (long long)grid->n[1]);
    sel_json_number(to, grid->origin[0]);
    fputs("\nyllcorner ", to);
    sel_json_number(to, grid->origin[1]);
    fputs("\ncellsize ", to);
    sel_json_number(to, grid->dx);
    fprintf(to, "\nNODATA_value %d.0\n", SEL_GRID_NODATA);
}

/* Nine digits tell all floats apart. */
static size_t print_value(char *text, float value) {
    if (value == 0) {
        *text = '0';
        return 1;
    }
    double number = isnan(value) ? SEL_GRID_NODATA : (double)value;
    return (size_t)snprintf(text, NUMBER_ROOM, "%.9g", number);
}

static void write_rows(const sel_grid_file *grid, FILE *to, char *line) {
    for (int64_t row = grid->n[1] - 1; row >= 0 && !ferror(to); row--) {
        const float *value = grid->value + row * grid->n[0];
        size_t used = 0;
        for (int64_t i = 0; i < grid->n[0]; i++) {
            used += print_value(line + used, value[i]);
            line[used++] = i + 1 < grid->n[0] ? ' ' : '\n';
            if (used > (size_t)(LINE_NUMBERS - 1) * NUMBER_ROOM) {
                fwrite(line, 1, used, to);
                used = 0;
            }
        }
        fwrite(line, 1, used, to);
    }
}

bool sel_asc_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    char *line = malloc((size_t)LINE_NUMBERS * NUMBER_ROOM);
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *wrong = '\0';
    if (line && c_locale) {
        locale_t before = uselocale(c_locale); /* of this thread */
        write_header(grid, to);
        write_rows(grid, to, line);
        uselocale(before);
    } else {
        snprintf(wrong, SEL_WRONG_ROOM, "there is not enough memory");
    }
    if (c_locale) {
        freelocale(c_locale);
    }
    free(line);
    return !*wrong && !ferror(to);
}

bool sel_prj_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    *wrong = '\0';
    return fputs(grid->prj, to) >= 0 && !ferror(to);
}

sel_status sel_grid_file_write(const sel_grid_file *grid, sel_grid_writer *write, const char *path,
                               sel_error *error) {
    char wrong[SEL_WRONG_ROOM] = "";
    FILE *to = sel_file_begin(path);
    if (to && !write(grid, to, wrong) && !*wrong) {
        snprintf(wrong, sizeof wrong, "%s", strerror(errno));
    }
    return sel_file_end(to, path, wrong, error);
}
