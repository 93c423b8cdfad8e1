/* device.c -- find the device, allocate its memory, time its copies, report its errors. */
#include "cuda/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/hardware.h"

sel_status sel_cuda_check(cudaError_t code, const char *what, const char *file, int line,
                          sel_error *error) {
    if (code == cudaSuccess) {
        return SEL_OK;
    }
    cudaGetLastError(); /* so that the next call does not report it again */
    return sel_fail(error, SEL_NO_DEVICE, "CUDA: %s (%s) at %s:%d: %s%s", cudaGetErrorString(code),
                    cudaGetErrorName(code), file, line, what,
                    code == cudaErrorMemoryAllocation ? "; use fewer cells, or --backend cpu" : "");
}

static sel_status no_device(cudaError_t code, sel_error *error) {
    cudaGetLastError();
    const char *mend = "";
    switch (code) {
    case cudaErrorInsufficientDriver:
        mend = sel_machine_has_gpu() ? "install a newer NVIDIA driver, or "
                                     : "this machine shows no NVIDIA GPU; ";
        break;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidPtx:
    case cudaErrorInvalidDeviceFunction:
        mend = "rebuild on this machine with make, or ";
        break;
    case cudaErrorMemoryAllocation:
    case cudaErrorDevicesUnavailable:
        mend = "other programs have taken it; end them, or ";
        break;
    default:
        break;
    }
    return sel_fail(error, SEL_NO_DEVICE, "no usable CUDA device: %s (%s); %suse --backend cpu",
                    cudaGetErrorString(code), cudaGetErrorName(code), mend);
}

int cuda_device_count(void) {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

sel_status cuda_device_probe(int device, uint64_t *free_bytes, sel_error *error) {
    int count = 0;
    size_t free_now = 0, total = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    code = code == cudaSuccess && count == 0 ? cudaErrorNoDevice : code;
    if (code == cudaSuccess && device >= count) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "there is no device %d: CUDA has %d here, with numbers from 0 on", device,
                        count);
    }
    code = code == cudaSuccess ? cudaSetDevice(device) : code;
    code = code == cudaSuccess ? cudaMemGetInfo(&free_now, &total) : code;
    if (code == cudaSuccess) { /* an empty copy finds out whether there is code for this device */
        char *block = NULL;
        code = cudaMalloc((void **)&block, 32);
        code = code == cudaSuccess ? cuda_copy(block + 16, block, 16, NULL) : code;
        code = code == cudaSuccess ? cudaDeviceSynchronize() : code;
        cudaFree(block);
    }
    if (code != cudaSuccess) {
        return no_device(code, error);
    }
    *free_bytes = free_now;
    return SEL_OK;
}

void cuda_device_text(int device, char *text, size_t size) {
    struct cudaDeviceProp properties;
    int version = 0;
    text[0] = '\0';
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess &&
        cudaRuntimeGetVersion(&version) == cudaSuccess) {
        snprintf(text, size, "%s, CUDA %d.%d", properties.name, version / 1000,
                 version % 1000 / 10);
    }
}

bool cuda_find_functions(void *library, const char *const *names, int count, void *to) {
    bool found = library != NULL;
    for (int k = 0; k < count && found; k++) {
        void *function = dlsym(library, names[k]);
        memcpy((char *)to + (size_t)k * sizeof function, &function, sizeof function);
        found = function != NULL;
    }
    return found;
}

/* NVML, the driver's library about devices, which need not be there; it numbers them otherwise. */
static bool joined_by_nvlink(int device, int other) {
    enum { NVLINK = 2 }; /* NVML_P2P_CAPS_INDEX_NVLINK; a status of 0 is NVML_P2P_STATUS_OK */
    static const char *const names[] = {"nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2",
                                        "nvmlDeviceGetP2PStatus"};
    struct {
        int (*init)(void), (*find)(const char *, void **), (*ask)(void *, void *, int, int *);
    } nvml;
    char bus[2][32];
    void *handle[2];
    int status = 1;
    if (!cuda_find_functions(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), names, 3, &nvml) ||
        cudaDeviceGetPCIBusId(bus[0], sizeof bus[0], device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus[1], sizeof bus[1], other) != cudaSuccess) {
        return false;
    }
    return nvml.init() == 0 && nvml.find(bus[0], &handle[0]) == 0 &&
           nvml.find(bus[1], &handle[1]) == 0 &&
           nvml.ask(handle[0], handle[1], NVLINK, &status) == 0 && status == 0;
}

const char *cuda_device_link(int device, int other) {
    int reaches = 0;
    const bool known = cudaDeviceCanAccessPeer(&reaches, device, other) == cudaSuccess;
    cudaGetLastError();
    return joined_by_nvlink(device, other) ? "NVLink" : known && reaches ? "PCIe" : "the host";
}

sel_status cuda_device_allocate(void **block, uint64_t bytes, const char *what, sel_error *error) {
    char need[SEL_BYTES_ROOM], have[SEL_BYTES_ROOM];
    size_t free_now = 0, total = 0;
    cudaError_t code = cudaMalloc(block, (size_t)bytes);
    if (code == cudaSuccess) {
        return SEL_OK;
    }
    *block = NULL;
    cudaGetLastError();
    cudaMemGetInfo(&free_now, &total);
    return sel_fail(
        error, SEL_NO_DEVICE,
        "not enough of the device's memory for %s: %s are needed and %s are free (%s); use "
        "fewer cells, or --backend cpu",
        what, sel_bytes_text((double)bytes, need), sel_bytes_text((double)free_now, have),
        cudaGetErrorString(code));
}

sel_status cuda_host_allocate(void **block, uint64_t bytes, const char *what, sel_error *error) {
    char need[SEL_BYTES_ROOM];
    cudaError_t code = cudaHostAlloc(block, (size_t)bytes, cudaHostAllocMapped);
    if (code == cudaSuccess) {
        return SEL_OK;
    }
    *block = NULL;
    cudaGetLastError();
    return sel_fail(
        error, SEL_NO_DEVICE,
        "not enough of the host's memory that stays in place for the device (page-locked) "
        "for %s: %s are needed: %s (%s); give the process more memory, use fewer cells, "
        "or --backend cpu",
        what, sel_bytes_text((double)bytes, need), cudaGetErrorString(code),
        cudaGetErrorName(code));
}

enum { COPIES = 9 };

/* Seconds of one copy; 0 when it fails. */
static double time_copy(void *to, const void *from, int64_t bytes, cudaEvent_t before,
                        cudaEvent_t after) {
    float milliseconds = 0;
    bool done = cudaEventRecord(before, NULL) == cudaSuccess &&
                cuda_copy(to, from, bytes, NULL) == cudaSuccess &&
                cudaEventRecord(after, NULL) == cudaSuccess &&
                cudaEventSynchronize(after) == cudaSuccess &&
                cudaEventElapsedTime(&milliseconds, before, after) == cudaSuccess;
    return done ? 1e-3 * (double)milliseconds : 0;
}

double cuda_device_bandwidth(int device, int threads) {
    (void)threads;
    const int64_t bytes = (int64_t)2 << 30;
    void *from = NULL, *to = NULL;
    cudaEvent_t before = NULL, after = NULL;
    double seconds[COPIES], rate = 0;
    if (cudaSetDevice(device) == cudaSuccess && cudaMalloc(&from, (size_t)bytes) == cudaSuccess &&
        cudaMalloc(&to, (size_t)bytes) == cudaSuccess &&
        cudaMemset(from, 0x3a, (size_t)bytes) == cudaSuccess &&
        cudaEventCreate(&before) == cudaSuccess && cudaEventCreate(&after) == cudaSuccess &&
        time_copy(to, from, bytes, before, after) > 0) {
        for (int k = 0; k < COPIES; k++) {
            seconds[k] = time_copy(to, from, bytes, before, after);
        }
        const double median = sel_median(seconds, COPIES);
        rate = median > 0 ? 2 * (double)bytes / median : 0;
    }
    if (before) {
        cudaEventDestroy(before);
    }
    if (after) {
        cudaEventDestroy(after);
    }
    cudaFree(from);
    cudaFree(to);
    cudaGetLastError();
    return rate;
}
