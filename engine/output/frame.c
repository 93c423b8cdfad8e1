/* frame.c -- outputs that write the fields of a moment into a file of their own. */
#include "engine/output/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include "engine/machine.h"

sel_status sel_frames_open(sel_frames *frames, sel_error *error) {
    const sel_output_context *context = frames->base.context;
    pthread_mutex_init(&frames->lock, NULL);
    return sel_folder_make(context->directory, frames->base.name, context->force || context->resume,
                           error);
}

void sel_frame_file(const sel_frame *frame, const char *ending, char path[SEL_PATH_ROOM]) {
    const char *name = frame->frames->base.name;
    snprintf(path, SEL_PATH_ROOM, "%s/%s_%08lld.%s", name, name, (long long)frame->step, ending);
}

static void free_frame(sel_frame *frame) {
    for (int i = 0; frame && i < frame->frames->base.picks.count; i++) {
        free(frame->values[i]);
    }
    free(frame);
}

static sel_status make_frame(sel_frames *frames, sel_error *error) {
    const sel_picks *picks = &frames->base.picks;
    const size_t number = frames->precision == SEL_F32 ? sizeof(float) : sizeof(double);
    const size_t cells = (size_t)sel_box_cells(&frames->box);
    size_t bytes = sizeof(sel_frame) + (size_t)picks->count * sizeof(void *);
    sel_frame *frame = calloc(1, bytes);
    bool failed = !frame;
    if (frame) {
        frame->frames = frames;
    }
    for (int i = 0; i < picks->count && !failed; i++) {
        bytes = cells * (size_t)picks->v[i].read * number;
        frame->values[i] = sel_machine_allocate(bytes);
        failed = !frame->values[i];
    }
    if (failed) {
        free_frame(frame);
        return sel_fail_memory(error, "a copy of a field to write", bytes);
    }
    frames->asked = frame;
    return SEL_OK;
}

sel_status sel_frames_ask(sel_output *output, sel_error *error) {
    sel_frames *frames = (sel_frames *)output;
    if (!frames->asked) {
        pthread_mutex_lock(&frames->lock);
        frames->asked = frames->spare;
        frames->spare = frames->spare ? frames->spare->next : NULL;
        pthread_mutex_unlock(&frames->lock);
    }
    sel_status status = frames->asked ? SEL_OK : make_frame(frames, error);
    if (status == SEL_OK) {
        frames->asked->step = output->step;
        frames->asked->time = output->time;
        status =
            sel_output_read(output, &frames->box, frames->precision, frames->asked->values, error);
    }
    return status;
}

/* On the writer's thread. */
static sel_status write_frame(void *data, bool cancelled, sel_error *error) {
    sel_frame *frame = data;
    sel_frames *frames = frame->frames;
    char file[SEL_PATH_ROOM], path[2 * SEL_PATH_ROOM];
    sel_frame_file(frame, frames->ending, file);
    snprintf(path, sizeof path, "%s/%s", frames->base.context->directory, file);
    sel_status status = cancelled ? SEL_OK : frames->write(frame, path, error);
    pthread_mutex_lock(&frames->lock);
    frame->next = frames->spare;
    frames->spare = frame;
    pthread_mutex_unlock(&frames->lock);
    return status;
}

sel_status sel_frames_take(sel_output *output, sel_error *error) {
    sel_frames *frames = (sel_frames *)output;
    const char *endings[] = {frames->ending, frames->beside};
    sel_writer *writer = output->context->writer;
    sel_status status = SEL_OK;
    for (int k = 0; k < 2 && endings[k] && !status; k++) {
        char file[SEL_PATH_ROOM];
        sel_frame_file(frames->asked, endings[k], file);
        status = sel_output_files_add(output->files, writer, error, "%s", file);
    }
    if (status) {
        return status;
    }
    sel_frame *frame = frames->asked;
    frames->asked = NULL;
    return sel_writer_submit(writer, write_frame, frame, error);
}

void sel_frames_close(sel_output *output) {
    sel_frames *frames = (sel_frames *)output;
    free_frame(frames->asked);
    for (sel_frame *frame = frames->spare, *next; frame; frame = next) {
        next = frame->next;
        free_frame(frame);
    }
    pthread_mutex_destroy(&frames->lock);
}
