/* checkpoint.h -- the file from which a run is resumed: named blocks of bytes, each with its CRC.
 *
 * One function both saves and loads: sel_keep copies bytes to the file or from it. The first
 * failure is remembered. After it nothing is saved and everything loaded is zero, so that callers
 * check once, at the end.
 *
 *     file:   "SELSTATE" | version u32 | byte order u32 | block | block | ... | block "end"
 *     block:  name[48] | bytes u64 | CRC of the bytes u32 | CRC of this header u32 | the bytes
 *
 * The CRCs are CRC-32 as in zlib. The CRC of a header covers name, size and data CRC; its initial
 * value is the data CRC of the block before (0 for the first block), so that a missing or exchanged
 * block is found. Names are padded with zeros; block "end" has no bytes. Numbers are in the byte
 * order of the machine, and `byte order` is 0x01020304.
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
    bool loads;        /* true: loads; false: saves */
    sel_error failure; /* the first failure; callers put errors of their own here, such as those of
                          a device, and stop after any failure */
    FILE *file;        /* saving */
    const char *bytes; /* loading: the whole file, mapped */
    uint64_t size;

    /* The present block. */
    char name[SEL_BLOCK_NAME];
    uint64_t start;  /* saving: the position of its header; loading: of the next bytes */
    uint64_t left;   /* loading: bytes not loaded yet */
    uint64_t done;   /* saving: number of bytes saved so far */
    uint32_t crc;    /* saving: CRC of the bytes saved so far */
    uint32_t before; /* saving: data CRC of the block before */
} sel_checkpoint;

/* Begins a checkpoint; the file appears as `path` when sel_checkpoint_commit is called. */
sel_status sel_checkpoint_create(const char *path, sel_checkpoint **made, sel_error *error);

/* Opens a checkpoint and checks all of it. SEL_BAD_FILE: the file is no checkpoint, is of another
 * version or byte order, or is damaged, even by one bit. */
sel_status sel_checkpoint_open(const char *path, sel_checkpoint **opened, sel_error *error);

/* Loading: the size of the block `name` in bytes; -1: there is no such block. */
int64_t sel_checkpoint_bytes(const sel_checkpoint *checkpoint, const char *name);

/* Loading: the name of block k = 0, 1, ... before block "end"; false: there is no such block. */
bool sel_checkpoint_name(const sel_checkpoint *checkpoint, int k, char name[SEL_BLOCK_NAME]);

/* Ends the present block and begins the block `name`. Blocks may be loaded in any order. Loading
 * fails if the file has no such block, or if the present block was not loaded to its end. */
void sel_checkpoint_block(sel_checkpoint *checkpoint, const char *name);

/* Saves `count` bytes to the present block, or loads them from it. */
void sel_keep(sel_checkpoint *checkpoint, void *bytes, size_t count);
#define SEL_KEEP(checkpoint, value) sel_keep(checkpoint, &(value), sizeof(value))

/* Saves a text with its length and returns `text`; or ignores `text` and returns the loaded text,
 * in the arena ("" after a failure). */
const char *sel_keep_text(sel_checkpoint *checkpoint, sel_arena *arena, const char *text);

/* Sets the failure, unless there is one already. */
void sel_checkpoint_fail(sel_checkpoint *checkpoint, sel_status status, const char *format, ...)
    SEL_PRINTF(3, 4);

/* Returns the status of the failure, and appends its message to `error`; SEL_OK: there is none. */
sel_status sel_checkpoint_status(const sel_checkpoint *checkpoint, sel_error *error);

/* Writes block "end", flushes the file to the disk, and gives it its name. An older file of that
 * name is renamed to the path `before`; before = NULL: the older file is replaced. *bytes gets the
 * size of the file. */
sel_status sel_checkpoint_commit(sel_checkpoint *checkpoint, const char *before, uint64_t *bytes,
                                 sel_error *error);

/* Closes a checkpoint, and removes a file that was not committed. NULL: does nothing. */
void sel_checkpoint_close(sel_checkpoint *checkpoint);

#endif
