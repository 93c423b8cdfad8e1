/* raster.c -- rasters: readers by file suffix, scaling, nodata values, conversion to metres.
 *
 *     file -> sel_raster_source (stored values) -> made_raster (scaled values, a lookup)
 */
#include "engine/io/raster.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "engine/base/file.h"
#include "engine/base/hardware.h"
#include "engine/io/tif.h"

static const sel_table_field raster_fields[] = {
    SEL_ROW(sel_raster_params, file, FILE,
            "A grid (.asc: ESRI ASCII, .tif: GeoTIFF; where libgdal is installed .hgt, .nc, .vrt, "
            ".bil and .flt too), or a picture (.png) with values from 0 (black) to 1 (white); a "
            "path relative to the script.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(sel_raster_params, scale, NUMBER,
            "Multiplies the values of the file; when not given 1, or the metres in the file's unit "
            "of heights where lengths become metres.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_raster_params, offset, NUMBER, "Is added to the scaled values."),
    SEL_ROW(sel_raster_params, nodata, NUMBER,
            "The value of the file that marks cells without data; when not given, the one that the "
            "file declares.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_raster_params, fill, NUMBER,
            "The value of cells without data, not scaled; when not given, a quantity that needs a "
            "value there is an error.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_raster_params, metres, BOOL,
            "Turns the coordinates of the file, and values whose unit is a length, into metres as "
            "soon as it is read. sel.aqua does so by itself with rasters whose .dx, .origin and "
            "values the script has not read before."),
};
const sel_table sel_raster_table =
    SEL_TABLE("sel.raster", sel_raster_params, raster_fields,
              "A quantity over the x-y plane, read from a grid or a picture whose first row is the "
              "northernmost; r(x, y) inside functions. It has .size, .dx and .origin, the lower "
              "left corner.");

/* ---- formats ---- */

sel_status sel_raster_refuse(const sel_raster_source *source, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sel_fail(source->error, SEL_BAD_FILE, "%s: %s", source->name, text);
}

/* Refuses more values than the memory holds, since a small file can declare any number. */
static sel_status check_memory(const sel_raster_source *source) {
    const int64_t *n = source->raster.n;
    const double need = (double)n[0] * (double)n[1] * sizeof *source->raster.value;
    char needed[SEL_BYTES_ROOM], room[SEL_BYTES_ROOM];
    const double free_bytes = (double)sel_machine_free_memory();
    sel_bytes_text(need, needed);
    if (source->most_bytes && need > (double)source->most_bytes) {
        return sel_fail(
            source->error, SEL_BAD_SCENARIO,
            "%s: its %lld x %lld values take %s of memory, a script's data may take %s more; "
            "gdalwarp -tr makes fewer of them, -te cuts out a part, --trust lifts the limit",
            source->name, (long long)n[0], (long long)n[1], needed,
            sel_bytes_text((double)source->most_bytes, room));
    }
    return need <= free_bytes
               ? SEL_OK
               : sel_fail(source->error, SEL_NO_DEVICE,
                          "%s: its %lld x %lld values take %s of memory and %s are free",
                          source->name, (long long)n[0], (long long)n[1], needed,
                          sel_bytes_text(free_bytes, room));
}

sel_status sel_raster_allocate(sel_raster_source *source) {
    sel_raster *raster = &source->raster;
    for (int axis = 0; axis < 2; axis++) {
        if (!isfinite(raster->origin[axis]) ||
            !isfinite(raster->origin[axis] + (double)raster->n[axis] * raster->dx)) {
            return sel_raster_refuse(source, "its corners are not finite numbers");
        }
    }
    sel_status status = check_memory(source);
    if (status) {
        return status;
    }
    size_t bytes = (size_t)raster->n[0] * (size_t)raster->n[1] * sizeof *raster->value;
    raster->value = sel_arena_alloc(source->arena, bytes);
    return raster->value ? SEL_OK : sel_fail_memory(source->error, source->name, bytes);
}

sel_status sel_raster_check_square(const sel_raster_source *source, double dx, double dy) {
    return fabs(dx - dy) <= 1e-6 * fabs(dx)
               ? SEL_OK
               : sel_raster_refuse(
                     source,
                     "its cells of %.10g x %.10g are not square; gdalwarp -tr makes them so", dx,
                     dy);
}

/* A file format that can be read: an entry of `formats`. */
typedef struct format {
    const char *suffix;
    sel_raster_reader *read;
    bool picture;
} format;
static const format formats[] = {
    {".asc", sel_asc_read, false},  {".tif", sel_tif_read, false},  {".tiff", sel_tif_read, false},
    {".png", sel_png_read, true},   {".hgt", sel_gdal_read, false}, {".nc", sel_gdal_read, false},
    {".vrt", sel_gdal_read, false}, {".bil", sel_gdal_read, false}, {".flt", sel_gdal_read, false}};
enum { FORMATS = sizeof formats / sizeof *formats };

static const format *find_format(const char *path, bool pictures_only, sel_error *error) {
    char known[128] = "";
    size_t length = strlen(path), used = 0;
    for (int i = 0; i < FORMATS; i++) {
        size_t end = strlen(formats[i].suffix);
        if (pictures_only && !formats[i].picture) {
            continue;
        }
        if (length > end && strcasecmp(path + length - end, formats[i].suffix) == 0) {
            return &formats[i];
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                 formats[i].suffix);
    }
    sel_fail(error, SEL_BAD_SCENARIO, "%s: this format is not read; %s are read from %s files",
             path, pictures_only ? "images" : "rasters", known);
    return NULL;
}

/* Reverses the order of rows. Row 0 of a raster is the southernmost; readers make the last row of
 * the file row 0. */
static void raster_flip_rows(sel_raster *raster) {
    const int64_t width = raster->n[0];
    for (int64_t low = 0, high = raster->n[1] - 1; low < high; low++, high--) {
        for (int64_t i = 0; i < width; i++) {
            const double kept = raster->value[low * width + i];
            raster->value[low * width + i] = raster->value[high * width + i];
            raster->value[high * width + i] = kept;
        }
    }
}

/* Opens and reads source->name. libgdal reads a file that the reader of its format leaves to GDAL
 * (`foreign`). Files beside a grid complete it: a world file if the grid gives no place, a mask
 * unless GDAL has applied it. */
static sel_status read_file(sel_raster_source *source, bool pictures_only) {
    const format *kind = find_format(source->name, pictures_only, source->error);
    sel_status status =
        kind ? sel_file_open(source->name, &source->file, source->error) : SEL_BAD_SCENARIO;
    if (status) {
        return status;
    }
    source->picture = kind->picture;
    source->nodata = (double)NAN;
    source->scale = 1;
    fseeko(source->file, 0, SEEK_END);
    source->file_bytes = (double)ftello(source->file);
    rewind(source->file);
    status = kind->read(source);
    fclose(source->file);
    bool masked = kind->read == sel_gdal_read;
    if (!status && source->foreign) {
        status = sel_gdal_read(source);
        masked = true;
    }
    if (!pictures_only && !status) {
        status = source->placed ? SEL_OK : sel_world_read(source);
        status = status || masked ? status : sel_tif_mask_beside(source);
    }
    if (!status && source->south_up) {
        raster_flip_rows(&source->raster);
    }
    return status;
}

sel_status sel_raster_read_picture(sel_arena *arena, const char *path, const sel_raster **raster,
                                   sel_error *error) {
    sel_raster_source source = {.arena = arena, .name = path, .error = error};
    sel_raster *made = sel_arena_alloc(arena, sizeof *made);
    sel_status status =
        made ? read_file(&source, true) : sel_fail_memory(error, path, sizeof *made);
    if (!status) {
        *made = source.raster;
        *raster = made;
    }
    return status;
}

/* ---- values ---- */

double sel_raster_value(const sel_raster *raster, double x, double y) {
    return sel_raster_interpolate(raster, raster->value, x, y);
}

static sel_status raster_evaluate(const sel_lookup *self, size_t n, const double *const *arguments,
                                  double *out, sel_error *error) {
    const sel_raster *raster = self->data;
    for (size_t i = 0; i < n; i++) {
        double x = arguments[0][i], y = arguments[1][i];
        out[i] = sel_raster_value(raster, x, y);
        if (!isnan(out[i])) {
            continue;
        }
        if (sel_lookup_has_gap(self, x, y)) {
            return sel_fail(error, SEL_BAD_SCENARIO,
                            "%s: there are no data at x = %.10g, y = %.10g", self->name, x, y);
        }
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "%s: x = %.10g, y = %.10g is outside its %.10g to %.10g by %.10g to %.10g",
                        self->name, x, y, raster->origin[0],
                        raster->origin[0] + (double)raster->n[0] * raster->dx, raster->origin[1],
                        raster->origin[1] + (double)raster->n[1] * raster->dx);
    }
    return SEL_OK;
}

/* ---- undeclared nodata values ---- */

/* Nodata values that programs write without a declaration. Other programs write the lowest or the
 * highest float, some with fewer digits: all values beyond `huge` of one sign count as one. */
static const double marks[] = {-9999, -32768, -32767, -99999};
enum { MARKS = sizeof marks / sizeof *marks };
static const double huge = 1e30;

/* Entries of made_raster.undeclared: one per mark, then huge negative and huge positive values. */
enum { UNDECLARED = MARKS + 2 };

/* A raster with all that belongs to it, in one allocation of the arena. */
typedef struct made_raster {
    sel_raster raster; /* the first member: lookup.data points to it */
    sel_raster_file file;
    double offset;   /* of the script */
    bool picture;    /* a picture has no map */
    uint8_t *filled; /* by cell: it holds the script's `fill`; NULL: not needed */
    sel_undeclared undeclared[UNDECLARED];
    sel_lookup lookup;
} made_raster;

/* Counts a value of the file that is one of `marks` or huge. All marks are at most -9999. */
static void count_undeclared(sel_undeclared *found, double value, double scaled) {
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

/* Keeps the entries of values that occur, the most frequent first. Returns the number of entries
 * kept. */
static int sort_undeclared(sel_undeclared *found) {
    int count = 0;
    for (int k = 0; k < UNDECLARED; k++) {
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

/* Huge values of one sign match each other; scaling may have made them smaller than `huge`. */
const sel_undeclared *sel_raster_undeclared(const sel_raster *raster, double x, double y) {
    const double i = floor((x - raster->origin[0]) / raster->dx);
    const double j = floor((y - raster->origin[1]) / raster->dx);
    if (!(i >= 0 && i < (double)raster->n[0] && j >= 0 && j < (double)raster->n[1])) {
        return NULL;
    }
    const double value = raster->value[(int64_t)j * raster->n[0] + (int64_t)i];
    for (int k = 0; k < raster->file->undeclared_count; k++) {
        const sel_undeclared *u = &raster->file->undeclared[k];
        const bool both_huge = fabs(u->value) >= huge && value / u->scaled > 0 && fabs(value) > 1e9;
        if (value == u->scaled || both_huge) {
            return u;
        }
    }
    return NULL;
}

/* ---- creating ---- */

/* Whether a value is nodata. `slack` allows for programs that write the same number with different
 * numbers of digits; it is 0 for integers. */
static inline bool is_nodata(double value, double nodata, double slack) {
    return isnan(value) || value == nodata || fabs(value - nodata) <= slack;
}

/* Scales the values by the file's own scale and offset first, then by the script's. Cells without
 * data get the script's `fill` (NaN: none), not scaled. Counts gaps and undeclared nodata values.
 */
static sel_status scale_values(const sel_raster_source *source, const sel_raster_params *params,
                               made_raster *made, sel_where where) {
    const sel_raster *raster = &made->raster;
    const double nodata = made->file.nodata;
    double slack = source->exact || !isfinite(nodata) ? 0 : 2e-6 * fabs(nodata);
    const double scale = made->file.scale_given ? params->scale : 1;
    int64_t n = raster->n[0] * raster->n[1];
    for (int64_t i = 0; i < n; i++) {
        double value = raster->value[i];
        double scaled = scale * (source->scale * value + source->offset) + params->offset;
        if (is_nodata(value, nodata, slack)) {
            raster->value[i] = params->fill;
            made->file.gaps++;
            if (made->filled) {
                made->filled[i] = 1;
            }
            continue;
        }
        raster->value[i] = scaled;
        count_undeclared(made->undeclared, value, scaled);
        if (!isfinite(scaled)) {
            return sel_fail_at(source->error, where,
                               "sel.raster: %s has the value %g, scaled it is %g; if it stands for "
                               "no data: gdalwarp -srcnodata %g -dstnodata -9999",
                               params->file, value, scaled, value);
        }
    }
    made->file.undeclared_count = sort_undeclared(made->undeclared);
    return SEL_OK;
}

/* Whether converting to metres changes the values: the unit of heights is known and not the metre,
 * and the script gives no scale. */
static bool has_other_heights(const sel_raster_file *file) {
    return !file->scale_given && file->height.metres > 0 && file->height.metres != 1;
}

/* Allocates made->filled, if values may be converted to metres later: the conversion leaves fill
 * values as they are. */
static sel_status allocate_filled(sel_arena *arena, const sel_raster_params *params,
                                  made_raster *made, sel_error *error) {
    const size_t cells = (size_t)(made->raster.n[0] * made->raster.n[1]);
    made->offset = params->offset;
    if (isnan(params->fill) || !has_other_heights(&made->file)) {
        return SEL_OK;
    }
    made->filled = sel_arena_alloc(arena, cells);
    if (!made->filled) {
        return sel_fail_memory(error, made->file.path, cells);
    }
    memset(made->filled, 0, cells);
    return SEL_OK;
}

const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error) {
    sel_raster_source source = {
        .arena = arena, .name = params->file, .most_bytes = params->most_bytes, .error = error};
    if (read_file(&source, false)) {
        return NULL;
    }
    made_raster *made = sel_arena_alloc(arena, sizeof *made);
    const char *path = sel_arena_copy(arena, params->file);
    const char *name = sel_arena_print(arena, "raster %s", sel_file_name(params->file));
    if (!made || !path || !name) {
        sel_fail_memory(error, "a raster", sizeof *made);
        return NULL;
    }
    bool given = !isnan(params->nodata);
    made->file = (sel_raster_file){.path = path,
                                   .keys = source.keys,
                                   .prj = source.prj,
                                   .dx = source.raster.dx,
                                   .origin = {source.raster.origin[0], source.raster.origin[1]},
                                   .scale_given = !isnan(params->scale),
                                   .nodata = given ? params->nodata : source.nodata,
                                   .nodata_given = given,
                                   .undeclared = made->undeclared};
    made->picture = source.picture;
    made->raster = source.raster;
    made->raster.file = &made->file;
    made->lookup = (sel_lookup){SEL_LOOKUP_RASTER, name, 2, raster_evaluate, &made->raster};
    sel_status status = source.picture ? SEL_OK : sel_map_read_prj(arena, &made->file, error);
    if (!status) {
        sel_map_find_units(arena, &made->file, source.unit);
        status = allocate_filled(arena, params, made, error);
    }
    status = status ? status : scale_values(&source, params, made, where);
    if (!status && params->metres) {
        status = sel_raster_to_metres(&made->lookup, where, error);
    }
    return status ? NULL : &made->lookup;
}

/* ---- metres ---- */

/* Casts const away: a lookup is constant only for its evaluation, which begins after the conversion
 * to metres. NULL: not a raster. */
static made_raster *raster_made_of(const sel_lookup *lookup) {
    return lookup && lookup->kind == SEL_LOOKUP_RASTER ? (made_raster *)(uintptr_t)lookup->data
                                                       : NULL;
}

/* Converts heights to metres. The script's offset and fill are in metres already. */
static void scale_heights(made_raster *made) {
    const double metres = made->file.height.metres, offset = made->offset;
    const int64_t n = made->raster.n[0] * made->raster.n[1];
    for (int64_t i = 0; i < n; i++) {
        if (!made->filled || !made->filled[i]) {
            made->raster.value[i] = (made->raster.value[i] - offset) * metres + offset;
        }
    }
    for (int k = 0; k < made->file.undeclared_count; k++) {
        made->undeclared[k].scaled = (made->undeclared[k].scaled - offset) * metres + offset;
    }
    made->file.height_changed = true;
}

sel_status sel_raster_to_metres(const sel_lookup *lookup, sel_where where, sel_error *error) {
    made_raster *made = raster_made_of(lookup);
    if (!made || made->file.metres) {
        return SEL_OK;
    }
    sel_raster_file *file = &made->file;
    const char *name = sel_file_name(file->path);
    const bool moves = file->place.metres > 0 && file->place.metres != 1;
    if (isnan(file->place.metres)) {
        char from[256], to[256];
        return sel_fail_at(error, where,
                           "the coordinates of %s are in %s, whose length in metres is not known. "
                           "Make a map in metres, by the number of a projection of the place: "
                           "gdalwarp -t_srs EPSG:NUMBER -r bilinear -dstnodata -9999 %s %s",
                           name, file->place.name, sel_map_quote(file->path, "", from, sizeof from),
                           sel_map_quote(file->path, "_metres.tif", to, sizeof to));
    }
    if (file->read && (moves || has_other_heights(file))) {
        return sel_fail_at(
            error, where,
            "%s is in %s, becomes metres here, and the script has read its .dx, "
            ".origin or values before: sel.raster { \"%s\", metres = true } has them "
            "in metres from the start",
            name, moves ? file->place.name : file->height.name, name);
    }
    file->metres = true;
    if (moves) {
        made->raster.dx = file->dx * file->place.metres;
        for (int a = 0; a < 2; a++) {
            made->raster.origin[a] = file->origin[a] * file->place.metres;
        }
    }
    if (has_other_heights(file)) {
        scale_heights(made);
    }
    return SEL_OK;
}

bool sel_raster_is_in_metres(const sel_lookup *lookup) {
    const made_raster *made = raster_made_of(lookup);
    const double place = made ? made->file.place.metres : 0;
    return !made || made->file.metres ||
           ((place == 0 || place == 1) && !has_other_heights(&made->file));
}

void sel_raster_note_read(const sel_lookup *lookup) {
    made_raster *made = raster_made_of(lookup);
    if (made && !made->file.metres) {
        made->file.read = true;
    }
}

const char *sel_raster_text(const sel_lookup *lookup, char *text, size_t size) {
    const made_raster *made = raster_made_of(lookup);
    const sel_raster_file *file = made ? &made->file : NULL;
    *text = '\0';
    if (!file || made->picture) {
        return text;
    }
    const bool degrees = sel_map_unit_of(&made->raster) == SEL_MAP_DEGREES;
    const bool named = file->place.name && !degrees;
    size_t used = (size_t)snprintf(text, size, "%s: coordinates ", sel_file_name(file->path));
    if (degrees || !named) {
        used += (size_t)snprintf(text + used, size - used, "%s",
                                 degrees ? "in degrees" : "without a unit");
    } else {
        used += (size_t)snprintf(text + used, size - used, "in %s", file->place.name);
    }
    if (named && file->metres && file->place.metres != 1) {
        used += (size_t)snprintf(text + used, size - used, " (%.12g m), read as metres",
                                 file->place.metres);
    } else if (!named && !degrees && file->metres) {
        used += (size_t)snprintf(text + used, size - used, ", taken as metres");
    }
    used += (size_t)snprintf(text + used, size - used, "; values ");
    if (file->scale_given && file->metres) {
        snprintf(text + used, size - used, "by the script's scale");
    } else if (!file->height.name) {
        snprintf(text + used, size - used, "without a unit");
    } else if (file->height_changed) {
        snprintf(text + used, size - used, "in %s (%.12g m), read as metres", file->height.name,
                 file->height.metres);
    } else {
        snprintf(text + used, size - used, "in %s", file->height.name);
    }
    return text;
}

const sel_raster *sel_raster_of(const sel_lookup *lookup) {
    return lookup && lookup->kind == SEL_LOOKUP_RASTER ? lookup->data : NULL;
}

/* ---- writing ---- */

void sel_prj_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]) {
    (void)wrong;
    fputs(grid->prj, to);
}

sel_status sel_grid_file_write(const sel_grid_file *grid, sel_grid_writer *write, const char *path,
                               sel_error *error) {
    char wrong[SEL_WRONG_ROOM] = "";
    FILE *to = sel_file_begin(path);
    if (to) {
        write(grid, to, wrong);
    }
    return sel_file_end(to, path, wrong, error);
}
