/* code_cache.c -- the folder of compiled code. */
#include "engine/base/code_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "engine/base/file.h"

/* What stands behind the code in a file. */
typedef struct seal {
    uint64_t bytes;
    uint32_t crc, mark;
} seal;

enum { MARK = 0x43454c53 /* SLEC */, MOST = 64 << 20 };

/* FNV-1a, with the end of a string as its last byte. */
static uint64_t mix(uint64_t hash, const char *text) {
    do {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    } while (*text++);
    return hash;
}

static seal seal_of(const void *code, size_t bytes) {
    return (seal){bytes, (uint32_t)crc32_z(0, code, bytes), MARK};
}

void sel_code_cache_path(const char *folder, const char *const *text, int count, const char *ending,
                         char path[SEL_PATH_ROOM]) {
    uint64_t hash[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    char place[SEL_PATH_ROOM - 64] = "";
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    for (int k = 0; k < 2 * count; k++) {
        hash[k % 2] = mix(hash[k % 2], text[k / 2]);
    }
    path[0] = '\0';
    int length = folder          ? snprintf(place, sizeof place, "%s", folder)
                 : xdg && *xdg   ? snprintf(place, sizeof place, "%s", xdg)
                 : home && *home ? snprintf(place, sizeof place, "%s/.cache", home)
                                 : 0;
    if (length <= 0 || length >= (int)sizeof place - 16) {
        return;
    }
    mkdir(place, 0777);
    if (!folder) {
        strcat(place, "/selenite");
        mkdir(place, 0777);
    }
    snprintf(path, SEL_PATH_ROOM, "%s/%016llx%016llx.%s", place, (unsigned long long)hash[0],
             (unsigned long long)hash[1], ending);
}

void *sel_code_cache_read(const char *path, size_t *bytes) {
    sel_error none = {.status = SEL_OK};
    char *all = NULL;
    size_t length = 0;
    seal found = {.bytes = 0};
    if (*path && !sel_file_read(path, MOST, "", &all, &length, &none) && length >= sizeof found) {
        *bytes = length - sizeof found;
        memcpy(&found, all + *bytes, sizeof found);
        const seal right = seal_of(all, *bytes);
        if (memcmp(&found, &right, sizeof found) == 0) {
            return all;
        }
    }
    free(all);
    return NULL;
}

bool sel_code_cache_write(const char *path, const void *code, size_t bytes) {
    const seal end = seal_of(code, bytes);
    sel_error none = {.status = SEL_OK};
    char own[SEL_PATH_ROOM + 16]; /* others may write the same at the same time */
    snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
    FILE *file = *path ? sel_file_begin(own) : NULL;
    if (!file) {
        return false;
    }
    const bool whole =
        fwrite(code, 1, bytes, file) == bytes && fwrite(&end, sizeof end, 1, file) == 1;
    return !sel_file_end(file, own, whole ? NULL : "short", &none) && rename(own, path) == 0;
}
