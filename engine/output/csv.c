/* csv.c -- a CSV file that grows by whole lines, also on a full disk. */
#include "engine/output/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
};

sel_status sel_csv_open(const char *directory, const char *file, sel_csv **csv, sel_error *error) {
    size_t size = strlen(directory) + strlen(file) + 2;
    *csv = NULL;
    sel_csv *made = calloc(1, sizeof *made);
    char *path = malloc(size);
    if (!made || !path) {
        free(made);
        free(path);
        return sel_fail_memory(error, "an output", size);
    }
    snprintf(path, size, "%s/%s", directory, file);
    made->path = path;
    made->descriptor = sel_file_create(path);
    if (made->descriptor < 0) {
        sel_status status =
            sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", path, strerror(errno));
        sel_csv_close(made);
        return status;
    }
    *csv = made;
    return SEL_OK;
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

sel_status sel_csv_flush(sel_csv *csv, sel_error *error) {
    size_t length = csv->used;
    csv->used = 0;
    if (csv->out_of_memory) {
        return sel_fail_memory(error, csv->path, length);
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
