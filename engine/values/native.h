/* native.h -- machine code for programs: printed as C and compiled by the system's compiler, while
 * the loops of program_kernel.c compute. Both give the same bits. Compiled code is kept in the code
 * cache (engine/base/code_cache.h).
 *
 * $SELENITE_CC: the compiler; programs then wait for it. "0": no compiler. Not set: cc, without
 * waiting. Without a compiler, or without a cache folder, the loops compute everything.
 */
#ifndef SEL_NATIVE_H
#define SEL_NATIVE_H

#include "engine/values/program_row.h"

typedef struct sel_native sel_native;

/* Creates machine code for `programs` programs, without compiling yet. NULL: no memory. */
sel_native *sel_native_create(int programs);
/* Sets program `number`, which must outlive the result; NULL: it is never run. */
void sel_native_add(sel_native *native, int number, const sel_program *program);
/* NULL: does nothing. */
void sel_native_destroy(sel_native *native);

/* Whether the code can be run. Compiling starts when the loops have done enough operations (`done`)
 * that it pays. `leads`: of the processes that share the cache, this one compiles; the others wait
 * for its code. NULL `native`: false. */
bool sel_native_ready(sel_native *native, double done, bool leads);

/* Whether machine code does all instructions of a program; then sel_native_run takes rows of any
 * length. */
bool sel_native_has_all(const sel_native *native, int program);
/* Runs the instructions per place of a program on a row, after sel_native_ready. For a program with
 * `bytes`, the rows of values read and of outputs are uint8_t. */
void sel_native_run(const sel_native *native, int program, const sel_row *row);

#endif
