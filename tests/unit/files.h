/* files.h -- reading files whole, and a limit on their size that stands for a full disk. */
#ifndef FILES_H
#define FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

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
