/* rule_march.c -- several steps of a rule in one pass over a 2-D grid (cuda/machine/march.cuh): for
 * one function of one or two fields of reals, or one of bytes, that looks at cells beside and at
 * nothing else, where the laws at each face are the same along it and do not vary.
 */
#include "cuda/rule_gpu.h"

/* What stands beyond a face for a field: a * near + b. False: not the same at all its places. */
static bool law_of_face(const rule_state *state, int face, int f, double *a, double *b) {
    const rule_tables *t = &state->tables;
    int law = RULE_FREE;
    double value = 0;
    for (int64_t i = 0; i < state->first_run[RULE_IN_CELLS]; i++) {
        const rule_run *run = &t->run[i];
        const int kind = t->kind[0][run->region][f];
        const bool valued = kind == RULE_FIXED || kind == RULE_FIXED_FACE || kind == RULE_GRADIENT;
        for (int k = 0; k < (valued ? run->count : 1) && run->face == face; k++) {
            const int own = valued ? kind : RULE_MIRROR;
            const double given = valued ? t->law[f][run->number + k] : 0;
            if (law != RULE_FREE && (own != law || given != value)) {
                return false;
            }
            law = own;
            value = given;
        }
    }
    *a = law == RULE_FIXED ? 0 : law == RULE_FIXED_FACE ? -1 : 1;
    *b = law == RULE_FIXED        ? value
         : law == RULE_FIXED_FACE ? 2 * value
         : law == RULE_GRADIENT   ? value * t->dx[face / 2]
                                  : 0;
    return true;
}

bool rule_is_direct(const rule_state *state) {
    const rule_model *m = state->model;
    const sel_grid *grid = &state->plan->base.domain->grid;
    bool direct = !state->base.blocks.cut && !state->plan->law_depends;
    for (int k = 0; k < m->functions; k++) {
        const int precision = state->plan->base.precision;
        direct = direct && grid->n[0] % rule_shape_of(m, k, precision).cells == 0;
    }
    for (int face = 0; face < 2 * m->dims; face++) {
        direct = direct && grid->n[face / 2] >= m->reach;
        for (int f = 0; f < m->fields && direct && !sel_axis_periodic(grid, face / 2); f++) {
            double a, b;
            direct = law_of_face(state, face, f, &a, &b) && a == 1 && b == 0;
        }
    }
    return direct;
}

/* Whether all that a function does is to look at its fields. */
static bool is_plain(const rule_model *m, int precision) {
    const rule_function *f = m->function;
    const sel_program *code = f->code[precision];
    bool plain =
        !code->reports && !(code->vary & ~(unsigned)SEL_ON_DT) && f->looks && f->turns == f->writes;
    for (int o = 0; o < code->layout.outputs; o++) {
        const sel_program_output *out = &code->tables.output[o];
        plain = plain && (m->reals >> out->field & 1 || out->type == SEL_NUMBER_I);
    }
    for (int i = 0; i < code->layout.each; i++) {
        const int op = code->tables.code[code->layout.once + i].op;
        plain = plain && op != SEL_OP_ARGUMENT && op != SEL_RULE_RANDOM && op != SEL_OP_LOOKUP;
    }
    return plain;
}

bool rule_march_of(const rule_state *state, rule_march *to) {
    enum { MOST_OPERATIONS = 100 };
    const rule_model *m = state->model;
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int precision = state->plan->base.precision;
    const rule_function *f = m->function;
    *to = (rule_march){0};
    if (state->has_odd || !m->simple || state->base.blocks.cut || state->plan->law_depends ||
        !is_plain(m, precision) || grid->n[0] < MARCH_LEAST_COLUMNS ||
        grid->n[1] < MARCH_LEAST_ROWS) {
        return false;
    }
    const sel_program *code = f->code[precision];
    int operations = 0;
    for (int i = 0; i < code->layout.each; i++) {
        const sel_instruction *v = &code->tables.code[code->layout.once + i];
        operations += v->linked ? 1 : v->operands;
    }
    if (operations > MOST_OPERATIONS) {
        return false;
    }
    for (int k = 0; k < m->fields; k++) {
        const bool has = f->writes >> k & 1;
        for (int face = 0; face < RULE_FACES && has; face++) {
            double *a = &to->a[face][to->fields], *b = &to->b[face][to->fields];
            *a = 1;
            if (face < 2 * m->dims && !sel_axis_periodic(grid, face / 2) &&
                !law_of_face(state, face, k, a, b)) {
                return false;
            }
            const bool held = (*a == 1 && *b == 0) || (*a == 0 && *b == (uint8_t)*b);
            if (m->bytes >> k & 1 && !held) { /* as bytes */
                return false;
            }
        }
        if (has) {
            to->field[to->fields++] = k;
        }
    }
    /* What the registers hold, odd numbers of steps. */
    const bool single = precision == SEL_F32 || m->bytes & f->writes, one = to->fields == 1;
    to->columns = single || one ? 4 : 2;
    to->steps = one ? 9 : single ? 7 : 5;
    to->at_once = single == one ? 4 : 2;
    to->blocks = single && one ? 3 : 2;
    return true;
}

sel_status rule_march_pass(const rule_cuda *state, int64_t step, sel_error *error) {
    static const unsigned threads[2] = {MARCH_WARPS * CUDA_WARP, 1};
    const rule_state *all = &state->all;
    const march_device *on = &((const cuda_queue *)all->base.queue)->march;
    const rule_march *march = &state->march;
    march_grid g = cuda_march_grid(&all->base, &all->base.blocks.v[0]);
    g.pitch = (int)all->cells.pitch;
    for (int k = 0; k < march->fields; k++) {
        const int field = march->field[k];
        const int turn = (int)(rule_turns(all->model, step) >> field & 1);
        const size_t size = (size_t)rule_size(all->model, field, all->plan->base.precision);
        g.from[k] = (const char *)all->tables.at[0][field][turn] + (size_t)all->cells.first * size;
        g.to[k] = (char *)all->tables.at[0][field][1 - turn] + (size_t)all->cells.first * size;
    }
    g.cut = march_cut_of(&g, march_width(march->steps, march->columns), march->steps,
                         on->processors, march->blocks);
    CUDA_TRY(march_fork(on));
    sel_status status =
        cuda_kernel_launch(state->march_kernel[0], (unsigned)march_border_blocks(&g.cut), threads,
                           &g, on->beside, error);
    if (!status && march_inner_blocks(&g.cut) > 0) {
        status = cuda_kernel_launch(state->march_kernel[1], (unsigned)march_inner_blocks(&g.cut),
                                    threads, &g, on->stream, error);
    }
    CUDA_TRY(march_join(on));
    return status;
}
