/* compare_files.h -- what two runs of one scenario on two backends have written, file by file. */
#ifndef COMPARE_FILES_H
#define COMPARE_FILES_H

#include <png.h>
#include "engine/solvers/heat/heat.h"
#include "tests/unit/compare.h"
#include "tests/unit/vti_file.h"

enum { FILES_MOST = 400, COLUMNS_MOST = 64 };

/* Two folders, and what round-off is measured by. */
typedef struct compared_run {
    const char *folder[2];
    const lbm_plan *plan; /* NULL: not sel.lbm */
    /* NULL: not sel.heat. Neither: sel.aqua or sel.rule, whose fields are the same bits, but for
     * rules that are not exact: this part of the largest value apart. */
    const heat_plan *heat;
    double inexact;
    double largest; /* velocity, or temperature, in the files; user's units */
} compared_run;

static inline bool rounds(const compared_run *run) {
    return run->plan || run->heat || run->inexact > 0;
}

/* ---- lists of files ---- */

typedef struct file_list {
    int count;
    char *name[FILES_MOST];
} file_list;

static file_list listed;
static size_t listed_prefix;

static inline int list_entry(const char *path, const struct stat *about, int kind,
                             struct FTW *place) {
    (void)about, (void)place;
    if (kind == FTW_F && listed.count < FILES_MOST) {
        listed.name[listed.count++] = strdup(path + listed_prefix);
    }
    return 0;
}

static inline int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of all files below a folder, sorted. */
static inline file_list files_below(const char *folder) {
    listed = (file_list){0};
    listed_prefix = strlen(folder) + 1;
    nftw(folder, list_entry, 8, FTW_PHYS);
    qsort(listed.name, (size_t)listed.count, sizeof *listed.name, by_text);
    return listed;
}

static inline void file_list_free(file_list *list) {
    for (int k = 0; k < list->count; k++) {
        free(list->name[k]);
    }
}

static inline char *file_of(const compared_run *run, int k, const char *name, size_t *size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", run->folder[k], name);
    return read_whole(path, size);
}

/* ---- fields: .vti ---- */

/* An array of a .vti file. */
typedef struct vti_array {
    char name[64], type[16];
    int components;
} vti_array;

static inline bool attribute_of(const char *element, const char *name, char *to, size_t room) {
    char key[32];
    snprintf(key, sizeof key, "%s=\"", name);
    const char *end = strchr(element, '>'), *at = strstr(element, key);
    if (!end || !at || at > end) {
        return false;
    }
    at += strlen(key);
    snprintf(to, room, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

/* The next array with appended data at or behind `at`; NULL: no more. */
static inline const char *next_array(const char *at, vti_array *array) {
    char text[32];
    while ((at = strstr(at, "<DataArray"))) {
        if (attribute_of(at, "offset", text, sizeof text) &&
            attribute_of(at, "Name", array->name, sizeof array->name) &&
            attribute_of(at, "type", array->type, sizeof array->type)) {
            bool given = attribute_of(at, "NumberOfComponents", text, sizeof text);
            array->components = given ? atoi(text) : 1;
            return at + 1;
        }
        at++;
    }
    return NULL;
}

/* Of the cells, or of the nodes where those have the data. */
static inline void extent_of(const char *header, int64_t n[3]) {
    char text[96] = "";
    long e[6] = {0, 1, 0, 1, 0, 1};
    attribute_of(strstr(header, "<Piece"), "Extent", text, sizeof text);
    const char *points = strstr(header, "<PointData>");
    points = points ? points + strlen("<PointData>") : "";
    const bool nodes = strncmp(points + strspn(points, " \n"), "<DataArray", 10) == 0;
    char *at = text;
    for (int k = 0; k < 6; k++) {
        e[k] = strtol(at, &at, 10);
    }
    for (int a = 0; a < 3; a++) {
        n[a] = e[2 * a + 1] - e[2 * a] + nodes;
    }
}

/* The numbers of an array as f64; freed by the caller. */
static inline double *numbers_of(const char *bytes, size_t size, const vti_array *array,
                                 size_t numbers) {
    double *to = calloc(numbers + 1, sizeof *to);
    size_t width = strcmp(array->type, "Float64") == 0   ? 8
                   : strcmp(array->type, "Float32") == 0 ? 4
                                                         : 1;
    char *raw = malloc(numbers * width + 1);
    if (array_of(bytes, size, array->name, raw, numbers * width) != numbers * width) {
        disagree("array %s has another size than its extent", array->name);
    }
    for (size_t i = 0; i < numbers; i++) {
        to[i] = width == 8   ? ((double *)(void *)raw)[i]
                : width == 4 ? (double)((float *)(void *)raw)[i]
                             : (double)((uint8_t *)raw)[i];
    }
    free(raw);
    return to;
}

/* The field that an array or a column is named after: "velocity_x", "pressure_rms"; -1: none. */
static inline int field_named(const compared_run *run, const char *name) {
    const sel_solver *solver = run->heat ? &heat_solver : &lbm_solver;
    for (int f = 0; f < solver->field_count; f++) {
        size_t length = strlen(solver->fields[f].name);
        if (strncmp(name, solver->fields[f].name, length) == 0 &&
            (name[length] == '\0' || name[length] == '_')) {
            return f;
        }
    }
    return -1;
}

static inline tolerance tolerance_named(const compared_run *run, const char *name) {
    const int field = field_named(run, name);
    const int precision =
        run->heat ? run->heat->diffusion.base.precision : run->plan->base.precision;
    const bool differences = run->heat ? field == HEAT_FLUX_FIELD : is_of_differences(field);
    tolerance t = tolerance_of(precision, field >= 0 && differences);
    if (strstr(name, "_rms")) { /* the root of a difference of squares */
        t.noise = sqrt(t.noise);
    }
    return t;
}

/* The heat per time that would change the temperature of all cells by the largest in a step. */
static inline double heat_scale(const compared_run *run) {
    const sel_domain *domain = run->heat->diffusion.base.domain;
    double capacity = 0;
    for (int64_t i = 0; i < sel_grid_cells(&domain->grid); i++) {
        capacity += domain->cell[i] == 0 ? diffusion_capacity_of(&run->heat->diffusion.body, i) : 0;
    }
    const double *dx = domain->grid.dx;
    const double volume = dx[0] * dx[1] * (domain->grid.dims == 3 ? dx[2] : 1);
    return run->largest * capacity * volume / domain->grid.dt;
}

static inline double scale_of(const compared_run *run, int field) {
    if (!run->heat) {
        return field_scale(run->plan, field, run->largest);
    }
    const sel_grid *grid = &run->heat->diffusion.base.domain->grid;
    return field == HEAT_TEMPERATURE
               ? run->largest
               : heat_scale(run) / (double)sel_grid_cells(grid) / (grid->dx[0] * grid->dx[1]);
}

/* The text before the data, without offsets and repeated blanks: they depend on how well data were
 * compressed. */
static inline char *header_of(const char *bytes, size_t size) {
    const char *end = find_text(bytes, size, "<AppendedData");
    char *header = strndup(bytes, end ? (size_t)(end - bytes) : 0);
    for (char *at = header, *to = header;; at++) { /* offsets have any number of digits */
        *to++ = *at;
        if (!*at) {
            break;
        }
        if (strncmp(at, "offset=\"", 8) == 0) {
            memmove(to, at + 1, 7);
            to += 7;
            at += 7;
            while (at[1] && at[1] != '"') {
                at++;
            }
        } else if (*at == ' ') { /* padding behind them */
            while (at[1] == ' ') {
                at++;
            }
        }
    }
    return header;
}

static inline void compare_array(const compared_run *run, const char *name, char *bytes[2],
                                 const size_t size[2], const vti_array *array) {
    char what[600];
    int64_t n[3];
    extent_of(bytes[0], n);
    size_t numbers = (size_t)(n[0] * n[1] * n[2] * array->components);
    double *a = numbers_of(bytes[0], size[0], array, numbers);
    double *b = numbers_of(bytes[1], size[1], array, numbers);
    const int field = run->inexact > 0 ? -1 : field_named(run, array->name);
    double largest = 0;
    for (size_t i = 0; i < numbers; i++) {
        largest = fmax(largest, fabs(a[i]));
    }
    snprintf(what, sizeof what, "%s: %s", name, array->name);
    if (field < 0) {
        for (size_t i = 0; i < numbers; i++) {
            if (a[i] != b[i] && !(fabs(a[i] - b[i]) <= run->inexact * largest)) {
                disagree("%s differs at number %d: %g and %g", what, (int)i, a[i], b[i]);
                break;
            }
        }
    } else {
        compare_field(what, a, b, n, array->components, tolerance_named(run, array->name),
                      scale_of(run, field));
    }
    free(a);
    free(b);
}

static inline void compare_vti(const compared_run *run, const char *name, char *bytes[2],
                               const size_t size[2]) {
    char *header[2] = {header_of(bytes[0], size[0]), header_of(bytes[1], size[1])};
    vti_array array;
    if (strcmp(header[0], header[1]) != 0) {
        disagree("%s: the headers differ: \"%s\" and \"%s\"", name, header[0], header[1]);
    } else {
        for (const char *at = header[0]; (at = next_array(at, &array));) {
            compare_array(run, name, bytes, size, &array);
        }
    }
    free(header[0]);
    free(header[1]);
}

/* The largest value of an array in a .vti file; 0 where it has none. */
static inline double largest_in(const char *bytes, size_t size, const char *name) {
    vti_array array;
    double largest = 0;
    char *header = header_of(bytes, size);
    for (const char *at = header; (at = next_array(at, &array));) {
        if (strcmp(array.name, name) == 0) {
            int64_t n[3];
            extent_of(header, n);
            size_t numbers = (size_t)(n[0] * n[1] * n[2]);
            double *v = numbers_of(bytes, size, &array, numbers);
            for (size_t i = 0; i < numbers; i++) {
                largest = fmax(largest, fabs(v[i]));
            }
            free(v);
        }
    }
    free(header);
    return largest;
}

/* ---- numbers: .csv ---- */

typedef struct csv_table {
    int columns, rows;
    char name[COLUMNS_MOST][64];
    double *value; /* [rows][columns] */
} csv_table;

static inline csv_table csv_read(const char *text) {
    csv_table t = {.value = malloc((strlen(text) + 1) * sizeof(double))};
    const char *at = text;
    for (; *at && *at != '\n' && t.columns < COLUMNS_MOST; at += *at == ',') {
        int length = (int)strcspn(at, ",\n");
        snprintf(t.name[t.columns++], sizeof *t.name, "%.*s", length, at);
        at += length;
    }
    for (at += *at == '\n'; *at; t.rows++) {
        for (int c = 0; c < t.columns; c++) {
            char *end;
            t.value[t.rows * t.columns + c] = strtod(at, &end);
            at = end + (*end == ',');
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return t;
}

/* Columns whose names begin alike, "velocity_x" and "velocity_y", have one size; so have cd and cl.
 */
static inline bool same_group(const char *a, const char *b) {
    size_t length = strcspn(a, "_");
    if (strlen(a) == 2 && strlen(b) == 2) {
        return a[0] == b[0];
    }
    return length == strcspn(b, "_") && strncmp(a, b, length) == 0;
}

static inline double group_size(const csv_table *t, int column) {
    double size = 0;
    for (int c = 0; c < t->columns; c++) {
        for (int r = 0; r < t->rows && same_group(t->name[c], t->name[column]); r++) {
            double v = fabs(t->value[r * t->columns + c]);
            size = isfinite(v) && v > size ? v : size;
        }
    }
    return size;
}

/* What the noise of a column is a part of: sums over links of populations, which are as large as
 * the velocity. */
static inline double column_scale(const compared_run *run, const char *name) {
    int field = field_named(run, name);
    if (run->heat) {
        const double heat = heat_scale(run);
        return field == HEAT_TEMPERATURE || (field >= 0 && strcmp(name, "flux") != 0)
                   ? scale_of(run, field)
               : strcmp(name, "error") == 0 ? 100
               : strcmp(name, "heat") == 0  ? heat * run->heat->diffusion.base.domain->grid.dt
                                            : heat;
    }
    const lbm_numbers *numbers = &run->plan->numbers;
    const sel_grid *grid = &run->plan->base.domain->grid;
    const double mach = run->largest / numbers->velocity_unit;
    const double links = (double)run->plan->boundary.links.count;
    const double mass = mach * numbers->density_unit * pow(grid->dx[0], grid->dims);
    const double force = mach * numbers->density_unit * numbers->velocity_unit *
                         numbers->velocity_unit * pow(grid->dx[0], grid->dims - 1);
    if (field >= 0) {
        return scale_of(run, field);
    }
    if (strncmp(name, "rate", 4) == 0 || strncmp(name, "flux", 4) == 0) {
        return links * mass / grid->dt;
    }
    if (strncmp(name, "out", 3) == 0) { /* of up to a thousand steps */
        return 1000 * links * mass;
    }
    if (strncmp(name, "force", 5) == 0) {
        return links * force;
    }
    if (strncmp(name, "torque", 6) == 0) {
        return links * force * grid->dx[0] * (double)grid->n[0];
    }
    return strcmp(name, "error") == 0 ? 100 : 0; /* of the mass: a sum over all cells */
}

/* How much larger what is stored is than what has passed by a row: the error of a balance is a part
 * of the second, and its round-off is one of the first. */
static inline double stored_over_passed(const csv_table *t, int row, bool rates) {
    const double *v = t->value + row * t->columns;
    double passed = 0, stored = 0;
    for (int c = 2; c + 1 < t->columns; c++) {
        const double whole = fabs(v[c]) * (c > 2 && rates ? v[1] : 1);
        stored = c == 2 ? whole : stored;
        passed = c > 2 && whole > passed ? whole : passed;
    }
    return passed == 0 ? 1e4 : stored > passed ? stored / passed : 1;
}

static inline void compare_csv(const compared_run *run, const char *name, char *text[2]) {
    csv_table a = csv_read(text[0]), b = csv_read(text[1]);
    if (a.rows != b.rows || a.columns != b.columns) {
        disagree("%s has %d rows of %d columns and %d of %d", name, a.rows, a.columns, b.rows,
                 b.columns);
    }
    for (int c = 0; c < a.columns && a.rows == b.rows && a.columns == b.columns; c++) {
        const char *column = a.name[c];
        const bool scaled = run->plan || run->heat;
        const double size = group_size(&a, c), scale = scaled ? column_scale(run, column) : 1;
        const tolerance t = scaled ? tolerance_named(run, column) : tolerance_of(SEL_F64, false);
        if (strcmp(column, b.name[c]) != 0) {
            disagree("%s: column %d is %s and %s", name, c, column, b.name[c]);
        }
        for (int r = 0; r < a.rows; r++) {
            double v = a.value[r * a.columns + c], w = b.value[r * b.columns + c];
            double allowed = t.relative * size + t.noise * scale;
            if (strcmp(column, "error") == 0) {
                allowed += 100 * t.noise * stored_over_passed(&a, r, run->heat);
            }
            if (distance(v, w) > 0 && !(distance(v, w) <= allowed)) {
                disagree("%s: %s in row %d is %.17g and %.17g, %.3g apart; allowed are %.3g", name,
                         column, r + 1, v, w, v - w, allowed);
                break;
            }
        }
    }
    free(a.value);
    free(b.value);
}

/* ---- pictures ---- */

/* The pixels of a PNG as RGBA; NULL: no picture. */
static inline uint8_t *pixels_of(const char *bytes, size_t size, png_image *image) {
    memset(image, 0, sizeof *image);
    image->version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(image, bytes, size)) {
        return NULL;
    }
    image->format = PNG_FORMAT_RGBA;
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(*image));
    png_image_finish_read(image, NULL, pixels, 0, NULL);
    return pixels;
}

/* Round-off may move a value to the colour beside. */
static inline void compare_png(const char *name, char *bytes[2], const size_t size[2]) {
    png_image image[2];
    uint8_t *pixels[2];
    for (int k = 0; k < 2; k++) {
        pixels[k] = pixels_of(bytes[k], size[k], &image[k]);
    }
    if (!pixels[0] || !pixels[1] || image[0].width != image[1].width ||
        image[0].height != image[1].height) {
        disagree("%s: no pictures of one size", name);
    } else {
        size_t count = PNG_IMAGE_SIZE(image[0]);
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += abs(pixels[0][i] - pixels[1][i]);
        }
        if (sum / (double)count > 0.2) {
            disagree("%s: the colours differ by %.3g of 255 on average", name, sum / (double)count);
        }
    }
    free(pixels[0]);
    free(pixels[1]);
}

/* ---- all ---- */

static inline bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), of_end = strlen(end);
    return length >= of_end && strcmp(name + length - of_end, end) == 0;
}

static inline void compare_file(const compared_run *run, const char *name) {
    size_t size[2] = {0, 0};
    char *bytes[2];
    for (int k = 0; k < 2; k++) {
        bytes[k] = file_of(run, k, name, &size[k]);
    }
    if (!bytes[0] || !bytes[1]) {
        disagree("%s cannot be read", name);
    } else if (ends_with(name, ".vti") && rounds(run)) {
        compare_vti(run, name, bytes, size);
    } else if (ends_with(name, ".csv")) {
        compare_csv(run, name, bytes);
    } else if (ends_with(name, ".png") && rounds(run)) {
        compare_png(name, bytes, size);
    } else if (!ends_with(name, "run.json") && !ends_with(name, "run.log") &&
               (size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0)) {
        disagree("%s has other bytes", name);
    }
    free(bytes[0]);
    free(bytes[1]);
}

/* The same files, and in them the same but for round-off; of sel.aqua and sel.rule only sums in
 * .csv files have any. Finds the largest velocity or temperature first. */
static inline void compare_folders(compared_run *run) {
    file_list a = files_below(run->folder[0]), b = files_below(run->folder[1]);
    for (int k = 0; k < a.count || k < b.count; k++) {
        const char *first = k < a.count ? a.name[k] : "nothing";
        const char *second = k < b.count ? b.name[k] : "nothing";
        if (strcmp(first, second) != 0) {
            disagree("file %d is %s and %s", k, first, second);
            break;
        }
        if (ends_with(first, ".vti") && rounds(run)) {
            size_t size = 0;
            char *bytes = file_of(run, 0, first, &size);
            const double largest =
                bytes ? largest_in(bytes, size, run->heat ? "temperature" : "speed") : 0;
            run->largest = fmax(run->largest, largest);
            free(bytes);
        }
    }
    for (int k = 0; k < a.count; k++) {
        compare_file(run, a.name[k]);
    }
    file_list_free(&a);
    file_list_free(&b);
}

#endif
