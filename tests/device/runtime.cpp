// runtime.cpp -- CUDA's runtime on a processor: a launch is done before it returns, block after
// block. A thread of a block is a fiber with a stack of its own; one runs at a time, until it ends
// or waits for its warp or its block. Graphs record what streams were given and repeat it.
#include "tests/device/kernels.h"
#undef __CUDACC__
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
void *device::dynamic;

// ---- fibers ----

namespace {

enum state { READY, AT_BLOCK, AT_WARP, DONE };
enum { WARP = 32, MOST_THREADS = 1024, STACK = 256 << 10, KEPT = 64 /* exchanges of a warp */ };

struct fiber {
    void *stack_pointer;
    char *stack;
    enum state state;
    uint3 number;
    unsigned mask; // AT_WARP: the lanes that it waits for, what it brings,
    uint64_t value;
    const device::exchanged *got; // and what it has found
};

fiber fibers[MOST_THREADS], *now;
device::exchanged exchanges[MOST_THREADS / WARP][KEPT];
int exchanges_made[MOST_THREADS / WARP];
void *scheduler;
const std::function<void()> *body;

// Saves the registers that a function must keep, and goes on where `to` was left.
extern "C" void device_switch(void **from, void *to);
asm(R"(
.text
.globl device_switch
device_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
)");

void leave() {
    device_switch(&now->stack_pointer, scheduler);
}

void begin_thread() {
    (*body)();
    now->state = DONE;
    leave();
}

void prepare(fiber &f, unsigned k) {
    enum { SAVED = 6 };
    f.stack = f.stack ? f.stack : (char *)aligned_alloc(WARP, STACK);
    void **top = (void **)(f.stack + STACK);
    *--top = nullptr; // begin_thread returns to nowhere; and is aligned as after a call
    *--top = (void *)begin_thread;
    for (int i = 0; i < SAVED; i++) {
        *--top = nullptr;
    }
    f.stack_pointer = top;
    f.state = READY;
    f.number = {k % blockDim.x, k / blockDim.x % blockDim.y, k / blockDim.x / blockDim.y};
}

bool run_ready(unsigned first, unsigned end) {
    bool any = false;
    for (unsigned k = first; k < end; k++) {
        if (fibers[k].state == READY) {
            now = &fibers[k];
            threadIdx = now->number;
            device_switch(&scheduler, now->stack_pointer);
            any = true;
        }
    }
    return any;
}

// Lets go lanes of a warp whose mask has arrived, but for those that have ended.
bool release_warp(unsigned first, unsigned end) {
    bool any = false;
    for (unsigned k = first; k < end; k++) {
        const unsigned mask = fibers[k].mask;
        bool all = fibers[k].state == AT_WARP;
        for (unsigned i = first; i < end && all; i++) {
            const bool here = fibers[i].state == AT_WARP && fibers[i].mask == mask;
            all = !(mask >> (i - first) & 1u) || here || fibers[i].state == DONE;
        }
        if (!all) {
            continue;
        }
        device::exchanged &e = exchanges[first / WARP][exchanges_made[first / WARP]++ % KEPT];
        e.lanes = 0;
        for (unsigned i = first; i < end; i++) {
            if (mask >> (i - first) & 1u && fibers[i].state == AT_WARP) {
                e.lanes |= 1u << (i - first);
                e.value[i - first] = fibers[i].value;
                fibers[i].got = &e;
                fibers[i].state = READY;
            }
        }
        any = true;
    }
    return any;
}

void run_block(unsigned threads) {
    unsigned done = 0;
    for (unsigned k = 0; k < threads; k++) {
        prepare(fibers[k], k);
    }
    while (done < threads) {
        bool any = false;
        for (unsigned first = 0; first < threads; first += WARP) {
            const unsigned end = std::min(threads, first + WARP);
            do {
                any = run_ready(first, end) || any;
            } while (release_warp(first, end));
        }
        unsigned waiting = done = 0;
        for (unsigned k = 0; k < threads; k++) {
            done += fibers[k].state == DONE;
            waiting += fibers[k].state == AT_BLOCK;
        }
        if (!any && done + waiting < threads) {
            fputs("a block of threads waits for ever\n", stderr);
            abort();
        }
        for (unsigned k = 0; k < threads && done + waiting == threads; k++) {
            fibers[k].state = fibers[k].state == AT_BLOCK ? READY : fibers[k].state;
        }
    }
}

// Shared memory of a block, in KB.
int shared_memory() {
    const char *given = getenv("SHARED_MEMORY");
    return given ? atoi(given) : 227;
}

void run_all(const device::launch &as, const std::function<void()> &thread) {
    const unsigned threads = as.threads.x * as.threads.y * as.threads.z;
    const dim3 &n = as.blocks;
    if (threads == 0 || threads > MOST_THREADS || n.x * n.y * n.z == 0 || n.y > 65535 ||
        n.z > 65535) {
        fprintf(stderr, "no device takes %u x %u x %u blocks of %u threads\n", n.x, n.y, n.z,
                threads);
        abort();
    }
    if (as.bytes > (size_t)shared_memory() << 10) {
        fprintf(stderr, "no device has %zu bytes of shared memory\n", as.bytes);
        abort();
    }
    std::vector<char> shared(as.bytes + 1);
    device::dynamic = shared.data();
    blockDim = as.threads;
    gridDim = n;
    body = &thread;
    for (unsigned k = 0; k < n.x * n.y * n.z; k++) {
        blockIdx = {k % n.x, k / n.x % n.y, k / n.x / n.y};
        run_block(threads);
    }
}

// ---- streams and graphs ----

typedef std::vector<std::function<void()>> recorded;
recorded *recording;

cudaError_t enqueue(std::function<void()> work) {
    if (recording) {
        recording->push_back(work);
    } else {
        work();
    }
    return cudaSuccess;
}

// As many as the environment says.
int devices() {
    const char *given = getenv("DEVICES");
    return given ? atoi(given) : 1;
}

// Memory that other processes can open.
struct file_of_memory {
    int file;
    size_t bytes;
};
std::map<void *, file_of_memory> shared;

void *map(int file, size_t bytes) {
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    shared[at] = {file, bytes};
    return at;
}

double seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

} // namespace

void device::run(const launch &as, std::function<void()> thread) {
    enqueue([=] { run_all(as, thread); });
}

std::string device::make_folder() {
    const char *given = getenv("TMPDIR");
    std::string name = std::string(given ? given : "/tmp") + "/device-XXXXXX";
    return mkdtemp(&name[0]) ? name : "";
}

void device::later(std::function<void()> work) {
    enqueue(work);
}

void device::sync_block() {
    now->state = AT_BLOCK;
    leave();
}

const device::exchanged &device::exchange(unsigned mask, const void *value, size_t size) {
    now->mask = mask;
    now->value = 0;
    memcpy(&now->value, value, size);
    now->state = AT_WARP;
    leave();
    return *now->got;
}

int device::lane() {
    return (int)(now - fibers) % WARP;
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    *stream = (cudaStream_t)malloc(1);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = *greatest = 0;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    free(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    recording = new recorded;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
    *graph = (cudaGraph_t)std::exchange(recording, nullptr);
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long) {
    *made = (cudaGraphExec_t) new recorded(*(recorded *)graph);
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete (recorded *)graph;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    delete (recorded *)graph;
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
    for (const auto &work : *(recorded *)graph) {
        work();
    }
    return cudaSuccess;
}

// An event is the time at which it was recorded.
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = (cudaEvent_t)calloc(1, sizeof(double));
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    *(double *)event = seconds();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    *milliseconds = (float)(1e3 * (*(double *)end - *(double *)begin));
    return cudaSuccess;
}

// ---- memory ----

// Full of what no program should read, as a device's may be; of several devices in files, which
// other processes can open.
cudaError_t cudaMalloc(void **block, size_t bytes) {
    enum { ALIGNED = 512 };
    bytes = (bytes + ALIGNED) / ALIGNED * ALIGNED;
    if (devices() == 1) {
        *block = aligned_alloc(ALIGNED, bytes);
    } else {
        const int file = memfd_create("device", MFD_CLOEXEC);
        *block = ftruncate(file, (off_t)bytes) == 0 ? map(file, bytes) : nullptr;
    }
    return *block ? (memset(*block, 0xa5, bytes), cudaSuccess) : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *block) {
    const auto at = shared.find(block);
    if (at == shared.end()) {
        free(block);
        return cudaSuccess;
    }
    munmap(block, at->second.bytes);
    close(at->second.file);
    shared.erase(at);
    return cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *block) {
    const auto at = shared.find(block);
    if (at == shared.end()) {
        return cudaErrorInvalidDevice;
    }
    snprintf(handle->reserved, sizeof handle->reserved, "/proc/%d/fd/%d %zu", (int)getpid(),
             at->second.file, at->second.bytes);
    return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void **block, cudaIpcMemHandle_t handle, unsigned) {
    char *const end = strchr(handle.reserved, ' ');
    *end = '\0';
    *block = map(open(handle.reserved, O_RDWR | O_CLOEXEC), strtoull(end + 1, nullptr, 10));
    return *block ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaIpcCloseMemHandle(void *block) {
    return cudaFree(block);
}
// Any MPI sends this memory.
int MPIX_Query_cuda_support() {
    return getenv("CUDA_AWARE") != nullptr;
}
cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned) {
    *block = malloc(bytes + 1);
    return *block ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *block) {
    free(block);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *all) {
    *available = *all = (size_t)8 << 30;
    return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    memset(to, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
    return enqueue([=] { memset(to, value, bytes); });
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    memmove(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
    return enqueue([=] { memmove(to, from, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t) {
    return enqueue([=] {
        for (size_t k = 0; k < height; k++) {
            memmove((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width);
        }
    });
}

// ---- the device ----

cudaError_t cudaGetDeviceCount(int *count) {
    *count = devices();
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    return device < devices() ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) {
    snprintf(text, size, "0000:%02x:00.0", device);
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    strcpy(properties->name, "a processor in the place of a device");
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount            ? 132
             : attribute == cudaDevAttrComputeCapabilityMajor       ? 9
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? shared_memory() << 10
                                                                    : 0;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
    *can = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    return cudaSuccess;
}
cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
const char *cudaGetErrorName(cudaError_t) {
    return "cudaError";
}
const char *cudaGetErrorString(cudaError_t) {
    return "an error";
}
}
