/* forecast.c -- when an output will be written in a run, and how much, before it begins. */
#include <math.h>
#include <stdio.h>
#include "engine/machine.h"
#include "engine/output/kind.h"

/* How often something is due in steps 0 to `last`; *at_last: also at the last one. */
static int64_t times_due(const sel_output_kind *kind, const sel_output_common *common, double dt,
                         int64_t last, bool *at_last) {
    bool given = common->every != SEL_INT_NOT_GIVEN;
    int64_t from = sel_output_from(common, dt), period = given ? common->every : kind->period;
    *at_last = false;
    if (!isnan(common->interval)) {
        const double slack = 1e-9, interval = fmax(common->interval, dt);
        double first = from > 0 ? floor((double)(from - 1) * dt / interval + slack) + 1 : 0;
        double end = floor((double)last * dt / interval + slack);
        *at_last = end >= first && sel_step_at(end * interval, dt) == last;
        return end >= first ? (int64_t)(end - first) + 1 : 0;
    }
    if (period == 0) {
        return 0;
    }
    from = given || from > 0 ? from : 1; /* a period that nobody gave leaves step 0 out */
    int64_t first = (from + period - 1) / period, end = last / period;
    *at_last = end >= first && last % period == 0;
    return end >= first ? end - first + 1 : 0;
}

/* "every 500 steps" */
static void cadence(const sel_output_kind *kind, const sel_output_common *common, char *text,
                    size_t size) {
    const bool given = common->every != SEL_INT_NOT_GIVEN;
    const int64_t period = given ? common->every : kind->period;
    if (!isnan(common->interval)) {
        snprintf(text, size, "every %g time units", common->interval);
    } else if (period) {
        snprintf(text, size, "every %lld step%s", (long long)period, period == 1 ? "" : "s");
    } else {
        snprintf(text, size, "at the end");
    }
}

void sel_output_forecast(const sel_plan *plan, const sel_variant *output, int64_t last_step,
                         char *text, size_t size) {
    const sel_output_kind *kind = sel_output_kind_of(output->table);
    const sel_output_common *common = output->data;
    char when[64], often[64] = "", much[128] = "";
    int64_t times = 0;
    const double seconds = sel_checkpoint_seconds(output);
    if (seconds > 0) {
        snprintf(text, size, "%s: %s every %g s and at the end", sel_output_name(output),
                 output->table->name, seconds);
        return;
    }
    cadence(kind, common, when, sizeof when);
    if (last_step != INT64_MAX) {
        bool at_last;
        times = times_due(kind, common, plan->domain->grid.dt, last_step, &at_last);
        times += !at_last && (!kind->only_when_due || times == 0);
        snprintf(often, sizeof often, ", %s%lld time%s",
                 sel_may_end_early(plan->simulation->params) ? "at most " : "", (long long)times,
                 times == 1 ? "" : "s");
    }
    if (kind->bytes) {
        char one[SEL_BYTES_ROOM], all[SEL_BYTES_ROOM];
        bool packed = false;
        double bytes = kind->bytes(plan, output->data, &packed);
        const char *still = packed ? " before compression" : "";
        sel_bytes_text(bytes, one);
        sel_bytes_text(bytes * (double)times, all);
        if (times > 1) {
            snprintf(much, sizeof much, " %s = %s%s", one, all, still);
        } else {
            snprintf(much, sizeof much, ", %s%s", one, still);
        }
    }
    snprintf(text, size, "%s: %s %s%s%s", sel_output_name(output), output->table->name, when, often,
             much);
}
