/* world_file.c -- places a raster by the world file beside it (Esri), which has six numbers.
 *
 * The lines hold A, D, B, E, C, F. The centre of a pixel, with rows counted from the top, has
 * x = A column + B row + C, y = D column + E row + F.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/io/map.h"

enum { NUMBERS = 6, MOST_BYTES = 1 << 16, ENDING = 16 };

/* The world file of map.tif: map.tfw, map.tifw or map.wld, or the same with the suffix in capitals.
 * NULL: there is none. */
static const char *find_file(sel_arena *arena, const char *path) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && dot < slash) || strlen(dot) < 3 || strlen(dot) > 8) {
        return NULL;
    }
    char endings[3][ENDING];
    snprintf(endings[0], ENDING, "%c%cw", dot[1], dot[strlen(dot) - 1]);
    snprintf(endings[1], ENDING, "%sw", dot + 1);
    snprintf(endings[2], ENDING, "wld");
    for (int k = 0; k < 6; k++) {
        char ending[ENDING];
        snprintf(ending, ENDING, "%s", endings[k % 3]);
        for (char *c = ending; *c; c++) {
            *c = (char)(k < 3 ? tolower((unsigned char)*c) : toupper((unsigned char)*c));
        }
        const char *found = sel_arena_print(arena, "%.*s.%s", (int)(dot - path), path, ending);
        if (found && access(found, F_OK) == 0) {
            return found;
        }
    }
    return NULL;
}

static sel_status read_numbers(const char *path, double number[NUMBERS], sel_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    sel_status status =
        sel_file_read(path, MOST_BYTES, "a world file is six numbers", &bytes, &length, error);
    const char *at = bytes;
    for (int k = 0; k < NUMBERS && !status; k++) {
        at += strspn(at, " \t\r\n");
        const char *behind = sel_decimal_read(at, &number[k]);
        if (!behind || !isfinite(number[k]) || !(*behind == '\0' || strchr(" \t\r\n", *behind))) {
            status =
                sel_fail(error, SEL_BAD_FILE,
                         "%s: number %d of the six of a world file cannot be read", path, k + 1);
        }
        at = behind;
    }
    free(bytes);
    return status;
}

sel_status sel_world_read(sel_raster_source *source) {
    double number[NUMBERS] = {0};
    sel_raster *raster = &source->raster;
    const char *path = find_file(source->arena, source->name);
    if (!path) {
        return source->place_lacks
                   ? sel_raster_refuse(source,
                                       "has not all the tags that place it: a pixel scale (33550) "
                                       "and a tie point (33922), or a transformation (34264)")
                   : SEL_OK;
    }
    sel_status status = read_numbers(path, number, source->error);
    if (status) {
        return status;
    }
    const double side = number[0], step = number[3], *corner = number + 4;
    if (number[1] != 0 || number[2] != 0) {
        return sel_raster_refuse(
            source, "is a rotated grid, by its world file; turn it with gdalwarp first");
    }
    if (!(side > 0) || step == 0) {
        return sel_raster_refuse(
            source,
            "its world file has pixels of %.10g x %.10g, which do not run from "
            "the west to the east; turn it with gdalwarp first",
            side, step);
    }
    status = sel_raster_check_square(source, side, fabs(step));
    source->picture = false;
    source->south_up = step > 0;
    raster->dx = side;
    raster->origin[0] = corner[0] - side / 2;
    raster->origin[1] =
        step > 0 ? corner[1] - step / 2 : corner[1] + step / 2 + (double)(raster->n[1] - 1) * step;
    if (!status && !(isfinite(raster->origin[0]) && isfinite(raster->origin[1]))) {
        status = sel_raster_refuse(source, "its corners are not finite numbers");
    }
    return status;
}
