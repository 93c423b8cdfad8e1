/* vtk_image.h -- what outputs share that write fields as VTK image data. */
#ifndef SEL_OUTPUT_VTK_IMAGE_H
#define SEL_OUTPUT_VTK_IMAGE_H

#include "engine/core/image.h"
#include "engine/output/kind.h"

/* The header of an image of a box of cells. Each written cell is `stride` cells large, about its
 * own centre. On a grid of nodes the values are those of the image's points. */
vtkw_image sel_vtk_image(const sel_grid *grid, const sel_box *box);

/* Fields are cell data; on a grid of nodes they are point data. */
void sel_vtk_arrays(vtkw_image *image, const sel_grid *grid, const vtkw_array *arrays, int count);

/* Reports that an image could not be written. */
sel_status sel_vtk_fail(const vtkw_error *failed, sel_error *error);

/* Adds the names of the regions, as numbered in the array cell_type, to the header. */
sel_status sel_vtk_regions(const sel_output *base, vtkw_strings *regions, vtkw_image *header,
                           sel_error *error);

/* Marks the cells of a box: their regions, solids, boundary faces. The bytes live as the output. */
sel_status sel_vtk_marks(const sel_output *base, const sel_box *box, sel_cell_marks *marks,
                         sel_error *error);

#endif
