/* version.c -- version, commit and compiler; apart from other code, since each new commit compiles
 * this file again. */
#include "engine/base/version.h"

#include "selenite_version.h"

const char *sel_version(void) {
    return SEL_VERSION;
}

const char *sel_commit(void) {
    return SEL_COMMIT;
}

const char *sel_compiler(void) {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}
