/* program_pack.h -- programs and the data that they look up, gathered into one block of memory
 * that may be copied anywhere (see engine/physics/program_packed.h).
 */
#ifndef SEL_PROGRAM_PACK_H
#define SEL_PROGRAM_PACK_H

#include "engine/physics/program_packed.h"
#include "engine/program.h"

typedef struct sel_pack sel_pack;

/* NULL: no memory. The programs must live as long as the pack. */
sel_pack *sel_pack_create(void);
void sel_pack_destroy(sel_pack *pack);

/* True when the data of all its look-ups can be packed: not those of a look-up made from C. */
bool sel_pack_can_hold(const sel_program *program);

/* The number of a program, which is added when it is not there yet; data that several programs look
 * up are there once. -1: it cannot be packed, or there is no memory. */
int sel_pack_add(sel_pack *pack, const sel_program *program);

/* The block: its bytes, what is in it, and the tables of one that lies at `block` (aligned to 16
 * bytes, on any device). */
size_t sel_pack_bytes(const sel_pack *pack);
void sel_pack_write(const sel_pack *pack, void *block);
sel_packed sel_pack_tables(const sel_pack *pack, const void *block);

#endif
