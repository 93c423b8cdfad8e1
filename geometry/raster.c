/* raster.c -- values on a plane: read by format, placed, interpolated. */
#include "geometry/raster.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/file.h"
#include "engine/machine.h"
#include "geometry/map.h"

static const size_t max_file = (size_t)1 << 30;

static const sel_field raster_fields[] = {
    SEL_ROW(sel_raster_params, file, FILE,
            "A grid (.asc: ESRI ASCII, .tif: GeoTIFF), or a picture (.png) with values from 0 "
            "(black) to 1 (white); a path relative to the script.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(sel_raster_params, scale, NUMBER, "Multiplies the values of the file.", .preset = 1),
    SEL_ROW(sel_raster_params, offset, NUMBER, "Is added to the scaled values."),
    SEL_ROW(sel_raster_params, nodata, NUMBER,
            "The value of the file that marks cells without data; when not given, the one that the "
            "file declares.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_raster_params, fill, NUMBER,
            "The value of cells without data, not scaled; when not given, a quantity that needs a "
            "value there is an error.",
            .preset = SEL_NOT_GIVEN),
};
const sel_table sel_raster_table =
    SEL_TABLE("sel.raster", sel_raster_params, raster_fields,
              "A quantity over the x-y plane, read from a grid or a picture whose first row is the "
              "northernmost; r(x, y) inside functions. It has .size, .dx and .origin, the lower "
              "left corner.");

/* ---- formats ---- */

/* A few bytes of a file can declare more values than there is memory for. */
static sel_status check_memory(const char *name, const sel_raster_source *source,
                               sel_error *error) {
    const sel_raster *raster = &source->raster;
    char needed[SEL_BYTES_ROOM], room[SEL_BYTES_ROOM];
    const double need = (double)raster->n[0] * (double)raster->n[1] * sizeof *raster->value;
    const double free_bytes = (double)sel_machine_free_memory();
    if (source->most_bytes && need > (double)source->most_bytes) {
        return sel_fail(
            error, SEL_BAD_SCENARIO,
            "%s: its %lld x %lld values take %s of memory, a script's data may take %s "
            "more; gdalwarp -tr makes fewer of them, -te cuts out a part, --trust lifts "
            "the limit",
            name, (long long)raster->n[0], (long long)raster->n[1], sel_bytes_text(need, needed),
            sel_bytes_text((double)source->most_bytes, room));
    }
    return need <= free_bytes
               ? SEL_OK
               : sel_fail(error, SEL_NO_DEVICE,
                          "%s: its %lld x %lld values take %s of memory and %s are free", name,
                          (long long)raster->n[0], (long long)raster->n[1],
                          sel_bytes_text(need, needed), sel_bytes_text(free_bytes, room));
}

sel_status sel_raster_allocate(sel_arena *arena, const char *name, sel_raster_source *source,
                               sel_error *error) {
    sel_raster *raster = &source->raster;
    for (int axis = 0; axis < 2; axis++) {
        if (!isfinite(raster->origin[axis]) ||
            !isfinite(raster->origin[axis] + (double)raster->n[axis] * raster->dx)) {
            return sel_fail(error, SEL_BAD_FILE, "%s: its corners are not finite numbers", name);
        }
    }
    sel_status status = check_memory(name, source, error);
    if (status) {
        return status;
    }
    size_t bytes = (size_t)raster->n[0] * (size_t)raster->n[1] * sizeof *raster->value;
    raster->value = sel_arena_alloc(arena, bytes);
    return raster->value ? SEL_OK : sel_fail_memory(error, name, bytes);
}

sel_status sel_raster_check_square(const char *name, double dx, double dy, sel_error *error) {
    return fabs(dx - dy) <= 1e-6 * fabs(dx)
               ? SEL_OK
               : sel_fail(
                     error, SEL_BAD_FILE,
                     "%s: its cells of %.10g x %.10g are not square; gdalwarp -tr makes them so",
                     name, dx, dy);
}

/* Turns the rows over: a file begins at the top, a domain at the bottom. */
static sel_status place_picture(sel_arena *arena, const char *path, const sel_picture *picture,
                                sel_raster_source *to, sel_error *error) {
    size_t width = (size_t)picture->width, height = (size_t)picture->height;
    to->raster = (sel_raster){.n = {picture->width, picture->height}, .dx = 1};
    to->exact = to->picture = true;
    sel_status status = sel_raster_allocate(arena, path, to, error);
    for (size_t row = 0; !status && row < height; row++) {
        memcpy(to->raster.value + (height - 1 - row) * width, picture->value + row * width,
               width * sizeof *picture->value);
    }
    return status;
}

static sel_status read_png(sel_arena *arena, const char *path, sel_raster_source *to,
                           sel_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    sel_picture picture = {0};
    *to = (sel_raster_source){.nodata = (double)NAN, .most_bytes = to->most_bytes};
    sel_status status =
        sel_file_read(path, max_file, "larger ones are not read", &bytes, &length, error);
    status = status ? status : sel_png_read(path, (const uint8_t *)bytes, length, &picture, error);
    status = status ? status : place_picture(arena, path, &picture, to, error);
    free(picture.value);
    free(bytes);
    return status;
}

typedef sel_status read_stream(sel_arena *arena, const char *name, FILE *file,
                               sel_raster_source *to, sel_error *error);

static sel_status read_grid(sel_arena *arena, const char *path, read_stream *read,
                            sel_raster_source *to, sel_error *error) {
    FILE *file;
    sel_status status = sel_file_open(path, &file, error);
    if (!status) {
        status = read(arena, path, file, to, error);
        fclose(file);
    }
    return status;
}

/* A file format that can be read: one row here. */
typedef struct format {
    const char *suffix;
    read_stream *read; /* of a grid; NULL: a picture */
} format;
static const format formats[] = {
    {".asc", sel_asc_read}, {".tif", sel_tif_read}, {".tiff", sel_tif_read}, {".png", NULL}};
enum { FORMATS = sizeof formats / sizeof *formats };

static const format *find_format(const char *path, bool pictures_only, sel_error *error) {
    char known[128] = "";
    size_t length = strlen(path), used = 0;
    for (int i = 0; i < FORMATS; i++) {
        size_t end = strlen(formats[i].suffix);
        if (pictures_only && formats[i].read) {
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

static sel_status read_file(sel_arena *arena, const char *path, bool pictures_only,
                            sel_raster_source *to, sel_error *error) {
    const format *kind = find_format(path, pictures_only, error);
    if (!kind) {
        return SEL_BAD_SCENARIO;
    }
    return kind->read ? read_grid(arena, path, kind->read, to, error)
                      : read_png(arena, path, to, error);
}

static sel_raster *keep(sel_arena *arena, const sel_raster *raster) {
    sel_raster *kept = sel_arena_alloc(arena, sizeof *kept);
    if (kept) {
        *kept = *raster;
    }
    return kept;
}

sel_raster *sel_raster_read_picture(sel_arena *arena, const char *path, sel_error *error) {
    sel_raster_source source = {.most_bytes = 0};
    if (read_file(arena, path, true, &source, error)) {
        return NULL;
    }
    sel_raster *raster = keep(arena, &source.raster);
    if (!raster) {
        sel_fail_memory(error, path, sizeof *raster);
    }
    return raster;
}

/* ---- values ---- */

double sel_raster_value(const sel_raster *raster, double x, double y) {
    return sel_raster_interpolate(raster, raster->value, x, y);
}

static bool is_inside(const sel_raster *raster, double x, double y) {
    int64_t pixel;
    double part;
    return sel_raster_locate(raster, 0, x, &pixel, &part) &&
           sel_raster_locate(raster, 1, y, &pixel, &part);
}

static sel_status evaluate(const sel_lookup *self, size_t n, const double *const *arguments,
                           double *out, sel_error *error) {
    const sel_raster *raster = self->data;
    for (size_t i = 0; i < n; i++) {
        double x = arguments[0][i], y = arguments[1][i];
        out[i] = sel_raster_value(raster, x, y);
        if (!isnan(out[i])) {
            continue;
        }
        if (is_inside(raster, x, y)) {
            return sel_fail(error, SEL_BAD_SCENARIO,
                            "%s: there are no data at x = %.10g, y = %.10g", self->name, x, y);
        }
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "%s: x = %.10g, y = %.10g is outside its %.10g to %.10g by %.10g to "
                        "%.10g",
                        self->name, x, y, raster->origin[0],
                        raster->origin[0] + (double)raster->n[0] * raster->dx, raster->origin[1],
                        raster->origin[1] + (double)raster->n[1] * raster->dx);
    }
    return SEL_OK;
}

/* Programs write the same number with more digits or fewer; whole numbers are exact. */
static inline bool is_nodata(double value, double nodata, double slack) {
    return isnan(value) || value == nodata || fabs(value - nodata) <= slack;
}

/* The file's own scale first, then the script's. */
static double scale_value(const sel_raster_source *source, const sel_raster_params *params,
                          double value) {
    const double own = source->scale != 0 ? source->scale * value + source->offset : value;
    return params->scale * own + params->offset;
}

static sel_status scale_values(const sel_raster_source *source, const sel_raster_params *params,
                               sel_raster_file *file, sel_where where, sel_error *error) {
    const sel_raster *raster = &source->raster;
    const double nodata = file->nodata;
    sel_undeclared *undeclared = (sel_undeclared *)(uintptr_t)file->undeclared;
    double slack = source->exact || !isfinite(nodata) ? 0 : 2e-6 * fabs(nodata);
    int64_t n = raster->n[0] * raster->n[1];
    for (int64_t i = 0; i < n; i++) {
        double value = raster->value[i], scaled = scale_value(source, params, value);
        bool missing = is_nodata(value, nodata, slack);
        raster->value[i] = missing ? params->fill : scaled;
        file->gaps += missing;
        if (!missing) {
            sel_undeclared_count(undeclared, value, scaled);
        }
        if (!missing && !isfinite(scaled)) {
            return sel_fail_at(error, where,
                               "sel.raster: %s has the value %g, scaled it is %g; if it stands for "
                               "no data: gdalwarp -srcnodata %g -dstnodata -9999",
                               params->file, value, scaled, value);
        }
    }
    file->undeclared_count = sel_undeclared_sort(undeclared);
    return SEL_OK;
}

/* Finds what is known of the file, and scales its values. */
static sel_status describe(sel_arena *arena, const sel_raster_source *source,
                           const sel_raster_params *params, sel_raster_file *file, sel_where where,
                           sel_error *error) {
    *file = (sel_raster_file){
        .path = sel_arena_copy(arena, params->file),
        .keys = source->keys,
        .nodata = isnan(params->nodata) ? source->nodata : params->nodata,
        .nodata_given = !isnan(params->nodata),
        .undeclared = sel_arena_alloc(arena, SEL_UNDECLARED * sizeof *file->undeclared),
    };
    if (!file->path || !file->undeclared) {
        return sel_fail_memory(error, "a raster", SEL_UNDECLARED * sizeof *file->undeclared);
    }
    sel_status status = source->picture ? SEL_OK : sel_map_read_prj(arena, file, error);
    return status ? status : scale_values(source, params, file, where, error);
}

const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error) {
    sel_raster_source source = {.most_bytes = params->most_bytes};
    if (read_file(arena, params->file, false, &source, error)) {
        return NULL;
    }
    sel_raster_file *file = sel_arena_alloc(arena, sizeof *file);
    if (!file) {
        sel_fail_memory(error, "a raster", sizeof *file);
        return NULL;
    }
    source.raster.file = file;
    if (describe(arena, &source, params, file, where, error)) {
        return NULL;
    }
    sel_raster *raster = keep(arena, &source.raster);
    sel_lookup *lookup = sel_arena_alloc(arena, sizeof *lookup);
    const char *name = sel_arena_print(arena, "raster %s", sel_file_name(params->file));
    if (!raster || !lookup || !name) {
        sel_fail_memory(error, "a raster", sizeof *lookup);
        return NULL;
    }
    *lookup = (sel_lookup){SEL_LOOKUP_RASTER, name, 2, evaluate, raster};
    return lookup;
}

const sel_raster *sel_raster_of(const sel_lookup *lookup) {
    return lookup && lookup->kind == SEL_LOOKUP_RASTER ? lookup->data : NULL;
}
