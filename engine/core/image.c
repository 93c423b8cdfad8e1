/* image.c -- fields of a state as the arrays of an image file, which several ranks write together.
 *
 * Each rank reads and rounds what it has of the fields and marks its cells; engine/io/vtk_share.c
 * brings the parts into the file.
 */
#include "engine/core/image.h"

#include <stdlib.h>
#include <string.h>
#include "engine/io/vtk_share.h"
#include "engine/core/collectives.h"

/* Rounds a mantissa to nearest by adding half of the dropped part to the bits: a carry into the
 * exponent is right, one into infinity is not and keeps the number as it was. */
static inline uint64_t round_bits(uint64_t bits, uint64_t half, uint64_t infinity) {
    uint64_t rounded = (bits + half) & ~(2 * half - 1);
    return (bits & infinity) != infinity && (rounded & infinity) != infinity ? rounded : bits;
}

static void round_values(const sel_image *image, int64_t count, void *values) {
    const uint64_t half = (uint64_t)1 << image->drop_bits >> 1;
    for (int64_t i = 0; half && i < count; i++) {
        if (image->precision == SEL_F32) {
            uint32_t bits;
            memcpy(&bits, (float *)values + i, sizeof bits);
            bits = (uint32_t)round_bits(bits, half, 0x7f800000u);
            memcpy((float *)values + i, &bits, sizeof bits);
        } else {
            uint64_t bits;
            memcpy(&bits, (double *)values + i, sizeof bits);
            bits = round_bits(bits, half, 0x7ff0000000000000u);
            memcpy((double *)values + i, &bits, sizeof bits);
        }
    }
}

void sel_image_round(const sel_image *image, const sel_image_field *field, int64_t cells,
                     void *values) {
    for (int64_t i = 0; field->read != field->stored && i < cells; i++) {
        if (image->precision == SEL_F32) {
            ((float *)values)[i] = ((float *)values)[i * field->read + field->first];
        } else {
            ((double *)values)[i] = ((double *)values)[i * field->read + field->first];
        }
    }
    round_values(image, cells * field->stored, values);
}

void sel_image_mark_arrays(const sel_cell_marks *marks, vtkw_array arrays[SEL_IMAGE_MARKS]) {
    arrays[0] = (vtkw_array){"cell_type", VTKW_UINT8, 1, marks->cell_type};
    arrays[1] = (vtkw_array){"solid", VTKW_UINT8, 1, marks->solid};
    arrays[2] = (vtkw_array){"boundary", VTKW_UINT8, 1, marks->boundary};
}

void sel_image_arrays(const sel_image *image, const sel_image_field *fields, void *const *values,
                      const sel_cell_marks *marks, bool nodes, vtkw_array *arrays,
                      vtkw_image *header) {
    const vtkw_type type = image->precision == SEL_F32 ? VTKW_FLOAT32 : VTKW_FLOAT64;
    for (int i = 0; i < image->count; i++) {
        arrays[i] = (vtkw_array){fields[i].name, type, fields[i].stored, values[i]};
    }
    sel_image_mark_arrays(marks, arrays + image->count);
    *header = image->header;
    *(nodes ? &header->point_arrays : &header->cell_arrays) = arrays;
    *(nodes ? &header->point_array_count : &header->cell_array_count) =
        image->count + SEL_IMAGE_MARKS;
}

/* The cells of an image that this rank reads: of a state that is not divided, which every rank has,
 * as many planes as others. Those that rank r writes are start[r] <= k < start[r + 1], in the order
 * of the image: the same, but for ranks that have rows of planes. */
static sel_box own_box(const sel_state *state, const sel_image *image,
                       int64_t start[SEL_MOST_RANKS + 1]) {
    const sel_ranks *ranks = sel_plan_ranks(state->plan);
    const int axis = state->plan->domain->grid.dims - 1;
    const int64_t planes = sel_box_count(&image->box, axis), width = sel_box_count(&image->box, 0);
    const int64_t rows = sel_box_cells(&image->box) / width, of_plane = rows / planes;
    const bool divided = state->ranks->count > 1;
    sel_box own = image->box;
    if (divided) {
        sel_state_share_box(state, &image->box, start);
        own = sel_state_part(state, &image->box, ranks->rank);
    }
    for (int r = 0; r <= ranks->count; r++) {
        start[r] = width * (!divided ? of_plane * (planes * r / ranks->count)
                            : !sel_divides_planes(&state->decomposition) ? start[r]
                                                                         : rows * r / ranks->count);
    }
    if (!divided) {
        const int64_t *of = start + ranks->rank, stride = image->box.stride[axis];
        own.lo[axis] = image->box.lo[axis] + of[0] / width / of_plane * stride;
        own.hi[axis] = image->box.lo[axis] + of[1] / width / of_plane * stride;
        own.hi[axis] = own.hi[axis] < image->box.hi[axis] ? own.hi[axis] : image->box.hi[axis];
    }
    return own;
}

/* Brings what ranks have read, [fields and marks][cells], to those that write it. */
static void move_rows(const sel_state *state, const sel_image *image, const sel_image_field *fields,
                      const int64_t *start, void **values) {
    const size_t number = image->precision == SEL_F32 ? sizeof(float) : sizeof(double);
    const size_t width = (size_t)sel_box_count(&image->box, 0);
    int64_t row[SEL_MOST_RANKS + 1];
    for (int r = 0; r <= state->ranks->count; r++) {
        row[r] = start[r] / (int64_t)width;
    }
    for (int k = 0; k < image->count + SEL_IMAGE_MARKS; k++) {
        const size_t cell = k < image->count ? (size_t)fields[k].stored * number : 1;
        values[k] = sel_state_move_rows(state, &image->box, row, width * cell, values[k]);
    }
}

/* Reads the fields of its own cells. */
static sel_status read_own(sel_state *state, const sel_backend *backend, const sel_image *image,
                           const sel_image_field *fields, const sel_box *own, void **values,
                           bool *observed, sel_error *error) {
    const int64_t cells = sel_box_cells(own);
    sel_status status = SEL_OK;
    for (int i = 0; i < image->count; i++) {
        sel_request request = {.kind = SEL_READ,
                               .field = fields[i].field,
                               .box = *own,
                               .precision = image->precision,
                               .components = fields[i].read,
                               .stays = true};
        const size_t number = image->precision == SEL_F32 ? sizeof(float) : sizeof(double);
        const size_t bytes = (size_t)(cells * fields[i].read) * number;
        request.to = values[i] = sel_ranks_memory(sel_plan_ranks(state->plan), bytes);
        sel_status one = backend->start(state, &request, error);
        one = one ? one : backend->finish(state, &request, error);
        status = status ? status : one;
        *observed = *observed && !request.unobserved;
        if (!status && *observed) {
            sel_image_round(image, &fields[i], cells, values[i]);
        }
    }
    return sel_state_agree(state, status, error);
}

/* Marks the cells of `own`; threads share out its planes. */
static void mark_own(const sel_state *state, const sel_box *own, const sel_cell_marks *marks) {
    const int axis = state->plan->domain->grid.dims - 1;
    const int64_t planes = sel_box_count(own, axis);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t p = 0; p < planes; p++) {
        const int64_t k = p * (sel_box_cells(own) / planes);
        const sel_cell_marks there = {marks->cell_type + k, marks->solid + k, marks->boundary + k};
        sel_box plane = *own;
        plane.lo[axis] += p * own->stride[axis];
        plane.hi[axis] = plane.lo[axis] + 1;
        sel_domain_cells(state->plan->domain, &plane, &there);
    }
}

sel_status sel_image_share(sel_state *state, const sel_backend *backend, const sel_image *image,
                           const sel_image_field *fields, sel_writer *writer, FILE **file,
                           sel_error *error) {
    const sel_ranks *ranks = sel_plan_ranks(state->plan);
    const size_t count = (size_t)image->count + SEL_IMAGE_MARKS;
    int64_t start[SEL_MOST_RANKS + 1] = {0};
    const sel_box own = own_box(state, image, start);
    void **values = sel_ranks_memory(ranks, count * sizeof *values),
         **types = values + image->count;
    vtkw_array *arrays = sel_ranks_memory(ranks, count * sizeof *arrays);
    for (int k = 0; k < SEL_IMAGE_MARKS; k++) {
        types[k] = sel_ranks_memory(ranks, (size_t)sel_box_cells(&own));
    }
    const sel_cell_marks marks = {types[0], types[1], types[2]};
    bool observed = true;
    vtkw_image header;
    *file = NULL;
    sel_status status = read_own(state, backend, image, fields, &own, values, &observed, error);
    if (!status && observed) {
        mark_own(state, &own, &marks);
        if (sel_divides_planes(&state->decomposition)) {
            move_rows(state, image, fields, start, values);
        }
        const sel_cell_marks of_file = {types[0], types[1], types[2]};
        sel_image_arrays(image, fields, values, &of_file, state->plan->domain->grid.nodes, arrays,
                         &header);
        status =
            sel_vtk_share(ranks, image->path, &header, start, state->threads, writer, file, error);
    } else {
        for (size_t i = 0; i < count; i++) {
            free(values[i]);
        }
    }
    free(arrays);
    free(values);
    return status;
}
