/* heat_cpu.c -- sel.heat on the processor. */
#include <omp.h>
#include "engine/base/kernel.h"
#include "engine/core/cpu.h"
#include "engine/solvers/heat/heat.h"

extern const heat_loops SEL_OF_LEVELS(heat_loops, [2]);

enum { BAND = 1 << 19 /* bytes */ };

/* Whether the limit of dt changes in the run. */
static bool varies(const sel_plan *plan) {
    return diffusion_body_of(plan)->implicit == 0 && plan->inputs->depends;
}

static void heat_cpu_list(sel_state *base) {
    heat_state *state = (heat_state *)base;
    const sel_state_surfaces on = sel_state_find_surfaces(base);
    heat_list(base, 1, base->threads);
    sel_state_list_part(base, "stable", &state->most_b, SEL_TYPE_OF(*state->most_b), on.cells[0],
                        varies(base->plan) ? on.cells[1] : on.cells[0], NULL);
}

static sel_status heat_cpu_start(sel_state *base, sel_error *error) {
    heat_state *state = (heat_state *)base;
    const diffusion_given given = diffusion_given_of(base);
    int64_t first, end;
    sel_given_range(base, &base->own, &first, &end);
    for (int64_t k = first; k < end && varies(base->plan); k++) {
        state->most_b[k] = diffusion_most_b(diffusion_body_of(base->plan), given.cell[k]);
    }
    return heat_start(base, error);
}

/* sel_cpu.terms: whether dt is stable with what has been evaluated. */
static sel_status heat_cpu_terms(sel_state *base, unsigned due, sel_error *error) {
    return varies(base->plan) && base->plan->inputs->depends & due
               ? diffusion_limit_check(base, ((heat_state *)base)->most_b, error)
               : SEL_OK;
}

/* sel_cpu.keep_terms: what entered in the last step follows from its terms. */
static void heat_cpu_keep_terms(sel_state *base) {
    base->observed = -1;
}

/* Of the rows low <= y < low + height of all planes those of the calling thread, in one piece: a
 * division for each row would take half as long as the row. */
static void do_band(const heat_view *v, const heat_loops *loops, int64_t low, int64_t height) {
    const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const int64_t all = (v->end - v->first) * height;
    const int64_t begin = all * thread / threads, end = all * (thread + 1) / threads;
    int64_t plane = v->first + begin / height, y = low + begin % height;
    for (int64_t k = begin; k < end; k++) {
        v->dims == 3 ? loops->row(v, y, plane) : loops->row(v, plane, 0);
        y = y + 1 < low + height ? y + 1 : low;
        plane += y == low;
    }
}

static void step_block(const sel_state *base, const heat_loops *loops) {
    const sel_field *field = &base->field[0];
    int64_t first, end, band;
    heat_view v = diffusion_heat_view(base, base->step);
    const diffusion_given given = diffusion_given_of(base);
    sel_given_range(base, &base->own, &first, &end);
    /* Copies that fill more than half of the caches do not stay in them. */
    v.streams = !sel_state_stays(base, 4 * (uint64_t)(field->layout.count * field->type.size));
    /* Rows of a plane that are done before the next plane: what they read is still in the cache. */
    band = BAND / (v.n[0] * (int64_t)field->type.size) + 1;
#pragma omp parallel num_threads(base->threads)
    {
        for (int64_t low = v.low; low < v.high; low += band) {
            const int64_t height = v.high - low < band ? v.high - low : band;
            do_band(&v, loops, low, height);
        }
        sel_stream_end();
#pragma omp barrier
#pragma omp for schedule(static)
        for (int64_t k = first; k < end; k++) {
            int64_t at[3];
            heat_at(&v, given.cell[k], at);
            if (heat_has(&v, at)) {
                loops->touch(&v, heat_place(v.stride, at), given.b[k], given.s[k]);
            }
        }
    }
}

static sel_status heat_cpu_steps(sel_state *base, int64_t n, sel_error *error) {
    static const heat_loops *const tables[] = {SEL_OF_LEVELS(heat_loops, )};
    const heat_loops *loops = &tables[sel_level(0)][base->plan->precision];
    const bool implicit = diffusion_body_of(base->plan)->implicit > 0;
    sel_status status = SEL_OK;
    for (; n > 0 && !status; n--) {
        if (implicit) {
            status = mg_body_step(&((heat_state *)base)->solve, base, error);
        } else {
            step_block(base, loops);
        }
        if (!status) {
            sel_state_pass(base, 1);
            sel_state_exchange(base, base->step, SEL_FETCH); /* fluxes read halos, too */
        }
    }
    return status;
}

const sel_cpu heat_on_cpu = {
    .what = "the temperature",
    .state_size = sizeof(heat_state),
    .list = heat_cpu_list,
    .derive = diffusion_derive,
    .start = heat_cpu_start,
    .terms = heat_cpu_terms,
    .keep_terms = heat_cpu_keep_terms,
    .steps = heat_cpu_steps,
    .look = {.field = diffusion_field, .numbers = true, .other = diffusion_answer},
};
