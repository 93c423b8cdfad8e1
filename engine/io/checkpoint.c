/* checkpoint.c -- the file that a run goes on from: named blocks of bytes, each with its CRC. */
#include "engine/io/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "engine/file.h"

typedef struct opening {
    char magic[8];
    uint32_t version, order;
} opening;

typedef struct block_header {
    char name[SEL_BLOCK_NAME];
    uint64_t bytes;
    uint32_t crc, header_crc;
} block_header;
_Static_assert(sizeof(opening) == 16 && sizeof(block_header) == 64, "the file has no padding");

static const opening expected = {"SELSTATE", SEL_CHECKPOINT_VERSION, 0x01020304};
static const char last_block[] = "end";

typedef struct block {
    char name[SEL_BLOCK_NAME];
    uint64_t start, bytes;
} block;

struct sel_checkpoint {
    char *path;
    FILE *file;
    bool loads;
    sel_error failure;

    /* The present block. */
    block now;
    uint64_t done;   /* its bytes that were moved */
    uint32_t crc;    /* of them */
    uint32_t before; /* the CRC of the block in front of it */

    block *blocks; /* loading: all that the file holds */
    int count, room;
};

/* ---- failures ---- */

void sel_checkpoint_fail(sel_checkpoint *checkpoint, sel_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!checkpoint->failure.status) {
        sel_fail(&checkpoint->failure, status, "%s", text);
    }
}

void sel_checkpoint_take(sel_checkpoint *checkpoint, const sel_error *error) {
    if (error->status) {
        sel_checkpoint_fail(checkpoint, error->status, "%s", error->text);
    }
}

sel_status sel_checkpoint_status(const sel_checkpoint *checkpoint, sel_error *error) {
    const sel_error *failure = &checkpoint->failure;
    return failure->status ? sel_fail(error, failure->status, "%s", failure->text) : SEL_OK;
}

static void cannot_write(sel_checkpoint *checkpoint) {
    sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "cannot write %s: %s", checkpoint->path,
                        strerror(errno));
}

static void damaged(sel_checkpoint *checkpoint, const char *what) {
    sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: %s", checkpoint->path, what);
}

/* ---- opening ---- */

static sel_checkpoint *make(const char *path, bool loads) {
    sel_checkpoint *made = calloc(1, sizeof *made);
    if (made) {
        made->path = strdup(path);
        made->loads = loads;
    }
    if (made && !made->path) {
        free(made);
        made = NULL;
    }
    return made;
}

static void put(sel_checkpoint *checkpoint, const void *bytes, size_t count) {
    if (!checkpoint->failure.status && fwrite(bytes, 1, count, checkpoint->file) != count) {
        cannot_write(checkpoint);
    }
}

/* False at the end of the file, or where it cannot be read. */
static bool get(sel_checkpoint *checkpoint, void *bytes, size_t count) {
    return fread(bytes, 1, count, checkpoint->file) == count;
}

sel_status sel_checkpoint_create(const char *path, sel_checkpoint **made, sel_error *error) {
    *made = NULL;
    sel_checkpoint *checkpoint = make(path, false);
    if (!checkpoint) {
        return sel_fail_memory(error, "a checkpoint", sizeof *checkpoint);
    }
    checkpoint->file = sel_file_begin(path);
    if (!checkpoint->file) {
        cannot_write(checkpoint);
    } else {
        put(checkpoint, &expected, sizeof expected);
    }
    sel_status status = sel_checkpoint_status(checkpoint, error);
    if (status) {
        sel_checkpoint_close(checkpoint);
        return status;
    }
    *made = checkpoint;
    return SEL_OK;
}

static uint32_t crc_of(uint32_t crc, const void *bytes, size_t count) {
    return (uint32_t)crc32_z(crc, bytes, count);
}

static uint32_t header_crc(const block_header *header, uint32_t before) {
    return crc_of(before, header, offsetof(block_header, header_crc));
}

static uint32_t crc_of_file(sel_checkpoint *checkpoint, uint64_t bytes, bool *whole) {
    enum { ROOM = 1 << 20 };
    char *buffer = malloc(ROOM);
    uint32_t crc = 0;
    *whole = buffer != NULL;
    while (bytes > 0 && *whole) {
        const size_t part = bytes < ROOM ? (size_t)bytes : ROOM;
        *whole = get(checkpoint, buffer, part);
        crc = crc_of(crc, buffer, *whole ? part : 0);
        bytes -= part;
    }
    free(buffer);
    return crc;
}

static bool list_block(sel_checkpoint *checkpoint, const block_header *header, uint64_t start) {
    if (checkpoint->count == checkpoint->room) {
        const int room = 2 * checkpoint->room + 32;
        block *blocks = realloc(checkpoint->blocks, (size_t)room * sizeof *blocks);
        if (!blocks) {
            sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "%s: no memory to read it",
                                checkpoint->path);
            return false;
        }
        checkpoint->blocks = blocks;
        checkpoint->room = room;
    }
    block *to = &checkpoint->blocks[checkpoint->count++];
    memcpy(to->name, header->name, sizeof to->name);
    to->start = start;
    to->bytes = header->bytes;
    return true;
}

static bool is_name(const char name[SEL_BLOCK_NAME]) {
    return name[0] && name[SEL_BLOCK_NAME - 1] == '\0' && sel_is_plain(name);
}

/* Reads a header and checks its block; false behind the last one, or after a failure. */
static bool check_block(sel_checkpoint *checkpoint, uint64_t *at, uint64_t size) {
    block_header header;
    bool whole;
    if (!get(checkpoint, &header, sizeof header)) {
        return damaged(checkpoint, "it ends too early"), false;
    }
    *at += sizeof header;
    if (header.header_crc != header_crc(&header, checkpoint->before) || !is_name(header.name) ||
        header.bytes > size - *at) {
        return damaged(checkpoint, "a header of a block, or its length"), false;
    }
    const uint32_t crc = crc_of_file(checkpoint, header.bytes, &whole);
    if (!whole || crc != header.crc) {
        return damaged(checkpoint, header.name), false;
    }
    if (strcmp(header.name, last_block) == 0) {
        if (*at + header.bytes != size) {
            damaged(checkpoint, "there are bytes behind its end");
        }
        return false;
    }
    checkpoint->before = crc;
    const bool listed = list_block(checkpoint, &header, *at);
    *at += header.bytes;
    return listed;
}

static void check_file(sel_checkpoint *checkpoint) {
    opening begin;
    const off_t size = fseeko(checkpoint->file, 0, SEEK_END) ? -1 : ftello(checkpoint->file);
    uint64_t at = sizeof begin;
    rewind(checkpoint->file);
    if (size < 0 || !get(checkpoint, &begin, sizeof begin) ||
        memcmp(begin.magic, expected.magic, sizeof begin.magic) != 0) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is no checkpoint", checkpoint->path);
        return;
    }
    if (begin.order != expected.order) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE,
                            "%s: is damaged, or of a machine with another order of bytes",
                            checkpoint->path);
    } else if (begin.version != expected.version) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE,
                            "%s: has version %u of the format, this program reads version %u",
                            checkpoint->path, begin.version, expected.version);
    }
    while (!checkpoint->failure.status && check_block(checkpoint, &at, (uint64_t)size)) {
    }
}

sel_status sel_checkpoint_open(const char *path, sel_checkpoint **opened, sel_error *error) {
    *opened = NULL;
    sel_checkpoint *checkpoint = make(path, true);
    if (!checkpoint) {
        return sel_fail_memory(error, "a checkpoint", sizeof *checkpoint);
    }
    sel_status status = sel_file_open(path, &checkpoint->file, error);
    if (!status) {
        check_file(checkpoint);
        status = sel_checkpoint_status(checkpoint, error);
    }
    if (status) {
        sel_checkpoint_close(checkpoint);
        return status;
    }
    *opened = checkpoint;
    return SEL_OK;
}

/* ---- blocks ---- */

bool sel_checkpoint_loads(const sel_checkpoint *checkpoint) {
    return checkpoint->loads;
}

const char *sel_checkpoint_path(const sel_checkpoint *checkpoint) {
    return checkpoint->path;
}

static const block *find(const sel_checkpoint *checkpoint, const char *name) {
    for (int k = 0; k < checkpoint->count; k++) {
        if (strncmp(checkpoint->blocks[k].name, name, SEL_BLOCK_NAME - 1) == 0) {
            return &checkpoint->blocks[k];
        }
    }
    return NULL;
}

int64_t sel_checkpoint_bytes(const sel_checkpoint *checkpoint, const char *name) {
    const block *found = find(checkpoint, name);
    return found ? (int64_t)found->bytes : -1;
}

uint64_t sel_checkpoint_left(const sel_checkpoint *checkpoint) {
    return checkpoint->now.bytes - checkpoint->done;
}

/* The header of a block is written when its bytes are known. */
static void end_block(sel_checkpoint *checkpoint) {
    if (!checkpoint->now.name[0] || checkpoint->failure.status) {
        return;
    }
    if (checkpoint->loads) {
        if (sel_checkpoint_left(checkpoint) > 0) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: block '%s' is longer than it may be",
                                checkpoint->path, checkpoint->now.name);
        }
        return;
    }
    block_header header = {.bytes = checkpoint->done, .crc = checkpoint->crc};
    memcpy(header.name, checkpoint->now.name, sizeof header.name);
    header.header_crc = header_crc(&header, checkpoint->before);
    checkpoint->before = checkpoint->crc;
    if (fseeko(checkpoint->file, (off_t)checkpoint->now.start, SEEK_SET)) {
        cannot_write(checkpoint);
    }
    put(checkpoint, &header, sizeof header);
    if (fseeko(checkpoint->file, 0, SEEK_END)) {
        cannot_write(checkpoint);
    }
}

void sel_checkpoint_block(sel_checkpoint *checkpoint, const char *name) {
    static const block_header empty;
    end_block(checkpoint);
    checkpoint->now = (block){.bytes = 0};
    checkpoint->done = 0;
    checkpoint->crc = 0;
    if (checkpoint->failure.status) {
        return;
    }
    if (!checkpoint->loads) {
        snprintf(checkpoint->now.name, sizeof checkpoint->now.name, "%s", name);
        checkpoint->now.start = (uint64_t)ftello(checkpoint->file);
        put(checkpoint, &empty, sizeof empty);
        return;
    }
    const block *found = find(checkpoint, name);
    if (!found || fseeko(checkpoint->file, (off_t)found->start, SEEK_SET)) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: holds no block '%s'", checkpoint->path,
                            name);
        return;
    }
    checkpoint->now = *found;
}

void sel_keep(sel_checkpoint *checkpoint, void *bytes, size_t count) {
    if (!checkpoint->loads) {
        put(checkpoint, bytes, count);
        checkpoint->crc = crc_of(checkpoint->crc, bytes, count);
        checkpoint->done += count;
        return;
    }
    if (!checkpoint->failure.status && count > sel_checkpoint_left(checkpoint)) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: block '%s' is shorter than it must be",
                            checkpoint->path, checkpoint->now.name);
    }
    if (!checkpoint->failure.status && !get(checkpoint, bytes, count)) {
        damaged(checkpoint, "it ends too early");
    }
    if (checkpoint->failure.status) {
        memset(bytes, 0, count);
        return;
    }
    checkpoint->done += count;
}

sel_status sel_checkpoint_move(void *checkpoint, void *bytes, size_t count, sel_error *error) {
    sel_keep(checkpoint, bytes, count);
    return sel_checkpoint_status(checkpoint, error);
}

void sel_keep_text(sel_checkpoint *checkpoint, const char *text) {
    uint64_t length = strlen(text);
    SEL_KEEP(checkpoint, length);
    sel_keep(checkpoint, (void *)(uintptr_t)text, (size_t)length);
}

char *sel_kept_text(sel_checkpoint *checkpoint) {
    uint64_t length = 0;
    SEL_KEEP(checkpoint, length);
    if (!checkpoint->failure.status && length > sel_checkpoint_left(checkpoint)) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: a text of block '%s' is too long",
                            checkpoint->path, checkpoint->now.name);
    }
    length = checkpoint->failure.status ? 0 : length;
    char *text = malloc((size_t)length + 1);
    if (!text) {
        sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "%s: no memory to read it",
                            checkpoint->path);
        return NULL;
    }
    sel_keep(checkpoint, text, (size_t)length);
    text[length] = '\0';
    return text;
}

/* ---- the end ---- */

/* Names are on the disk when their folder is. */
static void sync_folder(const char *path) {
    char *copy = strdup(path);
    const int folder = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    free(copy);
}

sel_status sel_checkpoint_commit(sel_checkpoint *checkpoint, const char *before, uint64_t *bytes,
                                 sel_error *error) {
    sel_checkpoint_block(checkpoint, last_block);
    end_block(checkpoint);
    checkpoint->now = (block){.bytes = 0};
    *bytes = (uint64_t)ftello(checkpoint->file);
    if (!checkpoint->failure.status &&
        (fflush(checkpoint->file) || fsync(fileno(checkpoint->file)))) {
        cannot_write(checkpoint);
    }
    if (!checkpoint->failure.status && before && rename(checkpoint->path, before) &&
        errno != ENOENT) {
        cannot_write(checkpoint);
    }
    sel_status status = sel_checkpoint_status(checkpoint, error);
    if (!status) {
        status = sel_file_end(checkpoint->file, checkpoint->path, NULL, error);
        checkpoint->file = NULL;
        sync_folder(checkpoint->path);
    }
    return status;
}

void sel_checkpoint_close(sel_checkpoint *checkpoint) {
    if (!checkpoint) {
        return;
    }
    if (checkpoint->file && checkpoint->loads) {
        fclose(checkpoint->file);
    } else if (checkpoint->file) {
        sel_file_end(checkpoint->file, checkpoint->path, "it was not finished", NULL);
    }
    free(checkpoint->blocks);
    free(checkpoint->path);
    free(checkpoint);
}
