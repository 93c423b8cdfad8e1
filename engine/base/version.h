/* version.h -- version, commit and compiler of this build. */
#ifndef SEL_VERSION_H
#define SEL_VERSION_H

const char *sel_version(void);  /* "0.1.0" */
const char *sel_commit(void);   /* "a1b2c3d", "a1b2c3d-dirty" with local changes, or "unknown" */
const char *sel_compiler(void); /* "gcc 12.2.0" */

#endif
