/* vtk.h -- what the outputs that write VTK images share. */
#ifndef SEL_VTK_H
#define SEL_VTK_H

#include "engine/grid.h"
#include "engine/io/vtk_writer.h"
#include "engine/status.h"

/* The image of a box's cells, without arrays: each is drawn `stride` cells large about its own
 * centre. */
static inline vtkw_image sel_vtk_image(const sel_grid *grid, const sel_box *box) {
    vtkw_image image = {.level = 0};
    for (int a = 0; a < 3; a++) {
        double stride = (double)box->stride[a];
        image.extent[2 * a + 1] = sel_box_count(box, a);
        image.spacing[a] = stride * grid->dx;
        image.origin[a] = grid->origin[a] + ((double)box->lo[a] + 0.5 * (1 - stride)) * grid->dx;
    }
    return image;
}

static inline sel_status sel_vtk_fail(const vtkw_error *failed, sel_error *error) {
    return sel_fail(error, failed->status == VTKW_NO_MEMORY ? SEL_NO_DEVICE : SEL_BAD_FILE, "%s",
                    failed->text);
}

#endif
