/* fuzz_checkpoint.c -- the reader of checkpoints on any bytes: as they are, when only whole files
 * may pass, and with their CRCs mended, so that what is behind the CRCs is reached too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "engine/io/checkpoint.h"
#include "engine/scene/simulation.h"

static char path[64];

static void write_file(const uint8_t *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(bytes, 1, count, file);
        fclose(file);
    }
}

/* Walks over the blocks and sets their CRCs right; the last one ends the file. */
static void mend(uint8_t *bytes, size_t count) {
    static const uint8_t opening[16] = {'S', 'E', 'L', 'S', 'T', 'A', 'T', 'E',
                                        2,   0,   0,   0,   4,   3,   2,   1};
    uint32_t before = 0;
    size_t at = sizeof opening;
    if (count < at) {
        return;
    }
    memcpy(bytes, opening, at);
    while (count - at >= 64) {
        uint8_t *header = bytes + at;
        uint64_t length;
        memcpy(&length, header + 48, sizeof length);
        at += 64;
        if (length > count - at) {
            length %= count - at + 1;
            memcpy(header + 48, &length, sizeof length);
        }
        const bool last = count - at - length < 64;
        if (last) {
            length = count - at;
            memset(header, 0, 48);
            memcpy(header, "end", 3);
            memcpy(header + 48, &length, sizeof length);
        }
        const uint32_t crc = (uint32_t)crc32_z(0, bytes + at, (size_t)length);
        memcpy(header + 56, &crc, sizeof crc);
        const uint32_t own = (uint32_t)crc32_z(before, header, 60);
        memcpy(header + 60, &own, sizeof own);
        before = crc;
        at += (size_t)length;
        if (last) {
            break;
        }
    }
}

/* Reads as a run that goes on does. */
static void read_blocks(void) {
    static const char *const names[] = {"run",     "standing", "results", "hooks",
                                        "outputs", "files",    "grid",    "state step"};
    sel_checkpoint *from;
    if (sel_checkpoint_open(path, &from, NULL)) {
        return;
    }
    sel_arena *arena = sel_arena_create();
    for (int i = 0; i < 8; i++) {
        if (sel_checkpoint_bytes(from, names[i]) >= 0) {
            int count = 0;
            sel_checkpoint_block(from, names[i]);
            SEL_KEEP(from, count);
            sel_keep_text(from, arena, NULL);
            sel_keep_text(from, arena, NULL);
        }
    }
    sel_arena_destroy(arena);
    sel_checkpoint_close(from);
}

static void read_fields(void) {
    sel_arena *arena = sel_arena_create();
    const sel_state_params params = {path};
    sel_saved_field fields[SEL_MOST_SAVED_FIELDS];
    int count = 0;
    if (arena) {
        arena->limit = 64 << 20;
        if (!sel_saved_fields(arena, &params, (sel_where){NULL, 0}, fields, &count, NULL)) {
            const double x[] = {0.5, -7, 1e300}, y[] = {0.5, 3, -1e300};
            const sel_places at = {.n = 3, .x = x, .y = y};
            double out[3];
            for (int i = 0; i < count; i++) {
                fields[i].component[0]->eval(fields[i].component[0], &at, out, NULL);
            }
        }
        sel_arena_destroy(arena);
    }
}

/* A file that passes does not with one bit flipped, or one byte cut off. */
static void refuse_altered(uint8_t *bytes, size_t count) {
    sel_checkpoint *from;
    write_file(bytes, count);
    if (sel_checkpoint_open(path, &from, NULL)) {
        return;
    }
    sel_checkpoint_close(from);
    const size_t at = crc32_z(0, bytes, count) % count;
    bytes[at] ^= (uint8_t)(1 << at % 8);
    write_file(bytes, count);
    if (!sel_checkpoint_open(path, &from, NULL)) {
        abort();
    }
    bytes[at] ^= (uint8_t)(1 << at % 8);
    write_file(bytes, count - 1);
    if (!sel_checkpoint_open(path, &from, NULL)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    snprintf(path, sizeof path, "/tmp/fuzz_checkpoint_%d.sel", (int)getpid());
    write_file(data, size);
    read_blocks();
    uint8_t *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, data, size);
        mend(copy, size);
        refuse_altered(copy, size);
        write_file(copy, size);
        read_blocks();
        read_fields();
    }
    free(copy);
    unlink(path);
    return 0;
}
