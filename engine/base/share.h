/* share.h -- parts of a task shared among threads, where parts may call a script. */
#ifndef SEL_SHARE_H
#define SEL_SHARE_H

#include <stdint.h>
#include "engine/base/status.h"

/* Does a part of a task in thread 0 <= thread < threads, which may have its own scratch memory. A
 * failed part is repeated, so its incomplete results must not matter; `error` may be NULL. */
typedef sel_status sel_part(void *task, int64_t part, int thread, sel_error *error);

/* Does all parts, in any order. Functions of a script may need the thread that loaded it, so the
 * calling thread (thread 0) then repeats the parts that failed, in order; the first that fails
 * again ends the task with its error. */
sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error);

#endif
