/* commands.h -- commands that need Lua: repl, bench, validate and sweep; and what check and help
 * print of scripts.
 */
#ifndef SEL_COMMANDS_H
#define SEL_COMMANDS_H

#include <stdio.h>
#include "engine/run/prepare.h"
#include "lua/tables/script.h"

/* `check --laws`: prints the program of each function of the scenario, or the reason why it has
 * none. */
void sel_script_print_laws(const sel_scenario *scenario, FILE *to);

/* `help --annotations`: prints the LuaLS annotations that editors read (lua/meta/selenite.lua). */
void sel_annotations(FILE *to);

/* `repl`: reads lines of Lua from standard input until its end, and prints their values. `path`
 * NULL: no scenario. */
sel_status sel_repl(const char *path, sel_script_options options, sel_error *error);

typedef struct sel_bench_options {
    sel_settings settings; /* backend and precision -1: auto; threads 0: all cores */
    int rounds;            /* measurements per case, 1 to SEL_MOST_ROUNDS; their median counts */
    double seconds;        /* of stepping in each measurement */
    const char *only;      /* cases whose name holds this text, in which * stands for any text:
                            * "D2Q9 f32 512x512 periodic trt"; NULL: all cases */
    bool json;             /* print JSON, not a table */
} sel_bench_options;

enum { SEL_MOST_ROUNDS = 31 };

/* `bench`: measures cell updates per second, and prints a row per case. A case that does not fit
 * into memory is left out, with a notice. With several ranks all call it, and rank 0 prints.
 * SEL_BAD_USAGE: no case has such a name. SEL_NO_DEVICE: the backend cannot be used. */
sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error);

typedef struct sel_validate_options {
    sel_settings settings; /* override those of the scenarios */
    const char *scenarios; /* the folder with validation/ and reference/ */
    const char *directory; /* for the results: results.csv, .json, report.html, a folder per case */
    bool chosen;           /* the user chose the directory: it may be a link */
    const char *const
        *cases; /* names, then NULL; empty: all cases, on a CPU without the slow ones */
} sel_validate_options;

/* `validate`: runs the validation cases, and prints a row per quantity.
 * SEL_BAD_SCENARIO: a quantity missed its limit. SEL_BAD_USAGE: an unknown case. SEL_BAD_FILE: the
 * folder cannot be read. SEL_NO_DEVICE: the backend cannot be used. */
sel_status sel_validate(const sel_validate_options *options, sel_error *error);

/* `sweep`: runs a scenario for each combination of parameters, and writes sweep.csv and plots.
 * `words`: the scenario and "name=values" ..., then NULL. `given`: the command's options,
 * "-j", "2", "--quiet", "", then NULL. `backend`: SEL_BACKEND_...; -1: none was chosen.
 * SEL_BAD_USAGE: wrong words. SEL_BAD_SCENARIO: runs failed. SEL_NO_DEVICE: the backend cannot be
 * used. SEL_INTERRUPTED: a signal came. */
sel_status sel_sweep(const char *const *words, const char *const *given, int backend,
                     sel_error *error);

#endif
