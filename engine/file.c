/* file.c -- read a whole file into memory. */
#include "engine/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sel_status read_stream(FILE *file, const char *path, size_t limit, const char *what,
                              char **bytes, size_t *length, sel_error *error) {
    size_t capacity = 1 << 14, used = 0;
    char *buffer = malloc(capacity);
    while (buffer) {
        used += fread(buffer + used, 1, capacity - used, file);
        if (used < capacity || used > limit) {
            break;
        }
        char *grown = realloc(buffer, capacity *= 2);
        if (!grown) {
            free(buffer);
        }
        buffer = grown;
    }
    *bytes = buffer;
    *length = used;
    if (!buffer) {
        return sel_fail_memory(error, path, capacity);
    }
    if (ferror(file)) {
        return sel_fail(error, SEL_BAD_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    if (used > limit) {
        return sel_fail(error, SEL_BAD_FILE, "%s: is larger than %zu MiB; %s", path, limit >> 20,
                        what);
    }
    return SEL_OK;
}

sel_status sel_file_read(const char *path, size_t limit, const char *what, char **bytes,
                         size_t *length, sel_error *error) {
    *bytes = NULL;
    *length = 0;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file) {
        return sel_fail(error, SEL_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    }
    sel_status status = read_stream(file, path, limit, what, bytes, length, error);
    if (file != stdin) {
        fclose(file);
    }
    return status;
}

const char *sel_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
