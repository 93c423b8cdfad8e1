/* emergency.h -- end the process in the middle of a call, with what must not be lost. */
#ifndef SEL_EMERGENCY_H
#define SEL_EMERGENCY_H

#include "engine/status.h"

/* Registers what is done first, on the thread that ends the process, while others are stopped at
 * any place; NULL takes it back. Does not return when the process is ending. */
void sel_emergency_set(void (*call)(void *data, const sel_error *error), void *data);

/* Does what is registered, prints the error on standard error and ends the process with its
 * status. */
_Noreturn void sel_emergency_end(const sel_error *error);

#endif
