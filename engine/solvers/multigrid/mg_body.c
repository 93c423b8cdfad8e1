/* mg_body.c -- conducting bodies as problems of multigrid. */
#include "engine/solvers/multigrid/mg_body.h"

#include <math.h>
#include <string.h>
#include "engine/core/collectives.h"

/* Along an axis; on larger grids the round-off of corrections in single precision would slow
 * cycles. */
enum { MOST_CELLS_SINGLE = 8192 };

/* The part of its first residual to which an implicit step is solved, by precision. */
static const double tolerance[] = {[SEL_F32] = 1e-6, [SEL_F64] = 1e-10};

/* ---- the box ---- */

/* The conductance from outside to the surface at a site. */
static double outside(const diffusion_body *body, int64_t site) {
    const int law = body->site[site].law;
    return law == DIFFUSION_FIXED        ? HUGE_VAL
           : law == DIFFUSION_CONVECTIVE ? body->inputs.value[DIFFUSION_VALUES * site + 1]
                                         : 0;
}

/* The sites of a face of the domain: how many, and whether all have the conductance h. */
typedef struct face_laws {
    int64_t count;
    double h;
    bool one;
} face_laws;

static face_laws join_laws(const face_laws *a, const face_laws *b) {
    const bool both = a->count && b->count;
    return (face_laws){a->count + b->count, b->count ? b->h : a->h,
                       a->one && b->one && (!both || a->h == b->h)};
}

/* Sets box->h; whether each face has one law in all its cells. */
static bool find_faces(const diffusion_body *body, mg_box *box) {
    const sel_inputs *inputs = &body->inputs;
    const sel_grid *grid = &inputs->domain->grid;
    const sel_surfaces *on = &inputs->surfaces;
    const int ranks = on->divided ? sel_domain_ranks(inputs->domain) : 1;
    face_laws own[SEL_FACES], of_ranks[SEL_MOST_RANKS][SEL_FACES];
    bool all = true;
    memset(own, 0, sizeof own);
    for (int face = 0; face < SEL_FACES; face++) {
        own[face].one = true;
    }
    for (int64_t k = 0; k < on->sites.count; k++) {
        if (on->site[k].outer) {
            face_laws *face = &own[on->site[k].face];
            *face = join_laws(face, &(face_laws){1, outside(body, k), true});
        }
    }
    memcpy(of_ranks, own, sizeof own);
    if (ranks > 1) {
        sel_domain_gather(inputs->domain, own, sizeof own, of_ranks);
    }
    for (int face = 0; face < 2 * grid->dims; face++) {
        face_laws laws = of_ranks[0][face];
        for (int r = 1; r < ranks; r++) {
            laws = join_laws(&laws, &of_ranks[r][face]);
        }
        const bool whole = laws.count == 0 || laws.count == sel_face_sites(grid, face);
        all = all && laws.one && (whole || laws.h == 0);
        box->h[face] = laws.one ? laws.h : 0;
    }
    return all;
}

/* 1 / (w dt) */
static double rate_of(const diffusion_body *body) {
    return body->implicit > 0 ? 1 / (body->implicit * body->inputs.domain->grid.dt) : 0;
}

/* The contrast: the maximum of k1 / k2 over all pairs of free neighbours with k1 >= k2. */
static double contrast_of(const sel_domain *domain, const diffusion_material *k) {
    const sel_grid *grid = &domain->grid;
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t step[3] = {1, grid->n[0], grid->n[0] * grid->n[1]};
    double most = 1;
    for (int64_t cell = own.first * grid->n[0]; cell < own.end * grid->n[0]; cell++) {
        const int64_t at[3] = {cell % grid->n[0], cell / step[1] % grid->n[1], cell / step[2]};
        for (int a = 0; a < grid->dims && !domain->cell[cell]; a++) {
            const int64_t around = grid->periodic >> a & 1u ? (grid->n[a] - 1) * step[a] : 0;
            const int64_t other = at[a] > 0 ? cell - step[a] : cell + around;
            if (!domain->cell[other]) {
                const double one = diffusion_material_at(k, grid, cell, a);
                const double two = diffusion_material_at(k, grid, other, a);
                most = fmax(most, one > two ? one / two : two / one);
            }
        }
    }
    return sel_domain_largest(domain, most);
}

/* The mean of k over all free cells, by axis: added up from the first cell to the last one, as one
 * rank does, so that a rank goes on with the sums of the ranks before it. */
static void mean_of(const sel_domain *domain, const diffusion_material *k, double mean[3]) {
    const sel_ranks *ranks = domain->ranks ? domain->ranks : &sel_one_rank;
    const sel_rows_range own = sel_domain_own(domain);
    const int64_t nx = domain->grid.n[0];
    const int rank = ranks->rank, last = ranks->count - 1;
    double sum[3] = {0}, all[SEL_MOST_RANKS][3];
    if (rank > 0) {
        ranks->transfer(&(sel_message){rank - 1, 0, false, sum, sizeof sum}, 1);
    }
    for (int64_t cell = own.first * nx; cell < own.end * nx; cell++) {
        for (int a = 0; a < domain->grid.dims && !domain->cell[cell]; a++) {
            sum[a] += diffusion_material_at(k, &domain->grid, cell, a) / (double)domain->free_cells;
        }
    }
    if (rank < last) {
        ranks->transfer(&(sel_message){rank + 1, 0, true, sum, sizeof sum}, 1);
    }
    ranks->gather(sum, sizeof sum, all);
    memcpy(mean, all[last], sizeof sum);
}

void mg_body_box(const diffusion_body *body, mg_box *box) {
    const sel_domain *domain = body->inputs.domain;
    const sel_grid *grid = &domain->grid;
    const diffusion_material *k = &body->k;
    *box = (mg_box){.dims = grid->dims,
                    .nodes = grid->nodes,
                    .periodic = grid->periodic,
                    .mass = rate_of(body) * body->capacity.same[0]};
    box->even = find_faces(body, box) && body->kind != HEAT_VARIED;
    box->single = box->even;
    box->conjugate = !box->even;
    for (int a = 0; a < 3; a++) {
        box->single = box->single && grid->n[a] <= MOST_CELLS_SINGLE;
        box->n[a] = grid->n[a];
        box->dx[a] = grid->dx[a];
        box->k[a] = k->of ? 0 : k->same[a];
    }
    if (k->of) {
        mean_of(domain, k, box->k);
    }
    box->contrast = k->of ? contrast_of(domain, k) : 1;
}

/* ---- bodies that are not even ---- */

/* mg_describe. A resistance R of the body in the whole 1 / U of a surface doubles with the
 * distance, so that U becomes U / (1 + U R): as if the part 2 U R / (1 + U R) of U were halved.
 */
static void describe_cell(const void *data, int64_t cell, mg_cell *to) {
    const diffusion_body *body = data;
    const sel_inputs *inputs = &body->inputs;
    const sel_domain *domain = inputs->domain;
    const sel_surfaces *on = &inputs->surfaces;
    if (domain->cell[cell]) {
        return;
    }
    for (int a = 0; a < domain->grid.dims; a++) {
        to->K[a] = diffusion_conductance(&body->k, domain, cell, 2 * a);
    }
    const double capacity = diffusion_capacity_of(body, cell);
    to->near = rate_of(body) * capacity;
    to->seeks = true;
    const int64_t k = sel_surfaces_from(on, cell);
    if (k < on->cells && on->cell[k] == cell) {
        const int64_t first = on->first_site[k], end = on->first_site[k + 1];
        to->seeks = diffusion_first_fixed(body->site, first, end) == end;
        for (int64_t i = first; i < end && to->seeks; i++) {
            const diffusion_site *site = &body->site[i];
            double u, p;
            diffusion_through(site, inputs->value + DIFFUSION_VALUES * i, 0, &u, &p);
            const double of_body = site->reach > 0 ? u / site->reach : 0;
            const double far = 2 * of_body / (1 + of_body), all = u * site->weight * capacity;
            to->far += far * all;
            to->near += (1 - far) * all;
        }
    }
}

/* ---- the problem of a state ---- */

/* Moves the first ones to multiples of a unit. False: planes or rows of one colour would meet where
 * an axis is periodic. */
static bool round_cuts(int64_t *first, int count, int unit, bool wraps) {
    for (int r = 1; r < count; r++) {
        first[r] = (first[r] + unit / 2) / unit * unit;
    }
    return count == 1 || !wraps || first[count] % 2 == 0;
}

/* Rows that come from other ranks have no periodic images along z. */
bool mg_body_decompose(const sel_grid *grid, sel_decomposition *d) {
    const int64_t *n = grid->n;
    const int slow = d->slow;
    const bool rows =
        slow == 1 || round_cuts(d->first[1], d->ranks[1], MG_DEVICE_ROWS, d->periodic[1]);
    const bool planes =
        round_cuts(d->first[slow], d->ranks[slow], mg_device_planes(n), d->periodic[slow]);
    const bool images = sel_divides_planes(d) && d->ranks[2] == 1 && d->periodic[2];
    return n[0] * n[1] * n[2] > MG_ALONE_ON_DEVICE && rows && planes && !images;
}

/* Ranks share the levels if each has as many planes and rows as another one needs of it. */
static bool shares(const sel_decomposition *d) {
    bool enough = true;
    for (int a = 1; a <= d->slow; a++) {
        enough = enough && (d->ranks[a] == 1 || sel_fewest_cells(d, a) >= MG_HALO);
    }
    return enough;
}

bool mg_body_whole(const sel_domain *domain) {
    return domain->ranks && !shares(&domain->decomposition);
}

void mg_body_list(mg_solve *s, const mg_box *box, sel_state *state, const char *name, void *at[2],
                  unsigned flags, int threads) {
    const sel_grid *grid = &state->plan->domain->grid;
    bool alone = state->ranks->count == 1;
    if (threads == 0 && !alone) {
        alone = !mg_body_decompose(grid, &state->decomposition);
        sel_state_divide(state);
    }
    if (alone || !shares(&state->decomposition)) {
        sel_state_replicate(state); /* the levels are whole */
    }
    diffusion_list(state, name, at, state->ranks->count > 1);
    const sel_layout *layout = &state->field[0].layout;
    *s =
        (mg_solve){.stride = {1, layout->pitch, layout->slice}, .state = state, .threads = threads};
    sel_state_list_vector(state, "F", &s->F, 0);
    if (box->conjugate) {
        sel_state_list_vector(state, "direction", &s->p, flags);
        sel_state_list_vector(state, "q", &s->q, 0);
    }
    if (diffusion_body_of(state->plan)->implicit > 0) {
        sel_state_list_vector(state, "u", &s->u, 0);
    }
    if (diffusion_body_of(state->plan)->implicit > 0 && box->conjugate) {
        sel_state_list_vector(state, "mass", &s->mass, 0);
    }
    mg_list(&s->m, box, threads, &state->arrays);
    s->limits = (mg_limits){.tolerance = tolerance[state->plan->precision],
                            .cycles = true,
                            .jumps = mg_jumps(box),
                            .most = mg_most_cycles(box)};
    state->halo_bytes = mg_halo_bytes(&s->m, true);
}

/* sel_state_number: as rows of A have it. */
static double mass(const sel_state *state, const void *data, int which, int64_t cell) {
    (void)state, (void)which;
    return rate_of(data) * diffusion_capacity_of(data, cell);
}

sel_status mg_body_start(mg_solve *s, const sel_state *state, sel_error *error) {
    const diffusion_body *body = diffusion_body_of(state->plan);
    const sel_layout layout = sel_state_vector(state);
    sel_status status =
        sel_state_fill(state, s->mass, (sel_type){'f', 8}, &layout, 3, mass, body, error);
    status = sel_state_agree(state, status, error);
    status = status ? status
                    : mg_start(&s->m, &state->arrays, describe_cell, body, state->threads, error);
    status = sel_state_agree(state, status, error);
    s->limits.rows = status ? 0 : s->limits.jumps ? 4 : sel_state_largest(state, s->m.norm);
    return status;
}

/* ---- implicit steps ---- */

static void fill_row(const mg_solve *s, const heat_view *v, int64_t y, int64_t z) {
    int64_t at[3] = {0, y, z};
    for (; at[0] < v->n[0]; at[0]++) {
        const int64_t i = heat_place(v->stride, at);
        s->F[i] = heat_right_side(v, at, mg_mass(s, i), s->u[i], s->F[i]);
    }
}

sel_status mg_body_solved(const mg_solve *s, const sel_state *state, sel_error *error) {
    const mg_progress *now = &s->now;
    return now->how <= MG_AT_ROUND_OFF || isnan(now->relative) /* which the monitor reports */
               ? SEL_OK
               : sel_fail(error, SEL_DIVERGED,
                          "step %lld: multigrid has not converged in %lld cycles: the residual is "
                          "%.3g of the first one; try a smaller dt, or scheme = \"explicit\"",
                          (long long)state->step, (long long)now->step, now->relative);
}

sel_status mg_body_step(mg_solve *s, const sel_state *state, sel_error *error) {
    const diffusion_given given = diffusion_given_of(state);
    const heat_view v = diffusion_heat_view(state, state->step);
    const sel_field *field = &state->field[0];
    const sel_patch *own = &state->own;
    const sel_rows rows = sel_own_rows(state);
    const int slow = field->layout.slow;
    const int64_t plane = sel_layout_stride(&field->layout, slow);
    const int64_t begin = (own->lo[slow] - field->halo) * plane - field->lead[slow];
    const int64_t end = (own->hi[slow] + field->halo) * plane - field->lead[slow];
    int64_t surface, last;
    sel_given_range(state, &state->own, &surface, &last);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t i = begin; i < end; i++) {
        s->u[i] = heat_number(&v, v.from, i);
    }
    if (v.implicit < 1) {
        mg_solve_apply(s, s->u, s->F);
    }
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < rows.count; k++) {
        const int64_t number = sel_row_of(&rows, k);
        fill_row(s, &v, number % v.n[1], number / v.n[1]);
    }
    for (int64_t k = surface; k < last; k++) {
        int64_t at[3];
        heat_at(&v, given.cell[k], at);
        const int64_t i = heat_place(v.stride, at);
        if (heat_has(&v, at)) {
            heat_right_surface(&given, k, mg_mass(s, i), &s->u[i], &s->F[i]);
        }
    }
    mg_solve_spread(s, s->u);
    s->now = MG_BEGINS; /* directions are those of a step */
    mg_solve_residual(s, s->u);
    while (s->now.how == MG_GOES_ON) {
        mg_solve_correct(s, MG_CYCLE, 1, s->u, s->u);
    }
    const sel_status status = mg_body_solved(s, state, error);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t i = begin; i < (status ? begin : end); i++) {
        sel_put(v.to, state->field[0].type, i, s->u[i]);
    }
    return status;
}
