/* rule_cpu.c -- sel.rule on the processor. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/core/cpu.h"
#include "engine/solvers/rule/rule.h"
#include "engine/values/program_row.h"

typedef struct rule_cpu {
    rule_state all;
    double *fixed;          /* the values that are the same in all cells */
    char *uniform;          /* and rows of them */
    char *registers;        /* [threads][slots] rows */
    double *rows;           /* [threads][ROWS][nx]: of fields */
    sel_error *error;       /* of functions that Lua evaluates */
    rule_lua_cells left;    /* to Lua, by the present rule */
    rule_lua_cells numbers; /* and by the derived field or dt.limit that is looked at */
    void **slot;            /* [threads][slots] */
    int slots;
    bool streams; /* the arrays do not stay in the caches */
    sel_native *native;
    bool by_native; /* functions are run by it */
    double done;    /* operations */
    struct source {
        int field, size;
        int64_t away;         /* elements from a cell to the one that is read */
        bool in_place, leads; /* leads: the first to read what is not in the caches */
    } * source;               /* what the present function reads */
} rule_cpu;

/* A line apart, so that not all rows begin at the same place of a page. */
enum { ROW_BYTES = 2 * SEL_ROW * sizeof(double) + 64, ROWS = 6 /* a vector, extremes, scratch */ };

static void rule_cpu_list(sel_state *base) {
    rule_cpu *state = (rule_cpu *)base;
    const rule_model *m = ((const rule_plan *)base->plan)->model;
    const sel_grid *grid = &base->plan->domain->grid;
    rule_list(base, 0);
    state->slots = m->slots + 1;
    SEL_ADD(&base->arrays, state, uniform, (int64_t)state->slots * ROW_BYTES, 0);
    SEL_ADD(&base->arrays, state, registers, (int64_t)base->threads * state->slots * ROW_BYTES, 0);
    SEL_ADD(&base->arrays, state, fixed, state->slots, 0);
    SEL_ADD(&base->arrays, state, source, state->slots, 0);
    SEL_ADD(&base->arrays, state, slot, (int64_t)base->threads * state->slots, 0);
    SEL_ADD(&base->arrays, state, rows, ROWS * base->threads * grid->n[0], 0);
}

/* ---- a function on a piece of a row ---- */

/* By which the model and machine code know it. */
static int number_of(const rule_state *state, const rule_function *f) {
    return (int)(f - state->model->function);
}

typedef struct piece {
    rule_cpu *cpu;
    const rule_state *state;
    const rule_function *f;
    const sel_program *code;
    const sel_row_loops *loops;
    bool bytes;                /* computed by machine code as uint8_t */
    int n, odds, next;         /* next: the number of the piece behind it */
    int64_t row, x, first, at; /* its first cell, its number, and where that is in the arrays */
    void **slot;
    char *registers;
    void *to[SEL_MOST_CELL_FIELDS]; /* by output: where it stands already; NULL: in its slot */
    uint8_t odd[SEL_ROW];           /* cells that are not computed like others */
    const int32_t *fails;           /* not 0 where Lua gives the values; NULL: nowhere */
} piece;

static char *array_of(const piece *p, int f, bool other) {
    return (char *)p->state->tables.at[f][(p->state->turns >> f & 1) ^ other] +
           p->at * rule_size(p->state->model, f);
}

/* The masks of a cell's kind. */
static uint64_t mask_at(const piece *p, const uint64_t *masks, int64_t at) {
    return masks[p->state->kind[at] % RULE_ODD];
}

/* Values of a field in the cells about; where they are not just those in memory, in a register. */
static void *read_values(const piece *p, const struct source *s, char *to) {
    const rule_state *state = p->state;
    const int size = s->size, type = state->tables.type[s->field];
    const bool widens = type == SEL_CELL_U8 && !p->bytes;
    const char *from = array_of(p, s->field, false) + s->away * size;
    for (int k = 0; s->leads && k < p->n * size; k += 64) { /* of the next piece */
        __builtin_prefetch(from + p->n * size + k);
    }
    if (widens) {
        p->loops->widen((const uint8_t *)from, (int32_t *)(void *)to, p->n);
    } else if (p->odds || s->in_place) {
        memcpy(to, from, (size_t)(p->n * size));
    } else {
        return (void *)(uintptr_t)from;
    }
    for (int k = 0; k < p->odds && s->away; k++) {
        const int x = p->odd[k];
        if (mask_at(p, state->tables.walls, p->at + x + s->away) >> s->field & 1) {
            rule_set(widens ? SEL_CELL_I32 : type, state->tables.wide, to, x,
                     rule_value(state, s->field, p->at + x));
        }
    }
    return to;
}

/* Piece `number` of a row, with those behind it up to `end` while none is odd. */
static bool begin_piece(piece *p, int64_t row, int number, int end) {
    const rule_state *state = p->state;
    const sel_grid *grid = &state->plan->base.domain->grid;
    const uint8_t *solid = sel_state_solids(&state->base, row);
    const uint8_t *odd = state->odd + row * rule_pieces(grid->n[0]);
    p->row = row;
    p->x = (int64_t)number * SEL_ROW;
    for (p->next = number + 1; p->next < end && !odd[number] && !odd[p->next];) {
        p->next++;
    }
    const int64_t most = (int64_t)(p->next - number) * SEL_ROW, left = grid->n[0] - p->x;
    p->n = (int)(left < most ? left : most);
    p->at = rule_row(state, row) + p->x;
    p->first = row * grid->n[0] + p->x;
    p->odds = 0;
    if (!odd[number]) {
        return true;
    }
    int solids = 0;
    for (int x = 0; x < p->n; x++) {
        p->odd[p->odds] = (uint8_t)x;
        p->odds += state->kind[p->at + x] >= RULE_ODD;
        solids += solid[p->x + x] != 0;
    }
    return solids < p->n; /* else nothing is to be computed */
}

/* A function that only Lua evaluates, in the cells of a piece. */
static void call_lua(const piece *p) {
    const rule_state *state = p->state;
    double out[SEL_MOST_CELL_FIELDS];
    for (int x = 0; x < p->n; x++) {
        const bool solid = state->plan->base.domain->cell[p->first + x];
        rule_lua_keep(state, p->first + x, NULL, out);
        if (!solid && !p->cpu->all.status) {
            p->cpu->all.status = rule_lua_call(state, p->f, p->first + x, NULL, out, p->cpu->error);
        }
        for (int k = 0; k < p->code->layout.outputs; k++) {
            const sel_program_output *output = &p->code->tables.output[k];
            rule_set(SEL_CELL_REAL, output->type == SEL_NUMBER_D, p->slot[k], x,
                     out[output->field]);
        }
    }
}

static void compute(piece *p) {
    const rule_state *state = p->state;
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int first = p->code->layout.fixed;
    const bool whole = p->odds == 0 && p->cpu->by_native && !p->cpu->streams;
    /* Machine code stores in other copies where it need not pass the caches. */
    for (int o = 0; o < p->code->layout.outputs; o++) {
        const sel_program_output *output = &p->code->tables.output[o];
        const bool placed = whole && output->direct && p->f->turns >> output->field & 1;
        p->to[o] = placed ? array_of(p, output->field, true) : NULL;
    }
    for (int k = first; k < first + p->code->layout.reads; k++) {
        p->slot[k] =
            read_values(p, &p->cpu->source[k - first], p->registers + (k - first) * ROW_BYTES);
    }
    if (!p->f->rule) {
        call_lua(p);
        return;
    }
    const sel_row row = {.n = p->n,
                         .slot = p->slot,
                         .lookup = p->code->tables.lookup,
                         .origin = grid->origin,
                         .dx = grid->dx,
                         .at = {p->x, p->row % grid->n[1], p->row / grid->n[1]},
                         .cell = p->first,
                         .step = state->base.step,
                         .seed = (uint64_t)state->model->params->seed,
                         .to = p->to};
    if (p->cpu->by_native) {
        sel_native_run(p->cpu->native, number_of(state, p->f), &row);
    } else {
        p->loops->run(p->code->tables.code + p->code->layout.once, p->code->layout.each, &row);
    }
}

/* Before a function is evaluated: what is the same in all cells. */
static void begin_function(rule_cpu *cpu, const rule_function *f, sel_error *error) {
    sel_state *base = &cpu->all.base;
    const sel_layout *cells = rule_layout(&cpu->all);
    const sel_program *code = f->code;
    const int reads = code->layout.reads;
    for (int k = 0; k < reads; k++) {
        const sel_read *read = &code->tables.read[k];
        cpu->source[k] = (struct source){.field = read->field,
                                         .size = rule_size(cpu->all.model, read->field),
                                         .away = read->at[0] + read->at[1] * cells->pitch +
                                                 read->at[2] * cells->slice,
                                         .in_place = (f->writes & ~f->turns) >> read->field & 1,
                                         .leads = true};
    }
    for (int k = 0; k < reads * reads; k++) {
        const struct source *other = &cpu->source[k % reads];
        struct source *s = &cpu->source[k / reads];
        s->leads = s->leads && !(other->field == s->field && other->away > s->away);
    }
    base->threads = f->rule && base->plan->threads > 0 ? base->plan->threads : 1;
    cpu->all.status = SEL_OK;
    cpu->error = error;
    if (!f->rule) {
        return;
    }
    sel_packed_once(&code->tables, 0, sel_state_time(base), base->clock.dt,
                    base->plan->domain->control_values, cpu->fixed);
    sel_row_uniforms(code, cpu->fixed, cpu->uniform, ROW_BYTES);
}

/* A piece for the calling thread. */
static piece begin_thread(rule_cpu *cpu, const rule_function *f) {
    const int thread = omp_get_thread_num();
    const sel_program *code = f->code;
    piece p = {.cpu = cpu,
               .state = &cpu->all,
               .f = f,
               .code = code,
               .loops = sel_row_loops_here(),
               .bytes = code->bytes && cpu->by_native,
               .slot = cpu->slot + thread * cpu->slots,
               .registers = cpu->registers + (int64_t)thread * cpu->slots * ROW_BYTES};
    sel_row_slots(code, cpu->uniform, p.registers, ROW_BYTES, p.slot);
    return p;
}

/* ---- steps ---- */

static void store_output(const piece *p, rule_state *state, const sel_program_output *output) {
    const int f = output->field, turns = (int)(p->f->turns >> f & 1);
    const sel_cell_type type = state->model->field[f].type;
    const sel_cell_type own = p->bytes                       ? SEL_CELL_U8
                              : output->type == SEL_NUMBER_I ? SEL_CELL_I32
                                                             : SEL_CELL_REAL;
    const bool wide = output->type == SEL_NUMBER_D, streams = p->cpu->streams && turns;
    const size_t bytes = (size_t)p->n * (p->bytes ? 1 : sel_number_size(output->type));
    char *to = array_of(p, f, turns);
    const char *from = p->slot[output->slot];
    char row[ROW_BYTES];
    if (p->to[output - p->code->tables.output]) {
        return;
    }
    if (p->odds || p->fails) { /* what is not computed keeps its value */
        from = memcpy(row, from, bytes);
    }
    for (int k = 0; k < p->odds; k++) {
        const int x = p->odd[k];
        if (mask_at(p, state->tables.held, p->at + x) >> f & 1) {
            rule_set(own, wide, row, x, rule_number(type, state->tables.wide, to, x));
        }
    }
    for (int k = 0; k < p->n && p->fails; k++) { /* what Lua will give, is stored later */
        if (p->fails[k]) {
            rule_set(own, wide, row, k, 0);
        }
    }
    if (own == type) {
        p->loops->put(from, to, bytes, streams);
        return;
    }
    const int bad = p->loops->store(output->type, from, type, to, p->n, output->checked, streams);
    if (bad >= 0) {
        rule_note_bad(state, p->first + bad, f, rule_number(own, wide, from, bad));
    }
}

/* Notes the cells of a piece whose values only Lua can give, before anything is stored. */
static void note_failures(piece *p, const rule_state *state, rule_lua_cells *left) {
    const int32_t *fails = p->code->layout.fails >= 0 ? p->slot[p->code->layout.fails] : NULL;
    p->fails = NULL;
    for (int k = 0; fails && k < p->n; k++) {
        const bool computed =
            !p->f->writes || p->f->writes & ~mask_at(p, state->tables.held, p->at + k);
        if (fails[k] && computed) {
            p->fails = fails;
            rule_lua_note(state, left, p->first + k);
        }
    }
}

static void do_piece(piece *p, rule_state *state) {
    compute(p);
    note_failures(p, state, &p->cpu->left);
    for (int o = 0; o < p->code->layout.outputs; o++) {
        store_output(p, state, &p->code->tables.output[o]);
    }
}

/* Pieces that are done at once: machine code takes as many numbers as a row has room for. */
static int pieces_at_once(const rule_cpu *cpu, const rule_function *f) {
    const rule_model *m = cpu->all.model;
    const bool bytes = f->code->bytes;
    const int size = bytes ? 1 : m->precision == SEL_F32 ? sizeof(float) : sizeof(double);
    const bool all = cpu->by_native && sel_native_has_all(cpu->native, number_of(&cpu->all, f)) &&
                     (bytes || !(f->writes & ~m->reals));
    return all ? ROW_BYTES / size / SEL_ROW : 1;
}

static sel_status run_rule(rule_cpu *cpu, const rule_function *f, sel_error *error) {
    rule_state *state = &cpu->all;
    const sel_rows own = sel_own_rows(&state->base);
    const int pieces = rule_pieces(state->plan->base.domain->grid.n[0]);
    begin_function(cpu, f, error);
    const int most = pieces_at_once(cpu, f), groups = (pieces + most - 1) / most;
#pragma omp parallel num_threads(state->base.threads)
    {
        piece p = begin_thread(cpu, f);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < own.count * groups; k++) {
            const int64_t row = sel_row_of(&own, k / groups);
            const int first = (int)(k % groups) * most;
            const int end = first + most < pieces ? first + most : pieces;
            for (int j = first; j < end; j = p.next) {
                if (begin_piece(&p, row, j, end)) {
                    do_piece(&p, state);
                }
            }
        }
        sel_stream_end();
    }
    if (f->code->layout.fails >= 0) {
        rule_lua_take(state, f, &cpu->left);
    }
    return cpu->all.status;
}

/* ---- the loop ---- */

/* That of the first cell of all ranks. */
static sel_status report_first(rule_cpu *cpu, const rule_function *f, sel_error *error) {
    const sel_state *base = &cpu->all.base;
    const int64_t cell = cpu->all.bad.cell;
    const double first = -sel_state_largest(base, cell < 0 ? -HUGE_VAL : -(double)cell);
    if (!isfinite(first)) {
        return SEL_OK;
    }
    const bool own = (double)cell == first, lua = own && cpu->all.bad.field < 0;
    const sel_status status =
        lua   ? sel_fail(error, cpu->left.error.status, "%s", cpu->left.error.text)
        : own ? rule_report_bad(&cpu->all, f, error)
              : SEL_OK;
    return sel_state_agree(base, status, error);
}

static sel_status rule_cpu_step(rule_cpu *cpu, sel_error *error) {
    rule_state *state = &cpu->all;
    const sel_rows own = sel_own_rows(&state->base);
    sel_status status = SEL_OK;
    cpu->by_native = sel_native_ready(cpu->native, cpu->done, state->base.ranks->place == 0);
    for (int k = 0; k < state->model->rules; k++) {
        const rule_function *f = &state->model->function[k];
        cpu->done += (double)(own.count * rule_layout(state)->n[0] * f->code->operations);
        rule_fill_margins(state, f->looks);
        sel_status ran = run_rule(cpu, f, error);
        ran = f->rule ? ran : sel_state_agree(&state->base, ran, error);
        if (ran) {
            state->base.broken = true;
            return ran;
        }
        if (!status && f->code->reports) {
            status = report_first(cpu, f, error);
            state->base.broken = status; /* what did not fit is lost */
        }
        state->bad.cell = -1;
        state->turns ^= f->turns;
    }
    sel_state_pass(&state->base, 1);
    return status;
}

static sel_status rule_cpu_steps(sel_state *base, int64_t n, sel_error *error) {
    sel_status status = SEL_OK;
    for (; n > 0 && !status; n--) {
        status = rule_cpu_step((rule_cpu *)base, error);
    }
    return status;
}

/* ---- derived fields, dt, sums ---- */

/* Lua's numbers of a function in the cells that its program leaves to Lua. */
static sel_status find_numbers(rule_cpu *cpu, const rule_function *f, sel_error *error) {
    rule_state *state = &cpu->all;
    const sel_rows own = sel_own_rows(&state->base);
    const int pieces = rule_pieces(state->plan->base.domain->grid.n[0]);
#pragma omp parallel num_threads(state->base.threads)
    {
        piece p = begin_thread(cpu, f);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < own.count * pieces; k++) {
            if (begin_piece(&p, sel_row_of(&own, k / pieces), (int)(k % pieces), 0)) {
                compute(&p);
                note_failures(&p, state, &cpu->numbers);
            }
        }
    }
    return rule_lua_numbers(state, f, &cpu->numbers, error);
}

/* Before data are read, or a function is evaluated that is no rule. */
static sel_status rule_cpu_ready(sel_state *base, const sel_request *request, sel_error *error) {
    rule_cpu *cpu = (rule_cpu *)base;
    const rule_model *m = cpu->all.model;
    const int field = request->kind == SEL_READ || request->kind == SEL_REDUCE ? request->field : 0;
    sel_status status = SEL_OK;
    if (field >= m->states) {
        status = sel_cpu_evaluate(base, SEL_ON_T | SEL_ON_CONTROLS, error);
        status = sel_state_agree(base, status, error);
    }
    if (field >= m->entries && !status) {
        const rule_function *f = &m->function[m->rules + field - m->entries];
        rule_fill_margins(&cpu->all, f->looks);
        begin_function(cpu, f, error);
        cpu->numbers.count = 0;
        if (f->rule && f->code->layout.fails >= 0) {
            status = sel_state_agree(base, find_numbers(cpu, f, error), error);
        }
    }
    return status;
}

/* Numbers of a function at cells x0 <= x < x1 of a row: number c of x at to[c nx + x - x0]. */
static void evaluate_row(rule_cpu *cpu, const rule_function *f, int64_t row, int64_t x0, int64_t x1,
                         double *to) {
    const int64_t nx = cpu->all.plan->base.domain->grid.n[0];
    piece p = begin_thread(cpu, f);
    for (int64_t k = x0 / SEL_ROW; k * SEL_ROW < x1; k++) {
        if (!begin_piece(&p, row, (int)k, 0)) {
            continue;
        }
        compute(&p);
        const int64_t first = p.x > x0 ? p.x : x0, end = p.x + p.n < x1 ? p.x + p.n : x1;
        for (int c = 0; c < p.code->layout.outputs; c++) {
            const double *from = p.slot[p.code->tables.output[c].slot];
            memcpy(to + p.code->tables.output[c].field * nx + first - x0, from + first - p.x,
                   (size_t)(end - first) * sizeof *to);
        }
    }
    rule_lua_put(&cpu->all, f, &cpu->numbers, row, x0, x1, to);
}

static int entry_row(const rule_state *state, int entry, int64_t row, int64_t x0, int64_t x1,
                     double *to) {
    const rule_entry *e = &state->model->entry[entry];
    const int64_t nx = rule_layout(state)->n[0], at = rule_row(state, row);
    for (int c = 0; c < e->components; c++) {
        for (int64_t x = x0; x < x1; x++) {
            to[c * nx + x - x0] = rule_value(state, e->first + c, at + x);
        }
    }
    return e->components;
}

static double *rule_cpu_rows_of(const sel_state *base) {
    return ((const rule_cpu *)base)->rows +
           ROWS * base->plan->domain->grid.n[0] * omp_get_thread_num();
}

static int field(const sel_state *base, int which, int64_t row, int64_t x0, int64_t x1,
                 const double **values) {
    rule_cpu *cpu = (rule_cpu *)(uintptr_t)base;
    const rule_model *m = cpu->all.model;
    double *to = rule_cpu_rows_of(base);
    *values = to;
    if (which < m->entries) {
        return entry_row(&cpu->all, which, row, x0, x1, to);
    }
    const rule_function *f = &m->function[m->rules + which - m->entries];
    evaluate_row(cpu, f, row, x0, x1, to);
    return f->code->layout.outputs;
}

/* The magnitude of the main field, and beside it a number that shows whether all fields are finite.
 */
static void main_row(const sel_state *base, int64_t row, sel_main_row *main) {
    const rule_state *state = (const rule_state *)base;
    const rule_model *m = state->model;
    const int64_t nx = rule_layout(state)->n[0], at = rule_row(state, row);
    double *values = rule_cpu_rows_of(base), *large = values + 3 * nx, *finite = large + nx;
    const int components = entry_row(state, m->main, row, 0, nx, values);
    *main = (sel_main_row){{values, values + nx, values + 2 * nx}, large, finite};
    for (int64_t x = 0; x < nx; x++) {
        large[x] = fabs(values[x]);
        for (int c = 1; c < components; c++) {
            large[x] = hypot(large[x], values[c * nx + x]);
        }
        finite[x] = 0;
        for (uint64_t left = m->reals; left; left &= left - 1) {
            const double value = rule_value(state, __builtin_ctzll(left), at + x);
            finite[x] += value - value;
        }
    }
}

/* What is conserved: sums less those at the start, and the sums. */
static sel_status other(sel_state *base, sel_request *request, sel_error *error) {
    const rule_state *state = (const rule_state *)base;
    sel_status status = SEL_OK;
    for (int k = 0; k < rule_conserved_count(state->model) && !status; k++) {
        double sum[3];
        status = rule_sum(base, k, sum, error);
        if (!status) {
            rule_add_terms(state, k, sum, request);
        }
    }
    return status;
}

static sel_status rule_cpu_start(sel_state *base, sel_error *error) {
    rule_cpu *cpu = (rule_cpu *)base;
    const sel_status status = rule_start(base, error);
    const rule_model *m = cpu->all.model;
    cpu->streams = !sel_state_stays(base, base->arrays.bytes[0]);
    cpu->native = sel_native_create(m->functions);
    for (int k = 0; k < m->functions && cpu->native; k++) {
        sel_native_add(cpu->native, k, m->function[k].rule ? m->function[k].code : NULL);
    }
    return status ? status : rule_start_sums(base, error);
}

static sel_status rule_cpu_loaded(sel_state *base, sel_error *error) {
    rule_state *state = (rule_state *)base;
    (void)error;
    state->turns = rule_turns(state, base->step);
    rule_hold_cells(state);
    return SEL_OK;
}

static void rule_cpu_close(sel_state *base) {
    sel_native_destroy(((rule_cpu *)base)->native);
    rule_lua_free(&((rule_cpu *)base)->left);
    rule_lua_free(&((rule_cpu *)base)->numbers);
}

const sel_cpu rule_on_cpu = {
    .what = "the fields",
    .state_size = sizeof(rule_cpu),
    .list = rule_cpu_list,
    .start = rule_cpu_start,
    .store = rule_store,
    .cells = rule_cells,
    .derive = rule_derive,
    .steps = rule_cpu_steps,
    .time_step = rule_time_step,
    .look = {.ready = rule_cpu_ready, .field = field, .main = main_row, .other = other},
    .loaded = rule_cpu_loaded,
    .close = rule_cpu_close,
};
