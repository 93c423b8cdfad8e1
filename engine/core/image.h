/* image.h -- fields of a state as the arrays of an image file, which several ranks write together.
 */
#ifndef SEL_IMAGE_H
#define SEL_IMAGE_H

#include "engine/base/folder.h"
#include "engine/io/vtk_writer.h"
#include "engine/io/writer.h"
#include "engine/core/state.h"

/* A field in the file: `stored` numbers of each cell, from number `first` of the `read` ones. The
 * name is known to rank 0. */
typedef struct sel_image_field {
    const char *name;
    int field, first, read, stored;
} sel_image_field;

/* The cells of a box. Of the header, names and strings are known to rank 0, and there are no arrays
 * yet. */
typedef struct sel_image {
    char path[2 * SEL_PATH_ROOM];
    sel_box box;
    int precision, drop_bits; /* of numbers; the last bits of their mantissa that are rounded off */
    int count;                /* fields */
    vtkw_image header;
} sel_image;

/* Arrays behind the fields: marks of the cells, of sel_domain_cells. */
enum { SEL_IMAGE_MARKS = 3 };

/* Makes of values[cells][read], in place, the numbers that are stored: picked, and rounded. */
void sel_image_round(const sel_image *image, const sel_image_field *field, int64_t cells,
                     void *values);

/* Sets the arrays of the marks, cell_type, solid and boundary. */
void sel_image_mark_arrays(const sel_cell_marks *marks, vtkw_array arrays[SEL_IMAGE_MARKS]);

/* Sets the arrays of an image of these fields: the numbers and the marks of its cells, x fastest.
 * The caller keeps `arrays` [count + SEL_IMAGE_MARKS]. */
void sel_image_arrays(const sel_image *image, const sel_image_field *fields, void *const *values,
                      const sel_cell_marks *marks, bool nodes, vtkw_array *arrays,
                      vtkw_image *header);

/* All ranks write the present fields into one file (sel_vtk_share), which rank 0 gets. No file is
 * written if it needs an observed step and the last one was not observed. */
sel_status sel_image_share(sel_state *state, const sel_backend *backend, const sel_image *image,
                           const sel_image_field *fields, sel_writer *writer, FILE **file,
                           sel_error *error);

#endif
