/* opened.h -- the outputs of a run under way: what output.c and kept.c share. */
#ifndef SEL_OPENED_H
#define SEL_OPENED_H

#include "engine/output/kind.h"

typedef struct opened_output {
    const sel_output_kind *kind;
    const char *name;
    const sel_output_common *common;
    void *self;
    int64_t written; /* the last step; -1: none */
    bool under_way;  /* `requests` have been started and not taken */
    bool concluded;
    sel_requests requests;
} opened_output;

struct sel_outputs {
    const sel_output_context *context;
    sel_output_files files;
    int count;
    opened_output *v;

    /* Of what is under way. */
    int64_t step;
    double time;
    bool last;

    double waited; /* seconds, for the backend */
};

#endif
