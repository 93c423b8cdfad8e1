/* csv.c -- a CSV file that grows by whole lines, even if the disk gets full. */
#include "engine/io/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/text.h"

struct sel_csv {
    char *path;
    int descriptor;
    off_t whole; /* the size of the whole lines in the file */
    FILE *lines; /* a memory stream of lines not written yet; after fflush they are text[used] */
    char *text;
    size_t used;
    bool line_begun;
    bool reopened; /* a former run wrote the first line, which is yet to be compared */
};

/* Truncates the file to its whole lines. */
static bool csv_truncate(const sel_csv *csv) {
    return ftruncate(csv->descriptor, csv->whole) == 0 &&
           lseek(csv->descriptor, csv->whole, SEEK_SET) >= 0;
}

static sel_status csv_cannot_write(const sel_csv *csv, sel_error *error) {
    return sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", csv->path, strerror(errno));
}

/* Opens the file of a former run, truncated to csv->whole bytes. */
static sel_status csv_reopen(sel_csv *csv, sel_error *error) {
    struct stat found = {.st_size = -1};
    csv->descriptor = open(csv->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    csv->reopened = true;
    if (csv->descriptor < 0 || fstat(csv->descriptor, &found) != 0) {
        return sel_fail(error, SEL_BAD_FILE, "%s: cannot be opened: %s", csv->path,
                        strerror(errno));
    }
    if (!S_ISREG(found.st_mode) || found.st_size < csv->whole) {
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: is shorter than it was when the checkpoint was written", csv->path);
    }
    return csv_truncate(csv) ? SEL_OK : csv_cannot_write(csv, error);
}

static sel_status csv_create(sel_csv *csv, sel_error *error) {
    csv->descriptor = sel_file_create(csv->path);
    return csv->descriptor >= 0 ? SEL_OK : csv_cannot_write(csv, error);
}

sel_status sel_csv_open(const char *directory, const char *file, int64_t bytes, sel_csv **csv,
                        sel_error *error) {
    *csv = NULL;
    sel_csv *made = calloc(1, sizeof *made);
    if (!made) {
        return sel_fail_memory(error, "an output", sizeof *made);
    }
    made->descriptor = -1;
    made->whole = bytes < 0 ? 0 : (off_t)bytes;
    made->lines = open_memstream(&made->text, &made->used);
    sel_status status = SEL_OK;
    if (!made->lines || asprintf(&made->path, "%s/%s", directory, file) < 0) {
        made->path = NULL;
        status = sel_fail_memory(error, "an output", strlen(directory));
    }
    status = status ? status : bytes < 0 ? csv_create(made, error) : csv_reopen(made, error);
    if (status) {
        sel_csv_close(made);
        return status;
    }
    *csv = made;
    return SEL_OK;
}

int64_t sel_csv_bytes(const sel_csv *csv) {
    return (int64_t)csv->whole;
}

static void begin_value(sel_csv *csv) {
    if (csv->line_begun) {
        fputc(',', csv->lines);
    }
    csv->line_begun = true;
}

void sel_csv_text(sel_csv *csv, const char *text) {
    const bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    begin_value(csv);
    fputs(quoted ? "\"" : "", csv->lines);
    for (; *text; text++) {
        fputs(*text == '"' ? "\"" : "", csv->lines);
        fputc(*text, csv->lines);
    }
    fputs(quoted ? "\"" : "", csv->lines);
}

void sel_csv_number(sel_csv *csv, double value) {
    char text[SEL_NUMBER_ROOM];
    begin_value(csv);
    sel_number_text(value, text);
    fputs(text, csv->lines);
}

void sel_csv_end_line(sel_csv *csv) {
    fputc('\n', csv->lines);
    csv->line_begun = false;
}

void sel_csv_drop(sel_csv *csv) {
    rewind(csv->lines);
    csv->line_begun = false;
}

/* Writes all of the text. Returns 0 or an errno. */
static int csv_write_all(int descriptor, const char *text, size_t length) {
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

/* Compares the line in csv->text with the first line of the file. */
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
    const bool failed = fflush(csv->lines) != 0 || ferror(csv->lines);
    const size_t length = csv->used;
    rewind(csv->lines);
    if (failed) {
        return sel_fail_memory(error, csv->path, length);
    }
    if (csv->reopened) {
        return check_first_line(csv, length, error);
    }
    int code = csv_write_all(csv->descriptor, csv->text, length);
    if (code == 0) {
        csv->whole += (off_t)length;
        return SEL_OK;
    }
    /* The cause of the failed write is reported, even if truncating fails too. */
    return sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s%s", csv->path, strerror(code),
                    csv_truncate(csv) ? "" : " (its last line is incomplete)");
}

void sel_csv_close(sel_csv *csv) {
    if (!csv) {
        return;
    }
    if (csv->descriptor >= 0) {
        close(csv->descriptor);
    }
    if (csv->lines) {
        fclose(csv->lines);
    }
    free(csv->path);
    free(csv->text);
    free(csv);
}
