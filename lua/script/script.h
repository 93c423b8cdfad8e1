/* script.h -- read a scenario script into C structs. The rest of Selenite sees of Lua only this. */
#ifndef SEL_SCRIPT_H
#define SEL_SCRIPT_H

#include <stdio.h>
#include "engine/run/prepare.h"
#include "engine/scene/simulation.h"

typedef struct sel_script_options {
    const char *const *assignments; /* "name=value" for sel.params, then NULL; NULL: none */
    bool trust;                     /* lift the sandbox: os, io, debug, package, no limits */
    double seconds;                 /* --script-limit: wall time that the script may take, and each
                                     * of its functions for one value; 0: 10 */
    bool one_clock;                 /* all functions together may take the script's time left */
    bool parameters_only;           /* stop after sel.params: for --help */
    const char *text;               /* of the script, named `path`; NULL: the file is read */
    size_t text_length;
    bool quiet; /* drop what the sandboxed script prints */
    /* Called once for each function that Lua must evaluate, while the scenario is used: one line
     * with place, reason and cost. NULL: no notices. */
    void (*notice)(void *data, const char *text);
    void *notice_data;
} sel_script_options;

/* Runs the script at `path` ("-": standard input) and fills the structs from its result.
 * All mistakes of the tables are reported together, one per line, each with file:line.
 * SEL_BAD_SCENARIO, SEL_BAD_FILE (cannot be read) or SEL_BAD_USAGE (a bad assignment).
 * Functions of the scenario stay callable until sel_scenario_destroy, from one thread.
 * A script that does not come back from a call a second after its limit ends the process
 * (engine/base/process.h), but not with `trust`. */
sel_status sel_script_load(const char *path, const sel_script_options *options,
                           sel_scenario **scenario, sel_error *error);

/* `selenite repl`: reads lines of Lua from standard input until its end, and prints their values.
 * `path` NULL: no scenario. */
sel_status sel_repl(const char *path, sel_script_options options, sel_error *error);

/* Prints the program of each function of the scenario, or the reason why it has none. */
void sel_script_print_laws(const sel_scenario *scenario, FILE *to);

/* Writes the LuaLS annotations that editors read (lua/meta/selenite.lua). */
void sel_annotations(FILE *to);

/* ---- `selenite bench`: speed of the kernels, and the fraction of the copy bandwidth ---- */

typedef struct sel_bench_options {
    sel_settings settings; /* the backend, threads, device and ranks; -1 and 0: auto, all cores */
    int rounds;     /* measurements per case, of which the median counts; at most SEL_MOST_ROUNDS */
    double seconds; /* of stepping in each measurement */
    const char *only; /* cases whose name, "D2Q9 f32 512x512 periodic trt" or "aqua f32 1024x1024
                         wet fill smooth", holds it, where * stands for any text; NULL: all */
    bool json;
} sel_bench_options;

enum { SEL_MOST_ROUNDS = 31 };

/* Measures kernels, precisions and grids on a backend, and its copy bandwidth beside them in each
 * round, so that a busy machine slows both. Prints a line as soon as a case is done, or JSON. Cases
 * that do not fit into memory are left out, with a line that says so. SEL_BAD_USAGE when no case
 * is called so, SEL_NO_DEVICE when the backend is not there. Of several ranks, which all call it,
 * rank 0 prints how they compare with one. */
sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error);

/* ---- `selenite validate`: run the validation cases and judge them ---- */

typedef struct sel_validate_options {
    sel_settings settings; /* override those of the scenarios */
    const char *scenarios; /* the folder with validation/ and reference/ */
    const char
        *directory; /* of the results: results.csv, results.json, report.html, a folder per case */
    bool chosen;    /* the user chose the directory: it may be a link */
    const char *const
        *cases; /* then NULL; none: all, on the CPU without those that are slow there */
} sel_validate_options;

/* Prints a row per quantity. Fails with SEL_BAD_SCENARIO when some missed their gates,
 * SEL_BAD_USAGE for an unknown case (with the list), SEL_BAD_FILE when the folder cannot be read,
 * SEL_NO_DEVICE when the backend asked for is not there. */
sel_status sel_validate(const sel_validate_options *options, sel_error *error);

/* ---- `selenite sweep`: a run for each combination of parameters ---- */

/* Runs what has not ended yet, a process for each run, and writes sweep.csv into the directory, and
 * plots. `words` are the scenario and "name=values" ..., `given` the command's options: "-j", "2",
 * "--quiet", ""; both end with NULL. SEL_BAD_USAGE for bad ranges, names and rows, SEL_NO_DEVICE
 * without the backend asked for (-1: none), SEL_BAD_SCENARIO when runs failed, SEL_INTERRUPTED
 * after a signal. */
sel_status sel_sweep(const char *const *words, const char *const *given, int backend,
                     sel_error *error);

#endif
