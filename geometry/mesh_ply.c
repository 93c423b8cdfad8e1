/* mesh_ply.c -- reads the points and polygons of PLY files: ASCII, binary of either order of bytes.
 *
 *   ply
 *   format ascii 1.0 | binary_little_endian 1.0 | binary_big_endian 1.0
 *   element vertex N         its properties follow; x, y, z are read
 *   property float x ...
 *   element face N           vertex_indices (or vertex_index) is read
 *   property list uchar int vertex_indices
 *   end_header               then the elements in this order
 *
 * Other elements and properties are skipped.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "geometry/mesh_read.h"

enum { MOST_ELEMENTS = 16, MOST_PROPERTIES = 64, NAME_ROOM = 32, PLACES = 3 };

typedef struct ply_type {
    const char *name, *other;
    int bytes;
    char kind; /* 'i', 'u', 'f' */
} ply_type;
static const ply_type ply_types[] = {
    {"char", "int8", 1, 'i'},     {"uchar", "uint8", 1, 'u'},    {"short", "int16", 2, 'i'},
    {"ushort", "uint16", 2, 'u'}, {"int", "int32", 4, 'i'},      {"uint", "uint32", 4, 'u'},
    {"float", "float32", 4, 'f'}, {"double", "float64", 8, 'f'},
};

typedef struct ply_property {
    const ply_type *type, *count; /* count: that of the number of a list's items; NULL: no list */
    char name[NAME_ROOM];
} ply_property;

typedef struct ply_element {
    char name[NAME_ROOM];
    int64_t count;
    int properties;
    ply_property property[MOST_PROPERTIES];
} ply_element;

typedef struct ply_file {
    sel_mesh_source *source;
    bool text, big; /* else binary, the lowest byte first */
    int elements;
    ply_element element[MOST_ELEMENTS];
    int64_t item; /* of the element that is read, from 1 */
} ply_file;

/* ---- the header ---- */

static const ply_type *ply_type_of(const char *word, int length) {
    for (size_t i = 0; i < sizeof ply_types / sizeof *ply_types; i++) {
        if (sel_word_is(word, length, ply_types[i].name) ||
            sel_word_is(word, length, ply_types[i].other)) {
            return &ply_types[i];
        }
    }
    return NULL;
}

static void copy_name(char name[NAME_ROOM], const char *word, int length) {
    snprintf(name, NAME_ROOM, "%.*s", length, word);
}

static sel_status read_format(ply_file *ply) {
    const char *word;
    const int length = sel_mesh_word(ply->source, true, &word);
    ply->text = sel_word_is(word, length, "ascii");
    ply->big = sel_word_is(word, length, "binary_big_endian");
    return ply->text || ply->big || sel_word_is(word, length, "binary_little_endian")
               ? SEL_OK
               : sel_mesh_refuse(ply->source, "format must be ascii, binary_little_endian or "
                                              "binary_big_endian");
}

static sel_status read_element(ply_file *ply) {
    const char *word;
    const int length = sel_mesh_word(ply->source, true, &word);
    if (ply->elements == MOST_ELEMENTS) {
        return sel_mesh_refuse(ply->source, "more than %d elements", MOST_ELEMENTS);
    }
    ply_element *element = &ply->element[ply->elements++];
    copy_name(element->name, word, length);
    const sel_status status = sel_mesh_whole(ply->source, true, &element->count);
    return status || element->count >= 0
               ? status
               : sel_mesh_refuse(ply->source, "element %s has a number below 0", element->name);
}

static sel_status read_property(ply_file *ply) {
    const char *word;
    int length = sel_mesh_word(ply->source, true, &word);
    ply_element *element = ply->elements ? &ply->element[ply->elements - 1] : NULL;
    if (!element || element->properties == MOST_PROPERTIES) {
        return sel_mesh_refuse(ply->source,
                               element ? "more than %d properties" : "a property without element",
                               MOST_PROPERTIES);
    }
    ply_property *property = &element->property[element->properties++];
    const bool list = sel_word_is(word, length, "list");
    if (list) {
        length = sel_mesh_word(ply->source, true, &word);
        property->count = ply_type_of(word, length);
        length = sel_mesh_word(ply->source, true, &word);
    }
    property->type = ply_type_of(word, length);
    length = sel_mesh_word(ply->source, true, &word);
    copy_name(property->name, word, length);
    return property->type && length && (!list || (property->count && property->count->kind != 'f'))
               ? SEL_OK
               : sel_mesh_refuse(ply->source, "is no property that can be read");
}

/* Reads up to the first byte of the elements. */
static sel_status read_ply_header(ply_file *ply) {
    sel_mesh_source *source = ply->source;
    const char *word;
    bool format = false;
    sel_status status = SEL_OK;
    source->line = 1;
    const int magic = sel_mesh_word(source, true, &word);
    if (!sel_word_is(word, magic, "ply")) {
        return sel_mesh_refuse(source, "is no PLY file: it does not begin with \"ply\"");
    }
    while (!status && sel_mesh_next_line(source)) {
        const int length = sel_mesh_word(source, true, &word);
        if (sel_word_is(word, length, "end_header")) {
            const bool more = sel_mesh_next_line(source);
            source->line = ply->text ? source->line : 0;
            return format || !more ? SEL_OK : sel_mesh_refuse(source, "its header has no format");
        }
        if (sel_word_is(word, length, "format")) {
            format = true;
            status = read_format(ply);
        } else if (sel_word_is(word, length, "element")) {
            status = read_element(ply);
        } else if (sel_word_is(word, length, "property")) {
            status = read_property(ply);
        } else if (length && !sel_word_is(word, length, "comment") &&
                   !sel_word_is(word, length, "obj_info")) {
            status = sel_mesh_refuse(source, "is no line of a PLY header");
        }
    }
    return status ? status
                  : sel_mesh_refuse(source, "its header does not end with end_header; it is "
                                            "truncated");
}

/* ---- elements ---- */

static size_t bytes_left(const sel_mesh_source *source) {
    return source->length - (size_t)(source->at - source->bytes);
}

static double number_of_bytes(const unsigned char *b, const ply_type *type) {
    uint64_t bits = 0;
    float single;
    double value;
    for (int k = 0; k < type->bytes; k++) {
        bits |= (uint64_t)b[k] << 8 * k;
    }
    if (type->kind == 'f' && type->bytes == 4) {
        const uint32_t half = (uint32_t)bits;
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    if (type->kind == 'f') {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const uint64_t sign = (uint64_t)1 << (8 * type->bytes - 1);
    return type->kind == 'i' ? (double)(int64_t)(bits ^ sign) - (double)sign : (double)bits;
}

static sel_status read_value(ply_file *ply, const ply_type *type, double *value) {
    sel_mesh_source *source = ply->source;
    unsigned char b[8];
    if (ply->text) {
        return sel_mesh_number(source, false, value);
    }
    if (bytes_left(source) < (size_t)type->bytes) {
        return sel_mesh_refuse(source, "it ends before the elements that its header counts: it is "
                                       "truncated; export it again");
    }
    for (int k = 0; k < type->bytes; k++) {
        b[ply->big ? type->bytes - 1 - k : k] = (unsigned char)source->at[k];
    }
    source->at += type->bytes;
    *value = number_of_bytes(b, type);
    return SEL_OK;
}

/* Reads a list; `polygon`: its items are the corners of one, which becomes a fan. */
static sel_status read_list(ply_file *ply, const ply_property *property, bool polygon) {
    sel_mesh_source *source = ply->source;
    double value = 0;
    sel_status status = read_value(ply, property->count, &value);
    int64_t first = 0, before = 0;
    if (!status && !(value >= (polygon ? 3 : 0) && value <= (double)bytes_left(source))) {
        status = sel_mesh_refuse(source, "face %lld has %.0f corners; a polygon has 3 or more",
                                 (long long)ply->item, value);
    }
    const int64_t count = status ? 0 : (int64_t)value;
    for (int64_t k = 0; k < count && !status; k++) {
        status = read_value(ply, property->type, &value);
        if (status || !polygon) {
            continue;
        }
        if (!(value >= 0 && value < 1e9 && value == floor(value))) {
            return sel_mesh_refuse(source, "face %lld has the corner %g, which is no point",
                                   (long long)ply->item, value);
        }
        const int64_t corner = (int64_t)value;
        if (k >= 2) {
            status = sel_mesh_add_triangle(source, first, before, corner);
        }
        first = k ? first : corner;
        before = corner;
    }
    return status;
}

/* Reads an item of an element; place[a]: the property that is coordinate a, or -1. */
static sel_status read_item(ply_file *ply, const ply_element *element, const int place[PLACES],
                            int polygon) {
    double p[PLACES] = {0}, value;
    sel_status status = SEL_OK;
    for (int i = 0; i < element->properties && !status; i++) {
        const ply_property *property = &element->property[i];
        if (property->count) {
            status = read_list(ply, property, i == polygon);
            continue;
        }
        status = read_value(ply, property->type, &value);
        for (int a = 0; a < PLACES && !status; a++) {
            p[a] = place[a] == i ? value : p[a];
        }
    }
    return status || place[0] < 0 ? status : sel_mesh_add_point(ply->source, p);
}

static int property_of(const ply_element *element, const char *name, bool list) {
    for (int i = 0; i < element->properties; i++) {
        if (strcmp(element->property[i].name, name) == 0 &&
            (element->property[i].count != NULL) == list) {
            return i;
        }
    }
    return -1;
}

static sel_status read_items(ply_file *ply, const ply_element *element) {
    int place[PLACES] = {-1, -1, -1}, polygon = -1;
    sel_status status = SEL_OK;
    if (strcmp(element->name, "vertex") == 0) {
        static const char *const names[PLACES] = {"x", "y", "z"};
        for (int a = 0; a < PLACES; a++) {
            place[a] = property_of(element, names[a], false);
        }
        if (place[0] < 0 || place[1] < 0 || place[2] < 0) {
            return sel_mesh_refuse(ply->source, "element vertex has no properties x, y and z");
        }
    } else if (strcmp(element->name, "face") == 0) {
        polygon = property_of(element, "vertex_indices", true);
        polygon = polygon < 0 ? property_of(element, "vertex_index", true) : polygon;
        if (polygon < 0) {
            return sel_mesh_refuse(ply->source, "element face has no property list vertex_indices");
        }
    }
    if (element->properties == 0 && element->count) {
        return sel_mesh_refuse(ply->source, "element %s has no properties", element->name);
    }
    for (ply->item = 1; ply->item <= element->count && !status; ply->item++) {
        status = read_item(ply, element, place, polygon);
    }
    return status;
}

sel_status sel_ply_read(sel_mesh_source *source) {
    ply_file ply = {.source = source};
    const char *word;
    sel_status status = read_ply_header(&ply);
    for (int k = 0; k < ply.elements && !status; k++) {
        status = read_items(&ply, &ply.element[k]);
    }
    const bool more = ply.text ? sel_mesh_word(source, false, &word) > 0 : bytes_left(source) > 0;
    return !status && more
               ? sel_mesh_refuse(source, "it goes on behind the elements that its header counts; "
                                         "export it again")
               : status;
}
