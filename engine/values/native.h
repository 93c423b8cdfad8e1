/* native.h -- programs for rows as machine code: printed as C, and translated by the system's
 * compiler while the loops of program_kernel.c go on. What was translated is kept
 * (engine/base/code_cache.h). The values are the same bits.
 *
 * $SELENITE_CC names the compiler, and has programs wait for it; 0: none is used; else it is cc.
 * Where there is none, or no folder to keep code in, the loops do all.
 */
#ifndef SEL_NATIVE_H
#define SEL_NATIVE_H

#include "engine/values/program_row.h"

typedef struct sel_native sel_native;

/* Of so many programs, to be added (NULL: it is not run), which must live as long. NULL: no memory.
 */
sel_native *sel_native_create(int programs);
void sel_native_add(sel_native *native, int number, const sel_program *program);
void sel_native_destroy(sel_native *native); /* NULL is fine */

/* Whether the code is there. It is made when the loops have done so many operations that it pays;
 * of several processes that share the folder by the one that leads. NULL: no. */
bool sel_native_ready(sel_native *native, double done, bool leads);

/* The instructions per place of a program on a row, when the code is there; of any length where
 * the code does all of them. Of a program with `bytes` the rows of what is read and of outputs are
 * uint8_t. */
bool sel_native_has_all(const sel_native *native, int program);
void sel_native_run(const sel_native *native, int program, const sel_row *row);

#endif
