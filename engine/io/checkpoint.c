/* checkpoint.c -- the file from which a run is resumed: named blocks of bytes, each with its CRC.
 */
#include "engine/io/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "engine/base/file.h"

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

sel_status sel_checkpoint_status(const sel_checkpoint *checkpoint, sel_error *error) {
    const sel_error *failure = &checkpoint->failure;
    return failure->status ? sel_fail(error, failure->status, "%s", failure->text) : SEL_OK;
}

static void checkpoint_cannot_write(sel_checkpoint *checkpoint) {
    sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "cannot write %s: %s", checkpoint->path,
                        strerror(errno));
}

static void damaged(sel_checkpoint *checkpoint, const char *what) {
    sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: %s", checkpoint->path, what);
}

/* ---- opening ---- */

static sel_checkpoint *checkpoint_make(const char *path, sel_error *error) {
    sel_checkpoint *made = calloc(1, sizeof *made);
    if (made) {
        made->path = strdup(path);
    }
    if (!made || !made->path) {
        free(made);
        made = NULL;
        sel_fail_memory(error, "a checkpoint", sizeof *made);
    }
    return made;
}

/* Returns the checkpoint in *opened; closes it if it has failed. `checkpoint` is NULL if
 * sel_fail_memory has been called, whose status is SEL_NO_DEVICE. */
static sel_status end_opening(sel_checkpoint *checkpoint, sel_checkpoint **opened,
                              sel_error *error) {
    sel_status status = checkpoint ? sel_checkpoint_status(checkpoint, error) : SEL_NO_DEVICE;
    if (status) {
        sel_checkpoint_close(checkpoint);
    }
    *opened = status ? NULL : checkpoint;
    return status;
}

static void checkpoint_put(sel_checkpoint *checkpoint, const void *bytes, size_t count) {
    if (!checkpoint->failure.status && fwrite(bytes, 1, count, checkpoint->file) != count) {
        checkpoint_cannot_write(checkpoint);
    }
}

sel_status sel_checkpoint_create(const char *path, sel_checkpoint **made, sel_error *error) {
    sel_checkpoint *checkpoint = checkpoint_make(path, error);
    if (checkpoint) {
        checkpoint->file = sel_file_begin(path);
        if (!checkpoint->file) {
            checkpoint_cannot_write(checkpoint);
        }
        checkpoint_put(checkpoint, &expected, sizeof expected);
    }
    return end_opening(checkpoint, made, error);
}

static uint32_t checkpoint_crc(uint32_t crc, const void *bytes, size_t count) {
    return (uint32_t)crc32_z(crc, bytes, count);
}

static uint32_t header_crc(const block_header *header, uint32_t before) {
    return checkpoint_crc(before, header, offsetof(block_header, header_crc));
}

static block_header header_at(const sel_checkpoint *checkpoint, uint64_t at) {
    block_header header;
    memcpy(&header, checkpoint->bytes + at, sizeof header);
    return header;
}

static void check_blocks(sel_checkpoint *checkpoint) {
    const uint64_t size = checkpoint->size;
    uint64_t at = sizeof(opening);
    uint32_t before = 0;
    for (bool last = false; !last;) {
        if (size - at < sizeof(block_header)) {
            damaged(checkpoint, "it ends too early");
            return;
        }
        const block_header header = header_at(checkpoint, at);
        at += sizeof header;
        if (header.header_crc != header_crc(&header, before) || header.bytes > size - at ||
            !header.name[0] || header.name[SEL_BLOCK_NAME - 1] || !sel_is_plain(header.name)) {
            damaged(checkpoint, "a header of a block, or its length");
            return;
        }
        before = checkpoint_crc(0, checkpoint->bytes + at, header.bytes);
        if (before != header.crc) {
            damaged(checkpoint, header.name);
            return;
        }
        at += header.bytes;
        last = strcmp(header.name, last_block) == 0;
    }
    if (at != size) {
        damaged(checkpoint, "there are bytes behind its end");
    }
}

static void check_file(sel_checkpoint *checkpoint) {
    opening begin;
    if (checkpoint->size < sizeof begin ||
        memcmp(checkpoint->bytes, expected.magic, sizeof expected.magic) != 0) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is no checkpoint", checkpoint->path);
        return;
    }
    memcpy(&begin, checkpoint->bytes, sizeof begin);
    if (begin.order != expected.order) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE,
                            "%s: is damaged, or of a machine with another order of bytes",
                            checkpoint->path);
    } else if (begin.version != expected.version) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE,
                            "%s: has version %u of the format, this program reads version %u",
                            checkpoint->path, begin.version, expected.version);
    } else {
        check_blocks(checkpoint);
    }
}

/* Maps the file into memory and checks it. An empty file cannot be mapped; check_file refuses it.
 */
static void map_file(sel_checkpoint *checkpoint, FILE *file) {
    struct stat found;
    void *bytes = NULL;
    if (fstat(fileno(file), &found) == 0 && found.st_size > 0) {
        checkpoint->size = (uint64_t)found.st_size;
        bytes = mmap(NULL, checkpoint->size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    }
    if (bytes == MAP_FAILED) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: cannot be read: %s", checkpoint->path,
                            strerror(errno));
    } else {
        checkpoint->bytes = bytes;
        checkpoint->loads = true;
        check_file(checkpoint);
    }
}

sel_status sel_checkpoint_open(const char *path, sel_checkpoint **opened, sel_error *error) {
    FILE *file;
    *opened = NULL;
    sel_status status = sel_file_open(path, &file, error);
    if (!status) {
        sel_checkpoint *checkpoint = checkpoint_make(path, error);
        if (checkpoint) {
            map_file(checkpoint, file);
        }
        fclose(file);
        status = end_opening(checkpoint, opened, error);
    }
    return status;
}

/* ---- blocks ---- */

/* The position of the bytes of a block, and their number; 0: there is no such block. */
static uint64_t checkpoint_find(const sel_checkpoint *checkpoint, const char *name,
                                uint64_t *bytes) {
    uint64_t at = sizeof(opening);
    for (;;) {
        const block_header header = header_at(checkpoint, at);
        at += sizeof header;
        *bytes = header.bytes;
        if (strcmp(header.name, last_block) == 0) {
            return 0;
        }
        if (strncmp(header.name, name, SEL_BLOCK_NAME - 1) == 0) {
            return at;
        }
        at += header.bytes;
    }
}

bool sel_checkpoint_name(const sel_checkpoint *checkpoint, int k, char name[SEL_BLOCK_NAME]) {
    uint64_t at = sizeof(opening);
    block_header header;
    for (; k >= 0; k--) {
        header = header_at(checkpoint, at);
        if (strcmp(header.name, last_block) == 0) {
            return false;
        }
        at += sizeof header + header.bytes;
    }
    memcpy(name, header.name, SEL_BLOCK_NAME);
    return true;
}

int64_t sel_checkpoint_bytes(const sel_checkpoint *checkpoint, const char *name) {
    uint64_t bytes;
    return checkpoint_find(checkpoint, name, &bytes) ? (int64_t)bytes : -1;
}

/* Ends the present block. Saving: writes its header, now that size and CRC are known. */
static void end_block(sel_checkpoint *checkpoint) {
    if (checkpoint->left > 0) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: block '%s' is longer than it may be",
                            checkpoint->path, checkpoint->name);
    }
    if (!checkpoint->name[0] || checkpoint->failure.status || checkpoint->loads) {
        return;
    }
    block_header header = {.bytes = checkpoint->done, .crc = checkpoint->crc};
    memcpy(header.name, checkpoint->name, sizeof header.name);
    header.header_crc = header_crc(&header, checkpoint->before);
    checkpoint->before = checkpoint->crc;
    if (fseeko(checkpoint->file, (off_t)checkpoint->start, SEEK_SET)) {
        checkpoint_cannot_write(checkpoint);
    }
    checkpoint_put(checkpoint, &header, sizeof header);
    if (fseeko(checkpoint->file, 0, SEEK_END)) {
        checkpoint_cannot_write(checkpoint);
    }
}

void sel_checkpoint_block(sel_checkpoint *checkpoint, const char *name) {
    static const block_header empty;
    end_block(checkpoint);
    checkpoint->left = checkpoint->done = 0;
    checkpoint->crc = 0;
    checkpoint->name[0] = '\0';
    if (checkpoint->failure.status) {
        return;
    }
    if (!checkpoint->loads) {
        checkpoint->start = (uint64_t)ftello(checkpoint->file);
        checkpoint_put(checkpoint, &empty, sizeof empty);
    } else if (!(checkpoint->start = checkpoint_find(checkpoint, name, &checkpoint->left))) {
        checkpoint->left = 0;
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: holds no block '%s'", checkpoint->path,
                            name);
        return;
    }
    memset(checkpoint->name, 0, sizeof checkpoint->name);
    snprintf(checkpoint->name, sizeof checkpoint->name, "%s", name);
}

void sel_keep(sel_checkpoint *checkpoint, void *bytes, size_t count) {
    if (!checkpoint->loads) {
        checkpoint_put(checkpoint, bytes, count);
        checkpoint->crc = checkpoint_crc(checkpoint->crc, bytes, count);
        checkpoint->done += count;
        return;
    }
    if (count > checkpoint->left) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: block '%s' is shorter than it must be",
                            checkpoint->path, checkpoint->name);
    }
    if (checkpoint->failure.status) {
        memset(bytes, 0, count);
        return;
    }
    memcpy(bytes, checkpoint->bytes + checkpoint->start, count);
    checkpoint->start += count;
    checkpoint->left -= count;
}

const char *sel_keep_text(sel_checkpoint *checkpoint, sel_arena *arena, const char *text) {
    uint64_t length = checkpoint->loads ? 0 : strlen(text);
    SEL_KEEP(checkpoint, length);
    if (!checkpoint->loads) {
        sel_keep(checkpoint, (void *)(uintptr_t)text, (size_t)length);
        return text;
    }
    if (length > checkpoint->left) {
        sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: a text of block '%s' is too long",
                            checkpoint->path, checkpoint->name);
        return "";
    }
    char *copy = sel_arena_alloc(arena, (size_t)length + 1);
    if (!copy) {
        sel_checkpoint_fail(checkpoint, SEL_NO_DEVICE, "%s: no memory to read it",
                            checkpoint->path);
        return "";
    }
    sel_keep(checkpoint, copy, (size_t)length);
    if (strlen(copy) != length || !sel_is_plain(copy)) {
        damaged(checkpoint, checkpoint->name);
        return "";
    }
    return copy;
}

/* ---- the end ---- */

/* Flushes the folder of `path`: only then is the file's name on the disk. */
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
    checkpoint->name[0] = '\0';
    *bytes = (uint64_t)ftello(checkpoint->file);
    if (!checkpoint->failure.status &&
        (fflush(checkpoint->file) || fsync(fileno(checkpoint->file)))) {
        checkpoint_cannot_write(checkpoint);
    }
    if (!checkpoint->failure.status && before && rename(checkpoint->path, before) &&
        errno != ENOENT) {
        checkpoint_cannot_write(checkpoint);
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
    if (checkpoint->bytes) {
        munmap((void *)(uintptr_t)checkpoint->bytes, checkpoint->size);
    }
    if (checkpoint->file) {
        sel_file_end(checkpoint->file, checkpoint->path, "it was not finished", NULL);
    }
    free(checkpoint->path);
    free(checkpoint);
}
