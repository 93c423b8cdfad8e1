/* aqua_ghosts.c -- list the cells that take and give water at open faces, levels and outlines, and
 * evaluate their levels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/solvers/aqua/aqua.h"

static const void *law_of(const sel_domain *domain, int region, const sel_table *table) {
    const sel_variant *law = region ? &domain->regions[region - 1].law : NULL;
    return law && law->table == table ? law->data : NULL;
}

static const aqua_law_open *open_of(const sel_domain *domain, int region) {
    return law_of(domain, region, &aqua_open_table);
}

const aqua_law_level *aqua_level_of(const sel_domain *domain, int region) {
    return law_of(domain, region, &aqua_level_table);
}

bool aqua_passes(const sel_domain *domain, int region) {
    return region && domain->regions[region - 1].law.table != &aqua_wall_table;
}

/* A ghost to be: where it is, and the ground that its law makes of the one beside. */
typedef struct ghost {
    int region;
    int64_t at;
    double ground, x, y;
} ghost;

/* Some rows of cells, or all faces. Counts, or with memory stores; next[r] is the place of the next
 * ghost of region r. */
typedef struct list {
    aqua_plan *plan;
    int64_t count[257], next[257];
    bool stores;
} list;

/* The faces make a list, and then the rows of cells so many. */
enum { BANDS = 64 };

static void add(list *l, const ghost *g) {
    aqua_ghosts *ghosts = &l->plan->ghosts;
    if (l->stores) {
        int64_t k = l->next[g->region]++;
        ghosts->at[k] = g->at;
        ghosts->ground[k] = g->ground;
        ghosts->x[k] = g->x;
        ghosts->y[k] = g->y;
        ghosts->level[k] = aqua_level_of(l->plan->base.domain, g->region) != NULL;
    }
    l->count[g->region]++;
}

/* Beyond the face at the cell `at`: the ground goes on, falling as the law says. */
static void add_beyond(list *l, int face, int64_t x, int64_t y, int region) {
    const aqua_plan *plan = l->plan;
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const aqua_law_open *open = open_of(domain, region);
    const int out[2] = {face / 2 == 0 ? (face % 2 ? 1 : -1) : 0,
                        face / 2 == 1 ? (face % 2 ? 1 : -1) : 0};
    double here = plan->ground[y * grid->n[0] + x], fall = 0;
    int64_t inner = aqua_cell_of(grid, x - out[0], y - out[1]);
    if (open && !isnan(open->slope)) {
        fall = open->slope * grid->dx;
    } else if (open && inner >= 0 && domain->cell[inner] == 0) {
        fall = fmax(0, plan->ground[inner] - here);
    }
    ghost g = {.region = region,
               .at = aqua_index(&plan->layout, x + out[0], y + out[1]),
               .ground = here - fall,
               .x = sel_centre(grid, 0, (double)x) + 0.5 * out[0] * grid->dx,
               .y = sel_centre(grid, 1, (double)y) + 0.5 * out[1] * grid->dx};
    add(l, &g);
}

static void add_faces(list *l) {
    const sel_domain *domain = l->plan->base.domain;
    for (int face = 0; face < 4; face++) {
        for (int64_t s = 0; domain->face[face] && s < sel_face_sites(&domain->grid, face); s++) {
            int64_t at[3];
            int region = domain->face[face][s];
            sel_face_cell(&domain->grid, face, s, at);
            if (aqua_passes(domain, region) &&
                domain->cell[sel_cell_number(&domain->grid, at)] == 0) {
                add_beyond(l, face, at[0], at[1], region);
            }
        }
    }
}

/* A painted cell beside a free one. Where it has no ground the lowest beside it stands in. */
static void add_cell(list *l, int64_t x, int64_t y) {
    const aqua_plan *plan = l->plan;
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const int64_t cell = y * grid->n[0] + x;
    const int region = domain->cell[cell];
    const aqua_law_open *open = open_of(domain, region);
    double beside = aqua_passes(domain, region) ? aqua_lowest_beside(plan, x, y) : (double)NAN;
    if (isnan(beside)) {
        return;
    }
    double ground = isnan(plan->ground[cell]) ? beside : plan->ground[cell];
    ghost g = {.region = region,
               .at = aqua_index(&plan->layout, x, y),
               .ground = ground - (open && !isnan(open->slope) ? open->slope * grid->dx : 0),
               .x = sel_centre(grid, 0, (double)x),
               .y = sel_centre(grid, 1, (double)y)};
    add(l, &g);
}

static void add_band(list *l, int band) {
    const sel_domain *domain = l->plan->base.domain;
    const int64_t nx = domain->grid.n[0], ny = domain->grid.n[1];
    for (int64_t y = ny * band / BANDS; y < ny * (band + 1) / BANDS; y++) {
        const uint8_t *region = domain->cell + y * nx;
        for (int64_t x = 0; x < nx; x++) {
            if (region[x] != 0) {
                add_cell(l, x, y);
            }
        }
    }
}

/* lists[1 + BANDS] */
static void add_all(list *lists, int threads) {
    add_faces(&lists[0]);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int band = 0; band < BANDS; band++) {
        add_band(&lists[1 + band], band);
    }
}

/* Sets where each list stores its ghosts: sorted by region, then by list. */
static void share_places(aqua_ghosts *ghosts, list *lists) {
    int64_t place = 0;
    for (int r = 0; r <= 256; r++) {
        ghosts->first[r] = place;
        for (int k = 0; k <= BANDS; k++) {
            lists[k].next[r] = place;
            place += lists[k].count[r];
            lists[k].stores = true;
        }
    }
    ghosts->first[257] = ghosts->count = place;
}

/* One bed for all ghosts of a level: with beds of their own their levels would differ by rounding,
 * and water that only just flows from one to the next counts in the rule. */
static void level_beds(aqua_plan *plan) {
    aqua_ghosts *ghosts = &plan->ghosts;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        double lowest = HUGE_VAL;
        for (int64_t k = ghosts->first[r]; k < ghosts->first[r + 1]; k++) {
            lowest = fmin(lowest, ghosts->ground[k]);
        }
        for (int64_t k = ghosts->first[r]; k < ghosts->first[r + 1]; k++) {
            ghosts->ground[k] = ghosts->level[k] ? lowest : ghosts->ground[k];
        }
    }
}

static void list_edges(aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    aqua_ghosts *ghosts = &plan->ghosts;
    int64_t count = 0;
    for (int r = 0; r <= domain->region_count; r++) {
        ghosts->first_edge[r] = count;
        for (int64_t g = ghosts->first[r]; g < ghosts->first[r + 1]; g++) {
            const int64_t x = ghosts->at[g] % plan->layout.pitch - AQUA_HALO;
            const int64_t y = ghosts->at[g] / plan->layout.pitch - AQUA_HALO;
            for (int k = 0; k < AQUA_AROUND; k++) {
                if (aqua_is_free(domain, x + aqua_around[k][0], y + aqua_around[k][1])) {
                    ghosts->edge[count++] = (aqua_edge){ghosts->at[g], k, -1};
                }
            }
        }
        ghosts->first_edge[r + 1] = count;
    }
}

sel_status aqua_ghosts_create(aqua_plan *plan, sel_error *error) {
    aqua_ghosts *ghosts = &plan->ghosts;
    list *lists = calloc(1 + BANDS, sizeof *lists);
    if (!lists) {
        return sel_fail_memory(error, "the open faces", BANDS * sizeof *lists);
    }
    for (int k = 0; k <= BANDS; k++) {
        lists[k].plan = plan;
    }
    add_all(lists, plan->base.threads);
    share_places(ghosts, lists);
    const size_t n = (size_t)ghosts->count + 1;
    ghosts->at = malloc(n * sizeof *ghosts->at);
    ghosts->ground = malloc(3 * n * sizeof *ghosts->ground);
    ghosts->level = malloc(n);
    ghosts->edge = malloc(AQUA_AROUND * n * sizeof *ghosts->edge);
    const bool failed = !ghosts->at || !ghosts->ground || !ghosts->level || !ghosts->edge;
    if (!failed) {
        ghosts->x = ghosts->ground + n;
        ghosts->y = ghosts->x + n;
        add_all(lists, plan->base.threads);
        level_beds(plan);
        list_edges(plan);
    }
    free(lists);
    return failed ? sel_fail_memory(error, "the open faces",
                                    n * (33 + AQUA_AROUND * sizeof *ghosts->edge))
                  : SEL_OK;
}

void aqua_ghosts_free(aqua_ghosts *ghosts) {
    free(ghosts->at);
    free(ghosts->ground);
    free(ghosts->level);
    free(ghosts->edge);
    *ghosts = (aqua_ghosts){0};
}

/* ---- levels ---- */

unsigned aqua_levels_depend(const aqua_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    unsigned depends = 0;
    for (int r = 1; r <= domain->region_count; r++) {
        const aqua_law_level *law = aqua_level_of(domain, r);
        depends |= law ? sel_quantity_depends(&law->z) : 0;
    }
    return depends & (SEL_ON_T | SEL_ON_CONTROLS);
}

/* The error of a level that stands higher above its ground at the time t than the store allows. */
static sel_status refuse_level(const aqua_plan *plan, int region, double z, double ground, double t,
                               sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_store store = aqua_store_of(plan);
    char text[32], advice[160] = "no quantum is coarser: precision = \"f64\"";
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice, "give depth_limit = %.3g, or precision = \"f64\"",
                 1.05 * (z - ground));
    }
    return sel_fail_at(error, domain->regions[region - 1].law.where,
                       "law.level of region '%s': z = %.10g m at t=%.10g stands %.6g m above the "
                       "lowest ground there (%.6g m); depths in quanta of 2^-%d m hold %.4g m. If "
                       "the level is right, %s",
                       sel_region_name(domain, region, text), z, t, z - ground, ground, plan->bits,
                       store.limit / store.per_metre, advice);
}

/* Before the quantum is chosen any level will do. */
static sel_status check_levels(const aqua_plan *plan, int region, double t, const double *z,
                               sel_error *error) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    const aqua_store store = aqua_store_of(plan);
    for (int64_t k = ghosts->first[region]; plan->bits && k < ghosts->first[region + 1]; k++) {
        if (!aqua_level_fits(z[k], ghosts->ground[k], store.per_metre, store.limit)) {
            return refuse_level(plan, region, z[k], ghosts->ground[k], t, error);
        }
    }
    return SEL_OK;
}

sel_status aqua_levels(const aqua_plan *plan, double steps, unsigned due, double *z,
                       sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_ghosts *ghosts = &plan->ghosts;
    for (int r = 1; r <= domain->region_count; r++) {
        const aqua_law_level *law = aqua_level_of(domain, r);
        int64_t first = ghosts->first[r], count = ghosts->first[r + 1] - first;
        if (!law || count == 0 || !((sel_quantity_depends(&law->z) | AQUA_ALWAYS) & due)) {
            continue;
        }
        char text[32], what[96];
        snprintf(what, sizeof what, "law.level of region '%s'", sel_region_name(domain, r, text));
        const sel_places at = sel_domain_at(domain, count, ghosts->x + first, ghosts->y + first,
                                            NULL, steps * domain->grid.dt);
        sel_status status = sel_quantity_eval(&law->z, what, &at, z + first, error);
        status = status ? status : check_levels(plan, r, at.t, z, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

double aqua_highest_level(const aqua_plan *plan) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    const int samples = aqua_levels_depend(plan) & SEL_ON_T ? 16 : 0;
    double *z = calloc((size_t)ghosts->count + 1, sizeof *z), highest = -HUGE_VAL;
    int64_t last_step = sel_stop_step(&plan->params->common);
    double end = last_step == INT64_MAX ? 0 : (double)last_step;
    for (int s = 0; z && s <= samples; s++) {
        if (aqua_levels(plan, samples ? end * s / samples : 0, AQUA_ALWAYS, z, NULL)) {
            continue;
        }
        for (int64_t k = 0; k < ghosts->count; k++) {
            highest = ghosts->level[k] ? fmax(highest, z[k]) : highest;
        }
    }
    free(z);
    return highest;
}
