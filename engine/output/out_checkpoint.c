/* out_checkpoint.c -- out.checkpoint: when the run writes checkpoints (run_save.c writes them). */
#include <math.h>
#include "engine/output/kind.h"

static const sel_table_field fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_checkpoint_params, wall_time, NUMBER,
            "Seconds of wall time from one checkpoint to the next, instead of every; 600 when "
            "neither every nor interval is given.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_checkpoint_table =
    SEL_TABLE("out.checkpoint", sel_checkpoint_params, fields,
              "The whole state of the run as NAME.sel, and the one before it as "
              "NAME.before.sel: `selenite run FILE --resume` continues it as if the run had "
              "not ended. It is also written at the end and, even without this output, when "
              "a run is interrupted. A run that has diverged writes none.");

static void checkpoint_check(sel_output_checker *checker, const void *params) {
    const sel_checkpoint_params *checkpoint = params;
    const bool by_steps =
        checkpoint->common.every != SEL_INT_NOT_GIVEN || !isnan(checkpoint->common.interval);
    if (by_steps && !isnan(checkpoint->wall_time)) {
        sel_output_refuse(
            checker, "give every (steps), interval (time) or wall_time (seconds), not two of them");
    }
    if (checkpoint->common.at == SEL_OUTPUT_AT_END && !isnan(checkpoint->wall_time)) {
        sel_output_refuse(checker, "at = \"end\" writes once; give it or wall_time, not both");
    }
}

static const double default_seconds = 600;

double sel_checkpoint_seconds(const sel_variant *output) {
    const sel_checkpoint_params *checkpoint = output->data;
    if (output->table != &sel_out_checkpoint_table || checkpoint->common.at == SEL_OUTPUT_AT_END ||
        checkpoint->common.every != SEL_INT_NOT_GIVEN || !isnan(checkpoint->common.interval)) {
        return 0;
    }
    return isnan(checkpoint->wall_time) ? default_seconds : checkpoint->wall_time;
}

const sel_output_kind sel_checkpoint_kind = {
    .table = &sel_out_checkpoint_table,
    .once = true,
    .check = checkpoint_check,
};
