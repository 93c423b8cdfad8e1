/* program_pack.c -- lay programs out as tables that name each other by number. */
#include "engine/program.h"

#include <stdlib.h>
#include <string.h>
#include "engine/series.h"

/* Entries of the tables. */
typedef struct lengths {
    size_t programs, inputs, code, calls, lookups, numbers;
} lengths;

struct sel_pack {
    const sel_program **program;
    const sel_lookup **lookup;
    lengths used;
};

sel_pack *sel_pack_create(void) {
    return calloc(1, sizeof(sel_pack));
}

void sel_pack_destroy(sel_pack *pack) {
    if (pack) {
        free(pack->program);
        free(pack->lookup);
        free(pack);
    }
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

static size_t numbers_of(const sel_lookup *lookup) {
    if (lookup->kind == SEL_LOOKUP_SERIES) {
        return 2 * (size_t)((const sel_series *)lookup->data)->rule.n;
    }
    if (lookup->kind == SEL_LOOKUP_RASTER) {
        const sel_raster *raster = lookup->data;
        return (size_t)(raster->n[0] * raster->n[1]);
    }
    return 0;
}

/* A list of pointers with room for one more than the `used` ones; NULL, and the old list as it was:
 * no memory. */
static void *with_room(const void *list, size_t used) {
    return realloc((void *)(uintptr_t)list, (used + 1) * sizeof(void *));
}

/* The number of a look-up's data. Noise has none, so that all noise is the same. */
static size_t find_lookup(const sel_pack *pack, const sel_lookup *lookup) {
    size_t k = 0;
    while (k < pack->used.lookups &&
           (pack->lookup[k]->kind != lookup->kind || pack->lookup[k]->data != lookup->data)) {
        k++;
    }
    return k;
}

static bool add_lookup(sel_pack *pack, const sel_lookup *lookup) {
    if (find_lookup(pack, lookup) < pack->used.lookups) {
        return true;
    }
    const sel_lookup **grown = with_room(pack->lookup, pack->used.lookups);
    if (!grown) {
        return false;
    }
    pack->lookup = grown;
    pack->lookup[pack->used.lookups++] = lookup;
    pack->used.numbers += numbers_of(lookup);
    return true;
}

int sel_pack_add(sel_pack *pack, const sel_program *program) {
    for (size_t k = 0; k < pack->used.programs; k++) {
        if (pack->program[k] == program) {
            return (int)k;
        }
    }
    const sel_program **grown =
        sel_pack_can_hold(program) ? with_room(pack->program, pack->used.programs) : NULL;
    if (!grown) {
        return -1;
    }
    pack->program = grown;
    pack->program[pack->used.programs] = program;
    for (int i = 0; i < program->calls; i++) {
        if (!add_lookup(pack, program->call[i].lookup)) {
            return -1;
        }
    }
    pack->used.inputs += (size_t)program->inputs;
    pack->used.code += (size_t)(program->once_count + program->each_count);
    pack->used.calls += (size_t)program->calls;
    return (int)pack->used.programs++;
}

enum { ALIGNMENT = 16 };

/* Takes room for a table from a block, or with no block only counts. */
static const void *take(const void *block, size_t *at, size_t bytes) {
    const void *table = block ? (const char *)block + *at : NULL;
    *at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return table;
}

static sel_packed lay_out(const sel_pack *pack, const void *block, size_t *bytes) {
    const lengths *n = &pack->used;
    sel_packed p;
    *bytes = 0;
    p.program = take(block, bytes, n->programs * sizeof *p.program);
    p.input = take(block, bytes, n->inputs * sizeof *p.input);
    p.code = take(block, bytes, n->code * sizeof *p.code);
    p.call = take(block, bytes, n->calls * sizeof *p.call);
    p.lookup = take(block, bytes, n->lookups * sizeof *p.lookup);
    p.number = take(block, bytes, n->numbers * sizeof *p.number);
    return p;
}

size_t sel_pack_bytes(const sel_pack *pack) {
    size_t bytes;
    lay_out(pack, NULL, &bytes);
    return bytes;
}

sel_packed sel_pack_tables(const sel_pack *pack, const void *block) {
    size_t bytes;
    return lay_out(pack, block, &bytes);
}

/* The same tables, where the block is to be written. */
typedef struct writer {
    const sel_pack *pack;
    sel_packed_program *program;
    sel_packed_input *input;
    uint64_t *code;
    sel_packed_call *call;
    sel_packed_lookup *lookup;
    double *number;
    lengths written;
} writer;

static void *writable(const void *table) {
    return (void *)(uintptr_t)table;
}

static bool is_coordinate(const sel_program_input *input) {
    return !input->is_constant && input->argument <= SEL_ARGUMENT_Z;
}

static int write_inputs(writer *w, const sel_program *p, bool coordinates) {
    int count = 0;
    for (int i = 0; i < p->inputs; i++) {
        const sel_program_input *input = &p->input[i];
        if (is_coordinate(input) == coordinates) {
            w->input[w->written.inputs++] = (sel_packed_input){
                .value = input->is_constant ? input->value : 0,
                .to = input->to,
                .argument = input->is_constant ? SEL_PACKED_CONSTANT : input->argument,
            };
            count++;
        }
    }
    return count;
}

static void write_code(writer *w, const sel_instruction *code, int count) {
    for (int i = 0; i < count; i++) {
        const uint16_t operand[] = {code[i].to, code[i].a, code[i].b, code[i].c};
        uint64_t word = code[i].op;
        for (int k = 0; k < 4; k++) {
            word |= (uint64_t)operand[k] << (SEL_PACKED_OP_BITS + k * SEL_PACKED_BITS);
        }
        w->code[w->written.code++] = word;
    }
}

static void write_calls(writer *w, const sel_program *p) {
    for (int i = 0; i < p->calls; i++) {
        sel_packed_call *call = &w->call[w->written.calls++];
        call->lookup = (int32_t)find_lookup(w->pack, p->call[i].lookup);
        memcpy(call->arguments, p->call[i].arguments, sizeof call->arguments);
    }
}

static void write_program(writer *w, const sel_program *p) {
    sel_packed_program *to = &w->program[w->written.programs++];
    *to = (sel_packed_program){.input = (int64_t)w->written.inputs,
                               .code = (int64_t)w->written.code,
                               .call = (int64_t)w->written.calls,
                               .once = p->once_count,
                               .each = p->each_count,
                               .of_x = p->of_x,
                               .of_yz = p->of_yz,
                               .fixed = p->fixed,
                               .lines = p->lines,
                               .own = p->registers - p->fixed,
                               .has_exact = p->has_exact,
                               .exact = p->exact};
    for (int r = 0; r < SEL_PACKED_RESULTS; r++) {
        to->result[r] = p->result[r < p->results ? r : 0];
    }
    to->inputs = write_inputs(w, p, false);
    to->coordinates = write_inputs(w, p, true);
    write_code(w, p->once, p->once_count);
    write_code(w, p->each, p->each_count);
    write_calls(w, p);
}

static void write_lookup(writer *w, const sel_lookup *lookup) {
    static const sel_packed_kind kinds[] = {[SEL_LOOKUP_SERIES] = SEL_PACKED_SERIES,
                                            [SEL_LOOKUP_RASTER] = SEL_PACKED_RASTER,
                                            [SEL_LOOKUP_NOISE] = SEL_PACKED_NOISE};
    sel_packed_lookup *to = &w->lookup[w->written.lookups++];
    double *number = w->number + w->written.numbers;
    size_t count = numbers_of(lookup);
    *to = (sel_packed_lookup){.kind = kinds[lookup->kind], .first = (int64_t)w->written.numbers};
    if (lookup->kind == SEL_LOOKUP_SERIES) {
        const sel_series *series = lookup->data;
        to->series = series->rule;
        memcpy(number, series->t, count / 2 * sizeof *number);
        memcpy(number + count / 2, series->value, count / 2 * sizeof *number);
    } else if (lookup->kind == SEL_LOOKUP_RASTER) {
        to->raster = *(const sel_raster *)lookup->data;
        to->raster.value = NULL;
        to->raster.file = NULL;
        memcpy(number, ((const sel_raster *)lookup->data)->value, count * sizeof *number);
    }
    w->written.numbers += count;
}

void sel_pack_write(const sel_pack *pack, void *block) {
    sel_packed tables = sel_pack_tables(pack, block);
    writer w = {.pack = pack,
                .program = writable(tables.program),
                .input = writable(tables.input),
                .code = writable(tables.code),
                .call = writable(tables.call),
                .lookup = writable(tables.lookup),
                .number = writable(tables.number)};
    for (size_t k = 0; k < pack->used.programs; k++) {
        write_program(&w, pack->program[k]);
    }
    for (size_t k = 0; k < pack->used.lookups; k++) {
        write_lookup(&w, pack->lookup[k]);
    }
}
