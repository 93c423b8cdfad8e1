/* version.h -- which Selenite this is. */
#ifndef SEL_VERSION_H
#define SEL_VERSION_H

const char *sel_version(void);  /* "0.1.0" */
const char *sel_commit(void);   /* the source's commit, with "-dirty" after changes; "unknown" */
const char *sel_compiler(void); /* "gcc 12.2.0" */

#endif
