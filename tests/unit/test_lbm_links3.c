/* test_lbm_links3.c -- who owns each link of a boundary cell in 3-D, and what holds in 2-D and 3-D
 * alike. */
#include <omp.h>
#include "tests/unit/lbm_case.h"

/* Of a cell in 3-D: which region owns what comes along a direction; 0: pulled; 12: 1 and 2 do. */
typedef struct link {
    int64_t at[3];
    int e[3];
    int region;
} link;

static int64_t row_of(const lbm_case *c, const int64_t at[3]) {
    return at[1] + c->domain->grid.n[1] * at[2];
}

/* The number of the direction along e. */
static int direction(const int e[3]) {
    const lbm_lattice *lattice = &lbm_lattices[LBM_D3Q19];
    int i = 0;
    while (memcmp(lattice->direction[i].e, e, 3 * sizeof *e) != 0) {
        i++;
        assert_true(i < lattice->q);
    }
    return i;
}

static int owner_of(const lbm_case *c, const int64_t at[3], const int e[3]) {
    const lbm_boundary_cell *cell = case_boundary_cell(c, at[0], row_of(c, at));
    const uint32_t bit = 1u << direction(e);
    if (!cell || !(cell->links & bit)) {
        return 0;
    }
    const uint8_t *region = case_boundary(c)->link_region + cell->first_link;
    const int first = region[__builtin_popcount(cell->links & (bit - 1))];
    region += __builtin_popcount(cell->links);
    return cell->shared & bit ? 10 * first + region[__builtin_popcount(cell->shared & (bit - 1))]
                              : first;
}

static void check_links(const lbm_case *c, const link *links, int count) {
    for (int k = 0; k < count; k++) {
        const link *l = &links[k];
        int found = owner_of(c, l->at, l->e);
        if (found != l->region) {
            fail_msg("cell {%d, %d, %d} along {%d, %d, %d}: %d, expected %d", (int)l->at[0],
                     (int)l->at[1], (int)l->at[2], l->e[0], l->e[1], l->e[2], found, l->region);
        }
    }
}

#define CHECK_LINKS(c, ...)                     \
    check_links(c, (const link[]){__VA_ARGS__}, \
                (int)(sizeof((const link[]){__VA_ARGS__}) / sizeof(link)))

static void test_box_has_links_at_faces_edges_and_corners(void **unused) {
    (void)unused;
    enum { NX = 4, NY = 5, NZ = 6 };
    static const int links[4] = {0, 5, 9, 12}; /* by the number of faces at a cell */
    const int64_t n[3] = {NX, NY, NZ};
    int64_t all = 0;
    lbm_case c;
    case_begin3(&c, NX, NY, NZ, 1);
    for (int face = 0; face < SEL_FACES; face++) {
        case_wall(&c, case_face(&c, face)); /* 1 to 6 */
    }
    case_must_plan(&c);
    const lbm_boundary *b = case_boundary(&c);
    for (int k = 0; k < NX * NY * NZ; k++) {
        const int64_t at[3] = {k % NX, k / NX % NY, k / NX / NY};
        int faces = 0;
        for (int a = 0; a < 3; a++) {
            faces += at[a] == 0 || at[a] == n[a] - 1;
        }
        const lbm_boundary_cell *cell = case_boundary_cell(&c, at[0], row_of(&c, at));
        assert_int_equal(cell != NULL, faces > 0);
        assert_int_equal(cell ? __builtin_popcount(cell->links) : 0, links[faces]);
        assert_true(!cell || (cell->links == cell->bounced && cell->opening == LBM_CLOSED));
        all += links[faces];
    }
    assert_int_equal(b->links.count, all + 4 * (NX + NY + NZ)); /* of edges two entries each */
    assert_int_equal(b->cell_count, NX * NY * NZ - 2 * 3 * 4);
    assert_int_equal(b->rows, NY * NZ);
    assert_int_equal(b->span_count, NY * NZ);
    assert_true(b->spans[7].x0 == 0 && b->spans[7].x1 == NX);
    /* both walls own the diagonals of their edge; those beside it belong to one */
    CHECK_LINKS(&c, {{0, 0, 0}, {1, 0, 0}, 1}, {{0, 0, 0}, {1, 1, 0}, 13},
                {{0, 0, 0}, {1, 0, 1}, 15}, {{0, 0, 0}, {0, 1, 1}, 35}, {{0, 0, 0}, {1, -1, 0}, 1},
                {{0, 0, 0}, {0, 1, -1}, 3}, {{0, 0, 0}, {-1, -1, 0}, 0}, {{0, 2, 0}, {1, 1, 0}, 1},
                {{3, 4, 5}, {0, -1, -1}, 46}, {{3, 4, 2}, {-1, -1, 0}, 24});
    case_end(&c);
}

static void test_periodic_axes_wrap_in_space(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin3(&c, 4, 3, 3, 1);
    c.params.common.periodic = 5; /* x and z */
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_wall(&c, case_box3(&c, (double[]){0, 1, 2}, (double[]){1, 2, 3})); /* 3: {0, 1, 2} */
    case_must_plan(&c);
    CHECK_LINKS(&c, {{0, 1, 0}, {0, 0, 1}, 3}, {{3, 1, 0}, {-1, 0, 1}, 3},
                {{3, 1, 2}, {-1, 0, 0}, 3}, {{0, 0, 0}, {0, -1, 1}, 3}, {{0, 0, 0}, {0, 1, 1}, 1},
                {{3, 0, 2}, {-1, -1, 0}, 3}, {{3, 0, 2}, {-1, 1, 0}, 1}, {{2, 1, 1}, {1, 0, 0}, 0},
                {{3, 2, 2}, {-1, 1, 0}, 3}, {{1, 1, 1}, {1, 0, -1}, 3});
    assert_null(case_boundary_cell(&c, 2, 1 + 3 * 1));
    case_end(&c);
}

static void test_slip_gives_way_in_space(void **unused) {
    (void)unused;
    const sel_quantity none = {0};
    lbm_case c;
    case_begin3(&c, 7, 4, 4, 1);
    case_wall(&c, case_face(&c, SEL_X_MIN));                                         /* 1 */
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_slip_table, none);                /* 2 */
    case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_slip_table, none);                /* 3 */
    case_region(&c, case_face(&c, SEL_Z_MIN), &lbm_slip_table, none);                /* 4 */
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0)); /* 5 */
    case_wall(&c, case_face(&c, SEL_Z_MAX));                                         /* 6 */
    case_wall(&c, case_box3(&c, (double[]){1, 1, 0}, (double[]){2, 2, 1})); /* 7: {1, 1, 0} */
    case_must_plan(&c);
    CHECK_LINKS(&c, {{2, 1, 0}, {1, 0, 1}, 7}, /* mirrored: beside it is the solid */
                {{1, 2, 0}, {0, 1, 1}, 7},     /* the same along y */
                {{2, 2, 0}, {1, 0, 1}, 4},     /* mirrored */
                {{0, 2, 0}, {1, 0, 1}, 1},     /* wall and slip: the wall */
                {{6, 2, 0}, {-1, 0, 1}, 5},    /* open and slip: the open face */
                {{2, 0, 0}, {0, 1, 1}, 34},    /* slip and slip: both */
                {{2, 3, 0}, {0, -1, 1}, 24},   /* the same at y+ */
                {{6, 1, 3}, {-1, 0, -1}, 5},   /* open and wall: the open face */
                {{2, 3, 3}, {0, -1, -1}, 6},   /* slip and wall: the wall */
                {{2, 0, 2}, {1, 1, 0}, 3});
    const lbm_boundary_cell *floor = case_boundary_cell(&c, 4, 2),
                            *edge = case_boundary_cell(&c, 4, 0);
    assert_int_equal(floor->mirrored[2],
                     1u << direction((int[]){1, 0, 1}) | 1u << direction((int[]){-1, 0, 1}) |
                         1u << direction((int[]){0, 1, 1}) | 1u << direction((int[]){0, -1, 1}));
    assert_true(floor->mirrored[0] == 0 && floor->mirrored[1] == 0);
    assert_int_equal(floor->bounced, 1u << direction((int[]){0, 0, 1}));
    /* at the edge of two slip faces their product is the opposite direction */
    assert_int_equal(edge->bounced, 1u << direction((int[]){0, 0, 1}) |
                                        1u << direction((int[]){0, 1, 0}) |
                                        1u << direction((int[]){0, 1, 1}));
    assert_int_equal(edge->mirrored[1], 1u << direction((int[]){1, 1, 0}) |
                                            1u << direction((int[]){-1, 1, 0}) |
                                            1u << direction((int[]){0, 1, -1}));
    const lbm_boundary_cell *outlet = case_boundary_cell(&c, 6, 0);
    assert_int_equal(outlet->opening, LBM_OPEN_PRESSURE);
    assert_int_equal(__builtin_popcount(outlet->open), 5);
    assert_true(outlet->normal[0] == -1 && outlet->normal[1] == 0 && outlet->normal[2] == 0);
    case_end(&c);
}

/* A box whose lower faces x-, y- and, in 3-D, z- are of these kinds, and halfway walls else. */
enum { HALFWAY, SLIP_LAW, WET, VELOCITY_LAW, PRESSURE_LAW, OUTFLOW_LAW, FACE_KINDS };

static void lower_faces(lbm_case *c, int dims, const int kinds[]) {
    static const sel_table *const laws[FACE_KINDS] = {&lbm_wall_table,     &lbm_slip_table,
                                                      &lbm_wall_table,     &lbm_velocity_table,
                                                      &lbm_pressure_table, &lbm_outflow_table};
    case_begin_size(c, (sel_ints){dims, {4, 4, 4}}, 1);
    for (int a = 0; a < dims; a++) { /* 1 to 3 */
        sel_quantity value = {0};
        if (kinds[a] == VELOCITY_LAW) {
            value = dims == 3 ? sel_constant3(0, 0, 0) : sel_constant2(0, 0);
        } else if (kinds[a] == PRESSURE_LAW) {
            value = sel_constant(0);
        }
        case_region(c, case_face(c, 2 * a), laws[kinds[a]], value);
        if (kinds[a] == WET) {
            c->laws[a].wall.scheme = LBM_ZOU_HE;
        }
    }
    for (int a = 0; a < dims; a++) {
        case_wall(c, case_face(c, 2 * a + 1));
    }
}

/* What gives velocity and density at the corner where faces of these kinds meet. */
static void check_corner(int dims, const int kinds[]) {
    /* directions that come from beyond the faces, by how many faces meet */
    static const int unknown[2][4] = {{0, 3, 5}, {0, 5, 9, 12}};
    int firm = 0, wet = 0, density = 0, velocity = 0;
    for (int a = 0; a < dims; a++) {
        firm += kinds[a] == VELOCITY_LAW || kinds[a] == PRESSURE_LAW;
        wet += kinds[a] >= WET;
        density = kinds[a] == PRESSURE_LAW ? a + 1 : density;
        velocity = kinds[a] == VELOCITY_LAW ? a + 1 : velocity;
    }
    lbm_case c;
    lower_faces(&c, dims, kinds);
    assert_int_equal(case_plan(&c), firm > 1 ? SEL_BAD_SCENARIO : SEL_OK);
    if (firm < 2) {
        const lbm_boundary_cell *corner = case_boundary_cell(&c, 0, 0);
        assert_int_equal(__builtin_popcount(corner->open), unknown[dims - 2][wet]);
        assert_int_equal(__builtin_popcount(corner->links), unknown[dims - 2][dims]);
        assert_int_equal(corner->opening == LBM_OPEN_EDGE, wet > 1);
        assert_int_equal(corner->density_region, density);
        for (int a = 0; a < dims; a++) {
            const bool gives = velocity ? velocity == a + 1 : kinds[a] == WET;
            assert_int_equal(corner->velocity_region[a], gives ? a + 1 : 0);
            assert_int_equal(corner->normal[a], kinds[a] >= WET);
        }
    }
    case_end(&c);
}

static void test_all_kinds_of_faces_meet_at_a_corner(void **unused) {
    (void)unused;
    for (int k = 0; k < FACE_KINDS * FACE_KINDS * FACE_KINDS; k++) {
        const int kinds[3] = {k % FACE_KINDS, k / FACE_KINDS % FACE_KINDS,
                              k / FACE_KINDS / FACE_KINDS};
        check_corner(3, kinds);
        if (kinds[2] == HALFWAY) {
            check_corner(2, kinds);
        }
    }
}

static void test_refused_meetings_in_space_name_the_cell(void **unused) {
    (void)unused;
    lbm_case c;
    lower_faces(&c, 3, (const int[]){OUTFLOW_LAW, PRESSURE_LAW, VELOCITY_LAW});
    c.regions[1].name = "side";
    c.regions[2].law.where = (sel_where){"corner.lua", 12};
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "corner.lua:12: open faces y- (region 'side') and z- (region 'region_3') "
        "meet at cell {0, 0, 0}; paint a wall on one of them there, for example "
        "with face - box, or make one of them law.outflow, law.far_field or law.slip");
    case_end(&c);
    case_begin3(&c, 3, 3, 3, 1); /* they meet along the edge x = 2, z = 2 but for its ends */
    case_wall(&c, case_faces(&c));
    case_region(&c, case_face(&c, SEL_Z_MAX), &lbm_velocity_table, sel_constant3(0, 0, 0));
    case_region(&c,
                sel_shape_combine(c.arena, SEL_SHAPE_INTERSECTION, case_face(&c, SEL_X_MAX),
                                  case_box3(&c, (double[]){2, 1, 2}, (double[]){4, 2, 3})),
                &lbm_pressure_table, sel_constant(0));
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "meet at cell {2, 1, 2};"));
    case_end(&c);
}

/* Two open faces of the same axis at one cell leave nothing inside between them. */
static void test_opposite_open_faces_of_one_cell_are_refused(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin3(&c, 1, 4, 4, 1);
    c.params.common.periodic = 6;
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant3(0, 0, 0));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "meet at cell {0, 0, 0};"));
    case_end(&c);
}

/* Of the upper face of the last axis. */
static void test_moving_walls_act_at_the_middle_of_links(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        const int links = dims == 3 ? 5 : 3, last = dims - 1;
        const double along_y = dims == 3 ? 0.06 : 0; /* in lattice units half of the velocity */
        lbm_case c;
        case_begin_size(&c, (sel_ints){dims, {3, 3, 3}}, 1);
        c.params.common.periodic = (1u << last) - 1;
        c.params.common.dx = 2;
        c.params.common.origin = (sel_point){dims, {10, 0, 0}};
        case_wall(&c, case_face(&c, 2 * last));
        case_region(&c, case_face(&c, 2 * last + 1), &lbm_wall_table,
                    dims == 3 ? sel_constant3(0.06, 0.12, 0) : sel_constant2(0.06, 0));
        case_must_plan(&c);
        const sel_inputs *inputs = &((lbm_plan *)c.plan)->inputs;
        const lbm_lattice *lattice = &lbm_lattices[c.params.lattice];
        assert_int_equal(inputs->count, 1);
        assert_int_equal(inputs->v[0].count, (dims == 3 ? 9 : 3) * links);
        case_create(&c);
        for (int k = 0; k < links; k++) { /* of cell {0, 2} or {0, 0, 2} */
            const lbm_direction *d = &lattice->direction[inputs->detail[k]];
            double add = case_state(&c)->all.link_add[inputs->target[k]];
            assert_true(d->e[last] == -1);
            assert_true(inputs->place[0][k] == 11 - d->e[0]);
            assert_true(inputs->place[1][k] == (dims == 3 ? 1 - d->e[1] : 6));
            assert_true(dims == 2 || inputs->place[2][k] == 6);
            assert_true(fabs(add - 6 * d->weight * (0.03 * d->e[0] + along_y * d->e[1])) < 1e-17);
        }
        case_end(&c);
    }
}

/* A box with solids in it, walls and an open face, listed by one and by three threads. */
static void test_lists_do_not_depend_on_threads(void **unused) {
    (void)unused;
    int threads = omp_get_max_threads();
    lbm_case c;
    case_begin3(&c, 19, 17, 33, 1);
    case_wall(&c, case_faces(&c));
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant3(0, 0, 0));
    for (int k = 0; k < 5; k++) {
        double low[3] = {3.0 * k, 2.0 * k, 5.0 * k}, high[3] = {low[0] + 4, low[1] + 6, low[2] + 3};
        case_wall(&c, case_box3(&c, low, high));
    }
    case_must_plan(&c);
    const lbm_boundary *one = case_boundary(&c);
    for (int k = 1; k <= 3; k += 2) {
        lbm_boundary other;
        omp_set_num_threads(k);
        assert_int_equal(lbm_boundary_create(c.domain, one->lattice, 0, &other, &c.error), SEL_OK);
        assert_int_equal(other.cell_count, one->cell_count);
        assert_int_equal(other.links.count, one->links.count);
        assert_int_equal(other.span_count, one->span_count);
        assert_memory_equal(other.link_region, one->link_region, (size_t)one->links.count);
        assert_memory_equal(other.spans, one->spans, (size_t)one->span_count * sizeof(lbm_span));
        assert_memory_equal(other.row_cells, one->row_cells, (size_t)(one->rows + 1) * 8);
        assert_memory_equal(other.row_spans, one->row_spans, (size_t)(one->rows + 1) * 8);
        for (int64_t i = 0; i < one->cell_count; i++) {
            const lbm_boundary_cell *a = &one->cells[i], *b = &other.cells[i];
            assert_true(a->x == b->x && a->first_link == b->first_link && a->links == b->links);
            assert_true(a->opening_index == b->opening_index && a->bounced == b->bounced);
        }
        lbm_boundary_free(&other);
    }
    omp_set_num_threads(threads);
    case_end(&c);
}

/* Walls, one of which moves, and a face that is open. */
static void paint_all_kinds(lbm_case *c) {
    case_begin3(c, 6, 7, 8, 1);
    case_wall(c, case_faces(c));
    case_region(c, case_face(c, SEL_Y_MAX), &lbm_wall_table, sel_constant3(0.1, 0, 0.2));
    case_region(c, case_face(c, SEL_X_MIN), &lbm_velocity_table, sel_constant3(0.1, 0, 0));
    case_wall(c, case_box3(c, (double[]){2, 2, 3}, (double[]){4, 4, 5}));
}

/* The places of laws in a row are those of the grid, with targets less by what is before. */
static int64_t assert_places(const sel_inputs *own, const sel_inputs *all, int law, int64_t at,
                             int64_t first, int64_t begin, int64_t count) {
    const int64_t from = own->v[law].first, of_all = all->v[law].first;
    for (int64_t k = of_all; k < of_all + all->v[law].count; k++) {
        if (all->target[k] < begin || all->target[k] >= begin + count) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            assert_true(own->place[a][from + at] == all->place[a][k]);
        }
        assert_int_equal(own->target[from + at] - first, all->target[k] - begin);
        assert_int_equal(own->detail[from + at], all->detail[k]);
        assert_int_equal(own->cell(own, from + at), all->cell(all, k));
        at++;
    }
    return at;
}

/* sel_ranks.gather of four ranks that all succeed. */
static void gather_successes(const void *own, size_t bytes, void *all) {
    (void)own;
    memset(all, 0, 4 * bytes);
}

/* Of four ranks each lists the cells, links, openings and places of laws of its patch, as one rank
 * lists them for the grid. */
static void test_rank_lists_what_is_in_its_patch(void **unused) {
    (void)unused;
    int64_t cells = 0, all_links = 0;
    lbm_case all;
    paint_all_kinds(&all);
    case_must_plan(&all);
    const lbm_boundary *whole = case_boundary(&all);
    for (int r = 0; r < 4; r++) {
        const sel_ranks ranks = {.rank = r, .count = 4, .gather = gather_successes};
        sel_decomposition d;
        lbm_case c;
        paint_all_kinds(&c);
        assert_int_equal(sel_domain_create(&c.simulation, NULL, &c.domain, &c.error), SEL_OK);
        assert_int_equal(sel_decompose(c.domain, 4, 2, &d), 4);
        sel_domain_divide(c.domain, &ranks, &d);
        assert_int_equal(sel_plan_create(&c.simulation, c.domain, SEL_F64, &c.plan, &c.error),
                         SEL_OK);
        const lbm_boundary *b = case_boundary(&c);
        int64_t links = 0, openings = 0, places[2] = {0, 0};
        const sel_inputs *inputs = &((lbm_plan *)c.plan)->inputs;
        const sel_inputs *of_grid = &((lbm_plan *)all.plan)->inputs;
        assert_int_equal(inputs->count, 2);
        assert_int_equal(b->links.all, whole->links.count);
        assert_true((b->links.before != NULL) == (r == 0) && (b->open != NULL) == (r == 0));
        assert_int_equal(((lbm_plan *)c.plan)->everywhere.count, r == 0 ? 2 : 0);
        for (int64_t row = 0; row < b->rows; row++) {
            const bool own = sel_rank_of_row(&d, row) == r;
            const int64_t here = b->row_cells[row + 1] - b->row_cells[row];
            const int64_t listed = whole->row_cells[row + 1] - whole->row_cells[row];
            assert_int_equal(here, own ? listed : 0);
            assert_int_equal(b->row_spans[row + 1] - b->row_spans[row],
                             own ? whole->row_spans[row + 1] - whole->row_spans[row] : 0);
            const int64_t first = whole->links.before[row];
            const int64_t count = own ? whole->links.before[row + 1] - first : 0;
            int64_t opening = -1, opened = 0;
            for (int64_t i = 0; i < here; i++) {
                lbm_boundary_cell its = b->cells[b->row_cells[row] + i];
                const lbm_boundary_cell *one = &whole->cells[whole->row_cells[row] + i];
                its.first_link = (uint32_t)(its.first_link - links + first);
                if (its.opening_index >= 0) {
                    assert_int_equal(its.opening_index, openings + opened++);
                    opening = opening < 0 ? one->opening_index : opening;
                    its.opening_index = one->opening_index;
                }
                assert_memory_equal(&its, one, sizeof its);
            }
            assert_memory_equal(b->link_region + links, whole->link_region + first, (size_t)count);
            for (int k = 0; k < 2; k++) {
                const bool at_links = inputs->v[k].which == LBM_TO_LINKS;
                places[k] =
                    assert_places(inputs, of_grid, k, places[k], at_links ? links : openings,
                                  at_links ? first : opening, at_links ? count : opened);
            }
            links += count;
            openings += opened;
        }
        assert_int_equal(links, b->links.count);
        assert_int_equal(openings, b->open_count);
        assert_true(places[0] == inputs->v[0].count && places[1] == inputs->v[1].count);
        assert_int_equal(b->all_open, whole->open_count);
        cells += b->cell_count;
        all_links += links;
        case_end(&c);
    }
    assert_int_equal(cells, whole->cell_count);
    assert_int_equal(all_links, whole->links.count);
    case_end(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_has_links_at_faces_edges_and_corners),
        cmocka_unit_test(test_periodic_axes_wrap_in_space),
        cmocka_unit_test(test_slip_gives_way_in_space),
        cmocka_unit_test(test_all_kinds_of_faces_meet_at_a_corner),
        cmocka_unit_test(test_refused_meetings_in_space_name_the_cell),
        cmocka_unit_test(test_opposite_open_faces_of_one_cell_are_refused),
        cmocka_unit_test(test_moving_walls_act_at_the_middle_of_links),
        cmocka_unit_test(test_lists_do_not_depend_on_threads),
        cmocka_unit_test(test_rank_lists_what_is_in_its_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
