/* file.c -- open and read the files that a scenario names; make files without following links. */
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Files of these file systems look regular, but reading them may block or have effects: reading
 * /proc/kmsg blocks and removes lines from the kernel's log. */
static bool is_made_by_kernel(const struct statfs *system) {
    static const unsigned long made[] = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,      DEBUGFS_MAGIC,
                                         TRACEFS_MAGIC,       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
                                         CGROUP2_SUPER_MAGIC, PSTOREFS_MAGIC};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if ((unsigned long)system->f_type == made[i]) {
            return true;
        }
    }
    return false;
}

static sel_status cannot_be_opened(const char *path, sel_error *error) {
    return sel_fail(error, SEL_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
}

void sel_file_close(int descriptor) {
    const int cause = errno;
    if (descriptor >= 0) {
        close(descriptor);
    }
    errno = cause;
}

FILE *sel_file_stream(int descriptor, const char *mode) {
    FILE *file = descriptor >= 0 ? fdopen(descriptor, mode) : NULL;
    if (!file) {
        sel_file_close(descriptor);
    }
    return file;
}

/* The type is checked before opening, since some devices act on being opened, and again after it,
 * since the file may have been replaced in between. */
sel_status sel_file_open(const char *path, FILE **file, sel_error *error) {
    struct stat found;
    struct statfs system;
    *file = NULL;
    if (stat(path, &found) != 0 || statfs(path, &system) != 0) {
        return cannot_be_opened(path, error);
    }
    if (S_ISREG(found.st_mode) && !is_made_by_kernel(&system)) {
        int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (descriptor < 0 || fstat(descriptor, &found) != 0) {
            sel_file_close(descriptor);
            return cannot_be_opened(path, error);
        }
        if (S_ISREG(found.st_mode)) {
            *file = sel_file_stream(descriptor, "rb");
        } else {
            close(descriptor);
        }
    }
    return *file ? SEL_OK
                 : sel_fail(error, SEL_BAD_FILE, "%s: is not a regular file%s", path,
                            S_ISDIR(found.st_mode) ? " but a folder" : "");
}

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
    buffer[used] = 0;
    return SEL_OK;
}

sel_status sel_file_read(const char *path, size_t limit, const char *what, char **bytes,
                         size_t *length, sel_error *error) {
    FILE *file;
    *bytes = NULL;
    *length = 0;
    if (!path) {
        return read_stream(stdin, "standard input", limit, what, bytes, length, error);
    }
    sel_status status = sel_file_open(path, &file, error);
    if (!status) {
        status = read_stream(file, path, limit, what, bytes, length, error);
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
    if (!temporary) {
        errno = ENOMEM;
        return NULL;
    }
    unlink(temporary);
    FILE *file = sel_file_stream(sel_file_create(temporary), "w+b");
    free(temporary);
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
                            wrong && *wrong ? wrong : strerror(cause ? cause : EIO));
}

/* Whether the file begins with `begins`, or is shorter and agrees with its beginning: the process
 * that wrote it may have been killed. */
static bool begins_with(int descriptor, const char *begins) {
    char found[64];
    const size_t most = strlen(begins) < sizeof found ? strlen(begins) : sizeof found;
    const ssize_t count = read(descriptor, found, most);
    return count >= 0 && memcmp(found, begins, (size_t)count) == 0;
}

static sel_status may_replace(const char *path, const char *begins, const char *kind,
                              const char *instead, sel_error *error) {
    struct stat found;
    if (lstat(path, &found) != 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? SEL_OK
                   : sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(found.st_mode)) {
        return sel_fail(error, SEL_BAD_FILE,
                        "%s is %s, through which nothing is written; move it away, or %s", path,
                        S_ISLNK(found.st_mode)   ? "a link"
                        : S_ISDIR(found.st_mode) ? "a folder"
                                                 : "no regular file",
                        instead);
    }
    if (found.st_size == 0) {
        return SEL_OK;
    }
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool same = begins_with(descriptor, begins);
    sel_file_close(descriptor);
    return same ? SEL_OK
                : sel_fail(error, SEL_BAD_FILE, "%s is there and is no %s; move it away, or %s",
                           path, kind, instead);
}

sel_status sel_file_may_replace(const char *path, const char *begins, const char *kind,
                                const char *instead, sel_error *error) {
    char *temporary = temporary_name(path);
    if (!temporary) {
        return sel_fail_memory(error, path, strlen(path));
    }
    sel_status status = may_replace(path, begins, kind, instead, error);
    status = status ? status : may_replace(temporary, begins, kind, instead, error);
    free(temporary);
    return status;
}

const char *sel_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
