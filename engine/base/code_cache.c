/* code_cache.c -- the cache of compiled code: its folder, job folders and files. */
#include "engine/base/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "engine/base/version.h"

/* The checksum that follows the code in a file. */
typedef struct seal {
    uint64_t bytes;
    uint32_t crc, mark;
} seal;

enum { MARK = 0x43454c53 /* SLEC */ };

/* FNV-1a of the text and its terminating 0, so that "ab", "c" and "a", "bc" differ. */
static uint64_t code_mix(uint64_t hash, const char *text) {
    do {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    } while (*text++);
    return hash;
}

static seal code_seal(const void *code, size_t bytes) {
    return (seal){bytes, (uint32_t)crc32_z(0, code, bytes), MARK};
}

/* Whether the file or folder is of the type `type` and only the effective user can change it. */
static bool code_is_own(int descriptor, mode_t type, struct stat *about) {
    return fstat(descriptor, about) == 0 && (about->st_mode & S_IFMT) == type &&
           about->st_uid == geteuid() && !(about->st_mode & (S_IWGRP | S_IWOTH));
}

/* ---- the folder ---- */

/* Removes a job folder, which holds no folders. */
static void code_remove_folder(int folder, const char *name, int job) {
    const int copy = openat(job, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *d; files && (d = readdir(files));) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0) {
            unlinkat(job, d->d_name, 0);
        }
    }
    if (files) {
        closedir(files);
    }
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* Removes the job folders of processes that have ended: nobody holds their locks. */
static void code_remove_left(int folder) {
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *d; files && (d = readdir(files));) {
        const int job =
            strncmp(d->d_name, "job.", 4) == 0
                ? openat(folder, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                : -1;
        if (job >= 0 && flock(job, LOCK_EX | LOCK_NB) == 0) {
            code_remove_folder(folder, d->d_name, job);
        }
        if (job >= 0) {
            close(job);
        }
    }
    if (files) {
        closedir(files);
    }
}

int sel_code_cache_open(const char *folder, char path[SEL_PATH_ROOM]) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat about;
    const int room = SEL_PATH_ROOM - 16;
    const int length = folder               ? snprintf(path, (size_t)room, "%s", folder)
                       : xdg && *xdg == '/' ? snprintf(path, (size_t)room, "%s", xdg)
                       : home && *home == '/' && !(xdg && *xdg)
                           ? snprintf(path, (size_t)room, "%s/.cache", home)
                           : 0;
    if (length <= 0 || length >= room || *path != '/') {
        *path = '\0';
        return -1;
    }
    mkdir(path, 0700);
    if (!folder) {
        strcat(path, "/selenite");
        mkdir(path, 0700);
    }
    const int opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0 && !code_is_own(opened, S_IFDIR, &about)) {
        close(opened);
        return -1;
    }
    if (opened >= 0) {
        code_remove_left(opened);
    }
    return opened;
}

int sel_code_cache_begin_job(int folder, char name[SEL_CODE_NAME]) {
    static atomic_int number;
    snprintf(name, SEL_CODE_NAME, "job.%d.%d", (int)getpid(), atomic_fetch_add(&number, 1));
    if (mkdirat(folder, name, 0700) != 0) {
        return -1;
    }
    const int job = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (job < 0 || flock(job, LOCK_EX | LOCK_NB) != 0) {
        unlinkat(folder, name, AT_REMOVEDIR);
        if (job >= 0) {
            close(job);
        }
        return -1;
    }
    return job;
}

void sel_code_cache_end_job(int folder, const char *name, int job) {
    code_remove_folder(folder, name, job);
    close(job);
}

/* ---- files ---- */

void sel_code_cache_name(const char *const *text, int count, const char *ending,
                         char name[SEL_CODE_NAME]) {
    uint64_t hash[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    for (int k = 0; k < 2 * count; k++) {
        hash[k % 2] = code_mix(hash[k % 2], text[k / 2]);
    }
    for (int k = 0; k < 2; k++) {
        hash[k] = code_mix(code_mix(hash[k], sel_version()), sel_commit());
    }
    snprintf(name, SEL_CODE_NAME, "%016llx%016llx.%.12s", (unsigned long long)hash[0],
             (unsigned long long)hash[1], ending);
}

static bool code_read_all(int file, char *to, size_t bytes) {
    size_t done = 0;
    for (ssize_t n = 1; done < bytes && n > 0; done += n > 0 ? (size_t)n : 0) {
        n = read(file, to + done, bytes - done);
    }
    return done == bytes;
}

int sel_code_cache_read(int folder, const char *name, void **code, size_t *bytes) {
    struct stat about;
    seal found;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *code = NULL;
    if (file < 0) {
        return -1;
    }
    if (code_is_own(file, S_IFREG, &about) && about.st_size >= (off_t)sizeof found &&
        about.st_size <= SEL_CODE_MOST && (*code = malloc((size_t)about.st_size))) {
        *bytes = (size_t)about.st_size - sizeof found;
        if (code_read_all(file, *code, (size_t)about.st_size)) {
            memcpy(&found, (char *)*code + *bytes, sizeof found);
            const seal right = code_seal(*code, *bytes);
            if (memcmp(&found, &right, sizeof found) == 0) {
                return file;
            }
        }
    }
    free(*code);
    *code = NULL;
    close(file);
    return -1;
}

bool sel_code_cache_write(int folder, const char *name, const void *code, size_t bytes) {
    const seal end = code_seal(code, bytes);
    char own[SEL_CODE_NAME];
    const int job = folder < 0 ? -1 : sel_code_cache_begin_job(folder, own);
    if (job < 0) {
        return false;
    }
    const int file = openat(job, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    bool whole = stream && fwrite(code, 1, bytes, stream) == bytes &&
                 fwrite(&end, sizeof end, 1, stream) == 1;
    whole = !(stream && fclose(stream)) && whole && renameat(job, name, folder, name) == 0;
    sel_code_cache_end_job(folder, own, job);
    return whole;
}
