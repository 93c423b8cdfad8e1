/* program_pack.c -- lay programs out as tables that name each other by number.
 *
 * Programs are appended to growing tables; the block is the tables one after the other.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/values/program.h"
#include "engine/values/series.h"

/* The tables of a sel_packed, and the program and look-up that their rows were made from. */
enum { PROGRAMS, INPUTS, CODE, CALLS, LOOKUPS, NUMBERS, PACKED };
enum { KNOWN_PROGRAMS = PACKED, KNOWN_LOOKUPS, TABLES };
static const size_t row_bytes[TABLES] = {[PROGRAMS] = sizeof(sel_packed_program),
                                         [INPUTS] = sizeof(sel_packed_input),
                                         [CODE] = sizeof(uint64_t),
                                         [CALLS] = sizeof(sel_packed_call),
                                         [LOOKUPS] = sizeof(sel_packed_lookup),
                                         [NUMBERS] = sizeof(double),
                                         [KNOWN_PROGRAMS] = sizeof(sel_program *),
                                         [KNOWN_LOOKUPS] = sizeof(sel_lookup *)};

struct sel_pack {
    void *table[TABLES];
    size_t rows[TABLES];
    bool full; /* out of memory: nothing more can be added */
};

sel_pack *sel_pack_create(void) {
    return calloc(1, sizeof(sel_pack));
}

void sel_pack_destroy(sel_pack *pack) {
    for (int k = 0; pack && k < TABLES; k++) {
        free(pack->table[k]);
    }
    free(pack);
}

bool sel_pack_can_hold(const sel_program *program) {
    for (int i = 0; i < program->calls; i++) {
        const sel_lookup *lookup = program->call[i].lookup;
        if (lookup->kind != SEL_LOOKUP_NOISE && !lookup->data) {
            return false;
        }
    }
    return program->registers <= 1 << SEL_PACKED_BITS;
}

/* Appends rows to a table; NULL: no memory. */
static void *add_rows(sel_pack *pack, int which, size_t rows) {
    const size_t used = pack->rows[which] * row_bytes[which];
    char *grown = realloc(pack->table[which], used + rows * row_bytes[which] + 1);
    if (!grown) {
        pack->full = true;
        return NULL;
    }
    pack->table[which] = grown;
    pack->rows[which] += rows;
    return grown + used;
}

/* ---- adding ---- */

static bool write_series(sel_pack *pack, const sel_series *series, sel_packed_lookup *to) {
    const size_t n = (size_t)series->rule.n;
    double *number = add_rows(pack, NUMBERS, 2 * n);
    to->series = series->rule;
    if (number) {
        memcpy(number, series->t, n * sizeof *number);
        memcpy(number + n, series->value, n * sizeof *number);
    }
    return number;
}

static bool write_raster(sel_pack *pack, const sel_raster *raster, sel_packed_lookup *to) {
    const size_t n = (size_t)(raster->n[0] * raster->n[1]);
    double *number = add_rows(pack, NUMBERS, n);
    to->raster = *raster;
    to->raster.value = NULL;
    to->raster.file = NULL;
    if (number) {
        memcpy(number, raster->value, n * sizeof *number);
    }
    return number;
}

/* The number of a look-up, added unless its data are present. Noise has no data: all noise is the
 * same. */
static int add_lookup(sel_pack *pack, const sel_lookup *lookup) {
    const sel_lookup *const *known = pack->table[KNOWN_LOOKUPS];
    const size_t count = pack->rows[LOOKUPS];
    for (size_t k = 0; k < count; k++) {
        if (known[k]->kind == lookup->kind && known[k]->data == lookup->data) {
            return (int)k;
        }
    }
    const sel_lookup **here = add_rows(pack, KNOWN_LOOKUPS, 1);
    sel_packed_lookup *to = add_rows(pack, LOOKUPS, 1);
    if (!here || !to) {
        return -1;
    }
    *here = lookup;
    *to = (sel_packed_lookup){.kind = lookup->kind, .first = (int64_t)pack->rows[NUMBERS]};
    bool done = lookup->kind == SEL_LOOKUP_NOISE ||
                (lookup->kind == SEL_LOOKUP_SERIES ? write_series(pack, lookup->data, to)
                                                   : write_raster(pack, lookup->data, to));
    return done ? (int)count : -1;
}

/* Adds the inputs that vary with the place, or the others; returns their number. */
static int write_inputs(const sel_program *p, bool coordinates, sel_packed_input *to) {
    int count = 0;
    for (int i = 0; i < p->inputs; i++) {
        if (sel_is_coordinate(&p->input[i]) == coordinates) {
            to[count++] = p->input[i];
        }
    }
    return count;
}

static void write_code(const sel_instruction *code, int count, uint64_t *to) {
    for (int i = 0; i < count; i++) {
        const uint16_t operand[] = {code[i].to, code[i].a, code[i].b, code[i].c};
        to[i] = code[i].op;
        for (int k = 0; k < 4; k++) {
            to[i] |= (uint64_t)operand[k] << (SEL_PACKED_OP_BITS + k * SEL_PACKED_BITS);
        }
    }
}

static void add_calls(sel_pack *pack, const sel_program *p) {
    sel_packed_call *call = add_rows(pack, CALLS, (size_t)p->calls);
    for (int i = 0; i < p->calls && call; i++) {
        call[i].lookup = add_lookup(pack, p->call[i].lookup);
        memcpy(call[i].arguments, p->call[i].arguments, sizeof call[i].arguments);
    }
}

static void write_program(sel_pack *pack, const sel_program *p) {
    sel_packed_program to = {.input = (int64_t)pack->rows[INPUTS],
                             .code = (int64_t)pack->rows[CODE],
                             .call = (int64_t)pack->rows[CALLS],
                             .once = p->once_count,
                             .each = p->each_count,
                             .of_x = p->of_x,
                             .of_yz = p->of_yz,
                             .fixed = p->fixed,
                             .lines = p->lines,
                             .own = p->registers - p->fixed,
                             .has_exact = p->has_exact,
                             .exact = p->exact};
    for (int r = 0; r < SEL_PROGRAM_RESULTS; r++) {
        to.result[r] = p->result[r < p->results ? r : 0];
    }
    const sel_program **known = add_rows(pack, KNOWN_PROGRAMS, 1);
    sel_packed_program *program = add_rows(pack, PROGRAMS, 1);
    sel_packed_input *input = add_rows(pack, INPUTS, (size_t)p->inputs);
    uint64_t *code = add_rows(pack, CODE, (size_t)(p->once_count + p->each_count));
    if (!pack->full) {
        to.inputs = write_inputs(p, false, input);
        to.coordinates = write_inputs(p, true, input + to.inputs);
        write_code(p->once, p->once_count, code);
        write_code(p->each, p->each_count, code + p->once_count);
        *known = p;
        *program = to;
        add_calls(pack, p);
    }
}

int sel_pack_add(sel_pack *pack, const sel_program *program) {
    const sel_program *const *known = pack->table[KNOWN_PROGRAMS];
    const size_t count = pack->rows[PROGRAMS];
    for (size_t k = 0; k < count && !pack->full; k++) {
        if (known[k] == program) {
            return (int)k;
        }
    }
    if (!pack->full && sel_pack_can_hold(program)) {
        write_program(pack, program);
        return pack->full ? -1 : (int)count;
    }
    return -1;
}

/* ---- the block ---- */

/* Where a table begins. */
static size_t start_of(const sel_pack *pack, int which) {
    enum { ALIGNMENT = 16 };
    size_t at = 0;
    for (int k = 0; k < which; k++) {
        at += (pack->rows[k] * row_bytes[k] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return at;
}

size_t sel_pack_bytes(const sel_pack *pack) {
    return start_of(pack, PACKED);
}

void sel_pack_write(const sel_pack *pack, void *block) {
    for (int k = 0; k < PACKED; k++) {
        if (pack->rows[k] > 0) {
            memcpy((char *)block + start_of(pack, k), pack->table[k], pack->rows[k] * row_bytes[k]);
        }
    }
}

static const void *table_at(const sel_pack *pack, const void *block, int which) {
    return (const char *)block + start_of(pack, which);
}

sel_packed sel_pack_tables(const sel_pack *pack, const void *block) {
    return (sel_packed){.program = table_at(pack, block, PROGRAMS),
                        .input = table_at(pack, block, INPUTS),
                        .code = table_at(pack, block, CODE),
                        .call = table_at(pack, block, CALLS),
                        .lookup = table_at(pack, block, LOOKUPS),
                        .number = table_at(pack, block, NUMBERS)};
}
