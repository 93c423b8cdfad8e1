/* file.c -- read a whole file into memory; make files without following links. */
#include "engine/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int sel_file_create(const char *path) {
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static char *temporary_name(const char *path) {
    char *name;
    return asprintf(&name, "%s.tmp", path) < 0 ? NULL : name;
}

FILE *sel_file_begin(const char *path) {
    char *temporary = temporary_name(path);
    FILE *file = NULL;
    if (!temporary) {
        errno = ENOMEM;
        return NULL;
    }
    unlink(temporary);
    int descriptor = sel_file_create(temporary);
    if (descriptor >= 0) {
        file = fdopen(descriptor, "w+b");
    }
    int cause = errno;
    if (descriptor >= 0 && !file) {
        close(descriptor);
        unlink(temporary);
    }
    free(temporary);
    errno = cause;
    return file;
}

sel_status sel_file_end(FILE *file, const char *path, const char *wrong, sel_error *error) {
    int cause = errno;
    char *temporary = temporary_name(path);
    bool whole = file && temporary && !ferror(file) && !(wrong && *wrong);
    if (file && fclose(file) != 0 && whole) {
        whole = false;
        cause = errno;
    }
    if (whole && rename(temporary, path) != 0) {
        whole = false;
        cause = errno;
    }
    if (!whole && file && temporary) {
        unlink(temporary);
    }
    free(temporary);
    return whole ? SEL_OK
                 : sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", path,
                            wrong && *wrong ? wrong : strerror(cause));
}

const char *sel_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
