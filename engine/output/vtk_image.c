/* vtk_image.c -- what out.vtk and out.average share: headers of images, marks of cells, names of
 * regions. */
#include "engine/output/vtk_image.h"

vtkw_image sel_vtk_image(const sel_grid *grid, const sel_box *box) {
    vtkw_image image = {.level = 0};
    for (int a = 0; a < 3; a++) {
        double stride = (double)box->stride[a], first = (double)box->lo[a];
        image.extent[2 * a + 1] = sel_box_count(box, a) - grid->nodes;
        image.spacing[a] = stride * grid->dx[a];
        image.origin[a] = sel_centre(grid, a, grid->nodes ? first : first - 0.5 * stride);
    }
    return image;
}

void sel_vtk_arrays(vtkw_image *image, const sel_grid *grid, const vtkw_array *arrays, int count) {
    *(grid->nodes ? &image->point_arrays : &image->cell_arrays) = arrays;
    *(grid->nodes ? &image->point_array_count : &image->cell_array_count) = count;
}

sel_status sel_vtk_fail(const vtkw_error *failed, sel_error *error) {
    return sel_fail(error, failed->status == VTKW_NO_MEMORY ? SEL_NO_DEVICE : SEL_BAD_FILE, "%s",
                    failed->text);
}

sel_status sel_vtk_regions(const sel_output *base, vtkw_strings *regions, vtkw_image *header,
                           sel_error *error) {
    const sel_domain *domain = base->context->domain;
    const size_t count = (size_t)domain->region_count + 1;
    sel_arena *arena = base->arena;
    char number[32];
    const char **names = sel_arena_alloc(arena, count * sizeof *names);
    bool failed = !names;
    for (int k = 0; k <= domain->region_count && !failed; k++) {
        const char *name = k ? sel_region_name(domain, k, number) : "interior";
        names[k] = sel_arena_copy(arena, name);
        failed = !names[k];
    }
    *regions = (vtkw_strings){"cell_type_names", (int)count, names};
    header->strings = regions;
    header->strings_count = 1;
    return failed ? sel_fail_memory(error, "the names of regions", count * sizeof number) : SEL_OK;
}

sel_status sel_vtk_marks(const sel_output *base, const sel_box *box, sel_cell_marks *marks,
                         sel_error *error) {
    const size_t cells = (size_t)sel_box_cells(box);
    uint8_t *bytes = sel_arena_alloc(base->arena, SEL_IMAGE_MARKS * cells);
    if (!bytes) {
        return sel_fail_memory(error, "the cell types to write", SEL_IMAGE_MARKS * cells);
    }
    *marks =
        (sel_cell_marks){.cell_type = bytes, .solid = bytes + cells, .boundary = bytes + 2 * cells};
    sel_domain_cells(base->context->domain, box, marks);
    return SEL_OK;
}
