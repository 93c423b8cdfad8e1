// compiler.cpp -- NVRTC and the driver's loading of code, for a processor: a text becomes a shared
// object by ./nvcc. Its "code" is the name of this file.
#include "tests/device/kernels.h"
#undef __CUDACC__
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

struct program {
    std::string folder, log;
};

struct kernel {
    void (*call)(const void *argument);
    size_t bytes;
};

void write_file(const std::string &path, const char *text) {
    for (size_t k = 1; k < path.size(); k++) {
        if (path[k] == '/') {
            mkdir(path.substr(0, k).c_str(), 0700);
        }
    }
    std::ofstream(path) << text;
}

std::string read_file(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

} // namespace

extern "C" {

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
int nvrtcCreateProgram(void **made, const char *text, const char *, int headers,
                       const char *const *header, const char *const *name) {
    program *p = new program{device::make_folder(), ""};
    write_file(p->folder + "/text.cu", text);
    for (int k = 0; k < headers; k++) {
        write_file(p->folder + "/" + name[k], header[k]);
    }
    *made = p;
    return 0;
}
int nvrtcCompileProgram(void *of, int, const char *const *) {
    program *p = (program *)of;
    const std::string log = p->folder + "/log";
    const int code =
        system((DEVICE_NVCC " --run-time " + p->folder + " > " + log + " 2>&1").c_str());
    p->log = read_file(log);
    return code != 0;
}
int nvrtcGetCUBINSize(void *of, size_t *bytes) {
    *bytes = ((program *)of)->folder.size() + sizeof "/code.so";
    return 0;
}
int nvrtcGetCUBIN(void *of, char *to) {
    strcpy(to, (((program *)of)->folder + "/code.so").c_str());
    return 0;
}
int nvrtcGetProgramLogSize(void *of, size_t *bytes) {
    *bytes = ((program *)of)->log.size() + 1;
    return 0;
}
int nvrtcGetProgramLog(void *of, char *to) {
    strcpy(to, ((program *)of)->log.c_str());
    return 0;
}
int nvrtcDestroyProgram(void **of) {
    delete (program *)*of;
    return 0;
}

int cuModuleLoadData(void **module, const void *code) {
    *module = dlopen((const char *)code, RTLD_NOW | RTLD_LOCAL);
    if (!*module) {
        fprintf(stderr, "%s\n", dlerror());
    }
    return !*module;
}
int cuModuleUnload(void *module) {
    return dlclose(module);
}
int cuModuleGetFunction(void **found, void *module, const char *name) {
    void *call = dlsym(module, (std::string("device_call_") + name).c_str());
    void *bytes = dlsym(module, (std::string("device_bytes_") + name).c_str());
    if (!call || !bytes) {
        return 1;
    }
    *found = new kernel{(void (*)(const void *))call, *(const size_t *)bytes};
    return 0;
}
int cuLaunchKernel(void *function, unsigned nx, unsigned ny, unsigned nz, unsigned x, unsigned y,
                   unsigned z, unsigned bytes, void *stream, void **arguments, void **) {
    const kernel k = *(kernel *)function;
    const std::string kept((const char *)arguments[0], k.bytes);
    device::run({dim3(nx, ny, nz), dim3(x, y, z), bytes, (cudaStream_t)stream},
                [=] { k.call(kept.data()); });
    return 0;
}
}
