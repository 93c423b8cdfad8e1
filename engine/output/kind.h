/* kind.h -- an output of a run under way, what output.c knows of its kind, and what kinds share:
 * checks, requests, files of their own for each moment, what they measure. */
#ifndef SEL_OUTPUT_KIND_H
#define SEL_OUTPUT_KIND_H

#include <pthread.h>
#include "engine/base/folder.h"
#include "engine/output/asked.h"

/* Rows that every output's field list begins with. */
#define SEL_OUT_COMMON_ROWS                                                                        \
    SEL_ROW(sel_output_common, name, STRING,                                                       \
            "Name of its files, unique among the outputs; the kind of output when not given."),    \
        SEL_ROW(sel_output_common, every, INT,                                                     \
                "Steps from one writing to the next, from step 0 on. Without every and interval, " \
                "fields are written at the end only, rows of CSV files every 100 steps.",          \
                .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),                                   \
        SEL_ROW(sel_output_common, interval, NUMBER,                                               \
                "Time from one writing to the next, instead of every: the first step at or "       \
                "after each multiple of it is written.",                                           \
                .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),                                   \
        SEL_ROW(sel_output_common, from_step, INT,                                                 \
                "First step that is written; the last state is written in any case."),             \
        SEL_ROW(sel_output_common, from_time, NUMBER,                                              \
                "First time that is written; the last state is written in any case.",              \
                .preset = SEL_NOT_GIVEN)

#define SEL_OUT_FIELDS_HELP \
    "Fields of the results (listed with each solver), or components such as velocity_x."
#define SEL_OUT_FIELD_HELP \
    "A field of the results, a vector by its magnitude, or a component such as velocity_x."

/* ---- kinds ---- */

enum { SEL_COLUMN_ROOM = 96 };

/* A field that an output names: a whole one, or one of its components. */
typedef struct sel_pick {
    const char *name;
    int field;                                         /* in solver->fields */
    int field_components;                              /* of the whole field */
    int first, components;                             /* of the field: all, or one */
    char columns[SEL_MAX_COMPONENTS][SEL_COLUMN_ROOM]; /* "pressure", or "velocity_x" ... */
    /* Values per cell in .vti files: VTK's vectors have three components, also in two dimensions,
     * where the third is zero. A tensor's are in the order of sel_field_rank. */
    int stored;
    /* Values per cell that sel_output_read asks for: those stored; for one component all of the
     * field. */
    int read;
} sel_pick;

typedef struct sel_picks {
    int count;
    sel_pick *v;
} sel_picks;

/* What an output asks of the backend at each step. */
typedef struct sel_requests {
    int count, room;
    sel_request *v;
} sel_requests;

/* An output of a run under way; the first member of each kind's own struct. */
typedef struct sel_output {
    const struct sel_output_kind *kind;
    const sel_output_context *context;
    sel_arena *arena;   /* for what lives as long as it, on the run's thread only */
    const void *params; /* the struct that kind->table describes */
    const char *name;   /* of its files */
    sel_output_files *files;
    sel_picks picks; /* the fields of its SEL_RESULT rows, in their order */
    sel_csv *csv;    /* of a kind with rows */
    int64_t step;    /* of the state that is asked for, taken, or the last */
    double time;
    sel_requests requests; /* of open; take finds them answered */
    int64_t written;       /* the last step that was; -1: none */
    bool under_way;        /* `requests` have been started and not taken */
    bool concluded;
    int kept; /* its number, from 1, in the checkpoint that is resumed; 0: it is new */
} sel_output;

/* An output under check. */
typedef struct sel_output_site {
    const sel_simulation *simulation;
    const sel_domain *domain;
    const sel_table *table;
    sel_where where;   /* of its mistakes */
    sel_error *error;  /* gets a line for each */
    sel_status status; /* SEL_OK: there is none */
} sel_output_site;

/* Steps between the rows of CSV files when the script does not say. */
enum { SEL_CSV_PERIOD = 100 };

/* One kind of output. `open` adds the requests that are started each time it is due; `take` gets
 * the answers later, when the run has gone on. The context, the files and the params outlive the
 * output. */
typedef struct sel_output_kind {
    const sel_table *table;
    size_t size;    /* of the struct that begins with a sel_output; 0: the run itself writes it */
    int64_t period; /* steps between writings when the script does not say; 0: at the end only */
    bool only_when_due; /* the last state is left out unless it is due: it would bias a mean */
    bool once;          /* a run has one of them */
    /* Writes NAME.csv: `open` adds columns to the header, `take` values to a row, both behind
     * step,time. */
    bool rows;
    /* Refuses all mistakes. NULL: nothing to check but the fields. */
    void (*check)(sel_output_site *site, const void *params);
    /* Bytes of one file; *packed: before it is compressed. NULL: small, or not known ahead. */
    double (*bytes)(const sel_plan *plan, const void *params, bool *packed);
    /* The places that requests name must stay until `close`. */
    sel_status (*open)(sel_output *output, sel_error *error);
    /* Before the requests are started: sets where answers go. NULL: where `open` said. */
    sel_status (*ask)(sel_output *output, sel_error *error);
    /* Writes, or gives to the writer, what was asked for. */
    sel_status (*take)(sel_output *output, sel_error *error);
    /* Moves to a checkpoint, or from it, what the output needs to resume, besides the files that it
     * has written. NULL: nothing. */
    void (*keep)(sel_output *output, sel_checkpoint *checkpoint);
    /* After the last write, at the run's last step: statistics. NULL: none. */
    sel_status (*conclude)(sel_output *output, sel_error *error);
    /* Frees what the kind's own struct holds outside of the arena, also after `open` has failed or
     * was not reached; the writer has nothing to do any more. NULL: nothing. */
    void (*close)(sel_output *output);
} sel_output_kind;

extern const sel_output_kind sel_vtk_kind, sel_probe_kind, sel_profile_kind, sel_reduce_kind,
    sel_balance_kind, sel_force_kind, sel_flux_kind, sel_average_kind, sel_picture_kind,
    sel_grid_kind, sel_checkpoint_kind;

/* The kind that `table` describes. */
const sel_output_kind *sel_output_kind_of(const sel_table *table);

/* The name of an output's files: its own, or the kind. */
const char *sel_output_name(const sel_variant *output);

/* The first step that an output may write. */
int64_t sel_output_from(const sel_output_common *common, const sel_clock *clock);

/* Output number `i` of a simulation. */
const sel_variant *sel_output_variant(const sel_simulation *simulation, int i);

/* ---- fields ---- */

/* Field number `k`, from 0, that the struct of an output's table names; NULL: it names fewer. */
const char *sel_output_field(const sel_table *table, const void *params, int k);

/* Resolves a name that was checked and outlives the pick. */
sel_pick sel_pick_of(const sel_solver *solver, int dims, const char *name);

/* One number per cell, in place: the picked component of values[cells][pick.read], or the
 * magnitude of the vector. */
void sel_pick_scalar(const sel_pick *pick, float *values, int64_t cells);

/* Adds the picks' columns to a header, with "_NUMBER" behind each unless `number` is 0. */
void sel_picks_columns(const sel_picks *picks, int number, sel_csv *csv);

/* ---- checks ---- */

/* Reports a mistake: its place, the table's name, and what is wrong. Returns false, as do the
 * checks below when they refuse something. */
bool sel_output_refuse(sel_output_site *site, const char *format, ...) SEL_PRINTF(2, 3);

/* Refuses fields that the solver does not have, names given twice, and an empty list. */
bool sel_picks_check(sel_output_site *site, const sel_names *names);

/* The same for all that an output names; a STRING must give one number per cell or a vector. */
void sel_fields_check(sel_output_site *site, const void *params);

/* Refuses a point with the wrong number of coordinates or outside the domain. `what` names it. */
bool sel_point_check(sel_output_site *site, const char *what, const sel_point *point);

/* Refuses a `within` that is not a box, or that holds no cell; `what` names it. NULL is fine. */
bool sel_within_check(sel_output_site *site, const char *what, const struct sel_shape *within);

/* The cells whose centres lie in `within`; all cells for NULL. */
sel_box sel_within_box(const sel_grid *grid, const struct sel_shape *within);

/* The region of cell i of a box, x fastest; 0: it is free. */
int sel_box_region(const sel_domain *domain, const sel_box *box, int64_t i);

/* ---- while it runs ---- */

/* Adds a copy of `request` to those of the output. */
sel_status sel_output_request(sel_output *output, const sel_request *request, sel_error *error);

/* Adds requests for the output's fields in a box of cells: by pick to[cells][pick.read], where the
 * caller sets `to`. */
sel_status sel_output_read(sel_output *output, const sel_box *box, int precision, sel_error *error);

/* Has a request, or all that an output has, answered now: only where the run has to stand still. */
sel_status sel_answer(const sel_output_context *context, sel_request *request, sel_error *error);
sel_status sel_output_answer(sel_output *output, sel_error *error);

/* Begins a row: step,time. */
void sel_output_row(sel_output *output);

/* Sets the result NAME.WHAT. */
sel_status sel_output_result(const sel_output *output, const char *what, double value,
                             sel_error *error);

/* "sum", "min", "max", "mean", "l2", NULL: in the order of SEL_OF_SUM ...; and component c of what
 * an answered SEL_REDUCE says. */
extern const char *const sel_reduce_ops[];
double sel_reduce_value(const sel_request *request, int op, int c);

/* Seconds of wall time between the writings of an out.checkpoint; 0: it goes by steps or time, or
 * it is another output. */
double sel_checkpoint_seconds(const sel_variant *output);

/* ---- frames ----
 *
 * Outputs that write the fields of a moment into a file of their own, NAME/NAME_STEP.ENDING: the
 * run's thread has the fields copied, the writer's thread writes them. */

typedef struct sel_frames sel_frames;

/* One file to write. */
typedef struct sel_frame {
    sel_frames *frames;
    struct sel_frame *next; /* among the spare ones */
    int64_t step;
    double time;
    FILE *file; /* that several ranks have written (sel_file_begin), without a name; else NULL */
    void *values[]; /* by pick: [cells of the box][read] */
} sel_frame;

/* Writes a frame to `path`, on the writer's thread; it may change the values. */
typedef sel_status sel_frame_writer(sel_frame *frame, const char *path, sel_error *error);

/* An output of frames; the first member of each kind's own struct. */
struct sel_frames {
    sel_output base;
    const char *ending;
    const char *beside; /* ending of a second file that `write` makes; NULL: none */
    sel_box box;        /* of cells that are read */
    int precision;
    sel_frame_writer *write;
    sel_frame *asked; /* for and not taken; else NULL */

    /* Frames that were written: the system takes as long to give pages as to fill them, so the next
     * frame gets theirs. As many as were in flight at once. */
    pthread_mutex_t lock;
    sel_frame *spare;
};

/* Makes the directory NAME, and the requests. */
sel_status sel_frames_open(sel_frames *frames, const char *ending, const sel_box *box,
                           int precision, sel_frame_writer *write, sel_error *error);

/* The path of a frame's file with an ending, relative to the run's directory. */
void sel_frame_file(const sel_frame *frame, const char *ending, char path[SEL_PATH_ROOM]);

/* The path of a frame's file with its first ending, the directory included. */
void sel_frame_path(const sel_frame *frame, char path[2 * SEL_PATH_ROOM]);

/* The functions of the kind. */
sel_status sel_frames_ask(sel_output *output, sel_error *error);
sel_status sel_frames_take(sel_output *output, sel_error *error);
void sel_frames_close(sel_output *output);

/* ---- fields at points between cell centres ---- */

/* The two cells about a coordinate along one axis, and the weight of the upper one: 0 to 1, 0 where
 * the coordinate is the lower one's centre but for round-off, or lies beyond the last centre. */
typedef struct sel_interval {
    int64_t cell[2];
    double upper;
} sel_interval;

/* `index` by sel_index. Periodic axes wrap. */
sel_interval sel_interval_about(const sel_grid *grid, int axis, double index);

/* Refuses a point of the domain that has only solid cells about it, where all fields are 0; `what`
 * names it. */
void sel_free_check(sel_output_site *site, const char *what, const sel_point *point);

/* Linear interpolation between the centres of the cells about a point. Solid cells are left
 * out of it (the others' weights are scaled up); a point in a solid has the value 0. Periodic axes
 * wrap; beyond the last centre of other axes the value of the last centre holds, or, where
 * `walls` is true and the law on that face says what holds there, the line from the last centre
 * to the face. Where two faces meet the nearer one counts. */
typedef struct sel_sample sel_sample;

/* Samples the output's fields at `count` points that were checked to lie in the domain; adds the
 * requests for the cells about them. */
sel_status sel_sample_create(sel_output *output, const sel_point *points, int count, bool walls,
                             sel_sample **sample, sel_error *error);

double sel_line_length(const sel_point *from, const sel_point *to);

enum { SEL_MOST_POINTS = 10000000 };

/* How far along a line its sample p of `count` lies, 0 to 1: at the middle of one of as many equal
 * parts, or, with `ends`, of points at equal distances from end to end. */
double sel_line_part(int p, int count, bool ends);

/* Samples a line at *count such places, with walls; 0: as far apart as the cells are. */
sel_status sel_sample_line(sel_output *output, const sel_point *from, const sel_point *to,
                           bool ends, int *count, sel_point **points, sel_sample **sample,
                           sel_error *error);

/* Takes the answers. Laws on faces are taken at the output's time. */
sel_status sel_sample_take(sel_sample *sample, sel_error *error);

/* The value of component c of a pick at a point, as it was taken last. */
double sel_sample_value(const sel_sample *sample, int pick, int point, int c);

/* ---- force on the regions of a name, and what flows through them ---- */

/* Several regions may share a name: they are measured together. */

/* Refuses a name that no region has, with the nearest one that exists. */
void sel_measure_check(sel_output_site *site, const char *region);

/* Adds a request of `kind`, SEL_FORCE or SEL_FLUX, for each region called `region`; `centre` is
 * that of torques. */
sel_status sel_measure_regions(sel_output *output, sel_request_kind kind, const char *region,
                               const sel_point *centre, sel_error *error);

/* The sums of the answers: force and torque in user's units, per unit depth in 2-D, where only
 * torque[2] is not zero; the rest as in sel_request. */
typedef struct sel_force_sum {
    double force[3], torque[3], change[3], size;
} sel_force_sum;
sel_force_sum sel_measure_sum_force(const sel_requests *answers);

/* ---- samples that are kept of all rows ---- */

/* A longer record is thinned to every second sample: 8 MB for each series at most. */
enum { SEL_MOST_SAMPLES = 1 << 20, SEL_MOST_SERIES = 5 };

typedef struct sel_record {
    int series;
    uint64_t count;
    uint64_t stride, skipped;   /* every stride-th sample is kept */
    double *v[SEL_MOST_SERIES]; /* the system gives memory when it is written */
} sel_record;

/* Memory for so many series, in the output's arena. */
sel_status sel_record_open(sel_output *output, int series, sel_record *record, sel_error *error);
/* Adds a number to each series. */
void sel_record_add(sel_record *record, const double *sample);
/* As sel_output_kind.keep. A checkpoint may lack the last series, which is then zero. */
void sel_record_keep(sel_record *record, sel_checkpoint *checkpoint);

/* ---- mean, deviation and dominant frequency of a sampled signal ---- */

/* The mean of value[0..n); NaN for n = 0. */
double sel_signal_mean(const double *value, size_t n);

/* Root mean square of the deviations from the mean; NaN for n = 0. */
double sel_signal_rms(const double *value, size_t n);

/* The frequency, in cycles per unit of `time`, of the strongest oscillation of a signal sampled at
 * rising times. NaN where there is none: fewer than 16 samples, less than two cycles, or
 * a deviation that is not above `noise`. Within 0.1 % for a sinusoid that is seen for four cycles
 * and sampled eight times in each. */
double sel_signal_frequency(const double *time, const double *value, size_t n, double noise);

#endif
