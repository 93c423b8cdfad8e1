/* aqua_rain.h -- how much rain a run brings, known before it starts. */
#ifndef AQUA_RAIN_H
#define AQUA_RAIN_H

#include "engine/aqua/aqua.h"

typedef struct aqua_rain_sum {
    double volume;        /* m3, on all free cells in the run */
    double millimetres;   /* that, over their area */
    double mean, largest; /* mm/h */
    int64_t samples;      /* 0: as the steps will sum it up; else it is an estimate of so many */
    bool endless;         /* the run has no last step: only the rates are known */
} aqua_rain_sum;

/* Rain that depends on time or on place alone is summed up step by step or cell by cell, other rain
 * is sampled. With the controls as they are at the start. False where there is no rain, or it has
 * no value somewhere. */
bool aqua_rain_measure(const aqua_plan *plan, aqua_rain_sum *sum);

/* Warns of rates that are hardly meant as mm/h. */
void aqua_rain_warn(const aqua_plan *plan, sel_error *warnings);

#endif
