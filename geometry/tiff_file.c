/* tiff_file.c -- libtiff over a C file, its complaints kept. */
#include "geometry/tiff_file.h"

#include <stdarg.h>
#include <stdint.h>

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count) {
    sel_tiff_file *from = handle;
    return (tmsize_t)fread(to, 1, (size_t)count, from->file);
}

static tmsize_t write_bytes(thandle_t handle, void *bytes, tmsize_t count) {
    sel_tiff_file *to = handle;
    return (tmsize_t)fwrite(bytes, 1, (size_t)count, to->file);
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    sel_tiff_file *from = handle;
    if (fseeko(from->file, (off_t)offset, whence) != 0) {
        return (toff_t)-1;
    }
    return (toff_t)ftello(from->file);
}

static toff_t size_of(thandle_t handle) {
    sel_tiff_file *from = handle;
    off_t at = ftello(from->file), size = 0;
    if (at < 0 || fseeko(from->file, 0, SEEK_END) != 0) {
        return 0;
    }
    size = ftello(from->file);
    fseeko(from->file, at, SEEK_SET);
    return size > 0 ? (toff_t)size : 0;
}

static int leave_open(thandle_t handle) {
    (void)handle;
    return 0;
}

static int do_not_map(thandle_t handle, void **base, toff_t *size) {
    (void)handle, (void)base, (void)size;
    return 0;
}

static void do_not_unmap(thandle_t handle, void *base, toff_t size) {
    (void)handle, (void)base, (void)size;
}

static void keep_message(sel_tiff_file *from, const char *format, va_list args) {
    if (!from->message[0]) {
        vsnprintf(from->message, sizeof from->message, format, args);
    }
}

#if TIFFLIB_VERSION >= 20221213

static int on_error(TIFF *tiff, void *data, const char *module, const char *format, va_list args) {
    (void)tiff, (void)module;
    keep_message(data, format, args);
    return 1;
}

static int on_warning(TIFF *tiff, void *data, const char *module, const char *format,
                      va_list args) {
    (void)tiff, (void)data, (void)module, (void)format, (void)args;
    return 1;
}

TIFF *sel_tiff_open(sel_tiff_file *from, const char *name, const char *mode, size_t largest) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) {
        snprintf(from->message, sizeof from->message, "there is not enough memory");
        return NULL;
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)largest);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, from);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, NULL);
    TIFF *tiff = TIFFClientOpenExt(name, mode, from, read_bytes, write_bytes, seek, leave_open,
                                   size_of, do_not_map, do_not_unmap, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

#else

/* Older versions have one handler for all files, which is told the file's handle. */
static void on_error(thandle_t handle, const char *module, const char *format, va_list args) {
    (void)module;
    if (handle) {
        keep_message(handle, format, args);
    }
}

TIFF *sel_tiff_open(sel_tiff_file *from, const char *name, const char *mode, size_t largest) {
    (void)largest;
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandlerExt(on_error);
    return TIFFClientOpen(name, mode, from, read_bytes, write_bytes, seek, leave_open, size_of,
                          do_not_map, do_not_unmap);
}

#endif
