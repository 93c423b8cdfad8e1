/* terms.c -- lay out the quantities that kernels evaluate; controls, faults. */
#include "cuda/terms.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/queue.h"

enum { BUFFERS = 4, CLOCK = 3 /* numbers of a clock, behind the controls */ };

bool cuda_terms_open(cuda_terms *terms, const sel_domain *domain) {
    *terms = (cuda_terms){.domain = domain, .pack = sel_pack_create()};
    return terms->pack;
}

void cuda_terms_close(cuda_terms *terms) {
    cuda_feed_close(&terms->sent);
    cudaFreeHost(terms->fault);
    sel_pack_destroy(terms->pack);
    *terms = (cuda_terms){.domain = NULL};
}

/* ---- quantities ---- */

static bool has_programs(const sel_quantity *q) {
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *f = sel_quantity_function(q, k);
        if (f && (!f->program || !sel_pack_can_hold(f->program))) {
            return false;
        }
    }
    return true;
}

static void set_constants(const sel_quantity *q, cuda_term *to) {
    *to = (cuda_term){.components = q->components};
    for (int c = 0; c < CUDA_TERM_PARTS; c++) {
        to->slot[c] = -1;
        to->constant[c] = q->whole || c >= q->components ? 0 : q->part[c].constant;
    }
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* Registers and results; the programs themselves are not packed yet. */
static void share_registers(const sel_quantity *q, cuda_term *to) {
    for (int k = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *f = sel_quantity_function(q, k);
        if (!f) {
            continue;
        }
        const sel_packed_program *layout = &f->program->layout;
        to->room[to->programs] = to->fixed;
        to->fixed += layout->fixed;
        to->own = larger(to->own, layout->own);
        for (int c = 0; c < (q->whole ? q->components : 1); c++) {
            to->slot[q->whole ? c : k] = to->programs;
            to->result[q->whole ? c : k] = c;
        }
        to->programs++;
    }
}

static bool pack_programs(cuda_terms *terms, const sel_quantity *q, cuda_term *to) {
    for (int k = 0, slot = 0; k < sel_quantity_functions(q); k++) {
        const sel_function *f = sel_quantity_function(q, k);
        const int number = f ? sel_pack_add(terms->pack, f->program) : 0;
        if (number < 0) {
            return false;
        }
        if (f) {
            to->program[slot++] = number;
        }
    }
    return true;
}

bool cuda_terms_take(cuda_terms *terms, const sel_quantity *q, int threads, cuda_term *to) {
    set_constants(q, to);
    if (!has_programs(q)) {
        return false;
    }
    share_registers(q, to);
    if (cuda_term_bytes(to, threads) <= CUDA_TERM_SHARED && pack_programs(terms, q, to)) {
        return true;
    }
    set_constants(q, to);
    return false;
}

/* ---- memory ---- */

void cuda_terms_list(cuda_terms *terms, sel_arrays *arrays) {
    SEL_ADD(arrays, terms, packed, (int64_t)sel_pack_bytes(terms->pack) + 1, 0);
    SEL_ADD(arrays, terms, controls, terms->domain->control_count + CLOCK + 1, 0);
    SEL_ADD(arrays, terms, claimed, CUDA_STEPS, 0);
    SEL_ADD(arrays, terms, halted, 1, 0);
}

static sel_status send_programs(cuda_terms *terms, sel_error *error) {
    const size_t bytes = sel_pack_bytes(terms->pack);
    void *packed = calloc(1, bytes + 1);
    if (!packed) {
        return sel_fail_memory(error, "the programs of the laws", bytes);
    }
    sel_pack_write(terms->pack, packed);
    sel_status status = cuda_send(terms->packed, packed, bytes, error);
    free(packed);
    return status;
}

sel_status cuda_terms_start(cuda_terms *terms, sel_error *error) {
    const sel_domain *domain = terms->domain;
    const size_t controls = (size_t)domain->control_count * sizeof(double);
    const size_t sent = controls + (terms->follows ? CLOCK * sizeof(double) : 0);
    const uint64_t faults = CUDA_STEPS * sizeof *terms->fault;
    const int64_t never = INT64_MAX;
    sel_status status = cuda_host_allocate((void **)&terms->fault, faults, "the laws", error);
    if (status) {
        return status;
    }
    memset(terms->fault, 0, faults);
    status = cuda_send(terms->halted, &never, sizeof never, error);
    status = status ? status : cuda_send(terms->controls, domain->control_values, controls, error);
    if (!status && sent > 0) {
        status = cuda_feed_open(&terms->sent, terms->controls, sent, BUFFERS, error);
    }
    return status ? status : send_programs(terms, error);
}

cuda_terms_view cuda_terms_see(const cuda_terms *terms) {
    return (cuda_terms_view){
        .packed = sel_pack_tables(terms->pack, terms->packed),
        .controls = terms->controls,
        .claimed = terms->claimed,
        .fault = terms->fault,
        .halted = terms->halted,
        .clock = terms->follows ? terms->controls + terms->domain->control_count : NULL};
}

sel_status cuda_terms_set_controls(cuda_terms *terms, const sel_state *state, unsigned due,
                                   sel_error *error) {
    const sel_clock *clock = &state->clock;
    const size_t controls = (size_t)terms->domain->control_count * sizeof(double);
    const bool moved =
        terms->follows && (clock->step != terms->clock.step || !(clock->dt == terms->clock.dt));
    void *pinned;
    if (terms->sent.turns == 0 || !(due & SEL_ON_CONTROLS || moved)) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(&terms->sent, &pinned, error);
    if (status) {
        return status;
    }
    const double numbers[CLOCK] = {(double)clock->step, clock->time, clock->dt};
    terms->clock = *clock;
    memcpy(pinned, state->controls, controls);
    memcpy((char *)pinned + controls, numbers, terms->sent.bytes - controls);
    return cuda_feed_send(&terms->sent, state->queue->stream, error);
}

/* ---- faults ---- */

bool cuda_terms_failed(const cuda_terms *terms, int64_t step, cuda_term_fault *found) {
    const volatile cuda_term_fault *seen = terms->fault;
    bool failed = false;
    for (int k = 0; seen && k < CUDA_STEPS; k++) {
        if (seen[k].happened && seen[k].step < step) {
            step = seen[k].step;
            *found = terms->fault[k];
            failed = true;
        }
    }
    return failed;
}

sel_status cuda_term_unknown(const sel_quantity *q, const char *what, const sel_places *at,
                             sel_error *error) {
    char text[160];
    int k = 0;
    while (!sel_quantity_function(q, k)) {
        k++;
    }
    sel_place_text(at, 0, text, sizeof text);
    return sel_fail_at(error, sel_quantity_function(q, k)->where,
                       "%s: at %s the device cannot evaluate this function; run with "
                       "--backend cpu",
                       what, text);
}
