/* record.c -- what a run tells of itself: run.json now and again, run.log, a copy of the script. */
#include "engine/record.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "engine/file.h"
#include "engine/folder.h"
#include "engine/machine.h"
#include "engine/progress.h"
#include "engine/version.h"
#include "engine/warnings.h"

static const double default_seconds = 10;

void sel_record_log(sel_record *record, const char *text) {
    char now[SEL_TIME_ROOM], line[2048];
    if (!record->log) {
        return;
    }
    for (; *text; text += strspn(text, "\n")) {
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        sel_plain_text(line);
        fprintf(record->log, "%s  %s\n", sel_time_text(time(NULL), now), line);
        text += length;
    }
    fflush(record->log); /* a log that cannot be written is no reason to end a run */
}

static void begin_log(sel_record *record) {
    const sel_prepared *prepared = record->prepared;
    char path[SEL_PATH_ROOM], device[256], text[2048];
    snprintf(path, sizeof path, "%s/" SEL_RUN_LOG, record->options->directory);
    int descriptor = sel_file_create(path);
    if (descriptor < 0 && record->options->resume) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    }
    record->log = descriptor >= 0 ? fdopen(descriptor, "a") : NULL;
    if (descriptor >= 0 && !record->log) {
        close(descriptor);
    }
    const char *script = prepared->simulation->script;
    snprintf(text, sizeof text, "selenite %s (%s): %s", sel_version(), sel_commit(),
             script ? script : "simulation");
    sel_record_log(record, text);
    prepared->backend->device(device, sizeof device);
    snprintf(text, sizeof text, "running on %s: %s, %d thread%s", prepared->backend->name, device,
             prepared->plan->threads, prepared->plan->threads == 1 ? "" : "s");
    sel_record_log(record, text);
    const size_t opening = (size_t)snprintf(text, sizeof text, "warning: ");
    for (int i = 0;
         sel_warnings_line(&prepared->warnings, i, text + opening, sizeof text - opening); i++) {
        sel_record_log(record, text);
    }
}

static sel_status copy_script(const sel_record *record, sel_error *error) {
    const sel_scenario *scenario = record->scenario;
    char path[SEL_PATH_ROOM];
    if (!scenario->text) {
        return SEL_OK;
    }
    snprintf(path, sizeof path, "%s/" SEL_RUN_SCRIPT, record->options->directory);
    FILE *to = sel_file_begin(path);
    if (to) {
        fwrite(scenario->text, 1, scenario->text_length, to);
    }
    return sel_file_end(to, path, NULL, error);
}

static sel_status write_json(sel_record *record, const char *const *files, sel_error *error) {
    record->clock = sel_machine_seconds();
    return sel_run_json(record->scenario, record->prepared, record->options, record->report, files,
                        error);
}

sel_status sel_record_open(sel_record *record, sel_error *error) {
    const sel_plan *plan = record->prepared->plan;
    plan->simulation->solver->json(plan, record->report->solver, sizeof record->report->solver);
    sel_status status = copy_script(record, error);
    status = status ? status : write_json(record, NULL, error);
    if (!status) {
        begin_log(record);
    }
    return status;
}

bool sel_record_due(const sel_record *record) {
    const double seconds = record->options->refresh_seconds;
    return sel_machine_seconds() - record->clock >= (seconds > 0 ? seconds : default_seconds);
}

void sel_record_refresh(sel_record *record, const sel_progress *progress,
                        const char *const *files) {
    char text[256];
    write_json(record, files, NULL);
    sel_progress_line(progress, text, sizeof text);
    sel_record_log(record, text);
}

sel_status sel_record_close(sel_record *record, const char *const *files, sel_error *error) {
    const sel_report *report = record->report;
    sel_status status = write_json(record, files, error);
    if (!status && files) {
        sel_folder_listed(record->options->directory);
    }
    if (record->log) {
        char text[1024];
        snprintf(text, sizeof text, "%s; %lld steps, %.3g s, %.4g Mcells/s", report->stop_reason,
                 (long long)report->steps, report->wall_seconds, report->mcells_per_second);
        sel_record_log(record, text);
        fclose(record->log);
        record->log = NULL;
    }
    return status;
}
