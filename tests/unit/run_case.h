/* run_case.h -- run a scenario from a text, for the tests of what runs do. */
#ifndef RUN_CASE_H
#define RUN_CASE_H

#include "tests/unit/script_case.h"
#include "engine/run/run.h"

typedef struct run_case {
    script_case script;
    sel_report report;
    sel_error error;
    char log[1024];
} run_case;

static inline void case_collect(const char *text, void *data) {
    char *log = data;
    size_t used = strlen(log);
    snprintf(log + used, 1024 - used, "%s%s", used ? "|" : "", text);
}

static inline void case_load(run_case *r, const char *text) {
    memset(r, 0, sizeof *r);
    script_accepts(&r->script, text);
}

static inline sel_status case_start(run_case *r) {
    sel_run_options options = {.settings = {.precision = -1, .backend = -1, .threads = 1},
                               .directory = "run",
                               .force = true,
                               .log = case_collect,
                               .data = r->log};
    return sel_run(r->script.scenario, &r->script.scenario->simulations[0], &options, &r->report,
                   &r->error);
}

static inline sel_status case_run(run_case *r, const char *text) {
    case_load(r, text);
    return case_start(r);
}

static inline void case_done(run_case *r) {
    sel_report_release(&r->report);
    script_done(&r->script);
}

static inline void case_run_well(run_case *r, const char *text) {
    if (case_run(r, text) != SEL_OK)
        fail_msg("%s", r->error.text);
}

static inline double case_result(const run_case *r, const char *name) {
    for (int i = 0; i < r->report.results.count; i++)
        if (strcmp(r->report.results.v[i].name, name) == 0)
            return r->report.results.v[i].value;
    fail_msg("no result %s", name);
    return 0;
}

/* The entries of "warnings" in run.json of a run that ends well. Freed by the caller. */
static inline char *case_warnings(const char *text) {
    run_case r;
    case_run_well(&r, text);
    char *json = read_whole("run/run.json", NULL);
    const char *begin = strstr(json, "\"warnings\": [");
    assert_non_null(begin);
    begin += strlen("\"warnings\": [");
    char *found = strndup(begin, (size_t)(strchr(begin, ']') - begin));
    free(json);
    case_done(&r);
    return found;
}

#endif
