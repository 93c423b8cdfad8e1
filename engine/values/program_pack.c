/* program_pack.c -- packs programs into one block: tables that refer to each other by index.
 *
 * Programs are appended to growing tables; the block consists of the tables one after the other, so
 * that one copy brings all of them to a device. DATA has the numbers of each program's lookups,
 * NUMBERS the values of series and rasters.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/values/program.h"
#include "engine/values/series.h"

/* The tables of a sel_packed; and one that stays here: the sel_lookup of each row of LOOKUPS. */
enum { PROGRAMS, INPUTS, CODE, DATA, LOOKUPS, NUMBERS, OUTPUTS, PACKED };
enum { KNOWN_LOOKUPS = PACKED, TABLES };
static const size_t row_bytes[TABLES] = {
    [PROGRAMS] = sizeof(sel_packed_program), [INPUTS] = sizeof(sel_packed_input),
    [CODE] = sizeof(sel_instruction),        [DATA] = sizeof(int32_t),
    [LOOKUPS] = sizeof(sel_packed_lookup),   [NUMBERS] = sizeof(double),
    [OUTPUTS] = sizeof(sel_program_output),  [KNOWN_LOOKUPS] = sizeof(sel_lookup *)};

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
    for (int i = 0; i < program->layout.lookups; i++) {
        const sel_lookup *lookup = program->tables.lookup[i].host;
        if (lookup->kind != SEL_LOOKUP_NOISE && !lookup->data) {
            return false;
        }
    }
    return true;
}

/* Appends rows to a table. */
static void pack_append(sel_pack *pack, int which, size_t rows, const void *from) {
    const size_t used = pack->rows[which] * row_bytes[which], more = rows * row_bytes[which];
    char *grown = realloc(pack->table[which], used + more + 1);
    pack->full = pack->full || !grown;
    if (grown) {
        pack->table[which] = grown;
        pack->rows[which] += rows;
        memcpy(grown + used, from, more);
    }
}

/* ---- adding ---- */

static void pack_add_series(sel_pack *pack, const sel_series *series, sel_packed_lookup *to) {
    to->series = series->rule;
    pack_append(pack, NUMBERS, (size_t)series->rule.n, series->t);
    pack_append(pack, NUMBERS, (size_t)series->rule.n, series->value);
}

static void pack_add_raster(sel_pack *pack, const sel_raster *raster, sel_packed_lookup *to) {
    to->raster = *raster;
    to->raster.value = NULL;
    to->raster.file = NULL;
    pack_append(pack, NUMBERS, (size_t)(raster->n[0] * raster->n[1]), raster->value);
}

/* The index of a lookup, which is added unless one with the same data is there. All noise is the
 * same: it has no data. */
static int pack_add_lookup(sel_pack *pack, const sel_lookup *lookup) {
    const sel_lookup *const *known = pack->table[KNOWN_LOOKUPS];
    const size_t count = pack->rows[LOOKUPS];
    for (size_t k = 0; k < count; k++) {
        if (known[k]->kind == lookup->kind && known[k]->data == lookup->data) {
            return (int)k;
        }
    }
    sel_packed_lookup to = {.kind = lookup->kind, .first = (int64_t)pack->rows[NUMBERS]};
    if (lookup->kind == SEL_LOOKUP_SERIES) {
        pack_add_series(pack, lookup->data, &to);
    } else if (lookup->kind == SEL_LOOKUP_RASTER) {
        pack_add_raster(pack, lookup->data, &to);
    }
    pack_append(pack, KNOWN_LOOKUPS, 1, &lookup);
    pack_append(pack, LOOKUPS, 1, &to);
    return (int)count;
}

static void pack_add_program(sel_pack *pack, const sel_program *p) {
    sel_packed_program to = p->layout;
    to.input = (int64_t)pack->rows[INPUTS];
    to.code = (int64_t)pack->rows[CODE];
    to.lookup = (int64_t)pack->rows[DATA];
    to.output = (int64_t)pack->rows[OUTPUTS];
    pack_append(pack, PROGRAMS, 1, &to);
    pack_append(pack, INPUTS, (size_t)to.inputs, p->tables.input);
    pack_append(pack, CODE, (size_t)(to.once + to.each), p->tables.code);
    pack_append(pack, OUTPUTS, (size_t)to.outputs, p->tables.output);
    for (int i = 0; i < to.lookups; i++) {
        const int32_t number = pack_add_lookup(pack, p->tables.lookup[i].host);
        pack_append(pack, DATA, 1, &number);
    }
}

int sel_pack_add(sel_pack *pack, const sel_program *program) {
    const int number = (int)pack->rows[PROGRAMS];
    if (pack->full || !sel_pack_can_hold(program)) {
        return -1;
    }
    pack_add_program(pack, program);
    return pack->full ? -1 : number;
}

/* ---- the block ---- */

/* The position of a table in the block. */
static size_t pack_start_of(const sel_pack *pack, int which) {
    enum { ALIGNMENT = 16 };
    size_t at = 0;
    for (int k = 0; k < which; k++) {
        at += (pack->rows[k] * row_bytes[k] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return at;
}

size_t sel_pack_bytes(const sel_pack *pack) {
    return pack_start_of(pack, PACKED);
}

void sel_pack_write(const sel_pack *pack, void *block) {
    for (int k = 0; k < PACKED; k++) {
        if (pack->rows[k] > 0) {
            memcpy((char *)block + pack_start_of(pack, k), pack->table[k],
                   pack->rows[k] * row_bytes[k]);
        }
    }
}

static const void *pack_table_at(const sel_pack *pack, const void *block, int which) {
    return (const char *)block + pack_start_of(pack, which);
}

sel_packed sel_pack_tables(const sel_pack *pack, const void *block) {
    return (sel_packed){.program = pack_table_at(pack, block, PROGRAMS),
                        .input = pack_table_at(pack, block, INPUTS),
                        .code = pack_table_at(pack, block, CODE),
                        .data = pack_table_at(pack, block, DATA),
                        .lookup = pack_table_at(pack, block, LOOKUPS),
                        .number = pack_table_at(pack, block, NUMBERS),
                        .output = pack_table_at(pack, block, OUTPUTS)};
}
