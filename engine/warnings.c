/* warnings.c -- what may be wrong with a scenario although it can be run. */
#include "engine/warnings.h"

#include <string.h>

enum { LONGEST_LINE = 2048 };

/* Evaluates the laws of the last step: who runs for hours should not learn then that a series was
 * too short. A run that may end before need not get there. */
static sel_status look_ahead(const sel_plan *plan, sel_error *warnings, sel_error *error) {
    const sel_simulation *simulation = plan->simulation;
    const sel_common *common = simulation->params;
    bool by_time;
    int64_t last_step = sel_stop_step(common, &by_time);
    if (!simulation->solver->ahead || last_step == INT64_MAX || last_step < 1) {
        return SEL_OK;
    }
    sel_error found = {.status = SEL_OK};
    char text[LONGEST_LINE];
    sel_status status = simulation->solver->ahead(plan, last_step - 1, &found);
    for (int i = 0; sel_warnings_line(&found, i, text, sizeof text); i++) {
        if (sel_may_end_early(common)) {
            sel_fail(warnings, status, "%s (in step %lld, if the run gets there)", text,
                     (long long)last_step);
        } else {
            sel_fail(error, status, "%s (in step %lld, the last)", text, (long long)last_step);
        }
    }
    return sel_may_end_early(common) ? SEL_OK : status;
}

sel_status sel_warnings_find(const sel_plan *plan, sel_error *warnings, sel_error *error) {
    *warnings = (sel_error){.status = SEL_OK};
    /* First, since a function that goes on for ever is told where it is called first. */
    sel_status status = look_ahead(plan, warnings, error);
    sel_domain_warn(plan->domain, warnings);
    if (plan->simulation->solver->warn && !status) {
        plan->simulation->solver->warn(plan, warnings);
    }
    return status;
}

bool sel_warnings_line(const sel_error *warnings, int index, char *text, size_t size) {
    const char *at = warnings->status ? warnings->text : "";
    for (int k = 0; k < index && *at; k++) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    snprintf(text, size, "%.*s", (int)strcspn(at, "\n"), at);
    return *at != '\0';
}

void sel_warnings_print(const sel_error *warnings, const char *before, FILE *to) {
    char text[LONGEST_LINE];
    for (int i = 0; sel_warnings_line(warnings, i, text, sizeof text); i++) {
        fprintf(to, "%swarning: %s\n", before, text);
    }
}
