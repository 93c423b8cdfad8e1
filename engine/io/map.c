/* map.c -- the map of a raster: GeoTIFF keys, the .prj file, gdalwarp commands, the world file.
 *
 * Keys: OGC GeoTIFF Standard 1.1. A .prj holds well-known text (PROJCS[...], GEOGCS[...]; since
 * 2019 also PROJCRS and GEOGCRS), or lines of Arc/Info ("Projection GEOGRAPHIC").
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/io/raster.h"

/* MOST_PRJ: bytes of a .prj at most; MOST_CITED: bytes of it that a citation key can hold. */
enum { MOST_PRJ = 1 << 20, MOST_CITED = 60000, METRES_OF_A_DEGREE = 111320 };

/* ---- keys and units ---- */

int sel_geo_key(const sel_geo_keys *keys, int wanted) {
    for (size_t i = 4; keys && i + 4 <= keys->directory_count; i += 4) {
        const uint16_t *key = keys->directory + i;
        if (key[0] == wanted && key[1] == 0) {
            return key[3];
        }
    }
    return 0;
}

bool sel_geo_keys_are_points(const sel_geo_keys *keys) {
    return sel_geo_key(keys, SEL_KEY_RASTER_TYPE) == SEL_IS_POINT;
}

static sel_map_unit unit_of_keys(const sel_geo_keys *keys) {
    const int model = sel_geo_key(keys, SEL_KEY_MODEL_TYPE);
    return model == SEL_IS_PROJECTED || sel_geo_key(keys, SEL_KEY_PROJECTED_TYPE) ? SEL_MAP_LENGTH
           : model == SEL_IS_GEOGRAPHIC || sel_geo_key(keys, SEL_KEY_GEOGRAPHIC_TYPE)
               ? SEL_MAP_DEGREES
               : SEL_MAP_UNKNOWN;
}

static sel_map_unit unit_of_prj(const char *prj) {
    static const struct {
        const char *word;
        sel_map_unit unit;
    } words[] = {{"PROJCS", SEL_MAP_LENGTH},       {"PROJCRS", SEL_MAP_LENGTH},
                 {"PROJECTEDCRS", SEL_MAP_LENGTH}, {"GEOGCS", SEL_MAP_DEGREES},
                 {"GEOGCRS", SEL_MAP_DEGREES},     {"GEODCRS", SEL_MAP_DEGREES},
                 {"GEOGRAPHIC", SEL_MAP_DEGREES},  {"Projection", SEL_MAP_LENGTH}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (strcasestr(prj, words[k].word)) {
            return words[k].unit;
        }
    }
    return SEL_MAP_UNKNOWN;
}

sel_map_unit sel_map_unit_of(const sel_raster *raster) {
    const sel_raster_file *file = raster->file;
    sel_map_unit unit = file && file->keys ? unit_of_keys(file->keys) : SEL_MAP_UNKNOWN;
    return unit == SEL_MAP_UNKNOWN && file && file->prj ? unit_of_prj(file->prj) : unit;
}

/* Whether a cell size is a multiple of 1/9 arc second, as that of elevation models in degrees, but
 * not of 1e-4, which may as well be metres of a flume. */
static bool is_part_of_degree(double dx) {
    const double ninths = dx * 3600 * 9, decimals = dx * 1e4;
    return ninths > 0.5 && fabs(ninths - rint(ninths)) < 1e-3 &&
           fabs(decimals - rint(decimals)) > 1e-6;
}

bool sel_map_looks_like_degrees(const sel_raster *raster) {
    const double *low = raster->origin, dx = raster->dx;
    const double east = low[0] + (double)raster->n[0] * dx,
                 north = low[1] + (double)raster->n[1] * dx;
    return sel_map_unit_of(raster) == SEL_MAP_UNKNOWN && is_part_of_degree(dx) && dx < 0.1 &&
           low[0] >= -181 && east <= 361 && low[1] >= -91 && north <= 91 &&
           (low[0] != 0 || low[1] != 0);
}

/* ---- into metres ---- */

/* The EPSG code of the UTM zone at a place, or of a polar stereographic map near a pole. */
static int utm_zone(double longitude, double latitude) {
    const double east = fmod(longitude + 540, 360); /* from 180 degrees west */
    const int zone = (int)(east / 6) + 1;
    if (latitude > 84 || latitude < -80) {
        return latitude > 0 ? 3413 : 3031;
    }
    return (latitude < 0 ? 32700 : 32600) + (zone > 60 ? 60 : zone);
}

/* A quotation mark inside is written as '\'': end of quotes, escaped mark, new quotes. */
const char *sel_map_quote(const char *path, const char *end, char *text, size_t size) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    const char *mark = path[strspn(path, plain)] ? "'" : "";
    const char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
    const size_t length = dot && *end ? (size_t)(dot - path) : strlen(path);
    size_t used = (size_t)snprintf(text, size, "%s", mark);
    for (size_t i = 0; i < length && used + 4 < size; i++) {
        used +=
            (size_t)snprintf(text + used, size - used, path[i] == '\'' ? "'\\''" : "%c", path[i]);
    }
    if (used + strlen(end) + 5 >= size) {
        snprintf(text, size, "FILE%s", end);
    } else {
        snprintf(text + used, size - used, "%s%s", end, mark);
    }
    return text;
}

const char *sel_map_warp(const sel_raster *raster, bool declared, char text[SEL_WARP_ROOM]) {
    char from[512], to[512], nodata[48] = "";
    const double half = raster->dx / 2, x = raster->origin[0] + (double)raster->n[0] * half;
    const double y = raster->origin[1] + (double)raster->n[1] * half;
    const double side = raster->dx * METRES_OF_A_DEGREE;
    const char *path = raster->file ? raster->file->path : "terrain.tif";
    sel_map_quote(path, "", from, sizeof from);
    sel_map_quote(path, "_metres.tif", to, sizeof to);
    if (raster->file && raster->file->undeclared_count) {
        snprintf(nodata, sizeof nodata, "-srcnodata %.9g ", raster->file->undeclared[0].value);
    }
    snprintf(text, SEL_WARP_ROOM,
             "gdalwarp %s-t_srs EPSG:%d -tr %.2g %.2g -r bilinear %s-dstnodata -9999 %s %s",
             declared ? "" : "-s_srs EPSG:4326 ", utm_zone(x, y), side, side, nodata, from, to);
    return text;
}

void sel_map_declare(const sel_raster_file *file, const sel_undeclared *u, char *text,
                     size_t size) {
    char from[256], to[256];
    const int digits = fabs(u->value) < 3.5e38 ? 9 : 17; /* all of a float, or of a double */
    if (file->gaps == 0) {
        snprintf(text, size, "sel.raster { \"%s\", nodata = %.*g }", sel_file_name(file->path),
                 digits, u->value);
    } else {
        snprintf(text, size,
                 "as %.*g stands for no data there too, make them one: gdalwarp -srcnodata %.*g "
                 "-dstnodata %.*g %s %s",
                 digits, file->nodata, digits, u->value, digits, file->nodata,
                 sel_map_quote(file->path, "", from, sizeof from),
                 sel_map_quote(file->path, "_new.tif", to, sizeof to));
    }
}

/* ---- the .prj file ---- */

/* GeoTIFF keys that cite the well-known text of a .prj; NULL: it has no projected map in well-known
 * text, or is too long. */
static const sel_geo_keys *make_keys(sel_arena *arena, const char *prj) {
    const size_t length = strlen(SEL_CITATION) + strlen(prj) + 1;
    const uint16_t directory[][4] = {
        {1, 1, 0, 4},
        {SEL_KEY_MODEL_TYPE, 0, 1, SEL_USER_DEFINED},
        {SEL_KEY_RASTER_TYPE, 0, 1, SEL_IS_AREA},
        {SEL_KEY_PROJECTED_TYPE, 0, 1, SEL_USER_DEFINED},
        {SEL_KEY_PROJECTED_CITATION, SEL_TAG_KEY_TEXT, (uint16_t)length, 0},
    };
    sel_geo_keys *keys = sel_arena_alloc(arena, sizeof *keys);
    uint16_t *copy = sel_arena_alloc(arena, sizeof directory);
    char *text = sel_arena_print(arena, "%s%s|", SEL_CITATION, prj);
    bool well_known = unit_of_prj(prj) == SEL_MAP_LENGTH && strchr(prj, '[');
    if (!keys || !copy || !text || !well_known || length > MOST_CITED) {
        return NULL;
    }
    memcpy(copy, directory, sizeof directory);
    *keys = (sel_geo_keys){.directory_count = sizeof directory / sizeof **directory,
                           .text_count = length + 1,
                           .directory = copy,
                           .text = text};
    return keys;
}

/* The path with the suffix ".prj" instead of its own, if there is such a file; else NULL. */
static const char *find_prj(sel_arena *arena, const char *path) {
    static const char *const suffixes[] = {"prj", "PRJ"};
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < 2; k++) {
        const char *found = sel_arena_print(arena, "%.*s.%s", (int)(dot - path), path, suffixes[k]);
        if (found && access(found, F_OK) == 0) {
            return found;
        }
    }
    return NULL;
}

sel_status sel_map_read_prj(sel_arena *arena, sel_raster_file *file, sel_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    if (file->prj) {
        file->keys = file->keys ? file->keys : make_keys(arena, file->prj);
        return SEL_OK;
    }
    const char *path = file->keys ? NULL : find_prj(arena, file->path);
    if (!path) {
        return SEL_OK;
    }
    sel_status status =
        sel_file_read(path, MOST_PRJ, "a map projection is a short text", &bytes, &length, error);
    if (!status) {
        file->prj = sel_arena_copy_length(arena, bytes, length);
        file->keys = file->prj ? make_keys(arena, file->prj) : NULL;
        status = file->prj ? SEL_OK : sel_fail_memory(error, path, length);
    }
    free(bytes);
    return status;
}

/* ---- the world file (Esri), which places a raster by six numbers ----
 *
 * The lines hold A, D, B, E, C, F. The centre of a pixel, with rows counted from the top, has
 * x = A column + B row + C, y = D column + E row + F.
 */

enum { NUMBERS = 6, MOST_WORLD = 1 << 16, ENDING = 16 };

/* The world file of map.tif: map.tfw, map.tifw or map.wld, or the same with the suffix in capitals.
 * NULL: there is none. */
static const char *world_find(sel_arena *arena, const char *path) {
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

static sel_status world_read_numbers(const char *path, double number[NUMBERS], sel_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    sel_status status =
        sel_file_read(path, MOST_WORLD, "a world file is six numbers", &bytes, &length, error);
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
    const char *path = world_find(source->arena, source->name);
    if (!path) {
        return source->place_lacks
                   ? sel_raster_refuse(source,
                                       "has not all the tags that place it: a pixel scale (33550) "
                                       "and a tie point (33922), or a transformation (34264)")
                   : SEL_OK;
    }
    sel_status status = world_read_numbers(path, number, source->error);
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
