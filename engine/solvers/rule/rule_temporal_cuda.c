/* rule_temporal_cuda.c -- several steps of a rule in one pass over a 2-D grid
 * (cuda/temporal_blocking.cuh): for one function of one or two fields of reals, or one of bytes,
 * that looks at cells beside and at nothing else, where the laws at each face are the same along it
 * and do not vary. The margins of a rank are N cells wide for a pass of N steps, and are
 * exchanged once per pass.
 */
#include <math.h>
#include "engine/solvers/rule/rule_kernels_cuda.h"

/* What stands beyond a face for a field: a * near + b. All ranks find the same; false: it differs
 * from place to place. */
static bool find_beyond(const rule_state *state, int face, int f, double *a, double *b) {
    const rule_tables *t = &state->tables;
    double most[] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL}; /* of a, -a, b, -b */
    for (int64_t i = 0; i < state->first_run[RULE_IN_CELLS]; i++) {
        const rule_run *run = &t->run[i];
        const int law = t->kind[0][run->region][f];
        const bool valued = rule_has_value(law);
        for (int k = 0; k < (valued ? run->count : 1) && run->face == face; k++) {
            const double value = valued ? t->law[f][run->number + k] : 0;
            const double one_a = law == RULE_FIXED ? 0 : law == RULE_FIXED_FACE ? -1 : 1;
            const double one_b = law == RULE_FIXED_FACE ? 2 * value
                                 : law == RULE_GRADIENT ? value * t->dx[face / 2]
                                                        : value;
            const double found[] = {one_a, -one_a, one_b, -one_b};
            for (int m = 0; m < 4; m++) {
                most[m] = sel_larger(most[m], found[m]);
            }
        }
    }
    for (int m = 0; m < 4; m++) {
        most[m] = sel_state_largest(&state->base, most[m]);
    }
    *a = most[0];
    *b = most[2];
    return *a == -most[1] && *b == -most[3];
}

bool rule_is_direct(const rule_state *state) {
    const rule_model *m = state->model;
    const sel_grid *grid = &state->plan->base.domain->grid;
    bool direct = state->base.ranks->count == 1 && !state->plan->law_depends;
    for (int k = 0; k < m->functions; k++) {
        direct = direct && grid->n[0] % rule_shape_of(m, k).cells == 0;
    }
    for (int face = 0; face < 2 * m->dims; face++) {
        direct = direct && grid->n[face / 2] >= m->reach;
        for (int f = 0; f < m->fields && direct && !sel_axis_periodic(grid, face / 2); f++) {
            double a, b;
            direct = find_beyond(state, face, f, &a, &b) && a == 1 && b == 0;
        }
    }
    return direct;
}

/* Whether all that a function does is to look at its fields, and to compute not too much. */
static bool is_plain(const rule_model *m) {
    enum { MOST_OPERATIONS = 100 };
    const rule_function *f = m->function;
    const sel_program *code = f->code;
    bool plain = !code->reports && !(code->vary & ~(unsigned)SEL_ON_DT) && f->looks;
    int operations = 0;
    for (int o = 0; o < code->layout.outputs; o++) {
        const sel_program_output *out = &code->tables.output[o];
        plain = plain && (m->reals >> out->field & 1 || out->type >= SEL_NUMBER_I);
    }
    for (int i = 0; i < code->layout.each; i++) {
        const sel_instruction *v = &code->tables.code[code->layout.once + i];
        plain =
            plain && v->op != SEL_OP_ARGUMENT && v->op != SEL_RULE_RANDOM && v->op != SEL_OP_LOOKUP;
        operations += v->linked ? 1 : v->operands;
    }
    return plain && operations <= MOST_OPERATIONS;
}

/* What a pass is like where the laws allow it; all ranks find the same. False: there is none. */
static bool find_pass(const sel_state *base, rule_march *to) {
    const rule_plan *plan = (const rule_plan *)base->plan;
    const rule_model *m = plan->model;
    const uint64_t writes = m->function->writes;
    *to = (rule_march){0};
    if (!m->simple || plan->law_depends || !is_plain(m) ||
        base->plan->domain->grid.n[0] < MARCH_LEAST_COLUMNS ||
        sel_fewest_cells(&base->decomposition, m->dims - 1) < MARCH_LEAST_ROWS) {
        return false;
    }
    for (int k = 0; k < m->fields; k++) {
        if (writes >> k & 1) {
            to->field[to->fields++] = k;
        }
    }
    /* What the registers hold, odd numbers of steps. */
    const bool single = m->precision == SEL_F32 || m->bytes & writes, one = to->fields == 1;
    to->columns = single || one ? 4 : 2;
    to->steps = one ? 9 : single ? 7 : 5;
    to->at_once = single == one ? 4 : 2;
    to->blocks = single && one ? 3 : 2;
    return true;
}

int rule_march_steps(const sel_state *base) {
    rule_march march;
    return find_pass(base, &march) ? march.steps : 0;
}

bool rule_march_of(const rule_state *state, rule_march *to) {
    const rule_model *m = state->model;
    const sel_grid *grid = &state->plan->base.domain->grid;
    if (!find_pass(&state->base, to) || sel_state_total(&state->base, state->kinds > 1) > 0) {
        return false;
    }
    for (int k = 0; k < to->fields * 2 * m->dims; k++) {
        const int face = k / to->fields, f = k % to->fields;
        double *a = &to->a[face][f], *b = &to->b[face][f];
        *a = 1;
        if (!sel_axis_periodic(grid, face / 2) && !find_beyond(state, face, to->field[f], a, b)) {
            return false;
        }
        const bool as_byte = (*a == 1 && *b == 0) || (*a == 0 && *b == (uint8_t)*b);
        if (m->bytes >> to->field[f] & 1 && !as_byte) {
            return false;
        }
    }
    return true;
}

sel_status rule_march_pass(sel_state *base, int64_t step, const cuda_slab *slab, sel_error *error) {
    static const unsigned threads[2] = {MARCH_WARPS * CUDA_WARP, 1};
    const rule_cuda *state = (const rule_cuda *)base;
    const rule_state *all = &state->all;
    const rule_march *march = &state->march;
    const march_device *on = slab->on;
    march_grid g = cuda_march_grid(base, &slab->planes);
    (void)step;
    g.pitch = (int)rule_layout(all)->pitch;
    for (int k = 0; k < march->fields; k++) {
        const int field = march->field[k], turn = (int)(state->now.turns >> field & 1);
        const int64_t first = rule_layout(all)->origin * rule_size(all->model, field);
        g.from[k] = (const char *)all->tables.at[field][turn] + first;
        g.to[k] = (char *)all->tables.at[field][1 - turn] + first;
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
