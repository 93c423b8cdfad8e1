/* hardware.c -- memory, caches, cores and time, asked from Linux; a parallel loop on threads. */
#include "engine/base/hardware.h"

#include <glob.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "engine/base/kernel.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

/* The text behind "KEY : " in a file of /proc, without the newline; empty if there is no KEY. */
static void proc_value(const char *path, const char *key, char *text, size_t size) {
    char line[512];
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0) {
            snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
            text[strcspn(text, "\n")] = '\0';
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

uint64_t sel_machine_free_memory(void) {
    char text[128];
    unsigned long long kilobytes = 0;
    proc_value("/proc/meminfo", "MemAvailable", text, sizeof text);
    return sscanf(text, "%llu", &kilobytes) == 1 ? kilobytes * 1024 : UINT64_MAX;
}

const char *sel_bytes_text(double bytes, char text[SEL_BYTES_ROOM]) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    /* From 999.5 on, three digits would round to 1000. */
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, SEL_BYTES_ROOM, "%.3g %s", bytes, units[unit]);
    return text;
}

int sel_machine_threads(void) {
    return omp_get_num_procs();
}

void *sel_machine_allocate(size_t bytes) {
    const size_t line = 128, page = (size_t)2 << 20;
    size_t unit = bytes < 8 * page ? line : page;
    void *block = aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    if (block && unit == page) {
        madvise(block, bytes, MADV_HUGEPAGE); /* failure is harmless */
    }
    return block;
}

void sel_machine_clear(void *memory, size_t bytes) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)memory,
                    end = at + bytes;
    const uintptr_t first = (at + page - 1) / page * page, last = end / page * page;
    if (last <= first || madvise((void *)first, last - first, MADV_DONTNEED)) {
        memset(memory, 0, bytes);
        return;
    }
    memset(memory, 0, first - at);
    memset((void *)last, 0, end - last);
}

void *sel_machine_map(size_t bytes) {
    void *memory = mmap(NULL, bytes + !bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void sel_machine_unmap(void *memory, size_t bytes) {
    if (memory) {
        ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
        munmap(memory, bytes + !bytes);
    }
}

/* Finds the pages of memory that lie within `memory` with all of their bytes. *first is where the
 * first of them begins. Returns the bytes of all of them, 0 if there is none. */
static size_t machine_pages(void *memory, size_t bytes, void **first) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = memory, *to = at + (page - (uintptr_t)at % page) % page;
    *first = to;
    return at + bytes > to ? (size_t)(at + bytes - to) / page * page : 0;
}

void sel_machine_return_zeros(void *memory, size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *first;
    const size_t end = machine_pages(memory, bytes, &first);
    size_t zeros = 0; /* of the pages before the present one */
    for (size_t at = 0; at <= end; at += page) {
        const char *here = (const char *)first + at;
        if (at < end && here[0] == 0 && memcmp(here, here + 1, page - 1) == 0) {
            zeros += page;
        } else if (zeros) {
            madvise((char *)first + at - zeros, zeros, MADV_DONTNEED); /* failure is harmless */
            zeros = 0;
        }
    }
}

void sel_machine_withdraw(void *memory, size_t bytes) {
    void *first;
    const size_t pages = machine_pages(memory, bytes, &first);
    if (pages) { /* failure is harmless */
        mmap(first, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0);
    }
    ASAN_POISON_MEMORY_REGION(memory, bytes);
}

/* The first line of the file `name` that describes the level-3 cache; empty: there is none. */
static void cache_value(const char *name, char *text, size_t size) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index3/%s", name);
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file) {
        text[0] = fgets(text, (int)size, file) ? text[0] : '\0';
        fclose(file);
    }
}

/* The number of processors in a list such as "0-7,64-71". */
static int count_processors(const char *list) {
    int count = 0;
    for (; *list >= '0' && *list <= '9'; list += *list == ',') {
        const long first = strtol(list, (char **)(uintptr_t)&list, 10);
        const long last = *list == '-' ? strtol(list + 1, (char **)(uintptr_t)&list, 10) : first;
        count += (int)(last - first) + 1;
    }
    return count;
}

/* The size of one level-3 cache times the number of such caches that this process's cores need.
 * sysconf is the second choice: on AMD it gives the caches of the whole package, also on a virtual
 * machine that has a part of them. */
static uint64_t find_cache(void) {
    char size[32], shared[1024];
    unsigned long long kilobytes = 0;
    cache_value("size", size, sizeof size);
    cache_value("shared_cpu_list", shared, sizeof shared);
    const int cores = count_processors(shared), here = sel_machine_threads();
    if (sscanf(size, "%lluK", &kilobytes) == 1 && kilobytes > 0 && cores > 0) {
        return kilobytes * 1024 * (unsigned)((here + cores - 1) / cores);
    }
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? (uint64_t)bytes : UINT64_C(32) << 20;
}

/* Found once, since solvers ask in every step. */
uint64_t sel_machine_cache(void) {
    static _Atomic uint64_t known;
    if (!known) {
        known = find_cache();
    }
    return known;
}

void sel_machine_processor(char *text, size_t size) {
    proc_value("/proc/cpuinfo", "model name", text, size);
    struct utsname name;
    if (!*text && uname(&name) == 0) {
        snprintf(text, size, "%s", name.machine);
    }
}

double sel_machine_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- bandwidth ---- */

enum { COPIES = 9, LINE = 4096 };

/* The time of one copy (s). Each thread copies one contiguous part, as solvers divide their grids.
 */
static double machine_time_copy(char *to, const char *from, size_t bytes, int threads) {
    double start = sel_machine_seconds();
    int64_t lines = (int64_t)(bytes / LINE);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < lines; k++) {
            for (int64_t at = k * LINE; at < (k + 1) * LINE; at += 64) {
                sel_stream_line(to + at, from + at);
            }
        }
        sel_stream_end();
    }
    return sel_machine_seconds() - start;
}

static int machine_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sel_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, machine_compare);
    return values[count / 2];
}

double sel_machine_bandwidth(int threads) {
    const size_t least = (size_t)128 << 20, caches = (size_t)sel_machine_cache() * 4;
    const size_t bytes = (caches > least ? caches : least) / LINE * LINE; /* of one array */
    char *from = sel_machine_allocate(bytes), *to = sel_machine_allocate(bytes);
    double seconds[COPIES], rate = 0;
    if (from && to) {
        int64_t lines = (int64_t)(bytes / LINE);
/* The first touch places a page near the thread that uses it. */
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t k = 0; k < lines; k++) {
            memset(from + k * LINE, (int)(k & 127), LINE);
            memset(to + k * LINE, 1, LINE);
        }
        for (int k = 0; k < COPIES; k++) {
            seconds[k] = machine_time_copy(to, from, bytes, threads);
        }
        rate = 2 * (double)bytes / sel_median(seconds, COPIES);
    }
    free(from);
    free(to);
    return rate;
}

/* ---- tasks ---- */

/* Does parts in all threads, and marks those that succeed in done[]. A part that fails in the
 * calling thread ends the loop: the error is real there. */
static void do_shared(int64_t parts, int threads, sel_part *work, void *task, uint8_t *done) {
    bool failed = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t p = 0; p < parts; p++) {
        const int thread = omp_get_thread_num();
        bool given_up;
#pragma omp atomic read
        given_up = failed;
        done[p] = !given_up && work(task, p, thread, NULL) == SEL_OK;
        if (!done[p] && thread == 0) {
#pragma omp atomic write
            failed = true;
        }
    }
}

sel_status sel_share_out(int64_t parts, int threads, sel_part *work, void *task, sel_error *error) {
    const bool shared = threads > 1 && parts > 1 && !omp_in_parallel();
    uint8_t *done = shared ? calloc((size_t)parts, 1) : NULL; /* NULL: no part is done yet */
    sel_status status = SEL_OK;
    if (done) {
        do_shared(parts, threads, work, task, done);
    }
    for (int64_t p = 0; p < parts && !status; p++) {
        if (!done || !done[p]) {
            status = work(task, p, 0, error);
        }
    }
    free(done);
    return status;
}

/* ---- levels ---- */

#if defined(__x86_64__)

static bool has_v2(void) {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

static bool has_v3(void) {
    return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static const char *const level_names[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};

int sel_level(int k) {
    __builtin_cpu_init();
    const int best = has_v4() ? 0 : has_v3() ? 1 : has_v2() ? 2 : 3;
    return best + k < 3 ? best + k : -1;
}

#else

static const char *const level_names[] = {"any"};

int sel_level(int k) {
    return k == 0 ? 0 : -1;
}

#endif

const char *sel_level_name(void) {
    return sel_level(0) < 0 ? "unsupported" : level_names[sel_level(0)];
}

/* Looks for the driver's files, since some virtual machines show nothing else; then for a device on
 * the PCI bus by vendor and class. */
bool sel_machine_has_gpu(void) {
    static const char *const nodes[] = {"/dev/nvidiactl", "/proc/driver/nvidia/version",
                                        "/dev/dxg"};
    bool found = false;
    glob_t devices = {.gl_pathc = 0};
    for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++) {
        found = found || access(nodes[k], F_OK) == 0;
    }
    if (!found && glob("/sys/bus/pci/devices/*", 0, NULL, &devices) == 0) {
        for (size_t k = 0; k < devices.gl_pathc && !found; k++) {
            char path[512];
            unsigned vendor = 0, class = 0;
            const char *const names[] = {"vendor", "class"};
            unsigned *const to[] = {&vendor, &class};
            for (int n = 0; n < 2; n++) {
                snprintf(path, sizeof path, "%.400s/%s", devices.gl_pathv[k], names[n]);
                FILE *file = fopen(path, "re");
                if (file) {
                    *to[n] = fscanf(file, "%x", to[n]) == 1 ? *to[n] : 0;
                    fclose(file);
                }
            }
            found = vendor == 0x10de && class >> 16 == 3; /* NVIDIA; a display controller */
        }
    }
    globfree(&devices);
    return found;
}
