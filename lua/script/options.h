/* options.h -- how a scenario script is loaded: the options that the user gives. */
#ifndef SEL_SCRIPT_OPTIONS_H
#define SEL_SCRIPT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sel_script_options {
    const char *const *assignments; /* "name=value" for sel.params, then NULL; NULL: none */
    bool trust;                     /* lift the sandbox: os, io, debug, package, no limits */
    double seconds;                 /* --script-limit: wall time that the script may take, and each
                                     * of its functions for one value; 0: 10 */
    bool one_clock;                 /* all functions share the time that the script left */
    bool parameters_only;           /* stop after sel.params: for --help */
    const char *text;               /* of the script, named `path`; NULL: the file is read */
    size_t text_length;
    bool quiet; /* drop what the sandboxed script prints */
    /* Called once for each function that Lua must evaluate, while the scenario is used: one line
     * with place, reason and cost. NULL: no notices. */
    void (*notice)(void *data, const char *text);
    void *notice_data;
} sel_script_options;

#endif
