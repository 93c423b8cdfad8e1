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
    uint64_t *masks; /* walls, then held */
    uint8_t *faces, *staged;
    double *uniform; /* [CUDA_STEPS][apart] of the rules, then a row for each other function */
    double *numbers; /* of derived fields and dt.limit: [MOST_NUMBERS][cells] */
    rule_bad *found;
    int64_t apart, *offset; /* offset[k]: of function k */
    unsigned vary;          /* with what the rules' uniform values do */
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
    cuda_feed rows, others;
    rule_gpu_look view;
} rule_cuda;

static inline const rule_model *rule_cuda_model(const sel_plan *plan) {
    return ((const rule_plan *)plan)->model;
}

/* The fields whose present copy is the second one. */
static inline uint64_t rule_cuda_turns(const rule_cuda *state, int64_t step) {
    return step & 1 ? state->all.model->swapping : 0;
}

/* ---- rule_cuda.c ---- */

/* Data and laws at the present time, of what depends on any of `due`. */
sel_status rule_cuda_evaluate(rule_cuda *state, unsigned due, sel_error *error);
/* Function k, which returns numbers, at the present time: state->numbers. */
sel_status rule_cuda_compute(rule_cuda *state, int k, sel_error *error);

/* ---- rule_march.c ---- */

/* Enqueues state->march.steps steps. */
sel_status rule_march_pass(const rule_cuda *state, int64_t step, sel_error *error);

/* ---- rule_look.c ---- */

/* The state as reads and sums see it: state->view. */
void rule_cuda_set_view(rule_cuda *state);
/* What is conserved, at step 0. */
sel_status rule_cuda_start_sums(rule_cuda *state, sel_error *error);
sel_status rule_cuda_look(sel_state *base, int field, const cuda_look **to, const void **view,
                          sel_error *error);
sel_status rule_cuda_ask(sel_state *base, const sel_request *request, sel_error *error);
void rule_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request);
/* The step by dt.limit. */
sel_status rule_cuda_time_step(sel_state *base, double *dt, sel_error *error);

#endif
