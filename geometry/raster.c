/* raster.c -- values on a plane: read by format, placed, interpolated. */
#include "geometry/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/file.h"

static const size_t max_file = (size_t)1 << 30;

static const sel_field raster_fields[] = {
    {"file", SEL_KIND_FILE, SEL_REQUIRED | SEL_POSITIONAL, offsetof(sel_raster_params, file),
     "A picture (.png), its values from 0 (black) to 1 (white); a path relative to the script.", 0,
     NULL, NULL, NULL},
    {"scale", SEL_KIND_NUMBER, 0, offsetof(sel_raster_params, scale),
     "Multiplies the values of the file.", 1, NULL, NULL, NULL},
    {"offset", SEL_KIND_NUMBER, 0, offsetof(sel_raster_params, offset),
     "Is added to the scaled values.", 0, NULL, NULL, NULL},
    {"nodata", SEL_KIND_NUMBER, 0, offsetof(sel_raster_params, nodata),
     "The value of the file that means that there are no data; none when not given.", SEL_NOT_GIVEN,
     NULL, NULL, NULL},
};
const sel_table sel_raster_table = {
    "sel.raster",
    "A quantity that depends on x and y by the pixels of a file, whose first row is the top; r(x, "
    "y) "
    "inside functions; .size, .dx and .origin.",
    sizeof(sel_raster_params),
    SIZE_MAX,
    raster_fields,
    sizeof raster_fields / sizeof *raster_fields,
    NULL,
};

/* A file format that can be read: one row here. */
typedef struct format {
    const char *suffix;
    sel_status (*read)(const char *name, const uint8_t *bytes, size_t length, sel_picture *picture,
                       sel_error *error);
} format;
static const format formats[] = {{".png", sel_png_read}};
enum { FORMATS = sizeof formats / sizeof *formats };

static const format *find_format(const char *path, sel_error *error) {
    char known[128] = "";
    for (int i = 0; i < FORMATS; i++) {
        size_t length = strlen(path), end = strlen(formats[i].suffix);
        if (length > end && strcasecmp(path + length - end, formats[i].suffix) == 0) {
            return &formats[i];
        }
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, formats[i].suffix, sizeof known - strlen(known) - 1);
    }
    sel_fail(error, SEL_BAD_SCENARIO,
             "%s: this format is not read; rasters and images are read from %s files", path, known);
    return NULL;
}

/* Turns the rows over: a file begins at the top, a domain at the bottom. */
static sel_raster *place(sel_arena *arena, const sel_picture *picture, sel_error *error) {
    size_t width = (size_t)picture->width, height = (size_t)picture->height;
    sel_raster *raster = sel_arena_alloc(arena, sizeof *raster);
    double *value = sel_arena_alloc(arena, width * height * sizeof *value);
    if (!raster || !value) {
        sel_fail_memory(error, "a raster", width * height * sizeof *value);
        return NULL;
    }
    for (size_t row = 0; row < height; row++) {
        memcpy(value + (height - 1 - row) * width, picture->value + row * width,
               width * sizeof *value);
    }
    *raster = (sel_raster){.n = {picture->width, picture->height}, .dx = 1, .value = value};
    return raster;
}

sel_raster *sel_raster_read(sel_arena *arena, const char *path, sel_error *error) {
    const format *kind = find_format(path, error);
    char *bytes = NULL;
    size_t length = 0;
    sel_picture picture = {0};
    sel_raster *raster = NULL;
    if (!kind) {
        return NULL;
    }
    sel_status status =
        sel_file_read(path, max_file, "larger ones are not read", &bytes, &length, error);
    if (!status && kind->read(path, (const uint8_t *)bytes, length, &picture, error) == SEL_OK) {
        raster = place(arena, &picture, error);
    }
    free(picture.value);
    free(bytes);
    return raster;
}

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
            return sel_fail(error, SEL_BAD_SCENARIO, "%s: there are no data at x = %g, y = %g",
                            self->name, x, y);
        }
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "%s: x = %g, y = %g is outside its %g to %g by %g to %g", self->name, x, y,
                        raster->origin[0], raster->origin[0] + (double)raster->n[0] * raster->dx,
                        raster->origin[1], raster->origin[1] + (double)raster->n[1] * raster->dx);
    }
    return SEL_OK;
}

static sel_status scale_values(sel_raster *raster, const sel_raster_params *params, sel_where where,
                               sel_error *error) {
    size_t n = (size_t)(raster->n[0] * raster->n[1]);
    for (size_t i = 0; i < n; i++) {
        double value = raster->value[i];
        bool missing = isnan(value) || value == params->nodata;
        raster->value[i] = missing ? (double)NAN : params->scale * value + params->offset;
        if (!missing && !isfinite(raster->value[i])) {
            return sel_fail_at(error, where, "sel.raster: %g scaled by %g is %g", value,
                               params->scale, raster->value[i]);
        }
    }
    return SEL_OK;
}

const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error) {
    sel_raster *raster = sel_raster_read(arena, params->file, error);
    if (!raster || scale_values(raster, params, where, error)) {
        return NULL;
    }
    sel_lookup *lookup = sel_arena_alloc(arena, sizeof *lookup);
    const char *name = sel_arena_print(arena, "raster %s", sel_file_name(params->file));
    if (!lookup || !name) {
        sel_fail_memory(error, "a raster", sizeof *lookup);
        return NULL;
    }
    *lookup = (sel_lookup){SEL_LOOKUP_RASTER, name, 2, evaluate, raster};
    return lookup;
}
