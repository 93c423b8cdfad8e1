/* kind.h -- the interface of a kind of output (sel_output_kind), an open output (sel_output), and
 * the helpers that kinds share: checks, requests, frames, samples at points, forces, records. */
#ifndef SEL_OUTPUT_KIND_H
#define SEL_OUTPUT_KIND_H

#include <pthread.h>
#include "engine/base/folder.h"
#include "engine/output/output.h"

/* The fields that tables of outputs begin with. */
#define SEL_OUT_COMMON_ROWS \
    SEL_OUT_SCHEDULE_ROWS(SEL_OUT_FROM_STEP_HELP, SEL_OUT_FROM_TIME_HELP), SEL_OUT_AT_ROW

#define SEL_OUT_FROM_STEP_HELP "First step that is written; the last state is written in any case."
#define SEL_OUT_FROM_TIME_HELP "First time that is written; the last state is written in any case."

/* The same without `at`, with the help of from_step and from_time. */
#define SEL_OUT_SCHEDULE_ROWS(from_step_help, from_time_help)                                      \
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
        SEL_ROW(sel_output_common, from_step, INT, from_step_help),                                \
        SEL_ROW(sel_output_common, from_time, NUMBER, from_time_help, .preset = SEL_NOT_GIVEN)

/* Not of out.probe, where `at` has the points. */
#define SEL_OUT_AT_ROW                                                                     \
    SEL_ROW(sel_output_common, at, CHOICE,                                                 \
            "\"end\": only the last state is written; \"due\": as every or interval say.", \
            .choices = sel_output_moments)

#define SEL_OUT_FIELDS_HELP \
    "Fields of the results (listed with each solver), or components such as velocity_x."
#define SEL_OUT_FIELD_HELP \
    "A field of the results, a vector by its magnitude, or a component such as velocity_x."

/* ---- kinds ---- */

enum { SEL_COLUMN_ROOM = 96 };

/* A field that an output names: the whole field or one component. */
typedef struct sel_pick {
    const char *name;
    int field;                                         /* index in solver->fields */
    int field_components;                              /* of the whole field */
    int first, components;                             /* the picked range of components */
    char columns[SEL_MAX_COMPONENTS][SEL_COLUMN_ROOM]; /* "pressure", or "velocity_x" ... */
    /* Values per cell in .vti files. VTK's vectors have three components; in 2-D the third is zero.
     * Tensors keep the order of sel_field_rank. */
    int stored;
    /* Values per cell that sel_output_read requests: `stored` for a whole field,
     * `field_components` for one component. */
    int read;
} sel_pick;

typedef struct sel_picks {
    int count;
    sel_pick *v;
} sel_picks;

/* The requests that an output sends to the backend each time it is due. */
typedef struct sel_requests {
    int count, room;
    sel_request *v;
} sel_requests;

/* An open output; the first member of each kind's own struct. */
typedef struct sel_output {
    const struct sel_output_kind *kind;
    const sel_output_context *context;
    sel_arena *arena;   /* memory until the output closes; only for the run's thread */
    const void *params; /* the struct that kind->table describes */
    const char *name;   /* of its files */
    sel_output_files *files;
    sel_picks picks;       /* the fields that SEL_RESULT rows of the table name, in their order */
    sel_csv *csv;          /* kinds with rows: NAME.csv */
    int64_t step;          /* of the state that is requested, taken, or the last one */
    double time;           /* of that step */
    sel_requests requests; /* added by kind->open, answered before kind->take */
    int64_t written;       /* the last step that was written; -1: none */
    bool under_way;        /* `requests` have been started and not taken */
    bool concluded;        /* kind->conclude has been called */
    int kept;              /* its number, from 1, in the resumed checkpoint; 0: it is new */
} sel_output;

/* The check of an output before the run: what it refers to, and where mistakes are reported. */
typedef struct sel_output_checker {
    const sel_simulation *simulation;
    const sel_domain *domain;
    const sel_table *table;
    sel_where where;   /* line of the script that is reported with mistakes */
    sel_error *error;  /* gets a line per mistake */
    sel_status status; /* SEL_OK: no mistake so far */
} sel_output_checker;

/* Steps between the rows of CSV files when the script does not say. */
enum { SEL_CSV_PERIOD = 100 };

/* One kind of output. Its functions are called in this order:
 *
 *     check    before the run
 *     open     once: adds requests, writes the header
 *     ask      each time it is due; then the requests are started
 *     take     when they are answered: the run may have advanced meanwhile
 *     conclude after the last step
 *     close
 *
 * The context, the files and the params outlive the output. */
typedef struct sel_output_kind {
    const sel_table *table;
    size_t size;        /* of its struct, which begins with a sel_output; 0: the run writes it */
    int64_t period;     /* default steps between writings; 0: at the end only */
    bool only_when_due; /* the last state is taken only if it is due: else it would bias a mean */
    bool once;          /* a run has at most one */
    bool all_rows;      /* written from step 0 on: from_step and from_time begin the statistics */
    bool stands_alone;  /* each file tells what it holds: parameters may change as a run goes on */
    /* Writes NAME.csv: `open` adds columns to the header, `take` values to a row, both after
     * step,time. */
    bool rows;
    /* Reports all mistakes of the parameters. NULL: only the fields are checked. */
    void (*check)(sel_output_checker *checker, const void *params);
    /* Appends what of its numbers will be wrong. NULL: nothing. */
    void (*warn)(const sel_domain *domain, const sel_variant *output, sel_error *warnings);
    /* Bytes of one file; *packed: the file is compressed, and this is its size before. NULL: small
     * files, or a size that is not known before the run. */
    double (*bytes)(const sel_plan *plan, const void *params, bool *packed);
    /* The buffers that the requests point to must live until `close`. */
    sel_status (*open)(sel_output *output, sel_error *error);
    /* Sets the buffers of the requests. NULL: those set by `open` are used each time. */
    sel_status (*ask)(sel_output *output, sel_error *error);
    /* Writes the answers, or submits them to the writer. */
    sel_status (*take)(sel_output *output, sel_error *error);
    /* Saves or loads what the output needs to resume, besides the files that it has written. NULL:
     * nothing. */
    void (*keep)(sel_output *output, sel_checkpoint *checkpoint);
    /* Writes statistics, at the run's last step. NULL: none. */
    sel_status (*conclude)(sel_output *output, sel_error *error);
    /* Frees what the kind's own struct holds outside of the arena. The writer is idle. Also called
     * if `open` failed or was not reached. NULL: nothing to free. */
    void (*close)(sel_output *output);
} sel_output_kind;

extern const sel_output_kind sel_vtk_kind, sel_probe_kind, sel_profile_kind, sel_reduce_kind,
    sel_balance_kind, sel_force_kind, sel_wall_kind, sel_flux_kind, sel_average_kind,
    sel_spectrum_kind, sel_pores_kind, sel_picture_kind, sel_grid_kind, sel_checkpoint_kind;

/* The kind whose parameters `table` describes. */
const sel_output_kind *sel_output_kind_of(const sel_table *table);

/* The name of an output's files: the one given, else the name of the kind. */
const char *sel_output_name(const sel_variant *output);

/* The common fields by which an output is written: without from_step and from_time if the kind
 * writes all rows. */
sel_output_common sel_output_schedule(const sel_output_kind *kind, const sel_output_common *common);

/* The step that from_step and from_time stand for. */
int64_t sel_output_from(const sel_output_common *common, const sel_clock *clock);

/* Output number `i`, from 0, of a simulation. */
const sel_variant *sel_output_variant(const sel_simulation *simulation, int i);

/* ---- fields ---- */

/* Name of field number `k`, from 0, in the parameters of an output; NULL: k is past the last. */
const char *sel_output_field(const sel_table *table, const void *params, int k);

/* Resolves a field's name, which has been checked. The name must outlive the pick. */
sel_pick sel_pick_of(const sel_solver *solver, int dims, const char *name);

/* Reduces values[cells][pick.read] in place to values[cells]: the picked component, or the
 * magnitude of a vector. */
void sel_pick_scalar(const sel_pick *pick, float *values, int64_t cells);

/* Adds the names of the picks' columns to a CSV header, with the suffix "_NUMBER" unless `number`
 * is 0. */
void sel_picks_columns(const sel_picks *picks, int number, sel_csv *csv);

/* ---- checks ---- */

/* Reports a mistake: file and line, the table's name, and what is wrong. Returns false; so do the
 * checks below after they have reported a mistake. */
bool sel_output_refuse(sel_output_checker *checker, const char *format, ...) SEL_PRINTF(2, 3);

/* Reports fields that the solver does not have, names given twice, and an empty list. */
bool sel_picks_check(sel_output_checker *checker, const sel_names *names);

/* Reports columns that would have one name: of two fields, by components, or of a field and of
 * `others` (ended by NULL), which the file has beside them. Fields that are not known are left to
 * sel_picks_check. `arrays`: fields are whole arrays, and only `others` count. */
void sel_columns_check(sel_output_checker *checker, const sel_names *fields, bool arrays,
                       const char *const *others);

/* sel_picks_check for all fields that the parameters name. A field of kind STRING must be a scalar,
 * a vector, or a component. */
void sel_fields_check(sel_output_checker *checker, const void *params);

/* Reports a point with the wrong number of coordinates or outside the domain. Messages call the
 * point `what`. */
bool sel_point_check(sel_output_checker *checker, const char *what, const sel_point *point);

/* Reports a `within` that is not a box, or that contains no cell's centre. NULL is valid. Messages
 * call it `what`. */
bool sel_within_check(sel_output_checker *checker, const char *what,
                      const struct sel_shape *within);

/* The same, and reports a box without free cells; NULL is the whole domain. */
bool sel_free_within_check(sel_output_checker *checker, const struct sel_shape *within);

/* The cells whose centres lie in `within`; NULL: all cells. */
sel_box sel_within_box(const sel_grid *grid, const struct sel_shape *within);

/* The region of cell i of a box, counted with x fastest; 0: the cell is free. */
int sel_box_region(const sel_domain *domain, const sel_box *box, int64_t i);

/* ---- while the run is under way ---- */

/* Appends a copy of `request` to output->requests. */
sel_status sel_output_request(sel_output *output, const sel_request *request, sel_error *error);

/* Appends a SEL_READ request per pick for a box of cells. The caller sets request.to to a buffer
 * [cells][pick.read]. */
sel_status sel_output_read(sel_output *output, const sel_box *box, int precision, sel_error *error);

/* Starts a request, or all requests of an output, and waits for the answers. This stalls the run:
 * only for hooks, opening and checkpoints. */
sel_status sel_answer(const sel_output_context *context, sel_request *request, sel_error *error);
sel_status sel_output_answer(sel_output *output, sel_error *error);

/* Begins a CSV row: step,time. */
void sel_output_row(sel_output *output);

/* Sets the result NAME.WHAT of run.json. */
sel_status sel_output_result(const sel_output *output, const char *what, double value,
                             sel_error *error);

/* Warns of "ABOUT: TEXT", once for each `about`. */
void sel_output_warn(const sel_output *output, const char *about, const char *format, ...)
    SEL_PRINTF(3, 4);

/* Creates NAME.csv as a whole at the end of the run; `write` adds all lines. */
sel_status sel_output_table(const sel_output *output, const void *data,
                            void (*write)(const void *data, sel_csv *csv), sel_error *error);

/* Saves or loads name(output, 0), ... up to NULL: what an output is made of. Others than those in
 * the checkpoint are a failure, "the output 'wake' had other WHAT". */
void sel_output_keep_names(sel_output *output, const char *(*name)(const sel_output *output, int i),
                           const char *what, sel_checkpoint *checkpoint);

/* Saves the parameters of an output, whose number is that of its block, or compares those loaded
 * with the present ones: of an output that has written something a change of what its numbers mean
 * is a failure. A schedule without statistics may change; `notes` gets a line. */
void sel_output_keep_meaning(sel_output *output, int number, sel_checkpoint *checkpoint,
                             sel_error *notes);

/* "due", "end", NULL: what `at` may be. */
extern const char *const sel_output_moments[];

/* "sum", "min", "max", "mean", "l2", NULL: the names of SEL_OF_SUM ... */
extern const char *const sel_reduce_ops[];

/* Component c of an answered SEL_REDUCE request; `op`: SEL_OF_SUM ... */
double sel_reduce_value(const sel_request *request, int op, int c);

/* Seconds of wall time between checkpoints; 0: `output` is no out.checkpoint, or is written by
 * steps or simulated time. */
double sel_checkpoint_seconds(const sel_variant *output);

/* ---- frames ----
 *
 * Outputs that write one file per time, NAME/NAME_STEP.ENDING. The run's thread requests a copy of
 * the fields; the writer's thread writes the file:
 *
 *     sel_frames_ask -> backend fills frame->values -> sel_frames_take -> writer: frames->write
 *          ^                                                                   |
 *          +--------------------------- frames->spare <------------------------+
 */

typedef struct sel_frames sel_frames;

/* One file to write. */
typedef struct sel_frame {
    sel_frames *frames;
    struct sel_frame *next; /* in the list of spare frames */
    int64_t step;
    double time;
    FILE *file;     /* with several ranks: the written file (sel_file_begin), not yet named */
    void *values[]; /* per pick: [cells of the box][read] */
} sel_frame;

/* Writes a frame to `path`, on the writer's thread. May overwrite the frame's values. */
typedef sel_status sel_frame_writer(sel_frame *frame, const char *path, sel_error *error);

/* An output of frames; the first member of each kind's own struct. */
struct sel_frames {
    sel_output base;
    const char *ending;
    const char *beside; /* ending of a second file that `write` creates; NULL: none */
    sel_box box;        /* the cells that are read */
    int precision;
    sel_frame_writer *write;
    sel_frame *requested; /* requested and not yet taken; NULL: none */

    /* Frames that have been written. Their memory is reused, because the system takes as long to
     * provide fresh pages as a backend to fill them. `lock` guards the list. */
    pthread_mutex_t lock;
    sel_frame *spare;
};

/* Creates the directory NAME, and adds the requests. */
sel_status sel_frames_open(sel_frames *frames, const char *ending, const sel_box *box,
                           int precision, sel_frame_writer *write, sel_error *error);

/* The path of a frame's file with an ending, relative to the run's directory. */
void sel_frame_file(const sel_frame *frame, const char *ending, char path[SEL_PATH_ROOM]);

/* The path of a frame's file with frames->ending, including the run's directory. */
void sel_frame_path(const sel_frame *frame, char path[2 * SEL_PATH_ROOM]);

/* Ready-made ask, take and close of a sel_output_kind. */
sel_status sel_frames_ask(sel_output *output, sel_error *error);
sel_status sel_frames_take(sel_output *output, sel_error *error);
void sel_frames_close(sel_output *output);

/* ---- fields at points between cell centres ---- */

/* The two cells between whose centres a coordinate lies along one axis, and the weight of the upper
 * one, 0 to 1. The weight is 0 at the centre of the lower cell (up to round-off) and beyond the
 * last centre. */
typedef struct sel_interval {
    int64_t cell[2];
    double upper;
} sel_interval;

/* The cells about `index`, a coordinate in cells (sel_index). Periodic axes wrap. */
sel_interval sel_interval_about(const sel_grid *grid, int axis, double index);

/* Reports a point of the domain that lies in a solid, where all fields are 0. Messages call it
 * `what`. */
void sel_free_check(sel_output_checker *checker, const char *what, const sel_point *point);

/* Reports an empty list, and points outside the domain or in a solid. */
void sel_points_check(sel_output_checker *checker, const sel_points *at);

/* Fields at points, by multilinear interpolation between the centres of the cells about each point.
 *
 * - Solid cells are left out; the weights of the others are scaled up to the sum 1.
 * - A point in a solid has the value 0.
 * - Periodic axes wrap.
 * - Beyond the last centre before a face or a solid, the value of the last centre holds. With
 *   `walls`, if the law there gives a value (sel_solver.wall_value), values are linear from the
 *   last centre to the wall. Of two walls the nearer one counts. */
typedef struct sel_sample sel_sample;

/* Prepares samples of the output's picks at `count` points of the domain, and adds the requests for
 * the cells about them. */
sel_status sel_sample_create(sel_output *output, const sel_point *points, int count, bool walls,
                             sel_sample **sample, sel_error *error);

/* The distance between two points. */
double sel_line_length(const sel_point *from, const sel_point *to);

enum { SEL_MOST_POINTS = 10000000 };

/* Where sample p of `count` lies on a line, as a fraction of its length:
 *
 *     |--x--|--x--|--x--|    the middle of part p of `count` equal parts
 *     x--------x--------x    with `ends`: equidistant, from end to end
 */
double sel_line_part(int p, int count, bool ends);

/* Samples a line at *count points (sel_line_part), with walls. *count = 0: chosen so that samples
 * are as far apart as cells; receives the number. */
sel_status sel_sample_line(sel_output *output, const sel_point *from, const sel_point *to,
                           bool ends, int *count, sel_point **points, sel_sample **sample,
                           sel_error *error);

/* Interpolates from the answers. Laws on walls are evaluated at the output's time. */
sel_status sel_sample_take(sel_sample *sample, sel_error *error);

/* Component c of a pick at a point, as of the last sel_sample_take. */
double sel_sample_value(const sel_sample *sample, int pick, int point, int c);

/* ---- force on regions, and flux through them ----
 *
 * Several regions may share a name: they are measured together. */

/* Reports a name that no region has, and suggests the most similar one. */
void sel_measure_check(sel_output_checker *checker, const char *region);

/* Adds a request of `kind`, SEL_FORCE or SEL_FLUX, per region called `region`. Torques are about
 * `centre`. */
sel_status sel_measure_regions(sel_output *output, sel_request_kind kind, const char *region,
                               const sel_point *centre, sel_error *error);

/* Sums over answered SEL_FORCE requests, in user's units, in 2-D per unit depth (there only
 * torque[2] is not zero). change and size: see force_change and force_size of sel_request. */
typedef struct sel_force_sum {
    double force[3], torque[3], change[3], size;
} sel_force_sum;
sel_force_sum sel_measure_sum_force(const sel_requests *answers);

/* ---- records: time series kept in memory for statistics at the end ---- */

/* A full record is thinned to every second sample; a series takes 8 MB at most. */
enum { SEL_MOST_SAMPLES = 1 << 20, SEL_MOST_SERIES = 8 };

typedef struct sel_record {
    int series;
    uint64_t count;
    uint64_t stride, skipped; /* every stride-th sample is kept; samples since the last one kept */
    double *v[SEL_MOST_SERIES]; /* [SEL_MOST_SAMPLES]; pages become real when they are written */
} sel_record;

/* Allocates `series` series in the output's arena. */
sel_status sel_record_open(sel_output *output, int series, sel_record *record, sel_error *error);
/* Appends sample[series], one number per series. */
void sel_record_add(sel_record *record, const double *sample);
/* Saves or loads a record. Series that a checkpoint lacks are filled with NaN. */
void sel_record_keep(sel_record *record, sel_checkpoint *checkpoint);

/* ---- mean, deviation, extremes and dominant frequency of a sampled signal ---- */

/* The mean of value[0..n); NaN for n = 0. */
double sel_signal_mean(const double *value, size_t n);

/* Root mean square of the deviations from the mean; NaN for n = 0. */
double sel_signal_rms(const double *value, size_t n);

/* The smallest and the largest of value[0..n); NaN for n = 0. */
double sel_signal_min(const double *value, size_t n);
double sel_signal_max(const double *value, size_t n);

/* The frequency, in cycles per unit of `time`, of the strongest oscillation of a signal sampled at
 * rising times. NaN: fewer than 16 samples, less than two cycles, or a deviation of at most
 * `noise`. Accurate to 0.1 % for a sinusoid of at least four cycles with eight samples per cycle.
 */
double sel_signal_frequency(const double *time, const double *value, size_t n, double noise);

/* The power spectral density of a signal sampled at n rising times, one-sided, by Welch's method:
 * the mean over `windows` Hann windows that overlap by half, the mean of each removed. Its integral
 * over the frequency is the variance. In units of value^2 `time`, at the frequencies 0, 1, ...
 * times sel_signal_spacing, in cycles per unit of `time`; their number, the size of density[], is
 * sel_signal_frequencies, 0: the samples are too few for so many windows. false: no memory. */
size_t sel_signal_frequencies(size_t n, int windows);
double sel_signal_spacing(const double *time, size_t n, int windows);
bool sel_signal_density(const double *time, const double *value, size_t n, int windows,
                        double *density);

#endif
