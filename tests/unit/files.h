/* files.h -- directories of tests, reading files whole, and a limit on their size that stands for a
 * full disk. */
#ifndef FILES_H
#define FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_ROOM = 64 };

/* A new directory. */
static inline void make_directory(char path[DIRECTORY_ROOM]) {
    const size_t length = (size_t)snprintf(path, DIRECTORY_ROOM, "/tmp/selenite_test_");
    memset(path + length, 'X', 6); /* what mkdtemp replaces */
    path[length + 6] = 0;
    assert_non_null(mkdtemp(path));
}

static inline int remove_entry(const char *path, const struct stat *about, int kind,
                               struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

/* A directory and all that is in it. */
static inline void remove_directory(const char *path) {
    assert_int_equal(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Set-up and tear-down of a group of tests that work in a directory of their own. */
static inline int enter_directory(void **state) {
    static char path[DIRECTORY_ROOM];
    make_directory(path);
    *state = path;
    return chdir(path);
}

static inline int leave_directory(void **state) {
    int status = chdir("/");
    remove_directory(*state);
    return status;
}

/* The file's bytes with a NUL behind them; freed by the caller. NULL: no such file. */
static inline char *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = calloc((size_t)length + 1, 1);
    assert_int_equal(fread(bytes, 1, (size_t)length, file), length);
    fclose(file);
    if (size) {
        *size = (size_t)length;
    }
    return bytes;
}

/* Writes beyond `bytes` fail from now on; RLIM_INFINITY lifts the limit. */
static inline void limit_files(rlim_t bytes) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#endif
