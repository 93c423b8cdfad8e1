/* share.h -- parts of a task shared out among threads, where parts may ask a script. */
#ifndef SEL_SHARE_H
#define SEL_SHARE_H

#include <stdint.h>
#include "engine/base/status.h"

/* Does a part of a task in thread 0 <= thread < threads, which may have scratch of its own. A part
 * that failed may be done again: it leaves nothing then that matters. */
typedef sel_status sel_part(void *task, int64_t part, int thread, sel_error *error);

/* Does all parts, in any order. Functions of a script may need the thread that loaded it, so what
 * fails elsewhere is done again by the calling thread (thread 0), in order; what fails there ends
 * it, with the error of the first part that failed so. */
sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error);

#endif
