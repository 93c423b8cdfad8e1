/* prepare.c -- check, paint, plan, and see that it fits. */
#include "engine/prepare.h"

#include <stdio.h>
#include "engine/machine.h"
#include "engine/output/output.h"

/* In f32 the change between two tests does not fall below the noise of the populations. */
static const double least_steady_f32 = 1e-5;
static const int64_t least_cells_per_thread = 4096;

static sel_status check_steady(const sel_simulation *simulation, int precision, sel_error *error) {
    double steady = simulation->params->stop.steady;
    if (precision == SEL_F32 && steady < least_steady_f32) {
        return sel_fail_at(error, sel_simulation_where(simulation, "stop"),
                           "stop.steady = %g is below what f32 resolves (%g); set precision = "
                           "\"f64\" or raise it",
                           steady, least_steady_f32);
    }
    return SEL_OK;
}

static sel_status check_threads(const sel_simulation *simulation, sel_error *error) {
    int64_t threads = simulation->params->threads;
    if (threads > SEL_MAX_THREADS) {
        return sel_fail_at(error, sel_simulation_where(simulation, "threads"),
                           "threads must be at most %d, got %lld", SEL_MAX_THREADS,
                           (long long)threads);
    }
    return SEL_OK;
}

static sel_status too_large(const sel_simulation *simulation, double cells, double need,
                            double have, sel_error *error) {
    sel_where where = sel_simulation_where(simulation, "size");
    char place[512] = "";
    if (where.file) {
        snprintf(place, sizeof place, "%s:%d: ", where.file, where.line);
    }
    return sel_fail(
        error, SEL_NO_DEVICE,
        "%s%.3g cells need %.3g GB of memory and %.3g GB are free; %.2g cells would fit", place,
        cells, need / 1e9, have / 1e9, cells * have / need);
}

/* Before anything is painted, so that a slip in `size` is told at once. */
static sel_status check_size(const sel_simulation *simulation, int precision, uint64_t free_bytes,
                             sel_error *error) {
    const sel_ints *size = &simulation->params->size;
    double cells = 1;
    for (int a = 0; a < size->n; a++) {
        cells *= (double)size->v[a];
    }
    double need = cells * (1 + simulation->solver->bytes_per_cell(simulation, precision));
    return need > (double)free_bytes ? too_large(simulation, cells, need, (double)free_bytes, error)
                                     : SEL_OK;
}

/* All cores when nobody says, but no more than are worth waking for so many cells. */
static int choose_threads(const sel_settings *settings, const sel_common *common,
                          const sel_domain *domain) {
    if (settings->threads > 0) {
        return (int)settings->threads;
    }
    if (common->threads != SEL_INT_NOT_GIVEN) {
        return (int)common->threads;
    }
    int64_t worth = 1 + sel_grid_cells(&domain->grid) / least_cells_per_thread;
    int cores = sel_machine_threads();
    return worth < cores ? (int)worth : cores;
}

sel_status sel_prepare(const sel_simulation *simulation, const sel_settings *settings,
                       sel_prepared *prepared, sel_error *error) {
    const sel_common *common = simulation->params;
    const sel_solver *solver = simulation->solver;
    int precision = settings->precision >= 0 ? settings->precision : common->precision;
    *prepared = (sel_prepared){.simulation = simulation, .backend = solver->cpu};
    prepared->free_bytes = sel_machine_free_memory();

    sel_status status = check_steady(simulation, precision, error);
    sel_status threads = check_threads(simulation, error);
    status = status ? status : threads;
    sel_status size = check_size(simulation, precision, prepared->free_bytes, error);
    status = status ? status : size;
    status = status ? status : sel_domain_create(simulation, &prepared->domain, error);
    if (status) {
        return status;
    }
    /* Mistakes in the laws and in the outputs are told together. */
    status = solver->plan(simulation, prepared->domain, &prepared->plan, error);
    sel_status outputs = sel_outputs_check(simulation, prepared->domain, error);
    status = status ? status : outputs;
    if (status) {
        return status;
    }
    sel_plan *plan = prepared->plan;
    plan->precision = precision;
    plan->threads = choose_threads(settings, common, prepared->domain);
    sel_outputs_wants(simulation, plan);
    prepared->bytes = prepared->backend->estimate(plan);
    if (prepared->bytes > prepared->free_bytes) {
        return too_large(simulation, (double)sel_grid_cells(&prepared->domain->grid),
                         (double)prepared->bytes, (double)prepared->free_bytes, error);
    }
    return SEL_OK;
}

void sel_prepared_release(sel_prepared *prepared) {
    if (prepared->plan) {
        prepared->simulation->solver->plan_destroy(prepared->plan);
    }
    sel_domain_destroy(prepared->domain);
    prepared->plan = NULL;
    prepared->domain = NULL;
}
