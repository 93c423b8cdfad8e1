/* native.c -- print programs for rows as C, have it translated, call it.
 *
 * Instructions that text for rows has (sel_print_has) are joined to functions, one for each run of
 * them; between these the loops do the others: functions of math, look-ups, random numbers. Values
 * that go from one to the other stand in the slots of the row.
 */
#include "engine/values/native.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/code_cache.h"
#include "engine/values/program_print.h"

/* Instructions first <= k < first + count of a program: by a function, or (NULL) by the loops. */
typedef void rows_function(int n, void *const *slot, void *const *to);
typedef struct part {
    int first, count;
    bool printed;
    rows_function *rows;
} part;

typedef struct parts {
    const sel_program *program;
    part *v;
    int count;
} parts;

struct sel_native {
    parts *of; /* by program */
    int programs;
    char *text;
    size_t text_length;
    enum { UNASKED, TRANSLATING, READY, NEVER } state;
    pid_t compiler;
    int waits; /* calls that waited for another process */
    char path[SEL_PATH_ROOM], source[SEL_PATH_ROOM + 32], made[SEL_PATH_ROOM + 32];
    void *library;
};

/* No contraction and no reordering, as in the Makefile; sums of whole numbers wrap; slots hold
 * numbers of several types. */
static const char *const flags[] = {"-x",
                                    "c",
                                    "-std=gnu11",
                                    "-O3",
                                    "-ffp-contract=off",
                                    "-fPIC",
                                    "-w",
                                    "-shared",
                                    "-fwrapv",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-fno-strict-aliasing"};
enum { FLAGS = sizeof flags / sizeof *flags, MOST_WAITS = 10000 };

/* Operations that the loops do in some tenths of a second, in which the compiler is done. */
static const double PAYS = 4e9;

/* ---- printing ---- */

static bool reads_slot(const sel_instruction *v, int slot) {
    bool is = false;
    for (int j = 0; j < v->operands; j++) {
        is = is || v->from[j] == slot;
    }
    return is;
}

/* Whether anything behind a part reads what instruction i of it makes. */
static bool leaves(const sel_program *p, int i, int end) {
    const sel_instruction *code = p->tables.code;
    const int slot = code[i].to;
    bool is = p->layout.fails == slot;
    for (int o = 0; o < p->layout.outputs; o++) {
        is = is || p->tables.output[o].slot == slot;
    }
    for (int k = p->layout.once + p->layout.each - 1; k > i; k--) {
        is = code[k].to == slot ? false : is;
        is = is || (k >= end && reads_slot(&code[k], slot));
    }
    return is;
}

static sel_number operand_type(const sel_instruction *v, int j) {
    return v->op == SEL_OP_CONVERT                                       ? (sel_number)v->number
           : v->op == SEL_OP_SELECT && j == 0 && v->type != SEL_NUMBER_B ? SEL_NUMBER_I
                                                                         : (sel_number)v->type;
}

/* The instruction of a part that reads what a slot holds before it; -1: none does. */
static int reader_of(const sel_instruction *code, const part *t, int slot, int *operand) {
    for (int i = t->first; i < t->first + t->count; i++) {
        for (int j = 0; j < code[i].operands; j++) {
            if (code[i].from[j] == slot) {
                *operand = j;
                return i;
            }
        }
        if (code[i].to == slot) {
            return -1;
        }
    }
    return -1;
}

/* Pointers to the rows that a part reads, or (inside) the numbers of place k. */
static void print_reads(const sel_printer *p, const part *t, bool inside) {
    const sel_packed_program *l = &p->program->layout;
    const sel_instruction *code = p->program->tables.code;
    for (int slot = l->fixed; slot < l->fixed + l->own; slot++) {
        char name[SEL_PRINT_NAME];
        int j = 0;
        const int i = reader_of(code, t, slot, &j);
        if (i >= 0) {
            const char *type = sel_print_type(p, operand_type(&code[i], j));
            if (inside) {
                sel_print_name(p, slot, name);
                fprintf(p->to, "        const %s %s = s%d[k];\n", type, name, slot);
            } else {
                fprintf(p->to, "    const %s *const s%d = slot[%d];\n", type, slot, slot);
            }
        }
    }
}

static void print_writes(const sel_printer *p, const part *t, bool inside) {
    for (int i = t->first; i < t->first + t->count; i++) {
        const sel_instruction *v = &p->program->tables.code[i];
        const char *type = sel_print_type(p, sel_result_type(v));
        if (!leaves(p->program, i, t->first + t->count)) {
            continue;
        }
        if (inside) {
            fprintf(p->to, "        o%d[k] = a%d;\n", i, i);
        } else if (v->placed) {
            fprintf(p->to, "    %s *const o%d = to[%d] ? to[%d] : slot[%d];\n", type, i,
                    v->placed - 1, v->placed - 1, v->to);
        } else {
            fprintf(p->to, "    %s *const o%d = slot[%d];\n", type, i, v->to);
        }
    }
}

static void print_part(sel_printer *p, const part *t, int program, int number) {
    fprintf(p->to, "\nvoid f%d_%d(int n, void *const *slot, void *const *to) {\n", program, number);
    sel_print_uniforms(p);
    print_reads(p, t, false);
    print_writes(p, t, false);
    fputs("    EACH for (int k = 0; k < n; k++) {\n", p->to);
    print_reads(p, t, true);
    sel_print_instructions(p, t->first, t->count);
    print_writes(p, t, true);
    fputs("    }\n}\n", p->to);
}

/* Whether instruction i fills a slot with numbers of another size than the part reads there. */
static bool overlaps(const sel_instruction *code, const part *t, int i) {
    int j = 0;
    const int reader = reader_of(code, t, code[i].to, &j);
    return reader >= 0 && sel_number_size((int)operand_type(&code[reader], j)) !=
                              sel_number_size((int)sel_result_type(&code[i]));
}

/* False: no memory. */
static bool print_program(sel_native *native, int number, FILE *to) {
    parts *all = &native->of[number];
    const sel_program *program = all->program;
    const sel_packed_program *l = &program->layout;
    const sel_instruction *code = program->tables.code;
    sel_printer p = {.rows = true};
    all->v = calloc((size_t)l->each + 1, sizeof *all->v);
    const bool enough = sel_printer_open(&p, program, 0, to) && all->v;
    for (int i = l->once; i < l->once + l->each && enough; i++) {
        const bool has = sel_print_has(&code[i]);
        part *last = all->count ? &all->v[all->count - 1] : NULL;
        if (!last || last->printed != has || (has && overlaps(code, last, i))) {
            last = &all->v[all->count++];
            *last = (part){.first = i, .printed = has};
        }
        last->count++;
    }
    for (int k = 0; k < all->count; k++) {
        const part *t = &all->v[k];
        if (t->printed) {
            print_part(&p, t, number, k);
        }
        for (int i = t->first; i < t->first + t->count; i++) {
            p.made_by[code[i].to] = i;
        }
    }
    sel_printer_close(&p);
    return enough;
}

/* False: no memory. */
static bool print_all(sel_native *native) {
    FILE *to = open_memstream(&native->text, &native->text_length);
    bool enough = to != NULL;
    if (enough) {
        fputs("#include <math.h>\n#include <stdint.h>\n"
              "#if defined(__clang__)\n"
              "#define EACH _Pragma(\"clang loop vectorize(assume_safety)\")\n"
              "#else\n#define EACH _Pragma(\"GCC ivdep\")\n#endif\n",
              to);
        sel_print_macros(to);
    }
    for (int k = 0; k < native->programs && enough; k++) {
        enough = !native->of[k].program || print_program(native, k, to);
    }
    return !(to && (ferror(to) || fclose(to))) && enough;
}

sel_native *sel_native_create(int count) {
    sel_native *native = calloc(1, sizeof *native);
    parts *of = calloc((size_t)count + 1, sizeof *of);
    if (!native || !of) {
        free(native);
        free(of);
        return NULL;
    }
    native->of = of;
    native->programs = count;
    return native;
}

void sel_native_add(sel_native *native, int number, const sel_program *program) {
    native->of[number].program = program;
}

/* ---- translating ---- */

static const char *compiler(void) {
    const char *wanted = getenv("SELENITE_CC");
    return wanted && *wanted ? wanted : "cc";
}

/* -march=x86-64-v3, as the loops; other processors have one level. */
static void name_level(char text[48]) {
    snprintf(text, 48, "-march=%.32s", sel_level_name());
    if (strncmp(text, "-march=x86", 10) != 0) {
        text[0] = '\0';
    }
}

static bool load(sel_native *native) {
    size_t bytes;
    void *code = sel_code_cache_read(native->path, &bytes);
    free(code);
    native->library = code ? dlopen(native->path, RTLD_NOW | RTLD_LOCAL) : NULL;
    bool all = native->library != NULL;
    for (int k = 0; k < native->programs && all; k++) {
        for (int i = 0; i < native->of[k].count && all; i++) {
            part *t = &native->of[k].v[i];
            char name[48];
            snprintf(name, sizeof name, "f%d_%d", k, i);
            if (t->printed) {
                *(void **)&t->rows = dlsym(native->library, name);
                all = t->rows != NULL;
            }
        }
    }
    return all;
}

static bool write_source(const sel_native *native) {
    const int descriptor = sel_file_create(native->source);
    FILE *file = descriptor < 0 ? NULL : sel_file_stream(descriptor, "w");
    const bool whole =
        file && fwrite(native->text, 1, native->text_length, file) == native->text_length;
    return !(file && fclose(file)) && whole;
}

/* Starts the compiler in a group of its own, so that it can be stopped with all that it starts. */
static bool start_compiler(sel_native *native, const char *level) {
    extern char **environ;
    const char *argument[FLAGS + 6] = {compiler()};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    snprintf(native->source, sizeof native->source, "%s.%d.c", native->path, (int)getpid());
    snprintf(native->made, sizeof native->made, "%s.%d.so", native->path, (int)getpid());
    memcpy(argument + 1, flags, sizeof flags);
    const char *const last[] = {native->source, "-o", native->made, *level ? level : NULL};
    memcpy(argument + 1 + FLAGS, last, sizeof last);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    for (int k = 0; k <= STDERR_FILENO; k++) {
        posix_spawn_file_actions_addopen(&actions, k, "/dev/null", k ? O_WRONLY : O_RDONLY, 0);
    }
    const bool begun =
        write_source(native) && !posix_spawnp(&native->compiler, argument[0], &actions, &attributes,
                                              (char *const *)(uintptr_t)argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return begun;
}

static void remove_files(const sel_native *native) {
    unlink(native->source);
    unlink(native->made);
}

/* What the compiler has made is kept where all find it, and only there loaded. */
static bool take_result(sel_native *native, int status) {
    sel_error none = {.status = SEL_OK};
    char *code = NULL;
    size_t bytes = 0;
    enum { MOST = 16 << 20 };
    const bool made = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                      !sel_file_read(native->made, MOST, "", &code, &bytes, &none) &&
                      sel_code_cache_write(native->path, code, bytes);
    free(code);
    remove_files(native);
    return made && load(native);
}

/* Finds the code; if that pays, has it made. */
static void find_or_make(sel_native *native, const char *wanted, bool pays, bool leads) {
    char level[48];
    name_level(level);
    if (!native->text && !(wanted && strcmp(wanted, "0") == 0) && print_all(native)) {
        const char *const key[] = {native->text, level};
        sel_code_cache_path(NULL, key, 2, "so", native->path);
    }
    native->state = NEVER;
    if (*native->path && load(native)) {
        native->state = READY;
    } else if (*native->path && (!pays || (!leads && native->waits++ < MOST_WAITS))) {
        native->state = UNASKED;
    } else if (*native->path && start_compiler(native, level)) {
        native->state = TRANSLATING;
    } else {
        remove_files(native);
    }
}

bool sel_native_ready(sel_native *native, double done, bool leads) {
    const char *wanted = getenv("SELENITE_CC");
    const bool pays = done > PAYS || (wanted && *wanted);
    int status;
    if (native && native->state == UNASKED && (pays || !native->text)) {
        find_or_make(native, wanted, pays, leads);
    }
    if (native && native->state == TRANSLATING) {
        const pid_t ended = waitpid(native->compiler, &status, wanted && *wanted ? 0 : WNOHANG);
        if (ended) {
            native->state = ended > 0 && take_result(native, status) ? READY : NEVER;
        }
    }
    return native && native->state == READY;
}

void sel_native_destroy(sel_native *native) {
    if (!native) {
        return;
    }
    if (native->state == TRANSLATING) {
        kill(-native->compiler, SIGTERM);
        waitpid(native->compiler, NULL, 0);
        remove_files(native);
    }
    if (native->library) {
        dlclose(native->library);
    }
    for (int k = 0; k < native->programs; k++) {
        free(native->of[k].v);
    }
    free(native->of);
    free(native->text);
    free(native);
}

/* ---- a row ---- */

bool sel_native_has_all(const sel_native *native, int program) {
    const parts *all = &native->of[program];
    return all->count == 1 && all->v->printed;
}

void sel_native_run(const sel_native *native, int program, const sel_row *row) {
    const parts *all = &native->of[program];
    for (const part *t = all->v; t < all->v + all->count; t++) {
        if (t->rows) {
            t->rows(row->n, row->slot, row->to);
        } else {
            sel_row_loops_here()->run(all->program->tables.code + t->first, t->count, row);
        }
    }
}
