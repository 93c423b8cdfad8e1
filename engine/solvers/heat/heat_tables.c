/* heat_tables.c -- the fields of sel.heat. */
#include "engine/solvers/heat/heat.h"

static const sel_table_field initial_fields[] = {
    SEL_ROW(heat_initial, temperature, QUANTITY, "Temperature at step 0; 0 when not given."),
};
static const sel_table initial_table =
    SEL_TABLE("initial", heat_initial, initial_fields, "The temperature at step 0.");

static sel_status heat_tables_check_params(const void *data, sel_where where, sel_error *error) {
    const heat_params *params = data;
    const bool conducts = sel_quantity_given(&params->conductivity);
    const bool diffuses = sel_quantity_given(&params->diffusivity);
    if (conducts == diffuses) {
        return sel_fail_at(error, where, "sel.heat: give %s conductivity or diffusivity",
                           conducts ? "only one of" : "one of");
    }
    return !diffuses || !sel_quantity_given(&params->capacity)
               ? SEL_OK
               : sel_fail_at(error, where,
                             "sel.heat: diffusivity is conductivity / capacity; leave capacity "
                             "out, or give conductivity");
}

const char *const heat_schemes[] = {"explicit", "crank_nicolson", "backward_euler", NULL};

static const sel_table_field fields[] = {
    SEL_COMMON_FIELDS_FROM(
        diffusion_regions, sel_mean_stop_table, SEL_REQUIRED, ".",
        SEL_SIDES_ROW(1, "1 when not given."),
        SEL_DT_ROW(SEL_NOT_GIVEN, "0.9 of the largest one that is stable in the whole run when not "
                                  "given; a larger one than that is refused, unless the scheme is "
                                  "implicit.")),
    SEL_ROW(sel_common, precision, CHOICE,
            "Precision of the stored state; --precision overrides it. auto: f32, or f64 where stop "
            "names more than 250,000 explicit steps, whose increments are too small for f32.",
            .preset = SEL_PRECISION_AUTO, .choices = sel_auto_precision_names),
    SEL_ROW(heat_params, scheme, CHOICE,
            "explicit: forward in time, dt limited; crank_nicolson (of second order in dt) "
            "and backward_euler (of first order): implicit, solved by multigrid in each "
            "step, for any dt. After a jump Crank-Nicolson oscillates if dt is far above "
            "the stable one; backward Euler never does.",
            .choices = heat_schemes),
    SEL_ROW(heat_params, conductivity, VECTOR,
            "Conductivity k, above 0; or one per axis. A face between cells that differ "
            "has the harmonic mean.",
            .flags = SEL_ONE_FOR_ALL | SEL_OF_PLACE),
    SEL_ROW(heat_params, diffusivity, VECTOR,
            "k / capacity, instead of conductivity; or one per axis.",
            .flags = SEL_ONE_FOR_ALL | SEL_OF_PLACE),
    SEL_ROW(heat_params, capacity, QUANTITY,
            "Heat capacity per volume (density times specific heat), above 0; 1 when not given.",
            .flags = SEL_OF_PLACE),
    SEL_ROW(heat_params, source, QUANTITY,
            "Heat per volume and time that appears in the cells; 0 when not given."),
    SEL_LAYOUT_ROW("temperatures"),
    SEL_ROW(heat_params, initial, TABLE, "The temperature at step 0; 0 when not given.",
            .table = &initial_table),
};

const sel_table heat_table =
    SEL_TABLE("sel.heat", heat_params, fields,
              "Conduction of heat, or diffusion: capacity T_t = div(conductivity grad T) + source, "
              "on 5 points in 2-D and 7 in 3-D.",
              .has_where = true, .check = heat_tables_check_params);
