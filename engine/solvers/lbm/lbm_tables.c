/* lbm_tables.c -- the fields of sel.lbm and of its laws. */
#include "engine/solvers/lbm/lbm.h"

#include <math.h>

const char *const lbm_lattice_names[] = {"D2Q9", "D3Q19", NULL};
#define LIMITS_TEXT(name, walls_2d, walls_3d, open_2d, open_3d) \
    " " #name " " #walls_2d ", " #walls_3d ", " #open_2d ", " #open_3d ";"

const char *const lbm_collision_names[] = {"trt",       "bgk",    "regularized",
                                           "recursive", "hybrid", NULL};
/* Straight half-way walls lie exactly on the faces. */
#define USUAL_MAGIC (3.0 / 16.0)
const char *const lbm_wall_names[] = {"halfway", "zou_he",    "interpolated",
                                      "auto",    "parabolic", NULL};

static const sel_table_field wall_fields[] = {
    SEL_ROW(lbm_law_wall, velocity, VECTOR,
            "Velocity of the wall, evaluated where each link meets the wall: at the middle of the "
            "link, or of an interpolated wall where the link enters the shape; at rest when not "
            "given."),
    SEL_ROW(lbm_law_wall, scheme, CHOICE,
            "halfway: half-way bounce-back; zou_he, on faces only: the wall lies at the centres of "
            "the first cells; interpolated: the wall lies on the surface of the shape, and on "
            "faces and where links meet no shape half-way; auto: interpolated, but half-way if all "
            "links meet the surface half-way or know none; parabolic: half-way, also where the "
            "velocity is a parabola, on faces and boxes with regularized, recursive and hybrid.",
            .preset = LBM_AUTO, .choices = lbm_wall_names),
};

#define RELAXATION(type, what, comes)                                                            \
    SEL_ROW(type, relaxation, NUMBER,                                                            \
            "Fraction K, below 1, by which " what                                                \
            " in a step; when not given, 0.25 c_s / L with L the number of cells of the domain " \
            "along the normal and c_s = 1/sqrt 3. " comes                                        \
            " by a factor e in 2 / K steps. A sound wave of the angular frequency w per step "   \
            "comes back with the fraction K / sqrt(K^2 + 4 w^2) of its amplitude.",              \
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN)

static const sel_table_field velocity_fields[] = {
    SEL_ROW(lbm_law_velocity, velocity, VECTOR,
            "Velocity at the centres of the first cells, half a cell inside the face.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(lbm_law_velocity, absorbing, BOOL,
            "Lets sound out: the velocity along the normal is not held, but comes to what is given "
            "in some crossings of the domain by sound; the others are held."),
    RELAXATION(lbm_law_velocity, "an absorbing inlet brings its velocity to what is given",
               "The difference falls"),
};
static const sel_table_field pressure_fields[] = {
    SEL_ROW(lbm_law_pressure, pressure, QUANTITY,
            "Gauge pressure at the centres of the first cells, half a cell inside the face; the "
            "velocity along the face is zero.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(
        lbm_law_pressure, absorbing, BOOL,
        "Lets sound and vortices out: the pressure is not held, but comes to what is given in "
        "some crossings of the domain by sound, and the velocity along the face is the flow's."),
    RELAXATION(lbm_law_pressure, "an absorbing outlet brings its pressure to what is given",
               "The difference falls"),
};
static const sel_table_field far_field_fields[] = {
    SEL_ROW(lbm_law_far_field, velocity, VECTOR, "Velocity of the stream far away.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    RELAXATION(lbm_law_far_field, "velocity and pressure come to those of the stream",
               "Differences fall"),
};
static const sel_table_field outflow_fields[] = {
    RELAXATION(lbm_law_outflow, "the pressure returns to 0", "The pressure falls"),
};

static sel_status check_relaxation(const char *law, double relaxation, bool absorbing,
                                   sel_where where, sel_error *error) {
    if (!absorbing && relaxation > 0) {
        return sel_fail_at(error, where, "%s: relaxation needs absorbing = true", law);
    }
    return relaxation >= 1 ? sel_fail_at(error, where, "%s: relaxation must be below 1, got %g",
                                         law, relaxation)
                           : SEL_OK;
}

static sel_status check_outflow(const void *data, sel_where where, sel_error *error) {
    const lbm_law_outflow *law = data;
    return check_relaxation("law.outflow", law->relaxation, true, where, error);
}

static sel_status check_velocity(const void *data, sel_where where, sel_error *error) {
    const lbm_law_velocity *law = data;
    return check_relaxation("law.velocity", law->relaxation, law->absorbing, where, error);
}

static sel_status check_pressure(const void *data, sel_where where, sel_error *error) {
    const lbm_law_pressure *law = data;
    return check_relaxation("law.pressure", law->relaxation, law->absorbing, where, error);
}

static sel_status check_far_field(const void *data, sel_where where, sel_error *error) {
    const lbm_law_far_field *law = data;
    return check_relaxation("law.far_field", law->relaxation, true, where, error);
}

const sel_table lbm_wall_table = SEL_TABLE(
    "law.wall", lbm_law_wall, wall_fields,
    "No slip, by bounce-back: the wall lies on the face, or on the surface of the shape.");
const sel_table lbm_outflow_table =
    SEL_TABLE("law.outflow", lbm_law_outflow, outflow_fields,
              "An open face that lets vortices and sound out; it reflects 8 % of the slowest "
              "wave along its normal. The pressure returns to 0: it falls by a factor e "
              "while sound crosses the domain 8 times.",
              .faces_only = true, .check = check_outflow);
const sel_table lbm_slip_table = {
    .name = "law.slip",
    .doc = "A plane of symmetry on the face: no flow through it, no friction on it.",
    .faces_only = true};
const sel_table lbm_velocity_table =
    SEL_TABLE("law.velocity", lbm_law_velocity, velocity_fields,
              "An open face with a given velocity (Zou-He), or that lets sound out.",
              .faces_only = true, .check = check_velocity);
const sel_table lbm_pressure_table =
    SEL_TABLE("law.pressure", lbm_law_pressure, pressure_fields,
              "An open face with a given pressure (Zou-He), or that lets sound out.",
              .faces_only = true, .check = check_pressure);
const sel_table lbm_far_field_table =
    SEL_TABLE("law.far_field", lbm_law_far_field, far_field_fields,
              "A face within a free stream, of the given velocity and of pressure 0 far away: lets "
              "fluid in and out, and sound out. Such faces may meet one another and other open "
              "faces.",
              .faces_only = true, .check = check_far_field);

static const sel_table *const laws[LBM_LAWS] = {&lbm_wall_table,      &lbm_velocity_table,
                                                &lbm_pressure_table,  &lbm_outflow_table,
                                                &lbm_far_field_table, &lbm_slip_table};
const sel_family lbm_law_family = {"law", "What holds on a region of sel.lbm.", laws, LBM_LAWS};

/* ---- what laws are to the cells before them ---- */

#define VALUES(to, type, member) .goal = (to), .quantity = offsetof(type, member)
#define K(type) .relaxation = offsetof(type, relaxation)
static const lbm_law_row rows[] = {
    {&lbm_wall_table, LBM_HALFWAY, .wall = true, VALUES(LBM_TO_LINKS, lbm_law_wall, velocity)},
    {&lbm_wall_table, LBM_ZOU_HE, .opening = LBM_OPEN_VELOCITY, .wall = true, .meets_any = true,
     VALUES(LBM_TO_VELOCITY, lbm_law_wall, velocity)},
    {&lbm_wall_table, LBM_INTERPOLATED, .wall = true, .interpolates = true,
     VALUES(LBM_TO_LINKS, lbm_law_wall, velocity)},
    {&lbm_wall_table, LBM_AUTO, .wall = true, .interpolates = true, .chooses = true,
     VALUES(LBM_TO_LINKS, lbm_law_wall, velocity)},
    {&lbm_wall_table, LBM_PARABOLIC, .wall = true, .parabolic = true,
     VALUES(LBM_TO_LINKS, lbm_law_wall, velocity)},
    {&lbm_velocity_table, .opening = LBM_OPEN_VELOCITY,
     VALUES(LBM_TO_VELOCITY, lbm_law_velocity, velocity)},
    {&lbm_velocity_table, 1, .opening = LBM_OPEN_ABSORBING, .absorbs = true,
     VALUES(LBM_TO_VELOCITY, lbm_law_velocity, velocity), K(lbm_law_velocity)},
    {&lbm_pressure_table, .opening = LBM_OPEN_PRESSURE,
     VALUES(LBM_TO_DENSITY, lbm_law_pressure, pressure)},
    {&lbm_pressure_table, 1, .opening = LBM_OPEN_ABSORBING, .absorbs = true,
     VALUES(LBM_TO_DENSITY, lbm_law_pressure, pressure), K(lbm_law_pressure)},
    {&lbm_outflow_table, .opening = LBM_OPEN_OUTFLOW, .meets_any = true, .quantity = -1,
     K(lbm_law_outflow)},
    {&lbm_far_field_table, .opening = LBM_OPEN_ABSORBING, .absorbs = true, .far_field = true,
     .meets_any = true, VALUES(LBM_TO_VELOCITY, lbm_law_far_field, velocity), K(lbm_law_far_field)},
    {&lbm_slip_table, .mirrors = true, .quantity = -1},
};
#undef VALUES
#undef K
_Static_assert(sizeof rows / sizeof *rows == LBM_LAWS - 1 + LBM_WALLS + 2,
               "a row per law, per scheme of walls, and for what absorbs");

const lbm_law_row *const lbm_halfway_wall = &rows[LBM_HALFWAY];

/* lbm_law_row.scheme */
static int scheme_of(const sel_variant *law) {
    return law->table == &lbm_wall_table       ? ((const lbm_law_wall *)law->data)->scheme
           : law->table == &lbm_velocity_table ? ((const lbm_law_velocity *)law->data)->absorbing
           : law->table == &lbm_pressure_table ? ((const lbm_law_pressure *)law->data)->absorbing
                                               : 0;
}

const lbm_law_row *lbm_law_of(const sel_region *region) {
    const sel_variant *law = &region->law;
    const lbm_law_row *row = rows;
    while (row->law != law->table) {
        row++;
    }
    return row + scheme_of(law);
}

const sel_quantity *lbm_region_quantity(const sel_region *region) {
    const ptrdiff_t at = lbm_law_of(region)->quantity;
    const sel_quantity *q = at < 0 ? NULL : (const void *)((const char *)region->law.data + at);
    return q && sel_quantity_given(q) ? q : NULL;
}

static const sel_table_field region_fields[] = {SEL_REGION_FIELDS(lbm_law_family)};
const sel_table lbm_region_table = SEL_REGION_TABLE(region_fields);

static sel_status check_initial(const void *data, sel_where where, sel_error *error) {
    const lbm_initial *initial = data;
    if (sel_quantity_given(&initial->pressure) && sel_quantity_given(&initial->density)) {
        return sel_fail_at(error, where,
                           "initial: pressure and density say the same thing; give one of them");
    }
    return SEL_OK;
}

static const sel_table_field initial_fields[] = {
    SEL_ROW(lbm_initial, velocity, VECTOR, "Velocity at the start; zero when not given."),
    SEL_ROW(lbm_initial, pressure, QUANTITY, "Gauge pressure at the start; zero when not given."),
    SEL_ROW(lbm_initial, density, QUANTITY, "Density at the start, instead of pressure."),
};
static const sel_table initial_table = SEL_TABLE(
    "initial", lbm_initial, initial_fields,
    "The flow at step 0, with the stresses that belong to its velocity.", .check = check_initial);

static sel_status check_units(const lbm_params *params, sel_where where, sel_error *error) {
    const sel_units *units = params->common.units;
    if (units && isnan(units->dt) && params->common.dt_is_preset) {
        return sel_fail_at(
            error, where,
            "sel.lbm: units give no dt; give sel.units a velocity or a viscosity, or "
            "give dt here");
    }
    return SEL_OK;
}

sel_status lbm_check_storage(const lbm_params *params, const char *option, sel_where where,
                             sel_error *error) {
    const int collision = lbm_collision_of(params);
    const char *name = lbm_collision_names[collision];
    if (params->storage == SEL_STORE_MOMENTS && collision < LBM_REGULARIZED) {
        return sel_fail_at(error, where,
                           "sel.lbm: collision = \"%s\" needs the populations of a cell; leave %s "
                           "out, or set collision = \"recursive\"",
                           name, option);
    }
    if (params->storage == SEL_STORE_POPULATIONS && collision == LBM_HYBRID) {
        return sel_fail_at(error, where,
                           "sel.lbm: collision = \"%s\" looks at the velocities of neighbours, "
                           "which populations do not hold; leave %s out, or set collision = "
                           "\"recursive\"",
                           name, option);
    }
    return SEL_OK;
}

/* A magic number without an operator was written for trt. */
static sel_status check_magic(const lbm_params *params, sel_where where, sel_error *error) {
    const bool unused = params->magic != USUAL_MAGIC && lbm_collision_of(params) != LBM_TRT;
    return unused && params->collision == LBM_COLLISION_NOT_GIVEN
               ? sel_fail_at(error, where,
                             "sel.lbm: magic is a number of trt alone; set collision = \"trt\", or "
                             "leave magic out")
               : SEL_OK;
}

static sel_status lbm_tables_check_params(const void *data, sel_where where, sel_error *error) {
    const lbm_params *params = data;
    sel_status status = check_units(params, where, error);
    if (params->common.units && !isnan(params->common.units->nu) && !isnan(params->tau)) {
        status = sel_fail_at(error, where, "sel.lbm: nu comes from units; leave tau out");
    } else if (isnan(params->nu) == isnan(params->tau)) {
        status = sel_fail_at(error, where, "sel.lbm: give %s nu or tau",
                             isnan(params->nu) ? "one of" : "only one of");
    }
    sel_status fits = lbm_check_lattice(params, where, error);
    sel_status stores = lbm_check_storage(params, "storage", where, error);
    sel_status magic = check_magic(params, where, error);
    return status ? status : fits ? fits : stores ? stores : magic;
}

static sel_status check_drive(const void *data, sel_where where, sel_error *error) {
    const sel_drive *drive = data;
    return isnan(drive->velocity) == isnan(drive->flow)
               ? sel_fail_at(error, where, "drive: give %s velocity or flow",
                             isnan(drive->flow) ? "one of" : "only one of")
               : SEL_OK;
}

static const sel_table_field drive_fields[] = {
    SEL_ROW(sel_drive, velocity, NUMBER, "Mean velocity of the fluid along the axis.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_drive, flow, NUMBER,
            "Volume of fluid per time through a cross-section of the domain; in 2-D per unit "
            "depth. It takes the place of velocity.",
            .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_drive, axis, CHOICE, "The axis of the flow, which must be periodic.",
            .flags = SEL_REQUIRED, .choices = sel_axis_names),
    SEL_ROW(
        sel_drive, every, INT,
        "Steps between changes of the acceleration; when not given a quarter of the cells along "
        "the longest axis, at least 20. A change takes as long as some 3 steps.",
        .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_drive, from_step, INT, "The step from which on the mean acceleration is taken.",
            .preset = 0),
};
static const sel_table drive_table = SEL_TABLE(
    "drive", sel_drive, drive_fields,
    "Holds a mean velocity or a flow rate along a periodic axis by a uniform acceleration, which "
    "stands for a pressure gradient: -dp/dx = density times acceleration. The results of run.json "
    "have drive.acceleration, its last value, drive.acceleration_mean, its mean over the steps "
    "after from_step, and drive.velocity, the mean velocity of the fluid; "
    "out.balance has a column acceleration.",
    .check = check_drive);

static const sel_table_field sponge_fields[] = {
    SEL_ROW(lbm_sponge_params, where, SHAPE,
            "The faces that the layer lies along: shape.face, or several joined by +.",
            .flags = SEL_REQUIRED),
    SEL_ROW(lbm_sponge_params, thickness, NUMBER,
            "Depth of the layer from the face; at least 8 cells, best 20 to 50.",
            .flags = SEL_REQUIRED | SEL_POSITIVE),
    SEL_ROW(lbm_sponge_params, velocity, VECTOR,
            "Velocity that the layer holds, that of the stream; at rest when not given.",
            .flags = SEL_OF_PLACE),
    SEL_ROW(lbm_sponge_params, pressure, NUMBER, "Gauge pressure that the layer holds."),
};
static const sel_table sponge_table = SEL_TABLE(
    "sponge", lbm_sponge_params, sponge_fields,
    "A layer before faces in which waves and vortices fade: in each step a fraction of the "
    "difference from a given stream is taken away, which grows with the square of the depth. Of a "
    "pulse of sound that the face returns 2 % come back through a layer of 8 cells, 0.7 % through "
    "20, 0.1 % through 40. "
    "out.balance has a column sponge, the mass that the layer has brought.");

static const sel_table_field lbm_fields[] = {
    SEL_COMMON_FIELDS(lbm_region_table),
    SEL_PRECISION_ROW(SEL_F32),
    SEL_ROW(lbm_params, lattice, CHOICE,
            "The set of velocities; its first number is the number of dimensions.",
            .flags = SEL_REQUIRED, .preset = LBM_D2Q9, .choices = lbm_lattice_names),
    SEL_ROW(lbm_params, nu, NUMBER, "Kinematic viscosity; nu or tau is required.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(lbm_params, tau, NUMBER,
            "Relaxation time in steps, above 1/2: nu = (tau - 1/2)/3 dx^2/dt.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(
        lbm_params, collision, CHOICE,
        "When not given hybrid, or with storage = \"populations\" trt. trt: two relaxation times; "
        "bgk: one, and walls move with the viscosity; "
        "regularized: one, and moments above the stress are dropped; recursive: the same, and "
        "third-order moments follow from these; hybrid: recursive, and a small part of the "
        "strain is that of the velocities around a cell, by far the most stable. Of the first "
        "three which is more stable depends on the flow: regularized allows a smaller viscosity in "
        "vortices and near an inlet in 3-D, trt in cavities and with a coarse body in a "
        "2-D channel. Reynolds numbers of a cell, U dx / nu, above which check warns, "
        "between walls in 2-D and 3-D, with open faces in 2-D and 3-D:" LBM_CELL_REYNOLDS(
            LIMITS_TEXT) " twice as much ran 20,000 steps in a "
                         "cavity, a duct and past a bar.",
        .preset = LBM_COLLISION_NOT_GIVEN, .choices = lbm_collision_names),
    SEL_ROW(
        lbm_params, storage, CHOICE,
        "What a cell stores: populations, or their moments up to second order, which take half "
        "the memory and the time and which regularized, recursive and hybrid can do with; auto: "
        "moments where the operator allows it; --storage overrides it.",
        .preset = SEL_STORE_AUTO, .choices = sel_storage_names),
    SEL_ROW(lbm_params, magic, NUMBER,
            "Only for trt: (tau - 1/2) of the even moments times that of the odd ones. With 3/16 "
            "straight walls lie exactly on the faces.",
            .flags = SEL_POSITIVE, .preset = USUAL_MAGIC),
    SEL_ROW(lbm_params, acceleration, VECTOR, "Force per mass; zero when not given."),
    SEL_ROW(lbm_params, drive, TABLE,
            "A mean velocity or a flow rate that is held; without it there is none.",
            .table = &drive_table),
    SEL_ROW(lbm_params, sponge, TABLE,
            "A layer along faces in which waves fade; without it there is none.",
            .table = &sponge_table),
    SEL_ROW(lbm_params, smagorinsky, NUMBER,
            "Constant C of Smagorinsky's eddy viscosity (C dx)^2 |S|, usually 0.1 to 0.2; without "
            "it there is no eddy viscosity.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(lbm_params, density, NUMBER, "Density of the fluid at pressure 0.",
            .flags = SEL_POSITIVE, .preset = 1),
    SEL_ROW(lbm_params, initial, TABLE, "The flow at step 0; at rest when not given.",
            .table = &initial_table),
};

const sel_table lbm_table = SEL_TABLE("sel.lbm", lbm_params, lbm_fields,
                                      "Weakly compressible flow by the lattice Boltzmann method.",
                                      .has_where = true, .check = lbm_tables_check_params);
