/* code_cache.c -- machine code made at run time: its cache (folder, job folders, files), and the
 * system's C compiler. */
#include "engine/base/code_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* ---- the system's C compiler ---- */

/* A shell runs the compiler in a process group of its own, with limits of processor time (s) and
 * memory (kB). When this process ends first, the shell gets SIGTERM, ends the compiler with all
 * that it started, and removes the job ($0). */
static const char script[] =
    "ulimit -t 300; ulimit -v 8000000\n"
    "trap 'trap \"\" TERM; kill -TERM 0; wait; rm -rf \"$0\"; exit 1' TERM\n"
    "\"$@\" & wait $!";

/* ---- finding the compiler ---- */

/* Prints "NAME=VALUE" with the absolute folders of a list such as PATH. */
static void cc_print_absolute(const char *name, const char *list, char *to, size_t size) {
    size_t used = (size_t)snprintf(to, size, "%s=", name);
    const size_t begin = used;
    while (list && *list) {
        const size_t length = strcspn(list, ":");
        if (*list == '/' && used + length + 2 < size) {
            used += (size_t)snprintf(to + used, size - used, "%s%.*s", used > begin ? ":" : "",
                                     (int)length, list);
        }
        list += length + (list[length] == ':');
    }
}

/* Whether `path` is an executable file; `identity` as in sel_cc_find. */
static bool cc_is_program(const char *path, char identity[SEL_CC_IDENTITY]) {
    struct stat about;
    const bool is = stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
    if (is) {
        snprintf(identity, SEL_CC_IDENTITY, "%s %lld %lld.%09ld", path, (long long)about.st_size,
                 (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    }
    return is;
}

bool sel_cc_find(const char *wanted, char path[SEL_PATH_ROOM], char identity[SEL_CC_IDENTITY]) {
    const char *list = getenv("PATH");
    if (strchr(wanted, '/')) {
        return *wanted == '/' && snprintf(path, SEL_PATH_ROOM, "%s", wanted) < SEL_PATH_ROOM &&
               cc_is_program(path, identity);
    }
    while (list && *list) {
        const size_t length = strcspn(list, ":");
        if (*list == '/' &&
            snprintf(path, SEL_PATH_ROOM, "%.*s/%s", (int)length, list, wanted) < SEL_PATH_ROOM &&
            cc_is_program(path, identity)) {
            return true;
        }
        list += length + (list[length] == ':');
    }
    return false;
}

/* ---- a job ---- */

/* Replaces the forked process by the shell. Only async-signal-safe functions may be called here. */
static _Noreturn void cc_exec_shell(char *const *argument, char *const *environment, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGTERM, SIG_DFL);
    const int nothing = open("/dev/null", O_RDWR);
    const bool ready = nothing >= 0 && dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1 &&
                       dup2(nothing, 2) == 2 && setpgid(0, 0) == 0 && chdir("/") == 0 &&
                       signal(SIGCHLD, SIG_DFL) != SIG_ERR &&
                       prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent;
    umask(077);
    if (ready) {
        execve("/bin/sh", argument, environment);
    }
    _exit(127);
}

static bool cc_write_text(int job, const char *text, size_t length) {
    const int file = openat(job, "text.c", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    const bool whole = stream && fwrite(text, 1, length, stream) == length;
    return !(stream && fclose(stream)) && whole;
}

bool sel_cc_start(const char *compiler, const char *const *options, const char *text, size_t length,
                  int folder, const char *path, sel_cc_job *job) {
    enum { MOST = 64, ROOM = 8192 };
    char place[SEL_PATH_ROOM + 64], source[sizeof place + 8], made[sizeof place + 8];
    char search[ROOM], libraries[ROOM], temporary[sizeof place + 8], locale[] = "LC_ALL=C";
    char *const environment[] = {search, temporary, locale, libraries, NULL};
    const char *argument[MOST] = {"sh", "-c", script, place, compiler};
    int count = 5;
    job->folder = folder;
    job->job = sel_code_cache_begin_job(folder, job->name);
    if (job->job < 0) {
        return false;
    }
    snprintf(place, sizeof place, "%s/%s", path, job->name);
    snprintf(source, sizeof source, "%s/text.c", place);
    snprintf(made, sizeof made, "%s/made.so", place);
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", place);
    cc_print_absolute("PATH", getenv("PATH"), search, sizeof search);
    cc_print_absolute("LD_LIBRARY_PATH", getenv("LD_LIBRARY_PATH"), libraries, sizeof libraries);
    while (*options && count < MOST - 4) {
        argument[count++] = *options++;
    }
    argument[count++] = source;
    argument[count++] = "-o";
    argument[count] = made;
    const pid_t parent = getpid();
    job->process = cc_write_text(job->job, text, length) ? fork() : -1;
    if (job->process == 0) {
        cc_exec_shell((char *const *)(uintptr_t)argument, environment, parent);
    }
    if (job->process < 0) {
        sel_code_cache_end_job(folder, job->name, job->job);
    }
    return job->process > 0;
}

static void *cc_read_result(int job, size_t *bytes) {
    struct stat about;
    void *code = NULL;
    const int file = openat(job, "made.so", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        about.st_size < SEL_CODE_MOST && (code = malloc((size_t)about.st_size))) {
        *bytes = (size_t)about.st_size;
        if (read(file, code, *bytes) != (ssize_t)*bytes) {
            free(code);
            code = NULL;
        }
    }
    if (file >= 0) {
        close(file);
    }
    return code;
}

sel_cc_end sel_cc_poll(sel_cc_job *job, bool waits, void **code, size_t *bytes) {
    int status = 0;
    const pid_t ended = waitpid(job->process, &status, waits ? 0 : WNOHANG);
    *code = NULL;
    if (ended == 0 || (ended < 0 && errno == EINTR)) { /* a signal ends the waiting */
        return SEL_CC_RUNS;
    }
    /* Where SIGCHLD is ignored there is no status to wait for; then the file decides. */
    if (ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        *code = cc_read_result(job->job, bytes);
    }
    sel_code_cache_end_job(job->folder, job->name, job->job);
    return *code ? SEL_CC_MADE : SEL_CC_FAILED;
}

void sel_cc_stop(sel_cc_job *job) {
    kill(job->process, SIGTERM);
    while (waitpid(job->process, NULL, 0) < 0 && errno == EINTR) {
    }
    sel_code_cache_end_job(job->folder, job->name, job->job);
}
