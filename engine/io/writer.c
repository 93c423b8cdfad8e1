/* writer.c -- a thread that writes files while the run computes, with a bounded queue. */
#include "engine/io/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include "engine/base/hardware.h"
#include "engine/base/process.h"

typedef struct queued_job {
    sel_writer_job run;
    void *data;
} queued_job;

/* The members below `lock` are accessed only while it is held. */
struct sel_writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job came, or `closing` was set */
    pthread_cond_t room; /* a job was taken, or the last one is done */
    int depth, first, count;
    bool running, closing;
    sel_writer_figures figures;
    sel_error failure;  /* of the first job that failed */
    queued_job queue[]; /* a ring buffer of `depth` jobs */
};

static queued_job take_job(sel_writer *writer) {
    queued_job job = writer->queue[writer->first];
    writer->first = (writer->first + 1) % writer->depth;
    writer->count--;
    writer->running = true;
    pthread_cond_broadcast(&writer->room);
    return job;
}

/* Runs a job. The lock is held on entry and on return, but not while the job runs. */
static void run_job(sel_writer *writer, const queued_job *job) {
    bool cancelled = writer->failure.status != SEL_OK;
    pthread_mutex_unlock(&writer->lock);
    sel_error error = {.status = SEL_OK};
    double start = sel_machine_seconds();
    sel_status status = job->run(job->data, cancelled, &error);
    double taken = sel_machine_seconds() - start;
    pthread_mutex_lock(&writer->lock);
    writer->figures.busy += taken;
    if (status != SEL_OK && !cancelled) {
        writer->failure = error;
        writer->failure.status = status;
    }
    writer->figures.written += status == SEL_OK && !cancelled;
    writer->running = false;
    pthread_cond_broadcast(&writer->room);
}

static void *write_jobs(void *data) {
    sel_writer *writer = data;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->count == 0 && !writer->closing) {
            pthread_cond_wait(&writer->work, &writer->lock);
        }
        if (writer->count == 0) {
            break;
        }
        queued_job job = take_job(writer);
        run_job(writer, &job);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static void free_writer(sel_writer *writer) {
    pthread_cond_destroy(&writer->work);
    pthread_cond_destroy(&writer->room);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

sel_status sel_writer_create(int depth, sel_writer **writer, sel_error *error) {
    *writer = NULL;
    sel_writer *made = calloc(1, sizeof *made + (size_t)depth * sizeof *made->queue);
    if (!made) {
        return sel_fail_memory(error, "the writer's queue", sizeof *made);
    }
    made->depth = depth;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work, NULL);
    pthread_cond_init(&made->room, NULL);
    if (!sel_process_thread(&made->thread, write_jobs, made)) {
        free_writer(made);
        return sel_fail(error, SEL_NO_DEVICE, "the system refuses a thread for writing files");
    }
    *writer = made;
    return SEL_OK;
}

/* The first failure of a job, copied to `error`. The lock must be held. */
static sel_status report_failure(const sel_writer *writer, sel_error *error) {
    return writer->failure.status == SEL_OK
               ? SEL_OK
               : sel_fail(error, writer->failure.status, "%s", writer->failure.text);
}

sel_status sel_writer_submit(sel_writer *writer, sel_writer_job job, void *data, sel_error *error) {
    pthread_mutex_lock(&writer->lock);
    double start = sel_machine_seconds();
    while (writer->count == writer->depth) {
        pthread_cond_wait(&writer->room, &writer->lock);
    }
    writer->figures.waited += sel_machine_seconds() - start;
    sel_status status = report_failure(writer, error);
    if (status == SEL_OK) {
        int last = (writer->first + writer->count) % writer->depth;
        writer->queue[last] = (queued_job){job, data};
        writer->count++;
        writer->figures.submitted++;
        pthread_cond_signal(&writer->work);
    }
    pthread_mutex_unlock(&writer->lock);
    if (status != SEL_OK) {
        job(data, true, NULL);
    }
    return status;
}

static void wait_until_idle(sel_writer *writer) {
    double start = sel_machine_seconds();
    while (writer->count > 0 || writer->running) {
        pthread_cond_wait(&writer->room, &writer->lock);
    }
    writer->figures.waited += sel_machine_seconds() - start;
}

sel_status sel_writer_drain(sel_writer *writer, sel_error *error) {
    pthread_mutex_lock(&writer->lock);
    wait_until_idle(writer);
    sel_status status = report_failure(writer, error);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

sel_writer_figures sel_writer_so_far(sel_writer *writer) {
    pthread_mutex_lock(&writer->lock);
    const sel_writer_figures figures = writer->figures;
    pthread_mutex_unlock(&writer->lock);
    return figures;
}

void sel_writer_destroy(sel_writer *writer) {
    if (!writer) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    wait_until_idle(writer);
    writer->closing = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    free_writer(writer);
}
