/* test_lbm_rows.c -- rows computed line by line give every cell what the rules of one cell give. */
#include "tests/unit/lbm_case.h"
#include "tests/unit/lbm_rules.h"

/* What the cell x of a row sent and gathers in a step, before collision; what enters it along its
 * links; and what it stores after the collision, which the hybrid operator also bases on the
 * velocities around a cell. In the precision of the run. */
#define RULES(D, suffix, type)                                                                  \
    static void gather_##D##_##suffix(const lbm_step *step, int64_t x, int64_t row,             \
                                      const lbm_boundary_cell *cell, double *own, double *g,    \
                                      double *enters) {                                         \
        const lbm_lattice *lattice = step->boundary->lattice;                                   \
        const lbm_layout *layout = &step->layout;                                               \
        const int64_t here = lbm_row_offset(layout, row) + x;                                   \
        type come[LBM_MAX_Q] = {0}, room[LBM_MAX_Q], made[LBM_MAX_Q], entered[LBM_MAX_Q] = {0}; \
        const lbm_sent_##D##_##suffix sent = sent_by_##D##_##suffix(step, here, made);          \
        for (int i = 0; i < lattice->q; i++) {                                                  \
            const int *e = lattice->direction[i].e;                                             \
            const lbm_sent_##D##_##suffix from = sent_by_##D##_##suffix(                        \
                step, here - (e[2] * layout->slice + e[1] * layout->pitch + e[0]), room);       \
            own[i] = (double)sent.f[i * sent.plane];                                            \
            come[i] = from.f[i * from.plane];                                                   \
        }                                                                                       \
        if (cell) {                                                                             \
            apply_boundary_##D##_##suffix(step, cell, row, sent, come, 1, entered);             \
        }                                                                                       \
        for (int i = 0; i < lattice->q; i++) {                                                  \
            g[i] = (double)come[i];                                                             \
            enters[i] = cell ? (double)entered[i] : g[i];                                       \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void differences_##D##_##suffix(const lbm_step *step, int64_t here, type *to) {      \
        const lbm_layout *layout = &step->layout;                                               \
        const int64_t along[3] = {1, layout->pitch, layout->slice};                             \
        type d[3][3], spread[3][3]; /* below, above, and the cell */                            \
        for (int b = 0; b < D; b++) {                                                           \
            for (int side = 0; side < 3; side++) {                                              \
                const int64_t step_to = side == 2 ? 0 : (2 * side - 1) * along[b];              \
                const lbm_cell_moments_##D##_##suffix m =                                       \
                    moments_at_##D##_##suffix(step, here + step_to);                            \
                for (int a = 0; a < D; a++) {                                                   \
                    spread[side][a] = m.j[a] * (1 / (1 + m.drho));                              \
                }                                                                               \
            }                                                                                   \
            for (int a = 0; a < D; a++) {                                                       \
                d[a][b] = spread[1][a] - spread[0][a];                                          \
            }                                                                                   \
            for (int part = 0; part < (D == 2 ? 0 : 6); part++) {                               \
                const int i = part < D ? part : part == D + 1 ? 1 : 0;                          \
                const int k = part < D ? part : part == D ? 1 : 2;                              \
                const int axis = i == k ? i : 3 - i - k;                                        \
                if (axis == b) {                                                                \
                    to[6 + part] = spread[1][i] * spread[1][k] + spread[0][i] * spread[0][k] -  \
                                   2 * (spread[2][i] * spread[2][k]);                           \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
        for (int part = 0; part < (D == 2 ? 3 : 6); part++) {                                   \
            const int a = part < D ? part : part == D + 1 ? 1 : 0;                              \
            const int b = part < D ? part : part == D ? 1 : 2;                                  \
            to[part] = a == b ? (type)0.5 * d[a][a] : (type)0.25 * (d[a][b] + d[b][a]);         \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void beside_##D##_##suffix(const lbm_step *step, int64_t here,                       \
                                      const lbm_boundary_cell *cell, type *to) {                \
        const int64_t along[3] = {1, step->layout.pitch, step->layout.slice};                   \
        type v[3][D], beside[D][2][D] = {{{0}}};                                                \
        int what[D][2];                                                                         \
        lbm_find_beside_##D##_##suffix(cell, what);                                             \
        for (int b = 0; b < D; b++) {                                                           \
            for (int side = 0; side < 3; side++) {                                              \
                const lbm_cell_moments_##D##_##suffix m =                                       \
                    moments_at_##D##_##suffix(step, here + (side - 1) * along[b]);              \
                for (int a = 0; a < D; a++) {                                                   \
                    v[side][a] = m.j[a] * (1 / (1 + m.drho));                                   \
                }                                                                               \
            }                                                                                   \
            memcpy(beside[b][0], v[0], sizeof v[0]);                                            \
            memcpy(beside[b][1], v[2], sizeof v[2]);                                            \
        }                                                                                       \
        lbm_differences_beside_##D##_##suffix(v[1], (const type(*)[2][D])beside,                \
                                              (const int(*)[2])what, to);                       \
    }                                                                                           \
                                                                                                \
    static void collide_##D##_##suffix(const lbm_step *step, int64_t x, int64_t row,            \
                                       const lbm_boundary_cell *cell, double *g) {              \
        const lbm_rates_##D##_##suffix rates = rates_##D##_##suffix(step, x, row);              \
        const bool forced = step->forcing != LBM_NO_FORCE, les = step->numbers->eddy > 0;       \
        type own[LBM_MAX_Q], differences[12];                                                   \
        for (int i = 0; i < LBM_MAX_Q; i++) {                                                   \
            own[i] = (type)g[i];                                                                \
        }                                                                                       \
        if (step->moments) {                                                                    \
            const lbm_cell_moments_##D##_##suffix in = lbm_moments_of_##D##_##suffix(own);      \
            const int64_t here = lbm_row_offset(&step->layout, row) + x;                        \
            if (step->collision == LBM_HYBRID && cell) {                                        \
                beside_##D##_##suffix(step, here, cell, differences);                           \
            } else if (step->collision == LBM_HYBRID) {                                         \
                differences_##D##_##suffix(step, here, differences);                            \
            }                                                                                   \
            const lbm_cell_moments_##D##_##suffix m = lbm_collide_moments_##D##_##suffix(       \
                &in, &rates, step->collision, forced, les, differences);                        \
            lbm_put_moments_##D##_##suffix(&m, own, 1);                                         \
        } else {                                                                                \
            lbm_collide_##D##_##suffix(own, &rates, step->collision, forced, les);              \
        }                                                                                       \
        for (int i = 0; i < LBM_MAX_Q; i++) {                                                   \
            g[i] = (double)own[i];                                                              \
        }                                                                                       \
    }
RULES(2, f32, float)
RULES(2, f64, double)
RULES(3, f32, float)
RULES(3, f64, double)

typedef void (*gather)(const lbm_step *step, int64_t x, int64_t row, const lbm_boundary_cell *cell,
                       double *own, double *g, double *enters);
typedef void (*collide)(const lbm_step *step, int64_t x, int64_t row, const lbm_boundary_cell *cell,
                        double *g);
static const gather gathers[2][2] = {
    [LBM_D2Q9] = {gather_2_f32, gather_2_f64}, [LBM_D3Q19] = {gather_3_f32, gather_3_f64}};
static const collide collides[2][2] = {
    [LBM_D2Q9] = {collide_2_f32, collide_2_f64}, [LBM_D3Q19] = {collide_3_f32, collide_3_f64}};

typedef struct case_flow {
    int dims, precision, collision;
    bool moments; /* are stored */
    int64_t nx;
    bool periodic; /* along x; else from an inlet to an outlet */
    bool field;    /* an acceleration field and Smagorinsky's model; else a uniform acceleration */
    bool streams;
} case_flow;

static void rough(const double at[3], double t, const void *data, double value[3]) {
    const double *scale = data;
    (void)t;
    for (int a = 0; a < 3; a++) {
        double v = sin(at[0] * 12.9898 + at[1] * 78.233 + at[2] * 45.164 + a) * 43758.5453;
        value[a] = *scale * (v - floor(v) - 0.5);
    }
}

static sel_quantity rough_vector(lbm_case *c, int dims, const double *scale) {
    const unsigned place = SEL_ON_X | SEL_ON_Y | (dims == 3 ? SEL_ON_Z : 0);
    return case_of_place(c, place, dims, rough, scale);
}

static sel_quantity vector(int dims, double x, double y, double z) {
    return dims == 3 ? sel_constant3(x, y, z) : sel_constant2(x, y);
}

/* Cells from x0 to x1 of the rows with this y, from z = 1 on, that move; as many as there are. */
static void add_block(lbm_case *c, const case_flow *flow, double x0, double x1, double y) {
    if (x0 < (double)flow->nx) {
        const double min[3] = {x0, y, 1}, max[3] = {x1, y + 1, 3};
        case_region(c, flow->dims == 3 ? case_box3(c, min, max) : case_box(c, x0, y, x1, y + 1),
                    &lbm_wall_table, vector(flow->dims, 0.01, -0.02, 0.01));
    }
}

/* Walls, a lid, slip, open faces; rows with one solid cell, with many in one line, with lines of
 * solids only, and rows of the bulk. */
static void begin(lbm_case *c, const case_flow *flow) {
    enum { NY = 9, NZ = 5 };
    static const double fast = 0.04, weak = 1e-4;
    const int dims = flow->dims;
    case_begin_size(c, (sel_ints){dims, {flow->nx, NY, NZ}}, 0.6);
    c->params.common.precision = flow->precision;
    c->params.collision = flow->collision;
    c->params.storage = flow->moments ? SEL_STORE_MOMENTS : SEL_STORE_POPULATIONS;
    c->params.acceleration =
        flow->field ? rough_vector(c, dims, &weak) : vector(dims, 1e-5, -2e-5, 1e-5);
    c->params.smagorinsky = flow->field ? 0.1 : c->params.smagorinsky;
    c->params.initial.velocity = rough_vector(c, dims, &fast);
    if (flow->periodic) {
        c->params.common.periodic = 1;
    } else {
        case_region(c, case_face(c, SEL_X_MIN), &lbm_velocity_table, vector(dims, 0.02, 0.01, 0));
        case_region(c, case_face(c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0.01));
    }
    case_wall(c, case_face(c, SEL_Y_MIN));
    case_region(c, case_face(c, SEL_Y_MAX), &lbm_wall_table, vector(dims, 0.05, 0, 0.03));
    if (dims == 3) {
        case_region(c, case_face(c, SEL_Z_MIN), &lbm_slip_table, (sel_quantity){0});
        case_wall(c, case_face(c, SEL_Z_MAX));
    }
    add_block(c, flow, 1, 2, 2);
    add_block(c, flow, 6, 7, 2);
    add_block(c, flow, 9, 10, 2);
    add_block(c, flow, 5, 33, 4);
    add_block(c, flow, 18, 19, 6);
    case_must_plan(c);
    c->plan->wants_balance = true;
    case_create(c);
    case_state(c)->streams = flow->streams;
}

/* The stored population along i at the place x of a row. */
static double stored(const lbm_step *step, int precision, int i, int64_t x, int64_t row) {
    const int64_t at = i * step->layout.plane + lbm_row_offset(&step->layout, row) + x;
    return precision == SEL_F32 ? (double)((const float *)step->to)[at]
                                : ((const double *)step->to)[at];
}

/* Adds what the links of a cell carried out of the domain. */
static void add_flow(const lbm_lattice *lattice, const lbm_boundary_cell *cell, const double *own,
                     const double *enters, double *flow) {
    int64_t link = cell->first_link;
    for (int i = 1; i < lattice->q; i++) {
        if (cell->links >> i & 1u) {
            flow[link++] += own[lattice->direction[i].opposite] - enters[i];
        }
    }
}

/* What half-way walls send back to a cell. At open faces of regularized flows the closure replaces
 * all populations, those of walls too. */
static void check_bounces(const lbm_case *c, const lbm_step *step, const case_flow *flow,
                          const lbm_boundary_cell *cell, const double *own, const double *g) {
    const lbm_lattice *lattice = case_state(c)->lattice;
    int64_t link = cell->first_link, second = link + __builtin_popcount(cell->links);
    const bool replaced = flow->collision >= LBM_REGULARIZED && cell->opening_index >= 0;
    for (int i = 1; i < lattice->q; i++) {
        const bool shared = cell->shared >> i & 1u;
        if (cell->bounced >> i & 1u && !replaced) {
            const double sent = own[lattice->direction[i].opposite], add = step->link_add[link];
            const double other = shared ? step->link_add[second] : 0;
            const float single = (float)sent + (float)add + (float)other;
            assert_true(g[i] == (flow->precision == SEL_F32 ? (double)single : sent + add + other));
        }
        link += cell->links >> i & 1u;
        second += shared;
    }
}

/* What the step should have stored for the free cell x of a row. */
static void expect_cell(const lbm_case *c, const lbm_step *step, const case_flow *flow, int64_t x,
                        int64_t row, double g[LBM_MAX_Q]) {
    const lbm_boundary_cell *cell = case_boundary_cell(c, x, row);
    const int lattice = flow->dims == 3 ? LBM_D3Q19 : LBM_D2Q9;
    double own[LBM_MAX_Q], enters[LBM_MAX_Q];
    gathers[lattice][flow->precision](step, x, row, cell, own, g, enters);
    if (cell) {
        check_bounces(c, step, flow, cell, own, g);
    }
    collides[lattice][flow->precision](step, x, row, cell, g);
}

/* A row with its halo and what lies beyond. */
static void check_row(const lbm_case *c, const lbm_step *step, const case_flow *flow, int64_t row) {
    const int64_t nx = flow->nx;
    for (int64_t x = -1; x < step->layout.pitch - 1; x++) {
        const bool halo = flow->periodic && (x == -1 || x == nx);
        const int64_t at = halo ? (x + nx) % nx : x;
        double g[LBM_MAX_Q] = {0};
        if (at >= 0 && at < nx && !sel_state_solids(c->state, row)[at]) {
            expect_cell(c, step, flow, at, row, g);
        }
        for (int i = 0; i < step->components; i++) {
            const double found = stored(step, flow->precision, i, x, row);
            if (found != g[i]) {
                fail_msg(
                    "%d-D %s %s%s, %d cells%s%s%s: component %d of cell %d in row %d: %g, not %g",
                    flow->dims, sel_precision_names[flow->precision],
                    lbm_collision_names[flow->collision], flow->moments ? " moments" : "", (int)nx,
                    flow->periodic ? ", periodic" : "", flow->field ? ", field" : "",
                    flow->streams ? ", streams" : "", i, (int)x, (int)row, found, g[i]);
            }
        }
    }
}

/* The balance of mass adds up what each link carries. */
static void check_flow(const lbm_case *c, const lbm_step *step, const case_flow *of,
                       const double *before) {
    const lbm_boundary *b = case_boundary(c);
    const size_t bytes = (size_t)b->links.count * sizeof *before;
    double *flow = malloc(bytes), own[LBM_MAX_Q], g[LBM_MAX_Q], enters[LBM_MAX_Q];
    assert_non_null(flow);
    memcpy(flow, before, bytes);
    for (int64_t row = 0; row < b->rows; row++) {
        for (int64_t k = b->row_cells[row]; k < b->row_cells[row + 1]; k++) {
            gathers[of->dims == 3 ? LBM_D3Q19 : LBM_D2Q9][of->precision](
                step, b->cells[k].x, row, &b->cells[k], own, g, enters);
            add_flow(b->lattice, &b->cells[k], own, enters, flow);
        }
    }
    assert_memory_equal(flow, case_state(c)->all.link_flow, bytes);
    free(flow);
}

static void check(const case_flow *flow) {
    lbm_case c;
    begin(&c, flow);
    case_advance(&c, 3);
    const size_t bytes = (size_t)case_boundary(&c)->links.count * sizeof(double);
    double *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, case_state(&c)->all.link_flow, bytes);
    case_advance(&c, 1);
    const lbm_step step = lbm_describe_step(case_state(&c), c.state->step - 1);
    for (int64_t row = 0; row < case_boundary(&c)->rows; row++) {
        check_row(&c, &step, flow, row);
    }
    check_flow(&c, &step, flow, before);
    free(before);
    case_end(&c);
}

/* Rows of many lengths, among them each remainder of a cache line, in all combinations of the rest.
 */
static void check_lengths(int dims) {
    static const struct {
        int collision;
        bool moments;
    } kinds[] = {{LBM_TRT, false},       {LBM_BGK, false},   {LBM_REGULARIZED, false},
                 {LBM_RECURSIVE, false}, {LBM_HYBRID, true}, {LBM_REGULARIZED, true},
                 {LBM_RECURSIVE, true}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (int64_t nx = 3; nx <= 50; nx += 2) {
        for (int k = 0; k < 16; k++) {
            const int kind = (int)(nx / 2 % KINDS);
            check(&(case_flow){.dims = dims,
                               .precision = k & 1,
                               .collision = kinds[kind].collision,
                               .moments = kinds[kind].moments,
                               .nx = nx,
                               .periodic = k & 2,
                               .field = k & 4,
                               .streams = k & 8});
        }
    }
}

static void test_rows_in_the_plane_are_their_cells(void **unused) {
    (void)unused;
    check_lengths(2);
}

static void test_rows_in_space_are_their_cells(void **unused) {
    (void)unused;
    check_lengths(3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_in_the_plane_are_their_cells),
        cmocka_unit_test(test_rows_in_space_are_their_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
