/* progress.c -- progress of a run: a bar, redrawn five times a second, on a terminal; elsewhere a
 * line every ten seconds. */
#include "engine/run/run.h"

#include <math.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/hardware.h"

enum { BAR_WIDTH = 24 };

sel_progress_printer sel_progress_printer_create(FILE *to) {
    return (sel_progress_printer){
        .to = to, .terminal = isatty(fileno(to)) == 1, .last = sel_machine_seconds()};
}

const char *sel_duration_text(double seconds, char text[SEL_DURATION_ROOM]) {
    if (!isfinite(seconds)) {
        snprintf(text, SEL_DURATION_ROOM, "?");
        return text;
    }
    long long s = (long long)llround(seconds);
    if (s >= 3600) {
        snprintf(text, SEL_DURATION_ROOM, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    } else {
        snprintf(text, SEL_DURATION_ROOM, "%lld:%02lld", s / 60, s % 60);
    }
    return text;
}

/* "[#####.....]  50% "; empty if the last step is not known. */
static void progress_draw_bar(const sel_report *report, char *text, size_t size) {
    text[0] = '\0';
    if (report->last_step == INT64_MAX || size < BAR_WIDTH + 16) {
        return;
    }
    double done = report->last_step > 0 ? (double)report->steps / (double)report->last_step : 1;
    int filled = (int)(done * BAR_WIDTH);
    memset(text, '.', BAR_WIDTH + 2);
    text[0] = '[';
    memset(text + 1, '#', (size_t)filled);
    snprintf(text + BAR_WIDTH + 1, size - BAR_WIDTH - 1, "] %3.0f%% ", 100 * done);
}

void sel_progress_line(const sel_report *report, char *text, size_t size) {
    char left[SEL_DURATION_ROOM], measure[48] = "", limit[32] = "";
    sel_duration_text(report->seconds_left, left);
    if (!isnan(report->steady_measure)) {
        snprintf(measure, sizeof measure, ", change %.2e", report->steady_measure);
    } else if (!isnan(report->mean_change)) {
        snprintf(measure, sizeof measure, ", mean change %.2e", report->mean_change);
    }
    if (report->last_step != INT64_MAX) {
        snprintf(limit, sizeof limit, "/%lld", (long long)report->last_step);
    }
    snprintf(text, size, "%s%sstep %lld%s, %.4g Mcells/s%s, %s left",
             report->name ? report->name : "", report->name ? ": " : "", (long long)report->steps,
             limit, report->mcells_per_second, measure, left);
}

void sel_progress_print(const sel_report *report, void *data) {
    sel_progress_printer *printer = data;
    double now = sel_machine_seconds();
    if (now - printer->last < (printer->terminal ? 0.2 : 10)) {
        return;
    }
    printer->last = now;
    char text[256], bar[64] = "";
    sel_progress_line(report, text, sizeof text);
    if (printer->terminal) {
        progress_draw_bar(report, bar, sizeof bar);
        fprintf(printer->to, "\r%s%s\033[K", bar, text);
        printer->drawn = true;
    } else {
        fprintf(printer->to, "%s\n", text);
    }
    fflush(printer->to);
}

void sel_progress_log(const char *text, void *data) {
    sel_progress_printer *printer = data;
    fprintf(printer->to, "%s%s\n", printer->drawn ? "\r\033[K" : "", text);
    printer->drawn = false;
    fflush(printer->to);
}

void sel_progress_end(sel_progress_printer *printer) {
    if (printer->drawn) {
        fputc('\n', printer->to);
        printer->drawn = false;
    }
}
