/* script.h -- read a scenario script into C structs: all that the rest of Selenite sees of Lua. */
#ifndef SEL_SCRIPT_H
#define SEL_SCRIPT_H

#include <stdio.h>
#include "engine/simulation.h"

typedef struct sel_script_options {
    int count;                      /* assignments "name=value" from the command line */
    const char *const *assignments; /* for sel.params */
    bool trust;                     /* lift the sandbox: os, io, debug, package, no limits */
    double seconds;                 /* --script-limit: wall time that the script may take, and each
                                     * of its functions for one value; 0: 10 */
    bool one_clock;                 /* the functions together may take what the script has left */
    bool parameters_only;           /* stop after sel.params: for --help */
    const char *text;               /* of the script, which `path` only names; NULL: read it */
    size_t text_length;
    bool quiet; /* what the sandboxed script prints is dropped */
    /* Told once about each function that Lua must evaluate, while the scenario is used: one line
     * with place, reason and cost. NULL: nobody is told. */
    void (*notice)(void *data, const char *text);
    void *notice_data;
} sel_script_options;

/* Runs the script at `path` ("-": standard input) and fills the structs from what it returns.
 * All mistakes of the tables are reported together, one per line, each with file:line.
 * SEL_BAD_SCENARIO, SEL_BAD_FILE (cannot be read) or SEL_BAD_USAGE (a bad assignment).
 * Functions of the scenario stay callable until sel_scenario_destroy, from one thread.
 * A script that does not come back from a call a second after its limit ends the process
 * (engine/process.h), but not with `trust`. */
sel_status sel_script_load(const char *path, const sel_script_options *options,
                           sel_scenario **scenario, sel_error *error);

/* Prints the program of each function of the scenario, or why it has none. */
void sel_script_print_laws(const sel_scenario *scenario, FILE *to);

/* Writes the LuaLS annotations that editors read (lua/meta/selenite.lua). */
void sel_annotations(FILE *to);

#endif
