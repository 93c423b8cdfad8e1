/* checkpoint.h -- the file from which a run is resumed: named blocks of bytes, each with its CRC.
 *
 * The same functions save and load: what is kept moves to the file, or from it. A failure stays,
 * and what is moved after it is left alone (loading: zeroed), so that callers ask once at the end.
 *
 * The file is "SELSTATE", version and byte order (16 bytes), then blocks: name (48 bytes, zeros
 * behind it), bytes, CRC of them, CRC of this header (64 bytes in all), and the bytes. The CRC of a
 * header starts from that of the block before, so that no block can be lost or exchanged; the last
 * block is called "end" and has no bytes. Numbers are those of the machine.
 */
#ifndef SEL_CHECKPOINT_H
#define SEL_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "engine/base/arena.h"

enum { SEL_CHECKPOINT_VERSION = 2, SEL_BLOCK_NAME = 48 };

typedef struct sel_checkpoint {
    char *path;
    bool loads;
    sel_error failure; /* the first; calls that may fail, of a device say, leave theirs here, and
                          are not made after another failure */
    FILE *file;        /* saving */
    const char *bytes; /* loading: the whole file, mapped */
    uint64_t size;

    /* The present block. */
    char name[SEL_BLOCK_NAME];
    uint64_t start;  /* of its header (saving), of its bytes (loading) */
    uint64_t left;   /* loading: its bytes that were not moved yet */
    uint64_t done;   /* saving: those that were */
    uint32_t crc;    /* of them */
    uint32_t before; /* the CRC of the block in front of it */
} sel_checkpoint;

/* Begins a file that appears under its name when sel_checkpoint_commit is called. */
sel_status sel_checkpoint_create(const char *path, sel_checkpoint **made, sel_error *error);

/* Opens a file and checks all of it: SEL_BAD_FILE where it is not a checkpoint, of another version,
 * or damaged, even by one bit. */
sel_status sel_checkpoint_open(const char *path, sel_checkpoint **opened, sel_error *error);

/* Loading: the bytes of a block; -1: there is none. */
int64_t sel_checkpoint_bytes(const sel_checkpoint *checkpoint, const char *name);

/* Loading: the name of block k; false: there are fewer. */
bool sel_checkpoint_name(const sel_checkpoint *checkpoint, int k, char name[SEL_BLOCK_NAME]);

/* Ends the present block and begins another. A block that the file does not hold, or one that was
 * not read to its end, is a failure. */
void sel_checkpoint_block(sel_checkpoint *checkpoint, const char *name);

/* Moves bytes of the present block. */
void sel_keep(sel_checkpoint *checkpoint, void *bytes, size_t count);
#define SEL_KEEP(checkpoint, value) sel_keep(checkpoint, &(value), sizeof(value))

/* Moves a text and its length. Returns `text`; loading, where that is ignored, a copy in the arena,
 * "" after a failure. */
const char *sel_keep_text(sel_checkpoint *checkpoint, sel_arena *arena, const char *text);

/* Fails with the message, unless it has failed already. */
void sel_checkpoint_fail(sel_checkpoint *checkpoint, sel_status status, const char *format, ...)
    SEL_PRINTF(3, 4);

/* Hands on the failure. */
sel_status sel_checkpoint_status(const sel_checkpoint *checkpoint, sel_error *error);

/* Writes the end, has it all on the disk, keeps an older file of that name as `before`
 * (NULL: replaces it), and gives the file its name. Sets the number of its bytes. */
sel_status sel_checkpoint_commit(sel_checkpoint *checkpoint, const char *before, uint64_t *bytes,
                                 sel_error *error);

/* Closes; what was not committed is removed. NULL is fine. */
void sel_checkpoint_close(sel_checkpoint *checkpoint);

#endif
