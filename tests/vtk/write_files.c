/* write_files.c -- the files that read_back.py and the ParaView test read; usage: write_files DIR.
 *
 * Uses nothing but the header, as another project would. Component c of tuple i of an array holds
 *     Float32, Float64: i / 4 - 1000 c      Int32: i - 70000 c      UInt8: (7 i + 3 c) mod 251
 * which is exact in every type.
 */
#include "engine/io/vtk_writer.h"

static void *values_of(vtkw_type type, int components, uint64_t tuples) {
    size_t count = (size_t)tuples * (size_t)components;
    void *values = malloc(count * sizeof(double));
    for (size_t k = 0; values && k < count; k++) {
        double i = (double)(k / (size_t)components), c = (double)(k % (size_t)components);
        switch (type) {
        case VTKW_FLOAT32:
            ((float *)values)[k] = (float)(i / 4 - 1000 * c);
            break;
        case VTKW_FLOAT64:
            ((double *)values)[k] = i / 4 - 1000 * c;
            break;
        case VTKW_INT32:
            ((int32_t *)values)[k] = (int32_t)(i - 70000 * c);
            break;
        case VTKW_UINT8:
            ((uint8_t *)values)[k] = (uint8_t)((long)(7 * i + 3 * c) % 251);
        }
    }
    return values;
}

enum { ARRAYS = 6 };

/* Every type, one, three and nine components, a name that needs escaping. */
static const vtkw_array kinds[ARRAYS] = {
    {"f32", VTKW_FLOAT32, 1, NULL}, {"velocity", VTKW_FLOAT32, 3, NULL},
    {"f64", VTKW_FLOAT64, 1, NULL}, {"stress <\"&\">", VTKW_FLOAT64, 9, NULL},
    {"i32", VTKW_INT32, 2, NULL},   {"cell_type", VTKW_UINT8, 1, NULL},
};

static void fill(vtkw_array arrays[ARRAYS], uint64_t tuples) {
    for (int k = 0; k < ARRAYS; k++) {
        arrays[k] = kinds[k];
        arrays[k].data = values_of(kinds[k].type, kinds[k].components, tuples);
    }
}

static void release(vtkw_array arrays[ARRAYS]) {
    for (int k = 0; k < ARRAYS; k++) {
        free((void *)(uintptr_t)arrays[k].data);
    }
}

enum { FEW_REGIONS = 4, MANY_REGIONS = 300 };

/* Four names that are hard to write, then, for a header of several pages, region_4 and so on. */
static void name_regions(const char *regions[MANY_REGIONS], char room[MANY_REGIONS][16]) {
    static const char *const first[] = {"interior", "walls & \"lid\"", "", "Zufluss \xc3\xbc"};
    for (int k = 0; k < MANY_REGIONS; k++) {
        snprintf(room[k], sizeof room[k], "region_%d", k);
        regions[k] = k < FEW_REGIONS ? first[k] : room[k];
    }
}

static int write_image(const char *directory, const char *name, const int64_t extent[6], int level,
                       double time) {
    const char *regions[MANY_REGIONS];
    char room[MANY_REGIONS][16], path[1024];
    const int count = extent[0] > 0 ? MANY_REGIONS : FEW_REGIONS;
    const vtkw_strings strings = {"cell_type_names", count, regions};
    name_regions(regions, room);
    vtkw_array cells[ARRAYS], points[ARRAYS];
    vtkw_image image;
    vtkw_error error;
    memset(&image, 0, sizeof image);
    memcpy(image.extent, extent, sizeof image.extent);
    image.origin[0] = 1.5;
    image.origin[1] = -2;
    image.origin[2] = 0.125;
    image.spacing[0] = 0.1;
    image.spacing[1] = 0.25;
    image.spacing[2] = 3;
    image.has_time = 1;
    image.time = time;
    image.level = level;
    image.strings = &strings;
    image.strings_count = 1;
    const uint64_t tuples = vtkw_tuples(&image, 0); /* 0: one layer of points */
    fill(cells, tuples);
    fill(points, vtkw_tuples(&image, 1));
    image.cell_arrays = cells;
    image.cell_array_count = tuples > 0 ? ARRAYS : 0;
    image.point_arrays = points;
    image.point_array_count = ARRAYS;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int failed = vtkw_write_image(path, &image, &error) != VTKW_OK;
    if (failed) {
        fprintf(stderr, "%s\n", error.text);
    }
    release(cells);
    release(points);
    return failed;
}

int main(int count, char **arguments) {
    /* 32 x 32 x 32 cells: every cell array is a whole number of 32 KiB blocks. */
    static const int64_t blocks[] = {0, 32, 0, 32, 0, 32}, flat[] = {0, 50, 0, 30, 0, 1},
                         part[] = {10, 27, -3, 8, 5, 9}, one[] = {0, 1, 0, 1, 0, 1},
                         layer[] = {0, 50, 0, 30, 0, 0};
    char path[1024];
    if (count != 2) {
        return 2;
    }
    const char *directory = arguments[1];
    int failed = 0;
    for (int level = 0; level <= 6; level += 3) {
        static const char *const names[] = {"blocks", "flat", "part", "one", "layer"};
        const int64_t *const extents[] = {blocks, flat, part, one, layer};
        for (int k = 0; k < 5; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%d.vti", names[k], level);
            failed += write_image(directory, name, extents[k], level, 0.1);
        }
    }
    vtkw_step steps[] = {{0, "step_0.vti"}, {0.25, "step_1.vti"}, {0.1 * 3, "step_2.vti"}};
    failed += write_image(directory, steps[0].file, flat, 0, steps[0].time);
    failed += write_image(directory, steps[1].file, part, 1, steps[1].time);
    failed += write_image(directory, steps[2].file, one, 0, steps[2].time);
    snprintf(path, sizeof path, "%s/steps.pvd", directory);
    failed += vtkw_write_collection(path, steps, 3, NULL) != VTKW_OK;
    return failed ? 1 : 0;
}
