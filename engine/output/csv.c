/* csv.c -- a CSV file that grows by whole lines, also on a full disk. */
#include "engine/output/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/file.h"
#include "engine/json.h"

struct sel_csv {
    char *path;
    int descriptor;
    off_t whole; /* bytes of the file that are whole lines */
    char *text;  /* lines that were not written yet */
    size_t used, capacity;
    bool line_begun, out_of_memory;
    bool reopened; /* the first line is there */
};

static sel_csv *make(const char *directory, const char *file, sel_error *error) {
    size_t size = strlen(directory) + strlen(file) + 2;
    sel_csv *made = calloc(1, sizeof *made);
    char *path = malloc(size);
    if (!made || !path) {
        free(made);
        free(path);
        sel_fail_memory(error, "an output", size);
        return NULL;
    }
    snprintf(path, size, "%s/%s", directory, file);
    made->path = path;
    made->descriptor = -1;
    return made;
}

/* Hands the file over, or closes it after a failure. */
static sel_status give(sel_csv *made, sel_status status, sel_csv **csv) {
    *csv = status ? NULL : made;
    if (status) {
        sel_csv_close(made);
    }
    return status;
}

sel_status sel_csv_open(const char *directory, const char *file, sel_csv **csv, sel_error *error) {
    sel_csv *made = make(directory, file, error);
    if (!made) {
        return SEL_NO_DEVICE;
    }
    made->descriptor = sel_file_create(made->path);
    return give(made,
                made->descriptor >= 0 ? SEL_OK
                                      : sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s",
                                                 made->path, strerror(errno)),
                csv);
}

sel_status sel_csv_reopen(const char *directory, const char *file, int64_t bytes, sel_csv **csv,
                          sel_error *error) {
    struct stat found = {.st_size = -1};
    sel_csv *made = make(directory, file, error);
    if (!made) {
        return SEL_NO_DEVICE;
    }
    made->descriptor = open(made->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    made->whole = (off_t)bytes;
    made->reopened = true;
    sel_status status = SEL_OK;
    if (made->descriptor < 0 || fstat(made->descriptor, &found) != 0) {
        status =
            sel_fail(error, SEL_BAD_FILE, "%s: cannot be opened: %s", made->path, strerror(errno));
    } else if (!S_ISREG(found.st_mode) || found.st_size < made->whole) {
        status = sel_fail(error, SEL_BAD_FILE,
                          "%s: is shorter than it was when the checkpoint was written", made->path);
    } else if (ftruncate(made->descriptor, made->whole) != 0 ||
               lseek(made->descriptor, made->whole, SEEK_SET) < 0) {
        status = sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", made->path, strerror(errno));
    }
    return give(made, status, csv);
}

int64_t sel_csv_bytes(const sel_csv *csv) {
    return (int64_t)csv->whole;
}

static void append(sel_csv *csv, const char *bytes, size_t length) {
    if (csv->used + length > csv->capacity) {
        size_t capacity = 2 * (csv->used + length) + 256;
        char *text = realloc(csv->text, capacity);
        if (!text) {
            csv->out_of_memory = true;
            return;
        }
        csv->text = text;
        csv->capacity = capacity;
    }
    memcpy(csv->text + csv->used, bytes, length);
    csv->used += length;
}

static void begin_value(sel_csv *csv) {
    if (csv->line_begun) {
        append(csv, ",", 1);
    }
    csv->line_begun = true;
}

void sel_csv_text(sel_csv *csv, const char *text) {
    begin_value(csv);
    if (!strpbrk(text, ",\"\n\r")) {
        append(csv, text, strlen(text));
        return;
    }
    append(csv, "\"", 1);
    for (; *text; text++) {
        append(csv, text, 1);
        if (*text == '"') {
            append(csv, text, 1);
        }
    }
    append(csv, "\"", 1);
}

void sel_csv_integer(sel_csv *csv, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    begin_value(csv);
    append(csv, text, strlen(text));
}

void sel_csv_number(sel_csv *csv, double value) {
    char text[SEL_NUMBER_ROOM];
    sel_number_text(value, text);
    begin_value(csv);
    append(csv, text, strlen(text));
}

void sel_csv_end_line(sel_csv *csv) {
    append(csv, "\n", 1);
    csv->line_begun = false;
}

void sel_csv_drop(sel_csv *csv) {
    csv->used = 0;
    csv->line_begun = false;
}

/* 0, or errno. */
static int write_all(int descriptor, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return 0;
}

/* Compares the first line, in csv->text, with the one that is there. */
static sel_status check_first_line(sel_csv *csv, size_t length, sel_error *error) {
    char *line = malloc(length + 1);
    csv->reopened = false;
    if (!line) {
        return sel_fail_memory(error, csv->path, length);
    }
    const bool same = pread(csv->descriptor, line, length, 0) == (ssize_t)length &&
                      memcmp(line, csv->text, length) == 0;
    free(line);
    return same ? SEL_OK
                : sel_fail(error, SEL_BAD_SCENARIO,
                           "%s: has other columns than this output would write now; give the "
                           "output another name",
                           csv->path);
}

sel_status sel_csv_flush(sel_csv *csv, sel_error *error) {
    size_t length = csv->used;
    csv->used = 0;
    if (csv->out_of_memory) {
        return sel_fail_memory(error, csv->path, length);
    }
    if (csv->reopened) {
        return check_first_line(csv, length, error);
    }
    int code = write_all(csv->descriptor, csv->text, length);
    if (code == 0) {
        csv->whole += (off_t)length;
        return SEL_OK;
    }
    /* Should the cut fail too, nothing better can be done; the first cause is what is told. */
    bool cut = ftruncate(csv->descriptor, csv->whole) == 0 &&
               lseek(csv->descriptor, csv->whole, SEEK_SET) >= 0;
    return sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s%s", csv->path, strerror(code),
                    cut ? "" : " (its last line is not whole)");
}

void sel_csv_close(sel_csv *csv) {
    if (!csv) {
        return;
    }
    if (csv->descriptor >= 0) {
        close(csv->descriptor);
    }
    free(csv->path);
    free(csv->text);
    free(csv);
}
