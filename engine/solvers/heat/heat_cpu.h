/* heat_cpu.h -- the loops of one precision, compiled for each x86-64 level. */
#ifndef HEAT_CPU_H
#define HEAT_CPU_H

#include "engine/solvers/heat/heat.h"

typedef struct heat_loops {
    void (*row)(const heat_view *v, int64_t y, int64_t z);
    void (*touch)(const heat_view *v, int64_t i, double b, double s);
} heat_loops;

#endif
