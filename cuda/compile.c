/* compile.c -- compile text by NVRTC, keep what was compiled, load it by the driver. */
#include "cuda/compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/code_cache.h"
#include "engine/base/file.h"
#include "run_time_headers.h"

enum { HEADERS = sizeof headers / sizeof *headers };

/* ---- libraries ---- */

/* The functions of nvrtc.h and cuda.h that are used here; each returns 0 when all is well. */
typedef struct nvrtc {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *text, const char *name, int headers,
                  const char *const *header, const char *const *header_name);
    int (*compile)(void *program, int options, const char *const *option);
    int (*code_size)(void *program, size_t *bytes);
    int (*code)(void *program, char *to);
    int (*log_size)(void *program, size_t *bytes);
    int (*log)(void *program, char *to);
    int (*destroy)(void **program);
} nvrtc;

typedef struct driver {
    int (*load)(void **module, const void *binary);
    int (*unload)(void *module);
    int (*function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  unsigned shared, void *stream, void **arguments, void **extra);
} driver;

/* Libraries stay open. */
static bool open_nvrtc(nvrtc *to, int *major, int *minor) {
    static const char *const places[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                         "/usr/local/cuda/lib64/libnvrtc.so",
                                         "/usr/lib/x86_64-linux-gnu/libnvrtc.so"};
    static const char *const names[] = {
        "nvrtcVersion",  "nvrtcCreateProgram",     "nvrtcCompileProgram", "nvrtcGetCUBINSize",
        "nvrtcGetCUBIN", "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",  "nvrtcDestroyProgram"};
    const char *wanted = getenv("SELENITE_NVRTC");
    void *library = NULL;
    if (wanted && strcmp(wanted, "0") == 0) {
        return false;
    }
    for (size_t k = 0; k < sizeof places / sizeof *places && !library; k++) {
        library = dlopen(places[k], RTLD_NOW | RTLD_LOCAL);
    }
    return cuda_find_functions(library, names, sizeof names / sizeof *names, to) &&
           to->version(major, minor) == 0;
}

sel_status cuda_compiler_find(sel_error *error) {
    nvrtc library;
    int major, minor;
    return open_nvrtc(&library, &major, &minor)
               ? SEL_OK
               : sel_fail(error, SEL_NO_DEVICE,
                          "NVRTC, which compiles rules for a GPU, is not here; install libnvrtc.so "
                          "of the CUDA toolkit, or use --backend cpu");
}

static bool open_driver(driver *to) {
    static const char *const names[] = {"cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction",
                                        "cuLaunchKernel"};
    return cuda_find_functions(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), names,
                               sizeof names / sizeof *names, to);
}

enum { OPTION = 32, OPTIONS = 7 };

/* ---- compiling ---- */

static sel_status report_log(const nvrtc *library, void *program, const cuda_text *text,
                             sel_error *error) {
    size_t bytes = 0;
    library->log_size(program, &bytes);
    char *log = calloc(1, bytes + 1);
    if (log) {
        library->log(program, log);
    }
    sel_status status = sel_fail(error, SEL_NO_DEVICE,
                                 "%s does not compile for the device; use --backend cpu: %.600s",
                                 text->name, log ? log : "");
    free(log);
    return status;
}

static sel_status compile(const nvrtc *library, const cuda_text *text, const char option[][OPTION],
                          int options, void **binary, size_t *bytes, sel_error *error) {
    const char *list[OPTIONS];
    void *program = NULL;
    for (int k = 0; k < options; k++) {
        list[k] = option[k];
    }
    if (library->create(&program, text->text, text->name, HEADERS, (const char *const *)headers,
                        header_names)) {
        return sel_fail(error, SEL_NO_DEVICE, "NVRTC does not take %s", text->name);
    }
    sel_status status = library->compile(program, options, list)
                            ? report_log(library, program, text, error)
                            : SEL_OK;
    if (!status && !library->code_size(program, bytes)) {
        *binary = malloc(*bytes + 1);
    }
    if (!status && (!*binary || library->code(program, *binary))) {
        status = sel_fail(error, SEL_NO_DEVICE, "NVRTC gives no code for %s", text->name);
    }
    library->destroy(&program);
    return status;
}

sel_status cuda_compile(const cuda_text *text, int architecture, void **binary, size_t *bytes,
                        sel_error *error) {
    nvrtc library;
    char option[OPTIONS][OPTION], path[SEL_PATH_ROOM], name[SEL_CODE_NAME];
    const char *all[1 + HEADERS + OPTIONS] = {text->text};
    int major = 0, minor = 0;
    *binary = NULL;
    if (!open_nvrtc(&library, &major, &minor)) {
        return SEL_OK;
    }
    snprintf(option[0], OPTION, "-arch=sm_%d", architecture);
    snprintf(option[1], OPTION, "-std=c++17");
    snprintf(option[2], OPTION, "-fmad=false");
    snprintf(option[3], OPTION, "-w");
    snprintf(option[4], OPTION, "-default-device"); /* the headers also have the host's functions */
    snprintf(option[5], OPTION, "%s", major >= 13 ? "-split-compile=0" : "-w"); /* in threads */
    snprintf(option[6], OPTION, "%d.%d", major, minor); /* of the key alone */
    for (int k = 0; k < HEADERS + OPTIONS; k++) {
        all[1 + k] = k < HEADERS ? (const char *)headers[k] : option[k - HEADERS];
    }
    const int folder = sel_code_cache_open(text->folder, path);
    sel_code_cache_name(all, 1 + HEADERS + OPTIONS, "cubin", name);
    const int file = folder < 0 ? -1 : sel_code_cache_read(folder, name, binary, bytes);
    sel_file_close(file);
    sel_status status = SEL_OK;
    if (!*binary) {
        status = compile(&library, text, option, OPTIONS - 1, binary, bytes, error);
        if (!status) {
            sel_code_cache_write(folder, name, *binary, *bytes); /* else compiled again */
        } else {
            free(*binary);
            *binary = NULL;
        }
    }
    sel_file_close(folder);
    return status;
}

/* ---- what was compiled ---- */

struct cuda_module {
    driver driver;
    void *loaded;
    cuda_kernel *first; /* a list */
};

struct cuda_kernel {
    cuda_module *module;
    void *function;
    cuda_kernel *next;
};

sel_status cuda_module_load(const void *binary, cuda_module **module, sel_error *error) {
    cuda_module *m = *module = calloc(1, sizeof *m);
    if (!m) {
        return sel_fail_memory(error, "the kernels", sizeof *m);
    }
    CUDA_TRY(cudaFree(NULL)); /* the runtime's context is the driver's present one */
    const int code = open_driver(&m->driver) ? m->driver.load(&m->loaded, binary) : -1;
    return code
               ? sel_fail(error, SEL_NO_DEVICE,
                          "the driver does not load compiled kernels (%d); use --backend cpu", code)
               : SEL_OK;
}

sel_status cuda_module_compile(const cuda_text *text, int device, cuda_module **module,
                               sel_error *error) {
    void *binary = NULL;
    size_t bytes;
    int major = 0, minor = 0;
    *module = NULL;
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    sel_status status = cuda_compile(text, 10 * major + minor, &binary, &bytes, error);
    status = status || !binary ? status : cuda_module_load(binary, module, error);
    free(binary);
    return status;
}

void cuda_module_free(cuda_module *module) {
    if (module) {
        for (cuda_kernel *k = module->first, *next; k; k = next) {
            next = k->next;
            free(k);
        }
        if (module->loaded) {
            module->driver.unload(module->loaded);
        }
        free(module);
    }
}

sel_status cuda_module_kernel(cuda_module *module, const char *name, cuda_kernel **kernel,
                              sel_error *error) {
    cuda_kernel *k = *kernel = calloc(1, sizeof *k);
    if (!k) {
        return sel_fail_memory(error, "the kernels", sizeof *k);
    }
    k->module = module;
    k->next = module->first;
    module->first = k;
    const int code = module->driver.function(&k->function, module->loaded, name);
    return code ? sel_fail(error, SEL_NO_DEVICE, "there is no kernel %s (%d)", name, code) : SEL_OK;
}

sel_status cuda_kernel_launch(cuda_kernel *kernel, unsigned blocks, const unsigned threads[2],
                              const void *argument, cudaStream_t stream, sel_error *error) {
    void *arguments[] = {(void *)(uintptr_t)argument};
    const int code = kernel->module->driver.launch(kernel->function, blocks, 1, 1, threads[0],
                                                   threads[1], 1, 0, stream, arguments, NULL);
    return code ? sel_fail(error, SEL_NO_DEVICE, "CUDA: a kernel does not start (%d)", code)
                : SEL_OK;
}
