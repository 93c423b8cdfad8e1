/* schema.c -- all tables that a script can write: those of the solvers, and what all of them share.
 */
#include "engine/io/raster.h"
#include "engine/scene/shape.h"
#include "engine/scene/solver.h"
#include "engine/values/series.h"

static void collect_table(sel_schema *all, const sel_table *table);

static void collect_family(sel_schema *all, const sel_family *family) {
    for (int i = 0; i < all->family_count; i++) {
        if (all->families[i] == family) {
            return;
        }
    }
    if (all->family_count < SEL_MOST_FAMILIES) {
        all->families[all->family_count++] = family;
    }
    for (int i = 0; i < family->count; i++) {
        collect_table(all, family->tables[i]);
    }
}

static void collect_table(sel_schema *all, const sel_table *table) {
    for (int i = 0; i < all->table_count; i++) {
        if (all->tables[i] == table) {
            return;
        }
    }
    if (all->table_count == SEL_MOST_TABLES) {
        return;
    }
    all->tables[all->table_count++] = table;
    for (int i = 0; i < table->count; i++) {
        if (table->fields[i].table) {
            collect_table(all, table->fields[i].table);
        }
    }
    for (int i = 0; i < table->count; i++) {
        if (table->fields[i].family) {
            collect_family(all, table->fields[i].family);
        }
    }
}

sel_schema sel_schema_collect(void) {
    static const sel_table *const data[] = {&sel_moved_table, &sel_rotated_table, &sel_scaled_table,
                                            &sel_units_table, &sel_series_table,  &sel_raster_table,
                                            &sel_state_table};
    sel_schema all = {.table_count = 0};
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        collect_table(&all, (*solver)->table);
    }
    collect_family(&all, &sel_shape_family);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        collect_table(&all, data[i]);
    }
    return all;
}
