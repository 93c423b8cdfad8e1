/* compare.c -- checks that all ranks of a run have read the same script and files. */
#include "engine/run/prepare.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/io/raster.h"
#include "engine/scene/shape.h"
#include "geometry/mesh.h"

unsigned long sel_digest_of(const void *bytes, size_t count) {
    return bytes ? crc32_z(0, bytes, count) : 0;
}

sel_status sel_digests_compare(const sel_ranks *ranks, const sel_digest *digests, int count,
                               sel_error *error) {
    unsigned long own[SEL_MOST_DIGESTS] = {0}, all[SEL_MOST_RANKS][SEL_MOST_DIGESTS];
    for (int k = 0; k < count; k++) {
        own[k] = digests[k].crc;
    }
    ranks->gather(own, sizeof own, all);
    for (int k = 0; k < count; k++) {
        for (int r = 1; r < ranks->count; r++) {
            if (all[r][k] != all[0][k]) {
                return sel_fail(error, SEL_BAD_SCENARIO,
                                "rank %d has read other %s than rank 0: all ranks need the same "
                                "files, and a script that takes nothing from the clock, the "
                                "environment or random numbers without a seed",
                                r, digests[k].what);
            }
        }
    }
    return SEL_OK;
}

static unsigned long digest_add_raster(unsigned long crc, const sel_raster *raster) {
    return raster ? crc32_z(crc, (const unsigned char *)raster->value,
                            (size_t)(raster->n[0] * raster->n[1]) * sizeof *raster->value)
                  : crc;
}

static unsigned long digest_add_mask(unsigned long crc, const sel_mask *mask) {
    return crc32_z(crc, mask->marked, (size_t)(mask->n[0] * mask->n[1] * mask->n[2]));
}

static unsigned long digest_add_mesh(unsigned long crc, const sel_mesh *mesh) {
    crc = crc32_z(crc, (const void *)mesh->point, (size_t)mesh->points * sizeof *mesh->point);
    return crc32_z(crc, (const void *)mesh->corner, (size_t)mesh->triangles * sizeof *mesh->corner);
}

/* Adds the images, rasters and meshes of a shape. */
static unsigned long digest_add_shape(unsigned long crc, const sel_shape *shape) {
    if (shape->a) {
        crc = digest_add_shape(crc, shape->a);
        return shape->b ? digest_add_shape(crc, shape->b) : crc;
    }
    return shape->kind == SEL_SHAPE_IMAGE
               ? digest_add_mask(crc, ((const sel_shape_image *)shape->data)->mask)
           : shape->kind == SEL_SHAPE_RASTER
               ? digest_add_raster(crc,
                                   sel_raster_of(((const sel_shape_raster *)shape->data)->raster))
           : shape->kind == SEL_SHAPE_MESH
               ? digest_add_mesh(crc, ((const sel_shape_mesh *)shape->data)->mesh)
               : crc;
}

/* CRC of the images, rasters and meshes of regions and quantities. They are compared because each
 * rank evaluates only its own part of the domain, where a difference need not show. */
static unsigned long digest_of_data(const sel_simulation *simulation) {
    const sel_table *table = simulation->solver->table;
    const sel_common *common = simulation->params;
    unsigned long crc = 0;
    for (int k = 0; k < common->regions.n; k++) {
        crc = digest_add_shape(crc, ((const sel_region *)common->regions.v)[k].where);
    }
    for (int k = 0; k < table->count; k++) {
        if (table->fields[k].kind == SEL_KIND_QUANTITY) {
            const void *quantity = (const char *)common + table->fields[k].offset;
            crc = digest_add_raster(crc, sel_raster_of(sel_quantity_raster(quantity)));
        }
    }
    return crc;
}

sel_status sel_plan_compare(const sel_ranks *ranks, const sel_plan *plan, const char *backend,
                            sel_error *error) {
    const sel_domain *domain = plan->domain;
    const sel_solver *solver = plan->simulation->solver;
    const sel_grid *grid = &domain->grid;
    unsigned long regions = 0, numbers = 0;
    char *text = NULL;
    size_t length = 0;
    if (ranks->count == 1) {
        return SEL_OK;
    }
    for (int face = 0; face < SEL_FACES; face++) {
        if (domain->face[face]) {
            regions = crc32_z(regions, domain->face[face], (size_t)sel_face_sites(grid, face));
        }
    }
    FILE *to = open_memstream(&text, &length);
    if (to) {
        sel_facts facts = {.count = 0};
        solver->json(plan, to);
        solver->facts(plan, &facts);
        for (int k = 0; k < facts.count; k++) {
            fprintf(to, "%s %s %.17g %.17g\n", facts.v[k].name, facts.v[k].text, facts.v[k].user,
                    facts.v[k].lattice);
        }
        for (int a = 0; a < grid->dims; a++) {
            fprintf(to, "%lld %.17g %.17g ", (long long)grid->n[a], grid->dx[a], grid->origin[a]);
        }
        fprintf(to, "%d %.17g %s", plan->precision, grid->dt, backend);
        fclose(to);
        numbers = sel_digest_of(text, length);
        free(text);
    }
    const sel_digest digests[] = {
        {"regions", regions}, {"data", digest_of_data(plan->simulation)}, {"numbers", numbers}};
    return sel_digests_compare(ranks, digests, 3, error);
}
