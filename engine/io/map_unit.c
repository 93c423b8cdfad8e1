/* map_unit.c -- the units of length of a map: of its coordinates and of its heights, by the keys,
 * the well-known text, or the EPSG registry.
 *
 * Keys: OGC GeoTIFF Standard 1.1. Well-known text: OGC 01-009 (PROJCS, VERT_CS, UNIT) and its
 * successor 18-010 (PROJCRS, VERTCRS, LENGTHUNIT). Units: EPSG registry, 10.076.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include "engine/base/text.h"
#include "engine/io/raster.h"

/* ---- units ---- */

/* The US survey foot in metres, by the act of 1866. */
#define US_FOOT (1200.0 / 3937)

/* Units of length; code 0: the registry has none, or none of its own. */
static const struct {
    int code;
    const char *name;
    double metres;
} units[] = {{9001, "metre", 1},
             {9002, "foot", 0.3048},
             {9003, "US survey foot", US_FOOT},
             {9036, "kilometre", 1000},
             {0, "decimetre", 0.1},
             {1033, "centimetre", 0.01},
             {1025, "millimetre", 0.001},
             {0, "inch", 0.0254},
             {9096, "yard", 0.9144},
             {9093, "mile", 1609.344},
             {9030, "nautical mile", 1852},
             {9014, "fathom", 1.8288},
             {9097, "chain", 20.1168},
             {9098, "link", 0.201168},
             {9033, "US survey chain", 66 * US_FOOT},
             {9034, "US survey link", 0.66 * US_FOOT},
             {9035, "US survey mile", 5280 * US_FOOT},
             {9005, "Clarke's foot", 0.3047972654},
             {9031, "German legal metre", 1.0000135965},
             {9037, "Clarke's yard", 0.9143917962},
             {9038, "Clarke's chain", 20.1166195164},
             {9039, "Clarke's link", 0.201166195164},
             {9040, "British yard (Sears 1922)", 0.9143984146160287},
             {9041, "British foot (Sears 1922)", 0.3047994715386762},
             {9042, "British chain (Sears 1922)", 20.116765121552632},
             {9043, "British link (Sears 1922)", 0.2011676512155263},
             {9050, "British yard (Benoit 1895 A)", 0.9143992},
             {9051, "British foot (Benoit 1895 A)", 0.9143992 / 3},
             {9052, "British chain (Benoit 1895 A)", 20.1167824},
             {9053, "British link (Benoit 1895 A)", 0.201167824},
             {9060, "British yard (Benoit 1895 B)", 0.9143992042898124},
             {9061, "British foot (Benoit 1895 B)", 0.30479973476327077},
             {9062, "British chain (Benoit 1895 B)", 20.116782494375872},
             {9063, "British link (Benoit 1895 B)", 0.2011678249437587},
             {9070, "British foot (1865)", 0.9144025 / 3},
             {9080, "Indian foot", 0.30479951024814694},
             {9081, "Indian foot (1937)", 0.30479841},
             {9082, "Indian foot (1962)", 0.3047996},
             {9083, "Indian foot (1975)", 0.3047995},
             {9084, "Indian yard", 0.9143985307444408},
             {9085, "Indian yard (1937)", 0.91439523},
             {9086, "Indian yard (1962)", 0.9143988},
             {9087, "Indian yard (1975)", 0.9143985},
             {9094, "Gold Coast foot", 6378300.0 / 20926201},
             {9095, "British foot (1936)", 0.3048007491},
             {9099, "British yard (Sears 1922 truncated)", 0.914398},
             {9300, "British foot (Sears 1922 truncated)", 0.914398 / 3},
             {9301, "British chain (Sears 1922 truncated)", 20.116756},
             {9302, "British link (Sears 1922 truncated)", 0.20116756}};
/* The first COMMON rows are the units that unit_of_factor recognizes. */
enum { UNITS = sizeof units / sizeof *units, COMMON = 17 };

/* Other names of the units, as `simplify` returns them; row: in `units`. */
static const struct {
    const char *name;
    int row;
} names[] = {
    {"m", 0},
    {"meter", 0},
    {"mtr", 0},
    {"ft", 1},
    {"feet", 1},
    {"intfoot", 1},
    {"intfeet", 1},
    {"internationalfoot", 1},
    {"internationalfeet", 1},
    {"footintl", 1},
    {"footinternational", 1},
    {"ftus", 2},
    {"usft", 2},
    {"footus", 2},
    {"feetus", 2},
    {"usfoot", 2},
    {"usfeet", 2},
    {"surveyfoot", 2},
    {"surveyfeet", 2},
    {"ussurveyfeet", 2},
    {"ussurveyft", 2},
    {"ussft", 2},
    {"sft", 2},
    {"footussurvey", 2},
    {"km", 3},
    {"kilometer", 3},
    {"dm", 4},
    {"decimeter", 4},
    {"cm", 5},
    {"centimeter", 5},
    {"mm", 6},
    {"millimeter", 6},
    {"in", 7},
    {"inche", 7},
    {"yd", 8},
    {"mi", 9},
    {"statutemile", 9},
    {"nmi", 10},
    {"fm", 11},
};
enum { NAMES = sizeof names / sizeof *names };

static sel_length unit_of_row(int row) {
    return (sel_length){units[row].name, units[row].metres};
}

/* unknown: the declared unit is not in the table. unsaid: no unit is declared. */
static const sel_length unknown = {"an unknown unit", (double)NAN}, unsaid = {NULL, 0};

sel_length sel_epsg_unit(int code) {
    for (int row = 0; code && row < UNITS; row++) {
        if (units[row].code == code) {
            return unit_of_row(row);
        }
    }
    return unknown;
}

enum { NAME_ROOM = 48 };

/* Copies letters, in lower case, and digits of the first `length` bytes. */
static void simplify(const char *text, size_t length, char to[NAME_ROOM]) {
    size_t used = 0;
    for (size_t i = 0; i < length && text[i] && used + 1 < NAME_ROOM; i++) {
        if (isalnum((unsigned char)text[i])) {
            to[used++] = (char)tolower((unsigned char)text[i]);
        }
    }
    to[used] = '\0';
}

/* The row in `units` of a name, singular or plural; -1: unknown. */
static int find_name(const char *text, size_t length) {
    char name[NAME_ROOM], other[NAME_ROOM];
    simplify(text, length, name);
    for (int plural = 0; plural < 2; plural++) {
        for (int k = 0; k < NAMES; k++) {
            if (strcmp(name, names[k].name) == 0) {
                return names[k].row;
            }
        }
        for (int row = 0; row < UNITS; row++) {
            simplify(units[row].name, strlen(units[row].name), other);
            if (strcmp(name, other) == 0) {
                return row;
            }
        }
        const size_t end = strlen(name);
        if (end < 2 || name[end - 1] != 's') {
            break;
        }
        name[end - 1] = '\0';
    }
    return -1;
}

/* The unit of this length: the common one within 5e-8, since files round (the US and the
 * international foot differ by 2e-6), else a unit called `name`. */
static sel_length unit_of_factor(double metres, const char *name) {
    for (int row = 0; row < COMMON; row++) {
        if (fabs(metres - units[row].metres) <= 5e-8 * units[row].metres) {
            return unit_of_row(row);
        }
    }
    return (sel_length){name, metres};
}

/* ---- well-known text ---- */

/* A node KEYWORD[...]: its keyword, and the text between the brackets. */
typedef struct wkt_node {
    const char *word, *at, *end;
    size_t word_length;
} wkt_node;

/* Finds the first node in at <= p < end that no other node encloses; false: there is none. */
static bool wkt_next(const char *at, const char *end, wkt_node *node) {
    int depth = 0;
    bool quoted = false;
    const char *word = at;
    for (; at < end; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            continue;
        } else if (*at == '[' || *at == '(') {
            if (depth++ == 0) {
                *node = (wkt_node){word, at + 1, end, (size_t)(at - word)};
            }
        } else if (*at == ']' || *at == ')') {
            if (--depth == 0) {
                node->end = at;
                return true;
            }
            if (depth < 0) {
                return false;
            }
        } else if (depth == 0 && !isalnum((unsigned char)*at) && *at != '_' && *at != ' ') {
            word = at + 1;
        } else if (depth == 0 && isspace((unsigned char)*at) && word == at) {
            word = at + 1;
        }
    }
    return false;
}

static bool wkt_is(const wkt_node *node, const char *const *words) {
    size_t length = node->word_length;
    while (length > 0 && node->word[length - 1] == ' ') {
        length--;
    }
    for (int k = 0; words[k]; k++) {
        if (strlen(words[k]) == length && strncasecmp(node->word, words[k], length) == 0) {
            return true;
        }
    }
    return false;
}

/* The unit of a node UNIT["name",factor]. */
static sel_length read_unit(sel_arena *arena, const wkt_node *unit) {
    const char *open = memchr(unit->at, '"', (size_t)(unit->end - unit->at));
    const char *close = open ? memchr(open + 1, '"', (size_t)(unit->end - open - 1)) : NULL;
    if (!close) {
        return unknown;
    }
    const int row = find_name(open + 1, (size_t)(close - open - 1));
    double metres = 0;
    const char *number = close + 1;
    number += strspn(number, " ,\t\r\n");
    if (number < unit->end && sel_decimal_read(number, &metres) && metres > 0 && isfinite(metres)) {
        const char *name = sel_arena_copy_length(arena, open + 1, (size_t)(close - open - 1));
        return unit_of_factor(metres, name ? name : unknown.name);
    }
    return row >= 0 ? unit_of_row(row) : unknown;
}

static const char *const unit_words[] = {"UNIT", "LENGTHUNIT", NULL};

enum { AXES = 3 };

/* Units of a coordinate system. plane: the unit of the system itself, else that of its first two
 * axes, unknown if these differ. third: that of the third axis. down: heights are positive
 * downwards. */
typedef struct wkt_units {
    sel_length plane, third;
    bool down;
} wkt_units;

static wkt_units units_of_system(sel_arena *arena, const wkt_node *system) {
    static const char *const axis_words[] = {"AXIS", NULL};
    static const char *const turned[] = {"PARAMETER", NULL};
    sel_length axis[AXES] = {unsaid, unsaid, unsaid}, own = unsaid;
    wkt_node node, inner;
    bool down = false;
    int axes = 0;
    for (const char *at = system->at; wkt_next(at, system->end, &node); at = node.end + 1) {
        if (wkt_is(&node, unit_words)) {
            own = read_unit(arena, &node);
        } else if (wkt_is(&node, axis_words)) {
            sel_length *to = &axis[axes < AXES ? axes++ : AXES - 1];
            for (const char *p = node.at; wkt_next(p, node.end, &inner); p = inner.end + 1) {
                *to = wkt_is(&inner, unit_words) ? read_unit(arena, &inner) : *to;
            }
            const char *way = memchr(node.at, ',', (size_t)(node.end - node.at));
            way += way ? strspn(way, ", ") : 0;
            down = down || (way && strncasecmp(way, "down", 4) == 0);
        } else if (wkt_is(&node, turned) && node.end - node.at > 11) {
            double sign = 1; /* "Direction",-1.0 */
            const char *value = memchr(node.at, ',', (size_t)(node.end - node.at));
            down = down || (strncasecmp(node.at, "\"Direction\"", 11) == 0 && value &&
                            sel_decimal_read(value + 1, &sign) && sign < 0);
        }
    }
    const bool alike = axes < 2 || axis[0].metres == axis[1].metres;
    return (wkt_units){own.name ? own : alike ? axis[0] : unknown, axis[2], down};
}

/* Reads the units of all coordinate systems in a text, also inside compound and bound systems. */
static void read_wkt(sel_arena *arena, const char *at, const char *end, int depth,
                     sel_raster_file *file) {
    static const char *const planes[] = {
        "PROJCS", "PROJCRS", "PROJECTEDCRS", "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS", NULL};
    static const char *const heights[] = {"VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS", NULL};
    static const char *const others[] = {"COMPD_CS", "COMPOUNDCRS", "BOUNDCRS", "SOURCECRS", NULL};
    wkt_node node;
    for (; wkt_next(at, end, &node); at = node.end + 1) {
        if (wkt_is(&node, planes)) {
            const wkt_units found = units_of_system(arena, &node);
            file->place = found.plane.name ? found.plane : file->place;
            file->height = found.third.name ? found.third : file->height;
        } else if (wkt_is(&node, heights)) {
            const wkt_units found = units_of_system(arena, &node);
            file->height = found.down         ? (sel_length){"depths below a datum", (double)NAN}
                           : found.plane.name ? found.plane
                                              : file->height;
        } else if (wkt_is(&node, others) && depth < 4) {
            read_wkt(arena, node.at, node.end, depth + 1, file);
        }
    }
}

/* ---- lines of Arc/Info ---- */

/* The unit in the line that begins with `word`: a name, or the number of units per metre. */
static sel_length arcinfo_read_line(sel_arena *arena, const char *prj, const char *word) {
    const size_t length = strlen(word);
    for (const char *line = prj; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (strncasecmp(line, word, length) != 0 || !isspace((unsigned char)line[length])) {
            continue;
        }
        const char *value = line + length + strspn(line + length, " \t");
        const size_t count = strcspn(value, " \t\r\n");
        double per_metre = 0;
        if (count == 0 || strncasecmp(value, "NO", count) == 0) {
            return unsaid;
        }
        if (strncasecmp(value, "FEET", count) == 0) {
            return unit_of_row(2); /* the US survey foot: Arc/Info's foot is 0.3048006 m */
        }
        if (sel_decimal_read(value, &per_metre) && per_metre > 0) {
            return unit_of_factor(1 / per_metre, sel_arena_print(arena, "1/%.10g m", per_metre));
        }
        const int row = find_name(value, count);
        return row >= 0 ? unit_of_row(row) : unknown;
    }
    return unsaid;
}

static void read_prj(sel_arena *arena, const char *prj, sel_raster_file *file) {
    if (strpbrk(prj, "[(")) {
        read_wkt(arena, prj, prj + strlen(prj), 0, file);
    } else {
        file->place = arcinfo_read_line(arena, prj, "Units");
        file->height = arcinfo_read_line(arena, prj, "Zunits");
    }
}

/* ---- keys ---- */

/* The value of the key `wanted` among the doubles; 0: there is none. */
static double geo_key_number(const sel_geo_keys *keys, int wanted) {
    for (size_t i = 4; i + 4 <= keys->directory_count; i += 4) {
        const uint16_t *key = keys->directory + i;
        if (key[0] == wanted && key[1] == SEL_TAG_KEY_DOUBLES && key[3] < keys->double_count) {
            return keys->doubles[key[3]];
        }
    }
    return 0;
}

/* Reads well-known text in a citation of the keys. */
static void read_citation(sel_arena *arena, sel_raster_file *file) {
    const char *found = file->keys->text ? strstr(file->keys->text, SEL_CITATION) : NULL;
    if (found) {
        found += strlen(SEL_CITATION);
        read_wkt(arena, found, found + strcspn(found, "|"), 0, file);
    }
}

/* The unit, called "`what` of EPSG:`code`" if its length is unknown. */
static sel_length name_code(sel_arena *arena, sel_length unit, const char *what, int code) {
    const char *name =
        isnan(unit.metres) ? sel_arena_print(arena, "%s of EPSG:%d", what, code) : unit.name;
    return (sel_length){name ? name : unit.name, unit.metres};
}

static void read_keys(sel_arena *arena, sel_raster_file *file) {
    const sel_geo_keys *keys = file->keys;
    const int unit = sel_geo_key(keys, SEL_KEY_LINEAR_UNIT);
    const int map = sel_geo_key(keys, SEL_KEY_PROJECTED_TYPE);
    const int height_unit = sel_geo_key(keys, SEL_KEY_VERTICAL_UNIT);
    const int datum = sel_geo_key(keys, SEL_KEY_VERTICAL_TYPE);
    const double size = geo_key_number(keys, SEL_KEY_LINEAR_UNIT_SIZE);
    const bool geographic = sel_geo_key(keys, SEL_KEY_MODEL_TYPE) == SEL_IS_GEOGRAPHIC;
    read_citation(arena, file);
    if (geographic) {
        file->place = unsaid;
    } else if (unit == SEL_USER_DEFINED || (!unit && size > 0)) {
        file->place = size > 0 && isfinite(size) ? unit_of_factor(size, "a unit of its own")
                                                 : (file->place.name ? file->place : unknown);
    } else if (unit) {
        file->place = name_code(arena, sel_epsg_unit(unit), "the unit", unit);
    } else if (map && map != SEL_USER_DEFINED) {
        file->place = name_code(arena, sel_epsg_projected(map), "the unit", map);
    }
    /* In GeoTIFF 1.0, codes below 5200 are ellipsoids and datums. */
    if (datum > 5200 && datum != SEL_USER_DEFINED) {
        const sel_length found = sel_epsg_vertical(datum);
        file->height = name_code(arena, found, found.name, datum);
        file->height = height_unit && isnan(found.metres) && found.name == unknown.name
                           ? unsaid
                           : file->height;
    }
    if (height_unit && height_unit != SEL_USER_DEFINED && !isnan(file->height.metres)) {
        file->height = name_code(arena, sel_epsg_unit(height_unit), "the unit", height_unit);
    }
}

/* ---- map and band ---- */

/* Sets the unit of heights from `unit`, that of the band, which takes precedence over that of the
 * map as in GDAL. */
static void read_band(sel_arena *arena, const char *unit, sel_raster_file *file) {
    static const char *const none[] = {"", "unknown", "unspecified", "none", "unit", "value", "1"};
    char name[NAME_ROOM];
    simplify(unit, strlen(unit), name);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        if (strcmp(name, none[k]) == 0) {
            return;
        }
    }
    const int row = strpbrk(unit, "/^*") ? -1 : find_name(unit, strlen(unit));
    if (row >= 0) {
        file->height = unit_of_row(row);
        return;
    }
    char *shown = sel_arena_print(arena, "'%.40s'", unit);
    for (char *c = shown; c && *c; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    file->height = (sel_length){shown ? shown : unknown.name, (double)NAN};
}

void sel_map_find_units(sel_arena *arena, sel_raster_file *file, const char *unit) {
    file->place = file->height = unsaid;
    if (file->prj) {
        read_prj(arena, file->prj, file);
    } else if (file->keys) {
        read_keys(arena, file);
    }
    if (unit) {
        read_band(arena, unit, file);
    }
}

/* ---- units of the maps in the EPSG registry, mainly those other than the metre ----
 *
 * A GeoTIFF often gives its map only as an EPSG code. The tables follow version 10.076 (2022) of
 * the registry; later codes are unknown, unless GDAL reads the file.
 */

/* Codes first, first + step, ... last of projected maps, and the EPSG code of their unit. */
typedef struct run {
    uint16_t first, last, step, unit;
} run;

static const run other_units[] = {
    {2066, 2066, 1, 9039},   {2136, 2136, 1, 9094},   {2155, 2155, 1, 9003},
    {2159, 2160, 1, 9094},   {2194, 2194, 1, 9003},   {2204, 2204, 1, 9003},
    {2222, 2224, 1, 9002},   {2225, 2250, 1, 9003},   {2251, 2253, 1, 9002},
    {2254, 2263, 3, 9003},   {2255, 2287, 4, 9003},   {2256, 2256, 1, 9002},
    {2258, 2264, 1, 9003},   {2265, 2273, 4, 9002},   {2266, 2270, 4, 9002},
    {2268, 2277, 3, 9003},   {2272, 2278, 2, 9003},   {2280, 2282, 1, 9002},
    {2284, 2289, 1, 9003},   {2314, 2314, 1, 9005},   {2867, 2869, 1, 9002},
    {2870, 2895, 1, 9003},   {2896, 2898, 1, 9002},   {2899, 2919, 4, 9003},
    {2900, 2928, 4, 9003},   {2901, 2909, 8, 9002},   {2902, 2908, 1, 9003},
    {2910, 2913, 3, 9002},   {2914, 2921, 7, 9002},   {2917, 2920, 1, 9003},
    {2922, 2923, 1, 9002},   {2925, 2930, 1, 9003},   {2964, 2968, 1, 9003},
    {2992, 2994, 2, 9002},   {3080, 3080, 1, 9002},   {3089, 3091, 2, 9003},
    {3102, 3102, 1, 9003},   {3139, 3140, 1, 9098},   {3167, 3167, 1, 9301},
    {3359, 3361, 2, 9002},   {3363, 3365, 2, 9003},   {3404, 3404, 1, 9003},
    {3407, 3407, 1, 9005},   {3417, 3438, 1, 9003},   {3441, 3446, 1, 9003},
    {3451, 3459, 1, 9003},   {3479, 3483, 2, 9002},   {3485, 3487, 2, 9003},
    {3490, 3512, 2, 9003},   {3515, 3553, 2, 9003},   {3560, 3570, 1, 9003},
    {3582, 3586, 2, 9003},   {3588, 3590, 2, 9002},   {3593, 3593, 1, 9002},
    {3598, 3600, 2, 9003},   {3605, 3605, 1, 9002},   {3608, 3632, 2, 9003},
    {3634, 3636, 2, 9002},   {3640, 3642, 2, 9003},   {3644, 3648, 2, 9002},
    {3650, 3662, 4, 9003},   {3652, 3670, 6, 9003},   {3656, 3656, 1, 9002},
    {3660, 3672, 4, 9003},   {3674, 3686, 3, 9003},   {3676, 3682, 3, 9002},
    {3688, 3700, 4, 9003},   {3690, 3698, 8, 9003},   {3728, 3739, 1, 9003},
    {3753, 3760, 1, 9003},   {3991, 3992, 1, 9003},   {4217, 4217, 1, 9003},
    {4399, 4413, 1, 9003},   {4418, 4433, 1, 9003},   {4438, 4457, 1, 9003},
    {5472, 5472, 1, 9037},   {5588, 5588, 1, 9002},   {5589, 5589, 1, 9005},
    {5623, 5625, 1, 9003},   {5646, 5654, 8, 9003},   {5655, 5655, 1, 9003},
    {6128, 6141, 1, 9002},   {6200, 6202, 1, 9003},   {6391, 6391, 1, 9002},
    {6405, 6409, 2, 9002},   {6411, 6413, 2, 9003},   {6416, 6438, 2, 9003},
    {6441, 6479, 2, 9003},   {6484, 6492, 2, 9003},   {6494, 6496, 2, 9002},
    {6499, 6499, 1, 9002},   {6501, 6507, 2, 9003},   {6510, 6517, 7, 9003},
    {6515, 6515, 1, 9002},   {6519, 6543, 2, 9003},   {6545, 6547, 2, 9002},
    {6549, 6555, 2, 9003},   {6557, 6561, 2, 9002},   {6563, 6565, 2, 9003},
    {6568, 6576, 4, 9003},   {6570, 6570, 1, 9002},   {6574, 6590, 4, 9003},
    {6584, 6590, 2, 9003},   {6593, 6609, 2, 9003},   {6612, 6618, 2, 9003},
    {6625, 6627, 1, 9003},   {6633, 6633, 1, 9003},   {6785, 6863, 2, 9002},
    {6868, 6868, 1, 9002},   {6880, 6880, 1, 9003},   {6885, 6887, 2, 9002},
    {6923, 6925, 2, 9003},   {6966, 6966, 1, 9003},   {6997, 6997, 1, 9003},
    {7057, 7070, 1, 9003},   {7119, 7127, 1, 9002},   {7128, 7132, 4, 9003},
    {7258, 7370, 2, 9003},   {7587, 7645, 1, 9003},   {8035, 8036, 1, 9003},
    {8065, 8068, 1, 9002},   {8091, 8093, 2, 9003},   {8096, 8172, 2, 9003},
    {8177, 8193, 8, 9003},   {8180, 8182, 2, 9003},   {8189, 8197, 4, 9003},
    {8200, 8210, 2, 9003},   {8213, 8216, 3, 9003},   {8220, 8224, 4, 9003},
    {8226, 8226, 1, 9003},   {8312, 8348, 2, 9002},   {8380, 8384, 2, 9003},
    {8387, 8387, 1, 9003},   {8518, 8540, 1, 9003},   {9748, 9749, 1, 9003},
    {20050, 20050, 1, 9002}, {22300, 22300, 1, 9036}, {24100, 24100, 1, 9005},
    {24370, 24374, 1, 9084}, {24382, 24382, 1, 9084}, {24571, 24571, 1, 9062},
    {26729, 26813, 1, 9003}, {26847, 26870, 1, 9003}, {27291, 27292, 1, 9040},
    {29371, 29385, 1, 9031}, {29871, 29871, 1, 9042}, {29872, 29872, 1, 9041},
    {30200, 30200, 1, 9039}, {32001, 32058, 1, 9003}, {32064, 32077, 1, 9003},
    {32099, 32099, 1, 9003}, {32164, 32167, 1, 9003}, {32664, 32667, 1, 9003},
};
enum { OTHERS = sizeof other_units / sizeof *other_units };

typedef struct span {
    uint16_t first, last;
} span;

/* The ranges of codes that the registry uses for projected maps and for vertical datums. Codes that
 * are in no other table are in metres. */
static const span projected[] = {
    {2000, 4096},   {4217, 4217},   {4390, 4880},   {5014, 5700},   {5825, 7376},   {7528, 8540},
    {8677, 8693},   {8826, 9498},   {9674, 9977},   {20002, 20539}, {20790, 21500}, {21780, 21899},
    {22032, 22832}, {22991, 23095}, {23239, 23240}, {23433, 23433}, {23700, 23700}, {23830, 25000},
    {25231, 25231}, {25391, 25395}, {25700, 25700}, {25828, 25932}, {26191, 26432}, {26591, 27700},
    {28191, 28600}, {28991, 29385}, {29635, 29903}, {30161, 30200}, {30339, 30340}, {30491, 30494},
    {30729, 30800}, {31028, 31700}, {31838, 32766},
};
static const span vertical[] = {
    {3855, 3900}, {4440, 4458}, {5193, 5336}, {5597, 5941}, {6130, 6187}, {6357, 6360},
    {6638, 6695}, {6916, 6916}, {7446, 7447}, {7651, 7707}, {7832, 8089}, {8228, 8434},
    {8675, 8691}, {8841, 8911}, {9130, 9471}, {9650, 9722}, {9923, 9927}, {20000, 20036},
};
enum {
    PROJECTED = sizeof projected / sizeof *projected,
    VERTICAL = sizeof vertical / sizeof *vertical
};

static const struct {
    uint16_t code, unit;
} heights[] = {
    {5702, 9003}, {5754, 9095}, {6130, 9002}, {6131, 9002}, {6132, 9002},
    {6360, 9003}, {8050, 9002}, {8052, 9003}, {8228, 9002},
};
enum { HEIGHTS = sizeof heights / sizeof *heights };

static const uint16_t depths[] = {
    5336, 5612, 5614, 5706, 5715, 5734, 5739, 5789, 5831, 5861, 5862, 5863, 5864, 5865, 5866,
    5867, 5873, 6357, 6358, 6359, 7976, 8051, 8053, 8358, 8378, 8897, 9287, 9288, 9672,
};
enum { DEPTHS = sizeof depths / sizeof *depths };

enum { METRE = 9001 };

static bool is_covered(const span *spans, int count, int code) {
    for (int i = 0; i < count; i++) {
        if (code >= spans[i].first && code <= spans[i].last) {
            return true;
        }
    }
    return false;
}

sel_length sel_epsg_projected(int code) {
    for (int i = 0; i < OTHERS; i++) {
        const run *r = &other_units[i];
        if (code >= r->first && code <= r->last && (code - r->first) % r->step == 0) {
            return sel_epsg_unit(r->unit);
        }
    }
    return sel_epsg_unit(is_covered(projected, PROJECTED, code) ? METRE : 0);
}

sel_length sel_epsg_vertical(int code) {
    for (int i = 0; i < DEPTHS; i++) {
        if (code == depths[i]) {
            return (sel_length){"depths below a datum", (double)NAN};
        }
    }
    for (int i = 0; i < HEIGHTS; i++) {
        if (code == heights[i].code) {
            return sel_epsg_unit(heights[i].unit);
        }
    }
    return sel_epsg_unit(is_covered(vertical, VERTICAL, code) ? METRE : 0);
}
