/* levels.c -- which of the compiled tables of kernels this processor can run. */
#include "engine/machine/levels.h"

#include "engine/machine.h"

#if defined(__x86_64__)

int sel_level(int k) {
    const int level = sel_machine_level(), best = level ? 4 - level : 3;
    return best + k < 3 ? best + k : -1;
}

const char *sel_level_name(void) {
    static const char *const names[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};
    return sel_level(0) < 0 ? "unsupported" : names[sel_level(0)];
}

#else

int sel_level(int k) {
    return k == 0 ? 0 : -1;
}

const char *sel_level_name(void) {
    return "any";
}

#endif
