/* rule_cuda.h -- sel.rule on the device: the state, shared by its host files. */
#ifndef CUDA_RULE_CUDA_H
#define CUDA_RULE_CUDA_H

#include "cuda/machine/backend.h"
#include "cuda/machine/compile.h"
#include "cuda/machine/terms.h"
#include "cuda/rule_gpu.h"

typedef struct rule_cuda {
    rule_state all;
    rule_state *twin; /* on the host; NULL: nothing varies */
    int first_array, end_array;
    rule_tables *tables;
    double *uniform; /* [uniform_steps][]: values that are the same in all cells, by step */
    double *numbers; /* of derived fields and dt.limit: [MOST_NUMBERS][cells] */
    rule_bad *found;
    int64_t uniform_steps;
    unsigned vary; /* with what the rules' uniform values do */
    double sent_dt;
    bool has_odd; /* cells that are not computed like others */
    bool direct;  /* no margins are filled */
    rule_march march;
    cuda_kernel *march_kernel[2]; /* at the borders, inside; NULL: steps are taken one by one */
    double *value;                /* of nodes */
    cuda_terms terms;             /* for the data of look-ups */
    cuda_module *module;
    cuda_kernel **kernel;
    rule_packed *table; /* of each function, where there is no NVRTC, */
    double *slots;      /* and their memory */
    cuda_feed rows;
    rule_gpu_look view;
} rule_cuda;

static inline const rule_model *rule_cuda_model(const sel_plan *plan) {
    return ((const rule_plan *)plan)->model;
}

/* Enqueues state->march.steps steps. */
sel_status rule_march_pass(const rule_cuda *state, int64_t step, sel_error *error);

#endif
