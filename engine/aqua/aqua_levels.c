/* aqua_levels.c -- which of the compiled kernel tables this processor can run. */
#include "engine/aqua/aqua_kernel.h"
#include "engine/machine.h"

#if defined(__x86_64__)

extern const aqua_loops aqua_loops_v2[2], aqua_loops_v3[2], aqua_loops_v4[2];
static const aqua_kernels tables[] = {
    {"x86-64-v4", aqua_loops_v4}, {"x86-64-v3", aqua_loops_v3}, {"x86-64-v2", aqua_loops_v2}};

const aqua_kernels *aqua_kernels_usable(int index) {
    int level = sel_machine_level(), first = level ? 4 - level : 3;
    return first + index < 3 ? &tables[first + index] : NULL;
}

#else

extern const aqua_loops aqua_loops_any[2];
static const aqua_kernels any = {"any", aqua_loops_any};

const aqua_kernels *aqua_kernels_usable(int index) {
    return index == 0 ? &any : NULL;
}

#endif
