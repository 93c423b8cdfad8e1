/* mask.c -- masks: formats by suffix, pictures and stacks of them, arrays of numbers. */
#include "engine/io/mask.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/hardware.h"
#include "engine/io/raster.h"

enum { PATH_ROOM = 4096, MOST_DIGITS = 9 };
static const size_t most_file_bytes = (size_t)1 << 40;

const char *const sel_mask_types[] = {"uint8",  "int8",  "uint16",  "int16",   "uint32", "int32",
                                      "uint64", "int64", "float32", "float64", NULL};

sel_status sel_mask_refuse(const sel_mask_source *source, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sel_fail(source->error, SEL_BAD_FILE, "%s: %s", source->name, text);
}

/* ---- arrays ---- */

sel_status sel_mask_allocate(sel_mask_source *source, double most) {
    sel_mask *to = source->to;
    const double cells = (double)to->n[0] * (double)to->n[1] * (double)to->n[2];
    char needed[SEL_BYTES_ROOM], room[SEL_BYTES_ROOM];
    if (to->n[0] < 1 || to->n[1] < 1 || to->n[2] < 1 || !(cells <= most)) {
        return sel_mask_refuse(source, "%lld x %lld x %lld numbers do not fit into its %zu bytes",
                               (long long)to->n[0], (long long)to->n[1], (long long)to->n[2],
                               source->length);
    }
    if (cells > (double)sel_machine_free_memory()) {
        return sel_fail(source->error, SEL_NO_DEVICE, "%s: its %g cells take %s and %s are free",
                        source->name, cells, sel_bytes_text(cells, needed),
                        sel_bytes_text((double)sel_machine_free_memory(), room));
    }
    to->marked = sel_arena_alloc(source->arena, (size_t)cells);
    return to->marked ? SEL_OK
                      : sel_fail_memory(source->error, source->name, (unsigned long long)cells);
}

static double number_at(const unsigned char *b, sel_mask_type type) {
    uint64_t bits = 0;
    for (int k = 0; k < type.bytes; k++) {
        bits |= (uint64_t)b[type.big ? type.bytes - 1 - k : k] << 8 * k;
    }
    if (type.kind == 'f') {
        float single;
        double value;
        const uint32_t half = (uint32_t)bits;
        memcpy(&single, &half, sizeof single);
        memcpy(&value, &bits, sizeof value);
        return type.bytes == 4 ? (double)single : value;
    }
    const uint64_t sign = (uint64_t)1 << (8 * type.bytes - 1);
    return type.kind == 'u' || !(bits & sign) ? (double)bits : -(double)(2 * (sign - 1) + 2 - bits);
}

sel_status sel_mask_mark(sel_mask_source *source, const void *numbers, sel_mask_type type,
                         int64_t first, int64_t count) {
    const sel_mask_params *params = source->params;
    uint8_t *to = (uint8_t *)source->to->marked + first;
    const unsigned char *at = numbers;
    for (int64_t i = 0; i < count; i++, at += type.bytes) {
        const double value = number_at(at, type);
        if (isnan(value)) {
            return sel_mask_refuse(source, "number %lld is NaN", (long long)(first + i + 1));
        }
        to[i] = (value < params->threshold) != params->invert;
    }
    return SEL_OK;
}

sel_mask_type sel_mask_type_of(int choice) {
    const char *name = sel_mask_types[choice];
    const sel_mask_type type = {.kind = name[0],
                                .bytes = atoi(name + strcspn(name, "0123456789")) / 8};
    return type;
}

sel_status sel_raw_read(sel_mask_source *source) {
    const sel_mask_params *params = source->params;
    if (params->size.n == 0 || params->type < 0) {
        return sel_fail(source->error, SEL_BAD_SCENARIO,
                        "%s: a .raw file does not say what it holds: give size = { nx, ny, nz } "
                        "and type = \"uint8\"",
                        source->name);
    }
    const sel_mask_type type = sel_mask_type_of(params->type);
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        source->to->n[a] = a < params->size.n ? params->size.v[a] : 1;
        cells *= (double)source->to->n[a];
    }
    if (cells * type.bytes != (double)source->length) {
        return sel_mask_refuse(source,
                               "%lld x %lld x %lld numbers of type %s are %.0f bytes, the file has "
                               "%zu",
                               (long long)source->to->n[0], (long long)source->to->n[1],
                               (long long)source->to->n[2], sel_mask_types[params->type],
                               cells * type.bytes, source->length);
    }
    const sel_status status = sel_mask_allocate(source, cells);
    return status ? status : sel_mask_mark(source, source->bytes, type, 0, (int64_t)cells);
}

static sel_status read_array(sel_mask_source *source, sel_mask_reader *read) {
    char *bytes;
    sel_status status = sel_file_read(source->name, most_file_bytes, "take a smaller mask", &bytes,
                                      &source->length, source->error);
    source->bytes = bytes;
    status = status ? status : read(source);
    free(bytes);
    return status;
}

/* ---- pictures ---- */

static void mark_picture(sel_mask_source *source, const sel_raster *picture, int64_t plane) {
    const int64_t cells = picture->n[0] * picture->n[1];
    uint8_t *to = (uint8_t *)source->to->marked + plane * cells;
    for (int64_t i = 0; i < cells; i++) {
        to[i] = (picture->value[i] < source->params->threshold) != source->params->invert;
    }
}

static sel_status read_one_picture(sel_mask_source *source, const char *path, int64_t plane,
                                   int64_t planes) {
    const sel_raster *picture;
    sel_mask *to = source->to;
    sel_arena *scratch = sel_arena_create();
    sel_status status = scratch ? sel_raster_read_picture(scratch, path, &picture, source->error)
                                : sel_fail_memory(source->error, path, 0);
    if (!status && plane == 0) {
        to->n[0] = picture->n[0];
        to->n[1] = picture->n[1];
        to->n[2] = planes;
        status = sel_mask_allocate(source, 1e15);
    } else if (!status && (to->n[0] != picture->n[0] || to->n[1] != picture->n[1])) {
        status = sel_fail(source->error, SEL_BAD_FILE,
                          "%s: has %lld x %lld pixels, the pictures before %lld x %lld", path,
                          (long long)picture->n[0], (long long)picture->n[1], (long long)to->n[0],
                          (long long)to->n[1]);
    }
    if (!status) {
        mark_picture(source, picture, plane);
    }
    sel_arena_destroy(scratch);
    return status;
}

/* The pattern of a stack: what stands before and behind its %d or %03d. */
typedef struct stack_name {
    const char *path, *end;
    int before, digits;
} stack_name;

static void plane_path(const stack_name *stack, int64_t number, char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%.*s%0*lld%s", stack->before, stack->path, stack->digits,
             (long long)number, stack->end);
}

static sel_status parse_stack(sel_mask_source *source, stack_name *stack) {
    const char *mark = strchr(source->name, '%');
    char *end = NULL;
    const long digits = strtol(mark + 1, &end, 10);
    if (*end != 'd' || mark[1] == '-' || mark[1] == '+' || mark[1] == ' ' || digits < 0 ||
        digits > MOST_DIGITS || strchr(end, '%') || strlen(source->name) > PATH_ROOM - 32) {
        return sel_fail(source->error, SEL_BAD_SCENARIO,
                        "%s: the number of a plane must be written once, as %%d or %%03d",
                        source->name);
    }
    *stack = (stack_name){source->name, end + 1, (int)(mark - source->name), (int)digits};
    return SEL_OK;
}

static sel_status read_stack(sel_mask_source *source) {
    char path[PATH_ROOM], other[PATH_ROOM];
    stack_name stack = {.path = NULL};
    int64_t first = 0, planes = 0;
    sel_status status = parse_stack(source, &stack);
    if (status) {
        return status;
    }
    plane_path(&stack, 0, path);
    plane_path(&stack, 1, other);
    first = access(path, F_OK) == 0 ? 0 : 1;
    do {
        plane_path(&stack, first + planes, path);
    } while (access(path, F_OK) == 0 && ++planes);
    if (planes == 0) {
        plane_path(&stack, 0, path);
        return sel_mask_refuse(source, "there is neither %.150s nor %.150s", path, other);
    }
    for (int64_t k = 0; k < planes && !status; k++) {
        plane_path(&stack, first + k, path);
        status = read_one_picture(source, path, k, planes);
    }
    return status;
}

/* ---- formats ---- */

static bool has_suffix(const char *path, const char *suffix) {
    const size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcasecmp(path + length - end, suffix) == 0;
}

sel_status sel_mask_read(sel_arena *arena, const sel_mask_params *params, const sel_mask **mask,
                         sel_error *error) {
    sel_mask *made = sel_arena_alloc(arena, sizeof *made);
    sel_mask_source source = {
        .params = params, .name = params->file, .arena = arena, .to = made, .error = error};
    if (!made) {
        return sel_fail_memory(error, params->file, sizeof *made);
    }
    const bool raw = has_suffix(params->file, ".raw"), vti = has_suffix(params->file, ".vti");
    sel_status status = SEL_OK;
    if (!raw && (params->size.n || params->type >= 0)) {
        status = sel_fail(error, SEL_BAD_SCENARIO,
                          "%s: size and type are for .raw files; leave them out", params->file);
    } else if (!vti && params->array) {
        status = sel_fail(error, SEL_BAD_SCENARIO, "%s: array is for .vti files; leave it out",
                          params->file);
    } else if (raw || vti || has_suffix(params->file, ".npy")) {
        status = read_array(&source, raw ? sel_raw_read : vti ? sel_vti_read : sel_npy_read);
    } else if (has_suffix(params->file, ".png")) {
        status = strchr(params->file, '%') ? read_stack(&source)
                                           : read_one_picture(&source, params->file, 0, 1);
    } else {
        status = sel_fail(error, SEL_BAD_SCENARIO,
                          "%s: this format is not read; images are read from .png, .npy, .raw, "
                          ".vti files",
                          params->file);
    }
    *mask = status ? NULL : made;
    return status;
}
