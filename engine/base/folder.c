/* folder.c -- the directory of a run: which files in it belong to runs, and which may be written.
 *
 * A directory may contain links that lead out of it. The directory itself may be reached through
 * links, which the user chose; below it no link is followed.
 */
#include "engine/base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/file.h"

static const char advice[] = "move it away, choose another directory with -o, or write over it "
                             "with --force";

/* Makes `directory` and its parents. */
static sel_status make_directories(const char *directory, sel_error *error) {
    char path[SEL_PATH_ROOM];
    if (strlen(directory) + 1 > sizeof path) {
        return sel_fail(error, SEL_BAD_FILE, "the directory's name is longer than %d bytes",
                        SEL_PATH_ROOM - 1);
    }
    strcpy(path, directory);
    for (char *end = path; end;) {
        end = strchr(end + 1, '/');
        if (end) {
            *end = '\0';
        }
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            return sel_fail(error, SEL_BAD_FILE,
                            "%s: cannot make the directory: %s; choose another with -o", path,
                            strerror(errno));
        }
        if (end) {
            *end = '/';
        }
    }
    struct stat found;
    if (stat(directory, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return sel_fail(error, SEL_BAD_FILE, "%s is not a directory; choose another with -o",
                        directory);
    }
    return access(directory, W_OK) == 0
               ? SEL_OK
               : sel_fail(error, SEL_BAD_FILE, "%s cannot be written: %s; choose another with -o",
                          directory, strerror(errno));
}

/* Opens the folder of the file `name` below `directory`; -1 with errno. A link among the folders of
 * `name` is ENOTDIR. */
static int open_folder_of(const char *directory, const char *name) {
    char part[SEL_PATH_ROOM];
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; folder >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        int below = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        sel_file_close(folder);
        folder = below;
    }
    return folder;
}

/* Whether `folder` holds anything of this name, and whether that is a regular file. */
static bool folder_has(int folder, const char *name, bool *regular) {
    struct stat found;
    bool there = fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
    *regular = there && S_ISREG(found.st_mode);
    return there;
}

static void remove_regular(int folder, const char *name) {
    bool regular;
    if (folder_has(folder, name, &regular) && regular) {
        unlinkat(folder, name, 0);
    }
}

/* Whether an output may have this name: no part leads out of the directory, is hidden, or has a
 * control character. */
static bool is_name_of_output(const char *name) {
    for (const char *c = name; *c; c++) {
        bool begins = c == name || c[-1] == '/';
        if (begins && (*c == '.' || *c == '/')) {
            return false;
        }
    }
    return sel_is_plain(name) && *name && name[strlen(name) - 1] != '/';
}

/* Removes an output that a former run listed, and its temporary file if that run was killed. */
static void remove_output(const char *directory, const char *const *kept, const char *name) {
    char temporary[SEL_PATH_ROOM + 8];
    const bool removed = is_name_of_output(name) && sel_name_index(kept, name) < 0;
    int folder = removed ? open_folder_of(directory, name) : -1;
    if (folder >= 0) {
        snprintf(temporary, sizeof temporary, "%s.tmp", sel_file_name(name));
        remove_regular(folder, sel_file_name(name));
        remove_regular(folder, temporary);
        close(folder);
    }
}

/* Opens a list of the former run in `folder`; NULL if it is missing or no regular file. */
static FILE *open_former(int folder, const char *name) {
    bool regular;
    return folder_has(folder, name, &regular) && regular
               ? sel_file_stream(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), "r")
               : NULL;
}

/* Reads one character of a JSON string; false at the end of the string or of the file. */
static bool string_character(FILE *from, int *c) {
    *c = fgetc(from);
    if (*c == '\\') {
        *c = fgetc(from);
    } else if (*c == '"') {
        return false;
    }
    return *c != EOF;
}

/* Removes the outputs in run.json, so that frames of two runs are not mixed. */
static void remove_outputs_of_json(const char *directory, const char *const *kept, FILE *from) {
    static const char key[] = "\"outputs\": [";
    size_t matched = 0;
    int c = 0;
    while (matched < strlen(key) && (c = fgetc(from)) != EOF) {
        matched = c == key[matched] ? matched + 1 : c == key[0];
    }
    while ((c = fgetc(from)) != EOF && c != ']') {
        char name[SEL_PATH_ROOM];
        size_t length = 0;
        while (c == '"' && length + 1 < sizeof name && string_character(from, &c)) {
            name[length++] = (char)c;
            c = '"';
        }
        name[length] = '\0';
        remove_output(directory, kept, name);
    }
}

/* Removes the outputs in run.files. The last line may be incomplete if the run was killed; then it
 * names no file. */
static void remove_outputs_of_list(const char *directory, const char *const *kept, FILE *from) {
    char name[SEL_PATH_ROOM];
    while (fgets(name, sizeof name, from)) {
        name[strcspn(name, "\n")] = '\0';
        remove_output(directory, kept, name);
    }
}

/* Removes all that a former run listed, except `kept` (NULL-terminated). */
static void remove_outputs(const char *directory, const char *const *kept, int folder) {
    FILE *json = open_former(folder, SEL_RUN_JSON), *list = open_former(folder, SEL_RUN_FILES);
    if (json) {
        remove_outputs_of_json(directory, kept, json);
        fclose(json);
    }
    if (list) {
        remove_outputs_of_list(directory, kept, list);
        fclose(list);
    }
}

/* Refuses a directory that holds a run, or anything of a name that the run will write. */
static sel_status refuse_former(const char *directory, int folder, sel_error *error) {
    static const char *const names[] = {SEL_RUN_JSON,   SEL_RUN_FILES,       SEL_RUN_LOG,
                                        SEL_RUN_SCRIPT, SEL_RUN_JSON ".tmp", SEL_RUN_SCRIPT ".tmp"};
    bool regular;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!folder_has(folder, names[i], &regular)) {
            continue;
        }
        if (regular && i < 2) {
            return sel_fail(error, SEL_BAD_USAGE,
                            "%s holds a run already; choose another directory with -o, or write "
                            "over it with --force",
                            directory);
        }
        return sel_fail(error, SEL_BAD_FILE, "%s/%s %s; %s", directory, names[i],
                        regular ? "is there, and no run wrote it" : "is a link or no file", advice);
    }
    return SEL_OK;
}

sel_status sel_folder_refuse_run(const char *directory, sel_error *error) {
    const int folder = open_folder_of(directory, "");
    const sel_status status = folder < 0 ? SEL_OK : refuse_former(directory, folder, error);
    if (folder >= 0) {
        close(folder);
    }
    return status;
}

sel_status sel_run_lock(const char *directory, bool makes, int *lock, sel_error *error) {
    *lock = -1;
    const sel_status status = makes ? make_directories(directory, error) : SEL_OK;
    if (status) {
        return status;
    }
    *lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(*lock);
        *lock = -1;
        return sel_fail(error, SEL_BAD_USAGE,
                        "%s: another run goes on there; wait until it has ended, or choose another "
                        "directory with -o",
                        directory);
    }
    return SEL_OK;
}

sel_status sel_run_directory(const char *directory, bool force, sel_error *error) {
    static const char *const none[] = {NULL};
    sel_status status = make_directories(directory, error);
    if (status) {
        return status;
    }
    int folder = open_folder_of(directory, "");
    if (folder < 0) {
        return sel_fail(error, SEL_BAD_FILE, "%s: %s; choose another with -o", directory,
                        strerror(errno));
    }
    if (force) { /* run.json and run.lua stay until the new ones replace them */
        remove_outputs(directory, none, folder);
        unlinkat(folder, SEL_RUN_FILES, 0);
        unlinkat(folder, SEL_RUN_LOG, 0);
    } else {
        status = refuse_former(directory, folder, error);
    }
    close(folder);
    return status;
}

/* Checks that a file of a resumed run can be truncated to `bytes` (-1: is left as it is); `cuts`:
 * truncates it. All files are checked before any is changed. */
static sel_status keep_file(const char *directory, const char *name, int64_t bytes, bool cuts,
                            sel_error *error) {
    struct stat found = {.st_size = -1};
    if (!is_name_of_output(name)) {
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: the checkpoint lists a file that no output can have written",
                        directory);
    }
    if (bytes < 0) {
        return SEL_OK;
    }
    sel_status status = SEL_OK;
    const int folder = open_folder_of(directory, name);
    const int flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
    const int file = folder < 0 ? -1 : openat(folder, sel_file_name(name), flags);
    sel_file_close(folder);
    if (cuts && (file < 0 || ftruncate(file, (off_t)bytes) != 0)) {
        status = sel_fail(error, SEL_BAD_FILE, "cannot write %s/%s: %s", directory, name,
                          strerror(errno));
    } else if (!cuts && (file < 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode) ||
                         found.st_size < bytes)) {
        status = sel_fail(error, SEL_BAD_FILE,
                          "%s/%s: is not there, or shorter than it was when the checkpoint was "
                          "written; the run cannot go on",
                          directory, name);
    }
    sel_file_close(file);
    return status;
}

/* Writes a new SEL_RUN_FILES with `names`, so that later runs know them even if this run is killed.
 */
static sel_status list_again(const char *directory, const char *const *names, sel_error *error) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/" SEL_RUN_FILES, directory);
    FILE *to = sel_file_begin(path);
    for (; to && *names; names++) {
        fprintf(to, "%s\n", *names);
    }
    return sel_file_end(to, path, NULL, error);
}

sel_status sel_folder_resume(const char *directory, const char *const *names, const int64_t *bytes,
                             sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; names[i] && !status; i++) {
        status = keep_file(directory, names[i], bytes[i], false, error);
    }
    const int folder = status ? -1 : open_folder_of(directory, "");
    if (folder < 0) {
        return status ? status
                      : sel_fail(error, SEL_BAD_FILE, "%s: %s", directory, strerror(errno));
    }
    remove_outputs(directory, names, folder);
    close(folder);
    for (int i = 0; names[i] && !status; i++) {
        status = keep_file(directory, names[i], bytes[i], true, error);
    }
    return status ? status : list_again(directory, names, error);
}

/* The name of a file NAME_... in the folder `path`, which the caller frees; NULL: there is none. */
static char *first_of_output(const char *path, const char *name) {
    DIR *folder = opendir(path);
    char *found = NULL;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        size_t length = strlen(name);
        if (strncmp(entry->d_name, name, length) == 0 && entry->d_name[length] == '_') {
            found = strdup(entry->d_name);
        }
    }
    if (folder) {
        closedir(folder);
    }
    return found;
}

sel_status sel_folder_refuse_link(const char *directory, sel_error *error) {
    struct stat there;
    return lstat(directory, &there) == 0 && S_ISLNK(there.st_mode)
               ? sel_fail(error, SEL_BAD_FILE,
                          "%s is a link; files are not written through links: remove it, or "
                          "choose another directory with -o",
                          directory)
               : SEL_OK;
}

sel_status sel_folder_make(const char *directory, const char *name, bool force, sel_error *error) {
    char path[SEL_PATH_ROOM];
    struct stat there = {.st_mode = 0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (mkdir(path, 0777) == 0) {
        return SEL_OK;
    }
    int cause = errno;
    sel_status status = sel_folder_refuse_link(path, error);
    if (status) {
        return status;
    }
    bool folder = lstat(path, &there) == 0 && S_ISDIR(there.st_mode);
    cause = cause == EEXIST && !folder ? ENOTDIR : cause;
    if (cause != EEXIST) {
        return sel_fail(error, SEL_BAD_FILE, "cannot create the directory %s: %s", path,
                        strerror(cause));
    }
    char *former = force ? NULL : first_of_output(path, name);
    if (former) {
        sel_fail(error, SEL_BAD_FILE, "%s/%s is there, and no run wrote it; %s", path, former,
                 advice);
        free(former);
        return SEL_BAD_FILE;
    }
    return SEL_OK;
}

/* Removes what has the name of a new file in `folder`. Returns 0 or an errno: EEXIST if something
 * is there, without `force`. */
static int folder_clear(int folder, const char *name, bool force) {
    bool regular;
    if (!folder_has(folder, name, &regular)) {
        return 0;
    }
    return !force ? EEXIST : unlinkat(folder, name, 0) == 0 ? 0 : errno;
}

/* Adds a line to SEL_RUN_FILES. Returns 0 or an errno. */
static int append_name(const char *directory, const char *name) {
    char path[SEL_PATH_ROOM], line[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/" SEL_RUN_FILES, directory);
    size_t length = (size_t)snprintf(line, sizeof line, "%s\n", name);
    int list = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (list < 0) {
        return errno;
    }
    ssize_t written = write(list, line, length);
    int cause = written == (ssize_t)length ? 0 : written < 0 ? errno : ENOSPC;
    return close(list) == 0 || cause ? cause : errno;
}

sel_status sel_folder_claim(const char *directory, const char *name, bool force, sel_error *error) {
    char temporary[SEL_PATH_ROOM];
    snprintf(temporary, sizeof temporary, "%s.tmp", sel_file_name(name));
    int folder = open_folder_of(directory, name), cause = folder < 0 ? errno : 0;
    cause = cause ? cause : folder_clear(folder, sel_file_name(name), force);
    cause = cause ? cause : folder_clear(folder, temporary, force);
    sel_file_close(folder);
    cause = cause ? cause : append_name(directory, name);
    if (cause == EEXIST) {
        return sel_fail(error, SEL_BAD_FILE, "%s/%s is there, and no run wrote it; %s", directory,
                        name, advice);
    }
    return cause ? sel_fail(error, SEL_BAD_FILE, "cannot write %s/%s: %s", directory, name,
                            strerror(cause))
                 : SEL_OK;
}

void sel_folder_listed(const char *directory) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/" SEL_RUN_FILES, directory);
    unlink(path);
}
